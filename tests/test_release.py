"""Files that only a release needs agree with setup.cfg."""

import re
import runpy
from configparser import ConfigParser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RECIPE = ROOT / ".github/conda/recipe.yaml"
SCRIPT = ROOT / ".github/pypi_readme.py"

pytestmark = pytest.mark.skipif(
    not (ROOT / "RELEASING.md").exists(), reason="the tests stand alone"
)


@pytest.fixture(scope="module")
def setup():
    parsed = ConfigParser()
    parsed.read(ROOT / "setup.cfg", encoding="utf-8")
    return parsed


def test_the_version_is_the_same_everywhere(setup):
    version = setup["metadata"]["version"]
    for name, pattern in {
        "CITATION.cff": rf"^version: {version}$",
        "docs/citing.md": rf"version = {{{{?{version}}}}}?",
        ".github/conda/recipe.yaml": rf'version: "{version}"',
        "CHANGELOG.md": rf"^## {version} ",
    }.items():
        text = (ROOT / name).read_text("utf-8")
        assert re.search(pattern, text, re.MULTILINE), name


def test_the_conda_recipe_has_the_dependencies(setup):
    run = RECIPE.read_text("utf-8").partition("  run:\n")[2].partition("\n\n")[0]
    listed = [line.strip("- ").replace(" ", "") for line in run.splitlines()]
    wanted = setup["options"]["install_requires"].split()
    assert sorted(listed) == sorted(
        [*wanted, "python" + setup["options"]["python_requires"]]
    )


def test_links_of_the_readme_become_absolute():
    absolute = runpy.run_path(str(SCRIPT))["absolute"]
    text = (ROOT / "README.md").read_text("utf-8")
    paths = re.findall(r"\]\((?!https?:|#)([^)]+)\)", text)
    made = absolute(text, "someone/ordstat", "v1")
    assert paths and not re.search(r"\]\((?!https?:|#)", made)
    for path in paths:
        assert (ROOT / path).exists()
        assert re.search(rf"https://[\w./]*/someone/ordstat/[\w/]*v1/{path}\)", made)
    assert "https://raw.githubusercontent.com/someone/ordstat/v1/docs/_static/" in made


def test_placeholders_stand_where_releasing_says():
    """A placeholder elsewhere would not be filled in."""
    listed = (ROOT / "RELEASING.md").read_text("utf-8")
    for path in ["README.md", "CITATION.cff", "CONTRIBUTING.md", "setup.cfg"]:
        if "OWNER" in (ROOT / path).read_text("utf-8"):
            assert path in listed
    assert "OWNER" not in (ROOT / "README.md").read_text("utf-8")
