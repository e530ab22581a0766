"""Base class of methods: a frozen dataclass of hyper-parameters with a `fit`."""

from __future__ import annotations

from collections.abc import Callable, Sized
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from ._typing import FloatArray, Progress
from .checks import brief, jobs, one_of, require_memory
from .exceptions import DataError, OptionError
from .fit import Fit
from .formula.sample import Sample, has_gaps
from .formula.scaling import SCALINGS
from .formula.sparse import needs_dense, sparse_part
from .judging.costs import DECISIONS, CostMatrix, require_v_shaped, sample_costs

if TYPE_CHECKING:
    from .formula.design import Design
    from .judging.geometry import Geometry
    from .judging.margin_bounds import MarginBounds

# Bytes of a row at a level: its cost, answer, probability and margin, in a few copies.
_CELL_BYTES = 48.0


def option(
    default: Any, check: Callable[..., Any], *bounds: Any, **settings: Any
) -> Any:
    """An option of a method: its default, and the function of `ordstat/checks.py` that
    checks its value.

    The value becomes what `check(name, value, *bounds, of=method, **settings)` returns;
    None leaves it unchanged.
    """

    def checked(name: str, value: Any, method: Any) -> Any:
        try:
            return check(name, value, *bounds, of=method, **settings)
        except OptionError:
            raise
        # what no check expects, such as pd.NA
        except (TypeError, ValueError, OverflowError) as error:
            raise OptionError(
                f"{name} of {type(method).__name__} has an unusable value:"
                f" {brief(value)}."
            ) from error

    return field(default=default, metadata={"check": checked})


def cost_option(default: str = "absolute") -> Any:
    """The option `cost`: a named cost or a cost matrix."""
    return option(default, _checked_cost)


def _checked_cost(name: str, value: Any, of: Any) -> Any:
    """The value of a cost that a method takes.

    Raises
    ------
    OptionError
        No cost, or a decision from probabilities for a method that has none.
    """
    cost = CostMatrix.parse(value)
    if cost.decides and not of.supports.decisions:
        remedy = "choose a method with probabilities, such as 'logit' or 'blend'"
        if not DECISIONS[str(cost.value)].by_chance:
            remedy += ", or build a matrix as `macro_cost` does"
        raise OptionError(
            f"{name} of {type(of).__name__} must be a cost of single rows; got"
            f" {cost.value!r}, a decision on probabilities, and {type(of).__name__}"
            f" learns from costs. Give a named cost or a K x K matrix, or {remedy}."
        )
    return cost.value


def scaling_option() -> Any:
    """The option `scaling`: how columns are scaled."""
    return option("range", one_of, SCALINGS)


def jobs_option() -> Any:
    """The option `n_jobs`: number of threads."""
    return option(1, lambda name, value, of: jobs(value, of=of))


@dataclass(frozen=True)
class Supports:
    """Features of a sample that a method supports; `Method.check` refuses others."""

    two_levels_only: bool = False
    row_costs: bool = False  # takes Sample.costs
    # takes costs that do not fall away from the true rank, and no others
    v_shaped_only: bool = False
    nominal: bool = False  # takes Rows.nominal
    scale: bool = False  # takes Rows.scale
    random: bool = False  # takes Rows.random
    offset: bool = False  # takes Rows.offset
    cluster: bool = False  # takes Sample.cluster
    partial: bool = False  # takes Sample.highest
    smooth: bool = False  # takes Sample.smooths
    stepped: bool = False  # takes Sample.stepped
    signs: bool = False  # takes Sample.signs
    absent_levels: bool = False  # takes levels that have no rows
    missing: bool = False  # takes NaN in Rows.X
    categories: bool = False  # takes columns of Rows.X that are codes of categories
    by_level: bool = False  # takes terms of the formula as Rows.nominal
    decisions: bool = False  # takes a cost that is found from its probabilities


def missing_refused(method: str) -> str:
    """Error message for missing values in a method that does not support them."""
    return (
        f"{method} takes no missing values (na_action='keep'): leave the rows out with"
        " na_action='omit', fill the values in, or choose a method that takes them,"
        " such as 'ordboost'."
    )


@dataclass(frozen=True, kw_only=True, repr=False)
class Method:
    """Base of all methods: the fields are the hyper-parameters, checked on creation.

    Every concrete class has a field `cost` (what its predictions minimise), `supports`
    and `fit`; every field has a default. `repr(method)` rebuilds it.
    """

    supports: ClassVar[Supports] = Supports()
    #: Whether a fit maximises a likelihood, and so has probabilities and standard
    #: errors of its own.
    likelihood: ClassVar[bool] = False
    results_class: ClassVar[type[Any]]
    #: Whether a number added to a column changes no prediction, so that a constant
    #: column has no effect.
    centres: ClassVar[bool] = True
    #: What to cite for it.
    papers: ClassVar[tuple[str, ...]]

    def __post_init__(self) -> None:
        # A check reads its own option alone, so that defaults need none; what two
        # options demand of each other is checked by the __post_init__ of a subclass.
        for f in fields(self):
            value = getattr(self, f.name)
            if "check" not in f.metadata or value is f.default:
                continue
            checked = f.metadata["check"](f.name, value, self)
            if checked is not None:
                object.__setattr__(self, f.name, checked)

    def results_for(self, sample: Sample) -> type[Any]:
        """The class of the results of a fit to these rows."""
        kind = self.results_class
        if (
            kind.with_empty_levels is None
            or self.supports.absent_levels
            or sample.every_level
        ):
            return kind
        without: type[Any] = kind.with_empty_levels
        return without

    @property
    def cost_matrix(self) -> CostMatrix:
        """Costs of predictions for rows without costs of their own."""
        # every concrete class has the field
        return CostMatrix.parse(self.cost)  # type: ignore[attr-defined]

    def costs(self, sample: Sample) -> FloatArray:
        """(N, K) costs of every prediction: the costs of rows if given, else those of
        `cost`.
        """
        return sample_costs(self.cost_matrix, sample)

    @property
    def pairwise(self) -> bool:
        """Whether X is a precomputed kernel matrix, which cannot be subset."""
        return False

    @property
    def takes_sparse(self) -> bool:
        """Whether the method supports SparseColumns as Rows.X."""
        return False

    @property
    def sparse_instead(self) -> str:
        """End of the error message for sparse columns: what to do instead, after a
        comma.
        """
        return ", or choose a method that takes sparse columns (see OrdinalClassifier)"

    def for_sparse(self, total: float) -> Method:
        """The method for a fit to sparse columns; `total` is the sum of the case
        weights.
        """
        return self

    def check_sparse(self, X: Any, name: str) -> None:
        """Raise DataError if the method does not support sparse columns; `name` names
        it in the message.
        """
        if not self.takes_sparse:
            raise needs_dense(name, X.shape, self.sparse_instead)

    @property
    def selects(self) -> bool:
        """Whether cross-validation chooses an option, with the rows of a cluster in one
        fold.
        """
        return False

    @property
    def own_folds(self) -> bool:
        """Whether the method divides rows into folds, whether or not it keeps clusters
        together.
        """
        return self.selects

    @property
    def keeps_clusters(self) -> bool:
        """Whether these folds keep the rows of a cluster together."""
        return self.own_folds and self.supports.cluster

    @property
    def incremental(self) -> bool:
        """Whether the method can learn further batches of rows (`partial_fit`)."""
        return False

    def unsupported(self, what: str) -> OptionError:
        """The error for an argument that this method does not support."""
        return OptionError(
            f"{type(self).__name__} does not support {what}; remove it, or choose a"
            " method that does."
        )

    def check_constraints(self, asked: Any) -> None:
        """Raise OptionError for constraints if this method does not support them."""
        empty = asked is None or (isinstance(asked, Sized) and len(asked) == 0)
        if not empty and not self.supports.signs:
            raise self.unsupported("constraints=")

    def marked(self, design: Design) -> Design:
        """The design, with the column information that the method needs."""
        return design

    def check(self, sample: Sample) -> None:
        """Raise an error if the sample has a feature that is not supported."""
        if sparse_part(sample.X) is not None:
            self.check_sparse(sample.X, type(self).__name__)
        present = {
            "row costs": sample.costs is not None and not self.supports.row_costs,
            "nominal=": sample.rows.nominal is not None and not self.supports.nominal,
            "scale=": (
                (sample.rows.scale is not None or sample.rows.scale_offset is not None)
                and not self.supports.scale
            ),
            "random terms": sample.rows.random is not None and not self.supports.random,
            "an offset": sample.rows.offset is not None and not self.supports.offset,
            "cluster=": sample.cluster is not None and not self.supports.cluster,
            "censored answers": (
                sample.highest is not None and not self.supports.partial
            ),
            "smooth terms": (sample.smooths is not None and not self.supports.smooth),
            "mono() and fuse() terms": sample.stepped is not None
            and not self.supports.stepped,
            "constraints=": sample.signs is not None and not self.supports.signs,
            "columns of categories": (
                sample.categories is not None and not self.supports.categories
            ),
        }
        for what, refused in present.items():
            if refused:
                raise self.unsupported(what)
        self.check_size(sample)
        if sample.costs is None:
            self.cost_matrix.require(sample.n_levels)
        if not self.supports.missing and has_gaps(sample.X):
            raise DataError(missing_refused(type(self).__name__))
        if self.supports.two_levels_only and sample.n_levels != 2:
            raise DataError(
                f"{type(self).__name__} takes a response of 2 levels; this one has"
                f" {sample.n_levels}."
            )
        if sample.weights is not None and not sample.weights.any():
            raise DataError("weights are zero for every row: nothing is left to fit.")
        if self.supports.v_shaped_only:
            require_v_shaped(self.costs(sample), sample.y, type(self).__name__)

    def memory(self, sample: Sample) -> float:
        """Approximate bytes that a fit needs in addition to the rows."""
        return _CELL_BYTES * sample.n * sample.n_levels

    def check_size(self, sample: Sample) -> None:
        """Raise an error if the fit needs more memory than there is."""
        n = sample.n
        K = sample.n_levels
        require_memory(
            f"Costs and answers of {n} rows at {K} levels",
            _CELL_BYTES * n * K,
            "Join levels or drop rows.",
        )

    def parameter_names(self, design: Design) -> list[str]:
        """Names of the parameters before the fit; empty if the method has no named
        coefficients.
        """
        return []

    def fit(
        self, sample: Sample, rng: np.random.Generator, progress: Progress | None = None
    ) -> Fit:
        """Fit to arrays; deterministic given `rng`."""
        raise TypeError(f"{type(self).__name__} defines no fit")

    def with_cost(self, cost: Any) -> Self:
        """A copy with another cost."""
        # every concrete class has the field
        return replace(self, cost=cost)  # type: ignore[call-arg]

    def geometry(self, sample: Sample, fit: Fit) -> Geometry | None:
        """Norms of the fitted potential for margins and bounds; None without a norm."""
        return None

    def extra_bounds(
        self, sample: Sample, fit: Fit, geometry: Geometry, delta: float
    ) -> MarginBounds:
        """Bounds specific to this method, in addition to those of every threshold rule;
        each holds with probability 1 - delta.
        """
        from .judging.margin_bounds import MarginBounds

        return MarginBounds(bounds=())

    def _settle(self, **values: Any) -> None:
        """Replace options by their checked values; only for `__post_init__`."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return self._written(_code)

    def __str__(self) -> str:
        """As `repr`, with the shapes of matrices in place of their numbers."""
        return self._written(shown_value)

    def _written(self, text: Callable[[Any], str]) -> str:
        """The class and the options that are not defaults, with values as text."""
        changed = []
        for f in fields(self):
            value = getattr(self, f.name)
            if value != f.default:
                changed.append(f"{f.name}={text(value)}")
        return f"{type(self).__name__}({', '.join(changed)})"


def _code(value: Any) -> str:
    """Python code of an option's value."""
    if hasattr(value, "get_params"):
        from .reduction.classifiers import written

        return written(value)
    if isinstance(value, float) and np.isinf(value):
        return f"float('{value}')"
    return repr(value)


def shown_value(value: Any) -> str:
    """An option's value as text; a matrix (a tuple of rows) is shown by its shape."""
    if isinstance(value, tuple) and value and isinstance(value[0], tuple):
        return f"matrix of {len(value)} x {len(value[0])}"
    return _code(value)


LIN = (
    "Lin, H.-T. (2008). From Ordinal Ranking to Binary Classification. PhD thesis,"
    " Caltech."
)
LI_LIN = (
    "Li, L., & Lin, H.-T. (2007). Ordinal regression by extended binary classification."
    " NIPS 19, 865-872."
)
LIN_LI = (
    "Lin, H.-T., & Li, L. (2006). Large-margin thresholded ensembles for ordinal"
    " regression: Theory and practice. Algorithmic Learning Theory, LNCS 4264, 319-333."
)
CHU_KEERTHI = (
    "Chu, W., & Keerthi, S. S. (2007). Support vector ordinal regression. Neural"
    " Computation, 19, 792-815."
)
TUTZ = (
    "Tutz, G., & Hechenbichler, K. (2003). Aggregating classifiers with ordinal"
    " response structure. SFB 386 Discussion Paper 359, LMU Muenchen."
)
AGRESTI = "Agresti, A. (2010). Analysis of Ordinal Categorical Data (2nd ed.). Wiley."
CRAMMER = (
    "Crammer, K., & Singer, Y. (2005). Online ranking by projecting. Neural"
    " Computation, 17, 145-175."
)
MILIDIU = "Milidiu, R. L., & Rocha, R. H. S. (2019). Cumulative sum ranking."
FREUND = (
    "Freund, Y., & Schapire, R. E. (1997). A decision-theoretic generalization of"
    " on-line learning and an application to boosting. Journal of Computer and System"
    " Sciences, 55, 119-139."
)
