"""Random hold'em situations at the start of a street, and the value of every hand in them.

Three ranges in ten are drawn as in DeepStack, by repeatedly splitting hands sorted by strength (Moravčík et al. 2017). The
others resemble ranges in play. They contain hands above some strength on the board (with a smooth cutoff), or a band of preflop
hands, each optionally reweighted by a curve over strength, or all hands with equal weight.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from treeplex.base.arrays import Floats, Ints, Singles
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.cards.cards import HAND_CLASSES, HANDS
from treeplex.holdem.cards.class_equities import class_equities
from treeplex.holdem.cards.format import HOLDEM, Format
from treeplex.holdem.engine.passes import EXPECT
from treeplex.holdem.forms.compile_spot import compile_spot
from treeplex.holdem.search.first_street import average_values
from treeplex.holdem.search.leaves.hand_values import HandBoard, HandValues
from treeplex.holdem.search.subgames.subgame import cut_first_street
from treeplex.holdem.solve.solver import HoldemSolver
from treeplex.holdem.spots.spot import Spot
from treeplex.learn.hand_values.settings import MIXED, PLAY, STREETS, HandValueSettings
from treeplex.learn.rebel.random_beliefs import split
from treeplex.search.leaf import LeafValue
from treeplex.search.methods import METHODS
from treeplex.search.subgame_search import SubgameSearch

POT, CHIP = 100.0, 0.01
KINDS = {"halved": 0.3, "top": 0.15, "curved": 0.15, "band": 0.15, "curved band": 0.15, "alike": 0.1}
"""Probability of each range type: recursive splitting; the strongest hands on the board; the same reweighted by a curve; a band
of preflop hands; the same reweighted by a curve; all hands equally."""
NOISE = 0.3
"""Standard deviation of the log-normal noise on the weights of range types other than splits and equal weights."""
SHALLOW, MIDDLE = 1.5, 4.0
"""Stack limits in pots: up to the first, solves run half of the iterations; up to the second, the full number."""
DEEP = 1.75
"""Factor for iterations of solves with deeper stacks."""
SURE = 1e-6
"""Minimum opposing reach at which a hand's value is defined."""


@dataclass(frozen=True, eq=False)
class Situation:
    """A solved situation; n is the number of hands possible on the board.

    Attributes:
        board: the board.
        stack: chips behind, in pots.
        reach: float64 [2, H], both ranges, each summing to one.
        mass, equity: float64 [2, n], see :meth:`HandBoard.equities`.
        worth: float64 [2, n], hand values relative to half of the pot, as fractions of the pot; the showdown value for hands
            with mass 0 or outside the range.
    """

    board: HandBoard
    stack: float
    reach: Floats
    mass: Floats
    equity: Floats
    worth: Floats

    @property
    def weights(self) -> Floats:
        """Probability of each hand given compatible opposing hands, float64 [2, n]; each player's probabilities sum to one."""
        met = self.reach[:, self.board.held] * self.mass
        return np.asarray(met / met.sum(axis=1, keepdims=True))

    def rows(self, player: int) -> Singles:
        """Network inputs of a player's hands, float32 [n, INPUTS]."""
        return self.board.rows(self.reach, self.mass, self.equity, self.board.look(1.0, self.stack), player)


def random_board(street: str, generator: np.random.Generator, deck: Sequence[int] = HOLDEM.deck) -> tuple[int, ...]:
    """Sample a street's board: 3 to 5 distinct cards of a deck."""
    return tuple(int(card) for card in generator.choice(deck, 3 + STREETS.index(street), replace=False))


def random_range(board: HandBoard, generator: np.random.Generator) -> Floats:
    """Sample a range on a board, float64 [H], summing to one; every possible hand has positive weight."""
    size, drawn = len(board.held), np.zeros(len(board.format.hands))
    order = board.held[np.lexsort((generator.random(size), board.static[:, 0]))]
    rank, kind = np.arange(size) / size, str(generator.choice(list(KINDS), p=list(KINDS.values())))
    if kind == "halved":
        drawn[order] = split(size, generator)
    elif kind == "alike":
        drawn[order] = 1.0
    else:
        if kind.endswith("band"):
            shares = band_of_classes(generator)[classes_of(board.format)[order]]
        else:
            shares = above(rank, generator.uniform(0, 0.8), generator)
        if kind.startswith("curved"):
            bump = np.exp(-0.5 * ((rank - generator.uniform(0, 1)) / generator.uniform(0.05, 0.4)) ** 2)
            shares *= bump if generator.random() < 0.5 else 1.02 - bump
        drawn[order] = shares * np.exp(NOISE * generator.standard_normal(size))
    drawn[order] += 1e-4 * drawn.sum() / size
    return np.asarray(drawn / drawn.sum())


def classes_of(format: Format) -> Ints:
    """The preflop hand class of each hand, int64 [H], among the 169 of the full deck."""
    number = np.zeros((52, 52), np.int64)
    number[tuple(HANDS.T)] = np.arange(len(HANDS))
    return np.asarray(HAND_CLASSES[number[tuple(format.hands.T)]], np.int64)


def above(position: Floats, least: float, generator: np.random.Generator) -> Floats:
    """Sigmoid weights that rise from 0 to 1 around ``least``, with random steepness."""
    return np.asarray(1.0 / (1.0 + np.exp(-generator.uniform(5.0, 30.0) * (position - least))))


def band_of_classes(generator: np.random.Generator) -> Floats:
    """Weights of the 169 preflop hand classes, float64: high above a threshold of preflop equity; in half of all cases the best
    hands weigh less."""
    known = class_equities()
    equity = (known.equity * known.pairs).sum(axis=1) / known.pairs.sum(axis=1)
    rank = np.argsort(np.argsort(equity + 0.03 * generator.standard_normal(len(equity)))) / len(equity)
    least = generator.uniform(0.1, 0.9)
    shares = above(rank, least, generator)
    if generator.random() < 0.5:
        shares *= 1.0 - generator.uniform(0.5, 1.0) * above(rank, generator.uniform(least, 1.0), generator)
    return shares


def some_hands(board: HandBoard, reach: Floats, count: int, generator: np.random.Generator) -> Floats:
    """Restrict a range, float64 [H], to about ``count`` random hands; 0 keeps all."""
    least, most = max(count // 2, 1), count + count // 2
    number = int(generator.integers(least, most, endpoint=True)) if count else len(reach)
    held = board.held[reach[board.held] > 0]
    if number >= len(held):
        return reach
    some = np.zeros_like(reach)
    chosen = generator.choice(held, number, replace=False)
    some[chosen] = reach[chosen]
    return np.asarray(some / some.sum())


def pairs_of(board: HandBoard, reach: Floats) -> float:
    """Probability that hands drawn independently from two ranges, float64 [2, H], share no card."""
    holds = (board.format.hands[:, :, None] == np.arange(52)).any(axis=1).astype(np.float64)
    first, second = reach @ holds
    return float(1.0 - first @ second + reach[0] @ reach[1])


def spot_of(board: tuple[int, ...], stack: float, settings: HandValueSettings, ranges: tuple[Floats, Floats]) -> Spot:
    """Create a spot whose stacks are ``stack`` times the pot."""
    chips = max(round(stack * POT / CHIP), 1) * CHIP
    return Spot(board, POT, chips, ranges, BetPlan.same(settings.bets, settings.raises), format=settings.cards, chip=CHIP)


def iterations_at(stack: float, settings: HandValueSettings) -> int:
    """Number of iterations of a solve; deep stacks need more for the same accuracy."""
    usual = settings.iterations
    return max(usual // 2 if stack < SHALLOW else usual if stack < MIDDLE else round(DEEP * usual), 1)


class Drawn(NamedTuple):
    """A situation that is not solved yet.

    Attributes:
        board: the board, with the hands of both ranges.
        stack: chips behind, in pots.
        reach: float64 [2, H], both ranges, each summing to one.
    """

    board: HandBoard
    stack: float
    reach: Floats


def from_play(settings: HandValueSettings, count: int) -> int:
    """How many of ``count`` situations come from self-play."""
    return {PLAY: count, MIXED: count // 2}.get(settings.ranges, 0)


def drawn_at_random(settings: HandValueSettings, generator: np.random.Generator) -> Drawn:
    """Sample a board, a stack and two ranges."""
    board, stack = random_hand_board(settings, generator), random_stack(settings, generator)
    board, reach = random_ranges(board, settings, generator)
    return Drawn(board, stack, reach)


def drawn_in_play(settings: HandValueSettings, count: int, generator: np.random.Generator) -> list[Drawn]:
    """Turns that ``resolver`` reaches when it plays itself: all from one flop, unless most hands end there."""
    from treeplex.learn.resolver.self_play import played_turns

    drawn = list[Drawn]()
    while len(drawn) < count:
        for turn in played_turns(count - len(drawn), generator):
            board, reach = restricted(HandBoard.of(HOLDEM, turn.board), turn.reach.__getitem__, settings, generator)
            drawn.append(Drawn(board, turn.stack, reach))
    return drawn


def draw(
    settings: HandValueSettings, generator: np.random.Generator, leaves: tuple[LeafValue, HandValues] | None = None
) -> Situation:
    """Sample a situation and solve it with Discounted CFR: to the end of the hand or, given ``leaves``, of the street."""
    board, stack, reach = drawn_at_random(settings, generator)
    return (
        solve_situation(board, stack, reach, settings)
        if leaves is None
        else search_situation(board, stack, reach, settings, *leaves)
    )


def played(settings: HandValueSettings, count: int, generator: np.random.Generator) -> list[Situation]:
    """Solve turns that ``resolver`` reaches when it plays itself, with Discounted CFR to the end of the hand."""
    return [solve_situation(*drawn, settings) for drawn in drawn_in_play(settings, count, generator)]


def random_stack(settings: HandValueSettings, generator: np.random.Generator) -> float:
    """Sample a stack in pots, log-uniformly."""
    return float(np.exp(generator.uniform(np.log(settings.least_stack), np.log(settings.most_stack))))


def random_hand_board(settings: HandValueSettings, generator: np.random.Generator) -> HandBoard:
    """Sample a board of the settings' street."""
    cards = settings.cards
    return HandBoard.of(cards, random_board(settings.street, generator, cards.deck))


def random_ranges(board: HandBoard, settings: HandValueSettings, generator: np.random.Generator) -> tuple[HandBoard, Floats]:
    """Sample two ranges on a board, float64 [2, H]; also returns the board with their hands only."""
    return restricted(board, lambda player: random_range(board, generator), settings, generator)


def restricted(
    board: HandBoard, range_of: Callable[[int], Floats], settings: HandValueSettings, generator: np.random.Generator
) -> tuple[HandBoard, Floats]:
    """Restrict both players' ranges to random hands, on average ``settings.hands`` of them.

    Returns:
        The board with these hands only, and the ranges, float64 [2, H].
    """
    while True:  # with few hands all pairs may share cards
        reach = np.stack([some_hands(board, range_of(player), settings.hands, generator) for player in (0, 1)])
        if pairs_of(board, reach) > SURE:
            break
    if settings.hands:
        board = HandBoard.of(board.format, board.cards, np.asarray(reach.any(axis=0)))
    return board, reach


def search_situation(
    board: HandBoard, stack: float, reach: Floats, settings: HandValueSettings, leaf: LeafValue, values: HandValues
) -> Situation:
    """Solve only the current street of a situation with ranges float64 [2, H].

    Args:
        board, stack, reach, settings: the situation.
        leaf: leaf values of the solve.
        values: leaf values of its result, the average policy.
    """
    spot = spot_of(board.cards, stack, settings, (np.sign(reach[0]), np.sign(reach[1])))
    count = iterations_at(stack, settings)
    search = SubgameSearch(cut_first_street(spot), METHODS["dcfr"], leaf, (reach[0][None], reach[1][None]), horizon=count)
    search.run(count)
    return situation(board, stack, reach, average_values(search, values).hands / POT)


def solve_situation(board: HandBoard, stack: float, reach: Floats, settings: HandValueSettings) -> Situation:
    """Solve a situation with ranges float64 [2, H] to the end of the hand."""
    spot = spot_of(board.cards, stack, settings, (np.sign(reach[0]), np.sign(reach[1])))
    game, count = compile_spot(spot, isomorphism=False), iterations_at(stack, settings)
    held = [np.asarray(game.boards[0][0].hands[player]) for player in (0, 1)]
    weights = np.concatenate([player_reach[hands] for player_reach, hands in zip(reach, held, strict=True)])
    game = replace(game, form=game.form._replace(weights=weights))
    solver = HoldemSolver(game, "dcfr", threads=1, horizon=count)
    solver.run(count)
    values = np.zeros((2, len(board.format.hands)))
    for player in (0, 1):
        store = solver.store
        solver.crew.answer(player, EXPECT, store.average, store.average_scales, store)
        values[player, held[player]] = np.asarray(solver.crew.root_values(player), np.float64) / POT
    return situation(board, stack, reach, values)


def situation(board: HandBoard, stack: float, reach: Floats, values: Floats) -> Situation:
    """Create a situation from counterfactual hand values as fractions of the pot, float64 [2, H]."""
    mass, equity = board.equities(reach)
    worth = equity - 0.5
    for player in (0, 1):
        sure = (mass[player] > SURE) & (reach[player, board.held] > 0)
        worth[player, sure] = values[player, board.held][sure] / mass[player, sure]
    return Situation(board, stack, reach, mass, equity, worth)
