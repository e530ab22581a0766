"""The parts of a fit: a rule from scores to ranks, a convergence certificate and a
trace of the solver.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np

from ._typing import AnyArray, FloatArray, IntArray
from .formula.row_blocks import CACHED, row_blocks, sums_by
from .formula.sample import Rows
from .judging.costs import ROUNDING, CostMatrix, cleared

if TYPE_CHECKING:
    from .formula.scaling import Scaling
    from .judging.decisions import Decision
    from .kernels import Kernel
    from .newton import Blocks

#: Expected costs closer than this share of the largest one are a tie, and the lower
#: rank is taken.
_TIE = 1e-12


def expected_costs(
    probabilities: FloatArray, cost: CostMatrix | Decision
) -> FloatArray:
    """(n, K) expected cost of predicting each rank; the classification cost needs no K
    x K matrix.
    """
    if cost == CostMatrix.classification():
        return 1.0 - probabilities
    return probabilities @ cost.matrix(probabilities.shape[1])


def least_expected(probabilities: FloatArray, cost: CostMatrix | Decision) -> IntArray:
    """(n,) ranks of least expected cost; ties go to the lower rank.

    Examples
    --------
    >>> least_expected(np.array([[0.4, 0.3, 0.3]]), CostMatrix.absolute())
    array([1])
    """
    expected = np.ascontiguousarray(expected_costs(probabilities, cost).T)  # (K, n)
    largest = np.abs(expected).max(axis=0)
    return np.asarray(
        np.argmax(expected <= expected.min(axis=0) + _TIE * largest, axis=0),
        dtype=np.intp,
    )


class CostRule(ABC):
    """A rule of least expected cost.

    Attributes
    ----------
    cost : CostMatrix or Decision
        What `codes` minimise in expectation.
    """

    if TYPE_CHECKING:
        # At run time the property would be the default of the fields named cost.
        @property
        def cost(self) -> CostMatrix | Decision:
            """What `codes` minimise in expectation."""

    @property
    def probable(self) -> bool:
        """True: there are probabilities of ranks."""
        return True

    @property
    @abstractmethod
    def n_levels(self) -> int:
        """K."""

    @abstractmethod
    def scores(self, rows: Rows) -> FloatArray:
        """(N,) scores that order the rows."""

    @abstractmethod
    def probabilities(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        """(N, K) P(y = k)."""

    @abstractmethod
    def log_odds_above(
        self, rows: Rows, scores: FloatArray | None = None
    ) -> FloatArray:
        """(N, K-1) log(P(y > k) / P(y <= k))."""

    def deciding(self, cost: CostMatrix | Decision) -> Any:
        """The rule for another cost."""
        return replace(cast(Any, self), cost=cost)

    def codes(
        self,
        rows: Rows,
        scores: FloatArray | None = None,
        known: FloatArray | None = None,
    ) -> IntArray:
        """(N,) rank of least expected cost; ties go to the lower rank. `known`:
        probabilities, if computed.
        """
        codes = np.empty(rows.n, dtype=np.intp)
        for some in row_blocks(rows.n, self.n_levels):
            part = rows.take(some), None if scores is None else scores[some]
            probabilities = self.probabilities(*part) if known is None else known[some]
            codes[some] = least_expected(probabilities, self.cost)
        return codes


class Potential(Protocol):
    """A fitted score H, as a function of rows."""

    def __call__(self, rows: Rows) -> FloatArray:
        """(N,) scores."""


class Rule(Protocol):
    """A fitted ranker."""

    @property
    def n_levels(self) -> int:
        """K."""

    def scores(self, rows: Rows) -> FloatArray:
        """(N,) potential H(x), offset included; (N, K) votes of a rule without
        thresholds.
        """

    def codes(self, rows: Rows, scores: FloatArray | None = None) -> IntArray:
        """(N,) predicted codes 0..K-1; `scores` saves computing them again."""


class GapRule(Rule, Protocol):
    """A fitted ranker with thresholds, and so with margins."""

    def gaps(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        """(N, K-1) H(x) - theta_k, where theta_k may depend on x (nominal effects);
        `scores` saves recomputing H.
        """


def count_above(gaps: AnyArray) -> IntArray:
    """(N,) codes from (N, K-1) gaps H - theta_k: the number of thresholds strictly
    below H.
    """
    return np.asarray(np.count_nonzero(gaps > 0, axis=1), dtype=np.intp)


@dataclass(frozen=True, eq=False)
class ThresholdRule:
    """rank(x) = 1 + #{k : H(x) > theta_k} [Lin 2008, eq. 3.1].

    Attributes
    ----------
    potential : Potential
    theta : (K-1,) thresholds
    tie : float
        A gap to a threshold no larger than this is rounding, and 0.
    """

    potential: Potential
    theta: FloatArray
    tie: float = field(default=0.0, kw_only=True)

    @property
    def n_levels(self) -> int:
        return int(self.theta.size) + 1

    def over_levels(self, present: Any, cost: CostMatrix) -> ThresholdRule:
        """The rule extended to levels without rows; `present` is a `Present`."""
        return replace(self, theta=present.spread_thresholds(self.theta))

    def scores(self, rows: Rows) -> FloatArray:
        return self.potential(rows)

    def gaps(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        gaps: FloatArray = (self.scores(rows) if scores is None else scores)[
            :, None
        ] - self.theta
        return cleared(gaps, self.tie) if self.tie else gaps

    def codes(self, rows: Rows, scores: FloatArray | None = None) -> IntArray:
        return count_above(self.gaps(rows, scores))


class Votes(Protocol):
    """A fitted function from rows to one score for every rank."""

    @property
    def n_levels(self) -> int:
        """K."""

    def __call__(self, rows: Rows) -> FloatArray:
        """(N, K) scores, larger for the better rank."""


def most_votes(votes: AnyArray) -> IntArray:
    """(N,) codes of the rank with the largest of its (N, K) votes, ties (but for
    rounding) to the lower rank.

    Examples
    --------
    >>> most_votes(np.array([[1, 2, 2], [3, 0, 3]]))
    array([1, 0])
    """
    if votes.dtype.kind == "f":
        most = votes.max(axis=1, keepdims=True)
        votes = votes >= most - ROUNDING * np.abs(most)
    return np.asarray(np.argmax(votes, axis=1), dtype=np.intp)


@dataclass(frozen=True, eq=False)
class ScoreRule:
    """rank(x) = argmax_k of a score of every rank, ties to the lower rank.

    Attributes
    ----------
    votes : Votes
    """

    votes: Votes

    @property
    def n_levels(self) -> int:
        return self.votes.n_levels

    def scores(self, rows: Rows) -> FloatArray:
        return self.votes(rows)

    def codes(self, rows: Rows, scores: FloatArray | None = None) -> IntArray:
        return most_votes(self.scores(rows) if scores is None else scores)


# Entries of a kernel matrix that stay in the cache until they are summed.
_ROOM = 8 * CACHED


@dataclass(frozen=True, eq=False, kw_only=True)
class KernelExpansion:
    """H(x) = sum_s coef_s k(x_s, x) + offset, over the support rows x_s and scaled
    columns.

    Attributes
    ----------
    kernel : Kernel
    scaling : Scaling
        Map of the columns, applied to new rows.
    anchors : (S, ...)
        Support rows as the kernel keeps them (already scaled).
    coef : (S,), or (S, P) of P potentials
        beta_s, summing to zero over s.
    offset : float, or (P,)
        b.
    squared_norm : float
        |v|^2 = coef' k(x_s, x_t) coef; NaN if it is not computed.
    """

    kernel: Kernel
    scaling: Scaling
    anchors: AnyArray
    coef: FloatArray
    offset: Any
    squared_norm: float = float("nan")

    @property
    def slopes(self) -> FloatArray | None:
        """None: H need not be linear in the columns."""
        return None

    @property
    def merged(self) -> KernelExpansion:
        """The same H, with equal anchors once and the sum of their coefficients."""
        from .formula.distinct import sorted_by

        is_matrix = isinstance(self.anchors, np.ndarray) and self.anchors.size > 0
        if self.kernel.pairwise or not is_matrix:
            return self
        order, first = sorted_by([*self.anchors.T])
        if first.all():
            return self
        place = np.empty_like(order)
        place[order] = np.cumsum(first) - 1
        kept = order[first]
        columns = self.coef.reshape(len(self.coef), -1)
        sums = sums_by(place, columns, kept.size)
        shape = (kept.size, *self.coef.shape[1:])
        return replace(self, anchors=self.anchors[kept], coef=sums.reshape(shape))

    def __call__(self, rows: Rows) -> FloatArray:
        """(N,) scores, or (N, P)."""
        scores = np.empty((rows.n, *self.coef.shape[1:]))
        # rows far outside those of the fit
        with np.errstate(over="ignore", invalid="ignore"):
            for some in row_blocks(rows.n, len(self.coef), _ROOM):
                k = self.kernel(self.scaling(rows.X[some]), self.anchors)
                scores[some] = k @ self.coef
            scores += self.offset
        return scores


@dataclass(frozen=True, eq=False, kw_only=True)
class LinearPotential:
    """H(x) = w'z + offset, z the scaled columns of x.

    Fits use `LinearPotential.plain`, H = slopes'x, so that ranks can be computed from
    the printed coefficients and thresholds.

    Attributes
    ----------
    scaling : Scaling
    coef : (D,)
        w.
    offset : float
        b.
    """

    scaling: Scaling
    coef: FloatArray
    offset: float

    @classmethod
    def plain(cls, scaling: Scaling, coef: FloatArray) -> LinearPotential:
        """H = slopes'x in the columns as they are."""
        return cls(
            scaling=scaling,
            coef=coef,
            offset=float((coef * scaling.factor) @ scaling.centre),
        )

    @property
    def squared_norm(self) -> float:
        """|w|^2."""
        return float(self.coef @ self.coef)

    @property
    def slopes(self) -> FloatArray:
        """(D,) effects of the columns on their own scale."""
        return self.coef * self.scaling.factor

    def __call__(self, rows: Rows) -> FloatArray:
        """(N,) scores."""
        return self.scaling(rows.X) @ self.coef + self.offset


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """A number that bounds or measures how far a fit is from its optimum.

    Attributes
    ----------
    name : str
        "max |gradient|", "relative duality gap", ...
    value, tolerance : float
    details : tuple of (label, value)
        Further figures for the summary.
    steps : str
        Name of the iterations ("passes", "rounds", "trees") of a method without an
        optimum. The number is then a check of the computation, and the summary shows it
        only if it fails.
    information : Blocks or None
        The information matrix at the maximum of a likelihood, on columns centred and
        divided by their standard deviation.
    """

    name: str
    value: float
    tolerance: float
    details: tuple[tuple[str, Any], ...] = ()
    steps: str = ""
    information: Blocks | None = None

    @property
    def figures(self) -> tuple[tuple[str, Any], ...]:
        """The condition number of the information, and the details."""
        if self.information is None:
            return self.details
        condition = ("condition number", self.information.condition_number())
        return (condition, *self.details)

    @property
    def reached(self) -> bool:
        """Whether value <= tolerance (false for NaN)."""
        return bool(self.value <= self.tolerance)


@dataclass(frozen=True, eq=False, kw_only=True)
class Trace:
    """Iterations of the solver, the objective after each, its final message, and
    whether it stopped because it had made as many iterations as it may.
    """

    iterations: int
    objective: FloatArray
    message: str
    stopped: bool = False


@dataclass(frozen=True, eq=False, kw_only=True)
class Fit:
    """What a method returns: arrays and values only.

    Attributes
    ----------
    rule : Rule
    certificate : Certificate
    trace : Trace
    scores : (N,) training potential H, or (N, K) votes of a rule without thresholds
    facts : tuple of (label, value)
        Header lines of the summary that only this method has (kernel, support vectors,
        ...).
    calibration : Calibration or None
        From scores to probabilities, or None.
    """

    rule: Rule
    certificate: Certificate
    trace: Trace
    scores: FloatArray
    facts: tuple[tuple[str, Any], ...] = field(default=())
    calibration: Any = None

    @property
    def lost(self) -> bool:
        """Whether the search found no optimum and rows have no predictions."""
        return False


@dataclass(frozen=True, eq=False, kw_only=True)
class Selection:
    """How C, and gamma of the kernel, were chosen by cross-validation.

    Attributes
    ----------
    C : (G,) of the points tried, growing for each gamma
    gamma : (G,) of the points tried, growing; None where it was given
    cost : (G,) mean cost of the held-out rows
    error : (G,) its standard error over the folds
    chosen : int
        Position of the smallest cost; ties go to the smaller C, then to the smaller
        gamma.
    folds : int
    gap : float
        Largest relative duality gap among the fits behind the costs.
    """

    C: FloatArray
    cost: FloatArray
    error: FloatArray
    chosen: int
    folds: int
    gap: float
    gamma: FloatArray | None = None

    @property
    def how(self) -> str:
        """What chose."""
        return f"{self.folds}-fold cross-validation"

    @property
    def best_C(self) -> float:
        """The chosen C."""
        return float(self.C[self.chosen])

    def best_of_each_gamma(self) -> IntArray:
        """Positions of the points of least cost, one for each gamma; of the chosen
        gamma the chosen one.
        """
        order = np.lexsort((self.C, self.cost, np.arange(self.C.size) != self.chosen))
        return np.asarray(
            order[np.unique(np.asarray(self.gamma)[order], return_index=True)[1]],
            dtype=np.intp,
        )

    @property
    def best_gamma(self) -> float | None:
        """The chosen gamma."""
        return None if self.gamma is None else float(self.gamma[self.chosen])


@dataclass(frozen=True, eq=False, kw_only=True)
class CostBound:
    """A bound on the training cost that holds exactly, by the costs of the binary
    classifiers behind a rule.

    Attributes
    ----------
    value : float
        Mean of the training cost minus the least possible cost of each row.
    limit : float
        What the theorem allows for these binary classifiers.
    source : str
    """

    value: float
    limit: float
    source: str


@dataclass(frozen=True, eq=False, kw_only=True)
class VoteFit(Fit):
    """A fit that scores every rank.

    Attributes
    ----------
    selection : Selection, None where C was given or the method has no C
    bound : CostBound, None where no theorem bounds the training cost
    """

    selection: Selection | None = None
    bound: CostBound | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class MarginFit(Fit):
    """A large-margin fit.

    Attributes
    ----------
    support : (S,)
        Training rows with a positive multiplier at the optimum (with a nonzero
        coefficient in pairwise SVMs); None for methods without support vectors.
    coefficients : (D,)
        Effects of the columns on the user's scale where the potential is linear, else
        None.
    selection : Selection, None where C was given
    rounding : float
        Largest difference, over some rows, between the training score and the score
        that the rule computes for the same values.
    """

    support: IntArray | None = None
    coefficients: FloatArray | None = None
    selection: Selection | None = None
    rounding: float = 0.0
