"""The server's connection to a running job's process: sends commands, receives events; see :mod:`.process`."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, final

from treeplex.web.served import Refusal

MODULE = "treeplex.web.jobs.process"
MOST_LINE = 16 * 1024 * 1024
"""Maximum bytes of an event's line; the event ``begun`` contains all records."""
LOOK_SECONDS = 120.0
"""Time limit, in seconds, for requesting a node, which may have to wait for an iteration."""
LAST_WORDS = 2000
OnEvent = Callable[[str, Mapping[str, Any]], None]


def ignore(name: str, data: Mapping[str, Any]) -> None:
    """Ignore an event of a process without a job."""


@final
class JobProcess:
    """The process of a running job, or of the next one.

    Args:
        log: file for the process's output.

    Attributes:
        on_event: function called with the name and the data of each event.
        ready: whether a strategy is available for display.
        measures: whether its preparation measures the pace of this machine.
    """

    def __init__(self, log: Path) -> None:
        self.on_event: OnEvent = ignore
        self.log = log
        self.ready = self.measures = False
        self._measured: asyncio.Task[float | None] | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._looks: dict[int, asyncio.Future[bytes]] = {}
        self._asked = 0
        self._stopping = self._ordered = False

    async def start(self, preparation: Mapping[str, Any] | None = None) -> None:
        """Start the process; with a preparation, it gets ready before its order arrives."""
        with self.log.open("wb") as log:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", MODULE),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                limit=MOST_LINE,
                start_new_session=True,  # Ctrl-C in the terminal goes to the server, which then stops the job
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
            )
        if preparation is not None:
            self.measures = bool(preparation["measure"])
            self._send(preparation)
            self._measured = asyncio.create_task(self._read_pace())

    async def _read_pace(self) -> float | None:
        """Read the event that ends the preparation."""
        assert self._process is not None
        assert self._process.stdout is not None
        line = await self._process.stdout.readline()
        pace = json.loads(line)["pace"] if line else None
        return None if pace is None else float(pace)

    async def measured(self) -> float | None:
        """The pace that the process measured while it got ready; None if it measured nothing."""
        return None if self._measured is None else await asyncio.shield(self._measured)

    @property
    def alive(self) -> bool:
        """Whether the process is running."""
        return self._process is not None and self._process.returncode is None

    def move_log(self, log: Path) -> None:
        """Use another file for the process's output; an open file moves if the system allows it."""
        if self._process is None:
            self.log = log
            return
        with suppress(OSError):
            self.log.replace(log)
            self.log = log

    async def run(self, order: Mapping[str, Any]) -> int:
        """Run the process to its end.

        Returns:
            The process's exit status, negative for a signal.
        """
        if self._process is None:
            await self.start()
        await self.measured()
        assert self._process is not None
        self._send(order)
        self._ordered = True
        if self._stopping:
            self.stop()
        assert self._process.stdout is not None
        try:
            while line := await self._process.stdout.readline():
                event = json.loads(line)
                content = await self._process.stdout.readexactly(event.pop("bytes", 0))
                self._hear(event, content)
            return await self._process.wait()
        finally:
            self.ready = False
            for waiting in self._looks.values():
                if not waiting.done():
                    waiting.set_exception(Refusal(409, "the job has just ended; try again"))
            if self._process.returncode is None:
                self.stop()

    def _hear(self, event: dict[str, Any], content: bytes) -> None:
        """Process an event."""
        name = str(event.pop("event"))
        if name in ("node", "refused"):
            waiting = self._looks.pop(int(event["id"]), None)
            if waiting is not None and not waiting.done():
                if name == "node":
                    waiting.set_result(content)
                else:
                    waiting.set_exception(Refusal(int(event["status"]), str(event["error"]), "line"))
            return
        self.ready = self.ready or name in ("begun", "preview")
        self.on_event(name, event)

    async def look(self, line: str) -> bytes:
        """Return a node of the current strategy, packed.

        Raises:
            Refusal: there is no such line, or the job ends during the request.
        """
        self._asked += 1
        waiting = self._looks[self._asked] = asyncio.get_running_loop().create_future()
        self._send({"do": "look", "id": self._asked, "line": line})
        try:
            return await asyncio.wait_for(waiting, LOOK_SECONDS)
        except TimeoutError:
            raise Refusal(409, "the iteration is still running; try again later") from None

    def stop(self) -> None:
        """Ask the process to save and exit."""
        self._stopping = True
        if self._ordered:
            self._send({"do": "stop"})

    def freeze(self) -> bool:
        """Stop the process at once, in the middle of an iteration; returns whether this system can."""
        return self._signal("SIGSTOP")

    def thaw(self) -> None:
        """Let a frozen process continue."""
        self._signal("SIGCONT")

    def go(self) -> None:
        """Withdraw a request to stop, if the process has not acted on it yet, and let it continue."""
        self._stopping = False
        if self._ordered:
            self._send({"do": "go"})
        self.thaw()

    def _signal(self, name: str) -> bool:
        number = getattr(signal, name, None)
        if number is None or self._process is None or self._process.returncode is not None:
            return False
        self._process.send_signal(number)
        return True

    @property
    def resident(self) -> float:
        """Bytes of memory that the process holds; 0 if unknown."""
        try:
            assert self._process is not None
            return int(Path(f"/proc/{self._process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except (OSError, ValueError, IndexError, AssertionError):
            return 0.0

    def kill(self) -> None:
        """Kill the process; its last saved state remains."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()

    def _send(self, message: Mapping[str, Any]) -> None:
        if self._process is not None and self._process.stdin is not None and not self._process.stdin.is_closing():
            self._process.stdin.write(json.dumps(message).encode() + b"\n")

    def last_words(self) -> str:
        """The last line that the process printed, for errors without a message."""
        try:
            lines = self.log.read_bytes()[-LAST_WORDS:].decode(errors="replace").strip().splitlines()
        except OSError:
            return ""
        return lines[-1] if lines else ""
