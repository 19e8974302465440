"""The cache of compiled games: what makes an entry stale, and what happens to broken ones."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import astuple
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import treeplex as tp
from treeplex.errors import GameError, GameSizeError, ImperfectRecallError
from treeplex.forms.compile import compile_game, game_cache, rules_digest
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.games.base import Game
from treeplex.run.cli.cache import clear_cache, list_games

EXAMPLE = Path(__file__).parents[3] / "examples/mygame.py"
PACKAGE = Path(tp.__file__).parent
COMPILE = "import sys, treeplex as tp; game = tp.compile(sys.argv[1]); print(game.identity)"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache that stores every game."""
    monkeypatch.setenv(game_cache.ENVIRONMENT, str(tmp_path / "games"))
    monkeypatch.setattr(game_cache, "LEAST_SECONDS", 0.0)
    return tmp_path / "games"


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The games that were compiled, not read from the cache."""
    compiled: list[str] = []

    def counted(rules: Game, **options: Any) -> CompiledGame:
        compiled.append(str(rules))
        return compile_new(rules, **options)

    compile_new = compile_game.compile_new
    monkeypatch.setattr(compile_game, "compile_new", counted)
    return compiled


def check_equal(one: CompiledGame, other: CompiledGame) -> None:
    """Check that two games are equal bit for bit, with arrays that kernels cannot tell apart."""
    for first, second in zip((*one.tree, *arrays(one)), (*other.tree, *arrays(other)), strict=True):
        assert (first.dtype, first.shape, first.tobytes()) == (second.dtype, second.shape, second.tobytes())
        assert (first.flags.c_contiguous, first.flags.aligned) == (second.flags.c_contiguous, second.flags.aligned)
        assert second.flags.writeable
    assert list(one.infostates) == list(other.infostates)
    assert one.action_names == other.action_names
    assert [list(names) for names in one.action_names] == [list(names) for names in other.action_names]
    assert astuple(one.size) == astuple(other.size)
    assert (one.spec, one.players, one.constant, one.digest) == (other.spec, other.players, other.constant, other.digest)
    assert (one.identity, str(one)) == (other.identity, str(other))
    assert all(other.lookup[key] == infoset for key, infoset in one.lookup.items())


def arrays(game: CompiledGame) -> Iterator[np.ndarray]:
    return (array for part in (*game.payoff[:3], (game.action_ids,)) for array in part)


GAMES = {
    "rules": ("goofspiel(num_cards=3)", {"refine": True}),
    "general sums": ("goofspiel(num_cards=3,imp_info=true,returns_type=total_points)", {}),
    "three players": ("kuhn_poker(players=3)", {}),
    "public tree": ("leduc_poker(ranks=2)", {}),
    "Numba": ("liars_dice(dice_sides=2)", {"stored": True}),
    "phantom": ("phantom_ttt(rows=2,columns=2)", {}),
    "user": (f"{EXAMPLE}:MyGame(ranks=4)", {}),
}


@pytest.mark.slow_cases("phantom", "Numba")
@pytest.mark.parametrize("name", GAMES)
def test_a_game_from_the_cache_equals_a_new_one(name: str, folder: Path, compilations: list[str]) -> None:
    spec, options = GAMES[name]
    new = tp.compile(spec, **options)
    assert len(list(folder.iterdir())) == 1
    read = tp.compile(spec, **options)
    assert len(compilations) == 1
    check_equal(new, read)
    assert read.rules is not new.rules


def test_options_and_parameters_have_their_own_entries(folder: Path, compilations: list[str]) -> None:
    for options in ({}, {"refine": True}, {"stored": True}):
        tp.compile("liars_dice(dice_sides=2)", **options)
    tp.compile("liars_dice(dice_sides=3)")
    assert len(compilations) == len(list(folder.iterdir())) == 4


def test_quick_games_are_not_stored(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(game_cache, "LEAST_SECONDS", 60.0)
    tp.compile("kuhn_poker")
    assert not folder.exists()


def test_off(folder: Path, monkeypatch: pytest.MonkeyPatch, compilations: list[str]) -> None:
    tp.compile("kuhn_poker")
    monkeypatch.setenv(game_cache.ENVIRONMENT, game_cache.OFF)
    tp.compile("kuhn_poker")
    assert len(compilations) == 2
    assert not list(game_cache.cached_games())


def test_the_folder_is_beside_the_kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(game_cache.ENVIRONMENT, raising=False)
    monkeypatch.setenv("TREEPLEX_KERNELS", str(tmp_path))
    assert game_cache.games_folder() == tmp_path / "games"


def test_a_limit_refuses_a_stored_game(folder: Path, compilations: list[str]) -> None:
    tp.compile("goofspiel(num_cards=3,imp_info=true)")
    tp.compile("goofspiel(num_cards=3,imp_info=true)", limit=100_000)
    assert len(compilations) == 1
    with pytest.raises(GameSizeError):
        tp.compile("goofspiel(num_cards=3,imp_info=true)", limit=100)


def test_a_stored_game_larger_than_the_default_limit(folder: Path, compilations: list[str], monkeypatch: Any) -> None:
    tp.compile("goofspiel(num_cards=3,imp_info=true)", limit=100_000)
    monkeypatch.setattr(game_cache, "MOST_HISTORIES", 100)
    tp.compile("goofspiel(num_cards=3,imp_info=true)", limit=100_000)
    assert len(compilations) == 1
    tp.compile("goofspiel(num_cards=3,imp_info=true)")
    assert len(compilations) == 2


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-9], lambda data: data[:-1] + b"?", lambda data: b"", lambda data: b"{}"]
)
def test_a_damaged_entry_is_recompiled_with_one_notice(
    damage: Callable[[bytes], bytes], folder: Path, compilations: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    new = tp.compile("kuhn_poker")
    (path,) = folder.iterdir()
    path.write_bytes(damage(path.read_bytes()))
    assert not list(game_cache.cached_games())
    check_equal(new, tp.compile("kuhn_poker"))
    tp.compile("kuhn_poker")
    assert len(compilations) == 2
    assert capfd.readouterr().err == f"{path} is damaged; recompiling the game\n"


def test_an_unwritable_folder_is_reported_once(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder.write_text("a file")
    game_cache.warn_unwritable.cache_clear()
    assert tp.compile("kuhn_poker").size.histories == tp.compile("kuhn_poker").size.histories == 58
    assert capfd.readouterr().err.count("cannot be cached") == 1


def test_the_least_recently_used_games_go_first(folder: Path, monkeypatch: pytest.MonkeyPatch, compilations: list[str]) -> None:
    for number in (2, 3, 4):
        tp.compile(f"leduc_poker(ranks={number})")
    sizes = {entry.game: entry.bytes for entry in game_cache.cached_games()}
    monkeypatch.setattr(game_cache, "MOST_BYTES", sum(sizes.values()) + 1)
    for age, entry in enumerate(sorted(game_cache.cached_games(), key=lambda entry: entry.game)):
        os.utime(entry.path, (entry.used - 1000 + age, entry.used - 1000 + age))
    tp.compile("leduc_poker(ranks=2)")  # used again
    tp.compile("kuhn_poker")
    left = {entry.game for entry in game_cache.cached_games()}
    assert left == {"leduc_poker(ranks=2)", "leduc_poker(ranks=4)", "kuhn_poker"} or left == {
        "leduc_poker(ranks=2)",
        "leduc_poker",
        "kuhn_poker",
    }
    monkeypatch.setattr(game_cache, "MOST_BYTES", 1000)
    tp.compile("leduc_poker(ranks=5)")  # larger than the cache
    assert len(list(game_cache.cached_games())) == 3


def test_clear(folder: Path) -> None:
    tp.compile("kuhn_poker")
    tp.compile("leduc_poker(ranks=2)")
    assert game_cache.clear_games() == 2
    assert not list(folder.iterdir())


def test_the_command_lists_and_removes_games(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    tp.compile("leduc_poker(ranks=2)")
    list_games(as_json=True)
    (game,) = json.loads(capsys.readouterr().out)
    assert (game["game"], game["histories"]) == ("leduc_poker(ranks=2)", tp.compile("leduc_poker(ranks=2)").size.histories)
    clear_cache()
    list_games(as_json=False)
    monkeypatch.setenv(game_cache.ENVIRONMENT, game_cache.OFF)
    list_games(as_json=False)
    out = capsys.readouterr().out
    assert f"1 games removed from {folder}" in out
    assert f"0 games, 0.0 MB in {folder}" in out
    assert out.endswith("the cache is off\n")


# --- rules of users


@pytest.fixture
def source(tmp_path: Path) -> Path:
    shutil.copy(EXAMPLE, tmp_path / "rules.py")
    return tmp_path / "rules.py"


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_a_changed_file_is_compiled_again(source: Path, folder: Path, compilations: list[str]) -> None:
    before = tp.compile(f"{source}:MyGame")
    change(source, "won * (1 + self.game.stake)", "won * (2 + self.game.stake)")
    after = tp.compile(f"{source}:MyGame")
    assert len(compilations) == 2
    assert before.identity != after.identity
    change(source, "won * (2 + self.game.stake)", "won * (1 + self.game.stake)")
    assert tp.compile(f"{source}:MyGame").identity == before.identity
    assert len(compilations) == 2


def test_a_changed_file_is_checked_again(source: Path, folder: Path) -> None:
    tp.compile(f"{source}:MyGame")
    change(source, "card {self.cards[", "card {0 * self.cards[")
    change(source, ", moves {self.moves}", "")
    change(source, "{(): 0, (1,): 1}", "{(): 0, (1,): 0}")
    with pytest.raises(ImperfectRecallError):
        tp.compile(f"{source}:MyGame")


def test_games_that_fail_are_not_stored(source: Path, folder: Path) -> None:
    change(source, "return [payoff, -payoff]", "return [payoff, float('nan')]")
    for _ in range(2):
        with pytest.raises(GameError, match="finite"):
            tp.compile(f"{source}:MyGame")
    assert not folder.exists()


def other_process(spec: str, folder: Path, **environment: str) -> "subprocess.Popen[str]":
    code = f"from treeplex.forms.compile import game_cache; game_cache.LEAST_SECONDS = 0.0; {COMPILE}; print(len(counted))"
    count = (
        "from treeplex.forms.compile import compile_game as module; counted = []; whole = module.compile_new\n"
        "module.compile_new = lambda *words, **options: (counted.append(1), whole(*words, **options))[1]\n"
    )
    environment = os.environ | {game_cache.ENVIRONMENT: str(folder)} | environment
    words = [sys.executable, "-c", count + code, spec]
    return subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def result(process: "subprocess.Popen[str]") -> list[str]:
    out, err = process.communicate(timeout=300)
    assert (process.returncode, err) == (0, "")
    return out.split()


def test_imports_from_beside_the_file_count(source: Path, folder: Path) -> None:
    (source.parent / "chips.py").write_text("STAKE = 2\n\n\ndef stake():\n    return STAKE\n")
    change(source, "import treeplex as tp\n", "import treeplex as tp\nfrom chips import stake\n")
    change(source, "self.ranks, self.stake = ranks, stake", "self.ranks = ranks")
    change(source, "(1 + self.game.stake)", "(1 + stake())")
    identity, compiled = result(other_process(f"{source}:MyGame", folder))
    assert compiled == "1"
    assert result(other_process(f"{source}:MyGame", folder)) == [identity, "0"]
    change(source.parent / "chips.py", "STAKE = 2", "STAKE = 3")
    changed, compiled = result(other_process(f"{source}:MyGame", folder))
    assert compiled == "1"
    assert changed != identity


def test_two_processes_at_once(folder: Path) -> None:
    spec = "goofspiel(num_cards=4,imp_info=true)"
    first, second = (other_process(spec, folder) for _ in range(2))
    identity = result(first)[0]
    assert result(second)[0] == identity
    (path,) = folder.iterdir()
    assert result(other_process(spec, folder)) == [identity, "0"]
    assert path.suffix == ".game"


@pytest.mark.slow
def test_a_changed_library_compiles_again(folder: Path, tmp_path: Path) -> None:
    """Only code that the game depends on counts, and only code."""
    copy = tmp_path / "library/treeplex"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("kernels", "prebuilt", "__pycache__"))
    paths = os.pathsep.join((str(copy.parent), os.environ.get("PYTHONPATH", "")))

    def compiled() -> str:
        return result(other_process("liars_dice(dice_sides=2)", folder, PYTHONPATH=paths))[1]

    assert [compiled(), compiled()] == ["1", "0"]
    rules = copy / "games/builtin/liars_dice.py"
    rules.write_text(rules.read_text() + "\n# a comment\n")
    assert compiled() == "0"
    rules.write_text(rules.read_text() + "\nMORE = 1\n")
    assert [compiled(), compiled()] == ["1", "0"]
    other = copy / "games/builtin/kuhn_poker.py"
    other.write_text(other.read_text() + "\nMORE = 1\n")  # imported by the registry
    walk = copy / "forms/compile/walk.py"
    walk.write_text(walk.read_text() + "\nMORE = 1\n")
    assert [compiled(), compiled()] == ["1", "0"]
    page = copy / "web/server.py"
    page.write_text(page.read_text() + "\nMORE = 1\n")
    assert compiled() == "0"


# --- digests


def digest(rules: Game) -> str | None:
    found = rules_digest.rules_digest(rules)
    return None if found is None else found()


def loaded(path: Path, name: str = "MyGame") -> Game:
    return tp.load(f"{path}:{name}")


def test_a_digest_covers_the_values_of_the_rules(source: Path) -> None:
    game = loaded(source)
    first = digest(game)
    assert first
    assert digest(loaded(source)) == first
    game.stake = 7
    assert digest(game) not in (None, first)
    assert digest(tp.load("leduc_poker")) != digest(tp.load("leduc_poker(ranks=4)"))
    assert digest(tp.load([[1, -1], [-1, 1]])) != digest(tp.load([[1, -1], [-1, 2]]))


CHANGES = {
    "a global": lambda module: setattr(module, "CARDS", 9),
    "a class attribute": lambda module: setattr(module.MyGame, "suits", 5),
    "a default": lambda module: setattr(module.Hand.__init__, "__defaults__", ((0,), ())),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_digest_covers_values_that_methods_may_read(name: str, source: Path) -> None:
    change(source, "class MyGame(tp.Game):", "CARDS = 5\n\n\nclass MyGame(tp.Game):\n    suits = 4")
    game = loaded(source)
    first = digest(game)
    CHANGES[name](sys.modules[type(game).__module__])
    assert digest(game) not in (None, first)


STATES = """


class Hidden:
    __slots__ = ("__payoff",)

    def __init__(self, payoff):
        self.__payoff = payoff


class Scaled:
    def __init__(self, scale):
        self.__wrapped__, self.scale = scaled, scale


def scaled():
    return 1
"""
PAIRS: dict[str, Callable[[Any], tuple[object, object]]] = {
    "a private slot": lambda module: (module.Hidden(1), module.Hidden(2)),
    "a decorator's state": lambda module: (module.Scaled(1), module.Scaled(2)),
    "a long array in a namespace": lambda _: (SimpleNamespace(a=np.zeros(2000)), SimpleNamespace(a=np.arange(2000) == 1000)),
    "a bound method of a dictionary": lambda _: ({1: 2}.get, {1: 3}.get),
    "a long pattern": lambda _: (re.compile("a" * 300), re.compile("a" * 299 + "b")),
}


@pytest.mark.parametrize("name", PAIRS)
def test_a_digest_covers_hidden_states(name: str, source: Path) -> None:
    source.write_text(source.read_text() + STATES)
    game = loaded(source)
    found = []
    for value in PAIRS[name](sys.modules[type(game).__module__]):
        game.more = value  # type: ignore[attr-defined]
        found.append(digest(game))
    assert all(found)
    assert found[0] != found[1]


def test_the_order_of_a_set_does_not_count(source: Path) -> None:
    """Nor does a value count as another one that took its place in the set's order."""
    one, other = (0, 0), (0, 6)  # in the same place of a small set, so that the first one to be added comes first
    game, found = loaded(source), []
    for members, best in (([one, other], one), ([other, one], other), ([other, one], one)):
        game.more = [set(members), best]  # type: ignore[attr-defined]
        found.append(digest(game))
    assert found[0] == found[2] != found[1]


LINE = "        self.ranks, self.stake = ranks, stake\n"
UNKNOWN = {
    "a file": (LINE, LINE + "        \n    def text(self):\n        return open(self.spec)\n"),
    "the environment": (LINE, LINE + "        self.word = tp.os.environ.get('WORD')\n"),
    "a lambda": (LINE, LINE + "        self.payoff = lambda won: won\n"),
    "a generator": (LINE, LINE + "        import random\n        self.random = random.Random(3)\n"),
    "a closure": ("class Hand(tp.State):", "def made(n):\n    return lambda: n\n\n\nPAY = made(3)\n\n\nclass Hand(tp.State):"),
    "a local class": (
        "class MyGame(tp.Game):",
        "def other():\n    class Other(MyGame):\n        pass\n\n    return Other()\n\n\nclass MyGame(tp.Game):",
    ),
    "a lazy import": ("        return Hand(self)\n", "        import chips_of_mine\n\n        return Hand(self)\n"),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_rules_without_a_digest(name: str, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    change(source, *UNKNOWN[name])
    monkeypatch.setattr(tp, "os", os, raising=False)
    if name == "a lazy import":
        assert rules_digest.rules_digest(sys.modules[loaded_module(source)].MyGame()) is None
        return
    assert digest(loaded(source, "other" if name == "a local class" else "MyGame")) is None


def loaded_module(path: Path) -> str:
    from treeplex.forms.sources.user_module import run_file

    return run_file(path).__name__


def test_patched_and_edited_code_has_no_digest(source: Path) -> None:
    game = loaded(source)
    returns = type(game).new_initial_state
    type(game).new_initial_state = lambda self: returns(self)  # type: ignore[method-assign]
    assert digest(game) is None
    type(game).new_initial_state = returns  # type: ignore[method-assign]
    assert digest(game)
    change(source, "won = 1 if", "won = 2 if")
    assert digest(game) is None


def test_common_code_has_a_digest(tmp_path: Path) -> None:
    text = EXAMPLE.read_text().replace("import treeplex as tp\n", COMMON, 1)
    (tmp_path / "common.py").write_text(text.replace(LINE, LINE + "        self.more = more()\n"))
    assert digest(loaded(tmp_path / "common.py"))


COMMON = """import enum
import math
import re
from collections import Counter, namedtuple
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

import treeplex as tp
from treeplex import CHANCE

DECK: "list[Any]" = [np.arange(3), np.float64(2), {1, 2}, frozenset("ab"), Fraction(1, 3), range(3), re.compile("a+")]


class Suit(enum.IntEnum):
    CLUB = 1
    SPADE = 2


class Pair(NamedTuple):
    one: int
    two: int = 2


@dataclass(frozen=True)
class Bet:
    size: float
    more: list[int] = field(default_factory=list)

    @property
    def double(self):
        return 2 * self.size

    @cached_property
    def half(self):
        return self.size / 2

    @staticmethod
    def none():
        return Bet(0.0)

    @classmethod
    def one(cls):
        return cls(1.0)


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self):
        self.a = 1


class Base(tp.Game):
    def __init__(self):
        super().__init__()


@cache
def more():
    bet = Bet.one()
    bet.half
    return [Suit.SPADE, Pair(1), bet, Slotted(), Counter("ab"), math.comb, more_of, math.pi, np.sum]


@lru_cache(maxsize=3)
def more_of(n):
    return n


"""


def test_code_of_main_has_no_digest() -> None:
    code = f"{EXAMPLE.read_text()}\nfrom treeplex.forms.compile.rules_digest import rules_digest\nprint(rules_digest(MyGame()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "None\n"


@pytest.mark.parametrize("spec", ["openspiel:kuhn_poker", "openspiel:leduc_poker"])
def test_games_of_openspiel(spec: str) -> None:
    pytest.importorskip("pyspiel")
    assert digest(tp.load(spec)) not in (None, digest(tp.load("kuhn_poker")))
    assert (
        digest(tp.load("openspiel:python_kuhn_poker" if spec.endswith("kuhn_poker") else "openspiel:goofspiel(num_cards=3)"))
        is None
    )


@cache
def digests() -> dict[str, str | None]:
    specs = ("kuhn_poker", "leduc_poker", "liars_dice", "goofspiel(num_cards=3)", "oshi_zumo", "battleship", "dark_hex")
    return {spec: digest(tp.load(spec)) for spec in specs}


def test_built_in_games_have_different_digests() -> None:
    assert all(digests().values())
    assert len(set(digests().values())) == len(digests())
