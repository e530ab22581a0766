"""Predictions of fits with random effects."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from .._typing import FloatArray, IntArray
from ..checks import fraction, generator, one_of, whole
from ..exceptions import DataError, OptionError
from ..fit import least_expected
from ..fitted import Target
from ..formula.sample import Rows, row_blocks
from ..inference.predictions import drawn_codes, prediction_columns
from ..judging.costs import CostMatrix
from ..likelihood.derivatives import QUANTITIES, score_errors
from ..likelihood.fit import Marginal
from ..likelihood.fitted import FittedLikelihood
from ..likelihood.standard_errors import (
    UNCERTAIN,
    depends_on_infinite,
    limits_between,
    places,
    predicted,
    rule_covariance,
    symmetric_limits,
)
from ..results import known_type, unknown_type
from .over_groups import Predicted, at_known_modes, over_groups, tell_unknown

#: What random effects may be in a prediction.
EFFECTS = ("mode", "zero", "marginal")


def mixed_prediction(
    r: FittedLikelihood,
    newdata: Any = None,
    type: str = "class",
    *,
    se: bool = False,
    interval: str | None = None,
    level: float = 0.95,
    method: str = "delta",
    vcov: Any = None,
    cost: Any = None,
    re: str | None = None,
    **simulation: Any,
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
    if method != "delta" or vcov is not None:
        raise OptionError("method and vcov must be left out where the fit has random effects.")
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
    predicted_at = _at(r, target.rows, kind)
    if type == "class":
        if se or interval is not None:
            raise OptionError(f"type='class' has no standard error or interval; {', '.join(UNCERTAIN)} have.")
        chosen = r.rule.cost if cost is None else CostMatrix.parse(cost)
        return target.classes(
            least_expected(_values(*predicted_at, "prob"), chosen), r.design.levels, r.design.response
        )
    value = _values(*predicted_at, type)
    if not se and interval is None:
        labels = r.threshold_names if type == "linear_predictor" else list(r.levels)
        return target.series(value[:, 0], type) if type in ("score", "mean") else target.frame(value, labels)
    if kind in ("mode", "known"):
        raise OptionError(
            "se= and interval= must go with re='marginal', averages over the groups, or re='zero', a typical group; "
            "predictions at the modes of random effects have no standard error."
        )
    error = _errors(r, *predicted_at, type)
    tables = {"estimate": value}
    if se:
        tables["std_error"] = error
    if interval is not None:
        ends = {"prob": (0.0, 1.0), "cum_prob": (0.0, 1.0), "mean": (1.0, float(len(r.levels)))}.get(type)
        limits = symmetric_limits(value, error, level) if ends is None else limits_between(*ends, value, error, level)
        tables["lower"], tables["upper"] = limits
    columns = prediction_columns(r, type, list(tables))
    return target.frame(np.hstack(list(tables.values())), range(len(columns))).set_axis(columns, axis=1)


def _target(r: FittedLikelihood, newdata: Any, re: str | None = None) -> Target:
    """The rows of new data, or of the fit, with their scores without random effects; groups where `re` asks for any."""
    rows, index = r.design.sample.rows, r.design.index
    complete = np.ones(rows.n, dtype=np.bool_)
    if newdata is not None:
        # relatives of cov= that the fit has not seen are refused, so that their groups are needed
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


def _at(r: FittedLikelihood, rows: Rows, kind: str) -> tuple[Predicted, Rows]:
    """What is predicted and of which rows, known groups at their modes."""
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


def _values(predicted_by_groups: Predicted, rows: Rows, type: str) -> FloatArray:
    """(n, M) values of a type; those that are linear in the score are at the mean of random effects."""
    if type in ("score", "linear_predictor") or not predicted_by_groups.factors:
        return predicted(predicted_by_groups.rule, rows, type)
    probabilities = predicted_by_groups.probabilities(rows)
    if type == "mean":
        return probabilities @ np.arange(1.0, probabilities.shape[1] + 1)[:, None]
    return np.cumsum(probabilities, axis=1) if type == "cum_prob" else probabilities


# Draws


def simulated_effects(
    r: FittedLikelihood, n: int, seed: int | np.random.Generator, newdata: Any, re: str
) -> pd.DataFrame:
    """Responses of a fit with random effects, these drawn anew or at their modes."""
    whole("n", n, 1)
    one_of("re", re, ("new", "mode"))
    rng, target, bare = generator(seed), _target(r, newdata), replace(r.rule, effects=())
    rows, groups = target.rows, []
    if re == "mode":
        _kind(r, rows, "mode")
        rows = _at(r, rows, "mode")[1]
    else:
        assert rows.random is not None
        rows.random.require_covariances()
        for term, named in zip(rows.random.terms, r.design.random, strict=True):
            new = np.arange(rows.n) if newdata is None else named.apart(newdata, target.complete)
            groups.append(np.where(term.codes < 0, term.n_groups + new, term.codes))
    fixed, columns = bare.scores(rows), {}
    for i in range(int(n)):
        scores = fixed + _drawn_shift(r, rows, groups, rng)
        codes = drawn_codes(bare.probabilities(rows, scores), rng.random((1, rows.n)))[0]
        columns[f"sim_{i + 1}"] = target.classes(codes, r.design.levels)
    return pd.DataFrame(columns, index=target.index)


def _drawn_shift(r: FittedLikelihood, rows: Rows, groups: list[IntArray], rng: np.random.Generator) -> FloatArray:
    """(n,) z'b, with effects drawn for every group; 0 for rows without random terms."""
    shift = np.zeros(rows.n)
    if rows.random is not None:
        for term, effects, codes in zip(rows.random.terms, _marginal(r).terms, groups, strict=True):
            b = rng.standard_normal((term.n_groups + rows.n, term.q)) @ effects.factor.T
            if term.root is not None:
                b[: term.n_groups] = term.root @ b[: term.n_groups]
            shift += np.einsum("nq,nq->n", term.z, b[codes])
    return shift


# Errors


def _errors(r: FittedLikelihood, predicted_by_groups: Predicted, rows: Rows, type: str) -> FloatArray:
    """(n, M) standard errors by the delta method; NaN where an infinite estimate goes in."""
    rule = predicted_by_groups.rule
    unknown = depends_on_infinite(r.fit, rule, rows, type)
    if type in ("score", "linear_predictor"):
        predicted_by_groups = Predicted(rule)
    covariance, errors = predicted_covariance(r, predicted_by_groups), []
    if type == "score":
        errors.append(score_errors(rule, rows, covariance)[:, None])
    else:
        for some in row_blocks(rows.n, rule.n_levels * len(covariance)):
            jacobian = predicted_by_groups.each(QUANTITIES[type], rows.take(some))[1]
            errors.append(np.sqrt(np.maximum(((jacobian @ covariance) * jacobian).sum(axis=2), 0.0)))
    error = np.concatenate(errors)
    return error if unknown is None else np.where(unknown, np.nan, error)


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
        return Predicted(bare)
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
