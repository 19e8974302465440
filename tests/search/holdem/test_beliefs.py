"""Public belief states of hold'em without pairs of hands: against pairs one by one, against every history of small decks."""

from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest

from treeplex.errors import GameError
from treeplex.games.poker.betting.sizes import BetPlan
from treeplex.games.poker.betting.tree import Decision
from treeplex.games.poker.cards.cards import parse_cards
from treeplex.games.poker.cards.format import Format, small
from treeplex.games.poker.rules import PokerGame, PokerState
from treeplex.games.poker.spots.known import leduc_holdem, turn_endgame_holdem
from treeplex.games.poker.spots.spot import Spot
from treeplex.search.holdem.beliefs import HoldemBelief, HoldemRules

TURN = small(ranks=5, suits=2, hole=2, deal=(0, 3, 1, 1))
FLOP = small(ranks=4, suits=2, hole=1, deal=(0, 1, 1))


def spot_of(format: Format, board: str, seed: int) -> Spot:
    """A spot with random ranges, some hands of which are not held at all."""
    generator = np.random.default_rng(seed)
    ranges = tuple(generator.random(len(format.hands)) * (generator.random(len(format.hands)) < 0.8) for _ in range(2))
    bets = BetPlan.same("50%,a", "a", streets=format.streets)
    return Spot(parse_cards(board), 2.0, 4.0, (ranges[0], ranges[1]), bets, format=format)


@cache
def rules_of(kind: str) -> HoldemRules:
    return HoldemRules.of(spot_of(TURN, "TcJdQcKd", 1) if kind == "turn" else spot_of(FLOP, "Jc", 2))


def policy_of(belief: HoldemBelief) -> np.ndarray:
    """Some policy that depends on the node, the board and the hand."""
    event = belief.event
    assert isinstance(event, Decision)
    generator = np.random.default_rng([belief.node, *belief.board])
    return generator.dirichlet(np.ones(len(event.actions)), size=len(belief.ranges[0])).T


def histories(rules: HoldemRules) -> dict[tuple[int, tuple[int, ...]], np.ndarray]:
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
                policies[place] = policy_of(HoldemBelief(rules, *place, rules.spot.ranges))
            hand = state.hands[state.current_player()]
            for action, label in enumerate(state.legal_actions()):
                stack.append((state.child(label), reach * policies[place][action, hand]))
    return found


@pytest.mark.parametrize("kind", ["turn", "flop"])
def test_beliefs_are_those_of_all_histories(kind: str) -> None:
    """Actions of mixed policies, cards, all-ins that run out; two cards in the hand and one."""
    rules, seen = rules_of(kind), 0
    for (node, board), weights in histories(rules).items():
        if not weights.any():
            continue
        joint = weights / weights.sum()
        belief = HoldemBelief.at(rules, node, board, policy_of)
        assert belief.beliefs[0] == pytest.approx(joint.sum(axis=1), abs=1e-12)
        assert belief.beliefs[1] == pytest.approx(joint.sum(axis=0), abs=1e-12)
        first, second = np.unravel_index(np.random.default_rng(node).choice(joint.size, 5), joint.shape)
        for one, other in zip(first.tolist(), second.tolist(), strict=True):
            assert belief.joint(one, other) == pytest.approx(joint[one, other], abs=1e-12)
            conditional = joint[one] / joint[one].sum() if joint[one].any() else joint[one]
            assert belief.ranges[0][one] == 0 or belief.given(0, one) == pytest.approx(conditional, abs=1e-12)
        seen += 1
    assert seen > 100


def test_deals_are_as_likely_as_in_all_histories() -> None:
    rules, weights = rules_of("turn"), histories(rules_of("turn"))
    for (node, board), before in weights.items():
        belief = HoldemBelief(rules, node, board, rules.spot.ranges)
        if len(board) == 4 and belief.cards_due and before.any():
            belief = HoldemBelief.at(rules, node, board, policy_of)
            chances = []
            for card in set(rules.spot.format.deck) - set(board):
                after = belief.dealt([card])
                expected = weights[after.node, after.board].sum() / before.sum()
                assert belief.deal_probability([card]) == pytest.approx(expected)
                chances.append(expected)
            assert sum(chances) == pytest.approx(1.0)


def pairs(rules: HoldemRules, board: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    """Pairs of hands that share no card with each other or the board."""
    hands = [frozenset(map(int, hand)) for hand in rules.spot.format.hands]
    free = [number for number, hand in enumerate(hands) if not hand & set(board)]
    yield from ((first, second) for first in free for second in free if not hands[first] & hands[second])


def test_the_whole_deck() -> None:
    """Random ranges over 1,326 hands: mass and beliefs by all pairs, on the turn and after a river."""
    rules, generator = HoldemRules.of(turn_endgame_holdem()), np.random.default_rng(0)
    ranges = generator.random((2, 1326)) ** 6
    line = [number for number, node in enumerate(rules.tree.nodes) if hasattr(node, "child")]
    turn = HoldemBelief.of(rules, line[0], rules.spot.board, ranges)
    for belief in (turn, turn.dealt(parse_cards("Ah"))):
        joint = np.zeros((1326, 1326))
        for first, second in pairs(rules, belief.board):
            joint[first, second] = ranges[0][first] * ranges[1][second]
        joint /= joint.sum()
        assert belief.beliefs[0] == pytest.approx(joint.sum(axis=1), abs=1e-13)
        assert belief.beliefs[1] == pytest.approx(joint.sum(axis=0), abs=1e-13)
        for first, second in generator.integers(1326, size=(200, 2)).tolist():
            assert belief.joint(first, second) == pytest.approx(joint[first, second], abs=1e-15)
        free = np.isin(rules.spot.format.hands, belief.board).sum(axis=1) == 0
        assert free.sum() == (1128 if belief is turn else 1081)
        assert [(own[~free] == 0).all() and own.sum() for own in belief.ranges] == pytest.approx([1.0, 1.0])


def test_a_range_of_hands_that_exclude_each_other_has_no_rounding_left() -> None:
    """Whoever holds an ace of spades meets nobody in a range of hands with the ace of spades."""
    rules = HoldemRules.of(turn_endgame_holdem())
    (ace,) = parse_cards("As")
    holds = (rules.spot.format.hands == ace).any(axis=1)
    reached = np.where(holds, np.random.default_rng(0).random(1326), 0.0)
    mass = rules.compatible(reached)
    assert (mass[holds] == 0).all()
    assert (mass[~holds] > 0).all()


def test_hands_of_one_card() -> None:
    rules = HoldemRules.of(leduc_holdem())
    reached = np.arange(1.0, 7.0)
    assert rules.compatible(reached) == pytest.approx(reached.sum() - reached)
    assert HoldemBelief.root(rules).beliefs[0] == pytest.approx(np.full(6, 1 / 6))


def test_hands_are_drawn_from_the_joint_distribution() -> None:
    rules, generator = rules_of("turn"), np.random.default_rng(0)
    belief = HoldemBelief.root(rules)
    drawn = np.zeros((len(belief.ranges[0]),) * 2)
    game = PokerGame(rules.spot)
    for _ in range(4000):
        hands = belief.draw(generator)
        assert PokerState(game, hands, belief.node, belief.board).current_player() == belief.player
        drawn[hands] += 1 / 4000
    expected = game.prior
    assert (drawn[expected == 0] == 0).all()
    error = np.sqrt(expected * (1 - expected) / 4000)
    assert (abs(drawn - expected) < 5 * error + 1e-12).all()


def test_chips_and_players_come_from_the_betting() -> None:
    rules = HoldemRules.of(turn_endgame_holdem())
    belief = HoldemBelief.root(rules)
    assert (belief.player, belief.pot, belief.stacks, belief.cards_due) == (0, 2000.0, (19000.0, 19000.0), 0)
    uniform = np.full((4, 1326), 0.25)
    bet = belief.acted(2, uniform)
    called = bet.acted(1, np.full_like(policy_of(bet), 0.5))
    assert (called.player, called.pot, called.stacks, called.cards_due) == (None, 6000.0, (17000.0, 17000.0), 1)
    all_in = belief.acted(3, uniform)
    over = all_in.acted(1, np.full((2, 1326), 0.5))
    assert (over.stacks, over.cards_due) == ((0.0, 0.0), 1)
    assert over.dealt(parse_cards("2c")).cards_due == 0


def test_where_nobody_plays_to_every_hand_is_alike() -> None:
    rules = rules_of("turn")
    belief = HoldemBelief.root(rules)
    after = belief.acted(0, np.zeros_like(policy_of(belief)))
    possible = rules.possible(belief.board)[0]
    assert after.ranges[0] == pytest.approx(possible / possible.sum())


def test_what_cannot_be_is_refused() -> None:
    rules = rules_of("turn")
    belief = HoldemBelief.root(rules)
    with pytest.raises(GameError, match="no action number 9"):
        belief.acted(9, policy_of(belief))
    with pytest.raises(GameError, match="a policy at node 0"):
        belief.acted(0, np.ones((2, 3)))
    with pytest.raises(GameError, match="0 cards are due"):
        belief.dealt(parse_cards("Ac"))
    with pytest.raises(GameError, match="a range must be 45 numbers"):
        HoldemBelief.of(rules, 0, belief.board, (np.ones(3), np.ones(45)))
    with pytest.raises(GameError, match="not at node 0 on the board"):
        HoldemBelief.of(rules, 0, (*belief.board, *parse_cards("Ac")), None)
    with pytest.raises(GameError, match="no node 9999"):
        HoldemBelief.of(rules, 9999, belief.board, None)
    same = np.zeros(45)
    same[int(np.flatnonzero(np.minimum(*rules.possible(belief.board)))[0])] = 1.0
    with pytest.raises(GameError, match="no pair of hands"):
        HoldemBelief.of(rules, 0, belief.board, (same, same))
