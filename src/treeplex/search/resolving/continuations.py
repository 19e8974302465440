"""Leaves with several values: how a game goes on after them is chosen among continuations (Brown, Sandholm and Amos 2018).

Behind a leaf valued by one policy, the opponent cannot answer to what is played before it. Leaves are sound if the opponent
may choose, with each hand, one of several ways to play on, while the player who searches follows the blueprint. So the choice
is one more decision behind each leaf, updated by the rule that solves the subgame.
"""

from collections.abc import Collection, Mapping, Sequence
from math import inf
from typing import Protocol, overload, runtime_checkable

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.engine.tree.regret import Weights
from treeplex.errors import AlgorithmError
from treeplex.forms.policies.tabular import Policy, normalised
from treeplex.games.base import Game
from treeplex.games.public import PublicTree
from treeplex.holdem.policies.by_hand import HandPolicy, biased_hands
from treeplex.holdem.rules.public import HoldemGame
from treeplex.search.leaf import Prepared
from treeplex.search.resolving.payoffs import AnyPolicy, HoldemWalk, PairWalk, Payoffs
from treeplex.search.subgames.level import Level
from treeplex.search.subgames.public_rules import public_rules
from treeplex.search.subgames.subgame import Places, Ranges

BOARDS = 48
"""Complete boards below a leaf of hold'em, where more can follow."""
FOLD, CALL = ("fold",), ("call", "check")
"""First words of actions, in small letters; other actions of poker raise."""


@runtime_checkable
class ManyValued(Protocol):
    """Values of leaves behind which players choose how the game goes on.

    Attributes:
        continuations: for each player C_i, among how many continuations it chooses; 1 where it does not.
    """

    continuations: tuple[int, ...]

    def __call__(self, places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        """As :class:`treeplex.search.leaf.LeafValue`, but reaches and values are by continuation, float64 [C_i, K, H_i]."""
        ...


class BlueprintLeaf:
    """Values where both go on by a blueprint, or a player by one of several policies that it chooses.

    Payoffs of pairs of hands are computed once for each leaf and pair of continuations, by walking what follows; in hold'em see
    :mod:`treeplex.holdem.search.leaves.continuations`. There the blueprint may know other bets than the game that is searched:
    bets before the leaf are heard as the likelier one that it knows, and payoffs are in parts of the pot.

    Attributes:
        continuations: see :class:`ManyValued`.
    """

    def __init__(
        self,
        rules: PublicTree | HoldemGame | str | Game,
        blueprint: AnyPolicy,
        choices: Mapping[int, Sequence[AnyPolicy]] | None = None,
        *,
        boards: int = BOARDS,
    ) -> None:
        """Go on by policies.

        Args:
            rules: the public-tree rules of the policies' game, or its spec or rules; of hold'em the game that is searched.
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
        rules = rules if isinstance(rules, HoldemGame) else public_rules(rules)
        self.rules, policies = rules, tuple(list(given.get(player, (blueprint,))) for player in (0, 1))
        self.continuations = tuple(len(own) for own in policies)
        walk = HoldemWalk(policies, boards) if isinstance(rules, HoldemGame) else PairWalk(rules, policies)
        self._seconds = inf
        self._payoffs = Prepared[Places, Payoffs](lambda places: walk(places, self._seconds))

    def prepare(self, places: Places, seconds: float) -> int:
        """Work out payoffs behind leaves, about so long, see :meth:`Continued.payoffs`; how many boards that were."""
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


def biased(policy: Policy, words: Collection[str], factor: float = 10.0, *, others: bool = False) -> Policy:
    """The policy with some actions so many times as likely, normalised again.

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


@overload
def biased_policies(policy: Policy, factor: float = 10.0) -> list[Policy]: ...
@overload
def biased_policies(policy: HandPolicy, factor: float = 10.0) -> list[HandPolicy]: ...
def biased_policies(policy: AnyPolicy, factor: float = 10.0) -> list[Policy] | list[HandPolicy]:
    """The policy, and the same biased to folding, to calling and to raising: the four continuations of poker.

    Args:
        policy: the blueprint.
        factor: how many times as likely the actions of a bias become.

    Raises:
        AlgorithmError: a game without these actions.
    """
    if not isinstance(policy, Policy):
        return biased_hands(policy, factor)
    return [
        policy,
        biased(policy, FOLD, factor),
        biased(policy, CALL, factor),
        biased(policy, FOLD + CALL, factor, others=True),
    ]


class LeafChoices:
    """The choices behind the leaves of a subgame, being solved beside it.

    Attributes:
        leaf: values at the leaves, by continuation.
        places: the leaves, K of them.
        levels: for each player its decisions, one for each leaf and hand.
        averages: for each player float64 [C_i, K, H_i], its average reach by continuation; kept by fictitious play.
    """

    def __init__(self, leaf: ManyValued, places: Places, reached: Ranges) -> None:
        """Start from the uniform policy, with which hands reach the leaves as said, for each player float64 [K, H_i]."""
        self.leaf, self.places = leaf, places
        self._shapes = [(count, len(places), width) for count, width in zip(leaf.continuations, places.widths, strict=True)]
        self.levels = [Level([(leaves * width, count)]) for count, leaves, width in self._shapes]
        self.averages = [self.split(player, own) for player, own in enumerate(reached)]

    def split(self, player: int, reached: Floats) -> Floats:
        """Reach [K, H_player] by continuation, as the player chooses now."""
        return np.asarray(reached * self.levels[player].policy[1:].reshape(self._shapes[player]))

    def chosen(self, reached: Ranges) -> list[Floats]:
        """Reach [K, H_i] of all players by continuation, as they choose now, for each float64 [C_i, K, H_i]."""
        return [self.split(each, own) for each, own in enumerate(reached)]

    def averaged(self, share: float, reached: Ranges) -> list[Floats]:
        """The same of their averages, moved by a share towards their last responses, whose reach is given."""
        return [(1.0 - share) * average + share * now for average, now in zip(self.averages, self.chosen(reached), strict=True)]

    def improve(self, player: int, chosen: Sequence[Floats], row: Weights) -> Floats:
        """Update a player's choices against what the others choose; what its hands get by the old ones, entries [K, H]."""
        return self.levels[player].improve(self._values(player, chosen), row).reshape(self._shapes[player][1:])

    def respond(self, player: int, chosen: Sequence[Floats]) -> Floats:
        """The same for a best response to what the others choose."""
        return self.levels[player].respond(self._values(player, chosen)).reshape(self._shapes[player][1:])

    def accumulate(self, player: int, discount: float, weight: float, reached: Floats) -> None:
        """Move a player's average on, as :meth:`SubgameArrays.accumulate`."""
        self.averages[player] = discount * self.averages[player] + weight * self.split(player, reached)

    def _values(self, player: int, reached: Sequence[Floats]) -> Floats:
        """Entries of a player's choices as a level has them, float64 [1 + C K H]."""
        values = self.leaf(self.places, tuple(reached), tuple(reached), player)[player]
        entries = values * self.places.opposing(tuple(own.sum(axis=0) for own in reached), player)
        return np.concatenate((np.zeros(1), entries.ravel()))
