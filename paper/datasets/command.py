"""What `speedbook data` does: say what is at hand, fetch what is not, and check it all."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from paper.datasets import Dataset, DatasetError, catalogue, fetch, info
from paper.datasets.files import DATA_FOLDER, find, read_checked
from speedbook.commands.reporter import Reporter

#: Exit codes, as the help text of the program explains them.
WELL, DIFFERS, USAGE, FAILED = 0, 1, 2, 3


def list_datasets(reporter: Reporter) -> int:
    """Say of each data set what it is, under which terms, and where."""
    try:
        for dataset in catalogue():
            where = _where(dataset)
            reporter.say(f"{dataset.name}: {dataset.title}")
            reporter.say(f"  cite:   {dataset.citation}, {dataset.source}")
            reporter.say(f"  terms:  {dataset.licence}")
            reporter.say(f"  file:   {dataset.file}")
            reporter.say(f"  where:  {where}")
    except DatasetError as error:
        reporter.fail(f"speedbook: {error}")
        return FAILED
    return WELL


def fetch_dataset(name: str, agree: Callable[[], bool], reporter: Reporter) -> int:
    """Fetch a data set once its terms are agreed to.

    Parameters
    ----------
    name : str
        Its short name.
    agree : callable
        Asks the user, after the terms were shown.
    reporter : Reporter
    """
    try:
        dataset = info(name)
    except ValueError as error:
        reporter.fail(f"speedbook: {error}")
        return USAGE
    if dataset.download is None:
        reporter.say(f"{name} is in data/ already; `speedbook data check {name}` checks it.")
        return WELL
    try:
        if find(dataset) is None:
            reporter.say(
                f"{dataset.title}, from {dataset.download.url}\n\n{dataset.download.terms}"
            )
            if not agree():
                reporter.fail(
                    "speedbook: nothing was fetched, as the terms were not agreed to; where nobody "
                    "can be asked, say --agree"
                )
                return USAGE
            reporter.say(f"Fetching {dataset.title} ...")
        path = fetch(dataset)
    except DatasetError as error:
        reporter.fail(f"speedbook: {error}")
        return FAILED
    reporter.say(f"{name} is ready: {path}")
    return WELL


def check_datasets(names: Sequence[str], reporter: Reporter) -> int:
    """Compare files with their SHA-256: all that are at hand, or those named, which must be."""
    try:
        datasets = [info(name) for name in names] or list(catalogue())
    except ValueError as error:
        reporter.fail(f"speedbook: {error}")
        return USAGE
    try:
        good = [_check(dataset, dataset.name in names, reporter) for dataset in datasets]
    except DatasetError as error:
        reporter.fail(f"speedbook: {error}")
        return FAILED
    return WELL if all(good) else DIFFERS


def _check(dataset: Dataset, named: bool, reporter: Reporter) -> bool:
    path = find(dataset)
    if path is None:
        optional = dataset.download is not None and not named
        tell = reporter.say if optional else reporter.fail
        tell(f"{dataset.name}: {dataset.file} is not here; to get it: {dataset.remedy}")
        return optional
    try:
        read_checked(dataset, path)
    except DatasetError as error:
        reporter.fail(f"{dataset.name}: {error}")
        return False
    reporter.say(f"{dataset.name}: {path} is as it should be")
    return True


def _where(dataset: Dataset) -> str:
    path = find(dataset)
    if path is None:
        return f"not here; to get it: {dataset.remedy}"
    return "data/" if path.parent == DATA_FOLDER else str(path)
