"""Hostile input ends in a fit with a certificate, or in an error or warning of ordstat
in words.

`make test` runs examples that are always the same, which take ten seconds. `make fuzz
MINUTES=20` runs random ones, about that long on two cores.
"""

from __future__ import annotations

import os
import signal
import warnings
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from saved_fits import FEATURES, fitted, wine
from test_persistence_forged import (
    _array,
    _flip,
    _overwrite,
    _strange,
    members,
    saved_bytes,
    zipped,
)

from fuzz.strategies import ANY_FORMULA, SENSIBLE, calls, frames
from ordstat import OrdinalClassifier, load, ordfit
from ordstat.exceptions import OrdstatError, OrdstatWarning

#: Seconds that an answer may take.
LIMIT = 20
COMMON: dict[str, Any] = {
    "deadline": None,
    "suppress_health_check": list(HealthCheck),
    "print_blob": True,
}
settings.register_profile("ci", derandomize=True, database=None, **COMMON)
settings.register_profile("long", **COMMON)
MINUTES = float(os.environ.get("MINUTES", 0))
PROFILE = settings.get_profile("long" if MINUTES else "ci")


def examples(count: int) -> settings:
    """The profile with this number of examples, or as many as fit into the minutes
    asked for.
    """
    return settings(PROFILE, max_examples=int(12.5 * MINUTES * count) or count)


def stopped(*_: Any) -> None:
    raise TimeoutError(f"no answer within {LIMIT} seconds")


def heard(call: Any, *allowed: type[Exception]) -> tuple[Any, bool]:
    """(the answer, None after an error of ordstat; whether ordstat warned); another
    error, or none in time, fails.
    """
    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, stopped)
        signal.alarm(LIMIT)
    try:
        with warnings.catch_warnings(record=True) as caught, suppress(*allowed):
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", OrdstatWarning)
            warnings.simplefilter("error", RuntimeWarning)
            return call(), bool(caught)
    except OrdstatError as error:
        assert str(error)
    finally:
        if hasattr(signal, "SIGALRM"):
            signal.alarm(0)
    return None, False


def check(formula: str, data: Any, new: Any, call: dict[str, Any]) -> None:
    """The fit is certified and finite, or says why not; its summary and predictions are
    answers.
    """
    before = data.copy()
    fit, warned = heard(lambda: ordfit(formula, data, **call))
    assert data.equals(before)
    if fit is None:
        return
    assert fit.certificate.reached or warned
    numbers = [*(table.frame.iloc[:, 0] for table in fit.estimates()), fit.fit.scores]
    assert warned or all(
        np.isfinite(np.asarray(values, dtype=float)).all() for values in numbers
    )
    heard(lambda: str(fit.summary("all")))
    for kind in fit.prediction_types:
        predicted, _ = heard(lambda kind=kind: fit.predict(new, type=kind))
        assert predicted is None or len(predicted) == len(new)
    heard(lambda: (fit.errors(new), fit.augment(new)))


@examples(100)
@given(
    ANY_FORMULA,
    frames(),
    calls(
        ("logit", "probit", "cloglog", "cauchit", "acat", "cratio", "sratio", "clm"),
        most=0,
    ),
)
def test_formulas(formula, data, call):
    check(formula, data, data, call)


@examples(60)
@given(SENSIBLE, frames(), frames(), calls(most=0))
def test_frames(formula, data, new, call):
    check(formula, data, new, call)


@examples(60)
@given(SENSIBLE, frames(), calls())
def test_options(formula, data, call):
    check(formula, data, data, call)


@examples(40)
@given(frames(), frames(), calls(most=1))
def test_classifier(data, new, call):
    data, new = (
        frame.set_axis([str(name) for name in frame], axis=1) for frame in (data, new)
    )
    model = OrdinalClassifier(**call)
    if (
        heard(lambda: model.fit(data.iloc[:, :-1], np.arange(len(data)) % 3))[0]
        is not None
    ):
        heard(lambda: model.predict(new.iloc[:, :-1]))


@cache
def content(feature: str, folder: Any) -> bytes:
    return heard(lambda: saved_bytes(fitted(feature), folder))[0]


def _renamed(content: bytes, rng: np.random.Generator) -> bytes:
    inside = members(content)
    other = rng.choice(["fit.json", "0.npy", "../0.npy", "x", "C:\\x"])
    name = rng.choice([*inside])
    return zipped(
        (str(other) if key == name else key, value) for key, value in inside.items()
    )


DAMAGES = [
    _flip,
    _overwrite,
    lambda content, rng: content[: rng.integers(len(content))],
    _renamed,
    _strange,
    _array,
]


@pytest.mark.filterwarnings("ignore:Duplicate name")
@examples(100)
@given(
    st.sampled_from(sorted(FEATURES.keys() - {"random forest"})),
    st.sampled_from(DAMAGES),
    st.integers(0, 2**32),
)
def test_files(tmp_path_factory, feature, damage, seed):
    """Parts that do not belong together may end later questions in any error, and never
    crash or hang.
    """
    folder = tmp_path_factory.getbasetemp()
    (folder / "fit.ordstat").write_bytes(
        damage(content(feature, folder), np.random.default_rng(seed))
    )
    fit, _ = heard(lambda: load(folder / "fit.ordstat"))
    if fit is not None:
        assert fit.fit.certificate.reached in (True, False)
        heard(lambda: fit.predict(wine()), Exception)
        heard(lambda: str(fit.summary("all")), Exception)
