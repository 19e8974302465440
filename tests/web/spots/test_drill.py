"""Drills: the mix and the EVs are those of the solution, filters hold, hands go on, and mistakes can be repeated."""

from dataclasses import replace
from typing import Any

import httpx
import numpy as np
import pytest

from treeplex.errors import SpecError
from treeplex.holdem.cards.cards import hand_index, parse_cards
from treeplex.holdem.cards.ranges import parse_range
from treeplex.holdem.policies.view import NodeView
from treeplex.holdem.solve.solution import HoldemSolution
from treeplex.holdem.study.batches.boards import texture_of
from treeplex.holdem.study.drill import DrillFilter, deal
from treeplex.holdem.study.preflop_charts import read_solved
from treeplex.holdem.study.report.export import node_report

TURN = "mine/turn.spot"


def ask(client: httpx.Client, **request: Any) -> dict[str, Any]:
    answer = client.post("/api/drill", json={"file": TURN, **request})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_answers_are_those_of_the_solution(shared: httpx.Client, solved: dict[str, HoldemSolution]) -> None:
    for seed in range(20):
        asked = ask(shared, seed=seed)
        node = node_report(solved["turn"], asked["line"]).from_the_pot()
        side = node.sides[asked["player"]]
        row = side.names.index(asked["hand"])
        assert node.player == asked["player"]
        assert asked["actions"] == list(node.actions)
        assert len(node.actions) > 1
        assert asked["mix"] == pytest.approx(side.frequency[:, row].tolist())
        assert asked["ev"] == pytest.approx(side.action_ev[:, row].tolist())
        assert asked["loss"] == pytest.approx((max(asked["ev"]) - np.array(asked["ev"])).tolist())
        assert asked["verdict"][int(np.argmax(asked["mix"]))] == "best"
        cards = parse_cards(asked["hand"]) + parse_cards(asked["board"])
        assert len(set(cards)) == len(cards)


def test_a_seed_deals_the_same_hand(shared: httpx.Client) -> None:
    assert ask(shared, seed=5) == ask(shared, seed=5)
    assert len({ask(shared, seed=seed)["hand"] for seed in range(10)}) > 3


def test_cards_of_a_sample_are_drawn_by_the_deals_that_they_represent(solved: dict[str, HoldemSolution]) -> None:
    """A turn whose rivers are a sample, in which each club stands for a hundred times as many deals as another card."""

    class Sampled:
        spot = replace(solved["turn"].spot, runouts=(0, 0, 0, 48))

        def at(self, line: str) -> NodeView:
            return replace(solved["turn"].at(line), represents=100.0 if line.rpartition(",")[2].endswith("c") else 1.0)

    rng = np.random.default_rng(0)
    lines = [deal(Sampled(), DrillFilter(street="river", player=0), rng, "x,x").line for _ in range(20)]
    assert sum(line.endswith("c") for line in lines) >= 18


@pytest.mark.parametrize(
    "wanted",
    [
        {"player": 1},
        {"street": "river"},
        {"hands": "set"},
        {"line": "x", "player": 1},
        {"street": "river", "suits": "two-tone"},
    ],
)
def test_questions_pass_the_filters(shared: httpx.Client, wanted: dict[str, Any]) -> None:
    for seed in range(6):
        asked = ask(shared, seed=seed, **wanted)
        assert asked["player"] == wanted.get("player", asked["player"])
        assert asked["street"] == wanted.get("street", asked["street"])
        assert asked["line"].startswith(wanted.get("line", ""))
        if "suits" in wanted:
            assert texture_of(parse_cards(asked["board"])).suits == wanted["suits"]
        if "hands" in wanted:
            ranks, board = (
                {card >> 2 for card in parse_cards(asked["hand"])},
                {card >> 2 for card in parse_cards(asked["board"])},
            )
            assert len(ranks) == 1
            assert ranks <= board


def test_hands_are_drawn_as_often_as_the_range_has_them(solved: dict[str, HoldemSolution]) -> None:
    policy, rng = solved["river"].policy, np.random.default_rng(1)
    hands = [deal(policy, DrillFilter(player=0), rng).hand for _ in range(1500)]
    side = node_report(solved["river"], "").sides[0]
    counts = np.array([hands.count(name) for name in side.names]) / len(hands)
    np.testing.assert_allclose(counts, side.share, atol=0.03)


def test_a_hand_goes_on_after_the_answer(shared: httpx.Client) -> None:
    ends = goes = 0
    for seed in range(20):
        first = ask(shared, player=0, seed=seed)
        for line in first["lines"]:
            later = ask(shared, line=line, dealt=first["hands"], player=0, seed=seed)
            if later["over"]:
                ends += 1
                continue
            goes += 1
            assert later["line"].startswith(line)
            assert (later["hand"], later["player"]) == (first["hand"], 0)
    assert ends
    assert goes


def test_a_question_can_be_repeated(shared: httpx.Client) -> None:
    first = ask(shared, seed=3, street="river")
    assert ask(shared, line=first["line"], dealt=first["hands"], repeat=True) == first


def test_a_folder_deals_from_its_solutions_with_the_texture(shared: httpx.Client) -> None:
    assert ask(shared, file="mine", seed=1)["file"] == TURN
    assert ask(shared, file="mine", suits="two-tone", seed=1)["file"] == TURN
    answer = shared.post("/api/drill", json={"file": "mine", "suits": "monotone"})
    assert answer.status_code == 404
    assert "no solved spot with this texture" in answer.json()["error"]


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ({"street": "flop"}, "street 'flop' is not played in this spot; choose turn or river"),
        ({"hands": "top hat"}, "'top hat' is not a group of hands"),
        ({"hands": "AKs"}, "none of these hands is in the range at 'root'"),
        ({"suits": "flush"}, "no hand in 3,000 dealt hands passes these filters"),
        ({"line": "b7"}, "b7"),
        ({"dealt": [0, 5000]}, "two rows of hands"),
        ({"dealt": [0, 1], "repeat": True}, "has no decision at 'root'"),
        ({"dealt": [0, 1]}, "has no decision at 'root'"),
        ({"dealt": [0, 1], "line": "x", "player": 1}, "has no decision at 'x'"),
        ({"file": "20bb", "dealt": [1325, 1325]}, "has no decision at 'root'"),
        ({"file": "20bb", "dealt": [1325, 1325], "repeat": True}, "has no decision at 'root'"),
        ({"player": 2}, "player"),
        ({"file": "../x"}, "not a file name"),
    ],
)
def test_drills_that_cannot_be_dealt(shared: httpx.Client, request_: dict[str, Any], words: str) -> None:
    answer = shared.post("/api/drill", json={"file": TURN, "seed": 1, **request_})
    assert answer.status_code in (400, 403)
    assert words in answer.json()["error"]


def test_mistakes_lose_more_than_a_hundredth_of_the_pot(solved: dict[str, HoldemSolution]) -> None:
    policy, rng, seen = solved["river"].policy, np.random.default_rng(2), set[str]()
    for _ in range(200):
        question = deal(policy, DrillFilter(), rng)
        for action, share in enumerate(question.mix):
            verdict, loss = question.verdict(action), question.loss(action)
            seen.add(verdict)
            assert (verdict == "best") == (share == question.mix.max())
            if verdict == "mistake":
                assert share < 0.05
                assert loss > 0.01 * question.node.pot
            if verdict == "mix":
                assert share >= 0.05
    assert seen >= {"best", "mistake"}


def test_hands_of_a_range_are_asked(shared: httpx.Client) -> None:
    """Entries of ranges add up, and groups restrict them further."""
    wanted = parse_range("99+, AQs, JTs")
    found = set()
    for seed in range(12):
        asked = ask(shared, seed=seed, hands="99+, AQs, JTs")
        low, high = sorted(parse_cards(asked["hand"]))
        assert wanted[hand_index(low, high)] > 0
        found.add(asked["hand"])
    assert len(found) > 3
    answer = shared.post("/api/drill", json={"file": TURN, "hands": "32o"})
    assert answer.status_code == 400
    assert "none of these hands is in the range" in answer.json()["error"]


def test_a_filter_is_read_from_text() -> None:
    assert DrillFilter.of("top pair, 77+, River, on monotone, on A", 1) == DrillFilter(
        1, "river", ("top pair", "77+"), suits="monotone", high="A"
    )
    assert DrillFilter.of("set, AKs, 77+, A2s-A5s").groups == ("set",)
    with pytest.raises(SpecError, match="unknown texture 'wet'"):
        DrillFilter.of("on wet")


def test_shipped_preflop_charts_are_drilled(shared: httpx.Client) -> None:
    """A chart's EVs are its solution's; amounts are big blinds, and positions have preflop names."""
    assert "20bb" in shared.get("/api/drill/charts").json()["charts"]
    solution = read_solved("20bb")
    assert solution is not None
    for seed in range(4):
        asked = ask(shared, file="20bb", seed=seed, hands="22+, A2s+")
        assert (asked["file"], asked["street"], asked["unit"], asked["board"]) == ("20bb", "preflop", "bb", "")
        assert asked["position"] == ("BB", "BTN")[asked["player"]]
        node = node_report(solution, asked["line"]).from_the_pot()
        side = node.sides[asked["player"]]
        row = side.names.index(asked["hand"])
        assert asked["mix"] == pytest.approx(side.frequency[:, row].tolist())
        for action, (ev, loss) in enumerate(zip(asked["ev"], asked["loss"], strict=True)):
            arbitrary = side.frequency[action, row] < 0.001 and node.kinds[action] not in ("fold", "allin")
            assert (ev is None) == (loss is None) == arbitrary
            assert ev is None or ev == pytest.approx(side.action_ev[action, row])
