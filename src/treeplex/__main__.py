"""The command line, ``treeplex`` or ``python -m treeplex``; installs signal handlers before any large import."""

import os
import signal
from types import FrameType
from typing import NoReturn

FAILED, STOPPED = 1, 130
LEAST_MEMORY = 560_000_000
"""Bytes of address space that the libraries need to load; with less they abort, hang or report missing files."""


def leave(number: int, frame: FrameType | None) -> NoReturn:
    """Handle a signal that arrives before there is anything to save: exit with a one-line message and no traceback."""
    os.write(2, b"error: stopped\n")
    os._exit(STOPPED)


def check_memory() -> None:
    """Exit with a one-line message if the address-space limit is too low to import the libraries."""
    try:
        import resource
    except ImportError:  # this system has no resource limits
        return
    allowed, _ = resource.getrlimit(resource.RLIMIT_AS)
    if allowed != resource.RLIM_INFINITY and allowed < LEAST_MEMORY:
        os.write(
            2,
            f"error: out of memory: {allowed / 1e6:,.0f} MB of address space are allowed and {LEAST_MEMORY / 1e6:,.0f} MB "
            "needed; raise the limit (ulimit -v)\n".encode(),
        )
        os._exit(FAILED)


def main() -> None:
    """Run the command line."""
    check_memory()
    signal.signal(signal.SIGINT, leave)
    signal.signal(signal.SIGTERM, leave)
    from treeplex.run.cli.main import main as run
    from treeplex.run.job.interrupt import stop_at_once

    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, stop_at_once)
    run()


if __name__ == "__main__":
    main()
