"""From a formula and a frame to a Design: a sample with its names, and the arguments
that made it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from itertools import zip_longest
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np
import pandas as pd

from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ..checks import (
    did_you_mean,
    mapping,
    one_of,
    plain,
    row_name,
    shown_labels,
    suggest,
)
from ..exceptions import DataError, FormulaError, OptionError
from . import inputs
from .coding import MOST_CATEGORIES, Assembled, Coding, Contrasts, contrast, fit_coding
from .columns import Column, Columns, Factor, Value, as_frame, matched, take
from .doubtful import column_notes, disordered
from .factors import Interpreter, Transform, contrast_of
from .parse import (
    parse_expression,
    parse_formula,
    parse_one_sided,
    quoted,
    split_formula,
    substitute_dot,
    uses_dot,
)
from .random_terms import RandomTerm, fit_random_terms
from .sample import RandomColumns, RandomRows, Rows, Sample
from .spec import FormulaSpec
from .survey import Survey, SurveyDesign, survey_of

ZERO_WEIGHT = "(weight 0)"
#: Sums of squares below this have lost digits.
_LEAST = 1e-290
#: Longest value of an argument that is printed in a call.
_LONGEST = 60
#: Most labels of levels= that are printed in a call.
_MOST_LABELS = 24
_SIGNS = {"+": 1, "-": -1}
_CONSTRAINTS = "constraints must have the form {'x1': '+', 'x2': '-'}"


def arguments_text(given: Recipe | SurveyDesign) -> str:
    """The arguments other than the formula, as in a call; three dots stand for arrays
    and long values.

    Examples
    --------
    >>> arguments_text(Recipe("y ~ x", nominal="~ z", levels=["low", "high"]))
    "nominal='~ z', levels=['low', 'high']"
    >>> arguments_text(Recipe("y ~ x", design=SurveyDesign(weights="w", strata="region")))
    "design=SurveyDesign(weights='w', strata='region')"
    """
    shown = []
    for argument in fields(given):
        value = getattr(given, argument.name)
        name = argument.name
        if name in ("formula", "as_categories") or value is None:
            continue
        if name == "levels":
            value = list(map(plain, value))
            value = (
                value if len(value) <= _MOST_LABELS else np.array(value, dtype=object)
            )
        text = (
            repr(value)
            if isinstance(value, (str, bool, int, float, list, tuple, dict))
            else "..."
        )
        text = (
            f"SurveyDesign({arguments_text(value)})"
            if isinstance(value, SurveyDesign)
            else text
        )
        if text not in ("{}", "[]", "()", repr(argument.default)):
            brief = name in ("levels", "design") or (
                len(text) <= _LONGEST and "\n" not in text
            )
            shown.append(f"{name}={text if brief else '...'}")
    return ", ".join(shown)


@dataclass(frozen=True, eq=False)
class Recipe:
    """The arguments of `ordfit` that make a design, apart from the data.

    Attributes
    ----------
    formula : str
        "y ~ x1 + temp * contact + offset(0.5 * x2) + ns(age, df=4) + I(x1^2)"; a dot
        stands for all columns not used elsewhere. The intercept is always implied: the
        thresholds are the intercepts.
    nominal, scale : str, optional
        One-sided formulas of the effects that differ per threshold, and of the log
        scale.
    weights, offset, cluster : column name or N values, optional
        Case weights (rows of weight 0 are left out), a known part of the score, groups
        of dependent rows. A Series must have the index of the data.
    costs : (N, K) values, optional
        Cost of each predicted rank for each row.
    design : SurveyDesign, optional
        Survey design, instead of `weights` and `cluster`.
    levels : sequence or "all", optional
        Labels of the response in order, lowest first; those without rows keep their
        places. Without it levels that no row has are left out. "all" makes every value
        of a numeric response a level.
    subset : mask or condition, optional
        Rows to use, such as "judge != '1'"; knots, means and levels come from the rows
        used (R takes knots from all rows).
    cov : dict of group to covariance of its levels, optional
        Labelled data frames; see `random_terms.py`.
    contrasts : mapping of factor to contrast, optional
        "treatment" (the default, for ordered factors too), "sum", "helmert", "poly",
        R's names, or a (K, m) matrix. Contrasts of columns outside the formula are kept
        for updates.
    constraints : mapping or list of str, optional
        Signs of effects; see `constrained`.
    na_action : {"omit", "raise", "keep"}
        Treatment of rows with missing values; "keep" leaves missing values of location
        terms to the method.
    as_categories : bool
        Whether a factor without contrasts of the user, alone in a term, is one column
        of codes.
    """

    formula: str
    nominal: str | None = None
    scale: str | None = None
    weights: Any = None
    offset: Any = None
    cluster: Any = None
    costs: Any = None
    design: SurveyDesign | None = None
    levels: Any = None
    subset: Any = None
    cov: Any = None
    contrasts: Mapping[str, Any] | None = None
    constraints: Any = None
    na_action: str = "omit"
    as_categories: bool = False

    def updated(self, changes: Mapping[str, Any]) -> Recipe:
        """A copy with some arguments changed; None keeps an argument, and a dot stands
        for the old formula.
        """
        names = {argument.name for argument in fields(self)}
        if unknown := ", ".join(changes.keys() - names):
            raise OptionError(
                f"update must have arguments among {', '.join(sorted(names))}; got"
                f" {unknown}."
            )
        given = {name: value for name, value in changes.items() if value is not None}
        if "formula" in given:
            given["formula"] = updated_formula(self.formula, given["formula"])
        for role in ("nominal", "scale"):
            old = getattr(self, role)
            if role in given and old is not None:
                text = substitute_dot(_right(given[role]), _right(old))
                given[role] = (
                    f"~ {text if uses_dot(text) else parse_one_sided(text, (), role)}"
                )
        return replace(self, **given)


def updated_formula(old: str, new: str) -> str:
    """R's update of a formula: a dot on either side of `new` stands for that side of
    `old`.

    Examples
    --------
    >>> updated_formula("rating ~ temp * contact", "~ . - temp:contact")
    'rating ~ temp + contact'
    >>> updated_formula("rating ~ temp", ". ~ . + log(x3)")
    'rating ~ temp + log(x3)'
    >>> updated_formula("rating ~ temp + (1 | judge)", "- (1|judge) + (1 | bottle)")
    'rating ~ temp + (1 | bottle)'
    """
    left, tilde, _ = split_formula(new)
    old_left, _, old_right = split_formula(old)
    left = old_left if not tilde or left.strip() in ("", ".") else left
    text = f"{left.strip()} ~ {substitute_dot(_right(new), old_right)}"
    return text if uses_dot(text) else f"{left.strip()} ~ {parse_formula(text, ())[1]}"


def _right(text: str) -> str:
    """The right-hand side; a text that begins with a sign continues the old terms."""
    left, tilde, right = split_formula(text)
    if tilde:
        return right
    return f". {text}" if left.lstrip().startswith(("+", "-")) else left


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
    """

    values: tuple[Any, ...]
    unused: tuple[Any, ...] = ()

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
            `cluster`, ...; None keeps an argument.

        Raises
        ------
        DataError
            The data are not available, or have changed.
        """
        recipe = self.recipe.updated(changes)
        if data is not None:
            return make(recipe, data)
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
        return make(recipe, self.data)

    def coded(self, as_categories: bool) -> Design:
        """The design with factors as columns of codes, or of contrasts."""
        if self.recipe.as_categories == as_categories or not self.spec.categories():
            return self
        return self.updated(as_categories=as_categories)

    def beside(self, data: Any) -> Design:
        """The design with a reference to its data; DataError if the data differ."""
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

    def _changed(self, data: Any) -> str:
        """Description of the first difference to the design of some data; empty if
        there is none.
        """
        rebuilt = make(self.recipe, data)
        if self.levels.values != rebuilt.levels.values:
            return "the levels of the response"
        if self.sample.n != rebuilt.sample.n:
            return f"{self.sample.n} rows were used, now there are {rebuilt.sample.n}"
        pairs = zip_longest(
            _arrays(self.sample), _arrays(rebuilt.sample), fillvalue=("", np.empty(0))
        )
        for (name, old), (other, new) in pairs:
            if old is not new and (
                name != other or not np.array_equal(old, new, equal_nan=True)
            ):
                return f"the {_HELD.get(name, name)}"
        return ""


def _arrays(value: Any, name: str = "") -> Iterator[tuple[str, AnyArray]]:
    """The arrays of a sample with the names of their fields."""
    if isinstance(value, np.ndarray):
        yield name, value
    elif isinstance(value, (Sample, Rows, RandomRows, RandomColumns)):
        for item in fields(value):
            yield from _arrays(getattr(value, item.name), item.name)
    elif isinstance(value, tuple):
        for item in value:
            yield from _arrays(item, name)


#: Descriptions of arrays of a sample; the others are called by their field.
_HELD = {
    "X": "columns of the formula",
    "y": "response",
    "z": "groups",
    "codes": "groups",
    "root": "groups",
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
    Text columns and unordered categoricals are factors (text in sorted order of its code points); levels without rows
    are left out, as R's clm does. Booleans are factors with levels False, True. Splines, polynomials, scale() and
    center() are fitted to the rows that are used, with their weights: as if each row were repeated by its weight.

    Examples
    --------
    >>> import pandas as pd
    >>> from ordstat.formula.design import build
    >>> data = pd.DataFrame({"y": [1, 2, 3, 2, 1], "x": [0.1, 0.5, 0.9, 0.4, None], "f": list("aabbb")})
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
    whole = as_frame(data)
    survey = None if recipe.design is None else _survey(recipe, whole)
    rows = None if recipe.subset is None else inputs.subset_mask(recipe.subset, whole)
    if rows is not None and not rows.any():
        raise DataError(f"subset= leaves none of the {len(whole)} rows.")
    frame = whole if rows is None else whole[rows]
    spec = formulas(recipe, frame)
    columns = Columns(frame)
    expressions = spec.factors | spec.offsets | spec.groups
    values, missing, used = spec.evaluate(
        expressions, Interpreter(columns, {}, fits=False)
    )
    labelled = columns.column(spec.response_name, "the response")
    response = inputs.read_response(labelled, spec.response_name, recipe.levels)
    if recipe.levels is None and all(
        isinstance(label, str) for label in response.declared
    ):
        response.notes.extend(
            disordered(f"Response {response.name}", [*response.declared])
        )
    vectors: dict[str, Column] = {}
    weights = recipe.weights if recipe.design is None else recipe.design.weights
    arguments = {"weights": weights, "offset": recipe.offset, "cluster": recipe.cluster}
    for role, value in arguments.items():
        # a named offset is in the formula
        if value is not None and (role != "offset" or not isinstance(value, str)):
            column = vectors[role] = inputs.vector(
                value, role, columns, rows, whole.index
            )
            missing |= (
                {}
                if column.missing is None
                else {value if isinstance(value, str) else role: column.missing}
            )
    weights = (
        inputs.weights_of(vectors["weights"], arguments["weights"], frame.index)
        if "weights" in vectors
        else None
    )
    offset = (
        inputs.numbers(vectors["offset"], "offset", frame.index)
        if "offset" in vectors
        else None
    )
    costs = (
        None
        if recipe.costs is None
        else inputs.cost_matrix(recipe.costs, rows, whole.index)
    )
    if costs is not None:
        missing["costs"] = np.asarray(np.isnan(costs).any(axis=1))
    # not "all", that of the data
    declared = recipe.levels is not None and not isinstance(recipe.levels, str)
    kept = _kept(
        frame.index, response, missing, weights, recipe.na_action, declared, one_level
    )
    cluster = (
        inputs.cluster_codes(kept.take(vectors["cluster"].value))
        if "cluster" in vectors
        else None
    )
    weights = kept.take(weights)
    if survey is not None and weights is not None:
        survey = (survey if rows is None else survey.take(rows)).take(
            slice(None) if kept.mask is None else kept.mask
        )
        survey.check()
        survey.check_levels(kept.y, kept.fields["levels"].values)
        cluster = survey.cluster
        weights = np.asarray(weights / weights.mean())  # only their ratios matter
    values = {key: kept.take(value) for key, value in values.items()}
    fitted = dict(states or {})
    values |= spec.evaluate_learned(
        expressions, columns.among(kept.mask), fitted, weights
    )
    spec = replace(spec, states=fitted, levels=kept.fields["levels"].values)
    part, fields = _model(recipe, spec, values, columns, used, kept)
    if offset is not None:
        part = replace(
            part,
            offset=(
                kept.take(offset)
                if part.offset is None
                else part.offset + kept.take(offset)
            ),
        )
    sample = Sample(
        rows=part,
        y=kept.y,
        n_levels=kept.used.size,
        weights=weights,
        costs=(
            None
            if costs is None
            else kept.take(inputs.check_costs(costs, response, kept.used, frame.index))
        ),
        cluster=cluster,
        categories=fields.pop("categories"),
    )
    fields |= kept.fields | {"notes": tuple(kept.fields["notes"])}
    design = Design(
        sample=sample,
        survey=survey,
        data=data,
        recipe=recipe,
        formula=recipe.formula,
        **fields,
    )
    return (
        design
        if recipe.constraints is None
        else constrained(design, recipe.constraints)
    )


def _survey(recipe: Recipe, frame: pd.DataFrame) -> Survey:
    """The survey of all rows, with its weights and clusters."""
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


class _Kept(NamedTuple):
    """The complete rows of positive weight.

    Attributes
    ----------
    mask : (N,) or None
        None if all rows are kept.
    y : (n,) codes of the levels in use
    used : (K,) codes of these among the declared levels
    fields : dict
        Fields of a design that these rows determine; notes are appended later.
    """

    mask: BoolArray | None
    y: IntArray
    used: IntArray
    fields: dict[str, Any]

    def take(self, value: Any) -> Any:
        """The kept rows of a value."""
        return value if self.mask is None or value is None else take(value, self.mask)


def _kept(
    index: pd.Index,
    response: inputs.Response,
    missing: Mapping[str, BoolArray],
    weights: FloatArray | None,
    na_action: str = "omit",
    keep_levels: bool = False,
    one_level: bool = False,
) -> _Kept:
    """The rows to use; masks `missing` are by name.

    `keep_levels` keeps levels without rows, `one_level` does without rows of two
    levels.
    """
    masks = {
        name: mask
        for name, mask in {response.name: response.codes < 0, **missing}.items()
        if mask.any()
    }
    lost = (
        np.any([*masks.values()], axis=0) if masks else np.zeros(len(index), dtype=bool)
    )
    dropped = {name: int(mask.sum()) for name, mask in masks.items()}
    notes = list[str]()
    if masks:
        if na_action == "raise":
            raise incomplete(
                dropped,
                int(lost.sum()),
                len(index),
                f"; first {row_name(index, int(np.argmax(lost)))}",
            )
        notes = [left_out(dropped, int(lost.sum()), len(index))]
    if weights is not None and (zero := weights == 0).any():
        dropped[ZERO_WEIGHT] = int(zero.sum())
        lost = lost | zero
    if lost.all():
        why = _counted(dropped).replace(ZERO_WEIGHT, "weights= of 0")
        raise DataError(
            f"None of the {len(index)} rows can be"
            f" used{why and '; left out for '}{why}."
        )
    mask = ~lost if dropped else None
    codes, index_kept = (
        (response.codes, index) if mask is None else (response.codes[mask], index[mask])
    )
    declared = response.declared
    every = np.arange(len(declared))
    used = every if one_level else inputs.used_levels(codes, declared, response.name)
    absent = [declared[k] for k in np.setdiff1d(every, used)]
    used = every if keep_levels else used
    unused = np.delete(np.arange(len(declared)), used)
    levels = Levels(
        values=tuple([declared[k] for k in used]),
        unused=tuple([declared[k] for k in unused]),
    )
    notes += [*response.notes, *_unused_note(levels.unused, "the response")]
    if keep_levels and absent and not one_level:
        notes.append(
            f"No row has the levels {shown_labels(absent)} of the response: their"
            " probability is 0."
        )
    fields = {
        "index": index_kept,
        "n_given": len(index),
        "dropped": dropped,
        "notes": notes,
    }
    # of the declared levels, among those used
    places = np.argsort(np.concatenate([used, unused]))
    return _Kept(
        mask,
        places[codes],
        used,
        fields | {"levels": levels, "response": response.name},
    )


def left_out(dropped: Mapping[str, int], lost: int, n: int) -> str:
    """The note on rows left out for a missing value, counted by variable."""
    return f"{lost} of {n} rows left out for missing values: {_counted(dropped)}."


def incomplete(
    dropped: Mapping[str, int], lost: int, n: int, where: str = ""
) -> DataError:
    """The error of rows with a missing value under na_action='raise'."""
    what = f"{lost} of {n} rows have missing values: {_counted(dropped)}{where}"
    return DataError(f"{what}. Fill or drop them, or use na_action='omit'.")


def _counted(dropped: Mapping[str, int]) -> str:
    return ", ".join(f"{name} ({count})" for name, count in dropped.items())


def _unused_note(labels: Collection[Any], of: str) -> list[str]:
    return (
        [f"Levels of {of} without rows were left out: {shown_labels(labels)}."]
        if labels
        else []
    )


def _rare_note(coding: Coding, value: Value, label: str) -> list[str]:
    """A note on categories that are too many for a column of codes."""
    if not coding.whole or coding.ordered or len(coding.levels) < MOST_CATEGORIES:
        return []
    rare = int((matched(cast(Factor, value), coding.levels)[0] == -2).sum())
    many = (
        f"{label!r} has more than {MOST_CATEGORIES} categories: the rarer ones count as"
        " missing values"
    )
    return [f"{many} ({rare} rows)."] if rare else []


def formulas(recipe: Recipe, frame: pd.DataFrame) -> FormulaSpec:
    """The formulas, not yet evaluated."""
    surveyed = () if recipe.design is None else recipe.design.columns
    named = (recipe.weights, recipe.offset, recipe.cluster, *surveyed)

    def free(text: str, response: str = "") -> tuple[str, ...]:
        """Columns that a dot stands for."""
        if not uses_dot(text):
            return ()
        taken = {name for name in named if isinstance(name, str)} | {response}
        return tuple(str(name) for name in frame.columns if str(name) not in taken)

    response, location = parse_formula(recipe.formula, free(recipe.formula))
    if isinstance(recipe.offset, str):
        offset = inputs.expression_of(recipe.offset, Columns(frame))
        location = replace(location, offsets=(*location.offsets, offset))
    sides: dict[str, Any] = {"nominal": None, "scale": None}
    for role in sides:
        if (text := getattr(recipe, role)) is None:
            continue
        if not isinstance(text, str):
            raise FormulaError(
                f"{role}= must be a one-sided formula such as '~ x1 + x2'; got"
                f" {text!r}."
            )
        side = sides[role] = parse_one_sided(text, free(text, response), role)
        if side.random or (role == "nominal" and side.offsets):
            problem = "random term" if side.random else "offset()"
            raise FormulaError(
                f"{role}= must have no {problem}: put it in the formula."
            )
    if location.random and recipe.design is not None:
        raise OptionError(
            "design= must be left out if the formula has random effects. Give the"
            " groups as its clusters."
        )
    spec = FormulaSpec(
        location=location,
        response_name=response,
        na_action=recipe.na_action,
        array_offset=recipe.offset is not None and not isinstance(recipe.offset, str),
        **sides,
    )
    key = quoted(response)
    if key in spec.factors or key in spec.groups:
        raise FormulaError(
            f"The response {response!r} is also on the right of the formula. Take it"
            " out there."
        )
    return spec


def _contrasts(
    contrasts: Any, spec: FormulaSpec, used: Collection[str], frame: pd.DataFrame
) -> dict[str, Contrasts]:
    """contrasts= by factor key."""
    labels = [factor.label for factor in spec.factors.values()]
    keys = {factor.label: key for key, factor in spec.factors.items()} | {
        key: key for key in spec.factors
    }
    coded = {}
    for name, kind in mapping("contrasts", contrasts, "{'x': 'sum'}").items():
        call = isinstance(kind, str) and "(" in kind
        coding = contrast_of(parse_expression(kind).tree) if call else contrast(kind)
        if name in keys:
            coded[keys[name]] = coding
        elif (
            not isinstance(name, str)
            or name in used
            or ("(" not in name and name not in frame.columns)
        ):
            problem = (
                f"contrasts= names {name!r}, which is not a factor of the model"
                f" ({shown_labels(labels)})"
            )
            made = [
                factor.label for factor in spec.factors.values() if name in factor.names
            ]
            near = (
                f"write {made[0]!r}."
                if made
                else suggest(name, [*labels, *frame.columns])
            )
            raise FormulaError(f"{problem}; {near}")
    return coded


def _model(
    recipe: Recipe,
    spec: FormulaSpec,
    values: Mapping[str, Value],
    columns: Columns,
    used: Collection[str],
    kept: _Kept,
) -> tuple[Rows, dict[str, Any]]:
    """The complete rows, and fields of a design that describe their columns; notes are
    appended to those of `kept`.

    `values` are those of the complete rows, made from the columns `used`.
    """
    notes = kept.fields["notes"]
    codings = dict[str, Coding]()
    n = kept.y.size
    if not all(part.intercept for part in spec.parts):
        notes.append(
            "A formula removes the intercept; this has no effect, as the thresholds are"
            " the intercepts."
        )
    needed = frozenset().union(
        *(expression.names for expression in (spec.factors | spec.offsets).values())
    )
    # new data may lack columns that only define groups
    predictors = [name for name in used if name in needed]
    notes += [part.note for part in spec.parts if part.note]
    notes += column_notes(columns, predictors)
    contrasts = (
        {}
        if recipe.contrasts is None
        else _contrasts(recipe.contrasts, spec, used, columns.frame)
    )
    for key, factor in spec.factors.items():
        codings[key], unused = fit_coding(
            factor, values[key], contrasts.get(key), recipe.as_categories
        )
        notes += _unused_note(unused, factor.label)
        notes += _rare_note(codings[key], values[key], factor.label)
    spec = replace(
        spec,
        codings=codings,
        columns=tuple(predictors),
        declared=columns.declared(predictors),
    )
    rows, matrices = spec.matrices(values, n)
    for matrix in matrices:
        _check_squares(matrix)
    location, nominal, scale = matrices
    numeric = {key for key, coding in codings.items() if not coding.levels}
    categorical = tuple(
        [term.label for term in spec.location.terms if numeric.isdisjoint(term.keys)]
    )
    empty = [
        location.names[j]
        for j in np.flatnonzero(np.isnan(location.squares))
        if np.isnan(rows.X[:, j]).all()
    ]
    if empty:
        notes.append(
            f"Columns without a value in the rows used: {shown_labels(empty)}."
        )
    if spec.location.random or recipe.cov is not None:
        random, random_rows, random_notes = fit_random_terms(
            spec.location.random, values, codings, n, recipe.cov
        )
        spec = replace(spec, random=random)
        rows = replace(rows, random=random_rows)
        notes += random_notes
        for term in spec.location.random:
            if term.columns.intercept and term.group.label in categorical:
                fixed = f"{term.text} stands beside fixed effects of {term.group.label}"
                notes.append(
                    f"{fixed}, which leave its intercept no variance: take one of them"
                    " out."
                )
    return rows, {
        "categories": location.categories,
        "names": location.names,
        "nominal_names": nominal.names,
        "scale_names": scale.names,
        "terms": location.terms,
        "nominal_terms": nominal.terms,
        "scale_terms": scale.terms,
        "categorical": categorical,
        "random": spec.random,
        "spec": spec,
    }


def _check_squares(part: Assembled) -> None:
    """DataError for a column with squares that overflow or vanish, by name."""
    for j in np.flatnonzero(~((part.squares > _LEAST) & (part.squares < np.inf))):
        # missing values turn the sum into NaN
        column = np.nan_to_num(part.matrix[:, j])
        with np.errstate(over="ignore", under="ignore"):
            square = np.sum(column**2)
        if column.any() and not _LEAST < square < np.inf:
            reach = (
                f"Column {part.names[j]!r} has values up to {np.abs(column).max():g}"
            )
            raise DataError(
                f"{reach}. Rescale it, so that its squares neither overflow nor vanish."
            )


def constrained(design: Design, constraints: Any) -> Design:
    """The design with sign constraints on some columns.

    Parameters
    ----------
    design : Design
    constraints : mapping of column to "+" or "-"
        Columns by their names in the design, such as "g[T.b]".

    Raises
    ------
    OptionError
        A constraint is not a sign, or a column is unknown or has categories without
        order.
    """
    if not isinstance(constraints, Mapping):
        raise OptionError(f"{_CONSTRAINTS}; got {constraints!r}.")
    signs = np.zeros(len(design.names), dtype=np.int8)
    for column, sign in constraints.items():
        if column not in design.names or str(sign) not in _SIGNS:
            columns_text = (
                "The columns are"
                f" {', '.join(design.names)}.{did_you_mean(str(column), design.names)}"
            )
            raise OptionError(
                f"{_CONSTRAINTS}; got {column!r}: {sign!r}. {columns_text}"
            )
        signs[design.names.index(column)] = _SIGNS[sign]
    unordered = (
        ()
        if design.sample.categories is None
        else design.sample.categories * (signs != 0)
    )
    if np.any(unordered):
        name = design.names[int(np.argmax(unordered))]
        raise OptionError(
            f"constraints must be on ordered columns. Make {name!r} an ordered"
            " categorical."
        )
    return (
        replace(design, sample=replace(design.sample, signs=signs))
        if signs.any()
        else design
    )
