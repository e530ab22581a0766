"""Words that users of other packages bring along: other names that are understood, and what stands for them here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import signature
from typing import ParamSpec, TypeVar

#: Names that mean one of ours, of methods, links, kernels and types of prediction; small letters without separators.
OTHER_NAMES: Mapping[str, str] = {
    "polr": "logit", "lrm": "logit", "orm": "logit", "ologit": "logit", "ordinallogit": "logit",
    "orderedlogit": "logit", "cumulativelogit": "logit", "proportionalodds": "logit",
    "oprobit": "probit", "ordinalprobit": "probit", "orderedprobit": "probit", "cumulativeprobit": "probit",
    "clmm": "logit", "olr": "logit", "normit": "probit",
    "svm": "redsvm", "svc": "redsvm", "randomforest": "rps-forest", "ordinalforest": "rps-forest",
    "gradientboosting": "ordboost", "gaussianprocess": "kernel-clm", "decisiontree": "cart", "tree": "cart",
    "rbf": "gaussian", "gauss": "gaussian", "rbfkernel": "gaussian", "poly": "polynomial",
    "probs": "prob", "proba": "prob", "probability": "prob", "probabilities": "prob", "cumprobs": "cum_prob",
    "classes": "class", "response": "prob", "lp": "score",
    "linear.predictor": "linear_predictor",
}  # fmt: skip

#: Names of other packages that are not quite ours: which comes nearest.
NEAREST: Mapping[str, str] = {
    "xgboost": "ordboost", "lightgbm": "ordboost", "catboost": "ordboost", "gbm": "ordboost", "forest": "rps-forest",
    "svr": "redsvm", "rbf": "redsvm", "logistic": "logit", "svor": "svor-imc", "gp": "kernel-clm", "mlp": "onn",
    "nn": "onn",
    "neuralnetwork": "onn", "ensemble": "blend",
    "auto": "blend", "automl": "blend", "perceptron": "prank", "vglm": "acat",
    "brms": "logit", "polytomous": "logit", "multinomial": "acat",
}  # fmt: skip

#: Names of error measures elsewhere: which comes nearest.
MEASURES: Mapping[str, str] = {
    "mae": "absolute error", "mse": "squared error", "accuracy": "classification error", "qwk": "quadratic kappa",
    "rps": "ranked probability score", "logloss": "log-loss", "brier": "Brier score", "auc": "concordance",
}  # fmt: skip

#: Names given as a method that are no methods: what to write instead.
NO_METHODS: Mapping[str, str] = {
    **dict.fromkeys(("aranda-ordaz", "arandaordaz"), "It is a link: give link='aranda-ordaz'."),
    **dict.fromkeys(("log-gamma", "loggamma"), "It is a link: give link='log-gamma'."),
}

#: Options of other packages: what to write here.
OPTIONS: Mapping[str, str] = {
    "hess": "Standard errors are always there: leave it out.",
    "family": "The distribution is named by link=, the model by method=.",
    "c": "C belongs to support vector machines; likelihood models are penalised by penalty=.",
    "random": "Random effects stand in the formula, as in 'y ~ x + (1 | g)'.",
    "groups": "Random effects stand in the formula, as in 'y ~ x + (1 | g)'; clusters are named by cluster=.",
    "nagq": "It is quadrature= here, beside random effects such as 'y ~ x + (1 | g)'.",
    **dict.fromkeys(
        ("validation", "validationset", "validationdata", "evalset", "earlystopping", "earlystoppingrounds"),
        "Gradient boosting chooses its rounds by folds (rounds='cv'), with patience=; fit.stopped_early(validation) "
        "takes those that are best for other rows.",
    ),
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
    "fitted_values": ".predict(type='prob')",
    "AIC": ".aic",
    "BIC": ".bic",
    "deviance_": ".deviance",
    "zeta": ".thresholds",
    "intercept_": ".thresholds",
    "classes_": ".levels",
    "coef_table": ".tidy()",
    "resid": ".residuals()",
    "VarCorr": ".varcorr()",
    "vcomp": ".varcorr()",
    "random_effects": ".ranef()",
    "fixef": ".coef",
    "fe_params": ".coef",
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
    "slice": ".profile('x'), the likelihood maximised over the other parameters",
    "table": "ordstat.table([fit1, fit2]), or .tidy()",
    "to_latex": ".summary().to_latex(), or .tidy().to_latex()",
    "to_docx": ".summary().to_docx(path), or .tidy().to_docx(path)",
    "corr": ".vcov()",
    "model_matrix": ".design.sample.X, with .design.names",
    "lrtest": ".anova(fit2)",
    "poTest": ".score_test(), or .brant()",
    "allEffects": ".emmeans('x')",
    "pairs": ".emmeans('pairwise ~ x')",
    "contrast": ".emmeans('x').contrasts()",
    "ggpredict": ".predict(newdata, type='prob', interval='confidence')",
}

_FIT, _TABLE = "Use ordfit(formula, data).", "Use table([fit1, fit2])."
#: Functions and classes of other packages: what there is here.
PACKAGE: Mapping[str, str] = {
    **dict.fromkeys(("clm", "clmm", "polr", "lrm", "orm", "vglm", "fit", "ologit", "oprobit"), _FIT),
    **dict.fromkeys(("orderedmodel", "logisticat", "logisticit", "ordinalregression", "ordinalmodel"), _FIT),
    **dict.fromkeys(("modelsummary", "etable", "stargazer", "summarycol", "tbl_regression"), _TABLE),
    **dict.fromkeys(("emmeans", "anova", "drop1", "brant", "predict"), "It is a method of a fit: fit = ordfit(...)."),
    "read": "Use load(path) for a saved fit.",
}

#: What others ask estimated means for: what to ask for here.
MEANS: Mapping[str, str] = {
    "pairs": "Use .contrasts(), later less earlier; with reverse=True as R has them.",
    "contrast": "Use .contrasts('pairwise').",
    "plot": "Use fit.plot.emmeans('x') or fit.plot.effects('x'), of the fit.",
    "test": "Use .contrasts(), or fit.joint_tests().",
    "confint": "The limits are columns of .frame; level= of emmeans chooses them.",
    "summary": "The table is the data frame .frame.",
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
    "as.integer": "Make the numbers a column of the data.",
    "as.character": "Write factor(x).",
    "is.na": "Rows with missing values are left out by themselves.",
    "ifelse": "Write I(x > 0), or make the result a column of the data by numpy.where.",
    "interaction": "Write a:b for every combination of two factors, a * b with their own effects.",
    "droplevels": "Write x: levels without rows are left out by themselves.",
    "round": "Make the numbers a column of the data.",
    "lsp": "Write x + pmax(x - knot, 0): a slope that changes at the knot.",
    "pol": "Write poly(x, 2, raw=True).",
    "identity": "Write I(x).",
}


#: What others call the rows to predict.
NEW_ROWS: Mapping[str, str] = {
    **dict.fromkeys(("data", "X", "new_data", "exog", "newx"), "newdata="),
    "kind": "type=",
    "which": "type=",
}

P = ParamSpec("P")
T = TypeVar("T")


def told_arguments(**meant: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Says in the TypeError of an argument that other packages have what to write here.

    Examples
    --------
    >>> @told_arguments(alpha="level=, which is 1 - alpha")
    ... def limits(level=0.95):
    ...     return level
    >>> limits(alpha=0.1)
    Traceback (most recent call last):
    TypeError: limits() got an unexpected keyword argument 'alpha'. Use level=, which is 1 - alpha.
    """

    def decorated(function: Callable[P, T]) -> Callable[P, T]:
        own = signature(function).parameters

        @wraps(function)
        def told(*args: P.args, **kwargs: P.kwargs) -> T:
            for name in kwargs.keys() - own.keys():  # by the name that the method has, and not the function
                hint = f". Use {meant[name]}." if name in meant else ""
                raise TypeError(f"{told.__qualname__}() got an unexpected keyword argument {name!r}{hint}")
            return function(*args, **kwargs)

        return told

    return decorated


def advice(table: Mapping[str, str], name: str) -> str:
    """What a table says of a name, with a blank before it; empty where it is not there."""
    found = table.get(name) or table.get(name.casefold().replace("_", ""))
    return f" {found}" if found else ""
