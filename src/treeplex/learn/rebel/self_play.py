"""ReBeL's self-play (Brown et al. 2020, algorithms 1 and 2): concurrent episodes, each of which solves one subgame per step."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints
from treeplex.games.public import Chance, Decision, PublicState, PublicTree, Terminal, pair_state, pick
from treeplex.learn.common.device import torch_device
from treeplex.learn.common.encoding import Encoding
from treeplex.learn.common.fitting import Loss, huber, of_known, squared
from treeplex.learn.rebel.nets import policy_entropy, policy_loss
from treeplex.learn.rebel.play import Play, Rows
from treeplex.learn.rebel.policy_encoding import PolicyEncoding, no_policies
from treeplex.learn.rebel.random_beliefs import random_belief
from treeplex.learn.rebel.reward_rows import RewardRows, SubgamePath
from treeplex.learn.rebel.settings import SelfPlaySettings
from treeplex.learn.torch.search import TorchSearch, check_method
from treeplex.search.leaf import LeafValue
from treeplex.search.methods import METHODS
from treeplex.search.stopping import Replicas, SelfPlayPolicies, policies_at, training_iterations
from treeplex.search.subgames.batch import Subgames, cut_states, walked
from treeplex.search.subgames.beliefs import Belief, stacked_ranges
from treeplex.search.subgames.subgame import Ranges
from treeplex.search.warm_start.begin import begin_search

NO_LABEL = -(2**62)


VALUE_LOSS = {"huber": huber, "squared": squared}
POLICY_LOSS = {"squared": policy_loss, "cross-entropy": policy_entropy}
"""Losses by their names in the settings."""


class SelfPlay(Play):
    """Concurrent episodes of self-play, with a value function at the leaves of subgames.

    Attributes:
        beliefs: each episode's public belief state.
        paths: actions and chance outcomes from the root to each episode's public belief state.
        solved: number of subgames solved so far; a subgame shared by several episodes counts once for each.
        sharing: whether a subgame shared by several episodes is solved only once. The only effect is that a shared subgame
            gives one row for a policy network instead of several.
        rewards: pending rows with payoffs as targets; None if targets are search values.
    """

    def __init__(self, rules: PublicTree, settings: SelfPlaySettings, leaf: LeafValue, generator: np.random.Generator) -> None:
        """Start every episode.

        Raises:
            SpecError: the device is not available, or does not support the method.
        """
        super().__init__(rules, settings, leaf, generator)
        self.rules = rules
        self._device = torch_device(settings.device)
        if self._device is not None:
            check_method(METHODS[settings.method])
        self.encoding = Encoding(rules)
        self.policies = PolicyEncoding(self.encoding) if settings.policy_net else None
        self._root = Belief.root(rules)
        self.beliefs = [self._first() for _ in range(settings.episodes)]
        self.paths: list[tuple[int, ...]] = [()] * settings.episodes
        self.sharing = True
        self.rewards: RewardRows | None = None
        if settings.targets == "rewards":
            self.rewards = RewardRows(settings.episodes, self.encoding.inputs, self.encoding.outputs)

    def solved_in(self, rows: Rows) -> int:
        return len(self.beliefs)

    @property
    def empty(self) -> Rows:  # type: ignore[override]
        inputs, outputs = self.encoding.inputs, self.encoding.outputs
        policies = None if self.policies is None else no_policies(inputs, self.encoding.hands, len(self.policies.labels))
        return Rows(np.zeros((0, inputs), np.float32), np.zeros((0, outputs), np.float32), policies=policies)

    @property
    def losses(self) -> tuple[Loss, Loss]:  # type: ignore[override]
        settings = self.settings
        values = of_known(squared) if settings.targets == "rewards" else VALUE_LOSS[settings.value_loss]
        return values, POLICY_LOSS[settings.policy_loss]

    def advance(self) -> Rows:
        """Solve every episode's subgame, and move each episode to a leaf, or start a new one if the game ended.

        Returns:
            Training rows: the subgames' root values or finished episodes' payoffs, and the subgames' average policies if
                requested.
        """
        which, distinct = self._distinct()
        searched = cut_states(self.rules, states_of(distinct), self.settings.horizon)
        method, iterations = METHODS[self.settings.method], self.settings.iterations
        search = begin_search(searched, method, self.leaf, stacked_ranges(distinct), iterations)
        count, draw = len(self.beliefs), self.settings.draw
        stops = training_iterations(draw, method.name, iterations, count, self.generator, first=search.iteration)
        subgames = cut_states(self.rules, states_of(self.beliefs), self.settings.horizon)
        copies, average = Replicas.of(subgames, searched, which), self.settings.passed_on == "average" and method.averaging
        if self._device is None:
            stopped = policies_at(search, iterations, stops, average=average, copies=copies)
        else:
            stopped = TorchSearch(search, device=self._device).policies_at(iterations, stops, copies, average=average)
        prepared = self.encoding.prepared(searched.roots)
        inputs = prepared.write(search.ranges)[which]
        targets = prepared.targets(search.root_values())[which]
        policies = None if self.policies is None else self.policies.rows(search)
        walks = self._move(subgames, stopped, (search.ranges[0][which], search.ranges[1][which]))
        if self.rewards is not None:
            slots = prepared.slots[:, which].T * self.encoding.hands
            for episode, (held, walk) in enumerate(walks):
                self.rewards.follow(episode, inputs[episode], slots[episode] + held, walk, self.generator)
            inputs, targets = self.rewards.taken()
        self.solved += len(self.beliefs)
        return Rows(inputs, targets, policies=policies)

    def _distinct(self) -> tuple[Ints, list[Belief]]:
        """Index of each episode's belief among the distinct beliefs, int64 [E], and these beliefs; many episodes share the
        root's."""
        if not self.sharing:
            return np.arange(len(self.beliefs)), self.beliefs
        numbers: dict[int, int] = {}
        which = np.array([numbers.setdefault(id(belief), len(numbers)) for belief in self.beliefs])
        return which, [self.beliefs[k] for k in np.unique(which, return_index=True)[1]]

    def _first(self) -> Belief:
        """The public belief state at which an episode starts."""
        if self.settings.source == "random":
            return random_belief(self.rules, pair_state(self._root.state), self.generator)
        return self._root

    def _move(self, subgames: Subgames, stopped: SelfPlayPolicies, ranges: Ranges) -> list[tuple[tuple[int, int], SubgamePath]]:
        """Move each episode to its next public belief state; returns the hands at the root and the path of each."""
        policy, average = stopped
        if self.settings.source == "random":
            policy = uniform(subgames)
        arrived = subgames.leaves.reach_at(subgames.reach_from(ranges, policy) if average is None else average)
        walks = []
        for owner, belief in enumerate(self.beliefs):
            previous_hands = None if self.rewards is None else self.rewards.hands[owner]
            first, second = previous_hands or belief.draw(self.generator)
            walk = self._walk(subgames, policy, owner, (first, second))
            walks.append(((first, second), walk))
            leaf = walk.leaf
            following = (
                None if leaf is None else self._belief_at(subgames.leaves.states[leaf], [reach[leaf] for reach in arrived])
            )
            if leaf is None or following is None:
                self.beliefs[owner], self.paths[owner] = self._first(), ()
            else:
                self.beliefs[owner] = following
                self.paths[owner] += subgames.leaves.paths[leaf]
        return walks

    def _belief_at(self, state: PublicState, arrived: Sequence[Floats]) -> Belief | None:
        """An episode's next public belief state; None if no pair of hands is compatible, as when both ranges hold the same
        card."""
        if self.settings.source == "random":
            belief = random_belief(self.rules, state, self.generator)
        else:
            belief = Belief.of(
                self.rules, state, [reach[:size] for reach, size in zip(arrived, state.weight.shape, strict=True)]
            )
        return belief if belief.joint.any() else None

    def state(self) -> dict[str, NDArray[Any]]:
        longest = max(map(len, self.paths), default=0)
        paths = np.full((len(self.paths), longest), NO_LABEL, np.int64)
        for row, path in zip(paths, self.paths, strict=True):
            row[: len(path)] = path
        first, second = stacked_ranges(self.beliefs)
        waiting = {} if self.rewards is None else self.rewards.state()
        return {"paths": paths, "range0": first, "range1": second, **waiting}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        beliefs, paths = [], []
        for row, *ranges in zip(arrays["paths"], arrays["range0"], arrays["range1"], strict=True):
            state, path = self.rules.first_state(), tuple(int(label) for label in row if label != NO_LABEL)
            for label in path:
                state = self.rules.after(state, label)
            if not path and self.settings.source == "self-play":
                beliefs.append(self._root)
                paths.append(path)
                continue
            beliefs.append(
                Belief(self.rules, state, tuple(weights[:n] for weights, n in zip(ranges, state.weight.shape, strict=True)))
            )
            paths.append(path)
        if len(beliefs) != self.settings.episodes:
            raise ValueError(f"the state has {len(beliefs)} episodes, but this run has {self.settings.episodes}")
        if self.rewards is not None:
            self.rewards.restore(arrays)
        self.beliefs, self.paths = beliefs, paths

    def _walk(self, subgames: Subgames, policy: Floats, owner: int, held: tuple[int, int]) -> SubgamePath:
        """Play through one subgame, to a leaf or to the end of the game."""
        hands, explorer, explored, kept = list(held), int(self.generator.integers(2)), False, 1.0
        path: tuple[int, ...] = ()
        while True:
            kind, number = subgames.find(owner, path)
            if kind == "leaf":
                return SubgamePath(number, (hands[0], hands[1]), explored=explored, kept=kept)
            begun = subgames.roots.states[owner]
            node = subgames.node_at(owner, path) if kind == "decision" else walked(self.rules, begun.node, path)
            visited = self.rules.visit(node)
            if isinstance(visited, Terminal):
                payoff = visited.scale * float(visited.matrix[hands[0], hands[1]])
                return SubgamePath(None, (hands[0], hands[1]), payoff, explored, kept)
            if isinstance(visited, Chance):
                chances = np.array([chance[hands[0], hands[1]] for _, chance in visited.outcomes])
                path = (*path, visited.outcomes[pick(self.generator, chances)][0])
                continue
            assert isinstance(visited, Decision)
            player = visited.player
            if player == explorer and self.generator.random() < self.settings.exploration:
                a, explored = int(self.generator.integers(len(visited.actions))), True
            else:
                kept *= 1.0 - self.settings.exploration if player == explorer else 1.0
                first, stride, count = subgames.tree.infoset_layout[subgames.infosets[number, hands[player]]]
                a = pick(self.generator, policy[first : first + stride * count : stride])
            if visited.private:
                hands[player] = hands[player] * len(visited.actions) + a
            path = (*path, visited.actions[0 if visited.private else a])


def uniform(subgames: Subgames) -> Floats:
    """The uniform policy, float64 [Q]."""
    infosets = subgames.tree.sequence_infoset
    return np.where(infosets >= 0, 1.0 / subgames.tree.infoset_layout[infosets, 2], 1.0)


def states_of(beliefs: Sequence[Belief]) -> list[PublicState]:
    """Public states of the public belief states."""
    return [pair_state(belief.state) for belief in beliefs]
