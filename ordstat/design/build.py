"""From a formula and a frame to a Design.

A formula is code: with `safe=True` (the default) only names of columns, the functions listed in `transforms`,
arithmetic, comparisons and literals are evaluated, and everything else is refused before it runs. `safe=False`
evaluates any Python in it; never do that with a formula from somebody else.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from .._typing import BoolArray, FloatArray
from ..checks import flag, mapping, one_of
from ..exceptions import DataError, FormulaError, OptionError
from .arrays import from_arrays
from .coding import Assembled, Coding, FactorCoding, column_categories, fit_coding
from .columns import Columns, Value
from .complete import Kept, kept_rows, unused_note
from .contrasts import Contrast, contrast
from .design import Design
from .doubtful import doubtful_columns
from .expressions import column_expression, parse_expression
from .frames import as_frame, has_column, shown_labels, suggest
from .inputs import Given, cost_columns, cost_matrix, is_expression, numbers, subset_mask, vector
from .interpreter import Interpreter, contrast_of
from .parse import Part, ResponseName, parse_formula, parse_one_sided, power_notes, uses_dot
from .random_terms import fit_random_terms
from .recipe import Context, Recipe
from .response import Response, check_levels, read_response
from .spec import FormulaSpec, Parts, evaluate, matrices
from .survey import survey_of

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
    >>> from ordstat.design.build import build
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
