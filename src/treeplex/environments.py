"""Any game as a Gymnasium environment (one player's view, one or many games at once) or a PettingZoo one (all players).

Treeplex agents can play in these environments, and PettingZoo policies and OpenSpiel bots can play in Treeplex matches.
Environments need ``gymnasium`` and ``pettingzoo``,
the extra ``rl``. Bots need ``open_spiel``.
"""

from typing import TYPE_CHECKING

from treeplex.base.exports import lazy_exports

if TYPE_CHECKING:
    from treeplex.forms.compile.views.infostate_tensors import infostate_tensors
    from treeplex.search.environments.guests import BotAgent, ObservingAgent
    from treeplex.search.environments.players import GameAEC, GameEnv, GameParallel
    from treeplex.search.environments.seats import SeatedAgent, as_bot, seat
    from treeplex.search.environments.vector import GameVectorEnv

_HOMES = {
    "treeplex.search.environments.guests": "BotAgent, ObservingAgent",
    "treeplex.search.environments.players": "GameAEC, GameEnv, GameParallel",
    "treeplex.search.environments.seats": "SeatedAgent, as_bot, seat",
    "treeplex.search.environments.vector": "GameVectorEnv",
    "treeplex.forms.compile.views.infostate_tensors": "infostate_tensors",
}

__all__ = [
    "BotAgent",
    "GameAEC",
    "GameEnv",
    "GameParallel",
    "GameVectorEnv",
    "ObservingAgent",
    "SeatedAgent",
    "as_bot",
    "infostate_tensors",
    "seat",
]
__getattr__, __dir__ = lazy_exports(__name__, _HOMES)
