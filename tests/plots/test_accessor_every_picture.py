"""Every picture that a fit lists, for every registered method, small and large: words
apart and inside the figure.
"""

from itertools import combinations, pairwise

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.text import Text
from seams import METHODS

from ordstat import DataError, ordfit

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ordstat.exceptions.OrdstatWarning"),
]

#: What the pictures of variables are asked for.
ARGUMENTS = {
    "dependence": [("x",), ("g",)],
    "effects": [("x",), ("g",)],
    "emmeans": [("g",)],
    "residuals": [(), ("g",)],
    "stacked": [("x",), ("g",)],
    "subgroups": [{"variable": "g", "subgroups": "top", "measure": "win odds"}],
}
#: Pictures of several axes, or as wide as what they show: drawn into a figure of their
#: own.
PANELS = ("profiles", "tree")
SIZES = ((4.0, 3.0), (8.0, 6.0))
LONG = [
    "Independent, leaning to the left",
    "Independent",
    "Independent, leaning to the right",
    "None of these at all",
]
NAMES = {"short": str, "long": lambda k: f"{LONG[k % 4]} ({k + 1})"}
#: Without words in their names, many levels and few, some with effects of every kind.
KINDS = {
    "nominal": {"formula": "y ~ x", "nominal": "~ g", "scale": "~ z"},
    "mixed": {"formula": "y ~ x + g + (1 | judge)"},
    "separated": {"formula": "y ~ x + z + g + top"},
    "calibrated": {"method": "redsvm", "kernel": "linear", "calibrate": True},
    "chosen": {"method": "redsvm", "kernel": "linear", "C": "cv"},
}


def people(K, names):
    """150 rows, of at least eight levels 250: two numbers, a factor with a long name of
    its level.
    """
    rng = np.random.default_rng(K)
    n = 150 if K < 8 else 250
    x = rng.normal(size=n)
    z = rng.normal(size=n)
    judge = rng.integers(0, 8, n)
    g = rng.choice(["a", "b", "no answer to this question"], n)
    latent = (
        1.5 * x
        + z
        + (g == "b")
        + 0.8 * rng.normal(size=8)[judge]
        + rng.logistic(size=n)
    )
    codes = np.argsort(np.argsort(latent)) * K // n
    levels = [names(k) for k in range(K)]
    y = pd.Categorical.from_codes(codes, levels, ordered=True)
    top = ((codes == K - 1) & (rng.random(n) < 0.3)).astype(float)
    return pd.DataFrame({"y": y, "x": x, "z": z, "g": g, "judge": judge, "top": top})


def fitted(name, K, names):
    """A fit; of a method that takes two levels alone, to two."""
    kind = KINDS.get(name) or {"method": name}
    try:
        return ordfit(
            **{"formula": "y ~ x + z + g", "data": people(K, NAMES[names]), **kind}
        )
    except DataError as problem:
        assert K > 2 and "2 levels" in str(problem), problem
        return fitted(name, 2, names)


def pictures(fit):
    """Every listed picture at both sizes: its name and the figure."""
    for plot in fit.plot.names:
        beside = [{"others": {"the same": fit}}] if plot == "forest" else []
        for given in ARGUMENTS.get(plot, [()]) + beside:
            for size in SIZES:
                name = (
                    f"{plot}{given if plot in ARGUMENTS else ''} at {size[0]:g} x"
                    f" {size[1]:g}"
                )
                yield name, drawn(fit, plot, given, size)
                pyplot.close("all")


def drawn(fit, plot, given, size):
    draw = getattr(fit.plot, plot)
    given, options = ((), given) if isinstance(given, dict) else (given, {})
    if plot in PANELS:
        axes = draw(*given)
        return np.ravel(np.asarray(axes, dtype=object))[0].get_figure()
    figure, ax = pyplot.subplots(figsize=size, layout="constrained")
    draw(*given, ax=ax, **options)
    return figure


def problems(figure):
    """Words that lie on each other or leave the figure."""
    figure.draw_without_rendering()
    words = [
        word
        for word in _words(figure)
        if word.get_visible() and word.get_text().strip()
    ]
    # without the leader of an annotation
    boxes = [Text.get_window_extent(word) for word in words]
    whole = figure.bbox
    for word, box in zip(words, boxes, strict=True):
        if (
            box.x0 < -1.5
            or box.y0 < -1.5
            or box.x1 > whole.x1 + 1.5
            or box.y1 > whole.y1 + 1.5
        ):
            yield f"{word.get_text()!r} leaves the figure"
    for (one, a), (other, b) in combinations(zip(words, boxes, strict=True), 2):
        over = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
        turned = one.get_rotation() % 90 and other.get_rotation() % 90
        if min(over) > 2.0 and not turned:
            yield (
                f"{one.get_text()!r} lies on {other.get_text()!r} ({over[0]:.0f} x"
                f" {over[1]:.0f} points)"
            )
    for ax in figure.axes:
        turned = [
            word.get_window_extent()
            for word in _ticks(ax.xaxis)
            if word.get_rotation() % 90
        ]
        if any(right.x1 - left.x1 < 8.0 for left, right in pairwise(turned)):
            yield "turned names are too near to each other"


def _words(figure):
    for ax in figure.axes:
        yield from (
            *ax.texts,
            ax.title,
            ax._left_title,
            ax._right_title,
            ax.xaxis.label,
            ax.yaxis.label,
        )
        yield from (
            *_ticks(ax.xaxis),
            *_ticks(ax.yaxis),
            *(ax.get_legend().get_texts() if ax.get_legend() else []),
        )
    yield from figure.texts
    for legend in figure.legends:
        yield from legend.get_texts()


def _ticks(axis):
    """Labels of the ticks within the limits: matplotlib draws no others."""
    if not axis.get_visible() or not axis.axes.axison:
        return []
    low, high = sorted(axis.get_view_interval())
    return [
        tick.label1
        for tick in axis.get_major_ticks()
        if low <= tick.get_loc() <= high and tick.label1.get_text()
    ]


#: One of each class of pictures, with every number of levels and both kinds of names;
#: the others with five.
CLASSES = [
    "clm",
    "redsvm",
    "orboost-all",
    "ordboost",
    "ordinal-bagging",
    "cart",
    "csova",
    *KINDS,
]
CASES = [
    (name, K, names)
    for name in CLASSES
    for K in (2, 5, 10)
    for names in ("short", "long")
]
CASES += [(name, 5, "long") for name in METHODS if name not in CLASSES]


@pytest.mark.parametrize(("name", "K", "names"), CASES)
def test_words_keep_apart(name, K, names):
    fit = fitted(name, K, names)
    collected = {picture: list(problems(figure)) for picture, figure in pictures(fit)}
    assert {picture: told for picture, told in collected.items() if told} == {}
