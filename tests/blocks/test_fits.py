"""Fits to rows in blocks equal those to rows in memory, where the sample kept in memory
is a small part of the rows.
"""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from expected import aliased, rows_left_out, unavailable
from light_options import in_turn

import ordstat
from ordstat import ordfit
from ordstat.blocks import files, scan
from ordstat.exceptions import (
    DataError,
    DataWarning,
    FormulaError,
    OptionError,
    UnavailableError,
)

pytest.importorskip("pyarrow")
pytestmark = pytest.mark.filterwarnings("ignore:weights= are counts")
N = 6000


class Generated:
    """The protocol: columns, and blocks that can be read again."""

    def __init__(self, frame, size=700):
        self.frame, self.size, self.schema = frame, size, list(frame.columns)

    def blocks(self, columns):
        for start in range(0, len(self.frame), self.size):
            yield self.frame[list(columns)].iloc[start : start + self.size]


@pytest.fixture(autouse=True)
def small_sample(monkeypatch):
    monkeypatch.setattr(scan, "SAMPLE", 1000)
    monkeypatch.setattr(files, "BLOCK", 1500)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(N, 3)), columns=["x1", "x2", "odd name"])
    frame["g"] = rng.choice(["a", "b", "c", "rare"], N, p=[0.4, 0.4, 0.197, 0.003])
    frame["w"], frame["off"] = rng.integers(0, 4, N), 0.2 * rng.normal(size=N)
    frame["judge"] = rng.choice([f"judge {j}" for j in range(40)], N)
    H = frame.x1 - 0.5 * frame.x2 + 0.7 * (frame.g == "b") + frame.off
    frame["y"] = (
        np.searchsorted(
            [-1.0, 0.2, 1.5], H + rng.logistic(size=N) * np.exp(0.2 * frame["odd name"])
        )
        + 1
    )
    return frame.sort_values("y", ignore_index=True)  # a block has few of the levels


@pytest.fixture(scope="module")
def parquet(data, tmp_path_factory):
    path = tmp_path_factory.mktemp("blocks") / "data.parquet"
    data.to_parquet(path, row_group_size=1000)
    return path


def same(formula, data, rows, tolerance=1e-9, **arguments):
    """The two fits, whose numbers are equal."""
    there, here = (ordfit(formula, given, **arguments) for given in (data, rows))
    assert np.allclose(
        here.params, there.params, rtol=tolerance, atol=tolerance, equal_nan=True
    )
    assert here.nobs == there.nobs and here.levels == there.levels
    if there.method.likelihood:
        assert np.allclose(here.vcov(), there.vcov(), rtol=1e-6)
        assert np.allclose(
            [here.loglik, here.null_loglik],
            [there.loglik, there.null_loglik],
            rtol=1e-11,
        )
    assert here.fit.certificate.reached
    return here, there


@pytest.mark.parametrize(
    "formula, arguments",
    [
        ("y ~ x1 + x2 + g", {}),
        (
            "y ~ x1 * C(g, Sum) + center(x2) + scale(`odd name`) + I(x1^2)",
            {"weights": "w", "offset": "off"},
        ),
        (
            "y ~ x1 + bs(x2, knots=[-1, 1], boundary_knots=[-9, 9])",
            {"cluster": "judge"},
        ),
        (
            "y ~ x1 + ns(x2, knots=[0], boundary_knots=[-2, 2])",
            {"vcov": "HC1", "weights": "w"},
        ),
        ("y ~ x1", {"nominal": "~ x2 + C(w > 1)", "link": "probit"}),
        ("y ~ x1 + x2", {"scale": "~ `odd name`", "subset": "x1 < 1"}),
        ("y ~ x1 + x2", {"method": "acat", "nominal": "~ w", "vcov": "HC0"}),
        ("y ~ x1 + x2 + g", {"method": "cratio", "vcov": "HC0"}),
        (
            "y ~ x1",
            {
                "method": "sratio",
                "direction": "backward",
                "nominal": "~ x2 + C(w > 1)",
                "weights": "w",
                "cluster": "judge",
            },
        ),
        ("y ~ x1", {"method": "sratio", "scale": "~ x2", "link": "cloglog"}),
        ("y ~ x1 + x2", {"link": "cauchit"}),
        ("y ~ x1 + x2", {"link": "log-gamma"}),
        ("y ~ x1 + x2", {"threshold": "symmetric", "offset": "off"}),
        ("y ~ x1 + g", {"penalty": 3.0}),
        ("y ~ x1 + x2 + I(x1 - x2)", {"penalty": 3.0, "scale": "~ I(x2 + 4)"}),
    ],
)
def test_likelihood_fits_equal_those_in_memory(formula, arguments, data):
    same(formula, data, Generated(data), **arguments)


@pytest.mark.parametrize(
    "formula, arguments",
    [
        ("y ~ x1 + g + `odd name` + I(x1^2)", {"weights": "w"}),
        ("y ~ x1 + x2", {"method": "cratio", "nominal": "~ w", "offset": "off"}),
    ],
    ids=["weights", "offset"],
)
def test_a_parquet_file_gives_the_same_fits(formula, arguments, data, parquet):
    same(formula, data, parquet, **arguments)


@pytest.mark.filterwarnings(
    "ignore:.*(Levels of the response without rows|No row has the levels)"
)
@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"nominal": "~ g"},
        {"threshold": "symmetric", "vcov": "HC1"},
        {"method": "cratio"},
        {"method": "sratio", "direction": "backward", "nominal": "~ g"},
    ],
)
def test_declared_levels_without_rows_are_those_in_memory(arguments, data):
    shifted = data.assign(y=data.y.replace({2: 3, 3: 4, 4: 5}))
    here, there = same(
        "y ~ x1 + x2",
        shifted,
        Generated(shifted),
        1e-7,
        levels=[0, 1, 2, 3, 4, 5],
        **arguments,
    )
    assert np.allclose(here.predict(data, "prob"), there.predict(data, "prob"))


@pytest.mark.filterwarnings(
    "ignore:.*(Levels of the response without rows|No row has the levels)"
)
@pytest.mark.parametrize("method", ["redsvm", "svor-exc", "prank", "cusum"])
@pytest.mark.parametrize("empty", [0, 2, 5])
def test_declared_levels_without_rows_change_no_ranker(method, empty, data):
    """The fit in memory; between levels with rows it is that of these levels alone."""
    levels = [0, 1, 2, 3, 4, 5]
    shifted = data.assign(y=(data.y - 1 + (data.y - 1 >= empty)).astype(int))
    if method in ("prank", "cusum"):
        options = {"epochs": 1, "presentation": "order"}
    else:
        options = {"kernel": "linear", "loss": "squared_hinge"}
    with_empty = {
        "method": method,
        "levels": levels,
        "cost": "classification",
        **options,
    }
    here = ordfit("y ~ x1 + x2", shifted, **with_empty)
    there = ordfit("y ~ x1 + x2", Generated(shifted), **with_empty)
    assert (here.predict(data) == there.predict(data)).all()
    without = ordfit(
        "y ~ x1 + x2", shifted, **{**with_empty, "levels": sorted(shifted.y.unique())}
    )
    assert (there.predict(data).astype(int) == without.predict(data).astype(int)).all()
    assert "Observations" in str(there.summary())


def test_questions_about_weights_count_all_rows(data):
    counted = f"these stand for {data.w.sum():,} rows in place of {(data.w > 0).sum()}"
    for rows in (data, Generated(data)):
        with pytest.warns(DataWarning, match=counted):
            ordfit("y ~ x1 + x2", rows, weights="w")


def test_aliased_columns_are_those_of_all_rows(data):
    late = data.assign(
        late=np.isin(np.arange(N), [51, 1003, 2501, 3701, 5003]), twice=2.0 * data.x1
    )
    with aliased("twice"):
        here, _ = same("y ~ x1 + twice + late", late, Generated(late))
    assert np.isfinite(here.coef["late[T.True]"])


def test_rows_with_missing_values_are_counted_as_in_memory(data):
    gaps = data.astype({"g": object})
    gaps.loc[gaps.index[::50], "x1"] = np.nan
    gaps.loc[gaps.index[::70], "g"] = None
    gaps.loc[0, ["g", "x1"]] = ["only in an incomplete row", np.nan]
    with pytest.warns(DataWarning) as told:
        here, there = same("y ~ x1 + g", gaps, Generated(gaps), weights="w")
    left_out = [
        str(each.message)
        for each in told
        if "of 6000 rows left out" in str(each.message)
    ]
    assert len(left_out) == 2 and left_out[0] == left_out[1]
    assert here.design.dropped == there.design.dropped
    assert here.fit.n_obs == there.fit.n_obs
    with pytest.raises(
        DataError, match=r"188 of 6000 rows have missing values: x1 \(120\), g \(85\)"
    ):
        ordfit("y ~ x1 + g", Generated(gaps), na_action="raise")


@pytest.mark.parametrize(
    "method, options",
    [
        ("redsvm", {"C": 0.1}),
        ("svor-exc", {"scaling": "standard", "cost": "absolute"}),
        ("svor-imc", {"scaling": None, "weights": "w"}),
    ],
)
def test_machines_equal_those_in_memory(method, options, data):
    machine = {"method": method, "kernel": "linear", "loss": "squared_hinge"}
    same("y ~ x1 + g", data, Generated(data), 1e-7, **machine, **options)


@pytest.mark.parametrize("method", ["prank", "cusum", "pa-cusum"])
@pytest.mark.parametrize("scaling", ["range", "standard"])
def test_online_rankers_learn_the_rows_in_their_order(method, scaling, data):
    once = {"method": method, "epochs": 1, "presentation": "order", "scaling": scaling}
    there, here = (
        ordfit("y ~ x1 + x2 + g", rows, **once) for rows in (data, Generated(data))
    )
    counted, told = (fit.fit.learned.tally for fit in (here, there))
    assert (counted.examples, counted.mistakes, counted.batches) == (
        N,
        told.mistakes,
        1,
    )
    assert np.allclose(here.fit.learned.state.weights, there.fit.learned.state.weights)
    assert (here.predict(data) == there.predict(data)).all()


@pytest.mark.parametrize("threshold", ["flexible", "equidistant"])
@pytest.mark.parametrize("of", ["y", "g"])
def test_a_level_has_all_its_rows_though_one_is_incomplete(threshold, of, monkeypatch):
    monkeypatch.setattr(scan, "SAMPLE", 1 << 18)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"x": rng.normal(size=60_000), "g": rng.choice(["a", "b"], 60_000)}
    )
    frame["y"] = np.searchsorted([-1.0, 0.5], frame.x + rng.logistic(size=60_000)) + 1
    rare = [1001, 1003, 1005, 1007]
    frame.loc[rare, "y"] = 4
    if of == "g":
        frame.loc[rare, ["g", "y"]] = [["rare", y] for y in (1, 4, 2, 4)]
    frame.loc[1003, "x"] = np.nan
    with rows_left_out(1, 60000):
        here, _ = same(
            "y ~ x + g", frame, Generated(frame, 20_000), 1e-7, threshold=threshold
        )
    assert here.levels == (1, 2, 3, 4) and here.nobs == 59_999
    assert here.level_counts[3] == {"y": 3, "g": 1}[of]


def awkward(rng):
    """Rows with rare levels whose first rows are incomplete, gaps, weights of 0, in the
    order of a column or none.
    """
    n = int(rng.integers(500, 900))
    frame = pd.DataFrame(rng.normal(size=(n, 2)), columns=["x", "z"])
    frame["g"] = pd.Series(rng.choice(["a", "b", "c"], n)).astype(object)
    frame["h"] = pd.Categorical(
        rng.choice(["v", "u", "w"], n, p=[0.5, 0.4, 0.1]), ["w", "u", "v"]
    )
    frame["w"] = rng.choice([0.0, 1.0, 2.0], n, p=[0.1, 0.6, 0.3])
    score = frame.x - 0.5 * frame.z + 0.6 * (frame.g == "b")
    frame["y"] = np.searchsorted([-1.0, 0.0, 1.5], score + rng.logistic(size=n)) + 1
    frame = (
        frame.sort_values(rng.choice(["y", "g", "h", "w"]), ignore_index=True)
        if rng.random() < 0.5
        else frame
    )
    few = np.sort(rng.choice(n, 12, replace=False))
    frame.loc[few, "g"] = "rare"
    frame.loc[few[1:3], "y"] = 5
    frame.loc[few[0], ["y", "x"]] = [5, np.nan]
    frame.loc[few[4], "z"] = np.nan
    for name, share in (("x", 0.03), ("g", 0.02), ("w", 0.02), ("y", 0.02)):
        frame.loc[(rng.random(n) < share) & ~np.isin(np.arange(n), few), name] = np.nan
    frame.loc[few[:6], "w"] = [1.0, 1.0, 2.0, 1.0, 1.0, 0.0]
    return frame


@pytest.mark.parametrize("seed", range(12))
def test_awkward_rows_give_the_fit_in_memory(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    monkeypatch.setattr(scan, "SAMPLE", int(rng.choice([300, 1000])))
    frame = awkward(rng)
    formula = [
        "y ~ x + g",
        "y ~ x + C(g, Sum) + I(h == 'u')",
        "y ~ g * I(x > 0) + h",
        "y ~ center(x) + g:h",
    ][seed % 4]
    arguments = {
        "threshold": ["flexible", "symmetric", "symmetric2", "equidistant"][seed // 3]
    }
    if rng.random() < 0.6:
        arguments["weights"] = "w"
    if rng.random() < 0.6:
        arguments["subset"] = str(
            rng.choice(["g != 'a'", "x < 1.5", "h in ['u', 'v'] | g == 'rare'"])
        )
    if seed in (0, 1, 5):
        arguments["nominal"] = "~ z"
    if seed % 4 == 3:
        arguments["penalty"] = 1.0  # some cells have few rows
    with pytest.warns(DataWarning) as told:
        here, there = same(
            formula,
            frame,
            Generated(frame, int(rng.choice([37, 101, 211]))),
            1e-6,
            **arguments,
        )
    assert here.design.dropped == there.design.dropped
    counts = [
        str(each.message)
        for each in told
        if "left out for missing" in str(each.message)
    ]
    assert len(counts) == 2 and counts[0] == counts[1]


def test_conditions_know_the_levels_of_all_blocks(data):
    by_level = data.sort_values("g", ignore_index=True)
    same("y ~ x1 + g", by_level, Generated(by_level), subset="g != 'a'")
    same(
        "y ~ x1 + I(g == 'rare')",
        by_level,
        Generated(by_level),
        weights="w * (g != 'c')",
    )
    ranked = by_level.assign(
        g=pd.Categorical(by_level.g, ["rare", "a", "b", "c"], ordered=True)
    )
    same("y ~ x1", ranked, Generated(ranked), subset="g < 'b'")
    with pytest.raises(
        FormulaError,
        match=r"compare the factor with one of its levels \('a', 'b', 'c', 'rare'",
    ):
        ordfit("y ~ x1", Generated(by_level), subset="g != 'A'")
    with pytest.raises(DataError, match="subset= selects none of the rows"):
        ordfit("y ~ x1", Generated(by_level), subset="x1 > 99")


def test_codes_of_missing_answers_are_seen_wherever_they_are(data):
    coded = data.assign(
        age=np.r_[np.tile([30.0, 40.0, 50.0], N // 3 - 1), 30.0, 999.0, 40.0]
    )
    with pytest.warns(DataWarning, match="Column age has the value 999"):
        ordfit("y ~ age", Generated(coded))


def test_separated_rows_are_refused(data):
    apart = data.assign(x1=data.y + 0.1 * np.arange(N) / N)
    with pytest.raises(
        DataError, match=r"may be separated: .* \(x1\).*Fit with penalty=1.0"
    ):
        ordfit("y ~ x1", Generated(apart))


def few_at_hand(monkeypatch, cut=2.0, slope=15.0, seed=0):
    """4000 rows of which some 20 are at hand, with a factor whose third level has nine
    rows.
    """
    monkeypatch.setattr(scan, "SAMPLE", 100)
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"x": rng.normal(size=4000), "g": rng.choice(["a", "b"], 4000)}
    )
    frame["y"] = np.searchsorted([-cut, cut], slope * frame.x + rng.logistic(size=4000))
    rare = rng.choice(4000, 9, replace=False)
    frame.loc[rare, "g"] = "rare"
    return frame, rare


@pytest.mark.parametrize("link", ["logit", "probit", "cloglog", "cauchit"])
def test_rows_that_are_not_at_hand_contradict_a_separation(link, monkeypatch):
    frame, _ = few_at_hand(monkeypatch, cut=5.0)
    here, _ = same("y ~ x", frame, Generated(frame, 1000), 1e-6, link=link)
    assert np.isfinite(here.params).all() and abs(here.coef["x"]) > 5.0


@pytest.mark.filterwarnings("ignore:nominal effects put the thresholds")
@pytest.mark.parametrize("seed", range(4))
def test_nominal_effects_of_a_rare_level_have_their_maximum(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    frame, rare = few_at_hand(monkeypatch, slope=1.0, seed=seed)
    frame.loc[rare, "y"] = np.tile([0, 1, 2], 3)
    same("y ~ x", frame, Generated(frame, 1000), 1e-6, nominal="~ g")
    light = frame.assign(
        w=2.0**-10
    )  # so light that standard errors are large, as before an infinite estimate
    same("y ~ x", light, Generated(light, 1000), 1e-5, nominal="~ g", weights="w")
    same("y ~ g", frame, Generated(frame, 1000), 1e-6, nominal="~ g:x")
    frame["y"] = np.where(
        (frame.y == 2) & (rng.random(4000) < 0.98) & (frame.g != "rare"), 1, frame.y
    )
    same("y ~ x", frame, Generated(frame, 1000), 1e-6, nominal="~ g")


@pytest.mark.parametrize(
    ("link", "rank"),
    in_turn(["logit", "probit", "cloglog", "loglog", "cauchit"], [0, 1, 2]),
)
def test_a_separated_level_stays_refused(link, rank, monkeypatch):
    frame, rare = few_at_hand(monkeypatch, slope=1.0)
    frame.loc[rare, "y"] = rank
    effects = {"nominal": "~ g"} if rank == 1 else {}
    with pytest.raises(
        DataError, match=r"may be separated: effects may be infinite \(.*g\[T.rare\]"
    ):
        ordfit(
            "y ~ x" if rank == 1 else "y ~ x + g",
            Generated(frame, 1000),
            link=link,
            **effects,
        )


@pytest.mark.parametrize(
    "formula, arguments, message",
    [
        ("y ~ poly(x1, 2)", {}, r"'poly\(x1, 2\)' needs all rows at once"),
        ("y ~ ns(x1, df=3)", {}, "needs all rows at once"),
        ("y ~ bs(x1, knots=[0])", {}, "boundary_knots="),
        ("y ~ scale(log(center(x1)))", {}, "needs all rows at once"),
        ("y ~ x1 + (1 | g)", {}, r"\(1 \| g\) needs all rows at once"),
        ("y ~ x1", {"weights": np.ones(N)}, "weights= must be the name of a column"),
        ("y ~ x1", {"method": "redsvm"}, "Use 'clm' and its links"),
        ("y ~ x1", {"method": "kernel-prank"}, "Use 'clm' and its links"),
        ("y ~ x1", {"method": "prank"}, "epochs=1, presentation='order'"),
        (
            "y ~ x1",
            {
                "method": "redsvm",
                "kernel": "linear",
                "loss": "squared_hinge",
                "C": "cv",
            },
            "C must be a number",
        ),
        ("y ~ x1", {"penalty": "jeffreys"}, "use a ridge"),
        (
            "y ~ x1",
            {"penalty": 1.0, "scale": "~ offset(off)"},
            "offset of the log scale",
        ),
        ("y ~ x1", {"calibrate": True, "method": "prank"}, "needs all rows at once"),
        ("y ~ x1", {"cluster": "judge", "vcov": "CR2"}, "CR2"),
        ("y ~ absent", {}, "no column 'absent'"),
        ("x1 ~ x2", {}, "at most"),
    ],
)
def test_what_needs_all_rows_is_refused_by_name(
    formula, arguments, message, data, monkeypatch
):
    monkeypatch.setattr(scan, "_MOST_LEVELS", 100)
    with pytest.raises((OptionError, FormulaError, DataError), match=message):
        ordfit(formula, Generated(data), **arguments)


def test_results_answer_what_needs_no_rows(data, tmp_path):
    here, there = same("y ~ x1 + g", data, Generated(data), cluster="judge")
    pd.testing.assert_frame_equal(here.tidy(), there.tidy(), rtol=1e-6)
    pd.testing.assert_frame_equal(
        here.errors(data)[["new data"]], there.errors(data)[["new data"]]
    )
    assert "6000" in str(here.summary()) and "Training rows" not in str(
        here.summary("all")
    )
    for question in (
        "predict",
        "augment",
        "model_matrix",
        "response",
        "errors",
        "residuals",
        "influence",
        "emmeans",
        "bootstrap",
    ):
        with unavailable("rows in blocks"):
            getattr(here, question)()
    some = data.head(300)
    for name in ("errors", "confusion", "reliability", "calibration_slopes"):
        of_other_rows = getattr(here, name)(some)
        there_too = getattr(there, name)(some)
        pd.testing.assert_index_equal(of_other_rows.index, there_too.index)
    assert here.simulate(newdata=some).shape == (300, 1)
    assert len(here.importance(newdata=some)) == 2
    with pytest.raises(UnavailableError):
        here.errors(data, cv=3)
    here.save(tmp_path / "fit.ordstat")
    again = ordstat.load(tmp_path / "fit.ordstat")
    assert np.array_equal(again.se, here.se)
    assert (again.predict(data) == there.predict(data)).all()


def test_few_clusters_have_t_without_cr2(data):
    few = data.assign(judge=np.arange(N) % 12)
    with pytest.warns(DataWarning, match="CR2 is not available for rows in blocks"):
        here = ordfit("y ~ x1", Generated(few), cluster="judge")
    there = ordfit("y ~ x1", few, vcov={"cluster": "judge", "type": "CR1"})
    assert np.allclose(here.se, there.se, rtol=1e-6) and here.own_covariance.df == 11.0


def test_importing_ordstat_imports_no_source():
    code = (
        "import ordstat, sys; print([m for m in ('polars', 'duckdb', 'dask',"
        " 'ordstat.blocks') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("weights", [None, "w"])
@pytest.mark.filterwarnings("ignore:.* rows left out for missing values")
def test_rows_that_are_not_fitted_shape_no_column(data, weights):
    holes = data.sample(frac=1.0, random_state=4, ignore_index=True)
    holes["y"] = holes["y"].where(holes.index % 7 > 0)
    holes["x2"] = holes["x2"].where(holes.index % 11 > 0)
    holes["x1"] += 30.0 * (holes.y.isna() | holes.x2.isna() | (holes.w == 0))
    formula = (
        "y ~ scale(x1) + center(`odd name`) + ns(x2, knots=[0], boundary_knots=[-2, 2])"
    )
    same(formula, holes, Generated(holes), weights=weights)
    fitted = holes.dropna()
    fitted = fitted if weights is None else fitted.loc[fitted.index.repeat(fitted.w)]
    here = ordfit(formula, Generated(holes), weights=weights)
    state = here.design.spec.states["scale(x1)"]
    assert state.center == pytest.approx(fitted.x1.mean(), rel=1e-12)
    assert state.scale == pytest.approx(fitted.x1.std(), rel=1e-12)


def test_rows_outside_the_boundary_knots_may_be_incomplete(data):
    holes = data.assign(x1=data.x1.clip(-3, 3))
    holes.loc[::9, "x1"] = 40.0
    holes.loc[::9, "x2"] = np.nan
    formula = "y ~ bs(x1, knots=[0], boundary_knots=[-3, 3]) + x2"
    with rows_left_out():
        same(formula, holes, Generated(holes))
