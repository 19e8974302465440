"""A policy of hold'em whose next street is solved again on every board, so that it can be judged whole.

Like :func:`treeplex.search.resolve_subgames` in public trees: the first street is kept, and behind each
of its ends and each deal a player is solved again to the end of the hand, behind a gadget with what the policy promised the
other one's hands, or from ranges alone.
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
    """The policy with everything after its first street solved again, for both players.

    Behind a gadget the result is at most as exploitable as the policy was, up to how far the iterations have converged (Burch
    et al. 2014, theorem 1; Moravčík et al. 2016, theorem 1).

    Args:
        policy: from a street on; ranges are those of its game.
        gadget: ``none``, or one of :data:`treeplex.search.subgames.gadgets.GADGETS`.
        method: one of :data:`treeplex.search.methods.METHODS`, of the CFR family.
        iterations: of each solve.

    Returns:
        The compiled game, all boards by themselves, and the policy as it stores them, float32 [Q]; see
        :func:`treeplex.holdem.policies.judge.judge_spot`.

    Raises:
        AlgorithmError: an unknown gadget or method, or a last street.
    """
    if gadget not in (UNSAFE, *GADGETS):
        raise AlgorithmError(f"unknown gadget {gadget!r}; known: {', '.join((UNSAFE, *GADGETS))}")
    game = policy.game
    whole = cut_holdem(game, Belief.root(game), TO_THE_END).whole
    if len(whole.boards) < 2:
        raise AlgorithmError("no street follows, so nothing is left to be solved again")
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
    """Numbers of the hands that are held as numbers of all hands, 0 for others."""
    found = np.zeros(hands)
    found[held] = numbers
    return found


def copy_policy(
    subgame: HoldemSubgame, source: NDArray[np.float32], player: int, whole: CompiledSpot, target: NDArray[np.float32]
) -> None:
    """Write how a player plays a subgame, [Q], to a policy of the game that it is part of, [Q]; both to the end of the game."""
    later = len(whole.boards) - len(subgame.whole.boards)
    for street, boards in enumerate(subgame.whole.boards):
        numbers = {board.cards: number for number, board in enumerate(whole.boards[street + later])}
        for number, board in enumerate(boards):
            there = numbers[board.cards]
            hands = whole.boards[street + later][there].hands[player]
            for node in subgame.whole.forests[street].numbers[player]:
                rows = decision_rows(whole, node, target, street + later, there)
                rows[:] = policy_table(subgame.whole, node, source, street, number)[:, hands]
