"""Decisions and actions of one betting tree beside those of another, by hand."""

import treeplex as tp
from treeplex.holdem.betting.tree import BettingTree, Decision, betting_tree
from treeplex.holdem.solve.matched_betting import NONE, matched_betting


def tree(bets: str, raises: str, board: str = "Td 9d 6h Qc 2s") -> BettingTree:
    return betting_tree(tp.holdem.spot(board, "AA", "KK", pot=100, stack=300, bets=bets, raises=raises))


def names(own: BettingTree, other: BettingTree, line: tuple[int, ...] = ()) -> dict[str, str | None]:
    """At the decision after some actions: each action by name, and the one of the other tree."""
    number = 0
    for action in line:
        node = own.nodes[number]
        assert isinstance(node, Decision)
        number = node.children[action]
    match, node = matched_betting(own, other)[number], own.nodes[number]
    there = other.nodes[match.node]
    assert isinstance(node, Decision)
    assert isinstance(there, Decision)
    pairs = zip(node.actions, match.actions, strict=True)
    return {str(action): None if place == NONE else str(there.actions[place]) for action, place in pairs}


def test_a_tree_matches_itself() -> None:
    own = tree("33%,75%,a", "60%,a", "Td 9d 6h Qc")
    found = matched_betting(own, own)
    assert sorted(found) == [number for number, _ in own.decisions()]
    for number, match in found.items():
        assert match == (number, tuple(range(len(match.actions))))


def test_the_nearest_size_in_parts_of_the_pot() -> None:
    fine, coarse = tree("33%,75%,250%,a", "60%,a"), tree("50%,a", "a")
    assert names(fine, coarse) == {
        "check": "check",
        "bet 33": "bet 50",
        "bet 75": "bet 50",
        "bet 250": "allin 300",
        "allin 300": "allin 300",
    }
    # after a bet of another size: a raise is another part of the pot, an all-in stays one
    assert names(fine, coarse, (2,)) == {"fold": "fold", "call": "call", "raise 225": "allin 300", "allin 300": "allin 300"}
    # the coarse game has nobody left to raise after an all-in
    assert names(fine, coarse, (3,)) == {"fold": "fold", "call": "call", "allin 300": None}


def test_no_bet_stands_for_a_bet_where_there_is_none() -> None:
    fine, passive = tree("50%", "a"), tree("none", "none")
    assert names(fine, passive) == {"check": "check", "bet 50": None}
    assert names(passive, fine) == {"check": "check"}
    found = matched_betting(fine, passive)
    assert len(found) == 2  # both check


def test_streets_go_on_side_by_side() -> None:
    """A call of another bet opens the same decision on the next street; a call of an all-in opens none."""
    fine, coarse = tree("75%,250%", "none", "Td 9d 6h Qc"), tree("50%,a", "none", "Td 9d 6h Qc")
    found = matched_betting(fine, coarse)
    for number, match in found.items():
        node, there = fine.nodes[number], coarse.nodes[match.node]
        assert isinstance(node, Decision)
        assert isinstance(there, Decision)
        assert (node.street, node.player) == (there.street, there.player)
    rivers = [number for number, node in fine.decisions(3) if node.contributions == (300, 300)]
    assert rivers  # after 250% there is a river, and after all-in there is none
    assert not set(rivers) & set(found)
