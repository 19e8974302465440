"""``treeplex holdem play``: a person at the terminal plays turns against an agent that searches, or whole hands."""

from pathlib import Path
from typing import Annotated

import typer

from treeplex.base.spec import spec_name
from treeplex.errors import SpecError
from treeplex.holdem.cli.shared import options as of
from treeplex.run.cli.shared.arguments import DealSeed, PlayThink
from treeplex.run.cli.shared.commands import command

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
    iterations: Annotated[
        int | None, typer.Option(metavar="N", help="Iterations of a search. Default: 128; of whole hands the agent's own.")
    ] = None,
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
    think: PlayThink = None,
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
        from treeplex.holdem.cli.shared.hands import HandsPlan
        from treeplex.learn.cli.holdem.whole import Thinking, play_whole

        plan = HandsPlan(seat, number if games is None else games, reveal, log, phh, review)
        play_whole(spot, against, plan, Thinking(iterations, think, seed))
        return
    for name, value in (("--against", against), ("--reveal", reveal), ("--phh", phh), ("--review", review)):
        if value:
            raise SpecError(f'{name} is for whole hands; name them first: treeplex holdem play "holdem(stack=100)"')
    if number is not None and iterations is not None:
        raise SpecError("-n and --iterations both say how many iterations a search has; give one of them")
    from treeplex.learn.cli.holdem.turns import Search, TurnsPlan, play_turns

    search = Search(
        net=net,
        iterations=number if iterations is None else iterations,
        method=method,
        exact=exact,
        river=river,
        threads=threads,
        drawn=random_iteration,
        think=think,
    )
    play_turns(spot, options, search, TurnsPlan(seat, games, boards, log, seed))


def is_whole(text: str) -> bool:
    """Whether a text names whole hold'em, and no file that is called so."""
    return spec_name(text) == WHOLE and not Path(text).exists()
