"""The command ``solve``."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treeplex.base.digits import three_digits
from treeplex.base.spec import quoted
from treeplex.run.cli.shared.arguments import SOLVING, Force, Iterations, Json, RunPlace, ShowProgress
from treeplex.run.cli.shared.commands import command, described, repeated, with_options, with_wing_options
from treeplex.run.cli.shared.console import counted, free_place, print_facts, print_json, print_next
from treeplex.run.cli.shared.failures import STOPPED, TARGET_MISSED, fail
from treeplex.run.cli.shared.live import Live

if TYPE_CHECKING:
    from treeplex.run.solve.solution import Solution


@command("Compute a near-optimal strategy of a game.", place=50, example="solve leduc_poker --out runs/leduc")
@with_wing_options("solve")
@with_options(SOLVING)
def solve(
    *,
    context: typer.Context,
    game: Annotated[
        str | None,
        typer.Argument(metavar="GAME", help="A game or a hold'em spot. Optional with --resume."),
    ] = None,
    algorithm: Annotated[
        str | None,
        typer.Option(
            "-a", "--algorithm", metavar="NAME", help="Algorithm (see treeplex algorithms). auto means vt-cfr+. Default: dcfr."
        ),
    ] = None,
    iterations: Iterations = None,
    target: Annotated[
        str | None, typer.Option(metavar="T", help="Stop at this exploitability; for spots also a percentage of the pot, 0.5%.")
    ] = None,
    options: Mapping[str, Any],
    out: RunPlace = None,
    resume: Annotated[Path | None, typer.Option(metavar="PATH", help="Resume the run in this folder, or this spot.")] = None,
    force: Force = False,
    as_json: Json = False,
    progress: ShowProgress = None,
    more: Mapping[str, Any],
) -> None:
    """Solve a game: compute a policy and its exploitability.

    --out saves the run, and --resume continues it. Ctrl-C also saves the run, without --out under runs/. A hold'em spot is a
    file (turn.yaml), a name, or options that describe it. treeplex info estimates memory and time.

    \b
    Examples:
      treeplex solve leduc_poker --target 1e-4 --out runs/leduc
      treeplex solve --resume runs/leduc -n 5000
      treeplex solve liars_dice -a pcfr+ --seconds 60 --json
      treeplex solve examples/spots/turn.yaml --target 0.3% --out turn.spot
    \f
    A run folder has run.json, metrics.jsonl (one record per evaluation), policy.safetensors, state.safetensors and
    convergence.png. A resumed run is bit-identical to an uninterrupted one, and -n includes its earlier iterations.
    Algorithms whose schedule depends on the planned number of iterations keep the number from the first start.

    With --target or --seconds, -n is a limit (default: 1,000,000), and the exit code is 3 if a target is missed. With --nodes,
    -n has no default. Sampling algorithms (*-mccfr) by default visit as many histories as 1,000 full iterations. Learned
    algorithms (ddcfr, dpcfr+, pddcfr) run the number of iterations that they were trained for, usually 1,000, unless -n is
    smaller.

    Hold'em: options override the fields of a spot file. The default target is 0.5% of the pot. Amounts are chips, and EVs
    include the pot, so a fold has EV 0. A spot that does not fit into memory is rejected. --from solves the spot of another
    solution with other ranges or bet sizes, starting from its regrets. With similar ranges this takes a
    fraction of the iterations. --workers solves the boards after the first street in other processes; results do not
    depend on their number. --storage disk:FOLDER stores tables in files, with a few boards in memory at a time, and the same
    command resumes at the last iteration.

    --until turn solves only the flop, and --until river only the turn: a network estimates hand values on the next street. This
    takes a fraction of the time and memory. Later streets stay unsolved, and EVs are the network's. Exploitability is computed
    only with --judge, which solves the whole spot twice, each time with one player's first street fixed. The solve runs on one
    thread for -n iterations (default: 60) and does not support --target.

    --budget 4GB,60s chooses the largest betting tree, the storage and the threads that fit, from the exact size of the tree and
    the measured speed of this machine. It removes sizes from those of the spot, or from 33%, 75%, 150%, all-in and raises to
    2.5x and all-in, and prints what it left out. The solve stops at the target or when the time is up.

    \b
    More examples:
      treeplex solve examples/spots/turn.yaml --budget 4GB,60s
      treeplex solve kuhn_poker -a lp
      treeplex solve leduc_poker -a cfr+ --nodes 10000000
      treeplex solve --board "Td 9d 6h Qc 2s" --oop "66+,AJs+" --ip "QQ-22,ATs+" --pot 200 --stack 900 --bets 50%,a
      treeplex solve examples/spots/river.yaml --lock "x [QQ+]: x 100%"
      treeplex solve --from turn.spot --ip "QQ-22,ATs+:0.5" --out other.spot
      treeplex solve examples/spots/flop.yaml --board Ks8s3d --until turn --out flop.spot
      treeplex solve --endgame subgame3.txt -n 1000 --json
    """
    with Live(progress) as live:
        live.say(f"compiling {game or resume or 'the game'}")
        from treeplex.errors import JobInterrupt
        from treeplex.run.solve.solve import solve

        request = described("solve", game, {**more, "resume": resume})
        if request.facts and not as_json:
            print_facts(request.facts, title=f"chosen for {request.game}")
        given = {name: value for name, value in options.items() if value is not None}
        try:
            solution = solve(
                request.game,
                algorithm,
                iterations=iterations,
                target=target,
                out=out,
                force=force,
                resume=resume,
                progress=live,
                **{**request.options, **given},
            )
            folder = solution.folder
        except JobInterrupt as stopped:
            solution = stopped.result
            folder = solution.folder or solution.save(free_place(f"{solution.game}-{solution.algorithm}", solution.suffix))
    if as_json:
        print_json({**solution.to_json(), **request.data})
    else:
        again = repeated(context, "out", "force", "resume", "as_json", "progress")
        print_solution(solution, folder, spec_of(request.game, solution, folder), request.steps, again)
    if solution.status == "interrupted":
        again = resuming(solution, quoted(str(folder)), quoted(solution.game.spec))
        fail(f"stopped after {counted(solution.iterations)} and saved; resume with treeplex {again}", STOPPED)
    if not solution.target_reached:
        raise typer.Exit(TARGET_MISSED)


def names_file(solution: "Solution") -> bool:
    """Return whether resuming must name the game's file again; solved spots contain their game."""
    from treeplex.forms.sources.load import named_file

    return solution.folder is not None and solution.folder.is_dir() and named_file(solution.game.spec) is not None


def spec_of(game: Any, solution: "Solution", folder: Path | None) -> str:
    """Return the text that names a solved game again; empty if only options described it."""
    if isinstance(game, str):
        return game
    if folder is not None and folder.is_file():
        return str(folder)
    return solution.game.spec if game is None else ""


def print_solution(solution: "Solution", folder: Path | None, game: str, steps: Sequence[tuple[str, str]], given: str) -> None:
    """Print results, files and next steps.

    Args:
        solution, folder: the solution and its folder or file, if any.
        game: the game's text.
        steps: commands for its file.
        given: arguments and options of the command, except for files.
    """
    facts = solution.facts()
    if folder and folder.is_dir():
        device = "device.safetensors, " if has_device(folder) else ""
        facts["files"] = f"{folder}   policy.safetensors, {device}metrics.jsonl, convergence.png, run.json, state.safetensors"
    elif folder:
        facts["file"] = str(folder)
    print_facts(
        facts,
        title=f"{solution.game} by {solution.algorithm}: {counted(solution.iterations)} in {three_digits(solution.seconds)} s",
    )
    commands = next_steps(solution, folder, game and quoted(game), given)
    if folder is not None:
        commands[:0] = [(words.format(quoted(str(folder))), purpose) for words, purpose in steps]
    print_next((f"treeplex {words}", purpose) for words, purpose in commands)


def next_steps(solution: "Solution", folder: Path | None, spec: str, given: str) -> list[tuple[str, str]]:
    """Return suggested commands with their purpose; ``see :func:`print_solution`."""
    steps: list[tuple[str, str]] = []
    if folder is None:
        steps.append((f"solve {given} --out runs/first{solution.suffix}", "save the solution"))
    else:
        where, resume = quoted(str(folder)), resuming(solution, quoted(str(folder)), spec)
        of_game = f" --game {spec}" if names_file(solution) else ""
        steps += [(f"{words}{of_game}", purpose) for words, purpose in solution.looks(where)]
        if has_device(folder):
            steps.append((f"device {where}{of_game}", "evaluate the joint play"))
        if solution.status == "target reached":
            steps.append((f"{resume} --target {(solution.target or 0) / 10:g}", "resume"))
        elif solution.budget and not solution.exact and solution.iterations != solution.longest:
            steps.append((f"{resume} --nodes {10 * solution.budget}", "resume"))
        elif not solution.exact:
            more = min(10 * solution.iterations, solution.longest or 10 * solution.iterations)
            if more > solution.iterations:
                steps.append((f"{resume} -n {more}", "resume"))
    compared = [(f"compare {spec} -a cfr+ -a dcfr -a pcfr+", "compare algorithms")] if spec else []
    return steps + compared


def resuming(solution: "Solution", where: str, spec: str) -> str:
    """Return the command that resumes a run; games and algorithms in user files are named again."""
    from treeplex.solvers.registry import is_own

    game = f"{spec} " if names_file(solution) else ""
    algorithm = f" -a {quoted(solution.algorithm)}" if is_own(solution.algorithm) else ""
    return f"solve {game}--resume {where}{algorithm}"


def has_device(folder: Path) -> bool:
    """Return whether a run folder has a correlation device."""
    from treeplex.run.solve.settings import DEVICE

    return (folder / DEVICE).is_file()
