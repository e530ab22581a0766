"""Formula text to terms in R's order. formulaic cuts it up; `expressions` reads the factors, `algebra` the operators.

A plain sum of columns, the usual formula, is read without it: its import takes longer than the fit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from keyword import iskeyword
from typing import Any

from ..exceptions import FormulaError
from .algebra import Expansion, Symbol, Terms, operators, positions
from .bars import FORM, Piece, without_bars
from .expressions import (
    MAX_CHARACTERS,
    MAX_LABELS,
    MAX_TERMS,
    Expression,
    check_length,
    column_expression,
    dotted_name,
    literal,
    parse_expression,
    shown,
    too_large,
)

_OFFSET = re.compile(r"\s*offset\s*\((?P<inside>.*)\)\s*", re.DOTALL)
_COLOURS = re.compile(r"\x1b\[[0-9;]*m|[⧛⧚]")
_NAME = r"[A-Za-z_]\w*"
_PLAIN_SUM = re.compile(rf"(?:(?P<left>{_NAME})\s*~\s*)?(?P<names>{_NAME}(?:\s*\+\s*{_NAME})*)", re.ASCII)


@dataclass(frozen=True)
class Term:
    """A product of factors, in the order in which the formula first names them."""

    factors: tuple[Expression, ...]

    @property
    def label(self) -> str:
        return ":".join(factor.label for factor in self.factors)

    @property
    def text(self) -> str:
        """As a formula writes it."""
        return ":".join(factor.text for factor in self.factors)


@dataclass(frozen=True)
class Part:
    """One right-hand side.

    Attributes
    ----------
    terms : tuple of Term
        Main effects first, then two-way terms and so on; without the intercept, which is always implied.
    offsets : tuple of Expression
    intercept : bool
        False where the text tried to remove the intercept.
    random : tuple of RandomPart
        Random terms beside them.
    """

    terms: tuple[Term, ...] = ()
    offsets: tuple[Expression, ...] = ()
    intercept: bool = True
    random: tuple[RandomPart, ...] = ()


@dataclass(frozen=True)
class RandomPart:
    """One random term, (columns | group).

    Attributes
    ----------
    columns : Part
        What is on the left; its intercept is a column of its own.
    group : Term
        The factor, or the factors a:b, whose values make the groups.
    correlated : bool
        False where the bar is double.
    text : str
        As a formula writes it.
    """

    columns: Part
    group: Term
    correlated: bool
    text: str


@dataclass(frozen=True)
class ResponseName:
    """The column on the left, and the levels its call declares, as in ordered(y, levels=["lo", "hi"])."""

    column: str
    levels: tuple[Any, ...] | None = None


@lru_cache(maxsize=256)
def parse_formula(text: str, columns: tuple[str, ...]) -> tuple[ResponseName, Part]:
    """Response and location part; `columns` stand for a dot on the right (the response is left out)."""
    fixed, bars = without_bars(text)
    response, part = _parse_fixed(fixed, columns)
    if not bars:
        return response, part
    if uses_dot(fixed):
        raise FormulaError(f"The formula {shown(text)} has a dot, which would take in the groups: name the columns.")
    return response, replace(part, random=tuple(one for bar in bars for one in _random_parts(bar)))


def _parse_fixed(text: str, columns: tuple[str, ...]) -> tuple[ResponseName, Part]:
    """`parse_formula` without random terms."""
    plain = _plain_sum(text)
    if plain is not None and plain[0] is not None:
        return ResponseName(plain[0]), _sum_of(plain[1])
    left, tilde, right = split_formula(text)
    if not tilde or not left.strip():
        meant = " Write '~' in place of '='." if "=" in text and not tilde else ""
        raise FormulaError(f"{shown(text)} has no response: a formula reads 'response ~ x1 + x2'.{meant}")
    response = parse_response(left)
    return response, _parse_part(right, tuple(name for name in columns if name != response.column))


def _random_parts(bar: Piece) -> list[RandomPart]:
    """The random terms of a bar: one for each of the groups that a/b stands for."""
    left, right, single = bar.halves
    if uses_dot(left):
        raise FormulaError(f"The random term {shown(bar.text)} has a dot: name the columns. {FORM}.")
    if "+" in right or ("," in right and "(" not in right):
        raise FormulaError(
            f"The random term {shown(bar.text)} must have one group after its bar. {FORM}; its group is a, a:b or a/b, "
            "and several groups are several terms: (1 | a) + (1 | b)."
        )
    columns = Part() if left == "1" else _any_part(left)
    groups = _any_part(right)
    names = len({factor.key for term in groups.terms for factor in term.factors})
    nested = [len(term.factors) for term in groups.terms] == list(range(1, names + 1))
    product = len(groups.terms) == 1
    if columns.offsets or groups.offsets or not groups.terms or not (nested or product) or "*" in right:
        raise FormulaError(f"Cannot read the random term {shown(bar.text)}. {FORM}; its group is a, a:b or a/b.")
    if not columns.terms and not columns.intercept:
        raise FormulaError(f"The random term {shown(bar.text)} has no column before its bar. {FORM}.")
    mark = "|" if single else "||"
    return [RandomPart(columns, group, single, f"({left} {mark} {group.text})") for group in groups.terms]


def _any_part(text: str) -> Part:
    """A right-hand side, without the slower reader where it is a plain sum."""
    plain = _plain_sum(text)
    return _sum_of(plain[1]) if plain is not None and plain[0] is None else _parse_part(text, ())


@lru_cache(maxsize=256)
def parse_one_sided(text: str, columns: tuple[str, ...], argument: str) -> Part:
    """The part in nominal="~ x" or scale="~ x"."""
    plain = _plain_sum(text)
    if plain is not None and plain[0] is None:
        return _sum_of(plain[1])
    left, tilde, right = split_formula(text)
    if tilde and left.strip():
        raise FormulaError(f"{argument}= must be a one-sided formula such as '~ x1 + x2'; got {shown(text)}.")
    return _parse_part(right if tilde else left, columns)


def uses_dot(text: str) -> bool:
    """Whether a dot stands for all other columns, so that the parse depends on them."""
    text = without_bars(text)[0]
    return _plain_sum(text) is None and any(token.token == "." for token in _tokens(text))


def _plain_sum(text: str) -> tuple[str | None, list[str]] | None:
    """The response, if there is one, and the columns of "y ~ a + b"; None for any other formula."""
    if not isinstance(text, str):
        return None
    check_length(text)
    match = _PLAIN_SUM.fullmatch(text.strip())
    if match is None:
        return None
    names = [name.strip() for name in match["names"].split("+")]
    if (count := len({*names})) > MAX_TERMS:
        raise too_large(text, f"gives {count:,} terms")
    if count < len(names) or any(iskeyword(name) for name in [*names, match["left"] or ""]):
        return None
    return match["left"], names


def _sum_of(names: Iterable[str]) -> Part:
    return Part(tuple(Term((column_expression(name),)) for name in names))


def split_formula(text: str) -> tuple[str, str, str]:
    """Left, tilde and right, where a tilde in quotes or calls does not count."""
    tildes = [token for token in _tokens(text) if token.kind.value == "operator" and "~" in token.token]
    if not tildes:
        return text, "", ""
    position = text.index("~", tildes[0].source_start)
    if sum(token.token.count("~") for token in tildes) > 1:
        raise FormulaError(f"{shown(text)} has more than one '~'.")
    return text[:position], "~", text[position + 1 :]


def substitute_dot(text: str, replacement: str) -> str:
    """The right-hand side with every dot that stands alone replaced by another right-hand side, in parentheses."""
    dots = [token.source_start for token in _tokens(text) if token.token == "."]
    inside = f"({replacement.strip()})"
    if (size := len(text) + len(dots) * (len(inside) - 1)) > MAX_CHARACTERS:
        raise too_large(text, f"has {size:,} characters with every dot filled in")
    starts = [0, *(dot + 1 for dot in dots)]
    return inside.join(text[start:end] for start, end in zip(starts, [*dots, len(text)], strict=True)).strip()


def _tokens(text: str) -> tuple[Any, ...]:
    if not isinstance(text, str):
        raise FormulaError(f"A formula must be a text such as 'rating ~ temp + contact'; got {type(text).__name__}.")
    check_length(text)
    return _cut(text)


@lru_cache(maxsize=4)  # one text is asked for several times in a row
def _cut(text: str) -> tuple[Any, ...]:
    from formulaic.errors import FormulaSyntaxError
    from formulaic.parser.algos.tokenize import tokenize

    try:
        return tuple(tokenize(text))
    except FormulaSyntaxError as error:
        raise FormulaError(f"Cannot read the formula {shown(text)}: {_plain_message(error, text)}") from error


def _plain_message(error: Exception, text: str) -> str:
    """formulaic's message without the colours and the text it quotes, which is not the user's."""
    if "%" in text.replace("%in%", ""):
        return "put arithmetic inside I(), as in I(x %% 10)."
    return _COLOURS.sub("", str(error)).split("\n")[0].strip()


def parse_response(text: str) -> ResponseName:
    """A column name, or factor(y), ordered(y), C(y), Q("y"), I(y) around one."""
    if text.strip() in ("class", "pass"):  # keywords of Python that name many a response
        return ResponseName(text.strip())
    expression = parse_expression(text)
    node: Any = expression.tree
    name = dotted_name(node)
    if name is not None:
        return ResponseName(name)
    function = dotted_name(getattr(node, "func", node))
    if function in ("factor", "ordered", "C", "Q", "I") and len(node.args) == 1:
        if function == "Q":
            return ResponseName(str(literal(node.args[0])))
        given = {keyword.arg: literal(keyword.value) for keyword in node.keywords}
        inner = dotted_name(node.args[0])
        if inner is not None and set(given) <= {"levels", "ordered"}:
            return ResponseName(inner, given.get("levels"))
    raise FormulaError(
        f"The response must be one column; got {expression.label!r}. Make it a column of the data first."
    )


@dataclass(frozen=True, eq=False)
class _Reader:
    """Turns the pieces of a right-hand side into factors and operators; keeps the factors in order, each once.

    Attributes
    ----------
    text : str
    dot : tuple of str
        The columns that a dot stands for.
    factors : dict of key to Expression
    places : dict of key to position
    """

    text: str
    dot: tuple[str, ...]
    factors: dict[str, Expression] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)

    def symbols(self) -> Iterator[Symbol]:
        before = ""  # the name just read
        for token in _tokens(self.text):
            kind, text = token.kind.value, token.token
            named = kind in ("name", "python") and text != "."
            if named and before:
                raise FormulaError(
                    f"Cannot read the formula {shown(self.text)}: no operator stands between {shown(before)} and "
                    f"{shown(text)}. Put + between two terms, or backticks around one name with blanks, as in `a b`."
                )
            before = text if named else ""
            yield from self._read(kind, text)

    def _read(self, kind: str, text: str) -> Iterable[Symbol]:
        if text == ".":
            return [self._everything]
        if kind == "name":
            return [self._term(column_expression(text))]
        if kind == "python":
            return [self._term(parse_expression(text))]
        if kind == "value":
            return [self._digits(text)]
        if "|" in text:
            raise FormulaError(f"Cannot read the '|' in {shown(self.text)}. {FORM} of the formula itself.")
        return [":"] if text == "in" else operators(text)  # a %in% b is a:b in R

    def _term(self, factor: Expression) -> Terms:
        place = self.places.setdefault(factor.key, len(self.places))
        self.factors.setdefault(factor.key, factor)
        if place >= MAX_TERMS:
            raise too_large(self.text, f"has more than {MAX_TERMS:,} variables")
        return {1 << place: None}

    @cached_property
    def _everything(self) -> Terms:
        """The columns of a dot; the intercept where there are none."""
        return {term: None for name in self.dot for term in self._term(column_expression(name))} or {0: None}

    def _digits(self, text: str) -> str:
        if not text.isdigit():
            raise FormulaError(
                f"{shown(text)} stands alone in the formula; a term is a column, a function of columns or 1."
            )
        return text


def _parse_part(text: str, dot: tuple[str, ...]) -> Part:
    """Terms and offsets of one right-hand side."""
    text = text.strip()
    if not text:
        raise FormulaError("A side of the formula is empty; write 1 for no predictors.")
    reader = _Reader(text, dot)
    found = Expansion(text).terms(reader.symbols())
    factors = list(reader.factors.values())
    terms, offsets = [], []
    for chosen in _products(found, factors, text):
        inside = [_offset(factor) for factor in chosen]
        if not any(inside):
            terms.append(Term(chosen))
        elif len(chosen) == 1 and inside[0] is not None:
            offsets.append(inside[0])
        else:
            raise FormulaError(f"An offset stands alone, not in a product: {Term(chosen).label!r}.")
    terms.sort(key=lambda term: len(term.factors))  # stable: R's order, by degree and then as written
    return Part(tuple(terms), tuple(offsets), 0 in found)


def _products(found: Iterable[int], factors: list[Expression], text: str) -> Iterator[tuple[Expression, ...]]:
    """The factors of each term but the intercept, as long as their labels are not too much to hold."""
    room = MAX_LABELS
    for term in found:
        chosen = []
        for position in positions(term):
            chosen.append(factors[position])
            room -= 1 + len(factors[position].label)
            if room < 0:
                raise too_large(text, f"takes more than {MAX_LABELS:,} characters to write out")
        if chosen:
            yield tuple(chosen)


def _offset(factor: Expression) -> Expression | None:
    """What is inside offset(...), None for other factors."""
    tree: Any = factor.tree
    if dotted_name(getattr(tree, "func", tree)) != "offset" or not hasattr(tree, "args"):
        return None
    match = _OFFSET.fullmatch(factor.label)
    if match is None or len(tree.args) != 1 or tree.keywords:
        raise FormulaError(f"{factor.label!r}: offset() must have one variable.")
    return parse_expression(match["inside"])
