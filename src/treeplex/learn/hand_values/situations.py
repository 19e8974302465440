"""Random situations where a street of hold'em begins, and what every hand is worth in them.

Four situations in ten have ranges as DeepStack draws them, by halving hands in order of strength (Moravčík et al. 2017); the
others have ranges as play makes them: hands above some strength, smoothed, reweighted by a curve over strength, or all alike.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from treeplex.engine.holdem.passes import EXPECT
from treeplex.forms.holdem.compile_spot import compile_spot
from treeplex.games.poker.betting.sizes import BetPlan
from treeplex.games.poker.cards.format import HOLDEM
from treeplex.games.poker.spots.known import all_hands
from treeplex.games.poker.spots.spot import Spot
from treeplex.learn.hand_values.settings import STREETS, HandValueSettings
from treeplex.learn.rebel.random_beliefs import split
from treeplex.search.holdem.hand_values import HandBoard
from treeplex.solvers.holdem.solver import HoldemSolver

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
POT, CHIP = 100.0, 0.01
HALVED, TOP, CURVED = 0.4, 0.25, 0.25
"""Parts of ranges drawn by halving, as the strongest hands, and as these reweighted by a curve; the others are uniform."""
NOISE = 0.3
SHALLOW, MIDDLE = 1.5, 4.0
"""Stacks in pots up to which solves take half of the iterations, and the usual ones."""
DEEP = 1.75


@dataclass(frozen=True, eq=False)
class Situation:
    """A solved situation; both players' hands are those that the board allows, n of them.

    Attributes:
        board: the board.
        stack: chips behind, in pots.
        reach: float64 [2, H], both ranges, each summing to one.
        mass, equity: float64 [2, n], see :meth:`HandBoard.equities`.
        worth: float64 [2, n], what each hand is worth over half of the pot, in pots; the showdown's where it meets nobody.
    """

    board: HandBoard
    stack: float
    reach: Floats
    mass: Floats
    equity: Floats
    worth: Floats

    @property
    def weights(self) -> Floats:
        """How often each hand is held and met, float64 [2, n]; each player's sum to one."""
        met = self.reach[:, self.board.held] * self.mass
        return np.asarray(met / met.sum(axis=1, keepdims=True))

    def rows(self, player: int) -> Singles:
        """What a network sees of a player's hands, float32 [n, INPUTS]."""
        return self.board.rows(self.reach, self.mass, self.equity, self.board.look(1.0, self.stack), player)


def random_board(street: str, generator: np.random.Generator) -> tuple[int, ...]:
    """Cards for a street."""
    return tuple(int(card) for card in generator.choice(52, 3 + STREETS.index(street), replace=False))


def random_range(board: HandBoard, generator: np.random.Generator) -> Floats:
    """A range on a board, float64 [H], summing to one; every hand that the board allows has a trace."""
    size, strength, kind = len(board.held), board.static[:, 0], generator.random()
    drawn = np.zeros(len(board.format.hands))
    order = board.held[np.lexsort((generator.random(size), strength))]
    if kind < HALVED:
        drawn[order] = split(size, generator)
    elif kind < HALVED + TOP + CURVED:
        place = np.arange(size) / size
        least, slope = generator.uniform(0.0, 0.8), generator.uniform(5.0, 30.0)
        shares = 1.0 / (1.0 + np.exp(-slope * (place - least)))
        if kind > HALVED + TOP:
            middle, wide = generator.uniform(0, 1), generator.uniform(0.05, 0.4)
            bump = np.exp(-0.5 * ((place - middle) / wide) ** 2)
            shares *= bump if generator.random() < 0.5 else 1.02 - bump
        drawn[order] = shares * np.exp(NOISE * generator.standard_normal(size))
    else:
        drawn[order] = 1.0
    drawn[order] += 1e-4 * drawn.sum() / size
    return np.asarray(drawn / drawn.sum())


def spot_of(board: tuple[int, ...], stack: float, settings: HandValueSettings) -> Spot:
    """A pot with so many pots behind, every hand possible."""
    chips = max(round(stack * POT / CHIP), 1) * CHIP
    return Spot(board, POT, chips, all_hands(HOLDEM), BetPlan.same(settings.bets, settings.raises), chip=CHIP)


def iterations_at(stack: float, settings: HandValueSettings) -> int:
    """Iterations of a solve: deep stacks take longer to be as exact."""
    usual = settings.iterations
    return max(usual // 2 if stack < SHALLOW else usual if stack < MIDDLE else round(DEEP * usual), 1)


def draw(settings: HandValueSettings, generator: np.random.Generator) -> Situation:
    """A random situation, solved by Discounted CFR to the end of the hand."""
    board = HandBoard.of(HOLDEM, random_board(settings.street, generator))
    low, high = np.log(settings.least_stack), np.log(settings.most_stack)
    stack = float(np.exp(generator.uniform(low, high)))
    reach = np.stack([random_range(board, generator) for _ in range(2)])
    return solved(board, stack, reach, settings)


def solved(board: HandBoard, stack: float, reach: Floats, settings: HandValueSettings) -> Situation:
    """A situation with these ranges, float64 [2, H]."""
    game, count = compile_spot(spot_of(board.cards, stack, settings), isomorphism=False), iterations_at(stack, settings)
    held = [np.asarray(game.boards[0][0].hands[player]) for player in (0, 1)]
    weights = np.concatenate([own[hands] for own, hands in zip(reach, held, strict=True)])
    game = replace(game, form=game.form._replace(weights=weights))
    solver = HoldemSolver(game, "dcfr", threads=1, horizon=count)
    solver.run(count)
    mass, equity = board.equities(reach)
    worth = equity - 0.5
    for player in (0, 1):
        store = solver.store
        solver.crew.answer(player, EXPECT, store.average, store.average_scales, store)
        found = np.zeros(len(board.format.hands))
        found[held[player]] = np.asarray(solver.crew.root_values(player), np.float64) / POT
        sure = mass[player] > 1e-6
        worth[player, sure] = found[board.held][sure] / mass[player, sure]
    return Situation(board, stack, reach, mass, equity, worth)
