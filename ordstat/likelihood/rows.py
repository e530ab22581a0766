"""The pass over the rows: log-likelihood, score and information.

Rows of a cumulative model go through one compiled pass, which centres and scales the
columns as it reads them. It supports the links without a parameter; for other links,
and values outside the range of its formulas, it takes log p and its derivatives from
NumPy. The stages of a sequential model are binary models of the rows that reach them:
one compiled pass adds up the stages of each row; outside the range of its formulas
every stage is a cumulative model of its rows. Levels with scores that are linear in the
predictors, and one scale, have a compiled pass too. Other models in which P(y <= k)
depends on all thresholds, or whose link has a parameter to estimate, take the terms of
`Family.terms` through the Jacobian.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from .._typing import FloatArray, IntArray
from ..compiled.sums import interval_sums, level_sums, stage_sums
from ..formula.row_blocks import row_blocks
from ..formula.sample import Sample
from ..newton import Blocks, Evaluation
from .columns import ColumnScales
from .family import Family, LevelScores, row_terms, stages_of
from .flexible import FlexibleLink
from .layout import Layout
from .links import Interval
from .predictor import Jacobian, ModelRows, Predictor

#: Rows handled at once in NumPy: temporaries stay in cache, in which lines of a power
#: of two would collide.
_CHUNK = 2000
#: Doubles of derivatives held at once.
_BUFFER = 1 << 18
#: Log scales beyond this are outside the domain: estimates that run away stop here
#: instead of overflowing.
LARGEST_LOG_SCALE = 100.0
#: Thresholds and effects up to this many times the latent spread have differences to
#: five digits.
_FARTHEST = 1e-5 * 2.0**52
#: Distributions of the compiled pass.
_COMPILED = {"logit": 1, "probit": 2, "cloglog": 3, "loglog": 4, "cauchit": 5}
#: Most levels of the pass over scores: it has a column for each pair of thresholds.
MOST_SCORED_LEVELS = 128
#: Most distinct rows of nominal columns that are treated as patterns.
_PATTERNS = 64


def inside(predictor: Predictor, beta: FloatArray) -> bool:
    """Whether log scales are in the domain, and thresholds and effects small enough for
    their differences to have digits.
    """
    largest = max(np.abs(predictor.alpha).max(), np.abs(beta).max(initial=0.0))
    return bool(
        np.abs(predictor.tau).max() <= LARGEST_LOG_SCALE
        and largest * predictor.s.max() <= _FARTHEST
    )


class Sums(NamedTuple):
    """The sums of a compiled pass, for n thresholds with m coefficients each and q
    other parameters; fields are named as its arguments.

    Attributes
    ----------
    alpha : (n, m)
        Scores of the thresholds.
    pairs : (2, n, m, m)
        Information of each threshold, and between it and the threshold below.
    cross : (n, m, q)
        Information between thresholds and other parameters.
    rest : (q,)
        Scores of the other parameters.
    gram : (q, q)
        Information of the other parameters.
    """

    alpha: FloatArray
    pairs: FloatArray
    cross: FloatArray
    rest: FloatArray
    gram: FloatArray

    @classmethod
    def zeros(cls, shape: tuple[int, ...], q: int, second: bool = True) -> Sums:
        """Sums over no rows; `shape` is (n, m). Without `second` there is no array for
        the information of the other parameters.
        """
        n, m = shape
        return cls(
            alpha=np.zeros((n, m)),
            pairs=np.zeros((2, n, m, m)),
            cross=np.zeros((n, m, q)),
            rest=np.zeros(q),
            gram=np.zeros((q, q) if second else (0, 0)),
        )

    def evaluation(self, loglik: float, information: Blocks | None) -> Evaluation:
        """The evaluation with these scores and, unless `information` is given, this
        information.
        """
        if information is None:
            information = Blocks(
                self.pairs[0], self.pairs[1, :-1], self.cross, self.gram
            )
        score = np.concatenate([self.alpha.reshape(-1), self.rest])
        return Evaluation(loglik, score, information)


@dataclass(frozen=True, eq=False, kw_only=True)
class LikelihoodRows:
    """The log-likelihood on centred and scaled columns; log-scale columns are only
    scaled.

    A point x is (alpha (K-1, m) threshold by threshold, beta (p,), zeta (r,), lambda).

    Attributes
    ----------
    sample : Sample
    location, nominal, scale : ColumnScales
        Means and deviations of the columns of the sample.
    family : Family
    flexible : FlexibleLink or None
        Set if the parameter of the link is estimated.
    """

    sample: Sample
    location: ColumnScales
    nominal: ColumnScales
    scale: ColumnScales
    family: Family
    flexible: FlexibleLink | None

    @cached_property
    def layout(self) -> Layout:
        """The blocks of a point."""
        return Layout(
            thresholds=self.sample.n_levels - 1,
            columns=1 + self.nominal.mean.size,
            location=self.location.mean.size,
            scale=self.scale.mean.size,
            link=int(self.flexible is not None),
            by_threshold=True,
        )

    @cached_property
    def shape(self) -> tuple[int, int]:
        """(K-1, m) of alpha."""
        return self.layout.thresholds, self.layout.columns

    def _parted(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """alpha (K-1, m) and the other parameters of a point."""
        n_alpha = self.layout.n_alpha
        return x[:n_alpha].reshape(self.shape), x[n_alpha:]

    def predictor(self, rows: ModelRows, x: FloatArray) -> Predictor:
        """The predictors of some rows at a point."""
        at = self.layout.split(x)
        return rows.at(at.alpha, at.beta, at.zeta)

    def model_rows(self, some: slice | IntArray) -> ModelRows:
        """The scaled columns of some of the rows."""
        rows = ModelRows.of(self.sample.rows.take(some))
        w = rows.w.copy()
        w[:, 1:] = (w[:, 1:] - self.nominal.mean) / self.nominal.deviation
        x = (rows.x - self.location.mean) / self.location.deviation
        return replace(rows, x=x, w=w, z=rows.z / self.scale.deviation)

    def evaluate(
        self, x: FloatArray, information: Blocks | None = None, /
    ) -> Evaluation | None:
        """Evaluate at x; None outside the domain. If `information` is given, only the
        score is computed.
        """
        largest = float(np.abs(x[: self.layout.of_location.stop]).max())
        if not largest <= _FARTHEST:
            return None
        if self.flexible is None and self._compiles:
            at = self._compiled(x, largest, information)
        elif self.flexible is None and self.family.stages is not None:
            at = self._compiled_stages(x, largest, information)
            if at is None:
                at = self._by_stages(x, information)
        elif self._has_level_scores:
            at = self._compiled_levels(x, information)
        else:
            at = self._by_terms(x, information)
        return at if at is not None and at.finite else None

    @cached_property
    def _compiles(self) -> bool:
        """Whether the rows of a cumulative model go through the compiled pass: those
        whose two finite ends are not neighbours do not.
        """
        if not self.family.local:
            return False
        return not self.sample.between().any()

    @cached_property
    def _nominal(self) -> FloatArray | None:
        """(N, m) 1 and the nominal columns; None without them."""
        if self.sample.rows.nominal is None:
            return None
        return self.model_rows(slice(None)).w

    def _compiled_stages(
        self, x: FloatArray, largest: float, information: Blocks | None
    ) -> Evaluation | None:
        """The sum over the stages by one pass; None outside the range of its formulas,
        and for links that it does not have.
        """
        family = stages_of(self.family)
        link = _COMPILED.get(family.of_a_stage().link.name)
        if link is None:
            return None
        alpha, rest = self._parted(x)
        sample = self.sample
        rows = sample.rows
        sums = Sums.zeros(self.shape, rest.size)
        loglik = stage_sums(
            X=rows.X,
            Z=rows.scale,
            w=self._nominal,
            y=sample.y,
            weights=sample.weights,
            offset=rows.offset,
            scale_offset=rows.scale_offset,
            theta=alpha,
            by=rest,
            link=link,
            backward=family.backward,
            second=information is None,
            **self._column_scales,
            **_limits(largest),
            # a stage has no information with the stage below
            **sums._replace(pairs=sums.pairs[0])._asdict(),
        )
        if math.isnan(loglik):
            return None
        return sums.evaluation(loglik, information)

    @cached_property
    def _has_level_scores(self) -> bool:
        """Whether the rows go through the pass over scores of levels."""
        rows = self.sample.rows
        one_scale = rows.scale is None and rows.scale_offset is None
        few = self.sample.n_levels <= MOST_SCORED_LEVELS
        fixed = self.flexible is None
        return self.family.level_scores is not None and one_scale and few and fixed

    def _compiled_levels(self, x: FloatArray, information: Blocks | None) -> Evaluation:
        """The sums over rows whose levels have scores."""
        T, m = self.shape
        theta, by = self._parted(x)
        p = by.size
        alpha = np.zeros((T, m))
        pairs = np.zeros((T * (T + 1) // 2, m * (m + 1) // 2))
        cross = np.zeros((T, m, p))
        rest = np.zeros(p)
        gram = np.zeros((p, p))
        sample = self.sample
        loglik = level_sums(
            X=sample.rows.X,
            w=self._nominal,
            y=sample.y,
            weights=sample.weights,
            offset=sample.rows.offset,
            theta=theta,
            by=by,
            summed=self.family.level_scores is LevelScores.SUMS,
            alpha=alpha,
            pairs=pairs,
            cross=cross,
            rest=rest,
            gram=gram,
            second=information is None,
            **self._column_scales,
        )
        if information is None:
            information = Blocks(
                diagonal=_of_pairs(pairs, T, m)[None],
                below=np.zeros((0, T * m, T * m)),
                cross=cross.reshape(1, T * m, p),
                rest=gram,
            )
        score = np.concatenate([alpha.reshape(-1), rest])
        return Evaluation(loglik, score, information)

    @cached_property
    def _stages(self) -> list[LikelihoodRows]:
        """The binary model of each stage, for the rows that reach it.

        Rows are sorted by how many stages they reach, so that those of a stage are a
        slice without a copy.
        """
        count = self.shape[0]
        family = stages_of(self.family)
        reached = family.reached(self.sample.y, count)
        order = np.argsort(-reached.sum(axis=0), kind="stable")
        ordered = self.sample.take(order)
        stages = []
        for stage in range(count):
            part = ordered.take(slice(0, int(reached[stage].sum())))
            higher = (part.y > stage).astype(np.intp)
            rows = replace(part, y=higher, n_levels=2)
            stages.append(replace(self, sample=rows, family=family.of_a_stage()))
        return stages

    def _by_stages(
        self, x: FloatArray, information: Blocks | None
    ) -> Evaluation | None:
        """The sum over the stages, each with a threshold (and nominal effects on it) of
        its own.
        """
        alpha, rest = self._parted(x)
        parts = []
        for own, stage in zip(alpha, self._stages, strict=True):
            part = stage.evaluate(np.concatenate([own, rest]), information)
            if part is None:
                return None
            parts.append(part)
        m = self.shape[1]
        scores = [part.score[:m] for part in parts]
        total = np.concatenate([*scores, sum(part.score[m:] for part in parts)])
        if information is None:
            information = Blocks(
                diagonal=np.concatenate([part.information.diagonal for part in parts]),
                below=np.zeros((len(parts) - 1, m, m)),
                cross=np.concatenate([part.information.cross for part in parts]),
                rest=np.sum([part.information.rest for part in parts], axis=0),
            )
        return Evaluation(sum(part.loglik for part in parts), total, information)

    @cached_property
    def _patterns(self) -> tuple[FloatArray, IntArray] | None:
        """(G, m) distinct rows of the nominal columns, and the index of each row; None
        if there are many.
        """
        nominal = self.sample.rows.nominal
        if nominal is None:
            return None
        # roots of whole numbers seldom give different rows the same number
        key = nominal @ np.sqrt(np.arange(2.0, nominal.shape[1] + 2.0))
        if np.unique(key[: 4 * _PATTERNS]).size > _PATTERNS:
            return None
        _, first, codes = np.unique(key, return_index=True, return_inverse=True)
        if first.size > _PATTERNS or not np.array_equal(nominal[first][codes], nominal):
            return None
        return self.model_rows(first).w, codes.astype(np.intp)

    @cached_property
    def _by_row(self) -> dict[str, Any]:
        """Arrays with a value for each row, or None, by their names in
        `interval_sums`.
        """
        sample = self.sample
        rows = sample.rows
        w = None
        codes = None
        if self._patterns is not None:
            codes = self._patterns[1]
        elif rows.nominal is not None:
            w = self.model_rows(slice(None)).w
        level, open_end = _one_ended(sample)
        weights = sample.weights
        if sample.silent().any():
            weights = np.where(sample.silent(), 0.0, sample.case_weights)
        return {
            "X": rows.X,
            "Z": rows.scale,
            "w": w,
            "pattern": codes,
            "y": level,
            "open_end": open_end,
            "weights": weights,
            "offset": rows.offset,
            "scale_offset": rows.scale_offset,
        }

    @cached_property
    def _column_scales(self) -> dict[str, FloatArray]:
        """Means (0 of log-scale columns) and inverse deviations of the columns, by
        their names in the compiled passes.
        """
        deviation = np.concatenate([self.location.deviation, self.scale.deviation])
        mean = np.append(self.location.mean, np.zeros(self.scale.mean.size))
        return {"mean": mean, "inverse": 1.0 / deviation}

    @property
    def has_scores(self) -> bool:
        """Whether the rows have `scores`."""
        return self._compiles and self.flexible is None

    def scores(self, x: FloatArray) -> tuple[float, FloatArray] | None:
        """The log-likelihood at x, and (4, N) derivatives of every row's
        log-probability, times its weight, by theta_y, theta_{y-1}, H and tau.

        None outside the domain, or if the model needs `_by_terms`.
        """
        if not self.has_scores:
            return None
        scores = np.zeros((4, self.sample.n))
        found = self._sums(x, float(np.abs(x).max()), False, scores)
        return None if found is None else (found[0], scores)

    def _compiled(
        self, x: FloatArray, largest: float, information: Blocks | None
    ) -> Evaluation | None:
        second = information is None
        found = self._sums(x, largest, second)
        if found is None:
            return None
        loglik, sums = found
        if self._patterns is not None:
            sums = self._over_patterns(sums, second)
        return sums.evaluation(loglik, information)

    def _sums(
        self,
        x: FloatArray,
        largest: float,
        second: bool,
        scores: FloatArray | None = None,
    ) -> tuple[float, Sums] | None:
        """The log-likelihood and the sums over the rows; None outside the domain.

        Without `second` only scores are summed. Those of the rows are written to
        `scores` (4, N).
        """
        alpha, rest = self._parted(x)
        theta = alpha
        step = alpha.copy()
        step[1:] -= alpha[:-1]
        # until the sums are complete every pattern has separate thresholds
        if self._patterns is not None:
            w = self._patterns[0]
            theta = (w @ theta.T).reshape(-1, 1)
            step = (w @ step.T).reshape(-1, 1)
        given: dict[str, Any] = {
            "last": self.shape[0],
            "theta": theta,
            "step": step,
            "by": rest,
            "second": second,
            **self._column_scales,
            **_limits(largest),
        }
        link = _COMPILED.get(self.family.link.name)
        if link is not None:
            sums = Sums.zeros(theta.shape, rest.size, second)
            loglik = interval_sums(
                **self._by_row,
                **given,
                **sums._asdict(),
                link=link,
                parts=None,
                scores=scores,
            )
            if not math.isnan(loglik):
                return loglik, sums
        sums = Sums.zeros(theta.shape, rest.size, second)
        loglik = 0.0
        for some in row_blocks(self.sample.n, room=_CHUNK):
            parts = self._intervals(some, x)
            if parts is None:
                return None
            part = {
                name: None if array is None else array[some]
                for name, array in self._by_row.items()
            }
            into = None if scores is None else np.zeros((4, some.stop - some.start))
            loglik += interval_sums(
                **part, **given, **sums._asdict(), link=0, parts=parts, scores=into
            )
            if scores is not None:
                scores[:, some] = into
        return loglik, sums

    def _over_patterns(self, sums: Sums, second: bool) -> Sums:
        """Sums by threshold and nominal column, from those by pattern and threshold."""
        assert self._patterns is not None
        w = self._patterns[0]
        shape = (len(w), self.shape[0])
        alpha = np.einsum("gk,gm->km", sums.alpha.reshape(shape), w)
        if not second:
            return sums._replace(alpha=alpha)
        pairs = sums.pairs.reshape(2, *shape)
        cross = sums.cross.reshape(*shape, sums.rest.size)
        return sums._replace(
            alpha=alpha,
            pairs=np.einsum("sgk,gm,gl->skml", pairs, w, w),
            cross=np.einsum("gkq,gm->kmq", cross, w),
        )

    def _intervals(self, some: slice, x: FloatArray) -> FloatArray | None:
        """(8, n) log p and its derivatives of some of the rows; None outside the
        domain.
        """
        predictor = self.predictor(self.model_rows(some), x)
        if not inside(predictor, x[self.layout.of_location]):
            return None
        u, lo, d = predictor.ends(self.sample.answers[..., some])
        if not np.all(d > 0.0):
            return None
        interval = self.family.link.interval(u, lo, d)
        return np.stack([getattr(interval, field.name) for field in fields(Interval)])

    def _by_terms(self, x: FloatArray, information: Blocks | None) -> Evaluation | None:
        layout = self.layout
        weights = self.sample.case_weights
        second = information is None
        family = self.family
        if self.flexible is not None:
            family = family.at(self.flexible.at(float(x[-1])))
        order = layout.order_by_columns
        loglik = 0.0
        score = np.zeros(x.size)
        total = np.zeros((x.size, x.size))
        for some in row_blocks(self.sample.n, (layout.thresholds + 3) ** 2, _BUFFER):
            rows = self.model_rows(some)
            predictor = self.predictor(rows, x)
            if not inside(predictor, x[layout.of_location]):
                return None
            # minus infinity is outside the domain
            with np.errstate(over="ignore", invalid="ignore"):
                terms = row_terms(
                    family,
                    predictor,
                    self.sample.answers[..., some],
                    second,
                    layout.link > 0,
                )
                if terms is None:
                    return None
                jacobian = Jacobian(rows, terms.places, layout.by_columns)
                loglik += float(weights[some] @ terms.log_p)
                score += jacobian.total(terms.score * weights[some])
                if second:
                    total += jacobian.information(terms.second() * weights[some])
        back = np.argsort(order)
        if information is None:
            information = Blocks.of_dense(total[np.ix_(back, back)], layout.n_alpha)
        return Evaluation(loglik, score[back], information)


def _limits(largest: float) -> dict[str, float]:
    """The limits of a compiled pass: of 1 / spread, where the largest coefficient has
    this size, and of log scales.
    """
    return {
        "farthest": _FARTHEST / max(largest, 1e-300),
        "largest": LARGEST_LOG_SCALE,
    }


def _one_ended(sample: Sample) -> tuple[IntArray, IntArray | None]:
    """(N,) the level next to the finite end of each answer, and 1 where it has no upper
    end, -1 where it has no lower one, 0 for other answers; None if all are exact.
    """
    if sample.highest is None:
        return sample.y, None
    partial = ~sample.exact & ~sample.silent()
    above = partial & (sample.y > 0)
    below = partial & (sample.y == 0)
    level = np.where(below, sample.highest, sample.y)
    return level, above.astype(np.intp) - below.astype(np.intp)


def _of_pairs(pairs: FloatArray, thresholds: int, columns: int) -> FloatArray:
    """(T m, T m) the symmetric matrix of sums (T (T + 1) / 2, m (m + 1) / 2) by pairs
    of thresholds and of their columns.
    """
    low, high = np.triu_indices(thresholds)
    left, right = np.triu_indices(columns)
    by_columns = np.empty((low.size, columns, columns))
    by_columns[:, left, right] = pairs
    by_columns[:, right, left] = pairs
    out = np.empty((thresholds, thresholds, columns, columns))
    out[low, high] = by_columns
    out[high, low] = by_columns
    size = thresholds * columns
    return out.swapaxes(1, 2).reshape(size, size)
