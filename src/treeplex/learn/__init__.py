"""Training: ReBeL, DeepStack's networks, discount policies by evolution strategies and PPO, and learners of one's own.

``tp.train`` runs a learner by name, or a class that derives :class:`Learner`; its settings derive :class:`Settings`.

``DiscountPolicy`` is a learned scheme of weights, which solvers take as ``ddcfr``, ``dpcfr+`` or ``pddcfr``.
"""

from typing import TYPE_CHECKING

from treeplex.exports import lazy_exports

if TYPE_CHECKING:
    from treeplex.learn.deepstack.files import deepstack_leaf
    from treeplex.learn.deepstack.settings import DeepStackSettings
    from treeplex.learn.learner import Learner
    from treeplex.learn.rebel.settings import HoldemRebelSettings, RebelSettings
    from treeplex.runs.discount.settings import DiscountSettings
    from treeplex.runs.rebel.judge import RebelJudgement, judge_rebel
    from treeplex.runs.train.seeds import SeedTrainings, train_seeds
    from treeplex.settings import Settings, setting
    from treeplex.solvers.rules.discount_policy import DiscountPolicy
    from treeplex.solvers.rules.discount_policy_files import load_discount_policy, save_discount_policy, shipped_discount_policy

_HOMES = {
    "treeplex.learn.deepstack.files": "deepstack_leaf",
    "treeplex.learn.deepstack.settings": "DeepStackSettings",
    "treeplex.learn.learner": "Learner",
    "treeplex.learn.rebel.settings": "HoldemRebelSettings, RebelSettings",
    "treeplex.runs.discount.settings": "DiscountSettings",
    "treeplex.runs.rebel.judge": "RebelJudgement, judge_rebel",
    "treeplex.runs.train.seeds": "SeedTrainings, train_seeds",
    "treeplex.settings": "Settings, setting",
    "treeplex.solvers.rules.discount_policy": "DiscountPolicy",
    "treeplex.solvers.rules.discount_policy_files": "load_discount_policy, save_discount_policy, shipped_discount_policy",
}

__all__ = [
    "DeepStackSettings",
    "DiscountPolicy",
    "DiscountSettings",
    "HoldemRebelSettings",
    "Learner",
    "RebelJudgement",
    "RebelSettings",
    "SeedTrainings",
    "Settings",
    "deepstack_leaf",
    "judge_rebel",
    "load_discount_policy",
    "save_discount_policy",
    "setting",
    "shipped_discount_policy",
    "train_seeds",
]
__getattr__, __dir__ = lazy_exports(__name__, _HOMES)
