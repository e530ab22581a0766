"""Which share of the package's lines the tests reach, by family: `python -m benchmarks.covered [FILE]`.

FILE is what `coverage run --source=ordstat -m pytest` has left (`make coverage` makes it, as .coverage). `--before`
takes another such file and puts its share beside that of the first; `--missed solvers/likelihood` lists the lines of a
family that no test reaches.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from coverage import Coverage

import ordstat

ROOT = Path(ordstat.__file__).parent


@dataclass(frozen=True)
class Reached:
    """The statements of a file of the package, and those that no test reaches, by the numbers of their lines."""

    path: Path
    statements: tuple[int, ...]
    missed: tuple[int, ...]

    @property
    def family(self) -> str:
        """Its folder below the package, or itself where it lies in none."""
        return str(self.path if len(self.path.parts) == 1 else self.path.parent)


def reached(file: str, root: Path = ROOT) -> list[Reached]:
    """Of all files that were measured, in order."""
    measured = Coverage(data_file=file)
    measured.load()
    paths = sorted(path for name in measured.get_data().measured_files() if root in (path := Path(name)).parents)
    found = ((path, measured.analysis2(str(path))) for path in paths)
    return [Reached(path.relative_to(root), tuple(lines[1]), tuple(lines[3])) for path, lines in found]


def by_family(found: list[Reached]) -> pd.DataFrame:
    """Statements, those missed and the share reached in per cent, by family and of all."""
    counts = pd.DataFrame(
        [(one.family, len(one.statements), len(one.missed)) for one in found],
        columns=["family", "statements", "missed"],
    )
    table = counts.groupby("family").sum()
    table.loc["all"] = table.sum()
    return table.assign(reached=(100.0 * (1.0 - table["missed"] / table["statements"].clip(lower=1))).round(1))


def ranges(lines: tuple[int, ...]) -> str:
    """Runs of lines: (3, 4, 5, 9) is "3-5, 9"."""
    runs = np.split(np.array(lines), np.flatnonzero(np.diff(lines) > 1) + 1)
    return ", ".join(str(run[0]) if run.size == 1 else f"{run[0]}-{run[-1]}" for run in runs if run.size)


def main(file: str, before: str | None, missed: str | None) -> None:
    """Print the table, or what is missed in one family."""
    found = reached(file)
    if missed is not None:
        for one in found:
            if one.missed and one.family == missed:
                print(f"{one.path}: {ranges(one.missed)}")
        return
    table = by_family(found)
    print((table if before is None else table.assign(before=by_family(reached(before))["reached"])).to_string())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", default=".coverage")
    parser.add_argument("--before")
    parser.add_argument("--missed", metavar="FAMILY")
    main(**vars(parser.parse_args()))
