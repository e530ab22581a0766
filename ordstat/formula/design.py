"""What a formula and a frame become: a sample with its names, and the way to rebuild it."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, reduce
from operator import or_
from types import ModuleType
from typing import Any, Protocol

import numpy as np
import pandas as pd

from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ..exceptions import DataError, FormulaError, OptionError
from .coding import (
    NOTHING,
    Assembled,
    Coded,
    Coding,
    FactorCoding,
    Marginality,
    NumberCoding,
    assemble,
    hypotheses,
    marginality,
    recoded,
)
from .columns import Columns, Factor, Value, read, take, with_gaps
from .contrasts import KINDS, stack
from .factors import Expression, Interpreter, Transform, coded_column, dotted_name, variables
from .frames import as_frame, find_column, has_column, refuse, shown_labels
from .inputs import cost_matrix
from .parse import (
    Part,
    Piece,
    RandomPart,
    cut,
    parse_formula,
    parse_one_sided,
    split_formula,
    substitute_dot,
    uses_dot,
    without_bars,
)
from .random_terms import RandomTerm
from .response import known_codes
from .sample import RandomRows, Rows, Sample
from .survey import Survey, SurveyDesign


class Context(dict[str, Any]):
    """Names that unsafe formulas may use; modules pickle by their name."""

    def __reduce__(self) -> tuple[Any, ...]:
        modules = {name: value.__name__ for name, value in self.items() if isinstance(value, ModuleType)}
        return _context, ({name: value for name, value in self.items() if name not in modules}, modules)


def _context(values: Mapping[str, Any], modules: Mapping[str, str]) -> Context:
    return Context({**values, **{name: importlib.import_module(module) for name, module in modules.items()}})


#: Arguments that a call shows.
_TOLD = (
    "nominal", "scale", "weights", "offset", "cluster", "costs", "design", "levels", "subset", "cov", "contrasts",
    "constraints", "na_action", "interactions", "safe",
)  # fmt: skip
_DEFAULTS = {"na_action": "omit", "safe": True}
_LONGEST = 60


def _short(value: Any) -> str:
    """A value as it was typed, where that is short."""
    text = repr(value) if isinstance(value, (str, bool, int, float, list, tuple, dict)) else ""
    return text if text and len(text) <= _LONGEST and "\n" not in text else "..."


@dataclass(frozen=True, eq=False)
class Recipe:
    """The arguments of `ordfit` that make a design, the data apart.

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
        Rows to use, such as "judge != '1'"; as if the others were not in the data, so that knots, means and levels
        come from the subset (R takes knots from all rows).
    cov : dict of group to covariance of its levels, optional
        Labelled data frames; see `random_terms.py`.
    contrasts : mapping of factor to contrast, optional
        "treatment" (the default, for ordered factors too), "sum", "helmert", "poly", "diff", "sas", R's names, or a
        (K, m) matrix. That of a column which no formula uses is kept for an update that brings it in, with a note.
    settled : tuple of str
        Names among the contrasts that need no such note, as an update may have taken them out.
    constraints : mapping, list of str, or what is kept of them, optional
        Signs and orders of coefficients; see `constraints.constrained`.
    na_action : {"omit", "raise", "keep"}
        What to do with rows where a value is missing; "keep" leaves those of location terms to the method.
    as_categories : bool
        Whether a factor whose contrasts nobody asked for is one column of codes in a term of its own.
    interactions : groups of columns of the data, optional
        Which may interact; see `constraints.grouped`.
    safe : bool
        False evaluates any Python in the formula.
    context : mapping, optional
        Names that an unsafe formula may use.
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
    settled: tuple[str, ...] = ()
    constraints: Any = None
    na_action: str = "omit"
    as_categories: bool = False
    interactions: Any = None
    safe: bool = True
    context: Mapping[str, Any] | None = None

    def arguments(self) -> str:
        """What was asked for beside the formula, as a call has it; three dots stand for arrays and long values.

        Examples
        --------
        >>> Recipe("y ~ x", nominal="~ z", levels=["low", "high"]).arguments()
        "nominal='~ z', levels=['low', 'high']"
        """
        return ", ".join(f"{name}={_short(getattr(self, name))}" for name in _TOLD if self._asked(name))

    def _asked(self, name: str) -> bool:
        value = getattr(self, name)
        empty = isinstance(value, (dict, list, tuple)) and not value
        return value is not None and not empty and (name not in _DEFAULTS or value != _DEFAULTS[name])

    def check(self) -> None:
        """OptionError where a survey design meets what it stands for."""
        if self.design is None:
            return
        if not isinstance(self.design, SurveyDesign):
            raise OptionError(f"design must be a SurveyDesign(weights=..., ...); got {self.design!r}.")
        for name, inside in (("weights", "weights"), ("cluster", "clusters")):
            if getattr(self, name) is not None:
                raise OptionError(
                    f"{name}= must be left out where design= is given: SurveyDesign({inside}=...) has it."
                )

    def updated(self, changes: Mapping[str, Any]) -> Recipe:
        """With some arguments changed; None leaves an argument as it is, and a dot stands for the old formula.

        Raises
        ------
        OptionError
            For a name that is no argument.
        """
        known = {field.name for field in fields(self)} - {"settled"}
        unknown = [name for name in changes if name not in known]
        if unknown:
            raise OptionError(f"update must have arguments among {', '.join(sorted(known))}; got {', '.join(unknown)}.")
        given = {name: value for name, value in changes.items() if value is not None}
        if "contrasts" in given:
            given["settled"] = ()
        if "formula" in given:
            given["formula"] = updated_formula(self.formula, given["formula"])
            if self.cov is not None and "cov" not in given:
                given["cov"] = _still_there(self.cov, given["formula"])
        for role in ("nominal", "scale"):
            old = getattr(self, role)
            if role in given and old is not None:
                given[role] = updated_side(old, given[role], role)
        return replace(self, **given)


def _still_there(cov: Mapping[str, Any], formula: str) -> dict[str, Any] | None:
    """Covariances of the groups that a formula has."""
    groups = {part.group.label for part in parse_formula(formula, ())[1].random} if not uses_dot(formula) else set()
    return {name: K for name, K in cov.items() if name in groups} or None


def updated_formula(old: str, new: str) -> str:
    """R's update of a formula, random terms too: a dot keeps the old ones, and a minus takes one away.

    Examples
    --------
    >>> updated_formula("rating ~ temp + (1 | judge)", "~ . - (1|judge) + (1 | bottle)")
    'rating ~ temp + (1 | bottle)'
    """
    head, new_right = _head(new)
    fixed, changes = cut(new_right)
    old_fixed, old_bars = without_bars(old)
    if not old_bars and not changes:
        return _updated_fixed(old, new)
    continued = uses_dot(fixed) or new_right.lstrip().startswith(("+", "-"))
    kept = {_squeezed(bar): bar.text for bar in (old_bars if continued else ())}
    for change in changes:
        if change.sign == "+":
            kept[_squeezed(change)] = change.text
        elif kept.pop(_squeezed(change), None) is None:
            raise FormulaError(f"update takes away the random term {change.text}, which the formula {old!r} has not.")
    begun = "+ " if changes and continued and not uses_dot(fixed) and not fixed.startswith(("+", "-")) else ""
    fixed = _updated_fixed(old_fixed, f"{head}{begun}{fixed}")
    return " + ".join([fixed, *kept.values()])


def _head(formula: str) -> tuple[str, str]:
    """What stands up to the tilde, and after it."""
    place = formula.rfind("~") + 1
    return formula[:place], formula[place:]


def _squeezed(bar: Piece) -> str:
    """The text of a random term, however it is spaced."""
    return "".join(bar.text.split())


def _updated_fixed(old: str, new: str) -> str:
    """R's update of a formula: a dot on either side of `new` stands for that side of `old`.

    Examples
    --------
    >>> updated_formula("rating ~ temp * contact", "~ . - temp:contact")
    'rating ~ temp + contact'
    >>> updated_formula("rating ~ temp", ". ~ . + log(x3)")
    'rating ~ temp + log(x3)'
    >>> updated_formula("rating ~ temp", "+ judge")
    'rating ~ temp + judge'
    """
    old_left, _, old_right = split_formula(old)
    left, tilde, right = split_formula(new)
    if not tilde:
        left, right = "", _after_sign(left)
    left = old_left if left.strip() in ("", ".") else left
    text = f"{left.strip()} ~ {substitute_dot(right, old_right)}"
    if uses_dot(text):
        return text
    part = parse_formula(text, ())[1]
    plain = f"{left.strip()} ~ {_side_text(part)}"
    return plain if parse_formula(plain, ())[1] == part else text


def updated_side(old: str, new: str, role: str) -> str:
    """`updated_formula` of a one-sided formula."""
    text = substitute_dot(_right(new), _right(old))
    return f"~ {text}" if uses_dot(text) else f"~ {_side_text(parse_one_sided(text, (), role))}"


def _right(text: str) -> str:
    left, tilde, right = split_formula(text)
    return right if tilde else _after_sign(left)


def _after_sign(text: str) -> str:
    """What begins with a sign goes on from the old terms."""
    return f". {text}" if text.lstrip().startswith(("+", "-")) else text


def _side_text(part: Part) -> str:
    """The terms and offsets of a part, written out."""
    pieces = [term.text for term in part.terms]
    pieces += [f"offset({offset.text})" for offset in part.offsets]
    return " + ".join(pieces) if pieces else "1"


@dataclass(frozen=True, eq=False, kw_only=True)
class Levels:
    """The ordered levels of a response, in the user's own labels.

    Attributes
    ----------
    values : tuple
        K labels, lowest first.
    unused : tuple
        Declared levels that no row (of positive weight) has; they are not among `values`.
    """

    values: tuple[Any, ...]
    unused: tuple[Any, ...] = ()

    def categorical(self, codes: IntArray, index: pd.Index, name: str | None = None) -> pd.Series:
        """Ordered categorical series of codes 0..K-1; a code of -1 becomes NaN."""
        dtype = pd.CategoricalDtype(list(self.values), ordered=True)
        return pd.Series(pd.Categorical.from_codes(codes, dtype=dtype), index=index, name=name)


@dataclass(frozen=True, eq=False, kw_only=True)
class NewRows:
    """Rows rebuilt from new data, one a row of that data.

    Attributes
    ----------
    rows : Rows
        Only the complete rows.
    complete : (N,) mask
        Which rows of the new data have all inputs.
    index : pandas.Index
        Index of all rows of the new data.
    """

    rows: Rows
    complete: BoolArray
    index: pd.Index


class Spec(Protocol):
    """Rebuilds the same columns from new data."""

    @property
    def columns(self) -> tuple[Any, ...] | None:
        """Columns that new data need; None where they are found by position."""

    def categories(self) -> dict[str, tuple[Any, ...]]:
        """Levels of the columns that are coded as factors."""

    def rebuild(self, data: Any, without: frozenset[str] = frozenset()) -> NewRows:
        """Model matrices of new data; unseen levels and missing columns raise DataError."""

    def response(self, data: Any) -> IntArray:
        """(N,) codes of the response in new data, -1 where missing; an unknown level raises DataError."""

    def costs(self, data: Any, n_levels: int) -> FloatArray | None:
        """(N, K) costs of new data, where the fit took them from columns that these data have too; else None."""

    def marginality(self) -> Marginality:
        """Which location terms contain which."""

    def variables(self) -> Mapping[str, frozenset[str]]:
        """Columns of the data in each term of any part."""

    def linear_in(self, name: str) -> bool:
        """Whether a number enters the columns as it is, alone or times others, and in no transform."""

    def hypotheses(self, contrasts: str) -> Mapping[str, FloatArray]:
        """Term by term, the rows L: L b are its coefficients if all factors had these contrasts."""

    def recoded(self, design: Design, terms: Iterable[str]) -> FloatArray | None:
        """(N, m) columns of a formula of these terms alone, from those of the design; None where they do not tell."""


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
    spec : Spec
    data : the frame the design was made of, or None
        A reference, neither copied nor pickled.
    recipe : Recipe or None
        How it was asked for; None where it was made from arrays.
    make : callable or None
        Makes a design of a recipe and data.
    """

    sample: Sample
    names: tuple[str, ...]
    levels: Levels
    response: str
    formula: str
    index: pd.Index
    n_given: int
    spec: Spec
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
    make: Callable[[Recipe, Any], Design] | None = field(default=None, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the data."""
        return {**self.__dict__, "data": None}

    def updated(self, data: Any = None, **changes: Any) -> Design:
        """The design of a changed formula, or of other arguments of `ordfit` that make a design.

        Parameters
        ----------
        data : data frame, optional
            The data of the fit if not given; they must still be those.
        **changes
            `formula`, `nominal`, `scale` (a dot stands for the old one), `weights`, `cluster`, ...; None changes
            nothing.

        Raises
        ------
        DataError
            The data are not at hand, or not what they were.
        """
        if self.recipe is None or self.make is None:
            raise DataError("The fit was made from arrays, without a formula: fit again with the arrays to use.")
        changed = self.recipe.updated(changes)
        if data is not None:
            return self.make(changed, data)
        if self.data is None:
            raise DataError(
                "The data of the fit are not at hand (a fit is saved and pickled without them): pass data= with the "
                "data, here or to load(path, data=...)."
            )
        _check_unchanged(self, self.make(self.recipe, self.data))
        return self.make(changed, self.data)

    def coded(self, as_categories: bool) -> Design:
        """The same with factors as columns of codes, or of contrasts, where it has factors and a formula.

        Raises
        ------
        DataError
            The data are not at hand, or not what they were.
        """
        if self.recipe is None or self.recipe.as_categories == as_categories or not self.spec.categories():
            return self
        return self.updated(as_categories=as_categories)

    def beside(self, data: Any) -> Design:
        """The same with its data at hand.

        Raises
        ------
        DataError
            They are not the data that it was made of.
        """
        if self.recipe is None or self.make is None:
            raise DataError("data= is of no use here: the fit was made from arrays, without a formula.")
        changed = _changes(self, self.make(self.recipe, data))
        if changed is not None:
            raise DataError(f"data= must be the data of the fit, all rows in their order; they differ: {changed}.")
        return replace(self, data=data)


def _check_unchanged(stored: Design, rebuilt: Design) -> None:
    """DataError where the data no longer give the design that was fitted."""
    changed = _changes(stored, rebuilt)
    if changed is not None:
        raise DataError(
            f"The data have changed since the fit ({changed}): fit again, or pass data= with the data to use."
        )


def _changes(stored: Design, rebuilt: Design) -> str | None:
    """What differs between two designs, in words."""
    same_levels = stored.levels.values == rebuilt.levels.values
    return _difference(stored.sample, rebuilt.sample) if same_levels else "the levels of the response"


def _difference(one: Sample, other: Sample) -> str | None:
    """What differs between two samples, in words."""
    if one.n != other.n:
        return f"{one.n} rows were used, now there are {other.n}"
    pairs: dict[str, tuple[Any, Any]] = {
        "the response": (one.y, other.y),
        "the columns of the formula": (one.X, other.X),
        "the nominal columns": (one.rows.nominal, other.rows.nominal),
        "the scale columns": (one.rows.scale, other.rows.scale),
        "the offset": (one.rows.offset, other.rows.offset),
        "the offset of the scale": (one.rows.scale_offset, other.rows.scale_offset),
        "the weights": (one.weights, other.weights),
        "the clusters": (one.cluster, other.cluster),
    }
    for what, (before, now) in pairs.items():
        if (before is None) != (now is None) or (
            before is not None and not np.array_equal(before, now, equal_nan=True)
        ):
            return what
    groups = one.rows.random, other.rows.random
    if (groups[0] is None) != (groups[1] is None):
        return "the random terms"
    return None if groups[0] is None or groups[1] is None or groups[0].same(groups[1]) else "the groups"


#: Up to so many entries a copy costs less than a look at each column.
_SMALL = 1 << 20


@dataclass(frozen=True)
class Parts:
    """The right-hand sides of a model by role; None where not asked for."""

    location: Part
    nominal: Part | None = None
    scale: Part | None = None

    def all(self) -> list[Part]:
        return [part for part in (self.location, self.nominal, self.scale) if part is not None]

    def factors(self) -> dict[str, Expression]:
        """Every factor of every term, random ones too, once."""
        every = [*self.all(), *(random.columns for random in self.random)]
        return {factor.key: factor for part in every for term in part.terms for factor in term.factors}

    @property
    def random(self) -> tuple[RandomPart, ...]:
        """The random terms."""
        return self.location.random

    def groups(self) -> dict[str, Expression]:
        """The factors whose values make the groups of random terms."""
        return {factor.key: factor for random in self.random for factor in random.group.factors}

    def gapped(self, na_action: str) -> frozenset[str]:
        """Keys of the factors that may be missing: those of the location terms under "keep", else none."""
        terms = self.location.terms if na_action == "keep" else ()
        return frozenset(factor.key for term in terms for factor in term.factors)

    def offsets(self) -> dict[str, Expression]:
        return {offset.key: offset for part in self.all() for offset in part.offsets}


def evaluate(
    expressions: Mapping[str, Expression],
    interpreter: Interpreter,
    index: pd.Index,
    gapped: Collection[str] = (),
) -> tuple[dict[str, Value], dict[str, BoolArray], tuple[str, ...]]:
    """Values of all expressions by key, the missing rows of the columns they came from, and those columns.

    A NaN or infinity made from values that are neither raises DataError. Values of the keys `gapped` are NaN where a
    column of theirs is missing, and these rows are not counted as missing.
    """
    values: dict[str, Value] = {}
    missing: dict[str, BoolArray] = {}
    columns: dict[str, None] = {}
    for key, expression in expressions.items():
        value, names, unknown = interpreter.evaluate(expression)
        if key not in names:
            _check_created(value, expression.label, unknown, index)
        columns |= dict.fromkeys(names)
        if key in gapped:
            values[key] = with_gaps(value, unknown)
            continue
        masks = {name: interpreter.columns[name].missing for name in names}
        missing |= {name: mask for name, mask in masks.items() if mask is not None}
        values[key] = value
    return values, missing, tuple(columns)


def _check_created(value: Value, label: str, missing: BoolArray | None, index: pd.Index) -> None:
    if isinstance(value, Factor) or value.dtype.kind != "f":
        return
    bad = ~np.isfinite(value if value.ndim == 1 else value.sum(axis=1))
    if missing is not None:
        bad &= ~missing
    rest = " although its columns are: change the term, or set those rows missing (NaN) to leave them out."
    refuse(bad, index, repr(label), "not finite", rest)


def matrices(
    parts: Parts, values: Mapping[str, Value], codings: Mapping[str, Coding], n: int
) -> tuple[Rows, Assembled, Assembled, Assembled]:
    """Rows of all roles from complete values, and the matrices of location, nominal and scale effects with names."""

    def role(part: Part | None) -> Assembled:
        return assemble(part, values, codings, n) if part is not None and part.terms else NOTHING

    location = assemble(parts.location, values, codings, n)
    nominal, scale = role(parts.nominal), role(parts.scale)
    rows = Rows(
        X=location.matrix,
        offset=_total(parts.location, values),
        nominal=nominal.matrix if nominal.names else None,
        scale=scale.matrix if scale.names else None,
        scale_offset=None if parts.scale is None else _total(parts.scale, values),
    )
    return rows, location, nominal, scale


def _total(part: Part, values: Mapping[str, Value]) -> FloatArray | None:
    """Sum of the offsets of a part, None where it has none."""
    if not part.offsets:
        return None
    found = [(offset, values[offset.key]) for offset in part.offsets]
    for offset, value in found:
        if isinstance(value, Factor) or value.ndim != 1:
            raise DataError(f"offset({offset.label}) must be one column of numbers.")
    return np.asarray(sum(np.asarray(value, dtype=float) for _, value in found))


@dataclass(frozen=True, eq=False, kw_only=True)
class FormulaSpec:
    """Rebuilds the columns of a formula [Spec].

    Attributes
    ----------
    parts : Parts
    codings : mapping of factor key to Coding
    states : mapping of call to fitted transform
    columns : tuple of str
        What the right-hand sides need of new data.
    declared : mapping of column to Factor
        The factor columns, without rows.
    response_name : str
    levels : tuple
        Labels of the response, lowest first.
    context : mapping or None
        Names open to an unsafe formula.
    cost_names : tuple of str or None
    random : tuple of RandomTerm
    array_offset : bool
        Whether the fit had an offset given as an array, which new data cannot supply.
    na_action : str
        With "keep" rows with a missing value of a location term are complete.
    """

    parts: Parts
    codings: Mapping[str, Coding]
    states: Mapping[str, Transform]
    columns: tuple[str, ...]
    declared: Mapping[str, Factor]
    response_name: str
    levels: tuple[Any, ...]
    context: Mapping[str, Any] | None = None
    cost_names: tuple[str, ...] | None = None
    random: tuple[RandomTerm, ...] = ()
    array_offset: bool = field(default=False)
    na_action: str = "omit"

    def categories(self) -> dict[str, tuple[Any, ...]]:
        """Levels of the columns that are factors of the formula, alone or by C()."""
        found: dict[str, tuple[Any, ...]] = {}
        for key, expression in self.parts.factors().items():
            coding, name = self.codings[key], coded_column(expression.tree)
            if isinstance(coding, FactorCoding) and name is not None:
                found.setdefault(name, coding.levels)
        return found

    def rebuild(self, data: Any, without: frozenset[str] = frozenset()) -> NewRows:
        """Model matrices of new data, incomplete rows flagged.

        Parameters
        ----------
        data : data frame
        without : frozenset of str
            Random terms whose groups are not looked at: all are new, and none is missing.

        Raises
        ------
        DataError
            For a missing column, a level the fit has not seen, or a term that is not finite.
        """
        if self.array_offset:
            raise DataError(
                "The fit had offset= given as an array, which new data cannot supply: give it as a column name, or "
                "write offset(...) in the formula."
            )
        frame = as_frame(data)
        X = _plain_matrix(frame, self._plain) if self._plain else None
        if X is not None:
            return NewRows(rows=Rows(X=X), complete=np.ones(len(frame), dtype=bool), index=frame.index)
        return self._evaluated(frame, without)

    @cached_property
    def _plain(self) -> tuple[str, ...]:
        """The columns of a model whose terms are each one column of numbers, in their order; empty for any other."""
        part, names = self.parts.location, []
        for term in part.terms:
            name = dotted_name(term.factors[0].tree)
            if len(term.factors) > 1 or name is None or not isinstance(self.codings[term.factors[0].key], NumberCoding):
                return ()
            names.append(name)
        return () if part.offsets or part.random or self.parts.nominal or self.parts.scale else tuple(names)

    def _evaluated(self, frame: pd.DataFrame, without: frozenset[str]) -> NewRows:
        self._check_columns(frame)
        interpreter = Interpreter(Columns(frame, self.declared, self.categories), dict(self.states), self.context)
        known = {term: term.text not in without and self._has_groups(term, frame) for term in self.random}
        groups = {f.key: f for term, at_hand in known.items() if at_hand for f in term.part.group.factors}
        expressions, gapped = self.parts.factors() | self.parts.offsets() | groups, self.parts.gapped(self.na_action)
        values, missing, _ = evaluate(expressions, interpreter, frame.index, gapped)
        complete = np.ones(len(frame), dtype=bool)
        if missing:
            complete = ~reduce(or_, missing.values())
            values = {key: take(value, complete) for key, value in values.items()}
        n = int(complete.sum())
        rows, *_ = matrices(self.parts, values, self.codings, n)
        random = [
            term.columns(values, self.codings, term.codes(values) if at_hand else np.full(n, -1, dtype=np.intp))
            for term, at_hand in known.items()
        ]
        rows = replace(rows, random=RandomRows(tuple(random))) if random else rows
        return NewRows(rows=rows, complete=complete, index=frame.index)

    def _has_groups(self, term: RandomTerm, frame: pd.DataFrame) -> bool:
        """Whether the columns that make the groups of a random term are there; else every group is a new one."""
        names = [name for factor in term.part.group.factors for name in variables(factor.tree)]
        return all(has_column(frame, name) for name in names)

    def _check_columns(self, frame: pd.DataFrame) -> None:
        absent = [name for name in self.columns if not has_column(frame, name)]
        if absent:
            raise DataError(
                f"The new data have no column {shown_labels(absent)}; the model needs {shown_labels(self.columns, 60)}."
            )

    def response(self, data: Any) -> IntArray:
        """(N,) codes of the response in new data, -1 where missing.

        Raises
        ------
        DataError
            For a missing column or a level the fit has not seen.
        """
        column = find_column(as_frame(data), self.response_name, "the response")
        return known_codes(read(column), self.response_name, self.levels)

    def costs(self, data: Any, n_levels: int) -> FloatArray | None:
        """(N, K) costs in new data; None where the fit did not take them by column name, or the data have them not.

        None, too, where a declared level had no rows in the fit: its column is there as well.
        """
        frame = as_frame(data)
        names = self.cost_names
        if names is None or len(names) != n_levels or not all(has_column(frame, name) for name in names):
            return None
        return cost_matrix(list(names), frame, None, frame.index)

    def marginality(self) -> Marginality:
        """Which location terms contain which."""
        others = (part for part in (self.parts.nominal, self.parts.scale) if part is not None)
        return marginality(self.parts.location, others, self._location_codings())

    def variables(self) -> dict[str, frozenset[str]]:
        """Columns of the data in each term of any part."""
        return {
            term.label: frozenset().union(*(factor.names for factor in term.factors)) & frozenset(self.columns)
            for part in self.parts.all()
            for term in part.terms
        }

    def linear_in(self, name: str) -> bool:
        """Whether a number enters the columns as it is, alone or times others, and in no transform."""
        trees = [one.tree for one in (self.parts.factors() | self.parts.offsets()).values()]
        return all(dotted_name(tree) == name for tree in trees if name in variables(tree))

    def hypotheses(self, contrasts: str) -> dict[str, FloatArray]:
        """Term by term, the rows L: L b are its coefficients if all factors had these contrasts."""
        return hypotheses(self.parts.location, self._location_codings(), KINDS[contrasts])

    def recoded(self, design: Design, terms: Iterable[str]) -> FloatArray | None:
        """(N, m) columns of a formula of these terms alone, from those of the design; None where they do not tell."""
        rows, parts = design.sample.rows, self.parts
        roles = (
            (parts.location, design.terms, rows.X),
            (parts.nominal, design.nominal_terms, rows.nominal),
            (parts.scale, design.scale_terms, rows.scale),
        )
        coded = [Coded(part, slices, X) for part, slices, X in roles if part is not None and X is not None]
        return recoded(coded, self.codings, terms)

    def _location_codings(self) -> dict[str, Coding]:
        return {factor.key: self.codings[factor.key] for term in self.parts.location.terms for factor in term.factors}


def _plain_matrix(frame: pd.DataFrame, names: tuple[str, ...]) -> FloatArray | None:
    """(N, D) of columns of finite numbers; None where a column is missing, of another kind or not finite.

    Looking up one column of a frame after another costs more than a batch of a thousand rows takes to learn. Here they
    are taken together, and the sums of squares that come with their matrix tell whether every number is finite.
    """
    try:
        places = [frame.columns.get_loc(name) for name in names]
    except KeyError:
        return None
    if not all(isinstance(place, int) for place in places):  # several columns of one name
        return None
    positions = np.array(places, dtype=np.intp)
    if not all(isinstance(dtype, np.dtype) and dtype.kind in "iuf" for dtype in frame.dtypes.to_numpy()[positions]):
        return None
    matrix, squares = stack(_taken(frame, positions), len(frame))
    return matrix if np.isfinite(squares).all() else None  # numbers too large to square get the longer look


def _taken(frame: pd.DataFrame, positions: IntArray) -> list[AnyArray]:
    """The columns at these positions."""
    if len(frame) * positions.size <= _SMALL:
        return list(frame.take(positions, axis=1).to_numpy(dtype=float).T)
    return [frame.iloc[:, position].to_numpy() for position in positions]
