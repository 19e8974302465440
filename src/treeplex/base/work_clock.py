"""A clock of work: it stands still while Numba compiles kernels, so that limits of time and speeds count work alone."""

import threading
from time import perf_counter, process_time, thread_time

_lock = threading.Lock()
_depth = 0
_began = _cpu_began = 0.0
_compiled = _compiled_cpu = 0.0


def work_time() -> float:
    """Wall-clock seconds since an arbitrary start, excluding the time this process spent compiling kernels."""
    with _lock:
        return (_began if _depth else perf_counter()) - _compiled


def work_cpu_time() -> float:
    """CPU seconds of this process, excluding the time spent compiling kernels."""
    return process_time() - _compiled_cpu


def compile_times() -> tuple[float, float]:
    """Seconds that this process has compiled kernels so far, by the wall clock and of processor time."""
    return _compiled, _compiled_cpu


def add_compile_time(seconds: float) -> None:
    """Take out seconds by the wall clock for which work waited until workers had compiled kernels."""
    global _compiled
    with _lock:
        _compiled += seconds


def compiling_started() -> bool:
    """Stop the clock; called by the thread that compiles. Returns whether it ran, for compilations nest."""
    global _depth, _began, _cpu_began
    with _lock:
        _depth += 1
        if _depth == 1:
            _began, _cpu_began = perf_counter(), thread_time()
        return _depth == 1


def compiling_ended() -> bool:
    """Let the clock run again. Returns whether it does: whether the outermost compilation ended."""
    global _depth, _compiled, _compiled_cpu
    with _lock:
        _depth -= 1
        if _depth == 0:
            _compiled += perf_counter() - _began
            _compiled_cpu += thread_time() - _cpu_began
        return _depth == 0
