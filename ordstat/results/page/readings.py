"""What the diagnosis of a fit says, in plain language."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...exceptions import DataWarning, OptionError, SeparationWarning
from ..fitted import FittedRanker
from ..likelihood.proportionality import OMNIBUS
from ..report.cells import count, counted, p_in_words
from ..report.sections import certificate_text

_DOUBTFUL = 0.05


def readings(fit: FittedRanker) -> Iterator[tuple[str, str]]:
    """(what was looked at, what was found) of a fit."""
    yield "Optimum", _optimum(fit)
    if fit.method.likelihood:
        yield "Separation", _separation(fit)
        yield "Proportional odds (equal effects at all thresholds)", _proportional(fit)
    yield "Data", _data(fit)
    yield "Errors", _errors(fit)


def _optimum(fit: FittedRanker) -> str:
    if getattr(fit.fit, "separation", None) is not None:
        return "There is none, as the response is separated: the likelihood was followed to its limit."
    shown = certificate_text(fit.certificate, fit.trace)
    if fit.certificate.reached:
        return f"The fit is as good as its method asks for: {shown}."
    return f"THE FIT DID NOT REACH ITS OPTIMUM, and its numbers may be off: {shown}."


def _separation(fit: FittedRanker) -> str:
    told = [message for category, message in fit.issued() if category is SeparationWarning]
    if not told:
        return "None: all estimates are finite."
    return " ".join(message[:1].upper() + message[1:] for message in told)


def _proportional(fit: Any) -> str:
    if not hasattr(fit, "score_test"):
        return "Not tested: there is no such test of a fit with random effects."
    try:
        table = fit.score_test()
    except OptionError as problem:
        return f"Not tested: {problem}"
    test = table.loc[OMNIBUS]
    if not np.isfinite(test["p_value"]):
        why = "the response is separated" if fit.fit.separation is not None else "the test has no value here"
        return f"Not tested: {why}."
    shown = f"score test, chi2({test['df']:.0f}) = {test['chisq']:.2f}, {p_in_words(test['p_value'])}"
    if test["p_value"] >= _DOUBTFUL:
        return f"No sign that effects differ between thresholds ({shown}). With few rows that is no proof."
    worst = table["p_value"].drop(OMNIBUS).idxmin()
    return (
        f"Effects seem to differ between thresholds ({shown}), most of all those of {worst} "
        f"({p_in_words(table.loc[worst, 'p_value'])}). With many rows small differences show: look at the picture of "
        f"parallel effects, and try nominal='~ {worst}'."
    )


def _data(fit: FittedRanker) -> str:
    """Rows and levels left out, and what is probably not what it seems."""
    told = [message[:1].upper() + message[1:] for category, message in fit.issued() if category is DataWarning]
    if without := fit.design.dropped.get("(weight 0)", 0):
        told.append(f"{counted(without, 'row')} of weight 0 {'was' if without == 1 else 'were'} left out.")
    if told:
        return " ".join(told)
    return f"{'N' if fit.design.dropped else 'No row was left out, and n'}othing in the data looked doubtful."


def _errors(fit: FittedRanker) -> str:
    sample = fit.design.sample
    shares = np.bincount(sample.y, weights=sample.case_weights, minlength=sample.n_levels)
    commonest = int(shares.argmax())
    wrong, away = (fit.training_errors.value(f"{kind} error") for kind in ("classification", "absolute"))
    always = 1.0 - shares[commonest] / shares.sum()
    return (
        f"Of the {count(fit.nobs)} training rows {100 * wrong:.1f} % are given a wrong level, {away:.2f} levels off on "
        f"average; {fit.levels[commonest]} for all would be wrong for {100 * always:.1f} %. New rows fare worse as a "
        "rule: fit.errors(cv=10) tells how much."
    )
