"""Arguments and options that several commands share."""

import inspect
from copy import copy
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from treeplex.errors import SpecError

SETTINGS = "Settings"
"""The heading of options about the settings of a training."""
_GAME = typer.Argument(
    metavar="GAME",
    help="A game: leduc_poker, 'leduc_poker(ranks=4)', openspiel:tiny_hanabi, game.efg, game.nfg, mygame.py:MyGame, or a "
    "hold'em spot: turn.yaml, turn_endgame.",
)
GameArgument = Annotated[str, _GAME]
AnyGameArgument = Annotated[str | None, _GAME]
Json = Annotated[bool, typer.Option("--json", help="Print JSON only.")]
Refine = Annotated[bool, typer.Option("--refine", help="Split infostates in which a player forgets; default: refuse.")]
Complete = Annotated[
    bool,
    typer.Option("--complete", help="Play uniformly where a .json or .csv policy lacks an infostate."),
]
Limit = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Refuse games of more than N histories. Default: 50,000,000."),
]
Updates = Annotated[
    str | None, typer.Option(metavar="ORDER", help="alternating or simultaneous; default: as in the algorithm's paper.")
]
Iterations = Annotated[int | None, typer.Option("-n", "--iterations", metavar="N", help="Iterations in total. Default: 1000.")]
Nodes = Annotated[int | None, typer.Option(metavar="N", help="Stop after walking N histories.")]
Seed = Annotated[int | None, typer.Option(help="Seed of everything random. Default: 0.")]
Games = Annotated[int | None, typer.Option(metavar="N", min=1, help="Stop after N games. Default: no limit.")]
DealSeed = Annotated[int | None, typer.Option(min=0, help="Seed of the deal and of the opponent. Default: random.")]
Think = Annotated[
    str | None,
    typer.Option(
        "--think",
        metavar="TIME",
        help="Time for each decision of agents that search: 2s, 500ms or 2 (seconds). Default: what their settings say.",
    ),
]
PlayThink = Annotated[
    str | None,
    typer.Option(
        "--think",
        metavar="TIME",
        help="Time for each decision of agents that search: 2s, 500ms or 2 (seconds). Default: 2s, unless iterations are "
        "given.",
    ),
]
Seconds = Annotated[float | None, typer.Option(help="Stop after this much time.")]
Every = Annotated[int | None, typer.Option(metavar="K", help="Evaluate every K iterations; default: ten per power of ten.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite what is in the folder.")]
ShowProgress = Annotated[
    bool | None, typer.Option("--progress/--no-progress", help="Show a progress line; default: on a terminal only.")
]
Ray = Annotated[str | None, typer.Option(metavar="ADDRESS", help="Play on a Ray cluster: its address, auto, or local.")]
Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="One setting over those; may be given several times.", rich_help_panel=SETTINGS
    ),
]
Preset = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Settings to start from: recipe, paper or another. Default: recipe.", rich_help_panel=SETTINGS
    ),
]
Config = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Settings over the preset's, as YAML; see --show.",
        rich_help_panel=SETTINGS,
    ),
]
ShowSettings = Annotated[
    bool,
    typer.Option(
        "--show",
        help="Print all settings as YAML and stop.",
        rich_help_panel=SETTINGS,
    ),
]
TrainOut = Annotated[Path | None, typer.Option(metavar="DIR", help="Write a training folder.")]
TrainResume = Annotated[Path | None, typer.Option(metavar="DIR", help="Resume the training in this folder.")]
Measures = Annotated[
    list[str] | None,
    typer.Option("--measure", metavar="NAME", help="Also report a judge of your own, my.py:gain; may be repeated."),
]
Device = Annotated[
    str | None, typer.Option(metavar="NAME", help="cpu, cuda, auto or torch-cpu; the last three need PyTorch. Default: cpu.")
]
RunPlace = Annotated[
    Path | None, typer.Option(metavar="PATH", help="Write a run folder; of a hold'em spot one file, turn.spot.")
]
Folder = Annotated[Path | None, typer.Option(metavar="DIR", help="Write a run folder.")]

COMPILED = "Compiled games"
"""The heading of options that only games have that are compiled."""


def options_under(panel: str | None, **kinds: Any) -> list[inspect.Parameter]:
    """Options by their names, under a heading of the help; without one they are None."""
    found = []
    for name, kind in kinds.items():
        first, option = get_args(kind)
        own = copy(option)
        own.rich_help_panel = panel
        found.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[first, own]))
    return found


SOLVING = [
    *options_under(None, seconds=Seconds, every=Every),
    *options_under(
        COMPILED, nodes=Nodes, seed=Seed, updates=Updates, device=Device, measures=Measures, refine=Refine, limit=Limit
    ),
]
"""Options of all commands that solve, as :func:`treeplex.solve` and :func:`treeplex.compare` call them."""


def check_folders(out: Path | None, resume: Path | None) -> None:
    """Raise :class:`SpecError` unless a training is given one folder: of a new one, or of one to go on with."""
    if out is None and resume is None:
        raise SpecError("a training needs a folder; give --out DIR, or --resume DIR to resume one")
    if out is not None and resume is not None:
        raise SpecError("a resumed training stays in its own folder; give --out or --resume, not both")
