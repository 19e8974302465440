"""Search over public belief states: beliefs, depth-limited subgames, values at their leaves."""

from treeplex.search.beliefs import PublicBelief
from treeplex.search.leaf import ExactLeaf, LeafValue, NoLeaf, ZeroLeaf
from treeplex.search.subgame import METHODS, Method, SubgameSearch

__all__ = ["METHODS", "ExactLeaf", "LeafValue", "Method", "NoLeaf", "PublicBelief", "SubgameSearch", "ZeroLeaf"]
