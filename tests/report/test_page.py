"""The page about a fit: its contents, without external files, and unbroken by any
data.
"""

import base64
from html.parser import HTMLParser

import matplotlib
import numpy as np
import pandas as pd
import pytest
from expected import aliased, refused, rows_left_out, unwritable
from light_options import one_of_each

matplotlib.use("agg")
from matplotlib import pyplot
from seams import METHODS

from ordstat import SurveyDesign, datasets, ordfit
from ordstat.report.page import CAPTIONS

WINE = datasets.load("wine")
_EMPTY = {"meta", "img", "br", "hr"}


class Reader(HTMLParser):
    """Tags in order with their contents; open tags must be closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.text = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in _EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def read(path):
    reader = Reader()
    reader.feed(path.read_text("utf-8"))
    assert not reader.open
    return reader


FITS = {
    "logit": lambda: ordfit("rating ~ temp + contact", WINE),
    "redsvm": lambda: ordfit("rating ~ temp + contact", WINE, "redsvm", C=(0.5, 2.0)),
    "cart": lambda: ordfit("rating ~ temp + contact", WINE, "cart"),
    "csovo": lambda: ordfit("rating ~ temp + contact", WINE, "csovo"),
    "parts": lambda: ordfit(
        "rating ~ temp",
        WINE,
        nominal="~ contact",
        scale="~ temp",
        weights=np.full(72, 1.5),
    ),
}


@pytest.mark.filterwarnings("ignore::ordstat.exceptions.DataWarning")
@pytest.mark.parametrize("name", FITS)
def test_a_page_is_whole_by_itself(name, tmp_path):
    fit = FITS[name]()
    figures = pyplot.get_fignums()
    settings = dict(matplotlib.rcParams)
    page = read(fit.report(tmp_path / "report.html"))
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    links = [
        attrs[key] for _, attrs in page.tags for key in ("src", "href") if key in attrs
    ]
    assert all(link.startswith(("data:image/", "#s")) for link in links)
    assert not {"script", "link", "iframe", "object", "form"} & {
        tag for tag, _ in page.tags
    }
    images = [attrs for tag, attrs in page.tags if tag == "img"]
    assert all(attrs["alt"] for attrs in images)
    left_out = {"confusion", "margins"} if fit.method.likelihood else set()
    assert len(images) >= len(set(fit.plot.names) & set(CAPTIONS) - left_out)
    for attrs in images:
        data = base64.b64decode(attrs["src"].partition(",")[2], validate=True)
        assert b"<svg" in data[:500] or data.startswith(b"\x89PNG")
    assert pyplot.get_fignums() == figures and dict(matplotlib.rcParams) == settings
    sections = [attrs["id"] for tag, attrs in page.tags if tag == "section"]
    assert (
        sections == [link[1:] for link in links if link.startswith("#")]
        and len(sections) == 6
    )


@pytest.mark.parametrize(
    "name", ["cart", pytest.param("logit", marks=pytest.mark.slow)]
)
def test_the_same_fit_gives_the_same_page(name, tmp_path):
    fit = FITS[name]()
    one, other = (
        fit.report(tmp_path / name).read_bytes() for name in ("one.html", "other.HTM")
    )
    assert one == other


def test_what_it_says(tmp_path):
    text = " ".join(
        read(FITS["logit"]().report(tmp_path / "w.html", pictures=False)).text
    )
    for words in (
        "How does rating, in 5 ordered levels (1 < 2 < 3 < 4 < 5), depend",
        "rating ~ temp + contact",
        "All 72 rows are used.",
        "Proportional odds, score test: chi2(6) = 2.84, p = .828",
        "max |gradient|",
        "McCullagh, P. (1980)",
        "ordfit('rating ~ temp + contact', data)",
        "numpy",
    ):
        assert words in text
    assert "More:" not in text and "Pictures" not in text


def test_indicators_are_counted_and_numbers_described(tmp_path):
    rows = pd.DataFrame(
        {"y": [1, 2, 3] * 4, "g": list("aabbbbbbcccc"), "x": [1.0, 3.0] * 6}
    )
    page = read(ordfit("y ~ g + x", rows).report(tmp_path / "p.html", pictures=False))
    text = "|".join(word.strip() for word in page.text if word.strip())
    assert "|rows|share|g: b|6|50.0%|g: c|4|33.3%|" in text
    assert "|mean|SD|min|max|x|2|1|1|3|" in text


def hostile():
    rng = np.random.default_rng(0)
    levels = [
        "<script>alert(1)</script>",
        "a|b & *c*",
        '"><img src=x onerror=alert(2)>',
    ]
    y = pd.Categorical.from_codes(rng.integers(0, 3, 60), levels, ordered=True)
    return pd.DataFrame(
        {"y": y, "<i>x</i>": rng.normal(size=60), "g": rng.choice(["<u>", "`]($"], 60)}
    )


@pytest.fixture(scope="module")
def hostile_fit():
    return ordfit("y ~ `<i>x</i>` + g", hostile())


@pytest.fixture(scope="module")
def page(hostile_fit, tmp_path_factory):
    return read(hostile_fit.report(tmp_path_factory.mktemp("hostile") / "report.html"))


def test_nothing_in_the_data_is_read_as_a_tag(page):
    assert {tag for tag, _ in page.tags}.isdisjoint({"script", "i", "u"})
    assert all(
        attrs["src"].startswith("data:image/")
        for tag, attrs in page.tags
        if tag == "img"
    )
    assert "<script>alert(1)</script>" in "".join(page.text)


def test_separation_and_a_fit_that_missed_its_optimum(tmp_path):
    data = pd.DataFrame(
        {"y": [1, 1, 2, 2, 3, 3] * 5, "x": [0.0, 0.1, 1.0, 1.1, 2.0, 2.1] * 5}
    )
    with pytest.warns(Warning, match="separated"):
        fit = ordfit("y ~ x", data)
    text = " ".join(read(fit.report(tmp_path / "s.html", pictures=False)).text)
    assert "The response is separated" in text
    with pytest.warns(Warning, match="did not reach"):
        fit = ordfit("rating ~ temp + contact", WINE, max_iter=1)
    text = " ".join(read(fit.report(tmp_path / "m.html", pictures=False)).text)
    assert (
        "NOT CONVERGED after 1 iteration" in text and "The numbers may be off" in text
    )


def test_effects_that_differ_and_data_that_look_doubtful(tmp_path):
    rng = np.random.default_rng(1)
    x = rng.normal(size=900)
    above = np.stack(
        [rng.logistic(size=900) < 1.5 + 2.0 * x, rng.logistic(size=900) < -1.5]
    )
    data = pd.DataFrame(
        {
            "y": 1 + above[0].astype(int) * (1 + above[1]),
            "x": x,
            "z": rng.normal(size=900),
        }
    )
    data.loc[:3, "z"] = np.nan
    with rows_left_out():
        fit = ordfit("y ~ z + x", data)
    text = " ".join(read(fit.report(tmp_path / "d.html", pictures=False)).text)
    assert "Effects differ between thresholds, most for x (p < .001)." in text
    assert (
        "896 rows of 900 are used; left out for missing values or weights of 0: z (4)"
        in text
    )


def page_text(fit, path, **options):
    return " ".join(read(fit.report(path, **options)).text)


def test_rows_without_weight_and_aliased_columns_are_told(tmp_path):
    fit = ordfit("rating ~ temp", WINE, weights=(np.arange(72) % 5).astype(float))
    text = page_text(fit, tmp_path / "w.html", pictures=False)
    assert "left out for missing values or weights of 0: (weight 0) (15)" in text
    with aliased():
        fit = ordfit("rating ~ temp + I(2 * (temp == 'warm'))", WINE)
    assert "Aliased with earlier columns" in page_text(
        fit, tmp_path / "a.html", pictures=False
    )


def test_an_offset_is_told(tmp_path):
    data = WINE.assign(known=np.linspace(0.0, 1.0, 72))
    by_name = ordfit("rating ~ temp", data, offset="known")
    assert "With offset='known'." in page_text(
        by_name, tmp_path / "o.html", pictures=False
    )
    by_values = ordfit("rating ~ temp", data, offset=data["known"])
    assert "With offset=...." in page_text(
        by_values, tmp_path / "v.html", pictures=False
    )


def test_fits_without_pictures_or_tests(tmp_path):
    mixed = ordfit("rating ~ temp + contact + (1 | judge)", WINE)
    text = " ".join(read(mixed.report(tmp_path / "m.html")).text)
    assert "1 | judge" in text
    weighted = WINE.assign(w=1.0 + np.arange(72) % 3)
    survey = ordfit("rating ~ temp", weighted, design=SurveyDesign(weights="w"))
    text = " ".join(read(survey.report(tmp_path / "s.html", pictures=False)).text)
    assert "means are weighted" in text


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", one_of_each())
def test_every_method_has_a_page_and_papers(name, tmp_path):
    data = (
        WINE.assign(rating=WINE["rating"].astype(int) > 2)
        if name in ("adaboost", "seedboost")
        else WINE
    )
    small = (
        {"rounds": 3} if "rounds" in METHODS[name].method.__dataclass_fields__ else {}
    )
    fit = ordfit("rating ~ temp + contact", data, name, **small)
    text = " ".join(read(fit.report(tmp_path / "r.html", pictures=False)).text)
    assert METHODS[name].method.papers[0] in text


def test_without_a_path_it_is_the_whole_summary():
    fit = FITS["redsvm"]()
    assert str(fit.report()) == str(fit.summary("all"))


@pytest.mark.parametrize("path", ["report.pdf", "report", 3, "nowhere/report.html"])
def test_refused_paths(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with refused("path"):
        FITS["csovo"]().report(path)
    assert not list(tmp_path.iterdir())


def test_a_page_that_cannot_be_written_leaves_nothing(tmp_path):
    (tmp_path / "report.html").mkdir()
    with unwritable("report.html"):
        FITS["csovo"]().report(tmp_path / "report.html", pictures=False)
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
