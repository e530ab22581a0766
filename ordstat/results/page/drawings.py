"""The pictures of a page: those that exist on a fit, drawn small."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from io import BytesIO
from typing import Any

import numpy as np

from ...exceptions import OrdstatError
from ..fitted import FittedRanker
from .blocks import Block, Drawing, Words

#: What is shown, in this order, by the name of a plot.
CAPTIONS = {
    "forest": "Effects with 95 % limits.",
    "effects": "Probabilities of the levels by {}, the other variables held.",
    "ranef": "Effects of the groups, at their modes, with 95 % limits.",
    "dependence": "Mean predictions over the rows with {} set to one value after the other.",
    "boundaries": "Predicted levels over {} and {}.",
    "tree": "The tree; of several, the first.",
    "latent": "Scores of the rows by their level, and the thresholds between the predicted levels.",
    "parallel": "Effects at each threshold by itself, beside the effect that is the same for all.",
    "rounds": "Errors after each round.",
    "selection": "Cost by the values that were tried.",
    "confusion": "Observed and predicted levels of the training rows.",
    "reliability": "Predicted probabilities beside what happened; on the diagonal they can be trusted.",
    "residuals": "Surrogate residuals against the quantiles they should have: on the line where the model is true.",
    "margins": "Margins of the training rows; below 0 a row is on the wrong side of a threshold.",
}
#: Variables with a picture of their own.
_MOST_VARIABLES = 4
#: Dots per inch.
_DOTS = 150


def drawings(fit: FittedRanker) -> Iterator[Block]:
    """Every picture; a sentence in place of those that cannot be drawn."""
    if not hasattr(fit, "plot"):
        yield Words("There are no pictures of this kind of fit.")
        return
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        yield Words("Pictures need matplotlib, which is not installed: pip install ordstat[plot].")
        return
    plots: Any = fit.plot
    there = plots.names
    for name in CAPTIONS:
        if name in there:
            for given in _arguments(fit, name):
                yield _drawn(name, CAPTIONS[name].format(*given), partial(getattr(plots, name), *given))
    left = [f"fit.plot.{name}" for name in there if name not in CAPTIONS]
    if left:
        yield Words(f"More pictures: {', '.join(left)}.")


def _arguments(fit: Any, name: str) -> Sequence[tuple[str, ...]]:
    """What each picture of a plot is drawn for."""
    if name in ("dependence", "effects"):
        return [(variable,) for variable in fit.design.spec.columns or ()][:_MOST_VARIABLES]
    if name == "boundaries":
        from ...plots.variables import numeric_variables

        others = len(fit.design.spec.columns or ()) > 2  # of which the picture would need values
        return [] if others else [tuple(numeric_variables(fit))]
    return [()]


def _drawn(name: str, caption: str, draw: partial[Any]) -> Block:
    try:
        data = _image(draw)
    except OrdstatError as problem:
        return Words(f"No picture {name!r}: {problem}")
    return Drawing(name="-".join((name, *draw.args)), caption=caption, data=data)


def _image(draw: Callable[[], Any]) -> bytes:
    """A figure as PNG; the caller's settings and figures stay as they are."""
    from matplotlib import pyplot

    figure = np.ravel(np.asarray(draw(), dtype=object))[0].figure.figure
    stream = BytesIO()
    try:
        figure.savefig(stream, format="png", dpi=_DOTS, facecolor="white", bbox_inches="tight")
    finally:
        pyplot.close(figure)
    return stream.getvalue()
