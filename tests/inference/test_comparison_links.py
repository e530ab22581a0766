"""Which models hold which: families of links by the distribution functions, cumulative
and adjacent-category logits.
"""

import numpy as np
import pytest
from reference_cases import load_data
from seams import FLEXIBLE, LINKS

from ordstat import ordfit

T = np.linspace(-3.0, 3.0, 61)


@pytest.mark.parametrize("family", FLEXIBLE.values(), ids=FLEXIBLE)
def test_members_are_the_links_at_some_lambda(family):
    grid = [lam for lam in (1e-9, 1.0, 0.0, -1.0) if family.lower < lam < family.upper]
    reached = {
        name
        for name, link in LINKS.items()
        if any(np.allclose(family.at(lam).cdf(T), link.cdf(T)) for lam in grid)
    }
    assert reached == set(family.members)


@pytest.mark.parametrize(
    ("large", "small"),
    [
        *(
            ({"link": name}, {"link": link})
            for name in FLEXIBLE
            for link in ("logit", "probit", "loglog", "cauchit")
        ),
        ({"link": "aranda-ordaz"}, {"link": ("log-gamma", 0.5)}),
        ({"method": "acat"}, {}),
        ({"method": "cratio"}, {}),
    ],
)
def test_only_members_have_a_p_value(large, small):
    wine = load_data("wine")
    one = ordfit("rating ~ temp", wine, **small)
    other = ordfit("rating ~ temp + contact", wine, **large)
    table = one.anova(other)
    nested = (
        large.get("link") in FLEXIBLE
        and small["link"] in FLEXIBLE[large["link"]].members
    )
    assert np.isfinite(table["p_value"].iloc[1]) == nested
    assert nested or "no p-value, as they are not nested" in table.attrs["notes"][0]


def test_a_given_lambda_is_within_its_family():
    wine = load_data("wine")
    given = ordfit("rating ~ temp", wine, link=("aranda-ordaz", 0.7))
    assert (
        given.anova(given.update("~ . + contact", link="aranda-ordaz"))["p_value"]
        .notna()
        .iloc[1]
    )
