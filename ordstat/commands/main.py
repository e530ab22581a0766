"""From the arguments of the shell to a command, and from errors to the standard error and an exit code."""

from __future__ import annotations

import os
import sys
import warnings
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from typing import Any, NoReturn

from ..exceptions import OptionError, OrdstatError
from .catalogue import DATASETS, METHODS_COMMAND
from .command import Command, UsageError
from .compare import COMPARE
from .demo import DEMO
from .fit import FIT
from .predict import PREDICT
from .summary import SUMMARY

COMMANDS: tuple[Command, ...] = (DEMO, FIT, SUMMARY, PREDICT, COMPARE, METHODS_COMMAND, DATASETS)
#: What the shell is told.
FINE, FAILED, MISUSED, INTERRUPTED = 0, 1, 2, 130
_MORE = """\
a first walk:
  ordstat demo
  ordstat datasets wine -o wine.csv
  ordstat fit wine.csv "rating ~ temp + contact" --save wine.ordstat
  ordstat predict wine.ordstat wine.csv --type prob

`ordstat COMMAND --help` says more. Exit codes: 0 done, 1 data or model at fault, 2 arguments at fault.
"""
#: How an argument that an error names is given here.
_HERE = {"levels=": "--levels LOW,...,HIGH", "calibrate=True": "--calibrate"}


class _Parser(ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see {self.prog} --help)")


def parser() -> ArgumentParser:
    """The parser of all commands."""
    top = _Parser(
        prog="ordstat",
        description="Ordinal regression from the shell: models and rankers for outcomes that have an order.",
        epilog=_MORE,
        formatter_class=RawDescriptionHelpFormatter,
    )
    added = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for command in COMMANDS:
        about = f"{command.help[0].upper()}{command.help[1:]}."
        own = added.add_parser(
            command.name,
            help=command.help,
            description=about,
            epilog=command.more,
            formatter_class=RawDescriptionHelpFormatter,
        )
        command.add(own)
        own.set_defaults(run=command.run)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Parameters
    ----------
    arguments : sequence of str, optional
        Those of the shell unless given.

    Returns
    -------
    int
        0 where it was done, 1 where data or model are at fault, 2 where the arguments are, 130 after an interruption.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = _warn
        given = Namespace()
        try:
            given, unknown = parser().parse_known_args(arguments)
            if unknown:
                raise UsageError(f"unrecognized arguments: {' '.join(unknown)} (see ordstat {given.command} --help)")
            given.run(given)
            sys.stdout.flush()
        except (UsageError, OptionError) as error:
            return _fail(error, MISUSED, given)
        except OrdstatError as error:
            return _fail(error, FAILED, given)
        except KeyboardInterrupt:
            return _fail("interrupted", INTERRUPTED)
        except BrokenPipeError:  # the reader of a pipe has had enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return FINE


def _fail(error: object, code: int, given: Namespace | None = None) -> int:
    text = _one_line(error)
    hints = [
        here for argument, here in _HERE.items() if argument in text and hasattr(given, argument.partition("=")[0])
    ]
    sys.stderr.write(f"ordstat: error: {text}{f' Here: {hints[0]}.' if hints else ''}\n")
    return code


def _warn(message: Warning | str, category: type[Warning], *others: Any, **more: Any) -> None:
    if not issubclass(category, (DeprecationWarning, PendingDeprecationWarning, ResourceWarning)):
        sys.stderr.write(f"ordstat: warning: {_one_line(message)}\n")


def _one_line(text: object) -> str:
    return " ".join(str(text).split())
