"""How a disagreement is shown to be a fault of R: by R mended, by R asked otherwise, or
by the likelihood in NumPy.

Each function takes a case and a comparison that disagrees, and says whether its fault
is behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.stats import chi2

from benchmarks.against_r import ours as ordstat_side
from benchmarks.against_r import precise
from benchmarks.against_r.case import MENDS, Case, estimated
from benchmarks.against_r.columns import FACTORS
from benchmarks.against_r.compare import (
    ABOVE,
    LOGLIKS,
    MENDED,
    NO_END,
    RATIO,
    REFITS,
    WALD,
    Check,
    excess,
    has_end,
    spline_error,
)
from benchmarks.against_r.session import Answer
from benchmarks.against_r.specs import FLEXIBLE

#: R's deviance at a right profile limit is the chi-squared quantile within this.
_DEVIANCE = 1e-3
_QUANTILE = float(chi2.ppf(0.95, 1))
#: Standard errors to either side of a limit at which a profile jumps.
_BESIDE = 1e-3
#: Log-likelihoods on the way to an infinite estimate, which a cauchit approaches
#: slowly.
_ON_THE_WAY = 1e-2
#: Log-likelihoods of the same maximum, one of them by differences.
_SAME_HEIGHT = 1e-3
#: A log-likelihood that NumPy finds higher by this than R's, from R's own estimates, is
#: no rounding and no slack of R's: R's point is no maximum.
_RISES = 1e-3
#: Numerical derivatives and R's own slack leave this share of a standard error.
_DELTA = 1e-3
#: Values of lambda, as multiples of R's, at which a likelihood without a maximum falls
#: by no more than _LEVEL.
_FURTHER = (1.1, 1.2)
_LEVEL = 1e-4
#: Values of lambda, to either side, that are far out: the likelihood changes little
#: beyond them.
_FAR = (8.0, 12.0)
#: The same of Aranda-Ordaz where there is a lower maximum nearer.
_FARTHER = (20.0, 40.0)
#: An error of a probability that differences cannot tell from none.
_NO_ERROR = 1e-12


def _agrees_with(case: Case, check: Check, *mends: str) -> bool:
    mended = case.mended(check.kind.removesuffix(".df"), mends)
    return mended is not None and mended.agrees


def _comparable(check: Check) -> bool:
    """Whether both sides have numbers, and as many."""
    return not isinstance(check.ours, str) and np.shape(check.ours) == np.shape(
        check.theirs
    )


def cut_ends(case: Case, check: Check) -> bool:
    return case.spec.link == "cauchit" and _agrees_with(case, check, "ends")


def absent_contrasts(case: Case, check: Check) -> bool:
    """With contrasts of the column R agrees, or does not converge and is no higher than
    ours.
    """
    if not case.spec.contrasts:
        return False
    mends = ("contrasts", "ends") if case.spec.link == "cauchit" else ("contrasts",)
    if _agrees_with(case, check, *mends):
        return True
    stopped = case.mended(NO_END, mends) if check.kind in LOGLIKS else None
    return (
        stopped is not None and stopped.agrees and has_end(case.ours) and case.right()
    )


def weightless_contrasts(case: Case, check: Check) -> bool:
    return (
        case.spec.weights is not None
        and check.kind in WALD[:2]
        and _agrees_with(case, check, "weights")
    )


def overlooked_variables(case: Case, check: Check) -> bool:
    return check.kind == "anova.II" and _agrees_with(case, check, "containment")


def left_out(case: Case, check: Check) -> bool:
    return check.kind.removesuffix(".df") in WALD and _agrees_with(case, check, "units")


def miscomputed(case: Case, check: Check) -> bool:
    """R's estimates do not have the log-likelihood that R gives them, but one that is
    no higher than ours.
    """
    if check.kind not in ("loglik", NO_END):
        return False
    exact = case.loglik_of_theirs()
    return (
        exact < case.theirs.number("loglik") - ABOVE
        and exact <= case.ours.number("loglik") + ABOVE
    )


def several(case: Case, check: Check) -> bool:
    return check.kind not in ("convergence", *LOGLIKS) and _agrees_with(
        case, check, *MENDS
    )


def no_end(case: Case, check: Check) -> bool:
    """R did not converge, and ours is the maximum of a likelihood whose parameters are
    identified.
    """
    if (
        check.kind not in ("convergence", *LOGLIKS)
        or not has_end(case.ours)
        or has_end(case.theirs)
    ):
        return False
    if not case.higher():
        return False
    return case.rows.identified(case.estimates) or _exactly_curved(case)


def _exactly_curved(case: Case) -> bool:
    """Whether the covariance to 50 digits is positive definite, and ours.

    Along a ridge it has curvature that differences in double precision do not show.
    """
    ours = case.fit.vcov().to_numpy()
    exact = case.covariance
    if ours.shape != exact.shape or not np.all(np.diag(exact) > 0.0):
        return False
    errors = np.sqrt(np.diag(exact))
    close = np.abs(ours - exact) <= _DELTA * np.outer(errors, errors)
    definite = np.linalg.eigvalsh(exact / np.outer(errors, errors))[0] > 0.0
    return bool(close.all() and definite)


def not_identified(case: Case, check: Check) -> bool:
    """Neither side has more than a point of a ridge, which ours does not call an end,
    or ours leaves parameters out.
    """
    if case.fit is not None and case.fit.fit.confounded:
        return check.kind not in LOGLIKS and not case.rows.identified(case.estimates)
    if check.kind != "convergence" or has_end(case.ours) or not has_end(case.theirs):
        return False
    ends = case.estimates, estimated(case.theirs)
    return not all(case.rows.identified(point) for point in ends)


def refitted(case: Case, check: Check) -> bool:
    """Each row of a refit table that differs is not identified, freed with other
    margins, or stopped short in R.

    All faults of R that can be mended are mended before rows are compared.
    """
    kind = check.kind.removesuffix(".df")
    if kind not in REFITS or not _comparable(check):
        return False
    theirs = case.mended_table(kind)
    names = kind, f"{kind}.df"
    if any(
        case.ours.numbers[name].shape != theirs.get(name, np.zeros(0)).shape
        for name in names
    ):
        return False
    terms = case.ours.words[f"{kind}.terms"].split("\t")
    beyond = [excess(case.ours.numbers[name], theirs[name], RATIO) for name in names]
    either = np.isfinite(case.ours.numbers[kind]) | np.isfinite(theirs[kind])
    differ = np.flatnonzero((np.maximum(*beyond) > 1.0) & either)
    return all(
        _row_explained(
            case,
            kind,
            terms[row],
            Tested.of(case.ours.numbers, kind, row),
            Tested.of(theirs, kind, row),
        )
        for row in differ
    )


class Tested(NamedTuple):
    """What one side has in a row of a refit table."""

    statistic: float
    df: float
    untested: bool = False

    @classmethod
    def of(cls, numbers: dict[str, np.ndarray], kind: str, row: int) -> Tested:
        """A row; `untested` if it has degrees of freedom, and no p-value by choice."""
        statistic = float(numbers[kind][row])
        df = float(numbers[f"{kind}.df"][row])
        p_values = numbers.get(f"{kind}.p")  # of ours alone
        untested = p_values is not None and df > 0.0 and np.isnan(p_values[row])
        return cls(statistic, df, bool(untested))

    def compares(self, wider: Answer, narrower: Answer) -> bool:
        """Whether this is the likelihood-ratio statistic of two fits, and its degrees
        of freedom.
        """
        ratio = 2.0 * (wider.number("loglik") - narrower.number("loglik"))
        df = wider.number("edf") - narrower.number("edf")
        apart = abs(ratio - self.statistic)
        return apart <= RATIO * (1.0 + abs(ratio)) and df == self.df


def _row_explained(
    case: Case, kind: str, term: str, ours: Tested, theirs: Tested
) -> bool:
    """Whether one of six proofs holds for a row; the models are fitted by both sides
    on their own.
    """
    together = _with_margins(case, kind, term)
    model = case.variant(kind, together)
    if model.fit is not None and model.fit.fit.confounded:
        return True
    if "fit.error" in model.theirs.words and ours.untested:
        return True
    if together != term:
        if "fit.error" not in model.theirs.words:
            if ours.compares(model.theirs, case.mended_fit()):
                return True
        elif _each_frees_its_own(case, model, case.variant(kind, term), ours, theirs):
            return True
    if _stopped_short(case, model, kind, ours.statistic, theirs.statistic):
        return True
    if "fit.error" not in model.theirs.words and has_end(model.theirs):
        return False
    if not np.isnan(theirs.statistic):  # it has to be the test of the term alone
        alone = case.variant(kind, term).theirs
        if "fit.error" in alone.words:
            return False
        if not theirs.compares(alone, case.mended_fit()):
            return False
    return _highest_found(case, model, kind, ours)


def _with_margins(case: Case, kind: str, term: str) -> str:
    """The terms that ours frees with one: those of the location formula whose variables
    are among its own, unless it has only factors more; these it holds.
    """
    if kind == "drop1" or term not in case.fit.design.terms:
        return term
    parts = set(term.split(":"))
    margins = []
    for other in case.fit.design.terms:
        inner = set(other.split(":"))
        if inner < parts and not parts - inner <= set(FACTORS):
            margins.append(other)
    return " + ".join([*margins, term])


def _highest_found(case: Case, model: Case, kind: str, ours: Tested) -> bool:
    """Whether our statistic is that of the highest log-likelihood that NumPy finds."""
    if model.fit is None or np.isnan(ours.statistic):
        return False
    if ours.df != abs(model.ours.number("edf") - case.ours.number("edf")):
        return False
    apart = model.highest() - _loglik_of(case, kind, ours.statistic)
    return abs(apart) <= _SAME_HEIGHT


def _loglik_of(case: Case, kind: str, statistic: float) -> float:
    """The log-likelihood of the model that our statistic is of."""
    sign = -0.5 if kind == "drop1" else 0.5
    return case.ours.number("loglik") + sign * statistic


def _each_frees_its_own(
    case: Case, model: Case, alone: Case, ours: Tested, theirs: Tested
) -> bool:
    """Whether our row is the test of the term with its margins, which R has no fit of,
    and R's row that of the term alone, of which both sides have the same fit.
    """
    if model.fit is None or alone.fit is None or "fit.error" in alone.theirs.words:
        return False
    sides = alone.ours, alone.theirs
    if not all(has_end(side) for side in (model.ours, *sides)):
        return False
    apart = abs(alone.ours.number("loglik") - alone.theirs.number("loglik"))
    return (
        apart <= RATIO
        and ours.compares(model.ours, case.ours)
        and theirs.compares(alone.theirs, case.mended_fit())
        and model.ours.number("loglik") >= alone.ours.number("loglik")
    )


def lower_maximum(case: Case, check: Check) -> bool:
    return check.kind in ("loglik", MENDED) and has_end(case.theirs) and case.higher()


def infinite_estimates(case: Case, check: Check) -> bool:
    """R stops on the way to infinity without a word, below ours, which says so."""
    separated = case.fit is not None and case.fit.fit.separation is not None
    return check.kind == "convergence" and separated and has_end(case.theirs)


def on_a_way_that_ours_tells(case: Case, check: Check) -> bool:
    """R has no end where it stopped, and is no higher than ours says that a path
    without a maximum is; NumPy finds ours to be an identified maximum.
    """
    return check.kind in ("convergence", *LOGLIKS) and _tells_the_way(case)


def _tells_the_way(case: Case) -> bool:
    """Whether R is on a path without a maximum that ours, an identified maximum, tells
    the height of.
    """
    if (
        case.fit is None
        or case.fit.fit.diverging_elsewhere is None
        or not has_end(case.ours)
        or has_end(case.theirs)
    ):
        return False
    told = case.ours.number("loglik") + case.fit.fit.higher_by + _ON_THE_WAY
    return (
        case.right()
        and case.theirs.number("loglik") <= told
        and case.rows.identified(case.estimates)
    )


def below_a_way_without_end(case: Case, check: Check) -> bool:
    """R stops below a point on a way on which ours has found no end, and ours
    says so.
    """
    return (
        check.kind == "convergence"
        and has_end(case.theirs)
        and not has_end(case.ours)
        and case.higher()
    )


def second_derivatives(case: Case, check: Check) -> bool:
    """R takes them of a link with a parameter by differences of the likelihood; those
    to 50 digits give ours.

    Where R's errors are off, so are its Wald tests.
    """
    if (
        check.kind not in ("se", *WALD)
        or case.spec.link not in FLEXIBLE
        or not has_end(case.ours)
    ):
        return False
    if check.kind in WALD and (
        not _comparable(check)
        or all(one.agrees for one in case.checks if one.kind == "se")
    ):
        return False
    ours = case.fit.vcov().to_numpy()
    exact = case.covariance
    errors = np.sqrt(np.diag(exact))
    return ours.shape == exact.shape and bool(
        np.all(np.abs(ours - exact) <= _DELTA * np.outer(errors, errors))
    )


def predict_without_lambda(case: Case, check: Check) -> bool:
    """Delta method with R's own covariance over all parameters gives ours."""
    if case.fit is None or not case.fit.fit.n_lambda or check.kind != "observed.se":
        return False
    slopes = case.rows.slopes(case.estimates)[: np.size(check.ours)]
    covariance = case.fit.vcov().to_numpy()
    errors = np.sqrt(np.einsum("np,pq,nq->n", slopes, covariance, slopes))
    return bool(
        np.all(
            excess(np.asarray(check.ours), errors, _DELTA * errors + _NO_ERROR) <= 1.0
        )
    )


def _stopped_short(
    case: Case, model: Case, kind: str, ours: float, theirs: float
) -> bool:
    """Whether R, asked for the model itself, has no end where one side has no
    statistic, or a lower log-likelihood.

    A statistic of ours has to be that of the model, fitted by itself, but for what is
    left on a way to infinity, where the scores of the rows depend on each other; where
    neither side ends, ours has to be the higher one. Where ours has none, R's may also
    be of a point below a way on which ours, fitted by itself, finds no end, or of one
    from which the likelihood rises.
    """
    if np.isnan(ours):
        if (
            model.fit is None
            or "fit.error" in model.theirs.words
            or not has_end(model.theirs)
        ):
            return model.fit is not None
        if not model.rows.identified(model.estimates):
            return True
        return not has_end(model.ours) and (model.higher() or _rises_from(model))
    loglik = _loglik_of(case, kind, ours)
    if model.fit is None:
        return False
    apart = abs(loglik - model.ours.number("loglik"))
    if apart > _ON_THE_WAY or (apart > RATIO and not _on_the_way(model)):
        return False
    stopped = "fit.error" in model.theirs.words
    if not stopped and _tells_the_way(model):
        return True
    if not (
        stopped
        or has_end(model.ours)
        or model.fit.fit.separation is not None
        or model.higher()
    ):
        return False
    if stopped and np.isnan(theirs):  # there is nothing of R's to compare ours with
        return False
    if np.isnan(theirs) and model.theirs.number("code") < 0.0:
        return True
    return model.higher() or _at_a_saddle(model)


def _rises_from(model: Case) -> bool:
    """Whether R, whose contrasts are mended, stopped at a point that is no maximum:
    NumPy goes up from there.
    """
    start = estimated(model.theirs)
    rows = model.rows
    if start.size != rows.upper.shape[1] + rows.scale.shape[1]:
        return False
    return rows.highest(start) > model.theirs.number("loglik") + _RISES


def _at_a_saddle(model: Case) -> bool:
    """Whether R has no end at a point with a direction along which the likelihood bends
    upwards, to 50 digits, and ours is an identified maximum.
    """
    if "fit.error" in model.theirs.words or has_end(model.theirs):
        return False
    if not (has_end(model.ours) and model.right()):
        return False
    covariance = precise.covariance(model.rows, estimated(model.theirs))
    bends_upwards = float(np.linalg.eigvalsh(covariance)[0]) < 0.0
    return bends_upwards and model.rows.identified(model.estimates)


def _on_the_way(model: Case) -> bool:
    """Whether our estimates of a model are a point on a way to infinity, be it said or
    not.
    """
    return not has_end(model.ours) or (
        "fit.error" not in model.theirs.words
        and not model.rows.identified(model.estimates)
    )


def aliased_columns(case: Case, check: Check) -> bool:
    """Beside aliased columns ours has no number, or that of type II for a term that is
    part of no other, or R's.
    """
    if (
        check.kind != "anova.III"
        or not _comparable(check)
        or not case.fit.fit.aliased.any()
    ):
        return False
    ours = np.asarray(check.ours)
    theirs = np.asarray(check.theirs)
    as_type_2 = np.isclose(ours, case.ours.numbers["anova.II"], rtol=1e-9)
    return bool(
        np.all(np.isnan(ours) | as_type_2 | (excess(ours, theirs, RATIO) <= 1.0))
    )


def stops_at_aliased_columns(case: Case, check: Check) -> bool:
    return (
        check.kind in WALD
        and isinstance(check.theirs, str)
        and bool(case.fit.fit.aliased.any())
    )


def coding_matters(case: Case, check: Check) -> bool:
    """With treatment contrasts, which R goes over to, the formula is another model with
    another maximum.
    """
    if check.kind != "anova.III" or not _comparable(check):
        return False
    treatment = dict.fromkeys(FACTORS, "treatment")
    other, _ = ordstat_side.answer(
        replace(case.spec, contrasts=treatment), (), case.session.balanced
    )
    return (
        "loglik" in other.numbers
        and abs(other.number("loglik") - case.ours.number("loglik")) > ABOVE
    )


def no_maximum_in_lambda(case: Case, check: Check) -> bool:
    """Ours refuses; with lambda held ever further out, either beyond R's or far out,
    NumPy finds the likelihood no lower than R's.
    """
    if check.kind != "refusal" or "no maximum" not in case.ours.words.get(
        "fit.error", ""
    ):
        return False
    start = estimated(case.theirs)
    if start.size != case.rows_of_theirs().upper.shape[1] + 1:
        return False
    beyond = [factor * start[-1] for factor in _FURTHER]
    return any(
        _never_falls(case, values)
        for values in (beyond, _FAR, [-value for value in _FAR], _FARTHER)
    )


def _never_falls(case: Case, values: Sequence[float]) -> bool:
    """Whether the likelihood at these lambdas, to which NumPy comes from R's estimates
    in small steps, is no lower than before, and than R's.
    """
    start = estimated(case.theirs)
    rows = case.rows_of_theirs()
    reached = case.theirs.number("loglik")
    for value in values:
        further = rows.followed(start, start.size - 1, value)
        if not further >= reached - _LEVEL:
            return False
        reached = max(reached, further)
    return True


def no_location_terms(case: Case, check: Check) -> bool:
    """Nothing to test or to profile, which ours says by an empty table."""
    if check.kind == "profile" and isinstance(check.theirs, str):
        return case.ours.numbers.get("profile", np.ones(1)).size == 0
    return (
        check.kind in WALD
        and isinstance(check.theirs, str)
        and not case.fit.design.terms
    )


def stops(case: Case, check: Check) -> bool:
    return check.kind == "refusal" and "fit.error" not in case.ours.words


def rows_changed(case: Case, check: Check) -> bool:
    return check.kind in REFITS and "number of rows" in str(check.theirs)


def profile_refused(case: Case, check: Check) -> bool:
    return (
        check.kind == "profile"
        and "standard errors are NA" in str(check.theirs)
        and bool(case.fit.fit.aliased.any())
    )


def profile_off(case: Case, check: Check) -> bool:
    """With an effect held at our limit, the deviance equals the quantile, if there is a
    fit.

    R's own deviance, or, where R's fit with the effect held is a lower maximum (of a
    cauchit, say), the least that NumPy has: from our maximum in small steps, or at the
    point that ours has with the effect held; or where R goes to a path without a
    maximum that ours tells the height of. Where the profile jumps at our limit,
    NumPy finds the deviance below the quantile on the side of the estimate, and above
    it on the other. Where ours has no limit, as the likelihood levels off, R's own
    deviance at R's limit is less than the quantile.
    """
    if (
        check.kind != "profile"
        or "profile" not in case.ours.numbers
        or case.fit.fit.aliased.any()
    ):
        return False
    limits = case.ours.numbers["profile"].reshape(-1, 2)
    theirs = (
        np.asarray(check.theirs).reshape(-1, 2)
        if _comparable(check)
        else np.full_like(limits, np.nan)
    )
    beyond = np.full(limits.size, np.inf)
    if _comparable(check):
        beyond = excess(
            np.asarray(check.ours), np.asarray(check.theirs), spline_error(case.ours)
        )
    differ = (beyond > 1.0).reshape(limits.shape)
    at_ours = _above_quantile(case, limits, differ & np.isfinite(limits))
    at_theirs = _above_quantile(
        case, theirs, differ & ~np.isfinite(limits) & np.isfinite(theirs)
    )
    right = all(
        abs(above) < _DEVIANCE or _jumps(case, limits, at)
        for at, above in at_ours.items()
    )
    return (
        bool(at_ours or at_theirs)
        and right
        and all(above < -_DEVIANCE for above in at_theirs.values())
    )


def _above_quantile(
    case: Case, limits: np.ndarray, quantiles: np.ndarray
) -> dict[tuple[int, int], float]:
    """Deviances minus the quantile, with effects held at some limits, where there is a
    fit, by effect and side.
    """
    collected = {}
    for place, side in np.argwhere(quantiles).tolist():
        value = float(limits[place, side])
        above = case.held(place, value) - _QUANTILE
        if _higher_on_told_way(case, above):
            above = case.followed(place, value) - _QUANTILE
        elif not above < _DEVIANCE:  # above it, or R has no fit
            others = case.followed(place, value), case.at_ours(place, value)
            above = float(
                np.fmin.reduce([above, *(other - _QUANTILE for other in others)])
            )
        if np.isfinite(above):
            collected[place, side] = above
    return collected


def _higher_on_told_way(case: Case, above: float) -> bool:
    """Whether R, with an effect held, is on a path without a maximum whose height ours
    tells: limits are those of our local maximum.
    """
    if case.fit.fit.diverging_elsewhere is None:
        return False
    told = -2.0 * (case.fit.fit.higher_by + _ON_THE_WAY)
    return told - _QUANTILE <= above < -_DEVIANCE


def _jumps(case: Case, limits: np.ndarray, at: tuple[int, int]) -> bool:
    """Whether the deviance, by NumPy, is below the quantile a little nearer to the
    estimate than one of our limits, and above it a little beyond, from wherever NumPy
    starts.
    """
    place, side = at
    outwards = (-1.0, 1.0)[side]
    little = outwards * _BESIDE * case.error(place)
    inside = float(limits[at]) - little
    # the deviance of any point bounds it from above
    above = min(case.followed(place, inside), case.at_ours(place, inside))
    if not above < _QUANTILE - _DEVIANCE:
        return False
    beyond = case.least(place, float(limits[at]) + little)
    return beyond > _QUANTILE + _DEVIANCE
