"""Ordinal models of different families, compared by AIC, cross-validation and Vuong's
test.
"""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from ._typing import FloatArray
from .api import ordfit
from .checks import check_names, whole
from .comparison import compare
from .exceptions import DataError, FormulaError, OptionError
from .inference.comparison import WITHOUT_MAXIMUM, unfinished
from .inference.nesting import nested_in
from .judging.compared import Comparison
from .likelihood.results import LikelihoodResults
from .report.frames import NotedFrame

#: What is compared where no methods are given: cumulative models with each link,
#: adjacent categories, stages in both directions, and no order at all.
FAMILIES: tuple[Any, ...] = (
    "logit",
    "probit",
    "cloglog",
    "loglog",
    "cauchit",
    "acat",
    "cratio",
    ("cratio", {"direction": "backward"}),
    "stereotype",
    "multinomial",
)
#: Arguments of `ordfit` that keep rows independent.
_OF_DATA = (
    "nominal",
    "scale",
    "weights",
    "offset",
    "levels",
    "subset",
    "contrasts",
    "na_action",
)
#: Log-probabilities of rows of two models that differ by less are the same.
_SAME = 1e-7
_READING = (
    "Smaller is better in every column but p: take the family with the smallest AIC"
    " unless its log-loss is clearly larger; a p (Vuong's test against that family) of"
    " .05 or more means that the data do not distinguish the two."
)

_LIMITS = "infinite estimates in {}: AIC and BIC are by the limit of the likelihood."


def choose_family(
    formula: str,
    data: Any,
    methods: Sequence[Any] = FAMILIES,
    *,
    cv: int = 5,
    seed: int = 0,
    **options: Any,
) -> pd.DataFrame:
    """Compare ordinal models of different families by AIC, cross-validation and Vuong's
    test.

    Parameters
    ----------
    formula : str
    data : data frame
    methods : sequence of str or (str, dict)
        Methods of maximum likelihood, as `compare` takes them. By default cumulative
        models with the five named links, adjacent categories, continuation ratios
        forward and backward, the stereotype model, which estimates the order, and the
        multinomial logit, which ignores it. Those that refuse a part of the model, such
        as `s(x)` or `scale`, are left out and named in a note.
    cv : int
        Folds of the cross-validation, at least 2; the same for all families.
    seed : int
        Seed of the folds.
    **options
        Arguments of `ordfit` that describe the data: `nominal`, `scale`, `weights`,
        `offset`, `levels`, `subset`, `contrasts`, `na_action`.

    Returns
    -------
    DataFrame
        A row for each family, the smallest AIC first. Columns params (number of
        parameters), AIC, BIC, log-loss and RPS (ranked probability score), both
        cross-validated means over the folds, z and p. The last two are Vuong's test
        against the family with the smallest AIC, corrected for the difference in
        parameters; `z` is positive if that family fits better. `z` is NaN for nested
        models, which `anova()` compares, and for models that give the rows the same
        probabilities. AIC, BIC, z and p are NaN where the search ended without a
        maximum, and a note names these families.

    Raises
    ------
    DataError
        The data cannot be fitted, or no likelihood has a maximum.
    FormulaError
        No default family, or one of `methods`, takes the formula.
    OptionError
        `cv` below 2, an unknown argument, fewer than two methods, one without a
        likelihood, or random effects: Vuong's test needs independent observations.

    Notes
    -----
    Let m be the difference of the log-probabilities of a row under the two models, and
    d the difference in the number of parameters. If both models are equally far from
    the truth, (sum m - d) / (sqrt(n) sd(m)) is standard normal [Vuong 1989]. In
    simulations under this hypothesis a test at .05 rejected in 5% of samples of 1,500
    observations, and in 8% of samples of 300. For nearly identical families it hardly
    ever rejects. A weight of w counts as w rows. The family with the smallest AIC was
    chosen by the same data, so p is a little smaller than for a family fixed in
    advance.

    References
    ----------
    Vuong, Q. H. (1989). Likelihood ratio tests for model selection and non-nested
    hypotheses. Econometrica, 57, 307-333.

    Examples
    --------
    >>> from ordstat import choose_family, datasets
    >>> wine = datasets.load("wine")
    >>> found = choose_family("rating ~ temp + contact", wine, ["logit", "acat"])
    >>> found.index.tolist(), found["params"].tolist()
    (['acat', 'logit'], [6, 6])
    """
    given = [name for name in signature(choose_family).parameters if name != "options"]
    check_names(options, [*given, *_OF_DATA], "choose_family", "argument")
    whole("cv", cv, 2)
    notes: list[str] = []
    if methods is FAMILIES:
        fits, methods, notes = _those_that_fit(formula, data, options)
    else:
        fits = [_fitted(formula, data, given, options) for given in methods]
    if len(fits) < 2:
        raise OptionError(
            f"methods must be at least two; got {methods!r}. Add one to compare with."
        )
    judged = compare(formula, data, list(methods), cv=cv, seed=seed, **options)
    early = np.array([unfinished(fit.fit) for fit in fits])
    if early.all():
        names = ", ".join(judged.labels)
        raise DataError(
            f"{WITHOUT_MAXIMUM.format(names)} Do what the warnings of the fits advise."
        )
    aic = np.where(early, np.nan, [fit.aic for fit in fits])
    best = fits[int(np.nanargmin(aic))]
    nothing = float("nan"), float("nan")
    tests = [
        nothing if left_out else vuong(best, fit)
        for fit, left_out in zip(fits, early, strict=True)
    ]
    table = pd.DataFrame(
        {
            "params": [fit.edf for fit in fits],
            "AIC": aic,
            "BIC": np.where(early, np.nan, [fit.bic for fit in fits]),
            "log-loss": _means(judged, "log-loss"),
            "RPS": _means(judged, "ranked probability score"),
            "z": [z for z, _ in tests],
            "p": [p for _, p in tests],
        },
        index=pd.Index(judged.labels, name="family"),
    ).sort_values("AIC", kind="stable")
    formats = {"AIC": ".2f", "BIC": ".2f", "log-loss": ".4f", "RPS": ".4f", "z": ".2f"}
    return NotedFrame.of(
        table,
        [_READING, *_notes(fits, judged.labels), *notes],
        f"Families of {formula}; log-loss and RPS by {cv}-fold cross-validation",
        formats | {"p": "p"},
    )


def _means(judged: Comparison, measure: str) -> FloatArray:
    """(M,) means of a measure over the folds; infinite where it is so in every fold of
    every method, and has no column.
    """
    table = judged.table.reindex(judged.labels)
    if measure not in table:
        return np.full(len(table), np.inf)
    return table[measure].to_numpy()


def _notes(fits: Sequence[LikelihoodResults], labels: Sequence[str]) -> list[str]:
    """Which figures are missing or limits, as a likelihood has no maximum."""
    named = list(zip(labels, fits, strict=True))
    lost = [label for label, fit in named if unfinished(fit.fit)]
    limits = [
        label
        for label, fit in named
        if fit.fit.determined is not None and label not in lost
    ]
    notes = [WITHOUT_MAXIMUM.format(", ".join(lost))] if lost else []
    return [*notes, _LIMITS.format(", ".join(limits))] if limits else notes


def _those_that_fit(
    formula: str, data: Any, options: dict[str, Any]
) -> tuple[list[LikelihoodResults], list[Any], list[str]]:
    """Fits of the default families that take the model, their methods, and notes on
    those that refuse it.

    Raises
    ------
    FormulaError, OptionError
        The first family refuses the model too.
    """
    fits = []
    methods = []
    notes = []
    for given in FAMILIES:
        try:
            fits.append(_fitted(formula, data, given, options))
        except (FormulaError, OptionError) as refusal:
            if not fits:
                raise
            notes.append(f"{given!r} is left out: {refusal}")
        else:
            methods.append(given)
    return fits, methods, notes


def _fitted(
    formula: str, data: Any, given: Any, options: dict[str, Any]
) -> LikelihoodResults:
    """The fit of one method, of independent rows."""
    name, own = given if isinstance(given, tuple) else (given, {})
    fit = ordfit(formula, data, name, **options, **own)
    if not isinstance(fit, LikelihoodResults):
        raise OptionError(
            f"methods must be fits by maximum likelihood; {name!r} is not. Use"
            " compare()."
        )
    if fit.fit.marginal is not None or fit.design.sample.highest is not None:
        raise OptionError(
            "formula must have no random effects, and exact answers: Vuong's test needs"
            " independent rows with one level each. Use compare()."
        )
    return fit


def vuong(first: LikelihoodResults, second: LikelihoodResults) -> tuple[float, float]:
    """z and two-sided p of Vuong's test; NaN for nested models and for equal
    probabilities.

    z is positive where the first model fits better.
    """
    nothing = float("nan"), float("nan")
    if nested_in(first, second) or nested_in(second, first):
        return nothing
    weights = first.design.sample.case_weights
    difference = _log_probabilities(first) - _log_probabilities(second)
    n = float(weights.sum())
    mean = float(weights @ difference) / n
    spread = float(np.sqrt(weights @ (difference - mean) ** 2 / n))
    if spread < _SAME:
        return nothing
    z = (n * mean - (first.edf - second.edf)) / (np.sqrt(n) * spread)
    return float(z), float(2.0 * norm.sf(abs(z)))


def _log_probabilities(fit: LikelihoodResults) -> FloatArray:
    """(N,) log-probability of the level of each row."""
    sample = fit.design.sample
    log_p = fit.family.log_probabilities(fit.rule.eta(sample.rows))
    return log_p[np.arange(sample.n), sample.y]
