"""ReBeL's Figures 1b and 3 and theorem 2 in numbers: one-ply search, values as supergradients, and errors by number of
iterations T."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from papers.common.drawing import dress, line_style, panels, plain_labels, save
from papers.common.results import Picture, Result, Table, published, short
from papers.common.study import study
from treeplex.base.arrays import Floats
from treeplex.games import MatrixGame, PublicTree
from treeplex.games.builtin.matrix import MatrixPublicTree
from treeplex.run.plots import GREY
from treeplex.search import METHODS, Belief, ExactLeaf, Horizon, LeafValue, NoLeaf, SubgameSearch, cut_states, public_tree
from treeplex.search.subgames.batch import PairPlaces
from treeplex.search.subgames.beliefs import with_trace
from treeplex.search.subgames.subgame import Ranges

RPS = "modified_rps"
EQUILIBRIUM = np.array([0.4, 0.4, 0.2])
COIN = MatrixGame([[-1.0, 1.0], [1.0, -1.0]])
"""Payoffs: player 0 sees the coin, player 1 guesses and wins a point if right."""
CHANCES = np.linspace(0.0, 1.0, 41)
TOUCHED = 0.3
"""Belief of the supergradient in the figure."""
GAME, VALUE = "kuhn_poker", -1 / 18
NESTED = ((1, (4, 8, 16, 32)), (2, (4, 8, 16, 32, 64, 128, 256)))
"""Actions in a subgame, and T."""
LITERAL, EPISODES = 4, 3000
"""T and episodes of algorithm 1 as written."""


class AtEquilibrium:
    """Leaf values as in perfect-information games: those of an equilibrium, regardless of beliefs."""

    def __init__(self, payoffs: Floats) -> None:
        self.values = (payoffs @ EQUILIBRIUM)[None], -(EQUILIBRIUM @ payoffs @ EQUILIBRIUM)[None, None]

    def __call__(self, places: PairPlaces, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        return self.values


class NestedSearchLeaf:
    """Leaf values by a search of T iterations of the next subgame, whose leaves are valued in the same way.

    Theorem 2's idealised value approximator returns these values once every public belief state that searches can query has
    been visited: the latest sample of its value, and then all samples are equal.
    """

    def __init__(self, depth: int, iterations: int, method: str) -> None:
        self.depth, self.iterations, self.method = depth, iterations, method
        self.asked: list[tuple[PairPlaces, Ranges, Ranges]] = []

    def __call__(self, places: PairPlaces, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        below = NestedSearchLeaf(self.depth, self.iterations, self.method)
        subgames = cut_states(places.game, places.states, Horizon(self.depth))
        ranges = with_trace(believed[0]), with_trace(believed[1])
        search = SubgameSearch(subgames, METHODS[self.method], below, ranges, horizon=self.iterations)
        search.run(self.iterations)
        values = search.root_values()
        self.asked.append((places, ranges, values))
        return values


class Latest:
    """Theorem 2's approximator itself: the most recent sample of a public belief state's value, or 0 without one."""

    def __init__(self) -> None:
        self.samples: dict[Any, list[Floats]] = {}

    def __call__(self, places: PairPlaces, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        found = [np.zeros_like(own) for own in believed]
        for row, state in enumerate(places.states):
            for player_values, sample in zip(found, self.samples.get(key(state, believed, row), ()), strict=False):
                player_values[row] = sample
        return found[0], found[1]


def key(state: Any, ranges: Ranges, row: int) -> Any:
    """Key of a public belief state: its ranges without the last bits."""
    normal = [with_trace(own)[row] for own in ranges]
    return state.node, *(np.round(own / own.sum(), 12).tobytes() for own in normal)


def root_search(rules: PublicTree, leaf: LeafValue, depth: int, iterations: int, method: str) -> SubgameSearch:
    """A search from the beginning of the game."""
    root = Belief.root(rules)
    subgames = cut_states(rules, [root.state], Horizon(depth))
    search = SubgameSearch(subgames, METHODS[method], leaf, (root.ranges[0][None], root.ranges[1][None]), horizon=iterations)
    search.run(iterations)
    return search


def one_ply() -> dict[str, dict[str, Any]]:
    """Figure 1b: the first move of rock, paper, scissors by one-ply search, with two kinds of leaf values."""
    rules, found = public_tree(RPS), {}
    assert isinstance(rules, MatrixPublicTree)
    leaves = {"equilibrium values": AtEquilibrium(rules.game.payoffs[0]), "values of beliefs": ExactLeaf(iterations=30)}
    for name, leaf in leaves.items():
        search = root_search(rules, leaf, 1, 300, "lcfr")
        policy = search.policy_at(0, search.average_policy())[:, 0]
        average = policy[None], np.ones((1, 1))
        values = leaf(search.subgames.leaves, average, average)[0][0]
        loss = -float((policy @ rules.game.payoffs[0]).min())
        found[name] = {"values": values.tolist(), "policy": policy.tolist(), "loses": loss}
    return found


def coin() -> dict[str, list[list[float]]]:
    """Figure 3: for each probability of heads, the values of the informed player's two hands, and of the belief."""
    rules = MatrixPublicTree(COIN)
    beliefs = [Belief.root(rules).after(0, np.array([[chance], [1.0 - chance]])) for chance in CHANCES]
    ranges = tuple(np.stack([belief.ranges[player] for belief in beliefs]) for player in (0, 1))
    subgames = cut_states(rules, [belief.state for belief in beliefs])
    search = SubgameSearch(subgames, METHODS["dcfr"], NoLeaf(), (ranges[0], ranges[1]))
    search.run(4000)
    hands = search.root_values()[0]
    whole = (ranges[0] * hands).sum(axis=1) / ranges[0].sum(axis=1)
    return {"hands": hands.tolist(), "whole": [whole.tolist()]}


def above(found: dict[str, list[list[float]]]) -> float:
    """Largest excess of the value over a supergradient line, over all pairs of beliefs; at most 0 by theorem 1."""
    hands, whole = np.array(found["hands"]), np.array(found["whole"][0])
    points = np.stack((CHANCES, 1.0 - CHANCES), axis=1)
    lines = whole[:, None] + hands @ points.T - (hands * points).sum(axis=1)[:, None]
    return float((whole[None] - lines).max())


def errors(depth: int, iterations: int, method: str) -> dict[str, float]:
    """Errors of values from searches of T iterations: at the root, and the largest at leaves of its search."""
    rules = public_tree(GAME)
    leaf = NestedSearchLeaf(depth, iterations, method)
    search = root_search(rules, leaf, depth, iterations, method)
    exact, worst = ExactLeaf(iterations=1000), 0.0
    for places, ranges, values in leaf.asked[:: max(1, len(leaf.asked) // 32)]:
        right = exact(places, ranges, ranges)
        for player in (0, 1):
            mass = ranges[player] * places.opposing(ranges, player)
            met = mass.sum(axis=1) > 0
            gap = (mass * (values[player] - right[player])).sum(axis=1)[met] / mass.sum(axis=1)[met]
            worst = max(worst, float(np.abs(gap).max(initial=0.0)))
    return {"root": abs(float(search.mean_values()[0][0]) - VALUE), "leaves": worst}


def literal() -> dict[str, float]:
    """Algorithm 1 with the idealised approximator: its values after all episodes, compared with the fixed point."""
    rules, values, generator = public_tree(GAME), Latest(), np.random.default_rng(0)
    for _ in range(EPISODES):
        belief: Belief | None = Belief.root(rules)
        while belief is not None:
            belief = self_play(rules, belief, values, generator)
    nested = NestedSearchLeaf(1, LITERAL, "cfr")
    search = root_search(rules, nested, 1, LITERAL, "cfr")
    learned = root_search(rules, values, 1, LITERAL, "cfr")
    return {
        "states": len(values.samples),
        "gap": abs(float(search.mean_values()[0][0] - learned.mean_values()[0][0])),
        "policies": float(np.abs(search.average_policy() - learned.average_policy()).max()),
    }


def self_play(rules: PublicTree, belief: Belief, values: Latest, generator: np.random.Generator) -> Belief | None:
    """One iteration of algorithm 1's loop: the public belief state of the sampled leaf; None if the game ends."""
    subgames = cut_states(rules, [belief.state], Horizon(1))
    ranges = with_trace(belief.ranges[0][None]), with_trace(belief.ranges[1][None])
    search = SubgameSearch(subgames, METHODS["cfr"], values, ranges, horizon=LITERAL)
    search.run(drawn := int(generator.integers(LITERAL)))
    policy = search.policy_at(0, search.policy)
    search.run(LITERAL - drawn)
    values.samples[key(belief.state, ranges, 0)] = [own[0] for own in search.root_values()]
    actions = rules.options(belief.state)
    hand = belief.draw(generator)[actions.player]
    explores = generator.random() < 0.25
    number = int(generator.integers(len(policy))) if explores else int(generator.choice(len(policy), p=policy[:, hand]))
    following = belief.after(actions.labels[number], policy)
    return None if rules.options(following.state).player < 0 else following


def draw(coins: dict[str, list[list[float]]], falling: dict[str, list[list[float]]]) -> Picture:
    """Figure 3, and errors against T."""
    figure, axes = panels(1, 2, size=(10.4, 4.2))
    hands, whole = np.array(coins["hands"]), coins["whole"][0]
    axes[0].plot(CHANCES, 1.0 - 2.0 * CHANCES, label="guess heads", color=GREY, linestyle=":", linewidth=1.4)
    axes[0].plot(CHANCES, 2.0 * CHANCES - 1.0, label="guess tails", color=GREY, linestyle="--", linewidth=1.4)
    axes[0].plot(CHANCES, whole, label="value found by search", **line_style(0))
    here = int(np.abs(CHANCES - TOUCHED).argmin())
    line = whole[here] + (hands[here, 0] - hands[here, 1]) * (CHANCES - CHANCES[here])
    axes[0].plot(CHANCES, line, label=f"supergradient at {CHANCES[here]:g}", **line_style(1))
    dress(axes[0], "Figure 3: a coin that one player sees", logarithmic=False)
    axes[0].set(xscale="linear", xlabel="chance of heads", ylabel="value for the player who sees it", ylim=(-1.05, 1.05))
    axes[0].legend(frameon=False, fontsize=9, loc="upper center")
    for number, (name, rows) in enumerate(falling.items()):
        axes[1].plot([row[0] for row in rows], [row[2] for row in rows], label=name, marker="o", **line_style(number))
    longest = max(falling.values(), key=len)
    bound = [longest[0][2] * (longest[0][0] / row[0]) ** 0.5 for row in longest]
    axes[1].plot([row[0] for row in longest], bound, label="slope of the bound", color=GREY, linewidth=1.2)
    dress(axes[1], "Theorem 2: largest error at a leaf, Kuhn poker")
    plain_labels(axes[1])
    axes[1].set(xlabel="T", ylabel="chips")
    axes[1].legend(frameon=False, fontsize=9)
    return save(
        figure,
        "rebel-theory.png",
        "The value of a coin game against the chance of heads, with the two guesses and a supergradient as lines; and errors "
        "of values against iterations of search, falling at least as the square root",
    )


def falling_table(falling: dict[str, list[list[float]]]) -> Table:
    """Errors against T, and times the root of T."""
    rows = [
        [name, f"{row[0]:g}", *(f"{value:.4f}" for value in row[1:]), f"{row[2] * row[0] ** 0.5:.3f}"]
        for name, found in falling.items()
        for row in found
    ]
    columns = ["subgames", "T", "error at the root", "largest at a leaf", "that times the root of T"]
    return Table("Theorem 2: errors of values on Kuhn poker, chips, plain CFR in every subgame", columns, rows)


def rounded(values: Sequence[float]) -> str:
    """Three numbers in a cell."""
    return ", ".join(f"{value + 0.0:.2f}" for value in values)


@study(title="ReBeL, Figures 1 and 3, theorems 1 and 2", place=11, minutes=2)
def reproduce() -> Result:
    moves, coins, learned = one_ply(), coin(), literal()
    falling = {
        f"{depth} action{'s' if depth > 1 else ''}": [
            [float(count), found["root"], found["leaves"]] for count in counts for found in (errors(depth, count, "cfr"),)
        ]
        for depth, counts in NESTED
    }
    scaled = [row[2] * row[0] ** 0.5 for rows in falling.values() for row in rows]
    plain, right = moves["equilibrium values"], moves["values of beliefs"]
    return Result(
        source=f"{published('rebel')['source']}; figures 1 and 3, theorems 1 and 2",
        findings=[
            "Figure 1b: one-ply search with an equilibrium's values at the leaves sees no difference between them, "
            f"plays {rounded(plain['policy'])}, and a best response wins {plain['loses']:.2f}. With values of public "
            f"belief states it plays {rounded(right['policy'])} and loses {right['loses']:.3f}.",
            f"Figure 3, theorem 1: over all pairs of {len(CHANCES)} beliefs, the value exceeds the linear bound from "
            f"another belief's hand values by at most {short(above(coins))}.",
            f"Theorem 2: the largest error at a leaf times the root of T lies between {min(scaled):.3f} and {max(scaled):.3f} "
            "chips, so it falls at least as fast as the theorem says.",
            f"Algorithm 1 as written, T = {LITERAL}, with the approximator that returns the latest sample and 0 "
            f"otherwise: after {EPISODES:,} episodes it has seen {learned['states']:g} public belief states, and "
            f"search from the root finds the value of the fixed point. They differ by {short(learned['gap'])}.",
        ],
        tables=[
            Table(
                "Figure 1b: the first move of modified rock, paper, scissors by one-ply search",
                ["leaf values", "of rock, paper, scissors", "policy", "a best response wins"],
                [[name, rounded(own["values"]), rounded(own["policy"]), f"{own['loses']:.3f}"] for name, own in moves.items()],
            ),
            falling_table(falling),
        ],
        pictures=[draw(coins, falling)],
        notes=[
            "Theorem 2's approximator returns the most recent sample of a public belief state's value, and 0 where "
            "there is none. Once all queries have been sampled, it equals nested searches, each with T iterations "
            "and leaves valued by the next. The table shows those. An iteration updates both players.",
            "The error at a leaf is that of the public belief state's value, the mean over its player's hands, at up "
            "to 32 iterations of the root's search. Reference values are from 1,000 iterations of DCFR to the end of "
            "the game.",
        ],
        numbers={"one_ply": moves, "coin": coins, "falling": falling, "literal": learned},
    )
