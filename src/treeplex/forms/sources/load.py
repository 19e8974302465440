"""One door to games: built-in ones, OpenSpiel's, files and users' own classes."""

from collections.abc import Callable, Mapping
from typing import Any

from treeplex.errors import SpecError
from treeplex.forms.sources.efg_read import read_efg
from treeplex.forms.sources.liteefg import read_game_file
from treeplex.forms.sources.openspiel import PREFIX, OpenSpielGame
from treeplex.forms.sources.user_module import is_openspiel_class, is_user_spec, load_user_game
from treeplex.games import registry
from treeplex.games.base import Game
from treeplex.games.open_loop import OpenLoop
from treeplex.games.turn_based import TurnBased
from treeplex.spec import Spec, parse_spec

WRAPPERS: Mapping[str, Callable[[Game], Game]] = {"turn_based": TurnBased, "open_loop": OpenLoop}
"""What makes a game of another."""


def load(game: str | Spec | Game | Any) -> Game:
    """The game that ``game`` names.

    ============================================  =====================================================
    ``leduc_poker``, ``liars_dice(dice=2)``       built-in rules (:func:`treeplex.games.registry.load`)
    ``openspiel:first_sealed_auction(players=3)`` a game of OpenSpiel
    ``folder/game.efg``                           a Gambit file
    ``folder/game.game``, ``game.openspiel``      a LiteEFG file
    ``turn_based(game=...)``                      another game, simultaneous moves one at a time
    ``open_loop(game=...)``                       a game in which nobody learns anything, as a static one
    ``mygame.py:MyGame(n=3)``                     a class or function in a Python file, which runs
    rules, a ``pyspiel.Game``                     themselves, the latter wrapped
    ============================================  =====================================================

    Raises:
        SpecError: an unknown name or parameter.
        FileError: a file that cannot be read.
        GameError: what was named is not a game that can be enumerated.
    """
    if isinstance(game, Game):
        return game
    if is_openspiel_class(type(game)):
        return OpenSpielGame(game)
    if isinstance(game, Spec):
        return load(str(game))
    if not isinstance(game, str):
        raise SpecError(f"cannot load a game from {type(game).__name__}; give a spec, a file's path or a game")
    text = game.strip()
    if text.startswith(PREFIX):
        return OpenSpielGame(text)
    if (name := text.split("(", 1)[0]) in WRAPPERS:
        return WRAPPERS[name](load(wrapped(text)))
    if is_user_spec(text):
        return load_user_game(text)
    if text.endswith(".efg"):
        return read_efg(text)
    if text.endswith((".game", ".openspiel")):
        return read_game_file(text)
    return registry.load(text)


def wrapped(text: str) -> str:
    """The spec of the game inside ``name(game=...)``.

    Raises:
        SpecError: there is none, or something else besides.
    """
    spec = parse_spec(text)
    game = str(spec.parameters.get("game", "")).strip()
    if not game or len(spec.parameters) > 1:
        raise SpecError(f"{text}: {spec.name} takes a game and nothing else; write {spec.name}(game=...)")
    return game
