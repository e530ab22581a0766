"""Reads the arguments of a recipe from a frame: formulas, and values of all rows of the
subset.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._typing import BoolArray, FloatArray
from ..checks import shown_labels
from ..exceptions import DataError, FormulaError, OptionError
from . import inputs
from .columns import Columns, Value, as_frame
from .doubtful import disordered
from .factors import Interpreter
from .parse import (
    Side,
    bare_names,
    columns_of,
    parse_formula,
    parse_one_sided,
    partial_call,
    quoted,
    uses_dot,
)
from .recipe import Recipe
from .spec import FormulaSpec

if TYPE_CHECKING:
    from .survey import Survey


@dataclass(frozen=True, eq=False, kw_only=True)
class RecipeValues:
    """Formulas and values that a recipe reads from the N rows of its subset.

    Attributes
    ----------
    subset : mask of the rows of the data, or None
    spec : FormulaSpec
        The formulas, not fitted.
    columns : Columns
    names : tuple of str
        Columns that the formulas use.
    values : mapping of str to Value
        Values of the expressions of the formulas by key, without transforms that learn
        from the data.
    missing : mapping of str to (N,) mask
        Rows with a missing value, by the name of a column or argument.
    response : Response
    weights, offset : (N,) or None
    cluster : Value or None
    costs : (N, C) or None
    survey : Survey or None
    """

    subset: BoolArray | None
    spec: FormulaSpec
    columns: Columns
    names: tuple[str, ...]
    values: Mapping[str, Value]
    missing: Mapping[str, BoolArray]
    response: inputs.Response
    weights: FloatArray | None
    offset: FloatArray | None
    cluster: Value | None
    costs: FloatArray | None
    survey: Survey | None

    @property
    def index(self) -> pd.Index:
        """Index of the rows of the subset."""
        return self.columns.frame.index


def read_values(recipe: Recipe, data: Any) -> RecipeValues:
    """Formulas, response and arguments of a recipe at the rows of its subset."""
    frame = as_frame(data)
    survey = None if recipe.design is None else _survey(recipe, frame)
    subset = _subset(recipe, frame)
    columns = Columns(frame if subset is None else frame[subset])
    index = columns.frame.index
    with _names_in_backticks(recipe, columns):
        spec = formulas(recipe, columns.frame)
        needed = [expression.names for expression in spec.expressions.values()]
        columns.read_together(frozenset().union(*needed))
        interpreter = Interpreter(columns, {}, fits=False)
        values, missing, names = spec.evaluate(spec.expressions, interpreter)
    response = _response(recipe, spec.response_name, columns)

    arguments = {
        "weights": (recipe.design or recipe).weights,
        # a named offset is in the formula
        "offset": None if isinstance(recipe.offset, str) else recipe.offset,
        "cluster": recipe.cluster,
    }
    given = {}
    for role, argument in arguments.items():
        if argument is None:
            continue
        column = inputs.vector(argument, role, columns, subset, frame.index)
        given[role] = column
        if column.missing is not None:
            missing[argument if isinstance(argument, str) else role] = column.missing
    weights = offset = cluster = costs = None
    if "weights" in given:
        weights = inputs.weights_of(given["weights"], arguments["weights"], index)
    if "offset" in given:
        offset = inputs.numbers(given["offset"], "offset", index)
    if "cluster" in given:
        cluster = given["cluster"].value
    if recipe.costs is not None:
        costs = inputs.cost_matrix(recipe.costs, subset, frame.index)
        missing["costs"] = np.asarray(np.isnan(costs).any(axis=1))
    if survey is not None and subset is not None:
        survey = survey.take(subset)
    return RecipeValues(
        subset=subset,
        spec=spec,
        columns=columns,
        names=names,
        values=values,
        missing=missing,
        response=response,
        weights=weights,
        offset=offset,
        cluster=cluster,
        costs=costs,
        survey=survey,
    )


@contextmanager
def _names_in_backticks(recipe: Recipe, columns: Columns) -> Iterator[None]:
    """Errors of reading formulas name the columns that need backticks, if a formula has
    such a name without.
    """
    try:
        yield
    except (FormulaError, DataError) as error:
        given = (recipe.formula, recipe.nominal, recipe.scale)
        texts = [text for text in given if isinstance(text, str)]
        bare = bare_names(texts, map(str, columns.frame.columns))
        if not bare:
            raise
        raise FormulaError(
            f"{error} A column name with blanks or signs must be in backticks; got"
            f" {shown_labels(bare)}. Write {', '.join(f'`{name}`' for name in bare)}."
        ) from error


def _subset(recipe: Recipe, frame: pd.DataFrame) -> BoolArray | None:
    """The rows of subset=, at least one; None for all rows."""
    if recipe.subset is None:
        return None
    rows = inputs.subset_mask(recipe.subset, frame)
    if not rows.any():
        raise DataError(f"subset= selects none of the {len(frame)} rows.")
    return rows


def _response(recipe: Recipe, name: str, columns: Columns) -> inputs.Response:
    call = partial_call(name)
    if call is not None:
        from .partial import read_partial

        return read_partial(call, name, columns.frame, recipe.levels)
    column = columns.column(name, "the response")
    response = inputs.read_response(column, name, recipe.levels)
    labels = [*response.declared]
    if recipe.levels is None and all(isinstance(label, str) for label in labels):
        response.notes.extend(disordered(f"Response {name}", labels))
    return response


def _survey(recipe: Recipe, frame: pd.DataFrame) -> Survey:
    """The survey of all rows, with its weights and clusters."""
    from .survey import SurveyDesign, survey_of

    if not isinstance(recipe.design, SurveyDesign):
        raise OptionError(
            f"design must be a SurveyDesign(weights=..., ...); got {recipe.design!r}."
        )
    for name, inside in (("weights", "weights"), ("cluster", "clusters")):
        if getattr(recipe, name) is not None:
            raise OptionError(
                f"{name}= must be left out with design=. Use"
                f" SurveyDesign({inside}=...)."
            )
    return survey_of(recipe.design, frame)


def _by_level(location: Side, sides: Mapping[str, Side]) -> tuple[Side, Side]:
    """The location part without terms, and the nominal part with all of them."""
    if "nominal" in sides:
        raise FormulaError(
            "nominal= must be left out: this method gives every term of the formula an"
            " effect on each level."
        )
    nominal = replace(location, offsets=(), random=())
    return replace(location, terms=()), nominal


def formulas(recipe: Recipe, frame: pd.DataFrame) -> FormulaSpec:
    """The formulas, not yet evaluated."""
    taken = _columns_of_arguments(recipe, frame)

    def free(text: str, response: str = "") -> tuple[str, ...]:
        """Columns that a dot stands for."""
        if not uses_dot(text):
            return ()
        used = taken.union(columns_of(response) if response else ())
        return tuple(str(name) for name in frame.columns if str(name) not in used)

    response, location = parse_formula(recipe.formula, free(recipe.formula))
    if isinstance(recipe.offset, str):
        offset = inputs.expression_of(recipe.offset, Columns(frame))
        location = replace(location, offsets=(*location.offsets, offset))
    if location.random and recipe.design is not None:
        raise OptionError(
            "design= must be left out if the formula has random effects. Give the"
            " groups as its clusters."
        )
    sides: dict[str, Any] = {}
    for role in ("nominal", "scale"):
        text = getattr(recipe, role)
        if text is not None:
            _check_one_sided(text, role)
            sides[role] = _side(text, free(text, response), role)
    if recipe.by_level:
        location, sides["nominal"] = _by_level(location, sides)
    spec = FormulaSpec(
        location=location,
        response_name=response,
        na_action=recipe.na_action,
        array_offset=recipe.offset is not None and not isinstance(recipe.offset, str),
        **sides,
    )
    _check_response_is_left(response, spec)
    return spec


def _columns_of_arguments(recipe: Recipe, frame: pd.DataFrame) -> frozenset[str]:
    """Columns of the data that weights, offset, clusters and a survey design use."""
    surveyed = () if recipe.design is None else recipe.design.columns
    used = frozenset[str]()
    for given in (recipe.weights, recipe.offset, recipe.cluster, *surveyed):
        if isinstance(given, str):
            used |= inputs.expression_of(given, Columns(frame)).names
    return used


def _check_one_sided(text: Any, role: str) -> None:
    if not isinstance(text, str):
        raise FormulaError(
            f"{role}= must be a one-sided formula such as '~ x1 + x2'; got {text!r}."
        )


def _side(text: str, free: tuple[str, ...], role: str) -> Side:
    """The terms of nominal= or scale=, where a dot stands for `free` columns."""
    side = parse_one_sided(text, free, role)
    if side.random or (role == "nominal" and side.offsets):
        problem = "random term" if side.random else "offset()"
        raise FormulaError(f"{role}= must have no {problem}: put it in the formula.")
    return side


def _check_response_is_left(response: str, spec: FormulaSpec) -> None:
    """FormulaError if a column of the response is on the right side too."""
    for name in columns_of(response):
        key = quoted(name)
        if key in spec.factors or key in spec.groups:
            raise FormulaError(
                f"The response {name!r} is also on the right of the formula. Take it"
                " out there."
            )
