"""Other packages' learners on the leaderboard: from training X, y, K, new X and a seed
to P(y > k) of the new rows.

Gradient boosting of LightGBM and XGBoost has depth 3, rate 0.05, 70 % of the rows and
60 % of the columns (five at least) a tree, and its rounds by the loss of 5-fold
cross-validation, as `ordboost` has; CatBoost its defaults, with rounds by a fifth of
the rows held out. One thread each. A package that is not installed takes no part.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

#: From training X, y, K, the test X and a seed to P(y > k) of the test rows.
Predictor = Callable[[np.ndarray, np.ndarray, int, np.ndarray, int], np.ndarray]

_ROUNDS = 3000
_PATIENCE = 100
_FOLDS = 5
#: Settings that the searched LightGBM draws from, and how many draws.
_GRID = {
    "num_leaves": (4, 8, 15, 31),
    "learning_rate": (0.03, 0.1),
    "min_data_in_leaf": (2, 5, 20),
    "bagging_fraction": (0.6, 0.8, 1.0),
    "feature_fraction": (0.4, 0.7, 1.0),
    "lambda_l2": (0.1, 1.0, 10.0),
}
_DRAWS = 10


def above_of(p: np.ndarray) -> np.ndarray:
    """P(y > k) (N, K-1) of probabilities (N, K)."""
    p = np.asarray(p, dtype=np.float64)
    return np.clip(
        1.0 - np.cumsum(p / p.sum(axis=1, keepdims=True), axis=1)[:, :-1], 0.0, 1.0
    )


def sure(codes: np.ndarray, K: int) -> np.ndarray:
    """P(y > k) of who says one level and no probabilities."""
    return (codes[:, None] > np.arange(K - 1)).astype(np.float64)


def in_order(above: np.ndarray) -> np.ndarray:
    """P(y > k) of models that were made one by one, sorted."""
    return -np.sort(-above, axis=1)


def _folds(
    y: np.ndarray, seed: int, n: int = _FOLDS
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Stratified, as far as there are enough rows of a level."""
    from sklearn.model_selection import KFold, StratifiedKFold

    enough = np.bincount(y)[np.unique(y)].min() >= n
    kind = StratifiedKFold if enough else KFold
    return list(kind(n, shuffle=True, random_state=seed).split(np.zeros(y.size), y))


def _share(D: int) -> float:
    return max(0.6, min(1.0, 5.0 / D))


def boosted(
    X: np.ndarray, y: np.ndarray, seed: int, **settings: Any
) -> tuple[Any, float]:
    """LightGBM with its rounds by cross-validation, and the loss that chose them."""
    import lightgbm as lgb

    parameters = {
        "learning_rate": 0.05,
        "max_depth": 3,
        "num_leaves": 8,
        "bagging_fraction": 0.7,
        "bagging_freq": 1,
        "feature_fraction": _share(X.shape[1]),
        "min_data_in_leaf": 5,
        "lambda_l2": 1.0,
        "num_threads": 1,
        "verbosity": -1,
        "seed": seed,
        "deterministic": True,
        "force_row_wise": True,
    } | settings
    data = lgb.Dataset(
        X, y, free_raw_data=False, params={"verbosity": -1, "min_data_in_bin": 1}
    )
    codes = y if settings["objective"] != "regression" else y.astype(np.intp)
    actual = lgb.cv(
        parameters,
        data,
        _ROUNDS,
        folds=_folds(codes.astype(np.intp), seed),
        callbacks=[lgb.early_stopping(_PATIENCE, verbose=False)],
    )
    curve = actual[next(name for name in actual if name.endswith("-mean"))]
    model = lgb.train(parameters, data, int(np.argmin(curve)) + 1)
    return model, float(np.min(curve))


def _lightgbm(
    X: np.ndarray, y: np.ndarray, new: np.ndarray, seed: int, **settings: Any
) -> tuple[np.ndarray, float]:
    """Predictions of `boosted`, and the loss that chose its rounds."""
    model, loss = boosted(X, y, seed, **settings)
    return np.asarray(model.predict(new)), loss


def lightgbm_multiclass(
    X: np.ndarray, y: np.ndarray, K: int, new: np.ndarray, seed: int
) -> np.ndarray:
    """One model of K classes."""
    return above_of(_lightgbm(X, y, new, seed, objective="multiclass", num_class=K)[0])


def lightgbm_searched(
    X: np.ndarray, y: np.ndarray, K: int, new: np.ndarray, seed: int
) -> np.ndarray:
    """The best of ten settings by the cross-validated loss."""
    rng = np.random.default_rng(seed)
    collected = []
    for _ in range(_DRAWS):
        drawn = {
            name: values[int(rng.integers(len(values)))]
            for name, values in _GRID.items()
        }
        collected.append(
            _lightgbm(
                X,
                y,
                new,
                seed,
                objective="multiclass",
                num_class=K,
                max_depth=-1,
                **drawn,
            )
        )
    return above_of(min(collected, key=lambda one: one[1])[0])


def lightgbm_per_threshold(
    X: np.ndarray, y: np.ndarray, K: int, new: np.ndarray, seed: int
) -> np.ndarray:
    """K-1 models of y > k."""
    above = np.empty((len(new), K - 1))
    for k in range(K - 1):
        z = (y > k).astype(np.intp)
        one_sided = z.min() == z.max()
        above[:, k] = (
            z[0] if one_sided else _lightgbm(X, z, new, seed, objective="binary")[0]
        )
    return in_order(above)


def lightgbm_defaults(
    X: np.ndarray, y: np.ndarray, K: int, new: np.ndarray, seed: int
) -> np.ndarray:
    """K-1 models of y > k, with LightGBM's own defaults."""
    from lightgbm import LGBMClassifier

    above = np.empty((len(new), K - 1))
    for k in range(K - 1):
        z = (y > k).astype(np.intp)
        if z.min() == z.max():
            above[:, k] = z[0]
            continue
        model = LGBMClassifier(random_state=seed, n_jobs=1, verbosity=-1).fit(X, z)
        above[:, k] = model.predict_proba(new)[:, 1]
    return in_order(above)


def lightgbm_rounded(
    X: np.ndarray, y: np.ndarray, K: int, new: np.ndarray, seed: int
) -> np.ndarray:
    """Regression on the codes, rounded."""
    actual, _ = _lightgbm(X, y.astype(np.float64), new, seed, objective="regression")
    return sure(np.clip(np.rint(actual), 0, K - 1), K)


def xgboost_multiclass(
    X: np.ndarray, y: np.ndarray, K: int, new: np.ndarray, seed: int
) -> np.ndarray:
    """One model of K classes."""
    import xgboost as xgb

    parameters = {
        "objective": "multi:softprob",
        "num_class": K,
        "eta": 0.05,
        "max_depth": 3,
        "subsample": 0.7,
        "nthread": 1,
        "colsample_bytree": _share(X.shape[1]),
        "seed": seed,
        "verbosity": 0,
    }
    data = xgb.DMatrix(X, y)
    actual = xgb.cv(
        parameters,
        data,
        _ROUNDS,
        folds=_folds(y, seed),
        early_stopping_rounds=_PATIENCE,
        verbose_eval=False,
    )
    return above_of(xgb.train(parameters, data, len(actual)).predict(xgb.DMatrix(new)))


def catboost_multiclass(
    X: np.ndarray, y: np.ndarray, K: int, new: np.ndarray, seed: int
) -> np.ndarray:
    """Its defaults, rounds by a fifth of the rows held out, and then all rows."""
    from catboost import CatBoostClassifier

    settings = {
        "random_seed": seed,
        "thread_count": 1,
        "verbose": False,
        "allow_writing_files": False,
    }
    settings |= {"loss_function": "MultiClass"}
    fitted, held = _folds(y, seed)[0]
    held = held[np.isin(y[held], y[fitted])]
    trial = CatBoostClassifier(iterations=1000, od_type="Iter", od_wait=50, **settings)
    trial.fit(X[fitted], y[fitted], eval_set=(X[held], y[held]))
    model = CatBoostClassifier(
        iterations=trial.tree_count_, learning_rate=trial.learning_rate_, **settings
    ).fit(X, y)
    p = np.zeros((len(new), K))
    p[:, np.asarray(model.classes_, dtype=np.intp)] = model.predict_proba(new)
    return above_of(p)


def hist_per_threshold(
    X: np.ndarray, y: np.ndarray, K: int, new: np.ndarray, seed: int
) -> np.ndarray:
    """scikit-learn's histogram boosting, one model a threshold, rounds by a fifth of
    the rows held out.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier

    above = np.empty((len(new), K - 1))
    for k in range(K - 1):
        z = y > k
        stops = min(np.bincount(z, minlength=2)) >= 10
        model = HistGradientBoostingClassifier(
            learning_rate=0.05,
            max_depth=3,
            max_iter=1000 if stops else 100,
            min_samples_leaf=5,
            early_stopping=stops,
            validation_fraction=0.2,
            n_iter_no_change=50,
            random_state=seed,
        )
        above[:, k] = (
            z[0] if z.all() or not z.any() else model.fit(X, z).predict_proba(new)[:, 1]
        )
    return in_order(above)


def random_forest(
    X: np.ndarray, y: np.ndarray, K: int, new: np.ndarray, seed: int
) -> np.ndarray:
    """scikit-learn's classifier of 300 trees."""
    from sklearn.ensemble import RandomForestClassifier

    model = RandomForestClassifier(n_estimators=300, random_state=seed).fit(X, y)
    p = np.zeros((len(new), K))
    p[:, model.classes_] = model.predict_proba(new)
    return above_of(p)


def mord_all_thresholds(
    X: np.ndarray, y: np.ndarray, K: int, new: np.ndarray, seed: int
) -> np.ndarray:
    """mord's all-threshold logistic model of standardised columns, its penalty of 1."""
    from mord import LogisticAT

    mean = X.mean(axis=0)
    deviation = np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    codes, inside = np.unique(y, return_inverse=True)
    model = LogisticAT(alpha=1.0).fit((X - mean) / deviation, inside)
    p = np.zeros((len(new), K))
    p[:, codes] = model.predict_proba((new - mean) / deviation)
    return above_of(np.clip(p, 0.0, None))


#: Package and predictor.
_ALL: dict[str, tuple[str, Predictor]] = {
    "LightGBM multiclass": ("lightgbm", lightgbm_multiclass),
    "LightGBM per threshold": ("lightgbm", lightgbm_per_threshold),
    "LightGBM per threshold, defaults": ("lightgbm", lightgbm_defaults),
    "LightGBM regression, rounded": ("lightgbm", lightgbm_rounded),
    "XGBoost multiclass": ("xgboost", xgboost_multiclass),
    "CatBoost multiclass": ("catboost", catboost_multiclass),
    "HistGradientBoosting per threshold": ("sklearn", hist_per_threshold),
    "random forest": ("sklearn", random_forest),
    "mord, all thresholds": ("mord", mord_all_thresholds),
    "LightGBM multiclass, searched": ("lightgbm", lightgbm_searched),
}
#: Those whose package is installed.
RIVALS: dict[str, Predictor] = {
    name: one for name, (package, one) in _ALL.items() if find_spec(package)
}
