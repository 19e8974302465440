"""Training: ReBeL, discount policies by evolution strategies and PPO, and the workers that both share.

``DiscountPolicy`` is a learned scheme of weights, which solvers take as ``ddcfr``, ``dpcfr+`` or ``pddcfr``.
"""

from typing import TYPE_CHECKING

from treeplex.exports import lazy_exports

if TYPE_CHECKING:
    from treeplex.learn.rebel.trainer import RebelSettings
    from treeplex.runs.rebel.judge import RebelJudgement, judge_rebel
    from treeplex.runs.rebel.settings import RebelRun
    from treeplex.runs.rebel.train import RebelTraining, train_rebel
    from treeplex.solvers.rules.discount_policy import DiscountPolicy
    from treeplex.solvers.rules.discount_policy_files import load_discount_policy, save_discount_policy, shipped_discount_policy

_HOMES = {
    "treeplex.learn.rebel.trainer": "RebelSettings",
    "treeplex.runs.rebel.judge": "RebelJudgement, judge_rebel",
    "treeplex.runs.rebel.settings": "RebelRun",
    "treeplex.runs.rebel.train": "RebelTraining, train_rebel",
    "treeplex.solvers.rules.discount_policy": "DiscountPolicy",
    "treeplex.solvers.rules.discount_policy_files": "load_discount_policy, save_discount_policy, shipped_discount_policy",
}

__all__ = [
    "DiscountPolicy",
    "RebelJudgement",
    "RebelRun",
    "RebelSettings",
    "RebelTraining",
    "judge_rebel",
    "load_discount_policy",
    "save_discount_policy",
    "shipped_discount_policy",
    "train_rebel",
]
__getattr__, __dir__ = lazy_exports(__name__, _HOMES)
