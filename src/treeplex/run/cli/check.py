"""``treeplex check``: compare two implementations of a game by playthroughs."""

from typing import Annotated

import typer

from treeplex.run.cli.shared.arguments import GameArgument, Json, ShowProgress
from treeplex.run.cli.shared.commands import command
from treeplex.run.cli.shared.console import print_json
from treeplex.run.cli.shared.live import Live


@command("Check that two implementations of a game agree.", place=35)
def check(
    game: GameArgument,
    against: Annotated[
        str | None, typer.Option(metavar="GAME", help="A second implementation of the game to compare with.")
    ] = None,
    playthroughs: Annotated[int, typer.Option(min=1, help="Number of random playthroughs.")] = 1000,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    as_json: Json = False,
    progress: ShowProgress = None,
) -> None:
    """Check that two implementations of a game agree, in random playthroughs.

    Players, actions, chance, payoffs and infostates must agree. A game with Numba functions is also compared with these, both
    as plain Python and compiled.

    \b
    Examples:
      treeplex check "goofspiel(num_cards=6,imp_info=true)"
      treeplex check "oshi_zumo(coins=9)" --against "openspiel:turn_based_simultaneous_game(game=oshi_zumo(coins=9))"
    """
    with Live(progress) as live:
        live.say(f"comparing rules of {game}")
        from treeplex.evaluate.check_rules import check_rules

        result = check_rules(
            game, against, playthroughs=playthroughs, seed=seed, watch=lambda done: live.say(f"{done:,} playthroughs")
        )
    if as_json:
        print_json(vars(result))
        return
    for other in result.others:
        typer.echo(f"equal: {result.game} and {other}")
    typer.echo(f"{result.playthroughs:,} playthroughs, {result.histories:,} histories, {result.infosets:,} infosets")
