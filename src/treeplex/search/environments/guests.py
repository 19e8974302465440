"""Adapters for external players: OpenSpiel bots and functions of observations."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.errors import GameError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.views.infostate_tensors import infostate_tensors
from treeplex.forms.sources.openspiel import import_pyspiel, pyspiel_game_of
from treeplex.games.base import Game
from treeplex.games.public import PublicGame, State
from treeplex.games.turn_based import other_names
from treeplex.search.agents.agent import BaseAgent
from treeplex.search.subgames.beliefs import Belief

History = tuple[int, ...]
NO_POLICY = "it returns actions without probabilities, which AIVAT, exact values and solving against it need"


class Guest(BaseAgent):
    """Base class for players from other libraries, which act on infostates.

    Attributes:
        compiled: the game, compiled.
    """

    def __init__(
        self,
        game: PublicGame | str | Game,
        compiled: CompiledGame | str | Game | Any,
        generator: np.random.Generator | None = None,
    ) -> None:
        """Create the agent; both forms of the game may be given as a spec or rules."""
        super().__init__(game, generator)
        self._whole, self.compiled = self.game, compile_game(compiled)

    def begin(self, seat: int | None = None, generator: np.random.Generator | None = None, *, at: Belief | None = None) -> None:
        """See :meth:`treeplex.search.agents.agent.Agent.begin`."""
        if at is not None:
            raise GameError("players from other libraries cannot start in the middle of a game; leave out 'at'")
        self.sit(seat, generator)
        self.state: State = self._whole.first_state()

    def see(self, event: int) -> None:
        """See :meth:`treeplex.search.agents.agent.Agent.see`."""
        self.state = self.game.after(self.state, event)

    def policy(self) -> Floats:
        """See :meth:`treeplex.search.agents.agent.Agent.policy`.

        Raises:
            GameError: no player is to act, or the player reports no probabilities.
        """
        self.check_acting()
        options = self.game.options(self.state)
        possible = self.game.possible(self.state)[options.player]
        table = np.full((len(options.labels), len(possible)), 1.0 / len(options.labels))
        for hand in np.flatnonzero(possible).tolist():
            shares = self.shares(self.infostate(hand))
            table[:, hand] = [shares.get(int(label), 0.0) for label in options.labels]
        return table

    def infostate(self, hand: int) -> str:
        """Infostate of the player to act, holding a hand."""
        return self.game.infostate_at(self.state, self.game.options(self.state).player, hand)

    def shares(self, infostate: str) -> dict[int, float]:
        """Action probabilities of the player to act at an infostate, by action.

        Raises:
            GameError: the player does not report probabilities.
        """
        raise NotImplementedError

    def check_legal(self, action: int, who: object) -> int:
        """Return an action after checking that it is legal.

        Raises:
            GameError: the action is illegal.
        """
        labels = list(self.game.options(self.state).labels)
        if action not in labels:
            raise GameError(f"{who} took action {action}, which is not legal; the legal actions are {labels}")
        return action


class BotAgent(Guest):
    """An agent that plays with OpenSpiel bots, one per seat.

    A bot receives OpenSpiel states in which the others hold an arbitrary hand consistent with its own infostate, so no hidden
    information leaks. Between its decisions it is informed of the others' actions, as in OpenSpiel's own loop. If a card is
    dealt that the others were assumed to hold, the bot is restarted and informed of all actions, including its own. If a bot
    reports a policy (``provides_policy``), the action is sampled from it by the agent's generator, so that play is
    reproducible.
    """

    def __init__(
        self,
        game: PublicGame | str | Game,
        compiled: CompiledGame | str | Game | Any,
        bots: Callable[[int], Any] | Mapping[int, Any],
        generator: np.random.Generator | None = None,
    ) -> None:
        """Create the agent.

        Args:
            game: the game: public states, a spec or rules.
            compiled: the game, compiled or as a spec or rules; OpenSpiel must have a game with the same spec, infostates and
                actions.
            bots: a ``pyspiel.Bot`` for each seat, or a function that creates the bot of a seat when first needed.
            generator: random generator for draws.

        Raises:
            GameError: OpenSpiel is not installed.
            PolicyError: OpenSpiel has no such game.
        """
        super().__init__(game, compiled, generator)
        self._openspiel = pyspiel_game_of(self.compiled)
        self._bots: dict[int, Any] = dict(bots) if isinstance(bots, Mapping) else {}
        self._make = None if isinstance(bots, Mapping) else bots
        self._histories: dict[tuple[int, str], list[History]] = {}
        self._told: dict[int, History] = {}

    def begin(self, seat: int | None = None, generator: np.random.Generator | None = None, *, at: Belief | None = None) -> None:
        """See :meth:`treeplex.search.agents.agent.Agent.begin`."""
        super().begin(seat, generator, at=at)
        self._told = {}

    def bot(self, player: int) -> Any:
        """The bot in a seat.

        Raises:
            GameError: the seat has no bot.
        """
        if player not in self._bots:
            if self._make is None:
                raise GameError(f"no bot for seat {player}; give a bot for each seat that is played")
            self._bots[player] = self._make(player)
        return self._bots[player]

    def shares(self, infostate: str) -> dict[int, float]:
        player = self.game.options(self.state).player
        bot, state = self.bot(player), self._states(self._history(player, infostate))[-1]
        if not says_policy(bot):
            raise GameError(f"{type(bot).__name__} of OpenSpiel has no policy: {NO_POLICY}")
        pairs = bot.get_policy(state) if bot.provides_policy() else bot.step_with_policy(state)[0]
        return {int(action): float(share) for action, share in pairs}

    def act(self, hand: int) -> int:
        """See :meth:`treeplex.search.agents.agent.Agent.act`."""
        self.check_acting()
        player = self.game.options(self.state).player
        bot = self.bot(player)
        if says_policy(bot):
            return super().act(hand)
        history = self._history(player, self.infostate(hand))
        known, states = self._told.get(player), self._states(history)
        if again := known is None or history[: len(known)] != known:
            known = ()
            bot.restart_at(states[0])
        assert known is not None
        for state, action in zip(states[len(known) :], history[len(known) :], strict=False):
            if again or state.current_player() != player:
                bot.inform_action(state, state.current_player(), action)
        chosen = self.check_legal(int(bot.step(states[-1])), type(bot).__name__)
        self._told[player] = (*history, chosen)
        return chosen

    def _history(self, player: int, infostate: str) -> History:
        """A history at an infostate, preferably one that extends the history that the bot has observed."""
        if not self._histories:
            self._histories = histories_by_infostate(self._openspiel)
        histories = self._histories.get((player, other_names(player, infostate)[0]))
        if not histories:
            raise GameError(f"OpenSpiel's game has no infostate {infostate!r} of player {player}")
        known = self._told.get(player, ())
        return next((history for history in histories if history[: len(known)] == known), histories[0])

    def _states(self, history: History) -> list[Any]:
        """OpenSpiel's states along a history."""
        states = [self._openspiel.new_initial_state()]
        for action in history:
            states.append(states[-1].child(action))
        return states


def says_policy(bot: Any) -> bool:
    """Whether a bot reports probabilities, by ``get_policy`` or (Python bots) ``step_with_policy``."""
    return bool(bot.provides_policy()) or type(bot).step_with_policy is not import_pyspiel().Bot.step_with_policy


def histories_by_infostate(game: Any) -> dict[tuple[int, str], list[History]]:
    """Map each player and infostate string of an OpenSpiel game to its histories."""
    histories: dict[tuple[int, str], list[History]] = {}
    waiting = [game.new_initial_state()]
    while waiting:
        state = waiting.pop()
        if state.is_terminal():
            continue
        if not state.is_chance_node():
            player = state.current_player()
            infostate, _ = other_names(player, state.information_state_string(player))
            histories.setdefault((player, infostate), []).append(tuple(state.history()))
        waiting += [state.child(action) for action in state.legal_actions()]
    return histories


class ObservingAgent(Guest):
    """An agent that plays with a function of observations, as PettingZoo policies do.

    The function receives the observation of the player to act, as in :class:`treeplex.environments.GameAEC`: ``{"observation":
    index of the infoset or its tensor, "action_mask": int8 [actions]}``. It returns an action id, or an array of probabilities
    indexed by action id.
    """

    def __init__(
        self,
        game: PublicGame | str | Game,
        compiled: CompiledGame | str | Game | Any,
        choose: Callable[[dict[str, Any]], Any],
        generator: np.random.Generator | None = None,
        *,
        observation: str = "infoset",
    ) -> None:
        """Create the agent.

        Args:
            game, compiled: the game as public states and in compiled form; each may also be a spec or rules.
            choose: the function.
            generator: random generator for sampling from its probabilities.
            observation: ``infoset`` or ``tensor``.
        """
        super().__init__(game, compiled, generator)
        self._choose, compiled = choose, self.compiled
        players = range(compiled.players)
        self._tensors = [infostate_tensors(compiled, player) for player in players] if observation == "tensor" else None
        offsets = compiled.tree.sequence_offsets
        self._actions = [int(max(compiled.action_ids[offsets[i] + 1 : offsets[i + 1]], default=0)) + 1 for i in players]

    def observation(self, infostate: str) -> dict[str, Any]:
        """The observation at an infostate of the player to act."""
        player = self.game.options(self.state).player
        infoset = self.compiled.lookup[player, infostate]
        number = int(infoset - self.compiled.tree.infoset_offsets[player])
        mask = np.zeros(self._actions[player], np.int8)
        mask[self.compiled.actions_at(infoset)] = 1
        shown = np.int64(number) if self._tensors is None else self._tensors[player][number].astype(np.float32)
        return {"observation": shown, "action_mask": mask}

    def shares(self, infostate: str) -> dict[int, float]:
        chosen = self._choose(self.observation(infostate))
        if np.ndim(chosen) == 0:
            raise GameError(f"a function of observations has no policy: {NO_POLICY}; return probabilities by action")
        return {action: float(share) for action, share in enumerate(chosen)}

    def act(self, hand: int) -> int:
        """See :meth:`treeplex.search.agents.agent.Agent.act`."""
        self.check_acting()
        chosen = self._choose(self.observation(self.infostate(hand)))
        return super().act(hand) if np.ndim(chosen) else self.check_legal(int(chosen), "a function of observations")
