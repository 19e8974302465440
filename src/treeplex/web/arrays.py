"""Encoding of arrays for the page: a JSON header followed by little-endian Float32 numbers."""

import json
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

MEDIA_TYPE = "application/x-treeplex-arrays"
LENGTH = struct.Struct("<I")


def pack(head: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Encode a header and arrays as bytes.

    The format is the length of the JSON (uint32), the JSON padded with spaces to a multiple of four bytes, then the arrays one
    after another. The JSON's list ``arrays`` has each array's ``name``, ``shape`` and ``offset``, counted in numbers from the
    start of the first array.
    """
    table, parts, offset = [], [], 0
    for name, array in arrays.items():
        table.append({"name": name, "shape": list(array.shape), "offset": offset})
        parts.append(np.ascontiguousarray(array, dtype="<f4").tobytes())
        offset += array.size
    text = json.dumps({**head, "arrays": table}, separators=(",", ":"), allow_nan=False).encode()
    text += b" " * (-(len(text) + LENGTH.size) % 4)
    return LENGTH.pack(len(text)) + text + b"".join(parts)


def unpack(data: bytes) -> tuple[dict[str, Any], dict[str, NDArray[np.float32]]]:
    """Decode the result of :func:`pack`."""
    (length,) = LENGTH.unpack_from(data)
    head = json.loads(data[LENGTH.size : LENGTH.size + length])
    numbers = np.frombuffer(data, "<f4", offset=LENGTH.size + length)
    arrays = {}
    for entry in head.pop("arrays"):
        size = int(np.prod(entry["shape"], dtype=np.int64))
        arrays[entry["name"]] = numbers[entry["offset"] : entry["offset"] + size].reshape(entry["shape"])
    return head, arrays
