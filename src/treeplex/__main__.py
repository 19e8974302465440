"""The command line, ``treeplex`` or ``python -m treeplex``: looks after Ctrl-C and SIGTERM before it imports anything large."""

import os
import signal
from types import FrameType
from typing import NoReturn

STOPPED = 130


def leave(number: int, frame: FrameType | None) -> NoReturn:
    """A handler of signals while there is nothing to save: one line, no traceback."""
    os.write(2, b"error: stopped\n")
    os._exit(STOPPED)


def main() -> None:
    """Run the command line."""
    signal.signal(signal.SIGINT, leave)
    signal.signal(signal.SIGTERM, leave)
    from treeplex.play.cli.main import main as run
    from treeplex.runs.job.interrupt import stop_at_once

    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, stop_at_once)
    run()


if __name__ == "__main__":
    main()
