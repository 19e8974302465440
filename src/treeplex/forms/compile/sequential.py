"""Conversion of simultaneous moves to sequential moves."""

from treeplex.forms.sources.explicit_tree import ExplicitGame
from treeplex.forms.sources.openspiel import OpenSpielGame
from treeplex.games.base import Game, State
from treeplex.games.size_estimate import SizeCheck, history_playout
from treeplex.games.turn_based import TurnBased


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
