"""Local best response to ``resolver`` with 200 big blinds, in rounds that add up over calls.

A call adds rounds to the stored ones: ``papers/run.py holdem/resolver_lbr fc=10`` plays ten more rounds with ``fc``. Each round
has its own seed.
"""

from collections.abc import Mapping, Sequence
from math import fsum
from time import process_time
from typing import Any

from papers.common.results import Result, Table, store_run_with, stored_with
from papers.common.study import study
from papers.holdem.league import BIG_BLIND, SPLITS, VERSION, hidden_rows, pooled
from treeplex.arena import local_best_response

STACK = 200
GAME = f"holdem(stack={BIG_BLIND * STACK})"
AGENT = "resolver(think=none,iterations=80,threads=1,flop=[50%;100%],turn=[50%;100%;a],river=[50%;100%;a])"
"""Bets of the pot are in its trees, so that it rarely has to solve a street again."""
FIRST = {"fc": 0, "fcpa": 2}
"""Actions that the local best response considers, and the round before which it checks and calls, as in the papers."""
PUBLISHED = {"fc": "DeepStack -428 ± 87", "fcpa": "DeepStack -383 ± 219, ReBeL -881 ± 94"}
HANDS = 10
"""Hands of a round."""
STUDY = "holdem/resolver_lbr"
SETTINGS = {"game": GAME, "agent": AGENT, "first": FIRST, "splits": list(SPLITS), "version": VERSION}
WIDEST = 400.0
"""Wider intervals, in mbb/hand, are not shown."""


def played(actions: str, seed: int) -> dict[str, Any]:
    """One round: number of hands, mean winnings of the local best response and their standard error, in mbb/hand."""
    began, scale = process_time(), 1000.0 / BIG_BLIND
    found = local_best_response(
        GAME, AGENT, hands=HANDS, splits=SPLITS, actions=actions, first_round=FIRST[actions], seed=seed, progress=False
    )
    seconds = round((process_time() - began) / HANDS, 2)
    return {"hands": HANDS, "won": scale * found.value, "error": scale * found.error, "seconds": seconds}


def row(actions: str, rounds: Sequence[Mapping[str, Any]]) -> list[str]:
    """The table's row of all rounds with these actions."""
    hands, mean, half = pooled(rounds)
    seconds = fsum(each["seconds"] for each in rounds) / len(rounds)
    return [actions, f"{hands:,}", f"{mean:+,.0f}", f"{half:,.0f}", f"{seconds:.1f}", PUBLISHED[actions]]


@study(title="Local best response to `resolver` at 200 big blinds", place=23, minutes=30)
def reproduce(*options: str) -> Result:
    asked = {name: int(rounds or 1) for name, _, rounds in (option.partition("=") for option in options)}
    if unknown := {*asked} - {*FIRST}:
        raise SystemExit(f"{STUDY}: unknown actions {', '.join(sorted(unknown))}; choose from {', '.join(FIRST)}")
    runs: dict[str, list[dict[str, Any]]] = dict(stored_with(STUDY, SETTINGS).get("runs", {}))
    for actions, rounds in (asked or dict.fromkeys(FIRST, 1)).items():
        for _ in range(rounds):
            done = runs.get(actions, [])
            runs[actions] = [*done, played(actions, len(done))]
            store_run_with(STUDY, SETTINGS, ["runs", actions, len(done)], runs[actions][-1])
            print(actions, runs[actions][-1], pooled(runs[actions]), flush=True)
    found = {actions: pooled(rounds) for actions, rounds in runs.items()}
    rows = [row(actions, rounds) for actions, rounds in runs.items() if found[actions][2] < WIDEST]
    hidden = hidden_rows({actions: each for actions, each in found.items() if not each[2] < WIDEST})
    return Result(
        source="Lisý and Bowling 2017; Moravčík et al. 2017, table 1; Brown et al. 2020, table 1",
        findings=[f"With `{name}` it wins {won} ± {half} mbb/hand ({hands} hands)." for name, hands, won, half, *_ in rows],
        tables=[
            Table(
                "Winnings of a local best response from `resolver`, in mbb/hand",
                ["it considers", "hands", "wins", "± (95%)", "CPU s per hand", "published"],
                rows,
            )
        ],
        notes=[
            f"`{GAME}`; `{AGENT}`. `fc`: fold, check and call on every street; `fcpa`: also the pot and all-in, but before the "
            "turn it checks and calls, as in both papers. A negative number: the local best response loses. The papers' "
            "opponents and games differ. Their intervals are 95% for DeepStack and one standard deviation for ReBeL. "
            f"Each hand is continued {SPLITS[0]} times from its flop, and from each turn {SPLITS[1]} times. Intervals wider "
            f"than ±{WIDEST:,.0f} mbb/hand are not reported{hidden}."
        ],
        numbers={"settings": SETTINGS, "runs": runs},
    )
