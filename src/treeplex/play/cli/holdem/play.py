"""``treeplex holdem play``: a person at the terminal plays turns against an agent that searches, or whole hands."""

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treeplex.errors import GameError, SpecError
from treeplex.play.cli.holdem.shared import options as of
from treeplex.play.cli.shared.arguments import DealSeed, Think
from treeplex.play.cli.shared.commands import command
from treeplex.play.cli.shared.live import Live
from treeplex.spot_table import TURN_ENDGAME

if TYPE_CHECKING:
    from treeplex.games.poker.spots.spot import Spot
    from treeplex.games.poker.whole.game import Holdem
    from treeplex.play.cli.holdem.shared.hands import HandsPlan

SEATS = ("oop", "ip")
WHOLE = "holdem"
"""The name of the game of whole hands."""


@command("Play turns or whole hands against an agent.", place=60, example='play "holdem(stack=100)"')
@of.with_fields(*of.ABOUT_TURNS)
def play(
    *,
    spot: Annotated[
        str | None,
        typer.Argument(
            metavar="SPOT",
            help="A spot file of a turn, or turn_endgame; options override it. Or whole hands: holdem, 'holdem(stack=100)'. "
            "Default: turn_endgame.",
        ),
    ] = None,
    net: Annotated[
        str | None,
        typer.Argument(
            metavar="NETWORK", help="A folder of holdem train, or the network in it. Default: rebel, the library's own."
        ),
    ] = None,
    options: of.Options,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="WHOM",
            help="Of whole hands, the opponent: an agent by name (see treeplex agents), a run folder, my.py:MyAgent. "
            "Default: rebel where it knows the stacks, else rules(style=regular).",
        ),
    ] = None,
    seat: Annotated[
        str | None,
        typer.Option(metavar="SEAT", help="Your seat: oop or ip, of whole hands button or bb. Default: they alternate."),
    ] = None,
    number: of.Number = None,
    games: Annotated[
        int | None, typer.Option("--games", "--hands", metavar="N", min=1, help="Stop after N hands. Default: no limit.")
    ] = None,
    boards: Annotated[bool, typer.Option("--boards", help="Deal another turn for each game.")] = False,
    iterations: Annotated[int | None, typer.Option(metavar="N", help="Iterations of a search. Default: 128.")] = None,
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
    reveal: of.Reveal = False,
    log: of.Log = None,
    phh: of.SavedHands = None,
    review: Annotated[
        str | None,
        typer.Option("--review", metavar="STREET", help="Judge each hand by solving it, from the flop, turn or river on."),
    ] = None,
    think: Think = None,
    seed: DealSeed = None,
) -> None:
    """Play turns and rivers of hold'em, or whole hands, in the terminal, against an agent.

    Turns: hands are dealt from the ranges. The agent searches the turn, plays the average policy of that search to the end of
    the betting round, and solves the river that comes. Answer with the number or the name of an action, or with another bet:
    b1500 (total chips on this street), bet 75% or raise to 4000; a size that is not in the spot is added, and the round
    searched again. quit, Ctrl-D or Ctrl-C ends. Results are net: chips won or lost relative to half of the starting pot. After
    a hand the agent says how much EV each of your decisions lost against its average strategy, by its own estimate.

    --random-iteration plays as the paper on ReBeL does: for each hand the agent draws one iteration of its search at random and
    plays the policy of that iteration. Over many hands that is safe: no opponent, not even one who knows the method, can
    exploit it by more than the search's error. The average policy has no such guarantee, but a single iteration can look odd:
    an early one may go all-in for ten times the pot.

    Without bet sizes, turn_endgame is played with those that the network was trained with.

    Whole hands are those of holdem(...), from the blinds to the showdown. The blinds move from hand to hand, and all amounts
    are in big blinds. Answer with fold, check, call, raise to 7bb, bet 75%, half pot, all in, or a number of the list. After a
    hand, mistakes are named as far as decisions can be judged: by an estimate, or with --review by solving the streets. At the
    end, what all hands came to. --phh saves the hands, for treeplex holdem review among others.

    \b
    Examples:
      treeplex holdem play
      treeplex holdem play --boards --seat ip --games 20 --log hands.txt
      treeplex holdem play examples/spots/turn.yaml runs/mine --donk default
      treeplex holdem play "holdem(stack=100)" -n 20 --phh hands
      treeplex holdem play "holdem(stack=200)" --against "rules(style=maniac)" --seat button --review river
      treeplex holdem play examples/spots/turn.yaml --exact --donk default --oop "QQ+,AKs" --ip "99,KQs" -n 16
    """
    if spot is not None and is_whole(spot):
        turns: dict[str, object] = {
            "NETWORK": net,
            "--boards": boards,
            "--exact": exact,
            "--random-iteration": random_iteration,
        }
        turns |= {"--method": method, "--river": river, "--threads": threads}
        turns |= {f"--{name}": value for name, value in of.given(options).items()}
        if given := [name for name, value in turns.items() if value not in (None, False)]:
            raise SpecError(f"{given[0]} is for turns; whole hands take their rules in brackets and the opponent by --against")
        if number is not None and games is not None:
            raise SpecError("-n and --games both say how many hands; give one of them")
        if number == 0:
            raise SpecError("-n is 0; play at least one hand")
        from treeplex.play.cli.holdem.shared.hands import HandsPlan

        plan = HandsPlan(seat, number if games is None else games, reveal, log, phh, review)
        play_whole(spot, against, plan, Thinking(iterations, think, seed))
        return
    for name, value in (("--against", against), ("--reveal", reveal), ("--phh", phh), ("--review", review)):
        if value:
            raise SpecError(f'{name} is for whole hands; name them first: treeplex holdem play "holdem(stack=100)"')
    if number is not None and iterations is not None:
        raise SpecError("-n and --iterations both say how many iterations a search has; give one of them")
    iterations = number if iterations is None else iterations
    if exact and net is not None:
        raise SpecError("--exact solves the rivers and asks no network; give one of both")
    if seat is not None and seat not in SEATS:
        raise SpecError(f"--seat must be oop or ip, not {seat!r}")
    from treeplex.play.cli.holdem.shared.kept import append_text

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


@dataclass(frozen=True)
class Thinking:
    """How an opponent thinks.

    Attributes:
        iterations, think: of each search; None for its own.
        seed: of deals and draws; None for others each time.
    """

    iterations: int | None
    think: str | None
    seed: int | None


def is_whole(text: str) -> bool:
    """Whether a text names whole hold'em, and no file that is called so."""
    return text.partition("(")[0].strip() == WHOLE and not Path(text).exists()


def play_whole(game: str, against: str | None, plan: "HandsPlan", how: Thinking) -> None:
    """Play whole hands; see :func:`play`."""
    from treeplex.play.cli.holdem.shared.hands import play_hands

    with Live(None) as live:
        live.say(f"setting up {game}")
        import numpy as np

        from treeplex.forms.sources.load import load_rules
        from treeplex.games.poker.whole.game import Holdem
        from treeplex.play.tables.whole import WholeTable
        from treeplex.runs.agents.played_game import PlayedGame
        from treeplex.runs.agents.registry import agent

        rules = load_rules(game)
        assert isinstance(rules, Holdem)
        own = None if how.seed is None else int(np.random.default_rng((how.seed, 1)).integers(2**63))
        whom = usual_opponent(rules) if against is None else against
        opponent = agent(whom, PlayedGame.of(rules), iterations=how.iterations, think=how.think, seed=own)
        name = name_of(whom)
        table = WholeTable(opponent, name, np.random.default_rng(how.seed))
    said = getattr(opponent, "about", "")
    about = said if said.startswith(name) else f"{whom}: {said}" if said else whom
    play_hands(table, about + (" (--against names another)" if against is None else ""), plan)


def usual_opponent(rules: "Holdem") -> str:
    """The opponent where none is named: ReBeL's network for these stacks if one comes with the library, else simple rules."""
    from treeplex.games.poker.whole.public import PublicHoldem
    from treeplex.learn.rebel.shipped_nets import REBEL
    from treeplex.runs.agents.rules import Rules
    from treeplex.runs.rebel.whole import shipped_whole_net
    from treeplex.runs.solve.solvable import UNIFORM

    if rules.num_players > 2:
        return UNIFORM
    try:
        shipped_whole_net(PublicHoldem(rules.rules))
    except (SpecError, GameError):
        return f"{Rules.name}(style=regular)"
    return REBEL


def name_of(text: str) -> str:
    """What an opponent is called at the table: ``rebel``, ``maniac``, the name of a folder, of a class."""
    if Path(text).exists():
        return Path(text).resolve().stem
    name, _, inner = text.partition("(")
    style = re.search(r"style=(\w+)", inner)
    return style[1] if style else name.rpartition(":")[2].strip()
