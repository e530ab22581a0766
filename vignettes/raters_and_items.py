"""Draw the picture of raters-and-items.md by running the page: `make figures`."""

import doctest
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("agg")

PAGE = Path(__file__).parent / "raters-and-items.md"


def main() -> None:
    """The effects of teachers and essays."""
    found: dict[str, Any] = {}
    for example in doctest.DocTestParser().get_examples(PAGE.read_text()):
        exec(example.source, found)
        if "panels" in found:
            break
    found["panels"][0].figure.savefig(PAGE.parent / "figures/raters-ranef.png", dpi=80, metadata={"Software": None})


if __name__ == "__main__":
    main()
