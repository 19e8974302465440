"""Type aliases for common arrays. Docstrings give shapes in brackets, as in ``float64 [H]``."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Singles: TypeAlias = NDArray[np.float32]
Ints: TypeAlias = NDArray[np.int64]
SmallInts: TypeAlias = NDArray[np.int32]
Shorts: TypeAlias = NDArray[np.int16]
Bytes: TypeAlias = NDArray[np.uint8]
Bools: TypeAlias = NDArray[np.bool_]
