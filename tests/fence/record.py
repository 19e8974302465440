"""Write down the numbers of all cases, or compare with those written down, bit for bit.

python -m tests.fence.record [CASE ...]             record all cases, or these alone, in recorded.json
python -m tests.fence.record --compare [CASE ...]   compare all but slow cases, or these; exit code 1 if any differs
python -m tests.fence.record --compare --slow       compare all cases
"""

import argparse
import hashlib
import importlib.metadata
import json
import math
import os
import platform
import sys
from collections.abc import Mapping
from pathlib import Path
from time import process_time
from typing import Any

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")  # products of matrices are summed in pieces, one a thread

import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402

from tests.fence.cases import BITS, CASES, Case  # noqa: E402
from tests.fence.doors import Numbers  # noqa: E402

RECORDED = Path(__file__).with_name("recorded.json")
LIBRARIES = ("numpy", "numba", "scipy", "torch")
PROJECTIONS = 4
ATOL = 1e-12
"""What a number may be off in any case: where it is zero but for rounding."""

Entry = dict[str, Any]
"""A number as it is recorded."""


def entry_of(number: float | int | NDArray[Any]) -> Entry:
    """A number as it is recorded: itself, or of an array a digest of its bytes and some of its sums."""
    if isinstance(number, np.ndarray):
        array = np.ascontiguousarray(number)
        digest = hashlib.sha256(array.tobytes()).hexdigest()
        about = {"dtype": str(array.dtype), "shape": list(array.shape), "sha256": digest}
        return about if array.dtype.kind == "u" else about | {"sums": sums_of(array)}
    return {"value": int(number) if isinstance(number, int | np.integer) else float(number)}


def sums_of(array: NDArray[Any]) -> list[float]:
    """The root of the mean square, then sums with weights that vary, over the root of the size."""
    flat = np.asarray(array, np.float64).ravel()
    assert np.isfinite(flat).all()
    root = math.sqrt(max(flat.size, 1))
    waves = (np.cos(k * 0.618 * np.arange(flat.size)) for k in range(PROJECTIONS))
    return [float(np.linalg.norm(flat) / root), *(float(flat @ wave / root) for wave in waves)]


def same_bits(found: Entry, recorded: Entry) -> bool:
    """Whether two entries are the same bit for bit."""
    names = ("value", "dtype", "shape", "sha256")
    return all(found.get(name) == recorded.get(name) for name in names)


def difference(found: Entry, recorded: Entry, atol: float = ATOL) -> float:
    """How far a number is off, relative to its size; of an array the most of its sums; infinite for another kind of number."""
    if ("value" in found) != ("value" in recorded):
        return math.inf
    if "value" in recorded:
        if isinstance(recorded["value"], int):
            return 0.0 if found["value"] == recorded["value"] else math.inf
        return relative(found["value"], recorded["value"], abs(recorded["value"]), atol)
    if "sums" not in recorded:
        return 0.0 if same_bits(found, recorded) else math.inf
    if found["shape"] != recorded["shape"] or found["dtype"] != recorded["dtype"]:
        return math.inf
    size = recorded["sums"][0]
    return max(relative(one, other, size, atol) for one, other in zip(found["sums"], recorded["sums"], strict=True))


def relative(found: float, recorded: float, size: float, atol: float) -> float:
    """A difference in parts of a size; none up to ``atol``."""
    off = abs(found - recorded)
    return 0.0 if off <= atol else off / size if size > 0 else math.inf


def entries_of(numbers: Numbers) -> dict[str, Entry]:
    """All numbers of a case as they are recorded."""
    return {name: entry_of(number) for name, number in numbers.items()}


def faults(case: Case, found: Mapping[str, Entry], recorded: Mapping[str, Entry], *, bits: bool) -> list[str]:
    """What is not as recorded: within tolerances, or bit for bit."""
    if found.keys() != recorded.keys():
        return [f"has {', '.join(sorted(found.keys() ^ recorded.keys()))} in one of both only"]
    if bits:
        return [
            f"{name} differs: {told(found[name])}, recorded {told(recorded[name])}"
            for name in recorded
            if not same_bits(found[name], recorded[name])
        ]
    return [
        f"{name} is off by {difference(found[name], recorded[name]):.3g}: {told(found[name])}, recorded {told(recorded[name])}"
        for name in recorded
        if case.tolerance(name) < BITS and not difference(found[name], recorded[name]) <= case.tolerance(name)
    ]


def told(entry: Entry) -> str:
    """An entry in a message."""
    return repr(entry["value"]) if "value" in entry else f"{entry['dtype']} {entry['shape']} {entry.get('sums', '')}"


def machine() -> dict[str, Any]:
    """Where numbers come from."""
    found: dict[str, Any] = {"processor": processor(), "python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = None
    return found


def processor() -> str:
    """The model of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def record(names: list[str]) -> int:
    """Write cases down; those not named stay as they are."""
    old = json.loads(RECORDED.read_text()) if RECORDED.exists() and len(names) < len(CASES) else None
    if old is not None and old["machine"] != machine():
        print(f"recorded on {old['machine']}, not {machine()}; record all cases", file=sys.stderr)
        return 2
    cases = {} if old is None else dict(old["cases"])
    for name in names:
        began = process_time()
        cases[name] = entries_of(CASES[name].run())
        print(f"{process_time() - began:7.2f} s  {name}", flush=True)
    kept = {name: cases[name] for name in CASES if name in cases}
    RECORDED.write_text(json.dumps({"machine": machine(), "cases": kept}, indent=1) + "\n")
    return 0


def compare(names: list[str]) -> int:
    """Compare cases bit for bit, and say of each how it stands."""
    recorded, differing = json.loads(RECORDED.read_text()), 0
    if recorded["machine"] != machine():
        print(f"recorded on {recorded['machine']}, not {machine()}; bits may differ")
    for name in names:
        found, before = entries_of(CASES[name].run()), recorded["cases"].get(name, {})
        wrong = faults(CASES[name], found, before, bits=True)
        differing += bool(wrong)
        print(f"{summary(found, before) if wrong else 'equal to the bit':46}  {name}", flush=True)
    print(f"{len(names) - differing} of {len(names)} cases are equal to the bit")
    return 1 if differing else 0


def summary(found: Mapping[str, Entry], recorded: Mapping[str, Entry]) -> str:
    """The largest difference of a case."""
    if found.keys() != recorded.keys():
        return f"DIFFERS in what there is: {len(found)} numbers, not {len(recorded)}"
    changed = [name for name in recorded if not same_bits(found[name], recorded[name])]
    most, name = max((difference(found[name], recorded[name], atol=0.0), name) for name in changed)
    return f"DIFFERS by {most:.2g} in {name}" if most else f"DIFFERS in {name}, by less than its sums show"


def main() -> int:
    """Read the options and do what they say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compare", action="store_true", help="compare, and write nothing")
    parser.add_argument("--slow", action="store_true", help="compare slow cases as well")
    parser.add_argument("cases", nargs="*", metavar="CASE", help="names of cases; default: all")
    options = parser.parse_args()
    unknown = [name for name in options.cases if name not in CASES]
    if unknown:
        parser.error(f"no such case: {', '.join(unknown)}")
    if options.compare:
        return compare(options.cases or [name for name, case in CASES.items() if options.slow or not case.slow])
    return record(options.cases or list(CASES))


if __name__ == "__main__":
    sys.exit(main())
