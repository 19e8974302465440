"""Small random games of perfect recall as rules, and hypothesis strategies for them.

Everything about a game follows from its numbers, so that a failing example can be built again from what hypothesis prints.
"""

import random
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from treeplex.games.base import CHANCE, TERMINAL, Game, State
from treeplex.games.public import Chance, Decision, PublicTree, Terminal

STEADY = settings(max_examples=40, deadline=None, derandomize=True)
"""Settings of all properties over games: the same examples in every run."""
FEW = settings(STEADY, max_examples=10)
"""Settings with fewer examples, for slow tests."""

FULL, PARITY, NOTHING = range(3)


def draw(*place: object) -> random.Random:
    """A generator that belongs to a place."""
    return random.Random(repr(place))


@dataclass(frozen=True)
class RandomGame(Game):
    """A random game: who moves follows from the depth; others see a move fully, by its parity, or not at all.

    Attributes:
        seed: everything random.
        players: number of players.
        depth: longest history in moves.
        zero_sum: whether payoffs sum to zero.
        unit: payoffs are multiples of it; 0 for any floats.
    """

    seed: int
    players: int = 2
    depth: int = 5
    zero_sum: bool = True
    unit: float = 0.0

    @property
    def num_players(self) -> int:  # type: ignore[override]
        return self.players

    @property
    def spec(self) -> str:  # type: ignore[override]
        return f"random_game(seed={self.seed},players={self.players},depth={self.depth})"

    def new_initial_state(self) -> "RandomState":
        return RandomState(self, ())

    def mover(self, depth: int) -> int:
        """Who moves after ``depth`` moves: chance first now and then, later anybody."""
        return draw(self.seed, "mover", depth).choice([CHANCE, *range(self.players), *range(self.players)])


class RandomState(State):
    """The moves so far."""

    def __init__(self, game: RandomGame, moves: tuple[int, ...]) -> None:
        self.game, self.moves = game, moves

    def current_player(self) -> int:
        depth = len(self.moves)
        ended = depth >= 2 and draw(self.game.seed, "end", self.moves).random() < 0.2
        return TERMINAL if depth == self.game.depth or ended else self.game.mover(depth)

    def legal_actions(self, player: int | None = None) -> Sequence[int]:
        mover = self.current_player()
        if mover == CHANCE:
            return [action for action, _ in self.chance_outcomes()]
        generator = draw(self.game.seed, "actions", mover, self.information_state_string(mover))
        return sorted(generator.sample(range(5), generator.choice([1, 2, 2, 3])))

    def chance_outcomes(self) -> Sequence[tuple[int, float]]:
        generator = draw(self.game.seed, "chance", len(self.moves))
        weights = [generator.choice([0.0, 1.0, generator.random()]) for _ in range(generator.choice([2, 3]))]
        weights[-1] += 0.25
        return [(action, weight / sum(weights)) for action, weight in enumerate(weights)]

    def child(self, action: int) -> "RandomState":
        return RandomState(self.game, (*self.moves, action))

    def returns(self) -> Sequence[float]:
        generator = draw(self.game.seed, "returns", self.moves)
        unit = self.game.unit
        payoffs = [unit * generator.randint(-4, 4) if unit else generator.uniform(-3.0, 3.0) for _ in range(self.game.players)]
        if self.game.zero_sum:
            payoffs[-1] = -sum(payoffs[:-1])
        return payoffs

    def information_state_string(self, player: int | None = None) -> str:
        player = self.current_player() if player is None else player
        seen = []
        for depth, move in enumerate(self.moves):
            mover = self.game.mover(depth)
            how = FULL if mover == player else draw(self.game.seed, "sight", depth, player).choice([FULL, PARITY, NOTHING])
            seen.append({FULL: str(move), PARITY: "eo"[move % 2], NOTHING: "?"}[how])
        return f"{player}:{''.join(seen)}"


@dataclass(frozen=True)
class RandomPublicGame(Game):
    """A random zero-sum game of two players with hands and public moves, as rules and as public-tree rules."""

    seed: int
    hands: tuple[int, int] = (2, 3)
    depth: int = 4

    @property
    def spec(self) -> str:  # type: ignore[override]
        return f"random_public_game(seed={self.seed})"

    def new_initial_state(self) -> "PublicState":
        return PublicState(self, None, ())

    def public_tree(self) -> "RandomPublicTree":
        return RandomPublicTree(self)


class RandomPublicTree(PublicTree):
    """Nodes are the public moves so far."""

    root: Hashable = ()
    deal_histories = 1
    deal_depth = 1

    def __init__(self, game: RandomPublicGame) -> None:
        self.game = game
        generator = np.random.default_rng((game.seed, 1))
        weights = np.where(generator.random(game.hands) < 0.3, 0.0, generator.random(game.hands))
        weights[0, 0] += 0.1
        self.prior = weights / weights.sum()
        self.deals = (self.prior > 0).astype(np.int64)

    def visit(self, node: Hashable) -> Decision | Chance | Terminal:
        assert isinstance(node, tuple)
        generator = draw(self.game.seed, node)
        numbers = np.random.default_rng(generator.randrange(2**32))
        if len(node) == self.game.depth or (len(node) > 1 and generator.random() < 0.2):
            shared = np.random.default_rng((self.game.seed, generator.randrange(3)))
            return Terminal(shared.integers(-2, 3, self.game.hands).astype(float), generator.choice([1.0, -0.5, 3.0]))
        if generator.random() < 0.25:
            weights = np.where(numbers.random((3, *self.game.hands)) < 0.3, 0.0, numbers.random((3, *self.game.hands)))
            weights[2] += 0.05
            weights /= weights.sum(axis=0)
            return Chance(tuple((label, weights[label]) for label in range(3)))
        return Decision(generator.randrange(2), tuple(range(generator.choice([1, 2, 2, 3]))))

    def child(self, node: Hashable, action: int) -> Hashable:
        assert isinstance(node, tuple)
        return (*node, action)

    def infostate(self, node: Hashable, player: int, hand: int) -> str:
        return f"{hand}|{node}"

    def action_to_string(self, node: Hashable, action: int) -> str:
        return f"move {action}"


class PublicState(State):
    """The game by histories: chance deals a pair of hands, then public moves."""

    def __init__(self, game: RandomPublicGame, deal: tuple[int, int] | None, node: tuple[int, ...]) -> None:
        self.tree, self.deal, self.node = game.public_tree(), deal, node
        self.game = game
        self.event = self.tree.visit(node)

    def current_player(self) -> int:
        if self.deal is None or isinstance(self.event, Chance):
            return CHANCE
        return self.event.player if isinstance(self.event, Decision) else TERMINAL

    def legal_actions(self, player: int | None = None) -> Sequence[int]:
        if isinstance(self.event, Decision) and self.deal is not None:
            return list(self.event.actions)
        return [] if self.is_terminal() else [action for action, _ in self.chance_outcomes()]

    def chance_outcomes(self) -> Sequence[tuple[int, float]]:
        if self.deal is None:
            return [(code, float(chance)) for code, chance in enumerate(self.tree.prior.ravel()) if chance > 0]
        assert isinstance(self.event, Chance)
        return [(label, float(weight[self.deal])) for label, weight in self.event.outcomes]

    def child(self, action: int) -> "PublicState":
        if self.deal is None:
            return PublicState(self.game, (action // self.game.hands[1], action % self.game.hands[1]), ())
        return PublicState(self.game, self.deal, (*self.node, action))

    def returns(self) -> Sequence[float]:
        assert isinstance(self.event, Terminal)
        assert self.deal is not None
        payoff = self.event.scale * float(self.event.matrix[self.deal])
        return [payoff, -payoff]

    def information_state_string(self, player: int | None = None) -> str:
        player = self.current_player() if player is None else player
        hand = "" if self.deal is None else str(self.deal[player])
        return f"{hand}|{self.node}"

    def public_state(self) -> Hashable:
        return (self.deal is not None, self.node)

    def action_to_string(self, action: int) -> str:
        return f"move {action}"


def games(
    players: tuple[int, ...] = (2, 3), *, zero_sum: bool | None = None, unit: float = 0.0
) -> st.SearchStrategy[RandomGame]:
    """Random games; ``zero_sum=None`` for either kind."""
    return st.builds(
        RandomGame,
        seed=st.integers(0, 10**6),
        players=st.sampled_from(players),
        depth=st.sampled_from([0, 3, 4, 5, 6]),
        zero_sum=st.booleans() if zero_sum is None else st.just(zero_sum),
        unit=st.just(unit),
    )


def public_games() -> st.SearchStrategy[RandomPublicGame]:
    """Random games that have both kinds of rules."""
    return st.builds(
        RandomPublicGame,
        seed=st.integers(0, 10**6),
        hands=st.tuples(st.integers(1, 3), st.integers(1, 3)),
        depth=st.sampled_from([0, 2, 3, 4]),
    )


SEEDS = st.integers(0, 2**31 - 1)
