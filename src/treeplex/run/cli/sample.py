"""Commands for games too large to compile: ``sample``, ``playouts``."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treeplex.base.digits import three_digits, visible
from treeplex.base.spec import quoted
from treeplex.run.cli.shared.arguments import Force, GameArgument, Iterations, Json, Nodes, Seconds, Seed, ShowProgress
from treeplex.run.cli.shared.commands import command
from treeplex.run.cli.shared.console import counted, free_place, print_facts, print_json, print_next
from treeplex.run.cli.shared.failures import STOPPED, fail
from treeplex.run.cli.shared.live import Live
from treeplex.run.job.progress_line import clock

if TYPE_CHECKING:
    from treeplex.evaluate.playouts import HeadToHead
    from treeplex.run.job.record import Progress
    from treeplex.run.sample.job import SamplingRun

Against = Annotated[
    str | None,
    typer.Option(metavar="WHOM", help="Opponent in evaluations: another run or policy file. Default: uniform."),
]


@command("Solve a game too large for memory by Monte Carlo CFR.", place=100)
def sample(
    game: Annotated[
        str | None,
        typer.Argument(metavar="GAME", help="A game (see treeplex info --help). Optional with --resume."),
    ] = None,
    algorithm: Annotated[
        str | None,
        typer.Option(
            "-a",
            "--algorithm",
            metavar="NAME",
            help="Algorithm: es-mccfr, os-mccfr, vr-mccfr, ... Default: es-mccfr.",
        ),
    ] = None,
    iterations: Iterations = None,
    nodes: Nodes = None,
    seconds: Seconds = None,
    memory: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Memory limit of the tables: 500MB, 4GiB, ... Default: 1GiB.")
    ] = None,
    every: Annotated[
        int | None, typer.Option(metavar="K", help="Evaluate every K iterations. Default: after 1, 2, 5, 10, 20, 50, ...")
    ] = None,
    playouts: Annotated[int | None, typer.Option(metavar="N", help="Playouts per evaluation. Default: 1000.")] = None,
    against: Against = None,
    judge: Annotated[
        bool, typer.Option("--judge", help="Also compile the game and compute exploitability, if possible.")
    ] = False,
    seed: Seed = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Write the run to this folder.")] = None,
    resume: Annotated[Path | None, typer.Option(metavar="DIR", help="Resume the run in this folder.")] = None,
    force: Force = False,
    as_json: Json = False,
    progress: ShowProgress = None,
) -> None:
    """Solve a game that is too large to compile, by Monte Carlo CFR on its rules.

    Infosets are added to the tables on their first visit until --memory is used up; the policy is uniform at all others.
    Playouts estimate its value in self-play and against the opponent from every seat. Ctrl-C saves the run (to a new folder
    under runs/ without --out), and --resume continues it. For games that can be compiled, treeplex solve runs the same
    algorithms much faster.

    \b
    Examples:
      treeplex sample "liars_dice(numdice=2)" --seconds 60 --out runs/dice
      treeplex sample "leduc_poker(players=4)" -a "es-mccfr(variant=lcfr)" -n 10000 --memory 500MB
      treeplex sample "goofspiel(num_cards=8,imp_info=true)" -a os-mccfr --nodes 1000000 --json
      treeplex sample --resume runs/dice --seconds 600 --memory 4GiB
      treeplex sample leduc_poker -a os-mccfr -n 5000 --judge
    """
    with Live(progress) as live:
        live.say(f"reading {game or resume}")
        from treeplex.errors import JobInterrupt
        from treeplex.run.sample.sample import sample as run_sample

        try:
            sampled = run_sample(
                game,
                algorithm,
                iterations=iterations,
                seconds=seconds,
                nodes=nodes,
                memory=memory,
                every=every,
                seed=seed,
                playouts=playouts,
                against=against,
                judge=judge or None,
                out=out,
                force=force,
                resume=resume,
                progress=lambda record: live.say(sampling_line(record)),
            )
        except JobInterrupt as stopped:
            sampled = stopped.result
            if sampled.folder is None:
                sampled.save(free_place(f"sample-{sampled.game}-{sampled.algorithm}"))
    if as_json:
        last = sampled.last
        record = {"iteration": last.done, "seconds": last.seconds, **last.numbers}
        print_json({"game": sampled.game.spec, "algorithm": sampled.algorithm, "status": sampled.status, **record})
    else:
        print_sampled(sampled)
    if sampled.status == "interrupted":
        fail(f"stopped after {counted(sampled.last.done)} and saved; resume with {resuming(sampled)}", STOPPED)


def sampling_line(progress: "Progress") -> str:
    """Format the progress line: scheme, iterations, histories per second, infosets, memory, time left."""
    numbers = progress.numbers
    parts = [
        f"{progress.name}  iteration {progress.done:,}  {progress.rate:,.3g} it/s",
        f"{numbers['node_rate']:,.0f} nodes/s",
        f"{numbers['infosets']:,} infosets",
        f"{size_text(numbers['bytes'])} of {size_text(numbers['memory'])}" + (" (full)" if numbers["full"] else ""),
    ]
    if progress.seconds_left is not None:
        parts.append(f"{clock(progress.seconds_left)} left")
    return "  ".join(parts)


def size_text(size: float) -> str:
    """Format a number of bytes."""
    for unit in ("B", "KB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"


def with_error(value: float, error: float) -> str:
    """A payoff and its standard error."""
    return f"{visible(value, '+.5f')} ± {visible(error, '.5f')}"


def print_sampled(sampled: "SamplingRun") -> None:
    """Print values with standard errors, table sizes, files, and next steps."""
    last, settings = sampled.last, sampled.settings
    facts = {
        f"value of player {player}": f"{with_error(value, error)}   in self-play"
        for player, (value, error) in enumerate(zip(last.value, last.error, strict=True))
    }
    name = "uniform play" if settings.against == "uniform" else settings.against
    facts["in a match"] = f"{with_error(last.match, last.match_error)}   per game against {name}, all seats"
    if last.exploitability is not None and last.nash_conv is not None:
        facts["exploitability"] = f"{last.exploitability:.4e}   mean gain of a best response; NashConv {last.nash_conv:.4e}"
    facts["tables"] = f"{last.infosets:,} infosets, {size_text(last.bytes)} of {size_text(settings.memory)}"
    if last.unstored:
        facts["note"] = (
            f"memory limit reached: {last.unstored:,} visits to infosets outside the tables, where play is uniform; raise "
            "--memory"
        )
    if sampled.folder:
        facts["files"] = f"{sampled.folder}   policy.safetensors, metrics.jsonl, progress.png, run.json, state.safetensors"
    effort = f"{counted(last.done)}, {last.nodes:,} nodes in {three_digits(last.seconds)} s"
    print_facts(facts, title=f"{sampled.game} by {sampled.algorithm}: {effort}")
    if sampled.folder:
        print_next([(f"{resuming(sampled)} -n {10 * last.done}", "resume")])
    else:
        print_next([(f"treeplex sample {quoted(sampled.game.spec)} --out runs/first", "save policy, metrics and state")])


def resuming(sampled: "SamplingRun") -> str:
    """Return the command that resumes a run."""
    from treeplex.forms.sources.load import named_file

    game = f"{quoted(sampled.game.spec)} " if named_file(sampled.game.spec) else ""
    return f"treeplex sample {game}--resume {quoted(str(sampled.folder))}"


@command("Estimate the value of a policy by playouts.", place=110)
def playouts(
    game: GameArgument,
    policy: Annotated[
        str,
        typer.Argument(metavar="POLICY", help="A run folder or policy file of sample, train or solve, or uniform."),
    ],
    against: Annotated[
        str | None, typer.Option(metavar="WHOM", help="Opponent in the other seats: another run or policy file, or uniform.")
    ] = None,
    count: Annotated[int, typer.Option("-n", "--playouts", metavar="N", help="Number of playouts.")] = 10_000,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    as_json: Json = False,
) -> None:
    """Estimate the value of a policy by playouts, without compiling the game.

    Prints mean payoffs with standard errors.

    Without --against all players follow the policy. With --against the policy plays against the opponent from every seat in
    turn.

    \b
    Examples:
      treeplex playouts "liars_dice(numdice=2)" runs/dice
      treeplex playouts "liars_dice(numdice=2)" runs/dice --against runs/other -n 100000
    """
    from treeplex.evaluate.playouts import estimate, head_to_head
    from treeplex.run.sample.sample import rules_and_policy

    rules, strategy = rules_and_policy(game, policy)
    if against is None:
        result = estimate(rules, strategy, playouts=count, seed=seed)
        if as_json:
            print_json({"game": rules.spec, **asdict(result)})
            return
        pairs = enumerate(zip(result.value, result.error, strict=True))
        facts = {f"value of player {player}": with_error(value, error) for player, (value, error) in pairs}
        print_facts(facts, title=f"{rules}: {result.playouts:,} playouts")
        return
    match = head_to_head(rules, strategy, rules_and_policy(game, against)[1], playouts=count, seed=seed)
    if as_json:
        print_json({"game": rules.spec, **asdict(match)})
    else:
        print_match(match, f"{rules}: {policy} against {against}, {match.playouts:,} playouts")


def print_match(match: "HeadToHead", title: str) -> None:
    """Print the result of a match."""
    facts = {"mean payoff": f"{with_error(match.value, match.error)}   the others' mean: {visible(match.others, '+.5f')}"}
    facts |= {f"in seat {seat}": visible(value, "+.5f") for seat, value in enumerate(match.seats)}
    print_facts(facts, title=title)
