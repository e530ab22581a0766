"""Methods that are functions of a topic, whose files are imported when a method is first asked for."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


class Later:
    """A function of another file in the body of a class, which has the function itself from its first use on.

    For type checkers the function is imported, `if TYPE_CHECKING:`; a test compares the two.

    Parameters
    ----------
    package : str
        `__package__` of the file of the class.
    module : str
        Relative to it, such as ".topic".
    function : str
    """

    def __init__(self, package: str, module: str, function: str) -> None:
        self.package, self.module, self.function = package, module, function

    def __set_name__(self, owner: type, name: str) -> None:
        self.owner, self.name = owner, name

    def __get__(self, held: Any, owner: type) -> Any:
        """What the function in the place of this would give."""
        function = getattr(import_module(self.module, self.package), self.function)
        setattr(self.owner, self.name, as_method(function, self.owner, self.name))
        return getattr(owner if held is None else held, self.name)


def as_method(function: Callable[..., Any], owner: type, name: str) -> Callable[..., Any]:
    """The function under the name that it has in a class, in `help` and in a pickle of `fit.effects`."""
    function.__name__, function.__qualname__ = name, f"{owner.__name__}.{name}"
    return function
