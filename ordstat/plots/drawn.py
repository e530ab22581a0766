"""What pictures ask of a fit (results above answer), and how they become methods of `fit.plot`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import MethodType
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, cast

import numpy as np
import pandas as pd

from .._typing import FloatArray
from ..exceptions import DataError, OptionError
from ..model.boosted.fit import BoostedFit
from ..model.ensembles.ensembles import EnsembleFit
from ..model.fit import Fit, Geometry, LikelihoodFit
from ..model.likelihood.rule import LikelihoodRule
from ..model.sample import Rows
from ..model.trees.fit import TreeFit
from .letters import with_letters, words_of_fit

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes

    from ..assess.bounds import MarginBounds
    from ..assess.margins import Margins
    from ..design.design import Design


P = ParamSpec("P")
R = TypeVar("R")


class Picture(Generic[P, R]):
    """A function of a fit as a method of what holds the fit, its `results`."""

    def __init__(self, draw: Callable[Concatenate[Any, P], R]) -> None:
        self.draw = draw if draw.__name__.endswith("_data") else with_letters(words_of_fit)(draw)

    def __get__(self, plots: Any, owner: type) -> Callable[P, R]:
        """The function of the fit; of the class, the function itself."""
        return cast(Callable[P, R], self.draw if plots is None else MethodType(self.draw, plots.results))


class DrawnRanker(Protocol):
    """Any fit."""

    @property
    def design(self) -> Design: ...
    @property
    def method(self) -> Any: ...
    @property
    def fit(self) -> Fit: ...
    @property
    def levels(self) -> tuple[Any, ...]: ...
    @property
    def threshold_names(self) -> list[str]: ...
    @property
    def prediction_types(self) -> tuple[str, ...]: ...
    @property
    def geometry(self) -> Geometry | None: ...
    @property
    def training_margins(self) -> Margins: ...
    @property
    def no_margins(self) -> str | None: ...
    def margin_bounds_at(self, delta: float) -> MarginBounds: ...
    def gaps(self, rows: Rows, scores: FloatArray) -> FloatArray: ...
    def predict(self, newdata: Any = None, type: str = "class") -> pd.Series | pd.DataFrame: ...
    def confusion(self, newdata: Any = None, *, weights: Any = None) -> pd.DataFrame: ...
    def delta_errors(
        self, deltas: Sequence[float] | None = None, *, normalised: bool | None = None
    ) -> pd.DataFrame: ...
    def reliability(
        self, newdata: Any = None, *, by: str = "split", bins: int = 10, level: float = 0.95
    ) -> pd.DataFrame: ...
    @property
    def importance(self) -> Callable[..., pd.DataFrame]: ...


class DrawnLikelihood(DrawnRanker, Protocol):
    """A likelihood fit."""

    @property
    def fit(self) -> LikelihoodFit: ...
    @property
    def rule(self) -> LikelihoodRule: ...
    @property
    def params(self) -> pd.Series: ...
    @property
    def se(self) -> pd.Series: ...
    def tidy(self, conf_int: bool = True, exponentiate: bool = False, level: float = 0.95) -> pd.DataFrame: ...
    def confint(self, parm: Any = None, level: float = 0.95, type: str = "wald") -> pd.DataFrame: ...
    def profile(
        self, parm: str | int | Sequence[str | int] | None = None, *, level: float = 0.99, points: int = 21
    ) -> pd.DataFrame: ...
    def residuals(self, type: str = "surrogate", seed: int | np.random.Generator = 0) -> pd.Series: ...
    @property
    def emmeans(self) -> Callable[..., Any]: ...
    def influence(self) -> Any: ...


class DrawnMixed(DrawnLikelihood, Protocol):
    """A likelihood fit with random effects."""

    def ranef(self) -> pd.DataFrame: ...


class DrawnRounds(DrawnRanker, Protocol):
    """A fit made in rounds."""

    @property
    def rounds(self) -> pd.DataFrame: ...
    def staged_errors(
        self, newdata: Any = None, *, every: int = 1, rounds: Sequence[int] | None = None
    ) -> pd.DataFrame: ...


class DrawnEnsemble(DrawnRounds, Protocol):
    """A threshold ensemble, or gradient boosting."""

    @property
    def fit(self) -> EnsembleFit | BoostedFit: ...


class DrawnBoosting(Protocol):
    """Gradient boosting, as a picture of its Shapley values needs it."""

    @property
    def design(self) -> Design: ...
    @property
    def fit(self) -> BoostedFit: ...
    @property
    def shapley(self) -> Callable[..., pd.DataFrame]: ...


class DrawnTrees(DrawnRounds, Protocol):
    """A tree, or many."""

    @property
    def fit(self) -> TreeFit: ...
    def out_of_bag_errors(self) -> pd.DataFrame: ...
    def nodes(self, round: int = 1, split: int | None = None) -> pd.DataFrame: ...


def not_taken(variables: Sequence[Any], columns: Sequence[str]) -> None:
    """OptionError where a variable has the name of another column of a picture's table."""
    for name in variables:
        if isinstance(name, str) and name in columns:
            raise OptionError(
                f"the variable {name!r} has the name of another column of what is drawn, {', '.join(columns)}: rename "
                "it in the data and the formula, and fit again."
            )


def data_of_fit(results: DrawnRanker, data: Any, also: str = "") -> Any:
    """The data given, or those that came with the fit; `also` says what else would do."""
    given = results.design.data if data is None else data
    if given is None:
        raise DataError(
            "The data of the fit are not at hand (a fit is saved and pickled without them): pass data= with the data "
            f"that were fitted, here or to load(path, data=...){also}."
        )
    return given


def fitted_columns(results: DrawnRanker, given: Any, names: Sequence[str]) -> pd.DataFrame:
    """Columns of data, at the rows of the fit where the index tells which these are."""
    frame = pd.DataFrame({name: np.asarray(given[name]) for name in names})
    index = getattr(given, "index", None)
    if isinstance(index, pd.Index) and index.is_unique and results.design.index.isin(index).all():
        frame = frame.set_axis(index).loc[results.design.index]
    return frame


def averaged(results: DrawnRanker) -> str:
    """What the name of an axis says more where there are random effects."""
    return ", averaged over the groups" if getattr(results.fit, "marginal", None) is not None else ""
