"""Compile Numba rules: few terminals are stored, while many are walked again in every iteration."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cached_property, partial
from math import inf
from random import Random
from threading import Lock, Thread
from time import perf_counter
from typing import NoReturn

import numpy as np

from treeplex.base.arrays import Floats, Ints
from treeplex.base.notices import notify, tell
from treeplex.base.storage.memory import available_memory, megabytes
from treeplex.engine.threads import available_cores
from treeplex.engine.tree.form import Payoff, Tree
from treeplex.engine.tree.gradient import empty_dense, empty_sparse
from treeplex.engine.tree.walked import number_of_walk
from treeplex.engine.uncompiled import discover
from treeplex.engine.uncompiled.discover import Discovery, walk_rules
from treeplex.engine.uncompiled.gradient import Part, add_part_of_gradient, table_of
from treeplex.engine.uncompiled.rules import COUNT, EVERYBODY, KEY, Calls, enter_of, step_of
from treeplex.errors import GameError, GameSizeError, ImperfectRecallError, TreeplexError
from treeplex.forms.compile.assemble import numbered, sparse_operator
from treeplex.forms.compile.compiled_game import CompiledGame, GameSize
from treeplex.forms.compile.rule_errors import failed_rules
from treeplex.forms.compile.views.lazy_infostates import LazyInfostates
from treeplex.games.base import CHANCE, TERMINAL, Game, State
from treeplex.games.numba_rules import NumbaGame, NumbaRules
from treeplex.games.size_estimate import count_text, history_playout, summary_of, time_text

MOST_STORED = 10_000_000
"""Maximum number of stored non-zero terminals (half a gigabyte), which make iterations many times faster."""
MOST_WALKED = 20_000_000_000
"""Default limit of histories (half an hour per gradient)."""
INFOSET_BYTES = 400
"""Approximate bytes per infoset for compiling and solving."""
FEW_HISTORIES = 200_000
"""Largest number of histories walked by a single thread."""
PLAYED = 64
"""Number of playouts that estimate the number of histories."""
JOBS = 512
"""Minimum number of nodes at the depth where a walk is divided among threads, if available."""
NAMED = 50_000
"""Number of first and of last infosets per player from which action names are read."""
FRAMES = 128
"""Initial maximum of nodes on a path."""
WATCHED = 0.2
"""Seconds between two reports of progress."""
LONG_WALK = 50_000_000
"""Estimated histories above which a game's size is announced before walking it."""
A_SECOND = 5_000_000
"""Approximate number of histories walked per second and core."""
LONG = 2.0
"""Seconds after which a walk reports progress."""


class CompiledRules:
    """The compiled functions of a game for kernels, valid as long as this object exists."""

    def __init__(self, rules: NumbaRules) -> None:
        """Compile the functions."""
        sizes = rules.players, len(rules.start), rules.most_actions
        self.enter = enter_of((rules.actor, rules.actions, rules.infoset, rules.payoff), rules.probability, sizes)
        self.step = step_of(rules.play, sizes[1])
        self.calls = Calls(self.enter.address, self.step.address, *sizes)
        self.start = np.array(rules.start, np.int64)

    def enter_at(self, state: Ints) -> tuple[int, list[int], list[float], int]:
        """Return a state's actor, actions, probabilities or payoffs, and infoset number."""
        calls = self.calls
        actions, about = np.zeros(calls.most_actions, np.int64), np.zeros(2, np.int64)
        numbers = np.zeros(max(calls.most_actions, calls.players))
        integers, reals = (np.ctypeslib.as_ctypes(array) for array in (state.copy(), numbers))
        player = self.enter.ctypes(integers, EVERYBODY, np.ctypeslib.as_ctypes(actions), np.ctypeslib.as_ctypes(about), reals)
        return player, actions[: about[COUNT]].tolist(), numbers.tolist(), int(about[KEY])

    def step_from(self, state: Ints, action: int) -> Ints:
        """Return the state after an action."""
        below = np.empty_like(state)
        self.step.ctypes(np.ctypeslib.as_ctypes(state.copy()), np.ctypeslib.as_ctypes(below), action)
        return below


def compile_numba_rules(
    game: Game,
    rules: NumbaRules,
    *,
    stored: bool | None = None,
    limit: int | None = None,
    watch: Callable[[int], None] | None = None,
) -> CompiledGame:
    """Walk rules once, and collect and validate all infosets.

    Args:
        game: the ordinary rules, which name infostates and actions.
        rules: the functions.
        stored: whether to store terminals, merged by sequences; None: up to :data:`MOST_STORED`.
        limit: maximum number of histories, default :data:`MOST_WALKED`; a clearly larger game is refused before the walk,
            others during it.
        watch: called periodically with the number of histories so far.

    Returns:
        The compiled game; infostate strings are computed on demand.

    Raises:
        ImperfectRecallError: two histories of an infoset differ in the player's own past actions or infostates.
        GameError: chance probabilities do not sum to one, histories of an infoset have different actions, integers exceed 64
            bits, payoffs are not finite, or a node has no or too many actions.
        GameSizeError: more histories than the limit, or more infosets than fit in memory.
    """
    limit = MOST_WALKED if limit is None else limit
    depth = try_rules(game, NumbaGame(rules), limit)
    kernels = CompiledRules(rules)
    free = available_memory()
    most = 2**31 - 2 if free is None else min(free // INFOSET_BYTES, 2**31 - 2)
    keeps = MOST_STORED if stored is None else 2**62 if stored else 0
    frames, discovery = FRAMES, None
    while discovery is None or discovery.fault == discover.TOO_DEEP:
        discovery = watched(partial(walk_rules, kernels.calls, kernels.start, frames, most, keeps), watch, limit)
        frames *= 4
    if discovery.histories > limit:
        raise GameSizeError(
            f"{game} has more than {limit:,} histories; choose smaller parameters, or raise the limit (limit=..., --limit)"
        )
    check(game, discovery, most)
    rows = discovery.rows
    numbering = numbered(
        player=rows[:, discover.PLAYER],
        level=rows[:, discover.LEVEL],
        actions=rows[:, discover.ACTIONS],
        first=rows[:, discover.FIRST],
        parent=rows[:, discover.PARENT],
        root_player=np.arange(rules.players),
        root_sequence=np.arange(rules.players),
        sequences=len(discovery.action_ids),
    )
    action_ids = np.empty_like(discovery.action_ids)
    action_ids[numbering.final] = discovery.action_ids
    total, _, uneven = discovery.paid.tolist()
    infostates = PathInfostates(game, rows[numbering.order, discover.PATH])
    payoff = Payoff(empty_sparse(len(action_ids), rules.players), empty_dense())
    if len(discovery.terminal_payoffs) or keeps > discovery.terminals:
        sequences = numbering.final.astype(np.int32)[discovery.terminal_sequences]
        payoff = payoff._replace(sparse=sparse_operator(numbering.tree, sequences, discovery.terminal_payoffs))
    else:
        parts = 1 if discovery.histories < FEW_HISTORIES else available_cores()
        keys = rows[numbering.order, discover.NUMBER]
        walk = RulesWalk(kernels, numbering.tree, keys, Part(0, parts, depth, discovery.depth, shares=1), discovery.histories)
        infostates.walk = walk
        payoff = payoff._replace(walk=number_of_walk(walk))
    return CompiledGame(
        spec=game.spec,
        players=rules.players,
        tree=numbering.tree,
        payoff=payoff,
        infostates=infostates,
        action_ids=action_ids,
        action_names=names_of(game, discovery),
        size=GameSize(
            discovery.histories,
            discovery.terminals,
            discovery.depth,
            int(rows[:, discover.VISITS].max(initial=0)),
            public_states=None,
        ),
        constant=None if uneven else total,
        rules=game,
        digest=f"{discovery.digest:016x}",
    )


def try_rules(game: Game, plain: NumbaGame, limit: float) -> int:
    """Run the functions as plain Python first, where errors can be located; return the :func:`frontier`.

    For a game that takes long to walk, a notice gives the time and alternatives.

    Raises:
        GameError: in one of the playouts, the rules raise an exception or integers exceed 64 bits.
        GameSizeError: the game almost surely has more histories than the limit, by Knuth's estimate from these playouts.
    """
    playout, random = history_playout(plain), Random(0)
    try:
        stats = summary_of([playout(random, inf) for _ in range(PLAYED)])
        depth = frontier(plain)
    except TreeplexError:
        raise
    except Exception as error:
        raise failed_rules(error, "in a random playout") from error
    if stats.least > limit:
        raise GameSizeError(
            f"{game} has about {count_text(stats.mean)} histories (almost surely at least {count_text(stats.least)}), "
            f"more than the limit of {limit:,}; choose smaller parameters, sample it without compiling (treeplex sample, "
            "tp.sample), or "
            "raise the limit (tp.compile(game, limit=...), --limit)"
        )
    if stats.mean > LONG_WALK:
        notify(
            f"{game} has about {count_text(stats.mean)} histories. A full traversal takes "
            f"{time_text(stats.mean, 1.0 / A_SECOND / available_cores())}; compiling needs one, and every iteration one per "
            "player. treeplex sample (tp.sample) and treeplex train need none"
        )
    return depth


def watched(walk: Callable[[Ints], Discovery], watch: Callable[[int], None] | None, limit: int) -> Discovery:
    """Run a walk in a thread with progress reports, until it ends, Ctrl-C is pressed or the limit of histories is reached."""
    progress, results = np.zeros(2, np.int64), list[Discovery | BaseException]()

    def run() -> None:
        try:
            results.append(walk(progress))
        except BaseException as error:
            results.append(error)

    thread = Thread(target=run, daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(WATCHED)
            progress[discover.STOP] = progress[discover.SEEN] > limit
            if watch is not None:
                watch(int(progress[discover.SEEN]))
    finally:
        progress[discover.STOP] = 1
        thread.join()
    if isinstance(results[0], BaseException):
        raise failed_rules(results[0], "during compilation") from results[0]
    return results[0]


def frontier(game: Game) -> int:
    """Return the first depth with at least :data:`JOBS` nodes, or the depth of the game if there is none."""
    level: list[State] = [game.new_initial_state()]
    for depth in range(64):
        inner = [state for state in level if state.current_player() != TERMINAL]
        if len(level) >= JOBS or not inner:
            return depth
        below = []
        for state in inner:
            actions = (
                state.legal_actions() if state.current_player() != CHANCE else [a for a, p in state.chance_outcomes() if p > 0]
            )
            below += [state.child(action) for action in actions]
        level = below
    return 64


def check(game: Game, discovery: Discovery, most: int) -> None:
    """Raise the fault found by a walk, if any."""
    if discovery.fault == discover.TOO_LARGE:
        raise GameSizeError(
            f"{game} has more than {most:,} infosets after {discovery.histories:,} histories, more than fit into the "
            f"free memory ({megabytes(most * INFOSET_BYTES)}); choose smaller parameters, or sample it (tp.sample)"
        )
    if discovery.fault != discover.NO_FAULT:
        raise_fault(game, (discovery.rows, discovery.action_ids), discovery.fault, discovery.detail, discovery.path.tolist())


def raise_fault(game: Game, infosets: tuple[Ints, Ints], fault: int, detail: Floats, path: Sequence[int]) -> NoReturn:
    """Raise the error for a fault code; ``infosets`` are ``rows`` and ``action_ids`` of :class:`Discovery`."""
    first, second = detail.tolist()
    where = place(game, path)
    if fault in (discover.FORGETS, discover.OTHER_ACTIONS):
        row = infosets[0][int(first)]
        player, key = int(row[discover.PLAYER]), int(row[discover.NUMBER])
        infoset = f"infoset {key} of player {player}"
        if fault == discover.FORGETS:
            raise ImperfectRecallError(
                f"player {player} lacks perfect recall at {infoset} ({where}): its histories differ in the player's own past "
                "actions or infosets; include them in infoset(), hashed with mix() if they need more than 63 bits"
            )
        begin = int(row[discover.FIRST])
        known = infosets[1][begin : begin + int(row[discover.ACTIONS])].tolist()
        raise GameError(
            f"{infoset} has actions {known} in one history and different actions {where}; histories that a player cannot "
            "tell apart must "
            "offer the same actions in the same order"
        )
    texts = {
        discover.BAD_ACTOR: f"actor() is {first:g} {where}; return a player (from 0), CHANCE (-1) or TERMINAL (-4)",
        discover.BAD_COUNT: f"actions() is {first:g} {where}; return 1 to most_actions",
        discover.BAD_CHANCE: f"chance probabilities {where} sum to {first:.12g}, not 1; correct probability()",
        discover.NEGATIVE_CHANCE: f"probability() of action {second:g} is {first:g} {where}; return numbers from 0 to 1",
        discover.BAD_INFOSET: f"infoset() is {first:g} {where}; return a number from 0 to 2**63 - 1",
        discover.BAD_PAYOFF: f"payoff() of player {second:g} is {first:g} {where}; return finite payoffs",
        discover.REPEATED_ACTION: f"actions() returns {first:g}, negative or twice, {where}; return distinct numbers from 0",
    }
    raise GameError(f"{game}: {texts[fault]}")


def place(game: Game, actions: Sequence[int]) -> str:
    """Describe where a history is, for error messages."""
    state, names = game.new_initial_state(), []
    try:
        for action in actions:
            names.append(state.action_to_string(action))
            state = state.child(action)
    except Exception:
        return f"after the actions {list(actions)}"
    return f"after history [{', '.join(names)}]" if names else "at the root"


def names_of(game: Game, discovery: Discovery) -> tuple[dict[int, str], ...]:
    """Return action names, read at a sample of infosets; an action whose names differ gets its id."""
    names = []
    for player in range(game.num_players):
        of_player = np.flatnonzero(discovery.rows[:, discover.PLAYER] == player)
        infosets = discovery.rows[np.concatenate((of_player[:NAMED], of_player[NAMED:][-NAMED:]))]
        counts = infosets[:, discover.ACTIONS]
        owners = np.repeat(np.arange(len(infosets)), counts)
        actions = discovery.action_ids[
            np.arange(len(owners)) + np.repeat(infosets[:, discover.FIRST] - np.cumsum(counts) + counts, counts)
        ]
        named: dict[int, str] = {}
        for order in (slice(None), slice(None, None, -1)):
            for action, at in zip(*(column.tolist() for column in np.unique(actions[order], return_index=True)), strict=True):
                path = int(infosets[owners[order][at], discover.PATH])
                name = str(action) if path == discover.NO_PATH else state_at(game, path).action_to_string(action)
                named[action] = name if named.setdefault(action, name) == name else str(action)
        for action in np.unique(discovery.action_ids).tolist() if len(of_player) > 2 * NAMED else ():
            named.setdefault(action, str(action))
        names.append(named)
    return tuple(names)


def state_at(game: Game, path: int) -> State:
    """Return the state after a path, encoded as a mixed-radix number whose lowest digit is the first action's index."""
    state = game.new_initial_state()
    while path > 1:
        chance = state.current_player() == CHANCE
        actions = [action for action, _ in state.chance_outcomes()] if chance else list(state.legal_actions())
        path, number = divmod(path, max(len(actions), 2))
        state = state.child(actions[number])
    return state


class PathInfostates(LazyInfostates):
    """Infostate strings computed on demand: the ordinary rules replay one history per infoset.

    Attributes:
        walk: the walk that computes gradients; kernels refer to it by number, so it must live as long as the game.
    """

    walk: "RulesWalk | None" = None

    def __init__(self, game: Game, paths: Ints) -> None:
        """Store a path [I] to one history of each infoset."""
        self.game = game
        self.paths = paths

    @classmethod
    def restored(cls, game: Game, tree: Tree, columns: Mapping[str, Ints]) -> "PathInfostates":
        """Return the infostates with these :meth:`columns`."""
        return cls(game, columns["paths"])

    def columns(self) -> Mapping[str, Ints]:
        return {"paths": self.paths}

    def __len__(self) -> int:
        return len(self.paths)

    def written(self, infoset: int) -> str:
        path = int(self.paths[infoset])
        if path == discover.NO_PATH:
            raise GameError(f"infoset {infoset} of {self.game} is too deep to store its path, so it has no infostate string")
        return state_at(self.game, path).information_state_string()


class RulesWalk:
    """Computes gradients by walking the rules, see :class:`treeplex.engine.tree.walked.GradientWalk`.

    Frontier nodes are distributed round-robin over the parts, one thread per part. Each part has its own sum, so the order of
    summation does not depend on timing.
    """

    def __init__(self, rules: CompiledRules, tree: Tree, keys: Ints, part: Part, histories: int) -> None:
        """Build the table of infosets from their keys [I].

        ``part`` is the first part of a walk over ``histories`` histories.
        """
        self.rules, self.part, self.histories = rules, part, histories
        self.offsets = tree.sequence_offsets
        self.table = table_of(keys, tree)
        self.lock = Lock()
        self._pool: tuple[int, ThreadPoolExecutor] | None = None

    @cached_property
    def sums(self) -> Floats:
        """Partial sums of all parts except the first, [parts - 1, maximum number of sequences of a player]."""
        return np.empty((self.part.parts - 1, int(np.diff(self.offsets).max())))

    @property
    def threads(self) -> ThreadPoolExecutor:
        """The threads that walk; meanwhile the calling thread checks for Ctrl-C and reports progress.

        A forked process has none of its parent's threads, so it starts new ones.
        """
        if self._pool is None or self._pool[0] != os.getpid():
            self._pool = os.getpid(), ThreadPoolExecutor(self.part.parts, "treeplex-walk")
        return self._pool[1]

    @property
    def nbytes(self) -> int:
        """Bytes used by the table and the partial sums."""
        return self.table.slots.nbytes + 8 * (self.part.parts - 1) * int(np.diff(self.offsets).max())

    @contextmanager
    def sampled(self, shares: int) -> Iterator[None]:
        """Walk only one of ``shares`` parts of the frontier within the context, to estimate the time of a whole walk."""
        with self.lock:
            whole, self.part = self.part, self.part._replace(shares=shares)
        try:
            yield
        finally:
            self.part = whole

    def add_gradient(self, player: int, strategy: Floats, values: Floats) -> None:
        first, last = (int(offset) for offset in self.offsets[player : player + 2])
        walk = partial(add_part_of_gradient, self.rules.calls, self.rules.start, self.table, self.offsets[:-1])
        with self.lock:
            part, gradient = self.part._replace(player=player), values[first:last]
            progress = np.zeros((part.parts, 2), np.int64)
            if part.parts == 1:
                walk(part, strategy, gradient, progress[0])
                return
            others = self.sums[:, : last - first]
            others[:] = 0.0
            walks = [
                self.threads.submit(walk, part._replace(number=number), strategy, target, progress[number])
                for number, target in enumerate((gradient, *others))
            ]
            self._wait(walks, progress)
            for target in others:
                gradient += target

    def _wait(self, walks: "list[Future[None]]", progress: Ints) -> None:
        """Wait for walks and report progress; stop them if the wait is interrupted."""
        began = perf_counter()
        try:
            while wait(walks, WATCHED).not_done:
                if perf_counter() - began > LONG:
                    tell(f"walking the rules: {progress[:, discover.SEEN].sum():,} of up to {self.histories:,} histories")
        finally:
            progress[:, discover.STOP] = 1
            for walk in walks:
                walk.result()
