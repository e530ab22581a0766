"""CR2: against R's clubSandwich for two levels, and against its definition written out
for more.
"""

import pickle
import re

import numpy as np
import pandas as pd
import pytest
from reference_cases import load_data
from scipy import stats

from likelihood.dense import Dense
from ordstat import ordfit
from ordstat.exceptions import OptionError, SeparationWarning
from ordstat.likelihood import cr2

# R 4.2.2, clubSandwich 0.5.8; ordinal 2022.11-16 for the wine data, whose `response` is
# on 0 to 100:
#   d <- data.frame(y = as.integer(wine$response > 45), wine, x = (1:72 %% 7) / 3)
#   g <- glm(y ~ temp + contact + x, family = binomial, data = d,
#            control = list(epsilon = 1e-14))
#   V <- vcovCR(g, cluster = d$judge, type = "CR2")
#   coef_test(g, vcov = V, test = "Satterthwaite")
#   conf_int(g, vcov = V)
BY_R = pd.DataFrame(
    {
        "std_error": [0.565275421092, 0.319527513893, 0.462257925261, 0.479705907153],
        "df": [7.71963884425, 7.97611644361, 7.99311353281, 7.92598052223],
        "p_value": [
            0.02425453443073,
            0.00029281370176,
            0.02468277677905,
            0.93725750510135,
        ],
        "conf_low": [0.267485015393, 1.212056765591, 0.209851458811, -1.069028577554],
        "conf_high": [2.891113065694, 2.686488747948, 2.342108590084, 1.146980579445],
    }
)


@pytest.fixture
def binary():
    wine = load_data("wine").assign(x=np.arange(1, 73) % 7 / 3)
    data = wine.assign(y=(wine["response"] > 45).astype(int))
    return ordfit("y ~ temp + contact + x", data=data, cluster="judge", vcov="CR2")


def test_two_levels_against_clubsandwich(binary):
    np.testing.assert_allclose(binary.tidy()[list(BY_R)], BY_R, rtol=1e-7)
    np.testing.assert_allclose(
        binary.confint(), BY_R[["conf_low", "conf_high"]], rtol=1e-7
    )
    assert "CR2, t by Satterthwaite, 9 clusters" in str(binary.summary())
    assert re.search(r" t +df ", str(binary.summary()))


def test_single_coefficients_are_tested_and_several_are_not(binary):
    for table in (
        binary.anova(type="II"),
        binary.anova(type="III"),
        binary.test("temp = 0, contact = 0, x = 0").iloc[:3],
    ):
        np.testing.assert_allclose(
            table["p_value"], BY_R["p_value"].iloc[1:], rtol=1e-7
        )
        np.testing.assert_allclose(table["df_resid"], BY_R["df"].iloc[1:], rtol=1e-7)
    why = "CR2 tests one coefficient at a time"
    table = binary.test("temp = 0, contact = 0")
    assert np.isnan(table.loc["joint", "p_value"]) and why in table.attrs["notes"][0]
    assert binary.glance()["wald_F"].isna().all() and why in " ".join(
        str(binary.summary()).split()
    )


#: The same by binomial("probit") and epsilon = 1e-15: V and vcov(g), lower triangles by
#: column.
PROBIT = (
    [
        0.1090852307351526,
        0.0036331646886675,
        -0.0499403581025240,
        -0.0582693968483979,
        0.0352206625902958,
    ]
    + [
        0.0021583339883744,
        -0.0190888396623983,
        0.0729855720648600,
        0.0147856274631756,
        0.0832250566797807,
    ],
    [
        0.1500170739544814,
        -0.0631840487346386,
        -0.0643572677926790,
        -0.0611870508187070,
        0.1065340319838957,
    ]
    + [
        0.0177564624667357,
        0.0021501847403079,
        0.1065670958658254,
        0.0028804710400341,
        0.0586006501888624,
    ],
)


def test_other_links_against_clubsandwich(binary):
    """There the expected information stands outside, 1 / vcov(g), and here the observed
    one, as in other sandwiches.
    """
    V = np.zeros((4, 4))
    W = np.zeros((4, 4))
    for full, lower in zip((V, W), PROBIT, strict=True):
        full.T[np.triu_indices(4)] = lower
        full += np.tril(full, -1).T
    # a threshold is an intercept with the other sign
    sign = np.diag([-1.0, 1.0, 1.0, 1.0])
    fit = binary.update(method="probit")
    outside = fit.vcov("model").to_numpy() @ sign @ np.linalg.inv(W)
    np.testing.assert_allclose(fit.vcov(), outside @ V @ outside.T, rtol=1e-6)


def test_hypotheses_that_depend_on_each_other_count_once(binary):
    table = binary.test("temp = 0, 2 * temp = 0")
    np.testing.assert_allclose(table.loc["joint", "df_resid"], BY_R["df"][1], rtol=1e-6)


# The definition, with all indicators of all rows and nothing simplified


def probabilities(fit, point):
    """(N, K) by the cumulative likelihood of every level."""
    dense = Dense.of(fit)
    levels = [np.full_like(dense.y, k) for k in range(dense.y.max() + 1)]
    each = [
        Dense(
            dense.X, np.append(y, levels[-1][0]), dense.link, dense.nominal, dense.scale
        )
        for y in levels
    ]  # one more response, so that every level is known
    return np.column_stack([np.exp(loglik_of(one, dense, point)) for one in each])


def loglik_of(one, dense, point):
    """Row log-likelihoods at the levels of `one`; its last response is there for the
    number of levels alone.
    """
    rows = np.append(np.arange(len(dense.X)), 0)
    parts = [None if part is None else part[rows] for part in (one.nominal, one.scale)]
    return Dense(one.X[rows], one.y, one.link, *parts).row_logliks(point)[:-1]


def power(matrix, exponent):
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    kept = values > 1e-10 * values[-1]
    return (vectors[:, kept] * values[kept] ** exponent) @ vectors[:, kept].T


def by_definition(fit, cluster, probabilities=probabilities, bread=None):
    """(covariance, Satterthwaite's df) by matrices of order N K."""
    point = fit.params.to_numpy()
    h = 1e-6
    p = probabilities(fit, point)
    n, K = p.shape
    steps = h * np.eye(point.size)
    D = np.stack(
        [
            (probabilities(fit, point + e) - probabilities(fit, point - e)) / (2 * h)
            for e in steps
        ],
        axis=-1,
    )
    D = D.reshape(n * K, -1)
    V = np.zeros((n * K, n * K))
    for i in range(n):
        V[i * K : (i + 1) * K, i * K : (i + 1) * K] = np.diag(p[i]) - np.outer(
            p[i], p[i]
        )
    W = np.linalg.pinv(V, rcond=1e-10, hermitian=True)
    H = D @ np.linalg.inv(D.T @ W @ D) @ D.T @ W
    residuals = (np.eye(K)[fit.design.sample.y] - p).reshape(-1)
    if bread is None:
        bread = np.linalg.inv(Dense.of(fit).information(point))
    sums = []
    effects = []
    for g in np.unique(cluster):
        in_cluster = np.repeat(cluster == g, K)
        root = power(V[np.ix_(in_cluster, in_cluster)], 0.5)
        rest = (np.eye(n * K) - H)[in_cluster]
        A = root @ power(root @ rest @ V @ rest.T @ root, -0.5) @ root
        half = D[in_cluster].T @ W[np.ix_(in_cluster, in_cluster)] @ A
        sums.append(bread @ half @ residuals[in_cluster])
        effects.append(bread @ half @ rest)
    covariance = np.array(sums).T @ np.array(sums)
    df = []
    for place in range(point.size):
        rows = np.array([effect[place] for effect in effects])
        P = rows @ V @ rows.T
        df.append(np.trace(P) ** 2 / np.sum(P**2))
    return covariance, np.array(df)


MODELS = {
    "logit": ("rating ~ temp + contact", {}),
    "probit": ("rating ~ temp + contact", {"method": "probit"}),
    "nominal and scale": ("rating ~ temp", {"nominal": "~ contact", "scale": "~ temp"}),
}


@pytest.mark.parametrize("name", MODELS)
def test_more_levels_by_definition(name):
    formula, arguments = MODELS[name]
    wine = load_data("wine")
    wine["rating"] = wine["rating"].astype(int).clip(2, 4)
    cluster = wine["judge"].cat.codes.to_numpy() // 2  # of different sizes
    fit = ordfit(
        formula, data=wine, vcov={"cluster": cluster, "type": "CR2"}, **arguments
    )
    covariance, df = by_definition(fit, cluster)
    size = np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
    assert np.abs((fit.vcov() - covariance) / size).to_numpy().max() < 2e-5
    np.testing.assert_allclose(fit.tidy()["df"], df, rtol=2e-5)


def stage_probabilities(fit, point):
    """(n, 3) of a continuation ratio of three levels, by the logit."""
    eta = point[:2] - (fit.design.sample.X @ point[2:])[:, None]
    stays = 1.0 / (1.0 + np.exp(-eta))
    if fit.method.direction == "backward":
        upper = 1.0 - stays[:, 1]
        middle = stays[:, 1] * (1.0 - stays[:, 0])
        return np.column_stack([1.0 - upper - middle, middle, upper])
    middle = (1.0 - stays[:, 0]) * stays[:, 1]
    return np.column_stack([stays[:, 0], middle, 1.0 - stays[:, 0] - middle])


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_stages_by_definition(direction):
    wine = load_data("wine")
    wine["rating"] = wine["rating"].astype(int).clip(2, 4)
    cluster = wine["judge"].cat.codes.to_numpy() // 2
    vcov = {"cluster": cluster, "type": "CR2"}
    fit = ordfit(
        "rating ~ temp + contact", wine, "cratio", direction=direction, vcov=vcov
    )
    np.testing.assert_allclose(
        stage_probabilities(fit, fit.params.to_numpy()), fit.predict(type="prob")
    )
    bread = fit.vcov("model").to_numpy()
    covariance, df = by_definition(fit, cluster, stage_probabilities, bread)
    np.testing.assert_allclose(fit.vcov(), covariance, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(fit.tidy()["df"], df, rtol=2e-5)


def test_a_weight_is_so_many_rows():
    wine = load_data("wine")
    weights = 1 + np.arange(72) % 3
    fit = ordfit(
        "rating ~ temp + contact",
        data=wine.assign(w=weights),
        weights="w",
        cluster="judge",
        vcov="CR2",
    )
    copies = ordfit(
        "rating ~ temp + contact",
        data=wine.loc[wine.index.repeat(weights)],
        cluster="judge",
        vcov="CR2",
    )
    np.testing.assert_allclose(
        fit.tidy()[["std_error", "df"]], copies.tidy()[["std_error", "df"]], rtol=1e-8
    )
    none = ordfit(
        "rating ~ temp + contact",
        data=wine.assign(w=weights % 3),
        weights="w",
        cluster="judge",
        vcov="CR2",
    )
    left = wine[weights < 3]
    fewer = ordfit(
        "rating ~ temp + contact",
        data=left.assign(w=weights[weights < 3]),
        weights="w",
        cluster="judge",
    )
    np.testing.assert_allclose(none.se, fewer.with_vcov("CR2").se, rtol=1e-8)


def test_the_order_of_levels_does_not_matter():
    wine = load_data("wine")
    turned = wine.assign(rating=6 - wine["rating"].astype(int))
    tables = [
        ordfit("rating ~ temp + contact", data=d, cluster="judge", vcov="CR2").tidy()
        for d in (wine, turned)
    ]
    one, other = (
        table.set_index("term").loc[["temp[T.warm]", "contact[T.yes]"]]
        for table in tables
    )
    np.testing.assert_allclose(
        one[["std_error", "df"]], other[["std_error", "df"]], rtol=1e-8
    )


def test_effects_of_the_clusters_themselves():
    """B is singular then, and what it cannot adjust adds nothing."""
    fit = ordfit(
        "rating ~ temp + judge", data=load_data("wine"), cluster="judge", vcov="CR2"
    )
    assert (
        0.2 < fit.se["temp[T.warm]"] < 1.0
        and 5.0 < fit.tidy().set_index("term").loc["temp[T.warm]", "df"] < 9.0
    )


def test_ways_to_ask():
    wine = load_data("wine")
    fit = ordfit("rating ~ temp", data=wine, vcov={"cluster": "judge", "type": "CR2"})
    others = [
        ordfit("rating ~ temp", data=wine, cluster="judge").with_vcov("CR2"),
        ordfit("rating ~ temp", data=wine).with_vcov(
            {"cluster": "judge", "type": "CR2"}
        ),
        fit.update("~ . + contact").update("~ . - contact"),
        pickle.loads(pickle.dumps(fit)),
    ]
    for other in others:
        pd.testing.assert_frame_equal(other.tidy(), fit.tidy())
        assert other.covariance == "CR2"
    assert fit.with_vcov({"cluster": "judge", "type": "CR1"}).covariance == "cluster"
    assert fit.vcov("cluster").equals(
        others[1].vcov({"cluster": "judge", "type": "CR1"})
    )
    # 9 clusters without a type
    assert fit.vcov().equals(others[1].vcov({"cluster": "judge"}))


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"vcov": "CR2"}, "'CR2' needs ordfit.*'type': 'CR2'"),
        ({"vcov": {"cluster": "judge", "type": "CR3"}}, "one of 'CR1', 'CR2'"),
        (
            {"vcov": "CR2", "cluster": "judge", "penalty": 1.0},
            "maximum likelihood estimates without penalty",
        ),
    ],
)
def test_what_has_none(arguments, match):
    with pytest.raises(OptionError, match=match):
        str(ordfit("rating ~ temp", data=load_data("wine"), **arguments).summary())


def test_too_many_rows_are_refused_when_asked(monkeypatch):
    monkeypatch.setattr(cr2, "LARGEST_CR2", 2000)
    wine = load_data("wine")
    for ask in (
        lambda: ordfit("rating ~ temp", wine, cluster="judge", vcov="CR2"),
        lambda: ordfit("rating ~ temp", wine).with_vcov(
            {"cluster": "judge", "type": "CR2"}
        ),
    ):
        with pytest.raises(
            OptionError,
            match=(
                r"got 72 rows of 5 levels and 5 parameters.*random effect, \(1 \| g\)"
            ),
        ):
            ask()


def test_p_values_are_those_of_t(binary):
    table = binary.tidy()
    np.testing.assert_allclose(
        table["p_value"], 2 * stats.t.sf(table["statistic"].abs(), table["df"])
    )


def test_predictions_have_satterthwaite_limits() -> None:
    """Each number has Satterthwaite's degrees of freedom, from its gradient."""
    wine = load_data("wine")
    fit = ordfit("rating ~ temp + contact", wine, cluster="judge", vcov="CR2")
    new = wine.drop_duplicates(["temp", "contact"])[["temp", "contact"]]
    warm = new[(new["temp"] == "warm") & (new["contact"] == "no")]
    score = fit.predict(warm, type="score", interval="confidence").iloc[0]
    np.testing.assert_allclose(
        score[["lower", "upper"]], fit.confint().loc["temp[T.warm]"], rtol=1e-9
    )
    bread = fit.fit.model_covariance.dense()
    h = 1e-5
    for type in ("prob", "mean", "linear_predictor"):
        out = fit.predict(new, type=type, se=True, interval="confidence")
        values, errors, upper = (
            out[name].to_numpy().reshape(len(new), -1)
            for name in ("estimate", "std_error", "upper")
        )
        moved = [
            [_predicted(fit, new, type, h * sign * e) for sign in (1, -1)]
            for e in np.eye(fit.params.size)
        ]
        gradients = np.stack([(up - down) / (2 * h) for up, down in moved], axis=-1)
        df = np.array([fit.bias_reduced.t_df(bread, rows) for rows in gradients])
        half = stats.t.ppf(0.975, df) * errors
        if type == "linear_predictor":
            np.testing.assert_allclose(upper, values + half, rtol=1e-6)
        else:
            share, width = (values, 1.0) if type == "prob" else ((values - 1) / 4, 4.0)
            limit = 1 / (
                1
                + np.exp(
                    -(np.log(share / (1 - share)) + half / width / share / (1 - share))
                )
            )
            np.testing.assert_allclose(
                (upper - (0 if type == "prob" else 1)) / width, limit, rtol=1e-5
            )


def _predicted(fit, new, type: str, change: np.ndarray) -> np.ndarray:
    """What the formulas of a logit model give at other parameters."""
    b = fit.params.to_numpy() + change
    H = (
        b[4] * (new["temp"] == "warm").to_numpy()
        + b[5] * (new["contact"] == "yes").to_numpy()
    )
    eta = b[:4] - H[:, None]
    p = np.diff(1 / (1 + np.exp(-eta)), axis=1, prepend=0.0, append=1.0)
    return {"linear_predictor": eta, "prob": p, "mean": (p @ np.arange(1, 6))[:, None]}[
        type
    ]


def test_penalised_fits_are_refused_before_they_are_made():
    wine = load_data("wine")
    vcov = {"cluster": "judge", "type": "CR2"}
    plain = ordfit("rating ~ temp", wine, penalty=1.0)
    seen = []
    for ask in (
        lambda: ordfit(
            "rating ~ temp",
            wine,
            penalty=1.0,
            vcov=vcov,
            callback=lambda *step: seen.append(step),
        ),
        lambda: ordfit(
            "rating ~ temp", wine, cluster="judge", vcov="CR2", penalty="jeffreys"
        ),
        lambda: ordfit("rating ~ temp", wine, vcov=vcov).update(penalty=1.0),
        lambda: plain.vcov(vcov),
        lambda: plain.with_vcov(vcov),
    ):
        with pytest.raises(
            OptionError,
            match=r"vcov='CR2' needs maximum likelihood estimates without penalty=",
        ):
            ask()
    assert not seen


def test_infinite_estimates_have_no_errors():
    """The fit warns and the summary has a note; later questions do not fail."""
    wine = load_data("wine").assign(top=lambda d: 1.0 * (d["rating"].astype(int) == 5))
    vcov = {"cluster": "judge", "type": "CR2"}
    with pytest.warns(SeparationWarning) as caught:
        fit = ordfit("rating ~ temp + top", wine, vcov=vcov)
    assert [str(one.message)[:28] for one in caught] == [
        "the response is separated, s",
        "a CR2 covariance is not defi",
    ]
    assert (
        fit.se.isna().all()
        and fit.confint().isna().all(axis=None)
        and fit.p_values.isna().all()
    )
    assert "A CR2 covariance is not defined" in " ".join(str(fit.summary()).split())
    assert fit.predict(type="prob", se=True)["std_error"].shape == (72, 5)
    assert (
        fit.anova()["p_value"].isna().all()
        and fit.test("temp = 0")["p_value"].isna().all()
    )
    with pytest.warns(SeparationWarning, match="a CR2 covariance is not defined"):
        assert fit.with_vcov("model").with_vcov(vcov).vcov().isna().all(axis=None)
