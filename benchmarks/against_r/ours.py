"""What ordstat says of a specification, under the names that R's answer has."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.against_r.session import Answer
from benchmarks.against_r.specs import ITERATIONS, Spec
from ordstat import ordfit
from ordstat.exceptions import OrdstatError
from ordstat.likelihood.profile import ProfileLikelihood

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
