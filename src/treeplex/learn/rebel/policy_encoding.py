"""Encoding of policies at public belief states as training rows."""

from collections.abc import Hashable
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Bytes, Ints, Singles
from treeplex.errors import GameError
from treeplex.games.public import Chance, Decision, PublicState, PublicTree
from treeplex.learn.common.encoding import MOST_SEEN, Encoding
from treeplex.search.subgame_search import SubgameSearch
from treeplex.search.subgames.batch import Subgames

MOST_FUTURES = 200_000
STEPS = 255
"""Number of steps between probabilities 0 and 1 in a stored row."""


class PolicyRows(NamedTuple):
    """Policies at public belief states, as training rows.

    Attributes:
        inputs: float32 [K, inputs], as for a value network.
        targets: uint8 [K, H, A], probabilities in steps of 1/255; all 0 for hands without a target.
        legal: bool [K, A].
    """

    inputs: Singles
    targets: Bytes
    legal: NDArray[np.bool_]

    @classmethod
    def of(cls, inputs: Singles, targets: Bytes, legal: NDArray[np.bool_]) -> "PolicyRows":
        """Create rows, omitting rows in which no hand has a target."""
        with_targets = targets.any(axis=(1, 2))
        return cls(inputs[with_targets], targets[with_targets], legal[with_targets])


def no_policies(inputs: int, hands: int, actions: int) -> PolicyRows:
    """An empty batch for the given numbers of inputs, hands and actions."""
    return PolicyRows(
        np.zeros((0, inputs), np.float32), np.zeros((0, hands, actions), np.uint8), np.zeros((0, actions), np.bool_)
    )


class PolicyEncoding:
    """Output layout of a policy network: one output for each hand of the acting player and each action of the game.

    Inputs are those of a value network. Columns are the game's action labels in order, the same at all decisions; columns of
    illegal actions are ignored.

    Attributes:
        encoding: encoding of the inputs.
        labels: the actions of the game.
        outputs: hands times actions.
    """

    def __init__(self, encoding: Encoding) -> None:
        """Create the layout from the game's actions.

        Raises:
            GameError: the game has no public tree, or it has too many public nodes to list all actions.
        """
        if not isinstance(encoding.game, PublicTree):
            raise GameError(f"a policy network needs public-tree rules, not a {type(encoding.game).__name__}")
        self.encoding, self.labels = encoding, action_labels(encoding.game)
        self.outputs = encoding.hands * len(self.labels)
        self._columns: WeakKeyDictionary[PublicTree, dict[PublicState, Ints]] = WeakKeyDictionary()

    def table(self, subgames: Subgames) -> Ints:
        """Sequence for each decision, hand and action, int64 [decisions, H, A]; -1 for illegal combinations.

        The subgames' rules may offer fewer actions, as a :class:`treeplex.search.action_subset.ActionAbstraction` does.
        """
        columns = [self._columns_at(subgames.game, state) for state in subgames.decisions.states]
        counts = np.array([len(decision_columns) for decision_columns in columns])
        infosets = subgames.infosets
        table = np.full((len(columns), self.encoding.hands, len(self.labels)), -1, np.int64)
        layout = subgames.tree.infoset_layout[infosets]
        for a in range(int(counts.max(initial=0))):
            rows = np.flatnonzero(counts > a)
            at = np.array([columns[row][a] for row in rows])
            sequences = np.where(infosets[rows] >= 0, layout[rows, :, 0] + a * layout[rows, :, 1], -1)
            table[rows, : infosets.shape[1], at] = sequences
        return table

    def rows(self, search: SubgameSearch) -> PolicyRows:
        """Training rows: the average policy at every decision of a search, with the beliefs that this policy leads to.

        Hands with zero reach under the average policy have no target, and decisions that no hand reaches are omitted.
        """
        subgames = search.subgames
        table, reached = self.table(subgames), subgames.decisions.reach_at(search.average)
        prepared = self.encoding.prepared(subgames.decisions)
        there = np.zeros(table.shape[:2], np.bool_)
        for player in (0, 1):
            acts = prepared.slots[player] == 0
            there[acts, : reached[player].shape[1]] = reached[player][acts] > 0
        probabilities = search.average_policy()[np.maximum(table, 0)]
        targets = np.where((table >= 0) & there[:, :, None], np.rint(probabilities * STEPS), 0).astype(np.uint8)
        return PolicyRows.of(prepared.write(reached), targets, np.asarray((table >= 0).any(axis=1)))

    def _columns_at(self, rules: PublicTree, state: PublicState) -> Ints:
        """Columns of the actions at a decision."""
        known = self._columns.setdefault(rules, {})
        if state not in known:
            if len(known) > MOST_SEEN:
                known.clear()
            visited = rules.visit(state.node)
            assert isinstance(visited, Decision)
            known[state] = np.searchsorted(self.labels, visited.actions)
        return known[state]


_labels: "WeakKeyDictionary[PublicTree, Ints]" = WeakKeyDictionary()


def action_labels(rules: PublicTree) -> Ints:
    """All actions of a game, in order.

    Raises:
        GameError: the game has too many public nodes with different futures.
    """
    if rules not in _labels:
        labels: set[int] = set()
        seen: set[Hashable] = {rules.future(rules.root)}
        stack = [rules.root]
        while stack:
            node = stack.pop()
            visited = rules.visit(node)
            if isinstance(visited, Decision):
                labels.update(visited.actions)
                below = list(visited.actions)
            else:
                below = [label for label, _ in visited.outcomes] if isinstance(visited, Chance) else []
            for child in (rules.child(node, label) for label in below):
                if (future := rules.future(child)) not in seen:
                    seen.add(future)
                    stack.append(child)
            if len(seen) > MOST_FUTURES:
                raise GameError(
                    f"more than {MOST_FUTURES:,} public nodes, too many to list the actions of a policy "
                    "network; set policy_net=false"
                )
        _labels[rules] = np.array(sorted(labels), np.int64)
    return _labels[rules]
