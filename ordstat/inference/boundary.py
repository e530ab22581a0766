"""Likelihood-ratio tests between fits with random effects: what contains what, and variances at their boundary.

A variance that is 0 in the smaller model lies at the boundary of the larger one. The statistic of one more variance is
then 1/2 chi2(0) + 1/2 chi2(1) [Self and Liang 1987], that of one more column, correlated with q others, 1/2 chi2(q) +
1/2 chi2(q + 1) [Stram and Lee 1994]. R's anova takes chi2 of all parameters, which is too cautious.
"""

from __future__ import annotations

from ..exceptions import OptionError
from ..likelihood.fitted import FittedLikelihood
from ..likelihood.wald import chi2_tail

#: A likelihood ratio that is 0 but for rounding, by the size of the log-likelihoods.
_ROUNDING = 1e-10
#: Columns whose effects are correlated, and the factors of their group.
Block = tuple[frozenset[str], frozenset[str]]


def blocks(fit: FittedLikelihood) -> list[Block]:
    """The random terms of a fit, independent effects one by one."""
    pairs: list[Block] = []
    for term in fit.design.random:
        given = [] if term.root is None else [f"covariance {hash(term.root.tobytes())}"]
        group = frozenset([*(factor.key for factor in term.part.group.factors), *given])
        parts = [frozenset(term.names)] if term.correlated else [frozenset([name]) for name in term.names]
        pairs += [(columns, group) for columns in parts]
    return pairs


def random_within(small: FittedLikelihood, large: FittedLikelihood) -> bool:
    """Whether the random effects of one model are among those of the other."""
    wider = blocks(large)
    return all(any(group == other and own <= more for more, other in wider) for own, group in blocks(small))


def check_same_rule(one: FittedLikelihood, other: FittedLikelihood) -> None:
    """OptionError where the likelihoods of two fits are different approximations."""
    rules = [fit.fit.marginal.quadrature for fit in (one, other) if fit.fit.marginal is not None]
    if len(set(rules)) > 1:
        raise OptionError(
            f"anova needs random effects integrated out by the same rule; got quadrature={rules[0]} and {rules[1]}. "
            "Fit both with one of them."
        )


def boundary_test(small: FittedLikelihood, large: FittedLikelihood, statistic: float) -> tuple[float, str] | None:
    """The p-value and its law in words; None if the random effects are the same."""
    fewer, more = blocks(small), blocks(large)
    if set(fewer) == set(more):
        return None
    statistic = 0.0 if is_zero(statistic, large.loglik) else statistic
    df = large.edf - small.edf
    n_random = sum(_size(own) for own, _ in more) - sum(_size(own) for own, _ in fewer)
    added = sum(len(own) for own, _ in more) - sum(len(own) for own, _ in fewer)
    if added == 0 and n_random == df:
        return None  # correlations alone: no boundary
    if added != 1 or n_random != df:
        return float(chi2_tail(statistic, df)), f"chi2({df}), conservative"
    q = df - 1
    lower = float(chi2_tail(statistic, q)) if q else float(statistic == 0.0)
    return 0.5 * lower + 0.5 * float(chi2_tail(statistic, df)), f"1/2 chi2({q}) + 1/2 chi2({df})"


def is_zero(statistic: float, loglik: float) -> bool:
    """Whether a likelihood ratio is that of a variance of 0, but for rounding."""
    return statistic <= _ROUNDING * (1.0 + abs(loglik))


def _size(columns: frozenset[str]) -> int:
    """Variances and covariances of correlated effects."""
    return len(columns) * (len(columns) + 1) // 2
