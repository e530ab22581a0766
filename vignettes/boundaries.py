"""Two-dimensional pictures of Lin (2008, fig. 3.3 and 4.3) and their errors, for boundaries.md: `make figures`."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

from ordstat import datasets, ordfit

FOLDER = Path(__file__).parent / "figures"
TRAIN, NEW = datasets.quadratic_bands(500, seed=1), datasets.quadratic_bands(10_000, seed=2)
FORMULA = "rank ~ x1 + x2"
LEARNERS = {
    "200 stumps": {"method": "orboost-all", "rounds": 200},
    "200 perceptrons": {"method": "orboost-all", "rounds": 200, "learner": "perceptron"},
    "200 normalised sigmoids": {"method": "orboost-all", "rounds": 200, "learner": "sigmoid"},
    "all perceptrons: RED-SVM": {"method": "redsvm", "kernel": "perceptron", "C": 100},
}


def main() -> None:
    """Three pictures."""
    boosted = ordfit(FORMULA, TRAIN, "adaboost-or", rounds=1000)
    by_rounds = {f"T = {t}": boosted.at(t) for t in (1, 10, 100, 1000)}
    by_learner = {name: ordfit(FORMULA, TRAIN, **options) for name, options in LEARNERS.items()}
    pictures = {
        "boundaries-rounds": panels(by_rounds),
        "boundaries-learners": panels(by_learner),
        "boundaries-errors": boosted.plot.rounds(newdata=NEW).get_figure(),
    }
    FOLDER.mkdir(exist_ok=True)
    for name, figure in pictures.items():
        save(figure, FOLDER / f"{name}.png")


def save(figure: Figure, path: Path) -> None:
    """In 64 colours, which makes a file of some 50 kB."""
    drawn = BytesIO()
    figure.savefig(drawn, dpi=80, format="png")
    Image.open(drawn).convert("RGB").quantize(64, dither=Image.Dither.NONE).save(path, optimize=True)


def panels(fits: dict[str, object]) -> Figure:
    """Four fits, with their error on new rows and the boundaries that the ranks were made by."""
    figure, grid = plt.subplots(2, 2, figsize=(7.2, 7.0), layout="constrained", sharex=True, sharey=True)
    for ax, (name, fit) in zip(grid.flat, fits.items(), strict=True):
        regions(ax, fit)
        truth(ax)
        error = fit.errors(NEW).loc["absolute error", "new data"]
        ax.set_title(f"{name}: error {error:.3f}", loc="left", fontsize=10)
        ax.label_outer()
    return figure


def regions(ax: Axes, fit: object) -> None:
    """Predicted ranks over the square, and the rows of the fit in the colour of their own rank."""
    side, edges = np.linspace(-0.03, 1.03, 300), np.arange(-0.5, 4.0)
    x1, x2 = np.meshgrid(side, side)
    ranks = fit.predict(pd.DataFrame({"x1": x1.ravel(), "x2": x2.ravel()})).cat.codes.to_numpy()
    ax.contourf(x1, x2, ranks.reshape(x1.shape), levels=edges, cmap="viridis", alpha=0.45)
    looks = {"cmap": "viridis", "vmin": 0, "vmax": 3, "edgecolors": "white", "linewidths": 0.3}
    ax.scatter(TRAIN["x1"], TRAIN["x2"], s=9, c=TRAIN["rank"].cat.codes, **looks)
    ax.set(xlabel="x1", ylabel="x2")


def truth(ax: Axes) -> None:
    """The three curves between the ranks, dashed."""
    x = np.linspace(0.0, 1.0, 200)
    for a in (1 / 6, 5 / 12, 2 / 3):
        ax.plot(x, a + (x - 0.5) ** 2, color="#d55e00", linewidth=1.3, linestyle=(0, (4, 2)))


if __name__ == "__main__":
    main()
