"""Hands of a spot between a person at the terminal and an agent."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from treeplex.errors import SpecError
from treeplex.holdem.cards.cards import cards_to_string
from treeplex.holdem.cli.shared.drill import drill_spot
from treeplex.holdem.cli.shared.kept import append_text
from treeplex.holdem.cli.shared.options import FEW_FIELDS, refuse_options
from treeplex.holdem.search.agent import agent_game
from treeplex.holdem.spots.files import spot_request
from treeplex.holdem.spots.spot import Spot
from treeplex.holdem.tables.spot import NAMES, HoldemTable
from treeplex.run.cli.shared.console import say
from treeplex.run.cli.shared.live import Live
from treeplex.search.cli.play import Seat, sit

USUAL = "rebel"
"""The default opponent."""


def play_spot(spot: Spot, wanted: Seat) -> None:
    """Play hand after hand until the person quits.

    Raises:
        SpecError: an option that applies only to full hands, or no such seat.
    """
    refuse_options(wanted.more, ("reveal", "saved_hands", "review"), "full-game hold'em, holdem(...)")
    seats, log = [name.lower() for name in NAMES], wanted.more["log"]
    if wanted.seat is not None and wanted.seat not in seats:
        raise SpecError(f"--seat is {wanted.seat!r}; write oop or ip")
    if wanted.more["drill"]:
        refuse_options(wanted.more, ("boards", "log"), "hands against an agent")
        drill_spot(spot, wanted)
        return
    refuse_options(wanted.more, ("line", "only"), "drills (--drill)")
    if log is not None:
        append_text(log, "")
    with Live(None) as live:
        live.say(f"setting up {spot}")
        whom = wanted.against or USUAL
        agent = wanted.opponent(spot, whom)
        boards = other_boards(wanted, agent_game(agent).spot) if wanted.more["boards"] else None
        table = HoldemTable(agent, np.random.default_rng(wanted.seed), on=boards)
    title = str(spot) + (" and other boards" if boards else "")
    say(f"{title}, against {getattr(agent, 'about', '') or whom}")
    say(f"OOP is out of position and acts first, IP is in position; the smallest bet is {spot.min_bet:,.12g}")
    finished = None if log is None else (lambda number, seat: append_text(log, table.log(number, seat)))
    sit(table, None if wanted.seat is None else seats.index(wanted.seat), wanted.games, finished=finished)


def other_boards(wanted: Seat, played: Spot) -> Callable[[tuple[int, ...]], Spot]:
    """Return a function that moves the spot to another board: blocked hands are removed, bets stay the same."""
    fields = {name: wanted.more[name] for name in FEW_FIELDS if wanted.more[name] is not None}

    def on(board: tuple[int, ...]) -> Spot:
        """The spot on a board."""
        request = spot_request(wanted.game, {**fields, "board": cards_to_string(board)})
        return replace(request.spot(), bets=played.bets)

    return on
