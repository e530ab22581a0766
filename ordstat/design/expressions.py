"""The factors of a formula, such as log(age) or I(x1^2 + x2), read into Python's syntax tree, not run.

A formula may come from somebody else: the limits here keep it from taking all time or memory.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from keyword import iskeyword
from typing import Any

import numpy as np

from ..exceptions import FormulaError
from ..words import advice

MAX_CHARACTERS = 100_000
MAX_TERMS = 10_000
MAX_COLUMNS = 100_000
#: Parentheses inside each other, and bars of random terms and conditions.
MAX_DEPTH, MAX_BARS = 50, 100
#: Characters of all terms together.
MAX_LABELS = 1_000_000
#: Unions and products of terms formed on the way, equal ones too: well below a second of work.
MAX_STEPS = 2_000_000
#: Characters of a formula that an error repeats.
_SHOWN = 200
LARGEST = float(np.finfo(float).max)

#: Names that stand for a value where the data have no such column.
CONSTANTS = {"TRUE": True, "FALSE": False, "pi": float(np.pi)}
CODED = ("C", "factor", "ordered")

#: A name, with the marks of other scripts that follow a letter.
NAME = r"[^\W\d](?:\w|[^\x00-\xbf\xd7\xf7\u2000-\u2bff\u3000-\u303f])*"
#: A text in quotes; one that is not closed reaches to the end, so that the search does not start over inside.
TEXT = r"'(?:\\.|[^'\\])*(?:'|\\?\Z)|\"(?:\\.|[^\"\\])*(?:\"|\\?\Z)|`[^`]+`"
_QUOTED = "quoted_name_"
#: Operators and options of R that Python spells otherwise.
_R_SPELLING = {
    "^": "**", "&&": "&", "||": "|", "!": " not ", "%in%": " in ", "%%": "%", "%/%": "//",
    "Boundary.knots": "boundary_knots",
}  # fmt: skip
#: The same where & and | bind less than comparisons, as in R.
_LOOSE = _R_SPELLING | {"&": " and ", "&&": " and ", "|": " or ", "||": " or "}
_PIECES = re.compile(rf"{TEXT}|\^|&&?|\|\|?|!(?!=)|%in%|%%|%/%|\bBoundary\.knots\b(?=\s*=)|{NAME}", re.DOTALL)

NO_DOLLAR = "columns stand by their names alone, without 'data$' before them."
_R_CALL = re.compile(r"\W*((?:as|is)\.\w+)\(")  # "as" and "is" are no names in Python
_SINGLE_EQUALS = re.compile(r"^[^(=!<>]*=[^=]")
_WITH_BLANKS = re.compile(r"\b[^\W\d]\w*(?: [^\W\d]\w*)+")


def shown(text: str) -> str:
    """A formula in quotes for an error, cut short where it is long."""
    return repr(text) if len(text) <= _SHOWN else f"{text[:_SHOWN]!r}..."


def too_large(text: str, what: str) -> FormulaError:
    """The error for a formula that passes a limit; `what` says how."""
    return FormulaError(
        f"The formula {shown(text)} {what}. A formula may have at most {MAX_CHARACTERS:,} characters and give at most "
        f"{MAX_TERMS:,} terms: write down the terms that you need. OrdinalClassifier takes any number of columns, "
        "without a formula."
    )


def check_text(text: Any) -> None:
    """FormulaError for a formula that is no text, or that passes a limit."""
    if not isinstance(text, str):
        raise FormulaError(f"A formula must be a text such as 'rating ~ temp + contact'; got {type(text).__name__}.")
    if len(text) > MAX_CHARACTERS:
        raise too_large(text, f"has {len(text):,} characters")
    if text.count("|") > MAX_BARS:
        raise FormulaError(f"The formula {shown(text)} has more than {MAX_BARS} bars '|'.")
    if text.count("(") + text.count("[") > MAX_DEPTH:
        steps = ((character in "([") - (character in ")]") for character in text)
        if max(accumulate(steps)) > MAX_DEPTH:
            raise FormulaError(f"The formula {shown(text)} has more than {MAX_DEPTH} parentheses inside each other.")


@dataclass(frozen=True)
class Expression:
    """One factor of a formula.

    Attributes
    ----------
    key : str
        Normal form: two spellings of one factor share it.
    label : str
        As the user wrote it.
    """

    key: str
    label: str

    @property
    def tree(self) -> ast.expr:
        return _tree(self.key)

    @property
    def names(self) -> frozenset[str]:
        """The columns in it."""
        return variables(self.tree)

    @property
    def text(self) -> str:
        """As a formula writes it: column names of any characters in backticks."""
        return f"`{self.label}`" if self.key.startswith(_QUOTED) and self.key.isidentifier() else self.label


def _python(label: str) -> str:
    """The text in Python's spelling; conditions need no parentheses, as in R: x > 0 & !z."""
    tight = _PIECES.sub(lambda piece: _spelled(piece.group(), _R_SPELLING), label)
    try:
        if " not " not in tight and not any(map(_compares_joined, ast.walk(_tree(tight)))):
            return tight
    except SyntaxError:
        pass
    return _PIECES.sub(lambda piece: _spelled(piece.group(), _LOOSE), label).strip()


def _spelled(piece: str, spelling: Mapping[str, str]) -> str:
    if piece[0] == "`":
        return quoted(piece[1:-1])
    # Python takes names that look alike for one: such a name gets a stand-in.
    alike = piece[0] not in "'\"" and (not piece.isascii() or piece.startswith(_QUOTED))
    return quoted(piece) if alike else spelling.get(piece, piece)


def _compares_joined(node: ast.AST) -> bool:
    """Whether Python takes & and | to bind closer than a comparison beside them: x > (0 & z) > 1."""
    if not isinstance(node, ast.Compare):
        return False
    sides = [side for side in (node.left, *node.comparators) if isinstance(side, ast.BinOp)]
    return any(isinstance(side.op, (ast.BitAnd, ast.BitOr)) for side in sides)


def quoted(name: str) -> str:
    """A Python identifier that stands for a column of any name."""
    usable = name.isascii() and name.isidentifier() and not iskeyword(name) and not name.startswith(_QUOTED)
    return name if usable else _QUOTED + name.encode("utf-8", "surrogatepass").hex()


def unquoted(text: str) -> str:
    """A text with the names behind its stand-ins."""
    return re.sub(
        rf"\b{_QUOTED}((?:[0-9a-f]{{2}})+)\b",
        lambda match: bytes.fromhex(match[1]).decode("utf-8", "surrogatepass"),
        text,
    )


@lru_cache(maxsize=1024)
def _tree(code: str) -> ast.expr:
    return ast.parse(code, mode="eval").body


@lru_cache(maxsize=1024)
def parse_expression(text: str) -> Expression:
    """The expression in a piece of a formula; ^ is power, backticks quote names, operators may be R's."""
    check_text(text)
    label = " ".join(text.split())
    try:
        key = ast.unparse(_tree(_python(label)))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise FormulaError(f"Cannot read {shown(label)} in the formula: {_why(error, label)}") from error
    return Expression(key, label)


def _why(error: Exception, label: str) -> str:
    """What is wrong with an expression, without Python's line numbers."""
    why = error.msg.split(". ")[0] if isinstance(error, SyntaxError) else str(error)
    call = _R_CALL.match(label)
    if call is not None:
        return f"{call.group(1)} is R's.{advice('function', call.group(1))}"
    if "$" in label:
        return NO_DOLLAR
    if _SINGLE_EQUALS.match(label):
        return "values are compared by ==."
    names = _WITH_BLANKS.search(label)
    if isinstance(error, SyntaxError) and names is not None:
        return f"{why}. Put backticks around a name with blanks: `{names.group()[:_SHOWN]}`."
    return f"{why}."


def column_expression(name: str) -> Expression:
    """A column by its name, whatever characters that has."""
    return Expression(quoted(name), name)


def dotted_name(node: ast.expr) -> str | None:
    """a.b.c of a chain of attributes, None for anything else."""
    if isinstance(node, ast.Name):
        return unquoted(node.id)
    if isinstance(node, ast.Attribute):
        head = dotted_name(node.value)
        return None if head is None else f"{head}.{unquoted(node.attr)}"
    return None


def variables(tree: ast.expr) -> frozenset[str]:
    """The names in an expression without those of the functions that it calls: columns."""
    called = {id(part) for node in ast.walk(tree) if isinstance(node, ast.Call) for part in ast.walk(node.func)}
    parts = (node for node in ast.walk(tree) if isinstance(node, ast.expr) and id(node) not in called)
    return frozenset(name for part in parts if (name := dotted_name(part)) is not None)


def coded_column(tree: ast.expr) -> str | None:
    """The column that is a factor of the formula itself or inside C(); None of any other expression."""
    if isinstance(tree, ast.Call) and dotted_name(tree.func) in CODED and tree.args:
        tree = tree.args[0]
    return unquoted(tree.id) if isinstance(tree, ast.Name) else None


def literal(node: ast.expr) -> Any:
    """A constant, a negative number, or a list, tuple or c(...) of them; FormulaError for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float, str, bool, type(None))):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_number(literal(node.operand), node)
    if isinstance(node, (ast.List, ast.Tuple)):
        return tuple(literal(item) for item in node.elts)
    if isinstance(node, ast.Call) and dotted_name(node.func) == "c" and not node.keywords:
        return tuple(literal(item) for item in node.args)
    if isinstance(node, ast.Name) and node.id in CONSTANTS:
        return CONSTANTS[node.id]
    raise FormulaError(f"{said(node)} must be a number, a text or a list of them.")


def _number(value: Any, node: ast.AST) -> Any:
    if isinstance(value, (str, tuple, type(None))):
        raise FormulaError(f"{said(node)}: a sign must stand before a number.")
    return value


def options(node: ast.Call) -> dict[str, Any]:
    """Keyword arguments, all literal."""
    if any(keyword.arg is None for keyword in node.keywords):
        raise refusal(node)
    return {str(keyword.arg): literal(keyword.value) for keyword in node.keywords}


def source(node: ast.AST) -> str:
    """The text of a node."""
    return unquoted(ast.unparse(node))


def said(node: ast.AST) -> str:
    """The text of a node in quotes, for an error."""
    return shown(source(node))


def refusal(node: ast.AST) -> FormulaError:
    """The error for something outside the language of formulas."""
    hint = " (conditions are joined by & and |)" if isinstance(node, ast.BitXor) else ""
    return FormulaError(
        f"{said(node)} is not allowed in a formula{hint}: it may hold column names, known functions, "
        "arithmetic, comparisons and literals. Make it a column of the data, or pass safe=False with context= if you "
        "trust it."
    )
