"""Exploitability of a blueprint by training time, compared with the trainer of Slumbot's open code of 2019, if it is built.

Both train without buckets, with rows up to suits, on one core. Slumbot's number of iterations is given; Treeplex trains for the
CPU time that they took. Each is judged by an exact best response in its own game.

``SLUMBOT`` is the folder of the source (github.com/ericgjackson/slumbot2019, C++, MIT), built with ``make``.

    SLUMBOT=./slumbot2019 python bench/run.py blueprint_training
"""

import argparse
import os
import re
import resource
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import numpy as np

import treeplex as tp
from bench.common import record
from bench.common.benchmark import benchmark
from treeplex.holdem.blueprint.buckets import BucketPolicy
from treeplex.holdem.blueprint.policy import HoldemBlueprint, shares_of
from treeplex.holdem.blueprint.solver import BlueprintSolver
from treeplex.holdem.buckets.canonical_rows import CanonicalRows
from treeplex.holdem.policies.by_hand import written
from treeplex.holdem.street_search.exact import compiled_whole, judge_whole
from treeplex.holdem.whole.public import PublicHoldem

GAME = "holdem(ranks=6,suits=4,hole=2,deal=[0;3],stack=100,sizes=[100%;a])"
FILES = {
    "game": "GameName six\nMaxStreet 1\nNumRanks 6\nNumSuits 4\nNumHoleCards 2\nNumFlopCards 3\nAnte 0\nSmallBlind 1\n"
    "BigBlind 2\nFirstToAct 1,0\nNumPlayers 2\n",
    "bets": "BettingAbstractionName pot\nLimit false\nStackSize 100\nAsymmetric false\nMinBet 2\nMaxBets 6,6\n"
    f"AlwaysAllIn true\nBetSizes {'|'.join([';'.join(['1.0'] * 6)] * 2)}\n",
    "cards": "CardAbstractionName null\nBucketings null,null\n",
    "cfr": "CFRConfigName tcfr\nAlgorithm tcfr\nActiveMod 40\nActiveConditions 0,3:38,39;"
    f"1,3:{','.join(map(str, range(31, 38)))};2,3:{','.join(map(str, range(1, 31)))}\nCloseThreshold 2000\n",
}
"""Slumbot's files for this game and the settings of its ``tcfr_params``. Its betting tree has 96 decisions, ours 80."""
ITERATIONS = (1_000_000, 4_000_000, 16_000_000, 40_000_000)
QUICK = (10_000,)
SECONDS = (1.0, 4.0, 16.0, 40.0)
"""CPU seconds of training if Slumbot is missing."""
DEALS, STEP, DISCOUNT_EVERY = 1024, 10, 60
"""Deals on each board, which takes as long as 40 of them; boards between looks at the clock, and between discounts."""
MBB = 500.0


def slumbot(folder: Path, count: int) -> tuple[float, float]:
    """CPU seconds that ``count`` iterations take, and exploitability afterwards in mbb/hand."""
    with TemporaryDirectory() as work:
        for name, text in FILES.items():
            Path(work, name).write_text(text)

        def program(name: str, *arguments: str) -> tuple[str, float]:
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            command = [str((folder / "bin" / name).resolve()), *arguments]
            shown = subprocess.run(command, cwd=work, capture_output=True, text=True, check=True).stdout
            return shown, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before

        program("build_hand_value_tree", "game")
        program("build_betting_tree", "game", "bets")
        for street in ("0", "1"):
            program("build_null_buckets", "game", street)
        _, seconds = program("run_tcfr", "game", "cards", "bets", "cfr", "1", "0", "1", str(count), "1")
        judged, _ = program("run_rgbr", "game", "cards", "bets", "cfr", "1", "0", "avg", "raw")
    found = seconds, float(re.search(r"Exploitability: ([\d.]+)", judged)[1])  # type: ignore[index]
    print("Slumbot", count, *found, flush=True)
    return found


def ours(seconds: list[float]) -> list[tuple[int, float]]:
    """Boards and exploitability in mbb/hand after each number of CPU seconds."""
    game = tp.load(GAME)
    public = game.public
    assert isinstance(public, PublicHoldem)
    rows, compiled, found, spent = CanonicalRows.of_format(public.rules.format), compiled_whole(public), [], 0.0
    BlueprintSolver(public.rules, rows).run(1)  # compile or load the kernels before timing
    solver = BlueprintSolver(public.rules, rows, deals=DEALS, discount_every=DISCOUNT_EVERY)
    for limit in seconds:
        while spent < limit:
            began = process_time()
            solver.run(STEP)
            spent += process_time() - began
        shares = shares_of(solver.tables.average, solver.nodes, rows.counts)
        policy = BucketPolicy.whole(HoldemBlueprint(game.enumerable_rules(), rows, solver.nodes, shares, {}), compiled)
        judged = judge_whole(compiled, written(policy, compiled).astype(np.float64))
        found.append((solver.iteration, MBB * judged.exploitability))
        print("Treeplex", limit, *found[-1], flush=True)
    return found


def tables(result: dict[str, Any]) -> str:
    """The result as markdown."""
    rows = []
    for each in result["points"]:
        rival = ["", "", ""]
        if "slumbot" in each:
            ratio = each["slumbot"] / each["treeplex"]
            rival = [f"{each['iterations']:,}", f"{each['slumbot']:,.0f}", f"{ratio:.2f}"]
        rows.append([f"{each['seconds']:.1f}", f"{each['boards']:,}", f"{each['treeplex']:,.0f}", *rival])
    header = ["CPU s", "boards", "Treeplex, mbb/hand", "Slumbot's iterations", "Slumbot, mbb/hand", "ratio"]
    return f"`{GAME}`, exploitability:\n\n" + record.markdown_table(header, rows, left=0)


@benchmark(
    title="Blueprint training compared with Slumbot's trainer",
    place=15,
    minutes=4,
    about="Both train without buckets, with rows up to suits, on one core, for the same CPU time; exploitability is exact. "
    "Slumbot's tree has 96 decisions, Treeplex's 80; both offer bets of the pot and all-in.",
)
def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Both trainers at the same times."""
    counts, folder = QUICK if options.quick else ITERATIONS, os.environ.get("SLUMBOT")
    rival = [slumbot(Path(folder), count) for count in counts] if folder else []
    seconds = [spent for spent, _ in rival] or list(SECONDS[: len(counts)])
    points: list[dict[str, Any]] = [
        {"seconds": spent, "boards": boards, "treeplex": judged}
        for spent, (boards, judged) in zip(seconds, ours(seconds), strict=True)
    ]
    for point, count, (_, judged) in zip(points, counts, rival, strict=False):
        point |= {"iterations": count, "slumbot": judged}
    return {"points": points}
