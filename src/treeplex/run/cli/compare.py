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
from treeplex.run.cli.shared.failures import BAD_INPUT, STOPPED, fail
from treeplex.run.cli.shared.live import Live

USUAL = ("cfr", "cfr+", "dcfr", "pcfr+")
"""Algorithms compared by default."""


@command("Compare algorithms on a game, or two solved spots.", place=60)
@with_wing_options("compare")
@with_options(SOLVING)
def compare(
    *,
    game: GameArgument,
    other: Annotated[str | None, typer.Argument(metavar="OTHER", help="A second solved spot, if GAME is one.")] = None,
    algorithms: Annotated[
        list[str] | None,
        typer.Option("-a", "--algorithm", metavar="NAME", help="Algorithms, such as dcfr,cfr+. Repeatable."),
    ] = None,
    iterations: Annotated[
        int | None,
        typer.Option("-n", "--iterations", metavar="N", help="Of each. Default: 1000; with --seconds, 1M."),
    ] = None,
    options: Mapping[str, Any],
    axis: Annotated[
        str | None, typer.Option("--x", metavar="AXIS", help="The plot's axis: iterations, nodes or seconds.")
    ] = None,
    out: Folder = None,
    force: Force = False,
    as_json: Json = False,
    progress: ShowProgress = None,
    more: Mapping[str, Any],
) -> None:
    """Compare algorithms on a game in a table and a plot, or compare two solved hold'em spots.

    Default algorithms: cfr, cfr+, dcfr and pcfr+. --out writes the plot, the table and all runs to a folder. Iterations of
    sampling algorithms (*-mccfr) are cheap, so compare them at equal --nodes (visited histories).

    \b
    Examples:
      treeplex compare leduc_poker -a cfr -a cfr+ -a dcfr -a pcfr+ -n 1000 --out runs/compare
      treeplex compare kuhn_poker -a dcfr -a "dcfr(alpha=2)" -a lp
      treeplex compare leduc_poker -a cfr -a cfr+ --nodes 10000000 --out runs/effort
      treeplex compare before.spot after.spot --line x
    \f
    The folder gets convergence.png, comparison.md, comparison.csv, comparison.json and a run folder for each algorithm.

    Two solved spots are compared at one decision: EV, equity, action frequencies, and the hands that gain or lose. EVs are
    chips, including the pot. Differences are OTHER minus GAME. "Gain" is the mean difference over the hands in both ranges.
    Differences smaller than both exploitabilities are not significant.

    \b
    More examples:
      treeplex compare examples/spots/river.yaml -a dcfr,cfr+,fp -n 100 --out runs/river
      treeplex compare small.spot large.spot --line x,b50% --with-line x,b75%
    """
    if other is not None:
        solving = {**options, "algorithm": algorithms, "iterations": iterations, "x": axis, "out": out}
        compare_two(game, other, more, [name for name, value in solving.items() if value], as_json=as_json)
        return
    with Live(progress) as live:
        live.say(f"compiling {game}")
        from treeplex.errors import AlgorithmError
        from treeplex.run.compare import compare

        refuse_more("compare", more, game)
        request = described("compare", game, more)
        failure: AlgorithmError | None = None
        try:
            comparison = compare(
                request.game,
                [name.strip() for text in algorithms or USUAL for name in split_outside_brackets(text, ",", text)],
                iterations=iterations,
                out=out,
                force=force,
                x=axis,
                progress=live,
                **options,
                **request.options,
            )
        except AlgorithmError as error:
            if error.result is None:
                raise
            failure, comparison = error, error.result
    if as_json:
        print_json(json.loads(comparison.to_json()))
    else:
        several = comparison.game.players > 2 or not comparison.game.zero_sum
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
    if failure is not None:
        fail(str(failure), BAD_INPUT)


def compare_two(first: str, second: str, more: Mapping[str, Any], solving: list[str], *, as_json: bool) -> None:
    """Compare two solutions.

    Args:
        first, second: their files.
        more: options of wings, None where not given.
        solving: names of the given options for solving.
        as_json: print JSON.

    Raises:
        SpecError: a file is not a solution, or options for solving are given.
    """
    from treeplex.run.policy_source import solution_source

    sources = [solution_source(text) for text in (first, second)]
    for text, source in zip((first, second), sources, strict=True):
        if source is None:
            raise SpecError(f"{text} is not a solved spot; give two solved spots, or one game and algorithms (-a)")
    if solving:
        raise SpecError(f"--{solving[0]} does not apply to solved spots; leave it out")
    assert sources[0] is not None
    sources[0].compare(first, second, more, as_json=as_json)
