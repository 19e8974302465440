"""Re-solving gadgets: small treeplexes for the opponent's choices in front of a subgame's roots.

A player who re-solves a subgame from ranges alone may end up more exploitable, since the opponent could have reached the
subgame with other hands. A gadget models the opponent's alternatives. It stores the *alternative value* of each opposing hand:
the most that the hand could get against the re-solving player's old policy (a counterfactual best-response value). The opponent
then chooses, for each hand, whether to enter the subgame. If no hand gets more against the new policy than its alternative
value, the new policy is no more exploitable than the old one, even if all subgames are re-solved.

========================  =============================================================================================
:class:`Resolve`          every hand chooses separately between its alternative value and entering (CFR-D: Burch, Johanson
                          and Bowling 2014, section 4)
:class:`Maxmargin`        the opponent also chooses the hand, and gets its value less the alternative; so the smallest
                          *margin*, alternative minus actual value, is maximised (Moravčík et al. 2016, section 4)
========================  =============================================================================================

*Reach* versions (Brown and Sandholm 2017, section 4) are the same gadgets with larger alternative values, see
:func:`treeplex.search.resolving.resolved.gifts`.

A gadget is described by data, a :class:`Front`: a treeplex, payoffs of its sequences, and the sequences by which hands enter.
Its local decisions are updated by the same rule as the subgame. A custom gadget is a class with a method :meth:`Gadget.front`.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from treeplex.base.arrays import Floats, Ints
from treeplex.engine.tree.leaves import gather, scatter
from treeplex.engine.tree.regret import Weights
from treeplex.errors import AlgorithmError
from treeplex.search.subgames.level import Level
from treeplex.search.subgames.subgame import Places, Ranges

NONE = -1


class Front(NamedTuple):
    """A gadget's treeplex in front of B roots with H opposing hands.

    Attributes:
        blocks: for each block the number of infosets and their number of actions. Sequence 0 is the empty sequence; a block's
            sequences follow those of the previous block, in action-major order.
        doors: int64 [B, H], the sequence by which a hand enters; -1 for hands that cannot enter.
        payoffs: float64 [Q], the opponent's payoff for each sequence, excluding the subgame.
        shares: float64 [B, H], the range weight with which a hand enters if its sequence has probability one.
    """

    blocks: Sequence[tuple[int, int]]
    doors: Ints
    payoffs: Floats
    shares: Floats


@dataclass(frozen=True, eq=False, repr=False)
class Gadget(ABC):
    """A gadget in front of a subgame's roots.

    Attributes:
        player: the player who re-solves; the opponent makes the gadget's choices.
        carried: float64 [B, H], the alternative value of each hand of the opponent at the roots: its expected payoff against
            hands of the re-solving player, in the game's units. NaN, for unknown, is allowed only for hands without a
            compatible opposing hand.
    """

    player: int
    carried: Floats

    def __repr__(self) -> str:
        return f"<{type(self).__name__.lower()} gadget: player {self.player} re-solves, {self.carried.shape[1]} hands>"

    @abstractmethod
    def front(self, mass: Floats) -> Front:
        """Return the treeplex in front of the roots.

        Args:
            mass: float64 [B, H], the counterfactual reach of each hand of the opponent, by chance and the re-solving player's
                range; 0 for hands that cannot enter.
        """


class Resolve(Gadget):
    """Gadget in which every hand chooses between its alternative value and entering."""

    def front(self, mass: Floats) -> Front:
        met = mass > 0
        count = int(met.sum())
        doors = np.full(mass.shape, NONE, np.int64)
        doors[met] = 1 + count + np.arange(count)
        payoffs = np.zeros(1 + 2 * count)
        payoffs[1 : 1 + count] = self.carried[met]
        return Front([(count, 2)], doors, payoffs, met.astype(np.float64))


class Maxmargin(Gadget):
    """Gadget in which the opponent chooses one hand at each root, and pays its alternative value.

    The hand is chosen rather than dealt. It enters with range weight 1 / mass, so that it faces the other player's hands with
    the same probabilities as if it had been dealt.
    """

    def front(self, mass: Floats) -> Front:
        met = mass > 0
        counts = met.sum(axis=1)
        doors = np.full(mass.shape, NONE, np.int64)
        doors[met] = 1 + np.arange(counts.sum())
        payoffs = np.concatenate(([0.0], -self.carried[met]))
        shares = np.divide(1.0, mass, out=np.zeros_like(mass), where=met)
        return Front([(1, int(count)) for count in counts if count], doors, payoffs, shares)


GADGETS: Mapping[str, type[Resolve] | type[Maxmargin]] = {"resolve": Resolve, "maxmargin": Maxmargin}
"""Gadgets by name."""


class GadgetArrays:
    """A gadget being solved with its subgame.

    Attributes:
        opponent: the player who makes these choices.
        mass: float64 [B, H], the counterfactual reach of each of its hands.
        front, level: the gadget's treeplex, and its regrets and policy.
    """

    def __init__(self, gadget: Gadget, roots: Places, admitted: Ranges, ranges: Ranges) -> None:
        """Start from the uniform policy.

        Args:
            gadget: the gadget.
            roots: the public states below it.
            admitted: float64 [B, H_i] for each player, 1 for hands that may enter a root, otherwise 0.
            ranges: float64 [B, H_i] for each player, the initial ranges; the opponent's is ignored.

        Raises:
            AlgorithmError: an alternative value is missing, the values have the wrong shape, or the player does not exist.
        """
        if gadget.player not in (0, 1):
            raise AlgorithmError(f"gadget {type(gadget).__name__}: player is {gadget.player!r}; give 0 or 1")
        self.opponent = 1 - gadget.player
        self.mass = roots.opposing(ranges, self.opponent) * admitted[self.opponent]
        check_carried(gadget, roots, self.mass)
        self.front = gadget.front(self.mass)
        self.level = Level(self.front.blocks)

    def improve(self, entries: Floats, row: Weights) -> None:
        """Update the choices from the counterfactual values of entering with each root hand, float64 [B, H]."""
        self.level.improve(self._values(entries), row)

    def respond(self, entries: Floats) -> None:
        """Set the choices to a best response, given the counterfactual values of entering, float64 [B, H]."""
        self.level.respond(self._values(entries))

    def _values(self, entries: Floats) -> Floats:
        values = self.front.payoffs.copy()
        scatter(self.front.doors, np.divide(entries, self.mass, out=np.zeros_like(entries), where=self.mass > 0), values)
        return values

    def entered(self) -> Floats:
        """Range with which the opponent enters under the current choices, float64 [B, H]."""
        entering = np.empty(self.mass.shape)
        gather(self.front.doors, self.level.strategy, entering)
        return entering * self.front.shares


def check_carried(gadget: Gadget, roots: Places, mass: Floats) -> None:
    """Raise an error if the gadget lacks a value for a hand that can face an opposing hand."""
    name, carried = type(gadget).__name__, np.asarray(gadget.carried)
    if carried.shape != mass.shape:
        raise AlgorithmError(
            f"gadget {name}: carried has shape {carried.shape}, but {len(roots)} roots with {mass.shape[1]} hands of player "
            f"{1 - gadget.player} need {mass.shape}; compute it with treeplex.search.opponent_values"
        )
    missing = np.argwhere((mass > 0) & ~np.isfinite(carried))
    if len(missing):
        row, hand = missing[0].tolist()
        raise AlgorithmError(
            f"gadget {name}: no alternative value for hand {hand} of player {1 - gadget.player} at "
            f"{roots.game.name_of(roots.states[row])}; compute carried with treeplex.search.opponent_values"
        )
