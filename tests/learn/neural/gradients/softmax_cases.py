"""Logits, values and masks at random, and learners of a few steps on Kuhn poker."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import torch

import treeplex as tp
from treeplex.base.arrays import Floats
from treeplex.games.base import Game
from treeplex.learn.learner import Learner
from treeplex.learn.neural.gradients.actor import Actor

torch.set_num_threads(1)


def slopes_by_autograd(loss: Callable[[Any], Any], logits: Floats) -> Floats:
    """How a loss of log probabilities [I, A] changes with logits, by PyTorch."""
    leaf = torch.tensor(logits, requires_grad=True)
    loss(torch.log_softmax(leaf, dim=1)).backward()
    return np.asarray(leaf.grad)


def softmax(logits: Floats) -> Floats:
    """Of each row."""
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    found: Floats = weights / weights.sum(axis=1, keepdims=True)
    return found


LearnerT = TypeVar("LearnerT", bound=Learner)


def learner(made: type[LearnerT], game: str = "kuhn_poker", **changes: Any) -> LearnerT:
    """A learner with some settings, a table unless they say otherwise."""
    rules = tp.load(game)
    assert isinstance(rules, Game)
    return made(rules, made.settings_class(**{"approximator": "table", **changes}))


def run(student: Actor, updates: int) -> Actor:
    """So many steps."""
    for _ in range(updates):
        student.step()
    return student
