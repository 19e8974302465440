"""Betting trees: the same as those of other programs, the exact amounts, and the counts of papers."""

from collections import Counter
from dataclasses import replace
from math import comb, inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treeplex.errors import SpecError
from treeplex.holdem.betting import tree_size as counting
from treeplex.holdem.betting.bet_plan import BetPlan, FixedLimit
from treeplex.holdem.betting.tree import BettingTree, Decision, Fold, Showdown, StreetEnd, betting_tree, payoffs
from treeplex.holdem.cards.cards import parse_cards
from treeplex.holdem.spots.known import leduc_holdem, limit_holdem, rhode_island_holdem, turn_endgame_holdem
from treeplex.holdem.spots.spot import Rake, Spot

EVERYTHING = np.ones(1326)


def spot_of(board: str, pot: float, stack: float, bets: BetPlan | FixedLimit, **more: object) -> Spot:
    return Spot(parse_cards(board), pot, stack, (EVERYTHING, EVERYTHING), bets, **more)  # type: ignore[arg-type]


def tree_of(board: str, pot: float, stack: float, bets: BetPlan | FixedLimit, **more: object) -> BettingTree:
    return betting_tree(spot_of(board, pot, stack, bets, **more))


def offered(tree: BettingTree, *choices: int) -> list[str]:
    """The actions after the choices with these numbers, street ends passed over."""
    node = tree.nodes[0]
    for choice in choices:
        assert isinstance(node, Decision)
        node = tree.nodes[node.children[choice]]
        node = tree.nodes[node.child] if isinstance(node, StreetEnd) else node
    assert isinstance(node, Decision)
    return [str(action) for action in node.actions]


# Spots and counts of postflop-solver (b-inary, revision 9d1509f): decisions, their actions, terminals and chance nodes with
# cards dealt, where boards that differ by a renaming of equivalent suits are one.
BASIC = BetPlan.same("60%,e,a", "2.5x", river_donk="50%", add_allin=1.5, force_allin=0.15, merge=0.1)
LIBRATUS = BetPlan.same("50%,100%,a", "100%,a")
ENDGAME = BetPlan.same("50%,100%,a", "75%,a")
CROSS = BetPlan.same("50%,a", "60%,a")
BENCHMARK = BetPlan.same("100%,a", "50%,a").override("turn", 1, bets="100%", raises="50%")
DEALT = {
    "Libratus 1": ("7s9h9cTc", 500, 19750, LIBRATUS, (12320, 34076, 23214, 31)),
    "Libratus 2": ("Ts6hAh7c", 4780, 17610, LIBRATUS, (3088, 7916, 5534, 15)),
    "Libratus 3": ("4s8hTc9h2s", 500, 19750, LIBRATUS, (32, 92, 61, 0)),
    "Libratus 4": ("JsKs5cQs7d", 3750, 18125, LIBRATUS, (20, 56, 37, 0)),
    "flop": ("Td9d6h", 200, 900, BASIC, (163287, 369101, 274387, 1773)),
    "turn": ("Td9d6hQc", 200, 900, BASIC, (2754, 6530, 4576, 17)),
    "river": ("Td9d6hQc2s", 200, 900, BASIC, (10, 26, 17, 0)),
    "turn endgame": ("3s7hTdKs", 2000, 19000, ENDGAME, (7516, 20048, 13802, 27)),
    "turn endgame, more": ("3s7hTdKs", 2000, 20000, ENDGAME, (7516, 20048, 13802, 27)),
    "cross turn": ("Td9d6hQc", 200, 900, CROSS, (3088, 7916, 5534, 15)),
    "cross river": ("Td9d6hQc2s", 200, 900, CROSS, (16, 44, 29, 0)),
    "benchmark flop": ("QsJh2h", 1000, 9500, BENCHMARK, (230636, 547996, 395894, 2031)),
}


def next_boards(board: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The boards with one more card, one for each class of equivalent suits (with the same ranks on every street so far)."""
    streets = [board[:3], board[3:4], board[4:]]
    ranks = [[{card // 4 for card in cards if card % 4 == suit} for cards in streets] for suit in range(4)]
    first = [ranks.index(ranks[suit]) for suit in range(4)]
    return [(*board, card) for card in range(52) if card not in board and first[card % 4] == card % 4]


def dealt_counts(tree: BettingTree, board: tuple[int, ...]) -> tuple[int, int, int, int]:
    """Decisions, actions, terminals and chance nodes once the cards are dealt."""
    boards = [board]
    counts = Counter[str]()
    for street in tree.streets:
        here = [node for node in tree.nodes if node.street == street]
        folds = sum(isinstance(node, Fold) for node in here)
        ends = sum(isinstance(node, StreetEnd) for node in here)
        showdowns = sum(isinstance(node, Showdown) for node in here)
        decisions = [node for node in here if isinstance(node, Decision)]
        counts["decisions"] += len(boards) * len(decisions)
        counts["actions"] += len(boards) * sum(len(node.actions) for node in decisions)
        counts["terminals"] += len(boards) * folds
        counts["chance"] += len(boards) * ends
        runouts = boards
        for _ in range(street, tree.streets[-1]):
            counts["chance"] += len(runouts) * showdowns
            runouts = [longer for shorter in runouts for longer in next_boards(shorter)]
        counts["terminals"] += len(runouts) * showdowns
        boards = [longer for shorter in boards for longer in next_boards(shorter)]
    return counts["decisions"], counts["actions"], counts["terminals"], counts["chance"]


@pytest.mark.parametrize("name", DEALT)
def test_trees_of_postflop_solver(name: str) -> None:
    board, pot, stack, plan, counts = DEALT[name]
    assert dealt_counts(tree_of(board, pot, stack, plan), parse_cards(board)) == counts


def test_amounts_of_the_basic_river() -> None:
    """60% of 200; geometric on the last street is all-in; raises to 2.5 times; all-in where at most 15% of the pot is left."""
    tree = tree_of("Td9d6hQc2s", 200, 900, BASIC)
    assert offered(tree) == ["check", "bet 120", "allin 900"]
    assert offered(tree, 1) == ["fold", "call", "raise 300"]
    assert offered(tree, 1, 2) == ["fold", "call", "allin 900"]
    assert offered(tree, 2) == ["fold", "call"]


def test_geometric_sizes_spread_the_stack_over_the_streets() -> None:
    tree = tree_of("Td9d6h", 200, 900, BetPlan.same("e", "e"))
    first = round(200 * ((2 * 900 / 200 + 1) ** (1 / 3) - 1) / 2)
    assert offered(tree) == ["check", f"bet {first}"]
    pot, left = 200 + 2 * first, 900 - first
    second = round(pot * ((2 * left / pot + 1) ** (1 / 2) - 1) / 2)
    assert offered(tree, 1, 1) == ["check", f"bet {second}"]
    assert offered(tree, 1, 1, 1, 1) == ["check", f"allin {900 - first - second}"]


def test_geometric_variants() -> None:
    river = "Td9d6hQc2s"
    assert offered(tree_of(river, 200, 900, BetPlan.same("2e", "")))[1:] == ["bet 216"]
    assert offered(tree_of(river, 200, 900, BetPlan.same("3e60%,e", "")))[1:] == ["bet 115", "allin 900"]
    assert offered(tree_of(river, 200, 900, BetPlan.same("e60%", "")))[1:] == ["bet 120"]
    pot, left = 200 + 2 * 20, 880
    first_raise = 20 + round(pot * ((2 * left / pot + 1) ** (1 / 3) - 1) / 2)
    tree = tree_of(river, 200, 900, BetPlan.same("20c", "3e"))
    assert offered(tree, 1)[2:] == [f"raise {first_raise}"]
    pot, left = 200 + 2 * first_raise, 900 - first_raise
    second_raise = first_raise + round(pot * ((2 * left / pot + 1) ** (1 / 2) - 1) / 2)
    assert offered(tree, 1, 2)[2:] == [f"raise {second_raise}"]


def test_amounts_are_rounded_half_up_to_chips_and_clamped() -> None:
    river = "Td9d6hQc2s"
    assert offered(tree_of(river, 5, 100, BetPlan.same("50%", ""))) == ["check", "bet 3"]
    assert offered(tree_of(river, 5, 100, BetPlan.same("50%", ""), chip=0.5)) == ["check", "bet 2.5"]
    assert offered(tree_of(river, 5, 100, BetPlan.same("50%", "", min_bet=4))) == ["check", "bet 4"]
    assert offered(tree_of(river, 5, 100, BetPlan.same("0%,0c,1c,300c,1000%", ""))) == ["check", "bet 1", "bet 50", "allin 100"]
    tree = tree_of(river, 100, 100, BetPlan.same("30c", "0%,1.1x,7c,40c"))
    assert offered(tree, 1) == ["fold", "call", "raise 60", "raise 70"]
    assert offered(tree, 1, 2) == ["fold", "call", "raise 90", "allin 100"]
    assert offered(tree, 1, 3) == ["fold", "call", "allin 100"]


def test_raise_caps_of_constants_are_fixed_limit() -> None:
    def lines(tree: BettingTree) -> list[object]:
        return [(node, [str(action) for action in node.actions]) if isinstance(node, Decision) else node for node in tree.nodes]

    capped = tree_of("Td9d6hQc", 100, 1000, BetPlan.same("20c", "20c3r"))
    limit = tree_of("Td9d6hQc", 100, 1000, FixedLimit((20.0,) * 4, (4,) * 4))
    assert lines(capped) == lines(limit)
    assert offered(limit, 1, 2, 2, 2) == ["fold", "call"]
    assert offered(limit, 1, 2, 2) == ["fold", "call", "raise 80"]


def test_donk_sizes_are_for_the_caller_of_the_street_before_only() -> None:
    plan = BetPlan.same("50%", "", turn_donk="10%", river_donk="")
    tree = tree_of("Td9d6h", 100, 1000, plan)
    assert offered(tree, 0, 1, 1) == ["check", "bet 20"]
    assert offered(tree, 1, 1) == ["check", "bet 100"]
    assert offered(tree, 0, 0) == ["check", "bet 50"]
    assert offered(tree, 0, 1, 1, 0) == ["check", "bet 100"]
    assert offered(tree, 0, 1, 1, 0, 0) == ["check", "bet 100"]
    assert offered(tree, 0, 1, 1, 0, 1, 1) == ["check"]


def test_thresholds() -> None:
    river = "Td9d6hQc2s"
    assert offered(tree_of(river, 100, 150, BetPlan.same("50%", "50%", add_allin=1.5))) == ["check", "bet 50", "allin 150"]
    assert offered(tree_of(river, 100, 151, BetPlan.same("50%", "50%", add_allin=1.5))) == ["check", "bet 50"]
    assert offered(tree_of(river, 100, 151, BetPlan.same("50%", "50%", add_allin=1.5)), 1) == [
        "fold",
        "call",
        "raise 150",
        "allin 151",
    ]
    assert offered(tree_of(river, 100, 70, BetPlan.same("50%", "", force_allin=0.1))) == ["check", "allin 70"]
    assert offered(tree_of(river, 100, 71, BetPlan.same("50%", "", force_allin=0.1))) == ["check", "bet 50"]
    assert offered(tree_of(river, 100, 999, BetPlan.same("100%,82%,81%,50%", "", merge=0.1)))[1:] == [
        "bet 50",
        "bet 81",
        "bet 100",
    ]
    assert offered(tree_of(river, 100, 999, BetPlan.same("100%,82%,81%,50%", "", merge=0.11)))[1:] == ["bet 50", "bet 100"]


@pytest.mark.slow
def test_preflop_blinds_order_and_the_big_blinds_option() -> None:
    tree = tree_of("", 0, 200, BetPlan.same("50%", "2.5x,100%,a"), blinds=(1, 2))
    root = tree.nodes[0]
    assert isinstance(root, Decision)
    assert (root.player, root.contributions, root.street_bets) == (1, (2, 1), (2, 1))
    assert offered(tree) == ["fold", "call", "raise 5", "raise 6", "allin 200"]
    assert offered(tree, 1) == ["check", "raise 5", "raise 6", "allin 200"]
    limped = tree.nodes[root.children[1]]
    assert isinstance(limped, Decision)
    assert limped.player == 0
    flop = tree.nodes[limped.children[0]]
    assert isinstance(flop, StreetEnd)
    assert flop.contributions == (2, 2)
    opened = tree.nodes[flop.child]
    assert isinstance(opened, Decision)
    assert (opened.street, opened.player) == (1, 0)
    assert offered(tree, 1, 0) == ["check", "bet 2"]
    assert tree.nodes[root.children[0]] == Fold(0, 1, (2, 1))


def test_without_limps_the_small_blind_raises_or_folds() -> None:
    plan = replace(BetPlan.same("50%", "2.5x,a"), limps=False)
    tree = tree_of("", 0, 20, plan, blinds=(1, 2))
    assert offered(tree) == ["fold", "raise 5", "allin 20"]
    assert offered(tree, 1) == ["fold", "call", "raise 13", "allin 20"]
    assert offered(tree, 1, 1, 1) == ["fold", "call", "raise 13", "allin 15"]  # a bet on the flop may be called
    assert offered(tree_of("", 0, 20, replace(BetPlan.same("50%", ""), limps=False), blinds=(1, 2))) == ["fold", "call"]
    with pytest.raises(SpecError, match="limps"):
        tree_of("Td9d6h", 10, 20, plan)


@pytest.mark.slow
def test_smallest_raise_is_the_last_one_or_the_big_blind() -> None:
    tree = tree_of("", 0, 100, BetPlan.same("0%", "").override("preflop", raises="0%,7c"), blinds=(1, 2))
    assert offered(tree) == ["fold", "call", "raise 4", "raise 9"]
    assert offered(tree, 2) == ["fold", "call", "raise 6", "raise 11"]
    assert offered(tree, 3) == ["fold", "call", "raise 16"]
    assert offered(tree, 1, 0) == ["check", "bet 2"]
    odd = tree_of("", 0, 20, BetPlan.same("", "0%"), blinds=(2, 3))
    assert offered(odd) == ["fold", "call", "raise 6"]


def test_all_in_ends_the_betting() -> None:
    tree = tree_of("Td9d6h", 100, 50, BetPlan.same("a", "a"))
    root = tree.nodes[0]
    assert isinstance(root, Decision)
    facing = tree.nodes[root.children[1]]
    assert isinstance(facing, Decision)
    assert [str(action) for action in facing.actions] == ["fold", "call"]
    assert facing.actions[1].amount == 50
    assert tree.nodes[facing.children[1]] == Showdown(1, (100, 100))
    assert tree.nodes[facing.children[0]] == Fold(1, 1, (100, 50))


def test_payoffs_with_and_without_rake() -> None:
    fold, showdown = Fold(3, 0, (100.0, 180.0)), Showdown(3, (300.0, 300.0))
    assert payoffs(fold, Rake()) == (-100, 100)
    assert payoffs(Fold(3, 1, (180.0, 100.0)), Rake()) == (100, -100)
    assert payoffs(showdown, Rake()) == (300, -300, 0)
    assert payoffs(fold, Rake(0.05)) == (-100, 90)
    assert payoffs(showdown, Rake(0.05)) == (270, -300, -15)
    assert payoffs(showdown, Rake(0.05, 20)) == (280, -300, -10)
    dropped = Rake(0.05, no_flop_no_drop=True)
    assert payoffs(Fold(0, 0, (100.0, 180.0)), dropped) == (-100, 100)
    assert payoffs(Fold(1, 0, (100.0, 180.0)), dropped) == (-100, 90)
    assert payoffs(Showdown(0, (300.0, 300.0)), dropped) == (270, -300, -15)


def infosets_of_limit_holdem(tree: BettingTree) -> tuple[int, int]:
    """Information sets and (at decisions) game states: own cards or all cards, times boards in the order dealt."""
    counts = Counter(node.street for _, node in tree.decisions())
    boards = [1, comb(50, 3), comb(50, 3) * 47, comb(50, 3) * 47 * 46]
    all_boards = [1, comb(48, 3), comb(48, 3) * 45, comb(48, 3) * 45 * 44]
    pairs = comb(52, 2) * comb(50, 2)
    return (
        sum(counts[street] * comb(52, 2) * boards[street] for street in range(4)),
        sum(counts[street] * pairs * all_boards[street] for street in range(4)),
    )


def test_limit_holdem_has_the_published_size() -> None:
    """Johanson (2013), "Measuring the size of large no-limit poker games": 3.162e17 states, 319,365,922,522,608 infosets."""
    infosets, states = infosets_of_limit_holdem(betting_tree(limit_holdem()))
    assert infosets == 319_365_922_522_608
    assert f"{states:.4g}" == "3.162e+17"


def test_rhode_island_has_the_published_linear_program() -> None:
    """Gilpin and Sandholm (2007): 91,224,226 rows and columns, one player's sequences and the other one's constraints."""
    boards = (1, 51, 51 * 50)
    sequences, infosets = [1, 1], [0, 0]
    for _, node in betting_tree(rhode_island_holdem()).decisions():
        infosets[node.player] += 52 * boards[node.street]
        sequences[node.player] += 52 * boards[node.street] * len(node.actions)
    assert [sequences[0] + infosets[1] + 1, sequences[1] + infosets[0] + 1] == [91_224_226, 91_224_226]


@pytest.mark.parametrize(("ranks", "raises", "infosets"), [(3, 2, 936), (12, 6, 100_800)])
def test_leduc_has_the_infosets_of_the_game(ranks: int, raises: int, infosets: int) -> None:
    cards = 2 * ranks
    boards = (1, cards - 1)
    assert sum(cards * boards[node.street] for _, node in betting_tree(leduc_holdem(ranks, raises)).decisions()) == infosets


def test_limit_stacks_bind() -> None:
    tree = tree_of("", 0, 5, FixedLimit((2.0, 2.0, 4.0, 4.0), (4,) * 4), blinds=(1, 2))
    assert offered(tree) == ["fold", "call", "raise 4"]
    assert offered(tree, 2) == ["fold", "call", "allin 5"]
    assert offered(tree, 2, 2) == ["fold", "call"]
    assert offered(tree, 2, 1) == ["check", "allin 1"]


def test_turn_endgame_decisions_a_street() -> None:
    tree = betting_tree(turn_endgame_holdem())
    assert [len(list(tree.decisions(street))) for street in tree.streets] == [28, 156]
    assert len(list(tree.decisions())) == 184


def test_too_many_nodes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "MOST_NODES", 5000)
    with pytest.raises(SpecError, match="more than 5,000 nodes"):
        tree_of("Td9d6h", 10, 1000, BetPlan.same("1c", "1c"))


@pytest.mark.slow
def test_long_lines_do_not_exhaust_the_stack() -> None:
    tree = tree_of("Td9d6hQc2s", 10, 5000, FixedLimit((1.0,) * 4, (10_000,) * 4))
    assert len(tree) > 10_000


SIZE_LISTS = st.lists(
    st.sampled_from(["0%", "33%", "75%", "150%", "e", "2e", "2e80%", "a", "3c", "17c"]), min_size=0, max_size=3
).map(",".join)
RAISE_LISTS = st.lists(st.sampled_from(["0%", "50%", "110%", "2.2x", "4x", "e", "a", "9c2r"]), max_size=2).map(",".join)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    bets=SIZE_LISTS,
    raises=RAISE_LISTS,
    pot=st.integers(1, 60),
    stack=st.integers(1, 120),
    thresholds=st.tuples(*[st.sampled_from([0.0, 0.1, 0.3])] * 3),
    blinds=st.booleans(),
)
def test_every_tree_keeps_the_rules(
    bets: str, raises: str, pot: int, stack: int, thresholds: tuple[float, float, float], blinds: bool
) -> None:
    add, force, merge = thresholds
    plan = BetPlan.same(bets, raises, add_allin=add, force_allin=force, merge=merge, min_bet=4)
    board, extra = ("", {"blinds": (1, 2)}) if blinds and stack > 2 else ("Td9d6hQc", {})
    stack = min(stack, 25) if extra else stack
    tree = tree_of(board, pot, stack, plan, **extra)
    parents = Counter[int]()
    for number, node in enumerate(tree.nodes):
        check_node(tree, number, pot / 2 + stack)
        children = node.children if isinstance(node, Decision) else [node.child] if isinstance(node, StreetEnd) else []
        assert all(child > number for child in children)
        parents.update(children)
    assert set(parents) == set(range(1, len(tree)))
    assert set(parents.values()) <= {1}


def check_node(tree: BettingTree, number: int, most: float) -> None:
    """Actions in order and legal; chips are conserved; who acts next is right."""
    node = tree.nodes[number]
    assert max(node.contributions) <= most
    if not isinstance(node, Decision):
        matched = node.contributions[0] == node.contributions[1]
        assert matched or (isinstance(node, Fold) and min(node.contributions) == node.contributions[node.loser])
        if isinstance(node, Showdown):
            assert node.street == tree.streets[-1] or node.contributions[0] == most
        return
    to_call = node.street_bets[1 - node.player] - node.street_bets[node.player]
    kinds = [action.kind for action in node.actions]
    amounts = [action.amount for action in node.actions if action.kind in ("bet", "raise", "allin")]
    assert kinds[: 2 if to_call else 1] == (["fold", "call"] if to_call else ["check"])
    assert amounts == sorted(set(amounts))
    assert "allin" not in kinds[:-1]
    for action, child in zip(node.actions, node.children, strict=True):
        after = tree.nodes[child]
        paid = max(action.amount - node.street_bets[node.player], 0)
        expected = list(node.contributions)
        expected[node.player] += paid
        assert after.contributions == tuple(expected)
        if action.kind in ("bet", "raise", "allin"):
            assert isinstance(after, Decision)
            assert after.player == 1 - node.player
            assert action.amount > max(node.street_bets)
            assert (action.kind == "allin") == (expected[node.player] == most)
            assert action.kind == "allin" or action.amount - max(node.street_bets) >= 4


def test_payoffs_sum_to_minus_the_rake() -> None:
    rake = Rake(0.04, 7.0)
    for node in tree_of("Td9d6hQc", 20, 200, BetPlan.same("50%,a", "a")).nodes:
        if isinstance(node, Fold):
            assert sum(payoffs(node, rake)) == pytest.approx(-rake.of(2 * min(node.contributions)))
        if isinstance(node, Showdown):
            win, lose, tie = payoffs(node, rake)
            assert win + lose == pytest.approx(2 * tie) == pytest.approx(-rake.of(2 * node.contributions[0]))
    assert Rake().of(1e9) == 0
    assert Rake().cap == inf
