"""Agreement of raters beyond chance: Gwet's AC2, Krippendorff's alpha, weighted kappa
and the coefficient of Brennan and Prediger.

All have the form (p_a - p_e) / (1 - p_e) with weights w_kl of agreement between levels,
1 on the diagonal. Let r_ik of the r_i raters of subject i choose level k, and let n2
subjects have r_i >= 2.
    p_a  mean over these n2 of (sum_kl w_kl r_ik r_il - r_i) / (r_i (r_i - 1))
    p_e  AC2:  sum(w) / (q (q - 1)) sum_k pi_k (1 - pi_k), pi_k the mean of r_ik / r_i
         kappa: mean over pairs of raters g, h of sum_kl w_kl p_gk p_hl, p_g the shares
                of rater g [Cohen 1968; Conger 1980]
         Brennan-Prediger: sum(w) / q^2
Alpha divides by the mean number of ratings instead of r_i, corrects p_a for the sample
size, and leaves subjects with one rating out [Krippendorff 1970; Gwet 2014, ch. 2-5].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from .._typing import FloatArray, IntArray
from ..advice import with_advice
from ..checks import brief, counted, fraction, numbers_given, one_of
from ..exceptions import DataError, DataWarning, OptionError, warn
from ..formula.columns import as_frame
from ..formula.inputs import read_items
from ..judging.costs import named_costs
from ..report.cells import limit_names
from ..report.frames import NotedFrame
from ..report.render import Report, Reported, Table

#: Names of weights, and the costs of judging.costs that they are the complement of.
_COSTS = {
    "quadratic": "squared",
    "linear": "absolute",
    "unweighted": "classification",
}
#: Squared differences of mean ranks, Krippendorff's metric of ordered levels.
_RANKS = "ranks"
#: Fewest raters for errors that include the choice of raters.
_LEAST_RATERS = 3
#: A chance agreement nearer to 1 leaves nothing to judge.
_ALL_BY_CHANCE = 1e-12


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Agreement(Reported):
    """Coefficients of agreement; what `agreement` returns.

    Attributes
    ----------
    table : pandas.DataFrame
        A row for each coefficient: estimate, std_error, lower, upper, observed (p_a)
        and chance (p_e).
    weights : pandas.DataFrame
        Weights of agreement between the levels.
    subjects, raters : int
        Subjects with a rating, and raters.
    level : float
        Confidence level of the intervals.
    notes : tuple of str
    """

    table: pd.DataFrame
    weights: pd.DataFrame
    subjects: int
    raters: int
    level: float
    notes: tuple[str, ...]

    def report(self) -> Report:
        """The table as data."""
        frame = self.table.rename(columns=limit_names(self.level))
        table = Table(
            title="Agreement beyond chance",
            frame=frame,
            formats=dict.fromkeys(frame, ".3f"),
        )
        header = (("Subjects", self.subjects), ("Raters", self.raters))
        return Report(
            title=f"Agreement of {self.raters} raters",
            header=header,
            tables=(table,),
            notes=self.notes,
        )


@with_advice
def agreement(
    ratings: Any,
    weights: Any = "quadratic",
    *,
    levels: Sequence[Any] | None = None,
    raters: str = "fixed",
    level: float = 0.95,
) -> Agreement:
    """Agreement of raters beyond chance: Gwet's AC2, Krippendorff's alpha, weighted
    kappa (Cohen's of two raters, Conger's of more) and Brennan-Prediger.

    Parameters
    ----------
    ratings : data frame
        A row for each subject, a column for each rater; ratings may be missing.
    weights : {"quadratic", "linear", "unweighted", "ranks"} or (q, q) matrix
        Weights of agreement between levels d ranks apart, D the largest d: "quadratic"
        1 - (d / D)^2, "linear" 1 - d / D, "unweighted" 0 unless d = 0 (AC2 is then
        AC1). "ranks" is quadratic in the difference of the levels' mean ranks, among
        subjects with two ratings or more (Krippendorff's ordinal metric). Or give a
        symmetric matrix of weights from 0 to 1, with 1 on its diagonal.
    levels : sequence, optional
        All levels in order, lowest first; needed for text without an order, and for
        numbers where a level of the scale does not occur.
    raters : {"fixed", "random"}
        Whether standard errors refer to new subjects with the same raters, or to new
        subjects and new raters (needs three raters or more).
    level : float in (0, 1)
        Confidence level of the intervals.

    Returns
    -------
    Agreement
        `.table` has the estimates, standard errors, confidence intervals, observed
        agreement and agreement expected by chance; it prints as a table.

    Raises
    ------
    DataError
        Fewer than two raters, a rater without ratings, fewer than two subjects with
        two ratings, levels without an order.
    OptionError
        An unknown name, or a matrix that is not as described under `weights`.

    Warns
    -----
    DataWarning
        Subjects without ratings; values that may be codes of missing answers.

    Notes
    -----
    Standard errors over subjects are linearised. Confidence intervals use t with n - 1
    degrees of freedom and end at 1 at most. They equal those of R's irrCAC if all
    subjects have two ratings or more. Subjects with one rating contribute to the chance
    agreement only. irrCAC treats the number of the other subjects as fixed: its
    standard errors then exceed those of the jackknife. raters="random" adds the
    jackknife variance over raters [Gwet 2008]. Weights by ranks are treated as known.

    References
    ----------
    Gwet (2008), Computing inter-rater reliability and its variance in the presence of
    high agreement, British Journal of Mathematical and Statistical Psychology 61,
    29-48; Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed.; Conger (1980),
    Integration and generalization of kappas for multiple raters, Psychological Bulletin
    88, 322-328; Krippendorff (1970), Bivariate agreement coefficients for reliability
    of data, Sociological Methodology 2, 139-150.

    Examples
    --------
    >>> from ordstat import agreement, datasets
    >>> wine = datasets.load("wine")
    >>> ratings = wine.pivot(index="bottle", columns="judge", values="rating")
    >>> agreement(ratings).table["estimate"].round(3).tolist()
    [0.701, 0.35, 0.357, 0.627]
    """
    frame = as_frame(ratings)
    one_of("raters", raters, ("fixed", "random"))
    fraction("level", level)
    codes, labels, notes = _codes(frame, levels)
    by_level = _by_level(codes, len(labels))
    W = _weight_matrix(weights, by_level, labels)
    found = _coefficients(by_level, W)
    variances = np.array([c.variance for c in found])
    if raters == "random" and codes.shape[1] < _LEAST_RATERS:
        raise OptionError(
            f"raters='random' needs {_LEAST_RATERS} raters or more; got"
            f" {codes.shape[1]}. Use raters='fixed'."
        )
    if raters == "random":
        variances += _rater_variances(by_level, W)
    over = "subjects" if raters == "fixed" else "subjects and raters"
    notes.append(
        f"Weights: {_name_of(weights)}. Standard errors are over {over};"
        f" {100 * level:g}% confidence intervals."
    )
    alone = int((by_level.sum(axis=(1, 2)) == 1.0).sum())
    if alone:
        notes.append(
            f"{counted(alone, 'subject')} with one rating: for the chance agreement"
            " alone. R's irrCAC has larger standard errors then."
        )
    if any(np.isnan(c.estimate) for c in found):
        notes.append("A coefficient is NA where chance alone gives full agreement.")
    n = len(codes)
    reach = float(stdtrit(n - 1, 0.5 + level / 2.0)) * np.sqrt(variances)
    estimates = np.array([c.estimate for c in found])
    table = pd.DataFrame(
        {
            "estimate": estimates,
            "std_error": np.sqrt(variances),
            "lower": estimates - reach,
            "upper": np.minimum(estimates + reach, 1.0),
            "observed": [c.observed for c in found],
            "chance": [c.chance for c in found],
        },
        index=pd.Index(_names(codes.shape[1], W), name="coefficient"),
    )
    return Agreement(
        table=NotedFrame.of(table, notes, "Agreement beyond chance"),
        weights=pd.DataFrame(W, index=list(labels), columns=list(labels)),
        subjects=n,
        raters=codes.shape[1],
        level=level,
        notes=tuple(notes),
    )


# Reading


def _codes(
    frame: pd.DataFrame, levels: Any
) -> tuple[IntArray, tuple[Any, ...], list[str]]:
    """(n, r) codes of the subjects with a rating, -1 where missing, the levels, and
    notes.
    """
    names = list(frame.columns)
    if len(names) < 2:
        raise DataError(
            f"ratings must have two columns of raters or more; got {names}. Give a row"
            " for each subject and a column for each rater, by .pivot() for example."
        )
    labels, codes, notes = read_items(frame, names, levels, "ratings=")
    silent = ~(codes >= 0).any(axis=0)
    if silent.any():
        raise DataError(
            f"Column {names[int(np.argmax(silent))]!r} has no rating. Leave it out."
        )
    rated = (codes >= 0).sum(axis=1)
    if not rated.all():
        lost = counted(int((rated == 0).sum()), "subject")
        notes.append(f"{lost} without any rating left out.")
    for note in notes:
        warn(note, DataWarning)
    several = int((rated >= 2).sum())
    if several < 2:
        raise DataError(
            "ratings must have two subjects or more with two ratings or more; got"
            f" {several}."
        )
    return codes[rated > 0], labels, notes


def _by_level(codes: IntArray, q: int) -> FloatArray:
    """(n, r, q) 1 at the level that a rater gave."""
    return np.asarray(codes[:, :, None] == np.arange(q), dtype=np.float64)


def _weight_matrix(
    given: Any, by_level: FloatArray, labels: tuple[Any, ...]
) -> FloatArray:
    """(q, q) weights of agreement."""
    q = by_level.shape[2]
    if isinstance(given, str):
        one_of("weights", given, (*_COSTS, _RANKS), also=", or a matrix")
        if given in _COSTS:
            cost = named_costs(_COSTS[given], q)
        else:
            paired = by_level[by_level.sum(axis=(1, 2)) >= 2.0]
            counts = paired.sum(axis=(0, 1))
            ranks = np.cumsum(counts) - 0.5 * counts
            cost = (ranks[:, None] - ranks) ** 2
        return np.asarray(1.0 - cost / cost.max())
    matrix = numbers_given(given)
    right = (
        matrix.shape == (q, q)
        and bool(((matrix >= 0.0) & (matrix <= 1.0)).all())
        and bool((np.diagonal(matrix) == 1.0).all())
        and np.array_equal(matrix, matrix.T)
    )
    if not right:
        raise OptionError(
            f"weights must be a name, or a symmetric {q} x {q} matrix of numbers from 0"
            f" to 1 with 1 on its diagonal, for the levels {list(labels)}; got"
            f" {brief(given)}."
        )
    return matrix


def _name_of(weights: Any) -> str:
    return weights if isinstance(weights, str) else "the matrix given"


# Numbers


@dataclass(frozen=True, eq=False)
class _Coefficient:
    """An estimate with what it is made of.

    Attributes
    ----------
    estimate, observed, chance : float
    deviations : (n,)
        Influence of each subject.
    """

    estimate: float
    observed: float
    chance: float
    deviations: FloatArray

    @property
    def variance(self) -> float:
        """Over subjects."""
        n = self.deviations.size
        return float((self.deviations**2).sum() / (n * (n - 1.0)))


def _beyond_chance(
    observed: float, chance: float, of_observed: FloatArray, of_chance: FloatArray
) -> _Coefficient:
    """A coefficient from p_a, p_e and the influence (n,) of each subject on them."""
    left = 1.0 - chance
    if left < _ALL_BY_CHANCE:
        nothing = np.full(of_observed.size, np.nan)
        return _Coefficient(float("nan"), observed, chance, nothing)
    estimate = (observed - chance) / left
    deviations = (of_observed - (1.0 - estimate) * of_chance) / left
    return _Coefficient(estimate, observed, chance, deviations)


def _coefficients(by_level: FloatArray, W: FloatArray) -> list[_Coefficient]:
    """All coefficients of ratings (n, r, q), in the order of `_names`."""
    counts = by_level.sum(axis=1)
    rated = counts.sum(axis=1)
    several = rated >= 2.0
    n = len(counts)
    q = W.shape[0]
    pairs = (counts @ W * counts).sum(axis=1) - rated
    shares = pairs / np.where(several, rated * (rated - 1.0), 1.0)
    observed = float(shares[several].mean())
    of_observed = n / several.sum() * several * (shares - observed)
    gwet = _gwet_chance(counts / rated[:, None], W)
    conger = _conger_chance(by_level, W)
    even = float(W.sum() / q**2), np.zeros(n)

    def beyond(chance: float, of_chance: FloatArray) -> _Coefficient:
        return _beyond_chance(observed, chance, of_observed, of_chance)

    return [
        beyond(*gwet),
        _alpha(counts[several], pairs[several], W),
        beyond(*conger),
        beyond(*even),
    ]


def _gwet_chance(profiles: FloatArray, W: FloatArray) -> tuple[float, FloatArray]:
    """p_e of AC2 and the influence (n,) of the subjects, from their shares (n, q)."""
    q = W.shape[0]
    pi = profiles.mean(axis=0)
    factor = W.sum() / (q * (q - 1.0))
    moved = (profiles - pi) @ (1.0 - 2.0 * pi)
    return float(factor * (pi @ (1.0 - pi))), np.asarray(factor * moved)


def _conger_chance(by_level: FloatArray, W: FloatArray) -> tuple[float, FloatArray]:
    """p_e of kappa and the influence (n,) of the subjects."""
    n, r, _ = by_level.shape
    given = by_level.sum(axis=2)
    rated = given.sum(axis=0)
    shares = by_level.sum(axis=0) / rated[:, None]
    others = shares.sum(axis=0) - shares
    chance = float((shares @ W * others).sum() / (r * (r - 1.0)))
    moved = n / rated[:, None] * (by_level - given[:, :, None] * shares)
    slopes = 2.0 * others @ W / (r * (r - 1.0))
    return chance, np.asarray((moved * slopes).sum(axis=(1, 2)))


def _alpha(counts: FloatArray, pairs: FloatArray, W: FloatArray) -> _Coefficient:
    """Krippendorff's alpha from subjects with two ratings or more.

    Its error is that of the coefficient without the correction for the sample size.
    """
    rated = counts.sum(axis=1)
    mean = rated.mean()
    correction = 1.0 / rated.sum()
    pi = counts.sum(axis=0) / rated.sum()
    chance = float(pi @ W @ pi)
    shares = pairs / (mean * (rated - 1.0))
    raw = float(shares.mean())
    excess = (rated - mean) / mean
    of_chance = 2.0 * (counts @ W @ pi / mean - chance * excess - chance)
    of_observed = shares - raw * excess - raw
    plain = _beyond_chance(raw, chance, of_observed, of_chance)
    observed = (1.0 - correction) * raw + correction
    estimate = float("nan")
    if not np.isnan(plain.estimate):
        estimate = (observed - chance) / (1.0 - chance)
    return _Coefficient(estimate, observed, chance, plain.deviations)


def _rater_variances(by_level: FloatArray, W: FloatArray) -> FloatArray:
    """(4,) jackknife variances over raters; NaN where the others share no subject."""
    r = by_level.shape[1]
    left_out = np.full((r, 4), np.nan)
    for rater in range(r):
        others = np.delete(by_level, rater, axis=1)
        others = others[others.sum(axis=(1, 2)) > 0.0]
        if (others.sum(axis=(1, 2)) >= 2.0).any():
            left_out[rater] = [c.estimate for c in _coefficients(others, W)]
    return np.asarray((r - 1.0) * left_out.var(axis=0))


def _names(r: int, W: FloatArray) -> list[str]:
    """The names of the coefficients of r raters."""
    unweighted = np.array_equal(W, np.eye(len(W)))
    return [
        "Gwet's AC1" if unweighted else "Gwet's AC2",
        "Krippendorff's alpha",
        "Cohen's kappa" if r == 2 else "Conger's kappa",
        "Brennan-Prediger",
    ]
