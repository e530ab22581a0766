"""Advice for infinite or diverging estimates and few clusters, with what the method
supports.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from .penalty import MOST_JEFFREYS_LEVELS

if TYPE_CHECKING:
    from .results import LikelihoodResults
    from .rule import LikelihoodRule

#: Fewer clusters than these make cluster-robust standard errors too small.
FEW_CLUSTERS = 20
#: What to use if CR2 is not available.
WITHOUT_CR2 = (
    f"With {FEW_CLUSTERS} clusters or more use {{'cluster': ..., 'type': 'CR1'}}; with"
    " fewer, a random effect, (1 | g)."
)
#: Other ways to finite estimates.
MERGE = "merge levels"
DROP_COLUMN = "drop the column"

_RIDGE = "a ridge (penalty=1.0)"
_FIRTH = "penalty='jeffreys' (Firth's bias reduction)"
_WIDER = "method='multinomial' and penalty=1.0"


def penalties(r: LikelihoodResults) -> list[str]:
    """The penalties that make the estimates of this fit finite; empty if the method has
    none.
    """
    fit = r.fit
    if fit.has_level_scores:
        return [_WIDER]
    if fit.marginal is not None or fit.smooths is not None or r.covariance == "CR2":
        return []
    refused = {"nominal", "lambda"} & set(r.parameters.kinds)
    local = cast("LikelihoodRule", fit.rule).family.local
    few = len(r.levels) <= MOST_JEFFREYS_LEVELS
    if local and few and not refused and r.in_memory:
        return [_FIRTH, _RIDGE]
    return [_RIDGE]


def remedies(
    r: LikelihoodResults, *others: str, first: tuple[str, ...] = (), fit: str = "fit"
) -> str:
    """What to do for finite estimates, as "drop a, fit with b, or merge c".

    Parameters
    ----------
    r : LikelihoodResults
    *others : str
        Further remedies.
    first : tuple of str
        The best remedies, named before the penalties.
    fit : str
        Words for fitting with a penalty, such as "fit all frames".
    """
    given = " or ".join(penalties(r))
    penalised = [f"{fit} with {given}"] if given else []
    ways = [*first, *penalised, *others]
    if len(ways) <= 2:
        return " or ".join(ways)
    return f"{', '.join(ways[:-1])}, or {ways[-1]}"


def as_sentence(ways: str) -> str:
    """Advice as a sentence of its own."""
    return f"{ways[:1].upper()}{ways[1:]}."
