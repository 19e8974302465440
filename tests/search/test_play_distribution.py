"""Averaged policies of games without a deal: matrix games, whose moves are secret, and games of perfect information."""

import numpy as np
import pytest

from treeplex.evaluate import judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.policies.tabular import Policy
from treeplex.forms.sources.load import load, public_tree
from treeplex.games.base import CHANCE, TERMINAL, Game, State
from treeplex.games.public import Chance, Decision
from treeplex.search import ExactLeaf
from treeplex.search.play_distribution import playthrough_policy
from treeplex.search.settings import PlaythroughSettings


class Heap(State):
    """Stones left, whose turn it is, and whether the coin that takes a stone or none has been tossed."""

    def __init__(self, stones: int, mover: int = 0, moves: tuple[int, ...] = ()) -> None:
        self.stones, self.mover, self.moves = stones, mover, moves

    def current_player(self) -> int:
        if len(self.moves) == 2:
            return CHANCE
        return self.mover if self.stones else TERMINAL

    def legal_actions(self, player: int | None = None) -> list[int]:
        return [0, 1] if self.current_player() == CHANCE else list(range(1, min(self.stones, 2) + 1))

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return [(0, 0.25), (1, 0.75)]

    def child(self, action: int) -> "Heap":
        mover = self.mover if self.current_player() == CHANCE else 1 - self.mover
        return Heap(self.stones - action, mover, (*self.moves, action))

    def returns(self) -> list[float]:
        return [-1.0, 1.0] if self.mover == 0 else [1.0, -1.0]

    def information_state_string(self, player: int | None = None) -> str:
        return "heap " + "".join(map(str, self.moves))

    def action_to_string(self, action: int) -> str:
        return f"take {action}"


class Nim(Game):
    """Take one or two stones of six; who takes the last one wins; after two moves a coin takes a stone or none."""

    spec = "nim"

    def new_initial_state(self) -> Heap:
        return Heap(6)


@pytest.mark.parametrize("game", ["modified_rps", "small_matrix", "kuhn_poker", Nim()], ids=str)
def test_names_are_those_of_the_rules(game: str | Game) -> None:
    compiled, rules = compile_game(game), public_tree(game)
    met: set[tuple[int, str]] = set()
    stack = [(rules.root, rules.prior.shape)]
    while stack:
        node, hands = stack.pop()
        visited = rules.visit(node)
        if isinstance(visited, Chance):
            stack += [(rules.child(node, label), hands) for label, _ in visited.outcomes]
        elif isinstance(visited, Decision):
            own = visited.player
            for hand in range(hands[own]):
                name = own, rules.infostate(node, own, hand)
                assert compiled.actions_at(compiled.lookup[name]) == list(visited.actions)
                met.add(name)
            named = [rules.action_to_string(node, action) for action in visited.actions]
            assert named == [compiled.action_names[own][action] for action in visited.actions]
            grown = tuple(count * (len(named) if visited.private and p == own else 1) for p, count in enumerate(hands))
            labels = list(visited.actions)[:1] if visited.private else visited.actions
            stack += [(rules.child(node, label), grown) for label in labels]
    assert met == set(compiled.lookup)


def test_who_has_moved_in_secret_knows_its_move_and_the_other_does_not() -> None:
    game, rules = load("modified_rps"), public_tree("modified_rps")
    for move in range(3):
        state = game.new_initial_state().child(move)
        assert rules.infostate(1, 0, move) == state.information_state_string(0)
        assert rules.infostate(1, 1, 0) == state.information_state_string(1)


def played(game: str | Game, **settings: int) -> float:
    """Exploitability of what search with exact values at its leaves plays."""
    compiled, rules = compile_game(game), public_tree(game)
    chosen, leaf = PlaythroughSettings(**settings), ExactLeaf(iterations=60)  # type: ignore[arg-type]
    return judge(compiled, playthrough_policy(compiled, rules, leaf, chosen, np.random.default_rng(0))).exploitability


@pytest.mark.slow
def test_many_playthroughs_of_a_matrix_game() -> None:
    """Each playthrough alone answers one iteration's policy and is exploitable; together they are nearly an equilibrium."""
    many = played("modified_rps", iterations=100, depth=1, playthroughs=256, batch=256)
    assert many < 0.06
    assert many < 0.2 * played("modified_rps", iterations=100, depth=1, playthroughs=1)


def test_playthroughs_of_a_game_of_perfect_information_play_perfectly() -> None:
    game = compile_game(Nim())
    assert judge(game, Policy.uniform(game)).exploitability > 0.2
    assert played(Nim(), iterations=30, depth=2, playthroughs=2) < 0.02
