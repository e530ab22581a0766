"""`describe_ordinal` with a survey design, against R's survey and against rows without
a design where both must agree; and its tests between groups.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from inference.test_describe import ITEMS, answers
from ordstat import DataError, OptionError, SurveyDesign, describe_ordinal
from ordstat.inference.rank_tests import jonckheere_terpstra, kruskal_wallis

SAMPLE = pd.read_csv(Path(__file__).parents[1] / "formula" / "survey_sample.csv")
SAMPLE["three"] = pd.cut(SAMPLE["age"], [0, 35, 55, 200], labels=[1, 2, 3])
SAMPLE["two"] = SAMPLE["age"] > 45
DESIGNS = {
    "weights alone": SurveyDesign(weights="w"),
    "strata and PSUs": SurveyDesign(weights="w", strata="s", clusters="psu"),
    "population sizes": SurveyDesign(weights="w", strata="s", clusters="psu", fpc="N"),
}
#: R 4.2.2, survey 4.1.1, as written in survey_ranks.R.
FROM_R = pd.read_csv(Path(__file__).with_name("survey_ranks.csv"))


@pytest.mark.parametrize(
    "row",
    list(FROM_R.itertuples(index=False)),
    ids=lambda row: f"{row.case}-{row.by}-{row.test}",
)
def test_tests_against_r(row):
    found = describe_ordinal(SAMPLE, "pid", by=row.by, design=DESIGNS[row.case])
    actual = found.tests.loc[row.test]
    assert actual["den_df"] == row.den_df
    assert actual["statistic"] == pytest.approx(row.statistic, rel=1e-9)
    assert actual["p_value"] == pytest.approx(row.p_value, rel=1e-8)


def test_shares_are_weighted_and_counts_are_not():
    design = DESIGNS["strata and PSUs"]
    found = describe_ordinal(SAMPLE, "pid", by="two", design=design)
    weighted = SAMPLE.groupby(["two", "pid"])["w"].sum().unstack()
    expected = weighted.div(weighted.sum(axis=1), axis=0)
    assert np.allclose(found.shares, expected, rtol=1e-12)
    counted = SAMPLE.groupby("two")["pid"].value_counts().unstack()
    assert (found.counts.to_numpy() == counted.sort_index(axis=1).to_numpy()).all()
    assert "Survey design: " in str(found)
    assert "den_df" in str(found)


DATA = answers().assign(one=1.0)


def test_groups_as_strata_give_the_errors_of_rows_without_a_design():
    design = SurveyDesign(weights="one", strata="place")
    complete = DATA.dropna()
    found = describe_ordinal(complete, ITEMS, by="place", design=design)
    plain = describe_ordinal(complete, ITEMS, by="place")
    for name in ("ridits", "mann_whitney"):
        actual = getattr(found, name)["std_error"].to_numpy()
        expected = getattr(plain, name)["std_error"].to_numpy()
        assert actual == pytest.approx(expected, rel=1e-10)


def test_items_of_the_same_rows_are_pairs_in_a_design_too():
    complete = DATA.dropna()
    found = describe_ordinal(complete, ITEMS, design=SurveyDesign(weights="one"))
    plain = describe_ordinal(complete, ITEMS)
    assert found.ridits["std_error"].to_numpy() == pytest.approx(
        plain.ridits["std_error"].to_numpy(), rel=1e-10
    )
    assert found.tests.empty


def test_copies_of_a_row_in_one_cluster_add_nothing():
    rows = np.repeat(np.arange(len(DATA)), 3)
    copies = DATA.iloc[rows].assign(unit=rows).reset_index(drop=True)
    design = SurveyDesign(weights="one", clusters="unit")
    found = describe_ordinal(copies, ITEMS, by="place", design=design)
    single = describe_ordinal(
        DATA, ITEMS, by="place", design=SurveyDesign(weights="one")
    )
    for name in ("ridits", "mann_whitney"):
        assert np.allclose(getattr(found, name), getattr(single, name), rtol=1e-9)
    assert np.allclose(found.tests, single.tests, rtol=1e-9)
    # the scale of the weights does not matter
    scaled = DATA.assign(one=7.5)
    again = describe_ordinal(
        scaled, ITEMS, by="place", design=SurveyDesign(weights="one")
    )
    assert np.allclose(again.ridits, single.ridits, rtol=1e-9)


def test_tests_of_rows_without_a_design():
    found = describe_ordinal(DATA, ITEMS, by="place")
    assert found.tests.index.get_level_values("test").unique().tolist() == [
        "Kruskal-Wallis"
    ]
    counts = found.counts.loc["q0"].to_numpy(dtype=float)
    row = found.tests.loc[("q0", "Kruskal-Wallis")]
    test = kruskal_wallis(counts)
    assert row.tolist() == [test.statistic, 2.0, test.p_value]
    order = pd.CategoricalDtype(["south", "west", "north"], ordered=True)
    ordered = DATA.assign(place=DATA["place"].astype(order))
    found = describe_ordinal(ordered, "q0", by="place")
    trend = found.tests.loc["Jonckheere-Terpstra"]
    test = jonckheere_terpstra(found.counts.to_numpy(dtype=float))
    assert trend[["statistic", "p_value"]].tolist() == [test.statistic, test.p_value]
    assert "Tests between groups" in str(found)
    weighted = describe_ordinal(ordered, "q0", by="place", weights="w")
    copied = describe_ordinal(
        ordered.loc[ordered.index.repeat(ordered["w"])], "q0", by="place"
    )
    assert np.allclose(weighted.tests, copied.tests, equal_nan=True)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"design": "w"}, "design must be a SurveyDesign; got 'w'"),
        (
            {"design": SurveyDesign(weights="one"), "weights": "w"},
            "weights must be left out with design=",
        ),
        (
            {
                "design": SurveyDesign(
                    weights="one", replicates=["w", "one"], type="JK1"
                )
            },
            "design must have strata or clusters here; got replicate weights",
        ),
        ({"design": SurveyDesign(weights="q")}, "no column 'q'"),
        ({"design": SurveyDesign(weights="one", strata="unit")}, "a single PSU"),
    ],
)
def test_bad_designs_are_refused_by_name(options, match):
    data = DATA.assign(unit=np.arange(len(DATA)))
    with pytest.raises((DataError, OptionError), match=match):
        describe_ordinal(data, ITEMS, by="place", **options)
