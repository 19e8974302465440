"""Any game as a Gymnasium environment (for one player) or a PettingZoo environment (for all players, AEC or parallel).

An observation is the index of the infoset within its player's infosets, ``0`` to ``I - 1``, as in the compiled game; ``I``
means that there is no infoset, because the player has not acted yet or the game is over. With perfect recall the infoset is a
Markov state. For networks the observation can be a tensor instead
(``forms.compile.views.infostate_tensors.infostate_tensors``), which is zero if there is no infoset. Actions are the rules'
action ids. Rewards are zero until the end, where they are the game's payoffs.

Requires ``gymnasium`` and ``pettingzoo``, installed by the extra ``rl``.
"""

from bisect import bisect_right
from collections.abc import Mapping
from itertools import accumulate
from typing import Any, Literal, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from treeplex.base.version import install_hint
from treeplex.errors import GameError, PolicyError, SpecError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.stepping import one_at_a_time
from treeplex.forms.compile.views.infostate_tensors import infostate_tensors
from treeplex.forms.policies.tabular import Policy, PolicyMapping
from treeplex.forms.sources.load import load
from treeplex.games.base import CHANCE, TERMINAL, Game, State
from treeplex.games.turn_based import TurnBasedState
from treeplex.search.agents.agent import Agent
from treeplex.search.environments.seats import SeatedAgent, check_seats, seat

try:
    import gymnasium
    import pettingzoo
    from gymnasium.spaces import Box, Dict, Discrete
except ImportError as error:
    raise ImportError(f"environments need gymnasium and pettingzoo ({error}); run: {install_hint('rl')}") from error

Mask = NDArray[np.int8]
Others: TypeAlias = Policy | Agent | Mapping[int, Policy | Agent] | None
"""Behaviour of other players: one policy for all, or a policy or an agent each; with two players also the other's agent."""

MOST_POSITIONS = 200_000
"""Most histories in an environment's cache, which is cleared at the reset after it is exceeded."""


class Position:
    """A history of a game, with cached results of its rules.

    Attributes:
        state: the history.
        player: the player to act.
        actions: legal actions or chance outcomes.
        mask: int8 [actions], 1 for legal actions of the player to act; all 0 at chance nodes and terminal states.
        number: index of the infoset among those of the player to act; -1 if no player acts.
        infostate: infostate string; empty if no player acts.
        shares: cumulative probabilities of chance outcomes or of the acting player's policy; None if uniform.
        returns: each player's payoff if the game is over, otherwise zeros.
        children: positions after each action, as far as visited.
    """

    __slots__ = ("actions", "children", "infostate", "mask", "number", "player", "returns", "shares", "state")

    def __init__(self, play: "Play", state: State) -> None:
        self.state, self.player = state, state.current_player()
        self.children: dict[int, Position] = {}
        self.shares: list[float] | None = None
        self.infostate, self.number, self.actions = "", -1, list[int]()
        self.mask, self.returns = play.nothing, play.no_returns
        if self.player == TERMINAL:
            self.returns = [float(payoff) for payoff in state.returns()]
        elif self.player == CHANCE:
            outcomes = list(state.chance_outcomes())
            self.actions, self.shares = [int(action) for action, _ in outcomes], cumulative([share for _, share in outcomes])
        elif self.player >= 0:
            self.actions = [int(action) for action in state.legal_actions()]
            self.mask = np.zeros(play.sizes[self.player], np.int8)
            self.mask[self.actions] = 1
            self.infostate = state.information_state_string(self.player)
            compiled = play.compiled
            self.number = int(compiled.lookup[self.player, self.infostate] - compiled.tree.infoset_offsets[self.player])
            follows = play.policies.get(self.player)
            if follows is not None:
                shares = follows.action_probabilities(state)
                self.shares = cumulative([shares.get(action, 0.0) for action in self.actions])

    def drawn(self, random: np.random.Generator) -> int:
        """Sample an action."""
        if self.shares is None:
            return self.actions[int(random.random() * len(self.actions))]
        return self.actions[bisect_right(self.shares, random.random() * self.shares[-1])]


def cumulative(shares: list[float]) -> list[float]:
    """Cumulative sums of probabilities."""
    return list(accumulate(shares))


class Play:
    """A game in progress: its rules, its compiled form, and the current position.

    Up to :data:`MOST_POSITIONS` positions are cached, so that the rules are evaluated once per history.

    Attributes:
        rules: the rules, without simultaneous moves.
        compiled: the compiled game, which numbers the infosets.
        at: the current position.
        sizes: each player's highest action id plus one.
        infosets: each player's number of infosets.
        policies: policies of the players controlled by the environment.
    """

    def __init__(self, game: str | Game | Any, observation: str = "infoset") -> None:
        """Load and compile ``game``; observations are indices of infosets, or rows of tensors.

        Raises:
            SpecError: an unknown game or observation type.
            GameError: a game without perfect recall, or a negative action id.
        """
        if observation not in ("infoset", "tensor"):
            raise SpecError(f"observation is {observation!r}; use 'infoset' or 'tensor'")
        rules = load(game).enumerable_rules()
        self.compiled: CompiledGame = compile_game(rules)
        self.rules = one_at_a_time(rules)
        offsets = self.compiled.tree.sequence_offsets
        actions = [self.compiled.action_ids[offsets[player] + 1 : offsets[player + 1]] for player in range(self.players)]
        if any(min(values, default=0) < 0 for values in actions):
            raise GameError(
                f"{self.compiled} has negative action ids, which a Discrete space does not support; renumber its actions"
            )
        self.sizes = [int(max(values, default=0)) + 1 for values in actions]
        self.nothing: Mask = np.zeros(max(self.sizes), np.int8)
        self.no_returns = [0.0] * self.players
        self.infosets = self.compiled.infosets
        self.policies: dict[int, Policy] = {}
        self.tensors: tuple[NDArray[np.float32], ...] = ()
        if observation == "tensor":
            rows = [infostate_tensors(self.compiled, player) for player in range(self.players)]
            self.tensors = tuple(np.vstack((values, np.zeros_like(values[:1]))).astype(np.float32) for values in rows)
        self._root: Position | None = None
        self._remembered = 0
        self.begin()

    @property
    def players(self) -> int:
        """The number of players."""
        return self.compiled.players

    @property
    def state(self) -> State:
        """The current history."""
        return self.at.state

    @property
    def over(self) -> bool:
        """Whether the game is over."""
        return self.at.player == TERMINAL

    def begin(self) -> None:
        """Return to the start of the game."""
        if self._root is None or self._remembered > MOST_POSITIONS:
            self._root, self._remembered = Position(self, self.rules.new_initial_state()), 1
        self.at = self._root

    def after(self, position: Position, action: int) -> Position:
        """Return the position after an action."""
        child = position.children.get(action)
        if child is None:
            child = position.children[action] = Position(self, position.state.child(action))
            self._remembered += 1
        return child

    def move(self, action: int) -> None:
        """Play an action."""
        self.at = self.after(self.at, action)

    def pass_chance(self, random: np.random.Generator) -> None:
        """Sample chance until a player acts or the game is over."""
        while self.at.player == CHANCE:
            self.move(self.at.drawn(random))

    def action_space(self, player: int) -> Any:
        """Action space: ids from 0 to the player's highest."""
        return Discrete(self.sizes[player])

    def observation_space(self, player: int) -> Any:
        """Observation space: the player's infosets plus an index for "no infoset", or infostate tensors."""
        if self.tensors:
            return Box(0.0, 1.0, self.tensors[player].shape[1:], np.float32)
        return Discrete(self.none(player) + 1)

    def masked_space(self, player: int) -> Any:
        """Space of observations with action masks, in PettingZoo's format."""
        mask = Box(0, 1, (self.sizes[player],), np.int8)
        return Dict({"observation": self.observation_space(player), "action_mask": mask})

    def shown(self, player: int, number: int) -> Any:
        """Return the player's observation at an infoset, given by index."""
        return self.tensors[player][number].copy() if self.tensors else number

    def none(self, player: int) -> int:
        """Observation that stands for "no infoset"."""
        return self.infosets[player]

    def masked(self, player: int, number: int, mask: Mask) -> dict[str, Any]:
        """The player's observation at an infoset with its action mask, in PettingZoo's format."""
        return {"observation": self.tensors[player][number].copy() if self.tensors else np.int64(number), "action_mask": mask}

    def legal_mask(self, player: int) -> Mask:
        """The current action mask of ``player``, int8 [actions]; all 0 if it is not the player's turn."""
        return self.at.mask.copy() if self.at.player == player else self.nothing[: self.sizes[player]].copy()

    def check_legal(self, action: int, position: Position | None = None) -> None:
        """Raise an error if ``action`` is not legal at a position; None for the present one."""
        at = position or self.at
        if action not in at.actions:
            where, legal = at.infostate, at.actions
            raise GameError(
                f"action {action} is not legal at infostate {where!r}; the legal actions are {legal} (see action_mask)"
            )


def checked_illegal(illegal: str) -> str:
    """Check and return ``illegal``.

    Raises:
        SpecError: it is neither ``error`` nor ``random``.
    """
    if illegal not in ("error", "random"):
        raise SpecError(f"illegal is {illegal!r}; use 'error' or 'random'")
    return illegal


class GameEnv(gymnasium.Env[Any, Any]):
    """Gymnasium environment for one player; chance and the other players are part of the environment.

    ``info`` has ``action_mask`` (int8 [actions]) and ``infostate`` (text). If the game ends before the player ever acts, the
    observation is the index for "no infoset", the mask allows only action 0, and the next step ends the episode.
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
            player: the player for whom :meth:`step` acts.
            others: the other players: one policy for all of them, or a policy or an agent for each; uniform by default. In
                two-player games it may also be the opponent's agent.
            observation: the index of the infoset, or its binary tensor.
            illegal: response to an illegal action: raise an error, or play a random legal action instead (``info["illegal"]``
                is then true). Gymnasium's ``check_env`` ignores masks, so it needs ``"random"``.
            render_mode: ``"ansi"`` or None.

        Raises:
            SpecError: the game, the player or a seat in ``others`` does not exist.
            PolicyError: a policy belongs to another game.
        """
        self.play = Play(game, observation)
        self.over = True
        if not 0 <= player < self.play.players:
            raise SpecError(f"player {player} does not exist; {self.play.compiled} has players 0 to {self.play.players - 1}")
        self.player = player
        self.illegal = checked_illegal(illegal)
        self.render_mode = render_mode
        self.agents: dict[int, SeatedAgent] = {}
        for other, follows in self.each_of(others).items():
            self.follow(follows, other)
        self.observation_space = self.play.observation_space(player)
        self.action_space = self.play.action_space(player)

    def each_of(self, others: Others) -> Mapping[int, Policy | Agent]:
        """Return the policy or agent of each other player.

        Raises:
            SpecError: a single agent is given for several seats, or a seat does not exist.
        """
        if others is None:
            return {}
        if isinstance(others, PolicyMapping):
            return dict.fromkeys(range(self.play.players), others)
        if isinstance(others, Mapping):
            check_seats(cast(Mapping[int, object], others), self.play.compiled)
            return cast(Mapping[int, Policy | Agent], others)
        if self.play.players != 2:
            raise SpecError(
                f"{self.play.compiled} has {self.play.players} players, but an agent plays only one seat; "
                "give a mapping from seats to agents"
            )
        return {1 - self.player: others}

    def follow(self, follows: Policy | Agent, other: int) -> None:
        """Assign a policy or an agent to another player.

        Raises:
            PolicyError, GameError: the policy or agent belongs to another game.
        """
        if not isinstance(follows, PolicyMapping):
            self.agents[other] = seat(follows, self, other).seated
        elif follows.game.identity != self.play.compiled.identity:
            raise PolicyError(f"the policy is for {follows.game}, not for {self.play.compiled}; give one for this game")
        elif other != self.player:
            self.play.policies[other] = follows

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start a game; equal seeds give equal chance outcomes and equal actions of the other players."""
        super().reset(seed=seed, options=options)
        self.play.begin()
        for agent in self.agents.values():
            agent.restart(np.random.default_rng(self.np_random.integers(2**63)))
        self.advance()
        self.over = False
        return self.view()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Play ``action``, then advance to the player's next decision or the end of the game.

        Raises:
            GameError: the action is illegal, or the episode is over or has not started.
        """
        if self.over:
            raise GameError("the episode is over or has not started; call reset()")
        play, illegal = self.play, False
        if not play.over:
            chosen = int(action)
            illegal = chosen not in play.at.actions
            if illegal:
                if self.illegal == "error":
                    play.check_legal(chosen)
                chosen = int(self.np_random.choice(play.at.actions))
            play.move(chosen)
            self.advance()
        observation, info = self.view()
        self.over = ended = play.over
        info["illegal"] = illegal
        return observation, play.at.returns[self.player], ended, False, info

    def advance(self) -> None:
        """Sample chance and the other players' actions until the player is to act or the game is over."""
        play, random = self.play, self.np_random
        while (player := play.at.player) not in (self.player, TERMINAL):
            agent = self.agents.get(player)
            play.move(play.at.drawn(random) if agent is None else agent.act(play.at.infostate))

    def view(self) -> tuple[Any, dict[str, Any]]:
        """The player's observation and info."""
        play, player = self.play, self.player
        mask = play.legal_mask(player)
        if play.over:
            mask[0] = 1
            return play.shown(player, play.none(player)), {"action_mask": mask, "infostate": ""}
        return play.shown(player, play.at.number), {"action_mask": mask, "infostate": play.at.infostate}

    def render(self) -> Any:
        """The player's infostate, as text."""
        return self.view()[1]["infostate"] if self.render_mode == "ansi" else None


class AllPlayers:
    """Base class for PettingZoo environments: agent names ``player_0``, ..., spaces and rendering."""

    def __init__(self, game: str | Game | Any, observation: str, render_mode: str | None) -> None:
        self.play = Play(game, observation)
        self.render_mode = render_mode
        self.random = np.random.default_rng()
        self.possible_agents = [f"player_{player}" for player in range(self.play.players)]
        self.agents: list[str] = []
        self.action_spaces = {agent: self.play.action_space(player) for player, agent in enumerate(self.possible_agents)}
        self.observation_spaces = {agent: self.play.masked_space(player) for player, agent in enumerate(self.possible_agents)}

    def observation_space(self, agent: str) -> Any:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        return self.action_spaces[agent]

    def begin(self, seed: int | None) -> None:
        """Start a game; equal seeds give equal chance outcomes."""
        if seed is not None:
            self.random = np.random.default_rng(seed)
        self.agents = list(self.possible_agents)
        self.seen = [self.play.none(player) for player in range(self.play.players)]
        self.play.begin()

    def render(self) -> Any:
        """The infostate of the player to act, as text."""
        return None if self.render_mode != "ansi" or self.play.over else self.play.at.infostate

    def close(self) -> None:
        """Do nothing; there is nothing to close."""


class GameAEC(AllPlayers, pettingzoo.AECEnv[str, Any, Any]):  # type: ignore[misc]
    """PettingZoo AEC environment: the players ``player_0``, ``player_1``, ... act in turn.

    Observations are ``{"observation": index of the infoset, "action_mask": int8 [actions]}``; a player who is not to act
    observes the infoset of its last action.
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
        super().__init__(game, observation, render_mode)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a game; equal seeds give equal chance outcomes."""
        self.begin(seed)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = self.agents[0]
        self.advance()
        self._accumulate_rewards()  # chance may have ended the game

    def advance(self) -> None:
        """Sample chance, then select the player to act, or assign the payoffs if the game is over."""
        self.play.pass_chance(self.random)
        if self.play.over:
            self.rewards = dict(zip(self.possible_agents, self.play.at.returns, strict=True))
            self.terminations = dict.fromkeys(self.agents, True)
            self.seen = [self.play.none(player) for player in range(self.play.players)]
            return
        player = self.play.at.player
        self.seen[player] = self.play.at.number
        self.agent_selection = self.possible_agents[player]

    def step(self, action: Any) -> None:
        """Play the action of the selected agent; None for an agent whose game is over."""
        if not self.agents:
            raise GameError("the episode is over or has not started; call reset()")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self.play.check_legal(int(action))
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        self.play.move(int(action))
        self.advance()
        self._accumulate_rewards()

    def observe(self, agent: str) -> dict[str, Any]:
        player = self.possible_agents.index(agent)
        return self.play.masked(player, self.seen[player], self.play.legal_mask(player))


class GameParallel(AllPlayers, pettingzoo.ParallelEnv[str, Any, Any]):  # type: ignore[misc]
    """PettingZoo parallel environment: every step takes an action from each player.

    In simultaneous moves all actions are used. Otherwise only the acting player's action is used; the others' masks are zero,
    and their actions may be omitted. Observations are those of :class:`GameAEC`.
    """

    metadata = {"render_modes": ["ansi"], "name": "treeplex_parallel_v0"}  # noqa: RUF012

    def __init__(
        self,
        game: str | Game | Any,
        *,
        observation: Literal["infoset", "tensor"] = "infoset",
        illegal: Literal["error", "random"] = "error",
        render_mode: str | None = None,
    ) -> None:
        """Set up the environment for a spec, rules or an OpenSpiel game; for other arguments see :class:`GameEnv`.

        Raises:
            SpecError: an unknown game.
        """
        super().__init__(game, observation, render_mode)
        self.illegal = checked_illegal(illegal)

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Start a game; equal seeds give equal chance outcomes."""
        self.begin(seed)
        return self.advance(), {agent: {} for agent in self.agents}

    def advance(self) -> dict[str, Any]:
        """Sample chance and determine the players to act; returns each player's observation."""
        self.play.pass_chance(self.random)
        self.acting = self.together(self.play.at)
        for position in self.acting:
            self.seen[position.player] = position.number
        masks = {position.player: position.mask for position in self.acting}
        if self.play.over:
            self.seen = [self.play.none(player) for player in range(self.play.players)]
        return {
            agent: self.play.masked(
                player, self.seen[player], masks.get(player, self.play.nothing)[: self.play.sizes[player]].copy()
            )
            for player, agent in enumerate(self.possible_agents)
        }

    def together(self, position: Position) -> list[Position]:
        """The decisions of all players who now move simultaneously."""
        if position.player == TERMINAL:
            return []
        positions, state = [position], position.state
        if isinstance(state, TurnBasedState) and state.state.is_simultaneous_node():
            while isinstance(after := self.play.after(positions[-1], positions[-1].actions[0]).state, TurnBasedState):
                if after.state is not state.state:
                    break
                positions.append(self.play.after(positions[-1], positions[-1].actions[0]))
        return positions

    def step(
        self, actions: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Play the actions, given by agent name, of all players who now move.

        Raises:
            GameError: an action is illegal or missing, or the episode is over or has not started.
        """
        if not self.agents:
            raise GameError("the episode is over or has not started; call reset()")
        chosen = []
        for position in self.acting:
            agent = self.possible_agents[position.player]
            if agent not in actions:
                raise GameError(f"the action of {agent} is missing; give one for every agent that acts")
            chosen.append(int(actions[agent]))
            if self.illegal == "error":
                self.play.check_legal(chosen[-1], position)
        for action in chosen:
            if action not in self.play.at.actions:
                action = int(self.random.choice(self.play.at.actions))
            self.play.move(action)
        seen, agents, over = self.advance(), self.agents, self.play.over
        self.agents = [] if over else agents
        return (
            seen,
            dict(zip(agents, self.play.at.returns, strict=True)),
            dict.fromkeys(agents, over),
            dict.fromkeys(agents, False),
            {agent: {} for agent in agents},
        )
