"""Coefficients of several fits in one picture."""

import numpy as np
import pytest

from ordstat import OptionError, datasets, ordfit

WINE = datasets.load("wine")


@pytest.fixture(scope="module")
def fits():
    return {
        "both": ordfit("rating ~ temp + contact", WINE),
        "temp": ordfit("rating ~ temp", WINE),
        "svm": ordfit("rating ~ temp + contact", WINE, "redsvm", kernel="linear"),
    }


def test_the_data_are_those_of_the_fits(fits):
    data = fits["both"].plot.forest(
        others={"temp alone": fits["temp"], "svm": fits["svm"]},
        label="both",
        draw=False,
    )
    assert data[["term", "model"]].to_numpy().tolist() == [
        ["temp[T.warm]", "both"],
        ["temp[T.warm]", "temp alone"],
        ["temp[T.warm]", "svm"],
        ["contact[T.yes]", "both"],
        ["contact[T.yes]", "svm"],
    ]
    both = data[data["model"] == "both"].set_index("term")
    np.testing.assert_allclose(
        both[["conf_low", "conf_high"]], fits["both"].confint().loc[both.index]
    )
    np.testing.assert_allclose(
        data.loc[data["model"] == "svm", "estimate"], fits["svm"].coef
    )
    assert data.loc[data["model"] == "svm", "conf_low"].isna().all()
    beside = {"others": {"svm": fits["svm"]}, "columns": "contact[T.yes]"}
    odds = fits["both"].plot.forest(**beside, exponentiate=True, draw=False)
    np.testing.assert_allclose(
        odds["estimate"], np.exp([fits["both"].coef.iloc[1], fits["svm"].coef.iloc[1]])
    )


def test_what_is_drawn(fits):
    others = {"temp alone": fits["temp"], "svm": fits["svm"]}
    ax = fits["both"].plot.forest(others=others, label="both")
    drawn = {
        line.get_label(): line
        for line in ax.get_lines()
        if not line.get_label().startswith("_")
    }
    assert (
        list(drawn) == ["both", *others]
        and len({line.get_marker() for line in drawn.values()}) == 3
    )
    np.testing.assert_allclose(drawn["both"].get_xdata(), fits["both"].coef)
    heights = np.concatenate([line.get_ydata() for line in drawn.values()])
    assert np.unique(heights).size == 5
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        "temp: warm",
        "contact: yes",
    ]


@pytest.mark.parametrize(
    ("others", "options", "message"),
    [
        ("none", {}, "others must be a mapping of labels to fits"),
        ("three", {}, "'a' is not"),
        (
            "tree",
            {},
            r"others must be fits of ordfit\(\) with coefficients; 'a' is not",
        ),
        (
            "twice",
            {},
            "others must have labels that differ as text; '1' is there twice",
        ),
        ("number", {"label": "1"}, "others must not have the label of this fit, '1'"),
        ("self", {"columns": "judge"}, r"columns must be among .*; got 'judge'"),
        ("many", {}, "others must hold at most 7 fits; got 8"),
    ],
)
def test_refusals(fits, others, options, message):
    given = {
        "self": {"a": fits["temp"]},
        "many": {str(i): fits["temp"] for i in range(8)},
    }
    given |= {"twice": {1: fits["temp"], "1": fits["svm"]}, "number": {1: fits["temp"]}}
    given |= {
        "tree": {"a": ordfit("rating ~ temp", WINE, "cart")},
        "none": {},
        "three": {"a": 3},
    }
    with pytest.raises(OptionError, match=message):
        fits["both"].plot.forest(others=given[others], **options)
