"""Counterfactual values of the opponent's hands against a hold'em policy, from best responses or from the policy itself."""

from collections.abc import Sequence
from math import comb

from treeplex.base.arrays import Floats
from treeplex.games.public import State
from treeplex.holdem.betting.tree import Decision
from treeplex.holdem.policies.by_hand import HandPolicy, written
from treeplex.holdem.policies.node_values import HoldemValues
from treeplex.holdem.rules.public import HoldemGame
from treeplex.holdem.search.subgames.response import HoldemResponse
from treeplex.holdem.search.subgames.subgame import cut_holdem
from treeplex.search.subgames.beliefs import Belief
from treeplex.search.subgames.horizon import TO_THE_END

MOST_WRITTEN = 250_000_000
"""Maximum size of a policy on all future boards for which values are computed: one gigabyte."""


def written_size(game: HoldemGame) -> int:
    """Upper bound on the number of probabilities in a policy for all hands on all future boards."""
    form, streets = game.spot.format, game.spot.streets
    actions = dict.fromkeys(streets, 0)
    for node in game.tree.nodes:
        if isinstance(node, Decision):
            actions[node.street] += len(node.children)
    total, boards, left = 0, 1, len(form.deck) - len(game.spot.board)
    for street in streets:
        if street != streets[0]:
            boards, left = boards * comb(left, form.deal[street]), left - form.deal[street]
        total += boards * actions[street] * len(form.hands)
    return total


def promised_by(
    policy: HandPolicy,
    ranges: Sequence[Floats],
    player: int,
    *,
    at: State | None = None,
    estimates: bool = False,
    threads: int = 1,
) -> Floats:
    """Counterfactual best-response values of the opponent's hands at the start of a street, float64 [H].

    With ``estimates``, their values when the other player also follows the policy; these are far below best-response values if
    the policy is rough (Brown and Sandholm 2017, "Estimates for Alternative Payoffs").

    One pass of the hold'em engine over all future boards gives exact values, in the policy's betting tree and chips; NaN for
    hands without compatible reach.

    Args:
        policy: a policy from a street on.
        ranges: for each player float64 [H], the ranges there; of the other player only the possible hands matter.
        player: the player who follows the policy.
        at: a decision state of the policy's game; None for its start.
        estimates: whether the other player also follows the policy.
        threads: threads that share the boards.

    Raises:
        GameError: the ranges have no compatible pair of hands.
        SpecError: the boards do not fit into memory.
    """
    game = policy.game
    subgame = cut_holdem(game, Belief.of(game, game.first_state() if at is None else at, ranges), TO_THE_END)
    values = HoldemValues(
        subgame.begun, written(policy, subgame.whole), threads=threads, responder=None if estimates else 1 - player
    )
    return HoldemResponse(subgame, values, 1 - player).at(())
