"""A program in a process of its own, connected by a socket or by its standard input and output."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import weakref
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import IO, Any, final

from treeplex.base.storage.reading import reason
from treeplex.errors import FileError, GameError, SpecError
from treeplex.holdem.protocols.lines import Lines

SOCKET, PIPE = "socket", "pipe"
CONNECTIONS = (SOCKET, PIPE)
HOST = "127.0.0.1"
GRACE_SECONDS = 1.0
"""Seconds that a process gets to end after its connection is closed, and again after SIGTERM."""
POLL_SECONDS = 0.02
"""Seconds between checks of a process."""
TAIL_BYTES, SHOWN = 2_000, 200
"""Bytes at the end of the output that are searched for its last line, and characters of that line in messages."""


@dataclass(frozen=True)
class Command:
    """How to start a program; no shell is involved.

    Attributes:
        path: the program: a path, or a name on the search path.
        arguments: its arguments.
        folder: its working directory.
        connection: ``socket``, for a program that connects to the host and port in its last two arguments, or ``pipe``.
        log: file to which its other output is appended; empty to discard it.
    """

    path: str
    arguments: tuple[str, ...] = ()
    folder: str = "."
    connection: str = SOCKET
    log: str = ""

    def check(self) -> str:
        """Return the absolute path of the program.

        Raises:
            SpecError: no such program or folder, the program is not executable, or the system has no process groups.
        """
        if os.name != "posix":
            raise SpecError("external programs need Linux or macOS; connect the program to treeplex holdem dealer instead")
        folder = Path(self.folder)
        if not folder.is_dir():
            raise SpecError(f"folder {self.folder} does not exist; give the program's working directory")
        if os.sep not in self.path:
            found = shutil.which(self.path)
            if found is None:
                where = f"; write path=./{self.path}" if Path(self.path).is_file() else "; give its path, such as ./bot.sh"
                raise SpecError(f"program {self.path} is not on the search path{where}")
            return os.path.abspath(found)
        if not Path(self.path).is_file():
            raise SpecError(f"program {self.path} does not exist; give the path of an executable file")
        if not os.access(self.path, os.X_OK):
            raise SpecError(f"program {self.path} is not executable; run chmod +x {self.path}")
        return os.path.abspath(self.path)


@final
class ProgramProcess:
    """A running program; its process group ends with :meth:`close`, with this object, or with the interpreter.

    Attributes:
        command: how it was started.
        lines: the connection.
    """

    def __init__(self, command: Command, *, seconds: float) -> None:
        """Start the program and wait until it is connected.

        Args:
            command: how to start it.
            seconds: longest wait for its connection.

        Raises:
            SpecError: see :meth:`Command.check`.
            FileError: the log file cannot be written.
            GameError: the program cannot be started, ends, or does not connect in time.
        """
        self.command, path = command, command.check()
        self._log = log_at(command.log)
        if command.connection == PIPE:
            connection, theirs = socket.socketpair()
            with theirs:
                self._process = self._start([path, *command.arguments], theirs.fileno(), theirs.fileno())
            self._end = weakref.finalize(self, end_process, self._process, connection, self._log)
        else:
            with socket.create_server((HOST, 0)) as server:
                port = str(server.getsockname()[1])
                self._process = self._start([path, *command.arguments, HOST, port], subprocess.DEVNULL, self._log)
                self._end = weakref.finalize(self, end_process, self._process, None, self._log)
                connection = self._accept(server, seconds)
                self._end.detach()
                self._end = weakref.finalize(self, end_process, self._process, connection, self._log)
        self.lines = Lines(connection, f"program {command.path}")

    @property
    def number(self) -> int:
        """The process id."""
        return self._process.pid

    def close(self) -> None:
        """Close the connection, then end the program and the processes that it started."""
        self._end()

    def ending(self) -> str:
        """Exit status and last line of output, as text for messages; empty if there is neither."""
        with suppress(subprocess.TimeoutExpired):  # an end of the connection often precedes that of the process
            self._process.wait(GRACE_SECONDS)
        status, last = self._process.returncode, self._last_line()
        parts = [] if status is None else [f"exit status {status}" if status >= 0 else f"ended by signal {-status}"]
        parts += [f"last line of output {last!r}"] if last else []
        return f" ({', '.join(parts)})" if parts else ""

    def _start(self, arguments: Sequence[str], given: int, output: int | IO[bytes]) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                arguments,
                stdin=given,
                stdout=output,
                stderr=self._log,
                cwd=self.command.folder,
                start_new_session=True,
            )
        except OSError as error:
            self._log.close()
            hint = "; add a first line such as #!/bin/bash" if "format" in reason(error).lower() else "; run it in a terminal"
            raise GameError(f"cannot start program {self.command.path}: {reason(error)}{hint}") from error

    def _accept(self, server: socket.socket, seconds: float) -> socket.socket:
        """The connection of the program.

        Raises:
            GameError: it ends or does not connect in time.
        """
        until = monotonic() + seconds
        while True:
            server.settimeout(POLL_SECONDS)
            with suppress(TimeoutError):
                return server.accept()[0]
            name, ended = self.command.path, self._process.poll() is not None
            if not ended and monotonic() < until:
                continue
            what = "ended without connecting" if ended else f"did not connect within {seconds:g} s"
            how = self.ending() if ended else ""
            self.close()
            raise GameError(
                f"program {name} {what}{how}; it must connect to the host and port in its last two arguments, or use "
                "connection=pipe"
            )

    def _last_line(self) -> str:
        try:
            with (
                open(f"/dev/fd/{self._log.fileno()}", "rb") if self.command.log == "" else open(self.command.log, "rb") as file
            ):
                file.seek(max(0, os.fstat(file.fileno()).st_size - TAIL_BYTES))
                text = file.read().decode("utf-8", "replace").strip()
        except (OSError, ValueError):
            return ""
        return text.splitlines()[-1].strip()[:SHOWN] if text else ""


def log_at(path: str) -> IO[bytes]:
    """Open a log file, or a temporary file without a path.

    Raises:
        FileError: the file cannot be written.
    """
    if not path:
        return tempfile.TemporaryFile()
    try:
        return open(path, "ab")
    except OSError as error:
        raise FileError(f"cannot write {path}: {reason(error)}; choose another file for 'log'") from error


def end_process(process: Any, connection: socket.socket | None, log: IO[bytes]) -> None:
    """Close a program's connection and end its process group: by itself, by SIGTERM, at last by SIGKILL."""
    if connection is not None:
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
        connection.close()
        wait_for_end(process)
    for kind in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, kind)
        if wait_for_end(process) and not group_runs(process.pid):
            break
    log.close()


def wait_for_end(process: Any) -> bool:
    """Whether a process ends within :data:`GRACE_SECONDS`."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(GRACE_SECONDS)
    return process.returncode is not None


def group_runs(group: int) -> bool:
    """Whether a process group still has processes shortly after a signal."""
    until = monotonic() + GRACE_SECONDS
    while monotonic() < until:
        try:
            os.killpg(group, 0)
        except (ProcessLookupError, PermissionError):
            return False
        sleep(POLL_SECONDS)
    return True
