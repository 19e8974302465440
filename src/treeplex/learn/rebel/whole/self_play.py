"""ReBeL's self-play of full-game hold'em (Brown et al. 2020, algorithms 1 and 2): batched single-street searches.

A public belief state describes the game between two streets: the betting so far, the board before the next cards, and both
ranges. The next street is searched after its cards are dealt, on some or all boards, with the same ranges on each. Hand values
before the cards are means over these boards, weighted by the probability of compatible opposing hands on each board. On the
dealt board, the policy of a random iteration is played to the end of the street, which gives the next public belief state.

Boards that differ only in suits are searched once: every board, with the hands held, is mapped to its canonical suit
permutation. Isomorphic hands are kept at equal probability in the ranges; they start equal, and play changes this only by
rounding errors.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints
from treeplex.errors import SpecError
from treeplex.games.public import pick
from treeplex.holdem.betting.rules import BettingState
from treeplex.holdem.engine.showdowns.rows_of_hands import equalise
from treeplex.holdem.street_search.street import Cards, StreetPlaces, StreetSubgame
from treeplex.holdem.street_search.street_search import StoppedRows, run_stopping
from treeplex.holdem.street_search.suits import Board
from treeplex.holdem.whole.public import PublicHand, PublicHoldem
from treeplex.learn.common.fitting import Loss
from treeplex.learn.rebel.nets import policy_loss
from treeplex.learn.rebel.play import Play, Rows
from treeplex.learn.rebel.policy_encoding import no_policies
from treeplex.learn.rebel.random_beliefs import split
from treeplex.learn.rebel.settings import WholeSelfPlaySettings
from treeplex.learn.rebel.whole.drawn_games import changed_game, closed_table, drawn_game, sizes_of
from treeplex.learn.rebel.whole.nets import weighted_huber
from treeplex.learn.rebel.whole.value_leaf import WholeEncoding, WholeLeaf
from treeplex.search.methods import METHODS
from treeplex.search.stopping import training_iterations
from treeplex.search.subgames.beliefs import normalised_range
from treeplex.search.subgames.subgame import Ranges
from treeplex.search.warm_start.begin import begin_search

TRIES = 50
"""Maximum number of hands played from one search of the first street until one hand continues beyond it."""
AT_ONCE = 64
"""Maximum number of additional rivers in one batch."""


@dataclass(frozen=True, eq=False)
class StreetBelief:
    """A public belief state before a street.

    Attributes:
        game: the game with the hand's stacks and sizes.
        table: the betting state: before cards are dealt or, at the start of a hand, before the first action.
        board: the canonical board before these cards.
        ranges: float64 [H] for each player, summing to one.
    """

    game: PublicHoldem
    table: BettingState
    board: Board
    ranges: Ranges

    @property
    def begins(self) -> bool:
        """Whether this is the start of a hand."""
        return self.table.player >= 0


@dataclass
class Row:
    """A board of a street, its weight among the boards of its public belief state, and the index of that state."""

    board: Board
    weight: float
    owner: int


class StreetSearch(NamedTuple):
    """A street searched from several public belief states.

    Attributes:
        subgame: the street on all boards of these states.
        kept: for each row of the subgame, its board, weight and state.
        copies: int64 [N], for each state the row of its dealt board; all states are repeated for each drawn iteration.
        stopped: the policies of the drawn iterations.
        held: both players' hands in each state.
        rows: training rows.
    """

    subgame: StreetSubgame
    kept: list[Row]
    copies: Ints
    stopped: StoppedRows
    held: list[tuple[int, int]]
    rows: Rows

    def board_of(self, index: int) -> Board:
        """The board of an entry of ``copies``."""
        return self.kept[int(self.copies[index])].board


def group_states(states: Sequence[StreetBelief]) -> list[list[int]]:
    """Group the indices of states with equal betting state, stacks and sizes."""
    groups: dict[tuple[Any, ...], list[int]] = {}
    for number, state in enumerate(states):
        groups.setdefault((state.game.rules.stacks, *sizes_of(state.game), state.table), []).append(number)
    return [*groups.values()]


class WholeSelfPlay(Play):
    """Concurrent self-play of full-game hold'em; progress is the number of public belief states between streets.

    Attributes:
        states: each episode's public belief state.
    """

    def __init__(
        self, game: PublicHoldem, settings: WholeSelfPlaySettings, leaf: WholeLeaf, generator: np.random.Generator
    ) -> None:
        """Start self-play with a new hand in every episode.

        Raises:
            SpecError: stacks do not cover the big blind.
        """
        super().__init__(game, settings, leaf, generator)
        if settings.stacks is not None and settings.stacks[0] <= game.rules.betting.big_blind:
            raise SpecError(f"stacks must be more than the big blind of {game.rules.betting.big_blind}, not {settings.stacks}")
        assert isinstance(leaf.encoding, WholeEncoding)
        self.cards: Cards = leaf.encoding.cards
        self._root = self._first_of(game)
        self.states = [self._first() for _ in range(settings.episodes)]

    @property
    def empty(self) -> Rows:  # type: ignore[override]
        encoding, policies = self.leaf.encoding, None
        if self.leaf.guess is not None:
            guess = self.leaf.guess.encoding
            policies = no_policies(guess.encoding.inputs, encoding.knots, guess.columns)
        none = np.zeros((0, encoding.outputs), np.float32)
        return Rows(np.zeros((0, encoding.inputs), np.float32), none, none, policies)

    @property
    def losses(self) -> tuple[Loss, Loss]:  # type: ignore[override]
        return weighted_huber, policy_loss

    def solved_in(self, rows: Rows) -> int:
        return len(rows.inputs)

    def _first(self) -> StreetBelief:
        """A new hand before its first action, with random stacks and sizes if the settings require them."""
        if self.settings.stacks is None and not self.settings.perturbed:
            return self._root
        return self._first_of(drawn_game(self.game, self.settings, self.generator))

    def _first_of(self, game: PublicHoldem) -> StreetBelief:
        free = np.ones(len(game.hands)) / len(game.hands)
        return StreetBelief(game, game.rules.betting.root._replace(line=""), (), (free, free))

    def advance(self) -> Rows:
        """Advance every hand by one street, and solve additional rivers if requested; returns training rows."""
        played, more = list[Rows](), list[StreetBelief]()
        for numbers in group_states(self.states):
            rows, beside = self._street(numbers)
            played.append(rows)
            more += beside
        for numbers in group_states(more):
            for begin in range(0, len(numbers), AT_ONCE):
                played.append(self._searched([more[number] for number in numbers[begin : begin + AT_ONCE]]).rows)
        joined = Rows.joined(played)
        self.solved += len(joined.inputs)
        return joined

    def _street(self, numbers: list[int]) -> tuple[Rows, list[StreetBelief]]:
        """Advance hands with the same betting state by one street.

        Returns training rows and, on the street before the last, states from which additional last streets are solved.
        """
        states = [self.states[number] for number in numbers]
        first, count = states[0], len(states)
        before_last = not first.begins and first.table.street + 2 == len(first.game.rules.format.deal) - 1
        search = self._searched(states, self.settings.rivers if before_last else 1)
        for index, number in enumerate(numbers):
            self.states[number] = self._walked(search, index, search.held[index])
            tries = TRIES if first.begins else 1
            while tries > 1 and self.states[number].begins:  # most hands end before the flop, and the search is already done
                self.states[number] = self._walked(search, index, self._held(first))
                tries -= 1
        beside = [self._walked(search, index, search.held[index % count]) for index in range(count, len(search.copies))]
        return search.rows, [state for state in beside if not state.begins]

    def _searched(self, states: list[StreetBelief], times: int = 1) -> "StreetSearch":
        """Search the next street from states with the same betting state, and draw ``times`` iterations to play for each."""
        first = states[0]
        game, begins, table = first.game, first.begins, first.table
        if begins:
            board_rows, held = [Row((), 1.0, 0)], [self._held(state) for state in states]
            copies = np.zeros(len(states), np.int64)
        else:
            table = game.rules.dealt(table, game.rules.format.board_sizes[table.street + 1])._replace(line="")
            board_rows, held, copies = self._dealt(states)
        owners = np.array([row.owner for row in board_rows])
        ranges = tuple(np.stack([states[owner].ranges[player] for owner in owners]) for player in (0, 1))
        subgame = StreetSubgame.of(game, self.cards, table, [row.board for row in board_rows], ranges)
        method, iterations, copies = METHODS[self.settings.method], self.settings.iterations, np.tile(copies, times)
        search = begin_search(subgame, method, self.leaf, None, iterations)
        stops = training_iterations(
            self.settings.draw, method.name, iterations, len(copies), self.generator, first=search.iteration
        )
        average = self.settings.passed_on == "average"
        stopped = run_stopping(search, iterations, copies, stops, average=average)
        rows = self.empty if begins else self._rows(states, subgame, board_rows, search.root_values())
        if self.leaf.guess is not None:
            rows = rows._replace(policies=self.leaf.guess.encoding.rows(search, np.unique(copies)))
        return StreetSearch(subgame, board_rows, copies, stopped, held, rows)

    def _held(self, state: StreetBelief) -> tuple[int, int]:
        """Sample both players' hands from the beliefs."""
        first, second = state.game.draw(PublicHand(state.table, state.board), state.ranges, self.generator)
        return first, second

    def _dealt(self, states: Sequence[StreetBelief]) -> tuple[list[Row], list[tuple[int, int]], Ints]:
        """Deal hands and boards; returns all rows, both players' hands in each state, and each state's row with the dealt
        board."""
        board_rows, held, copies = list[Row](), list[tuple[int, int]](), []
        for owner, state in enumerate(states):
            hands, suits = self._held(state), self.cards.suits
            form = state.game.rules.format
            gone = {int(card) for hand in hands for card in state.game.hands[hand]}
            count = form.deal[form.street(state.board) + 1]
            left = [card for card in form.deck if card not in state.board and card not in gone]
            comes, renaming = suits.canonical((*state.board, *self.generator.choice(left, count, replace=False).tolist()))
            held.append((int(suits.maps[renaming, hands[0]]), int(suits.maps[renaming, hands[1]])))
            if not self.settings.boards:
                every = suits.deals(state.board)
                copies.append(len(board_rows) + list(every).index(comes))
                board_rows += [Row(board, float(weight), owner) for board, weight in every.items()]
                continue
            copies.append(len(board_rows))
            board_rows.append(Row(comes, drawn_weight(state, comes), owner))
            rest = form.cards_left(state.board)
            for _ in range(self.settings.boards - 1):
                board, _ = suits.canonical((*state.board, *self.generator.choice(rest, count, replace=False).tolist()))
                board_rows.append(Row(board, 1.0, owner))
        return board_rows, held, np.array(copies)

    def _rows(self, states: Sequence[StreetBelief], subgame: StreetSubgame, board_rows: list[Row], values: Ranges) -> Rows:
        """Training rows of hand values before the deal, averaged over boards.

        If values are relative to the showdown value, each board's showdown value is subtracted before averaging. Its mean is
        the showdown value before the cards, so the expectation of rows is unchanged, but they vary far less with the boards
        drawn.
        """
        encoding = self.leaf.encoding
        assert isinstance(encoding, WholeEncoding)
        places = StreetPlaces(subgame.game, [PublicHand(state.table, state.board) for state in states])
        owners, weights = np.array([row.owner for row in board_rows]), np.array([row.weight for row in board_rows])
        ranges = tuple(np.stack([state.ranges[player] for state in states]) for player in (0, 1))
        whole = tuple(belief[owners] for belief in ranges)
        shown = self.leaf.showdown(subgame.roots, whole)
        pots = np.array([state.game.rules.pot(state.table) for state in states])[owners, None]
        orbits = np.stack([self.cards.suits.orbits(state.board) for state in states])
        targets, counts = [], []
        for player in (0, 1):
            met = weights[:, None] * subgame.roots.opposing(whole, player)
            sums = np.zeros((2, len(states), met.shape[1]))
            np.add.at(sums[0], owners, met * (values[player] / pots - shown[player]))
            np.add.at(sums[1], owners, met)
            before, totals = places.opposing(ranges, player), np.bincount(owners, weights=weights)
            for part in sums:
                equalise(orbits, part)
            targets.append(np.divide(sums[0], sums[1], out=np.zeros_like(sums[0]), where=sums[1] > 0))
            seen = np.divide(sums[1], before, out=np.zeros_like(before), where=(before > 0) & (sums[1] > 0))
            counts.append(seen / totals[:, None])
        prepared = encoding.prepared(places)
        return Rows(prepared.write(ranges).copy(), *prepared.rows_of_values((targets[0], targets[1]), (counts[0], counts[1])))

    def _walked(self, search: "StreetSearch", index: int, held: tuple[int, int]) -> StreetBelief:
        """Play a street with the given hands; returns the hand's next public belief state or, if the hand ends, that of a new
        hand."""
        subgame, stopped, board = search.subgame, search.stopped, search.board_of(index)
        explorer, number, betting = int(self.generator.integers(2)), 0, subgame.betting
        while True:
            decision = betting.decisions[number]
            explores = decision.player == explorer and self.generator.random() < self.settings.exploration
            if explores or self.settings.source == "random":
                action = int(self.generator.integers(len(decision.actions)))
            else:
                action = pick(self.generator, stopped.policies[number][:, index, held[decision.player]])
            kind, number = decision.after[action]
            if kind == "stop":
                return self._first()
            if kind == "end":
                following = self._following(subgame, number, board, tuple(reach[number, index] for reach in stopped.arrived))
                return self._first() if following is None else following

    def _following(self, subgame: StreetSubgame, end: int, board: Board, arrived: Ranges) -> StreetBelief | None:
        """The public belief state at the end of a street; None if no pair of hands is compatible."""
        game, ended = subgame.game, subgame.betting.ends[end].table
        table = closed_table(game, (ended.paid[0], ended.paid[1]), ended.street)
        state = PublicHand(table, board)
        free, orbits = game.free(state), self.cards.suits.orbits(board)[None]
        if self.settings.source == "random":
            arrived = tuple(self._random_range(board, free) for _ in (0, 1))
        alike = np.stack(arrived)
        equalise(np.repeat(orbits, 2, axis=0), alike)
        first, second = normalised_range(alike, free)
        possible = float(first @ game.opposing(state, (first, second), 0)) > 0
        return StreetBelief(game, table, board, (first, second)) if possible else None

    def _random_range(self, board: Board, free: Floats) -> Floats:
        """Sample a range as in DeepStack, by recursively splitting hands sorted by strength, with ties in random order."""
        shares = self.cards.showdowns.shares(board)
        strength = shares.sum(axis=1) / np.maximum((shares + shares.T).sum(axis=1), 1e-9)
        hands = self.generator.permutation(np.flatnonzero(free))
        drawn = np.zeros(len(free))
        drawn[hands[np.argsort(strength[hands], kind="stable")]] = split(len(hands), self.generator)
        return drawn

    def state(self) -> dict[str, NDArray[Any]]:
        tables = [(*state.table.paid, state.table.street) for state in self.states]
        boards = np.full((len(self.states), self.game.rules.format.board_size), -1, np.int64)
        for row, state in zip(boards, self.states, strict=True):
            row[: len(state.board)] = state.board
        stacks = [state.game.rules.stacks for state in self.states]
        ranges = np.stack([np.stack(state.ranges) for state in self.states])
        begins = [state.begins for state in self.states]
        values = [sizes_of(state.game) for state in self.states]
        return {
            "tables": np.array(tables, np.int64),
            "begins": np.array(begins),
            "boards": boards,
            "stacks": np.array(stacks, np.int64),
            "sizes": np.array(values, np.float64).reshape(len(values), -1),
            "ranges": ranges,
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        known: dict[tuple[Any, ...], PublicHoldem] = {}
        states = []
        for table, begins, board, stacks, sizes, ranges in zip(
            *(arrays[name] for name in ("tables", "begins", "boards", "stacks", "sizes", "ranges")), strict=True
        ):
            key = tuple(stacks.tolist()), tuple(sizes.tolist())
            if key == (self.game.rules.stacks, tuple(sizes_of(self.game))):
                known.setdefault(key, self.game)
            elif key not in known:
                known[key] = changed_game(self.game, key[0], key[1])
            game = known[key]
            if begins:
                states.append(self._root if game is self.game else self._first_of(game))
                continue
            paid, street = (int(table[0]), int(table[1])), int(table[2])
            cards = tuple(int(card) for card in board if card >= 0)
            states.append(StreetBelief(game, closed_table(game, paid, street), cards, (ranges[0].copy(), ranges[1].copy())))
        if len(states) != self.settings.episodes:
            raise ValueError(f"the state has {len(states)} episodes, but this run has {self.settings.episodes}")
        self.states = states


def drawn_weight(state: StreetBelief, board: Board) -> float:
    """Importance weight of a dealt board: its probability under uniform sampling divided by its probability in play.

    In play, hands are drawn from the ranges first, so a board's probability is proportional to the reach of the pairs of hands
    that contain none of its cards.
    """
    game = state.game
    before = float(state.ranges[0] @ game.opposing(PublicHand(state.table, state.board), state.ranges, 0))
    here = float(state.ranges[0] @ game.opposing(PublicHand(state.table, board), state.ranges, 0))
    left, cards = len(game.rules.format.deck) - len(state.board), len(board) - len(state.board)
    avoided = np.prod([(left - 4 - k) / (left - k) for k in range(cards)])
    return float(avoided) * before / here
