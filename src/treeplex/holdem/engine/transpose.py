"""Block transposes in registers: rows of sequences to columns of terminals and back."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

BLOCK = 16
"""Rows and columns of a block; divides ``TILE``, ``COLUMNS`` and ``PADDING``."""


def _turn_block(typingctx: Any, source: Any, row: Any, column: Any, target: Any, target_row: Any, target_column: Any) -> Any:
    def rows_of(context: Any, builder: Any, kind: Any, value: Any, row: Any, column: Any) -> list[Any]:
        """Pointers to the rows of a block of a C-ordered matrix, as vectors."""
        view = cgutils.create_struct_proxy(kind)(context, builder, value)
        width = cgutils.unpack_tuple(builder, view.shape)[1]
        vector = ir.VectorType(context.get_data_type(kind.dtype), BLOCK).as_pointer()
        first = builder.add(builder.mul(row, width), column)
        places = [builder.add(first, builder.mul(width, ir.Constant(width.type, i))) for i in range(BLOCK)]
        return [builder.bitcast(builder.gep(view.data, [pointer]), vector) for pointer in places]

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        size = source.dtype.bitwidth // 8
        lines = [builder.load(pointer, align=size) for pointer in rows_of(context, builder, source, *arguments[:3])]
        step = BLOCK // 2
        while step:  # exchange one bit of row and column
            upper = [lane if not lane & step else BLOCK + lane - step for lane in range(BLOCK)]
            lower = [lane + step if not lane & step else BLOCK + lane for lane in range(BLOCK)]
            for i in (i for i in range(BLOCK) if not i & step):
                pair = lines[i], lines[i + step]
                lines[i], lines[i + step] = (
                    builder.shuffle_vector(*pair, ir.Constant(ir.VectorType(ir.IntType(32), BLOCK), mask))
                    for mask in (upper, lower)
                )
            step //= 2
        for line, pointer in zip(lines, rows_of(context, builder, target, *arguments[3:]), strict=True):
            builder.store(line, pointer, align=size)
        return context.get_dummy_value()

    index_type = types.int64
    return types.void(source, index_type, index_type, target, index_type, index_type), generate


transpose_block: Any = intrinsic(_turn_block)
"""``transpose_block(source, row, column, target, target_row, target_column)``: copy a block, transposed, from source to target.

Both are C-ordered matrices of the same floating-point type; the blocks begin at these positions and are ``BLOCK`` square."""
