"""Arguments and options shared by several commands."""

import inspect
from copy import copy
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from treeplex.errors import SpecError

SETTINGS = "Settings"
"""Heading of options for training settings."""
_GAME = typer.Argument(
    metavar="GAME",
    help="A game: leduc_poker, 'leduc_poker(ranks=4)', openspiel:tiny_hanabi, game.efg, my.py:MyGame, or a spot (turn.yaml).",
)
GameArgument = Annotated[str, _GAME]
AnyGameArgument = Annotated[str | None, _GAME]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Refine = Annotated[
    bool, typer.Option("--refine", help="Split infostates until recall is perfect, instead of rejecting the game.")
]
Complete = Annotated[
    bool,
    typer.Option("--complete", help="Play uniformly at infostates missing from a .json or .csv policy."),
]
Limit = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Reject games with more than N histories. Default: 50,000,000."),
]
Updates = Annotated[
    str | None,
    typer.Option(metavar="ORDER", help="Player updates: alternating or simultaneous. Default: as in the algorithm's paper."),
]
Iterations = Annotated[int | None, typer.Option("-n", "--iterations", metavar="N", help="Total iterations. Default: 1000.")]
Nodes = Annotated[int | None, typer.Option(metavar="N", help="Stop after visiting N histories.")]
Seed = Annotated[int | None, typer.Option(help="Random seed. Default: 0.")]
Games = Annotated[int | None, typer.Option(metavar="N", min=1, help="Stop after N games. Default: no limit.")]
DealSeed = Annotated[int | None, typer.Option(min=0, help="Random seed of the deal and of the opponent. Default: random.")]
Think = Annotated[
    str | None,
    typer.Option(
        "--think",
        metavar="TIME",
        help="Time limit per decision of search agents, such as 2s or 500ms. Default: the agent's setting.",
    ),
]
PlayThink = Annotated[
    str | None,
    typer.Option(
        "--think",
        metavar="TIME",
        help="Time limit per decision of search agents, such as 2s or 500ms. Default: 2s if --iterations is not given.",
    ),
]
Seconds = Annotated[float | None, typer.Option(help="Stop after this many seconds.")]
Every = Annotated[
    int | None, typer.Option(metavar="K", help="Evaluate every K iterations. Default: ten evaluations per power of ten.")
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite existing files.")]
ShowProgress = Annotated[
    bool | None, typer.Option("--progress/--no-progress", help="Show a progress line. Default: on terminals.")
]
Ray = Annotated[str | None, typer.Option(metavar="ADDRESS", help="Run jobs on a Ray cluster: its address, auto, or local.")]
Changes = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change one setting. Repeatable.", rich_help_panel=SETTINGS),
]
Preset = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Preset of settings: recipe, paper or another. Default: recipe.", rich_help_panel=SETTINGS
    ),
]
Config = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="YAML file of settings that override the preset (see --show).",
        rich_help_panel=SETTINGS,
    ),
]
ShowSettings = Annotated[
    bool,
    typer.Option(
        "--show",
        help="Print all settings as YAML and exit.",
        rich_help_panel=SETTINGS,
    ),
]
TrainOut = Annotated[Path | None, typer.Option(metavar="DIR", help="Write the training run to this folder.")]
TrainResume = Annotated[Path | None, typer.Option(metavar="DIR", help="Resume the training run in this folder.")]
Measures = Annotated[
    list[str] | None,
    typer.Option("--measure", metavar="NAME", help="Also report a custom measure, my.py:gain. Repeatable."),
]
Device = Annotated[str | None, typer.Option(metavar="NAME", help="cpu (default), or with PyTorch cuda or auto.")]
Precision = Annotated[
    str | None, typer.Option(metavar="NAME", help="Precision of the iterations: double or single. Default: double.")
]
Threads = Annotated[int | None, typer.Option(metavar="N", help="Number of threads. Default: chosen by size.")]
RunPlace = Annotated[
    Path | None, typer.Option(metavar="PATH", help="Write the run to this folder (hold'em spots: to a file such as turn.spot).")
]
Folder = Annotated[Path | None, typer.Option(metavar="DIR", help="Write the run to this folder.")]

COMPILED = "Compiled games"
"""Heading of options for compiled games."""


def options_under(panel: str | None, **kinds: Any) -> list[inspect.Parameter]:
    """Return options by name under a heading of the help; their default is None."""
    parameters = []
    for name, kind in kinds.items():
        first, option = get_args(kind)
        option_info = copy(option)
        option_info.rich_help_panel = panel
        parameters.append(
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[first, option_info])
        )
    return parameters


SOLVING = [
    *options_under(None, seconds=Seconds, every=Every, threads=Threads, device=Device),
    *options_under(
        COMPILED,
        nodes=Nodes,
        seed=Seed,
        updates=Updates,
        precision=Precision,
        measures=Measures,
        refine=Refine,
        limit=Limit,
    ),
]
"""Options of all commands that solve, named as in :func:`treeplex.solve` and :func:`treeplex.compare`."""


def check_folders(out: Path | None, resume: Path | None) -> None:
    """Raise :class:`SpecError` unless a training has exactly one folder, either new or to resume."""
    if out is None and resume is None:
        raise SpecError("training needs a folder; give --out DIR, or --resume DIR to resume one")
    if out is not None and resume is not None:
        raise SpecError("a resumed run stays in its own folder; give only one of --out and --resume")
