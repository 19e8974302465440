"""Full no-limit hold'em: local best response to the agent that re-solves turns and rivers, and to its blueprint.

The blueprint is that of ``runs/holdem-long``, as in ``whole``; without such a folder it is trained first, in an hour. Hands are
cached in parts in ``runs/papers``; ``python papers/run.py holdem/agent_lbr fc=2`` plays twice as many. ``fcpa`` has four times
as many hands as ``fc`` by default, because all-ins for tens of blinds increase its variance.
"""

import math
from collections.abc import Mapping, Sequence

from papers.common.kept import code
from papers.common.results import Result, Table
from papers.common.study import study
from papers.holdem.own_blueprint import AGENTS
from papers.holdem.own_blueprint import CODE as PLAYS
from papers.holdem.whole import FOLDER, GAME, bounded_in_parts, long_blueprint, together

BLUEPRINT, AGENT = "blueprint", "turns and rivers"
SETTINGS = {"fc": 0, "fcpa": 0, "fcpa from the turn": 2}
"""Actions that the local best response considers, and the betting round before which it checks and calls."""
LEGEND = {
    "fc": "`fc`: fold, check, call",
    "fcpa": "`fcpa`: the pot and all-in as well",
    "fcpa from the turn": "*from the turn*: before it, it checks and calls, as in DeepStack's table",
}
DEEPSTACK = {"fc": "428 ± 87 from `fc`", "fcpa from the turn": "383 ± 219 from `fcpa` from the turn on"}
"""Winnings of DeepStack with 200 big blinds."""
PART = {BLUEPRINT: 500, AGENT: 100}
PARTS = {BLUEPRINT: 2, AGENT: 10}
"""Hands per part (each with a separate seed), and parts per thousand hands."""
THOUSANDS = {"fc": 1, "fcpa": 4}
"""Hands with each setting."""
ON_TREE = "turn=[50%;100%;a],river=[50%;100%;a]"
"""Bet sizes of the table, so that the agent's tree contains those of the local best response."""
CODE = (*PLAYS, "treeplex.search.match.lbr_run")


def player(name: str) -> str:
    """The agent from its command-line name."""
    return str(FOLDER) if name == BLUEPRINT else f"endgames(blueprint={FOLDER},{AGENTS[name]},{ON_TREE})"


def bounded(name: str, setting: str, parts: int, card: Mapping[str, object]) -> list[float]:
    """Its winnings over all parts and half the width of the interval, in mbb/hand; hands; and CPU seconds per hand."""
    key = {"blueprint": dict(card), "agent": player(name), "setting": setting, "code": code(*CODE)}
    options = {"actions": setting.split()[0], "first_round": SETTINGS[setting]}
    found, hands = bounded_in_parts(player(name), key, parts, PART[name], **options), parts * PART[name]
    return [*together(found, hands), hands, math.fsum(each[2] for each in found) / hands]


def wanted(options: Sequence[str]) -> dict[str, float]:
    """Thousands of hands with each setting, from the options."""
    asked = {name: float(thousands or 1) for name, _, thousands in (option.partition("=") for option in options)}
    if unknown := {*asked} - {*SETTINGS}:
        raise SystemExit(f"holdem/agent_lbr: unknown setting {', '.join(sorted(unknown))}; choose from {', '.join(SETTINGS)}")
    return asked or dict(THOUSANDS)


@study(title="No-limit hold'em: local best response", place=15, minutes=150)
def reproduce(*options: str) -> Result:
    settings = wanted(options)
    card, theirs = long_blueprint().card, " and ".join(DEEPSTACK[setting] for setting in settings if setting in DEEPSTACK)
    found = {
        f"{name}, {setting}": bounded(name, setting, max(1, round(thousands * PARTS[name])), card)
        for setting, thousands in settings.items()
        for name in PART
    }
    return Result(
        source="Lisý and Bowling 2017; Moravčík et al. 2017, table 1",
        findings=[
            f"{who}: it wins {round(mean):+,d} ± {error:,.0f} mbb/hand over {hands:,.0f} hands."
            for who, (mean, error, hands, _) in found.items()
        ],
        tables=[
            Table(
                "Winnings of a local best response, in mbb/hand, ± 95%",
                ["against", "it considers", "hands", "gets", "±", "CPU s per hand"],
                [
                    [*who.split(", "), f"{hands:,.0f}", f"{round(mean):+,d}", f"{error:,.0f}", f"{seconds:.2f}"]
                    for who, (mean, error, hands, seconds) in found.items()
                ],
            )
        ],
        notes=[
            f"{GAME}, a blueprint of {card['boards']:,} boards with {card['deals']} deals each, "
            f"{card['cpu_seconds']:,} CPU s. The agent re-solves turns and rivers: `{AGENTS[AGENT]},{ON_TREE}`, with "
            "the bet sizes of the table, and with up to a minute per decision in place of two seconds. "
            f"{'; '.join(LEGEND[setting] for setting in settings)}."
            + (f" DeepStack won {theirs}, with 200 big blinds." if theirs else ""),
        ],
        numbers=found,
    )
