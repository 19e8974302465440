"""A node of a solved spot, as printed by ``treeplex show``."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from treeplex.base.digits import short
from treeplex.base.spec import quoted
from treeplex.base.storage.files import write_atomically
from treeplex.errors import SpecError
from treeplex.holdem.cli.shared.requests import usable
from treeplex.holdem.cli.shared.texts import amount, counted, echo_table, per_cent, weight_text
from treeplex.holdem.cli.shared.views import show_view
from treeplex.holdem.solve.solution import load_solution
from treeplex.holdem.study.pages.grid import in_colour, legend, strategy_grid, value_grid
from treeplex.holdem.study.pages.holdem import MOST_NODES, check_two_cards, page
from treeplex.holdem.study.report.breakdown import filtered
from treeplex.holdem.study.report.export import (
    EV_MEANINGS,
    SpotSolution,
    header,
    lines_above,
    lines_below,
    node_json,
    node_lines,
    node_report,
    read_depth,
)
from treeplex.holdem.study.report.measures import NodeStatistics, node_statistics, realised
from treeplex.holdem.study.report.page_data import PLAYERS, NodeReport, Side, chosen_hands, hand_classes
from treeplex.run.cli.shared.console import print_facts, print_json

MOST_NEXT = 14


def show_node(file: Path, player: str | None, options: Mapping[str, Any], *, as_json: bool) -> None:
    """Show a solved spot at one decision: range grid, actions, EV, equity, hands and the lines that follow.

    Args:
        file: file of the solution.
        player: the player whose range is shown: ``oop``, ``ip``, 0 or 1; None for the player to act.
        options: hold'em's options of ``treeplex show``; None where not given.
        as_json: print JSON.

    Raises:
        SpecError, FileError: an option is wrong, or a file cannot be read or written.
    """
    line, html, png = options.get("line") or "", options.get("html"), options.get("png")
    ev, depth, only = options.get("ev") or "pot", options.get("depth"), options.get("only")
    if ev not in EV_MEANINGS:
        raise SpecError(f"--ev is {ev!r}; write pot or net")
    if depth is not None and html is None and not as_json:
        raise SpecError("--depth needs --html or --json; add one of them, or leave --depth out")
    steps = None if depth is None else (read_depth(depth),)
    who = read_player(player)
    for path in (html, png):
        if path is not None:
            usable(path)
    solution = load_solution(file)
    node = node_report(solution, line)
    if only:
        node = filtered(node, only.split(","))
    if show_view(solution, node.from_the_pot() if ev == "pot" else node, shown_player(node, who), options, as_json=as_json):
        return
    if html is not None:
        write_page(html, solution, node, steps, file=file, ev=ev)
    if png is not None:
        write_grid(png, solution, node, who, ev=ev)
    if as_json:
        write_json(solution, node, steps, ev)
    elif html is None and png is None:
        print_node(solution, node, who, options.get("hand"), signed=ev == "net", file=file)
    else:
        for path in (html, png):
            if path is not None:
                typer.echo(f"wrote {path}")


def read_player(text: str | None) -> int | None:
    """Convert ``oop`` to player 0, ``ip`` to player 1, and None to None."""
    known = {"oop": 0, "0": 0, "ip": 1, "1": 1}
    if text is not None and text.lower() not in known:
        raise SpecError(f"--player is {text!r}; write oop (out of position) or ip (in position)")
    return None if text is None else known[text.lower()]


def write_json(solution: SpotSolution, node: NodeReport, depth: tuple[int | None] | None, ev: str) -> None:
    """Print the node as one JSON object, or with a depth one JSON line per node."""

    if depth is None:
        print_json({**header(solution, ev), "node": node_json(node, ev=ev)})
        return
    for text in node_lines(solution, node.line, depth[0], ev):
        typer.echo(text)


def write_page(
    path: Path, solution: SpotSolution, node: NodeReport, depth: tuple[int | None] | None, *, file: Path, ev: str
) -> None:
    """Write the HTML page with all nodes on the line, and the nodes below on its street or down to a depth."""

    check_two_cards(solution.spot.format)
    limit, across = (None, False) if depth is None else (depth[0], True)
    lines = lines_above(node.line)
    lines += lines_below(solution, node.line, limit, across_streets=across, most=MOST_NODES - len(lines))
    text = page(
        (node_report(solution, line) for line in lines),
        node.line,
        solution.spot.format,
        title=f"{node.board or node.street} - Treeplex",
        facts=facts_line(solution),
        command=f"treeplex show {quoted(str(file))}",
        ev=ev,
    )
    write_atomically(path, text)


def facts_line(solution: SpotSolution) -> str:
    """One line with the spot and its exploitability."""
    spot = solution.spot
    pot = spot.opening_pot
    share = f" ({short(100 * solution.exploitability / pot)}% of the pot)" if pot else ""
    judged = solution.exploitability == solution.exploitability
    known = f"exploitability {short(solution.exploitability)} {spot.unit}{share}" if judged else "exploitability not known"
    unit = "" if spot.unit == "chips" else f" {spot.unit}"
    return f"pot {pot:g}{unit}, stacks {spot.stack:g}{unit}; {solution.algorithm}, {solution.iterations:,} iterations, {known}"


def write_grid(path: Path, solution: SpotSolution, node: NodeReport, player: int | None, *, ev: str) -> None:
    """Draw one player's grid into an image file."""
    from treeplex.holdem.study.pages.grid_image import grid_figure
    from treeplex.run.plots import write_figure

    check_two_cards(solution.spot.format)
    who = shown_player(node, player)
    node = node.from_the_pot() if ev == "pot" else node
    write_figure(grid_figure(node, who, hand_classes(node.sides[who], node.cards)), path)


def shown_player(node: NodeReport, player: int | None) -> int:
    """The player whose range is shown: the requested one, otherwise the player to act, otherwise player 0."""
    return player if player is not None else node.player or 0


def print_node(
    solution: SpotSolution, node: NodeReport, player: int | None, hand: str | None, *, signed: bool, file: Path
) -> None:
    """Print a node in human-readable form."""

    whole, node = node, node if signed else node.from_the_pot()
    who = shown_player(node, player)
    side, acts = node.sides[who], node.player == who
    hands = chosen_hands(side, hand)
    where = " ".join(node.board[i : i + 2] for i in range(0, len(node.board), 2)) or node.street
    state = (
        f"{PLAYERS[node.player]} acts" if node.player is not None else "a card comes" if node.children else "the hand is over"
    )
    title = f"{where}   {node.line or 'first decision'}   {state}"
    stacks = f"{node.stacks[0]:g} OOP, {node.stacks[1]:g} IP" if node.stacks[0] != node.stacks[1] else f"{node.stacks[0]:g}"
    print_facts({"pot": f"{node.pot:g}", "stacks": stacks, "solved": facts_line(solution).split("; ")[1]}, title=title)
    typer.echo("")
    console = Console(soft_wrap=True)
    if solution.spot.format.hole == 2:
        print_grid(console, node, who, coloured=in_colour(console))
    if acts:
        print_actions(node, side, signed=signed)
    print_ranges(node, node_statistics(solution, node.line), realised(whole), signed=signed)
    print_hands(node, side, hands, signed=signed)
    print_next(node, file)


def print_grid(console: Console, node: NodeReport, who: int, *, coloured: bool) -> None:
    """Print the grid and its legend."""

    classes = hand_classes(node.sides[who], node.cards)
    if node.player == who:
        console.print(strategy_grid(classes, node.kinds, coloured=coloured), soft_wrap=True)
        console.print(legend(node.actions, node.kinds, coloured=coloured))
    else:
        console.print(value_grid(classes, 100 * classes.equity, low=0, high=100, coloured=coloured), soft_wrap=True)
        console.print(f"{PLAYERS[who]}, equity in percent", style="dim")
    console.print()


def print_actions(node: NodeReport, side: Side, *, signed: bool) -> None:
    """Print the range's action frequencies."""
    rows = []
    for number, name in enumerate(node.actions):
        size = f" ({node.sizes[number]})" if node.sizes[number] else ""
        values = (side.totals[number], side.action_combos[number], side.action_values[number])
        rows.append([name + size, f"{100 * values[0]:.1f}%", counted(values[1]), amount(values[2], signed)])
    echo_table(["action", "taken", "combos", "EV"], rows)
    typer.echo("")


def print_ranges(node: NodeReport, statistics: NodeStatistics, eqr: tuple[float, float], *, signed: bool) -> None:
    """Print EV, equity and equity realisation of both ranges; when facing a bet, also pot odds and MDF."""

    rows = []
    for side, share in zip(node.sides, eqr, strict=True):
        ev = amount(side.mean(side.ev), signed)
        rows.append([PLAYERS[side.player], counted(side.combos), ev, per_cent(side.mean(side.equity)), per_cent(share)])
    echo_table(["range", "combos", "EV", "equity", "EQR"], rows)
    if statistics.call:
        odds = f"{per_cent(statistics.pot_odds)} equity calls {statistics.call:g} into {node.pot:g}"
        typer.echo(f"pot odds: {odds}   MDF {per_cent(statistics.mdf)}, defends {per_cent(statistics.defended)}")
    typer.echo("")


def print_hands(node: NodeReport, side: Side, hands: tuple[list[int], int], *, signed: bool) -> None:
    """Print a table of hands, and the number of hands omitted from it."""
    rows, left = hands
    acting = range(len(side.frequency))
    head = ["hand", "weight", "EV", "equity", *(node.actions[number] for number in acting)]
    table = []
    for row in rows:
        cells = [
            side.names[row],
            weight_text(side.weight[row]),
            amount(side.ev[row], signed),
            per_cent(side.equity[row]),
        ]
        for number in acting:
            value = amount(side.action_ev[number, row], signed)
            cells.append(f"{per_cent(side.frequency[number, row]):>6} {value:>7}")
        table.append(cells)
    echo_table(head, table)
    if acting:
        typer.secho("under each action: frequency and EV", dim=True)
    if left:
        typer.secho(f"{left} more hands: --hand all, or --hand AKs,QQ to choose", dim=True)
    typer.echo("")


def print_next(node: NodeReport, file: Path) -> None:
    """Print the commands that show the lines one step further."""
    if not node.children:
        return
    typer.secho("next", bold=True)
    often = [] if node.player is None else list(node.sides[node.player].totals)
    for index, child in enumerate(node.children[:MOST_NEXT]):
        note = f"   {node.actions[index]} {100 * often[index]:.0f}%" if node.player is not None else ""
        typer.echo(f"  treeplex show {quoted(str(file))} --line {quoted(child)}{note}")
    if len(node.children) > MOST_NEXT:
        rest = ", ".join(child.rpartition(",")[2] for child in node.children[MOST_NEXT:])
        typer.echo(f"  or another card: {rest}")
