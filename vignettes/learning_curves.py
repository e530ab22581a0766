"""Learning curves of Herbrich, Graepel & Obermayer (2000, sec. 7.5.1), for learning-curves.md: `make figures`.

Prints the table of the vignette and draws its two pictures: some three minutes on one processor.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[name] = "1"

import matplotlib  # noqa: E402

matplotlib.use("agg")

import cvxpy  # noqa: E402
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
import numpy.typing as npt  # noqa: E402
import pandas as pd  # noqa: E402

from ordstat import datasets, ordfit  # noqa: E402
from ordstat.svm.kernels import Polynomial  # noqa: E402

FOLDER = Path(__file__).parent / "figures"
C = 1e6
TUBE = 0.5
SIZES = range(5, 50, 5)
REPEATS = 100
RANKS = np.arange(1.0, 6.0)

FloatArray = npt.NDArray[np.float64]
Ranker = Callable[[pd.DataFrame], FloatArray]


def learned(method: str, train: pd.DataFrame) -> Ranker:
    """A method of ordstat with the kernel (x'z + 1)^2."""
    fit = ordfit("rank ~ x1 + x2", data=train, method=method, C=C, kernel=Polynomial(gamma=1.0, degree=2), scaling=None)
    return lambda rows: np.asarray(fit.predict(rows, type="class"), dtype=float)


def regressed(targets: FloatArray, train: pd.DataFrame) -> Ranker:
    """Support vector regression on a number for each rank, by its primal; the rank whose number is nearest."""
    columns = _columns(train)
    w, b = cvxpy.Variable(columns.shape[1]), cvxpy.Variable()
    misses = cvxpy.abs(columns @ w + b - targets[train["rank"].cat.codes])
    loss = cvxpy.sum(cvxpy.pos(misses - TUBE)) + cvxpy.sum_squares(w) / (2 * C)
    cvxpy.Problem(cvxpy.Minimize(loss)).solve(solver=cvxpy.CLARABEL)
    edges = (targets[1:] + targets[:-1]) / 2
    return lambda rows: 1.0 + np.searchsorted(edges, _columns(rows) @ w.value + b.value)


def _columns(rows: pd.DataFrame) -> FloatArray:
    """(x'z + 1)^2 as products of columns, but for its constant, which the bias takes up."""
    x1, x2 = rows["x1"].to_numpy(), rows["x2"].to_numpy()
    half = np.sqrt(2.0)
    return np.column_stack([x1**2, x2**2, half * x1 * x2, half * x1, half * x2])


METHODS: dict[str, Callable[[pd.DataFrame], Ranker]] = {
    "rank-svm": lambda train: learned("rank-svm", train),
    "ovo": lambda train: learned("ovo", train),
    "SVR on 1..5": lambda train: regressed(RANKS, train),
    "SVR on exp(1)..exp(5)": lambda train: regressed(np.exp(RANKS), train),
}


def inversions(truth: FloatArray, answers: FloatArray) -> float:
    """Share of the pairs of different ranks whose answers are not in the same order; a tie is an inversion."""
    above = truth[:, None] > truth
    return float((answers[:, None] <= answers)[above].mean())


def drawn(data: pd.DataFrame, size: int, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
    """A training sample with every rank in it."""
    while True:
        chosen = np.zeros(len(data), dtype=bool)
        chosen[rng.choice(len(data), size, replace=False)] = True
        if data["rank"][chosen].nunique() == 5:
            return chosen


def curves(data: pd.DataFrame) -> pd.DataFrame:
    """Inversions on the rows left over: one row a method, size and repeat."""
    rng = np.random.default_rng(2000)
    found = []
    for size in SIZES:
        for repeat in range(REPEATS):
            chosen = drawn(data, size, rng)
            train, test = data[chosen], data[~chosen]
            truth = test["rank"].to_numpy(dtype=float)
            for name, fit in METHODS.items():
                found.append((name, size, repeat, inversions(truth, fit(train)(test))))
    return pd.DataFrame(found, columns=["method", "size", "repeat", "inversions"])


def draw_curves(table: pd.DataFrame, half: pd.DataFrame) -> plt.Figure:
    """Means with 95% intervals."""
    figure, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
    for name, style, shift in zip(table, ("-o", "--s", "-.^", ":v"), (-0.3, -0.1, 0.1, 0.3), strict=True):
        ax.errorbar(table.index + shift, table[name], half[name], fmt=style, ms=4, capsize=2, label=name)
    ax.set(xlabel="training rows", ylabel="share of pairs in the wrong order", ylim=(0, None))
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return figure


def draw_assignments(data: pd.DataFrame, sizes: tuple[int, ...] = (5, 15, 25)) -> plt.Figure:
    """Ranks given to the unit square after some training samples, and the true ones."""
    side = (np.arange(100) + 0.5) / 100
    x1, x2 = np.meshgrid(side, side)
    square = pd.DataFrame({"x1": x1.ravel(), "x2": x2.ravel()})
    score = 10 * (square["x1"] - 0.5) * (square["x2"] - 0.5)
    truth = 1.0 + np.searchsorted(datasets.HERBRICH_THRESHOLDS, score)
    rng = np.random.default_rng(25)
    figure, axes = plt.subplots(len(sizes), 5, figsize=(9, 5.6), layout="constrained", sharex=True, sharey=True)
    for size, row in zip(sizes, axes, strict=True):
        train = data[drawn(data, size, rng)]
        answers = {name: fit(train)(square) for name, fit in METHODS.items()} | {"without noise": truth}
        for (name, answer), ax in zip(answers.items(), row, strict=True):
            ax.imshow(answer.reshape(x1.shape), origin="lower", extent=(0, 1, 0, 1), cmap="cividis", vmin=1, vmax=5)
            ax.plot(train["x1"], train["x2"], "o", ms=3, mfc="white", mec="black", mew=0.6)
            ax.set(xticks=(), yticks=())
            if size == sizes[0]:
                ax.set_title(name, fontsize=10)
        row[0].set_ylabel(f"{size} rows")
    return figure


def main() -> None:
    data = datasets.herbrich(1000, seed=1)
    by = curves(data).groupby(["size", "method"])["inversions"]
    table = by.mean().unstack()[list(METHODS)]
    half = (1.96 * by.std(ddof=1) / np.sqrt(REPEATS)).unstack()[list(METHODS)]
    cells = table.map("{:.3f}".format) + half.map(" +- {:.3f}".format)
    print(cells.to_string())
    FOLDER.mkdir(exist_ok=True)
    pictures = {"learning-curves": draw_curves(table, half), "rank-assignments": draw_assignments(data)}
    for name, figure in pictures.items():
        figure.savefig(FOLDER / f"{name}.png", dpi=80, metadata={"Software": None})


if __name__ == "__main__":
    main()
