"""Errors a user can act on: every message names the place (infostate, history, file and line) and the remedy.

All of them derive from :class:`TreeplexError`, which the command line prints as one line, without a traceback.
"""

from typing import Any, Final

FIRST_SHOWN, LAST_SHOWN = 1400, 600
"""Characters at the beginning and at the end of a long message that are shown; remedies stand at the end."""


def printable(text: str) -> str:
    """A text for a terminal: characters that steer it, or turn the direction of writing, stand as in a Python text.

    An escape is ``\\x1b``; line ends and tabs stay.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in "\n\t" else repr(char)[1:-1] for char in text)


def shortened(text: str) -> str:
    """A long message with its middle left out."""
    if len(text) <= FIRST_SHOWN + LAST_SHOWN:
        return text
    return f"{text[:FIRST_SHOWN]} ... {text[-LAST_SHOWN:]}"


class TreeplexError(Exception):
    """Base of all errors that Treeplex raises on purpose. Its text is one line, :func:`printable` and not too long."""

    def __str__(self) -> str:
        return printable(shortened(super().__str__().replace("\n", " ")))


class SpecError(TreeplexError):
    """An unknown name or parameter of a game or an algorithm, or a value outside its range."""


class GameError(TreeplexError):
    """Rules that do not describe a game of perfect recall: the message names the history or the infostate."""


class GameSizeError(GameError):
    """A game with more histories or sequences than the limit; the message has an estimate of how many."""


class ImperfectRecallError(GameError):
    """A player forgets at the named infostate what they did or knew; ``refine=True`` splits such infostates."""


class AlgorithmError(TreeplexError):
    """An algorithm that is not defined for this game (say, a linear program for three players)."""


class PolicyError(TreeplexError):
    """A policy that does not fit the game: other infostates, other actions, not a distribution."""


class FileError(TreeplexError):
    """A file that cannot be read or written: missing, truncated, tampered with, of another version or game."""


class Interrupted(KeyboardInterrupt):
    """A job was stopped by Ctrl-C or SIGTERM, after saving if it has a place to.

    Attributes:
        result: what the function would have returned, as far as it came.
    """

    def __init__(self, result: Any) -> None:
        super().__init__("interrupted")
        self.result: Final = result
