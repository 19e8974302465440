"""The command ``solve``."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treeplex.base.digits import three_digits
from treeplex.base.spec import quoted
from treeplex.run.cli.shared.arguments import SOLVING, Force, Iterations, Json, RunPlace, ShowProgress
from treeplex.run.cli.shared.commands import command, described, with_options, with_wing_options
from treeplex.run.cli.shared.console import counted, free_place, print_facts, print_json, print_next
from treeplex.run.cli.shared.failures import STOPPED, TARGET_MISSED, fail
from treeplex.run.cli.shared.live import Live

if TYPE_CHECKING:
    from treeplex.run.solve.solution import Solution


@command("Solve a game.", place=50, example="solve leduc_poker --target 1e-4 --out run")
@with_wing_options("solve")
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
    target: Annotated[
        str | None, typer.Option(metavar="T", help="Stop when exploitability is at most this; of spots also 0.5% of the pot.")
    ] = None,
    options: Mapping[str, Any],
    out: RunPlace = None,
    resume: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Resume the run in this folder, or this solved spot.")
    ] = None,
    force: Force = False,
    as_json: Json = False,
    progress: ShowProgress = None,
    more: Mapping[str, Any],
) -> None:
    """Solve a game: compute a policy and how far it is from equilibrium.

    With --out, the folder gets run.json, metrics.jsonl (one record per evaluation), policy.safetensors, state.safetensors
    and convergence.png. Ctrl-C saves (without --out into a new folder under runs/), and --resume continues bit for
    bit; -n then counts all iterations. Algorithms that plan for a number of iterations keep the plan of the
    first start. With --target or --seconds, -n limits the iterations (default 1,000,000); the exit code is 3 if a
    target was not reached. With --nodes there is no such default, nor with algorithms that sample (*-mccfr), which without
    any limit walk as many histories as 1000 full iterations do. Learned algorithms (ddcfr, dpcfr+, pddcfr) do as many
    iterations as they pace themselves for, 1,000 usually, unless -n asks for fewer.

    A hold'em spot is a file (turn.yaml), a name (turn_endgame), options, or both; options override the file. By default it
    stops at 0.5% of the pot, or after 1,000 iterations. Its run is one file (--out turn.spot), which --resume takes.
    Amounts are chips; EVs include the pot, so that a fold is worth 0. A spot that does not fit into memory is refused;
    treeplex info says beforehand how much memory and time it takes.

    --from solves the spot of a solution again with another --oop or --ip, or other bet sizes, from its regrets: with ranges not
    too different that takes a fraction of the iterations. --workers holds the first street here and has processes solve the
    boards below it; numbers do not depend on how many. --storage disk:FOLDER keeps numbers in files, so that memory holds a
    few boards at a time; the same command resumes such a run at its last iteration.

    --until turn solves a flop alone, --until river a turn: a network says what every hand is worth on each next card. That
    takes a fraction of the time and memory, and later streets stay unsolved: EVs are the network's, and exploitability is known
    only with --judge, which solves all that follows twice, with one player's first street fixed. It runs on one thread for
    -n iterations (default: 60), and takes no --target.

    \b
    Examples:
      treeplex solve kuhn_poker
      treeplex solve leduc_poker -a dcfr -n 1000 --out runs/leduc
      treeplex solve leduc_poker --target 1e-4
      treeplex solve --resume runs/leduc -n 5000
      treeplex solve liars_dice -a pcfr+ --seconds 60 --json
      treeplex solve leduc_poker -a cfr+ --nodes 10000000
      treeplex solve kuhn_poker -a lp
      treeplex solve examples/spots/turn.yaml --target 0.3% --out turn.spot
      treeplex solve --board "Td 9d 6h Qc 2s" --oop "66+,AJs+" --ip "QQ-22,ATs+" --pot 200 --stack 900 --bets 50%,a
      treeplex solve examples/spots/river.yaml --lock "x [QQ+]: x 100%"
      treeplex solve --from turn.spot --ip "QQ-22,ATs+:0.5" --out other.spot
      treeplex solve examples/spots/flop.yaml --board Ks8s3d --until turn --out flop.spot
      treeplex solve --endgame subgame3.txt -n 1000 --json
    """
    with Live(progress) as live:
        live.say(f"compiling {game or resume or 'the game'}")
        from treeplex.errors import Interrupted
        from treeplex.run.solve.solve import solve

        asked = described("solve", game, {**more, "resume": resume})
        try:
            solution = solve(
                asked.game,
                algorithm,
                iterations=iterations,
                target=target,
                out=out,
                force=force,
                resume=resume,
                progress=live,
                **options,
                **asked.options,
            )
            folder = solution.folder
        except Interrupted as stopped:
            solution = stopped.result
            folder = solution.folder or solution.save(free_place(f"{solution.game}-{solution.algorithm}", solution.suffix))
    if as_json:
        print_json(solution.to_json())
    else:
        print_solution(solution, folder, spec_of(asked.game, solution, folder), asked.steps)
    if solution.status == "interrupted":
        again = resuming(solution, quoted(str(folder)), quoted(solution.game.spec))
        fail(f"stopped after {counted(solution.iterations)}; saved; resume with treeplex {again}", STOPPED)
    if not solution.target_reached:
        raise typer.Exit(TARGET_MISSED)


def names_file(solution: "Solution") -> bool:
    """Whether the game is in a file that has to be named again with a run folder; a solved spot holds its spot."""
    from treeplex.forms.sources.load import named_file

    return solution.folder is not None and solution.folder.is_dir() and named_file(solution.game.spec) is not None


def spec_of(game: Any, solution: "Solution", folder: Path | None) -> str:
    """How to name a solved game again; empty of one that only options described."""
    if isinstance(game, str):
        return game
    if folder is not None and folder.is_file():
        return str(folder)
    return solution.game.spec if game is None else ""


def print_solution(solution: "Solution", folder: Path | None, game: str, steps: Sequence[tuple[str, str]]) -> None:
    """What is known, files, what to try next; ``game`` is how the game was named, ``steps`` are commands for its file."""
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
    found = next_steps(solution, folder, game and quoted(game))
    if folder is not None:
        found[:0] = [(words.format(quoted(str(folder))), purpose) for words, purpose in steps]
    print_next((f"treeplex {words}", purpose) for words, purpose in found)


def next_steps(solution: "Solution", folder: Path | None, spec: str) -> list[tuple[str, str]]:
    """Commands to try, and what for; ``spec`` is empty of a game that only options described."""
    steps: list[tuple[str, str]] = []
    if folder is None:
        steps.append((f"solve {spec or '...'} --out runs/first{solution.suffix}", "keep the solution, to look at it"))
    else:
        where, resume = quoted(str(folder)), resuming(solution, quoted(str(folder)), spec)
        of_game = f" --game {spec}" if names_file(solution) else ""
        steps += [(f"{words}{of_game}", purpose) for words, purpose in solution.looks(where)]
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
    compared = [(f"compare {spec} -a cfr+ -a dcfr -a pcfr+", "compare algorithms")] if spec else []
    return steps + compared


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
