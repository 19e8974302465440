"""Learners on hold'em spots: trained by the rules, judged by the hold'em engine, and what is said where that cannot be."""

import json
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

import treeplex as tp
from tests.commands import call
from tests.holdem.policies.test_network import limit
from tests.holdem.policies.test_network import network as random_network
from treeplex.base.notices import telling
from treeplex.base.storage.memory import megabytes
from treeplex.engine.threads import checked_threads
from treeplex.errors import AlgorithmError, FileError, PolicyError
from treeplex.holdem.betting.bet_plan import FixedLimit
from treeplex.holdem.betting.tree import Decision
from treeplex.holdem.cards.cards import cards_to_string
from treeplex.holdem.cards.format import small
from treeplex.holdem.forms.compile_spot import compile_spot
from treeplex.holdem.policies import network_files as on_spots
from treeplex.holdem.policies.line import action_text
from treeplex.holdem.policies.network_files import memory_needed, policy_of_network
from treeplex.holdem.rules.dealt import DealtSpot
from treeplex.holdem.spots.known import flop_holdem, leduc_holdem

pytest.importorskip("torch")
SMALL = {"width": 8, "layers": 1, "steps": 2, "walks": 20, "fits": 20}
DEEP_CFR = {**SMALL, "average_fits": 20}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["deep-cfr", "sd-cfr"])
def test_the_commands_take_a_spot_by_name(name: str, tmp_path: Path) -> None:
    """What is measured under way is what the command says later; sd-cfr leaves a mixture."""
    settings = [
        part for pair in (DEEP_CFR if name == "deep-cfr" else SMALL).items() for part in ("--set", "=".join(map(str, pair)))
    ]
    printed = json.loads(call("train", name, "leduc_holdem", *settings, "--out", tmp_path / "run", "--json")[0])
    judged = json.loads(call("evaluate", "leduc_holdem", tmp_path / "run", "--json")[0])
    assert judged["exploitability"] == pytest.approx(printed["exploitability"], rel=1e-6)
    assert (judged["algorithm"], judged["iterations"]) == (name, 2)
    again = json.loads(call("train", "--resume", tmp_path / "run", "--set", "steps=3", "--json")[0])
    assert again["steps"] == 3
    assert again["exploitability"] == pytest.approx(tp.judge("leduc_holdem", tmp_path / "run").exploitability, rel=1e-6)


@pytest.mark.slow
def test_what_was_interrupted_goes_on_as_if_it_had_not_been(tmp_path: Path) -> None:
    whole = tp.train("leduc_holdem", "deep-cfr", settings=DEEP_CFR, out=tmp_path / "whole")
    tp.train("leduc_holdem", "deep-cfr", settings={**DEEP_CFR, "steps": 1}, out=tmp_path / "parts")
    parts = tp.train(resume=tmp_path / "parts", settings={"steps": 2})
    assert whole.records[-1].measures == parts.records[-1].measures
    assert whole.kind.next_steps(whole) == [
        (f"treeplex evaluate leduc_holdem {tmp_path / 'whole'}", "compute its exploitability")
    ]


@pytest.mark.slow
def test_workers_change_nothing_and_the_policy_plays(tmp_path: Path) -> None:
    one = tp.train("leduc_holdem", "deep-cfr", settings=DEEP_CFR, out=tmp_path / "one")
    two = tp.train("leduc_holdem", "deep-cfr", settings=DEEP_CFR, out=tmp_path / "two", workers=2)
    assert one.records[-1].measures == two.records[-1].measures
    value = tp.judge("leduc_holdem", tmp_path / "one").value[0]
    played = json.loads(call("playouts", "leduc_holdem", tmp_path / "one", "-n", 2000, "--json")[0])
    assert played["value"][0] == pytest.approx(value, abs=4 * played["error"][0])


@pytest.mark.slow
def test_a_spot_as_an_object_is_known_by_its_name(tmp_path: Path) -> None:
    training = tp.train(leduc_holdem(), "ppo", settings={"batch": 8, "width": 8, "layers": 1, "steps": 1}, out=tmp_path / "run")
    assert training.game == "leduc_holdem"
    assert tp.judge(leduc_holdem(), training.load()).exploitability == training.records[-1].measures["exploitability"]


def test_a_network_is_for_its_own_pot_and_sizes(tmp_path: Path) -> None:
    """Spots without a name, whose networks have the same inputs and actions."""
    spot = limit(small(ranks=3, suits=2, hole=1, deal=(0, 1)), 1)
    settings = {"batch": 8, "width": 8, "layers": 1, "steps": 1}
    tp.train(spot, "ppo", settings=settings, out=tmp_path / "run")
    assert tp.judge(spot, tmp_path / "run").exploitability > 0
    for other in (replace(spot, pot=4.0), replace(spot, bets=FixedLimit((2.0, 2.0), (1, 1)))):
        with pytest.raises(PolicyError, match=r"a network for another spot, not for .*; train one for this spot"):
            tp.judge(other, tmp_path / "run")


@pytest.mark.slow
def test_what_does_not_fit_is_one_line_with_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "run"
    tp.train("leduc_holdem", "deep-cfr", settings=DEEP_CFR, out=folder)
    with pytest.raises(PolicyError, match=r"a network for leduc_holdem, not for .*; train one for this spot"):
        tp.judge(leduc_holdem(4), folder)
    tp.train("leduc_poker", "ppo", settings={"batch": 8, "width": 8, "steps": 1, "rules": True}, out=tmp_path / "other")
    with pytest.raises(PolicyError, match="network for leduc_poker"):
        tp.judge("leduc_holdem", tmp_path / "other")
    (tmp_path / "empty").mkdir()
    assert (
        "a folder without a network for a hold'em spot; give a folder written by treeplex train"
        in (call("evaluate", "leduc_holdem", tmp_path / "empty", code=2)[1])
    )
    with pytest.raises(FileError, match="check the path"):
        tp.judge("leduc_holdem", tmp_path / "missing")
    with pytest.raises(
        AlgorithmError, match="leduc_holdem is a hold'em spot, which is always sampled from the rules; leave rules=false out"
    ):
        tp.train("leduc_holdem", "deep-cfr", settings={"rules": False}, out=tmp_path / "tree")
    with pytest.raises(AlgorithmError, match="Rcfr needs all histories"):
        tp.train("leduc_holdem", "rcfr", out=tmp_path / "rcfr")
    monkeypatch.setattr(on_spots, "available_memory", lambda: 1000)
    with pytest.raises(PolicyError, match=r"needs .* MB of memory, but .* MB are free; free some"):
        tp.judge("leduc_holdem", folder)


def test_thousandths_of_a_big_blind_are_said_where_there_are_blinds(tmp_path: Path) -> None:
    spot = tmp_path / "blinds.yaml"
    spot.write_text(
        "board: ''\nformat: small(ranks=3,suits=2,hole=1,deal=[0,1])\noop: all\nip: all\npot: 0\nstack: 20\nblinds: 1, 2\n"
        "limit: {bets: [2, 4], most: [2, 2]}\n"
    )
    judged = json.loads(call("evaluate", spot, "uniform", "--json")[0])
    assert judged["exploitability_mbb"] == pytest.approx(500.0 * judged["exploitability"])
    assert f"{judged['exploitability_mbb']:.2f} mbb" in call("evaluate", spot, "uniform")[0]
    assert "exploitability_mbb" not in json.loads(call("evaluate", "leduc_holdem", "uniform", "--json")[0])


@pytest.mark.slow
def test_memory_is_said_before_the_boards(tmp_path: Path) -> None:
    training, said = tp.train("leduc_holdem", "deep-cfr", settings=DEEP_CFR, out=tmp_path / "run"), list[str]()
    with telling(said.append):
        tp.judge("leduc_holdem", training.load())
    game = compile_spot(leduc_holdem())
    boards, needed = sum(map(len, game.boards)), megabytes(memory_needed(game, 1, checked_threads(None)))
    said = [each for each in said if each != "judging"]
    assert said[0] == f"reading the network at {game.infosets:,} infosets, {needed} of memory"
    assert said[-1] == f"{said[0]}  {boards}/{boards} boards"


@pytest.mark.slow
def test_the_table_says_what_the_network_says_of_hands_as_they_are_dealt() -> None:
    """On all 52 cards, at states of random deals, whose boards are renamings of those that the table has."""
    spot = flop_holdem(1)
    rules, random = DealtSpot(spot), Random(0)
    network = random_network(spot, 3)
    table, seen = policy_of_network(network, compile_spot(spot)), 0
    for _ in range(60):
        state, words = rules.new_initial_state(), list[str]()
        while not state.is_terminal():
            action, before = random.choice(list(state.legal_actions())), state.deal.board
            event = rules.cards_aside.tree.nodes[state.node]
            if not state.is_chance_node():
                assert isinstance(event, Decision)
                hand = state.deal.hole[2 * event.player : 2 * event.player + 2]
                found = table[",".join(words), cards_to_string(hand)]
                asked = network.action_probabilities(state)
                assert list(found.values()) == pytest.approx(list(asked.values()), abs=1e-5)
                seen += 1
                words.append(action_text(event.actions[list(state.legal_actions()).index(action)]))
            state = state.child(action)
            if len(state.deal.board) == 3 > len(before):
                words.append(cards_to_string(state.deal.board))
    assert seen > 150
