"""Runouts, groups and figures of a solved turn, against sums over its nodes and formulas done by hand."""

import numpy as np
import pytest

import treeplex as tp
from treeplex.errors import SpecError
from treeplex.holdem.cards.cards import CLASSES, cards_to_string
from treeplex.holdem.cards.made_hands import MADE_HANDS
from treeplex.holdem.cli.shared.views import show_runouts
from treeplex.holdem.study.equity import equity
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


def test_some_cards_count_for_those_they_represent():
    """Eight of 48 rivers stand for six cards each: one of the flush's suit, or three of the others, which are alike."""
    ranges = ("AA,TT,AJs,KK", "KK,QTs,JTs,22+")
    spot = tp.holdem.spot("Td 9d 6d Qd", *ranges, pot=100, stack=150, bets="50%", raises="a", runouts={"river": 8})
    solution = tp.solve(spot, iterations=4, threads=1)
    found = runouts(solution, "x,x")
    cards = [cards_to_string([card]) for card in found.cards]
    met = np.array([solution.at(f"x,x,{card}").compatible_of(0).sum() for card in cards])
    expected = met * np.where([card[1] == "d" for card in cards], 6, 2)
    assert {card[1] for card in cards} == set("cdhs")
    np.testing.assert_allclose(found.chance, expected / expected.sum())
    exact = equity(ranges, "Td9d6dQd", threads=1)
    for player, side in enumerate(node_report(solution, "").sides):
        np.testing.assert_allclose(side.equity, exact.players[player].hand_equity, rtol=1e-9)


def test_blinds_are_a_bet_and_antes_are_not():
    """The big blind risks 1 to win the small blind of 0.5 and the antes of 1."""
    some = {"runouts": {"flop": 1, "turn": 1, "river": 1}, "flop_bets": "none", "turn_bets": "none", "river_bets": "none"}
    spot = tp.holdem.spot("", "AA,KK", "AA,22", pot=1, stack=5, blinds="0.5,1", bets="a", raises="a", **some)
    first = node_statistics(tp.solve(spot, iterations=1, threads=1), "")
    assert (first.call, first.pot_odds, first.mdf) == (0.5, pytest.approx(0.5 / 3), pytest.approx(1.5 / 2.5))


def test_printed_means_count_cards_by_how_often_the_decision_is_reached(turn, capsys):
    show_runouts(turn, "x,x,7s,b50%", as_json=False)
    found = runouts(turn, "x,x,7s,b50%")
    weights = found.chance * found.reach
    assert np.ptp(found.reach) > 0.2
    mean = 100 * np.nansum(found.frequency[0] * weights) / weights.sum()
    assert abs(mean - 100 * np.nansum(found.frequency[0] * found.chance)) > 1
    assert f"{found.actions[0]}, percent: {mean:.0f} on average" in capsys.readouterr().out
