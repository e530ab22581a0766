"""What R's ordinal gets wrong, each with the test that a disagreement has to pass to be put down to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2

from benchmarks.against_r.case import MENDS, Case
from benchmarks.against_r.compare import ABOVE, RATIO, REFITS, WALD, Check, excess, has_end

#: R's deviance at a right profile limit is the chi-squared quantile within this.
_DEVIANCE = 1e-3
#: Log-likelihoods on the way to an infinite estimate.
_NO_END = 1e-3
#: Numerical derivatives and R's own slack leave this share of a standard error.
_DELTA = 1e-3


@dataclass(frozen=True)
class Fault:
    """One fault of R.

    Attributes
    ----------
    name, reason : str
    explains : callable(case, check) -> bool
        Whether it is behind a disagreement, shown by another computation.
    """

    name: str
    reason: str
    explains: Callable[[Case, Check], bool]


def explanation(case: Case, check: Check) -> Fault | None:
    """The fault behind a disagreement; None for a fault of ours, as R's log-likelihood above ours always is."""
    if check.kind == "loglik" and case.theirs.number("loglik") > case.ours.number("loglik") + ABOVE:
        return None
    return next((fault for fault in FAULTS if fault.explains(case, check)), None)


def _agrees_with(case: Case, check: Check, *mends: str) -> bool:
    mended = case.mended(check.kind.removesuffix(".df"), mends)
    return mended is not None and mended.agrees


def _comparable(check: Check) -> bool:
    """Whether both sides have numbers, and as many."""
    return not isinstance(check.ours, str) and np.shape(check.ours) == np.shape(check.theirs)


def _cut_ends(case: Case, check: Check) -> bool:
    return case.spec.link == "cauchit" and check.kind == "loglik" and _agrees_with(case, check, "ends")


def _absent_contrasts(case: Case, check: Check) -> bool:
    return bool(case.spec.contrasts) and _agrees_with(case, check, "contrasts")


def _weightless_contrasts(case: Case, check: Check) -> bool:
    return case.spec.weights is not None and check.kind in WALD[:2] and _agrees_with(case, check, "weights")


def _overlooked_variables(case: Case, check: Check) -> bool:
    return check.kind == "anova.II" and _agrees_with(case, check, "containment")


def _several(case: Case, check: Check) -> bool:
    return check.kind not in ("convergence", "loglik") and _agrees_with(case, check, *MENDS)


def _no_end(case: Case, check: Check) -> bool:
    """R did not converge, and ours is the maximum of a likelihood whose parameters are identified."""
    if check.kind not in ("convergence", "loglik") or not has_end(case.ours) or has_end(case.theirs):
        return False
    return case.higher() and case.rows.identified(case.estimates)


def _not_identified(case: Case, check: Check) -> bool:
    """Neither side has more than a point of a ridge, which ours does not call an end."""
    if check.kind != "convergence" or has_end(case.ours) or not has_end(case.theirs):
        return False
    return not case.rows.identified(case.estimates)


def _lower_maximum(case: Case, check: Check) -> bool:
    return check.kind == "loglik" and has_end(case.theirs) and case.higher()


def _infinite_estimates(case: Case, check: Check) -> bool:
    """R stops on the way to infinity without a word, below ours, which says so."""
    separated = case.fit is not None and case.fit.fit.separation is not None
    return check.kind == "convergence" and separated and has_end(case.theirs)


def _predict_without_lambda(case: Case, check: Check) -> bool:
    """Delta method with R's own covariance over all parameters gives ours."""
    if case.fit is None or not case.fit.fit.n_lambda or check.kind != "observed.se":
        return False
    slopes = case.rows.slopes(case.estimates)[: np.size(check.ours)]
    covariance = case.fit.vcov().to_numpy()
    errors = np.sqrt(np.einsum("np,pq,nq->n", slopes, covariance, slopes))
    return bool(np.all(excess(np.asarray(check.ours), errors, _DELTA * errors) <= 1.0))


def _refit_stopped_short(case: Case, check: Check) -> bool:
    """Every row that differs is of a model that R does not fit, or to a lower maximum than ours."""
    if check.kind not in REFITS or not _comparable(check):
        return False
    terms = case.ours.words[f"{check.kind}.terms"].split("\t")
    ours, theirs = np.asarray(check.ours), np.asarray(check.theirs)
    differ = np.flatnonzero(excess(ours, theirs, RATIO) > 1.0)
    return all(_stopped_short(case, check.kind, terms[row], float(ours[row]), float(theirs[row])) for row in differ)


def _stopped_short(case: Case, kind: str, term: str, ours: float, theirs: float) -> bool:
    """Whether R, asked for the model itself, has no end where one side has no statistic, or a lower log-likelihood.

    A statistic of ours has to be that of the model, fitted by itself.
    """
    model = case.variant(kind, term)
    if np.isnan(ours):
        return "fit.error" not in model.theirs.words and not has_end(model.theirs)
    said = case.ours.number("loglik") + (-0.5 if kind == "drop1" else 0.5) * ours
    if model.fit is None or abs(said - model.ours.number("loglik")) > (RATIO if has_end(model.ours) else _NO_END):
        return False
    if "ConvergenceWarning" in model.ours.words.get("fit.warning", ""):
        return False
    if np.isnan(theirs):
        return "fit.error" in model.theirs.words or not has_end(model.theirs) or model.higher()
    return model.higher()


def _empty_cells(case: Case, check: Check) -> bool:
    """Beside aliased columns ours has no number, and otherwise R's."""
    if check.kind != "anova.III" or not _comparable(check) or not case.fit.fit.aliased.any():
        return False
    ours, theirs = np.asarray(check.ours), np.asarray(check.theirs)
    return bool(np.all(np.isnan(ours) | (excess(ours, theirs, RATIO) <= 1.0)))


def _rows_changed(case: Case, check: Check) -> bool:
    return check.kind in REFITS and "number of rows" in str(check.theirs)


def _profile_refused(case: Case, check: Check) -> bool:
    return (
        check.kind == "profile" and "standard errors are NA" in str(check.theirs) and bool(case.fit.fit.aliased.any())
    )


def _profile_off(case: Case, check: Check) -> bool:
    """With an effect held at our limit, R's own deviance is the quantile."""
    if check.kind != "profile" or not _comparable(check):
        return False
    names = case.theirs.words["profile.names"].split("; ")
    limits = np.asarray(check.ours).reshape(-1, 2)
    quantile = float(chi2.ppf(0.95, 1))
    found = [case.held(name, limit) for name, pair in zip(names, limits, strict=True) for limit in pair
             if np.isfinite(limit)]  # fmt: skip
    return bool(np.all(np.abs(np.array(found) - quantile) < _DEVIANCE))


FAULTS = (
    Fault(
        "cauchit cut off",
        "R has +-1e5 for the ends of the line, beyond which a Cauchy variable lies with probability 6e-6; with 1e12 it "
        "agrees.",
        _cut_ends,
    ),
    Fault(
        "contrasts dropped",
        "R ignores contrasts= of a factor that is in interactions only; with contrasts() of the column it agrees.",
        _absent_contrasts,
    ),
    Fault(
        "types I and II without weights",
        "R leaves case weights out of these contrasts; with repeated rows it agrees.",
        _weightless_contrasts,
    ),
    Fault(
        "type II of overlapping terms",
        "R overlooks variables of a term whose margins are not in the model when it asks which terms contain which; "
        "asked of all variables it agrees.",
        _overlooked_variables,
    ),
    Fault("several of these", "none of the above mended alone, but all together, make R agree.", _several),
    Fault(
        "type III with empty cells",
        "R tests the columns that are left of a term, which depends on the order of levels; ours gives no number.",
        _empty_cells,
    ),
    Fault("no convergence", "R stops without an end; NumPy finds ours to be a maximum, identified.", _no_end),
    Fault(
        "not identified",
        "R gives errors of parameters whose scores NumPy finds to depend on each other; ours says so.",
        _not_identified,
    ),
    Fault("lower maximum", "R converges at a log-likelihood that NumPy finds to be lower than ours.", _lower_maximum),
    Fault("infinite estimates", "R shows them as converged; ours says that they are infinite.", _infinite_estimates),
    Fault(
        "predict() without lambda",
        "R's standard errors leave out that the parameter of the link is estimated; the delta method agrees with ours.",
        _predict_without_lambda,
    ),
    Fault(
        "refit stopped short",
        "a model of drop1(), nominal_test() or scale_test() that R, asked for it alone, does not fit, finds singular, "
        "or fits to a lower maximum.",
        _refit_stopped_short,
    ),
    Fault(
        "missing values in a term",
        "R's drop1() and tests stop where a term has missing values; ours keeps the rows of the fit.",
        _rows_changed,
    ),
    Fault("profiles beside aliased columns", "R refuses them all; ours has those of the others.", _profile_refused),
    Fault(
        "profile limits",
        "R's interpolated limits; with the effect held at ours R's own deviance is the quantile.",
        _profile_off,
    ),
)
