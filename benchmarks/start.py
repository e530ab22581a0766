"""From the start of a process to the first summary: Python with ordstat, and R with
ordinal.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec

from benchmarks.contestants import r_clm
from benchmarks.timing import Timed, ratio, rounds

#: With compiled files of Python kept, as installed packages have them.
ENVIRONMENT = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
PYTHON = (
    "from ordstat import datasets, ordfit;str(ordfit('rating ~ temp + contact',"
    " data=datasets.load('wine')).summary())"
)
#: What every fit needs, without a line of ordstat: the floor under its start.
LIBRARIES = "import pandas, scipy.linalg, scipy.special"
#: ordstat does not need pyarrow, but pandas imports it wherever it is installed.
WITHOUT_PYARROW = "import sys; sys.modules['pyarrow'] = None;"
R = (
    "suppressMessages(library(ordinal)); invisible(capture.output(summary(clm(rating ~"
    " temp + contact, data = wine))))"
)


def run(quick: bool = False) -> list[dict[str, object]]:
    """Median seconds of each, and the ratio to ordstat."""
    field = [
        _process("ordstat", [sys.executable, "-c", WITHOUT_PYARROW + PYTHON]),
        _process(
            "pandas and scipy", [sys.executable, "-c", WITHOUT_PYARROW + LIBRARIES]
        ),
        _process("Python alone", [sys.executable, "-c", ""]),
    ]
    if find_spec("pyarrow"):
        field.append(_process("ordstat, with pyarrow", [sys.executable, "-c", PYTHON]))
    if r_clm.has("ordinal"):
        field.append(_process("R clm", ["Rscript", "-e", R]))
    taken = rounds(list(field), 3 if quick else 9)
    return [
        {
            "contestant": c.name,
            "seconds": sorted(taken[c.name])[len(taken[c.name]) // 2],
            "over ordstat": ratio(taken, c.name, "ordstat"),
        }
        for c in field
    ]


def _process(name: str, command: list[str]) -> Timed:
    return Timed(
        name,
        lambda: subprocess.run(
            command, check=True, capture_output=True, env=ENVIRONMENT
        ),
    )
