"""Results of an elastic net: the path, the fit at any lambda, the refit of selected
terms, and a summary without standard errors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
import pandas as pd

from ..checks import counted, one_of
from ..exceptions import (
    ConvergenceWarning,
    DataWarning,
    UnavailableError,
    warn,
)
from ..formula.level_effects import stepped_terms
from ..formula.names import shown_factor
from ..formula.parse import source
from ..report.cells import first_few
from ..report.frames import NotedFrame
from ..report.warnings import Alert
from .bare_results import ResultsWithoutErrors
from .columns import equal_columns
from .elastic_net import CRITERIA, RULES, ElasticNet
from .elastic_path import TOLERANCE, Path, Scored, duality_gaps, fit_at
from .results import LikelihoodResults
from .unavailable import without

if TYPE_CHECKING:
    from .._typing import FloatArray, Progress

_SELECTED = (
    "The terms were selected by an elastic net on the same rows: standard errors,"
    " limits and tests do not account for the selection."
)
_WORDS = {
    "aic": "smallest AIC",
    "bic": "smallest BIC",
    "ebic": "smallest EBIC",
    "min": "smallest cross-validated score",
    "1se": "within one standard error of the smallest cross-validated score",
}
_SCORE_WORDS = {
    "logloss": "log-loss",
    "rps": "ranked probability score",
    "absolute": "absolute error",
    "classification": "classification error",
}
#: Most terms that the summary names as left out.
_LISTED = 12
#: Most coefficients of a kind that the summary shows.
_SHOWN = 60
_LOCATION_TITLE = "Coefficients that are not 0 (positive = higher response)"
#: What to do about equal columns.
_DIVIDED = (
    "Drop all but one, or use ElasticNet(l1_ratio=0.5), which divides the effect among"
    " them."
)


@without("path")
@dataclass(frozen=True, eq=False, repr=False)
class PathResults(ResultsWithoutErrors):
    """A likelihood model with an elastic net penalty, at one lambda of its path.

    Coefficients are on the scale of the columns; coefficients that were not selected
    are 0. Predictions, errors and plots are those of this lambda; `at` gives the fit at
    another one.

    Examples
    --------
    >>> from ordstat import ElasticNet, datasets, ordfit
    >>> wine = datasets.load("wine")
    >>> fit = ordfit("rating ~ temp + contact", wine, penalty=ElasticNet())
    >>> fit.selected
    ['temp', 'contact']
    >>> fit.at(fit.path["lambda"].iloc[0]).selected
    []
    """

    no_errors: ClassVar[str] = (
        "No standard errors or p-values: the data chose the coefficients and the"
        " penalty shrinks them, so that the usual ones do not hold."
    )
    part: ClassVar[str] = "an elastic net"
    with_errors: ClassVar[str] = "refit().summary()"

    @property
    def _path(self) -> Path:
        assert self.fit.path is not None
        return self.fit.path

    @property
    def _net(self) -> ElasticNet:
        net: ElasticNet = self.method.elastic_net
        return net

    @property
    def lambda_(self) -> float:
        """The lambda of this fit."""
        return float(self._path.lambdas[self.fit.position])

    @property
    def path(self) -> NotedFrame:
        """The path: a row for each lambda.

        Returns
        -------
        pandas.DataFrame
            Columns lambda; nonzero, the number of penalised coefficients that are not
            0; df, degrees of freedom including the thresholds; loglik; deviance_ratio,
            the explained share of the null deviance; aic, bic and ebic. `kkt` is the
            largest violation of the optimality conditions as a share of lambda. `gap`
            is the duality gap as a share of the objective, which bounds the distance
            from the minimum. It is NaN for links without a concave likelihood, with
            offsets, and with columns of factor 0, as no feasible point of the dual
            problem is known. With cross-validation also cv_mean and cv_error, the mean
            score and its standard error over the folds.

        Examples
        --------
        >>> from ordstat import ElasticNet, datasets, ordfit
        >>> wine = datasets.load("wine")
        >>> net = ElasticNet(lambdas=[0.2, 0.1])
        >>> fit = ordfit("rating ~ temp + contact", wine, penalty=net)
        >>> fit.path[["lambda", "nonzero", "df", "loglik"]].round(2)
           lambda  nonzero   df  loglik
        0     0.2        1  5.0  -97.47
        1     0.1        2  6.0  -89.69
        """
        path = self._path
        columns = {
            "lambda": path.lambdas,
            "nonzero": path.nonzero,
            "df": path.df,
            "loglik": path.loglik,
            "deviance_ratio": path.explained,
            **{name: path.criterion(name) for name in CRITERIA},
            "kkt": path.residual,
            "gap": self._gaps,
        }
        if path.cv is not None:
            columns |= {"cv_mean": path.cv.mean, "cv_error": path.cv.error}
        notes = []
        if path.ended_early:
            notes.append("Smaller lambdas explain hardly more, and were left out.")
        if path.ended_crowded:
            notes.append(
                "Smaller lambdas were left out: more coefficients than half the number"
                " of rows would not be 0. Give lambdas= to go on."
            )
        return NotedFrame.of(
            pd.DataFrame(columns),
            notes,
            "Path",
            {"lambda": ".4g", "kkt": ".1e", "gap": ".1e", "deviance_ratio": ".4f"},
        )

    @cached_property
    def _gaps(self) -> FloatArray:
        """(L,) duality gaps, which take a pass over the rows for each lambda."""
        return duality_gaps(self.method, self.design.sample, self._path)

    @property
    def path_coef(self) -> pd.DataFrame:
        """(L, P) all parameters at each lambda; the columns are those of `params`."""
        problem = self.fit.likelihood
        values = np.array([problem.with_aliased(row) for row in self._path.estimates])
        index = pd.Index(self._path.lambdas, name="lambda")
        return pd.DataFrame(values, index=index, columns=self.parameters.names)

    @property
    def column_deviations(self) -> pd.Series:
        """Standard deviations of the columns of the coefficients in `coef`."""
        problem = self.fit.likelihood
        nominal = problem.nominal.deviation.repeat(len(self.levels) - 1)
        location = problem.location.deviation
        location = np.where(np.isfinite(location), location, 0.0)
        values = np.concatenate([nominal, location])
        return pd.Series(values, index=self.coef.index)

    @property
    def score_name(self) -> str:
        """Name of the score of cross-validation."""
        return _SCORE_WORDS[self._net.score]

    @property
    def cv_scores(self) -> pd.DataFrame:
        """(L, F) mean score of the held-out rows of each fold; UnavailableError without
        cross-validation.
        """
        cv = self._scored_path()
        folds = pd.Index(np.arange(1, len(cv.scores) + 1), name="fold")
        index = pd.Index(self._path.lambdas, name="lambda")
        return pd.DataFrame(cv.scores.T, index=index, columns=folds)

    @property
    def lambda_min(self) -> float:
        """The lambda of the smallest cross-validated score."""
        return self._by_rule("min")

    @property
    def lambda_1se(self) -> float:
        """The largest lambda whose cross-validated score is within one standard error
        of the smallest.
        """
        return self._by_rule("1se")

    def _by_rule(self, rule: str) -> float:
        return float(self._path.lambdas[self._scored_path().chosen(rule)])

    def _scored_path(self) -> Scored:
        if self._path.cv is None:
            raise UnavailableError(
                "This fit has no cross-validation. Fit with penalty=ElasticNet(cv=10)."
            )
        return self._path.cv

    def at(self, lam: float | str) -> Self:
        """The fit at another lambda of the path.

        Parameters
        ----------
        lam : float or {"aic", "bic", "ebic", "min", "1se"}
            A lambda of `path`, or a rule that chooses it, as in `ElasticNet`.

        Raises
        ------
        OptionError
            The number is not on the path, or a rule needs cross-validation or degrees
            of freedom, which a ridge of a sparse X does not have.

        Examples
        --------
        >>> from ordstat import ElasticNet, datasets, ordfit
        >>> wine = datasets.load("wine")
        >>> fit = ordfit("rating ~ temp + contact", wine, penalty=ElasticNet())
        >>> fit.at(fit.path["lambda"].iloc[0]).selected  # the largest lambda
        []
        """
        if isinstance(lam, str):
            rules = CRITERIA if self._path.cv is None else (*CRITERIA, *RULES)
            one_of("lam", lam, rules, also=", or a lambda of the path")
        position = self._path.position(lam)
        problem = self.fit.likelihood
        rows = self.design.sample.rows
        fit = fit_at(self.method, rows, problem, self._path, position)
        return replace(self, fit=fit)

    @property
    def selected(self) -> list[str]:
        """Selected location terms: those with a coefficient that is not 0."""
        return self._selected("location")

    @property
    def selected_nominal(self) -> list[str]:
        """Selected terms with effects by threshold or level: of nominal=, so that
        effects are not parallel, or of the multinomial logit.
        """
        return self._selected("nominal")

    def _selected(self, part: str) -> list[str]:
        layout = self.fit.layout.split(np.nan_to_num(self.fit.coefficients))
        used = layout.beta != 0.0
        terms = self.design.terms
        if part == "nominal":
            used = (layout.alpha[:, 1:] != 0.0).any(axis=0)
            terms = self.design.nominal_terms
        marks = used.tolist()
        return [term for term, columns in terms.items() if True in marks[columns]]

    def refit(self) -> LikelihoodResults:
        """The model with the selected terms, fitted by maximum likelihood.

        fuse(x) is refitted as C(x) with joined levels; mono(x) stays. Standard errors,
        confidence intervals and tests do not account for the selection.

        Warns
        -----
        DataWarning
            Standard errors do not account for the selection.

        Examples
        --------
        >>> import warnings
        >>> from ordstat import ElasticNet, datasets, ordfit
        >>> wine = datasets.load("wine")
        >>> fit = ordfit("rating ~ temp + contact", wine, penalty=ElasticNet())
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     fit.refit().coef.round(3).to_dict()
        {'temp[T.warm]': 2.503, 'contact[T.yes]': 1.528}
        """
        nominal = self.selected_nominal
        fused = {
            term: of for term, of in self._fused().items() if term in self.selected
        }
        location = [
            fused[term][0] if term in fused else term
            for term in self.selected
            if term not in nominal
        ]
        changes: dict[str, Any] = {"penalty": None, "constraints": {}}
        if fused:
            given = self.design.recipe.contrasts or {}
            changes["contrasts"] = {**given, **dict(fused.values())}
        if self.method.supports.by_level:  # its formula holds the nominal terms
            location = nominal
        elif self.design.nominal_names:
            changes["nominal"] = f"~ {' + '.join(nominal) or '1'}"
        plain: LikelihoodResults = self.update(
            f". ~ {' + '.join(location) or '1'}", **changes
        )
        notes = (*plain.design.notes, _SELECTED)
        warn(_SELECTED, DataWarning)
        return replace(plain, design=replace(plain.design, notes=notes))

    def _fused(self) -> dict[str, tuple[str, pd.DataFrame]]:
        """For each term fuse(x): the factor that takes its place, and its contrasts,
        which are indicators of levels that are joined.
        """
        joined = self.joined_levels
        fused = {}
        for term, factor, coding in stepped_terms(self.design.spec):
            if coding.effect is not None and coding.effect.kind == "fuse":
                groups = joined[shown_factor(factor, {})][1:]
                indicators = {
                    f"{group[0]} to {group[-1]}" if len(group) > 1 else f"{group[0]}": [
                        float(level in group) for level in coding.levels
                    ]
                    for group in groups
                }
                variable = source(cast(Any, factor.tree).args[0])
                contrasts = pd.DataFrame(indicators, index=list(coding.levels))
                fused[term.label] = f"C({variable})", contrasts
        return fused

    def stability(
        self,
        pairs: int = 50,
        *,
        seed: int | np.random.Generator = 0,
        n_jobs: int = 1,
        callback: Progress | None = None,
    ) -> NotedFrame:
        """Stability selection: how often this lambda selects each term in random halves
        of the rows.

        Each pair splits the rows into two halves, stratified by level of the response;
        clusters stay together.

        Parameters
        ----------
        pairs : int
            Number of pairs of halves, at least 1.
        seed : int or numpy.random.Generator
        n_jobs : int
            Number of threads; -1 for one per core.
        callback : callable(step, total, message), optional
            Called after every half.

        Returns
        -------
        pandas.DataFrame
            A row per term, the most frequent first; columns frequency and, with
            nominal=, nominal_frequency. A note bounds the expected number of terms that
            are stable by chance.

        Raises
        ------
        OptionError
            `pairs` below 1, or `n_jobs` of 0.
        DataError
            No two halves of the clusters have all levels.
        UnavailableError
            A ridge, which keeps all terms.

        References
        ----------
        Meinshausen, N. and Buehlmann, P. (2010). Stability selection. Journal of the
        Royal Statistical Society B, 72, 417-473.
        Shah, R. D. and Samworth, R. J. (2013). Variable selection with error control:
        another look at stability selection. JRSS B, 75, 55-80.

        Examples
        --------
        >>> from ordstat import ElasticNet, datasets, ordfit
        >>> wine = datasets.load("wine")
        >>> fit = ordfit("rating ~ temp + contact", wine, penalty=ElasticNet())
        >>> fit.stability(10)["frequency"].to_dict()
        {'temp': 1.0, 'contact': 1.0}
        """
        from .stability import selection_frequencies

        return selection_frequencies(self, pairs, seed, n_jobs, callback)

    # What has no errors

    @property
    def edf(self) -> float:
        """Degrees of freedom of the thresholds and the penalised coefficients."""
        return float(self._path.df[self.fit.position])

    @property
    def df_residual(self) -> float:
        return self.nobs - self.edf

    @property
    def aic(self) -> float:
        """AIC of `path` at this lambda: -2 loglik + 2 edf."""
        return float(self._path.criterion("aic")[self.fit.position])

    @property
    def bic(self) -> float:
        """BIC of `path` at this lambda: -2 loglik + log(nobs) edf."""
        return float(self._path.criterion("bic")[self.fit.position])

    def glance(self) -> pd.DataFrame:
        """One row of statistics of the fit at this lambda: the row of `path`, with the
        number of observations.
        """
        row = pd.DataFrame(self.path).iloc[[self.fit.position]].reset_index(drop=True)
        row.insert(0, "nobs", self.nobs)
        return row.assign(null_loglik=self.null_loglik, converged=self.converged)

    def _header(self) -> tuple[tuple[str, Any], ...]:
        path = self._path
        position = self.fit.position
        choice = self._net.choose
        chosen = ""
        several = path.lambdas.size > 1
        if several and isinstance(choice, str) and path.position(choice) == position:
            chosen = f" ({_WORDS[choice]})"
        of_path = f"{position + 1} of {path.lambdas.size} on the path"
        selected = f"{path.nonzero[position]} of {path.n_penalised}"
        if np.isfinite(self.edf):
            selected += f", df {self.edf:.4g} with thresholds"
        header: list[tuple[str, Any]] = [
            ("Lambda", f"{self.lambda_:.4g}{chosen}, {of_path}"),
            ("Coefficients not 0", selected),
            ("Log-likelihood", f"{self.loglik:.4f}"),
            ("Deviance explained", f"{100.0 * path.explained[position]:.1f}%"),
        ]
        if path.cv is not None:
            mean = path.cv.mean[position]
            error = path.cv.error[position]
            score = (
                f"{_SCORE_WORDS[self._net.score]} {mean:.4f}, std. error {error:.4f}"
            )
            header.append((f"{len(path.cv.scores)}-fold cross-validation", score))
        return tuple(header)

    @property
    def _titles(self) -> dict[str, str]:
        family = self.family
        return {
            "location": _LOCATION_TITLE,
            "nominal": f"{family.nominal_title}, where not 0 ({family.nominal_words})",
        }

    def _shown(self, kind: str) -> list[int]:
        """The parameters of a kind that are not 0 and that the summary shows: all, or
        those with the largest effects of one standard deviation.
        """
        every = self.parameters.of(kind)
        values = np.nan_to_num(self.fit.coefficients[every])
        if np.count_nonzero(values) <= _SHOWN:
            return [row for row in every if self.fit.coefficients[row]]
        names = [self.parameters.names[row] for row in every]
        sizes = np.abs(values) * self.column_deviations[names].to_numpy()
        largest = np.argsort(-sizes, kind="stable")[:_SHOWN]
        return [int(row) for row in np.sort(np.asarray(every)[largest])]

    def _not_shown(self) -> tuple[str, ...]:
        """A note where the summary does not show all coefficients that are not 0."""
        notes = []
        for kind in ("location", "nominal"):
            values = np.nan_to_num(self.fit.coefficients[self.parameters.of(kind)])
            count = int(np.count_nonzero(values))
            if count > _SHOWN:
                notes.append(
                    f"Of {count} coefficients that are not 0 the {_SHOWN} with the"
                    " largest effects of one standard deviation are shown; coef has"
                    " all."
                )
        return tuple(notes)

    def _remarks(self, labels: Mapping[str, str]) -> tuple[str, ...]:
        return (*self._not_shown(), *self._left_out(labels))

    def _left_out(self, labels: Mapping[str, str]) -> tuple[str, ...]:
        selected = set(self.selected)
        terms = [term for term in self.design.terms if term not in selected]
        if not terms:
            return ()
        shown = [labels.get(term, term) for term in terms[:_LISTED]]
        others = len(terms) - _LISTED
        more = ""
        if others > 0:
            more = f" and {counted(others, 'other')}"
        return (f"Coefficients 0: {', '.join(shown)}{more}.",)

    def fit_warnings(self) -> list[Alert]:
        issued = super().fit_warnings()
        path = self._path
        worst = float(path.residual.max())
        if path.cv is not None:
            worst = max(worst, path.cv.residual)
        if not worst <= TOLERANCE and self.fit.certificate.reached:
            text = (
                "some fits of the path, or of its folds, violate the optimality"
                f" conditions by up to {worst:.1e} lambda (tolerance"
                f" {TOLERANCE:.0e}): see kkt of fit.path."
            )
            issued.append((ConvergenceWarning, text))
        if self._net.l1_ratio == 1.0:
            issued += [(DataWarning, text) for text in self._equal_columns()]
        return issued

    def _equal_columns(self) -> list[str]:
        """A text for each set of columns with an effect that the lasso cannot tell
        apart.
        """
        design = self.design
        used = design.sample.case_weights > 0.0
        rows = design.sample.rows
        q = len(design.nominal_names)
        factors = np.ones(q + len(design.names))
        if design.sample.penalised is not None:
            factors = design.sample.penalised.factor
        texts = []
        for X, names, terms, factor in (
            (rows.nominal, design.nominal_names, design.nominal_terms, factors[:q]),
            (rows.X, design.names, design.terms, factors[q:]),
        ):
            sets = [] if X is None else equal_columns(X if used.all() else X[used])
            if not sets:
                continue
            chosen = {*self.selected, *self.selected_nominal}
            term_of = {
                name: term for term, columns in terms.items() for name in names[columns]
            }
            for places in sets:
                # the column with the smallest factor alone has the effect
                cheapest = places[factor[places] == factor[places].min()]
                equal = [names[place] for place in cheapest]
                used_at_all = any(term_of.get(name) in chosen for name in equal)
                if len(equal) == 1 or not used_at_all:
                    continue
                texts.append(
                    f"{first_few(equal, _LISTED)} are the same column up to shift and"
                    " scale, and the lasso does not determine how they divide the"
                    " effect: their coefficients, and predictions of rows in which"
                    f" they differ, are arbitrary. {_DIVIDED}"
                )
        return texts
