"""The leaderboard in words and pictures: `results/leaderboard.md`, with a diagram of
critical differences.

Contestants whose mean ranks differ by less than the critical difference of Nemenyi's
test, q sqrt(k (k+1) / (6 N)) of k contestants on N sets with q the 95 % point of the
studentised range over sqrt(2), are joined by a bar [Demsar 2006, Statistical
comparisons of classifiers over multiple data sets, JMLR 7].
"""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.leaderboard import MEASURES, complete, set_ranks

#: What blend is held against, and the share of absolute error that it may lose by.
_RIVAL = "LightGBM per threshold"
_MARGIN = 0.03
_HEAD = """# Who predicts ordinal data best

Written by `python -m benchmarks leaderboard` on {date} from `leaderboard.csv`, which has every result with the date and
the commit that was measured ({commits}).

{sets} public sets with {splits} random splits each; every contestant has the same ones. `benchmarks/rivals.py` says
what each rival is: boosting of LightGBM and XGBoost has its rounds by 5-fold cross-validation, "searched" is the best
of ten settings. Errors are those of the medians of the predicted distributions; mean ranks are over the sets, 1 the
best. A regression that is rounded gives no probabilities, so that its ranked probability score (RPS) is its absolute
error.

## Mean ranks

{ranks}

Friedman's test that all are alike: MAE p = {p_mae}, RPS p = {p_rps}. Mean ranks that differ by {critical:.2f} or more
differ by Nemenyi's test at 5 %; with {sets} sets that is a lot. The pictures join those that do not:

![MAE](leaderboard-mae.png)
![RPS](leaderboard-rps.png)

## Absolute error, set by set

{mae}

## Where blend loses

{losses}
"""  # noqa: E501  (a page in Markdown)


def critical_difference(k: int, n: int) -> float:
    """Of the mean ranks of k contestants on n sets, at 5 %."""
    from scipy.stats import studentized_range

    return float(
        studentized_range.ppf(0.95, k, np.inf)
        / np.sqrt(2.0)
        * np.sqrt(k * (k + 1) / (6.0 * n))
    )


def friedman(ranks: pd.DataFrame) -> str:
    """p of Friedman's test of ranks (sets by contestants), in words where there are too
    few.
    """
    from scipy.stats import friedmanchisquare

    if len(ranks) < 2 or ranks.shape[1] < 3:
        return "unknown"
    return f"{friedmanchisquare(*ranks.to_numpy().T).pvalue:.2g}"


def cliques(means: np.ndarray, critical: float) -> list[tuple[int, int]]:
    """First and last of every longest run of rising means that lie within the critical
    difference.
    """
    ends = [
        int(np.searchsorted(means, mean + critical, side="left")) - 1 for mean in means
    ]
    starts = [
        i for i, end in enumerate(ends) if end > i and (i == 0 or ends[i - 1] < end)
    ]
    return [(i, ends[i]) for i in starts]


def losses(results: pd.DataFrame) -> str:
    """The sets where blend has an absolute error more than a margin above that of its
    rival, as a list.
    """
    actual = (
        complete(results)
        .groupby(["set", "contestant"])[["mae"]]
        .mean()["mae"]
        .unstack("contestant")
    )
    if not {"blend", _RIVAL} <= set(actual):
        return f"Not known: {_RIVAL} or blend took no part."
    ratio = (actual["blend"] / actual[_RIVAL]).sort_values(ascending=False)
    lost = ratio[ratio > 1.0 + _MARGIN]
    if lost.empty:
        return (
            f"On none of the sets is its MAE more than {_MARGIN:.0%} above that of"
            f" {_RIVAL}."
        )
    lines = [
        f"- {name}: {actual.loc[name, 'blend']:.4f} against"
        f" {actual.loc[name, _RIVAL]:.4f}"
        + (f" ({value - 1:+.1%})" if np.isfinite(value) else "")
        for name, value in lost.items()
    ]
    return f"MAE more than {_MARGIN:.0%} above that of {_RIVAL}:\n\n" + "\n".join(lines)


def _from_to(numbers: pd.Series) -> str:
    low = int(numbers.min())
    high = int(numbers.max())
    return f"{low}" if low == high else f"{low} to {high}"


def markdown(frame: pd.DataFrame, digits: int) -> str:
    """A table, the smallest number of every row in bold where it is read row by row."""
    head = [frame.index.name or "", *map(str, frame.columns)]
    lines = [head, ["---"] * len(head)]
    lines += [
        [str(name), *(f"{v:.{digits}f}" for v in row)]
        for name, row in zip(frame.index, frame.to_numpy(), strict=True)
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def page(results: pd.DataFrame) -> str:
    """All in words."""
    used = complete(results)
    ranks = {measure: set_ranks(results, measure) for measure in MEASURES}
    table = pd.DataFrame(
        {measure: one.mean() for measure, one in ranks.items()}
    ).sort_values("mae")
    table["seconds a fit"] = used.groupby("contestant")["seconds"].mean()
    mae = used.groupby(["set", "contestant"])["mae"].mean().unstack("set")
    n, k = ranks["mae"].shape
    return _HEAD.format(
        date=date.today().isoformat(),
        commits=", ".join(sorted(set(used["commit"].astype(str)))),
        sets=n,
        splits=_from_to(used.groupby("set")["split"].nunique()),
        ranks=markdown(table.rename_axis("contestant"), 2),
        p_mae=friedman(ranks["mae"]),
        p_rps=friedman(ranks["rps"]),
        critical=critical_difference(k, n),
        mae=markdown(mae.loc[table.index].rename_axis("contestant"), 3),
        losses=losses(results),
    )


def picture(results: pd.DataFrame, measure: str) -> Any:
    """Mean ranks on a line, names at both sides, and bars over those that do not
    differ.
    """
    from matplotlib import pyplot

    ranks = set_ranks(results, measure)
    n, k = ranks.shape
    means = ranks.mean().sort_values()
    critical = critical_difference(k, n)
    half = -(-k // 2)
    joined = cliques(means.to_numpy(), critical)
    figure, ax = pyplot.subplots(
        figsize=(7.6, 1.5 + 0.26 * half + 0.1 * len(joined)), layout="constrained"
    )
    top = 0.5 * len(joined) + 0.8
    low = float(np.floor(means.min()))
    high = float(np.ceil(means.max()))
    ax.hlines(0, low, high, colors="#333333", linewidth=1.2)
    for tick in np.arange(low, high + 1):
        ax.vlines(tick, 0, 0.25, colors="#333333", linewidth=1.0)
        ax.text(tick, 0.4, f"{tick:g}", ha="center", va="bottom", fontsize=9)
    span = high - low
    for i, (name, mean) in enumerate(means.items()):
        left = i < half
        y = -(top + (i if left else k - 1 - i))
        x = low - 0.04 * span if left else high + 0.04 * span
        ax.plot([mean, mean, x], [0, y, y], color="#8a8a8a", linewidth=0.8)
        words = f"{name}  {mean:.1f}" if left else f"{mean:.1f}  {name}"
        ax.text(
            x + (-0.015 if left else 0.015) * span,
            y,
            words,
            ha="right" if left else "left",
            va="center",
            fontsize=9,
        )
    for place, (first, last) in enumerate(joined):
        ax.hlines(
            -0.5 * (place + 1),
            means.iloc[first] - 0.03,
            means.iloc[last] + 0.03,
            colors="#d55e00",
            linewidth=3,
        )
    ax.hlines(1.9, low, low + min(critical, span), colors="#0072b2", linewidth=2)
    ax.text(
        low,
        2.1,
        f"critical difference {critical:.1f}",
        fontsize=9,
        va="bottom",
        color="#0072b2",
    )
    ax.set_title(
        f"Mean rank of {measure.upper()} on {n} sets, the best at the left",
        fontsize=10,
        loc="left",
    )
    ax.set_xlim(low - 0.75 * span, high + 0.75 * span)
    ax.set_axis_off()
    return figure


def write(results: pd.DataFrame, folder: Path) -> None:
    """The page and its pictures."""
    if complete(results).empty:
        return
    (folder / "leaderboard.md").write_text(page(results), encoding="utf-8")
    for measure in ("mae", "rps"):
        picture(results, measure).savefig(
            folder / f"leaderboard-{measure}.png", dpi=130
        )
