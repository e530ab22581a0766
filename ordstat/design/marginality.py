"""Which terms of a formula contain which."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .coding import Coding, FactorCoding
from .parse import Part


@dataclass(frozen=True, eq=False, kw_only=True)
class Marginality:
    """How the terms of a location formula lie in each other.

    Attributes
    ----------
    texts : mapping of term to str
        Each term as a formula writes it, those of nominal= and scale= too.
    factors : mapping of term to frozenset of str
        What each term is a product of.
    containing : mapping of term to tuple of str
        Terms with the same numeric variables and further categorical ones [SAS: effects that contain an effect].
    """

    texts: Mapping[str, str]
    factors: Mapping[str, frozenset[str]]
    containing: Mapping[str, tuple[str, ...]]

    def droppable(self) -> list[str]:
        """Terms that are part of no other term."""
        return [term for term, own in self.factors.items() if not any(own < other for other in self.factors.values())]

    def margins_of(self, term: str) -> list[str]:
        """The terms that a term contains, and the term itself."""
        return [inner for inner, outer in self.containing.items() if inner == term or term in outer]


def independent(names: tuple[str, ...]) -> Marginality:
    """Numeric columns without a formula: each a term of its own."""
    return Marginality(
        texts={name: f"`{name}`" for name in names},
        factors={name: frozenset([name]) for name in names},
        containing=dict.fromkeys(names, ()),
    )


def marginality(part: Part, others: Iterable[Part], codings: Mapping[str, Coding]) -> Marginality:
    """The marginality of a formula's location part; `others` are the parts beside it."""
    categorical = {key for key, coding in codings.items() if isinstance(coding, FactorCoding)}
    keys = {term.label: frozenset(factor.key for factor in term.factors) for term in part.terms}
    return Marginality(
        texts={term.label: term.text for one in (*others, part) for term in one.terms},
        factors=keys,
        containing={
            inner: tuple(outer for outer, other in keys.items() if own < other and other - own <= categorical)
            for inner, own in keys.items()
        },
    )
