"""The table of a spot's fields. It defines the keys of spot files, the command-line options and their help.

A :class:`Field` is a key of a spot file and an option of the same name. An option takes the same values as the file: a string,
or a table in braces, ``--bets "{river: {oop: 50%}}"``. A :class:`FieldPart` is an option for one entry of such a table,
``--river-bets 33%``. This module imports nothing, so that ``--help`` is fast; :mod:`treeplex.holdem.spots.files` reads the
fields.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class FieldPart:
    """An option that sets one entry of a field's table.

    Attributes:
        option: its name without the leading dashes.
        key: key of the entry.
        help: one line of help.
        metavar: placeholder of its value in help; empty for the field's.
        table: whether its value may be a table.
    """

    option: str
    key: str
    help: str
    metavar: str = ""
    table: bool = False


@dataclass(frozen=True)
class Field:
    """A field of a spot.

    Attributes:
        name: the key in files.
        example: example of its value.
        metavar: placeholder of its value in help.
        help: one line of help.
        spelled: the option without leading dashes, if it differs from the name.
        short: the option's one-letter form, such as ``-n``.
        table: whether its value may be a table.
        parts: options for entries of that table.
        repeats: whether the option may be given several times.
    """

    name: str
    example: str
    metavar: str
    help: str
    spelled: str = ""
    short: str = ""
    table: bool = False
    parts: tuple[FieldPart, ...] = ()
    repeats: bool = False

    @property
    def option(self) -> str:
        """The option without leading dashes: ``min-bet``."""
        return self.spelled or self.name.replace("_", "-")


def sizes(name: str, of: str) -> tuple[FieldPart, ...]:
    """The bet-size options for one street or player."""
    where = {
        "flop": "on the flop",
        "turn": "on the turn",
        "river": "on the river",
        "oop": "out of position",
        "ip": "in position",
    }
    return tuple(FieldPart(f"{key}-{name}", key, f"{of} {where_text}.", table=True) for key, where_text in where.items())


FIELDS: Mapping[str, Field] = {
    field.name: field
    for field in (
        Field("board", "Td 9d 6h Qc", "CARDS", "Cards on the board: 'Td 9d 6h Qc'."),
        Field("oop", "66+, A8s+, AJo+", "RANGE", "Range out of position: '66+,A8s+,AJo+:0.5'."),
        Field("ip", "QQ-22, A2s+, ATo+", "RANGE", "Range in position."),
        Field("pot", "200", "CHIPS", "Chips in the pot, or big blinds (6.5bb)."),
        Field("stack", "900", "CHIPS", "Effective stack behind in chips, or big blinds (97bb)."),
        Field(
            "bets",
            "50%, 100%, a",
            "SIZES",
            "First bets: '50%,120c,e,a' (share of the pot, chips, geometric, all-in).",
            table=True,
            parts=sizes("bets", "First bets"),
        ),
        Field("raises", "2.5x, a", "SIZES", "Raises: '60%,2.5x,a'.", table=True, parts=sizes("raises", "Raises")),
        Field(
            "donk",
            "50%",
            "SIZES",
            "Donk bets (leads), on the first street too, or none. Default: as --bets.",
            table=True,
            parts=(
                FieldPart("turn-donk", "turn", "Donk bets on the turn."),
                FieldPart("river-donk", "river", "Donk bets on the river."),
            ),
        ),
        Field(
            "thresholds",
            "{add_allin: 150%, force_allin: 20%, merge: 10%}",
            "TABLE",
            "--add-allin, --force-allin and --merge as one table: '{add_allin: 150%, merge: 10%}'.",
            table=True,
            parts=(
                FieldPart("add-allin", "add_allin", "Offer all-in up to this share of the pot, such as 150%.", "SHARE"),
                FieldPart(
                    "force-allin",
                    "force_allin",
                    "Replace a bet by all-in if at most this share of the pot is left behind: 20%.",
                    "SHARE",
                ),
                FieldPart("merge", "merge", "Drop bets that are within this margin of a larger bet: 10%.", "SHARE"),
            ),
        ),
        Field("min_bet", "2", "CHIPS", "Minimum bet and raise. Default: one chip, or the big blind of --blinds."),
        Field("limps", "false", "BOOL", "Whether the first player after the blinds may limp. Default: true."),
        Field(
            "limit",
            "{bets: [2, 2, 4, 4], most: 4}",
            "TABLE",
            "Fixed-limit betting: '{bets: [2, 2, 4, 4], most: 4}'.",
            spelled="fixed-limit",
            table=True,
        ),
        Field("blinds", "1, 2", "SMALL,BIG", "Blinds of a spot that begins preflop: 1,2."),
        Field(
            "runouts",
            "{flop: 25, turn: 12, river: 12}",
            "TABLE",
            "Deal a subset of boards: numbers of flops, turns and rivers, or a shipped set (48x2x2).",
            table=True,
            parts=(
                FieldPart("flops", "flop", "Deal only N flops, each representing several.", "N"),
                FieldPart("turns", "turn", "Deal only N turns on each flop.", "N"),
                FieldPart("rivers", "river", "Deal only N rivers on each turn.", "N"),
            ),
        ),
        Field(
            "rake",
            "5%",
            "SHARE",
            "Rake as a share of the pot: 5%.",
            table=True,
            parts=(
                FieldPart("rake-cap", "cap", "Maximum rake in chips.", "CHIPS"),
                FieldPart(
                    "no-flop-no-drop", "no_flop_no_drop", "Take no rake from hands that end preflop. Default: false.", "BOOL"
                ),
            ),
        ),
        Field("chip", "1", "CHIPS", "Smallest chip unit. Default: 1, or less if pot, stack or sizes require it."),
        Field("format", "holdem", "GAME", "holdem, royal, rhode_island or small(...). Default: holdem."),
        Field("until", "turn", "STREET", "Solve only until this street starts, with a network's values there."),
        Field(
            "net", "hands", "NETWORK", "With --until: hands (default), showdown, or a network or folder of train hand-values."
        ),
        Field("target", "0.5%", "T", "Exploitability to reach: 0.5% of the pot, or 1.5c chips."),
        Field("iterations", "1000", "N", "Maximum number of iterations.", short="-n"),
        Field("algorithm", "dcfr", "NAME", "Algorithm. Default: dcfr.", short="-a"),
        Field("threads", "2", "N", "Number of threads. Default: one per available core."),
        Field("storage", "float32", "KIND", "float32 (default), float64, int16, int8, packed (less memory) or disk:FOLDER."),
        Field("device", "auto", "NAME", "cpu (default), or with PyTorch cuda, auto or torch-cpu."),
        Field(
            "locks",
            "a list of {line: ..., strategy: ...}",
            "LOCK",
            "Lock a strategy: 'x, b50% [AA,KK]: c 80%, f 20%'. May be repeated.",
            spelled="lock",
            table=True,
            repeats=True,
        ),
    )
}
"""The fields by name, in the order of the help."""

TURN_ENDGAME = "turn_endgame"
"""The name of turn endgame hold'em, accepted in place of a spot file."""
NAMED = (TURN_ENDGAME, "flop_holdem", "royal_holdem", "rhode_island_holdem", "leduc_holdem")
"""Names of spots, accepted in place of a file."""
SPOT_FILES = (".yaml", ".yml", ".toml")
"""Suffixes of spot files."""
SOLVED_FILE = ".spot"
"""Suffix of a solved spot's file."""
SPOTS = "treeplex.holdem.solve.spot_game:SpotGame"
"""The class that solves and evaluates spots, as ``module:name``."""
HOW = ("until", "net", "target", "iterations", "algorithm", "threads", "storage", "device", "locks")
"""The fields that configure solving; all others describe the spot itself."""


def names_spot(text: str) -> bool:
    """Whether a string is the name of a hold'em spot or of a file with one."""
    return text in NAMED or text.lower().endswith(SPOT_FILES)
