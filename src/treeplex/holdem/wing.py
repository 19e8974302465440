"""Registers the games, spots, agents and commands for hold'em."""

from treeplex.base.wings import Wing
from treeplex.holdem.spots.spot_table import NAMED, SOLVED_FILE, SPOT_FILES, SPOTS

WING = Wing(
    games={
        "no_limit_leduc": "treeplex.holdem.rules.named:NO_LIMIT_LEDUC_INFO",
        "small_holdem": "treeplex.holdem.rules.named:SMALL_HOLDEM_INFO",
        "turn_holdem": "treeplex.holdem.rules.named:TURN_HOLDEM_INFO",
        "rhode_island": "treeplex.holdem.rules.named:RHODE_ISLAND_INFO",
        "bucketed_holdem": "treeplex.holdem.buckets.named:INFO",
        "holdem": "treeplex.holdem.whole.named:INFO",
        "repeated_poker": "treeplex.holdem.whole.repeated:INFO",
    },
    loaders=dict.fromkeys((*NAMED, *SPOT_FILES, SOLVED_FILE), "treeplex.holdem.spots.files:load_spot"),
    solvables=(SPOTS,),
    sources=("treeplex.holdem.sources:SolvedSpots", "treeplex.holdem.sources:Blueprints"),
    warm_ups={
        "hold'em": "treeplex.holdem.warm_up:compile_spots",
        "hold'em variants": "treeplex.holdem.warm_up:compile_spot_variants",
    },
    agents=(
        "treeplex.holdem.agents.blueprint:PlayedBlueprint",
        "treeplex.holdem.agents.libratus:HoldemLibratus",
        "treeplex.holdem.agents.pluribus:HoldemPluribus",
        "treeplex.holdem.agents.modicum:Modicum",
        "treeplex.holdem.agents.endgames:Endgames",
        "treeplex.holdem.protocols.program:Program",
    ),
    played_folders={"holdem blueprint": "blueprint:file"},
    options=("treeplex.holdem.cli.shared.options:SPOT_OPTIONS",),
    groups={"treeplex.holdem.cli.main": "Hold'em: equities, charts, many boards, reviews, protocols."},
)
