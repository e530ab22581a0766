"""A term as a sentence of a paper, in the style of the American Psychological Association."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from ..._typing import FloatArray
from ...checks import fraction, one_of
from ...exceptions import OrdstatError
from ...model.parameter_labels import row_label
from ..likelihood.fitted import FittedLikelihood
from ..likelihood.profile import places
from ..likelihood.single_terms import dropped_terms
from ..likelihood.tables import SHORT, ratio_of, tidy_parameters, with_ratios
from ..report.cells import decimals_of, p_in_words


def term_sentence(r: FittedLikelihood, term: str | None = None, level: float = 0.95) -> str:
    """A term as papers report it: estimate, standard error, test, odds ratio where there is one, and limits.

    Parameters
    ----------
    term : str, optional
        A term of the formula, with its nominal and scale effects, or the name of a parameter; all effects unless given.
    level : float in (0, 1)
        Confidence level of the limits: of the ratio, or of the estimate where there is none.

    Returns
    -------
    str
        A line for every coefficient. The test is by t, with its degrees of freedom, where the fit uses t.

    Raises
    ------
    OptionError
        Another term, or a level outside (0, 1).

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
    >>> print(fit.sentence("temp"))
    temp: warm: b = 2.50, SE = 0.53, z = 4.73, p < .001, OR = 12.22, 95 % CI [4.34, 34.44]
    """
    fraction("level", level)
    return sentences(r, tidy_parameters(r, level=level), r.t_df, term, level)


def sentences(r: FittedLikelihood, tidy: pd.DataFrame, df: FloatArray, term: str | None, level: float) -> str:
    """Lines of the parameters of a term.

    Parameters
    ----------
    r : FittedLikelihood
        What the parameters are.
    tidy : pandas.DataFrame
        Their numbers, a row for each.
    df : (P,)
        Degrees of freedom of t; infinite for z.
    term : str, optional
    level : float
        Of the limits in `tidy`.
    """
    d = r.design
    one_of("term", term, dict.fromkeys((*r.parameters.names, *d.terms, *d.nominal_terms, *d.scale_terms, None)))
    chosen = r.parameters.of("nominal", "location", "scale") if term is None else _of_term(r, term)
    return "\n".join(_line(r, tidy.iloc[i], float(df[i]), level) for i in chosen)


def _of_term(r: FittedLikelihood, term: str) -> list[int]:
    """Places of the parameters of a term: its effects on thresholds, on the score and on the scale."""
    d, names = r.design, r.parameters.names
    own = [*places(r, term)] if term in d.terms or term in names else []
    for kind, terms, columns in (
        ("nominal", d.nominal_terms, d.nominal_names),
        ("scale", d.scale_terms, d.scale_names),
    ):
        ends = tuple(f".{column}" for column in columns[terms[term]]) if term in terms else ()
        own += [i for i in r.parameters.of(kind) if ends and names[i].endswith(ends)]
    return own


def _line(r: FittedLikelihood, found: pd.Series, df: float, level: float) -> str:
    """One parameter; without test and limits where it has no standard error."""
    b, error = float(found["estimate"]), float(found["std_error"])
    label = row_label(found["coef_type"], found["term"], {}) + ", log scale" * (found["coef_type"] == "scale")
    if math.isnan(b):
        return f"{label}: not estimated, as earlier columns determine it"
    if math.isnan(error):
        end = r.fit.limits[r.parameters.names.index(found["term"])]
        if math.isinf(end):
            return f"{label}: no finite estimate ({end:+g}), as the response is separated{_likelihood_ratio(r, found)}"
        if math.isnan(end):
            return f"{label}: not determined, as the response is separated"
        why = "" if r.fit.separation is None else ", as the response is separated"
        return f"{label}: no standard error{why}"
    test = "z" if math.isinf(df) else f"t({f'{df:.1f}'.removesuffix('.0')})"
    pieces = [f"b = {_number(b, error)}", f"SE = {_number(error, error)}", f"{test} = {found['statistic']:.2f}"]
    pieces.append(p_in_words(float(found["p_value"])))
    limits = [b, float(found["conf_low"]), float(found["conf_high"])]
    texts = [_number(number, error) for number in limits]
    if found["coef_type"] == "location" and with_ratios(r, None):
        name, sign = ratio_of(r)
        texts = _ratio_texts(sign * np.array(limits), error)
        pieces.append(f"{SHORT[name]} = {texts[0]}")
    return f"{label}: {', '.join(pieces)}, {100 * level:g} % CI [{texts[1]}, {texts[2]}]"


def _likelihood_ratio(r: FittedLikelihood, found: pd.Series) -> str:
    """The test of the term of a location effect by likelihoods, which have limits where estimates have none."""
    if found["coef_type"] != "location":
        return ""
    place = list(r.design.names).index(found["term"])
    term = next(name for name, own in r.design.terms.items() if own.start <= place < own.stop)
    try:
        test = dict(dropped_terms(r, term, test="LR").loc[term].items())
    except OrdstatError:  # no such test: robust errors, a term that others contain, ...
        return ""
    if math.isnan(test["p_value"]):
        return ""
    told = p_in_words(float(test["p_value"]))
    return f"; likelihood ratio test of {term}: chi2({test['df']:.0f}) = {test['lrt']:.2f}, {told}"


def _ratio_texts(logs: FloatArray, error: float) -> list[str]:
    """A ratio and its limits, of their logarithms and the standard error of these."""
    with np.errstate(over="ignore"):  # infinite, of a large coefficient
        ratio, *ends = np.exp(logs)
        spread = ratio * error
    return [_number(number, spread) for number in (ratio, *sorted(ends))]


def _number(value: float, error: float) -> str:
    return format(value, f"z{decimals_of([error], 2)}")
