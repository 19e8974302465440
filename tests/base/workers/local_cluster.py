"""A Ray cluster of this machine."""

from collections.abc import Iterator
from contextlib import contextmanager

from treeplex.base.workers.on_ray import sigterm_kept


@contextmanager
def local_cluster() -> Iterator[None]:
    """One of two CPUs, as far as Ray can tell."""
    import ray

    options = {"address": "local", "num_cpus": 2, "log_to_driver": False}
    with sigterm_kept():
        try:
            ray.init(**options)
        except Exception:  # on a busy machine it may take longer than the 30 seconds that Ray waits
            ray.shutdown()
            ray.init(**options)
    try:
        yield
    finally:
        ray.shutdown()
