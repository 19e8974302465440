"""Re-solving gadgets: small treeplexes of the opponent in front of a subgame's roots.

A player who solves a subgame again from ranges alone may do worse than before: the opponent would have come with other hands.
A gadget keeps the opponent's alternatives open. It carries down to the roots what each opposing hand was *promised*, the
value that it could get at most against the re-solving player's old policy (a counterfactual best-response value), and lets the
opponent choose, by hand, whether and with what to enter. If no hand gets more from the new policy than it was promised, the
new policy is no more exploitable than the old one, in all subgames together.

========================  =============================================================================================
:class:`Resolve`          every hand chooses by itself between what it was promised and entering (CFR-D: Burch, Johanson
                          and Bowling 2014, section 4)
:class:`Maxmargin`        the opponent chooses the hand too, and what was promised is taken off what it gets; so the smallest
                          *margin*, promised less got, becomes as large as it can (Moravčík et al. 2016, section 4)
========================  =============================================================================================

*Reach* versions (Brown and Sandholm 2017, section 4) are the same gadgets with larger promises, see
:func:`treeplex.search.resolving.resolved.gifts`.

A gadget is data, a :class:`Front`: a treeplex, what its sequences are worth by themselves, and by which of them hands enter.
Its local decisions are updated by the rule that solves the subgame, whichever it is. A custom gadget is a class with
:meth:`Gadget.front`.
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
        blocks: for each block of infosets how many there are and how many actions they have; sequence 0 is the empty one, and
            those of a block stand action-major behind those of the block before.
        doors: int64 [B, H], the sequence by which a hand enters; -1 for hands that cannot.
        payoffs: float64 [Q], what the opponent gets for a sequence itself, without what follows.
        shares: float64 [B, H], the range with which a hand enters when its sequence is played with probability one.
    """

    blocks: Sequence[tuple[int, int]]
    doors: Ints
    payoffs: Floats
    shares: Floats


@dataclass(frozen=True, eq=False, repr=False)
class Gadget(ABC):
    """What stands in front of a subgame's roots.

    Attributes:
        player: who solves again; the gadget's choices are its opponent's.
        carried: float64 [B, H], what each hand of the opponent was promised at the roots: its expected payoff against the
            hands of the player who solves again, in the game's units. NaN where nothing is known, which only hands may be that
            never meet anybody.
    """

    player: int
    carried: Floats

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__.lower()} gadget: player {self.player} solves again, {self.carried.shape[1]} hands promised>"
        )

    @abstractmethod
    def front(self, mass: Floats) -> Front:
        """The treeplex in front.

        Args:
            mass: float64 [B, H], how likely chance and the re-solving player make each hand of the opponent to be met; 0 for
                hands that stay out.
        """


class Resolve(Gadget):
    """Every hand takes what it was promised, or enters."""

    def front(self, mass: Floats) -> Front:
        met = mass > 0
        count = int(met.sum())
        doors = np.full(mass.shape, NONE, np.int64)
        doors[met] = 1 + count + np.arange(count)
        payoffs = np.zeros(1 + 2 * count)
        payoffs[1 : 1 + count] = self.carried[met]
        return Front([(count, 2)], doors, payoffs, met.astype(np.float64))


class Maxmargin(Gadget):
    """The opponent chooses one hand of each root, and pays what that hand was promised.

    A hand is not dealt then but chosen: it enters with a range of one over its mass, so that it meets the other hands as
    likely as if it were held.
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
    """A gadget being solved together with its subgame.

    Attributes:
        opponent: whose choices these are.
        mass: float64 [B, H], how likely each of its hands is met.
        front, level: the gadget's treeplex, and its regrets and policy.
    """

    def __init__(self, gadget: Gadget, roots: Places, admitted: Ranges, ranges: Ranges) -> None:
        """Start from the uniform policy.

        Args:
            gadget: the gadget.
            roots: the public states that it stands in front of.
            admitted: for each player float64 [B, H_i], 1 for hands that may enter there, else 0.
            ranges: for each player float64 [B, H_i], with which they begin; the opponent's own are not looked at.

        Raises:
            AlgorithmError: what was promised to a hand is missing, or is no table of all hands; or no such player.
        """
        if gadget.player not in (0, 1):
            raise AlgorithmError(f"gadget {type(gadget).__name__}: player must be 0 or 1, not {gadget.player!r}")
        self.opponent = 1 - gadget.player
        self.mass = roots.opposing(ranges, self.opponent) * admitted[self.opponent]
        check_carried(gadget, roots, self.mass)
        self.front = gadget.front(self.mass)
        self.level = Level(self.front.blocks)

    def improve(self, entries: Floats, row: Weights) -> None:
        """Update the choices from what root hands get by entering, counterfactual values, float64 [B, H]."""
        self.level.improve(self._values(entries), row)

    def respond(self, entries: Floats) -> None:
        """Set the choices to a best response to the values of entering, float64 [B, H]."""
        self.level.respond(self._values(entries))

    def _values(self, entries: Floats) -> Floats:
        values = self.front.payoffs.copy()
        scatter(self.front.doors, np.divide(entries, self.mass, out=np.zeros_like(entries), where=self.mass > 0), values)
        return values

    def entered(self) -> Floats:
        """The range with which the opponent enters by the current choices, float64 [B, H]."""
        found = np.empty(self.mass.shape)
        gather(self.front.doors, self.level.strategy, found)
        return found * self.front.shares


def check_carried(gadget: Gadget, roots: Places, mass: Floats) -> None:
    """Refuse a gadget without a value for each hand that may be met."""
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
            f"gadget {name}: no value was carried for hand {hand} of player {1 - gadget.player} at "
            f"{roots.game.name_of(roots.states[row])}; compute carried with treeplex.search.opponent_values"
        )
