"""Continuations that generate themselves: best responses to what a depth-limited search finds (Brown, Sandholm and Amos 2018).

The biased versions of a blueprint need actions that mean folding, calling and raising. The paper's *self-generative approach*
needs a public tree and nothing else.
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
    """The blueprint and self-generated continuations: best responses to the opponent's searches.

    It begins with the blueprint alone. Again and again the other player searches the game down to a horizon, behind which the
    player chooses among the policies so far, and the player's best response to what was found is one more. What was found is
    the search's average policy, and the blueprint behind the horizon. Averages hold a little of the uniform policy with which
    a search begins; so every leaf is reached, and a response is a best one behind all of them.

    In the paper that is the self-generative approach (section 4).

    Args:
        rules: the public-tree rules of the blueprint's game, or its spec or rules.
        blueprint: the first continuation, and how the other player goes on.
        player: who chooses behind leaves.
        count: how many policies, the blueprint included. Searches may find the same response twice; both count.
        horizon: where the searches are cut off; by default with the first betting round.
        method: one of :data:`treeplex.search.methods.METHODS` that lets players choose behind leaves.
        iterations: of each search.

    Raises:
        AlgorithmError: no such player, a count below 1, an unknown method, or one without choices behind leaves.
        PolicyError: a blueprint of another game.
    """
    if player not in (0, 1):
        raise AlgorithmError(f"the player who chooses behind leaves is 0 or 1, not {player!r}")
    if not 1 <= count == int(count):
        raise AlgorithmError(f"count must be a whole number of at least 1, the blueprint included, not {count!r}")
    if method not in METHODS:
        raise AlgorithmError(f"unknown method {method!r}; known: {METHOD_NAMES}")
    rules, found = public_tree(rules), [blueprint]
    while len(found) < count:
        leaf = BlueprintLeaf(rules, blueprint, {player: found})
        search = SubgameSearch(cut_states(rules, [rules.first_state()], horizon), METHODS[method], leaf, horizon=iterations)
        search.run(iterations)
        probabilities = blueprint.probabilities.copy()
        write_average(search, blueprint.game, (1 - player,), probabilities)
        _, response = best_response(blueprint.game, Policy(blueprint.game, probabilities), player)
        found.append(response)
    return found
