"""What tests do to trainings of every kind: copy folders, stop, compare."""

import json
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

from treeplex.learn.rebel.files import read_net
from treeplex.run.job.folder import checksum_of


def copied(folder: Path, tmp_path: Path) -> Path:
    shutil.copytree(folder, tmp_path / "copy")
    return tmp_path / "copy"


def signed(data: bytes) -> bytes:
    """A file that says what is in a folder, its checksum made right again after a change; anything else as it is."""
    try:
        about = json.loads(data)
    except ValueError:
        return data
    if not isinstance(about, dict) or "checksum" not in about:
        return data
    del about["checksum"]
    return json.dumps({**about, "checksum": checksum_of(about)}).encode()


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
