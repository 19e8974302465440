"""Commands that iterate: ``solve``, ``compare``."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treeplex.play.cli.arguments import Every, Folder, Force, GameArgument, Json, Limit, Refine, Seconds, ShowProgress, Updates
from treeplex.play.cli.console import print_facts, print_json, print_table, say
from treeplex.play.cli.failures import STOPPED, TARGET_MISSED, fail
from treeplex.play.cli.live import Live
from treeplex.spec import quoted

if TYPE_CHECKING:
    from treeplex.runs.solve.solution import Solution


Nodes = Annotated[int | None, typer.Option(metavar="N", help="Stop after walking N histories.")]


def solve(
    game: Annotated[
        str | None,
        typer.Argument(metavar="GAME", help="A game (see: treeplex info --help); may be left out with --resume."),
    ] = None,
    algorithm: Annotated[
        str | None,
        typer.Option("-a", "--algorithm", metavar="NAME", help="See: treeplex algorithms; auto: vt-cfr+. Default: dcfr."),
    ] = None,
    iterations: Annotated[
        int | None, typer.Option("-n", "--iterations", metavar="N", help="Iterations in total. Default: 1000.")
    ] = None,
    target: Annotated[float | None, typer.Option(help="Stop when exploitability is at most this.")] = None,
    seconds: Seconds = None,
    nodes: Nodes = None,
    every: Every = None,
    seed: Annotated[int | None, typer.Option(help="Seed of everything random. Default: 0.")] = None,
    updates: Updates = None,
    out: Folder = None,
    resume: Annotated[Path | None, typer.Option(metavar="DIR", help="Resume the run in this folder.")] = None,
    force: Force = False,
    refine: Refine = False,
    limit: Limit = None,
    as_json: Json = False,
    progress: ShowProgress = None,
) -> None:
    """Solve a game: compute a policy and how far it is from equilibrium.

    With --out, the folder gets run.json, metrics.jsonl (one record per evaluation), policy.safetensors, state.safetensors
    and convergence.png. Ctrl-C saves (without --out into a new folder under runs/), and --resume continues bit for
    bit; -n then counts all iterations. Algorithms that plan for a number of iterations keep the plan of the
    first start. With --target or --seconds, -n limits the iterations (default 1,000,000); the exit code is 3 if a
    target was not reached. With --nodes there is no such default, nor with algorithms that sample (*-mccfr), which without
    any limit walk as many histories as 1000 full iterations do. Learned algorithms (ddcfr, dpcfr+, pddcfr) do as many
    iterations as they pace themselves for, 1,000 usually, unless -n asks for fewer.

    \b
    Examples:
      treeplex solve kuhn_poker
      treeplex solve leduc_poker -a dcfr -n 1000 --out runs/leduc
      treeplex solve leduc_poker --target 1e-4
      treeplex solve --resume runs/leduc -n 5000
      treeplex solve liars_dice -a pcfr+ --seconds 60 --json
      treeplex solve leduc_poker -a cfr+ --nodes 10000000
      treeplex solve kuhn_poker -a lp
    """
    with Live(progress) as live:
        live.say(f"compiling {game or resume}")
        from treeplex.runs.job.interrupt import Interrupted
        from treeplex.runs.solve.solve import solve

        try:
            solution = solve(
                game,
                algorithm,
                iterations=iterations,
                target=target,
                seconds=seconds,
                nodes=nodes,
                every=every,
                updates=updates,
                seed=seed,
                refine=refine,
                limit=limit,
                out=out,
                force=force,
                resume=resume,
                progress=live,
            )
            folder = solution.folder
        except Interrupted as stopped:
            solution = stopped.result
            folder = solution.folder or solution.save(free_folder(f"{solution.game}-{solution.algorithm}"))
    if as_json:
        print_json(last_record(solution))
    else:
        print_solution(solution, folder)
    if solution.status == "interrupted":
        from treeplex.forms.sources.load import named_file

        own = f"{quoted(solution.game.spec)} " if named_file(solution.game.spec) else ""
        command = f"treeplex solve {own}--resume {quoted(str(folder))}"
        fail(f"stopped after {counted(solution.iterations)}; saved; resume with {command}", STOPPED)
    if not solution.target_reached:
        raise typer.Exit(TARGET_MISSED)


def last_record(solution: "Solution") -> dict[str, Any]:
    """What ``--json`` prints."""
    last = solution.last
    return {
        "game": solution.game.spec,
        "algorithm": solution.algorithm,
        "iterations": last.done,
        "seconds": last.seconds,
        "exploitability": last.exploitability,
        "nash_conv": last.nash_conv,
        "value": list(last.value),
        "gains": list(last.gains),
        "nodes": last.nodes,
        **last.measures,
    }


def free_folder(text: str) -> Path:
    """A folder under ``runs`` that does not exist yet, named after what was run."""
    name = re.sub(r"[^\w.+=-]+", "-", text).strip("-.")[:80]
    number = 1
    while (folder := Path("runs") / (name if number == 1 else f"{name}-{number}")).exists():
        number += 1
    return folder


def print_solution(solution: "Solution", folder: Path | None) -> None:
    """Values, exploitability, files, what to try next."""
    from treeplex.runs.job.record import words_of

    facts = {f"value of player {player}": f"{value:+.8f}" for player, value in enumerate(solution.value)}
    if solution.game.players > 2:
        for player, gain in enumerate(solution.gains):
            facts[f"value of player {player}"] += f"   gain of a best response {gain:.4e}"
    facts["exploitability"] = f"{solution.exploitability:.4e}   mean gain of a best response; NashConv {solution.nash_conv:.4e}"
    facts |= {words_of(name): f"{value:.4e}" for name, value in solution.last.measures.items()}
    if solution.settings.target is not None:
        verdict = "reached" if solution.target_reached else "not reached"
        facts["target"] = f"{solution.settings.target:g}   {verdict}"
    for note in solution.solver.notes():
        facts["note"] = note
    if folder:
        device = "device.safetensors, " if has_device(folder) else ""
        facts["files"] = f"{folder}   policy.safetensors, {device}metrics.jsonl, convergence.png, run.json, state.safetensors"
    print_facts(
        facts, title=f"{solution.game} by {solution.algorithm}: {counted(solution.iterations)} in {solution.seconds:.3g} s"
    )
    spec = quoted(solution.game.spec)
    say("next", bold=True)
    if folder is None:
        say(f"  treeplex solve {spec} --out runs/first   keep policy, metrics and plot")
    else:
        from treeplex.forms.sources.load import named_file

        of_game, resume = (f" --game {spec}", f"{spec} --resume") if named_file(solution.game.spec) else ("", "--resume")
        where = quoted(str(folder))
        say(f"  treeplex show {where}{of_game}   read the strategy")
        if has_device(folder):
            say(f"  treeplex device {where}{of_game}   judge the joint play")
        if solution.status == "target reached":
            say(f"  treeplex solve {resume} {where} --target {(solution.settings.target or 0) / 10:g}   resume")
        elif solution.settings.nodes and not solution.solver.exact and solution.iterations != solution.solver.longest:
            say(f"  treeplex solve {resume} {where} --nodes {10 * solution.settings.nodes}   resume")
        elif not solution.solver.exact:
            more = min(10 * solution.iterations, solution.solver.longest or 10 * solution.iterations)
            if more > solution.iterations:
                say(f"  treeplex solve {resume} {where} -n {more}   resume")
    say(f"  treeplex compare {spec} -a cfr+ -a dcfr -a pcfr+   compare algorithms")


def has_device(folder: Path) -> bool:
    """Whether a run left a correlation device."""
    from treeplex.runs.solve.settings import DEVICE

    return (folder / DEVICE).is_file()


def counted(iterations: int) -> str:
    """1 iteration, 1,000 iterations."""
    return f"{iterations:,} iteration{'s' if iterations != 1 else ''}"


def compare(
    game: GameArgument,
    algorithms: Annotated[
        list[str] | None,
        typer.Option("-a", "--algorithm", metavar="NAME", help="A name from treeplex algorithms; repeatable."),
    ] = None,
    iterations: Annotated[
        int | None, typer.Option("-n", "--iterations", metavar="N", help="Iterations of each. Default: 1000.")
    ] = None,
    seconds: Seconds = None,
    nodes: Nodes = None,
    every: Every = None,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 0,
    updates: Updates = None,
    axis: Annotated[
        str | None, typer.Option("--x", metavar="AXIS", help="What the plot is against: iterations, nodes or seconds.")
    ] = None,
    out: Folder = None,
    force: Force = False,
    refine: Refine = False,
    limit: Limit = None,
    as_json: Json = False,
    progress: ShowProgress = None,
) -> None:
    """Solve a game with several algorithms: one table, and with --out one plot.

    The folder gets convergence.png, comparison.md, comparison.csv, comparison.json and a run folder for each algorithm.
    Without -a: cfr, cfr+, dcfr and pcfr+. Nodes are histories walked. An iteration of a sampling algorithm (its name ends in
    -mccfr) walks few, so give --nodes instead of -n for equal effort; then the plot is against nodes.

    \b
    Examples:
      treeplex compare leduc_poker -a cfr -a cfr+ -a dcfr -a pcfr+ -n 1000 --out runs/compare
      treeplex compare kuhn_poker -a dcfr -a "dcfr(alpha=2)" -a lp
      treeplex compare leduc_poker -a cfr -a cfr+ --nodes 10000000 --out runs/effort
    """
    with Live(progress) as live:
        live.say(f"compiling {game}")
        from treeplex.runs.compare import compare

        comparison = compare(
            game,
            algorithms or ["cfr", "cfr+", "dcfr", "pcfr+"],
            iterations=iterations,
            every=every,
            seconds=seconds,
            nodes=nodes,
            updates=updates,
            seed=seed,
            refine=refine,
            limit=limit,
            out=out,
            force=force,
            x=axis,
            progress=live,
        )
    if as_json:
        print_json({"game": comparison.game.spec, "rows": comparison.rows()})
    else:
        several = comparison.game.players > 2
        columns, rows = comparison.columns, comparison.table("\n" if several else ", ")
        if several:  # narrow enough for 80 letters
            columns = [name.replace("exploitability", "exploit-\nability") for name in columns]
        print_table(columns, rows, title=str(comparison.game), right=range(1, len(columns)), lines=several)
        if out:
            say(f"plot {out / 'convergence.png'}, table {out / 'comparison.md'}, one run folder an algorithm in {out}")
        else:
            say("add --out DIR for the plot")
    if comparison.interrupted:
        last = comparison.solutions[-1]
        saved = f"; resume it: treeplex solve --resume {quoted(str(last.folder))}" if last.folder else ""
        fail(f"stopped during {last.algorithm} after {last.iterations:,} iterations{saved}", STOPPED)


SHORT = {
    "solve": "Solve a game.",
    "compare": "Solve a game with several algorithms.",
}


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (solve, compare):
        app.command(short_help=SHORT[command.__name__])(command)
