"""A flop's first strategy in seconds: full solves of flops with all 1,176 hands and with about 600, compared with solving the
flop alone by the library's network.

Runs are cached one by one, so that a call computes only missing ones.
"""

from dataclasses import replace
from functools import partial
from time import perf_counter, process_time
from typing import Any

import numpy as np

from papers.common.kept import code, effort, kept
from papers.common.results import Result, Table
from papers.common.study import study
from papers.holdem.until import distance
from treeplex.holdem import HoldemSolution, Spot
from treeplex.holdem.solve.solve_spot import solve_spot
from treeplex.holdem.spots.files import request_from_options
from treeplex.learn.hand_values.net import FORM
from treeplex.learn.hand_values.shipped import shipped_hand_net
from treeplex.learn.rebel.files import NetFile, read_net

FLOPS = ("Ks8s3d", "Jh7c2d", "9h8h5h")
"""Flops of two suits, three suits, and one suit: from many runouts to few."""
RANGES = {"all hands": "all", "about 600": "top 51%"}
FEW, BEST, EVERY, TARGET = 40, 80, 10, 0.005
"""Iterations at which a full solve is evaluated, those of the reference solve, those between evaluations, and the target
exploitability in pots.
"""
UNTIL = 40
CODE = (
    *("papers.holdem.first_strategy", "treeplex.learn.hand_values", "treeplex.holdem.solve", "treeplex.holdem.search"),
    *("treeplex.holdem.policies", "treeplex.solvers", "treeplex.holdem.forms", "treeplex.engine", "treeplex.holdem.rules"),
)
"""Modules that affect results; see ``kept.py``."""


def spot_on(board: str, hands: str) -> Spot:
    """A flop with a pot of 1 and three pots behind, the same range for both players."""
    fields = {"board": board, "oop": hands, "ip": hands, "pot": 1, "stack": 3, "bets": "100%,a", "raises": "a"}
    return request_from_options(fields).spot()


def hand_errors(found: HoldemSolution, best: HoldemSolution) -> float:
    """Mean difference of hand values before the first action, weighted by range, mean of both players, in pots."""
    spot = best.spot
    away = np.nan_to_num(np.abs(found.root_values() - best.root_values()))
    weights = np.stack(spot.ranges)
    return float((away * weights).sum() / 2 / best.game.compatible / spot.opening_pot)


def one_thread(board: str, hands: str) -> dict[str, Any]:
    """Full solves and solves of only the flop with the network, on one thread: values, distances, and CPU seconds."""
    spot = spot_on(board, hands)
    solve_spot(spot, until="turn", iterations=2)  # kernels are compiled or read
    began = process_time()
    few = solve_spot(spot, "dcfr", iterations=FEW, target=0.0, threads=1, every=FEW)
    seconds = process_time() - began
    rarer = replace(few, settings=replace(few.settings, every=EVERY))
    best = solve_spot(resume=rarer, iterations=BEST, target=0.0, threads=1)
    whole = process_time() - began
    began = process_time()
    network = solve_spot(spot, "dcfr", until="turn", iterations=UNTIL)
    alone = process_time() - began
    reached = [each for each in best.records if each.exploitability <= TARGET * spot.opening_pot]
    row = {
        "hands": int((spot.ranges[0] > 0).sum()),
        "best": {"value": best.ev[0], "exploitability": best.exploitability, "seconds": whole},
        "few": {"exploitability": few.exploitability, "seconds": seconds, **apart(few, best)},
        "network": {"seconds": alone, **apart(network, best)},
        "reached": {"iterations": reached[0].done, "seconds": reached[0].cpu_seconds} if reached else None,
    }
    print(board, hands, row, flush=True)
    return row


def apart(found: HoldemSolution, best: HoldemSolution) -> dict[str, float]:
    """Distance of a solve from the reference: value of the range, values of hands, first decision, answer to a check."""
    first, answer = distance(found, best)
    value = abs(found.ev[0] - best.ev[0]) / best.spot.opening_pot
    return {"value": value, "hands": hand_errors(found, best), "first": first, "answer": answer}


def two_threads(board: str, hands: str) -> dict[str, Any]:
    """A full solve to the target with two threads: wall-clock and CPU seconds."""
    spot = spot_on(board, hands)
    began, cpu = perf_counter(), process_time()
    found = solve_spot(spot, "dcfr", iterations=BEST, target=TARGET * spot.opening_pot, threads=2, every=EVERY)
    row = {"iterations": found.iterations, "wall": perf_counter() - began, "seconds": process_time() - cpu}
    print(board, hands, "two threads", row, flush=True)
    return row


def key_of(what: str, spot: Spot, net: NetFile) -> dict[str, Any]:
    """Cache key of a run."""
    made = {"few": FEW, "best": BEST, "every": EVERY, "target": TARGET, "until": UNTIL, "net": net.checksum}
    return {"what": f"holdem/first_strategy {what}", "game": spot.identity, **made, "code": code(*CODE)}


def findings(found: dict[tuple[str, str], dict[str, Any]]) -> list[str]:
    """The findings."""
    every = [row for (_, name), row in found.items() if name == "all hands"]
    few, net = (np.array([row[name]["seconds"] for row in every]) for name in ("few", "network"))
    errors = np.array([[row[name]["hands"] for row in every] for name in ("network", "few")]).mean(axis=1)
    return [
        f"With all hands, solving only the flop with the network takes {net.min():.1f} to {net.max():.1f} s on one core, "
        f"with a mean error of hand values of {100 * errors[0]:.1f}% of the pot. {FEW} iterations of a full solve "
        f"take {few.min():.0f} to {few.max():.0f} s, with an error of {100 * errors[1]:.1f}%.",
    ]


@study(title="A flop's first strategy, in seconds", place=13, minutes=8, needs=("torch",))
def reproduce() -> Result:
    net = read_net(shipped_hand_net("turn"), form=FORM)
    places = [(board, name) for name in RANGES for board in FLOPS]
    found = dict[tuple[str, str], dict[str, Any]]()
    for board, name in places:
        spot = spot_on(board, RANGES[name])
        found[board, name] = kept(key_of("one_thread", spot, net), partial(one_thread, board, RANGES[name]))
    board, hands = FLOPS[0], RANGES["all hands"]
    wall = kept(key_of("two_threads", spot_on(board, hands), net), partial(two_threads, board, hands))
    times, values = [], []
    for place in places:
        row = found[place]
        reached, network, few = row["reached"], row["network"], row["few"]
        times.append(
            [
                *(place[0], f"{row['hands']:,}", f"{network['seconds']:.1f}"),
                *(f"{few['seconds']:.1f}", f"{100 * few['exploitability']:.2f}"),
                *((str(reached["iterations"]), f"{reached['seconds']:.1f}") if reached else (f"over {BEST}", "")),
            ]
        )
        apart = [f"{100 * own[name]:.2f}" for own in (network, few) for name in ("value", "hands")]
        decided = [f"{100 * own[name]:.1f}" for own in (network, few) for name in ("first", "answer")]
        values.append([place[0], f"{row['hands']:,}", *apart, *decided, f"{100 * row['best']['exploitability']:.2f}"])
    return Result(
        source="a study of our own",
        findings=findings(found),
        tables=[
            Table(
                f"CPU seconds, construction included, of the flop alone by the network ({UNTIL} iterations) and of a "
                f"full solve of {FEW} iterations, with its exploitability (% of the pot); iterations to half a "
                f"percent of the pot, evaluated every {EVERY} from {FEW} on, with CPU seconds (without evaluation and "
                "construction)",
                ["flop", "hands", "network", f"whole, {FEW}", "exploitability", "to .5%", "s"],
                times,
            ),
            Table(
                f"Distance of the network (n) and of {FEW} iterations (w) from {BEST} iterations of a full solve: the "
                "value out of position and values of hands before the first action, weighted by how often they are "
                "held (% of the pot); the first decision and the answer to a check (%); and the exploitability of "
                f"the {BEST} iterations (% of the pot)",
                [
                    *("flop", "hands", "n: value", "hands", "w: value", "hands"),
                    *("n: first", "after a check", "w: first", "after a check", f"whole, {BEST}"),
                ],
                values,
            ),
        ],
        notes=[
            "A pot of 1 with 3 behind (100%, all-in; raises all-in), both players with all hands or with the best 51% of them. "
            "DCFR, single precision.",
            f"With two threads, evaluation and construction included, {board} with all hands reached 0.5% of the pot "
            f"in {wall['wall']:.0f} s wall-clock time on a busy machine, and {wall['seconds']:.0f} CPU s.",
            effort(),
        ],
        numbers={"one thread": [[*place, row] for place, row in found.items()], "two threads": [board, hands, wall]},
    )
