"""The compiled game on which algorithms run. See ``docs/design.md`` for the layout."""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from treeplex.base.arrays import Ints
from treeplex.base.notebook import facts
from treeplex.engine.tree.form import STORED, Payoff, Tree
from treeplex.errors import AlgorithmError
from treeplex.forms.compile.views.lazy_infostates import LazyInfostates
from treeplex.games.base import TREES, Game

TINY = 1e-3
"""Largest payoff, times its probability, below which identities compare payoffs relative to it."""


@dataclass(frozen=True)
class GameSize:
    """Size of a game, with the counts in Table 4 of the DDCFR paper (Xu et al., 2024).

    Attributes:
        histories: all nodes of the game tree, including chance and terminals.
        terminals: terminal histories.
        depth: nodes on the longest path, chance nodes included.
        largest_infoset: maximum number of histories in an infoset.
        public_states: public states with a decision, or None if the rules do not define public states.
    """

    histories: int
    terminals: int
    depth: int
    largest_infoset: int
    public_states: int | None


@dataclass(frozen=True, eq=False)
class CompiledGame:
    """A game of perfect recall as treeplexes and payoff operators.

    Attributes:
        spec: the text that names the game (``leduc_poker(ranks=4)``); it goes into every file.
        players: number of players, N.
        tree: the treeplexes of all players (:class:`treeplex.engine.tree.form.Tree`).
        payoff: the payoff operators (:class:`treeplex.engine.tree.form.Payoff`).
        infostates: the infostate string of every infoset, length I.
        action_ids: int64 [Q], the rules' action id of every sequence's last action; -1 for empty sequences.
        action_names: ``action_names[player][action_id]`` is the action's name; the id as text if the name varies within the
            game.
        size: counts of the game.
        constant: payoffs of all players sum to this constant at every terminal, or None for general sums.
        rules: the rules it was compiled from, for functions that walk histories; None if only the spec is known.
        digest: a hash of infosets and payoffs if Numba functions walked the rules; otherwise empty.
    """

    spec: str
    players: int
    tree: Tree
    payoff: Payoff
    infostates: Sequence[str]
    action_ids: Ints
    action_names: tuple[Mapping[int, str], ...]
    size: GameSize
    constant: float | None
    rules: Game | None = field(default=None, repr=False)
    digest: str = ""
    solvable = TREES

    @property
    def sequences(self) -> tuple[int, ...]:
        """Number of sequences of each player, including the empty one."""
        return tuple(int(n) for n in np.diff(self.tree.sequence_offsets))

    @property
    def infosets(self) -> tuple[int, ...]:
        """Number of infosets of each player."""
        return tuple(int(n) for n in np.diff(self.tree.infoset_offsets))

    @property
    def zero_sum(self) -> bool:
        """Whether payoffs sum to zero at every terminal."""
        return self.constant is not None and abs(self.constant) < 1e-12

    def need_stored(self, what: str) -> None:
        """Check that payoffs are stored; errors name ``what``, the feature that reads them.

        Raises:
            AlgorithmError: rules are walked in every iteration.
        """
        if self.payoff.walk != STORED:
            raise AlgorithmError(
                f"{what} needs stored payoffs, but {self} was compiled without them; use a CFR variant on the CPU, or "
                "store payoffs if they fit into memory: tp.compile(game, stored=True)"
            )

    def player_of(self, infoset: int) -> int:
        """Return the player to act at an infoset."""
        return int(np.searchsorted(self.tree.infoset_offsets, infoset, side="right")) - 1

    def sequences_at(self, infoset: int) -> Ints:
        """Return the sequences of an infoset's actions, int64 [A], in the order of the rules."""
        first, stride, actions = self.tree.infoset_layout[infoset]
        return np.arange(first, first + stride * actions, stride)

    def actions_at(self, infoset: int) -> list[int]:
        """Return the action ids at an infoset, in order."""
        return [int(action) for action in self.action_ids[self.sequences_at(infoset)]]

    @cached_property
    def identity(self) -> str:
        """A hash of structure and payoffs, equal for equal games even if their specs differ.

        Payoffs times chance probabilities are compared to nine decimals, and tiny ones relative to the largest.
        """
        if self.digest:
            parts = (self.digest.encode(), *(np.asarray(part).tobytes() for part in (*self.tree, self.action_ids)))
            return hashlib.sha256(b"".join(parts)).hexdigest()[:16]
        named = self.infostates.key if isinstance(self.infostates, LazyInfostates) else None
        digest = hashlib.sha256(("\x00".join(self.infostates) if named is None else named).encode())
        sparse, dense, factors, _ = self.payoff
        whole = [*self.tree, self.action_ids, sparse.pointers, sparse.others, dense.groups, dense.starts]
        reals = [sparse.values, dense.matrices, dense.scales]
        if len(factors.values):
            whole += [factors.pointers, factors.lists, factors.ends, factors.others]
            reals += [factors.weights, factors.values]
        largest = max((float(np.abs(real).max()) for real in reals if real.size), default=0.0)
        if 0.0 < largest < TINY:
            power = math.floor(math.log10(largest))
            digest.update(str(power).encode())
            reals = [real / 10.0**power for real in reals]
        rounded = [np.round(real, 9) + 0.0 for real in reals]
        for part in (*whole, *rounded):
            array = np.ascontiguousarray(part)
            digest.update(array.data.cast("B") if array.size else b"")
        return digest.hexdigest()[:16]

    @cached_property
    def lookup(self) -> Mapping[tuple[int, str], int]:
        """Map from (player, infostate string) to infoset."""
        if isinstance(self.infostates, LazyInfostates) and self.infostates.lookup is not None:
            return self.infostates.lookup
        offsets = self.tree.infoset_offsets
        return {
            (player, self.infostates[infoset]): infoset
            for player in range(self.players)
            for infoset in range(int(offsets[player]), int(offsets[player + 1]))
        }

    def __str__(self) -> str:
        """Return the game's spec, or the name of its rules."""
        return str(self.rules) if self.rules is not None else self.spec or "a game without a name"

    def _repr_html_(self) -> str:
        size = self.size
        rows = {
            "game": str(self),
            "players": str(self.players),
            "histories": f"{size.histories:,}",
            "terminals": f"{size.terminals:,}",
            "depth": f"{size.depth:,}",
            "infosets": " / ".join(f"{count:,}" for count in self.infosets),
            "sequences": " / ".join(f"{count:,}" for count in self.sequences),
            "payoffs": "general sums" if self.constant is None else f"sum to {self.constant:g}",
        }
        return facts(rows)

    def __repr__(self) -> str:
        return (
            f"<compiled {self}: {self.players} players, {self.size.histories:,} histories, "
            f"infosets {'/'.join(map(str, self.infosets))}, sequences {'/'.join(map(str, self.sequences))}>"
        )
