"""Pretrained networks for tables, TabPFN and TabICL, for those who have their weights.

Nothing is downloaded: a variable of the environment names the file of weights, and the
package must be installed. Their probabilities of unordered classes become P(y > k).
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from benchmarks.rivals import Predictor, above_of


@dataclass(frozen=True)
class Pretrained:
    """A classifier with weights.

    Attributes
    ----------
    package, kind : str
        Module, and its class, with arguments model_path, device and random_state.
    variable : str
        Variable of the environment that names the file of weights.
    """

    package: str
    kind: str
    variable: str

    def lacking(self) -> str | None:
        """What is missing, in words; None if nothing is."""
        if find_spec(self.package) is None:
            return (
                f"its package is not installed. Run `pip install {self.package}`, and"
                f" set the variable {self.variable} to the file of its weights."
            )
        path = os.environ.get(self.variable)
        if not path:
            return f"set the variable {self.variable} to the file of its weights."
        if not Path(path).is_file():
            return f"the variable {self.variable} names {path}, which is no file."
        return None

    def predict(
        self, X: np.ndarray, y: np.ndarray, K: int, new: np.ndarray, seed: int
    ) -> np.ndarray:
        """P(y > k) (N, K-1) of new rows."""
        make = getattr(import_module(self.package), self.kind)
        model = make(
            model_path=os.environ[self.variable], device="cpu", random_state=seed
        ).fit(X, y)
        p = np.zeros((len(new), K))
        p[:, np.asarray(model.classes_, dtype=np.intp)] = model.predict_proba(new)
        return above_of(p)


PRETRAINED: dict[str, Pretrained] = {
    "TabPFN": Pretrained("tabpfn", "TabPFNClassifier", "ORDSTAT_TABPFN"),
    "TabICL": Pretrained("tabicl", "TabICLClassifier", "ORDSTAT_TABICL"),
}


def available() -> dict[str, Predictor]:
    """Those that lack nothing."""
    return {
        name: one.predict for name, one in PRETRAINED.items() if one.lacking() is None
    }
