"""R's clm, polr, orm, vglm and multinom, in one R process that stays up."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd

SCRIPT = Path(__file__).with_name("clm.R")
#: Calls of the script, and where R finds them.
PACKAGES = {
    "clm": "ordinal",
    "clm.fit": "ordinal",
    "clm.wine": "ordinal",
    "clm.wine.errors": "ordinal",
    "profile": "ordinal",
    "nominal": "ordinal",
    "scale": "ordinal",
    "flexible": "ordinal",
    "polr": "MASS",
    "orm": "rms",
    "vglm": "VGAM",
    "cratio": "VGAM",
    "sratio": "VGAM",
    "acat": "VGAM",
    "multinomial": "VGAM",
    "multinom": "nnet",
    "rrvglm": "VGAM",
}


class RClm:
    """One of R's calls, timed on the wall or by the processor; all share a process."""

    def __init__(
        self, name: str, call: str, process: subprocess.Popen[str], processor: bool
    ) -> None:
        self.name, self.call, self.process, self.processor = (
            name,
            call,
            process,
            processor,
        )

    def seconds(self, repeats: int) -> float:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(f"{self.call} {repeats}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline().split()[self.processor])


@lru_cache
def has(package: str) -> bool:
    """Whether Rscript with this package is on this machine."""
    if shutil.which("Rscript") is None:
        return False
    probe = [
        "Rscript",
        "-e",
        f"q(status = !requireNamespace('{package}', quietly = TRUE))",
    ]
    return subprocess.run(probe, capture_output=True, check=False).returncode == 0


def contestants(
    frame: pd.DataFrame, calls: Iterable[str], processor: bool = False
) -> list[RClm]:
    """R's calls on this frame of columns x1..xp and y; those whose package is missing
    are left out.
    """
    wanted = [call for call in calls if has("ordinal") and has(PACKAGES[call])]
    return _started(frame, wanted, processor) if wanted else []


def _started(frame: pd.DataFrame, calls: list[str], processor: bool) -> list[RClm]:
    folder = Path(tempfile.mkdtemp(prefix="ordstat-bench-"))
    X = frame.drop(columns="y").to_numpy()
    np.asfortranarray(X).T.tofile(folder / "X.bin")
    frame["y"].to_numpy(np.int32).tofile(folder / "y.bin")
    command = [
        "Rscript",
        str(SCRIPT),
        str(folder / "X.bin"),
        str(folder / "y.bin"),
        str(X.shape[0]),
        str(X.shape[1]),
    ]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout and process.stdout.readline().strip() == "ready"
    shutil.rmtree(folder)
    return [RClm(f"R {call}", call, process, processor) for call in calls]


def close(clm: list[RClm]) -> None:
    """End the R process that these contestants share, if there is one."""
    for contestant in clm[:1]:
        assert contestant.process.stdin
        contestant.process.stdin.close()
        contestant.process.wait()
