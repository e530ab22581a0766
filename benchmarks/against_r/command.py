"""`python -m benchmarks against_r --specs 600 --seed 1 [--kind cauchit-scale] [--only
NUMBER ...] [--save FOLDER]`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.against_r.case import Case
from benchmarks.against_r.compare import REFITS, WALD
from benchmarks.against_r.likelihoods import Heights
from benchmarks.against_r.report import Tally
from benchmarks.against_r.session import Session
from benchmarks.against_r.specs import FLEXIBLE, KINDS, Spec
from benchmarks.contestants.r_clm import has

#: What takes long: one specification in this many has its terms dropped, freed and
#: scaled, and one its profiles, if it has few rows.
REFITTED = 3
PROFILED = 10
FEW_ROWS = 200


def main(arguments: Sequence[str]) -> None:
    wanted = _parser().parse_args(arguments)
    if not has("ordinal"):
        sys.exit(
            "against_r needs R: there is no Rscript with the package ordinal on this"
            " machine."
        )
    draw = KINDS[wanted.kind]
    tally = Tally(wanted.verbose, wanted.save)
    specs = (draw(wanted.seed, number) for number in wanted.only or range(wanted.specs))
    with Session() as session:
        print(
            f"R's ordinal {session.version}, {wanted.kind}, seed {wanted.seed}",
            flush=True,
        )
        for spec in specs:
            tally.add(_case(spec, wanted.kind, session))
    _conclude(tally)


def _case(spec: Spec, kind: str, session: Session) -> Case | Heights:
    if kind != "any":
        return Heights.of(spec, session)
    return Case.of(spec, kinds_of(spec), session)


def kinds_of(spec: Spec) -> tuple[str, ...]:
    """What to ask beyond estimates; where the link has a parameter R has no predict()
    of new rows, and no profiles.
    """
    if spec.link in FLEXIBLE:
        return ("observed", *WALD)
    refitted = REFITS if spec.number % REFITTED == 0 else ()
    profiled = spec.number % PROFILED == 0 and len(spec.frame) <= FEW_ROWS
    return ("predict", *WALD, *refitted, *(("profile",) if profiled else ()))


def _conclude(tally: Tally) -> None:
    print(f"\n{tally.counts().to_string(index=False)}")
    if tally.explained:
        print("\nFaults of R:", *tally.faults(), sep="\n")
    if tally.refused:
        print(
            f"\nordstat refuses {len(tally.refused)} that R fits:"
            f" {' '.join(map(str, tally.refused))}"
        )
    print(
        f"\n{len(tally.failing)} specifications disagree otherwise:"
        f" {' '.join(map(str, tally.failing))}"
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks against_r", description=__doc__
    )
    parser.add_argument(
        "--kind",
        choices=list(KINDS),
        default="any",
        help="cauchit-scale compares log-likelihoods alone",
    )
    parser.add_argument(
        "--specs", type=int, default=600, help="how many specifications"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--only",
        type=int,
        nargs="+",
        metavar="NUMBER",
        help="specifications of this seed to repeat",
    )
    parser.add_argument(
        "--save",
        type=Path,
        metavar="FOLDER",
        help="write data and calls of those that disagree there",
    )
    parser.add_argument(
        "--verbose",
        action="store_true",
        help="print disagreements that are R's fault too",
    )
    return parser
