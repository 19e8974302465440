"""External programs as agents: matches with small players of the competition's protocol."""

import json
import os
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import treeplex as tp
from treeplex.errors import FileError, GameError, SpecError, StoppedAgentError
from treeplex.forms.sources.load import load
from treeplex.holdem.betting.rules import CALL, FOLD
from treeplex.holdem.cards.cards import parse_cards
from treeplex.holdem.protocols.acpc import MatchState
from treeplex.holdem.protocols.program import ProgramAgent
from treeplex.run.cli.main import app
from treeplex.search.agents.agent import play_game
from treeplex.search.match.match import match

BOT = Path(__file__).with_name("acpc_bot.py")
GAME = "holdem(stack=40)"
CALLER = "rules(style=caller)"


def program(style, **settings):
    """The text of an agent that plays a style of the bot."""
    more = "".join(f",{name}={value}" for name, value in settings.items())
    return f"program(path={sys.executable},args={BOT} {style}{more})"


def payoffs(result):
    """The payoffs of a match, by hand."""
    return result.ledger.payoffs[: result.ledger.done].tolist()


def runs(number):
    """Whether a process runs, for a second at most."""
    for _ in range(50):
        try:
            os.kill(number, 0)
            if Path(f"/proc/{number}/stat").read_text().rsplit(")")[-1].split()[0] == "Z":
                return False
        except OSError:
            return False
        time.sleep(0.02)
    return True


@pytest.fixture
def log(tmp_path, monkeypatch):
    """A file of the lines that programs received."""
    monkeypatch.setenv("ACPC_LOG", str(tmp_path / "lines"))
    return tmp_path / "lines"


def test_a_caller_is_the_caller_in_both_seats(log):
    result = match(GAME, [CALLER, program("call")], hands=12, duplicate=True, seed=3)
    assert result.hands == 12
    assert not result.failures
    assert not result.remarks
    same = match(GAME, [CALLER, CALLER], hands=12, duplicate=True, seed=3)
    assert payoffs(result) == payoffs(same)
    assert result.value == pytest.approx((0.0, 0.0))  # duplicate deals between equal players
    states = [MatchState.read(line) for line in log.read_text().split()]
    assert sorted({state.number for state in states}) == list(range(12))
    assert [{state.position for state in states if state.number == number} for number in range(12)] == [{1}, {0}] * 6
    ends = [state for state in states if state.betting == "cc/cc/cc/cc"]
    assert len(ends) == 12
    for state in ends:
        assert len({*state.hole[0], *state.hole[1], *state.board}) == 9  # a showdown shows both hands


def test_bets_are_in_the_programs_chips_and_folded_hands_are_hidden(log):
    result = match(GAME, ["rules(style=folder)", program("fine", unit=50)], hands=4, seats="fixed", seed=1)
    # the program, in the small blind, raises to 255 of its chips: 5.1 of the game's, rounded to 5
    assert result.value == pytest.approx((-2.0, 2.0))
    assert result.remarks[0].endswith("4 of 4 actions were raises rounded to a size of the game")
    states = [MatchState.read(line) for line in log.read_text().split()]
    assert [state.betting for state in states] == ["", "r250", "r250f"] * 4
    assert all(state.hole[0] == () and len(state.hole[1]) == 2 for state in states)


def test_hands_without_a_decision_are_reported(log):
    match(GAME, [program("call"), "rules(style=folder)"], hands=3, seats="fixed", seed=1)
    states = [MatchState.read(line) for line in log.read_text().split()]
    assert [state.betting for state in states] == ["", "f"] * 3
    assert all(len(state.hole[0]) == 2 for state in states)


def test_a_match_is_reproducible_and_illegal_actions_are_replaced():
    first, second = (match(GAME, ["rules(style=maniac)", program("random")], hands=20, seed=2) for _ in range(2))
    assert payoffs(first) == payoffs(second)
    result = match(GAME, [CALLER, program("illegal")], hands=20, seed=2)
    assert not result.failures
    assert "were illegal and were replaced; the first: " in result.remarks[-1]
    assert {pair[1] for pair in payoffs(result)} <= {-40.0, -2.0, 0.0, 2.0, 40.0, *range(-39, 40)}


def test_answers_are_replaced_as_in_the_competition():
    game = load(GAME).public
    agent = tp.agent(program("call", unit=50), load(GAME))
    start = game.first_state()
    for word, action in {
        "f": (FOLD, "f"),
        "c": (CALL, "c"),
        "r300": (6, "r300"),
        "r310": (6, "r300"),
        "r50": (4, "r200"),
        "r-9": (4, "r200"),
        "r99999999999999999999999": (40, "r2000"),
        "r999999": (40, "r2000"),
        "r": (CALL, "c"),
        "x": (CALL, "c"),
        "": (CALL, "c"),
    }.items():
        assert agent.action_of(start, word) == action, word
    called = game.after(start, CALL)
    assert agent.action_of(called, "f") == (CALL, "c")  # nothing to fold to
    raised = game.after(start, 40)
    assert agent.action_of(raised, "r2000") == (CALL, "c")
    narrow = load("holdem(stack=200,sizes=[50%;a],limps=false)")
    unlimped = tp.agent(program("call"), narrow)
    assert unlimped.action_of(narrow.public.first_state(), "c") == (FOLD, "f")
    limit = load("holdem(stack=200,bets=[2;2;4;4])")
    fixed = tp.agent(program("call"), limit)
    assert fixed.action_of(limit.public.first_state(), "r") == (4, "r")
    assert fixed.betting("r4c/r6") == "rc/r"


def test_a_pipe_works_like_a_socket():
    game = load(GAME)
    text = program("piped", connection="pipe")
    result = match(game, [CALLER, text], hands=6, seed=3)
    assert payoffs(result) == payoffs(match(game, [CALLER, program("call")], hands=6, seed=3))


@pytest.mark.parametrize(
    ("style", "message"),
    [
        ("hang", r"sent no action within 0.3 s in hand 4; allow more with timeout="),
        ("die", r"has disconnected in hand 4 \(exit status 7, last line of output 'out of luck'\)"),
    ],
)
def test_a_program_that_stops_ends_the_match_once(tmp_path, style, message):
    began = time.monotonic()
    with pytest.raises(StoppedAgentError, match=message) as stopped:
        match(GAME, [CALLER, program(style, timeout=0.3)], hands=1000, seed=3, out=tmp_path / "run")
    assert time.monotonic() - began < 20
    assert stopped.value.result.hands == 4
    assert stopped.value.result.status == "interrupted"
    assert len((tmp_path / "run" / "hands.jsonl").read_text().splitlines()) == 4
    with pytest.raises(SpecError, match="custom code or an external program"):
        match(resume=tmp_path / "run", hands=6)  # a folder starts no program
    agents = [CALLER, program(style, timeout=0.3)]
    with pytest.raises(StoppedAgentError) as again:  # the program starts anew, with hand 4 as its first
        match(GAME, agents, resume=tmp_path / "run", hands=1000)
    assert again.value.result.hands == 8


@pytest.mark.parametrize(
    ("style", "message"),
    [
        ("early", r"ended without connecting \(exit status 3, last line of output 'the program starts'\)"),
        ("mute", r"did not connect within 0.5 s"),
        ("stranger", r"began with 'HELLO' instead of VERSION:2.0.0"),
    ],
)
def test_a_program_that_does_not_begin(style, message):
    start = 0.5 if style == "mute" else 20
    agent = tp.agent(program(style, start=start), GAME)
    with pytest.raises(GameError, match=message):
        agent.begin(0)


def test_the_command_shows_the_hands_before_the_end():
    output = CliRunner().invoke(app, ["match", GAME, CALLER, program("die"), "--json", "-n", "50"])
    assert output.exit_code == 2
    assert json.loads(output.stdout)["hands"] == 4
    assert "stopped after 4 hands" in output.stderr
    assert "Traceback" not in output.output


def test_processes_end_with_the_match(tmp_path):
    text = program("child", folder=f"'{tmp_path}'")
    game = load(GAME)
    agent = tp.agent(text, game)
    agent.begin(0)
    process = agent.record.process
    child = int((tmp_path / "child").read_text())
    assert runs(process.number)
    assert runs(child)
    agent.close()
    assert not runs(process.number)
    assert not runs(child)
    with pytest.raises(StoppedAgentError, match="was ended"):
        agent.begin(0)
    match(game, [CALLER, text], hands=2)
    assert not runs(int((tmp_path / "child").read_text()))
    forgotten = tp.agent(text, game)
    forgotten.begin(0)
    number = forgotten.record.process.number
    del forgotten
    assert not runs(number)


def test_arguments_reach_the_program_unchanged(tmp_path):
    script = tmp_path / "show.sh"
    script.write_text('#!/bin/sh\nprintf "%s\\n" "$PWD" "$@" > shown\nexit 1\n')
    script.chmod(0o755)
    arguments = "'$(touch hacked)' '; touch hacked #' 'a b' 7 0.50"
    agent = tp.agent(f"program(path={script},args={arguments},folder='{tmp_path}')", GAME)
    with pytest.raises(GameError, match="ended without connecting"):
        agent.begin(0)
    folder, *shown, host, port = (tmp_path / "shown").read_text().splitlines()
    assert Path(folder) == tmp_path
    assert shown == ["$(touch hacked)", "; touch hacked #", "a b", "7", "0.50"]
    assert host == "127.0.0.1"
    assert port.isdigit()
    assert not (tmp_path / "hacked").exists()


def test_what_cannot_be_a_program(tmp_path):
    plain = tmp_path / "plain"
    plain.write_text("no program")
    unreadable = tmp_path / "script"
    unreadable.write_text("no first line")
    unreadable.chmod(0o755)
    for text, message in {
        "program": "agent program needs path",
        f"program(path={tmp_path}/none)": "does not exist",
        f"program(path={plain})": "is not executable; run chmod",
        "program(path=no-such-program-here)": "is not on the search path",
        f"program(path={sys.executable},args=a 'b)": "unbalanced brackets or quotes",
        f"program(path={sys.executable},args=a \\)": "no escaped character; close every quote",
        f"program(path={sys.executable},folder=nowhere)": "folder nowhere does not exist",
        f"program(path={sys.executable},connection=smoke)": "connection must be one of socket, pipe",
    }.items():
        with pytest.raises(SpecError, match=message):
            tp.agent(text, GAME)
    for game, message in {
        "leduc_poker": "a program plays heads-up holdem",
        "holdem(players=3)": "a program plays heads-up holdem",
        "holdem(ante=1)": "no straddles or antes",
        "holdem(ranks=6,suits=4,hole=1,deal=[0;1])": "with 52 cards",
    }.items():
        with pytest.raises(SpecError, match=message):
            tp.agent(program("call"), game)
    with pytest.raises(GameError, match="cannot start program"):
        tp.agent(f"program(path={unreadable})", GAME).begin(0)
    with pytest.raises(FileError, match="choose another file for 'log'"):
        tp.agent(program("call", log=tmp_path), GAME).begin(0)
    with pytest.raises(SpecError, match="workers cannot share the external program"):
        match(GAME, [CALLER, program("call")], workers=2)
    inner = f"translated(agent={program('call')},game='{GAME}')"
    with pytest.raises(SpecError, match="workers cannot share the external program"):
        match(GAME, [CALLER, inner], workers=2)
    agent = tp.agent(program("call"), GAME)
    with pytest.raises(GameError, match="plays one seat"):
        agent.begin()
    with pytest.raises(GameError, match="has no policy"):
        agent.policy()


def test_aivat_uses_the_other_agents_policy():
    agents = ["rules(style=regular)", program("call")]
    result = match(GAME, agents, hands=24, aivat="checked", seed=4)
    assert not result.failures
    assert sum(result.value) == pytest.approx(0.0)
    plain = match(GAME, agents, hands=24, seed=4)
    assert result.value != pytest.approx(plain.value)
    assert result.scores[0].result.deviation[0] < plain.scores[0].result.deviation[0]
    with pytest.raises(tp.errors.AlgorithmError, match="no external program here reports one"):
        match(GAME, [program("call"), program("call")], hands=10, aivat="checked")


def test_a_program_that_answers_with_probabilities():
    """Its policy has the answers for every hand; AIVAT and a local best response use it."""
    game = load(GAME)
    agent = tp.agent(program("mixed", policies="true", connection="pipe"), game)
    agent.begin(1)
    policy, hands = agent.policy(), game.public.rules.format.hands
    deuces, labels = (hands // 4 == 0).any(1), list(game.public.options(agent.state).labels)
    rows = [labels.index(label) for label in (FOLD, CALL, 6)]
    np.testing.assert_allclose(policy[rows][:, deuces], np.array([[0.5], [0.25], [0.25]]) * np.ones(deuces.sum()))
    np.testing.assert_allclose(policy[rows][:, ~deuces], np.array([[0.0], [0.125], [0.875]]) * np.ones((~deuces).sum()))
    copy = agent.fork()
    copy.see(6)
    labels = list(game.public.options(copy.state).labels)  # the program's raise to 6 becomes the smallest legal one
    assert copy.policy()[labels.index(FOLD)][deuces] == pytest.approx(0.5)
    np.testing.assert_array_equal(agent.policy(), policy)
    assert agent.record.answers == 6
    assert agent.record.replaced == 1
    copy.close()
    with pytest.raises(StoppedAgentError, match="was ended"):
        agent.policy()
    agents = ["rules(style=regular)", program("mixed", policies="true", connection="pipe")]
    result = match(GAME, agents, hands=8, aivat="checked", seed=4)
    assert not result.failures
    one = match(GAME, [agents[0], program("mixed", policies="true", connection="pipe")], hands=8, seed=4)
    assert result.scores[0].result.deviation[0] < one.scores[0].result.deviation[0]
    found = tp.arena.local_best_response(GAME, agents[1], hands=4, actions="fc")
    assert np.isfinite(found.value)


def test_probabilities_must_sum_to_one():
    agent = tp.agent(program("unsure", policies="true", connection="pipe"), GAME)
    agent.begin(0)
    agent.see(CALL)
    with pytest.raises(StoppedAgentError, match=r"probabilities sum to 0\.7"):
        agent.policy()
    agent = tp.agent(program("call", policies="true"), GAME)
    agent.begin(1)
    with pytest.raises(StoppedAgentError, match="instead of probabilities such as"):
        agent.policy()


def test_a_game_outside_a_match(log):
    game = load(GAME)
    agents = [tp.agent(CALLER, game), tp.agent(program("call"), game)]
    hands = [
        int(np.flatnonzero((game.public.rules.format.hands == sorted(parse_cards(text))).all(1))[0])
        for text in ("AsAh", "2c7d")
    ]
    won = play_game(agents, np.random.default_rng(1), hands=hands)
    assert set(map(abs, won)) <= {0.0, 2.0}
    assert isinstance(agents[1], ProgramAgent)
    agents[1].close()
    end = MatchState.read(log.read_text().split()[-1])
    assert [set(hole) for hole in end.hole] == [set(parse_cards("AsAh")), set(parse_cards("2c7d"))]
    assert len(end.board) == 5


def test_the_example_plays_whole_hands():
    """The player in the documentation raises pairs, legally against one that only calls."""
    example = Path(__file__).resolve().parents[3] / "examples" / "programs" / "acpc_bot.py"
    text = f"program(path={sys.executable},args={example},connection=pipe,unit=50,timeout=20)"
    for style, remarks in (("caller", 0), ("shover", 1)):  # all-in leaves no raise, so that a raise becomes a call
        result = match("holdem(stack=400)", [f"rules(style={style})", text], hands=20, seed=5)
        assert result.hands == 20
        assert not result.failures
        assert len(result.remarks) == remarks
