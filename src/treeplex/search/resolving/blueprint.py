"""Blueprints for re-solving agents: their policies, ranges at public states, and alternative values."""

from functools import lru_cache
from typing import Protocol

from treeplex.base.arrays import Floats
from treeplex.errors import AlgorithmError
from treeplex.forms.policies.tabular import Policy
from treeplex.games.base import CHANCE
from treeplex.games.public import PublicGame, PublicTree, State, pair_state
from treeplex.search.resolving.resolved import Trunk, TrunkNode, gifts, opponent_values
from treeplex.search.subgames.beliefs import Belief
from treeplex.search.subgames.cut import cut
from treeplex.search.subgames.horizon import Horizon
from treeplex.search.subgames.policy_tables import table_at


class Blueprint(Protocol):
    """Policy of the whole game, of which an agent re-solves parts. Paths are labels from the start of the game."""

    def check(self, game: PublicGame, start: int, *, reach: bool = False) -> None:
        """Check that the blueprint is for this game, that the game has its subgames, and that gifts can be computed.

        Raises:
            AlgorithmError, PolicyError: a check fails; the message has a hint.
        """

    def policy(self, game: PublicGame, path: tuple[int, ...]) -> Floats:
        """Return the policy of each hand at a decision, float64 [A, H]."""
        ...

    def belief(self, game: PublicGame, path: tuple[int, ...]) -> Belief:
        """Return the public belief state at the end of a path if all players follow the blueprint."""
        ...

    def promised(self, game: PublicGame, path: tuple[int, ...], player: int, *, reach: bool = False) -> Floats:
        """Return the best-response value of each of the opponent's hands against the blueprint, float64 [H].

        NaN for hands without a compatible opposing hand.

        Args:
            game, path: the game, and the path to the public state.
            player: the player who re-solves.
            reach: whether to add gifts along the path, see :func:`treeplex.search.resolving.resolved.gifts`; only for subgames
                that begin after a deal.
        """
        ...


class TableBlueprint:
    """A policy table of a small game as a blueprint.

    Attributes:
        rules: the public-tree rules.
        table: the policy.
        start: number of deals before the subgames begin.
    """

    def __init__(self, rules: PublicTree, table: Policy, start: int) -> None:
        self.rules, self.table, self.start = rules, table, start
        self._trunk: Trunk | None = None
        self._promises = lru_cache(maxsize=4096)(self._promised)
        self._with_gifts: dict[int, list[Floats]] = {}

    def check(self, game: PublicGame, start: int, *, reach: bool = False) -> None:
        """See :class:`Blueprint`."""
        if game is not self.rules:
            raise AlgorithmError("a policy table plays only its own game; give a blueprint of the game being played")
        state = self.rules.first_state()
        while (options := self.rules.options(state)).player == CHANCE:
            state = self.rules.after(state, options.labels[0])
        table_at(self.table, self.rules, state)
        if start:
            try:
                self._trunk = Trunk.of(self.table, self.rules, Horizon(rounds=start))
            except AlgorithmError as error:
                message = f"start={start}, but the game has no round after {start} deals; give a smaller number"
                raise AlgorithmError(message) from error

    def policy(self, game: PublicGame, path: tuple[int, ...]) -> Floats:
        """See :class:`Blueprint`."""
        state = self.rules.first_state()
        for label in path:
            state = self.rules.after(state, label)
        return table_at(self.table, self.rules, state)

    def belief(self, game: PublicGame, path: tuple[int, ...]) -> Belief:
        """See :class:`Blueprint`."""
        return Belief.along(self.rules, path, lambda belief: table_at(self.table, self.rules, pair_state(belief.state)))

    def promised(self, game: PublicGame, path: tuple[int, ...], player: int, *, reach: bool = False) -> Floats:
        """See :class:`Blueprint`."""
        return self._promises(path, player, reach)

    def _promised(self, path: tuple[int, ...], player: int, reach: bool) -> Floats:
        if reach and self._trunk is not None:
            return self._gifted(player)[self._number(path)]
        promised: Floats = opponent_values(cut(self.rules, [self.belief(self.rules, path)]), self.table, player)[0]
        return promised

    def _gifted(self, player: int) -> list[Floats]:
        """Alternative values including gifts, for all subgames."""
        trunk = self._trunk
        assert trunk is not None
        if player not in self._with_gifts:
            promised = list(opponent_values(trunk.subgames(trunk.starts), self.table, player))
            given = gifts(trunk, promised, player)
            self._with_gifts[player] = [values[: len(gift)] + gift for values, gift in zip(promised, given, strict=True)]
        return self._with_gifts[player]

    def _number(self, path: tuple[int, ...]) -> int:
        """Index of the subgame that begins at the end of a path."""
        assert self._trunk is not None
        node: TrunkNode = self._trunk.root
        for label in path:
            after = self.rules.after(node.state, label)
            node = next(below for below in node.below if below.state.node == after.node)
        return node.start


def deals_in(game: PublicGame, path: tuple[int, ...], begun: State | None = None) -> list[int]:
    """Number of labels on a path up to and including each deal, ignoring a deal at the start of the path.

    The path starts at ``begun``, or by default at the start of the game.
    """
    depths, state = [], game.first_state() if begun is None else begun
    for depth, label in enumerate(path):
        if depth and game.options(state).player == CHANCE:
            depths.append(depth + 1)
        state = game.after(state, label)
    return depths
