"""``treeplex holdem train``: a network for rivers, learned by self-play on turns."""

from typing import Annotated

import typer

from treeplex.errors import SpecError
from treeplex.holdem.cli.shared import options as of
from treeplex.learn.cli.train import changes_of, run_training
from treeplex.run.cli.shared.arguments import (
    Changes,
    Config,
    Force,
    Json,
    Preset,
    Ray,
    ShowSettings,
    TrainOut,
    TrainResume,
    check_folders,
)
from treeplex.run.cli.shared.commands import command
from treeplex.run.cli.shared.console import say


@command("Train a network for rivers by self-play on turns.", place=40, example="train --out runs/turn")
@of.with_fields(*(name for name in of.ABOUT_TURNS if name not in ("oop", "ip")))
def train(
    *,
    spot: of.TurnSpot = None,
    options: of.Options,
    games: Annotated[int | None, typer.Option(metavar="N", help="Turns to draw in total; the same as --set games=N.")] = None,
    preset: Preset = None,
    config: Config = None,
    changes: Changes = None,
    show: ShowSettings = False,
    workers: Annotated[int | None, typer.Option(metavar="N", help="Processes that play. Default: 1, this one.")] = None,
    ray: Ray = None,
    out: TrainOut = None,
    resume: TrainResume = None,
    force: Force = False,
    as_json: Json = False,
    progress: of.Progress = None,
) -> None:
    """Train a network for the rivers below turns by ReBeL, for holdem search.

    A game is a turn like the spot's, with board, stacks and bet sizes drawn at random; it is searched with the network,
    and the rivers that follow are solved. Pot and sizes are the spot's; its ranges are ignored. The folder gets
    net.safetensors, run.json, metrics.jsonl, state.safetensors (about every 40 seconds) and learning-curve.png. Ctrl-C
    saves, and --resume continues bit for bit. treeplex train rebel SPOTFILE does the same. The paper's single hands, six layers
    and policy network are --preset paper, for a large machine; --set hands=true makes the recipe see single hands.

    \b
    Examples:
      treeplex holdem train --bets 100%,a --raises a --games 800 --out runs/turn
      treeplex holdem train examples/spots/turn.yaml --donk default --set boards=false --out runs/mine
      treeplex holdem train --show > settings.yaml
      treeplex holdem train --resume runs/turn --games 2000
      treeplex holdem search turn_endgame runs/turn --bets 100%,a --raises a
    """
    given = changes_of(config, changes, games=games)
    if resume is not None and (spot is not None or of.given(options)):
        raise SpecError("a resumed training keeps its spot; leave the spot and its options out")
    model = None if resume is not None else of.turn_spot(spot, options, ranges=False)
    if show:
        from treeplex.learn.train.train import shown_settings

        say(shown_settings("rebel", model, preset, resume, given).as_yaml(), nl=False)
        return
    check_folders(out, resume)
    run_training(
        model,
        "rebel",
        as_json=as_json,
        shown=progress,
        settings=given,
        preset=preset,
        out=out,
        resume=resume,
        force=force,
        workers=workers,
        ray=ray,
    )
