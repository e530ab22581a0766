"""What a formula and a frame become: a Sample with its names and the way to rebuild it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
import pandas as pd

from .._typing import BoolArray, FloatArray, IntArray
from ..exceptions import DataError
from ..model.sample import Rows, Sample
from ..model.survey import Survey
from .random_terms import RandomTerm
from .recipe import Recipe
from .terms import Marginality


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
