"""Any game as an environment of Gymnasium (one player's view, one game or many side by side) or PettingZoo (all players).

Needs ``gymnasium`` and ``pettingzoo``: ``pip install treeplex[rl]``.
"""

from typing import TYPE_CHECKING

from treeplex.exports import lazy_exports

if TYPE_CHECKING:
    from treeplex.evaluate.environments import GameAEC, GameEnv
    from treeplex.evaluate.vector_environment import GameVectorEnv
    from treeplex.forms.compile.infostate_tensors import infostate_tensors

_HOMES = {
    "treeplex.evaluate.environments": "GameAEC, GameEnv",
    "treeplex.evaluate.vector_environment": "GameVectorEnv",
    "treeplex.forms.compile.infostate_tensors": "infostate_tensors",
}

__all__ = ["GameAEC", "GameEnv", "GameVectorEnv", "infostate_tensors"]
__getattr__, __dir__ = lazy_exports(__name__, _HOMES)
