"""Names of parameters and how they are shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd

from .._typing import FloatArray, IntArray
from ..checks import one_of
from ..exceptions import DataError, OptionError, UnavailableError
from ..formula.sample import check_whole_groups
from ..formula.survey import Survey
from .fit import FEW_CLUSTERS, WITHOUT_CR2, BiasReduced, LikelihoodFit
from .rule import LikelihoodRule

if TYPE_CHECKING:
    from ..formula.design import Design


@dataclass(frozen=True, eq=False, kw_only=True)
class Parameters:
    """The P parameters in their order: thresholds, nominal, location, scale, lambda of a flexible link.

    Attributes
    ----------
    names : list of str
        "1|2" for thresholds ("central.1", "spacing.1", ... of a threshold structure), "1|2.column" for nominal
        effects, "column", "scale.column", "lambda".
    kinds : list of str
        "threshold", "nominal", "location", "scale" or "lambda".
    """

    names: list[str]
    kinds: list[str]

    def of(self, *kinds: str) -> IntArray:
        """Places of the parameters of some kinds."""
        return np.flatnonzero(np.isin(self.kinds, kinds))


def parameters(design: Design, thresholds: list[str], fit: LikelihoodFit) -> Parameters:
    """Names and kinds of a fit's parameters; `thresholds` are the K-1 names "low|high"."""
    own = list(fit.threshold_names) or thresholds
    kinds = {
        "threshold": own,
        "nominal": [f"{threshold}.{name}" for name in design.nominal_names for threshold in own],
        "location": list(design.names),
        "scale": [f"scale.{name}" for name in design.scale_names],
        "lambda": ["lambda"] * fit.n_lambda,
    }
    return Parameters(
        names=[name for names in kinds.values() for name in names],
        kinds=[kind for kind, names in kinds.items() for _ in names],
    )


def threshold_limits(fit: LikelihoodFit) -> FloatArray:
    """(K-1,) `threshold_values`; infinite where separation makes them so, NaN where it leaves them open."""
    values = threshold_values(fit)
    if fit.separation is None:
        return values
    if fit.jacobian is None:
        return fit.limits[: values.size]
    made = np.pad(fit.jacobian, ((0, 0), (0, fit.aliased.size - fit.jacobian.shape[1])))
    return np.asarray(values + fit.ends(made[:, ~fit.aliased]))


def threshold_values(fit: LikelihoodFit) -> FloatArray:
    """(K-1,) thresholds that predictions are made by, at zero of the nominal columns; NaN beside a level without rows.

    Infinite ones of a separated response are where the search stopped.
    """
    theta = cast(LikelihoodRule, fit.rule).alpha[:, 0]
    return fit.coefficients[: theta.size] if fit.jacobian is None else np.where(np.isfinite(theta), theta, np.nan)


def threshold_errors(fit: LikelihoodFit, errors: FloatArray, covariance: Callable[[], FloatArray]) -> FloatArray:
    """(K-1,) standard errors of `threshold_values`, by the delta method where a structure makes them of others."""
    theta = threshold_values(fit)
    if fit.jacobian is None:
        return errors[: theta.size]
    t = fit.jacobian.shape[1]
    own = covariance()[:t, :t]
    variances = np.einsum("ki,ij,kj->k", fit.jacobian, own, fit.jacobian)
    return np.asarray(np.where(np.isnan(theta), np.nan, np.sqrt(variances)))


def spread(values: FloatArray, fit: LikelihoodFit) -> FloatArray:
    """(P,) values of the estimated parameters (P',) in place, NaN at aliased ones."""
    full = np.full(fit.aliased.size, np.nan)
    full[~fit.aliased] = values
    return full


NO_CR2 = (
    f"a CR2 covariance is not defined where estimates are infinite, so that there are no standard errors. {WITHOUT_CR2}"
)


def listed(names: Any) -> list[Any]:
    """One name, several or none as a list."""
    if names is None:
        return []
    return list(names) if isinstance(names, Iterable) and not isinstance(names, str) else [names]


def texts(name: str, given: Any) -> list[str]:
    """Names as a list; OptionError where they are none."""
    found = listed(given)
    if not all(isinstance(one, str) for one in found):
        raise OptionError(f"{name} must be names of variables; got {given!r}.")
    return found


def not_fixed(term: str, how: str) -> OptionError:
    """For a random term in the scope of what is of fixed effects; fits with or without it are compared."""
    return OptionError(
        f"scope must be of fixed effects; got the random term {term}. Fit {how} it by update(), and compare the fits "
        "by anova(), which knows the law of a variance at its boundary."
    )


def terms_of(scope: Any, terms: Iterable[str]) -> list[str]:
    """The terms of a scope; OptionError for one that is not among those of the model."""
    asked, known = listed(scope), list(terms)
    for term in asked:
        if isinstance(term, str) and "|" in term and term not in known:
            raise not_fixed(term, "without")
        if term not in known:
            raise OptionError(f"scope has no term {term!r} of the model; its terms are {', '.join(known)}.")
    return asked


def why_confounded(place: int, fit: LikelihoodFit, parameters: Parameters) -> str:
    """Why a parameter is not estimated."""
    return (
        f"{parameters.names[place]} is not estimated (NA): the probabilities of the {fit.rule.n_levels} levels "
        "determine it only together with other parameters. Leave it out."
    )


def check_determined(places: IntArray, fit: LikelihoodFit, parameters: Parameters, ask: str) -> None:
    """OptionError where one of some parameters is not determined by the probabilities."""
    for place in fit.confounded:
        if place in places:
            raise OptionError(f"{ask} has no answer: {why_confounded(place, fit, parameters)}")


COVARIANCES = ("model", "HC0", "HC1", "cluster", "CR2")
#: Kinds of cluster-robust covariances, as {"cluster": ..., "type": ...} has them, and their names.
_TYPES = {"CR1": "cluster", "CR2": "CR2"}


@dataclass(frozen=True, eq=False)
class Covariance:
    """A choice of covariance.

    Attributes
    ----------
    name : str
        One of `COVARIANCES`, or "survey".
    cluster : (N,) codes or None
    survey : Survey or None
    given : str or None
        The column of the clusters, where they were named.
    """

    name: str
    cluster: IntArray | None = None
    survey: Survey | None = None
    given: str | None = None

    @property
    def df(self) -> float:
        """Degrees of freedom of t-values and Wald F tests; infinite where they are normal and chi-squared."""
        return float("inf") if self.survey is None else float(self.survey.df)

    @property
    def words(self) -> str:
        """For the summary."""
        if self.survey is not None:
            return self.survey.errors
        if self.cluster is not None:
            kind = "CR2, t by Satterthwaite" if self.name == "CR2" else "cluster-robust"
            return f"{kind}, {np.unique(self.cluster).size} clusters"
        return "observed information" if self.name == "model" else f"{self.name} sandwich over rows"

    @property
    def without_aic(self) -> str:
        """Why AIC and BIC say nothing beside it; empty where they do."""
        if self.survey is not None:
            return "a weighted sample has no likelihood of independent rows"
        if self.cluster is not None:
            return "rows of a cluster are not independent"
        return "" if self.name == "model" else "robust errors do not take the model for true"

    @property
    def most_at_once(self) -> float:
        """How many hypotheses have a joint test: G - 1 of G clusters, whose score sums add up to 0; one under CR2."""
        if self.cluster is None:
            return float("inf")
        return 1.0 if self.name == "CR2" else np.unique(self.cluster).size - 1.0

    @property
    def few_clusters(self) -> str:
        """That there are too few clusters for the sandwich; empty where there are enough, or CR2 corrects for it."""
        if self.name != "cluster" or self.cluster is None or (groups := np.unique(self.cluster).size) >= FEW_CLUSTERS:
            return ""
        return (
            f"{groups} clusters are few: below {FEW_CLUSTERS}, cluster-robust standard errors are too small. Use "
            "{'cluster': ..., 'type': 'CR2'}, or a random effect, (1 | g)."
        )

    @property
    def why_no_more(self) -> str:
        """Why more than `most_at_once` hypotheses have no joint test."""
        if self.name == "CR2":
            return "CR2 tests one coefficient at a time"
        return f"{self.most_at_once + 1:g} clusters are too few to test so many effects at once"

    def factor(self, n_obs: float, n_parameters: int) -> float:
        """Finite-sample factor of the sandwich: n/(n-p) for HC1, G/(G-1) for G clusters, 1 for HC0."""
        if self.cluster is not None:
            groups = np.unique(self.cluster).size
            if groups < 2:
                raise DataError("cluster-robust standard errors need at least 2 clusters; got 1.")
            return groups / (groups - 1)
        if self.name == "HC1":
            return n_obs / (n_obs - n_parameters) if n_obs > n_parameters else float("nan")
        return 1.0


def own_covariance(design: Design) -> Covariance:
    """That of the survey design; cluster-robust where the fit has clusters; else from the information."""
    if design.survey is not None:
        return Covariance("survey", survey=design.survey)
    cluster = design.sample.cluster
    return Covariance("model") if cluster is None else Covariance("cluster", cluster)


def refuse_survey(design: Design, name: str, instead: str = "test(), or anova() of this fit alone") -> None:
    """UnavailableError where a fit has a survey design, whose rows no likelihood describes.

    Parameters
    ----------
    design : Design
    name : str
        What was asked for.
    instead : str
        What to ask for.
    """
    if design.survey is not None:
        raise UnavailableError(
            f"{name} rests on the likelihood of independent rows, and this fit has a survey design, for which it has "
            f"no known distribution: use {instead}."
        )


def chosen_covariance(choice: Any, design: Design, penalty: Any) -> Covariance:
    """What a user's `vcov` stands for at a fit with a penalty, or None.

    Raises
    ------
    OptionError
        An unknown name, clusters that were not given, CR2 of a penalised fit, or what random effects do not go with.
    DataError
        Clusters that do not match the rows.
    """
    chosen = _named_covariance(choice, design)
    if chosen.name == "CR2" and penalty is not None:
        raise OptionError(
            f"vcov='CR2' takes finite estimates of maximum likelihood, and penalty= makes others. {WITHOUT_CR2}"
        )
    if design.sample.rows.random is not None:
        _check_beside_random(chosen, choice, design)
    return chosen


def _check_beside_random(chosen: Covariance, choice: Any, design: Design) -> None:
    """OptionError for a covariance of independent rows where these have random effects in common."""
    if chosen.name not in ("model", "cluster"):
        raise OptionError(
            "vcov must be 'model' or {'cluster': ...}, with whole groups, where the fit has random effects, as rows of "
            f"one group are not independent; got {choice!r}."
        )
    if chosen.cluster is not None:
        check_whole_groups(design.sample.rows.random, chosen.cluster, [term.text for term in design.random])


def _named_covariance(choice: Any, design: Design) -> Covariance:
    if design.survey is not None:
        if choice == "survey":
            return own_covariance(design)
        raise OptionError(
            f"vcov must be left out, or be 'survey', where the fit has a survey design; got {choice!r}. For other "
            "errors fit with weights= and cluster= in place of design=."
        )
    if isinstance(choice, Mapping) and set(choice) - {"type"} == {"cluster"}:
        kind = choice.get("type", "CR1")
        one_of("the type of vcov", kind, tuple(_TYPES))
        given = choice["cluster"]
        return Covariance(_TYPES[kind], cluster_codes(given, design), given=given if isinstance(given, str) else None)
    if not isinstance(choice, str) or choice not in COVARIANCES:
        names = ", ".join(repr(name) for name in COVARIANCES)
        raise OptionError(
            f"vcov must be one of {names}, or {{'cluster': column or values, 'type': 'CR1' or 'CR2'}}; got {choice!r}."
        )
    if choice not in _TYPES.values():
        return Covariance(choice)
    if design.sample.cluster is None:
        kind = ", 'type': 'CR2'" if choice == "CR2" else ""
        raise OptionError(
            f"vcov={choice!r} needs ordfit(..., cluster=...), or the clusters: {{'cluster': 'column'{kind}}}."
        )
    return Covariance(choice, design.sample.cluster)


def cluster_codes(given: Any, design: Design) -> IntArray:
    """(N,) codes of the clusters that the user gives beside the fit: a column of the data, or values."""
    if isinstance(given, str):
        return _column_codes(given, design)
    if isinstance(given, pd.Series) and not given.index.equals(design.index):
        if not (given.index.is_unique and design.index.isin(given.index).all()):
            raise DataError(
                "cluster is a Series without the index of the rows of the fit: reindex it, or give cluster.to_numpy() "
                "to match rows by position."
            )
        given = given.loc[design.index]
    values = np.asarray(given)
    if values.shape != (design.sample.n,):
        got = f"{values.size} values" if values.ndim == 1 else f"shape {values.shape}" if values.ndim else repr(given)
        raise DataError(
            f"cluster must be the name of a column, or have one value for each of the {design.sample.n} rows of the "
            f"fit, or be a Series with their index; got {got}."
        )
    codes, _ = pd.factorize(values)
    if (codes < 0).any():
        raise DataError(f"cluster has a missing value at row {design.index[int(np.argmin(codes))]}.")
    return codes.astype(np.intp)


def _column_codes(name: str, design: Design) -> IntArray:
    """(N,) codes of a column of the data of the fit."""
    if design.data is None:
        raise DataError(
            f"The data of the fit are not at hand, so the column {name!r} cannot be read: pass its values, as in "
            f"{{'cluster': data[{name!r}]}}."
        )
    found = design.updated(cluster=name).sample
    if found.cluster is None or found.n != design.sample.n:
        raise DataError(
            f"cluster column {name!r} is missing in {design.sample.n - found.n} of the {design.sample.n} rows of the "
            f"fit: fit with ordfit(..., cluster={name!r}), which leaves them out."
        )
    return found.cluster


def covariance_matrix(fit: LikelihoodFit, chosen: Covariance) -> FloatArray:
    """(P' + m, P' + m) covariance of the estimated parameters, those of random effects last; NaN for infinite ones."""
    bread = fit.bread()
    if chosen.name == "model":
        return bread
    if chosen.name == "CR2":  # which infinite estimates have not
        return np.full_like(bread, np.nan)
    unknown = np.isnan(np.diagonal(bread))
    known = np.where(unknown[:, None] | unknown, 0.0, bread)
    sandwich = _sandwich(fit, chosen, known)
    sandwich[unknown] = sandwich[:, unknown] = np.nan
    return sandwich


def _sandwich(fit: LikelihoodFit, chosen: Covariance, bread: FloatArray) -> FloatArray:
    if chosen.survey is not None:
        return chosen.survey.covariance(fit.likelihood, bread)
    meat = fit.likelihood.score_products(chosen.cluster)
    factor = chosen.factor(fit.n_obs, fit.edf)
    return np.asarray(factor * (bread @ meat @ bread))


def adjusted_scores(fit: LikelihoodFit, chosen: Covariance) -> BiasReduced:
    """The clusters of a CR2 covariance.

    Raises
    ------
    OptionError
        One cluster, infinite estimates, or a penalty.
    """
    assert chosen.cluster is not None
    chosen.factor(fit.n_obs, 0)  # refuses a single cluster
    if fit.separation is not None or any(label == "penalty" for label, _ in fit.facts):
        raise OptionError(
            "vcov='CR2' takes finite estimates of maximum likelihood; these are penalised or "
            f"infinite (see .alerts()). {WITHOUT_CR2}"
        )
    return cast(BiasReduced, fit.likelihood.bias_reduced(chosen.cluster))


def square_frame(matrix: FloatArray, names: list[str]) -> pd.DataFrame:
    """A matrix with the same names on both sides."""
    return pd.DataFrame(matrix, index=index_of(tuple(names)), columns=index_of(tuple(names)))


def index_of(names: tuple[str, ...]) -> pd.Index:
    """The names as an index, which takes longer to make than what it is of: one of its own for whoever renames it."""
    return _index_of(names).view()


@lru_cache(maxsize=64)
def _index_of(names: tuple[str, ...]) -> pd.Index:
    return pd.Index(list(names))
