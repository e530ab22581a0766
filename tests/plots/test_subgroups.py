"""Effects within subgroups as a picture: rows, numbers beside them, small axes."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib import pyplot

from ordstat import ordfit

RNG = np.random.default_rng(1)
TRIAL = pd.DataFrame(
    {
        "y": RNG.integers(0, 4, 420) + np.arange(420) % 2,
        "arm": np.array(["a", "b"])[np.arange(420) % 2],
        "sex": np.array(["men", "women"])[RNG.integers(0, 2, 420)],
        "age": np.array(["old", "middle", "young"])[RNG.integers(0, 3, 420)],
    }
)


def test_the_picture() -> None:
    """Rows from the top, dots at the estimates, numbers beside them, 1 on the axis."""
    fit = ordfit("y ~ arm", TRIAL)
    for measure in ("ratio", "win odds"):
        frame = fit.plot.subgroups("arm", ["sex", "age"], measure=measure, draw=False)
        ax = fit.plot.subgroups(
            "arm", ["sex", "age"], measure=measure, labels={"sex": "Sex"}
        )
        dots = next(line for line in ax.lines if line.get_marker() == "o")
        np.testing.assert_allclose(dots.get_xdata(), frame["estimate"])
        assert (np.diff(dots.get_ydata()) < 0.0).all()
        names = [label.get_text() for label in ax.get_yticklabels()]
        n = (TRIAL["sex"] == "men").sum()
        assert names[:3] == ["all (n = 420)", "Sex", f"men (n = {n})"]
        words = [text.get_text() for text in ax.texts]
        assert sum(word.startswith("interaction p") for word in words) == 2
        assert f"{frame['estimate'][0]:.2f} [" in words[0]
        ax.figure.draw_without_rendering()
        assert 1.0 in ax.get_xticks()
        assert measure.split()[-1] in ax.get_xlabel()
        pyplot.close(ax.figure)


def test_small_axes_have_no_numbers_beside_them() -> None:
    figure, ax = pyplot.subplots(figsize=(4, 3))
    ordfit("y ~ arm", TRIAL).plot.subgroups("arm", "sex", ax=ax)
    assert not ax.texts
    pyplot.close(figure)
