"""Tables where a person plays against a policy or an agent."""

import re
from collections.abc import Callable
from typing import NamedTuple, Protocol, final

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.errors import GameError
from treeplex.forms.compile.stepping import outcomes, picked, turn_by_turn
from treeplex.games.base import CHANCE, Game, State
from treeplex.games.public import PublicGame, pick
from treeplex.games.public import State as PublicState
from treeplex.search.agents.agent import Agent, Thought
from treeplex.search.agents.solving import SubgameAgent
from treeplex.search.evaluate.play import HandEvent, PlayedHand
from treeplex.search.subgames.beliefs import Belief
from treeplex.search.tables.replies import AgentReply, Ranges, reply_of

Options = dict[int, str]
TYPED = re.compile(
    r"(?:(?:b|bet|r|raise)(?: *to)? *)?(\d{1,3}(?:,\d{3}){1,3}|\d{1,12}(?:\.\d{1,9})?|\.\d{1,9}) *(%|bb|chips?)?"
)
POTS = {"half pot": 50.0, "pot": 100.0}
"""Named bets, in percent of the pot."""


class TypedBet(NamedTuple):
    """A bet typed by a person.

    Attributes:
        amount: the number.
        unit: its unit: ``%`` of the pot, ``bb`` or ``chips``; empty if not given.
        bare: whether the text is only the number, without word or unit.
    """

    amount: float
    unit: str
    bare: bool = False


def typed_bet(text: str) -> TypedBet | None:
    """Parse a typed bet: ``1500``, ``b1500``, ``raise to 4,000``, ``12bb``, ``bet 75%``, ``pot``; None if it is not a bet."""
    word = text.removeprefix("bet ").removeprefix("raise ")
    if word in POTS:
        return TypedBet(POTS[word], "%")
    match = TYPED.fullmatch(text)
    if match is None:
        return None
    unit = (match[2] or "").removesuffix("s").replace("chip", "chips")
    return TypedBet(float(match[1].replace(",", "")), unit, text == match[1])


class Table(Protocol):
    """Protocol for a game in progress; chance events are resolved immediately, so that a player acts or the game is over."""

    players: int

    def begin(self, person: int = 0, generator: np.random.Generator | None = None) -> None:
        """Deal a new game.

        Args:
            person: the person's seat.
            generator: random generator for this and later deals, so that a deal can be repeated; None to keep the current one.
        """

    @property
    def actor(self) -> int | None:
        """The player to act; None if the game is over."""

    def seat(self, player: int) -> str:
        """Return a player's name."""
        return f"player {player}"

    def view(self, player: int) -> str:
        """Return a player's view of the game as text."""

    def picture(self) -> str | None:
        """Return a picture of the public state as lines of text; None if the rules define none."""

    def options(self) -> Options:
        """Return the names of the legal actions, by id."""

    def named(self, text: str) -> int | None:
        """Parse a text other than an option's name as an action; None if it is not an action.

        Raises:
            GameError: the action is illegal; the message lists the legal ones.
            SpecError: adding the action needs too much memory.
        """
        return None

    def reply(self) -> int:
        """Return the action of a player that is not a person."""

    def thought(self) -> Thought | None:
        """Return the search behind the last reply; None if there was no search or it was already reported."""
        return None

    def replied(self) -> AgentReply | None:
        """Return the policy and the range behind the last reply; None if the rules do not define public states."""
        return None

    def seen_by(self, player: int) -> bool:
        """Whether a player observes the action that is played now."""

    def history(self) -> State | None:
        """Return the history as a state of the game's rules, including all cards; None if there is none."""
        return None

    def infostate(self, player: int) -> str | None:
        """Return the acting player's infostate string; None if infosets have no names."""
        return None

    def play(self, action: int) -> None:
        """Play an action for the player to act."""

    def returns(self) -> list[float]:
        """Return each player's payoff, once the game is over."""

    def outcome(self, player: int) -> str:
        """Describe the outcome of the game for a player."""
        return payoff_text(self.returns()[player])

    def shown(self) -> list[str]:
        """Return the public information at the last decision, as lines of text."""

    def review(self, player: int) -> list[str]:
        """Review a player's decisions after the game, as lines of text."""
        return []


def payoff_text(payoff: float) -> str:
    """Format a payoff."""
    return f"you win {payoff:g}" if payoff > 0 else f"you lose {-payoff:g}" if payoff < 0 else "nobody wins"


Reply = Callable[[State], dict[int, float]]
"""The policy of the player to act: probabilities by action."""


@final
class RulesTable(Table):
    """A table for any game against a policy. Simultaneous moves are entered in turn, hidden from other players."""

    def __init__(self, game: Game, reply: Reply, generator: np.random.Generator) -> None:
        self._rules, self._reply, self._generator = turn_by_turn(game), reply, generator
        self.players = game.num_players
        self.begin()

    def begin(self, person: int = 0, generator: np.random.Generator | None = None) -> None:
        self._generator = generator or self._generator
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

    def history(self) -> State:
        return self._state

    def infostate(self, player: int) -> str:
        return self._state.information_state_string(player)

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
    """Reports each of an agent's searches once."""

    def __init__(self, agent: Agent) -> None:
        self._agent, self._told = agent, getattr(agent, "thought", None)

    def new(self) -> Thought | None:
        """Return the last search if it has not been reported yet; otherwise None."""
        thought: Thought | None = getattr(self._agent, "thought", None)
        reported, self._told = self._told, thought
        return thought if thought is not None and thought is not reported and thought.iterations else None


@final
class AgentTable(Table):
    """A table for any game with public states, against an agent in all other seats.

    A person can type a bet outside the game if the agent can :meth:`SubgameAgent.add` it. Play then continues in the agent's
    version of the game.

    Attributes:
        steps: the events of this game, with the policies behind the agent's actions.
        dealt: each player's initial hand.
    """

    def __init__(self, agent: Agent, generator: np.random.Generator) -> None:
        self._agent, self._generator, self._thoughts = agent, generator, Thoughts(agent)
        self.players = agent.game.players
        self.begin()

    @property
    def agent(self) -> Agent:
        """The opponent."""
        return self._agent

    @property
    def _game(self) -> PublicGame:
        return self._agent.game

    @property
    def _state(self) -> PublicState:
        return self._agent.state

    def begin(self, person: int = 0, generator: np.random.Generator | None = None) -> None:
        self._generator = generator or self._generator
        self._agent.begin(1 - person if self.players == 2 else None)
        self._first, self.steps = self._game, list[HandEvent]()
        self._policy: Floats | None = None
        self._replied: AgentReply | None = None
        root = Belief.root(self._game)
        self._ranges, self.dealt = Ranges(root), root.draw(self._generator)
        self._hands = list(self.dealt)
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
        hand = self._hands[actor]
        self._policy, action = reply_of(self._agent, hand)
        options = self.options()
        chosen, names = list(options).index(action), (*options.values(),)
        self._replied = AgentReply(actor, hand, chosen, names, self._policy, self.ranges()[actor])
        return action

    def thought(self) -> Thought | None:
        return self._thoughts.new()

    def replied(self) -> AgentReply | None:
        return self._replied

    def seen_by(self, player: int) -> bool:
        return not self._game.options(self._state).private

    def play(self, action: int) -> None:
        options = self._game.options(self._state)
        self._last = [self.view(player) for player in range(self.players)]
        number = list(options.labels).index(action)
        self.steps.append(HandEvent(number, self._policy))
        self._ranges.move(options.player, self._policy, number, len(options.labels), private=options.private)
        self._policy = None
        if options.private:
            hand = self._hands[options.player]
            self._hands[options.player] = hand * len(options.labels) + number
        self._agent.see(options.labels[0] if options.private else action)
        self._chance()

    def returns(self) -> list[float]:
        return list(self._game.payoffs(self._state, self._hands))

    def shown(self) -> list[str]:
        return self._last

    def history(self) -> State | None:
        return self._game.history_at(self._state, self._hands)

    def infostate(self, player: int) -> str | None:
        try:
            return self._game.infostate_at(self._state, player, self._hands[player])
        except GameError:
            return None

    def played(self) -> PlayedHand | None:
        """The finished game as a match hand; None if a bet was added, since the hand then belongs to another game."""
        if self._game is not self._first:
            return None
        return PlayedHand(tuple(self.dealt), tuple(self.steps), tuple(self.returns()))

    def public(self) -> tuple[PublicGame, PublicState]:
        """The public game and its current state."""
        return self._game, self._state

    def hand_of(self, player: int) -> int:
        """Index of a player's current hand."""
        return self._hands[player]

    def hand_names(self, player: int) -> Callable[[int], str]:
        """Return a function that names hands: by cards or dice if the rules have them, otherwise by infostate."""
        game, state = self._game, self._state
        return lambda hand: game.hand_name(state, player, hand)

    def ranges(self) -> list[Floats]:
        """Each player's range given its actions, float64 [H]; a person's range stays as dealt."""
        return self._ranges.at(self._game, self._state)

    def range_against(self, player: int, other: int) -> Floats:
        """Probability of each of a player's hands given another player's hand, float64 [H], summing to 1 or 0."""
        ranges = self.ranges()
        weights = ranges[player]
        ranges[other] = np.zeros_like(ranges[other])
        ranges[other][self._hands[other]] = 1.0
        posterior = weights * self._game.opposing(self._state, ranges, player)
        total = float(posterior.sum())
        return posterior / total if total > 0 else np.zeros_like(weights)

    def named(self, text: str) -> int | None:
        bet = typed_bet(text)
        if bet is None or bet.unit not in ("", "chips") or self._game.bets(self._state) is None:
            return None
        return self._agent.add(bet.amount) if isinstance(self._agent, SubgameAgent) else None

    def _chance(self) -> None:
        while (options := self._game.options(self._state)).player == CHANCE:
            number = pick(self._generator, self._game.chances(self._state, self._hands))
            self.steps.append(HandEvent(number))
            self._agent.see(options.labels[number])
