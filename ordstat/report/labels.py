"""Names of parameters as readers know them: `temp: warm` for the column `temp[T.warm]` of a design."""

from __future__ import annotations

import re
from collections.abc import Mapping

#: The level in the name of a column: of treatment contrasts or of an indicator, and not of another coding.
_LEVEL = re.compile(r"\[(?:T\.|(?![A-Z]\.))(.+)\]$", re.DOTALL)
_PRODUCT = re.compile(r":(?! )(?![^\[]*\])")
#: What stands between the two names of a correlation; a point in one of them leaves it as it is.
_PAIR = re.compile(r"\.(?![^\[]*\])")
_RANDOM = re.compile(r"(sd|cor)_(.*)\|(.*)", re.DOTALL)


def row_label(part: str, term: str, labels: Mapping[str, str]) -> str:
    """The label of a parameter: the user's, or its name with the level of a factor after a colon.

    Examples
    --------
    >>> row_label("location", "temp[T.warm]:age", {"age": "Age in years"})
    'temp: warm × Age in years'
    >>> row_label("sd", "sd_(Intercept)|judge", {"judge": "Judge"})
    'SD (Intercept), Judge'
    >>> row_label("cor", "cor_temp[T.warm].(Intercept)|judge", {})
    'Correlation temp: warm with (Intercept), judge'
    """
    if term in labels:
        return labels[term]
    if part in ("sd", "cor") and (found := _RANDOM.fullmatch(term)):
        kind, what, group = found.groups()
        pair = _PAIR.split(what) if kind == "cor" else [what]
        names = [what] if len(pair) > 2 else [effect_label(name, labels) for name in pair]
        return f"{'SD' if kind == 'sd' else 'Correlation'} {' with '.join(names)}, {labels.get(group, group)}"
    if part == "nominal":
        threshold, _, effect = term.partition(".")
        return f"{effect_label(effect, labels)}, {threshold}" if effect else term
    name = term.removeprefix("scale.") if part == "scale" else term
    return effect_label(name, labels) if part in ("location", "scale") else term


def effect_label(name: str, labels: Mapping[str, str]) -> str:
    """The name of a column of the design for readers; the label of a variable stands in all its columns.

    Examples
    --------
    >>> effect_label("temp[T.warm]", {"temp": "Temperature"})
    'Temperature: warm'
    """
    if name in labels:
        return labels[name]
    return " × ".join(_piece(piece, labels) for piece in _PRODUCT.split(name))


def _piece(piece: str, labels: Mapping[str, str]) -> str:
    variable = _LEVEL.sub("", piece)
    level = _LEVEL.search(piece)
    return labels.get(variable, variable) + (f": {level[1]}" if level else "")


def names_within(term: str) -> set[str]:
    """The name of a parameter without what says its kind, and the variables in it.

    Examples
    --------
    >>> sorted(names_within("scale.temp[T.warm]:age"))
    ['age', 'temp', 'temp[T.warm]:age']
    """
    inner = _RANDOM.fullmatch(term)
    name = inner[2] if inner else term.removeprefix("scale.")
    name = name.partition(".")[2] or name if "|" in name else name
    return {name, *(_LEVEL.sub("", piece) for piece in _PRODUCT.split(name))}
