"""A page as one HTML file: no script, nothing from the network, all text escaped."""

from __future__ import annotations

from base64 import b64encode
from html import escape

from ..report.render import Report, as_html
from .blocks import Block, Code, Drawing, Items, Page, Section, Words

_STYLE = """
:root { color-scheme: light; }
body { margin: 0; background: #fff; color: #222; font: 16px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }
main { max-width: 54rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.5rem; line-height: 1.25; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; padding-bottom: .2rem; border-bottom: 1px solid #bbb; }
p, li, dd { overflow-wrap: anywhere; }
nav { font-size: .9rem; } nav a { color: #0b57a4; margin-right: 1rem; white-space: nowrap; display: inline-block; }
pre { background: #f4f4f4; padding: .6rem; white-space: pre-wrap; overflow-wrap: anywhere; font-size: .9rem; }
dt { font-weight: 600; margin-top: .6rem; } dd { margin: 0; }
figure { margin: 1.2rem 0; } figcaption { font-size: .9rem; color: #444; }
img { max-width: 100%; height: auto; }
@media print { nav { display: none; } figure, .tables { break-inside: avoid; } }
"""
# Whatever a text might smuggle in, a browser loads nothing and runs nothing.
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


def as_page(page: Page) -> str:
    """The page as a document.

    Examples
    --------
    >>> text = as_page(Page("a < b", (Section("One", (Words("<script>"),)),)))
    >>> "<title>a &lt; b</title>" in text, "<script>" in text
    (True, False)
    """
    links = "".join(f'<a href="#s{i}">{escape(section.title)}</a>' for i, section in enumerate(page.sections))
    body = "\n".join(_section(i, section) for i, section in enumerate(page.sections))
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(page.title)}</title>
<style>{_STYLE}</style>
</head>
<body>
<main>
<h1>{escape(page.title)}</h1>
<nav aria-label="Sections">{links}</nav>
{body}
</main>
</body>
</html>
"""


def _section(i: int, section: Section) -> str:
    blocks = "\n".join(_block(block) for block in section.blocks)
    return f'<section id="s{i}">\n<h2>{escape(section.title)}</h2>\n{blocks}\n</section>'


def _block(block: Block) -> str:
    match block:
        case Words(text):
            return f"<p>{escape(text)}</p>"
        case Code(text):
            return f"<pre><code>{escape(text)}</code></pre>"
        case Items(items):
            return _list(items)
        case Report():
            return f'<div class="tables">{as_html(block)}</div>'
        case Drawing():
            return _figure(block)


def _list(items: tuple[tuple[str, str], ...]) -> str:
    """A list of terms, or a plain one where items have no heads."""
    if any(head for head, _ in items):
        return f"<dl>{''.join(f'<dt>{escape(head)}</dt><dd>{escape(text)}</dd>' for head, text in items)}</dl>"
    return f"<ul>{''.join(f'<li>{escape(text)}</li>' for _, text in items)}</ul>"


def _figure(drawing: Drawing) -> str:
    source = f"data:image/png;base64,{b64encode(drawing.data).decode('ascii')}"
    caption = escape(drawing.caption)
    return f'<figure><img src="{source}" alt="{caption}"><figcaption>{caption}</figcaption></figure>'
