"""Public names that are imported when they are first used, so that importing a package is quick."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_exports(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The ``__getattr__`` and ``__dir__`` of a package whose public names live elsewhere (PEP 562).

    Args:
        package: its ``__name__``.
        homes: modules and the names that are taken from each, as an import statement says them: ``"solve, one as other"``.
    """
    places = {
        public or name: (module, name)
        for module, names in homes.items()
        for name, _, public in (each.strip().partition(" as ") for each in names.split(","))
    }

    def get(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, original = places[name]
        found = import_module(f"{module}.{name}") if module == package else getattr(import_module(module), original)
        setattr(sys.modules[package], name, found)
        return found

    return get, lambda: sorted(places)
