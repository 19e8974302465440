"""Re-solve one street of a spot, on all boards, given values at its end.

There is no gadget, and later streets are unchanged. The values come from a network, or as in Modicum
(Brown, Sandholm and Amos 2018): the re-solving player follows a blueprint, and the opponent chooses, for each hand, among
continuations of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from papers.holdem.later_streets import later_streets
from papers.holdem.solved_again import entering_ranges
from treeplex.base.arrays import Floats
from treeplex.holdem import CompiledSpot, HoldemGame
from treeplex.holdem.forms.layout import decision_rows
from treeplex.holdem.policies.by_hand import HandPolicy, biased_hands
from treeplex.holdem.rules.public import holdem_state
from treeplex.holdem.search.subgames.subgame import HoldemSubgame, cut_holdem
from treeplex.search import METHODS, Belief, BlueprintLeaf, Horizon, LeafValue, SubgameSearch

EVERY_BOARD = 10**9
"""Upper bound on the number of complete boards below a street."""


@dataclass(frozen=True)
class ContinuedSearch:
    """Settings for solving a street to its end.

    Attributes:
        method: a variant of CFR of :data:`treeplex.search.methods.METHODS`.
        iterations: of each solve.
        continuations: number of policies among which the opponent chooses; 1: both follow the blueprint.
        boards: maximum number of complete boards for their values.
    """

    method: str = "cfr+"
    iterations: int = 200
    continuations: int = 4
    boards: int = EVERY_BOARD


def continued_street(
    whole: CompiledSpot, average: Floats, street: int, blueprint: HandPolicy, settings: ContinuedSearch
) -> Floats:
    """A policy with one of its streets re-solved for both players, float64 [Q] as a solver stores it.

    Args:
        whole: the spot.
        average: float64 [Q], the policy.
        street: its number, counted from the spot's first street; not the last.
        blueprint: policy after the street, for the same betting.
        settings: of the solve.

    Raises:
        GameError: no such street, or nobody acts there.
        AlgorithmError: the last street, or a method that does not support choices behind leaves.
    """
    game = HoldemGame(whole.spot, whole.betting)
    choices = biased_hands(blueprint)[: settings.continuations]
    leaves = [BlueprintLeaf(game, blueprint, {1 - player: choices}, boards=settings.boards) for player in (0, 1)]
    return street_again(whole, average, street, leaves, settings.method, settings.iterations)


def street_again(
    whole: CompiledSpot, average: Floats, street: int, leaves: Sequence[LeafValue], method: str, iterations: int
) -> Floats:
    """A policy with one of its streets solved again, given values at its end, float64 [Q] as a solver stores it.

    Args:
        whole, average, street: as in :func:`continued_street`.
        leaves: the leaf values with which each player solves; one for both if they solve together.
        method, iterations: of each solve.

    Raises:
        GameError, AlgorithmError: as in :func:`continued_street`.
    """
    later, found = later_streets(whole, street, dealt=True), average.copy()
    ranges, game = entering_ranges(later, average), HoldemGame(whole.spot, whole.betting)
    boards = {board.cards: number for number, board in enumerate(whole.boards[street])}
    for place, state in enumerate(map(holdem_state, later.entrances.states)):
        belief = Belief.of(game, state, [own[place] for own in ranges])
        subgame = cut_holdem(game, belief, Horizon(rounds=1, all_in=True))
        for number, leaf in enumerate(leaves):
            search = SubgameSearch(subgame, METHODS[method], leaf, horizon=iterations)
            search.run(iterations)
            for player in (number,) if len(leaves) > 1 else (0, 1):
                copy_street(subgame, search.average_policy(), player, (whole, street, boards[state.board]), found)
    return found


def copy_street(
    subgame: HoldemSubgame, source: Floats, player: int, there: tuple[CompiledSpot, int, int], target: Floats
) -> None:
    """Copy a player's policy on the first street of a subgame, [Q], to a board of the containing spot.

    ``there`` is the spot, the street and the number of the board on that street.
    """
    whole, street, number = there
    hands = whole.boards[street][number].hands[player]
    for node in subgame.whole.forests[0].numbers[player]:
        decision_rows(whole, node, target, street, number)[:] = np.asarray(subgame.policy_at(node, source))[:, hands]
