"""Search over public belief states: beliefs, depth-limited subgames, values at their leaves, agents that search."""

from typing import TYPE_CHECKING

from treeplex.base.exports import lazy_exports

if TYPE_CHECKING:
    from treeplex.forms.sources.load import public_game, public_tree
    from treeplex.search.action_subset import ActionSubset, only_sizes
    from treeplex.search.agents.agent import Agent, Seat, TableAgent, agent_policy, play_game
    from treeplex.search.agents.explanation import Explanation
    from treeplex.search.agents.searching import SearchAgent
    from treeplex.search.evaluate.aivat import Aivat, PolicyValues, ValueFunction
    from treeplex.search.evaluate.play import PlayedHand, Step
    from treeplex.search.exact_leaf import ExactLeaf
    from treeplex.search.leaf import LeafValue, NoLeaf, ZeroLeaf
    from treeplex.search.methods import METHODS, Method
    from treeplex.search.play_distribution import averaged_policy
    from treeplex.search.resolving.agent import ResolvingAgent
    from treeplex.search.resolving.blueprint import TableBlueprint
    from treeplex.search.resolving.carried import Carried, Resolved
    from treeplex.search.resolving.continuations import BlueprintLeaf, biased, biased_policies
    from treeplex.search.resolving.next_round import NextRound
    from treeplex.search.resolving.resolved import carried_values, resolved
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
    from treeplex.search.subgames.batch import cut_states
    from treeplex.search.subgames.beliefs import Belief
    from treeplex.search.subgames.cut import cut
    from treeplex.search.subgames.gadgets import Gadget, Maxmargin, Resolve
    from treeplex.search.subgames.horizon import Horizon
    from treeplex.search.subgames.policy_tables import subgame_policy
    from treeplex.search.subgames.response import response_values
    from treeplex.search.translation.agent import TranslatedAgent
    from treeplex.search.translation.exact import translated_policy

_HOMES = {
    "treeplex.search.agents.agent": "Agent, Seat, TableAgent, agent_policy, play_game",
    "treeplex.search.evaluate.aivat": "Aivat, PolicyValues, ValueFunction",
    "treeplex.search.agents.explanation": "Explanation",
    "treeplex.search.evaluate.play": "PlayedHand, Step",
    "treeplex.search.subgames.batch": "cut_states",
    "treeplex.search.subgames.beliefs": "Belief",
    "treeplex.search.subgames.cut": "cut",
    "treeplex.search.subgames.gadgets": "Gadget, Maxmargin, Resolve",
    "treeplex.search.subgames.horizon": "Horizon",
    "treeplex.search.subgames.policy_tables": "subgame_policy",
    "treeplex.forms.sources.load": "public_game, public_tree",
    "treeplex.search.action_subset": "ActionSubset, only_sizes",
    "treeplex.search.agents.searching": "SearchAgent",
    "treeplex.search.exact_leaf": "ExactLeaf",
    "treeplex.search.leaf": "LeafValue, NoLeaf, ZeroLeaf",
    "treeplex.search.methods": "METHODS, Method",
    "treeplex.search.play_distribution": "averaged_policy",
    "treeplex.search.resolving.agent": "ResolvingAgent",
    "treeplex.search.resolving.blueprint": "TableBlueprint",
    "treeplex.search.resolving.carried": "Carried, Resolved",
    "treeplex.search.resolving.continuations": "BlueprintLeaf, biased, biased_policies",
    "treeplex.search.resolving.next_round": "NextRound",
    "treeplex.search.resolving.resolved": "carried_values, resolved",
    "treeplex.search.subgames.response": "response_values",
    "treeplex.search.resolving.self_generation": "generated_policies",
    "treeplex.search.resolving.self_improvement": "CoarsePolicy, compiled_subset, counted_actions, "
    "improved, most_frequent, unknown_actions",
    "treeplex.search.resolving.settings": "Resolving",
    "treeplex.search.settings": "PlaythroughSettings",
    "treeplex.search.subgame": "SubgameSearch, values_of",
    "treeplex.search.translation.agent": "TranslatedAgent",
    "treeplex.search.translation.exact": "translated_policy",
}

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
    "Resolved",
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
    "public_tree",
    "resolved",
    "response_values",
    "subgame_policy",
    "translated_policy",
    "unknown_actions",
    "values_of",
]
__getattr__, __dir__ = lazy_exports(__name__, _HOMES)
