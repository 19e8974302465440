"""How poker looks to search and networks: futures, features, an order of hands; each against a slower way."""

from collections.abc import Hashable
from itertools import combinations

import numpy as np
import pytest

from treeplex.games.public import Chance, Decision, Terminal
from treeplex.games.registry import load
from treeplex.holdem.cards.format import HOLDEM, Format, small
from treeplex.holdem.rules.features import features_of_board
from treeplex.holdem.rules.rules import PokerGame, PokerPublicTree

TURN = "turn_holdem(ranks=5,stack=6)"


def rules_of(spec: str) -> PokerPublicTree:
    game = load(spec)
    assert isinstance(game, PokerGame)
    rules = game.public_tree()
    assert rules is not None
    return rules


def follow(rules: PokerPublicTree, *names: str) -> Hashable:
    """The node after actions and deals given by their names."""
    node: Hashable = rules.root
    for name in names:
        visited = rules.visit(node)
        assert not isinstance(visited, Terminal)
        labels = [label for label, _ in visited.outcomes] if isinstance(visited, Chance) else list(visited.actions)
        (label,) = [each for each in labels if rules.action_to_string(node, each) == name]
        node = rules.child(node, label)
    return node


def said(rules: PokerPublicTree, node: Hashable, known: dict[Hashable, Hashable]) -> Hashable:
    """Everything that can happen from a node on, as nested tuples: actions, chances and payoffs."""
    if node not in known:
        visited = rules.visit(node)
        if isinstance(visited, Terminal):
            known[node] = visited.matrix.tobytes(), visited.scale
        elif isinstance(visited, Decision):
            children = tuple(said(rules, rules.child(node, action), known) for action in visited.actions)
            known[node] = visited.player, tuple(visited.actions), children
        else:
            outcomes = sorted(visited.outcomes, key=lambda outcome: outcome[0])
            known[node] = tuple(
                (label, weight.tobytes(), said(rules, rules.child(node, label), known)) for label, weight in outcomes
            )
    return known[node]


@pytest.mark.quick_cases("turn_holdem(ranks=5,stack=6)", "small_holdem")
@pytest.mark.parametrize("spec", [TURN, "small_holdem", "small_holdem(ranks=2,deal=[0;1;1],sizes=[50%;a],stack=4)"])
def test_nodes_of_one_future_have_the_same_rest_of_the_game(spec: str) -> None:
    rules, known, groups = rules_of(spec), {}, {}  # type: ignore[var-annotated]
    said(rules, rules.root, known)
    for node in known:
        groups.setdefault(rules.future(node), []).append(node)
    assert len(groups) < 0.9 * len(known)
    for nodes in groups.values():
        first = nodes[0]
        for node in nodes[1:]:
            assert known[node] == known[first]
            assert rules.features(node) == pytest.approx(rules.features(first))
            assert rules.strengths(node, 0) == pytest.approx(rules.strengths(first, 0))


def test_lines_that_lead_to_the_same_pot_share_a_future() -> None:
    rules = rules_of(TURN)
    ways = [follow(rules, "bet 2", "call"), follow(rules, "check", "bet 2", "call")]
    assert ways[0] != ways[1]
    assert rules.future(ways[0]) == rules.future(ways[1]) != rules.future(follow(rules, "bet 1", "call"))
    rules = rules_of("small_holdem(ranks=3,deal=[0;1;1],bets=[1;1;1],raises=1)")
    ways = [
        follow(rules, "check", "check", f"Deal {a}", "check", "check", f"Deal {b}") for a, b in (("Qc", "Kd"), ("Kd", "Qc"))
    ]
    assert rules.future(ways[0]) == rules.future(ways[1])


def test_the_betting_in_parts_of_the_chips() -> None:
    """Pot, paid by each, behind, to call, whether player 1 acts, whether there was a bet, whether the street is over."""
    rules = rules_of(TURN)  # a pot of 2 and 6 behind each: 14 chips
    for names, expected in (
        ((), [2 / 14, 1 / 14, 1 / 14, 3 / 4, 0, 0, 0, 0]),
        (("check",), [2 / 14, 1 / 14, 1 / 14, 3 / 4, 0, 1, 0, 0]),
        (("bet 2",), [4 / 14, 3 / 14, 1 / 14, 1 / 2, 2 / 6, 1, 1, 0]),
        (("check", "bet 1", "raise 4"), [7 / 14, 5 / 14, 2 / 14, 2 / 9, 3 / 10, 1, 1, 0]),
        (("bet 2", "call"), [6 / 14, 3 / 14, 3 / 14, 4 / 10, 0, 0, 0, 1]),
        (("bet 2", "call", "Deal Jc"), [6 / 14, 3 / 14, 3 / 14, 4 / 10, 0, 0, 0, 0]),
        (("allin 6", "call"), [1, 1 / 2, 1 / 2, 0, 0, 0, 0, 1]),
    ):
        assert rules.features(follow(rules, *names))[:8] == pytest.approx(np.array(expected, float)), names


@pytest.mark.parametrize("form", [HOLDEM, small(ranks=4, suits=3, hole=2, deal=(0, 3, 1, 1))], ids=["whole deck", "small deck"])
def test_a_linear_layer_embeds_a_board(form: Format) -> None:
    """Deep CFR, section 5.1: a set of cards is the sum of a vector of each card, of its rank and of its suit."""
    deck, generator = form.deck, np.random.default_rng(0)
    cards, ranks, suits = generator.normal(size=(52, 5)), generator.normal(size=(13, 5)), generator.normal(size=(4, 5))
    used_ranks, used_suits = sorted({card >> 2 for card in deck}), sorted({card & 3 for card in deck})
    layer = np.concatenate((cards[list(deck)], ranks[used_ranks], suits[used_suits]))
    for size in (0, 3, 4, 5):
        board = generator.choice(deck, size, replace=False).tolist()
        expected = sum((cards[card] + ranks[card >> 2] + suits[card & 3] for card in board), np.zeros(5))
        assert features_of_board(form, board) @ layer == pytest.approx(expected)


def test_hands_on_a_board_that_begins_there_are_left_out() -> None:
    rules = rules_of(TURN)
    board = set(rules.game.spot.board)
    dealt = [set(map(int, rules.game.spot.format.hands[hand])) for hand in rules.hands]
    assert len(dealt) == 15
    assert not any(cards & board for cards in dealt)
    for first, second in combinations(range(15), 2):
        assert (rules.prior[first, second] > 0) == (not dealt[first] & dealt[second])


@pytest.mark.parametrize("names", [(), ("check", "check", "Deal Jc"), ("allin 6", "call")])
def test_strength_is_the_chance_to_win_against_a_random_hand(names: tuple[str, ...]) -> None:
    rules = rules_of(TURN)
    node = follow(rules, *names)
    assert isinstance(node, tuple)
    form, board = rules.game.spot.format, node[1]
    for number, own in enumerate(rules.hands):
        won = met = 0.0
        for other in rules.hands:
            held = {*map(int, form.hands[own]), *map(int, form.hands[other])}
            if len(held) < 4 or held & set(board):
                continue
            for river in [()] if len(board) == 5 else [(card,) for card in form.deck if card not in {*board, *held}]:
                strengths = rules.game.strengths((*board, *river))
                won += 0.5 * (1 + np.sign(strengths[own] - strengths[other]))
                met += 1
        expected = won / met if met else 0.0
        found = rules.strengths(node, 0)
        assert found[number] == pytest.approx(expected), rules.game.hand_names[own]
