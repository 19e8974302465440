"""Further views of ``treeplex show``: runouts, groups of hands, and ranges as text."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer

from treeplex.holdem.cli.shared.texts import amount, counted, echo_table, per_cent
from treeplex.run.cli.shared.console import print_json

if TYPE_CHECKING:
    import numpy as np

    from treeplex.holdem.study.report.export import SpotSolution
    from treeplex.holdem.study.report.page_data import NodeReport
    from treeplex.holdem.study.report.runouts import Runouts

RANKS = "AKQJT98765432"
SUITS = "shdc"


def show_view(solution: "SpotSolution", node: "NodeReport", player: int, options: Mapping[str, Any], *, as_json: bool) -> bool:
    """Print the view that the options request, if any.

    Args:
        solution: the solved spot.
        node: the node, restricted to the requested hands, with EVs as they are shown.
        player: the player whose range is shown.
        options: the command's options, by name.
        as_json: print JSON.

    Returns:
        Whether a view was requested.

    Raises:
        SpecError: two views were requested, or the node does not have the view.
    """
    from treeplex.errors import SpecError

    requested = [
        name for name, key in (("--runouts", "runouts"), ("--by", "by"), ("--range", "range_text")) if options.get(key)
    ]
    if len(requested) > 1:
        raise SpecError(f"{' and '.join(requested)} are different views; give only one")
    if not requested:
        return False
    if options.get("runouts"):
        if options.get("only"):
            raise SpecError("--only cannot be combined with --runouts, which shows whole ranges; leave it out")
        show_runouts(solution, node.line, as_json=as_json)
    elif options.get("range_text"):
        from treeplex.holdem.study.report.breakdown import node_range

        text = node_range(node.sides[player])
        print_json({"line": node.line, "player": ("oop", "ip")[player], "range": text}) if as_json else typer.echo(text)
    else:
        show_groups(node, player, options["by"], as_json=as_json)
    return True


def show_groups(node: "NodeReport", player: int, by: str, *, as_json: bool) -> None:
    """Print one player's range divided into groups of hands."""
    from treeplex.holdem.study.report.breakdown import group_hands
    from treeplex.holdem.study.report.export import number, rounded
    from treeplex.holdem.study.report.page_data import PLAYERS

    side = node.sides[player]
    groups, actions = group_hands(side, node.cards, by), node.actions if node.player == player else ()
    if as_json:
        plain = [
            {
                "name": group.name,
                **{name: number(getattr(group, name)) for name in ("combos", "share", "ev", "equity")},
                "frequency": rounded(group.frequency),
                "action_ev": rounded(group.action_ev),
            }
            for group in groups
        ]
        heads = {"line": node.line, "board": node.board, "player": ("oop", "ip")[player], "by": by}
        print_json({**heads, "actions": list(actions), "groups": plain})
        return
    typer.secho(f"{PLAYERS[player]}, {node.board}   {node.line or 'first decision'}   by {by}", bold=True)
    rows = []
    for group in groups:
        cells = [group.name, counted(group.combos), per_cent(group.share), amount(group.ev, False), per_cent(group.equity)]
        for often, ev in zip(group.frequency, group.action_ev, strict=True):
            cells.append(f"{per_cent(often):>6} {amount(ev, False):>7}")
        rows.append(cells)
    echo_table(["hands", "combos", "of range", "EV", "equity", *actions], rows)
    if actions:
        typer.secho("under each action: frequency and EV", dim=True)


def show_runouts(solution: "SpotSolution", line: str, *, as_json: bool) -> None:
    """Print a decision on every next card: for each action a table of ranks by suits, then EV and equity."""
    from treeplex.holdem.study.report.export import rounded
    from treeplex.holdem.study.report.page_data import PLAYERS
    from treeplex.holdem.study.report.runouts import runouts

    card_table = runouts(solution, line)
    if as_json:
        from treeplex.holdem.cards.cards import cards_to_string

        print_json(
            {
                "before": card_table.before,
                "after": card_table.after,
                "player": ("oop", "ip")[card_table.player],
                "actions": list(card_table.actions),
                "cards": [cards_to_string([card]) for card in card_table.cards],
                **{name: rounded(getattr(card_table, name)) for name in ("chance", "frequency", "ev", "equity", "reach")},
            }
        )
        return
    then = f", then {card_table.after}" if card_table.after else ""
    typer.secho(f"{PLAYERS[card_table.player]} after {card_table.before}, a card{then}", bold=True)
    for index, name in enumerate(card_table.actions):
        print_cards(f"{name}, percent", card_table, 100 * card_table.frequency[index], digits=0)
    print_cards(
        f"EV of {PLAYERS[card_table.player]}, {solution.spot.unit} from the pot",
        card_table,
        card_table.ev[card_table.player],
        digits=1,
    )
    print_cards(
        f"equity of {PLAYERS[card_table.player]}, percent", card_table, 100 * card_table.equity[card_table.player], digits=1
    )


def print_cards(title: str, card_table: "Runouts", values: "np.ndarray[Any, Any]", *, digits: int) -> None:
    """Print a number for every card, in four rows of thirteen, and the mean, weighted by each card's chance and reach."""
    from treeplex.holdem.study.report.page_data import weighted_mean

    by_card = dict(zip(map(int, card_table.cards), map(float, values), strict=True))

    def text(value: float | None) -> str:
        return "-" if value is None or value != value else f"{value:.{digits}f}"

    mean = weighted_mean(values, card_table.chance * card_table.reach)
    rows = []
    for suit in SUITS:
        numbers = [4 * (12 - column) + "cdhs".index(suit) for column in range(len(RANKS))]
        rows.append([suit, *(text(by_card.get(number)) for number in numbers)])
    typer.echo("")
    typer.secho(f"{title}: {text(mean)} on average", bold=True)
    echo_table(["", *RANKS], rows)
