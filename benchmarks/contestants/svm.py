"""RED-SVM by ordstat, by scikit-learn's SVC on explicit extended examples, and by skordinal's REDSVM."""

from __future__ import annotations

import numpy as np

from benchmarks.timing import Timed
from ordstat import REDSVM
from ordstat.model.kernels import Gaussian, Perceptron
from ordstat.model.sample import Rows, Sample

KERNELS = {"perceptron": Perceptron(), "gaussian": Gaussian(gamma=0.125)}


def ordstat_redsvm(X: np.ndarray, y: np.ndarray, kernel: str, C: float, tol: float) -> Timed:
    sample = Sample(rows=Rows(X=X), y=y, n_levels=int(y.max()) + 1)
    method = REDSVM(C=C, kernel=KERNELS[kernel], scaling=None, tol=tol)
    return Timed(f"ordstat {tol:g}", lambda: method.fit(sample, np.random.default_rng(0)))


def extended_svc(X: np.ndarray, y: np.ndarray, kernel: str, C: float) -> Timed:
    """SVC on the N(K-1) extended rows with the kernel K(x, x') + [k = k'], building that Gram included."""
    from sklearn.svm import SVC

    Q = int(y.max())
    labels = (y[:, None] > np.arange(Q)).ravel()

    def fit() -> object:
        gram = np.kron(KERNELS[kernel](X, X), np.ones((Q, Q))) + np.kron(np.ones((len(X), len(X))), np.eye(Q))
        return SVC(C=C, kernel="precomputed", tol=1e-3, max_iter=2_000_000).fit(gram, labels)

    return Timed("SVC extended", fit)


def skordinal_redsvm(X: np.ndarray, y: np.ndarray, kernel: str, C: float) -> Timed:
    from skordinal.classifiers import REDSVM as Peer

    name = {"gaussian": "rbf"}.get(kernel, kernel)
    peer = Peer(C=C, kernel=name, gamma=0.125, cache_size=2000)
    return Timed("skordinal REDSVM", lambda: peer.fit(X, y + 1))
