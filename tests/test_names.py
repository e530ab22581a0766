"""Names of methods, links, thresholds and contrasts as R and other packages spell
them.
"""

import pickle

import numpy as np
import pytest
from expected import refused
from reference_cases import load_data
from seams import METHODS, resolve
from sklearn.base import clone

import ordstat
from ordstat import CumulativeLink, OrdinalClassifier, datasets, ordfit
from ordstat.checks import canonical
from ordstat.exceptions import FormulaError, OptionError
from ordstat.formula.coding import contrast
from ordstat.likelihood.flexible import LINK_NAMES
from ordstat.likelihood.threshold_structure import THRESHOLDS


@pytest.mark.parametrize("names", [METHODS, LINK_NAMES, THRESHOLDS])
def test_other_spellings_are_not_ambiguous(names):
    for name in names:
        for spelled in (
            name,
            name.upper(),
            name.title(),
            name.replace("-", "_"),
            name.replace("-", " "),
            f" {name}",
        ):
            assert canonical(spelled, names) == name
        assert canonical(name.replace("-", ""), names) == name


@pytest.mark.parametrize(
    "given", [None, 3, ("logit",), "", "-", "logi", "lógit", b"logit"]
)
def test_what_is_no_name(given):
    assert canonical(given, LINK_NAMES) is None


@pytest.mark.parametrize(
    ("given", "link"),
    [
        ("Aranda-Ordaz", "aranda-ordaz"),
        ("aranda_ordaz", "aranda-ordaz"),
        ("Log-Gamma", "log-gamma"),
        ("loggamma", "log-gamma"),
        ("Cauchit", "cauchit"),
        ("LOGIT", "logit"),
        (("Log Gamma", 0.5), ("log-gamma", 0.5)),
        (["Aranda-Ordaz", 2], ("aranda-ordaz", 2.0)),
    ],
)
def test_links(given, link):
    """The value kept is the name of the list, so that values, reprs and hashes
    agree.
    """
    one = CumulativeLink(link=given)
    other = CumulativeLink(link=link)
    assert (
        one.link == link
        and one == other
        and hash(one) == hash(other)
        and repr(one) == repr(other)
    )


@pytest.mark.parametrize("given", ["Symmetric2", "SYMMETRIC 2", "symmetric-2"])
def test_thresholds(given):
    assert CumulativeLink(threshold=given) == CumulativeLink(threshold="symmetric2")


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("Logit", "logit"),
        ("CLM", "clm"),
        ("RED-SVM", "redsvm"),
        ("svor_imc", "svor-imc"),
        ("AdaBoost.OR", None),
    ],
)
def test_methods(given, name):
    if name is None:
        with refused("method", "'AdaBoost.OR'. Did you mean 'adaboost-or'"):
            resolve(given)
    else:
        assert resolve(given) == resolve(name)


def test_fits_are_the_same():
    wine = load_data("wine")
    one = ordfit("rating ~ temp", wine, "Probit", threshold="Equidistant")
    other = ordfit("rating ~ temp", wine, "probit", threshold="equidistant")
    assert one.params.equals(other.params) and str(one.summary()) == str(
        other.summary()
    )
    assert (
        one.update(link="C-Log-Log").method.link == "cloglog"
        and pickle.loads(pickle.dumps(one)).method == one.method
    )


def test_an_estimator_keeps_what_it_was_given():
    X = np.arange(12.0)[:, None]
    y = np.tile([0, 1, 2], 4)
    model = OrdinalClassifier("CLM", link="Cauchit", threshold="Symmetric")
    assert {
        name: model.get_params()[name] for name in ("method", "link", "threshold")
    } == {"method": "CLM", "link": "Cauchit", "threshold": "Symmetric"}
    same = clone(model).fit(X, y)
    assert (
        same.get_params() == model.get_params()
        and "'CLM', link='Cauchit', threshold='Symmetric'" in repr(same)
    )
    assert same.results_.method == CumulativeLink(link="cauchit", threshold="symmetric")
    assert (
        OrdinalClassifier("LOGIT").get_params().keys()
        == OrdinalClassifier("logit").get_params().keys()
    )


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ("contr.treatment", "treatment"),
        ("contr.sum", "sum"),
        ("contr.helmert", "helmert"),
        ("contr.poly", "poly"),
        ("Contr.Sum", "sum"),
        ("Treatment", "treatment"),
    ],
)
def test_contrasts(given, kind):
    assert contrast(given) is contrast(kind)
    wine = load_data("wine")
    fits = [
        ordfit("rating ~ contact", wine, contrasts={"contact": given}),
        ordfit(f"rating ~ C(contact, {given})", wine),
        ordfit("rating ~ contact", wine, contrasts={"contact": kind}),
    ]
    assert len({str(fit.params.round(12).tolist()) for fit in fits}) == 1


def test_unknown_names_are_still_refused():
    with refused("link", "'logistic'"):
        CumulativeLink(link="logistic")
    with refused("threshold", "'sym'"):
        CumulativeLink(threshold="sym")
    with pytest.raises(
        FormulaError, match=r"'contr.summ' is not a known contrast; did you mean 'sum'"
    ):
        contrast("contr.summ")


def test_names_of_other_packages_in_ordstat_itself():
    for name, hint in (
        ("clm", "Use ordfit"),
        ("OrderedModel", "Use ordfit"),
        ("nothing", "'$"),
    ):
        with pytest.raises(
            AttributeError,
            match=f"no attribute '{name}'.*{hint}" if hint[0] != "'" else f"'{name}'$",
        ):
            getattr(ordstat, name)


def test_a_class_is_no_method_value():
    wine = datasets.load("wine")
    with refused("method"):
        ordfit("rating ~ temp", wine, ordstat.REDSVM)
    boosted = ordfit("rating ~ temp", wine, "ordboost", rounds=3)
    with pytest.raises(
        OptionError, match=r"Use \.predict\(type='score'\) for its values\.$"
    ):
        _ = boosted.coef
