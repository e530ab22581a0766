"""Tables wider than the screen, in blocks of columns."""

from ordstat.report.grid import TextGrid, grid_lines

WIDE = "9" * 20


def test_rows_without_texts_are_left_out_of_a_block():
    grid = TextGrid(
        title="",
        heads=(("", *"abcde"),),
        rows=(
            ("one", WIDE, WIDE, WIDE, "4" * 9, "5"),
            ("two", WIDE, WIDE, WIDE, "", ""),
            ("on a line", "", "", "", "", ""),
            ("three", WIDE, WIDE, WIDE, "", ""),
            ("four", WIDE, WIDE, WIDE, "6", "7"),
        ),
        align="lrrrrr",
        titles={1: "First", 4: "Second"},
    )
    lines = grid_lines(grid)
    second = lines[lines.index("") + 1 :]
    assert [line.split()[:3] for line in second if "-" not in line] == [
        ["d", "e"],
        ["one", "4" * 9, "5"],
        ["Second"],
        ["four", "6", "7"],
    ]
    first = [line.split()[0] for line in lines[: lines.index("")]]
    assert first[2:] == ["one", "First", "two", "on", "three", "Second", "four"]
