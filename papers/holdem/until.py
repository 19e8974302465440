"""Flops solved until the turn with the library's hand-value network, compared with full solves: first decisions, values, time,
and exploitability of the flop strategy with later streets solved.

Flops are cached one by one, so that a call computes only missing ones; ``papers/run.py holdem/until 3`` computes at most three.
"""

from functools import partial
from time import process_time
from typing import Any

import numpy as np

from papers.common.kept import code, kept, peek
from papers.common.results import Result, Table
from papers.common.study import study
from treeplex.holdem import HoldemSolution, Spot
from treeplex.holdem import compile as compile_spot
from treeplex.holdem.search.leaves.hand_values import HandValues
from treeplex.holdem.search.leaves.street_end_values import StreetEndValues
from treeplex.holdem.search.subgames.subgame import cut_first_street
from treeplex.holdem.solve.first_street_judge import judge_first_street
from treeplex.holdem.solve.solution import HoldemSettings
from treeplex.holdem.solve.solve_spot import solve_spot
from treeplex.holdem.spots.files import request_from_options
from treeplex.learn.common.device import one_thread
from treeplex.learn.first_street.until import UntilJob
from treeplex.learn.hand_values.inference import hand_function
from treeplex.learn.hand_values.net import FORM
from treeplex.learn.hand_values.settings import END
from treeplex.learn.hand_values.shipped import HANDS, shipped_hand_net
from treeplex.learn.rebel.files import NetFile, read_net
from treeplex.search import METHODS, SubgameSearch

FLOPS = ("Ks8s3d", "Jh7c2d", "Td9d6h", "AcQs4h", "9h8h5h", "6c6d3s", "QdJs2d", "8c5d4s", "AhKh7c", "Tc7s3h")
"""Flops; the network was trained on turns and has seen none of them."""
RANGES = {"oop": "88+,ATs+,AQo+,KJs+,QJs,JTs,T9s,98s", "ip": "TT+,AJs+,AQo+,KQs,QJs,JTs,T9s,98s,87s"}
BEST, JUDGING, UNTIL = 150, 100, 100
WHOLE = (20,)
AGENT = "resolver"
CODE = (
    *("papers.holdem.until", "treeplex.learn.hand_values", "treeplex.holdem.solve", "treeplex.holdem.search"),
    *("treeplex.holdem.policies", "treeplex.solvers", "treeplex.holdem.forms", "treeplex.engine", "treeplex.holdem.rules"),
)
"""Modules that affect a flop's results; see ``kept.py``."""


def spot_on(board: str) -> Spot:
    fields = {"board": board, **RANGES, "pot": 1, "stack": 3, "bets": "100%,a", "raises": "a"}
    return request_from_options(fields).spot()


def first_policies(solution: HoldemSolution) -> list[tuple[np.ndarray, np.ndarray]]:
    """Policies at the first decision and after a check, [A, hands], and the weights of the hands."""
    values, nodes = solution.hand_values, solution.tree.nodes
    found = []
    for node, player in ((0, 0), (nodes[0].children[0], 1)):
        weights = solution.spot.ranges[player][solution.game.boards[0][0].hands[player]]
        found.append((values.policy(0, 0, node), weights / weights.sum()))
    return found


def distance(one: HoldemSolution, other: HoldemSolution) -> list[float]:
    """Total variation distance at the first two decisions, weighted by the starting ranges."""
    pairs = zip(first_policies(one), first_policies(other), strict=True)
    return [float((np.abs(mine - its).sum(axis=0) * weights).sum() / 2) for (mine, weights), (its, _) in pairs]


def by_agent(spot: Spot) -> HoldemSolution:
    """A solve with the leaf values of ``resolver``, those of a network for the end of the flop."""
    leaf = StreetEndValues(
        hand_function(shipped_hand_net("flop", END), at=END), exact=HandValues(hand_function(shipped_hand_net("turn")))
    )
    search = SubgameSearch(cut_first_street(spot), METHODS["dcfr"], leaf, horizon=UNTIL)
    with one_thread():
        search.run(UNTIL)
    settings = HoldemSettings("float64", 1, UNTIL, None, "turn", HANDS)
    values = HandValues(hand_function(shipped_hand_net("turn")))
    return UntilJob(search, values, settings, iterations=UNTIL).made((), "finished")


def flop(board: str) -> dict:
    """Results of one flop, a row per solve."""
    spot, rows = spot_on(board), {}
    solve_spot(spot, until="turn", iterations=2)  # kernels are compiled or read
    by_agent(spot)
    best = solve_spot(
        compile_spot(spot, isomorphism=False), "dcfr", iterations=BEST, target=0.0, threads=1, every=BEST, isomorphism=False
    )
    solves = {f"whole, {count}": {"iterations": count, "target": 0.0, "threads": 1, "every": count} for count in WHOLE}
    solves["network"] = {"until": "turn", "net": HANDS, "iterations": UNTIL}
    for name, how in {AGENT: None, **solves}.items():
        began = process_time()
        found = by_agent(spot) if how is None else solve_spot(spot, "dcfr", **how)
        seconds = process_time() - began
        judged = judge_first_street(found, iterations=JUDGING, threads=1, start=best)
        rows[name] = [found.ev[0], *distance(found, best), judged.exploitability, seconds]
        print(board, name, rows[name], flush=True)
    rows[f"whole, {BEST}"] = [best.ev[0], 0.0, 0.0, best.exploitability, best.records[-1].cpu_seconds]
    return rows


def key_of(board: str, net: NetFile) -> dict[str, Any]:
    """Cache key of a flop."""
    made = {"best": BEST, "judging": JUDGING, "until": UNTIL, "whole": WHOLE, "net": net.checksum, "code": code(*CODE)}
    return {"what": "holdem/until", "game": spot_on(board).identity, **made}


def findings(means: dict) -> list[str]:
    def told(name: str) -> str:
        return f"{100 * means[name][3]:.1f}% of the pot after {means[name][4]:.1f} s"

    return [
        f"A flop strategy loses {told('network')} with the network for the start of the turn, and {told(AGENT)} with that for "
        "the end of the flop, which `resolver` uses; "
        + " and ".join(f"{count} iterations of a full solve lose {told(f'whole, {count}')}" for count in WHOLE)
        + ".",
    ]


@study(title="Flops solved until the turn with a hand-value network", place=6, minutes=25, needs=("torch",))
def reproduce(most: int = len(FLOPS)) -> Result:
    net = read_net(shipped_hand_net("turn"), form=FORM)
    keys = {board: key_of(board, net) for board in FLOPS}
    left = [board for board in FLOPS if peek(keys[board]) is None][most:]
    found = {board: kept(keys[board], partial(flop, board)) for board in FLOPS if board not in left}
    best = f"whole, {BEST}"
    names = ["network", AGENT, *(f"whole, {count}" for count in WHOLE), best]
    rows, means = [], {}
    for name in names:
        numbers = np.array([each[name] for each in found.values()])
        away = np.abs(numbers[:, 0] - np.array([each[best][0] for each in found.values()]))
        means[name] = [float(away.mean()), *map(float, numbers[:, 1:].mean(axis=0))]
        value, first, answer, exploitability, seconds = means[name]
        shown = [
            f"{100 * value:.2f}",
            f"{100 * first:.1f}",
            f"{100 * answer:.1f}",
            f"{100 * exploitability:.2f}",
            f"{seconds:.1f}",
        ]
        rows.append([name, *shown])
    each = [
        [board, *(f"{100 * own[name][3]:.2f}" for name in names), *(f"{own[name][0]:+.3f}" for name in ("network", best))]
        for board, own in found.items()
    ]
    return Result(
        source="a study of our own",
        findings=findings(means),
        tables=[
            Table(
                f"Means over {len(found)} flops with 3 pots behind (100%, all-in; raises all-in): error of the value "
                f"out of position relative to {BEST} iterations of a full solve (% of the pot), error of the first "
                "decision and of the answer to a check (%), exploitability of the flop strategy with later streets "
                "solved (% of the pot), and CPU seconds, construction included",
                ["solve", "value", "first", "after a check", "exploitability", "s"],
                rows,
            ),
            Table(
                "Exploitability of the strategy on each flop (% of the pot), and the value out of position in pots",
                ["flop", *names, "value, network", f"value, {best}"],
                each,
            ),
        ],
        notes=[
            f"The network was trained on {net.card['situations']:,} situations; {UNTIL} iterations with it. "
            "`network` evaluates it on all turn cards in every second iteration. `resolver` evaluates a network for the end of "
            "the flop, trained on means over the turn cards, in every iteration, and corrects it by all turn cards after 24, "
            "48 and 96 iterations. Exploitability is an upper bound on the cost of mistakes on the flop "
            f"(`judge_first_street`), computed with {JUDGING} iterations that start from the full solve of {BEST}. In the last "
            "row it is that of the full solve over all streets, and seconds are those of the iterations alone, without "
            "construction and without suit isomorphism.",
        ],
        numbers={"flops": found, "means": means},
    )
