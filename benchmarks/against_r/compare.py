"""Two answers side by side: which figures agree, and by how much the others differ.

R is asked for a gradient below 1e-9 (`specs.R_CONTROL`), and its last step V g, by its
own covariance V and gradient g, says how far its estimates are from its optimum.
`slack` is 1e-5, what ordstat's own tolerance leaves and rounding in covariances costs
(1e-2 where R differentiates numerically, by the parameter of a link), plus twice that
step in standard errors. Estimates, predictions and their standard errors may differ by
`slack` standard errors; a Wald statistic X2, which moves by its root times that, by
slack (1 + X2); log-likelihoods by 1e-7 plus the square of the step, and
likelihood-ratio statistics by 1e-5. R interpolates its profiles by splines, which is
good to 0.02 standard errors where they are smooth.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks.against_r.session import Answer

SLACK = 1e-5
NUMERICAL = 1e-2
#: R's log-likelihood above ordstat's by more than this is never excused.
ABOVE = 1e-6
LOGLIK = 1e-7
RATIO = 1e-5
SPLINE = 0.02
#: A last step longer than this, in standard errors, is no end.
NEAR = 1e-3
#: The log-likelihood where one side or both have not ended.
NO_END = "loglik, no end"
#: That of a cauchit, whose ends R cuts off, with the ends mended.
MENDED = "loglik, ends mended"
LOGLIKS = ("loglik", NO_END, MENDED)
WALD = ("anova.I", "anova.II", "anova.III")
REFITS = ("drop1", "nominal_test", "scale_test")
PREDICTED = ("prob", "cum_prob", "linear_predictor", "observed")


@dataclass(frozen=True, eq=False)
class Check:
    """One comparison.

    Attributes
    ----------
    kind : str
        "loglik", "estimates", "prob.se", "anova.II", ...
    agrees : bool
    ours, theirs : array or str
    excess : float
        Largest difference, as a multiple of the tolerance.
    place : int
        Where that is.
    """

    kind: str
    agrees: bool
    ours: np.ndarray | str
    theirs: np.ndarray | str
    excess: float = float("nan")
    place: int = 0


def compare(ours: Answer, theirs: Answer, slack: float = SLACK) -> list[Check]:
    """All comparisons that can be made of two answers.

    If both sides say that they did not converge, they agree, and there is nothing more
    to compare. The same holds if ours is refused where R did not converge.
    """
    refused = ["fit.error" in answer.words for answer in (ours, theirs)]
    if any(refused):
        words = [answer.words.get("fit.error", "fitted") for answer in (ours, theirs)]
        return [
            Check(
                "refusal", all(refused) or (refused[0] and not has_end(theirs)), *words
            )
        ]
    ends = has_end(ours), has_end(theirs)
    checks = [
        Check(
            "convergence",
            ends[0] == ends[1],
            *(_state(answer) for answer in (ours, theirs)),
        )
    ]
    if not any(ends):
        return checks
    checks.append(_loglik(ours, theirs, all(ends)))
    if all(ends) and checks[-1].agrees:
        checks += _figures(ours, theirs, slack + 2.0 * last_step(theirs))
    return checks


def has_end(answer: Answer) -> bool:
    """Whether the fit has finite estimates with standard errors, close to a maximum."""
    estimated = ~np.isnan(answer.numbers["estimates"])
    if not np.isfinite(answer.numbers["se"][estimated]).all():
        return False
    if "reached" in answer.numbers:
        return bool(answer.number("reached"))
    return last_step(answer) < NEAR and "iteration limit" not in answer.words.get(
        "message", ""
    )


def last_step(answer: Answer) -> float:
    """The longest step that R had left, in standard errors."""
    steps = answer.numbers["step"] / answer.numbers["se"]
    return float(np.nanmax(steps, initial=0.0))


def _state(answer: Answer) -> str:
    warning = answer.words.get("fit.warning", answer.words.get("message", "no warning"))
    return f"{'converged' if has_end(answer) else 'no end'} ({warning})"


def _loglik(ours: Answer, theirs: Answer, both: bool) -> Check:
    above = theirs.number("loglik") - ours.number("loglik")
    allowed = LOGLIK + last_step(theirs) ** 2 if both else ABOVE
    amount = abs(above) if both else above
    agrees = amount <= allowed and above <= ABOVE
    return Check(
        "loglik" if both else NO_END,
        agrees,
        ours.numbers["loglik"],
        theirs.numbers["loglik"],
        amount / allowed,
    )


def _figures(ours: Answer, theirs: Answer, slack: float) -> Iterator[Check]:
    for kind in ("edf", "nobs"):
        yield _numbers(kind, ours, theirs, 1e-9)
    se = theirs.numbers["se"]
    yield _numbers("estimates", ours, theirs, slack * se)
    yield _numbers("se", ours, theirs, slack * se)
    for kind in PREDICTED:
        if _both(kind, ours, theirs):
            allowed = (
                slack
                * np.fmax(ours.numbers[f"{kind}.se"], theirs.numbers[f"{kind}.se"])
                + 1e-9
            )
            yield _numbers(kind, ours, theirs, allowed)
            yield _numbers(f"{kind}.se", ours, theirs, allowed)
    for kind in (*WALD, *REFITS, "profile"):
        yield from _table(kind, ours, theirs, slack)


def _table(kind: str, ours: Answer, theirs: Answer, slack: float) -> Iterator[Check]:
    given = [kind in answer.numbers for answer in (ours, theirs)]
    if not any(given):
        return
    if not all(given):
        yield Check(
            kind,
            False,
            *(answer.words.get(f"{kind}.error", "given") for answer in (ours, theirs)),
        )
        return
    actual = theirs.numbers[kind]
    if kind == "profile":
        yield _numbers(kind, ours, theirs, spline_error(theirs))
        return
    allowed = slack * (1.0 + np.abs(actual)) if kind in WALD else RATIO
    yield _numbers(
        f"{kind}.df",
        *(_tested(kind, answer, ours, theirs) for answer in (ours, theirs)),
        RATIO,
    )
    yield _numbers(kind, ours, theirs, allowed)


def _tested(kind: str, answer: Answer, ours: Answer, theirs: Answer) -> Answer:
    """Degrees of freedom of the rows that both sides have a statistic of; NaN
    elsewhere.
    """
    df = answer.numbers[f"{kind}.df"]
    statistics = [side.numbers[kind] for side in (ours, theirs)]
    if statistics[0].shape != statistics[1].shape:
        return answer
    tested = ~np.isnan(statistics[0]) & ~np.isnan(statistics[1])
    return Answer({f"{kind}.df": np.where(tested, df, np.nan)})


def spline_error(answer: Answer) -> np.ndarray:
    """What R's interpolation costs each limit, in the order of "profile".

    The estimated location and scale effects are the last ones of those that are
    estimated.
    """
    estimated = np.flatnonzero(~np.isnan(answer.numbers["estimates"]))
    places = estimated[-answer.numbers["profile"].size // 2 :]
    return SPLINE * np.repeat(answer.numbers["se"][places], 2)


def _both(kind: str, ours: Answer, theirs: Answer) -> bool:
    return kind in ours.numbers and kind in theirs.numbers


def _numbers(
    kind: str, ours: Answer, theirs: Answer, allowed: np.ndarray | float
) -> Check:
    """Whether all numbers of a kind agree; a number that one side does not have is a
    disagreement.
    """
    a = ours.numbers[kind]
    b = theirs.numbers[kind]
    if a.shape != b.shape:
        return Check(kind, False, a, b, np.inf)
    beyond = excess(a, b, allowed)
    place = int(np.argmax(beyond)) if beyond.size else 0
    return Check(
        kind, bool(np.all(beyond <= 1.0)), a, b, float(beyond.max(initial=0.0)), place
    )


def excess(a: np.ndarray, b: np.ndarray, allowed: np.ndarray | float) -> np.ndarray:
    """Differences as multiples of the tolerance; infinite if only one side has a
    number.
    """
    with np.errstate(invalid="ignore"):
        beyond = np.where(a == b, 0.0, np.abs(a - b) / allowed)
    return np.where(
        np.isnan(a) & np.isnan(b), 0.0, np.where(np.isnan(beyond), np.inf, beyond)
    )
