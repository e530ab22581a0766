"""`python -m benchmarks [clm svm boosting ...] [--quick]`: run suites, print tables,
write CSV files.

`python -m benchmarks leaderboard` keeps results of its own (`--help` after it tells
of its options); its rivals are `pip install ".[boosters]" mord`.
`python -m benchmarks tocuco` keeps its results too, beside published means (`--quick`:
three splits; `--help` after it tells of its options).
`python -m benchmarks against_r` compares answers, not seconds; `--help` after it tells
of its own options.

One BLAS thread for everybody: the variables are set before NumPy is loaded, and R
inherits them.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import pandas as pd  # noqa: E402

from benchmarks import (  # noqa: E402
    against_r,
    alone,
    asked,
    blocks,
    boosting,
    bounds,
    clm,
    conformal,
    cost,
    effects,
    families,
    leaderboard,
    leaderboard_page,
    levels,
    mixed,
    mixed_boundary,
    mixed_simulation,
    online,
    ordboost,
    ordering,
    penalised,
    prediction,
    smooth,
    start,
    survey,
    svm,
    tocuco,
    trees,
    wide,
)

SUITES = {
    "start": start.run,
    "clm": clm.run,
    "wine": clm.wine,
    "profiles": clm.profiles,
    "families": families.run,
    "levels": levels.run,
    "penalised": penalised.run,
    "wide": wide.run,
    "smooth": smooth.run,
    "asked": asked.run,
    "effects": effects.run,
    "survey": survey.run,
    "mixed": mixed.run,
    "mixed-boundary": mixed_boundary.run,
    "mixed-simulation": mixed_simulation.run,
    "svm": svm.run,
    "selection": svm.selection,
    "linear": svm.linear,
    "landmarks": svm.landmarks,
    "blocks": blocks.run,
    "boosting": boosting.run,
    "ordboost": ordboost.run,
    "online": online.run,
    "prediction": prediction.run,
    "alone": alone.run,
    "cost": cost.run,
    "trees": trees.run,
    "bounds": bounds.run,
    "conformal": conformal.run,
    "ordering": ordering.run,
}
RESULTS = Path(__file__).parent / "results"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "suite", nargs="*", choices=[[], *SUITES], help="default: all of them"
    )
    parser.add_argument(
        "--quick", action="store_true", help="small sizes and few rounds"
    )
    wanted = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    for suite in wanted.suite or SUITES:
        table = pd.DataFrame(SUITES[suite](quick=wanted.quick))
        table.to_csv(RESULTS / f"{suite}.csv", index=False)
        text = table.to_string(index=False, float_format=lambda v: f"{v:.4g}")
        print(f"\n{suite}\n{text}", flush=True)


def leaders(arguments: list[str]) -> None:
    """The leaderboard keeps a file of its own; of a run that goes on, its page tells of
    the splits that are done.
    """
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks leaderboard", description=leaderboard.__doc__
    )
    parser.add_argument("--quick", action="store_true", help="one split of each set")
    parser.add_argument("--done", action="store_true", help="only show what is done")
    given = parser.parse_args(arguments)
    if not given.done:
        leaderboard.run(given.quick)
    results = pd.read_csv(leaderboard.RESULTS)
    table = pd.DataFrame(leaderboard.summary(results))
    print(table.to_string(index=False, float_format=lambda v: f"{v:.4g}"))
    leaderboard_page.write(results, RESULTS)


if __name__ == "__main__":
    if sys.argv[1:2] == ["leaderboard"]:
        leaders(sys.argv[2:])
    elif sys.argv[1:2] == ["tocuco"]:
        tocuco.main(sys.argv[2:])
    elif sys.argv[1:2] == ["against_r"]:
        against_r.main(sys.argv[2:])
    else:
        main()
