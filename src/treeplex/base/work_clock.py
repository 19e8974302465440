"""A clock that stops while Numba compiles kernels, so that time limits and speeds measure solving only."""

import threading
from time import perf_counter, process_time, thread_time

_lock = threading.Lock()
_depth = 0
_began = _cpu_began = 0.0
_compiled = _compiled_cpu = 0.0


def work_time() -> float:
    """Return wall-clock seconds since an arbitrary start, without the time spent compiling kernels."""
    with _lock:
        return (_began if _depth else perf_counter()) - _compiled


def work_cpu_time() -> float:
    """Return CPU seconds of this process, without the time spent compiling kernels."""
    return process_time() - _compiled_cpu


def compile_times() -> tuple[float, float]:
    """Return the wall-clock and CPU seconds that this process has spent compiling kernels."""
    return _compiled, _compiled_cpu


def add_compile_time(seconds: float) -> None:
    """Exclude wall-clock seconds spent waiting for workers to compile kernels."""
    global _compiled
    with _lock:
        _compiled += seconds


def compiling_started() -> bool:
    """Stop the clock, in the compiling thread; return whether it was running, since compilations nest."""
    global _depth, _began, _cpu_began
    with _lock:
        _depth += 1
        if _depth == 1:
            _began, _cpu_began = perf_counter(), thread_time()
        return _depth == 1


def compiling_ended() -> bool:
    """Restart the clock after the outermost compilation; return whether it is running."""
    global _depth, _compiled, _compiled_cpu
    with _lock:
        _depth -= 1
        if _depth == 0:
            _compiled += perf_counter() - _began
            _compiled_cpu += thread_time() - _cpu_began
        return _depth == 0
