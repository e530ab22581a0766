"""Results of a fit with random effects: variances, group effects, summary, and what is
not available.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from scipy.special import ndtri

from .._typing import FloatArray, IntArray
from ..checks import fraction, one_of
from ..exceptions import DataWarning, SeparationWarning, UnavailableError
from ..fit import Fit
from ..formula.coding import Coding
from ..formula.names import Parameter, shown_group
from ..formula.random_terms import RandomTerm, random_parameters
from ..formula.sample import Sample
from ..inference.comparison import described, is_zero
from ..inference.wald import chi2_tail
from ..judging.errors import concordance, pairs_of_rows, ratio, somers_d
from ..likelihood.marginal import Marginal
from ..likelihood.parameters import square_frame
from ..likelihood.results import LikelihoodResults
from ..likelihood.row_predictions import inside_row_space
from ..likelihood.unavailable import MODIFIERS, without
from ..report.cells import limit_heads, p_in_words
from ..report.frames import NotedFrame
from ..report.render import Table
from ..report.warnings import Alert
from ..target import Target
from .method import ForNewGroups
from .predictions import (
    at_known_modes,
    mixed_prediction,
    over_population,
    simulated_effects,
    tell_unknown,
)

#: Variance of the latent distributions; that of the cauchit is infinite.
LATENT = {
    "logit": np.pi**2 / 3.0,
    "probit": 1.0,
    "cloglog": np.pi**2 / 6.0,
    "loglog": np.pi**2 / 6.0,
}
#: Standard deviation of the effects, in units of that of the link, that counts as
#: infinite.
_INFINITE = 25.0

_NEW = (
    "New data: groups of the fit are predicted at the modes of their random effects,"
    " new groups by averages (re='marginal')."
)
_FOLDS = (
    "Folds keep groups whole (the larger term if crossed). Held-out rows are predicted"
    " by averages over the random effects (re='marginal'), training rows at the modes."
)
_RELATIVES = "Correlations with relatives in other folds (cov=) are not used."
_PENALISED = (
    "random_penalty= keeps standard deviations off 0, so a positive estimate is no"
    " evidence of random effects. Fit without it to test them."
)
_DISCRIMINATION = (
    (
        "modes: at the modes of the random effects, which are estimated from the"
        " responses of the same groups; population: as rows of new groups are"
        " predicted. errors(cv=) has held-out groups."
    ),
    (
        "r2_latent: share of the latent variance explained by the fixed effects"
        " (population), or by fixed and random effects (modes), by Nakagawa, Johnson"
        " and Schielzeth (2017)."
    ),
)


@without("random")
class MixedResults(LikelihoodResults):
    """A fitted likelihood model with random effects.

    It answers what `LikelihoodResults` answers, and `varcorr`, `ranef` and `icc`.
    Predictions, marginal effects and means take `re=`: at the modes of the random
    effects, at 0, or averaged over the groups.

    Examples
    --------
    >>> from ordstat import datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact + (1 | judge)", datasets.load("wine"))
    >>> fit.varcorr()["sd"].round(3).tolist()
    [1.131]
    """

    training_note: ClassVar[str] = (
        "Levels are predicted at the modes of the random effects."
    )

    def varcorr(self, level: float = 0.95) -> pd.DataFrame:
        """Variances and correlations of the random effects, as R's VarCorr.

        Parameters
        ----------
        level : float in (0, 1)
            Level of the Wald confidence intervals of standard deviations, computed on
            the log scale.

        Returns
        -------
        pandas.DataFrame
            One row for each column of each random term, by (group, name): variance, sd,
            std_error and confidence limits of the sd, and correlations with the
            previous columns. A variance of 0 has no standard error.

        Raises
        ------
        OptionError
            `level` is not between 0 and 1.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact + (1 | judge)", datasets.load("wine"))
        >>> judge = fit.varcorr().round(3).loc[("judge", "(Intercept)")]
        >>> judge[["variance", "sd", "std_error"]].tolist()
        [1.279, 1.131, 0.399]
        """
        level = fraction("level", level)
        random = self.random_parameters
        sd = [k for k, kind in enumerate(random.kinds) if kind == "sd"]
        frame = pd.DataFrame(
            np.column_stack(
                [
                    random.estimates**2,
                    random.estimates,
                    random.errors,
                    random.limits(level),
                ]
            )[sd],
            columns=["variance", "sd", "std_error", "lower", "upper"],
            index=pd.MultiIndex.from_tuples(
                [
                    (term.group, name)
                    for term in self.design.random
                    for name in term.names
                ],
                names=["group", "name"],
            ),
        )
        widest = max(
            len(term.names) if term.correlated else 1 for term in self.design.random
        )
        for k in range(1, widest):
            frame[f"corr_{k}"] = np.nan
        start = 0
        for term, effects in zip(
            self.design.random, _marginal(self).terms, strict=True
        ):
            for a, b in (
                combinations(range(len(term.names)), 2) if term.correlated else ()
            ):
                frame.iloc[start + b, 5 + a] = effects.correlations[a, b]
            start += len(term.names)
        note = f"{100 * level:g}% confidence intervals: computed on the log scale."
        return NotedFrame.of(frame, [note], "Random effects", labels=self.names_shown())

    def ranef(self, group: str | None = None) -> pd.DataFrame:
        """Conditional modes of the random effects, as R's ranef, with conditional
        standard deviations.

        Parameters
        ----------
        group : str, optional
            Show the terms of this grouping only, such as "judge".

        Returns
        -------
        pandas.DataFrame
            One row for each group and column of each random term: term, group, level,
            name, mode, and sd (conditional on the parameters, as R's condVar).

        Raises
        ------
        OptionError
            There is no random term with that grouping.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact + (1 | judge)", datasets.load("wine"))
        >>> fit.ranef().round(3).head(2)[["group", "level", "name", "mode", "sd"]]
           group level         name   mode     sd
        0  judge     1  (Intercept)  1.696  0.554
        1  judge     2  (Intercept) -0.566  0.615
        """
        if group is not None:
            one_of(
                "group", group, dict.fromkeys(term.group for term in self.design.random)
            )
        parts = []
        for term, effects in zip(
            self.design.random, _marginal(self).terms, strict=True
        ):
            count, q = effects.modes.shape
            columns = {
                "term": term.text,
                "group": term.group,
                "level": pd.Series(
                    [label for label in term.groups for _ in range(q)], dtype=object
                ),
                "name": list(term.names) * count,
                "mode": effects.modes.reshape(-1),
                "sd": (
                    np.sqrt(
                        np.maximum(np.einsum("gqq->gq", effects.conditional), 0.0)
                    ).reshape(-1)
                ),
            }
            if group in (None, term.group):
                parts.append(pd.DataFrame(columns))
        return pd.concat(parts, ignore_index=True)

    def icc(self) -> pd.DataFrame:
        """Intraclass correlations on the latent scale, and shares of the latent
        variance.

        Returns
        -------
        pandas.DataFrame
            One row for each grouping: variance (with slopes the mean over the rows),
            share (of the latent variance), and icc, the correlation of two observations
            of one group. Observations of a nested group, such as a class of a school,
            also share the effects of the outer group: their correlation is the sum of
            both shares.

        Raises
        ------
        UnavailableError
            The latent distribution has no variance, or its scale varies.

        References
        ----------
        Nakagawa, Johnson & Schielzeth (2017), with the variance of the latent
        distribution.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp + contact + (1 | judge)", datasets.load("wine"))
        >>> fit.icc().round(3).loc["judge"].tolist()
        [1.279, 0.28, 0.28]
        """
        table = _intraclass(self)
        if table is None:
            raise UnavailableError(
                ".icc() needs a latent variable of constant variance, which"
                f" {described(self)!r} does not have. Use .varcorr()."
            )
        notes = (
            (
                "icc: correlation of two observations of a group; share: its own part"
                " of the latent variance."
            ),
        )
        return NotedFrame.of(table, notes, "Intraclass correlations")

    def predict(
        self,
        newdata: Any = None,
        type: str = "class",
        *,
        se: bool = False,
        interval: str | None = None,
        level: float = 0.95,
        vcov: Any = None,
        cost: Any = None,
        re: str | None = None,
        at: Any = None,
        interpolate: bool = False,
    ) -> Any:
        return mixed_prediction(
            self,
            newdata,
            type,
            se=se,
            interval=interval,
            level=level,
            vcov=vcov,
            cost=cost,
            re=re,
            at=at,
            interpolate=interpolate,
        )

    def simulate(
        self, n: int = 1, seed: int | np.random.Generator = 0, newdata: Any = None
    ) -> pd.DataFrame:
        return simulated_effects(self, n, seed, newdata)

    def vcov(self, type: Any = None) -> pd.DataFrame:
        random = (self if type is None else self.with_vcov(type)).random_parameters
        matrix = random.joint()
        infinite = np.flatnonzero(self.fit.infinite[~self.fit.aliased])
        matrix[infinite], matrix[:, infinite] = np.nan, np.nan
        names = np.array(self.parameters.names, dtype=object)[~self.fit.aliased]
        return square_frame(matrix, [*names, *random.names])

    def discrimination(self) -> pd.DataFrame:
        return _discrimination(self)

    def __dir__(self) -> list[str]:
        refused = MODIFIERS["random"].instead
        return [name for name in super().__dir__() if f"{name}()" not in refused]

    # What the summary shows

    @cached_property
    def random_parameters(self) -> RandomParameters:
        """Standard deviations and correlations of the random effects."""
        design = self.design
        return RandomParameters.of(
            design.random, design.spec.codings, _marginal(self), self.whole_covariance
        )

    def random_part(
        self, level: float
    ) -> tuple[tuple[tuple[str, Any], ...], list[Table], tuple[str, ...]]:
        notes = (_PENALISED,) if _marginal(self).likelihood.penalised else ()
        return _header(self), [_table(self, level)], (*notes, *_at_boundary(self))

    def alerts(self) -> list[Alert]:
        return [
            *self.fit_warnings(),
            *((DataWarning, note) for note in _at_boundary(self)),
        ]

    def fit_warnings(self) -> list[Alert]:
        return [*super().fit_warnings(), *_diverging_variances(self)]

    # Rows of other groups

    def target(self, newdata: Any) -> Target:
        if newdata is not None:
            raise UnavailableError(
                "Fits with random effects take new data in predict(newdata, re=...)"
                " only."
            )
        return super().target(newdata)

    def _scored(self, newdata: Any) -> Target:
        """New rows with known groups at their modes."""
        if newdata is None:
            return super()._scored(newdata)
        new = self.design.spec.rebuild(newdata)
        assert new.rows.random is not None
        new.rows.random.require_covariances()
        tell_unknown(self.design.random, newdata)
        rows = at_known_modes(new.rows, self.rule.effects)
        target = Target(
            rows=rows,
            scores=self.fit_for_new_rows.rule.scores(rows),
            complete=new.complete,
            index=new.index,
            far=new.far,
        )
        return inside_row_space(self, target)

    @property
    def learner(self) -> ForNewGroups:
        return ForNewGroups(self.method)

    @property
    def fold_sample(self) -> Sample:
        """The sample with its clusters, or with the groups as clusters."""
        sample = self.design.sample
        assert sample.rows.random is not None
        if sample.cluster is None:
            return replace(sample, cluster=sample.rows.random.independent_sets())
        return sample

    @property
    def fit_for_new_rows(self) -> Fit:
        return over_population(self.fit)

    def error_notes(self, new: bool, folds: bool) -> list[str]:
        related = any(term.root is not None for term in self.design.random)
        return [_NEW] * new + [_FOLDS] * folds + [_RELATIVES] * (folds and related)


def _marginal(r: MixedResults) -> Marginal:
    assert r.fit.marginal is not None
    return r.fit.marginal


@dataclass(frozen=True, eq=False)
class RandomParameters:
    """Standard deviations and correlations of the random effects, term by term.

    Attributes
    ----------
    records : list of Parameter
        Their kinds are "sd" and "cor", and their names those of lme4:
        "sd_(Intercept)|judge", "cor_x.(Intercept)|judge".
    estimates : (R,)
    slopes : (R, m')
        Derivatives by the entries of all Lambdas; NaN at a boundary.
    covariance : (P' + m', P' + m')
        Covariance of the fixed parameters and the entries of the Lambdas.
    """

    records: list[Parameter]
    estimates: FloatArray
    slopes: FloatArray
    covariance: FloatArray

    @classmethod
    def of(
        cls,
        terms: Sequence[RandomTerm],
        codings: Mapping[str, Coding],
        marginal: Marginal,
        covariance: FloatArray,
    ) -> RandomParameters:
        """Compute them from a fit and a covariance of its parameters."""
        records: list[Parameter] = []
        estimates: list[float] = []
        padded: list[FloatArray] = []
        start = 0
        for term, effects in zip(terms, marginal.terms, strict=True):
            end = start + effects.entries[0].size
            slopes = list(effects.deviation_slopes())
            estimates += list(effects.deviations)
            records += random_parameters(term, codings)
            pairs = combinations(range(effects.deviations.size), 2)
            for a, b in pairs if term.correlated else ():
                estimates.append(effects.correlations[a, b])
                slopes.append(effects.correlation_slopes(a, b))
            padded += [
                np.pad(slope, (start, marginal.n_entries - end)) for slope in slopes
            ]
            start = end
        return cls(
            records, np.array(estimates, dtype=np.float64), np.array(padded), covariance
        )

    @cached_property
    def names(self) -> list[str]:
        """Names of the parameters."""
        return [record.name for record in self.records]

    @cached_property
    def kinds(self) -> list[str]:
        """Kinds of the parameters."""
        return [record.kind for record in self.records]

    @property
    def deviations(self) -> pd.Series:
        """Standard deviations by name."""
        return pd.Series(self.estimates, index=self.names)[
            [kind == "sd" for kind in self.kinds]
        ]

    @property
    def errors(self) -> FloatArray:
        """(R,) standard errors by the delta method."""
        return np.sqrt(np.diag(self.joint())[-len(self.names) :])

    def joint(self) -> FloatArray:
        """(P' + R, P' + R) covariance of the fixed parameters, sds and correlations;
        NaN at a boundary.
        """
        fixed = len(self.covariance) - self.slopes.shape[1]
        count = len(self.names)
        finite = np.isfinite(np.diag(self.covariance))
        J = np.zeros((fixed + count, len(self.covariance)))
        J[:fixed, :fixed], J[fixed:, fixed:] = np.eye(fixed), self.slopes
        lost = ((J != 0.0) & ~(finite & ~np.isnan(J))).any(axis=1)
        J[np.isnan(J)] = 0.0
        out = J @ np.where(finite[:, None] & finite, self.covariance, 0.0) @ J.T
        out[lost], out[:, lost] = np.nan, np.nan
        return out

    def limits(self, level: float) -> FloatArray:
        """(R, 2) Wald confidence limits, on the log scale for standard deviations and
        Fisher's z scale for correlations.
        """
        z = np.array([-1.0, 1.0]) * ndtri(0.5 + 0.5 * level)
        value = self.estimates[:, None]
        error = self.errors[:, None]
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            of_sd = value * np.exp(z * error / value)
            of_cor = np.tanh(np.arctanh(value) + z * error / (1.0 - value**2))
        return np.where(np.array(self.kinds)[:, None] == "sd", of_sd, of_cor)


def _diverging_variances(r: MixedResults) -> Iterator[Alert]:
    """Warn about each diverging variance, or if the data do not determine the random
    effects.
    """
    marginal = _marginal(r)
    random = r.design.sample.rows.random
    assert random is not None
    if marginal.certain:
        yield (
            SeparationWarning,
            (
                "the fixed effects predict every level, so the data do not determine"
                " the random effects. Their standard deviations and correlations are"
                " start values, without standard errors."
            ),
        )
        return
    latent = LATENT.get(r.family.link.name, 1.0) ** 0.5
    for term, columns, effects in zip(
        r.design.random, random.terms, marginal.terms, strict=True
    ):
        deviation = float(np.sqrt(columns.variances(effects.covariance).mean()))
        if not deviation <= _INFINITE * latent:
            yield (
                SeparationWarning,
                (
                    f"{term.text}: the standard deviation of the effects,"
                    f" {deviation:.3g}, is far above that of a row, {latent:.3g}:"
                    " nearly all rows of a group have one level, so the data do not"
                    " bound the variance. Thresholds and effects grow with it. Leave"
                    " the term out, or join groups."
                ),
            )


def _at_boundary(r: MixedResults) -> Iterator[str]:
    """Notes on variances at 0 and singular covariances."""
    for term, effects in zip(r.design.random, _marginal(r).terms, strict=True):
        for column, derivative in effects.boundary.items():
            if effects.deviations[column] == 0.0:
                what = "estimated variance 0"
            else:
                what = "singular covariance"
            yield (
                f"{term.text}, {term.names[column]}: {what} (slope of the"
                f" log-likelihood {derivative:.3g}). Standard errors of the other"
                " parameters treat it as fixed."
            )


def _header(r: MixedResults) -> tuple[tuple[str, Any], ...]:
    """Header lines: groups, integration, intraclass correlation, test of the random
    effects.
    """
    marginal = _marginal(r)
    groups = {
        term.group: f"{term.cells.size}{'' if term.root is None else ' (cov=)'}"
        for term in r.design.random
    }
    lines = [
        ("Groups", ", ".join(f"{name} {size}" for name, size in groups.items())),
        ("Integration", marginal.integration),
        ("Std. errors", r.own_covariance.words),
    ]
    table = _intraclass(r)
    if table is not None and len(table) == 1:
        lines.append(("ICC", f"{table['icc'].iloc[0]:.3f}"))
    elif table is not None:
        nested = not np.allclose(table["icc"], table["share"])
        for head, name in (("Share of variance", "share"), ("ICC", "icc")):
            if nested or name == "icc":
                lines.append(
                    (
                        head,
                        ", ".join(
                            f"{group} {value:.3f}"
                            for group, value in table[name].items()
                        ),
                    )
                )
    if r.covariance != "model":
        lines.append(("LR test of random effects", f"not available: {r.without_aic}"))
    elif not marginal.likelihood.penalised:
        lines.append(("LR test of random effects", _test(r, marginal)))
    return tuple(lines)


def _test(r: MixedResults, marginal: Marginal) -> str:
    """Likelihood-ratio test against no random effects; p is halved for a single
    variance.
    """
    statistic = max(2.0 * (r.loglik - marginal.plain_loglik), 0.0)
    df = marginal.n_phi
    p = float(chi2_tail(statistic, df))
    if df > 1:
        return f"chi2({df}) = {statistic:.2f}, {p_in_words(p)} (conservative)"
    return (
        f"chi2(1) = {statistic:.2f},"
        f" {p_in_words(1.0 if is_zero(statistic, r.loglik) else 0.5 * p)} (one-sided)"
    )


def _intraclass(r: MixedResults) -> pd.DataFrame | None:
    """Variance, share of the latent variance and correlation of each grouping; None
    without a latent variance.
    """
    variances = _latent_variances(r)
    if variances is None:
        return None
    means, latent = variances
    random = r.design.sample.rows.random
    assert random is not None
    by_group: dict[str, float] = {}
    codes: dict[str, IntArray] = {}
    for term, columns, mean in zip(r.design.random, random.terms, means, strict=True):
        by_group[term.group] = by_group.get(term.group, 0.0) + mean
        codes[term.group] = columns.codes
    table = pd.DataFrame(
        {"variance": by_group}, index=pd.Index(list(by_group), name="group")
    )
    table["share"] = table["variance"] / (sum(means) + latent)
    correlations = []
    for group in by_group:
        outer = [other for other in by_group if _within(codes[group], codes[other])]
        correlations.append(table.loc[outer, "share"].sum())
    return table.assign(icc=correlations)


def _within(inner: IntArray, outer: IntArray) -> bool:
    """Whether every group of codes `inner` (N,) lies in one group of codes `outer`
    (N,).
    """
    pairs = np.unique(np.stack([inner, outer]), axis=1)
    return bool(pairs.shape[1] == np.unique(inner).size)


def _latent_variances(r: MixedResults) -> tuple[list[float], float] | None:
    """Mean variance of z'b of each term, and the variance of the latent distribution;
    None if it has none.
    """
    rows = r.design.sample.rows
    latent = LATENT.get(r.family.link.name) if r.family.ordered else None
    if latent is None or rows.random is None or rows.scale is not None:
        return None
    weights = r.design.sample.case_weights
    parts = zip(rows.random.terms, _marginal(r).terms, strict=True)
    return [
        float(np.average(term.variances(effects.covariance), weights=weights))
        for term, effects in parts
    ], latent


def _table(r: MixedResults, level: float) -> Table:
    """Variances, standard deviations with errors and limits, correlations."""
    limits = limit_heads(level)
    names = {
        "sd": "std. dev.",
        "std_error": "std. error",
        "lower": limits[0],
        "upper": limits[1],
    }
    frame = r.varcorr(level).rename(columns=names)
    correlations = [name for name in map(str, frame) if name.startswith("corr_")]
    if correlations:
        frame = frame.rename(
            columns={correlations[0]: "corr"} | dict.fromkeys(correlations[1:], "")
        )
    deviations = [
        record for record in r.random_parameters.records if record.kind == "sd"
    ]
    frame.index = pd.Index([_row(record) for record in deviations])
    title = "Random effects"
    note = "Confidence limits are computed on the log scale."
    brief = Table(
        title="", frame=frame.rename_axis(title), formats=dict.fromkeys(frame, "brief")
    )
    return Table(title=title, frame=frame, note=note, brief=brief)


def _row(deviation: Parameter) -> str:
    """The group and the column of a standard deviation."""
    assert deviation.group is not None and deviation.column is not None
    return f"{shown_group(deviation.group, {})} {deviation.column.shown()}"


def _discrimination(r: MixedResults) -> pd.DataFrame:
    """Rank correlations and shares of the latent variance, at the modes and in the
    population.
    """
    sample = r.design.sample
    ranks = np.arange(float(len(r.levels)))
    at_modes = r.rule.probabilities(sample.rows, r.fit.scores) @ ranks
    at_modes = r.fit.scores if sample.rows.one_scale else at_modes
    population: Any = r.fit_for_new_rows.rule
    table = {}
    for name, order in {
        "modes": at_modes,
        "population": population.probabilities(sample.rows) @ ranks,
    }.items():
        counts = pairs_of_rows(sample.y, order, sample.case_weights)
        gamma = ratio(
            counts.concordant - counts.discordant, counts.concordant + counts.discordant
        )
        table[name] = {
            "c_index": concordance(counts),
            "somers_d": somers_d(counts),
            "gamma": gamma,
        }
        table[name]["pairs"] = counts.total
    variances = _latent_variances(r)
    if variances is not None:
        between = sum(variances[0])
        latent = variances[1]
        score = replace(r.rule, effects=()).scores(replace(sample.rows, offset=None))
        weights = sample.case_weights
        fixed = float(
            np.average(
                (score - np.average(score, weights=weights)) ** 2, weights=weights
            )
        )
        total = fixed + between + latent
        table["population"]["r2_latent"], table["modes"]["r2_latent"] = (
            fixed / total,
            (fixed + between) / total,
        )
    return NotedFrame.of(pd.DataFrame(table), list(_DISCRIMINATION), "Discrimination")
