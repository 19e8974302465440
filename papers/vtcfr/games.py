"""The games of the study of one scheme for every game: named ones by spec, others generated from a seed.

Three groups. ``TUNED_ON``: games that the constants of vt-cfr+ were chosen on, or that the DDCFR paper trained on.
``LOOKED_AT``: games used for checks during development; after seeing their scores, the two constants of its discount were
chosen among four pairs. ``FRESH``: held-out games created after that, with new seeds and sizes. All are zero-sum games of two
players and follow from this file alone.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from math import prod

import numpy as np

from treeplex.games import CHANCE, TERMINAL, Game, MatrixGame, State
from treeplex.holdem import BetPlan, FixedLimit, Spot
from treeplex.holdem.cards.format import HOLDEM, Format
from treeplex.holdem.rules.rules import PokerGame
from treeplex.holdem.spots.known import all_hands, unbound

TUNED_ON, LOOKED_AT, FRESH = GROUPS = ("tuned on", "looked at", "fresh")
UNIT = 10.0
"""The pot of a river game, in chips of 0.01."""


@dataclass(frozen=True)
class StudyGame:
    """A game of the study.

    Attributes:
        name: short, for tables.
        group: one of ``GROUPS``.
        source: its spec, or a function that makes its rules.
        large: runs are slow, so there is only one repeat.
        refine: the source's infostates forget own moves and are refined to perfect recall.
    """

    name: str
    group: str
    source: str | Callable[[], Game]
    large: bool = False
    refine: bool = False

    def rules(self) -> "str | Game":
        """Argument for :func:`treeplex.compile`."""
        return self.source if isinstance(self.source, str) else self.source()


def kuhn(cards: int) -> PokerGame:
    """Kuhn poker with the given number of different cards: ante 1, one bet of 1."""
    form = Format(f"kuhn({cards})", tuple(range(cards)), hole=1, deal=(0,))
    bets = FixedLimit((1.0,), (1,))
    spot = Spot((), 2.0, unbound(bets), all_hands(form), bets, format=form, strengths=np.arange(cards))
    return PokerGame(spot, f"kuhn(cards={cards})")


def river(seed: int, hands: int, pots: float, bets: str, raises: str) -> PokerGame:
    """No-limit hold'em on a random river: random ranges with the given number of hands, stacks of ``pots`` pots."""
    random = np.random.default_rng(seed)
    board = tuple(map(int, random.choice(52, 5, replace=False)))
    free = np.flatnonzero(~np.isin(HOLDEM.hands, board).any(axis=1))
    ranges = np.zeros((2, len(HOLDEM.hands)))
    for weights in ranges:
        weights[random.choice(free, hands, replace=False)] = random.uniform(0.1, 1.0, hands)
    plan = BetPlan.same(bets, raises, min_bet=UNIT / 10)
    spot = Spot(board, UNIT, pots * UNIT, (ranges[0], ranges[1]), plan, chip=0.01)
    return PokerGame(spot, f"river(seed={seed},hands={hands},pots={pots:g})")


def random_matrix(seed: int, rows: int, columns: int, losses: Sequence[float] = ()) -> MatrixGame:
    """Independent standard normal payoffs; for each of ``losses`` an additional row lowered by about that amount."""
    table = np.random.default_rng(seed).standard_normal((rows + len(losses), columns))
    table[rows:] -= np.reshape(losses, (-1, 1))
    return MatrixGame(table, spec=f"random_matrix(seed={seed},rows={rows},columns={columns})")


def blotto(soldiers: int, values: Sequence[float]) -> MatrixGame:
    """Colonel Blotto: both spread their soldiers over fields; the larger number on a field wins its value from the other."""
    plans = [plan for plan in product(range(soldiers + 1), repeat=len(values)) if sum(plan) == soldiers]
    spread = np.array(plans)
    return MatrixGame(np.sign(spread[:, None] - spread[None, :]) @ np.array(values), spec=f"blotto(soldiers={soldiers})")


@dataclass(frozen=True)
class RandomTree(Game):
    """A tree of one shape with independent random payoffs.

    Attributes:
        seed: of payoffs and chances.
        levels: player and number of actions at each depth; chance gives each player one of that many types.
        signals: number of classes of the other's actions that a player distinguishes; 1 for none.
        tail: degrees of freedom of Student's t distribution of payoffs; 0 for the normal distribution.
    """

    seed: int
    levels: tuple[tuple[int, int], ...]
    signals: int = 1
    tail: float = 0.0

    @property
    def spec(self) -> str:  # type: ignore[override]
        return f"random_tree(seed={self.seed})"

    def new_initial_state(self) -> "RandomTreeState":
        random = np.random.default_rng(self.seed)
        shape = tuple(count**2 if player == CHANCE else count for player, count in self.levels)
        chances = [
            random.dirichlet(np.ones(count)).tolist() if p == CHANCE else []
            for (p, _), count in zip(self.levels, shape, strict=True)
        ]
        payoffs = random.standard_t(self.tail, prod(shape)) if self.tail else random.standard_normal(prod(shape))
        return RandomTreeState(self, (), chances, payoffs.reshape(shape))


@dataclass(frozen=True)
class RandomTreeState(State):
    """The moves so far, with the game's chances and payoffs."""

    game: RandomTree
    moves: tuple[int, ...]
    chances: Sequence[Sequence[float]]
    payoffs: np.ndarray

    def current_player(self) -> int:
        return self.game.levels[len(self.moves)][0] if len(self.moves) < len(self.game.levels) else TERMINAL

    def legal_actions(self, player: int | None = None) -> Sequence[int]:
        return range(self.payoffs.shape[len(self.moves)]) if len(self.moves) < len(self.game.levels) else ()

    def chance_outcomes(self) -> Sequence[tuple[int, float]]:
        return list(enumerate(self.chances[len(self.moves)]))

    def child(self, action: int) -> "RandomTreeState":
        return RandomTreeState(self.game, (*self.moves, action), self.chances, self.payoffs)

    def returns(self) -> Sequence[float]:
        payoff = float(self.payoffs[self.moves])
        return [payoff, -payoff]

    def information_state_string(self, player: int | None = None) -> str:
        observing = self.current_player() if player is None else player
        seen = [self.seen(observing, depth, move) for depth, move in enumerate(self.moves)]
        return f"{observing}:" + " ".join(map(str, seen))

    def seen(self, player: int, depth: int, move: int) -> int:
        """A player's observation of a move: their own type, their own move, or a class of the other's move."""
        mover, count = self.game.levels[depth]
        if mover == CHANCE:
            return divmod(move, count)[player]
        return move if mover == player else move % self.game.signals

    def public_state(self) -> Hashable:
        return len(self.moves)


def goofspiel(cards: int, order: str = "descending", returns: str = "win_loss") -> str:
    """The spec of Goofspiel with hidden bids."""
    return f"goofspiel(num_cards={cards},imp_info=true,points_order={order},returns_type={returns})"


def battleship(width: int, height: int, shots: int, ships: str = "[2]", values: str = "[2]") -> str:
    """The spec of Battleship without repeated shots."""
    return (
        f"battleship(board_width={width},board_height={height},ship_sizes={ships},ship_values={values},"
        f"num_shots={shots},allow_repeated_shots=false)"
    )


def alternating(*counts: int, types: int = 0) -> tuple[tuple[int, int], ...]:
    """Levels of a random tree where the players move in turn, after a deal of ``types`` to each (0: no deal)."""
    return (((CHANCE, types),) if types else ()) + tuple((depth % 2, count) for depth, count in enumerate(counts))


TUNED: Mapping[str, str | Callable[[], Game]] = {
    "small_matrix": "small_matrix",
    "kuhn": "kuhn_poker",
    "kuhn-6": partial(kuhn, 6),
    "goofspiel-3": goofspiel(3),
    "goofspiel-4": goofspiel(4),
    "goofspiel-4 ascending": goofspiel(4, "ascending"),
    "goofspiel-4 difference": goofspiel(4, returns="point_difference"),
    "liars_dice-3": "liars_dice(dice_sides=3)",
    "liars_dice-4": "liars_dice(dice_sides=4)",
    "leduc": "leduc_poker",
    "leduc, 4 ranks, 3 raises": "leduc_poker(ranks=4,raises=3)",
    "battleship-2": battleship(2, 2, 3),
}
SEEN: Mapping[str, str | Callable[[], Game]] = {
    "kuhn-12": partial(kuhn, 12),
    "kuhn-20": partial(kuhn, 20),
    "goofspiel-5": goofspiel(5),
    "goofspiel-5 ascending": goofspiel(5, "ascending"),
    "goofspiel-4 random, difference": goofspiel(4, "random", "point_difference"),
    "liars_dice-5": "liars_dice(dice_sides=5)",
    "liars_dice-2x2": "liars_dice(dice=2,dice_sides=2)",
    "leduc, 12 ranks": "leduc_poker(ranks=12)",
    "leduc, 5 ranks, 4 raises": "leduc_poker(ranks=5,raises=4)",
    "leduc, 4 ranks, 3 suits": "leduc_poker(ranks=4,suits=3)",
    "leduc, 8 ranks, 3 raises": "leduc_poker(ranks=8,raises=3)",
    "battleship 2x2, 2 shots": battleship(2, 2, 2),
    "battleship 2x3, 2 shots": battleship(2, 3, 2),
    "battleship 3x1": battleship(3, 1, 3),
    "battleship 1x5": battleship(1, 5, 3),
    "dark hex 2x2": "openspiel:dark_hex(num_rows=2,num_cols=2)",
    "dark hex 2x3": "openspiel:dark_hex(num_rows=2,num_cols=3)",
    "oshi-zumo, 4 coins": "openspiel:oshi_zumo(coins=4,size=1,horizon=6)",
    "battleship-3": battleship(2, 3, 3),
    "big_leduc": "big_leduc",
    "matrix 10x10": partial(random_matrix, 7101, 10, 10),
    "matrix 20x20": partial(random_matrix, 7102, 20, 20),
    "matrix 30x30": partial(random_matrix, 7103, 30, 30),
    "matrix 15x40": partial(random_matrix, 7104, 15, 40),
    "matrix 8x8, losses 100, 10000": partial(random_matrix, 7105, 8, 8, (100.0, 10000.0)),
    "matrix 20x20, losses 30, 1000": partial(random_matrix, 7106, 20, 20, (30.0, 1000.0)),
    "matrix 12x6, loss 3000": partial(random_matrix, 7107, 12, 6, (3000.0,)),
    "blotto, 9 on 3": partial(blotto, 9, (1.0, 1.0, 1.0)),
    "blotto, 6 on 4 unequal": partial(blotto, 6, (1.0, 2.0, 3.0, 5.0)),
    "tree, types, wide": partial(RandomTree, 7201, alternating(4, 4, 4, 4, types=3), 2),
    "tree, types, deep": partial(RandomTree, 7202, alternating(*[2] * 8, types=3), 2),
    "tree, hidden moves": partial(RandomTree, 7203, alternating(3, 3, 3, 3, 3, 3), 1),
    "tree, seen moves, types": partial(RandomTree, 7204, alternating(3, 3, 3, 3, types=4), 3),
    "tree, types, t(1.5)": partial(RandomTree, 7205, alternating(4, 4, 4, 4, types=4), 2, 1.5),
    "tree, hidden moves, t(2)": partial(RandomTree, 7206, alternating(*[2] * 10), 1, 2.0),
    "tree, deep, t(1.2)": partial(RandomTree, 7207, alternating(*[2] * 8, types=2), 2, 1.2),
    "river, 20 hands, 3 pots": partial(river, 7301, 20, 3.0, "50%,100%,a", "100%,a"),
    "river, 25 hands, 10 pots": partial(river, 7302, 25, 10.0, "75%,150%,a", "100%,a"),
    "river, 30 hands, 30 pots": partial(river, 7303, 30, 30.0, "50%,100%,a", "100%,a"),
    "river, 30 hands, 100 pots": partial(river, 7304, 30, 100.0, "50%,200%,a", "150%,a"),
    "river, 40 hands, 100 pots": partial(river, 7305, 40, 100.0, "100%,a", "100%,a"),
    "no-limit leduc": "small_holdem(ranks=4,suits=2,sizes=[50%;a],stack=12)",
    "three streets, limit": "small_holdem(ranks=3,suits=2,deal=[0;1;1],bets=[1;2;2],raises=1)",
    "leduc, 6 ranks, bets 1, 8": "leduc_poker(ranks=6,raises=1,bets=[1;8])",
    "kuhn-32": partial(kuhn, 32),
    "liars_dice-1v2": "liars_dice(numdice0=1,numdice1=2,dice_sides=3)",
    "goofspiel-4 random": goofspiel(4, "random"),
    "goofspiel-5 difference": goofspiel(5, returns="point_difference"),
    "battleship 4x1": battleship(4, 1, 3),
    "battleship 4x1, two ships": battleship(4, 1, 2, "[1;2]", "[1;3]"),
    "oshi-zumo, 3 coins": "openspiel:oshi_zumo(coins=3,size=2,horizon=5)",
    "abrupt dark hex 2x3": "openspiel:dark_hex(num_rows=2,num_cols=3,gameversion=adh)",
}
NEW: Mapping[str, str | Callable[[], Game]] = {
    "matrix 12x12": partial(random_matrix, 8101, 12, 12),
    "matrix 25x25": partial(random_matrix, 8102, 25, 25),
    "matrix 40x40": partial(random_matrix, 8103, 40, 40),
    "matrix 18x50": partial(random_matrix, 8104, 18, 50),
    "matrix 10x10, losses 200, 5000": partial(random_matrix, 8105, 10, 10, (200.0, 5000.0)),
    "matrix 25x25, loss 50": partial(random_matrix, 8106, 25, 25, (50.0,)),
    "matrix 6x15, losses 1e3, 1e5": partial(random_matrix, 8107, 6, 15, (1000.0, 100000.0)),
    "matrix 15x8, loss 500": partial(random_matrix, 8108, 15, 8, (500.0,)),
    "blotto, 8 on 3 unequal": partial(blotto, 8, (1.0, 1.0, 2.0)),
    "blotto, 7 on 4": partial(blotto, 7, (1.0, 1.0, 1.0, 1.0)),
    "tree, types, 3 and 5": partial(RandomTree, 8201, alternating(3, 5, 3, 5, types=3), 2),
    "tree, types, nine deep": partial(RandomTree, 8202, alternating(*[2] * 9, types=2), 2),
    "tree, hidden moves, 4 and 3": partial(RandomTree, 8203, alternating(4, 3, 4, 3, 4), 1),
    "tree, seen moves, five types": partial(RandomTree, 8204, alternating(3, 2, 3, 2, types=5), 3),
    "tree, types, t(1.6)": partial(RandomTree, 8205, alternating(3, 4, 3, 4, types=3), 2, 1.6),
    "tree, hidden moves, t(1.8)": partial(RandomTree, 8206, alternating(*[3] * 6), 1, 1.8),
    "tree, deep, t(1.3)": partial(RandomTree, 8207, alternating(*[2] * 8, types=3), 2, 1.3),
    "river, 24 hands, 1.5 pots": partial(river, 8301, 24, 1.5, "50%,100%,a", "a"),
    "river, 22 hands, 5 pots": partial(river, 8302, 22, 5.0, "33%,100%,a", "100%,a"),
    "river, 28 hands, 15 pots": partial(river, 8303, 28, 15.0, "75%,a", "100%,a"),
    "river, 32 hands, 50 pots": partial(river, 8304, 32, 50.0, "50%,150%,a", "100%,a"),
    "river, 35 hands, 60 pots": partial(river, 8305, 35, 60.0, "100%,a", "150%,a"),
    "kuhn-9": partial(kuhn, 9),
    "kuhn-16": partial(kuhn, 16),
    "leduc, 7 ranks": "leduc_poker(ranks=7)",
    "leduc, 9 ranks, 1 raise": "leduc_poker(ranks=9,raises=1)",
    "leduc, 4 ranks, bets 1, 3": "leduc_poker(ranks=4,bets=[1;3])",
    "no-limit leduc, pot bets": "small_holdem(ranks=5,suits=2,sizes=[100%;a],stack=8)",
    "three streets, bets 1, 2, 4": "small_holdem(ranks=4,suits=2,deal=[0;1;1],bets=[1;2;4],raises=1)",
    "liars_dice-2v1": "liars_dice(numdice0=2,numdice1=1,dice_sides=3)",
    "liars_dice-2v1, 2 faces": "liars_dice(numdice0=2,numdice1=1,dice_sides=2)",
    "goofspiel-5 ascending, difference": goofspiel(5, "ascending", "point_difference"),
    "battleship 2x2, 4 shots": battleship(2, 2, 4),
    "battleship 1x6, 2 shots": battleship(1, 6, 2),
    "battleship 2x3, ship of 1": battleship(2, 3, 2, "[1]", "[1]"),
    "oshi-zumo, 5 coins": "openspiel:oshi_zumo(coins=5,size=1,horizon=5)",
    "oshi-zumo, 4 coins, wide": "openspiel:oshi_zumo(coins=4,size=2,horizon=4)",
}
LARGE = ("battleship-3", "big_leduc")
FORGETFUL = ("dark hex 2x3", "abrupt dark hex 2x3")

STUDY_GAMES: tuple[StudyGame, ...] = tuple(
    StudyGame(name, group, source, large=name in LARGE, refine=name in FORGETFUL)
    for group, sources in zip(GROUPS, (TUNED, SEEN, NEW), strict=True)
    for name, source in sources.items()
)
