"""Benchmarks: functions registered with :func:`benchmark`.

A benchmark is a file in the folder ``bench``. Its decorated function takes the options and returns the measurements. The file
also has ``tables(result)``, which formats them in Markdown, and ``add_options(parser)`` if it has options of its own.
"""

import argparse
import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

from bench.common.record import BENCH, ROOT, load, pin, save
from papers.common.declared import declaration, lacking

Function = Callable[[argparse.Namespace], dict[str, Any]]
FUNCTIONS: dict[str, Function] = {}
"""Registered benchmarks by module name."""


@dataclass(frozen=True)
class Benchmark:
    """Description of a benchmark.

    Attributes:
        name: name of its file.
        summary: what it measures, the first paragraph of its file.
        title: title of its section in ``docs/benchmarks.md``.
        place: position on the page; None to leave it out.
        minutes: approximate time on two cores.
        about: method, for the page.
        picture: file in ``docs/images`` that it draws, and its alternative text.
        needs: required packages.
        pinned: whether the process is pinned to one core, ``options.core``, before it measures.
    """

    name: str
    summary: str
    title: str
    place: int | None
    minutes: float
    about: str = ""
    picture: tuple[str, str] | None = None
    needs: tuple[str, ...] = ()
    pinned: bool = True

    def lacks(self) -> list[str]:
        """Required packages that are missing."""
        return lacking(self.needs)

    def module(self) -> ModuleType:
        """Its file, imported."""
        return importlib.import_module(f"bench.{self.name}")


def benchmark(**said: Any) -> Callable[[Function], Function]:
    """Register a function as the benchmark of its file; see :class:`Benchmark` for the arguments, which must be literals."""

    def register(function: Function) -> Function:
        FUNCTIONS[function.__module__] = function
        return function

    return register


@cache
def benchmarks() -> dict[str, Benchmark]:
    """All benchmarks by name, those on the page first and in its order."""
    found = []
    for path in BENCH.glob("*.py"):
        if (said := declaration(path, "benchmark")) is not None:
            try:
                found.append(Benchmark(path.stem, said[0], **said[1]))
            except TypeError as error:
                raise SystemExit(f"{path}: @benchmark(...) takes other arguments ({error})") from None
    found.sort(key=lambda each: (each.place is None, each.place or 0, each.name))
    return {each.name: each for each in found}


def run(one: Benchmark, arguments: list[str]) -> bool:
    """Measure in this process, print and store the result; returns whether it was a full run rather than ``--quick``.

    Raises:
        SystemExit: a requirement is missing.
    """
    if missing := one.lacks():
        raise SystemExit(f"{one.name} needs {' and '.join(missing)}; bench/README.md explains how to install it")
    module = one.module()
    parser = argparse.ArgumentParser(
        f"bench/run.py {one.name}", description=module.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_shared_options(parser)
    if hasattr(module, "add_options"):
        module.add_options(parser)
    options = parser.parse_args(arguments)
    if one.pinned:
        options.core = pin(options.core)
    result = FUNCTIONS[module.__name__](options)
    path = save(one.name, ({"core": options.core} if one.pinned else {}) | result, quick=options.quick)
    print(f"{module.tables(result)}\n\nwrote {path.relative_to(ROOT)}")
    return not options.quick


def add_shared_options(parser: argparse.ArgumentParser) -> None:
    """The options that every benchmark has."""
    parser.add_argument(
        "--quick", action="store_true", help="tiny counts, to check that everything works; written to bench/quick"
    )
    parser.add_argument("--core", type=int, default=None, help="CPU core to pin to (default: the last one available)")


def results(*, quick: bool = False) -> Mapping[str, dict[str, Any]]:
    """The stored results of the benchmarks on the page, by name and in order."""
    names = [each.name for each in benchmarks().values() if each.place is not None]
    return {name: found for name in names if (found := load(name, quick=quick)) is not None}
