"""What means are asked for: variables by name, or a formula as in R's emmeans, "pairwise ~ a | b"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ....exceptions import OptionError
from ..parameters import texts
from .contrasts import named_method

_NAME = re.compile(r"`([^`]+)`|([^\s`*:+]+)")


@dataclass(frozen=True)
class Specs:
    """The variables of the means, those that groups are made by, and the contrasts asked for with them."""

    main: tuple[str, ...]
    by: tuple[str, ...]
    method: str | None = None

    @property
    def names(self) -> list[str]:
        """All variables, those of the groups last."""
        return [*self.main, *self.by]


def read_specs(variables: str | Sequence[str], by: Any, response: str, ask: str = "emmeans") -> Specs:
    """The specs of names or of a formula.

    Raises
    ------
    OptionError
        For a formula that cannot be read, the response among the variables, or no variable that is not in `by`.

    Examples
    --------
    >>> read_specs("pairwise ~ a * b | c", None, "y")
    Specs(main=('a', 'b'), by=('c',), method='pairwise')
    """
    groups, method = list(dict.fromkeys(texts("by", by))), None
    if isinstance(variables, str) and "~" in variables:
        left, main, inside = _sides(variables)
        method = named_method(left) if left else None
        groups += [name for name in inside if name not in groups]
    else:
        main = texts("variables", variables)
    own = tuple(dict.fromkeys(name for name in main if name not in groups))
    if not own:
        raise OptionError(f"{ask} needs a variable of the formula that is not in by=.")
    if response in (*own, *groups):
        raise OptionError(
            f"{response!r} is the response: leave it out. With scale='prob' there is a row for each of its levels, and "
            "contrasts are taken within them."
        )
    return Specs(own, tuple(groups), method)


def _sides(formula: str) -> tuple[str, list[str], list[str]]:
    """What stands before "~", between it and "|", and after."""
    left, _, right = formula.partition("~")
    main, _, inside = right.partition("|")
    if "~" in right or "|" in inside or ("|" in right and not inside.strip()):
        raise OptionError(f"the formula of means must be like '~ a', '~ a * b' or 'pairwise ~ a | b'; got {formula!r}.")
    return left.strip(), _variables(main), _variables(inside)


def _variables(text: str) -> list[str]:
    return [quoted or plain for quoted, plain in _NAME.findall(text)]
