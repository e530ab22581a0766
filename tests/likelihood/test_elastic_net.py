"""Options of the elastic net, and what it does not combine with."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from expected import refused

import ordstat
from ordstat import ElasticNet, OptionError, SurveyDesign, compare, ordfit

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(RNG.normal(size=(80, 3)), columns=["a", "b", "c"])
FRAME["y"] = pd.qcut(FRAME["a"] + RNG.normal(size=80), 3, labels=False)
FRAME["g"] = np.repeat(np.arange(20), 4)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"l1_ratio": 1.5}, "l1_ratio"),
        ({"lambdas": [0.1, -1.0]}, "lambdas"),
        ({"lambdas": []}, "lambdas"),
        ({"n_lambdas": 0}, "n_lambdas"),
        ({"cv": 1}, "cv"),
        ({"choose": "min"}, "choose"),
        ({"choose": "gcv"}, "choose"),
        ({"score": "auc"}, "score"),
        ({"factors": {"a": -1.0}}, "factors"),
        ({"factors": 3}, "factors"),
        ({"groups": "yes"}, "groups"),
    ],
)
def test_an_option_out_of_its_range_is_named(options, named):
    with pytest.raises(OptionError, match=named):
        ElasticNet(**options)


def test_the_repr_rebuilds_it():
    net = ElasticNet(l1_ratio=0.5, lambdas=[0.1, 0.2], factors={"a": 0}, cv=5)
    assert eval(repr(net)) == net
    assert net.lambdas == (0.2, 0.1)
    assert repr(ElasticNet(cv=10)) == "ElasticNet(cv=10)"
    assert eval(repr(ElasticNet(cv=10, choose="bic"))).choose == "bic"


@pytest.mark.parametrize(
    ("formula", "options", "named"),
    [
        ("y ~ a", {"scale": "~ b"}, "scale="),
        ("y ~ a + (1 | g)", {}, "random terms"),
        ("y ~ a", {"threshold": "equidistant"}, "threshold"),
        ("y ~ a", {"link": "aranda-ordaz"}, "link="),
        ("y ~ a", {"cluster": "g"}, "cluster="),
        ("y ~ a", {"start": [0.0, 1.0, 0.0]}, "start="),
        ("y ~ a", {"vcov": "HC0"}, "vcov"),
        ("y ~ a", {"design": SurveyDesign(weights=np.ones(80))}, "design="),
    ],
)
def test_what_does_not_combine_is_refused(formula, options, named):
    with pytest.raises(OptionError, match=named):
        ordfit(formula, FRAME, penalty=ElasticNet(), **options)


def test_factors_must_name_columns():
    with refused("factors"):
        ordfit("y ~ a + b", FRAME, penalty=ElasticNet(factors={"z": 0}))


def test_clusters_stay_in_one_fold():
    fit = ordfit("y ~ a", FRAME, cluster="g", penalty=ElasticNet(cv=4, n_lambdas=5))
    assert fit.cv_scores.shape[1] == 4


def test_comparisons_and_folds_know_factors_and_groups():
    net = ElasticNet(lambdas=10.0, factors={"a": 0})
    fit = ordfit("y ~ a + b + c", FRAME, penalty=net)
    plain = ordfit("y ~ a", FRAME)
    methods = [ordstat.CumulativeLink(penalty=net)]
    compared = compare("y ~ a + b + c", FRAME, methods=methods, cv=3, seed=1)
    alone = compare("y ~ a", FRAME, methods=["clm"], cv=3, seed=1)
    names = ["log-loss", "ranked probability score"]
    expected = alone.table[names].to_numpy()
    np.testing.assert_allclose(compared.table[names], expected, atol=1e-6)
    scores = fit.errors(cv=3, seed=1)
    others = plain.errors(cv=3, seed=1)
    np.testing.assert_allclose(scores, others, atol=1e-6)


def test_a_classifier_takes_it():
    model = ordstat.OrdinalClassifier("clm", penalty=ElasticNet(lambdas=0.05))
    model.fit(FRAME[["a", "b", "c"]], FRAME["y"])
    fit = ordfit("y ~ a + b + c", FRAME, penalty=ElasticNet(lambdas=0.05))
    expected = fit.predict(type="prob").to_numpy()
    found = model.predict_proba(FRAME[["a", "b", "c"]])
    np.testing.assert_allclose(found, expected, atol=1e-12)
