"""What every fit has: rows and levels, predictions, errors, augment, update, plot,
save.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
import pandas as pd

from ._typing import STRICT_NAMES, FloatArray
from .advice import Overview, no_attribute, with_advice
from .checks import label_texts, words
from .exceptions import DataError, UnavailableError
from .fit import Certificate, Fit, GapRule, Trace
from .formula.names import Parameter, printed_names
from .formula.sample import Rows, Sample
from .formula.weights import total_of
from .judging.costs import sample_costs
from .judging.errors import Predictions, error_table
from .judging.response_numbers import OF_DISTRIBUTIONS, Asked
from .method import Method
from .report.render import Report, Summary, Table, as_html, as_text
from .report.sections import figures, printed, summary_of
from .report.warnings import Alert, alerts, not_reached
from .target import Target, case_weights

if TYPE_CHECKING:
    from pathlib import Path

    from ._typing import Progress
    from .formula.design import Design
    from .judging.conformal import ConformalIntervals
    from .judging.geometry import Geometry
    from .judging.margin_bounds import MarginBounds
    from .judging.margins import Margins
    from .plots.accessor import Plots

#: Cells of rows and levels, of which more take seconds to predict.
_MOST_CELLS = 20_000_000


@with_advice
@dataclass(frozen=True, eq=False, repr=False)
class OrdinalResults:
    """Base class of the results of every method: predictions, errors, plots and
    summary.

    Attributes
    ----------
    call : str
        What was fitted.
    design : Design
    method : Method
    fit : Fit
        Arrays only.
    fitter : callable(design, method, options, vcov, calibrate=) or None
        Function that fits again, for `update`.
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

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.__doc__ = cast(Any, Overview(cls.__doc__))
        with_advice(cls)

    def __getstate__(self) -> dict[str, Any]:
        """The fields alone: what was computed from them is computed again."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def __dir__(self) -> list[str]:
        """The names for users, which are in `words.toml`; others answer too."""
        listed = words("section")
        return [
            name for name in super().__dir__() if name.startswith("_") or name in listed
        ]

    if not STRICT_NAMES:

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
                raise UnavailableError(f"{self.method} has no .{name}: {others}.")
            raise no_attribute(self, "attribute", name)

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
    def answers(self) -> tuple[Sample, FloatArray]:
        """Rows with observed responses, and how many rows of the fit each of them
        represents.
        """
        sample = self.design.sample
        return sample, np.ones(sample.n)

    @property
    def level_counts(self) -> FloatArray:
        """(K,) sums of the case weights of the rows that have each level exactly."""
        return self.design.sample.exact_counts()

    @property
    def n_rows(self) -> int:
        """Number of rows used."""
        return self.design.sample.n

    @property
    def certificate(self) -> Certificate:
        """How far the fit is from its optimum, or another check of the computation."""
        return self.fit.certificate

    @property
    def converged(self) -> bool:
        """Whether the certificate is within its tolerance.

        For methods without an optimum, such as forests: whether their check of the
        computation is passed.
        """
        return self.fit.certificate.reached

    @property
    def response(self) -> pd.Series:
        """(n,) response of the rows of the fit, on the index of the data.

        An ordered categorical of the levels. Responses given by `interval(low, high)`
        or `Surv(time, event)` have the type object. An exact response is its level. A
        censored one is a pandas.Interval of numbers (low < response <= high) or, for
        labels, the text "low to high".

        Raises
        ------
        DataError
            The response has intervals, and the data are not available (a fit is saved
            without them) or have changed.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp", datasets.load("wine"))
        >>> fit.response.head(3).tolist()
        [2, 3, 3]
        """
        from .judging.fitted_data import response_of

        return response_of(self.design)

    def model_matrix(self, newdata: Any = None, part: str = "location") -> pd.DataFrame:
        """Design matrix: the columns that the model is fitted to, as R's model.matrix.

        Parameters
        ----------
        newdata : data frame, optional
            Rows to make columns of; by default the rows of the fit.
        part : {"location", "nominal", "scale"}
            The right side of the formula, or that of `nominal=` or `scale=`.

        Returns
        -------
        pandas.DataFrame
            A row for each row used, with its label in the data, and a column for each
            coefficient, named as in `params`. There is no column of ones, as the
            thresholds are the intercepts. A new row without all inputs is NaN.

        Raises
        ------
        OptionError
            A part that the model does not have.
        DataError
            A column that is missing in `newdata`, or an unseen level.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", datasets.load("wine"))
        >>> fit.model_matrix().tail(2)
            temp[T.warm]  contact[T.yes]
        70           1.0             1.0
        71           1.0             1.0
        """
        from .judging.fitted_data import model_matrix

        return model_matrix(self.design, newdata, part)

    @property
    def trace(self) -> Trace:
        """Iterations of the solver, with the objective after each."""
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
        """Printed names of columns, terms and parameters by name, with the user's
        labels.
        """
        given = label_texts(labels)
        pairs = self.design.spec.shown(given)
        pairs += [(record.name, record.shown(given)) for record in self.all_parameters]
        return printed_names(pairs)

    @property
    def all_parameters(self) -> list[Parameter]:
        """Records of all parameters: thresholds, coefficients and those of random
        effects.
        """
        columns = self.design.spec.column_names["location"]
        return [Parameter(kind="location", column=column) for column in columns]

    @property
    def prediction_types(self) -> tuple[str, ...]:
        """Every `type` that `predict` takes."""
        calibrated = () if self.fit.calibration is None else ("prob", "cum_prob")
        types = dict.fromkeys((*self.predicts, *calibrated))
        if "cum_prob" in types:
            types |= dict.fromkeys(OF_DISTRIBUTIONS)
        return tuple(
            type for type in types if type != "margin" or self.no_margins is None
        )

    @property
    def no_margins(self) -> str | None:
        """Why there are no margins, None where there are."""
        if "margin" in self.predicts:
            return None
        return (
            f"{self.method} chooses the level with the most votes: it has no"
            " thresholds, and so no margins. Use .predict(type='votes')."
        )

    @property
    def learner(self) -> Any:
        """What is fitted to other rows, as in cross-validation: the method, with its
        calibration if it has one.
        """
        return self.method if self.calibrated is None else self.calibrated

    @property
    def fold_sample(self) -> Sample:
        """The rows of the fit for cross-validation, with the clusters that stay in one
        fold.
        """
        return self.design.sample

    @property
    def fit_for_new_rows(self) -> Fit:
        """The fit that predicts new rows for error measures."""
        return self.fit

    def error_notes(self, new: bool, folds: bool) -> list[str]:
        """Notes of the table of errors.

        Parameters
        ----------
        new, folds : bool
            Whether there are errors in new data, and by folds.
        """
        if not self.in_memory or self.design.sample.highest is None:
            return []
        exact = self.design.sample.exact
        return [
            f"Errors count {int(exact.sum())} of the {exact.size} rows of the fit,"
            " those with exact responses; the others are censored."
        ]

    def gain_importance(self) -> pd.DataFrame:
        """Gains of columns in trees or rounds; UnavailableError for other methods."""
        raise UnavailableError(
            f"{self.method} has no trees or rounds: use importance(kind='permutation')."
        )

    def check_rows(self) -> None:
        """Raise UnavailableError if some rows of the fit are not available to refit."""

    def check_parts(self) -> None:
        """Raise UnavailableError if parts of the rows cannot be fitted."""
        self.check_rows()
        if self.method.pairwise:
            raise UnavailableError(
                "cross-validation fits to parts of the rows, and kernel='precomputed'"
                " has columns for all of them: use a named kernel or a function,"
                " errors(newdata) with rows kept aside, or scikit-learn's"
                " cross_val_score, which cuts rows and columns."
            )

    # Questions

    def update(
        self,
        formula: str | None = None,
        *,
        nominal: str | None = None,
        scale: str | None = None,
        method: Any = None,
        data: Any = None,
        **changes: Any,
    ) -> Any:
        """Fit again with something changed, as R's update().

        Parameters
        ----------
        formula : str, optional
            A dot stands for that side of the old formula: "~ . - contact", "~ . + x3",
            ". ~ x1". A text that begins with a sign is added to the old right side: "+
            x3" is "~ . + x3".
        nominal, scale : str, optional
            A dot stands for the old one; "~ 1" removes the effects.
        method : str or Method, optional
            A new method starts from its defaults and the options given here. A
            DataWarning names the options of the fit, such as penalty=, that are not
            carried over.
        data : data frame, optional
            By default the data of the fit, which must not have changed.
        **changes
            Other arguments of `ordfit` (weights, cluster, vcov, subset, calibrate, ...)
            and options of the method (link, cost, C, ...); weights=None and its like
            remove what the fit has. A likelihood fit keeps its type of covariance and
            its clusters. Constraints on columns that are still
            in the model are kept, and a DataWarning names the others; `constraints={}`
            removes all.

        Returns
        -------
        LikelihoodResults, MarginResults or VoteResults
            The results of the method, as from `ordfit`.

        Raises
        ------
        DataError
            The data are not available (a fit is saved or pickled without them) or have
            changed.
        OptionError, FormulaError
            As in `ordfit`.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> fit.update("~ . - contact").design.formula
        'rating ~ temp'
        >>> round(fit.update(method="probit").loglik, 3)
        -85.761
        """
        from .updating import updated

        sides = {"formula": formula, "nominal": nominal, "scale": scale}
        return updated(self, sides, method, data, changes)

    def predict(
        self,
        newdata: Any = None,
        type: str = "class",
        *,
        at: Any = None,
        interpolate: bool = False,
    ) -> Any:
        """Predict rows of new data, or the rows that were fitted.

        Parameters
        ----------
        newdata : data frame, optional
            With the columns of the formula. None means the rows of the fit.
        type : str
            "class": the predicted level. "score": the potential H, larger for higher
            levels. "margin": left and right margin, raw and normalised; needs the
            response in `newdata`. Likelihood methods, and any other fitted with
            calibrate=True, also have "prob", P(response = level), and "cum_prob",
            P(response <= level), one column per level, and values derived from these:
            "mean" (of numeric labels, else of ranks), "mean_class" (the expected rank,
            1..K), "quantile" and "exceed", P(response >= at). Voting methods have
            "votes" for every level instead of score and margin. Calibration does not
            change the classes, which need not be the most probable level.
        at : number, label or list of these, optional
            Shares of "quantile" in (0, 1), by default the median; values of "exceed",
            by default every level above the lowest. A list gives a column for each.
        interpolate : bool
            Whether quantiles are interpolated between levels, as in R's rms.

        Returns
        -------
        pandas.Series or pandas.DataFrame
            One row per row of `newdata`, on its index; NaN where an input is missing.
            Classes are an ordered categorical of the levels of the response, as are
            quantiles if the labels are not numbers.

        Raises
        ------
        OptionError
            For a type that this method does not predict, or `at` that does not go with
            it.
        DataError
            For a missing column or an unseen level in `newdata`.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> wine = datasets.load("wine")
        >>> fit = ordfit("rating ~ temp + contact", data=wine)
        >>> fit.predict(wine.head(2)).tolist()
        [2, 2]
        >>> fit.predict(wine.head(2), type="cum_prob").round(3)
               1      2     3      4    5
        0  0.207  0.777  0.97  0.993  1.0
        1  0.207  0.777  0.97  0.993  1.0
        """
        from .predicting import prediction

        return prediction(self, newdata, type, at, interpolate)

    def predict_to(
        self,
        path: str | os.PathLike[str],
        data: Any = None,
        type: str = "class",
        *,
        at: Any = None,
        interpolate: bool = False,
    ) -> Path:
        """Write predictions to a Parquet file, block by block, for data larger than
        memory.

        An existing file is replaced once the new one is complete. The path must not be
        one of the data files. ordstat does not know which files a polars or DuckDB
        pattern, a view or a Dask frame reads: write to another folder.

        Parameters
        ----------
        path : str or path-like
        data : data frame, or rows in blocks as `ordfit` takes them, optional
            The data of the fit if not given.
        type, at, interpolate
            As in `predict`.

        Returns
        -------
        pathlib.Path
            The file, which has a row for each row of the data, in their order.

        Raises
        ------
        DataError
            The file cannot be written, is one of the data or in their folder, or the
            data are not available.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", datasets.load("wine"))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = fit.predict_to(Path(folder) / "wine.parquet", type="prob")
        ...     pd.read_parquet(path).shape
        (72, 5)
        """
        from .blocks.sources import written_predictions

        asked = {"type": type, "at": at, "interpolate": interpolate}
        return written_predictions(self, path, data, asked)

    def augment(self, data: Any = None) -> pd.DataFrame:
        """Data with columns of predictions added.

        Parameters
        ----------
        data : data frame, optional
            Gets the columns added, on its own index. By default the rows of the fit,
            with their response and the columns of the formula. The response alone is
            used if the data of the fit are not available (after unpickling), or if
            their index does not identify the rows used.

        Returns
        -------
        pandas.DataFrame
            The data with `.fitted` (the predicted level), `.score`, `.prob_<level>` if
            the method has probabilities, and `.left_margin` and `.right_margin` if the
            method has margins and the response is known. Voting methods have
            `.votes_<level>` instead of scores and margins.

        Raises
        ------
        DataError
            The data have changed since the fit; more than 1,000 levels with
            probabilities.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> wine = datasets.load("wine")
        >>> fit = ordfit("rating ~ temp + contact", data=wine, method="redsvm")
        >>> fit.augment().columns.tolist()[3:]
        ['.fitted', '.score', '.left_margin', '.right_margin']
        """
        from .predicting import augmented

        return augmented(self, data)

    def glance(self) -> pd.DataFrame:
        """One-row summary of the fit, as glance() of R's broom.

        Returns
        -------
        pandas.DataFrame
            Columns nobs, n_levels, n_support (if there are support vectors),
            classification_error and absolute_error (of the rows of the fit),
            certificate, certificate_value, iterations, converged, and figures of the
            method.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> wine = datasets.load("wine")
        >>> fit = ordfit("rating ~ temp + contact", wine, method="redsvm")
        >>> row = fit.glance()[["nobs", "n_levels", "absolute_error", "converged"]]
        >>> row.to_numpy().tolist()
        [[72.0, 5, 0.6111111111111112, True]]
        """

        return figures(self)

    def errors(
        self,
        newdata: Any = None,
        *,
        weights: Any = None,
        cv: int | None = None,
        seed: int | np.random.Generator = 0,
        callback: Progress | None = None,
    ) -> pd.DataFrame:
        """Error measures on the rows of the fit, on new data and by cross-validation.

        Parameters
        ----------
        newdata : data frame, optional
            With the response: gives a column "new data".
        weights : str or (N,) array, optional
            Case weights of `newdata`; a string names its column. A Series must have the
            index of `newdata`.
        cv : int, optional
            Number of folds of a cross-validation: gives columns "cv" and "cv se". Rows
            of a cluster stay in one fold. So do rows of a group of random effects (if
            crossed, of the more numerous groups); they are predicted by averages over
            the random effects. A row of whole-number weight w counts as w rows, which
            can be in different folds. If columns distinguish nearly all rows they stay
            together, as a flexible model would have seen copies of a held-out row.
            Within `joblib.parallel_config(n_jobs=4)` folds are fitted in parallel.
        seed : int or numpy.random.Generator
            Seed of the folds.
        callback : callable(step, total, message), optional
            Called after every fold.

        Returns
        -------
        pandas.DataFrame
            One row per measure (`ordstat.judging.errors.error_table`); NaN where a
            measure has no meaning.

        Raises
        ------
        DataError
            `newdata` has no row with the response and all inputs.
        UnavailableError
            The likelihood has no maximum, so that rows have no predictions; or the rows
            of the fit are in blocks, and there is no `newdata`.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> fit.errors(cv=4).loc[["classification error", "absolute error"]].round(3)
                              training     cv  cv se
        classification error     0.556  0.583  0.036
        absolute error           0.611  0.653  0.057
        """
        from .judging.tables import error_measures

        self.require_available("errors()", newdata is not None)
        return error_measures(self, newdata, weights, cv, seed, callback)

    def confusion(self, newdata: Any = None, *, weights: Any = None) -> pd.DataFrame:
        """Confusion matrix: case weights by observed level (rows) and predicted level
        (columns).

        Parameters
        ----------
        newdata : data frame, optional
            With the response; the rows of the fit if not given.
        weights : str or (N,) array, optional
            Case weights of `newdata`.

        Returns
        -------
        pandas.DataFrame
            (K, K).

        Raises
        ------
        DataError, UnavailableError
            As in `errors`.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> wine = datasets.load("wine")
        >>> fit = ordfit("rating ~ temp + contact", wine, method="redsvm")
        >>> fit.confusion().loc[3].astype(int).to_dict()
        {1: 0, 2: 5, 3: 16, 4: 5, 5: 0}
        """
        from .judging.tables import confusion_matrix

        self.require_available("confusion()", newdata is not None)
        return confusion_matrix(self, newdata, weights=weights)

    def margins(
        self, delta: Any = None, *, normalised: bool | None = None
    ) -> pd.DataFrame:
        """Left and right margin of every row of the fit, raw and normalised; with
        `delta`, the training errors at a margin.

        The left margin is H - theta_{y-1}, the right margin theta_y - H; positive on
        the right side of the threshold, infinite at the end levels. Normalised means
        divided by the size of the coefficients and the thresholds together: for a
        kernel machine sqrt(|v|^2 + sum (theta_k - b)^2), b the offset of H in feature
        space.

        Parameters
        ----------
        delta : float >= 0 or sequence of these, optional
            Margins Delta at which to give the training errors E_C, E_B and E_A of Lin &
            Li (2006).
        normalised : bool, optional
            Whether Delta is in units of the normalised margin; True where the potential
            has a norm.

        Returns
        -------
        pandas.DataFrame
            One row per row of the fit: left, right, normalised_left, normalised_right.
            With `delta` one row per Delta and the columns classification, boundary and
            absolute. The first is the share of rows with a margin <= Delta to an end of
            their interval; `boundary` is the mean share over the two ends; `absolute`
            is the mean number of margins <= Delta.

        Raises
        ------
        OptionError
            A negative margin, or normalised=True where the potential has no norm.
        UnavailableError
            The method has no margins.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> wine = datasets.load("wine")
        >>> fit = ordfit("rating ~ temp + contact", wine, method="redsvm")
        >>> fit.margins().round(2).head(2)
           left  right  normalised_left  normalised_right
        0   1.0    1.0             0.23              0.23
        1  -1.0    3.0            -0.23              0.69
        >>> fit.margins(delta=[0.0, 0.1])["classification"].round(3).to_dict()
        {0.0: 0.556, 0.1: 0.653}
        """
        from .judging.tables import errors_at_margin

        return (
            self.margin_frame(None)
            if delta is None
            else errors_at_margin(self, delta, normalised=normalised)
        )

    def bounds(
        self,
        newdata: Any = None,
        *,
        delta: float = 0.05,
        weights: Any = None,
        cv: int | None = None,
        seed: int | np.random.Generator = 0,
    ) -> pd.DataFrame:
        """Upper bounds of expected errors; each holds with probability 1 - delta over
        the draw of the rows.

        Bounds from the training rows hold for the threshold rule 1 + #{k : H >
        theta_k}; they are the smaller of the bound of the method's paper and the
        PAC-Bayes margin bound. Bounds from unseen rows (`newdata`, or the folds of a
        cross-validation) hold for `predict`, and are much tighter.

        Parameters
        ----------
        newdata : data frame, optional
            Independent rows not used in the fit, with the response.
        delta : float in (0, 1)
            Probability that a bound fails, for each bound.
        weights : str or (N,) array, optional
            Whole-number case weights of `newdata`.
        cv : int, optional
            Number of folds. Each fit leaves out a fold and is judged by it, at delta /
            cv; the bounds are those of the mean error of these fits. The fit to all
            rows is expected to be no worse, which is not proven.
        seed : int or numpy.random.Generator
            Seed of the folds.

        Returns
        -------
        pandas.DataFrame
            Columns value, trivial (the largest value possible), vacuous (whether value
            is not below trivial), observed, margin (Delta, in normalised units), delta
            and source. `observed` is the error of the new or held-out rows; for a
            margin bound of a paper, the training error at that margin. For a PAC-Bayes
            bound it is the training error of a randomised rule at that margin. This
            rule counts wrong answers at both ends of an interval, so that its
            classification error can exceed 1. `attrs["notes"]` says why a bound is
            missing.

        Raises
        ------
        OptionError
            `delta` outside (0, 1), weights that are not whole numbers, or `cv` with
            rows that are not independent.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> wine = datasets.load("wine")
        >>> fit = ordfit("rating ~ temp + contact", wine, "redsvm", C=2.0**-7)
        >>> table = fit.bounds(cv=4)[["value", "trivial", "vacuous"]]
        >>> table.round(2)  # doctest: +NORMALIZE_WHITESPACE
                                          value  trivial  vacuous
        error
        classification error               1.99      1.0     True
        absolute error                     3.79      4.0    False
        classification error (4-fold cv)   0.92      1.0    False
        absolute error (4-fold cv)         2.52      4.0    False
        """
        from .judging.tables import error_bounds

        return error_bounds(self, newdata, delta, weights, cv, seed)

    def reliability(
        self,
        newdata: Any = None,
        *,
        by: str = "split",
        bins: int = 10,
        level: float = 0.95,
        weights: Any = None,
    ) -> pd.DataFrame:
        """Reliability curves: predicted probabilities and observed shares, in bins of
        about equal weight.

        Parameters
        ----------
        newdata : data frame, optional
            With the response. Without it: the rows of the fit, for a calibrated fit by
            their cross-fitted scores, so that each row is judged by a ranker that was
            not fitted to it. Random effects are at their modes; new rows of groups not
            seen are predicted by averages over them.
        by : {"split", "level"}
            Curves of P(response <= low) for every threshold "low|high", or of
            P(response = level).
        bins : int
            Largest number of bins; rows with equal predictions stay together.
        level : float in (0, 1)
            Confidence level of the intervals.
        weights : str or (N,) array, optional
            Case weights of `newdata`.

        Returns
        -------
        pandas.DataFrame
            Columns split (or level), bin, predicted (mean probability), observed
            (share), lower and upper (Wilson confidence limits for independent rows; NaN
            for the rows of a fit with clusters or a survey design) and weight, one row
            per curve and bin.

        Raises
        ------
        OptionError
            The method has no probabilities: fit it with `calibrate=True`.
        DataError, UnavailableError
            As in `errors`.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> curves = fit.reliability()
        >>> curve = curves.loc[curves["split"] == "2|3", ["predicted", "observed"]]
        >>> curve.round(3).to_numpy().tolist()
        [[0.058, 0.056], [0.222, 0.278], [0.431, 0.444], [0.777, 0.722]]
        """
        from .judging.tables import reliability_curves

        self.require_available("reliability()", newdata is not None)
        return reliability_curves(self, newdata, by, bins, level, weights)

    def calibration_slopes(
        self, newdata: Any = None, *, level: float = 0.95, weights: Any = None
    ) -> pd.DataFrame:
        """Calibration intercept and slope of the probabilities at each threshold.

        A logistic regression of "the response is at or below the threshold" on the
        logit of the predicted probability has intercept 0 and slope 1 if predictions
        are calibrated. A slope below 1 means that predictions are too extreme, as those
        of an overfitted model. A positive intercept means that low levels are more
        frequent than predicted.

        Parameters
        ----------
        newdata : data frame, optional
            With the response. Without it: the rows of the fit, for a calibrated fit by
            their cross-fitted scores.
        level : float in (0, 1)
            Confidence level of the intervals.
        weights : str or (N,) array, optional
            Case weights of `newdata`.

        Returns
        -------
        pandas.DataFrame
            One row for each threshold "low|high". Columns predicted (mean probability
            of a response at or below it), observed (its share), intercept (with the
            slope held at 1) and slope. Intercept and slope have Wald confidence limits
            for independent rows (intercept_lower, ...). NaN if there is no estimate, or
            if rows depend on each other; a note gives the reason. Probabilities below
            1e-6 or above 1 - 1e-6 count as these.

        Raises
        ------
        OptionError
            The method has no probabilities: fit it with `calibrate=True`; or `level` is
            not between 0 and 1, or `weights` are given without `newdata`.
        DataError
            `newdata` lacks a column of the model or the response.
        UnavailableError
            The likelihood has no maximum, or rows of the fit have no predictions.

        References
        ----------
        Cox (1958), Two further applications of a model for binary regression,
        Biometrika 45, 562-565; Van Calster et al. (2016), A calibration hierarchy for
        risk models was defined, Journal of Clinical Epidemiology 74, 167-176.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> wine = datasets.load("wine").sample(frac=1.0, random_state=1)
        >>> fit = ordfit("rating ~ temp + contact", data=wine.head(36))
        >>> slopes = fit.calibration_slopes(wine.tail(36))
        >>> slopes.loc["2|3", ["predicted", "observed", "slope"]].round(2).tolist()
        [0.34, 0.42, 1.32]
        """
        from .judging.calibration_slopes import calibration_slopes

        self.require_available("calibration_slopes()", newdata is not None)
        return calibration_slopes(self, newdata, level, weights)

    def conformal(
        self,
        level: float = 0.9,
        data: Any = None,
        *,
        weights: Any = None,
        share: float = 0.3,
        seed: int | np.random.Generator = 0,
    ) -> ConformalIntervals:
        """Intervals of levels that hold the true one with probability at least `level`,
        by split conformal prediction.

        Intervals grow around the predicted level, by probability if the fit has
        probabilities (ordinal adaptive prediction sets, Lu et al. 2022), else by
        distance of the score from the thresholds. Their size is calibrated on held-out
        rows. Coverage is guaranteed for exchangeable rows, of any distribution and
        however good the fit, on average over new rows and calibration rows.

        Parameters
        ----------
        level : float in (0, 1)
        data : data frame, optional
            Independent rows with the response, not used in the fit, to calibrate on.
            Without it the method is fitted again to a part of the rows of the fit, and
            calibrated on the others.
        weights : str or (N,) array, optional
            Whole-number case weights of `data`.
        share : float in (0, 1)
            Share of the rows to calibrate on, where `data` is not given.
        seed : int or numpy.random.Generator
            Seed of the split and of the second fit.

        Returns
        -------
        ConformalIntervals
            With `.predict(newdata)`, `.coverage(newdata)` and `.summary()`.

        Raises
        ------
        OptionError
            `level` or `share` outside (0, 1); weights that are not whole numbers; rows
            in clusters or groups.
        DataError
            Nothing to fit, or nothing to calibrate on.

        Warns
        -----
        DataWarning
            Too few calibration rows for the level: every interval is the whole range.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> data = datasets.load("anes96").sample(frac=1.0, random_state=1)
        >>> fit = ordfit("PID ~ selfLR + age + educ + income", data=data[:600])
        >>> intervals = fit.conformal(0.8)
        >>> intervals.predict(data[600:601]).to_numpy().tolist()
        [['Strong Democrat', 'Independent']]
        >>> every = intervals.coverage(data[600:]).loc["all", ["coverage", "size"]]
        >>> every.round(3).tolist()
        [0.852, 3.73]
        """
        from .judging.conformal import conformal_intervals

        self.require_available("conformal()", data is not None)
        return conformal_intervals(self, level, data, weights, share, seed)

    def importance(
        self,
        kind: str | None = None,
        newdata: Any = None,
        *,
        measure: str = "absolute error",
        repeats: int = 10,
        seed: int | np.random.Generator = 0,
        weights: Any = None,
        level: float = 0.95,
        callback: Progress | None = None,
    ) -> pd.DataFrame:
        """Importance of the variables: how much worse predictions become when the
        values of a variable are permuted.

        A variable is permuted in the data, so all columns that the formula derives from
        it change together: those of a factor or spline, `x + I(x**2) + x:z`. A row of
        weight w counts as w rows. The importance says how much this fit uses a
        variable, not what the variable is worth. If two variables are correlated, each
        can replace the other and both may look unimportant; permuted rows may also be
        impossible. Leave both out together (`update`) to see what they are worth.

        Parameters
        ----------
        kind : {"permutation", "gain"}, optional
            "gain": the gains of the trees or rounds by each column, on the rows of the
            fit; it takes none of the options below. By default "gain" if the method has
            it and no option below is given, else "permutation".
        newdata : data frame, optional
            Rows to judge by, with the response; the rows of the fit if not given, but
            training rows make an overfitted model look good.
        measure : str
            Any measure of `errors()`: "absolute error", "classification error",
            "log-loss" (with probabilities), ... For measures where larger is better,
            such as "concordance", the decrease is shown.
        repeats : int
            Number of permutations.
        seed : int or numpy.random.Generator
            Seed of the permutations.
        weights : str or (N,) array, optional
            Case weights of `newdata`.
        level : float in (0, 1)
            Confidence level of the intervals.
        callback : callable(step, total, message), optional
            Called after every permutation.

        Returns
        -------
        pandas.DataFrame
            "permutation": importance is the mean increase of the measure, lower and
            upper its confidence limits by Student's t. `std_error` is the standard
            error of this mean over the permutations alone, not over other rows (NaN for
            one permutation). The index has the variables, most important first. "gain":
            importance, with sum 1, and further figures of the method, by column.

        Raises
        ------
        DataError
            The data of the fit are not available, no row has the response and all
            inputs, or the measure is not finite.
        OptionError
            An unknown kind or measure, or options of permutations with kind="gain".
        UnavailableError
            The fit has a precomputed kernel, and no variables.

        Notes
        -----
        With random effects, predictions are averaged over groups, as for new groups.

        References
        ----------
        Breiman (2001), Random forests, section 10; Fisher, Rudin & Dominici (2019), All
        models are wrong, but many are useful, section 3 (there for a difference over
        all pairs of rows, which is the mean here up to a factor (n - 1) / n).

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> found = fit.importance(measure="log-loss", repeats=50)
        >>> found = found[["importance", "std_error"]].round(2)
        >>> found  # doctest: +NORMALIZE_WHITESPACE
                  importance  std_error
        variable
        temp            0.43       0.01
        contact         0.17       0.01
        """
        from .judging.importance import importance

        self.require_available("importance()", newdata is not None)
        return importance(
            self, kind, newdata, measure, repeats, seed, weights, level, callback
        )

    def report(self, path: Any = None, *, pictures: bool = True) -> Any:
        """Write an HTML report of the fit: question, data, summary, plots, references.

        Parameters
        ----------
        path : str or path, optional
            Such as "report.html": one file that needs neither network nor scripts. An
            existing file is replaced. Without a path the whole summary is returned, as
            by `fit.summary("all")`.
        pictures : bool
            Whether to include plots, which need matplotlib.

        Returns
        -------
        pathlib.Path or Summary
            The file; without a path the whole summary.

        Raises
        ------
        OptionError
            The path has another suffix, or its folder does not exist.
        DataError
            The file cannot be written.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp", datasets.load("wine"))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = fit.report(Path(folder) / "wine.html", pictures=False)
        ...     page = path.read_text("utf-8")
        >>> page.partition("<h1>")[2].partition("</h1>")[0]
        'Cumulative link model: rating ~ temp'
        """
        from .report.page import written_report

        return written_report(self, path, pictures=pictures)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the fit to a file, to be read by `ordstat.load`.

        The file holds the estimates, the model matrix, the response and the row labels,
        but not the data frame. It is a zip of JSON and arrays without code: unlike a
        pickle, a file from someone else is safe to load. An existing file is replaced
        once the new one is complete.

        Parameters
        ----------
        path : str or path-like
            Such as "model.ordstat".

        Raises
        ------
        OptionError
            The path has an ending other than ".ordstat". Or the fit holds something
            that cannot be stored: a kernel or formula function of your own, or a
            classifier that ordstat does not know.
        DataError
            The file cannot be written.

        Examples
        --------
        >>> import os, tempfile
        >>> from ordstat import datasets, load, ordfit
        >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     fit.save(os.path.join(folder, "wine.ordstat"))
        ...     again = load(os.path.join(folder, "wine.ordstat"))
        >>> again.predict(datasets.load("wine").head(2)).tolist()
        [2, 2]
        """
        from .persistence import save

        return save(self, path)

    def __repr__(self) -> str:
        return as_text(printed(self))

    def _repr_html_(self) -> str:
        return as_html(printed(self))

    @property
    def plot(self) -> Plots:
        """Plots of the fit by matplotlib, such as `fit.plot.latent()`."""
        from .plots.accessor import RankerPlots

        return RankerPlots(self)

    def summary(self, section: str | None = None) -> Summary:
        """Summary of the fit: print it, or take its tables from `.tables`.

        Parameters
        ----------
        section : {"model", "fit", "errors", "margins", "bounds", "all"}, optional
            One part in full, or all parts; by default one screen of the most important
            figures.

        Returns
        -------
        Summary
            Prints as text, and as HTML in a notebook; `.tables` has its data frames.

        Raises
        ------
        OptionError
            Unknown section, or not available for this fit.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp", data=datasets.load("wine"))
        >>> print(str(fit.summary()).splitlines()[0])
        Cumulative link model: rating ~ temp
        """
        return summary_of(self, section, self.summary_data())

    # Words

    def alerts(self) -> list[Alert]:
        """Warnings about the fit, with those that only the summary shows: (category,
        message).
        """
        return self.fit_warnings()

    def fit_warnings(self) -> list[Alert]:
        """The warnings that are issued right after the fit: (category, message)."""
        return list(alerts(self.design, self.fit, self._why_unreached()))

    def _why_unreached(self) -> str:
        """How far the fit is from its optimum, and what to do; empty if it is there."""
        if self.fit.certificate.reached:
            return ""
        return not_reached(self.fit, "allow a larger tol")

    @property
    def kind(self) -> str:
        """The kind of model in a word or two."""
        return "Ranker"

    @property
    def title(self) -> str:
        """Title of the printed fit and summary."""
        recipe = self.design.recipe
        nominal = f"; nominal {recipe.nominal}" if recipe.nominal else ""
        scale = f"; scale {recipe.scale}" if recipe.scale else ""
        return f"{self.kind}: {self.design.formula}{nominal}{scale}"

    def estimates(self) -> list[Table]:
        """Tables of the estimates, one for each kind of parameter; empty for methods
        without coefficients and thresholds.
        """
        return []

    def figures_of_fit(self) -> tuple[str, ...]:
        """A few figures of the fit in words, without the numbers of observations and
        levels.
        """
        return ()

    def summary_data(self) -> Report:
        """The whole summary as data."""
        raise TypeError(f"{type(self).__name__} defines no summary_data")

    # Rows

    def target(self, newdata: Any) -> Target:
        """The rows of `newdata` with their scores; None gives those of the fit."""
        from .formula.extrapolation import tell_far

        target = self._scored(newdata)
        self._check_target(
            target, "rows of the fit" if newdata is None else "rows of newdata"
        )
        tell_far(target.far)
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
            rows=new.rows,
            scores=scores,
            complete=new.complete,
            index=new.index,
            far=new.far,
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

    def asked_of(self, target: Target, asked: Asked) -> pd.Series | pd.DataFrame:
        """Means, quantiles or exceedance probabilities of rows, on the index of their
        data.

        Parameters
        ----------
        target : Target
        asked : Asked
        """
        cumulative = self.predicted(target, "cum_prob").to_numpy(dtype=np.float64)
        return asked.answer(target.index, cumulative[:, :-1])

    def _predicted(self, target: Target, type: str) -> pd.Series | pd.DataFrame:
        """Predictions of an uncalibrated fit."""
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
        from .judging.evaluation import evaluate

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
        from .judging.evaluation import evaluate

        target, sample = self.judged_sample(newdata, weights)
        predictions = evaluate(
            self.fit_for_new_rows,
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

    def why_unavailable(self, question: str, other_rows: bool = False) -> str:
        """Why a method such as `errors` is not available for this fit; empty if it is.

        Parameters
        ----------
        question : str
            Such as "errors()".
        other_rows : bool
            Whether the question is about other rows than those of the fit.
        """
        return ""

    def require_available(self, question: str, other_rows: bool = False) -> None:
        """Raise UnavailableError if `why_unavailable` gives a reason.

        Parameters
        ----------
        question : str
        other_rows : bool

        Raises
        ------
        UnavailableError
            With the reason.
        """
        if why := self.why_unavailable(question, other_rows):
            raise UnavailableError(why)

    @cached_property
    def training_margins(self) -> Margins:
        """Margins of the rows of the fit, as arrays."""
        from .judging.margins import margins

        sample = self.design.sample
        return margins(self.gaps(sample.rows, self.fit.scores), sample.y, self.geometry)

    def margin_frame(self, newdata: Any) -> pd.DataFrame:
        """Margins of the rows of `newdata` whose level is known; None gives those of
        the fit.
        """
        from .judging.margins import margins

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
        from .judging.margin_bounds import (
            LACKING_IN_SURVEYS,
            MarginBounds,
            no_margin_bounds,
        )
        from .judging.training_bounds import training_bounds

        sample = self.fold_sample
        if self.geometry is None:
            reason = self._why_no_bounds()
        elif self.design.survey is not None:
            return no_margin_bounds(LACKING_IN_SURVEYS)
        elif self.no_margins is not None:
            reason = f"No margin bounds: {self.no_margins}"
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
        """Whether the fit has a cost other than the errors that are shown anyway."""
        cost = self.method.cost_matrix
        shown = cost.decides or cost.label in ("classification", "absolute")
        return self.design.sample.costs is not None or not shown
