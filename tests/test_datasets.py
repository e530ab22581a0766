"""The real sets hold the published values; the generators have the moments their
definitions imply.

Sampling checks: seeds are fixed, and every tolerance is a stated number of standard
errors.
"""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from expected import refused
from scipy.stats import norm

from benchmarks.reproduce import breiman
from ordstat import OptionError, datasets

N = 40_000
SIGMAS = 5.0  # of the sampling error; a wrong definition is off by dozens

GENERATORS = {
    "herbrich": (datasets.herbrich, 2, [1, 2, 3, 4, 5]),
    "quadratic_bands": (datasets.quadratic_bands, 2, [1, 2, 3, 4]),
    "twonorm": (breiman.twonorm, 20, [-1, 1]),
    "threenorm": (breiman.threenorm, 20, [-1, 1]),
    "ringnorm": (breiman.ringnorm, 20, [-1, 1]),
}
BREIMAN = ["twonorm", "threenorm", "ringnorm"]


def _columns(frame: pd.DataFrame) -> np.ndarray:
    return frame.drop(columns="rank").to_numpy()


def _assert_share(hits, probability: float) -> None:
    hits = np.asarray(hits)
    error = np.sqrt(probability * (1 - probability) / hits.size)
    assert hits.mean() == pytest.approx(probability, abs=SIGMAS * error)


# Real data


def test_wine_is_the_published_table():
    wine = datasets.load("wine")
    assert wine.shape == (72, 6)
    assert wine["rating"].cat.ordered
    assert wine["rating"].cat.categories.tolist() == [1, 2, 3, 4, 5]
    # Randall 1989
    assert wine["rating"].value_counts(sort=False).tolist() == [5, 22, 26, 12, 7]
    # Randall's cross-classification of rating by temperature and contact.
    table = pd.crosstab([wine["temp"], wine["contact"]], wine["rating"])
    assert table.to_numpy().tolist() == [
        [4, 9, 5, 0, 0],
        [1, 7, 8, 2, 0],
        [0, 5, 8, 3, 2],
        [0, 1, 5, 7, 5],
    ]
    assert wine.groupby("judge", observed=True).size().tolist() == [8] * 9
    assert wine["response"].between(0, 100).all()
    assert not any(
        wine[name].cat.ordered for name in ("temp", "contact", "bottle", "judge")
    )


def test_housing_is_the_published_table():
    housing = datasets.load("housing")
    assert housing.shape == (72, 5)
    assert housing["Sat"].cat.ordered
    assert housing["Sat"].cat.categories.tolist() == ["Low", "Medium", "High"]
    assert housing["Freq"].sum() == 1681  # respondents in Madsen 1976
    assert housing.groupby("Sat", observed=True)["Freq"].sum().tolist() == [
        567,
        446,
        668,
    ]
    assert housing["Type"].cat.categories.tolist() == [
        "Tower",
        "Apartment",
        "Atrium",
        "Terrace",
    ]


def test_anes96_names_the_levels_that_its_codebook_numbers():
    from statsmodels.datasets import anes96

    raw = anes96.load_pandas().data
    frame = datasets.load("anes96")
    assert frame["PID"].cat.ordered
    assert frame["PID"].cat.codes.tolist() == raw["PID"].tolist()
    assert frame["PID"].cat.categories[[0, 3, 6]].tolist() == [
        "Strong Democrat",
        "Independent",
        "Strong Republican",
    ]
    assert (frame["vote"] == "Dole").astype(float).tolist() == raw["vote"].tolist()
    assert "public domain" in anes96.COPYRIGHT


def test_marriage_names_the_levels_that_its_codebook_numbers():
    from statsmodels.datasets import fair

    raw = fair.load_pandas().data
    frame = datasets.load("marriage")
    # counted in the file of statsmodels by awk
    assert frame["rating"].value_counts(sort=False).to_dict() == {
        "very poor": 99,
        "poor": 348,
        "fair": 993,
        "good": 2242,
        "very good": 2684,
    }
    assert frame["rating"].cat.ordered
    for ours, theirs in {
        "rating": "rate_marriage",
        "religious": "religious",
        "occupation": "occupation",
        "husband": "occupation_husb",
    }.items():
        assert (frame[ours].cat.codes + 1).tolist() == raw[theirs].tolist()
    assert frame["years"].tolist() == raw["yrs_married"].tolist()
    # The labels as statsmodels' codebook has them.
    assert "1 = not, 2 = mildly, 3 = fairly" in fair.NOTE
    assert "1 = very poor, 2 = poor, 3 = fair" in fair.NOTE
    assert "permission of the author" in fair.COPYRIGHT


def test_every_column_is_described():
    text = (Path(__file__).parents[1] / "data" / "README.md").read_text()
    for name in datasets.NAMES:
        part = text.partition(f"## {name}\n")[2].partition("\n## ")[0]
        described = re.findall(r"^\| `(\w+)` \| \S", part, re.MULTILINE)
        assert described == datasets.load(name).columns.tolist()


def test_every_load_is_a_fresh_copy():
    first = datasets.load("wine")
    first.loc[:, "response"] = 0
    assert datasets.load("wine")["response"].sum() > 0


def test_unknown_name_lists_the_sets():
    with pytest.raises(
        OptionError,
        match=r"'wine', 'housing', 'anes96', 'marriage'.*got 'wines'\. Did you mean",
    ):
        datasets.load("wines")


# Artificial data


@pytest.mark.parametrize("name", GENERATORS)
def test_generators_are_seeded_and_typed(name):
    make, features, levels = GENERATORS[name]
    frame = make(50, seed=3)
    assert frame.columns.tolist() == [f"x{d}" for d in range(1, features + 1)] + [
        "rank"
    ]
    assert frame["rank"].cat.ordered
    assert frame["rank"].cat.categories.tolist() == levels
    assert len(frame) == 50
    pd.testing.assert_frame_equal(frame, make(50, seed=np.random.default_rng(3)))
    assert not frame.equals(make(50, seed=4))


@pytest.mark.parametrize("name", ["herbrich", "quadratic_bands"])
def test_inputs_are_uniform_on_the_unit_square(name):
    x = _columns(GENERATORS[name][0](N, seed=1))
    assert x.min() >= 0
    assert x.max() <= 1
    for probability in (0.25, 0.5, 0.9):
        _assert_share(x[:, 0] <= probability, probability)
        _assert_share(x[:, 1] <= probability, probability)
    _assert_share((x <= 0.5).all(axis=1), 0.25)


def _herbrich_probabilities(x: np.ndarray, noise: float) -> np.ndarray:
    """(N, 5) P(rank | x) of eq. 7.29, written out."""
    f = 10 * (x[:, 0] - 0.5) * (x[:, 1] - 0.5)
    edges = np.array([-np.inf, -1.0, -0.1, 0.25, 1.0, np.inf])
    return np.diff(norm.cdf((edges - f[:, None]) / noise), axis=1)


@pytest.mark.parametrize("noise", [0.125, 0.5])
def test_herbrich_ranks_have_the_probabilities_of_the_formula(noise):
    frame = datasets.herbrich(N, noise=noise, seed=2)
    expected = _herbrich_probabilities(_columns(frame), noise)
    codes = frame["rank"].cat.codes.to_numpy()
    near = np.abs(_columns(frame)[:, 0] - 0.5) < 0.25
    for rows in (slice(None), near, ~near):
        for rank in range(5):
            p = expected[rows, rank]
            error = np.sqrt((p * (1 - p)).sum()) / p.size
            assert (codes[rows] == rank).mean() == pytest.approx(
                p.mean(), abs=SIGMAS * error
            )


def test_herbrich_without_noise_is_the_step_function():
    frame = datasets.herbrich(500, noise=0.0, seed=2)
    f = 10 * (frame["x1"] - 0.5) * (frame["x2"] - 0.5)
    expected = pd.cut(
        f, [-np.inf, -1.0, -0.1, 0.25, 1.0, np.inf], labels=[1, 2, 3, 4, 5]
    )
    assert frame["rank"].astype(int).tolist() == expected.astype(int).tolist()


def test_quadratic_bands_have_equal_areas_and_three_curves():
    frame = datasets.quadratic_bands(N, seed=3)
    for rank in (1, 2, 3, 4):
        _assert_share(frame["rank"] == rank, 0.25)
    # Interpolating a boundary: its second difference over x1 = 0, 1/2, 1 is that of (x1
    # - 1/2)^2.
    tops = [
        frame.loc[(frame["rank"] == 2) & (frame["x1"] - at).abs().lt(0.01), "x2"].max()
        for at in (0.005, 0.5, 0.995)
    ]
    assert tops[0] - 2 * tops[1] + tops[2] == pytest.approx(2 * 0.495**2, abs=0.03)


@pytest.mark.parametrize("name", BREIMAN)
@pytest.mark.parametrize("features", [20, 5])
def test_breiman_classes_are_equally_likely(name, features):
    frame = GENERATORS[name][0](N, features=features, seed=5)
    assert frame.shape == (N, features + 1)
    _assert_share(frame["rank"] == 1, 0.5)


def _moments(name: str, rank: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of a class in 20 dimensions, by hand from Breiman's
    definitions.
    """
    a = 2 / np.sqrt(20)
    ones = np.ones(20)
    eye = np.eye(20)
    return {
        ("twonorm", 1): (a * ones, eye),
        ("twonorm", -1): (-a * ones, eye),
        # a half-half mixture at +-a
        ("threenorm", 1): (0 * ones, eye + a**2 * np.ones((20, 20))),
        ("threenorm", -1): (a * np.resize([1.0, -1.0], 20), eye),
        ("ringnorm", 1): (0 * ones, 4 * eye),
        ("ringnorm", -1): (a * ones, eye),
    }[name, rank]


@pytest.mark.parametrize("rank", [1, -1])
@pytest.mark.parametrize("name", BREIMAN)
def test_breiman_classes_have_the_moments_of_the_definition(name, rank):
    frame = GENERATORS[name][0](N, seed=6)
    x = _columns(frame[frame["rank"] == rank])
    mean, covariance = _moments(name, rank)
    scale = np.sqrt(covariance.diagonal().max() / len(x))
    assert np.abs(x.mean(axis=0) - mean).max() < SIGMAS * scale
    assert np.abs(np.cov(x.T) - covariance).max() < SIGMAS * np.sqrt(
        2
    ) * covariance.max() / np.sqrt(len(x))


@pytest.mark.parametrize(
    ("name", "best", "atol"),
    # atol: printed digits
    [
        ("twonorm", norm.cdf(-2), 1e-3),
        ("threenorm", 0.105, 1e-3),
        ("ringnorm", 0.013, 5e-4),
    ],
)
def test_breiman_best_error_is_the_published_one(name, best, atol):
    frame = GENERATORS[name][0](N, seed=7)
    x = _columns(frame)
    a = 2 / np.sqrt(20)

    def log_density(centre, variance=1.0):
        return -((x - centre) ** 2).sum(axis=1) / (2 * variance) - 10 * np.log(variance)

    ratio = {
        "twonorm": lambda: log_density(a) - log_density(-a),
        "threenorm": lambda: (
            np.logaddexp(log_density(a), log_density(-a))
            - np.log(2)
            - log_density(a * np.resize([1.0, -1.0], 20))
        ),
        "ringnorm": lambda: log_density(0.0, 4.0) - log_density(a),
    }[name]()
    wrong = (np.where(ratio > 0, 1, -1) != frame["rank"].astype(int)).mean()
    assert wrong == pytest.approx(best, abs=atol + 3 * np.sqrt(best / N))


@pytest.mark.parametrize("name", BREIMAN)
def test_flip_turns_that_share_of_the_labels_and_nothing_else(name):
    clean, noisy = (GENERATORS[name][0](300, flip=flip, seed=8) for flip in (0.0, 0.1))
    np.testing.assert_array_equal(_columns(clean), _columns(noisy))
    assert (clean["rank"].astype(int) != noisy["rank"].astype(int)).sum() == 30
    with refused("flip", "1.5"):
        GENERATORS[name][0](10, flip=1.5)
