"""The command ``solve``."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treeplex.base.digits import three_digits
from treeplex.base.spec import quoted
from treeplex.run.cli.shared.arguments import SOLVING, Force, Iterations, Json, RunPlace, ShowProgress
from treeplex.run.cli.shared.commands import command, with_options
from treeplex.run.cli.shared.console import counted, free_place, print_facts, print_json, print_next
from treeplex.run.cli.shared.failures import STOPPED, TARGET_MISSED, fail
from treeplex.run.cli.shared.live import Live

if TYPE_CHECKING:
    from treeplex.run.solve.solution import Solution


@command("Solve a game.", place=50, example="solve leduc_poker --target 1e-4 --out run")
@with_options(SOLVING)
def solve(
    *,
    game: Annotated[
        str | None,
        typer.Argument(metavar="GAME", help="A game or a spot (see: treeplex info --help); may be left out with --resume."),
    ] = None,
    algorithm: Annotated[
        str | None,
        typer.Option("-a", "--algorithm", metavar="NAME", help="See: treeplex algorithms; auto: vt-cfr+. Default: dcfr."),
    ] = None,
    iterations: Iterations = None,
    target: Annotated[float | None, typer.Option(help="Stop when exploitability is at most this.")] = None,
    options: Mapping[str, Any],
    out: RunPlace = None,
    resume: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Resume the run in this folder, or this solved spot.")
    ] = None,
    force: Force = False,
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

    A hold'em spot (turn.yaml, turn_endgame) is solved as its file says, options over it; amounts are chips. Its run is one
    file (--out turn.spot), which --resume takes. treeplex holdem solve has an option for every field of a spot.

    \b
    Examples:
      treeplex solve kuhn_poker
      treeplex solve leduc_poker -a dcfr -n 1000 --out runs/leduc
      treeplex solve leduc_poker --target 1e-4
      treeplex solve --resume runs/leduc -n 5000
      treeplex solve liars_dice -a pcfr+ --seconds 60 --json
      treeplex solve leduc_poker -a cfr+ --nodes 10000000
      treeplex solve kuhn_poker -a lp
      treeplex solve examples/spots/river.yaml --target 1 --out river.spot
    """
    with Live(progress) as live:
        live.say(f"compiling {game or resume}")
        from treeplex.errors import Interrupted
        from treeplex.run.solve.solve import solve

        try:
            solution = solve(
                game,
                algorithm,
                iterations=iterations,
                target=target,
                out=out,
                force=force,
                resume=resume,
                progress=live,
                **options,
            )
            folder = solution.folder
        except Interrupted as stopped:
            solution = stopped.result
            folder = solution.folder or solution.save(free_place(f"{solution.game}-{solution.algorithm}", solution.suffix))
    if as_json:
        print_json(last_record(solution))
    else:
        print_solution(solution, folder, game or (str(folder) if folder and folder.is_file() else solution.game.spec))
    if solution.status == "interrupted":
        again = resuming(solution, quoted(str(folder)), quoted(solution.game.spec))
        fail(f"stopped after {counted(solution.iterations)}; saved; resume with treeplex {again}", STOPPED)
    if not solution.target_reached:
        raise typer.Exit(TARGET_MISSED)


def last_record(solution: "Solution") -> dict[str, Any]:
    """What ``--json`` prints; numbers that nobody found out, or that this kind of game does not have, are null."""
    numbers = {
        "exploitability": solution.exploitability,
        "nash_conv": solution.nash_conv,
        "value": list(solution.value),
        "gains": list(solution.gains),
        "nodes": solution.nodes,
        **solution.measures,
    }
    return {
        "game": solution.game.spec,
        "algorithm": solution.algorithm,
        "iterations": solution.iterations,
        "seconds": solution.seconds,
        **{name: known(number) for name, number in numbers.items()},
    }


def known(number: Any) -> Any:
    """A number, or numbers, None in place of those that are not known."""
    if isinstance(number, list):
        return [known(each) for each in number]
    return None if number is None or number != number else number


def names_file(solution: "Solution") -> bool:
    """Whether the game is in a file that has to be named again with a run folder; a solved spot holds its spot."""
    from treeplex.forms.sources.load import named_file

    return solution.folder is not None and solution.folder.is_dir() and named_file(solution.game.spec) is not None


def print_solution(solution: "Solution", folder: Path | None, game: str) -> None:
    """Values, exploitability, files, what to try next; ``game`` is how the game was named."""
    from treeplex.run.job.record import words_of

    facts = {f"value of player {player}": f"{value:+.8f}" for player, value in enumerate(solution.value)}
    if solution.game.players > 2:
        for player, gain in enumerate(solution.gains):
            facts[f"value of player {player}"] += f"   gain of a best response {gain:.4e}"
    facts["exploitability"] = f"{solution.exploitability:.4e}   mean gain of a best response; NashConv {solution.nash_conv:.4e}"
    facts |= {words_of(name): f"{value:.4e}" for name, value in solution.measures.items()}
    if solution.target is not None:
        facts["target"] = f"{solution.target:g}   {'reached' if solution.target_reached else 'not reached'}"
    for note in solution.notes:
        facts["note"] = note
    if folder and folder.is_dir():
        device = "device.safetensors, " if has_device(folder) else ""
        facts["files"] = f"{folder}   policy.safetensors, {device}metrics.jsonl, convergence.png, run.json, state.safetensors"
    elif folder:
        facts["file"] = str(folder)
    print_facts(
        facts,
        title=f"{solution.game} by {solution.algorithm}: {counted(solution.iterations)} in {three_digits(solution.seconds)} s",
    )
    print_next((f"treeplex {words}", purpose) for words, purpose in next_steps(solution, folder, quoted(game)))


def next_steps(solution: "Solution", folder: Path | None, spec: str) -> list[tuple[str, str]]:
    """Commands to try, and what for."""
    steps: list[tuple[str, str]] = []
    if folder is None:
        steps.append((f"solve {spec} --out runs/first", "keep policy, metrics and plot"))
    else:
        where, resume = quoted(str(folder)), resuming(solution, quoted(str(folder)), spec)
        of_game = f" --game {spec}" if names_file(solution) else ""
        steps.append((f"show {where}{of_game}", "read the strategy"))
        if has_device(folder):
            steps.append((f"device {where}{of_game}", "judge the joint play"))
        if solution.status == "target reached":
            steps.append((f"{resume} --target {(solution.target or 0) / 10:g}", "resume"))
        elif solution.budget and not solution.exact and solution.iterations != solution.longest:
            steps.append((f"{resume} --nodes {10 * solution.budget}", "resume"))
        elif not solution.exact:
            more = min(10 * solution.iterations, solution.longest or 10 * solution.iterations)
            if more > solution.iterations:
                steps.append((f"{resume} -n {more}", "resume"))
    return [*steps, (f"compare {spec} -a cfr+ -a dcfr -a pcfr+", "compare algorithms")]


def resuming(solution: "Solution", where: str, spec: str) -> str:
    """The command that resumes a run; what stands in a file of one's own is named again."""
    from treeplex.solvers.registry import is_own

    game = f"{spec} " if names_file(solution) else ""
    algorithm = f" -a {quoted(solution.algorithm)}" if is_own(solution.algorithm) else ""
    return f"solve {game}--resume {where}{algorithm}"


def has_device(folder: Path) -> bool:
    """Whether a run left a correlation device."""
    from treeplex.run.solve.settings import DEVICE

    return (folder / DEVICE).is_file()
