"""AIVAT: unbiased, luck-adjusted payoffs of a hand (Burch, Schmid, Moravčík, Morrill and Bowling 2018).

If an agent reports its policy, its probability of playing the same way is known for every hand that it might have held. This
has two uses. First, the payoff can be averaged over these hands, weighted by the agent's range at the end (imaginary
observations). Second, wherever chance or such an agent chose at random, the value of the choice under any value function v can
be replaced by the mean value over all choices. Let h range over the hands of these agents (the others' hands are fixed), let w
be the weights of hands at public states s, and let s' be the state after s:

    AIVAT = V(z) + sum over s of chance and known agents ( sum over c of P(c | s) V(s c) - V(s') ),
    V(s) = sum over h of w(s, h) v(s, h) / sum over h of w(s, h),  at the end z with the payoff for v.

The deal is one such choice. For any v, every term in brackets has mean zero given the past; a more accurate v removes more
luck. The weights must come from the policies that were actually played, including searches; otherwise the estimate is biased.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from math import prod
from typing import Protocol

import numpy as np

from treeplex.base.arrays import Floats, Ints
from treeplex.base.spec import shown
from treeplex.errors import AlgorithmError, GameError
from treeplex.forms.policies.tabular import Policy
from treeplex.forms.sources.load import public_game
from treeplex.games.base import CHANCE, TERMINAL, Game
from treeplex.games.public import PublicGame, PublicState, State
from treeplex.search.evaluate.play import PlayedHand
from treeplex.search.subgames.beliefs import moved_range
from treeplex.search.subgames.policy_tables import table_at

Held = tuple[slice, ...]
MOST_WEIGHTS, MOST_WALKED = 2_000_000, 2_000
"""Maximum number of combinations of hands to average over: if computed together, and if requested one by one."""


class ValueFunction(Protocol):
    """A function that estimates players' expected payoffs; any is valid, and more accurate ones remove more luck."""

    def __call__(self, state: State, held: Held, /) -> Floats:
        """Return each player's expected payoff at a public state for every combination of hands.

        Args:
            state: a state of the game.
            held: for each player a slice of its hands: one hand, or all.

        Returns:
            float64 [N, ...], with an axis for each player's hands.
        """
        ...


class PolicyValues:
    """Value function of a policy: exact expected payoffs if all players follow it.

    Each public state is evaluated once for all combinations of hands, so the public tree must be small enough to traverse.
    """

    def __init__(self, rules: PublicGame | str | Game, policy: Policy) -> None:
        """Create the value function of a policy; the game may be given as public states, a spec or rules.

        Raises:
            GameError: there are too many combinations of hands.
        """
        rules = public_game(rules)
        sizes = [len(weights) for weights in rules.first_ranges()]
        if prod(sizes) > MOST_WEIGHTS:
            raise GameError(
                f"{prod(sizes):,} combinations of hands are too many for exact values; use zero, or a custom value function"
            )
        self.rules, self.policy = rules, policy
        self._everything = (slice(None),) * rules.players
        self._known: dict[object, Floats] = {}

    def __call__(self, state: State, held: Held, /) -> Floats:
        """See :class:`ValueFunction`."""
        return self._worth(state)[:, *held]

    def _worth(self, state: State) -> Floats:
        """Expected payoffs for every combination of hands, float64 [N, H_0, H_1, ...]."""
        key = state.node if isinstance(state, PublicState) else state
        if key not in self._known:
            self._known[key] = self._worked_out(state)
        return self._known[key]

    def _worked_out(self, state: State) -> Floats:
        rules, options, everything = self.rules, self.rules.options(state), self._everything
        if options.player == TERMINAL:
            return payoff_table(rules, state, everything)
        if options.player == CHANCE:
            shares = chance_table(rules, state, everything)
            return self._mixed(state, options.labels, shares)
        table, player, axes = table_at(self.policy, rules, state), options.player, rules.players
        if options.private:  # each private action is represented as a hand here
            after = np.moveaxis(self._worth(rules.after(state, options.labels[0])), 1 + player, 0)
            split = after.reshape(table.shape[1], len(table), -1)
            mixed = np.einsum("ah,hao->ho", table, split).reshape(table.shape[1], *after.shape[1:])
            return np.moveaxis(mixed, 0, 1 + player)
        shape = [1] * axes
        shape[player] = -1
        return self._mixed(state, options.labels, table.reshape(len(table), *shape))

    def _mixed(self, state: State, labels: Sequence[int], shares: Floats) -> Floats:
        """Policy-weighted mean value of the next states."""
        total: Floats = np.zeros(1)
        for share, label in zip(shares, labels, strict=True):
            if share.any():
                total = total + share * self._worth(self.rules.after(state, label))
        return total


class Aivat:
    """Computes luck-adjusted payoffs of hands.

    Attributes:
        game: the game.
        values: a value function; None for zero, so that payoffs are only averaged over the hands that might have been held.
        known: the seats whose policies are used; None for all. With a value function, each of them must report its policy at
            every decision, since a selection that depends on the hand would bias the mean. Without a value function, None
            selects the seats that report their policies.
    """

    def __init__(
        self, game: PublicGame | str | Game, values: ValueFunction | None = None, *, known: Iterable[int] | None = None
    ) -> None:
        """Create the estimator for a game (public states, a spec or rules) and a value function."""
        self.game, self.values = public_game(game), values
        self.known = None if known is None else tuple(known)

    @cached_property
    def expected(self) -> Floats:
        """Mean of the value function over all deals, float64 [N]."""
        assert self.values is not None
        state = self.game.first_state()
        everything = tuple(slice(None) for _ in range(self.game.players))
        weights = self.game.joint(state, self.game.first_ranges())
        return mean(weights, checked_values(self.values, state, everything, weights))

    def __call__(self, hand: PlayedHand) -> Floats:
        """Return luck-adjusted payoffs, float64 [N], an unbiased estimate of the mean payoffs.

        Raises:
            GameError: the hand is unfinished, an action has zero probability under its policy, or a known seat did not report
                policy.
            AlgorithmError: the value function returns a wrong shape, or values that are not finite.
        """
        if hand.payoffs is None:
            raise GameError("an unfinished hand has no value; leave it out")
        walk = ReplayedHand(self.game, hand.dealt, self._averaged(hand))
        corrections = np.zeros(self.game.players)
        if self.values is not None:
            corrections += self.expected - walk.worth(self.values)
        for step in hand.steps:
            options = self.game.options(walk.state)
            known = options.player == CHANCE or self._knows(options.player)
            hidden = options.private and options.player in walk.averaged
            if self.values is not None and known and not hidden:
                corrections += walk.mean_after(self.values, step.policy)
            walk.move(step.number, step.policy)
            if self.values is not None and known and not hidden:
                corrections -= walk.worth(self.values)
        return mean(walk.weights(), payoff_table(self.game, walk.state, walk.held, walk.weights())) + corrections

    def _knows(self, seat: int) -> bool:
        return self.known is None or seat in self.known

    def _averaged(self, hand: PlayedHand) -> tuple[int, ...]:
        """Seats whose hands are averaged over: those that always reported a policy, if there are few enough combinations.

        An agent that never acted counts as one that reported its policy.

        Raises:
            GameError: a known seat did not report its policy, and there is a value function.
        """
        game, state, silent = self.game, self.game.first_state(), set[int]()
        for step in hand.steps:
            options = game.options(state)
            if options.player != CHANCE and step.policy is None:
                silent.add(options.player)
                if self.values is not None and self._knows(options.player):
                    raise unknown_policy(options.player)
            state = game.after(state, options.labels[0 if options.private else step.number])
        sizes = [len(hands) for hands in game.possible(state)]
        together = game.many_at_once and prod(sizes) <= MOST_WEIGHTS
        most = MOST_WEIGHTS if together else MOST_WALKED
        averaged: list[int] = []
        for seat in range(game.players):
            if self._knows(seat) and seat not in silent and prod(sizes[other] for other in (*averaged, seat)) <= most:
                averaged.append(seat)
        return tuple(averaged)


class ReplayedHand:
    """A hand being replayed, with the weights of all hands that might have been held.

    Attributes:
        state: the current public state.
        averaged: the seats whose hands are averaged over; the others' hands are fixed.
        held: for each player a slice of its hands.
        ranges: float64 [H] for each player, the range given its actions so far.
    """

    def __init__(self, game: PublicGame, dealt: Sequence[int], averaged: tuple[int, ...]) -> None:
        self.game, self.state, self.averaged, self._hands = game, game.first_state(), averaged, list(dealt)
        self.ranges = [np.array(weights, np.float64) for weights in game.first_ranges()]
        for player in range(game.players):
            if player not in averaged:
                self._hold(player, dealt[player], len(self.ranges[player]))

    @property
    def held(self) -> Held:
        return tuple(
            slice(None) if player in self.averaged else slice(hand, hand + 1) for player, hand in enumerate(self._hands)
        )

    def _hold(self, player: int, hand: int, size: int) -> None:
        self._hands[player] = hand
        self.ranges[player] = np.zeros(size)
        self.ranges[player][hand] = 1.0

    def weights(self) -> Floats:
        """The unnormalised weight of every combination of hands, with an axis for each player."""
        game, state, ranges = self.game, self.state, self.ranges
        if len(self.averaged) != 1:
            return np.asarray(game.joint(state, ranges)[self.held])
        (player,) = self.averaged  # avoids enumerating pairs of hands
        beliefs = ranges[player] * game.possible(state)[player] * game.opposing(state, ranges, player)
        return np.asarray(beliefs.reshape([-1 if seat == player else 1 for seat in range(game.players)]))

    def worth(self, values: ValueFunction) -> Floats:
        """Return V(s) as defined in the module docstring, float64 [N]."""
        weights = self.weights()
        return mean(weights, checked_values(values, self.state, self.held, weights))

    def mean_after(self, values: ValueFunction, policy: Floats | None) -> Floats:
        """The mean value over all next states, float64 [N].

        Args:
            values: value function of public states.
            policy: policy of the player to act, float64 [A, H]; None for chance.
        """
        game, state, held, weights = self.game, self.state, self.held, self.weights()
        options, total = game.options(state), np.zeros(self.game.players)
        if policy is None:
            shares = chance_table(game, state, held, weights)
        else:
            shape = [1] * game.players
            shape[options.player] = -1
            shares = np.stack([row[held[options.player]].reshape(shape) for row in policy])
        for number, (share, label) in enumerate(zip(shares, options.labels, strict=True)):
            after = held
            if options.private:
                hand, player = self._hands[options.player] * len(options.labels) + number, options.player
                after, label = (*held[:player], slice(hand, hand + 1), *held[player + 1 :]), options.labels[0]
            weighted = weights * share
            if weighted.any():
                after_event = checked_values(values, game.after(state, label), after, weights)
                total += (weighted * after_event).reshape(game.players, -1).sum(axis=1)
        return np.asarray(total / weights.sum())

    def move(self, number: int, policy: Floats | None) -> None:
        """Advance by the actual action or chance outcome.

        Raises:
            GameError: the action has zero probability under the player's policy.
        """
        options = self.game.options(self.state)
        player = options.player
        if player != CHANCE:
            if player in self.averaged:
                assert policy is not None
                self.ranges[player] = moved_range(self.ranges[player], policy, number, private=options.private)
            if options.private:
                hand, actions = self._hands[player] * len(options.labels) + number, len(options.labels)
                self._hands[player] = hand
                if player not in self.averaged:
                    self._hold(player, hand, len(self.ranges[player]) * actions)
        self.state = self.game.after(self.state, options.labels[0 if options.private else number])
        if not self.weights().any():
            raise GameError(
                f"an action has zero probability under every known policy: {self.game.name_of(self.state)}; record the policies"
            )


def unknown_policy(seat: int) -> GameError:
    """Error for a hand in which a known seat did not report its policy."""
    return GameError(f"player {seat} acted without reporting its policy; give known=, the seats whose policies are recorded")


def checked_values(function: ValueFunction, state: State, held: Held, weights: Floats) -> Floats:
    """The value function at a state, [N, ...], for combinations of hands with these weights; an axis may have length 1 instead.

    Raises:
        AlgorithmError: a wrong shape, or values that are not finite.
    """
    values: object = function(state, held)
    try:
        table = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        table = np.empty(0)
    shape = weights.ndim, *weights.shape
    fits = table.ndim == len(shape) and len(table) == weights.ndim
    if not fits or any(given not in (1, size) for given, size in zip(table.shape[1:], weights.shape, strict=True)):
        given = f"an array of shape {values.shape}" if isinstance(values, np.ndarray) else shown(repr(values))
        raise AlgorithmError(f"a value function returned {given}; return float64 values of shape {shape}")
    if not np.isfinite(table).all():
        raise AlgorithmError("a value function returned values that are not finite")
    return table


def mean(weights: Floats, values: Floats) -> Floats:
    """The weighted means of values [N, ...], float64 [N]."""
    return np.asarray((weights * values).reshape(len(values), -1).sum(axis=1) / weights.sum())


def payoff_table(game: PublicGame, state: State, held: Held, weights: Floats | None = None) -> Floats:
    """Terminal payoffs for every combination of hands, float64 [N, ...].

    Args:
        game: the game.
        state: a terminal state.
        held: for each player a slice of its hands.
        weights: weights of the combinations, with one axis per player; payoffs of combinations with zero weight may be left at
            0. None computes all payoffs.
    """
    weights = game.joint(state, game.possible(state))[held] if weights is None else weights
    payoffs = np.zeros((*weights.shape, game.players))
    places, deals = combinations_of(held, weights)
    payoffs[places] = game.payoffs_of(state, deals)
    return np.moveaxis(payoffs, -1, 0)


def chance_table(game: PublicGame, state: State, held: Held, weights: Floats | None = None) -> Floats:
    """Chance probabilities of the labels for every combination of hands, float64 [labels, ...]."""
    weights = game.joint(state, game.possible(state))[held] if weights is None else weights
    chances = np.zeros((*weights.shape, len(game.options(state).labels)))
    places, deals = combinations_of(held, weights)
    chances[places] = game.chances_of(state, deals)
    return np.moveaxis(chances, -1, 0)


def combinations_of(held: Held, weights: Floats) -> tuple[tuple[Ints, ...], Ints]:
    """Array indices of the combinations of hands with positive weight, and the hands, int64 [D, N]."""
    places = np.argwhere(weights > 0)
    return tuple(places.T), places + np.array([hands.start or 0 for hands in held])
