"""Warnings about a fit of any method, as text; the api issues them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..exceptions import ConvergenceWarning, DataWarning, OrdstatWarning
from ..fit import Fit, MarginFit

if TYPE_CHECKING:
    from ..formula.design import Design

# Larger rounding errors of scores, in units of the margin, may change ranks.
_VISIBLE = 1e-6

#: A warning category and its message.
Alert = tuple[type[OrdstatWarning], str]


def alerts(design: Design, fit: Fit, unreached: str) -> Iterator[Alert]:
    """Rows and levels left out, an optimum that was not reached (`unreached`, empty if
    it was), and scores dominated by rounding.
    """
    for note in design.notes:
        yield DataWarning, note
    if unreached:
        yield ConvergenceWarning, unreached
    if isinstance(fit, MarginFit) and fit.rounding > _VISIBLE:
        yield (
            DataWarning,
            (
                f"scores of new rows carry rounding errors of {fit.rounding:.2g}"
                " (margin: 1), so ranks near a threshold are unreliable: the columns"
                " are too large, or too far from 0, for this kernel. Set"
                " scaling='range' or 'standard', or centre and scale them."
            ),
        )
    if fit.calibration is not None:
        yield from fit.calibration.alerts()


def not_reached(fit: Fit, allow: str) -> str:
    """Message for a certificate above its tolerance: `allow` something, or check the
    columns.
    """
    c = fit.certificate
    t = fit.trace
    return (
        f"the fit did not reach its optimum: {c.name} is {c.value:.3g}, above the"
        f" tolerance {c.tolerance:.3g}, after {t.iterations} iterations ({t.message})."
        f" The numbers may be off: {allow}, or look for a nearly redundant or badly"
        " scaled column."
    )
