"""What commands that play with programs elsewhere share."""

from typing import Annotated

import typer

from treeplex.run.cli.shared.failures import STOPPED, fail

AgentName = Annotated[str, typer.Argument(metavar="AGENT", help="An agent of treeplex agents, for these stacks.")]
Timeout = Annotated[
    float, typer.Option(metavar="SECONDS", min=0.001, max=1e6, help="How long to wait for each answer of the other side.")
]
SeedOption = Annotated[int, typer.Option(min=0, help="Seed of cards or draws.")]


def end_of(stopped: BaseException | None, done: str) -> None:
    """End a command as its match ended, once what was played has been printed.

    Args:
        stopped: what ended it early; None for nothing.
        done: how far it came.
    """
    if isinstance(stopped, KeyboardInterrupt):
        fail(f"stopped after {done}", STOPPED)
    if stopped is not None:
        raise stopped
