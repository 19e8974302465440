"""A street of a whole spot solved again to its own end, on all boards, as Modicum does (Brown, Sandholm and Amos 2018).

Behind the end of the street the player who solves goes on by a blueprint, and the other one chooses, with each hand, among
continuations of it. From ranges alone; what follows the street is left as it was.
"""

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
from treeplex.search import METHODS, Belief, BlueprintLeaf, Horizon, SubgameSearch

EVERY_BOARD = 10**9
"""More complete boards than any deck has below a street."""


@dataclass(frozen=True)
class ContinuedSearch:
    """How a street is solved to its own end.

    Attributes:
        method: a variant of CFR of :data:`treeplex.search.methods.METHODS`.
        iterations: of each solve.
        continuations: among how many policies the other player chooses; 1: both go on by the blueprint.
        boards: complete boards at most that they are valued on.
    """

    method: str = "cfr+"
    iterations: int = 200
    continuations: int = 4
    boards: int = EVERY_BOARD


def continued_street(
    whole: CompiledSpot, average: Floats, street: int, blueprint: HandPolicy, settings: ContinuedSearch
) -> Floats:
    """A policy with one of its streets solved again, for both players, float64 [Q] as a solver stores it.

    Args:
        whole: the spot.
        average: float64 [Q], the policy.
        street: which one, counted from the spot's first; not the last.
        blueprint: how the spot goes on after the street, of the same betting.
        settings: how it is solved.

    Raises:
        GameError: no such street, or nobody acts there.
        AlgorithmError: the last street, or a method that does not let players choose behind leaves.
    """
    later, found = later_streets(whole, street, dealt=True), average.copy()
    ranges, game = entering_ranges(later, average), HoldemGame(whole.spot, whole.betting)
    choices = biased_hands(blueprint)[: settings.continuations]
    boards = {board.cards: number for number, board in enumerate(whole.boards[street])}
    leaves = [BlueprintLeaf(game, blueprint, {1 - player: choices}, boards=settings.boards) for player in (0, 1)]
    for place, state in enumerate(map(holdem_state, later.entrances.states)):
        belief = Belief.of(game, state, [own[place] for own in ranges])
        subgame = cut_holdem(game, belief, Horizon(rounds=1, all_in=True))
        for player, leaf in enumerate(leaves):
            search = SubgameSearch(subgame, METHODS[settings.method], leaf, horizon=settings.iterations)
            search.run(settings.iterations)
            copy_street(subgame, search.average_policy(), player, (whole, street, boards[state.board]), found)
    return found


def copy_street(
    subgame: HoldemSubgame, source: Floats, player: int, there: tuple[CompiledSpot, int, int], target: Floats
) -> None:
    """Write how a player plays the first street of a subgame, [Q], to a board of the spot that it is part of.

    ``there`` is the spot, the street and the number of the board among those of the street.
    """
    whole, street, number = there
    hands = whole.boards[street][number].hands[player]
    for node in subgame.whole.forests[0].numbers[player]:
        decision_rows(whole, node, target, street, number)[:] = np.asarray(subgame.policy_at(node, source))[:, hands]
