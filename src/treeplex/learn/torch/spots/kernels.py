"""Triton kernels for the updates of a group of nodes, which take most of an iteration; each number is read and written once.

Triton is part of PyTorch for CUDA. Without it, :mod:`treeplex.learn.torch.spots.passes` does the same in operations of PyTorch.
Parameters of kernels have no types, because Triton takes annotations for its own.
"""

import triton
import triton.language as tl

from treeplex.learn.torch.kernels import Tensor
from treeplex.learn.torch.spots.rows import Group

BLOCK = 512
"""Hands (of any boards) that a program of a kernel processes."""


@triton.jit
def _play(
    guesses,
    parents,
    reach,
    average,
    weights,
    roots,
    start,
    size,
    actions: tl.constexpr,
    adds: tl.constexpr,
    block: tl.constexpr,
):
    node = tl.program_id(1)
    hand = tl.program_id(0) * block + tl.arange(0, block)
    inside = hand < size
    above = tl.load(reach + tl.load(parents + node) * size + hand, mask=inside, other=0.0)
    first = (start + node * actions).to(tl.int64) * size + hand
    total = above * 0.0
    for action in tl.static_range(actions):
        total += tl.maximum(tl.load(guesses + first + action * size, mask=inside, other=0.0), 0.0)
    for action in tl.static_range(actions):
        at = first + action * size
        guess = tl.maximum(tl.load(guesses + at, mask=inside, other=0.0), 0.0)
        played = above * tl.where(total > 0.0, guess / total, 1.0 / actions)
        tl.store(reach + roots * size + at, played, mask=inside)
        if adds:
            old = tl.load(average + at, mask=inside, other=0.0)
            tl.store(average + at, old * tl.load(weights + 6) + played * tl.load(weights + 7), mask=inside)


@triton.jit
def _improve(
    values,
    regrets,
    guesses,
    fixed,
    parents,
    weights,
    roots,
    start,
    skipped,
    size,
    actions: tl.constexpr,
    floor: tl.constexpr,
    predicts: tl.constexpr,
    locked: tl.constexpr,
    block: tl.constexpr,
):
    node = skipped + tl.program_id(1)
    hand = tl.program_id(0) * block + tl.arange(0, block)
    inside = hand < size
    first = (start + node * actions).to(tl.int64) * size + hand
    above = values + tl.load(parents + node) * size + hand
    total = tl.load(above, mask=inside, other=0.0) * 0.0
    mean = total
    plain = total
    for action in tl.static_range(actions):
        at = first + action * size
        guess = tl.maximum(tl.load(guesses + at, mask=inside, other=0.0), 0.0)
        value = tl.load(values + roots * size + at, mask=inside, other=0.0)
        total += guess
        mean += guess * value
        plain += value
    mean = tl.where(total > 0.0, mean / total, plain / actions)
    tl.store(above, tl.load(above, mask=inside, other=0.0) + mean, mask=inside)
    for action in tl.static_range(actions):
        at = first + action * size
        old = tl.load(regrets + at, mask=inside, other=0.0)
        gain = tl.load(values + roots * size + at, mask=inside, other=0.0) - mean
        new = old * tl.where(old > 0.0, tl.load(weights), tl.load(weights + 1)) + tl.load(weights + 2) * gain
        if floor:
            new = tl.maximum(new, 0.0)
        guess = new
        if predicts:
            guess = new * tl.where(new > 0.0, tl.load(weights + 3), tl.load(weights + 4)) + tl.load(weights + 5) * gain
            guess = tl.maximum(guess, 0.0)
        if locked:
            kept = tl.load(fixed + at, mask=inside, other=0.0) > 0.0
            new, guess = tl.where(kept, old, new), tl.where(kept, old, guess)
        tl.store(regrets + at, new, mask=inside)
        if predicts:
            tl.store(guesses + at, guess, mask=inside)


def play(group: Group, guesses: Tensor, reach: Tensor, average: Tensor | None, weights: Tensor) -> None:
    """Set a group's rows of reach, and add them to the average if there is one.

    Args:
        group: the group.
        guesses, average: [actions, B, hands].
        reach: [roots + actions, B, hands].
        weights: see :class:`treeplex.learn.torch.spots.passes.Improving`.
    """
    size, roots = guesses[0].numel(), len(reach) - len(guesses)
    grid, adds = (triton.cdiv(size, BLOCK), group.nodes), average is not None
    numbers = guesses, group.parents, reach, average if adds else guesses, weights
    _play[grid](*numbers, roots, group.start, size, actions=group.actions, adds=adds, block=BLOCK)


def improve(
    group: Group,
    values: Tensor,
    regrets: Tensor,
    guesses: Tensor,
    locked: Tensor | None,
    weights: Tensor,
    *,
    floor: bool,
    predicts: bool,
) -> None:
    """Update a group's regrets and guesses, and add its values to the rows above.

    Args:
        group: the group.
        values: [roots + actions, B, hands], the values of actions, and what is known of those above.
        regrets, guesses: [actions, B, hands].
        locked: as ``regrets``, 1 where the policy is locked; None without locks.
        weights: see :class:`treeplex.learn.torch.spots.passes.Improving`.
        floor, predicts: see :class:`treeplex.learn.torch.spots.passes.Way`.
    """
    size, roots = regrets[0].numel(), len(values) - len(regrets)
    numbers = values, regrets, guesses, regrets if locked is None else locked, group.parents, weights
    for part, _ in group.rounds:
        grid = triton.cdiv(size, BLOCK), part.stop - part.start
        _improve[grid](
            *numbers,
            roots,
            group.start,
            part.start,
            size,
            actions=group.actions,
            floor=floor,
            predicts=predicts,
            locked=locked is not None,
            block=BLOCK,
        )
