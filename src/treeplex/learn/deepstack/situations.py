"""Random situations where betting rounds begin, and their values: what DeepStack's networks learn from.

Moravčík et al. 2017, supplement: a situation is a public state after chance has dealt, with a pot and with ranges drawn at
random, see :func:`treeplex.learn.rebel.random_beliefs.random_belief`. Here every pot that the betting can lead to is equally
likely; DeepStack, which has to answer any bet, draws pots from intervals.
"""

from collections.abc import Hashable
from typing import NamedTuple

import numpy as np

from treeplex.base.arrays import Floats, Singles
from treeplex.errors import GameError
from treeplex.games.public import Chance, Decision, PublicState, PublicTree, Terminal, pair_state
from treeplex.learn.common.encoding import Encoding
from treeplex.learn.rebel.random_beliefs import random_belief
from treeplex.search.leaf import LeafValue
from treeplex.search.methods import METHODS
from treeplex.search.subgame_search import SubgameSearch
from treeplex.search.subgames.batch import PairPlaces, cut_states
from treeplex.search.subgames.beliefs import Belief, stacked_ranges
from treeplex.search.subgames.horizon import Horizon
from treeplex.search.subgames.subgame import Ranges

SIDE, STOPS, LONGEST = 4, 4, 100
"""Searches for ranges: run side by side, stops of each, and their most iterations."""
MOST_STATES = 1_000_000
"""The most public states that are walked through to find where rounds begin."""


def round_starts(rules: PublicTree) -> list[list[PublicState]]:
    """Starts of betting rounds after the first, round by round: public states after a deal with a decision.

    Of states with the same future one stands for all.

    Raises:
        GameError: there are none, or too many public states.
    """
    first = rules.first_state()
    found: list[dict[Hashable, PublicState]] = []
    queue: list[tuple[PublicState, int]] = [(first, 0)]
    seen = {(rules.future(first.node), 0)}
    while queue:
        state, deals = queue.pop()
        visited, following = state.successors(rules)
        dealt = isinstance(visited, Chance)
        for after in following:
            key = rules.future(after.node), deals + dealt
            if key in seen or not after.weight.any() or isinstance(what := rules.visit(after.node), Terminal):
                continue
            seen.add(key)
            if len(seen) > MOST_STATES:
                raise GameError(f"the game has more than {MOST_STATES:,} public states; networks for each round need fewer")
            if dealt and isinstance(what, Decision):
                found += [{} for _ in range(deals + 1 - len(found))]
                found[deals][key[0]] = after
            queue.append((after, deals + dealt))
    if not found or not all(found):
        raise GameError("no betting round begins with a deal, so there is nothing that networks for rounds could value")
    return [sorted(states.values(), key=lambda state: repr(state.node)) for states in found]


class Situations(NamedTuple):
    """Rows of solved situations; both players' hands side by side, those of the player to act first.

    Attributes:
        inputs: float32 [n, inputs], see :class:`treeplex.learn.common.encoding.Encoding`.
        targets: float32 [n, 2H], values of hands in pots.
        met: float32 [n, 2H], how likely each hand meets one of the other's range; 0 for hands that cannot be there.
        beliefs: float32 [n, 2H], what is believed about each hand, with card removal; each player's sum to one.
    """

    inputs: Singles
    targets: Singles
    met: Singles
    beliefs: Singles


def no_situations(encoding: Encoding) -> Situations:
    """No rows."""
    both = np.zeros((0, encoding.outputs), np.float32)
    return Situations(np.zeros((0, encoding.inputs), np.float32), both, both, both)


def met_and_believed(places: PairPlaces, ranges: Ranges) -> tuple[Ranges, Ranges]:
    """How likely each hand meets one of the other's, [K, H_i], and the belief about it; 0 where ranges exclude each other."""
    met = places.opposing(ranges, 0), places.opposing(ranges, 1)
    joint = tuple(own * mass for own, mass in zip(ranges, met, strict=True))
    sums = [own.sum(axis=1, keepdims=True) for own in joint]
    return met, tuple(
        np.divide(own, total, out=np.zeros_like(own), where=total > 0) for own, total in zip(joint, sums, strict=True)
    )


def pots(places: PairPlaces) -> Floats:
    """The pot at each place, float64 [K, 1], in the game's units."""
    return np.array([places.game.pot(state.node) for state in places.states])[:, None]


class SituationMaker:
    """Draws and solves situations of one betting round.

    Attributes:
        rules: the public-tree rules.
        encoding: how a situation looks to a network.
        states: where the round begins.
        horizon, leaf: where solves end, and what is known there.
    """

    def __init__(self, rules: PublicTree, states: list[PublicState], leaf: LeafValue, horizon: Horizon) -> None:
        self.rules, self.encoding, self.states = rules, Encoding(rules), states
        self.leaf, self.horizon = leaf, horizon

    def random(self, count: int, generator: np.random.Generator) -> list[Belief]:
        """``count`` situations with random ranges, without those of zero reach."""
        chosen = generator.integers(0, len(self.states), count)
        drawn = (random_belief(self.rules, self.states[k], generator) for k in chosen)
        return [belief for belief in drawn if belief.pairs > 0]

    def solved(self, beliefs: list[Belief], method: str, iterations: int) -> Situations:
        """Situations, solved side by side."""
        if not beliefs:
            return no_situations(self.encoding)
        subgames = cut_states(self.rules, [pair_state(belief.state) for belief in beliefs], self.horizon)
        search = SubgameSearch(subgames, METHODS[method], self.leaf, stacked_ranges(beliefs), horizon=iterations)
        search.run(iterations)
        prepared, pot = self.encoding.prepared(subgames.roots), pots(subgames.roots)
        met, believed = met_and_believed(subgames.roots, search.ranges)
        scale = max(state.weight.max() for state in self.states)
        return Situations(
            prepared.write(search.ranges).copy(),
            prepared.targets(tuple(own / pot for own in search.root_values())),
            prepared.targets(tuple(own / scale for own in met)),
            prepared.targets(believed),
        )


class SearchedRanges:
    """Situations that searches of the round before come to: ranges as play has them, not random ones.

    A search of that round begins at the game's beginning, or where that round begins with random ranges, and ends where the
    networks so far say what hands are worth. It is stopped now and then, and its current policy played to the round's end.

    Attributes:
        begun: where the round before begins; None for the game's beginning.
        leaf: values by the networks.
    """

    def __init__(self, rules: PublicTree, begun: list[PublicState] | None, leaf: LeafValue) -> None:
        self.rules, self.begun, self.leaf = rules, begun, leaf

    def beliefs(self, count: int, method: str, generator: np.random.Generator) -> list[Belief]:
        """``count`` situations, without those of zero reach or with no decision left."""
        starts = [self._start(generator) for _ in range(SIDE)]
        states = [pair_state(belief.state) for belief in starts]
        subgames = cut_states(self.rules, states, Horizon(rounds=1))
        search = SubgameSearch(subgames, METHODS[method], self.leaf, stacked_ranges(starts), horizon=LONGEST)
        found: list[Belief] = []
        if not len(subgames.leaves):
            return found
        stops = np.sort(generator.integers(1, LONGEST + 1, STOPS))
        for stop, share in zip(stops, np.array_split(np.arange(count), STOPS), strict=True):
            search.run(int(stop) - search.iteration)
            arrived = subgames.leaves.reach_at(search.strategy)
            for place in generator.integers(0, len(subgames.leaves), len(share)):
                after = subgames.leaves.states[place].successors(self.rules)[1]
                possible = [state for state in after if state.weight.any()]
                state = possible[int(generator.integers(len(possible)))]
                ranges = [own[place, :size] for own, size in zip(arrived, state.weight.shape, strict=True)]
                if isinstance(self.rules.visit(state.node), Decision):
                    found.append(Belief.of(self.rules, state, ranges))
        return [belief for belief in found if belief.pairs > 0]

    def _start(self, generator: np.random.Generator) -> Belief:
        """Where a search begins: at the game's beginning half of the time with the ranges of the game."""
        if self.begun is not None:
            return random_belief(self.rules, self.begun[int(generator.integers(len(self.begun)))], generator)
        root = Belief.root(self.rules)
        return root if generator.random() < 0.5 else random_belief(self.rules, pair_state(root.state), generator)
