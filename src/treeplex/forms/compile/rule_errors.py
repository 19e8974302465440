"""Exceptions that rules raise while they are walked, as a :class:`GameError` that names the line and the history."""

import traceback
from pathlib import Path

from treeplex.errors import GameError

PACKAGE = Path(__file__).resolve().parents[2]


def said_by(error: BaseException) -> str:
    """An exception of a user's code as text: its kind and its message, if that can be had."""
    try:
        return f"{type(error).__name__}: {error}".rstrip(": ")
    except (Exception, SystemExit):  # the user's __str__ fails too
        return type(error).__name__


def failed_rules(error: BaseException, where: str) -> GameError:
    """The error to raise instead of ``error``; ``where`` names the history.

    Blame falls on the last line outside Treeplex; where there is none, rules gave something of another kind than asked for,
    and the line of Treeplex that could not use it says what.
    """
    what = said_by(error)
    frames = traceback.extract_tb(error.__traceback__)
    outside = [frame for frame in frames if PACKAGE not in Path(frame.filename).resolve().parents]
    if outside:
        last = outside[-1]
        return GameError(f"{last.filename}:{last.lineno}: {what} (in {last.name}, {where}); correct the rules")
    line = f" at {frames[-1].line!r}" if frames else ""
    return GameError(f"the rules cannot be used {where}: {what}{line}; correct what they return")
