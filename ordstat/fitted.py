"""A fitted ranker with its data: rows, predictions and observed levels."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from inspect import getdoc
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
import pandas as pd

from ._typing import BoolArray, FloatArray, IntArray
from .checks import advice, label_texts, refuse, words
from .exceptions import DataError, OptionError, UnavailableError
from .fit import Certificate, Fit, GapRule, Trace
from .formula.columns import Columns, as_frame
from .formula.inputs import vector, weights_of
from .formula.names import Parameter, by_text
from .formula.sample import Rows, Sample, total_of
from .judging.costs import sample_costs
from .judging.errors import Predictions, error_table
from .judging.evaluation import evaluate
from .judging.geometry import Geometry
from .judging.margins import DRAWN, MarginBounds, Margins, margins, training_bounds
from .method import Method
from .report.advice import with_advice
from .report.render import Report
from .report.warnings import Alert, alerts

if TYPE_CHECKING:
    from .formula.design import Design, Levels

#: The head of `help(fit)`.
_OVERVIEW = (
    "Methods and attributes of this fit. Use help(fit.predict) for one of them,"
    " help(type(fit)) for all."
)
#: Cells of rows and levels, of which more take seconds to predict.
_MOST_CELLS = 20_000_000


class Overview:
    """The docstring of a class of results. That of a fit, which `help(fit)` shows, has
    a line for each of its names.
    """

    def __init__(self, text: str | None) -> None:
        self.text = text

    def __get__(self, fit: Any, owner: type) -> str | None:
        if fit is None:
            return self.text
        section_of = words("section")
        sections: dict[str, list[str]] = {s: [] for s in section_of.values()}
        names = [name for name in dir(fit) if not name.startswith("_")]
        in_order = [name for name in section_of if name in names]
        in_order += [name for name in names if section_of.get(name, "More") == "More"]
        for name in dict.fromkeys(in_order):
            doc = getdoc(getattr(owner, name)) or ""
            line = f"  {name:<17}{doc.partition(chr(10))[0]}"
            sections[section_of.get(name, "More")].append(line)
        shown = [_OVERVIEW]
        for section, lines in sections.items():
            if lines:
                shown += ["", section, *lines]
        return "\n".join(shown)


@dataclass(frozen=True, eq=False, kw_only=True)
class Target:
    """Rows of a frame with their scores; incomplete rows are on the index but have no
    scores.

    Attributes
    ----------
    rows : Rows
        The n complete rows.
    scores : (n,) potential H, or (n, K) votes
    complete : (N,) mask
    index : pandas.Index
        Index of all N rows.
    """

    rows: Rows
    scores: FloatArray
    complete: BoolArray
    index: pd.Index

    def series(self, values: FloatArray, name: str | None = None) -> pd.Series:
        """Values (n,) on the index, NaN at incomplete rows."""
        # pandas 2 would hand out the array of the fit itself.
        return pd.Series(self._placed(values), index=self.index, name=name, copy=True)

    def frame(self, values: FloatArray, columns: Sequence[Any]) -> pd.DataFrame:
        """Values (n, M) on the index, NaN at incomplete rows."""
        return pd.DataFrame(
            self._placed(values), index=self.index, columns=list(columns), copy=True
        )

    def margins(self, m: Margins) -> pd.DataFrame:
        """Left and right margins of the rows, raw and normalised."""
        both = np.column_stack((m.left, m.right))
        columns = ["left", "right", "normalised_left", "normalised_right"]
        return self.frame(np.column_stack((both, both / m.unit)), columns)

    def classes(
        self, codes: IntArray, levels: Levels, name: str | None = None
    ) -> pd.Series:
        """Codes (n,) as an ordered categorical of the user's levels, NaN at incomplete
        rows.
        """
        placed = np.full(self.complete.size, -1, dtype=np.intp)
        placed[self.complete] = codes
        return levels.categorical(placed, self.index, name)

    def among(self, kept: BoolArray) -> Target:
        """The same index, with scores only for the complete rows in `kept` (N,)."""
        inside = kept[self.complete]
        return Target(
            rows=self.rows.take(inside),
            scores=self.scores[inside],
            complete=self.complete & kept,
            index=self.index,
        )

    def weighted(self, weights: FloatArray | None) -> Target:
        """The same index, with scores only for rows of positive weight (n,)."""
        if weights is None:
            return self
        kept = self.complete.copy()
        kept[self.complete] = weights > 0.0
        return self.among(kept)

    def _placed(self, values: FloatArray) -> FloatArray:
        if self.complete.all():
            return values
        placed = np.full((self.complete.size, *values.shape[1:]), np.nan)
        placed[self.complete] = values
        return placed


def copied(data: Any, index: pd.Index | None) -> pd.DataFrame:
    """A pandas copy of the user's data on `index`; None numbers the rows of data that
    have no index.
    """
    if isinstance(data, pd.DataFrame):
        return data.copy()
    frame = as_frame(data).copy()
    return frame if index is None else frame.set_axis(index)


class Estimates(pd.Series):  # type: ignore[type-arg,unused-ignore]
    """Estimates by name; `fit.coef()`, as in R and PyFixest, is `fit.coef`."""

    def __call__(self) -> Estimates:
        return self


@dataclass(frozen=True, eq=False, repr=False)
class FittedRanker:
    """A fitted ranker with the names of its data.

    Attributes
    ----------
    call : str
        What was fitted.
    design : Design
    method : Method
    fit : Fit
        Arrays only.
    fitter : callable(design, method, options, vcov, calibrate=) or None
        Fits again, for `update`.
    calibrated : method or None
        The method with the calibration of its scores, or None.
    """

    call: str
    design: Design
    method: Method
    fit: Fit
    fitter: Callable[..., Any] | None = field(default=None, kw_only=True)
    calibrated: Any = field(default=None, kw_only=True)

    #: Class of the results where levels have no rows, if that is another one: without
    #: methods that need them all.
    with_empty_levels: ClassVar[type[Any] | None] = None
    #: What fits of this kind predict by themselves; see `prediction_types`.
    predicts: ClassVar[tuple[str, ...]] = ("class", "score", "margin")
    #: What `augment` puts beside the data.
    augments: ClassVar[tuple[str, ...]] = ("class", "score", "margin")
    #: Kinds of `importance`; the first is the default.
    importance_kinds: ClassVar[tuple[str, ...]] = ("permutation",)
    #: Why there may be no margin bounds.
    no_bounds: ClassVar[str] = (
        "No margin bounds: they need a model without nominal or scale effects or"
        " offset."
    )
    #: A note on the errors of the training rows.
    training_note: ClassVar[str] = ""
    #: Whether the rows of the fit are in memory.
    in_memory: ClassVar[bool] = True

    #: Whether the class itself is for users: `dir()` lists the names of its body.
    for_users: ClassVar[bool] = False

    def __init_subclass__(cls, for_users: bool = True, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.for_users = for_users
        cls.__doc__ = cast(Any, Overview(cls.__doc__))
        if for_users:
            with_advice(cls)

    def __getstate__(self) -> dict[str, Any]:
        """The fields alone: what was computed from them is computed again."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def __dir__(self) -> list[str]:
        """The names for users; the others answer too."""
        inner = {"conf_int", "error_columns", *(f.name for f in fields(self))}
        for kind in type(self).__mro__:
            if not vars(kind).get("for_users", True):
                inner.update(vars(kind))
        inner -= words("section").keys()
        return [
            name
            for name in super().__dir__()
            if name.startswith("_") or name not in inner
        ]

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """AttributeError that says which methods have the attribute; the error of a
            property is raised again.
            """
            if hasattr(type(self), name):
                return type(self).__getattribute__(self, name)
            meant = words("attribute").get(name, "")
            if meant.isidentifier():
                return getattr(self, meant)
            if name in words("figure"):
                return self._figure(name, words("figure")[name])
            others = words("who_has").get(name)
            if others is not None:
                raise UnavailableError(f"{self.method!r} has no .{name}: {others}.")
            meant = advice("attribute", name)
            attribute = re.match(r" \.(\w+)", meant)
            usable = attribute is None or hasattr(self, attribute[1])
            hint = f". Use{meant}." if meant and usable else ""
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute {name!r}{hint}"
            )

    def _figure(self, name: str, column: str) -> Any:
        """A figure of `glance()`, by the name of another package."""
        figures = cast(Any, self).glance()
        if column in figures:
            return figures[column].iloc[0]
        raise UnavailableError(
            f"glance() of this fit has no {column!r}, which .{name} stands for."
        )

    # Numbers

    @property
    def formula(self) -> str:
        """The formula of the fit."""
        return self.design.formula

    @property
    def levels(self) -> tuple[Any, ...]:
        """The K labels of the response, lowest first."""
        return self.design.levels.values

    @property
    def nobs(self) -> float:
        """Number of observations: the sum of the weights, or the rows of a survey."""
        return total_of(self.design.sample.case_weights)

    @property
    def level_counts(self) -> FloatArray:
        """(K,) sums of the case weights of the rows of each level."""
        sample = self.design.sample
        return np.bincount(sample.y, sample.case_weights, sample.n_levels).astype(
            np.float64
        )

    @property
    def n_rows(self) -> int:
        """Number of rows used."""
        return self.design.sample.n

    @property
    def certificate(self) -> Certificate:
        """How far the fit is from its optimum, proven."""
        return self.fit.certificate

    @property
    def trace(self) -> Trace:
        """How the solver went."""
        return self.fit.trace

    @property
    def threshold_names(self) -> list[str]:
        """(K-1) names "low|high"."""
        return list(map("{}|{}".format, self.levels[:-1], self.levels[1:]))

    @property
    def many_cells(self) -> bool:
        """Whether a number for each row and level takes too long for a summary."""
        return self.in_memory and self.design.sample.n * len(self.levels) > _MOST_CELLS

    def names_shown(self, labels: Mapping[str, str] | None = None) -> dict[str, str]:
        """Printed names of columns, terms and parameters, by their names, with the
        user's labels.
        """
        given = label_texts(labels)
        pairs = self.design.spec.shown(given)
        pairs += [(record.name, record.shown(given)) for record in self.all_parameters]
        return by_text(pairs)

    @property
    def all_parameters(self) -> list[Parameter]:
        """Records of the thresholds and coefficients, including those of random
        effects.
        """
        columns = self.design.spec.column_names["location"]
        return [Parameter(kind="location", column=column) for column in columns]

    @property
    def prediction_types(self) -> tuple[str, ...]:
        """Every `type` that `predict` takes."""
        calibrated = () if self.fit.calibration is None else ("prob", "cum_prob")
        types = dict.fromkeys((*self.predicts, *calibrated))
        return tuple(
            type for type in types if type != "margin" or self.no_margins is None
        )

    @property
    def no_margins(self) -> str | None:
        """Why there are no margins, None where there are."""
        if "margin" in self.predicts:
            return None
        return (
            f"{self.method!r} chooses the level with the most votes: it has no"
            " thresholds, and so no margins. Use .predict(type='votes')."
        )

    @property
    def learner(self) -> Any:
        """What fits other rows in the same way: the method, with its calibration if it
        has one.
        """
        return self.method if self.calibrated is None else self.calibrated

    @property
    def divisible(self) -> Sample:
        """The rows of the fit for folds, with the clusters that stay together."""
        return self.design.sample

    @property
    def judge(self) -> Fit:
        """What predicts new rows that are judged."""
        return self.fit

    def error_notes(self, new: bool, folds: bool) -> list[str]:
        """Notes of the table of errors.

        Parameters
        ----------
        new, folds : bool
            Whether there are errors in new data, and by folds.
        """
        return []

    def gain_importance(self) -> pd.DataFrame:
        """Gains of columns in trees or rounds; UnavailableError for other methods."""
        raise UnavailableError(
            f"{self.method!r} has no trees or rounds: use"
            " importance(kind='permutation')."
        )

    def check_rows(self) -> None:
        """UnavailableError where the rows that the fit was learned from are not all at
        hand to fit again.
        """

    def check_parts(self) -> None:
        """UnavailableError where the method cannot be fitted to parts of the rows of
        the fit.
        """
        self.check_rows()
        if self.method.pairwise:
            raise UnavailableError(
                "cross-validation fits to parts of the rows, and kernel='precomputed'"
                " has columns for all of them: use a named kernel or a function,"
                " errors(newdata) with rows kept aside, or scikit-learn's"
                " cross_val_score, which cuts rows and columns."
            )

    # Words

    def alerts(self) -> list[Alert]:
        """Warnings about the fit, and what its summary notes of doubtful estimates:
        (category, message).
        """
        return self.issued()

    def issued(self) -> list[Alert]:
        """Those that are issued after the fit."""
        return list(alerts(self.design, self.fit))

    @property
    def kind(self) -> str:
        """What was fitted, in a word or two."""
        return "Ranker"

    @property
    def title(self) -> str:
        """Head of what is printed."""
        recipe = self.design.recipe
        nominal = f"; nominal {recipe.nominal}" if recipe.nominal else ""
        scale = f"; scale {recipe.scale}" if recipe.scale else ""
        return f"{self.kind}: {self.design.formula}{nominal}{scale}"

    def estimates(self) -> dict[str, pd.Series]:
        """What was estimated, by kind; empty for methods without coefficients and
        thresholds.
        """
        return {}

    def figures_of_fit(self) -> tuple[str, ...]:
        """A few figures of the fit in words, beside the numbers of observations and
        levels.
        """
        return ()

    def summary_data(self) -> Report:
        """All of the summary as data."""
        raise TypeError(f"{type(self).__name__} defines no summary_data")

    # Rows

    def target(self, newdata: Any) -> Target:
        """The rows of `newdata` with their scores; None gives those of the fit."""
        target = self._scored(newdata)
        self._check_target(
            target, "rows of the fit" if newdata is None else "rows of newdata"
        )
        return target

    def _scored(self, newdata: Any) -> Target:
        if newdata is None:
            rows = self.design.sample.rows
            complete = np.ones(rows.n, dtype=np.bool_)
            return Target(
                rows=rows,
                scores=self.fit.scores,
                complete=complete,
                index=self.design.index,
            )
        new = self.design.spec.rebuild(newdata)
        scores = self.fit.rule.scores(new.rows)
        if (bad := np.isnan(scores)).any():
            label = new.index[new.complete][int(np.argwhere(bad)[0, 0])]
            raise DataError(
                f"The score of row {label!r} of newdata overflows. Check the units of"
                " its columns."
            )
        return Target(
            rows=new.rows, scores=scores, complete=new.complete, index=new.index
        )

    def _why_no_bounds(self) -> str:
        return self.no_bounds

    def _check_target(self, target: Target, what: str) -> None:
        """Warn about doubtful rows."""

    def probabilities_of(
        self, fit: Fit, rows: Rows, scores: FloatArray
    ) -> FloatArray | None:
        """(N, K) probabilities of the ranks by a fit of this kind; None if it has no
        probabilities.

        Parameters
        ----------
        fit : Fit
        rows : Rows
        scores : (N,) potential H of the rows, or (N, K) votes
        """
        if fit.calibration is not None:
            return np.asarray(fit.calibration.probabilities(scores))
        return self._probabilities(fit, rows, scores)

    def _probabilities(
        self, fit: Fit, rows: Rows, scores: FloatArray
    ) -> FloatArray | None:
        """(N, K) probabilities of an uncalibrated fit; None if it has none."""
        return None

    def new_sample(self, newdata: Any, weights: Any = None) -> tuple[Target, Sample]:
        """The complete rows of new data with a known response.

        Parameters
        ----------
        newdata : data frame
        weights : str or (N,) array, optional
            Case weights.
        """
        target = self._scored(newdata)
        codes = self.design.spec.response(newdata)
        target = target.among(codes >= 0)
        given = (
            None if weights is None else case_weights(newdata, weights, target.complete)
        )
        self._check_target(target.weighted(given), "rows of newdata")
        y = codes[target.complete]
        return target, Sample(
            rows=target.rows, y=y, n_levels=self.design.sample.n_levels, weights=given
        )

    def judged_sample(
        self, newdata: Any, weights: Any = None, name: str = "newdata"
    ) -> tuple[Target, Sample]:
        """`new_sample`, which must have a row.

        Parameters
        ----------
        newdata : data frame
        weights : str or (N,) array, optional
        name : str
            What the user knows `newdata` by.

        Raises
        ------
        DataError
            No row has the response and all inputs.
        """
        target, sample = self.new_sample(newdata, weights)
        if sample.n == 0:
            raise DataError(
                f"{name} has no row with the response and all inputs present."
            )
        return target, sample

    # Predictions

    def predicted(self, target: Target, type: str) -> pd.Series | pd.DataFrame:
        """Predictions of rows, on the index of their data.

        Parameters
        ----------
        target : Target
        type : str
            One of `prediction_types`, but for "margin".
        """
        if self.fit.calibration is not None and type in ("prob", "cum_prob"):
            return self._probability_frame(
                self.fit.calibration, type, target, target.scores
            )
        return self._predicted(target, type)

    def _probability_frame(
        self, model: Any, type: str, target: Target, *rows: Any
    ) -> pd.DataFrame:
        values = (
            model.probabilities(*rows)
            if type == "prob"
            else model.cum_probabilities(*rows)
        )
        return target.frame(values, self.levels)

    def _predicted(self, target: Target, type: str) -> pd.Series | pd.DataFrame:
        """Those of an uncalibrated fit."""
        if type in ("prob", "cum_prob"):
            return self._probability_frame(
                self.fit.rule, type, target, target.rows, target.scores
            )
        if type == "votes":
            return target.frame(target.scores, self.levels)
        if type == "score":
            return target.series(target.scores, "score")
        codes = self.fit.rule.codes(target.rows, target.scores)
        return target.classes(codes, self.design.levels, self.design.response)

    # Predictions beside the truth

    @cached_property
    def training(self) -> Predictions:
        """Observed and predicted ranks of the rows of the fit, as arrays."""
        sample = self.design.sample
        return evaluate(
            self.fit,
            sample,
            self.method.cost_matrix,
            self.probabilities_of,
            self.fit.scores,
        )

    @cached_property
    def training_errors(self) -> pd.Series:
        """Error table of the rows of the fit."""
        return error_table(self.training)

    def new_predictions(self, newdata: Any, weights: Any = None) -> Predictions:
        """Observed and predicted ranks of new data with a response, as arrays.

        Parameters
        ----------
        newdata, weights
            As in `new_sample`.

        Raises
        ------
        DataError
            No row has the response and all inputs.
        """
        target, sample = self.judged_sample(newdata, weights)
        predictions = evaluate(
            self.judge,
            sample,
            self.method.cost_matrix,
            self.probabilities_of,
            target.scores,
        )
        unpaid = self.design.sample.costs is not None and sample.costs is None
        return replace(predictions, paid=None) if unpaid else predictions

    # Margins as arrays

    @cached_property
    def geometry(self) -> Geometry | None:
        """Norms of the potential; None where margins cannot be normalised."""
        if not self.design.sample.every_level:  # some thresholds are infinite
            return None
        return self.method.geometry(self.design.sample, self.fit)

    def gaps(self, rows: Rows, scores: FloatArray) -> FloatArray:
        """(N, K-1) H - theta_k as arrays.

        Parameters
        ----------
        rows : Rows
        scores : (N,) potential H of the rows

        Raises
        ------
        UnavailableError
            The rule has no thresholds in order.
        """
        if self.no_margins is not None:
            raise UnavailableError(self.no_margins)
        return cast(GapRule, self.fit.rule).gaps(rows, scores)

    @cached_property
    def training_margins(self) -> Margins:
        """Margins of the rows of the fit, as arrays."""
        sample = self.design.sample
        return margins(self.gaps(sample.rows, self.fit.scores), sample.y, self.geometry)

    def margin_frame(self, newdata: Any) -> pd.DataFrame:
        """Margins of the rows of `newdata` whose level is known; None gives those of
        the fit.
        """
        if newdata is None:
            return self.target(None).margins(self.training_margins)
        target, sample = self.new_sample(newdata)
        return target.margins(
            margins(self.gaps(sample.rows, target.scores), sample.y, self.geometry)
        )

    # Margin bounds as values

    @cached_property
    def margin_bounds(self) -> MarginBounds:
        """Margin bounds at confidence 0.95."""
        return self.margin_bounds_at(0.05)

    def margin_bounds_at(self, delta: float) -> MarginBounds:
        """Margin bounds at confidence 1 - delta.

        Parameters
        ----------
        delta : float in (0, 1)
        """
        sample = self.divisible
        if self.geometry is None:
            reason = self._why_no_bounds()
        elif self.design.survey is not None:
            reason = DRAWN
        elif self.no_margins is not None:
            reason = "No margin bounds: the fit has no margins."
        else:
            costs = (
                sample_costs(self.method.cost_matrix, sample) if self.own_cost else None
            )
            general = training_bounds(
                self.training_margins, self.geometry, sample, costs, delta
            )
            more = self.method.extra_bounds(sample, self.fit, self.geometry, delta)
            return MarginBounds(
                bounds=(*general.bounds, *more.bounds),
                notes=(*general.notes, *more.notes),
            )
        return MarginBounds(bounds=(), notes=(reason,))

    @property
    def own_cost(self) -> bool:
        """Whether the fit has a cost beside the classification and absolute errors
        shown anyway.
        """
        named = self.method.cost_matrix.label in ("classification", "absolute")
        return self.design.sample.costs is not None or not named


def check_weights_go_with(data: Any, weights: Any, name: str = "newdata") -> None:
    """OptionError for weights of new rows without new rows."""
    if data is None and weights is not None:
        raise OptionError(
            f"weights goes with {name}: the rows of the fit have their own."
        )


def case_weights(newdata: Any, weights: Any, complete: BoolArray) -> FloatArray:
    """(n,) weights of the complete rows of new data."""
    frame = as_frame(newdata)
    column = vector(weights, "weights", Columns(frame), None, frame.index)
    values = weights_of(column, weights, frame.index)
    if column.missing is not None:
        refuse(
            column.missing & complete,
            frame.index,
            "weights=",
            "missing",
            ". Give every row a weight.",
        )
    if not values[complete].any():
        raise DataError(
            "weights= must be positive in some row of newdata that has all values; it"
            " is not."
        )
    return np.asarray(values[complete])
