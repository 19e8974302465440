"""Winnings of a local best response against the rule agents of no-limit hold'em, a lower bound of their exploitability.

Hands are cached in parts in ``runs/papers``; ``python papers/run.py holdem/rule_agents 3`` plays three times as many.
"""

from papers.common.kept import code, effort
from papers.common.results import Result, Table, stored
from papers.common.study import study
from papers.holdem.whole import GAME, bounded_in_parts, together
from treeplex.search.agents.by_rules import STYLES

ACTIONS, PART, PARTS = "fcpa", 200, 1
"""Actions considered, hands per part, and number of parts."""
CODE = ("treeplex.search.evaluate", "treeplex.holdem.whole", "treeplex.search.agents", "treeplex.search.match.lbr_run")


def won_from(style: str, parts: int) -> list[float]:
    """Its winnings from an agent over all parts, and half the width of the interval, in mbb/hand."""
    key = {"style": style, "actions": ACTIONS, "code": code(*CODE)}
    return together(bounded_in_parts(f"rules(style={style})", key, parts, PART, actions=ACTIONS), parts * PART)


@study(title="No-limit hold'em: lower bounds for rule agents", place=18, minutes=20)
def reproduce(times: float = 1.0) -> Result:
    parts = max(1, round(PARTS * times))
    found, blueprint = {style: won_from(style, parts) for style in STYLES}, stored("holdem/whole")["rules"]
    return Result(
        source="Lisý and Bowling 2017",
        findings=[
            f"A local best response wins {won:+,.0f} ± {error:,.0f} mbb/hand from `{style}`."
            for style, (won, error) in found.items()
        ],
        tables=[
            Table(
                "Winnings of a local best response from rule agents, in mbb/hand",
                ["from", "who is", "it wins", "±", "the blueprint wins"],
                [
                    [f"`{style}`", STYLES[style].about, f"{won:+,.0f}", f"{error:,.0f}", f"{blueprint[style]:+,.0f}"]
                    for style, (won, error) in found.items()
                ],
            )
        ],
        notes=[
            f"{GAME}; it considers `{ACTIONS}` and knows the agents' policies; {parts * PART:,} hands each. The blueprint "
            f"is that of `holdem/whole`, trained without these opponents. {effort()}"
        ],
        numbers=found,
    )
