"""What type checkers and editors know of the results of users' calls."""

from typing import get_args

import pytest
from seams import METHODS

from ordstat.registry import LikelihoodName

SCRIPT = """
from ordstat import REDSVM, datasets, ordfit

wine = datasets.load("wine")
new = wine.head(2)
fit = ordfit("rating ~ temp + contact", wine)
reveal_type(fit)
print(fit.summary(), fit.coefficients, fit.params, fit.coef.round(2), fit.llf)
print(fit.predict(new).tolist(), fit.predict(new, type="prob").round(2))
print(fit.tidy(exponentiate=True).loc[4:, ["term"]], fit.plot.dependence("temp"))
mixed = ordfit("rating ~ temp + (1 | judge)", wine, "probit")
reveal_type(mixed)
print(mixed.ranef(), mixed.icc(), mixed.anova(fit))
svm = ordfit("rating ~ temp + contact", data=wine, method="redsvm", C=10)
reveal_type(svm)
print(svm.thresholds, svm.coef, ordfit("rating ~ temp", wine, REDSVM(C=1.0)).errors())
reveal_type(ordfit("rating ~ temp", wine, fit=False))
for method in ["logit", "csovo"]:
    reveal_type(ordfit("rating ~ temp", wine, method))
"""


def test_the_listed_names_are_those_of_likelihood_methods():
    """`kernel-clm` has probabilities, but no standard errors."""
    likelihood = {name for name, entry in METHODS.items() if entry.method.likelihood}
    assert set(get_args(LikelihoodName)) == likelihood


@pytest.mark.slow
def test_usual_scripts_have_no_type_errors(tmp_path, monkeypatch):
    """Of the package that is installed, as mypy sees it from a folder of its own."""
    api = pytest.importorskip("mypy.api", reason="pip install mypy")
    (tmp_path / "mypy.ini").write_text("[mypy]\n[mypy-ordstat.*]\nignore_errors=True\n")
    (tmp_path / "script.py").write_text(SCRIPT)
    monkeypatch.chdir(tmp_path)
    printed, errors, _ = api.run(["script.py"])
    lines = [line for line in printed.splitlines() if line.startswith("script.py")]
    found = [line.rpartition("is ")[2].strip('"').rpartition(".")[2] for line in lines]
    assert errors == ""
    assert found == [
        "LikelihoodResults",
        "LikelihoodResults",
        "OrdinalResults",
        "ModelOutline",
        "OrdinalResults",
    ]
