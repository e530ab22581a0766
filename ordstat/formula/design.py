"""What a formula and a frame become: a sample with its names, and how it was asked for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import reduce
from operator import or_
from typing import Any

import numpy as np
import pandas as pd

from .._typing import BoolArray, FloatArray, IntArray
from ..checks import mapping, one_of
from ..exceptions import DataError, FormulaError, OptionError
from .coding import Assembled, Coding, FactorCoding, column_categories, fit_coding
from .columns import Columns, Value, doubtful_columns, take
from .constraints import constrained, grouped
from .contrasts import Contrast, contrast
from .factors import Interpreter, column_expression, contrast_of, parse_expression
from .frames import as_frame, has_column, row_name, shown_labels, suggest
from .inputs import (
    Given,
    check_costs,
    cluster_codes,
    cost_columns,
    cost_matrix,
    is_expression,
    numbers,
    subset_mask,
    vector,
    weights_of,
)
from .parse import Part, parse_formula, parse_one_sided, split_formula, substitute_dot, uses_dot
from .random_terms import RandomTerm, fit_random_terms
from .response import Response, check_levels, read_response, used_levels
from .sample import Rows, Sample
from .spec import ArraySpec, FormulaSpec
from .survey import Survey, SurveyDesign, survey_of

ZERO_WEIGHT = "(weight 0)"
#: Sums of squares below this have lost digits.
_LEAST = 1e-290
#: Arguments that a call shows, and the longest value that it writes out.
_SHOWN = (
    "nominal", "scale", "weights", "offset", "cluster", "costs", "design", "levels", "subset", "cov", "contrasts",
    "constraints", "na_action", "interactions",
)  # fmt: skip
_LONGEST = 60


@dataclass(frozen=True, eq=False)
class Recipe:
    """The arguments of `ordfit` that make a design, apart from the data.

    Attributes
    ----------
    formula : str
        "y ~ x1 + temp * contact + offset(0.5 * x2) + ns(age, df=4) + I(x1^2)"; a dot stands for all columns not used
        elsewhere. The intercept is always implied: the thresholds are the intercepts.
    nominal, scale : str, optional
        One-sided formulas of the effects that differ per threshold, and of the log scale.
    weights, offset, cluster : column name or N values, optional
        Case weights (rows of weight 0 are left out), a known part of the score, groups of dependent rows. Weights and
        offset may also be an expression such as "w - 1". A Series must have the index of the data.
    costs : list of K column names, or (N, K) values, optional
        A row's own price of each predicted rank.
    design : SurveyDesign, optional
        How rows were drawn, in place of `weights` and `cluster`.
    levels : sequence, optional
        Labels of the response in order, lowest first.
    subset : mask or condition, optional
        Rows to use, such as "judge != '1'"; knots, means and levels come from the subset (R takes knots from all rows).
    cov : dict of group to covariance of its levels, optional
        Labelled data frames; see `random_terms.py`.
    contrasts : mapping of factor to contrast, optional
        "treatment" (the default, for ordered factors too), "sum", "helmert", "poly", "diff", "sas", R's names, or a
        (K, m) matrix. That of a column outside the formula is kept for an update.
    constraints : mapping, list of str, or constraints of an earlier design, optional
        Signs and orders of coefficients; see `constraints.constrained`.
    na_action : {"omit", "raise", "keep"}
        What to do with rows where a value is missing; "keep" leaves those of location terms to the method.
    as_categories : bool
        Whether a factor without contrasts of the user is one column of codes in a term of one factor.
    interactions : groups of columns of the data, optional
        Which may interact; see `constraints.grouped`.
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
    interactions: Any = None

    def arguments(self) -> str:
        """The arguments other than the formula, as in a call; three dots stand for arrays and long values.

        Examples
        --------
        >>> Recipe("y ~ x", nominal="~ z", levels=["low", "high"]).arguments()
        "nominal='~ z', levels=['low', 'high']"
        """
        shown = []
        for name in _SHOWN:
            value = getattr(self, name)
            empty = isinstance(value, (dict, list, tuple)) and not value
            if value is None or empty or (name == "na_action" and value == "omit"):
                continue
            text = repr(value) if isinstance(value, (str, bool, int, float, list, tuple, dict)) else ""
            shown.append(f"{name}={text if text and len(text) <= _LONGEST and chr(10) not in text else '...'}")
        return ", ".join(shown)

    def check(self) -> None:
        """OptionError if a survey design meets arguments that it replaces."""
        one_of("na_action", self.na_action, ("omit", "raise", "keep"))
        if self.design is None:
            return
        if not isinstance(self.design, SurveyDesign):
            raise OptionError(f"design must be a SurveyDesign(weights=..., ...); got {self.design!r}.")
        for name, inside in (("weights", "weights"), ("cluster", "clusters")):
            if getattr(self, name) is not None:
                raise OptionError(f"{name}= must be left out beside design=: SurveyDesign({inside}=...) has it.")

    def updated(self, changes: Mapping[str, Any]) -> Recipe:
        """With some arguments changed; None leaves an argument as it is, and a dot stands for the old formula."""
        known = sorted(field.name for field in fields(self))
        unknown = [name for name in changes if name not in known]
        if unknown:
            raise OptionError(f"update must have arguments among {', '.join(known)}; got {', '.join(unknown)}.")
        given = {name: value for name, value in changes.items() if value is not None}
        if "formula" in given:
            formula = given["formula"] = updated_formula(self.formula, given["formula"])
            if self.cov is not None and "cov" not in given:  # covariances of the groups that are left
                random = () if uses_dot(formula) else parse_formula(formula, ())[1].random
                groups = {part.group.label for part in random}
                given["cov"] = {name: K for name, K in self.cov.items() if name in groups} or None
        for role in ("nominal", "scale"):
            old = getattr(self, role)
            if role in given and old is not None:
                text = substitute_dot(_right(given[role]), _right(old))
                given[role] = f"~ {text if uses_dot(text) else parse_one_sided(text, (), role)}"
        return replace(self, **given)


def updated_formula(old: str, new: str) -> str:
    """R's update of a formula: a dot on either side of `new` stands for that side of `old`.

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
        Declared levels without rows (of positive weight); they are not among `values`.
    """

    values: tuple[Any, ...]
    unused: tuple[Any, ...] = ()

    def categorical(self, codes: IntArray, index: pd.Index, name: str | None = None) -> pd.Series:
        """Ordered categorical series of codes 0..K-1; a code of -1 becomes NaN."""
        dtype = pd.CategoricalDtype(list(self.values), ordered=True)
        return pd.Series(pd.Categorical.from_codes(codes, dtype=dtype), index=index, name=name)


@dataclass(frozen=True, eq=False, kw_only=True)
class Design:
    """A sample with the names that arrays cannot carry.

    Attributes
    ----------
    sample : Sample
    names : tuple of str
        Location columns.
    nominal_names, scale_names : tuple of str
    terms, nominal_terms, scale_terms : mapping of str to slice
        Columns of X, and of the nominal and scale columns, that belong to each term of their formula.
    categorical : tuple of str
        Location terms of factors alone.
    random : tuple of RandomTerm
        Names of the random terms and their groups.
    levels : Levels
    response : str
        Label of the response.
    formula : str
    index : pandas.Index
        Index of the rows used, in order.
    n_given : int
        Rows of the data before any were left out.
    dropped : mapping of str to int
        Rows left out for a missing value, by variable (a row may count under several), and
        under "(weight 0)" for rows of zero weight.
    survey : Survey or None
        How the rows were drawn; the weights of the sample are then sampling weights of mean 1.
    notes : tuple of str
        What was left out or changed, in words, for warnings and the summary.
    spec : FormulaSpec or ArraySpec
    data : the frame the design was made of, or None
        A reference, neither copied nor pickled.
    recipe : Recipe or None
        How it was asked for; None if it was made from arrays.
    """

    sample: Sample
    names: tuple[str, ...]
    levels: Levels
    response: str
    formula: str
    index: pd.Index
    n_given: int
    spec: FormulaSpec | ArraySpec
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
    recipe: Recipe | None = field(default=None, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the data."""
        return {**self.__dict__, "data": None}

    def updated(self, data: Any = None, **changes: Any) -> Design:
        """The design of a changed formula, or of other arguments of `ordfit` that make a design.

        Parameters
        ----------
        data : data frame, optional
            By default the data of the fit; they must not have changed.
        **changes
            `formula`, `nominal`, `scale` (a dot stands for the old one), `weights`, `cluster`, ...; None changes
            nothing.

        Raises
        ------
        DataError
            The data are not available, or have changed.
        """
        if self.recipe is None:
            raise DataError("The fit was made from arrays, without a formula: fit again with the arrays to use.")
        recipe = self.recipe.updated(changes)
        if data is not None:
            return make(recipe, data)
        if self.data is None:
            raise DataError(
                "The data of the fit are not at hand (a fit is saved and pickled without them): pass data= with the "
                "data, here or to load(path, data=...)."
            )
        changed = _difference(self, make(self.recipe, self.data))
        if changed is not None:
            raise DataError(
                f"The data have changed since the fit ({changed}): fit again, or pass data= with the data to use."
            )
        return make(recipe, self.data)

    def coded(self, as_categories: bool) -> Design:
        """The same with factors as columns of codes, or of contrasts."""
        if self.recipe is None or self.recipe.as_categories == as_categories or not self.spec.categories():
            return self
        return self.updated(as_categories=as_categories)

    def beside(self, data: Any) -> Design:
        """The same with a reference to its data; DataError if they are other data."""
        if self.recipe is None:
            raise DataError("data= must be left out: the fit was made from arrays, without a formula.")
        changed = _difference(self, make(self.recipe, data))
        if changed is not None:
            raise DataError(f"data= must be the data of the fit, all rows in their order; they differ: {changed}.")
        return replace(self, data=data)


def _difference(stored: Design, rebuilt: Design) -> str | None:
    """What differs between two designs, in words."""
    old, new = stored.sample, rebuilt.sample
    if stored.levels.values != rebuilt.levels.values:
        return "the levels of the response"
    if old.n != new.n:
        return f"{old.n} rows were used, now there are {new.n}"
    pairs: dict[str, tuple[Any, Any]] = {
        "the response": (old.y, new.y),
        "the columns of the formula": (old.X, new.X),
        "the nominal columns": (old.rows.nominal, new.rows.nominal),
        "the scale columns": (old.rows.scale, new.rows.scale),
        "the offset": (old.rows.offset, new.rows.offset),
        "the offset of the scale": (old.rows.scale_offset, new.rows.scale_offset),
        "the weights": (old.weights, new.weights),
        "the clusters": (old.cluster, new.cluster),
    }
    for what, (before, now) in pairs.items():
        both = before is not None and now is not None
        if not (np.array_equal(before, now, equal_nan=True) if both else before is now):
            return what
    before, now = old.rows.random, new.rows.random
    same = before.same(now) if before is not None and now is not None else before is now
    return None if same else "the groups"


def make(recipe: Recipe, data: Any) -> Design:
    """The design of a recipe and some data."""
    if not isinstance(recipe, Recipe):  # a forged file may hold anything
        raise DataError(f"A design must be made from a Recipe; got {type(recipe).__name__}.")
    recipe.check()
    whole = as_frame(data)
    survey = None if recipe.design is None else survey_of(recipe.design, whole)
    rows = None if recipe.subset is None else subset_mask(recipe.subset, whole)
    if rows is not None and not rows.any():
        raise DataError(f"subset= leaves none of the {len(whole)} rows.")
    frame = whole if rows is None else whole[rows]
    spec, levels = _parse(recipe, frame)
    interpreter = Interpreter(Columns(frame), {})
    values, missing, used = spec.evaluate(spec.factors() | spec.offsets() | spec.groups(), interpreter)
    contrasts = _contrasts(recipe.contrasts, spec, used, frame)
    arguments = {
        "weights": recipe.weights if recipe.design is None else recipe.design.weights,
        "offset": None if isinstance(recipe.offset, str) else recipe.offset,  # a name is part of the formula
        "cluster": recipe.cluster,
    }
    given = {
        role: vector(value, role, interpreter, rows, whole.index)
        for role, value in arguments.items()
        if value is not None
    }
    offset = numbers(given["offset"], "offset", frame.index) if "offset" in given else None
    declared = levels if recipe.levels is None else recipe.levels
    response = interpreter.columns.column(spec.response_name, "the response")

    def model(take_rows: Callable[[Any], Any], n: int, kept: Levels) -> tuple[Rows, dict[str, Any]]:
        complete = {key: take_rows(value) for key, value in values.items()}
        return _model(recipe, replace(spec, levels=kept.values), complete, interpreter, used, contrasts, n)

    design = design_of(
        frame.index,
        read_response(response, spec.response_name, None if declared is None else check_levels(declared)),
        missing,
        given,
        model,
        offset=offset,
        costs=None if recipe.costs is None else cost_matrix(recipe.costs, frame, rows, whole.index),
        survey=survey if survey is None or rows is None else survey.take(rows),
        na_action=recipe.na_action,
    )
    design = replace(design, data=data, recipe=recipe)
    design = design if recipe.constraints is None else constrained(design, recipe.constraints)
    return design if recipe.interactions is None else grouped(design, recipe.interactions)


def design_of(
    index: pd.Index,
    response: Response,
    missing: Mapping[str, BoolArray],
    given: Mapping[str, Given],
    model: Callable[[Callable[[Any], Any], int, Levels], tuple[Rows, dict[str, Any]]],
    *,
    offset: FloatArray | None = None,
    costs: FloatArray | None = None,
    survey: Survey | None = None,
    na_action: str = "omit",
    keep_levels: bool = False,
) -> Design:
    """The design of the complete rows of positive weight.

    Parameters
    ----------
    index : pandas.Index
        Of all rows, as are the response, the masks `missing`, the arguments `given`, the offset, costs and survey.
    model : callable(take, n, levels)
        Makes the n rows, and the other fields of the design; `take` takes those rows of a value.
    keep_levels : bool
        Keep declared levels without rows.
    """
    weights = weights_of(given["weights"], index) if "weights" in given else None
    masks: dict[str, BoolArray] = {response.name: np.asarray(response.codes < 0), **missing}
    for column, names in given.values():
        if column.missing is not None:
            masks[" + ".join(names)] = column.missing
    if costs is not None:
        masks["costs"] = np.asarray(np.isnan(costs).any(axis=1))
    masks = {name: mask for name, mask in masks.items() if mask.any()}
    notes = (_missing_note(masks, index, na_action),) if masks else ()
    if weights is not None and (zero := weights == 0).any():
        masks[ZERO_WEIGHT] = zero
    rows = ~reduce(or_, masks.values()) if masks else None
    if not len(index) or (rows is not None and not rows.any()):
        why = f"; left out for {_counts(masks)}".replace(ZERO_WEIGHT, "weights= of 0") if masks else ""
        raise DataError(f"No row of the {len(index)} given can be used{why}.")

    def take_rows(value: Any) -> Any:
        return value if rows is None or value is None else take(value, rows)

    codes, declared = take_rows(response.codes), response.declared
    used = np.arange(len(declared)) if keep_levels else used_levels(codes, declared, response.name)
    unused = [label for code, label in enumerate(declared) if code not in set(used.tolist())]
    levels = Levels(values=tuple(declared[code] for code in used), unused=tuple(unused))
    model_rows, fields = model(take_rows, codes.size, levels)
    if offset is not None:
        offset = take_rows(offset)
        model_rows = replace(model_rows, offset=offset if model_rows.offset is None else model_rows.offset + offset)
    cluster = cluster_codes(take_rows(given["cluster"].column.value)) if "cluster" in given else None
    weights = take_rows(weights)
    if survey is not None:
        survey = survey if rows is None else survey.take(rows)
        survey.check()
        assert weights is not None
        cluster, weights = survey.cluster, np.asarray(weights / weights.mean())  # only their ratios matter
    sample = Sample(
        rows=model_rows,
        y=np.searchsorted(used, codes),
        n_levels=used.size,
        weights=weights,
        costs=None if costs is None else take_rows(check_costs(costs, len(declared), used, index)),
        cluster=cluster,
        categories=fields.pop("categories", None),
    )
    return Design(
        sample=sample,
        levels=levels,
        response=response.name,
        index=take_rows(index),
        n_given=len(index),
        dropped={name: int(mask.sum()) for name, mask in masks.items()},
        survey=survey,
        notes=(*notes, *response.notes, *_unused_note(levels.unused, "the response"), *fields.pop("notes", ())),
        **fields,
    )


def _missing_note(missing: Mapping[str, BoolArray], index: pd.Index, na_action: str) -> str:
    """Which values are missing; DataError under na_action="raise"."""
    incomplete = reduce(or_, missing.values())
    count = f"{int(incomplete.sum())} of {len(index)} rows"
    if na_action == "raise":
        first = ", ".join(row_name(index, int(position)) for position in np.flatnonzero(incomplete)[:5])
        raise DataError(
            f"{count} have missing values: {_counts(missing)}; first {first}. "
            "Fill or drop them, or use na_action='omit'."
        )
    return f"{count} left out for missing values: {_counts(missing)}."


def _counts(masks: Mapping[str, BoolArray]) -> str:
    return ", ".join(f"{name} ({int(mask.sum())})" for name, mask in masks.items())


def _unused_note(labels: Collection[Any], of: str) -> tuple[str, ...]:
    return (f"Levels of {of} without rows were left out: {shown_labels(labels)}.",) if labels else ()


def _parse(recipe: Recipe, frame: pd.DataFrame) -> tuple[FormulaSpec, Any]:
    """The formulas, and the levels that the left side declares."""
    for name in ("nominal", "scale"):
        if not isinstance(text := getattr(recipe, name), str | None):
            raise FormulaError(f"{name}= must be a one-sided formula such as '~ x1 + x2'; got {text!r}.")
    surveyed = () if recipe.design is None else recipe.design.columns
    named = (recipe.weights, recipe.offset, recipe.cluster, *surveyed, *(cost_columns(recipe.costs) or ()))
    taken = {name for name in named if isinstance(name, str)}

    def free(text: str) -> tuple[str, ...]:
        """The columns that a dot stands for."""
        return tuple(str(name) for name in frame.columns if str(name) not in taken) if uses_dot(text) else ()

    response, location = parse_formula(recipe.formula, free(recipe.formula))
    if isinstance(recipe.offset, str):
        text = recipe.offset
        extra = parse_expression(text) if is_expression(text, frame) else column_expression(text)
        location = replace(location, offsets=(*location.offsets, extra))
    taken.add(response.column)
    sides: dict[str, Part | None] = {"nominal": None, "scale": None}
    for role in sides:
        if (text := getattr(recipe, role)) is None:
            continue
        side = sides[role] = parse_one_sided(text, free(text), role)
        if side.random or (role == "nominal" and side.offsets):
            what = "random term" if side.random else "offset()"
            raise FormulaError(f"{role}= must have no {what}: put it in the formula.")
    spec = FormulaSpec(
        location=location, nominal=sides["nominal"], scale=sides["scale"], response_name=response.column,
        na_action=recipe.na_action,
    )  # fmt: skip
    if location.random and recipe.design is not None:
        raise OptionError(
            "design= must be left out if the formula has random effects, whose likelihood is that of all rows. Give "
            "the groups as clusters of the design in place of a random term, or weights= for numbers of equal rows."
        )
    if column_expression(response.column).key in spec.factors() | spec.groups():
        raise FormulaError(f"The response {response.column!r} stands on the right of the formula too; take it out.")
    return spec, response.levels


def _contrasts(asked: Any, spec: FormulaSpec, used: Collection[str], frame: pd.DataFrame) -> dict[str, Contrast]:
    """contrasts= by factor key."""
    factors = spec.factors().values()
    keys = {name: factor.key for factor in factors for name in (factor.label, factor.key)}
    coded = {}
    for name, kind in mapping("contrasts", asked, "{'x': 'sum'}").items():
        call = isinstance(kind, str) and "(" in kind
        coding = contrast_of(parse_expression(kind).tree) if call else contrast(kind)
        if name in keys:
            coded[keys[name]] = coding
        elif name in used or (isinstance(name, str) and "(" not in name and not has_column(frame, name)):
            names = [factor.label for factor in factors]
            known = "." if name in used else f" and no column; {suggest(name, [*names, *frame.columns])}"
            raise FormulaError(
                f"contrasts= names {name!r}, which is no factor of the model ({shown_labels(names)}){known}"
            )
    return coded


def _model(
    recipe: Recipe,
    spec: FormulaSpec,
    values: Mapping[str, Value],
    interpreter: Interpreter,
    used: Collection[str],
    contrasts: Mapping[str, Contrast],
    n: int,
) -> tuple[Rows, dict[str, Any]]:
    """The n complete rows, and the fields of a design that describe their columns.

    `used` are the columns in `values`, which are complete.
    """
    codings: dict[str, Coding] = {}
    notes = []
    if not all(part.intercept for part in spec.parts):
        notes.append("A formula removes the intercept; it stays, as the thresholds are the intercepts.")
    factors = spec.factors()
    predictors = frozenset[str]().union(*(factor.names for factor in factors.values()))
    notes += doubtful_columns(interpreter.columns, [name for name in used if name in predictors])
    for key, factor in factors.items():
        codings[key], unused = fit_coding(factor, values[key], contrasts.get(key), recipe.as_categories)
        notes += _unused_note(unused, factor.label)
    spec = replace(spec, codings=codings)
    rows, matrices = spec.matrices(values, n)
    location, nominal, scale = matrices
    for matrix in matrices:
        _check_sizes(matrix)
    random, random_rows, random_notes = fit_random_terms(spec.location.random, values, codings, n, recipe.cov)
    categorical = tuple(
        term.label
        for term in spec.location.terms
        if all(isinstance(codings[factor.key], FactorCoding) for factor in term.factors)
    )
    gaps = np.flatnonzero(np.isnan(location.squares))
    empty = [location.names[j] for j in gaps if np.isnan(location.matrix[:, j]).all()]
    notes += [f"Columns without a value in the rows used: {shown_labels(empty)}."] * bool(empty)
    notes += random_notes
    notes += [
        f"{term.text} stands beside fixed effects of {term.group.label}, which leave its intercept no variance: "
        "take one of them out."
        for term in spec.location.random
        if term.columns.intercept and term.group.label in categorical
    ]
    outside = [*factors.values(), *spec.offsets().values()]  # new data may lack columns that make groups alone
    needed = frozenset[str]().union(*(expression.names for expression in outside))
    grouping = {name for group in spec.groups().values() for name in group.names} - needed
    spec = replace(
        spec,
        states=dict(interpreter.states),
        columns=tuple(name for name in used if name not in grouping),
        declared={name: factor for name, factor in interpreter.columns.declared().items() if name not in grouping},
        cost_names=cost_columns(recipe.costs),
        array_offset=recipe.offset is not None and not isinstance(recipe.offset, str),
        random=random,
    )
    return replace(rows, random=random_rows), {
        "notes": notes,
        "categories": column_categories(spec.location, codings),
        "formula": recipe.formula,
        "names": location.names,
        "nominal_names": nominal.names,
        "scale_names": scale.names,
        "terms": location.terms,
        "nominal_terms": nominal.terms,
        "scale_terms": scale.terms,
        "categorical": categorical,
        "random": random,
        "spec": spec,
    }


def _check_sizes(part: Assembled) -> None:
    """DataError for a column whose squares overflow or vanish, by its name."""
    squares, matrix = part.squares, part.matrix
    if np.isnan(squares).any():  # of columns with missing values
        matrix = np.nan_to_num(matrix)
        squares = (matrix**2).sum(axis=0)
    suspects = np.flatnonzero(~((squares > _LEAST) & (squares < np.inf)))
    bad = [j for j in suspects if matrix[:, j].any()]
    if bad:
        raise DataError(
            f"Column {part.names[bad[0]]!r} reaches {np.abs(matrix[:, bad[0]]).max():g}: rescale it, so that its "
            "squares neither overflow nor vanish."
        )
