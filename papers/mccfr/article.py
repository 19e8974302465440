"""An article's outcome sampling on Kuhn poker: its table, the source of its error, and the corrected run.

The article samples one trajectory per iteration with the policies themselves and updates both players' regrets on it. It mixes
the policies with 0.06 of the uniform one, so that no probability is below 0.03. :func:`trajectories` is this loop; the mixing
can be moved from the policy to the sampling.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import treeplex as tp
from papers.common.drawing import dress, legend_outside, line_style, panels, plain_labels, save
from papers.common.results import Picture, Result, Table, published
from papers.common.study import study
from papers.mccfr.runs import SEEDS, band, judged, over_seeds, quarters, solver
from treeplex import judge
from treeplex.base.arrays import Floats
from treeplex.engine.kernel import kernel
from treeplex.engine.sampling.streams import advanced, start, unit
from treeplex.results import Judgement

Runs = Sequence[Mapping[str, Sequence[float]]]

MIX = 0.06
ARTICLE_ITERATIONS = 100_000
ARTICLE_SEEDS = range(1, 101)
FIRST, ITERATIONS, LAST = 1000, 1_000_000, 3_200_000
EXACT_ITERATIONS = 100_000
CARDS, HISTORIES = 3, 4
BLANK, CHECKED, BET, CHECKED_BET = range(HISTORIES)
"""Decision points: at the start, after a check, after a bet, after a check and a bet."""
ENDINGS = ("", "p", "b", "pb")
"""The decision points in the library's infostates."""
WRITTEN = ("", "C", "B", "CB")
"""The decision points in the article's table, which counts cards from 1."""
SCHEMES: Mapping[str, tuple[float, float, bool]] = {
    "floor in the policy (the article)": (MIX, 0.0, False),
    "floor in the policy, t - c": (MIX, 0.0, True),
    "exploration in the sampling": (0.0, MIX, False),
    "exploration in the sampling, t - c": (0.0, MIX, True),
}
"""Shares of the uniform policy in the policy and in the sampling, and whether the average is weighted."""


@kernel()
def policy_at(regrets: Floats, infoset: int, mix: float) -> float:
    """The probability of betting: regret matching, mixed with the uniform policy."""
    check, bet = max(regrets[infoset, 0], 0.0), max(regrets[infoset, 1], 0.0)
    matched = bet / (check + bet) if check + bet > 0.0 else 0.5
    return (1.0 - mix) * matched + 0.5 * mix


@kernel()
def payoff_of(history: int, action: int, first: int, second: int) -> float:
    """Player 0's payoff if an action ends the game; otherwise 0."""
    higher = 1.0 if first > second else -1.0
    if history == CHECKED:
        return higher if action == 0 else 0.0
    if history == BET:
        return 1.0 if action == 0 else 2.0 * higher
    if history == CHECKED_BET:
        return -1.0 if action == 0 else 2.0 * higher
    return 0.0


@kernel()
def trajectories(
    iterations: int, seed: int, floor: float, exploration: float, weighted: bool, points: Sequence[int]
) -> tuple[Floats, float]:
    """The article's loop: one trajectory per iteration updates both players.

    With ``q`` the probability of the trajectory, ``u`` the player's payoff and ``tail`` the probability of the player's later
    actions, the action taken, of probability p, gets ``W (1 - p)`` and the other one ``-W p``, with ``W = u tail (probability
    of the opponent's actions) / q``; chance cancels. Where sampling is by the policies, W is the article's ``u / (own reach *
    p)``.

    Args:
        iterations: their number.
        seed: of the run.
        floor: share of the uniform policy in the policies that are played, valued and averaged.
        exploration: share of the uniform policy in the sampling only.
        weighted: the average adds ``t - c`` times the policy, with c the infoset's last visit, in place of the policy.
        points: iterations, ascending, at which the average is recorded.

    Returns:
        Sums of policies weighted by own reach, float64 [points, 12, 2], and the mean payoff of player 0 over the trajectories.
    """
    regrets, sums, last = np.zeros((12, 2)), np.zeros((12, 2)), np.zeros(12)
    kept = np.zeros((len(points), 12, 2))
    infosets, actions = np.zeros(3, np.int64), np.zeros(3, np.int64)
    bets, taken, drawn = np.zeros(3), np.zeros(3), np.zeros(3)
    total, at = 0.0, 0
    for t in range(1, iterations + 1):
        stream = advanced(start(np.uint64(seed), np.uint64(t), np.uint64(0)))
        deal = int(6.0 * unit(stream))
        first, second = deal // 2, (deal // 2 + 1 + deal % 2) % 3
        history, length, payoff = BLANK, 0, 0.0
        while payoff == 0.0:
            card = second if length == 1 else first
            infoset = card * HISTORIES + history
            bet = policy_at(regrets, infoset, floor)
            sampling = (1.0 - exploration) * bet + 0.5 * exploration
            stream = advanced(stream)
            action = 1 if unit(stream) < sampling else 0
            infosets[length], actions[length], bets[length] = infoset, action, bet
            taken[length] = bet if action else 1.0 - bet
            drawn[length] = sampling if action else 1.0 - sampling
            payoff = payoff_of(history, action, first, second)
            history = (BET if action else CHECKED) if length == 0 else CHECKED_BET
            length += 1
        total += payoff
        for n in range(length):
            reach, ratio, tail = 1.0, 1.0, 1.0
            for m in range(length):
                same = (m - n) % 2 == 0
                ratio *= (1.0 if same else taken[m]) / drawn[m]
                reach *= taken[m] if same and m < n else 1.0
                tail *= taken[m] if same and m > n else 1.0
            weight = (payoff if n != 1 else -payoff) * ratio * tail
            infoset, action = infosets[n], actions[n]
            regrets[infoset, action] += weight * (1.0 - taken[n])
            regrets[infoset, 1 - action] -= weight * taken[n]
            share = reach * (t - last[infoset] if weighted else 1.0)
            last[infoset] = t
            sums[infoset, 0] += share * (1.0 - bets[n])
            sums[infoset, 1] += share * bets[n]
        while at < len(points) and points[at] == t:
            kept[at] = sums
            at += 1
    return kept, total / iterations


@kernel()
def exact(iterations: int, floor: float) -> Floats:
    """CFR over all deals with alternating updates and policies mixed with the uniform one: sums of policies, float64 [12,
    2].
    """
    regrets, sums, bets = np.zeros((12, 2)), np.zeros((12, 2)), np.zeros(12)
    for _ in range(iterations):
        for player in range(2):
            for infoset in range(12):
                bets[infoset] = policy_at(regrets, infoset, floor)
            for infoset in range(12):
                history = infoset % HISTORIES
                if (history in (CHECKED, BET)) != (player == 1):
                    continue
                reach = 1.0 - bets[infoset - CHECKED_BET] if history == CHECKED_BET else 1.0
                sums[infoset, 0] += reach * (1.0 - bets[infoset])
                sums[infoset, 1] += reach * bets[infoset]
            for first in range(CARDS):
                for second in range(CARDS):
                    if first != second:
                        add_regrets(regrets, bets, player, first, second)
    return sums


@kernel()
def add_regrets(regrets: Floats, bets: Floats, player: int, first: int, second: int) -> None:
    """Add one deal's counterfactual regrets of a player."""
    higher = 1.0 if first > second else -1.0
    own, other = first * HISTORIES, second * HISTORIES
    after_bet = 1.0 + bets[other + BET] * (2.0 * higher - 1.0)
    after_both = -1.0 + bets[own + CHECKED_BET] * (2.0 * higher + 1.0)
    after_check = higher + bets[other + CHECKED] * (after_both - higher)
    value = after_check + bets[own] * (after_bet - after_check)
    if player == 0:
        regrets[own, 0] += after_check - value
        regrets[own, 1] += after_bet - value
        regrets[own + CHECKED_BET, 0] += bets[other + CHECKED] * (-1.0 - after_both)
        regrets[own + CHECKED_BET, 1] += bets[other + CHECKED] * (2.0 * higher - after_both)
    else:
        regrets[other + CHECKED, 0] -= (1.0 - bets[own]) * (higher - after_check)
        regrets[other + CHECKED, 1] -= (1.0 - bets[own]) * (after_both - after_check)
        regrets[other + BET, 0] -= bets[own] * (1.0 - after_bet)
        regrets[other + BET, 1] -= bets[own] * (2.0 * higher - after_bet)


def policy_of(game: tp.CompiledGame, sums: Floats) -> tp.Policy:
    """The policy of sums by infoset, float64 [12, 2], on the library's Kuhn poker; uniform where sums are zero."""
    probabilities = tp.Policy.uniform(game).probabilities.copy()
    for card in range(CARDS):
        for history, ending in enumerate(ENDINGS):
            player = 1 if history in (CHECKED, BET) else 0
            row = sums[card * HISTORIES + history]
            sequences = game.sequences_at(game.lookup[player, f"{card}{ending}"])
            if row.sum() > 0.0:
                probabilities[sequences] = row / row.sum()
    return tp.Policy(game, probabilities)


def bets_of(policy: tp.Policy) -> list[float]:
    """The probability of betting at the infosets in the order of the article's table, cards first."""
    infosets = [
        (1 if history in (CHECKED, BET) else 0, f"{card}{ENDINGS[history]}")
        for card in range(CARDS)
        for history in range(HISTORIES)
    ]
    return [policy[infoset][1] for infoset in infosets]


def equilibrium(bluff: float) -> list[float]:
    """The equilibrium of Kuhn poker (Kuhn 1950) for a given probability, at most 1/3, of betting the lowest card as player
    0.
    """
    return [bluff, 1 / 3, 0.0, 0.0, 0.0, 0.0, 1 / 3, bluff + 1 / 3, 3.0 * bluff, 1.0, 1.0, 1.0]


def run_scheme(game: tp.CompiledGame, name: str, points: Sequence[int]) -> tuple[Runs, list[list[float]]]:
    """One of :data:`SCHEMES` with every seed: evaluations at the points, and betting probabilities after :data:`ITERATIONS`."""
    runs, bets = [], []
    for seed in SEEDS:
        sums, _ = trajectories(points[-1], seed, *SCHEMES[name], np.array(points))
        found = [judge(game, policy_of(game, each)) for each in sums]
        runs.append({"exploitability": [one.exploitability for one in found], "value": [one.value[0] for one in found]})
        bets.append(bets_of(policy_of(game, sums[points.index(ITERATIONS)])))
    return runs, bets


def emulate(game: tp.CompiledGame) -> dict[str, Any]:
    """The article's run with many seeds: betting probabilities [seeds, 12], mean payoffs, exploitability."""
    bets, payoffs, losses = [], [], []
    for seed in ARTICLE_SEEDS:
        sums, payoff = trajectories(ARTICLE_ITERATIONS, seed, MIX, 0.0, False, np.array([ARTICLE_ITERATIONS]))
        policy = policy_of(game, sums[0])
        bets.append(bets_of(policy))
        payoffs.append(payoff)
        losses.append(judge(game, policy).exploitability)
    return {"bets": bets, "payoffs": payoffs, "exploitability": losses}


def library_bets(game: tp.CompiledGame) -> list[list[float]]:
    """Betting probabilities of ``os-mccfr``'s averages with the article's exploration, after :data:`ITERATIONS`
    trajectories.
    """
    found = []
    for seed in SEEDS:
        run = solver(game, "os-mccfr", seed, {"exploration": MIX})
        run.run(ITERATIONS // 2)
        found.append(bets_of(run.average_policy()))
    return found


def draw(points: Sequence[int], found: Mapping[str, Runs], stops: float, printed: float) -> Picture:
    """Exploitability against trajectories, geometric means over seeds."""
    figure, (axes,) = panels(1, 1, size=(9.0, 4.4))
    styles = {name: line_style(number) for number, name in enumerate(found)}
    for name, runs in found.items():
        logs = [[math.log(value) for value in run["exploitability"]] for run in runs]
        axes.plot(points, np.exp(np.mean(logs, axis=0)), **styles[name])
    dress(axes, "Kuhn poker")
    axes.axhline(stops, color="#9A9A9A", linewidth=0.9, zorder=1)
    axes.text(points[0] * 1.1, stops * 0.94, "exact CFR with the floor stops here", color="#5F5F5F", fontsize=8.5, va="top")
    axes.plot([ARTICLE_ITERATIONS], [printed], marker="D", markersize=6, color="#222222", zorder=5)
    line = {"arrowstyle": "-", "color": "#9A9A9A", "shrinkB": 4}
    spot = (ARTICLE_ITERATIONS, printed)
    axes.annotate("the printed table", spot, (9, 26), textcoords="offset points", color="#222222", fontsize=9, arrowprops=line)
    axes.set(xlabel="trajectories", ylabel="exploitability of the average policy", xlim=(points[0], points[-1]))
    plain_labels(axes)
    legend_outside(figure, styles, size=9.5, place="outside right upper")
    return save(
        figure,
        "mccfr-article.png",
        "Exploitability against trajectories on Kuhn poker, both axes logarithmic: with the floor in the policy the "
        "curves flatten at 0.01 with and without the weight, the printed table among them; with exploration in the "
        "sampling they keep falling",
    )


def table_of_bets(
    numbers: Mapping[str, Any], columns: Mapping[str, Sequence[Sequence[float]]], payoffs: Sequence[float]
) -> Table:
    """The article's table and betting probabilities [seeds, 12] of other runs; the last run selects the equilibrium shown."""
    names = [f"{card + 1}{written}" for card in range(CARDS) for written in WRITTEN]
    *_, last = columns.values()
    right = equilibrium(min(float(np.mean(last, axis=0)[0]), 1 / 3))
    rows = []
    for place, name in enumerate(names):
        cells = [band([bets[place] for bets in found], ".3f") for found in columns.values()]
        rows.append([name, f"{numbers['bet'][name]:.3f}", *cells, f"{right[place]:.3f}"])
    rows.append(["average payoff", f"{numbers['average_payoff']:.5f}", band(payoffs, ".4f"), "", "", f"{-1 / 18:.5f}"])
    return Table(
        "Probability of betting: mean over seeds [least, greatest]. Infosets are named by the card, 1 to 3, and the "
        "actions so far, C for check and B for bet",
        ["infoset", "published", *columns, "equilibrium with the same bluff"],
        rows,
    )


def table_of_losses(curves: Mapping[str, Runs], place: int, stopped: Mapping[str, Judgement]) -> Table:
    """Exploitability and value of the average policies."""
    rows = [
        [name, *(band(over_seeds(runs, field, place)) for field in ("exploitability", "value"))]
        for name, runs in curves.items()
    ]
    rows += [[name, f"{found.exploitability:.3g}", f"{found.value[0]:.4g}"] for name, found in stopped.items()]
    return Table(
        f"The average policy after {ITERATIONS:,} trajectories: mean over {len(SEEDS)} seeds [least, greatest]",
        ["run", "exploitability", "value of player 0 (equilibrium: -0.05556)"],
        rows,
    )


def regenerated(numbers: Mapping[str, Any], emulated: Mapping[str, Any], printed: Judgement) -> str:
    """Agreement with the article's table, as a sentence."""
    bets, given = np.array(emulated["bets"]), np.array(list(numbers["bet"].values()))
    inside = int(((given >= bets.min(axis=0) - 0.005) & (given <= bets.max(axis=0) + 0.005)).sum())
    return (
        f"The table is reproduced: {inside} of its {len(given)} entries lie in the range of {len(bets)} seeds of the "
        "emulation, up to rounding. The mean payoff of player 0 over the trajectories is "
        f"{band(emulated['payoffs'], '.4f')}, published {numbers['average_payoff']}. The printed table has "
        f"exploitability {printed.exploitability:.4f}, the emulated ones {band(emulated['exploitability'])}."
    )


def reasons(curves: Mapping[str, Runs], place: int, floored: Judgement, plain: Judgement) -> list[str]:
    """Causes of the error, as sentences."""

    def at(name: str, spot: int = place) -> str:
        return band(over_seeds(curves[name], "exploitability", spot))

    article, weighted, moved, both, library, _ = curves
    return [
        f"The remaining error comes from the floor of {MIX / 2:g} inside the policy, not from sampling. *Exact* CFR "
        f"with that floor stops at exploitability {floored.exploitability:.4f} and value {floored.value[0]:.4f}; "
        f"without it, it has {plain.exploitability:.1g} and {plain.value[0]:.4f} after the same number of iterations. "
        f"The floor defines another game, in which all players move at random {100 * MIX:g}% of the time, and the run "
        "solves that game.",
        "The weight t - c, with which the article reports wrong results, is not the cause. With the floor the loop "
        f"is at {at(weighted)} with the weight and at {at(article)} without it after {ITERATIONS:,} trajectories, at "
        f"{at(weighted, -1)} and {at(article, -1)} after {LAST:,}. Neither the article nor its repository shows the "
        "weighted code. Here the policy before the update is weighted, and c is kept for every infoset.",
        f"With the same exploration in the sampling only, corrected by importance weights, the loop is at {at(moved)} "
        f"without the weight and {at(both)} with it, and keeps falling: {at(moved, -1)} after {LAST:,}. `os-mccfr` "
        f"with that exploration, alternating updates and lazy averaging is at {at(library)} and {at(library, -1)}.",
    ]


@study(title="An article on Monte Carlo CFR: its Kuhn table and its error", place=1, minutes=0.2)
def reproduce() -> Result:
    game, numbers = tp.compile("kuhn_poker"), published("mccfr")["article"]
    points = quarters(FIRST, LAST)
    place = points.index(ITERATIONS)
    emulated = emulate(game)
    found = {name: run_scheme(game, name, points) for name in SCHEMES}
    curves: dict[str, Runs] = {name: runs for name, (runs, _) in found.items()}
    for mix in (MIX, 0.6):
        halves = [point // 2 for point in points]
        curves[f"`os-mccfr`, exploration {mix:g}"] = [
            judged(game, "os-mccfr", seed, {"exploration": mix}, halves) for seed in SEEDS
        ]
    floored, plain = (judge(game, policy_of(game, exact(EXACT_ITERATIONS, mix))) for mix in (MIX, 0.0))
    stopped = {
        f"exact CFR {what}, {EXACT_ITERATIONS:,} iterations": judgement
        for what, judgement in (("with the floor", floored), ("without it", plain))
    }
    printed = judge(game, policy_of(game, np.array([[1.0 - bet, bet] for bet in numbers["bet"].values()])))
    bets = {
        f"emulated, {ARTICLE_ITERATIONS:,} trajectories, {len(ARTICLE_SEEDS)} seeds": emulated["bets"],
        f"exploration in the sampling, {ITERATIONS:,}, {len(SEEDS)} seeds": found["exploration in the sampling"][1],
        f"`os-mccfr`, {ITERATIONS:,}, {len(SEEDS)} seeds": library_bets(game),
    }
    plain_names = {name.replace("`", ""): runs for name, runs in curves.items()}
    return Result(
        source=numbers["source"],
        findings=[regenerated(numbers, emulated, printed), *reasons(curves, place, floored, plain)],
        tables=[table_of_bets(numbers, bets, emulated["payoffs"]), table_of_losses(curves, place, stopped)],
        pictures=[draw(points, plain_names, floored.exploitability, printed.exploitability)],
        notes=[
            f"Seeds {SEEDS[0]} to {SEEDS[-1]}; {ARTICLE_SEEDS[0]} to {ARTICLE_SEEDS[-1]} for the emulated table. The "
            "number of trajectories and the mixing are those of the author's program. Curves are geometric means "
            "over seeds.",
            "An iteration of `os-mccfr` is two trajectories, one per player, so it runs half as many iterations.",
            "In equilibrium the lowest card bets with a probability of up to 1/3, which determines 2CB and 3. The seed "
            "determines which equilibrium a run approaches.",
        ],
        numbers={
            "trajectories": points,
            "exploitability": {name: [run["exploitability"] for run in runs] for name, runs in curves.items()},
            "value": {name: [run["value"] for run in runs] for name, runs in curves.items()},
            "emulated": emulated,
            "bets": bets,
            "exact": {name: [judgement.exploitability, judgement.value[0]] for name, judgement in stopped.items()},
        },
    )
