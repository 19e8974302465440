"""Options shared by commands that play against external programs."""

from typing import Annotated

import typer

from treeplex.run.cli.shared.failures import STOPPED, fail

AgentName = Annotated[str, typer.Argument(metavar="AGENT", help="Agent that plays this game (see treeplex agents).")]
Timeout = Annotated[
    float, typer.Option(metavar="SECONDS", min=0.001, max=1e6, help="Maximum wait for each message from the server or dealer.")
]
SeedOption = Annotated[int, typer.Option(min=0, help="Random seed.")]


def end_of(stopped: BaseException | None, done: str) -> None:
    """End a command after its match, once the results are printed.

    Args:
        stopped: the exception that ended the match early, if any.
        done: progress of the match, as text.
    """
    if isinstance(stopped, KeyboardInterrupt):
        fail(f"stopped after {done}", STOPPED)
    if stopped is not None:
        raise stopped
