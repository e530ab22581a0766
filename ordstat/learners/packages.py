"""Classifiers of other packages behind scikit-learn's interface: which are taken, how they are copied, what they raise.

Nothing is imported here that a user has not imported: a package is known by the module that its classifier comes from.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np

from .._typing import AnyArray, FloatArray, IntArray
from ..exceptions import DataError

_LARGEST_SEED = 2**31 - 1


@dataclass(frozen=True, kw_only=True)
class Package:
    """What is settled for the classifiers of a package, where their user has settled nothing.

    Attributes
    ----------
    quiet : dict
        Settings that keep it from printing and from writing files, each with all names that it goes by.
    seed : tuple of str
        Names of its seed; the first one is set.
    error : str
        "module.Class" of what it raises beside ValueError.
    """

    quiet: dict[tuple[str, ...], Any] = field(default_factory=dict)
    seed: tuple[str, ...] = ("random_state",)
    error: str | None = None


#: Packages whose classifiers need more than scikit-learn's interface says.
PACKAGES = {
    "lightgbm": Package(
        quiet={("verbosity", "verbose"): -1},
        seed=("random_state", "seed", "random_seed"),
        error="lightgbm.basic.LightGBMError",
    ),
    "xgboost": Package(quiet={("verbosity",): 0}, seed=("random_state", "seed")),
    "catboost": Package(
        quiet={
            ("verbose", "silent", "logging_level", "verbose_eval"): False,
            ("allow_writing_files", "train_dir"): False,
        },
        seed=("random_seed", "random_state"),
        error="catboost.CatBoostError",
    ),
}
_ANY = Package()


def package_of(model: Any) -> Package:
    """The package that a classifier, or a class that it derives from, comes from."""
    origins = (kind.__module__.partition(".")[0] for kind in type(model).__mro__)
    return next((PACKAGES[name] for name in origins if name in PACKAGES), _ANY)


def is_classifier(model: Any) -> bool:
    """Whether it is a value (no class) that scikit-learn takes for a classifier and can copy."""
    if isinstance(model, type) or not (hasattr(model, "fit") and hasattr(model, "get_params")):
        return False
    from sklearn.base import is_classifier as known

    return bool(known(model))


def takes_weights(model: Any) -> bool:
    """Whether `fit` has sample weights."""
    from sklearn.utils.validation import has_fit_parameter

    return bool(has_fit_parameter(model, "sample_weight"))


def is_drawn(model: Any) -> bool:
    """Whether a seed is left to be set."""
    return any(name == "random_state" for name, value in _settings(model).items() if value is None)


def takes_missing(model: Any) -> bool:
    """Whether the classifier says that it takes NaN."""
    from sklearn.utils import get_tags

    return bool(get_tags(model).input_tags.allow_nan)


def takes_categories(model: Any) -> bool:
    """Whether codes of categories can be given to it as such."""
    return package_of(model) is not _ANY or "categorical_features" in _settings(model)


def with_categories(model: Any, categories: IntArray) -> dict[str, Any]:
    """Tell an unfitted copy how many categories each column has, 0 of numbers; more arguments of its `fit`."""
    places = np.flatnonzero(categories).tolist()
    package = package_of(model)
    if package is PACKAGES["lightgbm"]:
        return {"categorical_feature": places}
    if package is PACKAGES["catboost"]:
        return {"cat_features": places}
    if package is PACKAGES["xgboost"]:
        model.set_params(enable_categorical=True, feature_types=["c" if n else "q" for n in categories])
    else:
        model.set_params(categorical_features=places)
    return {}


def in_its_form(model: Any, X: FloatArray, categories: IntArray | None) -> AnyArray:
    """Rows as a classifier takes them: CatBoost takes categories as texts, and a missing one as another of them."""
    if categories is None or package_of(model) is not PACKAGES["catboost"]:
        return X
    found = X.astype(object)
    for d in np.flatnonzero(categories):
        found[:, d] = ["none" if np.isnan(code) else str(int(code)) for code in X[:, d]]
    return found


def copied(model: Any, rng: np.random.Generator) -> Any:
    """An unfitted copy, with a seed where it has none, which prints nothing where nothing is said of it."""
    from sklearn.base import clone

    made, package = clone(model), package_of(model)
    given = {name for name, value in _settings(made).items() if value is not None}
    for names, value in package.quiet.items():
        if given.isdisjoint(names):
            made.set_params(**{names[0]: value})
    seed = package.seed
    if given.isdisjoint(seed) and (package is not _ANY or is_drawn(made)):
        made.set_params(**{seed[0]: int(rng.integers(_LARGEST_SEED))})
    return made


def written(model: Any) -> str:
    """A classifier as code, on one line and without settings that are None, of which XGBoost lists all."""
    text = " ".join(repr(model).split())
    if "=None" not in text:
        return text
    given = {name: value for name, value in _settings(model).items() if value is not None and value == value}
    return f"{type(model).__name__}({', '.join(f'{name}={value!r}' for name, value in given.items())})"


def _settings(model: Any) -> dict[str, Any]:
    return dict(model.get_params(deep=False))


@contextmanager
def told(model: Any) -> Iterator[None]:
    """What a classifier refuses, such as numbers beyond the 32 bits of a tree, as an error of the data."""
    try:
        with np.errstate(over="ignore"):
            yield
    except _refusals(model) as error:
        raise DataError(
            f"{type(model).__name__} refuses the rows: {error} Rescale the columns (scaling= of the method does), or "
            "choose another base classifier."
        ) from error


def _refusals(model: Any) -> tuple[type[Exception], ...]:
    """What it raises where rows or settings are not to its liking."""
    path = package_of(model).error
    if path is None:
        return (ValueError,)
    module, _, name = path.rpartition(".")
    return ValueError, getattr(import_module(module), name)
