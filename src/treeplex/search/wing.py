"""The search wing: agents, their policies, and the commands for matches and play."""

from treeplex.base.wings import Wing

_AGENTS = "treeplex.search.named_agents"

WING = Wing(
    sources=("treeplex.search.sources:Agents",),
    agents=(
        f"{_AGENTS}.tables:Uniform",
        f"{_AGENTS}.tables:Blueprint",
        f"{_AGENTS}.libratus:Libratus",
        f"{_AGENTS}.pluribus:Pluribus",
        f"{_AGENTS}.translated:ActionTranslation",
        f"{_AGENTS}.lbr:LocalBest",
        f"{_AGENTS}.rules:Rules",
        f"{_AGENTS}.openspiel:OpenSpiel",
    ),
    warm_ups={"agents": "treeplex.search.match.warm_up:compile_agents"},
    commands=("treeplex.search.cli",),
)
