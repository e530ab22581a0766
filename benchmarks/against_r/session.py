"""One R process that answers for all specifications, and what an answer is made of."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks.against_r.specs import Spec

SCRIPT = Path(__file__).with_name("session.R")


@dataclass(frozen=True)
class Answer:
    """What one side says of a specification.

    Attributes
    ----------
    numbers : dict of str to array
        "loglik", "estimates", "se", "prob" (row by row), "anova.I" (statistics),
        "anova.I.df", "drop1", ...
    words : dict of str to str
        Errors and warnings: "fit.error", "drop1.warning", ...
    """

    numbers: dict[str, np.ndarray] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)

    def number(self, name: str) -> float:
        return float(self.numbers[name][0])


class Session:
    """R, started once; ends with the `with` block.

    Attributes
    ----------
    version : str
        Of the package ordinal.
    balanced : bool
        Whether its type III averages over the levels of other factors, as later
        versions do.
    """

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="ordstat-against-r-")
        self._process = subprocess.Popen(
            ["Rscript", str(SCRIPT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        about = self.read()
        self.version, self.balanced = (
            about.words["version"],
            bool(about.number("balanced")),
        )

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *problem: object) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()
        self._folder.cleanup()

    def ask(self, spec: Spec, kinds: Sequence[str], mends: Sequence[str] = ()) -> None:
        """Send a specification, and which faults of R to mend for it; `read` waits for
        the answer.
        """
        path = Path(self._folder.name) / "data.csv"
        write_csv(spec, path)
        self._send("fit", str(path), spec.r, ",".join(mends) or "none", *kinds)

    def answer(
        self, spec: Spec, kinds: Sequence[str] = (), mends: Sequence[str] = ()
    ) -> Answer:
        """What R says of a specification."""
        self.ask(spec, kinds, mends)
        return self.read()

    def rows(self) -> Answer:
        """The rows behind the last fit; see `exact.Rows`."""
        self._send("rows")
        return self.read()

    def held(self, place: int, value: float) -> float:
        """R's log-likelihood of the last model with a location or scale effect held;
        NaN where it stops.
        """
        self._send("held", str(place + 1), repr(value))
        actual = self.read()
        return actual.number("loglik") if "loglik" in actual.numbers else float("nan")

    def _send(self, *words: str) -> None:
        assert self._process.stdin
        self._process.stdin.write("\t".join(words) + "\n")
        self._process.stdin.flush()

    def read(self) -> Answer:
        assert self._process.stdout
        answer = Answer()
        for line in self._process.stdout:
            kind, *words = line.rstrip("\n").split("\t")
            if kind == "end":
                return answer
            if kind == "n":
                answer.numbers[words[0]] = np.array(words[1].split(), dtype=float)
            elif kind == "w":
                answer.words[words[0]] = words[1]
            else:
                raise RuntimeError(
                    f"R printed {line!r}, which is no line of an answer."
                )
        raise RuntimeError("R ended before its answer did.")


def write_csv(spec: Spec, path: Path) -> None:
    """The columns in use, numbers with 17 digits, missing values as NA."""
    spec.data.to_csv(path, index=False, na_rep="NA", float_format="%.17g")
