"""Limit hold'em in buckets as a form: update rules sweep all sequences in little more memory than their tables take.

The compiled game keeps every sequence in double precision; five buckets a street are two gigabytes. Here streets are walked one
after another, policies are matched where they are needed, and the last street is kept in single precision: ten buckets fit.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.engine.tree.learned import DiscountNetwork
from treeplex.engine.tree.regret import AVERAGE, AVERAGE_DISCOUNT, FLOOR, NEGATIVE, POSITIVE, REGRET
from treeplex.errors import AlgorithmError
from treeplex.forms.form import RuleKind
from treeplex.holdem.buckets.game import BucketGame
from treeplex.holdem.engine.buckets.street import Tables
from treeplex.holdem.engine.buckets.sweep import update
from treeplex.holdem.limit.policy import empty_tables
from treeplex.holdem.limit.streets import Array, BestResponse, OwnPolicy, Place, Reach, StreetWalk

COLUMNS_USED = [POSITIVE, NEGATIVE, REGRET, FLOOR, AVERAGE_DISCOUNT, AVERAGE]
"""Of a row of weights, in the order in which the kernel takes them."""


class LimitState(NamedTuple):
    """Regrets and own-reach-weighted sums of policies of both players."""

    regrets: Tables
    average: Tables


class LimitForm:
    """A :class:`~treeplex.forms.form.Form` of limit hold'em in buckets; updates alternate.

    Attributes:
        game: the game, of fixed limit.
    """

    players = 2

    def __init__(self, game: BucketGame) -> None:
        self.game = game

    @property
    def identity(self) -> str:
        """A hash of the game."""
        return self.game.identity

    def allocate(self, kind: RuleKind, needs: frozenset[str], averages: int, network: DiscountNetwork | None) -> LimitState:
        """Tables of zeros.

        Raises:
            AlgorithmError: a rule that keeps more than regrets and one average.
        """
        if kind is not RuleKind.REGRETS or needs - {"regrets", "average"} or averages != 1 or network:
            raise AlgorithmError(
                "keeps more than regrets and one average, which is all that sweeps have; take cfr, cfr+, lcfr, dcfr, dcfr+ or "
                "hs-dcfr"
            )
        return LimitState(empty_tables(self.game), empty_tables(self.game))

    def iterate(self, kind: RuleKind, rows: Floats, state: LimitState, *, alternating: bool) -> None:
        """Sweep once for each row.

        Raises:
            AlgorithmError: updates that do not alternate.
        """
        if not alternating:
            raise AlgorithmError("sweeps of limit hold'em alternate; leave updates=simultaneous out")
        for row in rows:
            for hero in range(2):
                Sweep(self.game, hero, state, row[COLUMNS_USED].astype(np.float32)).value(own=True)

    def iterate_learned(
        self, network: DiscountNetwork, state: LimitState, done: int, iterations: int, horizon: int, *, alternating: bool
    ) -> None:
        """Not offered; :meth:`allocate` has refused already."""
        raise AlgorithmError("learned schedules do not sweep limit hold'em; take dcfr")

    def arrays(self, state: LimitState) -> Mapping[str, NDArray[Any]]:
        """The arrays of the state."""
        return {
            "early_regrets": state.regrets.early,
            "late_regrets": state.regrets.late,
            "early_average": state.average.early,
            "late_average": state.average.late,
        }

    def policy(self, state: LimitState) -> NDArray[Any]:
        """The last street's sums, which actions are played in proportion to."""
        return state.average.late

    def values(self, state: LimitState, *, best: bool) -> Floats:
        """Chips that each player wins on average against the other's average policy, float64 [2]."""
        walk = BestResponse if best else OwnPolicy
        return np.array([walk(self.game, hero, state.average).value() for hero in range(2)])


class Sweep(StreetWalk):
    """An update of the hero: regrets by all of the other's sequences, the average by the own reach."""

    def __init__(self, game: BucketGame, hero: int, state: LimitState, weights: Array) -> None:
        """``weights``: float32 [6], see :data:`COLUMNS_USED`."""
        super().__init__(game, hero, state.regrets)
        self.state, self.weights = state, weights

    def decide(self, place: Place, values: Sequence[Array], reach: Reach) -> Array:
        """The value under the current policy; regrets and average move on."""
        assert reach.own is not None
        found = np.empty_like(values[0])
        tables = [self.block(each, place.street, place.starts)[:, place.slots] for each in self.state]
        update(np.stack(values), place.policy, reach.own, self.weights, tables[0], tables[1], found)
        return found
