"""Joint Wald tests, and comparison of nested fits."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.linalg import null_space
from scipy.special import fdtrc

from .._typing import BoolArray, FloatArray, IntArray
from ..checks import one_of
from ..exceptions import DataError, OptionError
from ..formula.sample import Sample
from ..likelihood.fitted import FittedLikelihood
from ..likelihood.flexible import FLEXIBLE
from ..likelihood.parameters import Covariance, refuse_survey
from ..likelihood.standard_errors import places
from ..likelihood.wald import chi2_tail, wald_test
from ..report.cells import MOST_TERMS, first_few, p_in_words
from ..report.frames import NotedFrame
from .boundary import blocks, boundary_test, check_same_rule, random_within

#: A smaller model may be this much better by rounding of the two log-likelihoods.
_ROUNDING_COMPARISON = 1e-8


def chi2_frame(names: Iterable[str], tests: Collection[tuple[float, int]]) -> pd.DataFrame:
    """Statistics and their degrees of freedom, as a frame with p-values."""
    chisq, df = (np.array([test[place] for test in tests], kind) for place, kind in ((0, float), (1, int)))
    return pd.DataFrame({"df": df, "chisq": chisq, "p_value": chi2_tail(chisq, df)}, index=list(names))


def without_rounding(statistic: FloatArray, df: FloatArray, loglik: FloatArray) -> FloatArray:
    """Likelihood-ratio statistics, 0 where they are negative, or of no degrees of freedom, by rounding alone."""
    tiny = np.abs(statistic) <= _ROUNDING_COMPARISON * (1.0 + np.abs(loglik))
    return np.asarray(np.where(tiny & ((statistic < 0.0) | (df <= 0.0)), 0.0, statistic))


def likelihood_ratio_tests(fits: Sequence[FittedLikelihood]) -> pd.DataFrame:
    """R's anova() of several fits, the smallest first; see `LikelihoodResults.anova`."""
    check_unpenalised(fits, "anova")
    ordered = sorted(fits, key=lambda fit: fit.edf)
    n_par = np.array([fit.edf for fit in ordered])
    loglik = np.array([fit.loglik for fit in ordered])
    df = np.append(np.nan, np.diff(n_par).astype(np.float64))
    statistic = without_rounding(np.append(np.nan, 2.0 * np.diff(loglik)), df, loglik)
    within = np.append(True, [nested_in(small, large) for small, large in pairwise(ordered)])
    nested = within & ~(statistic < 0.0)
    models = {"no_par": n_par, "aic": 2.0 * n_par - 2.0 * loglik, "loglik": loglik}
    tests = {"lr_stat": statistic, "df": df, "p_value": np.where(nested, chi2_tail(statistic, df), np.nan)}
    table = pd.DataFrame(models | tests, index=[described(fit) for fit in ordered])
    table = _at_boundaries(table, ordered)
    return NotedFrame.of(table, _notes(ordered, within, nested), "Likelihood ratio tests between nested models")


def _at_boundaries(table: pd.DataFrame, fits: Sequence[FittedLikelihood]) -> pd.DataFrame:
    """With p-values by the law at a boundary where random effects differ, beside those of chi-squared."""
    if all(fit.fit.marginal is None for fit in fits):
        return table
    chi2, laws = table["p_value"].to_numpy(), [""]
    p_values = chi2.copy()
    for place, (small, large) in enumerate(pairwise(fits), start=1):
        check_same_rule(small, large)
        p_value, law = boundary_test(small, large, float(table["lr_stat"].iloc[place])) or (chi2[place], "")
        laws.append(law)
        if not np.isnan(chi2[place]):
            p_values[place] = p_value
    return table.assign(p_value=p_values, p_chi2=chi2, law=laws)


def _notes(fits: Sequence[FittedLikelihood], within: BoolArray, nested: BoolArray) -> list[str]:
    robust = [described(fit) for fit in fits if fit.covariance != "model"]
    notes = [as_independent(", ".join(map(repr, robust)))] if robust else []
    notes += [
        f"{described(fit)!r} does not contain the smaller model before it: they are not nested, no p-value."
        if not contains
        else f"{described(fit)!r} has a lower likelihood than the smaller model before it, a local maximum: no p-value."
        for fit, contains, fine in zip(fits, within, nested, strict=True)
        if not fine
    ]
    separated = [described(fit) for fit in fits if fit.fit.separation is not None]
    if separated:
        notes.append(
            f"infinite estimates in {', '.join(map(repr, separated))}: the likelihood is its limit, and the "
            "chi-squared distribution of the statistic is in doubt."
        )
    return notes


def as_independent(what: str) -> str:
    """Note shown when likelihood-ratio tests are requested with robust standard errors."""
    return (
        f"Likelihood ratios and AIC take rows for independent and the model for true, and {what} has robust standard "
        "errors, which do not: use test='Wald' with these."
    )


def check_unpenalised(fits: Iterable[FittedLikelihood], name: str) -> None:
    """OptionError for penalised fits, whose log-likelihoods are not maxima, and for those of a survey design."""
    for fit in fits:
        refuse_survey(fit.design, name)
        check_maximum(fit, name)


def check_maximum(fit: FittedLikelihood, name: str) -> None:
    """OptionError where a penalty keeps a fit from the maximum of the likelihood."""
    if any(label == "penalty" for label, _ in fit.fit.facts):
        raise OptionError(
            f"{name} compares maxima of the likelihood, and {described(fit)!r} is penalised: differences of "
            "penalised likelihoods have no chi-squared distribution. Fit without the penalty, or use Wald tests "
            "(test(), anova() of one fit), profile limits, or errors(cv=10)."
        )


def nested_in(small: FittedLikelihood, large: FittedLikelihood) -> bool:
    """Whether every column of one model is a combination of columns of the other, of the same link or its family.

    So are its thresholds, where they have a structure.
    """
    a, b = small.design.sample.rows, large.design.sample.rows
    return (
        _link_within(small, large)
        and _thresholds_within(small, large)
        and random_within(small, large)
        and spanned(joined(a.nominal), joined(b.nominal))
        and spanned(joined(a.X, offset_difference(a.offset, b.offset)), joined(b.X, b.nominal))
        and spanned(joined(a.scale, offset_difference(a.scale_offset, b.scale_offset)), joined(b.scale))
    )


def _link_within(small: FittedLikelihood, large: FittedLikelihood) -> bool:
    if small.family.name != large.family.name:
        return False
    if large.fit.n_lambda:
        family = FLEXIBLE[large.family.link.name]
        return small.family.link.name in (family.name, *family.members)
    return bool(dict(small.fit.facts)["link"] == dict(large.fit.facts)["link"])


def _thresholds_within(small: FittedLikelihood, large: FittedLikelihood) -> bool:
    one, other = small.fit.jacobian, large.fit.jacobian
    if other is None:
        return True
    one = np.eye(len(other)) if one is None else one
    return bool(np.linalg.matrix_rank(np.hstack([one, other])) == np.linalg.matrix_rank(other))


def offset_difference(one: FloatArray | None, other: FloatArray | None) -> FloatArray | None:
    """(N, 1) of offsets; None where there are none."""
    if one is None and other is None:
        return None
    return np.reshape((0.0 if one is None else one) - (0.0 if other is None else other), (-1, 1))


def joined(*blocks: FloatArray | None) -> FloatArray | None:
    """Columns side by side; None where there are none."""
    given = [block for block in blocks if block is not None]
    return np.ascontiguousarray(np.hstack(given)) if given else None


def spanned(columns: FloatArray | None, others: FloatArray | None) -> bool:
    """Whether the columns are combinations of others and a constant."""
    if columns is None or (others is not None and columns is others):
        return True
    mean = columns.mean(axis=0)
    centred = columns - mean
    size = np.linalg.norm(centred, axis=0)
    if others is not None and others.shape[1]:
        basis = others - others.mean(axis=0)
        length = np.linalg.norm(basis, axis=0)
        basis = basis / np.where(length > 0.0, length, 1.0)
        centred = centred - basis @ np.linalg.lstsq(basis, centred, rcond=None)[0]
    left = np.linalg.norm(centred, axis=0)
    floor = 1e-12 * np.sqrt(len(columns)) * np.abs(columns).max(axis=0, initial=0.0)
    return bool(np.all(left <= 1e-7 * size + floor))


def described(fit: FittedLikelihood) -> str:
    """A fit in one line: its formulas, and the method where it is not the default."""
    recipe = fit.design.recipe
    parts = [fit.design.formula]
    if recipe is not None:
        parts += [f"{role} = {text}" for role, text in (("nominal", recipe.nominal), ("scale", recipe.scale)) if text]
    method = repr(fit.method)
    return ", ".join(parts if method.endswith("()") else [*parts, method])


def comparable(fits: Sequence[FittedLikelihood]) -> Sequence[FittedLikelihood]:
    """The fits, if they are of the same rows."""
    for other in fits[1:]:
        _check_same_rows(fits[0], other)
    return fits


def _check_same_rows(one: FittedLikelihood, other: FittedLikelihood) -> None:
    """DataError unless both were fitted to the same responses with the same weights."""
    if isinstance(other, (list, tuple)):
        raise OptionError("anova takes the other fits one by one, as in fit1.anova(fit2, fit3); got several in one.")
    if not hasattr(other, "loglik"):
        raise OptionError(f"anova compares likelihood fits; {other!r} has no likelihood.")
    a, b = one.design, other.design
    if a.sample.n != b.sample.n or not a.index.equals(b.index):
        raise DataError(
            f"anova needs models of the same rows: {a.sample.n} rows in {a.formula!r}, {b.sample.n} in {b.formula!r}"
            f"{' of another index' if a.sample.n == b.sample.n else ''}. Drop the rows with missing values first."
        )
    if a.levels.values != b.levels.values or not np.array_equal(a.sample.y, b.sample.y):
        raise DataError(f"anova needs models of the same response; {a.response!r} and {b.response!r} differ.")
    if not np.array_equal(a.sample.case_weights, b.sample.case_weights):
        raise DataError(f"anova needs models with the same weights; those of {b.formula!r} are others.")


class Joint(NamedTuple):
    """A test: a chi-squared statistic on df, or one of F on df and df_resid, where that is finite."""

    statistic: float
    df: int
    df_resid: float = np.inf

    @property
    def p_value(self) -> float:
        """P-value."""
        if np.isinf(self.df_resid):
            return float(chi2_tail(self.statistic, self.df))
        return float(fdtrc(self.df, self.df_resid, self.statistic))


def joint_test(r: FittedLikelihood, L: FloatArray, difference: FloatArray) -> Joint:
    """Wald test of L b = r; NaN under CR2 for several hypotheses, with too few clusters, or of infinite estimates.

    Parameters
    ----------
    L : (h, P')
        Of the estimated parameters.
    difference : (h,) L b - r
    """
    if len(L) > r.own_covariance.most_at_once:
        rank = int(np.linalg.matrix_rank(L)) if np.isfinite(L).all() else len(L)
        if rank > r.own_covariance.most_at_once:
            return Joint(float("nan"), rank)
    statistic, df = wald_test(L, difference, r._covariance(None))
    if not df:
        return Joint(statistic, df)
    if r.bias_reduced is None:
        eta = r.design_df
    else:  # one hypothesis, and others that follow from it
        row = L[[int(np.abs(L).sum(axis=1).argmax())]]
        eta = float(r.bias_reduced.t_df(r.fit.information.covariance(), row)[0])
    if np.isinf(eta):
        return Joint(statistic, df)
    left = eta - df + 1.0  # of the F statistic that is left of Hotelling's
    known = left > 0.0 and np.isfinite(statistic)
    return Joint(statistic * left / (eta * df), df, left) if known else Joint(float("nan"), df)


def joint_frame(names: Iterable[str], tests: Collection[Joint]) -> pd.DataFrame:
    """One row a test: df, chisq, p_value; or df, df_resid, F, p_value."""
    if all(np.isinf(test.df_resid) for test in tests):
        return chi2_frame(names, [test[:2] for test in tests])
    df_resid = [test.df_resid if np.isfinite(test.df_resid) else np.nan for test in tests]  # without a test
    columns = {"df": [t.df for t in tests], "df_resid": df_resid, "F": [t.statistic for t in tests]}
    return pd.DataFrame(columns | {"p_value": [test.p_value for test in tests]}, index=list(names))


def with_words(table: pd.DataFrame, title: str, chosen: Covariance) -> pd.DataFrame:
    """The table with its title, and notes on tests that have no value."""
    lacking = table["df"][table["p_value"].isna() & table["df"].notna()]
    notes = [f"no test of {name}: {chosen.why_no_more}." for name, df in lacking.items() if df > chosen.most_at_once]
    if others := [str(name) for name, df in lacking.items() if not df > chosen.most_at_once]:
        why = "estimates are infinite, aliased or missing, or aliased columns take over the effects"
        notes.append(f"no test of {first_few(others, MOST_TERMS)}: {why}.")
    return NotedFrame.of(table, notes, f"{title}, {chosen.words}")


def zero(r: FittedLikelihood, places: Any) -> Joint:
    """Test of: these parameters are 0; those that are aliased left out."""
    estimated = np.flatnonzero(~r.fit.aliased)
    L = np.eye(estimated.size)[np.isin(estimated, places)]
    return joint_test(r, L, L @ r.fit.coefficients[estimated])


def by_estimated(r: FittedLikelihood, jacobian: FloatArray) -> FloatArray:
    """(..., P') derivatives by the estimated parameters, from those by all of the rule (..., F)."""
    moved = places(r.fit, r.rule)
    return np.asarray(jacobian[..., : len(moved)] @ moved)


def degrees_of_freedom(r: FittedLikelihood, jacobian: FloatArray) -> FloatArray:
    """(...) those of numbers with derivatives (..., F): Satterthwaite's under CR2, of a survey design its own.

    Infinite where tests are by the normal distribution, and of numbers that depend on no parameter.
    """
    if r.bias_reduced is None:
        return np.full(jacobian.shape[:-1], r.design_df)
    rows = by_estimated(r, jacobian).reshape(-1, int(np.count_nonzero(~r.fit.aliased)))
    found = r.bias_reduced.t_df(r.fit.information.covariance(), rows)
    return np.asarray(found.reshape(jacobian.shape[:-1]))


#: What `test=` may be: "auto" is "Wald" beside robust errors, else "LR"; "Chisq" is R's name of "LR".
TESTS = ("auto", "LR", "Chisq", "Wald")
_INSTEAD = "Write the hypothesis for .test(), or use test='LR'."
#: Parts of columns of size 1 below this are rounding.
_ROUNDING, _TINY = 1e-7, 1e-300


def is_wald(test: str, fits: Iterable[FittedLikelihood], also: tuple[str, ...] = ()) -> bool:
    """Whether these fits are compared by Wald tests: asked for, or one of them has robust standard errors."""
    one_of("test", test, (*TESTS, *also))
    return test == "Wald" or (test == "auto" and any(fit.covariance != "model" for fit in fits))


def effects_test(r: FittedLikelihood) -> Joint:
    """Against thresholds only: all nominal, location and scale effects are 0."""
    effects = r.parameters.of("nominal", "location", "scale")
    return zero(r, effects)


def dropped_by_wald(r: FittedLikelihood, terms: Sequence[str]) -> pd.DataFrame:
    """Each term's effects are 0; terms that others contain are refused, as the others would take over their effect."""
    free = r.design.spec.marginality().droppable()
    for term in terms:
        if term not in free:
            raise OptionError(
                f"drop1 by a Wald test takes terms that no other contains; {term!r} is part of an interaction. Use "
                "anova(type='III'), or test='LR'."
            )
    tests = {}
    for term in terms:
        L = _dropped_hypothesis(r, r.design.terms[term])
        tests[term] = joint_test(r, L, L @ r.fit.coefficients[~r.fit.aliased])
    return with_words(joint_frame(tests, tests.values()), "Wald tests of dropping single terms", r.own_covariance)


def _dropped_hypothesis(r: FittedLikelihood, columns: slice) -> FloatArray:
    """(h, P') location effects that are 0 without a term, but for what aliased columns of others take over then."""
    places, estimated = r.parameters.of("location"), np.flatnonzero(~r.fit.aliased)
    L = np.eye(estimated.size)[np.isin(estimated, places[columns])]
    own, aliased = np.isin(np.arange(places.size), np.arange(places.size)[columns]), r.fit.aliased[places]
    if (aliased & ~own).any():
        L = _not_taken_over(r.design.sample, own & ~aliased, ~own & ~aliased, ~own & aliased) @ L
    return L


def _not_taken_over(sample: Sample, own: BoolArray, others: BoolArray, aliased: BoolArray) -> FloatArray:
    """(k, h) combinations of the effects of a term's own columns that are 0 wherever aliased columns are in its place.

    Aliased columns are sums of thresholds, nominal effects, other columns and own ones, each of these scaled to 1.
    """
    rows, used = sample.rows, sample.case_weights > 0.0
    columns = joined(np.ones((rows.n, 1)), rows.nominal, rows.X[:, others], rows.X[:, own])
    assert columns is not None
    (left, size), (right, _) = (_scaled(part[used]) for part in (columns, rows.X[:, aliased]))
    first = left.shape[1] - np.count_nonzero(own)
    carried = np.linalg.lstsq(left, right, rcond=None)[0].T[:, first:]
    carried = np.where(np.abs(carried) > _ROUNDING, carried, 0.0)
    return np.asarray(null_space(carried, rcond=_ROUNDING).T * size[first:])


def _scaled(columns: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Columns divided by their largest value, and these."""
    size = np.maximum(np.abs(columns).max(axis=0), _TINY)
    return columns / size, size


def added_by_wald(r: FittedLikelihood, wider: dict[str, FittedLikelihood]) -> pd.DataFrame:
    """The parameters that each wider fit has more are 0 in it."""
    tests = {term: zero(fit, further(r, fit)) for term, fit in wider.items()}
    return with_words(joint_frame(tests, tests.values()), "Wald tests of adding single terms", r.own_covariance)


def wald_comparison(fits: Sequence[FittedLikelihood]) -> pd.DataFrame:
    """Each fit against the next larger one: in the larger, what the smaller lacks is 0."""
    ordered = sorted(fits, key=lambda fit: fit.edf)
    tests = [_against(small, large) for small, large in pairwise(ordered)]
    names = [str(place) for place in range(len(ordered))]
    table = joint_frame(names[1:], tests).reindex(names)
    table.index = pd.Index([described(fit) for fit in ordered])  # which may be equal
    table.insert(0, "no_par", [fit.edf for fit in ordered])
    return with_words(table, "Wald tests between nested models", ordered[-1].own_covariance)


def _against(small: FittedLikelihood, large: FittedLikelihood) -> Joint:
    if large.covariance == "model" and small.covariance != "model":
        raise OptionError(
            f"anova tests by the covariance of the larger fit, and {described(large)!r} has that of the model beside "
            f"{small.own_covariance.words} of the smaller: give both the same, by vcov= or .with_vcov()."
        )
    if not nested_in(small, large):
        raise OptionError(
            f"anova by a Wald test takes nested models; {described(large)!r} does not contain {described(small)!r}."
        )
    if set(blocks(small)) != set(blocks(large)):
        raise OptionError(
            f"anova by a Wald test takes models of the same random effects; those of {described(small)!r} and "
            f"{described(large)!r} differ. Use test='LR', which knows of variances at their boundary."
        )
    return zero(large, further(small, large))


def further(small: FittedLikelihood, large: FittedLikelihood, instead: str = _INSTEAD) -> IntArray:
    """Places of the parameters of the larger fit that the smaller lacks.

    Raises
    ------
    OptionError
        The smaller one is the larger at other values than 0 of them, or has another penalty.
    """
    one, other = ([what for label, what in fit.fit.facts if label == "penalty"] for fit in (small, large))
    if one != other:
        raise OptionError(
            f"anova takes fits of one penalty, which estimates are drawn together by; {described(small)!r} and "
            f"{described(large)!r} have others. Fit both with the same penalty=, or without."
        )
    fewer, more = estimated_places(small), estimated_places(large)
    a, b = small.design.sample.rows, large.design.sample.rows
    location, scale = offset_difference(a.offset, b.offset), offset_difference(a.scale_offset, b.scale_offset)
    why = None
    if odd := [name for name in fewer if name not in more]:
        why = f"the smaller one has {odd[0]!r}, which the larger lacks"
    elif "lambda" in more and "lambda" not in fewer:
        why = "the link of the smaller one is that of the larger at a lambda that is not 0"
    elif not (spanned(location, joined(a.X, a.nominal)) and spanned(scale, a.scale)):
        why = "their offsets differ by more than effects of the smaller one take up"
    if why is not None:
        raise OptionError(
            f"a Wald test is of parameters that are 0 in the smaller model, and {described(small)!r} is not "
            f"{described(large)!r} with some at 0 (terms may be coded otherwise): {why}. {instead}"
        )
    return np.array([place for name, place in more.items() if name not in fewer], dtype=np.intp)


def estimated_places(fit: FittedLikelihood) -> dict[str, int]:
    """Positions of the estimated parameters, by name."""
    places = np.flatnonzero(~fit.fit.aliased)
    return {fit.parameters.names[place]: int(place) for place in places}


def check_likelihood(r: FittedLikelihood, name: str, instead: str) -> None:
    """OptionError where a question to the likelihood of independent rows is asked beside robust errors."""
    if r.covariance != "model":
        raise OptionError(
            f"{name} takes the rows for independent, and this fit has other standard errors "
            f"({r.own_covariance.words}): {instead}, or ask .with_vcov('model').{name}()."
        )


def test_figures(r: FittedLikelihood) -> dict[str, Any]:
    """The test of all effects for `glance`: likelihood ratio, or Wald beside robust errors and in surveys."""
    if r.covariance == "model":
        return {name: getattr(r, name) for name in ("lr_chi2", "lr_df", "lr_p_value")}
    test = effects_test(r)
    if r.covariance not in ("CR2", "survey"):
        return {"wald_chi2": test.statistic, "wald_df": test.df, "wald_p_value": test.p_value}
    names = ("wald_F", "wald_df", "wald_df_resid", "wald_p_value")
    return dict(zip(names, (*test, test.p_value), strict=True))


def test_of_effects(r: FittedLikelihood) -> tuple[str, str]:
    """Name and words of the test of all effects, for the summary."""
    name = "LR test" if r.covariance == "model" else "Wald F test" if r.covariance in ("CR2", "survey") else "Wald test"
    if r.edf == r.fit.null_edf:
        return name, "none: thresholds only"
    if name == "LR test" and r.method.penalty is not None:
        return name, "none: a penalised fit is no maximum of the likelihood"
    test = Joint(r.lr_chi2, r.lr_df) if name == "LR test" else effects_test(r)
    return name, _words(test, r.own_covariance)


def _words(test: Joint, chosen: Covariance) -> str:
    if np.isnan(test.statistic):
        if test.df > chosen.most_at_once:
            return f"none: {chosen.why_no_more}"
        if test.df and chosen.survey is not None:
            return "none: more effects than degrees of freedom of the design"
        return "none: infinite estimates" if test.df == 0 else "none"
    p = p_in_words(test.p_value)
    if np.isinf(test.df_resid):
        return f"{test.statistic:.4g} on {test.df} df, {p}"
    return f"F {test.statistic:.4g} on {test.df} and {round(test.df_resid, 1):g} df, {p}"
