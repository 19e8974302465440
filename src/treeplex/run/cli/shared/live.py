"""The live progress line of the command line, on stderr."""

import sys
from contextlib import redirect_stdout
from types import TracebackType
from typing import Self, final

from treeplex.run.job.progress_line import ProgressLine


@final
class Live(ProgressLine):
    """A progress line that also redirects output of user rules to stderr, so that stdout contains only results.

    A notice about compiling kernels is printed on stderr even if the line is hidden, unless ``shown`` is False.
    """

    def __init__(self, shown: bool | None) -> None:
        super().__init__(shown)
        self.announces = shown is not False
        self._prints = redirect_stdout(sys.stderr)

    def __enter__(self) -> Self:
        self._prints.__enter__()
        return super().__enter__()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._prints.__exit__(kind, error, trace)
        super().__exit__(kind, error, trace)
