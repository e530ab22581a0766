"""Random effects in scikit-learn's terms: which columns of X are groups, and predictions for groups not seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from ._typing import FloatArray
from .checks import one_of
from .design.build import build
from .design.design import Design
from .design.expressions import variables
from .design.parse import parse_formula
from .exceptions import DataError, FormulaError, OptionError

#: What the effects of groups not seen may be.
NEW_GROUPS = ("marginal", "zero", "error")


@dataclass(frozen=True)
class Grouping:
    """The `random` and `new_groups` of an OrdinalClassifier.

    Attributes
    ----------
    random : str
        Random terms, such as "(1 | judge)" or "(1 + x | school) + (1 | rater)".
    new_groups : str
    """

    random: str
    new_groups: str

    def __post_init__(self) -> None:
        one_of("new_groups", self.new_groups, NEW_GROUPS)
        _columns_of_groups(self.random)  # refuses what cannot be read

    @property
    def groups(self) -> list[str]:
        """Columns that make up groups."""
        return _columns_of_groups(self.random)

    def frame(self, X: Any) -> pd.DataFrame:
        """X as a frame that has the groups, none of them missing."""
        given = nw.from_native(X, eager_only=True, pass_through=True)
        if not isinstance(given, nw.DataFrame):
            raise DataError(
                f"X must be a data frame where random= names columns of it, {self.groups}; got {type(X).__name__}. In "
                "a Pipeline, .set_output(transform='pandas') keeps the names."
            )
        frame = given.to_pandas().reset_index(drop=True)
        for name in self.groups:
            if name not in frame:
                raise DataError(f"X must have the column {name!r}, which random= names; it has {[*frame.columns]}.")
            if (missing := int(frame[name].isna().sum())) > 0:
                raise DataError(f"X has {missing} missing values in the group {name!r}: leave these rows out.")
        return frame

    def fixed(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The columns of a frame that are no groups, one at least."""
        others = frame.drop(columns=self.groups)
        if others.shape[1] == 0:
            raise DataError(
                f"X must have a column besides the groups of random=, {self.groups}, for the fixed effects; got none. "
                f"Add one, or fit ordfit('y ~ 1 + {self.random}', data), which needs none."
            )
        return others

    def design(self, frame: pd.DataFrame, X: FloatArray, y: pd.Categorical, weights: FloatArray | None) -> Design:
        """All other columns, (N, D') in X, as fixed effects, and the random terms."""
        names = [*self.fixed(frame).columns]
        response = "y"
        while response in frame:
            response += "_"
        columns = pd.DataFrame(X, columns=names).join(frame[self.groups])
        right = [_quoted(str(name)) for name in names]
        formula = f"{response} ~ {' + '.join(right)} + {self.random}"
        return build(formula, columns.assign(**{response: y}), weights=weights, na_action="raise")

    def predict(self, results: Any, frame: pd.DataFrame, X: FloatArray, type: str) -> Any:
        """At the modes of groups that the fit has, and as `new_groups` says of rows with others."""
        columns = pd.DataFrame(X, columns=self.fixed(frame).columns).join(frame[self.groups])
        rows = results.design.spec.rebuild(columns).rows.random
        unseen = np.any([term.codes < 0 for term in rows.terms], axis=0)
        if self.new_groups == "error" and unseen.any():
            shown = rows.unseen([term.group for term in results.design.random])
            raise DataError(
                f"X has groups that the fit has not seen, {shown}, which "
                "new_groups='error' refuses. Leave these rows out, or set new_groups='marginal', which averages over "
                "the effects of the population."
            )
        kinds = ((~unseen, "mode"), (unseen, self.new_groups))
        parts = [results.predict(columns[some], type=type, re=re) for some, re in kinds if some.any()]
        return pd.concat(parts).sort_index()


def _quoted(name: str) -> str:
    return name if name.isidentifier() else f"`{name}`"


def _columns_of_groups(random: Any) -> list[str]:
    """The columns that random terms name as groups, in order.

    Raises
    ------
    OptionError, FormulaError
        What is no text, or not of random terms alone.
    """
    if not isinstance(random, str):
        raise OptionError(f"random must be text such as '(1 | judge)'; got {random!r}.")
    part = parse_formula(f"y ~ 1 + {random}", ())[1]
    if part.terms or part.offsets or not part.random:
        raise FormulaError(
            f"random must hold random terms alone, such as '(1 | judge)'; got {random!r}. The other columns of X are "
            "the fixed effects."
        )
    return sorted(set().union(*(variables(factor.tree) for one in part.random for factor in one.group.factors)))
