"""Names of R, Stata, SPSS and statsmodels, and what stands for them here."""

from __future__ import annotations

from collections.abc import Mapping

#: Names that mean one of ours, of methods, kernels and types of prediction; small letters without separators.
OTHER_NAMES: Mapping[str, str] = {
    "polr": "logit", "lrm": "logit", "orm": "logit", "clmm": "logit", "ologit": "logit", "oprobit": "probit",
    "orderedlogit": "logit", "orderedprobit": "probit", "ordinallogit": "logit", "ordinalprobit": "probit",
    "svm": "redsvm", "rbf": "gaussian", "poly": "polynomial",
    "probs": "prob", "response": "prob", "classes": "class", "lp": "score", "linear.predictor": "linear_predictor",
}  # fmt: skip

#: Names and attributes that are not quite ours: which comes nearest.
NEAREST: Mapping[str, str] = {
    "ordinal": "clm", "vglm": "acat", "xgboost": "ordboost", "lightgbm": "ordboost", "mae": "absolute error",
    "auto": "blend", "accuracy": "classification error", "logistic": "logit",
}  # fmt: skip

_FORMULA = "Random effects stand in the formula, as in 'y ~ x + (1 | g)'."
_LINK = "It is a link: give link={!r}."
_WEIGHTS = "Case weights are weights=."
#: Options of ordfit, names given as a method, functions of formulas, other functions: what to write here.
HINTS: Mapping[str, Mapping[str, str]] = {
    "option": {
        "hess": "Standard errors are always there: leave it out.",
        **dict.fromkeys(("safe", "context"), "Formulas never run code: make the result a column of the data."),
        "family": "The distribution is named by link=, the model by method=.",
        "robust": "Robust standard errors are vcov='HC1'.",
        "random": _FORMULA,
        "groups": _FORMULA,
        "freq": _WEIGHTS,
        "sampleweight": _WEIGHTS,
    },
    "method": {
        **dict.fromkeys(("aranda-ordaz", "arandaordaz"), _LINK.format("aranda-ordaz")),
        **dict.fromkeys(("log-gamma", "loggamma"), _LINK.format("log-gamma")),
    },
    "function": {
        "cbind": "Put one row per level and its count into the data (pandas.melt), and give the counts as weights=.",
        "relevel": "Write C(x, Treatment('level')) for another base level.",
        "cut": "Make the groups a column of the data, by pandas.cut.",
        "rcs": "Write ns(x, df=4), or cr(x, df=4): natural cubic splines.",
        "s": "Write cr(x, df=5) or bs(x, df=5), with penalty= for a ridge penalty.",
        "as.factor": "Write factor(x).",
        "as.ordered": "Write ordered(y, levels=[...]), or give levels=.",
        "as.numeric": "Make the numbers a column of the data.",
        "is.na": "Rows with missing values are left out by themselves.",
        "ifelse": "Write I(x > 0), or make the result a column of the data by numpy.where.",
        "interaction": "Write a:b for every combination of two factors, a * b with their own effects.",
    },
    "package": {
        **dict.fromkeys(("clm", "clmm", "polr", "lrm", "orm", "vglm", "ologit"), "Use ordfit(formula, data)."),
        "orderedmodel": "Use ordfit(formula, data).",
    },
    "attribute": {
        "odds_ratios": ".tidy(exponentiate=True)",
        "logLik": ".loglik",
        "fittedvalues": ".predict(type='prob')",
        "zeta": ".thresholds",
        "resid": ".residuals()",
        "VarCorr": ".varcorr()",
        **dict.fromkeys(("varcorr", "ranef"), "a random term such as (1 | group) in the formula"),
        "get_margeff": ".effects('x')",
        "predict_proba": ".predict(newdata, type='prob')",
        "feature_importances_": ".importance()",
        "poTest": ".score_test(), or .brant()",
    },
}


def advice(kind: str, name: str) -> str:
    """What `HINTS` says of a name of some kind, with a blank before it; empty where it is not there."""
    hint = HINTS[kind].get(name) or HINTS[kind].get(name.casefold().replace("_", ""))
    return f" {hint}" if hint else ""
