"""The judge: what a policy is worth and how far it is from equilibrium. Imports no solver."""

from treeplex.evaluate.judge import (
    Judgement,
    best_response,
    expected_values,
    exploitability,
    judge,
    nash_conv,
)
from treeplex.evaluate.regret import infostate_regrets

__all__ = [
    "Judgement",
    "best_response",
    "expected_values",
    "exploitability",
    "infostate_regrets",
    "judge",
    "nash_conv",
]
