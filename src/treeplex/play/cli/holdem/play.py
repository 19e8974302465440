"""``treeplex holdem play``: a person at the terminal plays turns against an agent that searches."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treeplex.errors import FileError, SpecError
from treeplex.play.cli.holdem.shared import options as of
from treeplex.play.cli.shared.arguments import DealSeed, Games, Think
from treeplex.play.cli.shared.commands import command
from treeplex.play.cli.shared.live import Live
from treeplex.spot_table import TURN_ENDGAME

if TYPE_CHECKING:
    from treeplex.games.poker.spots.spot import Spot

SEATS = ("oop", "ip")


@command("Play turns against an agent that searches.", place=60, example="play")
@of.with_fields(*of.ABOUT_TURNS)
def play(
    *,
    spot: of.TurnSpot = None,
    net: Annotated[
        str | None,
        typer.Argument(
            metavar="NETWORK", help="A folder of holdem train, or the network in it. Default: rebel, the library's own."
        ),
    ] = None,
    options: of.Options,
    seat: Annotated[str | None, typer.Option(metavar="oop|ip", help="Your seat. Default: seats alternate.")] = None,
    games: Games = None,
    boards: Annotated[bool, typer.Option("--boards", help="Deal another turn for each game.")] = False,
    iterations: of.SearchIterations = None,
    method: of.SearchMethod = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="Exact values where the turn's betting ends: rivers solved in every iteration.")
    ] = False,
    river: Annotated[int | None, typer.Option(metavar="N", help="Iterations in a solution of the rivers. Default: 64.")] = None,
    threads: Annotated[int | None, typer.Option(metavar="N", help="For --exact. Default: one per core allowed.")] = None,
    random_iteration: Annotated[
        bool,
        typer.Option("--random-iteration", help="The agent plays a random iteration of its search, not the average."),
    ] = False,
    log: Annotated[
        Path | None,
        typer.Option("--log", metavar="FILE", help="Add each finished hand to this text file."),
    ] = None,
    think: Think = None,
    seed: DealSeed = None,
) -> None:
    """Play turns and rivers of hold'em in the terminal, against an agent that searches as it plays.

    Hands are dealt from the ranges. The agent searches the turn, plays the average policy of that search to the end of the
    betting round, and solves the river that comes. Answer with the number or the name of an action, or with another bet: b1500
    (total chips on this street), bet 75% or raise to 4000; a size that is not in the spot is added, and the round searched
    again. quit, Ctrl-D or Ctrl-C ends. Results are net: chips won or lost relative to half of the starting pot. After
    a hand the agent says how much EV each of your decisions lost against its average strategy, by its own estimate.

    --random-iteration plays as the paper on ReBeL does: for each hand the agent draws one iteration of its search at random and
    plays the policy of that iteration. Over many hands that is safe: no opponent, not even one who knows the method, can
    exploit it by more than the search's error. The average policy has no such guarantee, but a single iteration can look odd:
    an early one may go all-in for ten times the pot.

    Without bet sizes, turn_endgame is played with those that the network was trained with.

    \b
    Examples:
      treeplex holdem play
      treeplex holdem play --boards --seat ip --games 20 --log hands.txt
      treeplex holdem play examples/spots/turn.yaml runs/mine --donk default
      treeplex holdem play examples/spots/turn.yaml --exact --donk default --oop "QQ+,AKs" --ip "99,KQs" -n 16
    """
    if exact and net is not None:
        raise SpecError("--exact solves the rivers and asks no network; give one of both")
    if seat is not None and seat not in SEATS:
        raise SpecError(f"--seat must be oop or ip, not {seat!r}")
    if log is not None:
        append_text(log, "")
    with Live(None) as live:
        live.say("setting up")
        import numpy as np

        from treeplex.games.poker.betting.sizes import DEFAULT
        from treeplex.games.poker.cards.cards import cards_to_string
        from treeplex.games.poker.spots.files import is_turn_endgame
        from treeplex.learn.rebel.shipped_nets import REBEL
        from treeplex.play.cli.holdem.search import card_text
        from treeplex.play.cli.play import sit
        from treeplex.play.tables.holdem import HoldemTable
        from treeplex.runs.agents.registry import seconds_of
        from treeplex.runs.holdem.first_street.agent import turn_agent
        from treeplex.runs.holdem.first_street.search import ITERATIONS, METHOD, RIVER, unlike
        from treeplex.search.holdem.agent import game_of

        generator = np.random.default_rng(seed)
        source = None if exact else net or REBEL
        sized = any(name in of.SIZES and (name, size) != ("donk", DEFAULT) for name, size in of.given(options).items())
        agent, file = turn_agent(
            of.turn_spot(spot, options, ranges=True),
            source,
            generator,
            iterations=ITERATIONS if iterations is None else iterations,
            method=METHOD if method is None else method,
            river=RIVER if river is None else river,
            threads=threads,
            own_sizes=is_turn_endgame(spot or TURN_ENDGAME) and not sized,
            drawn=random_iteration,
        )
        agent.think = None if think is None else seconds_of(think)
        bets_of_all = game_of(agent).spot.bets

        def on(other: tuple[int, ...]) -> "Spot":
            """The spot on another board, with all hands of its ranges that this one leaves."""
            asked = {**options, "board": cards_to_string(other)}
            return replace(of.turn_spot(spot, asked, ranges=True), bets=bets_of_all)

        table = HoldemTable(agent, generator, on=on if boards else None)
    values = "rivers solved exactly" if file is None else f"{source}: {card_text(file.card)}"
    played = game_of(agent).spot
    title = str(played) + (" and other boards" if boards else "")
    typer.echo(f"{title}, against {values}, {agent.settings.iterations} iterations of {agent.settings.method} a search")
    typer.echo(f"OOP is out of position and acts first, IP is in position; the smallest bet is {played.min_bet:,.12g}")
    differs = unlike(file, played)
    if boards and file is not None and not file.settings["boards"] and "another board" not in differs:
        differs.append("other boards")
    if differs:
        typer.echo(f"beware: the network was not trained for this: the spot has {', '.join(differs)}")
    finished = None if log is None else (lambda number, own: append_text(log, table.log(number, own)))
    sit(table, None if seat is None else SEATS.index(seat), games, finished=finished)


def append_text(path: Path, text: str) -> None:
    """Add a text to a file.

    Raises:
        FileError: it cannot be written.
    """
    from treeplex.storage.files import remedy
    from treeplex.storage.reading import reason

    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise FileError(f"cannot write {path}: {reason(error)}; {remedy(error, path)}") from error
