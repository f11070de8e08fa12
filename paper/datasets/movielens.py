"""MovieLens: people's ratings of movies, in a small edition and in the paper's (Harper 2015)."""

from __future__ import annotations

import bz2
import io
from typing import TYPE_CHECKING

from paper.datasets.dataset import PROGRAM, Dataset, Download

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = {
    "user": "number of a person, who is otherwise anonymous",
    "film": "number of a movie on the MovieLens site",
    "rating": "stars that the person gave to the movie, at most five",
}
TYPES = {"user": "int64", "film": "int64", "rating": "float64"}

#: The conditions of MovieLens 1M, word for word from the README of the archive.
TERMS = """\
Neither the University of Minnesota nor any of the researchers involved can guarantee the
correctness of the data, its suitability for any particular purpose, or the validity of results
based on the use of the data set. The data set may be used for any research purposes under the
following conditions:

* The user may not state or imply any endorsement from the University of Minnesota or the GroupLens
  Research Group.
* The user must acknowledge the use of the data set in publications resulting from the use of the
  data set.
* The user may not redistribute the data without separate permission.
* The user may not use this information for any commercial or revenue-bearing purposes without first
  obtaining permission from a faculty member of the GroupLens Research Project at the University of
  Minnesota.

The README inside the archive has all conditions; https://grouplens.org/datasets/movielens/1m/
"""


def parse_latest_small(content: bytes) -> pd.DataFrame:
    """Return the ratings, ordered by user and then by movie."""
    import pandas as pd

    return pd.read_csv(io.BytesIO(bz2.decompress(content)), dtype=TYPES)


def parse_1m(content: bytes) -> pd.DataFrame:
    """Return the ratings in the order of the file, without their times."""
    import pandas as pd

    # The fast parser of pandas needs a separator of one character.
    lines = io.BytesIO(content.replace(b"::", b","))
    return pd.read_csv(lines, header=None, names=list(TYPES), usecols=[0, 1, 2], dtype=TYPES)


LATEST_SMALL = Dataset(
    name="movielens-latest-small",
    title="MovieLens latest-small, October 2016",
    file="movielens-latest-small.csv.bz2",
    columns=COLUMNS,
    target="rating",
    licence="GroupLens: research, not commercial; to be passed on under the same terms",
    source="https://grouplens.org/datasets/movielens/",
    citation="Harper and Konstan (2015)",
    remedy="it belongs in data/: restore it from the repository, or see data/rebuild_movielens.py",
    parse=parse_latest_small,
)

MOVIELENS_1M = Dataset(
    name="movielens-1m",
    title="MovieLens 1M",
    file="ratings.dat",
    columns=COLUMNS,
    target="rating",
    licence="GroupLens: research, not commercial; not to be passed on",
    source="https://grouplens.org/datasets/movielens/1m/",
    citation="Harper and Konstan (2015)",
    remedy=f"{PROGRAM} data fetch movielens-1m",
    parse=parse_1m,
    download=Download(
        url="https://files.grouplens.org/datasets/movielens/ml-1m.zip",
        sha256="a6898adb50b9ca05aa231689da44c217cb524e7ebd39d264c56e2832f2c54e20",
        member="ml-1m/ratings.dat",
        member_sha256="506d64ca44484487c11dc2d9a28de5c54948213e6b96285e298afe28d6ea4e0f",
        terms=TERMS,
    ),
)
