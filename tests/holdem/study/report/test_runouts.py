"""Runouts, groups and figures of a solved turn, against sums over its nodes and formulas done by hand."""

import numpy as np
import pytest

import treeplex as tp
from treeplex.errors import SpecError
from treeplex.holdem.cards.cards import CLASSES, cards_to_string
from treeplex.holdem.cards.made_hands import MADE_HANDS
from treeplex.holdem.study.report.breakdown import GROUPINGS, filtered, group_hands, group_of, node_range, spread
from treeplex.holdem.study.report.export import node_report
from treeplex.holdem.study.report.measures import node_statistics
from treeplex.holdem.study.report.runouts import runouts


@pytest.fixture(scope="module")
def turn():
    spot = tp.holdem.spot("Td 9d 6h Qc", "AA,TT,AdJd,KdQd,8s7s", "KK,QTs,JTs,9d8d", pot=100, stack=150, bets="50%", raises="a")
    return tp.solve(spot, iterations=60, threads=1)


def test_runouts_add_up_to_the_node_before(turn):
    found, before = runouts(turn, "x,x"), node_report(turn, "x,x").from_the_pot()
    assert len(found.cards) == 48
    assert found.chance.sum() == pytest.approx(1)
    np.testing.assert_allclose(found.frequency.sum(axis=0), 1, rtol=1e-6)
    for player in (0, 1):
        side = before.sides[player]
        assert found.ev[player] @ found.chance == pytest.approx(side.mean(side.ev), rel=1e-5)
        assert found.equity[player] @ found.chance == pytest.approx(side.mean(side.equity), rel=1e-5)
    np.testing.assert_allclose(found.equity.sum(axis=0), 1, rtol=1e-6)
    for place in (0, 17, 40):
        node = node_report(turn, f"x,x,{cards_to_string([found.cards[place]])}").from_the_pot()
        np.testing.assert_allclose(found.frequency[:, place], node.sides[0].totals)
        assert found.ev[1, place] == node.sides[1].mean(node.sides[1].ev)


def test_runouts_after_actions(turn):
    found = runouts(turn, "x,x,7s,x")
    assert (found.before, found.after, found.player) == ("x,x", "x", 1)
    first = runouts(turn, "x,x")
    np.testing.assert_allclose(found.reach, first.frequency[first.actions.index("check")], rtol=1e-6)
    with pytest.raises(SpecError, match="no card is dealt"):
        runouts(turn, "x")
    with pytest.raises(SpecError, match="line 'x,x,7s,x,x': no player acts after the card; extend the line to a decision"):
        runouts(turn, "x,x,7s,x,x")


@pytest.mark.parametrize("by", GROUPINGS)
def test_groups_add_up(turn, by):
    node = node_report(turn, "x")
    side = node.sides[1]
    groups, whole = group_hands(side, node.cards, by), group_of(side, "all")
    shares = np.array([group.share for group in groups])
    assert shares.sum() == pytest.approx(1)
    assert sum(group.combos for group in groups) == pytest.approx(side.combos)
    for name in ("ev", "equity"):
        assert sum(group.share * getattr(group, name) for group in groups) == pytest.approx(getattr(whole, name))
    np.testing.assert_allclose(shares @ np.array([group.frequency for group in groups]), side.totals)


def test_groups_are_those_hands(turn):
    node = node_report(turn, "")
    groups = {group.name: group for group in group_hands(node.sides[0], node.cards, "made")}
    assert list(groups) == [name for name in MADE_HANDS if name in groups]
    assert {name: round(group.combos) for name, group in groups.items()} == {
        "straight": 1,
        "set": 3,
        "overpair": 6,
        "top pair": 1,
        "ace high": 1,
    }
    some = filtered(node, ["Overpair", "set", "no draw"])
    assert {name[0] for name in some.sides[0].names} == {"A", "T"}
    assert "TsTh" not in filtered(node, ["top pair"]).sides[0].names
    assert set(filtered(node, ["AA", "TT"]).sides[0].names) >= {"AsAh", "TsTh"}
    assert "AA" in CLASSES
    with pytest.raises(SpecError, match="is not a group of hands; did you mean 'top pair'"):
        filtered(node, ["top pairs"])
    with pytest.raises(SpecError, match="cannot be grouped"):
        group_hands(node.sides[0], node.cards, "colour")


def test_figures_of_a_node(turn):
    assert node_statistics(turn, "").call == 0
    faced = node_statistics(turn, "x,b50%")
    assert (faced.call, faced.pot_odds, faced.mdf) == (50, pytest.approx(50 / 200), pytest.approx(100 / 150))
    node = node_report(turn, "x,b50%")
    assert faced.defended == pytest.approx(1 - node.sides[0].totals[node.kinds.index("fold")])
    raised = node_statistics(turn, "x,b50%,a")  # a raise to 150 into 150
    assert (raised.call, raised.pot_odds, raised.mdf) == (100, pytest.approx(100 / 400), pytest.approx(150 / 300))
    root = node_report(turn, "").from_the_pot()
    assert node_statistics(turn, "").eqr[0] == pytest.approx(
        root.sides[0].mean(root.sides[0].ev) / (100 * root.sides[0].mean(root.sides[0].equity))
    )


def test_range_text_reads_back(turn):
    node = node_report(turn, "x,b50%")
    side = node.sides[1]
    text = node_range(side)
    weights = tp.holdem.parse_range(text)
    beside = side.weight / side.weight.max()
    names = [cards_to_string(tp.holdem.parse_cards(name)) for name in side.names]
    again = dict(zip(names, beside, strict=True))
    for hand in range(1326):
        low, high = turn.spot.format.hands[hand]
        assert weights[hand] == pytest.approx(again.get(cards_to_string((high, low)), 0.0), abs=6e-4)


def test_spread_of_equity(turn):
    side = node_report(turn, "").sides[0]
    curve = spread(side, side.equity)
    assert curve[0] == np.nanmin(side.equity[side.share > 0])
    assert curve[-1] == np.nanmax(side.equity[side.share > 0])
    assert (np.diff(curve) >= 0).all()
    assert spread(side, side.equity, 20_001).mean() == pytest.approx(side.mean(side.equity), abs=1e-3)
