"""What `fit.plot` offers for an ensemble made in rounds."""

from __future__ import annotations

from dataclasses import dataclass

from .accessor import Plots
from .drawn import DrawnEnsemble, Picture
from .rounds import rounds as draw_rounds
from .rounds import rounds_data as rounds_frame


@dataclass(frozen=True, eq=False, repr=False)
class EnsemblePlots(Plots):
    """Pictures of an ensemble made in rounds: those of every fit, and of its rounds.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rank ~ x1 + x2", data=datasets.quadratic_bands(300, seed=1), method="orboost-all", rounds=100)
    >>> fit.plot.rounds_data(newdata=datasets.quadratic_bands(1000, seed=2), every=50).round(3)
       round             rows  value
    0     50  rows of the fit  0.017
    1    100  rows of the fit  0.000
    2     50         new data  0.076
    3    100         new data  0.056
    """

    results: DrawnEnsemble

    rounds = Picture(draw_rounds)
    rounds_data = Picture(rounds_frame)
