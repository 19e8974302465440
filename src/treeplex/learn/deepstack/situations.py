"""Random situations at the starts of betting rounds, and their values: training data for DeepStack's networks.

Moravčík et al. 2017, supplement: a situation is a public state after a deal, with a pot and random ranges, see
:func:`treeplex.learn.rebel.random_beliefs.random_belief`. Here all pots that the betting tree allows are equally likely;
DeepStack, which must respond to any bet, draws pots from intervals.
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
"""Searches for ranges: number of concurrent searches, stops per search, and maximum iterations."""
MOST_STATES = 1_000_000
"""Limit on the public states traversed to find the starts of rounds."""


def round_starts(rules: PublicTree) -> list[list[PublicState]]:
    """Starts of betting rounds after the first, by round: public decision states directly after a deal.

    Of states with the same future only one is listed.

    Raises:
        GameError: no round starts with a deal, or there are too many public states.
    """
    first = rules.first_state()
    starts: list[dict[Hashable, PublicState]] = []
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
                raise GameError(
                    f"the game has more than {MOST_STATES:,} public states, too many for networks per round; use a smaller game"
                )
            if dealt and isinstance(what, Decision):
                starts += [{} for _ in range(deals + 1 - len(starts))]
                starts[deals][key[0]] = after
            queue.append((after, deals + dealt))
    if not starts or not all(starts):
        raise GameError(
            "no betting round starts with a deal, so networks per round have nothing to learn; "
            "choose a game that deals cards between betting rounds"
        )
    return [sorted(states.values(), key=lambda state: repr(state.node)) for states in starts]


class Situations(NamedTuple):
    """Training rows from solved situations, with columns for the acting player's hands, then for the other player's.

    Attributes:
        inputs: float32 [n, inputs], see :class:`treeplex.learn.common.encoding.Encoding`.
        targets: float32 [n, 2H], hand values as fractions of the pot.
        met: float32 [n, 2H], total reach of the opposing hands compatible with each hand; 0 for impossible hands.
        beliefs: float32 [n, 2H], beliefs with card removal; each player's sum to one.
    """

    inputs: Singles
    targets: Singles
    met: Singles
    beliefs: Singles


def no_situations(encoding: Encoding) -> Situations:
    """An empty batch of situations."""
    both = np.zeros((0, encoding.outputs), np.float32)
    return Situations(np.zeros((0, encoding.inputs), np.float32), both, both, both)


def met_and_believed(places: PairPlaces, ranges: Ranges) -> tuple[Ranges, Ranges]:
    """Compatible opposing reach of each hand, and its belief (0 if the two ranges are incompatible), [K, H_i] each."""
    met = places.opposing(ranges, 0), places.opposing(ranges, 1)
    joint = tuple(weights * mass for weights, mass in zip(ranges, met, strict=True))
    sums = [weights.sum(axis=1, keepdims=True) for weights in joint]
    return met, tuple(
        np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
        for weights, total in zip(joint, sums, strict=True)
    )


def pots(places: PairPlaces) -> Floats:
    """Pots at public states, float64 [K, 1], in the game's units."""
    return np.array([places.game.pot(state.node) for state in places.states])[:, None]


class SituationMaker:
    """Draws and solves situations at the start of one betting round.

    Attributes:
        rules: the public-tree rules.
        encoding: encoding of situations as network inputs.
        states: starts of the round.
        horizon, leaf: where solving ends, and the leaf values there.
    """

    def __init__(self, rules: PublicTree, states: list[PublicState], leaf: LeafValue, horizon: Horizon) -> None:
        self.rules, self.encoding, self.states = rules, Encoding(rules), states
        self.leaf, self.horizon = leaf, horizon

    def random(self, count: int, generator: np.random.Generator) -> list[Belief]:
        """At most ``count`` situations with random ranges; situations with zero reach are omitted."""
        chosen = generator.integers(0, len(self.states), count)
        drawn = (random_belief(self.rules, self.states[k], generator) for k in chosen)
        return [belief for belief in drawn if belief.pairs > 0]

    def solved(self, beliefs: list[Belief], method: str, iterations: int) -> Situations:
        """Solve a batch of situations; returns their training rows."""
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
            prepared.targets(tuple(player_values / pot for player_values in search.root_values())),
            prepared.targets(tuple(player_values / scale for player_values in met)),
            prepared.targets(believed),
        )


class SearchedRanges:
    """Situations reached by searching the previous round, so that ranges are those of play rather than random.

    A search starts at the root of the game, or at the start of the previous round with random ranges, and uses the current
    networks at its leaves. At random iterations, its current policy is played to the end of the round.

    Attributes:
        begun: starts of the previous round; None for the game's root.
        leaf: leaf values from the networks.
    """

    def __init__(self, rules: PublicTree, begun: list[PublicState] | None, leaf: LeafValue) -> None:
        self.rules, self.begun, self.leaf = rules, begun, leaf

    def beliefs(self, count: int, method: str, generator: np.random.Generator) -> list[Belief]:
        """At most ``count`` situations; those with zero reach or without a further decision are omitted."""
        starts = [self._start(generator) for _ in range(SIDE)]
        states = [pair_state(belief.state) for belief in starts]
        subgames = cut_states(self.rules, states, Horizon(rounds=1))
        search = SubgameSearch(subgames, METHODS[method], self.leaf, stacked_ranges(starts), horizon=LONGEST)
        drawn: list[Belief] = []
        if not len(subgames.leaves):
            return drawn
        stops = np.sort(generator.integers(1, LONGEST + 1, STOPS))
        for stop, share in zip(stops, np.array_split(np.arange(count), STOPS), strict=True):
            search.run(int(stop) - search.iteration)
            arrived = subgames.leaves.reach_at(search.strategy)
            for leaf in generator.integers(0, len(subgames.leaves), len(share)):
                after = subgames.leaves.states[leaf].successors(self.rules)[1]
                possible = [state for state in after if state.weight.any()]
                state = possible[int(generator.integers(len(possible)))]
                ranges = [reach[leaf, :size] for reach, size in zip(arrived, state.weight.shape, strict=True)]
                if isinstance(self.rules.visit(state.node), Decision):
                    drawn.append(Belief.of(self.rules, state, ranges))
        return [belief for belief in drawn if belief.pairs > 0]

    def _start(self, generator: np.random.Generator) -> Belief:
        """Draw the root of a search: a start of the previous round, or the game's root, half the time with the game's own
        ranges."""
        if self.begun is not None:
            return random_belief(self.rules, self.begun[int(generator.integers(len(self.begun)))], generator)
        root = Belief.root(self.rules)
        return root if generator.random() < 0.5 else random_belief(self.rules, pair_state(root.state), generator)
