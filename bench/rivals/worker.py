"""A process that holds one system with one task set up, and times batches on request.

Separate processes prevent interference between systems (thread pools, memory, global state). Requests and replies are lines of
JSON; other output of a system goes to the error stream.
"""

import json
import os
import sys
import time
from typing import Any

from bench.rivals import tasks
from bench.rivals.child import Child

ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
    "JAX_PLATFORMS": "cpu",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}


class WorkerError(Exception):
    """A system could not be set up or failed."""


class Worker(Child):
    """The parent's end: starts the process, waits until the task is set up, requests batches."""

    failure = WorkerError

    def __init__(self, system: str, spec: str) -> None:
        super().__init__(system, [sys.executable, "-m", "bench.rivals.worker", system, spec], ONE_THREAD)
        self.system = system
        self.build_seconds = float(self.ask()["seconds"])

    def batch(self, times: int) -> dict[str, Any]:
        """Do the task ``times`` times; wall and CPU seconds of the batch, and the number it computed, if any."""
        return self.ask(json.dumps({"times": times}))


def serve(system: str, spec: str) -> None:
    """The child's end."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def reply(content: dict[str, Any]) -> None:
        replies.write(json.dumps(content) + "\n")
        replies.flush()

    try:
        start = time.perf_counter()
        task = tasks.BUILDERS[system](spec)
        reply({"seconds": time.perf_counter() - start})
        for line in sys.stdin:
            times = int(json.loads(line)["times"])
            cpu, wall = time.process_time(), time.perf_counter()
            answer = task(times)
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            reply({"wall": wall, "cpu": cpu, "answer": answer})
    except Exception as error:
        reply({"error": f"{type(error).__name__}: {error}"})


if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2])
