"""A specification with both answers, and further questions to R where they disagree."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from benchmarks.against_r import ours as ordstat_side
from benchmarks.against_r import precise
from benchmarks.against_r.compare import (
    LOGLIKS,
    MENDED,
    NUMERICAL,
    PREDICTED,
    SLACK,
    Check,
    compare,
)
from benchmarks.against_r.exact import Rows
from benchmarks.against_r.session import Answer, Session
from benchmarks.against_r.specs import FLEXIBLE, Spec

#: What `session.R` can mend of R: "weights" of specifications that have some.
MENDS = ("ends", "contrasts", "containment", "units", "weights")
#: Log-likelihoods computed twice differ by less than this.
_SAME = 1e-6
#: Lambda where it is left out: that of the logit, and that of the probit.
LEFT_OUT = {"aranda-ordaz": 1.0, "log-gamma": 0.0}


@dataclass(frozen=True, eq=False)
class Case:
    """One specification.

    Attributes
    ----------
    spec : Spec
    kinds : tuple of str
        What was asked for beyond the estimates.
    ours, theirs : Answer
    fit : LikelihoodResults or None
    session : Session
    """

    spec: Spec
    kinds: tuple[str, ...]
    ours: Answer
    theirs: Answer
    fit: Any
    session: Session
    _mended: dict[tuple[tuple[str, ...], tuple[str, ...]], dict[str, Check]] = field(
        default_factory=dict
    )

    @classmethod
    def of(cls, spec: Spec, kinds: tuple[str, ...], session: Session) -> Case:
        """Both sides work at the same time."""
        session.ask(spec, kinds)
        ours, fit = ordstat_side.answer(spec, kinds, session.balanced)
        return cls(spec, kinds, ours, session.read(), fit, session)

    @property
    def slack(self) -> float:
        return NUMERICAL if self.spec.link in FLEXIBLE else SLACK

    @cached_property
    def checks(self) -> list[Check]:
        """All comparisons; of a cauchit, whose ends R cuts off, all but the
        log-likelihood are with the mended R.
        """
        checks = compare(self.ours, self.theirs, self.slack)
        if self.spec.link != "cauchit" or checks[-1].agrees:
            return checks
        figures = self._compared(MENDS, self.kinds)
        renamed = [
            replace(check, kind=MENDED)
            for kind, check in figures.items()
            if kind in LOGLIKS
        ]
        others = [
            check
            for kind, check in figures.items()
            if kind not in ("convergence", *LOGLIKS)
        ]
        return [*checks[:2], *renamed, *others]

    def mended(self, kind: str, mends: tuple[str, ...]) -> Check | None:
        """One comparison with an R whose faults of these names are mended; None where
        it cannot be made.
        """
        return self._compared(
            mends, tuple(table for table in self.kinds if table in _asked(kind))
        ).get(kind)

    def _compared(
        self, mends: tuple[str, ...], kinds: tuple[str, ...]
    ) -> dict[str, Check]:
        if (mends, kinds) not in self._mended:
            checks = compare(self.ours, self._answer(mends, kinds), self.slack)
            self._mended[mends, kinds] = {
                check.kind.removesuffix(".df"): check for check in checks
            }
        return self._mended[mends, kinds]

    def _answer(
        self, mends: tuple[str, ...] = MENDS, kinds: tuple[str, ...] = ()
    ) -> Answer:
        used = [mend for mend in mends if mend != "weights" or self.spec.weights]
        return self.session.answer(self.spec, kinds, used)

    @cached_property
    def rows(self) -> Rows:
        """The rows of the model, by R, contrasts mended, unless R has no fit then."""
        if "fit.error" in self._answer().words:
            self._answer(mends=())
        return Rows.of(self.spec.link, self.session.rows())

    @cached_property
    def covariance(self) -> np.ndarray:
        """(P, P) of our estimates, to 50 digits."""
        return precise.covariance(self.rows, self.estimates)

    def loglik_of_theirs(self) -> float:
        """The log-likelihood of R's estimates, computed in NumPy."""
        return self.rows_of_theirs().loglik(estimated(self.theirs))

    def above_theirs(self) -> float:
        """How much higher than at R's estimates NumPy finds the log-likelihood, going
        up from there.
        """
        rows = self.rows_of_theirs()
        start = estimated(self.theirs)
        return rows.highest(start) - rows.loglik(start)

    def rows_of_theirs(self) -> Rows:
        """The rows of the model as R, not mended, made them."""
        self._answer(mends=())
        return Rows.of(self.spec.link, self.session.rows())

    @property
    def estimates(self) -> np.ndarray:
        """Ours, without those of aliased columns.

        Where ours leaves out what the probabilities do not determine, log-scale effects
        are 0 and lambda is that of the link in use.
        """
        return settled(self.spec.link, self.ours)

    def higher(self) -> bool:
        """Whether the likelihood, computed in NumPy, is what ours is said to be, and no
        lower than R's.
        """
        if "fit.error" in self.theirs.words:
            return False
        return (
            self.right()
            and self.rows.loglik(self.estimates) >= self.theirs.number("loglik") - _SAME
        )

    def right(self) -> bool:
        """Whether the likelihood, computed in NumPy with R's contrasts mended, is what
        ours is said to be; not where ours has other columns than R.
        """
        if "fit.error" in self.ours.words:
            return False
        columns = self.rows.upper.shape[1] + self.rows.scale.shape[1]
        if self.estimates.size < columns:
            return False
        loglik = self.ours.number("loglik")
        return abs(self.rows.loglik(self.estimates) - loglik) <= _SAME * (
            1.0 + abs(loglik)
        )

    def variant(self, kind: str, term: str) -> Case:
        """The model of one row of drop1(), nominal_test() or scale_test(), fitted by
        ours and by the mended R.

        `term` may be several terms, with plus signs between them.
        """
        spec = self.spec
        if kind == "drop1":
            changed = replace(spec, formula=f"{spec.formula} - {term}")
        elif kind == "nominal_test":
            changed = replace(spec, nominal=f"{spec.nominal or '~ 1'} + {term}")
        else:
            changed = replace(spec, scale=f"{spec.scale or '~ 1'} + {term}")
        model = Case.of(changed, (), self.session)
        return replace(model, theirs=model._answer())

    def mended_table(self, kind: str) -> dict[str, np.ndarray]:
        """Statistics and degrees of freedom that the mended R has in one of
        its tables.
        """
        return self._answer(MENDS, (kind,)).numbers

    def mended_fit(self) -> Answer:
        """Log-likelihood and number of parameters of the mended R; NaN where it has no
        fit.
        """
        answer = self._answer()
        nothing = np.full(1, np.nan)
        return Answer(
            {name: answer.numbers.get(name, nothing) for name in ("loglik", "edf")}
        )

    def held(self, place: int, value: float) -> float:
        """R's deviance above our maximum with one location or scale effect, none of
        them aliased, held at a value.
        """
        self._answer()
        return 2.0 * (
            self.ours.number("loglik") - self.session.held(place, float(value))
        )

    def followed(self, place: int, value: float) -> float:
        """As `held`, by NumPy, which comes from our maximum in small steps."""
        return 2.0 * (
            self.ours.number("loglik")
            - self.rows.followed(self.estimates, self._first + place, value)
        )

    def at_ours(self, place: int, value: float) -> float:
        """As `held`, by NumPy at the point that ours has with the effect held; infinite
        where there is none.
        """
        point = ordstat_side.profile_point(self.fit, self._first + place, value)
        return (
            np.inf
            if point is None
            else 2.0 * (self.ours.number("loglik") - self.rows.loglik(point))
        )

    def least(self, place: int, value: float) -> float:
        """As `held`, the least that NumPy finds from several starts."""
        rows = self.rows
        held = self._first + place
        found = [rows.followed(self.estimates, held, value)]
        for start in rows.starts(self.estimates):
            found.append(rows.highest_held(start, held, value))
        return 2.0 * (self.ours.number("loglik") - max(found))

    def highest(self) -> float:
        """The highest log-likelihood that NumPy finds from several starts, on the
        columns of ours, as R need not have any.
        """
        rows = ordstat_side.rows_of(self.fit)
        return max(rows.highest(start) for start in rows.starts(self.estimates))

    def error(self, place: int) -> float:
        """Our standard error of a location or scale effect, none of them aliased."""
        return float(self.ours.numbers["se"][self._first + place])

    @property
    def _first(self) -> int:
        """Place of the first location effect among the estimates."""
        n_lambda = int(self.spec.link in FLEXIBLE)
        return self.estimates.size - self.ours.numbers["profile"].size // 2 - n_lambda


def settled(link: str, ours: Answer) -> np.ndarray:
    """Our estimates as `Case.estimates` has them."""
    values = ours.numbers["estimates"].copy()
    lost = ours.numbers["confounded"].astype(int)
    values[lost] = 0.0
    if link in FLEXIBLE and values.size - 1 in lost:
        values[-1] = LEFT_OUT[link]
    return values[~np.isnan(values)]


def estimated(answer: Answer) -> np.ndarray:
    """Estimates without those of aliased columns."""
    values = answer.numbers["estimates"]
    return values[~np.isnan(values)]


def _asked(kind: str) -> tuple[str, ...]:
    """What R has to be asked for, to have a figure of this kind."""
    name = kind.removesuffix(".se")
    return ("predict", "observed") if name in PREDICTED else (name,)
