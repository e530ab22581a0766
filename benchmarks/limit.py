"""A call with a limit of processor seconds, for rivals that may never end."""

from __future__ import annotations

import resource
from collections.abc import Callable
from math import ceil
from multiprocessing import get_context
from multiprocessing.connection import Connection
from signal import SIGXCPU
from typing import TypeVar

T = TypeVar("T")


def within(seconds: float, work: Callable[[], T]) -> T | None:
    """What `work` returns, or None where it was cut off after `seconds` of the
    processor, rounded up.

    Compiled code that holds the interpreter can only be ended from outside: the call
    runs in a forked child, and the system ends that (`RLIMIT_CPU`).
    """
    fork = get_context("fork")
    receiver, sender = fork.Pipe(duplex=False)
    child = fork.Process(target=_send, args=(sender, ceil(seconds), work))
    child.start()
    sender.close()
    try:
        actual: T | None = receiver.recv()
    except EOFError:
        actual = None
    child.join()
    if child.exitcode not in (0, -SIGXCPU):
        raise RuntimeError(
            f"the call ended with exit code {child.exitcode}, neither done nor out of"
            " time"
        )
    return actual


def _send(sender: Connection, seconds: int, work: Callable[[], object]) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    sender.send(work())
