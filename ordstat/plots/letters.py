"""Letters that the font of a picture has not, as Chinese, Korean or Thai ones, come from installed fonts with them.

matplotlib takes letters that its first font has not from the next one of a list of families, which is all that changes
here, and only for the picture that needs it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache, wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import numpy as np

from ..exceptions import DataWarning

if TYPE_CHECKING:
    from matplotlib.axes import Axes

P = ParamSpec("P")
R = TypeVar("R")

#: Letters that a warning names.
_MOST_NAMED = 5
#: A font that has a box with a number for every letter there is.
_BOXES = "Last Resort"
_BOLD = ("bold", 700)


def with_letters(
    words: Callable[Concatenate[Any, P], Iterable[Any]],
) -> Callable[[Callable[Concatenate[Any, P], R]], Callable[Concatenate[Any, P], R]]:
    """A drawing function in fonts that have all letters of these words of its arguments.

    Parameters
    ----------
    words : callable
        Takes what the drawing function takes, and gives the texts that it may write.

    Warns
    -----
    DataWarning
        No installed font has some of the letters; once for the same letters.
    """

    def decorated(draw: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
        shape = signature(draw)

        @wraps(draw)
        def drawn(first: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
            rare = frozenset(
                letter for text in words(first, *args, **kwargs) for letter in str(text) if letter > "\xff"
            )
            if not rare:
                return draw(first, *args, **kwargs)
            fonts, unknown = _fonts_with(rare)
            if unknown:
                _tell(unknown)
            with _families(fonts, shape.bind(first, *args, **kwargs).arguments.get("ax")):
                return draw(first, *args, **kwargs)

        return drawn

    return decorated


def words_of_fit(results: Any, *args: Any, **kwargs: Any) -> Iterator[Any]:
    """The names that a picture of a fit may show."""
    design = results.design
    yield from (design.response, design.formula, *results.levels, *design.names)
    yield from (*design.nominal_names, *design.scale_names, *(design.spec.columns or ()))
    for levels in design.spec.categories().values():
        yield from levels
    for term in design.random:
        yield from (label for labels in term.levels for label in labels)
    yield from (args, kwargs)


def heading_weight() -> str:
    """Bold, where all fonts that a picture is drawn with have bold letters."""
    from matplotlib import rcParams
    from matplotlib.font_manager import fontManager

    others = rcParams["font.family"][1:]
    bold = {one.name for one in fontManager.ttflist if one.weight in _BOLD} if others else set()
    return "bold" if all(name in bold for name in others) else "normal"


@lru_cache(maxsize=32)
def _fonts_with(letters: frozenset[str]) -> tuple[tuple[str, ...], str]:
    """Families beside the usual ones that have the letters, those with most of them first; letters that none has."""
    from matplotlib.font_manager import fontManager

    left = set(letters) - _had(_usual_files(), letters)
    others: dict[str, set[str]] = {}
    if left:
        files = {one.name: one.fname for one in fontManager.ttflist if not one.name.startswith(_BOXES)}
        others = {name: _had([file], letters) for name, file in files.items()}
    found: list[str] = []
    while left and (best := max(others, key=lambda name: len(others[name] & left), default="")):
        if not others[best] & left:
            break
        found.append(best)
        left -= others[best]
    return tuple(found), "".join(sorted(left))


def _usual_files() -> list[str]:
    """Files of the families that are drawn with anyway."""
    from matplotlib import rcParams
    from matplotlib.font_manager import FontProperties, findfont

    return [findfont(FontProperties(family=[family])) for family in rcParams["font.family"]]


def _had(files: Iterable[str], letters: Iterable[str]) -> set[str]:
    from matplotlib.font_manager import get_font

    fonts = [get_font(file) for file in files]
    return {letter for letter in letters if any(font.get_char_index(ord(letter)) for font in fonts)}


@lru_cache(maxsize=32)
def _tell(letters: str) -> None:
    named = ", ".join(f"'{letter}'" for letter in letters[:_MOST_NAMED]) + ", ..." * (len(letters) > _MOST_NAMED)
    warnings.warn(
        f"no installed font has the letters {named}: pictures show boxes for them. Install one that has, such as Noto "
        "Sans CJK (fonts-noto-cjk of Debian and Ubuntu) for Chinese, Japanese and Korean, and start Python anew.",
        DataWarning,
        stacklevel=3,
    )


@contextmanager
def _families(fonts: tuple[str, ...], ax: Axes | Any) -> Iterator[None]:
    """Draw with these families too; the words of axes that are there already, too."""
    from matplotlib import rc_context, rcParams

    if not fonts:
        yield
        return
    families = [*rcParams["font.family"], *fonts]
    for one in () if ax is None else np.ravel(np.asarray(ax, dtype=object)):
        one.tick_params(labelfontfamily=families)
        for text in (one.xaxis.label, one.yaxis.label, one.title, one._left_title, one._right_title):
            text.set_fontfamily(families)
    with rc_context({"font.family": families}):
        yield
