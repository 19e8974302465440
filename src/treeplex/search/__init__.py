"""Search over public belief states: beliefs, depth-limited subgames, values at their leaves, agents that search."""

from treeplex.forms.subgames.beliefs import Belief
from treeplex.forms.subgames.cut import cut
from treeplex.forms.subgames.gadgets import Gadget, Maxmargin, Resolve
from treeplex.forms.subgames.horizon import Horizon
from treeplex.forms.subgames.public_rules import public_rules
from treeplex.search.agent import SearchAgent
from treeplex.search.continuations import BlueprintLeaf, biased, biased_policies
from treeplex.search.leaf import ExactLeaf, LeafValue, NoLeaf, ZeroLeaf
from treeplex.search.play_distribution import PlaythroughSettings, averaged_policy
from treeplex.search.resolving import carried_values, resolved
from treeplex.search.subgame import METHODS, Method, SubgameSearch

__all__ = [
    "METHODS",
    "Belief",
    "BlueprintLeaf",
    "ExactLeaf",
    "Gadget",
    "Horizon",
    "LeafValue",
    "Maxmargin",
    "Method",
    "NoLeaf",
    "PlaythroughSettings",
    "Resolve",
    "SearchAgent",
    "SubgameSearch",
    "ZeroLeaf",
    "averaged_policy",
    "biased",
    "biased_policies",
    "carried_values",
    "cut",
    "public_rules",
    "resolved",
]
