"""The `ElasticNet` option: settings, groups and penalty factors of columns."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import FloatArray, IntArray
from ..advice import with_advice
from ..checks import did_you_mean, flag, jobs, number, one_of, refuse_beside, whole
from ..exceptions import OptionError
from ..formula.names import in_own_names, printed_names
from ..formula.sample import PenalisedColumns
from .flexible import FLEXIBLE

if TYPE_CHECKING:
    from ..formula.design import Design
    from ..formula.sample import Sample
    from .regression import OrdinalRegression

#: Criteria along the path, and rules of cross-validation.
CRITERIA = ("aic", "bic", "ebic")
RULES = ("min", "1se")
SCORES = ("logloss", "rps", "absolute", "classification")


@with_advice
@dataclass(frozen=True, kw_only=True, repr=False)
class ElasticNet:
    """Lasso, ridge and elastic net penalties of likelihood models, along a path of
    lambda.

    The fit minimises -loglik / N + lambda sum_j factor_j (l1_ratio |b_j| + (1 -
    l1_ratio) / 2 b_j^2), with columns centred and divided by their standard deviations;
    N is the sum of the weights, and thresholds are not penalised. Columns of one term,
    such as a factor, enter together [group lasso: Yuan and Lin 2006, eq. 2.2]:
    sqrt(p_g) ||b_g|| takes the place of their |b_j|, where b_g are coefficients of
    orthonormal columns, so that the coding of the factor does not matter. The effects
    of a nominal= term on all thresholds also enter together, which selects the terms
    that violate proportional odds. For an ordered predictor, fuse(x), the b_j are the
    single steps between neighbouring levels; the steps of mono(x) are >= 0, and
    penalised only if `factors` says so.

    Parameters
    ----------
    l1_ratio : float in [0, 1]
        1 for lasso, 0 for ridge.
    lambdas : float or sequence of float, optional
        Values of lambda > 0. By default `n_lambdas` values on a log scale, from the
        smallest that sets all coefficients to 0 down to 1e-4 times that value (1e-2
        with more columns than rows). The path then ends early when it explains 99% of
        the deviance, or hardly more than before.
    n_lambdas : int
        At least 1.
    choose : {"aic", "bic", "ebic", "min", "1se"} or float, optional
        How to choose lambda: by the smallest AIC, BIC or extended BIC, or by
        cross-validation. "min" takes the smallest mean score of the cross-validation,
        "1se" the largest lambda whose score is within one standard error of it. By
        default "1se" with `cv`, else "bic". A number is a value of `lambdas`.
    cv : int, optional
        Number of folds, at least 2, stratified by level, with clusters in one fold.
        Columns are standardised within each.
    score : {"logloss", "rps", "absolute", "classification"}
        Score of the cross-validation: minus the log-probability, the ranked probability
        score, or the cost of the predicted level.
    factors : mapping of str to float, optional
        Penalty factors of terms or columns, by name: 0 for never penalised, 1 by
        default. A Series of weights gives the adaptive lasso.
    groups : bool
        Whether the columns of a term enter together (group lasso).
    standardize : bool
        Whether columns are divided by their standard deviations.
    n_jobs : int
        Number of threads for the folds; -1 for one per core.

    Raises
    ------
    OptionError
        A value is outside its range, or "min" or "1se" is given without `cv`.

    References
    ----------
    Friedman, J., Hastie, T. and Tibshirani, R. (2010). Regularization paths for
    generalized linear models via coordinate descent. Journal of Statistical Software,
    33(1), 1-22.
    Gertheiss, J. and Tutz, G. (2010). Sparse modeling of categorial explanatory
    variables. Annals of Applied Statistics, 4(4), 2150-2180.
    Wurm, M. J., Rathouz, P. J. and Hanlon, B. M. (2021). Regularized ordinal regression
    and the ordinalNet R package. Journal of Statistical Software, 99(6), 1-42.

    Examples
    --------
    >>> from ordstat import ElasticNet, datasets, ordfit
    >>> wine = datasets.load("wine")
    >>> fit = ordfit("rating ~ temp + contact", wine, penalty=ElasticNet(lambdas=0.1))
    >>> fit.coef.round(3).to_dict()
    {'temp[T.warm]': 1.504, 'contact[T.yes]': 0.664}
    """

    l1_ratio: float = 1.0
    lambdas: tuple[float, ...] | None = None
    n_lambdas: int = 100
    choose: str | float | None = None
    cv: int | None = None
    score: str = "logloss"
    factors: tuple[tuple[str, float], ...] | None = None
    groups: bool = True
    standardize: bool = True
    n_jobs: int = 1

    def __post_init__(self) -> None:
        settled = {
            "l1_ratio": number("l1_ratio", self.l1_ratio, least=0.0, most=1.0),
            "lambdas": _checked_lambdas(self.lambdas),
            "n_lambdas": whole("n_lambdas", self.n_lambdas, 1),
            "cv": None if self.cv is None else whole("cv", self.cv, 2),
            "factors": _checked_factors(self.factors),
            "groups": flag("groups", self.groups),
            "standardize": flag("standardize", self.standardize),
            "n_jobs": jobs(self.n_jobs),
        }
        for name, value in settled.items():
            object.__setattr__(self, name, value)
        one_of("score", self.score, SCORES)
        object.__setattr__(self, "choose", self._checked_choice())

    def _checked_choice(self) -> str | float:
        if self.choose is None:
            return "bic" if self.cv is None else "1se"
        if not isinstance(self.choose, str):
            return number("choose", self.choose, above=0.0)
        one_of("choose", self.choose, (*CRITERIA, *RULES), also=" or a lambda")
        if self.choose in RULES and self.cv is None:
            raise OptionError(
                f"choose={self.choose!r} needs cross-validation. Give cv=10, or"
                " choose='bic'."
            )
        return self.choose

    def __repr__(self) -> str:
        given = []
        for f in fields(self):
            value = getattr(self, f.name)
            if f.name == "factors" and value is not None:
                value = dict(value)
            usual = "bic" if self.cv is None else "1se"
            if value != (usual if f.name == "choose" else f.default):
                given.append(f"{f.name}={value!r}")
        return f"ElasticNet({', '.join(given)})"

    @property
    def text(self) -> str:
        """Name in a summary."""
        if self.l1_ratio == 1.0:
            return "lasso"
        if self.l1_ratio == 0.0:
            return "ridge"
        return f"elastic net, l1_ratio = {self.l1_ratio:g}"

    def marked(self, design: Design) -> Design:
        """The design with the groups and factors of its columns.

        Raises
        ------
        OptionError
            `factors` names no term or column, or gives columns of a group different
            factors.
        """
        if design.survey is not None:
            raise OptionError(
                "penalty=ElasticNet(...) must go without design=: give the sampling"
                " weights as weights=, and the primary sampling units as cluster=."
            )
        if design.blocks is not None:
            raise OptionError(
                "penalty=ElasticNet(...) needs all rows in memory: fit to a sample of"
                " them, or give a ridge, such as penalty=1.0."
            )
        names = [*design.nominal_names, *design.names]
        q = len(design.nominal_names)
        group = np.arange(len(names))
        factor = np.ones(len(names))
        stepped = np.zeros(0, dtype=np.intp)
        for block in design.sample.stepped or ():
            stepped = np.append(stepped, q + block.columns)
            if block.sign:  # its limits are all that mono() asks for
                factor[q + block.columns] = 0.0
        terms: list[tuple[str, IntArray]] = []
        for start, parts in ((0, design.nominal_terms), (q, design.terms)):
            places = np.arange(start, len(names))
            terms += [(term, places[columns]) for term, columns in parts.items()]
        shown: dict[str, str] = {}
        if self.factors:
            shown = printed_names(design.spec.shown({}))
        for given, value in self.factors or ():
            name = in_own_names(given, shown)
            inside = [places for term, places in terms if term == name]
            own = [np.flatnonzero([name == column for column in names]), *inside]
            chosen = np.unique(np.concatenate(own))
            if not chosen.size:
                known = [*(term for term, _ in terms), *names]
                raise OptionError(
                    f"factors must name terms or columns of the formula; got {name!r}."
                    + did_you_mean(name, known)
                )
            factor[chosen] = value
        for term, columns in terms:
            if columns.size > 1:
                self._join(term, columns, stepped, group, factor)
        marks = PenalisedColumns(group=group, factor=factor)
        return replace(design, sample=replace(design.sample, penalised=marks))

    def _join(
        self,
        term: str,
        columns: IntArray,
        stepped: IntArray,
        group: IntArray,
        factor: FloatArray,
    ) -> None:
        """Put the columns of a term in one group, unless they are steps or enter one by
        one.

        Raises
        ------
        OptionError
            They have different factors.
        """
        of_steps = bool(np.isin(columns, stepped).any())
        if not (self.groups or of_steps):
            return
        if not of_steps:
            group[columns] = columns[0]
        if np.unique(factor[columns]).size > 1:
            instead = "" if of_steps else ", or give groups=False"
            raise OptionError(
                f"factors must be the same for all columns of {term!r}. Name the"
                f" term{instead}."
            )


def check_combined(method: OrdinalRegression, sample: Sample) -> None:
    """OptionError for parts of a model that an elastic net does not support."""
    rows = sample.rows
    refused = {
        "scale=": (
            rows.scale is not None or rows.scale_offset is not None,
            "leave it out",
        ),
        "random terms": (
            rows.random is not None,
            "give their groups as cluster=, whose rows stay in one fold",
        ),
        "censored answers": (
            sample.highest is not None,
            "leave out their rows",
        ),
        "a threshold structure": (
            not isinstance(method.threshold, str) or method.threshold != "flexible",
            "use threshold='flexible'",
        ),
        "a parameter of link=": (
            not isinstance(method.link, str) or method.link in FLEXIBLE,
            "use a link without one",
        ),
        "start=": (method.start is not None, "leave it out"),
        "cluster=, without cross-validation": (
            sample.cluster is not None and not method.selects,
            "leave it out, or give ElasticNet(cv=10)",
        ),
    }
    ridge = ", or give a ridge, such as penalty=1.0"
    refuse_beside("penalty=ElasticNet(...)", refused, ridge)


def _checked_lambdas(given: Any) -> tuple[float, ...] | None:
    if given is None:
        return None
    values = [given] if np.ndim(given) == 0 else list(given)
    checked = {number("lambdas", value, above=0.0) for value in values}
    if not checked:
        raise OptionError("lambdas must hold positive numbers; got none. Leave it out.")
    return tuple(sorted(checked, reverse=True))


def _checked_factors(given: Any) -> tuple[tuple[str, float], ...] | None:
    if given is None:
        return None
    try:
        pairs = dict(given).items()
    except (TypeError, ValueError):
        raise OptionError(
            "factors must be a mapping of names to numbers, such as {'age': 0}; got"
            f" {given!r}."
        ) from None
    return tuple(
        (str(name), number(f"factors[{name!r}]", value, least=0.0))
        for name, value in pairs
    )
