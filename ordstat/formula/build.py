"""From a formula and a frame, or from arrays, to a Design."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import or_
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from .._typing import BoolArray, FloatArray, IntArray
from ..checks import flag, mapping, one_of
from ..exceptions import DataError, FormulaError, OptionError
from .coding import Assembled, Coding, FactorCoding, Marginality, column_categories, fit_coding, independent
from .columns import Column, Columns, Factor, Value, doubtful_columns, factor_of, read, recode, take
from .contrasts import Contrast, contrast
from .design import Context, Design, FormulaSpec, Levels, NewRows, Parts, Recipe, evaluate, matrices
from .factors import Interpreter, column_expression, contrast_of, parse_expression
from .frames import as_frame, find_column, has_column, refuse, row_name, shown_labels, suggest
from .inputs import (
    Given,
    check_costs,
    cluster_codes,
    cost_columns,
    cost_matrix,
    is_expression,
    numbers,
    subset_mask,
    values_of,
    vector,
    weights_of,
)
from .parse import Part, ResponseName, parse_formula, parse_one_sided, power_notes, uses_dot
from .random_terms import fit_random_terms
from .response import Response, check_levels, known_codes, read_response, used_levels
from .sample import Rows, Sample
from .survey import Survey, survey_of

ZERO_WEIGHT = "(weight 0)"


@dataclass(frozen=True, eq=False, kw_only=True)
class Kept:
    """The complete rows of positive weight among those of the subset, and what a design has beside its columns.

    Attributes
    ----------
    index : pandas.Index
        Of all rows of the subset, as are the response, the clusters and the costs.
    response : Response
    rows : (N,) mask or None
        The rows kept; None keeps all.
    used : codes of the levels that have rows
    weights : (N,) or None
    dropped : mapping of reason to number of rows
    notes : tuple of str
    """

    index: pd.Index
    response: Response
    rows: BoolArray | None
    used: IntArray
    weights: FloatArray | None
    dropped: dict[str, int]
    notes: tuple[str, ...]
    cluster: Given | None = None
    costs: FloatArray | None = None
    survey: Survey | None = None

    @property
    def n(self) -> int:
        """The number of rows kept."""
        return len(self.index) if self.rows is None else int(self.rows.sum())

    def take(self, value: Any) -> Any:
        """What stays of a value of all rows."""
        return value if self.rows is None or value is None else take(value, self.rows)

    def design(
        self,
        rows: Rows,
        before: tuple[str, ...] = (),
        after: tuple[str, ...] = (),
        categories: IntArray | None = None,
        **described: Any,
    ) -> Design:
        """The design of model matrices of these rows, with notes before and after those on the rows left out."""
        response, used, survey, costs = self.response, self.used, self.survey, self.costs
        if survey is not None:
            survey = survey if self.rows is None else survey.take(self.rows)
            survey.check()
        if costs is not None:
            costs = check_costs(costs, len(response.declared), used, self.index)
        if survey is not None:
            cluster = survey.cluster
        else:
            cluster = None if self.cluster is None else cluster_codes(self.take(self.cluster.column.value))
        sample = Sample(
            rows=rows,
            y=_places(used)[self.take(response.codes)],
            n_levels=used.size,
            weights=self.take(self.weights) if survey is None else _shares(self.take(self.weights)),
            costs=self.take(costs),
            cluster=cluster,
            categories=categories,
        )
        return Design(
            sample=sample,
            levels=self.levels,
            response=response.name,
            index=self.take(self.index),
            n_given=len(self.index),
            dropped=self.dropped,
            survey=survey,
            notes=(
                *before,
                *self.notes,
                *response.notes,
                *unused_note(self.levels.unused, "the response"),
                *after,
            ),
            **described,
        )

    @property
    def levels(self) -> Levels:
        """The declared labels, those with rows and those without."""
        declared = self.response.declared
        unused = sorted(set(range(len(declared))) - set(self.used.tolist()))
        return Levels(
            values=tuple(declared[code] for code in self.used), unused=tuple(declared[code] for code in unused)
        )


def kept_rows(
    index: pd.Index,
    response: Response,
    of_columns: Mapping[str, BoolArray],
    *,
    weights: Given | None = None,
    offset: Given | None = None,
    cluster: Given | None = None,
    costs: FloatArray | None = None,
    survey: Survey | None = None,
    na_action: str = "omit",
) -> Kept:
    """Complete rows of positive weight; with "raise", DataError where a value is missing."""
    case_weights = None if weights is None else weights_of(weights, index)
    masks: dict[str, BoolArray] = {response.name: np.asarray(response.codes < 0), **of_columns}
    for given in (weights, offset, cluster):
        if given is not None and given.column.missing is not None:
            masks[" + ".join(given.names)] = given.column.missing
    if costs is not None:
        masks["costs"] = np.asarray(np.isnan(costs).any(axis=1))
    missing = {name: mask for name, mask in masks.items() if mask.any()}
    notes = () if not missing else (_missing_note(missing, index, na_action),)
    if case_weights is not None and (zero := case_weights == 0).any():
        missing[ZERO_WEIGHT] = zero
    rows = ~reduce(or_, missing.values()) if missing else None
    if not len(index) or (rows is not None and not rows.any()):
        said = {"weights= of 0" if name == ZERO_WEIGHT else name: mask for name, mask in missing.items()}
        why = f"; left out for {_counts(said)}" if said else ""
        raise DataError(f"No row of the {len(index)} given can be used{why}.")
    return Kept(
        index=index,
        response=response,
        rows=rows,
        used=used_levels(response.codes if rows is None else response.codes[rows], response.declared, response.name),
        weights=case_weights,
        dropped={name: int(mask.sum()) for name, mask in missing.items()},
        notes=notes,
        cluster=cluster,
        costs=costs,
        survey=survey,
    )


def _missing_note(missing: Mapping[str, BoolArray], index: pd.Index, na_action: str) -> str:
    """What is missing; DataError if it must not be."""
    gone = reduce(or_, missing.values())
    count = f"{int(gone.sum())} of {len(index)} rows"
    if na_action == "raise":
        first = ", ".join(row_name(index, int(position)) for position in np.flatnonzero(gone)[:5])
        raise DataError(
            f"{count} have missing values: {_counts(missing)}; first {first}. "
            "Fill or drop them, or use na_action='omit'."
        )
    return f"{count} left out for missing values: {_counts(missing)}."


def _counts(masks: Mapping[str, BoolArray]) -> str:
    return ", ".join(f"{name} ({int(mask.sum())})" for name, mask in masks.items())


def _shares(weights: FloatArray) -> FloatArray:
    """Sampling weights of mean 1: their scale says nothing, and the rows are as many as they are."""
    return np.asarray(weights / weights.mean())


def _places(used: IntArray) -> IntArray:
    """Place of each code among the sorted codes in use."""
    places = np.zeros(int(used[-1]) + 1, dtype=np.intp)
    places[used] = np.arange(used.size)
    return places


def unused_note(labels: tuple[Any, ...], of: str) -> tuple[str, ...]:
    """A note on levels without rows."""
    return (f"Levels of {of} without rows were left out: {shown_labels(labels)}.",) if labels else ()


def not_numeric(X: Any) -> dict[str, Any]:
    """The columns of a frame that are not numeric, with their types; none of what is no frame."""
    try:
        frame = nw.from_native(X, eager_only=True, pass_through=True)
        schema = frame.schema if isinstance(frame, nw.DataFrame) else {}
    except nw.exceptions.DuplicateError:
        counts = Counter(map(str, X.columns))
        twice = ", ".join(f"{name!r} {n} times" for name, n in counts.items() if n > 1)
        raise DataError(f"The columns of X must have different names; got {twice}. Rename them.") from None
    return {name: dtype for name, dtype in schema.items() if not _is_numeric(dtype, X, name)}


def refuse_text(X: Any) -> None:
    """DataError naming the columns of a frame that are not numeric: codes of categories are no numbers."""
    kinds = not_numeric(X)
    if kinds:
        shown = ", ".join(f"{name!r} ({dtype})" for name, dtype in kinds.items())
        raise DataError(
            f"X has columns that are not numeric: {shown}. Encode them (such as OneHotEncoder in a Pipeline), or use "
            "ordfit with a formula, or method='ordboost', which take categories."
        )


def _is_numeric(dtype: Any, X: Any, name: Any) -> bool:
    if not isinstance(dtype, (nw.Object, nw.Unknown)):
        return bool(dtype.is_numeric()) or isinstance(dtype, nw.Boolean)
    try:
        np.asarray(X[name], dtype=np.float64)
    except (ValueError, TypeError):
        return False
    return True


@dataclass(frozen=True)
class Encoding:
    """Columns of categories with their levels; text sorts its levels, ordered ones become numbers.

    Attributes
    ----------
    factors : mapping of column to Factor
        Without rows.
    """

    factors: Mapping[Any, Factor]

    @classmethod
    def of(cls, X: Any) -> Encoding:
        """That of a frame; of what is no frame, or has numbers alone, it changes nothing."""
        names = not_numeric(X)
        frame: Any = as_frame(X) if names else {}
        return cls({name: factor_of(read(frame[name]).value, str(name)).bare() for name in names})

    def __call__(self, X: Any) -> Any:
        """The frame with codes, NaN where missing; DataError names levels that are not known."""
        if not self.factors:
            refuse_text(X)
            return X
        frame = as_frame(X)
        codes = {name: recode(read(frame[name]).value, f.levels, str(name)) for name, f in self.factors.items()}
        return frame.assign(**{name: np.where(code < 0, np.nan, code) for name, code in codes.items()})

    def counts(self, names: Any) -> IntArray | None:
        """(D,) numbers of categories without an order, 0 of other columns; None where there are none."""
        unordered = {
            str(name): len(f.levels) for name, f in self.factors.items() if not f.ordered and len(f.levels) > 2
        }
        return np.array([unordered.get(name, 0) for name in names], dtype=np.intp) if unordered else None


@dataclass(frozen=True, eq=False, kw_only=True)
class ArraySpec:
    """Takes the same columns from new arrays or frames [Spec].

    Attributes
    ----------
    columns : tuple or None
        Labels by which columns of a frame are found; None matches by position.
    response_name : str
    levels : tuple
    names : tuple of str
        What the columns are called.
    gaps : bool
        Whether rows with a NaN are complete.
    encoding : Encoding
        Of the columns that are categories.
    """

    columns: tuple[Any, ...] | None
    response_name: str
    levels: tuple[Any, ...]
    names: tuple[str, ...]
    gaps: bool = False
    encoding: Encoding = field(default_factory=lambda: Encoding({}))

    def marginality(self) -> Marginality:
        """Every column is a term of its own."""
        return independent(self.names)

    def variables(self) -> dict[str, frozenset[str]]:
        """Every column is a term of its own."""
        return {name: frozenset([name]) for name in self.names}

    def linear_in(self, name: str) -> bool:
        """Every column is its own."""
        return True

    def hypotheses(self, contrasts: str) -> dict[str, FloatArray]:
        """Each coefficient is its own: there are no factors."""
        return {name: np.eye(len(self.names))[j : j + 1] for j, name in enumerate(self.names)}

    def recoded(self, design: Design, terms: Iterable[str]) -> FloatArray:
        """(N, m) columns of these names."""
        return np.ascontiguousarray(design.sample.X[:, [self.names.index(name) for name in terms]])

    def rebuild(self, data: Any, without: frozenset[str] = frozenset()) -> NewRows:
        """Rows of new data; those with a NaN are flagged as incomplete, unless the fit takes them."""
        X, index, _ = numeric_matrix(self.encoding(data) if self.encoding.factors else data, self.columns)
        if X.shape[1] != len(self.names):
            raise DataError(f"The fit had {len(self.names)} columns; the new data have {X.shape[1]}.")
        complete: BoolArray = np.asarray((~np.isinf(X) if self.gaps else np.isfinite(X)).all(axis=1))
        return NewRows(rows=Rows(X=X if complete.all() else X[complete]), complete=complete, index=index)

    def response(self, data: Any) -> IntArray:
        """(N,) codes of labels given as an array, or of the response column of a frame."""
        if isinstance(data, pd.DataFrame):
            data = find_column(data, self.response_name, "the response")
        return known_codes(_labels(data), self.response_name, self.levels)

    def categories(self) -> dict[str, tuple[Any, ...]]:
        return {str(name): factor.levels for name, factor in self.encoding.factors.items()}

    def costs(self, data: Any, n_levels: int) -> None:
        """None: costs of arrays have no names."""


def _labels(y: Any) -> Column:
    return read(y if isinstance(y, pd.Series) else pd.Series(np.asarray(y)))


def numeric_matrix(X: Any, columns: Sequence[Any] | None) -> tuple[FloatArray, pd.Index, tuple[Any, ...] | None]:
    """(N, D) C-contiguous float64, its index, and the column names of a frame (None of an array)."""
    if hasattr(X, "columns") or isinstance(X, dict):
        frame = as_frame(X)
        chosen = list(frame.columns) if columns is None else list(columns)
        absent = [name for name in chosen if name not in frame.columns]
        if absent:
            raise DataError(f"The data have no columns {shown_labels(absent)}; the fit had {shown_labels(chosen, 30)}.")
        return _floats(frame[chosen].to_numpy(na_value=np.nan)), frame.index, tuple(chosen)
    matrix = _floats(X)
    if matrix.ndim != 2:
        raise DataError(f"X must have two dimensions (rows, columns); got shape {matrix.shape}.")
    return matrix, pd.RangeIndex(matrix.shape[0]), None


def _floats(X: Any) -> FloatArray:
    try:
        return np.ascontiguousarray(X, dtype=float)
    except (ValueError, TypeError) as error:
        raise DataError(f"X must hold numbers only: {error}.") from error


def from_arrays(
    X: Any,
    y: Any,
    *,
    levels: Sequence[Any] | None = None,
    weights: Any = None,
    names: Sequence[str] | None = None,
    cluster: Any = None,
    costs: Any = None,
    response: str = "y",
    gaps: bool = False,
    encoding: Encoding | None = None,
    keep_levels: bool = False,
) -> Design:
    """A design of numeric columns.

    Parameters
    ----------
    X : (N, D) array or frame of numbers, all finite
    y : (N,) labels
    levels : sequence, optional
        Labels in order, lowest first; without it labels have to be numbers, booleans or an ordered categorical.
    weights : (N,), optional
        Case weights >= 0; rows of weight 0 are left out.
    names : sequence of D str, optional
        Column names; those of a frame, else x1, x2, ...
    cluster : (N,), optional
    costs : (N, K), optional
    response : str
        Label of the response.
    gaps : bool
        Whether X may have missing values, NaN.
    encoding : Encoding, optional
        That gave the columns of categories in X their codes; new rows are encoded alike.
    keep_levels : bool
        Keep declared levels without rows.

    Returns
    -------
    Design

    Raises
    ------
    DataError

    Examples
    --------
    >>> import numpy as np
    >>> from ordstat.formula.build import from_arrays
    >>> design = from_arrays(np.eye(3), ["low", "high", "low"], levels=["low", "high"])
    >>> design.sample.y, design.names
    (array([0, 1, 0]), ('x1', 'x2', 'x3'))
    """
    matrix, index, found = numeric_matrix(X, None)
    n, width = matrix.shape
    if names is not None and len(names) != width:
        raise DataError(f"names= must have a name for each of the {width} columns; got {len(names)}.")
    _check_finite(matrix, index, gaps)
    labels = read_response(_labels(y), response, None if levels is None else check_levels(levels))
    if labels.codes.size != n:
        raise DataError(f"y must have a value for each of the {n} rows of X; got {labels.codes.size}.")
    refuse(labels.codes < 0, index, "y", "missing", ": leave them out.")
    kept = kept_rows(
        index,
        labels,
        {},
        weights=_given(weights, "weights", index),
        cluster=_given(cluster, "cluster", index),
        costs=None if costs is None else np.asarray(costs, dtype=float),
    )
    kept = replace(kept, used=np.arange(len(labels.declared))) if keep_levels else kept
    encoding = encoding or Encoding({})
    given = found if names is None else names
    chosen = tuple(f"x{j + 1}" for j in range(width)) if given is None else tuple(str(name) for name in given)
    design = kept.design(
        Rows(X=kept.take(matrix)),
        names=chosen,
        terms={name: slice(j, j + 1) for j, name in enumerate(chosen)},
        formula=f"{response} ~ {' + '.join(chosen) if width <= 10 else '.'}",
        spec=ArraySpec(
            columns=found,
            response_name=response,
            levels=kept.levels.values,
            names=chosen,
            gaps=gaps,
            encoding=encoding,
        ),
    )
    return replace(design, sample=replace(design.sample, categories=encoding.counts(chosen)))


def _check_finite(matrix: FloatArray, index: pd.Index, gaps: bool) -> None:
    """DataError where a value is infinite, or missing and must not be."""
    with np.errstate(invalid="ignore", over="ignore"):
        if np.isfinite(matrix.sum()):
            return
    wrong = np.isinf(matrix) if gaps else ~np.isfinite(matrix)
    if not wrong.any():
        return
    row, column = (int(k) for k in np.argwhere(wrong)[0])
    must = "finite or missing (NaN)" if gaps else "finite"
    raise DataError(
        f"X is {matrix[row, column]:g} in {row_name(index, row)}, column {column}; all values must be {must}."
    )


def _given(values: Any, role: str, index: pd.Index) -> Given | None:
    return None if values is None else Given(read(values_of(np.asarray(values), role, index)), (role,))


__all__ = ["build", "from_arrays", "make"]

#: Sums of squares below this have lost digits.
_LEAST = 1e-290


def build(formula: str, data: Any, **arguments: Any) -> Design:
    """The sample a formula makes of a frame, with its names and the way to rebuild it.

    Parameters
    ----------
    formula : str
    data : pandas or polars DataFrame, pyarrow Table or mapping of columns
        Never changed.
    **arguments
        Those of `Recipe`.

    Returns
    -------
    Design

    Raises
    ------
    FormulaError, DataError, OptionError

    Notes
    -----
    Text columns and unordered categoricals are factors (text in sorted order of its code points); levels without rows
    are left out, as R's clm does. Booleans are factors with levels False, True. Splines, polynomials and scale() are
    fitted to all rows of the subset in which their own variable is present, as in R.

    Examples
    --------
    >>> import pandas as pd
    >>> from ordstat.formula.build import build
    >>> data = pd.DataFrame({"y": [1, 2, 3, 2, 1], "x": [0.1, 0.5, 0.9, 0.4, None], "f": list("aabbb")})
    >>> design = build("y ~ x + f", data)
    >>> design.names, design.levels.values, dict(design.dropped)
    (('x', 'f[T.b]'), (1, 2, 3), {'x': 1})
    >>> design.spec.rebuild(data).complete
    array([ True,  True,  True,  True, False])
    """
    return make(Recipe(formula, **arguments), data)


def make(recipe: Recipe, data: Any) -> Design:
    """The design of some data."""
    if not isinstance(recipe, Recipe):  # what looks like one, from a forged file, has not been checked
        raise DataError(f"A design must be made from a Recipe; got {type(recipe).__name__}.")
    one_of("na_action", recipe.na_action, ("omit", "raise", "keep"))
    if recipe.context is not None and recipe.safe is True:
        raise OptionError("context= must go with safe=False; set it, or leave context= out.")
    context = None if flag("safe", recipe.safe) else Context(recipe.context or {})
    whole = as_frame(data)
    recipe.check()
    survey = None if recipe.design is None else survey_of(recipe.design, whole, context)
    rows = None if recipe.subset is None else subset_mask(recipe.subset, whole, context)
    if rows is not None and not rows.any():
        raise DataError(f"subset= leaves none of the {len(whole)} rows.")
    frame = whole if rows is None else whole[rows]
    response_name, parts = _parse(recipe, frame)
    interpreter = Interpreter(Columns(frame), {}, context)
    interpreter.columns.look_over(parts.factors())
    expressions = parts.factors() | parts.offsets() | parts.groups()
    values, missing, used = evaluate(expressions, interpreter, frame.index, parts.gapped(recipe.na_action))
    contrasts, idle = _in_use(recipe, parts, used, frame)

    def given(value: Any, role: str) -> Given | None:
        return None if value is None else vector(value, role, interpreter, rows, whole.index)

    offset = given(None if isinstance(recipe.offset, str) else recipe.offset, "offset")  # a name is among the parts
    kept = kept_rows(
        frame.index,
        _response(response_name, recipe.levels, interpreter),
        missing,
        weights=given(recipe.weights if recipe.design is None else recipe.design.weights, "weights"),
        offset=offset,
        cluster=given(recipe.cluster, "cluster"),
        costs=None if recipe.costs is None else cost_matrix(recipe.costs, frame, rows, whole.index),
        survey=survey if survey is None or rows is None else survey.take(rows),
        na_action=recipe.na_action,
    )
    extra = None if offset is None else kept.take(numbers(offset, "offset", frame.index))
    design = _design(recipe, kept, parts, values, interpreter, used, contrasts, idle, extra)
    design = replace(
        design, data=data, recipe=replace(recipe, settled=tuple(recipe.contrasts or ()), context=context), make=make
    )
    return _constrained(design, recipe.constraints, recipe.interactions)


def _design(
    recipe: Recipe,
    kept: Kept,
    parts: Parts,
    values: Mapping[str, Value],
    interpreter: Interpreter,
    used: Collection[str],
    contrasts: Mapping[str, Contrast],
    idle: tuple[str, ...],
    offset: FloatArray | None,
) -> Design:
    """The design of the rows kept, from the values of all factors and offsets; `used` are the columns in them.

    `offset` was given as an array, and is added to those of the formula.
    """
    values = {key: kept.take(value) for key, value in values.items()}
    codings, unused = _fit_codings(parts, values, contrasts, recipe.as_categories)
    model_rows, location, nominal, scale = matrices(parts, values, codings, kept.n)
    for part in (location, nominal, scale):
        _check_sizes(part)
    random, random_rows, random_notes = fit_random_terms(parts.random, values, codings, kept.n, recipe.cov)
    if offset is not None:
        model_rows = replace(model_rows, offset=offset if model_rows.offset is None else model_rows.offset + offset)
    predictors = frozenset[str]().union(*(factor.names for factor in parts.factors().values()))
    only_groups = _only_groups(parts)
    categorical = _categorical_terms(parts.location, codings)
    spec = FormulaSpec(
        parts=parts,
        codings=codings,
        states=dict(interpreter.states),
        columns=tuple(name for name in used if name not in only_groups),
        declared={name: factor for name, factor in interpreter.columns.declared().items() if name not in only_groups},
        response_name=kept.response.name,
        levels=kept.levels.values,
        context=interpreter.context,
        cost_names=cost_columns(recipe.costs),
        array_offset=offset is not None,
        random=random,
        na_action=recipe.na_action,
    )
    return kept.design(
        replace(model_rows, random=random_rows),
        before=(
            *_intercept_note(parts),
            *(note for text in (recipe.formula, recipe.nominal, recipe.scale) if text for note in power_notes(text)),
            *idle,
            *doubtful_columns(interpreter.columns, [name for name in used if name in predictors]),
        ),
        after=(*unused, *random_notes, *_beside_fixed(parts, categorical), *_without_values(location)),
        categories=column_categories(parts.location, codings),
        formula=recipe.formula,
        names=location.names,
        nominal_names=nominal.names,
        scale_names=scale.names,
        terms=location.terms,
        nominal_terms=nominal.terms,
        scale_terms=scale.terms,
        categorical=categorical,
        random=random,
        spec=spec,
    )


def _constrained(design: Design, constraints: Any, interactions: Any) -> Design:
    """With the constraints asked for, or those kept from the design before an update, and the groups of columns."""
    if constraints is None and interactions is None:
        return design
    from .constraints import Constraint, constrained, grouped, kept

    if constraints is None:
        found = design
    elif isinstance(constraints, tuple) and all(isinstance(one, Constraint) for one in constraints):
        found = kept(design, constraints)
    else:
        found = constrained(design, constraints)
    return found if interactions is None else grouped(found, interactions)


def _parse(recipe: Recipe, frame: pd.DataFrame) -> tuple[ResponseName, Parts]:
    """Response and parts."""
    texts = (recipe.formula, recipe.nominal, recipe.scale)
    free = _free_columns(recipe, frame) if any(isinstance(text, str) and uses_dot(text) for text in texts) else ()
    response, location = parse_formula(recipe.formula, free if uses_dot(recipe.formula) else ())
    rest = tuple(name for name in free if name != response.column)

    def part(text: Any, argument: str) -> Part | None:
        if not isinstance(text, str | None):
            raise FormulaError(f"{argument}= must be a one-sided formula such as '~ x1 + x2'; got {text!r}.")
        return None if text is None else parse_one_sided(text, rest if uses_dot(text) else (), argument)

    if isinstance(recipe.offset, str):
        location = _with_offset(location, recipe.offset, frame)
    parts = Parts(location, part(recipe.nominal, "nominal"), part(recipe.scale, "scale"))
    if parts.nominal is not None and parts.nominal.offsets:
        raise FormulaError("nominal= must have no offset(): put it in the formula.")
    for role, side in (("nominal", parts.nominal), ("scale", parts.scale)):
        if side is not None and side.random:
            raise FormulaError(f"{role}= must have no random term: put it in the formula.")
    if parts.random and recipe.design is not None:
        raise OptionError(
            "design= must be left out where the formula has random effects, whose likelihood is that of all rows. Give "
            "the groups as clusters of the design in place of a random term, or weights= for numbers of equal rows."
        )
    if column_expression(response.column).key in parts.factors() | parts.groups():
        raise FormulaError(f"The response {response.column!r} stands on the right of the formula too; take it out.")
    return response, parts


def _free_columns(recipe: Recipe, frame: pd.DataFrame) -> tuple[str, ...]:
    """What a dot may mean: the columns that are not named as other arguments."""
    surveyed = () if recipe.design is None else recipe.design.columns
    named = (recipe.weights, recipe.offset, recipe.cluster, *surveyed, *(cost_columns(recipe.costs) or ()))
    taken = {name for name in named if isinstance(name, str)}
    return tuple(str(column) for column in frame.columns if str(column) not in taken)


def _with_offset(location: Part, offset: str, frame: pd.DataFrame) -> Part:
    """offset= as one more offset() of the formula, so that new data are asked for it."""
    expression = parse_expression(offset) if is_expression(offset, frame) else column_expression(offset)
    return replace(location, offsets=(*location.offsets, expression))


def _in_use(
    recipe: Recipe, parts: Parts, used: Collection[str], frame: pd.DataFrame
) -> tuple[dict[str, Contrast], tuple[str, ...]]:
    """contrasts= by factor key, and a note on columns that no formula uses."""
    factors = parts.factors().values()
    keys = {name: factor.key for factor in factors for name in (factor.label, factor.key)}
    coded, idle = {}, []
    for name, kind in mapping("contrasts", recipe.contrasts, "{'x': 'sum'}").items():
        coding = _coding(kind)
        if name in keys:
            coded[keys[name]] = coding
        elif name in used or not (name in recipe.settled or has_column(frame, name)):
            names = [factor.label for factor in factors]
            known = "." if name in used else f" and no column; {suggest(name, [*names, *frame.columns])}"
            raise FormulaError(
                f"contrasts= names {name!r}, which is no factor of the model ({shown_labels(names)}){known}"
            )
        elif name not in recipe.settled:
            idle.append(name)
    coding_is = "its coding is" if len(idle) == 1 else "their codings are"
    note = f"contrasts= names {shown_labels(idle)}, which no formula uses: {coding_is} ignored."
    return coded, (note,) if idle else ()


def _coding(kind: Any) -> Contrast:
    """A contrast by its name, its call, as "Treatment('low')", or its matrix."""
    return contrast_of(parse_expression(kind).tree) if isinstance(kind, str) and "(" in kind else contrast(kind)


def _response(name: ResponseName, levels: Any, interpreter: Interpreter) -> Response:
    declared = name.levels if levels is None else levels
    column = interpreter.columns.column(name.column, "the response")
    return read_response(column, name.column, None if declared is None else check_levels(declared))


def _intercept_note(parts: Parts) -> tuple[str, ...]:
    if all(part.intercept for part in parts.all()):
        return ()
    return ("A formula removes the intercept; it stays, as the thresholds are the intercepts.",)


def _beside_fixed(parts: Parts, fixed: Collection[str]) -> tuple[str, ...]:
    """Notes on random intercepts of groups among the `fixed` terms."""
    return tuple(
        f"{random.text} stands beside fixed effects of {random.group.label}, which leave its intercept no variance: "
        "take one of them out."
        for random in parts.random
        if random.columns.intercept and random.group.label in fixed
    )


def _only_groups(parts: Parts) -> set[str]:
    """Names of columns that make groups and nothing else: new data may lack them, or have other levels."""
    groups = parts.groups().values()
    if not groups:
        return set()
    others = [*parts.factors().values(), *parts.offsets().values()]
    used = set().union(*(expression.names for expression in others))
    return {name for factor in groups for name in factor.names} - used


def _sound(squares: FloatArray) -> BoolArray:
    """Which sums of squares have neither overflowed nor vanished."""
    return (squares > _LEAST) & (squares < np.inf)


def _check_sizes(part: Assembled) -> None:
    """DataError for a column whose squares overflow or vanish, by its name."""
    squares, matrix = part.squares, part.matrix
    if _sound(squares).all():
        return
    if np.isnan(squares).any():  # of columns with missing values
        matrix = np.nan_to_num(matrix)
        squares = (matrix**2).sum(axis=0)
    bad = [j for j in np.flatnonzero(~_sound(squares)) if matrix[:, j].any()]
    if bad:
        raise DataError(
            f"Column {part.names[bad[0]]!r} reaches {np.abs(matrix[:, bad[0]]).max():g}: rescale it, so that its "
            "squares neither overflow nor vanish."
        )


def _without_values(part: Assembled) -> tuple[str, ...]:
    """A note on columns whose values are all missing."""
    suspects = np.flatnonzero(np.isnan(part.squares))
    names = [part.names[j] for j in suspects if np.isnan(part.matrix[:, j]).all()]
    return (f"Columns without a value in the rows used: {shown_labels(names)}.",) if names else ()


def _categorical_terms(part: Part, codings: Mapping[str, Coding]) -> tuple[str, ...]:
    """Labels of the terms made of categorical factors alone."""
    return tuple(
        term.label
        for term in part.terms
        if all(isinstance(codings[factor.key], FactorCoding) for factor in term.factors)
    )


def _fit_codings(
    parts: Parts, values: Mapping[str, Value], contrasts: Mapping[str, Contrast], whole: bool
) -> tuple[dict[str, Coding], tuple[str, ...]]:
    """A coding for every factor of the formula, and notes on levels without rows."""
    codings: dict[str, Coding] = {}
    notes: list[str] = []
    for key, factor in parts.factors().items():
        codings[key], unused = fit_coding(factor, values[key], contrasts.get(key), whole)
        notes += unused_note(unused, factor.label)
    return codings, tuple(notes)
