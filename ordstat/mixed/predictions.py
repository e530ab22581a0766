"""Predictions of fits with random effects."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice, repeat
from typing import Any

import numpy as np
import pandas as pd

from .._typing import FloatArray, IntArray
from ..checks import fraction, generator, one_of, whole
from ..exceptions import DataError, OptionError
from ..fit import least_expected
from ..fitted import Target
from ..formula.sample import Rows
from ..inference.predictions import drawn_codes
from ..judging.costs import CostMatrix
from ..likelihood.fit import Marginal
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
from .laplace import State
from .over_groups import AsTheyAre, Predicted, normal_nodes, over_groups, steepness_blocks, tell_unknown

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
    newdata: Any = None,
    type: str = "class",
    *,
    se: bool = False,
    interval: str | None = None,
    level: float = 0.95,
    vcov: Any = None,
    cost: Any = None,
    re: str | None = None,
) -> pd.Series | pd.DataFrame:
    """`predict` of a fit with random effects.

    Raises
    ------
    OptionError
        An unknown `re` or type, or errors of a type that has none.
    DataError
        At the modes, groups that the fit has not seen, where `re` asks for these.
    """
    one_of("interval", interval, ("confidence", None))
    if vcov is not None:
        raise OptionError(f"vcov must be left out where the fit has random effects; got {vcov!r}. Use .with_vcov().")
    fraction("level", level)
    if re is not None:
        one_of("re", re, EFFECTS)
    type = known_type(r, type)
    if type not in r.predicts or type == "margin":
        raise unknown_type(r, type)
    if cost is not None and type != "class":
        raise OptionError(f"cost goes with type='class'; got type={type!r}.")
    target = _target(r, newdata, re)
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
    labels = None if type in ("score", "mean") else r.threshold_names if type == "linear_predictor" else list(r.levels)
    if not se and interval is None:
        return target.series(value[:, 0], type) if labels is None else target.frame(value, labels)
    error = _errors(r, target.rows, type, kind, at)
    tables = {"estimate": value}
    if se:
        tables["std_error"] = error
    if interval is not None:
        tables["lower"], tables["upper"] = _limits(at, type, value, error, level)
    columns: pd.Index = pd.Index(list(tables))
    if labels is not None:
        columns = pd.MultiIndex.from_product([list(tables), labels], names=["statistic", None])
    return target.frame(np.hstack(list(tables.values())), range(len(columns))).set_axis(columns, axis=1)


def _target(r: FittedLikelihood, newdata: Any, re: str | None = None) -> Target:
    """The rows of new data, or of the fit, with their scores without random effects; groups where `re` asks for any."""
    rows, index = r.design.sample.rows, r.design.index
    complete = np.ones(rows.n, dtype=np.bool_)
    if newdata is not None:
        # groups of cov= have each their variance, so that averages need them too
        unread = [term.text for term in r.design.random if re == "zero" or (re == "marginal" and term.root is None)]
        new = r.design.spec.rebuild(newdata, frozenset(unread))
        rows, complete, index = new.rows, new.complete, new.index
    scores = replace(r.rule, effects=()).scores(rows)
    return Target(rows=rows, scores=scores, complete=complete, index=index)


def _kind(r: FittedLikelihood, rows: Rows, re: str | None) -> str:
    """What `re` stands for in these rows: without it the modes of known groups, and averages over others."""
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


def _marginal(r: FittedLikelihood) -> Marginal:
    assert r.fit.marginal is not None
    return r.fit.marginal


def _at(r: FittedLikelihood, rows: Rows, kind: str, psi: FloatArray | None) -> _At:
    """Rows at the estimates, or at other parameters psi."""
    here = _marginal(r).likelihood
    model, psi = here.model, here.at.psi if psi is None else psi
    rule = replace(rule_at(r.fit, model.to_user @ psi[: model.n_fixed]), effects=())
    shift, variance = np.zeros(rows.n), np.zeros(rows.n)
    if kind == "zero":
        return _At(rule, rows, shift, variance)
    x, codes = model.columns_of(psi, rows.random)
    modes = here.state(psi).modes.v if kind in ("mode", "known") else [np.zeros((1, part.shape[1])) for part in x]
    for columns, groups, v in zip(x, codes, modes, strict=True):
        known = (groups >= 0) & (kind != "marginal")
        shift += np.where(known, np.einsum("nq,nq->n", columns, v[np.where(known, groups, 0)]), 0.0)
        variance += np.where(known, 0.0, np.einsum("nq,nq->n", columns, columns))
    return _At(rule, rows, shift, variance)


def _conditional_variance(state: State, x: list[FloatArray], codes: list[IntArray]) -> FloatArray:
    """(n,) variance of z'b given psi, of the groups that are known: x'H^-1 x."""
    x = [np.where((code >= 0)[:, None], part, 0.0) for part, code in zip(x, codes, strict=True)]
    groups = [np.maximum(code, 0) for code in codes]
    if len(x) == 1:
        block = state.modes.factor.inverse
        return np.asarray(np.einsum("nq,nqp,np->n", x[0], block[groups[0]], x[0]))
    rows, of = np.unique(np.column_stack([*groups, *x]), axis=0, return_index=True, return_inverse=True)[1:]
    values = []
    for row in rows:
        unit = [np.zeros_like(v) for v in state.modes.v]
        for part, columns, code in zip(unit, x, groups, strict=True):
            part[code[row]] = columns[row]
        values.append(sum(np.vdot(a, b) for a, b in zip(unit, state.modes.factor.solve(unit), strict=True)))
    return np.array(values)[of.reshape(-1)]


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


# Draws


def simulated_effects(
    r: FittedLikelihood, n: int, seed: int | np.random.Generator, newdata: Any, re: str
) -> pd.DataFrame:
    """Responses of a fit with random effects."""
    whole("n", n, 1)
    one_of("re", re, ("new", "mode"))
    rng, target, bare = generator(seed), _target(r, newdata), replace(r.rule, effects=())
    if re == "mode":
        _kind(r, target.rows, "mode")
    shifts = _drawn_shifts(r, target, newdata, rng) if re == "new" else repeat(_at(r, target.rows, re, None).shift)
    drawn = [
        drawn_codes(bare.probabilities(target.rows, target.scores + shift), rng.random((1, target.rows.n)))[0]
        for shift in islice(shifts, int(n))
    ]
    columns = {f"sim_{i + 1}": target.classes(row, r.design.levels) for i, row in enumerate(drawn)}
    return pd.DataFrame(columns, index=target.index)


def _drawn_shifts(r: FittedLikelihood, target: Target, newdata: Any, rng: np.random.Generator) -> Iterator[FloatArray]:
    """(n,) z'b again and again, with effects drawn for every group; new groups without a label are one a row."""
    rows = target.rows
    assert rows.random is not None
    rows.random.require_covariances()
    groups = []
    for term, named in zip(rows.random.terms, r.design.random, strict=True):
        apart = np.arange(rows.n) if newdata is None else named.apart(newdata, target.complete)
        groups.append(np.where(term.codes < 0, term.n_groups + apart, term.codes))
    while True:
        total = np.zeros(rows.n)
        for term, effects, chosen in zip(rows.random.terms, _marginal(r).terms, groups, strict=True):
            b = rng.standard_normal((term.n_groups + rows.n, term.q)) @ effects.factor.T
            if term.root is not None:
                b[: term.n_groups] = term.root @ b[: term.n_groups]
            total += np.einsum("nq,nq->n", term.z, b[chosen])
        yield total


# Errors


def _errors(r: FittedLikelihood, rows: Rows, type: str, kind: str, at: _At) -> FloatArray:
    """(n, M) standard errors by the delta method; NaN where an infinite estimate goes in."""
    here, curve = _marginal(r).likelihood, VALUES[type]
    slopes = []
    for behind, ahead, distance in here.steps():
        low, high = (curve(_at(r, rows, kind, psi)) for psi in (behind, ahead))
        slopes.append((high - low) / distance)
    inner = here.inner_covariance if r.covariance == "model" else here.inner_of(r.whole_covariance)
    moved = np.stack(slopes)
    variance = np.einsum("anm,ab,bnm->nm", moved, here.along(inner), moved)
    if kind in ("mode", "known"):
        given = _conditional_variance(here.at.state, *here.model.columns_of(here.at.psi, rows.random))
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


# Averages for effects and marginal means

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
    one_of("re", re, ("zero", "marginal"))
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
        return rule_covariance(r.fit, predicted.rule, r.fixed_covariance)
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
