"""Search over public belief states: beliefs, depth-limited subgames, leaf values, and agents that search."""

from typing import TYPE_CHECKING

from treeplex.base.exports import lazy_exports

if TYPE_CHECKING:
    from treeplex.forms.sources.load import public_game, public_tree
    from treeplex.search.action_subset import ActionAbstraction, bet_abstraction
    from treeplex.search.agents.agent import Agent, BaseAgent, TableAgent, agent_policy, play_game
    from treeplex.search.agents.explanation import Explanation
    from treeplex.search.agents.searching import SearchAgent
    from treeplex.search.evaluate.aivat import Aivat, PolicyValues, ValueFunction
    from treeplex.search.evaluate.play import HandEvent, PlayedHand
    from treeplex.search.exact_leaf import ExactLeaf
    from treeplex.search.leaf import LeafValue, NoLeaf, ZeroLeaf
    from treeplex.search.methods import METHODS, Method
    from treeplex.search.play_distribution import playthrough_policy
    from treeplex.search.resolving.agent import ResolvingAgent
    from treeplex.search.resolving.blueprint import TableBlueprint
    from treeplex.search.resolving.carried import ResolvedSubgame, ResolvingState
    from treeplex.search.resolving.continuations import BlueprintLeaf, biased_policies, biased_policy
    from treeplex.search.resolving.next_round import NextRoundLeaf
    from treeplex.search.resolving.resolved import opponent_values, resolve_subgames
    from treeplex.search.resolving.self_generation import self_generated_policies
    from treeplex.search.resolving.self_improvement import (
        CoarsePolicy,
        compile_abstraction,
        improve_blueprint,
        most_frequent_actions,
        off_tree_actions,
        off_tree_counts,
    )
    from treeplex.search.resolving.settings import ResolveSettings
    from treeplex.search.settings import PlaythroughSettings
    from treeplex.search.subgame_search import SubgameSearch, subgame_values
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
    "treeplex.search.agents.agent": "Agent, BaseAgent, TableAgent, agent_policy, play_game",
    "treeplex.search.evaluate.aivat": "Aivat, PolicyValues, ValueFunction",
    "treeplex.search.agents.explanation": "Explanation",
    "treeplex.search.evaluate.play": "PlayedHand, HandEvent",
    "treeplex.search.subgames.batch": "cut_states",
    "treeplex.search.subgames.beliefs": "Belief",
    "treeplex.search.subgames.cut": "cut",
    "treeplex.search.subgames.gadgets": "Gadget, Maxmargin, Resolve",
    "treeplex.search.subgames.horizon": "Horizon",
    "treeplex.search.subgames.policy_tables": "subgame_policy",
    "treeplex.forms.sources.load": "public_game, public_tree",
    "treeplex.search.action_subset": "ActionAbstraction, bet_abstraction",
    "treeplex.search.agents.searching": "SearchAgent",
    "treeplex.search.exact_leaf": "ExactLeaf",
    "treeplex.search.leaf": "LeafValue, NoLeaf, ZeroLeaf",
    "treeplex.search.methods": "METHODS, Method",
    "treeplex.search.play_distribution": "playthrough_policy",
    "treeplex.search.resolving.agent": "ResolvingAgent",
    "treeplex.search.resolving.blueprint": "TableBlueprint",
    "treeplex.search.resolving.carried": "ResolvingState, ResolvedSubgame",
    "treeplex.search.resolving.continuations": "BlueprintLeaf, biased_policy, biased_policies",
    "treeplex.search.resolving.next_round": "NextRoundLeaf",
    "treeplex.search.resolving.resolved": "opponent_values, resolve_subgames",
    "treeplex.search.subgames.response": "response_values",
    "treeplex.search.resolving.self_generation": "self_generated_policies",
    "treeplex.search.resolving.self_improvement": "CoarsePolicy, compile_abstraction, off_tree_counts, "
    "improve_blueprint, most_frequent_actions, off_tree_actions",
    "treeplex.search.resolving.settings": "ResolveSettings",
    "treeplex.search.settings": "PlaythroughSettings",
    "treeplex.search.subgame_search": "SubgameSearch, subgame_values",
    "treeplex.search.translation.agent": "TranslatedAgent",
    "treeplex.search.translation.exact": "translated_policy",
}

__all__ = [
    "METHODS",
    "ActionAbstraction",
    "Agent",
    "Aivat",
    "BaseAgent",
    "Belief",
    "BlueprintLeaf",
    "CoarsePolicy",
    "ExactLeaf",
    "Explanation",
    "Gadget",
    "HandEvent",
    "Horizon",
    "LeafValue",
    "Maxmargin",
    "Method",
    "NextRoundLeaf",
    "NoLeaf",
    "PlayedHand",
    "PlaythroughSettings",
    "PolicyValues",
    "Resolve",
    "ResolveSettings",
    "ResolvedSubgame",
    "ResolvingAgent",
    "ResolvingState",
    "SearchAgent",
    "SubgameSearch",
    "TableAgent",
    "TableBlueprint",
    "TranslatedAgent",
    "ValueFunction",
    "ZeroLeaf",
    "agent_policy",
    "bet_abstraction",
    "biased_policies",
    "biased_policy",
    "compile_abstraction",
    "cut",
    "cut_states",
    "improve_blueprint",
    "most_frequent_actions",
    "off_tree_actions",
    "off_tree_counts",
    "opponent_values",
    "play_game",
    "playthrough_policy",
    "public_game",
    "public_tree",
    "resolve_subgames",
    "response_values",
    "self_generated_policies",
    "subgame_policy",
    "subgame_values",
    "translated_policy",
]
__getattr__, __dir__ = lazy_exports(__name__, _HOMES)
