"""Full-game hold'em policies: the blueprint file written by training, and the policy of each hand."""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.base.storage.tensors import TensorFile, tensor, write_tensors
from treeplex.engine.betting.sampling import Nodes
from treeplex.errors import FileError, GameError, SpecError
from treeplex.forms.sources.load import load, named_file
from treeplex.games.betting.hand_rows import CardRows
from treeplex.games.public import State
from treeplex.holdem.buckets.canonical_rows import CanonicalRows
from treeplex.holdem.buckets.named import buckets_of
from treeplex.holdem.buckets.plan import BucketPlan
from treeplex.holdem.buckets.rows import BucketRows, bucket_counts
from treeplex.holdem.whole.game import Holdem
from treeplex.holdem.whole.nodes import betting_nodes, slots_of, table_size
from treeplex.holdem.whole.public import hand_of

BLUEPRINT = "blueprint.safetensors"
"""Name of the blueprint's file in a training folder."""
FORMAT, VERSION = "treeplex holdem blueprint", 1
LINE = re.compile(r"(.*?)(f|c|/|r\d+)")
STEPS = 255
"""Probabilities are stored as multiples of 1 / ``STEPS``."""


@dataclass(frozen=True, eq=False)
class HoldemBlueprint:
    """A policy for all seats in full-game hold'em.

    Attributes:
        game: the game, with the blueprint's raises.
        rows: card abstraction: buckets, or every hand on every board.
        nodes: the betting tree.
        shares: uint8, unnormalised probability of each action at each decision and bucket; all 0 where nothing was learned.
        card: how the blueprint was trained.
    """

    game: Holdem
    rows: CardRows
    nodes: Nodes = field(repr=False)
    shares: NDArray[np.uint8] = field(repr=False)
    card: Mapping[str, Any] = field(default_factory=dict)

    def policy_at(self, node: int, board: tuple[int, ...]) -> Floats:
        """Policy of each hand at a decision on a board, float64 [A, H]; uniform where nothing was learned."""
        count = int(self.nodes.actions[node])
        where = self.nodes.rows[node] + bucket_rows(self.rows, board) * count
        return in_proportion(self.shares[where + np.arange(count)[:, None]])

    def table(self, node: int) -> Floats:
        """Policy of each bucket or bucket sequence at a decision, float64 [A, rows]; uniform where nothing was learned."""
        count, first = int(self.nodes.actions[node]), int(self.nodes.rows[node])
        rows = self.rows.counts[int(self.nodes.street[node])]
        return in_proportion(self.shares[first : first + rows * count].reshape(rows, count).T)

    def labels(self, node: int) -> list[int]:
        """Action labels at a decision: fold, call, or the total number of chips raised to."""
        action_labels: list[int] = self.nodes.labels[slots_of(self.nodes, node)].tolist()
        return action_labels

    def after(self, node: int, number: int) -> int:
        """The decision after an action, given by its index; negative where the hand is over."""
        return int(self.nodes.child[self.nodes.first[node] + number])

    def decision(self, state: State) -> int:
        """The decision at a public state where a player acts.

        Raises:
            GameError: the blueprint has no line to the state.
        """
        return decision_after(self, hand_of(state).table.line)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the blueprint to a file.

        Raises:
            FileError: the file cannot be written.
        """
        about = {
            "format": FORMAT,
            "version": str(VERSION),
            "game": self.game.spec,
            "buckets": json.dumps(self.rows.about),
            "identity": self.rows.identity,
            "card": json.dumps(dict(self.card)),
        }
        write_tensors(path, about, {"shares": tensor(self.shares)})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "HoldemBlueprint":
        """Read a blueprint from a file or training folder and recompute its buckets; no code in the file is executed.

        Raises:
            FileError: the file is missing, modified or not a blueprint, or its buckets cannot be reproduced.
        """
        path = Path(path)
        file = (path / BLUEPRINT if path.is_dir() else path).resolve()
        return loaded(file, file.stat().st_mtime_ns if file.exists() else 0)


@lru_cache(maxsize=2)
def loaded(path: Path, changed: int) -> HoldemBlueprint:
    """The policy in a file, cached until the file's modification time changes."""
    with TensorFile(path, FORMAT, VERSION) as file:
        try:
            spec, given, card = file.about["game"], json.loads(file.about["buckets"]), json.loads(file.about["card"])
            identity, shares = file.about["identity"], np.array(file["shares"])
            game = load(spec).enumerable_rules() if not named_file(spec) else None
            if not isinstance(game, Holdem):
                raise FileError(f"{path}: its game {spec!r} is not holdem; train again")
            rows = bucket_rows_of(game, tuple(given["counts"]), given["method"], given["recall"])
            nodes = betting_nodes(game.rules, rows.counts)
        except (KeyError, ValueError, TypeError, SpecError) as error:
            raise FileError(f"{path}: the policy is incomplete; restore a backup") from error
    if shares.dtype != np.uint8 or shares.shape != (table_size(nodes, rows.counts),):
        raise FileError(f"{path}: the policy does not fit its game; restore a backup")
    if rows.identity != identity:
        raise FileError(f"{path}: this version cannot reproduce its buckets; train again")
    return HoldemBlueprint(game, rows, nodes, shares, card)


def bucket_rows_of(game: Holdem, counts: tuple[int, ...], method: str, recall: bool) -> CardRows:
    """A card abstraction as table rows: per bucket, per bucket sequence with ``recall``, or per hand if ``counts`` is empty.

    Raises:
        SpecError: invalid counts or method.
    """
    if not counts:
        return CanonicalRows.of_format(game.rules.format)
    return BucketRows(buckets_of(bucket_plan(counts, method, recall), game.rules.format), recall)


def row_counts_of(game: Holdem, counts: tuple[int, ...], method: str, recall: bool) -> tuple[int, ...]:
    """The number of rows on each street in :func:`bucket_rows_of`, computed without building the buckets.

    Raises:
        SpecError: as in :func:`bucket_rows_of`.
    """
    if not counts:
        return CanonicalRows.of_format(game.rules.format).counts
    return bucket_counts(bucket_plan(counts, method, recall).counts, recall)


def bucket_plan(counts: tuple[int, ...], method: str, recall: bool) -> BucketPlan:
    """The bucket plan with these settings.

    Raises:
        SpecError: invalid counts or method.
    """
    if len(counts) != 4:
        raise SpecError(f"buckets has {len(counts)} numbers; give four, one for each street, such as 169,50,50,50")
    one, two, three, four = counts
    return BucketPlan((one, two, three, four), method, nested=recall)


def in_proportion(shares: NDArray[np.uint8]) -> Floats:
    """Normalise action weights [A, ...] to probabilities; uniform where all weights are 0."""
    weights = shares.astype(np.float64)
    total = weights.sum(axis=0)
    return np.asarray(np.divide(weights, total, out=np.full(weights.shape, 1.0 / len(weights)), where=total > 0))


@lru_cache(maxsize=256)
def bucket_rows(rows: CardRows, board: tuple[int, ...]) -> NDArray[np.int64]:
    """The rows of :meth:`CardRows.at`, cached."""
    return rows.at(board)


def shares_of(average: NDArray[np.float32], nodes: Nodes, counts: tuple[int, ...]) -> NDArray[np.uint8]:
    """Accumulated policies as probabilities rounded to multiples of 1 / :data:`STEPS`, in the same layout."""
    stored = np.zeros(len(average), np.uint8)
    for node in range(len(nodes.player)):
        count = int(nodes.actions[node])
        entries = slice(int(nodes.rows[node]), int(nodes.rows[node]) + counts[nodes.street[node]] * count)
        sums = average[entries].reshape(-1, count)
        total = sums.sum(axis=1, keepdims=True)
        shares = np.divide(sums, total, out=np.zeros_like(sums), where=total > 0)
        stored[entries] = np.rint(shares * STEPS).astype(np.uint8).ravel()
    return stored


@lru_cache(maxsize=4096)
def decision_after(blueprint: HoldemBlueprint, line: str) -> int:
    """The decision after a line of actions (``f``, ``c`` and ``r300``), with streets separated by ``/``."""
    if not line:
        return 0
    before, word = LINE.fullmatch(line).groups()  # type: ignore[union-attr]
    node = decision_after(blueprint, before)
    if word == "/":
        return node
    label, labels = int(word[1:]) if word[0] == "r" else "fc".index(word), blueprint.labels(node)
    if label not in labels:
        raise GameError(f"the blueprint of {blueprint.game} has no action {word} after {before!r}")
    return blueprint.after(node, labels.index(label))


def normalised_shares(blueprint: HoldemBlueprint) -> NDArray[np.float32]:
    """The blueprint's stored shares as probabilities; uniform where nothing was learned."""
    probabilities, nodes, counts = blueprint.shares.astype(np.float32), blueprint.nodes, blueprint.rows.counts
    for node, count in enumerate(nodes.actions.tolist()):
        entries = slice(int(nodes.rows[node]), int(nodes.rows[node]) + counts[nodes.street[node]] * count)
        rows = probabilities[entries].reshape(-1, count)
        total = rows.sum(axis=1, keepdims=True)
        rows[:] = np.divide(rows, total, out=np.full_like(rows, 1.0 / count), where=total > 0)
    return probabilities


def game_of_blueprint(path: str | os.PathLike[str]) -> str:
    """The game of a blueprint, read from its file or folder.

    Raises:
        FileError: the file is not a blueprint.
    """
    path = Path(path)
    with TensorFile(path / BLUEPRINT if path.is_dir() else path, FORMAT, VERSION) as file:
        return file.about.get("game", "holdem")


def is_holdem_blueprint(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a hold'em blueprint file or a folder that contains one."""
    try:
        game_of_blueprint(path)
        return True
    except FileError:
        return False
