"""Subgames as used by search: where they begin, where they are cut, and arrays to iterate on.

A *subgame* begins at public states with a range of hands for each player and ends with the game or, if cut, at *leaves*,
public states whose values come from elsewhere. Batches of templates are subgames of any public tree, many at once
(:mod:`treeplex.search.subgames.batch`). A kind of game may provide its own (:meth:`treeplex.games.public.PublicGame.cut`);
search uses :class:`Subgame` for everything that depends on the kind. :func:`treeplex.search.subgames.cut.cut` makes
subgames.

Values that belong to players are tuples with one entry per player. *Reach* is own reach, the product of the probabilities of
a player's own actions, times its range. *Entries* are counterfactual values: a hand's expected payoff times the probability
that it is met, by chance and the others.

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
    """Some public states of subgames: K states with up to H_i hands of player i.

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
        """For each player H_i, the width of reaches and values; states with fewer hands are padded."""

    @abstractmethod
    def opposing(self, reached: Ranges, player: int) -> Floats:
        """The probability that each hand of a player is met, by chance and the others, float64 [K, H_player].

        Args:
            reached: for each player float64 [K, H_i].
            player: the player who has the hands.
        """

    @property
    def trees(self) -> "PairPlaces":
        """These places in a public tree.

        Raises:
            AlgorithmError: they are not in a public tree.
        """
        raise AlgorithmError(f"this needs public states of public trees, not {self!r}")

    def endgames(self, method: str, iterations: int, *, threads: int, storage: str) -> "Endgames | None":
        """All play after these places, compiled once for the game's own engine; None without one. See ``search.exact_leaf``."""
        return None

    @property
    def possible(self) -> Ranges:
        """1 for each player's possible hands, otherwise 0; for each player float64 [K, H_i]."""
        found = tuple(np.zeros((len(self), width)) for width in self.widths)
        for k, state in enumerate(self.states):
            for own, can in zip(found, self.game.possible(state), strict=True):
                own[k, : len(can)] = can
        return found

    @property
    def dealt(self) -> Ranges:
        """Unnormalised marginal dealing probability of each hand, for each player float64 [K, H_i]."""
        found = tuple(np.zeros((len(self), width)) for width in self.widths)
        for k, state in enumerate(self.states):
            for own, chance in zip(found, self.game.dealt(state), strict=True):
                own[k, : len(chance)] = chance
        return found


class Endgames(Protocol):
    """Everything after some places, compiled once and solved to the end for given beliefs."""

    def values(self, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        """Values under the solution for the beliefs; shapes as in :class:`treeplex.search.leaf.LeafValue`."""
        ...


class Endgame(Protocol):
    """A subgame without leaves being solved to the end of the game, as used by agents.

    Attributes:
        subgame: the subgame.
        ranges: for each player float64 [B, H_i], the initial ranges.
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
    """Action values in a subgame under its average policy."""

    def of_hands(self, state: State) -> Floats:
        """Action values at a decision, float64 [A, H]; NaN for hands that face no opposing hand."""
        ...


class ResponseValues(Protocol):
    """The values of a player's hands everywhere in a subgame."""

    def at(self, path: tuple[int, ...]) -> Floats:
        """Expected payoff of each hand at a public state, given that it is held there, float64 [H], in the game's units.

        NaN for hands that face no opposing hand.

        Args:
            path: the labels of actions and chance outcomes from the subgame's root, none of them after a leaf.

        Raises:
            GameError: the subgame has no such path.
        """
        ...


class SubgameArrays(ABC):
    """A subgame being solved: its arrays, and their updates in an iteration. Flat arrays have the subgame's own shape, [Q].

    Attributes:
        ranges: for each player float64 [B, H_i], the initial ranges, summing to one.
        regrets: float64 [Q], as stored by the CFR variant; in hold'em, fictitious play keeps the last best responses here.
        policy: float64 [Q], proportional to the current policy; zero means uniform.
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
        """Set a player's initial range from now on, float64 [B, H_player], without normalising; before :meth:`play`."""

    @abstractmethod
    def play(self, player: int) -> None:
        """Set the strategy of a player from its current policy."""

    @abstractmethod
    def accumulate(self, player: int, discount: float, weight: float, average: Floats, strategy: Floats) -> None:
        """Multiply a player's part of an average, [Q], by ``discount``, and add ``weight`` times that of a strategy, [Q]."""

    @abstractmethod
    def reach_at_leaves(self, strategy: Floats) -> Ranges:
        """The reach of every hand at the leaves, for each player float64 [K, H_i]."""

    @abstractmethod
    def write_gradient(self, player: int, strategy: Floats) -> None:
        """Set a player's action values against a strategy of the others, with leaves at zero."""

    @abstractmethod
    def write_leaves(self, player: int, entries: Floats) -> None:
        """Add entries at the leaves, float64 [K, H_player]; after :meth:`write_gradient`."""

    @abstractmethod
    def improve(self, player: int, row: Weights) -> None:
        """Update a player's regrets and policy from its action values."""

    @abstractmethod
    def respond(self, player: int) -> None:
        """Set a player's policy to a best response to its action values."""

    @abstractmethod
    def root_entries(self, player: int) -> Floats:
        """Counterfactual values of the root hands, after :meth:`improve` or :meth:`respond`, float64 [B, H_player]."""

    @abstractmethod
    def as_policy(self, strategy: Floats) -> Floats:
        """A strategy as input of :meth:`Subgame.policy_at`, both [Q], a copy; current or uniform where it has no reach."""


class Subgame(ABC):
    """A subgame, or a batch of subgames.

    Attributes:
        game: the game.
        roots: where they begin, B public states.
        leaves: where they are cut, K public states.
        ranges: for each player float64 [B, H_i], the ranges at the cut, up to a factor.
        gadget: the gadget in front of the roots; None for none.
        plays_behind_gadgets: whether fictitious play can solve it behind a gadget; CFR variants can.
        policy_from_regrets: whether its arrays keep only regrets, from which the policy is derived.
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
        """Arrays at the uniform policy.

        Args:
            ranges: for each player float64 [B, H_i], up to a factor; None for :attr:`ranges`.
            predicts: whether the policy is kept as well as regrets, see :class:`treeplex.solvers.rules.variants.Variant`.

        Raises:
            GameError: ranges that do not fit.
        """

    @property
    def admitted(self) -> Ranges:
        """1 for the root hands that it has room for, otherwise 0; for each player float64 [B, H_i]."""
        return self.roots.possible

    @property
    @abstractmethod
    def size(self) -> int:
        """Q, the length of a policy."""

    @property
    def storage(self) -> type[np.floating[Any]]:
        """The number type in which many of its policies are stored."""
        return np.float64

    @abstractmethod
    def find(self, owner: int, path: tuple[int, ...]) -> tuple[str, int]:
        """The end of a path of labels from a root: ("decision" or "leaf", its number), or ("end", -1)."""

    @abstractmethod
    def policy_at(self, decision: int, source: NDArray[Any]) -> Floats:
        """The policy of each hand at a decision, float64 [A, H]; uniform for impossible hands.

        Args:
            decision: its number, see :meth:`find`.
            source: [Q], :attr:`SubgameArrays.policy` or a result of :meth:`SubgameArrays.as_policy`.
        """

    @abstractmethod
    def ranges_after(self, source: NDArray[Any], path: tuple[int, ...], ranges: Ranges) -> Ranges:
        """The ranges at the end of a path from the only root when all players follow a policy, float64 [H_i], up to a factor.

        Args:
            source: [Q], the policy, as for :meth:`policy_at`.
            path: labels that lead to a leaf.
            ranges: for each player float64 [1, H_i], the initial ranges, summing to one.
        """

    @property
    def trees(self) -> "Subgames":
        """The subgame as a batch of compiled public trees.

        Raises:
            AlgorithmError: it is not one.
        """
        raise AlgorithmError(f"this needs subgames of public trees, not a {type(self).__name__}")

    def on_threads(self, threads: int) -> "Subgame":
        """The subgame, solved on ``threads`` threads if its kind is parallel, with equal results."""
        return self

    def endgame(self, method: "Method", horizon: int, *, as_cut: bool = False) -> Endgame | None:
        """A faster solver than :class:`treeplex.search.subgame_search.SubgameSearch`; None if there is none.

        Args:
            method: how it is solved.
            horizon: iterations planned.
            as_cut: begin with the ranges of the cut, which need not sum to one.
        """
        return None

    def responses(self, policy: NDArray[Any], player: int, leaf_values: Floats | None) -> ResponseValues:
        """Best-response values of a player's hands, see :func:`treeplex.search.subgames.response.response_values`.

        Raises:
            AlgorithmError: this kind of subgame does not support them.
        """
        raise AlgorithmError(f"{self!r} has no best responses; solve from ranges alone (gadget none)")

    def action_values(self, policy: NDArray[Any], ranges: Ranges, leaf: "LeafValue", path: tuple[int, ...]) -> Floats | None:
        """Action values by hand under one policy."""
        return None

    def action_worth(self, search: Endgame) -> ActionWorth | None:
        """Action values under the average policy of a search of it; None if :meth:`action_values` provides them."""
        return None

    def write_guess(self, search: "SubgameSearch", guess: Any) -> None:
        """Make a guess the current policy of a search, from the roots down, each time with the beliefs that it leads to.

        Raises:
            AlgorithmError: this kind of subgame supports only uniform starts.
        """
        raise AlgorithmError(f"searches of {self!r} do not start from guesses; search without one")

    def regrets_of_guess(self, search: "SubgameSearch", weight: float) -> "GuessRegrets":
        """Values and regrets of a search's current policy; leaves are valued for its beliefs.

        Args:
            search: after :meth:`write_guess`.
            weight: weight of its values in the differences of modified CFR-AVG.
        """
        raise AlgorithmError(f"searches of {self!r} do not start from guesses; search without one")
