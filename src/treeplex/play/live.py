"""The live progress line of the command line, on stderr."""

import sys
from contextlib import redirect_stdout
from types import TracebackType
from typing import Self, final

from treeplex.runs.progress_line import ProgressLine, clock, line_of

__all__ = ["Live", "clock", "line_of"]


@final
class Live(ProgressLine):
    """A progress line; meanwhile what rules of a user's print goes to stderr, so that stdout holds results only."""

    def __init__(self, shown: bool | None) -> None:
        super().__init__(shown)
        self._prints = redirect_stdout(sys.stderr)

    def __enter__(self) -> Self:
        self._prints.__enter__()
        return super().__enter__()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._prints.__exit__(kind, error, trace)
        super().__exit__(kind, error, trace)
