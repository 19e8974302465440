"""Multi-valued leaves: players choose among continuations (Brown, Sandholm and Amos 2018).

With one policy behind a leaf, the opponent cannot respond to play before it. Leaves are sound if the opponent may choose,
with each hand, one of several continuations, while the searching player follows the blueprint. So the choice is one more
decision behind each leaf, updated by the rule that solves the subgame.
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
from treeplex.search.leaf import Prepared
from treeplex.search.resolving.payoffs import PairWalk, Payoffs, Walk
from treeplex.search.subgames.subgame import Places, Ranges

AnyPolicy = TypeVar("AnyPolicy")
BOARDS = 48
"""Maximum number of complete boards per leaf in hold'em."""
FOLD, CALL = ("fold",), ("call", "check")
"""First words of action names, in lower case; other poker actions are raises."""


class BlueprintLeaf:
    """Values if both players continue with a blueprint, or a player chooses one of several policies.

    Payoffs of pairs of hands are computed once for each leaf and pair of continuations, by walking the rest of the game; for
    hold'em see :mod:`treeplex.holdem.search.leaves.walk`. There the blueprint may have other bet sizes than the searched
    game: bets before the leaf are translated to the likelier size in its tree, and payoffs scale with the pot.

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
            rules: the public states of the policies' game, or its spec or rules; in hold'em the searched game.
            blueprint: continuation of players without a choice.
            choices: for each player with a choice, its policies, such as :func:`biased_policies`.
            boards: in hold'em, the most complete boards per leaf; all if there are no more.

        Raises:
            AlgorithmError: no such player, no policies to choose from, or policies of different kinds.
        """
        given = {} if choices is None else dict(choices)
        if not set(given) <= {0, 1} or not all(given.values()):
            raise AlgorithmError(f"choices are {choices!r}; give policies of player 0, player 1 or both, at least one each")
        self.rules = public_game(rules)
        policies = tuple(list(given.get(player, (blueprint,))) for player in (0, 1))
        self.continuations = tuple(len(own) for own in policies)
        walk: Walk = self.rules.continuations(policies, boards) or PairWalk(public_tree(self.rules), policies)
        self._seconds = inf
        self._payoffs = Prepared[Places, Payoffs](lambda places: walk(places, self._seconds))

    def prepare(self, places: Places, seconds: float) -> int:
        """Compute payoffs behind leaves in about ``seconds``; return the number of boards used."""
        self._seconds = seconds
        found = self._payoffs(places)
        self._seconds = inf
        return found.boards

    def __call__(self, places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        if max(self.continuations) == 1:
            single = tuple(own[None] for own in reached)
            return tuple(values[0] for values in self._values(places, single, player))
        return self._values(places, reached, player)

    def _values(self, places: Places, reached: Ranges, player: int | None) -> Ranges:
        payoffs, found = self._payoffs(places), []
        for own in (0, 1):
            values = np.zeros((self.continuations[own], len(places), places.widths[own]))
            if player in (None, own):
                held, facing = payoffs.hands[own], reached[1 - own][..., payoffs.hands[1 - own]]
                mass = places.opposing(tuple(each.sum(axis=0) for each in reached), own)[:, held]
                entries = payoffs.entries(own, facing)
                values[..., held] = np.divide(entries, mass, out=np.zeros_like(entries), where=mass > 0)
            found.append(values)
        return tuple(found)


def biased_policy(policy: Policy, words: Collection[str], factor: float = 10.0, *, others: bool = False) -> Policy:
    """Multiply the probabilities of some actions by a factor, and normalise.

    Args:
        policy: the policy.
        words: first words of the actions' names, in lower case.
        factor: factor on the probabilities.
        others: bias the actions with other names instead.

    Raises:
        AlgorithmError: a factor that is not above 0, or no action with such a name.
    """
    game = policy.game
    weights, found = policy.probabilities.copy(), False
    if not factor > 0:
        raise AlgorithmError(f"the bias factor is {factor!r}; give a factor above 0")
    for player in range(game.players):
        own = slice(*game.tree.sequence_offsets[player : player + 2])
        names = {number: name.lower().split()[0] for number, name in game.action_names[player].items()}
        wanted = [number for number, name in names.items() if (name in words) != others]
        chosen = np.isin(game.action_ids[own], wanted)
        weights[own][chosen] *= factor
        found |= bool(chosen.any())
    if not found:
        raise AlgorithmError(f"{game} has no action called {' or '.join(words)}; give the names of the actions to bias")
    return Policy(game, normalised(game, weights))


def biased_policies(policy: AnyPolicy, factor: float = 10.0) -> list[AnyPolicy]:
    """The policy, and copies biased towards folding, calling and raising: the four continuations of poker.

    Args:
        policy: the blueprint, a policy table or another kind of policy with a method ``biased(factor)``.
        factor: factor on the probabilities of the biased actions.

    Raises:
        AlgorithmError: a game without these actions.
    """
    own = getattr(policy, "biased", None)
    if own is not None:
        return list(own(factor))
    table: Any = policy
    ways: list[Any] = [
        biased_policy(table, FOLD, factor),
        biased_policy(table, CALL, factor),
        biased_policy(table, FOLD + CALL, factor, others=True),
    ]
    return [policy, *ways]
