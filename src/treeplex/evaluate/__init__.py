"""Evaluation of policies: value and distance from equilibrium. Imports no solver."""

from treeplex.evaluate.judge import Judgement, best_response, judge
from treeplex.evaluate.regret import infostate_regrets

__all__ = ["Judgement", "best_response", "infostate_regrets", "judge"]
