"""R's ordinal::clm and clm.fit, in one R process that stays up between rounds."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

SCRIPT = Path(__file__).with_name("clm.R")


class RClm:
    """One of R's two calls; both share a process."""

    def __init__(self, name: str, call: str, process: subprocess.Popen[str]) -> None:
        self.name, self.call, self.process = name, call, process

    def seconds(self, repeats: int) -> float:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(f"{self.call} {repeats}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())


def available() -> bool:
    """Whether Rscript with the package ordinal is on this machine."""
    if shutil.which("Rscript") is None:
        return False
    probe = ["Rscript", "-e", "q(status = !requireNamespace('ordinal', quietly = TRUE))"]
    return subprocess.run(probe, capture_output=True, check=False).returncode == 0


def contestants(frame: pd.DataFrame) -> list[RClm]:
    """`clm` (the whole call) and `clm.fit` (the engine) on this frame; columns x1..xp and y."""
    folder = Path(tempfile.mkdtemp(prefix="ordstat-bench-"))
    X = frame.drop(columns="y").to_numpy()
    np.asfortranarray(X).T.tofile(folder / "X.bin")
    frame["y"].to_numpy(np.int32).tofile(folder / "y.bin")
    command = ["Rscript", str(SCRIPT), str(folder / "X.bin"), str(folder / "y.bin"), str(X.shape[0]), str(X.shape[1])]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout and process.stdout.readline().strip() == "ready"
    shutil.rmtree(folder)
    return [RClm("R clm", "clm", process), RClm("R clm.fit", "clm.fit", process)]


def close(clm: list[RClm]) -> None:
    """End the R process that these contestants share."""
    for contestant in clm[:1]:
        assert contestant.process.stdin
        contestant.process.stdin.close()
        contestant.process.wait()
