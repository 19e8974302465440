"""``treeplex holdem flops``: solve one spot on many boards."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treeplex.holdem.cli.shared.options import SOLVER, Options, with_fields
from treeplex.holdem.cli.shared.texts import echo_table
from treeplex.holdem.spots.spot_table import FIELDS
from treeplex.run.cli.shared.arguments import Json, ShowProgress
from treeplex.run.cli.shared.commands import command
from treeplex.run.cli.shared.console import print_json
from treeplex.run.cli.shared.failures import FAILED, STOPPED, fail
from treeplex.run.cli.shared.live import Live
from treeplex.run.job.progress_line import clock, line_of

if TYPE_CHECKING:
    from treeplex.holdem.spots.files import SpotRequest
    from treeplex.holdem.spots.spot import Spot
    from treeplex.holdem.study.batches.batch import Batch
    from treeplex.holdem.study.batches.boards import Board
    from treeplex.holdem.study.batches.report import BatchReport
    from treeplex.run.job.record import Progress
    from treeplex.run.job.workers import Work

MOST_SHOWN = 20


@command(
    "Solve one spot on many boards.", place=30, example="flops examples/spots/flop.yaml --boards subset:25 --line x --out flops"
)
@with_fields(*(name for name in FIELDS if name not in ("board", "blinds", "runouts", "until", "net")))
def flops(
    *,
    file: Annotated[Path, typer.Argument(metavar="SPOTFILE", help="Spot file. Its board, if any, is ignored.")],
    boards: Annotated[
        str,
        typer.Option(
            "--boards",
            metavar="BOARDS",
            help="Boards: a list such as AsKd2c,Td9d6h, a file, all (1,755 flops up to suit isomorphism), or "
            "subset:25 (25 of them).",
        ),
    ],
    out: Annotated[
        Path,
        typer.Option("--out", metavar="DIR", help="Folder for results. Boards already finished there are not solved again."),
    ],
    line: Annotated[
        str, typer.Option("--line", metavar="LINE", help="Decision to report, such as x (after a check). Default: the first.")
    ] = "",
    sort: Annotated[
        str | None,
        typer.Option(
            "--sort", metavar="COLUMN", help="Sort boards by a column of report.csv, such as check or ev_oop, highest first."
        ),
    ] = None,
    ascending: Annotated[bool, typer.Option("--ascending", help="With --sort: lowest first.")] = False,
    by: Annotated[
        str | None,
        typer.Option("--by", metavar="TEXTURE", help="Average the results by texture: suits, pairing, high or connected."),
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep the solved spots (boards/BOARD.spot) for treeplex show and play.")
    ] = False,
    workers: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Worker processes, each solving one board at a time. Default: 1.", rich_help_panel=SOLVER
        ),
    ] = None,
    ray: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS", help="Ray cluster that solves the boards: its address, auto, or local.", rich_help_panel=SOLVER
        ),
    ] = None,
    options: Options,
    as_json: Json = False,
    progress: ShowProgress = None,
) -> None:
    """Solve one spot on many boards and report the results together.

    Each finished board is written to boards/BOARD.json. At the end, report.csv, report.md and report.png show action
    frequencies, EV, equity and exploitability for every board and on average. Averages are weighted by each
    board's probability given both ranges. Ctrl-C stops the run, and the same command resumes it.

    \b
    Examples:
      treeplex holdem flops examples/spots/flop.yaml --boards AsKd2c,Td9d6h --out flops
      treeplex holdem flops examples/spots/flop.yaml --boards subset:25 --target 1% --out flops
    \f
    --line selects the decision to report on the first street. Reporting another decision needs no solving. A run also
    resumes within a board. A failed board is listed in errors.txt and does not stop the others (exit code 1). With --keep
    the browser can play against the solved spots, one drawn for each hand. --workers solves several boards in parallel, each
    with its own memory. --ray does so on a cluster.

    \b
    More examples:
      treeplex holdem flops examples/spots/flop.yaml --boards subset:25 --target 1% --out flops --sort check --by suits
    """
    with Live(progress) as live:
        live.say("reading the spot")
        from treeplex.errors import SpecError
        from treeplex.holdem.cli.shared.requests import check_parent
        from treeplex.holdem.spots.files import spot_request
        from treeplex.holdem.study.batches.boards import Texture, check_symmetric, read_boards
        from treeplex.holdem.study.batches.report import batch_report, decision_line
        from treeplex.run.job.workers import Work

        if by is not None and by not in Texture._fields:
            raise SpecError(f"--by is {by!r}; write {', '.join(Texture._fields)}")
        check_parent(out)
        request = spot_request(file, options)
        chosen = read_boards(boards)
        first = request.on_board(chosen[0].name).spot()
        check_symmetric(request.ranges(), chosen)
        decision, work = decision_line(first, line), Work(1 if workers is None and ray is None else workers, ray)
        batch = solve_boards(request, chosen, out, work, live, keep=keep)
        report = batch_report(batch, decision)
        if sort is not None and report.rows:
            report = report.sorted_by(sort, ascending=ascending)
        report.write()
    if as_json:
        print_json(batch_json(report, by))
    else:
        print_batch(report, by)
    if batch.interrupted:
        fail(f"stopped after {len(batch.rows)} of {batch.boards} boards; the same command resumes", STOPPED)
    if batch.failures:
        first_board, message = next(iter(batch.failures.items()))
        others = f" (and {len(batch.failures) - 1} more in {out / 'errors.txt'})" if len(batch.failures) > 1 else ""
        fail(f"{len(batch.failures)} of {batch.boards} boards failed: {first_board}: {message}{others}", FAILED)


def solve_boards(
    request: "SpotRequest", boards: Sequence["Board"], out: Path, work: "Work", live: Live, *, keep: bool
) -> "Batch":
    """Solve the boards that ``out`` has no result for; workers share the cores unless the spot sets its threads."""
    from treeplex.engine.threads import available_cores
    from treeplex.holdem.study.batches.batch import run_batch
    from treeplex.holdem.study.batches.board import batch_settings, solve_board

    head = ""

    def say(progress: "Progress") -> None:
        nonlocal head
        head = batch_line(progress)
        live.say(head)

    def watch(progress: "Progress") -> None:
        live.say(f"{head}   {line_of(progress)}")

    def spot_on(board: str) -> "Spot":
        spot = request.on_board(board).spot()
        threads = spot.settings.threads or (1 if work.ray else max(1, available_cores() // executor.size))
        return spot if work.alone else replace(spot, settings=replace(spot.settings, threads=threads))

    solve = partial(solve_board, watch=watch) if work.alone else solve_board
    settings = batch_settings(request.on_board(boards[0].name).spot())
    with work.executor(len(boards)) as executor:
        return run_batch(spot_on, boards, out, solve, settings, keep=keep, progress=say, executor=executor)


def batch_line(progress: "Progress") -> str:
    """The progress line of a batch of boards."""
    parts = [f"board {min(progress.done + 1, progress.total or 1):,}/{progress.total:,}  {progress.numbers['board']}"]
    if progress.numbers["failed"]:
        parts.append(f"{progress.numbers['failed']} failed")
    if progress.seconds_left is not None:
        parts.append(f"{clock(progress.seconds_left)} left")
    return "  ".join(parts)


def batch_json(report: "BatchReport", by: str | None) -> dict[str, object]:
    """The results as JSON data for ``--json``."""
    batch = report.batch
    return {
        "folder": str(batch.folder),
        "boards": batch.boards,
        "solved": len(batch.rows) - batch.reused,
        "reused": batch.reused,
        "failed": dict(batch.failures),
        "line": report.line,
        "averages": report.averages(),
        **({"by": {name: part.averages() for name, part in report.by_texture(by).items()}} if by and report.rows else {}),
        "rows": [report.cells(row) for row in report.rows],
    }


def print_batch(report: "BatchReport", by: str | None) -> None:
    """Print averages (also by texture), the first boards, and the names of the files with the rest."""
    batch = report.batch
    if not report.rows:
        typer.echo(f"no finished board in {batch.folder}")
        return
    head = ["board", "EV OOP", "equity OOP", *report.actions, "exploitability"]
    parts = report.by_texture(by) if by else {}
    groups = [(f"{name} ({len(part.rows)})", part.averages()) for name, part in parts.items()]
    entries = [("average", report.averages()), *groups, *((row.board, report.cells(row)) for row in report.rows[:MOST_SHOWN])]
    rows = []
    for name, entry in entries:
        shares = [f"{100 * entry.get(action, 0.0):.1f}%" for action in report.actions]
        equity, left = f"{100 * entry['equity_oop']:.1f}%", f"{entry['exploitability_percent']:.2f}%"
        rows.append([name, f"{entry['ev_oop']:.2f}", equity, *shares, left])
    typer.secho(f"{len(report.rows):,} of {batch.boards:,} boards, {report.place}", bold=True)
    echo_table(head, rows)
    folder = batch.folder
    typer.echo(f"all boards: {folder / 'report.csv'}, {folder / 'report.md'}, {folder / 'report.png'}")
