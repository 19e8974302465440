"""Move-by-move play of rules, with validated chance outcomes and simultaneous moves made sequential."""

from collections.abc import Sequence

from treeplex.engine.sampling.streams import Stream
from treeplex.errors import GameError, TreeplexError
from treeplex.forms.compile.assemble import PROBABILITY_TOLERANCE
from treeplex.forms.compile.rule_errors import failed_rules
from treeplex.forms.sources.explicit_tree import ExplicitGame
from treeplex.forms.sources.openspiel import OpenSpielGame
from treeplex.games.base import SIMULTANEOUS, TERMINAL, Game, State
from treeplex.games.size_estimate import SizeCheck, history_playout
from treeplex.games.turn_based import TurnBased

PROBES, PROBE_MOVES = 8, 1000
"""Number and length of random playouts that look for simultaneous moves."""


def outcomes(state: State) -> tuple[list[int], list[float]]:
    """Return the chance outcomes with positive probability, and their probabilities.

    Raises:
        GameError: the probabilities do not sum to one.
    """
    actions, probabilities = [], []
    for action, probability in state.chance_outcomes():
        if probability > 0.0:
            actions.append(action)
            probabilities.append(float(probability))
    if not abs(sum(probabilities) - 1.0) <= PROBABILITY_TOLERANCE:
        chances = list(zip(actions, probabilities, strict=True))
        raise GameError(
            f"chance probabilities sum to {sum(probabilities):.12g}, not 1: {chances[:6]}; correct chance_outcomes()"
        )
    return actions, probabilities


def picked(probabilities: Sequence[float], number: float) -> int:
    """Return the first option whose cumulative probability exceeds a number in [0, 1), else the last."""
    cumulative = 0.0
    for option, probability in enumerate(probabilities):
        cumulative += probability
        if number < cumulative:
            return option
    return len(probabilities) - 1


def turn_by_turn(game: Game) -> Game:
    """Return the game, with simultaneous moves made sequential if random playouts find any. Does not walk the tree.

    Raises:
        GameError: the rules are invalid.
    """
    if isinstance(game, ExplicitGame | OpenSpielGame | TurnBased):
        return game
    state: State | None = None
    try:
        for number in range(PROBES):
            state, stream = game.new_initial_state(), Stream(0, number, 0)
            for _ in range(PROBE_MOVES):
                actor = state.current_player()
                if actor == SIMULTANEOUS:
                    return TurnBased(game, game.spec)
                if actor == TERMINAL:
                    break
                actions = outcomes(state)[0] if state.is_chance_node() else state.legal_actions()
                if not actions:
                    break  # the walk reports the error
                state = state.child(actions[int(stream.draw() * len(actions))])
    except (TreeplexError, MemoryError):
        raise
    except (Exception, SystemExit) as error:
        raise failed_rules(error, f"at {state!r}") from error
    return game


def one_at_a_time(game: Game) -> Game:
    """Return ``game``, wrapped in :class:`TurnBased` if it has simultaneous moves.

    The tree is walked until a simultaneous state turns up, except where the kind of game excludes them.

    Raises:
        GameError: the tree is too large to walk.
    """
    if isinstance(game, ExplicitGame | OpenSpielGame | TurnBased) or game.compilation_tree() is not None:
        return game
    stack: list[State] = [game.new_initial_state()]
    check, visited = SizeCheck(str(game), history_playout(game)), 0
    while stack:
        state = stack.pop()
        visited += 1
        if visited >= check.next_look:
            check.look(visited, visited)
        if state.is_simultaneous_node():
            return TurnBased(game)
        if state.is_chance_node():
            stack.extend(state.child(action) for action, _ in state.chance_outcomes())
        elif not state.is_terminal():
            stack.extend(state.child(action) for action in state.legal_actions())
    return game
