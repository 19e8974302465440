"""The fields of a spot: one table, from which the keys of spot files, options of the command line and their help follow.

A :class:`Field` is a key of a spot file and an option of the same name. An option takes what the file has: a text, or a table
in braces, ``--bets "{river: {oop: 50%}}"``. A :class:`Part` is an option for one entry of such a table, ``--river-bets 33%``.

This module imports nothing, so that ``--help`` is quick; :mod:`treeplex.holdem.spots.files` reads the fields.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """An option that sets one entry of a field's table.

    Attributes:
        option: its name without the first dashes.
        key: of the entry.
        help: one line.
        metavar: what stands for its value in help; as the field's if empty.
        table: whether it may be a table of keys and values itself.
    """

    option: str
    key: str
    help: str
    metavar: str = ""
    table: bool = False


@dataclass(frozen=True)
class Field:
    """One field.

    Attributes:
        name: the key in files.
        example: how its value is written.
        metavar: what stands for its value in help.
        help: one line.
        spelled: the option without the first dashes, if it is not the name.
        short: the option's one-letter form, ``-n``.
        table: whether it may be a table of keys and values.
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
    parts: tuple[Part, ...] = ()
    repeats: bool = False

    @property
    def option(self) -> str:
        """The option without the first dashes: ``min-bet``."""
        return self.spelled or self.name.replace("_", "-")


def sizes(name: str, of: str) -> tuple[Part, ...]:
    """The options of sizes for one street or one player."""
    where = {
        "flop": "on the flop",
        "turn": "on the turn",
        "river": "on the river",
        "oop": "out of position",
        "ip": "in position",
    }
    return tuple(Part(f"{key}-{name}", key, f"{of} {place}.", table=True) for key, place in where.items())


FIELDS: Mapping[str, Field] = {
    field.name: field
    for field in (
        Field("board", "Td 9d 6h Qc", "CARDS", "Cards on the board: 'Td 9d 6h Qc'."),
        Field("oop", "66+, A8s+, AJo+", "RANGE", "Range out of position: '66+,A8s+,AJo+:0.5'."),
        Field("ip", "QQ-22, A2s+, ATo+", "RANGE", "Range in position."),
        Field("pot", "200", "CHIPS", "Chips in the pot, or big blinds: 6.5bb."),
        Field("stack", "900", "CHIPS", "Chips behind, of the smaller stack, or big blinds: 97bb."),
        Field(
            "bets",
            "50%, 100%, a",
            "SIZES",
            "First bets: '50%,120c,e,a' (of the pot, chips, geometric, all-in).",
            table=True,
            parts=sizes("bets", "First bets"),
        ),
        Field("raises", "2.5x, a", "SIZES", "Raises: '60%,2.5x,a'.", table=True, parts=sizes("raises", "Raises")),
        Field(
            "donk",
            "50%",
            "SIZES",
            "Leads into the last aggressor; none: no leads, default: as --bets.",
            table=True,
            parts=(
                Part("turn-donk", "turn", "Such leads on the turn."),
                Part("river-donk", "river", "Such leads on the river."),
            ),
        ),
        Field(
            "thresholds",
            "{add_allin: 150%, force_allin: 20%, merge: 10%}",
            "TABLE",
            "The next three in one: '{add_allin: 150%, merge: 10%}'.",
            table=True,
            parts=(
                Part("add-allin", "add_allin", "Offer all-in where it is at most this share of the pot: 150%.", "SHARE"),
                Part(
                    "force-allin", "force_allin", "Bet all-in where at most this share of the pot stays behind: 20%.", "SHARE"
                ),
                Part("merge", "merge", "Drop bets closer than this to a larger one: 10%.", "SHARE"),
            ),
        ),
        Field("min_bet", "2", "CHIPS", "The smallest bet and raise. Default: one chip, or the big blind of --blinds."),
        Field("limps", "false", "BOOL", "false: the first to put in chips after the blinds raises or folds. Default: true."),
        Field(
            "limit",
            "{bets: [2, 2, 4, 4], most: 4}",
            "TABLE",
            "Fixed limit: '{bets: [2, 2, 4, 4], most: 4}'.",
            spelled="fixed-limit",
            table=True,
        ),
        Field("blinds", "1, 2", "SMALL,BIG", "Blinds, for a spot before any card is dealt: 1,2."),
        Field(
            "runouts",
            "{flop: 25, turn: 12, river: 12}",
            "TABLE",
            "Deal only so many flops, turns of a flop, rivers of a turn; or a set of boards that ships: 48x2x2.",
            table=True,
            parts=(
                Part("flops", "flop", "Deal only so many flops, each standing for several.", "N"),
                Part("turns", "turn", "Deal only so many turns of each flop.", "N"),
                Part("rivers", "river", "Deal only so many rivers of each turn.", "N"),
            ),
        ),
        Field(
            "rake",
            "5%",
            "SHARE",
            "Rake: 5%.",
            table=True,
            parts=(
                Part("rake-cap", "cap", "The most rake.", "CHIPS"),
                Part("no-flop-no-drop", "no_flop_no_drop", "true: no rake from hands that end before the flop.", "BOOL"),
            ),
        ),
        Field("chip", "1", "CHIPS", "The smallest unit. Default: 1, or as small as pot, stack and sizes need."),
        Field("format", "holdem", "GAME", "holdem, royal, rhode_island or small(...). Default: holdem."),
        Field("until", "turn", "STREET", "Solve the first street alone, up to this one, whose values a network says."),
        Field(
            "net", "hands", "NETWORK", "With --until: hands (default), showdown, a folder of train hand-values or its network."
        ),
        Field("target", "0.5%", "T", "Stop at this exploitability: 0.5% of the pot, or 1.5c chips."),
        Field("iterations", "1000", "N", "The most iterations.", short="-n"),
        Field("algorithm", "dcfr", "NAME", "Default: dcfr.", short="-a"),
        Field("threads", "2", "N", "Threads. Default: one per core allowed."),
        Field("storage", "float32", "KIND", "float32 (default), float64, int16, int8, packed (less memory) or disk:FOLDER."),
        Field(
            "locks",
            "a list of {line: ..., strategy: ...}",
            "LOCK",
            "Keep a strategy: 'x, b50% [AA,KK]: c 80%, f 20%'; may be repeated.",
            spelled="lock",
            table=True,
            repeats=True,
        ),
    )
}
"""The fields by name, in the order of help."""

TURN_ENDGAME = "turn_endgame"
"""The name of turn endgame hold'em, in place of a spot file."""
NAMED = (TURN_ENDGAME, "flop_holdem", "royal_holdem", "rhode_island_holdem", "leduc_holdem")
"""Spots that have a name, in place of a file."""
SPOT_FILES = (".yaml", ".yml", ".toml")
"""Suffixes of spot files."""
SOLVED_FILE = ".spot"
"""Suffix of a solved spot's file."""
SPOTS = "treeplex.holdem.solve.spot_game:SpotGame"
"""What solves and judges spots, as ``module:name``."""
HOW = ("until", "net", "target", "iterations", "algorithm", "threads", "storage", "locks")
"""The fields about how to solve; all others are about the spot itself."""


def names_spot(text: str) -> bool:
    """Whether a text names a hold'em spot or a file of one."""
    return text in NAMED or text.lower().endswith(SPOT_FILES)
