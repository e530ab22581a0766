"""Wrote the files of format version 1, once and for all, at ordstat 0.1.0: later versions read them.

`predictions.json` has what the fits predicted when they were saved. Run it with `tests` on PYTHONPATH.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path

from files.samples import fitted, wine

HERE = Path(__file__).parent
#: One of each kind of rule; none holds a model of scikit-learn, which is bound to its version.
METHODS = {
    **{name: {} for name in ("acat", "redsvm", "svor-exc", "rank-svm", "csovo", "prank", "cusum", "kernel-prank")},
    **{name: {} for name in ("red-c45", "red-logistic", "onn", "orstump", "cart", "kernel-cusum", "tsew")},
    **{
        name: {"rounds": 3}
        for name in ("orboost-all", "ordinal-bagging", "ordboost", "adaboost-or", "nominal-adaboost")
    },
}
KEPT = (
    *("contrasts", "splines", "polynomials", "cubic splines", "cyclic splines", "offset", "nominal", "scale"),
    *("thresholds in order", "equidistant", "aranda-ordaz", "log-gamma", "random slope", "crossed groups", "CR2"),
    *("survey", "jeffreys", "calibrated", "calibrated votes", "chosen C", "constraints", "cost matrix", "trees"),
    *("sigmoids", "monotone"),
)


def fits():
    """Every fit, by the name of its file."""
    from ordstat import ordfit

    for name, options in METHODS.items():
        yield name, ordfit("rating ~ temp + x + contact", wine(), name, **options)
    for name in KEPT:
        yield name.replace(" ", "-"), fitted(name)


def predictions(fit):
    """Every type of prediction of every seventh row; levels are numbers."""
    new = wine()[::7]
    return {type: fit.predict(new, type=type).to_numpy(float).tolist() for type in fit.prediction_types}


def main() -> None:
    warnings.simplefilter("ignore")
    known = {}
    for name, fit in fits():
        fit.save(HERE / f"{name}.ordstat")
        known[name] = predictions(fit)
    lines = [f"{json.dumps(name)}: {json.dumps(values)}" for name, values in known.items()]
    (HERE / "predictions.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
