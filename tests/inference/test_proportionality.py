"""Tests of proportionality: score and information by differences, Brant's construction
row by row, refits.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from expected import absent_levels
from formula.survey_samples import sample as load_survey
from likelihood.dense import Dense
from reference_cases import load_data
from scipy import stats

from ordstat import SurveyDesign, datasets, ordfit
from ordstat.exceptions import DataError, OptionError


@dataclass(frozen=True, eq=False)
class AtLevel(Dense):
    """All rows at one level, of a response with more."""

    cuts: int = 0

    @property
    def n_cuts(self):
        return self.cuts


def score_statistic(dense, point):
    """U' J^-1 U by differences of the likelihood written out, J expected over all
    levels of every row.
    """
    w = np.ones(dense.y.size) if dense.weights is None else dense.weights
    U = w @ dense.scores(point)
    J = np.zeros((point.size, point.size))
    for level in range(dense.n_cuts + 1):
        y = np.full(dense.y.size, level)
        there = AtLevel(
            dense.X,
            y,
            dense.link,
            dense.nominal,
            dense.scale,
            dense.weights,
            dense.n_cuts,
        )
        scores = there.scores(point)
        J += (scores * (w * np.exp(there.row_logliks(point)))[:, None]).T @ scores
    return U @ np.linalg.solve(J, U)


@pytest.mark.parametrize("link", ["logit", "probit", "cloglog", "loglog"])
def test_score_test_by_differences(link):
    data = load_data("sim500")
    fit = ordfit("y ~ x1 + f", data=data, method=link, weights=1 + np.arange(500) % 2)
    table = fit.score_test()
    s = fit.design.sample
    theta = fit.thresholds.to_numpy()
    beta = fit.coef.to_numpy()
    chosen = {"x1": [0], "f": [1, 2], "omnibus": [0, 1, 2]}
    assert table.index.tolist() == list(chosen)
    for name, freed in chosen.items():
        kept = [j for j in range(3) if j not in freed]
        dense = Dense(s.X[:, kept], s.y, link, nominal=s.X[:, freed], weights=s.weights)
        point = np.concatenate([theta, np.repeat(-beta[freed], theta.size), beta[kept]])
        assert table.loc[name, "chisq"] == pytest.approx(
            score_statistic(dense, point), rel=2e-4
        )
        assert table.loc[name, "df"] == len(freed) * (theta.size - 1)
        assert table.loc[name, "p_value"] == pytest.approx(
            stats.chi2(table.loc[name, "df"]).sf(table.loc[name, "chisq"]), rel=1e-9
        )


def test_score_test_beside_nominal_and_scale_effects():
    data = load_data("sim800")
    fit = ordfit("y ~ x1 + x2", data=data, nominal="~ x3", scale="~ g")
    s = fit.design.sample
    p = fit.params.to_numpy()
    theta = p[:3]
    gamma = p[3:6]
    beta = p[6:8]
    zeta = p[8:]
    dense = Dense(
        s.X[:, 1:],
        s.y,
        nominal=np.hstack([s.rows.nominal, s.X[:, :1]]),
        scale=s.rows.scale,
    )
    point = np.concatenate([theta, gamma, np.repeat(-beta[0], 3), beta[1:], zeta])
    assert fit.score_test().loc["x1", "chisq"] == pytest.approx(
        score_statistic(dense, point), rel=2e-4
    )


def test_codings_do_not_matter():
    data = load_data("sim500")
    one, other = (
        ordfit("y ~ x1 * f", data=data, contrasts=contrasts)
        for contrasts in ({}, {"f": "helmert"})
    )
    for test in ("score_test", "nominal_test", "scale_test"):
        a = getattr(one, test)()
        b = getattr(other, test)()
        np.testing.assert_allclose(
            a.to_numpy(dtype=float), b.to_numpy(dtype=float), rtol=1e-6, atol=1e-7
        )


def bread(dense, p, h=1e-4):
    """Inverse of minus the differences of the scores."""
    steps = h * np.eye(p.size)
    return np.linalg.inv(
        [
            dense.weights @ (dense.scores(p - e) - dense.scores(p + e)) / (2 * h)
            for e in steps
        ]
    )


@pytest.mark.parametrize("kind", ["HC0", "cluster", "survey"])
def test_wald_tests_by_hand(kind):
    """One effect per threshold of age, of both, maximised by scipy; their differences
    by a sandwich row by row.
    """
    data = load_survey().assign(
        pid=lambda d: np.digitize(d["pid"], [3, 5]), age=lambda d: d["age"] / 20
    )
    w = (
        data["w"].to_numpy() / data["w"].mean()
        if kind == "survey"
        else np.ones(len(data))
    )
    psu = data["psu"].to_numpy()
    strata = data.groupby("psu")["s"].first()

    def sums(scores):
        if kind == "HC0":
            return scores.T @ scores
        totals = pd.DataFrame(scores).groupby(psu).sum()
        if kind == "cluster":
            return len(totals) / (len(totals) - 1) * (totals.T @ totals).to_numpy()
        parts = [len(part) * np.cov(part.T) for _, part in totals.groupby(strata)]
        return sum(parts)

    design = {
        "survey": {"design": SurveyDesign(weights="w", strata="s", clusters="psu")}
    }
    given = design.get(
        kind, {"cluster": "psu"} if kind == "cluster" else {"vcov": kind}
    )
    fit = ordfit("pid ~ educ + age", data, **given)
    table = fit.nominal_test()
    X = fit.design.sample.X
    theta = fit.thresholds
    beta = fit.coef.to_numpy()
    for name, freed in {"age": [1], "omnibus": [0, 1]}.items():
        kept = [j for j in (0, 1) if j not in freed]
        dense = Dense(
            X[:, kept], data["pid"].to_numpy(), nominal=X[:, freed], weights=w
        )
        p = np.concatenate([theta, np.repeat(-beta[freed], 2), beta[kept]])
        for _ in range(25):  # Newton's method in half steps
            p = p + 0.5 * bread(dense, p) @ (w @ dense.scores(p))
        L = np.array(
            [
                np.eye(p.size)[3 + 2 * j] - np.eye(p.size)[2 + 2 * j]
                for j in range(len(freed))
            ]
        )
        V = bread(dense, p) @ sums(w[:, None] * dense.scores(p)) @ bread(dense, p)
        W = L @ p @ np.linalg.solve(L @ V @ L.T, L @ p)
        q = len(freed)
        # 24 PSUs less 4 strata
        statistic = W * (20 - q + 1) / (20 * q) if kind == "survey" else W
        assert table.loc[name, "F" if kind == "survey" else "chisq"] == pytest.approx(
            statistic, rel=1e-4
        )
        tail = stats.f(q, 20 - q + 1) if kind == "survey" else stats.chi2(q)
        assert table.loc[name, "p_value"] == pytest.approx(tail.sf(statistic), rel=1e-3)


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.DataWarning")
def test_wald_tests_that_there_are_not() -> None:
    wine = load_data("wine")
    table = ordfit("rating ~ temp + contact", wine, vcov="HC1").nominal_test()
    assert table["p_value"].isna().tolist() == [True, False, True]
    assert (
        "no test of temp, omnibus: some effects at single thresholds are infinite"
        in table.attrs["notes"][0]
    )
    few = ordfit("rating ~ temp + contact", wine, cluster="judge")  # CR2
    assert (
        few.nominal_test()["p_value"].isna().all()
        and "CR1" in few.nominal_test().attrs["notes"][0]
    )
    assert (
        few.with_vcov({"cluster": "judge", "type": "CR1"})
        .nominal_test()
        .loc["contact", "p_value"]
        > 0.0
    )
    assert "Proportional odds" not in str(few.summary())


def brant_by_rows(X, y, K):
    """Brant (1990): binary logits by statsmodels, covariances summed row by row."""
    full = sm.add_constant(X)
    fits = [
        sm.Logit((y > k).astype(int), full).fit(disp=False, tol=1e-12)
        for k in range(K - 1)
    ]
    pi = np.array([fit.predict(full) for fit in fits])
    inverse = [
        np.linalg.inv(
            sum(p * (1 - p) * np.outer(x, x) for p, x in zip(row, full, strict=True))
        )
        for row in pi
    ]
    size = full.shape[1]
    V = np.zeros((K - 1, size, K - 1, size))
    for m in range(K - 1):
        for other in range(K - 1):
            low = min(m, other)
            high = max(m, other)
            weights = pi[high] - pi[low] * pi[high]
            middle = sum(w * np.outer(x, x) for w, x in zip(weights, full, strict=True))
            V[m, :, other] = inverse[m] @ middle @ inverse[other]
    return np.array([fit.params for fit in fits]), V


def test_brant_row_by_row():
    data = load_data("sim500")
    fit = ordfit("y ~ x1 + x2 + f", data=data)
    table = fit.brant()
    X = fit.design.sample.X
    y = fit.design.sample.y
    estimates, V = brant_by_rows(X, y, 5)
    for name, columns in {"x1": [1], "f": [3, 4], "omnibus": [1, 2, 3, 4]}.items():
        D = [(k, j) for k in range(1, 4) for j in columns]
        d = np.array([estimates[0, j] - estimates[k, j] for k, j in D])
        C = np.array(
            [
                [
                    V[0, i, 0, j] - V[0, i, m, j] - V[k, i, 0, j] + V[k, i, m, j]
                    for m, j in D
                ]
                for k, i in D
            ]
        )
        assert table.loc[name, "chisq"] == pytest.approx(
            d @ np.linalg.solve(C, d), rel=1e-6
        )
        assert table.loc[name, "df"] == len(D)
    np.testing.assert_allclose(
        table.attrs["coefficients"]["at 2|3"], estimates[1, 1:], rtol=1e-6
    )


def test_brant_of_other_links_and_costs():
    """The construction holds for any link; a cost of K x K does not reach the binary
    fits.
    """
    data = load_data("sim500")
    table = ordfit(
        "y ~ x1",
        data=data,
        method="probit",
        cost=np.abs(np.subtract.outer(range(5), range(5))),
    ).brant()
    logit = ordfit("y ~ x1", data=data).brant()
    assert table.loc["x1", "df"] == 3
    assert (
        abs(table.loc["x1", "chisq"] - logit.loc["x1", "chisq"])
        < 0.5 * logit.loc["x1", "chisq"] + 0.5
    )


def test_brant_says_where_a_regression_is_separated():
    table = ordfit("rating ~ temp * contact", data=load_data("wine")).brant()
    assert table["chisq"].isna().all() and "1|2" in table.attrs["notes"][0]


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.SeparationWarning")
def test_wider_models_are_refits():
    fit = ordfit("rating ~ temp + contact", data=load_data("wine"))
    nominal = fit.nominal_test()
    scale = fit.scale_test("temp")
    for term in ("temp", "contact"):
        wider = fit.update(f"~ . - {term}", nominal=f"~ {term}")
        assert nominal.loc[term, "loglik"] == pytest.approx(wider.loglik, abs=1e-7)
        assert nominal.loc[term, "df"] == wider.edf - fit.edf
    assert "temp" in nominal.attrs["notes"][0]  # its estimates are infinite
    assert scale.index.tolist() == ["<none>", "temp"]
    assert scale.loc["temp", "loglik"] == pytest.approx(
        fit.update(scale="~ temp").loglik, abs=1e-8
    )
    partial = fit.update(nominal="~ contact", formula="~ temp", scale="~ contact")
    assert partial.nominal_test().index.tolist() == ["<none>", "temp"]
    assert partial.scale_test().index.tolist() == ["<none>", "temp"]


@pytest.mark.parametrize(
    ("arguments", "test", "match"),
    [
        ({"formula": "yb ~ x1", "data": "two"}, "brant", "2 levels"),
        ({"formula": "yb ~ x1", "data": "two"}, "score_test", "2 levels"),
        ({"formula": "rating ~ 1"}, "score_test", "no location effects"),
        ({"nominal": "~ contact", "formula": "rating ~ temp"}, "brant", "nominal_test"),
        ({"threshold": "equidistant"}, "score_test", "structured thresholds"),
        ({"threshold": "equidistant"}, "brant", "structured thresholds"),
    ],
)
def test_where_there_is_nothing_to_test(arguments, test, match):
    data = load_data(arguments.pop("data", "wine"))
    fit = ordfit(
        arguments.pop("formula", "rating ~ temp + contact"), data=data, **arguments
    )
    with pytest.raises(OptionError, match=match):
        getattr(fit, test)()


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.OrdstatWarning")
def test_a_covariance_that_is_none_gives_no_test() -> None:
    """The pieces of Brant's covariance come from several fits: of few rows they may not
    make a covariance together.
    """
    untested = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        x = rng.standard_normal((24, 2))
        y = np.searchsorted([-1.5, 0.0, 1.5], x[:, 0] + rng.logistic(size=24))
        fit = ordfit(
            "y ~ a + b",
            {"a": x[:, 0], "b": x[:, 1], "y": y},
            "loglog",
            levels=[0, 1, 2, 3],
        )
        if fit.fit.separation is not None:
            continue
        table = fit.brant()
        assert (
            np.isnan(table["chisq"]).any() == bool(table.attrs["notes"])
            and not (table["chisq"] < 0.0).any()
        )
        untested += any("not positive" in note for note in table.attrs["notes"])
    assert untested > 0


@pytest.mark.parametrize(
    ("seed", "untested"),
    [(0, ["r", "omnibus"]), (6, ["omnibus"]), (9, ["r", "omnibus"])],
)
def test_brant_has_no_test_by_an_indefinite_covariance(seed, untested) -> None:
    rng = np.random.default_rng(seed)
    n = 150
    d = pd.DataFrame(
        {
            "r": rng.choice(list("abcd"), n, p=[0.55, 0.1, 0.05, 0.3]),
            "x": rng.normal(size=n),
        }
    )
    d["y"] = np.digitize(0.8 * d.x + rng.logistic(size=n), [-2, -1, 1, 1.5, 2])
    table = ordfit("y ~ r + x", d).brant()
    assert table.index[table["p_value"].isna()].tolist() == untested and np.isfinite(
        table.loc["x", "chisq"]
    )
    assert (
        "covariance of the 5 binary regressions is not positive definite"
        in table.attrs["notes"][0]
    )


def test_one_threshold_has_nothing_to_differ_from() -> None:
    wine = load_data("wine").assign(good=lambda d: d["rating"].astype(int) > 2)
    table = ordfit("good ~ temp + contact", wine).nominal_test()
    assert table["p_value"].isna().all()
    assert "one threshold: effects cannot differ" in " ".join(str(table).split())
    assert "one threshold" not in str(ordfit("rating ~ temp", wine).nominal_test())


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.SeparationWarning")
def test_score_tests_say_why_there_are_none() -> None:
    data = pd.DataFrame(
        {
            "x": range(9),
            "z": [0, 1, 0, 1, 1, 0, 1, 0, 0],
            "y": [1] * 3 + [2] * 3 + [3] * 3,
        }
    )
    table = ordfit("y ~ x + z", data).score_test()
    assert table["chisq"].isna().all()
    assert table.attrs["notes"][0].startswith("no test: the response is separated")
    assert not ordfit("rating ~ temp", load_data("wine")).score_test().attrs["notes"]


def test_tables_of_brant_can_be_put_together():
    """pandas compares the attributes of frames that it joins; arrays among them have no
    truth value.
    """
    data = load_data("wine")
    one, other = (
        ordfit("rating ~ contact", data[data["judge"].astype(int) % 3 != k]).brant()
        for k in (0, 1)
    )
    assert pd.concat([one, other]).shape == (4, 3)


@pytest.mark.parametrize("levels", [3, 4])
def test_thresholds_of_every_group_leave_nothing_for_its_scale(levels: int) -> None:
    """y ~ g with scale ~ g has a likelihood-ratio test against the shares of each
    group, and no score test.
    """
    rng = np.random.default_rng(1)
    data = pd.DataFrame(
        {"g": rng.choice(list("ABC"), 200), "y": rng.integers(0, levels, 200)}
    )
    fit = ordfit("y ~ g", data, scale="~ g")
    table = fit.score_test()
    assert table["chisq"].isna().all()
    assert "use nominal_test()" in repr(table).replace("\n", " ")
    str(fit.summary())
    counts = pd.crosstab(data["g"], data["y"]).to_numpy()
    saturated = float(
        (counts * np.log(counts / counts.sum(axis=1, keepdims=True))).sum()
    )
    assert fit.nominal_test().loc["g", "lrt"] == pytest.approx(
        2.0 * (saturated - fit.loglik), abs=1e-6
    )


def likert(seed, n=140):
    """Two five-level answers and a third that depends on both by proportional odds."""
    rng = np.random.default_rng(seed)
    q1 = rng.choice(5, n, p=[0.07, 0.13, 0.3, 0.3, 0.2])
    q2 = rng.choice(5, n, p=[0.07, 0.13, 0.25, 0.35, 0.2])
    y = np.digitize(0.7 * q1 + 0.7 * q2 + rng.logistic(size=n), [0.6, 1.8, 3.4, 5.1])
    return pd.DataFrame({"q1": q1, "q2": q2, "y": y})


def test_the_score_test_of_few_rows_keeps_its_size() -> None:
    """The observed information, which is often indefinite here, would reject 29 of 100
    true models.
    """
    p = []
    for seed in range(60):
        fit = ordfit("y ~ C(q1) + C(q2)", likert(seed))
        table = fit.score_test()
        p.append(table.loc["omnibus", "p_value"])
        text = " ".join(str(fit.summary()).split())
        if np.isnan(p[-1]):
            assert (
                "Equal effects at all thresholds were not tested: " in text
                or "no joint test, as" in text
            )
            assert table.attrs["notes"]
        else:
            assert "Proportional odds, score test: chi2(24) = " in text
    assert np.isfinite(p).sum() >= 45 and np.nanmean(np.array(p) < 0.05) < 0.2


def test_a_term_that_has_a_test_is_named_where_the_joint_test_has_none() -> None:
    """Level 4 has six rows: one column is freed, eight are not."""
    data = likert(3, 400)
    data["y"] = np.where((data.y == 4) & (np.arange(400) > 60), 3, data.y)
    data["x"] = np.random.default_rng(0).normal(size=400)
    fit = ordfit("y ~ C(q1) + C(q2) + x", data)
    rows = int((data.y == 4).sum())
    table = fit.score_test()
    assert (
        np.isnan(table.loc["omnibus", "p_value"])
        and np.isfinite(table.loc["x", "p_value"])
        and rows <= 9
    )
    text = " ".join(str(fit.summary()).split())
    assert f"alone, p = .{1000 * table['p_value'].min():03.0f}" in text
    assert (
        f"no joint test, as level 4 has {rows} rows" in text
        and "not tested" not in text
    )


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"penalty": 2.0}, "no score test of fits with a penalty"),
        (
            {"threshold": "equidistant"},
            "no score test of fits with structured thresholds",
        ),
        ({"link": "log-gamma"}, "a link with a parameter. Use nominal_test()"),
    ],
)
def test_the_summary_says_why_there_is_no_test(options, reason) -> None:
    text = " ".join(
        str(ordfit("y ~ x1 + f", load_data("sim500"), **options).summary()).split()
    )
    assert f"Equal effects at all thresholds: {reason}" in text or reason in text


@pytest.mark.parametrize(
    "formula", ["y ~ x1 * x2", "y ~ x1 * f", "y ~ x1 + x2:f + x2 + f"]
)
def test_interactions_do_not_depend_on_the_origin(formula) -> None:
    """Nor on the unit; every term has the same test, whatever is 0."""
    data = load_data("sim500")
    moved = data.assign(x1=data.x1 + 3.0, x2=10.0 * data.x2 - 50.0)
    one, other = (ordfit(formula, each) for each in (data, moved))
    for test in ("score_test", "nominal_test", "scale_test"):
        a = getattr(one, test)()
        b = getattr(other, test)()
        np.testing.assert_allclose(a["p_value"], b["p_value"], rtol=1e-4, atol=1e-7)
    wald = [
        ordfit(formula, each, vcov="HC1").nominal_test()["p_value"]
        for each in (data, moved)
    ]
    np.testing.assert_allclose(*wald, rtol=1e-4, atol=1e-7)


def test_the_table_names_the_terms_that_are_freed_with_an_interaction() -> None:
    """Which have their own rows; a product of factors holds its margins anyway."""
    data = load_data("sim500")
    with_number = ordfit("y ~ f * x1", data)
    of_factors = ordfit("y ~ f * g", data.assign(g=data.x1 > 0.0))
    for test in ("nominal_test", "scale_test"):
        notes = getattr(with_number, test)().attrs["notes"]
        assert notes[-1] == "f:x1 is tested together with f, x1."
        notes = getattr(of_factors, test)().attrs["notes"]
        assert not any("together" in note for note in notes)


def test_advice_on_an_interaction_frees_its_margins() -> None:
    """The slope of x differs between thresholds only where z is large."""
    rng = np.random.default_rng(1)
    x, z = rng.normal(size=(2, 3000))
    u = rng.logistic(size=3000)
    data = pd.DataFrame(
        {
            "x": x,
            "z": z,
            "y": (u < 0.5 + 0.9 * x * z).astype(int) + (u < -1.5 - 0.2 * x * z),
        }
    )
    for origin in (0.0, 20.0):
        text = str(
            ordfit("y ~ x * z", data.assign(z=data.z + origin)).summary()
        ).replace("\n", " ")
        assert 'update("~ . - x - z - x:z", nominal="~ x + z + x:z")' in " ".join(
            text.split()
        )


@pytest.mark.parametrize("seed", [0, 1, 4])
def test_one_row_that_breaks_proportional_odds_is_named(seed) -> None:
    """A mistyped x: with it equal effects are rejected, in the fit without it they are
    not.
    """
    rng = np.random.default_rng(seed)
    x = rng.normal(size=120)
    y = np.digitize(x + rng.logistic(size=120), [-1.0, 1.0])
    x[17] = 20.0
    y[17] = 1
    data = pd.DataFrame({"x": x, "y": y}, index=[f"case {i}" for i in range(120)])
    fit = ordfit("y ~ x", data)
    without = (
        ordfit("y ~ x", data.drop(index="case 17"))
        .score_test()
        .loc["omnibus", "p_value"]
    )
    assert fit.score_test().loc["omnibus", "p_value"] < 0.05 < without
    text = " ".join(str(fit.summary()).split())
    assert (
        f"Row 'case 17' alone makes them differ: without it p = .{1000 * without:03.0f}"
        in text
    )
    assert "Try update" not in text


def test_advice_stands_where_no_single_row_matters() -> None:
    text = str(ordfit("PID ~ selfLR + educ + age", datasets.load("anes96")).summary())
    assert "alone makes them differ" not in text and "Try update" in " ".join(
        text.split()
    )


@pytest.mark.parametrize("method", ["logit", "probit", "acat", "cratio"])
@pytest.mark.parametrize(
    "options", [{}, {"scale": "~ z"}, {"nominal": "~ z"}, {"threshold": "equidistant"}]
)
def test_levels_without_rows_change_no_estimate_and_no_test(method, options):
    """They have no thresholds: all is that of the fit without them."""
    rng = np.random.default_rng(11)
    data = pd.DataFrame({"x": rng.normal(size=150), "z": rng.normal(size=150)})
    data["y"] = np.array([2, 3, 5])[
        np.digitize(data["x"] + rng.logistic(size=150), [-1, 1])
    ]
    narrow = ordfit("y ~ x", data, method, **options)
    with absent_levels("1", "4", "6"):
        wide = ordfit("y ~ x", data, method, levels=[1, 2, 3, 4, 5, 6], **options)
    assert wide.loglik == narrow.loglik
    pd.testing.assert_series_equal(
        wide.coef.dropna(), narrow.coef.dropna(), check_index=False
    )
    np.testing.assert_allclose(wide.se.dropna(), narrow.se.dropna())
    p = wide.predict(data, type="prob")
    np.testing.assert_allclose(
        p[[2, 3, 5]], narrow.predict(data, type="prob"), atol=1e-14
    )
    assert (p[[1, 4, 6]] == 0).all(axis=None)
    place = p.to_numpy() @ np.arange(1, 7)
    np.testing.assert_allclose(wide.predict(data, type="mean"), place)
    means, others = (fit.emmeans("x", at={"x": [0, 1]}).frame for fit in (wide, narrow))
    pd.testing.assert_frame_equal(
        pd.DataFrame(means), pd.DataFrame(others), check_exact=False
    )
    slopes = [fit.marginal_effects("x").tidy() for fit in (wide, narrow)]
    kept = slopes[0]["level"].isin([2, 3, 5]).to_numpy()
    np.testing.assert_allclose(
        slopes[0]["estimate"][kept], slopes[1]["estimate"], atol=1e-10
    )
    np.testing.assert_allclose(
        slopes[0]["std_error"][kept], slopes[1]["std_error"], atol=1e-10
    )
    if options.get("threshold") is None:
        for test in ("score_test", "nominal_test"):
            np.testing.assert_allclose(
                getattr(wide, test)()["p_value"].dropna(),
                getattr(narrow, test)()["p_value"].dropna(),
                rtol=1e-5,
            )
    assert "were not tested" not in str(wide.summary())


@pytest.mark.parametrize("vcov", ["model", "HC0"])
def test_many_levels_of_one_row_have_no_effects_at_thresholds(vcov):
    data = pd.DataFrame({"y": np.arange(80.0), "x": np.arange(80) % 3})
    fit = ordfit("y ~ x", data, levels="all", vcov=vcov)
    with pytest.raises(DataError, match="at each of 79 thresholds"):
        fit.nominal_test()
    assert "merge levels" in " ".join(str(fit.summary()).split())
