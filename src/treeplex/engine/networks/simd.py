"""SIMD vectors of sixteen numbers, which compiled loops keep in registers.

LLVM vectorises simple loops over arrays, but a matrix product is fast only if a tile of the result stays in registers during
the inner loop, which arrays do not. A tile therefore uses values of this type: one 512-bit or two 256-bit registers. They exist
only inside compiled functions.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, register_model

LANES = 16
"""Number of entries of a value."""
CONTRACT = ("contract",)
"""Fast-math flag: allow fused multiply-add."""
VECTOR = ir.VectorType(ir.FloatType(), LANES)


class LanesType(types.Type):
    """The type of :data:`LANES` float32 numbers."""

    def __init__(self) -> None:
        super().__init__(name=f"Lanes({LANES})")


@register_model(LanesType)
class LanesModel(models.PrimitiveModel):
    """Data model: an LLVM vector."""

    def __init__(self, manager: Any, kind: LanesType) -> None:
        super().__init__(manager, kind, VECTOR)


lanes = LanesType()


def address(context: Any, builder: Any, kind: Any, array: Any, start: Any) -> Any:
    """Return the address of the lanes from ``array[start]`` on."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [start]), VECTOR.as_pointer())


def _load(_context: Any, array: Any, start: Any) -> Any:

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(address(context, builder, signature.args[0], *arguments), align=4)

    return lanes(array, types.intp), generate


load: Any = intrinsic(_load)
"""``load(array, start)``: load from ``array[start]`` on in a contiguous float32 array; bounds are not checked."""


def _store(_context: Any, array: Any, start: Any, values: Any) -> Any:

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[2], address(context, builder, signature.args[0], *arguments[:2]), align=4)
        return context.get_dummy_value()

    return types.void(array, types.intp, values), generate


store: Any = intrinsic(_store)
"""``store(array, start, values)``: store to ``array[start]`` and after; bounds are not checked."""


def _add_product(_context: Any, total: Any, factor: Any, values: Any) -> Any:

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        undefined, index = ir.Constant(VECTOR, ir.Undefined), ir.IntType(32)
        first = builder.insert_element(undefined, arguments[1], ir.Constant(index, 0))
        spread = builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(index, LANES), [0] * LANES))
        return builder.fadd(arguments[0], builder.fmul(spread, arguments[2], flags=CONTRACT), flags=CONTRACT)

    return lanes(total, types.float32, values), generate


add_product: Any = intrinsic(_add_product)
"""``add_product(total, factor, values)``: return ``total + factor * values`` for a float32 scalar ``factor``."""
