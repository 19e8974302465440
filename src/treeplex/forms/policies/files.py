"""Policy files in the formats ``.safetensors``, ``.npz``, ``.json`` and ``.csv``, and policies as tables.

Every file has a header: format version, the game's spec and identity (a hash of its structure), Treeplex's version, the user's
metadata and a checksum. Loading never executes code, not even for a game in a user's Python file.

====================  ===============================================================================================
``.safetensors``      ``probabilities`` float64 [Q]; the header as metadata
``.npz``              ``probabilities`` float64 [Q]; ``header``, JSON text
``.json``             the header and ``"policy": {player: {infostate: {action: probability}}}``, to read and to edit
``.csv``              the header as a first line ``# {...}``, then ``player,infostate,action,action_name,probability``
====================  ===============================================================================================

In ``.json`` and ``.csv`` files the checksum is optional, so policies can be edited by hand. For files without a header see
:mod:`treeplex.forms.policies.plain`.
"""

import csv
import hashlib
import io
import json
import math
import os
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import safetensors
import safetensors.numpy
from numpy.typing import NDArray

from treeplex.base.spec import quoted, spec_name
from treeplex.base.storage.files import write_atomically
from treeplex.base.storage.reading import MOST_TEXT, parse_json, read_bytes, read_text, tensor_metadata
from treeplex.base.version import own_version
from treeplex.errors import FileError, PolicyError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.openspiel import transferred
from treeplex.forms.policies.plain import ROUNDED, Table, probabilities_of, table_from_csv, table_from_json
from treeplex.forms.policies.tabular import COLUMNS, Policy, infoset_sums, to_table, uniform_probabilities
from treeplex.forms.sources.openspiel import same_rules
from treeplex.games.base import Game
from treeplex.games.registry import info_of
from treeplex.games.turn_based import other_names

FORMAT = "treeplex policy"
VERSION = 1
Header = dict[str, Any]
Entry = tuple[int, str, int, float]
T = TypeVar("T")
MOST_UNPACKED = 1 << 30
HEADERS: Mapping[Any, Callable[[Any], Any]] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


@dataclass(frozen=True)
class Contents:
    """Contents of a policy file: the header, and probabilities as an array [Q], as entries (player, infostate, action, p), or
    as a table if there is no header.
    """

    header: Header
    probabilities: NDArray[np.float64] | None = None
    entries: tuple[Entry, ...] = ()
    table: Table | None = None


def save_policy(policy: Policy, path: str | os.PathLike[str], *, metadata: Mapping[str, Any] | None = None) -> None:
    """Write a policy in the format of the path's suffix (default: ``.safetensors``).

    Args:
        policy: the policy.
        path: the file; an existing file is replaced atomically.
        metadata: JSON-serialisable metadata; :func:`read_policy_header` returns it.

    Raises:
        FileError: the suffix is unknown, JSON cannot represent the metadata, or the file cannot be written.
    """
    target = with_suffix(path)
    write = by_suffix(target, WRITERS)
    header: Header = {
        "format": FORMAT,
        "format_version": VERSION,
        "game": policy.game.spec,
        "game_identity": policy.game.identity,
        "treeplex": own_version(),
    }
    try:
        header["metadata"] = parse_json(json.dumps(dict(metadata or {})))
        header["checksum"] = checksum(header, policy.probabilities)
    except (TypeError, ValueError, RecursionError) as error:
        raise FileError(f"cannot write {target}: metadata must be JSON-serialisable ({error})") from error
    write_atomically(target, write(header, policy))


def load_policy(
    path: str | os.PathLike[str], game: str | Game | CompiledGame | None = None, *, complete: bool = False
) -> Policy:
    """Read a policy file; return the policy on its compiled game.

    Args:
        path: the file; its suffix determines the format.
        game: the policy's game; default: the game named in the file, unless that game is itself defined in a file. Policies can
            be exchanged between Treeplex's and OpenSpiel's game of the same name.
        complete: play uniformly at infostates missing from a ``.json`` or ``.csv`` file, instead of raising an error.

    Raises:
        FileError: the file is missing, truncated, changed since it was written, not a policy, or of another format version; or
            its game is defined in a file and ``game`` is not given.
        PolicyError: the policy is for another game, or is invalid for this one.
    """
    from treeplex.forms.policies.neural import NeuralPolicy, is_neural_policy
    from treeplex.forms.policies.sparse import is_table_policy, load_table_policy

    game = None if game is None else compile_game(game)
    if is_table_policy(path):
        table = load_table_policy(path)
        return table.on(compile_game(table.spec, named_in=path) if game is None else game)
    if is_neural_policy(path):
        neural = NeuralPolicy.load(path)
        return neural.on(compile_game(neural.spec, named_in=path) if game is None else game)
    contents = read_contents(path)
    header = contents.header
    if game is None:
        if not header["game"]:
            raise PolicyError(f"{path} does not name its game; give the game (in Python: game=...)")
        game = compile_game(header["game"], named_in=path)
    if header.get("game_identity", game.identity) != game.identity:
        if same_rules(header["game"], game.spec):
            return transferred(load_policy(path, complete=complete), game)
        same = "whose rules have changed" if header["game"] == game.spec else f"not for {game}"
        raise PolicyError(f"{path} is a policy for {header['game']}, {same}; load it with the game it was made for")
    probabilities = array_of(contents, game, path, complete=complete)
    by_hand = contents.probabilities is None and "checksum" not in header
    try:
        changed = not by_hand and header.get("checksum") != checksum(header, probabilities)
    except ValueError:  # NaN, which Treeplex never writes
        changed = True
    if changed:
        edited = "" if contents.probabilities is not None else ", or delete checksum from its header to accept an edit"
        raise FileError(f"{path} was changed after it was written (checksum mismatch); save the policy again{edited}")
    try:
        return Policy(game, probabilities)
    except PolicyError as error:
        raise PolicyError(f"{path}: {error}") from error


def read_policy_header(path: str | os.PathLike[str]) -> Header:
    """Return the header of a policy file: ``game``, ``game_identity``, ``treeplex``, ``metadata`` and so on.

    Raises:
        FileError: the file is missing, truncated, not a policy, or of another format version.
    """
    return read_contents(path).header


def with_suffix(path: str | os.PathLike[str]) -> Path:
    """Return ``path`` with ``.safetensors`` added if it has no suffix."""
    target = Path(path)
    if not target.name:
        raise FileError(f"{str(path)!r} is not a policy file name; end it in {', '.join(WRITERS)}")
    return target if target.suffix else target.with_suffix(".safetensors")


def by_suffix(path: Path, table: Mapping[str, T], *, besides: str = "") -> T:
    """Return the table's entry for a path's suffix; errors also mention the suffixes in ``besides``."""
    if path.suffix.lower() == ".spot":
        if not path.exists():
            raise FileError(f"cannot read {path}: no such file")
        raise FileError(f"{path} is a solved spot, not a policy file; use treeplex show")
    if path.suffix.lower() not in table:
        others = f"; {besides}" if besides else ""
        raise FileError(f"unknown kind of policy file {path}; use {', '.join(table)}{others}")
    return table[path.suffix.lower()]


def check_path(path: Path) -> None:
    """Raise :class:`FileError` with a hint if the path is not a policy file."""
    if os.path.isdir(path):
        raise FileError(f"{path} is a folder without a policy; give a policy file, or a run folder of solve or train")
    if os.path.isfile(path):
        by_suffix(path, READERS)
    if info_of(spec_name(str(path))) is not None:
        solve = f"treeplex solve {quoted(str(path))} --out runs/first"
        raise FileError(f"{path} is a game, not a policy; solve it ({solve}) and give the run's folder")
    if not path.suffix:
        raise FileError(
            f"no policy file or run folder {path}; check the path, create a run (treeplex solve GAME --out {path}), "
            "or name an agent (treeplex agents)"
        )


def checksum(header: Header, probabilities: NDArray[np.float64]) -> str:
    """Return the SHA-256 digest of the header (without checksum) and the little-endian bytes of the probabilities."""
    rest = {key: value for key, value in header.items() if key != "checksum"}
    digest = hashlib.sha256(json.dumps(rest, sort_keys=True, allow_nan=False).encode())
    digest.update(np.ascontiguousarray(probabilities, dtype="<f8").tobytes())
    return digest.hexdigest()


def read_contents(path: str | os.PathLike[str]) -> Contents:
    """Read a file of any format and validate its header."""
    source = with_suffix(path)
    if not os.path.exists(source):
        check_path(Path(path))
    read = by_suffix(source, READERS)
    try:
        contents = read(source)
    except (
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        OverflowError,
        EOFError,
        NotImplementedError,
        RuntimeError,
        zlib.error,
        zipfile.BadZipFile,
        csv.Error,
        safetensors.SafetensorError,
    ) as error:
        raise FileError(f"{source} is truncated, damaged or not a policy file ({error}); save the policy again") from error
    header = contents.header
    if (
        not isinstance(header, dict)
        or not isinstance(header.get("metadata", {}), dict)
        or header.get("format") != FORMAT
        or not isinstance(header.get("game"), str)
    ):
        raise FileError(f"{source} is not a policy file: its header is damaged, or lacks the game or the format {FORMAT!r}")
    if header.get("format_version") != VERSION:
        version = header.get("format_version")
        raise FileError(
            f"{source} has format version {version}, but this Treeplex reads {VERSION}; use the version that wrote it"
        )
    return contents


def array_of(
    contents: Contents, game: CompiledGame, path: str | os.PathLike[str], *, complete: bool = False
) -> NDArray[np.float64]:
    """Return the probabilities [Q] of a file's contents on ``game``, optionally completing missing infostates."""
    if contents.probabilities is not None:
        return contents.probabilities
    if contents.table is not None:
        try:
            return probabilities_of(game, contents.table, complete=complete, rounded=ROUNDED)
        except PolicyError as error:
            raise PolicyError(f"{path}: {error}") from error
    size = int(game.tree.sequence_offsets[-1])
    probabilities = np.full(size, np.nan)
    probabilities[game.tree.sequence_offsets[:-1]] = 1.0
    for player, infostate, action, probability in contents.entries:
        names = (infostate, *other_names(player, infostate))
        infoset = next((game.lookup[player, name] for name in names if (player, name) in game.lookup), None)
        if infoset is None:
            raise PolicyError(f"{path}: {game} has no infostate {infostate!r} of player {player}; remove it")
        actions = game.actions_at(infoset)
        if action not in actions:
            raise PolicyError(
                f"{path}: no action {action} at infostate {infostate!r} of player {player}; legal actions: {actions}"
            )
        sequence = game.sequences_at(infoset)[actions.index(action)]
        if not np.isnan(probabilities[sequence]):
            raise PolicyError(f"{path}: action {action} at infostate {infostate!r} of player {player} is given twice")
        probabilities[sequence] = probability
    missing = np.flatnonzero(np.isnan(probabilities))
    if complete and missing.size:
        absent = infoset_sums(game, np.isnan(probabilities).astype(np.float64)) == infoset_sums(game, np.ones(size))
        filled = np.append(absent, False)[game.tree.sequence_infoset]
        probabilities[filled] = uniform_probabilities(game)[filled]
        missing = np.flatnonzero(np.isnan(probabilities))
    if missing.size:
        infoset = int(game.tree.sequence_infoset[missing[0]])
        raise PolicyError(
            f"{path}: infostate {game.infostates[infoset]!r} lacks the probability of an action; give all of them"
        )
    return probabilities


def write_safetensors(header: Header, policy: Policy) -> bytes:
    """Serialise the header as metadata and the probabilities as a tensor."""
    data: bytes = safetensors.numpy.save(
        {"probabilities": np.ascontiguousarray(policy.probabilities)}, metadata={"header": json.dumps(header)}
    )
    return data


def read_safetensors(path: Path) -> Contents:
    """Read the header and the probabilities [Q]."""
    data = read_bytes(path)
    header = parse_json(tensor_metadata(data)["header"])
    return Contents(header, float64(safetensors.numpy.load(data)["probabilities"]))


def write_npz(header: Header, policy: Policy) -> bytes:
    """Serialise the header as JSON text and the probabilities as an array, without pickle."""
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, probabilities=policy.probabilities, header=np.array(json.dumps(header)))
    return buffer.getvalue()


def read_npz(path: Path) -> Contents:
    """Read the header and the probabilities [Q], without pickle."""
    data = read_bytes(path)
    check_unpacked(data)
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        return Contents(parse_json(str(arrays["header"])), float64(arrays["probabilities"]))


def check_unpacked(data: bytes) -> None:
    """Raise :class:`ValueError` if the arrays of an ``.npz`` file are larger than declared, or larger than the limit.

    Uncompressed files may have any size; compressed files may unpack to at most :data:`MOST_UNPACKED` bytes.
    """
    most = max(MOST_UNPACKED, len(data))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if sum(member.file_size for member in archive.infolist()) > most:
            raise ValueError(f"its unpacked size is more than {most:,} bytes")
        for member in archive.infolist():
            if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise ValueError(f"{member.filename} uses a compression that NumPy does not support")
            with archive.open(member) as file:
                read_header = HEADERS.get(np.lib.format.read_magic(file))
                if read_header is None:
                    raise ValueError(f"{member.filename} is not an array")
                shape, _, dtype = read_header(file)
                if math.prod(shape) * dtype.itemsize > member.file_size:
                    raise ValueError(f"{member.filename} is truncated")


def float64(array: NDArray[Any]) -> NDArray[np.float64]:
    """Check that an array is float64 and return it."""
    if array.dtype != np.float64:
        raise ValueError(f"probabilities are {array.dtype}, not float64")
    return array.astype(np.float64, copy=False)


def write_json(header: Header, policy: Policy) -> str:
    """Serialise the header and the policy as indented JSON."""
    players: dict[str, dict[str, dict[str, float]]] = {str(player): {} for player in range(policy.game.players)}
    for player, infostate in policy:
        players[str(player)][infostate] = {str(action): p for action, p in policy[player, infostate].items()}
    return json.dumps({**header, "policy": players}, indent=1, ensure_ascii=False) + "\n"


def read_json(path: Path) -> Contents:
    """Read the header and one entry per action."""
    header = parse_json(read_text(path), unique=True)
    if not isinstance(header, dict) or "format" not in header:
        return Contents(plain_header(), table=table_from_json(path, header))
    players = header.pop("policy")
    entries = (
        (int(player), str(infostate), int(action), float(probability))
        for player, infostates in players.items()
        for infostate, row in infostates.items()
        for action, probability in row.items()
    )
    return Contents(header, entries=tuple(entries))


def write_csv(header: Header, policy: Policy) -> str:
    """Serialise the header as a comment, then a table."""
    buffer = io.StringIO(newline="")
    buffer.write(f"# {json.dumps(header)}\n")
    writer = csv.DictWriter(buffer, COLUMNS, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writeheader()
    writer.writerows(to_table(policy))
    return buffer.getvalue()


def read_csv(path: Path) -> Contents:
    """Read the header and one entry per action."""
    text = read_bytes(path, most=MOST_TEXT).decode("utf-8-sig")
    if not text.startswith("#"):
        return Contents(plain_header(), table=table_from_csv(path, text))
    first, _, table = text.partition("\n")
    rows: Iterable[dict[str, str]] = csv.DictReader(io.StringIO(table, newline=""), strict=True)
    entries = ((int(row["player"]), row["infostate"], int(row["action"]), float(row["probability"])) for row in rows)
    return Contents(parse_json(first.removeprefix("#")), entries=tuple(entries))


def plain_header() -> Header:
    """Return the default header, for a file without one."""
    return {"format": FORMAT, "format_version": VERSION, "game": ""}


WRITERS: Mapping[str, Callable[[Header, Policy], bytes | str]] = {
    ".safetensors": write_safetensors,
    ".npz": write_npz,
    ".json": write_json,
    ".csv": write_csv,
}
READERS: Mapping[str, Callable[[Path], Contents]] = {
    ".safetensors": read_safetensors,
    ".npz": read_npz,
    ".json": read_json,
    ".csv": read_csv,
}
