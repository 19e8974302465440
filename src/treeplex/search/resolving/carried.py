"""State carried between re-solves: own range, and the opponent's promised values.

=====================  ==================================  ============================================================
event                  own range                           what the opponent's hands are promised
=====================  ==================================  ============================================================
own action             by Bayes, with the policy played    what they get after it by a best response to the solved policy
the opponent's action  as it is                            as it is: who acts gets no more than before it could choose
a deal                 without hands that it excludes      what they get after it by a best response to the solved policy
=====================  ==================================  ============================================================

That is continual re-solving (Moravčík et al. 2017, "Continual Re-solving"). Nothing else of the past is looked at: what the
opponent played, and with what it may have, does not matter.
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
    """A re-solved subgame: the policy, and what the opponent's best response gets.

    Attributes:
        subgame: the subgame.
        player: who solved again.
        policy: [Q], the average policy.
        leaf_values: float64 [K, H], what the opponent's hands were worth where it is cut off; None where it is not.
    """

    subgame: Subgame
    player: int
    policy: NDArray[Any] = field(repr=False)
    leaf_values: Floats | None = field(repr=False, default=None)

    @classmethod
    def of(cls, search: SubgameSearch | Endgame, player: int) -> "ResolvedSubgame":
        """What a search found; of a subgame that is cut off it must have kept the values of leaves."""
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
        """The opponent's best-response values of hands at every public state."""
        return response_values(self.subgame, self.policy, 1 - self.player, self.leaf_values)


@dataclass(frozen=True, eq=False)
class ResolvingState:
    """What a player re-solves from: its range, and the values promised to the opponent's hands.

    Attributes:
        player: who solves again.
        belief: the public state, and ranges. The player's own is what it has played; the other's is what solves so far would
            have it play, and matters only to who solves from ranges alone.
        promised: float64 [H], what the other one's hands were promised, in the game's units; NaN for those that face no
            opposing hand. None at the beginning of the game, where ranges are as chance deals them.
    """

    player: int
    belief: Belief
    promised: Floats | None = None

    def after(self, solved: ResolvedSubgame, path: tuple[int, ...]) -> "ResolvingState":
        """The resolving state at the end of a path.

        Args:
            solved: the subgame that begins here.
            path: labels from here; beyond its leaves only actions of the opponent.

        Raises:
            AlgorithmError: the subgame ends before the last of its player's actions or deals; if a deal follows its end, it
                says nothing of what each outcome is worth.
        """
        belief, last, split = self.belief, 0, 1
        for depth, label in enumerate(path):
            options = belief.game.options(belief.state)
            if options.player != 1 - self.player:
                last, split = depth + 1, 1
            elif options.private:  # a hand becomes one for each action that it may have taken, with the same promise
                split *= len(options.labels)
            belief = moved(belief, self.player, solved, path[: depth + 1], label)
        return ResolvingState(self.player, belief, np.repeat(self._promised(solved, path[:last]), split))

    def _promised(self, solved: ResolvedSubgame, path: tuple[int, ...]) -> Floats:
        """Promised values after a path that ends with an own action or a deal."""
        if not path and self.promised is not None:
            return self.promised
        if any(solved.kind(path[:depth]) == "leaf" for depth in range(len(path))):
            raise AlgorithmError(
                "subgames end before a deal, so what its outcomes are worth is not known: let them end after it, or solve from "
                f"ranges alone (gadget none); at {self.belief.game.name_of(self.belief.state)}"
            )
        found = solved.responses.at(path)
        if self.promised is None or not np.isnan(found).all():
            return found
        return np.repeat(self.promised, len(found) // len(self.promised))  # where the player never comes to

    def in_game(self, game: PublicGame, state: State) -> "ResolvingState":
        """A copy for another version of the game, with more actions."""
        return replace(self, belief=Belief.of(game, state, self.belief.ranges))


def moved(belief: Belief, player: int, solved: ResolvedSubgame, path: tuple[int, ...], label: int) -> Belief:
    """A belief after the last label of a path from where a subgame begins."""
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
    if table.shape[0] != count:  # an action was added since; the opponent's range goes on as it is
        table = np.ones((count, table.shape[1]))
    found = belief.after(label, table)
    ranges = tuple(with_trace(own) if each != player else own for each, own in enumerate(found.ranges))
    return Belief.of(belief.game, found.state, ranges)
