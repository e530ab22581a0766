"""`ordstat summary`: what a saved fit is."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ..files.load import load
from .command import Command, say

_MORE = """\
examples:
  ordstat summary wine.ordstat
  ordstat summary wine.ordstat errors
  ordstat summary wine.ordstat all
"""


def _add(parser: ArgumentParser) -> None:
    parser.add_argument("model", help="a file of `ordstat fit --save`, or of fit.save() in Python")
    parser.add_argument(
        "section",
        nargs="?",
        metavar="SECTION",
        help="model, fit, errors, margins, bounds or all; one screen if left out",
    )


def _run(given: Namespace) -> None:
    say(load(given.model).summary(given.section))


SUMMARY = Command("summary", "print the summary of a saved fit", _MORE, _add, _run)
