"""A game as a single-agent environment: chance and the other players move until the learner acts or the hand ends."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from treeplex.engine.sampling.streams import Stream
from treeplex.errors import GameError, PolicyError, TreeplexError
from treeplex.evaluate.playouts import payoffs_of
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.rule_errors import failed_rules
from treeplex.forms.compile.stepping import outcomes, picked
from treeplex.forms.policies.neural import NeuralPolicy
from treeplex.forms.policies.sparse import TablePolicy
from treeplex.forms.policies.tabular import Policy
from treeplex.games.base import CHANCE, TERMINAL, Game, State
from treeplex.games.public import State as Place
from treeplex.search.agents.agent import Agent, agent_policy, fork
from treeplex.search.subgames.beliefs import Belief

NOBODY = -9
"""Seat number for no learner: the fixed agent plays all seats."""


class Position(NamedTuple):
    """A decision of the learner, or the end of a hand.

    Attributes:
        infostate: the learner's infostate string; empty at the end of the hand.
        actions: its legal actions; empty at the end of the hand.
        payoffs: payoffs of all players at the end of the hand; otherwise empty.
        after: function from an action's index to the next position; call it at most once, since it advances the other players
            and agents.
    """

    infostate: str
    actions: Sequence[int]
    payoffs: Sequence[float]
    after: Callable[[int], "Position"]


def over(number: int) -> Position:
    """Raise an error: a finished hand has no next position."""
    raise AssertionError("the hand is over at this position")


class World(Protocol):
    """A game with the fixed agent in all seats but one.

    Attributes:
        players: number of players.
        spec: the game's spec; empty if it has none.
    """

    players: int
    spec: str

    def begin(self, seat: int, stream: Stream) -> Position:
        """Start a hand with the learner in a seat; returns its first decision, or the end of the hand if it has none."""
        ...

    def policy_on(self, game: CompiledGame) -> Policy:
        """The fixed agent's policy on the compiled game."""
        ...


class RulesWorld:
    """A game given by rules, with a policy over infostates in all other seats."""

    def __init__(self, rules: Game, fixed: Policy | TablePolicy | NeuralPolicy) -> None:
        """Create the environment from turn-by-turn rules (:func:`treeplex.forms.compile.stepping.turn_by_turn`) and a policy
        for them."""
        self.rules, self.fixed = rules, fixed
        self.players, self.spec = rules.num_players, rules.spec

    def policy_on(self, game: CompiledGame) -> Policy:
        """See :class:`World`.

        Raises:
            PolicyError: the policy does not fit.
        """
        if not isinstance(self.fixed, Policy):
            return self.fixed.on(game)
        if self.fixed.game.identity != game.identity:
            raise PolicyError(f"the policy is for {self.fixed.game}, not for {game}")
        return self.fixed

    def begin(self, seat: int, stream: Stream) -> Position:
        """See :class:`World`.

        Raises:
            GameError, PolicyError: invalid rules, or a policy that does not fit.
        """
        return self._next(self.rules.new_initial_state(), seat, stream)

    def _next(self, state: State, seat: int, stream: Stream) -> Position:
        try:
            while (actor := state.current_player()) != seat:
                if actor == TERMINAL:
                    return Position("", (), payoffs_of(state, self.players), over)
                if actor == CHANCE:
                    actions, probabilities = outcomes(state)
                elif 0 <= actor < self.players:
                    played = self.fixed.action_probabilities(state)
                    actions, probabilities = list(played), list(played.values())
                    if not abs(sum(probabilities) - 1.0) <= 1e-6:
                        raise PolicyError(f"the policy {dict(played)} at {state!r} is not a probability distribution")
                else:
                    raise GameError(
                        f"current_player() is {actor} at {state!r}; with simultaneous moves use turn_based(game=...)"
                    )
                state = state.child(actions[picked(probabilities, stream.draw())])
            legal, here = list(state.legal_actions()), state
            return Position(
                state.information_state_string(seat),
                legal,
                (),
                lambda number: self._next(here.child(legal[number]), seat, stream),
            )
        except (TreeplexError, MemoryError):
            raise
        except (Exception, SystemExit) as error:
            raise failed_rules(error, f"at {state!r}") from error


class TableWorld:
    """A game with public states, with an agent in all other seats."""

    def __init__(self, fixed: Agent, spec: str = "") -> None:
        """Create the environment from an agent."""
        fixed.begin()
        self.fixed, self.game, self.spec = fixed, fixed.game, spec
        self.players = self.game.players

    def policy_on(self, game: CompiledGame) -> Policy:
        """See :class:`World`; queries the agent at every public state, as :func:`agent_policy` does."""
        return agent_policy(fork(self.fixed), game, progress=False)

    def begin(self, seat: int, stream: Stream) -> Position:
        """See :class:`World`."""
        seats = dict[int, Agent]()
        for player in range(self.players):
            if player != seat:
                seats[player] = fork(self.fixed)
                seats[player].begin(player, np.random.default_rng(int(stream.draw() * 2**53)))
        held = Belief.root(self.game).draw(np.random.default_rng(int(stream.draw() * 2**53)))
        return self._next(self.game.first_state(), held, seats, seat, stream)

    def _next(self, state: Place, held: tuple[int, ...], seats: dict[int, Agent], seat: int, stream: Stream) -> Position:
        game = self.game
        while (options := game.options(state)).player != seat:
            if options.player == TERMINAL:
                return Position("", (), game.payoffs(state, held), over)
            if options.player == CHANCE:
                number = picked(game.chances(state, held).tolist(), stream.draw())
            else:
                table = seats[options.player].policy()[:, held[options.player]]
                number = picked((table / table.sum()).tolist(), stream.draw())
            state, held = self._moved(state, held, seats, number)
        here, hands = state, held
        labels = [int(label) for label in options.labels]
        return Position(
            game.infostate_at(state, seat, held[seat]),
            labels,
            (),
            lambda number: self._next(*self._moved(here, hands, seats, number), seats, seat, stream),
        )

    def _moved(
        self, state: Place, held: tuple[int, ...], seats: dict[int, Agent], number: int
    ) -> tuple[Place, tuple[int, ...]]:
        """The state and hands after the event with index ``number``; all agents observe the event."""
        options = self.game.options(state)
        label = options.labels[number]
        if options.private:
            hand = held[options.player] * len(options.labels) + number
            held = tuple(hand if player == options.player else held_hand for player, held_hand in enumerate(held))
            label = options.labels[0]
        for agent in seats.values():
            agent.see(label)
        return self.game.after(state, label), held
