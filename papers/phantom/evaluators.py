"""Exact exploitability by exp-a-spiel, the evaluator of Rudolph et al. 2025, and by Treeplex: numbers, time and memory.

Without options: dark hex with the first stones in opposite corners, for the uniform and a random policy. Names of full boards
(``dark_hex``, ``phantom_ttt``) as options add these, at more than an hour of CPU time each. Each evaluator runs in a separate
process.
"""

import multiprocessing
import os
import resource
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

import treeplex as tp
from papers.common.kept import kept, peek
from papers.common.results import Result, Table
from papers.common.study import study
from papers.phantom.whole_boards import KNOWN
from treeplex.base.arrays import Floats
from treeplex.games import NumbaRules
from treeplex.games.builtin.phantom import HIDDEN, MARKS, DarkHex, PhantomState
from treeplex.games.integers.phantom import phantom_rules
from treeplex.games.numba_rules import PlainRules

CORNER = "corner"
BOARDS = {CORNER: "CornerDhTraverser", "dark_hex": "DhTraverser", "phantom_ttt": "PtttTraverser"}
"""Boards, and their names in exp-a-spiel."""
OPENING = (0, 0, 8, 8)
"""Opening of the corner game: player 0 takes cell 0, player 1 fails there and takes cell 8, where player 0 fails."""
LATER = (1, 1, 2, 2)
"""Opening with a small remaining game, for compiling kernels quickly."""
CELLS, THREADS = 9, 2
MIXER = np.uint64(0x9E3779B97F4A7C15)


class OpenedHex(DarkHex):
    """Dark hex after the first tries.

    Args:
        opening: the tried cells.
        rules: of the whole board; games that share them share compiled kernels.
    """

    def __init__(self, opening: Sequence[int], rules: NumbaRules | None = None) -> None:
        super().__init__(3, 3, abrupt=False, observation=HIDDEN, symmetric=False)
        self.opening, self.spec = tuple(opening), ""
        self.whole = rules or phantom_rules(self)

    def new_initial_state(self) -> PhantomState:
        state = PhantomState(self)
        for cell in self.opening:
            state = state.child(cell)
        return state

    def numba_rules(self) -> NumbaRules:
        start, plain = self.whole.start, PlainRules(self.whole)
        for cell in self.opening:
            start = plain.play(start, cell)
        return replace(self.whole, start=start)


def timed(action: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """Result of a call, its CPU seconds over all threads, and its wall-clock seconds."""
    busy, began = time.process_time(), time.perf_counter()
    found = action()
    return found, {"cpu": time.process_time() - busy, "wall": time.perf_counter() - began}


def peak() -> int:
    """Peak memory of this process, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def weights_at(player: int, tries: str) -> Floats:
    """The random policy's weights of cells, from 0.1 to 1, float64 [9]; ``4*0.`` are a stone on 4 and a failure on 0."""
    seed = np.array([player + 1], np.uint64)
    for letter in tries.encode():
        seed = (seed ^ np.uint64(letter)) * MIXER
        seed ^= seed >> np.uint64(29)
    bits = (seed + np.arange(CELLS, dtype=np.uint64)) * MIXER
    bits = (bits ^ (bits >> np.uint64(31))) * MIXER
    weights: Floats = 0.1 + 0.9 * (bits >> np.uint64(11)) / 2.0**53
    return weights


def by_exp_a_spiel(board: str) -> dict[str, Any]:
    """Results and cost of the module ``eas``."""
    os.environ["OMP_NUM_THREADS"] = str(THREADS)
    import eas

    traverser, building = timed(getattr(eas, BOARDS[board]))
    policies = {"uniform": traverser.construct_uniform_strategies()}
    if board == CORNER:
        policies["random"] = tuple(random_rows(traverser, player, each) for player, each in enumerate(policies["uniform"]))
    judged = {}
    for name, strategies in policies.items():
        found, spent = timed(partial(traverser.ev_and_exploitability, *strategies))
        judged[name] = {"value": found.ev0, "gains": [found.expl[1], found.expl[0]], **spent}
    infosets = [traverser.NUM_INFOS_PL0, traverser.NUM_INFOS_PL1]
    return {"infosets": infosets, "building": building, "judged": judged, "peak": peak()}


def random_rows(traverser: Any, player: int, uniform: Floats) -> Floats:
    """The random policy as rows of exp-a-spiel, whose infostate strings start with the corner."""
    tries = [traverser.infoset_desc(player, row)[2:] for row in range(len(uniform))]
    rows: Floats = np.array([weights_at(player, each) for each in tries]) * (uniform > 0.0)
    return rows / rows.sum(axis=1, keepdims=True)


def by_treeplex(board: str) -> dict[str, Any]:
    """Results and cost of Treeplex, with kernels compiled before."""
    corner = OpenedHex(OPENING)
    small = OpenedHex((*OPENING, *LATER), corner.whole) if board == CORNER else "dark_hex(board_size=2)"
    stored = False if board == CORNER else None
    tp.judge(tp.compile(small, stored=stored), tp.Policy.uniform(tp.compile(small, stored=stored)))
    game, building = timed(lambda: tp.compile(corner if board == CORNER else board, stored=stored))
    policies = {"uniform": tp.Policy.uniform(game)}
    if board == CORNER:
        policies["random"] = random_policy(game)
    judged = {}
    for name, policy in policies.items():
        found, spent = timed(partial(tp.judge, game, policy))
        judged[name] = {"value": found.value[0], "gains": list(found.gains), **spent}
    numbers = {"histories": game.size.histories, "infosets": list(game.infosets)}
    return {**numbers, "building": building, "judged": judged, "peak": peak()}


def random_policy(game: Any) -> tp.Policy:
    """The random policy on the corner game."""
    found = np.ones(len(tp.Policy.uniform(game).probabilities))
    for infoset, text in enumerate(game.infostates):
        player = game.player_of(infoset)
        *board, tried = text.split("\n")
        marks = "".join(board)
        cells = [int(each.partition(",")[2]) for each in tried.split()][2:]
        weights = weights_at(player, "".join(f"{cell}{'*' if marks[cell] == MARKS[player] else '.'}" for cell in cells))
        sequences = game.sequences_at(infoset)
        own = weights[game.action_ids[sequences]]
        found[sequences] = own / own.sum()
    return tp.Policy(game, found)


EVALUATORS = {"exp-a-spiel": by_exp_a_spiel, "treeplex": by_treeplex}


def measured(evaluator: str, board: str) -> Any:
    """Results of one evaluator on one board, in a separate process."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(EVALUATORS[evaluator], board).result()


def key(evaluator: str, board: str) -> dict[str, Any]:
    """Cache key of a run."""
    return {"study": "evaluators", "evaluator": evaluator, "board": board, "at": 1}


def whole_boards(corner: dict[str, Any]) -> str:
    """Projected cost of a full board with exp-a-spiel at the corner game's rate, as a sentence."""
    theirs, histories = corner["exp-a-spiel"], corner["treeplex"]["histories"]
    rates = [1e9 * each["cpu"] / histories for each in (theirs["building"], theirs["judged"]["uniform"])]
    minutes = [KNOWN["dark_hex"]["histories"] * rate / 6e10 for rate in rates]
    return (
        f"exp-a-spiel takes {rates[0]:.0f} and {rates[1]:.0f} ns per history for construction and evaluation. At that "
        f"pace a whole board with {KNOWN['dark_hex']['histories']:,} histories would take {minutes[0]:.0f} and "
        f"{minutes[1]:.0f} CPU minutes."
    )


@study(title="Exact evaluators of phantom games", place=4, minutes=3, needs=("eas",))
def reproduce(*options: str) -> Result:
    unknown = set(options) - set(BOARDS)
    if unknown:
        raise SystemExit(f"no board {', '.join(sorted(unknown))}; there are {', '.join(BOARDS)}")
    for board in options or (CORNER,):
        for evaluator in EVALUATORS:
            found = kept(key(evaluator, board), partial(measured, evaluator, board))
            print(board, evaluator, found, flush=True)
    numbers = {
        board: each
        for board in BOARDS
        if all((each := {evaluator: peek(key(evaluator, board)) for evaluator in EVALUATORS}).values())
    }
    rows, widest = [], 0.0
    for board, each in numbers.items():
        for policy, ours in each["treeplex"]["judged"].items():
            theirs = each["exp-a-spiel"]["judged"][policy]
            pairs = zip([theirs["value"], *theirs["gains"]], [ours["value"], *ours["gains"]], strict=True)
            widest = max(widest, *(abs(one - other) for one, other in pairs))
            for evaluator, one in (("exp-a-spiel", theirs), ("treeplex", ours)):
                whole = each[evaluator]
                rows.append(
                    [
                        f"`{board}`",
                        policy,
                        evaluator,
                        f"{sum(whole['infosets']):,}",
                        f"{one['value']:.9f}",
                        f"{one['value'] + one['gains'][0]:.9f}",
                        f"{one['gains'][1] - one['value']:.9f}",
                        f"{sum(one['gains']) / 2:.9f}",
                        f"{whole['building']['cpu']:.1f} s",
                        f"{one['cpu']:.2f} s",
                        f"{whole['peak'] / 1e9:.2f} GB",
                    ]
                )
    return Result(
        source="Rudolph et al. 2025, Reevaluating Policy Gradient Methods for Imperfect-Information Games (arXiv 2502.08938), "
        "and their program exp-a-spiel",
        findings=[f"Values and gains of the two evaluators differ by at most {widest:.0e}."],
        tables=[
            Table(
                "The two evaluators",
                [
                    "game",
                    "policy",
                    "evaluator",
                    "infosets",
                    "value",
                    "best response 0",
                    "best response 1",
                    "exploitability",
                    "building",
                    "judging",
                    "memory",
                ],
                rows,
            )
        ],
        notes=[
            f"CPU time of all threads; exp-a-spiel ran {THREADS}, and the machine was busy with other jobs. "
            f"Treeplex's kernels were compiled before. Memory is that of the whole process. `{CORNER}` is dark hex "
            f"after each player took a corner and saw the other's, {numbers[CORNER]['treeplex']['histories']:,} "
            "histories, which Treeplex visits by its rules. Whole boards use timelines.",
            whole_boards(numbers[CORNER]),
        ],
        numbers=numbers,
        threads=THREADS,
    )
