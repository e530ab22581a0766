"""Draw the picture of the README and of the first page, on white and on the dark ground
of the site: `python docs/picture.py`.
"""

from pathlib import Path

import matplotlib.pyplot as plt
from PIL import Image

from ordstat import datasets, ordfit

FOLDER = Path(__file__).parent / "_static"
#: The grounds of the site's pages, by the name of the file.
GROUNDS = {
    "first.png": ("default", "white"),
    "first-dark.png": ("dark_background", "#14181e"),
}

anes = datasets.load("anes96")
fit = ordfit("PID ~ selfLR + educ + age", anes)
labels = {
    "selfLR": "own political view, from 1 (liberal) to 7 (conservative)",
    "PID": "party",
}
title = "How a political view goes with party identification"
for name, (theme, ground) in GROUNDS.items():
    with plt.style.context(theme):
        # Small, so that letters can be read where a telephone halves the picture.
        figure, ax = plt.subplots(figsize=(6.8, 4), layout="constrained")
        fit.plot.stacked("selfLR", ax=ax, labels=labels, title=title)
        ax.set_facecolor(ground)
        figure.savefig(FOLDER / name, dpi=160, facecolor=ground)
    # 128 colours take a third of the size of all colours.
    picture = Image.open(FOLDER / name).convert("RGB").quantize(128)
    picture.save(FOLDER / name, optimize=True)
