"""Pictures of smooth terms."""

import numpy as np
from matplotlib.collections import LineCollection

from ordstat import datasets, ordfit


def test_the_rug_has_values_of_rows_alone():
    anes = datasets.load("anes96")
    assert len(anes) > 500
    (panel,) = np.ravel(ordfit("PID ~ s(selfLR, k=6)", anes).plot.smooths())
    (rug,) = [
        lines
        for lines in panel.collections
        if isinstance(lines, LineCollection) and len(lines.get_segments()) > 1
    ]
    places = [segment[0, 0] for segment in rug.get_segments()]
    assert places == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
