"""Makes the links of README.md absolute, as PyPI shows it apart from the repository:
`python .github/pypi_readme.py OWNER/NAME TAG`.
"""

import re
import sys
from pathlib import Path

_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#)([^)]+)\)")


def absolute(text: str, repository: str, tag: str) -> str:
    """The text with links to files of this tag; pictures as files, pages as shown."""

    def whole(found: re.Match[str]) -> str:
        mark, label, path = found.groups()
        pages = f"https://github.com/{repository}/blob/{tag}"
        files = f"https://raw.githubusercontent.com/{repository}/{tag}"
        return f"{mark}[{label}]({files if mark else pages}/{path})"

    return _LINK.sub(whole, text)


if __name__ == "__main__":
    readme = Path(__file__).parents[1] / "README.md"
    shown = absolute(readme.read_text("utf-8"), *sys.argv[1:])
    readme.write_text(shown, "utf-8")
