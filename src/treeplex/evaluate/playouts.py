"""Monte Carlo estimates of policy values with standard errors, for large games."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from numbers import Integral
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from treeplex.base.spec import shown, suggests_arguments
from treeplex.engine.sampling.streams import Stream
from treeplex.errors import GameError, PolicyError, SpecError, TreeplexError
from treeplex.forms.compile.rule_errors import failed_rules, said_by
from treeplex.forms.compile.stepping import outcomes, picked, turn_by_turn
from treeplex.forms.policies.remembered import HistoryState
from treeplex.forms.sources.load import load
from treeplex.games.base import CHANCE, TERMINAL, Game, State

PLAYOUTS = 1000
LONGEST = 1_000_000
"""Maximum number of moves of a playout."""
LANE = 1 << 32
"""Stream index of playouts, which differs from training streams, so that policies are tested on new deals."""


class Player(Protocol):
    """Protocol of policies that give action probabilities at a state, such as :class:`treeplex.Policy`."""

    def action_probabilities(self, state: Any, /) -> Mapping[int, float]: ...


@dataclass(frozen=True)
class Estimate:
    """Mean payoffs over playouts, in the game's units.

    Attributes:
        value: mean payoff of each player.
        error: standard error of each mean.
        playouts: number of games played.
    """

    value: tuple[float, ...]
    error: tuple[float, ...]
    playouts: int


@dataclass(frozen=True)
class HeadToHead:
    """Result of a match between two policies with rotated seats.

    Attributes:
        value: mean payoff per game of the first policy, averaged over seats.
        error: its standard error.
        others: mean payoff per game of each opponent.
        seats: mean payoff of the first policy in each seat.
        playouts: number of games played.
    """

    value: float
    error: float
    others: float
    seats: tuple[float, ...]
    playouts: int


@suggests_arguments
def estimate(game: str | Game, policy: Player, *, playouts: int = PLAYOUTS, seed: int = 0) -> Estimate:
    """Estimate every player's payoff in self-play.

    Args:
        game: rules or a spec.
        policy: the policy of all players.
        playouts: number of games, at least 2.
        seed: random seed; equal seeds give equal games.

    Returns:
        Each player's mean payoff with its standard error, in the game's units.

    Raises:
        SpecError: too few playouts.
        GameError: the rules are invalid.
        PolicyError: a policy does not match the game.
    """
    check_playouts(playouts)
    rules = turn_by_turn(load(game).walkable_rules())
    players = [policy] * rules.num_players
    payoffs = np.array([played(rules, players, Stream(seed, number, LANE)) for number in range(playouts)])
    return Estimate(tuple(payoffs.mean(axis=0).tolist()), tuple(standard_errors(payoffs).tolist()), playouts)


@suggests_arguments
def head_to_head(game: str | Game, one: Player, other: Player, *, playouts: int = PLAYOUTS, seed: int = 0) -> HeadToHead:
    """Play one policy against another: ``one`` in one seat and ``other`` in all others, rotating over seats.

    The games of a round (one per seat) share a random stream, so that luck independent of the seating cancels. The standard
    error is that of the mean over rounds.

    Args:
        game: rules or a spec.
        one, other: policies of all players.
        playouts: number of games, rounded up to whole rounds, at least two.
        seed: random seed; equal seeds give equal games.

    Returns:
        The first policy's mean payoff per game with its standard error, in the game's units.

    Raises:
        SpecError: too few playouts.
        GameError: the rules are invalid.
        PolicyError: a policy does not match the game.
    """
    rules = turn_by_turn(load(game).walkable_rules())
    count = rules.num_players

    def play(number: int, seat: int) -> Sequence[float]:
        players = [one if player == seat else other for player in range(count)]
        return played(rules, players, Stream(seed, number, LANE))

    return match_of(play, count, playouts)


def match_of(play: Callable[[int, int], Sequence[float]], count: int, playouts: int) -> HeadToHead:
    """Run a match from a function that plays single games.

    Args:
        play: function from round number and seat of the first policy to all payoffs.
        count: number of players.
        playouts: number of games, rounded up to whole rounds, at least two.

    Returns:
        The first policy's mean payoff per game with its standard error.
    """
    check_playouts(playouts)
    rounds = max(2, -(-playouts // count))
    player_payoffs, others = np.empty((rounds, count)), np.empty((rounds, count))
    for number in range(rounds):
        for seat in range(count):
            payoffs = play(number, seat)
            player_payoffs[number, seat] = payoffs[seat]
            others[number, seat] = (sum(payoffs) - payoffs[seat]) / max(1, count - 1)
    means = player_payoffs.mean(axis=1, keepdims=True)
    return HeadToHead(
        value=float(player_payoffs.mean()),
        error=float(standard_errors(means)[0]),
        others=float(others.mean()),
        seats=tuple(player_payoffs.mean(axis=0).tolist()),
        playouts=rounds * count,
    )


def played(rules: Game, players: Sequence[Player], stream: Stream) -> list[float]:
    """Play one game and return its payoffs.

    Raises:
        GameError: the rules are invalid.
        PolicyError: a policy does not match the game.
    """
    state: State = rules.new_initial_state()
    if any(getattr(player, "members", 1) > 1 for player in players):
        state = cast("State", HistoryState(state))
    try:
        for _ in range(LONGEST):
            actor = state.current_player()
            if actor == TERMINAL:
                return payoffs_of(state, len(players))
            if actor == CHANCE:
                actions, probabilities = outcomes(state)
            elif 0 <= actor < len(players):
                actions, probabilities = distribution_of(players[actor], state)
            else:
                raise GameError(f"current_player() is {actor} at {state!r}; for simultaneous moves use turn_based(game=...)")
            action = actions[picked(probabilities, stream.draw())]
            if actor != CHANCE and action not in state.legal_actions():
                raise PolicyError(
                    f"a policy plays illegal action {action} at {state!r}; legal actions: {list(state.legal_actions())}"
                )
            state = state.child(action)
    except (TreeplexError, MemoryError):
        raise
    except (Exception, SystemExit) as error:
        raise failed_rules(error, f"at {state!r}") from error
    raise GameError(f"a playout of {rules} has not ended after {LONGEST:,} moves; check that every game ends")


def distribution_of(player: Player, state: State) -> tuple[list[int], list[float]]:
    """Return a policy's actions at a state and their probabilities.

    Raises:
        PolicyError: the policy fails, or gives no distribution.
    """
    if not hasattr(player, "action_probabilities"):
        raise PolicyError(
            f"{shown(str(player))} has no action_probabilities(state); convert it with tp.policies.as_policy(game, policy)"
        )
    try:
        probabilities = dict(player.action_probabilities(state))
        total = sum(probabilities.values())
    except (TreeplexError, MemoryError):
        raise
    except (Exception, SystemExit) as error:
        raise PolicyError(f"a policy fails at {state!r}: {said_by(error)}") from error
    if not abs(total - 1.0) <= 1e-6:
        raise PolicyError(f"a policy gives {probabilities} at {state!r}, which is not a distribution")
    return list(probabilities), list(probabilities.values())


def payoffs_of(state: State, players: int) -> list[float]:
    """Return the payoffs at a terminal state; raises :class:`GameError` if they are invalid."""
    payoffs = [float(payoff) for payoff in state.returns()]
    if len(payoffs) != players or not all(map(isfinite, payoffs)):
        raise GameError(f"returns() is {payoffs} at a terminal history; return {players} finite payoffs")
    return payoffs


def standard_errors(samples: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the standard errors of the means of independent samples [K, N], float64 [N]."""
    return np.asarray(samples.std(axis=0, ddof=1) / np.sqrt(len(samples)), np.float64)


def check_playouts(playouts: object) -> None:
    """Check the number of playouts; raise :class:`SpecError` if it is below two."""
    if isinstance(playouts, bool) or not isinstance(playouts, Integral) or int(playouts) < 2:
        raise SpecError(f"playouts must be an integer of at least 2, not {playouts!r}")
