"""Options of compiled kernels."""

from typing import Any

KERNEL: dict[str, Any] = {"cache": True, "nogil": True, "_nrt": False}
"""Options of kernels that allocate nothing: without counts of references, which so many arrays would cost at every call."""
