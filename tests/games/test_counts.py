"""Sizes of the games: Table 4 of the DDCFR paper, and OpenSpiel's where the paper has none."""

import pytest

from tests.games.walks import Counts, count
from treeplex.games import Chance, Decision, PublicTree, Terminal
from treeplex.games.registry import load

BATTLESHIP = "battleship(board_width=2,board_height=2,ship_sizes=[2],ship_values=[2],num_shots=3,allow_repeated_shots=false)"


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("small_matrix", Counts(21, 2, 15, 3, 5)),
        ("kuhn_poker", Counts(58, 12, 30, 6, 2)),
        ("goofspiel(num_cards=3,imp_info=true,points_order=descending)", Counts(67, 16, 36, 5, 4)),
        ("goofspiel(num_cards=4,imp_info=true,points_order=descending)", Counts(1077, 162, 576, 7, 14)),
        ("liars_dice(dice_sides=3)", Counts(1147, 192, 567, 10, 3)),
        ("liars_dice(dice_sides=4)", Counts(8181, 1024, 4080, 12, 4)),
        (BATTLESHIP, Counts(10069, 3286, 5568, 9, 4)),
        ("leduc_poker", Counts(9457, 936, 5520, 12, 5)),
    ],
)
def test_table_4(name: str, counts: Counts) -> None:
    assert count(load(name)) == counts


def test_leduc_with_suit_isomorphism() -> None:
    counts = count(load("leduc_poker(suit_isomorphism=true)"))
    assert (counts.histories, counts.infosets, counts.terminals) == (1939, 288, 1116)


def test_big_leduc() -> None:
    tree = load("big_leduc").public_tree()
    assert isinstance(tree, PublicTree)
    histories, infosets, terminals, depth = tree.deal_histories, 0, 0, 0
    stack = [(tree.root, tree.deals.astype(float), tree.deal_depth + 1)]
    while stack:
        node, deals, nodes = stack.pop()
        histories += int(deals.sum())
        depth = max(depth, nodes)
        event = tree.visit(node)
        if isinstance(event, Terminal):
            terminals += int(deals.sum())
        elif isinstance(event, Decision):
            infosets += int((deals.sum(axis=1 - event.player) > 0).sum())
            stack += [(tree.child(node, action), deals, nodes + 1) for action in event.actions]
        elif isinstance(event, Chance):
            stack += [(tree.child(node, label), deals * (weight > 0), nodes + 1) for label, weight in event.outcomes]
    assert (histories, infosets, terminals, depth) == (6178561, 100800, 3953424, 20)
