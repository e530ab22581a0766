"""The wine ratings."""

import pandas as pd
import pytest

from ordstat import datasets


@pytest.fixture(scope="session")
def wine() -> pd.DataFrame:
    return datasets.load("wine")
