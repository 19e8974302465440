"""The interface of forms: representations of games as arrays, on which solvers iterate.

A form is a game as arrays: treeplexes of any game, or hands on public boards. A solver gives it the rows of an update rule
(:mod:`treeplex.solvers.rules.rule`); the form keeps the state and runs its own kernels.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Any, Protocol, TypeVar

from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.engine.tree.learned import DiscountNetwork

Array = NDArray[Any]


class RuleKind(Enum):
    """The type of an update rule's rows, which determines the local update."""

    REGRETS = "regrets"
    """[K, 9], :class:`treeplex.engine.tree.regret.Weights`: regret matching."""
    TESTED = "tested"
    """[K, 12 + M], :meth:`treeplex.engine.tree.value_tested.ValueTest.row`, then a factor for each average."""
    REPLIES = "replies"
    """[K, 3]: step size towards best responses, then this and the next iteration's optimism: the last response's share in the
    strategy that is responded to.
    """
    LEARNED = "learned"
    """No rows: a network sets the weights from features of the run, see :meth:`Form.iterate_learned`."""


STEP, OPTIMISM, NEXT_OPTIMISM = 0, 1, 2
"""Columns of the rows of :attr:`RuleKind.REPLIES`."""

State = TypeVar("State")


class Form(Protocol[State]):
    """A game as arrays, on which update rules iterate."""

    @property
    def identity(self) -> str:
        """A hash of the game: equal for equal games."""
        ...

    @property
    def players(self) -> int:
        """The number of players."""
        ...

    def allocate(self, kind: RuleKind, needs: frozenset[str], averages: int, network: DiscountNetwork | None) -> State:
        """Return the initial state at the uniform policy.

        Args:
            kind: kind of the rule's rows.
            needs: names of the arrays that the rule uses; a form may store more, or omit those that it computes otherwise.
            averages: number of averages for which the rule has factors; a form may store fewer.
            network: the network of a learned rule; None for other rules.

        Raises:
            AlgorithmError: the form does not support these arrays.
        """
        ...

    def iterate(self, kind: RuleKind, rows: Floats, state: State, *, alternating: bool) -> None:
        """Run one iteration per row of weights; without rows, only compile the kernels.

        Raises:
            SpecError: a row needs arrays that the state lacks.
        """
        ...

    def iterate_learned(
        self, network: DiscountNetwork, state: State, done: int, iterations: int, horizon: int, *, alternating: bool
    ) -> None:
        """Run iterations ``done + 1 ... done + iterations`` of ``horizon``, whose weights a network sets."""
        ...

    def arrays(self, state: State) -> Mapping[str, Array]:
        """Return the arrays that the next iteration depends on, by name, without copying."""
        ...

    def policy(self, state: State) -> Array:
        """Return the average policy in the form's layout."""
        ...

    def values(self, state: State, *, best: bool) -> Floats:
        """Return each player's value against the others' average policies, float64 [N], in the game's units.

        With ``best``, the player plays a best response, otherwise its own average policy.
        """
        ...
