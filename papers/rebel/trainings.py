"""Training runs of ReBeL on Liar's Dice with their evaluations, for ``table2.py`` and ``ideas.py``.

``python papers/run.py rebel/trainings [--jobs 2] [KIND ...]`` runs those without stored results, each in a separate process, in
``runs/papers/rebel``, where interrupted training runs and evaluations are resumed. All of them take hours.
"""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

from papers.common.results import PAPERS, ROOT, provenance, store_run, stored
from papers.common.study import study
from treeplex import train as train_by
from treeplex.base.storage.files import write_atomically
from treeplex.base.workers.executor import in_threads
from treeplex.learn import RebelSettings, judge_rebel
from treeplex.learn.rebel.settings import PAPER
from treeplex.learn.rebel.training.job import LATE, NET, REBEL, is_rebel_folder
from treeplex.results import JobFolder

NAME = "rebel/trainings"
FOLDERS = ROOT / "runs" / "papers" / "rebel"
GAMES = {
    "1x4f": "liars_dice(dice=1,faces=4)",
    "1x5f": "liars_dice(dice=1,faces=5)",
    "1x6f": "liars_dice(dice=1,faces=6)",
    "2x3f": "liars_dice(dice=2,faces=3)",
}
SEEDS = 5
MOST_POINTS = 60
"""Fields of a learning curve in a record."""


@dataclass(frozen=True)
class Plan:
    """A training run and its evaluation; everything that determines its results.

    Attributes:
        kind: its kind.
        game: name of the game, as in the paper.
        changes: to the recipe.
        seed: of the training.
        playthroughs, iterations: N and T of its evaluations.
        late: whether the networks at 96% and 98% of the training run are evaluated as well.
        method: of searches in evaluation; None for that of training.
    """

    kind: str
    game: str
    changes: Mapping[str, Any]
    seed: int
    playthroughs: int = 256
    iterations: int = 256
    late: bool = True
    method: str | None = None

    @property
    def name(self) -> str:
        """Name of its record and folder."""
        return f"{self.kind}-{self.game}-{self.seed}"

    @property
    def settings(self) -> RebelSettings:
        """Settings of the training run."""
        return RebelSettings().changed({**self.changes, "seed": self.seed})


@dataclass(frozen=True)
class Kind:
    """Training runs in the table.

    Attributes:
        changes: to the recipe.
        solves: subgames by game.
        playthroughs, iterations: N and T of their evaluations.
        others: N and T on some games instead.
        seeds: training runs per game.
    """

    changes: Mapping[str, Any]
    solves: Mapping[str, int]
    playthroughs: int = 256
    iterations: int = 256
    others: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    seeds: int = SEEDS


SOLVES = {"1x4f": 60_000, "1x5f": 120_000, "1x6f": 240_000, "2x3f": 240_000}
FEWER = {"1x4f": 30_000, "1x5f": 60_000, "1x6f": 60_000, "2x3f": 60_000}
"""Settings with fictitious play, which takes eight times as many iterations per subgame."""
LARGER = {game: solves for game, solves in SOLVES.items() if game != "1x4f"}
"""Games on which endgames of 32 nodes do not halve the published exploitability."""
FP: Mapping[str, Any] = {"method": "linear-fp", "iterations": 512}
LIKE_PAPER: Mapping[str, Any] = {key: value for key, value in asdict(PAPER).items() if key not in ("solves", "seed")}
KINDS: Mapping[str, Kind] = {
    "paper": Kind(LIKE_PAPER, {"1x4f": 60_000}, 1024, PAPER.iterations),
    "paper_whole": Kind(
        {**LIKE_PAPER, "streams": 2}, dict.fromkeys(("1x4f", "1x5f"), PAPER.solves), 1024, PAPER.iterations, seeds=1
    ),
    "linear": Kind({"method": "lcfr"}, SOLVES, 256, PAPER.iterations),
    "cfr": Kind({}, SOLVES),
    "endgames": Kind({"endgame": 32}, SOLVES, others={"1x4f": (1024, 512)}),
    "fp": Kind(FP, FEWER, playthroughs=128, iterations=512),
    "fp_endgames": Kind({**FP, "endgame": 32}, FEWER, playthroughs=128, iterations=512),
    "fp_long": Kind({**FP, "endgame": 32, "iterations": 2048}, {"1x5f": 60_000}, iterations=2048),
    "large_endgames": Kind({"endgame": 128}, LARGER, 1024, 512),
    "large_endgames_long": Kind({"endgame": 128, "iterations": 256}, {"1x6f": 180_000, "2x3f": 180_000}, 1024, 512),
    "fp_large_endgames": Kind({**FP, "endgame": 128}, {"1x5f": 60_000}, 1024, 512),
}
BUDGETS = (7_500, 15_000, 30_000, 60_000)
"""Subgames of the recipe's training runs on the smallest game, for curves of exploitability against time."""
IDEAS: Mapping[str, tuple[float, Mapping[str, Any]]] = {
    "recipe": (1.0, {}),
    "endgames": (1.0, {"endgame": 32}),
    "narrow": (1.0, {"width": 64}),
    "wide": (0.5, {"width": 256}),
    "long": (0.25, {"iterations": 256}),
    "linear": (1.0, {"method": "lcfr"}),
    "little_reuse": (1.0, {"reuse": 8.0}),
    "all_rows": (1.0, {"fresh": 1.0}),
    "constant_rate": (1.0, {"last_rate": 1e-3}),
    "paper": (1.0, LIKE_PAPER),
}
"""The recipe with one idea changed at a time, and the paper's settings: the share of the budget's subgames that takes about as
long as the recipe (the paper's settings take longer), and the changes.
"""
CURVE_SEEDS = 3


def tabulated() -> Iterator[Plan]:
    """Training runs for the table, seed after seed."""
    for seed in range(SEEDS):
        for name, kind in KINDS.items():
            for game, solves in kind.solves.items() if seed < kind.seeds else ():
                changes = {**kind.changes, "solves": solves}
                yield Plan(name, game, changes, seed, *kind.others.get(game, (kind.playthroughs, kind.iterations)))


def drawn() -> Iterator[Plan]:
    """Training runs for the curves."""
    for seed in range(CURVE_SEEDS):
        for name, (share, changes) in IDEAS.items():
            for budget in BUDGETS:
                wanted = {**changes, "solves": round(share * budget)}
                yield Plan(f"{name}_{budget}", "1x4f", wanted, seed, 256, PAPER.iterations, late=False, method=PAPER.method)


def record(plan: Plan) -> dict[str, Any]:
    """Train, evaluate and report; finished parts are not repeated."""
    folder = FOLDERS / plan.name
    train(GAMES[plan.game], plan.settings, folder)
    names = [*LATE.values(), NET] if plan.late else [NET]
    records = JobFolder(REBEL, folder).records()
    shown = records[:: max(1, len(records) // MOST_POINTS)]
    return {
        "plan": said(plan),
        "cpu_seconds": records[-1].cpu_seconds,
        "solved": records[-1].done,
        "curve": [[each.cpu_seconds, each.done, each.loss] for each in shown],
        "judged": [judgement(plan, folder, name) for name in names],
    }


def said(plan: Plan) -> dict[str, Any]:
    """A plan as stored in its record."""
    return {**asdict(plan), "settings": asdict(plan.settings)}


def train(game: str, settings: RebelSettings, folder: Path) -> None:
    """Train, or resume a training run with the same settings; a finished one is unchanged, with its evaluations."""
    asked = replace(settings, streams=settings.streams or 1)
    if not is_rebel_folder(folder) or RebelSettings.from_json(JobFolder(REBEL, folder).about()["settings"], folder) != asked:
        train_by(game, settings=asked, out=folder, workers=asked.streams, judge_every=0, force=True)
    elif JobFolder(REBEL, folder).about()["status"] != "finished":
        train_by(resume=folder, workers=asked.streams, judge_every=0)


def judgement(plan: Plan, folder: Path, name: str) -> dict[str, Any]:
    """Evaluation of one network, stored beside it, since the run's record is written only when all are done."""
    method, count, iterations = plan.method or plan.settings.method, plan.playthroughs, plan.iterations
    kept = folder / f"{Path(name).stem}-{method}-{count}-{iterations}.json"
    if not kept.exists() or kept.stat().st_mtime < (folder / name).stat().st_mtime:
        found = judge_rebel(
            GAMES[plan.game],
            folder / name,
            playthroughs=count,
            iterations=iterations,
            search={"method": method},
            workers=1,
        ).to_json()
        wanted = ("exploitability", "playthroughs", "iterations", "method", "depth", "endgame", "seconds", "halves", "seed")
        write_atomically(kept, json.dumps({key: found[key] for key in wanted} | {"trained": found["trained"]}).encode())
    result: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8"))
    return result


@cache
def records() -> dict[str, dict[str, Any]]:
    """Records of all finished training runs by name."""
    return stored(NAME)


def record_of(plan: Plan) -> dict[str, Any] | None:
    """A finished training run's record, if its plan is this one."""
    found = records().get(plan.name)
    if found is None:
        return None
    then = {"method": None, **found["plan"]}  # as of records that do not say
    return found if is_plan(then, said(plan)) else None


def is_plan(then: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Whether a record's plan is this one; settings added later count with their defaults."""
    complete = {**then, "settings": asdict(RebelSettings().changed(then["settings"]))}
    return complete | {"changes": None} == json.loads(json.dumps(now)) | {"changes": None}


@study(title="ReBeL on Liar's Dice: training runs", place=None, minutes=1725, needs=("torch",))
def reproduce(*wanted: str, jobs: int = 2, one: bool = False) -> None:
    chosen = [
        plan
        for plan in (*tabulated(), *drawn())
        if not wanted or any(f"{plan.name}-".startswith(f"{name}-") for name in wanted)
    ]
    if one:
        record(chosen[0])
        return
    missing = [plan for plan in chosen if record_of(plan) is None]
    print(f"{len(missing)} of {len(chosen)} trainings to do", flush=True)
    writing = Lock()

    def make(plan: Plan) -> None:
        """Train in another process, then read the results from its folder."""
        command = [sys.executable, str(PAPERS / "run.py"), NAME, "--one", plan.name]
        if subprocess.run(command, check=False).returncode:
            return
        with writing:
            found = record(plan)
            store_run(NAME, [plan.name], found, provenance(plan.settings.streams or 1))
        print(
            plan.name,
            f"{found['cpu_seconds']:.0f} s",
            [f"{each['exploitability']:.4f}" for each in found["judged"]],
            flush=True,
        )

    list(in_threads(jobs, make, missing))
