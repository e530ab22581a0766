"""Data sets like those of a fit with random effects, with stated parameters: whole groups drawn, effects drawn anew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ...._typing import FloatArray, IntArray
from ....checks import did_you_mean
from ....exceptions import OptionError
from ....model.likelihood.rule import LikelihoodRule
from ....model.random_effects import RandomColumns, RandomRows
from ....model.sample import Sample
from ..fitted import FittedLikelihood
from ..uncertainty import drawn_codes


@dataclass(frozen=True, eq=False)
class Planned:
    """What data sets are drawn from.

    Attributes
    ----------
    sample : Sample
        The rows of the fit.
    rule : LikelihoodRule
        Without random effects.
    factors : list of (q, q)
        Lambda of each term.
    groups : (n,) or None
        The groups that are drawn, with replacement, where their number is stated; None where the rows stay.
    """

    sample: Sample
    rule: LikelihoodRule
    factors: list[FloatArray]
    groups: IntArray | None

    def draw(self, count: int, rng: np.random.Generator) -> Sample:
        """Some groups, or all rows as they are, with new random effects and responses."""
        sample = self.sample if self.groups is None else _of_groups(self.sample, self.groups, count, rng)
        assert sample.rows.random is not None
        score = self.rule.scores(sample.rows)
        for term, factor in zip(sample.rows.random.terms, self.factors, strict=True):
            b = rng.standard_normal((term.n_groups, term.q)) @ factor.T
            b = b if term.root is None else term.root @ b
            score += np.einsum("nq,nq->n", term.z, b[term.codes])
        probabilities = self.rule.probabilities(sample.rows, score)
        return replace(sample, y=drawn_codes(probabilities, rng.random((1, sample.n)))[0])


def planned(r: FittedLikelihood, rule: LikelihoodRule, deviations: Mapping[str, float], n: int | None) -> Planned:
    """From a fit, with stated standard deviations by name, for data sets of n groups.

    Raises
    ------
    OptionError
        Case weights, a name that is no standard deviation, or groups to draw where these depend on each other.
    """
    sample, marginal = r.design.sample, r.fit.marginal
    assert marginal is not None and sample.rows.random is not None
    if np.any(sample.case_weights != 1.0):
        raise OptionError(
            "power() draws one response a row where the fit has random effects, and a case weight stands for several: "
            "fit to data.loc[data.index.repeat(weights)] without weights=."
        )
    if n is not None and any(term.root is not None for term in sample.rows.random.terms):
        raise OptionError("n must be left out where cov= makes groups depend on each other: the groups stay then.")
    factors = [term.factor.copy() for term in marginal.terms]
    for name, value in deviations.items():
        k, row = _place(r, name)
        old = float(marginal.terms[k].deviations[row])
        if value < 0.0 or (old == 0.0 and value > 0.0 and marginal.terms[k].n_phi > 1):
            raise OptionError(f"effect of {name!r} must be a standard deviation that can be set; got {value:g}.")
        if old > 0.0:
            factors[k][row] *= value / old
        else:
            factors[k][row, row] = value
    groups = None if n is None else sample.rows.random.apart()
    return Planned(sample, replace(rule, effects=()), factors, groups)


def deviation_names(r: FittedLikelihood) -> list[str]:
    """Of the standard deviations of a fit with random effects, as in `confint`."""
    random = r.random_parameters
    return (
        [] if random is None else [name for name, kind in zip(random.names, random.kinds, strict=True) if kind == "sd"]
    )


def _place(r: FittedLikelihood, name: str) -> tuple[int, int]:
    """Term and column of a standard deviation."""
    places = [(k, row) for k, term in enumerate(r.design.random) for row in range(len(term.names))]
    names = deviation_names(r)
    if name not in names:
        raise OptionError(f"effect must name parameters of the fit; got {name!r}.{did_you_mean(name, names)}")
    return places[names.index(name)]


def _of_groups(sample: Sample, groups: IntArray, count: int, rng: np.random.Generator) -> Sample:
    """`count` groups drawn with replacement, each draw a group of its own; groups of crossed terms stay the same."""
    assert sample.rows.random is not None
    order = np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups[order], np.arange(int(groups.max()) + 2))
    drawn = rng.integers(0, starts.size - 1, count)
    sizes = np.diff(starts)[drawn]
    rows = np.concatenate([order[starts[g] : starts[g + 1]] for g in drawn.tolist()])
    draw = np.repeat(np.arange(count), sizes)
    terms = [_renamed(term, groups, rows, draw) for term in sample.rows.random.terms]
    taken = sample.take(rows)
    return replace(taken, rows=replace(taken.rows, random=RandomRows(tuple(terms)).renumbered()))


def _renamed(term: RandomColumns, groups: IntArray, rows: IntArray, draw: IntArray) -> RandomColumns:
    """The rows of a term: its groups are of the draw where they lie within the groups drawn."""
    inside = np.unique(np.stack([term.codes, groups]), axis=1).shape[1] == term.n_groups
    codes = draw * term.n_groups + term.codes[rows] if inside else term.codes[rows]
    return replace(term[rows], codes=codes, n_groups=int(codes.max()) + 1)
