"""Perfect information: the same training and search on tic-tac-toe, judged exactly on all positions that can follow one.

The whole game is trained by ``papers/rebel/tic_tac_toe.py``; ``docs/papers/rebel.md`` shows how it ends and how long it takes.
"""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from treeplex.games.perfect_information import PerfectInformation  # noqa: E402
from treeplex.games.public import (  # noqa: E402
    PublicState,
    PublicTree,
    Terminal,
)
from treeplex.games.registry import load  # noqa: E402
from treeplex.learn.rebel.settings import RebelSettings  # noqa: E402
from treeplex.learn.rebel.trainer import RebelTrainer  # noqa: E402
from treeplex.search import METHODS  # noqa: E402
from treeplex.search.subgames.batch import cut_states  # noqa: E402
from treeplex.search.subgames.horizon import Horizon  # noqa: E402
from treeplex.search.warm_start.begin import begin_search  # noqa: E402

pytestmark = pytest.mark.slow

torch.set_num_threads(1)

ALONE = np.ones((1, 1))
BEGIN = (4, 1, 0, 8)
"""Crosses in the middle and a corner, noughts on a side and the opposite corner: crosses can make a double threat."""


class From(PerfectInformation):
    """Tic-tac-toe from the position after some moves."""

    def __init__(self, moves: tuple[int, ...]) -> None:
        super().__init__(load("tic_tac_toe"))
        for move in moves:
            self.root = self.root.child(move)


def minimax(rules: PublicTree, node: object) -> float:
    """Player 0's payoff under perfect play."""
    visited = rules.visit(node)
    if isinstance(visited, Terminal):
        return visited.scale * float(visited.matrix[0, 0])
    values = [minimax(rules, rules.child(node, action)) for action in visited.actions]
    return min(values) if visited.player else max(values)


def mistakes(rules: PublicTree, trainer: RebelTrainer) -> tuple[int, int]:
    """Positions at which what search plays most gives something away, and all with a decision."""
    stack, states = [rules.root], {}
    while stack:
        node = stack.pop()
        visited = rules.visit(node)
        if not isinstance(visited, Terminal):
            states[rules.future(node)] = node
            stack += [rules.child(node, action) for action in visited.actions]
    subgames = cut_states(rules, [PublicState(node, ALONE) for node in states.values()], Horizon(1))
    ranges = np.ones((len(states), 1)), np.ones((len(states), 1))
    search = begin_search(subgames, METHODS["dcfr"], trainer.leaf, ranges, 32)
    search.run(32)
    count = 0
    for node, first in zip(states.values(), subgames.first_decision, strict=True):
        visited = rules.visit(node)
        values = np.array([minimax(rules, rules.child(node, action)) for action in visited.actions])
        values = -values if visited.player else values
        count += bool(values[search.policy_at(int(first), search.average_policy())[:, 0].argmax()] < values.max())
    return count, len(states)


@pytest.mark.parametrize("seed", [0, 1])
def test_training_finds_perfect_play(seed: int) -> None:
    """After half as many subgames these seeds and others were perfect too, so rounding of other machines has room."""
    rules = From(BEGIN)
    settings = RebelSettings(
        iterations=8, depth=1, exploration=1.0, solves=3840, width=64, reuse=32.0, burn_in=256, batch=256, rate=3e-3, seed=seed
    )
    trainer = RebelTrainer(rules, settings)
    before, positions = mistakes(rules, trainer)
    while not trainer.finished:
        trainer.round()
    after, _ = mistakes(rules, trainer)
    assert positions == 64
    assert before > 8
    assert after == 0
