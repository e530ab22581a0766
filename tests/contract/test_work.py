"""What a fit will take is said, and refused in words, before it starts."""

import os
import tracemalloc
from functools import cache

import numpy as np
import pandas as pd
import pytest
from problems import Problem, latent_frame, scores, thresholds

from ordstat import OrdinalClassifier, ordfit
from ordstat.exceptions import DataError, OptionError
from ordstat.methods import METHODS
from ordstat.methods.shared import work as work_of
from ordstat.methods.shared.work import require_affordable
from ordstat.registry import resolve

ONLINE = ("prank", "siprank", "cusum", "pa-cusum", "kernel-prank", "kernel-cusum")
BAGS = ("bagging", "ordinal-bagging", "nominal-adaboost", "fixed-split-boosting", "ordinal-adaboost")
KERNELS = (
    "redsvm",
    "osvm",
    "svor-imc",
    "svor-exc",
    "rank-svm",
    "ova",
    "csova",
    "csovo",
    "kernel-prank",
    "kernel-cusum",
)
PAIRS = ("ovo", "csovo", "wap", "tsew", "relabel")
EXTENDED = ("red-c45", "red-tree", "red-hgb", "reduction")


@cache
def _rows(n: int, n_levels: int) -> pd.DataFrame:
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 3))
    latent = X @ [1.0, -0.7, 0.3] + rng.logistic(size=n)
    return pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=np.argsort(np.argsort(latent)) * n_levels // n)


@pytest.mark.parametrize("name", [*PAIRS, *EXTENDED])
def test_a_level_for_every_row_is_too_much(name):
    with pytest.raises(DataError, match=r"(classifiers|examples).* GiB and .* (minutes|hours).*force=True"):
        ordfit("y ~ a + b + c", _rows(1000, 1000), name)


@pytest.mark.filterwarnings("ignore:Response y has:ordstat.exceptions.DataWarning")
@pytest.mark.parametrize("method", ["clm", "acat"])
def test_nominal_effects_of_a_level_for_every_row_are_too_many(method):
    with pytest.raises(DataError, match=r"(nominal effects|pairs of thresholds).* (seconds|minutes).*force=True"):
        ordfit("y ~ a", _rows(2000, 2000), method, nominal="~ b")


def test_a_slow_classifier_is_counted_as_slow():
    """Boosting by histograms takes ten times as long as one tree, about."""
    sample = _design_of(300, 300).sample
    slow, quick = (resolve(name).work(sample).seconds for name in ("red-hgb", "red-tree"))
    assert slow == pytest.approx(10 * quick)
    with pytest.raises(DataError, match="force=True"):
        require_affordable(resolve("red-hgb").work(sample), "red-hgb", sample.n)


@pytest.mark.filterwarnings("ignore:Response y has:ordstat.exceptions.DataWarning")
@pytest.mark.parametrize("name", [name for name in METHODS if not METHODS[name].method.needs.two_levels])
def test_no_method_begins_what_it_cannot_end(name, monkeypatch):
    """20000 rows, each a level of its own, are 3 GiB for every array of rows and levels."""
    monkeypatch.setattr(work_of, "memory", lambda: 16.0 * 2**30)
    sample = _design_of(20000, 20000).sample
    with pytest.raises(DataError, match=r"about .*force=True"):
        require_affordable(resolve(name).work(sample), name, sample.n)


@pytest.mark.filterwarnings("ignore:Response y has:ordstat.exceptions.DataWarning")
@pytest.mark.parametrize("link", ["logit", "cauchit"])
def test_a_threshold_for_every_row_is_no_trouble(link):
    """A threshold touches the two levels beside it alone; a continuous response is a usual one."""
    fit = ordfit("y ~ a + b + c", _rows(5000, 5000), link)
    assert fit.certificate.reached and fit.thresholds.size == 4999


#: Methods whose fits to 2000 rows of 2000 levels took more than 20 seconds, or all memory.
SLOW = (
    *("acat", "osvm", "svor-imc", "orboost-lr", "orboost-all", "kernel-cusum", "adaboost-or"),
    *("ordinal-bagging", "fixed-split-boosting", "ordinal-adaboost", "onn"),
)


@pytest.mark.filterwarnings("ignore:Response y has:ordstat.exceptions.DataWarning")
@pytest.mark.parametrize("name", SLOW)
def test_slow_fits_of_many_levels_are_refused(name):
    with pytest.raises(DataError, match=r"about .* (seconds|minutes|hours), and a fit of more than .* or 10 seconds"):
        ordfit("y ~ a + b + c", _rows(2000, 2000), name)


def test_many_rows_may_take_longer(monkeypatch):
    work = work_of.Work(what="works", seconds=50.0, instead="Rest")
    with pytest.raises(DataError, match=r"x works: about 50 seconds, .* or 10 seconds"):
        require_affordable(work, "x", 40)
    require_affordable(work, "x", 1_000_000)
    with pytest.raises(DataError, match=r"x works, 3 times: about 2\.5 minutes, .* or 110 seconds"):
        require_affordable(work, "x", 1_000_000, fits=3)


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_matrix_that_does_not_fit(name, monkeypatch):
    monkeypatch.setattr(work_of, "memory", lambda: 16.0 * 2**30)
    with pytest.raises(DataError, match=r"about \d+ GiB.* more than 12 GiB .*force=True"):
        ordfit("y ~ a + b + c", _rows(60000, 4), name)


@pytest.mark.parametrize("name", [*ONLINE, *BAGS])
@pytest.mark.parametrize("weight", [1e6, 1e8, 1e12])
def test_heavy_rows_are_not_unrolled(name, weight):
    with pytest.raises(DataError, match=r"the sum of the weights.* GiB and .* (minutes|hours|days).*force=True"):
        ordfit("y ~ a + b + c", _rows(80, 4).assign(w=weight), name, weights="w")


@pytest.mark.parametrize("name", ONLINE)
def test_weights_of_a_million_are_refused_on_few_rows(name):
    with pytest.raises(DataError, match=r"presents 4e\+07 examples \(the sum of the weights\) in each of 20 passes"):
        ordfit("y ~ a + b + c", _rows(40, 4).assign(w=1e6), name, weights="w")


@pytest.mark.parametrize("name", [name for name in ONLINE if resolve(name).incremental])
def test_a_batch_of_heavy_rows_is_refused_too(name):
    frame = _rows(80, 4)
    model = OrdinalClassifier(name).partial_fit(frame[["a", "b", "c"]], frame["y"])
    with pytest.raises(DataError, match="the sum of the weights"):
        model.partial_fit(frame[["a", "b", "c"]], frame["y"], sample_weight=np.full(80, 1e9))


@pytest.mark.parametrize("name", [name for name in METHODS if not METHODS[name].method.needs.two_levels])
def test_usual_fits_begin_unasked(name):
    work = resolve(name).work(_design_of(2000, 5).sample)
    assert work is None or (work.memory < 2**30 and work.seconds < 5.0)


def test_force_goes_on(monkeypatch):
    frame = Problem.of("csovo").frame
    plain = Problem.of("csovo").fit()
    monkeypatch.setattr(work_of, "LONGEST", 1e-3)
    with pytest.raises(DataError, match="trains 6 classifiers on about 60 examples each"):
        Problem.of("csovo").fit()
    forced = Problem.of("csovo").fit(force=True)
    np.testing.assert_array_equal(scores(forced), scores(plain))
    assert forced.update("~ x1").nobs == 60, "what was forced once stays so"
    with pytest.raises(DataError, match="force=True"):
        plain.update("~ x1")
    assert plain.update("~ x1", force=True).nobs == 60
    assert forced.errors(cv=2).shape[0] > 0
    X, y = frame[["x1", "x2"]], frame["y"]
    with pytest.raises(DataError, match="force=True"):
        OrdinalClassifier("csovo").fit(X, y)
    assert OrdinalClassifier("csovo", force=True).fit(X, y).predict(X).shape == (60,)


def test_calibration_counts_its_fits(monkeypatch):
    monkeypatch.setattr(work_of, "LONGEST", 0.03)
    problem = Problem.of("csovo")
    assert problem.fit().nobs == 60
    with pytest.raises(DataError, match="6 times"):
        problem.fit(calibrate=True)


def test_boosted_rankers_count_their_rounds(monkeypatch):
    monkeypatch.setattr(work_of, "LONGEST", 1.0)
    frame = latent_frame(4)
    assert ordfit("y ~ x1 + x2", frame, "csovo").nobs == 60
    with pytest.raises(DataError, match="200 times"):
        ordfit("y ~ x1 + x2", frame, "adaboost-or", base=resolve("csovo"))


@pytest.mark.parametrize("force", [1, "yes", None])
def test_force_is_true_or_false(force):
    with pytest.raises(OptionError, match="force must be True or False"):
        Problem.of("logit").fit(force=force)


#: Fits large enough for their arrays to outweigh everything else.
MEASURED = {
    "redsvm": (1200, 4, {}),
    "svor-imc": (1200, 4, {"C": "cv"}),
    "svor-exc": (300, 300, {}),
    "rank-svm": (1200, 4, {}),
    "csovo": (300, 12, {}),
    "tsew": (400, 6, {}),
    "ova": (800, 5, {}),
    "kernel-prank": (1000, 4, {}),
    "kernel-cusum": (1000, 4, {"kernel": "gaussian"}),
    "reduction": (120, 120, {}),
    "red-c45": (100, 100, {}),
    "red-hgb": (100, 100, {}),
    "frank-hall": (2000, 60, {}),
    "red-logistic": (20000, 5, {}),
    "onn": (20000, 5, {"max_iter": 20}),
}


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:Response y has:ordstat.exceptions.DataWarning")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name == "red-hgb" else ()) for name in MEASURED]
)
def test_memory_is_right_to_a_factor_of_two(name):
    n, n_levels, options = MEASURED[name]
    frame = _rows(n, n_levels)
    ordfit("y ~ a + b + c", frame.iloc[:: n // 50], name, **options)  # imports what it needs
    expected = resolve(name, options).work(_design(frame).sample).memory
    assert 0.5 < expected / _peak(lambda: ordfit("y ~ a + b + c", frame, name, **options)) < 2.0


@pytest.mark.parametrize("name", BAGS)
def test_memory_of_samples_is_right_to_a_factor_of_two(name):
    frame = _rows(60, 4).assign(w=2000.0)
    expected = resolve(name, {"rounds": 5}).work(_design(frame, weights="w").sample).memory
    assert 0.5 < expected / _peak(lambda: ordfit("y ~ a + b + c", frame, name, weights="w", rounds=5)) < 2.0


def _design(frame, **arguments):
    from ordstat.design.build import build

    return build("y ~ a + b + c", frame, **arguments)


@cache
def _design_of(n, n_levels):
    return _design(_rows(n, n_levels))


def _peak(fit):
    tracemalloc.start()
    try:
        fit()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_of_a_machine_that_does_not_tell(monkeypatch):
    def unknown(name):
        raise ValueError(name)

    monkeypatch.setattr(os, "sysconf", unknown)
    monkeypatch.setattr(work_of, "_address_space", lambda: None)
    monkeypatch.setattr(work_of, "_group", lambda: None)
    assert work_of.memory() == 8 * 2**30
    monkeypatch.setattr(work_of, "_address_space", lambda: 2**30)
    assert work_of.memory() == 2**30


@pytest.mark.filterwarnings("ignore:Response y has:ordstat.exceptions.DataWarning")
def test_thresholds_of_many_levels_are_no_trouble():
    """What the refusals point to."""
    fit = ordfit("y ~ a + b + c", _rows(1000, 1000), "redsvm", kernel="linear", loss="squared_hinge")
    assert thresholds(fit).size == 999
