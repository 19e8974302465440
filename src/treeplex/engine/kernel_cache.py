"""Disk cache of compiled kernels, one file each, keyed by all inputs of the compilation.

Numba's own cache checks only the file of the kernel itself. Kernels inline each other, so after an upgrade it would still run
old code of an inlined kernel. Here a file's name contains a digest of the code of all modules of this package that the kernel's
module imports, of the versions of Python, Numba and llvmlite, of the CPU and of the argument types. Docstrings and comments do
not count (:mod:`treeplex.engine.source_digest`). A file that does not match is never opened, and files of several versions and
CPUs coexist.

Files are stored in ``treeplex/kernels`` next to the sources if that is writable, otherwise in the user's cache folder. The
environment variable ``TREEPLEX_KERNELS`` overrides the folder. A platform wheel contains ``treeplex/prebuilt``, read-only
kernels compiled for an x86-64 level (``x86-64-v3``) that every CPU of that level can run.
"""

import hashlib
import json
import os
import pickle
import platform
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import llvmlite
import numba
from llvmlite import binding
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from treeplex.base.notices import notify
from treeplex.engine.compile_ahead import compile_ahead
from treeplex.engine.kernel_lock import lock, unlock
from treeplex.engine.source_digest import FILE as SOURCES
from treeplex.engine.source_digest import code_digest

PACKAGE = Path(__file__).parents[1]
ENVIRONMENT = "TREEPLEX_KERNELS"
PREBUILT = PACKAGE / "prebuilt"
STARTED = time.time()
"""Start time of this process; it may have imported an older version of a source that is newer than this."""
SUFFIX = ".kernel"
MOST_BYTES = 512 * 2**20
LONGEST_SECONDS = 90 * 86400.0
"""Age in seconds at which unused kernels are removed; beyond :data:`MOST_BYTES` the least recently used ones go."""
DAY_SECONDS = 86400.0
IMPORT = re.compile(r"^\s*from ([\w.]+) import (\([^)]*\)|[^\n]*)", re.MULTILINE)
LEVELS = {
    "x86-64-v4": ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"),
    "x86-64-v3": ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"),
}
"""CPU features of each x86-64 level, highest first, in addition to those of lower levels."""


class Entry(NamedTuple):
    """A cached kernel.

    Attributes:
        path: the file.
        kernel: module and function.
        signature: the argument types.
        cpu: the CPU or level that it was compiled for.
        bytes: file size.
        used: time of last use in seconds since 1970, to within a day.
    """

    path: Path
    kernel: str
    signature: str
    cpu: str
    bytes: int
    used: float


class KernelCache:
    """A kernel's cached compilations, with the interface of Numba's dispatcher.

    Args:
        function: a module-level function without a closure.
        options: compilation options, part of the key.
        ahead: ``module:function`` that runs in another process while this kernel is compiled; empty for none.
    """

    def __init__(self, function: Callable[..., Any], options: dict[str, Any], ahead: str = "") -> None:
        if function.__closure__:
            raise TypeError(f"{function.__qualname__} has a closure; define kernels at module level")
        self.module = function.__module__
        self.name = f"{function.__module__}.{function.__qualname__}"
        self.ahead = ahead
        self.options = sorted(
            (name, str(sorted(value) if isinstance(value, set) else value))  # a set's own order varies between processes
            for name, value in options.items()
        )

    @property
    def cache_path(self) -> str:
        """Return the cache folder, for Numba's statistics."""
        return str(folders()[0])

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Return the kernel for these argument types, or None if this process has to compile it."""
        target.refresh()
        if not sources_digest(self.module):
            return None
        kernel = self.find(signature, target)
        if kernel is None:
            folder = folders()[0]
            if self.ahead:
                compile_ahead(self.ahead, signature_text(signature), folder)
            if lock(folder / self.file_name(signature, cpu_of(target.codegen()))):
                kernel = self.find(signature, target)
        return kernel

    def find(self, signature: Any, target: Any) -> Any:
        """Return the kernel from the cache, or None."""
        for cpu in (cpu_of(target.codegen()), *levels()):
            name = self.file_name(signature, cpu)
            for folder in folders():
                payload = read(folder / name)
                if payload is not None:
                    return CompileResult._rebuild(target, *pickle.loads(payload))  # type: ignore[no-untyped-call]
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Store a compiled kernel, unless no folder is writable or a source changed while the process ran."""
        cpu = cpu_of(compiled.codegen)
        name = self.file_name(signature, cpu)
        try:
            self.keep(name, signature, cpu, compiled)
        finally:
            unlock(folders()[0] / name)

    def keep(self, name: str, signature: Any, cpu: str, compiled: Any) -> None:
        """Write a compiled kernel, unless it cannot be cached."""
        if (
            not sources_digest(self.module)
            or any(not loop.can_cache for loop in compiled.lifted)
            or compiled.library.has_dynamic_globals
        ):
            return
        about = {"kernel": self.name, "signature": signature_text(signature), "cpu": cpu}
        write(name, about, dumps(compiled._reduce()))  # type: ignore[no-untyped-call]

    def file_name(self, signature: Any, cpu: str) -> str:
        """Return the file name for these argument types on this CPU."""
        key = repr((self.name, self.options, signature_text(signature), cpu, versions(), sources_digest(self.module)))
        return f"{self.name.removeprefix('treeplex.')}-{hashlib.sha256(key.encode()).hexdigest()[:24]}{SUFFIX}"

    def enable(self) -> None:
        """Part of Numba's interface; the cache is always enabled."""

    def disable(self) -> None:
        """Part of Numba's interface; the cache is always enabled."""

    def flush(self) -> None:
        """Part of Numba's interface; use :func:`clear` to remove files."""


def signature_text(signature: Any) -> str:
    """Format argument types."""
    return ", ".join(map(str, signature))


def cpu_of(codegen: Any) -> str:
    """Return the CPU that Numba compiles for, with its features."""
    return "/".join(codegen.magic_tuple())


@cache
def levels() -> tuple[str, ...]:
    """Return the x86-64 levels of this CPU, as named by :func:`cpu_of`."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return ()
    features = binding.get_host_cpu_features()
    had = [all(features.get(feature, False) for feature in needed) for needed in LEVELS.values()]
    triple = binding.get_process_triple()
    return tuple(f"{triple}/{level}/" for k, level in enumerate(LEVELS) if all(had[k:]))


@cache
def versions() -> str:
    """Return the versions of Python, Numba and llvmlite."""
    return f"{sys.implementation.cache_tag} {numba.__version__} {llvmlite.__version__}"


@cache
def source(name: str) -> tuple[bytes, frozenset[str]] | None:
    """Return a digest of a module's code and of the modules it imports with ``from``; None without a source file.

    The digest is empty if the file changed while this process ran.
    """
    top, *inner = name.split(".")
    path = Path(getattr(sys.modules.get(top), "__file__", None) or "")
    if inner:
        path = path.parent.joinpath(*inner)
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    try:
        data = path.read_bytes()
        changed = path.stat().st_mtime > STARTED
    except OSError:
        return None
    imported = set[str]()
    for module, names in IMPORT.findall(re.sub(r"#[^\n]*", "", data.decode())):
        imported.add(module)
        imported.update(f"{module}.{words[0]}" for entry in names.strip("()").split(",") if (words := entry.split()))
    return b"" if changed else code_digest(data, folders()), frozenset(imported)


@cache
def sources_digest(module: str) -> str:
    """Return a digest of a module and of its transitive imports from its own package and this one.

    The digest is empty if a source changed while this process ran, since the imported code may differ.
    """
    packages = {PACKAGE.name, module.partition(".")[0]}
    reached, pending = dict[str, bytes](), [module]
    while pending:
        name = pending.pop()
        if name not in reached and name.partition(".")[0] in packages and (digest_and_imports := source(name)) is not None:
            reached[name], imported = digest_and_imports
            pending.extend(imported)
    if not all(reached.values()):
        return ""
    return hashlib.sha256(b"".join(name.encode() + reached[name] for name in sorted(reached))).hexdigest()


def user_folder() -> Path:
    """Return the user's cache folder."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData/Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library/Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "treeplex/kernels"


def folders() -> list[Path]:
    """Return the folders searched for kernels: the writable one first, the wheel's last."""
    if os.environ.get(ENVIRONMENT):
        return [Path(os.environ[ENVIRONMENT]), PREBUILT]
    return _folders()


@cache
def _folders() -> list[Path]:
    beside = PACKAGE / "kernels"
    if os.access(beside if beside.exists() else PACKAGE, os.W_OK):
        return [beside, PREBUILT]
    return [user_folder(), beside, PREBUILT]


def read(path: Path) -> bytes | None:
    """Read a compiled kernel; None if the file is missing or damaged. Damaged files are removed."""
    try:
        with path.open("rb") as file:
            header = json.loads(file.readline())
            payload = file.read()
            if header["sha256"] != hashlib.sha256(payload).hexdigest():
                raise ValueError
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError):
        notify(f"{path} is damaged; recompiling the kernel")
        with suppress(OSError):
            path.unlink()
        return None
    with suppress(OSError):
        if time.time() - path.stat().st_mtime > DAY_SECONDS:
            os.utime(path)
    return payload


def write(name: str, about: dict[str, str], payload: bytes) -> None:
    """Write a file atomically, so that processes may write it concurrently."""
    header = json.dumps({**about, "versions": versions(), "sha256": hashlib.sha256(payload).hexdigest()})
    folder = folders()[0]
    part = folder / f"{name}.{uuid4().hex[:8]}.part"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        part.write_bytes(header.encode() + b"\n" + payload)
        os.replace(part, folder / name)
    except OSError as error:
        warn_unwritable(str(folder), error.strerror or str(error))
        with suppress(OSError):
            part.unlink()
    else:
        prune_once(folder)


@cache
def warn_unwritable(folder: str, reason: str) -> None:
    """Warn once that kernels cannot be cached."""
    notify(f"compiled kernels cannot be cached in {folder} ({reason}); set {ENVIRONMENT} to a writable folder")


@cache
def prune_once(folder: Path) -> None:
    """Prune the folder when this process writes its first kernel."""
    prune(folder)


def prune(folder: Path, most_bytes: int = MOST_BYTES, longest_seconds: float = LONGEST_SECONDS) -> int:
    """Remove old kernels, then the least recently used beyond a total size; return the number removed."""
    now, total, removed = time.time(), 0, 0
    files = []
    with suppress(OSError):
        for path in (*folder.glob(f"*{SUFFIX}"), *folder.glob("*.part")):
            with suppress(OSError):
                files.append((path.stat(), path))
    for status, path in sorted(files, key=lambda file: -file[0].st_mtime):
        age = now - status.st_mtime
        total += status.st_size
        if age > (DAY_SECONDS if path.suffix == ".part" else longest_seconds) or total > most_bytes:
            with suppress(OSError):
                path.unlink()
                removed += 1
    return removed


def entries() -> Iterator[Entry]:
    """Yield all cached kernels, sorted by name."""
    for folder in folders():
        for path in sorted(folder.glob(f"*{SUFFIX}")):
            with suppress(OSError, ValueError, KeyError):
                with path.open("rb") as file:
                    header = json.loads(file.readline())
                status = path.stat()
                yield Entry(path, header["kernel"], header["signature"], header["cpu"], status.st_size, status.st_mtime)


def clear() -> int:
    """Remove all cached kernels except those shipped in a wheel; return the number removed."""
    removed = 0
    for folder in folders()[:-1]:
        for path in (*folder.glob(f"*{SUFFIX}"), *folder.glob("*.part")):
            with suppress(OSError):
                path.unlink()
                removed += 1
        with suppress(OSError):
            (folder / SOURCES).unlink()
    return removed
