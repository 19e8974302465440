"""Options of compiled kernels."""

from typing import Any

KERNEL: dict[str, Any] = {"cache": True, "nogil": True, "_nrt": False}
"""Options of kernels that allocate nothing: without counts of references, which so many arrays would cost at every call."""

INLINED: dict[str, Any] = {**KERNEL, "inline": "always"}
"""The same of the parts of a walk that many arrays go into: a call would put all of them on the stack, at every node. Without
it walks of Monte Carlo CFR took three times as long."""
