"""The passes of an iteration over a spot's streets, on tensors.

Reach goes down from the first street, values come back up. Boards of the last street are processed in chunks, from reach at
their roots to new regrets, so that only regrets and averages are stored for all of them. Nothing here copies numbers to the
host, and no shape depends on them, so an iteration can be recorded as a CUDA graph.
"""

from dataclasses import dataclass
from typing import NamedTuple

from treeplex.learn.common.device import torch_module
from treeplex.learn.torch.kernels import Tensor
from treeplex.learn.torch.spots.rows import Group, Side, add_rows
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
    """

    floor: bool
    predicts: bool


def matched(weights: Tensor) -> Tensor:
    """Proportional to the positive part of [nodes, actions, B, hands] along the actions; uniform if there is none."""
    positive = weights.clamp(min=0.0)
    total = positive.sum(dim=1, keepdim=True)
    return torch_module().where(total > 0.0, positive.div_(total), 1.0 / weights.shape[1])


def policy_of(side: Side, weights: Tensor) -> Tensor:
    """The policy proportional to the positive part of weights, [actions, B, hands]."""
    policy = torch_module().empty_like(weights)
    for _, (source, target) in side.views(weights, policy):
        target.copy_(matched(source))
    return policy


def average_policy_of(side: Side, numbers: Numbers) -> Tensor:
    """The average policy, and the locked one where a policy is locked."""
    policy = policy_of(side, numbers.average)
    if numbers.locked is None:
        return policy
    return torch_module().where(numbers.locked > 0, policy_of(side, numbers.regrets), policy)


def reach_of(side: Side, first: Tensor, policy: Tensor) -> Tensor:
    """Reach of all rows, [roots + actions, B, hands], from that of the roots and a policy."""
    torch = torch_module()
    reach = torch.empty((side.roots + side.actions, *first.shape[1:]), dtype=first.dtype, device=first.device)
    reach[: side.roots] = first
    for group, (played, below) in side.views(policy, reach[side.roots :]):
        torch.mul(played, reach.index_select(0, group.parents)[:, None], out=below)
    return reach


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

    def policy(self, street: int, chunk: int, side: Side, seat: int) -> Tensor:
        """A player's current policy on a chunk, [actions, B, hands]."""
        return policy_of(side, self.state[street][chunk][seat].guesses)

    def accumulate(self, street: int, chunk: int, reach: Tensor) -> None:
        """Add the player's reach of actions, [actions, B, hands], to the average."""
        average, weight = self.state[street][chunk][self.player].average, self.weights[AVERAGE]
        average.mul_(self.weights[AVERAGE_DISCOUNT]).addcmul_(reach, weight.expand_as(reach))

    def back_up(self, street: int, chunk: int, group: Group, values: Tensor, policy: Tensor) -> Tensor:
        """A group's values, [nodes, B, hands], from its actions' and the policy; overwrites ``values`` and updates regrets."""
        numbers, torch, weights = self.state[street][chunk][self.player], torch_module(), self.weights
        mean = (values * policy).sum(dim=1)
        values.sub_(mean[:, None])
        regrets = group.view(numbers.regrets)
        new = discounted(regrets, weights[POSITIVE], weights[NEGATIVE], values, weights[REGRET])
        if self.way.floor:
            new.clamp_(min=0.0)
        if numbers.locked is not None:
            new = torch.where(group.view(numbers.locked) > 0, regrets, new)
        regrets.copy_(new)
        if self.way.predicts:
            prediction = weights[PREDICTED_POSITIVE], weights[PREDICTED_NEGATIVE], values, weights[PREDICTION]
            guesses = discounted(regrets, *prediction)
            if numbers.locked is not None:
                guesses = torch.where(group.view(numbers.locked) > 0, regrets, guesses)
            group.view(numbers.guesses).copy_(guesses)
        return mean


def discounted(regrets: Tensor, positive: Tensor, negative: Tensor, new: Tensor, weight: Tensor) -> Tensor:
    """``regrets * (positive if above 0, else negative) + weight * new``."""
    factors = torch_module().where(regrets > 0.0, positive, negative)
    return factors.mul_(regrets).addcmul_(new, weight.expand_as(new))


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

    def policy(self, street: int, chunk: int, side: Side, seat: int) -> Tensor:
        """A player's average policy on a chunk, [actions, B, hands]."""
        return average_policy_of(side, self.state[street][chunk][seat])

    def accumulate(self, street: int, chunk: int, reach: Tensor) -> None:
        """Do nothing."""

    def back_up(self, street: int, chunk: int, group: Group, values: Tensor, policy: Tensor) -> Tensor:
        """A group's values, [nodes, B, hands], from those of its actions, [nodes, actions, B, hands]."""
        mean, locked = (values * policy).sum(dim=1), self.state[street][chunk][self.player].locked
        if not self.best:
            return mean
        best = values.amax(dim=1)
        return best if locked is None else torch_module().where(group.view(locked)[:, 0] > 0, mean, best)


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
    side, opposing = street.sides[player], street.sides[1 - player]
    for number, chunk in enumerate(street.chunks):
        policy = visit.policy(index, number, side, player)
        first = entering(tables, index, chunk, 1 - player, faced)
        reach = reach_of(opposing, first, visit.policy(index, number, opposing, 1 - player))
        mine = None
        if visit.averages:
            mine = reach_of(side, entering(tables, index, chunk, player, own), policy)
            visit.accumulate(index, number, mine[side.roots :])
        values = at_terminals(tables, street, chunk, player, reach)
        if index + 1 < len(tables.streets):
            below = values_of_street(tables, index + 1, visit, reach, mine)
            add_rows(values, street.ends[player].rounds, below.index_select(0, street.ends[player].sorting))
            if (mirror := chunk.mirrors[player]) is not None:
                values = values.gather(2, mirror.expand_as(values))
        del reach, mine
        for group in reversed(side.groups):
            there = group.view(values[side.roots :])
            add_rows(values, group.rounds, visit.back_up(index, number, group, there, group.view(policy)))
        if index == 0:
            return values[: side.roots]
        if returned is None:
            returned = values.new_zeros((side.roots, *tables.streets[index - 1].chunks[0].free[player].shape))
        roots = values[: side.roots] * chunk.free[player]
        for deals in chunk.deals[player]:
            deals.add(roots, returned)
    assert returned is not None
    return returned


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
        faced = reach.index_select(0, folds.faced).mul_(street.fold_chips[player])
        add_rows(values, folds.rounds, operator.met(faced))
    if not len(showdowns):
        return values
    edge, faced = tables.strengths.edge(chunk.boards), reach.index_select(0, showdowns.faced)
    compared = tables.strengths.compared(faced * street.won[player], player, edge)
    add_rows(values, showdowns.rounds, compared.transpose(0, 1))
    if tables.raked:
        add_rows(values, showdowns.rounds, operator.met(faced * street.tied[player]))
        decided = tables.strengths.compared(faced * street.decided[player], player, edge.abs())
        add_rows(values, showdowns.rounds, decided.transpose(0, 1))
    return values
