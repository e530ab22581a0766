"""The maximisation problem of a fit: rows, columns and estimated parameters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from ..exceptions import DataError, OptionError
from ..formula.sample import Rows, Sample
from ..formula.sparse import in_place_of_dense, sparse_part
from ..judging.costs import CostMatrix
from ..newton import Blocks, Evaluation, Optimum
from .columns import NO_COLUMNS, ColumnScales, column_scales
from .family import Family
from .flexible import FlexibleLink
from .layout import Coefficients, Layout
from .links import Link
from .predictor import ModelRows
from .rows import LikelihoodRows
from .rule import LikelihoodRule
from .threshold_structure import Structure, ThresholdMap, threshold_map
from .user_scale import UserScale

#: Rows per parameter of plain cumulative models, and of others, which take longer per
#: row.
_MANY = 800
_MANY_TERMS = 200


@dataclass(frozen=True, eq=False, kw_only=True)
class Problem:
    """The objective, its columns, and the map to the user's parameters.

    Attributes
    ----------
    sample : Sample
        Rows of positive weight, codes of the levels present, columns without aliased
        ones.
    present : (K,) bool
        Levels of the original sample that have rows.
    location, nominal, scale : ColumnScales
        Centre and spread of the columns of the original sample.
    counts : (K',) weighted counts of the levels present, see `Sample.counts`
    family : Family
    flexible : FlexibleLink or None
        The family of links if its parameter is estimated; the search begins at the link
        of `family`.
    structure : ThresholdMap or None
        Structure of the thresholds between the levels present.
    confounded : tuple of int
        Indices, among all parameters, of log-scale effects and lambda that are left
        out, as cell probabilities do not determine them. Such a lambda keeps its
        starting value.
    n_lambda : int
        1 if the link has a parameter that the user did not fix, whether estimated or
        confounded.
    used : (N,) or None
        Positions of the rows in the original sample; None if all have a positive
        weight.
    """

    sample: Sample
    present: BoolArray
    location: ColumnScales
    nominal: ColumnScales
    scale: ColumnScales
    counts: FloatArray
    family: Family
    flexible: FlexibleLink | None = None
    structure: ThresholdMap | None = None
    confounded: tuple[int, ...] = ()
    n_lambda: int
    used: IntArray | None = None

    @classmethod
    def of(
        cls,
        sample: Sample,
        family: Family,
        flexible: FlexibleLink | None = None,
        threshold: Structure = "flexible",
        columns: tuple[ColumnScales, ColumnScales] | None = None,
        ridge: bool = False,
    ) -> Problem:
        """The problem of a sample, with the parameter of a `flexible` link, if given.

        `columns` are the scales of the nominal and location columns together, and of
        the log-scale columns, if known. With `ridge` no column that varies is aliased.

        Raises
        ------
        DataError
            Fewer than two levels have rows of positive weight, or fewer than a
            threshold structure needs.
        """
        used = None
        if sample.weights is not None and not np.all(sample.weights > 0.0):
            used = np.flatnonzero(sample.weights > 0.0)
            sample = sample.take(used)
        counts = sample.counts()
        present = counts > 0.0
        if present.sum() < 2:
            raise DataError(
                f"The response must have rows in at least two levels; all {sample.n}"
                " rows of positive weight are in one. Give it rows of another level."
            )
        sample = sample.among(present)
        rows = sample.rows
        both, scale = columns or _scales_of(rows, sample.weights, ridge)
        ordered = sample.smooths is not None or sample.stepped is not None
        if ordered and columns is None:
            both = _scales_with_penalised_kept(sample)
        q = 0 if rows.nominal is None else rows.nominal.shape[1]
        nominal = both.part(slice(0, q))
        location = both.part(slice(q, None))
        kept: dict[str, Any] = {"X": kept_columns(rows.X, location.kept)}
        if rows.nominal is not None:
            kept["nominal"] = kept_columns(rows.nominal, nominal.kept)
        if rows.scale is not None:
            log_scale = None
            if scale.kept.any():
                log_scale = kept_columns(rows.scale, scale.kept)
            kept["scale"] = log_scale
        if any(matrix is not getattr(rows, name) for name, matrix in kept.items()):
            sample = replace(sample, rows=replace(rows, **kept))
        return cls(
            sample=sample,
            present=present,
            location=location,
            nominal=nominal,
            scale=scale,
            counts=counts[present],
            family=(
                family if flexible is None else family.at(flexible.at(flexible.start))
            ),
            flexible=flexible,
            structure=threshold_map(threshold, sample.n_levels - 1),
            n_lambda=int(flexible is not None),
            used=used,
        )

    # Other problems

    def without(self, lost: list[int]) -> Problem:
        """The problem without parameters that cannot be determined."""
        of_scale = self.layout.of_scale
        places = np.arange(self.n_parameters)
        left = np.isin(places[of_scale], lost, invert=True)
        kept = self.scale.kept.copy()
        kept[kept] = left
        rows = self.sample.rows
        if rows.scale is not None:
            rows = replace(
                rows, scale=kept_columns(rows.scale, left) if left.any() else None
            )
        return replace(
            self,
            sample=replace(self.sample, rows=rows),
            scale=replace(self.scale, kept=kept),
            flexible=None if of_scale.stop in lost else self.flexible,
            confounded=tuple(np.flatnonzero(self.estimated)[lost].tolist()),
        )

    def without_scale(self) -> Problem:
        """The problem without log-scale effects."""
        rows = replace(self.sample.rows, scale=None)
        return replace(self, sample=replace(self.sample, rows=rows), scale=NO_COLUMNS)

    def without_effects(self) -> Problem:
        """The problem with thresholds and offsets only."""
        rows = replace(
            self.sample.rows, X=np.zeros((self.sample.n, 0)), nominal=None, scale=None
        )
        sample = replace(self.sample, rows=rows)
        none = NO_COLUMNS
        return replace(self, sample=sample, location=none, nominal=none, scale=none)

    def of_rows(self, index: IntArray | slice) -> Problem | None:
        """The problem for a part of the rows; None if they lack a level."""
        part = self.sample.take(index)
        counts = part.counts()
        if np.all(counts > 0.0):
            return replace(self, sample=part, counts=counts)
        return None

    def at_link(self, link: Link) -> Problem:
        """The problem with another link, whose parameter is fixed."""
        return replace(self, family=self.family.at(link), flexible=None)

    def family_at(self, lam: float) -> Family:
        """The family with this parameter of its link, if that is estimated."""
        if self.flexible is None:
            return self.family
        return self.family.at(self.flexible.at(lam))

    @property
    def part_in_memory(self) -> Problem | None:
        """The problem of the rows held in memory, if the others are in blocks; else
        None.
        """
        return None

    @property
    def in_blocks(self) -> bool:
        """Whether rows are in blocks, so that only a part of them is in memory."""
        return self.part_in_memory is not None

    # The likelihood

    #: Whether the predictors are linear in the parameters, without log-scale effects.
    linear: ClassVar[bool] = True

    @cached_property
    def rows(self) -> LikelihoodRows:
        """The log-likelihood in all thresholds and effects."""
        return LikelihoodRows(
            sample=self.sample,
            location=self.location.part(self.location.kept),
            nominal=self.nominal.part(self.nominal.kept),
            scale=self.scale.part(self.scale.kept),
            family=self.family,
            flexible=self.flexible,
        )

    def evaluate(
        self, x: FloatArray, information: Blocks | None = None, /
    ) -> Evaluation | None:
        """The log-likelihood in the parameters that are estimated
        [newton.Objective].
        """
        if self.structure is None:
            return self.rows.evaluate(x, information)
        at = self.rows.evaluate(self.full(x))
        return None if at is None else at.along(self.expansion, self.user.n_alpha)

    def runs_away(self, optimum: Optimum) -> bool:
        """Whether estimates are infinite, if predictors are not linear in the
        parameters; for linear ones `recession` finds the directions.
        """
        return False

    def full(self, x: FloatArray) -> FloatArray:
        """(F,) all thresholds and effects, in the coordinates of `rows`."""
        return x if self.structure is None else self.expansion @ x

    @cached_property
    def expansion(self) -> FloatArray:
        """(F, P) from the parameters of a threshold structure to all thresholds and
        effects.

        alpha~_k = sum_t J_kt a_t + A_0 rest: the second term undoes the centring of the
        location columns where the structure cannot absorb it (symmetric2, whose
        thresholds cannot move together), else it is 0.
        """
        n = self.counts.size - 1
        user = self.user
        if self.structure is None:
            return np.eye(n * user.G.shape[0] + user.scale.size)
        t, m = user.shape
        q = user.scale.size
        out = np.zeros((n * m + q, t * m + q))
        out[: n * m, : t * m] = np.kron(self.structure.jacobian, np.eye(m))
        if not user.c.any():
            out[: n * m, t * m :] = np.tile(-np.linalg.solve(user.G, user.A), (n, 1))
        out[n * m :, t * m :] = np.eye(q)
        return out

    @property
    def many_rows(self) -> bool:
        """Whether rough steps on a part of the rows are cheap compared with a pass over
        all rows.
        """
        compiled = (
            self.family.local
            or self.family.stages is not None
            or self.family.level_scores is not None
        )
        plain = compiled and self.flexible is None and self.sample.rows.one_scale
        return self.sample.n >= (_MANY if plain else _MANY_TERMS) * self.n_parameters

    def quantiles(self) -> FloatArray:
        """(K'-1,) predictors at which the levels have their shares.

        Raises
        ------
        DataError
            A link with a parameter has no finite quantile at a share, or equal
            quantiles at different shares.
        """
        theta = self.family.start(self.counts / self.counts.sum())
        link = self.family.link
        if link.lam is None:
            return theta
        count = self.counts.size
        even = self.family.start(np.full(count, 1.0 / count))  # as `recession` has them
        finite = np.isfinite(theta).all() and np.isfinite(even).all()
        apart = (theta[1:] > theta[:-1]).all() and (even[1:] > even[:-1]).all()
        if not finite or (self.family.ordered and not apart):
            raise DataError(
                f"link=({link.name!r}, {link.lam:g}) must have finite quantiles at the"
                " cumulative shares of the levels, each its own; they overflow or"
                " coincide. Use a lambda nearer to 0, or another link."
            )
        return theta

    def start(self) -> FloatArray:
        """Thresholds at (or near) the quantiles of the cumulative shares, moved by the
        mean offsets; all effects 0.
        """
        rows = self.sample.rows
        weights = self.sample.weights
        theta = self.quantiles()
        if rows.scale_offset is not None:
            theta = theta * np.exp(np.average(rows.scale_offset, weights=weights))
        if rows.offset is not None:
            theta = theta + np.average(rows.offset, weights=weights)
        if self.structure is not None:
            theta = self.structure.near(theta, self.family.ordered)
        x = np.zeros(self.n_parameters)
        m = self.user.G.shape[0]
        x[: theta.size * m : m] = theta
        if self.flexible is not None:
            x[-1] = self.flexible.start
        return x

    # Parameters

    @cached_property
    def user(self) -> UserScale:
        """The map to the user's parameters, for the columns kept."""
        location = self.rows.location
        nominal = self.rows.nominal
        scale = self.rows.scale
        m = 1 + nominal.mean.size
        p = location.mean.size
        r = scale.mean.size + int(self.flexible is not None)
        G = np.diag(np.append(1.0, 1.0 / nominal.deviation))
        A = np.zeros((m, p + r))
        c = np.ones(self.counts.size - 1)
        G[0, 1:], A[0, :p] = (
            -nominal.mean / nominal.deviation,
            location.mean / location.deviation,
        )
        if self.structure is not None:
            intercept = self.structure.intercept
            if intercept is None:
                c = np.zeros(self.structure.jacobian.shape[1])
            else:
                c = intercept
        scales = [
            location.deviation,
            scale.deviation,
            np.ones(int(self.flexible is not None)),
        ]
        return UserScale(G, A, np.concatenate(scales), c)

    @cached_property
    def layout(self) -> Layout:
        """The blocks of the estimated parameters on the user's scale."""
        thresholds, columns = self.user.shape
        return Layout(
            thresholds=thresholds,
            columns=columns,
            location=int(self.location.kept.sum()),
            scale=int(self.scale.kept.sum()),
            link=int(self.flexible is not None),
        )

    @property
    def solver_layout(self) -> Layout:
        """The blocks of the solver's coordinates."""
        return replace(self.layout, by_threshold=True)

    @cached_property
    def n_parameters(self) -> int:
        """Number of estimated parameters."""
        return self.layout.size

    def from_user(self, values: FloatArray) -> FloatArray:
        """Coordinates from the parameters on the user's scale, in their order.

        Raises
        ------
        OptionError
            The number of values differs from the number of parameters.
        """
        if values.size != self.n_parameters:
            raise OptionError(
                f"start must have {self.n_parameters} values, one for each estimated"
                f" parameter ({self.user.n_alpha} of the thresholds, then"
                f" {self.user.scale.size} others); got {values.size}."
            )
        return self.user.coordinates(values)

    @cached_property
    def estimated(self) -> BoolArray:
        """(P,) parameters that are not aliased, among all."""
        if self.structure is not None:
            thresholds = np.ones(len(self.structure.names), dtype=bool)
        else:  # thresholds next to a level without rows are not estimated
            thresholds = self.family.estimated_thresholds(self.present)
        alpha = np.append(True, self.nominal.kept)[:, None] & thresholds
        lam = np.full(self.n_lambda, self.flexible is not None)
        return np.concatenate(
            [alpha.reshape(-1), self.location.kept, self.scale.kept, lam]
        )

    def with_aliased(self, values: FloatArray) -> FloatArray:
        """(P,) estimates among all parameters, NaN where not estimated."""
        out = np.full(self.estimated.size, np.nan)
        out[self.estimated] = values
        return out

    def over_levels(self, values: FloatArray, outside: float) -> FloatArray:
        """(K-1, ...) values for all thresholds, from those between levels present;
        `outside` with its sign for infinite thresholds.

        Between levels with rows, a finite threshold next to an empty level equals the
        previous one.
        """
        below = np.cumsum(self.present)[:-1]  # levels with rows up to each threshold
        bottom, top = self.family.infinite_thresholds(self.present)
        finite = ~bottom & ~top
        full = np.zeros((below.size, values.shape[1]))
        full[finite] = values[below[finite] - 1]
        full[bottom, 0] = -outside
        full[top, 0] = outside
        return full

    def flexible_parameters(
        self, estimates: FloatArray
    ) -> tuple[Coefficients, Layout, FloatArray | None]:
        """All thresholds and effects from estimates on the user's scale, their layout,
        and the (F, P) derivatives, if these are not the estimates themselves.
        """
        at = self.layout.split(estimates)
        if self.structure is None:
            return at, self.layout, None
        jacobian = self.structure.jacobian
        at = at._replace(alpha=jacobian @ at.alpha)
        layout = replace(self.layout, thresholds=len(at.alpha))
        return at, layout, self.layout.expansion(jacobian)

    @property
    def model_rows(self) -> ModelRows:
        """The columns that belong to `flexible_parameters`."""
        return ModelRows.of(self.sample.rows)

    def of_all_columns(self, estimates: FloatArray) -> Coefficients:
        """Estimates on the user's scale with an effect for every column, 0 for aliased
        ones.
        """
        at = self.layout.split(estimates)
        beta = np.zeros(self.location.kept.size)
        zeta = np.zeros(self.scale.kept.size)
        beta[self.location.kept] = at.beta
        zeta[self.scale.kept] = at.zeta
        return at._replace(beta=beta, zeta=zeta)

    def rule_slopes(self, estimates: FloatArray) -> FloatArray | None:
        """(F, P) derivatives of the parameters of the rule by the coefficients of a
        fit, if predictors are not linear in these.
        """
        return None

    def rule(
        self,
        estimates: FloatArray,
        family: Family,
        cost: CostMatrix,
        effects: tuple[FloatArray, ...] = (),
    ) -> LikelihoodRule:
        """The rule over all K levels and all columns, aliased effects 0, from estimates
        on the user's scale.
        """
        at = self.of_all_columns(estimates)
        thresholds = at.alpha
        if self.structure is not None:
            thresholds = self.structure.jacobian @ at.alpha
        full = np.zeros((self.present.size - 1, 1 + self.nominal.kept.size))
        full[:, np.append(True, self.nominal.kept)] = self.over_levels(
            thresholds, np.inf
        )
        return LikelihoodRule(
            family=family,
            alpha=full,
            beta=at.beta,
            zeta=at.zeta,
            cost=cost,
            effects=effects,
        )


def _scales_of(
    rows: Rows, weights: FloatArray | None, ridge: bool
) -> tuple[ColumnScales, ColumnScales]:
    """Means and deviations of the nominal and location columns together, and of the
    log-scale columns.
    """
    wide = rows.X if rows.nominal is None else np.hstack([rows.nominal, rows.X])
    if sparse_part(wide) is None:
        wide = np.ascontiguousarray(wide)
    both = column_scales(wide, weights, ridge)
    if rows.scale is None:
        return both, NO_COLUMNS
    return both, column_scales(rows.scale, weights, ridge)


def _scales_with_penalised_kept(sample: Sample) -> ColumnScales:
    """Means and deviations of the nominal and location columns. The columns of smooths
    and of ordered predictors are all kept, as penalties or limits determine them.

    Those of one smooth have one deviation: beside an outlier some functions hardly
    vary, and in units of their own the penalty would lose its digits.
    """
    smooths = [block.columns for block in sample.smooths or ()]
    stepped = [own.columns for own in sample.stepped or ()]
    columns = np.concatenate([*smooths, *stepped])
    rows = sample.rows
    both, _ = _scales_of(rows, sample.weights, ridge=True)
    parametric = replace(rows, X=np.delete(rows.X, columns, axis=1))
    others, _ = _scales_of(parametric, sample.weights, ridge=False)
    first = both.kept.size - rows.X.shape[1]
    kept = np.ones(both.kept.size, dtype=bool)
    kept[np.delete(np.arange(kept.size), first + columns)] = others.kept
    deviation = both.deviation.copy()
    for own in smooths:
        of_block = np.where(both.kept[first + own], deviation[first + own], 0.0)
        deviation[first + own] = np.sqrt(np.mean(of_block**2))
    return replace(both, deviation=deviation, kept=kept)


def kept_columns(matrix: FloatArray, kept: BoolArray) -> FloatArray:
    """The kept columns, C-contiguous; the matrix itself where all are kept."""
    sparse = sparse_part(matrix)
    if sparse is not None:
        return in_place_of_dense(sparse.among(kept))
    return np.ascontiguousarray(matrix if kept.all() else matrix[:, kept])
