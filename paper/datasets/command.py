"""The commands of `speedbook data`: list the data sets, fetch one, and check their files."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from paper.datasets import Dataset, DatasetError, catalogue, fetch, info
from paper.datasets.dataset import PROGRAM
from paper.datasets.files import DATA_FOLDER, find, read_checked

#: Takes a message.
Tell = Callable[[str], object]


def list_datasets() -> str:
    """Return the title, terms and place of each data set.

    Like the functions below, it raises a DatasetError if the environment names a folder that does
    not exist.
    """
    return "\n".join(
        f"{dataset.name}: {dataset.title}"
        f"\n  cite:   {dataset.citation}, {dataset.source}"
        f"\n  terms:  {dataset.licence}"
        f"\n  file:   {dataset.file}"
        f"\n  where:  {_where(dataset)}"
        for dataset in catalogue()
    )


def fetch_dataset(name: str, agree: Callable[[], bool], say: Tell) -> None:
    """Fetch a data set after its terms, which `say` shows, have been accepted.

    Raises
    ------
    ValueError
        If there is no such data set, or its terms are not accepted.
    DatasetError
        If it cannot be fetched, or a file is there but is not the expected one.
    """
    dataset = info(name)
    if dataset.download is None:
        say(f"{name} is in data/ already; `{PROGRAM} data check {name}` checks it.")
        return
    if find(dataset) is None:
        say(f"{dataset.title}, from {dataset.download.url}\n\n{dataset.download.terms}")
        if not agree():
            raise ValueError("nothing was fetched, because the terms were not accepted")
        say(f"Fetching {dataset.title} ...")
    say(f"{name} is ready: {fetch(dataset)}")


def check_datasets(names: Sequence[str], say: Tell, fail: Tell) -> bool:
    """Check the SHA-256 of the named files, which must exist, or of all files that are there.

    Reports each through `say` or `fail`, and returns whether all are correct. Raises a ValueError
    if a name is unknown.
    """
    datasets = [info(name) for name in names] or catalogue()
    return all([_check(dataset, dataset.name in names, say, fail) for dataset in datasets])


def _check(dataset: Dataset, named: bool, say: Tell, fail: Tell) -> bool:
    if (path := find(dataset)) is None:
        optional = dataset.download is not None and not named
        (say if optional else fail)(f"{dataset.name}: {_where(dataset)}")
        return optional
    try:
        read_checked(dataset, path)
    except DatasetError as error:
        fail(f"{dataset.name}: {error}")
        return False
    say(f"{dataset.name}: {path} is the expected file")
    return True


def _where(dataset: Dataset) -> str:
    path = find(dataset)
    if path is None:
        return f"not here; to get it: {dataset.remedy}"
    return "data/" if path.parent == DATA_FOLDER else str(path)
