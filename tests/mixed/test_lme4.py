"""Two levels are a binary regression: equal to lme4's glmer (1.1-31, R 4.2.2) on tests/reference/data/long.csv.

    glmer(yb ~ x1 + x2 + (1 | id), data = long, family = binomial(link), nAGQ = q,
          control = glmerControl(optimizer = "bobyqa", tolPwrss = 1e-13, optCtrl = list(rhoend = 1e-12, maxfun = 1e5)))

lme4's modes have a tolerance of 1e-7 unless asked (its log-likelihood then is off by 4e-4), and it takes the expected
curvature where ours is the observed one: equal for the logit, and for the probit in the limit of many nodes alone.
"""

from __future__ import annotations

import pytest
from reference_cases import load_case

from ordstat import ordfit

#: (link, nAGQ) -> logLik, fixef, theta.
GLMER = {
    ("logit", 1): (-349.192806856134268, (-0.135504030438, 1.002758043547971, -0.383976927508725), 0.846822957645715),
    ("logit", 7): (-348.848443677942726, (-0.135511584896338, 1.002869926630512, -0.3839580886931), 0.862691024206364),
    ("logit", 25): (
        -348.848418730379478,
        (-0.135511755660485, 1.002870449102416, -0.383958317179573),
        0.862696074585121,
    ),
    ("probit", 25): (
        -348.6998181832976798,
        (-0.0785773955721248, 0.6022111157447679, -0.2295212469337841),
        0.5080097648018075,
    ),
}


@pytest.mark.parametrize(("link", "nodes"), GLMER)
def test_two_levels_equal_glmer(link: str, nodes: int) -> None:
    loglik, fixef, theta = GLMER[link, nodes]
    fit = ordfit("yb ~ x1 + x2 + (1 | id)", load_case("long_clmm_binary").frame(), link, quadrature=nodes)
    assert fit.loglik == pytest.approx(loglik, abs=1e-7)
    assert (-fit.thresholds.iloc[0], *fit.coef) == pytest.approx(fixef, rel=2e-6)  # glmer stops at about that
    assert fit.varcorr()["sd"].iloc[0] == pytest.approx(theta, rel=2e-5)


def test_probit_by_seven_nodes_is_near_glmer() -> None:
    """-348.69982 (R), where the curvatures that scale the nodes differ."""
    fit = ordfit("yb ~ x1 + x2 + (1 | id)", load_case("long_clmm_binary").frame(), "probit", quadrature=7)
    assert fit.loglik == pytest.approx(-348.6998223918382678, abs=1e-5)
