"""Public names that are imported on first use, which keeps importing a package fast."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_exports(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` for a package that re-exports names lazily (PEP 562).

    Args:
        package: its ``__name__``.
        homes: by module, the names to re-export, in the syntax of an import statement: ``"solve, one as other"``.
    """
    places = {
        public or name: (module, name)
        for module, names in homes.items()
        for name, _, public in (entry.strip().partition(" as ") for entry in names.split(","))
    }

    def get(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, original = places[name]
        value = import_module(f"{module}.{name}") if module == package else getattr(import_module(module), original)
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: sorted(places)
