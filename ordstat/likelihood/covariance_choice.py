"""The choice of a covariance: the model's own, robust, clustered, CR2 or a survey's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._typing import FloatArray, IntArray
from ..checks import brief, one_of, shown_labels
from ..exceptions import DataError, OptionError
from ..formula.inputs import clusters_of
from ..formula.random_rows import check_whole_groups
from ..formula.smooths import UNPENALISED_TERMS
from .elastic_net import ElasticNet
from .fit import LikelihoodFit
from .remedies import FEW_CLUSTERS, WITHOUT_CR2
from .sandwich import SandwichCovariance
from .user_scale import InverseInformation

if TYPE_CHECKING:
    from ..formula.design import Design
    from ..formula.survey import Survey

NO_CR2 = (
    "a CR2 covariance is not defined where estimates are infinite, so there are no"
    f" standard errors. {WITHOUT_CR2}"
)


_CAUTION = "Read p-values near 0.05 with caution."
#: Name of a covariance matrix that the user brings.
GIVEN = "given"
#: Largest difference between two halves of a symmetric matrix, and least eigenvalue of
#: a semidefinite one, in units of standard errors: matrices from text files have eight
#: digits or so.
_ASYMMETRY = 1e-6
_NEGATIVE = -1e-6
#: A robust covariance of more parameters is not formed: products of its matrices take
#: seconds from there on.
MOST_IN_MATRIX = 1_000
COVARIANCES = ("model", "HC0", "HC1", "cluster", "CR2")
#: Kinds of cluster-robust covariances, by the "type" in {"cluster": ..., "type": ...},
#: and their names.
_TYPES = {"CR1": "cluster", "CR2": "CR2"}


@dataclass(frozen=True, eq=False)
class Covariance:
    """A type of covariance for the estimates.

    Attributes
    ----------
    name : str
        One of `COVARIANCES`, "survey", or GIVEN.
    cluster : (N,) codes or None
    survey : Survey or None
    given : str or None
        Name of the column of the clusters, if there is one.
    asked : bool
        Whether the user named the type; otherwise few clusters get CR2 if available
        (`for_few_clusters`), and t.
    without_cr2 : (str, str)
        Why CR2 is not available for few clusters, and what to do instead.
    matrix : (P', P') or None
        A covariance of the estimated parameters given by the user.
    """

    name: str
    cluster: IntArray | None = None
    survey: Survey | None = None
    given: str | None = None
    asked: bool = True
    without_cr2: tuple[str, str] = ("", "")
    matrix: FloatArray | None = None

    @cached_property
    def n_clusters(self) -> int:
        """G, or PSUs of a survey; 0 without clusters."""
        clusters = self.cluster if self.survey is None else self.survey.cluster
        return 0 if clusters is None else int(np.count_nonzero(np.bincount(clusters)))

    @property
    def df(self) -> float:
        """Degrees of freedom of t-values and Wald F tests; infinite for normal and
        chi-squared tests.
        """
        if self.survey is not None:
            return float(self.survey.df)
        few = (
            self.name == "cluster" and not self.asked and self.n_clusters < FEW_CLUSTERS
        )
        return self.n_clusters - 1.0 if few else float("inf")

    @property
    def few_clusters(self) -> str:
        """Warning about few clusters, with a remedy; empty for many clusters, or CR2 on
        request.
        """
        if not 0 < self.n_clusters < FEW_CLUSTERS or (
            self.name == "CR2" and self.asked
        ):
            return ""
        begin = (
            f"{self.n_clusters} clusters are few (below {FEW_CLUSTERS}): standard"
            " errors are"
        )
        if self.name == "CR2":
            return (
                f"{begin} CR2, with t tests by Satterthwaite's degrees of freedom."
                " The plain sandwich, {'cluster': ..., 'type': 'CR1'}, is too small."
            )
        if self.asked and self.survey is None:
            return (
                f"{begin} too small. Use {{'cluster': ..., 'type': 'CR2'}}, or a random"
                " effect, (1 | g)."
            )
        why, instead = (
            ("survey designs", _CAUTION)
            if self.survey is not None
            else self.without_cr2
        )
        return (
            f"{begin} too small, though t has {self.df:g} df, and CR2 is not available"
            f" for {why}. {instead}"
        )

    @property
    def words(self) -> str:
        """Description for the summary."""
        if self.survey is not None:
            return self.survey.errors
        if self.matrix is not None:
            return "a covariance matrix given to with_vcov()"
        if self.cluster is not None:
            kind = "CR2, t by Satterthwaite" if self.name == "CR2" else "cluster-robust"
            by_t = "" if np.isinf(self.df) else f", t with {self.df:g} df"
            return f"{kind}{by_t}, {self.n_clusters} clusters"
        if self.name == "model":
            return "observed information"
        return f"{self.name} sandwich over rows"

    @property
    def without_aic(self) -> str:
        """Why AIC and BIC are not meaningful under this covariance; empty if
        they are.
        """
        if self.survey is not None:
            return "a weighted sample has no likelihood of independent rows"
        if self.cluster is not None:
            return "observations of a cluster are not independent"
        if self.matrix is not None:
            return "the covariance matrix given is not that of the likelihood"
        if self.name == "model":
            return ""
        return "robust errors do not assume that the model is true"

    @property
    def most_hypotheses(self) -> float:
        """Most hypotheses of a joint test: G - 1 for G clusters, whose score sums add
        up to 0; 1 for CR2.
        """
        if self.cluster is None:
            return float("inf")
        return 1.0 if self.name == "CR2" else self.n_clusters - 1.0

    @property
    def why_no_joint_test(self) -> str:
        """Why more than `most_hypotheses` hypotheses cannot be tested jointly."""
        if self.name == "CR2":
            return "CR2 tests one coefficient at a time"
        return f"{self.n_clusters} clusters are too few to test so many effects at once"


def own_covariance(design: Design) -> Covariance:
    """The default covariance: of the survey design, else cluster-robust if the fit has
    clusters, else by the information.
    """
    if design.survey is not None:
        return Covariance("survey", survey=design.survey)
    cluster = design.sample.cluster
    if cluster is None:
        return Covariance("model")
    return Covariance("cluster", cluster, asked=False)


def for_few_clusters(
    chosen: Covariance, fit: LikelihoodFit, design: Design, penalty: Any
) -> Covariance:
    """CR2 for few clusters if no type was named and CR2 is available; else the same
    covariance, with the reason.
    """
    if chosen.n_clusters >= FEW_CLUSTERS:
        return chosen
    from .cr2 import QUICK_CR2, cr2_work

    sample = design.sample
    other = "Use a random effect, (1 | g)"
    reasons = (
        (penalty is not None, "penalised fits", f"{other}, or leave out penalty=."),
        (sample.rows.random is not None, "fits with random effects", _CAUTION),
        (sample.highest is not None, "censored answers", _CAUTION),
        (
            fit.separation is not None,
            "infinite estimates",
            f"{other}, or merge levels.",
        ),
        (
            cr2_work(sample.n, sample.n_levels, int(fit.edf)) > QUICK_CR2,
            "so many rows and parameters unless asked for",
            (
                f"Name it, {{'cluster': ..., 'type': 'CR2'}}, and wait. {other}, if it"
                " is refused."
            ),
        ),
    )
    for holds, why, instead in reasons:
        if holds:
            return replace(chosen, without_cr2=(why, instead))
    return replace(chosen, name="CR2")


def chosen_covariance(choice: Any, design: Design, penalty: Any) -> Covariance:
    """The covariance that a user's `vcov` names, for a fit with this penalty (or None).

    Raises
    ------
    OptionError
        An unknown name, missing clusters, CR2 for a penalised fit, or a covariance that
        does not support random effects.
    DataError
        Clusters do not match the rows.
    """
    if isinstance(penalty, ElasticNet):
        raise OptionError(
            "vcov must go with estimates that have standard errors; those of an"
            " ElasticNet have none. Leave it out, or give it to fit.refit(vcov=...)."
        )
    if design.sample.stepped is not None:
        raise OptionError(
            "vcov must go with estimates that have standard errors; those of a model"
            " with mono(x) have none. Leave it out, or write x in place of mono(x)."
        )
    chosen = _named_covariance(choice, design)
    if chosen.name != "model" and design.smooths:
        raise OptionError(
            "vcov must be 'model' where the formula has smooth terms; got"
            f" {choice!r}. Write {UNPENALISED_TERMS}."
        )
    if chosen.name == "CR2" and penalty is not None:
        raise OptionError(
            "vcov='CR2' needs maximum likelihood estimates without penalty=."
            f" {WITHOUT_CR2}"
        )
    if chosen.name == "CR2" and design.sample.highest is not None:
        raise OptionError(
            "vcov='CR2' needs exact answers; some are censored. Use {'cluster':"
            " ..., 'type': 'CR1'}."
        )
    if design.sample.rows.random is None:
        return chosen
    if chosen.name not in ("model", "cluster"):
        raise OptionError(
            "vcov must be 'model' or {'cluster': ...}, with whole groups, where the"
            " fit has random effects, as rows of one group are not independent; got"
            f" {choice!r}."
        )
    if chosen.cluster is not None:
        check_whole_groups(
            design.sample.rows.random,
            chosen.cluster,
            [term.text for term in design.random],
        )
    return chosen


def is_matrix(choice: Any) -> bool:
    """Whether a `vcov` is a covariance matrix, rather than a name."""
    return isinstance(choice, (pd.DataFrame, np.ndarray, list, tuple))


def given_covariance(
    given: Any, names: list[str], fit: LikelihoodFit, design: Design
) -> Covariance:
    """The covariance matrix given by a user.

    Parameters
    ----------
    given : (P', P') frame or array
        A frame has the names of the parameters on both sides, in any order.
    names : list of str
        Names of the P' estimated parameters.
    fit : LikelihoodFit
    design : Design

    Raises
    ------
    OptionError
        The matrix has another shape or other names, or is not a covariance matrix; or
        the fit has random effects, a survey design or infinite estimates.
    """
    refused = {
        "random effects": fit.marginal is not None,
        "a survey design": design.survey is not None,
        "smooth terms": fit.smooths is not None,
        "infinite estimates": fit.determined is not None or bool(fit.diverging.any()),
    }
    for what, present in refused.items():
        if present:
            raise OptionError(
                f"vcov must be a name for fits with {what}; got a matrix. See"
                " help(fit.vcov)."
            )
    matrix = _finite_square(_in_order_of(given, names), len(names))
    _check_semidefinite(matrix, names)
    return Covariance(GIVEN, matrix=0.5 * (matrix + matrix.T))


def _in_order_of(given: Any, names: list[str]) -> Any:
    """A matrix in the order of the parameters, by the names of a frame."""
    if not isinstance(given, pd.DataFrame):
        return given
    for side, labels in (("rows", given.index), ("columns", given.columns)):
        found = [str(label) for label in labels]
        lost = [name for name in names if name not in found]
        extra = [label for label in found if label not in names]
        if lost or extra or len(found) != len(names):
            parts = [f"lacks {shown_labels(lost)}"] if lost else []
            parts += [f"has {shown_labels(extra)} too"] if extra else []
            parts = parts or ["names a parameter twice"]
            raise OptionError(
                f"vcov must have the {side} {shown_labels(names, 30)}; it"
                f" {' and '.join(parts)}. Name them as in fit.vcov()."
            )
    texts = given.set_axis(given.index.map(str)).set_axis(
        given.columns.map(str), axis=1
    )
    return texts.loc[names, names]


def _finite_square(given: Any, size: int) -> FloatArray:
    """The matrix as numbers."""
    try:
        matrix = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise OptionError(
            f"vcov must be a matrix of numbers; got {brief(given)}."
        ) from error
    if matrix.shape != (size, size):
        raise OptionError(
            f"vcov must be a {size} x {size} matrix, one row and column for each"
            " estimated parameter, in the order of fit.vcov(); got shape"
            f" {matrix.shape}."
        )
    if not np.isfinite(matrix).all():
        raise OptionError("vcov must have finite values; got NaN or infinity.")
    return matrix


def _check_semidefinite(matrix: FloatArray, names: list[str]) -> None:
    """OptionError unless a matrix is symmetric and has no negative variance."""
    variances = np.diagonal(matrix)
    if (variances < 0.0).any():
        first = int(np.argmax(variances < 0.0))
        raise OptionError(
            f"vcov must have variances of 0 or more; that of {names[first]!r} is"
            f" {variances[first]:.6g}."
        )
    errors = np.sqrt(variances)
    unit = np.outer(errors, errors)
    distance = np.abs(matrix - matrix.T)
    apart = distance > _ASYMMETRY * unit
    if apart.any():
        row, column = np.unravel_index(int(np.argmax(apart)), apart.shape)
        raise OptionError(
            f"vcov must be symmetric; ({names[row]!r}, {names[column]!r}) is"
            f" {matrix[row, column]:.6g} and the other way {matrix[column, row]:.6g}."
        )
    scale = np.where(errors > 0.0, errors, 1.0)
    eigenvalues = np.linalg.eigvalsh(0.5 * (matrix + matrix.T) / np.outer(scale, scale))
    if eigenvalues[0] < _NEGATIVE:
        raise OptionError(
            "vcov must be positive semidefinite: as correlations it has the eigenvalue"
            f" {eigenvalues[0]:.3g}, so that some combination of parameters would have"
            " a negative variance. Estimate all of it from the same rows."
        )


def _named_covariance(choice: Any, design: Design) -> Covariance:
    choice = "HC1" if isinstance(choice, str) and choice == "robust" else choice
    if design.survey is not None:
        if choice == "survey":
            return own_covariance(design)
        raise OptionError(
            "vcov must be left out, or be 'survey', where the fit has a survey design;"
            f" got {choice!r}. For other errors fit with weights= and cluster= instead"
            " of design=."
        )
    if isinstance(choice, Mapping) and set(choice) - {"type"} == {"cluster"}:
        kind = choice.get("type", "CR1")
        given = choice["cluster"]
        one_of("the type of vcov", kind, tuple(_TYPES))
        name = given if isinstance(given, str) else None
        return Covariance(
            _TYPES[kind],
            cluster_codes(given, design),
            given=name,
            asked="type" in choice,
        )
    if not isinstance(choice, str) or choice not in COVARIANCES:
        names = ", ".join(repr(name) for name in COVARIANCES)
        raise OptionError(
            f"vcov must be one of {names}, or {{'cluster': column or values, 'type':"
            f" 'CR1' or 'CR2'}}; got {brief(choice)}."
        )
    if choice not in _TYPES.values():
        return Covariance(choice)
    if design.sample.cluster is None:
        kind = ", 'type': 'CR2'" if choice == "CR2" else ""
        raise OptionError(
            f"vcov={choice!r} needs ordfit(..., cluster=...), or the clusters:"
            f" {{'cluster': 'column'{kind}}}."
        )
    return Covariance(choice, design.sample.cluster)


def cluster_codes(given: Any, design: Design) -> IntArray:
    """(N,) codes of the clusters given by the user: a column of the data, or values."""
    if isinstance(given, str):
        return _column_codes(given, design)
    if isinstance(given, pd.Series) and not given.index.equals(design.index):
        if not (given.index.is_unique and design.index.isin(given.index).all()):
            raise DataError(
                "cluster is a Series without the index of the rows of the fit: reindex"
                " it, or give cluster.to_numpy() to match rows by position."
            )
        given = given.loc[design.index]
    values = np.asarray(given)
    if values.shape != (design.sample.n,):
        got = repr(given)
        if values.ndim:
            got = f"shape {values.shape}"
        if values.ndim == 1:
            got = f"{values.size} values"
        raise DataError(
            "cluster must be the name of a column, or have one value for each of the"
            f" {design.sample.n} rows of the fit, or be a Series with their index; got"
            f" {got}."
        )
    codes, _ = pd.factorize(values)
    if (codes < 0).any():
        raise DataError(
            f"cluster has a missing value at row {design.index[int(np.argmin(codes))]}."
        )
    if not codes.any():
        raise DataError("cluster must have at least 2 clusters; got 1.")
    return codes.astype(np.intp)


def _column_codes(name: str, design: Design) -> IntArray:
    """(N,) codes of a column of the data of the fit."""
    if design.data is None:
        raise DataError(
            f"The data of the fit are not available, so the column {name!r} cannot be"
            f" read: pass its values, as in {{'cluster': data[{name!r}]}}."
        )
    column = design.column(name, "cluster")
    if column.missing is not None:
        raise DataError(
            f"cluster column {name!r} is missing in {int(column.missing.sum())} of"
            f" the {design.sample.n} rows of the fit: fit with ordfit(...,"
            f" cluster={name!r}), which leaves them out."
        )
    return clusters_of(column.value)


def covariance_matrix(fit: LikelihoodFit, chosen: Covariance) -> FloatArray:
    """(P' + m, P' + m) covariance of the estimated parameters, random effects last; NaN
    for infinite estimates.
    """
    if chosen.matrix is not None:
        return chosen.matrix
    bread = fit.bread()
    if chosen.name == "model":
        return bread
    if chosen.name == "CR2":  # not defined for infinite estimates
        return np.full_like(bread, np.nan)
    unknown = np.isnan(np.diagonal(bread))
    bread = np.where(unknown[:, None] | unknown, 0.0, bread)
    if chosen.survey is not None:
        sandwich = chosen.survey.covariance(fit.likelihood, bread)
    else:
        products = fit.likelihood.score_products(chosen.cluster, bread)
        sandwich = np.asarray(_small_sample_factor(fit, chosen) * products)
    sandwich[unknown] = sandwich[:, unknown] = np.nan
    return sandwich


def sandwich_of_many(
    fit: LikelihoodFit, chosen: Covariance
) -> SandwichCovariance | None:
    """The robust covariance of more than MOST_IN_MATRIX parameters, which is not
    formed; None for fewer, and where it needs a matrix.
    """
    by_scores = chosen.name in ("HC0", "HC1", "cluster")
    bread = fit.model_covariance
    if not by_scores or fit.marginal is not None or bread.size <= MOST_IN_MATRIX:
        return None
    in_blocks = fit.likelihood.problem.in_blocks
    if not isinstance(bread, InverseInformation) or in_blocks:
        return None
    factor = _small_sample_factor(fit, chosen)
    return SandwichCovariance(bread, fit.likelihood, chosen.cluster, factor)


def _small_sample_factor(fit: LikelihoodFit, chosen: Covariance) -> float:
    """n / (n - p) for HC1, G / (G - 1) for G clusters, 1 for HC0."""
    if chosen.cluster is not None:
        return chosen.n_clusters / (chosen.n_clusters - 1)
    if chosen.name == "HC1":
        check_enough_rows(fit, chosen)
        return fit.n_obs / (fit.n_obs - fit.edf)
    return 1.0


def check_enough_rows(fit: LikelihoodFit, chosen: Covariance) -> None:
    """OptionError for HC1 if there are no more rows than parameters."""
    if chosen.name == "HC1" and fit.n_obs <= fit.edf:
        raise OptionError(
            "vcov='HC1' must have more rows than parameters, as it divides by n - p;"
            f" got {fit.n_obs:,.10g} rows and {fit.edf:,.10g} parameters. Use"
            " vcov='HC0'."
        )
