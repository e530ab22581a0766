"""Formula text to terms in R's order. formulaic reads the operators; the factors are read by `expressions`.

A plain sum of columns, the usual formula, is read without it: its import takes longer than the fit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from keyword import iskeyword
from typing import Any

from ..exceptions import FormulaError
from .expressions import Expression, column_expression, dotted_name, literal, parse_expression

_OFFSET = re.compile(r"\s*offset\s*\((?P<inside>.*)\)\s*", re.DOTALL)
_COLOURS = re.compile(r"\x1b\[[0-9;]*m|[⧛⧚]")
_NAME = r"[A-Za-z_]\w*"
_PLAIN_SUM = re.compile(rf"\s*(?:(?P<left>{_NAME})\s*~)?\s*(?P<names>{_NAME}(?:\s*\+\s*{_NAME})*)\s*", re.ASCII)


@dataclass(frozen=True)
class Term:
    """A product of factors, in the order in which the formula first names them."""

    factors: tuple[Expression, ...]

    @property
    def label(self) -> str:
        return ":".join(factor.label for factor in self.factors)


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
    """

    terms: tuple[Term, ...] = ()
    offsets: tuple[Expression, ...] = ()
    intercept: bool = True


@dataclass(frozen=True)
class ResponseName:
    """The column on the left, and the levels its call declares, as in ordered(y, levels=["lo", "hi"])."""

    column: str
    levels: tuple[Any, ...] | None = None


@lru_cache(maxsize=256)
def parse_formula(text: str, columns: tuple[str, ...]) -> tuple[ResponseName, Part]:
    """Response and location part; `columns` stand for a dot on the right (the response is left out)."""
    plain = _plain_sum(text)
    if plain is not None and plain[0] is not None:
        return ResponseName(plain[0]), _sum_of(plain[1])
    left, tilde, right = split_formula(text)
    if not tilde or not left.strip():
        raise FormulaError(f"{text!r} has no response: a formula reads 'response ~ x1 + x2'.")
    response = parse_response(left)
    return response, parse_part(right, tuple(name for name in columns if name != response.column))


@lru_cache(maxsize=256)
def parse_one_sided(text: str, columns: tuple[str, ...], argument: str) -> Part:
    """The part in nominal="~ x" or scale="~ x"."""
    plain = _plain_sum(text)
    if plain is not None and plain[0] is None:
        return _sum_of(plain[1])
    left, tilde, right = split_formula(text)
    if tilde and left.strip():
        raise FormulaError(f"{argument}= takes a one-sided formula such as '~ x1 + x2', not {text!r}.")
    return parse_part(right if tilde else left, columns)


def uses_dot(text: str) -> bool:
    """Whether a dot stands for all other columns, so that the parse depends on them."""
    return _plain_sum(text) is None and any(token.token == "." for token in _tokens(text))


def _plain_sum(text: str) -> tuple[str | None, list[str]] | None:
    """The response, if there is one, and the columns of "y ~ a + b"; None for any other formula."""
    match = _PLAIN_SUM.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        return None
    names = [name.strip() for name in match["names"].split("+")]
    if len({*names}) < len(names) or any(iskeyword(name) for name in [*names, match["left"] or ""]):
        return None
    return match["left"], names


def _sum_of(names: Iterable[str]) -> Part:
    return Part(tuple(Term((column_expression(name),)) for name in names))


def split_formula(text: str) -> tuple[str, str, str]:
    """Left, tilde and right, where a tilde in quotes or calls does not count."""
    tildes = [t.source_start for t in _tokens(text) if t.kind.value == "operator" and "~" in t.token]
    if not tildes:
        return text, "", ""
    position = text.index("~", tildes[0])
    if len(tildes) > 1:
        raise FormulaError(f"{text!r} has more than one '~'.")
    return text[:position], "~", text[position + 1 :]


def substitute_dot(text: str, replacement: str) -> str:
    """The right-hand side with every dot that stands alone replaced by another right-hand side, in parentheses."""
    pieces, end = [], 0
    for token in _tokens(text):
        if token.token == ".":
            pieces += [text[end : token.source_start], f"({replacement.strip()})"]
            end = token.source_start + 1
    return "".join([*pieces, text[end:]]).strip()


def _tokens(text: str) -> list[Any]:
    from formulaic.errors import FormulaSyntaxError
    from formulaic.parser.algos.tokenize import tokenize

    if not isinstance(text, str):
        raise FormulaError(f"A formula is a text such as 'rating ~ temp + contact', not {type(text).__name__}.")
    try:
        return list(tokenize(text))
    except FormulaSyntaxError as error:
        raise FormulaError(f"Cannot read the formula {text!r}: {_plain_message(error)}") from error


def _plain_message(error: Exception) -> str:
    """formulaic's message without the colours and the text it quotes, which is not the user's."""
    return _COLOURS.sub("", str(error)).split("\n")[0].strip()


def parse_response(text: str) -> ResponseName:
    """A column name, or factor(y), ordered(y), C(y), Q("y"), I(y) around one."""
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
        f"The response has to be one column, not {expression.label!r}: make it a column of the data first."
    )


@dataclass(frozen=True, eq=False)
class _Reader:
    """Replaces every factor of a right-hand side by a plain name, so that formulaic sees operators only."""

    factors: dict[str, Expression]

    def name(self, expression: Expression) -> str:
        self.factors.setdefault(expression.key, expression)
        return f"v{list(self.factors).index(expression.key)}"

    def text(self, tokens: Iterable[Any], dot: tuple[str, ...]) -> str:
        return " ".join(self._piece(token, dot) for token in tokens)

    def _piece(self, token: Any, dot: tuple[str, ...]) -> str:
        kind, text = token.kind.value, token.token
        if text == ".":
            return f"({' + '.join(self.name(column_expression(column)) for column in dot)})" if dot else "1"
        if kind == "name":
            return self.name(column_expression(text))
        if kind == "python":
            return self.name(parse_expression(text))
        if kind == "operator" and text == "in":  # a %in% b is a:b in R
            return ":"
        if kind == "value" and text not in ("0", "1") and not text.isdigit():
            raise FormulaError(f"{text!r} stands alone in the formula; a term is a column, a function of columns or 1.")
        return f" {text} "


def parse_part(text: str, dot: tuple[str, ...]) -> Part:
    """Terms and offsets of one right-hand side."""
    text = text.strip()
    reader = _Reader({})
    written = reader.text(_tokens(text), dot)
    if not written.strip():
        raise FormulaError("A side of the formula is empty; write 1 for no predictors.")
    factors = list(reader.factors.values())
    intercept, products = _products(written, text)
    terms, offsets = [], []
    for product in products:
        chosen = tuple(factors[position] for position in sorted(product))
        inside = [_offset(factor) for factor in chosen]
        if not any(inside):
            terms.append(Term(chosen))
        elif len(chosen) == 1 and inside[0] is not None:
            offsets.append(inside[0])
        else:
            raise FormulaError(f"An offset stands alone, not in a product: {Term(chosen).label!r}.")
    terms.sort(key=lambda term: len(term.factors))  # stable: R's order, by degree and then as written
    return Part(tuple(terms), tuple(offsets), intercept)


def _products(written: str, text: str) -> tuple[bool, list[tuple[int, ...]]]:
    """Whether the intercept stays, and each term as positions of factors, by formulaic's operators."""
    from formulaic.errors import FormulaParsingError
    from formulaic.parser import DefaultFormulaParser

    if "|" in written:
        raise FormulaError(
            f"The formula {text!r} has a '|': random effects are not fitted. For errors that allow for groups send "
            "vcov={'cluster': 'column'} to ordfit; for an effect of each group add its column as a term."
        )
    parser = DefaultFormulaParser(feature_flags=DefaultFormulaParser.FeatureFlags.NONE)
    try:
        terms = list(parser.get_terms(written))
    except FormulaParsingError as error:
        raise FormulaError(f"Cannot read the formula {text!r}: {_plain_message(error)}") from error
    except (TypeError, AttributeError, RecursionError) as error:
        raise FormulaError(f"Cannot read the formula {text!r}: misplaced operator.") from error
    names = [[factor.expr for factor in term.factors] for term in terms]
    for expressions in names:
        if any(name != "1" and not name.startswith("v") for name in expressions):
            raise FormulaError(f"{text!r} multiplies a term by a number; put arithmetic inside I(), as in I(2 * x).")
    products = [tuple(int(name[1:]) for name in expressions if name != "1") for expressions in names]
    return ["1"] in names, [product for product in products if product]


def _offset(factor: Expression) -> Expression | None:
    """What is inside offset(...), None for other factors."""
    tree: Any = factor.tree
    if dotted_name(getattr(tree, "func", tree)) != "offset" or not hasattr(tree, "args"):
        return None
    match = _OFFSET.fullmatch(factor.label)
    if match is None or len(tree.args) != 1 or tree.keywords:
        raise FormulaError(f"{factor.label!r}: offset() takes one variable.")
    return parse_expression(match["inside"])
