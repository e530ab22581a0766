"""Estimated marginal means, trends, their contrasts and joint tests."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import pandas as pd

from .._typing import BoolArray, FloatArray
from ..advice import no_attribute, with_advice
from ..checks import fraction, mapping, one_of, variable_names
from ..exceptions import DataError, OptionError
from ..formula.sample import Rows
from ..inference.wald import (
    Joint,
    by_estimated,
    joint_frame,
    joint_test,
    without_joint_test,
)
from ..likelihood.row_limits import spread_limits
from ..likelihood.unavailable import check_available
from ..report.frames import Exported, NotedFrame, broom_frame
from .average import (
    CANCELLED,
    Average,
    Averager,
    PooledAverager,
    warn_of_unknown,
)
from .contrasts import (
    ADJUST,
    DEFAULT_ADJUST,
    STEPWISE,
    WORDS,
    ContrastFamily,
    Contrasts,
    adjusted,
    contrasts_of,
    method_of,
    named_method,
    sums_of_means,
)
from .counterfactual import AT, Population, in_one_unit, population, tangent
from .grid import (
    WEIGHTS,
    ReferenceGrid,
    Specs,
    cell_weights,
    grid_of,
    nesting_of,
    on_one_scale,
    read_specs,
    with_outer,
)

if TYPE_CHECKING:
    from ..likelihood.results import LikelihoodResults


#: Singular values of the undetermined parts below this share of the largest are zero,
#: as are shares of derivatives.
_RANK = 1e-8
_ROUNDING = 1e-9


@with_advice
@dataclass(frozen=True, eq=False, repr=False)
class Emmeans(Exported):
    """Estimated marginal means, or slopes, with their contrasts.

    Attributes
    ----------
    cells : pandas.DataFrame
        C rows: the combinations of the variables, with `by` last.
    by : tuple of str
        Contrasts are taken within each combination of these.
    averages : Average
        Averages of the C cells.
    averager : Averager
    level : float
        Confidence level of the intervals.
    notes : tuple of str
        Variables averaged over or held, printed below the table.
    method : str, optional
        The contrasts that a formula such as "pairwise ~ a" requests.
    slope_of : str, optional
        The variable of the slopes (`emtrends`).
    held : mapping of str to float
        Numbers at their means.
    """

    cells: pd.DataFrame
    by: tuple[str, ...]
    averages: Average
    averager: Averager
    level: float
    notes: tuple[str, ...] = ()
    method: str | None = None
    slope_of: str | None = None
    held: Mapping[str, float] = field(default_factory=dict)

    #: Whether every table has a note on its errors.
    names_errors: ClassVar[bool] = False
    #: The error where there is nothing to compare.
    nothing_to_compare: ClassVar[str] = (
        "contrasts compare several means: name a variable, such as emmeans('~ a')."
    )

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """AttributeError that says what to use."""
            raise no_attribute(self, "attribute of means", name)

    def exported(self) -> list[NotedFrame]:
        contrasts = [self._contrasted()] if self.method else []
        return [NotedFrame.of(self.frame, self.table_notes, ""), *contrasts]

    def tidy(self) -> NotedFrame:
        """The table with the column names of R's broom: "conf_low" and "conf_high" for
        the confidence limits.
        """
        return NotedFrame.of(broom_frame(self.frame), self.table_notes)

    @property
    def quantity(self) -> str:
        """Description of the averaged quantity."""
        scale = self.averager.scale
        family = self.averager.results.family
        if scale != "latent" or family.ordered:
            return self.averager.words
        name = "log odds" if family.cut.name == "logit" else "linear predictor"
        return f"the {name} of {family.compared}"

    @property
    def _words(self) -> tuple[str, str]:
        """Names for a row of the table and for the table."""
        if self.slope_of is None:
            return "mean", self.quantity
        return "slope", f"slopes by {self.slope_of} of {self.quantity}"

    @property
    def table_notes(self) -> list[str]:
        """The notes below the whole table."""
        words = self._words[1]
        df = self.averager.df_words
        title = f"Means of {words}" if self.slope_of is None else f"S{words[1:]}"
        how = self._distribution
        if self._bounds is not None:
            how = (
                "on the logit scale"
                if df is None
                else f"on the logit scale by t with {df}"
            )
        return [
            f"{title}; {100 * self.level:g}% confidence intervals, {how}.",
            *self.notes,
        ]

    @property
    def _distribution(self) -> str:
        df = self.averager.df_words
        return "normal distribution" if df is None else f"t distribution with {df}"

    @property
    def frame(self) -> pd.DataFrame:
        """The table: columns for the variables, level or threshold (if the scale has
        them), estimate, std_error, lower and upper; also df under CR2.

        Confidence intervals of probabilities are computed on the logit scale; so are
        those of means and quantiles, as shares of the range of the levels. In R's
        emmeans intervals are symmetric and may leave the scale. Limits of odds are
        exponentials of those of the log odds.
        """
        table = self.averager.table(self.averages, self.level).drop(
            columns=["statistic", "p_value"]
        )
        bounds = self._bounds
        if bounds is not None:
            errors = table["std_error"].to_numpy().reshape(self.averages.values.shape)
            lower, upper = self.averager.limits_between(
                *bounds, self.averages, errors, self.level
            )
            table[["lower", "upper"]] = np.column_stack([lower.ravel(), upper.ravel()])
        return self._labelled(self.cells, table)

    @property
    def _bounds(self) -> tuple[float, float] | None:
        """The bounds of a scale, for limits on the logit scale; None of slopes, and
        without bounds.
        """
        return self.averager.bounds if self.slope_of is None else None

    @property
    def _output_labels(self) -> Mapping[str, list[Any]]:
        """Labels of the outputs of each mean, by column."""
        return self.averager.labels

    def _labelled(self, front: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
        """A table of the outputs of each row of `front`, with these rows and the labels
        of the outputs before it.
        """
        times = len(table) // len(front)
        rows = front.iloc[np.repeat(np.arange(len(front)), times)].reset_index(
            drop=True
        )
        labels = {
            name: column * len(front) for name, column in self._output_labels.items()
        }
        return pd.concat([rows, pd.DataFrame(labels, index=table.index), table], axis=1)

    def over_imputations(self, others: Sequence[Emmeans], df_complete: float) -> Self:
        """Pool these means with those of other fits to imputed data, by Rubin's rules.

        Parameters
        ----------
        others : sequence of Emmeans
            The same means, of the other fits.
        df_complete : float
            Degrees of freedom that complete data would have.

        Raises
        ------
        DataError
            The tables have different rows.
        """
        cells = self.cells.drop(columns="row", errors="ignore")
        for number, other in enumerate(others, start=2):
            if not other.cells.drop(columns="row", errors="ignore").equals(cells):
                raise DataError(
                    "imputations must give the same rows of means or effects; those of"
                    f" fit 1 and fit {number} differ. Give the values: at= of numbers,"
                    " change= as numbers, by= columns without imputed values."
                )
        every: list[Emmeans] = [self, *others]
        averager = PooledAverager([each.averager for each in every], df_complete)
        averages = averager.pooled([each.averages for each in every])
        notes = []
        for note in self.notes:
            alike = all(note in other.notes for other in others)
            if note != _error_note(self.averager):
                notes.append(note if alike else f"{note[:-1]} (imputation 1).")
        if not self.names_errors:
            notes.append(_error_note(averager))
        return replace(self, averages=averages, averager=averager, notes=tuple(notes))

    def contrasts(
        self, method: Any = None, adjust: str | None = None, *, ref: Any = None
    ) -> NotedFrame:
        """Contrasts of the means within the groups of `by`: differences, or ratios for
        scale="odds".

        Parameters
        ----------
        method : str, mapping or sequence, optional
            As in R's emmeans. "pairwise" (the default): every earlier mean minus every
            later one; "revpairwise": later minus earlier. "reference" (R:
            "trt.vs.ctrl"): each minus the first, or minus `ref`. "sequential" (R:
            "consec"): each minus the one before; with two variables the last changes
            fastest (R: the first). For other contrasts give coefficients: a dict {"high
            rise": [1, -1/3, -1/3, -1/3]}, or a list of lists; the interaction of two by
            two means is [1, -1, -1, 1].
        adjust : str, optional
            Adjustment of p-values and confidence intervals for multiple testing, within
            each group and level: "none", "tukey", "sidak", "bonferroni"; "mvt" (and
            "dunnett" for "reference") uses the correlations of the estimates; "holm"
            and "fdr" adjust the p-values only, with limits by Bonferroni. The default
            is R's: Tukey's for "pairwise", Dunnett's for "reference" (R approximates
            it), "mvt" for "sequential", none for others. A single contrast is not
            adjusted.
        ref : str, number or bool, optional
            The level that "reference" compares with.

        Returns
        -------
        NotedFrame
            A data frame that prints its notes. Columns contrast, those of `by`, level
            or threshold, estimate, std_error, statistic, p_value, lower, upper; under
            CR2 also df, Satterthwaite's.

        Raises
        ------
        OptionError
            Unknown method or adjustment, wrong number of coefficients, "tukey" for
            contrasts that are not pairwise, or "dunnett" for contrasts other than
            "reference".

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> differences = fit.emmeans("contact").contrasts()
        >>> differences[["contrast", "estimate"]].round(3).values.tolist()
        [['no - yes', -1.528]]
        >>> housing = datasets.load("housing")
        >>> fit = ordfit("Sat ~ Infl + Type + Cont", housing, weights="Freq")
        >>> means = fit.emmeans("Type")
        >>> means.contrasts()["p_value"].round(4).tolist()
        [0.0, 0.085, 0.0, 0.4414, 0.0006, 0.0001]
        >>> chosen = means.contrasts({"high rise": [1, -1/3, -1/3, -1/3]})
        >>> chosen["estimate"].round(3).tolist()
        [0.677]
        """
        out = self._contrasted(method, adjust, ref)
        if out["std_error"].isna().any():
            warn_of_unknown()
        return out

    def _contrasted(
        self, method: Any = None, adjust: str | None = None, ref: Any = None
    ) -> NotedFrame:
        """`contrasts` without its warning."""
        method = (self.method or "pairwise") if method is None else method
        method = named_method(method) if isinstance(method, str) else method
        if not set(self.cells.columns) - {*self.by, "row"}:
            raise OptionError(self.nothing_to_compare)
        adjust = _adjustment(adjust, method)
        parts = []
        sizes = set()
        sums = []
        groups = list(groups_of(self.cells, self.by))
        if isinstance(method, str) and any(len(members) > 1 for _, members in groups):
            # A nested factor may have one level in a group: nothing to compare there.
            groups = [(key, members) for key, members in groups if len(members) > 1]
        for key, members in groups:
            contrasts = self._coefficients(members, method, ref)
            table, tests = self._group(contrasts, members, key, adjust)
            parts.append(table)
            sizes |= {(n, len(members)) for n in tests}
            sums += sums_of_means(contrasts)
        title = self._contrast_title(method, next(iter(contrasts)))
        notes = [*self._contrast_notes(adjust, sizes), *self.notes]
        if sums:
            names = listing(list(dict.fromkeys(sums)))
            notes.append(
                f"NOTE: the coefficients of {names} do not add up to 0: no contrast."
            )
        return NotedFrame.of(pd.concat(parts, ignore_index=True), notes, title)

    def _coefficients(self, members: list[int], method: Any, ref: Any) -> Contrasts:
        """The contrasts of one group."""
        names = [name for name in self.cells.columns if name not in self.by]
        columns = [[str(self.cells[name].iloc[k]) for k in members] for name in names]
        return contrasts_of(
            method,
            [" ".join(row) for row in zip(*columns, strict=True)],
            self.averager.sign,
            ref,
        )

    def _group(
        self,
        contrasts: Contrasts,
        members: list[int],
        key: Mapping[str, Any],
        adjust: str,
    ) -> tuple[pd.DataFrame, list[int]]:
        """The table of the contrasts of one group, adjusted within each level or
        threshold, and the number of tests.
        """
        L = np.array(list(contrasts.values()))
        averager = self.averager
        means = self.averages[members]
        compared = averager.settled(means.combined(L))
        errors = averager.errors(compared)
        single = np.nan_to_num(averager.errors(means))
        errors = np.where(errors <= CANCELLED * (np.abs(L) @ single), 0.0, errors)
        df = averager.df(compared.jacobian)
        levels = np.full(errors.shape, self.level)
        values = compared.values.ravel()
        table = averager.estimates(values, errors.ravel(), self.level, df.ravel())
        z, p = (
            table[name].to_numpy(copy=True).reshape(errors.shape)
            for name in ("statistic", "p_value")
        )
        tested = ~np.isnan(p)
        for k in np.flatnonzero(tested.any(axis=0)):
            some = tested[:, k]
            J = compared.jacobian[some, k]
            family = ContrastFamily(
                z[some, k],
                p[some, k],
                averager.covariance.quadratic(J),
                len(members),
                self.level,
                df[some, k],
            )
            p[some, k], levels[some, k] = adjusted(adjust, family)
        table = averager.estimates(
            values, errors.ravel(), levels.ravel(), df.ravel()
        ).assign(p_value=p.ravel())
        return (
            self._labelled(pd.DataFrame(self._named(list(contrasts), key)), table),
            tested.sum(axis=0).tolist(),
        )

    def _named(self, compared: list[str], key: Mapping[str, Any]) -> dict[str, Any]:
        """Columns that are compared, and columns of the groups."""
        return {"contrast": compared, **key}

    def _contrast_title(self, method: Any, first: str) -> str:
        """What is compared, with the first contrast as an example."""
        if not isinstance(method, str):
            return "Contrasts, by coefficients"
        words = WORDS[method].replace("mean", self._words[0])
        if self.averager.scale == "odds":
            words = words.replace("minus", "divided by")
        return f"Contrasts, {words} ({first})"

    def _contrast_notes(self, adjust: str, sizes: set[tuple[int, int]]) -> list[str]:
        """The quantity, and the adjustment."""
        inside = f", within {listing(self.by)}" if self.by else ""
        df = self.averager.df_words
        tests = "z tests" if df is None else f"t tests with {df}"
        adjustment = _adjustment_note(adjust, sizes, self.level, df is not None)
        return [
            f"Contrasts of {self._words[1]}{inside}.",
            f"{tests}; {adjustment}",
        ]


def _adjustment_note(
    how: str, sizes: set[tuple[int, int]], level: float, by_t: bool
) -> str:
    """Adjustment of p-values and limits, and the number of tests or means of
    a group.
    """
    limits = f"{100 * level:g}% confidence intervals"
    if how == "none" or max(tests for tests, _ in sizes) < 2:
        return f"p-values and {limits} are not adjusted."
    counts = [
        means if how == "tukey" else tests
        for tests, means in sizes
        if tests > (how == "tukey")
    ]
    numbers = " to ".join(str(count) for count in sorted({min(counts), max(counts)}))
    family = f"{numbers} {'means' if how == 'tukey' else 'tests'}"
    name = method_of(how)
    if how == "mvt":
        distribution = "t" if by_t else "normal"
        name = f"the multivariate {distribution} (mvt)"
    if how in STEPWISE:
        return f"p-values by {name} method, {limits} by Bonferroni's, for {family}."
    return f"p-values and {limits} by {name} method, for {family}."


def groups_of(
    cells: pd.DataFrame, by: Sequence[str]
) -> Iterator[tuple[dict[str, Any], list[int]]]:
    """Each combination of the values of `by`, and the indices of its cells."""
    keys = [tuple(row) for row in cells[list(by)].to_numpy(dtype=object)]
    for key in dict.fromkeys(keys):
        yield (
            dict(zip(by, key, strict=True)),
            [place for place, other in enumerate(keys) if other == key],
        )


def _adjustment(adjust: str | None, method: Any) -> str:
    """The adjustment, by default R's; OptionError if it does not fit the contrasts."""
    name = method if isinstance(method, str) else None
    if adjust is None:
        return DEFAULT_ADJUST.get(str(name), "none")
    one_of("adjust", adjust, ADJUST)
    needed = {"tukey": "pairwise", "dunnett": "reference"}.get(adjust)
    if needed is not None and str(name).removeprefix("rev") != needed:
        raise OptionError(
            f"adjust={adjust!r} needs method={needed!r}; use 'mvt', which fits any"
            " contrasts."
        )
    return adjust


def shown_value(value: Any) -> str:
    """A value in a note."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def listing(names: Sequence[str]) -> str:
    """Names with commas and "and"."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


# Means and trends


def marginal_means(
    r: LikelihoodResults,
    variables: str | Sequence[str],
    *,
    by: str | Sequence[str] | None,
    scale: str | Mapping[str, Any],
    at: Mapping[str, Any] | None,
    weights: str,
    data: Any,
    level: float,
    vcov: Any,
    re: str | None,
    var: str | None = None,
) -> Emmeans:
    """Estimated marginal means over a balanced grid of the variables, or slopes of the
    number `var`.
    """
    fraction("level", level)
    one_of("weights", weights, WEIGHTS)
    averager = Averager(r, scale, vcov, re)
    specs = read_specs(
        variables, by, r.design.response, "emmeans" if var is None else "emtrends"
    )
    everyone = population(r, None, None, data)
    if var is not None:
        everyone.check(var)
        if var in everyone.categories or var in specs.names:
            problem = (
                "a factor"
                if var in everyone.categories
                else "among the variables of the means"
            )
            raise OptionError(
                "var must be a number of the formula that is not in the groups;"
                f" {var!r} is {problem}."
            )
    nesting = nesting_of(everyone, location_terms(r))
    specs = specs.with_outer(nesting)
    grid = grid_of(everyone, specs, at, nesting)
    rows = averager.design(grid.frame)
    averages = _cells(averager, grid, rows, weights, var)
    notes = _notes(averager, grid, rows, weights)
    if averager.lacks_errors(averages):
        warn_of_unknown()
    held = {
        name: float(values[0])
        for name, values in grid.values.items()
        if name not in everyone.categories and name not in (at or {})
    }
    return Emmeans(
        grid.cells, specs.by, averages, averager, level, notes, specs.method, var, held
    )


def _error_note(averager: Averager) -> str:
    return f"Standard errors: {averager.error_words}."


def location_terms(r: LikelihoodResults) -> list[frozenset[str]]:
    """The variables of each term of the location."""
    variables = r.design.spec.variables()
    return [variables[term] for term in r.design.terms]


def _cells(
    averager: Averager,
    grid: ReferenceGrid,
    rows: Rows,
    weights: str,
    var: str | None,
) -> Average:
    """The average or slope of each cell; NaN for an empty cell if `weights`
    needs rows, and where the unit of the latent variable has no estimate.
    """
    unmeasured = _unmeasured(averager, rows)
    rows = _in_unit(averager, rows)
    shares = cell_weights(grid, weights)
    averager.report_crossed([rows], np.nan_to_num(shares.ravel()))
    moved = None if var is None else tangent(averager, grid.population, grid.frame, var)
    if moved is not None and averager.scale == "latent":
        moved = in_one_unit(moved)
    averages = []
    size = shares.shape[1]
    for k, share in enumerate(shares):
        cell = slice(k * size, (k + 1) * size)
        empty = np.isnan(share).any()
        share = np.full(size, 1.0 / size) if empty else share
        unknown = empty or unmeasured[cell][share > 0.0].any()
        average = averager.over(
            rows.take(cell), share, None if moved is None else moved.take(cell)
        )
        if unknown:
            average = Average(
                np.full_like(average.values, np.nan),
                average.jacobian,
                np.zeros_like(average.has_error),
            )
        averages.append(average)
    return Average.stacked(averages)


def _in_unit(averager: Averager, rows: Rows) -> Rows:
    """The design of a grid, with latent variables on one scale."""
    return on_one_scale(rows) if averager.scale == "latent" else rows


def _unmeasured(averager: Averager, rows: Rows) -> BoolArray:
    """(n,) rows of a grid whose spread has no finite ratio to the mean spread, which is
    the unit of latent variables.
    """
    none = np.zeros(rows.n, dtype=np.bool_)
    if averager.scale != "latent":
        return none
    limits = spread_limits(
        averager.results.fit, averager.predicted.rule, rows, on_one_scale(rows)
    )
    return none if limits is None else np.asarray(limits != 0.0)


#: Where the unit of latent variables has no estimate: why, and what to do.
_NO_UNIT = (
    "NA: latent scores are in units of the mean of the spreads, and a spread has no"
    " finite estimate. Hold its variable at levels whose spreads have one, with at=, or"
    " use"
)


def _notes(
    averager: Averager, grid: ReferenceGrid, rows: Rows, weights: str
) -> tuple[str, ...]:
    """Notes on averaging."""
    averaged = [
        name
        for name, values in grid.values.items()
        if name not in grid.names and len(values) > 1
    ]
    held = [
        f"{name} = {shown_value(values[0])}"
        for name, values in grid.values.items()
        if name not in grid.names and len(values) == 1
    ]
    notes = [*averager.notes]
    if _unmeasured(averager, rows).any():
        notes.append(f"{_NO_UNIT} scale='log_odds'.")
    if averaged:
        notes.append(f"Averaged over {listing(averaged)}, weights: {weights}.")
    if held:
        notes.append(f"Held at {listing(held)}.")
    if averager.results.covariance != "model":
        notes.append(_error_note(averager))
    nested = {
        name: outer for name, outer in grid.nesting.items() if name in grid.values
    }
    if nested:
        pairs = [f"{name} in {listing(outer)}" for name, outer in nested.items()]
        notes.append(
            f"Nested: {'; '.join(pairs)}. Combinations without rows are left out."
        )
    # The term of a nested factor within the factors of the means is no interaction.
    across = {
        name for name in averaged if not set(nested.get(name, ())) & set(grid.names)
    }
    terms = averager.results.design.spec.variables().items()
    mixed = [
        term
        for term, variables in terms
        if variables & set(grid.names) and variables & across
    ]
    if mixed:
        notes.append(
            "NOTE: results may be misleading due to involvement in interactions"
            f" ({', '.join(mixed)})."
        )
    return tuple(notes)


# Joint tests


def joint_tests(
    r: LikelihoodResults,
    by: str | Sequence[str] | None = None,
    *,
    at: Mapping[str, Any] | None = None,
    data: Any = None,
    vcov: Any = None,
) -> NotedFrame:
    """Wald tests of every term: whether the latent means of `emmeans` differ at all."""
    check_available(r, "joint_tests()")
    averager = Averager(r, "latent", vcov)
    rows = population(r, None, None, data)
    groups = tuple(variable_names("by", by))
    for name in groups:
        rows.check(name)
    nesting = nesting_of(rows, location_terms(r))
    groups = with_outer(groups, nesting, ())
    free = [name for name in rows.variables if name not in groups]
    terms = [frozenset(term) for term in r.design.spec.variables().values()]
    sets = _tested_sets(free, terms, nesting)
    if not sets:
        raise OptionError(
            "joint_tests needs a variable of the formula that is not in by=."
        )
    given = mapping("at", at, AT)
    values = {**_around_means(rows, [*groups, *given]), **given}
    front = []
    tests = []
    without_unit = False
    for chosen in sets:
        specs = Specs(chosen, groups).with_outer(nesting)
        grid = grid_of(rows, specs, values, nesting)
        of_grid = averager.design(grid.frame)
        without_unit |= bool(_unmeasured(averager, of_grid).any())
        for key, test in _tests(averager, grid, of_grid, chosen, groups):
            front.append({"term": ":".join(chosen), **key})
            tests.append(test)
    if not front:
        raise OptionError(
            "joint_tests needs a variable that affects the location; the formula has"
            " none."
        )
    tested = joint_frame([str(row["term"]) for row in front], tests).reset_index(
        drop=True
    )
    table = pd.concat([pd.DataFrame(front), tested], axis="columns")
    numbers = {name: values[name] for name in values if name not in rows.categories}
    curves = _curves(averager.results, set().union(*sets), numbers)
    notes = _notes_on_joint_tests(averager.results, table, groups, curves, without_unit)
    return NotedFrame.of(table, notes)


def _notes_on_joint_tests(
    r: LikelihoodResults,
    table: pd.DataFrame,
    groups: Sequence[str],
    curves: Sequence[str],
    without_unit: bool,
) -> list[str]:
    """What was tested, with notes on curves, and why tests are missing."""
    inside = f" within {listing(groups)}" if groups else ""
    notes = [
        (
            f"Wald tests of all contrasts of latent means{inside}, {r.covariance}"
            " covariance."
        ),
        "Levels of other variables have equal weights.",
        *curves,
    ]
    if without_unit:
        notes.append(f"{_NO_UNIT} anova(type='III').")
    elif (table["df"] == 0).any():
        notes.append("NA: the data do not determine any of the contrasts.")
    if (table["df"] > r.own_covariance.most_hypotheses).any():
        notes.append(f"NA: {without_joint_test(r.own_covariance)}.")
    return notes


def _tested_sets(
    free: Sequence[str],
    terms: Sequence[frozenset[str]],
    nesting: Mapping[str, Sequence[str]],
) -> list[tuple[str, ...]]:
    """All sets of variables in a common term, small sets first.

    A factor is tested by itself, not with the factors that it is nested in.
    """
    sets = []
    for size in range(1, max(map(len, terms), default=0) + 1):
        for chosen in combinations(free, size):
            members = set(chosen)
            together = any(term >= members for term in terms)
            nested = any(members & set(nesting.get(name, ())) for name in chosen)
            if together and not nested:
                sets.append(chosen)
    return sets


def _around_means(rows: Population, settled: Sequence[str]) -> dict[str, list[float]]:
    """Two values of every other number: its mean minus and plus 1, within the range of
    the data.
    """
    around = {}
    for name in rows.variables:
        if name not in rows.categories and name not in settled:
            mean = rows.mean(name)
            values = rows.distinct(name)
            step = min(1.0, mean - values[0], values[-1] - mean)
            around[name] = [mean - step, mean + step]
    return around


def _curves(
    r: LikelihoodResults, names: set[str], values: Mapping[str, list[float]]
) -> list[str]:
    """A note on each number that enters by several columns, such as a spline, and is
    tested at few values.
    """
    design = r.design
    slices = [
        *design.terms.items(),
        *design.nominal_terms.items(),
        *design.scale_terms.items(),
    ]
    notes = []
    for name in sorted(names & set(values)):
        by_itself = [
            term
            for term, variables in design.spec.variables().items()
            if variables == {name}
        ]
        columns = {
            term: where.stop - where.start
            for term, where in slices
            if term in by_itself
        }
        if sum(columns.values()) < len(values[name]):
            continue
        tests = " and ".join(f"test({term!r})" for term in columns)
        shown = listing([shown_value(float(value)) for value in values[name]])
        notes.append(
            f"NOTE: {name} is compared at {shown} alone, which does not test its whole"
            f" curve. Use {tests}, or at={{{name!r}: [...]}} with more values."
        )
    return notes


def _tests(
    averager: Averager,
    grid: ReferenceGrid,
    rows: Rows,
    term: tuple[str, ...],
    by: tuple[str, ...],
) -> Iterator[tuple[dict[str, Any], Joint]]:
    """The test of all differences (of differences) of the means of a term, at each
    combination of the values of `by`.

    A term that only affects the scale has no test.
    """
    unmeasured = _unmeasured(averager, rows)
    rows = _in_unit(averager, rows)
    of_cells = cell_weights(grid, "equal")
    size = of_cells.shape[1]
    for key, members in groups_of(grid.cells, by):
        differences = _differences(grid.cells.iloc[members], term, by)
        if not len(differences):
            continue
        weights = (differences[:, :, None] * of_cells[members]).reshape(
            len(differences), -1
        )
        places = np.concatenate([np.arange(k * size, (k + 1) * size) for k in members])
        cells = rows.take(places)
        jacobian = _contrasts(averager, cells, weights).jacobian[:, 0]
        largest = np.abs(averager.over(cells, None).jacobian[:, 0]).max(axis=0)
        shares = jacobian / np.where(largest > 0.0, largest, 1.0)
        if np.abs(shares).max() > CANCELLED:
            yield key, _test(averager, cells, weights, unmeasured[places])


def _differences(
    cells: pd.DataFrame, term: tuple[str, ...], by: tuple[str, ...]
) -> FloatArray:
    """(h, C) differences (of differences) of the means of a term, within the factors
    that it is nested in.
    """
    outer = [name for name in cells.columns if name not in (*term, *by)]
    blocks = []
    for _, members in groups_of(cells, outer):
        levels = [cells[name].iloc[members].nunique() for name in term]
        steps = [np.diff(np.eye(number), axis=0) for number in levels]
        block = np.zeros((math.prod(number - 1 for number in levels), len(cells)))
        block[:, members] = reduce(lambda a, b: np.asarray(np.kron(a, b)), steps)
        blocks.append(block)
    return np.vstack(blocks)


def _contrasts(averager: Averager, rows: Rows, weights: FloatArray) -> Average:
    """(h, 1) sums over rows of the latent variable by weights (h, n)."""
    parts = [
        averager.predicted.averages(averager.quantity, rows, row) for row in weights
    ]
    values, jacobian = (np.array(part) for part in zip(*parts, strict=True))
    return Average(values, jacobian, np.ones(values.shape, dtype=np.bool_))


def _test(
    averager: Averager, rows: Rows, weights: FloatArray, unmeasured: BoolArray
) -> Joint:
    """Wald test of the combinations of contrasts (h, n) that aliased columns, and rows
    without a finite unit (n,), leave determined.
    """
    r = averager.results
    undetermined = weights[:, unmeasured]
    if r.aliasing is not None:
        gaps = r.aliasing.gaps(averager.predicted.rule, rows, weights)
        undetermined = np.hstack([undetermined, gaps])
    if undetermined.any():
        left, sizes, _ = np.linalg.svd(undetermined)
        weights = left[:, int((sizes > _RANK * sizes[0]).sum()) :].T @ weights
    if not len(weights):
        return Joint(np.nan, 0)
    contrasts = _contrasts(averager, rows, weights)
    jacobian = averager.without_rounding(contrasts.jacobian[:, 0])
    return joint_test(r, by_estimated(r, jacobian), contrasts.values[:, 0])
