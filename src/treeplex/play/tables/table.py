"""Tables at which a person plays against a policy or against an agent that searches."""

from collections.abc import Callable
from typing import Protocol, final

import numpy as np

from treeplex.evaluate.match.agents import Agent
from treeplex.forms.compile.stepping import outcomes, picked, turn_by_turn
from treeplex.games.base import Game, State
from treeplex.games.public import Chance, Decision, Leaf, PublicTree

Options = dict[int, str]


class Table(Protocol):
    """A game under way; chance has always moved already."""

    players: int

    def begin(self) -> None:
        """Deal a new game."""

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

    def begin(self) -> None:
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


@final
class SearchTable(Table):
    """Public-tree rules, against an agent."""

    players = 2

    def __init__(self, rules: PublicTree, agent: Agent, generator: np.random.Generator) -> None:
        self._rules, self._agent, self._generator = rules, agent, generator
        self.begin()

    def begin(self) -> None:
        self._agent.begin()
        prior = np.asarray(self._rules.prior)
        dealt = picked([float(chance) for chance in prior.ravel()], self._generator.random())
        self._hands = list(divmod(dealt, prior.shape[1]))
        self._node = self._rules.root
        self._last = ["", ""]
        self._chance()

    @property
    def actor(self) -> int | None:
        visited = self._rules.visit(self._node)
        return visited.player if isinstance(visited, Decision) else None

    def view(self, player: int) -> str:
        return self._rules.knowledge(self._node, player, self._hands[player]).strip()

    def picture(self) -> str | None:
        return self._rules.picture(self._node)

    def options(self) -> Options:
        visited = self._rules.visit(self._node)
        assert isinstance(visited, Decision)
        return {int(action): self._rules.action_to_string(self._node, action) for action in visited.actions}

    def reply(self) -> int:
        actor = self.actor
        assert actor is not None
        return self._agent.act(self._hands[actor])

    def seen_by(self, player: int) -> bool:
        visited = self._rules.visit(self._node)
        return isinstance(visited, Decision) and not visited.private

    def play(self, action: int) -> None:
        visited = self._rules.visit(self._node)
        assert isinstance(visited, Decision)
        self._last = [self.view(player) for player in (0, 1)]
        number = list(visited.actions).index(action)
        if visited.private:
            self._hands[visited.player] = self._hands[visited.player] * len(visited.actions) + number
        self._follow(int(visited.actions[0]) if visited.private else action)
        self._chance()

    def returns(self) -> list[float]:
        visited = self._rules.visit(self._node)
        assert isinstance(visited, Leaf)
        payoff = float(visited.scale * visited.matrix[self._hands[0], self._hands[1]])
        return [payoff, -payoff]

    def shown(self) -> list[str]:
        return self._last

    def _follow(self, label: int) -> None:
        self._agent.see(label)
        self._node = self._rules.child(self._node, label)

    def _chance(self) -> None:
        while isinstance(visited := self._rules.visit(self._node), Chance):
            chances = [float(weight[self._hands[0], self._hands[1]]) for _, weight in visited.outcomes]
            self._follow(int(visited.outcomes[picked(chances, self._generator.random())][0]))
