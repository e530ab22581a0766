"""Responses simulated from a fit with random effects, for fits to them: the parametric bootstrap."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ....exceptions import OptionError
from ....model.sample import Sample
from ..fitted import FittedLikelihood
from ..uncertainty import drawn_codes
from .predictions import drawn_shifts, mixed_target

#: What is drawn, in words.
WORDS = "responses simulated with new random effects"


def check_simulated(r: FittedLikelihood, cluster: Any) -> None:
    """OptionError for clusters, and for weights, of whose rows each has a response of its own."""
    if cluster is not None:
        raise OptionError(
            "cluster must be left out where the fit has random effects: every replicate has new effects for all groups "
            f"and new responses; got {cluster!r}."
        )
    weights = r.design.sample.case_weights
    if np.any(weights != 1.0):
        raise OptionError(
            "bootstrap simulates one response a row where the fit has random effects, and a case weight stands for "
            f"several; got weights up to {weights.max():g}. Fit to data.loc[data.index.repeat(weights)] without "
            "weights=."
        )


def simulated_sample(r: FittedLikelihood, rng: np.random.Generator) -> Sample:
    """The rows of the fit with new random effects and new responses."""
    target, bare = mixed_target(r, None), replace(r.rule, effects=())
    shift = next(drawn_shifts(r, target, None, rng))
    probabilities = bare.probabilities(target.rows, target.scores + shift)
    return replace(r.design.sample, y=drawn_codes(probabilities, rng.random((1, target.rows.n)))[0])
