"""Compile rules by walking the game tree once."""

from array import array
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from math import inf, isfinite
from time import perf_counter
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from treeplex.engine.tree.form import Payoff
from treeplex.engine.tree.gradient import empty_dense
from treeplex.errors import GameError, ImperfectRecallError, TreeplexError
from treeplex.forms.compile.assemble import PROBABILITY_TOLERANCE, Discovery, lay_out, sparse_operator
from treeplex.forms.compile.compiled_game import CompiledGame, GameSize
from treeplex.forms.compile.rule_errors import failed_rules
from treeplex.forms.compile.state_check import StateCheck, check_states, innermost, is_foreign
from treeplex.games.base import CHANCE, SIMULTANEOUS, TERMINAL, CheckedState, Game, State
from treeplex.games.size_estimate import MOST_HISTORIES, SizeCheck, history_playout
from treeplex.games.turn_based import TurnBased, TurnBasedState

if TYPE_CHECKING:
    from treeplex.forms.compile.shared_walk import SharedWalk

LEAK_CHECKS = 50_000
"""Histories at which the public state is checked against every player's infostate (the acting player's always is)."""

MOST_PLAYERS = 127
"""Maximum int8: :class:`treeplex.forms.compile.assemble.Discovery` stores the player of each infoset as int8."""
MOST_ACTION = 2**63
MOST_PAYOFFS = 10_000
"""Number of different payoffs that are checked only once."""
ALONE_SECONDS = 4.0
"""Seconds after which worker processes join a walk, :mod:`treeplex.forms.compile.shared_walk`."""

Path = tuple["Path", int] | None
StackItem = tuple[State, float, tuple[int, ...], int, Path]
"""A history to walk: its state, its chance probability, the players' sequences, its depth (1 at the root), and its path."""
SUM_TOLERANCE = 1e-9
"""Largest difference between sums of payoffs that counts as rounding, relative to the payoffs."""


@dataclass
class GameWalk:
    """State of a walk; public states are numbered in order of discovery.

    Attributes:
        infoset_lists, lists: the actions of each infoset; equal ones are stored once.
        payoffs: payoffs that were checked, up to :data:`MOST_PAYOFFS` different ones.
        leak_checks: :data:`LEAK_CHECKS`; 0 in workers.
        next_look: number of histories at which :func:`walk_tree` calls ``look``.
        shared: the subtrees that workers walk, if any.
        frontier: the depth of their roots; 0 without workers.
    """

    game: Game
    refine: bool
    found: Discovery
    numbers: tuple[dict[Hashable, int], ...] = ()
    infoset_sizes: "array[int]" = field(default_factory=lambda: array("q"))
    infoset_publics: "array[int]" = field(default_factory=lambda: array("q"))
    infoset_lists: list[tuple[int, ...]] = field(default_factory=list)
    lists: dict[tuple[int, ...], tuple[int, ...]] = field(default_factory=dict)
    publics: dict[Hashable, int] = field(default_factory=dict)
    public_of: tuple[dict[int, int], ...] = ()
    names: list[dict[int, str]] = field(default_factory=list)
    terminal_sequences: "array[int]" = field(default_factory=lambda: array("i"))
    terminal_payoffs: "array[float]" = field(default_factory=lambda: array("d"))
    payoffs: set[tuple[float, ...]] = field(default_factory=set)
    total: float = 0.0
    magnitude: float = inf
    uneven: bool = False
    histories: int = 0
    terminals: int = 0
    depth: int = 0
    leak_checks: int = 0
    next_look: float = inf
    shared: "SharedWalk | None" = None
    frontier: int = 0


def compile_rules(
    game: Game,
    *,
    refine: bool = False,
    limit: int = MOST_HISTORIES,
    watch: Callable[[int], None] | None = None,
    share: "Callable[[GameWalk, Sequence[StackItem], int], None] | None" = None,
) -> CompiledGame:
    """Walk the tree of ``game`` and compile it.

    Args:
        game: any number of players, general sums; simultaneous moves become hidden sequential ones.
        refine: split infosets whose histories differ in the player's own past, which makes recall perfect.
        limit: maximum number of histories, at up to about 100 bytes each. A clearly larger game is refused within a second or
            two, by an estimate (:mod:`treeplex.games.size_estimate`).
        watch: called periodically with the number of histories so far.
        share: called once after :data:`ALONE_SECONDS` with the walk, its stack and the limit, to start workers; None for none.

    Returns:
        The compiled game.

    Raises:
        ImperfectRecallError: a player's own past differs within an infostate, which the message names, and ``refine`` is off.
        GameError: chance probabilities that do not sum to one, differing actions within an infostate, no legal action,
            payoffs that are not finite or too few, a public state that leaks or splits an infostate, too many histories
            or players, a state that changes, an exception in the rules.
    """
    if not isinstance(game.num_players, int) or not 1 <= game.num_players <= MOST_PLAYERS:
        raise GameError(f"{game} has num_players {game.num_players!r}; games of 1 to {MOST_PLAYERS} players can be compiled")
    walk = new_walk(game, refine)
    check_states(game)
    begun, alone = perf_counter(), share is not None
    states = StateCheck(game) if is_foreign(innermost(game)) else None
    check = SizeCheck(str(game), history_playout(game), limit)
    walk.next_look = check.next_look
    stack: list[StackItem] = []

    def look() -> None:
        nonlocal alone
        check.look(walk.histories, walk.histories)
        walk.next_look = check.next_look
        if states is not None:
            states.keep_up(perf_counter() - begun)
        if watch is not None:
            watch(walk.histories)
        if alone and share is not None and walk.histories > walk.leak_checks and perf_counter() - begun > ALONE_SECONDS:
            alone = False
            share(walk, stack, limit)

    try:
        sequential = walk_tree(walk, stack, look)
    finally:
        if walk.shared is not None:
            walk.shared.close()
    if not sequential:
        return compile_rules(TurnBased(game, game.spec), refine=refine, limit=limit, watch=watch, share=share)
    return finished(walk)


def new_walk(game: Game, refine: bool) -> GameWalk:
    """Return a walk before its first history."""
    players = range(game.num_players)
    return GameWalk(
        game,
        refine,
        Discovery(game.num_players),
        numbers=tuple({} for _ in players),
        public_of=tuple({} for _ in players),
        names=[{} for _ in players],
        leak_checks=LEAK_CHECKS,
    )


def walk_tree(
    walk: GameWalk,
    stack: list[StackItem],
    look: Callable[[], None],
    actions: Sequence[int] = (),
    chance: float = 1.0,
) -> bool:
    """Walk the tree, depth first; return False as soon as a state has simultaneous moves.

    Args:
        walk: receives what is found.
        stack: an empty list; the histories to walk next are at its end.
        look: called at ``walk.next_look`` histories.
        actions, chance: walk the subtree after these actions, whose chance probability is given.

    Raises:
        GameError: as :func:`compile_rules`.
    """
    game = walk.game
    path: Path = None
    state: State | None = None
    trusted = () if is_foreign(innermost(game)) else (CheckedState, TurnBasedState)
    try:
        root = game.new_initial_state()
        for action in actions:
            root, path = root.child(action), (path, action)
        stack.append((root, chance, tuple(range(game.num_players)), 1 + len(actions), path))
        while stack:
            state, chance, sequences, depth, path = stack.pop()
            merged = depth == walk.frontier and walk.shared is not None and walk.shared.merge(walk, sequences, path)
            walk.histories += not merged
            if walk.histories >= walk.next_look:
                look()
            if merged:
                continue
            walk.depth = max(walk.depth, depth)
            player = state.current_player()
            if player == TERMINAL:
                add_terminal(walk, state, chance, sequences, path)
            elif player == CHANCE:
                child = state.after if isinstance(state, trusted) else state.child
                for action, probability in reversed(checked_outcomes(walk, state, path)):
                    stack.append((child(action), chance * probability, sequences, depth + 1, (path, action)))
            elif player == SIMULTANEOUS:
                return False
            elif 0 <= player < game.num_players:
                first, legal = visit_infoset(walk, state, player, sequences, path)
                child = state.after if isinstance(state, trusted) else state.child
                before, behind = sequences[:player], sequences[player + 1 :]
                for a in range(len(legal) - 1, -1, -1):
                    action = legal[a]
                    stack.append((child(action), chance, (*before, first + a, *behind), depth + 1, (path, action)))
            else:
                raise GameError(
                    f"current_player() is {player} {at(walk, path)}; return 0 to {game.num_players - 1}, CHANCE or TERMINAL"
                )
    except (TreeplexError, MemoryError):
        raise
    except (Exception, SystemExit) as error:
        if state is None and path is not None:
            raise GameError(f"child({path[1]}) returns None {safely_at(walk, path[0])}; return the next state") from error
        raise failed_rules(error, safely_at(walk, path)) from error
    return True


def actions_to(path: Path) -> tuple[int, ...]:
    """Return the actions that lead from the root to a history."""
    actions: list[int] = []
    while path is not None:
        path, action = path
        actions.append(action)
    return tuple(reversed(actions))


def at(walk: GameWalk, path: Path) -> str:
    """Describe a history by the actions that lead to it from the root."""
    state, names = walk.game.new_initial_state(), []
    for action in actions_to(path):
        names.append(state.action_to_string(action))
        state = state.child(action)
    return f"after history [{', '.join(names)}]" if names else "at the root"


def safely_at(walk: GameWalk, path: Path) -> str:
    """Describe a history as :func:`at` does, or by action numbers if the rules raise an exception."""
    try:
        return at(walk, path)
    except Exception:
        actions = list(actions_to(path))
        return f"after the actions {actions}" if actions else "at the root"


def checked_outcomes(walk: GameWalk, state: State, path: Path) -> list[tuple[int, float]]:
    """Return the chance outcomes of positive probability."""
    outcomes = list(state.chance_outcomes())
    total = sum(probability for _, probability in outcomes)
    if not abs(total - 1.0) <= PROBABILITY_TOLERANCE or any(not probability >= 0.0 for _, probability in outcomes):
        wrong = "are negative" if abs(total - 1.0) <= PROBABILITY_TOLERANCE else f"sum to {total:.12g}, not 1"
        raise GameError(f"chance probabilities {at(walk, path)} {wrong}: {outcomes[:6]}; correct chance_outcomes()")
    return [(action, probability) for action, probability in outcomes if probability > 0.0]


def visit_infoset(
    walk: GameWalk, state: State, player: int, sequences: tuple[int, ...], path: Path
) -> tuple[int, tuple[int, ...]]:
    """Find or register the infoset of the player to act; return its first sequence and its actions."""
    discovery, parent = walk.found, sequences[player]
    infostate = state.information_state_string(player)
    if not isinstance(infostate, str):
        raise GameError(f"information_state_string() is {infostate!r} {at(walk, path)}; return a string")
    actions = tuple(state.legal_actions())
    key = (infostate, parent) if walk.refine else infostate
    infoset = walk.numbers[player].get(key)
    public = state.public_state()
    if infoset is None:
        check_new_infoset(walk, infostate, actions, path)
        infoset = discovery.add(player, parent, infostate, actions)
        walk.infoset_lists.append(walk.lists.setdefault(actions, actions))
        walk.numbers[player][key] = infoset
        walk.infoset_sizes.append(0)
        walk.infoset_publics.append(number_of(walk, public))
        names = walk.names[player]
        for action in actions:
            name = state.action_to_string(action)
            if names.setdefault(action, name) != name:
                names[action] = str(action)
    elif (
        discovery.parent[infoset] != parent
        or walk.infoset_lists[infoset] != actions
        or walk.infoset_publics[infoset] != number_of(walk, public)
    ):
        refuse_infoset(walk, infoset, parent, actions, public, path)
    walk.infoset_sizes[infoset] += 1
    if public is not None and walk.histories <= walk.leak_checks:
        check_public_state(walk, state, public, sequences, path)
    return discovery.first[infoset], actions


def check_new_infoset(walk: GameWalk, infostate: str, actions: tuple[int, ...], path: Path) -> None:
    """Check that actions are distinct integers."""
    if not actions:
        raise GameError(f"no legal action at infostate {infostate!r} {at(walk, path)}; a node without actions must be terminal")
    if not all(isinstance(action, int | np.integer) and 0 <= action < MOST_ACTION for action in actions):
        raise GameError(
            f"legal_actions() is {list(actions)} at infostate {infostate!r} {at(walk, path)}; "
            "return integers from 0 to 2**63 - 1"
        )
    if len(set(actions)) != len(actions):
        raise GameError(f"legal_actions() is {list(actions)} at infostate {infostate!r}; list each action once")


def refuse_infoset(
    walk: GameWalk, infoset: int, parent: int, actions: tuple[int, ...], public: Hashable, path: Path
) -> NoReturn:
    """Raise the error for a history that is inconsistent with the other histories of its infoset."""
    discovery = walk.found
    infostate = discovery.infostates[infoset]
    if discovery.parent[infoset] != parent:
        raise ImperfectRecallError(
            f"player {discovery.player[infoset]} lacks perfect recall at infostate {infostate!r} ({at(walk, path)}): "
            "its histories differ in the player's own past actions or infostates. Include them in "
            "information_state_string(), or compile with refine=True (--refine) to split such infostates; if players observe "
            "nothing, open_loop(game=...) converts it to a static game"
        )
    known = walk.infoset_lists[infoset]
    if known != actions:
        raise GameError(
            f"infostate {infostate!r} has actions {list(known)} in one history and {list(actions)} {at(walk, path)}; "
            "histories that a player cannot tell apart must offer the same actions in the same order"
        )
    raise GameError(
        f"the public state splits infostate {infostate!r}: it is {public!r} {at(walk, path)}, but differs in "
        "another history of this infostate; every player must know the public state"
    )


def number_of(walk: GameWalk, public: Hashable) -> int:
    """Return the number of a public state; -1 for None."""
    return -1 if public is None else walk.publics.setdefault(public, len(walk.publics))


def check_public_state(walk: GameWalk, state: State, public: Hashable, sequences: tuple[int, ...], path: Path) -> None:
    """Check that every player knows the public state, from the infostate and (if refined) the player's own past."""
    for player in range(walk.game.num_players):
        infostate = state.information_state_string(player)
        known = (infostate, sequences[player]) if walk.refine else infostate
        number = number_of(walk, public)
        if walk.public_of[player].setdefault(hash(known), number) != number:
            raise GameError(
                f"the public state reveals information to player {player}: it is {public!r} {at(walk, path)}, but "
                f"differs in another history of infostate {infostate!r}; every player must know the public state"
            )


def add_terminal(walk: GameWalk, state: State, chance: float, sequences: tuple[int, ...], path: Path) -> None:
    """Record a terminal history."""
    returns = state.returns()
    walk.terminals += 1
    try:
        known = type(returns) in (list, tuple) and tuple(returns) in walk.payoffs
    except TypeError:  # such as arrays of one number
        known = False
    if not known:
        check_payoffs(walk, returns, path)
    if any(returns):
        walk.terminal_sequences.extend(sequences)
        walk.terminal_payoffs.extend([chance * payoff for payoff in returns])


def check_payoffs(walk: GameWalk, returns: Sequence[float], path: Path) -> None:
    """Check the payoffs of a terminal history and record their range."""
    players = walk.game.num_players
    if not hasattr(returns, "__len__"):
        raise GameError(f"returns() is {returns!r} {at(walk, path)}; return {players} finite payoffs")
    if len(returns) != players or not all(map(isfinite, returns)):
        raise GameError(f"returns() is {list(returns)} {at(walk, path)}; return {players} finite payoffs")
    if len(walk.payoffs) < MOST_PAYOFFS:
        walk.payoffs.add(tuple(map(float, returns)))
    add_sum(walk, sum(returns), max(map(abs, returns)))


def add_sum(walk: GameWalk, total: float, magnitude: float) -> None:
    """Compare a sum of payoffs with that of the smallest payoffs so far; ``magnitude`` is the largest of the summed payoffs."""
    if walk.magnitude < inf and abs(total - walk.total) > SUM_TOLERANCE * max(magnitude, walk.magnitude):
        walk.uneven = True
    if magnitude < walk.magnitude:
        walk.total, walk.magnitude = total, magnitude


def finished(walk: GameWalk) -> CompiledGame:
    """Assign final numbers and build the payoff operator."""
    game, players = walk.game, walk.game.num_players
    infostates = walk.found.infostates
    if walk.refine:
        infostates[:] = distinct(walk.found.player, infostates)
    layout = lay_out(walk.found)
    walk.numbers, walk.public_of = (), ()
    payoffs = np.frombuffer(walk.terminal_payoffs, np.float64).reshape(-1, players)
    sequences = layout.final.astype(np.int32)[np.frombuffer(walk.terminal_sequences, np.int32).reshape(-1, players)]
    walk.terminal_sequences = array("i")
    size = GameSize(
        histories=walk.histories,
        terminals=walk.terminals,
        depth=walk.depth,
        largest_infoset=max(walk.infoset_sizes, default=0),
        public_states=len(walk.publics) if -1 not in walk.infoset_publics else None,
    )
    return CompiledGame(
        spec=game.spec,
        players=players,
        tree=layout.tree,
        payoff=Payoff(sparse_operator(layout.tree, sequences, payoffs), empty_dense()),
        infostates=layout.infostates,
        action_ids=layout.action_ids,
        action_names=tuple(walk.names),
        size=size,
        constant=None if walk.uneven else walk.total,
        rules=game,
    )


def distinct(players: "array[int]", infostates: list[str]) -> list[str]:
    """Append ``#1``, ``#2``, ... to infostates split by refinement, so that names are unique."""
    keys = list(zip(players, infostates, strict=True))
    copies = Counter(keys)
    seen: Counter[tuple[int, str]] = Counter()
    names = []
    for key in keys:
        player, infostate = key
        if copies[key] > 1:
            seen[key] += 1
            while (player, f"{infostate}#{seen[key]}") in copies:
                seen[key] += 1
            infostate = f"{infostate}#{seen[key]}"
        names.append(infostate)
    return names
