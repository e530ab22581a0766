"""Draw the picture of the README and of the first page: `python docs/picture.py`."""

from pathlib import Path

import matplotlib.pyplot as plt
from PIL import Image

from ordstat import datasets, ordfit

TARGET = Path(__file__).parent / "_static" / "first.png"

anes = datasets.load("anes96")
fit = ordfit("PID ~ selfLR + educ + age", anes)
labels = {
    "selfLR": "own political view, from 1 (liberal) to 7 (conservative)",
    "PID": "party",
}
# Small, so that letters can be read where a telephone halves the picture.
figure, ax = plt.subplots(figsize=(6.8, 4), layout="constrained", facecolor="white")
title = "How a political view goes with party identification"
fit.plot.stacked("selfLR", ax=ax, labels=labels, title=title)
figure.savefig(TARGET, dpi=160, facecolor="white")
# 128 colours take a third of the size of all colours.
Image.open(TARGET).convert("RGB").quantize(128).save(TARGET, optimize=True)
