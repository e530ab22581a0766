"""PRank: one direction and ordered thresholds, learned from mistakes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np

from ..model.fit import BallGeometry, Fit, Geometry
from ..model.online.examples import Examples
from ..model.online.weights import Learned, OnlineMarginFit, Update
from ..model.potentials import LinearPotential
from ..model.rules import ThresholdRule
from ..model.sample import Sample
from ..model.scaling import Scaling
from ..solvers.online.perceptron import Batch, PRankState
from .shared.online_forms import Projecting


@dataclass(frozen=True, eq=False)
class _Work:
    learner: PRankState
    batch: Batch


@dataclass(frozen=True, kw_only=True, repr=False)
class PRank(Projecting):
    """Ranking by projecting [Crammer & Singer 2005; Milidiú & Rocha, sec. 6].

    rank(x) = 1 + #{k : u'x > b_k}, ties to the lower rank. A mistake yhat moves u by (y - yhat) x, and the thresholds
    between y and yhat by 1 each, which keeps them in order. As a structured perceptron it answers
    argmax_k sum_{j<k} (u'x - b_j) + margin c[k]. method="siprank" stands for presentation="cost" with keep="pocket":
    Lin (2008, sec. 4.3.2) names SiPrank without a definition, and this is ordstat's.

    Parameters
    ----------
    epochs, presentation, cost, scaling
        Those of every online ranker: see `ordstat.methods.shared.online.OnlineMethod`.
    keep : {"mean", "last", "pocket"}
        The hypothesis used: the mean of those after each example (averaged perceptron), the last one, or the one in
        the pocket: whenever a run of exact hits is longer than that of the pocket, and after every pass, the hypothesis
        takes its place if its total cost is lower (pocket with ratchet).
    margin : float
        Learn until the true rank leads by margin times the cost of any other, >= 0; more than 0 needs convex costs.

    Raises
    ------
    OptionError
        A value outside these.

    Examples
    --------
    >>> PRank(epochs=5)
    PRank(epochs=5)
    """

    keeps: ClassVar[tuple[str, ...]] = ("mean", "last", "pocket")

    def start(self, examples: Examples, scaling: Scaling) -> _Work:
        learner = PRankState.start(examples.X.shape[1], examples.n_levels, self.keep == "pocket")
        return _Work(learner, Batch.of(examples, scaling, self.margin))

    def resume(self, learned: Learned, examples: Examples) -> _Work:
        return _Work(learned.state.copy(), Batch.of(examples, learned.scaling, self.margin, passes=False))

    def state(self, work: _Work) -> PRankState:
        return work.learner

    def fitted(self, update: Update, shared: dict[str, Any]) -> OnlineMarginFit:
        learned, sample = update.learned, update.sample
        kept = learned.state.kept(self.keep)
        n_columns = sample.X.shape[1]
        potential = LinearPotential.plain(learned.scaling, kept[:n_columns].copy())
        rule = ThresholdRule(potential, kept[n_columns:] + potential.offset)
        return OnlineMarginFit(
            rule=rule,
            scores=rule.scores(sample.rows),
            coefficients=potential.slopes,
            learned=learned,
            **shared,
        )

    def geometry(self, sample: Sample, fit: Fit) -> Geometry | None:
        """Lengths of the scaled columns; None where nothing was learned."""
        rule = cast(ThresholdRule, fit.rule)
        potential = cast(LinearPotential, rule.potential)
        if potential.squared_norm == 0.0:
            return None
        Z = potential.scaling(sample.X)
        lengths = np.einsum("nd,nd->n", Z, Z)
        largest = float(Z.shape[1]) if self.scaling == "range" else float(lengths.max())
        return BallGeometry(
            norm=float(np.sqrt(potential.squared_norm)),
            squared_lengths=lengths,
            theta=rule.theta,
            radius=float(np.sqrt(largest + 1.0)),
        )
