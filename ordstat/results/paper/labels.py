"""Words for the rows of a table of models."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

#: Headings of the parts of a table, in their order; the location effects, which come first, need none.
PARTS = {
    "location": "",
    "nominal": "Nominal effects (positive = lower response)",
    "scale": "Scale effects (log scale)",
    "lambda": "Parameter of the link",
    "threshold": "Thresholds",
    "sd": "Random effects",
    "cor": "Random effects",
}
#: Headings of parts whose exponents are shown.
EXPONENTS = {"nominal": "Nominal effects (above 1 = lower response)", "scale": "Scale effects (factors)"}

#: Figures of fits by the names of `glance`: label, and format of the number.
FIGURES = {
    "nobs": ("N", "int"),
    "loglik": ("Log-likelihood", ".2f"),
    "pseudo_loglik": ("Pseudo log-likelihood", ".2f"),
    "null_loglik": ("Log-likelihood, thresholds alone", ".2f"),
    "edf": ("Parameters", "int"),
    "df_residual": ("Residual df", "int"),
    "aic": ("AIC", ".2f"),
    "bic": ("BIC", ".2f"),
    "lr_chi2": ("LR chi-squared", ".2f"),
    "lr_df": ("LR df", "int"),
    "lr_p_value": ("LR p-value", "p3"),
    "mcfadden": ("McFadden R²", ".3f"),
    "nagelkerke": ("Nagelkerke R²", ".3f"),
    "classification_error": ("Classification error", ".3f"),
    "absolute_error": ("Absolute error", ".3f"),
    "out_of_bag_error": ("Out-of-bag error", ".3f"),
    "n_support": ("Support vectors", "int"),
    "rounds": ("Rounds", "int"),
}
#: What is shown of fits unless `gof` says otherwise: of all, of those with a likelihood, beside those without one.
OF_ALL = ("nobs",)
OF_LIKELIHOOD = ("loglik", "pseudo_loglik", "aic", "bic", "mcfadden", "nagelkerke")
#: What names of numbers of groups begin with.
GROUPS = "groups: "
OF_RANKERS = ("classification_error", "absolute_error")

#: The level in the name of a column: of treatment contrasts or of an indicator, and not of another coding.
_LEVEL = re.compile(r"\[(?:T\.|(?![A-Z]\.))(.+)\]$", re.DOTALL)
_PRODUCT = re.compile(r":(?! )(?![^\[]*\])")
#: What stands between the two names of a correlation; a point in one of them leaves it as it is.
_PAIR = re.compile(r"\.(?![^\[]*\])")
_RANDOM = re.compile(r"(sd|cor)_(.*)\|(.*)", re.DOTALL)


def row_label(part: str, term: str, labels: Mapping[str, str]) -> str:
    """The label of a parameter: the user's, or its name with the level of a factor after a colon.

    Examples
    --------
    >>> row_label("location", "temp[T.warm]:age", {"age": "Age in years"})
    'temp: warm × Age in years'
    >>> row_label("sd", "sd_(Intercept)|judge", {"judge": "Judge"})
    'SD (Intercept), Judge'
    >>> row_label("cor", "cor_temp[T.warm].(Intercept)|judge", {})
    'Correlation temp: warm with (Intercept), judge'
    """
    if term in labels:
        return labels[term]
    if part in ("sd", "cor") and (found := _RANDOM.fullmatch(term)):
        kind, what, group = found.groups()
        pair = _PAIR.split(what) if kind == "cor" else [what]
        names = [what] if len(pair) > 2 else [effect_label(name, labels) for name in pair]
        return f"{'SD' if kind == 'sd' else 'Correlation'} {' with '.join(names)}, {labels.get(group, group)}"
    if part == "nominal":
        threshold, _, effect = term.partition(".")
        return f"{effect_label(effect, labels)}, {threshold}" if effect else term
    name = term.removeprefix("scale.") if part == "scale" else term
    return effect_label(name, labels) if part in ("location", "scale") else term


def effect_label(name: str, labels: Mapping[str, str]) -> str:
    """The name of a column of the design for readers; the label of a variable stands in all its columns.

    Examples
    --------
    >>> effect_label("temp[T.warm]", {"temp": "Temperature"})
    'Temperature: warm'
    """
    if name in labels:
        return labels[name]
    return " × ".join(_piece(piece, labels) for piece in _PRODUCT.split(name))


def _piece(piece: str, labels: Mapping[str, str]) -> str:
    variable = _LEVEL.sub("", piece)
    level = _LEVEL.search(piece)
    return labels.get(variable, variable) + (f": {level[1]}" if level else "")


def figure_label(name: str, labels: Mapping[str, str]) -> str:
    """The label of a figure of a fit."""
    if name in labels:
        return labels[name]
    if name.startswith(GROUPS):
        group = name.removeprefix(GROUPS)
        return f"Groups: {labels.get(group, group)}"
    return FIGURES[name][0] if name in FIGURES else name


def label_names(terms: Iterable[str], figures: Iterable[str]) -> set[str]:
    """What may be given a label: terms, variables, groups of random effects, figures."""
    found = {*terms, *figures} | {name.removeprefix(GROUPS) for name in figures if name.startswith(GROUPS)}
    for term in terms:
        inner = _RANDOM.fullmatch(term)
        name = inner[2] if inner else term.removeprefix("scale.")
        name = name.partition(".")[2] or name if "|" in name else name
        found |= {name, *(_LEVEL.sub("", piece) for piece in _PRODUCT.split(name))}
    return found
