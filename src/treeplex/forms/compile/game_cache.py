"""Disk cache of compiled games, one file each, keyed by all that they depend on (:mod:`.rules_digest`).

Only games that took more than :data:`LEAST_SECONDS` to compile are stored, after all checks of their rules. Files are tensors
with a checksum, so reading runs no code. They are stored in ``games`` inside the folder of compiled kernels
(:mod:`treeplex.engine.kernel_cache`). The environment variable ``TREEPLEX_GAMES`` names another folder, or is ``off``.
"""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from treeplex.base.notices import notify, tell
from treeplex.base.storage.files import sweep
from treeplex.base.storage.tensors import TensorFile, tensor, write_tensors
from treeplex.base.wings import named
from treeplex.engine.kernel_cache import folders
from treeplex.engine.tree.form import STORED, Dense, Factors, Payoff, Sparse, Tree
from treeplex.errors import FileError
from treeplex.forms.compile.compiled_game import CompiledGame, GameSize
from treeplex.forms.compile.rules_digest import rules_digest
from treeplex.forms.compile.views.lazy_infostates import LazyInfostates
from treeplex.games.base import Game
from treeplex.games.size_estimate import MOST_HISTORIES

ENVIRONMENT = "TREEPLEX_GAMES"
OFF = "off"
SUFFIX = ".game"
FORMAT, VERSION = "treeplex compiled game", 1
LEAST_SECONDS = 1.0
"""Time to compile from which a game is stored."""
MOST_BYTES = 2 * 2**30
"""Total size of the folder; beyond it the least recently used games are removed. Larger games are not stored."""
PARTS: Mapping[str, type[Any]] = {"tree": Tree, "sparse": Sparse, "dense": Dense, "factors": Factors}
"""The arrays of a compiled game."""
RESTORED: Mapping[str, str] = {
    "PathInfostates": "treeplex.forms.compile.numba_rules:PathInfostates",
    "PhantomInfostates": "treeplex.forms.compile.phantom:PhantomInfostates",
}
"""Infostates that are computed on demand, from a few arrays."""


class CachedGame(NamedTuple):
    """A stored game.

    Attributes:
        path: the file.
        game: its name.
        histories: its number of histories.
        seconds: the time it took to compile.
        bytes: file size.
        used: time of last use in seconds since 1970.
    """

    path: Path
    game: str
    histories: int
    seconds: float
    bytes: int
    used: float


def games_folder() -> Path | None:
    """Return the folder of compiled games; None if the cache is off."""
    given = os.environ.get(ENVIRONMENT, "")
    if given.lower() == OFF:
        return None
    return Path(given) if given else folders()[0] / "games"


def cached(rules: Game, options: Mapping[str, object], limit: int | None, make: Callable[[], CompiledGame]) -> CompiledGame:
    """Return the compiled game from the cache, or compile it and store it if that takes long.

    Args:
        rules: the rules.
        options: options of the compilation, part of the key.
        limit: maximum number of histories or sequences.
        make: compiles the game.
    """
    folder = games_folder()
    digest = None if folder is None else rules_digest(rules)
    if folder is None or digest is None:
        return make()
    entry = CacheEntry(folder, rules, options, digest)
    game = entry.read(limit)
    if game is None:
        begun = perf_counter()
        game = make()
        if perf_counter() - begun >= LEAST_SECONDS:
            entry.write(game, limit, perf_counter() - begun)
    return game


@final
class CacheEntry:
    """A game's file in the cache."""

    def __init__(self, folder: Path, rules: Game, options: Mapping[str, object], digest: Callable[[], str]) -> None:
        self.folder, self.rules, self.options, self.digest = folder, rules, options, digest
        self.prefix = re.sub(r"\W+", "_", rules.spec or type(rules).__name__)[-60:].strip("_") + "-"

    def path(self) -> Path | None:
        """Return the file; None if code of this package has changed since the process started."""
        digest = self.digest()
        if not digest:
            return None
        key = hashlib.sha256(repr((digest, VERSION, sorted(self.options.items()))).encode()).hexdigest()
        return self.folder / f"{self.prefix}{key[:32]}{SUFFIX}"

    def read(self, limit: int | None) -> CompiledGame | None:
        """Return the game; None if it is not in the cache, or was compiled with a limit that allows more than this one.

        A damaged file is removed with a notice.
        """
        if not names_beginning(self.folder, self.prefix):  # the usual case for small games
            return None
        path = self.path()
        if path is None or not path.is_file():
            return None
        try:
            with TensorFile(path, FORMAT, VERSION) as file:
                game = game_of(file, self.rules)
                compiled_with = json.loads(file.about["limit"])
        except (FileError, LookupError, ValueError, TypeError):
            if path.exists():
                notify(f"{path} is damaged; recompiling the game")
                with suppress(OSError):
                    path.unlink()
            return None
        most = MOST_HISTORIES if limit is None else limit
        if limit != compiled_with and most < max(game.size.histories, sum(game.sequences)):
            return None
        with suppress(OSError):
            os.utime(path)
        return game

    def write(self, game: CompiledGame, limit: int | None, seconds: float) -> None:
        """Store the game, unless it cannot be restored from arrays or is too large."""
        parts = arrays_of(game)
        path = None if parts is None else self.path()
        if parts is None or path is None:
            return
        about = {
            "format": FORMAT,
            "version": str(VERSION),
            "game": str(game),
            "players": str(game.players),
            "action_names": json.dumps([[[int(key), str(name)] for key, name in names.items()] for names in game.action_names]),
            "size": json.dumps(asdict(game.size)),
            "constant": json.dumps(game.constant),
            "digest_of_rules": game.digest,
            "infostates": type(game.infostates).__name__,
            "limit": json.dumps(limit),
            "seconds": json.dumps(seconds),
        }
        tell("caching the compiled game")
        size = sum(array.nbytes for array in parts.values())
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            if size > MOST_BYTES or shutil.disk_usage(self.folder).free < 2 * size:
                return
            write_tensors(path, about, {name: tensor(array) for name, array in parts.items()})
            sweep(self.folder)
            prune(self.folder, MOST_BYTES)
        except (FileError, OSError) as error:
            warn_unwritable(str(error))


@cache
def warn_unwritable(error: str) -> None:
    """Warn once that games cannot be cached."""
    notify(f"the compiled game cannot be cached: {error} (or set {ENVIRONMENT} to another folder, or to {OFF})")


def prune(folder: Path, most_bytes: int) -> None:
    """Remove the least recently used games beyond a total size."""
    files = []
    for path in folder.glob(f"*{SUFFIX}"):
        with suppress(OSError):
            files.append((path.stat(), path))
    total = 0
    for status, path in sorted(files, key=lambda file: -file[0].st_mtime):
        total += status.st_size
        if total > most_bytes:
            with suppress(OSError):
                path.unlink()


def names_beginning(folder: Path, prefix: str) -> bool:
    """Return whether the folder has a file whose name begins with ``prefix``."""
    try:
        return any(name.startswith(prefix) for name in os.listdir(folder))
    except OSError:
        return False


def arrays_of(game: CompiledGame) -> dict[str, NDArray[Any]] | None:
    """Return the arrays that define a game; None if arrays alone do not define it."""
    if game.payoff.walk != STORED:
        return None
    if isinstance(game.infostates, LazyInfostates):
        infostates = game.infostates.columns()
        if infostates is None:
            return None
    else:
        text = "".join(game.infostates).encode("utf-8", "surrogatepass")
        lengths = np.fromiter(map(len, game.infostates), np.int64, len(game.infostates))
        infostates = {"text": np.frombuffer(text or b"\0", np.uint8), "lengths": lengths}
    values = {"tree": game.tree, "sparse": game.payoff.sparse, "dense": game.payoff.dense, "factors": game.payoff.factors}
    arrays = {f"{part}.{name}": array for part in PARTS for name, array in zip(PARTS[part]._fields, values[part], strict=True)}
    return arrays | {"action_ids": game.action_ids} | {f"infostates.{name}": array for name, array in infostates.items()}


def game_of(file: TensorFile, rules: Game) -> CompiledGame:
    """Return the game in a file.

    Raises:
        LookupError, ValueError, TypeError: the file does not fit this version.
    """
    about = file.about
    parts = {part: kind(*(file[f"{part}.{name}"] for name in kind._fields)) for part, kind in PARTS.items()}
    columns = {name.removeprefix("infostates."): file[name] for name in file if name.startswith("infostates.")}
    if about["infostates"] == tuple.__name__:
        text = columns["text"].tobytes().decode("utf-8", "surrogatepass")
        ends = np.cumsum(columns["lengths"]).tolist()
        infostates: Any = tuple(text[begin:end] for begin, end in zip([0, *ends], ends, strict=False))
    else:
        kind = named(RESTORED[about["infostates"]])
        infostates = kind.restored(rules, parts["tree"], columns)
    return CompiledGame(
        spec=rules.spec,
        players=int(about["players"]),
        tree=parts["tree"],
        payoff=Payoff(parts["sparse"], parts["dense"], parts["factors"]),
        infostates=infostates,
        action_ids=file["action_ids"],
        action_names=tuple(dict(names) for names in json.loads(about["action_names"])),
        size=GameSize(**json.loads(about["size"])),
        constant=json.loads(about["constant"]),
        rules=rules,
        digest=about["digest_of_rules"],
    )


def cached_games() -> Iterator[CachedGame]:
    """Yield all stored games, sorted by file name; damaged files are left out."""
    folder = games_folder()
    for path in () if folder is None else sorted(folder.glob(f"*{SUFFIX}")):
        with suppress(FileError, OSError, LookupError, ValueError, TypeError), TensorFile(path, FORMAT, VERSION) as file:
            status, about = path.stat(), file.about
            histories, seconds = int(json.loads(about["size"])["histories"]), float(json.loads(about["seconds"]))
            yield CachedGame(path, about["game"], histories, seconds, status.st_size, status.st_mtime)


def clear_games() -> int:
    """Remove all stored games; return the number removed."""
    folder, removed = games_folder(), 0
    for path in () if folder is None else folder.glob(f"*{SUFFIX}"):
        with suppress(OSError):
            path.unlink()
            removed += 1
    return removed
