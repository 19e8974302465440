"""State carried between re-solves: the player's range, and the opponent's alternative values.

=====================  ==================================  ============================================================
event                  own range                           alternative values of the opponent's hands
=====================  ==================================  ============================================================
own action             by Bayes, from the policy played    values after it, by a best response to the solved policy
the opponent's action  unchanged                           unchanged: the actor gets no more than before its choice
a deal                 without the hands that it excludes  values after it, by a best response to the solved policy
=====================  ==================================  ============================================================

This is continual re-solving (Moravčík et al. 2017, "Continual Re-solving"). Nothing else about the past is used, neither the
opponent's earlier actions nor its range.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.errors import AlgorithmError
from treeplex.games.base import CHANCE
from treeplex.games.public import PublicGame, State
from treeplex.search.agents.solving import SolvedSubgame
from treeplex.search.subgame_search import SubgameSearch
from treeplex.search.subgames.beliefs import Belief, with_trace
from treeplex.search.subgames.response import response_values
from treeplex.search.subgames.subgame import Endgame, ResponseValues, Subgame


@dataclass(frozen=True, eq=False, repr=False)
class ResolvedSubgame(SolvedSubgame):
    """A re-solved subgame: its policy, and the values of the opponent's best response.

    Attributes:
        subgame: the subgame.
        player: the player who re-solved.
        policy: [Q], the average policy.
        leaf_values: float64 [K, H], the values of the opponent's hands at the leaves; None without a cut.
    """

    subgame: Subgame
    player: int
    policy: NDArray[Any] = field(repr=False)
    leaf_values: Floats | None = field(repr=False, default=None)

    @classmethod
    def of(cls, search: SubgameSearch | Endgame, player: int) -> "ResolvedSubgame":
        """Create the result of a search, which must have kept leaf values if the subgame has a cut."""
        leaf_values = None
        if isinstance(search, SubgameSearch) and len(search.subgame.leaves):
            leaf_values = search.leaf_values(1 - player)
        return cls(search.subgame, player, search.average_policy(), leaf_values)

    def kind(self, path: tuple[int, ...]) -> str:
        """``decision``, ``leaf`` or ``end``, see :meth:`treeplex.search.subgames.subgame.Subgame.find`."""
        return self.subgame.find(0, path)[0]

    def policy_at(self, path: tuple[int, ...]) -> Floats:
        """The policy of each hand at a decision, float64 [A, H]."""
        return self.subgame.policy_at(self.subgame.find(0, path)[1], self.policy)

    @cached_property
    def responses(self) -> ResponseValues:
        """Best-response values of the opponent's hands at every public state."""
        return response_values(self.subgame, self.policy, 1 - self.player, self.leaf_values)


@dataclass(frozen=True, eq=False)
class ResolvingState:
    """The state from which a player re-solves: its range, and the alternative values of the opponent's hands.

    Attributes:
        player: the player who re-solves.
        belief: the public state and ranges. The player's own range is the one it has played. The opponent's range comes from
            the solves so far, and is used only for re-solving without a gadget.
        promised: float64 [H], the alternative values of the opponent's hands, in the game's units; NaN for hands without a
            compatible opposing hand. None at the start of the game, where ranges are as dealt.
    """

    player: int
    belief: Belief
    promised: Floats | None = None

    def after(self, solved: ResolvedSubgame, path: tuple[int, ...]) -> "ResolvingState":
        """Return the resolving state at the end of a path.

        Args:
            solved: the subgame that begins at this state.
            path: labels from this state; beyond the subgame's leaves only actions of the opponent.

        Raises:
            AlgorithmError: the path has an action of the player or a deal beyond the end of the subgame. In the case of a deal,
                the subgame has no value for each outcome.
        """
        belief, last, split = self.belief, 0, 1
        for depth, label in enumerate(path):
            options = belief.game.options(belief.state)
            if options.player != 1 - self.player:
                last, split = depth + 1, 1
            elif options.private:  # a hand splits into one hand per private action, each with the same alternative value
                split *= len(options.labels)
            belief = moved(belief, self.player, solved, path[: depth + 1], label)
        return ResolvingState(self.player, belief, np.repeat(self._promised(solved, path[:last]), split))

    def _promised(self, solved: ResolvedSubgame, path: tuple[int, ...]) -> Floats:
        """Alternative values after a path that ends with an action of the player or a deal."""
        if not path and self.promised is not None:
            return self.promised
        if any(solved.kind(path[:depth]) == "leaf" for depth in range(len(path))):
            raise AlgorithmError(
                f"{self.belief.game.name_of(self.belief.state)}: the gadget needs values after a deal, but subgames end "
                "before it; "
                "end them after the deal, or solve without a gadget (gadget none)"
            )
        values = solved.responses.at(path)
        if self.promised is None or not np.isnan(values).all():
            return values
        return np.repeat(self.promised, len(values) // len(self.promised))  # at states that the player never reaches

    def in_game(self, game: PublicGame, state: State) -> "ResolvingState":
        """Return a copy for another version of the game, with more actions."""
        return replace(self, belief=Belief.of(game, state, self.belief.ranges))


def moved(belief: Belief, player: int, solved: ResolvedSubgame, path: tuple[int, ...], label: int) -> Belief:
    """Return the belief after the last label of a path from the root of a subgame."""
    actor, before = belief.game.options(belief.state).player, path[:-1]
    if actor == CHANCE:
        return belief.after(label)
    count = len(belief.game.options(belief.state).labels)
    if solved.kind(before) == "decision":
        table = solved.policy_at(before)
    elif actor != player:
        table = np.full((count, len(belief.ranges[actor])), 1.0 / count)
    else:
        raise AlgorithmError(f"no policy was solved for {belief.game.name_of(belief.state)}")
    if table.shape[0] != count:  # an action was added since the solve, so keep the opponent's range
        table = np.ones((count, table.shape[1]))
    after = belief.after(label, table)
    ranges = tuple(with_trace(weights) if i != player else weights for i, weights in enumerate(after.ranges))
    return Belief.of(belief.game, after.state, ranges)
