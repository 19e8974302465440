"""Ctrl-C as a request: a run stops between two iterations, where its state is whole."""

import signal
import threading
from types import FrameType, TracebackType
from typing import Final, Self, final


@final
class Interrupt:
    """While active, the first Ctrl-C sets ``requested``; the second one raises KeyboardInterrupt as usual.

    Active only in the main thread and where Ctrl-C has Python's own meaning: a program with a handler of its own keeps it.
    """

    def __init__(self, *, wanted: bool = True) -> None:
        self.requested = False
        self._wanted: Final = wanted
        self._active = False

    def __enter__(self) -> Self:
        own = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if self._wanted and own and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, self._request)
            self._active = True
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._release()

    def _request(self, number: int, frame: FrameType | None) -> None:
        self.requested = True
        self._release()

    def _release(self) -> None:
        if self._active:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            self._active = False
