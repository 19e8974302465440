"""The game tree with one array row per history, from another walk over the rules; allows imperfect recall."""

from array import array
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from math import isfinite
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from treeplex.engine.histories.form import Histories
from treeplex.errors import GameError, TreeplexError
from treeplex.forms.compile.assemble import PROBABILITY_TOLERANCE
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.rule_errors import failed_rules
from treeplex.forms.compile.views.public_histories import public_histories
from treeplex.forms.sources.load import load
from treeplex.games import base
from treeplex.games.base import Game, State
from treeplex.games.size_estimate import MOST_HISTORIES, SizeCheck, history_playout
from treeplex.games.turn_based import TurnBased


@dataclass(frozen=True, eq=False)
class HistoryTree:
    """The histories of a game, with names of infosets and actions.

    Attributes:
        spec: the text that names the game.
        players: N.
        histories: the tree (:class:`treeplex.engine.histories.form.Histories`).
        infostates: the infostate string of every infoset; infosets are numbered over all players.
        infoset_player: int64 [I], player to act.
        actions: int64 [H], the rules' id of the action that leads to each history; -1 at the root.
        action_names: ``action_names[player][action id]`` is the action's name; the id as text if the name varies within the
            game.
    """

    spec: str
    players: int
    histories: Histories
    infostates: tuple[str, ...]
    infoset_player: NDArray[np.int64]
    actions: NDArray[np.int64]
    action_names: tuple[dict[int, str], ...]

    def __len__(self) -> int:
        return len(self.histories.nodes)


@dataclass
class Growth:
    """State of a walk over histories."""

    game: Game
    recall: bool
    rows: "array[int]" = field(default_factory=lambda: array("i"))
    actions: "array[int]" = field(default_factory=lambda: array("q"))
    chance: "array[float]" = field(default_factory=lambda: array("d"))
    payoffs: "array[float]" = field(default_factory=lambda: array("d"))
    numbers: dict[tuple[int, str, int], int] = field(default_factory=dict)
    infostates: list[str] = field(default_factory=list)
    infoset_player: list[int] = field(default_factory=list)
    infoset_actions: list[tuple[int, ...]] = field(default_factory=list)
    first_sequence: list[int] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    sequences: int = 0
    names: list[dict[int, str]] = field(default_factory=list)


def grow(
    game: Game,
    *,
    recall: bool = False,
    limit: int = MOST_HISTORIES,
    watch: Callable[[int], None] | None = None,
) -> HistoryTree:
    """Walk all histories of rules, depth first; simultaneous moves become hidden sequential ones.

    Args:
        game: any rules; players may forget.
        recall: split infosets that differ in the player's own past, as compiling with ``refine`` does.
        limit: maximum number of histories, about 40 bytes each. A clearly larger game is refused early.
        watch: called periodically with the number of histories so far.

    Returns:
        The tree, with histories in depth-first order.

    Raises:
        GameError: chance probabilities do not sum to one, histories of an infostate have different actions, payoffs are not
            finite, there are too many histories, or the rules raise an exception.
    """
    return harvested(grown(game, recall, limit, watch))


def grown(game: Game, recall: bool, limit: int, watch: Callable[[int], None] | None) -> Growth:
    """Run the walk of :func:`grow`."""
    growth = Growth(game, recall, names=[{} for _ in range(game.num_players)])
    growth.sequences = game.num_players
    check = SizeCheck(str(game), history_playout(game), limit)
    state: State | None = None
    try:
        state = game.new_initial_state()
        if state.current_player() == base.SIMULTANEOUS:
            return grown(TurnBased(game, game.spec), recall, limit, watch)
        growth.rows.extend((0, 0, 0, 0))
        growth.actions.append(-1)
        stack: list[tuple[State, int, tuple[int, ...]]] = [(state, 0, tuple(range(game.num_players)))]
        visited = 0
        while stack:
            state, node, sequences = stack.pop()
            visited += 1
            if visited >= check.next_look:
                check.look(visited, visited)
                if watch is not None:
                    watch(visited)
            player = state.current_player()
            if player == base.SIMULTANEOUS:
                return grown(TurnBased(game, game.spec), recall, limit, watch)
            children = add_node(growth, state, node, player, sequences)
            stack.extend(reversed(children))
    except (TreeplexError, MemoryError):
        raise
    except (Exception, SystemExit) as error:
        raise failed_rules(error, f"at {state!r}") from error
    return growth


def add_node(
    growth: Growth, state: State, node: int, player: int, sequences: tuple[int, ...]
) -> list[tuple[State, int, tuple[int, ...]]]:
    """Record a history and allocate its children; return them in the order of their actions."""
    first = len(growth.actions)
    if player == base.TERMINAL:
        returns = [float(payoff) for payoff in state.returns()]
        if len(returns) != growth.game.num_players or not all(map(isfinite, returns)):
            raise GameError(f"returns() is {returns} at a terminal history; return {growth.game.num_players} finite payoffs")
        key, actions = len(growth.payoffs) // growth.game.num_players, []
        growth.payoffs.extend(returns)
    elif player == base.CHANCE:
        outcomes = [(action, chance) for action, chance in state.chance_outcomes() if chance > 0.0]
        total = sum(chance for _, chance in outcomes)
        if not abs(total - 1.0) <= PROBABILITY_TOLERANCE:
            raise GameError(f"chance probabilities sum to {total:.12g}, not 1: {outcomes[:6]}; correct chance_outcomes()")
        key, actions = len(growth.chance), [action for action, _ in outcomes]
        growth.chance.extend([chance for _, chance in outcomes])
    else:
        key, actions = visit_infoset(growth, state, player, sequences[player])
    growth.rows[4 * node : 4 * node + 4] = array("i", (player, first, len(actions), key))
    growth.rows.extend(array("i", bytes(16 * len(actions))))  # empty rows of the children
    growth.actions.extend(actions)
    below = []
    for number, action in enumerate(actions):
        after = sequences
        if player >= 0:
            after = (*sequences[:player], growth.first_sequence[key] + number, *sequences[player + 1 :])
        below.append((state.child(action), first + number, after))
    return below


def visit_infoset(growth: Growth, state: State, player: int, parent: int) -> tuple[int, list[int]]:
    """Return the infoset number of the player to act, and its actions."""
    if not 0 <= player < growth.game.num_players:
        raise GameError(f"current_player() is {player}; return 0 to {growth.game.num_players - 1}, CHANCE or TERMINAL")
    infostate, actions = state.information_state_string(player), [int(action) for action in state.legal_actions()]
    key = (player, infostate, parent if growth.recall else -1)
    infoset = growth.numbers.setdefault(key, len(growth.infostates))
    if infoset == len(growth.infostates):
        if not actions:
            raise GameError(f"no legal action at infostate {infostate!r}; a node without actions must be terminal")
        growth.infostates.append(infostate)
        growth.infoset_player.append(player)
        growth.infoset_actions.append(tuple(actions))
        growth.first_sequence.append(growth.sequences)
        growth.parents.append(parent)
        growth.sequences += len(actions)
        for action in actions:
            name = state.action_to_string(action)
            if growth.names[player].setdefault(action, name) != name:
                growth.names[player][action] = str(action)
    elif growth.infoset_actions[infoset] != tuple(actions):
        raise GameError(
            f"infostate {infostate!r} has actions {list(growth.infoset_actions[infoset])} in one history and {actions} in "
            "another; histories that a player cannot tell apart must offer the same actions in the same order"
        )
    return infoset, actions


def harvested(growth: Growth) -> HistoryTree:
    """Return the finished tree of a walk."""
    players = growth.game.num_players
    histories = Histories(
        np.frombuffer(growth.rows, np.int32).reshape(-1, 4),
        np.frombuffer(growth.chance, np.float64) if growth.chance else np.empty(0),
        np.frombuffer(growth.payoffs, np.float64).reshape(-1, players),
    )
    return HistoryTree(
        spec=growth.game.spec,
        players=players,
        histories=histories,
        infostates=tuple(growth.infostates),
        infoset_player=np.array(growth.infoset_player, np.int64),
        actions=np.frombuffer(growth.actions, np.int64),
        action_names=tuple(growth.names),
    )


_histories: "WeakKeyDictionary[CompiledGame, Histories]" = WeakKeyDictionary()


def histories_of(game: CompiledGame, *, limit: int = MOST_HISTORIES, watch: Callable[[int], None] | None = None) -> Histories:
    """Return the histories of a compiled game with its infoset numbers; cached per game.

    Raises:
        GameError: the rules have changed since compiling, or have too many histories.
    """
    if game not in _histories:
        rules = load(game.spec).enumerable_rules() if game.rules is None else game.rules
        tree = rules.compilation_tree()
        if tree is not None and tree.deals_hands and game.size.histories <= limit:
            histories = public_histories(game, tree)
            if histories is not None:
                _histories[game] = histories
                return histories
        growth = grown(rules, True, limit, watch)
        numbers = compiled_numbers(game, growth)
        histories = harvested(growth).histories
        nodes = histories.nodes.copy()
        decisions = nodes[:, 0] >= 0
        nodes[decisions, 3] = numbers[nodes[decisions, 3]]
        _histories[game] = histories._replace(nodes=nodes)
    return _histories[game]


def compiled_numbers(game: CompiledGame, growth: Growth) -> NDArray[np.int64]:
    """Return the compiled game's number of each visited infoset, parents first, int64."""
    tree, of_rules = game.tree, Counter(zip(growth.infoset_player, growth.infostates, strict=True))
    final = np.full(growth.sequences, -1, np.int64)
    final[: game.players] = tree.sequence_offsets[:-1]
    numbers = np.full(len(growth.infostates), -1, np.int64)
    for met, infostate in enumerate(growth.infostates):
        player, parent = growth.infoset_player[met], int(final[growth.parents[met]])
        infoset = named_below(game, of_rules, (player, infostate), parent)
        if infoset is None or tuple(game.actions_at(infoset)) != growth.infoset_actions[met]:
            raise GameError(f"the rules of {game} have changed since it was compiled (infostate {infostate!r})")
        numbers[met] = infoset
        first = growth.first_sequence[met]
        final[first : first + len(growth.infoset_actions[met])] = game.sequences_at(infoset)
    if len(set(numbers.tolist())) != len(game.infostates):
        raise GameError(f"the rules of {game} have changed since it was compiled: they have fewer infostates")
    return numbers


def named_below(game: CompiledGame, of_rules: Mapping[tuple[int, str], int], key: tuple[int, str], parent: int) -> int | None:
    """Return the infoset of a player's infostate below a sequence.

    ``of_rules`` counts the infosets of every infostate of the rules. Refined ones end in ``#1``, ``#2``, ..., except names of
    the rules (see :func:`treeplex.forms.compile.walk.distinct`).
    """
    player, infostate = key
    copies = ((player, f"{infostate}#{copy}") for copy in count(1))
    for name in (key,) if of_rules[key] == 1 else (copy for copy in copies if copy not in of_rules):
        infoset = game.lookup.get(name)
        if infoset is None or game.tree.infoset_parent[infoset] == parent:
            return infoset
    return None
