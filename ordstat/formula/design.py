"""From a formula and a frame to a Design: a sample with its names, and the arguments
that made it.

`make` goes through four values: the RecipeValues that the recipe reads, the UsedRows
among them, the model matrices of these rows, and notes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import repeat, zip_longest
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, cast

import numpy as np
import pandas as pd

from .._typing import AnyArray, FloatArray, IntArray
from ..checks import did_you_mean, mapping, one_of, shown_labels, suggest
from ..exceptions import DataError, FormulaError, OptionError
from . import inputs
from .coding import (
    MOST_CATEGORIES,
    Coding,
    Contrasts,
    ModelMatrix,
    contrast,
    fit_coding,
)
from .columns import Column, Columns, Factor, Value, matched
from .doubtful import column_notes
from .factors import Transform, contrast_of
from .level_effects import stepped_columns
from .names import in_own_names, printed_names
from .parse import parse_expression
from .random_rows import RandomColumns, RandomRows
from .random_terms import RandomTerm, fit_random_terms
from .reading import RecipeValues, read_values
from .recipe import Recipe
from .sample import Rows, Sample
from .smooths import SmoothTerm, smooth_terms
from .spec import ROLES, FormulaSpec
from .used import UsedRows, unused_note, used_rows

if TYPE_CHECKING:
    from .spans import Spans
    from .survey import Survey

#: Sums of squares below this have lost digits.
_LEAST = 1e-290
_SIGNS = {"+": 1, "-": -1}
_CONSTRAINTS = "constraints must have the form {'x1': '+', 'x2': '-'}"


@dataclass(frozen=True, eq=False, kw_only=True)
class Levels:
    """The ordered levels of a response, in the user's labels.

    Attributes
    ----------
    values : tuple
        K labels, lowest first.
    unused : tuple
        Categories without rows (of positive weight) that `levels=` does not name; they
        are not among `values`.
    open_ends : (bool, bool) or None
        Whether the lowest level holds all answers below the exact ones, and the highest
        all above, as for censored answers. None in fits saved by older versions, whose
        mean was that of the ranks.
    """

    values: tuple[Any, ...]
    unused: tuple[Any, ...] = ()
    open_ends: tuple[bool, bool] | None = None

    @cached_property
    def numbers(self) -> FloatArray | None:
        """(K,) the labels if all are numbers, in rising order; a level with an open end
        has the number next to it. None for other labels, also for text such as "1".

        Examples
        --------
        >>> Levels(values=(0, 2, 5)).numbers
        array([0., 2., 5.])
        >>> Levels(values=("1", "2")).numbers is None
        True
        """
        below, above = self.open_ends or (False, False)
        inner = self.values[int(below) : len(self.values) - int(above)]
        for label in inner:
            if not isinstance(label, Real) or isinstance(label, (bool, np.bool_)):
                return None
        numbers = np.array(inner, dtype=np.float64)
        if not np.isfinite(numbers).all() or (np.diff(numbers) <= 0.0).any():
            return None
        return np.pad(numbers, (int(below), int(above)), mode="edge")

    def categorical(
        self, codes: IntArray, index: pd.Index, name: str | None = None
    ) -> pd.Series:
        """Ordered categorical series of codes 0..K-1; a code of -1 becomes NaN."""
        dtype = pd.CategoricalDtype(list(self.values), ordered=True)
        return pd.Series(
            pd.Categorical.from_codes(codes, dtype=dtype), index=index, name=name
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Design:
    """A sample with its names.

    Attributes
    ----------
    sample : Sample
    names : tuple of str
        Location columns.
    nominal_names, scale_names : tuple of str
    terms, nominal_terms, scale_terms : mapping of str to slice
        Columns of X, and of the nominal and scale columns, that belong to each term of
        their formula.
    categorical : tuple of str
        Location terms that consist of factors only.
    random : tuple of RandomTerm
        Names of the random terms and their groups.
    smooths : tuple of SmoothTerm
        Names of the smooths, in the order of `sample.smooths`.
    levels : Levels
    response : str
        Label of the response.
    formula : str
    index : pandas.Index
        Index of the rows used, in order.
    n_given : int
        Number of rows of the data before any were left out.
    dropped : mapping of str to int
        Rows left out for a missing value, by variable (a row may count under several),
        and under "(weight 0)" for rows of zero weight.
    survey : Survey or None
        The survey design; weights of the sample are then sampling weights with mean 1.
    notes : tuple of str
        Notes on rows left out and other changes, for warnings and the summary.
    spec : FormulaSpec
    data : frame that the design was made from, or None
        A reference, neither copied nor pickled.
    recipe : Recipe
        Arguments of `ordfit`.
    """

    sample: Sample
    names: tuple[str, ...]
    levels: Levels
    response: str
    formula: str
    index: pd.Index
    n_given: int
    spec: FormulaSpec
    recipe: Recipe = field(repr=False)
    nominal_names: tuple[str, ...] = ()
    scale_names: tuple[str, ...] = ()
    terms: Mapping[str, slice] = field(default_factory=dict)
    categorical: tuple[str, ...] = ()
    nominal_terms: Mapping[str, slice] = field(default_factory=dict)
    scale_terms: Mapping[str, slice] = field(default_factory=dict)
    random: tuple[RandomTerm, ...] = ()
    smooths: tuple[SmoothTerm, ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)
    survey: Survey | None = field(default=None, repr=False)
    notes: tuple[str, ...] = ()
    data: Any = field(default=None, repr=False)

    #: The rows in blocks, where the sample holds some of them.
    blocks: ClassVar[Any] = None

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the data."""
        return {**self.__dict__, "data": None}

    def updated(self, data: Any = None, **changes: Any) -> Design:
        """The design of a changed formula, or of other arguments of `ordfit` that make
        a design.

        Parameters
        ----------
        data : data frame, optional
            By default the data of the fit; they must not have changed.
        **changes
            `formula`, `nominal`, `scale` (a dot stands for the old one), `weights`,
            `cluster`, ...; None for the default.

        Raises
        ------
        DataError
            The data are not available, or have changed.
        """
        recipe = self.recipe.updated(changes)
        if data is not None:
            return make(recipe, data)
        self._check_data()
        return make(recipe, self.data)

    def coded(self, as_categories: bool, by_level: bool) -> Design:
        """The design with factors as codes or as contrasts, and with terms as effects
        on the score or on each level.
        """
        changes: dict[str, bool] = {}
        if self.recipe.as_categories != as_categories and self.spec.categories():
            changes["as_categories"] = as_categories
        if self.recipe.by_level != by_level:
            changes["by_level"] = by_level
        return self.updated(**changes) if changes else self

    def column(self, name: str, role: str) -> Column:
        """A column of the data, or arithmetic over columns, at the rows used.

        Raises
        ------
        DataError
            The data are not available, or have changed; there is no such column.
        """
        self._check_data()
        given = read_values(self.recipe, self.data)
        column = inputs.vector(name, role, given.columns, None, given.index)
        used = _used_rows(self.recipe, given)
        missing = used.of(column.missing)
        if missing is not None and not missing.any():
            missing = None
        return Column(used.of(column.value), missing)

    def spans(self) -> Spans:
        """The answers of the rows used as they were given, if some are censored.

        Raises
        ------
        DataError
            The data are not available, or have changed.
        """
        self._check_data()
        given = read_values(self.recipe, self.data)
        spans = cast("Spans", given.response.spans)
        used = _used_rows(self.recipe, given)
        return spans if used.mask is None else spans.take(used.mask)

    def beside(self, data: Any) -> Design:
        """The design with a reference to these data; DataError if they are not the data
        of the fit.
        """
        if not isinstance(self.recipe, Recipe):  # a forged file may contain anything
            raise DataError(
                "A design must be made from a Recipe; got"
                f" {type(self.recipe).__name__}."
            )
        if changed := self._changed(data):
            raise DataError(
                "data= must be the data of the fit, all rows in their order; they"
                f" differ: {changed}."
            )
        return replace(self, data=data)

    def _check_data(self) -> None:
        """DataError unless the data of the fit are available and unchanged."""
        if self.data is None:
            raise DataError(
                "The data of the fit are missing. Pass data= here or to load(path,"
                " data=...)."
            )
        if changed := self._changed(self.data):
            raise DataError(
                f"The data have changed since the fit ({changed}): fit again, or pass"
                " data=."
            )

    def _changed(self, data: Any) -> str:
        """Description of the first difference to the design of some data; empty if
        there is none.
        """
        rebuilt = make(self.recipe, data)
        if self.levels.values != rebuilt.levels.values:
            return "the levels of the response"
        if self.sample.n != rebuilt.sample.n:
            return f"{self.sample.n} rows were used, now there are {rebuilt.sample.n}"
        if renamed := _renamed(self.spec, rebuilt.spec):
            return f"the levels of {renamed}"
        if self.spec.states != rebuilt.spec.states:
            return "the columns of the formula"
        pairs = zip_longest(
            _arrays((self.sample, self.survey)),
            _arrays((rebuilt.sample, rebuilt.survey)),
            fillvalue=("", np.empty(0)),
        )
        for (name, old), (other, new) in pairs:
            if old is not new and (
                name != other or not np.array_equal(old, new, equal_nan=True)
            ):
                return f"the {_ARRAY_NAMES.get(name, name)}"
        return ""


def _renamed(old: FormulaSpec, new: FormulaSpec) -> str:
    """The factor or grouping whose levels are others; empty if there is none."""
    for key, coding in old.codings.items():
        if new.codings[key].levels != coding.levels:
            return repr(coding.label)
    for term, other in zip(old.random, new.random, strict=True):
        if term.levels != other.levels:
            return repr(term.group)
    return ""


def _arrays(value: Any, name: str = "") -> Iterator[tuple[str, AnyArray]]:
    """The arrays of a sample or of a survey with the names of their fields."""
    from .survey import Linearised, Replicates

    records = (Sample, Rows, RandomRows, RandomColumns, Linearised, Replicates)
    parts: Iterable[tuple[str, Any]]
    if isinstance(value, np.ndarray):
        yield name, value
        return
    if isinstance(value, tuple):
        parts = zip(repeat(name), value)
    else:
        parts = [(item.name, getattr(value, item.name)) for item in fields(value)]
    for key, part in parts:
        if isinstance(part, (np.ndarray, tuple, *records)):
            yield from _arrays(part, key)


#: Descriptions of arrays of a sample or a survey; the others are called by their field.
_ARRAY_NAMES = {
    "X": "columns of the formula",
    "y": "response",
    "z": "groups",
    "codes": "groups",
    "root": "groups",
    "psu": "primary sampling units",
    "stratum": "strata",
    "fraction": "finite population corrections",
}


def build(formula: str, data: Any, **arguments: Any) -> Design:
    """Make a sample from a formula and a frame, with its names and the spec to rebuild
    it.

    Parameters
    ----------
    formula : str
    data : pandas or polars DataFrame, pyarrow Table or mapping of columns
        Never changed.
    **arguments
        Fields of `Recipe`.

    Returns
    -------
    Design

    Raises
    ------
    FormulaError, DataError, OptionError

    Notes
    -----
    Text columns and unordered categoricals are factors (text in sorted order of its
    code points); levels without rows are left out, as R's clm does. Booleans are
    factors with levels False, True. Splines, polynomials, scale() and center() are
    fitted to the rows that are used, with their weights: as if each row were repeated
    by its weight.

    Examples
    --------
    >>> import pandas as pd
    >>> from ordstat.formula.design import build
    >>> x = [0.1, 0.5, 0.9, 0.4, None]
    >>> data = pd.DataFrame({"y": [1, 2, 3, 2, 1], "x": x, "f": list("aabbb")})
    >>> design = build("y ~ x + f", data)
    >>> design.names, design.levels.values, dict(design.dropped)
    (('x', 'f[T.b]'), (1, 2, 3), {'x': 1})
    >>> design.spec.rebuild(data).complete
    array([ True,  True,  True,  True, False])
    """
    return make(Recipe(formula, **arguments), data)


def make(
    recipe: Recipe,
    data: Any,
    one_level: bool = False,
    states: Mapping[str, Transform] | None = None,
) -> Design:
    """The design of a recipe and some data, with `one_level` also if all rows have one
    level of the response.

    `states` are transforms that were fitted to other rows, by their calls.
    """
    one_of("na_action", recipe.na_action, ("omit", "raise", "keep"))
    given = read_values(recipe, data)
    used = _used_rows(recipe, given, one_level)
    weights, cluster, survey = _weighting(given, used)
    spec, values, coding_notes = _fit_spec(recipe, given, used, weights, states)
    matrices = _matrices(recipe, given, used, spec, values)
    if matrices.random:
        spec = replace(spec, random=matrices.random)
    location, nominal, scale = matrices.sides
    categorical = _categorical(spec)
    smooths, penalties = smooth_terms(spec, location, nominal.matrix)
    notes = (
        *used.notes,
        *_formula_notes(given, spec),
        *coding_notes,
        *matrices.notes,
        *_fixed_group_notes(spec, categorical),
    )
    design = Design(
        sample=Sample(
            rows=matrices.rows,
            y=used.y,
            highest=used.highest,
            n_levels=len(used.levels),
            weights=weights,
            costs=_costs(given, used),
            cluster=cluster,
            categories=location.categories,
            smooths=penalties,
            stepped=stepped_columns(spec, location.terms),
        ),
        names=spec.names["location"],
        nominal_names=spec.names["nominal"],
        scale_names=spec.names["scale"],
        terms=location.terms,
        nominal_terms=nominal.terms,
        scale_terms=scale.terms,
        categorical=categorical,
        random=matrices.random,
        smooths=smooths,
        levels=Levels(values=used.levels, unused=used.unused, open_ends=used.open_ends),
        response=given.response.name,
        formula=recipe.formula,
        index=used.of(given.index),
        n_given=len(given.index),
        dropped=used.dropped,
        survey=survey,
        notes=notes,
        spec=spec,
        data=data,
        recipe=recipe,
    )
    return constrained(design, recipe.constraints)


def _used_rows(
    recipe: Recipe, given: RecipeValues, one_level: bool = False
) -> UsedRows:
    # levels="all" names no labels
    keep_levels = recipe.levels is not None and not isinstance(recipe.levels, str)
    return used_rows(given, recipe.na_action, keep_levels, one_level)


def _weighting(
    given: RecipeValues, used: UsedRows
) -> tuple[FloatArray | None, IntArray | None, Survey | None]:
    """Weights, codes of clusters, and the survey design of the rows used."""
    weights = used.of(given.weights)
    if given.survey is not None:
        survey = given.survey.take(slice(None) if used.mask is None else used.mask)
        survey.check()
        survey.check_levels(used.y, used.levels)
        # only the ratios of sampling weights matter
        return np.asarray(weights / weights.mean()), survey.cluster, survey
    if given.cluster is None:
        return weights, None, None
    return weights, inputs.clusters_of(used.of(given.cluster)), None


def _fit_spec(
    recipe: Recipe,
    given: RecipeValues,
    used: UsedRows,
    weights: FloatArray | None,
    states: Mapping[str, Transform] | None,
) -> tuple[FormulaSpec, dict[str, Value], list[str]]:
    """The spec with transforms and codings fitted to the rows used, its values there,
    and notes on levels.
    """
    spec = given.spec
    fitted = dict(states or {})
    values = {key: used.of(value) for key, value in given.values.items()}
    columns = given.columns.among(used.mask)
    values |= spec.evaluate_learned(spec.expressions, columns, fitted, weights)
    contrasts = _contrasts(recipe.contrasts, given)
    codings = dict[str, Coding]()
    notes = list[str]()
    for key, factor in spec.factors.items():
        coding, unused = fit_coding(
            factor, values[key], contrasts.get(key), recipe.as_categories
        )
        codings[key] = coding
        notes += unused_note(unused, factor.label)
        notes += _rare_note(coding, values[key], factor.label)
    predictors = _predictors(given)
    fitted_spec = replace(
        spec,
        codings=codings,
        states=fitted,
        levels=used.levels,
        columns=predictors,
        declared=given.columns.declared(predictors),
        ranges=_ranges(given, columns, codings),
    )
    return fitted_spec, values, notes


def _predictors(given: RecipeValues) -> tuple[str, ...]:
    """Columns that new data need; they may lack those that only define groups."""
    expressions = given.spec.factors | given.spec.offsets
    needed = frozenset().union(*[each.names for each in expressions.values()])
    return tuple([name for name in given.names if name in needed])


def _ranges(
    given: RecipeValues, columns: Columns, codings: Mapping[str, Coding]
) -> dict[str, tuple[float, float]]:
    """Ranges of the numbers among the columns of terms, at the rows used; factors have
    codings of levels.
    """
    terms = [
        factor.names
        for key, factor in given.spec.factors.items()
        if not codings[key].levels
    ]
    needed = frozenset[str]().union(*terms)
    ranges = {name: columns.range(name) for name in given.names if name in needed}
    return {name: ends for name, ends in ranges.items() if ends is not None}


class Matrices(NamedTuple):
    """The matrices of the rows used.

    Attributes
    ----------
    rows : Rows
    sides : list of ModelMatrix
        Location, nominal, scale.
    random : tuple of RandomTerm
    notes : list of str
        Notes on empty columns and on groups.
    """

    rows: Rows
    sides: list[ModelMatrix]
    random: tuple[RandomTerm, ...]
    notes: list[str]


def _matrices(
    recipe: Recipe,
    given: RecipeValues,
    used: UsedRows,
    spec: FormulaSpec,
    values: Mapping[str, Value],
) -> Matrices:
    n = used.y.size
    rows, sides = spec.matrices(values, n)
    notes = _column_notes(sides, spec)
    random, random_rows, random_notes = fit_random_terms(
        spec.location.random, values, spec.codings, n, recipe.cov
    )
    offset = _sum(rows.offset, used.of(given.offset))
    rows = replace(rows, offset=offset, random=random_rows)
    return Matrices(rows, sides, random, notes + random_notes)


def _categorical(spec: FormulaSpec) -> tuple[str, ...]:
    """Location terms that consist of factors only."""
    numeric = {key for key, coding in spec.codings.items() if not coding.levels}
    terms = spec.location.terms
    return tuple([term.label for term in terms if numeric.isdisjoint(term.keys)])


def _sum(first: FloatArray | None, second: FloatArray | None) -> FloatArray | None:
    """The sum of two offsets, each of which may be None."""
    if first is None or second is None:
        return second if first is None else first
    return first + second


def _costs(given: RecipeValues, used: UsedRows) -> FloatArray | None:
    if given.costs is None:
        return None
    costs = inputs.check_costs(given.costs, given.response, used.places, given.index)
    rows: FloatArray = used.of(costs)
    return rows


def _formula_notes(given: RecipeValues, spec: FormulaSpec) -> list[str]:
    """Notes on the formulas, and on doubtful values of their columns."""
    notes = list[str]()
    if not all(side.intercept for side in spec.sides):
        notes.append(
            "A formula removes the intercept; this has no effect, as the thresholds are"
            " the intercepts."
        )
    notes += [side.note for side in spec.sides if side.note]
    return notes + column_notes(given.columns, spec.columns)


def _rare_note(coding: Coding, value: Value, label: str) -> list[str]:
    """A note on categories that are too many for a column of codes."""
    if not coding.whole or coding.ordered or len(coding.levels) < MOST_CATEGORIES:
        return []
    codes, _ = matched(cast(Factor, value), coding.levels)
    rare = int((codes == -2).sum())
    if not rare:
        return []
    return [
        f"{label!r} has more than {MOST_CATEGORIES} categories: the rarer ones count as"
        f" missing values ({rare} rows)."
    ]


def _column_notes(sides: Sequence[ModelMatrix], spec: FormulaSpec) -> list[str]:
    """A note on location columns without a value; DataError for columns whose squares
    overflow or vanish.
    """
    for side, role in zip(sides, ROLES, strict=True):
        _check_squares(side, spec, role)
    location = sides[0]
    empty = [
        spec.names["location"][j]
        for j in np.flatnonzero(np.isnan(location.squares))
        if np.isnan(location.matrix[:, j]).all()
    ]
    if not empty:
        return []
    return [f"Columns without a value in the rows used: {shown_labels(empty)}."]


def _fixed_group_notes(spec: FormulaSpec, categorical: Collection[str]) -> list[str]:
    """Notes on groups that have both fixed effects and a random intercept."""
    return [
        f"{term.text} comes with fixed effects of {term.group.label}, which leave"
        " its intercept no variance: take one of them out."
        for term in spec.location.random
        if term.columns.intercept and term.group.label in categorical
    ]


def _contrasts(contrasts: Any, given: RecipeValues) -> dict[str, Contrasts]:
    """contrasts= by factor key."""
    if contrasts is None:
        return {}
    spec = given.spec
    labels = [factor.label for factor in spec.factors.values()]
    keys = {factor.label: key for key, factor in spec.factors.items()}
    keys |= {key: key for key in spec.factors}
    columns = given.columns.frame.columns
    coded = {}
    for name, kind in mapping("contrasts", contrasts, "{'x': 'sum'}").items():
        is_call = isinstance(kind, str) and "(" in kind
        coding = contrast_of(parse_expression(kind).tree) if is_call else contrast(kind)
        if name in keys:
            coded[keys[name]] = coding
            continue
        # contrasts of columns outside the formula are kept for updates
        elsewhere = isinstance(name, str) and ("(" in name or name in columns)
        if elsewhere and name not in given.names:
            continue
        made = [each.label for each in spec.factors.values() if name in each.names]
        near = f"write {made[0]!r}." if made else suggest(name, [*labels, *columns])
        raise FormulaError(
            f"contrasts= names {name!r}, which is not a factor of the model"
            f" ({shown_labels(labels)}); {near}"
        )
    return coded


def _check_squares(side: ModelMatrix, spec: FormulaSpec, role: str) -> None:
    """DataError for a column with squares that overflow or vanish, by name."""
    fine = (side.squares > _LEAST) & (side.squares < np.inf)
    if fine.all():
        return
    for j in np.flatnonzero(~fine):
        # missing values turn the sum into NaN
        column = np.nan_to_num(side.matrix[:, j])
        with np.errstate(over="ignore", under="ignore"):
            square = np.sum(column**2)
        if column.any() and not _LEAST < square < np.inf:
            name = spec.names[role][j]
            raise DataError(
                f"Column {name!r} has values up to {np.abs(column).max():g}."
                " Rescale it, so that its squares neither overflow nor vanish."
            )


def constrained(design: Design, constraints: Any) -> Design:
    """The design with sign constraints on some columns.

    Parameters
    ----------
    design : Design
    constraints : mapping of column to "+" or "-", or None
        Columns by their names in the design, such as "g[T.b]".

    Raises
    ------
    OptionError
        A constraint is not a sign, or a column is unknown or has categories without
        order.
    """
    if constraints is None:
        return design
    if not isinstance(constraints, Mapping):
        raise OptionError(f"{_CONSTRAINTS}; got {constraints!r}.")
    signs = np.zeros(len(design.names), dtype=np.int8)
    shown = printed_names(design.spec.shown({}))
    for given, sign in constraints.items():
        column = in_own_names(str(given), shown)
        if column not in design.names or str(sign) not in _SIGNS:
            near = did_you_mean(column, design.names)
            raise OptionError(
                f"{_CONSTRAINTS}; got {given!r}: {sign!r}. The columns are"
                f" {', '.join(design.names)}.{near}"
            )
        if signs[design.names.index(column)]:
            raise OptionError(f"constraints must name {column!r} once; got it twice.")
        signs[design.names.index(column)] = _SIGNS[sign]
    if not signs.any():
        return design
    categories = design.sample.categories
    if categories is not None and np.any(categories[signs != 0]):
        name = design.names[int(np.argmax(categories * (signs != 0)))]
        raise OptionError(
            f"constraints must be on ordered columns. Make {name!r} an ordered"
            " categorical."
        )
    return replace(design, sample=replace(design.sample, signs=signs))
