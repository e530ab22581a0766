"""Report of a fit in one HTML file: question, data, summary, plots, references,
versions.
"""

from __future__ import annotations

import os
import platform
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from html import escape
from importlib.metadata import PackageNotFoundError, version
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..checks import counted, flag
from ..exceptions import OptionError, OrdstatError
from ..formula.recipe import arguments_text
from ..formula.sparse import sparse_part
from .files import write_file
from .grid import grid_html
from .ratios import ratio_of
from .render import Table, as_html
from .sections import shortened

if TYPE_CHECKING:
    from ..results import OrdinalResults


# Pictures

#: Captions by name of the plot, in the order shown.
CAPTIONS = {
    "forest": "Effects with 95% confidence intervals.",
    "effects": (
        "Probabilities of the levels by {}, with the other variables held fixed."
    ),
    "ranef": "Conditional modes of the effects of the groups, with 95% intervals.",
    "dependence": "Mean predictions over the rows, with {} set to each value in turn.",
    "tree": "The tree, or the first of several.",
    "latent": (
        "Scores of the rows by observed level, and the thresholds between median"
        " levels."
    ),
    "rounds": "Errors after each round.",
    "confusion": "Observed and predicted levels of the training rows.",
    "residuals": (
        "Surrogate residuals against their expected quantiles: on the line if the model"
        " is true."
    ),
    "margins": (
        "Margins of the training rows; a row with a margin below 0 is on the wrong side"
        " of a threshold."
    ),
}
#: Pictures that pages about likelihood fits leave out.
_OF_RANKERS = ("confusion", "margins")
#: Pictures of one variable each, and most variables.
_OF_VARIABLES = ("dependence", "effects")
_MOST_VARIABLES = 4
#: Dots per inch.
_DOTS = 80


def _drawings(fit: OrdinalResults) -> Iterator[str]:
    """Every picture, or a sentence that says why it cannot be drawn."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        yield _paragraph(
            "Pictures need the package matplotlib. Install it: pip install matplotlib"
        )
        return
    plots: Any = fit.plot
    variables = list(fit.design.spec.columns or ())[:_MOST_VARIABLES]
    left_out = _OF_RANKERS if fit.method.likelihood else ()
    drawn = [name for name in CAPTIONS if name in plots.names and name not in left_out]
    for name in drawn:
        draw = getattr(plots, name)
        if name in _OF_VARIABLES:
            for variable in variables:
                caption = CAPTIONS[name].format(variable)
                yield _figure(name, caption, partial(draw, variable))
        elif name == "forest" and ratio_of(fit).named:
            caption = (
                f"{ratio_of(fit).name.capitalize()}s with 95% confidence intervals."
            )
            yield _figure(name, caption, partial(draw, exponentiate=True))
        else:
            yield _figure(name, CAPTIONS[name], draw)
    others = [f"fit.plot.{name}" for name in plots.names if name not in drawn]
    if others:
        yield _paragraph(f"More pictures: {', '.join(others)}.")


def _figure(name: str, caption: str, draw: Callable[[], Any]) -> str:
    """A figure as embedded PNG; the caller's settings and figures do not change."""
    from matplotlib import pyplot

    try:
        figure = np.ravel(np.asarray(draw(), dtype=object))[0].figure.figure
    except OrdstatError as problem:
        return _paragraph(f"No picture {name!r}: {problem}")
    stream = BytesIO()
    try:
        # a layout engine has made room for all texts
        box = None if figure.get_layout_engine() else "tight"
        figure.savefig(stream, format="png", dpi=_DOTS, bbox_inches=box)
    finally:
        pyplot.close(figure)
    source = f"data:image/png;base64,{b64encode(stream.getvalue()).decode('ascii')}"
    text = escape(caption)
    return (
        f'<figure><img src="{source}"'
        f' alt="{text}"><figcaption>{text}</figcaption></figure>'
    )


# Page

# Most levels named in a sentence.
_MOST_LEVELS = 12
_PACKAGES = (
    "ordstat",
    "numpy",
    "scipy",
    "pandas",
    "formulaic",
    "scikit-learn",
    "statsmodels",
)


def _page(fit: Any, pictures: bool) -> str:
    """The page as a document."""
    sections = {
        "Question": _question(fit),
        "Data": _data(fit),
        "Summary": [_summary(fit)],
        "Pictures": _drawings(fit) if pictures else (),
        "How to cite": [
            _bullets(
                [
                    *getattr(fit, "papers", fit.method.papers),
                    f"ordstat: Ordinal regression. Version {_version('ordstat')}.",
                ]
            )
        ],
        "Call and versions": [_code(_call(fit)), _versions()],
    }
    bodies = {title: "\n".join(blocks) for title, blocks in sections.items()}
    shown = {title: body for title, body in bodies.items() if body}
    links = "".join(f'<a href="#s{i}">{title}</a>' for i, title in enumerate(shown))
    body = "\n".join(
        f'<section id="s{i}">\n<h2>{title}</h2>\n{body}\n</section>'
        for i, (title, body) in enumerate(shown.items())
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(fit.title)}</title>
<style>{_STYLE}</style>
</head>
<body>
<main>
<h1>{escape(fit.title)}</h1>
<nav aria-label="Sections">{links}</nav>
{body}
</main>
</body>
</html>
"""


def _paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>"


def _code(text: str) -> str:
    return f"<pre><code>{escape(text)}</code></pre>"


def _bullets(texts: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(text)}</li>' for text in texts)}</ul>"


def _summary(fit: Any) -> str:
    """The one-screen summary without the line that names further sections."""
    summary = fit.summary().report
    blocks = tuple(block for block in summary.blocks if block.role != "more")
    shown = replace(summary, title="Results and model fit", tables=blocks)
    return f'<div class="tables">{as_html(shown)}</div>'


def _question(fit: OrdinalResults) -> Iterator[str]:
    design = fit.design
    half = _MOST_LEVELS // 2
    names = [str(level) for level in fit.levels]
    levels = " < ".join(
        names if len(names) <= _MOST_LEVELS else [*names[:half], "...", *names[-half:]]
    )
    if design.response.isidentifier():
        response = design.response
    else:
        response = f'"{design.response}"'
    yield _paragraph(
        f"How does {response}, in {len(fit.levels)} ordered levels ({levels}), depend"
        " on the columns of this formula?"
    )
    yield _code(design.formula)
    if arguments := arguments_text(design.recipe):
        yield _paragraph(f"With {arguments}.")


def _data(fit: OrdinalResults) -> Iterator[str]:
    design = fit.design
    sample = fit.design.sample
    text = f"{counted(sample.n, 'row')} of {design.n_given} are used"
    if sample.n == design.n_given:
        text = f"All {sample.n} rows are used"
    lost = ", ".join(f"{name} ({n})" for name, n in design.dropped.items())
    if lost:
        text += f"; left out for missing values or weights of 0: {lost}"
    if sample.weights is not None:
        text += "; means are weighted"
    yield _paragraph(f"{text}.")
    if hasattr(fit, "n_imputations"):
        yield _paragraph(f"Missing values were imputed {fit.n_imputations} times.")
    elif (
        sample.X.shape[1] == len(design.names)
        and design.names
        and not fit.method.pairwise
        and sparse_part(sample.X) is None
    ):
        for table in _column_tables(fit):
            yield f'<div class="tables">{grid_html(table.grid)}</div>'


def _column_tables(fit: OrdinalResults) -> Iterator[Table]:
    """Rows and shares of the indicators among the columns of the model; mean, standard
    deviation and range of the others.
    """
    X = fit.design.sample.X
    w = fit.design.sample.case_weights
    total = w @ X
    mean = total / w.sum()
    ranges = {
        "mean": mean,
        "SD": np.sqrt(w @ (X - mean) ** 2 / w.sum()),
        "min": X.min(axis=0),
        "max": X.max(axis=0),
    }
    counts = {"rows": total, "share": mean}
    names = np.array(fit.design.names, dtype=object)
    # a product of indicators is an indicator too
    indicator = np.array(
        [
            all(piece.level is not None for piece in name.pieces)
            for name in fit.design.spec.column_names["location"]
        ]
    )
    note = "A column such as f: b is 1 where f is b, else 0; its rows are those with 1."
    parts = (
        ("numbers", ~indicator, ranges, dict.fromkeys(ranges, "g"), ""),
        ("indicators", indicator, counts, {"rows": "g", "share": ".1%"}, note),
    )
    for title, chosen, statistics, formats, text in parts:
        if chosen.any():
            table = Table(
                title=f"Columns of the model: {title}",
                frame=pd.DataFrame(statistics, index=names)[chosen],
                formats=formats,
                note=text,
                labels=fit.names_shown(),
            )
            yield shortened(table, "fit.design")


def _call(fit: OrdinalResults) -> str:
    """The call as Python code, with its data; three dots replace arrays."""
    call = fit.call.replace(
        repr(fit.design.formula), f"{fit.design.formula!r}, data", 1
    )
    pooled = ["pool"] if hasattr(fit, "n_imputations") else []
    without_formula = fit.call.replace(repr(fit.design.formula), "")
    classes = re.findall(r"\b([A-Z]\w+)\(", without_formula)
    names = dict.fromkeys(["ordfit", *pooled, *classes])
    return f"from ordstat import {', '.join(names)}\n{call}"


def _versions() -> str:
    pairs = {"Python": f"{platform.python_version()} ({platform.system()})"}
    pairs |= {name: _version(name) for name in _PACKAGES}
    rows = []
    for head, text in pairs.items():
        rows.append(f"<dt>{escape(head)}</dt><dd>{escape(text)}</dd>")
    return f"<dl>{''.join(rows)}</dl>"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


_STYLE = """
:root { color-scheme: light; }
body { margin: 0; background: #fff; color: #222; }
body { font: 16px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }
main { max-width: 54rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.5rem; line-height: 1.25; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; padding-bottom: .2rem; }
h2 { border-bottom: 1px solid #bbb; }
p, li, dd { overflow-wrap: anywhere; }
nav { font-size: .9rem; } nav a { color: #0b57a4; margin-right: 1rem; }
nav a { white-space: nowrap; display: inline-block; }
pre { background: #f4f4f4; padding: .6rem; font-size: .9rem; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; }
dt { font-weight: 600; margin-top: .6rem; } dd { margin: 0; }
figure { margin: 1.2rem 0; } figcaption { font-size: .9rem; color: #444; }
img { max-width: 100%; height: auto; }
@media print { nav { display: none; } figure, .tables { break-inside: avoid; } }
"""
# Browsers load and run nothing, even if a text contains code.
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


def written_report(fit: Any, path: Any, *, pictures: bool) -> Any:
    """Write the report: question, data, summary, plots, references, versions."""
    flag("pictures", pictures)
    if path is None:
        return fit.summary("all")
    target = page_target(path)
    write_file(target, _page(fit, pictures).encode())
    return target


def page_target(path: Any) -> Path:
    """The path of a report. Raise OptionError if it cannot be used."""
    target = Path(path) if isinstance(path, (str, os.PathLike)) else None
    if target is None or target.suffix.lower() not in (".html", ".htm"):
        raise OptionError(
            f"path must be the name of a file that ends in .html; got {path!r}."
        )
    if not target.parent.is_dir():
        raise OptionError(
            f"path must be in an existing folder; got {path!r}. Make"
            f" {str(target.parent)!r} first."
        )
    return target
