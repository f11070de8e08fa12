"""A live experiment of ten days: rewards are lost or late, and an action gets a limit.

Run as a program it plays one day and stops: ``python ten_days.py FOLDER DAY SEED`` reads the
experiment and the world from FOLDER, and writes them back. Everything else is in the library, so
numpy and scipy are enough. With ``--repetitions N`` it plays N whole experiments in one process,
each through JSON every day, and prints how often the intervals hold the value.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

import numpy as np

from speedlib import SPEED, LinearBandit
from speedlib.experiment import Experiment

#: Eight mailings: sent, length, discount; and how often the target policy sends each.
FEATURES = np.array(
    [
        [1, 0.2, 0.0], [1, 0.2, 0.5], [1, 0.2, 1.0], [1, 0.6, 0.0],
        [1, 0.6, 0.5], [1, 0.6, 1.0], [1, 1.0, 0.0], [1, 1.0, 1.0],
    ]
)  # fmt: skip
POLICY = np.array([0.30, 0.25, 0.05, 0.15, 0.10, 0.05, 0.05, 0.05])
WORLD = LinearBandit(FEATURES, theta=[2.0, 1.0, 3.0], Sigma=np.diag([0.2, 0.1, 5.0]))
TRUTH = WORLD.value(POLICY)

ROUNDS, DAYS, LOST, LATE, LATEST = 1000, 10, 0.05, 0.20, 3
#: From this day on, at most this share of the tries may go to the action that had most until then.
LIMITED_FROM, LIMIT = 5, 0.25


def begin(seed: int) -> str:
    """Return the experiment on its first morning, as text."""
    experiment = Experiment(SPEED.practical(), FEATURES, POLICY, ROUNDS, seed=seed)
    return experiment.to_json()


def play_day(text: str, late: list[list[float]], day: int, seed: int) -> tuple[str, list]:
    """Play a day; return experiment and late rewards (day of arrival, action, reward)."""
    experiment = Experiment.from_json(text)
    rng = np.random.default_rng([seed, day])
    due = [each for each in late if each[0] == day]
    if due:
        experiment.tell([int(action) for _, action, _ in due], [reward for *_, reward in due])
    if day == LIMITED_FROM:
        most = np.ones(len(POLICY))
        most[int(experiment.books.asked.argmax())] = LIMIT
        experiment.limit(most=most)
    batch = experiment.ask(ROUNDS // DAYS, wait=False)
    actions = np.repeat(np.arange(len(POLICY)), batch)
    rewards = WORLD.pull_each(actions, rng)
    fate = rng.random(len(actions))
    now = fate >= LOST + LATE
    experiment.tell(actions[now], rewards[now])
    arrival = day + rng.integers(1, LATEST + 1, len(actions))
    still = [each for each in late if each[0] > day]
    for k in np.flatnonzero((fate >= LOST) & ~now):
        still.append([int(arrival[k]), int(actions[k]), float(rewards[k])])
    return experiment.to_json(), still


def play(seed: int) -> Experiment:
    """Play all days in one process, through JSON each night."""
    text, late = begin(seed), []
    for day in range(1, DAYS + 1):
        text, late = play_day(text, json.loads(json.dumps(late)), day, seed)
    return Experiment.from_json(text)


def play_from(folder: Path, day: int, seed: int) -> None:
    """Play one day from the files of the day before, and write those of this day."""
    late = []
    if day == 1:
        text = begin(seed)
    else:
        text = (folder / "experiment.json").read_text("utf-8")
        late = json.loads((folder / "late.json").read_text("utf-8"))
    text, late = play_day(text, late, day, seed)
    for name, content in (("late.json", json.dumps(late)), ("experiment.json", text)):
        part = folder / (name + ".part")
        part.write_text(content, "utf-8")
        os.replace(part, folder / name)


def main() -> None:
    """Play one day, or many experiments."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("day", nargs="?", type=int)
    parser.add_argument("seed", nargs="?", type=int)
    parser.add_argument("--repetitions", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="seed of the first experiment")
    options = parser.parse_args()
    if not options.repetitions:
        play_from(options.folder, options.day, options.seed)
        return
    held, errors, claimed = [], [], []
    for seed in range(options.first, options.first + options.repetitions):
        estimate = play(seed).estimate()
        low, high = estimate.interval(0.95)
        held.append(bool(low <= TRUTH <= high))
        errors.append(float(estimate.value) - TRUTH)
        claimed.append(float(estimate.standard_error))
        if (seed + 1) % 100 == 0:
            print(f"{len(held)} experiments, {np.mean(held):.4f} held", flush=True)
    print(
        json.dumps(
            {
                "experiments": len(held),
                "held": float(np.mean(held)),
                "mean error": float(np.mean(errors)),
                "root mean square": float(np.sqrt(np.mean(np.square(errors)))),
                "mean claimed error": float(np.mean(claimed)),
            }
        )
    )


if __name__ == "__main__":
    main()
