"""A child process that answers each line it receives with a line of JSON, on failure only with ``error``."""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any


class Child:
    """The parent's side.

    Attributes:
        name: its name in errors.
        failure: exception raised if it answers with an error, or ends.
    """

    failure: type[Exception] = RuntimeError

    def __init__(self, name: str, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self.name = name
        self.process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=os.environ | environment,
        )

    def ask(self, line: str = "") -> dict[str, Any]:
        """Send a line, if there is one; returns the next answer."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.write(line + "\n" if line else "")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        answer = self.process.stdout.readline()
        reply: dict[str, Any] = json.loads(answer) if answer else {"error": f"ended with status {self.process.wait()}"}
        if "error" in reply:
            raise self.failure(f"{self.name}: {reply['error']}")
        return reply

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
