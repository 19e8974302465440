"""The command ``match``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treeplex.base.digits import visible
from treeplex.base.spec import quoted
from treeplex.run.cli.shared.arguments import Folder, Force, Json, Ray, Seconds, Seed, ShowProgress, Think
from treeplex.run.cli.shared.commands import command
from treeplex.run.cli.shared.console import counted, print_json, print_table, say
from treeplex.run.cli.shared.failures import BAD_INPUT, STOPPED, fail
from treeplex.run.cli.shared.live import Live
from treeplex.run.job.progress_line import clock

if TYPE_CHECKING:
    from treeplex.run.job.record import Progress
    from treeplex.search.match.result import MatchResult

WIDEST_MATRIX = 6
"""Most agents whose payoff matrix fits on a terminal."""


@command("Play agents against each other.", place=74, example="match leduc_poker runs/leduc uniform")
def match(
    game: Annotated[str | None, typer.Argument(metavar="GAME", help="A game or spot. Optional with --resume.")] = None,
    agents: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="AGENT...", help="Agents: names (see treeplex agents), run folders, policy files, uniform, my.py:MyAgent."
        ),
    ] = None,
    hands: Annotated[
        int | None, typer.Option("-n", "--hands", metavar="N", help="Per table. Default: 1000; with --seconds, 5M.")
    ] = None,
    seats: Annotated[
        str | None,
        typer.Option(
            metavar="HOW", help="Seating: rotate (each agent in each seat), all (every order) or fixed. Default: rotate."
        ),
    ] = None,
    duplicate: Annotated[bool, typer.Option("--duplicate", help="Replay each deal in all seatings of the agents.")] = False,
    aivat: Annotated[bool, typer.Option("--aivat", help="Reduce variance with AIVAT.")] = False,
    values: Annotated[
        str | None,
        typer.Option(
            metavar="WHAT",
            help="Value function for AIVAT: auto, zero, checked (heads-up hold'em), a policy, an agent or my.py:MyValues. "
            "Default: auto.",
        ),
    ] = None,
    table: Annotated[bool, typer.Option("--table", help="Play a round robin, every agent against every other.")] = False,
    sampled: Annotated[bool, typer.Option("--sampled", help="Play hands even if exact values can be computed.")] = False,
    think: Think = None,
    seed: Seed = None,
    seconds: Seconds = None,
    workers: Annotated[int | None, typer.Option(metavar="N", help="Worker processes. Default: 1.")] = None,
    ray: Ray = None,
    out: Folder = None,
    resume: Annotated[Path | None, typer.Option(metavar="DIR", help="Resume the match in this folder.")] = None,
    force: Force = False,
    as_json: Json = False,
    progress: ShowProgress = None,
) -> None:
    """Play agents against each other, with intervals and a test of significance.

    If all agents' policies can be tabulated, values are exact and no hand is played, unless --sampled is given. Otherwise
    hands are played, and means have standard errors, 95% intervals and a permutation test of significance. Give one agent
    per player.

    \b
    Examples:
      treeplex match leduc_poker runs/leduc uniform
      treeplex match leduc_poker runs/leduc uniform --sampled --duplicate --aivat -n 2000
      treeplex match leduc_poker runs/leduc runs/other uniform --table --out runs/table
    \f
    With --out, the folder gets every hand (hands.jsonl), result.json, match.png and the data for --resume. A hand in which an
    agent raises an error is recorded but excluded from the results.

    \b
    More examples:
      treeplex match "kuhn_poker(players=3)" runs/kuhn uniform uniform --seats all
      treeplex match --resume runs/table -n 10000
    """
    with Live(progress) as live:
        live.say(f"reading {game or resume}")
        from treeplex.errors import JobInterrupt, StoppedAgentError
        from treeplex.search.match.match import match as run_match

        ended: StoppedAgentError | None = None
        try:
            result = run_match(
                game,
                agents or None,
                hands=hands,
                seats=seats,
                duplicate=duplicate or None,
                aivat=values or (True if aivat else None),
                table=table or None,
                sampled=sampled or None,
                think=think,
                seed=seed,
                workers=workers,
                ray=ray,
                seconds=seconds,
                out=out,
                force=force,
                resume=resume,
                progress=lambda done: live.say(match_line(done)),
            )
        except JobInterrupt as stopped:
            result = stopped.result
        except StoppedAgentError as stopped_agent:
            if stopped_agent.result is None:
                raise
            ended, result = stopped_agent, stopped_agent.result
    if as_json:
        print_json(result.plain())
    else:
        print_match(result)
    if result.status == "interrupted":
        place = quoted(str(result.folder))
        if ended is not None:
            saved = f" and saved; resume with the same game and agents and --resume {place}" if result.folder else ""
            fail(f"{ended}; stopped after {counted(result.hands, 'hand')}{saved}", BAD_INPUT)
        saved = f" and saved; resume with treeplex match --resume {place}" if result.folder else ""
        fail(f"stopped after {counted(result.hands, 'hand')}{saved}", STOPPED)


def match_line(progress: "Progress") -> str:
    """The progress line: hands, the first agent's mean so far, hands per second, time left."""
    numbers = progress.numbers
    parts = [f"{' against '.join(numbers['agents'][:2])}  hand {progress.done:,}/{progress.total or 0:,}"]
    mean, error = (next(iter(numbers.get(name, ())), None) for name in ("value", "error"))
    if mean is not None and error is not None:
        parts.append(f"{visible(mean, '+.4f')} ± {visible(error, '.4f')}")
    if numbers["failed"]:
        parts.append(f"{numbers['failed']:,} failed")
    parts.append(f"{progress.rate:,.3g} hands/s")
    if progress.seconds_left is not None:
        parts.append(f"{clock(progress.seconds_left)} left")
    return "  ".join(parts)


def print_match(result: "MatchResult") -> None:
    """Print means, intervals and notes."""
    columns, rows = result.columns, result.table()
    if result.about.settings.table and len(rows) > WIDEST_MATRIX:  # too wide; plot and JSON have it
        columns, rows = ["agent", *columns[len(rows) + 1 :]], [[row[0], *row[len(rows) + 1 :]] for row in rows]
    print_table(columns, rows, title=result.about.game, right=range(1, len(columns)))
    for note in result.notes():
        say(note)
    if result.folder is not None:
        files = "result.json, match.png" if result.exact else "hands.jsonl, result.json, match.png"
        say(f"files {result.folder}   {files}")
