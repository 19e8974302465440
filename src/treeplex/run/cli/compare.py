"""The command ``compare``."""

import json
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from treeplex.base.spec import quoted, split_outside_brackets
from treeplex.errors import SpecError
from treeplex.run.cli.shared.arguments import SOLVING, Folder, Force, GameArgument, Json, ShowProgress
from treeplex.run.cli.shared.commands import command, described, refuse_more, with_options, with_wing_options
from treeplex.run.cli.shared.console import print_json, print_table, say
from treeplex.run.cli.shared.failures import STOPPED, fail
from treeplex.run.cli.shared.live import Live

USUAL = ("cfr", "cfr+", "dcfr", "pcfr+")
"""What is compared where nobody says."""


@command(
    "Solve a game with several algorithms, or compare two solved spots.", place=60, example="compare kuhn_poker -a cfr,dcfr"
)
@with_wing_options("compare")
@with_options(SOLVING)
def compare(
    *,
    game: GameArgument,
    other: Annotated[
        str | None, typer.Argument(metavar="OTHER", help="A solved spot, to be compared with another one in place of GAME.")
    ] = None,
    algorithms: Annotated[
        list[str] | None,
        typer.Option("-a", "--algorithm", metavar="NAME", help="Of treeplex algorithms, such as dcfr,cfr+; repeatable."),
    ] = None,
    iterations: Annotated[
        int | None, typer.Option("-n", "--iterations", metavar="N", help="Iterations of each. Default: 1000.")
    ] = None,
    options: Mapping[str, Any],
    axis: Annotated[
        str | None, typer.Option("--x", metavar="AXIS", help="What the plot is against: iterations, nodes or seconds.")
    ] = None,
    out: Folder = None,
    force: Force = False,
    as_json: Json = False,
    progress: ShowProgress = None,
    more: Mapping[str, Any],
) -> None:
    """Solve a game with several algorithms: one table, and with --out one plot.

    The folder gets convergence.png, comparison.md, comparison.csv, comparison.json and a run folder for each algorithm.
    Without -a: cfr, cfr+, dcfr and pcfr+. Nodes are histories walked. An iteration of a sampling algorithm (its name ends in
    -mccfr) walks few, so give --nodes instead of -n for equal effort; then the plot is against nodes.

    With two solved spots it compares them at one decision: EV, equity, how often each action is taken, and the hands that gain
    or lose. EVs are chips from the pot. A difference is OTHER less the first. "Gain" is the mean difference over the hands that
    both ranges have. A difference below both exploitabilities means nothing.

    \b
    Examples:
      treeplex compare leduc_poker -a cfr -a cfr+ -a dcfr -a pcfr+ -n 1000 --out runs/compare
      treeplex compare kuhn_poker -a dcfr -a "dcfr(alpha=2)" -a lp
      treeplex compare leduc_poker -a cfr -a cfr+ --nodes 10000000 --out runs/effort
      treeplex compare examples/spots/river.yaml -a dcfr,cfr+,fp -n 100 --out runs/river
      treeplex compare before.spot after.spot --line x
      treeplex compare small.spot large.spot --line x,b50% --with-line x,b75%
    """
    if other is not None:
        solving = {**options, "algorithm": algorithms, "iterations": iterations, "x": axis, "out": out}
        compare_two(game, other, more, [name for name, value in solving.items() if value], as_json=as_json)
        return
    with Live(progress) as live:
        live.say(f"compiling {game}")
        from treeplex.run.compare import compare

        refuse_more("compare", more, game)
        asked = described("compare", game, more)
        comparison = compare(
            asked.game,
            [name.strip() for text in algorithms or USUAL for name in split_outside_brackets(text, ",", text)],
            iterations=iterations,
            out=out,
            force=force,
            x=axis,
            progress=live,
            **options,
            **asked.options,
        )
    if as_json:
        print_json(json.loads(comparison.to_json()))
    else:
        several = comparison.game.players > 2
        columns, rows = comparison.columns, comparison.table("\n" if several else ", ")
        columns = [name.replace("(", "\n(") for name in columns]
        if several:  # narrow enough for 80 letters
            columns = [name.replace("exploitability", "exploit-\nability") for name in columns]
        print_table(columns, rows, title=str(comparison.game), right=range(1, len(columns)), lines=several)
        if out:
            say(f"plot {out / 'convergence.png'}, table {out / 'comparison.md'}, the run of each algorithm in {out}")
        else:
            say("add --out DIR for the plot")
    if comparison.interrupted:
        last = comparison.solutions[-1]
        saved = f"; resume it: treeplex solve --resume {quoted(str(last.folder))}" if last.folder else ""
        fail(f"stopped during {last.algorithm} after {last.iterations:,} iterations{saved}", STOPPED)


def compare_two(first: str, second: str, more: Mapping[str, Any], solving: list[str], *, as_json: bool) -> None:
    """Compare two solutions.

    Args:
        first, second: their files.
        more: options of wings, None where not given.
        solving: names of options given that are for solving.
        as_json: print JSON.

    Raises:
        SpecError: one of the files is no solution, or options for solving.
    """
    from treeplex.run.policy_source import solution_source

    sources = [solution_source(text) for text in (first, second)]
    for text, source in zip((first, second), sources, strict=True):
        if source is None:
            raise SpecError(f"{text} is no solved spot; name two of them, or one game and algorithms (-a)")
    if solving:
        raise SpecError(f"--{solving[0]} is for solving a game with several algorithms; leave it out")
    assert sources[0] is not None
    sources[0].compare(first, second, more, as_json=as_json)
