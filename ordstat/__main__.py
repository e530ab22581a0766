"""`python -m ordstat demo`: the wine data by cumulative logit and by RED-SVM."""

from __future__ import annotations

import argparse

from . import datasets, ordfit


def demo() -> None:
    """Fit and print both summaries."""
    wine = datasets.load("wine")
    for method in ("logit", "redsvm"):
        print(ordfit("rating ~ temp + contact", data=wine, method=method).summary())
        print()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m ordstat", description="Ordinal regression from the shell.")
    parser.add_argument("command", choices=["demo"], help="demo: fit the wine data twice and print both summaries")
    parser.parse_args()
    demo()


if __name__ == "__main__":
    main()
