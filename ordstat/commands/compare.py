"""`ordstat compare`: several methods on the same rows, by cross-validation."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

import pandas as pd

from .command import Command, say
from .rows import add_columns, add_rows, of_rows, value
from .tables import check_writable, write_table

_MORE = """\
examples:
  ordstat compare wine.csv "rating ~ temp + contact" logit redsvm ordinal-bagging
  ordstat compare wine.csv "rating ~ temp + contact" logit redsvm --cv 5 --repeats 10 --cost classification
  ordstat compare wine.csv "rating ~ temp + contact" logit acat -o errors.csv

All methods have the same folds and, unless their name says another, the same cost. Options of
one method are for Python: ordstat.compare(formula, data, methods=["logit", ("redsvm", {"C": 10})]).
"""


def _add(parser: ArgumentParser) -> None:
    add_rows(parser)
    parser.add_argument("methods", nargs="+", metavar="METHOD", help="of `ordstat methods`, two or more as a rule")
    parser.add_argument("--cv", type=int, default=10, metavar="NUMBER", help="of folds (10)")
    parser.add_argument("--repeats", type=int, default=1, metavar="NUMBER", help="how often folds are drawn anew (1)")
    parser.add_argument("--cost", metavar="NAME", help="absolute, classification or squared (absolute)")
    parser.add_argument("-o", "--output", metavar="FILE", help="put all measures into a .csv, .tsv or .parquet")
    add_columns(parser)


def _run(given: Namespace) -> None:
    from ..comparison import compare

    if given.output is not None:
        check_writable(given.output)
    rows = of_rows(given)
    cost = None if given.cost is None else value(given.cost)
    found = compare(given.formula, methods=given.methods, cv=given.cv, repeats=given.repeats, cost=cost, **rows)
    say(found)
    if given.output is not None:
        write_table(pd.DataFrame(found.table).rename_axis(index="method").reset_index(), given.output)


COMPARE = Command("compare", "compare methods by cross-validation on the same folds", _MORE, _add, _run)
