"""Who hears of long work."""

import io
import sys

import pytest

from ordstat import OptionError, checks, datasets, ordfit
from ordstat.checks import reporter


class Terminal(io.StringIO):
    """Text written to a terminal."""

    def isatty(self):
        return True


def test_the_callers_function_comes_first(monkeypatch):
    def heard(step, total, message):
        pass

    monkeypatch.setattr(sys, "stderr", Terminal())
    assert reporter(heard) is heard


def test_a_bar_in_a_terminal(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    tell = reporter(None)
    for step in range(1, 4):
        tell(step, 3, f"fold {step}")
    first = terminal.getvalue()
    assert "fold 1" in first
    assert "1/3" in first
    tell(1, 7, "another")  # what follows the end has a bar of its own
    assert "/7" in terminal.getvalue()[len(first) :]


def test_nobody_hears_without_a_terminal_or_without_tqdm(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(checks, "find_spec", lambda name: None)
    assert reporter(None) is None
    monkeypatch.undo()
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert reporter(None) is None
    monkeypatch.setattr(sys, "stderr", None)
    assert reporter(None) is None


@pytest.mark.parametrize(
    "ask",
    [
        lambda fit: fit.errors(cv=3, callback=3),
        lambda fit: fit.bootstrap(10, callback=len),
    ],
)
def test_callbacks_that_are_no_functions_are_named(ask):
    with pytest.raises(OptionError, match=r"callback must .*got (3|<built-in)"):
        ask(ordfit("rating ~ temp", datasets.load("wine")))
