"""States that change, and other rules that make another game of themselves: refused, with the history, method and remedy."""

from __future__ import annotations

import copy
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import treeplex as tp
from tests.games.test_conformance import LARGE, SMALL
from treeplex.errors import GameError
from treeplex.forms.compile.state_check import StateCheck, innermost
from treeplex.forms.compile.walk import compile_rules
from treeplex.forms.sources.efg_write import write_efg
from treeplex.forms.sources.liteefg_write import write_game_file
from treeplex.games.registry import load


class Pennies(tp.State):
    """Matching pennies after a chance move: the base of the broken games below, itself sound."""

    def __init__(self, game: Any, moves: tuple[int, ...] = ()) -> None:
        self.game, self.moves = game, moves

    def current_player(self) -> int:
        return [tp.CHANCE, 0, 1, tp.TERMINAL][len(self.moves)]

    def legal_actions(self, player: int | None = None) -> list[int]:
        return [0, 1]

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return [(0, 0.5), (1, 0.5)]

    def child(self, action: int) -> Any:
        return type(self)(self.game, (*self.moves, action))

    def returns(self) -> Any:
        won = 1 if self.moves[1] == self.moves[2] else -1
        return [won, -won]

    def information_state_string(self, player: int | None = None) -> Any:
        return f"player {player} sees {self.moves[0]}"

    def action_to_string(self, action: int) -> str:
        return ["heads", "tails"][action]


class PenniesGame(tp.Game):
    """A game of states of a given class."""

    def __init__(self, kind: type[Pennies]) -> None:
        self.kind, self.calls = kind, 0

    def new_initial_state(self) -> Any:
        return self.kind(self)


class ReturnsItself(Pennies):
    def __init__(self, game: Any, moves: Any = ()) -> None:
        super().__init__(game, list(moves))  # type: ignore[arg-type]

    def child(self, action: int) -> Any:
        self.moves.append(action)  # type: ignore[attr-defined]
        return self


class ChangesItsParent(ReturnsItself):
    def child(self, action: int) -> Any:
        after = copy.copy(self)
        after.moves.append(action)  # type: ignore[attr-defined]
        return after


class SharesItsArguments(Pennies):
    def __init__(self, game: Any, moves: Any = [], more: Any = ()) -> None:  # noqa: B006
        moves.extend(more)
        self.game, self.moves = game, moves

    def child(self, action: int) -> Any:
        return type(self)(self.game, more=[action])


class SharesWithItsSiblings(Pennies):
    """The second child that a state makes is the first one with another move."""

    made: Any = None

    def child(self, action: int) -> Any:
        if self.made is None:
            self.made = type(self)(self.game, (*self.moves, action))
        self.made.moves = (*self.moves, action)
        return self.made


class HidesWhatItShares(Pennies):
    """The deal stands in the game, and shows only in what players are paid."""

    def child(self, action: int) -> Any:
        if not self.moves:
            self.game.calls = action
        return super().child(action)

    def returns(self) -> Any:
        return [self.game.calls, -self.game.calls]

    def information_state_string(self, player: int | None = None) -> Any:
        return f"player {player}"


class DrawsInChild(Pennies):
    def child(self, action: int) -> Any:
        return super().child(action if self.moves else random.randrange(2))


class ShufflesAtTheRoot(Pennies):
    def __init__(self, game: Any, moves: tuple[int, ...] = ()) -> None:
        super().__init__(game, moves)
        self.deck = np.random.permutation(50).tolist()  # noqa: NPY002

    def information_state_string(self, player: int | None = None) -> Any:
        return f"player {player} holds {self.deck}"


class LosesActions(Pennies):
    def __init__(self, game: Any, moves: tuple[int, ...] = ()) -> None:
        super().__init__(game, moves)
        self.left = [0, 1]

    def legal_actions(self, player: int | None = None) -> list[int]:
        actions = list(self.left)
        del self.left[1:]
        return actions


class CountsCalls(Pennies):
    def chance_outcomes(self) -> list[tuple[int, float]]:
        self.game.calls += 1
        return [(0, 1 / (1 + self.game.calls)), (1, 1 - 1 / (1 + self.game.calls))]


class TakesItsReturns(Pennies):
    paid: Any = None

    def returns(self) -> Any:
        if self.paid is None:
            self.paid = iter(super().returns())
        return self.paid


class NoInfostate(Pennies):
    def information_state_string(self, player: int | None = None) -> Any:
        return None


class ListAsInfostate(Pennies):
    def information_state_string(self, player: int | None = None) -> Any:
        return [player, self.moves[0]]


class NoChild(Pennies):
    def child(self, action: int) -> Any:
        return super().child(action) if len(self.moves) < 2 or action else None


class PaysANumber(Pennies):
    def returns(self) -> Any:
        return 1


class ListAsPublicState(Pennies):
    def public_state(self) -> Any:
        return [self.moves[:1]]


class OneRoot(PenniesGame):
    """The root is kept and takes the moves of every play."""

    def __init__(self) -> None:
        super().__init__(Pennies)
        self.root: Any = None

    def new_initial_state(self) -> Any:
        if self.root is not None:
            self.root.moves = (1,)
        self.root = self.root or self.kind(self)
        return self.root


class Simultaneous(ChangesItsParent):
    def current_player(self) -> int:
        return tp.TERMINAL if self.moves else tp.SIMULTANEOUS

    def information_state_string(self, player: int | None = None) -> Any:
        return f"player {player}"

    def returns(self) -> Any:
        return [1.0, -1.0]


BROKEN = [
    (ReturnsItself, r"child\([01]\) returns the state that it is called on at the root; return a new state"),
    (
        ChangesItsParent,
        r"child\([01]\) changes the state .* at the root: current_player\(\) was -1 and is 0 .*copies",
    ),
    (SharesItsArguments, r"child\([01]\) changes the state .* at the root: current_player\(\) was -1 and is 0 afterwards"),
    (SharesWithItsSiblings, r"(after|share) .*copy"),
    (HidesWhatItShares, r"returns\(\) .*after history \[(heads|tails), .*copy"),
    (DrawsInChild, r"after history \[(heads|tails).* played again .*chance_outcomes\(\) instead of random numbers"),
    (
        ShufflesAtTheRoot,
        r"information_state_string\(0\) is .* after history \[\w+\].* played again .*instead of random numbers",
    ),
    (LosesActions, r"legal_actions\(\) changes from call to call after history \[\w+\]: \(0, 1\), then \(0,\)"),
    (CountsCalls, r"chance_outcomes\(\) changes from call to call at the root: .*return the same value every time"),
    (TakesItsReturns, r"returns\(\) .*after history \[\w+, \w+, \w+\]"),
    (NoInfostate, r"information_state_string\(0\) is None after history \[\w+\]; return a string"),
    (ListAsInfostate, r"information_state_string\(0\) is \[0, [01]\] after history \[\w+\]; return a string"),
    (NoChild, r"child\(0\) returns None after history \[\w+, \w+\]; return the next state"),
    (PaysANumber, r"returns\(\) is 1 after history \[\w+, \w+, \w+\]; return 2 finite payoffs"),
    (ListAsPublicState, r"public_state\(\) is \[\(.*\)\] at the root; return a hashable value"),
    (Simultaneous, r"child\(\(\d, \d\)\) changes the state that it is called on at the root: current_player\(\) was -2"),
]


@pytest.mark.parametrize(("kind", "message"), BROKEN)
def test_broken_games_are_refused(kind: type[Pennies], message: str) -> None:
    for use in (tp.compile, tp.load, lambda game: tp.solve(game, "es-mccfr", iterations=1)):
        if kind is SharesItsArguments:
            kind.__init__.__defaults__[0].clear()  # type: ignore[misc,index]
        with pytest.raises(GameError, match=message) as caught:
            use(PenniesGame(kind))
        assert "\n" not in str(caught.value)


def test_a_root_that_is_kept_is_refused() -> None:
    with pytest.raises(GameError, match=r"current_player\(\) (is|was) -1"):
        tp.compile(OneRoot())


def test_the_sound_game_is_solved_with_whole_numbers_as_payoffs() -> None:
    found = tp.solve(PenniesGame(Pennies), "lp")
    assert found.value == pytest.approx((0.0, 0.0), abs=1e-12)
    assert found.game.size.histories == 15


@pytest.mark.slow_cases("bucketed_holdem(buckets=2,cards=royal,boards=20,river_boards=20)")
@pytest.mark.parametrize("name", SMALL + LARGE)
def test_no_built_in_game_is_refused(name: str) -> None:
    StateCheck(innermost(load(name))).run(6)


@pytest.mark.slow_cases("python_kuhn_poker", "python_liars_poker")
@pytest.mark.parametrize(
    "name",
    [
        "kuhn_poker(players=3)", "leduc_poker", "liars_dice", "goofspiel(imp_info=True,num_cards=4)", "matrix_pd", "blotto",
        "oshi_zumo", "tiny_bridge_2p", "tiny_hanabi", "first_sealed_auction", "sheriff", "phantom_ttt", "dark_hex",
        "battleship", "python_kuhn_poker", "python_liars_poker", "python_dynamic_routing", "blackjack", "tic_tac_toe",
        "turn_based_simultaneous_game(game=goofspiel(imp_info=True,num_cards=3))", "misere(game=kuhn_poker())",
    ],
)  # fmt: skip
def test_no_game_of_openspiel_is_refused(name: str) -> None:
    pytest.importorskip("pyspiel")
    game = tp.load(f"openspiel:{name}")
    StateCheck(game).run(4)


@pytest.mark.parametrize("name", ["kuhn_poker(players=3)", "goofspiel(num_cards=3,imp_info=true)", "liars_dice(dice_sides=2)"])
def test_no_game_in_a_file_is_refused(name: str, tmp_path: Path) -> None:
    rules = load(name)
    write_efg(rules, tmp_path / "game.efg")
    write_game_file(rules, tmp_path / "game.game")
    for file in ("game.efg", "game.game"):
        StateCheck(tp.load(str(tmp_path / file))).run(10)
    StateCheck(tp.load("tests/data/kuhn_poker.openspiel")).run(10)


def test_random_numbers_of_others_are_left_alone() -> None:
    """Neither Python's nor NumPy's generator is touched."""
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002
    before = random.getstate(), str(np.random.get_state())  # noqa: NPY002
    tp.load(PenniesGame(Pennies))
    assert (random.getstate(), str(np.random.get_state())) == before  # noqa: NPY002


def test_rules_are_checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[int] = []
    run = StateCheck.run
    monkeypatch.setattr(StateCheck, "run", lambda self, *sample: (runs.append(1), run(self, *sample))[1])
    game = PenniesGame(Pennies)
    for _ in range(3):
        tp.load(game)
    assert len(runs) == 1


class Seldom(Pennies):
    """A long game that is broken only where eight coins in a row come up heads."""

    def current_player(self) -> int:
        return tp.TERMINAL if len(self.moves) == 12 else tp.CHANCE

    def returns(self) -> Any:
        return [0.0, 0.0]

    def public_state(self) -> Any:
        return self.moves

    def child(self, action: int) -> Any:
        after = super().child(action)
        if self.moves[:8] == (0,) * 8:
            self.moves = after.moves
        return after


def test_large_games_are_checked_while_they_are_compiled() -> None:
    game = PenniesGame(Seldom)
    tp.load(game)  # the first sample does not come there
    check = StateCheck(game)
    with pytest.raises(GameError, match=r"child\([01]\) changes the state .* after history \[heads, heads, .*public_state\(\)"):
        check.keep_up(1e9)


def test_the_check_takes_a_small_share_of_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    """As much of the walk's time as it may, and no more: by a clock on which each look takes a second."""
    clock = iter(range(10**6))
    monkeypatch.setattr("treeplex.forms.compile.state_check.perf_counter", lambda: float(next(clock)))
    check = StateCheck(PenniesGame(Pennies))
    for elapsed, histories in ((10.0, 1), (33.0, 1), (34.0, 2), (1000.0, 30)):
        check.keep_up(elapsed)
        assert check.histories == histories


@pytest.mark.parametrize(
    ("kind", "message"), [(NoInfostate, "is None after"), (NoChild, r"child\(0\) returns None after history")]
)
def test_the_walk_itself_refuses_them(kind: type[Pennies], message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treeplex.forms.compile.walk.check_states", lambda game: None)
    with pytest.raises(GameError, match=message):
        compile_rules(PenniesGame(kind))
