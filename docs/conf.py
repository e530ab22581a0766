"""How Sphinx builds the site; `generate.py` writes the pages that come from the code
and from the benchmarks.
"""

from __future__ import annotations

import hashlib
import html
import os
import re
import shutil
import sys
from configparser import ConfigParser
from importlib.resources import files
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes

HERE = Path(__file__).parent
ROOT = HERE.parent
BUILD = HERE / "_build"
# The imports below are found in these folders.
sys.path[:0] = [str(ROOT), str(HERE)]

import generate  # noqa: E402

import ordstat  # noqa: E402

generate.write_pages()

project = "ordstat"
author = "The ordstat authors"
copyright = "the ordstat authors"
version = release = ordstat.__version__
extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
    "sphinx_design",
]
exclude_patterns = ["_build", "**.ipynb_checkpoints"]
default_role = "code"
smartquotes = False
add_module_names = False
# The list at the right has room for names of methods, not for those of classes.
toc_object_entries_show_parents = "hide"

# Pages are executed when their cells or the package change.

_SOURCES = sorted(
    path
    for path in (ROOT / "ordstat").rglob("*")
    if path.suffix in {".py", ".pyx", ".pxd", ".h"}
)
_HASH = hashlib.sha256(
    b"".join(
        path.read_bytes()
        for path in [*_SOURCES, *sorted((ROOT / "data").glob("*.csv"))]
    )
)
_CACHE = BUILD / "cache" / _HASH.hexdigest()[:16]
for _older in (BUILD / "cache").glob("*"):
    if _older != _CACHE:
        shutil.rmtree(_older)

# Cells import this tree; errors and warnings show their message alone, numbers of NumPy
# their digits; kernels keep no history.
_PROFILE = BUILD / "ipython" / "profile_default" / "ipython_config.py"
_PROFILE.parent.mkdir(parents=True, exist_ok=True)
_PROFILE.write_text(
    "c.IPKernelApp.log_level = 'ERROR'\n"
    "c.InteractiveShell.xmode = 'Minimal'\nc.HistoryManager.enabled ="
    " False\nc.InteractiveShellApp.exec_lines = ['import numpy, warnings',"
    " 'warnings.formatwarning = lambda text, kind, *_, **__: f\"{kind.__name__}:"
    " {text}\\\\n\"', 'numpy.set_printoptions(legacy=\"1.25\")', 'del numpy,"
    " warnings']\n"
)
os.environ["IPYTHONDIR"] = str(BUILD / "ipython")
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
)
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

nb_execution_mode = "cache"
nb_execution_cache_path = str(_CACHE)
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True
# Tables offer Typst beside HTML, which is shown.
suppress_warnings = ["mystnb.unknown_mime_type"]

myst_enable_extensions = [
    "amsmath",
    "attrs_inline",
    "colon_fence",
    "deflist",
    "dollarmath",
]
myst_heading_anchors = 3

# Mathematics without a network: one script that draws SVG.

_SCRIPT = BUILD / "static" / "mathjax" / "tex-svg.js"
_SCRIPT.parent.mkdir(parents=True, exist_ok=True)
shutil.copyfile(
    str(files("mathjax") / "static" / "mathjax" / "es5" / "tex-svg.js"), _SCRIPT
)
mathjax_path = "mathjax/tex-svg.js"
mathjax3_config = {"options": {"enableMenu": False}, "svg": {"fontCache": "global"}}

# Docstrings

autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False

# Looks

html_context = {"default_mode": "auto"}
html_extra_path = ["_build/extra"]
html_theme = "pydata_sphinx_theme"
html_title = "ordstat"
html_static_path = ["_static", "_build/static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_search_scorer = str(HERE / "scorer.js")
html_copy_source = html_show_sourcelink = False
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "logo": {"text": "ordstat"},
}
# The link to the repository, once its account is filled in (RELEASING.md).
_SETUP = ConfigParser()
_SETUP.read(ROOT / "setup.cfg", encoding="utf-8")
if "OWNER" not in _SETUP["metadata"]["url"]:
    html_theme_options["github_url"] = _SETUP["metadata"]["url"]
# Pages without pages below them need no list of those.
_ALONE = [
    "index",
    "getting-started",
    "formula",
    "datasets",
    "glossary",
    "numerics",
    "match-r",
    "changelog",
    "faq",
    "citing",
]
html_sidebars: dict[str, list[str]] = {page: [] for page in _ALONE}


def plain_marks(
    app: object, what: str, name: str, obj: object, options: object, lines: list[str]
) -> None:
    """Escape the norms and products of docstrings, which reStructuredText would take
    for its own marks.
    """
    for number, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            parts = re.split(r"(``?[^`]+``?)", line)
            parts[::2] = [
                re.sub(r"(?<![\\:])([|*])(?!\*\w)", r"\\\1", part)
                for part in parts[::2]
            ]
            lines[number] = "".join(parts)


def describe_pictures(app: object, doctree: nodes.document, page: str) -> None:
    """Give pictures of cells without an alternative text one: the heading above, and
    the call that draws them.
    """
    for image in doctree.findall(nodes.image):
        cell = image.parent
        while cell is not None and "cell" not in cell.get("classes", []):
            cell = cell.parent
        section = cell
        while section is not None and not isinstance(section, nodes.section):
            section = section.parent
        if cell is None or section is None or "alt" in image:
            continue
        code = next(iter(cell.findall(nodes.literal_block))).astext().strip()
        drawn = code[code.rfind("\n", 0, max(code.rfind(".plot"), 0)) + 1 :]
        heading = next(iter(section.findall(nodes.title))).astext()
        image["alt"] = f"{heading}: {' '.join(drawn.split()).rstrip(';')}"


def index_other_names(app: object, doctree: nodes.document) -> None:
    """Make the terms of the line "Also called: ..." of a page entries of the search: it
    puts a page first whose entry is what a reader types.
    """
    for line in doctree.findall(nodes.paragraph):
        if line.astext().startswith("Also called: "):
            text = " ".join(line.astext().removeprefix("Also called: ").split())
            entries = [
                ("single", term, "", "main", None)
                for term in text.rstrip(".").split(", ")
            ]
            line.parent.insert(line.parent.index(line), addnodes.index(entries=entries))
            return


def show_gallery(app: object, doctree: nodes.document, page: str) -> None:
    """Fill the container "gallery" of a page with its pictures, each a link to its
    section.
    """
    for gallery in doctree.findall(nodes.container):
        if "gallery" not in gallery["classes"]:
            continue
        title = doctree.next_node(nodes.section)
        for section in title.children:
            picture = next(section.findall(nodes.image), None)
            if isinstance(section, nodes.section) and picture is not None:
                gallery += _thumbnail(section, picture)


def _thumbnail(section: nodes.section, picture: nodes.image) -> nodes.paragraph:
    """A small picture above the heading of its section."""
    link = nodes.reference("", "", internal=True, refuri=f"#{section['ids'][0]}")
    link += picture.deepcopy()
    link += nodes.inline(text=section.next_node(nodes.title).astext())
    return nodes.paragraph("", "", link)


def describe_page(
    app: object, page: str, template: str, context: dict[str, Any], doctree: object
) -> None:
    """Give a page its first sentence as the description that search engines show."""
    if doctree is None or 'name="description"' in context["metatags"]:
        return
    title, first = generate.heading_and_first_sentence(
        (HERE / f"{page}.md").read_text()
    )
    words = html.escape((first or title).replace("`", ""))
    context["metatags"] += f'<meta name="description" content="{words}" />'


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", plain_marks, priority=100)
    app.connect("html-page-context", describe_page)
    app.connect("doctree-read", index_other_names)
    app.connect("doctree-resolved", describe_pictures)
    # After the pictures have their texts.
    app.connect("doctree-resolved", show_gallery, priority=600)
