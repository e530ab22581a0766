"""Row-exact block coordinate ascent, and its end by one linear system."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.blas import dsymv
from scipy.linalg.lapack import dpotrf, dpotrs

from .._typing import FloatArray, IntArray
from ..threads import one_blas_thread
from .dual import DualSolution, ExtendedDual, boxed, certify
from .gram import Gram
from .solution import Outcome

# Free variables beyond which a factorisation takes longer than what it saves.
_MOST_FREE = 4000
# Solves, each with more of the variables held.
_ROUNDS = 6
# Where more than this share of the variables would leave their boxes at once, the free ones are not yet the right ones.
_UNSETTLED = 0.1
# Added to the diagonal, as a share of its largest element: repeated rows make the system singular.
_REGULAR = 1e-10
# Solves of one system, the later ones for what the regularisation left.
_REFINED = 3
# What an update of a score costs, in multiplications of a factorisation; the factorisations of an attempt to finish by
# the free variables, and what goes with them, in epochs.
_UPDATE, _SOLVES, _AROUND = 2.0, 1.5, 20.0
# Relative gap of the first attempt, at most, and the share by which the number of free variables may then change from
# one certificate to the next: they are mostly the right ones. The share of the gap of a failed attempt at which the
# next one is made.
_POLISH, _STEADY, _AGAIN = 0.3, 0.05, 0.4
# An attempt whose gain in the dual value is this share of the gap, or which leaves at most that share of the gap, is
# followed by another: that frees what the first wrongly put onto a bound.
_GAIN, _LEFT = 0.05, 0.5
# From this gap on the free variables will finish; an ascent is hopeless where its pace asks for so many times the
# epochs left to get there.
_END, _HOPELESS = 1e-3, 2.0


@dataclass(frozen=True, eq=False, kw_only=True)
class Polished:
    """A certified point, with the solver's own offset and thresholds (Q,)."""

    solution: DualSolution
    b: float
    theta: FloatArray


class _System:
    """The linear system M d + B m = r, B' d = -e of the free variables' change d (F,).

    M is G, plus gamma^2 where two variables share a threshold. `B` (F, R) holds the effect of what else is unknown: b,
    or the free thresholds, then the multipliers of the variables held on a bound, so that one factorisation serves all
    rounds. Thresholds that are tied by their order count as one.

    Parameters
    ----------
    problem : ExtendedDual
    point : DualSolution
    rows, columns : (F,) the free variables

    Raises
    ------
    numpy.linalg.LinAlgError
        The system is singular in spite of the regularisation.
    """

    def __init__(self, problem: ExtendedDual, point: DualSolution, rows: IntArray, columns: IntArray) -> None:
        self.problem = problem
        # At the optimum thresholds that the order keeps apart differ, those that it ties are equal.
        steps = np.diff(point.theta) > 0 if problem.ordered else np.ones(point.theta.size - 1)
        self.group = np.concatenate([[0], np.cumsum(steps)]).astype(np.intp)
        self.n_groups = int(self.group[-1]) + 1
        # theta_g = -pull_g s_g minimises the penalty of a group.
        self.pull = np.zeros(self.n_groups) if problem.free else problem.gamma**2 / np.bincount(self.group)
        s, own = self.totals(point.u), self.group[columns]
        shared = own[:, None] == own
        M = problem.gram.block(rows)
        if not problem.free:
            np.add(M, self.pull[own], out=M, where=shared)
        scale = float(M.diagonal().max())
        # B'd is known, so that its square may be added: it tells the variables of one row apart, which M may not.
        np.add(M, scale, out=M, where=shared if problem.free else True)
        member = own[:, None] == np.arange(self.n_groups)
        self.B = member.astype(np.float64) if problem.free else np.ones((own.size, 1))
        self.excess = s if problem.free else s.sum(keepdims=True)
        self.n_unknown = self.excess.size
        self.right = problem.labels[rows, columns] - point.scores[rows] - (self.pull * s)[own]
        self.right -= scale * self.B @ self.excess
        self._factorise(M, _REGULAR * scale)
        self.MB = self._solved(self.B)

    def _factorise(self, M: FloatArray, lift: float) -> None:
        """Put the factor of M + lift I into one triangle of M; the other stays as it is, but for the diagonal."""
        diagonal = M.diagonal().copy()
        M[np.diag_indices_from(M)] += lift
        self.factor, failed = dpotrf(M.T, lower=1, overwrite_a=1, clean=0)
        if failed:
            raise np.linalg.LinAlgError("the system of the free variables is singular")
        self.lost = diagonal - self.factor.diagonal()

    def _product(self, d: FloatArray) -> FloatArray:
        """M d."""
        return np.asarray(dsymv(1.0, self.factor, d, lower=0) + self.lost * d)

    def _solved(self, right: FloatArray) -> FloatArray:
        return np.asarray(dpotrs(self.factor, right, lower=1)[0])

    def totals(self, u: FloatArray) -> FloatArray:
        """(R,) sums of u (N, Q) over the thresholds of a group."""
        return np.asarray(np.bincount(self.group, weights=u.sum(axis=0), minlength=self.n_groups).astype(np.float64))

    def hold(self, places: IntArray, changes: FloatArray) -> None:
        """From now on some variables change by so much."""
        held = np.zeros((self.right.size, places.size))
        held[places, np.arange(places.size)] = 1.0
        self.B, self.MB = np.hstack([self.B, held]), np.hstack([self.MB, self._solved(held)])
        self.excess = np.concatenate([self.excess, -changes])

    def change(self) -> tuple[FloatArray, FloatArray]:
        """The change d (F,) of the free variables, and the multipliers: b, or minus theta_g."""
        inverse = np.linalg.pinv(self.B.T @ self.MB)
        d, multipliers = np.zeros(self.right.size), np.zeros(self.excess.size)
        for _ in range(_REFINED):
            part = self._solved(self.right - self._product(d) - self.B @ multipliers)
            step = inverse @ (self.B.T @ (part + d) + self.excess)
            d += part - self.MB @ step
            multipliers += step
        return d, multipliers[: self.n_unknown]

    def thresholds(self, u: FloatArray, multipliers: FloatArray) -> FloatArray:
        """(Q,) theta of the solve."""
        grouped = -multipliers if self.problem.free else -self.pull * self.totals(u)
        return np.asarray(grouped[self.group])


def free_variables(problem: ExtendedDual, C: float, point: DualSolution) -> int:
    """How many variables of a point are strictly inside their boxes."""
    size = np.abs(point.u)
    return int(np.count_nonzero((size > 0.0) & (size < C * problem.weights)))


def polished(problem: ExtendedDual, C: float, point: DualSolution) -> Polished | None:
    """The optimum over the free variables of a point.

    None where they are too many or not yet the right ones, or the system is singular.
    """
    size = np.abs(point.u)
    caps = C * problem.weights
    rows, columns = np.nonzero((size > 0.0) & (size < caps))
    if not 0 < rows.size <= _MOST_FREE:
        return None
    try:
        system = _System(problem, point, rows, columns)
    except np.linalg.LinAlgError:
        return None
    start, room = point.u[rows, columns], caps[rows, columns]
    bottom = np.where(problem.labels[rows, columns] > 0, 0.0, -room)
    placed, held = start, np.zeros(rows.size, dtype=np.bool_)
    for _ in range(_ROUNDS):
        d, multipliers = system.change()
        wanted = np.where(held, placed, start + d)
        placed = np.clip(wanted, bottom, bottom + room)
        leaving = np.flatnonzero(wanted != placed)
        if leaving.size > _UNSETTLED * rows.size:
            return None
        if not leaving.size:
            break
        held[leaving] = True
        system.hold(leaving, (placed - start)[leaving])
    u = point.u.copy()
    u[rows, columns] = placed
    theta = system.thresholds(u, multipliers)
    b = 0.0 if problem.free else float(multipliers[0])
    return Polished(solution=certify(problem, C, u, theta), b=b, theta=theta)


class Finish:
    """Follows the certificates of one ascent and makes its attempts.

    Parameters
    ----------
    problem : ExtendedDual
    C, tol : float
        The relative duality gap `tol` is the ascent's aim.

    Attributes
    ----------
    again : bool
        Whether the last attempt gained so much that the next certificate is followed by another one.
    """

    def __init__(self, problem: ExtendedDual, C: float, tol: float) -> None:
        self.problem, self.C, self.tol = problem, C, tol
        self.again = False
        self._below = _POLISH
        self._free, self._steady = 0, False
        self._epoch, self._gap, self._falls = 0, np.inf, np.inf

    def note(self, epoch: int, point: DualSolution) -> None:
        """Take down the certified point after an epoch."""
        fell = 0.0 < point.gap < self._gap
        self._falls = float(np.log(self._gap / point.gap)) / (epoch - self._epoch) if fell else 0.0
        self._epoch, self._gap = epoch, point.gap
        before, self._free = self._free, free_variables(self.problem, self.C, point)
        self._steady = abs(self._free - before) <= _STEADY * before

    def hopeless(self, left: int) -> bool:
        """Whether so many further epochs will not do, at the pace between the last two certificates."""
        return self._epochs_to(max(self.tol, _END)) > _HOPELESS * left

    def due(self) -> bool:
        """Whether to try now: the free variables are about the right ones, and epochs would take longer."""
        return self.tol < self._gap < self._below and (self.again or (self._steady and self._slow()))

    def attempt(self, point: DualSolution) -> tuple[DualSolution, Polished | None]:
        """The better of the point and its polished form, and the latter if its dual value is the higher."""
        found = polished(self.problem, self.C, point)
        better, self.again = point, False
        if found is not None and found.solution.dual > point.dual:
            better = min(point, found.solution, key=lambda p: p.gap)
            gain = found.solution.dual - point.dual
            self.again = gain > _GAIN * (point.primal - point.dual) or better.gap <= _LEFT * point.gap
        else:
            found = None
        self._gap = better.gap
        self._below = np.inf if self.again else _AGAIN * better.gap
        return better, found

    def _epochs_to(self, target: float) -> float:
        """Epochs to a gap from here; infinite where the gap did not fall."""
        if self._gap <= target:
            return 0.0
        return float(np.log(self._gap / target)) / self._falls if self._falls > 0.0 else np.inf

    def _slow(self) -> bool:
        """Whether the epochs left take longer than a linear system of the free variables."""
        epoch = _UPDATE * self.problem.gram.n * self.problem.gram.rank_limit
        return self._epochs_to(self.tol) * epoch > _SOLVES * self._free**3 / 3.0 + _AROUND * epoch


# The multiplier b0 and the centre theta_0 move at the latest after so many epochs.
_EPOCHS_A_STEP = 5
# tau as a share of the mean of G's diagonal, and at least that many times it over the sum of a threshold's boxes: where
# C is small, b and theta would otherwise need many steps.
_TAU, _REACH = 0.1, 10.0
# Rows with a violation below this share of the inner tolerance wait for a later epoch.
_SKIP = 0.1
# Updates of single scores that a small problem may spend beyond 10 000 epochs, and what an epoch costs at the least.
_STEPS, _LEAST = 10**9, 20_000
# An ascent that may give up does so after this share of its epochs, where they are not enough.
_PATIENT = 0.15
# Epochs from an attempt to finish to the next one, where that promises more.
_RELEASE = 2
# Epochs after which the drift of the updates is taken out of the scores.
_DRIFT = 100
# From this epoch on rows are worked on alone, where no more than this share of all is inside its boxes or nearer to
# leaving a bound than so many times the last violation.
_SETTLED, _FEW, _NEAR = 30, 0.8, 0.5


@dataclass(frozen=True, eq=False, kw_only=True)
class _Work:
    """The rows that epochs go over: all of them, or copies of some.

    Attributes
    ----------
    gram : Gram, (M, M)
    labels, caps, u : (M, Q)
    beta : (M,)
    f : (M,), or w of a linear kernel
    rest : float
        Sum of beta over the other rows.
    rows : (M,), None for all
    """

    gram: Gram
    labels: FloatArray
    caps: FloatArray
    u: FloatArray
    beta: FloatArray
    f: FloatArray
    rest: float = 0.0
    rows: IntArray | None = None

    @property
    def total(self) -> float:
        """Sum of beta over all rows."""
        return self.rest + float(self.beta.sum())

    def part(self, rows: IntArray) -> _Work:
        """Some of all rows, not of a linear kernel."""
        arrays = {name: getattr(self, name)[rows] for name in ("labels", "caps", "u", "beta", "f")}
        rest = float(self.beta.sum() - arrays["beta"].sum())
        return _Work(gram=self.gram.part(rows), rest=rest, rows=rows, **arrays)


class CoordinateAscent:
    """Solves one problem for growing values of C, each from where the last one ended.

    Parameters
    ----------
    problem : ExtendedDual
    rng : numpy.random.Generator
        Order of the rows in each epoch.
    max_epochs : int, optional
        Epochs of one solve, or fewer where they will not be enough; as many as take seconds if not given, and at least
        10 000.
    """

    name = "coordinate"

    def __init__(self, problem: ExtendedDual, rng: np.random.Generator, max_epochs: int | None = None) -> None:
        self.problem = problem
        self.rng = rng
        self.gives_up = max_epochs is not None
        self.max_epochs = 10_000 + _STEPS // max(len(problem.labels) ** 2, _LEAST) if max_epochs is None else max_epochs
        self.u = np.zeros_like(problem.labels)
        Q = self.u.shape[1]
        self.scale = float(problem.gram.diagonal.mean()) or 1.0
        self.b = 0.0
        self._soften(np.zeros_like(self.u))
        # theta_0.
        self.centre, self.mu = np.zeros(Q), np.zeros(Q - 1 if problem.ordered else 0)

    def _soften(self, caps: FloatArray) -> None:
        """Settle tau for the boxes (N, Q) of a value of C: with it omega, and the penalty of S^2 / 2."""
        boxes = float(caps.sum()) / caps.shape[1]
        self.tau = self.scale * max(_TAU, _REACH / boxes if boxes > 0.0 else 0.0)
        self.omega = 1.0 / (self.problem.ridge + 1.0 / self.tau)
        # Free thresholds need no b.
        self.penalty = 0.0 if self.problem.free else self.tau

    def _state(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """beta, f (w of a linear kernel) and theta that belong to u and mu, free of the drift of updates."""
        beta, sums = self.u.sum(axis=1), self.u.sum(axis=0)
        if self.problem.ordered:
            sums += np.diff(self.mu, prepend=0.0, append=0.0)
        return beta, self.problem.gram.state(beta), self.omega * (self.centre / self.tau - sums)

    def _step(self, total: float, theta: FloatArray) -> None:
        """Move b0, by the sum of beta, and theta_0 (theta with it)."""
        centre = theta.copy()
        theta += self.omega / self.tau * (theta - self.centre)
        self.centre = centre
        self.b += self.penalty * total

    def _start(self, caps: FloatArray) -> None:
        """The boxes (N, Q) of a value of C, around the u of the one before."""
        self.u = boxed(self.problem.labels, caps, self.u)
        self._soften(caps)
        self.theta = np.empty(caps.shape[1])
        self._take(caps, np.inf)
        self.violation = self.shrink = np.inf
        # Bound of the violations after which b0 and theta_0 move.
        self.inner = 1.0

    def _take(self, caps: FloatArray, near: float) -> None:
        """Work on the rows with a variable inside its box, or within `near` of leaving its bound; on all, if many."""
        problem = self.problem
        beta, f, self.theta[:] = self._state()
        self.work = _Work(gram=problem.gram, labels=problem.labels, caps=caps, u=self.u, beta=beta, f=f)
        if near < np.inf and problem.gram.rank_limit == problem.gram.n:
            answers = (f + self.b + self.penalty * self.work.total)[:, None] - self.theta
            margin, size = 1.0 - problem.labels * answers, np.abs(self.u)
            settled = ((size == 0.0) & (margin < -near)) | ((size == caps) & (margin > near))
            rows = np.flatnonzero(~settled.all(axis=1))
            if 0 < rows.size <= _FEW * len(beta):
                self.work = self.work.part(rows)
        self.order = self._shuffled()

    def _shuffled(self) -> IntArray:
        return self.rng.permutation(len(self.work.u)).astype(np.intp)

    def _epoch(self, epoch: int) -> None:
        """Go over the rows at work once, and move b0 and theta_0 where it is time."""
        work = self.work
        rows = (work.labels, work.caps, work.u, work.beta, work.f, self.theta, self.mu, self.order)
        prices = (self.omega, self.b + self.penalty * work.rest, self.penalty)
        self.violation, kept = work.gram.row_sweep(*rows, *prices, _SKIP * self.inner, self.shrink)
        self.shrink = max(1.0, 2.0 * self.violation)
        if self.violation < self.inner or kept == 0 or epoch % _EPOCHS_A_STEP == 0:
            self._step(work.total, self.theta)
            self.inner *= 0.7
            self.order = self._shuffled()
        else:
            self.order = self.rng.permutation(self.order[:kept])

    def _certified(self, C: float) -> DualSolution:
        if self.work.rows is not None:
            self.u[self.work.rows] = self.work.u
        # A copy: the epochs go on in theta itself.
        return certify(self.problem, C, self.u, self.theta.copy())

    def solve(self, C: float, tol: float) -> Outcome[DualSolution]:
        """Ascend until the relative duality gap is at most `tol`, or for `max_epochs` epochs.

        Parameters
        ----------
        C : float
            Not below the C of the call before, or the start is cut back to the smaller boxes.
        tol : float
        """
        with one_blas_thread():
            return self._solve(C, tol)

    def _solve(self, C: float, tol: float) -> Outcome[DualSolution]:
        caps, finish = C * self.problem.weights, Finish(self.problem, C, tol)
        self._start(caps)
        best: DualSolution | None = None
        path: list[float] = []
        epoch, check, exact, last = 0, 4, 0, self.max_epochs
        while best is None or (best.gap > tol and epoch < last):
            epoch += 1
            self._epoch(epoch)
            if epoch < min(check, last):
                continue
            # A certificate costs about as much as several epochs: 4, 7, 12, 19, 30, ...
            check = int(1.5 * epoch) + 1
            point = self._certified(C)
            path.append(point.primal)
            finish.note(epoch, point)
            hopeless, trying = finish.hopeless(last - epoch), finish.due()
            if trying:
                point, found = finish.attempt(point)
                if found is not None:  # the ascent goes on from there
                    self.u, self.b, self.centre = found.solution.u.copy(), found.b, found.theta.copy()
                check = epoch + _RELEASE if finish.again else check
            if self.gives_up and hopeless and not finish.again and epoch >= _PATIENT * last:
                last = epoch
            best = point if best is None or point.gap < best.gap else best
            settled = epoch >= _SETTLED and not finish.again
            if best.gap > tol and (trying or settled or epoch - exact > _DRIFT):
                self._take(caps, _NEAR * self.violation if settled else np.inf)
                exact = epoch
        return Outcome(solution=best, solver=self.name, iterations=epoch, path=np.array(path))
