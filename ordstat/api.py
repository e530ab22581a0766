"""`ordfit`: resolve the method, build the design, fit, return the results. No
arithmetic here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, cast, overload

import numpy as np
import pandas as pd

from ._typing import AnyArray, FloatArray, Progress
from .checks import brief, flag, generator, one_of, reporter
from .exceptions import DataError, DataWarning, OptionError, SeparatedError, warn
from .formula.design import Design, make
from .formula.inputs import check_cost_labels, shape_of
from .formula.recipe import Recipe, arguments_text
from .formula.sample import Sample
from .formula.smooths import UNPENALISED_TERMS
from .judging.absent_levels import fit_levels_present
from .likelihood.covariance_choice import chosen_covariance
from .method import Method, missing_refused
from .registry import METHODS, PLAIN, LikelihoodName, resolve, spelled
from .report.cells import MOST_TERMS, first_few
from .results import OrdinalResults

if TYPE_CHECKING:
    from .blocks.sources import Source
    from .formula.survey import SurveyDesign
    from .likelihood.regression import OrdinalRegression
    from .likelihood.results import LikelihoodResults
    from .prediction.calibrated import Calibrated
    from .report.outline import ModelOutline

#: Rows and mean weights from which weights that are counts are doubtful.
_SOME = 50
_FAR = 2.0
#: Rows of a long table, and least counts with which it has a row for each cell.
_LONG = 500
_LARGE = 100.0
#: Least mean number of outcomes of a pattern of the columns of a table; largest mean
#: number of rows of a cell of a long and of a short table.
_OUTCOMES = 1.5
_MOST_A_CELL = 2.0
_MOST_A_SHORT_CELL = 100.0
#: Effects, of columns of unit deviation, below this share of the largest one need not
#: move for the response to be separated.
_MOVES = 0.01


@overload
def ordfit(
    formula: str,
    data: Any,
    method: LikelihoodName | OrdinalRegression = "clm",
    *,
    nominal: str | None = None,
    scale: str | None = None,
    weights: Any = None,
    offset: Any = None,
    cluster: Any = None,
    design: SurveyDesign | None = None,
    vcov: Any = None,
    cost: Any = None,
    constraints: Any = None,
    calibrate: bool | int = False,
    levels: Sequence[Any] | str | None = None,
    subset: Any = None,
    cov: Mapping[str, pd.DataFrame] | None = None,
    contrasts: Mapping[str, str] | None = None,
    na_action: str | None = None,
    seed: int | np.random.Generator = 0,
    callback: Progress | None = None,
    fit: Literal[True] = True,
    **options: Any,
) -> LikelihoodResults: ...


@overload
def ordfit(
    formula: str,
    data: Any,
    method: str | Method = "clm",
    *,
    nominal: str | None = None,
    scale: str | None = None,
    weights: Any = None,
    offset: Any = None,
    cluster: Any = None,
    design: SurveyDesign | None = None,
    vcov: Any = None,
    cost: Any = None,
    constraints: Any = None,
    calibrate: bool | int = False,
    levels: Sequence[Any] | str | None = None,
    subset: Any = None,
    cov: Mapping[str, pd.DataFrame] | None = None,
    contrasts: Mapping[str, str] | None = None,
    na_action: str | None = None,
    seed: int | np.random.Generator = 0,
    callback: Progress | None = None,
    fit: Literal[True] = True,
    **options: Any,
) -> OrdinalResults: ...


@overload
def ordfit(
    formula: str,
    data: Any,
    method: str | Method = "clm",
    *,
    nominal: str | None = None,
    scale: str | None = None,
    weights: Any = None,
    offset: Any = None,
    cluster: Any = None,
    design: SurveyDesign | None = None,
    vcov: Any = None,
    cost: Any = None,
    constraints: Any = None,
    calibrate: bool | int = False,
    levels: Sequence[Any] | str | None = None,
    subset: Any = None,
    cov: Mapping[str, pd.DataFrame] | None = None,
    contrasts: Mapping[str, str] | None = None,
    na_action: str | None = None,
    seed: int | np.random.Generator = 0,
    callback: Progress | None = None,
    fit: Literal[False],
    **options: Any,
) -> ModelOutline: ...


def ordfit(
    formula: str,
    data: Any,
    method: str | Method = "clm",
    *,
    nominal: str | None = None,
    scale: str | None = None,
    weights: Any = None,
    offset: Any = None,
    cluster: Any = None,
    design: SurveyDesign | None = None,
    vcov: Any = None,
    cost: Any = None,
    constraints: Any = None,
    calibrate: bool | int = False,
    levels: Sequence[Any] | str | None = None,
    subset: Any = None,
    cov: Mapping[str, pd.DataFrame] | None = None,
    contrasts: Mapping[str, str] | None = None,
    na_action: str | None = None,
    seed: int | np.random.Generator = 0,
    callback: Progress | None = None,
    fit: bool = True,
    **options: Any,
) -> OrdinalResults | ModelOutline:
    """Fit an ordinal model or ranker to a formula and a data frame.

    Parameters
    ----------
    formula : str
        R-style, "response ~ terms". The intercept is always implied (the thresholds are
        the intercepts). Columns are looked up in `data` before functions, so a column
        may be named C or log. Censored responses are "Surv(time, event) ~ terms", with
        event 1 if observed and 0 if the response is above time, and "interval(low,
        high) ~ terms". An interval means low < response <= high for numbers; both ends
        are included for ordered categories or with levels=[...]. A missing end is open.

        Likelihood methods also take smooth curves, s(x), and effects of ordered
        predictors: smooth(x) shrinks differences between neighbouring levels [Gertheiss
        and Tutz 2009], mono(x) is monotone [Rufibach 2010], and fuse(x) joins levels by
        a lasso [Gertheiss and Tutz 2010].
    data : pandas.DataFrame
        Or a polars frame, a pyarrow table or a dict of columns; it is never changed.
        Data larger than memory are read block by block: give the path of a Parquet
        file, of a folder or a pattern of them, or a pyarrow Dataset, polars LazyFrame,
        DuckDB relation or Dask DataFrame. An object with `schema` and `blocks(columns)`
        works too.
    method : str or Method
        "clm", or one of its links, "logit", "probit", "cloglog", "loglog" or "cauchit";
        another name, such as "acat", "ordboost" or "redsvm" (`ordstat methods` in a
        shell lists all); or a value such as REDSVM(C=10).
    nominal, scale : str, optional
        One-sided formulas "~ terms" of effects that differ between thresholds, and of
        effects on the logarithm of the scale (likelihood methods). With an offset, the
        coding of factors in `scale` changes the model, as in R's clm: the offset is in
        units of the scale at which these effects are 0.
    weights, offset, cluster : str or array of length N, optional
        Case (frequency) weights >= 0, a known part of the linear predictor, and
        clusters of dependent observations; a string names a column of `data`. A weight
        of 2 counts an observation twice; sampling weights go in `design`. Likelihood
        methods give cluster-robust standard errors (see `vcov`); selection by
        cross-validation keeps a cluster in one fold.
    design : SurveyDesign, optional
        The sampling design of a survey, in place of `weights` and `cluster` (likelihood
        methods): sampling weights with strata and primary sampling units, or replicate
        weights. Standard errors take the design into account.
    vcov : str or dict, optional
        Standard errors of likelihood methods: "model" (observed information), "HC0",
        "HC1" (sandwich), or {"cluster": "judge"}, the same as cluster="judge". With
        fewer than 20 clusters they are CR2, with t tests by Satterthwaite's degrees of
        freedom, and a warning says so. To choose the type, name it: {"cluster":
        "judge", "type": "CR1"} (the plain sandwich) or "CR2"; with cluster=: "cluster"
        or "CR2".
    cost : str, (K, K) array or frame, or (N, K) array or frame, optional
        The cost that predictions (and margin methods) minimise: "absolute",
        "classification", "squared", a matrix [true level, predicted level], or costs of
        each level for every row. Labels of a frame must be the levels in order. Methods
        with probabilities can also predict for the best value of a measure over all
        rows: "kappa" (quadratic), "linear kappa", "macro absolute", "macro
        classification", "macro squared" (errors averaged over levels).
    constraints : dict or list of str, optional
        Signs of effects of "ordboost", {"x1": "+", "x2": "-"}: "+" makes the score
        increase in that column and "-" makes it decrease. Names are those of the
        columns of the model.
    calibrate : bool or int
        True gives a ranker probabilities: `predict(type="prob")` then works for every
        method. A monotone map from scores to probabilities is fitted to scores of
        held-out rows in 5 folds, or in the number given: a cumulative logit model for
        methods with one score, a softmax for methods that vote. Predicted levels stay
        those of the method, and need not be the most probable ones. Each fold takes one
        more fit. Likelihood methods have probabilities without it.
    levels : sequence or "all", optional
        Order of the response's values, lowest first; required for unordered strings.
        "all" makes every value of a continuous response a level, as R's rms::orm does:
        likelihood methods then take as many levels as rows, and no distribution of the
        response is assumed. Levels without observations keep their places in ranks and
        costs, with probability 0; boosting and ensembles then have no `at`, `more` or
        `rounds`.
    subset : boolean array or str, optional
        Rows to use; a string is a condition on the columns, such as "judge != 1", with
        levels as they are in the data.
    cov : dict of str to pandas.DataFrame, optional
        Correlation structure of the levels of a group, {"animal": K} for the term
        (1 | animal): a kinship, a phylogeny, distances in space. Rows and columns are
        labelled by the levels; levels that the data lack are left out.
    contrasts : mapping, optional
        Column to coding: "treatment" (default), "sum", "helmert", "poly", ..., R's
        names, or a matrix with a row for each level. A data frame names its columns,
        and its index the levels of its rows, unless it is the default one. Contrasts of
        columns outside the formula are kept for `update`.
    na_action : {"omit", "raise", "keep"}, optional
        Leave out incomplete rows (counted by variable; the default), raise an error, or
        keep rows with missing predictors ("ordboost" alone, which has this as its
        default). New rows with missing columns or unseen categories are then predicted
        too.
    seed : int or numpy.random.Generator
        Seed of all random steps (folds, sweeps). Same seed, same result.
    callback : callable(step, total, message), optional
        Called during long computations; without it a terminal shows a progress bar if
        tqdm is installed.
    fit : bool
        False returns a `ModelOutline` without fitting: names of the parameters,
        columns, rows of each level, rows used and left out, and the memory that the fit
        takes. Models that the method refuses raise the same errors.
    **options
        Options of the method. Those of "clm", "acat", "cratio", "sratio" and the links:

        - link: "logit" (default), "probit", "cloglog", "loglog", "cauchit",
          "aranda-ordaz" or "log-gamma"
        - threshold: "flexible" (default), "symmetric", "symmetric2", "equidistant", or
          a matrix M of thresholds = M @ gamma
        - penalty: a number (ridge), ElasticNet(...) (lasso paths) or, for "clm" and the
          links, "jeffreys" (bias reduction; finite estimates under separation)
        - crossing: "warn" (default) or "raise" where thresholds with nominal effects
          cross
        - direction: "forward" (default) or "backward", order of the stages of "cratio"
          and "sratio"
        - quadrature: nodes of adaptive Gauss-Hermite quadrature for random effects; 1
          (default) is Laplace's approximation
        - random_penalty: "gamma" keeps standard deviations of random effects off 0
        - smoothness: "REML" (default) or "ML", how the smoothness of s(x) is estimated
        - start, max_iter, tol: starting values, largest number of steps and gradient
          tolerance of Newton's method

        `help("ordstat.CumulativeLink")` says more about them, `help("ordstat.REDSVM")`
        has those of "redsvm" (C, kernel, ...); `ordstat methods` in a shell lists every
        method with its class.

    Returns
    -------
    LikelihoodResults, MarginResults or VoteResults, or ModelOutline if not fit
        With .summary(), .predict(), .errors(), ..., and .coef, .thresholds where the
        method has them.

    Raises
    ------
    FormulaError, DataError, OptionError
        The formula, the data or an option cannot be used; the message says what to do.

    Warns
    -----
    ConvergenceWarning, SeparationWarning, DataWarning
        The solver did not converge, an estimate is infinite, or rows or levels were
        left out.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> wine = datasets.load("wine")
    >>> fit = ordfit("rating ~ temp + contact", data=wine)
    >>> fit.coef.round(3).to_dict()
    {'temp[T.warm]': 2.503, 'contact[T.yes]': 1.528}
    >>> svm = ordfit("rating ~ temp + contact", data=wine, method="redsvm", C=10)
    >>> svm.predict(wine.head(3)).tolist()
    [2, 2, 3]
    """
    source = _source(data)
    row_costs, cost_option = split_cost(cost, data if source is None else ())
    cluster, covariance = _split_vcov(vcov, cluster)
    value = _method(method, options, cost_option, row_costs)
    value.check_constraints(constraints)
    if na_action is None:
        na_action = "keep" if value.supports.missing else "omit"
    recipe = Recipe(
        formula,
        nominal=nominal,
        scale=scale,
        weights=weights,
        offset=offset,
        cluster=cluster,
        design=design,
        costs=row_costs,
        levels=levels,
        subset=subset,
        cov=cov,
        contrasts=contrasts,
        constraints=constraints,
        na_action=na_action,
        as_categories=value.supports.categories,
        by_level=value.supports.by_level,
    )
    built = _design(recipe, data, source, value, cost)
    if not flag("fit", fit):
        return _outline(built, value)
    results = fit_design(
        built, value, vcov=covariance, calibrate=calibrate, seed=seed, callback=callback
    )
    _warn_of_fractions(results)
    return results


def _source(data: Any) -> Source | None:
    """Rows in blocks; None for data in memory."""
    if isinstance(data, (pd.DataFrame, Mapping)):
        return None
    from .blocks.sources import source_of

    return source_of(data)


def _design(
    recipe: Recipe, data: Any, source: Source | None, method: Method, cost: Any
) -> Design:
    """The design of rows in memory or in blocks; OptionError for arguments that do not
    suit the method, or the levels.
    """
    if source is None:
        design = make(recipe, data)
    else:
        from .blocks.results import fitter
        from .blocks.scan import scanned

        # a method that needs all rows is refused before they are read
        fitter(method)
        design = scanned(recipe, source)
    if recipe.na_action == "keep" and not method.supports.missing:
        raise OptionError(missing_refused(type(method).__name__))
    by_row = recipe.costs is not None
    check_cost_labels(cost, design.levels.values, design.levels.unused, by_row=by_row)
    return design


def _outline(design: Design, method: Method) -> ModelOutline:
    """The model that would be fitted."""
    from .report.outline import outline_of

    return outline_of(design, method)


def _method(
    method: str | Method, options: Mapping[str, Any], cost: Any, row_costs: Any
) -> Method:
    """The method by its name and options; OptionError for costs of rows if the name
    fixes the cost.
    """
    if cost is not None:
        options = {**options, "cost": cost}
    value = resolve(method, options, ordfit.__kwdefaults__ or ())
    if row_costs is None or not value.supports.row_costs:
        return value
    entry = METHODS.get(spelled(method) or "")
    if entry is not None and "cost" in entry.preset:
        raise OptionError(
            f"method {method!r} fixes the cost {entry.preset['cost']!r}, and row costs"
            " would change the method: leave cost= out, or give the value"
            f" method={type(value).__name__}(...)."
        )
    return value


def _look_sampled(sample: Sample) -> bool:
    """Whether weights add up to far more than the rows, and rows are not cells of a
    table.

    The rows of a table are the cells of patterns of its columns and the response: there
    are several outcomes of a pattern, and few rows of each cell (one with large counts,
    more in a short table).
    """
    rows = sample.rows
    n = sample.n
    if n < _SOME or sample.case_weights.sum() <= _FAR * n:
        return False
    if not np.array_equal(sample.case_weights, np.rint(sample.case_weights)):
        return True
    parts = [np.zeros((n, 1)), rows.X, rows.nominal, rows.scale]
    frame = pd.DataFrame(np.hstack([part for part in parts if part is not None]))
    n_patterns = int((~frame.duplicated()).sum())
    n_cells = int((~frame.assign(y=sample.y).duplicated()).sum())
    most_a_cell = _MOST_A_CELL
    if n < _LONG:
        most_a_cell = _MOST_A_SHORT_CELL
    elif sample.case_weights.min() >= _LARGE:
        most_a_cell = 1.0
    table = _OUTCOMES * n_patterns <= n <= most_a_cell * n_cells
    return not table


def _warn_of_fractions(results: Any) -> None:
    """DataWarning if weights are treated as numbers of rows that may not be such.

    Errors that are robust to clusters do not change with the scale of the weights; the
    number of rows does.
    """
    if not results.method.likelihood or results.design.survey is not None:
        return
    weights = results.design.sample.weights
    if weights is None:
        return
    whole = np.array_equal(weights, np.rint(weights))
    if whole or results.covariance not in ("model", "HC0", "HC1"):
        doubt = (
            f"these stand for {results.nobs:,.0f} rows in place of {results.n_rows}."
            " Are they sampling weights?"
        )
        if not _look_sampled(results.design.sample):
            return
    else:
        doubt = "these are not whole numbers: standard errors change with their scale."
    warn(
        f"weights= are counts of equal rows, and {doubt} For sampling weights give"
        " design=SurveyDesign(weights=...), with strata= and clusters= where there are"
        " some; for other weights vcov={'cluster': ...} by rows or groups.",
        DataWarning,
    )


def _fitted(
    learner: Any,
    design: Design,
    seed: int | np.random.Generator,
    progress: Progress | None,
) -> Any:
    """The fit to rows in memory; DataError that names the columns for separation among
    very many levels.
    """
    try:
        return fit_levels_present(learner, design.sample, generator(seed), progress)
    except SeparatedError as found:
        if found.nominal:
            raise _nominal_unsettled(design, found.moves) from None
        size = np.abs(found.moves)
        ends = np.where(size > _MOVES * size.max(), found.moves, 0.0)
        named = zip(design.names, ends, strict=True)
        listed = [
            f"{name} to {'+' if end > 0.0 else '-'}infinity"
            for name, end in named
            if end
        ]
        raise DataError(
            "The response is separated by its columns, so that maximum likelihood"
            f" estimates are not finite ({first_few(listed, MOST_TERMS)}), and it has"
            f" too many levels ({len(design.levels.values):,}) for estimates of the"
            " rest. Drop these columns, join their levels with others, give a ridge"
            " (penalty=1.0), or round the response."
        ) from None


def _nominal_unsettled(design: Design, kept: FloatArray) -> DataError:
    """The error of nominal effects without finite estimates at very many thresholds."""
    named = zip(design.nominal_names, kept, strict=True)
    listed = first_few([name for name, is_kept in named if is_kept], MOST_TERMS)
    return DataError(
        f"The search for the nominal effects of {listed} at each of"
        f" {len(design.levels.values) - 1:,} thresholds does not settle: few rows lie"
        " on one side of the outer ones, so that effects there are not finite. Make"
        " them location effects, or round the response."
    )


def fit_design(
    design: Design,
    method: Method,
    *,
    vcov: Any = None,
    calibrate: bool | int = False,
    seed: int | np.random.Generator = 0,
    callback: Progress | None = None,
    later_levels: bool = False,
) -> OrdinalResults:
    """Fit a method to a design, and issue the warnings of the fit. With `later_levels`,
    levels without rows may occur in later batches.
    """
    _refuse_unsuited(design, method, vcov)
    design = method.marked(design)
    chosen = None
    if vcov is not None:
        chosen = chosen_covariance(vcov, design, cast(Any, method).penalty)
    calibrated = None
    if calibrate is not None and calibrate is not False:
        from .prediction.calibrated import Calibrated

        calibrated = Calibrated.of(method, calibrate)
    learner: Any = method if calibrated is None else calibrated
    if design.blocks is None:
        progress = reporter(callback)
        if later_levels:
            fit = learner.fit(design.sample, generator(seed), progress)
            kind = method.results_class
        else:
            fit = _fitted(learner, design, seed, progress)
            kind = method.results_for(design.sample)
    else:
        from .blocks.results import fitter

        fit_to, kind = fitter(learner)
        fit = fit_to(learner, cast(Any, design))
    call = _call(design, method, calibrated, vcov)
    results: OrdinalResults = kind(
        call, design, method, fit, fitter=refit, calibrated=calibrated
    )
    if chosen is not None:
        results = replace(cast(Any, results), robust=chosen)
    for category, message in results.fit_warnings():
        warn(message, category)
    return results


def _refuse_unsuited(design: Design, method: Method, vcov: Any) -> None:
    """OptionError for standard errors of methods without them, and for terms that a
    survey design does not take.
    """
    if vcov is not None and not method.likelihood:
        raise OptionError(
            f"vcov must go with a likelihood method; {type(method).__name__} has no"
            " standard errors."
        )
    if design.survey is not None and not method.likelihood:
        raise OptionError(
            f"design must go with a likelihood method; {type(method).__name__} has no"
            " standard errors: give the sampling weights as weights=, and PSUs as"
            " cluster=."
        )
    if design.survey is not None and design.smooths:
        raise OptionError(
            "design must go with a formula without smooth terms: write"
            f" {UNPENALISED_TERMS}."
        )
    if design.survey is not None and design.sample.stepped is not None:
        raise OptionError(
            "design must go with a formula without mono() and fuse(): write x in place"
            " of mono(x)."
        )


def _call(
    design: Design, method: Method, calibrated: Calibrated | None, vcov: Any
) -> str:
    """The call as text."""
    arguments = [repr(design.formula), arguments_text(design.recipe)]
    name = PLAIN.get(type(method).__name__)
    if name is None:
        arguments.append(f"method={method}")
    else:
        if name != "clm":
            arguments.append(f"method={name!r}")
        arguments.append(str(method).partition("(")[2][:-1])
    if calibrated is not None:
        arguments.append(f"calibrate={calibrated.folds}")
    if vcov is not None:
        shown = repr(vcov) if isinstance(vcov, (str, dict)) else "..."
        arguments.append(f"vcov={shown}")
    return f"ordfit({', '.join(filter(None, arguments))})"


def refit(
    design: Design,
    method: str | Method,
    options: Mapping[str, Any],
    vcov: Any = None,
    kept_vcov: Any = None,
    calibrate: bool | int = False,
) -> OrdinalResults:
    """Fit a method, by name or as a value, to a design; used by results that fit again.

    `kept_vcov` is the vcov= of the old fit; methods without standard errors ignore it.
    """
    value = resolve(method, options)
    design = design.coded(value.supports.categories, value.supports.by_level)
    vcov = kept_vcov if vcov is None and value.likelihood else vcov
    return fit_design(design, value, vcov=vcov, calibrate=calibrate)


def _split_vcov(vcov: Any, cluster: Any) -> tuple[Any, Any]:
    """(clusters of the design, covariance to ask of the results): {"cluster": ...} is
    the long form of cluster=.
    """
    if vcov is None or isinstance(vcov, str):
        return cluster, vcov
    if isinstance(vcov, (pd.DataFrame, np.ndarray)):
        raise OptionError(
            "vcov must be a name or {'cluster': ...} in ordfit(); got a matrix. Give it"
            " to the fit, as in fit.with_vcov(matrix)."
        )
    if not isinstance(vcov, Mapping) or set(vcov) - {"type"} != {"cluster"}:
        raise OptionError(
            "vcov must be 'model', 'HC0', 'HC1', 'CR2' or {'cluster': column or"
            f" values, 'type': 'CR1' or 'CR2'}}; got {brief(vcov)}."
        )
    kind = vcov.get("type", "CR1")
    one_of("the type of vcov", kind, ("CR1", "CR2"))
    if cluster is not None and cluster is not vcov["cluster"]:
        raise OptionError(
            "vcov={'cluster': ...} and cluster= say the same thing: give one of them."
        )
    if "type" not in vcov:
        return vcov["cluster"], None
    return vcov["cluster"], "CR2" if kind == "CR2" else "cluster"


def split_cost(cost: Any, data: Any) -> tuple[Any, Any]:
    """(costs of every row, cost of all rows): at most one of them is not None."""
    if cost is None or isinstance(cost, str):
        return None, cost
    if isinstance(cost, (list, tuple, np.ndarray, pd.DataFrame)):
        shape = shape_of(cost)
    else:
        shape = ()
    if shape is None or len(shape) != 2:
        got = "lists of different lengths" if shape is None else f"shape {shape}"
        do = "Take columns of costs from the data, as in cost=data[['a', 'b', 'c']]"
        raise OptionError(
            f"cost must be a name, a K x K table or an N x K table; got {got}. {do}."
        )
    table: AnyArray = np.asarray(cost)
    if table.shape[0] == table.shape[1]:
        if table.shape[0] == len(data):
            raise OptionError(
                f"cost has {len(data)} rows, as many as the data, and as many columns:"
                " it may be a K x K table or costs of the rows. Give a K x K table to"
                " the method itself, as in method=REDSVM(cost=table)."
            )
        return None, table
    return cost, None
