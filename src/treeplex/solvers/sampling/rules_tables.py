"""Growing tables in plain arrays, with a record of their memory use."""

import math
from array import array
from collections.abc import Iterable, Sequence
from math import ceil
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.base.storage.tensors import Tensor, TensorFile, tensor
from treeplex.engine.sampling.lazy_tables import UNKNOWN_PARENT, normalise_met, settle_averages
from treeplex.engine.sampling.schemes import LAZY, LEARNED, OPPONENT, OPTIMISTIC, SchemeCodes
from treeplex.errors import FileError
from treeplex.forms.policies.sparse import Infosets, infosets_from, tensors_of, text_bytes

if TYPE_CHECKING:
    Column = array[Any]
else:
    Column = array

GROWTH_SHARE = 17 / 16
"""Over-allocation factor of Python's arrays."""
DICT_BYTES = 90
"""Maximum bytes per dict entry: on resizing (at two thirds full) the old and the new table coexist."""
NUMBER_BYTES = 32
"""Bytes of an integer object, the value in the dict."""
TOUCHED_BYTES = 64
"""Bytes per entry of the set of infosets visited by a walk."""
PLAYER_BYTES = 4096
"""Bytes of the objects around one player's tables."""


@final
class MemoryBook:
    """Memory accounting for tables.

    Attributes:
        most: memory limit in bytes; None for no limit.
        used: upper estimate of used bytes.
        full: whether a reservation failed; nothing is added afterwards, so that the tables stay consistent.
    """

    def __init__(self, most: int | None) -> None:
        self.most: Final = most
        self.used = 0
        self.full = False

    def take(self, size: int) -> bool:
        """Reserve ``size`` bytes; False once the memory limit is reached."""
        if self.full or (self.most is not None and self.used + size > self.most):
            self.full = True
            return False
        self.used += size
        return True


@final
class PlayerTable:
    """One player's tables: a row per slot and marks per infoset.

    Attributes:
        infosets: the infosets.
        regrets, policy, average: float64 [S].
        marks: float64 [I], with lazy and optimistic averages: accumulated weight at the last visit.
        positive_logs, negative_logs: float64 [I], with discounts: cumulative log discounts at the last visit.
        parents: int64 [I], slot of the player's previous action, ``NO_PARENT`` or ``UNKNOWN_PARENT``.
        baselines: float64 [S] for each traverser if baselines are per infoset; else empty.
        total: sum of iteration weights in the average.
    """

    def __init__(self, rules: SchemeCodes, players: int, key: str, book: MemoryBook) -> None:
        self.infosets = Infosets()
        self.book: Final = book
        self.regrets, self.policy, self.average = array("d"), array("d"), array("d")
        self.marks, self.positive_logs, self.negative_logs = array("d"), array("d"), array("d")
        self.parents = array("q")
        self.total = 0.0
        self.lazy: Final = rules.averaging == LAZY
        self.marked: Final = rules.averaging in (LAZY, OPTIMISTIC)
        self.discounts: Final = rules.discounts
        with_baselines = rules.baseline == LEARNED and key == "infoset"
        self.baselines = tuple(array("d") for _ in range(players if with_baselines else 0))
        self.stores_others: Final = with_baselines or rules.averaging == OPPONENT
        slot_columns = 4 + len(self.baselines) + 2  # with actions; a copy for the average policy, one array being copied
        infoset_columns = 2 + self.marked + 2 * self.discounts + 1  # with first slot and parent; one array being copied
        self.slot_bytes: Final = ceil(8 * GROWTH_SHARE * slot_columns)
        self.infoset_bytes: Final = ceil(8 * GROWTH_SHARE * infoset_columns) + DICT_BYTES + NUMBER_BYTES + TOUCHED_BYTES
        book.used += PLAYER_BYTES

    @property
    def bytes(self) -> int:
        """Conservative estimate of the memory, in bytes."""
        slots = len(self.infosets.actions)
        return PLAYER_BYTES + len(self.infosets) * self.infoset_bytes + slots * self.slot_bytes + self.infosets.text_bytes

    def add(self, infostate: str, actions: Sequence[int]) -> int:
        """Add an infoset with the uniform policy; return its number, or -1 for lack of memory."""
        size = len(actions)
        if not self.book.take(self.infoset_bytes + size * self.slot_bytes + text_bytes(infostate)):
            return -1
        number = self.infosets.add(infostate, actions)
        zeros = (0.0,) * size
        self.regrets.extend(zeros)
        self.policy.extend((1.0 / size,) * size)
        self.average.extend(zeros)
        self.parents.append(UNKNOWN_PARENT)
        if self.marked:
            self.marks.append(0.0)
        if self.discounts:
            self.positive_logs.append(0.0)
            self.negative_logs.append(0.0)
        for column in self.baselines:
            column.extend(zeros)
        return number

    def match(self, floor: bool, touched: Iterable[int]) -> None:
        """Set the next policy of infosets: proportional to positive regrets, or uniform if there are none."""
        first, regrets, policy = self.infosets.first, self.regrets, self.policy
        for number in touched:
            start, end = first[number], first[number + 1]
            row = regrets[start:end].tolist()
            if floor and min(row) < 0.0:
                row = [regret if regret >= 0.0 else 0.0 for regret in row]
                regrets[start:end] = array("d", row)
            total = 0.0
            for regret in row:
                if regret > 0.0:
                    total += regret
            if total > 0.0:
                policy[start:end] = array("d", [regret / total if regret > 0.0 else 0.0 for regret in row])
            else:
                policy[start:end] = array("d", [1.0 / (end - start)]) * (end - start)

    def discount(self, number: int, positive: float, negative: float) -> None:
        """Apply the discounts since an infoset's last visit; the arguments are cumulative log discounts."""
        up = math.exp(min(positive - self.positive_logs[number], 0.0))
        down = math.exp(min(negative - self.negative_logs[number], 0.0))
        self.positive_logs[number], self.negative_logs[number] = positive, negative
        if up == down == 1.0:
            return
        for slot in range(self.infosets.first[number], self.infosets.first[number + 1]):
            self.regrets[slot] *= up if self.regrets[slot] > 0.0 else down

    def average_policy(self) -> Floats:
        """Return a copy of the average as probabilities, float64 [S], with lazy updates applied."""
        weights, first = np.array(self.average), view(self.infosets.first)
        if self.lazy:
            settle_averages(first, view(self.parents), view(self.marks), view(self.policy), self.total, weights)
        normalise_met(first, weights)
        return weights

    def columns(self) -> dict[str, Column]:
        """Return all arrays except the infosets, by name."""
        names = ("regrets", "policy", "average", "marks", "positive_logs", "negative_logs", "parents")
        named: dict[str, Column] = {name: getattr(self, name) for name in names}
        return named | {f"baselines-{traverser}": column for traverser, column in enumerate(self.baselines)}

    def tensors(self, player: int) -> dict[str, Tensor]:
        """Return all tables for writing, without copying."""
        columns = {f"{name}.{player}": tensor(view(column)) for name, column in self.columns().items()}
        return {**tensors_of(self.infosets, player), **columns, f"total.{player}": tensor(np.array([self.total]))}

    def restore(self, file: TensorFile, player: int) -> None:
        """Restore an empty table from :meth:`tensors`.

        Raises:
            FileError: the tensors do not match this table.
        """
        self.infosets = infosets_from(file, player)
        self.total = float(single(file, f"total.{player}"))
        rows = {"marks": self.marked, "positive_logs": self.discounts, "negative_logs": self.discounts, "parents": True}
        for name, column in self.columns().items():
            numbers = file.read(f"{name}.{player}", "I64" if column.typecode == "q" else "F64")
            size = len(self.infosets) * rows[name] if name in rows else len(self.infosets.actions)
            if numbers.shape != (size,):
                raise FileError(
                    f"{file.path}: {name} of player {player} has {len(numbers)} numbers, not {size}; restore a backup"
                )
            column.frombytes(numbers.tobytes())
        self.book.used += self.bytes - PLAYER_BYTES


@final
class HistoryBaselines:
    """Learned baselines: the estimated value of every visited history for each traverser.

    Histories are numbered; the children of a history have consecutive numbers.

    Attributes:
        children: int64 [H], first child of each history; 0 if not yet visited (the root is 0).
        values: float64 [H] for each traverser.
    """

    def __init__(self, players: int, book: MemoryBook) -> None:
        self.book: Final = book
        self.children = array("q", (0,))
        self.values = tuple(array("d", (0.0,)) for _ in range(players))
        self.history_bytes: Final = ceil(8 * GROWTH_SHARE * (2 + players))

    def below(self, history: int, actions: int) -> int:
        """Return a history's first child; -1 for lack of memory, or if ``history`` is -1."""
        if history < 0:
            return -1
        child = self.children[history]
        if child == 0:
            if not self.book.take(actions * self.history_bytes):
                return -1
            child = self.children[history] = len(self.children)
            self.children.extend((0,) * actions)
            for column in self.values:
                column.extend((0.0,) * actions)
        return child

    def tensors(self) -> dict[str, Tensor]:
        """Return all baselines for writing."""
        columns = {f"values.{traverser}": tensor(view(column)) for traverser, column in enumerate(self.values)}
        return {"children": tensor(view(self.children)), **columns}

    def restore(self, file: TensorFile) -> None:
        """Restore the baselines of :meth:`tensors`.

        Raises:
            FileError: the tensors do not match.
        """
        children = file.read("children", "I64")
        for traverser, column in enumerate(self.values):
            numbers = file.read(f"values.{traverser}", "F64")
            if numbers.shape != children.shape:
                raise FileError(f"{file.path}: baselines do not match; restore a backup")
            column[:] = array("d", numbers.tobytes())
        self.children[:] = array("q", children.tobytes())
        self.book.used += (len(self.children) - 1) * self.history_bytes


@final
class GrowingTables:
    """All tables of a run.

    Attributes:
        players: the table of each player.
        histories: baselines per history; None without.
        book: memory accounting for all tables.
    """

    def __init__(self, rules: SchemeCodes, players: int, key: str, most: int | None) -> None:
        self.book: Final = MemoryBook(most)
        self.players: Final = tuple(PlayerTable(rules, players, key, self.book) for _ in range(players))
        by_history = rules.baseline == LEARNED and key == "history"
        self.histories: Final = HistoryBaselines(players, self.book) if by_history else None

    @property
    def infosets(self) -> int:
        """Number of infosets."""
        return sum(len(table.infosets) for table in self.players)

    def tensors(self) -> dict[str, Tensor]:
        """Return all tables for writing, without copying."""
        tensors = {} if self.histories is None else self.histories.tensors()
        for player, table in enumerate(self.players):
            tensors |= table.tensors(player)
        return tensors

    def restore(self, file: TensorFile) -> None:
        """Restore empty tables from :meth:`tensors`.

        Raises:
            FileError: the tensors do not match.
        """
        for player, table in enumerate(self.players):
            table.restore(file, player)
        if self.histories is not None:
            self.histories.restore(file)


def view(column: Column) -> NDArray[Any]:
    """Return a NumPy view of an array without copying; the array cannot grow while the view exists."""
    return np.frombuffer(column, np.int64 if column.typecode == "q" else np.float64)


def single(file: TensorFile, name: str) -> float:
    """Read a scalar tensor."""
    array = file.read(name, "F64")
    if array.shape != (1,):
        raise FileError(f"{file.path}: {name} is not a single number; restore a backup")
    return float(array[0])
