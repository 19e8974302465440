"""Options for hold'em in the general commands: spot fields, solving, showing and playing."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from treeplex.errors import SpecError
from treeplex.holdem.spots.spot_table import FIELDS, HOW, Field
from treeplex.run.cli.shared.arguments import options_under
from treeplex.run.cli.shared.commands import WingOptions, with_options

Options = Mapping[str, object]
"""The mapping that :func:`with_fields` passes to a command."""
SIZES = tuple(option for name in ("bets", "raises", "donk") for option in (name, *(part.option for part in FIELDS[name].parts)))
"""Fields for bet sizes."""
BETTING = (*SIZES, "thresholds", *(part.option for part in FIELDS["thresholds"].parts), "min-bet", "fixed-limit")
"""Fields that determine the betting tree."""


def with_fields(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Replace a command's parameter ``options`` with options for spot fields.

    The command gets a mapping from option names, without leading dashes, to the given values; None where not given.
    """

    parameters = [option for name in names for option in options_of(FIELDS[name], SOLVER if name in HOW else SPOT_FIELDS)]
    return with_options(parameters, lambda name: name.replace("_", "-"))


def options_of(field: Field, panel: str | None = None) -> list[inspect.Parameter]:
    """The options for a field and its parts, as command parameters under a heading of the help."""
    kind: Any = list[str] | None if field.repeats else str | None
    flags = [field.short] if field.short else []
    named = [(field.option, flags, kind, field.metavar, field.help)]
    named += [(part.option, [], str | None, part.metavar or field.metavar, part.help) for part in field.parts]
    return [
        inspect.Parameter(
            option.replace("-", "_"),
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[kind, typer.Option(*flags, f"--{option}", metavar=metavar, help=text, rich_help_panel=panel)],
        )
        for option, flags, kind, metavar, text in named
    ]


def path(metavar: str, text: str, *flags: str) -> Any:
    """An option that takes a file."""
    return Annotated[Path | None, typer.Option(*flags, metavar=metavar, help=text)]


def text(metavar: str, text: str, *flags: str) -> Any:
    """An option that takes a string."""
    return Annotated[str | None, typer.Option(*flags, metavar=metavar, help=text)]


def number(metavar: str, text: str) -> Any:
    """An option that takes an integer."""
    return Annotated[int | None, typer.Option(metavar=metavar, help=text)]


def flag(name: str, text: str) -> Any:
    """An option without a value."""
    return Annotated[bool, typer.Option(name, help=text)]


SPOTS, SPOT_FIELDS, SOLVED, SOLVER = "Hold'em spots", "Fields of a hold'em spot", "Solved hold'em spots", "Solver"
"""Headings of the help."""
THREADS = options_under(SPOTS, threads=number("N", FIELDS["threads"].help))
STORAGE = options_under(SPOTS, storage=text("KIND", FIELDS["storage"].help))
BUDGET = options_under(
    SPOTS,
    budget=text("MEMORY,TIME", "Choose bet sizes, raises, storage and threads that fit, such as 4GB,60s."),
)
EARLY = [option for name in ("until", "net", "locks") for option in options_of(FIELDS[name], SPOTS)]
ELSEWHERE = options_under(
    SPOTS,
    judge=Annotated[
        bool,
        typer.Option("--judge", help="With --until: compute the first street's exploitability by solving all later streets."),
    ],
    start=path("FILE", "Solve with different ranges or bet sizes, starting from this solution's regrets.", "--from"),
    workers=number("N", "Worker processes for the boards after the first street."),
    ray=text("ADDRESS", "Ray cluster that solves those boards: its address, auto or local."),
)
SOURCES = options_under(
    SPOT_FIELDS,
    endgame=path("FILE", "Solve a LibratusEndgames file instead of a spot."),
    decoding=text("true|ddcfr", "Card decoding of --endgame: true, or ddcfr (as in DDCFR)."),
    phh=path("FILE", "PHH hand history that sets board, pot and stack."),
    hand=number("N", "Number of the hand in a .phhs file. Default: 1."),
    street=text("STREET", "Street at which the spot begins. Default: the first heads-up street."),
)
DESCRIBED = [option for name in FIELDS if name not in HOW for option in options_of(FIELDS[name], SPOT_FIELDS)] + SOURCES
LINE = text("LINE", "Actions and cards so far: 'x,b50%,c,7s,b120' (x check, c call, f fold, b bet, r raise, a all-in).")
SHOWN = options_under(
    SOLVED,
    line=LINE,
    hand=text("HANDS", "List these hands: 'AsKs', 'AK,QQ', or all."),
    by=text("KIND", "Group hands by made, draw, suits or class."),
    only=text("NAMES", "Restrict ranges to these hands: 'top pair,flush draw', 'set', 'ss', 'AKs'."),
    runouts=flag("--runouts", "Show the decision on every turn or river card."),
    range_text=flag("--range", "Print the range at this node as text, for other tools."),
    ev=text("pot|net", "pot: EV in chips from the pot, so a fold has EV 0. net: minus half of the starting pot. Default: pot."),
    html=path("FILE", "Write an interactive HTML page."),
    png=path("FILE", "Draw the grid (.png, .svg or .pdf)."),
    depth=text(
        "N|all", "Actions and cards below the node for --json and --html. Default: 0 (--html: to the end of the street)."
    ),
)
BESIDE = options_under(
    SOLVED,
    line=LINE,
    other_line=text("LINE", "Decision in OTHER. Default: the same line.", "--with-line"),
    hands=number("N", "Number of hands to list. Default: 12."),
)
FEW_FIELDS = ("board", "oop", "ip", "pot", "stack", "bets", "raises", "donk", "min_bet")
"""Spot fields that are options for playing and training; a spot file has all fields."""
BRIEFLY = [option for name in FEW_FIELDS for option in options_of(replace(FIELDS[name], parts=()), SPOT_FIELDS)]
PLAYED = options_under(
    "Hands of hold'em",
    boards=flag("--boards", "Spots: deal a different board each hand."),
    drill=flag("--drill", "Spots: ask single decisions, and compare the answers with the solution --against FILE.spot."),
    line=text("LINE", "With --drill: the node at which hands start. Default: the start of the spot."),
    only=text("NAMES", "With --drill: ask only these hands, streets and textures: 'top pair,77+,river,on paired'."),
    reveal=flag("--reveal", "Full-game hold'em: show the opponent's cards after every hand, not only at a showdown."),
    log=path("FILE", "Append each finished hand to this text file."),
    saved_hands=path("PLACE", "Full-game hold'em: save each finished hand as PHH, in a folder or in one .phhs file.", "--phh"),
    review=text("STREET", "Full-game hold'em: evaluate decisions by solving each hand from the flop, turn or river on."),
)
READ = "treeplex.holdem.cli.shared.requests:described_spot"
SPOT_OPTIONS = (
    WingOptions("solve", [*BUDGET, *STORAGE, *EARLY, *ELSEWHERE, *DESCRIBED], READ),
    WingOptions("info", [*BUDGET, *options_of(FIELDS["algorithm"], SPOTS), *THREADS, *DESCRIBED], READ),
    WingOptions("compare", BESIDE),
    WingOptions("compare", STORAGE, READ),
    WingOptions("show", SHOWN),
    WingOptions("play", PLAYED),
    *(WingOptions(name, BRIEFLY, READ) for name in ("play", "train", "search")),
)
"""Hold'em's options of the commands for all games."""


def refuse_options(more: Mapping[str, object], names: Sequence[str], for_what: str) -> None:
    """Reject options of :data:`PLAYED` that do not apply to this game.

    Raises:
        SpecError: such an option was given.
    """
    flags = {"saved_hands": "phh"}
    for name in names:
        if more.get(name) is not None:
            raise SpecError(f"--{flags.get(name, name)} applies to {for_what} only; leave it out")
