"""What a method string stands for: a Method value with its options; unknown names and options fail here."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import fields
from typing import Any

from .checks import did_you_mean, unknown
from .exceptions import OptionError
from .methods import METHODS, Entry, Method, spelled
from .words import advice


def resolve(method: str | Method, options: Mapping[str, Any] | None = None, arguments: Iterable[str] = ()) -> Method:
    """The Method value that `method` and `options` stand for.

    Parameters
    ----------
    method : str or Method
        A name of the registry ("clm", "logit", "redsvm", ...; case, hyphens, underscores and blanks do not count) or a
        value such as REDSVM(C=10).
    options : mapping, optional
        Hyper-parameters by name; only with a string.
    arguments : iterable of str
        What the caller takes beside them, of which a name that is no option may be a misspelling.

    Raises
    ------
    OptionError
        For an unknown method or option (the valid ones are listed), or a value outside its range.

    Examples
    --------
    >>> from ordstat.registry import resolve
    >>> resolve("redsvm", {"C": 10})
    REDSVM(C=10.0)
    """
    options = dict(options or {})
    if isinstance(method, Method):
        if options:
            raise OptionError(
                f"method={method!r} already carries its options: put {', '.join(options)} inside it, "
                f"as in {type(method).__name__}({next(iter(options))}=...)."
            )
        return method
    if isinstance(method, type) and issubclass(method, Method):
        raise OptionError(f"method must be a value, not its class: write {method.__name__}().")
    entry = _entry(method)
    if entry is None:
        hint = advice("method", method) if isinstance(method, str) else ""
        also = ", or a method value such as REDSVM(C=10) (`ordstat methods` lists all)"
        raise OptionError(f"{unknown('method', method, METHODS, also=also)}{hint}")
    if options:
        check_names(options, option_names(entry), f"method {method!r}", "option", arguments)
    return entry.method(**entry.preset, **options)


def option_names(entry: Entry) -> list[str]:
    """Options that a user can set beside the method string (those the string fixes are left out)."""
    return [f.name for f in fields(entry.method) if f.name not in entry.preset]


def class_of(method: Any) -> type[Method] | None:
    """The class behind a method string or value; None for an unknown one."""
    if isinstance(method, Method):
        return type(method)
    entry = _entry(method)
    return None if entry is None else entry.method


def defaults_of(method: Any) -> dict[str, Any] | None:
    """Default of every option of a method; empty for a value, which carries its own; None for an unknown one."""
    if isinstance(method, Method):
        return {}
    entry = _entry(method)
    if entry is None:
        return None
    value = entry.method(**entry.preset)
    return {name: getattr(value, name) for name in option_names(entry)}


def preset_cost(method: Any) -> str | None:
    """The cost that a method string fixes; None where it is an option, and for a value."""
    entry = _entry(method)
    return None if entry is None else entry.preset.get("cost")


def _entry(method: Any) -> Entry | None:
    name = spelled(method)
    return None if name is None else METHODS[name]


# Numbers of a kernel, which are no options of a method.
_OF_KERNELS = {"gamma": "Gaussian(gamma=0.5)", "degree": "Polynomial(degree=2)", "coef0": "Polynomial(coef0=1)"}


def check_names(names: Iterable[str], valid: Collection[str], owner: str, kind: str, also: Iterable[str] = ()) -> None:
    """OptionError for a name that is none of the valid ones; `also` are others it may be a misspelling of."""
    for name in names:
        if name not in valid:
            other_case = name.casefold() in {known.casefold() for known in valid}
            near = "" if name in also else did_you_mean(name, (*valid, *also))
            meant = ("" if other_case else advice("option", name)) or near
            if name in _OF_KERNELS and "kernel" in valid:
                meant = f" It goes with the kernel, as in kernel={_OF_KERNELS[name]}."
            raise OptionError(f"{owner} has no {kind} {name!r}.{meant} Its {kind}s are: {', '.join(valid)}.")
