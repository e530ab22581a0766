"""The built site: links, mathematics, search, widths and accessibility, in Debian's
chromium (`make docs-test`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from shutil import which
from typing import Any
from urllib.parse import quote_plus, unquote, urlsplit

import pytest

SITE = Path(__file__).parents[1] / "docs" / "_build" / "html"
CHROMIUM = which("chromium")
#: All pages; `_static` has parts of the theme.
PAGES = sorted(
    str(page.relative_to(SITE))
    for page in SITE.rglob("*.html")
    if "_static" not in page.parts
)
#: Colour scheme and width of the window in pixels.
VIEWS = [("light", 1300), ("dark", 400)]
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-sync",
]

pytestmark = [
    pytest.mark.site,
    pytest.mark.skipif(not PAGES, reason="the site is not built: run `make docs`"),
]


class Links(HTMLParser):
    """Names that a page defines, and addresses that it refers to."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.addresses: list[str] = []
        self.loaded: list[str] = []
        self.pictures: list[str] = []
        self.feed(page.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value for name, value in attrs if value is not None}
        self.ids |= {values[name] for name in ("id", "name") if name in values}
        if tag == "img":
            self.pictures.append(values.get("alt", ""))
        address = values.get("href", values.get("src"))
        if address is not None:
            self.addresses.append(address)
            if tag in ("script", "img", "link", "iframe"):
                self.loaded.append(address)


@pytest.fixture(scope="module")
def links() -> dict[Path, Links]:
    return {SITE / name: Links(SITE / name) for name in PAGES}


def test_links_within_the_site_resolve(links: dict[Path, Links]) -> None:
    broken = []
    for page, parsed in links.items():
        for address in parsed.addresses:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = (
                (page.parent / unquote(parts.path)).resolve() if parts.path else page
            )
            fragment = unquote(parts.fragment)
            if not target.exists() or (
                fragment and target in links and fragment not in links[target].ids
            ):
                broken.append(f"{page.relative_to(SITE)}: {address}")
    assert not broken


def test_nothing_is_loaded_from_elsewhere(links: dict[Path, Links]) -> None:
    loaded = {address for parsed in links.values() for address in parsed.loaded}
    assert not [
        address for address in loaded if urlsplit(address).scheme in ("http", "https")
    ]


def test_pictures_have_a_text(links: dict[Path, Links]) -> None:
    """The words of a picture are no name of its file."""
    bare = [
        f"{page.relative_to(SITE)}: {text}"
        for page, parsed in links.items()
        for text in parsed.pictures
        if not text or re.fullmatch(r"\S+\.(png|svg|jpe?g)", text)
    ]
    assert not bare


def test_the_list_for_language_models_has_whole_sentences() -> None:
    lines = (SITE / "llms.txt").read_text().splitlines()[4:]
    whole = re.compile(r"- \[.+\]\(\S+\.html\)(: [^\\*]+[.?!])?")
    assert len(lines) > 100
    assert [line for line in lines if not whole.fullmatch(line)] == []


def test_pages_describe_themselves() -> None:
    """Search engines show the description of a page."""
    generated = {"genindex.html", "search.html"}
    described = re.compile('<meta (content="[^"]+" )?name="description"')
    silent = [
        name
        for name in PAGES
        if name not in generated and not described.search((SITE / name).read_text())
    ]
    assert silent == []


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("chromium is not installed: apt-get install chromium")
    sync_api = pytest.importorskip("playwright.sync_api", reason="make .venv/docs")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.mark.parametrize(("scheme", "width"), VIEWS)
@pytest.mark.parametrize("name", PAGES)
def test_page(browser: Any, name: str, scheme: str, width: int) -> None:
    """No error on the console, all mathematics drawn, nothing wider than the window, no
    finding of axe-core in the view that it audits.
    """
    page = browser.new_page(
        viewport={"width": width, "height": 900}, color_scheme=scheme
    )
    errors = []
    page.on(
        "console",
        lambda message: (
            errors.append(message.text) if message.type == "error" else None
        ),
    )
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{(SITE / name).as_uri()}")
    formulas = page.locator(".math").count()
    if formulas:
        page.wait_for_function(
            "n => document.querySelectorAll('mjx-container').length >= n", arg=formulas
        )
        page.evaluate("MathJax.startup.promise")
        assert page.locator("mjx-merror, [data-mjx-error]").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    if audited(name, scheme):
        assert violations(page) == []
    page.close()
    assert errors == []


def test_names_of_rows_stay_while_a_table_is_scrolled(browser: Any) -> None:
    """On a telephone the odds ratios of a summary lie beyond the edge."""
    page = browser.new_page(viewport={"width": 400, "height": 900})
    page.goto((SITE / "index.html").as_uri())
    name = page.get_by_role("cell", name="religious: strongly").first
    ratio = page.get_by_role("cell", name="1.8105").first
    assert ratio.bounding_box()["x"] > 400
    ratio.evaluate("cell => { cell.closest('div').scrollLeft = 1000; }")
    assert 0 <= name.bounding_box()["x"] < ratio.bounding_box()["x"] < 400
    page.close()


def test_pictures_are_wide_enough_to_read_on_a_telephone(browser: Any) -> None:
    """Their boxes scroll, by the keyboard too, and the page does not."""
    page = browser.new_page(viewport={"width": 400, "height": 900})
    page.goto((SITE / "getting-started.html").as_uri())
    picture = page.locator(".cell_output img").first
    page.wait_for_function(
        "document.querySelector('.cell_output:has(img)').tabIndex === 0"
    )
    assert picture.bounding_box()["width"] >= 480
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    page.close()


def audited(name: str, scheme: str) -> bool:
    """Pages take turns in the two views: an audit takes longer than all else here, and
    pages share their style.
    """
    schemes = [scheme for scheme, _ in VIEWS]
    return scheme == schemes[PAGES.index(name) % len(schemes)]


def violations(page: Any) -> list[tuple[str, str]]:
    """What axe-core finds: its rule and the element."""
    page.add_script_tag(path=str(files("axe_playwright_python") / "axe.min.js"))
    found = page.evaluate(
        "axe.run(document, {resultTypes: ['violations'], preload: false})"
    )["violations"]
    return [
        (rule["id"], node["html"][:300]) for rule in found for node in rule["nodes"]
    ]


#: What readers type, and the pages that answer it: one of them comes first or second.
SEARCHES = {
    "odds ratio": ["guide/numbers"],
    "which method": ["guide/which-method"],
    "proportional odds violated": ["guide/proportional-odds"],
    "confidence interval of predicted probability": ["guide/intervals"],
    "Likert plot": ["guide/items"],
    "random intercept": ["guide/repeated"],
    "export to Word": ["guide/papers"],
    "sample size": ["guide/papers", "guide/superiority"],
    "monotone constraint": ["guide/prediction"],
    "predict new data": ["guide/prediction"],
    "custom cost": ["guide/prediction"],
    "sklearn pipeline": ["guide/tools", "coming-from/scikit-learn"],
    "Parquet": ["guide/large"],
    "citation": ["citing"],
    "hazard ratio": ["guide/links"],
    "link function": ["guide/links"],
    "probit": ["guide/links", "methods/clm"],
    "forest plot": ["guide/gallery", "guide/papers"],
    "cheat sheet": ["guide/answers"],
    "longitudinal": ["guide/repeated"],
    "multiple imputation": ["guide/missing"],
    "average treatment effect": ["guide/causal"],
    "survey weights": ["guide/weights"],
    "lasso": ["guide/selection"],
    "GAM": ["guide/smooth"],
    "ordinal logistic regression": ["getting-started"],
    "proportional odds test": ["guide/proportional-odds"],
    "parallel lines": ["guide/proportional-odds"],
    "Brant test": ["guide/proportional-odds"],
    "heteroskedasticity": ["guide/proportional-odds"],
    "APA table": ["guide/papers"],
    "how to report": ["guide/papers"],
    "thesis": ["guide/papers"],
    "column names with spaces": ["guide/formulas"],
    "ggeffects": ["coming-from/r"],
    "early stopping": ["coming-from/boosting"],
    "licence": ["citing"],
    "Cohen's kappa": ["guide/items"],
    "weighted kappa": ["guide/items"],
    "polychoric": ["guide/items"],
    "Cronbach's alpha": ["guide/items"],
    "missing data": ["guide/missing"],
    "interaction": ["guide/formulas"],
    "reference category": ["guide/formulas"],
    "non-linear": ["guide/smooth"],
    "class imbalance": ["guide/prediction"],
    "calibration": ["guide/prediction"],
    "feature importance": ["guide/prediction"],
    "SHAP": ["guide/prediction", "coming-from/boosting"],
    "mixed model": ["guide/repeated"],
    "GEE": ["guide/repeated"],
    "clustered standard errors": ["guide/repeated"],
    "Mann-Whitney": ["guide/superiority"],
    "effect size": ["guide/numbers", "guide/superiority"],
    "R squared": ["guide/numbers"],
    "threshold": ["guide/numbers"],
    "cut points": ["guide/numbers"],
    "post hoc comparisons": ["guide/numbers"],
    "predicted probabilities": ["guide/intervals", "guide/prediction"],
    "multicollinearity": ["faq"],
    "sample weights": ["guide/weights"],
    "brms": ["coming-from/r"],
    "mord": ["coming-from/scikit-learn"],
    "license": ["citing"],
    "LightGBM": ["coming-from/boosting"],
    "rOpenSci standards": ["evidence/standards"],
}


@pytest.mark.parametrize("words", SEARCHES)
def test_search(browser: Any, words: str) -> None:
    page = browser.new_page()
    page.goto(f"{(SITE / 'search.html').as_uri()}?q={quote_plus(words)}")
    page.wait_for_selector("#search-results li a")
    # The results come one by one; the summary says when they are complete.
    page.wait_for_selector(".search-summary:has-text('found')")
    addresses = page.eval_on_selector_all(
        "#search-results ul.search li > a", "found => found.map(a => a.href)"
    )
    pages = [urlsplit(address).path for address in addresses[:2]]
    assert any(
        path.endswith(f"/{name}.html") for path in pages for name in SEARCHES[words]
    ), addresses[:5]
    assert not any(
        "changelog" in address or "design" in address for address in addresses
    )
    page.close()
