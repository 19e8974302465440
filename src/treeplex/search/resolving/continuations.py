"""Multi-valued leaves: players choose among continuations (Brown, Sandholm and Amos 2018).

Behind a leaf valued by one policy, the opponent cannot answer to what is played before it. Leaves are sound if the opponent
may choose, with each hand, one of several ways to play on, while the player who searches follows the blueprint. So the choice
is one more decision behind each leaf, updated by the rule that solves the subgame.
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
"""Complete boards below a leaf of hold'em, where more can follow."""
FOLD, CALL = ("fold",), ("call", "check")
"""First words of actions, in small letters; other actions of poker raise."""


class BlueprintLeaf:
    """Values where both go on by a blueprint, or a player by one of several policies that it chooses.

    Payoffs of pairs of hands are computed once for each leaf and pair of continuations, by walking what follows; in hold'em see
    :mod:`treeplex.holdem.search.leaves.walk`. There the blueprint may know other bets than the game that is searched:
    bets before the leaf are translated to the likelier one in its tree, and payoffs are in parts of the pot.

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
        """Go on by policies.

        Args:
            rules: the public states of the policies' game, or its spec or rules; of hold'em the game that is searched.
            blueprint: how players go on who have no choice.
            choices: for players who have one, the policies that they choose from, such as :func:`biased_policies`.
            boards: in hold'em, complete boards at most that are looked at below a leaf; all where there are no more.

        Raises:
            AlgorithmError: no such player, nothing to choose from, or policies of different kinds.
        """
        given = {} if choices is None else dict(choices)
        if not set(given) <= {0, 1} or not all(given.values()):
            raise AlgorithmError(
                f"choices are policies of player 0, of player 1 or of both, at least one each, not {choices!r}"
            )
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
        words: first words of the actions' names, in small letters.
        factor: times as likely.
        others: bias the actions with other names instead.

    Raises:
        AlgorithmError: a factor that is not above 0, or no action of such a name.
    """
    game = policy.game
    weights, found = policy.probabilities.copy(), False
    if not factor > 0:
        raise AlgorithmError(f"a bias must be a factor above 0, not {factor!r}")
    for player in range(game.players):
        own = slice(*game.tree.sequence_offsets[player : player + 2])
        names = {number: name.lower().split()[0] for number, name in game.action_names[player].items()}
        wanted = [number for number, name in names.items() if (name in words) != others]
        chosen = np.isin(game.action_ids[own], wanted)
        weights[own][chosen] *= factor
        found |= bool(chosen.any())
    if not found:
        raise AlgorithmError(f"{game} has no action called {' or '.join(words)}; name the actions to be biased")
    return Policy(game, normalised(game, weights))


def biased_policies(policy: AnyPolicy, factor: float = 10.0) -> list[AnyPolicy]:
    """The policy, and the same biased to folding, to calling and to raising: the four continuations of poker.

    Args:
        policy: the blueprint, a policy table or another kind of policy that has a method ``biased(factor)``.
        factor: how many times as likely the actions of a bias become.

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
