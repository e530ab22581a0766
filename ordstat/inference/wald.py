"""Wald tests of one fit: joint tests, linear hypotheses, and tests of terms by types I
to III.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import chdtrc, fdtrc

from .._typing import BoolArray, FloatArray, IntArray
from ..checks import did_you_mean, listed_texts, one_of
from ..exceptions import OptionError
from ..formula.names import in_own_names
from ..likelihood.alerts import infinite_and_diverging
from ..likelihood.covariance_choice import Covariance
from ..likelihood.standard_errors import rule_by_estimates, slopes_by_estimates
from ..likelihood.unavailable import check_available
from ..likelihood.user_scale import unit_rows
from ..report.cells import MOST_TERMS, first_few
from ..report.frames import NotedFrame
from .terms import Marginality, marginality_of, recoded_hypotheses

if TYPE_CHECKING:
    from ..formula.design import Design
    from ..likelihood.results import LikelihoodResults

#: Row label of the joint test.
JOINT = "joint"
#: Other names of the types.
_ALIASES = {"1": "I", "2": "II", "3": "III", "balanced": "III"}
#: The contrasts whose coefficients a type tests.
_CODED = {"III": "sum", "baseline": "treatment"}
#: Eigenvalues of a covariance below this share of the largest count as 0: the
#: hypotheses are linearly dependent.
_RANK = 1e-10
#: Estimates in units of a spread that diverged are this close to their limits, relative
#: to their errors: what differs by less, and has no variance, is equal in the limit.
_LIMIT = 1e-4
#: Pivots of a sum-of-squares matrix below this share of their diagonal count as 0: the
#: column adds nothing.
_PIVOT = 1e-10


def chi2_tail(statistic: Any, df: Any) -> FloatArray:
    """P(chi2 with df degrees of freedom > statistic); NaN where df is 0 or anything is
    missing.
    """
    statistic = np.asarray(statistic, dtype=np.float64)
    df = np.asarray(df, dtype=np.float64)
    defined = (df > 0.0) & ~np.isnan(statistic)
    tail = chdtrc(
        np.where(defined, df, 1.0), np.maximum(np.where(defined, statistic, 0.0), 0.0)
    )
    return np.where(defined, tail, np.nan)


def wald_test(difference: FloatArray, variance: FloatArray) -> tuple[float, int]:
    """Chi-squared statistic and degrees of freedom of L b = r.

    Parameters
    ----------
    difference : (h,) L b - r at the estimates
    variance : (h, h) covariance of L b

    Returns
    -------
    (statistic, df)
        NaN and 0 if there is no test. df is the rank of the covariance of L b; the
        statistic is infinite if linearly dependent hypotheses contradict each other.

    Examples
    --------
    >>> wald_test(np.array([1.0, 2.0]), np.diag([1.0, 4.0]))
    (2.0, 2)
    """
    finite = (
        bool(difference.size)
        and np.isfinite(variance).all()
        and np.isfinite(difference).all()
    )
    if not finite or np.any(np.diag(variance) < 0.0):
        return float("nan"), 0
    size, values, vectors, kept = _principal(variance)
    # indefinite: not a covariance
    if not kept.any() or values[0] < -_RANK * values[-1]:
        return float("nan"), 0
    parts = vectors.T @ (difference / size)
    if np.any(np.abs(parts[~kept]) > 1e-6 * (1.0 + np.abs(parts).max())):
        return float("inf"), int(kept.sum())
    return float(np.sum(parts[kept] ** 2 / values[kept])), int(kept.sum())


def _principal(
    variance: FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray, BoolArray]:
    """The standard errors (h,) of hypotheses, eigenvalues and eigenvectors of their
    correlations, and which eigenvalues are positive.
    """
    size = np.sqrt(np.diag(variance))
    size = np.where(size > 0.0, size, 1.0)
    values, vectors = np.linalg.eigh(variance / np.outer(size, size))
    kept = values > _RANK * max(float(values[-1]), 0.0)
    return size, values, vectors, kept


class Joint(NamedTuple):
    """A test: an F statistic on df and df_resid, or a chi-squared statistic on df if
    df_resid is infinite.

    `left_out` hypotheses are not tested, as they are about infinite estimates.
    """

    statistic: float
    df: int
    df_resid: float = np.inf
    left_out: int = 0

    @property
    def p_value(self) -> float:
        """P-value."""
        if np.isinf(self.df_resid):
            return float(chi2_tail(self.statistic, self.df))
        return float(fdtrc(self.df, self.df_resid, self.statistic))


def joint_test(r: LikelihoodResults, L: FloatArray, difference: FloatArray) -> Joint:
    """Wald test of L b = r; NaN for several hypotheses under CR2, and for too few
    clusters.

    If estimates are infinite, only the finite combinations of the hypotheses are
    tested.

    Parameters
    ----------
    L : (h, P')
        One column per estimated parameter.
    difference : (h,) L b - r
        At `coefficients`.
    """
    if leaves_no_effect(r, L, difference):
        return Joint(float("nan"), int(np.linalg.matrix_rank(L)))
    if r.fit.determined is None or not np.isfinite(L).all():
        return _joint_test(r, L, difference)
    combinations = r.fit.determined.combinations(L)
    if r.fit.determined.divergence.size and len(combinations):
        apart = _unequal(r, combinations @ L, combinations @ difference)
        combinations = apart @ combinations
    tested = _joint_test(r, combinations @ L, combinations @ difference)
    return tested._replace(left_out=len(L) - len(combinations))


def leaves_no_effect(
    r: LikelihoodResults, L: FloatArray, difference: FloatArray
) -> bool:
    """Whether L b = r says that all effects of a stereotype model are 0: the scores of
    the levels are then undefined, and the statistic has no chi-squared distribution.
    """
    if not r.parameters.of("phi").size or not np.isfinite(L).all():
        return False
    estimated = ~r.fit.aliased
    effects = np.isin(np.flatnonzero(estimated), r.parameters.of("location"))
    rank = np.linalg.matrix_rank(L[:, effects])
    from_zero = np.allclose(L @ r.fit.coefficients[estimated], difference)
    return bool(effects.any() and rank == effects.sum() and from_zero)


def _unequal(r: LikelihoodResults, L: FloatArray, difference: FloatArray) -> FloatArray:
    """(t, h) the combinations of hypotheses that are not equal in the limiting model.

    In units of a spread that grows without end, what narrower rows determine meets in
    one point: its differences have no value and no variance in these units.
    Where all effects shrink along their own direction, what is left beside it is 0
    whatever the data: it is no hypothesis.
    """
    everything = np.eye(len(L))
    variance = r.covariance_of_estimates.quadratic(L)
    if not np.isfinite(variance).all() or np.any(np.diag(variance) < 0.0):
        return everything
    size, _, vectors, kept = _principal(variance)
    parts = np.abs(vectors.T @ (difference / size))
    different = parts > _LIMIT * (1.0 + parts.max())
    independent = int(np.linalg.matrix_rank(L))
    complete = kept.sum() == independent and different[kept].all()
    if complete or np.any(different & ~kept):
        return everything
    return vectors[:, kept & different].T / size


def _joint_test(r: LikelihoodResults, L: FloatArray, difference: FloatArray) -> Joint:
    if len(L) > r.own_covariance.most_hypotheses:
        rank = int(np.linalg.matrix_rank(L)) if np.isfinite(L).all() else len(L)
        if rank > r.own_covariance.most_hypotheses:
            return Joint(float("nan"), rank)
    variance = r.covariance_of_estimates.quadratic(L)
    statistic, df = wald_test(difference, variance)
    if not df:
        return Joint(statistic, df)
    if r.bias_reduced is None:
        eta = r.own_covariance.df
    else:  # one hypothesis, and others that it implies
        row = L[[int(np.abs(L).sum(axis=1).argmax())]]
        eta = float(r.bias_reduced.t_df(r.fit.model_covariance.dense(), row)[0])
    return as_joint(statistic, df, eta)


def as_joint(statistic: float, df: int, eta: float) -> Joint:
    """The test of a Wald statistic whose covariance has `eta` degrees of freedom."""
    if not df or np.isinf(eta):
        return Joint(statistic, df)
    # denominator degrees of freedom of Hotelling's statistic as an F statistic
    remaining = eta - df + 1.0
    if remaining > 0.0 and np.isfinite(statistic):
        return Joint(statistic * remaining / (eta * df), df, remaining)
    return Joint(float("nan"), df)


def chi2_frame(
    names: Iterable[str], tests: Collection[tuple[float, int]]
) -> pd.DataFrame:
    """Statistics and their degrees of freedom, as a frame with p-values."""
    frame = pd.DataFrame(
        list(tests), index=list(names), columns=["chisq", "df"]
    ).astype({"chisq": float, "df": int})
    return frame[["df", "chisq"]].assign(p_value=chi2_tail(frame["chisq"], frame["df"]))


def joint_frame(names: Iterable[str], tests: Collection[Joint]) -> pd.DataFrame:
    """One row per test: df, chisq, p_value; or df, df_resid, F, p_value."""
    if all(np.isinf(test.df_resid) for test in tests):
        return chi2_frame(names, [test[:2] for test in tests])
    rows = [
        (
            test.df,
            test.df_resid if np.isfinite(test.df_resid) else np.nan,
            test.statistic,
            test.p_value,
        )
        for test in tests
    ]
    return pd.DataFrame(
        rows, index=list(names), columns=["df", "df_resid", "F", "p_value"]
    )


def zero_test(r: LikelihoodResults, positions: Any) -> Joint:
    """Test that these parameters are 0, ignoring aliased ones."""
    estimated = np.flatnonzero(~r.fit.aliased)
    L = unit_rows(np.flatnonzero(np.isin(estimated, positions)), estimated.size)
    return joint_test(r, L, L @ r.fit.coefficients[estimated])


def by_estimated(r: LikelihoodResults, jacobian: FloatArray) -> FloatArray:
    """(..., P') derivatives with respect to the estimated parameters, from derivatives
    (..., F) with respect to all parameters of the rule.
    """
    return slopes_by_estimates(jacobian, rule_by_estimates(r.fit, r.rule))


def degrees_of_freedom(r: LikelihoodResults, jacobian: FloatArray) -> FloatArray:
    """(...) degrees of freedom of values with derivatives (..., F): Satterthwaite's
    under CR2, else the design's.

    Infinite if tests use the normal distribution, and for values that depend on no
    parameter.
    """
    if r.bias_reduced is None:
        return np.full(jacobian.shape[:-1], r.own_covariance.df)
    rows = by_estimated(r, jacobian).reshape(-1, int(np.count_nonzero(~r.fit.aliased)))
    df = r.bias_reduced.t_df(r.fit.model_covariance.dense(), rows)
    return df.reshape(jacobian.shape[:-1])


# Terms of one fit


_IN_PART = (
    "{}: tested is the part that the columns before it do not determine; the rest is"
    " aliased."
)


def term_hypotheses(r: LikelihoodResults, type: str) -> tuple[str, list[FloatArray]]:
    """The name of a type, and its hypotheses L b = 0: for each location term L (h, P'),
    over the estimated parameters.
    """
    kind = _ALIASES.get(str(type), str(type))
    one_of("type", kind, ("I", "II", *_CODED))
    positions = r.parameters.of("location")
    estimated = ~r.fit.aliased[positions]
    by_all = np.zeros((len(estimated), r.fit.aliased.size))
    by_all[:, positions] = np.eye(len(estimated))
    to_parameters = by_all[:, ~r.fit.aliased]
    contrasts = _recoded_contrasts if kind in _CODED else _sequential_contrasts
    return kind, [
        L @ to_parameters
        for L in contrasts(r, kind, marginality_of(r.design.spec), estimated)
    ]


def wald_anova(r: LikelihoodResults, type: str) -> pd.DataFrame:
    """Wald tests of the location terms of one fit; see `LikelihoodResults.anova`."""
    check_available(r, "anova()")
    kind, rows = term_hypotheses(r, type)
    estimated = ~r.fit.aliased[r.parameters.of("location")]
    beta = r.fit.coefficients[~r.fit.aliased]
    tests = [joint_test(r, L, L @ beta) for L in rows]
    table = joint_frame(r.design.terms, tests)
    notes = [*_untested(table, r.own_covariance), *partly_tested(r.design.terms, tests)]
    title = f"Wald tests of type {kind}, {r.own_covariance.words}"
    in_part = [
        str(term)
        for term, columns in r.design.terms.items()
        if not estimated[columns].all() and table["p_value"].notna()[term]
    ]
    if in_part:
        notes.append(_IN_PART.format(first_few(in_part, MOST_TERMS)))
    notes += without_location(r.design)
    return NotedFrame.of(table, notes, title, labels=r.names_shown())


def without_location(design: Design) -> list[str]:
    """A note for models in which all effects differ between thresholds or levels, so
    that a table of location terms is empty.
    """
    if design.terms or not design.nominal_terms:
        return []
    term = next(iter(design.nominal_terms))
    return [
        "No location effects: all effects differ between thresholds or levels."
        f" test({term!r}) tests those of a term together."
    ]


def partly_tested(names: Iterable[str], tests: Iterable[Joint]) -> list[str]:
    """A note on each test that leaves out hypotheses about infinite estimates."""
    return [
        f"{name}: {test.df} of {test.df + test.left_out} hypotheses are tested;"
        " infinite estimates leave the others without a test."
        for name, test in zip(names, tests, strict=True)
        if test.left_out and test.df
    ]


def without_joint_test(covariance: Covariance) -> str:
    """The reason for a missing joint test, and what to do under CR2."""
    why = covariance.why_no_joint_test
    if covariance.name != "CR2":
        return why
    return (
        f"{why}. Use type 'CR1' in vcov for a joint test, which rejects too often with"
        " few clusters"
    )


def _untested(table: pd.DataFrame, covariance: Covariance) -> list[str]:
    """Reasons for missing tests in a table."""
    lacking = table["df"][table["p_value"].isna()]
    most = covariance.most_hypotheses
    notes = [
        f"no test of {name}: {without_joint_test(covariance)}."
        for name, df in lacking.items()
        if df > most
    ]
    if others := [str(name) for name, df in lacking.items() if df <= most]:
        notes.append(without_test(others))
    return notes


def without_test(names: Sequence[str]) -> str:
    """A note on terms whose estimates do not allow a test."""
    return (
        f"no test of {first_few(names, MOST_TERMS)}: estimates are infinite, aliased or"
        " missing."
    )


def _sequential_contrasts(
    r: LikelihoodResults, kind: str, marginality: Marginality, estimated: BoolArray
) -> list[FloatArray]:
    """Types I and II: terms in the order of the formula, or with containing terms moved
    after each term.
    """
    design = r.design
    sample = r.design.sample
    centred = sample.X - np.average(sample.X, axis=0, weights=sample.case_weights)
    gram = (centred * sample.case_weights[:, None]).T @ centred
    contrasts = []
    for term, columns in design.terms.items():
        positions = np.arange(columns.start, columns.stop)
        if kind == "I":
            order = np.arange(estimated.size)
        else:
            order = _containing_last(term, marginality, design)
        own = positions[estimated[positions]]
        rows = sequential_contrasts(gram, own, order[estimated[order]])
        if own.size:
            # each coefficient of the term once, so that fits to other data have the
            # same basis
            rows = np.asarray(np.linalg.lstsq(rows[:, own], rows, rcond=None)[0])
        contrasts.append(rows)
    return contrasts


def sequential_contrasts(
    gram: FloatArray, columns: IntArray, order: IntArray
) -> FloatArray:
    """(h, p) contrasts of some columns adjusted for the columns before them in `order`
    and ignoring those after.

    The rows of the unit upper triangle U in X'X = U'DU: row j is the combination of
    coefficients that belongs to the part of column j outside the span of the columns
    before it [Searle 1971, sec. 5.2; SAS type I].

    Parameters
    ----------
    gram : (p, p)
        Cross products of centred columns (the intercept swept out).
    columns : (h,) columns to test, among `order`
    order : (q,) columns of the model in the order in which they enter
    """
    left = gram[np.ix_(order, order)].copy()
    size = np.diag(left).copy()
    contrasts = np.zeros(gram.shape)
    for j in range(order.size):
        if left[j, j] <= _PIVOT * size[j]:
            continue
        contrasts[order[j], order] = left[j] / left[j, j]
        left[j + 1 :, j + 1 :] -= (
            np.outer(left[j + 1 :, j], left[j, j + 1 :]) / left[j, j]
        )
        left[j + 1 :, j] = 0.0
    return contrasts[columns]


def _recoded_contrasts(
    r: LikelihoodResults, kind: str, marginality: Marginality, estimated: BoolArray
) -> list[FloatArray]:
    """Types III and baseline: coefficients under another coding; NaN if aliased columns
    leave them undetermined.

    If a term that no other term contains has aliased columns, or if the other coding
    gives another model, its columns that are not aliased are tested.
    """
    coded = recoded_hypotheses(r.design.spec, _CODED[kind])
    contrasts = []
    for term, columns in r.design.terms.items():
        # All cells are estimated: no column of the term or of terms that contain it is
        # aliased.
        if coded and all(
            estimated[r.design.terms[name]].all()
            for name in (term, *marginality.containing[term])
        ):
            contrasts.append(coded[term])
        elif marginality.containing[term]:
            contrasts.append(
                np.full((columns.stop - columns.start, estimated.size), np.nan)
            )
        else:
            contrasts.append(np.eye(estimated.size)[columns][estimated[columns]])
    return contrasts


def _containing_last(term: str, marginality: Marginality, design: Design) -> IntArray:
    """Columns in the order: other terms, this term, the terms that contain it."""
    containing = marginality.containing[term]
    others = [name for name in design.terms if name != term and name not in containing]
    columns = [
        np.arange(design.terms[name].start, design.terms[name].stop)
        for name in (*others, term, *containing)
    ]
    return np.concatenate(columns)


# Linear hypotheses


def hypothesis_tests(
    r: LikelihoodResults, hypotheses: str | Sequence[str], *, vcov: Any
) -> pd.DataFrame:
    """Wald tests of linear hypotheses on the parameters."""
    index, L, target = linear_hypotheses(r, hypotheses)
    r = r if vcov is None else r.with_vcov(vcov)
    finite = L @ r.fit.coefficients[~r.fit.aliased] - target
    difference = finite + r.fit.limits_of(L)
    tests = [joint_test(r, L[i : i + 1], finite[i : i + 1]) for i in range(len(L))]
    covariance = r.covariance_of_estimates
    errors = np.sqrt([covariance.quadratic(row[None])[0, 0] for row in L])
    errors = np.where([test.left_out > 0 for test in tests], np.nan, errors)
    if len(L) > 1:
        tests.append(joint_test(r, L, finite))
        index.append(JOINT)
        difference = np.append(difference, np.nan)
        errors = np.append(errors, np.nan)
    table = joint_frame(index, tests)
    table.insert(0, "difference", difference)
    table.insert(1, "std_error", errors)
    notes: list[str] = []
    if table["p_value"].isna().any() or tests[-1].left_out:
        notes += infinite_and_diverging(r.fit, r.parameters, differences=True)
    notes += partly_tested(index, tests)
    if tests[-1].df > r.own_covariance.most_hypotheses:
        notes.append(f"no joint test: {without_joint_test(r.own_covariance)}.")
    return NotedFrame.of(table, notes, f"Wald tests, {r.own_covariance.words}")


def named_parameters(r: LikelihoodResults) -> dict[str, list[int]]:
    """Positions of the parameters that a name stands for: itself, or the coefficients
    of a column or term of any formula, or of a variable.
    """
    named = {name: [i] for i, name in enumerate(r.parameters.names)}
    design = r.design
    parts = {
        "scale": (design.scale_terms, design.scale_names),
        "nominal": (design.nominal_terms, design.nominal_names),
        "location": (design.terms, design.names),
    }
    # a term of several formulas means its location effects
    for kind, (terms, columns) in parts.items():
        positions = r.parameters.of(kind)
        # thresholds, or 1
        each = positions.size // max(len(columns), 1)
        for place, column in enumerate(columns):
            if column not in r.parameters.names:
                members = positions[each * place : each * (place + 1)]
                named[column] = members.tolist()
        for term, of_term in terms.items():
            members = positions[each * of_term.start : each * of_term.stop].tolist()
            named[term] = members
            if kind == "scale":
                named[f"scale.{term}"] = members
    for variable, columns_of_it in _by_variable(design, named).items():
        named.setdefault(variable, columns_of_it)
    return named


def _equations(r: LikelihoodResults, hypotheses: str | Sequence[str]) -> list[str]:
    """The hypotheses as equations; a term or parameter, alone or "= 0", means that its
    coefficients are 0.
    """
    every = r.parameters.names
    named = {
        name: [every[i] for i in positions if every[i] == name or not r.fit.aliased[i]]
        for name, positions in named_parameters(r).items()
    }
    spelled = {_bare(name): name for name in named}
    shown = r.names_shown()
    equations: list[str] = []
    for given in listed_texts("hypotheses", hypotheses):
        for part in _parts(in_own_names(given, shown), spelled):
            name = spelled.get(_bare(part), part.strip())
            whole = spelled.get(_without_zero(part), "")
            if len(named.get(whole) or ()) > 1:  # a term of several coefficients
                name = whole
            if not named.get(name) and "=" not in part:
                raise OptionError(
                    "hypotheses must be equations such as 'x1 = x2, x3 = 0', or terms"
                    " or estimated parameters to test against 0; got"
                    f" {name!r}.{did_you_mean(name, named)}"
                )
            equations += [
                f"{parameter} = 0" for parameter in named.get(name) or ()
            ] or [part]
    return equations


def _parts(text: str, spelled: Mapping[str, str]) -> list[str]:
    """Hypotheses separated by commas and line ends; a text of which some part is
    neither an equation nor a name stays whole, as names may have commas too.
    """
    if _bare(text) in spelled:
        return [text]
    outside = r"[,\n](?![^\[(]*[\])])"  # of brackets
    parts = [part for part in re.split(outside, text) if part.strip()] or [text]
    if "=" not in text or all("=" in part or _bare(part) in spelled for part in parts):
        return parts
    return [text]


def _without_zero(hypothesis: str) -> str:
    """The bare name in "name = 0"; a name alone means the same."""
    return re.sub(r"==?0$", "", _bare(hypothesis))


def _bare(name: str) -> str:
    """A name without blanks and backticks, which may be written or left out."""
    return re.sub(r"[\s`]", "", name)


def _by_variable(
    design: Design, named: Mapping[str, list[int]]
) -> dict[str, list[int]]:
    """The parameters of all location terms that are made of one variable alone, such as
    ns(x, 3).
    """
    variables = design.spec.variables()
    members: dict[str, list[int]] = {}
    for term in design.terms:
        if len(variables[term]) == 1:
            members.setdefault(next(iter(variables[term])), []).extend(named[term])
    return members


def linear_hypotheses(
    r: LikelihoodResults, hypotheses: str | Sequence[str]
) -> tuple[list[str], FloatArray, FloatArray]:
    """Equations as text, and L (h, P') and the target (h,) of L b = target, over the
    estimated parameters b.
    """
    from .equations import read_equations

    text = "\n".join(_equations(r, hypotheses))
    random = r.random_parameters
    if random is not None and (
        tested := [name for name in random.names if name in text]
    ):
        raise OptionError(
            f"hypotheses must name fixed parameters; got {tested[0]!r}, which is tested"
            " at a boundary. Fit without the random term by update(), and compare the"
            " fits by anova()."
        )
    names = {name: i for i, name in enumerate(r.parameters.names)}
    location = r.parameters.of("location")
    for term, columns in r.design.terms.items():
        if columns.stop - columns.start == 1:
            names.setdefault(term, int(location[columns.start]))
    texts, rows, values = zip(
        *read_equations(text, names, r.fit.coefficients.size), strict=True
    )
    for equation, row in zip(texts, rows, strict=True):
        if np.any(row[r.fit.aliased] != 0.0):
            raise OptionError(
                f"{equation!r} names a parameter that is aliased and so not estimated."
            )
        if np.any(row[r.penalised_coefficients] != 0.0):
            raise OptionError(
                f"{equation!r} names a coefficient of a smooth, which is penalised. Use"
                " smooths()."
            )
    return list(texts), np.array(rows)[:, ~r.fit.aliased], np.array(values)
