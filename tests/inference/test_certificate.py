"""The convergence table: its error column against fits to the limit, in good and bad
cases.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from expected import aliased
from reference_cases import load_case, load_data

from inference.samples import fitted, frame
from ordstat import ordfit
from ordstat.exceptions import ConvergenceWarning, SeparationWarning

#: Case weights of these data have a mean above 2, as sampling weights do.
pytestmark = pytest.mark.filterwarnings(
    "ignore:weights= are counts of equal rows, and these stand for"
)

MODELS = {
    "plain": {},
    "weights": {"weights": "w"},
    "nominal and scale": {"formula": "y ~ x", "nominal": "~ f", "scale": "~ z"},
    "cauchit": {"link": "cauchit"},
}


def unfinished(max_iter: int, **arguments: str) -> Any:
    """A fit stopped early on its way from the cumulative shares and no effects."""
    shares = fitted(
        **arguments | {"formula": "y ~ 1", "nominal": None, "scale": None}
    ).params
    effects = fitted(**arguments).params.iloc[shares.size :]
    with pytest.warns(ConvergenceWarning):
        return fitted(
            max_iter=max_iter, start=[*shares, *np.zeros(effects.size)], **arguments
        )


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("max_iter", [2, 3])
def test_errors_of_an_unfinished_fit(model: str, max_iter: int) -> None:
    """Stopped early, the error column is the distance to the optimum to first order,
    the gradient the likelihood's.
    """
    arguments = MODELS[model]
    early = unfinished(max_iter, **arguments)
    best = fitted(**arguments)
    actual = early.certificate
    distance = (early.params - best.params).abs()
    close = 3.0 * distance.max() ** 2 + 1e-9
    if max_iter == 3:
        assert (
            actual.table["error"] - distance
        ).abs().max() <= 0.1 * distance.max() + close
    assert (
        actual.warnings
        and "did not reach" in actual.warnings[0]
        and "3 iterations" not in actual.message[:5]
    )
    assert (actual.table["gradient"].abs().max() > 1e-6) and (
        best.certificate.table["gradient"].abs().max() < 1e-6
    )


@pytest.mark.parametrize("model", MODELS)
def test_gradient_by_differences_of_the_likelihood(model: str) -> None:
    fit = unfinished(2, **MODELS[model])
    sample = fit.design.sample
    f = fit.fit
    h = 1e-5

    def loglik(b: np.ndarray) -> float:
        q = 0 if sample.rows.nominal is None else sample.rows.nominal.shape[1]
        alpha = b[: f.n_alpha].reshape(1 + q, -1).T
        rule = replace(
            f.rule,
            alpha=alpha,
            beta=b[f.n_alpha : f.n_alpha + f.n_beta],
            zeta=b[f.n_alpha + f.n_beta :],
        )
        p = rule.probabilities(sample.rows)[np.arange(sample.n), sample.y]
        return float(sample.case_weights @ np.log(p))

    expected = [
        (loglik(f.coefficients + h * e) - loglik(f.coefficients - h * e)) / (2 * h)
        for e in np.eye(f.coefficients.size)
    ]
    np.testing.assert_allclose(
        fit.certificate.table["gradient"], expected, rtol=1e-5, atol=1e-5
    )


def test_against_r() -> None:
    """Standard errors and Hessian of R's fit; its eigenvalues are those of the inverse
    covariance.
    """
    case = load_case("wine_logit")
    actual = ordfit("rating ~ temp + contact", load_data("wine")).certificate
    np.testing.assert_allclose(actual.table["std_error"], case.std_errors, rtol=1e-8)
    eigenvalues = np.linalg.eigvalsh(np.linalg.inv(case.matrix("vcov").to_numpy()))[
        ::-1
    ]
    np.testing.assert_allclose(actual.eigenvalues, eigenvalues, rtol=1e-6)
    exact = case.coefficients.to_numpy()
    table = actual.table
    assert (
        np.abs(table["estimate"] - exact) <= 10.0 ** -np.minimum(table["decimals"], 10)
    ).all()
    assert (table["decimals"] >= 8).all() and (table["digits"] >= 10).all()
    assert actual.warnings == () and "max |gradient|" in actual.message
    assert (
        "Eigenvalues of the information" in repr(actual)
        and "<table" in actual._repr_html_()
    )


def test_condition_number_is_free_of_units() -> None:
    data = frame().assign(far=lambda d: 1e6 + 1e3 * d["x"])
    near, far = (ordfit(f"y ~ {name} + f", data).certificate for name in ("x", "far"))
    assert near.condition == pytest.approx(far.condition, rel=1e-6)
    assert (
        far.eigenvalues[0] / far.eigenvalues[-1]
        > 1e6 * near.eigenvalues[0] / near.eigenvalues[-1]
    )


def test_aliased_and_separated_fits() -> None:
    with aliased():
        fit = ordfit("y ~ x + I(2 * x)", frame())
    assert fit.certificate.table.iloc[-1].isna().all()
    data = pd.DataFrame({"y": [1, 1, 2, 2, 3, 3], "x": [0.0, 1, 2, 3, 4, 5]})
    with pytest.warns(SeparationWarning):
        separated = ordfit("y ~ x", data).certificate
    assert "separated" in separated.warnings[0]


def test_penalised_fits_and_many_levels() -> None:
    """The gradient of the likelihood is no error of a penalised fit; long tables are
    shown in part.
    """
    penalised = fitted(penalty=1.0).certificate.table
    assert penalised.drop(columns=["estimate", "std_error"]).isna().all(axis=None)
    data = frame(n=80)
    many = ordfit("x ~ z", data, levels=sorted(data["x"])).certificate
    assert many.table["decimals"].min() >= 8 and len(repr(many).splitlines()) < 80
