"""ReBeL beyond the paper: larger Liar's Dice, trained and evaluated exactly, compared with tabular CFR at equal CPU time.

Trains in ``runs/papers/rebel``, where interrupted training runs and evaluations are resumed. Options name games (default: 2x4f
and 2x5f, in hours).
"""

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import treeplex as tp
from papers.common.results import Result, Table, provenance, published, store_run, stored
from papers.common.study import study
from papers.rebel.trainings import FOLDERS, is_plan, train
from treeplex import judge
from treeplex.learn import RebelSettings, judge_rebel
from treeplex.learn.rebel.training.job import REBEL
from treeplex.results import JobFolder
from treeplex.solvers import GameSolver
from treeplex.solvers.rules.variants import VARIANTS

NAME = "rebel/large"
TABULAR = "dcfr"


@dataclass(frozen=True)
class Large:
    """A game with its training and evaluation settings."""

    spec: str
    settings: RebelSettings
    playthroughs: int
    iterations: int


GAMES = {
    "2x4f": Large("liars_dice(dice=2,faces=4)", RebelSettings(solves=120_000, endgame=64), 64, 128),
    "2x5f": Large("liars_dice(dice=2,faces=5)", RebelSettings(solves=80_000, endgame=128), 8, 64),
}


def measure(name: str) -> None:
    """Train, evaluate, run tabular CFR for the same time, and store the record; finished parts are not repeated."""
    large, folder, before = GAMES[name], FOLDERS / f"large-{name}", stored(NAME).get(name)
    if before is not None and is_plan(before["plan"], asdict(large)):
        return
    train(large.spec, large.settings, folder)
    seconds = JobFolder(REBEL, folder).records()[-1].cpu_seconds
    found = judge_rebel(large.spec, folder, playthroughs=large.playthroughs, iterations=large.iterations, workers=1).to_json()
    record = {
        "plan": asdict(large),
        "cpu_seconds": seconds,
        "judged": {key: found[key] for key in ("exploitability", "playthroughs", "iterations", "seconds", "halves")},
        "tabular": tabular(large.spec, seconds),
    }
    store_run(NAME, [name], record, provenance())


def tabular(spec: str, seconds: float) -> dict[str, Any]:
    """CFR on the full game with the given CPU time: sizes, and exploitability over time."""
    began = time.process_time()
    game = tp.compile(spec)
    compiling = time.process_time() - began
    solver, spent, curve, step = GameSolver(game, VARIANTS[TABULAR]), 0.0, [], 1
    while spent < seconds:
        began = time.process_time()
        solver.run(step)
        spent += time.process_time() - began
        curve.append([spent, solver.iteration, judge(game, solver.average_policy()).exploitability])
        step = max(1, min(solver.iteration, int((seconds - spent) / (spent / solver.iteration))))
        if spent + spent / solver.iteration > seconds:
            break
    infosets, sequences = int(game.tree.infoset_offsets[-1]), int(game.tree.sequence_offsets[-1])
    return {"compiling": compiling, "infosets": infosets, "sequences": sequences, "curve": curve}


def row(name: str, record: Mapping[str, Any]) -> list[str]:
    """One game."""
    judged, table = record["judged"], record["tabular"]
    last = table["curve"][-1]
    reached = next((each for each in table["curve"] if each[2] <= judged["exploitability"]), None)
    return [
        name,
        f"{table['infosets']:,}",
        f"{record['plan']['settings']['solves']:,}",
        f"{record['cpu_seconds'] / 60.0:.1f}",
        f"{judged['exploitability']:.4f}",
        f"{judged['playthroughs']}, {judged['iterations']}",
        f"{last[2]:.1e}",
        "more" if reached is None else f"{reached[0]:.1f} s",
    ]


@study(title="ReBeL on larger Liar's Dice", place=4, minutes=180, needs=("torch",))
def reproduce(*games: str) -> Result:
    for name in games or GAMES:
        measure(name)
    done = stored(NAME)
    records = {name: done[name] for name in GAMES if name in done}
    endgames = " and ".join(str(record["plan"]["settings"]["endgame"]) for record in records.values())
    return Result(
        source=f"{published('rebel')['source']}, which stops at four smaller games",
        findings=[
            f"{name}: ReBeL reaches {record['judged']['exploitability']:.4f} in {record['cpu_seconds'] / 60.0:.1f} "
            f"CPU minutes, and tabular {TABULAR} on the whole game reaches {record['tabular']['curve'][-1][2]:.1e} in the same "
            "time."
            for name, record in records.items()
        ],
        tables=[
            Table(
                "Networks that search, and tabular CFR with the CPU time of their training",
                [
                    "",
                    "infosets",
                    "subgames",
                    "CPU minutes",
                    "ReBeL",
                    "N, T",
                    f"tabular {TABULAR}",
                    f"{TABULAR} was as good after",
                ],
                [row(name, record) for name, record in records.items()],
            )
        ],
        notes=[
            "Infosets are of unordered hands: rolls with the same dice are one hand.",
            f"Settings are the recipe's, with endgame solving where at most {endgames} public nodes are left. One "
            "training each.",
            "Exploitability is exact, of the policy of N playthroughs averaged by reach with T iterations per "
            "search. It is an upper bound of the agent's exploitability, and looser for smaller N.",
            "A tabular solver stores every infoset and starts from scratch in each game. ReBeL stores a network of a few "
            "hundred kilobytes. Where the whole game fits into memory, tabular CFR is the better tool.",
        ],
        numbers=records,
    )
