"""Code lines: what holds code, neither docstrings nor comments nor blanks."""

from benchmarks.size import by_layer, main, sizes

ONE = '''"""Docstring

of three lines."""

# a comment
import os


def f(x):
    """Docstring."""

    # a comment
    y = (
        x
    )
    return """no
docstring"""


class C:
    """Docstring."""

    def g(self): ...
'''


def test_lines_that_hold_code_are_counted(tmp_path, capsys):
    (tmp_path / "layer").mkdir()
    (tmp_path / "layer" / "one.py").write_text(ONE)
    (tmp_path / "two.py").write_text("x = 1\n\ny = 2  # twice\n")
    found = sizes(tmp_path)
    assert [size.lines for size in found] == [9, 2]  # import; def and its five lines; class and its method
    assert list(found[0].functions.values()) == [6, 1]
    table = by_layer(found, tmp_path)
    assert table.loc["all", ["files", "code lines", "functions", "longest"]].tolist() == [2, 11, 2, 6]
    assert table.loc["two.py", ["functions", "median", "longest"]].tolist() == [0, 0, 0]
    main(tmp_path)
    shown = capsys.readouterr().out
    assert "layer" in shown and "   9 code lines: layer/one.py" in shown
