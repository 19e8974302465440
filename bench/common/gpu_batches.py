"""Random rivers and turns solved side by side, against one at a time by the compiled kernels, for :mod:`bench.gpu`."""

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from treeplex.learn.common.device import torch_device
from treeplex.learn.hand_values.settings import HandValueSettings
from treeplex.learn.hand_values.situations import (
    POT,
    random_hand_board,
    random_ranges,
    situation,
    solve_situation,
    spot_of,
)
from treeplex.learn.torch.spots.batch import solve_batch

STACK = 2.0
"""Stacks in pots; one bet size, the pot, besides all-in."""
DRAWN = 32
"""Different situations; larger batches repeat them."""
ITERATIONS = {"river": 80, "turn": 40}
COUNTS = {"river": (64, 1024, 4096), "turn": (8, 96)}
"""Situations in a batch; on a GPU only."""


def one_batch(street: str, count: int, device: str, iterations: int) -> dict[str, Any]:
    """Situations per second of both methods, and the mean difference between their hand values, in pots, weighted by range."""
    settings = HandValueSettings(street=street, iterations=iterations)
    generator, drawn = np.random.default_rng(0), []
    for _ in range(min(count, DRAWN)):
        board = random_hand_board(settings, generator)
        drawn.append((board, random_ranges(board, settings, generator)[1]))
    chosen = [drawn[k % len(drawn)] for k in range(count)]
    boards, reach = [board for board, _ in chosen], np.stack([ranges for _, ranges in chosen])
    spot = spot_of(boards[0].cards, STACK, settings, (reach[0, 0], reach[0, 1]))
    for _ in range(2 if device == "cuda" else 1):  # the first compiles and allocates
        began = time.perf_counter()
        values = solve_batch(spot, boards, reach, iterations, torch_device(device)) / POT
        seconds = time.perf_counter() - began
    alone = drawn[: 4 if street == "river" else 2]
    solve_situation(alone[0][0], STACK, alone[0][1], settings)  # compiles
    apart, began = [], time.process_time()
    ones = [solve_situation(board, STACK, ranges, settings) for board, ranges in alone]
    spent = time.process_time() - began
    for one, (board, ranges), found in zip(ones, alone, values, strict=False):
        side = situation(board, STACK, ranges, found)
        apart.append(float((one.weights * np.abs(one.worth - side.worth)).sum() / 2))
    rates = {"per_second": count / seconds, "kernels_per_second": len(alone) / spent}
    return {"street": street, "count": count, "iterations": iterations, **rates, "apart": float(np.mean(apart))}


def batches(device: str, quick: bool) -> Iterator[Callable[[], dict[str, Any]]]:
    """A function that measures, for each batch."""
    if device != "cuda":
        yield partial(one_batch, "river", 2, device, 4 if quick else ITERATIONS["river"])
        return
    for street, counts in COUNTS.items():
        for count in counts[:1] if quick else counts:
            yield partial(one_batch, street, count, device, 4 if quick else ITERATIONS[street])
