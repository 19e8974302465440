"""Solved spots as files (``.spot``): one file, compressed, checked on reading; reading runs no code from it.

===================== ==============================================================================================
first line            ``treeplex poker solution``
blocks                the arrays, each cut into pieces; the first bytes of all numbers, then the second ones and so on,
                      each with zlib where that makes it smaller
header                JSON: the spot, how it was solved, how well, and where the arrays are
last 40 bytes         length of the header (uint64, little-endian), SHA-256 of all before it
===================== ==============================================================================================

A *resumable* file holds all arrays of the solver, exactly: solving goes on as if it had never stopped. Any other holds the
strategy, probabilities rounded to 1/65,535, and perhaps of the first streets only, with the values of what is left out.
"""

import hashlib
import importlib.metadata
import json
import os
import struct
import zlib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from treeplex.engine.holdem.form import REACH, STORE, HoldemForm
from treeplex.errors import FileError, SpecError, TreeplexError
from treeplex.forms.holdem.compile_spot import CompiledSpot, compile_spot
from treeplex.games.poker.spots.fields import street_names
from treeplex.games.poker.spots.spot import spot_from_json
from treeplex.runs.holdem.solution import HoldemRecord, HoldemSettings, HoldemSolution
from treeplex.solvers.holdem.solver import Lock
from treeplex.storage.files import reason, replacing

Array = NDArray[Any]
Header = dict[str, Any]

MAGIC = b"treeplex poker solution\n"
VERSION = 1
SUFFIX = ".spot"
TRAILER = struct.Struct("<Q32s")
PIECE = 1 << 20
"""Numbers in a block."""
KINDS = ("<f4", "<f8", "<i2", "<i8", "<u2", "|u1")
LEVEL, SAMPLE, WORTH_IT = 1, 1 << 14, 0.9
"""How hard to compress; bytes whose sample stays above that share of its size are kept as they are."""
FULL = 65_535
"""A probability of one, in files that are not resumable."""


def save_solution(
    solution: HoldemSolution,
    path: str | os.PathLike[str],
    *,
    resumable: bool | None = None,
    streets: int | str | None = None,
) -> Path:
    """Write a solution.

    Args:
        solution: what to write.
        path: the file; without a suffix it gets ``.spot``. An existing one is replaced at once, and only by a whole one.
        resumable: keep what solving on needs (some eight times the size); default: if it is there and all streets are kept.
        streets: how many streets to keep, or the name of the last one (``"turn"``); default: all.

    Returns:
        The file written.

    Raises:
        SpecError: a street that the spot does not have, or a solution that cannot be what is asked for.
        FileError: the file cannot be written.
    """
    kept = streets_kept(solution, streets)
    whole = kept == len(solution.game.boards)
    keep_state = whole and solution.state is not None if resumable is None else resumable
    if keep_state and (solution.state is None or not whole):
        raise SpecError(
            "a solution without its solver's state or without some streets cannot be resumable; leave resumable out"
        )
    arrays: dict[str, Array] = {f"range{player}": solution.spot.ranges[player] for player in (0, 1)}
    if solution.spot.strengths is not None:
        arrays["strengths"] = solution.spot.strengths
    if solution.locks:
        arrays["locks"] = np.concatenate([lock.strategy.ravel() for lock in solution.locks])
    if keep_state:
        arrays |= {f"state.{name}": array for name, array in (solution.state or {}).items()}
    else:
        arrays["policy"] = rounded_policy(solution, kept)
        if not whole:
            arrays["ends"] = solution.values.ends[: first_number(solution.game, kept, REACH)].astype(np.float32)
    target = Path(path)
    target = target if target.suffix else target.with_suffix(SUFFIX)
    with replacing(target) as file:
        write_file(file, header_of(solution, kept), arrays, solution.settings.threads)
    return target


def streets_kept(solution: HoldemSolution, streets: int | str | None) -> int:
    """How many streets a file keeps."""
    names = [street_names(solution.spot.format)[street] for street in solution.spot.streets]
    if streets is None:
        return solution.streets
    count = names.index(streets) + 1 if isinstance(streets, str) and streets in names else streets
    if isinstance(count, str) or not 1 <= count <= solution.streets:
        offers = ", ".join(names[: solution.streets])
        raise SpecError(f"streets is {streets!r}; name the last street to keep ({offers}) or how many, 1 to {solution.streets}")
    return int(count)


def first_number(game: CompiledSpot, street: int, column: int) -> int | None:
    """Where the numbers of a street begin that ``boards[:, column]`` places; None after the last street."""
    return int(game.form.boards[game.first_boards[street], column]) if street < len(game.boards) else None


def rounded_policy(solution: HoldemSolution, kept: int) -> NDArray[np.uint16]:
    """The strategy of the first streets as whole numbers that add up to ``FULL``; all zero where nothing is known."""
    game, values = solution.game, solution.values
    end = first_number(game, kept, STORE)
    found = np.zeros(len(values.average) if end is None else end, np.uint16)
    for street in range(kept):
        for player in (0, 1):
            nodes = np.array(game.forests[street].nodes[player], np.int64).reshape(-1, 3)
            if not len(nodes):
                continue
            node_of = np.repeat(np.arange(len(nodes)), nodes[:, 2])
            for board in range(game.first_boards[street], game.first_boards[street] + len(game.boards[street])):
                weights = np.maximum(values.rows(board, player, 0, len(node_of)), 0.0)
                total = np.add.reduceat(weights, nodes[:, 1], axis=0)[node_of]
                shares = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
                start = int(game.form.boards[board, STORE + player])
                found[start : start + shares.size] = np.rint(shares * FULL).astype(np.uint16).ravel()
    return found


def header_of(solution: HoldemSolution, kept: int) -> Header:
    """All but the arrays."""
    game, settings = solution.game, solution.settings
    return {
        "version": VERSION,
        "treeplex": importlib.metadata.version("treeplex"),
        "spot": solution.spot.to_json(),
        "layout": layout(game.form),
        "isomorphism": game.isomorphism,
        "algorithm": solution.algorithm,
        "settings": {name: getattr(settings, name) for name in HoldemSettings.__dataclass_fields__},
        "records": [[record.iteration, record.seconds, record.exploitability] for record in solution.records],
        "ev": list(solution.ev),
        "status": solution.status,
        "streets": kept,
        "locks": [[lock.board, lock.player, lock.node, *lock.strategy.shape] for lock in solution.locks],
        "judging_seconds": solution.judging_seconds,
        "memory": solution.memory,
    }


def layout(form: HoldemForm) -> str:
    """A digest of which number of a stored array means what."""
    digest = hashlib.sha256()
    for array in (form.streets, form.boards, form.nodes, form.cards):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def load_solution(path: str | os.PathLike[str]) -> HoldemSolution:
    """Read what :func:`save_solution` wrote.

    Raises:
        FileError: the file is missing, no solution, truncated, changed, or of another version.
    """
    header, arrays = read_file(path)
    try:
        return solution_of(header, arrays)
    except (KeyError, ValueError, TypeError, IndexError, TreeplexError) as error:
        raise FileError(f"{path} cannot be read ({error}); solve the spot again") from error


def solution_of(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> HoldemSolution:
    """The solution of a file."""
    spot = spot_from_json(header["spot"], (arrays["range0"], arrays["range1"]), arrays.get("strengths"))
    game = compile_spot(spot, isomorphism=bool(header["isomorphism"]))
    if layout(game.form) != header["layout"]:
        raise FileError(f"it was written by Treeplex {header.get('treeplex')}, which numbers boards or bets in another way")
    prefix, streets = "state.", int(header["streets"])
    state = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
    end = first_number(game, streets, STORE)
    average = state["average"] if state else arrays["policy"].astype(np.float32)
    if average.shape != (game.stored if end is None else end,):
        raise FileError("its strategy has another size than the spot needs")
    return HoldemSolution(
        game=game,
        algorithm=str(header["algorithm"]),
        settings=HoldemSettings(**header["settings"]),
        records=tuple(HoldemRecord(int(t), float(spent), float(value)) for t, spent, value in header["records"]),
        ev=(float(header["ev"][0]), float(header["ev"][1])),
        status=str(header["status"]),
        average=average,
        scales=state.get("average_scales", np.zeros(0, np.float32)),
        state=state or None,
        locks=locks_of(header["locks"], arrays["locks"]) if header["locks"] else (),
        streets=streets,
        ends=arrays["ends"].astype(np.float64) if "ends" in arrays else None,
        judging_seconds=float(header["judging_seconds"]),
        memory=int(header["memory"]),
    )


def locks_of(rows: list[list[int]], values: Array) -> tuple[Lock, ...]:
    """The locks of a file."""
    found, start = [], 0
    for board, player, node, actions, hands in rows:
        found.append(Lock(board, player, node, values[start : start + actions * hands].reshape(actions, hands)))
        start += actions * hands
    return tuple(found)


def write_file(file: IO[bytes], header: Header, arrays: Mapping[str, Array], threads: int) -> None:
    """Write arrays and header; at no time are there more than some blocks in memory."""
    digest, entries = hashlib.sha256(MAGIC), []
    file.write(MAGIC)
    with ThreadPoolExecutor(threads) as pool:
        for name, array in arrays.items():
            flat = np.ascontiguousarray(array).reshape(-1)
            pieces = (flat[start : start + PIECE] for start in range(0, flat.size, PIECE))
            sizes = []
            while batch := list(islice(pieces, 2 * threads)):
                for planes in pool.map(packed, batch):
                    for block in planes:
                        file.write(block)
                        digest.update(block)
                    sizes.append([len(block) for block in planes])
            entries.append({"name": name, "kind": flat.dtype.newbyteorder("<").str, "shape": array.shape, "blocks": sizes})
    text = json.dumps({**header, "arrays": entries}).encode()
    file.write(text)
    digest.update(text)
    length = struct.pack("<Q", len(text))
    digest.update(length)
    file.write(length + digest.digest())


def packed(piece: Array) -> list[bytes]:
    """The blocks of a piece: one for the first bytes of all numbers, one for the second ones and so on."""
    little = piece.astype(piece.dtype.newbyteorder("<"), copy=False)
    columns = little.view(np.uint8).reshape(-1, piece.dtype.itemsize)
    return [smaller(columns[:, k].tobytes()) for k in range(columns.shape[1])]


def smaller(plain: bytes) -> bytes:
    """The bytes compressed if that helps, else as they are."""
    middle = max(0, len(plain) - SAMPLE) // 2
    sample = plain[middle : middle + SAMPLE]
    if len(zlib.compress(sample, LEVEL)) > WORTH_IT * len(sample):
        return plain
    found = zlib.compress(plain, LEVEL)
    return found if len(found) < len(plain) else plain


def read_file(path: str | os.PathLike[str]) -> tuple[Header, dict[str, Array]]:
    """Header and arrays of a file whose checksum fits.

    Raises:
        FileError: it is missing, something else, truncated or changed.
    """
    broken = FileError(f"{path} is truncated or was changed after it was written; take another copy, or solve the spot again")
    try:
        with open(path, "rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise FileError(f"{path} is not a solved spot; give a file that was written for one")
            end = file.seek(0, os.SEEK_END) - TRAILER.size
            if end < len(MAGIC):
                raise broken
            file.seek(end)
            length, checksum = TRAILER.unpack(file.read(TRAILER.size))
            if digest_of(file, end + 8) != checksum or length > end - len(MAGIC):
                raise broken
            file.seek(end - length)
            header = json.loads(file.read(length))
            if header.get("version") != VERSION:
                raise FileError(
                    f"{path} has format version {header.get('version')}, this Treeplex reads {VERSION}; "
                    f"read it with the Treeplex that wrote it ({header.get('treeplex')})"
                )
            file.seek(len(MAGIC))
            arrays = {entry["name"]: read_array(file, entry) for entry in header["arrays"]}
    except OSError as error:
        raise FileError(f"cannot read {path}: {reason(error)}; check the path") from error
    except (ValueError, KeyError, TypeError, AttributeError, zlib.error) as error:
        raise broken from error
    return header, arrays


def digest_of(file: IO[bytes], end: int) -> bytes:
    """The SHA-256 of the first ``end`` bytes."""
    digest, left = hashlib.sha256(), end
    file.seek(0)
    while left and (part := file.read(min(left, PIECE))):
        digest.update(part)
        left -= len(part)
    return digest.digest()


def read_array(file: IO[bytes], entry: Mapping[str, Any]) -> Array:
    """The next array of a file."""
    if entry["kind"] not in KINDS:
        raise ValueError("unknown kind of numbers")
    kind = np.dtype(entry["kind"])
    flat = np.empty(int(np.prod(entry["shape"], dtype=np.int64)), kind)
    starts = range(0, flat.size, PIECE)
    for start, sizes in zip(starts, entry["blocks"], strict=True):
        columns = flat[start : start + PIECE].view(np.uint8).reshape(-1, kind.itemsize)
        for k, size in zip(range(kind.itemsize), sizes, strict=True):
            block = file.read(size)
            plain = block if size == len(columns) else zlib.decompressobj().decompress(block, len(columns))
            columns[:, k] = np.frombuffer(plain, np.uint8)
    return flat.reshape(entry["shape"]).astype(kind.newbyteorder("="), copy=False)
