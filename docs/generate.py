"""Writes the pages of the site that come from the code, the tests, the benchmarks and
the analyses.
"""

from __future__ import annotations

import inspect
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import groupby
from pathlib import Path
from typing import Any

import evidence
import match_r
from numpydoc.docscrape import NumpyDocString
from pages import HEAD, ROOT, executed, table, write

import ordstat
from ordstat.method import Method
from ordstat.registry import METHODS

HERE = Path(__file__).parent

#: Titles of the families, by the folder of the package that has them.
FAMILIES = {
    "likelihood": "Likelihood models",
    "prediction": "Prediction",
    "svm": "Support vector machines",
    "boosting": "Boosting of weak learners",
    "trees": "Trees",
    "reduction": "Reductions to classification",
    "online": "Online rankers",
}
#: The data of the examples: code, and the formula.
EXAMPLES = {
    "wine": ('data = datasets.load("wine")', "rating ~ temp + contact"),
    "marriage": (
        'data = datasets.load("marriage")',
        "rating ~ religious + educ",
    ),
    "stages": ('data = datasets.load("anes96")', "educ ~ income + age"),
    "bands": ("data = datasets.quadratic_bands(300, seed=1)", "rank ~ x1 + x2"),
    "two": (
        'data = datasets.load("wine")\ndata["high"] = data["rating"].astype(int) >= 4',
        "high ~ temp + contact",
    ),
}
#: Pages of the reference about the fits of a family.
RESULTS = {"likelihood": "../api/likelihood.md"}


# Methods


def write_methods() -> None:
    """A page for each class of the registry, and the table of all names."""
    texts = tomllib.loads((HERE / "methods.toml").read_text())
    published = evidence.published()
    board = evidence.board()
    lines = [
        "# Methods",
        "",
        'A method is a name, `ordfit(..., method="redsvm", C=10)`, or a value, ',
    ]
    lines += [
        (
            "`ordfit(..., method=REDSVM(C=10))`. Names take hyphens, underscores or"
            " blanks."
        ),
        "",
    ]
    for family, title in FAMILIES.items():
        rows = []
        pages = []
        for name, names in classes(family).items():
            method = METHODS[name].method
            text = texts[METHODS[name].method.__name__]
            write(
                f"methods/{name}.md",
                method_page(name, names, method, text, published, board),
            )
            pages.append(name)
            rows.append(
                [
                    f"[{text['title']}]({name}.md)",
                    ", ".join(f"`{n}`" for n in names),
                    text["use"],
                ]
            )
        toctree = ["```{toctree}", ":hidden:", "", *pages, "```", ""]
        lines += [
            f"## {title}",
            "",
            table(["method", "names", "use it if"], rows),
            "",
            *toctree,
        ]
    write("methods/index.md", "\n".join(lines))


def classes(family: str) -> dict[str, list[str]]:
    """All names of each class of a family, by its first name."""
    names: dict[type[Method], list[str]] = {}
    for name, entry in METHODS.items():
        if entry.path.startswith(f"{family}."):
            names.setdefault(entry.method, []).append(name)
    return {group[0]: group for group in names.values()}


def method_page(
    name: str,
    names: list[str],
    method: type[Method],
    text: Mapping[str, str],
    published: dict[str, list[list[str]]],
    board: dict[str, str],
) -> str:
    """Objective, when to use it, options, an example, what it returns, paper,
    and what was measured.
    """
    doc = NumpyDocString(inspect.getdoc(method))
    code, formula = EXAMPLES[text.get("example", "wine")]
    options = f", {text['options']}" if "options" in text else ""
    kinds = method.results_class.predicts
    shown = next(kind for kind in ("prob", "score", "votes") if kind in kinds)
    call = f'fit = ordfit("{formula}", data, method="{name}"{options})'
    types = ", ".join(f'`"{kind}"`' for kind in all_types(name, kinds))
    results = RESULTS.get(METHODS[name].path.split(".")[0], "../api/rankers.md")
    lines = [
        *["# " + text["title"], "", prose(doc["Summary"]), "", use(text["use"]), ""],
        *[
            "## Objective",
            "",
            f"$$\n{lines_of(text['objective'])}\n$$",
            "",
            text.get("note", ""),
            "",
        ],
        *[prose(explained(doc["Extended Summary"])), ""],
        *["## Names and options", "", names_table(names), "", *option_list(method), ""],
        *[
            "## Example",
            "",
            executed(
                f"from ordstat import datasets, ordfit\n\n{code}\n{call}\nfit.summary()"
            ),
            "",
        ],
        *[executed(f'fit.predict(data.head(3), type="{shown}").round(3)'), ""],
        *["## What it returns", ""],
        (
            f"`{method.results_class.__name__}`: [what every fit"
            " answers](../api/results.md), and [what is special to its"
            f" kind]({results}). `predict` takes `type=` {types}."
        ),
        *["", "## Papers", "", *(f"- {paper}" for paper in method.papers), ""],
        *["## What was measured", "", *measured(text, published, board), ""],
    ]
    return HEAD + "\n".join(lines)


def all_types(name: str, kinds: Sequence[str]) -> list[str]:
    """Types of predictions of a fit: probabilities have means and quantiles, and those
    of stages hazards.
    """
    means = ["mean", "mean_class", "quantile", "exceed"] if "prob" in kinds else []
    return [*kinds, *means, *(["hazard"] if name in ("cratio", "sratio") else [])]


def lines_of(objective: str) -> str:
    """An objective with a line for each of its equations, so that it fits a narrow
    screen.
    """
    parts = objective.split(r", \qquad ")
    return (
        objective
        if len(parts) == 1
        else r"\begin{gathered}" + r", \\ ".join(parts) + r"\end{gathered}"
    )


def use(text: str) -> str:
    """When to use a method, as a sentence."""
    return (
        ("Use it " if text.startswith("As ") else "Use it if ")
        + text[0].lower()
        + text[1:]
    )


def prose(lines: Iterable[str]) -> str:
    """Paragraphs of a docstring as Markdown: marks of Markdown are escaped outside of
    code, names of files left out.
    """
    text = re.sub(r"``(.+?)``", r"`\1`", "\n".join(lines))
    text = re.sub(r"[,;]\s+see\s+`?[\w/]+\.py`?", "", text)
    parts = re.split(r"(`[^`]+`)", text)
    parts[::2] = [re.sub(r"([*_$|<>\[\]])", r"\\\1", part) for part in parts[::2]]
    return "".join(parts)


def explained(lines: list[str]) -> list[str]:
    """The explanation without what the page says already: when to use it, and the
    objective in letters.
    """
    paragraphs = [
        part
        for part in "\n".join(lines).split("\n\n")
        if not re.match("Use (it|a)|A good|Usually", part)
    ]
    objective = re.compile(
        r"(?:It m|M)inimises [^`]*?[_^(].*?(?<!\.)\.(?=\s+[A-Z]|\s*$)\s*", re.DOTALL
    )
    return [objective.sub("", part) + "\n" for part in paragraphs]


def names_table(names: list[str]) -> str:
    """What each name fixes."""
    rows = []
    for name in names:
        preset = ", ".join(
            f"`{key}={value!r}`" for key, value in METHODS[name].preset.items()
        )
        rows.append([f"`{name}`", preset or "nothing"])
    return table(["name", "fixes"], rows)


#: A range that the docstring of an option states itself.
_STATED = re.compile(r"at (?:least|most) \d|above \d|1e-\d+ to |>= \d|\(0, 1")


def option_list(method: type[Method]) -> Iterator[str]:
    """Options with their type, range, default and meaning; those that the docstring
    describes together are one entry.
    """
    together = groupby(fields(method), key=lambda f: described(method, f.name))
    for (kind, meaning), group in together:
        options = list(group)
        only = re.fullmatch(r'"[^"]+"|\{[^,{}]+\}|None', kind)
        stated = only or _STATED.search(" ".join(meaning))
        names = ", ".join(f"`{f.name}`" for f in options)
        defaults = ", ".join(f"`{f.default!r}`" for f in options)
        yield (
            f"{names}{': ' + prose([kind]) if kind else ''};"
            f" default {defaults}{'' if stated else limits(options[0])}"
        )
        text = prose(meaning).replace("\n", "\n  ")
        yield f": {text or ('Nothing else is possible.' if only else 'See above.')}\n"


def limits(f: Any) -> str:
    """The range that the check of a field allows, in words."""
    if "check" not in f.metadata:
        return ""
    outer = inspect.getclosurevars(f.metadata["check"]).nonlocals
    words = {
        "above": "more than {}",
        "least": "at least {}",
        "below": "less than {}",
        "most": "at most {}",
    }
    bounds = (
        dict(zip(("least", "most"), outer.get("bounds", ()), strict=False))
        if _whole(outer)
        else {}
    )
    bounds |= {
        key: value for key, value in outer.get("settings", {}).items() if key in words
    }
    return "".join(
        f"; {words[key].format(f'{value:,g}')}"
        for key, value in bounds.items()
        if value is not None
    )


def _whole(outer: Mapping[str, Any]) -> bool:
    return getattr(outer.get("check"), "__name__", "") == "whole"


def described(method: type[Any], option: str) -> tuple[str, list[str]]:
    """Type and meaning of an option, from the docstring of the class or of the classes
    that it refers to.
    """
    for kind in method.__mro__:
        for names, type_, lines in NumpyDocString(inspect.getdoc(kind) or "")[
            "Parameters"
        ]:
            if option not in re.split(r",\s*", names):
                continue
            text = " ".join(lines)
            referred = re.findall(r"(?:[Ss]ee|and) `(?:[\w.]+\.)?([A-Z]\w+)`", text)
            if not referred or kind.__name__ in referred:
                return type_, lines
            # What the classes do not have, RED-SVM has: threads and landmarks.
            bases = [base for base in method.__mro__ if base.__name__ in referred]
            bases += [
                getattr(ordstat, name) for name in referred if hasattr(ordstat, name)
            ]
            others = (described(other, option) for other in [*bases, ordstat.REDSVM])
            type_, meaning = next(
                (other for other in others if other[1]), (type_, lines)
            )
            more = re.findall(
                rf"(?<=[.;] )[^.;]*\b{option}(?:=| is | > )[^.;]*[.;]?", text
            )
            return type_, [*meaning, *(_ended(sentence, option) for sentence in more)]
    return "", []


def _ended(sentence: str, option: str) -> str:
    """A sentence with a capital, unless it begins with the option, and a full stop."""
    first = sentence[0] if sentence.startswith(option) else sentence[0].upper()
    return f"{first}{sentence[1:].rstrip('.;')}."


def measured(
    text: Mapping[str, str],
    published: dict[str, list[list[str]]],
    board: dict[str, str],
) -> Iterator[str]:
    """Comparisons with the paper's figures, and the place on the leaderboard."""
    begin = text.get("published")
    rows = [
        row
        for name, cells in published.items()
        if begin and name.startswith(begin)
        for row in cells
    ]
    if rows:
        near = sum(abs(float(row[-1].strip("*"))) <= 2 for row in rows)
        yield (
            f"- Of {len(rows)} published figures, {near} are within two standard errors"
            " of ours: [reproduction of the papers](../evidence/reproduction.md)."
        )
    if text.get("board") in board:
        yield (
            f"- {board[text['board']]} See the"
            " [leaderboard](../evidence/leaderboard.md)."
        )
    yield "- Speed: [seconds, compared with other packages](../evidence/speed.md)."


# Other pages


def write_datasets() -> None:
    """The data sets: what data/README.md says of each, and its first rows."""
    lines = [
        "# Data sets",
        "",
        "Small sets to try things on; each call returns a fresh frame.",
        "",
        executed("from ordstat import datasets"),
        "",
    ]
    readme = (ROOT / "data" / "README.md").read_text()
    for part in readme.split("\n## ")[1:]:
        name, _, described = part.partition("\n")
        head = executed(f'datasets.load("{name}").head(3)')
        lines += [f"## {name}", "", described.strip(), "", head, ""]
    lines += ["## Simulated", "", executed("datasets.herbrich(3, seed=1)"), ""]
    lines += [executed("datasets.quadratic_bands(3, seed=1)"), ""]
    reference = ["## Reference", "", "```{eval-rst}"]
    reference += [
        f".. autofunction:: ordstat.datasets.{name}"
        for name in ("load", "herbrich", "quadratic_bands")
    ]
    write("datasets.md", HEAD + "\n".join([*lines, *reference, "```", ""]))


#: The analyses in reading order; a new one comes last.
ANALYSES = [
    "wine",
    "survey",
    "clinical",
    "raters",
    "choosing",
    "credit",
    "margins",
    "stream",
    "million",
    "textbook",
]


def write_analyses() -> None:
    """Copies of the analyses, and the page that lists them."""
    names: list[str] = []
    rows: list[list[str]] = []
    pages = sorted((ROOT / "vignettes").glob("*.md"))
    for page in sorted(pages, key=lambda page: [*ANALYSES, page.stem].index(page.stem)):
        if "{code-cell}" in (text := page.read_text()):
            write(f"analyses/{page.name}", with_notebook(text, page.stem))
            names.append(page.stem)
            title = re.search(r"^# (.+)$", text, re.MULTILINE)
            assert title is not None
            first = first_sentence(text[title.end() :])
            rows.append([f"[{title[1]}]({page.stem}.md)", first])
    text = (
        "Whole analyses, from the data to the sentence that reports them. Each page is"
        " executed when the site is built."
    )
    write(
        "analyses/index.md",
        "\n".join(
            [
                *["# Worked analyses", "", text, ""],
                *[table(["analysis", "what it is about"], rows), ""],
                *["```{toctree}", ":hidden:", "", *names, "```", ""],
            ]
        ),
    )


def with_notebook(text: str, name: str) -> str:
    """An analysis with a link to its executed notebook below the title."""
    link = f"{{nb-download}}`Download the notebook <{name}.ipynb>`"
    return re.sub(r"^# .+$", rf"\g<0>\n\n{link}", text, count=1, flags=re.MULTILINE)


def write_llms() -> None:
    """`llms.txt`: a line for each page, with its title and first sentence."""
    lines = [
        "# ordstat",
        "",
        "> Ordinal regression in Python: models, rankers, tests, predictions.",
        "",
    ]
    for page in sorted(HERE.rglob("*.md")):
        title, first = heading_and_first_sentence(page.read_text())
        if "_build" in page.parts or not title:
            continue
        path = page.relative_to(HERE).with_suffix(".html")
        lines.append(f"- [{title}]({path}){': ' + first if first else ''}")
    write("_build/extra/llms.txt", "\n".join([*lines, ""]))


def heading_and_first_sentence(text: str) -> tuple[str, str]:
    """Of the source of a page; both empty without a heading."""
    heading = re.search(r"^# (.+)$", text, re.MULTILINE)
    if heading is None:
        return "", ""
    return heading[1], first_sentence(text[heading.end() :])


def first_sentence(text: str) -> str:
    """The first sentence of a page in plain text; its other names do not count."""
    for paragraph in re.sub(r"```.*?```|\$\$.*?\$\$", "", text, flags=re.DOTALL).split(
        "\n\n"
    ):
        plain = " ".join(paragraph.split())
        if not plain or plain.startswith((*":{#|![<$-", "*Also called", "---")):
            continue
        plain = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", plain).replace("\\", "")
        ends = r"[.?!](?=\**(\s+\**([A-Z`\"]|ordstat|statsmodels)|$))"
        sentence = re.match(f".+?{ends}", plain)
        return (sentence[0] if sentence else plain).replace("**", "")
    return ""


def write_pages() -> None:
    """All of them."""
    write_methods()
    write_datasets()
    write_analyses()
    evidence.write_evidence()
    match_r.write_match()
    write_llms()
