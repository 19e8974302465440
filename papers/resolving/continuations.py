"""Leaves with several values: loss of Leduc poker's first round by number of continuations among which the opponent chooses."""

import numpy as np

import treeplex as tp
from papers.common.results import Result, Table
from papers.common.study import study
from treeplex import Policy, judge
from treeplex.engine import reach
from treeplex.games.public import PublicState
from treeplex.search import (
    METHODS,
    BlueprintLeaf,
    Horizon,
    SubgameSearch,
    biased_policies,
    cut_states,
    public_tree,
    self_generated_policies,
)
from treeplex.search.subgames.policy_tables import sequences_at, table_at
from treeplex.solvers import make_solver

GAME, RULES = tp.compile("leduc_poker"), public_tree("leduc_poker")
FIRST_ROUND = Horizon(rounds=1)
ITERATIONS, EXACT = 1000, 10_000
"""Iterations of a search of the first round, and of optimal play after it."""
GENERATED = 6
"""Continuations that are best responses to searches; the blueprint is one of them."""
OWN = "its own first round"
Tables = list[tuple[PublicState, np.ndarray]]


def blueprints() -> dict[str, Policy]:
    """Policies by name."""
    exact = make_solver(GAME, "lp")
    exact.run(1)
    found = {"an equilibrium": exact.average_policy()}
    for iterations in (50, 10):
        solver = make_solver(GAME, "cfr")
        solver.run(iterations)
        found[f"CFR, {iterations} iterations"] = solver.average_policy()
    return found


def own_round(policy: Policy) -> Tables:
    """A policy's first round."""
    states = cut_states(RULES, [RULES.first_state()], FIRST_ROUND).decisions.true_states
    return [(state, table_at(policy, RULES, state)) for state in states]


def first_round(policy: Policy, choices: list[Policy], player: int) -> Tables:
    """A player's first round if the opponent chooses among continuations after it."""
    leaf = BlueprintLeaf(RULES, policy, {1 - player: choices})
    search = SubgameSearch(cut_states(RULES, [RULES.first_state()], FIRST_ROUND), METHODS["cfr+"], leaf)
    search.run(ITERATIONS)
    average, states = search.average_policy(), search.subgames.decisions.true_states
    return [(state, search.policy_at(number, average)) for number, state in enumerate(states)]


def first_rounds(policy: Policy, player: int) -> dict[str, Tables]:
    """First rounds of a player by column of the table."""
    biased = biased_policies(policy)
    made = self_generated_policies(RULES, policy, 1 - player, GENERATED, horizon=FIRST_ROUND, iterations=ITERATIONS)
    choices = {"1 continuation": [policy], "4 biased": biased, "4 generated": made[:4], f"{GENERATED} generated": made}
    return {OWN: own_round(policy)} | {name: first_round(policy, each, player) for name, each in choices.items()}


def best_after(first: Tables, player: int) -> float:
    """A player's guaranteed value with a fixed first round and everything else solved by PDCFR+ with simultaneous updates."""
    solver = make_solver(GAME, "pdcfr+", updates="simultaneous", horizon=EXACT)
    kept: dict[int, float] = {}
    for state, table in first:
        if RULES.options(state).player == player:
            for hand, sequences in sequences_at(GAME, RULES, state).items():
                kept |= dict(zip(sequences.tolist(), table[:, hand].tolist(), strict=True))
    places, shares = list(kept), list(kept.values())
    for _ in range(EXACT):
        solver.policy[places] = shares
        reach(GAME.tree, player, solver.policy, solver.strategy)
        solver.run(1)
    probabilities = solver.average_policy().probabilities.copy()
    probabilities[places] = shares
    return -judge(GAME, Policy(GAME, probabilities)).best_response_values[1 - player]


KNOWN = {
    "an equilibrium": ("", "0.0989", "0.0004", "", ""),
    "CFR, 50 iterations": ("0.0397", "0.104", "0.0525", "", "0.0407"),
    "CFR, 10 iterations": ("0.163", "", "0.219", "", ""),
}
"""Results of an independent implementation."""


@study(title="Leaves with several values: Leduc poker's first round", place=3, minutes=2)
def reproduce() -> Result:
    value = judge(GAME, blueprints()["an equilibrium"]).value
    numbers, rows, columns = {}, [], list[str]()
    for name, policy in blueprints().items():
        both = [first_rounds(policy, player) for player in (0, 1)]
        columns = list(both[0])
        losses = {
            column: [value[player] - best_after(own[column], player) for player, own in enumerate(both)] for column in columns
        }
        numbers[name] = losses
        rows.append([name, *(f"{max(float(np.mean(each)), 0.0):.4f}" for each in losses.values())])
        print(rows[-1], flush=True)
        rows.append(["another implementation", *KNOWN[name]])
    return Result(
        source="Brown, Sandholm and Amos 2018, Depth-Limited Solving for Imperfect-Information Games, on Leduc poker",
        findings=[
            f"With an equilibrium as blueprint, four continuations lose {rows[0][3]} chips and one loses {rows[0][2]}. With "
            "one continuation many first-round policies have the same value, and the choice among them is arbitrary.",
            f"From 50 iterations of CFR four biased continuations lose {rows[2][3]}, four generated ones {rows[2][4]} "
            f"and {GENERATED} of them {rows[2][5]}, about as much as the blueprint's own first round: {rows[2][1]}.",
            "Continuations do not repair a bad blueprint: after 10 iterations of CFR its own first round loses less.",
        ],
        tables=[
            Table(
                "Loss of the first round, mean over players, in chips",
                ["blueprint", *columns],
                rows,
            )
        ],
        notes=[
            f"The first round is searched for each player with {ITERATIONS:,} iterations of CFR+. Behind the leaves, "
            "before the card, the opponent chooses among the blueprint and its versions biased tenfold to folding, "
            "calling or raising; or among the blueprint and best responses, each to the search with those before it.",
            f"Losses are relative to the game's value with the rest of the game solved by {EXACT:,} iterations of PDCFR+.",
        ],
        numbers=numbers,
    )
