"""Predictions of fits with random effects."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from .._typing import FloatArray, IntArray
from ..checks import one_of
from ..exceptions import DataError, OptionError
from ..fit import least_expected
from ..fitted import Target
from ..formula.sample import Rows
from ..judging.costs import CostMatrix
from ..likelihood.fitted import FittedLikelihood
from ..likelihood.predictor import Predictor
from ..likelihood.rule import LikelihoodRule
from ..likelihood.standard_errors import (
    UNCERTAIN,
    depends_on_infinite,
    limits_between,
    logit_limits,
    places,
    rule_at,
    rule_covariance,
    symmetric_limits,
)
from ..predictions import known_type, unknown_type
from .new_groups import over_groups, tell_unknown
from .over_groups import AsTheyAre, Predicted, normal_nodes, steepness_blocks

#: What random effects may be in a prediction.
EFFECTS = ("mode", "zero", "marginal")
#: Step of a derivative by the score.
_STEP = 1e-4


@dataclass(frozen=True, eq=False)
class _At:
    """Rows, the rule without random effects, and the mean and variance of what they add to the scores."""

    rule: LikelihoodRule
    rows: Rows
    shift: FloatArray
    variance: FloatArray

    def take(self, index: IntArray) -> _At:
        """Some of the rows."""
        return _At(self.rule, self.rows.take(index), self.shift[index], self.variance[index])


def mixed_prediction(
    r: FittedLikelihood,
    newdata: Any,
    type: str,
    re: str | None,
    se: bool,
    interval: str | None,
    level: float,
    cost: Any,
) -> pd.Series | pd.DataFrame:
    """`predict` of a fit with random effects; see there.

    Raises
    ------
    OptionError
        An unknown `re` or type, or errors of a type that has none.
    DataError
        At the modes, groups that the fit has not seen, where `re` asks for these.
    """
    if re is not None:
        one_of("re", re, EFFECTS)
    type = known_type(r, type)
    if type not in r.predicts or type == "margin":
        raise unknown_type(r, type)
    if cost is not None and type != "class":
        raise OptionError(f"cost goes with type='class'; got type={type!r}.")
    target = mixed_target(r, newdata, re)
    kind = _kind(r, target.rows, re)
    if re is None and newdata is not None and kind in ("marginal", "known"):
        hint = "; re='marginal' gives these without this warning" if kind == "marginal" else ""
        tell_unknown(r.design.random, newdata, hint)
    at = _at(r, target.rows, kind, None)
    if type == "class":
        if se or interval is not None:
            raise OptionError(f"type='class' has no standard error or interval; {', '.join(UNCERTAIN)} have.")
        rule = at.rule if cost is None else replace(at.rule, cost=CostMatrix.parse(cost))
        return target.classes(least_expected(_probabilities(at), rule.cost), r.design.levels, r.design.response)
    value = VALUES[type](at)
    labels = _labels(r, type)
    if not se and interval is None:
        return target.series(value[:, 0], type) if labels is None else target.frame(value, labels)
    return _with_errors(r, target, type, kind, at, value, (se, interval is not None, level))


def mixed_target(r: FittedLikelihood, newdata: Any, re: str | None = None) -> Target:
    """The rows of new data, or of the fit, with their scores without random effects; groups where `re` asks for any."""
    bare = replace(r.rule, effects=())
    if newdata is None:
        rows = r.design.sample.rows
        complete, index = np.ones(rows.n, dtype=np.bool_), r.design.index
    else:
        new = r.design.spec.rebuild(newdata, _without_groups(r, re))
        rows, complete, index = new.rows, new.complete, new.index
    return Target(rows=rows, scores=bare.scores(rows), complete=complete, index=index)


def _without_groups(r: FittedLikelihood, re: str | None) -> frozenset[str]:
    """Random terms whose groups are not asked for; groups of cov= have each their variance."""
    if re not in ("zero", "marginal"):
        return frozenset()
    return frozenset(term.text for term in r.design.random if re == "zero" or term.root is None)


def _kind(r: FittedLikelihood, rows: Rows, re: str | None) -> str:
    """What is asked for: the modes of groups that are known and averages over others, where nothing else is said."""
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
        f"newdata has groups that the fit has not seen, {shown}: they have no mode. Leave re= out, which averages over "
        "the effects of new groups, or use re='marginal', which averages over those of all, or re='zero'."
    )


def _at(r: FittedLikelihood, rows: Rows, kind: str, psi: FloatArray | None) -> _At:
    assert r.fit.marginal is not None
    found = r.fit.marginal.likelihood.moments(rows.random, kind, psi)
    rule = replace(rule_at(r.fit, found.estimates), effects=())
    return _At(rule, rows, found.shift, found.variance)


# Values


def _predictor(at: _At, move: FloatArray | float = 0.0) -> Predictor:
    return at.rule.predictor(at.rows, at.rule.scores(at.rows) + at.shift + move)


def _averaged(at: _At, curve: Callable[[Predictor], FloatArray]) -> FloatArray:
    """(n, M) mean of a curve of the predictors over z'b ~ N(shift, variance)."""
    if not at.variance.any():
        return curve(_predictor(at))
    bare = _predictor(at)
    if at.rule.link.name == "probit":
        wider = 0.5 * np.log1p(bare.s**2 * at.variance)
        return curve(replace(bare, tau=bare.tau + wider))
    out: Any = None
    for rows, steep in steepness_blocks(at.rule.link, np.broadcast_to(bare.s * np.sqrt(at.variance), (at.rows.n,))):
        values = _trapezoid(at.take(rows), curve, steep)
        out = np.empty((at.rows.n, values.shape[1])) if out is None else out
        out[rows] = values
    return np.asarray(out)


def _trapezoid(at: _At, curve: Callable[[Predictor], FloatArray], steep: float) -> FloatArray:
    deviation, total = np.sqrt(at.variance), 0.0
    for point, share in zip(*normal_nodes(steep), strict=True):
        total = total + share * curve(_predictor(at, deviation * point))
    return np.asarray(total)


def _probabilities(at: _At) -> FloatArray:
    return _averaged(at, at.rule.family.probabilities)


def _cumulative(at: _At) -> FloatArray:
    below = _averaged(at, lambda predictor: at.rule.family.below(predictor.eta()))
    return np.hstack([below, np.ones((len(below), 1))])


def _mean(at: _At) -> FloatArray:
    return np.asarray((_probabilities(at) @ np.arange(1.0, at.rule.n_levels + 1))[:, None])


#: Values (n, M) of each type; those that are linear in the score are at its mean.
VALUES: dict[str, Callable[[_At], FloatArray]] = {
    "prob": _probabilities,
    "cum_prob": _cumulative,
    "score": lambda at: _predictor(at).H[:, None],
    "linear_predictor": lambda at: _predictor(at).eta(),
    "mean": _mean,
}


def _labels(r: FittedLikelihood, type: str) -> list[Any] | None:
    if type in ("score", "mean"):
        return None
    return r.threshold_names if type == "linear_predictor" else list(r.levels)


# Draws


def modes_of(r: FittedLikelihood, rows: Rows) -> FloatArray:
    """(n,) z'b^ of rows whose groups are known.

    Raises
    ------
    DataError
        Groups that the fit has not seen.
    """
    assert r.fit.marginal is not None
    _kind(r, rows, "mode")
    return np.asarray(r.fit.marginal.likelihood.moments(rows.random, "mode").shift)


def drawn_shifts(r: FittedLikelihood, target: Target, newdata: Any, rng: np.random.Generator) -> Iterator[FloatArray]:
    """(n,) z'b again and again, with effects drawn for every group; new groups without a label are one a row."""
    rows = target.rows
    assert r.fit.marginal is not None and rows.random is not None
    rows.random.require_covariances()
    groups = []
    for term, named in zip(rows.random.terms, r.design.random, strict=True):
        apart = np.arange(rows.n) if newdata is None else named.apart(newdata, target.complete)
        groups.append(np.where(term.codes < 0, term.n_groups + apart, term.codes))
    while True:
        total = np.zeros(rows.n)
        for term, effects, chosen in zip(rows.random.terms, r.fit.marginal.terms, groups, strict=True):
            b = rng.standard_normal((term.n_groups + rows.n, term.q)) @ effects.factor.T
            if term.root is not None:
                b[: term.n_groups] = term.root @ b[: term.n_groups]
            total += np.einsum("nq,nq->n", term.z, b[chosen])
        yield total


# Errors


def _with_errors(
    r: FittedLikelihood,
    target: Target,
    type: str,
    kind: str,
    at: _At,
    value: FloatArray,
    asked: tuple[bool, bool, float],
) -> pd.DataFrame:
    se, interval, level = asked
    error = prediction_errors(r, target.rows, type, kind, at)
    tables = {"estimate": value}
    if se:
        tables["std_error"] = error
    if interval:
        tables["lower"], tables["upper"] = _limits(at, type, value, error, level)
    labels = _labels(r, type)
    columns: pd.Index = pd.Index(list(tables))
    if labels is not None:
        columns = pd.MultiIndex.from_product([list(tables), labels], names=["statistic", None])
    return target.frame(np.hstack(list(tables.values())), range(len(columns))).set_axis(columns, axis=1)


def prediction_errors(r: FittedLikelihood, rows: Rows, type: str, kind: str, at: _At) -> FloatArray:
    """(n, M) standard errors by the delta method; NaN where an infinite estimate goes in."""
    assert r.fit.marginal is not None
    likelihood, curve = r.fit.marginal.likelihood, VALUES[type]
    slopes = []
    for behind, ahead, distance in likelihood.steps():
        low, high = (curve(_at(r, rows, kind, psi)) for psi in (behind, ahead))
        slopes.append((high - low) / distance)
    robust = r.covariance != "model"
    inner = likelihood.inner_of(r.whole_covariance) if robust else likelihood.inner_covariance()
    moved = np.stack(slopes)
    variance = np.einsum("anm,ab,bnm->nm", moved, likelihood.along(inner), moved)
    given = likelihood.moments(rows.random, kind).error
    if given.any():
        further, nearer = (curve(replace(at, shift=at.shift + move)) for move in (_STEP, -_STEP))
        variance += given[:, None] * ((further - nearer) / (2.0 * _STEP)) ** 2
    unknown = depends_on_infinite(r.fit, at.rule, rows, type)
    error = np.sqrt(variance)
    return np.asarray(error if unknown is None else np.where(unknown, np.nan, error))


def _limits(at: _At, type: str, value: FloatArray, error: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """On the logit scale for probabilities, between 1 and K for the mean, symmetric else."""
    if type in ("prob", "cum_prob"):
        return logit_limits(value, np.maximum(1.0 - value, 0.0), error, level)
    if type == "mean":
        return limits_between(1.0, float(at.rule.n_levels), value, error, level)
    return symmetric_limits(value, error, level)


#: What `re` may be.
AVERAGES = ("zero", "marginal")
#: Scales on which random effects of 0 are taken if nothing is said: means on the first are the same either way, and
#: those of the others have no mean over the groups that is of one.
_AT_ZERO = ("latent", "log_odds", "odds")


def chosen_effects(r: FittedLikelihood, scale: str, re: str | None) -> str | None:
    """What random effects are; None for a fit without them.

    Raises
    ------
    OptionError
        An unknown `re`, one of a fit without random effects, or an average of log odds.
    """
    if r.fit.marginal is None:
        if re is not None:
            raise OptionError(f"re must be left out, as the fit has no random effects; got {re!r}.")
        return None
    if re is None:
        return "zero" if scale in _AT_ZERO else "marginal"
    one_of("re", re, AVERAGES)
    if re == "marginal" and scale in ("log_odds", "odds"):
        raise OptionError(
            f"re must be 'zero' on scale={scale!r}: odds are those within a group; got 'marginal'. Take a scale of "
            "probabilities for averages over the groups."
        )
    return re


def predicted_by(r: FittedLikelihood, scale: str, re: str | None) -> Predicted:
    """Predictions with random effects as chosen; those of a plain fit as they are."""
    marginal, bare = r.fit.marginal, replace(r.rule, effects=())
    if marginal is None or re == "zero" or scale == "latent":  # linear in the effects, whose means are 0
        return AsTheyAre(bare)
    return over_groups(bare, marginal)


def predicted_covariance(r: FittedLikelihood, predicted: Predicted) -> FloatArray:
    """(F + n_phi, F + n_phi) of the parameters of a prediction; those at a boundary are held there."""
    if not predicted.n_phi:
        return rule_covariance(r.fit, predicted.rule, r._covariance(None))
    own, F, whole = places(r.fit, predicted.rule), predicted.rule.n_parameters, r.whole_covariance
    size, n_phi = own.shape[1], predicted.n_phi
    held = np.isnan(np.diag(whole))
    J = np.zeros((F + n_phi, size + n_phi))
    J[: len(own), :size], J[F:, size:] = own, np.eye(n_phi)
    out = J @ np.where(held[:, None] | held, 0.0, whole) @ J.T
    out[:F, :F] = rule_covariance(r.fit, predicted.rule, whole[:size, :size])  # with infinite estimates held
    return out


def effects_words(re: str | None, scale: str) -> tuple[str, ...]:
    """The line below a table that says it."""
    if re is None:
        return ()
    if scale == "latent":
        return ("Random effects at 0, their mean.",)
    if re == "zero":
        return ("Random effects at 0 (re='zero'): those of a typical group, no average over groups.",)
    return ("Averaged over the random effects (re='marginal'): population averages over all groups.",)
