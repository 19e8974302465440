"""Subgame solving by CFR on PyTorch tensors: :class:`SubgameSearch` for any device.

A search is created on the host, copied to the device, run there without host synchronisation, and copied back. Leaf values come
from a network's copy on the device.
"""

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from treeplex.base.arrays import Floats, Ints
from treeplex.engine.tree.regret import Weights
from treeplex.errors import AlgorithmError, SpecError
from treeplex.learn.common.device import torch_module
from treeplex.learn.common.encoding import Encoding
from treeplex.learn.common.value_net import Module
from treeplex.learn.rebel.network_leaf import NetworkLeaf
from treeplex.learn.torch.form import TensorForm, on_host
from treeplex.learn.torch.kernels import Placement, Tensor, Treeplex, next_average, stacking
from treeplex.search.leaf import NoLeaf, ZeroLeaf
from treeplex.search.methods import METHODS, Method
from treeplex.search.stopping import Replicas, SelfPlayPolicies
from treeplex.search.subgame_search import SubgameSearch
from treeplex.search.subgames.batch import PairPlaces
from treeplex.solvers.rules.variants import Variant


def check_method(method: Method, *, predicts: bool = True) -> None:
    """Check that a method is a CFR variant with alternating updates and, unless ``predicts`` is set, not predictive.

    Raises:
        SpecError: the method is not supported.
    """

    def runs(candidate: Method) -> bool:
        return (
            isinstance(candidate.scheme, Variant)
            and candidate.updates == "alternating"
            and (predicts or not candidate.scheme.predicts)
        )

    if not runs(method):
        known = ", ".join(name for name, known_method in METHODS.items() if runs(known_method))
        raise SpecError(f"method {method.name} runs on device cpu only; use device cpu, or one of {known}")


class TorchSearch:
    """Continues a :class:`SubgameSearch` on tensors; :meth:`finish` copies the results back.

    Earlier iterations of the search, including a warm start, are preserved. ``sums``, ``faced`` and ``last_leaf`` have one
    tensor per player.

    Attributes:
        search: the search, changed only by :meth:`finish`.
        iteration: number of iterations completed.
        form, tables: the batch of subgames as a :class:`TensorForm`, and its state.
        sums: [head], sums of root values with the average policy's weights.
        faced: [N], average of the player's strategies at the other player's updates, as in :class:`SubgameSearch` for CFR-AVG.
        last_leaf: [S, C, H], leaf entries of the previous update, which modified CFR-AVG subtracts; empty for other methods.
    """

    def __init__(self, search: SubgameSearch, *, device: Any, dtype: Any = None) -> None:
        """Copy a search to a device.

        Args:
            search: a CFR search with alternating updates, with :class:`NetworkLeaf`, :class:`ZeroLeaf` or :class:`NoLeaf`.
            device: a PyTorch device.
            dtype: number type of everything but the network; None for float32.

        Raises:
            SpecError: the method or leaf value is not supported.
            AlgorithmError: the search has leaves without values, a gadget, or choices behind leaves.
        """
        check_method(search.method)
        search.check_plain("a search by tensors")
        torch, tree, payoff = torch_module(), search.subgames.tree, search.subgames.payoff
        self.form = TensorForm(tree, payoff, device=device, dtype=dtype)
        names = ("policy", "strategy", "average", "regrets")
        self.tables = self.form.state_of({name: getattr(search, name) for name in names})
        self.search, self.iteration, self._sum_weights = search, search.iteration, list(search.sum_weights)
        self.sums, self.faced = [], []
        for player, treeplex in enumerate(self.treeplexes):
            sums, roots = np.zeros(treeplex.head), search.subgames.roots.sequences[player]
            sums[treeplex.sources(roots[roots >= 0])] = search.sums[player][roots >= 0]
            self.faced.append(
                self.form.at.numbers(treeplex.spread(search.faced[treeplex.begin : treeplex.begin + len(treeplex.slots)]))
            )
            self.sums.append(self.form.at.numbers(sums))
        with torch.inference_mode():
            self._leaves = tensor_leaves(search, self.treeplexes, self.form.at)
            self._seen = [] if self._leaves is None else [self._leaves.seen(p, self.strategies[p]) for p in (0, 1)]
        self.last_leaf: list[Tensor] = []
        if self._leaves is not None and search.method.leaves == "modified":
            self.last_leaf = [self.form.at.numbers(self._leaves.chunked(entries)) for entries in search.last_leaf]

    @property
    def treeplexes(self) -> tuple[Treeplex, Treeplex]:
        """Both players' treeplexes."""
        return self.form.treeplexes

    @property
    def strategies(self) -> list[Tensor]:
        """The current strategy of each player, [N]."""
        return self.tables.strategies

    def run(self, iterations: int) -> None:
        """Run another ``iterations`` iterations."""
        scheme = self.search.method.scheme
        assert isinstance(scheme, Variant)
        with torch_module().inference_mode():
            for t in range(self.iteration + 1, self.iteration + iterations + 1):
                row = scheme.schedule(t, self.search.horizon, **scheme.parameters)
                for player in (0, 1):
                    self._update(player, row)
                self.iteration = t

    def _update(self, player: int, row: Weights) -> None:
        """Run one player's update in an iteration."""
        leaves, values = self._leaves, self.form.gradient(player, self.tables)

        def add(values: Tensor) -> None:
            if leaves is not None:
                leaves.add(player, self._entries(leaves, player, row), values)

        self.form.improve(player, row, self.tables, values, add)
        self.sums[player] = next_average(row, self.sums[player], values[: self.treeplexes[player].head])
        self._sum_weights[player] = row.average_discount * self._sum_weights[player] + row.average
        if leaves is not None:
            self._seen[player] = leaves.seen(player, self.strategies[player])

    def _entries(self, leaves: "TensorLeaves", player: int, row: Weights) -> Tensor:
        """A player's leaf values for the gradient, [S, C, H]; see :meth:`SubgameSearch._alternating`."""
        kind, other = self.search.method.leaves, 1 - player
        if kind == "current":
            return leaves.entries(player, self._seen, self._seen[other].reach)
        self.faced[other] = next_average(row, self.faced[other], self.strategies[other])
        thought = [leaves.seen(owner, (self.tables.averages if owner == player else self.faced)[owner]) for owner in (0, 1)]
        if kind == "average":
            return leaves.entries(player, thought, self._seen[other].reach)
        entries = leaves.entries(player, thought, thought[other].reach)
        last, self.last_leaf[player] = self.last_leaf[player], entries
        return (entries - row.average_discount * last) / row.average

    def finish(self) -> SubgameSearch:
        """Copy the state back into the search."""
        search = self.search
        for name, array in self.form.arrays(self.tables).items():
            getattr(search, name)[...] = array
        for player, treeplex in enumerate(self.treeplexes):
            search.faced[treeplex.begin : treeplex.begin + len(treeplex.slots)] = on_host(self.faced[player])[treeplex.slots]
            roots, root_values = search.subgames.roots.sequences[player], on_host(self.sums[player])
            search.sums[player] = np.where(roots >= 0, root_values[treeplex.sources(roots)], 0.0)
            if self._leaves is not None and self.last_leaf:
                self._leaves.unchunk(on_host(self.last_leaf[player]), search.last_leaf[player])
        search.sum_weights[:] = self._sum_weights
        search.iteration = self.iteration
        return search

    def policies_at(
        self, iterations: int, stops: Ints, copies: Replicas | None = None, *, average: bool = False
    ) -> SelfPlayPolicies:
        """Run the search and :meth:`finish` it; returns each subgame's policy at its own iteration and optionally the average,
        as :func:`treeplex.search.stopping.policies_at` does.

        Sampled policies remain on the device until the end.
        """
        torch, search = torch_module(), self.search
        owners = search.subgames.owners if copies is None else copies.subgames.owners
        source = np.arange(len(owners)) if copies is None else copies.source
        at = np.where(owners >= 0, stops[owners], 0)
        stopped = SelfPlayPolicies(search.policy[source], search.next_average()[source] if average else None)
        takers = [SampleSchedule.of(treeplex, source, at, self.iteration) for treeplex in self.treeplexes]
        index = [torch.tensor(taker.slots, device=self.form.at.device) for taker in takers]
        policies: list[list[Tensor]] = [[], []]
        averages: list[list[Tensor]] = [[], []]
        for t in range(self.iteration + 1, iterations + 1):
            self.run(1)
            for player, taker in enumerate(takers):
                begin, end = np.searchsorted(taker.times, (t, t + 1)).tolist()
                if begin < end:
                    with torch.inference_mode():
                        slots = index[player][begin:end]
                        policies[player].append(self.tables.policies[player].flatten()[slots])
                        if average:
                            averages[player].append(self._next_average(player)[slots + self.treeplexes[player].head])
        self.finish()
        for player, taker in enumerate(takers):
            if policies[player]:
                stopped.policy[taker.sequences] = on_host(torch.cat(policies[player]))
            if stopped.average is not None and averages[player]:
                stopped.average[taker.sequences] = on_host(torch.cat(averages[player]))
        return stopped

    def _next_average(self, player: int) -> Tensor:
        """A player's unnormalised average strategy, including the current one, [N]."""
        scheme = self.search.method.scheme
        assert isinstance(scheme, Variant)
        row = scheme.schedule(self.iteration + 1, self.search.horizon, **scheme.parameters)
        return next_average(row, self.tables.averages[player], self.strategies[player])


@dataclass(frozen=True, eq=False)
class SampleSchedule:
    """Schedule for reading one player's probabilities at given iterations.

    Attributes:
        sequences: int64 [n], sequences to write.
        slots: int64 [n], slots to read, counted from the first infoset's.
        times: int64 [n], iterations, ascending.
    """

    sequences: Ints
    slots: Ints
    times: Ints

    @classmethod
    def of(cls, treeplex: Treeplex, source: Ints, at: Ints, done: int) -> "SampleSchedule":
        """Create the schedule from sequences and the iterations at which they are read, int64 [Q] each; past iterations are
        omitted."""
        mine = (source >= treeplex.begin) & (source < treeplex.begin + len(treeplex.slots)) & (at > done)
        sequences = np.flatnonzero(mine)
        slots = treeplex.slots[source[sequences] - treeplex.begin] - treeplex.head
        sequences, slots = sequences[slots >= 0], slots[slots >= 0]
        order = np.argsort(at[sequences], kind="stable")
        return cls(sequences[order], slots[order], at[sequences][order])


@dataclass(frozen=True, eq=False)
class LeafView:
    """One player's reach, [S, C, H], and beliefs, [S * C, H], at S chunks of C leaves."""

    reach: Tensor
    beliefs: Tensor


@dataclass(frozen=True, eq=False)
class TensorLeaves:
    """Leaves valued by a network, grouped by their weights of hand pairs into S chunks of C leaves, with at most H hands.

    Attributes:
        net, kind: the network on the device, and the network's number type.
        chunks: int64 [S, C], the leaf at each position, on the host; -1 in padding.
        features: [S * C, features].
        weights: for each player [S, H, H], maps the other's reach to the compatible mass of the player's hands.
        bases: for each player [S * C, H], chance probability of each hand; not all 0.
        traces: ``bases`` times a tiny factor, the belief at zero reach.
        sources: int64 [S, C, H] for each player.
        targets: int64 [S * C * H] for each player.
        inputs: int64 [S * C, inputs], columns of features and both players' beliefs that form a row.
        outputs: int64 [S * C, H] for each player, columns of its values.
    """

    net: Module
    kind: Any
    chunks: Ints
    features: Tensor
    weights: tuple[Tensor, Tensor]
    bases: tuple[Tensor, Tensor]
    traces: tuple[Tensor, Tensor]
    sources: tuple[Tensor, Tensor]
    targets: tuple[Tensor, Tensor]
    inputs: Tensor
    outputs: tuple[Tensor, Tensor]

    @classmethod
    def of(
        cls, leaves: PairPlaces, encoding: Encoding, net: Module, treeplexes: tuple[Treeplex, Treeplex], at: Placement
    ) -> "TensorLeaves":
        """Create the leaves of a batch of subgames."""
        hands, prepared = encoding.hands, encoding.prepared(leaves)
        order = np.concatenate([rows for _, rows in leaves.groups])
        chunks, group = stacking(np.array([len(rows) for _, rows in leaves.groups]))
        there = chunks >= 0
        chunks = np.where(there, order[chunks], -1)
        places = np.maximum(chunks, 0)
        matrices = np.zeros((len(leaves.groups), hands, hands))
        for matrix, (weight, _) in zip(matrices, leaves.groups, strict=True):
            matrix[: weight.shape[0], : weight.shape[1]] = weight
        weights = matrices[group]
        columns, features = np.arange(hands), encoding.features
        slots = prepared.slots[:, places.ravel()]
        feature_columns = np.tile(np.arange(features), (slots.shape[1], 1))
        first, second = (features + (slots[actor] == 1)[:, None] * hands + columns for actor in (0, 1))
        sources, targets, bases = [], [], []
        for player, treeplex in enumerate(treeplexes):
            leaf_slots = np.full((len(leaves), hands), -1, np.int64)
            leaf_slots[:, : leaves.sequences[player].shape[1]] = leaves.sequences[player]
            table = np.where(there[:, :, None], leaf_slots[places], -1)
            sources.append(at.places(treeplex.sources(table)))
            targets.append(at.places(treeplex.targets(table)))
            dealt = weights.sum(axis=2 - player)[:, None].repeat(there.shape[1], axis=1).reshape(-1, hands)
            bases.append(at.numbers(dealt))
        least = float(torch_module().finfo(at.dtype).tiny) ** 0.75
        return cls(
            net=deepcopy(net).to(at.device),
            kind=next(net.parameters()).dtype,
            chunks=chunks,
            features=at.numbers(prepared.rows[places.ravel(), :features]),
            weights=(at.numbers(weights.transpose(0, 2, 1).copy()), at.numbers(weights)),
            bases=(bases[0], bases[1]),
            traces=(bases[0] * least, bases[1] * least),
            sources=(sources[0], sources[1]),
            targets=(targets[0], targets[1]),
            inputs=at.places(np.concatenate((feature_columns, first, second), axis=1)),
            outputs=(at.places(slots[0][:, None] * hands + columns), at.places(slots[1][:, None] * hands + columns)),
        )

    def seen(self, player: int, strategy: Tensor) -> LeafView:
        """Reach and beliefs at the leaves under a player's strategy."""
        reach = strategy[self.sources[player]]
        joint = torch_module().addcmul(self.traces[player], self.bases[player], reach.flatten(0, 1))
        return LeafView(reach, joint / joint.sum(dim=1, keepdim=True))

    def entries(self, player: int, seen: list[LeafView], reach: Tensor) -> Tensor:
        """Values at the given beliefs, times the compatible mass of the other player's reach [S, C, H']; returns [S, C, H]."""
        known = torch_module().cat((self.features, seen[0].beliefs, seen[1].beliefs), dim=1)
        outputs = self.net(known.gather(1, self.inputs).to(self.kind)).to(reach.dtype)
        mass = reach.bmm(self.weights[player])
        return outputs.gather(1, self.outputs[player]).view_as(mass) * mass

    def add(self, player: int, entries: Tensor, values: Tensor) -> None:
        """Add leaf values, [S, C, H], to a player's gradient, [N]."""
        values.index_add_(0, self.targets[player], entries.flatten())

    def chunked(self, entries: Floats) -> Floats:
        """Arrange leaf-wise numbers, [K, H'], in chunks, [S, C, H]; 0 in padding."""
        numbers = np.zeros((*self.chunks.shape, self.sources[0].shape[2]))
        numbers[..., : entries.shape[1]] = np.where(self.chunks[..., None] >= 0, entries[self.chunks], 0.0)
        return numbers

    def unchunk(self, chunked: Floats, entries: Floats) -> None:
        """Write chunked numbers [S, C, H] back to their leaves, [K, H']."""
        there = self.chunks >= 0
        entries[self.chunks[there]] = chunked[there][:, : entries.shape[1]]


def tensor_leaves(search: SubgameSearch, treeplexes: tuple[Treeplex, Treeplex], at: Placement) -> TensorLeaves | None:
    """The leaves of a search, copied to a device; None if the search adds no leaf values."""
    leaves, leaf = search.subgames.leaves, search.leaf
    if not len(leaves) or isinstance(leaf, ZeroLeaf):
        return None
    if isinstance(leaf, NoLeaf):
        raise AlgorithmError("the subgame is depth-limited, so its leaves need values; give leaf=")
    if not isinstance(leaf, NetworkLeaf):
        raise SpecError(f"leaf values by {type(leaf).__name__} run on device cpu only; use device cpu, or a network")
    return TensorLeaves.of(leaves, leaf.encoding, leaf.net, treeplexes, at)
