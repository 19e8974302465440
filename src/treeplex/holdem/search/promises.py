"""What a policy of hold'em promises the opponent's hands: the most that they could get against it, or what they get by it."""

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
"""Numbers of a policy on all boards to come beyond which what it promises is not worked out: a gigabyte."""


def written_size(game: HoldemGame) -> int:
    """How many numbers a policy of all hands has on all boards to come, at most."""
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
    """Counterfactual best-response values of the other player's hands where a street begins, float64 [H].

    Or estimates: their values where the other player follows the policy too, which best responses to a rough policy are far
    above (Brown and Sandholm 2017, "Estimates for Alternative Payoffs").

    One pass of the hold'em engine over all boards to come: exact, of the policy's own betting and with its chips; NaN for
    hands without compatible reach.

    Args:
        policy: from a street on.
        ranges: for each player float64 [H], with which it comes there; of the other one it matters only which hands it has.
        player: who follows the policy.
        at: a state of the policy's game where somebody acts; None for its beginning.
        estimates: whether the other player follows it as well.
        threads: that share the boards.

    Raises:
        GameError: ranges that leave no pair of hands.
        SpecError: more boards than memory should hold.
    """
    game = policy.game
    subgame = cut_holdem(game, Belief.of(game, game.first_state() if at is None else at, ranges), TO_THE_END)
    values = HoldemValues(
        subgame.begun, written(policy, subgame.whole), threads=threads, responder=None if estimates else 1 - player
    )
    return HoldemResponse(subgame, values, 1 - player).at(())
