"""Betting-round search on sampled deals, for card games with any number of players and any deck.

As in Pluribus (Brown and Sandholm 2019), Monte Carlo CFR with linear weights runs from the start of the round, with regrets for
each public state and hand. After the round each player chooses among continuations, which are played to the end of the hand.
Deals are sampled from the beliefs. Memory depends only on the round's betting tree, and time does not grow with the number of
possible deals.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from math import comb
from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints
from treeplex.engine.betting.rounds import (
    Deals,
    Guide,
    Round,
    RoundTables,
    Scratch,
    Search,
    acting_below,
    most_steps,
    search_deals,
)
from treeplex.engine.betting.sampling import Nodes
from treeplex.errors import AlgorithmError, GameError
from treeplex.forms.policies.tabular import Policy
from treeplex.games.base import TERMINAL
from treeplex.games.betting.hand_rows import CardRows, HandRows
from treeplex.games.betting.nodes import dealt, number_nodes, table_size, visit_public
from treeplex.games.card_game import CardGame
from treeplex.games.public import State, check_entries
from treeplex.search.subgames.beliefs import with_trace
from treeplex.search.subgames.policy_tables import table_at

MOST_JOINT = 4_000_000
"""Maximum number of combinations of hands for which deals are sampled from a table of all combinations."""
TRIES = 2_000
"""Oversampling factor with more combinations, since deals that share a card are rejected."""
BOARDS, FITTING, MOST_BOARDS = 256, 24, 8_192
"""Limits on the complete boards of a search: fewest, enough to fit each deal about this often, and most."""
POOL = 4_096
"""Number of deals sampled at a time."""
KEPT = 64
"""Number of rounds cached for later searches."""


@dataclass(frozen=True, eq=False)
class GuidedBetting:
    """A blueprint on the betting tree of a card game.

    Attributes:
        game: the public game.
        nodes: its betting tree.
        rows: the blueprint's card abstraction.
        shares: float32, the blueprint's action probabilities, in the layout of ``nodes`` and ``rows``.
        find: function that maps a public state with a player to act to its decision.
    """

    game: CardGame
    nodes: Nodes = field(repr=False)
    rows: CardRows = field(repr=False)
    shares: NDArray[np.float32] = field(repr=False)
    find: Callable[[State], int] = field(repr=False)

    @classmethod
    def of_policy(cls, game: CardGame, policy: Policy) -> "GuidedBetting":
        """Use a policy table of a small game, with a row for every hand on every board."""
        rows = HandRows.of_game(game, str(policy.game))
        nodes, states = number_nodes(dealt(game, game.first_state()), partial(visit_public, game), game.players, rows.counts)
        places = {game.line_of(state): node for node, state in enumerate(states)}
        shares = np.zeros(table_size(nodes, rows.counts), np.float32)
        waiting = [game.first_state()]
        while waiting:
            state = waiting.pop()
            options = game.options(state)
            if options.player >= 0:
                node, count = places[game.line_of(state)], len(options.labels)
                where = nodes.rows[node] + rows.at(tuple(game.shown(state))) * count
                shares[where + np.arange(count)[:, None]] = table_at(policy, game, state)
            if options.player != TERMINAL:
                waiting += [game.after(state, label) for label in options.labels]
        return cls(game, nodes, rows, shares, lambda state: places[game.line_of(state)])

    def policy_at(self, state: State) -> Floats:
        """The blueprint's policy for every hand at a decision, float64 [A, H]."""
        node = self.find(state)
        count = int(self.nodes.actions[node])
        where = self.nodes.rows[node] + self.rows.at(tuple(self.game.shown(state))) * count
        policy = self.shares[where + np.arange(count)[:, None]].astype(np.float64)
        blocked = self.game.free(state) == 0
        policy[:, blocked] = 1.0 / count
        return np.asarray(policy, np.float64)

    @cached_property
    def acting(self) -> Ints:
        """The players who act at or below each decision, see :func:`treeplex.engine.betting.rounds.acting_below`."""
        return acting_below(self.nodes)

    @cached_property
    def steps(self) -> Ints:
        """Maximum number of steps of a traversal from each decision, see :func:`treeplex.engine.betting.rounds.most_steps`."""
        return most_steps(self.nodes)


class CutRound(NamedTuple):
    """A betting round in array form.

    Attributes:
        round: the round's arrays, without frozen policies.
        places: map from decisions of the whole tree to those of the round.
        size: number of rows of the round's tables.
    """

    round: Round
    places: Mapping[int, int]
    size: int


@dataclass(frozen=True, eq=False)
class SampledResult:
    """The result of a search; see :class:`treeplex.search.many_players.search.FoundRound`."""

    guided: GuidedBetting
    cut: CutRound
    tables: RoundTables
    iterations: int
    seconds: float

    def table(self, state: State, *, average: bool) -> Floats:
        """The policy for every hand at a public state, float64 [A, H]: average or last iterate."""
        position = self.cut.places[self.guided.find(state)]
        searched, nodes = self.cut.round, self.guided.nodes
        count, row = int(nodes.actions[searched.nodes[position]]), int(searched.rows[position])
        shares = self.tables.average if average else np.maximum(self.tables.regrets, 0.0)
        if searched.frozen[position]:
            shares = self.tables.fixed
        weights = shares[row : row + count] * self.guided.game.free(state)
        total = weights.sum(axis=0)
        return np.asarray(np.divide(weights, total, out=np.full(weights.shape, 1.0 / count), where=total > 0))

    def plays(self, state: State, label: int) -> bool:
        """Whether the search considered an action; always true, since it considers all actions of its game."""
        return True

    def remembered(self) -> "SampledResult":
        """A copy with 0 iterations and 0 seconds, for a cached result."""
        return SampledResult(self.guided, self.cut, self.tables, 0, 0.0)


class SampledRounds:
    """Searches betting rounds by sampling deals.

    Attributes:
        guided: the blueprint.
        iterations: maximum number of iterations per search.
        deals: deals per iteration; each is traversed once for every player.
    """

    def __init__(
        self, guided: GuidedBetting, *, iterations: int = 200, deals: int = 32, count: int = 4, bias: float = 5.0, seed: int = 0
    ) -> None:
        """Set up searches with a blueprint.

        Args:
            guided, iterations, deals: see the attributes.
            count: number of continuations from which each player chooses, 1 to 4: the blueprint, then its versions biased
                towards folding, calling and all other actions.
            bias: factor by which a biased version multiplies probabilities.
            seed: random seed, combined with the searched state.

        Raises:
            AlgorithmError: an invalid count, or a bias that is not above 0.
        """
        if not (1 <= count <= 4 and bias > 0):
            raise AlgorithmError(f"leaves need 1 to 4 continuations with a bias above 0, not {count!r} with bias {bias!r}")
        self.guided, self.iterations, self.deals, self.seed = guided, iterations, deals, seed
        ways = np.ones((4, 3))
        ways[np.arange(1, 4), np.arange(3)] = bias
        self.guide = Guide(guided.shares, ways[:count])
        self._cuts: OrderedDict[int, CutRound] = OrderedDict()

    @property
    def game(self) -> CardGame:
        """The game."""
        return self.guided.game

    def blueprint_at(self, state: State) -> Floats:
        """The blueprint's policy for every hand, float64 [A, H]."""
        return self.guided.policy_at(state)

    def solve(
        self,
        root: State,
        ranges: Sequence[Floats],
        frozen: Mapping[State, Floats],
        line: Sequence[tuple[State, int]] = (),
        think: float | None = None,
    ) -> SampledResult:
        """Search a round; see :class:`treeplex.search.many_players.search.Rounds`.

        Raises:
            GameError: the ranges have no compatible hands.
        """
        began = perf_counter()
        if self.game.options(root).player < 0:
            raise GameError(f"no betting round begins at {self.game.name_of(root)}, since no player acts")
        cut, hands = self.cut(self.guided.find(root)), len(self.game.hands)
        tables, scratch = RoundTables(*np.zeros((4, cut.size, hands))), self._scratch(self.guided.find(root))
        mask = cut.round.frozen.copy()
        for state, table in frozen.items():
            position = cut.places[self.guided.find(state)]
            mask[position], row = True, cut.round.rows[position]
            tables.fixed[row : row + len(table)] = table
        cut = cut._replace(round=cut.round._replace(frozen=mask))
        drawn = DrawnDeals(
            self.guided,
            root,
            [with_trace(weights) for weights in ranges],
            np.random.default_rng((self.seed, self.guided.find(root), len(line))),
        )
        done = 0
        while done < self.iterations:
            deals = drawn.take(self.deals)
            done += 1
            search_deals(Search(self.guided.nodes, cut.round, tables, self.guide, deals, scratch), done, self.seed)
            if think is not None and perf_counter() - began >= think:
                break
        return SampledResult(self.guided, cut, tables, done, perf_counter() - began)

    def cut(self, root: int) -> CutRound:
        """Arrays of the round that begins with a decision; cached."""
        if root not in self._cuts:
            self._cuts[root] = self._cut(root)
            if len(self._cuts) > KEPT:
                self._cuts.popitem(last=False)
        return self._cuts[root]

    def _scratch(self, root: int) -> Scratch:
        """Scratch space for traversals from a decision."""
        steps, hands, ways = int(self.guided.steps[root]), len(self.game.hands), len(self.guide.bias)
        actions = max(int(self.guided.nodes.actions.max()), ways)
        check_entries(f"a search at {self.game.name_of(self.game.first_state())}", steps * hands * ways)
        kinds, places, below = np.zeros((3, steps), np.int64)
        picks = np.zeros((steps, self.game.players), np.int64)
        values, policy, sums = (np.zeros((*size, hands)) for size in ((steps, ways), (actions,), (ways,)))
        return Scratch(kinds, places, below, picks, values, policy, sums)

    def _cut(self, root: int) -> CutRound:
        nodes, guided, players = self.guided.nodes, self.guided, range(self.guided.game.players)
        cut_nodes, first, rows, before = [root], list[int](), list[int](), list[int]()
        slots, leaves, size = list[tuple[int, bool]](), list[int](), 0
        last, leaf_last = [[-1] * len(players)], list[list[int]]()  # for each player the row of its last action
        for position, node in enumerate(cut_nodes):  # the list grows during the loop
            acts, count = int(nodes.player[node]), int(nodes.actions[node])
            first.append(len(slots))
            rows.append(size)
            before.append(last[position][acts])
            for action, child in enumerate(nodes.child[nodes.first[node] : nodes.first[node] + count].tolist()):
                after = [size + action if player == acts else last[position][player] for player in players]
                ends, leaves_round = child < 0, child >= 0 and nodes.street[child] != nodes.street[root]
                slots.append((child if ends else len(leaves) if leaves_round else len(cut_nodes), leaves_round))
                if leaves_round:
                    leaves.append(child)
                    leaf_last.append(after)
                elif not ends:
                    cut_nodes.append(child)
                    last.append(after)
            size += count
        choices = np.full((len(leaves), len(players)), -1, np.int64)
        for number, leaf in enumerate(leaves):
            for player in players:
                if guided.acting[leaf] >> player & 1:
                    choices[number, player] = size
                    size += len(self.guide.bias)
        child = [number + len(cut_nodes) * behind for number, behind in slots]
        decisions, children, firsts, places, ends_at, earlier = (
            np.array(column, np.int64) for column in (cut_nodes, child, first, rows, leaves, before)
        )
        known = np.array(leaf_last, np.int64).reshape(-1, len(players))
        cut = Round(decisions, children, firsts, places, ends_at, choices, earlier, known, np.zeros(len(cut_nodes), bool))
        return CutRound(cut, {node: position for position, node in enumerate(cut_nodes)}, size)


def boards_for(game: CardGame, shown: tuple[int, ...]) -> int:
    """Number of complete boards to sample; larger if the players hold much of the deck."""
    cards, left = len(np.unique(game.hands)) - len(shown), sum(game.deal) - len(shown)
    fit = comb(cards - game.players * game.hands.shape[1], left) / comb(cards, left)
    return int(min(max(BOARDS, FITTING / fit), MOST_BOARDS))


class DrawnDeals:
    """Samples hands and boards from beliefs.

    Hands are sampled from a table of all combinations if there are few; otherwise independently, with rejection if two share a
    card.
    """

    def __init__(self, guided: GuidedBetting, state: State, ranges: Sequence[Floats], generator: np.random.Generator) -> None:
        """Sample from ranges at a public state.

        Raises:
            GameError: the ranges have no compatible hands.
        """
        game, self.generator = guided.game, generator
        shown = tuple(game.shown(state))
        boards = guided.rows.boards(shown, boards_for(game, shown), generator)
        tables = [guided.rows.on_board(boards, number) for number in range(len(boards))]
        self.rows = np.maximum([table.rows for table in tables], 0)
        self.keys = np.array([table.keys for table in tables], np.int64)
        self.game, self.state, self.apart = game, state, game.apart.astype(bool)
        self.ranges = np.array([weights * game.free(state) for weights in ranges])
        self.ranges /= np.maximum(self.ranges.sum(axis=1, keepdims=True), 1e-300)
        self._joint: Floats | None = None
        self._combinations = np.empty((0, game.players), np.int64)
        if len(game.hands) ** game.players <= MOST_JOINT:
            joint = game.joint(state, list(self.ranges))
            places = np.flatnonzero(joint)
            self._combinations = np.stack(np.unravel_index(places, joint.shape), axis=1)
            self._joint = np.cumsum(joint.ravel()[places])
            if not len(places):
                raise self._none()
        self._hands = np.empty((0, game.players), np.int64)
        self._boards = np.empty(0, np.int64)

    def take(self, count: int) -> Deals:
        """The next deals."""
        if len(self._hands) < count:
            hands = self._draw(max(POOL, count))
            boards, open_ = np.zeros(len(hands), np.int64), np.arange(len(hands))
            for _ in range(TRIES):
                boards[open_] = self.generator.integers(len(self.keys), size=len(open_))
                open_ = open_[(self.keys[boards[open_, None], hands[open_]] < 0).any(axis=1)]
                if not len(open_):
                    break
            else:
                hands, boards = np.delete(hands, open_, axis=0), np.delete(boards, open_)
            self._hands, self._boards = hands, boards
            if len(hands) < count:
                raise self._none()
        hands, self._hands = self._hands[:count], self._hands[count:]
        boards, self._boards = self._boards[:count], self._boards[count:]
        return Deals(np.ascontiguousarray(hands), np.ascontiguousarray(boards), self.ranges, self.rows, self.keys, self.apart)

    def _draw(self, count: int) -> Ints:
        """Hands of all players, int64 [count, N]."""
        random = self.generator
        if self._joint is not None:
            drawn = np.searchsorted(self._joint, random.random(count) * self._joint[-1], side="right")
            return np.asarray(self._combinations[np.minimum(drawn, len(self._joint) - 1)])
        deals, have = list[Ints](), 0
        for _ in range(TRIES):
            hands = np.stack([random.choice(len(weights), size=2 * count, p=weights) for weights in self.ranges], axis=1)
            for seat in range(1, hands.shape[1]):
                for other in range(seat):
                    hands = hands[self.apart[hands[:, seat], hands[:, other]]]
            deals.append(hands)
            have += len(hands)
            if have >= count:
                return np.concatenate(deals)[:count]
        raise self._none()

    def _none(self) -> GameError:
        return GameError(f"no deal of these ranges is possible at {self.game.name_of(self.state)}; widen a range")
