"""What a command is, and how it prints."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import dataclass

from ..exceptions import OrdstatError


class UsageError(OrdstatError):
    """Arguments that do not fit the command."""


@dataclass(frozen=True)
class Command:
    """A word after `ordstat`.

    Attributes
    ----------
    name : str
    help : str
        What it does, in a line.
    more : str
        What its --help says after the arguments: examples.
    add : callable
        Adds its arguments to a parser.
    run : callable
        Does it; errors are raised.
    """

    name: str
    help: str
    more: str
    add: Callable[[ArgumentParser], None]
    run: Callable[[Namespace], None]


def say(text: object) -> None:
    """A text and the end of a line on the standard output."""
    sys.stdout.write(f"{text}\n")
