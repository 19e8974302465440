"""Exact values of public belief states by linear programming, straight from public-tree rules.

Nothing here shares code with the search but the rules and the weights of a public state: the sequence form is built anew, by
walking the rules, and HiGHS solves it.
"""

from collections.abc import Mapping

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, hstack

from treeplex.games.public import Chance, PublicState, PublicTree, Terminal

Path = tuple[int, ...]


class PublicProgram:
    """The sequence form of what follows a public state, for any ranges; sequence h of a player is to hold hand h there.

    Attributes:
        weight: float64 [H0, H1], how likely chance makes each pair of hands.
        payoff: what player 0 gets for each pair of sequences, weighted by chance.
        infosets: for each player pairs of a sequence and those that follow it at one decision.
        decisions: by the path from the public state: who acts and the sequences, int64 [A, H], of each hand.
    """

    def __init__(self, rules: PublicTree, state: PublicState) -> None:
        self.rules, self.weight = rules, state.weight
        self.sizes = list(state.weight.shape)
        self.infosets: tuple[list[tuple[int, np.ndarray]], ...] = ([], [])
        self.decisions: dict[Path, tuple[int, np.ndarray]] = {}
        self._entries: list[np.ndarray] = []
        self._walk(state.node, state.weight, [np.arange(size) for size in state.weight.shape], ())
        rows, columns, values = np.concatenate(self._entries, axis=1)
        self.payoff = csr_array((values, (rows.astype(int), columns.astype(int))), shape=tuple(self.sizes))

    def _walk(self, node: object, weight: np.ndarray, last: list[np.ndarray], path: Path) -> None:
        """Add what follows a node; ``last`` has each hand's last sequence, for each player."""
        visited = self.rules.visit(node)
        if isinstance(visited, Terminal):
            first, second = np.nonzero(weight)
            paid = (weight * visited.scale * visited.matrix)[first, second]
            self._entries.append(np.stack((last[0][first], last[1][second], paid)))
        elif isinstance(visited, Chance):
            for label, chance in visited.outcomes:
                self._walk(self.rules.child(node, label), weight * chance, last, (*path, label))
        else:
            player, actions, hands = visited.player, len(visited.actions), len(last[visited.player])
            made = self.sizes[player] + np.arange(actions * hands).reshape(actions, hands)
            self.sizes[player] += made.size
            self.infosets[player].extend((int(last[player][hand]), made[:, hand]) for hand in range(hands))
            self.decisions[path] = player, made
            if visited.private:
                after = made.T.ravel()
                self._down(node, visited.actions[0], np.repeat(weight, actions, axis=player), last, player, after, path)
                return
            for action, after in zip(visited.actions, made, strict=True):
                self._down(node, action, weight, last, player, after, path)

    def _down(
        self, node: object, action: int, weight: np.ndarray, last: list[np.ndarray], player: int, after: np.ndarray, path: Path
    ) -> None:
        """Walk on behind an action."""
        below = [after if each == player else own for each, own in enumerate(last)]
        self._walk(self.rules.child(node, action), weight, below, (*path, action))

    def value(
        self, ranges: tuple[np.ndarray, np.ndarray], player: int = 0, fixed: Mapping[Path, np.ndarray] | None = None
    ) -> float:
        """What a player can make sure of, on average over pairs of hands.

        Args:
            ranges: for each player float64 [H_i], up to a factor.
            player: whose value.
            fixed: float64 [A, H], how it plays at the decisions at the end of some paths; elsewhere it plays as is best.
        """
        total = ranges[1 - player] @ self.against(ranges, player, fixed)
        return float(total / (ranges[0] @ self.weight @ ranges[1]))

    def against(
        self, ranges: tuple[np.ndarray, np.ndarray], player: int, fixed: Mapping[Path, np.ndarray] | None = None
    ) -> np.ndarray:
        """What such a player gets from each hand of the other, which answers best, float64 [H], summed over its own range."""
        other, own, equal = 1 - player, self.sizes[player], []
        for sequence, after in self.infosets[player]:
            equal.append({sequence: -1.0} | dict.fromkeys(after.tolist(), 1.0))
        parents = {q: sequence for sequence, after in self.infosets[player] for q in after.tolist()}
        for path, policy in (fixed or {}).items():
            acts, made = self.decisions[path]
            if acts == player:
                shares = policy[:, : made.shape[1]].ravel().tolist()
                equal += [{q: 1.0, parents[q]: -share} for q, share in zip(made.ravel().tolist(), shares, strict=True)]
        # A sequence of the other is worth its payoffs and the values of the infosets behind it; no infoset is worth more than
        # any sequence that leaves it.
        count, begun = len(self.infosets[other]), len(ranges[other])
        behind, into = np.zeros((2, self.sizes[other], count))
        for number, (sequence, after) in enumerate(self.infosets[other]):
            behind[sequence, number] = 1.0
            into[after, number] = 1.0
        payoff = self.payoff.T if player == 0 else -self.payoff
        worth = hstack([payoff, csr_array(behind)], format="csr")
        chosen = hstack([csr_array((self.sizes[other], own)), csr_array(into)], format="csr")
        held = [(float(share), float(share)) for share in ranges[player]]
        result = linprog(
            -(ranges[other] @ worth[:begun]),
            A_ub=(chosen - worth)[begun:],
            b_ub=np.zeros(self.sizes[other] - begun),
            A_eq=rows_of(equal, own + count) if equal else None,
            b_eq=np.zeros(len(equal)) if equal else None,
            bounds=held + [(0.0, None)] * (own - len(held)) + [(None, None)] * count,
            method="highs",
        )
        assert result.status == 0, result.message
        return np.asarray(worth[:begun] @ result.x)


def rows_of(rows: list[dict[int, float]], columns: int) -> csr_array:
    """A sparse matrix from its rows."""
    numbers = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    places = np.concatenate([list(row) for row in rows])
    return csr_array((np.concatenate([list(row.values()) for row in rows]), (numbers, places)), shape=(len(rows), columns))
