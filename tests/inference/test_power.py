"""Power and sample size against Hmisc, Whitehead's published example, and
simulation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from expected import refused

from ordstat import OptionError, power_ordinal

P = [0.1, 0.2, 0.4, 0.2, 0.1]


@pytest.mark.parametrize(
    ("ratio", "n", "power"),
    [
        # Hmisc 4.8-0: popower(c(.1, .2, .4, .2, .1), 1.8, 200)$power
        (1.8, 200, 0.6284449835632266),
        # popower(p, 1.8, n1 = 80, n2 = 160)$power
        (1.8, (80, 160), 0.6571601223349772),
    ],
)
def test_power_is_that_of_hmisc(
    ratio: float, n: int | tuple[int, int], power: float
) -> None:
    actual = power_ordinal(P, ratio, n)
    assert actual.power == pytest.approx(power, rel=1e-12)
    assert power_ordinal(P, 1.0 / ratio, n).power == pytest.approx(power, rel=1e-12)


def test_standard_error_and_efficiency_are_those_of_hmisc() -> None:
    """Hmisc 4.8-0: popower(p, 1.8, 200), its approx.se and eff."""
    actual = power_ordinal(P, 1.8, 200)
    assert actual.se == pytest.approx(0.2569332712638691, rel=1e-12)
    assert actual.efficiency == pytest.approx(0.9180229505737644, rel=1e-12)


@pytest.mark.parametrize(
    ("probabilities", "ratio", "options", "n"),
    [
        # Hmisc 4.8-0: posamsize(p, 1.8, power = .9)$n, the same with fraction = .3 and
        # alpha = .01, and posamsize(c(.2, .5, .2, .1), exp(.887), power = .9)$n
        (P, 1.8, {"power": 0.9}, 397.5532658226132),
        (P, 1.8, {"power": 0.9, "fraction": 0.3, "alpha": 0.01}, 670.2006816633011),
        ([0.2, 0.5, 0.2, 0.1], np.exp(0.887), {"power": 0.9}, 186.7854044761224),
    ],
)
def test_sample_size_is_that_of_hmisc(
    probabilities: list[float], ratio: float, options: dict, n: float
) -> None:
    actual = power_ordinal(probabilities, ratio, **options)
    assert actual.n_exact == pytest.approx(n, rel=1e-12)
    assert actual.n == sum(actual.groups) == int(np.ceil(n))


CONTROL = [0.3, 0.5, 0.2]


def test_shares_of_the_control_group() -> None:
    """Hmisc 4.8-0: p1 = pomodm(p = p0, odds.ratio = 1.8), posamsize(share * p0 + (1 -
    share) * p1, 1.8, power = .8), popower of the weighted mean with 80 and 160 rows.
    """
    for share, n in ((0.5, 322.8265740615036), (0.4, 336.3489981112359)):
        plan = power_ordinal(control=CONTROL, odds_ratio=1.8, power=0.8, fraction=share)
        assert plan.n_exact == pytest.approx(n, rel=1e-12)
    plan = power_ordinal(control=CONTROL, odds_ratio=1.8, n=(80, 160))
    assert plan.power == pytest.approx(0.621, abs=0.0005)
    treated = np.array([0.1923077, 0.4973475, 0.3103448])
    mean = (np.array(CONTROL) + 2.0 * treated) / 3.0
    np.testing.assert_allclose(plan.probabilities, mean, atol=1e-7)
    below = [0.15, 0.55, 0.9]
    assert plan.win_probability == pytest.approx(treated @ below, abs=1e-7)


def test_noether() -> None:
    """(1.959964 + 0.841621)^2 / (12 / 4 / 100) rows for 0.6, fewer with ties."""
    plan = power_ordinal(win_probability=0.6, power=0.8)
    assert plan.n_exact == pytest.approx(2.801585**2 / 0.03, rel=1e-6)
    assert plan.odds_ratio is None and plan.n == 262
    tied = power_ordinal(P, win_probability=0.6, power=0.8)
    share = 1.0 - (2 * 0.1**3 + 2 * 0.2**3 + 0.4**3)
    assert tied.n_exact == pytest.approx(plan.n_exact * share, rel=1e-12)
    uneven = power_ordinal(win_probability=0.4, power=0.8, fraction=0.2)
    assert uneven.n_exact == pytest.approx(plan.n_exact / 0.64, rel=1e-12)
    again = power_ordinal(win_probability=0.6, n=plan.groups)
    assert again.power == pytest.approx(0.8, abs=0.002)


def test_both_formulas_agree_near_no_effect() -> None:
    by_ratio = power_ordinal(control=CONTROL, odds_ratio=1.02, power=0.9)
    second = by_ratio.probabilities * 2.0 - CONTROL
    by_wins = power_ordinal(control=CONTROL, treated=second, power=0.9)
    assert by_wins.win_probability == pytest.approx(by_ratio.win_probability, rel=1e-12)
    assert by_wins.n_exact == pytest.approx(by_ratio.n_exact, rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        {"control": [0.1, 0.2, 0.3, 0.4], "treated": [0.2, 0.2, 0.4, 0.2]},
        {"control": CONTROL, "treated": [0.2, 0.4, 0.4], "fraction": 1 / 3},
        {"control": CONTROL, "odds_ratio": 1.8},
    ],
    ids=["falls", "uneven", "odds ratio"],
)
def test_mann_whitney_tests_reach_the_power(options: dict[str, Any]) -> None:
    """20,000 made-up trials each, of the number of rows that a power of 0.8 needs."""
    plan = power_ordinal(power=0.8, **options)
    first = np.array(options["control"])
    n1, n2 = plan.groups
    second = (plan.probabilities - n1 / plan.n * first) * plan.n / n2
    rng = np.random.default_rng(0)
    a = rng.multinomial(n1, first, size=20_000)
    b = rng.multinomial(n2, second / second.sum(), size=20_000)
    below = np.cumsum(a, axis=1) - a / 2.0
    wins = (b * below).sum(axis=1)
    ties = a + b
    tied = 1.0 - (ties**3 - ties).sum(axis=1) / (plan.n**3 - plan.n)
    error = np.sqrt(n1 * n2 * (plan.n + 1) / 12.0 * tied)
    rejected = np.abs(wins - n1 * n2 / 2.0) > 1.959964 * error
    assert rejected.mean() == pytest.approx(0.8, abs=0.02)


def test_the_text_of_a_win_probability() -> None:
    assert repr(power_ordinal(win_probability=0.9, n=20)).splitlines() == [
        "Power 0.873 for a win probability of 0.900 with 20 observations (10 and 10)",
        "Two-sided test at 0.05; Noether (1987)",
        "Standard error of the win probability 0.129, without ties",
        "With ties fewer observations suffice: give probabilities=",
        (
            "The formula is for win probabilities near 1/2 and many observations:"
            " check the power on simulated data"
        ),
    ]
    text = repr(power_ordinal(control=CONTROL, odds_ratio=1.8, power=0.8))
    assert text.splitlines()[0] == (
        "Power 0.800 for an odds ratio of 1.8, a win probability of 0.582, with 323"
        " observations (162 and 161)"
    )


def test_the_published_example() -> None:
    """Whitehead (1993), section 3: 187 patients for a log odds ratio of 0.887 with
    power 0.9.
    """
    assert power_ordinal([0.2, 0.5, 0.2, 0.1], float(np.exp(0.887)), power=0.9).n == 187


def test_size_gives_the_power_asked_for() -> None:
    actual = power_ordinal(P, 1.8, power=0.9)
    assert power_ordinal(P, 1.8, actual.groups).power == pytest.approx(0.9, abs=0.003)


def test_the_text() -> None:
    assert repr(power_ordinal(P, 1.8, 200)).splitlines() == [
        "Power 0.628 for an odds ratio of 1.8 with 200 observations (100 and 100)",
        "Two-sided test at 0.05; Whitehead (1993)",
        (
            "Standard error of the log odds ratio 0.257; 92% of the information of an"
            " outcome without ties"
        ),
    ]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: power_ordinal([0.5, 0.6], 1.8, 100), "probabilities must be"),
        (lambda: power_ordinal([10, 20], 1.8, 100), "Divide counts by their sum"),
        (
            lambda: power_ordinal([0.0, 0.4, 0.6], 1.8, 100),
            "Leave out levels that do not occur",
        ),
        (
            lambda: power_ordinal(["a", "b"], 2, 100),
            "probabilities must be two or more positive numbers",
        ),
        (
            lambda: power_ordinal([[0.1], [0.2, 0.7]], 2, 100),
            "probabilities must be two or more positive numbers",
        ),
        (lambda: power_ordinal(P, 1, 100), "odds_ratio must differ from 1"),
        (
            lambda: power_ordinal(P, -2, 100),
            "odds_ratio must be a positive, finite number; got -2",
        ),
        (lambda: power_ordinal(P, 2, 1), "n must be"),
        (
            lambda: power_ordinal(P, 2, (5, 5, 5)),
            "n must be a whole number, or two, one per group",
        ),
        (lambda: power_ordinal(P, 2, 50, alpha=1.5), "alpha must be"),
        (lambda: power_ordinal(P, 2), "n or power must be given, but not both"),
        (lambda: power_ordinal(P, 2, power=80), "power must be"),
        (lambda: power_ordinal(P, 2, power=0.01), "power must be above alpha"),
        (lambda: power_ordinal(P, 2, power=0.8, fraction=0), "fraction must be"),
        (
            lambda: power_ordinal(P, 2, 100, shares=P),
            "power_ordinal has no argument 'shares'. Write control=",
        ),
        (lambda: power_ordinal(P, 2, 100, control=P), "the effect must be"),
        (lambda: power_ordinal(P, n=100), "got probabilities"),
        (lambda: power_ordinal(n=100), "got none of them"),
        (lambda: power_ordinal(control=P, n=100), "got control"),
        (lambda: power_ordinal(odds_ratio=2, n=100), "got odds_ratio"),
        (lambda: power_ordinal(win_probability=0.5, n=100), "differ from 1/2"),
        (lambda: power_ordinal(win_probability=60, n=100), "win_probability must be"),
        (lambda: power_ordinal(control=P, treated=P, n=100), "differ from 1/2"),
        (
            lambda: power_ordinal(control=P, treated=[0.5, 0.5], n=100),
            "one number for each level; got 5 and 2",
        ),
        (lambda: power_ordinal(control=[2, -1], odds_ratio=2, n=9), "control must be"),
        (lambda: power_ordinal(P, 2, 100, alhpa=0.1), "Did you mean 'alpha'"),
    ],
)
def test_values_outside_their_range(call, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        call()


def test_plans_far_from_what_the_formula_is_for_say_so():
    """By 1000 simulations each: 0.85 where the formula says 0.90 (odds ratio 15, 19
    rows).
    """
    probabilities = [0.1, 0.2, 0.4, 0.2, 0.1]
    message = "is for odds ratios near 1 and many observations"
    assert message in repr(power_ordinal(probabilities, odds_ratio=15.0, power=0.9))
    assert message in repr(power_ordinal(probabilities, odds_ratio=2.0, n=20))
    assert message not in repr(power_ordinal(probabilities, odds_ratio=1.8, power=0.9))


def test_a_plan_of_few_rows_has_no_negative_information() -> None:
    """Two rows of two levels: as much as without ties."""
    assert power_ordinal([0.5, 0.5], 1e10, power=0.8).efficiency == pytest.approx(1.0)


@pytest.mark.parametrize("fraction", [0.25, "x", None, np.ones(2)])
def test_a_share_beside_the_rows_is_refused(fraction: Any) -> None:
    """It would not change the power of n rows, which are split evenly or given by
    group.
    """
    with refused("fraction"):
        power_ordinal(P, 1.8, n=100, fraction=fraction)
