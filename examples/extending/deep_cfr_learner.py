"""Deep CFR in one file of plain PyTorch (Brown, Lerer, Gross and Sandholm 2019, algorithms 1 and 2).

Each iteration samples advantages by external sampling and trains a network for each player on all of them, from scratch; regret
matching on its outputs is the next policy. A last network learns the average policy. 60 iterations on Leduc take a few minutes.

    treeplex train examples/extending/deep_cfr_learner.py leduc_poker --out runs/deep
    treeplex train examples/extending/deep_cfr_learner.py --resume runs/deep --set steps=100
    treeplex evaluate leduc_poker runs/deep
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch

import treeplex as tp
from treeplex.learn import Learner, Reservoir, Rows, Settings, infoset_features, setting


@dataclass(frozen=True)
class DeepCFRSettings(Settings):
    """Settings of a training run."""

    steps: int = setting(60, "iterations", low=1)
    walks: int = setting(400, "traversals per player and iteration", low=1)
    fits: int = setting(250, "gradient steps of an advantage network per iteration", low=1)
    policy_fits: int = setting(2000, "gradient steps of the average-policy network", low=1)
    batch: int = setting(512, "rows per gradient step", low=1)
    width: int = setting(64, "units of each of two hidden layers", low=1, fixed=True)
    rate: float = setting(3e-3, "Adam's step size", above=0)
    memory: int = setting(500_000, "rows kept for each network, a uniform sample of all", low=1, fixed=True)
    seed: int = setting(0, "random seed", low=0, fixed=True)


class DeepCFR(Learner):
    """Deep CFR: networks learn sampled advantages, and another one learns the average policy."""

    settings_class = DeepCFRSettings
    source = "Brown, Lerer, Gross and Sandholm 2019, Deep counterfactual regret minimization (ICML)"

    def __init__(self, game, settings):
        super().__init__(game, settings)
        infosets, actions = len(self.compiled.infostates), int(self.compiled.action_ids.max()) + 1
        self.features = torch.from_numpy(infoset_features(self.compiled))  # float32 [I, F]
        self.legal = np.array([np.isin(range(actions), self.compiled.actions_at(infoset)) for infoset in range(infosets)])
        self.players = np.repeat(np.arange(self.compiled.players), self.compiled.infosets)
        *self.advantages, self.averages = [Reservoir(settings.memory, actions) for _ in range(self.compiled.players + 1)]
        self.policies = self.legal / self.legal.sum(axis=1, keepdims=True)  # float64 [I, A], the current policy
        self.done = 0

    def step(self):
        self.done += 1
        losses = np.zeros(self.compiled.players)
        for player, memory in enumerate(self.advantages):
            found, others = [], []
            for _ in range(self.settings.walks):
                self.walk(self.game.new_initial_state(), player, found, others)
            memory.add(self.rows(found), self.generator)
            self.averages.add(self.rows(others), self.generator)
            net, losses[player] = self.fit(memory.rows, self.settings.fits, self.generator.integers(2**31), policy=False)
            own = self.players == player
            self.policies[own] = regret_matching(self.outputs(net, own), self.legal[own])
        return {"loss": losses.mean()}

    def walk(self, state, player, found, others):
        """Sample a history's value for a player; appends pairs (infoset, numbers per action) to both lists."""
        if state.is_terminal():
            return state.returns()[player]
        if state.is_chance_node():
            outcomes, chances = zip(*state.chance_outcomes(), strict=True)
            return self.walk(state.child(outcomes[self.drawn(chances)]), player, found, others)
        acting = state.current_player()
        infoset = self.compiled.lookup[acting, state.information_state_string(acting)]
        policy = self.policies[infoset]
        if acting != player:
            others.append((infoset, policy))
            return self.walk(state.child(self.drawn(policy)), player, found, others)
        values = np.zeros(len(policy))
        for action in state.legal_actions():
            values[action] = self.walk(state.child(action), player, found, others)
        found.append((infoset, self.legal[infoset] * (values - policy @ values)))
        return policy @ values

    def drawn(self, chances):
        return int(np.searchsorted(np.cumsum(chances), self.generator.random() * sum(chances), side="right"))

    def rows(self, found):
        """Rows for a buffer; those of iteration t have weight t."""
        infosets, numbers = zip(*found, strict=True)
        return Rows(np.array(infosets, np.int32), np.array(numbers, np.float32), np.full(len(found), self.done, np.float32))

    def fit(self, rows, steps, seed, *, policy):
        """Fit a new network to rows of numbers or of policies; returns it with the last loss."""
        infosets, targets, weights = map(torch.from_numpy, (rows.places, rows.values, rows.weights / rows.weights.mean()))
        legal = torch.from_numpy(self.legal)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(seed))
            net = self.new_net()
            adam = torch.optim.Adam(net.parameters(), lr=self.settings.rate)
            for _ in range(steps):
                at = torch.randint(len(infosets), (self.settings.batch,))
                found, may = net(self.features[infosets[at].long()]), legal[infosets[at].long()]
                if policy:
                    found = found.masked_fill(~may, -torch.inf).softmax(dim=1)
                loss = (weights[at, None] * may * (found - targets[at]) ** 2).sum(dim=1).mean()
                adam.zero_grad()
                loss.backward()
                adam.step()
        return net, float(loss.detach())

    def new_net(self):
        sizes = [self.features.shape[1], self.settings.width, self.settings.width, self.legal.shape[1]]
        layers = [part for size in pairwise(sizes) for part in (torch.nn.Linear(*size), torch.nn.ReLU())]
        return torch.nn.Sequential(*layers[:-1])

    def outputs(self, net, infosets):
        """A network's outputs at infosets, float64 [I, A]."""
        return net(self.features[torch.from_numpy(infosets)]).detach().double().numpy()

    @property
    def costly(self):
        return True  # a network is trained for each policy

    def policy(self):
        if not len(self.averages):
            return tp.Policy.uniform(self.compiled)
        net, _ = self.fit(self.averages.rows, self.settings.policy_fits, self.settings.seed, policy=True)
        logits, weights = self.outputs(net, self.players >= 0), np.ones(len(self.compiled.action_ids))
        for infoset, row in enumerate(np.exp(logits - logits.max(axis=1, keepdims=True))):
            weights[self.compiled.sequences_at(infoset)] = row[self.compiled.actions_at(infoset)]
        return tp.Policy.from_weights(self.compiled, weights)

    def state(self):
        memories = enumerate([*self.advantages, self.averages])
        kept = {f"{number}.{name}": column for number, own in memories for name, column in own.state().items()}
        return {**kept, "policies": self.policies, "done": np.array([self.done])}

    def restore(self, arrays):
        for number, memory in enumerate([*self.advantages, self.averages]):
            memory.restore({name: arrays[f"{number}.{name}"] for name in memory.state()})
        self.policies, self.done = np.array(arrays["policies"]), int(arrays["done"][0])


def regret_matching(advantages, legal):
    """Policies proportional to positive advantages; the best action if none is positive (section 5.1 of the paper)."""
    positive = np.maximum(advantages, 0.0) * legal
    best = np.eye(legal.shape[1])[np.where(legal, advantages, -np.inf).argmax(axis=1)]
    matched = np.where(positive.any(axis=1, keepdims=True), positive, best)
    return matched / matched.sum(axis=1, keepdims=True)
