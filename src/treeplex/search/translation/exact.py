"""Exact action translation of a policy; see :mod:`treeplex.search.translation.mapping`."""

from collections.abc import Hashable

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.errors import GameError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.tabular import Policy, uniform_probabilities
from treeplex.forms.sources.load import public_tree
from treeplex.games.base import CHANCE, TERMINAL
from treeplex.games.public import PublicState, PublicTree, pair_state
from treeplex.search.subgames.policy_tables import sequences_at, table_at
from treeplex.search.translation.mapping import MAPPINGS, bets_at, check_hands, check_known, real_actions, translation_shares


class CoarseHistory:
    """A player's translated history: possible coarse states, and the probability of each for every hand.

    Attributes:
        states: public states of the coarse game.
        weights: for each state float64 [H], the probabilities.
    """

    def __init__(self, states: list[PublicState], weights: list[Floats]) -> None:
        self.states, self.weights = states, weights

    @classmethod
    def of(cls, pairs: "list[tuple[PublicState, Floats]]") -> "CoarseHistory":
        """Merge pairs at the same node, dropping impossible ones unless all are impossible."""
        merged: dict[Hashable, tuple[PublicState, Floats]] = {}
        for state, weight in pairs:
            known = merged.get(state.node)
            merged[state.node] = state, weight if known is None else known[1] + weight
        possible = [pair for pair in merged.values() if pair[1].any()] or list(merged.values())[:1]
        return cls([state for state, _ in possible], [weight for _, weight in possible])


class Translation:
    """Exact translation of a policy from a coarse game to the real game; see :func:`translated_policy`."""

    def __init__(self, real: PublicTree, coarse: PublicTree, policy: Policy, mapping: str) -> None:
        check_known("mapping", mapping, MAPPINGS)
        check_hands(real, coarse)
        self.real, self.coarse, self.policy, self.mapping = real, coarse, policy, mapping
        self._tables: dict[Hashable, Floats] = {}
        self._after: dict[tuple[Hashable, int], PublicState] = {}

    def after(self, state: PublicState, label: int) -> PublicState:
        """Return the coarse state after an action or a card, cached."""
        key = state.node, label
        if key not in self._after:
            self._after[key] = self.coarse.after(state, label)
        return self._after[key]

    def table(self, state: PublicState) -> Floats:
        """Return the coarse policy at a state, float64 [A, H]."""
        if state.node not in self._tables:
            self._tables[state.node] = table_at(self.policy, self.coarse, state)
        return self._tables[state.node]

    def dealt(self, history: CoarseHistory, label: int) -> CoarseHistory:
        """Return the histories after a card."""
        pairs = []
        for state, weight in zip(history.states, history.weights, strict=True):
            while (options := self.coarse.options(state)).player >= 0:
                state = self.after(state, options.labels[bets_at(self.coarse, state).kinds.index("pass")])
            pairs.append((state if options.player == TERMINAL else self.after(state, label), weight))
        return CoarseHistory.of(pairs)

    def observed(self, history: CoarseHistory, state: PublicState, action: int) -> CoarseHistory:
        """Return the histories after an action of the other player in the real game."""
        player, pairs = self.real.options(state).player, []
        for there, weight in zip(history.states, history.weights, strict=True):
            options = self.coarse.options(there)
            if options.player != player:
                pairs.append((there, weight))
                continue
            shares = translation_shares(bets_at(self.real, state), action, bets_at(self.coarse, there), self.mapping)
            coarse_shares = zip(options.labels, shares, strict=True)
            pairs += [(self.after(there, label), weight * share) for label, share in coarse_shares if share]
        return CoarseHistory.of(pairs)

    def played(self, history: CoarseHistory, state: PublicState) -> tuple[Floats, list[CoarseHistory]]:
        """Return the acting player's real-game policy, float64 [A, H], and the coarse histories after each action."""
        options, real = self.real.options(state), bets_at(self.real, state)
        chances = np.zeros((len(options.labels), len(history.weights[0])))
        even = np.zeros_like(chances)
        pairs: list[list[tuple[PublicState, Floats]]] = [[] for _ in options.labels]
        for there, weight in zip(history.states, history.weights, strict=True):
            inner = self.coarse.options(there)
            if inner.player != options.player:
                chances[real.kinds.index("pass")] += weight
                even[real.kinds.index("pass")] += 1.0
                for action, branch in enumerate(pairs):
                    branch.append((there, weight if real.kinds[action] == "pass" else np.zeros_like(weight)))
                continue
            coarse, table = bets_at(self.coarse, there), self.table(there)
            meant = real_actions(coarse, real)
            np.add.at(chances, meant, weight * table)
            np.add.at(even, meant, table)
            for action, branch in enumerate(pairs):
                for number, label in enumerate(inner.labels):
                    if meant[number] == action:
                        branch.append((self.after(there, label), weight * table[number]))
                if action not in meant:
                    likeliest = int(translation_shares(real, action, coarse, "likelier").argmax())
                    branch.append((self.after(there, inner.labels[likeliest]), np.zeros_like(weight)))
        total = chances.sum(axis=0)
        shares = np.where(total > 0, chances / np.where(total > 0, total, 1.0), even / even.sum(axis=0))
        return shares, [CoarseHistory.of(branch) for branch in pairs]


def translated_policy(
    game: CompiledGame, policy: Policy, coarse: PublicTree, *, mapping: str = "random", rules: PublicTree | None = None
) -> Policy:
    """Translate a coarse policy to the real game, taking the exact expectation over random translation.

    Args:
        game: the real game, compiled.
        policy: a policy of the coarse game.
        coarse: the public-tree rules of the coarse game, with the same hands and cards.
        mapping: how bets are translated, one of :data:`MAPPINGS`.
        rules: the public-tree rules of the real game; None for its own.

    Returns:
        The policy on the compiled real game.

    Raises:
        GameError: the game has no bets, or the games have different hands.
        PolicyError: the policy belongs to another game.
        SpecError: the mapping is unknown.
    """
    if rules is None:
        if game.rules is None:
            raise GameError(f"{game} was loaded without rules, which translation needs; give the game as a spec")
        rules = public_tree(game.rules)
    both, probabilities = Translation(rules, coarse, policy, mapping), uniform_probabilities(game)
    first = coarse.first_state()
    begun = tuple(CoarseHistory([first], [np.ones(size)]) for size in first.weight.shape)
    stack = [(rules.first_state(), begun)]
    while stack:
        state, histories = stack.pop()
        options = rules.options(state)
        if options.player == TERMINAL or not state.weight.any():
            continue
        if options.player == CHANCE:
            stack.extend(
                (pair_state(rules.after(state, label)), tuple(both.dealt(history, label) for history in histories))
                for label in options.labels
            )
            continue
        table, after = both.played(histories[options.player], state)
        for hand, sequences in sequences_at(game, rules, state).items():
            probabilities[sequences] = table[:, hand]
        for action, label in enumerate(options.labels):
            other = both.observed(histories[1 - options.player], state, action)
            branch = (after[action], other) if options.player == 0 else (other, after[action])
            stack.append((pair_state(rules.after(state, label)), branch))
    return Policy(game, probabilities)
