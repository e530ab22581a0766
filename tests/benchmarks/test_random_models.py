"""The comparison with R's clm, without R: random models, disagreements, and the
likelihood in NumPy.
"""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from benchmarks.against_r import command, ours
from benchmarks.against_r.case import settled
from benchmarks.against_r.columns import FACTORS, FEW
from benchmarks.against_r.compare import ABOVE, NO_END, Check, compare
from benchmarks.against_r.exact import Rows, tails
from benchmarks.against_r.known import explanation
from benchmarks.against_r.session import Answer
from benchmarks.against_r.specs import KINDS, LINKS, RARE, random_spec

KINDS_OF_FIGURES = ("predict", "anova.I", "anova.II", "anova.III", "drop1")


@pytest.mark.parametrize("kind", KINDS)
def test_a_specification_is_the_same_by_seed_and_number(kind):
    first, again = (KINDS[kind](3, 5) for _ in range(2))
    assert (first.python, first.r) == (again.python, again.r)
    pd.testing.assert_frame_equal(first.data, again.data)
    others = [KINDS[kind](seed, number) for seed, number in ((3, 6), (4, 5))]
    assert all(not first.frame.equals(other.frame) for other in others)


@pytest.fixture(scope="module")
def answer():
    actual, _ = ours.answer(random_spec(1, 9), KINDS_OF_FIGURES, balanced=True)
    assert "fit.warning" not in actual.words
    return actual


def theirs(answer, **changed):
    """The answer as R would give it, with other numbers under some names."""
    numbers = {
        name: values for name, values in answer.numbers.items() if name != "reached"
    }
    return Answer(numbers | {"step": np.zeros_like(numbers["estimates"])} | changed)


def disagreements(answer, **changed):
    return [
        check.kind
        for check in compare(answer, theirs(answer, **changed))
        if not check.agrees
    ]


def test_an_answer_agrees_with_itself(answer):
    kinds = {check.kind for check in compare(answer, theirs(answer))}
    assert {
        "loglik",
        "estimates",
        "se",
        "prob.se",
        "linear_predictor",
        "anova.II",
        "drop1",
    } <= kinds
    assert disagreements(answer) == []


@pytest.mark.parametrize(
    "name",
    ["estimates", "se", "prob", "prob.se", "cum_prob", "anova.I", "anova.III", "drop1"],
)
def test_one_number_that_is_off_is_found(answer, name):
    planted = answer.numbers[name].copy()
    planted[-1] *= 1.001
    assert disagreements(answer, **{name: planted}) == [name]


def test_a_number_that_one_side_lacks_is_found(answer):
    planted = answer.numbers["drop1"].copy()
    planted[-1] = np.nan
    assert disagreements(answer, drop1=planted) == ["drop1"]


def test_other_degrees_of_freedom_are_found(answer):
    assert disagreements(answer, **{"drop1.df": answer.numbers["drop1.df"] + 1.0}) == [
        "drop1.df"
    ]


def test_a_statistic_that_is_off_is_found_beside_other_degrees_of_freedom(answer):
    planted = answer.numbers["drop1"] * 1.01
    found = disagreements(
        answer, drop1=planted, **{"drop1.df": answer.numbers["drop1.df"] + 1.0}
    )
    assert found == ["drop1.df", "drop1"]


@pytest.mark.parametrize("number", range(RARE - 1, 10 * RARE, RARE))
def test_one_specification_in_five_has_rare_levels_and_nominal_or_scale_effects(number):
    spec = KINDS["any"](2001, number)
    assert spec.nominal or spec.scale
    for name, levels in FACTORS.items():
        counts = spec.frame[name].value_counts()
        assert len(counts) == len(levels) and counts.min() < FEW[1]


def case_of(answer, other, exact=np.inf, **contrasts):
    """A case as far as explanations look into it; a mended R would say what ordstat
    says.
    """
    spec = replace(random_spec(1, 9), contrasts=contrasts)
    return SimpleNamespace(
        spec=spec,
        ours=answer,
        theirs=other,
        fit=None,
        mended=lambda kind, mends: Check(kind, True, "ours", "ours"),
        loglik_of_theirs=lambda: exact,
    )


@pytest.mark.parametrize("above", [2.0 * ABOVE, 0.1])
def test_a_higher_likelihood_of_r_is_not_excused(answer, above):
    other = theirs(answer, loglik=answer.numbers["loglik"] + above)
    (check,) = [check for check in compare(answer, other) if not check.agrees]
    assert check.kind == "loglik"
    assert explanation(case_of(answer, other), check) is None


@pytest.mark.parametrize(
    ("below", "name"), [(0.01, "log-likelihood miscomputed"), (-0.01, None)]
)
def test_a_likelihood_that_is_not_that_of_the_estimates_is_when_theirs_is_no_higher(
    answer, below, name
):
    other = theirs(answer, loglik=answer.numbers["loglik"] + 0.1)
    (check,) = [check for check in compare(answer, other) if not check.agrees]
    actual = explanation(
        case_of(answer, other, exact=answer.number("loglik") - below), check
    )
    assert (actual and actual.name) == name


@pytest.mark.parametrize(
    ("rise", "identified", "name"),
    [
        (0.1, True, "on a path without a maximum"),
        (0.05, True, None),
        (0.1, False, None),
    ],
)
def test_a_point_on_a_path_without_a_maximum_is_no_higher_than_ours_says(
    answer, rise, identified, name
):
    other = theirs(
        answer,
        se=np.full_like(answer.numbers["se"], np.nan),
        loglik=answer.numbers["loglik"] + 0.1,
    )
    case = case_of(answer, other)
    case.fit = SimpleNamespace(
        fit=SimpleNamespace(diverging_elsewhere=np.ones(1), higher_by=rise)
    )
    case.estimates = answer.numbers["estimates"]
    case.right = lambda: True
    case.rows = SimpleNamespace(identified=lambda estimates: identified)
    checks = [check for check in compare(answer, other) if not check.agrees]
    assert [check.kind for check in checks] == ["convergence", NO_END]
    (actual,) = {explanation(case, check) for check in checks[1:]}
    assert (actual and actual.name) == name


def test_both_sides_without_an_end_agree(answer):
    mine = Answer(answer.numbers | {"reached": np.zeros(1)}, {})
    other = theirs(
        mine,
        se=np.full_like(answer.numbers["se"], np.nan),
        loglik=answer.numbers["loglik"] + 0.1,
    )
    assert [(check.kind, check.agrees) for check in compare(mine, other)] == [
        ("convergence", True)
    ]


def profiled(
    answer, deviance, moved, last=3.0, followed=lambda place, value: np.inf, beyond=0.0
):
    """The verdict on a profile with another last limit in R; deviances there are R's
    and NumPy's.
    """
    limits = np.array([0.5, 1.5, 2.0, last])
    mine = Answer(answer.numbers | {"profile": limits}, answer.words)
    asked = last if np.isfinite(last) else moved
    other = theirs(
        mine,
        profile=np.array([0.5, 1.5, 2.0, last + moved if np.isfinite(last) else moved]),
    )
    (check,) = [check for check in compare(mine, other) if not check.agrees]
    case = case_of(mine, other)
    case.fit = SimpleNamespace(
        fit=SimpleNamespace(
            aliased=np.zeros(1, dtype=bool),
            confounded=(),
            separation=None,
            n_lambda=0,
            diverging_elsewhere=None,
        )
    )
    case.held = lambda place, value: deviance if (place, value) == (1, asked) else 5.0
    case.followed = followed
    case.at_ours = lambda place, value: np.inf
    case.error = lambda place: 1.0
    case.least = lambda place, value: beyond if value > last else np.inf
    case.mended = lambda kind, mends: None
    actual = explanation(case, check)
    return actual and actual.name


def test_a_limit_is_right_where_rs_deviance_is_the_quantile(answer):
    """The others, on which both agree, are not asked for: R's fit with an effect held
    may be a lower maximum.
    """
    assert profiled(answer, 3.841459, moved=1.0) == "profile limits"
    assert profiled(answer, 3.85, moved=1.0) is None
    for followed, name in ((3.841459, "profile limits"), (3.83, None)):
        actual = profiled(
            answer, 3.85, moved=1.0, followed=lambda place, value, at=followed: at
        )
        assert actual == name


@pytest.mark.parametrize(
    ("inside", "beyond", "name"),
    [(3.7, 4.9, "profile limits"), (3.9, 4.9, None), (3.7, 3.8, None)],
)
def test_a_limit_is_right_where_the_deviance_jumps_over_the_quantile(
    answer, inside, beyond, name
):
    def followed(place, value):
        return inside if value < 3.0 else 4.9

    assert profiled(answer, 4.9, 1.0, followed=followed, beyond=beyond) == name


def test_no_limit_is_right_where_rs_deviance_at_its_own_is_less_than_the_quantile(
    answer,
):
    assert profiled(answer, 3.3, moved=9.0, last=np.inf) == "profile limits"
    assert profiled(answer, 3.841459, moved=9.0, last=np.inf) is None


def test_a_fit_that_did_not_end_is_compared_by_its_likelihood_alone(answer):
    other = theirs(answer, se=np.full_like(answer.numbers["se"], np.nan))
    assert [(check.kind, check.agrees) for check in compare(answer, other)] == [
        ("convergence", False),
        (NO_END, True),
    ]


@pytest.mark.parametrize("link", LINKS)
def test_tails_of_a_link_are_those_of_a_distribution(link):
    x = np.linspace(-3.0, 3.0, 25)
    below, above = tails(link, 0.7)
    np.testing.assert_allclose(below(x) + above(x), 1.0, rtol=1e-14)
    assert np.all(np.diff(below(x)) > 0.0)


def rows(link="logit"):
    """Three levels and one column: theta_1, theta_2 and beta, without a scale."""
    x = np.array([0.0, 1.0, 2.0, -1.0])
    y = np.array([0, 1, 2, 1])
    upper = np.column_stack([y == 0, y == 1, -x]).astype(float)
    lower = np.column_stack([y == 1, y == 2, -x]).astype(float)
    return Rows(
        link=link,
        upper=upper,
        lower=lower,
        scale=np.zeros((4, 0)),
        upper_offset=np.where(y == 2, np.inf, 0.0),
        lower_offset=np.where(y == 0, -np.inf, 0.0),
        scale_offset=np.ones(4),
        weights=np.array([1.0, 2.0, 1.0, 1.0]),
    )


def end_of(loglik, edf):
    """An answer of a fit that ended."""
    numbers = {
        "loglik": loglik,
        "edf": edf,
        "reached": 1.0,
        "estimates": 1.0,
        "se": 1.0,
    }
    return Answer({name: np.array([value]) for name, value in numbers.items()})


@pytest.mark.parametrize(
    ("joint", "alone", "explained"),
    [
        (-97.0, (-99.0, -99.0), True),
        (-97.5, (-99.0, -99.0), False),  # our row is not the test of the joint model
        (-97.0, (-98.5, -98.5), False),  # R's row is not that of the interaction
        (-97.0, (-99.0, -98.9), False),  # both sides fit another model
    ],
)
def test_interactions_freed_with_margins_that_r_cannot_fit(
    answer, joint, alone, explained
):
    """Ours has 6 on 5 df, R 2 on 3 df, both above a log-likelihood of -100."""
    tables = {"nominal_test": np.array([np.nan, 1.0, 6.0])}
    tables["nominal_test.df"] = np.array([np.nan, 2.0, 5.0])
    terms = {"nominal_test.terms": "<none>\tf2\tf2:x3"}
    ours_base = end_of(-100.0, 12.0)
    mine = Answer(ours_base.numbers | tables, terms)
    other = {"nominal_test": np.array([np.nan, 1.0, 2.0])}
    other["nominal_test.df"] = np.array([np.nan, 2.0, 3.0])
    fit = SimpleNamespace(
        fit=SimpleNamespace(confounded=(), separation=None, n_lambda=0),
        design=SimpleNamespace(terms=("f2", "f2:x3")),
    )
    without_fit = Answer(words={"fit.error": "object 'x3' not found"})
    models = {
        "f2 + f2:x3": SimpleNamespace(
            fit=fit,
            ours=end_of(joint, 17.0),
            theirs=without_fit,
            higher=lambda: False,
            highest=lambda: joint,
        ),
        "f2:x3": SimpleNamespace(
            fit=fit, ours=end_of(alone[0], 15.0), theirs=end_of(alone[1], 15.0)
        ),
    }
    case = case_of(mine, Answer(other))
    case.fit = fit
    case.mended = lambda kind, mends: None
    case.mended_table = lambda kind: other
    case.mended_fit = lambda: ours_base
    case.variant = lambda kind, term: models[term]
    check = Check("nominal_test", False, tables["nominal_test"], other["nominal_test"])
    actual = explanation(case, check)
    assert (actual is not None and actual.name == "refits") == explained


@pytest.mark.parametrize(
    ("highest", "p_value", "explained"),
    # ours may refuse the test, and then its statistic has no meaning
    [(-97.0, 0.3, True), (-96.9, 0.3, False), (-96.9, np.nan, True)],
)
def test_a_test_that_r_has_no_fit_for_is_of_the_highest_likelihood_found(
    answer, highest, p_value, explained
):
    numbers = {"nominal_test": np.array([np.nan, 6.0])}
    numbers["nominal_test.df"] = np.array([np.nan, 5.0])
    base = end_of(-100.0, 12.0)
    terms = {"nominal_test.terms": "<none>\tf3"}
    p_values = {"nominal_test.p": np.array([np.nan, p_value])}
    mine = Answer(base.numbers | numbers | p_values, terms)
    lacking = {name: np.full(2, np.nan) for name in numbers}
    case = case_of(mine, Answer(lacking))
    case.fit = SimpleNamespace(
        fit=SimpleNamespace(confounded=(), separation=None, n_lambda=0),
        design=SimpleNamespace(terms=("f3",)),
    )
    case.mended = lambda kind, mends: None
    case.mended_table = lambda kind: lacking
    case.variant = lambda kind, term: SimpleNamespace(
        fit=case.fit,
        ours=end_of(-97.0, 17.0),
        theirs=Answer(words={"fit.error": "number of variables"}),
        higher=lambda: False,
        highest=lambda: highest,
    )
    check = Check(
        "nominal_test", False, numbers["nominal_test"], lacking["nominal_test"]
    )
    actual = explanation(case, check)
    assert (actual is not None and actual.name == "refits") == explained


# nominal effects; each structure of thresholds; offsets of both kinds; scale effects
@pytest.mark.parametrize("number", [1, 5, 12, 32, 63])
def test_our_rows_have_the_likelihood_of_the_fit(number):
    actual, fit = ours.answer(random_spec(1, number), (), balanced=True)
    parameters = settled(fit.method.link, actual)
    assert ours.rows_of(fit).loglik(parameters) == pytest.approx(fit.loglik, abs=1e-7)


def test_the_likelihood_is_the_one_written_out():
    def F(value):
        return 1.0 / (1.0 + np.exp(-value))

    expected = [F(-1.0), F(0.5) - F(-1.5), 1.0 - F(0.0), F(1.5) - F(-0.5)]
    parameters = np.array([-1.0, 1.0, 0.5])
    np.testing.assert_allclose(rows().probabilities(parameters), expected, rtol=1e-14)
    assert rows().loglik(parameters) == pytest.approx(
        np.log(expected) @ [1, 2, 1, 1], rel=1e-14
    )


def test_a_column_twice_is_not_identified():
    once = rows()
    twice = replace(
        once,
        **{name: getattr(once, name)[:, [0, 1, 2, 2]] for name in ("upper", "lower")},
    )
    assert once.identified(np.array([-1.0, 1.0, 0.5]))
    assert not twice.identified(np.array([-1.0, 1.0, 0.5, 0.1]))


def test_without_r_the_command_says_so(monkeypatch):
    monkeypatch.setattr(command, "has", lambda package: False)
    with pytest.raises(SystemExit, match="needs R"):
        command.main(["--specs", "1"])
