"""What ordstat says of a specification, under the names that R's answer has."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.against_r.exact import Rows
from benchmarks.against_r.session import Answer
from benchmarks.against_r.specs import ITERATIONS, Spec
from ordstat import ordfit
from ordstat.exceptions import OrdstatError
from ordstat.likelihood.profile import ProfileLikelihood
from ordstat.likelihood.threshold_structure import threshold_map

#: Values of a held parameter on the way to the last.
_STAGES = 11
#: What `anova` calls R's type III, where that is balanced and where it is that of older
#: versions of ordinal.
TYPE_III = {True: "III", False: "baseline"}


def answer(spec: Spec, kinds: Sequence[str], balanced: bool) -> tuple[Answer, Any]:
    """The answer, and the fit, None where there is none; see `Session.balanced`."""
    actual = Answer()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            fit = ordfit(spec.formula, spec.data, **spec.options, max_iter=ITERATIONS)
        except OrdstatError as problem:
            actual.words["fit.error"] = str(problem)
            return actual, None
        _estimates(actual, fit)
        for kind in kinds:
            try:
                _TABLES[kind](actual, fit, balanced)
            except OrdstatError as problem:
                actual.words[f"{kind}.error"] = str(problem)
    if caught:
        actual.words["fit.warning"] = "; ".join(
            f"{type(w.message).__name__}: {w.message}" for w in caught
        )
    return actual, fit


def _estimates(actual: Answer, fit: Any) -> None:
    separated = fit.fit.separation is not None
    actual.numbers.update(
        {
            "estimates": fit.fit.coefficients,  # where the search stopped, as R's
            "confounded": np.array(fit.fit.confounded, dtype=np.float64),
            "se": fit.se.to_numpy(),
            "loglik": np.array([fit.loglik]),
            "edf": np.array([fit.edf]),
            "nobs": np.array([fit.nobs]),
            "reached": np.array([float(fit.certificate.reached and not separated)]),
        }
    )


def _predictions(actual: Answer, fit: Any, balanced: bool) -> None:
    rows = _some_rows(fit)
    for kind in ("prob", "cum_prob", "linear_predictor"):
        out = fit.predict(rows, type=kind, se=True)
        below = (
            slice(None) if kind != "cum_prob" else slice(0, len(fit.threshold_names))
        )
        actual.numbers[kind] = out["estimate"].to_numpy()[:, below].ravel()
        actual.numbers[f"{kind}.se"] = out["std_error"].to_numpy()[:, below].ravel()


def _observed(actual: Answer, fit: Any, balanced: bool) -> None:
    """The probability of the level that each of the first ten rows has."""
    out = fit.predict(
        fit.design.data.loc[fit.design.index].head(10), type="prob", se=True
    )
    y = fit.design.sample.y[:10]
    places = np.arange(y.size), y
    actual.numbers["observed"] = out["estimate"].to_numpy()[places]
    actual.numbers["observed.se"] = out["std_error"].to_numpy()[places]


def _some_rows(fit: Any) -> pd.DataFrame:
    """The first ten rows of the fit without their response."""
    return fit.design.data.loc[fit.design.index].drop(columns="y").head(10)


def _wald(type: str) -> Callable[[Answer, Any, bool], None]:
    def table(actual: Answer, fit: Any, balanced: bool) -> None:
        tests = fit.anova(type=TYPE_III[balanced] if type == "III" else type)
        _table(actual, f"anova.{type}", tests, "chisq")
        actual.words[f"anova.{type}.terms"] = "\t".join(tests.index)

    return table


def _refits(name: str) -> Callable[[Answer, Any, bool], None]:
    def table(actual: Answer, fit: Any, balanced: bool) -> None:
        tests = getattr(fit, name)()
        _table(actual, name, tests, "lrt")
        actual.numbers[f"{name}.p"] = tests["p_value"].to_numpy(float)
        actual.words[f"{name}.terms"] = "\t".join(tests.index)
        if tests.attrs["notes"]:
            actual.words[f"{name}.notes"] = "; ".join(tests.attrs["notes"])

    return table


def profile_point(fit: Any, place: int, value: float) -> np.ndarray | None:
    """The estimates with one parameter held at a value; None if the profile does not
    reach it.
    """
    profile = fit.fit.likelihood.profile()
    if not isinstance(profile, ProfileLikelihood):
        return None
    estimate = profile.user.coefficients(profile.x)[place]
    way = np.linspace(estimate, value, _STAGES)[1:]
    point = profile.held(place, way)[-1]
    return None if point is None else profile.user.coefficients(point.x)


def rows_of(fit: Any) -> Rows:
    """The rows of our design, for models that R has no fit of, and so no rows."""
    sample = fit.design.sample
    structure = threshold_map(fit.method.threshold, sample.n_levels - 1)
    t = sample.n_levels - 1
    of_thresholds = np.eye(t) if structure is None else structure.jacobian
    ones = np.ones((sample.n, 1))
    nominal = sample.rows.nominal
    varying = ones if nominal is None else np.hstack([ones, nominal])
    shift = np.zeros(sample.n) if sample.rows.offset is None else sample.rows.offset
    kept = ~fit.fit.aliased
    n_scale = 0 if sample.rows.scale is None else sample.rows.scale.shape[1]
    scale = np.zeros((sample.n, 0)) if n_scale == 0 else sample.rows.scale
    known = sample.rows.scale_offset

    def end(codes: np.ndarray) -> np.ndarray:
        """Columns of the threshold above each code; 0 beyond the ends."""
        padded = np.vstack([of_thresholds, np.zeros_like(of_thresholds[:1])])
        at = padded[codes]
        thresholds = np.einsum("nq,nt->nqt", varying, at).reshape(sample.n, -1)
        inside = (codes >= 0) & (codes < t)
        location = np.where(inside[:, None], -sample.rows.X, 0.0)
        return np.hstack([thresholds, location])[:, kept[: kept.size - n_scale]]

    return Rows(
        link=fit.method.link,
        upper=end(sample.y),
        lower=end(sample.y - 1),
        scale=scale[:, kept[kept.size - n_scale :]],
        upper_offset=np.where(sample.y == t, np.inf, -shift),
        lower_offset=np.where(sample.y == 0, -np.inf, -shift),
        scale_offset=np.ones(sample.n) if known is None else np.exp(known),
        weights=sample.case_weights,
    )


def _table(actual: Answer, name: str, tests: pd.DataFrame, statistic: str) -> None:
    actual.numbers[f"{name}.df"] = tests["df"].to_numpy(float)
    actual.numbers[name] = tests[statistic].to_numpy(float)


def _profiles(actual: Answer, fit: Any, balanced: bool) -> None:
    """Limits of location and scale effects, as R gives them."""
    places = fit.parameters.of("location", "scale")
    limits = fit.confint(type="profile").to_numpy()[places]
    actual.numbers["profile"] = limits[~fit.fit.aliased[places]].ravel()


_TABLES: dict[str, Callable[[Answer, Any, bool], None]] = {
    "observed": _observed,
    "predict": _predictions,
    "anova.I": _wald("I"),
    "anova.II": _wald("II"),
    "anova.III": _wald("III"),
    "drop1": _refits("drop1"),
    "nominal_test": _refits("nominal_test"),
    "scale_test": _refits("scale_test"),
    "profile": _profiles,
}
