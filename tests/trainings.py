"""What tests do to trainings of every kind: copy folders, stop, compare."""

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

from treeplex.learn.rebel.files import read_net


def copied(folder: Path, tmp_path: Path) -> Path:
    shutil.copytree(folder, tmp_path / "copy")
    return tmp_path / "copy"


def weights(folder: Path) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in read_net(folder / "net.safetensors").weights.items()}


def stop_after(rounds: int) -> Callable[[object], None]:
    """A watcher that presses Ctrl-C after so many rounds."""
    count = 0

    def watch(progress: object) -> None:
        nonlocal count
        count += 1
        if count == rounds:
            os.kill(os.getpid(), signal.SIGINT)

    return watch
