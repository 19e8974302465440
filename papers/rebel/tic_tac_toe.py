"""ReBeL with perfect information: training reaches perfect play of tic-tac-toe, like AlphaZero's."""

from collections.abc import Hashable, Mapping
from dataclasses import replace
from time import process_time

import numpy as np
from numpy.typing import NDArray

from papers.common.results import Result, Table
from papers.common.study import study
from treeplex.games import Decision, PublicTree, Terminal
from treeplex.games.public import PublicState
from treeplex.learn import RebelSettings, RebelTrainer
from treeplex.learn.common.device import torch_module
from treeplex.search import METHODS, Horizon, LeafValue, cut_states, public_tree
from treeplex.search.warm_start.begin import begin_search

Boards = Mapping[Hashable, Hashable]
Policies = Mapping[Hashable, NDArray[np.float64]]
SETTINGS = RebelSettings(iterations=8, depth=1, episodes=256, exploration=1.0, solves=128_000, reuse=32.0)
SEEDS, ITERATIONS, DEPTH, BATCH = 2, 32, 2, 128


def boards_of(rules: PublicTree) -> Boards:
    """A node for each non-terminal board, by the state that determines its future."""
    found: dict[Hashable, Hashable] = {rules.future(rules.root): rules.root}
    stack = [rules.root]
    while stack:
        node = stack.pop()
        visited = rules.visit(node)
        assert isinstance(visited, Decision)
        for child in (rules.child(node, action) for action in visited.actions):
            if rules.future(child) not in found and not isinstance(rules.visit(child), Terminal):
                found[rules.future(child)] = child
                stack.append(child)
    return found


def searched(rules: PublicTree, leaf: LeafValue, boards: Boards, iterations: int = ITERATIONS, depth: int = DEPTH) -> Policies:
    """The search's average policy on each board, float64 [actions]."""
    names, alone = list(boards), np.ones((1, 1))
    found = {}
    for start in range(0, len(names), BATCH):
        part = names[start : start + BATCH]
        subgames = cut_states(rules, [PublicState(boards[name], alone) for name in part], Horizon(depth))
        ranges = np.ones((len(part), 1)), np.ones((len(part), 1))
        search = begin_search(subgames, METHODS[SETTINGS.method], leaf, ranges, iterations)
        search.run(iterations - search.iteration)
        average = search.average_policy()
        for name, row in zip(part, subgames.first_decision, strict=True):
            found[name] = search.policy_at(int(row), average)[:, 0]
    return found


def greedy(policies: Policies) -> Policies:
    """The most likely action on each board."""
    return {name: np.eye(len(row))[row.argmax()] for name, row in policies.items()}


class Exact:
    """Values of boards for crosses, by exhaustive search.

    Attributes:
        rules: of a game of perfect information.
        policies: of one player, or None for perfect play of both.
        player: the player who follows them; the other plays a best response.
    """

    def __init__(self, rules: PublicTree, policies: Policies | None = None, player: int = -1) -> None:
        self.rules, self.policies, self.player = rules, policies, player
        self._values: dict[Hashable, float] = {}

    def value(self, node: Hashable) -> float:
        """Payoff for crosses."""
        name = self.rules.future(node)
        if name not in self._values:
            self._values[name] = self._found(node, name)
        return self._values[name]

    def after(self, node: Hashable) -> NDArray[np.float64]:
        """Payoff for crosses after each action."""
        visited = self.rules.visit(node)
        assert isinstance(visited, Decision)
        return np.array([self.value(self.rules.child(node, action)) for action in visited.actions])

    def _found(self, node: Hashable, name: Hashable) -> float:
        visited = self.rules.visit(node)
        if isinstance(visited, Terminal):
            return float(visited.scale * visited.matrix[0, 0])
        assert isinstance(visited, Decision)
        values = self.after(node)
        if visited.player == self.player and self.policies is not None:
            return float(self.policies[name] @ values)
        return float(values.min() if visited.player else values.max())


def exploitability(rules: PublicTree, policies: Policies) -> float:
    """Mean best-response payoff over both seats; 0 for perfect play, as the game is a draw."""
    as_crosses, as_noughts = (Exact(rules, policies, player).value(rules.root) for player in (0, 1))
    return (as_noughts - as_crosses) / 2


def mistakes(rules: PublicTree, boards: Boards, policies: Policies) -> int:
    """Boards on which the most likely action is worse than perfect play."""
    perfect, count = Exact(rules), 0
    for name, node in boards.items():
        visited = rules.visit(node)
        assert isinstance(visited, Decision)
        values = perfect.after(node) * (-1.0 if visited.player else 1.0)
        count += bool(values[policies[name].argmax()] < values.max())
    return count


def trained(rules: PublicTree, settings: RebelSettings) -> tuple[RebelTrainer, float]:
    """A finished training run and its CPU time."""
    trainer, began = RebelTrainer(rules, settings), process_time()
    while not trainer.finished:
        trainer.round()
    return trainer, process_time() - began


def judged(rules: PublicTree, boards: Boards, leaf: LeafValue) -> dict[str, float]:
    """Exploitability of the average policy and of its most likely actions, and mistakes of the latter."""
    average = searched(rules, leaf, boards)
    return {
        "exploitability": exploitability(rules, average),
        "greedy_exploitability": exploitability(rules, greedy(average)),
        "mistakes": mistakes(rules, boards, average),
    }


@study(title="ReBeL on tic-tac-toe: perfect information", place=10, minutes=6, needs=("torch",))
def reproduce() -> Result:
    torch_module().set_num_threads(1)
    rules = public_tree("tic_tac_toe")
    boards = boards_of(rules)
    numbers: dict[str, dict[str, float]] = {"fresh": judged(rules, boards, RebelTrainer(rules, SETTINGS).leaf)}
    for seed in range(SEEDS):
        trainer, seconds = trained(rules, replace(SETTINGS, seed=seed))
        numbers[f"seed {seed}"] = judged(rules, boards, trainer.leaf) | {"seconds": seconds}
        print(numbers, flush=True)
    rows = [
        [
            f"trained, {name}" if "seconds" in each else "before training",
            f"{each['greedy_exploitability']:.3f}",
            f"{each['exploitability']:.4f}",
            f"{each['mistakes']:,}",
            f"{each['seconds']:.0f}" if "seconds" in each else "",
        ]
        for name, each in numbers.items()
    ]
    perfect = sum(each["greedy_exploitability"] == 0.0 for name, each in numbers.items() if name != "fresh")
    columns = ["", "most played action", "average policy", f"mistakes on {len(boards):,} boards", "CPU seconds"]
    return Result(
        source="Brown, Bakhtin, Lerer and Gong 2020, ReBeL (arXiv 2007.13544), section 1: in perfect-information games "
        "ReBeL reduces to an algorithm similar to AlphaZero; the paper shows no such game",
        findings=[f"{perfect} of {SEEDS} trainings play perfectly: their most played actions have exploitability 0."],
        tables=[Table("Exploitability in points per game, and mistakes", columns, rows)],
        notes=[
            f"{SETTINGS.solves:,} subgames of depth {SETTINGS.depth}, {SETTINGS.iterations} iterations each, "
            f"{SETTINGS.episodes} parallel episodes, exploration {SETTINGS.exploration:g}, each row seen "
            f"{SETTINGS.reuse:g} times, and the recipe's other settings.",
            f"Every board is searched separately, {DEPTH} moves deep with {ITERATIONS} iterations. The agent plays a "
            "random iteration's policy. Both its average policy and its most likely actions are evaluated.",
            "Exploitability is exact: a best response searches the whole game. The game is a draw, so a player with "
            "exploitability 0 never loses.",
            "A mistake is a most likely action that loses against perfect play, on any board, including boards that this "
            "player never reaches.",
        ],
        numbers=numbers,
    )
