"""The server's connection to a running job's process: sends commands, receives events; see :mod:`.process`."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, final

from treeplex.web.served import Refusal

MODULE = "treeplex.web.jobs.process"
MOST_LINE = 16 * 1024 * 1024
"""Maximum bytes of an event's line; the event ``begun`` contains all records."""
LOOK_SECONDS = 120.0
"""Time limit, in seconds, for requesting a node, which may have to wait for an iteration."""
LAST_WORDS = 2000
OnEvent = Callable[[str, Mapping[str, Any]], None]


@final
class JobProcess:
    """The process of a running job.

    Args:
        on_event: function called with the name and the data of each event.
        log: file for the process's output.

    Attributes:
        ready: whether a strategy is available for display.
    """

    def __init__(self, on_event: OnEvent, log: Path) -> None:
        self.on_event: Final = on_event
        self.log: Final = log
        self.ready = False
        self._process: asyncio.subprocess.Process | None = None
        self._looks: dict[int, asyncio.Future[bytes]] = {}
        self._asked = 0
        self._stopping = False

    async def run(self, order: Mapping[str, Any]) -> int:
        """Run the process to its end.

        Returns:
            The process's exit status, negative for a signal.
        """
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
        self._send(order)
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
        self.ready = self.ready or name == "begun"
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
