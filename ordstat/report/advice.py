"""Hints for arguments with the names that other packages use."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import isfunction, signature
from typing import Any, TypeVar, cast

from ..checks import advice, check_names
from ..exceptions import OptionError

T = TypeVar("T")


def with_advice(thing: T) -> T:
    """The function, or the class with its public methods, wrapped to answer unknown
    arguments with a hint.
    """
    if isinstance(thing, type):
        for name, member in list(vars(thing).items()):
            if isfunction(member) and (name == "__init__" or not name.startswith("_")):
                setattr(thing, name, with_advice(member))
        return cast(T, thing)
    function = cast(Callable[..., Any], thing)

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except TypeError as caught:
            # raised within the function
            if cast(Any, caught.__traceback__).tb_next is not None:
                raise
            error = caught
        path = function.__qualname__.split(".")
        parameters = list(signature(function).parameters)
        owner = path[-2] if path[-1] == "__init__" else path[-1]
        check_names(
            kwargs, [name for name in parameters if name != "self"], owner, "argument"
        )
        if len(args) > 1 and (hint := advice(owner, parameters[0])):
            raise OptionError(f"{error}.{hint}")
        raise error

    return cast(T, call)
