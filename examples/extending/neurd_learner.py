"""A learner of one's own: neural replicator dynamics on exact values (Hennes et al. 2020, NeuRD).

A network of one hidden layer gives the logits of all actions. A step moves them by the counterfactual regrets of the current
policy: gradient ascent on the sum of logit times regret, the regrets held fixed. The average policy is the result. On Kuhn
poker 3000 steps take a second and reach an exploitability below 0.01; larger games need a larger network and more care.

    treeplex train examples/extending/neurd_learner.py:NeuRD kuhn_poker --out runs/neurd
    treeplex train examples/extending/neurd_learner.py:NeuRD --resume runs/neurd --set steps=10000
    treeplex evaluate kuhn_poker runs/neurd
"""

from dataclasses import dataclass

import numpy as np

import treeplex as tp
from treeplex.engine.tree.gradient import gradient
from treeplex.engine.tree.sweeps import backup, reach
from treeplex.forms.policies.tabular import normalised, uniform_probabilities
from treeplex.learn import Learner, Settings, setting


@dataclass(frozen=True)
class NeuRDSettings(Settings):
    """What a training is asked to do."""

    steps: int = setting(3000, "steps of gradient ascent", low=1)
    hidden: int = setting(64, "units of the hidden layer", low=1, fixed=True)
    rate: float = setting(0.3, "step size", above=0)
    most: float = setting(4.0, "logits are not pushed further from 0 than this, so that no action dies out", above=0)
    seed: int = setting(0, "seed of the first weights", low=0, fixed=True)


class NeuRD(Learner):
    """Neural replicator dynamics: a network of logits that follow regrets."""

    settings_class = NeuRDSettings
    source = "Hennes et al. 2020, Neural replicator dynamics (AAMAS)"

    def __init__(self, game, settings):
        super().__init__(game, settings)
        compiled = self.compiled
        at = [compiled.sequences_at(infoset) for infoset in range(len(compiled.infostates))]
        self.sequences, self.actions = np.concatenate(at), np.concatenate([np.arange(len(each)) for each in at])
        self.infosets = compiled.tree.sequence_infoset[self.sequences]
        self.inputs = features(compiled.infostates)
        shape = self.inputs.shape[1], settings.hidden, self.actions.max() + 1
        self.first = self.generator.normal(0.0, shape[0] ** -0.5, shape[:2])
        self.second = self.generator.normal(0.0, 0.01, shape[1:])
        self.average, self.done = np.zeros(len(compiled.tree.sequence_infoset)), 0

    def step(self):
        settings, hidden = self.settings, np.tanh(self.inputs @ self.first)
        logits = hidden @ self.second
        strategy, advantages = self.played(logits)
        regrets = np.zeros_like(logits)
        regrets[self.infosets, self.actions] = advantages
        regrets[(logits * regrets > 0) & (np.abs(logits) > settings.most)] = 0.0
        below = regrets @ self.second.T * (1.0 - hidden**2)
        self.second += settings.rate * hidden.T @ regrets
        self.first += settings.rate * self.inputs.T @ below
        self.done += 1
        self.average += self.done * strategy
        return {"regret": np.maximum(advantages, 0.0).sum()}

    def played(self, logits):
        """The softmax policy in sequence form, [Q], and the counterfactual regret of every action under it."""
        game, tree = self.compiled, self.compiled.tree
        policy = uniform_probabilities(game)
        policy[self.sequences] = np.exp(logits - logits.max(axis=1, keepdims=True))[self.infosets, self.actions]
        policy = normalised(game, policy)
        strategy, values, infoset_values = np.empty_like(policy), np.empty_like(policy), np.empty(len(game.infostates))
        for player in range(game.players):
            reach(tree, player, policy, strategy)
        for player in range(game.players):
            gradient(tree, game.payoff, player, strategy, values)
            backup(tree, player, policy, values, infoset_values)
        return strategy, values[self.sequences] - infoset_values[self.infosets]

    def policy(self):
        return tp.Policy(self.compiled, normalised(self.compiled, self.average))

    def state(self):
        return {"first": self.first, "second": self.second, "average": self.average, "done": np.array([self.done])}

    def restore(self, arrays):
        self.first, self.second, self.average = (np.array(arrays[name]) for name in ("first", "second", "average"))
        self.done = int(arrays["done"][0])


def features(infostates):
    """What the network sees of each infoset, [I, F]: which character stands where in its text, and a constant."""
    known = sorted({place for text in infostates for place in enumerate(text)})
    return np.array([[place in set(enumerate(text)) for place in known] + [True] for text in infostates], float)
