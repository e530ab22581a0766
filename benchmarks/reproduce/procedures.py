"""How a published column was fitted: an ordstat method, or one inside a protocol of the
paper.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.neural_network import MLPRegressor

from ordstat import Gaussian
from ordstat._typing import FloatArray, IntArray
from ordstat.boosting.rounds import EnsembleFit
from ordstat.fit import Fit
from ordstat.formula.sample import Rows, Sample
from ordstat.formula.scaling import Scaling, fit_scaling
from ordstat.judging.costs import CostMatrix
from ordstat.judging.folds import stratified_folds
from ordstat.method import Method
from ordstat.registry import resolve


@dataclass(frozen=True)
class Recipe:
    """An ordstat method with its options."""

    method: str
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def value(self) -> Method:
        """The method."""
        return resolve(self.method, self.options)

    @property
    def label(self) -> str:
        """Name and value of the method: what the results are filed under."""
        return f"{self.method}: {self.value!r}"

    def fit(self, sample: Sample, rng: np.random.Generator) -> Fit:
        """The fit to a training part."""
        return self.value.fit(sample, rng)


@dataclass(frozen=True)
class ScaledSteps(Recipe):
    """Weights W = (K-1) |c[k+1] - c[k]| [Lin 2008, alg. 4.1]: C counts K-1 times as
    much as without the factor.
    """

    @property
    def label(self) -> str:
        return f"{super().label}, weights times K-1"

    def fit(self, sample: Sample, rng: np.random.Generator) -> Fit:
        k = sample.n_levels
        matrix = (k - 1) * CostMatrix(self.options["cost"]).matrix(k)
        return resolve(self.method, {**self.options, "cost": matrix}).fit(sample, rng)


@dataclass(frozen=True)
class ChosenOnPart(Recipe):
    """C and gamma of a Gaussian kernel by cross-validation, of large samples on a part
    of the rows drawn at random.
    """

    large: int = 2000
    part: int = 1000

    def fit(self, sample: Sample, rng: np.random.Generator) -> Fit:
        if sample.n <= self.large:
            return super().fit(sample, rng)
        result: Any = super().fit(
            sample.take(np.sort(rng.permutation(sample.n)[: self.part])), rng
        )
        settled = {
            "C": result.selection.best_C,
            "kernel": Gaussian(gamma=result.selection.best_gamma),
        }
        fit: Any = resolve(self.method, {**self.options, **settled}).fit(sample, rng)
        return replace(fit, selection=result.selection)


@dataclass(frozen=True)
class RoundsByCV(Recipe):
    """Boosting with T chosen by 5-fold cross-validation of the classification error
    [Lin 2008, sec. 5.1.3].
    """

    step: int = 10
    folds: int = 5

    @property
    def label(self) -> str:
        return f"{super().label}, rounds by cross-validation"

    def fit(self, sample: Sample, rng: np.random.Generator) -> Fit:
        method: Any = self.value
        stages = range(self.step, method.rounds + 1, self.step)
        errors = np.zeros(len(stages))
        fold = stratified_folds(sample.y, sample.n_levels, self.folds, rng)
        for f in range(self.folds):
            train, test = (
                sample.take(np.flatnonzero(rows)) for rows in (fold != f, fold == f)
            )
            errors += _staged_errors(method, train, test, stages, rng)
        best = stages[int(np.argmin(errors))]
        return resolve(self.method, {**self.options, "rounds": best}).fit(sample, rng)


def _staged_errors(
    method: Any, train: Sample, test: Sample, stages: range, rng: np.random.Generator
) -> FloatArray:
    """Number of test rows ranked wrongly after each number of rounds; the last made
    counts for those after it.
    """
    fit: EnsembleFit = method.fit(train, rng)
    made = [min(stage, len(fit.rounds.members)) for stage in stages]
    codes = method.staged_codes(train, fit, [test.rows], made)
    return np.array([float((actual != test.y).sum()) for (actual,) in codes])


@dataclass(frozen=True)
class OnHiddenLayer(Recipe):
    """A ranker on the hidden layer of a network trained for least squares on the ranks
    [Milidiú & Rocha, sec. 8].

    1000 units, trained with a step of 0.001 until 100 passes bring no better validation
    error. Epochs and margin of the ranker by cross-validation of the absolute error;
    the paper takes one of its partitions for that.
    """

    epochs: tuple[int, ...] = (5, 20, 80)
    margins: tuple[float, ...] = (0.0, 1.0, 4.0)
    folds: int = 3

    @property
    def label(self) -> str:
        return f"{super().label}, on a hidden layer"

    def fit(self, sample: Sample, rng: np.random.Generator) -> Fit:
        settings = [
            {"epochs": epochs, "margin": margin}
            for epochs in self.epochs
            for margin in self.margins
        ]
        errors = np.zeros(len(settings))
        fold = stratified_folds(sample.y, sample.n_levels, self.folds, rng)
        for f in range(self.folds):
            train, test = (
                sample.take(np.flatnonzero(rows)) for rows in (fold != f, fold == f)
            )
            layer = self._layer(train, rng)
            for i, setting in enumerate(settings):
                codes = self._learned(setting, layer, train, rng).rule.codes(
                    _units(layer, test.rows)
                )
                errors[i] += np.abs(codes - test.y).sum()
        layer = self._layer(sample, rng)
        fit = self._learned(settings[int(np.argmin(errors))], layer, sample, rng)
        return replace(fit, rule=_Layered(layer, fit.rule))

    def _layer(self, sample: Sample, rng: np.random.Generator) -> _Layer:
        scaling = fit_scaling("standard", sample.X, np.ones(sample.n))
        network = MLPRegressor(
            hidden_layer_sizes=(1000,),
            early_stopping=True,
            validation_fraction=max(0.1, 2 / sample.n),
            n_iter_no_change=100,
            max_iter=10_000,
            random_state=int(rng.integers(2**31)),
        )
        return _Layer(scaling, network.fit(scaling(sample.X), sample.y + 1.0))

    def _learned(
        self,
        setting: Mapping[str, Any],
        layer: _Layer,
        sample: Sample,
        rng: np.random.Generator,
    ) -> Fit:
        method = resolve(self.method, {**self.options, **setting})
        return method.fit(replace(sample, rows=_units(layer, sample.rows)), rng)


@dataclass(frozen=True, eq=False)
class _Layer:
    """The hidden layer of a network that regresses ranks by least squares."""

    scaling: Scaling
    network: MLPRegressor


def _units(layer: _Layer, rows: Rows) -> Rows:
    """The rows with the outputs of the hidden units as their columns."""
    inner = (
        layer.scaling(rows.X) @ layer.network.coefs_[0] + layer.network.intercepts_[0]
    )
    return Rows(X=np.ascontiguousarray(np.maximum(inner, 0.0)))


@dataclass(frozen=True, eq=False)
class _Layered:
    """A rule on the units."""

    layer: _Layer
    rule: Any

    def codes(self, rows: Rows) -> IntArray:
        """(N,) predicted codes."""
        actual: IntArray = self.rule.codes(_units(self.layer, rows))
        return actual
