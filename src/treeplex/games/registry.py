"""The built-in games by name.

Games of the core are looked up first, so that they load no wing. ``load`` in this module accepts built-in names only; loaders
for files, other libraries and user classes are built on top of it.
"""

import os
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
"""Games of the core."""


@cache
def games() -> Mapping[str, GameInfo]:
    """Return the built-in games by name, in display order."""
    return MappingProxyType({**CORE, **{name: named(entry) for name, entry in provided_by_name("games").items()}})


def info_of(name: str) -> GameInfo | None:
    """Return the description of a built-in game; None if unknown."""
    if name in CORE:
        return CORE[name]
    entry = provided_by_name("games").get(name)
    return named(entry) if entry else None


def named_file(spec: str) -> str | None:
    """Return the first file named in the spec of a built-in game; None if it names none or the game is unknown."""
    parsed = parse_spec(spec)
    info = info_of(parsed.name)
    files = info.files if info else ()
    return next((str(parsed.parameters[name]) for name in files if name in parsed.parameters), None)


def load(spec: str | Spec) -> Game:
    """Load a built-in game, such as ``load("leduc_poker(players=3)")``; ``load(game.spec)`` is an equal game.

    Raises:
        SpecError: an unknown game or parameter (the message suggests the nearest name) or a value outside its range.
    """
    parsed = parse_spec(spec) if isinstance(spec, str) else spec
    info = info_of(parsed.name)
    if info is None:
        if os.path.isdir(parsed.name):  # False for a name that is too long
            raise SpecError(f"{parsed.name} is a folder, not a game; name a game, or resume a run with --resume {parsed.name}")
        raise SpecError(f"unknown game {parsed.name!r}{nearest(parsed.name, [*CORE, *provided_by_name('games')])}")
    return info.make(parsed.parameters)
