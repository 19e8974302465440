"""OpenSpiel's games as Treeplex rules, and conversion of policies to and from its tabular policies. ``pyspiel`` is optional."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from treeplex.base.spec import check_depth, nearest, parse_spec, shown, spec_name
from treeplex.base.version import install_hint
from treeplex.errors import GameError, PolicyError, SpecError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.games.base import Game, State
from treeplex.games.turn_based import turn_text

PREFIX = "openspiel:"
OF_FILES = ("file", "puzzles_root")
"""Substrings in the names of OpenSpiel's parameters that are file paths, such as ``filename`` and ``instances_file``."""


def import_pyspiel() -> ModuleType:
    """Import and return ``pyspiel``.

    Raises:
        GameError: OpenSpiel is not installed.
    """
    try:
        import pyspiel
    except ImportError as error:
        raise GameError(f"OpenSpiel is not installed ({error}); run: {install_hint('openspiel')}") from error
    module: ModuleType = pyspiel
    return module


class OpenSpielState(State):
    """An OpenSpiel state (``state``), never changed in place; action ids and infostate strings are OpenSpiel's."""

    __slots__ = ("state",)

    def __init__(self, state: Any) -> None:
        self.state = state

    def current_player(self) -> int:
        return int(self.state.current_player())

    def legal_actions(self, player: int | None = None) -> Sequence[int]:
        actions: Sequence[int] = self.state.legal_actions() if player is None else self.state.legal_actions(player)
        return actions

    def child(self, action: int) -> "OpenSpielState":
        return OpenSpielState(self.state.child(action))

    def returns(self) -> Sequence[float]:
        returns: Sequence[float] = self.state.returns()
        return returns

    def information_state_string(self, player: int | None = None) -> str:
        try:
            return str(self.state.information_state_string(self.current_player() if player is None else player))
        except RuntimeError as error:
            raise GameError(
                f"OpenSpiel provides no information state at history {self.state.history()}: {first_line(error)}"
            ) from error

    def information_state_tensor(self, player: int | None = None) -> Sequence[float] | None:
        if not self.state.get_game().get_type().provides_information_state_tensor:
            return None
        tensor: Sequence[float] = self.state.information_state_tensor(self.current_player() if player is None else player)
        return tensor

    def chance_outcomes(self) -> Sequence[tuple[int, float]]:
        outcomes: Sequence[tuple[int, float]] = self.state.chance_outcomes()
        return outcomes

    def action_to_string(self, action: int) -> str:
        return str(self.state.action_to_string(self.state.current_player(), action))

    def __repr__(self) -> str:
        return f"<OpenSpiel state {self.state.history()}>"


class OpenSpielTurn(OpenSpielState):
    """A turn-based state of a game with simultaneous moves; the player to act has the original game's infostate."""

    __slots__ = ()

    def child(self, action: int) -> "OpenSpielTurn":
        return OpenSpielTurn(self.state.child(action))

    def information_state_string(self, player: int | None = None) -> str:
        text, mover = super().information_state_string(player), self.current_player()
        return text if player not in (None, mover) else text.removeprefix(turn_text(mover))


class OpenSpielGame(Game):
    """An OpenSpiel game, written in C++ or Python; one with simultaneous moves is made turn-based.

    Attributes:
        game: the ``pyspiel.Game`` that is walked, turn-based.
    """

    def __init__(self, game: Any) -> None:
        """Wrap ``game``: a ``pyspiel.Game`` or its game string, with or without ``openspiel:`` before it.

        Raises:
            SpecError: OpenSpiel has no game with this name or these parameters.
            GameError: OpenSpiel is not installed, or the game cannot be enumerated (mean-field dynamics, sampled chance,
                no information state strings).
        """
        pyspiel = import_pyspiel()
        if isinstance(game, str):
            game = load_pyspiel(game.removeprefix(PREFIX))
        if not isinstance(game, pyspiel.Game):
            raise GameError(f"not an OpenSpiel game: {game!r}")
        self.spec = PREFIX + str(game).removesuffix("()")
        self.given_parameters: Mapping[str, object] = dict(game.get_parameters())
        kind = game.get_type()
        if kind.dynamics == pyspiel.GameType.Dynamics.MEAN_FIELD:
            raise GameError(f"{self.spec} is a mean-field game, not an extensive-form game; choose another game")
        if kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
            raise GameError(
                f"{self.spec} samples chance events itself (sampled stochastic), so their probabilities are unknown; "
                "use a game with explicit chance, or set the parameter that makes chance explicit"
            )
        if not kind.provides_information_state_string:
            raise GameError(
                f"{self.spec} provides no information_state_string, which defines the infosets; "
                "use a game that provides one, or write your own rules (docs: Your own game)"
            )
        self.state_type = OpenSpielState
        if kind.dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
            game, self.state_type = pyspiel.convert_to_turn_based(game), OpenSpielTurn
        self.game = game
        self.num_players = int(game.num_players())

    @property
    def num_distinct_actions(self) -> int:
        """Number of distinct actions in OpenSpiel."""
        return int(self.game.num_distinct_actions())

    def new_initial_state(self) -> OpenSpielState:
        return self.state_type(self.game.new_initial_state())

    def parameters(self) -> Mapping[str, object]:
        return self.given_parameters


def load_pyspiel(text: str) -> Any:
    """Load the ``pyspiel.Game`` of a game string; games whose names begin with ``python_`` are registered first."""
    check_depth(text)
    pyspiel = import_pyspiel()
    name = spec_name(text)
    if name.startswith("python_"):
        import open_spiel.python.games  # noqa: F401
    known = pyspiel.registered_names()
    if name not in known:
        raise SpecError(f"OpenSpiel has no game {name!r}{nearest(name, known)}")
    try:
        with quiet_stderr():
            return pyspiel.load_game(text)
    except Exception as error:
        raise SpecError(f"OpenSpiel cannot load {text!r}: {' '.join(str(error).split()) or type(error).__name__}") from error


def openspiel_file(text: str) -> str | None:
    """Return the first file that OpenSpiel would read to load a spec, such as ``openspiel:efg_game(filename=...)``, however
    deeply nested; None if it would read none.

    Raises:
        SpecError: OpenSpiel cannot read the spec.
        GameError: OpenSpiel is not installed.
    """
    check_depth(text)
    if "(" not in text:
        return None
    try:
        with quiet_stderr():
            waiting: list[Any] = [import_pyspiel().game_parameters_from_string(text.removeprefix(PREFIX))]
    except (RuntimeError, ValueError) as error:
        raise SpecError(f"OpenSpiel cannot read {shown(text)}: {first_line(error)}") from error
    while waiting:
        for name, value in waiting.pop().items():
            if isinstance(value, dict):
                waiting.append(value)
            elif value and any(word in name.lower() for word in OF_FILES):
                return str(value)
    return None


@contextmanager
def quiet_stderr() -> Iterator[None]:
    """Suppress messages that C++ code prints to stderr before raising them as exceptions."""
    try:
        original = os.dup(2)
    except OSError:
        yield
        return
    try:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(original, 2)
        os.close(original)


def first_line(error: Exception) -> str:
    """Return the first line of an OpenSpiel error."""
    return (str(error).splitlines() or [type(error).__name__])[0]


def pyspiel_game_of(game: CompiledGame) -> Any:
    """Return the turn-based ``pyspiel.Game`` of a compiled game, from its spec with or without the prefix ``openspiel:``.

    Raises:
        PolicyError: OpenSpiel has no game of this spec.
    """
    try:
        return OpenSpielGame(game.spec).game
    except SpecError as error:
        raise PolicyError(f"cannot tell which OpenSpiel game {game} is ({error}); pass game=...") from error


def same_rules(one: str, other: str) -> bool:
    """Return whether two specs, one of Treeplex and one of OpenSpiel, name the same game."""
    if one.startswith(PREFIX) == other.startswith(PREFIX):
        return False
    try:
        return parse_spec(one.removeprefix(PREFIX)) == parse_spec(other.removeprefix(PREFIX))
    except SpecError:
        return False
