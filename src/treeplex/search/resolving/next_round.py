"""Leaf values at the end of a betting round: means over all deals of values at the start of the next round."""

from dataclasses import dataclass

import numpy as np

from treeplex.base.arrays import Floats, Ints
from treeplex.games.public import Chance, PublicState, PublicTree, Terminal
from treeplex.search.leaf import LeafValue, SingleEntryCache
from treeplex.search.subgames.batch import PairPlaces
from treeplex.search.subgames.subgame import Places, Ranges


@dataclass(frozen=True, eq=False)
class Deals:
    """The possible deals at some public states.

    Attributes:
        after: public states after deals where play continues, as places. A place with a player to act stands for itself.
        owner: int64 [n], the place from which each state follows.
        over: for deals after which no decisions remain, the places, int64 [m], and player 0's payoff for each pair of hands
            times the weight of the pair, summed over deals, float64 [m, H_0, H_1].
    """

    after: PairPlaces
    owner: Ints
    over: tuple[Ints, Floats]


class NextRoundLeaf:
    """Leaf values at the end of a round, from those at the start of the next (DeepStack, Moravčík et al. 2017).

    Each deal is evaluated separately and weighted by its probability given the hand. If no decisions remain after a deal,
    payoffs are exact.

    Attributes:
        after: values of the public states after a deal, a :class:`treeplex.search.leaf.LeafValue`.
    """

    def __init__(self, after: LeafValue) -> None:
        self.after = after
        self._deals: SingleEntryCache[Places, Deals] = SingleEntryCache(deals_of)

    def __call__(self, places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        """See :class:`treeplex.search.leaf.LeafValue`; places may be before or after a deal."""
        deals = self._deals(places)
        owner, (rows, payoffs) = deals.owner, deals.over
        arrived = tuple(reach[owner] for reach in reached)
        said = believed if believed is reached else tuple(reach[owner] for reach in believed)
        values = self.after(deals.after, arrived if believed is reached else said, arrived, player) if len(owner) else arrived
        results = []
        for i, reach in enumerate(reached):
            entries = np.zeros_like(reach)
            if player in (None, i):
                np.add.at(entries, owner, values[i] * deals.after.opposing(arrived, i))
                if len(rows):
                    sums = (
                        np.einsum("khj,kj->kh", payoffs, reached[1][rows])
                        if i == 0
                        else -np.einsum("khj,kh->kj", payoffs, reached[0][rows])
                    )
                    entries[rows] += sums
                met = places.opposing(reached, i)
                entries = np.divide(entries, met, out=np.zeros_like(entries), where=met > 0)
            results.append(entries)
        return tuple(results)


def deals_of(places: Places) -> Deals:
    """Return the possible deals at the public states.

    Raises:
        AlgorithmError: the game is not a public tree.
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
    """Represent public states outside any subgame as places, without sequences."""
    count = len(states)
    nowhere = tuple(np.full((count, width), -1, np.int64) for width in widths)
    return PairPlaces(rules, np.arange(count), tuple(states), ((),) * count, (nowhere[0], nowhere[1]), tuple(states))
