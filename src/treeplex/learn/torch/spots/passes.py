"""The passes of an iteration over a spot's streets, on tensors.

Reach goes down from the first street, values come back up. Boards of the last street are processed in chunks, from reach at
their roots to new regrets, so that only regrets and averages are stored for all of them. Nothing here copies numbers to the
host, and no shape depends on them, so an iteration can be recorded as a CUDA graph.
"""

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from treeplex.learn.common.device import torch_module
from treeplex.learn.torch.kernels import Tensor
from treeplex.learn.torch.spots.rows import Group, add_rows
from treeplex.learn.torch.spots.tables import Chunk, SpotTables, Street

POSITIVE, NEGATIVE, REGRET, PREDICTED_POSITIVE, PREDICTED_NEGATIVE, PREDICTION, AVERAGE_DISCOUNT, AVERAGE = range(8)
"""Positions in the weights of an iteration on the device; see :class:`treeplex.engine.tree.regret.Weights`."""


@dataclass
class Numbers:
    """One player's numbers on the boards of a chunk, [actions, B, hands] each.

    Attributes:
        regrets: cumulative regrets; for locked infosets the policy.
        guesses: the unnormalised next policy; the same tensor unless the rule predicts.
        average: sums of policies, weighted by own reach.
        locked: 1 for locked infosets; None without locks.
    """

    regrets: Tensor
    guesses: Tensor
    average: Tensor
    locked: Tensor | None = None


State = list[list[tuple[Numbers, Numbers]]]
"""Both players' numbers by street and chunk."""


class Way(NamedTuple):
    """What distinguishes the iterations of rules, besides their weights.

    Attributes:
        floor: whether negative regrets are set to zero.
        predicts: whether guesses are stored.
        kernels: whether the updates of groups are kernels of Triton.
    """

    floor: bool
    predicts: bool
    kernels: bool


@cache
def kernels() -> Any:
    """The module of kernels; None without Triton."""
    try:
        return import_module("treeplex.learn.torch.spots.kernels")
    except ImportError:
        return None


def matched(weights: Tensor) -> Tensor:
    """Regret matching over the actions of [nodes, actions, B, hands]: proportional to the positive part, or uniform."""
    positive = weights.clamp(min=0.0)
    total = positive.sum(dim=1, keepdim=True)
    return torch_module().where(total > 0.0, positive.div_(total), 1.0 / weights.shape[1])


def discounted(regrets: Tensor, positive: Tensor, negative: Tensor, new: Tensor, weight: Tensor) -> Tensor:
    """``regrets * (positive if above 0, else negative) + weight * new``."""
    factors = torch_module().where(regrets > 0.0, positive, negative)
    return factors.mul_(regrets).addcmul_(new, weight.expand_as(new))


class Improving:
    """An iteration's work on one player: average, regrets and next policy.

    Args:
        state: updated in place.
        player: the player.
        weights: float [8] on the device, from :data:`POSITIVE` on.
        way: see :class:`Way`.
    """

    averages = True

    def __init__(self, state: State, player: int, weights: Tensor, way: Way) -> None:
        self.state, self.player, self.weights, self.way = state, player, weights, way

    def reach(self, numbers: tuple[Numbers, Numbers], seat: int, group: Group, reach: Tensor) -> None:
        """Set a group's rows of reach, [roots + actions, B, hands], and add the player's to its average."""
        guesses, average, weights = numbers[seat].guesses, numbers[seat].average, self.weights
        if self.way.kernels:
            kernels().play(group, guesses, reach, average if seat == self.player else None, weights)
            return
        below = group.view(reach[len(reach) - len(guesses) :])
        torch_module().mul(matched(group.view(guesses)), reach.index_select(0, group.parents)[:, None], out=below)
        if seat == self.player:
            group.view(average).mul_(weights[AVERAGE_DISCOUNT]).addcmul_(below, weights[AVERAGE].expand_as(below))

    def back_up(self, numbers: Numbers, group: Group, values: Tensor) -> None:
        """Update a group's regrets, and add its values to the rows above; ``values`` is [roots + actions, B, hands]."""
        stored, way = (numbers.regrets, numbers.guesses, numbers.locked, self.weights), self.way
        if way.kernels:
            kernels().improve(group, values, *stored, floor=way.floor, predicts=way.predicts)
            return
        gains, regrets, weights = (
            group.view(values[len(values) - len(numbers.regrets) :]),
            group.view(numbers.regrets),
            self.weights,
        )
        mean = (matched(group.view(numbers.guesses)) * gains).sum(dim=1)
        gains.sub_(mean[:, None])
        new = discounted(regrets, weights[POSITIVE], weights[NEGATIVE], gains, weights[REGRET])
        if way.floor:
            new.clamp_(min=0.0)
        if way.predicts:
            guess = discounted(new, weights[PREDICTED_POSITIVE], weights[PREDICTED_NEGATIVE], gains, weights[PREDICTION])
            group.view(numbers.guesses).copy_(kept(group, numbers, guess.clamp_(min=0.0)))
        regrets.copy_(kept(group, numbers, new))
        add_rows(values, group.rounds, mean)


def kept(group: Group, numbers: Numbers, new: Tensor) -> Tensor:
    """New numbers of a group, and the regrets, which do not change, where a policy is locked."""
    if numbers.locked is None:
        return new
    return torch_module().where(group.view(numbers.locked) > 0.0, group.view(numbers.regrets), new)


class Answering:
    """The value of one player's best response to the other's average policy, or of its own average policy.

    Args:
        state: the run's numbers.
        player: the player.
        best: whether to respond; locked policies are kept.
    """

    averages = False

    def __init__(self, state: State, player: int, *, best: bool) -> None:
        self.state, self.player, self.best = state, player, best

    def reach(self, numbers: tuple[Numbers, Numbers], seat: int, group: Group, reach: Tensor) -> None:
        """Set a group's rows of reach, [roots + actions, B, hands]."""
        below = group.view(reach[len(reach) - len(numbers[seat].average) :])
        torch_module().mul(self._policy(numbers[seat], group), reach.index_select(0, group.parents)[:, None], out=below)

    def back_up(self, numbers: Numbers, group: Group, values: Tensor) -> None:
        """Add a group's values to the rows above; ``values`` is [roots + actions, B, hands]."""
        actions, torch = group.view(values[len(values) - len(numbers.average) :]), torch_module()
        if not self.best:
            add_rows(values, group.rounds, (actions * self._policy(numbers, group)).sum(dim=1))
            return
        best = actions.amax(dim=1)
        if numbers.locked is not None:
            mean = (actions * self._policy(numbers, group)).sum(dim=1)
            best = torch.where(group.view(numbers.locked)[:, 0] > 0.0, mean, best)
        add_rows(values, group.rounds, best)

    def _policy(self, numbers: Numbers, group: Group) -> Tensor:
        """The average policy, and the locked one where a policy is locked, [nodes, actions, B, hands]."""
        policy = matched(group.view(numbers.average))
        if numbers.locked is None:
            return policy
        return torch_module().where(group.view(numbers.locked) > 0.0, matched(group.view(numbers.regrets)), policy)


def root_values(tables: SpotTables, visit: "Improving | Answering") -> Tensor:
    """Visit all nodes for one player, with reach on the way down and values on the way up.

    Returns:
        Values of the player's hands at the first street's roots, [roots, B, hands], in chips times the other's reach.
    """
    return values_of_street(tables, 0, visit, None, None)


def values_of_street(
    tables: SpotTables, index: int, visit: "Improving | Answering", faced: Tensor | None, own: Tensor | None
) -> Tensor:
    """Values at the ends of the street before, [ends, B, hands]; on the first street at its roots.

    Args:
        tables: the spot.
        index: the street.
        visit: what to do there.
        faced, own: reach of the other player's and of the player's rows on the street before, [rows, B, hands]; None on the
            first street, and ``own`` also if no averages are needed.
    """
    street, player, returned = tables.streets[index], visit.player, None
    side = street.sides[player]
    for number, chunk in enumerate(street.chunks):
        numbers = visit.state[index][number]
        reach = reach_of(tables, index, chunk, visit, numbers, 1 - player, faced)
        mine = reach_of(tables, index, chunk, visit, numbers, player, own) if visit.averages else None
        values = at_terminals(tables, street, chunk, player, reach)
        if index + 1 < len(tables.streets):
            below = values_of_street(tables, index + 1, visit, reach, mine)
            add_rows(values, street.ends[player].rounds, below.index_select(0, street.ends[player].sorting))
            if (mirror := chunk.mirrors[player]) is not None:
                values = values.gather(2, mirror.expand_as(values))
        del reach, mine
        for group in reversed(side.groups):
            visit.back_up(numbers[player], group, values)
        if index == 0:
            return values[: side.roots]
        if returned is None:
            returned = values.new_zeros((side.roots, *tables.streets[index - 1].chunks[0].free[player].shape))
        roots = values[: side.roots] * chunk.free[player]
        for deals in chunk.deals[player]:
            deals.add(roots, returned)
    assert returned is not None
    return returned


def reach_of(
    tables: SpotTables,
    index: int,
    chunk: Chunk,
    visit: "Improving | Answering",
    numbers: tuple[Numbers, Numbers],
    seat: int,
    above: Tensor | None,
) -> Tensor:
    """A player's reach of all rows of a chunk, [rows, B, hands], from its rows on the street before."""
    side, first = tables.streets[index].sides[seat], entering(tables, index, chunk, seat, above)
    reach = first.new_empty((side.roots + side.actions, *first.shape[1:]))
    reach[: side.roots] = first
    for group in side.groups:
        visit.reach(numbers, seat, group, reach)
    return reach


def entering(tables: SpotTables, index: int, chunk: Chunk, player: int, above: Tensor | None) -> Tensor:
    """A player's reach at the roots of a chunk, [roots, B, hands], from all rows of the street before."""
    if index == 0:
        return tables.weights[player]
    assert above is not None
    ends = tables.streets[index - 1].ends[player]
    return above.index_select(0, ends.own).index_select(1, chunk.above).mul_(chunk.free[player])


def at_terminals(tables: SpotTables, street: Street, chunk: Chunk, player: int, reach: Tensor) -> Tensor:
    """Values of a player's rows, [rows, B, hands], from the folds and showdowns that follow them."""
    side, own = street.sides[player], chunk.free[player]
    values = own.new_zeros((side.roots + side.actions, *own.shape))
    folds, showdowns = street.folds[player], street.showdowns[player]
    operator = tables.folds[player]
    if len(folds):
        faced = reach.index_select(0, folds.faced).mul_(chips_at(street.fold_chips[player], chunk))
        add_rows(values, folds.rounds, operator.met(faced))
    if not len(showdowns):
        return values
    edge, faced = tables.strengths.edge(chunk.boards), reach.index_select(0, showdowns.faced)
    compared = tables.strengths.compared(faced * chips_at(street.won[player], chunk), player, edge)
    add_rows(values, showdowns.rounds, compared.transpose(0, 1))
    if tables.raked:
        add_rows(values, showdowns.rounds, operator.met(faced * chips_at(street.tied[player], chunk)))
        decided = tables.strengths.compared(faced * chips_at(street.decided[player], chunk), player, edge.abs())
        add_rows(values, showdowns.rounds, decided.transpose(0, 1))
    return values


def chips_at(chips: Tensor, chunk: Chunk) -> Tensor:
    """The chips of a chunk's terminals, [T, B, 1] or [T, 1, 1], from those of all boards."""
    return chips if chips.shape[1] == 1 else chips[:, chunk.boards]
