"""A hold'em policy whose next street is re-solved on every board, so that the whole policy can be evaluated.

Like :func:`treeplex.search.resolve_subgames` in public trees: the first street is unchanged, and after each of its ends and
each deal a player is re-solved to the end of the hand, with a gadget that has the policy's values for the opponent's hands, or
from ranges alone.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.errors import AlgorithmError
from treeplex.holdem import CompiledSpot
from treeplex.holdem.betting.tree import StreetEnd
from treeplex.holdem.forms.layout import decision_rows, policy_table
from treeplex.holdem.policies.by_hand import HandPolicy, written
from treeplex.holdem.policies.node_values import HoldemValues, ratio
from treeplex.holdem.rules.public import HoldemState
from treeplex.holdem.search.subgames.endgame_search import EndgameSearch
from treeplex.holdem.search.subgames.subgame import HoldemSubgame, cut_holdem
from treeplex.search import METHODS, Belief
from treeplex.search.resolving.resolved import UNSAFE
from treeplex.search.subgames.beliefs import with_trace
from treeplex.search.subgames.gadgets import GADGETS
from treeplex.search.subgames.horizon import TO_THE_END


def resolved_streets(
    policy: HandPolicy, gadget: str, *, method: str = "cfr+", iterations: int = 1000
) -> tuple[CompiledSpot, NDArray[np.float32]]:
    """The policy with everything after its first street re-solved for both players.

    With a gadget the result is at most as exploitable as the policy, up to the convergence of the solves (Burch et al. 2014,
    theorem 1; Moravčík et al. 2016, theorem 1).

    Args:
        policy: from a street on, with the ranges of its game.
        gadget: ``none``, or one of :data:`treeplex.search.subgames.gadgets.GADGETS`.
        method: one of :data:`treeplex.search.methods.METHODS`, of the CFR family.
        iterations: of each solve.

    Returns:
        The compiled game without isomorphism, and the policy as it stores it, float32 [Q]; see
        :func:`treeplex.holdem.policies.judge.judge_spot`.

    Raises:
        AlgorithmError: an unknown gadget or method, or a last street.
    """
    if gadget not in (UNSAFE, *GADGETS):
        raise AlgorithmError(f"unknown gadget {gadget!r}; known: {', '.join((UNSAFE, *GADGETS))}")
    game = policy.game
    whole = cut_holdem(game, Belief.root(game), TO_THE_END).whole
    if len(whole.boards) < 2:
        raise AlgorithmError("nothing to re-solve: no street follows")
    average = written(policy, whole)
    again, root, hands = average.copy(), whole.forests[0].roots[0], len(game.spot.format.hands)
    facing = [HoldemValues(whole, average, responder=1 - player) for player in (0, 1)]
    first = facing[0].tree(0, 0, root, facing[0].root_reach())
    ends = {node.child: number for number in first.reach if isinstance(node := game.tree.nodes[number], StreetEnd)}
    for place, board in enumerate(whole.boards[1]):
        for child, end in ends.items():
            arrived = facing[0].below(1, place, first.reach[end])
            if not all(own.any() for own in arrived):
                continue  # the policy never comes here
            ranges = [spread(with_trace(own), held, hands) for own, held in zip(arrived, board.hands, strict=True)]
            belief = Belief.of(game, HoldemState(child, board.cards), ranges)
            for players in ((0, 1),) if gadget == UNSAFE else ((0,), (1,)):
                front = None
                if gadget != UNSAFE:
                    player, other = players[0], 1 - players[0]
                    entries = facing[player].tree(1, place, child, arrived).values[child][other]
                    met = facing[player].compatible(facing[player].board_number(1, place), other, arrived[player])
                    promised = spread(np.nan_to_num(ratio(entries, met)), board.hands[other], hands)
                    front = GADGETS[gadget](player, promised[None])
                subgame = cut_holdem(game, belief, TO_THE_END, front)
                search = EndgameSearch(subgame, METHODS[method], horizon=iterations)
                search.run(iterations)
                for player in players:
                    copy_policy(subgame, search.average_policy(), player, whole, again)
    return whole, again


def spread(numbers: Floats, held: NDArray[np.signedinteger[Any]], hands: int) -> Floats:
    """Values of a range's hands as values of all hands, 0 for others."""
    found = np.zeros(hands)
    found[held] = numbers
    return found


def copy_policy(
    subgame: HoldemSubgame, source: NDArray[np.float32], player: int, whole: CompiledSpot, target: NDArray[np.float32]
) -> None:
    """Copy a player's policy of a subgame, [Q], into a policy of the containing game, [Q]; both reach the end of the game."""
    later = len(whole.boards) - len(subgame.whole.boards)
    for street, boards in enumerate(subgame.whole.boards):
        numbers = {board.cards: number for number, board in enumerate(whole.boards[street + later])}
        for number, board in enumerate(boards):
            there = numbers[board.cards]
            hands = whole.boards[street + later][there].hands[player]
            for node in subgame.whole.forests[street].numbers[player]:
                rows = decision_rows(whole, node, target, street + later, there)
                rows[:] = policy_table(subgame.whole, node, source, street, number)[:, hands]
