"""``treeplex holdem slumbot`` and ``gtowizard``, each against a local server made for the test."""

import json
import signal
import threading

import pytest
from typer.testing import CliRunner

from tests.holdem.protocols.house import house
from treeplex.holdem.cli.servers import summary_of, summary_text
from treeplex.run.cli.main import app

CALLER = "rules(style=caller)"


def ran(*words, code=0):
    """What a command printed on stdout, and on stderr."""
    found = CliRunner().invoke(app, ["holdem", *words])
    assert found.exit_code == code, found.output
    return found.stdout, found.stderr


def kept(path):
    """The results in a file."""
    return [json.loads(line)["won"] for line in path.read_text().splitlines()[1:]]


def breaks_in(hand):
    """The connection breaks as an action of this hand, from 1, is sent."""
    begun = 0

    def fault(number, path):
        nonlocal begun
        begun += path in ("/api/new_hand", "/hands")
        return "before" if begun == hand and path.endswith("/act") else None

    return fault


def test_what_was_played_before_a_failure_is_told_and_kept_and_resumed(tmp_path):
    out = tmp_path / "hands.jsonl"
    with house(True, breaks_in(6)) as (url, there):
        words = ["slumbot", CALLER, "--url", url, "-n", "12", "--out", str(out)]
        printed, said = ran(*words, code=2)
        assert printed.startswith("5 hands\n  won  ")
        assert "; no 95% interval for fewer than 30 hands" in printed
        assert f"file {out}" in printed
        assert said.startswith(f"error: no answer from {url}/api/act: ")
        assert said.count("\n") == 1
        assert kept(out) == there.results[:5]
        printed, _ = ran(*words, "--json")
        found = json.loads(printed)
        assert found["hands"] == 12
        results = kept(out)
        assert len(results) == 12
        assert results == there.results[:5] + there.results[-7:]
        mean = 10 * sum(results) / 12
        assert found["won"]["mbb_per_hand"] == pytest.approx(mean)
        assert found["won"]["interval"] is None
        asked = len(there.asked)
        assert json.loads(ran(*words, "--json")[0]) == found
        assert len(there.asked) == asked
        _, said = ran("slumbot", "rules(style=rock)", *words[2:], code=2)
        assert (
            said
            == f"error: {out} contains hands with agent '{CALLER}', not 'rules(style=rock)'; choose another file with --out\n"
        )


def test_ctrl_c_ends_a_match_after_the_hand_under_way(tmp_path):
    out, begun = tmp_path / "hands.jsonl", 0

    def fault(number, path):
        nonlocal begun
        begun += path == "/api/new_hand"
        if begun == 4 and path == "/api/act":
            begun += 1
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    with house(True, fault) as (url, there):
        words = ["slumbot", CALLER, "--url", url, "-n", "12", "--out", str(out)]
        printed, said = ran(*words, code=130)
        assert printed.startswith("4 hands\n")
        assert said.splitlines()[-1] == "error: stopped after 4 hands; run the same command again to resume"
        assert kept(out) == there.results
        assert ran(*words)[0].startswith("12 hands\n")


def test_a_second_ctrl_c_ends_it_at_once(tmp_path):
    begun = 0

    def fault(number, path):
        nonlocal begun
        begun += path == "/hands"
        if begun == 4:
            for _ in range(2):
                signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
                threading.Event().wait(0.2)

    with house(False, fault) as (url, _), pytest.MonkeyPatch.context() as patch:
        patch.setenv("GTOWIZARD_API_KEY", "secret")
        printed, said = ran("gtowizard", CALLER, "--url", url, "-n", "12", code=130)
    assert printed.startswith("3 hands\n")
    assert "adjusted" in printed
    assert said.splitlines()[-1] == "error: stopped after 3 hands"


def test_nothing_played_is_no_summary(monkeypatch):
    monkeypatch.setattr("treeplex.holdem.protocols.asking.PAUSES", ())
    words = ["slumbot", CALLER, "--url", "http://127.0.0.1:9/slumbot"]
    printed, said = ran(*words, code=2)
    assert printed == ""
    assert said == (
        "error: no answer from http://127.0.0.1:9/slumbot/api/new_hand: connection refused; check the address and the network\n"
    )
    assert json.loads(ran(*words, "--json", code=2)[0]) == {"hands": 0}
    _, said = ran("slumbot", CALLER, "--url", "slumbot.com", code=2)
    assert said == "error: 'slumbot.com' is not a server's address; write https://...\n"


def test_intervals_need_thirty_hands():
    chips = [float(number % 5 - 2) for number in range(30)]
    found = summary_of(chips)
    low, high = found["interval"]
    assert (low + high) / 2 == pytest.approx(found["mbb_per_hand"])
    assert (high - low) / 2 == pytest.approx(2.045230 * found["stderr"], rel=1e-6)
    assert "95% interval -" in summary_text(found)
    assert summary_of(chips[:29])["interval"] is None


def test_a_single_hand_has_no_interval():
    with house(True) as (url, there):
        found = json.loads(ran("slumbot", CALLER, "--url", url, "-n", "1", "--json")[0])
    assert found == {"hands": 1, "won": {"mbb_per_hand": 10 * there.results[0], "stderr": None, "interval": None}}


def test_the_key_is_wanted(monkeypatch):
    words = ["gtowizard", CALLER, "--url", "http://127.0.0.1:9"]
    monkeypatch.delenv("GTOWIZARD_API_KEY", raising=False)
    assert ran(*words, code=2)[1] == "error: the server needs a key; set the environment variable GTOWIZARD_API_KEY\n"
    monkeypatch.setenv("GTOWIZARD_API_KEY", "a\nb")
    assert "GTOWIZARD_API_KEY contains characters that are not allowed in a key" in ran(*words, code=2)[1]
