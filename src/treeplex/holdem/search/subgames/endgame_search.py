"""Endgame solving of hold'em streets by engine passes, with or without a gadget."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.engine.tree.regret import Weights
from treeplex.errors import AlgorithmError
from treeplex.holdem.engine.form import Store
from treeplex.holdem.engine.passes import BoardPool
from treeplex.holdem.engine.workspace import make_workspace
from treeplex.holdem.forms.spot_form import store_of
from treeplex.search.methods import Method
from treeplex.search.subgames.gadgets import GadgetArrays
from treeplex.solvers.rules.variants import Variant

if TYPE_CHECKING:
    from treeplex.holdem.search.subgames.subgame import HoldemSubgame


def passes(method: Method) -> bool:
    """Whether one engine pass performs one iteration of the method; true for any CFR variant with alternating updates."""
    return isinstance(method.scheme, Variant) and method.updates == "alternating"


class EndgameSearch:
    """A faster :class:`treeplex.search.subgame_search.SubgameSearch` for subgames without a cut.

    A pass of the engine updates a player on all boards at once, in single precision, and adds the opposing strategy to its
    average in the same pass. Only what an agent needs to play is stored: neither root values nor a sequence-form strategy.

    Attributes:
        subgame: a subgame to the end of the game.
        method: a CFR variant with alternating updates.
        horizon: iterations planned.
        ranges: for each player float64 [1, H], the starting ranges.
        iteration: iterations done.
        gadget: the state of its gadget; None without one.
        store: regrets and the average.
        crew: thread pool with scratch space.
    """

    def __init__(
        self,
        subgame: "HoldemSubgame",
        method: Method,
        *,
        horizon: int = 1000,
        precision: type[np.floating[Any]] = np.float32,
        as_cut: bool = False,
    ) -> None:
        """Start from the uniform policy.

        Args:
            subgame, method, horizon: see the attributes.
            precision: floating-point type of all arrays.
            as_cut: start from the unnormalised ranges at the cut.

        Raises:
            AlgorithmError: the subgame has a cut, or the method is not a CFR variant with alternating updates.
        """
        if not isinstance(method.scheme, Variant) or not passes(method) or len(subgame.leaves):
            raise AlgorithmError(
                f"solving to the end of the game needs a CFR variant with alternating updates, not {method.name}; "
                "use dcfr, for example"
            )
        self.subgame, self.method, self.horizon, self.iteration = subgame, method, horizon, 0
        self._rule, self._hands = method.scheme, (subgame.held(0), subgame.held(1))
        whole, self.ranges = (subgame.whole, subgame.ranges) if as_cut else (subgame.begun, subgame.normalised)
        work = make_workspace(whole.form, subgame.threads, precision, raked=whole.raked)
        self.crew = BoardPool(whole.form, work, raked=whole.raked)
        self.store = Store(**store_of(whole, self._rule.needs, precision))
        self.gadget: GadgetArrays | None = None
        if subgame.gadget is not None:
            self.gadget = GadgetArrays(subgame.gadget, subgame.roots, subgame.admitted, self.ranges)
            self.crew.form = whole.form._replace(weights=whole.form.weights.copy())
            self._enter(self.gadget.opponent)

    def __repr__(self) -> str:
        return f"<search by {self.method.name}: {self.iteration:,} iterations on {self.subgame!r}>"

    def run(self, iterations: int) -> None:
        """Run ``iterations`` more iterations."""
        first = self.iteration + 1
        rows = self._rule.rows(range(first, first + iterations), self.horizon)
        self.crew.iterate(rows, self.store, None if self.gadget is None else self._improve_gadget)
        self.iteration += iterations

    def _improve_gadget(self, player: int, row: Floats) -> None:
        """Update the opponent's strategy in the gadget after a policy update."""
        assert self.gadget is not None
        if player == self.gadget.opponent:
            entries = np.zeros((1, self.subgame.roots.widths[player]))
            entries[0, self._hands[player]] = self.crew.root_values(player)
            self.gadget.improve(entries, Weights(*row))
            self._enter(player)

    def _enter(self, player: int) -> None:
        assert self.gadget is not None
        first = player * len(self._hands[0])
        entered = self.gadget.entered()[0, self._hands[player]]
        self.crew.form.weights[first : first + len(self._hands[player])] = entered

    def average_policy(self) -> NDArray[Any]:
        """The average policy, float32 [Q], for :meth:`treeplex.search.subgames.subgame.Subgame.policy_at`."""
        return self.store.average.copy()
