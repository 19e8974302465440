"""``treeplex agents``: the agents, by name."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from treeplex.run.cli.shared.arguments import Json
from treeplex.run.cli.shared.commands import command
from treeplex.run.cli.shared.console import print_entries, print_facts, print_json, print_table

if TYPE_CHECKING:
    from treeplex.search.named_agents.kind import AgentKind

OTHER_AGENTS = """Also: a run folder, policy file or solved spot, which is played without
search; a training folder of ReBeL, DeepStack or a best response;
rebel:NAME; my.py:MyAgent or my.py:MyLeaf (custom code).
treeplex agents NAME shows an agent's settings."""


@command("List the agents.", place=25, example="agents")
def agents(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Show one agent with its settings, or a custom type (my.py:MyKind).")
    ] = None,
    as_json: Json = False,
) -> None:
    """List the agents: opponents for play, matches and evaluation.

    \b
    Examples:
      treeplex agents
      treeplex agents rebel
      treeplex agents --json
    """
    from treeplex.search.named_agents.registry import agent_kind, agents

    known = agents()
    if name is not None:
        kind = agent_kind(name)[0]
        print_json(agent_json(kind)) if as_json else print_agent(kind)
    elif as_json:
        print_json({agent_name: agent_json(kind) for agent_name, kind in known.items()})
    else:
        print_entries((agent_name, (kind.text, kind.source, f"like {kind.example}")) for agent_name, kind in known.items())
        typer.echo(OTHER_AGENTS)


def agent_json(kind: "AgentKind") -> dict[str, Any]:
    """Describe an agent as fields for ``--json``."""
    settings = {name: {"default": default, "meaning": meaning} for name, default, meaning in kind.settings.table_rows()}
    return {"text": kind.text, "source": kind.source, "plays": kind.plays, "example": kind.example, "settings": settings}


def print_agent(kind: "AgentKind") -> None:
    """Print an agent's description and settings."""
    facts = {"source": kind.source, "plays": kind.plays, "example": kind.example}
    print_facts({name: text for name, text in facts.items() if text}, title=f"{kind.name}: {kind.text}")
    rows = kind.settings.table_rows()
    if rows:
        print_table(["setting", "default", "meaning"], rows)
