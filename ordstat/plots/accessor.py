"""What `fit.plot` offers of every fit."""

from __future__ import annotations

from dataclasses import dataclass

from .boundaries import boundaries as draw_boundaries
from .boundaries import boundaries_data as boundaries_frame
from .confusion import confusion as draw_confusion
from .confusion import confusion_data as confusion_frame
from .drawn import DrawnRanker, Picture
from .latent import latent as draw_latent
from .latent import latent_data as latent_frame
from .margins import margins as draw_margins
from .margins import margins_data as margins_frame
from .reliability import reliability as draw_reliability
from .reliability import reliability_data as reliability_frame
from .selection import selection as draw_selection
from .selection import selection_data as selection_frame


@dataclass(frozen=True, eq=False, repr=False)
class Plots:
    """Pictures of a fit: `fit.plot.latent()`.

    Every plot takes axes to draw into, `ax=None` (a new figure), and returns the axes. Beside every plot `name` stands
    `name_data`, of the same arguments but for the axes: what is drawn, as a frame, without matplotlib.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"), method="redsvm")
    >>> fit.plot
    plots: boundaries, confusion, latent, margins, reliability, selection
    >>> cells = fit.plot.confusion_data()
    >>> cells.loc[cells["observed"] == 5, ["predicted", "distance", "weight"]].to_numpy().tolist()
    [[1, 4, 0], [2, 3, 0], [3, 2, 2], [4, 1, 5], [5, 0, 0]]
    """

    results: DrawnRanker

    def __repr__(self) -> str:
        return f"plots: {', '.join(self.names)}"

    @property
    def names(self) -> list[str]:
        """Names of the plots available."""
        return sorted(name.removesuffix("_data") for name in dir(type(self)) if name.endswith("_data"))

    latent = Picture(draw_latent)
    latent_data = Picture(latent_frame)
    margins = Picture(draw_margins)
    margins_data = Picture(margins_frame)
    confusion = Picture(draw_confusion)
    confusion_data = Picture(confusion_frame)
    reliability = Picture(draw_reliability)
    reliability_data = Picture(reliability_frame)
    selection = Picture(draw_selection)
    selection_data = Picture(selection_frame)
    boundaries = Picture(draw_boundaries)
    boundaries_data = Picture(boundaries_frame)
