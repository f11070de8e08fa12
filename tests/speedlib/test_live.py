"""A live experiment from two tables: reading, stopping where rewards are missing, going on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from speedbook.notebook.files import code_cells, read_notebook
from speedbook.run.execution import Job, execute
from speedlib import SPEED, BookedOptimism, LinearBandit, OnPolicy, PerArm, Rewards, Strategy, play
from speedlib.live import PHASES, Actions, Progress, advance, read_actions, read_log
from speedlib.trials import Trial

from .live_table import ACTIONS, NAMES, read_table

PAGE = Path(__file__).parents[2] / "notebooks" / "beyond" / "your-own-experiment.ipynb"


@pytest.fixture
def actions(tmp_path: Path) -> Actions:
    return read_table(tmp_path)


def test_a_table_of_actions(actions: Actions) -> None:
    assert actions.names == ("red", "blue", "grey")
    assert actions.columns == ("size", "colour")
    assert actions.features.tolist() == [[1, 0], [0, 1], [1, 1]]
    assert actions.policy.tolist() == [0.5, 0.3, 0.2]


def test_a_policy_below_zero_by_rounding_is_read_as_zero(tmp_path):
    path = tmp_path / "actions.csv"
    path.write_text("action,probability,x\nred,1,2\nblue,-1e-17,3\n")
    assert read_actions(path).policy.tolist() == [1.0, 0.0]


def test_a_table_as_spreadsheets_write_it(tmp_path: Path, actions: Actions) -> None:
    """A byte-order mark, Windows' line ends, quotation marks, and an empty line at the end."""
    text = ACTIONS.replace("red", '"red"').replace("\n", "\r\n") + "\r\n"
    path = tmp_path / "sheet.csv"
    path.write_bytes(text.encode("utf-8-sig"))
    sheet = read_actions(path)
    assert (sheet.names, sheet.columns) == (actions.names, actions.columns)
    assert np.array_equal(sheet.features, actions.features)


def test_a_table_as_it_is_written_where_a_comma_stands_before_decimals(tmp_path: Path) -> None:
    path, log = tmp_path / "german.csv", tmp_path / "log.csv"
    path.write_text("action;size;colour;probability\nred, big;1,5;0;0,5\nblue;-2;1e1;,5\n")
    log.write_text("sep=;\nphase;action;reward\n1;red, big;2,5\n1;blue;-1\n1;red, big;0,5\n")
    sheet = read_actions(str(path))
    assert sheet.names == ("red, big", "blue")
    assert sheet.features.tolist() == [[1.5, 0], [-2, 10]]
    assert sheet.policy.tolist() == [0.5, 0.5]
    (rewards,) = read_log(str(log), sheet)
    assert (rewards.counts.tolist(), rewards.means.tolist()) == ([2, 1], [1.5, -1])


def test_the_example_that_comes_along() -> None:
    example = read_actions(Path(__file__).parents[2] / "data" / "example-actions.csv")
    assert len(example.names) == 8
    assert np.linalg.matrix_rank(example.features) == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("action,size\nred,1\n", ": has no column 'probability'; there are action, size"),
        ("action size probability\nred 1 1\n", ": .*two columns or more, separated by commas"),
        ("", ": is empty"),
        ("action,size,probability\nred,1,1\nbig, blue,1,0\n", ", line 3: has 4 entries"),
        ("action,size,probability\nbig, red,1,1\n", ", line 2: has 4 .*quotation marks"),
        ("action,probability\nred,1\n", ": .*one column with a feature"),
        ("action,size,probability\n", ": .*at least one action"),
        (
            "action,size,probability\nred,1,.5\nred,2,.5\n",
            ", line 3: .*its own name; got red here and in line 2",
        ),
        ("action,size,probability\nred,big,1\n", ", line 2: column size holds 'big'.*not a number"),
        (
            "action,size,probability\nred,1,\n",
            ", line 2: column probability holds ''.*not a number",
        ),
        ("action,size,probability\nred,inf,1\n", ", line 2: column size holds 'inf'.*not a number"),
        ("action,size,probability\nred,1e99,1\n", ", line 2: column size holds '1e99'.*1e\\+60"),
        ('action,size,probability\nred,"1,000",1\n', ", line 2: .*'1,000'.* 1000 or 1, and"),
        ("action;size;probability\nred;1,5;.5\nblue;1;.5\n", ": decimals .*two ways, '.5'.*'1,5'"),
        ("action,size,probability\nred,1,.7\nblue,2,.7\n", ": probability: .*sum to 1.*1.4"),
        ("action,size,probability\nred,1,1.5\nblue,2,-.5\n", ", line 3: .*-0.5; .*at least 0"),
    ],
)
def test_bad_actions_are_refused_by_name(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "actions.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=rf"actions\.csv{message}"):
        read_actions(path)


def test_missing_actions_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"none\.csv: there is no such file"):
        read_actions(tmp_path / "none.csv")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("phase,action\n1,red\n", ": has no column 'reward'; there are phase, action"),
        ("phase,action,reward\n1,redd,2\n", ", line 2: .*'redd'.*none.*did you mean 'red'"),
        ("phase,action,reward\n0,red,2\n", ", line 2: column phase holds 0; .* 1, 2,"),
        ("phase,action,reward\n1.5,red,2\n", ", line 2: column phase holds 1.5; .* 1, 2,"),
        ("phase,action,reward\n1,red,2\n\n1e12,red,2\n", ", line 4: .*holds 1e\\+12; .* 1, 2,"),
        ("phase,action,reward\n1,red,two\n", ", line 2: column reward holds 'two'.*not a number"),
    ],
)
def test_bad_logs_are_refused_by_name(
    tmp_path: Path, actions: Actions, text: str, message: str
) -> None:
    path = tmp_path / "log.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=rf"log\.csv{message}"):
        read_log(path, actions)


def test_a_log_that_does_not_exist_yet_is_empty(tmp_path: Path, actions: Actions) -> None:
    assert read_log(tmp_path / "log.csv", actions) == []
    (tmp_path / "log.csv").write_text("phase,action,reward\n")
    assert read_log(tmp_path / "log.csv", actions) == []


STRATEGIES = [
    SPEED(exploration="uniform"),
    SPEED(exploration="uniform", exploration_rounds="tuned", covariance="psd"),
    PerArm(exploration_rounds=12),
    OnPolicy(estimator="ols"),
]


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda s: s.name)
def test_a_growing_log_ends_where_the_trial_ends(
    tmp_path: Path, actions: Actions, strategy: Strategy
) -> None:
    """Row by row, restarted before each: the same estimate as in one go, and never an error."""
    bandit = LinearBandit(actions.features, [1.0, 2.0], Sigma=np.diag([0.5, 2.0]))
    rng, path, lines = np.random.default_rng(1), tmp_path / "log.csv", ["phase,action,reward"]

    def now() -> Progress:
        path.write_text("\n".join(lines) + "\n")
        trial = strategy.begin(actions.features, actions.policy, 60, rng=5)
        return advance(trial, read_log(path, actions), actions.names)

    phases = []
    while True:
        progress = now()
        if progress.estimate is not None:
            break
        missing = np.flatnonzero(progress.asked - progress.seen)
        action = int(rng.choice(missing))
        reward = float(bandit.pull_each(np.array([action]), rng)[0])
        lines.append(f"{progress.phase},{actions.names[action]},{reward!r}")
        phases.append((progress.phase, action, reward))
    other = strategy.begin(actions.features, actions.policy, 60, rng=5)
    phase = 1
    while not other.committed:
        other.next_counts(logged(phases, phase))
        phase += 1
    expected = other.estimate(logged(phases, phase))
    assert float(progress.estimate.value) == pytest.approx(float(expected.value))
    assert float(progress.estimate.standard_error) == pytest.approx(float(expected.standard_error))


def logged(phases: list[tuple[int, int, float]], phase: int) -> Rewards:
    chosen = [(action, reward) for k, action, reward in phases if k == phase]
    return Rewards.from_log([a for a, _ in chosen], [r for _, r in chosen], 3)


def test_a_log_may_have_as_many_phases_as_rounds(tmp_path: Path) -> None:
    """As of a strategy with a phase for each round; in any order, and taken up at any place."""
    actions = Actions(("red", "blue"), np.eye(2), np.array([0.7, 0.3]), ("x", "y"))
    bandit = LinearBandit(actions.features, [1.0, 2.0], Sigma=np.diag([0.5, 2.0]))
    strategy, path = BookedOptimism(regrowth=0.0), tmp_path / "log.csv"

    def fresh() -> Trial:
        return strategy.begin(actions.features, actions.policy, 1500, rng=5)

    trial, rng, phases = fresh(), np.random.default_rng(1), []

    def pull(counts: np.ndarray) -> Rewards:
        drawn = np.repeat(np.arange(2), counts)
        rewards = bandit.pull_each(drawn, rng)
        phases.append([(actions.names[a], float(r)) for a, r in zip(drawn, rewards, strict=True)])
        return Rewards.from_log(drawn, rewards, 2)

    expected = play(trial, pull)
    assert len(phases) > PHASES
    for last in (len(phases), len(phases) - 1, PHASES + 1):
        rows = [
            f"{k},{name},{reward!r}\n"
            for k, told in enumerate(phases[:last], 1)
            for name, reward in told
        ]
        np.random.default_rng(2).shuffle(rows)
        path.write_text("phase,action,reward\n" + "".join(rows))
        progress = advance(fresh(), read_log(path, actions), actions.names)
        assert progress.phase == min(last + 1, len(phases))
        assert (progress.estimate is None) == (last < len(phases))
        if progress.estimate is not None:
            assert float(progress.estimate.value) == pytest.approx(float(expected.value))
    most = len(rows) + 1
    path.write_text("phase,action,reward\n" + "".join(rows) + f"{most + 1},red,1\n")
    with pytest.raises(ValueError, match=rf"phase holds {most + 1}; .* {most}: write"):
        read_log(path, actions)


def test_a_log_with_more_than_was_asked_for_is_refused(actions: Actions) -> None:
    trial = OnPolicy(estimator="ols").begin(actions.features, actions.policy, 4, rng=1)
    many = Rewards.from_log([0] * 9, [1.0] * 9, 3)
    with pytest.raises(
        ValueError,
        match=r"phase 1 requires .* 'red', and the log holds 9; check that table, budget",
    ):
        advance(trial, [many], NAMES)


def test_a_log_that_runs_ahead_is_refused(actions: Actions) -> None:
    trial = SPEED().begin(actions.features, actions.policy, 40, rng=1)
    one = Rewards.from_log([0], [1.0], 3)
    with pytest.raises(ValueError, match="rewards of phase 2 before phase 1 is complete"):
        advance(trial, [Rewards.none((3,)), one], NAMES)


def test_a_log_beyond_the_end_is_refused(actions: Actions) -> None:
    trial = OnPolicy(estimator="ols").begin(actions.features, actions.policy, 4, rng=1)
    counts = trial.first_counts()
    rows = np.repeat(np.arange(3), counts)
    told = Rewards.from_log(rows, np.ones(4), 3)
    with pytest.raises(ValueError, match="ends with phase 1"):
        advance(trial, [told, Rewards.none((3,))], NAMES)


def test_a_surplus_of_one_action_is_refused_where_another_is_missing(actions: Actions) -> None:
    trial = OnPolicy(estimator="ols", sampling="balanced").begin(
        actions.features, actions.policy, 10, rng=1
    )
    assert trial.first_counts().tolist() == [5, 3, 2]
    log = Rewards.from_log([0] * 4 + [1] * 3 + [2] * 3, [1.0] * 10, 3)
    with pytest.raises(ValueError, match=r"phase 1 requires 2 rounds of 'grey', .* holds 3"):
        advance(trial, [log], NAMES)


def test_batches_of_trials_and_of_rewards_are_refused(actions: Actions) -> None:
    batch = SPEED().begin(actions.features, actions.policy, 40, rng=1, replications=3)
    with pytest.raises(ValueError, match=r"^trial: must be a single trial; got 3 replications"):
        advance(batch, [], NAMES)
    trial = SPEED().begin(actions.features, actions.policy, 40, rng=1)
    with pytest.raises(ValueError, match=r"^log: must hold the rewards of one trial; got"):
        advance(trial, [Rewards.none((2, 3))], NAMES)


@pytest.mark.parametrize(
    "form",
    [list, np.array, lambda n: np.array(n, dtype=object), pd.Index, pd.Series, iter, dict.fromkeys],
    ids=["list", "texts", "objects", "index", "column", "iterator", "dictionary"],
)
def test_names_may_come_in_any_collection(form, actions: Actions) -> None:
    trial = SPEED().begin(actions.features, actions.policy, 40, rng=1)
    asked = trial.first_counts()
    assert advance(trial, [], form(NAMES)).asked.tolist() == asked.tolist()
    surplus = Rewards.from_log([2] * 41, [1.0] * 41, 3)
    with pytest.raises(ValueError, match=f"requires {asked[2]} rounds of 'grey', and the log"):
        advance(trial, [surplus], form(NAMES))


@pytest.mark.parametrize(
    ("names", "error", "message"),
    [
        (NAMES[:2], ValueError, "must be a list of 3 names, one per action; got 2"),
        ((*NAMES, "green"), ValueError, "must be a list of 3 names, one per action; got 4"),
        (("red", "blue", "red"), ValueError, "names must differ; got 'red' twice"),
        (("red", "blue", 3), TypeError, "every name must be a text; got 3"),
        (np.arange(3), TypeError, "every name must be a text; got "),
        (pd.Series(["red", None, "grey"], dtype=object), TypeError, "every name .* got None"),
        ("red", TypeError, "must be a list of names; got 'red'"),
        (b"red", TypeError, "must be a list of names; got b'red'"),
        (None, TypeError, "must be a list of names; got None"),
        (np.array("red"), TypeError, "must be a list of names; got "),
        (pd.DataFrame(columns=list(NAMES)), TypeError, "must be a list of names; got "),
        (set(NAMES), TypeError, "must be a list, since the order matters"),
    ],
)
def test_names_that_are_none_are_refused(names, error, message, actions: Actions) -> None:
    trial = SPEED().begin(actions.features, actions.policy, 40, rng=1)
    with pytest.raises(error, match=f"^names: {message}"):
        advance(trial, [], names)


# The page


def run_page(folder: Path, **parameters: object) -> str:
    """Run the page with a table and a log of one's own; return all texts that it shows."""
    output = folder / "run.ipynb"
    given = {
        "actions_file": str(folder / "actions.csv"),
        "log_file": str(folder / "log.csv"),
        "rounds": 60,
        # Digits: papermill's own command line makes them a number.
        "exploration_rounds": 7,
        "repetitions": 100,
        "seed": 5,
    }
    finished = execute(Job("page", PAGE, output, parameters={**given, **parameters}))
    if finished.failure:
        return finished.failure
    shown = [o for cell in code_cells(read_notebook(output)) for o in cell.outputs]
    data = [o.data for o in shown if "data" in o]
    return "\n".join(str(d.get("text/markdown", d.get("text/plain", ""))) for d in data)


def live_log(actions: Actions) -> tuple[list[str], float]:
    """Play the strategy of the page by hand; return the log's rows and the estimate."""
    bandit = LinearBandit(actions.features, [1.0, 2.0], Sigma=np.diag([0.5, 2.0]))
    strategy = SPEED(
        exploration="identifiable",
        exploration_sampling="balanced",
        covariance="psd",
        rounding="efficient",
    )
    trial = strategy.begin(actions.features, actions.policy, 60, rng=5)
    rng, rows, counts = np.random.default_rng(1), [], trial.first_counts()
    for phase in (1, 2):
        chosen = np.repeat(np.arange(3), counts)
        drawn = bandit.pull_each(chosen, rng)
        rows += [
            f"{phase},{actions.names[a]},{float(r)!r}" for a, r in zip(chosen, drawn, strict=True)
        ]
        rewards = Rewards.from_log(chosen, drawn, 3)
        if not trial.committed:
            counts = trial.next_counts(rewards)
    return rows, float(trial.estimate(rewards).value)


@pytest.mark.slow
def test_the_page_follows_a_growing_log(tmp_path: Path) -> None:
    (tmp_path / "actions.csv").write_text(ACTIONS)
    rows, value = live_log(read_actions(tmp_path / "actions.csv"))
    first = run_page(tmp_path)
    assert "**Phase 1: 7 rounds still to be played.**" in first
    assert "There is no file" in first and "still to try" in first and "Not yet" in first
    (tmp_path / "log.csv").write_text("\n".join(["phase,action,reward", *rows]) + "\n")
    last = run_page(tmp_path)
    assert "All 60 rounds are in the log" in last
    assert f"value of the target policy {value:>20.4g}".split() in [
        line.split() for line in last.splitlines()
    ]
    assert "on-policy, weighted least squares" in last and "nan" not in last
    assert "true value" not in last


@pytest.mark.slow
def test_the_page_names_what_does_not_fit(tmp_path: Path) -> None:
    (tmp_path / "actions.csv").write_text(ACTIONS)
    failure = run_page(tmp_path, log_file="", noise=[0.2, 0.2, 2.0])
    assert "noise: give 2 numbers" in failure and "got [0.2, 0.2, 2.0]" in failure
