"""Compiled games and batches of subgames as PyTorch tensors, on any device."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.engine.tree.form import STORED, Payoff, Tree
from treeplex.engine.tree.learned import DiscountNetwork
from treeplex.engine.tree.regret import Weights
from treeplex.errors import AlgorithmError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.form import OPTIMISM, STEP, RuleKind
from treeplex.forms.policies.tabular import Policy, normalised
from treeplex.learn.common.device import torch_device, torch_module
from treeplex.learn.torch.kernels import (
    ONE,
    ZERO,
    Placement,
    Tensor,
    Terminals,
    Treeplex,
    back_up,
    best_reply,
    factors,
    next_average,
    regret_update,
    sequence_form,
)
from treeplex.solvers.base import Solver, check_state
from treeplex.solvers.registry import GENERAL, AnyAlgorithm, rule_of
from treeplex.solvers.solver import FormSolver


@dataclass(eq=False)
class TensorState:
    """Tensors of a solver run, one per player; slots are those of :mod:`treeplex.learn.torch.kernels`.

    Attributes:
        policies: [I, A], current policy; in fictitious play, the last pure best response.
        along: [N], path factor of each slot under that policy.
        strategies: [N], its sequence form.
        averages: [N], own-reach-weighted sums of policies; in fictitious play, the averages.
        regrets: [I, A].
    """

    policies: list[Tensor]
    along: list[Tensor]
    strategies: list[Tensor]
    averages: list[Tensor]
    regrets: list[Tensor]


class TensorForm:
    """Sequence-form trees of two players for update rules on tensors; a :class:`treeplex.forms.form.Form`.

    Attributes:
        treeplexes: both players' treeplexes.
        players: number of players, 2.
    """

    players = 2

    def __init__(self, tree: Tree, payoff: Payoff, *, device: Any, dtype: Any = None, identity: str = "") -> None:
        """Copy a tree and its payoffs to a device.

        Args:
            tree, payoff: tree and payoffs of a compiled game or a batch of subgames.
            device: a PyTorch device.
            dtype: a PyTorch type; None for float32.
            identity: a hash of the game.

        Raises:
            AlgorithmError: the game does not have two players, or its payoffs are not stored.
        """
        players = len(tree.sequence_offsets) - 1
        if players != 2:
            raise AlgorithmError(f"tensors support games with two players, not with {players}; use device cpu")
        if payoff.walk != STORED:
            raise AlgorithmError(
                "tensors need stored payoffs, but the payoffs of this game are computed by its rules; use device cpu"
            )
        self.identity, self.size = identity, int(tree.sequence_offsets[-1])
        self.at = Placement(device, dtype or torch_module().float32)
        self.treeplexes = Treeplex.of(tree, 0, self.at), Treeplex.of(tree, 1, self.at)
        self._terminals = [Terminals.of(payoff, player, self.treeplexes, self.at) for player in (0, 1)]

    def state_of(self, arrays: Mapping[str, Floats]) -> TensorState:
        """Create a state from arrays, float64 [Q] each; ``strategy`` has the weights of the root sequences."""
        state = TensorState([], [], [], [], [])
        with torch_module().inference_mode():
            for treeplex in self.treeplexes:
                part = {
                    name: treeplex.spread(arrays[name][treeplex.begin : treeplex.begin + len(treeplex.slots)])
                    for name in arrays
                }
                head, policy = part["strategy"][: treeplex.head], self.at.numbers(treeplex.inner(part["policy"]))
                head[ONE] = 1.0
                state.along.append(factors(self.at.numbers(head), policy))
                state.policies.append(policy)
                state.strategies.append(sequence_form(treeplex, state.along[-1]))
                state.averages.append(self.at.numbers(part["average"]))
                if "regrets" in part:
                    state.regrets.append(self.at.numbers(treeplex.inner(part["regrets"])))
        return state

    def allocate(
        self, kind: RuleKind, needs: frozenset[str], averages: int = 1, network: DiscountNetwork | None = None
    ) -> TensorState:
        """Create the initial state at the uniform policy; root sequences have weight 1.

        Raises:
            AlgorithmError: the rule needs more than regrets or best responses, or more than one average.
        """
        if kind not in (RuleKind.REGRETS, RuleKind.REPLIES) or needs & {"previous", "changes"}:
            raise AlgorithmError("does not run on tensors; use device cpu, a variant such as dcfr, or fictitious play")
        state = TensorState([treeplex.uniform for treeplex in self.treeplexes], [], [], [], [])
        with torch_module().inference_mode():
            for treeplex in self.treeplexes:
                head = np.ones(treeplex.head)
                head[ZERO] = 0.0
                state.along.append(factors(self.at.numbers(head), treeplex.uniform))
                state.strategies.append(sequence_form(treeplex, state.along[-1]))
            if kind is RuleKind.REPLIES:
                state.averages = list(state.strategies)
            else:
                state.averages = [torch_module().zeros_like(strategy) for strategy in state.strategies]
                state.regrets = [torch_module().zeros_like(policy) for policy in state.policies]
        return state

    def iterate(self, kind: RuleKind, rows: Floats, state: TensorState, *, alternating: bool) -> None:
        """Run one iteration per row of weights, without copying results to the host."""
        with torch_module().inference_mode():
            for numbers in rows.tolist():
                if kind is RuleKind.REPLIES:
                    self._reply(numbers, state, alternating=alternating)
                    continue
                row = Weights(*numbers)
                if alternating:
                    for player in (0, 1):
                        self.improve(player, row, state, self.gradient(player, state))
                else:
                    values = [self.gradient(player, state) for player in (0, 1)]
                    for player in (0, 1):
                        self.improve(player, row, state, values[player])

    def gradient(self, player: int, state: TensorState) -> Tensor:
        """Values of a player's slots against the other player's current strategy, [N], without leaf values."""
        return self._terminals[player].gradient(state.strategies[1 - player])

    def improve(
        self, player: int, row: Weights, state: TensorState, values: Tensor, add: Callable[[Tensor], None] | None = None
    ) -> None:
        """Update one player: add the current strategy to the average, then compute regrets and the next policy.

        Args:
            player: the updating player.
            row: the iteration's weights.
            state: changed in place.
            values: [N], the gradient; overwritten by counterfactual values, with those of root sequences in the first slots.
            add: function called between average and backup, which adds leaf values to the gradient.
        """
        treeplex = self.treeplexes[player]
        state.averages[player] = next_average(row, state.averages[player], state.strategies[player])
        if add is not None:
            add(values)
        back_up(treeplex, state.along[player], values)
        policy, state.regrets[player] = regret_update(treeplex, row, values, state.policies[player], state.regrets[player])
        self._play(player, policy, state)

    def _play(self, player: int, policy: Tensor, state: TensorState) -> None:
        """Set a player's policy and its sequence form."""
        treeplex = self.treeplexes[player]
        state.policies[player] = policy
        state.along[player] = factors(state.along[player][: treeplex.head], policy)
        state.strategies[player] = sequence_form(treeplex, state.along[player])

    def _reply(self, row: list[float], state: TensorState, *, alternating: bool) -> None:
        """Run an iteration of fictitious play; see :func:`treeplex.engine.tree.fictitious.iterate_best_replies`."""
        step, share = row[STEP], row[OPTIMISM]
        faced = [interpolated(share, state.averages[player], state.strategies[player]) for player in (0, 1)]
        for player in (0, 1):
            if alternating and player == 1:
                faced[0] = interpolated(share, state.averages[0], state.strategies[0])
            values = self._terminals[player].gradient(faced[1 - player])
            self._play(player, best_reply(self.treeplexes[player], values), state)
            state.averages[player] = interpolated(step, state.averages[player], state.strategies[player])

    def iterate_learned(
        self, network: DiscountNetwork, state: TensorState, done: int, iterations: int, horizon: int, *, alternating: bool
    ) -> None:
        """Raise an error, since learned rules need features of the run that tensors do not provide.

        Raises:
            AlgorithmError: always.
        """
        raise AlgorithmError("a learned rule does not run on tensors; use device cpu")

    def arrays(self, state: TensorState) -> dict[str, Floats]:
        """Arrays that determine the next iteration, float64 [Q] each, copied to the host.

        They have the format of :class:`treeplex.forms.compile.views.tree_form.TreeState`, so a run can resume with tensors or
        with compiled kernels.
        """
        arrays = {name: np.zeros(self.size) for name in ("policy", "strategy", "average", "regrets")}
        for player, treeplex in enumerate(self.treeplexes):
            taken, inner = slice(treeplex.begin, treeplex.begin + len(treeplex.slots)), treeplex.slots >= treeplex.head
            at_infosets = treeplex.slots[inner] - treeplex.head
            arrays["strategy"][taken] = on_host(state.strategies[player])[treeplex.slots]
            arrays["average"][taken] = on_host(state.averages[player])[treeplex.slots]
            arrays["policy"][taken] = 1.0
            arrays["policy"][taken][inner] = on_host(state.policies[player]).ravel()[at_infosets]
            if state.regrets:
                arrays["regrets"][taken][inner] = on_host(state.regrets[player]).ravel()[at_infosets]
        return arrays if state.regrets else {name: array for name, array in arrays.items() if name != "regrets"}

    def policy(self, state: TensorState) -> Floats:
        """The unnormalised average strategy in sequence form, float64 [Q], on the host."""
        return self.arrays(state)["average"]

    def values(self, state: TensorState, *, best: bool) -> Floats:
        """Each player's value against the other's average strategy, float64 [2], in the game's units.

        With ``best`` it is the value of a best response, otherwise that of the player's own average strategy.
        """
        game_values = np.empty(2)
        with torch_module().inference_mode():
            averages = [self._normalised(player, state) for player in (0, 1)]
            for player, treeplex in enumerate(self.treeplexes):
                values = self._terminals[player].gradient(sequence_form(self.treeplexes[1 - player], averages[1 - player]))
                if best:
                    best_reply(treeplex, values)
                else:
                    back_up(treeplex, averages[player], values)
                roots = treeplex.slots[treeplex.slots < treeplex.head]
                game_values[player] = float((values[: treeplex.head] * averages[player][: treeplex.head])[roots].sum())
        return game_values

    def _normalised(self, player: int, state: TensorState) -> Tensor:
        """Path factors, [N], of a player's average policy; uniform where the average has zero reach."""
        treeplex = self.treeplexes[player]
        sums = treeplex.inner(state.averages[player])
        total = sums.sum(dim=1, keepdim=True)
        policy = torch_module().where(total > 0.0, sums / total, treeplex.uniform)
        return factors(state.along[player][: treeplex.head], policy)


def tensor_solver(
    game: CompiledGame, algorithm: AnyAlgorithm, device: str, *, horizon: int | None, updates: str | None
) -> "TensorSolver | None":
    """A solver on one of :data:`treeplex.learn.common.device.DEVICES`; None for the CPU's compiled kernels.

    Raises:
        SpecError: the device is unknown, or there is no GPU, or PyTorch is missing.
    """
    target = torch_device(device)
    return None if target is None else TensorSolver(game, algorithm, device=target, horizon=horizon, updates=updates)


class TensorSolver(FormSolver[TensorState], Solver):
    """Solver that runs an update rule on a compiled game with tensors; its state is interchangeable with that of compiled
    kernels."""

    form: TensorForm
    algorithm: str
    iteration: int
    updates: str

    def __init__(
        self,
        game: CompiledGame,
        algorithm: AnyAlgorithm,
        *,
        device: Any,
        dtype: Any = None,
        horizon: int | None = None,
        updates: str | None = None,
    ) -> None:
        """Start from the uniform policy.

        Args:
            game: the compiled two-player game.
            algorithm: an update rule, or its spec.
            device: a PyTorch device.
            dtype: a PyTorch type; None for float64.
            horizon: planned number of iterations, used only by scheduled rules.
            updates: ``alternating`` or ``simultaneous``; None for the rule's default.

        Raises:
            SpecError: the algorithm, a parameter or the order of updates is unknown.
            AlgorithmError: the algorithm is not an update rule or does not run on tensors, or the game does not have two
                players.
        """
        self.game = game
        try:
            rule, text = rule_of(algorithm, GENERAL)
        except AlgorithmError as error:
            raise AlgorithmError(f"{algorithm} does not run on tensors; use device cpu") from error
        kind = torch_module().float64 if dtype is None else dtype
        form = TensorForm(game.tree, game.payoff, device=device, dtype=kind, identity=game.identity)
        super().__init__(form, rule, horizon=horizon, updates=updates, algorithm=text)

    @property
    def average(self) -> Floats:  # type: ignore[override]
        """The average on the host, float64 [Q]: sums of policies, weighted by own reach."""
        return self.form.policy(self.tables)

    def average_policy(self) -> Policy:
        """The average policy, which converges to equilibrium; uniform before the first iteration."""
        return Policy(self.game, normalised(self.game, self.average))

    def restore(self, state: Mapping[str, Floats]) -> None:
        """Resume from a saved state, of this solver or of the same rule on compiled kernels.

        Raises:
            FileError: an array is missing or has another shape; the solver is left unchanged.
        """
        arrays = self.arrays()
        check_state({"iteration": np.empty(1), **arrays}, state)
        self.tables = self.form.state_of({name: state[name] for name in arrays})
        self.iteration = int(state["iteration"][0])


def interpolated(share: float, average: Tensor, reply: Tensor) -> Tensor:
    """``(1 - share) * average + share * reply``."""
    return average * (1.0 - share) + reply * share


def on_host(tensor: Tensor) -> Floats:
    """A tensor copied to the host, float64."""
    return np.asarray(tensor.cpu().numpy(), np.float64)
