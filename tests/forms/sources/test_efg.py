"""Gambit files: read exactly, written so that Gambit and OpenSpiel read them."""

import hashlib
import io
import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treeplex.errors import FileError, GameError, ImperfectRecallError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.sources.efg_read import parse_efg, read_efg
from treeplex.forms.sources.efg_write import efg_text, write_efg
from treeplex.forms.sources.explicit_tree import ExplicitGame, Node
from treeplex.games import registry
from treeplex.games.base import CHANCE, SIMULTANEOUS, TERMINAL, Game, State

NASTY = r"""EFG 2 R "a \"quoted\" title" { "Row player" "Column \\ player" } "a comment
over two lines, { \"braces\" }"
// not in Gambit's grammar, but seen
c "ROOT" 1 "(0,1)" { "1G" 1/3 "1B" 0.6666666666666667 } 1 "ante" { -1, -1.5 }   # three tenths of a comment
p "" 1 7 "top" { "H" "L" } 2 "stage" { +1 -.5 }
t "" 3 "win" { 1e1, 5. }
p "" 2 1 "" { "h" "l" } 0
t "" 3
t ""
4 "lose" {-1/3
,1/7}
p "" 1 9 "top" { "H" "L" } 2
t "" 4 p "" 2 1 3
t "" 3
t "" 4
"""

HEADER = 'EFG 2 R "" { "A" "B" }\n'


def tree(game: ExplicitGame) -> list[tuple[Any, ...]]:
    """What a file says, apart from labels."""
    return [(node.player, node.children, node.probabilities, node.payoffs) for node in game.nodes]


def test_reads_the_nasty_sample() -> None:
    game = parse_efg(NASTY, "nasty.efg")
    assert game.title == 'a "quoted" title'
    assert game.player_names == ("Row player", "Column \\ player")
    assert (game.spec, game.num_players) == ("nasty.efg", 2)
    root, high, both, middle, _, low = game.nodes[:6]
    assert root.probabilities == (Fraction(1, 3), Fraction(2, 3))
    assert root.actions == ("1G", "1B")
    assert (high.infostate, middle.infostate, game.nodes[6].infostate) == ("p0:top#7", "p1:1", "p0:top#9")
    assert both.payoffs == (-1 + 1 + 10, Fraction(-3, 2) - Fraction(1, 2) + 5)
    assert low.payoffs == (-1 + 1 - Fraction(1, 3), -2 + Fraction(1, 7))
    assert game.nodes[7].payoffs == low.payoffs
    assert game.nodes[8].infostate == "p1:1"
    assert game.nodes[9].payoffs == (20, 8)
    assert game.nodes[10].payoffs == (10 - Fraction(1, 3), 3 + Fraction(1, 7))


def test_states_follow_the_file() -> None:
    state = parse_efg(NASTY).new_initial_state()
    assert state.current_player() == CHANCE
    assert state.chance_outcomes() == [(0, 1 / 3), (1, 2 / 3)]
    state = state.child(0)
    assert state.information_state_string() == "p0:top#7"
    assert state.child(0).returns() == [10.0, 3.0]


def test_labels_never_collide() -> None:
    game = parse_efg(
        HEADER
        + 'p "" 1 1 "2" { "l" "m" } 0 p "" 1 2 "" { "l" "m" } 0 t "" 0 t "" 0 p "" 1 3 "2#4" { "l" "m" } 0 t "" 0'
        + ' p "" 1 4 "2" { "l" "m" } 0 t "" 0 t "" 0'
    )
    names = [node.infostate for node in game.nodes if node.player >= 0]
    assert len(set(names)) == 4


def test_imperfect_recall_is_left_to_the_compiler() -> None:
    game = parse_efg(
        HEADER + 'p "" 1 1 "a" { "l" "r" } 0 p "" 1 2 "b" { "l" "r" } 0 t "" 1 "" { 1 0 } t "" 0 p "" 1 2 0 t "" 0 t "" 1'
    )
    with pytest.raises(ImperfectRecallError, match="p0:b"):
        compile_game(game)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("NFG 1 R", 1, "must begin with EFG"),
        ('EFG 1 R "" { "A" }', 1, "format version 1"),
        ('EFG 2 X "" { "A" }', 1, "expected R"),
        ('EFG 2 R "" { }', 1, "no players"),
        (HEADER, 2, r"expected a node .* found the end of the file"),
        (HEADER + 'c "" 1 "" { "a" 1/2 "b" 1/3 } 0', 2, r"sum to 5/6 .*write fractions"),
        (HEADER + 'c "" 1 "" { "a" 0.333333 "b" 0.333333 "c" 0.333333 } 0', 2, "write fractions such as 1/3"),
        (HEADER + 'c "" 1 "" { "a" 3/2 "b" -1/2 } 0', 2, "negative"),
        (HEADER + 'c "" 1 "" { "a" 1/0 } 0', 2, "the denominator is 0"),
        (HEADER + 't "" 1 "" { 1 1e999999999 }', 2, "cannot read a payoff: the number is too long"),
        (HEADER + 't "" 1 "" { 1 1e309 }', 2, "too large for a float"),
        (HEADER + '\np "" 3 1 "" { "a" } 0', 3, "player 3 does not exist; players are numbered 1 to 2"),
        (HEADER + 'p "" 1 1 0', 2, "information set 1 of player 1 has no description"),
        (HEADER + 'p "" 1 1 "" { } 0', 2, "has no actions"),
        (HEADER + 'p "" 1 1.5 "" { "a" } 0', 2, "must be an integer"),
        (HEADER + 'p "" 1 1 "" { a } 0', 2, r"expected the name of an action \(a quoted text\), found a"),
        (
            HEADER + 'p "" 1 1 "" { "a" "b" } 0\nt "" 0\np "" 1 1 "" { "a" "c" } 0',
            4,
            r"\['a', 'c'\] here, but \['a', 'b'\] earlier",
        ),
        (HEADER + 't "" 5', 2, "outcome 5 has no payoffs yet"),
        (HEADER + 't "" 1 "" { 1 }', 2, "1 payoffs for 2 players"),
        (HEADER + 't "" 0 "" { 1 2 }', 2, "outcome 0"),
        (HEADER + 'p "" 1 1 "" { "a" "b" } 0\nt "" 1 "" { 1 2 }\nt "" 1 "" { 1 3 }', 4, "outcome 1 had different payoffs"),
        (HEADER + 't "" 0\nt "" 0', 3, "the tree is complete"),
        (HEADER + 'p "" 1 1 "" { "a" "b" } 0\n\nt "" 0\n', 5, "an action above has no node yet"),
        (HEADER + 't "" 0 "never closed', 2, "unterminated text"),
        (HEADER + 't "" 1 "" { 1 2x }', 2, "expected a payoff"),
    ],
)
def test_errors_name_the_line(text: str, line: int, message: str) -> None:
    with pytest.raises(FileError, match=rf"^bad\.efg:{line}: .*{message}"):
        parse_efg(text, "bad.efg")


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no such file"):
        read_efg(tmp_path / "no.efg")


@pytest.mark.parametrize("spec", ["kuhn_poker", "kuhn_poker(players=3)", "goofspiel(num_cards=3)", "liars_dice(dice_sides=2)"])
def test_written_games_are_the_same_game(tmp_path: Path, spec: str) -> None:
    rules = registry.load(spec)
    path = tmp_path / "game.efg"
    write_efg(rules, path)
    read = compile_game(read_efg(path))
    compiled = compile_game(rules)
    assert read.spec == str(path)
    assert (read.infosets, read.sequences, read.size.histories) == (
        compiled.infosets,
        compiled.sequences,
        compiled.size.histories,
    )
    if rules.public_tree() is None:
        assert sorted(read.payoff.sparse.values) == pytest.approx(sorted(compiled.payoff.sparse.values))


def test_writing_and_reading_is_stable() -> None:
    game = parse_efg(NASTY)
    again = parse_efg(efg_text(game))
    assert tree(again) == tree(game)
    assert efg_text(parse_efg(efg_text(again))) == efg_text(again)


@st.composite
def trees(draw: st.DrawFn) -> ExplicitGame:
    """Small random trees with chance, shared information sets and arbitrary labels."""
    label = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=6)
    sets = [(player, draw(label), draw(st.lists(label, min_size=1, max_size=3))) for player in (0, 1, 0)]
    nodes: list[Node] = []

    def grow(depth: int) -> int:
        number = len(nodes)
        nodes.append(Node(TERMINAL, payoffs=tuple(draw(st.fractions(max_denominator=50)) for _ in range(2))))
        kind = draw(st.integers(0, 4)) if depth else 4
        if kind == 3:
            weights = draw(st.lists(st.integers(1, 9), min_size=1, max_size=3))
            children = tuple(grow(depth - 1) for _ in weights)
            shares = tuple(Fraction(weight, sum(weights)) for weight in weights)
            nodes[number] = Node(CHANCE, "", tuple(draw(label) for _ in weights), children, shares)
        elif kind < 3:
            player, name, actions = sets[kind]
            children = tuple(grow(depth - 1) for _ in actions)
            nodes[number] = Node(player, f"p{player}:{kind}{name}", tuple(actions), children)
        return number

    grow(3)
    return ExplicitGame(nodes, [draw(label), draw(label)], title=draw(label))


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(trees())
def test_any_tree_survives_the_round_trip(game: ExplicitGame) -> None:
    text = efg_text(game)
    assert text.isascii()
    read = parse_efg(text)
    assert tree(read) == tree(game)
    pairs = {(a.infostate, b.infostate) for a, b in zip(game.nodes, read.nodes, strict=True) if a.player >= 0}
    assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})


def test_written_labels_differ() -> None:
    end = Node(TERMINAL, payoffs=(Fraction(0),))
    nodes = [Node(0, "p0:a b", ("x y", "x  y"), (1, 2)), end, Node(0, "p0:a\tb", ("", "_"), (3, 4)), end, end]
    read = parse_efg(efg_text(ExplicitGame(nodes, ["A"])))
    assert [node.infostate for node in read.nodes if node.player == 0] == ["p0:a b", "p0:a b_2"]
    assert [node.actions for node in read.nodes if node.player == 0] == [("x y", "x y_2"), ("_", "__2")]


class Odd(State):
    """A chance root with awkward probabilities, then one infostate whose actions differ if ``differ``."""

    def __init__(self, shares: list[float], differ: bool = False, path: tuple[int, ...] = ()) -> None:
        self.shares, self.differ, self.path = shares, differ, path

    def current_player(self) -> int:
        return (CHANCE, 0, TERMINAL)[len(self.path)]

    def legal_actions(self, player: int | None = None) -> list[int]:
        return [0, 1 + (self.path[0] if self.differ else 0)]

    def child(self, action: int) -> "Odd":
        return Odd(self.shares, self.differ, (*self.path, action))

    def returns(self) -> list[float]:
        return [1e9 + 0.1, -1e-7]

    def information_state_string(self, player: int | None = None) -> str:
        return "blind"

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return list(enumerate(self.shares))


class OddGame(Game):
    def __init__(self, shares: list[float], differ: bool = False) -> None:
        self.root = Odd(shares, differ)

    def new_initial_state(self) -> Odd:
        return self.root


AWKWARD = [0.1234567890123, 0.7071067811865476, 1 - 0.1234567890123 - 0.7071067811865476]


def test_awkward_probabilities_sum_to_one() -> None:
    game = parse_efg(efg_text(OddGame(AWKWARD)))
    assert sum(game.nodes[0].probabilities) == 1
    assert [float(p) for p in game.nodes[0].probabilities] == pytest.approx(AWKWARD, abs=2e-15)
    assert game.new_initial_state().child(0).child(0).returns() == [1e9 + 0.1, -1e-7]


def test_rules_that_cannot_be_written() -> None:
    with pytest.raises(GameError, match="do not sum to one"):
        efg_text(OddGame([0.5, 0.4]))
    with pytest.raises(GameError, match=r"'blind' of player 0 has actions \[0, 2\].*\[0, 1\]"):
        efg_text(OddGame([0.5, 0.5], differ=True))


class PenniesState(State):
    """Matching pennies, both at once."""

    def __init__(self, moves: tuple[int, ...] = ()) -> None:
        self.moves = moves

    def current_player(self) -> int:
        return TERMINAL if self.moves else SIMULTANEOUS

    def legal_actions(self, player: int | None = None) -> list[int]:
        return [0, 1]

    def child(self, action: Any) -> "PenniesState":
        return PenniesState(action)

    def returns(self) -> list[float]:
        win = 1.0 if self.moves[0] == self.moves[1] else -1.0
        return [win, -win]

    def information_state_string(self, player: int | None = None) -> str:
        return f"player {player}"


class MatchingGame(Game):
    def new_initial_state(self) -> PenniesState:
        return PenniesState()


def test_simultaneous_moves_are_written_in_turn() -> None:
    game = parse_efg(efg_text(MatchingGame()))
    assert [node.player for node in game.nodes] == [0, 1, TERMINAL, TERMINAL, 1, TERMINAL, TERMINAL]
    assert game.nodes[1].infostate == game.nodes[4].infostate
    assert [node.payoffs[0] for node in game.nodes if node.payoffs] == [1, -1, -1, 1]


WRITTEN = {
    "kuhn_poker": registry.load("kuhn_poker"),
    "nasty names": parse_efg(NASTY),
    "odd": OddGame(AWKWARD),
    "matching": MatchingGame(),
}
READ_BY_GAMBIT = {
    "kuhn_poker": ("ec934a164f7068f23d5e50d86070a0fae5c9448355f764cb433b32ccf5b6eb5d", 58),
    "nasty names": ("2427c9929a8d78a5989dc502575e4d086561daa7ea866596cbd01550a6dc70e1", 11),
    "odd": ("5dbc02c32d57c77d4464f5cf3c49aa8d90bac6dbb7034c81c527ec851025610b", 10),
    "matching": ("233fd5b2c6a553d767e40e0540c1455421b07d4b188a24c65bc10d8a624faefe", 7),
}
"""What ``pygambit.read_efg`` of version 16.7.0 found: SHA-256 of a text that it read, and its nodes."""


@pytest.mark.parametrize("name", WRITTEN)
def test_what_is_written_is_what_gambit_has_read(name: str) -> None:
    text = efg_text(WRITTEN[name])
    assert (hashlib.sha256(text.encode()).hexdigest(), len(parse_efg(text).nodes)) == READ_BY_GAMBIT[name]


@pytest.mark.parametrize("name", WRITTEN)
def test_gambit_reads_what_is_written(name: str) -> None:
    gambit = pytest.importorskip("pygambit")
    text = efg_text(WRITTEN[name])
    assert (
        hashlib.sha256(text.encode()).hexdigest(),
        len(list(gambit.read_efg(io.BytesIO(text.encode())).nodes)),
    ) == READ_BY_GAMBIT[name]


@pytest.mark.parametrize("name", WRITTEN)
def test_openspiel_reads_what_is_written(name: str) -> None:
    spiel = pytest.importorskip("pyspiel")
    assert spiel.load_efg_game(efg_text(WRITTEN[name])).num_players() == WRITTEN[name].num_players


def test_gambit_solves_what_is_written(tmp_path: Path) -> None:
    gambit = pytest.importorskip("pygambit")
    write_efg(registry.load("kuhn_poker"), tmp_path / "kuhn.efg")
    game = gambit.read_efg(str(tmp_path / "kuhn.efg"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        profile = gambit.nash.lp_solve(game, rational=True).equilibria[0]
        assert Fraction(str(profile.payoff(next(iter(game.players))))) == Fraction(-1, 18)
