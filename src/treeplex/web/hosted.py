"""Objects in processes of their own, so that the server never waits for a search or a kernel, and a fault stays there."""

import multiprocessing
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
from treeplex.web.served import Refused

Make = Callable[..., Any]
"""What makes the object, in its process: a class or function that can be imported there."""
STARTING, THINKING = 120.0, 600.0
"""Seconds after which a process that says nothing is given up: one that is starting, and one that answers a call."""
ROOM = 20.0
"""Seconds to wait until one of the objects that are held is idle, and can make room for another."""
ENDING = 5.0
"""Seconds that a killed process has to end, so that the system can forget it."""

STARTER = ThreadPoolExecutor(1, "starter")
"""The thread that starts processes: Linux ends a bound process with the *thread* that started it, and those of a server end."""


@final
class Hosted:
    """One object in a process; calls are answered one after another, from whatever thread they come.

    Attributes:
        told: the last notice of the call under way.
    """

    def __init__(self) -> None:
        """Start a process, which waits for :meth:`make`.

        Raises:
            Refused: the system lets no process be started now (503).
        """
        self.told = ""
        try:
            self._pipe, theirs = multiprocessing.Pipe()
            with theirs:
                self._process = BoundProcess(target=serve, args=(theirs,), daemon=True)
                STARTER.submit(self._start).result()
        except OSError as error:
            raise Refused(503, f"no process can be started ({error.strerror or error}); close others and try again") from error
        self._turn = threading.Lock()

    def _start(self) -> None:
        with deaf_to_interrupts():
            self._process.start()

    def make(self, make: Make, *arguments: Any, within: float = STARTING, **named: Any) -> None:
        """Make the object, with at most ``within`` seconds between two signs of life.

        Raises:
            TreeplexError: what making it raised.
        """
        self._ask(("make", make, arguments, named), within)

    def call(self, method: str, *arguments: Any, **named: Any) -> Any:
        """What a method of the object returns.

        Raises:
            TreeplexError: what it raised.
            Refused: the process has ended or does not answer (410).
        """
        return self._ask(("call", method, arguments, named), THINKING)

    def call_within(self, seconds: float, method: str, *arguments: Any) -> Any:
        """:meth:`call` with a time limit of ``seconds``."""
        return self._ask(("call", method, arguments, {}), seconds)

    @property
    def busy(self) -> bool:
        """Whether a call is under way."""
        return self._turn.locked()

    @property
    def alive(self) -> bool:
        """Whether its process is there."""
        return self._process.is_alive()

    def _ask(self, job: Any, seconds: float) -> Any:
        with self._turn:
            try:
                self._pipe.send(job)
                self.told, answer = "", None
                while answer is None:
                    if not self._pipe.poll(seconds):
                        self.close()
                        raise Refused(410, f"there was no answer for {seconds:.0f} seconds; begin again, with less to do")
                    said = self._pipe.recv()
                    if isinstance(said, str):
                        self.told = said
                    else:
                        answer = said
                found, error = answer
            except (EOFError, OSError):
                self.close()
                raise Refused(410, "the process behind this has ended, perhaps for lack of memory; begin again") from None
        if error is not None:
            raise error
        return found

    def close(self) -> None:
        """End the process; nothing in it is needed any more."""
        self._process.kill()
        self._process.join(ENDING)


def serve(pipe: Connection) -> None:
    """The life of the process: one object, calls in, results out, until the pipe closes."""
    thing: Any = None
    while True:
        try:
            kind, what, arguments, named = pipe.recv()
        except (EOFError, OSError):
            return
        found, error = None, None
        try:
            with telling(pipe.send):
                if kind == "make":
                    thing = what(*arguments, **named)
                else:
                    found = getattr(thing, what)(*arguments, **named)
        except TreeplexError as raised:
            error = travelling(raised)
        except MemoryError:
            error = SpecError("too little memory for this; choose a smaller game, or close others")
        except Exception as raised:
            error = GameError(f"{type(raised).__name__}: {' '.join(str(raised).split())}")
        try:
            pipe.send((found, error))
        except OSError:
            return


def travelling(error: TreeplexError) -> TreeplexError:
    """An error that travels: of its kind, with its line."""
    kind = type(error)
    try:
        return kind(str(error))
    except TypeError:
        return GameError(str(error))


@final
class Hosts:
    """Hosted objects by id, at most ``most``; the one that was not asked for longest makes room.

    Attributes:
        most: how many.
    """

    def __init__(self, make: Make, most: int) -> None:
        self.most, self._make = most, make
        self._held: dict[str, Hosted] = {}
        self._beginning: set[Hosted] = set()
        self._known: dict[Any, Future[str]] = {}
        self._numbers, self._guard = 0, threading.Lock()
        self._spare: Hosted | None = None
        self._closed = False

    def prepare(self) -> None:
        """Start a process ahead of :meth:`open`."""
        with self._guard:
            if self._spare is None and not self._closed:
                self._spare = Hosted()

    def find(self, *arguments: Any, **named: Any) -> str:
        """The id of the object made from ``arguments``; made now if it is not held, once if several ask at the same time.

        Raises:
            TreeplexError: what making it raised.
            Refused: as :meth:`begin`.
        """
        with self._guard:
            names = self.names()
            self._known = {key: each for key, each in self._known.items() if not each.done() or each.result() in names}
            found = self._known.get(arguments)
            if found is None:
                making = self._known[arguments] = Future()
        if found is not None:
            return found.result()
        try:
            making.set_result(self.open(*arguments, **named))
        except BaseException as error:
            with self._guard:
                del self._known[arguments]
            making.set_exception(error)
        return making.result()

    def open(self, *arguments: Any, called: str | None = None, **named: Any) -> str:
        """Make an object; its id, ``called`` where that is given.

        Raises:
            TreeplexError: what making it raised.
            Refused: as :meth:`begin`.
        """
        hosted = self.begin()
        try:
            hosted.make(self._make, *arguments, **named)
        except BaseException:
            self.give_up(hosted)
            raise
        return self.hold(hosted, called)

    def begin(self) -> Hosted:
        """A process in which nothing is made yet; :meth:`hold` or :meth:`give_up` takes it.

        Raises:
            Refused: as many as can be held are busy or being made for a while already, or the server ends (503).
        """
        ends = monotonic() + ROOM
        while True:
            with self._guard:
                if self._closed:
                    raise Refused(503, "the server is ending; try again once it is started")
                if len(self._beginning) + sum(each.busy for each in self._held.values()) < self.most:
                    hosted, self._spare = self._spare or Hosted(), None
                    self._beginning.add(hosted)
                    return hosted
            if monotonic() > ends:
                raise Refused(503, f"{self.most} of these are at work already; try again in a while, or close one")
            sleep(0.05)

    def give_up(self, hosted: Hosted) -> None:
        """End a process in which nothing could be made."""
        with self._guard:
            self._beginning.discard(hosted)
        hosted.close()

    def hold(self, hosted: Hosted, called: str | None = None) -> str:
        """Hold an object that was made; its id."""
        closing = list[Hosted]()
        with self._guard:
            self._numbers += 1
            name = called or f"{self._numbers}"
            self._beginning.discard(hosted)
            self._held[name] = hosted
            while len(self._held) > self.most:
                idle = next((each for each in self._held if not self._held[each].busy and each != name), None)
                if idle is None:
                    break
                closing.append(self._held.pop(idle))
        for each in closing:
            each.close()
        return name

    def __getitem__(self, name: str) -> Hosted:
        """The object of an id.

        Raises:
            Refused: there is none (any more).
        """
        with self._guard:
            found = self._held.pop(name, None)
            if found is None or not found.alive:
                raise Refused(404, "this was closed: others took its place, or the server was started again; begin anew")
            self._held[name] = found
        return found

    def names(self) -> list[str]:
        """The ids, the one asked for last at the end; those whose process has ended are left out."""
        return [name for name, hosted in list(self._held.items()) if hosted.alive]

    def drop(self, name: str) -> None:
        """Close one; nothing happens if there is none."""
        with self._guard:
            found = self._held.pop(name, None)
        if found is not None:
            found.close()

    def close(self) -> None:
        """Close all, those that are being made as well; nothing is opened from then on."""
        with self._guard:
            self._closed = True
            closing = [*self._held.values(), *self._beginning, *([self._spare] if self._spare else [])]
            self._held.clear()
        for each in closing:
            each.close()
