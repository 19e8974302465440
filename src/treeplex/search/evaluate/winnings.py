"""Expected winnings of one agent against another: exact over all public states, or sampled.

Both methods traverse public states and track each player's reach for every hand. In sampled play only public states are
sampled: each playthrough ends with the expected payoff over all hands that the players could hold (imaginary observations:
Bowling, Johanson, Burch and Szafron 2008). This has the same expectation as the payoff of a dealt hand, but a fraction of its
variance. With check-down values, the value of each choice by chance and players is also replaced by its mean, as in AIVAT
(:mod:`treeplex.search.evaluate.aivat`), but with ranges instead of pairs of hands, in O(H) per outcome. Board cards need no
explicit mean, since a range's check-down value already is that mean.

Most variance comes from late rounds, and the continuations of a hand share the solves of earlier ones. ``splits`` repeats play
from the same public cards and averages; the estimate stays unbiased (splitting, as in rare-event simulation).

A few large pots cause most of the variance. With values, :func:`estimated` samples them more often, with smaller weights.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.errors import GameError
from treeplex.games.base import CHANCE, TERMINAL
from treeplex.games.public import PublicGame, State, pick
from treeplex.search.agents.agent import Agent, fork
from treeplex.search.evaluate.statistics import half_width

MOST_DECISIONS = 32
"""Decisions of the first betting round that are enumerated."""


@dataclass(frozen=True)
class Winnings:
    """An agent's winnings against another, in the game's units.

    Attributes:
        values: winnings in seat 0 and in seat 1.
        errors: standard error of each value; 0 if exact.
        hands: number of hands played, alternating between seats, each with its own deal; 0 if exact.
    """

    values: tuple[float, float]
    errors: tuple[float, float] = (0.0, 0.0)
    hands: int = 0

    @property
    def value(self) -> float:
        """The mean of both seats."""
        return sum(self.values) / 2

    @property
    def error(self) -> float:
        """Standard error of :attr:`value`; 0 if exact."""
        return float(np.hypot(*self.errors)) / 2

    @property
    def intervals(self) -> tuple[float, float]:
        """Half the width of each value's 95% interval: 0 if exact, NaN with too few hands in a seat."""
        first, second = (0.0 if self.exact else half_width(error, self.hands // 2) for error in self.errors)
        return first, second

    @property
    def interval(self) -> float:
        """Half the width of the 95% interval of :attr:`value`: 0 if exact, NaN with too few hands."""
        return 0.0 if self.exact else half_width(self.error, self.hands)

    @property
    def exact(self) -> bool:
        """Whether all public states were enumerated."""
        return not self.hands


def exact_winnings(agent: Agent, opponent: Agent, *, seed: int = 0, progress: Callable[[], None] = lambda: None) -> Winnings:
    """An agent's exact winnings in each seat, over all public states.

    Args:
        agent, opponent: the agents. The result is exact if their policies are deterministic; otherwise it is for one draw.
        seed: random seed for their draws.
        progress: called at each decision.

    Returns:
        The winnings in both seats, in the game's units.

    Raises:
        GameError: they play different games, or the game is not for two players.
    """
    game = same_game(agent, opponent)

    def walk(state: State, players: list[Agent], reached: list[Floats]) -> float:
        mass = met(game, state, reached)
        if not mass > 0:
            return 0.0
        if settled(game, state):
            return float(reached[seat] @ game.terminal_values(state, reached, seat))
        options = game.options(state)
        chance = options.player == CHANCE
        table = None if chance else players[options.player].policy()
        progress()
        total = masses = 0.0
        for number, label in enumerate(options.labels):
            following, after = list(reached), game.after(state, label)
            if table is not None:
                following[options.player] = reached[options.player] * table[number]
            following = possible_of(game, after, following)
            here = met(game, after, following)
            masses += here
            if here > 0:
                ahead = [fork(player) for player in players]
                for player in ahead:
                    player.see(label)
                total += walk(after, ahead, following)
        return total * mass / masses  # chance outcomes are weighted by the mass of hands that remain possible

    values = []
    for seat in (0, 1):
        players = seated(agent, opponent, seat, np.random.default_rng(seed))
        state, reached = game.first_state(), list(game.first_ranges())
        values.append(walk(state, players, reached) / met(game, state, reached))
    return Winnings((values[0], values[1]))


@dataclass(frozen=True)
class CheckedDown:
    """Check-down values in two-player poker: expected payoffs if both check and call, or fold to a bet if that is better.

    Attributes:
        exact: function that returns whether :meth:`treeplex.games.public.PublicGame.pot_shares` are exact for a public state
            and ranges; if not, there is no value. None accepts all states.
    """

    exact: Callable[[State, Sequence[Floats]], bool] | None = None

    def __call__(self, game: PublicGame, state: State, reached: Sequence[Floats], player: int) -> float | None:
        """Return a player's expected payoff at a public state, given ranges; None if there is no value."""
        if self.exact is not None and not self.exact(state, reached):
            return None
        stakes, bets = game.stakes_at(state), game.bets(state)
        assert stakes is not None
        faces_bet = bets is not None and "fold" in bets.kinds
        seat = game.options(state).player if faces_bet else player
        weights = reached[seat] * game.opposing(state, reached, seat)
        if settled(game, state):
            return float(reached[player] @ game.terminal_values(state, reached, player)) / float(weights.sum())
        win, lose = game.showdown_payoffs(state, seat)
        payoffs = lose + (win - lose) * game.pot_shares(state, reached, seat)
        worth = float(weights @ (np.maximum(payoffs, -stakes.paid[seat]) if faces_bet else payoffs)) / float(weights.sum())
        return worth if seat == player else -worth


def sampled_winnings(
    agent: Agent,
    opponent: Agent,
    hands: int,
    *,
    seed: int = 0,
    values: CheckedDown | None = None,
    splits: Sequence[int] = (),
    progress: Callable[[int, Winnings], None] | None = None,
) -> Winnings:
    """Estimate an agent's winnings in each seat from hands played in alternating seats.

    Args:
        agent, opponent: the agents, restarted for each hand, so that random policies are averaged over their draws.
        hands: number of hands, at least 4.
        seed: random seed.
        values: value function for luck adjustment; None for no adjustment.
        splits: number of times each hand is continued from its first, second, ... public cards; after that, once.
        progress: called with the number of hands played and the current estimate.

    Returns:
        The winnings in both seats with standard errors, in the game's units.

    Raises:
        GameError: they play different games, the game is not for two players, or a number is too small.
    """
    game = same_game(agent, opponent)
    if hands < 4:
        raise GameError(f"hands is {hands}; give at least 4, two in each seat")
    if min(splits, default=1) < 1:
        raise GameError(f"splits is {list(splits)}; give numbers of at least 1")
    payoffs: tuple[list[float], list[float]] = ([], [])
    for number in range(hands):
        generator, seat = np.random.default_rng((seed, number)), number % 2
        players = seated(agent, opponent, seat, generator)
        if values is None:
            state, ranges = game.first_state(), game.first_ranges()
            payoffs[seat].append(played_out(players, state, ranges, seat, generator, splits=splits, game=game)[0])
        else:
            payoffs[seat].append(estimated(players, seat, generator, values, splits, game))
        if progress is not None and number > 2:
            progress(number + 1, winnings_of(payoffs))
    return winnings_of(payoffs)


def played_out(
    players: Sequence[Agent],
    state: State,
    ranges: Sequence[Floats],
    seat: int,
    generator: np.random.Generator,
    values: CheckedDown | None = None,
    splits: Sequence[int] = (),
    game: PublicGame | None = None,
) -> tuple[float, float]:
    """Play from a public state; returns a seat's payoff, averaged over all possible hands and all splits, and its luck.

    Args:
        players: the agents by seat, at the current state.
        state, ranges: the current state, and unnormalised ranges at this state.
        seat: the seat whose payoff is returned.
        generator: random generator for the playthrough.
        values: value function for luck; None for luck 0.
        splits: see :func:`sampled_winnings`.
        game: the game of the state; None for that of the first player. A player's own game may become smaller during the hand.
    """
    game, reached, luck = game or players[0].game, list(ranges), 0.0
    before: float | None = None  # value of the state before the cards were dealt
    while not settled(game, state):
        options = game.options(state)
        table = None if options.player == CHANCE else players[options.player].policy()
        chosen, outcomes = drawn(game, state, reached, table, generator)
        if values is not None and table is not None:
            luck, before = luck + luck_of(game, state, outcomes, chosen, seat, values), None
        elif values is not None and before is None:
            before = values(game, state, reached, seat)
        for player in players:
            player.see(options.labels[chosen])
        state = game.after(state, options.labels[chosen])
        reached = possible_of(game, state, outcomes[chosen])
        if values is not None and before is not None and (worth := values(game, state, reached, seat)) is not None:
            luck, before = luck + worth - before, None
        if splits and table is None and game.options(state).player != CHANCE and not settled(game, state):
            times, *later = splits
            played = [
                played_out([fork(player) for player in players], state, reached, seat, generator, values, later, game)
                for _ in range(times)
            ]
            payoff, more_luck = np.mean(played, axis=0).tolist()
            return payoff, luck + more_luck
    return payoff_of(game, state, reached, seat), luck


@dataclass(frozen=True)
class Line:
    """A line of play and its end.

    Attributes:
        players: the agents by seat, at its end.
        state, ranges: the public state, and unnormalised ranges there.
        mass: the unnormalised probability.
    """

    players: Sequence[Agent]
    state: State
    ranges: Sequence[Floats]
    mass: float


def estimated(
    players: list[Agent],
    seat: int,
    generator: np.random.Generator,
    values: CheckedDown,
    splits: Sequence[int],
    game: PublicGame,
) -> float:
    """An unbiased estimate of a seat's payoff, less luck, from one playthrough that favours large pots.

    It is the mean value over all lines of the first betting round, plus the weighted error of one of these values (importance
    sampling). This line is drawn by its probability times the pot. Where a hand is over or all-in, the value is exact.

    Args:
        players: the agents by seat, at the start.
        seat, generator, values, splits, game: see :func:`played_out`.
    """
    state, ranges = game.first_state(), game.first_ranges()
    start = Line(players, state, ranges, met(game, state, ranges))
    payoff, ahead, weights, expected = 0.0, list[Line](), list[float](), list[float]()
    for line in lines_of(start, game):
        if settled(game, line.state):
            payoff += line.mass / start.mass * payoff_of(game, line.state, line.ranges, seat)
            continue
        worth = values(game, line.state, line.ranges, seat)
        payoff += line.mass / start.mass * (worth or 0.0)
        if worth is None or not only_chance(game, line.state):
            ahead.append(line)
            weights.append(line.mass * pot_of(game, line.state))
            expected.append(worth or 0.0)
    if not ahead:
        return payoff
    chosen = pick(generator, np.array(weights))
    line, share = ahead[chosen], weights[chosen] / sum(weights)
    found, luck = played_out(line.players, line.state, line.ranges, seat, generator, values, splits, game)
    return payoff + line.mass / start.mass / share * (found - luck - expected[chosen])


def lines_of(line: Line, game: PublicGame) -> list[Line]:
    """Continuations of positive probability: up to the next public cards or the end of the hand, or to a decision.

    At most :data:`MOST_DECISIONS` decisions are enumerated, those with the largest probability times pot first.
    """
    ends, waiting, decisions, numbers = list[Line](), [(0.0, 0, line)], 0, count(1)
    while waiting and decisions < MOST_DECISIONS:
        _, _, first = heappop(waiting)
        options = game.options(first.state)
        if settled(game, first.state) or options.player == CHANCE:
            ends.append(first)
            continue
        decisions += 1
        table = first.players[options.player].policy()
        for number, label in enumerate(options.labels):
            ranges = list(first.ranges)
            ranges[options.player] = ranges[options.player] * table[number]
            if not ranges[options.player].any():
                continue
            after = game.after(first.state, label)
            ranges = possible_of(game, after, ranges)
            if (mass := met(game, after, ranges)) > 0:
                players = [fork(player) for player in first.players]
                for player in players:
                    player.see(label)
                heappush(waiting, (-mass * pot_of(game, after), next(numbers), Line(players, after, ranges, mass)))
    return ends + [each for _, _, each in waiting]


def pot_of(game: PublicGame, state: State) -> float:
    """The chips that both players have matched; 1 in games that are not poker."""
    stakes = game.stakes_at(state)
    return sum(stakes.paid) if stakes else 1.0


def payoff_of(game: PublicGame, state: State, reached: Sequence[Floats], seat: int) -> float:
    """A seat's expected payoff at a settled state."""
    return float(reached[seat] @ game.terminal_values(state, reached, seat)) / met(game, state, reached)


def only_chance(game: PublicGame, state: State) -> bool:
    """Whether no player acts again, as after an all-in."""
    while not settled(game, state):
        options = game.options(state)
        if options.player != CHANCE:
            return False
        state = game.after(state, options.labels[0])
    return True


def drawn(
    game: PublicGame, state: State, reached: Sequence[Floats], table: Floats | None, generator: np.random.Generator
) -> tuple[int, list[list[Floats]]]:
    """Sample the next event; returns its index, and both players' ranges after each possible event.

    Args:
        game, state: the public state.
        reached: the ranges at this state.
        table: policy of the player to act, float64 [A, H]; None for chance.
        generator: random generator for the draw.
    """
    options = game.options(state)
    if table is None:
        chosen = pick(generator, game.chances(state, game.draw(state, reached, generator)))
        return chosen, [list(reached)] * len(options.labels)
    played = table * reached[options.player]
    outcomes = [[row if other == options.player else weights for other, weights in enumerate(reached)] for row in played]
    return pick(generator, played @ game.opposing(state, reached, options.player)), outcomes


def luck_of(
    game: PublicGame, state: State, outcomes: Sequence[Sequence[Floats]], chosen: int, seat: int, values: CheckedDown
) -> float:
    """Luck of a seat: the value of an event minus the mean over all possible events; 0 if there are no values.

    Args:
        game, state: the public state before the event.
        outcomes: both players' ranges after each possible event, with a common factor.
        chosen: index of the actual event.
        seat, values: the seat, and the value function.
    """
    total = masses = realised = 0.0
    acting = game.options(state).player
    player = seat if acting == CHANCE else acting  # a hand's value does not depend on its own policy
    for number, (label, ranges) in enumerate(zip(game.options(state).labels, outcomes, strict=True)):
        after = game.after(state, label)
        reached = possible_of(game, after, ranges)
        mass = met(game, after, reached)
        if mass > 0:
            worth = values(game, after, reached, player)
            if worth is None:
                return 0.0
            total, masses, realised = total + mass * worth, masses + mass, worth if number == chosen else realised
    return (realised - total / masses) * (1.0 if player == seat else -1.0)


def possible_of(game: PublicGame, state: State, ranges: Sequence[Floats]) -> list[Floats]:
    """Set the ranges of hands that are impossible at a state to zero."""
    return [weights * can for weights, can in zip(ranges, game.possible(state), strict=True)]


def winnings_of(payoffs: tuple[list[float], list[float]]) -> Winnings:
    """Means and standard errors of payoffs in both seats, with at least two payoffs each."""
    means = [float(np.mean(samples)) for samples in payoffs]
    errors = [float(np.std(samples, ddof=1)) / len(samples) ** 0.5 for samples in payoffs]
    return Winnings((means[0], means[1]), (errors[0], errors[1]), len(payoffs[0]) + len(payoffs[1]))


def same_game(agent: Agent, opponent: Agent) -> PublicGame:
    """The game that both agents play.

    Raises:
        GameError: they play different games, or the game is not for two players.
    """
    for player in (agent, opponent):
        player.begin()
    if agent.game is not opponent.game or agent.game.players != 2:
        raise GameError("winnings need two agents of the same two-player game")
    return agent.game


def seated(agent: Agent, opponent: Agent, seat: int, generator: np.random.Generator) -> list[Agent]:
    """Both agents in seat order, at the start of a playthrough."""
    players = [agent, opponent] if seat == 0 else [opponent, agent]
    for number, player in enumerate(players):
        player.begin(number, np.random.default_rng(generator.integers(2**63)))
    return players


def settled(game: PublicGame, state: State) -> bool:
    """Whether a state already determines the payoffs of all hands."""
    stakes = game.stakes_at(state)
    return game.options(state).player == TERMINAL if stakes is None else stakes.settled


def met(game: PublicGame, state: State, reached: Sequence[Floats]) -> float:
    """The unnormalised joint probability of compatible hands in the ranges."""
    return float(reached[0] @ game.opposing(state, reached, 0))


def few_states(game: PublicGame, most: int = 5000) -> bool:
    """Whether a game has at most ``most`` public states, so that all can be enumerated."""
    waiting, seen = [game.first_state()], 0
    while waiting:
        state = waiting.pop()
        seen += 1
        if not settled(game, state):
            labels = game.options(state).labels
            if seen + len(waiting) + len(labels) > most:
                return False
            waiting += [game.after(state, label) for label in labels]
    return True
