"""Base classes for custom agents, match results, and local best response. Complements ``tp.agent`` and ``tp.match``."""

from typing import TYPE_CHECKING

from treeplex.base.exports import lazy_exports

if TYPE_CHECKING:
    from treeplex.search.match.lbr_run import local_best_response
    from treeplex.search.match.result import MatchResult
    from treeplex.search.named_agents.kind import AgentKind, ThinkingSettings

_HOMES = {
    "treeplex.search.named_agents.kind": "AgentKind, ThinkingSettings",
    "treeplex.search.match.lbr_run": "local_best_response",
    "treeplex.search.match.result": "MatchResult",
}

__all__ = ["AgentKind", "MatchResult", "ThinkingSettings", "local_best_response"]
__getattr__, __dir__ = lazy_exports(__name__, _HOMES)
