"""Self-generated continuations: best responses to the policies found by depth-limited search (Brown, Sandholm and Amos 2018).

The biased versions of a blueprint need actions that mean folding, calling and raising. The paper's *self-generative
approach* needs only a public tree.
"""

from treeplex.errors import AlgorithmError
from treeplex.evaluate.judge import best_response
from treeplex.forms.policies.tabular import Policy
from treeplex.forms.sources.load import public_tree
from treeplex.games.base import Game
from treeplex.games.public import PublicTree
from treeplex.search.methods import METHOD_NAMES, METHODS
from treeplex.search.resolving.continuations import BlueprintLeaf
from treeplex.search.resolving.resolved import SECOND_ROUND, write_average
from treeplex.search.subgame_search import SubgameSearch
from treeplex.search.subgames.batch import cut_states
from treeplex.search.subgames.horizon import Horizon


def self_generated_policies(
    rules: PublicTree | str | Game,
    blueprint: Policy,
    player: int,
    count: int,
    *,
    horizon: Horizon = SECOND_ROUND,
    method: str = "cfr+",
    iterations: int = 1000,
) -> list[Policy]:
    """Return the blueprint and self-generated continuations: best responses to the opponent's searches.

    The list starts with the blueprint alone. In each step the other player searches the game down to a horizon, where the
    player chooses among the policies so far. The player's best response to this search is then added, where the other player
    follows the search's average policy, and the blueprint after the horizon. The average includes the uniform policy with which
    a search begins, so every leaf is reached, and the response is optimal after all leaves.

    In the paper this is the self-generative approach (section 4).

    Args:
        rules: the public-tree rules of the blueprint's game, or its spec or rules.
        blueprint: the player's first continuation, and the other player's only one.
        player: the player who chooses among continuations.
        count: number of policies, including the blueprint and any duplicates.
        horizon: where the searches end; by default after the first betting round.
        method: one of :data:`treeplex.search.methods.METHODS` that supports choices below leaves.
        iterations: iterations of each search.

    Raises:
        AlgorithmError: the player does not exist, the count is below 1, or the method is unknown or does not support choices
            below leaves.
        PolicyError: the blueprint belongs to another game.
    """
    if player not in (0, 1):
        raise AlgorithmError(f"player is {player!r}; give 0 or 1, the player who chooses continuations at leaves")
    if not 1 <= count == int(count):
        raise AlgorithmError(f"count is {count!r}; give an integer of at least 1 (the blueprint is one policy)")
    if method not in METHODS:
        raise AlgorithmError(f"unknown method {method!r}; known: {METHOD_NAMES}")
    rules, policies = public_tree(rules), [blueprint]
    while len(policies) < count:
        leaf = BlueprintLeaf(rules, blueprint, {player: policies})
        search = SubgameSearch(cut_states(rules, [rules.first_state()], horizon), METHODS[method], leaf, horizon=iterations)
        search.run(iterations)
        probabilities = blueprint.probabilities.copy()
        write_average(search, blueprint.game, (1 - player,), probabilities)
        _, response = best_response(blueprint.game, Policy(blueprint.game, probabilities), player)
        policies.append(response)
    return policies
