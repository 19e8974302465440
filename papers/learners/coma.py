"""COMA on tiny Hanabi: exact mean and variance of its gradient, and returns after training compared with independent A2C."""

from itertools import product

import numpy as np

import treeplex as tp
from papers.common.kept import code, kept
from papers.common.results import Result, Table
from papers.common.study import study
from papers.learners.estimators import ESTIMATORS, estimator_moments
from treeplex import CompiledGame, Policy, load
from treeplex.base.arrays import Floats
from treeplex.learn.common.device import one_thread
from treeplex.learn.neural.gradients.a2c import IndependentA2C
from treeplex.learn.neural.gradients.coma import Coma
from treeplex.learn.neural.gradients.team import TABLES, TeamLearner
from treeplex.search.evaluate.statistics import FEWEST_DEALS

SOURCE = "Foerster et al. 2018, Counterfactual multi-agent policy gradients (AAAI), on the game of Foerster et al. 2019, BAD"
GAME = "openspiel:tiny_hanabi"
SEEDS = {0.5: range(20), 0.1: range(10)}
"""Schedules by initial share of uniform play: the paper's, and a smaller one."""
LEARNERS: dict[str, type[TeamLearner]] = {"COMA": Coma, "independent A2C": IndependentA2C}
WORDS = {"reinforce": "REINFORCE", "value": "with a value baseline", "coma": "COMA"}


def drawn_policy(game: CompiledGame) -> Policy:
    """A softmax of standard normal logits."""
    logits = np.random.default_rng(0).normal(size=(len(game.infostates), 3))
    found = np.ones(len(game.action_ids))
    for infoset, row in enumerate(np.exp(logits)):
        found[game.sequences_at(infoset)] = row / row.sum()
    return Policy(game, found)


def best_return() -> float:
    """The maximum expected return, over all policies of the first player with best responses of the second."""
    root = load(GAME).new_initial_state()
    paid = np.empty((2, 2, 3, 3))
    for first, second, a, b in np.ndindex(*paid.shape):
        paid[first, second, a, b] = root.child(first).child(second).child(a).child(b).returns()[0]
    found = []
    for choice in product(range(3), repeat=2):  # of the first player, for each card
        seen = np.zeros((2, 3, 3))  # the second player's card, the move that it saw, its own
        for first, a in enumerate(choice):
            seen[:, a] += paid[first, :, a] / 4.0
        found.append(seen.max(axis=2).sum())
    return float(max(found))


def frozen_mean(policy: Policy) -> Floats:
    """The mean of COMA's estimate if the second player's move is held fixed, as in simultaneous games; float64 [Q]."""
    game, found = policy.game, np.zeros(len(policy.probabilities))
    root = load(GAME).new_initial_state()
    for first, second in product(range(2), repeat=2):
        dealt = root.child(first).child(second)
        infoset = game.lookup[0, dealt.information_state_string(0)]
        at = game.sequences_at(infoset)
        paid = np.array([[dealt.child(a).child(b).returns()[0] for b in range(3)] for a in range(3)])
        own = policy.probabilities[at]
        for a in range(3):
            answers = np.array([*policy.action_probabilities(dealt.child(a)).values()])
            advantage = float(answers @ (paid[a] - own @ paid))
            found[at] += 0.25 * own[a] * advantage * (np.eye(3)[a] - own)
    return found


def learned(name: str, share: float, seed: int) -> float:
    """The mean return after training."""

    def make() -> float:
        made = LEARNERS[name]
        settings = made.settings_class().changed({**TABLES["table"], "explore": share, "seed": seed})
        with one_thread():
            student = made(load(GAME), settings)
            for _ in range(settings.steps):
                student.step()
        return student.measure()["return"]

    module = LEARNERS[name].__module__
    key = {"study": "coma", "learner": name, "share": share, "seed": seed}
    return float(kept(key | {"code": code("treeplex.learn.neural.gradients.team", module)}, make))


@study(title="COMA on tiny Hanabi", place=20, minutes=6, needs=("torch", "pyspiel"))
def reproduce() -> Result:
    game = tp.compile(GAME)
    optimum = best_return()
    moments = {name: estimator_moments(drawn_policy(game), name) for name in ESTIMATORS}
    apart = float(np.abs(moments["coma"].mean - moments["reinforce"].mean).max())
    first = slice(*game.tree.sequence_offsets[:2].tolist())
    bias = float(np.abs(frozen_mean(drawn_policy(game)) - moments["reinforce"].mean)[first].max())
    returns = {
        share: {name: [learned(name, share, seed) for seed in seeds] for name in LEARNERS} for share, seeds in SEEDS.items()
    }
    variances = {name: each.variance for name, each in moments.items()}
    rows = []
    for share, found in returns.items():
        for name, values in found.items():
            best = sum(value > optimum - 0.1 for value in values)
            rows.append(
                [
                    f"{name}, from {share:g}",
                    f"{len(values)}",
                    f"{np.mean(values):.2f}",
                    f"{best}",
                    f"{min(values):.2f}",
                    f"{max(values):.2f}",
                ]
            )
    means = {share: {name: float(np.mean(values)) for name, values in found.items()} for share, found in returns.items()}
    half, tenth = means[0.5], means[0.1]
    return Result(
        source=SOURCE,
        findings=[
            f"COMA's gradient equals REINFORCE's to {apart:.0e}. The total variance of an episode's estimate is "
            f"{variances['coma']:.1f}, with a value baseline {variances['value']:.1f}, with REINFORCE "
            f"{variances['reinforce']:.1f}.",
            "Holding the second player's move fixed, as COMA does with simultaneous moves, changes an entry of the "
            f"mean by up to {bias:.2f}: here the second player sees the first one's move.",
            f"Less variance does not mean more return. With the paper's exploration COMA gets {half['COMA']:.2f} on "
            f"average and independent A2C {half['independent A2C']:.2f}, with less exploration {tenth['COMA']:.2f} "
            f"and {tenth['independent A2C']:.2f}; the maximum is {optimum:g}. Training runs end in conventions that pay "
            "8, 9 or 10. High exploration favours the safe one, which pays 8 for every move of the partner.",
        ],
        tables=[
            Table(
                "Total variance of the gradient of one episode",
                ["estimator", "variance"],
                [[WORDS[name], f"{variance:.1f}"] for name, variance in variances.items()],
            ),
            Table(
                f"Mean return over seeds, too few for an interval (fewer than {FEWEST_DEALS})",
                ["learner, initial share of uniform play", "seeds", "return", f"of them at {optimum:g}", "least", "most"],
                rows,
            ),
        ],
        notes=[
            "Variances are exact, by a sweep over all histories, at a policy of standard normal logits. Training runs use "
            f"tables, {TeamLearner.settings_class().steps:,} updates of 8 episodes.",
        ],
        numbers={"variance": variances, "bias": bias, "returns": {str(share): found for share, found in returns.items()}},
    )
