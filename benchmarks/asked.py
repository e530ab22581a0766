"""What users of ordinal data ask for beside the fit of a model, beside R: correlations
of items, censored answers, many levels, win probabilities, Markov models, sample sizes,
agreement.

Seconds are of the processor, for the whole call from frame to numbers. The largest
difference is over all numbers that both give; the column `numbers` says whether these
are the same quantities ("equal") or those of a related method ("near").
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.contestants.r_asked import RAnswers, RJob
from benchmarks.levels import continuous
from benchmarks.timing import Contestant, Timed, ratio, rounds

_STATES = ["home", "ward", "icu", "dead"]
_CONTROL = [0.15, 0.25, 0.25, 0.2, 0.15]
#: Patients whose occupancy is averaged; R takes them one by one.
_STARTS = 20
_DAYS = range(1, 15)


@dataclass(frozen=True)
class Job:
    """One question to both.

    Attributes
    ----------
    title : str
        Names of frames in braces stand for their numbers of rows.
    rival : str
        R's function.
    call : callable
        Takes the frames, returns the numbers.
    relation : str
        "equal" or "near".
    rounds : int
    """

    title: str
    rival: str
    call: Callable[[dict[str, pd.DataFrame]], Any]
    relation: str = "equal"
    rounds: int = 5


def run(quick: bool = False) -> list[dict[str, object]]:
    """One row a job: median seconds of both, the median ratio of rounds, and the
    largest difference of the numbers.
    """
    data = frames(quick)
    answers = None
    if shutil.which("Rscript") is None:
        print("Rscript is not here: R's seconds and numbers are left out.")
    else:
        answers = RAnswers(data)
    rows = [_row(name, job, data, answers) for name, job in JOBS.items()]
    if answers is not None:
        answers.close()
    return rows


def _row(
    name: str, job: Job, data: dict[str, pd.DataFrame], answers: RAnswers | None
) -> dict[str, object]:
    own = Timed("ordstat", lambda: job.call(data), clock=time.process_time)
    field: list[Contestant] = [own]
    rival = None
    if answers is not None and answers.ask(name, 0) is not None:
        rival = RJob("R", name, answers)
        field.append(rival)
    elif answers is not None:
        print(f"{job.rival} is not here: {job.title} has no rival.")
    taken = rounds(field, job.rounds)
    sizes = {frame: f"{len(rows):,}" for frame, rows in data.items()}
    row: dict[str, object] = {
        "what": job.title.format(**sizes),
        "rival": f"R {job.rival}",
        "numbers": "no rival",
        "largest difference": float("nan"),
        "ordstat": median(taken["ordstat"]),
        "R": float("nan"),
        "over ordstat": float("nan"),
    }
    if rival is not None:
        ours = np.ravel(np.asarray(job.call(data), dtype=float))
        if ours.size != rival.numbers.size:
            raise AssertionError(
                f"{name}: {ours.size} numbers here, {rival.numbers.size} in R"
            )
        row["numbers"] = job.relation
        row["R"] = median(taken["R"])
        row["over ordstat"] = ratio(taken, "R", "ordstat")
        row["largest difference"] = float(np.abs(ours - rival.numbers).max())
    return row


# Data


def frames(quick: bool) -> dict[str, pd.DataFrame]:
    """All frames by name, from one seed."""
    rng = np.random.default_rng(42)
    n = 500 if quick else 2800
    return {
        "items": _items(n, rng),
        "scored": _scored(n, rng),
        "times": _times(n, rng),
        "coarse": _coarse(n, rng),
        "continuous": continuous(200 if quick else 1000, 5),
        "more_levels": continuous(300 if quick else 3000, 5),
        "trial": _trial(n, rng),
        "stays": _stays(100 if quick else 500, rng),
        "ratings": _ratings(n, rng),
    }


def _items(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Five traits with five items of six uneven levels each, as in the Big Five
    inventory of R's psych.
    """
    traits = rng.standard_normal((n, 5)) + 0.5 * rng.standard_normal((n, 1))
    latent = np.repeat(traits, 5, axis=1) + rng.standard_normal((n, 25))
    shifts = rng.uniform(-0.8, 0.8, 25)
    codes = np.digitize(latent + shifts, [-2.0, -1.0, -0.3, 0.5, 1.5]) + 1
    return pd.DataFrame(codes, columns=[f"i{j}" for j in range(1, 26)])


def _scored(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """A number, and five levels that correlate with it by 0.6."""
    x = rng.standard_normal(n)
    latent = 0.6 * x + 0.8 * rng.standard_normal(n)
    return pd.DataFrame({"x": x, "y": np.digitize(latent, [-1.2, -0.4, 0.3, 1.1]) + 1})


def _times(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Exponential times of proportional hazards in whole days; about half are
    censored.
    """
    frame = pd.DataFrame(rng.standard_normal((n, 3)), columns=["x1", "x2", "x3"])
    risk = np.exp(0.5 * frame["x1"] - 0.3 * frame["x2"])
    died = np.ceil(400.0 * rng.exponential(size=n) / risk)
    left = np.ceil(400.0 * rng.exponential(size=n))
    frame["time"] = np.minimum(died, left).astype(int)
    return frame.assign(event=(died <= left).astype(int))


def _coarse(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Answers 1 to 12, a third of them between two values or beyond one."""
    answer = np.ceil(np.clip(rng.gamma(3.0, 1.6, n), 0.5, 12.0))
    low = answer.copy()
    high = answer.copy()
    kind = rng.random(n)
    between = kind < 0.2
    low[between] = np.maximum(answer[between] - rng.integers(1, 4, between.sum()), 0)
    high[between] = np.minimum(answer[between] + rng.integers(0, 3, between.sum()), 12)
    beyond = kind > 0.87
    low[beyond] = answer[beyond] - 1
    high[beyond] = np.nan
    return pd.DataFrame({"low": low, "high": high})


def _trial(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Two arms and seven levels."""
    arm = np.arange(n) % 2
    latent = 0.5 * arm + rng.logistic(size=n)
    y = np.digitize(latent, [-2.0, -1.0, -0.2, 0.6, 1.4, 2.4]) + 1
    return pd.DataFrame({"arm": arm, "y": y})


def _stays(patients: int, rng: np.random.Generator) -> pd.DataFrame:
    """Daily states of patients, with the state of the day before, up to death."""
    moves = np.array([-2.2, 0.0, 1.8])
    rows = []
    for patient in range(patients):
        arm = patient % 2
        code = int(rng.integers(1, 3))
        for day in _DAYS:
            score = moves[code] - 0.4 * arm - 0.03 * day + rng.logistic()
            now = int(np.digitize(score, [-1.0, 1.0, 4.6]))
            rows.append((patient, day, arm, _STATES[code], _STATES[now]))
            code = now
            if _STATES[now] == "dead":
                break
    return pd.DataFrame(rows, columns=["id", "time", "arm", "previous", "y"])


def _ratings(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Two raters of the same subjects, five levels."""
    subject = rng.standard_normal(n)
    cuts = [-1.2, -0.4, 0.4, 1.2]
    return pd.DataFrame(
        {
            rater: np.digitize(subject + 0.5 * rng.standard_normal(n), cuts) + 1
            for rater in ("first", "second")
        }
    )


# Calls


def _polychoric(data: dict[str, pd.DataFrame]) -> Any:
    from ordstat import polychoric

    return polychoric(data["items"], ordered=True).pairs["correlation"]


def _pair(data: dict[str, pd.DataFrame]) -> Any:
    from ordstat import polychoric

    found = polychoric(data["items"].iloc[:, :2], ordered=True, method="ml").pairs
    return found[["correlation", "std_error"]]


def _polyserial(data: dict[str, pd.DataFrame]) -> Any:
    """The estimate: R's error takes the number's standard deviation as known."""
    from ordstat import polyserial

    return polyserial(data["scored"], "x", "y", method="ml").estimate


def _kaplan_meier(data: dict[str, pd.DataFrame]) -> Any:
    """Survival after each event."""
    from ordstat import ordfit

    fit = ordfit("Surv(time, event) ~ 1", data["times"])
    at_most = fit.predict(data["times"].head(1), type="cum_prob").to_numpy()[0]
    events = data["times"].loc[data["times"]["event"] == 1, "time"].nunique()
    return 1.0 - at_most[:events]


def _hazards(data: dict[str, pd.DataFrame]) -> Any:
    """Log hazard ratios, which are minus the effects on time, and their errors."""
    from ordstat import ordfit

    fit = ordfit("Surv(time, event) ~ x1 + x2 + x3", data["times"], link="cloglog")
    return np.concatenate([-fit.coef.to_numpy(), fit.se[-3:].to_numpy()])


def _turnbull(data: dict[str, pd.DataFrame]) -> Any:
    """P(answer > 1), ..., P(answer > 11)."""
    from ordstat import ordfit

    fit = ordfit("interval(low, high) ~ 1", data["coarse"])
    at_most = fit.predict(data["coarse"].head(1), type="cum_prob").to_numpy()[0]
    return 1.0 - at_most[:11]


def _orm(frame: pd.DataFrame) -> Any:
    """Slopes and their errors."""
    from ordstat import ordfit

    fit = ordfit("y ~ .", frame, levels="all")
    slopes = fit.coef.to_numpy()
    return np.concatenate([slopes, fit.se[-slopes.size :].to_numpy()])


def _wins(data: dict[str, pd.DataFrame]) -> Any:
    """The win probability with its limits; R has the number alone."""
    from ordstat import ordfit

    trial = data["trial"].assign(arm=data["trial"]["arm"].map({0: "a", 1: "b"}))
    fit = ordfit("y ~ 1", trial, nominal="~ arm")
    return fit.superiority("arm").frame["estimate"].iloc[0]


def _occupancy(data: dict[str, pd.DataFrame]) -> Any:
    """Means over patients by day and state, without limits, which R has not."""
    from ordstat import occupancy, ordfit

    stays = data["stays"]
    y = pd.Categorical(stays["y"], _STATES, ordered=True)
    previous = pd.Categorical(stays["previous"], _STATES[:3])
    fit = ordfit("y ~ previous + time + arm", stays.assign(y=y, previous=previous))
    start = stays[stays["time"] == 1].head(_STARTS)
    return occupancy(fit, start, _DAYS, absorbing=["dead"], draws=0).estimates


def _size(data: dict[str, pd.DataFrame]) -> Any:
    from ordstat import power_ordinal

    return power_ordinal(control=_CONTROL, odds_ratio=1.8, power=0.9).n_exact


def _power(data: dict[str, pd.DataFrame]) -> Any:
    from ordstat import power_ordinal

    return power_ordinal(control=_CONTROL, odds_ratio=1.8, n=300).power


def _agreement(data: dict[str, pd.DataFrame]) -> Any:
    """All four coefficients with errors; R has quadratic kappa."""
    from ordstat import agreement

    return agreement(data["ratings"]).table["estimate"].iloc[2]


#: By the names that contestants/asked.R has.
JOBS = {
    "polychoric": Job(
        "polychoric matrix of 25 items", "psych::polychoric", _polychoric, rounds=1
    ),
    "pair": Job("polychoric, one pair by ML, SE", "polycor::polychor", _pair, rounds=3),
    "polyserial": Job("polyserial by ML", "polycor::polyserial", _polyserial),
    "kaplan_meier": Job(
        "right-censored, no predictors", "survival::survfit", _kaplan_meier
    ),
    "hazards": Job(
        "right-censored, hazard ratios, SE", "survival::coxph", _hazards, "near"
    ),
    "turnbull": Job("interval-censored", "survival::survfit", _turnbull),
    "orm": Job(
        "{continuous} levels, 5 slopes, SE",
        "rms::orm",
        lambda data: _orm(data["continuous"]),
        rounds=3,
    ),
    "orm_more": Job(
        "{more_levels} levels, 5 slopes, SE",
        "rms::orm",
        lambda data: _orm(data["more_levels"]),
        rounds=1,
    ),
    "wins": Job("win probability", "wilcox.test", _wins),
    "occupancy": Job(
        f"Markov fit, 14 days, {_STARTS} patients",
        "lrm, soprobMarkovOrdm",
        _occupancy,
        rounds=3,
    ),
    "size": Job("sample size", "Hmisc::posamsize", _size),
    "power": Job("power", "Hmisc::popower", _power),
    "agreement": Job("quadratic kappa", "psych::cohen.kappa", _agreement),
}
