"""LiteEFG's game files."""

import hashlib
from fractions import Fraction
from pathlib import Path

import pytest

from treeplex.errors import FileError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.policies.tabular import Policy
from treeplex.forms.sources.liteefg import parse_game_file, read_game_file
from treeplex.forms.sources.liteefg_write import game_file_text, write_game_file
from treeplex.games import registry
from treeplex.games.base import CHANCE
from treeplex.run.judge import nash_conv

WRITTEN_BY_LITEEFG = Path(__file__).parents[2] / "data" / "kuhn_poker.openspiel"
"""What LiteEFG 1.0.0 keeps of OpenSpiel's Kuhn poker."""

READ_BY_LITEEFG = "42fbc3dd808711b57f2fad3f3948dbfefd1cea93453e2113e998f024a40cab48"
"""SHA-256 of Kuhn poker as written here, which LiteEFG 1.0.0 read."""

COIN = """\
# Coin with parameters:
#
# Opt {
#     num_players: 2,
# }
#
node / chance actions H=0.3333333 T=0.66666667
node /C:H player 1 actions sell play
node /C:H/P1:sell leaf payoffs 1=0.5 2=-0.5
node /C:H/P1:play player 2 actions H T

node /C:H/P1:play/P2:H leaf payoffs 1=-1 2=1
node /C:H/P1:play/P2:T leaf payoffs 1=1
node /C:T player 1 actions sell play
node /C:T/P1:sell leaf payoffs 1=-0.5 2=0.5
node /C:T/P1:play player 2 actions H T
node /C:T/P1:play/P2:H leaf payoffs 1=1 2=-1
node /C:T/P1:play/P2:T leaf payoffs 2=1e0 1=-1
infoset pl1_0__H?/ nodes /C:H
infoset pl2_0__?/1:play nodes /C:H/P1:play /C:T/P1:play
"""

LISTED = """\
# LiteEFG OpenSpiel cache format 2
# Opt {
#     openspiel,
#     players: 2,
# }
node node_ player 1 actions node_0 node_1
node node_1 leaf payoffs 1=1 2=-1
node node_0 player 2 actions node_0%200 node_0%201
node node_0%200 leaf payoffs 1=2 2=-2
node node_0%201 leaf payoffs 1=3 2=-3
infoset pl1_0__Observer%3A%200%0A nodes node_
infoset pl2_0__%C3%A9 nodes node_0
"""


def test_reads_a_game_file() -> None:
    game = parse_game_file(COIN, "coin.game")
    assert (game.spec, game.num_players, len(game.nodes)) == ("coin.game", 2, 11)
    assert game.nodes[0].player == CHANCE
    assert game.nodes[0].actions == ("H", "T")
    assert sum(game.nodes[0].probabilities) == 1
    assert float(game.nodes[0].probabilities[0]) == pytest.approx(1 / 3, abs=1e-7)
    state = game.new_initial_state().child(0)
    assert (state.information_state_string(), state.action_to_string(1)) == ("p0:H?/", "play")
    assert state.child(1).information_state_string() == "p1:?/1:play"
    assert state.child(1).child(1).returns() == [1.0, 0.0]
    assert game.new_initial_state().child(1).information_state_string() == "p0:/C:T"
    assert compile_game(game).infosets == (2, 1)


def test_reads_a_list_of_children() -> None:
    game = parse_game_file(LISTED)
    state = game.new_initial_state()
    assert state.information_state_string() == "p0:Observer: 0\n"
    assert state.child(0).information_state_string() == "p1:é"
    assert state.child(0).child(1).returns() == [3.0, -3.0]
    assert [state.action_to_string(action) for action in state.legal_actions()] == ["0", "1"]


def test_infosets_that_share_a_label_stay_apart() -> None:
    text = COIN + "infoset pl1_1__H?/ nodes /C:T\n"
    root = parse_game_file(text).new_initial_state()
    assert [root.child(action).information_state_string() for action in (0, 1)] == ["p0:H?/", "p0:H?/'"]


def test_players_are_counted_when_no_comment_says() -> None:
    game = parse_game_file("node / player 1 actions a\nnode /P1:a leaf payoffs 3=1/2")
    assert game.num_players == 3
    assert game.nodes[1].payoffs == (0, 0, Fraction(1, 2))


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("node /C:T player 1 actions sell play\n", "", 7, r"child /C:T of node / is not in the file"),
        ("T=0.66666667", "T=0.5", 7, "sum to 0.8333333, not 1"),
        ("T=0.66666667", "T", 7, "expected key=number, found 'T'"),
        ("T=0.66666667", "T=two", 7, "'two' is not a number"),
        ("T=0.66666667", "T=1/0", 7, "'1/0' is not a number: the denominator is 0"),
        ("T=0.66666667", "T=1e99999", 7, "too long"),
        ("H=0.3333333 T=0.66666667", "H=-1 T=2", 7, "negative"),
        ("node /C:H player 1", "node /C:H player 0", 8, "player '0' must be a number from 1"),
        ("node /C:H player 1", "node /C:H player 3", 8, "player 3, but the file declares 2 players"),
        ("node /C:H player 1 actions sell play", "node /C:H player 1 actions play play", 8, "action play appears twice"),
        ("leaf payoffs 1=1\n", "leaf payoffs 0=1\n", 13, "payoff of player '0'"),
        ("leaf payoffs 1=1\n", "leaf payoffs 1=1 1=-1\n", 13, "player 1 has two payoffs; give one"),
        ("leaf payoffs 1=1\n", "leaf payoffs 4=1\n", 13, "player 4, but the file declares 2"),
        ("leaf payoffs 1=1\n", "end payoffs 1=1\n", 13, "expected 'chance actions"),
        ("node /C:H/P1:play/P2:T", "node /C:H/P1:play/P2:H", 13, "appears twice, first on line 12"),
        ("infoset pl1_0__H?/ nodes /C:H", "infoset x nodes /C:H /C:H/P1:play", 19, "belong to different players"),
        ("infoset pl1_0__H?/ nodes /C:H", "infoset x nodes /", 19, "belong to different players"),
        ("infoset pl1_0__H?/ nodes /C:H", "infoset x nodes /C:X", 19, "unknown node /C:X"),
        ("infoset pl1_0__H?/ nodes /C:H", "infoset x nodes /C:H /C:H", 19, "already in information set x"),
        ("infoset pl2_0__?/1:play nodes", "infoset pl1_0__H?/ nodes", 20, "appears twice, first on line 19"),
        ("infoset pl1_0__H?/ nodes /C:H", "informationset", 19, "cannot read 'informationset'"),
        ("node /C:T/P1:play player 2 actions H T", "node /C:T/P1:play player 2 actions T H", 20, "different actions"),
        ("node /C:T/P1:sell leaf", "node /lost leaf payoffs 1=0\nnode /C:T/P1:sell leaf", 15, "2 nodes have no parent"),
        (COIN, "# nothing", 1, "no nodes"),
    ],
)
def test_errors_name_the_line(old: str, new: str, line: int, message: str) -> None:
    assert old in COIN
    with pytest.raises(FileError, match=rf"^bad\.game:{line}: .*{message}"):
        parse_game_file(COIN.replace(old, new, 1), "bad.game")


def test_a_loop_is_no_tree() -> None:
    with pytest.raises(FileError, match=r":3: node b cannot be reached"):
        parse_game_file("# openspiel,\nnode a leaf payoffs 1=1\nnode b player 1 actions b")


@pytest.mark.slow_cases("leduc_poker")
@pytest.mark.parametrize("spec", ["kuhn_poker", "leduc_poker", "goofspiel(num_cards=3)", "kuhn_poker(players=3)"])
def test_written_games_are_the_same_game(tmp_path: Path, spec: str) -> None:
    rules = registry.load(spec)
    write_game_file(rules, tmp_path / "a.game")
    read, compiled = compile_game(read_game_file(tmp_path / "a.game")), compile_game(rules)
    assert (read.infosets, read.sequences, read.size.histories) == (
        compiled.infosets,
        compiled.sequences,
        compiled.size.histories,
    )
    assert nash_conv(read, Policy.uniform(read)) == pytest.approx(nash_conv(compiled, Policy.uniform(compiled)), abs=1e-12)


def test_labels_stay_words() -> None:
    tree = parse_game_file(LISTED)
    text = game_file_text(tree)
    assert all(len(line.split()) >= 4 for line in text.splitlines() if line.startswith(("node", "infoset")))
    assert [node.payoffs for node in parse_game_file(text).nodes] == [node.payoffs for node in tree.nodes]


def test_what_liteefg_wrote_is_openspiels_game() -> None:
    pytest.importorskip("pyspiel")
    theirs, ours = compile_game(read_game_file(WRITTEN_BY_LITEEFG)), compile_game("openspiel:kuhn_poker")
    assert nash_conv(theirs, Policy.uniform(theirs)) == pytest.approx(nash_conv(ours, Policy.uniform(ours)), abs=1e-12)
    assert sorted(name[3:] for name in theirs.infostates) == sorted(ours.infostates)


def test_what_is_written_is_what_liteefg_has_read(tmp_path: Path) -> None:
    write_game_file(registry.load("kuhn_poker"), tmp_path / "kuhn.game")
    assert hashlib.sha256((tmp_path / "kuhn.game").read_bytes()).hexdigest() == READ_BY_LITEEFG


def test_liteefg_reads_and_writes_what_is_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    liteefg = pytest.importorskip("LiteEFG")
    pyspiel = pytest.importorskip("pyspiel")
    monkeypatch.setenv("HOME", str(tmp_path))
    liteefg.OpenSpielEnv(pyspiel.load_game("kuhn_poker"))
    (cache,) = (tmp_path / "game_instances").iterdir()
    assert cache.read_text() == WRITTEN_BY_LITEEFG.read_text()
    write_game_file(registry.load("kuhn_poker"), tmp_path / "kuhn.game")
    liteefg.FileEnv(str(tmp_path / "kuhn.game"))
