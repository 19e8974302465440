"""Public belief states: a public state and what everybody believes about every player's hand (Brown et al. 2020, section 4)."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treeplex.errors import GameError
from treeplex.forms.subgames.public_states import PublicState, first_state
from treeplex.games.public import Chance, Decision, PublicTree

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PublicBelief:
    """A public belief state (PBS).

    A *range* is how likely a player's own play has made each hand: ``ranges[i][h]`` is proportional to the product of the
    probabilities of the player's own actions with hand h. Together with what chance does (``state.weight``) the two ranges give
    the joint distribution of hands, and so the belief about each player, in either direction.

    Attributes:
        state: the public state.
        ranges: for each player float64 [H_i], non-negative, summing to one over the hands that can be there.
    """

    state: PublicState
    ranges: tuple[Floats, Floats]

    @classmethod
    def root(cls, rules: PublicTree) -> "PublicBelief":
        """The beginning of a game: every hand has been played as it was dealt."""
        return cls.of(first_state(rules), None)

    @classmethod
    def of(cls, state: PublicState, ranges: Sequence[Floats] | None) -> "PublicBelief":
        """A public belief state from ranges up to a factor; None for hands as they were dealt.

        Raises:
            GameError: ranges of another length, negative or not finite.
        """
        possible = possible_hands(state.weight)
        given = possible if ranges is None else tuple(np.asarray(own, np.float64) for own in ranges)
        for own, can in zip(given, possible, strict=True):
            if own.shape != can.shape or not (np.isfinite(own) & (own >= 0)).all():
                raise GameError(f"a range at {state.node!r} must be {len(can)} numbers >= 0, not {own!r}")
        first, second = (normalised_range(own, can) for own, can in zip(given, possible, strict=True))
        return cls(state, (first, second))

    @property
    def joint(self) -> Floats:
        """The probability of each pair of hands, float64 [H0, H1]; zero where the ranges exclude each other."""
        joint = self.state.weight * np.outer(*self.ranges)
        total = joint.sum()
        return joint / total if total > 0 else joint

    @property
    def beliefs(self) -> tuple[Floats, Floats]:
        """What is believed about each player's hand, float64 [H_i]: the marginals of :attr:`joint`."""
        joint = self.joint
        return np.asarray(joint.sum(axis=1)), np.asarray(joint.sum(axis=0))

    def draw(self, generator: np.random.Generator) -> tuple[int, int]:
        """To the discrete representation: both hands, drawn from the joint distribution with one random number.

        Raises:
            GameError: the ranges exclude each other.
        """
        joint = self.joint
        if not joint.any():
            raise GameError(f"no pair of hands of these ranges is possible at {self.state.node!r}; widen a range")
        first, second = divmod(pick(generator, joint.ravel()), joint.shape[1])
        return first, second

    def after(self, rules: PublicTree, label: int, policy: Floats | None = None) -> "PublicBelief":
        """The public belief state after an action or a chance outcome, by Bayes.

        Args:
            rules: the public-tree rules.
            label: the action, or chance's outcome; of a private action any.
            policy: float64 [A, H], how the player to act plays each hand; needed at a decision.

        Raises:
            GameError: no such action, or no policy.
        """
        visited, successors = self.state.successors(rules)
        if isinstance(visited, Chance):
            labels: list[Hashable] = [outcome for outcome, _ in visited.outcomes]
            return PublicBelief.of(successors[labels.index(label)], self.ranges)
        if not isinstance(visited, Decision) or policy is None or label not in visited.actions:
            raise GameError(f"no action {label!r} with a policy at {self.state.node!r}")
        number = list(visited.actions).index(label)
        played = self.ranges[visited.player] * policy[number]
        if visited.private:
            played = (self.ranges[visited.player] * policy).T.ravel()
        ranges = (played, self.ranges[1]) if visited.player == 0 else (self.ranges[0], played)
        return PublicBelief.of(successors[0 if visited.private else number], ranges)


def possible_hands(weight: Floats) -> tuple[Floats, Floats]:
    """1 for the hands of each player that chance allows, else 0."""
    possible = weight > 0
    return np.asarray(possible.any(axis=1), np.float64), np.asarray(possible.any(axis=0), np.float64)


def normalised_range(own: Floats, possible: Floats) -> Floats:
    """A range that sums to one over possible hands; where it is zero on all of them, every possible hand alike.

    This is the one convention about public states that nobody plays to; the search, self-play and the judge share it.
    """
    kept = own * possible
    total = kept.sum(axis=-1, keepdims=True)
    share: Floats = np.where(total > 0, kept, possible) / np.where(total > 0, total, possible.sum(axis=-1, keepdims=True))
    return share


def pick(generator: np.random.Generator, weights: Floats) -> int:
    """An index by its weight; any of positive weight where rounding leaves none."""
    cumulative = np.cumsum(weights)
    return int(min(np.searchsorted(cumulative, generator.random() * cumulative[-1], side="right"), len(weights) - 1))
