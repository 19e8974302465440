"""``treeplex agents``: who can play, by name."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from treeplex.errors import SpecError
from treeplex.play.cli.arguments import Json
from treeplex.play.cli.commands import command
from treeplex.play.cli.console import print_entries, print_facts, print_json, print_table

if TYPE_CHECKING:
    from treeplex.runs.agents.kind import AgentKind

OTHER_AGENTS = """Besides these: a run folder, policy file or solved spot, which is played as it is; a ReBeL training folder or
rebel:NAME; my.py:MyAgent or my.py:MyLeaf (code of your own). treeplex agents NAME shows an agent's settings."""


@command("List the agents that play.", place=25, example="agents")
def agents(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Only this one, with its settings.")] = None,
    as_json: Json = False,
) -> None:
    """List the agents: who can be played against, judged and sent into matches, by name.

    \b
    Examples:
      treeplex agents
      treeplex agents rebel
      treeplex agents --json
    """
    from treeplex.runs.agents.registry import agents
    from treeplex.spec import nearest

    known = agents()
    if name is not None and name not in known:
        raise SpecError(f"unknown agent {name!r}{nearest(name, known)}")
    if as_json:
        print_json(told(known[name]) if name else {each: told(kind) for each, kind in known.items()})
    elif name is None:
        print_entries((each, (kind.text, kind.source, f"like {kind.example}")) for each, kind in known.items())
        typer.echo(OTHER_AGENTS)
    else:
        print_agent(known[name])


def told(kind: "AgentKind") -> dict[str, Any]:
    """What ``--json`` prints of an agent."""
    settings = {name: {"default": default, "meaning": meaning} for name, default, meaning in kind.settings.table_rows()}
    return {"text": kind.text, "source": kind.source, "plays": kind.plays, "example": kind.example, "settings": settings}


def print_agent(kind: "AgentKind") -> None:
    """The same for people."""
    facts = {"source": kind.source, "plays": kind.plays, "example": kind.example}
    print_facts({name: text for name, text in facts.items() if text}, title=f"{kind.name}: {kind.text}")
    rows = kind.settings.table_rows()
    if rows:
        print_table(["setting", "default", "meaning"], rows)
