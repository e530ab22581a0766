"""Names of methods: what a method string stands for, with its options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from importlib import import_module
from typing import Any, Literal, TypeAlias, cast

from .checks import canonical, check_names, unknown
from .exceptions import OptionError
from .likelihood.links import LINKS
from .method import Method


@dataclass(frozen=True)
class Entry:
    """A method string: the class it stands for and the options it fixes.

    Attributes
    ----------
    path : str
        "module.Class" in the package.
    preset : mapping
        Options that the string fixes.
    """

    path: str
    preset: Mapping[str, Any] = field(default_factory=dict)

    @property
    def method(self) -> type[Method]:
        """The class."""
        module, _, name = self.path.rpartition(".")
        return cast(type[Method], getattr(import_module(f"ordstat.{module}"), name))


#: Options of likelihood models that have no other values here.
_PLAIN_LOGIT = {
    "link": "logit",
    "threshold": "flexible",
    "quadrature": 1,
    "random_penalty": None,
    "smoothness": "REML",
}
_REDUCTION = "reduction.reduction.Reduction"
METHODS: dict[str, Entry] = {
    "clm": Entry("likelihood.clm.CumulativeLink"),
    **{name: Entry("likelihood.clm.CumulativeLink", {"link": name}) for name in LINKS},
    "acat": Entry("likelihood.other_models.AdjacentCategory"),
    "multinomial": Entry("likelihood.other_models.MultinomialLogit", _PLAIN_LOGIT),
    "stereotype": Entry(
        "likelihood.other_models.StereotypeLogit", {**_PLAIN_LOGIT, "penalty": None}
    ),
    "cratio": Entry("likelihood.other_models.ContinuationRatioModel"),
    "sratio": Entry("likelihood.other_models.StoppingRatioModel"),
    "kernel-clm": Entry("prediction.kernel_clm.KernelCumulativeLink"),
    "redsvm": Entry("svm.redsvm.REDSVM"),
    "osvm": Entry("svm.redsvm.REDSVM", {"cost": "absolute"}),
    "svor-imc": Entry("svm.redsvm.SVORIMC"),
    "svor-exc": Entry("svm.redsvm.SVOREXC"),
    "rank-svm": Entry("svm.redsvm.RankBoundarySVM"),
    "ova": Entry("reduction.voting.OneVersusAll", {"cost": "classification"}),
    "csova": Entry("reduction.voting.OneVersusAll"),
    "ovo": Entry(
        "reduction.voting.OneVersusOne",
        {"cost": "classification", "weighting": "difference"},
    ),
    "csovo": Entry("reduction.voting.OneVersusOne", {"weighting": "difference"}),
    "wap": Entry("reduction.voting.OneVersusOne", {"weighting": "all-pairs"}),
    "tsew": Entry("reduction.voting.CostTransform", {"mode": "expand"}),
    "relabel": Entry("reduction.voting.CostTransform", {"mode": "relabel"}),
    "rankboost-or": Entry("boosting.boosting.RankBoost", {"step": "loose"}),
    "rankboost-ae": Entry(
        "boosting.boosting.RankBoost", {"step": "tight", "cost": "absolute"}
    ),
    "orboost-lr": Entry("boosting.boosting.ORBoost", {"cost": "classification"}),
    "orboost-all": Entry("boosting.boosting.ORBoost"),
    "prank": Entry("online.online.PRank"),
    "siprank": Entry("online.online.PRank", {"keep": "pocket", "presentation": "cost"}),
    "cusum": Entry("online.online.CuSumRank", {"update": "perceptron"}),
    "pa-cusum": Entry("online.online.CuSumRank", {"update": "passive-aggressive"}),
    "kernel-prank": Entry("online.online.KernelPRank"),
    "kernel-cusum": Entry("online.online.KernelCuSumRank"),
    "reduction": Entry(_REDUCTION),
    "frank-hall": Entry(
        _REDUCTION, {"encoding": "separate", "decision": "mode", "cost": "absolute"}
    ),
    "red-c45": Entry(
        _REDUCTION, {"base": "c4.5", "decision": "count", "scaling": None}
    ),
    "red-tree": Entry(
        _REDUCTION, {"base": "tree", "decision": "count", "scaling": None}
    ),
    "red-hgb": Entry(_REDUCTION, {"base": "hgb", "decision": "count", "scaling": None}),
    "nominal-classifier": Entry("reduction.nominal.NominalClassifier"),
    "red-logistic": Entry("reduction.threshold_loss.ThresholdLogisticRegression"),
    "onn": Entry("reduction.threshold_loss.OrdinalNetwork"),
    "orstump": Entry("boosting.orstump.ORStump"),
    "adaboost-or": Entry("boosting.orstump.AdaBoostOR"),
    "adaboost": Entry("boosting.boosting.AdaBoost"),
    "seedboost": Entry("boosting.boosting.SeedBoost"),
    "ordboost": Entry("prediction.ordboost.OrdinalBoosting"),
    "rps-forest": Entry("prediction.forest.RPSForest"),
    "blend": Entry("prediction.blend.Blend"),
    "cart": Entry(
        "trees.trees.OrdinalTree", {"response": "nominal", "cost": "classification"}
    ),
    "ordinal-cart": Entry(
        "trees.trees.OrdinalTree", {"response": "ordinal", "cost": "classification"}
    ),
    "bagging": Entry(
        "trees.trees.OrdinalBagging", {"response": "nominal", "cost": "classification"}
    ),
    "ordinal-bagging": Entry(
        "trees.trees.OrdinalBagging", {"response": "ordinal", "cost": "classification"}
    ),
    "nominal-adaboost": Entry(
        "trees.trees.NominalAdaBoost", {"cost": "classification"}
    ),
    "fixed-split-boosting": Entry(
        "trees.trees.FixedSplitBoosting", {"cost": "classification"}
    ),
    "ordinal-adaboost": Entry(
        "trees.trees.OrdinalAdaBoost", {"cost": "classification"}
    ),
}

#: Names of methods whose fits are `LikelihoodResults`, for type checkers and editors.
LikelihoodName: TypeAlias = Literal[
    "clm",
    "logit",
    "probit",
    "cloglog",
    "loglog",
    "cauchit",
    "acat",
    "multinomial",
    "stereotype",
    "cratio",
    "sratio",
]

#: Names that fix no options, by their class.
PLAIN = {
    entry.path.rpartition(".")[2]: name
    for name, entry in reversed(METHODS.items())
    if not entry.preset
}


def spelled(method: Any) -> str | None:
    """The method string that a text means, ignoring case, hyphens, underscores and
    blanks; None if there is none.
    """
    return canonical(method, METHODS)


def resolve(
    method: str | Method,
    options: Mapping[str, Any] | None = None,
    arguments: Iterable[str] = (),
) -> Method:
    """The Method value that `method` and `options` stand for.

    Parameters
    ----------
    method : str or Method
        A name of the registry ("clm", "logit", "redsvm", ...; case, hyphens,
        underscores and blanks are ignored) or a value such as REDSVM(C=10).
    options : mapping, optional
        Hyper-parameters by name; only with a string.
    arguments : iterable of str
        Other valid names, for suggestions.

    Raises
    ------
    OptionError
        For an unknown method or option (the valid ones are listed), or a value outside
        its range.

    Examples
    --------
    >>> from ordstat.registry import resolve
    >>> resolve("redsvm", {"C": 10})
    REDSVM(C=10.0)
    """
    options = dict(options or {})
    if isinstance(method, Method):
        if options:
            raise OptionError(
                f"method={method!r} already carries its options: put"
                f" {', '.join(options)} inside it, as in"
                f" {type(method).__name__}({next(iter(options))}=...)."
            )
        return method
    if isinstance(method, type) and issubclass(method, Method):
        raise OptionError(
            f"method must be a value, not its class: write {method.__name__}()."
        )
    entry = METHODS.get(spelled(method) or "")
    if entry is None:
        also = ", or a method value such as REDSVM(C=10) (`ordstat methods` lists all)"
        raise unknown("method", method, METHODS, also=also)
    if options:
        check_names(
            options, option_names(entry), f"method {method!r}", "option", arguments
        )
    return entry.method(**entry.preset, **options)


def option_names(entry: Entry) -> list[str]:
    """Options that a user can set with the method string, as it does not fix them."""
    return [f.name for f in fields(entry.method) if f.name not in entry.preset]


def defaults_of(method: Any) -> dict[str, Any] | None:
    """Default of every option of a method; empty for a value, which carries its
    options; None for an unknown method.
    """
    if isinstance(method, Method):
        return {}
    entry = METHODS.get(spelled(method) or "")
    if entry is None:
        return None
    value = entry.method(**entry.preset)
    return {name: getattr(value, name) for name in option_names(entry)}
