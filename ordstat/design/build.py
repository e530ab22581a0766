"""From a formula and a frame to a Design.

A formula is code: with `safe=True` (the default) only names of columns, the functions listed in `transforms`,
arithmetic, comparisons and literals are evaluated, and everything else is refused before it runs. `safe=False`
evaluates any Python in it; never do that with a formula from somebody else.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from ..exceptions import DataError, FormulaError, OptionError
from .arrays import from_arrays
from .columns import Columns
from .complete import Arguments, complete
from .contrasts import Contrast, contrast
from .design import Design
from .doubtful import doubtful_factors
from .expressions import column_expression, parse_expression
from .frames import as_frame, find_column, has_column, shown_labels, suggest
from .inputs import Given, cost_columns, cost_matrix, given_column, is_expression, subset_mask, vector
from .interpreter import Interpreter
from .parse import Part, ResponseName, parse_formula, parse_one_sided, uses_dot
from .recipe import Context, Recipe
from .response import Response, check_levels, read_response
from .spec import Parts, evaluate

__all__ = ["build", "from_arrays"]


def build(
    formula: str,
    data: Any,
    *,
    nominal: str | None = None,
    scale: str | None = None,
    weights: Any = None,
    offset: Any = None,
    cluster: Any = None,
    costs: Any = None,
    levels: Any = None,
    subset: Any = None,
    contrasts: Mapping[str, Any] | None = None,
    settled: Collection[str] = (),
    na_action: str = "omit",
    safe: bool = True,
    context: Mapping[str, Any] | None = None,
) -> Design:
    """The sample a formula makes of a frame, with its names and the way to rebuild it.

    Parameters
    ----------
    formula : str
        "y ~ x1 + temp * contact + offset(0.5 * x2) + ns(age, df=4) + I(x1^2)"; a dot stands for all columns not used
        elsewhere. The intercept is always implied: the thresholds are the intercepts.
    data : pandas or polars DataFrame, pyarrow Table or mapping of columns
        Never changed.
    nominal, scale : str, optional
        One-sided formulas of the effects that differ per threshold, and of the log scale.
    weights, offset, cluster : column name or N values, optional
        Case weights (rows of weight 0 are left out), a known part of the score, groups of dependent rows. Weights and
        offset may also be an expression such as "w - 1". A Series must have the index of the data.
    costs : list of K column names, or (N, K) values, optional
        A row's own price of each predicted rank.
    levels : sequence, optional
        Labels of the response in order, lowest first.
    subset : mask or condition, optional
        Rows to use, such as "judge != '1'"; as if the others were not in the data, so that knots, means and levels
        come from the subset (R takes knots from all rows).
    contrasts : mapping of factor to contrast, optional
        "treatment" (the default, for ordered factors too), "sum", "helmert", "poly", "diff", "sas", R's names, or a
        (K, m) matrix. That of a column which no formula uses is kept for an update that brings it in, with a note.
    settled : collection of str
        Names among the contrasts that need no such note, as an update may have taken them out.
    na_action : {"omit", "raise"}
        What to do with rows where a value is missing.
    safe : bool
        False evaluates any Python in the formula.
    context : mapping, optional
        Names that an unsafe formula may use.

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
    if na_action not in ("omit", "raise"):
        raise OptionError(f"na_action= takes 'omit' or 'raise', not {na_action!r}.")
    if context is not None and safe:
        raise OptionError("context= needs safe=False; set it, or leave context= out.")
    opened = None if safe else Context(dict(context or {}))
    whole = as_frame(data)
    rows = None if subset is None else subset_mask(subset, whole, None if opened is None else opened.names)
    if rows is not None and not rows.any():
        raise DataError(f"subset= leaves none of the {len(whole)} rows.")
    frame = whole if rows is None else whole[rows]
    response, parts = _parse(formula, nominal, scale, frame, (weights, offset, cluster, costs))
    if isinstance(offset, str):
        parts = _with_offset(parts, offset, frame)
    interpreter = Interpreter(Columns(frame), {}, None if opened is None else opened.names)

    def given(value: Any, role: str) -> Given | None:
        return None if value is None else vector(value, role, interpreter, rows, whole.index)

    interpreter.columns.look_over(parts.factors())
    found = evaluate(parts.factors() | parts.offsets(), interpreter, frame.index)
    coded, idle = _in_use(contrasts or {}, parts, found.columns, settled, frame)
    arguments = Arguments(
        formula=formula,
        parts=parts,
        response=_response(response, levels, interpreter),
        found=found,
        states=interpreter.states,
        declared=interpreter.columns.declared(),
        weights=given(weights, "weights"),
        offset=None if isinstance(offset, str) else given(offset, "offset"),
        cluster=given(cluster, "cluster"),
        costs=None if costs is None else cost_matrix(costs, frame, rows, whole.index),
        cost_names=cost_columns(costs),
        contrasts=coded,
        context=opened,
        notes=(*_intercept_note(parts), *_idle_note(idle), *_factor_notes(parts, interpreter)),
    )
    recipe = Recipe(
        make=build,
        formula=formula,
        nominal=nominal,
        scale=scale,
        weights=weights,
        offset=offset,
        cluster=cluster,
        costs=costs,
        levels=levels,
        subset=subset,
        contrasts=contrasts,
        settled=tuple(contrasts or ()),
        na_action=na_action,
        safe=safe,
        context=opened,
    )
    return replace(complete(arguments, frame.index, na_action), data=data, recipe=recipe)


def _parse(
    formula: str, nominal: str | None, scale: str | None, frame: pd.DataFrame, named: tuple[Any, ...]
) -> tuple[ResponseName, Parts]:
    """Response and parts; columns named as other arguments are not meant by a dot."""
    *single, costs = named
    taken = {name for name in (*single, *(cost_columns(costs) or ())) if isinstance(name, str)}
    free = tuple(str(column) for column in frame.columns if str(column) not in taken)
    response, location = parse_formula(formula, free if uses_dot(formula) else ())
    rest = tuple(name for name in free if name != response.column)

    def part(text: str | None, argument: str) -> Part | None:
        return None if text is None else parse_one_sided(text, rest if uses_dot(text) else (), argument)

    parts = Parts(location, part(nominal, "nominal"), part(scale, "scale"))
    if parts.nominal is not None and parts.nominal.offsets:
        raise FormulaError("nominal= takes no offset(): put it in the formula.")
    if column_expression(response.column).key in parts.factors():
        raise FormulaError(f"The response {response.column!r} stands on the right of the formula too; take it out.")
    return response, parts


def _with_offset(parts: Parts, offset: str, frame: pd.DataFrame) -> Parts:
    """offset= as one more offset() of the formula, so that new data are asked for it."""
    expression = parse_expression(offset) if is_expression(offset, frame) else column_expression(offset)
    location = Part(parts.location.terms, (*parts.location.offsets, expression), parts.location.intercept)
    return Parts(location, parts.nominal, parts.scale)


def _in_use(
    given: Mapping[str, Any], parts: Parts, used: Collection[str], settled: Collection[str], frame: pd.DataFrame
) -> tuple[dict[str, Contrast], list[str]]:
    """contrasts= by factor key, and the names of columns that no formula uses."""
    factors = parts.factors().values()
    keys = {name: factor.key for factor in factors for name in (factor.label, factor.key)}
    coded, idle = {}, []
    for name, kind in given.items():
        coding = contrast(kind)
        if name in keys:
            coded[keys[name]] = coding
        elif name in used or not (name in settled or has_column(frame, name)):
            names = [factor.label for factor in factors]
            known = "." if name in used else f" and no column; {suggest(name, [*names, *frame.columns])}"
            raise FormulaError(
                f"contrasts= names {name!r}, which is no factor of the model ({shown_labels(names)}){known}"
            )
        elif name not in settled:
            idle.append(name)
    return coded, idle


def _response(name: ResponseName, levels: Any, interpreter: Interpreter) -> Response:
    declared = name.levels if levels is None else levels
    column = given_column(interpreter, name.column, "the response")
    return read_response(column, name.column, None if declared is None else check_levels(declared))


def _intercept_note(parts: Parts) -> tuple[str, ...]:
    if all(part.intercept for part in parts.all()):
        return ()
    return ("A formula removes the intercept; it stays, as the thresholds are the intercepts.",)


def _factor_notes(parts: Parts, interpreter: Interpreter) -> tuple[str, ...]:
    columns = interpreter.columns
    used = [factor.label for factor in parts.factors().values() if factor.label in columns.declared()]
    dtypes = {name: find_column(columns.frame, name, "the model").dtype for name in used}
    texts = [name for name, dtype in dtypes.items() if not isinstance(dtype, pd.CategoricalDtype)]
    return doubtful_factors(columns.declared(), used, texts)


def _idle_note(names: list[str]) -> tuple[str, ...]:
    if not names:
        return ()
    coding = "its coding is" if len(names) == 1 else "their codings are"
    return (f"contrasts= names {shown_labels(names)}, which no formula uses: {coding} ignored.",)
