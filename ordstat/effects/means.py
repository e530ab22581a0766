"""Tables of means and differences."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from scipy.special import chdtrc, chdtri, fdtrc, fdtri

from .._typing import FloatArray
from ..checks import one_of
from ..exceptions import OptionError
from ..likelihood.parameters import listed
from ..likelihood.standard_errors import limits_between, two_sided
from ..report.frames import NotedFrame, broom_frame, noted_html, noted_text
from .average import Average, Averager, together, warn_of_unknown
from .contrasts import (
    ALIASES,
    DEFAULT_ADJUST,
    METHODS,
    WORDS,
    Contrasts,
    contrasts_of,
    interactions,
    named_method,
    sums_of_means,
)

#: Directions that the maximum of correlated normals is averaged over: a power of 2, for Sobol points.
_DIRECTIONS = 1 << 18
#: Groups of like directions, which stand for all.
_GROUPS = 1 << 12
#: Of these so many have to carry a probability, lest a few decide.
_CARRIERS = 64
#: Eigenvalues of a correlation matrix below this share of the largest are zero.
_RANK = 1e-9


@dataclass(frozen=True, eq=False)
class Family:
    """Tests that are adjusted together, all of them with a p-value.

    Attributes
    ----------
    z : (m,) statistics
    p : (m,) p-values, two-sided
    spread : (m, m) covariance of the estimates
    n_means : int
        How many means are compared.
    level : float
        Confidence level of the limits before adjustment.
    df : (m,) degrees of freedom of each test
        Infinite for z-tests; an adjustment by a distribution takes each test's own.
    rank : int or None
        Of the contrasts, where that may be more than that of their covariance, which too few units make singular.
    """

    z: FloatArray
    p: FloatArray
    spread: FloatArray
    n_means: int
    level: float
    df: FloatArray
    rank: int | None = None

    @property
    def size(self) -> int:
        return len(self.p)

    @cached_property
    def root(self) -> FloatArray:
        """(m, r) a factor A of the correlations AA', r their rank."""
        deviations = np.sqrt(np.diag(self.spread))
        values, vectors = np.linalg.eigh(self.spread / np.outer(deviations, deviations))
        kept = values > _RANK * values[-1]
        return np.asarray(vectors[:, kept] * np.sqrt(values[kept]))


#: Adjusted p-values (m,), and the levels (m,) at which single limits hold together.
Adjusted = tuple[FloatArray, FloatArray]


def _levels(family: Family, critical: Callable[[float], float]) -> FloatArray:
    """The levels of single limits of +-critical standard errors, by the degrees of freedom."""
    return 1.0 - two_sided(np.array([critical(float(df)) for df in family.df]), family.df)


def _none(family: Family) -> Adjusted:
    return family.p, np.full(family.size, family.level)


def _bonferroni(family: Family) -> Adjusted:
    levels = np.full(family.size, 1.0 - (1.0 - family.level) / family.size)
    return np.minimum(family.p * family.size, 1.0), levels


def _sidak(family: Family) -> Adjusted:
    levels = np.full(family.size, family.level ** (1.0 / family.size))
    return -np.expm1(family.size * np.log1p(-family.p)), levels


def _tukey(family: Family) -> Adjusted:
    """By the range of as many independent means: exact where all pairs have one variance, else conservative.

    SciPy's tail is 1 less a probability; Bonferroni's bound keeps the digits of small p-values.
    """
    from scipy.stats import studentized_range

    p = studentized_range.sf(math.sqrt(2.0) * np.abs(family.z), family.n_means, family.df)
    point = _levels(family, lambda df: _tukey_point(family.level, family.n_means, df))
    return np.clip(p, family.p, _bonferroni(family)[0]), point


@lru_cache(maxsize=64)
def _tukey_point(level: float, n_means: int, df: float) -> float:
    """Standard errors of a difference; found once for all families of one size."""
    from scipy.stats import studentized_range

    return float(studentized_range.isf(1.0 - level, n_means, df)) / math.sqrt(2.0)


def _radius_tail(rank: int, squares: FloatArray, df: float) -> FloatArray:
    """P(r^2 > squares), r the length of a vector of so many standard normals, over that of the errors' estimate."""
    return np.asarray(chdtrc(rank, squares) if math.isinf(df) else fdtrc(rank, df, squares / rank))


def _radius(rank: int, alpha: float, df: float) -> float:
    """The length that is passed with probability alpha."""
    return math.sqrt(chdtri(rank, alpha) if math.isinf(df) else rank * fdtri(rank, df, 1.0 - alpha))


def _scheffe(family: Family) -> Adjusted:
    """For all contrasts in the space of these."""
    rank, alpha = family.rank or family.root.shape[1], 1.0 - family.level
    p = [float(_radius_tail(rank, z * z, df)) for z, df in zip(family.z, family.df, strict=True)]
    return np.array(p), _levels(family, lambda df: _radius(rank, alpha, df))


def _mvt(family: Family) -> Adjusted:
    """By the largest of normals (or t) with the correlations of the estimates.

    Far in the tail, where few directions are left, by Bonferroni's bound, which is close there.
    """
    from scipy.optimize import brentq

    largest, rank, alpha = _largest_cosines(family.root), family.root.shape[1], 1.0 - family.level

    def beyond(x: float, df: float) -> FloatArray:
        return _radius_tail(rank, (x / largest) ** 2, df)

    @cache
    def critical(df: float) -> float:
        return float(brentq(lambda x: beyond(x, df).mean() - alpha, 0.0, _radius(rank, alpha, df) + 1.0, xtol=1e-10))

    parts = np.array([beyond(z, df) for z, df in zip(family.z, family.df, strict=True)])
    few = parts.sum(axis=1) ** 2 < min(_CARRIERS, len(largest)) * (parts**2).sum(axis=1)
    p = np.where(few | (parts == 0.0).all(axis=1), _bonferroni(family)[0], parts.mean(axis=1))
    return np.clip(p, family.p, 1.0), _levels(family, critical)


def _largest_cosines(root: FloatArray) -> FloatArray:
    """max_i |a_i'u| over the rows of (m, r), at directions u that fill the sphere evenly.

    A standard normal vector is a direction u times a length whose square is chi-squared(r), so that
    P(max |a_i'x| > c) is the mean over u of P(chi2(r) > (c / max |a_i'u|)^2) [Genz & Bretz 2009, sec. 4.1.1].
    """
    rank = root.shape[1]
    if rank == 1:
        return np.ones(1)
    if rank == 2:
        angle = np.pi * (np.arange(_DIRECTIONS) + 0.5) / _DIRECTIONS
        directions = np.column_stack([np.cos(angle), np.sin(angle)])
    else:
        from scipy.stats.qmc import MultivariateNormalQMC

        normal = MultivariateNormalQMC(np.zeros(rank), rng=np.random.default_rng(0)).random(_DIRECTIONS)
        directions = normal / np.linalg.norm(normal, axis=1, keepdims=True)
    largest = np.zeros(len(directions))
    for row in root:
        np.maximum(largest, np.abs(directions @ row), out=largest)
    return np.asarray(np.sort(largest).reshape(_GROUPS, -1).mean(axis=1))


def _stepwise(method: str) -> Callable[[Family], Adjusted]:
    """By statsmodels' name of a procedure; its limits are Bonferroni's, as it has none of its own."""

    def adjusted(family: Family) -> Adjusted:
        from statsmodels.stats.multitest import multipletests

        return multipletests(family.p, method=method)[1], _bonferroni(family)[1]

    return adjusted


ADJUST: dict[str, Callable[[Family], Adjusted]] = {
    "none": _none,
    "tukey": _tukey,
    "sidak": _sidak,
    "bonferroni": _bonferroni,
    "holm": _stepwise("holm"),
    "hochberg": _stepwise("simes-hochberg"),
    "hommel": _stepwise("hommel"),
    "fdr": _stepwise("fdr_bh"),
    "fdr_by": _stepwise("fdr_by"),
    "mvt": _mvt,
    "dunnett": _mvt,
    "scheffe": _scheffe,
}
#: For the line below a table.
NAMES = {
    "tukey": "Tukey's",
    "sidak": "Sidak's",
    "bonferroni": "Bonferroni's",
    "holm": "Holm's",
    "hochberg": "Hochberg's",
    "hommel": "Hommel's",
    "fdr": "Benjamini and Hochberg's",
    "fdr_by": "Benjamini and Yekutieli's",
    "dunnett": "Dunnett's",
    "scheffe": "Scheffe's",
}
#: Those that have no limits of their own.
STEPWISE = ("holm", "hochberg", "hommel", "fdr", "fdr_by")


def adjusted(adjust: str, family: Family) -> Adjusted:
    """Adjusted p-values, and the level at which single limits hold together; of one test as it is."""
    return _none(family) if family.size < 2 else ADJUST[adjust](family)


#: What is averaged, in words.
_QUANTITIES = {
    "latent": "the latent variable above the mean threshold",
    "prob": "P(response = level)",
    "cum_prob": "P(response <= level)",
    "exc_prob": "P(response > level)",
    "mean": "the expected rank",
    "mean_class": "the expected rank",
    "log_odds": "the log odds of a response above each threshold",
    "odds": "the odds of a response above each threshold (averaged as logs)",
}
#: An error is rounding, up to this share of those of the means that are compared.
_CANCELLED = 1e-10


@dataclass(frozen=True, eq=False, repr=False)
class Emmeans:
    """Estimated marginal means, or slopes, and what their contrasts need.

    Attributes
    ----------
    cells : pandas.DataFrame
        C rows: the combinations of the variables, those of `by` last.
    by : tuple of str
        Contrasts are taken within each combination of these.
    averages : list of C Average
    averager : Averager
    level : float
        Confidence level of the limits.
    notes : tuple of str
        What was averaged over, and what was held; printed below the table.
    method : str, optional
        The contrasts asked for with the means, as in "pairwise ~ a".
    slope_of : str, optional
        The variable by which they are derivatives (`emtrends`).
    """

    cells: pd.DataFrame
    by: tuple[str, ...]
    averages: list[Average]
    averager: Averager
    level: float
    notes: tuple[str, ...] = ()
    method: str | None = None
    slope_of: str | None = None

    def __repr__(self) -> str:
        return noted_text(self.frame, self._all_notes) + (f"\n\n{self._contrasted()!r}" if self.method else "")

    def _repr_html_(self) -> str:
        return noted_html(self.frame, self._all_notes) + (self._contrasted()._repr_html_() if self.method else "")

    def tidy(self) -> NotedFrame:
        """The table under broom's names: limits are "conf_low" and "conf_high"."""
        return NotedFrame.of(broom_frame(self.frame), self._all_notes)

    @property
    def _one(self) -> str:
        """The word for a row of the table."""
        return "mean" if self.slope_of is None else "slope"

    @property
    def quantity(self) -> str:
        """What the means are means of, in words."""
        scale, family = self.averager.scale, self.averager.results.family
        if scale != "latent" or family.ordered:
            return _QUANTITIES[scale]
        what = "log odds" if family.link.name in family.ratios else "linear predictor"
        return f"the {what} of the higher of two neighbouring levels, averaged over the pairs"

    @property
    def _quantity(self) -> str:
        words = self.quantity
        return words if self.slope_of is None else f"slopes by {self.slope_of} of {words}"

    @property
    def _all_notes(self) -> list[str]:
        what = f"Means of {self._quantity}" if self.slope_of is None else self._quantity.capitalize()
        df = self.averager.df_words
        on_logits = "on the logit scale" if df is None else f"on the logit scale by t with {df}"
        how = self._distribution if self._ends() is None else on_logits
        return [f"{what}; {100 * self.level:g} % limits, {how}.", *self.notes]

    @property
    def _distribution(self) -> str:
        df = self.averager.df_words
        return "normal distribution" if df is None else f"t distribution with {df}"

    @property
    def frame(self) -> pd.DataFrame:
        """The variables, level or threshold where the scale has them, estimate, std_error, lower, upper; df under CR2.

        Limits of probabilities, and of the expected rank as a share of 1..K, are formed on the logit scale (R's
        emmeans: symmetric ones, which may leave the scale); those of odds are the exponents of the limits of the log
        odds.
        """
        found = together(self.averages)
        table = self.averager.table(found, self.level).drop(columns=["statistic", "p_value"])
        ends = self._ends()
        if ends is not None:
            estimate, error = (table[name].to_numpy() for name in ("estimate", "std_error"))
            limits = limits_between(*ends, estimate, error, self.level, self.averager.df(found.jacobian))
            table[["lower", "upper"]] = np.column_stack(limits)
        return self._labelled(self.cells, table)

    def _ends(self) -> tuple[float, float] | None:
        """The ends of a bounded scale, between which limits are formed on the logit scale."""
        if self.slope_of is None and self.averager.scale in ("mean", "mean_class"):
            return 1.0, float(len(self.averager.results.levels))
        return (0.0, 1.0) if self.slope_of is None and self.averager.scale.endswith("prob") else None

    def _labelled(self, front: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
        """A table of the outputs of each row of `front`, with these rows and the labels of the outputs before it."""
        times = len(table) // len(front)
        rows = front.iloc[np.repeat(np.arange(len(front)), times)].reset_index(drop=True)
        labels = {name: column * len(front) for name, column in self.averager.labels.items()}
        return pd.concat([rows, pd.DataFrame(labels, index=table.index), table], axis=1)

    def contrasts(
        self,
        method: Any = None,
        adjust: str | None = None,
        *,
        interaction: Any = None,
        ref: Any = None,
        reverse: bool = False,
    ) -> NotedFrame:
        """Differences of the means, within the groups of `by`; on the scale "odds" their ratios.

        Parameters
        ----------
        method : str, mapping or sequence, optional
            "pairwise" (the default): every later mean less every earlier one; R has them the other way round.
            "reference" (R: "trt.vs.ctrl"): each less the first, or less `ref`. "sequential" (R: "consec"): each less
            the one before, where the last of two variables changes fastest (R: the first). "eff": each less the mean
            of all; "del.eff": less the mean of the others. "poly": orthogonal polynomials with whole coefficients. Own
            contrasts by their coefficients, one a mean: a dict
            {"high rise": [1, -1/3, -1/3, -1/3]}, or a list of lists.
        adjust : str, optional
            Adjustment of p-values and limits, for the contrasts of one group and level: "none", "tukey", "sidak",
            "bonferroni", "scheffe"; "mvt" and, for "reference", "dunnett", by the correlations of the estimates;
            "holm", "hochberg", "hommel", "fdr", "fdr_by", which have no limits of their own and print Bonferroni's.
            If not given it is R's: Tukey's for "pairwise", Dunnett's for "reference" (R approximates it), "mvt" for
            "sequential", "fdr" for "eff" and "del.eff", none for others. A single contrast is not adjusted.
        interaction : str or sequence of str, optional
            Contrasts of contrasts, in place of `method`: a set for each variable, or one for all.
        ref : optional
            The level that "reference" compares with.
        reverse : bool
            Earlier less later, as R's "pairwise".

        Returns
        -------
        NotedFrame
            A data frame that prints its notes. Columns contrast, those of `by`, level or threshold, estimate,
            std_error, statistic, p_value, lower, upper; under CR2 also df, Satterthwaite's.

        Raises
        ------
        OptionError
            Another method or adjustment, coefficients that are not one a mean, or "tukey" and "dunnett" of contrasts
            they are not made for.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> fit.emmeans("contact").contrasts()[["contrast", "estimate"]].round(3).values.tolist()
        [['yes - no', 1.528]]
        >>> housing = datasets.load("housing")
        >>> means = ordfit("Sat ~ Infl + Type + Cont", housing, weights="Freq").emmeans("Type")
        >>> means.contrasts()["p_value"].round(4).tolist()
        [0.0, 0.085, 0.0, 0.4414, 0.0006, 0.0001]
        >>> means.contrasts({"high rise": [1, -1/3, -1/3, -1/3]})["estimate"].round(3).tolist()
        [0.677]
        """
        out = self._contrasted(method, adjust, interaction, ref, reverse)
        warn_of_unknown(out["std_error"].isna())
        return out

    def _contrasted(
        self,
        method: Any = None,
        adjust: str | None = None,
        interaction: Any = None,
        ref: Any = None,
        reverse: bool = False,
    ) -> NotedFrame:
        """`contrasts` without its warning, which printing does not repeat."""
        asked: Any = None
        if interaction is None:
            asked = (self.method or "pairwise") if method is None else method
            asked = named_method(asked) if isinstance(asked, str) else asked
        elif method is not None:
            raise OptionError("interaction= takes the place of method: give one of them.")
        how = _adjustment(adjust, asked)
        parts, sizes, sums = [], set(), []
        for key, members in groups_of(self.cells, self.by):
            contrasts = self._coefficients(members, asked, interaction, ref, reverse)
            table, tests = self._group(contrasts, members, key, how)
            parts.append(table)
            sizes |= {(n, len(members)) for n in tests}
            sums += sums_of_means(contrasts)
        out = pd.concat(parts, ignore_index=True)
        notes = [*self._contrast_notes(asked, interaction, reverse, how, sizes), *self.notes]
        if sums:
            names = listing(list(dict.fromkeys(sums)))
            notes.append(f"NOTE: the coefficients of {names} do not add up to 0: no contrast.")
        return NotedFrame.of(out, notes)

    def _coefficients(self, members: list[int], asked: Any, interaction: Any, ref: Any, reverse: bool) -> Contrasts:
        """The contrasts of one group."""
        names = [name for name in self.cells.columns if name not in self.by]
        columns = [[str(self.cells[name].iloc[k]) for k in members] for name in names]
        sign = self.averager.sign
        if interaction is None:
            return contrasts_of(asked, [" ".join(row) for row in zip(*columns, strict=True)], sign, ref, reverse)
        methods = [interaction] * len(names) if isinstance(interaction, str) else listed(interaction)
        if len(methods) != len(names):
            raise OptionError(
                f"interaction must name a set of contrasts for each of {', '.join(names)}, or one for all; got "
                f"{interaction!r}."
            )
        for one in methods:
            one_of("interaction", ALIASES.get(one, one) if isinstance(one, str) else one, METHODS)
        return interactions(methods, [list(dict.fromkeys(column)) for column in columns], sign, reverse)

    def _group(
        self, contrasts: Contrasts, members: list[int], key: Mapping[str, Any], how: str
    ) -> tuple[pd.DataFrame, list[int]]:
        """The table of the contrasts of one group, adjusted within each level or threshold; how many each."""
        L = np.array(list(contrasts.values()))
        combined = [combination(row, [self.averages[k] for k in members]) for row in L]
        every = self.averager.settled(together(combined))
        errors = self.averager.errors(every).reshape(len(L), -1)
        values = every.values.reshape(errors.shape)
        single = np.stack([self.averager.errors(self.averages[k]) for k in members])
        errors = np.where(errors <= _CANCELLED * (np.abs(L) @ np.nan_to_num(single)), 0.0, errors)
        tables, tests = [], []
        for j in range(errors.shape[1]):
            jacobian = np.stack([average.jacobian[j] for average in combined])
            table, n_tests = self._adjusted(values[:, j], errors[:, j], jacobian, len(members), how)
            tables.append(table)
            tests.append(n_tests)
        columns = np.arange(len(L) * len(tables)).reshape(len(tables), len(L)).T.ravel()  # contrasts, then levels
        table = pd.concat(tables, ignore_index=True).iloc[columns].reset_index(drop=True)
        return self._labelled(pd.DataFrame({**self._named(list(contrasts), key)}), table), tests

    def _named(self, compared: list[str], key: Mapping[str, Any]) -> dict[str, Any]:
        """What is compared, and within what, by column."""
        return {"contrast": compared, **key}

    def _adjusted(
        self, values: FloatArray, errors: FloatArray, jacobian: FloatArray, n_means: int, how: str
    ) -> tuple[pd.DataFrame, int]:
        """The table of some contrasts, with p-values and limits adjusted for all that are tested; and how many."""
        df = self.averager.df(jacobian)
        table = self.averager.estimates(values, errors, self.level, df)
        tested = table["p_value"].notna().to_numpy()
        if not tested.any():
            return table, 0
        z, p = (table[name].to_numpy()[tested] for name in ("statistic", "p_value"))
        J, V = jacobian[tested], self.averager.covariance
        rank = int(np.linalg.matrix_rank(J * np.nan_to_num(np.sqrt(np.diag(V))), rtol=_CANCELLED))
        family = Family(z, p, J @ V @ J.T, n_means, self.level, df[tested], rank)
        levels = np.full(len(values), self.level)
        p, levels[tested] = adjusted(how, family)
        table = self.averager.estimates(values, errors, levels, df)
        table.loc[tested, "p_value"] = p
        return table, int(tested.sum())

    def _contrast_notes(
        self, asked: Any, interaction: Any, reverse: bool, how: str, sizes: set[tuple[int, int]]
    ) -> list[str]:
        """What is compared, and how it is adjusted."""
        words = WORDS.get(asked, "") if isinstance(asked, str) else "by their coefficients"
        if interaction is not None:
            words = "differences of differences"
        elif reverse:
            words = {"pairwise": "each earlier mean less each later one"}.get(asked, f"{words}, turned round")
        words = words.replace("mean", self._one)
        inside = f", within {listing(self.by)}" if self.by else ""
        tests = "z tests" if self.averager.df_words is None else f"t tests with {self.averager.df_words}"
        adjustment = _adjustment_note(how, sizes, self.level, self.averager.df_words is not None)
        return [f"Contrasts of {self._quantity}: {words}{inside}.", f"{tests}; {adjustment}"]


def _adjustment_note(how: str, sizes: set[tuple[int, int]], level: float, by_t: bool) -> str:
    """How p-values and limits are adjusted, and for how many tests, or means, of a group."""
    limits = f"{100 * level:g} % limits"
    if how == "none" or max(tests for tests, _ in sizes) < 2:
        return f"p-values and {limits} are not adjusted."
    counts = [means if how == "tukey" else tests for tests, means in sizes if tests > (how == "tukey")]
    numbers = " to ".join(str(count) for count in sorted({min(counts), max(counts)}))
    family = f"{numbers} {'means' if how == 'tukey' else 'tests'}"
    name = f"the multivariate {'t' if by_t else 'normal'} (mvt)" if how == "mvt" else NAMES[how]
    if how in STEPWISE:
        return f"p-values by {name} method, {limits} by Bonferroni's, for {family}."
    return f"p-values and {limits} by {name} method, for {family}."


def groups_of(cells: pd.DataFrame, by: Sequence[str]) -> Iterator[tuple[dict[str, Any], list[int]]]:
    """Each combination of the values of `by`, and the places of its cells."""
    keys = [tuple(row) for row in cells[list(by)].to_numpy(dtype=object)]
    for key in dict.fromkeys(keys):
        yield dict(zip(by, key, strict=True)), [place for place, other in enumerate(keys) if other == key]


def _adjustment(adjust: str | None, asked: Any) -> str:
    """The adjustment, R's if not given; OptionError for one that does not go with the contrasts."""
    name = asked if isinstance(asked, str) else None
    if adjust is None:
        return DEFAULT_ADJUST.get(str(name), "none")
    one_of("adjust", adjust, ADJUST)
    method = {"tukey": "pairwise", "dunnett": "reference"}.get(adjust, name)
    if name != method:
        raise OptionError(f"adjust={adjust!r} goes with method={method!r} alone: use 'mvt', which fits any contrasts.")
    return adjust


def combination(coefficients: FloatArray, averages: Sequence[Average]) -> Average:
    """A linear combination of averages; those with coefficient 0 do not count."""
    used = np.flatnonzero(coefficients)
    c, some = coefficients[used], [averages[int(k)] for k in used]
    jacobians = np.stack([average.jacobian for average in some])
    jacobian, sizes = np.tensordot(c, jacobians, 1), np.tensordot(np.abs(c), np.abs(jacobians), 1)
    jacobian = np.where(np.abs(jacobian) <= _CANCELLED * sizes, 0.0, jacobian)
    values = c @ np.stack([average.values for average in some])
    return Average(values, jacobian, np.all([average.known for average in some], axis=0))


M = TypeVar("M", bound=Emmeans)


def checked(means: M) -> M:
    """The means, with a DataWarning where one has no standard error."""
    warn_of_unknown(~means.averager.settled(together(means.averages)).known)
    return means


def shown_value(value: Any) -> str:
    """A value in a note."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def listing(names: Sequence[str]) -> str:
    """Names with commas and "and"."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
