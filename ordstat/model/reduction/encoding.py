"""The question "rank above k?" as columns beside those of x: what a binary classifier sees of (x, k)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._typing import FloatArray
from ...checks import number, unknown
from ..row_blocks import row_blocks
from ..sample import Rows
from ..scaling import Scaling


@dataclass(frozen=True)
class Sized:
    """A code of some height."""

    size: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", number("size", self.size, above=0.0, of=self))


@dataclass(frozen=True)
class OneHot(Sized):
    """(x, size 1_k): a column for each k, so that a linear classifier has one score and K-1 thresholds.

    Attributes
    ----------
    size : float
        gamma of RED-SVM [Lin 2008, sec. 4.2.1], > 0: a large one leaves penalised thresholds nearly free.

    Examples
    --------
    >>> OneHot(2.0).codes(3)
    array([[2., 0.],
           [0., 2.]])
    """

    def codes(self, n_levels: int) -> FloatArray:
        """(K-1, K-1)."""
        return self.size * np.eye(n_levels - 1)

    def names(self, thresholds: Sequence[str]) -> tuple[str, ...]:
        """(K-1,) "k = low|high"."""
        return tuple(f"k = {name}" for name in thresholds)


@dataclass(frozen=True)
class Ordinal(Sized):
    """(x, size [k > 1], ..., size [k > K-2]): neighbouring questions look alike, and a tree cuts k as a number.

    Attributes
    ----------
    size : float
        Height of the steps, > 0.

    Examples
    --------
    >>> Ordinal().codes(4)
    array([[0., 0.],
           [1., 0.],
           [1., 1.]])
    """

    def codes(self, n_levels: int) -> FloatArray:
        """(K-1, K-2)."""
        k = np.arange(n_levels - 1)
        return np.where(k[:, None] > k[:-1], self.size, 0.0)

    def names(self, thresholds: Sequence[str]) -> tuple[str, ...]:
        """(K-2,) "k > low|high"."""
        return tuple(f"k > {name}" for name in thresholds[:-1])


@dataclass(frozen=True)
class Separate:
    """A classifier of its own for every k, on x alone [Frank & Hall 2001].

    Examples
    --------
    >>> from ordstat import Reduction, Separate, datasets, ordfit
    >>> fit = ordfit("rating ~ temp + contact", datasets.load("wine"), Reduction(encoding=Separate()))
    >>> float(fit.errors().loc["absolute error", "training"].round(2))
    0.61
    """

    def codes(self, n_levels: int) -> None:
        """None."""
        return None

    def names(self, thresholds: Sequence[str]) -> None:
        """None."""
        return None


#: How k is told to the classifier: (K-1, E) columns and their names, or none where every k has a classifier of its own.
Encoding = OneHot | Ordinal | Separate

#: Encodings by name.
ENCODINGS: dict[str, Encoding] = {"one-hot": OneHot(), "ordinal": Ordinal(), "separate": Separate()}


def parse_encoding(value: object) -> Encoding:
    """The encoding a user means by a name or a value.

    Raises
    ------
    OptionError
        Neither.
    """
    if isinstance(value, str) and value in ENCODINGS:
        return ENCODINGS[value]
    if isinstance(value, Encoding):
        return value
    raise unknown("encoding", value, ENCODINGS, also=", or a value such as OneHot(10)")


def extended_rows(X: FloatArray, codes: FloatArray) -> FloatArray:
    """(N (K-1), D + E) rows (x_n, code of k), k running fastest, from X (N, D) and codes (K-1, E).

    Examples
    --------
    >>> extended_rows(np.array([[5.0], [6.0]]), np.array([[0.0], [1.0]])).tolist()
    [[5.0, 0.0], [5.0, 1.0], [6.0, 0.0], [6.0, 1.0]]
    """
    return np.hstack([np.repeat(X, len(codes), axis=0), np.tile(codes, (len(X), 1))])


@dataclass(frozen=True, eq=False, kw_only=True)
class EncodedAnswers:
    """g(x, k) by one classifier of extended rows, or by a classifier for every k.

    Attributes
    ----------
    scorer : callable(rows) to (N, 1) scores of extended rows, or (N, K-1) scores
        Where its `probable` is true, `above` gives probabilities of yes.
    n_levels : int
        K.
    codes : (K-1, E) or None
        None where every k has a classifier of its own.
    encoding : Encoding
        That they come from.
    scaling : Scaling
        Scaling of the columns of x.
    """

    scorer: Any
    n_levels: int
    codes: FloatArray | None
    encoding: Encoding
    scaling: Scaling

    @property
    def probable(self) -> bool:
        """Whether there are probabilities."""
        return bool(getattr(self.scorer, "probable", False))

    def __call__(self, rows: Rows) -> FloatArray:
        """(N, K-1) scores g(x, k)."""
        return self._asked(self.scorer, rows)

    def above(self, rows: Rows) -> FloatArray:
        """(N, K-1) probabilities of "above k"."""
        return self._asked(self.scorer.above, rows)

    def _asked(self, ask: Callable[[Rows], FloatArray], rows: Rows) -> FloatArray:
        """Of extended rows a block of rows of x at a time."""
        X, codes = self.scaling(rows.X), self.codes
        if codes is None:
            return ask(Rows(X=X))
        blocks = row_blocks(rows.n, len(codes) * (X.shape[1] + codes.shape[1]))
        parts = (ask(Rows(X=extended_rows(X[some], codes))).reshape(-1, len(codes)) for some in blocks)
        return np.concatenate([np.zeros((0, len(codes))), *parts])
