"""Search over public belief states: beliefs, depth-limited subgames, values at their leaves."""

from treeplex.forms.subgames.beliefs import Belief
from treeplex.forms.subgames.cut import cut
from treeplex.search.leaf import ExactLeaf, LeafValue, NoLeaf, ZeroLeaf
from treeplex.search.subgame import METHODS, Method, SubgameSearch

__all__ = ["METHODS", "Belief", "ExactLeaf", "LeafValue", "Method", "NoLeaf", "SubgameSearch", "ZeroLeaf", "cut"]
