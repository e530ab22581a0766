"""How much memory and time a fit will take, about, and the refusal of one that is too large before it starts.

Families whose work grows faster than the rows and columns (with the pairs of rows or of levels, with rows times levels,
or with the weights) say what it comes to. Times are from what one machine took, right to a factor of about three where
nothing else is said; memory is right to a factor of about two.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

from ...exceptions import DataError

#: Seconds that a fit may take, and as many for each of its rows, and share of the memory that it may fill, without
#: force=True: whoever has a million rows expects to wait.
LONGEST, EACH_ROW, FULLEST = 10.0, 1e-4, 0.75
# Memory that there always is: the libraries take more.
_LITTLE = 2**24
# Memory of a machine that does not tell.
_USUAL = 8 * 2**30


@dataclass(frozen=True, kw_only=True)
class Work:
    """What one fit asks for.

    Attributes
    ----------
    what : str
        What it does, such as "trains 499500 classifiers on 1000 rows".
    memory : float
        Bytes held at once.
    seconds : float
        0 where time is not what there may be too little of.
    instead : str
        What to do instead, as a sentence without its full stop.
    """

    what: str
    memory: float = 0.0
    seconds: float = 0.0
    instead: str

    def beside(self, other: Work) -> Work:
        """The work of both."""
        return Work(
            what=f"{other.what} and {self.what}",
            memory=self.memory + other.memory,
            seconds=self.seconds + other.seconds,
            instead=f"{other.instead}. {self.instead}",
        )

    def and_of(self, other: Work | None) -> Work:
        """The same, with the figures of what goes without saying beside it."""
        if other is None:
            return self
        return replace(self, memory=self.memory + other.memory, seconds=self.seconds + other.seconds)

    def times(self, fits: int) -> Work:
        """The work of several fits, one after another."""
        return self if fits == 1 else replace(self, what=f"{self.what}, {fits} times", seconds=fits * self.seconds)


def require_affordable(work: Work | None, who: str, rows: int, fits: int = 1) -> None:
    """Raise DataError, with the figures, where the fits of `who` to so many rows would fill the memory or take long."""
    if work is None:
        return
    work = work.times(fits)
    longest = LONGEST + EACH_ROW * rows
    if work.memory <= _LITTLE and work.seconds <= longest:
        return
    room = FULLEST * memory()
    if work.memory <= room and work.seconds <= longest:
        return
    sizes = [_gibibytes(work.memory)] * (work.memory > 0) + [_duration(work.seconds)] * (work.seconds > 0)
    raise DataError(
        f"{who} {work.what}: about {' and '.join(sizes)}, and a fit of more than {_gibibytes(room)} or "
        f"{_duration(longest)} is not begun unasked. {work.instead}, or give force=True."
    )


def memory() -> float:
    """Bytes of memory that this process may have: those of the machine, or less where a limit is set."""
    limits = [_installed(), _address_space(), _group()]
    return float(min((limit for limit in limits if limit is not None), default=_USUAL))


def _installed() -> int | None:
    try:
        found = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # not POSIX, or without these names
        return None
    return found if found > 0 else None


def _address_space() -> int | None:
    try:
        import resource
    except ImportError:  # not POSIX
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY else soft


def _group() -> int | None:
    """The limit of a Linux control group, as containers have."""
    try:
        with open("/sys/fs/cgroup/memory.max", encoding="ascii") as file:
            text = file.read().strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None


def _gibibytes(size: float) -> str:
    return f"{_two_digits(size / 2**30)} GiB"


def _duration(seconds: float) -> str:
    for name, unit in (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2.0 * unit:
            return f"{_two_digits(seconds / unit)} {name}"
    return f"{_two_digits(seconds)} seconds"


def _two_digits(number: float) -> str:
    """Two digits, without an exponent where the number is one that people read."""
    return f"{number:.2g}" if not 10.0 <= number < 1e6 else f"{number:.0f}"
