"""What is maximised: the rows and columns that count, the parameters that are estimated, and the way back.

A cumulative model with location effects alone has compiled passes (`PlainRows`): the formulas are those of
`cumulative.py` at s = 1, w = 1, for centred and scaled columns that are never formed: x enters as (x - shift) / scale.
`rows.py` serves every family and all effects.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from ..compiled.cumulative import accumulate, logit_groups, logit_pass, logit_widths, probit_rows, project
from ..compiled.sums import standardise
from ..exceptions import DataError, OptionError
from ..formula.sample import Rows, Sample, row_blocks
from .blocks import Blocks
from .columns import Columns, survey
from .cumulative import Cumulative
from .family import Family
from .flexible import FlexibleLink
from .links import Link
from .newton import Evaluation, Objective, Slope
from .predictor import ThresholdMap, threshold_map
from .rows import CLOSED, FARTHEST, Scaled, TermRows
from .user_scale import Structured, UserScale

#: Rows handled at once: the temporaries of one chunk stay in cache.
_CHUNK = 4096
#: Thresholds of a probit model further apart than this allow plain differences of the normal distribution function.
_WIDE = 0.1


@dataclass(frozen=True, eq=False, kw_only=True)
class PlainRows:
    """Rows read where they lie.

    Attributes
    ----------
    X : (N, p) C-contiguous
    y : (N,) codes, every level present
    weights, offset : (N,) or None
    shift, scale : (p,)
        The columns are used as (x - shift) / scale.
    counts : (K,) weighted counts of the levels
    link : Link
    """

    X: FloatArray
    y: IntArray
    weights: FloatArray | None
    offset: FloatArray | None
    shift: FloatArray
    scale: FloatArray
    counts: FloatArray
    link: Link

    @property
    def _given(self) -> tuple[FloatArray, IntArray, FloatArray | None, FloatArray | None, FloatArray]:
        return self.X, self.y, self.weights, self.offset, self.shift

    def inside(self, alpha: FloatArray, rest: FloatArray) -> bool:
        """Whether the thresholds are in order."""
        return bool(np.all(np.diff(alpha[:, 0]) > 0.0))

    def evaluate(self, alpha: FloatArray, rest: FloatArray) -> Evaluation | None:
        """At thresholds alpha (K-1, 1) and location coefficients (p,), both for the scaled columns."""
        theta, beta = alpha[:, 0], rest / self.scale
        if not (theta[1:] > theta[:-1]).all() or max(-theta[0], theta[-1], _size(rest)) > FARTHEST:
            return None
        found = self._logit(theta, beta) if self.link.name == "logit" else None
        if found is None:
            with np.errstate(over="ignore", invalid="ignore"):
                found = self._any_link(theta, beta)
        return found if found.finite else None

    def slope(self, alpha: FloatArray, rest: FloatArray, information: Blocks) -> Evaluation | None:
        """The same, for the logit with the information given instead of its own."""
        theta, beta = alpha[:, 0], rest / self.scale
        if self.link.name != "logit" or not np.all(theta[1:] > theta[:-1]):
            return self.evaluate(alpha, rest)
        levels, score = np.zeros((self.counts.size, 2)), np.zeros(beta.size)
        logs = logit_pass(*self._given, beta, theta, levels, score, None, None)
        if np.isnan(logs):
            return self.evaluate(alpha, rest)
        return Evaluation(
            loglik=logit_widths(theta, self.counts, levels, np.empty(theta.size - 1)) - logs,
            score_alpha=(levels[:-1, 0] - levels[1:, 1]).reshape(-1, 1),
            score_rest=score / self.scale,
            information=information,
        )

    def group_scores(self, alpha: FloatArray, rest: FloatArray, codes: IntArray, n_groups: int) -> FloatArray | None:
        """(G, K-1 + p) sums of the rows' scores by code (n,), of the user's columns; None where `_any_link` is for it.

        With d the width of a row's level, d log p is F(-u) + 1/(e^d - 1) by the upper threshold and minus
        F(l) + 1/(e^d - 1) by the lower one; x is centred in the pass.
        """
        theta, beta = alpha[:, 0], rest / self.scale
        if self.link.name != "logit":
            return None
        sums, score = np.zeros((n_groups, self.counts.size, 3)), np.zeros((n_groups, beta.size))
        given = self.X, self.y, self.weights, self.offset, self.shift, beta, theta
        if np.isnan(logit_groups(*given, codes, sums, score)):
            return None
        width = np.pad(1.0 / np.expm1(np.diff(theta)), 1)
        above, below = (sums[:, :, side] + width * sums[:, :, 2] for side in (0, 1))
        of_theta = above[:, :-1] - below[:, 1:]
        return np.hstack([of_theta, score - of_theta.sum(axis=1)[:, None] * self.shift])

    def _logit(self, theta: FloatArray, beta: FloatArray) -> Evaluation | None:
        """The compiled pass: what depends on thresholds alone is added once a level, not once a row."""
        sums = _Sums.zeros(self.counts.size, 4, self.shift.size)
        logs = logit_pass(*self._given, beta, theta, sums.levels, sums.score, sums.cross, sums.gram)
        if np.isnan(logs):
            return None
        below = np.empty(theta.size - 1)
        loglik = logit_widths(theta, self.counts, sums.levels, below) - logs
        return sums.evaluation(loglik, below, self.scale)

    def _any_link(self, theta: FloatArray, beta: FloatArray) -> Evaluation:
        """Row quantities in NumPy, sums in the compiled part, chunk by chunk."""
        sums = _Sums.zeros(self.counts.size, 5, self.shift.size)
        ends = np.concatenate([[-np.inf], theta, [np.inf]])
        widths = np.concatenate([[np.inf], np.diff(theta), [np.inf]])
        compiled = self.link.name == "probit" and bool(np.all(np.diff(theta) > _WIDE))
        loglik = 0.0
        for rows in row_blocks(self.y.size, room=_CHUNK):
            y = self.y[rows]
            H = np.zeros(y.size) if self.offset is None else self.offset[rows].copy()
            project(self.X[rows], self.shift, beta, H)
            v = None if self.weights is None else self.weights[rows]
            parts = np.empty((8, y.size))
            logs = probit_rows(y, v, H, theta, parts) if compiled else np.nan
            if np.isnan(logs):
                q = self.link.interval(ends[y + 1] - H, ends[y] - H, widths[y])
                np.stack([q.a, q.b, -q.h_uu, -q.h_ll, q.h_ul, q.c, q.r_u, q.r_l], out=parts)
                logs = float(q.log_p.sum() if v is None else v @ q.log_p)
                if v is not None:
                    parts *= v
            loglik += logs
            accumulate(self.X[rows], y, self.shift, parts, sums.levels, sums.score, sums.cross, sums.gram)
        return sums.evaluation(loglik, -sums.levels[1:-1, 4], self.scale)


def _size(values: FloatArray) -> float:
    """The largest absolute value, 0 of none."""
    return float(np.abs(values).max()) if values.size else 0.0


@dataclass(frozen=True, eq=False)
class _Sums:
    """What the compiled passes add into; see `compiled/cumulative.pyx`."""

    levels: FloatArray
    score: FloatArray
    cross: FloatArray
    gram: FloatArray

    @classmethod
    def zeros(cls, n_levels: int, width: int, p: int) -> _Sums:
        return cls(np.zeros((n_levels, width)), np.zeros(p), np.zeros((n_levels + 1, p)), np.zeros((p, p)))

    def evaluation(self, loglik: float, below: FloatArray, scale: FloatArray) -> Evaluation:
        """Blocks of the scaled columns; `below` is the lower diagonal of T."""
        n, p = self.levels.shape[0], scale.size
        upper, lower = self.levels[:-1], self.levels[1:]
        blocks = Blocks(
            diagonal=(upper[:, 2] + lower[:, 3]).reshape(-1, 1, 1),
            below=below.reshape(-1, 1, 1),
            cross=(self.cross[1:n] / -scale).reshape(n - 1, 1, p),
            rest=self.gram / (scale[:, None] * scale),
        )
        return Evaluation(
            loglik=loglik,
            score_alpha=(upper[:, 0] - lower[:, 1]).reshape(-1, 1),
            score_rest=self.score / scale,
            information=blocks,
        )


#: Rows a parameter, of a plain cumulative model and of others, whose passes over the rows cost more.
_MANY, _MANY_TERMS = 800, 200


@dataclass(frozen=True, eq=False, kw_only=True)
class Problem:
    """What is maximised, on which columns, and the way back.

    Attributes
    ----------
    sample : Sample
        Rows of positive weight, codes over the levels present, columns not aliased.
    present : (K,) bool
        Levels of the original sample that have rows.
    location, nominal, scale : Columns
        Columns of the original sample.
    counts : (K',) weighted counts of the levels present
    family : Family
    flexible : FlexibleLink or None
        Where the parameter of the link is estimated; the link of `family` is where the search begins then.
    structure : ThresholdMap or None
        Structure of the thresholds between the levels present.
    confounded : tuple of int
        Places of the log-scale effects and lambda left out, as the cell probabilities do not determine them. Such a
        lambda stays where the search would begin.
    n_lambda : int
        1 where the link has a parameter that is not given, estimated or not.
    independent : (r,) bool
        Columns of the log scale that are independent, estimated or not.
    used : (N,) or None
        Places of the rows in the original sample; None where all have a positive weight.
    """

    sample: Sample
    present: BoolArray
    location: Columns
    nominal: Columns
    scale: Columns
    counts: FloatArray
    family: Family
    flexible: FlexibleLink | None = None
    structure: ThresholdMap | None = None
    confounded: tuple[int, ...] = ()
    n_lambda: int
    independent: BoolArray
    used: IntArray | None = None

    @classmethod
    def of(
        cls, sample: Sample, family: Family, flexible: FlexibleLink | None = None, threshold: str = "flexible"
    ) -> Problem:
        """Survey a sample; with `flexible` the parameter of the link is estimated.

        Raises
        ------
        DataError
            Fewer than two levels have rows of positive weight, or fewer than a threshold structure needs.
        """
        used = None
        if sample.weights is not None and not np.all(sample.weights > 0.0):
            used = np.flatnonzero(sample.weights > 0.0)
            sample = sample.take(used)
        sample, present, counts = _levels_present(sample)
        rows = sample.rows
        empty = np.zeros((sample.n, 0))
        wide = rows.X if rows.nominal is None else np.hstack([rows.nominal, rows.X])
        both = survey(np.ascontiguousarray(wide), sample.weights)
        q = wide.shape[1] - rows.X.shape[1]
        scale = survey(np.ascontiguousarray(empty if rows.scale is None else rows.scale), sample.weights)
        nominal, location = both.part(slice(0, q)), both.part(slice(q, None))
        kept = Rows(
            X=_columns(rows.X, location.kept),
            offset=rows.offset,
            nominal=None if rows.nominal is None else _columns(rows.nominal, nominal.kept),
            scale=None if rows.scale is None or not scale.kept.any() else _columns(rows.scale, scale.kept),
            scale_offset=rows.scale_offset,
            random=rows.random,
        )
        return cls(
            sample=replace(sample, rows=kept),
            present=present,
            location=location,
            nominal=nominal,
            scale=scale,
            counts=counts,
            family=family if flexible is None else family.at(flexible.at(flexible.start)),
            flexible=flexible,
            structure=threshold_map(threshold, sample.n_levels - 1),
            n_lambda=int(flexible is not None),
            independent=scale.kept,
            used=used,
        )

    def without(self, lost: list[int]) -> Problem:
        """The problem without parameters that cannot be determined."""
        n_scale, last = int(self.scale.kept.sum()), self.n_parameters
        first = last - n_scale - int(self.flexible is not None)
        gone = np.zeros(last - first, dtype=np.bool_)
        gone[[place - first for place in lost]] = True
        kept = self.scale.kept.copy()
        kept[self.scale.kept] = ~gone[:n_scale]
        rows = self.sample.rows
        if rows.scale is not None:
            left = _columns(rows.scale, ~gone[:n_scale])
            rows = replace(rows, scale=left if left.shape[1] else None)
        return replace(
            self,
            sample=replace(self.sample, rows=rows),
            scale=replace(self.scale, kept=kept),
            flexible=None if gone[n_scale:].any() else self.flexible,
            confounded=tuple(lost),
        )

    @property
    def link(self) -> Link:
        """The link of the family."""
        return self.family.link

    def at_link(self, link: Link) -> Problem:
        """The same at another link that is known."""
        return replace(self, family=self.family.at(link), flexible=None)

    @property
    def plain(self) -> bool:
        """Whether `PlainRows` serves: a cumulative model with location effects alone."""
        rows = self.sample.rows
        parts = (rows.nominal, rows.scale, rows.scale_offset, self.flexible)
        known = self.link.name == "logit" or self.link.name not in CLOSED
        return known and isinstance(self.family, Cumulative) and all(part is None for part in parts)

    def user_scale(self) -> UserScale:
        """The way back, for the columns kept."""
        return self._user_scale

    @cached_property
    def _user_scale(self) -> UserScale:
        location, nominal, scale = (c.part(c.kept) for c in (self.location, self.nominal, self.scale))
        c = np.ones(self.counts.size - 1)
        if self.structure is not None:
            intercept = self.structure.intercept
            c = np.zeros(self.structure.jacobian.shape[1]) if intercept is None else intercept
        deviations = scale.deviation if self.flexible is None else np.append(scale.deviation, 1.0)
        return UserScale.of((location.mean, location.deviation), (nominal.mean, nominal.deviation), deviations, c)

    def rows(self) -> PlainRows | TermRows:
        """The log-likelihood of the scaled columns, in all thresholds."""
        return self._plain_rows() if self.plain else self.term_rows

    def objective(self) -> PlainRows | TermRows | Structured:
        """The log-likelihood in the parameters that are estimated."""
        rows = self.rows()
        return rows if self.structure is None else self.structured(rows.evaluate)

    def inside(self, alpha: FloatArray, rest: FloatArray) -> bool:
        """Whether the thresholds of all rows are in order, and log scales inside the domain."""
        rows = self.rows()
        return rows.inside(
            alpha if self.structure is None else self.structured(rows.evaluate).expand(alpha, rest), rest
        )

    def structured(self, objective: Objective) -> Structured:
        """An objective in all thresholds as one in the parameters of the structure."""
        assert self.structure is not None
        user = self.user_scale()
        shift = np.zeros_like(user.A)
        if not np.any(user.c):
            shift -= np.linalg.solve(user.G, user.A)
        return Structured(objective=objective, jacobian=self.structure.jacobian, shift=shift)

    def _plain_rows(self) -> PlainRows:
        sample, location = self.sample, self.location.part(self.location.kept)
        return PlainRows(
            X=sample.X,
            y=sample.y,
            weights=sample.weights,
            offset=sample.rows.offset,
            shift=location.mean,
            scale=location.deviation,
            counts=self.counts,
            link=self.link,
        )

    def slope(self) -> Slope | None:
        """The cheaper evaluation of the score, where many rows make it worth while."""
        if self.structure is not None or not self.many_rows:
            return None
        if not self.plain:
            return self.term_rows.slope
        return self._plain_rows().slope if self.link.name == "logit" else None

    def group_scores(self, estimates: FloatArray, codes: IntArray, n_groups: int) -> FloatArray | None:
        """(G, P') sums of the scores at estimates on the user's scale, by code (n,), where one pass gives them."""
        if not self.plain or self.structure is not None:
            return None
        return self._plain_rows().group_scores(*self.from_user(estimates), codes, n_groups)

    @property
    def many_rows(self) -> bool:
        """Whether rough steps on the way, from some of the rows, cost little beside one pass over all."""
        return self.sample.n >= (_MANY if self.plain else _MANY_TERMS) * self.n_parameters

    def scaled(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Centred and scaled copies: location (N, p), nominal with its column of ones (N, m), scale (N, r)."""
        columns, p, r, w = self._scaled()
        return np.ascontiguousarray(columns[:, :p]), w, np.ascontiguousarray(columns[:, p : p + r])

    def _scaled(self) -> Scaled:
        """Centred and scaled copies of the columns; those of the log scale are only scaled."""
        rows, n = self.sample.rows, self.sample.n
        location, nominal, scale = (c.part(c.kept) for c in (self.location, self.nominal, self.scale))
        p, m, r = (part.deviation.size for part in (location, nominal, scale))
        columns, w = np.empty((n, p + r + int(self.flexible is not None))), np.empty((n, 1 + m))
        columns[:, p + r :], w[:, 0] = 1.0, 1.0
        standardise(rows.X, location.mean, location.deviation, 0, columns)
        if rows.nominal is not None:
            standardise(rows.nominal, nominal.mean, nominal.deviation, 1, w)
        if rows.scale is not None:
            standardise(rows.scale, np.zeros(r), scale.deviation, p, columns)
        return Scaled(columns, p, r, w)

    @cached_property
    def term_rows(self) -> TermRows:
        """The log-likelihood by the terms of rows, for any family and any effects."""
        return TermRows.of(self.sample, self._scaled(), self.family, self.flexible)

    def start(self) -> tuple[FloatArray, FloatArray]:
        """Thresholds at (or near) the quantiles of the cumulative shares, moved by the mean offsets; all effects 0."""
        rows, weights = self.sample.rows, self.sample.weights
        theta = self.family.start(self.counts / self.counts.sum())
        if rows.scale_offset is not None:
            theta = theta * np.exp(np.average(rows.scale_offset, weights=weights))
        if rows.offset is not None:
            theta = theta + np.average(rows.offset, weights=weights)
        alpha = np.zeros((theta.size, 1 + int(self.nominal.kept.sum())))
        alpha[:, 0] = theta
        if self.structure is not None:
            alpha = self.structured(_nowhere).start(alpha)
        rest = np.zeros(int(self.location.kept.sum() + self.scale.kept.sum()))
        return alpha, rest if self.flexible is None else np.append(rest, self.flexible.start)

    @property
    def n_parameters(self) -> int:
        """How many parameters are estimated."""
        nominal, location, scale = (int(part.kept.sum()) for part in (self.nominal, self.location, self.scale))
        return self._n_thresholds * (1 + nominal) + location + scale + int(self.flexible is not None)

    @property
    def n_null_parameters(self) -> int:
        """How many are left without effects."""
        return self._n_thresholds + int(self.flexible is not None)

    @property
    def _n_thresholds(self) -> int:
        return self.counts.size - 1 if self.structure is None else self.structure.jacobian.shape[1]

    def from_user(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(alpha, rest) of the scaled columns from the parameters on the user's scale, in their order.

        Raises
        ------
        OptionError
            Not as many values as there are parameters.
        """
        user = self.user_scale()
        t, m = user.c.size, user.G.shape[0]
        if values.size != self.n_parameters:
            raise OptionError(
                f"start must have {self.n_parameters} values, one for each estimated parameter ({t * m} of the "
                f"thresholds, then {user.scale.size} others); got {values.size}."
            )
        alpha, rest = user.scaled(values[: t * m].reshape(m, t).T, values[t * m :])
        return (alpha if self.structure is None else alpha.reshape(1, -1)), rest

    def without_effects(self) -> Problem:
        """The same rows with thresholds and offsets alone."""
        rows = self.sample.rows
        bare = Rows(X=np.zeros((rows.n, 0)), offset=rows.offset, scale_offset=rows.scale_offset)
        none = Columns(np.zeros(0), np.ones(0), np.zeros(0, dtype=bool))
        return replace(self, sample=replace(self.sample, rows=bare), location=none, nominal=none, scale=none)


def _nowhere(alpha: FloatArray, rest: FloatArray) -> None:
    """An objective without a domain."""


def _columns(matrix: FloatArray, kept: BoolArray) -> FloatArray:
    """The kept columns, C-contiguous; the matrix itself where all are kept."""
    return np.ascontiguousarray(matrix if kept.all() else matrix[:, kept])


def _levels_present(sample: Sample) -> tuple[Sample, BoolArray, FloatArray]:
    """The sample over the levels that have rows (weights are positive), which those are, and their counts."""
    counts = np.bincount(sample.y, weights=sample.weights, minlength=sample.n_levels).astype(np.float64)
    present = counts > 0.0
    if present.sum() < 2:
        raise DataError(
            f"The response must have rows in at least two levels; all {sample.n} rows of positive weight are in one."
        )
    y: IntArray = np.ascontiguousarray(sample.y, dtype=np.intp)
    if not present.all():
        y = (np.cumsum(present) - 1)[y].astype(np.intp)
    return replace(sample, y=y, n_levels=int(present.sum())), present, counts[present]
