"""State occupancy: probabilities of the levels over time, from a first-order Markov
model.

A model of rows (person, time) whose predictors contain the previous level gives the
probabilities of the next one. With p_t(k) the probability of level k at time t,
    p_t(k) = sum_j p_{t-1}(j) P(Y_t = k | previous = j, t, x).
An absorbing level keeps its probability [Rohde et al. 2024, Statistics in Medicine 43;
R's Hmisc, soprobMarkovOrdm].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._typing import FloatArray
from ..advice import with_advice
from ..checks import (
    fraction,
    generator,
    label_texts,
    listed,
    number,
    numbers_given,
    one_of,
    whole,
)
from ..exceptions import (
    DataError,
    DataWarning,
    OptionError,
    UnavailableError,
    warn,
)
from ..formula.columns import Factor
from ..formula.extrapolation import tell_far
from ..formula.sample import Rows
from ..inference.bootstrap import bootstrapped
from ..likelihood.remedies import as_sentence, remedies
from ..likelihood.rule import LikelihoodRule
from ..likelihood.standard_errors import rule_covariance
from ..likelihood.unavailable import why_unavailable
from ..report.cells import MOST_TERMS, first_few
from ..report.frames import Exported, NotedFrame
from .counterfactual import Population, population
from .grid import places_of

if TYPE_CHECKING:
    from ..likelihood.results import LikelihoodResults

#: How groups are compared, and the text between their names.
CONTRASTS = {"difference": " - ", "ratio": " / "}
#: Columns of estimates.
_NUMBERS = ("estimate", "std_error", "lower", "upper")
#: What is drawn for limits: parameters, or persons.
LIMITS = ("normal", "bootstrap")
#: The format of probabilities and their differences.
_FORMAT = ".4f"


@with_advice
@dataclass(frozen=True, eq=False, repr=False)
class Occupancy(Exported):
    """Probabilities of the levels over time.

    Attributes
    ----------
    groups : tuple of str
        Names of the G groups; one empty name without `by`.
    times : (T,)
    gaps : (T,) time since the previous time, or since the start
    levels : tuple
        The K levels of the response.
    estimates : (G, T, K)
    draws : (B, G, T, K)
        The same for drawn parameters.
    level : float
        Confidence level of the intervals.
    notes : tuple of str
    time : str
        Name of the time column of the fit.
    """

    groups: tuple[str, ...]
    times: FloatArray
    gaps: FloatArray
    levels: tuple[Any, ...]
    estimates: FloatArray
    draws: FloatArray
    level: float
    notes: tuple[str, ...]
    time: str

    def exported(self) -> list[NotedFrame]:
        return [self.frame]

    @property
    def frame(self) -> NotedFrame:
        """The table: columns group (if there are groups), time, level, estimate,
        std_error, lower and upper.
        """
        front = self._front("group", self.groups, self.levels)
        return self._table(front, self.estimates, self.draws)

    def contrasts(
        self,
        method: str = "difference",
        ref: str | None = None,
    ) -> NotedFrame:
        """Compare each group with the first, or with `ref`, at each time and level.

        Parameters
        ----------
        method : {"difference", "ratio"}
        ref : str, optional
            Name of the group that the others are compared with.

        Returns
        -------
        NotedFrame
            Columns contrast, time, level, estimate, std_error, lower, upper.

        Raises
        ------
        OptionError
            Fewer than two groups, or an unknown name.
        """
        names, estimates, draws = self._compared(
            method, ref, self.estimates, self.draws
        )
        table = self._table(
            self._front("contrast", names, self.levels), estimates, draws
        )
        formats = dict.fromkeys(_NUMBERS, _FORMAT) if method == "difference" else None
        return NotedFrame.of(table, self.notes, formats=formats)

    def time_in(self, levels: Any, ref: str | None = None) -> NotedFrame:
        """Expected time in some levels, with the differences between groups: the sum
        over times of the probability of these levels times the time since the previous
        time.

        Parameters
        ----------
        levels : a level, or a sequence of them
        ref : str, optional
            Name of the group that the others are compared with; by default the first.

        Returns
        -------
        NotedFrame
            Columns group (names of groups, then differences), estimate, std_error,
            lower, upper.

        Raises
        ------
        OptionError
            A level that the response does not have.
        """
        chosen = np.isin(np.arange(len(self.levels)), _codes(levels, self.levels))
        estimates = self.gaps @ self.estimates[..., chosen].sum(axis=-1)[..., None]
        draws = self.gaps @ self.draws[..., chosen].sum(axis=-1)[..., None]
        names = [*self.groups]
        if len(names) > 1:
            pairs, others, other_draws = self._compared(
                "difference", ref, estimates, draws
            )
            names += pairs
            estimates = np.concatenate([estimates, others])
            draws = np.concatenate([draws, other_draws], axis=1)
        table = self._table(pd.DataFrame({"group": names}), estimates, draws)
        shown = " or ".join(str(self.levels[code]) for code in np.flatnonzero(chosen))
        title = f"Expected time in {shown}, up to {self.time} {self.times[-1]:g}"
        return NotedFrame.of(table, title=title)

    def plot(
        self,
        ax: Any = None,
        *,
        title: str | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> Any:
        """Probabilities over time as stacked areas, a panel for each group.

        Parameters
        ----------
        ax : matplotlib axes, or an array of them, optional
            Where to draw, one for each group; a new figure if not given.
        title : str, optional
        labels : mapping of str to str, optional
            Texts to show for groups, levels and the time column.

        Returns
        -------
        The axes.
        """
        from ..plots.occupancy import draw_occupancy
        from ..plots.style import Sheet

        return Sheet(ax, title, label_texts(labels)).show(draw_occupancy, self)

    def _front(
        self, head: str, names: Sequence[str], levels: Sequence[Any]
    ) -> pd.DataFrame:
        """Labels of rows: group or contrast, time, level."""
        index = pd.MultiIndex.from_product(
            [list(names), self.times, list(levels)], names=[head, "time", "level"]
        )
        front = index.to_frame(index=False)
        return front if names != ("",) else front.drop(columns=head)

    def _table(
        self, front: pd.DataFrame, estimates: FloatArray, draws: FloatArray
    ) -> NotedFrame:
        """Estimates with the standard deviations and quantiles of the draws."""
        table = front.assign(estimate=estimates.ravel())
        if len(draws):
            spread = draws.reshape(len(draws), -1)
            tail = 0.5 * (1.0 - self.level)
            table["std_error"] = spread.std(axis=0, ddof=1)
            table["lower"], table["upper"] = np.quantile(
                spread, [tail, 1.0 - tail], axis=0
            )
        return NotedFrame.of(table, self.notes)

    def _compared(
        self, method: str, ref: str | None, estimates: FloatArray, draws: FloatArray
    ) -> tuple[list[str], FloatArray, FloatArray]:
        """Names, estimates and draws of each group against one."""
        one_of("method", method, CONTRASTS)
        if len(self.groups) < 2:
            raise OptionError("contrasts need two groups or more: use by=.")
        if ref is not None:
            one_of("ref", ref, self.groups)
        base = 0 if ref is None else self.groups.index(ref)
        others = [place for place in range(len(self.groups)) if place != base]
        sign = CONTRASTS[method]
        names = [f"{self.groups[place]}{sign}{self.groups[base]}" for place in others]
        against = estimates[[base]]
        drawn = draws[:, [base]]
        if method == "difference":
            return names, estimates[others] - against, draws[:, others] - drawn
        with np.errstate(divide="ignore", invalid="ignore"):
            return names, estimates[others] / against, draws[:, others] / drawn


@with_advice
def occupancy(
    fit: LikelihoodResults,
    start: Any,
    times: Sequence[float],
    *,
    previous: str = "previous",
    time: str | None = "time",
    gap: str | None = None,
    origin: float = 0.0,
    absorbing: Sequence[Any] = (),
    by: str | Sequence[str] | None = None,
    draws: int = 1000,
    limits: str = "normal",
    seed: int | np.random.Generator = 0,
    level: float = 0.95,
    vcov: Any = None,
) -> Occupancy:
    """Probabilities of the levels over time, from a Markov model.

    Parameters
    ----------
    fit : likelihood fit
        A row for each person and time, with the previous level (see `lagged`) among the
        predictors and no rows after an absorbing level. Fit with `cluster=` for
        confidence intervals that stay valid if answers depend on more than the previous
        one.
    start : data frame
        A row for each person at the start. The column of the previous level holds the
        starting level; the other predictors keep their values. `times` sets time and
        gap. Results are means over these rows. To standardise the arms of a trial to
        the same persons, repeat the rows with each arm.
    times : sequence of numbers
        Times to predict, increasing; the level before the first is that of `start`.
        Without `gap` each step is one transition, so give every time of the fit.
    previous, time : str
        Names of the columns of the previous level and of time. Give time=None if the
        formula of the fit has no time, so that transitions are the same at all times.
    gap : str, optional
        Name of the column of the time since the previous row.
    origin : float
        Time of `start`, from which the first gap counts.
    absorbing : sequence of levels
        Levels that are never left, such as death.
    by : str or sequence of str, optional
        Columns of `start` that define groups.
    draws : int
        Number of parameter draws for standard errors and confidence intervals; 0 for
        none.
    limits : {"normal", "bootstrap"}
        "normal" draws parameters from the normal distribution with the covariance of
        the fit. "bootstrap" draws persons (the clusters of the fit) with replacement
        and fits the model to each draw: it needs no normality, and takes as many fits
        as draws. The rows of `start` stay the same.
    seed : int or numpy.random.Generator
        Seed of the draws.
    level : float in (0, 1)
        Confidence level of the intervals; their limits are quantiles of the draws.
    vcov : str or dict, optional
        Covariance of the parameters, as in `fit.vcov`.

    Returns
    -------
    Occupancy
        `.frame`, `.contrasts()` between groups, `.time_in(levels)`, `.plot()`.

    Raises
    ------
    OptionError
        The fit is not a likelihood fit or is a stereotype model. It has random effects,
        infinite estimates or a link with an estimated parameter. A column or level is
        unknown, or times do not increase.
    UnavailableError
        Confidence intervals of an elastic net or of mono(x), whose estimates have no
        standard errors: use draws=0.
    DataError
        A row of `start` is in an absorbing level, or needs an effect that the data of
        the fit do not determine; `start` has several times.

    Warns
    -----
    DataWarning
        `times` leaves out times of the fit, and there is no `gap`.

    References
    ----------
    Rohde, French, Stewart & Harrell (2024), Bayesian transition models for ordinal
    longitudinal outcomes, Statistics in Medicine 43.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from ordstat import lagged, occupancy, ordfit
    >>> rng = np.random.default_rng(1)
    >>> visits = pd.DataFrame({"id": np.repeat(range(80), 4), "t": 80 * [0, 1, 2, 3]})
    >>> visits["y"] = rng.integers(1, 4, 320)
    >>> long = lagged(visits, "y", by="id", time="t")
    >>> fit = ordfit("y ~ C(previous) + t", long.query("t > 0"), cluster="id")
    >>> start = pd.DataFrame({"previous": [1, 3]})
    >>> found = occupancy(fit, start, [1, 2, 3], time="t", draws=200)
    >>> found.frame["estimate"].round(3).tolist()[:3]
    [0.343, 0.309, 0.348]
    """
    fraction("level", level)
    whole("draws", draws, 0)
    one_of("limits", limits, LIMITS)
    _check_fit(fit)
    _check_limits(fit, draws, limits, vcov)
    steps = _steps(times, origin)
    chosen = fit if vcov is None else fit.with_vcov(vcov)
    codes = _codes(absorbing, fit.levels)
    moving = [code for code in range(fit.rule.n_levels) if code not in codes]
    rows = _start(fit, start, steps, previous, time, gap)
    notes = [] if gap is not None else _skipped(fit, steps[:, 0], time)
    for note in notes:
        warn(note, DataWarning)
    _check_none_began(rows, [fit.levels[code] for code in codes], previous)
    _check_moves(rows, fit.levels, moving, previous)
    rows = _in_order(rows, listed(by))
    places = places_of(rows, None, by)
    shares = _shares(rows, [group for _, group in places])
    distinct, shares = _distinct(rows, shares)
    design = _design(fit, distinct, steps, moving, previous, time, gap)
    chain = _Chain(design, moving, shares)
    estimates = chain.occupied(fit.rule)
    if draws == 0:
        drawn = np.zeros((0, *estimates.shape))
    elif limits == "bootstrap":
        drawn = _of_persons(fit, chain, draws, seed)
    else:
        drawn = _of_normal_draws(chosen, chain, draws, seed)
    failed = draws - len(drawn)
    if failed:
        notes.append(f"{failed} of {draws:,} draws of persons could not be fitted.")
    names = [" ".join(str(value) for value in labels.values()) for labels, _ in places]
    return Occupancy(
        tuple(names),
        steps[:, 0],
        steps[:, 1],
        tuple(fit.levels),
        estimates,
        drawn,
        level,
        (*notes, *_notes(chosen, rows, draws, level, limits)),
        "time" if time is None else time,
    )


def _check_fit(fit: Any) -> None:
    """OptionError for a fit whose rows are no Markov model, or have no draws."""
    if not getattr(getattr(fit, "method", None), "likelihood", False):
        raise OptionError(
            "fit must be a likelihood fit of ordfit(), such as 'logit'; got a"
            f" {type(fit).__name__}."
        )
    if fit.fit.marginal is not None:
        raise OptionError(
            "fit must have no random effects: they and the previous level both carry"
            " what answers of a person have in common. Fit with cluster= instead."
        )
    if fit.fit.has_level_scores:
        raise OptionError(
            "fit must have predictors that are linear in its parameters; got a"
            " stereotype model. Fit method='multinomial' or 'acat'."
        )
    if fit.fit.determined is not None or fit.fit.diverging.any():
        ways = remedies(fit, first=("leave out rows after an absorbing level",))
        raise OptionError(
            "fit must have finite estimates, from which parameters are drawn."
            f" {as_sentence(ways)}"
        )
    if fit.fit.flexible_layout.link:
        raise OptionError(
            "fit must have a link without an estimated parameter; got"
            f" {fit.rule.link.name!r}. Fix it, as in link=({fit.rule.link.name!r},"
            " 1.0)."
        )


def _check_limits(fit: LikelihoodResults, draws: int, limits: str, vcov: Any) -> None:
    """UnavailableError for a fit whose limits are not known, as those of an elastic
    net; OptionError for a bootstrap of a fit without persons to draw, or with a
    covariance, which it does not use.
    """
    by_persons = limits == "bootstrap"
    question = "bootstrap()" if by_persons else "vcov()"
    if draws and (why := why_unavailable(fit, question)):
        raise UnavailableError(
            f"occupancy() has no confidence limits here: {why} With draws=0 it gives"
            " estimates without them."
        )
    if by_persons and vcov is not None:
        raise OptionError("vcov must be left out with limits='bootstrap'.")
    if by_persons and fit.own_covariance.cluster is None:
        raise OptionError(
            "limits='bootstrap' must have the persons as clusters of the fit: fit with"
            " cluster='id'."
        )


@dataclass(frozen=True, eq=False)
class _Chain:
    """The steps of persons from level to level.

    Attributes
    ----------
    design : Rows
        The n rows at the first time, then for each time those of every level that is
        left, one after another.
    moving : sequence of int
        Codes of the levels that are left.
    shares : (G, n)
        Shares of the rows in the mean of each group.
    """

    design: Rows
    moving: Sequence[int]
    shares: FloatArray

    def occupied(self, rule: LikelihoodRule) -> FloatArray:
        """(G, T, K) probabilities of the levels over time, averaged within groups."""
        # where drawn thresholds are out of order, none is negative
        p = np.maximum(rule.probabilities(self.design), 0.0)
        p = p / p.sum(axis=1, keepdims=True)
        n = self.shares.shape[1]
        K = p.shape[1]
        kept = np.setdiff1d(np.arange(K), self.moving)
        now = p[:n]
        means = [self.shares @ now]
        for moves in p[n:].reshape(-1, len(self.moving), n, K):
            after = np.einsum("nj,jnk->nk", now[:, self.moving], moves)
            after[:, kept] += now[:, kept]
            now = after
            means.append(self.shares @ now)
        return np.stack(means, axis=1)


def _of_persons(
    fit: LikelihoodResults, chain: _Chain, draws: int, seed: Any
) -> FloatArray:
    """(B, G, T, K) probabilities by fits to persons drawn with replacement; draws that
    cannot be fitted are left out.
    """
    drawn = bootstrapped(
        fit, draws, seed=seed, statistic=lambda r: chain.occupied(r.rule).ravel()
    )
    values = drawn.replicates.to_numpy()
    kept = values[~np.isnan(values).any(axis=1)]
    shape = (len(chain.shares), -1, len(fit.levels))
    return np.asarray(kept.reshape(len(kept), *shape))


def _of_normal_draws(
    fit: LikelihoodResults, chain: _Chain, draws: int, seed: Any
) -> FloatArray:
    """(B, G, T, K) probabilities at parameters drawn from the normal distribution at
    the estimates, with the covariance of the fit.
    """
    covariance = rule_covariance(fit.fit, fit.rule, fit.covariance_of_estimates)
    rules = _drawn_rules(fit.rule, covariance.dense(), draws, generator(seed))
    return np.array([chain.occupied(rule) for rule in rules])


def _steps(times: Any, origin: float) -> FloatArray:
    """(T, 2) times and the times since the ones before."""
    number("origin", origin)
    values = numbers_given(times)
    gaps = np.diff(np.atleast_1d(values), prepend=origin)
    rising = np.isfinite(gaps).all() and (gaps > 0.0).all()
    if values.ndim != 1 or not values.size or not rising:
        raise OptionError(
            "times must be finite numbers that rise, the first after"
            f" origin={origin:g}; got {times!r}."
        )
    return np.column_stack([values, gaps])


def _codes(given: Any, levels: Sequence[Any]) -> list[int]:
    """Codes of levels that the user names."""
    chosen = [given] if isinstance(given, str) or np.ndim(given) == 0 else list(given)
    for one in chosen:
        if one not in levels:
            raise OptionError(
                f"levels must be among {', '.join(map(repr, levels))}; got {one!r}."
            )
    return [levels.index(one) for one in chosen]


def _start(
    fit: LikelihoodResults,
    start: Any,
    steps: FloatArray,
    previous: str,
    time: str | None,
    gap: str | None,
) -> Population:
    """The complete rows of the start, with the first time."""
    frame = start.copy() if isinstance(start, pd.DataFrame) else pd.DataFrame(start)
    if previous not in frame.columns:
        raise OptionError(
            f"start must have the column {previous!r}, the level at the start."
        )
    if time is not None and time in frame.columns and frame[time].nunique() > 1:
        raise DataError(
            f"start must have a row for each person at the start; its column {time!r}"
            f" has {frame[time].nunique()} different values. Select the first row of"
            f" each person; or leave the column out, as times= sets it."
        )
    frame = frame.assign(**_values(time, gap, steps[0]))
    rows = population(fit, frame, None, None)
    for name in (previous, gap):
        if name is not None:
            rows.check(name)
    if time is not None and time not in rows.variables:
        raise OptionError(
            f"time must be a variable of the formula, or None; got {time!r}, and the"
            f" formula has {', '.join(map(repr, rows.variables))}."
        )
    return rows


def _values(
    time: str | None, gap: str | None, step: Sequence[float] | FloatArray
) -> dict[str, float]:
    """The columns of time and gap that the formula has, at one step."""
    names = zip((time, gap), step, strict=True)
    return {name: float(value) for name, value in names if name is not None}


def _check_none_began(rows: Population, absorbing: list[Any], previous: str) -> None:
    """DataError for rows that start in an absorbing level."""
    began = rows.frame[previous].isin(absorbing)
    if began.any():
        raise DataError(
            f"start has {int(began.sum())} rows in an absorbing level, the first"
            f" {rows.frame.index[began][0]!r}: they stay there. Leave them out."
        )


def _check_moves(
    rows: Population, levels: Sequence[Any], moving: Sequence[int], previous: str
) -> None:
    """OptionError for a level that can be left, but is no level of the column of
    previous levels.
    """
    known = rows.categories.get(previous)
    if known is None:
        return
    unknown = [levels[code] for code in moving if levels[code] not in known]
    if unknown:
        raise OptionError(
            f"absorbing must name the levels that are never left; {previous!r} has no"
            f" level {unknown[0]!r} in the rows of the fit. Give absorbing={unknown!r},"
            " or join the level with another."
        )


def _skipped(fit: LikelihoodResults, times: FloatArray, time: str | None) -> list[str]:
    """A note where times of the rows of the fit lie between two times in a row, so that
    one transition stands for several.
    """
    if time is None or not fit.in_memory or fit.design.data is None:
        return []
    column = fit.design.column(time, "time").value
    if isinstance(column, Factor):
        return []
    seen = np.unique(np.asarray(column, dtype=np.float64))
    between = seen[(seen > times[0]) & (seen < times[-1]) & ~np.isin(seen, times)]
    if not between.size:
        return []
    return [
        f"times leaves out {first_few([f'{value:g}' for value in between], MOST_TERMS)}"
        f", where the fit has rows. Without gap= every step from one of times to the"
        " next is one transition, as from row to row of the fit. Give all times, and"
        " select from .frame; or fit with the gap as a predictor."
    ]


def _in_order(rows: Population, by: Sequence[Any]) -> Population:
    """The rows numbered, as a person may stand in each arm under one label, with groups
    in the order of the levels of the fit.
    """
    frame = rows.frame.reset_index(drop=True)
    for name in by:
        if name in rows.categories:
            frame[name] = pd.Categorical(frame[name], rows.categories[name])
    return replace(rows, frame=frame)


def _design(
    fit: LikelihoodResults,
    rows: Population,
    steps: FloatArray,
    moving: Sequence[int],
    previous: str,
    time: str | None,
    gap: str | None,
) -> Rows:
    """The rows of a chain."""
    frames = [rows.frame]
    for step in steps[1:]:
        at_time = rows.at(_values(time, gap, step))
        for code in moving:
            frames.append(at_time.at({previous: fit.levels[code]}).frame)
    frame = pd.concat(frames, ignore_index=True)
    new = fit.design.spec.rebuild(frame)
    tell_far(new.far, "start and times have")
    design = new.rows
    aliasing = fit.aliasing
    if aliasing is not None and aliasing.outside(fit.rule, design).any():
        raise DataError(
            "start must have combinations of columns that the data of the fit"
            " determine: some estimates are aliased. Leave these columns out of the"
            " formula."
        )
    return design


def _shares(rows: Population, groups: Sequence[Population]) -> FloatArray:
    """(G, n) shares of the rows in the mean of each group."""
    shares = np.zeros((len(groups), len(rows.frame)))
    for share, group in zip(shares, groups, strict=True):
        share[group.frame.index] = group.weights
    return shares


def _distinct(rows: Population, shares: FloatArray) -> tuple[Population, FloatArray]:
    """The rows that differ, with the sums of the shares (G, n) of equal ones, which are
    predicted once.
    """
    names = list(rows.variables)
    groups = rows.frame.groupby(names, sort=False, observed=True)
    codes = groups.ngroup().to_numpy()
    first = np.unique(codes, return_index=True)[1]
    sums = np.zeros((first.size, len(shares)))
    np.add.at(sums, codes, shares.T)
    return rows.among(first), sums.T


def _drawn_rules(
    rule: LikelihoodRule,
    covariance: FloatArray,
    draws: int,
    rng: np.random.Generator,
) -> list[LikelihoodRule]:
    """Rules at parameters drawn from the normal distribution at the estimates."""
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    count, columns = rule.alpha.shape
    # the parameter of a link that the user fixed comes last
    ends = np.cumsum([rule.alpha.size, rule.beta.size, rule.zeta.size])
    rules = []
    for moved in rng.standard_normal((draws, len(values))) @ root.T:
        alpha, beta, zeta, _ = np.split(moved, ends)
        rules.append(
            replace(
                rule,
                alpha=rule.alpha + alpha.reshape(columns, count).T,
                beta=rule.beta + beta,
                zeta=rule.zeta + zeta,
            )
        )
    return rules


def _notes(
    fit: LikelihoodResults, rows: Population, draws: int, level: float, limits: str
) -> tuple[str, ...]:
    """Rows, limits and covariance."""
    notes = [f"Means over the {len(rows.frame):,} rows of start."]
    if draws and limits == "bootstrap":
        notes.append(
            f"{100 * level:g}% confidence intervals: quantiles over {draws:,} fits to"
            f" {fit.own_covariance.n_clusters:,} clusters drawn with replacement."
        )
    elif draws:
        notes.append(
            f"{100 * level:g}% confidence intervals: quantiles of {draws:,} draws"
            f" of the parameters ({fit.own_covariance.words})."
        )
    return tuple(notes)
