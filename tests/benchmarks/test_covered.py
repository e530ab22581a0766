"""Shares of lines that tests reach, by family, from what coverage has left."""

from coverage import CoverageData

from benchmarks.covered import by_family, main, ranges, reached

ONE = '''"""Docstring: no statement."""

import os

def f(x):
    if x:
        return 1
    return 2
'''


def test_lines_reached_are_counted_by_family(tmp_path, capsys, monkeypatch):
    (tmp_path / "layer" / "room").mkdir(parents=True)
    one, two = tmp_path / "layer" / "room" / "one.py", tmp_path / "two.py"
    one.write_text(ONE)
    two.write_text("x = 1\ny = 2\n")
    left = str(tmp_path / "left")
    data = CoverageData(left)
    data.add_lines({str(one): [3, 5, 6, 8], str(two): [1, 2], "/elsewhere/three.py": [1]})
    data.write()
    found = reached(left, tmp_path)
    assert [(each.family, each.missed) for each in found] == [("layer/room", (7,)), ("two.py", ())]
    table = by_family(found)
    assert table.loc["layer/room"].tolist() == [5, 1, 80.0]  # import, def, if, return, return
    assert table.loc["all"].tolist() == [7, 1, 85.7]
    monkeypatch.setattr("benchmarks.covered.reached", lambda file: found)
    main(left, None, "layer/room")
    assert capsys.readouterr().out == "layer/room/one.py: 7\n"
    main(left, left, None)
    assert "before" in capsys.readouterr().out


def test_runs_of_lines():
    assert ranges((3, 4, 5, 9)) == "3-5, 9" and ranges((7,)) == "7" and ranges(()) == ""
