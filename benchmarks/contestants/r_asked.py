"""R's answers of a suite, with their seconds, in one R process that stays up between
rounds.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

SCRIPT = Path(__file__).with_name("asked.R")


class RAnswers:
    """An R process that has read the frames and answers jobs by name; by default those
    of the suite `asked`.
    """

    def __init__(self, frames: dict[str, pd.DataFrame], script: Path = SCRIPT) -> None:
        folder = Path(tempfile.mkdtemp(prefix="ordstat-bench-"))
        for name, frame in frames.items():
            frame.to_csv(folder / f"{name}.csv", index=False)
        self.process = subprocess.Popen(
            ["Rscript", str(script), str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout
        ready = self.process.stdout.readline().strip()
        shutil.rmtree(folder)
        if ready != "ready":
            raise RuntimeError(f"{script} ended before it was asked anything.")

    def ask(self, job: str, repeats: int) -> np.ndarray | None:
        """Seconds of the processor for a call, then its numbers; None where R lacks a
        package.
        """
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(f"{job} {repeats}\n")
        self.process.stdin.flush()
        words = self.process.stdout.readline().split()
        if not words:
            raise RuntimeError(f"R ended in the job {job!r}.")
        return None if words == ["missing"] else np.array(words, dtype=float)

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()


class RJob:
    """One job as a contestant; `numbers` are those of its last call."""

    def __init__(self, name: str, job: str, answers: RAnswers) -> None:
        self.name = name
        self.job = job
        self.answers = answers
        self.numbers = np.zeros(0)

    def seconds(self, repeats: int) -> float:
        answer = self.answers.ask(self.job, repeats)
        assert answer is not None
        self.numbers = answer[1:]
        return float(answer[0])
