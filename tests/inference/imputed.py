"""The six imputed data sets of imputed.csv; pooled.R tells how they were made."""

from pathlib import Path

import pandas as pd

from ordstat import ordfit

STACKED = pd.read_csv(Path(__file__).with_name("imputed.csv"))
FRAMES = [part for _, part in STACKED.groupby("imp")]


def fits(formula: str, frames=FRAMES, **options):
    return [ordfit(formula, frame, **options) for frame in frames]
