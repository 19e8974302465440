"""PPO and MMD on phantom tic-tac-toe and dark hex, whole boards: trained by the rules, judged exactly, beside tables."""

from typing import Any

import treeplex as tp
from papers.common.kept import FOLDER
from papers.common.results import Result, Table, stored
from papers.common.study import study
from treeplex.runs.train.kind import Training

EPISODES = {"phantom_ttt": 600_000, "dark_hex": 150_000}
LEARNERS = ("ppo", "mmd")
SETTINGS = {"batch": 256, "rate": 0.001}
MEASURED = {"phantom_ttt": 600, "dark_hex": 200}
"""Updates between two measurements."""
COLUMNS = ("game", "learner", "episodes", "exploitability", "processor time")
TABULAR = "dcfr"


def trained(learner: str, game: str) -> Training:
    """A training, resumed from its folder if there is one."""
    folder = FOLDER / "phantom-learners" / f"{learner}-{game}"
    if (folder / "run.json").is_file():
        return tp.train(resume=folder)
    settings = {**SETTINGS, "every": MEASURED[game]}
    return tp.train(game, learner, settings=settings, episodes=EPISODES[game], out=folder)


@study(title="PPO and MMD on phantom tic-tac-toe and dark hex, judged exactly", place=3, minutes=20, needs=("torch",))
def reproduce() -> Result:
    numbers: dict[str, Any] = {}
    rows, last = list[list[str]](), dict[str, dict[str, float]]()
    tables = stored("phantom/whole_boards")
    for game in EPISODES:
        for learner in LEARNERS:
            training = trained(learner, game)
            name = f"{learner} {game}"
            numbers[name] = {}
            for record in training.records:
                found = {**record.measures, "cpu_seconds": record.cpu_seconds}
                numbers[name][str(record.done)] = found
                rows.append(
                    [
                        f"`{game}`" if record is training.records[0] else "",
                        f"`{learner}`" if record is training.records[0] else "",
                        f"{found['episodes']:,.0f}",
                        f"{found['exploitability']:.4f}",
                        f"{record.cpu_seconds:.0f} s",
                    ]
                )
            last.setdefault(game, {})[learner] = training.records[-1].measures["exploitability"]
        for point in tables[game]["curves"][TABULAR]:
            rows.append(
                [
                    "",
                    f"`{TABULAR}`" if point["iterations"] == 10 else "",
                    f"{point['iterations']:.0f} iterations",
                    f"{point['exploitability']:.4f}",
                    f"{point['seconds']:.0f} s",
                ]
            )
    better = {game: min(found, key=found.__getitem__) for game, found in last.items()}
    findings = [
        f"On `{game}` `{better[game]}` ends lower: {' and '.join(f'`{name}` at {value:.3f}' for name, value in found.items())}."
        for game, found in last.items()
    ]
    findings.append(
        f"A table is far below both for less processor time: `{TABULAR}` after 200 iterations at "
        + " and ".join(f"{tables[game]['curves'][TABULAR][-1]['exploitability']:.4f} on `{game}`" for game in EPISODES)
        + "."
    )
    return Result(
        source="Rudolph et al. 2025, Reevaluating Policy Gradient Methods for Imperfect-Information Games (arXiv 2502.08938)",
        findings=findings,
        tables=[
            Table(
                "Exploitability of the last policy", ["game", "learner", "episodes", "exploitability", "processor time"], rows
            )
        ],
        notes=[
            "One seed, 0. One network of two layers of 128 units for both players, of own stones, known stones and the order "
            "of own tries; 256 episodes an update, step size 0.001 that falls to zero. Clip 0.1, entropy 0.05, and for MMD a "
            "divergence of weight 0.05 are those of the paper for phantom tic-tac-toe. The paper has three layers of 512 units "
            "each, 10 million decisions, ten seeds, and settings tuned for each game; it reports both as the best of its seven "
            "learners, about alike. Its values stand in figures only.",
            "Exploitability is exact: the network is read for all 6 million infosets in batches. Processor seconds are those "
            "of walks and gradient steps on one thread, without judging; the machine did other work meanwhile. The rows of "
            "the table are from `phantom/whole_boards`.",
        ],
        numbers=numbers,
    )
