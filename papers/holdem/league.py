"""Heads-up agents against each other at 200 big blinds: duplicate deals with AIVAT, in rounds that add up over calls.

A call adds rounds to the stored ones: ``papers/run.py holdem/league 3`` plays three more of every pair. Each round has its
own seed, so rounds of different calls and machines are independent.
"""

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any

from papers.common.results import Result, Table, store_run_with, stored_with
from papers.common.study import study
from treeplex import match
from treeplex.search.evaluate.statistics import half_width

STACK = 200
GAME = f"holdem(stack={STACK})"
RESOLVER = "resolver(think=none,iterations=80,threads=1)"
ENTRANTS = {"resolver": RESOLVER, "regular": "rules(style=regular)", "rock": "rules(style=rock)"}
"""Agents by the names of the table. ``resolver`` runs a fixed number of iterations, so results do not depend on the load."""
PAIRS = (("resolver", "regular"), ("resolver", "rock"))
HANDS = 60
"""Hands of a round: each deal is played in both seatings."""
STUDY = "holdem/league"
SETTINGS = {"game": GAME, "entrants": ENTRANTS}
BIG_BLIND = 2.0
WIDEST = 1000.0
"""Wider intervals, in mbb/hand, say nothing and are not shown."""


def played(one: str, other: str, seed: int) -> dict[str, Any]:
    """One round: hands, and the first agent's mean winnings with their standard error, in mbb/hand."""
    agents = {name: ENTRANTS[name] for name in (one, other)}
    found = match(GAME, agents, hands=HANDS, duplicate=True, aivat="checked", seed=seed, progress=False)
    scale = 1000.0 / BIG_BLIND
    return {"seed": seed, "hands": found.hands, "won": scale * found.value[0], "error": scale * found.stderr[0]}


def pooled(rounds: Sequence[Mapping[str, Any]]) -> tuple[int, float, float]:
    """Hands, mean winnings and half the width of a 95% interval, in mbb/hand, over all deals of all rounds."""
    deals = [each["hands"] // 2 for each in rounds]
    total = sum(deals)
    mean = sum(count * each["won"] for count, each in zip(deals, rounds, strict=True)) / total
    squares = sum(
        count * (count - 1) * each["error"] ** 2 + count * (each["won"] - mean) ** 2
        for count, each in zip(deals, rounds, strict=True)
    )
    error = sqrt(squares / (total - 1) / total)
    return 2 * total, mean, half_width(error, total)


@study(title="Heads-up agents against each other at 200 big blinds", place=22, minutes=15)
def reproduce(rounds: int = 1) -> Result:
    runs: dict[str, list[dict[str, Any]]] = dict(stored_with(STUDY, SETTINGS).get("runs", {}))
    for one, other in PAIRS:
        name = f"{one} {other}"
        for _ in range(rounds):
            done = runs.get(name, [])
            runs[name] = [*done, played(one, other, len(done))]
            store_run_with(STUDY, SETTINGS, ["runs", name, len(done)], runs[name][-1])
            print(name, runs[name][-1], pooled(runs[name]), flush=True)
    found = {name: pooled(each) for name, each in runs.items()}
    shown = {name: row for name, row in found.items() if row[2] < WIDEST}
    return Result(
        source="own",
        findings=[
            f"`{name.split()[0]}` wins {mean:+,.0f} ± {half:,.0f} mbb/hand from `{name.split()[1]}` ({hands:,} hands)."
            for name, (hands, mean, half) in shown.items()
        ],
        tables=[
            Table(
                f"Winnings with {STACK} big blinds, in mbb/hand",
                ["agent", "against", "hands", "wins", "± (95%)"],
                [[*name.split(), f"{hands:,}", f"{mean:+,.0f}", f"{half:,.0f}"] for name, (hands, mean, half) in shown.items()],
            )
        ],
        notes=[
            f"`{GAME}`, duplicate deals, AIVAT with check-down values. "
            + "; ".join(f"{name}: `{text}`" for name, text in ENTRANTS.items())
            + f". Pairs with intervals wider than ±{WIDEST:,.0f} are not shown."
        ],
        numbers={"settings": SETTINGS, "runs": runs},
    )
