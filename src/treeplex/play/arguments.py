"""Arguments and options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

GameArgument = Annotated[
    str,
    typer.Argument(
        metavar="GAME",
        help="A game: leduc_poker, 'leduc_poker(ranks=4)', openspiel:first_sealed_auction, game.efg or mygame.py:MyGame.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON only.")]
Refine = Annotated[bool, typer.Option("--refine", help="Split infostates in which a player forgets, instead of refusing.")]
Updates = Annotated[
    str | None, typer.Option(metavar="ORDER", help="alternating or simultaneous; default: as in the algorithm's paper.")
]
Seconds = Annotated[float | None, typer.Option(help="Stop after this much time.")]
Every = Annotated[int | None, typer.Option(metavar="K", help="Evaluate every K iterations; default: ten times a decade.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite what is in the folder.")]
ShowProgress = Annotated[
    bool | None, typer.Option("--progress/--no-progress", help="Show the live line; default: on a terminal only.")
]
Folder = Annotated[Path | None, typer.Option(metavar="DIR", help="Write a run folder.")]
