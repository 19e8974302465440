"""The DDCFR paper's two hold'em subgames as in the authors' program, and runs on them in its unit."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from papers.common.holdem import ENDGAMES, compile_renumbered, endgame, hand_curve
from papers.common.kept import code, kept
from papers.ddcfr.runs import FLOOR, ITERATIONS, LATE, Run, digest
from treeplex.holdem import CompiledSpot, Spot
from treeplex.holdem.engine.passes import BoardPool
from treeplex.holdem.policies.judge import judging_crew
from treeplex.holdem.spots.libratus_endgames import BIG_BLIND
from treeplex.solvers import DiscountPolicy

NUMBERS: Mapping[str, int] = {"subgame-3": 3, "subgame-4": 4}
HANDS = (
    *(
        "treeplex.holdem.engine",
        "treeplex.holdem.policies",
        "treeplex.holdem.forms",
        "treeplex.holdem.rules",
        "treeplex.solvers",
    ),
    *("papers.common.curves", "papers.common.holdem"),
)
STEERED = (*HANDS, "treeplex.engine.networks")
"""Modules that affect results of fixed variants and of learned schemes."""


@dataclass(frozen=True)
class Subgame:
    """A river subgame, compiled on demand; the player in position updates first, as in the authors' program.

    Attributes:
        name: ``subgame-3`` or ``subgame-4``.
        decoding: ``ddcfr`` as in their program, ``true`` as intended.
    """

    name: str
    decoding: str = "ddcfr"

    @cached_property
    def spot(self) -> Spot:
        return endgame(NUMBERS[self.name], self.decoding)

    @cached_property
    def compiled(self) -> CompiledSpot:
        return compile_renumbered(self.spot)

    @cached_property
    def crew(self) -> BoardPool:
        """Workers for evaluation."""
        return judging_crew(self.compiled, 1)

    @cached_property
    def share(self) -> float:
        """The probability that two hands from independent ranges have no card in common."""
        first, second = self.compiled.spot.ranges
        return float(self.compiled.compatible / (first.sum() * second.sum()))

    @property
    def scale(self) -> float:
        """Factor from chips per dealt pair of hands to the authors' unit.

        They scale each range to sum to one and count pairs that share a card as zero, in big blinds.
        """
        return self.share / BIG_BLIND


def at_hand() -> bool:
    """Whether the environment names the folder of the game files."""
    return bool(os.environ.get(ENDGAMES))


def hand_run(
    game: Subgame,
    algorithm: str | DiscountPolicy,
    points: Sequence[int],
    seeds: Sequence[int],
    *,
    storage: str = "float32",
) -> Run:
    """A run at ``points`` (which include ``LATE``) and perturbed runs, one per seed, in the authors' unit."""
    whole = one(game, algorithm, points, None, storage)
    late = [[whole[points.index(point)] for point in LATE]]
    late += [one(game, algorithm, LATE, seed, storage) for seed in seeds]
    return Run(whole, late)


def one(game: Subgame, algorithm: str | DiscountPolicy, points: Sequence[int], seed: int | None, storage: str) -> list[float]:
    """One curve in the authors' unit, which a learned scheme also observes."""
    learned = isinstance(algorithm, DiscountPolicy)
    key = {
        "game": [game.spot.identity, game.decoding, "renumbered"],
        "algorithm": digest(algorithm) if isinstance(algorithm, DiscountPolicy) else algorithm,
        "iterations": ITERATIONS,
        "points": list(points),
        "seed": seed,
        "storage": storage,
        "code": code(*(STEERED if learned else HANDS)),
    }

    def make() -> list[float]:
        unit = 1.0 / game.scale
        return hand_curve(game.compiled, algorithm, points, game.crew, storage=storage, seed=seed, unit=unit)

    return [max(game.scale * value, FLOOR) for value in kept(key, make)]
