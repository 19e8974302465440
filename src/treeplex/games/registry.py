"""The built-in games by name.

Games of the core are found first, so that they load no wing. ``load`` here knows built-in names only. Loaders for files,
other libraries and users' own classes stand in a layer above and fall back on this one.
"""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from treeplex.base.spec import Spec, nearest, parse_spec
from treeplex.base.wings import named, provided_by_name
from treeplex.errors import SpecError
from treeplex.games.base import Game
from treeplex.games.builtin import (
    battleship,
    goofspiel,
    kuhn_poker,
    leduc_poker,
    liars_dice,
    matrix,
    oshi_zumo,
    phantom,
    tic_tac_toe,
)
from treeplex.games.parameters import GameInfo

_INFOS = (
    kuhn_poker.INFO,
    leduc_poker.INFO,
    leduc_poker.BIG_LEDUC_INFO,
    liars_dice.INFO,
    goofspiel.INFO,
    oshi_zumo.INFO,
    battleship.INFO,
    tic_tac_toe.INFO,
    phantom.PHANTOM_TTT,
    phantom.DARK_HEX,
    matrix.INFO,
    *matrix.NAMED,
)
CORE: Mapping[str, GameInfo] = MappingProxyType({info.name: info for info in _INFOS})
"""The games that need no wing."""


@cache
def games() -> Mapping[str, GameInfo]:
    """The built-in games: name to description, in the order to show them."""
    return MappingProxyType({**CORE, **{name: named(entry) for name, entry in provided_by_name("games").items()}})


def info_of(name: str) -> GameInfo | None:
    """The description of a built-in game; None of another."""
    if name in CORE:
        return CORE[name]
    entry = provided_by_name("games").get(name)
    return named(entry) if entry else None


def named_file(spec: str) -> str | None:
    """The first file that the spec of a built-in game names, None without any or of an unknown game."""
    parsed = parse_spec(spec)
    info = info_of(parsed.name)
    files = info.files if info else ()
    return next((str(parsed.parameters[name]) for name in files if name in parsed.parameters), None)


def load(spec: str | Spec) -> Game:
    """The built-in game that a spec names, such as ``load("leduc_poker(players=3)")``; ``load(game.spec)`` is the same game.

    Raises:
        SpecError: an unknown game or parameter (the message has the nearest name) or a value outside its range.
    """
    parsed = parse_spec(spec) if isinstance(spec, str) else spec
    info = info_of(parsed.name)
    if info is None:
        raise SpecError(f"unknown game {parsed.name!r}{nearest(parsed.name, [*CORE, *provided_by_name('games')])}")
    return info.make(parsed.parameters)
