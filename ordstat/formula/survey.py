"""Survey designs: strata, clusters, replicate weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from .._typing import BoolArray, FloatArray, IntArray
from ..advice import with_advice
from ..checks import flag, fraction, numbers_given, one_of, refuse
from ..exceptions import DataError, OptionError
from .columns import Column, Columns, Factor, find_column
from .inputs import numbers, vector
from .row_blocks import sums_by

#: Treatments of a stratum with a single unit.
LONELY = ("fail", "remove", "certainty", "adjust", "average")
#: Largest share of undrawn units in a stratum that counts as completely drawn [R:
#: survey, onestrat].
_WHOLE = 1e-7
#: Singular values of the replicate weights below this share of the largest are zero, as
#: in R's degf().
_RANK = 1e-5


@dataclass(frozen=True, eq=False, kw_only=True)
class Linearised:
    """Strata of primary sampling units, drawn with or without replacement.

    A fit uses `df`, `words`, `errors`, `cluster`, `take`, `check` and `covariance` of
    either kind of survey.

    Attributes
    ----------
    psu : (N,) codes 0..G-1
        Unit of each row.
    stratum : (G,) codes 0..H-1
        Stratum of each drawn unit, with or without rows.
    fraction : (H,) drawn share of the units of the population, 0 if that is infinite
    lonely : one of `LONELY`
    names : tuple of H str
    clustered : bool
        Whether units are clusters rather than single rows.
    """

    psu: IntArray
    stratum: IntArray
    fraction: FloatArray
    lonely: str
    names: tuple[str, ...]
    clustered: bool

    @cached_property
    def drawn(self) -> IntArray:
        """(H,) number of units drawn in each stratum."""
        return np.bincount(self.stratum, minlength=self.fraction.size)

    @cached_property
    def has_rows(self) -> BoolArray:
        """(G,) bool of the units."""
        return np.bincount(self.psu, minlength=self.stratum.size) > 0

    @cached_property
    def stratum_has_rows(self) -> BoolArray:
        """(H,) bool of the strata."""
        return (
            np.bincount(self.stratum[self.has_rows], minlength=self.fraction.size) > 0
        )

    @cached_property
    def undrawn(self) -> FloatArray:
        """(H,) undrawn share of the units of each stratum."""
        return np.where(1.0 - self.fraction < _WHOLE, 0.0, 1.0 - self.fraction)

    @cached_property
    def lonely_strata(self) -> BoolArray:
        """(H,) strata with rows in which one unit, but not all, was drawn."""
        return np.asarray(
            self.stratum_has_rows & (self.drawn == 1) & (self.undrawn > 0.0)
        )

    @property
    def df(self) -> int:
        """Number of units minus number of strata, among those with rows."""
        return int(self.has_rows.sum() - self.stratum_has_rows.sum())

    @property
    def words(self) -> str:
        units = int(self.has_rows.sum())
        strata = int(self.stratum_has_rows.sum())
        drawn = f"{units} PSUs" if self.clustered else f"{units} rows drawn one by one"
        if self.fraction.size > 1:
            drawn = f"{drawn} in {strata} strata"
        return f"{drawn}, {self.df} df"

    @property
    def errors(self) -> str:
        """Source of standard errors, for the summary."""
        return "linearised survey covariance" + (
            ", finite population" if self.fraction.any() else ""
        )

    @property
    def cluster(self) -> IntArray | None:
        if not self.clustered:
            return None
        return np.asarray((np.cumsum(self.has_rows) - 1)[self.psu], dtype=np.intp)

    def take(self, rows: BoolArray | slice) -> Linearised:
        return replace(self, psu=self.psu[rows])

    def check(self) -> None:
        """DataError if the rows give no variance."""
        if self.lonely == "fail" and self.lonely_strata.any():
            name = self.names[int(np.argmax(self.lonely_strata))]
            first = f"{name!r} ({int(self.lonely_strata.sum())} such strata)"
            cure = f"Merge strata, or set lonely= to one of {', '.join(LONELY[1:])}"
            raise DataError(
                f"strata= has a single PSU in stratum {first}, which has no variance."
                f" {cure}."
            )
        if self.df < 1:
            raise DataError(
                "design= must leave a degree of freedom, more PSUs than strata; got"
                f" {self.words}."
            )
        varying = (self.undrawn > 0.0) & ((self.drawn > 1) | (self.lonely == "adjust"))
        if not varying[self.stratum_has_rows].any():
            raise DataError(
                "fpc= leaves no sampling error, as all PSUs of every stratum were"
                " drawn. Leave it out."
            )

    def check_levels(self, y: IntArray, levels: Sequence[Any]) -> None:
        """Nothing to check: every row has a weight."""

    def covariance(self, at: Any, bread: FloatArray) -> FloatArray:
        """(P', P') covariance of the estimates; `bread` is the inverse of the
        information.
        """
        # their products with the scores alone would lose the digits of small variances
        influences = at.score_totals(self.psu, self.stratum.size) @ bread
        return self.middle(influences)

    def middle(self, totals: FloatArray) -> FloatArray:
        """(P', P') estimated covariance of the sum of the totals (G, P') of all units.

        sum over strata of (1 - f_h) n_h / (n_h - 1) sum over units of (t - mean) (t -
        mean)'.
        """
        drawn = self.drawn
        lonely = self.lonely_strata
        strata = int(self.stratum_has_rows.sum())
        factor = np.where(
            drawn > 1, self.undrawn * drawn / np.maximum(drawn - 1, 1), 0.0
        )
        mean = sums_by(self.stratum, totals, drawn.size) / drawn[:, None]
        if self.lonely == "adjust":
            factor = np.where(lonely, self.undrawn, factor)
            mean = np.where(lonely[:, None], 0.0, mean)
        centred = (totals - mean[self.stratum]) * np.sqrt(factor)[self.stratum, None]
        share = 1.0
        if self.lonely == "average":
            share = strata / (strata - int(lonely.sum()))
        return centred.T @ centred * share


@dataclass(frozen=True, eq=False, kw_only=True)
class Replicates:
    """Replicate weights, which agencies publish instead of strata and units.

    Attributes
    ----------
    weights : (N, R)
    factor : (R,) factor of each squared difference
    mse : bool
        Differences from the estimates, rather than from the mean of the replicates.
    kind : str
        Type of the weights, for the summary.
    """

    weights: FloatArray
    factor: FloatArray
    mse: bool
    kind: str

    @cached_property
    def df(self) -> int:
        """Rank of the weights of the used rows, minus 1 [R: survey, degf]."""
        values = np.linalg.eigvalsh(self.weights.T @ self.weights)
        return int((values > _RANK**2 * values[-1]).sum()) - 1

    @property
    def words(self) -> str:
        return f"{self.factor.size} replicate weights ({self.kind}), {self.df} df"

    @property
    def errors(self) -> str:
        return "replicate weights" + (", about the estimates" if self.mse else "")

    @property
    def cluster(self) -> None:
        """None: the units are unknown."""
        return None

    def take(self, rows: BoolArray | slice) -> Replicates:
        return replace(self, weights=self.weights[rows])

    def check(self) -> None:
        if self.df < 1:
            raise DataError(
                "design= must leave a degree of freedom, two replicates that differ;"
                f" got {self.words}."
            )

    def check_levels(self, y: IntArray, levels: Sequence[Any]) -> None:
        """DataError if a replicate gives no weight to a level that has rows; `y` (N,)
        are codes of the levels.
        """
        for code in np.unique(y):
            if (empty := ~self.weights[y == code].any(axis=0)).any():
                raise DataError(
                    f"replicate {int(np.argmax(empty)) + 1} gives no weight to level"
                    f" {levels[code]!r} of the response, so its thresholds have no"
                    " estimate. Merge levels of the response."
                )

    def covariance(self, at: Any, bread: FloatArray) -> FloatArray:
        """(P', P') covariance of the estimates; `bread` is not needed."""
        estimates = at.replicated(self.weights)
        centre = at.estimates if self.mse else estimates[self.factor > 0.0].mean(axis=0)
        difference = (estimates - centre) * np.sqrt(self.factor)[:, None]
        return np.asarray(difference.T @ difference)


#: Kinds of survey.
Survey = Linearised | Replicates
#: Factors of the squared differences of n replicates, by kind.
FACTORS: dict[str, Callable[[int, float], float]] = {
    "BRR": lambda n, rho: 1.0 / n,
    "Fay": lambda n, rho: 1.0 / (n * (1.0 - rho) ** 2),
    "JK1": lambda n, rho: (n - 1.0) / n,
    "bootstrap": lambda n, rho: 1.0 / (n - 1.0),
}


@with_advice
@dataclass(frozen=True, eq=False, kw_only=True)
class SurveyDesign:
    """A survey design: `ordfit(..., design=SurveyDesign(weights="w", strata="s",
    clusters="psu"))`.

    Estimates are for the population (pseudo-likelihood), and standard errors follow
    from the design; the scale of the weights does not matter. Pass strata and clusters,
    or the replicate weights that an agency publishes instead.

    Parameters
    ----------
    weights : str or (N,) array
        Sampling weights >= 0: inverse inclusion probabilities, calibrated or not.
    strata : str or (N,) array, optional
        Stratum of every row.
    clusters : str or (N,) array, optional
        Primary sampling unit (PSU, first stage) of every row; by default each row is a
        unit.
    fpc : str or (N,) array, optional
        Finite population correction: the number of PSUs of the stratum in the
        population, or the sampling fraction. Without it PSUs count as drawn with
        replacement.
    lonely : {"fail", "remove", "certainty", "adjust", "average"}
        Variance of a stratum with a single PSU: "fail" raises an error; "remove" and
        "certainty" add nothing; "adjust" adds the squared distance from the mean of all
        PSUs; "average" adds the mean of the other strata.
    nest : bool
        Whether PSU labels are repeated in different strata, and mean different PSUs.
    replicates : list of str, (N, R) array or frame, optional
        Columns of replicate weights, each a weight for the whole sample (R:
        combined.weights=TRUE).
    type : {"BRR", "Fay", "JK1", "bootstrap"}, with `replicates`
        Squared differences are multiplied by 1/R, 1/(R (1 - rho)^2), (R - 1)/R and
        1/(R - 1).
    scale : float or (R,) numbers, instead of `type`
        Factor by which squared differences are multiplied [R: scale * rscales]. For a
        stratified jackknife (JKn) give the (n_h - 1)/n_h of the stratum of each
        replicate.
    rho : float in (0, 1), with type "Fay"
    mse : bool
        Whether differences are taken from the estimates, rather than from the mean of
        the replicates.

    Raises
    ------
    OptionError
        Arguments exclude each other, or a value is outside its range.

    Notes
    -----
    A PSU counts as drawn even if its rows are left out (missing values, `subset=`,
    weight 0), so a subset is a domain of the sample, as in survey's subset(). The
    covariance is that of R's svyolr, A^-1 B A^-1, with A the information. B is the sum
    over strata of (1 - f_h) n_h / (n_h - 1) times the sum over PSUs of the squared
    centred totals of the weighted scores.

    References
    ----------
    Binder, On the variances of asymptotically normal estimators from complex surveys,
    1983; Lumley, Complex Surveys, 2010, ch. 2 and 3.

    Examples
    --------
    >>> import numpy as np
    >>> from ordstat import SurveyDesign, datasets, ordfit
    >>> wine = datasets.load("wine").assign(w=np.tile([1.0, 2.5], 36))
    >>> design = SurveyDesign(weights="w", clusters="judge")
    >>> fit = ordfit("rating ~ temp", wine, design=design)
    >>> fit.se.round(3)["temp[T.warm]"], fit.design_df
    (np.float64(0.377), 8.0)
    """

    weights: Any = None
    strata: Any = None
    clusters: Any = None
    fpc: Any = None
    lonely: str = "fail"
    nest: bool = False
    replicates: Any = None
    type: str | None = None
    scale: Any = None
    rho: float | None = None
    mse: bool = False

    def __post_init__(self) -> None:
        one_of("lonely", self.lonely, LONELY, of=self)
        flag("nest", self.nest)
        flag("mse", self.mse)
        if self.weights is None:
            raise OptionError(
                "weights of SurveyDesign must be a column (of 1 if equal); got None."
            )
        if self.nest and self.clusters is None:
            raise OptionError("nest of SurveyDesign goes with clusters=.")
        if self.replicates is None:
            self._refuse(("type", "scale", "rho", "mse"), "goes with replicates=")
        else:
            why = "must be left out: replicate weights describe the design"
            self._refuse(("strata", "clusters", "fpc", "nest"), why)
            self._check_replicates()

    def _refuse(self, names: Sequence[str], why: str) -> None:
        """OptionError if any of these fields is given."""
        given = []
        for name in names:
            value = getattr(self, name)
            if value is not None and value is not False:
                given.append(name)
        if given:
            raise OptionError(f"{' and '.join(given)} of SurveyDesign {why}.")

    def _check_replicates(self) -> None:
        """OptionError for type, scale and rho that exclude each other."""
        if (self.type == "Fay") != (self.rho is not None):
            raise OptionError(
                f"rho of SurveyDesign goes with type='Fay' alone; got {self.rho!r}."
            )
        if self.scale is not None and self.type is not None:
            raise OptionError(
                "scale of SurveyDesign replaces type=: leave one of them out."
            )
        if self.type == "JKn":
            raise OptionError(
                "type= of SurveyDesign has no 'JKn': give scale=, each replicate's"
                " (n_h - 1)/n_h."
            )
        if self.scale is None:
            one_of("type", self.type, FACTORS, of=self)
        if self.rho is not None:
            fraction("rho", self.rho, of=self)

    @property
    def columns(self) -> list[str]:
        """Names of the columns of the design."""
        several = self.replicates if _are_names(self.replicates) else ()
        given = (self.weights, self.strata, self.clusters, self.fpc, *several)
        return [name for name in given if isinstance(name, str)]


def _are_names(given: Any) -> bool:
    return isinstance(given, (list, tuple)) and all(
        isinstance(name, str) for name in given
    )


def survey_of(asked: SurveyDesign, frame: pd.DataFrame) -> Survey:
    """The survey design of all rows of a frame.

    Raises
    ------
    DataError
        A column is missing, a row lacks a stratum, PSU or replicate weight, a PSU is in
        several strata, or a population is smaller than its sample.
    """
    if asked.replicates is not None:
        return _replicates(asked, frame)
    columns = Columns(frame)
    stratum = np.zeros(len(frame), dtype=np.intp)
    strata = ["all"]
    if asked.strata is not None:
        stratum, strata = _codes(_complete(asked, "strata", columns))
    psu = np.arange(len(frame))
    units = [""]
    if asked.clusters is not None:
        psu, units = _codes(_complete(asked, "clusters", columns))
    if asked.nest:
        pairs, psu = np.unique(stratum * len(units) + psu, return_inverse=True)
        units = [units[int(code) % len(units)] for code in pairs]
    stratum_of = np.zeros(psu.max() + 1, dtype=np.intp)
    stratum_of[psu] = stratum
    torn = stratum_of[psu] != stratum
    if torn.any():
        unit = units[int(psu[int(np.argmax(torn))])]
        refuse(
            torn,
            frame.index,
            "clusters= of SurveyDesign",
            f"PSU {unit!r}, which is in another stratum too,",
            ". Set nest=True, or correct the labels.",
        )
    fraction = np.zeros(len(strata))
    if asked.fpc is not None:
        drawn = np.bincount(stratum_of, minlength=len(strata))
        fpc = numbers(_complete(asked, "fpc", columns), "fpc", frame.index)
        fraction = _fractions(fpc, stratum, strata, drawn)
    return Linearised(
        psu=np.asarray(psu, dtype=np.intp),
        stratum=stratum_of,
        fraction=fraction,
        lonely=asked.lonely,
        names=tuple(strata),
        clustered=asked.clusters is not None,
    )


def _complete(asked: SurveyDesign, role: str, columns: Columns) -> Column:
    """A column by name or as values, which must be complete."""
    index = columns.frame.index
    given = getattr(asked, role)
    column = vector(given, role, columns, None, index, " of SurveyDesign")
    if column.missing is not None:
        name = f"{role}= of SurveyDesign"
        advice = ": fill it, in unused rows too."
        refuse(column.missing, index, name, "missing", advice)
    return column


def _codes(column: Column) -> tuple[IntArray, list[str]]:
    """(N,) codes of the values, and their labels in order."""
    value = column.value
    codes, labels = pd.factorize(
        value.codes if isinstance(value, Factor) else value, sort=True
    )
    texts = [value.levels[k] for k in labels] if isinstance(value, Factor) else labels
    return codes.astype(np.intp), [
        f"{text:g}" if isinstance(text, float) else str(text) for text in texts
    ]


def _fractions(
    given: FloatArray, stratum: IntArray, names: Sequence[str], drawn: IntArray
) -> FloatArray:
    """(H,) drawn share of the PSUs of each stratum, from shares or numbers in the
    population, as in R.
    """
    values = np.zeros(len(names))
    values[stratum] = given
    if (varies := values[stratum] != given).any():
        name = names[int(stratum[int(np.argmax(varies))])]
        raise DataError(
            "fpc= of SurveyDesign must be one number in each stratum; it varies in"
            f" {name!r}."
        )
    with np.errstate(divide="ignore"):
        shares = drawn / values if (values > 1.0).any() else values
    wrong = (shares < 0.0) | (shares > 1.0) | (values == 1.0).all()
    if wrong.any():
        k = int(np.argmax(wrong))
        got = (
            f"{values[k]:g} in stratum {names[k]!r}, of which {drawn[k]} PSUs were"
            " drawn"
        )
        must = (
            "numbers of PSUs in the population, or shares of them from 0 to 1 and not"
            " all 1"
        )
        raise DataError(f"fpc= of SurveyDesign must be {must}; got {got}.")
    return shares


def _replicates(asked: SurveyDesign, frame: pd.DataFrame) -> Replicates:
    values = asked.replicates
    if _are_names(values):
        values = pd.DataFrame(
            {
                name: find_column(frame, name, "replicates= of SurveyDesign")
                for name in values
            }
        )
    elif isinstance(values, pd.DataFrame) and not values.index.equals(frame.index):
        raise DataError(
            "replicates= is a frame with another index than the data. Reindex it, or"
            " pass .to_numpy()."
        )
    weights = numbers_given(values)
    if weights.ndim != 2 or weights.shape[0] != len(frame) or weights.shape[1] < 2:
        must = f"a list of 2 or more columns, or {len(frame)} rows of as many numbers"
        raise DataError(
            f"replicates= of SurveyDesign must be {must}; got shape {weights.shape}."
        )
    bad = np.asarray(~(np.isfinite(weights) & (weights >= 0.0)).all(axis=1))
    refuse(
        bad,
        frame.index,
        "replicates= of SurveyDesign",
        "missing, infinite or negative",
        ".",
    )
    n = weights.shape[1]
    factor = numbers_given(
        asked.scale if asked.type is None else FACTORS[asked.type](n, asked.rho or 0.0)
    )
    if factor.shape not in ((), (n,)) or not (
        np.isfinite(factor).all() and (factor >= 0.0).all() and factor.any()
    ):
        raise OptionError(
            f"scale of SurveyDesign must be a number above 0, or {n} numbers; got"
            f" {asked.scale!r}."
        )
    return Replicates(
        weights=weights,
        factor=np.broadcast_to(factor, n),
        mse=asked.mse,
        kind=asked.type or "scaled",
    )
