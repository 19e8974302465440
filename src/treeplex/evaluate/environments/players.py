"""Any game as a Gymnasium environment (one player's view) or a PettingZoo AEC environment (all players).

An observation is the number of the infoset within its player's own, ``0`` to ``I - 1``, as in the compiled game; ``I`` says
that there is none (yet): the player has not acted, or the game is over. Perfect recall makes it a Markov state. For networks it
can be a tensor instead (``forms.compile.views.infostate_tensors.infostate_tensors``), zeros where there is none. Actions are
the rules' action ids. Rewards are the game's payoffs, all at the end.

Needs ``gymnasium`` and ``pettingzoo``: ``pip install treeplex[rl]``.
"""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from treeplex.errors import GameError, PolicyError, SpecError
from treeplex.evaluate.environments.seats import SeatedAgent, seat
from treeplex.evaluate.match.agents import Agent
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.sequential import one_at_a_time
from treeplex.forms.compile.views.infostate_tensors import infostate_tensors
from treeplex.forms.policies.tabular import Policy, PolicyMapping
from treeplex.forms.sources.load import load_rules
from treeplex.games.base import Game, State

try:
    import gymnasium
    import pettingzoo
    from gymnasium.spaces import Box, Dict, Discrete
except ImportError as error:
    raise ImportError(f"environments need gymnasium and pettingzoo ({error}); run: pip install treeplex[rl]") from error

Mask = NDArray[np.int8]
Others: TypeAlias = Policy | Agent | Mapping[int, Policy | Agent] | None
"""What other players follow: one policy for all, or a policy or an agent each; of two players the other's agent."""


class Play:
    """One game being played: its rules one move at a time, its compiled form, and the present state.

    Attributes:
        rules: the rules, without simultaneous moves.
        compiled: the compiled game, which numbers the infosets.
        state: the present history.
    """

    def __init__(self, game: str | Game | Any, observation: str = "infoset") -> None:
        """Load and compile ``game``; observations are numbers of infosets, or rows of tensors.

        Raises:
            SpecError: an unknown game or kind of observation.
            GameError: rules that do not describe a game of perfect recall, or a negative action id.
        """
        if observation not in ("infoset", "tensor"):
            raise SpecError(f"observation is 'infoset' or 'tensor', not {observation!r}")
        rules = load_rules(game)
        self.compiled: CompiledGame = compile_game(rules)
        self.rules = one_at_a_time(rules)
        self.state: State = self.rules.new_initial_state()
        if any(min(self.actions_of(player), default=0) < 0 for player in range(self.players)):
            raise GameError(f"{self.compiled} has negative action ids, which no Discrete space holds")
        self.tensors: tuple[NDArray[np.float32], ...] = ()
        if observation == "tensor":
            rows = [infostate_tensors(self.compiled, player) for player in range(self.players)]
            self.tensors = tuple(np.vstack((own, np.zeros_like(own[:1]))).astype(np.float32) for own in rows)

    @property
    def players(self) -> int:
        """The number of players."""
        return self.compiled.players

    def actions_of(self, player: int) -> list[int]:
        """All action ids of a player."""
        first, last = self.compiled.tree.sequence_offsets[player : player + 2]
        return [int(action) for action in self.compiled.action_ids[first + 1 : last]]

    def action_space(self, player: int) -> Any:
        """The ids from 0 to the player's highest."""
        return Discrete(max(self.actions_of(player), default=0) + 1)

    def observation_space(self, player: int) -> Any:
        """The player's infosets, and one more for none; or their tensors."""
        if self.tensors:
            return Box(0.0, 1.0, self.tensors[player].shape[1:], np.float32)
        return Discrete(self.none(player) + 1)

    def shown(self, player: int, number: int) -> Any:
        """What ``player`` sees at an infoset of this number."""
        return self.tensors[player][number].copy() if self.tensors else number

    def none(self, player: int) -> int:
        """The observation that says there is no infoset."""
        return self.compiled.infosets[player]

    def observation(self, player: int) -> int:
        """The number of the present infoset among those of ``player``, who must be the one to act."""
        infostate = self.state.information_state_string(player)
        return int(self.compiled.lookup[player, infostate] - self.compiled.tree.infoset_offsets[player])

    def legal_mask(self, player: int) -> Mask:
        """Int8 [actions], 1 where ``player`` may act so now; all 0 while it is not their turn."""
        mask = np.zeros(int(self.action_space(player).n), dtype=np.int8)
        if self.state.current_player() == player:
            mask[list(self.state.legal_actions())] = 1
        return mask

    def pass_chance(self, random: np.random.Generator) -> None:
        """Sample chance until somebody acts or the game is over."""
        while self.state.is_chance_node():
            actions, probabilities = zip(*self.state.chance_outcomes(), strict=True)
            self.state = self.state.child(draw(random, actions, probabilities))

    def check_legal(self, action: int) -> None:
        """Raise if the player to act may not choose ``action``."""
        legal = list(self.state.legal_actions())
        if action not in legal:
            player = self.state.current_player()
            infostate = self.state.information_state_string(player)
            raise GameError(f"action {action} is not legal at infostate {infostate!r}; legal are {legal} (see action_mask)")


def draw(random: np.random.Generator, actions: Any, probabilities: Any) -> int:
    """One of ``actions``, by these probabilities."""
    weights = np.asarray(probabilities, dtype=np.float64)
    return int(actions[int(random.choice(len(weights), p=weights / weights.sum()))])


class GameEnv(gymnasium.Env[Any, Any]):
    """One player's view of a game: chance and the other players are part of the environment.

    ``info`` has ``action_mask`` (int8 [actions]) and ``infostate`` (text). Where the game ends before the player ever acts,
    the observation is the number for none, the mask allows action 0 only, and the step that follows ends the episode.
    """

    metadata = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012

    def __init__(
        self,
        game: str | Game | Any,
        *,
        player: int = 0,
        others: Others = None,
        observation: Literal["infoset", "tensor"] = "infoset",
        illegal: Literal["error", "random"] = "error",
        render_mode: str | None = None,
    ) -> None:
        """Set up the environment.

        Args:
            game: a spec, rules or an OpenSpiel game.
            player: whose view it is.
            others: what the other players follow: one policy for all, or a policy or an agent each; uniform for whoever has
                none. Of two players the other's agent as well.
            observation: the number of the infoset, or its tensor of zeros and ones.
            illegal: what an illegal action does: raise an error, or count as a random legal one (``info["illegal"]``
                is then true). Gymnasium's ``check_env`` knows no masks and needs ``"random"``.
            render_mode: ``"ansi"`` or None.

        Raises:
            SpecError: an unknown game, or no such player.
            PolicyError: the policy of another game.
        """
        self.play = Play(game, observation)
        self.over = True
        if not 0 <= player < self.play.players:
            raise SpecError(f"player {player} does not exist; {self.play.compiled} has players 0 to {self.play.players - 1}")
        if illegal not in ("error", "random"):
            raise SpecError(f"illegal is 'error' or 'random', not {illegal!r}")
        self.player = player
        self.illegal = illegal
        self.render_mode = render_mode
        self.others = {other: self.follower(follows, other) for other, follows in self.each_of(others).items()}
        self.observation_space = self.play.observation_space(player)
        self.action_space = self.play.action_space(player)

    def each_of(self, others: Others) -> Mapping[int, Policy | Agent]:
        """What each of the others follows.

        Raises:
            SpecError: one agent for several seats.
        """
        if others is None:
            return {}
        if isinstance(others, PolicyMapping):
            return dict.fromkeys(range(self.play.players), others)
        if isinstance(others, Mapping):
            return cast(Mapping[int, Policy | Agent], others)
        if self.play.players != 2:
            raise SpecError(f"{self.play.compiled} has {self.play.players} players; give each other player an agent, by seat")
        return {1 - self.player: others}

    def follower(self, follows: Policy | Agent, other: int) -> Policy | SeatedAgent:
        """A policy, or an agent in another player's seat.

        Raises:
            PolicyError, GameError: of another game.
        """
        if not isinstance(follows, PolicyMapping):
            return seat(follows, self, other).seated
        if follows.game.identity != self.play.compiled.identity:
            raise PolicyError(f"a policy for {follows.game}, not for {self.play.compiled}")
        return follows

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start a game; the same seed gives the same chance and the same moves of the others."""
        super().reset(seed=seed, options=options)
        self.play.state = self.play.rules.new_initial_state()
        for other in self.others.values():
            if isinstance(other, SeatedAgent):
                other.restart(np.random.default_rng(self.np_random.integers(2**63)))
        self.advance()
        self.over = False
        return self.view()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Play ``action``, then everybody else's moves up to the player's next decision or the end.

        Raises:
            GameError: an illegal action, or the episode is over or has not begun.
        """
        if self.over:
            raise GameError("the episode is over, or has not begun; call reset()")
        illegal = False
        if not self.play.state.is_terminal():
            legal = list(self.play.state.legal_actions())
            illegal = int(action) not in legal
            if illegal and self.illegal == "error":
                self.play.check_legal(int(action))
            chosen = int(self.np_random.choice(legal)) if illegal else int(action)
            self.play.state = self.play.state.child(chosen)
            self.advance()
        observation, info = self.view()
        self.over = ended = self.play.state.is_terminal()
        reward = float(self.play.state.returns()[self.player]) if ended else 0.0
        return observation, reward, ended, False, info | {"illegal": illegal}

    def advance(self) -> None:
        """Play chance and the others until the player acts or the game is over."""
        play = self.play
        play.pass_chance(self.np_random)
        while not play.state.is_terminal() and play.state.current_player() != self.player:
            other = self.others.get(play.state.current_player())
            if isinstance(other, SeatedAgent):
                action = other.act(play.state.information_state_string(other.player))
            else:
                legal = list(play.state.legal_actions())
                shares = dict.fromkeys(legal, 1.0) if other is None else other.action_probabilities(play.state)
                action = draw(self.np_random, list(shares), list(shares.values()))
            play.state = play.state.child(action)
            play.pass_chance(self.np_random)

    def view(self) -> tuple[Any, dict[str, Any]]:
        """Observation and info of the player."""
        mask = self.play.legal_mask(self.player)
        if self.play.state.is_terminal():
            mask[0] = 1
            return self.play.shown(self.player, self.play.none(self.player)), {"action_mask": mask, "infostate": ""}
        infostate = self.play.state.information_state_string(self.player)
        return self.play.shown(self.player, self.play.observation(self.player)), {"action_mask": mask, "infostate": infostate}

    def render(self) -> Any:
        """The infostate of the player, as text."""
        return self.view()[1]["infostate"] if self.render_mode == "ansi" else None


class GameAEC(pettingzoo.AECEnv[str, Any, Any]):  # type: ignore[misc]
    """All players of a game, ``player_0`` and so on, each acting in turn.

    Observations are ``{"observation": number of the infoset, "action_mask": int8 [actions]}``; a player whose turn it is not
    sees the infoset at which they acted last.
    """

    metadata = {"render_modes": ["ansi"], "name": "treeplex_v0", "is_parallelizable": False}  # noqa: RUF012

    def __init__(
        self,
        game: str | Game | Any,
        *,
        observation: Literal["infoset", "tensor"] = "infoset",
        render_mode: str | None = None,
    ) -> None:
        """Set up the environment for a spec, rules or an OpenSpiel game; observations as in :class:`GameEnv`.

        Raises:
            SpecError: an unknown game.
        """
        super().__init__()
        self.play = Play(game, observation)
        self.render_mode = render_mode
        self.random = np.random.default_rng()
        self.possible_agents = [f"player_{player}" for player in range(self.play.players)]
        self.agents: list[str] = []
        self.action_spaces = {agent: self.play.action_space(player) for player, agent in enumerate(self.possible_agents)}
        self.observation_spaces = {
            agent: Dict(
                {
                    "observation": self.play.observation_space(player),
                    "action_mask": Box(0, 1, (int(self.action_spaces[agent].n),), np.int8),
                }
            )
            for player, agent in enumerate(self.possible_agents)
        }

    def observation_space(self, agent: str) -> Any:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a game; the same seed gives the same chance."""
        if seed is not None:
            self.random = np.random.default_rng(seed)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.seen = [self.play.none(player) for player in range(self.play.players)]
        self.play.state = self.play.rules.new_initial_state()
        self.agent_selection = self.agents[0]
        self.advance()

    def advance(self) -> None:
        """Play chance; then select who acts, or end the game with its payoffs."""
        self.play.pass_chance(self.random)
        state = self.play.state
        if state.is_terminal():
            self.rewards = {agent: float(payoff) for agent, payoff in zip(self.possible_agents, state.returns(), strict=True)}
            self.terminations = dict.fromkeys(self.agents, True)
            self.seen = [self.play.none(player) for player in range(self.play.players)]
            return
        player = state.current_player()
        self.seen[player] = self.play.observation(player)
        self.agent_selection = self.possible_agents[player]

    def step(self, action: Any) -> None:
        """Play the action of the selected agent; None for an agent whose game is over."""
        if not self.agents:
            raise GameError("the episode is over, or has not begun; call reset()")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self.play.check_legal(int(action))
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        self.play.state = self.play.state.child(int(action))
        self.advance()
        self._accumulate_rewards()

    def observe(self, agent: str) -> dict[str, Any]:
        player = self.possible_agents.index(agent)
        seen = self.play.shown(player, self.seen[player])
        return {"observation": seen if self.play.tensors else np.int64(seen), "action_mask": self.play.legal_mask(player)}

    def render(self) -> Any:
        """The infostate of the player to act, as text."""
        state = self.play.state
        if self.render_mode != "ansi" or state.is_terminal():
            return None
        return state.information_state_string(state.current_player())

    def close(self) -> None:
        """Nothing to close."""
