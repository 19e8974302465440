"""Walk a large tree in several processes, with the same result as in one.

After :data:`treeplex.forms.compile.walk.ALONE_SECONDS`, workers load the rules by their spec and walk the remaining subtrees
below some depth, each with its own numbers of infosets and sequences. The walk itself goes on in depth-first order. At the root
of such a subtree it merges the worker's result, which numbers infosets, sequences and public states in order of discovery.

Subtrees with an error in the rules, and results that do not fit, such as an infostate with other actions than in earlier
histories, are not merged: the subtree is walked here, which reports the error. If a worker fails, all remaining subtrees are
walked here.
"""

from array import array
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from math import inf
from pickle import Unpickler, dumps
from typing import Any, NamedTuple, final

import numpy as np

from treeplex.base.workers.executor import POLL_SECONDS, Executor
from treeplex.base.workers.processes import Processes, in_worker
from treeplex.engine.threads import available_cores
from treeplex.errors import GameError, GameSizeError
from treeplex.forms.compile.rules_digest import rules_digest
from treeplex.forms.compile.walk import GameWalk, Path, StackItem, actions_to, add_sum, new_walk, number_of, walk_tree
from treeplex.forms.sources.load import load
from treeplex.games.base import CHANCE, SIMULTANEOUS, TERMINAL, Game
from treeplex.games.size_estimate import estimated_histories
from treeplex.games.turn_based import TurnBased

SUBTREES = 16
"""Minimum number of subtrees per worker."""
MOST_WORKERS = 8
"""Maximum number of workers, each of which needs about 200 MB."""
WORTH = 2
"""Workers start if the game is estimated to have more histories than this multiple of those walked so far."""

PLAIN = ("builtins", "numpy", "treeplex")
"""Packages whose values are equal to their copies in other processes."""


@dataclass(frozen=True)
class RulesSource:
    """Rules to load in a worker.

    Attributes:
        spec: their spec.
        turn_based: whether simultaneous moves are made sequential.
        digest: their digest (:mod:`.rules_digest`).
        refine, limit: see :func:`treeplex.forms.compile.walk.compile_rules`.
    """

    spec: str
    turn_based: bool
    digest: str
    refine: bool
    limit: int

    @cached_property
    def rules(self) -> Game:
        """The rules.

        Raises:
            GameError: the spec now gives other rules.
        """
        rules = load(self.spec).enumerable_rules()
        if self.turn_based and not isinstance(rules, TurnBased):
            rules = TurnBased(rules, rules.spec)
        digest = rules_digest(rules)
        if digest is None or digest() != self.digest:
            raise GameError(f"{self.spec} does not give the same rules again")
        return rules


class Subtree(NamedTuple):
    """What a worker found in a subtree.

    Attributes:
        player, parent, infostates, actions, sizes, publics: of each infoset, in order of discovery, its player, parent
            sequence, infostate, actions, number of histories, and index in ``public_states`` (-1: None). The first sequences
            are those of the players at the root, one for each; those of the infosets follow.
        public_states: the public states in order of discovery.
        names: action names of each player.
        terminal_sequences, terminal_payoffs: see :class:`treeplex.forms.compile.walk.GameWalk`.
        counts: the number of histories, of terminals, and the depth.
        sums: ``total``, ``magnitude`` and ``uneven`` of the walk.
    """

    player: "array[int]"
    parent: "array[int]"
    infostates: list[str]
    actions: list[tuple[int, ...]]
    sizes: "array[int]"
    publics: "array[int]"
    public_states: list[Hashable]
    names: list[dict[int, str]]
    terminal_sequences: "array[int]"
    terminal_payoffs: "array[float]"
    counts: tuple[int, int, int]
    sums: tuple[float, float, bool]


@final
class PlainValues(Unpickler):
    """Reads pickled values without classes of users, which need not be equal to those of another process."""

    def find_class(self, module: str, name: str) -> Any:
        if module.partition(".")[0] not in PLAIN:
            raise GameError(f"values of {module}.{name}")
        return super().find_class(module, name)


def walk_subtree(source: RulesSource, actions: tuple[int, ...], chance: float) -> Subtree | None:
    """Walk the subtree after some actions from the root, in a worker; return None if there is an error in the rules.

    Raises:
        GameError: the spec now gives other rules, or public states differ after pickling.
    """

    def refuse() -> None:
        raise GameSizeError(f"more than {source.limit:,} histories")

    walk = new_walk(source.rules, source.refine)
    walk.leak_checks, walk.next_look = 0, source.limit + 1
    try:
        if not walk_tree(walk, [], refuse, actions, chance):
            return None
    except GameError:
        return None
    publics = list(walk.publics)
    if PlainValues(BytesIO(dumps(publics))).load() != publics:
        raise GameError("public states differ between processes")
    return Subtree(
        player=walk.found.player,
        parent=walk.found.parent,
        infostates=walk.found.infostates,
        actions=walk.infoset_lists,
        sizes=walk.infoset_sizes,
        publics=walk.infoset_publics,
        public_states=publics,
        names=walk.names,
        terminal_sequences=walk.terminal_sequences,
        terminal_payoffs=walk.terminal_payoffs,
        counts=(walk.histories, walk.terminals, walk.depth),
        sums=(walk.total, walk.magnitude, walk.uneven),
    )


def share_walk(walk: GameWalk, stack: Sequence[StackItem], limit: int) -> None:
    """Start workers for the rest of the tree, if it is large enough and the rules can be loaded by their spec."""
    workers = min(available_cores(), MOST_WORKERS)
    if workers < 2 or in_worker() or not walk.game.spec:
        return
    digest = rules_digest(walk.game)
    if digest is None or not (text := digest()):
        return
    source = RulesSource(walk.game.spec, isinstance(walk.game, TurnBased), text, walk.refine, limit)
    try:
        if estimated_histories(walk.game) < WORTH * walk.histories:
            return
        depth, jobs = subtrees_below(stack, SUBTREES * workers)
        if jobs:
            walk.shared, walk.frontier = SharedWalk(workers, source, jobs), depth
    except (Exception, SystemExit):  # the walk reports errors in the rules with their place
        return


def subtrees_below(stack: Sequence[StackItem], least: int) -> tuple[int, dict[tuple[int, ...], float]]:
    """Return the smallest depth with at least ``least`` subtrees below the stack; and their actions and chance probabilities.

    The subtrees are in depth-first order. Without a depth that has ``least`` subtrees, the result is empty.
    """
    items = [(state, chance, depth, actions_to(path)) for state, chance, _, depth, path in reversed(stack)]
    depth = min((item[2] for item in items), default=0)
    while items:
        subtrees = {actions: chance for _, chance, level, actions in items if level == depth}
        if len(subtrees) >= least:
            return depth, subtrees
        below = []
        for item in items:
            state, chance, level, actions = item
            if level > depth:
                below.append(item)
            elif (player := state.current_player()) == CHANCE:
                outcomes = [
                    (action, chance * probability) for action, probability in state.chance_outcomes() if probability > 0
                ]
                below += [(state.child(action), product, depth + 1, (*actions, action)) for action, product in outcomes]
            elif player not in (TERMINAL, SIMULTANEOUS):
                below += [(state.child(action), chance, depth + 1, (*actions, action)) for action in state.legal_actions()]
        items, depth = below, depth + 1
    return 0, {}


@final
class SharedWalk:
    """Workers that walk subtrees ahead of this process."""

    def __init__(self, workers: int, source: RulesSource, jobs: dict[tuple[int, ...], float]) -> None:
        """Start workers on subtrees, given by their actions from the root and chance probabilities."""
        self._left = set(jobs)
        self._done: dict[Hashable, Subtree | None] = {}
        self._executor = Executor(Processes(workers, script=False))
        shared = self._executor.share(source)
        for actions, chance in jobs.items():
            self._executor.add(actions, walk_subtree, shared, actions, chance)

    def close(self) -> None:
        """Stop the workers."""
        self._left.clear()
        self._executor.close()

    def merge(self, walk: GameWalk, sequences: tuple[int, ...], path: Path) -> bool:
        """Wait for the result of a subtree and merge it; return whether it could be merged.

        Args:
            walk: the walk.
            sequences: the players' sequences at the subtree's root.
            path: its path.
        """
        actions = actions_to(path)
        if actions not in self._left:
            return False
        self._left.remove(actions)
        try:
            while actions not in self._done:
                self._done.update(self._executor.finished(POLL_SECONDS))
        except Exception:  # the rest is walked here
            self.close()
            return False
        subtree = self._done.pop(actions)
        return subtree is not None and merge_subtree(walk, subtree, sequences)


def merge_subtree(walk: GameWalk, subtree: Subtree, at_root: tuple[int, ...]) -> bool:
    """Add the infosets and terminals of a subtree; return False, without a change, if they do not fit.

    Args:
        walk: the walk.
        subtree: the subtree.
        at_root: the players' sequences at its root.
    """
    discovery, infosets = walk.found, range(len(subtree.player))
    public_numbers = [*(walk.publics.get(public, len(walk.publics)) for public in subtree.public_states), -1]
    for before, names in zip(walk.names, subtree.names, strict=True):
        if any(before.get(action, name) not in (name, str(action)) for action, name in names.items()):
            return False  # whether the names differ at new infosets only the histories show
    sequences, following = list(at_root), len(discovery.action_ids)
    keys: list[Hashable] = []
    for i in infosets:
        player, parent, actions, infostate = (
            subtree.player[i],
            sequences[subtree.parent[i]],
            subtree.actions[i],
            subtree.infostates[i],
        )
        keys.append((infostate, parent) if walk.refine else infostate)
        known = walk.numbers[player].get(keys[i])
        if known is None:
            first, following = following, following + len(actions)
        elif (
            discovery.parent[known] == parent
            and walk.infoset_lists[known] == actions
            and walk.infoset_publics[known] == public_numbers[subtree.publics[i]]
        ):
            first = discovery.first[known]
        else:
            return False
        sequences.extend(range(first, first + len(actions)))
    public_numbers = [*(number_of(walk, public) for public in subtree.public_states), -1]
    for i in infosets:
        player, actions = subtree.player[i], subtree.actions[i]
        number = walk.numbers[player].get(keys[i])
        if number is None:
            number = discovery.add(player, sequences[subtree.parent[i]], subtree.infostates[i], actions)
            walk.numbers[player][keys[i]] = number
            walk.infoset_lists.append(walk.lists.setdefault(actions, actions))
            walk.infoset_sizes.append(0)
            walk.infoset_publics.append(public_numbers[subtree.publics[i]])
        walk.infoset_sizes[number] += subtree.sizes[i]
    for before, names in zip(walk.names, subtree.names, strict=True):
        for action, name in names.items():
            if before.setdefault(action, name) != name:
                before[action] = str(action)
    local = np.frombuffer(subtree.terminal_sequences, np.int32)
    walk.terminal_sequences.frombytes(np.array(sequences, np.int32)[local].tobytes())
    walk.terminal_payoffs.extend(subtree.terminal_payoffs)
    histories, terminals, depth = subtree.counts
    total, magnitude, uneven = subtree.sums
    walk.histories, walk.terminals, walk.depth = walk.histories + histories, walk.terminals + terminals, max(walk.depth, depth)
    walk.uneven |= uneven
    if magnitude < inf:
        add_sum(walk, total, magnitude)
    return True
