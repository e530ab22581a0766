"""`ordstat demo`: the wine data by cumulative logit and by RED-SVM."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from .. import datasets
from ..api import ordfit
from .command import Command, say


def _add(parser: ArgumentParser) -> None:
    """No arguments."""


def _run(given: Namespace) -> None:
    wine = datasets.load("wine")
    for method in ("logit", "redsvm"):
        say(f"{ordfit('rating ~ temp + contact', data=wine, method=method).summary()}\n")


DEMO = Command("demo", "fit the wine data twice and print both summaries", "", _add, _run)
