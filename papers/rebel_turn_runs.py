"""Runs of ``rebel_turn.py``: searches on a small turn with exact values, and trainings with what their networks do."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from time import process_time
from typing import Any

import numpy as np

from curves import curve, log_points
from kept import code, kept
from rebel_turn_search import Turn, steps
from treeplex.forms.subgames.horizon import Horizon
from treeplex.learn.rebel.policy_net import GuidedLeaf
from treeplex.learn.rebel.random_beliefs import random_belief
from treeplex.learn.rebel.trainer import RebelSettings, RebelTrainer

GAME = "turn_holdem"
HORIZON = Horizon(rounds=True, endgame=9)
"""To the end of the round; after an all-in the eight rivers and the deal are nine public nodes."""
ITERATIONS, MARKS, RIVER = 128, (16, 32, 64, 128), 64
SEEDS = (0, 1)
SETTINGS = RebelSettings(
    iterations=32, depth=0, rounds=True, endgame=9, solves=6144, burn_in=512, reuse=256.0, width=128, warm=15
)
PLAIN = "lcfr-avg-modified"
"""What the paper solves with, unless it says otherwise."""
EXACT = {
    "lcfr": "CFR-D",
    "lcfr-avg": "CFR-AVG",
    "lcfr-avg-modified": "modified CFR-AVG",
    "flop": "FP",
    "lcfr-avg-simultaneous": "CFR-AVG, simultaneous updates",
    "lcfr-avg-modified-simultaneous": "modified CFR-AVG, simultaneous updates",
}
"""Methods by name; updates alternate, as in the paper, unless it says otherwise."""
LEARNT = ("lcfr", "lcfr-avg-modified", "flop")
KINDS: Mapping[str, Mapping[str, Any]] = {
    "self-play": {},
    "random beliefs": {"source": "random"},
    "self-play, policy network": {"policy_net": True},
}
DOMAINS = ("CFR-D's iterations", "averages", "random")
"""Where networks are asked: leaf beliefs of an exact search's iterations, of its averages, and random ones."""
LOOKS = (8, 16, 32, 64)
LONGEST = 1024
"""Iterations of linear CFR on the whole game."""
CODE = (
    *("rebel_turn_runs", "rebel_turn_search"),
    *("treeplex.search", "treeplex.learn", "treeplex.forms", "treeplex.engine", "treeplex.games.poker"),
)
"""What decides the numbers of a run, besides its settings; see ``kept.py``."""
Curve = Mapping[str, Sequence[float]]
Trained = Mapping[str, Sequence[Mapping[str, Any]]]
"""By kind of training, one entry a seed."""


def points() -> list[int]:
    """Iterations at which policies are judged."""
    return log_points(ITERATIONS, a_decade=8, also=MARKS)


def exact(turn: Turn, method: str) -> Curve:
    """A search with exact values at the leaves."""
    key = {"what": "rebel_turn exact", "game": turn.game.identity, "method": method, "river": RIVER, "points": points()}
    return dict(kept({**key, "code": code(*CODE)}, lambda: turn.curve(turn.rivers, method, points())))


def learnt(turn: Turn, kind: str, seed: int) -> dict[str, Any]:
    """A training, searches with its networks and their errors: curves by name, seconds, loss."""
    settings = replace(SETTINGS, seed=seed, **KINDS[kind])

    def make() -> dict[str, Any]:
        trainer, began, loss = RebelTrainer(turn.rules, settings), process_time(), []
        while not trainer.finished:
            loss.append(trainer.round().loss)
        seconds = process_time() - began
        found = {method: turn.curve(trainer.leaf, method, points()) for method in (LEARNT if kind == "self-play" else (PLAIN,))}
        if isinstance(trainer.leaf, GuidedLeaf):
            trainer.leaf.warm = 0
            found["cold"] = turn.curve(trainer.leaf, PLAIN, points())
        last = statistics.fmean(loss[-len(loss) // 10 :])
        return {"curves": found, "seconds": seconds, "loss": last, "errors": errors(turn, trainer.leaf)}

    key = {"what": "rebel_turn learnt", "game": turn.game.identity, "settings": asdict(settings), "points": points()}
    return dict(kept({**key, "river": RIVER, "code": code(*CODE)}, make))


def whole_game(turn: Turn) -> dict[int, float]:
    """Exploitability of linear CFR on the whole game, by iterations."""
    marks = sorted({*points(), *log_points(LONGEST, a_decade=24)})
    return dict(zip(marks, curve(turn.game, "lcfr", marks), strict=True))


def errors(turn: Turn, leaf: Any) -> dict[str, float]:
    """Root mean square error of a network's values of hands, in parts of the pot at the leaf, by :data:`DOMAINS`.

    Squares are weighted by how likely chance and the other player make it that the hand comes to the leaf, which is what they
    weigh in the search itself.
    """
    leaves, found = turn.top.leaves, {}
    pots = np.array([sum(turn.rules.game.tree.nodes[state.node[0]].contributions) for state in leaves.states])
    for name, looks in asked(turn).items():
        total = weight = 0.0
        for believed in looks:
            right, guessed = turn.rivers(leaves, believed, believed), leaf(leaves, believed, believed)
            for player in (0, 1):
                mass = np.stack([own.weight @ row for own, row in zip(leaves.states, believed[1 - player], strict=True)])
                total += float((mass * ((right[player] - guessed[player]) / pots[:, None]) ** 2).sum())
                weight += float(mass.sum())
        found[name] = (total / weight) ** 0.5
    return found


def asked(turn: Turn) -> dict[str, list[Any]]:
    """Ranges at all leaves, by domain."""
    generator, found = np.random.default_rng(0), {name: [] for name in DOMAINS}
    for step in steps(turn.search(turn.rivers, "lcfr", LOOKS[-1]), LOOKS[-1]):
        if step.number in LOOKS:
            for name, strategy in ((DOMAINS[0], step.played), (DOMAINS[1], step.average / step.average.sum())):
                found[name].append(turn.top.leaves.reach_at(strategy))
            drawn = [random_belief(turn.rules, state, generator).ranges for state in turn.top.leaves.states]
            found[DOMAINS[2]].append(tuple(np.stack([ranges[player] for ranges in drawn]) for player in (0, 1)))
    return found
