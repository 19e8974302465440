"""DDCFR Table 2: what DDCFR costs beside DCFR, in compiled loops that differ in nothing else.

Hold'em rows need ``TREEPLEX_ENDGAMES``, see ``ddcfr_holdem.py``; without it they are kept from an earlier run or left out.
Times mean something on a quiet machine only; those of the two largest games are kept in ``runs/papers``: delete that folder to
take them again.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ddcfr_hands import NUMBERS, Subgame, at_hand
from ddcfr_runs import ITERATIONS, LARGE, STEERED, Game, digest, games, own_policy, stored
from ddcfr_table2_text import Costs, costs_table, draw, findings, notes, shares_table
from kept import code, kept
from results import Result, finish, published
from treeplex.engine.tree.form import Floats, Payoff, Tree, TreeState, Workspace, new_state, workspace
from treeplex.engine.tree.learned import (
    COLUMNS,
    HEAD,
    INITIAL,
    LEFT,
    LOWEST,
    MEMORY,
    DiscountNetwork,
    LearnedState,
    decide,
    exploitability_of_sums,
    iterate_learned,
    weigh,
)
from treeplex.engine.tree.regret import iterate
from treeplex.engine.tree.sweeps import reach
from treeplex.forms.policies.tabular import uniform_probabilities
from treeplex.solvers.holdem.solver import HoldemSolver
from treeplex.solvers.rules.discount_policy import BASES, DiscountPolicy

DCFR = np.tile(BASES["dcfr"].defaults, (ITERATIONS, 1))
"""Exponents of every iteration."""
SECONDS = 2.0
"""Of timing a small game, about."""
MOST, LARGE_ROUNDS = 200, 3
CALLS, NETWORK_ROUNDS = 20_000, 10
WAYS = ("alone", "judged", "as_often", "replayed", "ddcfr")


class Run(NamedTuple):
    """A run's arrays, as a solver of a compiled game has them."""

    state: TreeState
    learned: LearnedState
    work: Workspace
    activations: Floats


def fresh(game: Game, policy: DiscountPolicy) -> Run:
    """The uniform policy."""
    tree, uniform = game.compiled.tree, uniform_probabilities(game.compiled)
    state, work = new_state(uniform), workspace(tree)
    learned = LearnedState(np.empty(0), np.zeros(MEMORY), np.empty(0))
    for player in range(2):
        reach(tree, player, uniform, state.strategy)
    learned.memory[INITIAL] = max(exploitability_of_sums(tree, game.compiled.payoff, state.strategy, work), LOWEST)
    return Run(state, learned, work, np.empty(int(policy.sizes.sum())))


@njit(cache=True, nogil=True)
def fixed_loop(
    tree: Tree,
    payoff: Payoff,
    exponents: Floats,
    judged: NDArray[np.bool_],
    state: TreeState,
    work: Workspace,
) -> float:
    """DCFR with exponents given for each iteration, [T, 4], and exploitability before those that ``judged`` names.

    Returns their sum, so that none is skipped.
    """
    row, found = np.empty((1, COLUMNS)), 0.0
    for k in range(judged.shape[0]):
        if judged[k] and k > 0:
            found += exploitability_of_sums(tree, payoff, state.averages[0], work)
        weigh(exponents[k], 0.0, k + 1, row[0])
        iterate(tree, payoff, row, True, state, work)
    return found


@njit(cache=True, nogil=True)
def decide_loop(scheme: DiscountNetwork, activations: Floats, calls: int) -> float:
    """So many evaluations of the network, at features that change."""
    exponents, noise, held = np.empty(4), np.empty(0), 0
    for k in range(calls):
        t = k % 1000
        for f in range(scheme.features.shape[0]):
            activations[f] = 0.001 * t
        held += decide(scheme, activations, noise, t + 1, 1000, exponents)
    return exponents[0] + held


def run_fixed(game: Game, policy: DiscountPolicy, judged: NDArray[np.bool_], exponents: Floats) -> float:
    """Seconds of DCFR with these exponents."""
    s = fresh(game, policy)
    start = time.process_time()
    fixed_loop(game.compiled.tree, game.compiled.payoff, exponents, judged, s.state, s.work)
    return time.process_time() - start


def run_ddcfr(game: Game, policy: DiscountPolicy, trace: Floats) -> float:
    """Seconds of DDCFR; decisions go to ``trace`` if it has rows."""
    s, empty = fresh(game, policy), np.empty((0, 0))
    start = time.process_time()
    iterate_learned(
        game.compiled.tree, game.compiled.payoff, policy.compiled, 0, ITERATIONS, ITERATIONS, True, s.state, s.learned,
        s.work, s.activations, empty, trace,
    )  # fmt: skip
    return time.process_time() - start


def decisions_of(game: Game, policy: DiscountPolicy) -> tuple[NDArray[np.bool_], Floats]:
    """Before which iterations DDCFR looks and decides, and the exponents of every iteration, [T, 4]."""
    trace = np.zeros((ITERATIONS, HEAD + len(policy.features) + int(policy.sizes[-1])))
    run_ddcfr(game, policy, trace)
    rows = trace[trace[:, 0] > 0]
    looked = np.zeros(ITERATIONS, bool)
    looked[rows[:, 0].astype(int) - 1] = True
    return looked, np.ascontiguousarray(rows[np.cumsum(looked) - 1, 2:6])


def interleaved(ways: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, list[float]]:
    """Times of every way, forwards and backwards in turn, so that a drift of the machine meets all alike."""
    found: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(rounds):
        for name in list(ways)[:: 1 if number % 2 == 0 else -1]:
            found[name].append(ways[name]())
    return found


def costs(game: Game, policy: DiscountPolicy) -> Costs:
    """Timing of one game."""
    (looked, exponents), never = decisions_of(game, policy), np.zeros(ITERATIONS, bool)
    ways = {
        "alone": lambda: run_fixed(game, policy, never, DCFR),
        "judged": lambda: run_fixed(game, policy, ~never, DCFR),
        "as_often": lambda: run_fixed(game, policy, looked, DCFR),
        "replayed": lambda: run_fixed(game, policy, looked, exponents),
        "ddcfr": lambda: run_ddcfr(game, policy, np.empty((0, 0))),
    }
    if game.name in LARGE:
        return summed(interleaved(ways, LARGE_ROUNDS), int(looked.sum()), policy)
    once = sum(way() for way in ways.values())
    rounds = 2 * max(2, min(MOST, round(SECONDS / once)) // 2)
    return summed(interleaved(ways, rounds), int(looked.sum()), policy)


def summed(found: Mapping[str, Sequence[float]], decisions: int, policy: DiscountPolicy) -> Costs:
    """The least time of every way."""
    least = {name: min(found[name]) if name in found else None for name in WAYS}
    network = decisions * network_seconds(policy)
    return Costs(**least, rounds=len(found["ddcfr"]), decisions=decisions, network=network)


def network_seconds(policy: DiscountPolicy) -> float:
    """The least time of one evaluation of the network."""
    activations, taken = np.empty(int(policy.sizes.sum())), []
    decide_loop(policy.compiled, activations, 1)
    for _ in range(NETWORK_ROUNDS):
        start = time.process_time()
        decide_loop(policy.compiled, activations, CALLS)
        taken.append((time.process_time() - start) / CALLS)
    return min(taken)


def hand_costs(game: Subgame, policy: DiscountPolicy) -> Costs:
    """Timing of one hold'em subgame, in single precision; exploitability comes from the solver's own passes in every way."""
    looked = hand_decisions(game, policy)

    def fixed(judged: Sequence[int]) -> float:
        solver = HoldemSolver(game.compiled, "dcfr", threads=1, horizon=ITERATIONS)
        solver.run(0)
        start = time.process_time()
        for t in judged:
            solver.run(t - 1 - solver.iteration)
            solver.form.exploitability(solver.tables)
        solver.run(ITERATIONS - solver.iteration)
        return time.process_time() - start

    def learned() -> float:
        solver = steered(game, policy)
        solver.run(0)
        start = time.process_time()
        solver.run(ITERATIONS)
        return time.process_time() - start

    ways = {
        "alone": lambda: fixed([]),
        "judged": lambda: fixed(range(1, ITERATIONS + 1)),
        "as_often": lambda: fixed(looked),
        "ddcfr": learned,
    }
    return summed(interleaved(ways, 4), len(looked), policy)


def steered(game: Subgame, policy: DiscountPolicy) -> HoldemSolver:
    """DDCFR on a subgame, which it sees in the authors' unit."""
    solver = HoldemSolver(game.compiled, policy, threads=1, horizon=ITERATIONS)
    solver.form.unit = 1.0 / game.scale
    return solver


def hand_decisions(game: Subgame, policy: DiscountPolicy) -> list[int]:
    """Before which iterations DDCFR looks and decides on a hold'em subgame."""
    solver, looked = steered(game, policy), []
    for t in range(1, ITERATIONS + 1):
        if solver.tables.memory[LEFT] <= 0:
            looked.append(t)
        solver.run(1)
    return looked


def measure(policy: DiscountPolicy) -> dict[str, Costs]:
    """All rows."""
    found = {}
    for name, game in games().items():
        if name in LARGE:
            key = {"costs": game.identity, "policy": digest(policy), "code": code(*STEERED, "ddcfr_table2")}
            found[name] = Costs(**kept(key, lambda game=game: asdict(costs(game, policy))))
        else:
            found[name] = costs(game, policy)
        print(f"{name} done", flush=True)
    before = stored("ddcfr_table2").get("costs", {})
    for name in NUMBERS:
        if at_hand():
            found[name] = hand_costs(Subgame(name), policy)
        elif name in before:
            found[name] = Costs(**before[name])
    return found


def main() -> None:
    numbers, policy = published()["ddcfr"], own_policy()
    known = {**numbers["table2"], **numbers["holdem"]["table2"]}
    found, call = measure(policy), network_seconds(policy)
    finish(
        Result(
            name="ddcfr_table2",
            title="DDCFR, Table 2: run time",
            source=f"{numbers['source']}; {numbers['table2']['source']}",
            findings=findings(known, found, call),
            tables=[costs_table(known, found), shares_table(known, found)],
            pictures=[draw(known, found)],
            notes=notes(policy, at_hand()),
            numbers={"costs": {name: asdict(row) for name, row in found.items()}, "network_call": call},
        )
    )


if __name__ == "__main__":
    main()
