"""Public belief states of hold'em without pairs of hands: against pairs one by one, against every history of small decks."""

from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest

from treeplex.errors import GameError
from treeplex.games.base import CHANCE, TERMINAL
from treeplex.games.public import State
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.cards.cards import parse_cards
from treeplex.holdem.cards.format import Format, small
from treeplex.holdem.rules.public import HoldemGame, HoldemState, holdem_state
from treeplex.holdem.rules.rules import PokerGame
from treeplex.holdem.spots.known import leduc_holdem, turn_endgame_holdem
from treeplex.holdem.spots.spot import Spot
from treeplex.search import Belief

TURN = small(ranks=5, suits=2, hole=2, deal=(0, 3, 1, 1))
FLOP = small(ranks=4, suits=2, hole=1, deal=(0, 1, 1))


def spot_of(format: Format, board: str, seed: int) -> Spot:
    """A spot with random ranges, some hands of which are not held at all."""
    generator = np.random.default_rng(seed)
    ranges = tuple(generator.random(len(format.hands)) * (generator.random(len(format.hands)) < 0.8) for _ in range(2))
    bets = BetPlan.same("50%,a", "a", streets=format.streets)
    return Spot(parse_cards(board), 2.0, 4.0, (ranges[0], ranges[1]), bets, format=format)


@cache
def rules_of(kind: str) -> HoldemGame:
    return HoldemGame.of(spot_of(TURN, "TcJdQcKd", 1) if kind == "turn" else spot_of(FLOP, "Jc", 2))


def policy_of(belief: Belief) -> np.ndarray:
    """Some policy that depends on the node, the board and the hand."""
    node, board = holdem_state(belief.state)
    generator = np.random.default_rng([node, *board])
    return generator.dirichlet(np.ones(len(belief.game.options(belief.state).labels)), size=len(belief.ranges[0])).T


def belief_at(game: HoldemGame, node: int, board: tuple[int, ...]) -> Belief:
    """The public belief state of a public history if all play so."""
    return Belief.along(game, game.path_to(game.state(node, board)), policy_of)


def histories(rules: HoldemGame) -> dict[tuple[int, tuple[int, ...]], np.ndarray]:
    """For each public history, a node and a board, how likely each pair of hands is there, by walking every history."""
    game, count = PokerGame(rules.spot), len(rules.spot.format.hands)
    found: dict[tuple[int, tuple[int, ...]], np.ndarray] = {}
    policies: dict[tuple[int, tuple[int, ...]], np.ndarray] = {}
    stack = [(game.new_initial_state(), 1.0)]
    while stack:
        state, reach = stack.pop()
        if len(state.hands) == 2:
            place = state.node, state.board
            found.setdefault(place, np.zeros((count, count)))[state.hands] += reach
        if state.is_chance_node():
            stack += [(state.child(label), reach * chance) for label, chance in state.chance_outcomes()]
        elif not state.is_terminal():
            if place not in policies:
                policies[place] = policy_of(Belief(rules, HoldemState(*place), rules.spot.ranges))
            hand = state.hands[state.current_player()]
            for action, label in enumerate(state.legal_actions()):
                stack.append((state.child(label), reach * policies[place][action, hand]))
    return found


@pytest.mark.slow_cases("turn")
@pytest.mark.parametrize("kind", ["turn", "flop"])
def test_beliefs_are_those_of_all_histories(kind: str) -> None:
    """Actions of mixed policies, cards, all-ins that run out; two cards in the hand and one."""
    rules, seen = rules_of(kind), 0
    for (node, board), weights in histories(rules).items():
        if not weights.any():
            continue
        joint = weights / weights.sum()
        belief = belief_at(rules, node, board)
        assert belief.beliefs[0] == pytest.approx(joint.sum(axis=1), abs=1e-12)
        assert belief.beliefs[1] == pytest.approx(joint.sum(axis=0), abs=1e-12)
        first, second = np.unravel_index(np.random.default_rng(node).choice(joint.size, 5), joint.shape)
        for one, other in zip(first.tolist(), second.tolist(), strict=True):
            assert belief.joint[one, other] == pytest.approx(joint[one, other], abs=1e-12)
            conditional = joint[one] / joint[one].sum() if joint[one].any() else joint[one]
            assert belief.ranges[0][one] == 0 or rules.given(belief.state, belief.ranges, 0, one) == pytest.approx(
                conditional, abs=1e-12
            )
        seen += 1
    assert seen > 100


def pairs(rules: HoldemGame, board: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    """Pairs of hands that share no card with each other or the board."""
    hands = [frozenset(map(int, hand)) for hand in rules.spot.format.hands]
    free = [number for number, hand in enumerate(hands) if not hand & set(board)]
    yield from ((first, second) for first in free for second in free if not hands[first] & hands[second])


@pytest.mark.slow
def test_the_whole_deck() -> None:
    """Random ranges over 1,326 hands: mass and beliefs by all pairs, on the turn and after a river."""
    rules, generator = HoldemGame.of(turn_endgame_holdem()), np.random.default_rng(0)
    ranges = generator.random((2, 1326)) ** 6
    line = [number for number, node in enumerate(rules.tree.nodes) if hasattr(node, "child")]
    turn = Belief.of(rules, rules.state(line[0], rules.spot.board), ranges)
    for belief in (turn, turn.after(parse_cards("Ah")[0])):
        joint = np.zeros((1326, 1326))
        for first, second in pairs(rules, holdem_state(belief.state).board):
            joint[first, second] = ranges[0][first] * ranges[1][second]
        joint /= joint.sum()
        assert belief.beliefs[0] == pytest.approx(joint.sum(axis=1), abs=1e-13)
        assert belief.beliefs[1] == pytest.approx(joint.sum(axis=0), abs=1e-13)
        found = belief.joint
        for first, second in generator.integers(1326, size=(200, 2)).tolist():
            assert found[first, second] == pytest.approx(joint[first, second], abs=1e-15)
        free = np.isin(rules.spot.format.hands, holdem_state(belief.state).board).sum(axis=1) == 0
        assert free.sum() == (1128 if belief is turn else 1081)
        assert [(own[~free] == 0).all() and own.sum() for own in belief.ranges] == pytest.approx([1.0, 1.0])


def test_a_range_of_hands_that_exclude_each_other_has_no_rounding_left() -> None:
    """Whoever holds an ace of spades meets nobody in a range of hands with the ace of spades."""
    rules = HoldemGame.of(turn_endgame_holdem())
    (ace,) = parse_cards("As")
    holds = (rules.spot.format.hands == ace).any(axis=1)
    reached = np.where(holds, np.random.default_rng(0).random(1326), 0.0)
    mass = rules.compatible(reached)
    assert (mass[holds] == 0).all()
    assert (mass[~holds] > 0).all()


def test_hands_of_one_card() -> None:
    rules = HoldemGame.of(leduc_holdem())
    reached = np.arange(1.0, 7.0)
    assert rules.compatible(reached) == pytest.approx(reached.sum() - reached)
    assert Belief.root(rules).beliefs[0] == pytest.approx(np.full(6, 1 / 6))


def test_chips_and_players_come_from_the_betting() -> None:
    game = HoldemGame.of(turn_endgame_holdem())

    def seen(state: State) -> tuple[object, ...]:
        return game.options(state).player, game.pot(state), game.stacks(state), game.cards_due(state)

    root = game.first_state()
    assert seen(root) == (0, 2000.0, (19000.0, 19000.0), 0)
    called = game.after(game.after(root, 2), 1)
    assert seen(called) == (CHANCE, 6000.0, (17000.0, 17000.0), 1)
    over = game.after(game.after(root, 3), 1)
    assert (game.stacks(over), game.cards_due(over)) == ((0.0, 0.0), 1)
    assert game.options(game.after(over, parse_cards("2c")[0])).player == TERMINAL


def test_where_nobody_plays_to_every_hand_is_alike() -> None:
    rules = rules_of("turn")
    belief = Belief.root(rules)
    after = belief.after(0, np.zeros_like(policy_of(belief)))
    possible = rules.possible(belief.state)[0]
    assert after.ranges[0] == pytest.approx(possible / possible.sum())


def test_what_cannot_be_is_refused() -> None:
    rules = rules_of("turn")
    belief, board = Belief.root(rules), rules.spot.board
    with pytest.raises(GameError, match="no action number 9"):
        belief.after(9, policy_of(belief))
    with pytest.raises(GameError, match=r"action 0 at node 0 .* needs a policy"):
        belief.after(0, np.ones((2, 3)))
    with pytest.raises(GameError, match=r"the range at node 0 .* has shape \(3,\); give 45 finite numbers >= 0"):
        Belief.of(rules, rules.state(0, board), (np.ones(3), np.ones(45)))
    with pytest.raises(GameError, match="node 0 cannot be reached on the board"):
        rules.state(0, (*board, *parse_cards("Ac")))
    with pytest.raises(GameError, match="no node 9999"):
        rules.state(9999, board)
    ended = rules.after(rules.after(rules.first_state(), 0), 0)
    with pytest.raises(GameError, match="cannot be dealt on"):
        rules.after(ended, board[0])
    same = np.zeros(45)
    same[int(np.flatnonzero(np.minimum(*rules.possible(belief.state)))[0])] = 1.0
    nowhere = Belief.of(rules, belief.state, (same, same))
    assert nowhere.pairs == 0.0
    with pytest.raises(GameError, match="no hands in these ranges"):
        nowhere.draw(np.random.default_rng(0))
