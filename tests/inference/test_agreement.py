"""Agreement of raters against the published examples of irrCAC and krippendorff,
scikit-learn's kappa, brute force and the jackknife.
"""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score

from ordstat import DataError, DataWarning, OptionError, agreement

NA = np.nan
AC = "Gwet's AC2"
AC1 = "Gwet's AC1"
ALPHA = "Krippendorff's alpha"
BP = "Brennan-Prediger"
CONGER = "Conger's kappa"
COHEN = "Cohen's kappa"

#: Gwet (2014), page 120: cac.raw4raters of R's irrCAC.
FOUR = pd.DataFrame(
    {
        "r1": [1, 2, 3, 3, 2, 1, 4, 1, 2, NA, NA, NA],
        "r2": [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NA, NA],
        "r3": [NA, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 3],
        "r4": [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NA],
    }
)
#: Gwet (2014), page 125: cac.raw5obser.
FIVE = pd.DataFrame(
    {
        "o1": [1, 1, 2, NA, 0, 0, 1, 1, 2, 2, NA, 0, 1, 3, 1],
        "o2": [1, 1, 3, 0, 0, 0, 0, NA, 2, 1, 1, 0, 2, 3, 1],
        "o3": [2, 0, 3, 0, 0, 0, 2, 2, 2, 1, 0, 0, 2, 2, 1],
        "o4": [NA, 1, 3, NA, NA, NA, NA, 0, NA, 1, 0, 0, 2, 2, NA],
        "o5": [2, NA, NA, 0, 0, 0, 1, NA, 2, NA, NA, NA, NA, 3, 1],
    }
)
#: cac.raw.gender.
GENDER = pd.DataFrame(
    {
        "r1": [*"aaaaabbbcaaaaab"],
        "r2": [*"aaaababccaaaaba"],
        "r3": [*"abbcaabbcabbcaa"],
        "r4": [*"ccccaabbcccccaa"],
    }
)
#: cac.ben.gerry.
TWO = pd.DataFrame(
    {"Ben": [*"aabbdcccedda"], "Gerry": [*"babbbccce", None, *"dd"]}, dtype=object
)


def ordinal_weights(q):
    """Gwet's ordinal weights."""
    distance = np.abs(np.subtract.outer(np.arange(q), np.arange(q)))
    pairs = distance * (distance + 1) / 2
    return 1 - pairs / pairs.max()


def radical_weights(q):
    distance = np.abs(np.subtract.outer(np.arange(q), np.arange(q)))
    return 1 - np.sqrt(distance / (q - 1))


#: (ratings, weights, coefficient): observed, chance, estimate, standard error, as the
#: tests of the Python version of irrCAC print them, which follow the handbook.
PUBLISHED = [
    (FOUR, "unweighted", AC1, 0.818, 0.190, 0.775, 0.143),
    (FOUR, "linear", AC, 0.939, 0.571, 0.859, 0.117),
    (FOUR, "quadratic", AC, 0.975, 0.714, 0.914, 0.104),
    (FOUR, ordinal_weights(5), AC, 0.968, 0.685, 0.899, 0.107),
    (FOUR, radical_weights(5), AC, 0.897, 0.430, 0.820, 0.128),
    (FOUR, "unweighted", ALPHA, 0.805, 0.240, 0.743, 0.146),
    (FOUR, "linear", ALPHA, 0.935, 0.674, 0.800, 0.135),
    (FOUR, "quadratic", ALPHA, 0.974, 0.825, 0.849, 0.129),
    (FOUR, ordinal_weights(5), ALPHA, 0.966, 0.795, 0.834, 0.131),
    (FOUR, "unweighted", CONGER, 0.818, 0.233, 0.763, 0.149),
    (FOUR, "linear", CONGER, 0.939, 0.675, 0.814, 0.145),
    (FOUR, "quadratic", CONGER, 0.975, 0.827, 0.858, 0.144),
    (FOUR, radical_weights(5), CONGER, 0.897, 0.515, 0.788, 0.146),
    (FOUR, "unweighted", BP, 0.818, 0.200, 0.773, 0.145),
    (FOUR, "linear", BP, 0.939, 0.600, 0.848, 0.123),
    (FOUR, "quadratic", BP, 0.975, 0.750, 0.902, 0.111),
    (FIVE, "unweighted", AC1, 0.616, 0.236, 0.497, 0.122),
    (FIVE, "unweighted", ALPHA, 0.627, 0.282, 0.481, 0.114),
    (FIVE, "unweighted", CONGER, 0.616, 0.276, 0.469, 0.117),
    (FIVE, "unweighted", BP, 0.616, 0.250, 0.487, 0.121),
    (GENDER, "unweighted", AC1, 0.456, 0.312, 0.208, 0.091),
    (GENDER, "unweighted", ALPHA, 0.465, 0.375, 0.143, 0.141),
    (GENDER, "unweighted", CONGER, 0.456, 0.347, 0.166, 0.121),
    (GENDER, "unweighted", BP, 0.456, 0.333, 0.183, 0.102),
    (TWO, "unweighted", AC1, 0.727, 0.194, 0.661, 0.184),
    (TWO, "unweighted", ALPHA, 0.740, 0.223, 0.665, 0.180),
    (TWO, "unweighted", COHEN, 0.727, 0.205, 0.657, 0.179),
    (TWO, "unweighted", BP, 0.727, 0.200, 0.659, 0.185),
]


@pytest.mark.parametrize(
    ("ratings", "weights", "name", "observed", "chance", "estimate", "std_error"),
    PUBLISHED,
)
def test_published_examples_of_irrcac(
    ratings, weights, name, observed, chance, estimate, std_error
):
    levels = None
    if ratings is GENDER or ratings is TWO:
        levels = [*"abcde"][: 3 if ratings is GENDER else 5]
    row = agreement(ratings, weights, levels=levels).table.loc[name]
    assert row["observed"] == pytest.approx(observed, abs=6e-4)
    assert row["chance"] == pytest.approx(chance, abs=6e-4)
    assert row["estimate"] == pytest.approx(estimate, abs=6e-4)
    # alpha: R's later version has p_a before its correction in the error
    if name == ALPHA or ratings.notna().sum(axis=1).min() > 1:
        room = 2e-3 if name == ALPHA else 6e-4
        assert row["std_error"] == pytest.approx(std_error, abs=room)
    else:  # irrCAC takes the number of subjects with two ratings for fixed
        assert row["std_error"] < std_error


def test_published_example_of_two_raters_with_all_digits():
    """cont3x3abstractors in the overview of R's irrCAC."""
    table = [[13, 0, 0], [0, 20, 7], [0, 4, 56]]
    rows = [(i, j) for i in range(3) for j in range(3) for _ in range(table[i][j])]
    found = agreement(pd.DataFrame(rows, columns=["x", "y"]), "unweighted").table
    expected = {
        COHEN: (0.7964094, 0.05891072),
        AC1: (0.8493305, 0.04321747),
        BP: (0.835, 0.04693346),
        ALPHA: (0.7972585, 0.05905473),
    }
    for name, (estimate, error) in expected.items():
        assert found.loc[name, "estimate"] == pytest.approx(estimate, abs=6e-8)
        # irrCAC divides by n in tables, by n - 1 in rows of ratings
        error *= np.sqrt(100 / 99)
        assert found.loc[name, "std_error"] == pytest.approx(error, abs=6e-8)


#: Documented examples of krippendorff on PyPI.
THREE = pd.DataFrame(
    {
        "a": [NA, NA, NA, NA, NA, 3, 4, 1, 2, 1, 1, 3, 3, NA, 3],
        "b": [1, NA, 2, 1, 3, 3, 4, 3, NA, NA, NA, NA, NA, NA, NA],
        "c": [NA, NA, 2, 1, 3, 4, 4, NA, 2, 1, 1, 3, 3, NA, 4],
    }
)
OTHER = FOUR.assign(r2=[1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NA, 3]).assign(
    r3=[NA, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NA]
)


@pytest.mark.parametrize(
    ("ratings", "weights", "alpha", "digits"),
    [
        (THREE, "unweighted", 0.691358, 6),
        (THREE, "quadratic", 0.810845, 6),
        (OTHER, "ranks", 0.815, 3),
    ],
)
@pytest.mark.filterwarnings("ignore:.*subject.* without any rating left out")
def test_published_examples_of_krippendorff(ratings, weights, alpha, digits):
    found = agreement(ratings, weights).table
    assert round(found.loc[ALPHA, "estimate"], digits) == alpha


def test_alpha_by_brute_force():
    """1 - observed / expected disagreement over all pairs of ratings."""
    units = [row.dropna().tolist() for _, row in FIVE.iterrows()]
    units = [unit for unit in units if len(unit) > 1]
    every = [value for unit in units for value in unit]
    observed = sum(
        (a - b) ** 2 / (len(unit) - 1)
        for unit in units
        for a, b in permutations(unit, 2)
    ) / len(every)
    expected = sum((a - b) ** 2 for a, b in permutations(every, 2))
    expected /= len(every) * (len(every) - 1)
    actual = agreement(FIVE, "quadratic").table.loc[ALPHA, "estimate"]
    assert actual == pytest.approx(1 - observed / expected, rel=1e-12)


RNG = np.random.default_rng(4)
TRUTH = RNG.integers(1, 5, 50)
COMPLETE = pd.DataFrame(
    {f"r{j}": np.clip(TRUTH + RNG.integers(-1, 2, 50), 1, 4) for j in range(3)}
)


@pytest.mark.parametrize("weights", ["linear", "quadratic"])
def test_kappa_of_two_raters_as_scikit_learn_has_it(weights):
    pair = COMPLETE[["r0", "r1"]]
    actual = agreement(pair, weights).table.loc[COHEN, "estimate"]
    assert actual == pytest.approx(
        cohen_kappa_score(*pair.to_numpy().T, weights=weights), rel=1e-12
    )


def test_conger_has_the_mean_chance_of_all_pairs():
    names = list(COMPLETE)
    chances = [
        agreement(COMPLETE[[a, b]], "linear").table.loc[COHEN, "chance"]
        for a, b in permutations(names, 2)
    ]
    actual = agreement(COMPLETE, "linear").table.loc[CONGER, "chance"]
    assert actual == pytest.approx(np.mean(chances), rel=1e-12)


@pytest.mark.parametrize("weights", ["unweighted", "quadratic"])
def test_errors_against_the_jackknife_over_subjects(weights):
    n = len(COMPLETE)
    parts = np.array(
        [agreement(COMPLETE.drop(index=i), weights).table["estimate"] for i in range(n)]
    )
    expected = np.sqrt((n - 1) * parts.var(axis=0))
    actual = agreement(COMPLETE, weights).table["std_error"]
    assert actual.to_numpy() == pytest.approx(expected, rel=0.03)


def test_errors_with_random_raters_add_the_jackknife_over_raters():
    fixed = agreement(FOUR, "linear").table
    random = agreement(FOUR, "linear", raters="random").table
    parts = np.array(
        [
            agreement(
                FOUR.drop(columns=name).dropna(how="all"), "linear", levels=range(1, 6)
            ).table["estimate"]
            for name in FOUR
        ]
    )
    added = 3 / 4 * ((parts - parts.mean(axis=0)) ** 2).sum(axis=0)
    assert random["std_error"].to_numpy() ** 2 == pytest.approx(
        fixed["std_error"].to_numpy() ** 2 + added, rel=1e-10
    )


def test_levels_that_nobody_used_count():
    two = pd.DataFrame({"x": [1, 2, 2, 1, 2], "y": [1, 2, 1, 1, 2]})
    three = agreement(two, "unweighted", levels=[1, 2, 3]).table
    assert agreement(two, "unweighted").table.loc[BP, "chance"] == 0.5
    assert three.loc[BP, "chance"] == pytest.approx(1 / 3)


def test_ordered_categories_and_numbers_are_the_same():
    ordered = COMPLETE.astype(pd.CategoricalDtype([1, 2, 3, 4], ordered=True))
    assert agreement(ordered).table.equals(agreement(COMPLETE).table)


def test_full_agreement_by_chance_is_not_available():
    same = pd.DataFrame({"x": [1, 1, 1], "y": [1, 1, 1]})
    found = agreement(same, levels=[1, 2])
    assert np.isnan(found.table.loc[COHEN, "estimate"])
    assert found.table.loc[BP, "estimate"] == 1.0
    assert "NA where chance alone" in str(found)


def test_subjects_without_ratings_are_left_out_with_a_warning():
    more = pd.concat([FOUR, pd.DataFrame({"r1": [NA, NA]})], ignore_index=True)
    with pytest.warns(DataWarning, match="2 subjects without any rating"):
        found = agreement(more)
    assert found.table.equals(agreement(FOUR).table) and found.subjects == 12


def test_codes_of_missing_ratings_are_named():
    doubtful = FOUR.fillna(99)
    with pytest.warns(DataWarning, match="99"):
        agreement(doubtful)


def test_the_printed_table():
    text = str(agreement(FOUR))
    assert "Subjects  12" in text and "Weights: quadratic." in text
    assert "Gwet's AC2               0.914" in text
    assert "1 subject with one rating" in text
    text = str(agreement(FIVE, "unweighted"))
    assert "Gwet's AC1               0.497  0.122  0.235  0.758" in text
    assert "with one rating" not in text


@pytest.mark.parametrize(
    ("ratings", "options", "match"),
    [
        (FOUR[["r1"]], {}, r"two columns of raters or more; got \['r1'\]"),
        (FOUR.assign(r1=NA), {}, "Column 'r1' has no rating"),
        (GENDER, {}, "labels without an order"),
        (GENDER, {"levels": ["a", "b"]}, "outside the levels"),
        (FOUR.map(lambda v: 1.0 if v == v else v), {}, "has only the level 1"),
        (FOUR.iloc[1:2], {}, "two subjects or more with two ratings"),
        (
            pd.DataFrame({"x": [1, NA, 2], "y": [NA, 2, NA]}),
            {},
            "two ratings or more; got 0",
        ),
        (FOUR, {"weights": "cubic"}, "weights must be one of .* or a matrix"),
        (FOUR, {"weights": np.eye(3)}, "symmetric 5 x 5 matrix"),
        (FOUR, {"weights": np.triu(np.ones((5, 5)))}, "symmetric 5 x 5 matrix"),
        (FOUR, {"weights": 2 * np.eye(5)}, "symmetric 5 x 5 matrix"),
        (FOUR, {"raters": "all"}, "raters must be one of"),
        (FOUR[["r1", "r2"]].dropna(), {"raters": "random"}, "needs 3 raters or more"),
        (FOUR, {"level": 95}, "level must be"),
    ],
)
def test_bad_input_is_refused_by_name(ratings, options, match):
    with pytest.raises((DataError, OptionError), match=match):
        agreement(ratings, **options)
