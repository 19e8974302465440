"""Discount policy files (``.safetensors``: one tensor and a JSON header), and the shipped policies."""

import json
import os
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy

from treeplex.base.storage.files import write_atomically
from treeplex.base.storage.reading import parse_json, read_bytes, tensor_metadata
from treeplex.base.version import own_version
from treeplex.errors import FileError, SpecError
from treeplex.solvers.rules.discount_policy import DiscountPolicy

FORMAT = "treeplex discount policy"
VERSION = 1
FIELDS = ("base", "features", "exponents", "ranges", "levels", "holds", "hidden", "horizon", "clipped", "card")
SHIPPED = Path(__file__).parent / "shipped"


def save_discount_policy(policy: DiscountPolicy, path: str | os.PathLike[str]) -> Path:
    """Write a discount policy atomically; return the path.

    Args:
        policy: the policy.
        path: the file, ``.safetensors``.

    Raises:
        FileError: the suffix is not ``.safetensors``, the card is not JSON-serialisable, or the file cannot be written.
    """
    target = checked_suffix(path)
    header = {"format": FORMAT, "format_version": VERSION, "treeplex": own_version()}
    header |= {name: getattr(policy, name) for name in FIELDS}
    try:
        text = json.dumps(header, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise FileError(f"cannot write {target}: the card must be JSON-serialisable ({error})") from error
    data = safetensors.numpy.save({"parameters": np.ascontiguousarray(policy.parameters, "<f8")}, metadata={"header": text})
    return write_atomically(target, data)


def load_discount_policy(path: str | os.PathLike[str]) -> DiscountPolicy:
    """Read a discount policy; never executes code.

    Raises:
        FileError: the file is missing, damaged, inconsistent, of another version, or not a discount policy.
    """
    source = checked_suffix(path)
    data = read_bytes(source)
    try:
        header = parse_json(tensor_metadata(data)["header"])
        if header.get("format") != FORMAT:
            raise FileError(f"{source} is not a discount policy; give a file written by treeplex train")
        if header.get("format_version") != VERSION:
            version = header.get("format_version")
            raise FileError(
                f"{source} has format version {version}, but this Treeplex reads {VERSION}; use the version that wrote it"
            )
        parameters = safetensors.numpy.load(data)["parameters"]
        return DiscountPolicy(
            parameters=parameters.astype(np.float64), **{name: as_tuple(name, header[name]) for name in FIELDS}
        )
    except SpecError as error:
        raise FileError(f"{source}: {error}; train or convert the policy again") from error
    except (ValueError, KeyError, TypeError, AttributeError, safetensors.SafetensorError) as error:
        raise FileError(f"{source} is truncated, damaged or not a discount policy ({error}); write it again") from error


def as_tuple(name: str, value: Any) -> Any:
    """Convert lists of a header back to tuples."""
    if name in ("card", "base", "horizon", "clipped"):
        return value
    return tuple(tuple(item) if isinstance(item, list) else item for item in value)


def checked_suffix(path: str | os.PathLike[str]) -> Path:
    """Return the path if its suffix is ``.safetensors``."""
    if Path(path).suffix != ".safetensors":
        raise FileError(f"{path}: not a .safetensors file; give a discount policy written by treeplex train")
    return Path(path)


@lru_cache
def shipped_discount_policy(name: str) -> DiscountPolicy:
    """Load a shipped policy: ``ddcfr``, ``dpcfr+`` or ``pddcfr``."""
    return load_discount_policy(SHIPPED / f"{name}.safetensors")
