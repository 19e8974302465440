"""Conversion of exceptions in rules to a :class:`GameError` that gives the line and the history."""

import traceback
from pathlib import Path

from treeplex.errors import GameError

PACKAGE = Path(__file__).resolve().parents[2]


def said_by(error: BaseException) -> str:
    """Format an exception of user code: its type and its message, if available."""
    try:
        return f"{type(error).__name__}: {error}".rstrip(": ")
    except (Exception, SystemExit):  # the exception's __str__ fails, too
        return type(error).__name__


def failed_rules(error: BaseException, where: str) -> GameError:
    """Return the error to raise instead of ``error``; ``where`` names the history.

    The error names the last line outside Treeplex. If there is none, the rules returned a value of the wrong type, and the
    error quotes the failing line of Treeplex.
    """
    what = said_by(error)
    frames = traceback.extract_tb(error.__traceback__)
    outside = [frame for frame in frames if PACKAGE not in Path(frame.filename).resolve().parents]
    if outside:
        last = outside[-1]
        return GameError(f"{last.filename}:{last.lineno}: {what} (in {last.name}, {where}); correct the rules")
    line = f" at {frames[-1].line!r}" if frames else ""
    return GameError(f"the rules return an invalid value {where}: {what}{line}; correct it")
