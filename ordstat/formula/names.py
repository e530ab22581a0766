"""Names of columns, terms and parameters as records of their parts; how they print."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from .parse import Expression, Term, dotted_name, quoted, unquoted

#: Calls that make a factor of a variable.
CODED = ("C", "factor", "ordered")
#: Calls that make the effect of an ordered variable, or, re(), of a grouping factor.
LEVEL_EFFECTS = ("smooth", "mono", "fuse", "re")
_NO_LABELS: Mapping[str, str] = MappingProxyType({})


def coded_variable(tree: ast.expr) -> str | None:
    """The column `a` of `a`, of `C(a)` and of `smooth(a)`; None for anything else.

    Examples
    --------
    >>> from ordstat.formula.parse import parse_expression
    >>> texts = ("a", "C(a, Sum)", "log(a)")
    >>> [coded_variable(parse_expression(text).tree) for text in texts]
    ['a', 'a', None]
    """
    of_variable = (*CODED, *LEVEL_EFFECTS)
    if (
        isinstance(tree, ast.Call)
        and tree.args
        and dotted_name(tree.func) in of_variable
    ):
        tree = tree.args[0]
    return dotted_name(tree)


class _Relabelled(ast.NodeTransformer):
    """Puts the labels of columns in place of their names."""

    def __init__(self, labels: Mapping[str, str]) -> None:
        self.labels = labels

    def _label(self, node: ast.expr) -> ast.expr:
        label = self.labels.get(dotted_name(node) or "")
        if label is None:
            return node
        return ast.Name(quoted(label))

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._label(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        return self._label(node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        arguments = [self.visit(argument) for argument in node.args]
        # labels do not rename functions
        return ast.Call(node.func, arguments, node.keywords)


def shown_factor(factor: Expression, labels: Mapping[str, str] = _NO_LABELS) -> str:
    """The text of a factor: its label, or its own text with the labels of its columns.

    Examples
    --------
    >>> from ordstat.formula.parse import parse_expression
    >>> labels = {"income": "Income, EUR"}
    >>> shown_factor(parse_expression("log(income)"), labels)
    'log(Income, EUR)'
    >>> shown_factor(parse_expression("C(job)"))
    'job'
    """
    if factor.label in labels:
        return labels[factor.label]
    variable = coded_variable(factor.tree)
    if variable is not None:
        return labels.get(variable, variable)
    if factor.names.isdisjoint(labels):
        return factor.label
    return unquoted(ast.unparse(_Relabelled(labels).visit(factor.tree)))


def shown_term(term: Term, labels: Mapping[str, str]) -> str:
    """The label of a term, or the texts of its factors."""
    if term.label in labels:
        return labels[term.label]
    return " × ".join([shown_factor(factor, labels) for factor in term.factors])


@dataclass(frozen=True)
class Piece:
    """The part of a column name that comes from one factor.

    Attributes
    ----------
    factor : Expression
    suffix : str
        Distinguishes the column from others of the same factor: "[T.warm]", ".L",
        "[2]".
    level : str or None
        Label of the level that the column indicates; None for numbers and for other
        contrasts.
    """

    factor: Expression
    suffix: str = ""
    level: str | None = None

    def shown(self, labels: Mapping[str, str] = _NO_LABELS) -> str:
        """The level after the name of its variable, or the name with its suffix."""
        whole = self.factor.label + self.suffix
        if whole in labels:
            return labels[whole]
        variable = shown_factor(self.factor, labels)
        if self.level is None:
            return variable + self.suffix
        return f"{variable}: {self.level}"


@dataclass(frozen=True)
class ColumnName:
    """A column of a design: the product of a column of each factor.

    Examples
    --------
    >>> from ordstat.formula.parse import parse_expression
    >>> warm = Piece(parse_expression("temp"), "[T.warm]", "warm")
    >>> name = ColumnName((warm, Piece(parse_expression("age"))))
    >>> name.text, name.shown({"age": "Age in years"})
    ('temp[T.warm]:age', 'temp: warm × Age in years')
    """

    pieces: tuple[Piece, ...]

    @property
    def text(self) -> str:
        """The name in `params`, in tables of numbers and in hypotheses."""
        return ":".join([piece.factor.label + piece.suffix for piece in self.pieces])

    def shown(self, labels: Mapping[str, str] = _NO_LABELS) -> str:
        """The label of the column, or the texts of its pieces."""
        text = self.text
        if text in labels:
            return labels[text]
        return " × ".join([piece.shown(labels) for piece in self.pieces])

    @property
    def variables(self) -> list[str]:
        """Columns of the data that are factors of the column as they are."""
        names = [dotted_name(piece.factor.tree) for piece in self.pieces]
        return [name for name in names if name is not None]


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """Description of one parameter, from which its names are made.

    Attributes
    ----------
    kind : str
        "threshold", "nominal", "location", "scale", "lambda", "phi", "sd" or "cor".
    column : ColumnName or None
        The column whose effect it is.
    threshold : str
        "1|2" of thresholds and nominal effects ("central.1", "spacing.1", ... of a
        threshold structure).
    above : str
        The level below the threshold of a nominal effect; empty for a structure.
    other : ColumnName or None
        The second column of a correlation.
    group : Term or None
        The groups of a random effect.
    """

    kind: str
    column: ColumnName | None = None
    threshold: str = ""
    above: str = ""
    other: ColumnName | None = None
    group: Term | None = None

    @property
    def name(self) -> str:
        """As in `params`: "1|2", "1|2.x", "x", "scale.x", "lambda", "sd_x|g",
        "cor_x.z|g".
        """
        column = "" if self.column is None else self.column.text
        match self.kind:
            case "threshold":
                return self.threshold
            case "nominal":
                return f"{self.threshold}.{column}"
            case "location":
                return column
            case "scale":
                return f"scale.{column}"
            case "phi":
                return f"phi.{self.threshold}"
            case "sd" if self.group is not None:
                return f"sd_{column}|{self.group.label}"
            case "cor" if self.group is not None and self.other is not None:
                return f"cor_{column}.{self.other.text}|{self.group.label}"
        return self.kind

    def shown(
        self, labels: Mapping[str, str], ratio: bool = False, unit: str = ""
    ) -> str:
        """The label for readers.

        Parameters
        ----------
        labels : mapping of names to the user's labels
        ratio : bool
            Whether the value is a ratio for a higher response; a nominal effect is then
            labelled "above" a level.
        unit : str
            The change of the column that the value refers to: "per 10".
        """
        if self.column is None or self.name in labels:
            return labels.get(self.name, self.name)
        column = self.effect(labels, unit)
        match self.kind:
            case "nominal" if ratio and self.above:
                return f"{column}, above {self.above}"
            case "nominal":
                return f"{column}, {self.threshold}"
            case "scale":
                return f"{column} (scale)"
            case "sd" if self.group is not None:
                return f"SD {column}, {shown_group(self.group, labels)}"
            case "cor" if self.group is not None and self.other is not None:
                pair = f"{column} with {self.other.shown(labels)}"
                return f"Correlation {pair}, {shown_group(self.group, labels)}"
        return column

    def effect(self, labels: Mapping[str, str], unit: str = "") -> str:
        """The label of the column, with the change that the effect refers to."""
        assert self.column is not None
        column = self.column.shown(labels)
        return f"{column}, {unit}" if unit else column


def shown_group(group: Term, labels: Mapping[str, str]) -> str:
    """The groups of a random effect, "school:class" for combinations."""
    if group.label in labels:
        return labels[group.label]
    return ":".join([shown_factor(factor, labels) for factor in group.factors])


def printed_names(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Printed names by names; a name with two printed names is left out.

    Examples
    --------
    >>> printed_names([("a:b", "a × b"), ("c", "c: 1"), ("a:b", "a:b")])
    {'c': 'c: 1'}
    """
    shown: dict[str, str] = {}
    shared = set[str]()
    for name, text in pairs:
        if shown.setdefault(name, text) != text:
            shared.add(name)
    return {name: text for name, text in shown.items() if name not in shared}


def in_own_names(text: str, shown: Mapping[str, str]) -> str:
    """A text in which printed names of columns, terms and parameters are replaced by
    their own names; backticks around them may be left out.

    Parameters
    ----------
    text : str
        One name, or a hypothesis.
    shown : mapping of names to printed names
        As `printed_names` makes it. A printed name that two things share, or that is
        the name of another thing, is left as it is.

    Examples
    --------
    >>> shown = {"temp[T.warm]": "temp: warm", "contact[T.yes]": "contact: yes"}
    >>> in_own_names("temp: warm = 2 * contact: yes", shown)
    'temp[T.warm] = 2 * contact[T.yes]'
    >>> in_own_names("C(job)[T.b] = 0", {"C(job)": "job", "C(job)[T.b]": "job: b"})
    'C(job)[T.b] = 0'
    """
    if text in shown:
        return text
    times = Counter(shown.values())
    own = {
        printed: name
        for name, printed in shown.items()
        if printed not in shown and times[printed] == 1
    }
    if not any(printed in text for printed in own):
        return text
    # own names stay as they are, also where they hold a printed one: C(job)[T.b]
    own |= {name: name for name in shown}
    longest_first = sorted((p for p in own if p in text), key=len, reverse=True)
    names = "|".join(map(re.escape, longest_first))
    # not the start of a longer name
    printed = re.compile(rf"`({names})`|(?<![\w.])({names})(?![\w\[|.])")
    return printed.sub(lambda found: own[found[1] or found[2]], text)
