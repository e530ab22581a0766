"""Columns of X that are no numbers: refused, or coded for methods that take categories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np

from ._typing import IntArray
from .design.columns import Factor, factor_of, read, recode
from .design.frames import as_frame
from .exceptions import DataError


def not_numeric(X: Any) -> dict[str, Any]:
    """The columns of a frame that are not numeric, with their types; none of what is no frame."""
    try:
        frame = nw.from_native(X, eager_only=True, pass_through=True)
        schema = frame.schema if isinstance(frame, nw.DataFrame) else {}
    except nw.exceptions.DuplicateError:
        counts = Counter(map(str, X.columns))
        twice = ", ".join(f"{name!r} {n} times" for name, n in counts.items() if n > 1)
        raise DataError(f"The columns of X must have different names; got {twice}. Rename them.") from None
    return {name: dtype for name, dtype in schema.items() if not _is_numeric(dtype)}


def refuse_text(X: Any) -> None:
    """DataError naming the columns of a frame that are not numeric: codes of categories are no numbers."""
    kinds = not_numeric(X)
    if kinds:
        shown = ", ".join(f"{name!r} ({dtype})" for name, dtype in kinds.items())
        raise DataError(
            f"X has columns that are not numeric: {shown}. Encode them (such as OneHotEncoder in a Pipeline), or use "
            "ordfit with a formula, which codes categories itself."
        )


def _is_numeric(dtype: Any) -> bool:
    # Objects may be numbers; scikit-learn tries them one by one.
    return bool(dtype.is_numeric()) or isinstance(dtype, (nw.Boolean, nw.Object, nw.Unknown))


@dataclass(frozen=True)
class Encoding:
    """Columns of categories with their levels; text sorts its levels, ordered ones become numbers.

    Attributes
    ----------
    factors : mapping of column to Factor
        Without rows.
    """

    factors: Mapping[Any, Factor]

    @classmethod
    def of(cls, X: Any) -> Encoding:
        """That of a frame; of what is no frame, or has numbers alone, it changes nothing."""
        names = not_numeric(X)
        frame = as_frame(X) if names else None
        found = {} if frame is None else {name: factor_of(read(frame[name]).value, str(name)) for name in names}
        return cls({name: replace(factor, codes=factor.codes[:0]) for name, factor in found.items()})

    def __call__(self, X: Any) -> Any:
        """The frame with codes, NaN where missing; DataError names levels that are not known."""
        if not self.factors:
            refuse_text(X)
            return X
        frame = as_frame(X)
        codes = {name: recode(read(frame[name]).value, f.levels, str(name)) for name, f in self.factors.items()}
        return frame.assign(**{name: np.where(own < 0, np.nan, own) for name, own in codes.items()})

    def counts(self, names: Any) -> IntArray | None:
        """(D,) numbers of categories without an order, 0 of other columns; None where there are none."""
        found = [self._count(name) for name in names]
        return np.array(found, dtype=np.intp) if any(found) else None

    def _count(self, name: Any) -> int:
        factor = self.factors.get(name)
        return 0 if factor is None or factor.ordered or len(factor.levels) < 3 else len(factor.levels)
