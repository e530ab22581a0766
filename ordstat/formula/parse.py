"""Formula text to terms in R's order."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from itertools import accumulate
from keyword import iskeyword
from operator import or_
from typing import Any, NamedTuple

from ..checks import advice
from ..exceptions import FormulaError

MAX_CHARACTERS = 100_000
MAX_TERMS = 10_000
MAX_COLUMNS = 100_000
#: Most nested parentheses.
MAX_DEPTH = 50
#: Most bars of random terms and conditions.
MAX_BARS = 100
#: Largest exponent, as in (a + b)^2.
MAX_POWER = 99
#: Most characters of all terms.
MAX_LABELS = 1_000_000
#: Most unions and products of terms, well below a second of work.
MAX_STEPS = 2_000_000
#: Most characters of a formula in an error.
_SHOWN = 200

#: The form of random terms, for messages about bars.
FORM = (
    "A random term reads (1 | group), (1 + x | group), (1 + x || group) or (1 |"
    " outer/inner), after a +; several groups are several terms: (1 | a) + (1 | b)"
)
NO_DOLLAR = "write columns without 'data$' before their names."
#: The function of smooth terms.
SMOOTH = "s"
#: Its argument that gives every group its own curve.
_BY = "by"
#: The basis of random effects, s(g, bs="re"), and their function, re(g).
_BASIS = "bs"
RANDOM = "re"
#: Names of values, unless the data have such a column.
CONSTANTS = {"TRUE": True, "FALSE": False, "pi": math.pi}

#: A name, with the marks of other scripts that follow a letter.
NAME = r"[^\W\d](?:\w|[^\x00-\xbf\xd7\xf7\u2000-\u2bff\u3000-\u303f])*"
#: A text in quotes; without a closing quote it reaches to the end.
TEXT = r"'(?:\\.|[^'\\])*(?:'|\\?\Z)|\"(?:\\.|[^\"\\])*(?:\"|\\?\Z)|`[^`]+`"
_QUOTED = "quoted_name_"
#: Operators and options of R that Python spells differently; & and | bind less than
#: comparisons, as in R.
_R_SPELLING = {
    "^": "**",
    "&": " and ",
    "&&": " and ",
    "|": " or ",
    "||": " or ",
    "!": " not ",
    "%in%": " in ",
    "%%": "%",
    "%/%": "//",
    "Boundary.knots": "boundary_knots",
}
_PIECES = re.compile(
    rf"{TEXT}|\^|&&?|\|\|?|!(?!=)|%in%|%%|%/%|\bBoundary\.knots\b(?=\s*=)|{NAME}",
    re.DOTALL,
)
_STAND_IN = re.compile(rf"\b{_QUOTED}((?:[0-9a-f]{{2}})+)\b")
_R_CALL = re.compile(r"\W*((?:as|is)\.\w+)\(")  # "as" and "is" are keywords of Python
_SINGLE_EQUALS = re.compile(r"^[^(=!<>]*=[^=]")
_EQUALS = re.compile(r"(?<![=!<>])=(?!=)")
_WITH_BLANKS = re.compile(r"\b[^\W\d]\w*[.?!]?(?: [^\W\d]\w*[.?!]?)+")
_TOKEN = re.compile(
    rf"\s+|(?P<name>`[^`]+`|{NAME}(?:\.\w+)*)|(?P<number>\d+(?:\.\d*)?|\.\d+)|(?P<operator>\*\*|%in%|.)",
    re.DOTALL,
)
_PLAIN = re.compile(rf"{NAME}(?:\.\w+)*")
_CALL = re.compile(r"\s*\(")
_BRACKETS = re.compile(rf"{TEXT}|[\[\](){{}}]", re.DOTALL)


def shown(text: str) -> str:
    """A formula in quotes for an error, shortened if it is long."""
    return repr(text) if len(text) <= _SHOWN else f"{text[:_SHOWN]!r}..."


def too_large(text: str, what: str) -> FormulaError:
    """The error for a formula that exceeds a limit."""
    limits = (
        f"at most {MAX_CHARACTERS:,} characters and give at most {MAX_TERMS:,} terms"
    )
    return FormulaError(
        f"The formula {shown(text)} {what}. A formula may have {limits}."
    )


def check_text(text: Any) -> None:
    """FormulaError unless a formula is a string of allowed length and size."""
    if not isinstance(text, str):
        raise FormulaError(
            "A formula must be a text such as 'rating ~ temp + contact'; got"
            f" {type(text).__name__}."
        )
    if len(text) > MAX_CHARACTERS:
        raise too_large(text, f"has {len(text):,} characters")
    if text.count("|") > MAX_BARS:
        raise FormulaError(
            f"The formula {shown(text)} has more than {MAX_BARS} bars '|'."
        )
    if text.count("(") + text.count("[") > MAX_DEPTH:
        steps = ((character in "([") - (character in ")]") for character in text)
        if max(accumulate(steps)) > MAX_DEPTH:
            raise FormulaError(
                f"The formula {shown(text)} has more than {MAX_DEPTH} nested"
                " parentheses."
            )


# Expressions: the factors of terms, conditions


@dataclass(frozen=True)
class Expression:
    """One factor of a formula.

    Attributes
    ----------
    key : str
        Normal form, the same for all spellings of a factor.
    label : str
        Text of the user.
    """

    key: str
    label: str

    @property
    def tree(self) -> ast.expr:
        return _tree(self.key)

    @cached_property
    def names(self) -> frozenset[str]:
        """Names of the columns in it, without names of functions."""
        if self.key.isidentifier() and not iskeyword(self.key):
            return frozenset([unquoted(self.key)])
        calls = [
            node.func for node in ast.walk(self.tree) if isinstance(node, ast.Call)
        ]
        called = {id(part) for function in calls for part in ast.walk(function)}
        names = (
            dotted_name(part) for part in ast.walk(self.tree) if id(part) not in called
        )
        return frozenset(name for name in names if name is not None)

    @property
    def text(self) -> str:
        """The formula text, with backticks around column names that need them."""
        plain = (
            self.label not in self.names or self.label.replace(".", "_").isidentifier()
        )
        return self.label if plain else f"`{self.label}`"


def quoted(name: str) -> str:
    """A Python identifier in place of a column name."""
    usable = (
        name.isascii()
        and name.isidentifier()
        and not iskeyword(name)
        and not name.startswith(_QUOTED)
    )
    return name if usable else _QUOTED + name.encode("utf-8", "surrogatepass").hex()


def unquoted(text: str) -> str:
    """A text with the identifiers of `quoted` replaced by column names."""
    if _QUOTED not in text:
        return text
    return _STAND_IN.sub(
        lambda match: bytes.fromhex(match[1]).decode("utf-8", "surrogatepass"), text
    )


@lru_cache(maxsize=1024)
def _tree(code: str) -> ast.expr:
    return ast.parse(code, mode="eval").body


@lru_cache(maxsize=1024)
def parse_expression(text: str) -> Expression:
    """The expression in a piece of a formula; ^ is power, backticks quote names,
    operators may be R's.
    """

    def spelled(match: re.Match[str]) -> str:
        piece = match.group()
        if piece[0] == "`":
            return quoted(piece[1:-1])
        # Python normalises similar names to one, so these get a stand-in.
        alike = piece[0] not in "'\"" and (
            not piece.isascii() or piece.startswith(_QUOTED)
        )
        return quoted(piece) if alike else _R_SPELLING.get(piece, piece)

    check_text(text)
    label = " ".join(text.split())
    code = _PIECES.sub(spelled, label).strip()
    try:
        key = ast.unparse(_tree(code))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise FormulaError(
            f"Cannot read {shown(label)} in the formula: {_why(error, label)}"
        ) from error
    return Expression(key, label)


def _why(error: Exception, label: str) -> str:
    """Python's reason why an expression cannot be read, without line numbers."""
    why = error.msg.split(". ")[0] if isinstance(error, SyntaxError) else str(error)
    if call := _R_CALL.match(label):
        return f"{call.group(1)} is R's.{advice('function', call.group(1))}"
    if "$" in label:
        return NO_DOLLAR
    if _SINGLE_EQUALS.match(label) or ("(" not in label and _EQUALS.search(label)):
        return "values are compared by ==, and conditions joined by & or |."
    names = _WITH_BLANKS.search(label)
    if names is None:
        return f"{why}."
    shown = names.group()[:_SHOWN]
    return f"{why}. Put backticks around a name with blanks: `{shown}`."


def column_expression(name: str) -> Expression:
    """A column by name, with any characters; FormulaError for a name without any, as
    labels of terms would be empty.
    """
    if not name:
        raise FormulaError(
            "The data have a column whose name is empty (''), often the row numbers of"
            " a CSV file. Rename it, or leave it out."
        )
    return Expression(quoted(name), name)


def dotted_name(node: ast.AST) -> str | None:
    """a.b.c of a chain of attributes, None for anything else."""
    if isinstance(node, ast.Name):
        return unquoted(node.id)
    if (
        isinstance(node, ast.Attribute)
        and (head := dotted_name(node.value)) is not None
    ):
        return f"{head}.{unquoted(node.attr)}"
    return None


def _is_random_basis(option: ast.keyword) -> bool:
    value = option.value
    return (
        option.arg == _BASIS
        and isinstance(value, ast.Constant)
        and value.value == RANDOM
    )


def literal(node: ast.expr) -> Any:
    """A constant, a negative number, or a list, tuple or c(...) of them; FormulaError
    for anything else.
    """
    if isinstance(node, ast.Constant) and isinstance(
        node.value, (int, float, str, bool, type(None))
    ):
        return node.value
    if (
        isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.USub)
        and not isinstance(node.operand, ast.Name)
    ):
        value = literal(node.operand)
        if isinstance(value, (int, float)):
            return -value
    if isinstance(node, (ast.List, ast.Tuple)):
        return tuple(map(literal, node.elts))
    if (
        isinstance(node, ast.Call)
        and dotted_name(node.func) == "c"
        and not node.keywords
    ):
        return tuple(map(literal, node.args))
    if isinstance(node, ast.Name) and node.id in CONSTANTS:
        return CONSTANTS[node.id]
    raise FormulaError(f"{said(node)} must be a number, a text or a list of them.")


def source(node: ast.AST) -> str:
    """The text of a node."""
    return unquoted(ast.unparse(node))


def said(node: ast.AST) -> str:
    """The text of a node in quotes, for an error."""
    return shown(source(node))


# Terms and right-hand sides


@dataclass(frozen=True)
class Term:
    """A product of factors, in the order of their first occurrence in the formula."""

    factors: tuple[Expression, ...]

    @cached_property
    def label(self) -> str:
        return ":".join([factor.label for factor in self.factors])

    @cached_property
    def keys(self) -> tuple[str, ...]:
        return tuple([factor.key for factor in self.factors])

    @property
    def text(self) -> str:
        """As a formula writes it."""
        return ":".join([factor.text for factor in self.factors])


@dataclass(frozen=True)
class Side:
    """One right-hand side of a formula.

    Attributes
    ----------
    terms : tuple of Term
        Main effects first, then two-way terms and so on; without the intercept, which
        is always implied.
    offsets : tuple of Expression
    intercept : bool
        False if the text tries to remove the intercept.
    random : tuple of RandomPart
    note : str
        A warning about an ambiguous formula; empty if there is none.
    """

    terms: tuple[Term, ...] = ()
    offsets: tuple[Expression, ...] = ()
    intercept: bool = True
    random: tuple[RandomPart, ...] = ()
    note: str = ""

    @cached_property
    def factors(self) -> dict[str, Expression]:
        """The factors of the terms by key."""
        return {factor.key: factor for term in self.terms for factor in term.factors}

    def __str__(self) -> str:
        """As a formula writes it."""
        offsets = [f"offset({offset.text})" for offset in self.offsets]
        return (
            " + ".join(
                [
                    *(t.text for t in self.terms),
                    *offsets,
                    *(part.text for part in self.random),
                ]
            )
            or "1"
        )


@dataclass(frozen=True)
class RandomPart:
    """One random term, (columns | group).

    Attributes
    ----------
    columns : Side
        The left side, with its intercept.
    group : Term
        The factor, or factors a:b, that define the groups.
    correlated : bool
        False if the bar is double.
    text : str
        As a formula writes it.
    """

    columns: Side
    group: Term
    correlated: bool
    text: str

    @property
    def key(self) -> str:
        """The text without blanks; it differs from the key of every expression."""
        return "".join(self.text.split())

    @property
    def label(self) -> str:
        """The text; both random parts and expressions can be factors of products."""
        return self.text


class Token(NamedTuple):
    """A name, call, number or operator of a formula, with its position."""

    kind: str
    text: str
    start: int
    end: int


#: Functions of a censored response, and their arguments.
PARTIAL = {"interval": ("low", "high"), "Surv": ("time", "event")}


class PartialCall(NamedTuple):
    """A call on the left-hand side, Surv() or interval(), and its two columns."""

    function: str
    columns: tuple[str, str]


@lru_cache(maxsize=256)
def parse_formula(text: str, columns: tuple[str, ...]) -> tuple[str, Side]:
    """The response (see `parse_response`) and the location side; a dot on the right
    stands for `columns`.
    """
    left, tilde, right = split_formula(text)
    if not tilde or not left.strip():
        meant = " Write '~' instead of '='." if "=" in text and not tilde else ""
        raise FormulaError(
            f"{shown(text)} has no response; a formula has the form 'response ~ x1 +"
            f" x2'.{meant}"
        )
    response = parse_response(left)
    others = tuple(name for name in columns if name not in columns_of(response))
    if right.strip() == "." and others:
        return response, Side(
            tuple([Term((column_expression(name),)) for name in others])
        )
    side = _parse_side(right, others)
    if side.random and uses_dot(text):
        raise FormulaError(
            f"The formula {shown(text)} has a dot, which would include the groups: name"
            " the columns."
        )
    return response, side


@lru_cache(maxsize=256)
def parse_one_sided(text: str, columns: tuple[str, ...], argument: str) -> Side:
    """The right-hand side in nominal="~ x" or scale="~ x"."""
    left, tilde, right = split_formula(text)
    if tilde and left.strip():
        raise FormulaError(
            f"{argument}= must be a one-sided formula such as '~ x1 + x2'; got"
            f" {shown(text)}."
        )
    return _parse_side(right if tilde else left, columns)


def uses_dot(text: str) -> bool:
    """Whether a dot stands for all other columns, so that the parse depends on them."""
    check_text(text)
    return "." in text and any(token.text == "." for token in _tokens(text))


def split_formula(text: str) -> tuple[str, str, str]:
    """Left, tilde and right; a tilde in quotes or calls does not count."""
    check_text(text)
    tildes = [token.start for token in _tokens(text) if token.text == "~"]
    if len(tildes) > 1:
        raise FormulaError(f"{shown(text)} has more than one '~'.")
    return (text[: tildes[0]], "~", text[tildes[0] + 1 :]) if tildes else (text, "", "")


def substitute_dot(text: str, replacement: str) -> str:
    """The right-hand side with every separate dot replaced by another right-hand side
    in parentheses.
    """
    dots = [token.start for token in _tokens(text) if token.text == "."]
    inside = f"({replacement.strip()})"
    if (size := len(text) + len(dots) * (len(inside) - 1)) > MAX_CHARACTERS:
        raise too_large(text, f"has {size:,} characters with every dot filled in")
    starts = [0, *(dot + 1 for dot in dots)]
    return inside.join(
        text[start:end] for start, end in zip(starts, [*dots, len(text)], strict=True)
    ).strip()


@lru_cache(maxsize=16)  # the same text is needed several times in a row
def _tokens(text: str) -> tuple[Token, ...]:
    tokens = list[Token]()
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        assert match is not None
        kind = match.lastgroup
        position = match.end()
        if kind == "name" and _CALL.match(text, position):
            kind = "call"
            position = _closing(text, position)
        if kind is not None:
            tokens.append(
                Token(kind, text[match.start() : position], match.start(), position)
            )
    return tuple(tokens)


def _closing(text: str, start: int) -> int:
    """The position after the bracket that closes the bracket at `start`."""
    depth = 0
    for match in _BRACKETS.finditer(text, start):
        depth += (match.group() in "([{") - (match.group() in ")]}")
        if depth == 0 and match.group() in ")]}":
            return match.end()
    raise FormulaError(
        f"Cannot read the formula {shown(text)}: a parenthesis is not closed."
    )


def bare_names(texts: Iterable[str], names: Iterable[str]) -> list[str]:
    """The names of columns that need backticks in a formula and stand there without.

    Examples
    --------
    >>> bare_names(["y ~ age (years) + `a-b`"], ["y", "age (years)", "a-b"])
    ['age (years)']
    """
    unquoted_parts = [re.sub(TEXT, " ", text, flags=re.DOTALL) for text in texts]
    return [
        name
        for name in names
        if re.search(r"[^\W\d]", name)
        and (_PLAIN.fullmatch(name) is None or iskeyword(name))
        and any(
            re.search(rf"(?<!\w){re.escape(name)}(?!\w)", part)
            for part in unquoted_parts
        )
    ]


def parse_response(text: str) -> str:
    """The column y of y, factor(y), ordered(y), C(y) or I(y); the text of a call of
    Surv() or interval().
    """
    # keywords of Python that are common names of responses
    if text.strip() in ("class", "pass"):
        return text.strip()
    expression = parse_expression(text)
    node: Any = expression.tree
    function = dotted_name(getattr(node, "func", node)) or ""
    if (
        function in ("factor", "ordered", "C", "I")
        and isinstance(node, ast.Call)
        and len(node.args) == 1
    ):
        if node.keywords:
            raise FormulaError(
                f"{said(node)}: pass the levels of the response as levels=[...] to"
                " ordfit."
            )
        node = node.args[0]
    if (name := dotted_name(node)) is not None:
        return name
    if function in PARTIAL:
        call = expression.label
        partial_call(call)  # refuses other arguments than two columns
        return call
    hint = advice("function", function) or " Make it a column of the data first."
    raise FormulaError(
        f"The response must be one column; got {expression.label!r}.{hint}"
    )


@lru_cache(maxsize=256)
def partial_call(response: str) -> PartialCall | None:
    """The call of Surv() or interval() in a response; None for the name of a column."""
    if not response.endswith(")"):
        return None
    node = parse_expression(response).tree
    function = dotted_name(node.func) if isinstance(node, ast.Call) else None
    if not isinstance(node, ast.Call) or function not in PARTIAL:
        return None
    arguments = PARTIAL[function]
    given = dict(zip(arguments, node.args, strict=False))
    given |= {word.arg or "": word.value for word in node.keywords}
    names = [dotted_name(given[name]) if name in given else None for name in arguments]
    first, second = names
    too_many = len(node.args) + len(node.keywords) != 2
    if first is None or second is None or too_many:
        raise FormulaError(
            f"{function}() must have two columns, {function}({', '.join(arguments)});"
            f" got {response!r}. Make other values columns of the data first."
        )
    return PartialCall(function, (first, second))


def columns_of(response: str) -> tuple[str, ...]:
    """The columns from which a response is read.

    Examples
    --------
    >>> columns_of("Surv(days, died)"), columns_of("rating")
    (('days', 'died'), ('rating',))
    """
    call = partial_call(response)
    return (response,) if call is None else call.columns


#: Products of factors as bits, in order of occurrence; 0 is the intercept.
Terms = dict[int, None]


def _parse_side(text: str, dot: tuple[str, ...]) -> Side:
    """Terms and offsets of one right-hand side."""
    text = text.strip()
    if not text:
        raise FormulaError("A side of the formula is empty; write 1 for no predictors.")
    reader = _Reader(text, dot)
    products = reader.read()
    factors = list(reader.factors.values())
    inside = {
        factor.key: _inside_offset(factor)
        for factor in factors
        if isinstance(factor, Expression)
    }
    terms = []
    offsets = []
    random = []
    room = MAX_LABELS
    for bits in products:
        chosen = list[Any]()
        while bits:
            lowest = bits & -bits
            chosen.append(factors[lowest.bit_length() - 1])
            bits ^= lowest
            room -= 1 + len(chosen[-1].label)
            if room < 0:
                raise too_large(
                    text, f"takes more than {MAX_LABELS:,} characters to write out"
                )
        if len(chosen) == 1 and isinstance(chosen[0], RandomPart):
            random.append(chosen[0])
        elif len(chosen) == 1 and (offset := inside[chosen[0].key]) is not None:
            offsets.append(offset)
        elif any(
            isinstance(factor, RandomPart) or inside[factor.key] for factor in chosen
        ):
            raise FormulaError(
                "An offset must stand alone, not in a product, as must a random term."
                f" {FORM}."
            )
        elif chosen:
            terms.append(Term(tuple(chosen)))
    # stable: R's order, by degree and then as written
    terms.sort(key=lambda term: len(term.factors))
    return Side(tuple(terms), tuple(offsets), 0 in products, tuple(random), reader.note)


def _inside_offset(factor: Expression) -> Expression | None:
    """The argument of offset(...); None for other factors."""
    tree: Any = factor.tree
    if not isinstance(tree, ast.Call) or dotted_name(tree.func) != "offset":
        return None
    if len(tree.args) != 1 or tree.keywords:
        raise FormulaError(f"{factor.label!r}: offset() must have one variable.")
    return parse_expression(factor.label.partition("(")[2].rstrip()[:-1])


class _Reader:
    """Reads one right-hand side by recursive descent; terms are formed within the
    limits.

    Attributes
    ----------
    factors : dict of key to Expression or RandomPart
        Factors in order of first occurrence.
    bits : dict of key to int
        The bit of each factor.
    steps : int
        Unions and products of terms so far.
    note : str
        Note on the right-hand side.
    """

    def __init__(self, text: str, dot: tuple[str, ...]):
        self.text = text
        self.dot = dot
        self.tokens = [*_tokens(text), Token("end", "", len(text), len(text))]
        self.place = 0
        self.factors: dict[str, Expression | RandomPart] = {}
        self.bits: dict[str, int] = {}
        self.steps = 0
        self.note = ""

    def read(self) -> Terms:
        """The terms in R's order before sorting by degree; includes 0 for an intercept
        that is not removed.
        """
        terms = self._sum({0: None})
        if self.tokens[self.place].kind != "end":
            raise self._misplaced()
        return terms

    def _take(self, *operators: str) -> str:
        """Consume the next token if it is one of these operators; else return an empty
        text.
        """
        kind, text = self.tokens[self.place][:2]
        if kind != "operator" or text not in operators:
            return ""
        self.place += 1
        return text

    def _sum(self, terms: Terms) -> Terms:
        sign = "+"
        while sign:
            while again := self._take("+", "-"):  # a second minus cancels the first
                sign = sign if again == "+" else {"+": "-", "-": "+"}[sign]
            if self.tokens[self.place].text == "0":  # "+ 0" removes the intercept
                self.place += 1
                sign = {"+": "-", "-": "+"}[sign]
                right = {0: None}
            else:
                right = self._crossed()
            self._limited({}, len(right))
            if sign == "+":
                terms.update(right)
                self._limited(terms)
            else:
                for term in right:
                    terms.pop(term, None)
            sign = self._take("+", "-")
        return terms

    def _crossed(self) -> Terms:
        left = self._interaction()
        while operator := self._take("*", "/"):
            right = self._interaction()
            self._limited({}, len(left))
            if operator == "*":
                outer = left
            elif left:
                outer = {reduce(or_, left): None}
            else:
                outer = {}
            joined = self._product(outer, right)
            left = self._limited(
                left | right | joined if operator == "*" else left | joined
            )
        return left

    def _interaction(self) -> Terms:
        left = self._power()
        while self._take(":", "%in%"):  # a %in% b is a:b in R
            left = self._product(left, self._power())
        return left

    def _power(self) -> Terms:
        """A value times itself until nothing is added: then all products of its factors
        are present.
        """
        base = terms = self._value()
        while self._take("^", "**"):
            kind, exponent = self.tokens[self.place][:2]
            if (
                kind != "number"
                or not exponent.isdigit()
                or not 1 <= int(exponent[:9]) <= MAX_POWER
            ):
                raise self._unreadable(
                    f"an exponent must be a whole number from 1 to {MAX_POWER}"
                )
            self.place += 1
            if len(base) == 1 and int(exponent) > 1:
                self.note = (
                    f"{self.text!r}: a power of a term is the term, as in R. Write"
                    " I(x^2) for a square."
                )
            for _ in range(int(exponent) - 1):
                size = len(terms)
                terms = self._product(terms, base)
                if len(terms) == size:
                    break
            base = terms
        return terms

    def _value(self) -> Terms:
        kind, text = self.tokens[self.place][:2]
        if kind == "end":
            raise self._unreadable("it ends where a term should follow")
        self.place += 1
        if kind == "call":
            return self._call(parse_expression(text))
        if kind == "name":
            return self._term(column_expression(text.strip("`")))
        if text == "1":
            return {0: None}
        if text == ".":  # the intercept if there are no other columns
            return {
                term: None
                for name in self.dot
                for term in self._term(column_expression(name))
            } or {0: None}
        if text == "(" and (random := self._random()):
            return random
        if text == "(":
            inside = self._sum({})
            if not self._take(")"):
                raise self._misplaced()
            return inside
        self.place -= 1
        raise self._misplaced()

    def _call(self, factor: Expression) -> Terms:
        """A factor, the product s(x):g that s(x, by=g) stands for, or the term re(g)
        that s(g, bs="re") stands for.
        """
        tree: Any = factor.tree
        if not isinstance(tree, ast.Call) or dotted_name(tree.func) != SMOOTH:
            return self._term(factor)
        kept = [option for option in tree.keywords if not _is_random_basis(option)]
        if len(kept) < len(tree.keywords):
            key = ast.unparse(ast.Call(ast.Name(RANDOM), tree.args, kept))
            return self._term(Expression(key, unquoted(key)))
        groups = [option for option in tree.keywords if option.arg == _BY]
        if not groups:
            return self._term(factor)
        kept = [option for option in tree.keywords if option.arg != _BY]
        terms: Terms = {0: None}
        for part in (ast.Call(tree.func, tree.args, kept), groups[0].value):
            key = ast.unparse(part)
            terms = self._product(terms, self._term(Expression(key, unquoted(key))))
        return terms

    def _random(self) -> Terms:
        """The random terms in the parenthesis just opened, two for a/b after the bar;
        empty without a bar.
        """
        depth = 1
        bars = list[Token]()
        end = self.place
        while depth and end < len(self.tokens) and "|" in self.text:
            text = self.tokens[end].text
            depth += (text == "(") - (text == ")")
            if text == "|" and depth == 1:
                bars.append(self.tokens[end])
            end += 1
        if depth or not bars:
            return {}
        mark = self.text[bars[0].start : bars[-1].end]
        left = self.text[self.tokens[self.place].start : bars[0].start].strip()
        right = self.text[bars[-1].end : self.tokens[end - 1].start].strip()
        self.place = end
        error = FormulaError(
            f"Cannot read the random term {shown(f'({left} {mark} {right})')}. {FORM}."
        )
        if (
            mark not in ("|", "||")
            or not left
            or not right
            or re.search(r"[+*]", right)
        ):
            raise error
        columns = _parse_side(left, ())
        groups = _parse_side(right, ())
        sizes = [len(group.factors) for group in groups.terms]
        nested = (
            len(sizes) == 1 or sizes == list(range(1, len(groups.factors) + 1)) != []
        )
        within = any(side.offsets or side.random for side in (columns, groups))
        if not nested or within or not (columns.terms or columns.intercept):
            raise error
        parts = [
            RandomPart(columns, group, mark == "|", f"({left} {mark} {group.text})")
            for group in groups.terms
        ]
        return {bits: None for part in parts for bits in self._term(part)}

    def _term(self, factor: Expression | RandomPart) -> Terms:
        index = self.bits.setdefault(factor.key, len(self.bits))
        self.factors.setdefault(factor.key, factor)
        if index >= MAX_TERMS:
            raise too_large(self.text, f"has more than {MAX_TERMS:,} variables")
        return {1 << index: None}

    def _product(self, left: Terms, right: Terms) -> Terms:
        self._limited({}, len(left) * len(right))
        out: Terms = {}
        for term in left:
            out.update(dict.fromkeys([term | other for other in right]))
            self._limited(out)
        return out

    def _limited(self, terms: Terms, steps: int = 0) -> Terms:
        """These terms, with their steps counted; FormulaError beyond a limit."""
        self.steps += steps
        if self.steps > MAX_STEPS:
            raise too_large(
                self.text, f"needs more than {MAX_STEPS:,} sums and products of terms"
            )
        if len(terms) - (0 in terms) > MAX_TERMS:
            raise too_large(self.text, f"gives more than {MAX_TERMS:,} terms")
        return terms

    def _misplaced(self) -> FormulaError:
        """The error for a misplaced token, with a suggestion."""
        kind, text = self.tokens[self.place][:2]
        before = self.tokens[self.place - 1].text if self.place else ""
        if kind == "end":
            form = f". {FORM}" if "|" in self.text else ""
            return self._unreadable(f"a parenthesis is not closed{form}")
        if kind == "number":
            return self._unreadable(
                "it multiplies a term by a number, or adds one; write I(2 * x) for"
                f" {shown(text)}"
            )
        if kind != "operator":
            why = (
                f"no operator stands between {shown(before)} and {shown(text)}. Put +"
                " between two terms"
            )
            return self._unreadable(f"{why}, or backticks around one name with blanks")
        hints = {"|": f". {FORM}", "$": f": {NO_DOLLAR[:-1]}", "(": "", ")": ""}
        hint = hints.get(
            text, "; put arithmetic and conditions inside I(), as in I(x > 40)"
        )
        return self._unreadable(
            f"{text!r} is not an operator of formulas, or misplaced{hint}"
        )

    def _unreadable(self, why: str) -> FormulaError:
        return FormulaError(f"Cannot read the formula {shown(self.text)}: {why}.")
