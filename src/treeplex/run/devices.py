"""Correlation devices of solvers, and device files (``.safetensors``, or hand-editable ``.json``).

====================  ===============================================================================================
``.safetensors``      ``weights`` float64 [S], ``support`` int64 [S, N], ``plans_0``, ``plans_1``, ... int32 [P_i, I_i] as in
                      :class:`treeplex.forms.correlation.device.Device`; format, game and a digest in the metadata
``.json``             format, game and ``"joint_plans": [{"probability": p, "plans": [{infostate: action id}, ...]}]``
====================  ===============================================================================================
"""

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as arrays_from_bytes
from safetensors.numpy import save as bytes_from_arrays

from treeplex.base.notices import reporting
from treeplex.base.storage.files import write_atomically
from treeplex.base.storage.reading import MOST_TEXT, parse_json, read_bytes, tensor_metadata
from treeplex.engine.tree.sweeps import reach
from treeplex.errors import AlgorithmError, FileError, PolicyError, TreeplexError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.correlation.device import Device
from treeplex.forms.correlation.mixtures import mixture_device
from treeplex.forms.policies.tabular import Policy
from treeplex.games.base import Game
from treeplex.run.job.folder import JobFolder, kind_of
from treeplex.run.solve.settings import DEVICE, SOLVE
from treeplex.solvers import Solver

FORMAT = "treeplex device"
VERSION = 1
MOST_JOINT_PLANS = 100_000
"""Largest number of joint plans of a solver's device that is stored exactly."""
DRAWN_JOINT_PLANS, FEWEST_DRAWN, DRAWN_NUMBERS = 20_000, 1_000, 2**25
"""Joint plans sampled from a larger device; fewer in games with very many infosets, to bound the file size."""


@runtime_checkable
class Recommender(Protocol):
    """A solver whose result is its joint play: CFR-S, CFR-Jr."""

    def device(self, *, most: int = ..., samples: int | None = None) -> Device:
        """Return the joint play so far, exactly (up to ``most`` joint plans) or as ``samples`` joint plans."""


def device_of(solver: Solver) -> tuple[Device, dict[str, Any]] | None:
    """Return a solver's device, sampled if too large, and its metadata; None if the solver has no device."""
    if not isinstance(solver, Recommender) or solver.iteration == 0:
        return None
    about = {"algorithm": solver.algorithm, "iterations": solver.iteration, "drawn": 0}
    with suppress(AlgorithmError):  # too many joint plans
        return solver.device(most=MOST_JOINT_PLANS), about
    drawn = min(DRAWN_JOINT_PLANS, max(FEWEST_DRAWN, DRAWN_NUMBERS // max(sum(solver.game.infosets), 1)))
    try:
        return solver.device(samples=drawn), {**about, "drawn": drawn}
    except AlgorithmError:  # nothing stored yet
        return None


def device_from_policy(policy: Policy, *, most: int = MOST_JOINT_PLANS, progress: bool | None = None) -> Device:
    """Return the device equivalent to ``policy``: the product of the players' mixtures of plans.

    Args:
        policy: a policy of a compiled game.
        most: maximum number of joint plans.
        progress: False hides progress; None shows it on a terminal or in a notebook, see :func:`treeplex.solve`.

    Raises:
        AlgorithmError: the device has more than ``most`` joint plans.
    """
    game = policy.game
    strategy = np.zeros((1, len(policy.probabilities)))
    for player in range(game.players):
        reach(game.tree, player, policy.probabilities, strategy[0])
    with reporting(progress, "computing the plans of the policy"):
        return mixture_device(game, strategy, np.ones(1), most=most)


def save_device(device: Device, path: str | os.PathLike[str], *, metadata: Mapping[str, Any] | None = None) -> None:
    """Write a device atomically; the suffix, ``.safetensors`` or ``.json``, selects the format.

    Args:
        device: the device.
        path: the file.
        metadata: JSON-serialisable metadata; :func:`read_device` returns it.

    Raises:
        FileError: unknown suffix, or the file cannot be written.
    """
    target, game = Path(path), device.game
    header = {
        "format": FORMAT,
        "version": VERSION,
        "game": game.spec,
        "identity": game.identity,
        "metadata": dict(metadata or {}),
    }
    if suffix_of(target) == ".json":
        joint_plans = [
            {"probability": weight, "plans": [device.actions(player, plan) for player, plan in enumerate(row)]}
            for row, weight in zip(device.support.tolist(), device.weights.tolist(), strict=True)
        ]
        write_atomically(target, json.dumps({**header, "joint_plans": joint_plans}, indent=1, ensure_ascii=False) + "\n")
        return
    arrays: dict[str, Any] = {"weights": device.weights, "support": device.support}
    arrays |= {f"plans_{player}": table for player, table in enumerate(device.plans)}
    about = {"header": json.dumps(header)}
    write_atomically(target, bytes_from_arrays(arrays, metadata={**about, "digest": digest(about, arrays)}))


def load_device(path: str | os.PathLike[str], game: CompiledGame | str | Game | Any = None, *, refine: bool = False) -> Device:
    """Read a device from a file or a run folder.

    Args:
        path: the file, or the folder of a run of ``cfr-s`` or ``cfr-jr``.
        game: the device's game (a spec, rules or compiled game); default: the game named in the file.
        refine: compile the game with ``refine``; a run folder records this itself.

    Returns:
        The device.

    Raises:
        FileError: the file is missing, truncated, modified, not a device, of another version, or its game cannot be loaded.
        PolicyError: the device belongs to another game.
    """
    return read_device(path, game, refine=refine)[0]


def read_device(
    path: str | os.PathLike[str], game: CompiledGame | str | Game | Any = None, *, refine: bool = False
) -> tuple[Device, dict[str, Any]]:
    """Return a device and the file's metadata; takes the arguments of :func:`load_device`."""
    source = device_file(path)
    header, contents = (read_json if suffix_of(source) == ".json" else read_safetensors)(source)
    named = header.get("game")
    if header.get("format") != FORMAT or not isinstance(named, str) or not isinstance(header.get("metadata", {}), dict):
        raise FileError(f"{source} is not a device file: it lacks the game or the format {FORMAT!r}; check the path")
    if header.get("version") != VERSION:
        raise FileError(
            f"{source} has format version {header.get('version')!r}, but this Treeplex reads {VERSION}; write it again"
        )
    if game is None:
        try:
            game = compile_game(named, refine=refine or refined(path), named_in=source)
        except FileError:
            raise
        except TreeplexError as error:
            raise FileError(f"{source} names a game that cannot be loaded: {error}") from error
    else:
        game = compile_game(game, refine=refine or refined(path))
    if header.get("identity", game.identity) != game.identity:
        same = "whose rules have changed" if named == game.spec else f"not for {game}"
        raise PolicyError(f"{source} is a device for {named}, {same}; load it with that game")
    try:
        return device_from(contents, game), dict(header.get("metadata", {}))
    except PolicyError as error:
        raise PolicyError(f"{source}: {error}") from error
    except (KeyError, ValueError, TypeError, AttributeError, OverflowError) as error:
        raise FileError(f"{source} is damaged or not a device file ({error}); write it again") from error


def refined(path: str | os.PathLike[str]) -> bool:
    """Return whether ``path`` is a run folder whose game was compiled with ``refine``."""
    return kind_of(path) == SOLVE.name and bool(JobFolder(SOLVE, path).about()["settings"].get("refine"))


def device_file(path: str | os.PathLike[str]) -> Path:
    """Return the device file at ``path``, or in a run folder at ``path``.

    Raises:
        FileError: there is no device.
    """
    if kind_of(path) == SOLVE.name:
        folder = JobFolder(SOLVE, path)
        if not (folder.path / DEVICE).is_file():
            algorithm = folder.about()["algorithm"]
            raise FileError(
                f"{path} has no correlation device, since {algorithm} computes none; solve with -a cfr-s or -a cfr-jr, or use "
                "evaluate"
            )
        return folder.path / DEVICE
    if Path(path).is_dir():
        raise FileError(f"{path} is not a run folder; give a device file or a folder written by solve with --out")
    if not Path(path).suffix and not Path(path).exists():
        raise FileError(f"{path} is neither a run folder nor a device file; check the path")
    return Path(path)


def suffix_of(path: Path) -> str:
    """Return the suffix of a device file; raises :class:`FileError` for any other suffix."""
    suffix = path.suffix.lower()
    if suffix not in (".safetensors", ".json"):
        raise FileError(f"unknown kind of device file {path}; use .safetensors or .json")
    return suffix


def read_json(path: Path) -> tuple[dict[str, Any], Any]:
    """Read header and joint plans from JSON."""
    try:
        header = parse_json(read_bytes(path, most=MOST_TEXT), unique=True)
    except ValueError as error:
        raise FileError(f"{path}: truncated or not JSON ({error}); write it again") from error
    if not isinstance(header, dict):
        raise FileError(f"{path} is not a device file: it is not a JSON object; write it again")
    return header, header.pop("joint_plans", None)


def read_safetensors(path: Path) -> tuple[dict[str, Any], Any]:
    """Read header and arrays from safetensors."""
    data = read_bytes(path)
    try:
        about, arrays = tensor_metadata(data), arrays_from_bytes(data)
        header = parse_json(about.get("header", "{}"))
    except (SafetensorError, ValueError, TypeError) as error:
        raise FileError(f"{path}: truncated or not a device file ({error}); write it again") from error
    if about.pop("digest", None) != digest(about, arrays) or not isinstance(header, dict):
        raise FileError(f"{path} is not a device file, or was changed after it was written (checksum mismatch); write it again")
    return header, arrays


def device_from(contents: Any, game: CompiledGame) -> Device:
    """Build a device from the arrays or the list of joint plans of a file."""
    if isinstance(contents, dict):
        tables = tuple(contents[f"plans_{player}"] for player in range(game.players))
        return Device(game, tables, contents["support"], contents["weights"])
    if not isinstance(contents, list) or not contents:
        raise ValueError("joint_plans is not a list of joint plans")
    tables = tuple(np.full((len(contents), infosets), -1, np.int32) for infosets in game.infosets)
    for number, joint in enumerate(contents):
        if len(joint["plans"]) != game.players:
            raise PolicyError(
                f"joint plan {number} has {len(joint['plans'])} plans; give one for each of {game.players} players"
            )
        for player, plan in enumerate(joint["plans"]):
            fill_plan(game, player, plan, tables[player][number])
    rows = np.repeat(np.arange(len(contents))[:, None], game.players, axis=1)
    weights = np.array([float(joint["probability"]) for joint in contents])
    return Device(game, tables, rows, weights).merged()


def fill_plan(game: CompiledGame, player: int, plan: Mapping[str, int], row: Any) -> None:
    """Write a plan's actions by infostate to its row [I_i]."""
    for infostate, action in plan.items():
        infoset = game.lookup.get((player, infostate))
        if infoset is None:
            raise PolicyError(f"{game} has no infostate {infostate!r} of player {player}; correct the plan or the game")
        actions = game.actions_at(infoset)
        if action not in actions:
            raise PolicyError(f"no action {action!r} at infostate {infostate!r} of player {player}; legal actions: {actions}")
        row[infoset - int(game.tree.infoset_offsets[player])] = actions.index(action)


def digest(about: Mapping[str, str], arrays: Mapping[str, NDArray[Any]]) -> str:
    """Return a SHA-256 of metadata and arrays with their names, types and shapes."""
    total = hashlib.sha256(json.dumps(sorted(about.items())).encode())
    for name in sorted(arrays):
        array = arrays[name]
        total.update(json.dumps([name, array.dtype.str, list(array.shape)]).encode())
        total.update(array.tobytes())
    return total.hexdigest()
