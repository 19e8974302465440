"""Training: ReBeL, DeepStack's networks, discount policies by evolution strategies and PPO, and custom learners.

``tp.train`` runs a learner by name, or a class derived from :class:`Learner` with settings derived from :class:`Settings`.

Custom learners can use ``infoset_features`` (network inputs), ``Reservoir`` (a uniform sample of rows),
``counterfactual_values`` (exact action values), and ``optimizer_arrays``, ``restore_optimizer`` and ``load_weights`` (PyTorch
state as arrays, for ``state`` and ``restore``).

``DiscountPolicy`` is a learned discounting scheme for the solvers ``ddcfr``, ``dpcfr+`` and ``pddcfr``.
"""

from typing import TYPE_CHECKING

from treeplex.base.exports import lazy_exports

if TYPE_CHECKING:
    from treeplex.base.settings import Settings, setting
    from treeplex.base.workers.executor import make_executor
    from treeplex.evaluate.regret import CounterfactualValues, counterfactual_values
    from treeplex.learn.common.fitting import load_weights, optimizer_arrays, restore_optimizer
    from treeplex.learn.deepstack.files import deepstack_leaf
    from treeplex.learn.deepstack.settings import DeepStackSettings
    from treeplex.learn.discount.settings import DiscountSettings
    from treeplex.learn.learner import Learner
    from treeplex.learn.neural.features import infoset_features
    from treeplex.learn.neural.fitting.averages import AveragingLearner, exact_average
    from treeplex.learn.neural.fitting.buffers import Reservoir, Rows, Window
    from treeplex.learn.neural.frame import NeuralSettings
    from treeplex.learn.neural.network_policy import shipped_networks
    from treeplex.learn.rebel.settings import HoldemRebelSettings, RebelSettings
    from treeplex.learn.rebel.shipped_nets import shipped_net, shipped_nets
    from treeplex.learn.rebel.trainer import RebelTrainer, save_rivers
    from treeplex.learn.rebel.training.judge import RebelJudgement, judge_rebel
    from treeplex.learn.rebel.turns.nets import read_turn_leaf
    from treeplex.learn.train.seeds import SeedSweep, train_seeds
    from treeplex.solvers.rules.discount_policy import DiscountPolicy
    from treeplex.solvers.rules.discount_policy_files import load_discount_policy, save_discount_policy, shipped_discount_policy

_HOMES = {
    "treeplex.base.workers.executor": "make_executor",
    "treeplex.learn.rebel.turns.nets": "read_turn_leaf",
    "treeplex.learn.rebel.trainer": "RebelTrainer, save_rivers",
    "treeplex.learn.rebel.shipped_nets": "shipped_net, shipped_nets",
    "treeplex.learn.neural.network_policy": "shipped_networks",
    "treeplex.learn.neural.frame": "NeuralSettings",
    "treeplex.learn.neural.fitting.averages": "AveragingLearner, exact_average",
    "treeplex.evaluate.regret": "CounterfactualValues, counterfactual_values",
    "treeplex.learn.common.fitting": "load_weights, optimizer_arrays, restore_optimizer",
    "treeplex.learn.deepstack.files": "deepstack_leaf",
    "treeplex.learn.deepstack.settings": "DeepStackSettings",
    "treeplex.learn.learner": "Learner",
    "treeplex.learn.neural.features": "infoset_features",
    "treeplex.learn.neural.fitting.buffers": "Reservoir, Rows, Window",
    "treeplex.learn.rebel.settings": "HoldemRebelSettings, RebelSettings",
    "treeplex.learn.discount.settings": "DiscountSettings",
    "treeplex.learn.rebel.training.judge": "RebelJudgement, judge_rebel",
    "treeplex.learn.train.seeds": "SeedSweep, train_seeds",
    "treeplex.base.settings": "Settings, setting",
    "treeplex.solvers.rules.discount_policy": "DiscountPolicy",
    "treeplex.solvers.rules.discount_policy_files": "load_discount_policy, save_discount_policy, shipped_discount_policy",
}

__all__ = [
    "AveragingLearner",
    "CounterfactualValues",
    "DeepStackSettings",
    "DiscountPolicy",
    "DiscountSettings",
    "HoldemRebelSettings",
    "Learner",
    "NeuralSettings",
    "RebelJudgement",
    "RebelSettings",
    "RebelTrainer",
    "Reservoir",
    "Rows",
    "SeedSweep",
    "Settings",
    "Window",
    "counterfactual_values",
    "deepstack_leaf",
    "exact_average",
    "infoset_features",
    "judge_rebel",
    "load_discount_policy",
    "load_weights",
    "make_executor",
    "optimizer_arrays",
    "read_turn_leaf",
    "restore_optimizer",
    "save_discount_policy",
    "save_rivers",
    "setting",
    "shipped_discount_policy",
    "shipped_net",
    "shipped_nets",
    "shipped_networks",
    "train_seeds",
]
__getattr__, __dir__ = lazy_exports(__name__, _HOMES)
