"""Objects in separate processes, so that searches and kernels never block the server and crashes stay isolated."""

import multiprocessing
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing.connection import Connection
from time import monotonic, sleep
from typing import Any, final

from treeplex.base.notices import telling
from treeplex.base.workers.bound_process import BoundProcess
from treeplex.base.workers.processes import deaf_to_interrupts
from treeplex.errors import GameError, SpecError, TreeplexError
from treeplex.web.served import Refusal

Make = Callable[..., Any]
"""Function that creates the object in its process: a class or function that the process can import."""
FileVersions = tuple[tuple[int, int] | None, ...]
"""Modification times and sizes of files; None for texts that name no file."""
STARTING, THINKING = 120.0, 600.0
"""Seconds without progress after which a process is ended: while starting, and during a call."""
ROOM = 20.0
"""Seconds to wait for an object to become idle, so that it can be closed to make room for another."""
ENDING = 5.0
"""Seconds to wait for a killed process to end."""

STARTER = ThreadPoolExecutor(1, "starter")
"""Thread that starts processes: Linux ends a bound process with the *thread* that started it, and server threads end."""


@final
class HostedObject:
    """An object in a separate process; calls from any thread are processed one at a time.

    Attributes:
        progress: latest progress report of the current call.
    """

    def __init__(self) -> None:
        """Start a process that waits for :meth:`make`.

        Raises:
            Refusal: the system cannot start another process (503).
        """
        self.progress = ""
        try:
            self._pipe, theirs = multiprocessing.Pipe()
            with theirs:
                self._process = BoundProcess(target=serve, args=(theirs,), daemon=True)
                STARTER.submit(self._start).result()
        except OSError as error:
            raise Refusal(503, f"cannot start a process ({error.strerror or error}); close others and try again") from error
        self._turn = threading.Lock()

    def _start(self) -> None:
        with deaf_to_interrupts():
            self._process.start()

    def make(self, make: Make, *arguments: Any, within: float | None = STARTING, **named: Any) -> None:
        """Create the object, allowing at most ``within`` seconds between two progress reports; None for no limit.

        Raises:
            TreeplexError: creating it failed.
        """
        self._ask(("make", make, arguments, named), within)

    def call(self, method: str, *arguments: Any, **named: Any) -> Any:
        """Call a method of the object and return its result.

        Raises:
            TreeplexError: the method raised it.
            Refusal: the process has ended or does not respond (410).
        """
        return self._ask(("call", method, arguments, named), THINKING)

    def call_within(self, seconds: float | None, method: str, *arguments: Any) -> Any:
        """:meth:`call` with a time limit of ``seconds``, or without one."""
        return self._ask(("call", method, arguments, {}), seconds)

    @property
    def busy(self) -> bool:
        """Whether a call is in progress."""
        return self._turn.locked()

    @property
    def alive(self) -> bool:
        """Whether its process is running."""
        return self._process.is_alive()

    def _ask(self, job: Any, seconds: float | None) -> Any:
        with self._turn:
            try:
                self._pipe.send(job)
                self.progress, answer = "", None
                while answer is None:
                    if not self._pipe.poll(seconds):
                        assert seconds is not None
                        self.close()
                        raise Refusal(
                            410, f"no response for {seconds:.0f} seconds; start again with a smaller game or shorter search"
                        )
                    said = self._pipe.recv()
                    if isinstance(said, str):
                        self.progress = said
                    else:
                        answer = said
                result, error = answer
            except (EOFError, OSError):
                self.close()
                raise Refusal(410, "its process ended, perhaps for lack of memory; start again") from None
        if error is not None:
            raise error
        return result

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join(ENDING)


def serve(pipe: Connection) -> None:
    """Main loop of the process: creates one object, then answers calls until the pipe closes."""
    thing: Any = None
    while True:
        try:
            kind, what, arguments, named = pipe.recv()
        except (EOFError, OSError):
            return
        result, error = None, None
        try:
            with telling(pipe.send):
                if kind == "make":
                    thing = what(*arguments, **named)
                else:
                    result = getattr(thing, what)(*arguments, **named)
        except TreeplexError as raised:
            error = picklable(raised)
        except MemoryError:
            error = SpecError("not enough memory; choose a smaller game, or close others")
        except Exception as raised:
            error = GameError(f"{type(raised).__name__}: {' '.join(str(raised).split())}")
        try:
            pipe.send((result, error))
        except OSError:
            return


def file_versions(*texts: str) -> FileVersions:
    """Return each file's modification time and size; None for a text that is not the absolute path of a file."""

    def version(text: str) -> tuple[int, int] | None:
        try:
            about = os.stat(text) if os.path.isabs(text) else None
        except (OSError, ValueError):
            return None
        return about and (about.st_mtime_ns, about.st_size)

    return tuple(map(version, texts))


def picklable(error: TreeplexError) -> TreeplexError:
    """A picklable copy of an error, with its type and message."""
    kind = type(error)
    try:
        return kind(str(error))
    except TypeError:
        return GameError(str(error))


@final
class Hosts:
    """At most ``most`` hosted objects by id; the least recently used one is closed to make room.

    Attributes:
        most: maximum number.
    """

    def __init__(self, make: Make, most: int, within: float | None = STARTING) -> None:
        """Hold no objects yet.

        Args:
            make: creates an object in its process.
            most: maximum number.
            within: seconds between two progress reports of ``make``; None for no limit.
        """
        self.most, self._make, self._within = most, make, within
        self._held: dict[str, HostedObject] = {}
        self._beginning: set[HostedObject] = set()
        self._known: dict[Any, Future[str]] = {}
        self._numbers, self._guard = 0, threading.Lock()
        self._spare: HostedObject | None = None
        self._closed = False

    def prepare(self) -> None:
        """Start a process ahead of :meth:`open`."""
        with self._guard:
            if self._spare is None and not self._closed:
                self._spare = HostedObject()

    def find(self, *arguments: str, **named: Any) -> str:
        """Return the id of the object for ``arguments``, creating it only once even if requests are concurrent.

        If an argument is the path of a file that has changed since, a new object is created.

        Raises:
            TreeplexError: creating it failed.
            Refusal: as :meth:`begin`.
        """
        key = arguments, file_versions(*arguments)
        with self._guard:
            names = self.names()
            self._known = {key: future for key, future in self._known.items() if not future.done() or future.result() in names}
            name = self._known.get(key)
            if name is None:
                making = self._known[key] = Future()
        if name is not None:
            return name.result()
        try:
            making.set_result(self.open(*arguments, **named))
        except BaseException as error:
            with self._guard:
                del self._known[key]
            making.set_exception(error)
        return making.result()

    def open(self, *arguments: Any, called: str | None = None, **named: Any) -> str:
        """Create an object and return its id, which is ``called`` if given.

        Raises:
            TreeplexError: creating it failed.
            Refusal: as :meth:`begin`.
        """
        hosted = self.begin()
        try:
            hosted.make(self._make, *arguments, **{"within": self._within, **named})
        except BaseException:
            self.give_up(hosted)
            raise
        return self.hold(hosted, called)

    def begin(self) -> HostedObject:
        """Start a process without an object, to be passed to :meth:`hold` or :meth:`give_up`.

        Raises:
            Refusal: all objects have been busy for a while, or the server is shutting down (503).
        """
        ends = monotonic() + ROOM
        while True:
            with self._guard:
                if self._closed:
                    raise Refusal(503, "the server is shutting down; try again once it is restarted")
                if len(self._beginning) + sum(held.busy for held in self._held.values()) < self.most:
                    hosted, self._spare = self._spare or HostedObject(), None
                    self._beginning.add(hosted)
                    return hosted
            if monotonic() > ends:
                raise Refusal(503, f"all {self.most} sessions are in use; try again later, or close one")
            sleep(0.05)

    def give_up(self, hosted: HostedObject) -> None:
        """End a process whose object could not be created."""
        with self._guard:
            self._beginning.discard(hosted)
        hosted.close()

    def hold(self, hosted: HostedObject, called: str | None = None) -> str:
        """Add a created object and return its id."""
        closing = list[HostedObject]()
        with self._guard:
            self._numbers += 1
            name = called or f"{self._numbers}"
            self._beginning.discard(hosted)
            self._held[name] = hosted
            while len(self._held) > self.most:
                idle = next(
                    (
                        hosted_object
                        for hosted_object in self._held
                        if not self._held[hosted_object].busy and hosted_object != name
                    ),
                    None,
                )
                if idle is None:
                    break
                closing.append(self._held.pop(idle))
        for hosted_object in closing:
            hosted_object.close()
        return name

    def __getitem__(self, name: str) -> HostedObject:
        """Return the object with an id.

        Raises:
            Refusal: there is no such object, or it was closed.
        """
        with self._guard:
            hosted = self._held.pop(name, None)
            if hosted is None or not hosted.alive:
                raise Refusal(404, "this session was closed, to make room for others or by a server restart; start again")
            self._held[name] = hosted
        return hosted

    def names(self) -> list[str]:
        """Return the ids of objects with a running process, least recently used first."""
        return [name for name, hosted in list(self._held.items()) if hosted.alive]

    def drop(self, name: str) -> None:
        """Close the object with an id, if it exists."""
        with self._guard:
            hosted = self._held.pop(name, None)
        if hosted is not None:
            hosted.close()

    def close(self) -> None:
        """Close all objects, including those being created, and reject new ones."""
        with self._guard:
            self._closed = True
            closing = [*self._held.values(), *self._beginning, *([self._spare] if self._spare else [])]
            self._held.clear()
        for hosted in closing:
            hosted.close()
