"""All kinds of methods on a subgame of Kuhn poker, both orders of updates, against their definitions written out in NumPy.

The subgame ends after two actions; its one leaf is where player 0 passed and player 1 bet, and player 0 calls or folds.
"""

from collections.abc import Callable

import numpy as np
import pytest

from treeplex.base.arrays import Floats
from treeplex.forms.sources.load import public_tree
from treeplex.search import METHODS, Belief, SubgameSearch, cut
from treeplex.search.subgames.horizon import Horizon
from treeplex.search.subgames.subgame import Places, Ranges

CARDS = np.arange(3)
DEALT = (CARDS[:, None] != CARDS).astype(float)
"""How likely pairs of cards are, up to a factor: player 0's a row, player 1's a column."""
BETTER = np.sign(CARDS[:, None] - CARDS)
"""1 where player 0 has the higher card."""


def leaf_values(believed: Ranges, reached: Ranges) -> Ranges:
    """Reach-weighted values of player 0's best answer to what is believed, against what is reached: [3] for each player."""
    call, fold = 2.0 * (DEALT * BETTER) @ believed[1], -DEALT @ believed[1]
    calls = (call > fold).astype(float)[:, None]
    payoff = DEALT * (calls * 2.0 * BETTER - (1.0 - calls))
    return payoff @ reached[1], -payoff.T @ reached[0]


class Answer:
    """Values of hands, for a search."""

    def __call__(self, places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        found = leaf_values((believed[0][0], believed[1][0]), (reached[0][0], reached[1][0]))
        masses = DEALT @ reached[1][0], DEALT.T @ reached[0][0]
        first, second = (np.divide(v, m, out=np.zeros(3), where=m > 0)[None] for v, m in zip(found, masses, strict=True))
        return first, second


def matched(regrets: Floats) -> Floats:
    """Regret matching, [actions, cards]."""
    kept = np.maximum(regrets, 0.0)
    total = kept.sum(axis=0)
    return np.where(total > 0, kept / np.where(total > 0, total, 1.0), 0.5)


class Plain:
    """Linear CFR of the subgame: player 0 passes or bets; player 1 passes or bets after a pass, folds or calls after a bet."""

    def __init__(self, leaves: str, alternating: bool) -> None:
        self.leaves, self.alternating = leaves, alternating
        self.regrets: list[list[Floats]] = [[np.zeros((2, 3))], [np.zeros((2, 3)), np.zeros((2, 3))]]
        self.own: list[list[Floats]] = [[], []]  # how likely the player's own actions lead to the leaf: in each iteration
        self.faced: list[list[Floats]] = [[], []]  # the same of what the other player faced
        self.last = [np.zeros(3), np.zeros(3)]
        self.played: list[Floats] = []  # player 0's policies

    def strategies(self) -> list[list[Floats]]:
        return [[matched(table) for table in own] for own in self.regrets]

    def iterate(self, t: int) -> None:
        begun = self.strategies()
        self.played.append(begun[0][0])
        for player in (0, 1):
            now = self.strategies() if self.alternating else begun
            to_leaf = now[0][0][0], now[1][0][1]  # pass, bet
            self.own[player].append(to_leaf[player])
            self.faced[1 - player].append(to_leaf[1 - player])
            thought = self.thought(player)
            values = values_of_actions(player, now, self.leaf(player, t, thought, to_leaf))
            for table, policy, each in zip(self.regrets[player], now[player], values, strict=True):
                table += t * (each - (policy * each).sum(axis=0))

    def thought(self, player: int) -> Ranges:
        """Linear averages of the player's own play and of what it faced."""
        of = [(self.own if each == player else self.faced)[each] for each in (0, 1)]
        weights = np.arange(1, len(of[0]) + 1)
        first, second = (weights @ np.array(played) / weights.sum() for played in of)
        return first, second

    def leaf(self, player: int, t: int, thought: Ranges, to_leaf: Ranges) -> Floats:
        """What the leaf counts for a player in iteration t."""
        if self.leaves == "current":
            return leaf_values(to_leaf, to_leaf)[player]
        if self.leaves == "average":
            return leaf_values(thought, to_leaf)[player]
        total = t * (t + 1) / 2 * leaf_values(thought, thought)[player]
        counted, self.last[player] = (total - self.last[player]) / t, total
        return counted


def values_of_actions(player: int, now: list[list[Floats]], leaf: Floats) -> list[Floats]:
    """Counterfactual values of actions at a player's decisions, whose policies all are given."""
    (first,), (after_pass, after_bet) = now
    if player == 0:
        checked = (DEALT * BETTER) @ after_pass[0] + leaf
        return [np.stack((checked, DEALT @ after_bet[0] + 2.0 * (DEALT * BETTER) @ after_bet[1]))]
    return [
        np.stack((-(DEALT * BETTER).T @ first[0], leaf)),
        np.stack((-DEALT.T @ first[1], -2.0 * (DEALT * BETTER).T @ first[1])),
    ]


@pytest.mark.parametrize("method", [name for name in METHODS if name.startswith("lcfr")])
def test_a_plain_loop_does_the_same(method: str) -> None:
    rules = public_tree("kuhn_poker")
    root = Belief.root(rules)
    subgames = cut(rules, [root], Horizon(2))
    assert list(subgames.leaves.paths) == [(0, 1)]
    search = SubgameSearch(subgames, METHODS[method], Answer(), (root.ranges[0][None], root.ranges[1][None]))
    plain = Plain(METHODS[method].leaves, METHODS[method].updates == "alternating")
    for t in range(1, 41):
        search.run(1), plain.iterate(t)
        tables = [*plain.strategies()[0], *plain.strategies()[1]]
        for number, path in enumerate([(), (0,), (1,)]):
            assert subgames.decisions.paths[number] == path
            assert search.policy_at(number, search.policy) == pytest.approx(tables[number], abs=1e-9)
    mean = np.einsum("t,tah->ah", np.arange(1.0, 41.0), np.array(plain.played)) / np.arange(1, 41).sum()
    assert search.policy_at(0, search.average_policy()) == pytest.approx(mean, abs=1e-9)


@pytest.mark.parametrize("method", ["cfr-avg", "lcfr-avg", "lcfr-avg-simultaneous"])
def test_beliefs_after_a_warm_up_are_of_what_follows_it(method: str) -> None:
    """In the first iteration after it, both players' averages are their current play."""
    heard: list[tuple[Ranges, Ranges]] = []

    def leaf(places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        heard.append((believed, reached))
        return Answer()(places, believed, reached, player)

    subgames = cut(public_tree("kuhn_poker"), [Belief.root(public_tree("kuhn_poker"))], Horizon(2))
    search = SubgameSearch(subgames, METHODS[method], leaf)
    search.run(5)
    search.forget_average()
    heard.clear()
    search.run(1)
    for believed, reached in heard:
        for mean, now in zip(believed, reached, strict=True):
            assert mean / mean.sum() == pytest.approx(now / now.sum())


STEPS: dict[str, Callable[[int], tuple[float, float]]] = {
    "fp": lambda t: (1.0 / (t + 1.0), 0.0),
    "linear-fp": lambda t: ((t + 1.0) / (2.0 + t * (t + 3.0) / 2.0), 0.0),
    "flop": lambda t: (t / (1.0 + t * (t + 1.0) / 2.0), 2.0 / (t + 2.0)),
}
"""How far the average moves to reply t, and the weight of the last reply in what others respond to."""


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("name", STEPS)
def test_replies_are_best_against_what_is_faced(name: str, together: bool) -> None:
    """Fictitious play: the leaf is valued for the averages; of best replies that tie the search's counts."""
    ranges = np.array([0.5, 0.29, 0.21]), np.array([0.19, 0.44, 0.37])
    subgames = cut(public_tree("kuhn_poker"), [Belief.root(public_tree("kuhn_poker"))], Horizon(2))
    method = METHODS[f"{name}-simultaneous" if together else name]
    search = SubgameSearch(subgames, method, Answer(), (ranges[0][None], ranges[1][None]))
    averages = [[np.full((2, 3), 0.5)], [np.full((2, 3), 0.5), np.full((2, 3), 0.5)]]
    replies = [list(own) for own in averages]
    for t in range(1, 41):
        (step, share), begun = STEPS[name](t), ([*averages], [*replies])
        search.run(1)
        first, after_pass, after_bet = (search.policy_at(number, search.policy) for number in range(3))
        for player in (0, 1):
            old, last = begun if together else (averages, replies)
            moved = [0.0 if each == player else share for each in (0, 1)]  # towards the last reply
            now = [
                [own * ((1.0 - shift) * mean + shift * reply) for mean, reply in zip(means, latest, strict=True)]
                for own, shift, means, latest in zip(ranges, moved, old, last, strict=True)
            ]
            believed = now[0][0][0], now[1][0][1]
            values = values_of_actions(player, now, leaf_values(believed, believed)[player])
            replies[player] = [first] if player == 0 else [after_pass, after_bet]
            for reply, each in zip(replies[player], values, strict=True):
                assert (reply * each).sum(axis=0) == pytest.approx(each.max(axis=0), abs=1e-12)
            means = zip(averages[player], replies[player], strict=True)
            averages[player] = [mean + step * (reply - mean) for mean, reply in means]
        for number, table in enumerate([*averages[0], *averages[1]]):
            assert search.policy_at(number, search.average_policy()) == pytest.approx(table, abs=1e-9)


def test_orders_differ() -> None:
    """So do the forms of leaf values; the test above tells all of them apart."""
    found = []
    for leaves in ("current", "average", "modified"):
        for alternating in (False, True):
            plain = Plain(leaves, alternating)
            for t in range(1, 41):
                plain.iterate(t)
            found.append(np.array(plain.played))
    for k, one in enumerate(found):
        assert all(np.abs(one - other).max() > 1e-3 for other in found[:k])
