"""Air Quality: a year of hourly measurements next to a road in an Italian town (De Vito 2008)."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from paper.datasets.dataset import PROGRAM, Dataset, Download

if TYPE_CHECKING:
    import pandas as pd

# In the order of the file, whose first two columns, date and time, become one.
COLUMNS = {
    "time": "local date and hour",
    "CO(GT)": "carbon monoxide by a reference analyser, mg/m³",
    "PT08.S1(CO)": "response of the tin oxide sensor, meant for CO",
    "NMHC(GT)": "hydrocarbons other than methane by a reference analyser, µg/m³; mostly missing",
    "C6H6(GT)": "benzene by a reference analyser, µg/m³",
    "PT08.S2(NMHC)": "response of the titania sensor, meant for hydrocarbons",
    "NOx(GT)": "nitrogen oxides by a reference analyser, ppb",
    "PT08.S3(NOx)": "response of the tungsten oxide sensor, meant for NOx",
    "NO2(GT)": "nitrogen dioxide by a reference analyser, µg/m³",
    "PT08.S4(NO2)": "response of the tungsten oxide sensor, meant for NO2",
    "PT08.S5(O3)": "response of the indium oxide sensor, meant for ozone",
    "T": "temperature, °C",
    "RH": "relative humidity, %",
    "AH": "absolute humidity",
}
#: How the file writes a missing measurement.
MISSING = -200

TERMS = """\
Air Quality (De Vito, Massera, Piga, Martinotto and Di Francia 2008), UCI data set 360, comes under
the Creative Commons licence CC BY 4.0: use it, and name its authors. Its page also has an older
sentence that restricts the data to research and excludes commercial use. Since the two differ, this
project does not pass the file on, and you should keep to the stricter one.
https://archive.ics.uci.edu/dataset/360/air+quality
"""


def parse(content: bytes) -> pd.DataFrame:
    """Return the hourly measurements, with NaN for missing ones.

    The file uses semicolons as separators, decimal commas and -200 for a missing value, and ends
    with two empty columns and blank rows.
    """
    import pandas as pd

    table = pd.read_csv(io.BytesIO(content), sep=";", decimal=",", skip_blank_lines=True)
    table = table.dropna(axis=1, how="all").dropna(axis=0, how="all")
    stamps = table["Date"] + " " + table["Time"]
    values = table.drop(columns=["Date", "Time"]).astype("float64")
    values = values.mask(values == MISSING)
    values.insert(0, "time", pd.to_datetime(stamps, format="%d/%m/%Y %H.%M.%S"))
    return values


AIR_QUALITY = Dataset(
    name="air-quality",
    title="Air Quality",
    file="AirQualityUCI.csv",
    columns=COLUMNS,
    target="CO(GT)",
    licence="CC BY 4.0, but an older sentence says: research only",
    source="https://doi.org/10.24432/C59K5F",
    citation="De Vito, Massera, Piga, Martinotto and Di Francia (2008)",
    remedy=f"{PROGRAM} data fetch air-quality",
    parse=parse,
    download=Download(
        url="https://archive.ics.uci.edu/static/public/360/air+quality.zip",
        sha256="d4a64013fb385288a8a48d9d193ca7079b2e1bbddf6f8d458feb8c08ab2b8a2a",
        member="AirQualityUCI.csv",
        member_sha256="13277ae5d8581e80b7be09d47c7d3d06fe9b8e957078f2cf6e859f955e62f996",
        terms=TERMS,
    ),
)
