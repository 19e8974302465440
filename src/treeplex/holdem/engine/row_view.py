"""Array views for inner loops, without the bounds checks and reference counts of slices."""

from typing import Any

from numba import types
from numba.core.errors import TypingError
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array


def _row_view(typingctx: Any, array: Any, first: Any, size: Any) -> Any:
    if array.layout != "C":
        raise TypingError("row_view: the array must be C-ordered")
    kind = types.Array(array.dtype, 1, "C")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        whole = context.make_array(signature.args[0])(context, builder, arguments[0])
        part = context.make_array(kind)(context, builder)
        step = context.get_constant(types.intp, array.dtype.bitwidth // 8)
        start = builder.gep(whole.data, [arguments[1]])
        populate_array(part, data=start, shape=[arguments[2]], strides=[step], itemsize=step, meminfo=None)
        return part._getvalue()

    return kind(array, types.int64, types.int64), generate


row_view: Any = intrinsic(_row_view)
"""``row_view(array, first, size)``: numbers ``first`` to ``first + size`` of a C-ordered array, as one row.

The caller keeps the array alive and respects its bounds."""
