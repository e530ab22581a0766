"""Predictions with random effects at their modes, at 0, or averaged over groups, with
derivatives.

The score of a row depends on the random effects through z'b ~ N(0, d^2), d^2 = sum_t
|x_t|^2, x_t = Lambda_t'z_t. The mean over groups is therefore an integral over a
standard normal v, and by the trapezoid rule a weighted sum over nodes. At a node the
row has no random effects but the additional offset d v, so the usual values, gradients
and derivatives along tangents apply. The derivative by Lambda_t[r, c] is the derivative
by the score times v z_tr x_tc / d; it is obtained from additional columns of X with
effects of 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._typing import FloatArray, IntArray
from ..checks import generator, one_of, whole
from ..exceptions import DataError, OptionError, warn
from ..fit import CostRule, least_expected
from ..formula.extrapolation import FarValues, tell_far
from ..formula.random_rows import RandomRows
from ..formula.random_terms import RandomTerm
from ..formula.sample import Rows
from ..inference.predictions import (
    bounds_of,
    check_has_errors,
    check_uncertainty,
    drawn_levels,
    known_errors,
    limits_of,
    noted_predictions,
    quantile_frame,
    quantiles_between,
    side_by_side,
)
from ..judging.costs import CostMatrix
from ..judging.decisions import Decision, decision, level_shares
from ..judging.response_numbers import Asked
from ..likelihood.derivatives import (
    QUANTITIES,
    Derived,
    Quantity,
    QuantityOfRows,
    averages,
    moved,
    quantity_of,
    score_errors,
    standard_errors,
    steps_along,
)
from ..likelihood.differences import five_points
from ..likelihood.fit import LikelihoodFit
from ..likelihood.links import Link
from ..likelihood.marginal import Marginal
from ..likelihood.row_predictions import (
    column_labels,
    inside_row_space,
    known_codes,
    known_values,
    labelled,
)
from ..likelihood.rule import LikelihoodRule
from ..likelihood.standard_errors import (
    TYPES_WITH_ERRORS,
    limits_between,
    logit_limits,
    predicted,
    rule_by_estimates,
    rule_covariance,
)
from ..likelihood.user_scale import CovarianceMatrix, CovarianceOperator
from ..predicting import known_type, unknown_type
from ..target import Target

if TYPE_CHECKING:
    from ..likelihood.results import LikelihoodResults


#: Range of the nodes in standard deviations; the mass beyond is 2e-17.
_REACH = 8.5
#: Nodes per standard deviation, times the steepness: the error of the rule is about
#: e^(-2 pi 5).
_NODES = 5.0
#: Distance of the nearest pole of the distribution from the real line; 1 for other
#: links.
_POLES = {"logit": np.pi, "probit": 2.0, "cloglog": np.pi / 2.0, "loglog": np.pi / 2.0}
#: Smallest steepness that is distinguished.
_FLAT = 0.4

#: Largest steepness; beyond it a variance has diverged.
_STEEPEST = 500.0


def steepness_blocks(
    link: Link, deviation: FloatArray
) -> Iterator[tuple[IntArray, float]]:
    """Rows in blocks of similar steepness, with the largest of each block, so that few
    rows need many nodes.

    Parameters
    ----------
    link : Link
    deviation : (n,)
        Standard deviations of the predictors; divided by the distance of the nearest
        pole they are the steepness.

    Raises
    ------
    DataError
        A standard deviation is in the hundreds or larger.
    """
    steep = deviation / _POLES.get(link.name, 1.0)
    if not steep.max(initial=0.0) <= _STEEPEST:
        raise DataError(
            "Averages over groups need random effects with a moderate standard"
            f" deviation; got {deviation.max():.3g}, where that of the link is about 1."
            " The variance has diverged, or a row is far from the others. Use"
            " re='zero', or re='mode' for groups of the fit."
        )
    blocks = np.ceil(np.log2(np.maximum(steep, _FLAT))).astype(int)
    for block in np.unique(blocks):
        chosen = np.flatnonzero(blocks == block)
        yield chosen, float(steep[chosen].max())


def normal_nodes(steep: float) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights of the trapezoid rule for means over a standard normal
    [Trefethen & Weideman 2014].

    Parameters
    ----------
    steep : float
        See `steepness_blocks`.
    """
    half = int(np.ceil(_REACH * max(2.0, _NODES * steep)))
    points = np.linspace(-_REACH, _REACH, 2 * half + 1)
    shares = np.exp(-0.5 * points**2)
    return points, shares / shares.sum()


@dataclass(frozen=True, eq=False)
class Predicted(CostRule):
    """Predictions of rows, by a rule alone or averaged over the distribution of the
    groups.

    Attributes
    ----------
    rule : LikelihoodRule
        Without random effects.
    factors : tuple of (q, q)
        Lambda of each random term; empty to use the rule alone.
    entries : tuple of ((m,), (m,))
        Rows and columns of each Lambda that are parameters.
    """

    rule: LikelihoodRule
    factors: tuple[FloatArray, ...] = ()
    entries: tuple[tuple[IntArray, IntArray], ...] = ()

    @property
    def n_phi(self) -> int:
        return sum(rows.size for rows, _ in self.entries)

    def averages(self, quantity: Quantity, rows: Rows, weights: FloatArray) -> Derived:
        """(M,) weighted sums over rows, and their Jacobian by the parameters of the
        rule and of the Lambdas.
        """
        if not self.factors:
            return averages(quantity, self.rule, rows, weights)
        values: Any = 0.0
        jacobian: Any = 0.0
        for at_node, index, share in self._nodes(rows):
            sums, by_parameters = averages(
                quantity, self._wider, at_node, share * weights[index]
            )
            values = values + sums
            jacobian = jacobian + by_parameters
        return values, self._in_order(jacobian)

    def each(self, quantity: Quantity, rows: Rows) -> Derived:
        """(n, M) values of the rows, and their Jacobian (n, M, F + m)."""
        if not self.factors:
            return QuantityOfRows(quantity, self.rule, rows).rows()
        outputs = len(quantity.factors(self.rule.n_levels - 1))
        values = np.zeros((rows.n, outputs))
        jacobian = np.zeros((rows.n, outputs, self._wider.n_parameters))
        for at_node, index, share in self._nodes(rows):
            value, gradient = QuantityOfRows(quantity, self._wider, at_node).rows()
            values[index] += share * value
            jacobian[index] += share * gradient
        return values, self._in_order(jacobian)

    def values(self, quantity: Quantity, rows: Rows) -> FloatArray:
        """(n, M) values of the rows, a part of the rows at a time."""
        if not self.factors:
            return quantity.values(self.rule, rows)
        values = np.zeros((rows.n, len(quantity.factors(self.rule.n_levels - 1))))
        for at_node, index, share in self._nodes(rows):
            values[index] += share * quantity.values(self._wider, at_node)
        return values

    def slope(
        self, quantity: Quantity, rows: Rows, tangent: Rows, weights: FloatArray
    ) -> Derived:
        """As `averages`, of the derivatives along a tangent of the rows, by five-point
        differences.
        """
        steps = self._steps(rows, tangent)
        values, jacobian = five_points(
            lambda k: self.averages(
                quantity, moved(rows, tangent, k * steps), weights / steps
            )
        )
        return values, jacobian

    def slopes(self, quantity: Quantity, rows: Rows, tangent: Rows) -> Derived:
        """As `each`, of the derivatives along a tangent."""
        steps = self._steps(rows, tangent)
        values, jacobian = five_points(
            lambda k: self.each(quantity, moved(rows, tangent, k * steps))
        )
        return values / steps[:, None], jacobian / steps[:, None, None]

    @property
    def n_levels(self) -> int:
        return self.rule.n_levels

    @property
    def cost(self) -> CostMatrix | Decision:
        return self.rule.cost

    def deciding(self, cost: CostMatrix | Decision) -> Predicted:
        return replace(self, rule=self.rule.deciding(cost))

    def scores(self, rows: Rows) -> FloatArray:
        """(N,) H without random effects."""
        return self.rule.scores(rows)

    def log_odds_above(
        self, rows: Rows, scores: FloatArray | None = None
    ) -> FloatArray:
        below = np.cumsum(self.probabilities(rows), axis=1)[:, :-1]
        return np.log1p(-below) - np.log(below)

    def probabilities(self, rows: Rows, scores: FloatArray | None = None) -> FloatArray:
        if not self.factors:
            return self.rule.probabilities(rows)
        out = np.zeros((rows.n, self.rule.n_levels))
        for at_node, index, share in self._nodes(rows):
            out[index] += share * self._wider.probabilities(at_node)
        return out

    @cached_property
    def _wider(self) -> LikelihoodRule:
        """The rule with an additional effect of 0 for each parameter of the Lambdas."""
        return replace(self.rule, beta=np.append(self.rule.beta, np.zeros(self.n_phi)))

    def _nodes(self, rows: Rows) -> Iterator[tuple[Rows, IntArray, float]]:
        """All rows at all nodes, as rows without random effects, their indices, and the
        weight of the node.
        """
        z, x = self._columns(rows)
        deviation = np.sqrt(
            np.asarray(sum(np.einsum("nq,nq->n", part, part) for part in x))
        )
        products = [
            columns[:, a] * moved_by[:, b]
            for columns, moved_by, (a, b) in zip(z, x, self.entries, strict=True)
        ]
        by_phi = (
            np.hstack(products) / np.where(deviation > 0.0, deviation, 1.0)[:, None]
        )
        steep = self.rule.predictor(rows).s * deviation
        given = np.zeros(rows.n) if rows.offset is None else rows.offset
        for index, most in steepness_blocks(self.rule.link, steep):
            some = rows.take(index)
            for point, share in zip(*normal_nodes(most), strict=True):
                X = np.hstack([some.X, point * by_phi[index]])
                offset = given[index] + point * deviation[index]
                yield (
                    replace(some, X=X, offset=offset, random=None),
                    index,
                    float(share),
                )

    def _steps(self, rows: Rows, tangent: Rows) -> FloatArray:
        """(n,) steps for derivatives along a tangent."""
        if not self.factors:
            return steps_along(self.rule, rows, tangent)
        further = sum(np.abs(x).sum(axis=1) for x in self._columns(tangent)[1])
        return steps_along(
            self.rule, rows, tangent, self.rule.predictor(rows).s * further
        )

    def _columns(self, rows: Rows) -> tuple[list[FloatArray], list[FloatArray]]:
        """z and x = z Lambda of every term."""
        assert rows.random is not None
        z = [term.z for term in rows.random.terms]
        return z, [
            columns @ Lambda for columns, Lambda in zip(z, self.factors, strict=True)
        ]

    def _in_order(self, jacobian: FloatArray) -> FloatArray:
        """(..., F + m) with the additional columns, which follow beta, at the end."""
        first = self.rule.alpha.size + self.rule.beta.size
        of_factors = slice(first, first + self.n_phi)
        return np.concatenate(
            [np.delete(jacobian, of_factors, axis=-1), jacobian[..., of_factors]],
            axis=-1,
        )


def over_groups(rule: LikelihoodRule, marginal: Marginal) -> Predicted:
    """Averages over the random effects of a fit.

    Raises
    ------
    OptionError
        The groups have different variances.
    """
    if not all(term.unit_diagonal for term in marginal.terms):
        raise OptionError(
            "cov must have ones on its diagonal for averages over the random effects,"
            " as groups have several variances otherwise. Use re='zero', or fit with K"
            " / K.iloc[0, 0] where all are the same."
        )
    factors, entries = (
        [getattr(term, name) for term in marginal.terms]
        for name in ("factor", "entries")
    )
    return Predicted(replace(rule, effects=()), tuple(factors), tuple(entries))


def over_population(fit: LikelihoodFit) -> LikelihoodFit:
    """The fit with a rule that averages over the random effects."""
    assert fit.marginal is not None and isinstance(fit.rule, LikelihoodRule)
    return replace(fit, rule=over_groups(fit.rule, fit.marginal))


def at_known_modes(rows: Rows, modes: tuple[FloatArray, ...]) -> Rows:
    """Add the modes (G, q) of known groups to the offset, so that only effects of new
    groups are random.
    """
    assert rows.random is not None
    shift = np.zeros(rows.n)
    terms = []
    for term, effects in zip(rows.random.terms, modes, strict=True):
        seen = (term.codes >= 0)[:, None]
        shift += np.einsum(
            "nq,nq->n", term.z, np.where(seen, effects[np.maximum(term.codes, 0)], 0.0)
        )
        terms.append(replace(term, z=np.where(seen, 0.0, term.z)))
    offset = shift if rows.offset is None else rows.offset + shift
    return replace(rows, offset=offset, random=RandomRows(tuple(terms)))


def tell_unknown(terms: Sequence[RandomTerm], newdata: Any, hint: str = "") -> None:
    """Warn if newdata has groups, but none of those of the fit; `hint` is added to the
    message.
    """
    text = next(filter(None, (term.unknown(newdata) for term in terms)), "")
    if text:
        warn(
            f"newdata has no group of the fit: {text}. Its rows are predicted by"
            f" averages over the random effects{hint}. If they are groups of the fit,"
            " use the same data type."
        )


# Predictions

#: Values of `re` in predictions.
EFFECTS = ("mode", "zero", "marginal")


def mixed_prediction(
    r: LikelihoodResults,
    newdata: Any = None,
    type: str = "class",
    *,
    se: bool = False,
    interval: str | None = None,
    level: float = 0.95,
    vcov: Any = None,
    cost: Any = None,
    re: str | None = None,
    at: Any = None,
    interpolate: bool = False,
) -> pd.Series | pd.DataFrame:
    """Predictions of a fit with random effects.

    Raises
    ------
    OptionError
        An unknown `re` or type, or standard errors for a type without them.
    DataError
        re="mode", and newdata has groups that are not in the fit.
    """
    check_uncertainty(se, interval, level)
    if re is not None:
        one_of("re", re, EFFECTS)
    type = known_type(r, type)
    _check_asked(r, type, vcov, cost)
    asked = Asked.of(r.design.levels, type, at, interpolate)
    target = _target(r, newdata, re)
    kind = _kind(r, target.rows, re)
    if re is None and newdata is not None:
        _tell_new_groups(r, newdata, kind)
    predicted_by_groups, rows = _at(r, target.rows, kind)
    uncertain = se or interval is not None
    if type == "class":
        _check_certain(uncertain)
        probabilities = _values(predicted_by_groups, rows, "prob")
        chosen = _cost_of(r, cost, kind)
        codes = known_codes(r, target, least_expected(probabilities, chosen))
        return target.classes(codes, r.design.levels, r.design.response)
    if uncertain:
        _check_averaged(kind)
    if asked is not None and type == "quantile":
        check_has_errors(r, type, se)
        of_limits = level if uncertain else None
        return _quantiles(r, target, asked, predicted_by_groups, rows, of_limits)
    value = _values(predicted_by_groups, rows, type, asked)
    value = known_values(r, target, type, value, asked)
    if not uncertain:
        return labelled(r, target, type, value, asked)
    error = _errors(r, predicted_by_groups, rows, type, asked)
    limits = None
    if interval is not None:
        bounds = bounds_of(type, asked) if predicted_by_groups.factors else None
        if bounds is not None:
            limits = limits_between(*bounds, value, error, level, r.design_df)
        else:
            rule = predicted_by_groups.rule
            limits = limits_of(
                rule, rows, type, value, error, level, r.design_df, asked
            )
    labels = column_labels(r, type, asked)
    frame = target.frame(*side_by_side(labels, value, error if se else None, limits))
    at_level = None if interval is None else level
    groups = effects_words(kind, type)
    return noted_predictions(r, frame, type, asked, at_level, groups)


def _tell_new_groups(r: LikelihoodResults, newdata: Any, kind: str) -> None:
    """Warn if newdata names groups and none of them belongs to the fit."""
    if kind == "marginal":
        hint = "; re='marginal' gives these without this warning"
        tell_unknown(r.design.random, newdata, hint)
    elif kind == "known":
        tell_unknown(r.design.random, newdata)


def _check_certain(uncertain: bool) -> None:
    """OptionError for errors of classes."""
    if uncertain:
        raise OptionError(
            "type='class' has no standard error or interval;"
            f" {', '.join(TYPES_WITH_ERRORS)} have."
        )


def _check_averaged(kind: str) -> None:
    """OptionError for standard errors at the modes of random effects."""
    if kind in ("mode", "known"):
        raise OptionError(
            "se= and interval= must go with re='marginal', averages over the groups, or"
            " re='zero', a typical group; predictions at the modes of random effects"
            " have no standard error."
        )


def _quantiles(
    r: LikelihoodResults,
    target: Target,
    asked: Asked,
    predicted_by_groups: Predicted,
    rows: Rows,
    level: float | None,
) -> pd.Series | pd.DataFrame:
    """Quantiles of the distributions of rows, with limits at a level."""
    type = "inner_cum_prob"
    below = predicted_by_groups.values(QUANTITIES[type], rows)
    if level is None:
        estimates = asked.quantiles(below)
    else:
        errors = _errors(r, predicted_by_groups, rows, type, None)
        limits = logit_limits(below, 1.0 - below, errors, level, r.design_df)
        certain = None
        known = r.row_limits(rows)
        if known is not None:
            certain = known.certain(type)
        estimates = quantiles_between(asked, below, limits, certain)
    names = ("estimate", "lower", "upper")
    tables = dict(zip(names, estimates, strict=False))
    return quantile_frame(r, target, asked, tables)


def _check_asked(r: LikelihoodResults, type: str, vcov: Any, cost: Any) -> None:
    """OptionError for a type that the fit does not predict, or arguments that do not go
    with it.
    """
    if vcov is not None:
        raise OptionError(
            f"vcov must be left out where the fit has random effects; got {vcov!r}. Use"
            " .with_vcov()."
        )
    if type == "margin":
        raise unknown_type(r, type)
    if cost is not None and type != "class":
        raise OptionError(f"cost goes with type='class'; got type={type!r}.")


def _cost_of(r: LikelihoodResults, cost: Any, kind: str) -> CostMatrix | Decision:
    """The cost of a fit, or another, found from predictions of the same kind of its
    rows where it is a decision.
    """
    given = r.method.cost_matrix if cost is None else CostMatrix.parse(cost, r.levels)
    if not given.decides:
        return given
    sample = r.design.sample
    P = _values(*_at(r, sample.rows, kind), "prob")
    return decision(str(given.value), P, sample.case_weights, level_shares(sample))


def _target(r: LikelihoodResults, newdata: Any, re: str | None = None) -> Target:
    """Rows of new data, or of the fit, with their scores without random effects."""
    rows = r.design.sample.rows
    index = r.design.index
    complete = np.ones(rows.n, dtype=np.bool_)
    far: tuple[FarValues, ...] = ()
    if newdata is not None:
        # new relatives of cov= are refused, so their groups must be read
        unread = [
            term.text
            for term in r.design.random
            if re == "zero" or (re == "marginal" and term.root is None)
        ]
        new = r.design.spec.rebuild(newdata, frozenset(unread))
        rows = new.rows
        complete = new.complete
        index = new.index
        far = new.far
    target = Target(
        rows=rows,
        scores=r.bare_rule.scores(rows),
        complete=complete,
        index=index,
        far=far,
    )
    if newdata is None:
        return target
    tell_far(target.far)
    return inside_row_space(r, target)


def _kind(r: LikelihoodResults, rows: Rows, re: str | None) -> str:
    """Resolve `re` for these rows; by default modes of known groups and averages over
    new ones.
    """
    assert rows.random is not None
    unseen = [term.codes < 0 for term in rows.random.terms]
    if re not in (None, "mode"):
        return str(re)
    if not any(mask.any() for mask in unseen):
        return "mode"
    if re is None:
        return "marginal" if all(mask.all() for mask in unseen) else "known"
    shown = rows.random.unseen([term.group for term in r.design.random])
    raise DataError(
        f"re='mode' needs groups of the fit; newdata has new groups, {shown}. Leave re="
        " out to average over new groups, or use re='marginal' (average over all"
        " groups) or re='zero' (a typical group)."
    )


def _marginal(r: LikelihoodResults) -> Marginal:
    assert r.fit.marginal is not None
    return r.fit.marginal


def _at(r: LikelihoodResults, rows: Rows, kind: str) -> tuple[Predicted, Rows]:
    """The predictor and the rows to use it on, with known groups at their modes."""
    bare = replace(r.rule, effects=())
    if kind == "zero":
        return Predicted(bare), replace(rows, random=None)
    assert rows.random is not None
    rows.random.require_covariances()
    if kind != "marginal":
        rows = at_known_modes(rows, r.rule.effects)
    if kind == "mode":
        return Predicted(bare), replace(rows, random=None)
    return over_groups(bare, _marginal(r)), rows


def _values(
    predicted_by_groups: Predicted, rows: Rows, type: str, asked: Asked | None = None
) -> FloatArray:
    """(n, M) predictions of a type; scores are at random effects of 0, their mean."""
    if asked is not None:
        return predicted_by_groups.values(quantity_of(type, asked), rows)
    if type in ("score", "linear_predictor") or not predicted_by_groups.factors:
        return predicted(predicted_by_groups.rule, rows, type)
    probabilities = predicted_by_groups.probabilities(rows)
    return np.cumsum(probabilities, axis=1) if type == "cum_prob" else probabilities


# Draws


def simulated_effects(
    r: LikelihoodResults, n: int, seed: int | np.random.Generator, newdata: Any
) -> pd.DataFrame:
    """Simulated responses with new draws of the random effects; a new group without a
    label is a single row.
    """
    whole("n", n, 1)
    rng = generator(seed)
    target = _target(r, newdata)
    bare = replace(r.rule, effects=())
    rows = target.rows
    assert rows.random is not None
    rows.random.require_covariances()
    groups = []
    for term, named in zip(rows.random.terms, r.design.random, strict=True):
        new = (
            np.arange(rows.n)
            if newdata is None
            else named.groups_of_rows(newdata, target.complete)
        )
        groups.append(np.where(term.codes < 0, term.n_groups + new, term.codes))
    columns = {}
    for i in range(int(n)):
        scores = target.scores.copy()
        for term, effects, codes in zip(
            rows.random.terms, _marginal(r).terms, groups, strict=True
        ):
            b = rng.standard_normal((term.n_groups + rows.n, term.q)) @ effects.factor.T
            if term.root is not None:
                b[: term.n_groups] = term.root @ b[: term.n_groups]
            scores += np.einsum("nq,nq->n", term.z, b[codes])
        codes = drawn_levels(bare, rows, scores, rng.random((1, rows.n)))
        columns[f"sim_{i + 1}"] = target.classes(codes[0], r.design.levels)
    return pd.DataFrame(columns, index=target.index)


# Errors


def _errors(
    r: LikelihoodResults,
    predicted_by_groups: Predicted,
    rows: Rows,
    type: str,
    asked: Asked | None,
) -> FloatArray:
    """(n, M) standard errors by the delta method; NaN if a prediction depends on an
    infinite estimate.
    """
    rule = predicted_by_groups.rule
    if type in ("score", "linear_predictor"):
        predicted_by_groups = Predicted(rule)
    covariance = predicted_covariance(r, predicted_by_groups)
    if type == "score":
        errors = score_errors(rule, rows, covariance)[:, None]
    else:
        errors = standard_errors(
            partial(predicted_by_groups.each, quantity_of(type, asked)),
            rows,
            rule.n_levels,
            covariance,
        )
    return known_errors(r, rows, type, errors, asked)


# Averages for effects and marginal means

#: Scales with random effects of 0 by default: latent means are the same either way, and
#: odds are odds within a group.
_AT_ZERO = ("latent", "log_odds", "odds")


def chosen_effects(r: LikelihoodResults, scale: str, re: str | None) -> str | None:
    """Resolve `re` for effects and marginal means; None for a fit without random
    effects.

    Raises
    ------
    OptionError
        An unknown `re`, `re` for a fit without random effects, or odds averaged over
        the groups.
    """
    if r.fit.marginal is None:
        if re is not None:
            raise OptionError(
                f"re must be left out, as the fit has no random effects; got {re!r}."
            )
        return None
    if re is None:
        return "zero" if scale in _AT_ZERO else "marginal"
    one_of("re", re, ("zero", "marginal"))
    if re == "marginal" and scale in ("log_odds", "odds"):
        raise OptionError(
            f"re must be 'zero' on scale={scale!r}: odds are those within a group; got"
            " 'marginal'. Take a scale of probabilities for averages over the groups."
        )
    return re


def predicted_by(r: LikelihoodResults, scale: str, re: str | None) -> Predicted:
    """The predictor for a scale and `re`."""
    marginal = r.fit.marginal
    bare = replace(r.rule, effects=())
    # linear in the effects, whose means are 0
    if marginal is None or re == "zero" or scale == "latent":
        return Predicted(bare)
    return over_groups(bare, marginal)


def predicted_covariance(
    r: LikelihoodResults, predicted: Predicted
) -> CovarianceOperator:
    """The covariance of the F + n_phi parameters of a prediction; parameters at a
    boundary are held.
    """
    if not predicted.n_phi:
        return rule_covariance(r.fit, predicted.rule, r.covariance_of_estimates)
    to_rule = rule_by_estimates(r.fit, predicted.rule).toarray()
    F = predicted.rule.n_parameters
    whole = r.whole_covariance
    size = to_rule.shape[1]
    n_phi = predicted.n_phi
    held = np.isnan(np.diag(whole))
    J = np.zeros((F + n_phi, size + n_phi))
    J[:F, :size] = to_rule
    J[F:, size:] = np.eye(n_phi)
    out = J @ np.where(held[:, None] | held, 0.0, whole) @ J.T
    # with infinite estimates held
    out[:F, :F] = to_rule @ whole[:size, :size] @ to_rule.T
    return CovarianceMatrix(out)


def effects_words(re: str | None, scale: str) -> tuple[str, ...]:
    """The note below a table that explains `re`."""
    if re is None:
        return ()
    if scale == "latent":
        return ("Random effects at 0, their mean.",)
    if re == "zero":
        return (
            (
                "Random effects at 0 (re='zero'): a typical group, not an average over"
                " groups."
            ),
        )
    return (
        (
            "Averaged over the random effects (re='marginal'): population averages over"
            " all groups."
        ),
    )
