"""What hold'em adds: its agents and its commands."""

from treeplex.base.wings import Wing

WING = Wing(
    agents=(
        "treeplex.holdem.agents.modicum:Modicum",
        "treeplex.holdem.agents.endgames:Endgames",
        "treeplex.holdem.limit.named_agent:Limit",
    ),
    groups={"treeplex.holdem.cli.main": "Solve heads-up hold'em spots."},
)
