"""OpenSpiel: its games as Treeplex rules, and policies to and from its tabular policies. ``pyspiel`` is optional."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np

from treeplex.base.spec import check_depth, nearest, parse_spec, shown, spec_name
from treeplex.base.version import install_hint
from treeplex.errors import GameError, PolicyError, SpecError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.tabular import Policy, as_compiled
from treeplex.games.base import Game, State
from treeplex.games.turn_based import other_names, turn_text

PREFIX = "openspiel:"
OF_FILES = ("file", "puzzles_root")
"""What stands in the names of those of OpenSpiel's parameters that are paths: ``filename``, ``instances_file``."""
SUM_TOLERANCE = 1e-6
EXACT_TOLERANCE = 1e-12


def import_pyspiel() -> ModuleType:
    """The module ``pyspiel``.

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
    """A state of OpenSpiel (``state``), never changed in place; action ids and infostate strings are OpenSpiel's."""

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
                f"OpenSpiel gives no information state at history {self.state.history()}: {first_line(error)}"
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
    """A state of a game with simultaneous moves, turn by turn. The player to act has the infostate of the game itself."""

    __slots__ = ()

    def child(self, action: int) -> "OpenSpielTurn":
        return OpenSpielTurn(self.state.child(action))

    def information_state_string(self, player: int | None = None) -> str:
        text, mover = super().information_state_string(player), self.current_player()
        return text if player not in (None, mover) else text.removeprefix(turn_text(mover))


class OpenSpielGame(Game):
    """A game of OpenSpiel, written in C++ or Python; one with simultaneous moves is made turn-based.

    Attributes:
        game: the ``pyspiel.Game`` that is walked, turn-based.
    """

    def __init__(self, game: Any) -> None:
        """Wrap ``game``: a ``pyspiel.Game`` or its game string, with or without ``openspiel:`` before it.

        Raises:
            SpecError: OpenSpiel has no game of this name, or not these parameters.
            GameError: OpenSpiel is not installed, or the game cannot be enumerated (mean-field dynamics, sampled chance,
                no information state strings).
        """
        pyspiel = import_pyspiel()
        if isinstance(game, str):
            game = load_pyspiel(game.removeprefix(PREFIX))
        if not isinstance(game, pyspiel.Game):
            raise GameError(f"not a game of OpenSpiel: {game!r}")
        self.spec = PREFIX + str(game).removesuffix("()")
        self.given_parameters: Mapping[str, object] = dict(game.get_parameters())
        kind = game.get_type()
        if kind.dynamics == pyspiel.GameType.Dynamics.MEAN_FIELD:
            raise GameError(f"{self.spec} is a mean-field game, not a game in extensive form; choose another game")
        if kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
            raise GameError(
                f"{self.spec} draws its chance itself and gives no probabilities (sampled stochastic), so Treeplex can neither "
                "solve, sample nor evaluate it; take a game with explicit chance, or the parameter that makes chance explicit"
            )
        if not kind.provides_information_state_string:
            raise GameError(
                f"{self.spec} provides no information_state_string, by which Treeplex tells infosets apart, so it can neither "
                "solve, sample nor evaluate it; take a game that provides one, or write rules that do (docs: Your own game)"
            )
        self.state_type = OpenSpielState
        if kind.dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
            game, self.state_type = pyspiel.convert_to_turn_based(game), OpenSpielTurn
        self.game = game
        self.num_players = int(game.num_players())

    @property
    def num_distinct_actions(self) -> int:
        """As OpenSpiel says."""
        return int(self.game.num_distinct_actions())

    def new_initial_state(self) -> OpenSpielState:
        return self.state_type(self.game.new_initial_state())

    def parameters(self) -> Mapping[str, object]:
        return self.given_parameters


def load_pyspiel(text: str) -> Any:
    """The ``pyspiel.Game`` of a game string; games whose names begin with ``python_`` are registered first."""
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
    """The first file that OpenSpiel would read for a spec, such as that of ``openspiel:efg_game(filename=...)``, however deep.

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
    """Keep off stderr what C++ code writes there before it raises the same as an exception."""
    try:
        kept = os.dup(2)
    except OSError:
        yield
        return
    try:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def first_line(error: Exception) -> str:
    """The first line of what OpenSpiel said."""
    return (str(error).splitlines() or [type(error).__name__])[0]


def pyspiel_game_of(game: CompiledGame) -> Any:
    """The turn-based ``pyspiel.Game`` of a compiled game: from its spec, which may also be OpenSpiel's without prefix.

    Raises:
        PolicyError: OpenSpiel has no game of this spec.
    """
    try:
        return OpenSpielGame(game.spec).game
    except SpecError as error:
        raise PolicyError(f"which game of OpenSpiel is {game}? Pass game=...; {error}") from error


def to_tabular_policy(policy: Policy, game: Any = None) -> Any:
    """The policy as ``open_spiel.python.policy.TabularPolicy``, probabilities clipped to [0, 1].

    Args:
        policy: a policy on a game whose infostate strings and action ids are OpenSpiel's.
        game: the ``pyspiel.Game`` or game string; by default the one that the spec of the policy's game names.

    Raises:
        PolicyError: an infostate of OpenSpiel's game that the policy lacks, or one with other actions.
    """
    from open_spiel.python.policy import TabularPolicy

    table = TabularPolicy(pyspiel_game_of(policy.game) if game is None else OpenSpielGame(game).game)
    for player, infostates in enumerate(table.states_per_player):
        for infostate in infostates:
            row = table.state_lookup[infostate]
            legal = np.flatnonzero(table.legal_actions_mask[row])
            probabilities = policy[player, infostate]
            if sorted(probabilities) != legal.tolist():
                raise PolicyError(f"actions {sorted(probabilities)} at infostate {infostate!r}, in OpenSpiel {legal.tolist()}")
            table.action_probability_array[row] = 0.0
            table.action_probability_array[row, list(probabilities)] = np.clip(list(probabilities.values()), 0.0, 1.0)
    return table


def to_pyspiel_policy(policy: Policy, game: Any = None) -> Any:
    """The policy as the C++ class ``pyspiel.TabularPolicy``, which ``pyspiel.nash_conv`` and other C++ code take.

    Arguments as for :func:`to_tabular_policy`.
    """
    table = to_tabular_policy(policy, game)
    rows = {
        infostate: [(int(action), float(table.action_probability_array[row, action])) for action in np.flatnonzero(mask)]
        for infostate, row in table.state_lookup.items()
        for mask in [table.legal_actions_mask[row]]
    }
    return import_pyspiel().TabularPolicy(rows)


def from_tabular_policy(game: CompiledGame | str | Game | Any, tabular: Any) -> Policy:
    """A policy on ``game`` from what OpenSpiel users have.

    Args:
        game: a spec, rules or the compiled game; its infostate strings and action ids are the policy's.
        tabular: ``{infostate: {action: p}}``, ``{infostate: [(action, p), ...]}``, Python's or C++'s ``TabularPolicy``, or
            anything else with ``action_probabilities(state)``, which is asked at every infostate of OpenSpiel's game.

    Raises:
        PolicyError: an infostate is missing, an action does not exist, or probabilities do not sum to one within 1e-6
            (clipped to [0, 1], they are divided by their sum).
    """
    game = as_compiled(game)
    rows = policy_rows(game, tabular)
    for player, infostate in game.lookup:  # of a game with simultaneous moves OpenSpiel's policies are for it turn by turn
        if infostate not in rows and (turn := other_names(player, infostate)[1]) in rows:
            rows[infostate] = rows[turn]
    probabilities = np.ones(int(game.tree.sequence_offsets[-1]))
    missing = [infostate for infostate in game.infostates if infostate not in rows]
    if missing:
        raise PolicyError(f"the policy lacks {len(missing)} infostates of {game}, such as {missing[0]!r}; is it for that game?")
    for infoset, infostate in enumerate(game.infostates):
        found = rows[infostate]
        actions = game.actions_at(infoset)
        unknown = [action for action, probability in found.items() if action not in actions and probability > 0]
        if unknown:
            raise PolicyError(f"action {unknown[0]} at infostate {infostate!r} of {game}, which has only {actions}")
        values = np.clip([found.get(action, 0.0) for action in actions], 0.0, 1.0)
        if not abs(values.sum() - 1.0) <= SUM_TOLERANCE:
            raise PolicyError(f"probabilities at infostate {infostate!r} sum to {values.sum():.9g}, not to 1: {found}")
        exact = abs(values.sum() - 1.0) <= EXACT_TOLERANCE
        probabilities[game.sequences_at(infoset)] = values if exact else values / values.sum()
    return Policy(game, probabilities)


def same_rules(one: str, other: str) -> bool:
    """Whether two specs name one game, once Treeplex's own and once OpenSpiel's."""
    if one.startswith(PREFIX) == other.startswith(PREFIX):
        return False
    try:
        return parse_spec(one.removeprefix(PREFIX)) == parse_spec(other.removeprefix(PREFIX))
    except SpecError:
        return False


def transferred(policy: Policy, game: CompiledGame) -> Policy:
    """A policy at the same infostates of ``game``, whose :func:`same_rules` may be numbered in another order.

    Raises:
        PolicyError: an infostate that the policy lacks, or one with other actions.
    """
    probabilities = np.ones(int(game.tree.sequence_offsets[-1]))
    for (player, infostate), infoset in game.lookup.items():
        found, actions = policy[player, infostate], game.actions_at(infoset)
        if sorted(found) != sorted(actions):
            raise PolicyError(f"actions {list(found)} at infostate {infostate!r}, in {game} {actions}")
        probabilities[game.sequences_at(infoset)] = [found[action] for action in actions]
    return Policy(game, probabilities)


def policy_rows(game: CompiledGame, tabular: Any) -> dict[str, dict[int, float]]:
    """``{infostate: {action: probability}}`` of any kind of policy."""
    if hasattr(tabular, "policy_table"):
        tabular = tabular.policy_table()
    if hasattr(tabular, "state_lookup") and hasattr(tabular, "action_probability_array"):
        array = np.asarray(tabular.action_probability_array)
        tabular = {infostate: dict(enumerate(array[row].tolist())) for infostate, row in tabular.state_lookup.items()}
    if isinstance(tabular, Mapping):
        return {str(infostate): distribution(infostate, row) for infostate, row in tabular.items()}
    if hasattr(tabular, "action_probabilities"):
        return asked_rows(pyspiel_game_of(game), tabular)
    raise PolicyError(f"cannot read a policy from {type(tabular).__name__}; give {{infostate: {{action: probability}}}}")


def distribution(infostate: object, row: Mapping[Any, Any] | Iterable[tuple[Any, Any]]) -> dict[int, float]:
    """``{action: probability}`` from such a mapping or from pairs."""
    try:
        return {int(action): float(p) for action, p in (row.items() if isinstance(row, Mapping) else row)}
    except (TypeError, ValueError) as error:
        raise PolicyError(f"cannot read the distribution at infostate {infostate!r}: {row!r} ({error})") from error


def asked_rows(game: Any, policy: Any) -> dict[str, dict[int, float]]:
    """What ``policy.action_probabilities`` says at one history of each infostate of a ``pyspiel.Game``."""
    rows: dict[str, dict[int, float]] = {}
    stack = [game.new_initial_state()]
    while stack:
        state = stack.pop()
        if state.is_terminal():
            continue
        if not state.is_chance_node():
            infostate = state.information_state_string(state.current_player())
            if infostate not in rows:
                try:
                    rows[infostate] = distribution(infostate, policy.action_probabilities(state))
                except (RuntimeError, KeyError) as error:
                    raise PolicyError(f"the policy says nothing at infostate {infostate!r}: {first_line(error)}") from error
        stack.extend(state.child(action) for action in state.legal_actions())
    return rows
