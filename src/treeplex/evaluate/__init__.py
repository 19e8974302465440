"""The judge: what a policy is worth and how far it is from equilibrium. Imports no solver."""

from treeplex.evaluate.judge import Judgement, best_response, judge
from treeplex.evaluate.regret import infostate_regrets

__all__ = ["Judgement", "best_response", "infostate_regrets", "judge"]
