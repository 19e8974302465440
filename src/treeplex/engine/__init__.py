"""Kernels over arrays: the four operations of ``docs/design.md``, compiled with Numba. Nothing here knows a game."""

import re
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba.core import event

from treeplex.notices import on_compilation

IMPORT = re.compile(r"^from (treeplex(?:\.\w+)+) import", re.MULTILINE)


def drop_stale_kernels(package: Path, name: str) -> None:
    """Remove compiled kernels that are older than their own source or any source of ``package`` they import.

    Numba keeps a compiled kernel as long as its own file is unchanged, whatever happened to the kernels it calls; a source
    checkout that is updated in place would silently run a mixture of old and new.
    """
    sources = {".".join((name, *path.relative_to(package).with_suffix("").parts)): path for path in package.rglob("*.py")}
    needs = {module: {*IMPORT.findall(path.read_text("utf-8"))} & sources.keys() for module, path in sources.items()}
    changed = {module: path.stat().st_mtime for module, path in sources.items()}
    for folder in {path.parent for path in sources.values()}:
        for compiled in (folder / "__pycache__").glob("*.nbi"):
            module = ".".join((name, *folder.relative_to(package).parts, compiled.name.split(".")[0]))
            seen, pending = set[str](), [module]
            while pending:
                if (needed := pending.pop()) not in seen and needed in sources:
                    seen.add(needed)
                    pending.extend(needs[needed])
            with suppress(OSError):
                if compiled.stat().st_mtime < max((changed[needed] for needed in seen), default=0.0):
                    compiled.unlink()


class CompilationListener(event.Listener):
    """Tells :mod:`treeplex.notices` when Numba compiles; kernels that come from the cache raise no such event."""

    def on_start(self, event: Any) -> None:
        on_compilation()

    def on_end(self, event: Any) -> None:
        pass


drop_stale_kernels(Path(__file__).parent, __name__)
event.register("numba:compile", CompilationListener())  # type: ignore[no-untyped-call]
