"""Conversion of policies to and from OpenSpiel."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from treeplex.errors import PolicyError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.tabular import Policy, as_compiled, check_distinct
from treeplex.forms.sources.openspiel import OpenSpielGame, first_line, import_pyspiel, pyspiel_game_of
from treeplex.games.base import Game
from treeplex.games.turn_based import other_names

SUM_TOLERANCE = 1e-6
EXACT_TOLERANCE = 1e-12


def to_tabular_policy(policy: Policy, game: Any = None) -> Any:
    """Convert a policy to ``open_spiel.python.policy.TabularPolicy``, with probabilities clipped to [0, 1].

    Args:
        policy: a policy on a game whose infostate strings and action ids are OpenSpiel's.
        game: the ``pyspiel.Game`` or game string; by default the one that the spec of the policy's game names.

    Raises:
        PolicyError: the policy lacks an infostate of OpenSpiel's game, or has other actions there.
    """
    from open_spiel.python.policy import TabularPolicy

    table = TabularPolicy(pyspiel_game_of(policy.game) if game is None else OpenSpielGame(game).game)
    for player, infostates in enumerate(table.states_per_player):
        for infostate in infostates:
            row = table.state_lookup[infostate]
            legal = np.flatnonzero(table.legal_actions_mask[row])
            probabilities = policy[player, infostate]
            if sorted(probabilities) != legal.tolist():
                raise PolicyError(
                    f"actions at infostate {infostate!r} are {sorted(probabilities)}, but {legal.tolist()} in OpenSpiel"
                )
            table.action_probability_array[row] = 0.0
            table.action_probability_array[row, list(probabilities)] = np.clip(list(probabilities.values()), 0.0, 1.0)
    return table


def to_pyspiel_policy(policy: Policy, game: Any = None) -> Any:
    """Convert a policy to the C++ class ``pyspiel.TabularPolicy``, as used by ``pyspiel.nash_conv``.

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
    """Convert an OpenSpiel policy or a mapping to a policy on ``game``.

    Args:
        game: a spec, rules or the compiled game, with the policy's infostate strings and action ids.
        tabular: ``{infostate: {action: p}}``, ``{infostate: [(action, p), ...]}``, Python's or C++'s ``TabularPolicy``, or an
            object with ``action_probabilities(state)``, which is called at every infostate of OpenSpiel's game.

    Raises:
        PolicyError: an infostate is missing, an action does not exist, or probabilities are negative or do not sum to one, by
            more than 1e-6 (clipped to [0, 1], they are divided by their sum).
    """
    game = as_compiled(game)
    check_distinct(game)
    rows = policy_rows(game, tabular)
    for player, infostate in game.lookup:  # OpenSpiel's policies for simultaneous moves belong to the turn-based game
        if infostate not in rows and (turn := other_names(player, infostate)[1]) in rows:
            rows[infostate] = rows[turn]
    probabilities = np.ones(int(game.tree.sequence_offsets[-1]))
    missing = [infostate for infostate in game.infostates if infostate not in rows]
    if missing:
        raise PolicyError(
            f"the policy lacks {len(missing)} infostates of {game}, such as {missing[0]!r}; give a policy for that game"
        )
    for infoset, infostate in enumerate(game.infostates):
        row = rows[infostate]
        actions = game.actions_at(infoset)
        unknown = [action for action, probability in row.items() if action not in actions and probability > 0]
        if unknown:
            raise PolicyError(f"action {unknown[0]} at infostate {infostate!r} of {game} is unknown; legal actions: {actions}")
        given = np.array([row.get(action, 0.0) for action in actions])
        if not abs(given.sum() - 1.0) <= SUM_TOLERANCE:
            raise PolicyError(f"probabilities at infostate {infostate!r} sum to {given.sum():.9g}, not 1: {row}")
        if given.min() < -SUM_TOLERANCE:
            raise PolicyError(f"a probability at infostate {infostate!r} is negative: {row}")
        values = np.clip(given, 0.0, 1.0)
        exact = abs(values.sum() - 1.0) <= EXACT_TOLERANCE
        probabilities[game.sequences_at(infoset)] = values if exact else values / values.sum()
    return Policy(game, probabilities)


def transferred(policy: Policy, game: CompiledGame) -> Policy:
    """Transfer a policy to ``game``, which has the :func:`same_rules` but may number its infosets differently.

    Raises:
        PolicyError: the policy lacks an infostate, or has other actions there.
    """
    probabilities = np.ones(int(game.tree.sequence_offsets[-1]))
    for (player, infostate), infoset in game.lookup.items():
        chances, actions = policy[player, infostate], game.actions_at(infoset)
        if sorted(chances) != sorted(actions):
            raise PolicyError(f"actions at infostate {infostate!r} are {list(chances)}, but {actions} in {game}")
        probabilities[game.sequences_at(infoset)] = [chances[action] for action in actions]
    return Policy(game, probabilities)


def policy_rows(game: CompiledGame, tabular: Any) -> dict[str, dict[int, float]]:
    """Return ``{infostate: {action: probability}}`` for any type of policy."""
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
    """Return ``{action: probability}`` from a mapping or pairs."""
    try:
        return {int(action): float(p) for action, p in (row.items() if isinstance(row, Mapping) else row)}
    except (TypeError, ValueError) as error:
        raise PolicyError(f"cannot read the distribution at infostate {infostate!r}: {row!r} ({error})") from error


def asked_rows(game: Any, policy: Any) -> dict[str, dict[int, float]]:
    """Query ``policy.action_probabilities`` at one history of each infostate of a ``pyspiel.Game``."""
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
                    raise PolicyError(
                        f"the policy has no probabilities at infostate {infostate!r}: {first_line(error)}"
                    ) from error
        stack.extend(state.child(action) for action in state.legal_actions())
    return rows
