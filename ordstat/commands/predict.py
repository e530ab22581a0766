"""`ordstat predict`: predictions of the rows of a file by a saved fit."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import Any

import pandas as pd

from ..checks import canonical
from ..exceptions import DataError
from ..files.load import load
from .command import Command
from .rows import add_marks
from .tables import DATA_HELP, check_writable, read_table, write_table

_MORE = """\
examples:
  ordstat predict svm.ordstat new.csv                          to the screen, as CSV
  ordstat predict logit.ordstat new.csv --type prob -o out.csv
  ordstat predict logit.ordstat new.sav --with-data -o out.parquet

One row of predictions for each row of the data, in the same order; empty where a value is missing that the fit needs.
Types: class, prob, cum_prob (where the fit knows probabilities), score, margin, votes.
"""


def _add(parser: ArgumentParser) -> None:
    parser.add_argument("model", help="a file of `ordstat fit --save`, or of fit.save() in Python")
    parser.add_argument("data", help=DATA_HELP)
    parser.add_argument("--type", default="class", metavar="TYPE", help="what to predict (class)")
    parser.add_argument("-o", "--output", metavar="FILE", help="a file that ends in .csv, .tsv or .parquet")
    parser.add_argument("--with-data", action="store_true", help="write the columns of the data before the predictions")
    add_marks(parser)


def _run(given: Namespace) -> None:
    if given.output is not None:
        check_writable(given.output)
    fit, data = load(given.model), read_table(given.data, given.separator, given.decimal)
    type = canonical(given.type, fit.prediction_types) or given.type
    out = as_frame(fit.predict(data, type=type), type)
    if given.with_data:
        out = beside(data, out)
    if given.output is None:
        out.to_csv(sys.stdout, index=False)
    else:
        write_table(out, given.output)


def beside(data: pd.DataFrame, out: pd.DataFrame) -> pd.DataFrame:
    """The data with columns of predictions; DataError where they have columns of these names."""
    same = [name for name in out.columns if name in data.columns]
    if same:
        raise DataError(f"the data have a column {same[0]!r} already: rename it, or leave out --with-data.")
    return pd.concat([data, out], axis=1)


def as_frame(predicted: Any, type: str) -> pd.DataFrame:
    """Predictions with columns that say what they are: class, score, prob_low, prob_high."""
    if isinstance(predicted, pd.DataFrame):
        return predicted.set_axis([f"{type}_{name}" for name in predicted.columns], axis=1)
    return pd.DataFrame({type: predicted})


PREDICT = Command("predict", "predict the rows of a file by a saved fit", _MORE, _add, _run)
