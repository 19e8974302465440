"""The subgame interface that search uses: roots, cuts, and the arrays that iterations update.

A *subgame* begins at public states with a range of hands for each player and ends with the game or, if cut, at *leaves*, public
states whose values are supplied by a leaf-value function. For any public tree, subgames are batches of templates
(:mod:`treeplex.search.subgames.batch`). A family of games may provide its own subgames
(:meth:`treeplex.games.public.PublicGame.cut`); search accesses them all through :class:`Subgame`. Subgames are created by
:func:`treeplex.search.subgames.cut.cut`.

Per-player values are tuples with one entry per player. *Reach* is own reach: the product of the probabilities of a player's own
actions, times its range. *Entries* are counterfactual values: a hand's expected payoff times its counterfactual reach, by
chance and the others.

For gadgets in front of the roots, which make re-solving safe, see :mod:`treeplex.search.subgames.gadgets`.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.engine.tree.regret import Weights
from treeplex.errors import AlgorithmError
from treeplex.games.base import on_one_line
from treeplex.games.public import PublicGame, State

if TYPE_CHECKING:
    from treeplex.search.leaf import LeafValue
    from treeplex.search.methods import Method
    from treeplex.search.subgame_search import SubgameSearch
    from treeplex.search.subgames.batch import PairPlaces, Subgames
    from treeplex.search.subgames.gadgets import Gadget
    from treeplex.search.warm_start.guess import GuessRegrets

Ranges = tuple[Floats, ...]
"""For each player float64 [..., H_i]."""


class Places(ABC):
    """A list of K public states of subgames, with up to H_i hands for player i.

    Attributes:
        game: the game.
        states: the public states, [K].
    """

    game: PublicGame
    states: Sequence[State]

    def __len__(self) -> int:
        return len(self.states)

    def __repr__(self) -> str:
        return f"<{len(self):,} public states of {self.game.title}: {' and '.join(map(str, self.widths))} hands>"

    @property
    @abstractmethod
    def widths(self) -> tuple[int, ...]:
        """For each player H_i, the width of reach and value arrays; states with fewer hands are padded."""

    @abstractmethod
    def opposing(self, reached: Ranges, player: int) -> Floats:
        """Counterfactual reach of each hand of a player, from chance and the other players, float64 [K, H_player].

        Args:
            reached: float64 [K, H_i] for each player.
            player: the player who holds the hands.
        """

    @property
    def trees(self) -> "PairPlaces":
        """Return the same public states as :class:`PairPlaces`.

        Raises:
            AlgorithmError: the places are not in a public tree.
        """
        raise AlgorithmError(f"{self!r} are not in a public tree, which this search needs; use a game with a public tree")

    def endgames(self, method: str, iterations: int, *, threads: int, storage: str) -> "Endgames | None":
        """Compile the rest of the game for a specialised engine; None if the game has none. See ``search.exact_leaf``."""
        return None

    @property
    def possible(self) -> Ranges:
        """Indicator of each player's possible hands, 1 or 0, float64 [K, H_i] for each player."""
        possible = tuple(np.zeros((len(self), width)) for width in self.widths)
        for k, state in enumerate(self.states):
            for row, can in zip(possible, self.game.possible(state), strict=True):
                row[k, : len(can)] = can
        return possible

    @property
    def dealt(self) -> Ranges:
        """Unnormalised marginal dealing probability of each hand, float64 [K, H_i] for each player."""
        dealt = tuple(np.zeros((len(self), width)) for width in self.widths)
        for k, state in enumerate(self.states):
            for row, chance in zip(dealt, self.game.dealt(state), strict=True):
                row[k, : len(chance)] = chance
        return dealt


class Endgames(Protocol):
    """The rest of the game after the given public states, compiled once and solved for given beliefs."""

    def values(self, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        """Solve for the beliefs and return values; shapes as in :class:`treeplex.search.leaf.LeafValue`."""
        ...


class Endgame(Protocol):
    """Solver for a subgame that reaches the end of the game, as used by agents.

    Attributes:
        subgame: the subgame.
        ranges: float64 [B, H_i] for each player, the initial ranges.
        iteration: iterations done.
    """

    @property
    def subgame(self) -> "Subgame": ...
    @property
    def ranges(self) -> Ranges: ...
    @property
    def iteration(self) -> int: ...
    def run(self, iterations: int) -> None: ...
    def average_policy(self) -> NDArray[Any]: ...


class ActionWorth(Protocol):
    """Provides action values in a subgame under its average policy."""

    def of_hands(self, state: State) -> Floats:
        """Return action values at a decision, float64 [A, H]; NaN for hands without a compatible opposing hand."""
        ...


class ResponseValues(Protocol):
    """Provides the values of a player's hands at every public state of a subgame."""

    def at(self, path: tuple[int, ...]) -> Floats:
        """Return each hand's expected payoff at a public state, given that it is held, float64 [H], in the game's units.

        NaN for hands without a compatible opposing hand.

        Args:
            path: the labels of actions and chance outcomes from the subgame's root, not beyond a leaf.

        Raises:
            GameError: the subgame has no such path.
        """
        ...


class SubgameArrays(ABC):
    """The arrays of a subgame being solved, and their updates. Flat arrays have length Q, in an order that the subgame defines.

    Attributes:
        ranges: float64 [B, H_i] for each player, the initial ranges, summing to one.
        regrets: float64 [Q], in the form that the CFR variant stores; in hold'em, fictitious play stores the latest best
            responses here.
        policy: float64 [Q], proportional to the current policy; all zero at an infoset means uniform.
        strategy: float64 [Q], the current policy in sequence form.
        average, faced: float64 [Q], sums of strategies, updated by :meth:`accumulate`.
    """

    ranges: Ranges
    regrets: Floats
    policy: Floats
    strategy: Floats
    average: Floats
    faced: Floats

    @abstractmethod
    def enter(self, player: int, ranges: Floats) -> None:
        """Set a player's initial range, float64 [B, H_player], without normalising; call before :meth:`play`."""

    @abstractmethod
    def play(self, player: int) -> None:
        """Compute a player's strategy from its current policy."""

    @abstractmethod
    def accumulate(self, player: int, discount: float, weight: float, average: Floats, strategy: Floats) -> None:
        """Multiply a player's part of an average [Q] by ``discount``, and add ``weight`` times its part of a strategy [Q]."""

    @abstractmethod
    def reach_at_leaves(self, strategy: Floats) -> Ranges:
        """Return the reach of every hand at the leaves, float64 [K, H_i] for each player."""

    @abstractmethod
    def write_gradient(self, player: int, strategy: Floats) -> None:
        """Compute a player's action values against the others' strategy, with leaf values of zero."""

    @abstractmethod
    def write_leaves(self, player: int, entries: Floats) -> None:
        """Add counterfactual values at the leaves, float64 [K, H_player]; call after :meth:`write_gradient`."""

    @abstractmethod
    def improve(self, player: int, row: Weights) -> None:
        """Update a player's regrets and policy from its action values."""

    @abstractmethod
    def respond(self, player: int) -> None:
        """Set a player's policy to a best response to its action values."""

    @abstractmethod
    def root_entries(self, player: int) -> Floats:
        """Counterfactual values of the root hands, float64 [B, H_player]; call after :meth:`improve` or :meth:`respond`."""

    @abstractmethod
    def as_policy(self, strategy: Floats) -> Floats:
        """Convert a strategy to a policy for :meth:`Subgame.policy_at`, both [Q]; current or uniform policy at zero reach."""


class Subgame(ABC):
    """A subgame, or a batch of subgames.

    Attributes:
        game: the game.
        roots: the B public states where they begin.
        leaves: the K public states where they are cut.
        ranges: float64 [B, H_i] for each player, the ranges given when the subgame was created, up to a factor.
        gadget: the gadget in front of the roots; None for none.
        plays_behind_gadgets: whether fictitious play can solve it with a gadget; CFR variants always can.
        policy_from_regrets: whether its arrays store only regrets, from which the policy is derived.
    """

    plays_behind_gadgets: ClassVar[bool] = True
    policy_from_regrets: ClassVar[bool] = False
    game: PublicGame
    roots: Places
    leaves: Places
    ranges: Ranges
    gadget: "Gadget | None" = None

    def __repr__(self) -> str:
        count, front = len(self.roots), "" if self.gadget is None else f", behind {type(self.gadget).__name__.lower()}"
        what = "subgame" if count == 1 else f"{count:,} subgames"
        where = f" at {self.game.name_of(self.roots.states[0])}" if count == 1 else ""
        return on_one_line(
            f"<{what} of {self.game.title}: {len(self.leaves):,} leaves, policy of {self.size:,} numbers{front}{where}>"
        )

    @abstractmethod
    def start(self, ranges: Ranges | None = None, *, predicts: bool) -> SubgameArrays:
        """Create arrays with the uniform policy.

        Args:
            ranges: float64 [B, H_i] for each player, the initial ranges, up to a factor; None for :attr:`ranges`.
            predicts: whether to store the policy as well as regrets, see :class:`treeplex.solvers.rules.variants.Variant`.

        Raises:
            GameError: the ranges do not fit.
        """

    @property
    def admitted(self) -> Ranges:
        """Indicator of the root hands that the subgame includes, 1 or 0, float64 [B, H_i] for each player."""
        return self.roots.possible

    @property
    @abstractmethod
    def size(self) -> int:
        """Q, the length of a policy."""

    @property
    def storage(self) -> type[np.floating[Any]]:
        """Data type for storing many of its policies."""
        return np.float64

    @abstractmethod
    def find(self, owner: int, path: tuple[int, ...]) -> tuple[str, int]:
        """Locate the end of a path of labels from a root: ("decision" or "leaf", its index), or ("end", -1)."""

    @abstractmethod
    def policy_at(self, decision: int, source: NDArray[Any]) -> Floats:
        """Return the policy of each hand at a decision, float64 [A, H]; uniform for impossible hands.

        Args:
            decision: the decision's index, see :meth:`find`.
            source: [Q], :attr:`SubgameArrays.policy` or a result of :meth:`SubgameArrays.as_policy`.
        """

    @abstractmethod
    def ranges_after(self, source: NDArray[Any], path: tuple[int, ...], ranges: Ranges) -> Ranges:
        """Unnormalised ranges at the end of a path from the only root if all players follow a policy, float64 [H_i].

        Args:
            source: [Q], the policy, as for :meth:`policy_at`.
            path: labels that lead to a leaf.
            ranges: float64 [1, H_i] for each player, the initial ranges, summing to one.
        """

    @property
    def trees(self) -> "Subgames":
        """Return the subgame as a batch of compiled public trees.

        Raises:
            AlgorithmError: the subgame is not in a public tree.
        """
        raise AlgorithmError(
            f"a {type(self).__name__} is not in a public tree, which this search needs; use a game with a public tree"
        )

    def on_threads(self, threads: int) -> "Subgame":
        """Return the subgame, solved on ``threads`` threads if it supports them; results do not change."""
        return self

    def endgame(self, method: "Method", horizon: int, *, as_cut: bool = False) -> Endgame | None:
        """Create a faster solver than :class:`treeplex.search.subgame_search.SubgameSearch`; None if there is none.

        Args:
            method: the solution method.
            horizon: planned number of iterations.
            as_cut: whether to start from :attr:`ranges` as they are, without normalising.
        """
        return None

    def responses(self, policy: NDArray[Any], player: int, leaf_values: Floats | None) -> ResponseValues:
        """Compute best-response values of a player's hands, see :func:`treeplex.search.subgames.response.response_values`.

        Raises:
            AlgorithmError: the subgame does not support best-response values.
        """
        raise AlgorithmError(f"best responses are not implemented for {self!r}; use gadget none")

    def action_values(self, policy: NDArray[Any], ranges: Ranges, leaf: "LeafValue", path: tuple[int, ...]) -> Floats | None:
        """Compute each hand's action values under a policy; None if unsupported."""
        return None

    def action_worth(self, search: Endgame) -> ActionWorth | None:
        """Action values under the average policy of a search; None if :meth:`action_values` provides them."""
        return None

    def write_guess(self, search: "SubgameSearch", guess: Any) -> None:
        """Set a search's current policy to a guess, from the roots down; each state's guess is made at the beliefs that it
        implies.

        Raises:
            AlgorithmError: the subgame supports only uniform starts.
        """
        raise AlgorithmError(f"warm starts are not implemented for {self!r}; search without a warm start")

    def regrets_of_guess(self, search: "SubgameSearch", weight: float) -> "GuessRegrets":
        """Compute values and regrets of a search's current policy; leaves are valued at its beliefs.

        Args:
            search: after :meth:`write_guess`.
            weight: weight of these values in the differences of modified CFR-AVG.

        Returns:
            Root values, best-response values and regrets.
        """
        raise AlgorithmError(f"warm starts are not implemented for {self!r}; search without a warm start")
