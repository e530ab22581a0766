"""Public names of results: whose they are, and which of them a user need not see."""

from __future__ import annotations

#: What the results of only some methods have, for the words of those that have not.
OF_THRESHOLDS = frozenset(("coef", "thresholds", "params", "tidy", "support"))
OF_LIKELIHOOD = frozenset((
    "se", "vcov", "with_vcov", "confint", "profile", "anova", "drop1", "add1", "step", "test", "nominal_test",
    "scale_test", "brant", "score_test", "bootstrap", "residuals", "influence", "gof",
    "discrimination", "convergence", "simulate", "effects", "emmeans", "loglik", "aic", "bic", "deviance", "bse",
    "tvalues", "pvalues", "conf_int", "cov_params", "llf", "emtrends", "joint_tests", "marginal_effects",
    "power",
))  # fmt: skip

#: What results tell each other, the api and the pictures; `dir()` leaves it out.
INTERNAL = frozenset((
    "alerts", "augments", "bias_reduced", "by_median", "calibrated", "check_parts", "check_rows", "covariance",
    "delta_values",
    "design", "divisible", "error_notes", "family", "fit", "fitter", "gain_importance", "gaps", "geometry",
    "importance_kinds", "issued", "judge", "judged_sample", "learner", "margin_bounds", "margin_bounds_at",
    "margin_frame", "new_groups", "new_predictions", "new_sample", "no_bounds", "no_margins", "of_new_groups",
    "other_names",
    "own_cost", "own_covariance", "parameters", "predicted", "prediction_types", "predicts", "probabilities_of",
    "random_parameters", "robust", "rule", "summary_data", "target", "threshold_names", "trace", "training",
    "training_errors", "training_margins", "training_note", "z_values",
    # figures of glance() and discrimination(), columns of tables
    "design_df", "df_residual", "edf", "estimates", "figures_of_fit", "kind", "lr_chi2", "lr_df",
    "lr_p_value", "mcfadden", "nagelkerke", "null_loglik", "t_df", "threshold_se", "title", "whole_covariance",
    "without_aic",
))  # fmt: skip


def who_has(name: str) -> str:
    """The kinds of methods whose results have a public attribute; empty for a name that is not well known."""
    if name == "shapley":
        return "gradient boosting has, 'ordboost'"
    if name in OF_THRESHOLDS:
        return "methods with thresholds have, such as 'redsvm'"
    return "methods with a likelihood have, such as 'logit'" if name in OF_LIKELIHOOD else ""
