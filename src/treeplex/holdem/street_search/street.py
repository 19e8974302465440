"""One street of full-game hold'em as a subgame over many boards: betting is traversed once, with arrays over hands and boards.

Rows are boards, each with its own ranges. A decision is one block of the tree engine, with an infoset for each row and hand,
so reach, update and averages are those of every other search. Only payoffs differ: folds use inclusion and exclusion over
cards, showdowns and all-ins a matrix per board. A street ends before the next cards are dealt.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints
from treeplex.engine.tree.form import Tree, new_state, workspace
from treeplex.engine.tree.regret import Weights, accumulate, update
from treeplex.engine.tree.sweeps import best_response, normalise, reach
from treeplex.errors import AlgorithmError, GameError
from treeplex.holdem.betting.rules import BettingState
from treeplex.holdem.engine.showdowns.rows_of_hands import write_met, write_won
from treeplex.holdem.rules.public import ROUNDING
from treeplex.holdem.street_search.betting import ROOT, Last, StreetBetting
from treeplex.holdem.street_search.showdowns import Shares, Showdowns
from treeplex.holdem.street_search.suits import Board, Suits
from treeplex.holdem.street_search.warm_start import StreetGuess, regrets_of_guess, write_guess
from treeplex.holdem.whole.public import PublicHand, PublicHoldem
from treeplex.search.subgame_search import SubgameSearch
from treeplex.search.subgames.beliefs import normalised_range
from treeplex.search.subgames.gadgets import Gadget
from treeplex.search.subgames.subgame import Places, Ranges, Subgame, SubgameArrays
from treeplex.search.warm_start.guess import GuessRegrets


class Cards:
    """Data shared by all streets of a deck.

    Attributes:
        suits: renamings of the suits.
        showdowns: matrices of shares of the pot.
    """

    def __init__(self, game: PublicHoldem) -> None:
        """Prepare the data.

        Raises:
            GameError: the game does not have two players, has rake, or its hands do not have two cards.
        """
        if game.players != 2:
            raise GameError(f"street search needs two players, not {game.players}; write players=2")
        if game.rules.rake.rate:
            raise GameError("street search does not support rake; leave the rake out")
        self.suits = Suits(game.rules.format)
        self.showdowns = Showdowns(self.suits)


@dataclass(frozen=True, eq=False, repr=False)
class StreetPlaces(Places):
    """Public states of full-game hold'em.

    Attributes:
        game: the game.
        states: the states.
    """

    game: PublicHoldem
    states: Sequence[PublicHand]

    @property
    def widths(self) -> tuple[int, ...]:
        return (len(self.game.hands),) * 2

    @cached_property
    def free(self) -> Floats:
        """1 for hands that the board does not block, else 0; float64 [K, H]."""
        known: dict[Board, Floats] = {}
        for state in self.states:
            if state.board not in known:
                known[state.board] = self.game.free(state)
        return np.stack([known[state.board] for state in self.states])

    @property
    def possible(self) -> Ranges:
        return self.free, self.free

    @property
    def dealt(self) -> Ranges:
        return self.free, self.free

    def opposing(self, reached: Ranges, player: int) -> Floats:
        other = np.ascontiguousarray(reached[1 - player], np.float64)
        met = np.empty(other.shape)
        write_met(self.game.hands, self.free, other, ROUNDING, met)
        return met


@dataclass(frozen=True, eq=False, repr=False)
class StreetSubgame(Subgame):
    """A street of betting on B boards.

    Attributes:
        game: the game; public states may have other cards of the same street.
        betting: the betting.
        boards: the board of each row, canonical or not.
        ranges: float64 [B, H] for each player.
        shares: float32 [B, H, H], see :meth:`treeplex.holdem.street_search.showdowns.Showdowns.shares`;
            empty if no hands are shown.
    """

    game: PublicHoldem
    betting: StreetBetting
    boards: tuple[Board, ...]
    ranges: Ranges
    shares: Shares
    gadget: Gadget | None = None

    @classmethod
    def of(
        cls, game: PublicHoldem, cards: Cards, table: BettingState, boards: Sequence[Board], ranges: Ranges
    ) -> "StreetSubgame":
        """The street that begins with a table, on some boards.

        Args:
            game: the game.
            cards: data of its deck.
            table: the first decision of the street.
            boards: B boards of that street.
            ranges: float64 [B, H] for each player, unnormalised.

        Raises:
            GameError: the table is not a decision.
        """
        if table.player < 0:
            raise GameError(f"no player acts after {table.line or 'the blinds'}; give the first decision of a street")
        betting, hands = StreetBetting.of(game, table, boards[0]), len(game.hands)
        shown = any(stop.shown for stop in betting.stops)
        shares = np.stack([cards.showdowns.shares(board) for board in boards]) if shown else np.empty((0, hands, hands))
        return cls(game, betting, tuple(boards), ranges, np.asarray(shares, np.float32))

    @cached_property
    def roots(self) -> StreetPlaces:  # type: ignore[override]
        """The roots, one state per row."""
        return StreetPlaces(self.game, [PublicHand(self.betting.decisions[0].table, board) for board in self.boards])

    @cached_property
    def leaves(self) -> StreetPlaces:  # type: ignore[override]
        """The ends of the street, grouped by end: leaf ``k * B + b`` is end k on board b."""
        return StreetPlaces(self.game, [PublicHand(end.table, board) for end in self.betting.ends for board in self.boards])

    @cached_property
    def width(self) -> int:
        """Number of infosets of a decision, rows times hands."""
        return len(self.boards) * len(self.game.hands)

    @cached_property
    def firsts(self) -> Ints:
        """The first sequence of each decision, int64."""
        counts, starts = [1 + self.width, 1 + self.width], np.zeros(len(self.betting.decisions), np.int64)
        for player in (0, 1):
            for number, decision in enumerate(self.betting.decisions):
                if decision.player == player:
                    starts[number] = counts[player]
                    counts[player] += len(decision.actions) * self.width
        second = np.array([decision.player == 1 for decision in self.betting.decisions])
        return starts + np.where(second, counts[0], 0)

    @cached_property
    def tree(self) -> Tree:
        """The street as a tree of the engine: each player's empty sequence, one sequence per row and hand, then blocks."""
        blocks, parents = list[tuple[int, ...]](), list[Ints]()
        ends, offsets, infosets = [0], [0], [0]
        for player in (0, 1):
            size = 1 + self.width
            for number, decision in enumerate(self.betting.decisions):
                if decision.player != player:
                    continue
                blocks.append((int(self.firsts[number]), len(parents) * self.width, self.width, len(decision.actions)))
                begin = self.begin(player, decision.last, base=ends[-1])
                parents.append(np.arange(begin, begin + self.width))
                size += len(decision.actions) * self.width
            ends.append(ends[-1] + size)
            offsets.append(len(blocks))
            infosets.append(len(parents) * self.width)
        return Tree(
            np.array(ends, np.int64),
            np.array(infosets, np.int64),
            np.array(offsets, np.int64),
            np.array(blocks, np.int64).reshape(-1, 4),
            np.concatenate([np.empty(0, np.int64), *parents]),
            np.empty((0, 3), np.int64),
            np.empty(0, np.int64),
        )

    def begin(self, player: int, last: Last, base: int | None = None) -> int:
        """The first of a player's sequences, one per row and hand, after its last action."""
        if last == ROOT:
            return 1 + (int(self.tree.sequence_offsets[player]) if base is None else base)
        number, action = last
        return int(self.firsts[number]) + action * self.width

    @cached_property
    def stop_begins(self) -> tuple[list[int], list[int]]:
        """For each player the first sequence that leads to each stop."""
        first, second = ([self.begin(player, stop.last[player]) for stop in self.betting.stops] for player in (0, 1))
        return first, second

    @cached_property
    def end_begins(self) -> tuple[list[int], list[int]]:
        """For each player the first sequence that leads to each end."""
        first, second = ([self.begin(player, end.last[player]) for end in self.betting.ends] for player in (0, 1))
        return first, second

    def at(self, array: NDArray[Any], player: int, last: Last) -> NDArray[Any]:
        """The part of an array [Q] for a player's hands after its last action, a view [B, H]."""
        begin = self.begin(player, last)
        return array[begin : begin + self.width].reshape(len(self.boards), -1)

    def block(self, array: NDArray[Any], decision: int) -> NDArray[Any]:
        """The part of an array [Q] for the actions of a decision, a view [A, B, H]."""
        first, actions = int(self.firsts[decision]), len(self.betting.decisions[decision].actions)
        return array[first : first + actions * self.width].reshape(actions, len(self.boards), -1)

    @property
    def size(self) -> int:
        return int(self.tree.sequence_offsets[-1])

    def start(self, ranges: Ranges | None = None, *, predicts: bool = True) -> "StreetArrays":
        if self.gadget is not None:
            raise AlgorithmError("street search in full-game hold'em does not support gadgets; search without one")
        return StreetArrays(self, self.ranges if ranges is None else ranges)

    def find(self, owner: int, path: tuple[int, ...]) -> tuple[str, int]:
        """See :meth:`Subgame.find`; decision d of row b has the index ``d * B + b``."""
        kind, number = "decision", 0
        for label in path:
            decision = self.betting.decisions[number]
            kind, number = decision.after[decision.actions.index(label)]
        count = len(self.boards)
        return ("end", -1) if kind == "stop" else ("decision" if kind == "decision" else "leaf", number * count + owner)

    def policy_at(self, decision: int, source: NDArray[Any]) -> Floats:
        number, row = divmod(decision, len(self.boards))
        return np.array(self.block(source, number)[:, row], np.float64)

    def write_guess(self, search: SubgameSearch, guess: StreetGuess) -> None:
        write_guess(search, self, guess)

    def regrets_of_guess(self, search: SubgameSearch, weight: float) -> GuessRegrets:
        return regrets_of_guess(search, self, weight)

    def ranges_after(self, source: NDArray[Any], path: tuple[int, ...], ranges: Ranges) -> Ranges:
        arrays = self.start(ranges)
        arrays.policy[:] = source
        for player in (0, 1):
            arrays.play(player)
        arrived = arrays.reach_at_leaves(arrays.strategy)
        return tuple(reach[self.find(0, path)[1]] for reach in arrived)


class StreetArrays(SubgameArrays):
    """Arrays of a street in a solve; for fictitious play the policy is the last best response."""

    def __init__(self, subgame: StreetSubgame, ranges: Ranges) -> None:
        """Start from the uniform policy."""
        self.subgame, tree = subgame, subgame.tree
        free = subgame.roots.free
        self.ranges = tuple(normalised_range(np.asarray(weights, np.float64), free) for weights in ranges)
        self.policy, (self.average, self.faced, self.regrets) = np.ones(subgame.size), np.zeros((3, subgame.size))
        for number, decision in enumerate(subgame.betting.decisions):
            subgame.block(self.policy, number)[:] = 1.0 / len(decision.actions)
        self.strategy = np.zeros(subgame.size)
        for player, weights in enumerate(self.ranges):
            self.enter(player, weights)
            self.play(player)
        self._work = workspace(tree)
        self._state = new_state(self.policy, regrets=self.regrets, strategy=self.strategy, averages=self.average[None])

    def enter(self, player: int, ranges: Floats) -> None:
        self.subgame.at(self.strategy, player, ROOT)[:] = ranges

    def play(self, player: int) -> None:
        reach(self.subgame.tree, player, self.policy, self.strategy)

    def accumulate(self, player: int, discount: float, weight: float, average: Floats, strategy: Floats) -> None:
        accumulate(self.subgame.tree, player, discount, weight, strategy, average)

    def reach_at_leaves(self, strategy: Floats) -> Ranges:
        subgame, hands, width = self.subgame, self.subgame.roots.widths[0], self.subgame.width
        none = np.empty(0)
        return tuple(
            np.concatenate([none, *(strategy[begin : begin + width] for begin in begins)]).reshape(-1, hands)
            for begins in subgame.end_begins
        )

    def write_gradient(self, player: int, strategy: Floats) -> None:
        subgame, values, stops = self.subgame, self._work.values, self.subgame.betting.stops
        first, last = subgame.tree.sequence_offsets[player : player + 2]
        values[first:last] = 0.0
        if not stops:
            return
        other, width = 1 - player, subgame.width
        begins = subgame.stop_begins[other]
        reached = np.stack([strategy[begin : begin + width] for begin in begins]).reshape(
            len(stops), -1, len(subgame.game.hands)
        )
        met = np.empty(reached.shape)
        hands = reached.shape[2]
        write_met(subgame.game.hands, subgame.roots.free, reached.reshape(-1, hands), ROUNDING, met.reshape(-1, hands))
        shown = [number for number, stop in enumerate(stops) if stop.shown]
        won = dict(zip(shown, self._won(reached[shown], met[shown]), strict=True)) if shown else {}
        for number, stop in enumerate(stops):
            lose, _, win = stop.paid if player == 0 else (-stop.paid[2], 0.0, -stop.paid[0])
            entries = lose * met[number] + (win - lose) * won[number] if stop.shown else win * met[number]
            begin = subgame.stop_begins[player][number]
            values[begin : begin + width] += entries.ravel()

    def _won(self, reached: Floats, met: Floats) -> Floats:
        """Pot shares of hands times the probability that the opponent holds a compatible hand, [T, B, H]."""
        (stops, count, hands), won = reached.shape, np.empty(reached.shape)
        rows = np.arange(stops * count).reshape(stops, count).T.ravel()
        firsts = np.arange(count + 1) * stops
        flat = [array.reshape(-1, hands) for array in (reached, met, won)]
        write_won(self.subgame.shares, firsts, rows, *flat)
        return won

    def write_leaves(self, player: int, entries: Floats) -> None:
        subgame, count = self.subgame, len(self.subgame.boards)
        for number, begin in enumerate(subgame.end_begins[player]):
            part = entries[number * count : (number + 1) * count]
            self._work.values[begin : begin + subgame.width] += part.ravel()

    def improve(self, player: int, row: Weights) -> None:
        update(self.subgame.tree, player, np.array(row), self._state, self._work)

    def respond(self, player: int) -> None:
        best_response(self.subgame.tree, player, self._work.values, self._work.infoset_values, self.policy)

    @property
    def values(self) -> Floats:
        """Values of sequences, [Q], as accumulated since :meth:`write_gradient`; scratch space."""
        return self._work.values

    def root_entries(self, player: int) -> Floats:
        return np.array(self.subgame.at(self._work.values, player, ROOT))

    def as_policy(self, strategy: Floats) -> Floats:
        policy = self.policy.copy()
        for player in (0, 1):
            normalise(self.subgame.tree, player, strategy, policy)
        return policy
