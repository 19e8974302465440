"""Hand-strength tables on disk: computed once, in parts that can be resumed, and stored in the user's cache folder."""

import hashlib
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load, save

from treeplex.base.storage.files import write_atomically
from treeplex.base.storage.reading import read_bytes
from treeplex.errors import FileError
from treeplex.holdem.buckets.histograms import histogram_clusters
from treeplex.holdem.cards.canonical import canonical_boards
from treeplex.holdem.cards.cards import cards_to_string
from treeplex.holdem.cards.format import Format
from treeplex.holdem.cards.strength import Codes, Done, Strengths, check_format, parts, strengths_from_turn, turn_part

VERSION = 1
VARIABLE = "TREEPLEX_CACHE"
"""Environment variable that names the cache folder."""


def cache_directory() -> Path:
    """The cache folder: ``$TREEPLEX_CACHE`` if set, otherwise ``treeplex`` in the user's cache folder."""
    if chosen := os.environ.get(VARIABLE):
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "treeplex" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "treeplex"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "treeplex"


def load_strengths(format: Format, *, directory: Path | None = None, done: Done | None = None) -> Strengths:
    """The strength tables of a format, read from the cache or computed and cached (hold'em: half a minute, 87 MB).

    Args:
        format: the cards in play.
        directory: folder to use in place of :func:`cache_directory`.
        done: called with (parts done, parts) while the turn table is computed.

    Raises:
        SpecError: the format does not have hold'em's hands and streets.
        FileError: the folder cannot be written.
    """
    check_format(format)
    turns = canonical_boards(format, 4)
    folder = (directory or cache_directory()) / "strength"
    deck = cards_to_string(format.deck)
    path = folder / f"turn-{hashlib.sha256(deck.encode()).hexdigest()[:12]}-v{VERSION}.safetensors"
    shape = (2, len(turns.boards), len(format.hands))
    turn = read_table(path, deck, shape)
    if turn is None:
        make_folder(folder)
        turn = computed(format, path, deck, done)
    return strengths_from_turn(format, turns, turn)


def load_clusters(
    strengths: Strengths, counts: Sequence[int], seed: int, tell: Callable[[str], None], *, directory: Path | None = None
) -> tuple[Codes, Codes]:
    """Clusters of histograms on flops and turns, read from the cache or computed and cached (hold'em: a minute, 42 MB).

    Args:
        strengths: hand strengths of the format.
        counts, seed: as for :func:`treeplex.holdem.buckets.histograms.histogram_clusters`.
        tell: called with progress messages.
        directory: folder to use in place of :func:`cache_directory`.

    Raises:
        FileError: the folder cannot be written.
    """
    deck = cards_to_string(strengths.format.deck)
    folder = (directory or cache_directory()) / "strength"
    made_of = hashlib.sha256(f"{deck} {tuple(counts[1:3])} {seed}".encode()).hexdigest()[:12]
    path = folder / f"clusters-{made_of}-v{VERSION}.safetensors"
    flops = len(strengths.flops.boards)
    cluster_codes = read_table(path, deck, (flops + len(strengths.turns.boards), len(strengths.format.hands)))
    if cluster_codes is None:
        make_folder(folder)
        made = histogram_clusters(strengths, counts, seed, lambda n, of: tell(f"histograms of strength: {n:,}/{of:,} turns"))
        cluster_codes = np.concatenate(made)
        write_table(path, deck, cluster_codes)
    return cluster_codes[:flops], cluster_codes[flops:]


def computed(format: Format, path: Path, deck: str, done: Done | None) -> Codes:
    """Compute the turn table part by part; parts on disk are reused, and removed when the table is complete."""
    turns = canonical_boards(format, 4)
    count = parts(turns)
    files = [path.with_suffix(f".part{part:03}") for part in range(count)]
    chunks = []
    for part, file in enumerate(files):
        chunk = read_table(file, deck, None)
        if chunk is None:
            chunk = turn_part(format, turns, part)
            write_table(file, deck, chunk)
        chunks.append(chunk)
        if done:
            done(part + 1, count)
    turn = np.concatenate(chunks, axis=1)
    write_table(path, deck, turn)
    for file in files:
        file.unlink(missing_ok=True)
    return turn


def write_table(path: Path, deck: str, turn: Codes) -> None:
    """Write a table with its version, cards and checksum."""
    about = {"version": str(VERSION), "deck": deck, "digest": digest(turn)}
    write_atomically(path, save({"turn": np.ascontiguousarray(turn)}, metadata=about))


def read_table(path: Path, deck: str, shape: tuple[int, ...] | None) -> Codes | None:
    """The table in a file; None if the file is missing, damaged or from another version."""
    if not path.exists():
        return None
    try:
        with safe_open(path, "numpy") as file:
            about = file.metadata() or {}
        turn: Codes = load(read_bytes(path))["turn"]
    except (SafetensorError, OSError, ValueError, KeyError):
        return None
    wanted = {"version": str(VERSION), "deck": deck, "digest": digest(turn)}
    return turn if about == wanted and (shape is None or turn.shape == shape) else None


def digest(turn: Codes) -> str:
    """SHA-256 of a table."""
    return hashlib.sha256(np.ascontiguousarray(turn).data).hexdigest()


def make_folder(folder: Path) -> None:
    """Create the cache folder.

    Raises:
        FileError: the folder cannot be created.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot create {folder}: {error.strerror}; set {VARIABLE} to a writable folder") from error
