"""Studies: functions that reproduce one table or figure and register themselves with :func:`study`.

A study is found by reading the files in the papers' folders, without running them: those that need PyTorch can be listed where
there is none. So the arguments of the decorator are literals.
"""

import argparse
import importlib
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, get_args, get_type_hints

from papers.common.declared import declaration, lacking
from papers.common.report import print_result, write_all
from papers.common.results import PAPERS, ROOT, Result, results_file, store
from treeplex.base.storage.files import write_atomically

Function = Callable[..., Result | None]
README = PAPERS / "README.md"
BEGIN, END = "<!-- generated: studies -->", "<!-- end -->"
"""Between these stands the list of studies."""
FUNCTIONS: dict[str, Function] = {}
"""Of the modules imported so far, by name of the module."""


@dataclass(frozen=True)
class Study:
    """What a study says of itself.

    Attributes:
        name: ``PAPER/STUDY``: its folder and file.
        summary: what it reproduces, the first paragraph of its file.
        title: of its section in ``docs/papers``.
        place: on the page among the studies of its paper, and when all are run; None: not on the page.
        minutes: how long it takes from nothing on one core, about.
        needs: packages (``torch``) and environment variables (in capitals) without which it cannot run.
    """

    name: str
    summary: str
    title: str
    place: int | None
    minutes: float
    needs: tuple[str, ...] = ()

    @property
    def paper(self) -> str:
        """Its folder."""
        return self.name.partition("/")[0]

    def lacks(self) -> list[str]:
        """What it needs and is not there."""
        return lacking(self.needs)


def study(*, title: str, place: int | None, minutes: float, needs: tuple[str, ...] = ()) -> Callable[[Function], Function]:
    """Register a function as the study of its file; see :class:`Study` for the arguments, which must be literals.

    The function returns a result, which is stored and goes to the page, or None for nothing to store. Its parameters are what
    may follow the name of the study on the command line: keyword-only ones are options, the others arguments.
    """

    def register(function: Function) -> Function:
        FUNCTIONS[function.__module__] = function
        return function

    return register


@cache
def studies() -> dict[str, Study]:
    """All studies by name: paper after paper, in the order of their places, those without one last."""
    found = [each for path in PAPERS.glob("*/*.py") if (each := declared(path)) is not None]
    found.sort(key=lambda each: (each.paper, each.place is None, each.place or 0, each.name))
    return {each.name: each for each in found}


def declared(path: Path) -> Study | None:
    """The study that a file declares, if it declares one.

    Raises:
        SystemExit: if the declaration cannot be read.
    """
    found = declaration(path, "study")
    if found is None:
        return None
    summary, said = found
    try:
        return Study(f"{path.parent.name}/{path.stem}", summary, **said)
    except TypeError as error:
        raise SystemExit(f"{path}: @study(...) takes other arguments ({error})") from None


def chosen(name: str) -> list[Study]:
    """The study of that name, or all of a paper.

    Raises:
        SystemExit: if there is neither.
    """
    found = [each for each in studies().values() if name in (each.name, each.paper)]
    if not found:
        raise SystemExit(f"no study or paper called {name}; python papers/run.py --list shows all")
    return found


def run(one: Study, options: list[str]) -> None:
    """Run a study in this process: print and store what it returns, and renew the page if it is on it.

    Raises:
        SystemExit: if something that it needs is not there, or it has no such options.
    """
    if missing := one.lacks():
        raise SystemExit(f"{one.name} needs {' and '.join(missing)}; papers/README.md says how to get it")
    module = f"papers.{one.name.replace('/', '.')}"
    importlib.import_module(module)
    function = FUNCTIONS[module]
    names, named = arguments(function, one, options)
    result = function(*names, **named)
    if result is None:
        return
    print_result(one.title, result)
    store(one.name, result)
    print(f"wrote {results_file(one.name).relative_to(ROOT)}")
    write_pages()


def arguments(function: Function, one: Study, options: Sequence[str]) -> tuple[list[Any], dict[str, Any]]:
    """What a study's function is called with, read from the command line by the function's signature.

    Raises:
        SystemExit: options that the study does not take.
    """
    signature = inspect.signature(function).parameters
    if options and not signature:
        raise SystemExit(f"{one.name} takes no options, but here is {' '.join(options)}")
    parser, types = argparse.ArgumentParser(f"papers/run.py {one.name}", description=one.summary), get_type_hints(function)
    for name, parameter in signature.items():
        kind = next((each for each in (*get_args(types[name]), types[name]) if each is not type(None)), str)
        if kind is bool:
            parser.add_argument(f"--{name}", action="store_true")
        elif parameter.kind is parameter.VAR_POSITIONAL:
            parser.add_argument(name, nargs="*", type=kind)
        elif parameter.kind is parameter.KEYWORD_ONLY:
            parser.add_argument(f"--{name}", type=kind, default=parameter.default)
        else:
            parser.add_argument(name, nargs="?", type=kind, default=parameter.default)
    given = vars(parser.parse_args(options))
    names = next((given.pop(name) for name, each in signature.items() if each.kind is each.VAR_POSITIONAL), [])
    return names, given


def listing() -> str:
    """Every study in Markdown, for ``papers/README.md``: what it reproduces, how long that takes and what it needs."""
    rows = [
        f"| `{each.name}` | {each.summary} | {each.minutes:g} | {', '.join(each.needs)} "
        f"| {'no' if each.place is None else 'yes'} |"
        for each in studies().values()
    ]
    return "\n".join(["| study | what it reproduces | minutes | needs | on a page |", "|---|---|--:|---|---|", *rows])


def write_pages() -> None:
    """Renew ``docs/papers``, and the list of studies in ``papers/README.md``."""
    write_all(page_sections())
    before, _, rest = README.read_text(encoding="utf-8").partition(BEGIN)
    write_atomically(README, f"{before}{BEGIN}\n{listing()}\n{END}{rest.partition(END)[2]}".encode())


def page_sections() -> dict[str, str]:
    """Titles of the studies with a section in ``docs/papers``, by name and in order."""
    return {each.name: each.title for each in studies().values() if each.place is not None}
