"""Games of perfect information: the agent's own policy, beside many playthroughs of it."""

import numpy as np
import pytest

from tests.search.test_play_distribution import Heap, Nim
from treeplex.base.arrays import Floats
from treeplex.engine.tree.sweeps import reach
from treeplex.errors import GameError
from treeplex.evaluate import judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.policies.tabular import Policy
from treeplex.games.base import CHANCE, TERMINAL
from treeplex.games.perfect_information import PerfectInformation
from treeplex.search import ExactLeaf, NoLeaf
from treeplex.search.perfect_information import certain_policy
from treeplex.search.play_distribution import playthrough_policy
from treeplex.search.settings import PlaythroughSettings
from treeplex.search.subgames.batch import PairPlaces
from treeplex.search.subgames.subgame import Ranges


def sequence_form(policy: Policy) -> Floats:
    """The reach of every sequence by its player's own actions, float64 [Q]."""
    strategy = np.empty_like(policy.probabilities)
    for player in (0, 1):
        reach(policy.game.tree, player, policy.probabilities, strategy)
    return strategy


class CoarseHeap(Heap):
    """Of the moves only their number matters, and that only until the coin is tossed."""

    def child(self, action: int) -> "CoarseHeap":
        after = super().child(action)
        return CoarseHeap(after.stones, after.mover, after.moves)

    def future(self) -> tuple[int, int, int]:
        return self.stones, self.mover, min(len(self.moves), 3)


class CoarseNim(Nim):
    """The game, whose rules say what of a state matters."""

    def new_initial_state(self) -> CoarseHeap:
        return CoarseHeap(6)


class Rough:
    """Leaf values that are wrong, by the stones left, and how often they were asked for."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, places: PairPlaces, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        self.asked += 1
        values = np.array([[np.sin(3.0 * state.node.stones + state.node.mover)] for state in places.states])  # type: ignore[attr-defined]
        return values, -values


@pytest.mark.quick_cases("cfr-0")
@pytest.mark.parametrize(("method", "depth"), [("dcfr", 2), ("lcfr", 3), ("fp", 2), ("cfr", 0)])
def test_it_is_what_many_playthroughs_come_to(method: str, depth: int) -> None:
    game, rules = compile_game(Nim()), PerfectInformation(Nim())
    settings = PlaythroughSettings(method=method, iterations=12, depth=depth, playthroughs=1500, batch=1500)
    leaf = Rough() if depth else NoLeaf()
    exact = certain_policy(game, rules, leaf, settings)
    drawn = playthrough_policy(game, rules, leaf, settings, np.random.default_rng(0))
    sides = [sequence_form(policy) for policy in (exact, drawn)]
    assert np.abs(sides[0] - sides[1]).max() < 0.04
    assert ((exact.probabilities > 0.05) & (exact.probabilities < 0.95)).any()


def test_states_with_the_same_future_are_searched_once() -> None:
    settings = PlaythroughSettings(iterations=10, depth=1, batch=1)
    searched: list[tuple[int, int]] = []
    fine, coarse = Nim(), CoarseNim()
    game, leaf = compile_game(fine), Rough()
    by_path = certain_policy(game, PerfectInformation(fine), Rough(), settings)
    by_state = certain_policy(game, PerfectInformation(coarse), leaf, settings, watch=lambda *done: searched.append(done))
    assert np.abs(by_path.probabilities - by_state.probabilities).max() < 1e-9
    states = searched[-1][1]
    assert searched[-1] == (states, states)
    assert leaf.asked <= states < sum(game.infosets)


def test_exact_leaves_lead_to_perfect_play() -> None:
    game, rules = compile_game(Nim()), PerfectInformation(Nim())
    settings = PlaythroughSettings(iterations=60, depth=2)
    assert judge(game, certain_policy(game, rules, ExactLeaf(iterations=60), settings)).exploitability < 0.02


class Secret(Heap):
    """A coin that nobody sees, and a guess of it by the first player."""

    def current_player(self) -> int:
        return (CHANCE, 0, TERMINAL)[len(self.moves)]

    def legal_actions(self, player: int | None = None) -> list[int]:
        return [0, 1]

    def child(self, action: int) -> "Secret":
        return Secret(self.stones, self.mover, (*self.moves, action))

    def returns(self) -> list[float]:
        right = self.moves[0] == self.moves[1]
        return [1.0, -1.0] if right else [-1.0, 1.0]

    def information_state_string(self, player: int | None = None) -> str:
        return "".join(map(str, self.moves[1:]))


class GuessingNim(Nim):
    """Guess a coin that nobody sees."""

    spec = "guessing"

    def new_initial_state(self) -> Secret:
        return Secret(1)


def test_what_is_hidden_from_both_is_refused() -> None:
    game = GuessingNim()
    with pytest.raises(GameError, match="does not have perfect information"):
        certain_policy(compile_game(game), PerfectInformation(game), NoLeaf(), PlaythroughSettings(iterations=20, depth=0))
