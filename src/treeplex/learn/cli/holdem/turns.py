"""A person at the terminal plays turns and rivers of hold'em against an agent that searches."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from treeplex.errors import SpecError
from treeplex.holdem.cli.shared import options as of
from treeplex.holdem.spots.spot_table import TURN_ENDGAME
from treeplex.run.cli.shared.live import Live

if TYPE_CHECKING:
    from treeplex.holdem.spots.spot import Spot

SEATS = ("oop", "ip")


@dataclass(frozen=True, kw_only=True)
class Search:
    """How the opponent searches; None for what it does by itself.

    Attributes:
        net: a network, or the folder of one.
        iterations, method: of each search.
        exact: solve the rivers in every iteration, and ask no network.
        river: iterations in a solution of the rivers.
        threads: for ``exact``.
        drawn: play an iteration drawn at random, not the average.
        think: time for each decision.
    """

    net: str | None = None
    iterations: int | None = None
    method: str | None = None
    exact: bool = False
    river: int | None = None
    threads: int | None = None
    drawn: bool = False
    think: str | None = None


@dataclass(frozen=True)
class TurnsPlan:
    """How turns are played.

    Attributes:
        seat: the person's, ``oop`` or ``ip``; None: they alternate.
        games: how many at most; None for any number.
        boards: deal another turn for each game.
        log: a text file that hands are added to.
        seed: of deals and draws; None for others each time.
    """

    seat: str | None = None
    games: int | None = None
    boards: bool = False
    log: Path | None = None
    seed: int | None = None


def play_turns(spot: str | None, options: Mapping[str, Any], how: Search, plan: TurnsPlan) -> None:
    """Play turn after turn until the person has had enough.

    Args:
        spot: a spot file of a turn, or ``turn_endgame``; None for that.
        options: of the command, which override it.
        how: the opponent.
        plan: see there.

    Raises:
        SpecError: options that do not go together, or a seat that is none.
    """
    if how.exact and how.net is not None:
        raise SpecError("--exact solves the rivers and asks no network; give one of both")
    if plan.seat is not None and plan.seat not in SEATS:
        raise SpecError(f"--seat must be oop or ip, not {plan.seat!r}")
    from treeplex.holdem.cli.shared.kept import append_text

    log = plan.log
    if log is not None:
        append_text(log, "")
    with Live(None) as live:
        live.say("setting up")
        import numpy as np

        from treeplex.holdem.betting.sizes import DEFAULT
        from treeplex.holdem.cards.cards import cards_to_string
        from treeplex.holdem.search.agent import game_of
        from treeplex.holdem.spots.files import is_turn_endgame
        from treeplex.holdem.tables.spot import HoldemTable
        from treeplex.learn.cli.holdem.search import card_text
        from treeplex.learn.first_street.agent import turn_agent
        from treeplex.learn.first_street.search import ITERATIONS, METHOD, RIVER, unlike
        from treeplex.learn.rebel.shipped_nets import REBEL
        from treeplex.search.cli.play import sit
        from treeplex.search.named_agents.registry import PATIENCE, seconds_of

        generator = np.random.default_rng(plan.seed)
        source = None if how.exact else how.net or REBEL
        sized = any(name in of.SIZES and (name, size) != ("donk", DEFAULT) for name, size in of.given(options).items())
        agent, file = turn_agent(
            of.turn_spot(spot, options, ranges=True),
            source,
            generator,
            iterations=ITERATIONS if how.iterations is None else how.iterations,
            method=METHOD if how.method is None else how.method,
            river=RIVER if how.river is None else how.river,
            threads=how.threads,
            own_sizes=is_turn_endgame(spot or TURN_ENDGAME) and not sized,
            drawn=how.drawn,
        )
        usual = PATIENCE if how.iterations is None else None
        agent.think = usual if how.think is None else seconds_of(how.think)
        bets_of_all = game_of(agent).spot.bets

        def on(other: tuple[int, ...]) -> "Spot":
            """The spot on another board, with all hands of its ranges that this one leaves."""
            asked = {**options, "board": cards_to_string(other)}
            return replace(of.turn_spot(spot, asked, ranges=True), bets=bets_of_all)

        table = HoldemTable(agent, generator, on=on if plan.boards else None)
    values = "rivers solved exactly" if file is None else f"{source}: {card_text(file.card)}"
    played = game_of(agent).spot
    title = str(played) + (" and other boards" if plan.boards else "")
    typer.echo(f"{title}, against {values}, {agent.settings.iterations} iterations of {agent.settings.method} a search")
    typer.echo(f"OOP is out of position and acts first, IP is in position; the smallest bet is {played.min_bet:,.12g}")
    differs = unlike(file, played)
    if plan.boards and file is not None and not file.settings["boards"] and "another board" not in differs:
        differs.append("other boards")
    if differs:
        typer.echo(f"beware: the network was not trained for this: the spot has {', '.join(differs)}")
    finished = None if log is None else (lambda number, own: append_text(log, table.log(number, own)))
    sit(table, None if plan.seat is None else SEATS.index(plan.seat), plan.games, finished=finished)
