"""Search over public belief states: beliefs, depth-limited subgames, values at their leaves, agents that search."""

from treeplex.evaluate.match.agents import Agent, Seat, TableAgent, agent_policy, play_game
from treeplex.evaluate.match.aivat import Aivat, PolicyValues, ValueFunction
from treeplex.evaluate.match.explanation import Explanation
from treeplex.evaluate.match.play import PlayedHand, Step
from treeplex.forms.subgames.batch import cut_states
from treeplex.forms.subgames.beliefs import Belief
from treeplex.forms.subgames.cut import cut
from treeplex.forms.subgames.gadgets import Gadget, Maxmargin, Resolve
from treeplex.forms.subgames.horizon import Horizon
from treeplex.forms.subgames.policy_tables import subgame_policy
from treeplex.forms.subgames.public_rules import public_game, public_rules
from treeplex.search.action_subset import ActionSubset, only_sizes
from treeplex.search.agents.searching import SearchAgent
from treeplex.search.exact_leaf import ExactLeaf
from treeplex.search.leaf import LeafValue, NoLeaf, ZeroLeaf
from treeplex.search.methods import METHODS, Method
from treeplex.search.play_distribution import averaged_policy
from treeplex.search.resolving.agent import ResolvingAgent
from treeplex.search.resolving.blueprint import TableBlueprint
from treeplex.search.resolving.carried import Carried
from treeplex.search.resolving.continuations import BlueprintLeaf, biased, biased_policies
from treeplex.search.resolving.next_round import NextRound
from treeplex.search.resolving.resolved import carried_values, resolved
from treeplex.search.resolving.response import response_values
from treeplex.search.resolving.self_generation import generated_policies
from treeplex.search.resolving.self_improvement import (
    CoarsePolicy,
    compiled_subset,
    counted_actions,
    improved,
    most_frequent,
    unknown_actions,
)
from treeplex.search.resolving.settings import Resolving
from treeplex.search.settings import PlaythroughSettings
from treeplex.search.subgame import SubgameSearch, values_of
from treeplex.search.translation.agent import TranslatedAgent
from treeplex.search.translation.exact import translated_policy

__all__ = [
    "METHODS",
    "ActionSubset",
    "Agent",
    "Aivat",
    "Belief",
    "BlueprintLeaf",
    "Carried",
    "CoarsePolicy",
    "ExactLeaf",
    "Explanation",
    "Gadget",
    "Horizon",
    "LeafValue",
    "Maxmargin",
    "Method",
    "NextRound",
    "NoLeaf",
    "PlayedHand",
    "PlaythroughSettings",
    "PolicyValues",
    "Resolve",
    "Resolving",
    "ResolvingAgent",
    "SearchAgent",
    "Seat",
    "Step",
    "SubgameSearch",
    "TableAgent",
    "TableBlueprint",
    "TranslatedAgent",
    "ValueFunction",
    "ZeroLeaf",
    "agent_policy",
    "averaged_policy",
    "biased",
    "biased_policies",
    "carried_values",
    "compiled_subset",
    "counted_actions",
    "cut",
    "cut_states",
    "generated_policies",
    "improved",
    "most_frequent",
    "only_sizes",
    "play_game",
    "public_game",
    "public_rules",
    "resolved",
    "response_values",
    "subgame_policy",
    "translated_policy",
    "unknown_actions",
    "values_of",
]
