"""Kernels over arrays: the four operations of ``docs/design.md``, compiled with Numba. Nothing here knows a game."""

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba.core import event

from treeplex.base.notices import on_compilation
from treeplex.base.work_clock import compiling_ended, compiling_started

IMPORT = re.compile(r"^from (treeplex(?:\.\w+)+) import", re.MULTILINE)


def drop_stale_kernels(package: Path, name: str) -> None:
    """Remove compiled kernels that are older than their own source or any source of ``package`` they import.

    Numba keeps a compiled kernel as long as its own file is unchanged, whatever happened to the kernels it calls; a source
    checkout that is updated in place would silently run a mixture of old and new. Nothing is read or written unless a source
    is newer than a kernel; kernels that are found to be up to date are dated like the newest source, so that this happens once.
    """
    changed = {path: path.stat().st_mtime for path in package.rglob("*.py")}
    newest = max(changed.values(), default=0.0)
    old = [path for path in package.rglob("__pycache__/*.nbi") if path.stat().st_mtime < newest]
    if not old:
        return
    sources = {".".join((name, *path.relative_to(package).with_suffix("").parts)): path for path in changed}
    needs = {module: {*IMPORT.findall(path.read_text("utf-8"))} & sources.keys() for module, path in sources.items()}
    for compiled in old:
        module = ".".join((name, *compiled.parent.parent.relative_to(package).parts, compiled.name.split(".")[0]))
        seen, pending = set[str](), [module]
        while pending:
            if (needed := pending.pop()) not in seen and needed in sources:
                seen.add(needed)
                pending.extend(needs[needed])
        with suppress(OSError):
            if compiled.stat().st_mtime < max((changed[sources[needed]] for needed in seen), default=0.0):
                compiled.unlink()
            else:
                os.utime(compiled, (newest, newest))


class CompilationListener(event.Listener):
    """Stops the clock of work while Numba compiles, and reports it; kernels that come from the cache raise no such event."""

    def on_start(self, event: Any) -> None:
        if compiling_started():
            on_compilation(True)

    def on_end(self, event: Any) -> None:
        if compiling_ended():
            on_compilation(False)


ROOT = Path(__file__).parents[1]
if (ROOT.parents[1] / "pyproject.toml").exists():  # a source checkout; installed files do not change one by one
    drop_stale_kernels(ROOT, ROOT.name)
event.register("numba:compile", CompilationListener())  # type: ignore[no-untyped-call]
