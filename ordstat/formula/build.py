"""From a formula and a frame, or from arrays, to a Design."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..exceptions import DataError
from .columns import read
from .design import Design, Levels, Recipe, design_of, make
from .frames import refuse, row_name
from .inputs import Given, values_of
from .response import check_levels, read_response
from .sample import Rows
from .spec import ArraySpec, Encoding, numeric_matrix, refuse_text

__all__ = ["Encoding", "build", "from_arrays", "refuse_text"]


def build(formula: str, data: Any, **arguments: Any) -> Design:
    """The sample a formula makes of a frame, with its names and the way to rebuild it.

    Parameters
    ----------
    formula : str
    data : pandas or polars DataFrame, pyarrow Table or mapping of columns
        Never changed.
    **arguments
        Those of `Recipe`.

    Returns
    -------
    Design

    Raises
    ------
    FormulaError, DataError, OptionError

    Notes
    -----
    Text columns and unordered categoricals are factors (text in sorted order of its code points); levels without rows
    are left out, as R's clm does. Booleans are factors with levels False, True. Splines, polynomials and scale() are
    fitted to all rows of the subset in which their own variable is present, as in R.

    Examples
    --------
    >>> import pandas as pd
    >>> from ordstat.formula.build import build
    >>> data = pd.DataFrame({"y": [1, 2, 3, 2, 1], "x": [0.1, 0.5, 0.9, 0.4, None], "f": list("aabbb")})
    >>> design = build("y ~ x + f", data)
    >>> design.names, design.levels.values, dict(design.dropped)
    (('x', 'f[T.b]'), (1, 2, 3), {'x': 1})
    >>> design.spec.rebuild(data).complete
    array([ True,  True,  True,  True, False])
    """
    return make(Recipe(formula, **arguments), data)


def from_arrays(
    X: Any,
    y: Any,
    *,
    levels: Sequence[Any] | None = None,
    weights: Any = None,
    names: Sequence[str] | None = None,
    cluster: Any = None,
    costs: Any = None,
    response: str = "y",
    gaps: bool = False,
    encoding: Encoding | None = None,
    keep_levels: bool = False,
) -> Design:
    """A design of numeric columns.

    Parameters
    ----------
    X : (N, D) array or frame of numbers, all finite
    y : (N,) labels
    levels : sequence, optional
        Labels in order, lowest first; without it labels have to be numbers, booleans or an ordered categorical.
    weights : (N,), optional
        Case weights >= 0; rows of weight 0 are left out.
    names : sequence of D str, optional
        Column names; those of a frame, else x1, x2, ...
    cluster : (N,), optional
    costs : (N, K), optional
    response : str
        Label of the response.
    gaps : bool
        Whether X may have missing values, NaN.
    encoding : Encoding, optional
        That gave the columns of categories in X their codes; new rows are encoded alike.
    keep_levels : bool
        Keep declared levels without rows.

    Returns
    -------
    Design

    Raises
    ------
    DataError

    Examples
    --------
    >>> import numpy as np
    >>> from ordstat.formula.build import from_arrays
    >>> design = from_arrays(np.eye(3), ["low", "high", "low"], levels=["low", "high"])
    >>> design.sample.y, design.names
    (array([0, 1, 0]), ('x1', 'x2', 'x3'))
    """
    matrix, index, columns = numeric_matrix(X, None)
    n, width = matrix.shape
    if names is not None and len(names) != width:
        raise DataError(f"names= must have a name for each of the {width} columns; got {len(names)}.")
    with np.errstate(invalid="ignore", over="ignore"):
        finite = np.isfinite(matrix.sum())  # one sum in place of a look at every value
    wrong: Any = [] if finite else np.argwhere(np.isinf(matrix) if gaps else ~np.isfinite(matrix))
    if len(wrong):
        row, column = (int(k) for k in wrong[0])
        must = "finite or missing (NaN)" if gaps else "finite"
        raise DataError(
            f"X is {matrix[row, column]:g} in {row_name(index, row)}, column {column}; all values must be {must}."
        )
    series = y if isinstance(y, pd.Series) else pd.Series(np.asarray(y))
    labels = read_response(read(series), response, None if levels is None else check_levels(levels))
    if labels.codes.size != n:
        raise DataError(f"y must have a value for each of the {n} rows of X; got {labels.codes.size}.")
    refuse(labels.codes < 0, index, "y", "missing", ": leave them out.")
    given = {
        role: Given(read(values_of(np.asarray(values), role, index)), (role,))
        for role, values in (("weights", weights), ("cluster", cluster))
        if values is not None
    }
    encoding = encoding or Encoding({})
    labels_of = columns if names is None else names
    chosen = tuple(f"x{j + 1}" for j in range(width)) if labels_of is None else tuple(str(name) for name in labels_of)

    def model(take_rows: Callable[[Any], Any], n: int, kept: Levels) -> tuple[Rows, dict[str, Any]]:
        spec = ArraySpec(
            columns=columns, response_name=response, levels=kept.values, names=chosen, gaps=gaps, encoding=encoding
        )
        return Rows(X=take_rows(matrix)), {
            "names": chosen,
            "terms": {name: slice(j, j + 1) for j, name in enumerate(chosen)},
            "formula": f"{response} ~ {' + '.join(chosen) if width <= 10 else '.'}",
            "categories": encoding.counts(chosen),
            "spec": spec,
        }

    costs = None if costs is None else np.asarray(costs, dtype=float)
    return design_of(index, labels, {}, given, model, costs=costs, keep_levels=keep_levels)
