"""What `describe_ordinal` counts, prints, draws and refuses."""

import warnings

import matplotlib
import numpy as np
import pandas as pd
import pytest
from expected import rows_left_out

from ordstat import DataError, DataWarning, OptionError, datasets, describe_ordinal

LEVELS = ["Strongly disagree", "Disagree", "Neither", "Agree", "Strongly agree"]


def test_items_of_different_scales_are_doubtful():
    frame = pd.DataFrame({"five": [1, 2, 3, 4, 5], "seven": [1, 7, 3, 4, 5]})
    with pytest.warns(
        DataWarning, match=r"Highest answers differ: five \(5\), seven \(7\)"
    ):
        describe_ordinal(frame, ["five", "seven"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        describe_ordinal(frame, ["five", "seven"], levels=range(1, 8))


def answers(n=200, seed=1, levels=LEVELS):
    rng = np.random.default_rng(seed)
    latent = rng.normal(size=(n, 1)) + rng.normal(size=(n, 3))
    codes = np.digitize(latent, np.linspace(-1.6, 1.6, len(levels) + 1)[1:-1])
    codes[rng.random((n, 3)) < 0.05] = -1
    frame = pd.DataFrame(
        {
            f"q{j}": pd.Categorical.from_codes(codes[:, j], levels, ordered=True)
            for j in range(3)
        }
    )
    return frame.assign(
        place=rng.choice(["north", "south", "west"], n), w=rng.integers(0, 4, n)
    )


ITEMS = ["q0", "q1", "q2"]


def test_counts_and_medians():
    data = answers()
    actual = describe_ordinal(data, ITEMS)
    for item in ITEMS:
        assert actual.counts.loc[item].to_dict() == data[item].value_counts().to_dict()
        assert actual.missing[item] == data[item].isna().sum()
        known = np.sort(data[item].dropna().cat.codes)
        assert actual.median[item] == LEVELS[known[(known.size - 1) // 2]]
    assert np.allclose(actual.percent.sum(axis=1), 100.0) and actual.mann_whitney.empty


def test_groups_of_items():
    data = answers()
    actual = describe_ordinal(data, ITEMS, by="place")
    assert actual.counts.index.tolist() == [
        (item, place) for item in ITEMS for place in ("north", "south", "west")
    ]
    for item, place in actual.counts.index:
        own = describe_ordinal(data, item, by="place")
        assert actual.counts.loc[(item, place)].equals(own.counts.loc[place])
        assert np.allclose(actual.ridits.loc[(item, place)], own.ridits.loc[place])
    assert (
        actual.mann_whitney.index.names == ["item", "first", "second"]
        and len(actual.mann_whitney) == 9
    )
    share = actual.n["q1"] / actual.n["q1"].sum()
    assert share @ actual.ridits.loc["q1", "ridit"] == pytest.approx(0.5, rel=1e-12)


@pytest.mark.parametrize("by", [None, "place"])
def test_weights_are_repeated_rows(by):
    data = answers()
    weighted = describe_ordinal(data, ITEMS, by=by, weights="w")
    repeated = describe_ordinal(data.loc[data.index.repeat(data["w"])], ITEMS, by=by)
    assert weighted.counts.equals(repeated.counts) and weighted.median.equals(
        repeated.median
    )
    assert np.allclose(weighted.ridits, repeated.ridits, rtol=1e-9)
    assert np.allclose(weighted.mann_whitney, repeated.mann_whitney, rtol=1e-9)
    assert (
        describe_ordinal(data, ITEMS, weights=data["w"].to_numpy()).counts.sum().sum()
        > 0
    )


def test_order_of_levels_reversed():
    """Ridits and probabilities change sides."""
    data = answers()
    up = describe_ordinal(data, "q0", by="place")
    down = describe_ordinal(data, "q0", by="place", levels=LEVELS[::-1])
    assert np.allclose(up.ridits["ridit"], 1 - down.ridits["ridit"])
    assert np.allclose(up.mann_whitney["lower"], 1 - down.mann_whitney["upper"])
    assert np.allclose(up.ridits["std_error"], down.ridits["std_error"])


def test_numbers_share_the_levels_of_all():
    data = pd.DataFrame({"a": [1, 2, 5, 2], "b": [4.0, 4.0, np.nan, 2.0]})
    actual = describe_ordinal(data, ["a", "b"])
    assert actual.counts.columns.tolist() == [1, 2, 4, 5] and actual.counts.loc[
        "b"
    ].tolist() == [0, 1, 2, 0]
    assert describe_ordinal(
        data, "a", levels=[1, 2, 3, 4, 5]
    ).counts.columns.tolist() == [1, 2, 3, 4, 5]


def test_lower_median_of_two():
    assert describe_ordinal(pd.DataFrame({"a": [1, 3]}), "a").median["a"] == 1


def test_a_group_without_answers():
    data = pd.DataFrame({"a": [1, 2, 2, np.nan], "g": ["x", "x", "y", "z"]})
    actual = describe_ordinal(data, "a", by="g")
    assert (
        actual.median["z"] is None
        and np.isnan(actual.ridits.loc["z", "ridit"])
        and actual.missing["z"] == 1
    )
    assert np.isfinite(actual.ridits.loc["x", "std_error"]) and np.isnan(
        actual.ridits.loc["y", "std_error"]
    )
    assert actual.mann_whitney["lower"].isna().all() and "No interval (NA)" in str(
        actual
    )


def test_groups_that_do_not_overlap_have_no_limits():
    data = pd.DataFrame({"a": [1, 2, 2, 3, 4, 4], "g": list("xxxyyy")})
    actual = describe_ordinal(data, "a", by="g")
    assert actual.mann_whitney["probability"].tolist() == [0.0] and actual.ridits[
        "ridit"
    ].tolist() == [0.25, 0.75]
    assert actual.mann_whitney[["lower", "upper"]].isna().all(axis=None)
    assert actual.ridits[["lower", "upper"]].isna().all(axis=None)


def test_rows_without_a_group_are_counted():
    data = answers()
    data.loc[[3, 5], "place"] = None
    with rows_left_out(2, 200, "place (2).") as caught:
        actual = describe_ordinal(data, "q0", by="place")
    assert (
        caught[0].filename == __file__ and actual.n.sum() + actual.missing.sum() == 198
    )
    assert "2 of 200 rows left out" in str(actual)


@pytest.mark.parametrize(
    "levels",
    [["no", "yes"], LEVELS, [f"a rather long name of level {k}" for k in range(1, 11)]],
)
@pytest.mark.parametrize("by", [None, "place"])
def test_what_is_printed(levels, by):
    data = answers(levels=levels).rename(
        columns={"q1": "a column with quite a long name"}
    )
    for rows in ("q0", ["q0", "a column with quite a long name"]):
        actual = describe_ordinal(data, rows, by=by)
        lines = str(actual).splitlines()
        assert max(map(len, lines)) <= 80 and lines[0].startswith("Ordered answers: q0")
        assert all(str(level) in " ".join(lines) for level in levels)
        assert "<table" in actual._repr_html_()


@pytest.mark.parametrize(
    "levels",
    [["no", "yes"], LEVELS, [f"a rather long name of level {k}" for k in range(1, 11)]],
)
@pytest.mark.parametrize("by", [None, "place"])
def test_chart(levels, by):
    matplotlib.use("agg")
    from matplotlib import pyplot

    actual = describe_ordinal(answers(levels=levels), ["q0", "q1"], by=by)
    ax = actual.plot()
    K = len(levels)
    n = len(actual.counts)
    bars = [list(ax.containers[k].patches) for k in range(K)]
    shares = actual.percent.to_numpy() / 100
    assert np.allclose([[bar.get_width() for bar in row] for row in bars], shares.T)
    middle = K // 2
    for i in range(n):
        zero = bars[middle][i].get_x() + (shares[i, middle] / 2 if K % 2 else 0.0)
        assert zero == pytest.approx(0.0, abs=1e-12)
    figure = ax.get_figure()
    figure.canvas.draw()
    words = [
        *ax.texts,
        *ax.get_yticklabels(),
        *ax.get_legend().get_texts(),
        ax.xaxis.label,
    ]
    boxes = [word.get_window_extent() for word in words if word.get_text()]
    assert all(
        figure.bbox.x0 - 1 <= box.x0 and box.x1 <= figure.bbox.x1 + 1 for box in boxes
    )
    assert all(
        figure.bbox.y0 - 1 <= box.y0 and box.y1 <= figure.bbox.y1 + 1 for box in boxes
    )
    grey = [
        np.dot(bars[k][0].get_facecolor()[:3], (0.299, 0.587, 0.114)) for k in range(K)
    ]
    # lighter towards the middle: readable without colours, as the halves lie apart
    assert np.all(np.diff(grey[: (K + 1) // 2]) > 0.02)
    assert np.all(np.diff(grey[K // 2 :]) < -0.02)
    assert [
        text.get_text().replace("\n", " ") for text in ax.get_legend().get_texts()
    ] == levels[::-1]
    assert actual.plot(ax) is ax
    pyplot.close("all")


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        (3, {}, "rows must be the name of a column or a list of names; got 3"),
        ("q0", {"weights": np.zeros(200)}, "has no answer to describe"),
        ([], {}, "rows must be the name of a column or a list of names"),
        (["q0", "q0"], {}, "rows must name each column once; got 'q0' twice"),
        ("q9", {}, "The data have no column 'q9', needed for rows="),
        ("place", {}, "'place' has labels without an order. Give levels="),
        ("q0", {"by": "q0"}, "by must be the name of one column that is not in rows="),
        ("q0", {"by": ["place", "w"]}, "by must be the name of one column"),
        (
            "q0",
            {"by": "number"},
            "must have from 1 to 50 groups; it has 200. Cut numbers into classes",
        ),
        (["q0", "two"], {}, "must have the same levels"),
        (["number", "place"], {}, "same levels; 'place' holds text"),
        ("one", {}, r"has only the level 3: give levels="),
        ("q0", {"levels": LEVELS[:4]}, "has values outside the levels"),
        (
            "q0",
            {"weights": "nothing"},
            "The data have no column 'nothing', needed for weights=",
        ),
        ("q0", {"weights": -1 * np.ones(200)}, "weights must be 0 or more"),
        (
            "q0",
            {"level": 95},
            "level must be a number strictly between 0 and 1; got 95",
        ),
    ],
)
def test_refused(rows, options, message):
    two = pd.Categorical(["no", "yes"] * 100, ["no", "yes"], ordered=True)
    data = answers().assign(two=two, one=3, number=np.arange(200.0))
    with pytest.raises((DataError, OptionError), match=message):
        describe_ordinal(data, rows, **options)


def test_data_are_not_changed():
    data = datasets.load("housing")
    before = data.copy()
    actual = describe_ordinal(data, "Sat", by="Type", weights="Freq")
    assert data.equals(before) and actual.n.sum() == data["Freq"].sum()


def test_sampling_weights_are_told():
    data = pd.DataFrame({"q": [1, 2, 3, 2], "w": [0.5, 1.5, 2.0, 0.7]})
    with pytest.warns(
        DataWarning,
        match="Rows are counted once, percentages and ridits use the weights",
    ):
        actual = describe_ordinal(data, "q", weights="w")
    assert actual.counts.to_numpy().tolist() == [
        [1.0, 2.0, 1.0]
    ] and actual.n.tolist() == [4.0]
    np.testing.assert_allclose(
        actual.percent.to_numpy()[0], 100 * np.array([0.5, 2.2, 2.0]) / 4.7
    )


@pytest.mark.filterwarnings("ignore:weights= must be frequency counts")
def test_people_are_counted_and_shares_are_weighted():
    """A person of weight 0 is none; a missing answer is one; the median is that of the
    weights.
    """
    rows = {
        "q": [1, 1, 1, 2, 3, None, 2],
        "w": [0.3, 0.2, 0.1, 4.5, 2.5, 9.5, 0.0],
        "g": list("aaaaabb"),
    }
    actual = describe_ordinal(pd.DataFrame(rows), "q", by="g", weights="w")
    assert actual.counts.loc["a"].tolist() == [
        3.0,
        1.0,
        1.0,
    ] and actual.missing.tolist() == [0.0, 1.0]
    assert actual.median["a"] == 2 and actual.median["b"] is None
    np.testing.assert_allclose(
        actual.percent.loc["a"], 100 * np.array([0.6, 4.5, 2.5]) / 7.6
    )
    drawn = [label.get_text() for label in actual.plot().get_yticklabels()]
    assert any("n = 5" in text for text in drawn)


@pytest.mark.parametrize(
    ("answers", "named"),
    [
        ([1, 2, 3, 4, 5, 9], "the level 9 in 20 rows"),
        ([1, 2, 3, 99], "the level 99 in 30 rows"),
        (pd.Categorical(["a", "b", "Keine Angabe"], ordered=True), "'Keine Angabe'"),
    ],
)
def test_codes_of_missing_answers_are_told(answers, named):
    data = pd.DataFrame({"q": pd.Series(answers).repeat(120 // len(answers))})
    with pytest.warns(DataWarning, match=named):
        table = describe_ordinal(data, "q")
    assert named in table.notes[0]
    order = [*data["q"].unique()]
    assert describe_ordinal(data, "q", levels=order).notes == ()


ODD = {
    "labels": (
        lambda found: found.plot(labels=["a"]),
        "labels must be a mapping such as",
    ),
    "labels text": (
        lambda found: found.plot(labels="a"),
        "labels must be a mapping such as",
    ),
    "title": (lambda found: found.plot(title=3), "title must be a text; got 3"),
    "word": (
        lambda found: found.to_word(3),
        "path must be a text or a pathlib.Path; got 3",
    ),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_options_are_refused_by_name(name):
    call, message = ODD[name]
    with pytest.raises(OptionError, match=message):
        call(describe_ordinal(pd.DataFrame({"q": [1, 2, 3, 1]}), "q"))
