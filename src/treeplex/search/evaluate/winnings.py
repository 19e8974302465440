"""Expected winnings of one agent against another: exact over all public states, or sampled.

Both walk public states, and keep how likely each player makes each of its hands. Played hands are drawn as public states only:
each ends with the expected payoff over all hands that the two could hold there, given what both have shown (imaginary
observations: Bowling, Johanson, Burch and Szafron 2008). That has the expectation of the payoff of hands dealt, and a fraction
of its variance. With values as if all checked down, the worth of what chance and players chose is also replaced by its
mean, as AIVAT does (:mod:`treeplex.search.evaluate.aivat`), but with ranges in place of pairs of hands: O(H) for each thing
that could happen. Cards need no mean over those that could have come: what ranges are worth by checking down is that mean.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.errors import GameError
from treeplex.games.base import CHANCE, TERMINAL
from treeplex.games.public import PublicGame, State, pick
from treeplex.search.agents.agent import Agent, fork
from treeplex.search.evaluate.statistics import half_width


@dataclass(frozen=True)
class Winnings:
    """An agent's winnings against another, in the game's units.

    Attributes:
        values: from seat 0 and from seat 1.
        errors: the standard error of each; 0 where exact.
        hands: played in all, in turn in both seats, each from a deal of its own; 0 where exact.
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
        """The standard error of :attr:`value`; 0 where exact."""
        return float(np.hypot(*self.errors)) / 2

    @property
    def intervals(self) -> tuple[float, float]:
        """Of each value, half the width of its 95% confidence interval: 0 where exact, NaN of too few hands in a seat."""
        first, second = (0.0 if self.exact else half_width(error, self.hands // 2) for error in self.errors)
        return first, second

    @property
    def interval(self) -> float:
        """Half the width of the 95% confidence interval of :attr:`value`: 0 where exact, NaN of too few hands."""
        return 0.0 if self.exact else half_width(self.error, self.hands)

    @property
    def exact(self) -> bool:
        """Whether all public states were walked."""
        return not self.hands


def exact_winnings(agent: Agent, opponent: Agent, *, seed: int = 0, progress: Callable[[], None] = lambda: None) -> Winnings:
    """An agent's exact winnings in each seat, over all public states.

    Args:
        agent, opponent: as they play with this seed's draws; exact of agents that draw nothing.
        seed: of their draws.
        progress: called at each decision.

    Raises:
        GameError: they play different games, or not for two.
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
        found = masses = 0.0
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
                found += walk(after, ahead, following)
        return found * mass / masses  # chance's outcomes are weighted by how many hands they leave

    values = []
    for seat in (0, 1):
        players = seated(agent, opponent, seat, np.random.default_rng(seed))
        state, reached = game.first_state(), list(game.first_ranges())
        values.append(walk(state, players, reached) / met(game, state, reached))
    return Winnings((values[0], values[1]))


@dataclass(frozen=True)
class CheckedDown:
    """A value function of poker for two: what players expect if all check and call from here on, but for hands that are asked
    for chips and lose more by calling than by folding.

    Attributes:
        exact: says of a public state and ranges whether :meth:`treeplex.games.public.PublicGame.pot_shares` are exact there;
            others have no value. None for all.
    """

    exact: Callable[[State, Sequence[Floats]], bool] | None = None

    def __call__(self, game: PublicGame, state: State, reached: Sequence[Floats], player: int) -> float | None:
        """A player's expected payoff at a public state and ranges; None without a value there."""
        if self.exact is not None and not self.exact(state, reached):
            return None
        stakes, bets = game.stakes_at(state), game.bets(state)
        assert stakes is not None
        asked = bets is not None and "fold" in bets.kinds
        seat = game.options(state).player if asked else player
        weights = reached[seat] * game.opposing(state, reached, seat)
        if settled(game, state):
            return float(reached[player] @ game.terminal_values(state, reached, player)) / float(weights.sum())
        win, lose = game.showdown_payoffs(state, seat)
        each = lose + (win - lose) * game.pot_shares(state, reached, seat)
        worth = float(weights @ (np.maximum(each, -stakes.paid[seat]) if asked else each)) / float(weights.sum())
        return worth if seat == player else -worth


def sampled_winnings(
    agent: Agent,
    opponent: Agent,
    hands: int,
    *,
    seed: int = 0,
    values: CheckedDown | None = None,
    progress: Callable[[int, Winnings], None] | None = None,
) -> Winnings:
    """An agent's estimated winnings in each seat, from hands played in alternating seats.

    Args:
        agent, opponent: each hand is a new play of both, so of agents that draw how they play it is the mean over their draws.
        hands: how many, at least 4.
        seed: of all draws.
        values: by which luck is removed; None for none.
        progress: called with the hands played and what is known so far.

    Raises:
        GameError: they play different games, or not for two; or fewer hands.
    """
    game = same_game(agent, opponent)
    if hands < 4:
        raise GameError(f"at least 4 hands are played, two in each seat; not {hands}")
    found: tuple[list[float], list[float]] = ([], [])
    for number in range(hands):
        generator, seat = np.random.default_rng((seed, number)), number % 2
        players = seated(agent, opponent, seat, generator)
        payoff, luck = played_out(players, game.first_state(), game.first_ranges(), seat, generator, values)
        found[seat].append(payoff - luck)
        if progress is not None and number > 2:
            progress(number + 1, winnings_of(found))
    return winnings_of(found)


def played_out(
    players: Sequence[Agent],
    state: State,
    ranges: Sequence[Floats],
    seat: int,
    generator: np.random.Generator,
    values: CheckedDown | None = None,
) -> tuple[float, float]:
    """What a seat gets by one play from a public state on, over all hands that the two could hold, and how much of it was luck.

    Args:
        players: by seat, both where the play stands.
        state, ranges: where that is, and with which ranges, up to a factor.
        seat: whose payoff it is.
        generator: of what is drawn.
        values: what says how much luck there was; None: 0.
    """
    game, reached, luck = players[0].game, list(ranges), 0.0
    before: float | None = None  # cards came, what all was worth
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
    return float(reached[seat] @ game.terminal_values(state, reached, seat)) / met(game, state, reached), luck


def drawn(
    game: PublicGame, state: State, reached: Sequence[Floats], table: Floats | None, generator: np.random.Generator
) -> tuple[int, list[list[Floats]]]:
    """The number of what happens at a public state, and both players' ranges after each thing that could have happened.

    Args:
        game, state: where.
        reached: the ranges there.
        table: how the player to act plays, float64 [A, H]; None where chance moves.
        generator: of the draw.
    """
    options = game.options(state)
    if table is None:
        chosen = pick(generator, game.chances(state, game.draw(state, reached, generator)))
        return chosen, [list(reached)] * len(options.labels)
    played = table * reached[options.player]
    outcomes = [[row if each == options.player else own for each, own in enumerate(reached)] for row in played]
    return pick(generator, played @ game.opposing(state, reached, options.player)), outcomes


def luck_of(
    game: PublicGame, state: State, outcomes: Sequence[Sequence[Floats]], chosen: int, seat: int, values: CheckedDown
) -> float:
    """By how much what happened is worth more to a seat than the mean of all that could have happened; 0 without values there.

    Args:
        game, state: where it happened.
        outcomes: both players' ranges after each thing that could have happened, up to one factor.
        chosen: which one did.
        seat, values: whose worth, and what says it.
    """
    total = masses = own = 0.0
    acting = game.options(state).player
    player = seat if acting == CHANCE else acting  # what an actor's hands win does not depend on what it plays
    for number, (label, ranges) in enumerate(zip(game.options(state).labels, outcomes, strict=True)):
        after = game.after(state, label)
        reached = possible_of(game, after, ranges)
        mass = met(game, after, reached)
        if mass > 0:
            worth = values(game, after, reached, player)
            if worth is None:
                return 0.0
            total, masses, own = total + mass * worth, masses + mass, worth if number == chosen else own
    return (own - total / masses) * (1.0 if player == seat else -1.0)


def possible_of(game: PublicGame, state: State, ranges: Sequence[Floats]) -> list[Floats]:
    """Ranges without hands that a state excludes."""
    return [own * can for own, can in zip(ranges, game.possible(state), strict=True)]


def winnings_of(found: tuple[list[float], list[float]]) -> Winnings:
    """Means and standard errors of payoffs in both seats, at least two in each."""
    means = [float(np.mean(own)) for own in found]
    errors = [float(np.std(own, ddof=1)) / len(own) ** 0.5 for own in found]
    return Winnings((means[0], means[1]), (errors[0], errors[1]), len(found[0]) + len(found[1]))


def same_game(agent: Agent, opponent: Agent) -> PublicGame:
    """The game that both play.

    Raises:
        GameError: they play different ones, or it is not for two.
    """
    for each in (agent, opponent):
        each.begin()
    if agent.game is not opponent.game or agent.game.players != 2:
        raise GameError("winnings are between two agents at one table, of a game for two players")
    return agent.game


def seated(agent: Agent, opponent: Agent, seat: int, generator: np.random.Generator) -> list[Agent]:
    """Both at the beginning of a play, by seat."""
    players = [agent, opponent] if seat == 0 else [opponent, agent]
    for number, player in enumerate(players):
        player.begin(number, np.random.default_rng(generator.integers(2**63)))
    return players


def settled(game: PublicGame, state: State) -> bool:
    """Whether the payoffs of all hands are known at a state."""
    stakes = game.stakes_at(state)
    return game.options(state).player == TERMINAL if stakes is None else stakes.settled


def met(game: PublicGame, state: State, reached: Sequence[Floats]) -> float:
    """The unnormalised joint probability of compatible hands in the ranges."""
    return float(reached[0] @ game.opposing(state, reached, 0))


def few_states(game: PublicGame, most: int = 5000) -> bool:
    """Whether a game has no more public states than this, so that all of them can be walked."""
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
