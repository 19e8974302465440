"""Walks in several processes: equal to the walk in one, including its errors."""

import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from treeplex.base.workers.processes import RemoteBench
from treeplex.errors import GameError, GameSizeError, ImperfectRecallError
from treeplex.forms.compile import shared_walk, walk
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.game_cache import arrays_of
from treeplex.forms.sources.load import load
from treeplex.games.base import Game

compile_rules = partial(walk.compile_rules, share=shared_walk.share_walk)

GOOFSPIEL = "goofspiel(num_cards={},imp_info=true,points_order=descending)"
RULES = '''
from treeplex.games.base import CHANCE, TERMINAL, Game, State


class Node(State):
    """A card of seven, then three actions per turn."""

    def __init__(self, game, moves=()):
        self.game, self.moves = game, moves

    def current_player(self):
        turn = len(self.moves)
        return CHANCE if turn == 0 else TERMINAL if turn == self.game.turns else (turn + 1) % 2

    def chance_outcomes(self):
        return [(card, (card + 1) / 28) for card in range(7)]

    def legal_actions(self, player=None):
        return [0, 1, 2]

    def child(self, action):
        return Node(self.game, (*self.moves, action))

    def returns(self):
        moves = self.moves
        if self.game.fault == "returns" and moves[:5] == (6, 2, 1, 2, 0):
            raise ValueError("the last card")
        value = sum((position + 1) * move for position, move in enumerate(moves)) % 5 + moves[0] / 3
        return [value, 1 - value * moves[1]]

    def information_state_string(self, player=None):
        player = self.current_player() if player is None else player
        seen = self.moves[1:]
        if self.game.fault == "recall" and self.moves[:2] == (6, 1) and len(seen) == 4:
            return "forgotten"
        return f"{player} {self.moves[0] % (player + 2)} {seen}"

    def action_to_string(self, action):
        return f"{'pass call raise 4 5 6 7'.split()[action]}{'!' if self.moves[:1] == (self.game.odd,) else ''}"

    def public_state(self):
        return len(self.moves), *self.moves[1:2]


class Cards(Game):
    num_players = 2

    def __init__(self, turns: int = 6, fault: str = "", odd: int = 9):
        self.turns, self.fault, self.odd = turns, fault, odd

    def new_initial_state(self):
        return Node(self)
'''


@pytest.fixture
def merged(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Share walks after few histories; return whether each subtree could be merged."""
    monkeypatch.setattr(walk, "ALONE_SECONDS", 0.0)
    monkeypatch.setattr(walk, "LEAK_CHECKS", 100)
    monkeypatch.setattr(shared_walk, "available_cores", lambda: 2)
    results: list[bool] = []
    merge_subtree = shared_walk.merge_subtree

    def merge(in_walk: walk.GameWalk, subtree: shared_walk.Subtree, at_root: tuple[int, ...]) -> bool:
        results.append(merge_subtree(in_walk, subtree, at_root))
        return results[-1]

    monkeypatch.setattr(shared_walk, "merge_subtree", merge)
    return results


@pytest.fixture
def rules(tmp_path: Path) -> str:
    """Return the start of the spec of rules in a file."""
    (tmp_path / "cards.py").write_text(RULES)
    return f"{tmp_path / 'cards.py'}:Cards"


def alone(game: str | Game, *, refine: bool = False) -> CompiledGame:
    """Compile in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walk, "ALONE_SECONDS", float("inf"))
        return compile_rules(load(game), refine=refine)


def check_equal(game: CompiledGame, other: CompiledGame) -> None:
    arrays, others = arrays_of(game), arrays_of(other)
    assert arrays is not None
    assert others is not None
    assert arrays.keys() == others.keys()
    for name, array in arrays.items():
        assert array.dtype == others[name].dtype
        np.testing.assert_array_equal(array, others[name], err_msg=name)
    assert game.infostates == other.infostates
    assert [list(names.items()) for names in game.action_names] == [list(names.items()) for names in other.action_names]
    assert (game.size, game.constant) == (other.size, other.constant)


@pytest.mark.slow_cases("goofspiel-5")
@pytest.mark.parametrize(
    "spec", [GOOFSPIEL.format(4), GOOFSPIEL.format(5), "liars_dice(dice_sides=4)"], ids=["goofspiel-4", "goofspiel-5", "dice"]
)
def test_built_in_games(merged: list[bool], spec: str) -> None:
    game = compile_rules(load(spec))
    assert len(merged) > 16
    assert all(merged)
    check_equal(game, alone(spec))


@pytest.mark.parametrize("refine", [False, True])
def test_rules_in_a_file(merged: list[bool], rules: str, refine: bool) -> None:
    game = compile_rules(load(rules), refine=refine)
    assert len(merged) > 16
    assert all(merged)
    assert not game.zero_sum
    check_equal(game, alone(rules, refine=refine))


NAMES, NUMBERS = (dict(enumerate(names)) for names in (("pass", "call", "raise"), "012"))


@pytest.mark.parametrize(("odd", "names"), [(2, (NAMES, NUMBERS)), (6, (NAMES, NAMES))])
def test_action_names_that_depend_on_the_card(
    merged: list[bool], rules: str, odd: int, names: tuple[dict[int, str], dict[int, str]]
) -> None:
    """Player 1 sees that the card is 2. Nobody sees that it is 6, and an infoset has the names of its first history."""
    spec = f"{rules}(odd={odd})"
    game = compile_rules(load(spec))
    assert game.action_names == names
    assert True in merged
    assert False in merged
    check_equal(game, alone(spec))


@pytest.mark.parametrize(("fault", "kind"), [("returns", GameError), ("recall", ImperfectRecallError)])
def test_errors_are_those_of_a_walk_in_one_process(merged: list[bool], rules: str, fault: str, kind: type[GameError]) -> None:
    spec = f"{rules}(turns=7,fault={fault})"
    with pytest.raises(kind) as serial:
        alone(spec)
    with pytest.raises(kind) as shared:
        compile_rules(load(spec))
    assert merged
    assert str(shared.value) == str(serial.value)


def test_the_limit_and_progress(merged: list[bool], rules: str, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = f"{rules}(turns=7)"
    size, seen = alone(spec).size.histories, list[int]()
    assert compile_rules(load(spec), limit=size, watch=seen.append).size.histories == size
    assert seen == sorted(seen)
    assert size / 2 < seen[-1] <= size
    monkeypatch.setattr("treeplex.games.size_estimate.EARLY_SECONDS", float("inf"))
    for limit in (size // 2, size - 1):
        merged.clear()
        with pytest.raises(GameSizeError, match=rf"has more than {limit:,} histories"):
            compile_rules(load(spec), limit=limit)
        assert merged


def fail(*arguments: object) -> None:
    raise GameError("no")


@pytest.mark.parametrize("why", ["one core", "in a worker", "no spec", "the spec of another game", "a worker fails"])
def test_walks_in_one_process(merged: list[bool], rules: str, monkeypatch: pytest.MonkeyPatch, why: str) -> None:
    game = load(rules)
    if why == "one core":
        monkeypatch.setattr(shared_walk, "available_cores", lambda: 1)
    elif why == "in a worker":
        monkeypatch.setattr(RemoteBench, "here", True)
    elif why == "no spec":
        game.spec = ""
    elif why == "the spec of another game":
        game.spec = f"{rules}(turns=5)"
    else:
        monkeypatch.setattr(shared_walk, "walk_subtree", fail)
    check_equal(compile_rules(game), alone(game))
    assert not merged


def test_a_script_without_a_guard_runs_once(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from treeplex.forms.compile import shared_walk, walk\n"
        "from treeplex.forms.sources.load import load\n"
        "walk.ALONE_SECONDS, walk.LEAK_CHECKS, shared_walk.available_cores = 0.0, 100, lambda: 2\n"
        "merge = shared_walk.merge_subtree\n"
        "merged = []\n"
        "shared_walk.merge_subtree = lambda *arguments: merged.append(merge(*arguments)) or merged[-1]\n"
        f"game = walk.compile_rules(load({GOOFSPIEL.format(4)!r}), share=shared_walk.share_walk)\n"
        "print(game.size.histories, len(merged) > 16 and all(merged))\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.split() == [str(alone(GOOFSPIEL.format(4)).size.histories), "True"]
