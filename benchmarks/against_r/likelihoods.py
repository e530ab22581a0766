"""Log-likelihoods alone, of models that may have several maxima: none of ours below
R's.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from benchmarks.against_r import ours as ordstat_side
from benchmarks.against_r.case import settled
from benchmarks.against_r.compare import ABOVE, Check, has_end
from benchmarks.against_r.exact import Rows
from benchmarks.against_r.session import Answer, Session
from benchmarks.against_r.specs import Spec

#: Corrections of R, so that it fits the requested model.
_MENDS = ("ends", "contrasts")


@dataclass(frozen=True, eq=False)
class Heights:
    """Log-likelihoods that both sides reach for one specification.

    Attributes
    ----------
    spec : Spec
    ours : Answer
    answers : tuple of Answer
        R with contrasts and the ends of the line mended, so that it fits this model;
        and as it is, where contrasts are not asked for. The higher one counts.
    session : Session
    """

    spec: Spec
    ours: Answer
    answers: tuple[Answer, ...]
    session: Session

    @classmethod
    def of(cls, spec: Spec, session: Session) -> Heights:
        session.ask(spec, (), _MENDS)
        ours, _ = ordstat_side.answer(spec, (), session.balanced)
        theirs = [session.read()]
        if spec.link == "cauchit" and not spec.contrasts:
            theirs.append(session.answer(spec))
        return cls(
            spec,
            ours,
            tuple(answer for answer in theirs if "loglik" in answer.numbers),
            session,
        )

    @property
    def theirs(self) -> Answer:
        """The higher one of R's."""
        return max(self.answers, key=lambda answer: answer.number("loglik"))

    @cached_property
    def rows(self) -> Rows:
        """The rows of the model, by the mended R."""
        self.session.answer(self.spec, (), _MENDS)
        return Rows.of(self.spec.link, self.session.rows())

    @property
    def estimates(self) -> np.ndarray:
        """Ours, as `Case.estimates`."""
        return settled(self.spec.link, self.ours)

    @property
    def checks(self) -> list[Check]:
        """Ours against the higher of R's; nothing where R has none."""
        if not self.answers:
            return []
        best = self.theirs
        if "fit.error" in self.ours.words:
            return [
                Check(
                    "refusal",
                    False,
                    self.ours.words["fit.error"],
                    best.numbers["loglik"],
                )
            ]
        below = best.number("loglik") - self.ours.number("loglik")
        kind = f"loglik: R {_state(best)}, ours {_state(self.ours)}"
        ends = has_end(best) or has_end(self.ours)
        agrees = below <= ABOVE or not ends
        return [
            Check(
                kind,
                agrees,
                self.ours.numbers["loglik"],
                best.numbers["loglik"],
                below / ABOVE,
            )
        ]


def _state(answer: Answer) -> str:
    return "with end" if has_end(answer) else "without end"
