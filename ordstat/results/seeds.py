"""From a user's seed to a random number generator."""

from __future__ import annotations

import numpy as np

from ..exceptions import OptionError


def generator(seed: int | np.random.Generator) -> np.random.Generator:
    """The generator of a seed, or the one given.

    Raises
    ------
    OptionError
        Anything that is no seed.
    """
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError) as problem:
        raise OptionError(f"seed must be a whole number >= 0 or a numpy Generator; got {seed!r}.") from problem
