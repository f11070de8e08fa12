"""Red Wine Quality: the chemistry and taste of 1599 Portuguese wines (Cortez et al. 2009)."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from paper.datasets.dataset import Dataset

if TYPE_CHECKING:
    import pandas as pd

# In the order of the file; the units are those of Table 1 of Cortez et al.
COLUMNS = {
    "fixed acidity": "tartaric acid, g/dm³",
    "volatile acidity": "acetic acid, g/dm³",
    "citric acid": "citric acid, g/dm³",
    "residual sugar": "sugar left after fermentation, g/dm³",
    "chlorides": "sodium chloride, g/dm³",
    "free sulfur dioxide": "free sulphur dioxide, mg/dm³",
    "total sulfur dioxide": "total sulphur dioxide, mg/dm³",
    "density": "density, g/cm³",
    "pH": "pH, without a unit",
    "sulphates": "potassium sulphate, g/dm³",
    "alcohol": "alcohol by volume, %",
    "quality": "median mark of at least three tasters, a whole number from 0 to 10",
}


def parse(content: bytes) -> pd.DataFrame:
    """Return the table: eleven columns of floats, and the whole numbers of ``quality``."""
    import pandas as pd

    types = dict.fromkeys(COLUMNS, "float64") | {"quality": "int64"}
    return pd.read_csv(io.BytesIO(content), sep=";", dtype=types)


RED_WINE = Dataset(
    name="red-wine",
    title="Red Wine Quality",
    file="winequality-red.csv",
    columns=COLUMNS,
    target="quality",
    licence="CC BY 4.0",
    source="https://doi.org/10.24432/C56S3T",
    citation="Cortez, Cerdeira, Almeida, Matos and Reis (2009)",
    remedy="it belongs in data/: restore it from the repository, or see data/rebuild_red_wine.py",
    parse=parse,
)
