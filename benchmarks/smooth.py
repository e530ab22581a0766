"""Three smooth terms of 15 functions beside R's mgcv, family ocat: seconds of the
processor, and the criterion (minus REML) of both.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from ordstat import ordfit

#: Rows.
SIZES = (900, 10_000)
LEVELS = 5
_REPEATS = 5
FORMULA = "y ~ s(x0, bs='ps', k=15) + s(x1, bs='ps', k=15) + s(x2, bs='ps', k=15)"
#: Prints the least seconds of two fits, and the criterion.
R = f"""
suppressMessages(library(mgcv))
data <- read.csv(commandArgs(TRUE)[1])
seconds <- Inf
for (i in 1:2) {{
  taken <- system.time(fit <- gam({FORMULA}, family = ocat(R = {LEVELS}), data = data,
                                  method = "REML"))
  seconds <- min(seconds, taken[1] + taken[2])
}}
cat(seconds, format(fit$gcv.ubre, digits = 12))
"""


def waves(n: int, seed: int = 1) -> pd.DataFrame:
    """A wave, a bend and nothing, on the latent scale."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 3))
    H = 2.0 * np.sin(2.0 * np.pi * X[:, 0]) + 3.0 * (X[:, 1] - 0.5) ** 2
    frame = pd.DataFrame(X, columns=["x0", "x1", "x2"])
    frame["y"] = pd.qcut(H + rng.logistic(size=n), LEVELS, labels=False) + 1
    return frame


def run(quick: bool = False) -> list[dict[str, object]]:
    """A row for each size."""
    rows: list[dict[str, object]] = []
    for n in SIZES[:1] if quick else SIZES:
        frame = waves(n)
        taken = []
        for _ in range(_REPEATS):
            began = time.process_time()
            fit = ordfit(FORMULA, frame)
            taken.append(time.process_time() - began)
        row: dict[str, object] = {
            "n": n,
            "seconds": min(taken),
            "criterion": fit.fit.smooths.criterion,
        }
        if shutil.which("Rscript") is not None:
            seconds, criterion = _mgcv(frame)
            row["mgcv seconds"] = seconds
            row["mgcv criterion"] = criterion
            row["ratio"] = seconds / min(taken)
        rows.append(row)
    return rows


def _mgcv(frame: pd.DataFrame) -> tuple[float, float]:
    """Seconds and criterion of R's mgcv."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.csv"
        frame.to_csv(path, index=False)
        command = ["Rscript", "-e", R, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, criterion = done.stdout.split()
    return float(seconds), float(criterion)
