"""Hold'em spots of the benchmarks, their stopping rules and goals.

Libratus's four endgames are read from the files that its authors published (LibratusEndgames, also in OpenSpiel's
``universal_poker/endgames``): name their folder with ``--endgames`` or the environment variable ``TREEPLEX_ENDGAMES``.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.cards.cards import parse_cards
from treeplex.holdem.cards.ranges import parse_range
from treeplex.holdem.spots.known import turn_endgame_holdem
from treeplex.holdem.spots.libratus_endgames import read_libratus_endgame
from treeplex.holdem.spots.spot import Spot

ENDGAMES = "TREEPLEX_ENDGAMES"
POSTFLOP, TEXAS, OURS = "postflop-solver", "TexasSolver", "Treeplex"
OUT = "66+,A8s+,A5s-A4s,AJo+,K9s+,KQo,QTs+,JTs,96s+,85s+,75s+,65s,54s"
IN = "QQ-22,AQs-A2s,ATo+,K5s+,KJo+,Q8s+,J8s+,T7s+,96s+,86s+,75s+,64s+,53s+"
"""The ranges of postflop-solver's ``examples/basic.rs``: out of position, in position."""
CALLER = "22+,A2s+,K2s+,Q5s+,J7s+,T7s+,96s+,86s+,75s+,64s+,54s,A7o+,KTo+,QTo+,JTo,T9o"
RAISER = "22+,A2s+,K2s+,Q2s+,J5s+,T6s+,96s+,85s+,75s+,64s+,53s+,A2o+,K8o+,Q9o+,J9o+,T9o"
"""Wide ranges of a single-raised pot: out of position, in position."""


@dataclass(frozen=True)
class Goal:
    """Upper limit on Treeplex's time with a number of threads: ``seconds`` to the target, or ``ms`` per iteration."""

    kind: str
    most: float
    threads: int


@dataclass(frozen=True)
class Case:
    """One spot and how it is measured.

    Attributes:
        name, title: for the command line and for tables.
        spot: builds the spot.
        target: exploitability in percent of the pot at which to stop; None: run ``iterations`` iterations.
        iterations: the maximum, or the number per turn if there is no target.
        fresh: start every turn at iteration 0 (always the case with a target).
        threads, storages: each combination is measured. rivals: the other systems.
        rounds: turns of each system. goals: for Treeplex, in float32. note: text below the table. slow: measured only with
            ``--all`` or by name.
    """

    name: str
    title: str
    spot: Callable[[], Spot]
    target: float | None = 0.5
    iterations: int = 1000
    fresh: bool = True
    threads: tuple[int, ...] = (1,)
    storages: tuple[str, ...] = ("float32",)
    rivals: tuple[str, ...] = (POSTFLOP,)
    rounds: int = 7
    goals: tuple[Goal, ...] = field(default=())
    note: str = ""
    slow: bool = False


def endgame(number: int, decoding: str = "true") -> Callable[[], Spot]:
    """One of Libratus's endgames."""

    def make() -> Spot:
        folder = os.environ.get(ENDGAMES)
        if not folder:
            raise FileNotFoundError(f"the end games of Libratus: name the folder of subgame{number}.txt with --endgames")
        return read_libratus_endgame(Path(folder) / f"subgame{number}.txt", decoding=decoding)

    return make


def basic(board: str) -> Callable[[], Spot]:
    """``examples/basic.rs`` of postflop-solver, on a board of any street."""
    bets = BetPlan.same("60%,e,a", "2.5x", river_donk="50%", add_allin=1.5, force_allin=0.15, merge=0.1)
    return lambda: example(board, bets)


def wide() -> Spot:
    """The example flop with the ranges of a single-raised pot."""
    return replace(basic("Td9d6h")(), ranges=(parse_range(CALLER), parse_range(RAISER)))


def crossed() -> Spot:
    """The ranges of :func:`basic` with bet sizes that TexasSolver supports too."""
    return example("Td9d6hQc", BetPlan.same("50%,a", "60%,a"))


def example(board: str, bets: BetPlan) -> Spot:
    """A spot with the ranges of postflop-solver's example."""
    return Spot(parse_cards(board), pot=200, stack=900, ranges=(parse_range(OUT), parse_range(IN)), bets=bets)


DDCFR = (
    "The game of the DDCFR papers has swapped ranges and misread ranks at showdown, which postflop-solver cannot reproduce. "
    "postflop-solver runs the same tree and ranges with correct ranks. The paper's DCFR took {} on its own machine."
)
CASES = {
    case.name: case
    for case in (
        Case("subgame_3", "River: Libratus Subgame-3", endgame(3), threads=(1, 2), rounds=9, goals=(Goal("ms", 0.3, 1),)),
        Case("subgame_4", "River: Libratus Subgame-4", endgame(4), threads=(1, 2), rounds=9),
        Case(
            "ddcfr_3",
            "River: HUNL Subgame-3 of the DDCFR papers, 1000 iterations of DCFR",
            endgame(3, "ddcfr"),
            target=None,
            rounds=5,
            note=DDCFR.format("2 min 55 s"),
        ),
        Case(
            "ddcfr_4",
            "River: HUNL Subgame-4 of the DDCFR papers, 1000 iterations of DCFR",
            endgame(4, "ddcfr"),
            target=None,
            rounds=5,
            note=DDCFR.format("2 min 14 s"),
        ),
        Case(
            "turn_basic",
            "Turn: postflop-solver's example, Td9d6hQc",
            basic("Td9d6hQc"),
            threads=(1, 2),
            storages=("float32", "int16"),
            goals=(Goal("seconds", 0.6, 2),),
        ),
        Case(
            "x_turn",
            "Turn: the same ranges, bets 50% and all-in, raises 60% and all-in",
            crossed,
            threads=(1, 2),
            rivals=(POSTFLOP, TEXAS),
            note="TexasSolver interprets the sizes differently, so its tree differs slightly. Its start-up is not counted.",
        ),
        Case("subgame_2", "Turn: Libratus Subgame-2", endgame(2), threads=(1, 2), rounds=5),
        Case(
            "turn_endgame",
            "Turn: Turn Endgame Hold'em of the ReBeL paper, all hands",
            turn_endgame_holdem,
            target=None,
            iterations=20,
            fresh=False,
            threads=(1, 2),
            rounds=5,
            goals=(Goal("ms", 45, 2),),
        ),
        Case(
            "turn_endgame_target",
            "Turn: Turn Endgame Hold'em of the ReBeL paper, all hands, to 0.5% of the pot",
            turn_endgame_holdem,
            threads=(2,),
            rounds=2,
            slow=True,
        ),
        Case(
            "flop_basic",
            "Flop: postflop-solver's example, Td9d6h",
            basic("Td9d6h"),
            threads=(2,),
            storages=("float32", "int16"),
            rounds=2,
            goals=(Goal("seconds", 10, 2),),
        ),
        Case(
            "flop_wide",
            "Flop: Td9d6h with the ranges of a single-raised pot",
            wide,
            threads=(2,),
            rounds=1,
            goals=(Goal("seconds", 20, 2),),
        ),
    )
}
