"""Pages in a browser: what axe-core finds wrong with labels, contrast and order, at the widths of phones and desks."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import matplotlib
import pytest

matplotlib.use("agg")

from ordstat import compare, datasets, describe_ordinal, ordfit, table

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ordstat.exceptions.OrdstatWarning")]

#: A folder with node_modules: npm install axe-core playwright-core
FOLDER = os.environ.get("ORDSTAT_AXE", "")
WINE = datasets.load("wine")
_PAGE = '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>A notebook</title></head><body><main>'
_PHONE = '<meta name="viewport" content="width=device-width, initial-scale=1">'


def notebook(path, *shown):
    """Cells of a notebook as a page."""
    cells = "".join(one._repr_html_() for one in shown)
    path.write_text(_PAGE.replace("<title>", f"{_PHONE}<title>") + f"<h1>Cells</h1>{cells}</main></body></html>")


def reports(folder):
    ordfit("rating ~ temp + contact", WINE).report(folder / "logit.html")
    ordfit("rating ~ temp + contact", WINE, "redsvm", kernel="linear").report(folder / "redsvm.html")
    ordfit("rating ~ temp + contact", WINE, "cart").report(folder / "cart.html")
    ordfit("rating ~ temp", WINE, nominal="~ contact", scale="~ temp").report(folder / "nominal.html")
    ordfit("rating ~ temp + contact + (1 | judge)", WINE).report(folder / "mixed.html")


def notebooks(folder):
    fit = ordfit("rating ~ temp + contact", WINE)
    mixed = ordfit("rating ~ temp + contact + (1 | judge)", WINE)
    notebook(folder / "fits.html", fit, fit.summary(), mixed, mixed.summary(), fit.summary("all"))
    models = table([fit, mixed], groups=["a", "a"])
    notebook(folder / "tables.html", models, fit.drop1(), fit.emmeans("pairwise ~ temp"), fit.gof(groups=4), fit.step())
    compared = compare("rating ~ temp + contact", WINE, methods=["logit", "redsvm"], cv=4)
    notebook(folder / "compared.html", compared, compared.table, compared.differences())
    notebook(folder / "described.html", describe_ordinal(WINE, "rating", by="temp"))


@pytest.mark.parametrize("pages", [reports, notebooks], ids=lambda pages: pages.__name__)
def test_axe_finds_nothing(pages, tmp_path):
    node, chromium = shutil.which("node"), shutil.which("chromium") or shutil.which("chromium-browser")
    if not (node and chromium and FOLDER):
        pytest.skip("needs node, chromium, and ORDSTAT_AXE=a folder where npm install axe-core playwright-core was run")
    pages(tmp_path)
    script = Path(__file__).with_name("axe.js")
    arguments = [node, str(script), chromium, FOLDER, *map(str, sorted(tmp_path.glob("*.html")))]
    found = json.loads(subprocess.run(arguments, capture_output=True, text=True, check=True).stdout)
    assert len(found) >= 6 and {one["width"] for one in found} == {400, 1200}
    assert [one for one in found if one["violations"] or one["wide"] > one["width"]] == []
