"""Words for the rows of a table of models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...model.parameter_labels import names_within

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
    return found.union(*(names_within(term) for term in terms))
