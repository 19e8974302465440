"""Sixteen numbers side by side, which compiled loops keep in registers.

LLVM turns simple loops over arrays into vector code by itself, but a matrix product is only fast if a tile of its result stays
in registers while the inner index runs, and arrays never do. So a tile is written with values of this type: one register where
registers are 512 bits wide, two where they are 256. They live inside compiled functions only.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, register_model

LANES = 16
"""Numbers in a value."""
CONTRACT = ("contract",)
"""A product and a sum may be one instruction."""
VECTOR = ir.VectorType(ir.FloatType(), LANES)


class LanesType(types.Type):
    """The type of :data:`LANES` float32 numbers."""

    def __init__(self) -> None:
        super().__init__(name=f"Lanes({LANES})")


@register_model(LanesType)
class LanesModel(models.PrimitiveModel):
    """How it is kept: as a vector of LLVM."""

    def __init__(self, manager: Any, kind: LanesType) -> None:
        super().__init__(manager, kind, VECTOR)


lanes = LanesType()


def address(context: Any, builder: Any, kind: Any, array: Any, start: Any) -> Any:
    """Where the lanes at ``array[start]`` and after are."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [start]), VECTOR.as_pointer())


def _load(_context: Any, array: Any, start: Any) -> Any:

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(address(context, builder, signature.args[0], *arguments), align=4)

    return lanes(array, types.intp), generate


load: Any = intrinsic(_load)
"""``load(array, start)``: the numbers from ``array[start]`` on, of a contiguous float32 array; bounds are not checked."""


def _store(_context: Any, array: Any, start: Any, values: Any) -> Any:

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[2], address(context, builder, signature.args[0], *arguments[:2]), align=4)
        return context.get_dummy_value()

    return types.void(array, types.intp, values), generate


store: Any = intrinsic(_store)
"""``store(array, start, values)``: write numbers to ``array[start]`` and after; bounds are not checked."""


def _add_product(_context: Any, total: Any, factor: Any, values: Any) -> Any:

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        undefined, index = ir.Constant(VECTOR, ir.Undefined), ir.IntType(32)
        first = builder.insert_element(undefined, arguments[1], ir.Constant(index, 0))
        spread = builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(index, LANES), [0] * LANES))
        return builder.fadd(arguments[0], builder.fmul(spread, arguments[2], flags=CONTRACT), flags=CONTRACT)

    return lanes(total, types.float32, values), generate


add_product: Any = intrinsic(_add_product)
"""``add_product(total, factor, values)``: ``total + factor * values``, where ``factor`` is one float32 number."""
