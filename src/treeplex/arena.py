"""Beside ``tp.agent`` and ``tp.match``: what agents of one's own declare, what matches give, local best response."""

from typing import TYPE_CHECKING

from treeplex.exports import lazy_exports

if TYPE_CHECKING:
    from treeplex.runs.agents.kind import AgentKind, ThinkingSettings
    from treeplex.runs.lbr import local_best_response
    from treeplex.runs.match.result import MatchResult

_HOMES = {
    "treeplex.runs.agents.kind": "AgentKind, ThinkingSettings",
    "treeplex.runs.lbr": "local_best_response",
    "treeplex.runs.match.result": "MatchResult",
}

__all__ = ["AgentKind", "MatchResult", "ThinkingSettings", "local_best_response"]
__getattr__, __dir__ = lazy_exports(__name__, _HOMES)
