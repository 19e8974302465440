"""The built-in games by name.

``load`` here knows built-in names only. Loaders for files, other libraries and users' own classes stand in a layer above and
fall back on this one.
"""

from collections.abc import Mapping
from types import MappingProxyType

from treeplex.base.spec import Spec, nearest, parse_spec
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
from treeplex.holdem.buckets import named as buckets
from treeplex.holdem.rules import named
from treeplex.holdem.whole import named as whole_holdem
from treeplex.holdem.whole import repeated

_INFOS = (
    kuhn_poker.INFO,
    leduc_poker.INFO,
    leduc_poker.BIG_LEDUC_INFO,
    named.NO_LIMIT_LEDUC_INFO,
    named.SMALL_HOLDEM_INFO,
    named.TURN_HOLDEM_INFO,
    named.RHODE_ISLAND_INFO,
    buckets.INFO,
    whole_holdem.INFO,
    repeated.INFO,
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
_GAMES: Mapping[str, GameInfo] = MappingProxyType({info.name: info for info in _INFOS})


def games() -> Mapping[str, GameInfo]:
    """The built-in games: name to description, in the order to show them."""
    return _GAMES


def named_file(spec: str) -> str | None:
    """The first file that the spec of a built-in game names, None without any or of an unknown game."""
    parsed = parse_spec(spec)
    files = _GAMES[parsed.name].files if parsed.name in _GAMES else ()
    return next((str(parsed.parameters[name]) for name in files if name in parsed.parameters), None)


def load(spec: str | Spec) -> Game:
    """The built-in game that a spec names, such as ``load("leduc_poker(players=3)")``; ``load(game.spec)`` is the same game.

    Raises:
        SpecError: an unknown game or parameter (the message has the nearest name) or a value outside its range.
    """
    parsed = parse_spec(spec) if isinstance(spec, str) else spec
    if parsed.name not in _GAMES:
        raise SpecError(f"unknown game {parsed.name!r}{nearest(parsed.name, _GAMES)}")
    return _GAMES[parsed.name].make(parsed.parameters)
