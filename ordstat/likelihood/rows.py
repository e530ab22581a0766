"""One pass over the rows: log-likelihood, score and information."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from .._typing import FloatArray, IntArray
from ..compiled.sums import interval_sums
from ..compiled.terms import accumulate_terms
from ..formula.sample import Sample, row_blocks
from .blocks import Blocks
from .cumulative import Cumulative
from .family import Family, RowTerms
from .flexible import FlexibleLink, lambda_inside, lambda_terms
from .newton import Evaluation
from .predictor import ModelRows, Patterns, Predictor

#: Rows handled at once: the temporaries of one chunk stay in cache, in which lines of a power of two would collide.
CHUNK = 2000
#: Log scales beyond this are outside the domain: estimates that run away stop here instead of overflowing.
LARGEST_LOG_SCALE = 100.0
#: So are predictors that are known to no more than this share of them, or of the latent spread: a search would follow
#: the rounding.
_KNOWN = 1e-5
#: Links whose terms have a compiled pass.
CLOSED = ("logit", "aranda-ordaz")
#: Thresholds and effects up to this many times the latent spread always have known differences.
FARTHEST = _KNOWN * 2.0**52


class Scaled(NamedTuple):
    """Centred and scaled columns.

    Attributes
    ----------
    columns : (N, q) C-contiguous
        Location and log-scale columns side by side, then 1 where the parameter of the link is estimated.
    p, r : int
        How many of location and of log scale.
    w : (N, m)
        Nominal columns, with a first one of 1.
    """

    columns: FloatArray
    p: int
    r: int
    w: FloatArray


@dataclass(frozen=True, eq=False, kw_only=True)
class ObservedRows:
    """Rows of a model and their levels.

    Attributes
    ----------
    rows : ModelRows
    y : (N,) codes
    family : Family
    flexible : FlexibleLink or None
        Where the parameter of the link is estimated, the last component of `rest`.
    """

    rows: ModelRows
    y: IntArray
    family: Family
    flexible: FlexibleLink | None

    def take(self, some: slice | IntArray) -> ObservedRows:
        """Some of the rows."""
        return replace(self, rows=self.rows.take(some), y=self.y[some])

    def terms(self, alpha: FloatArray, rest: FloatArray, second: bool = True) -> RowTerms | None:
        """Their terms at alpha (K-1, m) and rest = (beta, zeta, lambda); None outside the domain."""
        p, r = self.rows.x.shape[1], self.rows.z.shape[1]
        predictor = self.rows.at(alpha, rest[:p], rest[p : p + r])
        if np.abs(predictor.tau).max() > LARGEST_LOG_SCALE:
            return None
        if not np.all(_lost(predictor, self.rows, rest[:p], self.y) <= _KNOWN):
            return None
        if self.flexible is not None:
            return lambda_terms(self.family, self.flexible, float(rest[-1]), predictor, self.y, second)
        return self.family.terms(predictor, self.y, second)


@dataclass(frozen=True, eq=False, kw_only=True)
class TermRows:
    """The log-likelihood of rows on centred and scaled columns.

    Attributes
    ----------
    observed : ObservedRows
    weights : (N,)
    columns : (N, q) C-contiguous
        Location and log-scale columns side by side, then 1 where the parameter of the link is estimated.
    """

    observed: ObservedRows
    weights: FloatArray
    columns: FloatArray

    @classmethod
    def of(cls, sample: Sample, scaled: Scaled, family: Family, flexible: FlexibleLink | None) -> TermRows:
        """Rows whose columns are those of `scaled`."""
        columns, p, r, w = scaled
        patterns = Patterns.among(w) if family.local else None
        own = ModelRows.on(sample.rows, columns[:, :p], w, columns[:, p : p + r], patterns)
        observed = ObservedRows(rows=own, y=sample.y, family=family, flexible=flexible)
        return cls(observed=observed, weights=sample.case_weights, columns=columns)

    @property
    def rows(self) -> ModelRows:
        """The columns."""
        return self.observed.rows

    @property
    def family(self) -> Family:
        """The family."""
        return self.observed.family

    def evaluate(self, alpha: FloatArray, rest: FloatArray) -> Evaluation | None:
        """At alpha (K-1, m) and rest (q,), for the scaled columns."""
        return self._pass(alpha, rest, None)

    def slope(self, alpha: FloatArray, rest: FloatArray, information: Blocks) -> Evaluation | None:
        """The same with the information given instead of its own."""
        return self._pass(alpha, rest, information)

    def inside(self, alpha: FloatArray, rest: FloatArray) -> bool:
        """Whether the thresholds of every row are in order, where they must be, and log scales inside the domain."""
        rows, p = self.rows, self.rows.x.shape[1]
        w = (rows.w if alpha.shape[1] > 1 else rows.w[:1]) if rows.patterns is None else rows.patterns.w
        tau = rows.z @ rest[p : p + rows.z.shape[1]] + rows.scale_offset
        ordered = not self.family.ordered or np.all(np.diff(w @ alpha.T, axis=1) > 0.0)
        return bool(ordered and np.abs(tau).max() <= LARGEST_LOG_SCALE)

    def _pass(self, alpha: FloatArray, rest: FloatArray, information: Blocks | None) -> Evaluation | None:
        sums = _Sums.zeros(alpha.shape, rest.size, self.family.local, self.rows.patterns)
        if self._closed(rest) and not np.isnan(loglik := self._add_closed(alpha, rest, sums, information is None)):
            found = sums.evaluation(loglik, information)
            return found if found.finite else None
        sums = _Sums.zeros(alpha.shape, rest.size, self.family.local, self.rows.patterns)
        ends = np.cumsum([0, self.rows.x.shape[1], self.rows.z.shape[1], *[1] * (self.observed.flexible is not None)])
        loglik = 0.0
        for some in row_blocks(self.weights.size, room=CHUNK):
            part, weights = self.observed.take(some), self.weights[some]
            terms = part.terms(alpha, rest, information is None)
            if terms is None:
                return None
            with np.errstate(over="ignore"):  # minus infinity is outside the domain
                loglik += float(weights @ terms.log_p)
            sums.add(part.rows, self.columns[some], ends, terms, weights)
        found = sums.evaluation(loglik, information)
        return found if found.finite else None

    def _closed(self, rest: FloatArray) -> bool:
        """Whether rows have terms in closed form, so that one compiled pass makes them and adds them up."""
        flexible = self.observed.flexible
        known = isinstance(self.family, Cumulative) and self.family.link.name in CLOSED
        return known and (flexible is None or lambda_inside(flexible, float(rest[-1])))

    @cached_property
    def _scale_offset(self) -> FloatArray | None:
        """(N,) None where all are 0."""
        return self.rows.scale_offset if self.rows.scale_offset.any() else None

    def _add_closed(self, alpha: FloatArray, rest: FloatArray, sums: _Sums, second: bool) -> float:
        """Add all rows; the log-likelihood, or NaN where the compiled pass is not for these values."""
        rows, y, p, r = self.rows, self.observed.y, self.rows.x.shape[1], self.rows.z.shape[1]
        theta, step = alpha, alpha.copy()
        step[1:] -= alpha[:-1]
        w, pattern = None if alpha.shape[1] == 1 else rows.w, None
        if rows.patterns is not None:
            theta, step = ((rows.patterns.w @ each.T).reshape(-1, 1) for each in (theta, step))
            w, pattern = None, rows.patterns.of
        farthest = FARTHEST / max(np.abs(alpha).max(), np.abs(rest[:p]).max(initial=0.0), 1e-300)
        lam = self.family.link.lam if self.observed.flexible is None else float(rest[-1])
        given = self.columns, p, r, w, pattern, y, self.weights, rows.offset, self._scale_offset, len(alpha)
        tables = np.ascontiguousarray(theta), np.ascontiguousarray(step)
        limits = 1.0 if lam is None else lam, farthest, LARGEST_LOG_SCALE
        into = sums.alpha, sums.pairs, sums.cross, sums.rest, sums.gram
        return float(interval_sums(*given, *tables, rest, *limits, *into, second))


def _lost(predictor: Predictor, rows: ModelRows, beta: FloatArray, y: IntArray) -> FloatArray:
    """(n,) what rounding takes from differences of thresholds and scores, as a share of the ends."""
    largest = max(np.abs(predictor.alpha).max(), np.abs(beta).max(initial=0.0))
    if largest * predictor.s.max() <= FARTHEST:
        return np.zeros(1)
    upper, lower, _ = predictor.ends(y)
    nearest = np.maximum(np.minimum(np.abs(upper), np.abs(lower)), 1.0)
    lost = np.abs(rows.x) @ np.abs(beta) + np.abs(rows.w) @ np.abs(predictor.alpha).max(axis=0)
    return np.asarray(predictor.s * 2.0**-52 * lost / nearest)


@dataclass(frozen=True, eq=False)
class _Sums:
    """Running sums; of a family that is not local the information of the thresholds is one block.

    Where the nominal columns have few patterns every pattern has thresholds of its own, until the sums are complete.
    """

    alpha: FloatArray
    pairs: FloatArray
    cross: FloatArray
    rest: FloatArray
    gram: FloatArray
    local: bool
    patterns: FloatArray | None

    @classmethod
    def zeros(cls, shape: tuple[int, ...], q: int, local: bool, patterns: Patterns | None) -> _Sums:
        n, m = shape if patterns is None else (shape[0] * len(patterns.w), 1)
        pairs = np.zeros((2, n, m, m) if local else (n, n, m, m))
        w = None if patterns is None else patterns.w
        return cls(np.zeros((n, m)), pairs, np.zeros((n, m, q)), np.zeros(q), np.zeros((q, q)), local, w)

    def add(self, rows: ModelRows, columns: FloatArray, ends: IntArray, terms: RowTerms, weights: FloatArray) -> None:
        """Add some rows; `ends` of the groups of columns."""
        with np.errstate(over="ignore", invalid="ignore"):
            score = terms.score * weights
            curvature = None if terms.curvature is None else terms.curvature * weights
        w, places = rows.w, terms.places
        if rows.patterns is not None:
            w, places = np.ones((rows.n, 1)), places + rows.patterns.of * (len(self.alpha) // len(rows.patterns.w))
        given = np.ascontiguousarray(w), columns, ends, np.ascontiguousarray(places, dtype=np.intp)
        sums = self.alpha, self.pairs, self.cross, self.rest, self.gram
        accumulate_terms(*given, score, curvature, *sums, self.local)

    def evaluation(self, loglik: float, information: Blocks | None) -> Evaluation:
        """With this information, or that of the sums."""
        alpha, w = self.alpha, self.patterns
        if w is not None:
            alpha = np.einsum("gk,gm->km", alpha.reshape(len(w), -1), w)
        blocks = self._information() if information is None else information
        return Evaluation(loglik=loglik, score_alpha=alpha, score_rest=self.rest, information=blocks)

    def _information(self) -> Blocks:
        pairs, cross, w = self.pairs, self.cross, self.patterns
        if w is not None:
            each = len(w), len(self.alpha) // len(w)
            pairs = np.einsum("sgk,gm,gl->skml", pairs.reshape(2, *each), w, w)
            cross = np.einsum("gkq,gm->kmq", cross.reshape(*each, self.rest.size), w)
        if self.local:
            diagonal, below = pairs[0], pairs[1, :-1]
        else:
            size = self.alpha.size
            diagonal = pairs.transpose(0, 2, 1, 3).reshape(1, size, size)
            below = np.zeros((0, size, size))
        cross = cross.reshape(*diagonal.shape[:2], self.rest.size)
        return Blocks(diagonal=diagonal, below=below, cross=cross, rest=self.gram)
