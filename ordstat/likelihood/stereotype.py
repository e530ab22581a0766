"""Stereotype models: log(P(y = k) / P(y = 0)) = g_k + phi_k x'beta, with phi = 1 for
the highest level [Anderson 1984].

The rows are those of a multinomial logit whose effects b_k = phi_k beta have rank 1.
With F the parameters of the multinomial, J = dF / d(g, beta, phi), U and A its score
and information, the score is J'U and the information

  J'AJ - sum_i U_i d2F_i,     d2(b_kj) / dphi_k dbeta_j = 1.

The solver has the centred and scaled columns of the multinomial: alpha~_k is the
intercept at the means, m = mean / deviation, and g_k = alpha~_k - phi_k m'b~. Where m
is large this product makes g and phi collinear. The coordinates are g_k + c_k m'b~ +
phi_k m'b0, with c and b0 near the estimates of phi and b~: the map to the user's
parameters is linear, and alpha~_k - coordinate = (phi_k - c_k) m'b~ - phi_k m'b0 moves
little.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar, cast

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from ..formula.sample import Rows
from ..judging.costs import CostMatrix
from ..newton import Blocks, Evaluation, Optimum
from .adjacent import Adjacent
from .columns import NO_COLUMNS
from .family import Family
from .layout import Coefficients, Layout
from .predictor import ModelRows
from .problem import Problem
from .rows import LikelihoodRows
from .rule import LikelihoodRule
from .separation import recession, suspicious
from .start import follow, starting_values
from .user_scale import UserScale

#: Newton steps towards the estimates before the fit begins, and towards infinite ones.
_STEPS = 30
_MANY_STEPS = 100


def by_level(rows: Rows) -> Rows:
    """The same rows with their location columns as nominal ones."""
    return replace(rows, nominal=rows.X, X=rows.X[:, :0])


def even_scores(count: int) -> FloatArray:
    """(K-1,) equally spaced scores of the levels above the lowest, up to 1."""
    return np.arange(1.0, count + 1.0) / count


@dataclass(frozen=True, eq=False, kw_only=True)
class StereotypeRule(LikelihoodRule):
    """The rule of a multinomial logit with effects of rank 1.

    `alpha` has the intercepts g and the products phi_k beta; `beta` is used for the
    scores.
    """

    @property
    def layout(self) -> Layout:
        thresholds, columns = self.alpha.shape
        return Layout(thresholds=thresholds, columns=columns)

    @property
    def score_places(self) -> IntArray:
        """beta is the effects on the highest level."""
        thresholds, columns = self.alpha.shape
        highest = np.flatnonzero(np.isfinite(self.alpha[:, 0]))[-1]
        return np.asarray(np.arange(1, columns) * thresholds + highest)

    def model_rows(self, rows: Rows) -> ModelRows:
        return ModelRows.of(by_level(rows))

    def _location(self, rows: Rows, scores: FloatArray | None) -> FloatArray:
        return np.zeros(rows.n)


@dataclass(frozen=True, eq=False)
class StereotypeScale(UserScale):
    """The map to g, beta and phi.

    Attributes
    ----------
    by_rest : (K-1, q)
        Change of g with beta~ and phi, in place of c and A.
    """

    by_rest: FloatArray

    def alpha_shift(self, rest: FloatArray) -> FloatArray:
        return (self.by_rest @ rest)[:, None]

    def alpha_shift_transposed(self, by_column: FloatArray) -> FloatArray:
        return np.asarray(self.by_rest.T @ by_column[0])

    def absolute(self) -> UserScale:
        scale = np.abs(self.scale)
        return StereotypeScale(self.G, self.A, scale, self.c, np.abs(self.by_rest))


@dataclass(frozen=True, eq=False, kw_only=True)
class StereotypeProblem(Problem):
    """The likelihood in g (K-1,), beta (p,) and phi of the levels between the lowest
    and the highest (K-2,).

    Attributes
    ----------
    near : (P',) or None
        User's parameters near the estimates. Without them g are the intercepts at the
        means of the columns.
    """

    near: FloatArray | None = None

    linear: ClassVar[bool] = False

    @classmethod
    def of(cls, *args: Any, steps: int = _STEPS, **named: Any) -> Problem:
        """As `Problem.of`, after some Newton steps towards the estimates."""
        plain = Problem.of(*args, **named)
        given = {f.name: getattr(plain, f.name) for f in fields(Problem)}
        given["n_lambda"] = plain.counts.size - 2
        centred = cls(**given)
        begin = centred._equally_spaced(plain, steps)
        reached = follow(centred, begin, steps).x
        return replace(centred, near=centred._at_0(reached))

    def _at_0(self, x: FloatArray) -> FloatArray:
        """(P',) user's parameters, with the intercepts at 0 of the columns, from
        coordinates without `near`.
        """
        at = self.layout.split(self.user.coefficients(x))
        means = self.rows.nominal.mean
        g = at.alpha[:, 0] - self._phi(at) * (means @ at.beta)
        return np.concatenate([g, at.beta, at.lam])

    @cached_property
    def rows(self) -> LikelihoodRows:
        rows = by_level(self.sample.rows)
        return LikelihoodRows(
            sample=replace(self.sample, rows=rows),
            location=NO_COLUMNS,
            nominal=self.location.part(self.location.kept),
            scale=NO_COLUMNS,
            family=self.family,
            flexible=None,
        )

    @property
    def many_rows(self) -> bool:
        return False

    @cached_property
    def layout(self) -> Layout:
        count = int(self.location.kept.sum())
        return Layout(
            thresholds=self.counts.size - 1,
            columns=1,
            location=count,
            link=self.n_lambda if count else 0,
        )

    @cached_property
    def user(self) -> UserScale:
        columns = self.rows.nominal
        count = self.layout.thresholds
        scale = np.append(columns.deviation, np.ones(self.layout.link))
        by_rest = np.zeros((count, scale.size))
        if self.near is not None:
            at = self.layout.split(self.near)
            by_rest[:, : at.beta.size] = -np.outer(self._phi(at), self._means)
            free = np.arange(at.lam.size)
            by_rest[free, at.beta.size + free] = -columns.mean @ at.beta
        A = np.zeros((1, scale.size))
        return StereotypeScale(np.eye(1), A, scale, np.ones(count), by_rest)

    @cached_property
    def _means(self) -> FloatArray:
        """(p,) m, 0 where the intercepts are at the means."""
        columns = self.rows.nominal
        if self.near is None:
            return np.zeros(columns.mean.size)
        return columns.mean / columns.deviation

    @cached_property
    def estimated(self) -> BoolArray:
        free = np.full(self.n_lambda, self.layout.link > 0)
        thresholds = self.family.estimated_thresholds(self.present)
        return np.concatenate([thresholds, self.location.kept, free])

    def evaluate(
        self, x: FloatArray, information: Blocks | None = None, /
    ) -> Evaluation | None:
        at = self.rows.evaluate(self.full(x), information)
        if at is None:
            return None
        jacobian = self._slopes(x)
        score = jacobian.T @ at.score
        if information is not None:
            return Evaluation(at.loglik, score, information)
        dense = jacobian.T @ at.information.dense() @ jacobian
        layout = self.layout
        by_effects = at.score.reshape(layout.thresholds, -1)
        mixed = np.outer(by_effects[:, 0], self._means) + by_effects[:, 1:]
        mixed = mixed[: layout.link]
        effects = layout.of_location
        scores = slice(effects.stop, effects.stop + layout.link)
        dense[scores, effects] -= mixed
        dense[effects, scores] -= mixed.T
        return Evaluation(at.loglik, score, Blocks.of_dense(dense, layout.n_alpha))

    def full(self, x: FloatArray) -> FloatArray:
        at = self.layout.split(x)
        phi = self._phi(at)
        g = at.alpha[:, 0] + self.user.alpha_shift(x[phi.size :, None])[:, 0, 0]
        intercepts = g + phi * (self._means @ at.beta)
        return np.column_stack([intercepts, np.outer(phi, at.beta)]).reshape(-1)

    def _phi(self, at: Coefficients) -> FloatArray:
        """(K-1,) scores of the levels above the lowest."""
        if not at.lam.size:
            return even_scores(len(at.alpha))
        return np.append(at.lam, 1.0)

    def _slopes(self, x: FloatArray) -> FloatArray:
        """(F, P) derivatives of `full`, whose coefficients stand level by level."""
        at = self.layout.split(x)
        phi = self._phi(at)
        count = phi.size
        effects = self.layout.of_location
        out = np.zeros((count, 1 + at.beta.size, x.size))
        out[:, 0] = np.hstack([np.eye(count), cast(Any, self.user).by_rest])
        out[:, 0, effects] += np.outer(phi, self._means)
        out[:, 1:, effects] = phi[:, None, None] * np.eye(at.beta.size)
        for k in range(self.layout.link):
            out[k, 0, effects.stop + k] += self._means @ at.beta
            out[k, 1:, effects.stop + k] = at.beta
        return out.reshape(-1, x.size)

    def runs_away(self, optimum: Optimum) -> bool:
        """Whether the search ended far from 0, and the multinomial logit has no finite
        estimates either.
        """
        if not suspicious(optimum):
            return False
        wider = Problem(
            sample=self.rows.sample,
            present=self.present,
            location=NO_COLUMNS,
            nominal=self.location,
            scale=NO_COLUMNS,
            counts=self.counts,
            family=self.family,
            n_lambda=0,
        )
        reached = follow(wider, wider.start(), _MANY_STEPS, _MANY_STEPS).optimum
        return reached is None or recession(wider, reached) is not None

    def start(self) -> FloatArray:
        assert self.near is not None
        return self.from_user(self.near)

    def _equally_spaced(self, plain: Problem, steps: int) -> FloatArray:
        """(P',) coordinates without `near` of the adjacent-category logit, whose scores
        phi are equally spaced.
        """
        adjacent = replace(plain, family=Adjacent(plain.family.link))
        x = follow(adjacent, starting_values(adjacent, steps).x, steps).x
        at = adjacent.solver_layout.split(x)
        count = len(at.alpha)
        phi = even_scores(count)[: self.layout.link]
        intercepts = -np.cumsum(at.alpha[:, 0])
        return np.concatenate([intercepts, count * at.beta, phi])

    def flexible_parameters(
        self, estimates: FloatArray
    ) -> tuple[Coefficients, Layout, FloatArray | None]:
        return self._of_rank_one(self.layout.split(estimates))

    def _of_rank_one(self, at: Coefficients) -> tuple[Coefficients, Layout, FloatArray]:
        """The parameters of the multinomial on the user's scale, their layout, and
        their derivatives, column by column.
        """
        phi = self._phi(at)
        count = phi.size
        p = at.beta.size
        alpha = np.column_stack([at.alpha[:, 0], np.outer(phi, at.beta)])
        none = np.zeros(0)
        slopes = np.zeros((1 + p, count, count + p + at.lam.size))
        slopes[0, :, :count] = np.eye(count)
        for j in range(p):
            slopes[1 + j, :, count + j] = phi
            for k in range(at.lam.size):
                slopes[1 + j, k, count + p + k] = at.beta[j]
        layout = Layout(thresholds=count, columns=1 + p)
        whole = slopes.reshape(count * (1 + p), -1)
        return Coefficients(alpha, none, none, none), layout, whole

    @property
    def model_rows(self) -> ModelRows:
        return ModelRows.of(by_level(self.sample.rows))

    def rule_slopes(self, estimates: FloatArray) -> FloatArray | None:
        at = self.of_all_columns(estimates)
        thresholds = self.family.estimated_thresholds(self.present)
        effects = np.arange(1 + at.beta.size)
        used = self.estimated.copy()
        # aliased effects have slopes too
        used[thresholds.size : thresholds.size + at.beta.size] = True
        slopes = self._of_rank_one(at)[2]
        out = np.zeros((effects.size, thresholds.size, used.size))
        out[np.ix_(effects, thresholds, used)] = slopes.reshape(
            effects.size, thresholds.sum(), -1
        )
        return out.reshape(-1, used.size)

    def rule(
        self,
        estimates: FloatArray,
        family: Family,
        cost: CostMatrix,
        effects: tuple[FloatArray, ...] = (),
    ) -> LikelihoodRule:
        at = self.of_all_columns(estimates)
        of_levels = self._of_rank_one(at)[0].alpha
        alpha = self.over_levels(of_levels, np.inf)
        return StereotypeRule(
            family=family, alpha=alpha, beta=at.beta, zeta=at.zeta, cost=cost
        )
