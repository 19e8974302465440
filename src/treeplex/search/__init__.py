"""Search over public belief states: beliefs, depth-limited subgames, values at their leaves, agents that search."""

from treeplex.forms.subgames.beliefs import Belief
from treeplex.forms.subgames.cut import cut
from treeplex.forms.subgames.horizon import Horizon
from treeplex.forms.subgames.public_rules import public_rules
from treeplex.search.agent import SearchAgent
from treeplex.search.exact_leaf import ExactLeaf
from treeplex.search.leaf import LeafValue, NoLeaf, ZeroLeaf
from treeplex.search.play_distribution import PlaythroughSettings, averaged_policy
from treeplex.search.subgame import METHODS, Method, SubgameSearch

__all__ = [
    "METHODS",
    "Belief",
    "ExactLeaf",
    "Horizon",
    "LeafValue",
    "Method",
    "NoLeaf",
    "PlaythroughSettings",
    "SearchAgent",
    "SubgameSearch",
    "ZeroLeaf",
    "averaged_policy",
    "cut",
    "public_rules",
]
