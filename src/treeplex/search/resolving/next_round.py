"""Values at the end of a betting round as means of values at the beginning of the next, over what chance may show."""

from dataclasses import dataclass

import numpy as np

from treeplex.base.arrays import Floats, Ints
from treeplex.games.public import Chance, PublicState, PublicTree, Terminal
from treeplex.search.leaf import LeafValue, Prepared
from treeplex.search.subgames.batch import PairPlaces
from treeplex.search.subgames.subgame import Places, Ranges


@dataclass(frozen=True, eq=False)
class Deals:
    """The possible deals at some places.

    Attributes:
        after: the public states after a deal where play goes on, as places; a place where somebody acts is one itself.
        owner: int64 [n], from which place each comes.
        over: where no more is to be decided after a deal: the places, int64 [m], and player 0's payoff for each pair of hands
            times the weight of the pair, float64 [m, H_0, H_1], summed over deals.
    """

    after: PairPlaces
    owner: Ints
    over: tuple[Ints, Floats]


class NextRoundLeaf:
    """Leaf values where betting rounds end, from those where the next ones begin (Moravčík et al. 2017, DeepStack).

    What follows a deal is valued for each deal by itself, and weighted by how likely the deal is for the hand. Where nothing
    is left to decide after it, payoffs are exact.

    Attributes:
        after: values of the public states after a deal, any :class:`treeplex.search.leaf.LeafValue`.
    """

    def __init__(self, after: LeafValue) -> None:
        self.after = after
        self._deals: Prepared[Places, Deals] = Prepared(deals_of)

    def __call__(self, places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        """See :class:`treeplex.search.leaf.LeafValue`; places may stand before a deal or after one."""
        deals = self._deals(places)
        owner, (rows, payoffs) = deals.owner, deals.over
        arrived = tuple(own[owner] for own in reached)
        said = believed if believed is reached else tuple(own[owner] for own in believed)
        values = self.after(deals.after, arrived if believed is reached else said, arrived, player) if len(owner) else arrived
        found = []
        for each, own in enumerate(reached):
            entries = np.zeros_like(own)
            if player in (None, each):
                np.add.at(entries, owner, values[each] * deals.after.opposing(arrived, each))
                if len(rows):
                    sums = (
                        np.einsum("khj,kj->kh", payoffs, reached[1][rows])
                        if each == 0
                        else -np.einsum("khj,kh->kj", payoffs, reached[0][rows])
                    )
                    entries[rows] += sums
                met = places.opposing(reached, each)
                entries = np.divide(entries, met, out=np.zeros_like(entries), where=met > 0)
            found.append(entries)
        return tuple(found)


def deals_of(places: Places) -> Deals:
    """The possible deals at the places.

    Raises:
        AlgorithmError: no public tree.
    """
    places = places.trees
    rules, owners, states = places.game, list[int](), list[PublicState]()
    over: dict[int, Floats] = {}
    for k, state in enumerate(places.states):
        visited, following = state.successors(rules)
        for state_after in following if isinstance(visited, Chance) else (state,):
            leaf = rules.visit(state_after.node)
            if isinstance(leaf, Terminal):
                paid = np.zeros(tuple(places.widths))
                rows, columns = state_after.weight.shape
                paid[:rows, :columns] = state_after.weight * leaf.matrix * leaf.scale
                over[k] = over[k] + paid if k in over else paid
            elif state_after.weight.any():
                owners.append(k)
                states.append(state_after)
    payoffs = np.array(list(over.values())) if over else np.zeros((0, *places.widths))
    return Deals(places_at(rules, states, places.widths), np.array(owners, np.int64), (np.array(list(over), np.int64), payoffs))


def places_at(rules: PublicTree, states: list[PublicState], widths: tuple[int, ...]) -> PairPlaces:
    """Public states as places of no subgame in particular: no sequences lead there."""
    count = len(states)
    nowhere = tuple(np.full((count, width), -1, np.int64) for width in widths)
    return PairPlaces(rules, np.arange(count), tuple(states), ((),) * count, (nowhere[0], nowhere[1]), tuple(states))
