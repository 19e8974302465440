"""A thread barrier inside a kernel, so that no phase of an iteration returns to Python."""

import sys
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from treeplex.base.arrays import Ints
from treeplex.engine.kernel import kernel

SPINS = 2000
"""Number of times a waiting thread checks the gate before it yields its core."""


def _add_atomically(typingctx: Any, array: Any, index: Any, value: Any) -> Any:

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        view = cgutils.create_struct_proxy(signature.args[0])(context, builder, arguments[0])
        pointer = builder.gep(view.data, [arguments[1]])
        return builder.atomic_rmw("add", pointer, arguments[2], "seq_cst")

    return types.int64(array, types.int64, types.int64), generate


add_atomically: Any = intrinsic(_add_atomically)
"""Atomic ``array[index] += value``; returns the value before."""


def _offer_core(typingctx: Any) -> Any:
    name = "SwitchToThread" if sys.platform == "win32" else "sched_yield"

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(ir.IntType(32), [])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [])
        return context.get_dummy_value()

    return types.void(), generate


offer_core: Any = intrinsic(_offer_core)
"""Yield the core to another thread."""


@kernel(error_model="numpy")
def wait_at_barrier(gate: Ints, threads: int) -> None:
    """Wait for all threads. ``gate``, int64 [2], is initially 0 and counts arrivals in this round and completed rounds."""
    if threads == 1:
        return
    round_before = add_atomically(gate, 1, 0)
    if add_atomically(gate, 0, 1) == threads - 1:
        add_atomically(gate, 0, -threads)
        add_atomically(gate, 1, 1)
        return
    spins = 0
    while add_atomically(gate, 1, 0) == round_before:
        spins += 1
        if spins >= SPINS:
            offer_core()
