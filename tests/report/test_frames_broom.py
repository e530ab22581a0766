"""Names of columns: R's broom in all tables by one call, the numbers being those of the
table.
"""

import numpy as np
import pandas as pd
import pytest

from ordstat import datasets, ordfit
from ordstat.report import frames

WINE = datasets.load("wine")
FIT = ordfit("rating ~ temp + contact", WINE)
SMALLER = FIT.update("~ . - contact")
ROBUST = ordfit(
    "rating ~ temp + contact", WINE, vcov={"cluster": "judge", "type": "CR2"}
)


@pytest.mark.parametrize(
    ("table", "columns"),
    [
        (FIT.confint(), ["term", "conf_low", "conf_high"]),
        (FIT.anova(), ["term", "df", "statistic", "p_value"]),
        (
            FIT.anova(SMALLER),
            ["term", "npar", "aic", "loglik", "statistic", "df", "p_value"],
        ),
        (FIT.drop1(), ["term", "df", "aic", "statistic", "p_value"]),
        (FIT.nominal_test(), ["term", "df", "loglik", "aic", "statistic", "p_value"]),
        (
            FIT.emmeans("temp"),
            ["temp", "estimate", "std_error", "conf_low", "conf_high"],
        ),
        (ROBUST.joint_tests(), ["term", "df", "den_df", "statistic", "p_value"]),
    ],
)
def test_names_of_broom(table, columns):
    tidy = table.tidy()
    assert list(tidy.columns) == columns
    own = table if isinstance(table, pd.DataFrame) else table.frame
    back = {new: old for old, new in frames.BROOM_NAMES.items() if old in own}
    for name in columns:
        if back.get(name, name) in own:
            np.testing.assert_array_equal(tidy[name], own[back.get(name, name)])


def test_row_labels_and_notes_stay():
    table = FIT.brant()
    tidy = table.tidy()
    assert tidy["term"].tolist() == table.index.tolist()
    assert tidy.attrs["notes"] == table.attrs["notes"] != []
    assert table.attrs["notes"][0][:20] in str(tidy)


def test_levels_of_predictions_come_one_below_another():
    new = WINE.iloc[[3, 40]]
    wide = FIT.predict(new, type="prob", se=True, interval="confidence")
    long = wide.tidy()
    assert list(long.columns) == [
        "row",
        "level",
        "estimate",
        "std_error",
        "conf_low",
        "conf_high",
    ]
    assert long["row"].tolist() == [3] * 5 + [40] * 5
    for row, level, low in long[["row", "level", "conf_low"]].itertuples(index=False):
        assert low == wide.loc[row, ("lower", level)]


def test_a_name_that_is_taken_stays():
    table = pd.DataFrame({"F": [2.0], "statistic": [1.0], "lower": [0.0]})
    assert list(frames.broom_frame(table).columns) == ["F", "statistic", "conf_low"]
