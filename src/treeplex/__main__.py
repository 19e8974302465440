"""The command line, ``treeplex`` or ``python -m treeplex``: imports nothing before Ctrl-C and SIGTERM are looked after."""

import signal
import sys
from types import FrameType
from typing import NoReturn

STOPPED = 130


def stop(number: int, frame: FrameType | None) -> NoReturn:
    """A handler of signals that ends what runs with KeyboardInterrupt."""
    raise KeyboardInterrupt


def main() -> None:
    """Run the command line; what stops it while it is being imported ends it in one line, without a traceback."""
    try:
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, stop)
        from treeplex.play.cli.main import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("error: stopped\n")
        sys.exit(STOPPED)


if __name__ == "__main__":
    main()
