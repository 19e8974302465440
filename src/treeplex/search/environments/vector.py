"""Gymnasium vector environment: many copies of a game, simulated on the arrays of the compiled game.

The rules are not evaluated during play. A step is a few NumPy operations for all games at once, which gives some millions of
episodes of Kuhn poker per minute on one core. Requires ``gymnasium``, installed by the extra ``rl``.
"""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints
from treeplex.base.version import install_hint
from treeplex.engine.histories.form import ACTOR, CHANCE, CHILD, CHILDREN, KEY, TERMINAL
from treeplex.errors import GameError, PolicyError, SpecError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.views.histories import histories_of
from treeplex.forms.compile.views.infostate_tensors import infostate_tensors
from treeplex.forms.policies.tabular import Policy, uniform_probabilities
from treeplex.games.base import Game
from treeplex.search.environments.seats import check_seats

try:
    from gymnasium.spaces import Box, Discrete
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space
except ImportError as error:
    raise ImportError(f"environments need gymnasium ({error}); run: {install_hint('rl')}") from error


class GameVectorEnv(VectorEnv[Any, Any, Any]):
    """Vector environment for one player; chance and the other players are part of the environment.

    ``infos`` has ``action_mask``, int8 [B, A]. A game that ends restarts within the same step: the reward belongs to the
    finished episode, the observation to the new one. If a game ends before the player ever acts, the observation stands for "no
    infoset" (index I, or zeros), the mask allows only action 0, and the next step ends the episode.
    """

    metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012

    def __init__(
        self,
        game: str | Game | Any,
        num_envs: int,
        *,
        player: int = 0,
        others: Policy | Mapping[int, Policy] | None = None,
        observation: Literal["infoset", "tensor"] = "infoset",
        illegal: Literal["error", "random"] = "error",
    ) -> None:
        """Set up the environments.

        Args:
            game: anything that :func:`treeplex.load` accepts.
            num_envs: B, the number of parallel games.
            player: the player for whom :meth:`step` acts.
            others: policies of the other players: one policy for all, or one each; uniform by default.
            observation: the index of the infoset, or its row of ``forms.compile.views.infostate_tensors.infostate_tensors``.
            illegal: response to an illegal action: raise an error, or play a random legal action instead.

        Raises:
            SpecError: the game, the player or a seat in ``others`` does not exist, or ``num_envs`` is below 1.
            GameError: a game without perfect recall, or one that is too large.
            PolicyError: a policy belongs to another game.
        """
        compiled = compile_game(game)
        if not 0 <= player < compiled.players:
            raise SpecError(f"player {player} does not exist; {compiled} has players 0 to {compiled.players - 1}")
        if num_envs < 1:
            raise SpecError(f"num_envs is {num_envs}; give at least 1")
        if observation not in ("infoset", "tensor"):
            raise SpecError(f"observation is {observation!r}; use 'infoset' or 'tensor'")
        if illegal not in ("error", "random"):
            raise SpecError(f"illegal is {illegal!r}; use 'error' or 'random'")
        self.compiled, self.player, self.num_envs, self.illegal = compiled, player, num_envs, illegal
        histories = histories_of(compiled)
        self._nodes, self._payoffs = histories.nodes, histories.payoffs[:, player]
        self._keys = edge_keys(compiled, player, policies_of(compiled, others))
        self._first_infoset = int(compiled.tree.infoset_offsets[player])
        self._slots = action_slots(compiled, player)
        self._tensors = None
        self.single_action_space = Discrete(self._slots.shape[1])
        if observation == "tensor":
            rows = infostate_tensors(compiled, player)
            self._tensors = np.vstack((rows, np.zeros_like(rows[:1]))).astype(np.float32)
            self.single_observation_space = Box(0.0, 1.0, (rows.shape[1],), np.float32)
        else:
            self.single_observation_space = Discrete(compiled.infosets[player] + 1)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._at: Ints = np.zeros(num_envs, np.int64)
        self._started = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start all games; equal seeds give equal chance outcomes and equal actions of the other players."""
        super().reset(seed=seed, options=options)
        self._at = self._advance(np.zeros(self.num_envs, np.int64))
        self._started = True
        return self._view()

    def step(self, actions: Any) -> tuple[Any, Floats, NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Play one action per game (ids as in the rules, int [B]) and advance to the player's next decision.

        Raises:
            GameError: an action is illegal, or :meth:`reset` has not been called.
        """
        if not self._started:
            raise GameError("call reset() before the first step")
        chosen = np.asarray(actions, np.int64)
        if chosen.shape != (self.num_envs,):
            raise GameError(f"give one action for each of {self.num_envs} games, not an array of shape {chosen.shape}")
        deciding = self._nodes[self._at, ACTOR] == self.player
        at = self._at[deciding]
        self._at[deciding] = self._advance(self._nodes[at, CHILD] + self._slots_of(chosen[deciding], at, deciding))
        over = self._nodes[self._at, ACTOR] == TERMINAL
        rewards = np.zeros(self.num_envs)
        rewards[over] = self._payoffs[self._nodes[self._at[over], KEY]]
        self._at[over] = self._advance(np.zeros(int(over.sum()), np.int64))
        observations, infos = self._view()
        return observations, rewards, over, np.zeros(self.num_envs, np.bool_), infos

    def _slots_of(self, chosen: Ints, at: Ints, deciding: NDArray[np.bool_]) -> Ints:
        """Index of each action among the actions of its infoset, int64 [K]."""
        rows = self._nodes[at, KEY] - self._first_infoset
        inside = (chosen >= 0) & (chosen < self._slots.shape[1])
        slots = np.where(inside, self._slots[rows, np.where(inside, chosen, 0)], -1)
        wrong = slots < 0
        if wrong.any():
            if self.illegal == "error":
                bad = int(np.argmax(wrong))
                infoset = int(rows[bad]) + self._first_infoset
                raise GameError(
                    f"action {chosen[bad]} of game {np.flatnonzero(deciding)[bad]} is not legal at infostate "
                    f"{self.compiled.infostates[infoset]!r}; legal: {self.compiled.actions_at(infoset)} (see action_mask)"
                )
            slots = np.where(wrong, (self.np_random.random(len(at)) * self._nodes[at, CHILDREN]).astype(np.int64), slots)
        return slots.astype(np.int64)

    def _advance(self, at: Ints) -> Ints:
        """Histories at the player's next decision or the end of the game, after sampling all other moves, int64 [K]."""
        at = at.copy()
        while True:
            actor = self._nodes[at, ACTOR]
            moving = np.flatnonzero((actor != TERMINAL) & (actor != self.player))
            if not moving.size:
                return at
            first = self._nodes[at[moving], CHILD].astype(np.int64)
            drawn = np.searchsorted(self._keys, first + self.np_random.random(moving.size), side="right")
            at[moving] = np.minimum(drawn, first + self._nodes[at[moving], CHILDREN] - 1)

    def _view(self) -> tuple[Any, dict[str, Any]]:
        """Observations [B] or [B, D], and masks [B, A]."""
        deciding = self._nodes[self._at, ACTOR] == self.player
        none = self.compiled.infosets[self.player]
        numbers = np.where(deciding, self._nodes[self._at, KEY].astype(np.int64) - self._first_infoset, none)
        mask = (self._slots[numbers] >= 0).astype(np.int8)
        return numbers if self._tensors is None else self._tensors[numbers], {"action_mask": mask}


def policies_of(game: CompiledGame, others: Policy | Mapping[int, Policy] | None) -> list[Floats]:
    """Each player's policy, float64 [Q] each."""
    given = (
        dict(others)
        if isinstance(others, Mapping) and not isinstance(others, Policy)
        else dict.fromkeys(range(game.players), others)
    )
    check_seats(given, game)
    policies = []
    for player in range(game.players):
        policy = given.get(player)
        if policy is not None and policy.game.identity != game.identity:
            raise PolicyError(f"the policy is for {policy.game}, not for {game}; give one for this game")
        policies.append(uniform_probabilities(game) if policy is None else policy.probabilities)
    return policies


def edge_keys(game: CompiledGame, player: int, policies: list[Floats]) -> Floats:
    """For each history c, its parent's first child plus the cumulative probability up to c, float64 [H], ascending.

    With u uniform on [0, 1), ``searchsorted(keys, first child + u)`` samples a child. Children of ``player``'s histories are
    not sampled.
    """
    nodes, chance, _ = histories_of(game)
    keys = np.arange(1.0, len(nodes) + 1.0)
    keys[0] = 0.0
    parents = nodes[(nodes[:, ACTOR] != player) & (nodes[:, CHILDREN] > 0)].astype(np.int64)
    if not len(parents):
        return keys
    counts = parents[:, CHILDREN]
    ends = np.cumsum(counts)
    of = np.repeat(np.arange(len(parents)), counts)
    number = np.arange(ends[-1]) - (ends - counts)[of]
    actor, key = parents[of, ACTOR], parents[of, KEY]
    drawn = actor == CHANCE
    shares = np.empty(len(of))
    shares[drawn] = chance[(key + number)[drawn]]
    layout = game.tree.infoset_layout[key[~drawn]]
    shares[~drawn] = np.stack(policies)[actor[~drawn], layout[:, 0] + layout[:, 1] * number[~drawn]]
    total = np.cumsum(shares)
    before = (total - shares)[ends - counts]
    first = parents[of, CHILD]
    keys[first + number] = first + np.clip((total - before[of]) / (total[ends - 1] - before)[of], 0.0, 1.0)
    return keys


def action_slots(game: CompiledGame, player: int) -> NDArray[np.int16]:
    """Index of each action id among the actions of each of a player's infosets, int16 [I + 1, A]; -1 if illegal.

    The last row stands for "no infoset", where only action 0 is legal.
    """
    first, last = (int(number) for number in game.tree.infoset_offsets[player : player + 2])
    actions = [game.actions_at(infoset) for infoset in range(first, last)]
    lowest = min((min(row) for row in actions), default=0)
    if lowest < 0:
        raise GameError(f"{game} has negative action ids, which a Discrete space does not support; renumber its actions")
    slots = np.full((last - first + 1, max((max(row) for row in actions), default=0) + 1), -1, np.int16)
    for number, row in enumerate(actions):
        slots[number, row] = np.arange(len(row))
    slots[-1, 0] = 0
    return slots
