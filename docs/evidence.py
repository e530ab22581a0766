"""Pages of evidence, from the results of the benchmarks."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator

import numpy as np
import pandas as pd
from pages import HERE, ROOT, table, write

from benchmarks.leaderboard import MEASURES
from benchmarks.leaderboard_page import critical_difference

RESULTS = ROOT / "benchmarks" / "results"
REPRODUCED = ROOT / "benchmarks" / "reproduce" / "results"

#: Title, explanation and columns of the tables of speed.
SPEED = {
    "start": (
        "Start of a process to a printed summary",
        "Python with ordstat, Python alone, R with `clm`.",
        None,
    ),
    "clm": (
        "Cumulative link models",
        (
            'n rows, p columns, K levels. "limit" is one pass over the rows in C for'
            ' each Newton step; "ordstat" is the whole call, "ordstat fit" the fit'
            " alone."
        ),
        ["n", "p", "K", "contestant", "seconds", "over ordstat"],
    ),
    "effects": (
        "Nominal effects, scale effects and flexible links",
        "Compared with R's `clm`.",
        None,
    ),
    "survey": (
        "Surveys",
        "Standard errors of a design compared with those of the model.",
        None,
    ),
    "asked": (
        "Items, censored answers, Markov models and sample sizes",
        (
            "Whole calls, in seconds of the processor. `largest difference` is that of"
            " the numbers of both, which are the same quantities or, where it says"
            ' "near", those of a related method.'
        ),
        None,
    ),
    "linear": (
        "Linear support vector machines",
        "One fit; `gap` is the relative duality gap.",
        None,
    ),
    "selection": ("Choice of C by cross-validation", "All fits of the search.", None),
    "boosting": (
        "Boosting of weak learners",
        "Compared with the authors' program and scikit-learn.",
        None,
    ),
    "ordboost": (
        "Gradient boosting",
        "500 rounds of depth 3 compared with LightGBM, 100,000 rows.",
        None,
    ),
    "online": (
        "Online rankers",
        'A pass over the rows, and the same rows in batches. "whole fit" is the call.',
        None,
    ),
    "prediction": ("Prediction by ensembles", "Seconds for all rows.", None),
    "cost": (
        "What a fitted predictor costs",
        "`blend` and its members compared with LightGBM, one model a threshold. Each"
        " number was measured once, on a busy machine; seconds are of the processor.",
        [
            "set",
            "contestant",
            "fit s",
            "fit peak MB",
            "pickled MB",
            "loaded MB",
            "one row ms",
            "1e6 rows s",
        ],
    ),
}
#: Rows that the page leaves out: other runs of what it shows.
LEFT_OUT = {
    "online": "first batch|later frames|fresh process",
    "boosting": "recorded elsewhere|fresh process",
}


def shown(value: object, decimals: int | None = None) -> str:
    """A number with three digits, or some decimals; text as it is."""
    if isinstance(value, (float, np.floating)):
        if decimals is not None:
            return f"{np.round(value, decimals):.{decimals}f}"
        return (
            ""
            if np.isnan(value)
            else (
                f"{float(f'{value:.3g}'):,.0f}" if abs(value) >= 100 else f"{value:.3g}"
            )
        )
    return (
        f"{value:,}"
        if isinstance(value, (int, np.integer))
        else str(value).replace("|", r"\|")
    )


def frame_table(frame: pd.DataFrame, decimals: int | None = None) -> str:
    """A frame as a table in Markdown; floats with three digits, or with the decimals
    given.
    """
    rows = [[shown(v, decimals) for v in row] for row in frame.to_numpy(object)]
    return table([str(name) for name in frame.columns], rows)


def write_evidence() -> None:
    """All pages that come from CSV files."""
    _write_speed()
    _write_reproduction()
    _write_leaderboard()
    _write_tocuco()
    _write_bounds()


# Speed


def _write_speed() -> None:
    text = (
        "Seconds of one thread, measured side by side in one run. The last column is"
        " how many times as long a contestant takes: the median ratio of rounds side by"
        " side, not quite the ratio of the seconds. `make bench` measures them again;"
        " `benchmarks/results` has all rows as CSV and says how each was measured."
    )
    lines = ["# Speed", "", text, ""]
    for name, (title, about, columns) in SPEED.items():
        frame = pd.read_csv(RESULTS / f"{name}.csv")
        if name in LEFT_OUT:
            frame = frame[
                ~frame.iloc[:, 0]
                .str.cat(frame["contestant"], ": ")
                .str.contains(LEFT_OUT[name])
            ]
        lines += [
            f"## {title}",
            "",
            about,
            "",
            frame_table(frame[columns] if columns else frame),
            "",
        ]
    svm = pd.read_csv(RESULTS / "svm.csv")
    ratio = "over ordstat at its gap"
    rivals = svm[
        ~svm["contestant"].str.startswith("ordstat") & (svm["gap"] < 0.01)
    ].groupby(["method", "kernel", "K", "contestant"])
    summary = (
        rivals[ratio].agg(["median", "min", "max", "count"]).dropna().reset_index()
    )
    about = (
        "Seconds of a rival over those of ordstat at the same duality gap, over numbers"
        " of rows and values of C. Fits whose gap is above 0.01 are left out."
    )
    write(
        "evidence/speed.md",
        "\n".join(
            [*lines, "## Kernel machines", "", about, "", frame_table(summary), ""]
        ),
    )


# Tables of the papers
#: The last part of the report: a paper whose figures were not published for these data.
_TUTZ = "## Tutz & Hechenbichler 2003, on other data"
#: Names of the papers, and of the errors, in the report.
_NAMES = {
    r"lin-li-(\d)": r"Lin & Li 2006, table \1",
    r"cusum-(\d)": r"Milidiú & Rocha 2019, table \1",
    r"(\d\.\d)": r"Lin 2008, table \1",
    r"Test errors: misclass": "Share of wrong levels",
    r"Test errors: mean abs": "Mean absolute error",
    r"Test errors: mean squ": "Mean squared error",
}


def published() -> dict[str, list[list[str]]]:
    """Rows of all published tables that were run again, by the name of the method."""
    rows: dict[str, list[list[str]]] = {}
    for line in (REPRODUCED / "REPORT.md").read_text().split(_TUTZ)[0].split("\n"):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 9 and re.fullmatch(r"\**[-+]?\d+\.\d+\**", cells[-1]):
            rows.setdefault(cells[1], []).append(cells)
    return rows


def _write_reproduction() -> None:
    report = (REPRODUCED / "REPORT.md").read_text()
    readme = (REPRODUCED / "README.md").read_text()
    methods = published()
    rows = [
        [
            name,
            str(len(cells)),
            str(sum(abs(float(row[-1].strip("*"))) <= 2 for row in cells)),
        ]
        for name, cells in sorted(methods.items())
    ]
    n, near = (sum(int(row[i]) for row in rows) for i in (1, 2))
    lines = [
        *["# Reproduction of the papers' tables", ""],
        (
            f"Of {n} published figures, {near} are within two combined standard errors"
            " of ours. The difference is (ours - published) over the standard error;"
            " positive is a larger error than the published one, beyond 2 it is bold."
        ),
        *[
            "",
            "## By method",
            "",
            table(["method", "figures", "within two standard errors"], rows),
            "",
        ],
        "## What does not agree, and why",
        _part(readme, "## Cells that are off, and why"),
        *[
            "## How they were run",
            _part(readme, "## Protocol"),
            "## What was not run",
            _part(readme, "## Not run"),
        ],
        *[
            "",
            "## The tables",
            "",
            *_folded(
                report[report.index("## Table") : report.index(_TUTZ)], "## Table "
            ),
            "",
        ],
        *[
            _TUTZ,
            "",
            (
                "Test errors, means of 50 splits. The report in"
                " `benchmarks/reproduce/results` has each set with"
            ),
        ],
        *[
            "training and standard errors.",
            "",
            *_folded(_part(report, _TUTZ).split("\n### toy")[0], "### "),
        ],
    ]
    write("evidence/reproduction.md", "\n".join(lines))


def _folded(text: str, head: str) -> Iterator[str]:
    """Each part of a report as a box to open."""
    for part in text.split(head)[1:]:
        title, rows = part.split("\n", 1)
        for pattern, name in _NAMES.items():
            title = re.sub(f"^{pattern}$", name, title)
        yield f":::{{dropdown}} {title}\n{rows.strip()}\n:::\n"


def _part(text: str, head: str) -> str:
    """The part of a page below a head of the second level."""
    return text[text.index(head) + len(head) :].split("\n## ")[0]


# Leaderboard and bounds


def _means() -> pd.DataFrame:
    """Mean errors of each set and contestant, over the splits that every contestant has
    been through.
    """
    results = pd.read_csv(RESULTS / "leaderboard.csv")
    count = results["contestant"].nunique()
    used = results.groupby(["set", "split"]).filter(lambda split: len(split) == count)
    return used.groupby(["set", "contestant"])[[*MEASURES, "seconds"]].mean()


def _ranks(means: pd.DataFrame) -> pd.DataFrame:
    ranks = {
        name: (
            means[name]
            .groupby("set")
            .rank(ascending=not larger_is_better)
            .groupby("contestant")
            .mean()
        )
        for name, larger_is_better in MEASURES.items()
    }
    ranks["seconds a fit"] = means["seconds"].groupby("contestant").mean()
    return pd.DataFrame(ranks).sort_values("mae").reset_index()


def board() -> dict[str, str]:
    """A sentence for each contestant."""
    ranks = _ranks(_means())
    words = (
        "Leaderboard: mean rank {:.2f} of {} by absolute error, {:.2f} by ranked"
        " probability score."
    )
    return {
        row.contestant: words.format(
            np.round(row.mae, 2), len(ranks), np.round(row.rps, 2)
        )
        for row in ranks.itertuples()
    }


def _write_leaderboard() -> None:
    means = _means()
    ranks = _ranks(means)
    mae = means["mae"].unstack("contestant")[ranks["contestant"][:7]].reset_index()
    critical = critical_difference(len(ranks), len(mae))
    for name in ("mae", "rps"):
        shutil.copyfile(
            RESULTS / f"leaderboard-{name}.png",
            HERE / "evidence" / f"leaderboard-{name}.png",
        )
    lines = [
        *["# Leaderboard", ""],
        (
            f"{len(mae)} public data sets, one to four random splits each, the same for"
            " every contestant. Ranks are over the sets, 1 is best. Mean ranks that"
            f" differ by less than {critical:.1f} may differ by chance (Nemenyi's test,"
            " 5%)."
        ),
        *[
            "",
            (
                "Options of ordstat are the defaults, but redsvm chooses C by"
                " cross-validation, and the default of ordboost searches depth, rounds"
                ' and ridge. Rivals choose their rounds by cross-validation; "searched"'
                " ones have the best of ten settings."
            ),
            "",
        ],
        *["## Mean ranks", "", frame_table(ranks, 2), ""],
        (
            "`mae`: absolute error; `rps`: ranked probability score; `error`: share of"
            " wrong levels; `amae`: absolute error averaged over the levels; `kappa`:"
            " quadratic kappa; `log_loss`: mean of -log P(y)."
        ),
        "",
        "Contestants joined by a bar do not differ significantly (Nemenyi's test, 5%).",
        "",
        *["![Mean ranks by absolute error](leaderboard-mae.png)", ""],
        *["![Mean ranks by ranked probability score](leaderboard-rps.png)", ""],
        *["## Absolute error", ""],
        *[
            (
                "By set, for the first seven; `benchmarks/results/leaderboard.csv` has"
                " every split."
            ),
            "",
        ],
        *[frame_table(mae, 3), ""],
    ]
    write("evidence/leaderboard.md", "\n".join(lines))


def _write_tocuco() -> None:
    """The page that the benchmark writes."""
    write("evidence/tocuco.md", (RESULTS / "tocuco.md").read_text(encoding="utf-8"))


def _write_bounds() -> None:
    frame = pd.read_csv(RESULTS / "bounds.csv").drop(columns="seconds")
    held = (
        (frame["bound"] >= frame["test MAE"]).sum(),
        (frame["bound (new)"] >= frame["test MAE"]).sum(),
    )
    text = (
        "RED-SVM with the perceptron kernel and the C of the smallest bound (the"
        " PAC-Bayes bound holds for all C at once, so that the choice costs nothing)."
        " `bound`"
        " limits the expected absolute error by the training rows alone, `bound (new)`"
        " by the new rows; both hold with probability 95%. `trivial` is the largest"
        " possible error. The scaling of the columns, to the range of the training"
        " rows, counts as known in advance, as in the papers, and `bound` is for"
        " observations inside that range."
        f" `bound` was above the error on the new rows on {held[0]} of"
        f" {len(frame)} sets, `bound (new)` on {held[1]}."
    )
    frame["C"] = [f"2^{np.log2(value):.0f}" for value in frame["C"]]
    write(
        "evidence/bounds.md",
        "\n".join(["# Margin bounds", "", text, "", frame_table(frame, 3), ""]),
    )
