"""What R's ordinal gets wrong, each with the proof that a disagreement has to pass to
be put down to it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.against_r import proofs
from benchmarks.against_r.case import Case
from benchmarks.against_r.compare import ABOVE, LOGLIKS, Check
from benchmarks.against_r.likelihoods import Heights


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
    explains: Callable[[Any, Check], bool]


def explanation(case: Case | Heights, check: Check) -> Fault | None:
    """The fault behind a disagreement; None if it may be ours.

    R's log-likelihood above ours is a fault of ours, unless R fitted another model than
    the one it was asked for, or computed it wrongly, or ours says how much higher it is
    on a path without a maximum.
    """
    if isinstance(case, Heights):
        return None
    if check.kind in LOGLIKS and float(check.theirs[0]) > float(check.ours[0]) + ABOVE:
        return next(
            (
                fault
                for fault in (CONTRASTS, MISCOMPUTED, ON_A_WAY)
                if fault.explains(case, check)
            ),
            None,
        )
    return next((fault for fault in FAULTS if fault.explains(case, check)), None)


CONTRASTS = Fault(
    "contrasts dropped",
    "R ignores contrasts= of a factor that is in interactions only; with contrasts() of"
    " the column it agrees, or stops without converging and no higher than ours.",
    proofs.absent_contrasts,
)
MISCOMPUTED = Fault(
    "log-likelihood miscomputed",
    "R's log-likelihood is not that of its estimates, which NumPy finds no higher than"
    " ours.",
    proofs.miscomputed,
)
ON_A_WAY = Fault(
    "on a path without a maximum",
    "R stops without an end on a path on which the likelihood has no maximum; ours is a"
    " maximum, as NumPy confirms, and says how much higher that path is.",
    proofs.on_a_way_that_ours_tells,
)
FAULTS = (
    Fault(
        "cauchit cut off",
        "R has +-1e5 for the ends of the line, beyond which a Cauchy variable lies with"
        " probability 6e-6; with 1e12 it agrees.",
        proofs.cut_ends,
    ),
    CONTRASTS,
    MISCOMPUTED,
    Fault(
        "types I and II without weights",
        "R leaves case weights out of these contrasts; with repeated rows it agrees.",
        proofs.weightless_contrasts,
    ),
    Fault(
        "type II of overlapping terms",
        "R overlooks variables of a term whose margins are not in the model when it"
        " asks which terms contain which; for all variables together it agrees.",
        proofs.overlooked_variables,
    ),
    Fault(
        "little variance left out",
        "R's Wald tests leave out directions of less than 1.5e-8 of the largest"
        " variance, which depends on the units of columns; with hypotheses in units of"
        " their errors it agrees.",
        proofs.left_out,
    ),
    Fault(
        "several of these",
        "none of the above corrected alone, but all together, make R agree.",
        proofs.several,
    ),
    Fault(
        "type III with aliased columns",
        "R tests what is left of a term after going over to treatment contrasts, which"
        " depends on the order of levels; ours gives no number, or tests the columns of"
        " the model as they are, as type II does.",
        proofs.aliased_columns,
    ),
    Fault(
        "anova() stops at aliased columns",
        "R raises an error; ours leaves them out of the tests.",
        proofs.stops_at_aliased_columns,
    ),
    Fault(
        "type III where the coding matters",
        "R tests the coefficients of treatment contrasts, with which the formula is"
        " another model (interactions without their margins): neither side's test is of"
        " the model.",
        proofs.coding_matters,
    ),
    Fault(
        "anova() and profiles without effects",
        "R ends in an error; ours is an empty table.",
        proofs.no_location_terms,
    ),
    Fault("stops", "R raises an error; ours has a fit.", proofs.stops),
    Fault(
        "no convergence",
        "R stops before it converges; NumPy confirms that ours is a maximum, and"
        " identified.",
        proofs.no_end,
    ),
    ON_A_WAY,
    Fault(
        "not identified",
        "R gives standard errors of parameters whose scores depend on each other, as"
        " NumPy confirms; ours says so.",
        proofs.not_identified,
    ),
    Fault(
        "no maximum in lambda",
        "R ends on a likelihood that levels off in lambda, or below one, as NumPy"
        " confirms with lambda held further out; ours refuses.",
        proofs.no_maximum_in_lambda,
    ),
    Fault(
        "lower maximum",
        "R converges at a lower log-likelihood than ours, as NumPy confirms.",
        proofs.lower_maximum,
    ),
    Fault(
        "infinite estimates",
        "R shows them as converged; ours says that they are infinite.",
        proofs.infinite_estimates,
    ),
    Fault(
        "below a rising likelihood",
        "R says that it converged where the likelihood rises without end; ours says"
        " that there is no maximum.",
        proofs.below_a_way_without_end,
    ),
    Fault(
        "second derivatives by differences",
        "R's standard errors, and with them its Wald tests, are off where a link has a"
        " parameter; differences to 50 digits give ours.",
        proofs.second_derivatives,
    ),
    Fault(
        "predict() without lambda",
        "R's standard errors leave out that the parameter of the link is estimated; the"
        " delta method agrees with ours.",
        proofs.predict_without_lambda,
    ),
    Fault(
        "refits",
        "Each row of drop1(), nominal_test() or scale_test() that differs has one of"
        " these proofs. The probabilities do not determine all parameters of the model,"
        " which ours says. R frees an interaction without its margins; R's fits of the"
        " models with and without all of these give our statistic. Or R has no fit of"
        " all of these: then both sides have the same fit of the interaction alone, and"
        " each table has the test of its own model. R, asked for the model alone, does"
        " not fit it, finds it singular, or stops at a saddle, as differences to 50"
        " digits show. R stops on a path without a maximum, whose height ours tells. R"
        " stops at a point from which NumPy goes up, and ours says that there is no"
        " maximum. R ends at a lower maximum than ours, as NumPy confirms. R has no"
        " fit, and ours no p-value, as probabilities are negative in many rows. R has"
        " no fit or no end, and our statistic is that of the highest log-likelihood"
        " that NumPy finds from many starts.",
        proofs.refitted,
    ),
    Fault(
        "missing values in a term",
        "R's drop1() and tests stop where a term has missing values; ours keeps the"
        " rows of the fit.",
        proofs.rows_changed,
    ),
    Fault(
        "profiles beside aliased columns",
        "R refuses them all; ours has those of the others.",
        proofs.profile_refused,
    ),
    Fault(
        "profile limits",
        "R's interpolated limits are off, or it stops; with an effect held at ours the"
        " deviance, by R or by NumPy, is the quantile, or jumps over it, as NumPy finds"
        " on either side.",
        proofs.profile_off,
    ),
)
