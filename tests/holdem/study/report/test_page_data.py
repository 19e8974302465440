"""Reports of nodes against sums done by hand."""

import numpy as np
import pytest

from tests.holdem.fake_holdem import BOARD, SPOT, FakeAction, FakeView
from treeplex.errors import SpecError
from treeplex.holdem.cards.cards import CLASSES, HAND_CLASSES, HANDS, parse_cards
from treeplex.holdem.study.report.export import lines_above, node_json, read_depth
from treeplex.holdem.study.report.page_data import chosen_hands, hand_classes, report, sized, weighted_mean


@pytest.fixture(scope="module")
def node():
    return report(FakeView("x,b100"), SPOT)


def test_totals(node):
    view, side = FakeView("x,b100"), node.sides[0]
    compatible = view.compatible_of(0)
    np.testing.assert_allclose(side.totals, view.strategy @ compatible / compatible.sum(), rtol=1e-6)
    np.testing.assert_allclose(side.totals.sum(), 1, rtol=1e-6)
    assert side.mean(side.ev) == pytest.approx(view.ev_of(0) @ compatible / compatible.sum())
    assert side.combos == pytest.approx(view.weight_of(0).sum())
    taken = view.strategy[2] * compatible
    assert side.action_values[2] == pytest.approx(view.action_ev[2] @ taken / taken.sum(), rel=1e-6)
    np.testing.assert_allclose(side.totals @ side.action_values, side.mean(side.ev), rtol=1e-5)


def test_who_put_in_what(node):
    assert node.committed == (100, 200)
    for player, own in enumerate((100, 200)):
        net, back = node.sides[player], node.from_the_pot().sides[player]
        np.testing.assert_allclose(back.ev, net.ev + own)
        np.testing.assert_allclose(back.action_ev, net.action_ev + own)
    assert (node.board, node.street, node.pot, node.stacks) == ("Td9d6hQc", "turn", 300, (900, 800))
    assert node.sides[1].frequency.shape == (0, len(node.sides[1].weight))


def test_classes(node):
    side, found = node.sides[0], hand_classes(node.sides[0], BOARD)
    numbers = {name: place for place, name in enumerate(CLASSES)}
    assert [found.possible[numbers[name]] for name in ("AA", "QQ", "AKs", "QTs", "T9o", "72o")] == [6, 3, 4, 2, 6, 12]
    rows = [row for row, name in enumerate(side.names) if name[0] + name[2] == "QJ" and name[1] == name[3]]
    place = numbers["QJs"]
    assert found.weight[place] == pytest.approx(side.weight[rows].sum() / 3)
    for values, means in ((side.ev, found.ev), (side.frequency[1], found.frequency[1])):
        assert means[place] == pytest.approx(values[rows] @ side.share[rows] / side.share[rows].sum())
    assert found.share.sum() == pytest.approx(1)
    assert np.isnan(found.ev[numbers["32o"]])


def test_ranges_of_any_scale():
    small = report(FakeView(""), type(SPOT)(BOARD, 200, 900, tuple(each * 0.001 for each in SPOT.ranges), SPOT.bets))
    np.testing.assert_allclose(small.sides[0].weight, 1000 * report(FakeView(""), SPOT).sides[0].weight)


def test_hands_that_hardly_get_here_come_last():
    class Rare(FakeView):
        def weight_of(self, player):
            weights = super().weight_of(player).copy()
            weights[np.argmax(self.ev_of(player))] = 6.5e-10
            return weights

    side = report(Rare(""), SPOT).sides[0]
    best = int(np.argmax(side.ev))
    few, left = chosen_hands(side, None)
    assert side.weight[best] < 1e-8
    assert best not in few
    assert chosen_hands(side, None, few=len(few) + left)[0][-1] == best


def test_nobody_gets_here():
    class Empty(FakeView):
        def compatible_of(self, player):
            return 0 * self.weight_of(player)

    node = report(Empty(""), SPOT)
    side = node.sides[0]
    assert np.isnan(side.totals).all()
    found = hand_classes(side, BOARD)
    row = CLASSES.index("AA")
    members = np.flatnonzero(HAND_CLASSES[view_hands(side)] == row)
    assert found.frequency[0, row] == pytest.approx(np.average(side.frequency[0, members], weights=side.weight[members]))
    text = node_json(node)
    assert text["oop"]["ev"] is None
    assert text["actions"][0]["frequency"] is None


def view_hands(side):
    low, high = side.cards[:, 0].astype(int), side.cards[:, 1].astype(int)
    return low * (101 - low) // 2 + high - 1


def test_sizes_in_per_cent_of_the_pot():
    view = FakeView("b100")
    assert sized(FakeAction("raise", 300), view) == "50%"
    assert sized(FakeAction("allin", 900), view) == "200%"
    assert sized(FakeAction("bet", 100), FakeView("")) == "50%"
    assert sized(FakeAction("call"), view) == ""
    assert sized(FakeAction("allin", 100), view) == ""


def test_weighted_mean_leaves_out_what_is_not_there():
    assert weighted_mean(np.array([1.0, np.nan, 3.0]), np.array([1.0, 5.0, 1.0])) == 2
    assert np.isnan(weighted_mean(np.array([1.0]), np.array([0.0])))


def test_chosen_hands(node):
    side = node.sides[0]
    few, left = chosen_hands(side, None)
    assert (len(few), left) == (12, int((side.weight > 0).sum()) - 12)
    np.testing.assert_array_equal(np.sort(side.ev)[::-1][:12], side.ev[few])
    rows, left = chosen_hands(side, "QQ, AsKs")
    assert left == 0
    assert {side.names[row] for row in rows} == {"QdQh", "QhQd", "QsQd", "QsQh", "AsKs"} & set(side.names)
    rows = chosen_hands(side, "all")[0]
    assert len(rows) == (side.weight > 0).sum()
    assert [side.names[row] for row in rows[:3]] == ["AsAh", "AsAd", "AsAc"]
    with pytest.raises(SpecError, match="no hand of OOP"):
        chosen_hands(side, "TdTh")


def test_lines():
    assert lines_above("x,b50,c") == ["", "x", "x,b50"]
    assert lines_above("") == []
    assert (read_depth("3"), read_depth(" ALL ")) == (3, None)
    for text in ("-1", "1.5", "", "alles", "9" * 50):
        with pytest.raises(SpecError):
            read_depth(text)


def test_json_leaves_out_hands_of_no_weight():
    class Half(FakeView):
        def weight_of(self, player):
            return super().weight_of(player) * (np.arange(len(self.hands_of(player))) % 2)

    hands = node_json(report(Half(""), SPOT))["oop"]["hands"]
    assert len(hands) == len(FakeView("").hands_of(0)) // 2
    assert not any(set(parse_cards(name)) & set(BOARD) for name in hands)
    assert len(HANDS) == 1326
