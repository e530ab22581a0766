"""What `fit.plot` offers of a cumulative link model."""

from __future__ import annotations

from dataclasses import dataclass

from .accessor import Plots
from .density import density as draw_density
from .density import density_data as density_frame
from .drawn import DrawnLikelihood, Picture
from .forest import forest as draw_forest
from .forest import forest_data as forest_frame
from .parallel import parallel as draw_parallel
from .parallel import parallel_data as parallel_frame
from .probabilities import effects as draw_effects
from .probabilities import effects_data as effects_frame
from .probabilities import stacked as draw_stacked
from .probabilities import stacked_data as stacked_frame
from .profiles import profiles as draw_profiles
from .profiles import profiles_data as profiles_frame


@dataclass(frozen=True, eq=False, repr=False)
class LikelihoodPlots(Plots):
    """Pictures of a likelihood fit: those of every fit, and of its probabilities and coefficients.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", data=datasets.load("wine"))
    >>> fit.plot.forest_data().round(2).to_numpy()[:, 1:4].tolist()
    [[2.5, 1.47, 3.54], [1.53, 0.59, 2.46]]
    """

    results: DrawnLikelihood

    density = Picture(draw_density)
    density_data = Picture(density_frame)
    forest = Picture(draw_forest)
    forest_data = Picture(forest_frame)
    effects = Picture(draw_effects)
    effects_data = Picture(effects_frame)
    stacked = Picture(draw_stacked)
    stacked_data = Picture(stacked_frame)
    parallel = Picture(draw_parallel)
    parallel_data = Picture(parallel_frame)
    profiles = Picture(draw_profiles)
    profiles_data = Picture(profiles_frame)
