"""Draw the picture of the README and of the first page: `python docs/picture.py`."""

from pathlib import Path

import matplotlib.pyplot as plt
from PIL import Image

from ordstat import datasets, ordfit

target = Path(__file__).parent / "_static" / "ordstat.png"
anes = datasets.load("anes96")
fit = ordfit("PID ~ selfLR + educ + age", anes)
labels = {"selfLR": "own view, from 1 = liberal to 7 = conservative", "PID": "party"}

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained", facecolor="white")
fit.plot.effects("selfLR", ax=left, labels=labels)
fit.plot.latent(ax=right, labels=labels)
figure.savefig(target, dpi=110)
Image.open(target).convert("RGB").quantize(128).save(target, optimize=True)  # a third of the size
