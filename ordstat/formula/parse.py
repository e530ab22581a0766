"""Formula text to terms in R's order."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache, reduce
from operator import or_
from typing import Any, NamedTuple

from ..checks import advice
from ..exceptions import FormulaError
from .factors import (
    MAX_CHARACTERS,
    MAX_LABELS,
    MAX_STEPS,
    MAX_TERMS,
    NAME,
    NO_DOLLAR,
    TEXT,
    Expression,
    check_text,
    column_expression,
    dotted_name,
    literal,
    parse_expression,
    shown,
    too_large,
)

#: The right form, for every message about a bar.
FORM = "A random term reads (1 | group), (1 + x | group), (1 + x || group) or (1 | outer/inner), after a +"
Terms = dict[int, None]
#: Largest exponent, as in (a + b)^2.
MAX_POWER = 99

_OFFSET = re.compile(r"\s*offset\s*\((?P<inside>.*)\)\s*", re.DOTALL)
_TOKEN = re.compile(
    rf"\s+|(?P<name>`[^`]+`|{NAME}(?:\.\w+)*)|(?P<number>\d+(?:\.\d*)?|\.\d+)|(?P<operator>\*\*|%in%|.)", re.DOTALL
)
_CALL = re.compile(r"\s*\(|\[")
_ATTRIBUTE = re.compile(rf"\.{NAME}")
_BRACKETS = re.compile(rf"{TEXT}|[\[\](){{}}]", re.DOTALL)


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

    def factors(self) -> dict[str, Expression]:
        """The factors of the terms by key."""
        return {factor.key: factor for term in self.terms for factor in term.factors}

    def __str__(self) -> str:
        """As a formula writes it."""
        offsets = [f"offset({offset.text})" for offset in self.offsets]
        pieces = [*(term.text for term in self.terms), *offsets, *(term.text for term in self.random)]
        return " + ".join(pieces) or "1"


@dataclass(frozen=True)
class RandomPart:
    """One random term, (columns | group).

    Attributes
    ----------
    columns : Part
        The left side, with its intercept.
    group : Term
        The factor, or the factors a:b, whose values make the groups.
    correlated : bool
        False if the bar is double.
    text : str
        As a formula writes it.
    """

    columns: Part
    group: Term
    correlated: bool
    text: str

    @property
    def key(self) -> str:
        """The text without blanks, which no expression of columns can be."""
        return "".join(self.text.split())

    label = property(lambda self: self.text)


class ResponseName(NamedTuple):
    """The column on the left, and the levels its call declares, as in ordered(y, levels=["lo", "hi"])."""

    column: str
    levels: Any = None


class Token(NamedTuple):
    """A piece of a formula: a name, a call, a number or an operator, and its place."""

    kind: str
    text: str
    start: int
    end: int


@lru_cache(maxsize=256)
def parse_formula(text: str, columns: tuple[str, ...]) -> tuple[ResponseName, Part]:
    """Response and location part; `columns` stand for a dot on the right (the response is left out)."""
    left, tilde, right = split_formula(text)
    if not tilde or not left.strip():
        meant = " Write '~' in place of '='." if "=" in text and not tilde else ""
        raise FormulaError(f"{shown(text)} has no response: a formula reads 'response ~ x1 + x2'.{meant}")
    response = parse_response(left)
    part = _parse_part(right, tuple(name for name in columns if name != response.column))
    if part.random and uses_dot(text):
        raise FormulaError(f"The formula {shown(text)} has a dot, which would include the groups: name the columns.")
    return response, part


@lru_cache(maxsize=256)
def parse_one_sided(text: str, columns: tuple[str, ...], argument: str) -> Part:
    """The part in nominal="~ x" or scale="~ x"."""
    left, tilde, right = split_formula(text)
    if tilde and left.strip():
        raise FormulaError(f"{argument}= must be a one-sided formula such as '~ x1 + x2'; got {shown(text)}.")
    return _parse_part(right if tilde else left, columns)


def uses_dot(text: str) -> bool:
    """Whether a dot stands for all other columns, so that the parse depends on them."""
    check_text(text)
    return any(token.text == "." for token in _tokens(text))


def split_formula(text: str) -> tuple[str, str, str]:
    """Left, tilde and right, where a tilde in quotes or calls does not count."""
    tildes = [token.start for token in _tokens(text) if token.text == "~"]
    if len(tildes) > 1:
        raise FormulaError(f"{shown(text)} has more than one '~'.")
    return (text[: tildes[0]], "~", text[tildes[0] + 1 :]) if tildes else (text, "", "")


def substitute_dot(text: str, replacement: str) -> str:
    """The right-hand side with every dot that stands alone replaced by another right-hand side, in parentheses."""
    dots = [token.start for token in _tokens(text) if token.text == "."]
    inside = f"({replacement.strip()})"
    if (size := len(text) + len(dots) * (len(inside) - 1)) > MAX_CHARACTERS:
        raise too_large(text, f"has {size:,} characters with every dot filled in")
    starts = [0, *(dot + 1 for dot in dots)]
    return inside.join(text[start:end] for start, end in zip(starts, [*dots, len(text)], strict=True)).strip()


@lru_cache(maxsize=16)  # one text is asked for several times in a row
def _tokens(text: str) -> tuple[Token, ...]:
    check_text(text)
    found, place = list[Token](), 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        assert match is not None
        kind, place = match.lastgroup, match.end()
        if kind == "name" and _CALL.match(text, place):
            kind = "call"
            while more := _CALL.match(text, place) or _ATTRIBUTE.match(text, place):
                place = more.end() if more.group()[0] == "." else _closing(text, place)
        if kind is not None:
            found.append(Token(kind, text[match.start() : place], match.start(), place))
    return tuple(found)


def _closing(text: str, start: int) -> int:
    """The place after the bracket that closes the one at `start`."""
    depth = 0
    for match in _BRACKETS.finditer(text, start):
        depth += (match.group() in "([{") - (match.group() in ")]}")
        if depth == 0 and match.group() in ")]}":
            return match.end()
    raise FormulaError(f"Cannot read the formula {shown(text)}: a parenthesis is not closed.")


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
    hint = advice("function", function or "") or " Make it a column of the data first."
    raise FormulaError(f"The response must be one column; got {expression.label!r}.{hint}")


def _parse_part(text: str, dot: tuple[str, ...]) -> Part:
    """Terms and offsets of one right-hand side."""
    text = text.strip()
    if not text:
        raise FormulaError("A side of the formula is empty; write 1 for no predictors.")
    reader = _Reader(text, dot)
    read = reader.read()
    factors = list(reader.factors.values())
    terms, offsets, random, room = [], [], [], MAX_LABELS
    for bits in read:
        chosen = list[Any]()
        while bits:
            lowest = bits & -bits
            chosen.append(factors[lowest.bit_length() - 1])
            bits ^= lowest
            room -= 1 + len(chosen[-1].label)
            if room < 0:
                raise too_large(text, f"takes more than {MAX_LABELS:,} characters to write out")
        inside = [None if isinstance(factor, RandomPart) else _offset(factor) for factor in chosen]
        if len(chosen) == 1 and isinstance(chosen[0], RandomPart):
            random.append(chosen[0])
        elif len(chosen) == 1 and inside[0] is not None:
            offsets.append(inside[0])
        elif any(isinstance(factor, RandomPart) for factor in chosen):
            raise FormulaError(f"A random term must stand alone, not in a product. {FORM}.")
        elif any(inside):
            raise FormulaError(f"An offset must stand alone, not in a product: {Term(tuple(chosen)).label!r}.")
        elif chosen:
            terms.append(Term(tuple(chosen)))
    terms.sort(key=lambda term: len(term.factors))  # stable: R's order, by degree and then as written
    return Part(tuple(terms), tuple(offsets), 0 in read, tuple(random))


def _random_parts(left: str, right: str, mark: str) -> list[RandomPart]:
    """The random terms of a bar, such as two for a/b on its right."""
    text = f"({left} {mark} {right})"
    if not left or not right:
        side = "before" if not left else "after"
        raise FormulaError(f"The random term {shown(text)} has nothing {side} its bar. {FORM}.")
    if uses_dot(left):
        raise FormulaError(f"The random term {shown(text)} has a dot: name the columns. {FORM}.")
    columns, groups = _parse_part(left, ()), _parse_part(right, ())
    nested = [len(term.factors) for term in groups.terms] == list(range(1, len(groups.factors()) + 1))
    several = any(mark in right for mark in "+*") or not (nested or len(groups.terms) == 1)
    if several or not groups.terms or columns.offsets or columns.random or groups.offsets or groups.random:
        raise FormulaError(
            f"The random term {shown(text)} must have one group after its bar. {FORM}; its group is a, a:b or a/b, "
            "and several groups are several terms: (1 | a) + (1 | b)."
        )
    if not columns.terms and not columns.intercept:
        raise FormulaError(f"The random term {shown(text)} has no column before its bar. {FORM}.")
    return [RandomPart(columns, group, mark == "|", f"({left} {mark} {group.text})") for group in groups.terms]


def _offset(factor: Expression) -> Expression | None:
    """What is inside offset(...), None for other factors."""
    tree: Any = factor.tree
    if dotted_name(getattr(tree, "func", tree)) != "offset" or not hasattr(tree, "args"):
        return None
    match = _OFFSET.fullmatch(factor.label)
    if match is None or len(tree.args) != 1 or tree.keywords:
        raise FormulaError(f"{factor.label!r}: offset() must have one variable.")
    return parse_expression(match["inside"])


class _Reader:
    """Reads one right-hand side by recursive descent, and forms its terms only as far as the limits allow.

    Attributes
    ----------
    factors : dict of key to Expression
        In the order in which they are first named.
    places : dict of key to int
        The number that stands for each factor alone.
    steps : int
        Unions and products of terms so far.
    """

    def __init__(self, text: str, dot: tuple[str, ...]):
        self.text = text
        self.dot = dot
        self.tokens = [*_tokens(text), Token("end", "", len(text), len(text))]
        self.place = 0
        self.factors: dict[str, Expression | RandomPart] = {}
        self.places: dict[str, int] = {}
        self.steps = 0

    def read(self) -> Terms:
        """The terms in the order of R before it sorts them by degree, 0 for an intercept that stays."""
        for before, after in zip(self.tokens, self.tokens[1:], strict=False):
            if before.kind in ("name", "call") and after.kind in ("name", "call"):
                raise self._unreadable(
                    f"no operator stands between {shown(before.text)} and {shown(after.text)}. Put + between two "
                    "terms, or backticks around one name with blanks, as in `a b`"
                )
        terms = self._sum({0: None})
        token = self._next
        if token.text == ")":
            raise self._unreadable("it has a ')' without '('")
        if token.kind == "operator" and token.text not in "(.":
            raise self._unreadable(f"{token.text!r} is not an operator of formulas{_meant(token.text)}")
        if token.kind != "end":
            raise self._unreadable("an operator is missing between two terms")
        return terms

    @property
    def _next(self) -> Token:
        return self.tokens[self.place]

    def _take(self, *operators: str) -> str:
        """The next operator, which is passed, if it is one of these; else an empty text."""
        text = self._next.text
        if self._next.kind != "operator" or text not in operators:
            return ""
        self.place += 1
        return text

    def _sum(self, terms: Terms) -> Terms:
        sign = "+"
        while sign:
            while again := self._take("+", "-"):  # a second minus undoes the first
                sign = sign if again == "+" else {"+": "-", "-": "+"}[sign]
            if self._next.text == "0":  # "+ 0" takes the intercept away
                self.place += 1
                sign, right = {"+": "-", "-": "+"}[sign], {0: None}
            else:
                right = self._crossed()
            self._count(len(right))
            if sign == "+":
                terms.update(right)
                self._within(terms)
            else:
                for term in right:
                    terms.pop(term, None)
            sign = self._take("+", "-")
        return terms

    def _crossed(self) -> Terms:
        left = self._interaction()
        while operator := self._take("*", "/"):
            right = self._interaction()
            if operator == "*":
                left = self._within(left | right | self._product(left, right))
            else:
                self._count(len(left))
                inside = {reduce(or_, left): None} if left else {}
                left = self._within(left | self._product(inside, right))
        return left

    def _interaction(self) -> Terms:
        left = self._power()
        while self._take(":", "%in%"):  # a %in% b is a:b in R
            left = self._product(left, self._power())
        return left

    def _power(self) -> Terms:
        """A value times itself, until that adds nothing: by then every product of its factors is there."""
        base = terms = self._value()
        while self._take("^", "**"):
            exponent = self._next.text
            if self._next.kind != "number" or not exponent.isdigit() or not 1 <= int(exponent[:9]) <= MAX_POWER:
                raise self._unreadable(f"an exponent must be a whole number from 1 to {MAX_POWER}")
            self.place += 1
            for _ in range(int(exponent) - 1):
                size, terms = len(terms), self._product(terms, base)
                if len(terms) == size:
                    break
            base = terms
        return terms

    def _value(self) -> Terms:
        kind, text = self._next.kind, self._next.text
        if kind == "end":
            raise self._unreadable("it ends where a term should follow")
        self.place += 1
        if kind == "call":
            return self._term(parse_expression(text))
        if kind == "name":
            return self._term(column_expression(text.strip("`")))
        if kind == "number":
            return self._number(text)
        if text == ".":  # the intercept where there are no other columns
            return {term: None for name in self.dot for term in self._term(column_expression(name))} or {0: None}
        if text == "(" and "|" in self.text and (bar := self._bar()):
            return bar
        if text == "(":
            inside = self._sum({})
            if self._next.kind == "end":
                raise self._unreadable("a parenthesis is not closed")
            if not self._take(")"):
                raise self._unreadable(f"{self._next.text!r} is not an operator of formulas{_meant(self._next.text)}")
            return inside
        raise self._unreadable(f"a term should stand before {text!r}{_meant(text)}")

    def _bar(self) -> Terms:
        """The random terms of the parenthesis that was just opened; empty if it has no bar of its own."""
        depth, bars, place = 1, list[int](), self.place
        while depth and place < len(self.tokens):
            text = self.tokens[place].text
            depth += (text == "(") - (text == ")")
            if text == "|" and depth == 1:
                bars.append(place)
            place += 1
        if depth or not bars:
            return {}
        first, last = (self.tokens[bar] for bar in (bars[0], bars[-1]))
        mark = self.text[first.start : last.end]
        if mark not in ("|", "||"):
            raise self._unreadable(f"a random term must have one bar. {FORM}")
        left = self.text[self.tokens[self.place].start : first.start].strip()
        right = self.text[last.end : self.tokens[place - 1].start].strip()
        self.place = place
        return {term: None for part in _random_parts(left, right, mark) for term in self._term(part)}

    def _number(self, digits: str) -> Terms:
        """1 is the intercept; no other number is a term."""
        if digits == "1":
            return {0: None}
        if not digits.isdigit():
            raise FormulaError(
                f"{shown(digits)} stands alone in the formula; a term is a column, a function of columns or 1."
            )
        raise FormulaError(
            f"{shown(self.text)} multiplies a term by a number; put arithmetic inside I(), as in I(2 * x)."
        )

    def _term(self, factor: Expression | RandomPart) -> Terms:
        place = self.places.setdefault(factor.key, len(self.places))
        self.factors.setdefault(factor.key, factor)
        if place >= MAX_TERMS:
            raise too_large(self.text, f"has more than {MAX_TERMS:,} variables")
        return {1 << place: None}

    def _product(self, left: Terms, right: Terms) -> Terms:
        self._count(len(left) * len(right))
        out: Terms = {}
        for term in left:
            out.update(dict.fromkeys([term | other for other in right]))
            self._within(out)
        return out

    def _within(self, terms: Terms) -> Terms:
        if len(terms) - (0 in terms) > MAX_TERMS:
            raise too_large(self.text, f"gives more than {MAX_TERMS:,} terms")
        return terms

    def _count(self, steps: int) -> None:
        self.steps += steps
        if self.steps > MAX_STEPS:
            raise too_large(self.text, f"takes more than {MAX_STEPS:,} sums and products of terms to work out")

    def _unreadable(self, why: str) -> FormulaError:
        return FormulaError(f"Cannot read the formula {shown(self.text)}: {why}.")


def _meant(symbol: str) -> str:
    """What to write in place of something that is not an operator."""
    if symbol == "|":
        return f". {FORM}"
    if symbol in "<>=!":
        return "; put conditions inside I(), as in I(x > 40)"
    if symbol == "%":
        return "; put arithmetic inside I(), as in I(x %% 10)"
    if symbol == "$":
        return f": {NO_DOLLAR.rstrip('.')}"
    return {",": "; join terms by '+'", "\N{MINUS SIGN}": "; write '-', the minus of the keyboard"}.get(symbol, "")
