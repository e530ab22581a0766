"""Words that users of other packages bring along: other names that are understood, and what stands for them here."""

from __future__ import annotations

from collections.abc import Mapping

#: Names that mean one of ours, of methods, links, kernels and types of prediction; small letters without separators.
OTHER_NAMES: Mapping[str, str] = {
    "polr": "logit", "lrm": "logit", "orm": "logit", "ologit": "logit", "ordinallogit": "logit",
    "orderedlogit": "logit", "cumulativelogit": "logit", "proportionalodds": "logit",
    "oprobit": "probit", "ordinalprobit": "probit", "orderedprobit": "probit", "cumulativeprobit": "probit",
    "svm": "redsvm", "svc": "redsvm",
    "rbf": "gaussian", "poly": "polynomial",
    "probs": "prob", "proba": "prob", "probability": "prob", "probabilities": "prob", "cumprobs": "cum_prob",
    "classes": "class",
}  # fmt: skip

#: Options of other packages: what to write here.
OPTIONS: Mapping[str, str] = {
    "hess": "Standard errors are always there: leave it out.",
    "family": "The distribution is named by link=, the model by method=.",
    "c": "C belongs to support vector machines; likelihood models are penalised by penalty=.",
    "random": "Random effects stand in the formula, as in 'y ~ x + (1 | g)'.",
    "groups": "Random effects stand in the formula, as in 'y ~ x + (1 | g)'; clusters are named by cluster=.",
    "nagq": "It is quadrature= here, beside random effects such as 'y ~ x + (1 | g)'.",
    "freq": "Case weights are weights=.",
    "wts": "Case weights are weights=.",
    "sampleweight": "Case weights are weights=.",
}

#: Attributes of other packages' fits: what to ask for here.
ATTRIBUTES: Mapping[str, str] = {
    "predict_proba": ".predict(newdata, type='prob')",
    "decision_function": ".predict(newdata, type='score')",
    "odds_ratios": ".tidy(exponentiate=True)",
    "coefficients": ".coef, or .params with the thresholds",
    "coef_": ".coef",
    "logLik": ".loglik",
    "fitted": ".predict(type='prob')",
    "fittedvalues": ".predict(type='prob')",
    "resid": ".residuals()",
    "converged": ".certificate.reached, or .convergence()",
    "df_model": ".edf, the number of parameters, or .glance()",
    "t_test": ".test('x = 0')",
    "wald_test": ".test('x = 0')",
    "get_margeff": ".effects('x')",
    "get_prediction": ".predict(newdata, type='prob', interval='confidence')",
    "summary2": ".summary()",
    "score": ".errors(newdata)",
    "model": ".method, .formula and .design",
    "feature_importances_": ".importance()",
}

#: Functions of R's formulas: what to write here.
FUNCTIONS: Mapping[str, str] = {
    "relevel": "Write C(x, Treatment('level')) for another base level.",
    "cut": "Make the groups a column of the data, by pandas.cut.",
    "rcs": "Write ns(x, df=4), or cr(x, df=4): natural cubic splines.",
    "s": "Write cr(x, df=5) or bs(x, df=5), with penalty= for a ridge penalty.",
    "as.factor": "Write factor(x).",
    "as.ordered": "Write ordered(y, levels=[...]), or give levels=.",
    "as.numeric": "Make the numbers a column of the data.",
}


def advice(table: Mapping[str, str], name: str) -> str:
    """What a table says of a name, with a blank before it; empty where it is not there."""
    found = table.get(name) or table.get(name.casefold().replace("_", ""))
    return f" {found}" if found else ""
