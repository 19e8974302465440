"""Adapters for other libraries' players: OpenSpiel bots, and functions of observations."""

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
NO_POLICY = "it takes an action and says no probabilities, which AIVAT, exact values and solving against it need"


class Guest(BaseAgent):
    """A player of another library, who is asked at infostates.

    Attributes:
        compiled: the game, compiled.
    """

    def __init__(
        self,
        game: PublicGame | str | Game,
        compiled: CompiledGame | str | Game | Any,
        generator: np.random.Generator | None = None,
    ) -> None:
        """Sit down at a game, given as its public states and compiled, each of them also as a spec or rules."""
        super().__init__(game, generator)
        self._whole, self.compiled = self.game, compile_game(compiled)

    def begin(self, seat: int | None = None, generator: np.random.Generator | None = None, *, at: Belief | None = None) -> None:
        """See :meth:`treeplex.search.agents.agent.Agent.begin`."""
        if at is not None:
            raise GameError("players of other libraries begin where their game begins")
        self.sit(seat, generator)
        self.state: State = self._whole.first_state()

    def see(self, event: int) -> None:
        """See :meth:`treeplex.search.agents.agent.Agent.see`."""
        self.state = self.game.after(self.state, event)

    def policy(self) -> Floats:
        """See :meth:`treeplex.search.agents.agent.Agent.policy`.

        Raises:
            GameError: no player is to act, or the player says actions only.
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
        """The infostate of the player to act with a hand."""
        return self.game.infostate_at(self.state, self.game.options(self.state).player, hand)

    def shares(self, infostate: str) -> dict[int, float]:
        """The action probabilities of the player to act at an infostate.

        Raises:
            GameError: it does not say.
        """
        raise NotImplementedError

    def check_legal(self, action: int, who: object) -> int:
        """An action, if the rules have it here.

        Raises:
            GameError: they do not.
        """
        labels = list(self.game.options(self.state).labels)
        if action not in labels:
            raise GameError(f"{who} took action {action}, which is not among {labels}")
        return action


class BotAgent(Guest):
    """Bots of OpenSpiel at our table, one for each seat that is played.

    A bot is shown states of OpenSpiel's game in which others hold some hand that fits what its player knows, so it knows no
    more than it may. Between its decisions it is informed of the others' actions, as in OpenSpiel's own loop. If a card comes
    that the others were assumed to hold, it restarts and is informed of all actions, its own included. A bot that reports a
    policy (``provides_policy``) plays by it, drawn from the agent's generator, so that its plays repeat with a seed.
    """

    def __init__(
        self,
        game: PublicGame | str | Game,
        compiled: CompiledGame | str | Game | Any,
        bots: Callable[[int], Any] | Mapping[int, Any],
        generator: np.random.Generator | None = None,
    ) -> None:
        """Sit down.

        Args:
            game: what is played: its public states, a spec or rules.
            compiled: the same game compiled, or its spec or rules; OpenSpiel has one of the same spec, infostates and actions.
            bots: a ``pyspiel.Bot`` for each seat, or what makes one; made when a seat is first played.
            generator: of draws.

        Raises:
            GameError: OpenSpiel is not installed.
            PolicyError: it has no such game.
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
            GameError: none was given.
        """
        if player not in self._bots:
            if self._make is None:
                raise GameError(f"no bot for seat {player}; give one for each seat that is played")
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
        """A history at an infostate, if possible one that extends what the bot has observed."""
        if not self._histories:
            self._histories = histories_by_infostate(self._openspiel)
        found = self._histories.get((player, other_names(player, infostate)[0]))
        if not found:
            raise GameError(f"OpenSpiel's game has no infostate {infostate!r} of player {player}")
        known = self._told.get(player, ())
        return next((history for history in found if history[: len(known)] == known), found[0])

    def _states(self, history: History) -> list[Any]:
        """The states of OpenSpiel along a history."""
        states = [self._openspiel.new_initial_state()]
        for action in history:
            states.append(states[-1].child(action))
        return states


def says_policy(bot: Any) -> bool:
    """Whether a bot says probabilities: by ``get_policy``, or one written in Python by ``step_with_policy``."""
    return bool(bot.provides_policy()) or type(bot).step_with_policy is not import_pyspiel().Bot.step_with_policy


def histories_by_infostate(game: Any) -> dict[tuple[int, str], list[History]]:
    """The histories of each player's infostates in a game of OpenSpiel, by player and infostate without whose turn it is."""
    found: dict[tuple[int, str], list[History]] = {}
    waiting = [game.new_initial_state()]
    while waiting:
        state = waiting.pop()
        if state.is_terminal():
            continue
        if not state.is_chance_node():
            player = state.current_player()
            infostate, _ = other_names(player, state.information_state_string(player))
            found.setdefault((player, infostate), []).append(tuple(state.history()))
        waiting += [state.child(action) for action in state.legal_actions()]
    return found


class ObservingAgent(Guest):
    """A function of observations at our table, as players of PettingZoo are written.

    It is called with what :class:`treeplex.environments.GameAEC` shows the player to act, ``{"observation": number of the
    infoset or its tensor, "action_mask": int8 [actions]}``, and gives the id of an action, or probabilities by action id.
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
        """Sit down.

        Args:
            game, compiled: what is played: its public states and the compiled game, or a spec or rules for either.
            choose: the function.
            generator: of draws from its probabilities.
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
        found = self._choose(self.observation(infostate))
        if np.ndim(found) == 0:
            raise GameError(f"a function of observations has no policy: {NO_POLICY}; let it return probabilities by action")
        return {action: float(share) for action, share in enumerate(found)}

    def act(self, hand: int) -> int:
        """See :meth:`treeplex.search.agents.agent.Agent.act`."""
        self.check_acting()
        found = self._choose(self.observation(self.infostate(hand)))
        return super().act(hand) if np.ndim(found) else self.check_legal(int(found), "a function of observations")
