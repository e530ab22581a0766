"""Draw the pictures of the README and of the first page: `python docs/picture.py`."""

from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from PIL import Image

from ordstat import datasets, ordfit


def write(figure: Figure, name: str) -> None:
    """Write a PNG of 128 colours, a third of the size of all colours."""
    target = Path(__file__).parent / "_static" / f"{name}.png"
    figure.savefig(target, dpi=110, facecolor="white")
    Image.open(target).convert("RGB").quantize(128).save(target, optimize=True)


anes = datasets.load("anes96")
fit = ordfit("PID ~ selfLR + educ + age", anes)
labels = {"selfLR": "own view, from 1 = liberal to 7 = conservative", "PID": "party"}

figure, (left, right) = plt.subplots(
    1, 2, figsize=(11, 3.8), layout="constrained", facecolor="white"
)
fit.plot.effects("selfLR", ax=left, labels=labels)
fit.plot.latent(ax=right, labels=labels)
write(figure, "ordstat")
# Small ones for the two columns of the first page, so that their letters are large.
for name in ("predicted", "latent"):
    figure, ax = plt.subplots(
        figsize=(5.2, 3.8), layout="constrained", facecolor="white"
    )
    (
        fit.plot.effects("selfLR", ax=ax, labels=labels)
        if name == "predicted"
        else fit.plot.latent(ax=ax, labels=labels)
    )
    write(figure, name)
