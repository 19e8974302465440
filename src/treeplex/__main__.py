"""The command line, ``treeplex`` or ``python -m treeplex``: looks after Ctrl-C and SIGTERM before it imports anything large."""

import os
import signal
from types import FrameType
from typing import NoReturn

FAILED, STOPPED = 1, 130
LEAST_MEMORY = 560_000_000
"""Bytes of address space below which libraries do not load: they blame missing files then, abort, or try for ever."""


def leave(number: int, frame: FrameType | None) -> NoReturn:
    """A handler of signals while there is nothing to save: one line, no traceback."""
    os.write(2, b"error: stopped\n")
    os._exit(STOPPED)


def check_memory() -> None:
    """Exit with one line if the address-space limit is too low to import the libraries."""
    try:
        import resource
    except ImportError:  # no such limits on this system
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
