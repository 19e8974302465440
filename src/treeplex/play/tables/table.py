"""Tables at which a person plays against a policy or against an agent."""

import re
from collections.abc import Callable
from typing import Protocol, final

import numpy as np

from treeplex.evaluate.match.agents import Agent, Thought
from treeplex.forms.compile.stepping import outcomes, picked, turn_by_turn
from treeplex.forms.subgames.beliefs import Belief
from treeplex.games.base import CHANCE, Game, State
from treeplex.games.public import PublicGame, pick
from treeplex.games.public import State as PublicState
from treeplex.search.subgame_agent import SubgameAgent

Options = dict[int, str]
TYPED = re.compile(r"(?:(?:b|bet|r|raise)(?: *to)? *)?(\d{1,3}(?:,\d{3}){1,3}|\d{1,12}(?:\.\d{1,9})?|\.\d{1,9}) *(%?)")
"""A bet as people type it: ``1500``, ``b1500``, ``raise to 4,000``, ``bet 75%``."""


class Table(Protocol):
    """A game under way; chance has always moved already."""

    players: int

    def begin(self, person: int = 0) -> None:
        """Deal a new game, in which a person has this seat."""

    @property
    def actor(self) -> int | None:
        """Whose turn it is; None when the game is over."""

    def seat(self, player: int) -> str:
        """What a player is called."""
        return f"player {player}"

    def view(self, player: int) -> str:
        """What a player who is to act knows, for people to read."""

    def picture(self) -> str | None:
        """What everybody sees, as lines of text; None where the rules draw nothing."""

    def options(self) -> Options:
        """Names of the legal actions, by id."""

    def named(self, text: str) -> int | None:
        """The action that a person means by a text which is none of those names; None if it means nothing.

        Raises:
            GameError: an action that the rules do not have here; the message says what they have.
            SpecError: too little memory for it.
        """
        return None

    def reply(self) -> int:
        """The action of a player that no person plays."""

    def thought(self) -> Thought | None:
        """How the last reply was found, where that took a search that was not told of before."""
        return None

    def seen_by(self, player: int) -> bool:
        """Whether this player sees which action is played now."""

    def play(self, action: int) -> None:
        """Play an action."""

    def returns(self) -> list[float]:
        """Everybody's payoff, once the game is over."""

    def outcome(self, player: int) -> str:
        """What the game's end means to a player, in words."""
        return payoff_text(self.returns()[player])

    def shown(self) -> list[str]:
        """What everybody knew at the last decision."""

    def review(self, player: int) -> list[str]:
        """What there is to say about a player's decisions once the game is over, as lines of text."""
        return []


def payoff_text(payoff: float) -> str:
    """A payoff in words."""
    return f"you win {payoff:g}" if payoff > 0 else f"you lose {-payoff:g}" if payoff < 0 else "nobody wins"


Reply = Callable[[State], dict[int, float]]
"""How the player to act plays: probabilities by action."""


@final
class RulesTable(Table):
    """Any rules, against a policy. Simultaneous moves are made one after another, in secret."""

    def __init__(self, game: Game, reply: Reply, generator: np.random.Generator) -> None:
        self._rules, self._reply, self._generator = turn_by_turn(game), reply, generator
        self.players = game.num_players
        self.begin()

    def begin(self, person: int = 0) -> None:
        self._state: State = self._rules.new_initial_state()
        self._last = [""] * self.players
        self._chance()

    @property
    def actor(self) -> int | None:
        return None if self._state.is_terminal() else int(self._state.current_player())

    def view(self, player: int) -> str:
        return self._state.knowledge(player).strip()

    def picture(self) -> str | None:
        return self._state.picture()

    def options(self) -> Options:
        return {int(action): self._state.action_to_string(action) for action in self._state.legal_actions()}

    def reply(self) -> int:
        chances = self._reply(self._state)
        return list(chances)[picked(list(chances.values()), self._generator.random())]

    def seen_by(self, player: int) -> bool:
        after = [self._state.child(action) for action in self._state.legal_actions()]
        known = [state for state in after if not (state.is_terminal() or state.is_chance_node())]
        return len({state.information_state_string(player) for state in known}) == len(known)

    def play(self, action: int) -> None:
        self._last = [self.view(player) for player in range(self.players)]
        self._state = self._state.child(action)
        self._chance()

    def returns(self) -> list[float]:
        return [float(payoff) for payoff in self._state.returns()]

    def shown(self) -> list[str]:
        return self._last

    def _chance(self) -> None:
        while not self._state.is_terminal() and self._state.is_chance_node():
            actions, chances = outcomes(self._state)
            self._state = self._state.child(actions[picked(chances, self._generator.random())])


class Thoughts:
    """What an agent that searches has thought, each thought told once."""

    def __init__(self, agent: Agent) -> None:
        self._agent, self._told = agent, getattr(agent, "thought", None)

    def new(self) -> Thought | None:
        """The last thought, if it took a search and has not been told."""
        found: Thought | None = getattr(self._agent, "thought", None)
        told, self._told = self._told, found
        return found if found is not None and found is not told and found.iterations else None


@final
class AgentTable(Table):
    """Any game with public states, against an agent in all other seats.

    A bet that the game leaves out can be typed where the agent can :meth:`SubgameAgent.add` it; then the play goes on in
    another version of the game, the agent's.
    """

    def __init__(self, agent: Agent, generator: np.random.Generator) -> None:
        self._agent, self._generator, self._thoughts = agent, generator, Thoughts(agent)
        self.players = agent.game.players
        self.begin()

    @property
    def _game(self) -> PublicGame:
        return self._agent.game

    @property
    def _state(self) -> PublicState:
        return self._agent.state

    def begin(self, person: int = 0) -> None:
        self._agent.begin(1 - person if self.players == 2 else None)
        self._hands = list(Belief.root(self._game).draw(self._generator))
        self._last = [""] * self.players
        self._chance()

    @property
    def actor(self) -> int | None:
        player = self._game.options(self._state).player
        return player if player >= 0 else None

    def view(self, player: int) -> str:
        return self._game.knowledge_at(self._state, player, self._hands[player]).strip()

    def picture(self) -> str | None:
        return self._game.picture_of(self._state)

    def options(self) -> Options:
        labels = self._game.options(self._state).labels
        return {int(label): self._game.action_name(self._state, label) for label in labels}

    def reply(self) -> int:
        actor = self.actor
        assert actor is not None
        return self._agent.act(self._hands[actor])

    def thought(self) -> Thought | None:
        return self._thoughts.new()

    def seen_by(self, player: int) -> bool:
        return not self._game.options(self._state).private

    def play(self, action: int) -> None:
        options = self._game.options(self._state)
        self._last = [self.view(player) for player in range(self.players)]
        if options.private:
            hand, number = self._hands[options.player], list(options.labels).index(action)
            self._hands[options.player] = hand * len(options.labels) + number
        self._agent.see(options.labels[0] if options.private else action)
        self._chance()

    def returns(self) -> list[float]:
        return list(self._game.payoffs(self._state, self._hands))

    def shown(self) -> list[str]:
        return self._last

    def named(self, text: str) -> int | None:
        match = TYPED.fullmatch(text)
        if match is None or match[2] or self._game.bets(self._state) is None or not isinstance(self._agent, SubgameAgent):
            return None
        return self._agent.add(float(match[1].replace(",", "")))

    def _chance(self) -> None:
        while (options := self._game.options(self._state)).player == CHANCE:
            self._agent.see(options.labels[pick(self._generator, self._game.chances(self._state, self._hands))])
