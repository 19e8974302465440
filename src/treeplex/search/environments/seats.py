"""Adapters that let agents play in PettingZoo and OpenSpiel, from a player's infostates."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from treeplex.errors import GameError, SpecError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.views.infostate_tensors import infostate_tensors
from treeplex.forms.sources.openspiel import import_pyspiel
from treeplex.games.public import PublicGame
from treeplex.search.agents.agent import Agent


class SeatedAgent:
    """An agent in one seat that receives only its infostate at each decision.

    An infostate determines the public events so far and the hand. New events are reported to the agent; if the events do not
    extend those already observed, a new game has started.

    Attributes:
        agent: the agent.
        player: its seat.
    """

    def __init__(self, agent: Agent, player: int) -> None:
        """Seat an agent.

        Args:
            agent: an agent for a game that has infostate strings and is small enough to enumerate.
            player: its seat.

        Raises:
            SpecError: the object is not an agent.
            GameError: the seat does not exist, or the game's infosets are not enumerated.
        """
        if not hasattr(agent, "game"):
            raise SpecError(f"{agent!r} is not an agent; make one with treeplex.agent(NAME, game)")
        self.agent, self.player = agent, player
        if not 0 <= player < agent.game.players:
            raise GameError(f"seat is {player}; give 0 to {agent.game.players - 1}")
        self._ways = ways_of(agent.game, player)
        self._generator: np.random.Generator | None = None
        self._seen: tuple[int, ...] | None = None
        self._acted = False

    def restart(self, generator: np.random.Generator | None = None) -> None:
        """Start a new game; ``generator`` is the random generator for the agent's draws (None keeps the current one)."""
        self._generator, self._seen = generator, None

    def policy(self, infostate: str) -> dict[int, float]:
        """The policy at an infostate: ``{action: probability}``.

        Raises:
            GameError: the player has no such infostate.
        """
        hand = self._see(infostate)
        labels = self.agent.game.options(self.agent.state).labels
        return dict(zip(map(int, labels), self.agent.policy()[:, hand].tolist(), strict=True))

    def act(self, infostate: str) -> int:
        """The agent's action at an infostate; errors as in :meth:`policy`."""
        hand = self._see(infostate)
        self._acted = True
        return self.agent.act(hand)

    def _see(self, infostate: str) -> int:
        """Report new events to the agent; returns its hand."""
        if infostate not in self._ways:
            raise GameError(f"player {self.player} has no infostate {infostate!r} in the agent's game")
        path, hand = self._ways[infostate]
        seen = self._seen
        if seen is None or path[: len(seen)] != seen or (path == seen and self._acted):
            self.agent.begin(self.player, self._generator)
            self._generator, seen = None, ()
        for label in path[len(seen) :]:
            self.agent.see(label)
        self._seen, self._acted = path, False
        return hand


def check_seats(others: Mapping[int, object], game: CompiledGame) -> None:
    """Raise a :class:`SpecError` if ``others`` names a seat that the game does not have."""
    for player in others:
        if player not in range(game.players):
            raise SpecError(f"'others' names seat {player!r}; {game} has players 0 to {game.players - 1}")


def ways_of(game: PublicGame, player: int) -> dict[str, tuple[tuple[int, ...], int]]:
    """Map each infostate of a player to the labels of the public events before it, and to the hand.

    Raises:
        GameError: infosets of the game are not enumerated.
    """
    ways: dict[str, tuple[tuple[int, ...], int]] = {}
    waiting = [(game.first_state(), tuple[int, ...]())]
    while waiting:
        state, path = waiting.pop()
        options = game.options(state)
        if options.player == player:
            for hand in np.flatnonzero(game.possible(state)[player]).tolist():
                ways.setdefault(game.infostate_at(state, player, hand), (path, hand))
        labels = options.labels[:1] if options.private else options.labels
        waiting += [(game.after(state, label), (*path, int(label))) for label in labels]
    return ways


class Seat:
    """An agent in one seat of an environment, as a function from observations to actions; see :func:`seat`."""

    def __init__(self, seated: SeatedAgent, game: CompiledGame, *, tensors: bool) -> None:
        self.seated = seated
        first, last = (int(number) for number in game.tree.infoset_offsets[seated.player : seated.player + 2])
        self._infostates = game.infostates[first:last]
        self._rows: Mapping[bytes, int] = {}
        if tensors:
            rows = infostate_tensors(game, seated.player).astype(np.float32)
            self._rows = {row.tobytes(): number for number, row in enumerate(rows)}

    def __call__(self, observation: Any) -> int:
        """The action for an observation.

        Raises:
            GameError: the player does not act at this observation.
        """
        seen = observation["observation"] if isinstance(observation, Mapping) else observation
        number = self._rows.get(np.asarray(seen, np.float32).tobytes(), -1) if self._rows else int(seen)
        if not 0 <= number < len(self._infostates):
            raise GameError(f"player {self.seated.player} does not act at this observation")
        return self.seated.act(self._infostates[number])


def seat(agent: Agent, environment: Any, player: int | str) -> Seat:
    """Seat an agent in a Treeplex PettingZoo (``GameAEC``) or Gymnasium (``GameEnv``) environment.

    Args:
        agent: an agent for the environment's game.
        environment: the environment.
        player: its seat, from 0, or its name: ``"player_1"``.

    Returns:
        A function from the player's observations to its actions.

    Raises:
        GameError: the seat does not exist, or the agent belongs to another game.
    """
    names = getattr(environment, "possible_agents", [])
    number = names.index(player) if player in names else player
    if not isinstance(number, int):
        raise GameError(f"no player {player!r} in this environment; name one of {', '.join(names)}")
    play, seated = environment.play, SeatedAgent(agent, number)
    first = play.compiled.infostates[int(play.compiled.tree.infoset_offsets[number])]
    if first not in seated._ways:
        raise GameError(f"the agent's game is not {play.compiled}: it has no infostate {first!r}; give an agent for this game")
    return Seat(seated, play.compiled, tensors=bool(play.tensors))


def as_bot(agent: Agent, player: int) -> Any:
    """Wrap an agent as a ``pyspiel.Bot``, for OpenSpiel's own loops.

    Args:
        agent: an agent for a game with OpenSpiel's infostate strings and actions.
        player: its seat.

    Returns:
        The bot.

    Raises:
        GameError: OpenSpiel is not installed, or as in :class:`SeatedAgent`.
    """
    pyspiel, seated = import_pyspiel(), SeatedAgent(agent, player)

    class AgentBot(pyspiel.Bot):  # type: ignore[misc, name-defined]
        """A bot that follows the agent."""

        def __init__(self) -> None:
            pyspiel.Bot.__init__(self)

        def player_id(self) -> int:
            return player

        def restart(self) -> None:
            seated.restart()

        def restart_at(self, state: Any) -> None:
            seated.restart()

        def provides_policy(self) -> bool:
            return True

        def get_policy(self, state: Any) -> list[tuple[int, float]]:
            return list(seated.policy(state.information_state_string(player)).items())

        def step_with_policy(self, state: Any) -> tuple[list[tuple[int, float]], int]:
            return self.get_policy(state), self.step(state)

        def step(self, state: Any) -> int:
            return seated.act(state.information_state_string(player))

    return AgentBot()
