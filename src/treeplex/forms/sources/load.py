"""Loading of games: built-in games, OpenSpiel games, files and user classes.

A spec read from a file (a policy's header, a run folder) may not name another file: neither a Python file, which would be
executed, nor one with rules or payoffs. Only the user's own specs may; see ``named_in`` of :func:`load`.
"""

import os
from collections.abc import Callable, Mapping
from os.path import splitext
from typing import Any

import numpy as np

from treeplex.base.spec import Spec, parse_spec, shown, spec_name
from treeplex.base.wings import named, provided_by_name
from treeplex.errors import FileError, GameError, SpecError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.state_check import check_states
from treeplex.forms.sources.openspiel import PREFIX, OpenSpielGame, openspiel_file
from treeplex.forms.sources.user_module import is_openspiel_class, is_user_spec, load_user_game
from treeplex.games import registry
from treeplex.games.base import Game
from treeplex.games.builtin.matrix import MatrixGame
from treeplex.games.open_loop import OpenLoop
from treeplex.games.public import PublicGame, PublicTree
from treeplex.games.turn_based import TurnBased

WRAPPERS: Mapping[str, Callable[[Game], Game]] = {"turn_based": TurnBased, "open_loop": OpenLoop}
"""Wrappers that convert one game to another."""
MOST_WRAPPERS = 20
FILES: Mapping[str, str] = {
    ".efg": "treeplex.forms.sources.efg_read:read_efg",
    ".nfg": "treeplex.forms.sources.nfg_read:read_nfg",
    ".game": "treeplex.forms.sources.liteefg:read_game_file",
    ".openspiel": "treeplex.forms.sources.liteefg:read_game_file",
}
"""File readers of the core by suffix, imported on demand."""


def load(game: str | Spec | Game | Any, *, named_in: str | os.PathLike[str] | None = None) -> Game:
    """Load a game and return its rules.

    A sample of the histories of a user's rules is played to see that states do not change (``forms.compile.state_check``).

    Args:
        game: one of those below.
        named_in: the file or folder that contains the spec; None for a spec from the user. A spec from a file cannot load a
            game from another file, and so cannot run code.

    ============================================  =====================================================
    ``leduc_poker``, ``liars_dice(dice=2)``       built-in rules (:func:`treeplex.games.registry.load`)
    ``openspiel:first_sealed_auction(players=3)`` a game of OpenSpiel
    ``folder/game.efg``, ``game.nfg``             a Gambit file, in extensive or strategic form
    ``folder/game.game``, ``game.openspiel``      a LiteEFG file
    ``turn.yaml``, ``turn.toml``                  a hold'em spot's file
    ``turn_endgame``, ``flop_holdem``             a named hold'em spot
    ``turn_based(game=...)``                      another game, with its simultaneous moves made sequential
    ``open_loop(game=...)``                       a game without observations, as a static game
    ``mygame.py:MyGame(n=3)``                     a class or function in a Python file, which is executed
    a game, a ``pyspiel.Game``                    the game itself; a ``pyspiel.Game`` is wrapped
    a compiled game                               its rules
    ``[[1, -1], [-1, 1]]``, an array [r, c]       the zero-sum matrix game with these payoffs of player 0
    a pair of them, an array [2, r, c]            the matrix game with the payoffs of both
    ============================================  =====================================================

    Raises:
        SpecError: an unknown name or parameter.
        FileError: a file cannot be read, or a spec ``named_in`` a file names another file or no game.
        GameError: the object is not a game, a hold'em spot is in a wrapper, or states of the rules change.
    """
    if isinstance(game, Game):
        return checked(game)
    if is_openspiel_class(type(game)):
        return checked(OpenSpielGame(game))
    if isinstance(game, Spec):
        return load(str(game), named_in=named_in)
    if isinstance(game, CompiledGame):
        return load(game.spec, named_in=named_in) if game.rules is None else game.rules
    if isinstance(game, list | tuple | np.ndarray):
        return matrix_game(game)
    if not isinstance(game, str):
        raise SpecError(f"cannot load a game from {type(game).__name__}; give a spec, a file's path, a game or a payoff matrix")
    if named_in is not None and not game.strip():
        raise FileError(f"{named_in} is for a game without a name; give the game too")
    wrappers, text = unwrapped(game)
    loader, file = loader_of(text)
    if named_in is not None and file is not None:
        raise FileError(
            f"{named_in} is for {shown(text, 200)}, a game in another file, which is never loaded automatically; "
            "give the game too (with --game, or as the argument GAME)"
        )
    rules = checked(loader(text))
    for wrapper in reversed(wrappers):
        rules = WRAPPERS[wrapper](rules.enumerable_rules())
    return rules


def public_game(game: str | Game | CompiledGame | PublicGame, *, named_in: str | os.PathLike[str] | None = None) -> PublicGame:
    """Return a game's public states and private hands, :attr:`treeplex.games.base.Game.public`.

    Args:
        game: as for :func:`load`; a public game is returned as it is.
        named_in: the file in which a spec stands, see :func:`load`.

    Raises:
        GameError: the rules define no public states, or payoffs of two players do not sum to zero.
    """
    return game if isinstance(game, PublicGame) else load(game, named_in=named_in).public


def public_tree(game: str | Game | CompiledGame | PublicGame, *, named_in: str | os.PathLike[str] | None = None) -> PublicTree:
    """Return the public tree of a two-player zero-sum game, for search.

    Games with public actions and private hands define one (Kuhn and Leduc poker, Liar's Dice, hold'em). In a matrix game each
    player's action is private and becomes its hand. In a game of perfect information players hold no hands, and a public belief
    state is a state of the game.

    Args:
        game: as for :func:`load`; a public tree is returned as it is.
        named_in: the file in which a spec stands, see :func:`load`.

    Raises:
        GameError: another kind of game, more than two players, or payoffs that do not sum to zero.
    """
    public = game if isinstance(game, PublicGame) else load(game, named_in=named_in).enumerable_rules().public
    if not isinstance(public, PublicTree):
        raise GameError(no_public_tree(public))
    return public


def no_public_tree(game: PublicGame) -> str:
    """Return the error message for a game without a public tree."""
    return (
        f"{game.title} with {game.players} player{'s' * (game.players != 1)} has no public tree; "
        "give a two-player game whose class implements public_tree()"
    )


def checked(game: Game) -> Game:
    """Return the game after :func:`treeplex.forms.compile.state_check.check_states`."""
    check_states(game)
    return game


def named_file(spec: str) -> str | None:
    """Return the file named in a spec, however deeply nested; the spec itself if it is invalid; None if it names no file.

    To resume a run on such a game, the user names the game again, because :func:`load` loads no file named in a run folder.
    """
    try:
        return loader_of(unwrapped(spec)[1])[1]
    except SpecError:
        return spec


def loader_of(text: str) -> tuple[Callable[[str], Game], str | None]:
    """Return the loader for a spec without wrappers, and the file that the spec names, if any."""
    if text.startswith(PREFIX):
        return OpenSpielGame, openspiel_file(text)
    if is_user_spec(text):
        return load_user_game, text
    if entry := FILES.get(splitext(text)[1].lower()):
        return named(entry), text
    if spec_name(text) not in registry.CORE:
        loaders = provided_by_name("loaders")
        if entry := loaders.get(text):
            return named(entry), None
        if entry := loaders.get(splitext(text)[1].lower()):
            return named(entry), text
    return registry.load, registry.named_file(text)


def unwrapped(text: str) -> tuple[list[str], str]:
    """Return the names of the :data:`WRAPPERS` around a game, outermost first, and the spec of the game inside.

    Raises:
        SpecError: a wrapper without a game, or more than :data:`MOST_WRAPPERS`.
    """
    names: list[str] = []
    text = text.strip()
    while (name := spec_name(text)) in WRAPPERS:
        if len(names) == MOST_WRAPPERS:
            raise SpecError(f"{shown(text)} nests more than {MOST_WRAPPERS} games; nest fewer")
        names.append(name)
        text = wrapped(text)
    return names, text


def matrix_game(payoffs: Any) -> MatrixGame:
    """Return the matrix game with player 0's payoffs (zero-sum) or both players'; accepts nested lists and arrays.

    Raises:
        SpecError: wrong nesting depth, entries that are not finite numbers, or rows or matrices of different shapes.
    """
    table = plain_lists(payoffs)
    depth, entry = 0, table
    while isinstance(entry, list) and entry:
        depth, entry = depth + 1, entry[0]
    if depth == 3 and len(table) == 2:
        return MatrixGame(table[0], table[1])
    if depth != 2:
        raise SpecError("a matrix game must be one payoff matrix [rows][columns] or a pair of them, such as [[1, -1], [-1, 1]]")
    return MatrixGame(table)


def plain_lists(table: Any) -> Any:
    """Convert arrays and tuples to lists, and NumPy numbers to Python numbers."""
    if isinstance(table, np.ndarray | np.generic):
        return table.tolist()
    return [plain_lists(row) for row in table] if isinstance(table, list | tuple) else table


def wrapped(text: str) -> str:
    """Return the spec of the game inside ``name(game=...)``.

    Raises:
        SpecError: no inner game, or further parameters.
    """
    spec = parse_spec(text)
    game = str(spec.parameters.get("game", "")).strip()
    if not game or len(spec.parameters) > 1:
        raise SpecError(f"{text}: {spec.name} takes only the parameter game; write {spec.name}(game=...)")
    return game
