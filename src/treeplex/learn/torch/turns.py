"""Turn search on tensors with a river network: ``SubgameSearch`` for hold'em turns on any device."""

from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.engine.tree.regret import Weights
from treeplex.errors import SpecError
from treeplex.holdem.betting.tree import Showdown, payoffs
from treeplex.holdem.forms.betting_forest import Forest
from treeplex.holdem.forms.layout import board_part
from treeplex.holdem.search.leaves.binned_rivers import Rivers
from treeplex.holdem.search.subgames.subgame import HoldemSubgame
from treeplex.learn.common.device import torch_module
from treeplex.learn.rebel.turns.river_net import RiverLeaf, balanced, seen
from treeplex.learn.torch.kernels import Placement, Tensor, next_average
from treeplex.learn.torch.search import check_method
from treeplex.learn.torch.streets import BettingSequences, Cards, StreetTables, one_hot, regret_matching
from treeplex.search.subgame_search import SubgameSearch
from treeplex.solvers.rules.variants import Variant


class TensorRivers:
    """The rivers after one turn, and their value network. E: ends of the turn's betting; C: river cards; N: turn hands.

    Attributes:
        edge: [C, N, N], on each river, 1 if the own hand beats the opposing hand, -1 if it loses, 0 for ties and shared cards.
        chance: probability of each river, given both hands.
    """

    def __init__(self, leaf: RiverLeaf, subgame: HoldemSubgame, cards: Tensor, at: Placement) -> None:
        """Copy the network and the orders of hands to a device.

        Args:
            leaf: the network's leaf value.
            subgame: the turn.
            cards: [1, N, 52], the cards of each hand.
            at: device and number type.
        """
        self._function, self._at, self._held = leaf.function, at, cards[0]
        self._net, places = deepcopy(leaf.net).to(at.device), subgame.leaves
        self._rivers = rivers = Rivers.of(places, slice(0, len(places)), leaf.bins)
        self.chance, boards = rivers.chance, rivers.rivers
        numbers = np.full(len(boards.format.hands), -1)
        numbers[subgame.held(0)] = np.arange(len(subgame.held(0)))
        order, live = numbers[boards.order], len(subgame.held(0))
        free, rank = np.zeros((len(order), live)), np.zeros((len(order), live))
        np.put_along_axis(free, order, 1.0, axis=1)
        np.put_along_axis(rank, order, boards.start.astype(np.float64), axis=1)
        self._free, strength = at.numbers(free), at.numbers(rank)
        apart = (self._held @ self._held.T == 0) * self._free[:, :, None] * self._free[:, None]
        self.edge = (strength[:, :, None] - strength[:, None]).sign() * apart
        self._pots = at.numbers(rivers.pots)
        singles = torch_module().float32
        inputs = self._inputs = torch_module().zeros((len(places), len(order), boards.inputs), dtype=singles, device=at.device)
        blank = np.zeros((len(places), len(boards.format.hands)))
        inputs[:] = torch_module().tensor(boards.rows((blank, blank), rivers.pots, rivers.stacks)).reshape(inputs.shape)
        self._knots = at.numbers(self._shares(order, live)) if not boards.single else None
        self._columns = at.places(subgame.held(0).astype(np.int64))

    def _shares(self, order: NDArray[Any], live: int) -> Floats:
        """Weights of hands in bins on each river, [C, N, B]."""
        boards = self._rivers.rivers
        shares = np.zeros((*order.shape[:1], live, boards.bins))
        river = np.arange(len(order))[:, None]
        shares[river, order, boards.low] += 1.0 - boards.share
        shares[river, order, boards.low + 1] += boards.share
        return shares

    def met(self, reach: Tensor) -> Tensor:
        """Total opposing reach compatible with each hand; argument and result are [..., N]."""
        return reach.sum(dim=-1, keepdim=True) - (reach @ self._held) @ self._held.T + reach

    def entries(self, player: int, believed: tuple[Tensor, Tensor], reached: Tensor) -> Tensor:
        """Values of a player's hands at the ends, times the other's compatible reach, [E, N].

        Args:
            player: the player.
            believed: both players' reach, which gives the beliefs for river values, [E, N].
            reached: the other player's reach, which weights the values, [E, N].
        """
        torch, bins = torch_module(), self._rivers.rivers.bins
        masked = [reach[:, None] * self._free for reach in believed]
        masses = [self.met(reach) * self._free for reach in masked]
        outputs = self._outputs(masked, masses)[..., player * bins : (player + 1) * bins]
        worth = outputs[..., self._columns] if self._knots is None else torch.einsum("ecb,cnb->ecn", outputs, self._knots)
        values = masses[1 - player] * worth
        if self._function.shown:
            values = values + 0.5 * torch.einsum("ecn,cmn->ecm", masked[1 - player], self.edge)
        values = self.chance * self._pots[:, None] * values.sum(dim=1)
        mass = self.met(believed[1 - player])
        least = 100.0 * torch.finfo(mass.dtype).eps * believed[1 - player].sum(dim=1, keepdim=True)
        value = torch.where(mass > least, values / mass, 0.0)
        return value * self.met(reached).clamp(min=0.0)

    def _outputs(self, masked: list[Tensor], masses: list[Tensor]) -> Tensor:
        """Outputs of the network for all rivers, [E, C, 2B]."""
        torch, rivers, inputs = torch_module(), self._rivers.rivers, self._inputs
        for player in (0, 1):
            first = 1 + player * rivers.bins
            here = inputs[:, :, first : first + rivers.bins]
            likely = masked[player] * masses[1 - player] if self._knots is None else masked[player]
            total = likely.sum(dim=2, keepdim=True)
            uniform = self._free / self._free.sum(dim=1, keepdim=True)
            likely = torch.where(total > 0, likely / total, uniform) * rivers.bins
            if self._knots is None:
                here[:, :, self._columns] = likely.to(inputs.dtype)
            else:
                here[:] = torch.einsum("ecn,cnb->ecb", likely, self._knots).to(inputs.dtype)
        rows = inputs.flatten(0, 1)
        outputs = balanced(rows, self._net(seen(rows, rivers.bins, rivers.single)))
        return outputs.to(self._at.dtype).reshape(*inputs.shape[:2], -1)


class TurnSearch:
    """Turn search on a device; results are written back to the original search.

    Attributes:
        search: the original search.
        tables: policies, strategies, averages and regrets on the device.
    """

    def __init__(self, search: SubgameSearch, *, device: Any, dtype: Any = None) -> None:
        """Copy a search, new or already running, to a device.

        Args:
            search: a search of a turn with all hands in both ranges, by CFR-D or CFR-AVG, with a network's leaf values.
            device: a PyTorch device.
            dtype: a PyTorch type; None for float32.

        Raises:
            SpecError: another type of search.
        """
        check_method(search.method, predicts=False)
        subgame, leaf = search.subgame, search.leaf
        if not isinstance(leaf, RiverLeaf):
            raise SpecError(f"a turn search on tensors needs a network, not {type(leaf).__name__}; use device cpu")
        assert isinstance(subgame, HoldemSubgame)
        self.search, self._subgame = search, subgame
        at = self._at = Placement(device, dtype or torch_module().float32)
        held, forest = subgame.held(0), subgame.whole.forests[0]
        cards = one_hot(subgame.game.spot.format.hands[held][None], at)
        self._leaves = TensorRivers(leaf, subgame, cards, at)
        allin = self._leaves.edge.sum(dim=0)[None] * self._leaves.chance
        betting, wins = betting_of(forest, subgame)
        ranges = search.ranges[0][:, held], search.ranges[1][:, held]
        folds = np.array(forest.fold_values).reshape(1, -1, 2)
        self.tables = StreetTables(betting, Cards(cards, allin), ranges, folds, wins, at)
        self._read()

    def run(self, iterations: int) -> None:
        """Run another ``iterations`` iterations."""
        search, scheme = self.search, self.search.method.scheme
        assert isinstance(scheme, Variant)
        with torch_module().inference_mode():
            for t in range(search.iteration + 1, search.iteration + iterations + 1):
                row = scheme.schedule(t, search.horizon, **scheme.parameters)
                for player in (0, 1):
                    self._improve(player, row)
                search.iteration = t
        self._write()

    def _improve(self, player: int, row: Weights) -> None:
        """Update one player; see ``SubgameSearch`` for the beliefs at which leaves are valued."""
        tables, leaves, other = self.tables, self.search.method.leaves, 1 - player
        values = tables.gradient(player, tables.strategies[other])
        strategy, faced = (tables.strategies[owner] for owner in (player, other))
        if leaves != "current":
            strategy = next_average(row, tables.averages[player], strategy)
            faced = self._faced[other] = next_average(row, self._faced[other], faced)
        at_ends = self._at_ends(player, strategy), self._at_ends(other, faced)
        believed = at_ends if player == 0 else (at_ends[1], at_ends[0])
        reached = at_ends[1] if leaves != "average" else self._at_ends(other, tables.strategies[other])
        entries = self._leaves.entries(player, believed, reached)
        if leaves == "modified":
            entries, self._last[player] = (entries - row.average_discount * self._last[player]) / row.average, entries
        values.index_add_(1, self._ends[player], entries[None])
        tables.improve(player, row, values)
        self._sums[player] = next_average(row, self._sums[player], values[0, 0])
        self.search.sum_weights[player] = row.average_discount * self.search.sum_weights[player] + row.average

    def _at_ends(self, player: int, strategy: Tensor) -> Tensor:
        """A strategy's reach at the ends of betting, [E, N]."""
        return strategy[0, self._ends[player]]

    def _read(self) -> None:
        """Copy the search's arrays to the device; the policy is computed from regrets."""
        search, tables, at = self.search, self.tables, self._at
        ends = np.array(tables.betting.ends, np.int64).reshape(-1, 2)
        self._ends = at.places(ends[:, 0]), at.places(ends[:, 1])
        self._faced, self._last, self._sums = list[Tensor](), list[Tensor](), list[Tensor]()
        for player in (0, 1):
            held = self._subgame.held(player)
            self._faced.append(tables.strategies[player].clone())
            for source, target in (
                (search.regrets, tables.regrets[player]),
                (search.average, tables.averages[player]),
                (search.faced, self._faced[player]),
            ):
                target[0, 1:] = at.numbers(source[self._part(player)].reshape(-1, len(held)))
            for _, first, count in tables.betting.nodes[player] if search.iteration else ():
                some = slice(first, first + count)
                tables.policies[player][:, some] = regret_matching(tables.regrets[player][:, some])
            tables.strategies[player] = tables.reach(player, tables.policies[player])
            self._last.append(at.numbers(search.last_leaf[player][:, held]))
            self._sums.append(at.numbers(search.sums[player][0, held]))

    def _write(self) -> None:
        """Copy the results back to the search's arrays."""
        search, tables = self.search, self.tables
        for player in (0, 1):
            held, here = self._subgame.held(player), self._part(player)
            for source, target in (
                (tables.regrets[player], search.regrets),
                (tables.averages[player], search.average),
                (tables.strategies[player], search.strategy),
                (self._faced[player], search.faced),
            ):
                target[here] = source[0, 1:].cpu().numpy().ravel()
            search.last_leaf[player][:, held] = self._last[player].cpu().numpy()
            search.sums[player][0, held] = self._sums[player].cpu().numpy()

    def _part(self, player: int) -> slice:
        """The slice of the search's arrays that belongs to a player."""
        return board_part(self._subgame.top, 0, 0, player)


def betting_of(forest: Forest, subgame: HoldemSubgame) -> tuple[BettingSequences, Floats]:
    """A turn's betting, with all-in showdowns among its terminals, and their payoffs, [1, D]."""
    rake, nodes = subgame.game.spot.rake, subgame.whole.betting.nodes
    shown, wins = [], []
    for pair, below in zip(forest.ends, forest.below, strict=True):
        node = nodes[below]
        if isinstance(node, Showdown):
            shown.append(pair)
            wins.append(payoffs(node, rake)[0])
    plain = BettingSequences.of(forest)
    opened = tuple(forest.ends[end] for end in subgame.open_ends)
    return plain._replace(showdowns=tuple(shown), ends=opened), np.array([wins], np.float64).reshape(1, -1)
