"""DDCFR Table 2: run time of DDCFR compared with DCFR, in compiled loops that differ in nothing else.

Hold'em rows need ``TREEPLEX_ENDGAMES``, see ``holdem.py``; without it they are kept from an earlier run or omitted. Times are
meaningful only on an idle machine; those of the two largest games are cached in ``runs/papers``; delete that folder to measure
them again.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from matplotlib.ticker import EngFormatter, FuncFormatter
from numpy.typing import NDArray

from papers.common.drawing import dress, panels, save
from papers.common.kept import code, kept
from papers.common.results import Picture, Result, Table, published
from papers.common.study import study
from papers.ddcfr.hands import NUMBERS, Subgame, at_hand
from papers.ddcfr.runs import ITERATIONS, LARGE, STEERED, Game, described, digest, games, own_policy, stored
from treeplex.base.arrays import Floats
from treeplex.engine import Payoff, Tree, iterate, reach, workspace
from treeplex.engine.kernel import kernel
from treeplex.engine.tree.form import TreeState, Workspace, new_state
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
from treeplex.forms.policies.tabular import uniform_probabilities
from treeplex.holdem import HoldemSolver
from treeplex.solvers import DiscountPolicy
from treeplex.solvers.rules.discount_policy import BASES

SLOW = 100e-6
"""Seconds per iteration above which the network's time should be negligible."""


@dataclass(frozen=True)
class Costs:
    """CPU seconds of 1000 iterations on one game, each the minimum over its rounds.

    Attributes:
        alone: DCFR.
        judged: DCFR with exploitability before every iteration.
        as_often: DCFR with exploitability where DDCFR needs it.
        replayed: DCFR with exploitability there and DDCFR's exponents, given in advance; None if not timed.
        ddcfr: DDCFR.
        rounds: number of timings of each.
        decisions: number of decisions of DDCFR.
        network: seconds of that many network evaluations, measured separately.
    """

    alone: float
    judged: float
    as_often: float
    replayed: float | None
    ddcfr: float
    rounds: int
    decisions: int
    network: float

    @property
    def overhead(self) -> float:
        """Relative overhead of DDCFR over DCFR with as many exploitability computations."""
        return self.ddcfr / self.as_often - 1.0

    @property
    def share(self) -> float:
        """The network's part of DDCFR's time."""
        return self.network / self.ddcfr

    @property
    def iteration(self) -> float:
        """Seconds of one iteration of DDCFR in total."""
        return self.ddcfr / ITERATIONS


def seconds(value: float) -> str:
    """A time with three digits, in seconds or milliseconds."""
    return f"{value:.3g} s" if value >= 1.0 else f"{1000 * value:.3g} ms"


def percent(value: float) -> str:
    """A percentage, with more digits if it is small."""
    return f"{100 * value:+.2f}%" if abs(value) < 0.1 else f"{100 * value:+.0f}%"


def costs_table(known: Mapping, found: Mapping[str, Costs]) -> Table:
    """The paper's columns, published and measured."""
    rows = []
    for name, row in found.items():
        paper = known.get(name)
        cells = [f"{paper[0]:,.0f} s", f"{paper[1]:,.0f} s", percent(paper[1] / paper[0] - 1)] if paper else ["-", "-", "-"]
        speed = f"{paper[1] / row.ddcfr:,.0f}" if paper else "-"
        rows.append([name, *cells, seconds(row.as_often), seconds(row.ddcfr), percent(row.overhead), speed])
    head = ["", "DCFR, published", "DDCFR, published", "overhead, published", "DCFR, evaluated as often", "DDCFR, measured"]
    head += ["overhead, measured", "DDCFR published / measured"]
    return Table(f"Time of {ITERATIONS} iterations", head, rows)


def shares_table(known: Mapping, found: Mapping[str, Costs]) -> Table:
    """Division of the time."""
    rows = [
        [
            name,
            f"{1e6 * row.iteration:,.1f} µs",
            f"{row.decisions}",
            percent(row.share).lstrip("+"),
            seconds(row.alone),
            seconds(row.judged),
            percent(row.ddcfr / row.replayed - 1) if row.replayed else "-",
            percent(row.ddcfr / row.judged - 1),
            percent(row.ddcfr / row.alone - 1),
        ]
        for name, row in found.items()
    ]
    head = ["", "one iteration", "decisions", "network's share", "DCFR alone", "DCFR, exploitability each iteration"]
    head += ["DDCFR relative to its own weights replayed", "relative to DCFR evaluated each time", "relative to DCFR alone"]
    return Table("Where DDCFR's time goes", head, rows)


def findings(known: Mapping, found: Mapping[str, Costs], call: float) -> list[str]:
    """The findings."""
    slow = {name: row for name, row in found.items() if row.iteration > SLOW}
    fast = {name: row for name, row in found.items() if row.iteration <= SLOW}
    parts = [f"one evaluation of the network takes {1e6 * call:.2f} µs."]
    for rows, words in ((slow, "more than"), (fast, "at most")):
        if rows:
            shares = [row.share for row in rows.values()]
            parts.append(
                f"Where an iteration takes {words} {1e6 * SLOW:.0f} µs ({', '.join(rows)}), that is "
                f"{between([100 * share for share in shares])}% of the time."
            )
    both = [name for name in found if name in known]
    speeds = [known[name][1] / found[name].ddcfr for name in both]
    paper = [known[name][1] / known[name][0] - 1 for name in both]
    return [
        parts[0].capitalize() + " " + " ".join(parts[1:]),
        f"The paper's overhead is {100 * sum(paper) / len(paper):.2f}% on average over these games. Measured here "
        "relative to DCFR that computes exploitability as often, it is "
        + ", ".join(f"{percent(found[name].overhead)} on {name}" for name in both)
        + f". {replayed_sentence(found)}",
        f"The paper's percentages and these cannot be compared directly: iterations here are {between(speeds)} times "
        "faster than the authors', so the same network weighs that much more.",
        "DDCFR's main cost is the exploitability that it observes. Relative to DCFR that computes none, it takes "
        + ", ".join(f"{percent(row.ddcfr / row.alone - 1)} on {name}" for name, row in found.items())
        + ". The paper computes it for both algorithms and notes that it could run in parallel.",
    ]


def replayed_sentence(found: Mapping[str, Costs]) -> str:
    """Overhead of DDCFR over a run that does the same work without the network, as a sentence."""
    parts = [f"{percent(row.ddcfr / row.replayed - 1)} on {name}" for name, row in found.items() if row.replayed]
    return (
        "Against a run that is given DDCFR's own weights in advance, and does all the same but for the network and its "
        f"features, it takes {', '.join(parts)}: what differs there by more than the network's share comes from how the two "
        "loops are compiled and laid out in memory, from the clock and, on the smallest games, from what goes with a decision."
    )


def between(values: list[float]) -> str:
    """The range of numbers, to two digits."""
    low, high = (f"{value:,.0f}" if value >= 10 else f"{value:.2g}" for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def draw(known: Mapping, found: Mapping[str, Costs]) -> Picture:
    """The network's share against the time of an iteration, ours and the paper's overhead."""
    figure, (axes,) = panels(1, 1, size=(8.6, 4.4))
    points = sorted((row.iteration, 100 * row.share, name) for name, row in found.items())
    axes.plot(
        [x for x, _, _ in points], [y for _, y, _ in points], color="#4B2E83", linestyle="none", marker="o", markersize=6,
        label="the network's share, here",
    )  # fmt: skip
    for number, (x, y, name) in enumerate(points):
        side: dict[str, Any] = {"xytext": (7, 3)} if number % 2 == 0 else {"xytext": (-7, -8), "ha": "right"}
        axes.annotate(name, (x, y), textcoords="offset points", fontsize=8.5, color="#222222", **side)
    paper = {name: pair for name, pair in known.items() if name in found}
    axes.plot(
        [pair[1] / ITERATIONS for pair in paper.values()],
        [100 * (pair[1] / pair[0] - 1) for pair in paper.values()],
        color="#000000", linestyle="none", marker="D", markersize=5.5, markerfacecolor="none", label="overhead, published",
    )  # fmt: skip
    dress(axes, "The network's share of DDCFR's time")
    axes.xaxis.set_major_formatter(EngFormatter(unit="s"))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}%"))
    axes.set_xlim(min(point[0] for point in points) / 8)
    axes.set_xlabel("time of one iteration, exploitability included")
    axes.legend(frameon=False, fontsize=10, loc="upper right")
    return save(
        figure,
        "ddcfr-table-2.png",
        "The network's share of DDCFR's time against the time of an iteration, one point per game, both axes "
        "logarithmic, with the overheads that the paper reports",
    )


def notes(policy: DiscountPolicy, holdem: bool) -> list[str]:
    """How it was measured."""
    return [
        "All variants run in one compiled loop each, iteration by iteration, with the same kernels and the same "
        "computation of weights from exponents. DDCFR's loop also evaluates the network and records its inputs. "
        "Times exclude constructing and starting a solver and compilation.",
        f"Our policy ({described(policy)}) was used. Its tau determines how often it decides and therefore the time. The "
        f"network has {policy.parameters.size:,} numbers.",
        "Times are CPU time. Variants are interleaved, alternating forwards and backwards, and each time is the minimum "
        "over all rounds. On the smallest games differences of a few percent are timing noise and effects of memory layout.",
        "The network's share is measured separately: the minimum time of an evaluation in a loop, times the number "
        "of decisions, over DDCFR's time. Inputs other than exploitability cost almost nothing.",
        "Hold'em runs in the hand engine in single precision with one thread. There the loop over iterations is in Python, "
        "which adds some microseconds per iteration to all variants"
        + (
            "." if holdem else "; its rows are as an earlier run left them, if there was one, for its files were not available."
        ),
    ]


DCFR = np.tile(BASES["dcfr"].defaults, (ITERATIONS, 1))
"""Exponents of every iteration."""
SECONDS = 2.0
"""Approximate seconds for timing a small game."""
MOST, LARGE_ROUNDS = 200, 3
CALLS, NETWORK_ROUNDS = 20_000, 10
WAYS = ("alone", "judged", "as_often", "replayed", "ddcfr")


class Run(NamedTuple):
    """The arrays of a solver of a compiled game."""

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


@kernel()
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


@kernel()
def decide_loop(scheme: DiscountNetwork, activations: Floats, calls: int) -> float:
    """Evaluate the network a given number of times, at changing features."""
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
    """Iterations before which DDCFR decides, and the exponents of every iteration, [T, 4]."""
    trace = np.zeros((ITERATIONS, HEAD + len(policy.features) + int(policy.sizes[-1])))
    run_ddcfr(game, policy, trace)
    rows = trace[trace[:, 0] > 0]
    looked = np.zeros(ITERATIONS, bool)
    looked[rows[:, 0].astype(int) - 1] = True
    return looked, np.ascontiguousarray(rows[np.cumsum(looked) - 1, 2:6])


def interleaved(ways: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, list[float]]:
    """Times of every variant, in alternating order, so that drift of the machine affects all equally."""
    found: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(rounds):
        for name in list(ways)[:: 1 if number % 2 == 0 else -1]:
            found[name].append(ways[name]())
    return found


def costs(game: Game, policy: DiscountPolicy) -> Costs:
    """Times of one game."""
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
    """The minimum time of every variant."""
    least = {name: min(found[name]) if name in found else None for name in WAYS}
    network = decisions * network_seconds(policy)
    return Costs(**least, rounds=len(found["ddcfr"]), decisions=decisions, network=network)


def network_seconds(policy: DiscountPolicy) -> float:
    """The minimum time of one evaluation of the network."""
    activations, taken = np.empty(int(policy.sizes.sum())), []
    decide_loop(policy.compiled, activations, 1)
    for _ in range(NETWORK_ROUNDS):
        start = time.process_time()
        decide_loop(policy.compiled, activations, CALLS)
        taken.append((time.process_time() - start) / CALLS)
    return min(taken)


def hand_costs(game: Subgame, policy: DiscountPolicy) -> Costs:
    """Times of one hold'em subgame, in single precision; all variants compute exploitability by the solver's own passes."""
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
    """DDCFR on a subgame, whose exploitability it observes in the authors' unit."""
    solver = HoldemSolver(game.compiled, policy, threads=1, horizon=ITERATIONS)
    solver.form.unit = 1.0 / game.scale
    return solver


def hand_decisions(game: Subgame, policy: DiscountPolicy) -> list[int]:
    """Iterations before which DDCFR decides on a hold'em subgame."""
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
            key = {"costs": game.identity, "policy": digest(policy), "code": code(*STEERED, "papers.ddcfr.table2")}
            found[name] = Costs(**kept(key, lambda game=game: asdict(costs(game, policy))))
        else:
            found[name] = costs(game, policy)
        print(f"{name} done", flush=True)
    before = stored("ddcfr/table2").get("costs", {})
    for name in NUMBERS:
        if at_hand():
            found[name] = hand_costs(Subgame(name), policy)
        elif name in before:
            found[name] = Costs(**before[name])
    return found


@study(title="DDCFR, Table 2: run time", place=4, minutes=3)
def reproduce() -> Result:
    numbers, policy = published("ddcfr"), own_policy()
    known = {**numbers["table2"], **numbers["holdem"]["table2"]}
    found, call = measure(policy), network_seconds(policy)
    return Result(
        source=f"{numbers['source']}; {numbers['table2']['source']}",
        findings=findings(known, found, call),
        tables=[costs_table(known, found), shares_table(known, found)],
        pictures=[draw(known, found)],
        notes=notes(policy, at_hand()),
        numbers={"costs": {name: asdict(row) for name, row in found.items()}, "network_call": call},
    )
