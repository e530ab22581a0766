"""Cases in which other packages give wrong numbers, crash or keep silent, one by one (n
= 200, K = 4, logit).
"""

import warnings

import numpy as np
import pandas as pd
import pytest
from expected import aliased, intercept_removed, no_option, rows_left_out

import ordstat
from ordstat import DataError, DataWarning, OptionError, SeparationWarning, ordfit

N = 200
FORMULA = "y ~ u + v"
RTOL = 1e-6  # two routes to one maximum, each with |gradient| < 1e-6


def _frame(seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    u, v = rng.standard_normal((2, N))
    score = u - 0.5 * v + rng.logistic(size=N)
    return pd.DataFrame(
        {
            "u": u,
            "v": v,
            "g": pd.Categorical.from_codes(rng.integers(0, 3, N), ["P", "Q", "R"]),
            "w": rng.integers(1, 4, N),
            "y": np.searchsorted([-1.5, 0.0, 1.5], score),
        }
    )


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return _frame()


@pytest.fixture(scope="module")
def fit(frame):
    return ordfit(FORMULA, frame)


def _same_fit(one, other, rtol: float = RTOL) -> None:
    assert one.loglik == pytest.approx(other.loglik, abs=1e-8)
    np.testing.assert_allclose(one.params, other.params, rtol=rtol, atol=rtol)
    np.testing.assert_allclose(one.se, other.se, rtol=rtol, atol=rtol)


# Separation


def test_complete_separation_names_the_column(frame):
    separated = frame.assign(s=frame["y"] + 0.1 * np.tanh(frame["u"]))
    with pytest.warns(SeparationWarning, match=r"\bs\b"):
        ordfit("y ~ s", separated)


def test_quasi_separation_names_the_column_and_no_other(frame):
    # 1 only at the highest level
    separated = frame.assign(top=(frame["y"] == 3).astype(float) * (frame["v"] > 0))
    # the column, the direction, what to do
    offer = r"\(top to \+infinity\).*penalty='jeffreys'"
    with pytest.warns(SeparationWarning, match=offer) as caught:
        fit = ordfit("y ~ u + top", separated)
    assert "'u'" not in str(caught[0].message)
    assert fit.fit.separation is not None


def test_no_separation_no_warning(frame):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ordfit(FORMULA, frame).fit.separation is None


# Missing values


@pytest.mark.parametrize("column", ["u", "g", "y"])
def test_missing_values_are_left_out_and_counted(frame, column):
    gaps = frame.astype({"y": float})
    gaps.loc[[3, 7, 11], column] = np.nan
    with rows_left_out(3, 200, f"{column} (3)"):
        fit = ordfit("y ~ u + v + g", gaps)
    _same_fit(fit, ordfit("y ~ u + v + g", frame.drop(index=[3, 7, 11])))
    assert dict(fit.design.dropped) == {column: 3}
    with pytest.raises(DataError, match=rf"{column} \(3\).*na_action='omit'"):
        ordfit("y ~ u + v + g", gaps, na_action="raise")


# The response

NAMES = ["nil", "low", "medium", "high"]  # not in alphabetical order


def test_strings_are_refused_with_the_two_ways_to_order_them(frame):
    named = frame.assign(y=[NAMES[code] for code in frame["y"]])
    with pytest.raises(
        DataError,
        match=r"(?s)'y'.*without an order.*levels=\[.*ordered pd\.Categorical",
    ):
        ordfit(FORMULA, named)


def test_an_unordered_categorical_is_refused(frame):
    named = frame.assign(y=pd.Categorical([NAMES[code] for code in frame["y"]]))
    with pytest.raises(
        DataError,
        match=(
            r"'y' has labels without an order\. Give levels=\['high', 'low', 'medium',"
            r" 'nil'\]"
        ),
    ):
        ordfit(FORMULA, named)


@pytest.mark.parametrize("as_categorical", [False, True])
def test_levels_give_the_order(frame, fit, as_categorical):
    labels = [NAMES[code] for code in frame["y"]]
    named = frame.assign(y=pd.Categorical(labels) if as_categorical else labels)
    ordered = ordfit(FORMULA, named, levels=NAMES)
    _same_fit(ordered, fit)
    assert ordered.thresholds.index.tolist() == ["nil|low", "low|medium", "medium|high"]
    assert ordered.predict(type="prob").columns.tolist() == NAMES


def test_an_ordered_categorical_keeps_its_order(frame, fit):
    ordered = frame.assign(
        y=pd.Categorical([NAMES[c] for c in frame["y"]], categories=NAMES, ordered=True)
    )
    _same_fit(ordfit(FORMULA, ordered), fit)


@pytest.mark.parametrize("empty", ["low", "high", "nil"])
def test_a_level_without_rows_is_left_out_with_a_message(frame, empty):
    ordered = frame.assign(
        y=pd.Categorical([NAMES[c] for c in frame["y"]], categories=NAMES, ordered=True)
    )
    gap = ordered[ordered["y"] != empty]
    with pytest.warns(
        DataWarning,
        match=rf"Levels of the response without rows were left out: '{empty}'",
    ):
        fit = ordfit(FORMULA, gap)
    _same_fit(
        fit, ordfit(FORMULA, gap.assign(y=gap["y"].cat.remove_unused_categories()))
    )
    assert empty not in fit.predict(type="prob").columns
    assert np.isfinite(fit.se).all()


def test_gaps_between_integers_keep_their_labels(frame, fit):
    gappy = frame.assign(y=frame["y"].map({0: 0, 1: 1, 2: 3, 3: 4}))
    other = ordfit(FORMULA, gappy)
    _same_fit(other, fit)
    assert other.thresholds.index.tolist() == ["0|1", "1|3", "3|4"]


def test_float_labels_are_taken_as_ranks_with_a_note(frame, fit):
    with pytest.warns(
        DataWarning, match=r"y holds 4 values that are not whole numbers"
    ):
        other = ordfit(FORMULA, frame.assign(y=frame["y"] + 0.5))
    _same_fit(other, fit)
    assert other.predict().cat.categories.tolist() == [0.5, 1.5, 2.5, 3.5]


def test_a_continuous_response_is_refused(frame):
    with pytest.raises(DataError, match=r"'y' looks continuous.*pd\.cut"):
        ordfit(FORMULA, frame.assign(y=frame["u"] ** 2))


def test_two_levels_equal_binary_logit(frame):
    import statsmodels.api as sm

    binary = frame.assign(y=frame["y"] > 1)
    other = sm.Logit(
        binary["y"].astype(float), sm.add_constant(binary[["u", "v"]])
    ).fit(disp=0, method="newton")
    fit = ordfit(FORMULA, binary)
    assert fit.loglik == pytest.approx(other.llf, abs=1e-8)
    np.testing.assert_allclose(fit.coef, other.params[["u", "v"]], rtol=RTOL)
    np.testing.assert_allclose(fit.thresholds, -other.params[["const"]], rtol=RTOL)
    np.testing.assert_allclose(fit.se, other.bse[["const", "u", "v"]], rtol=RTOL)


# Columns that carry nothing, or come in awkward units


def test_a_sum_of_columns_is_aliased(frame, fit):
    summed = frame.assign(s=frame["u"] + 2 * frame["v"])
    with aliased("s"):
        other = ordfit("y ~ u + v + s", summed)
    assert np.isnan(other.coef["s"])
    assert np.isnan(other.se["s"])
    assert other.edf == fit.edf
    np.testing.assert_allclose(other.params.drop("s"), fit.params, rtol=RTOL)
    np.testing.assert_allclose(other.se.drop("s"), fit.se, rtol=RTOL)
    assert "s" not in other.vcov().index
    np.testing.assert_allclose(
        other.predict(summed, type="prob"),
        fit.predict(type="prob"),
        rtol=1e-6,
        atol=1e-9,
    )
    with pytest.warns(
        DataWarning, match=r"have no prediction \(NA\): the fit did not estimate s,"
    ):
        assert other.predict(frame.assign(s=0.0), type="prob").isna().all(axis=None)


@pytest.mark.parametrize("scale", [1e6, 1e-6, 1e12])
def test_units_do_not_matter(frame, fit, scale):
    other = ordfit(FORMULA, frame.assign(v=frame["v"] * scale))
    assert other.loglik == pytest.approx(fit.loglik, abs=1e-8)
    assert other.coef["v"] * scale == pytest.approx(fit.coef["v"], rel=RTOL)
    assert other.se["v"] * scale == pytest.approx(fit.se["v"], rel=RTOL)
    np.testing.assert_allclose(other.thresholds, fit.thresholds, rtol=RTOL)


@pytest.mark.parametrize("shift", [1e3, 1e6])
def test_the_origin_does_not_matter(frame, fit, shift):
    other = ordfit(FORMULA, frame.assign(v=frame["v"] + shift))
    assert other.loglik == pytest.approx(fit.loglik, abs=1e-8)
    np.testing.assert_allclose(other.coef, fit.coef, rtol=RTOL)
    np.testing.assert_allclose(other.se[["u", "v"]], fit.se[["u", "v"]], rtol=RTOL)
    # P(y <= k) = F(theta + shift beta_v - u beta_u - (v + shift) beta_v)
    np.testing.assert_allclose(
        other.thresholds - shift * other.coef["v"], fit.thresholds, atol=shift * 1e-8
    )


# Weights and covariances


@pytest.mark.parametrize(
    "keyword", ["freq_weights", "var_weights", "sample_weight", "weight", "cov_type"]
)
def test_unknown_keywords_are_refused(frame, keyword):
    with no_option(keyword):
        ordfit(FORMULA, frame, **{keyword: frame["w"]})


@pytest.mark.parametrize("kind", ["HC2", "HC3", "CR3"])
def test_corrections_by_leverage_are_refused_with_the_choices(frame, fit, kind):
    message = rf"'model', 'HC0', 'HC1', 'cluster'.*'{kind}'"
    with pytest.raises(OptionError, match=message):
        fit.vcov(kind)
    with pytest.raises(OptionError, match=message):
        ordfit(FORMULA, frame, vcov=kind)


def test_clusters_of_one_row_give_hc0(frame, fit):
    clusters = fit.vcov({"cluster": np.arange(N)})
    np.testing.assert_allclose(clusters, fit.vcov("HC0") * N / (N - 1), rtol=1e-12)
    few = fit.vcov({"cluster": "g"})
    assert not np.allclose(few, clusters, rtol=1e-2)


# Formulas


def test_an_unseen_level_at_predict_is_named(frame):
    fit = ordfit("y ~ u + g", frame)
    with pytest.raises(DataError, match=r"(?s)g.*'S'.*'P', 'Q', 'R'"):
        fit.predict(frame.head(3).assign(g=["P", "S", "Q"]))


@pytest.mark.parametrize(
    "formula", ["y ~ 0 + u + C(g)", "y ~ C(g) + u - 1", "y ~ -1 + u + g"]
)
def test_a_removed_intercept_comes_back(frame, formula):
    with intercept_removed():
        fit = ordfit(formula, frame)
    other = ordfit("y ~ u + g", frame)
    assert fit.loglik == pytest.approx(other.loglik, abs=1e-8)
    assert fit.edf == other.edf
    np.testing.assert_allclose(fit.thresholds, other.thresholds, rtol=RTOL)


@pytest.mark.parametrize(("term", "columns"), [("ns(u, df=3)", 3), ("bs(u, df=4)", 4)])
def test_a_spline_needs_no_constraint_by_hand(frame, term, columns):
    fit = ordfit(f"y ~ {term}", frame)
    assert len(fit.coef) == columns
    assert np.isfinite(fit.se).all()
    assert fit.loglik > ordfit("y ~ u", frame).loglik
    with intercept_removed():
        _same_fit(ordfit(f"y ~ {term} - 1", frame), fit)
    half = fit.predict(frame[:50], type="prob")
    np.testing.assert_allclose(half, fit.predict(type="prob")[:50], rtol=1e-12)


@pytest.mark.parametrize(
    ("term", "columns"),
    [
        ("poly(u, 2)", ["poly(u, 2)[1]", "poly(u, 2)[2]"]),
        ("center(u) + scale(v)", ["center(u)", "scale(v)"]),
        ("`v` + `u`", ["v", "u"]),
        (
            "C(g, contr.treatment('Q'))",
            ["C(g, contr.treatment('Q'))[T.P]", "C(g, contr.treatment('Q'))[T.R]"],
        ),
        ("g/u", ["g[T.Q]", "g[T.R]", "g[P]:u", "g[Q]:u", "g[R]:u"]),
        ("u %in% g", ["u:g[P]", "u:g[Q]", "u:g[R]"]),
        ("(u + v)**2", ["u", "v", "u:v"]),
        ("(u + v)^2 - v", ["u", "u:v"]),
        (". - w - g", ["u", "v"]),
    ],
)
def test_the_formula_language_of_formulaic(frame, term, columns):
    fit = ordfit(f"y ~ {term}", frame)
    assert fit.coef.index.tolist() == [column.replace("`", "") for column in columns]
    np.testing.assert_allclose(
        fit.predict(frame[:9], type="prob"), fit.predict(type="prob")[:9], rtol=1e-12
    )


@pytest.mark.parametrize(
    ("term", "message"),
    [
        # rows have no order in time
        ("lag(u)", r"do not have the function 'lag'.*column of the data"),
        ("hashed(g)", "do not have the function 'hashed'"),
        ("strata(g)", "do not have the function 'strata'"),
        ("np.log(w)", r"Write 'log\(w\)'"),
        (
            "C(g, contr.custom([[1], [0], [0]]))",
            r"not a known contrast; there are 'sas', 'treatment'",
        ),
        ("(1 | g):u", r"A random term reads \(1 \| group\)"),
        ("u | v", r"'\|'"),
    ],
)
def test_what_formulas_leave_out_is_refused_by_name(frame, term, message):
    with pytest.raises(ordstat.FormulaError, match=message):
        ordfit(f"y ~ {term}", frame)


def test_a_level_of_a_factor_without_rows_makes_no_column(frame):
    wide = frame.assign(g=frame["g"].cat.add_categories("S"))
    with pytest.warns(
        DataWarning, match=r"Levels of g without rows were left out: 'S'"
    ):
        fit = ordfit("y ~ u + g", wide)
    _same_fit(fit, ordfit("y ~ u + g", frame))
    with pytest.raises(DataError, match=r"(?s)g.*'S'"):
        fit.predict(wide.head(3).assign(g=["P", "S", "Q"]))


@pytest.mark.parametrize("name", ["C", "log", "I", "ns", "scale", "np"])
def test_columns_may_be_named_like_functions(frame, fit, name):
    other = ordfit(f"y ~ u + {name}", frame.rename(columns={"v": name}))
    _same_fit(other, fit)
    assert other.coef.index.tolist() == ["u", name]


def test_variables_of_the_caller_are_never_looked_at(frame, fit):
    C = log = u = v = 3  # noqa: F841 - names that a formula must not find
    _same_fit(ordfit(FORMULA, frame), fit)
    other = ordfit("y ~ u + C(g)", frame)
    assert other.coef.index.tolist() == ["u", "C(g)[T.Q]", "C(g)[T.R]"]
    with pytest.raises(ordstat.OrdstatError, match="nowhere"):
        nowhere = frame["u"]  # noqa: F841
        ordfit("y ~ u + nowhere", frame)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"link": "clogog"},
            (
                r"link must be one of 'logit', 'probit', .*'clogog'. Did you mean"
                r" 'cloglog'"
            ),
        ),
        ({"method": "cloglogg"}, r"Did you mean 'cloglog'\?"),
        ({"distr": "cloglog"}, r"no option 'distr'.*link"),
    ],
)
def test_links_are_listed(frame, arguments, message):
    with pytest.raises(OptionError, match=message):
        ordfit(FORMULA, frame, **arguments)


def test_a_link_by_name_is_the_link(frame):
    _same_fit(ordfit(FORMULA, frame, link="cloglog"), ordfit(FORMULA, frame, "cloglog"))


@pytest.mark.parametrize("method", ["logit", "redsvm"])
def test_an_ordinary_fit_warns_of_nothing(frame, method):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        str(ordfit(FORMULA, frame, method).summary())


# Margin methods


def test_a_precomputed_kernel_is_the_plain_gram_matrix(frame):
    from ordstat import Gaussian, OrdinalClassifier

    X = frame[["u", "v"]].to_numpy()
    train = X[:150]
    test = X[150:]
    kernel = Gaussian(gamma=0.5)
    options = {"scaling": None, "C": 2.0, "tol": 1e-9}
    plain = OrdinalClassifier("redsvm", kernel=kernel, **options).fit(
        train, frame["y"][:150]
    )
    gram = OrdinalClassifier("redsvm", kernel="precomputed", **options).fit(
        kernel(train, train), frame["y"][:150]
    )
    assert gram.predict(kernel(test, train)).tolist() == plain.predict(test).tolist()
    np.testing.assert_allclose(gram.thresholds_, plain.thresholds_, atol=1e-3)


@pytest.mark.parametrize("weak", ["perceptron", "stump"])
@pytest.mark.parametrize("method", ["orboost-all", "orboost-lr"])
def test_a_seed_fixes_the_weak_learners(frame, method, weak):
    """Equal scores to the last bit, in any state of NumPy's global generator; another
    seed, another ensemble.
    """

    def scores(seed: int, noise: int) -> np.ndarray:
        np.random.seed(noise)  # noqa: NPY002 - must make no difference
        fit = ordfit(FORMULA, frame, method, learner=weak, rounds=10, seed=seed)
        return np.asarray(fit.predict(type="score"))

    np.testing.assert_array_equal(scores(3, 0), scores(3, 1))
    # stumps draw nothing
    assert (scores(3, 0) != scores(4, 0)).any() == (weak == "perceptron")


@pytest.mark.parametrize("seed", [0, 7])
def test_a_seed_fixes_the_answer(frame, seed):
    scores = [
        ordfit(FORMULA, frame, "redsvm", C="cv", folds=3, seed=seed).predict(
            type="score"
        )
        for _ in range(2)
    ]
    np.testing.assert_array_equal(*scores)
