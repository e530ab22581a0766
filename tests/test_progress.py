"""Who hears of long work."""

import pytest

from ordstat import OptionError, datasets, ordfit


@pytest.mark.parametrize(
    "ask",
    [
        lambda fit: fit.errors(cv=3, callback=3),
        lambda fit: fit.bootstrap(10, callback=3),
        lambda fit: fit.power("temp", n=50, simulations=5, callback=3),
    ],
)
def test_callbacks_that_are_no_functions_are_named(ask):
    with pytest.raises(OptionError, match="callback must be a function of step, total and message; got 3"):
        ask(ordfit("rating ~ temp", datasets.load("wine")))
