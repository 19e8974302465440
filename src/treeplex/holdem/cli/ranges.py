"""``treeplex holdem ranges``: ranges of preflop charts, saved ranges, and ranges of other solvers."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treeplex.run.cli.shared.arguments import Json
from treeplex.run.cli.shared.commands import command
from treeplex.run.cli.shared.console import print_json, say

if TYPE_CHECKING:
    from treeplex.holdem.solve.solution import HoldemSolution


@command("Ranges of preflop charts and saved ranges.", place=28, example="ranges 100bb --line r2.5,c")
def ranges(
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="SOURCE",
            help="A shipped chart such as 100bb, a solved spot, the name of a saved range, or a range as text.",
        ),
    ] = None,
    line: Annotated[
        str | None, typer.Option("--line", metavar="LINE", help="Preflop line of a chart that reaches the flop: r2.5,c.")
    ] = None,
    player: Annotated[str | None, typer.Option("--player", metavar="SEAT", help="Only this player's range: bb or sb.")] = None,
    save: Annotated[str | None, typer.Option("--save", metavar="NAME", help="Save the range under a name.")] = None,
    folder: Annotated[
        Path, typer.Option("--folder", metavar="DIR", help="Folder of saved ranges, as served by treeplex web.")
    ] = Path("runs"),
    as_json: Json = False,
) -> None:
    """Print ranges of solved heads-up charts, saved ranges, and ranges pasted as text.

    Without SOURCE it lists charts and saved ranges. With a chart it lists the lines that see a flop; with --line it prints
    both ranges, pot and stack as fields of a spot file. Ranges from PioSolver, GTO+ and GTO Wizard also work.

    \b
    Examples:
      treeplex holdem ranges 100bb
      treeplex holdem ranges 100bb --line r2.5,c > srp.yaml
      treeplex holdem ranges 100bb --line r2.5,c --player bb --save "BB call"
      treeplex solve srp.yaml --board Td9d6h --budget 4GB,60s --oop "$(treeplex holdem ranges 'BB call')"
    """
    from treeplex.errors import SpecError, printable
    from treeplex.holdem.cards.ranges import range_to_string, read_range
    from treeplex.holdem.spots.saved_ranges import FILE, save_range, saved_ranges
    from treeplex.holdem.study.preflop_charts import read_solved, shipped_charts

    file = folder / FILE
    saved = saved_ranges(file)
    if source is None:
        if as_json:
            print_json({"charts": list(shipped_charts()), "saved": saved})
            return
        say(f"charts: {', '.join(shipped_charts())}")
        for name, text in saved.items():
            say(f"{name}: {text if len(text) <= 100 else text[:97] + '...'}")
        return
    solved = read_solved(source)
    if solved is not None and (line is None or player is None):
        if save is not None:
            raise SpecError("--save needs one range; add --line and --player")
        print_lines(solved, line, as_json)
        return
    if solved is not None:
        assert line is not None
        assert player is not None
        text, note = seat_range(solved, line, player), ""
    elif line is not None or player is not None:
        raise SpecError(f"--line and --player need a chart; give {', '.join(shipped_charts())} or a solved spot (.spot)")
    else:
        text, note = saved.get(source, source), ""
    weights, note = read_range(text)
    if save is not None:
        save_range(file, save, text)
    if as_json:
        print_json({"range": text, "combos": round(float(weights.sum()), 3), "note": note})
        return
    say(range_to_string(weights))
    for words in (note, f"{weights.sum():.1f} combos", f"saved as {save} in {file}" if save else ""):
        if words:
            typer.echo(printable(words), err=True)


def print_lines(solution: "HoldemSolution", line: str | None, as_json: bool) -> None:
    """Print the lines of a chart, or one line as the fields of a spot file."""
    import yaml

    from treeplex.holdem.study.flop_ranges import flop_ranges, ranges_after
    from treeplex.holdem.study.preflop_charts import how_made

    found = flop_ranges(solution) if line is None else (ranges_after(solution, line),)
    if as_json:
        rows = [
            {"line": each.line, "title": each.title, "pot_type": each.pot_type, "share": round(each.share, 6), **each.fields()}
            for each in found
        ]
        print_json({"lines": rows, "made": how_made(solution)})
        return
    if line is not None:
        say(f"# {found[0].title}: {found[0].pot_type} pot, {100 * found[0].share:.2f}% of hands")
        say("\n".join(f"# {words}" for words in how_made(solution).split("\n")))
        say(yaml.safe_dump(found[0].fields(), sort_keys=False, width=10**9), nl=False)
        return
    say("pot            share   pot  stack   combos BB, SB   line", bold=True)
    for each in found:
        combos = ", ".join(f"{weights.sum():.0f}" for weights in each.ranges)
        words = each.title if each.reliable else f"{each.title} (rare: unreliable)"
        say(f"{each.pot_type:13s} {100 * each.share:5.1f}% {each.pot:5g} {each.stack:6g}   {combos:14s}  {each.line}: {words}")
    say(how_made(solution))


def seat_range(solution: "HoldemSolution", line: str, player: str) -> str:
    """One player's range after a line, as text.

    Raises:
        SpecError: the line does not end on the flop, or the seat is unknown.
    """
    from treeplex.errors import SpecError
    from treeplex.holdem.cards.ranges import range_to_string
    from treeplex.holdem.study.flop_ranges import SEATS, ranges_after

    if player.upper() not in SEATS:
        raise SpecError(f"--player {player}: charts are heads-up; write bb or sb")
    return range_to_string(ranges_after(solution, line).ranges[SEATS.index(player.upper())])
