"""Public belief states: a public state and the beliefs about all players' hands (Brown et al. 2020, section 4)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.errors import GameError
from treeplex.forms.sources.load import public_game
from treeplex.games.base import CHANCE, Game, on_one_line
from treeplex.games.public import PublicGame, State


@dataclass(frozen=True, eq=False, repr=False)
class Belief:
    """A public belief state (PBS) of any public game.

    A *range* gives the likelihood of each hand given the player's own actions: ``ranges[i][h]`` is proportional to the product
    of the probabilities of the player's actions with hand h (in hold'em also to its initial weight). Ranges and chance
    probabilities determine the joint distribution of hands, and so the belief about each player, and vice versa.

    Attributes:
        game: the game.
        state: the public state.
        ranges: float64 [H_i] for each player, non-negative, summing to one over possible hands.
    """

    game: PublicGame
    state: State
    ranges: tuple[Floats, ...]

    def __repr__(self) -> str:
        counts = " and ".join(str(np.count_nonzero(weights)) for weights in self.ranges)
        return on_one_line(f"<belief about {counts} hands at {self.game.name_of(self.state)}>")

    @classmethod
    def of(cls, game: PublicGame | str | Game, state: State, ranges: Sequence[Floats] | None = None) -> "Belief":
        """Create a public belief state from unnormalised ranges; None uses the ranges at the start of the game.

        Ranges may have no compatible hands; then :meth:`draw` is impossible, see :attr:`pairs`. The game may be a spec or
        rules.

        Raises:
            GameError: the ranges have a wrong length, or are negative or not finite.
        """
        game = public_game(game)
        possible = game.possible(state)
        given = tuple(np.asarray(weights, np.float64) for weights in (game.first_ranges() if ranges is None else ranges))
        for weights, can in zip(given, possible, strict=True):
            if weights.shape != can.shape or not (np.isfinite(weights) & (weights >= 0)).all():
                wrong = f"shape {weights.shape}" if weights.shape != can.shape else "negative or non-finite numbers"
                raise GameError(f"the range at {game.name_of(state)} has {wrong}; give {len(can)} finite numbers >= 0")
        return cls(game, state, tuple(normalised_range(weights, can) for weights, can in zip(given, possible, strict=True)))

    @classmethod
    def root(cls, game: PublicGame | str | Game) -> "Belief":
        """Create the belief at the start of a game, given as public states, a spec or rules."""
        game = public_game(game)
        return cls.of(game, game.first_state())

    @classmethod
    def along(cls, game: PublicGame | str | Game, path: Sequence[int], policy: Callable[["Belief"], Floats]) -> "Belief":
        """Compute the belief after a public history, given all players' policies (from the discrete representation).

        Args:
            game: the game: its public states, a spec or rules.
            path: the labels of actions and chance outcomes from the start of the game.
            policy: function from a public belief state where a player acts to the policy of each hand, float64 [A, H].

        Returns:
            The public belief state at the end of the path.
        """
        belief = cls.root(game)
        for label in path:
            acts = belief.game.options(belief.state).player >= 0
            belief = belief.after(label, policy(belief) if acts else None)
        return belief

    @property
    def joint(self) -> Floats:
        """Probability of each combination of hands, float64 [H_0, H_1, ...]; all zero if the ranges have no compatible
        hands.
        """
        joint = self.game.joint(self.state, self.ranges)
        total = joint.sum()
        return joint / total if total > 0 else joint

    @cached_property
    def opposing(self) -> tuple[Floats, ...]:
        """Counterfactual reach of each hand, from chance and the other players' ranges, float64 [H_i] for each player."""
        return tuple(self.game.opposing(self.state, self.ranges, player) for player in range(self.game.players))

    @cached_property
    def pairs(self) -> float:
        """Unnormalised total weight of all combinations of hands; 0 if the ranges have no compatible hands."""
        return float(self.ranges[0] @ self.opposing[0])

    @property
    def beliefs(self) -> tuple[Floats, ...]:
        """Beliefs about each player's hand, float64 [H_i]: the marginals of :attr:`joint`."""
        beliefs = [weights * mass for weights, mass in zip(self.ranges, self.opposing, strict=True)]
        return tuple(weights / weights.sum() if weights.sum() > 0 else weights for weights in beliefs)

    def draw(self, generator: np.random.Generator) -> tuple[int, ...]:
        """Sample a hand for each player from the joint distribution, which leads to the discrete representation.

        Raises:
            GameError: the ranges have no compatible hands.
        """
        return self.game.draw(self.state, self.ranges, generator)

    def after(self, label: int, policy: Floats | None = None) -> "Belief":
        """Return the public belief state after an action or a chance outcome, by Bayes' rule.

        Args:
            label: the action or chance outcome; for a private action any label.
            policy: float64 [A, H], the policy of the player to act; needed if a player acts.

        Raises:
            GameError: the label is impossible, or the policy is missing or has the wrong shape.
        """
        options, ranges = self.game.options(self.state), self.ranges
        following = self.game.after(self.state, label)
        if options.player != CHANCE:
            expected = len(options.labels), len(ranges[options.player])
            if policy is None or np.shape(policy) != expected:
                shape = "None" if policy is None else np.shape(policy)
                raise GameError(
                    f"action {label!r} at {self.game.name_of(self.state)} needs a policy of shape {expected}, not {shape}"
                )
            played = moved_range(
                ranges[options.player], np.asarray(policy), list(options.labels).index(label), private=options.private
            )
            ranges = tuple(played if player == options.player else weights for player, weights in enumerate(ranges))
        return Belief.of(self.game, following, ranges)


def moved_range(weights: Floats, policy: Floats, number: int, *, private: bool = False) -> Floats:
    """Unnormalised range after the player's action with this index; after a private action, over (hand, action) pairs."""
    return np.asarray((weights * policy).T.ravel() if private else weights * policy[number])


def stacked_ranges(beliefs: Sequence[Belief]) -> tuple[Floats, ...]:
    """Stack the ranges of beliefs into arrays [B, H_i], padded with 0."""
    stacked = []
    for player in range(beliefs[0].game.players):
        table = np.zeros((len(beliefs), max(len(belief.ranges[player]) for belief in beliefs)))
        for row, belief in zip(table, beliefs, strict=True):
            row[: len(belief.ranges[player])] = belief.ranges[player]
        stacked.append(table)
    return tuple(stacked)


def normalised_range(weights: Floats, possible: Floats) -> Floats:
    """Normalise a range to sum to one over possible hands; if it is zero on all of them, it becomes uniform.

    This is the only convention for public states with zero reach; search, self-play and evaluation share it. If no hand is
    possible, the range is zero.
    """
    allowed = weights * possible
    total, count = allowed.sum(axis=-1, keepdims=True), possible.sum(axis=-1, keepdims=True)
    share: Floats = np.where(total > 0, allowed, possible) / np.where(total > 0, total, np.maximum(count, 1.0))
    return share


TRACE = 1e-9
"""Minimum reach of every hand, relative to the largest, so that a solve gives it a policy."""


def with_trace(reached: Floats) -> Floats:
    """Add a small minimum to every hand's reach, [..., H].

    A hand of zero probability also has a value: its payoff under best play (equation 1). Without the minimum, the hand's
    average policy, which is weighted by own reach, would be undefined.
    """
    traced: Floats = np.maximum(reached, TRACE * reached.max(axis=-1, keepdims=True))
    return traced
