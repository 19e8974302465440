"""External-sampling MCCFR on full-game hold'em, for any number of players, any betting, and hands or buckets.

The updates are those of Brown and Sandholm 2019 (Pluribus): linear discounting in steps, pruning of actions with very
negative regrets in most traversals, and 32-bit regrets with a floor. There are two deviations. One board is dealt for
many deals of hands, since ranking the hands on a board takes as long as many traversals. And averages are kept on all
streets, as 32-bit float sums, where Pluribus keeps them for the first street and takes means of snapshots later. A policy
is added whenever a traversal samples from it, so it is weighted by its player's reach, and with more than two players
also by the reach of the players other than its player and the traverser. CFR guarantees nothing about this average, or
about any average with more than two players.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.storage.memory import available_memory, megabytes
from treeplex.engine.betting.sampling import HIGHEST, LOWEST, BoardWalks, SampledTables, discount, walk_board
from treeplex.errors import AlgorithmError, SpecError
from treeplex.games.betting.hand_rows import CardRows
from treeplex.games.betting.nodes import MOST_NODES
from treeplex.games.size_estimate import count_text
from treeplex.holdem.betting.tree_size import BettingSize, betting_size
from treeplex.holdem.whole.hand import HandRules
from treeplex.holdem.whole.nodes import betting_nodes, check_acting, table_size

CHUNK = 256
"""Boards sampled per chunk; they depend only on the seed and the chunk's number."""
UNITS = 1000.0
"""Regret units per big blind."""
NUMBER_BYTES = 9
"""Bytes per action and row: regret, average, and stored share."""
DECISION_BYTES = 1_500
"""Bytes per decision, with the terminals below it, while the tree is being built (measured)."""


class BlueprintSolver:
    """Solves full-game hold'em; every iteration samples one board.

    Attributes:
        rules, rows: betting rules and card abstraction.
        nodes: the betting tree.
        walks: how boards are traversed.
        prune_after: number of boards before pruning starts.
        discount_every: boards between discounts; the k-th discount multiplies all sums by k / (k + 1); 0 for none.
        iteration: boards done.
        met: number of decisions visited so far.
        tables: regrets and average.
    """

    def __init__(
        self,
        rules: HandRules,
        rows: CardRows,
        *,
        deals: int = 64,
        seed: int = 0,
        discount_every: int = 0,
        prune: float = 0.0,
        prune_after: int = 0,
        prune_below: float = -300.0,
    ) -> None:
        """Create a solver at iteration 0.

        Args:
            rules, rows, prune_after, discount_every: see the attributes.
            deals: number of deals of all hands on each board.
            seed: random seed.
            prune: share of deals in which actions with very negative regrets are skipped.
            prune_below: regret threshold in big blinds; limited by 32 bits.
        """
        self.rules, self.rows, self.prune_after, self.discount_every = rules, rows, prune_after, discount_every
        self.nodes = betting_nodes(rules, rows.counts)
        unit = rules.betting.big_blind / UNITS
        self.walks = BoardWalks(seed, deals, unit, prune, max(prune_below * UNITS, -HIGHEST / LOWEST))
        size = table_size(self.nodes, rows.counts)
        self.tables = SampledTables(np.zeros(size, np.int32), np.zeros(size, np.float32))
        self.iteration, self.met = 0, 0
        decisions = len(self.nodes.player)
        self._scratch = np.zeros(len(self.nodes.child)), np.zeros(decisions), *np.zeros((2, decisions), np.int64)
        self._chunk = -1

    def run(self, boards: int) -> None:
        """Run another ``boards`` iterations, one board each."""
        for _ in range(boards):
            chunk, index = divmod(self.iteration, CHUNK)
            if chunk != self._chunk:
                random = np.random.default_rng([self.walks.seed, chunk])
                self._boards, self._chunk = self.rows.boards((), CHUNK, random), chunk
            cards = self.rows.on_board(self._boards, index)
            walks = self.walks if self.iteration >= self.prune_after else self.walks._replace(prune=0.0)
            self.met += walk_board(self.nodes, self.tables, cards, walks, self.iteration, self._scratch)
            self.iteration += 1
            if self.discount_every and self.iteration % self.discount_every == 0:
                step = self.iteration // self.discount_every
                discount(self.tables, step / (step + 1))

    def state(self) -> Mapping[str, NDArray[Any]]:
        """Everything that :meth:`restore` needs to resume bit for bit."""
        done = np.array([self.iteration, self.met])
        return {"done": done, "regrets": self.tables.regrets, "average": self.tables.average}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Restore a state.

        Raises:
            AlgorithmError: the state belongs to another game.
        """
        regrets, average = state["regrets"], state["average"]
        if regrets.shape != self.tables.regrets.shape or average.shape != self.tables.average.shape:
            raise AlgorithmError("the tables belong to another betting tree or other buckets; resume with the original ones")
        self.tables.regrets[:], self.tables.average[:] = regrets, average
        self.iteration, self.met = (int(count) for count in state["done"])


def predicted_bytes(size: BettingSize, counts: Sequence[int]) -> int:
    """Memory in bytes for a run with a betting tree of this size, excluding the buckets (about 300 MB in hold'em)."""
    return NUMBER_BYTES * size.numbers(counts) + DECISION_BYTES * size.decisions


def check_room(rules: HandRules, counts: Sequence[int], most: int | None = None) -> None:
    """Reject a betting tree whose tables do not fit into memory, before building anything.

    Args:
        rules: the betting rules.
        counts: rows on each street.
        most: available bytes; None for the machine's free memory.

    Raises:
        SpecError: there is no decision, or there are too many; the message suggests remedies.
    """
    check_acting(rules)
    free = available_memory() if most is None else most

    def beyond(size: BettingSize) -> bool:
        return size.decisions > MOST_NODES or (free is not None and predicted_bytes(size, counts) > free)

    size = betting_size(rules.betting, enough=beyond)
    if not beyond(size):
        return
    problem = f"the betting has at least {count_text(size.decisions)} decisions"
    fewer = "give fewer sizes (sizes=[100%;a]), a limit on raises (raises=[3;3;2;2]), smaller stacks"
    if size.decisions > MOST_NODES or free is None:
        raise SpecError(f"{problem}, more than the limit of {MOST_NODES:,}; {fewer} or fewer players")
    rows = "/".join(f"{count:,}" for count in counts)
    raise SpecError(
        f"{problem}, for which a blueprint with {rows} buckets or hands takes at least "
        f"{megabytes(predicted_bytes(size, counts))} of memory, but only {megabytes(free)} are free; "
        f"{fewer} or fewer buckets (buckets=169,50,50,50)"
    )
