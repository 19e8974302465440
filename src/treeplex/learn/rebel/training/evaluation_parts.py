"""Parts of an evaluation by playthroughs, and their storage on disk."""

import hashlib
import json
import shutil
from dataclasses import astuple, dataclass
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as arrays_from_bytes
from safetensors.numpy import save as bytes_from_arrays

from treeplex.base.arrays import Floats
from treeplex.base.storage.files import write_atomically
from treeplex.base.storage.reading import read_bytes
from treeplex.errors import FileError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.learn.rebel.files import NetFile
from treeplex.search.settings import PlaythroughSettings

DRAWS = 2
"""Version of the sampling scheme for iterations; parts of earlier versions are not reused."""
PART = 32
"""Number of playthroughs per part, which one worker runs in one job."""
LEAST_PARTS = 4


@dataclass(frozen=True)
class EvaluationPart:
    """Worker job: the playthroughs of one numbered part."""

    number: int
    count: int


def parts_of(playthroughs: int) -> list[EvaluationPart]:
    """Split playthroughs into parts."""
    size = min(PART, -(-playthroughs // LEAST_PARTS))
    starts = range(0, playthroughs, size)
    return [EvaluationPart(number, min(size, playthroughs - start)) for number, start in enumerate(starts)]


class Store:
    """Stores finished parts of an evaluation on disk; deletes parts that belong to other networks from the folder.

    Attributes:
        size: number of sequences of the game.
        folder: folder for the parts of this network and these settings; None to store nothing.
    """

    def __init__(self, folder: Path | None, net: NetFile, game: CompiledGame, settings: PlaythroughSettings, seed: int) -> None:
        inputs = [DRAWS, game.identity, settings.method, settings.iterations, *astuple(settings.horizon), settings.warm, seed]
        self.size = int(game.tree.sequence_offsets[-1])
        self.folder = None
        if folder is not None:
            key = hashlib.sha256(json.dumps(inputs).encode()).hexdigest()[:12]
            self.folder = folder / f"{net.checksum[:12]}-{key}"
            if folder.is_dir():
                for other in folder.iterdir():
                    if not other.name.startswith(net.checksum[:12]):
                        shutil.rmtree(other, ignore_errors=True)

    def path(self, part: EvaluationPart) -> Path:
        """The file of a part."""
        assert self.folder is not None
        return self.folder / f"{part.number:05}-{part.count}.safetensors"

    def get(self, part: EvaluationPart) -> tuple[Floats, float] | None:
        """A part's strategy and seconds; None if it is missing or corrupted."""
        if self.folder is None or not self.path(part).exists():
            return None
        try:
            arrays = arrays_from_bytes(read_bytes(self.path(part)))
            strategy, seconds = arrays["strategy"], float(arrays["seconds"][0])
        except (FileError, SafetensorError, KeyError, ValueError):
            return None
        return (strategy, seconds) if strategy.shape == (self.size,) and np.isfinite(strategy).all() else None

    def put(self, part: EvaluationPart, strategy: Floats, seconds: float) -> None:
        """Save a part, unless there is no folder.

        Raises:
            FileError: the folder cannot be written.
        """
        if self.folder is None:
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(f"cannot write the folder {self.folder}: {error.strerror or error}; free some space") from error
        write_atomically(self.path(part), bytes_from_arrays({"strategy": strategy, "seconds": np.array([seconds])}))
