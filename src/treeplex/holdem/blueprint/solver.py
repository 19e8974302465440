"""Monte Carlo CFR with external sampling on whole hold'em, any number of players and any betting, hands in buckets or not.

The updates are those of Brown and Sandholm 2019 (Pluribus): linear discounting in steps, pruning of actions with very negative
regrets in most walks, regrets of 32 bits with a floor. Two things differ. Cards of a board are dealt once for many deals of
hands, since ranking a board takes as long as many walks. And averages are kept on all streets, as sums of 32-bit floats, where
Pluribus keeps them for the first and takes means of snapshots later. A policy is added wherever a walk draws from it. So it
counts by its player's reach, and with more than two players also by that of those who are neither its player nor walked;
CFR guarantees nothing about that average, nor about any other with more than two players.
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
"""Boards that are drawn at a time; they depend on the seed and the number of the chunk alone."""
UNITS = 1000.0
"""Units of regret in a big blind."""
NUMBER_BYTES = 9
"""Bytes per action and row: regret, average, and the share that is written."""
DECISION_BYTES = 1_500
"""Bytes per decision, with the terminals below it, while the tree is listed (measured)."""


class BlueprintSolver:
    """Solves whole hold'em; an iteration is a board.

    Attributes:
        rules, rows: the betting, and what players tell apart.
        nodes: the betting tree.
        walks: how boards are walked.
        prune_after: boards before the first walk that skips actions.
        discount_every: boards between discounts; the k-th multiplies all sums by k / (k + 1); 0 never.
        iteration: boards done.
        met: decisions met so far.
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
        """Begin.

        Args:
            rules, rows, prune_after, discount_every: see the attributes.
            deals: hands of all players on each board.
            seed: of all draws.
            prune: the share of deals in which actions with very negative regrets are skipped.
            prune_below: how negative, in big blinds; at most what 32 bits hold.
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
        """Run another ``boards`` boards."""
        for _ in range(boards):
            chunk, place = divmod(self.iteration, CHUNK)
            if chunk != self._chunk:
                random = np.random.default_rng([self.walks.seed, chunk])
                self._boards, self._chunk = self.rows.boards((), CHUNK, random), chunk
            cards = self.rows.on_board(self._boards, place)
            walks = self.walks if self.iteration >= self.prune_after else self.walks._replace(prune=0.0)
            self.met += walk_board(self.nodes, self.tables, cards, walks, self.iteration, self._scratch)
            self.iteration += 1
            if self.discount_every and self.iteration % self.discount_every == 0:
                step = self.iteration // self.discount_every
                discount(self.tables, step / (step + 1))

    def state(self) -> Mapping[str, NDArray[Any]]:
        """Everything that :meth:`restore` needs to go on bit for bit."""
        done = np.array([self.iteration, self.met])
        return {"done": done, "regrets": self.tables.regrets, "average": self.tables.average}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Take over a state.

        Raises:
            AlgorithmError: a state of another game.
        """
        regrets, average = state["regrets"], state["average"]
        if regrets.shape != self.tables.regrets.shape or average.shape != self.tables.average.shape:
            raise AlgorithmError(
                "the tables are of another betting tree or of other buckets; resume with those they were saved from"
            )
        self.tables.regrets[:], self.tables.average[:] = regrets, average
        self.iteration, self.met = (int(each) for each in state["done"])


def predicted_bytes(size: BettingSize, counts: Sequence[int]) -> int:
    """Bytes that a run with a betting tree of this size takes, without its ``counts`` buckets (hold'em: some 300 MB)."""
    return NUMBER_BYTES * size.numbers(counts) + DECISION_BYTES * size.decisions


def check_room(rules: HandRules, counts: Sequence[int], most: int | None = None) -> None:
    """Refuse, before anything is built, a betting tree whose tables memory cannot hold.

    Args:
        rules: the betting.
        counts: rows of each street.
        most: bytes that may be used; None for what the machine has free.

    Raises:
        SpecError: there is no decision, or there are too many; the message says what makes them fewer.
    """
    check_acting(rules)
    free = available_memory() if most is None else most

    def beyond(size: BettingSize) -> bool:
        return size.decisions > MOST_NODES or (free is not None and predicted_bytes(size, counts) > free)

    size = betting_size(rules.betting, enough=beyond)
    if not beyond(size):
        return
    found = f"the betting has at least {count_text(size.decisions)} decisions"
    fewer = "give fewer sizes (sizes=[100%;a]), a limit of raises (raises=[3;3;2;2]), smaller stacks"
    if size.decisions > MOST_NODES or free is None:
        raise SpecError(f"{found}, more than the {MOST_NODES:,} that can be listed; {fewer} or fewer players")
    rows = "/".join(f"{count:,}" for count in counts)
    raise SpecError(
        f"{found}, for which a blueprint with {rows} buckets or hands takes at least "
        f"{megabytes(predicted_bytes(size, counts))} of memory, and {megabytes(free)} are free; "
        f"{fewer} or fewer buckets (buckets=169,50,50,50)"
    )
