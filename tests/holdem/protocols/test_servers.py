"""Servers over HTTP, each a local one made for the test, and how they go wrong."""

import json
import re

import pytest

from tests.holdem.protocols.house import house
from treeplex.errors import FileError, GameError, SpecError
from treeplex.holdem.protocols import asking, servers
from treeplex.holdem.protocols.asking import ask
from treeplex.holdem.protocols.outside import table_at
from treeplex.holdem.protocols.served import HandsFile, ServedHand
from treeplex.holdem.protocols.servers import GtoWizard, Slumbot, hands_at
from treeplex.search.named_agents.registry import agent

HANDS = 30


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    """No pauses."""
    for module in (asking, servers):
        monkeypatch.setattr(module, "PAUSES", (0.0, 0.0))


def played(slumbot, hands, fault=lambda number, path: None, *, timeout=10.0):
    """The hands that a caller plays at a server that goes wrong, what stopped it, and the server."""
    real, ours = table_at(20_000, (50, 100))
    player, found, stopped = agent("rules(style=caller)", ours), [], None
    with house(slumbot, fault) as (url, there):
        server = Slumbot(url, timeout=timeout) if slumbot else GtoWizard(url, "secret", timeout=timeout)
        try:
            for hand in hands_at(server, real.rules, player, range(hands)):
                found.append(hand)  # noqa: PERF402 (those before an error count)
        except GameError as error:
            stopped = str(error)
            assert "\n" not in stopped
            assert url in stopped
    return found, stopped, there


@pytest.mark.slow
@pytest.mark.parametrize("slumbot", [True, False])
def test_servers_over_http(slumbot):
    real, ours = table_at(20_000, (50, 100))
    player = agent("rules(style=caller)", ours)
    with house(slumbot) as (url, there):
        if slumbot:
            found = list(hands_at(Slumbot(url), real.rules, player, range(HANDS)))
        else:
            found = list(hands_at(GtoWizard(url, "secret"), real.rules, player, range(HANDS)))
            assert [hand.adjusted for hand in found] == [1.5] * HANDS
            assert {key for _, key in there.asked} == {"secret"}
    won = [hand.won for hand in found]
    assert won == there.results
    assert len(set(won)) > 5
    assert [(hand.number, hand.seat) for hand in found] == [(number, 1 - number % 2) for number in range(HANDS)]
    assert {len(hand.cards) for hand in found} == {4}


def test_what_is_no_server_is_one_line():
    with pytest.raises(SpecError, match="address"):
        ask("slumbot.com", {})
    with pytest.raises(GameError, match="no answer"):
        ask("http://127.0.0.1:9/api", {})


@pytest.mark.quick_cases(
    "answer2-which is not JSON-False",
    "answer3-answers nothing, which is not JSON-False",
    "answer4-answers \\\\[\\\\]-True",
    "answer5-is missing; check the server's address-False",
    "answer7-more than 1,048,576 bytes-True",
    "answer7-more than 1,048,576 bytes-False",
    "answer8-answers 500, sorry; try again later-False",
    "answer9-answers 401, .*no key.*; check the key-True",
    "answer10-answers 404, nothing; check the address-True",
    "answer11-answers 302, nothing; it redirects to-False",
    "before-no answer from-True",
    "2.0-does not answer within 0.5 s; allow more time with --timeout-True",
)
@pytest.mark.parametrize("slumbot", [True, False])
@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ((200, b"<html>sign in</html>"), "which is not JSON"),
        ((200, b"\xff\xfe"), "which is not JSON"),
        ((200, b"[" * 5000), "which is not JSON"),
        ((200, b""), "answers nothing, which is not JSON"),
        ((200, b"[]"), r"answers \[\]"),
        ((200, b"{}"), "is missing; check the server's address"),
        ((200, b'{"error_msg": "bad token"}'), "bad token|'game_state' is missing"),
        ((200, b" " * (1 << 21)), "more than 1,048,576 bytes"),
        ((500, b"sorry"), "answers 500, sorry; try again later"),
        ((401, b'{"detail": "no key"}'), "answers 401, .*no key.*; check the key"),
        ((404, b""), "answers 404, nothing; check the address"),
        ((302, b""), "answers 302, nothing; it redirects to"),
        ((418, b"a\nb"), "answers 418, a b; its interface may have changed"),
        ("before", "no answer from"),
        (2.0, "does not answer within 0.5 s; allow more time with --timeout"),
    ],
)
def test_an_answer_that_cannot_be_used_is_one_line(slumbot, answer, why):
    timeout = 0.5 if isinstance(answer, float) else 10.0
    found, stopped, there = played(slumbot, 3, lambda number, path: answer, timeout=timeout)
    assert found == []
    assert re.search(why, stopped), stopped
    assert len(there.asked) == 1


SLUMBOT = {"token": "t", "client_pos": 1, "hole_cards": ["As", "Kd"], "board": [], "action": ""}
STATE = {
    "is_hand_over": False,
    "players": [
        {"name": "GTO Wizard", "position": "BB", "hole_cards": None},
        {"name": "somebody", "position": "SB", "hole_cards": "AsKd"},
    ],
    "board_cards": "",
    "action_history": [],
    "winnings": None,
    "aivat_score": None,
}


@pytest.mark.slow_cases(
    "change1-'client_pos' is null",
    "change2-not a hold'em hand",
    "change3-no cards is not a hold'em hand",
    "change4-not a string",
    "change8-waits for an action, but it is not the agent's turn",
    "change9-b1 is not a bet",
)
@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"client_pos": 7}, "'client_pos' is 7"),
        ({"client_pos": None}, "'client_pos' is null"),
        ({"hole_cards": ["As"]}, "not a hold'em hand"),
        ({"hole_cards": []}, "no cards is not a hold'em hand"),
        ({"hole_cards": 5}, "not a string"),
        ({"hole_cards": ["As", "Xx"]}, "Xx"),
        ({"board": ["As", "2c", "3d"], "action": "cc/"}, "twice"),
        ({"action": None}, "'action' is null, not a string"),
        ({"action": "b200"}, "waits for an action, but it is not the agent's turn"),
        ({"action": "b1"}, "b1 is not a bet"),
        ({"action": "b0"}, "b0 is not a bet"),
        ({"action": "b\u00b2"}, "a bet has no amount"),
        ({"action": "zz"}, "'z' is not an action"),
        ({"winnings": "lots"}, "'winnings' is \"lots\", not a number of chips"),
        ({"winnings": True}, "'winnings' is true, not a number of chips"),
        ({"winnings": float("nan")}, "'winnings' is NaN, not a number of chips"),
        ({"winnings": 10**400}, "not a number of chips"),
    ],
)
def test_what_slumbot_cannot_mean_is_one_line(change, why):
    said = json.dumps(SLUMBOT | change).encode()
    found, stopped, _ = played(True, 3, lambda number, path: (200, said))
    assert found == []
    assert why in stopped


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"players": []}, "exactly one of the players must be called 'GTO Wizard'"),
        ({"players": 5}, "exactly one of the players must be called 'GTO Wizard'"),
        ({"players": [{}, {}]}, "'name' is missing"),
        ({"action_history": 5}, "'action_history' is 5, not a string"),
        ({"is_hand_over": True}, "'winnings' is null, not a number of chips"),
        ({"is_hand_over": True, "winnings": 5, "aivat_score": "x"}, "'aivat_score'"),
    ],
)
def test_what_gto_wizard_cannot_mean_is_one_line(change, why):
    said = json.dumps({"hand_id": 1, "game_state": STATE | change}).encode()
    found, stopped, _ = played(False, 3, lambda number, path: (200, said))
    assert found == []
    assert why in stopped


def test_a_luckless_result_that_is_not_said_is_not_taken_for_zero():
    said = json.dumps({"hand_id": 1, "game_state": STATE | {"is_hand_over": True, "winnings": 5}}).encode()
    found, stopped, _ = played(False, 1, lambda number, path: (200, said))
    assert stopped is None
    assert [(hand.won, hand.adjusted) for hand in found] == [(5.0, None)]


@pytest.mark.slow_cases("True")
@pytest.mark.parametrize("slumbot", [True, False])
def test_a_hand_is_asked_for_again_where_the_server_has_no_room(slumbot):
    found, stopped, there = played(slumbot, 3, lambda number, path: (503, b"busy") if number < 2 else None)
    assert stopped is None
    assert len(found) == 3
    assert there.number == 3
    found, stopped, there = played(slumbot, 3, lambda number, path: (503, b"busy"))
    assert "answers 503, busy; try again later" in stopped
    assert len(there.asked) == 3


@pytest.mark.parametrize("fault", ["before", "after", (503, b"busy"), (200, b"nonsense")])
def test_no_action_is_sent_to_slumbot_twice(fault):
    acts = []

    def wrong(number, path):
        acts.append(path == "/api/act")
        return fault if sum(acts) == 4 and acts[-1] else None

    found, stopped, there = played(True, HANDS, wrong)
    assert stopped
    assert sum(acts) == 4
    assert [hand.won for hand in found] == there.results[: len(found)]


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["before", "after", (503, b"busy"), (200, b"nonsense")])
def test_gto_wizard_is_asked_how_a_hand_stands_before_an_action_is_sent_again(fault):
    state = {"acts": 0, "looked": 0}

    def wrong(number, path):
        state["acts"] += path.endswith("/act")
        state["looked"] += path.startswith("/hands/in-progress")
        return fault if path.endswith("/act") and state["acts"] == 2 else None

    found, stopped, there = played(False, HANDS, wrong)
    assert state["looked"] == 1
    heeded = len(there.acts)  # the server fails where a player acts out of turn
    if stopped is None:
        assert [hand.won for hand in found] == there.results
        assert state["acts"] == heeded + (fault != "after")
    else:  # the action ended the hand, and nobody says how
        assert fault == "after"
        assert "its result is unknown" in stopped


def test_a_server_that_does_not_heed_an_action_is_not_asked_for_ever():
    said = json.dumps(SLUMBOT).encode()
    _, stopped, there = played(True, 1, lambda number, path: (200, said))
    assert "the last action does not appear in the hand" in stopped
    assert len(there.asked) == 2


@pytest.mark.quick_cases("302")
@pytest.mark.parametrize("status", [301, 302, 303, 307])
def test_a_redirection_is_not_followed(status):
    with house(True) as (other, elsewhere):
        _, stopped, _ = played(False, 1, lambda number, path: (status, b"", {"Location": f"{other}/hands"}))
    assert f"it redirects to '{other}/hands'; give that as --url if you trust it" in stopped
    assert elsewhere.asked == []


ABOUT = {"server": "http://x", "agent": "uniform", "think": None}
HAND = ServedHand(0, 1, "AsKd", "", "f", -50.0, None)


def test_hands_are_kept_as_they_end(tmp_path):
    path = tmp_path / "hands.jsonl"
    with HandsFile(path, ABOUT) as file:
        file.add(HAND)
        assert [json.loads(line) for line in path.read_text().splitlines()][1]["won"] == -50.0
        with pytest.raises(FileError, match="is being written by"), HandsFile(path, ABOUT):
            pass
    with path.open("a") as torn:
        torn.write('{"number": 1, "se')
    with HandsFile(path, ABOUT) as file:
        assert file.hands == [HAND]
        file.add(HAND)
    with HandsFile(path, ABOUT) as file:
        assert file.hands == [HAND, HAND]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["hands.jsonl"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("no line end", "not a log of hands"),
        ("nonsense\n", ":1: not a server hand record; choose another file with --out"),
        ('{"server": "http://y"}\n', "hands with server 'http://y', not 'http://x'"),
        (json.dumps(ABOUT) + "\n{}\n", r":2: invalid hand fields \['number', .*\]; fix or remove this line"),
        (json.dumps(ABOUT) + "\n[]\n", ":2: not a server hand record; choose another file with --out"),
    ],
)
def test_a_file_of_something_else_is_left_alone(tmp_path, text, why):
    path = tmp_path / "hands.jsonl"
    path.write_text(text)
    with pytest.raises(FileError, match=why), HandsFile(path, ABOUT):
        pass
    assert path.read_text() == text
