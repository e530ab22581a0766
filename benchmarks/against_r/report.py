"""What came of the comparisons: a line a disagreement, tables of counts, and failing
specifications as files.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.against_r.case import Case
from benchmarks.against_r.compare import Check
from benchmarks.against_r.known import FAULTS, Fault, explanation
from benchmarks.against_r.likelihoods import Heights
from benchmarks.against_r.session import write_csv


@dataclass
class Tally:
    """Counts over all specifications."""

    verbose: bool
    save: Path | None = None
    made: Counter[str] = field(default_factory=Counter)
    agreed: Counter[str] = field(default_factory=Counter)
    explained: Counter[tuple[str, str]] = field(default_factory=Counter)
    failing: list[int] = field(default_factory=list)
    refused: list[int] = field(default_factory=list)

    def add(self, case: Case | Heights) -> None:
        """Count a specification's comparisons, and print those that disagree."""
        unexplained = []
        for check in case.checks:
            self.made[check.kind] += 1
            if check.agrees:
                self.agreed[check.kind] += 1
                continue
            fault = explanation(case, check)
            if (
                fault is None
                and check.kind == "refusal"
                and "fit.error" in case.ours.words
            ):
                self.refused.append(case.spec.number)
            elif fault is None:
                unexplained.append(check)
            else:
                self.explained[check.kind, fault.name] += 1
            if fault is None or self.verbose:
                print(line(case, check, fault), flush=True)
        if unexplained:
            self.failing.append(case.spec.number)
            print(f"    {case.spec.python}\n    {case.spec.r}", flush=True)
            if self.save is not None:
                save(case, unexplained, self.save)

    def counts(self) -> pd.DataFrame:
        """One row a kind of comparison: made, agreed, explained by faults of R, refused
        by ordstat, and the rest.
        """
        by_kind = Counter[str]()
        for (kind, _), count in self.explained.items():
            by_kind[kind] += count
        rows = [
            {
                "comparison": kind,
                "made": made,
                "agree": self.agreed[kind],
                "R's fault": by_kind[kind],
                "refused": refused,
                "disagree": made - self.agreed[kind] - by_kind[kind] - refused,
            }
            for kind, made in self.made.items()
            for refused in [len(self.refused) if kind == "refusal" else 0]
        ]
        table = pd.DataFrame(
            rows,
            columns=["comparison", "made", "agree", "R's fault", "refused", "disagree"],
        )
        total = {"comparison": "all"} | table.drop(columns="comparison").sum().to_dict()
        return pd.concat([table, pd.DataFrame([total])], ignore_index=True)

    def faults(self) -> list[str]:
        """One line a fault of R that was met: how many disagreements it explains, and
        why it is R's.
        """
        by_name = Counter[str]()
        for (_, name), count in self.explained.items():
            by_name[name] += count
        return [
            f"{by_name[fault.name]:5d} {fault.name}: {fault.reason}"
            for fault in FAULTS
            if by_name[fault.name]
        ]


def line(case: Case | Heights, check: Check, fault: Fault | None) -> str:
    """One disagreement: number, kind, both sides where they are furthest apart, and the
    fault behind it.
    """
    why = "" if fault is None else f" [{fault.name}]"
    beyond = (
        "" if np.isnan(check.excess) else f", {check.excess:.3g} times what is allowed"
    )
    sides = f"ours {_shown(check.ours, check)}, R {_shown(check.theirs, check)}"
    return (
        f"{case.spec.number:5d} {check.kind}{_place(case, check)}: {sides}{beyond}{why}"
    )


def _place(case: Case | Heights, check: Check) -> str:
    """Which of the numbers, by the term where there is one."""
    if np.size(check.ours) == 1:
        return ""
    terms = case.ours.words.get(f"{check.kind.removesuffix('.df')}.terms", "").split(
        "\t"
    )
    return (
        f" {terms[check.place]}"
        if check.place < len(terms) and terms != [""]
        else f" {check.place}"
    )


def _shown(side: np.ndarray | str, check: Check) -> str:
    if isinstance(side, str):
        return side
    return (
        f"{side[check.place]:.10g}"
        if check.place < side.size
        else f"{side.size} numbers"
    )


def save(case: Case | Heights, checks: list[Check], folder: Path) -> None:
    """The data and both calls of a specification, to repeat it by hand."""
    spec = case.spec
    folder.mkdir(parents=True, exist_ok=True)
    write_csv(spec, folder / f"{spec.number}.csv")
    lines = "\n".join("# " + line(case, check, None) for check in checks)
    dtypes = {name: "category" for name in spec.data if name[0] in "fo"}
    text = (
        "import pandas as pd\n\nfrom ordstat import ordfit\n\ndata ="
        f" pd.read_csv({f'{spec.number}.csv'!r}, dtype={dtypes!r})\nfit ="
        f" {spec.python}\nprint(fit.summary(), fit.loglik)\n\n# R: {spec.r}\n{lines}\n"
    )
    (folder / f"{spec.number}.py").write_text(text)
