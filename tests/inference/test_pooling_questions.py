"""Questions to pooled fits: the answers of single fits, combined by the rules of R's
mice written out.
"""

import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import expit, logit

from inference.imputed import FRAMES, fits
from ordstat import DataError, DataWarning, OptionError, datasets, ordfit, pool, table

CLOSE = {"rtol": 1e-9, "atol": 1e-12}


def by_rules(estimates, errors, df_complete):
    """mice::pool.scalar: estimate, standard error and degrees of freedom of each
    column.
    """
    Q = np.asarray(estimates, dtype=float)
    U = np.asarray(errors, dtype=float) ** 2
    m = len(estimates)
    between = (1 + 1 / m) * np.var(Q, axis=0, ddof=1)
    total = np.mean(U, axis=0) + between
    share = between / total
    old = (m - 1) / share**2
    observed = (df_complete + 1) / (df_complete + 3) * df_complete * (1 - share)
    return np.mean(Q, axis=0), np.sqrt(total), old * observed / (old + observed)


def limits(estimate, error, df, level=0.95):
    half = stats.t.ppf(0.5 + level / 2, df) * error
    return estimate - half, estimate + half


def logit_limits(estimates, errors, df_complete, low=0.0, high=1.0, level=0.95):
    shares = (np.asarray(estimates) - low) / (high - low)
    width = high - low
    pooled = by_rules(
        logit(shares), np.asarray(errors) / width / shares / (1 - shares), df_complete
    )
    return [low + width * expit(end) for end in limits(*pooled, level)]


def wine_frames():
    wine = datasets.load("wine")
    rng = np.random.default_rng(1)
    drawn = [rng.choice(["no", "yes"], 72) for _ in range(5)]
    return [
        wine.assign(
            contact=wine["contact"].where(wine.index % 5 > 0, values),
            x=np.arange(72) % 7 + rng.normal(size=72) * (wine.index % 4 == 0),
        )
        for values in drawn
    ]


#: Fits to two data sets: a factor with a common response, and a number.
CASES = {
    "mice": (lambda: fits("y ~ x1 * g + x2"), "g", "x1"),
    "wine": (
        lambda: fits("rating ~ temp + contact * x", wine_frames(), method="probit"),
        "contact",
        "x",
    ),
}


@pytest.fixture(scope="module", params=list(CASES))
def case(request):
    make, factor, numeric = CASES[request.param]
    single = make()
    return single, pool(single), factor, numeric


def columns(tables, name):
    return np.array([table[name].to_numpy() for table in tables])


def agrees(frame, tables, complete, prefix=""):
    estimate, error, df = by_rules(
        columns(tables, "estimate"), columns(tables, "std_error"), complete
    )
    for name, values in {"estimate": estimate, "std_error": error, "df": df}.items():
        np.testing.assert_allclose(frame[name], values, **CLOSE)
    return estimate, error, df


def held(single, name):
    """The mean over the fits of the mean of a number."""
    return float(np.mean([fit.design.data[name].mean() for fit in single]))


def grid(single, numeric):
    numbers = [name for name in ("x1", "x2", "x") if name in single[0].design.data]
    return {name: held(single, name) for name in numbers}


def test_means_and_their_contrasts(case):
    single, pooled, factor, numeric = case
    at = grid(single, numeric)
    given = [fit.emmeans(factor, at=at) for fit in single]
    means = pooled.emmeans(factor)
    pieces = agrees(means.frame, [each.frame for each in given], pooled.df_complete)
    np.testing.assert_allclose(
        means.frame[["lower", "upper"]].T, limits(*pieces), **CLOSE
    )
    contrasts = means.contrasts(adjust="none")
    pieces = agrees(
        contrasts, [each.contrasts(adjust="none") for each in given], pooled.df_complete
    )
    np.testing.assert_allclose(
        contrasts[["lower", "upper"]].T, limits(*pieces), **CLOSE
    )
    np.testing.assert_allclose(
        contrasts["p_value"],
        2 * stats.t.sf(np.abs(pieces[0] / pieces[1]), pieces[2]),
        **CLOSE,
    )
    assert "by Rubin's rules over" in str(means) and "imputation 1" not in str(means)


@pytest.mark.parametrize("scale", ["prob", "cum_prob", "mean"])
def test_means_of_bounded_scales(case, scale):
    single, pooled, factor, numeric = case
    given = [
        fit.emmeans(factor, at=grid(single, numeric), scale=scale).frame
        for fit in single
    ]
    frame = pooled.emmeans(factor, scale=scale, level=0.9).frame
    estimates = columns(given, "estimate")
    errors = columns(given, "std_error")
    ends = (1.0, float(len(pooled.levels))) if scale == "mean" else (0.0, 1.0)
    agrees(frame, given, pooled.df_complete)
    expected = logit_limits(estimates, errors, pooled.df_complete, *ends, level=0.9)
    np.testing.assert_allclose(frame[["lower", "upper"]].T, expected, **CLOSE)
    if scale == "prob":
        np.testing.assert_allclose(
            frame.groupby(factor)["estimate"].sum(), 1.0, rtol=1e-12
        )


def test_odds_are_pooled_as_logs(case):
    single, pooled, factor, numeric = case
    at = grid(single, numeric)
    logs = [
        fit.emmeans(factor, at=at, scale="log_odds").contrasts(adjust="none")
        for fit in single
    ]
    pieces = by_rules(
        columns(logs, "estimate"), columns(logs, "std_error"), pooled.df_complete
    )
    odds = pooled.emmeans(factor, scale="odds").contrasts(adjust="none")
    np.testing.assert_allclose(odds["estimate"], np.exp(pieces[0]), **CLOSE)
    np.testing.assert_allclose(
        odds[["lower", "upper"]].T, np.exp(limits(*pieces)), **CLOSE
    )


def test_slopes(case):
    single, pooled, factor, numeric = case
    at = grid(single, numeric)
    given = [fit.emtrends(factor, numeric, at=at) for fit in single]
    slopes = pooled.emtrends(factor, numeric)
    agrees(slopes.frame, [each.frame for each in given], pooled.df_complete)
    agrees(slopes.contrasts(), [each.contrasts() for each in given], pooled.df_complete)


@pytest.mark.parametrize(
    "options", [{}, {"scale": "mean"}, {"scale": "latent", "change": 0.5}]
)
def test_marginal_effects(case, options):
    """Averages over the rows of each fit; at places, their differences."""
    single, pooled, factor, numeric = case
    given = [fit.marginal_effects(numeric, **options) for fit in single]
    effects = pooled.marginal_effects(numeric, **options)
    pieces = agrees(effects.frame, [each.frame for each in given], pooled.df_complete)
    np.testing.assert_allclose(
        effects.frame[["lower", "upper"]].T, limits(*pieces), **CLOSE
    )
    places = [
        fit.marginal_effects(
            factor, at={numeric: [0.0, 1.0]}, **options | {"change": None}
        )
        for fit in single
    ]
    by_place = pooled.marginal_effects(
        factor, at={numeric: [0.0, 1.0]}, **options | {"change": None}
    )
    agrees(by_place.frame, [each.frame for each in places], pooled.df_complete)
    differences = [each.contrasts(adjust="none") for each in places]
    agrees(by_place.contrasts(adjust="none"), differences, pooled.df_complete)


def test_effects_in_every_row(case):
    single, pooled, factor, _ = case
    given = [
        fit.marginal_effects(factor, at="rows", scale="mean").frame for fit in single
    ]
    agrees(
        pooled.marginal_effects(factor, at="rows", scale="mean").frame,
        given,
        pooled.df_complete,
    )


def test_pooled_hazards_have_limits_as_logits():
    fits = [ordfit("rating ~ temp + contact", one, "cratio") for one in wine_frames()]
    new = wine_frames()[0].head(3)
    pooled = pool(fits)
    given = [fit.predict(new, "hazard", se=True) for fit in fits]
    expected = logit_limits(
        [each["estimate"].to_numpy() for each in given],
        [each["std_error"].to_numpy() for each in given],
        pooled.df_complete,
    )
    out = pooled.predict(new, "hazard", interval="confidence")
    for name, values in zip(("lower", "upper"), expected, strict=True):
        np.testing.assert_allclose(out[name], values, **CLOSE)


@pytest.mark.parametrize(
    "type", ["prob", "cum_prob", "mean", "score", "linear_predictor"]
)
def test_predictions(case, type):
    single, pooled, _, numeric = case
    new = single[0].design.data.head(9).reset_index(drop=True)
    new.loc[4, numeric] = np.nan
    given = [fit.predict(new, type, se=True) for fit in single]
    # P(y <= highest) is 1
    kept = slice(None, -1) if type == "cum_prob" else slice(None)
    estimates, errors = (
        [np.asarray(each[name])[..., kept] for each in given]
        for name in ("estimate", "std_error")
    )
    out = pooled.predict(new, type, se=True, interval="confidence", level=0.9)
    estimate, error, df = by_rules(estimates, errors, pooled.df_complete)
    np.testing.assert_allclose(
        np.asarray(out["estimate"])[..., kept], estimate, **CLOSE
    )
    np.testing.assert_allclose(np.asarray(out["std_error"])[..., kept], error, **CLOSE)
    np.testing.assert_allclose(pooled.predict(new, type), out["estimate"], **CLOSE)
    if type in ("score", "linear_predictor"):
        expected = limits(estimate, error, df, 0.9)
    else:
        ends = (1.0, float(len(pooled.levels))) if type == "mean" else (0.0, 1.0)
        expected = logit_limits(estimates, errors, pooled.df_complete, *ends, level=0.9)
    for name, values in zip(("lower", "upper"), expected, strict=True):
        np.testing.assert_allclose(np.asarray(out[name])[..., kept], values, **CLOSE)
    if type == "cum_prob":
        last = np.delete(
            out.xs(pooled.levels[-1], level=1, axis=1).to_numpy(), 4, axis=0
        )
        np.testing.assert_array_equal(last, np.tile([1.0, 0.0, 1.0, 1.0], (8, 1)))
    assert np.isnan(np.asarray(out["estimate"])[4]).all() and out.index.equals(
        new.index
    )


def test_predicted_levels(case):
    """The most probable level by the mean probabilities, or the one of least expected
    cost.
    """
    single, pooled, _, _ = case
    probabilities = np.mean([fit.predict(type="prob") for fit in single], axis=0)
    labels = np.array(pooled.levels)
    assert pooled.predict().tolist() == labels[probabilities.argmax(axis=1)].tolist()
    ranks = np.arange(len(labels))
    costs = probabilities @ np.abs(ranks[:, None] - ranks)
    assert (
        pooled.predict(cost="absolute").tolist()
        == labels[costs.argmin(axis=1)].tolist()
    )
    new = single[0].design.data.head(3).copy()
    new.iloc[1, new.columns.get_loc("g" if "g" in new else "temp")] = np.nan
    chosen = pooled.predict(new)
    assert chosen.isna().tolist() == [False, True, False] and chosen.cat.ordered


# Coefficients in other units, and figures of the whole


def test_units_of_coefficients():
    pooled = pool(fits("y ~ x1 + x2 + g"))
    tens = pool(fits("y ~ I(x1 / 10) + x2 + g"))
    numbers = [
        "estimate",
        "std_error",
        "statistic",
        "df",
        "p_value",
        "conf_low",
        "conf_high",
        "riv",
        "fmi",
    ]
    np.testing.assert_allclose(
        pooled.tidy(per={"x1": 10})[numbers], tens.tidy()[numbers], rtol=1e-6, atol=1e-9
    )
    deviation = np.mean([frame["x1"].std() for frame in FRAMES])
    by_sd = pooled.tidy(per="sd").set_index("term").loc["x1"]
    assert by_sd["estimate"] == pytest.approx(
        pooled.params["x1"] * deviation, rel=1e-12
    )
    assert by_sd["std_error"] == pytest.approx(pooled.se["x1"] * deviation, rel=1e-12)
    text = str(
        pooled.summary(exponentiate=True, per={"x1": 10}, labels={"x2": "Second"})
    )
    row = next(
        line.split()
        for line in text.partition("Odds ratios")[2].splitlines()
        if line.startswith("Second")
    )
    low, high = pooled.confint().loc["x2"]
    assert row[1:] == [
        f"{np.exp(value):.2f}" for value in (pooled.params["x2"], low, high)
    ]
    assert "x1, per 10" in text


def test_figures_of_the_whole():
    pooled = pool(fits("y ~ x1 + x2 + g"))
    figures = pooled.glance().iloc[0]
    joint = pooled.test("x1 = 0, x2 = 0, g[T.b] = 0").loc["joint"]
    actual = figures[["wald_F", "wald_df", "wald_df_resid", "wald_p_value"]].astype(
        float
    )
    np.testing.assert_allclose(
        actual, joint[["F", "df", "df_denom", "p_value"]].astype(float), rtol=1e-12
    )
    assert (figures["nobs"], figures["n_imputations"], figures["edf"]) == (80, 6, 6)
    assert figures["fmi"] == pooled.fmi.max() and not {"aic", "loglik"} & set(
        figures.index
    )
    assert "wald_F" not in pool(fits("y ~ 1")).glance()


def test_tables():
    pooled = pool(fits("y ~ x1 + x2 + g"))
    shown = table(pooled, per={"x1": 10}, below="interval", digits=2).df
    low, high = 10 * pooled.confint().loc["x1"]
    cell = next(
        value.iloc[0] for (_, name), value in shown.iterrows() if name.startswith("x1")
    )
    assert cell == f"{10 * pooled.params['x1']:.2f}\n[{low:.2f}, {high:.2f}]"
    assert shown.loc[("stats", "N")].iloc[0] == "80"
    both = table([pooled, pooled.fits[0]], style="clinical").df
    low, high = np.exp(pooled.confint().loc["x1"])
    assert f"{low:.2f}, {high:.2f}" in both.loc[("coef", "x1")].tolist()


def test_pictures_and_pages(tmp_path):
    pooled = pool(fits("y ~ x1 + x2 + g"))
    frame = pooled.plot.forest(draw=False, exponentiate=True, per={"x1": 2})
    low, high = pooled.confint().loc["x1"]
    expected = np.exp(2 * np.array([pooled.params["x1"], low, high]))
    np.testing.assert_allclose(frame.iloc[0, 1:4].astype(float), expected, rtol=1e-12)
    assert (
        pooled.plot.forest(others={"first": pooled.fits[0]}) is not None
        and str(pooled.plot) == "plots: forest"
    )
    page = pooled.report(tmp_path / "page.html", pictures=False).read_text("utf-8")
    text = re.sub(r"<[^>]+>", " ", page)
    assert (
        "imputed 6 times" in text
        and "Rubin, D. B. (1987)" in text
        and "import ordfit, pool" in text
    )
    # they differ between fits
    assert "pool([ordfit(" in text and "Columns of the model" not in text
    assert str(pooled.report()) == str(pooled)


# Random effects, surveys, CR2


@pytest.fixture(scope="module")
def mixed_frames():
    rng = np.random.default_rng(7)
    group = np.repeat(np.arange(24), 12)
    x = rng.normal(size=288)
    slopes = rng.multivariate_normal([0, 0], [[1.2, 0.4], [0.4, 0.7]], 24)
    latent = 0.8 * x + slopes[group, 0] + slopes[group, 1] * x + rng.logistic(size=288)
    data = pd.DataFrame(
        {"y": np.digitize(latent, [-1, 0.5, 2]), "x": x, "group": group}
    )
    hidden = rng.random(288) < 0.2
    return [
        data.assign(x=np.where(hidden, 0.7 * x + 0.5 * rng.normal(size=288), x))
        for _ in range(4)
    ]


def test_random_effects(mixed_frames):
    """Standard deviations on the log scale, correlations on Fisher's z scale."""
    single = fits("y ~ x + (x | group)", mixed_frames)
    pooled = pool(single)
    tidy = [fit.tidy().set_index("term") for fit in single]
    actual = pooled.tidy(level=0.9).set_index("term")
    for term, (there, back, slope) in {
        "sd_(Intercept)|group": (np.log, np.exp, lambda v: 1 / v),
        "sd_x|group": (np.log, np.exp, lambda v: 1 / v),
        "cor_x.(Intercept)|group": (np.arctanh, np.tanh, lambda v: 1 / (1 - v**2)),
    }.items():
        values, errors = (
            np.array([table.loc[term, name] for table in tidy])
            for name in ("estimate", "std_error")
        )
        estimate, error, df = by_rules(
            there(values), errors * slope(values), pooled.df_complete
        )
        row = actual.loc[term]
        expected = [
            back(estimate),
            error / slope(back(estimate)),
            df,
            *back(np.array(limits(estimate, error, df, 0.9))),
        ]
        np.testing.assert_allclose(
            row[["estimate", "std_error", "df", "conf_low", "conf_high"]].astype(float),
            expected,
        )
    values, errors = (
        np.array([table.loc["x", name] for table in tidy])
        for name in ("estimate", "std_error")
    )
    np.testing.assert_allclose(
        actual.loc["x", ["estimate", "std_error", "df"]].astype(float),
        by_rules(values, errors, pooled.df_complete),
    )
    assert pooled.vcov().shape == (4, 4) and "Random effects" in str(pooled)
    for re_ in ("zero", "marginal"):
        given = [
            fit.marginal_effects("x", scale="mean", re=re_).frame for fit in single
        ]
        agrees(
            pooled.marginal_effects("x", scale="mean", re=re_).frame,
            given,
            pooled.df_complete,
        )
        predicted = [
            fit.predict(mixed_frames[0].head(4), "mean", se=True, re=re_)
            for fit in single
        ]
        expected = by_rules(
            columns(predicted, "estimate"),
            columns(predicted, "std_error"),
            pooled.df_complete,
        )
        out = pooled.predict(mixed_frames[0].head(4), "mean", se=True, re=re_)
        np.testing.assert_allclose(out.to_numpy().T, expected[:2], **CLOSE)
    modes = np.mean(
        [fit.predict(mixed_frames[0].head(4), "prob") for fit in single], axis=0
    )
    np.testing.assert_allclose(
        pooled.predict(mixed_frames[0].head(4), "prob"), modes, **CLOSE
    )


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.DataWarning")
def test_a_variance_of_zero_has_no_log():
    frames = [frame.assign(judge=np.arange(80) % 10) for frame in FRAMES]
    single = fits("y ~ x1 + (1 | judge)", frames)
    assert min(fit.random_parameters.estimates[0] for fit in single) == 0.0
    pooled = pool(single)
    row = pooled.tidy().iloc[-1]
    assert row["estimate"] == pytest.approx(
        np.mean([fit.random_parameters.estimates[0] for fit in single])
    )
    assert np.isnan([row["std_error"], row["conf_low"], row["conf_high"]]).all()
    assert "NA: a variance is 0" in str(pooled)


def test_degrees_of_freedom_under_cr2():
    """Of complete data: Satterthwaite's of each effect, at most G - 1."""
    frames = [frame.assign(group=np.arange(80) % 9) for frame in FRAMES]
    single = fits("y ~ x1 + g", frames, vcov={"cluster": "group", "type": "CR2"})
    pooled = pool(single)
    given = [fit.emmeans("g", at={"x1": 0.0}).contrasts() for fit in single]
    complete = min(columns(given, "df").min(), 8.0)
    agrees(pooled.emmeans("g", at={"x1": 0.0}).contrasts(), given, complete)
    slopes = [fit.tidy().set_index("term").loc[["x1"]] for fit in single]
    assert pooled.df["x1"] == pytest.approx(
        by_rules(
            columns(slopes, "estimate"),
            columns(slopes, "std_error"),
            columns(slopes, "df").min(),
        )[2][0]
    )
    out = pooled.predict(
        pd.DataFrame({"x1": [0.0], "g": ["b"]}), "score", interval="confidence"
    )
    effect = [fit.tidy().set_index("term").loc[["g[T.b]"]] for fit in single]
    pieces = by_rules(
        columns(effect, "estimate"),
        columns(effect, "std_error"),
        columns(effect, "df").min(),
    )
    np.testing.assert_allclose(
        out[["lower", "upper"]].to_numpy()[0], np.ravel(limits(*pieces)), rtol=1e-9
    )


# Tests of terms


def d1_of(hypotheses, covariances, df_complete):
    """mice::D1 written out: F, its degrees of freedom and the relative increase in
    variance.
    """
    Q = np.array(hypotheses)
    U = np.array(covariances)
    m = len(hypotheses)
    k = Q.shape[1]
    within = U.mean(axis=0)
    between = np.atleast_2d(np.cov(Q.T))
    r = (1 + 1 / m) * np.trace(between @ np.linalg.inv(within)) / k
    mean = Q.mean(axis=0)
    return mean @ np.linalg.inv(within) @ mean / (k * (1 + r)), k, r


@pytest.mark.parametrize("method", ["logit", "acat", "cauchit"])
def test_terms_by_their_coefficients(method):
    """Of terms that no other contains, types II, III and baseline test the
    coefficients.
    """
    pooled = pool(fits("rating ~ temp + contact * x", wine_frames(), method=method))
    for type in ("II", "III", "baseline"):
        table = pooled.anova(type=type)
        for term in ("temp[T.warm]", "contact[T.yes]:x"):
            one = pooled.test(f"`{term}` = 0").iloc[0]
            row = table.loc[term.replace("[T.warm]", "").replace("[T.yes]", "")]
            np.testing.assert_allclose(
                row.to_numpy(float), one[list(table)].to_numpy(float), **CLOSE
            )


def test_terms_of_several_columns_by_mice():
    """Two factors with an interaction: type III tests averages of simple effects, type
    I the first term by itself.
    """
    rng = np.random.default_rng(2)
    frames = [
        frame.assign(h=np.arange(80) // 2 % 3, u=rng.normal(size=80))
        for frame in FRAMES
    ]
    frames = [
        frame.assign(h=frame["h"].map({0: "p", 1: "q", 2: "r"})) for frame in frames
    ]
    made = fits("y ~ g * h + u", frames)
    table = pool(made).anova(type="III")
    names = ["h[T.q]", "h[T.r]", "g[T.b]:h[T.q]", "g[T.b]:h[T.r]"]
    L = np.array([[1, 0, 0.5, 0], [0, 1, 0, 0.5]])  # averaged over the two levels of g
    Q = [L @ fit.params[names] for fit in made]
    U = [L @ fit.vcov().loc[names, names].to_numpy() @ L.T for fit in made]
    F, k, r = d1_of(Q, U, pool(made).df_complete)
    np.testing.assert_allclose(
        table.loc["h", ["F", "df", "riv"]].to_numpy(float), [F, k, r], rtol=1e-8
    )
    # Type I of u, the last term before the interaction in the formula, by regression of
    # its column on those before.
    first = pool(made).anova()
    assert first.loc["g:h"].to_numpy() == pytest.approx(table.loc["g:h"].to_numpy())
    Q = []
    U = []
    for fit in made:
        sample = fit.design.sample
        columns = fit.coef.index.get_indexer(["g[T.b]", *names[:2], "u"])
        rest = fit.coef.index.get_indexer(names[2:])
        A = np.column_stack([np.ones(sample.n), sample.X[:, columns]])
        slopes = np.linalg.lstsq(A, sample.X[:, rest], rcond=None)[0][-1]
        row = np.zeros(len(fit.coef))
        row[columns[-1]] = 1.0
        row[rest] = slopes
        chosen = fit.coef.index
        Q.append([row @ fit.coef])
        U.append([[row @ fit.vcov().loc[chosen, chosen].to_numpy() @ row]])
    F, k, r = d1_of(Q, U, pool(made).df_complete)
    np.testing.assert_allclose(
        first.loc["u", ["F", "df", "riv"]].to_numpy(float), [F, k, r], rtol=1e-8
    )


def test_terms_that_aliased_columns_leave_undetermined():
    frames = [
        frame.assign(e=frame["g"] + np.where(np.arange(80) % 2, "1", "2"))
        for frame in FRAMES
    ]
    with pytest.warns(DataWarning, match="aliased|combination of levels"):
        pooled = pool(fits("y ~ x1 + g * e", frames))
    table = pooled.anova(type="III")
    assert np.isnan(table.loc["g", "F"]) and np.isfinite(table.loc["x1", "F"])


# Refusals


#: Questions that pooled fits do not answer, and the words of the error.
REFUSED = {
    "covariance of means": (
        lambda pooled: pooled.emmeans("g", vcov="HC1"),
        r"vcov must be left out of .*pool\(\[fit.with_vcov",
    ),
    "covariance of effects": (
        lambda pooled: pooled.marginal_effects("g", vcov="HC1"),
        r"vcov must be left out of .*pool\(\[fit.with_vcov",
    ),
    "type": (lambda p: p.predict(type="margin"), r"type must .*got 'margin'"),
    "errors of levels": (
        lambda pooled: pooled.predict(se=True),
        "with standard errors or intervals; got 'class'",
    ),
    "misspelled": (
        lambda pooled: pooled.summary(exponentiated=True),
        "summary has no argument 'exponentiated'",
    ),
    "aic": (
        lambda pooled: pooled.aic,
        r"pooled fits have no \.aic\. .* Test pooled coefficients",
    ),
}


def test_what_cannot_be_pooled_is_refused():
    pooled = pool(fits("y ~ x1 + g"))
    for call, words in REFUSED.values():
        with pytest.raises(OptionError, match=words):
            call(pooled)
    assert not hasattr(pooled, "loglik") and not hasattr(pooled, "ranef")


def test_rows_that_depend_on_imputed_values():
    frames = [
        frame.assign(k=np.where(np.arange(80) == 0, i, np.arange(80) % 2))
        for i, frame in enumerate(FRAMES)
    ]
    pooled = pool([ordfit("y ~ x1", frame) for frame in frames])
    with pytest.raises(
        DataError,
        match=(
            "must give the same rows of means or effects; those of fit 1 and fit 3"
            " differ"
        ),
    ):
        pooled.marginal_effects("x1", by="k")


ODD = {
    "se": (
        lambda pooled: pooled.predict(datasets.load("wine"), "prob", se=np.ones(2)),
        "se must be True or False",
    ),
    "labels": (
        lambda pooled: pooled.summary(labels=["x"]),
        "labels must be a mapping such as",
    ),
    "level": (
        lambda pooled: pooled.summary(level=[0.9]),
        "level must be a number strictly between 0 and 1",
    ),
    "pictures": (
        lambda pooled: pooled.report(pictures=3),
        "pictures must be True or False; got 3",
    ),
    "dfcom": (
        lambda pooled: pool(pooled.fits, dfcom=np.ones(2)),
        "dfcom must be a positive, finite number",
    ),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_options_are_refused_by_name(name):
    call, message = ODD[name]
    pooled = pool([ordfit("rating ~ temp + contact", frame) for frame in wine_frames()])
    with pytest.raises(OptionError, match=re.escape(message)):
        call(pooled)


@pytest.fixture(scope="module")
def trials():
    """Imputed frames with two arms and a column of three levels."""
    arm = np.array(["active", "control"])[np.arange(len(FRAMES[0])) % 2]
    age = np.array(["old", "middle", "young"])[np.arange(len(arm)) // 2 % 3]
    return [frame.assign(arm=arm, age=age) for frame in FRAMES]


def test_infinite_degrees_of_freedom_stay():
    pooled = [ordfit("rating ~ temp + contact", frame) for frame in wine_frames()]
    assert pool(pooled, dfcom=np.float64(np.inf)).df_complete == np.inf


def test_decisions_of_pooled_fits_are_their_mean():
    several = fits("y ~ x1 + x2")
    pooled = pool(several)
    P = pooled.predict(type="prob").to_numpy()
    tables = [fit.update(cost="kappa").fit.rule.cost.table for fit in several]
    codes = (P @ np.mean(tables, axis=0)).argmin(axis=1)
    found = pooled.predict(cost="kappa").cat.codes
    np.testing.assert_array_equal(found, codes)
