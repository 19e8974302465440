"""Errors that a user can act on. Each message names the place (infostate, history, file and line) and the remedy.

All of them derive from :class:`TreeplexError`, which the command line prints as one line, without a traceback.
"""

from typing import Any, Final

FIRST_SHOWN, LAST_SHOWN = 1400, 600
"""Characters kept at the beginning and at the end of a long message; the end holds the remedy."""


def printable(text: str) -> str:
    """Escape control characters and bidirectional marks for display on a terminal.

    An escape becomes ``\\x1b``. Line ends and tabs are kept.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in "\n\t" else repr(char)[1:-1] for char in text)


def shortened(text: str) -> str:
    """Shorten a long message by cutting its middle."""
    if len(text) <= FIRST_SHOWN + LAST_SHOWN:
        return text
    return f"{text[:FIRST_SHOWN]} ... {text[-LAST_SHOWN:]}"


class TreeplexError(Exception):
    """Base class of all errors that Treeplex raises on purpose. The message is one short line made :func:`printable`."""

    def __str__(self) -> str:
        return printable(shortened(super().__str__().replace("\n", " ")))


class SpecError(TreeplexError):
    """An unknown name or parameter of a game or an algorithm, or a value outside its range."""


class GameError(TreeplexError):
    """Rules that do not describe a valid game; the message names the history or the infostate."""


class GameSizeError(GameError):
    """A game with more histories or sequences than the limit; the message estimates the number."""


class ImperfectRecallError(GameError):
    """Imperfect recall: a player forgets past actions or knowledge; ``refine=True`` splits such infostates."""


class AlgorithmError(TreeplexError):
    """An algorithm that is not defined for this game, such as a linear program for three players.

    Attributes:
        result: if an algorithm of a comparison failed, the comparison of the others; else None.
    """

    result: Any = None


class StoppedAgentError(GameError):
    """An agent that cannot play any further hand, such as an external program that has ended; it ends a match.

    Attributes:
        result: the match's result so far; None outside a match, or if no hand was played.
    """

    result: Any = None


class PolicyError(TreeplexError):
    """A policy that does not fit the game: other infostates, other actions, not a distribution."""


class FileError(TreeplexError):
    """A file that cannot be read or written: missing, truncated, tampered with, or from another version or game."""


class JobInterrupt(KeyboardInterrupt):
    """A job was stopped by Ctrl-C or SIGTERM, after saving if it writes to disk.

    Attributes:
        result: the partial result at the time of the interruption.
    """

    def __init__(self, result: Any) -> None:
        super().__init__("interrupted")
        self.result: Final = result
