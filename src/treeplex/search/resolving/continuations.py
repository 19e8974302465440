"""Multi-valued leaves: players choose among continuations (Brown, Sandholm and Amos 2018).

If play below a leaf followed a single policy, the opponent could not respond there to play before the leaf. Leaves are sound
if the opponent may choose one of several continuations with each hand, while the searching player follows the blueprint. So the
choice is one more decision below each leaf, updated by the same rule as the subgame.
"""

from collections.abc import Collection, Mapping, Sequence
from math import inf
from typing import Any, TypeVar

import numpy as np

from treeplex.errors import AlgorithmError
from treeplex.forms.policies.tabular import Policy, normalised
from treeplex.forms.sources.load import public_game, public_tree
from treeplex.games.base import Game
from treeplex.games.public import PublicGame
from treeplex.search.leaf import SingleEntryCache
from treeplex.search.resolving.payoffs import PairWalk, Payoffs, Walk
from treeplex.search.subgames.subgame import Places, Ranges

AnyPolicy = TypeVar("AnyPolicy")
BOARDS = 48
"""Maximum number of complete boards per leaf in hold'em."""
FOLD, CALL = ("fold",), ("call", "check")
"""First words of action names, in lower case; other poker actions are raises."""


class BlueprintLeaf:
    """Leaf values where each player continues with a blueprint or chooses among several policies.

    Payoffs of pairs of hands are computed once for each leaf and pair of continuations, by traversing the rest of the game. For
    hold'em see :mod:`treeplex.holdem.search.leaves.walk`: there the blueprint's bet sizes may differ from those of the searched
    game. Bets before the leaf are then translated to the likelier size in the blueprint's tree, and payoffs scale with the pot.

    Attributes:
        continuations: see :class:`treeplex.search.leaf.ManyValued`.
    """

    def __init__(
        self,
        rules: PublicGame | str | Game,
        blueprint: Any,
        choices: Mapping[int, Sequence[Any]] | None = None,
        *,
        boards: int = BOARDS,
    ) -> None:
        """Store the policies.

        Args:
            rules: public states, spec or rules of the policies' game; in hold'em of the searched game.
            blueprint: policy of players without a choice.
            choices: for each player with a choice, the policies to choose from, such as :func:`biased_policies`.
            boards: in hold'em, maximum number of complete boards per leaf; all are used if there are fewer.

        Raises:
            AlgorithmError: a player does not exist, has no policies to choose from, or policies are of different kinds.
        """
        given = {} if choices is None else dict(choices)
        if not set(given) <= {0, 1} or not all(given.values()):
            raise AlgorithmError(f"choices are {choices!r}; give at least one policy for player 0, player 1 or both")
        self.rules = public_game(rules)
        policies = tuple(list(given.get(player, (blueprint,))) for player in (0, 1))
        self.continuations = tuple(len(of_player) for of_player in policies)
        walk: Walk = self.rules.continuations(policies, boards) or PairWalk(public_tree(self.rules), policies)
        self._seconds = inf
        self._payoffs = SingleEntryCache[Places, Payoffs](lambda places: walk(places, self._seconds))

    def prepare(self, places: Places, seconds: float) -> int:
        """Compute payoffs below leaves in about ``seconds``; returns the number of boards used."""
        self._seconds = seconds
        payoffs = self._payoffs(places)
        self._seconds = inf
        return payoffs.boards

    def __call__(self, places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        if max(self.continuations) == 1:
            single = tuple(reach[None] for reach in reached)
            return tuple(values[0] for values in self._values(places, single, player))
        return self._values(places, reached, player)

    def _values(self, places: Places, reached: Ranges, player: int | None) -> Ranges:
        payoffs, results = self._payoffs(places), []
        for i in (0, 1):
            values = np.zeros((self.continuations[i], len(places), places.widths[i]))
            if player in (None, i):
                held, facing = payoffs.hands[i], reached[1 - i][..., payoffs.hands[1 - i]]
                mass = places.opposing(tuple(reach.sum(axis=0) for reach in reached), i)[:, held]
                entries = payoffs.entries(i, facing)
                values[..., held] = np.divide(entries, mass, out=np.zeros_like(entries), where=mass > 0)
            results.append(values)
        return tuple(results)


def biased_policy(policy: Policy, words: Collection[str], factor: float = 10.0, *, others: bool = False) -> Policy:
    """Multiply the probabilities of some actions by a factor, and normalise.

    Args:
        policy: the policy.
        words: first words of the actions' names, in lower case.
        factor: factor by which the probabilities are multiplied.
        others: whether to bias the actions with other names instead.

    Returns:
        The biased policy.

    Raises:
        AlgorithmError: the factor is not above 0, or no action has such a name.
    """
    game = policy.game
    weights, any_biased = policy.probabilities.copy(), False
    if not factor > 0:
        raise AlgorithmError(f"the bias factor is {factor!r}; give a factor above 0")
    for player in range(game.players):
        sequences = slice(*game.tree.sequence_offsets[player : player + 2])
        names = {number: name.lower().split()[0] for number, name in game.action_names[player].items()}
        wanted = [number for number, name in names.items() if (name in words) != others]
        chosen = np.isin(game.action_ids[sequences], wanted)
        weights[sequences][chosen] *= factor
        any_biased |= bool(chosen.any())
    if not any_biased:
        raise AlgorithmError(f"{game} has no action called {' or '.join(words)}; give the names of the actions to bias")
    return Policy(game, normalised(game, weights))


def biased_policies(policy: AnyPolicy, factor: float = 10.0) -> list[AnyPolicy]:
    """Return the policy and copies biased towards folding, calling and raising: the usual four continuations in poker.

    Args:
        policy: the blueprint, a policy table or another policy object with a method ``biased(factor)``.
        factor: factor by which probabilities of the biased actions are multiplied.

    Raises:
        AlgorithmError: the game has no such actions.
    """
    method = getattr(policy, "biased", None)
    if method is not None:
        return list(method(factor))
    table: Any = policy
    ways: list[Any] = [
        biased_policy(table, FOLD, factor),
        biased_policy(table, CALL, factor),
        biased_policy(table, FOLD + CALL, factor, others=True),
    ]
    return [policy, *ways]
