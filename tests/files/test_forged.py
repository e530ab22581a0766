"""Files made by hand so that loading them, or asking their fits for something, would run code of their author."""

import copy
from dataclasses import fields
from pathlib import Path

import pandas as pd
import pytest

from files.samples import wine
from ordstat import DataError, load, ordfit
from ordstat.design.build import make
from ordstat.design.recipe import Recipe
from ordstat.files import container
from ordstat.files.models import series

#: Passes for an object with a method `check`.
CHECK = {"partial": [{"function": "model.ensembles.ensembles.hard_sign"}, [{"number": ["<f8", 1.0]}], {}]}
NOTHING = {f.name: f.default for f in fields(Recipe) if f.default is None}


def labels(*names):
    return {"index": {"column": {"listed": list(names), "dtype": "object"}, "names": [None]}}


def state(trap):
    """The fields of a recipe whose formula leaves a file behind."""
    formula = f"rating ~ I(open({str(trap)!r}, 'w').close())"
    return {**NOTHING, "formula": formula, "safe": False, "na_action": "omit", "settled": {"tuple": []}, "check": CHECK}


def model(**attributes):
    return {"model": {"class": "LogisticRegression", "sklearn": series(), "state": attributes}}


def made(*arguments):
    return {"partial": [{"function": "design.build.make"}, list(arguments), {}]}


FRAME = {
    "frame": {
        "index": {"index": {"range": [0, 3, 1], "names": [None]}},
        "names": labels("rating"),
        "columns": [{"listed": [1, 2, 3], "dtype": "Int64"}],
    }
}


def _design(tree):
    return next(entry["fields"] for entry in tree["objects"] if entry["class"].endswith("design.Design"))


def _model_as_recipe(tree, trap):
    _design(tree)["recipe"] = model(**state(trap))


def _rebuilt_by_a_model(tree, trap):
    _design(tree)["spec"] = model(rebuild=made(model(**state(trap))))


def _method_of_a_model(tree, trap):
    inside = model(__sklearn_tags__=made(model(**state(trap)), FRAME))
    tree["objects"].append({"class": "learners.classifier.Classifier", "fields": {"model": inside}})


def _series_as_recipe(tree, trap):
    fields = state(trap)
    values = {"listed": list(fields.values()), "dtype": "object"}
    _design(tree)["recipe"] = {"series": {"index": labels(*fields), "values": values, "name": None}}


def _plain_model_as_recipe(tree, trap):
    _design(tree)["recipe"] = model(formula="rating ~ temp", safe=False)


def _plain_model_as_spec(tree, trap):
    _design(tree)["spec"] = model(safe=False)


def _model_as_maker(tree, trap):
    _design(tree)["make"] = model(safe=False)


def _maker_with_arguments(tree, trap):
    _design(tree)["make"] = made(None)


def _maker_in_a_partial_of_a_partial(tree, trap):
    _design(tree)["make"] = {"partial": [made(), [None], {}]}


def _spec(tree):
    return next(entry["fields"] for entry in tree["objects"] if entry["class"].endswith("spec.FormulaSpec"))


def _model_among_the_codings(tree, trap):
    _spec(tree)["codings"]["dict"][0][1] = model(safe=False)


def _series_among_the_transforms(tree, trap):
    values = {"listed": [1], "dtype": "object"}
    _spec(tree)["states"] = {"dict": [["x", {"series": {"index": labels("n"), "values": values, "name": None}}]]}


def _model_among_the_random_terms(tree, trap):
    _design(tree)["random"] = {"tuple": [model(safe=False)]}


def _number_among_the_names(tree, trap):
    _design(tree)["names"] = {"tuple": [3]}


def _function_among_the_terms(tree, trap):
    hard_sign = {"function": "model.ensembles.ensembles.hard_sign"}
    _design(tree)["terms"] = {"dict": [["temp", hard_sign]]}


def _key_of_another_kind(tree, trap):
    _design(tree)["dropped"] = {"dict": [[model(safe=False), 1]]}


FORGED = {
    "a model among codings": (_model_among_the_codings, "codings of its FormulaSpec is dict of LogisticRegression"),
    "a series among transforms": (_series_among_the_transforms, "states of its FormulaSpec is dict of Series"),
    "a model among random terms": (
        _model_among_the_random_terms,
        "random of its Design is tuple of LogisticRegression",
    ),
    "a number among names": (_number_among_the_names, r"names of its Design is tuple of int, and must be tuple\[str"),
    "a function among terms": (_function_among_the_terms, "terms of its Design is dict of function"),
    "a key of another kind": (_key_of_another_kind, "dropped of its Design is dict of int, and must be Mapping"),
    "a model as recipe": (_model_as_recipe, "LogisticRegression has check"),
    "a model that rebuilds": (_rebuilt_by_a_model, "gives arguments to <function make"),
    "a method of a model": (_method_of_a_model, "gives arguments to <function make"),
    "a series as recipe": (_series_as_recipe, "recipe of its Design is Series, and must be Recipe"),
    "a plain model as recipe": (_plain_model_as_recipe, "recipe of its Design is LogisticRegression"),
    "a plain model as spec": (_plain_model_as_spec, "spec of its Design is LogisticRegression"),
    "a model as maker": (_model_as_maker, "make of its Design is LogisticRegression"),
    "a maker with arguments": (_maker_with_arguments, "gives arguments to <function make"),
    "a maker in a partial": (_maker_in_a_partial_of_a_partial, "gives arguments to <function make"),
}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "fit.ordstat"
    ordfit("rating ~ temp", wine()).save(path)
    return container.read(path, 10**9)


@pytest.mark.parametrize("name", FORGED)
def test_nothing_runs(name, written, tmp_path):
    change, message = FORGED[name]
    header, tree, arrays = copy.deepcopy(written)
    path, trap = tmp_path / "fit.ordstat", tmp_path / "ran"
    change(tree, trap)
    container.write(path, header, tree, arrays)
    for given in ({}, {"data": wine()}):
        with pytest.raises(DataError, match=message):
            load(path, **given).predict(wine())
    assert not trap.exists()


def test_attributes_that_shadow_those_of_the_class(written, tmp_path):
    header, tree, arrays = copy.deepcopy(written)
    inside = model(predict=3)
    tree["objects"].append({"class": "learners.classifier.Classifier", "fields": {"model": inside}})
    container.write(tmp_path / "fit.ordstat", header, tree, arrays)
    with pytest.raises(DataError, match="LogisticRegression has predict"):
        load(tmp_path / "fit.ordstat")


def test_designs_are_made_from_recipes_alone(tmp_path):
    trap = Path(tmp_path / "ran")
    with pytest.raises(DataError, match="must be made from a Recipe; got Series"):
        make(pd.Series({**state(trap), "settled": (), "check": len}, dtype=object), wine())
    assert not trap.exists()
