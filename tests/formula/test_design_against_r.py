"""Model matrices, levels and dropped rows against the reference fits from R."""

import re

import numpy as np
import pandas as pd
import pytest
from reference_cases import case_names, load_case, load_data

from ordstat.formula.design import build

EXACT = 1e-13  # relative; the same arithmetic in another order

# The first six rows of R's splines, polynomials and contrasts are checked through the
# cases below.
ROLES = {"X": "X", "S": "scale", "NOM": "nominal"}


def design_of(case):
    """The design of a case: R's arguments are strings that need no change but
    contrasts.
    """
    arguments = {
        key: case.spec[key]
        for key in ("nominal", "scale", "weights", "subset")
        if key in case.spec
    }
    if "contrasts" in case.spec:
        arguments["contrasts"] = dict(
            re.findall(r'(\w+) = "([\w.]+)"', case.spec["contrasts"])
        )
    return build(case.spec["formula"], case.frame(), **arguments)


#: Cases that carry R's model matrices; the others (polr, rms, VGAM) only have
#: coefficients.
WITH_MATRICES = [name for name in case_names() if "design_head" in load_case(name).raw]


@pytest.mark.parametrize("name", WITH_MATRICES)
def test_model_matrices_are_those_of_r(name):
    case = load_case(name)
    design = design_of(case)
    for role, field in ROLES.items():
        expected = case.matrix("design_head", role)
        if expected is None:
            continue
        expected = expected.drop(columns="(Intercept)", errors="ignore").to_numpy()
        actual = getattr(design.sample.rows, field)
        actual = np.empty((design.sample.n, 0)) if actual is None else actual
        np.testing.assert_allclose(
            actual[: len(expected)], expected, rtol=EXACT, atol=1e-15
        )
    assert design.sample.X.flags.c_contiguous and design.sample.X.dtype == np.float64
    assert design.sample.X.shape[1] == len(design.names)
    assert tuple(map(str, design.levels.values)) == tuple(case.raw["y_levels"])
    assert design.sample.case_weights.sum() == case.raw["nobs"]
    assert design.sample.n == case.raw.get("n_fitted", case.raw["n"])


@pytest.mark.parametrize(
    "name", [n for n in case_names() if "offset" in "".join(load_case(n).spec.values())]
)
def test_offsets_are_values_of_their_column(name):
    case = load_case(name)
    design = design_of(case)
    data = case.frame()
    if "scale" in case.spec:
        np.testing.assert_allclose(
            design.sample.rows.scale_offset, 0.1 * data["x1"], rtol=EXACT
        )
        assert design.sample.rows.offset is None
    else:
        np.testing.assert_allclose(
            design.sample.rows.offset, 0.5 * data["x2"], rtol=EXACT
        )
        assert design.sample.rows.scale_offset is None


def test_missing_rows_are_those_r_drops():
    case = load_case("simna_omit")
    design = design_of(case)
    left_out = sorted(set(range(300)) - set(design.index))
    assert [row + 1 for row in left_out] == [
        int(row) for row in case.raw["dropped_rows"]
    ]
    assert case.raw["n_dropped"] == design.n_given - design.sample.n
    counts = load_data("simna").isna().sum()
    assert dict(design.dropped) == {
        name: counts[name] for name in ("y", "x1", "x2", "f")
    }


@pytest.mark.parametrize("name", ["sim500_ns4", "sim500_bs5", "sim500_predict_ns"])
def test_knots_are_those_of_r(name):
    case = load_case(name)
    (state,) = design_of(case).spec.states.values()
    (expected,) = case.raw["basis"].values()
    np.testing.assert_allclose(state.knots, expected["knots"], rtol=1e-15)
    assert list(state.boundary) == expected["boundary"]


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        # variables in order of appearance
        ("y ~ b + a:b + x", ["b[T.q]", "x", "b[p]:a[T.v]", "b[q]:a[T.v]"]),
        # no margin: full codings
        ("y ~ a:b", ["a[u]:b[p]", "a[v]:b[p]", "a[u]:b[q]", "a[v]:b[q]"]),
        ("y ~ a + a:b", ["a[T.v]", "a[u]:b[T.q]", "a[v]:b[T.q]"]),
        ("y ~ x:a", ["x:a[u]", "x:a[v]"]),
        ("y ~ x + x:a", ["x", "x:a[T.v]"]),
        ("y ~ x*a", ["x", "a[T.v]", "x:a[T.v]"]),
        (
            "y ~ a:b + a:x",
            ["a[u]:b[p]", "a[v]:b[p]", "a[u]:b[q]", "a[v]:b[q]", "a[u]:x", "a[v]:x"],
        ),
        ("y ~ x:a + a:b", ["x:a[u]", "x:a[v]", "a[u]:b[T.q]", "a[v]:b[T.q]"]),
        (
            "y ~ a:b + x:b + a:x:b",
            [
                "a[u]:b[p]",
                "a[v]:b[p]",
                "a[u]:b[q]",
                "a[v]:b[q]",
                "b[p]:x",
                "b[q]:x",
                "a[T.v]:b[p]:x",
                "a[T.v]:b[q]:x",
            ],
        ),
        ("y ~ a/b", ["a[T.v]", "a[u]:b[T.q]", "a[v]:b[T.q]"]),
        ("y ~ a %in% b", ["a[u]:b[p]", "a[v]:b[p]", "a[u]:b[q]", "a[v]:b[q]"]),
        ("y ~ (a + b + x)^2 - a:b", ["a[T.v]", "b[T.q]", "x", "a[T.v]:x", "b[T.q]:x"]),
        ("y ~ x:t", ["x:t[False]", "x:t[True]"]),
        ("y ~ t", ["t[T.True]"]),
        ("y ~ .", ["x", "a[T.v]", "b[T.q]", "t[T.True]"]),
        ("y ~ . - t + I(x^2)", ["x", "a[T.v]", "b[T.q]", "I(x^2)"]),
        (
            "y ~ C(a, Sum) + C(b, contr.treatment('q'))",
            ["C(a, Sum)[S.u]", "C(b, contr.treatment('q'))[T.p]"],
        ),
        ("y ~ 0 + x", ["x"]),
        ("y ~ 1", []),
    ],
)
def test_coding_and_order_follow_r(formula, expected):
    """Codings and column order copied from R's model.matrix (the names are this
    package's own).
    """
    data = pd.DataFrame(
        {
            "y": [1, 2, 3, 1] * 2,
            "x": range(8),
            "a": list("uv" * 4),
            "b": list("ppqqppqq"),
        }
    )
    data["t"] = [True, False] * 4
    design = build(formula, data)
    assert list(design.names) == expected
    columns = [
        j for term in design.terms.values() for j in range(term.start, term.stop)
    ]
    assert columns == list(range(len(expected)))
