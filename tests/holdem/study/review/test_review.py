"""Hands judged, against the solutions of their streets."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from tests.holdem.study.review import many
from tests.holdem.study.review.hands import GG, STARS
from treeplex.errors import SpecError
from treeplex.holdem.cards.cards import HANDS
from treeplex.holdem.cards.ranges import parse_range
from treeplex.holdem.cli.main import group as holdem
from treeplex.holdem.study.review import review as module
from treeplex.holdem.study.review.played_hand import played_hand
from treeplex.holdem.study.review.position_ranges import POSITIONS, PreflopPart, position_range
from treeplex.holdem.study.review.review import ReviewSettings, judged_choice, review
from treeplex.holdem.whole.hand import position_names

pytest.importorskip("pokerkit")
RANGES = ("QQ-TT,AQ,QJs,JTs,T9s,8d7d", "AA-JJ,AQ,KQs,JTs,87s")


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("review")
    settings = ReviewSettings(ranges=RANGES, first="turn", bets="60%", raises="none", share=0.01, threads=1, folder=folder)
    return review(STARS, settings=settings), settings


def test_who_played():
    hand = played_hand(STARS)
    assert (hand.names, hand.hero, hand.cards, hand.big_blind) == (("Dora", "Hero"), 1, ("", "AsQd"), 1)
    assert hand.parts == (PreflopPart("BB", 1, False, "BTN"), PreflopPart("BTN", 1, True, "BTN"))
    hand = played_hand(GG)
    assert (hand.names, hand.hero, hand.cards) == (("Hero", "2b2a7a9b"), 0, ("AhKd", "AdAc"))
    assert hand.parts == (PreflopPart("BB", 2, True, "BTN"), PreflopPart("BTN", 2, False, "BTN"))
    assert played_hand(GG, hero="ip").hero == played_hand(GG, hero="2B2A7A9B").hero == 1
    straddled = played_hand(many.STRADDLE)
    assert (straddled.big_blind, straddled.straddled) == (1, True)
    with pytest.raises(SpecError, match="cards of Dora are not known"):
        played_hand(STARS, hero="Dora")
    with pytest.raises(SpecError, match="no player 'Alice' on the heads-up street"):
        played_hand(STARS, hero="Alice")


def test_positions_with_a_dead_small_blind():
    """The seat after the button has left, so the first player posts the big blind and acts last before the flop."""
    text = STARS.replace("Carl: x: posts small blind $0.50\n", "").replace("Carl: x: folds\n", "")
    hand = played_hand(text.replace("Seat 4: Carl: x ($87 in chips)\n", ""))
    assert hand.names == ("Dora", "Hero")
    assert hand.parts == (PreflopPart("BB", 1, False, "BTN"), PreflopPart("BTN", 1, True, "BTN"))
    assert (hand.big_blind, hand.straddled, hand.streets[0].pot) == (1, False, 5)


def test_decisions_are_those_of_the_solutions(found):
    turn, river = found[0].streets
    assert [choice.line for choice in turn.choices] == ["x", "x,b8,r24"]
    assert [choice.actions[choice.played] for choice in (*turn.choices, *river.choices)] == ["bet 8", "call", "fold"]
    for street in (turn, river):
        for choice in street.choices:
            view = street.solution.at(choice.line)
            own = [sorted(HANDS[row]) for row in view.hands].index(sorted(HANDS[found[0].hand.hero_hand]))
            committed = street.solution.spot.pot / 2 + street.solution.spot.stack - view.stacks[1]
            assert choice.ev == pytest.approx(view.action_ev[:, own] + committed)
            assert choice.frequency == pytest.approx(view.strategy[:, own])
            assert choice.lost == pytest.approx(max(choice.ev) - choice.ev[choice.played])
    assert river.choices[0].ev[0] == pytest.approx(0)
    assert found[0].lost == pytest.approx(sum(choice.lost for each in (turn, river) for choice in each.choices))


def test_ranges_go_from_street_to_street(found):
    turn, river = found[0].streets
    view = turn.solution.at("x,b8,r24,c")
    for player in (0, 1):
        weights = np.zeros(1326)
        weights[view.hands_of(player)] = view.weight_of(player)
        mine, free = river.solution.spot.ranges[player], ~(HANDS == 3).any(axis=1)  # 2s comes
        others = free & (np.arange(1326) != found[0].hand.hero_hand)
        np.testing.assert_allclose(mine[others] / mine.max(), (weights / weights[free].max())[others], atol=1e-6)


def test_solved_streets_are_used_again(found, monkeypatch):
    monkeypatch.setattr(module, "solve_spot", lambda *_, **__: pytest.fail("solved again"))
    again = review(STARS, settings=found[1])
    assert module.review_json(again)["lost"] == pytest.approx(found[0].lost, abs=1e-9)


def test_verdicts(found):
    node = module.node_report(found[0].streets[0].solution, "x").from_the_pot()
    side, hand = node.sides[1], "AsQd"
    row = side.names.index(hand)
    for often, evs, played, noise, verdict in (
        ([0.7, 0.3, 0.0], [5, 5, 3], 0, 0.1, "best"),
        ([0.7, 0.3, 0.0], [5, 5, 3], 1, 0.1, "mixed"),
        ([0.7, 0.3, 0.0], [5, 5, 3], 2, 0.1, "mistake"),
        ([0.7, 0.3, 0.0], [5, 5, 4.95], 2, 0.1, "mixed"),
        ([0.7, 0.3, 0.0], [5, 4.5, 3], 1, 0.1, "mistake"),
        ([0.7, 0.3, 0.0], [5, 9, 3], 0, 0.1, "mistake"),
    ):
        side.frequency[:, row], side.action_ev[:, row] = (np.resize(each, len(side.frequency)) for each in (often, evs))
        choice = judged_choice(node, played, hand, noise)
        assert (choice.verdict, choice.lost) == (verdict, pytest.approx(max(evs) - evs[played]))


def test_ranges_by_position():
    combos = {name: position_range(PreflopPart(name, 1, True, name)).sum() for name in ("UTG", "HJ", "CO", "BTN")}
    assert list(combos) == sorted(combos, key=lambda name: combos[name])
    for players in range(2, 10):
        names = position_names(players)
        assert len(names) == players
        assert set(names) <= set(POSITIONS)
    for position in POSITIONS:
        for opener in ("", *POSITIONS):
            for raises in range(5):
                for raised in (True, False):
                    weights = position_range(PreflopPart(position, raises, raised, opener))
                    assert 20 < weights.sum() < 1100
    with pytest.raises(SpecError, match="position 'LJ' is not known"):
        position_range(PreflopPart("LJ", 1, True, "LJ"))


def test_a_hand_outside_the_range_is_priced(tmp_path):
    settings = ReviewSettings(ranges=("QQ,TT", "KK"), first="river", bets="none", raises="none", threads=1)
    street = review(STARS, settings=settings).streets[0]
    assert any("AsQd was not in the range" in note for note in street.notes)
    (choice,) = street.choices
    assert choice.actions == ("fold", "call")
    assert choice.ev == pytest.approx((0, -70.75))
    assert choice.verdict == "best"
    assert street.equity == 0
    assert parse_range("KK").sum() == 6


def test_command(found, tmp_path):
    file = tmp_path / "hand.txt"
    file.write_text(STARS)
    settings = found[1]
    words = [
        "review",
        str(file),
        "--street",
        "turn",
        "--oop",
        RANGES[0],
        "--ip",
        RANGES[1],
        "--bets",
        "60%",
        "--raises",
        "none",
    ]
    words += ["--target", "1", "--out", str(settings.folder)]
    result = CliRunner().invoke(holdem, words)
    assert result.exit_code == 0, result.output
    assert "judged   Hero, BTN, AsQd" in result.stdout
    assert result.stdout.rstrip().endswith("bb lost in all")
    data = json.loads(CliRunner().invoke(holdem, [*words, "--json"]).stdout)
    assert [street["street"] for street in data["streets"]] == ["turn", "river"]
    assert data["lost_bb"] == pytest.approx(found[0].lost)
    wrong = CliRunner().invoke(holdem, ["review", str(file), "--street", "preflop"])
    assert (wrong.exit_code, wrong.stderr.count("\n")) == (2, 1)
    assert "the hand has no heads-up preflop" in wrong.stderr
