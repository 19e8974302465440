"""No-limit Leduc poker, held against OpenSpiel's universal poker and the figures of DeepStack's tutorial."""

import random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from treeplex.errors import SpecError
from treeplex.evaluate import judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.walk import compile_rules
from treeplex.forms.policies.tabular import Policy
from treeplex.forms.sources.load import public_tree
from treeplex.games import CHANCE, Chance, Decision, State, Terminal
from treeplex.games.registry import load
from treeplex.holdem.betting import tree as betting
from treeplex.holdem.cards.cards import cards_to_string
from treeplex.holdem.rules.rules import PokerPublicTree, PokerState
from treeplex.solvers import make_solver

DECK = "numSuits=2,numRanks=3,numHoleCards=1,numBoardCards=0 1,numRounds=2,firstPlayer=1 1"
MANY = "no_limit_leduc(sizes=[25%;50%;75%;100%;150%;200%;a])"


def theirs(abstraction: str) -> Any:
    pyspiel = pytest.importorskip("pyspiel")
    chips = "blind=100 100,stack=1200 1200"
    return pyspiel.load_game(f"universal_poker(betting=nolimit,numPlayers=2,{DECK},{chips},bettingAbstraction={abstraction})")


def total_paid(state: PokerState, action: int) -> int:
    """All chips of the player to act, the ante among them, once it has bet or raised so."""
    node = state.game.tree.nodes[state.node]
    assert isinstance(node, betting.Decision)
    streets_before = max(node.contributions) - max(node.street_bets)
    return int(streets_before + node.actions[state.game.moves[state.node].index(action)].amount)


def check_same(ours: State, other: Any) -> None:
    assert ours.current_player() == (other.current_player() if not other.is_terminal() else -4)
    if ours.is_terminal():
        assert list(ours.returns()) == list(other.returns())


def test_pot_and_allin_is_openspiels_game_node_for_node() -> None:
    stack, nodes = [(load("no_limit_leduc").new_initial_state(), theirs("fcpa").new_initial_state())], 0
    words = {"fold": "Fold", "check": "Call", "call": "Call", "bet": "Bet", "raise": "Bet", "allin": "AllIn"}
    while stack:
        ours, other = stack.pop()
        check_same(ours, other)
        nodes += 1
        if ours.is_terminal():
            continue
        pairs = list(zip(ours.legal_actions(), other.legal_actions(), strict=True))
        if ours.current_player() != CHANCE:
            for mine, their in pairs:
                assert other.action_to_string(their).endswith(f"move={words[ours.action_to_string(mine).split()[0]]}")
        stack.extend((ours.child(mine), other.child(their)) for mine, their in pairs)
    assert nodes == 12877


def test_many_sizes_are_openspiels_full_game_restricted() -> None:
    game, reference, generator = load(MANY), theirs("fullgame"), random.Random(0)
    for _ in range(60):
        ours, other = game.new_initial_state(), reference.new_initial_state()
        check_same(ours, other)
        while not ours.is_terminal():
            legal = list(ours.legal_actions())
            action = generator.choice(legal)
            if ours.current_player() == CHANCE:
                chosen = other.legal_actions()[legal.index(action)]
            else:
                assert isinstance(ours, PokerState)
                known = {"fold": 0, "check": 1, "call": 1}
                chosen = known.get(ours.action_to_string(action))
                chosen = total_paid(ours, action) if chosen is None else chosen
            assert chosen in other.legal_actions()
            ours, other = ours.child(action), other.child(chosen)
            check_same(ours, other)


def test_both_ways_to_compile_agree() -> None:
    by_tree, by_walk = compile_game("no_limit_leduc"), compile_rules(load("no_limit_leduc"))
    assert by_tree.size == by_walk.size
    assert (by_tree.infosets, by_tree.sequences) == (by_walk.infosets, by_walk.sequences)
    values = [judge(each, Policy.uniform(each)).exploitability for each in (by_tree, by_walk)]
    assert values[0] == pytest.approx(values[1], rel=1e-12)
    assert values[0] == pytest.approx(222.7314814814815, rel=1e-12)


def loss_of_uniform(tree: PokerPublicTree, node: tuple[int, tuple[int, ...]], weight: NDArray[np.float64], player: int) -> Any:
    """What each hand of a player wins at most against uniform play where folding is allowed everywhere, float64 [H]."""
    event, (number, _) = tree.visit(node), node
    sign = (1.0, -1.0)[player]
    if isinstance(event, Terminal):
        return sign * event.scale * (weight * event.matrix).sum(axis=1 - player)
    if isinstance(event, Chance):
        return sum(loss_of_uniform(tree, tree.child(node, label), weight * chance, player) for label, chance in event.outcomes)
    assert isinstance(event, Decision)
    may_fold = tree.action_to_string(node, event.actions[0]) == "fold"
    split = weight if event.player == player else weight / (len(event.actions) + (not may_fold))
    parts = [loss_of_uniform(tree, tree.child(node, action), split, player) for action in event.actions]
    if not may_fold:
        paid = tree.game.tree.nodes[number].contributions[0]
        parts.append((-1.0 if event.player == player else 1.0) * paid * split.sum(axis=1 - player))
    return np.max(parts, axis=0) if event.player == player else np.sum(parts, axis=0)


def test_uniform_play_loses_what_deepstacks_tutorial_says() -> None:
    """175 chips: the tutorial lets players fold without facing a bet, and counts pairs of equal cards as no play at all."""
    tree = load("no_limit_leduc").public_tree()
    assert isinstance(tree, PokerPublicTree)
    lost = np.mean([loss_of_uniform(tree, tree.root, tree.prior, player).sum() for player in (0, 1)])
    assert lost * 5 / 6 == pytest.approx(175.5, abs=0.05)


def test_cfr_comes_as_close_as_deepstacks_tutorial_says() -> None:
    """About 1.0 chips after 1,000 iterations; the value is that of an exact linear program."""
    game = compile_game("no_limit_leduc")
    solver = make_solver(game, "cfr+")
    solver.run(1000)
    judged = judge(game, solver.average_policy())
    assert judged.exploitability < 1.0
    exact = make_solver(game, "lp")
    exact.run(1)
    assert judge(game, exact.average_policy()).value[0] == pytest.approx(-6.5564223905, abs=1e-8)
    assert judged.value[0] == pytest.approx(-6.5564223905, abs=0.1)


@pytest.mark.slow
def test_few_sizes_are_part_of_many() -> None:
    assert set(compile_game("no_limit_leduc").infostates) < set(compile_game(MANY).infostates)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("no_limit_leduc(ranks=1)", "need 3 cards"),
        ("no_limit_leduc(stack=100)", "stack must be an integer of at least 101"),
        ("no_limit_leduc(sizes=[1])", "cannot read the bet size"),
        ("no_limit_leduc(sizes=[])", "sizes must be a list"),
        ("no_limit_leduc(ante=0)", "ante must be an integer of at least 1"),
    ],
)
def test_errors_name_the_place_and_the_remedy(spec: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        load(spec)


def test_what_people_are_told() -> None:
    """At the table of a policy and at that of an agent."""
    game = load("no_limit_leduc")
    state = game.new_initial_state()
    assert state.knowledge(0) == "no cards yet, pot 200"
    for name in ("Qc", "Kd", "bet 200", "call"):
        names = {state.action_to_string(action).removeprefix("Deal "): action for action in state.legal_actions()}
        state = state.child(names[name])
    state = state.child(state.legal_actions()[0])
    board = cards_to_string(state.board)
    assert state.knowledge(1) == f"Kd, board {board}, pot 600; bet 200, call"
    tree = public_tree(game)
    first = tree.first_state()
    hand = [tree.knowledge_at(first, 0, hand) for hand in range(6)].index("Kd, pot 200")
    label = {tree.action_name(first, label): label for label in tree.options(first).labels}["bet 200"]
    assert tree.knowledge_at(tree.after(first, label), 1, hand) == "Kd, pot 400; bet 200"
