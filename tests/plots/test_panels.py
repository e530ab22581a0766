"""Panels by another variable: the means of `emmeans` within groups."""

import numpy as np
import pytest
from matplotlib import pyplot

from ordstat import OptionError, datasets, ordfit

WINE, ANES = datasets.load("wine"), datasets.load("anes96")


def test_a_panel_has_the_marginal_means_of_its_group():
    fit = ordfit("rating ~ temp * contact", WINE)
    table = fit.plot.effects("temp", by="contact", draw=False)
    means = fit.emmeans("~ temp | contact", scale="prob").frame.set_index(["contact", "temp", "level"])
    found = table.set_index(["contact", "temp", "level"])
    columns = ["estimate", "std_error", "lower", "upper"]
    np.testing.assert_allclose(found[columns], means.loc[found.index, columns], rtol=1e-10)
    panels = fit.plot.effects("temp", by="contact")
    assert [panel.get_title(loc="left") for panel in panels] == ["contact = no", "contact = yes"]
    line = panels[1].get_lines()[2]
    np.testing.assert_allclose(line.get_ydata(), found.xs(("yes", 3), level=("contact", "level"))["estimate"])


def test_numbers_have_their_quartiles():
    fit = ordfit("PID ~ selfLR * age + vote", ANES)
    table = fit.plot.effects("selfLR", by="age", values=[2, 6], draw=False)
    assert table["age"].unique().tolist() == np.quantile(ANES["age"], [0.25, 0.5, 0.75]).tolist()
    one = fit.plot.effects("selfLR", values=[2, 6], at={"age": float(np.median(ANES["age"]))}, draw=False)
    own = table[table["age"] == np.median(ANES["age"])]
    np.testing.assert_allclose(own["estimate"], one["estimate"], rtol=1e-12)
    axes = pyplot.subplots(1, 2)[1]
    assert fit.plot.effects("selfLR", axes, by="age", by_values=[30, 60])[1] is axes[1]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("temp", "temp"), "by must be another variable than 'temp'"),
        (("temp", "judge"), "by must be a variable of the formula, 'temp', 'contact'; got 'judge'"),
    ],
)
def test_refusals(given, message):
    with pytest.raises(OptionError, match=message):
        ordfit("rating ~ temp + contact", WINE).plot.effects(given[0], by=given[1])
