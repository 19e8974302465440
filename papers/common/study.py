"""Studies: functions that reproduce one table or figure and register themselves with :func:`study`.

Studies are found by reading the files in the papers' folders without importing them, so that those that need PyTorch can be
listed without it. The arguments of the decorator must therefore be literals.
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
"""Markers around the generated list of studies."""
FUNCTIONS: dict[str, Function] = {}
"""Functions of the studies imported so far, by module name."""


@dataclass(frozen=True)
class Study:
    """Description of a study.

    Attributes:
        name: ``PAPER/STUDY``: its folder and file.
        summary: what it reproduces, the first paragraph of its file.
        title: of its section in ``docs/papers``.
        place: rank on the page and when all are run; None: not on a page.
        minutes: approximate time from scratch on one core.
        needs: required packages (``torch``) and environment variables (in capitals).
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
        """Missing requirements."""
        return lacking(self.needs)


def study(*, title: str, place: int | None, minutes: float, needs: tuple[str, ...] = ()) -> Callable[[Function], Function]:
    """Register a function as the study of its file; see :class:`Study` for the arguments, which must be literals.

    The function returns a result, which is stored and shown on the page, or None. Its parameters define the study's command
    line: keyword-only ones are options, the others arguments.
    """

    def register(function: Function) -> Function:
        FUNCTIONS[function.__module__] = function
        return function

    return register


@cache
def studies() -> dict[str, Study]:
    """All studies by name, ordered by paper and place; those without a place last."""
    found = [each for path in PAPERS.glob("*/*.py") if (each := declared(path)) is not None]
    found.sort(key=lambda each: (each.paper, each.place is None, each.place or 0, each.name))
    return {each.name: each for each in found}


def declared(path: Path) -> Study | None:
    """The study declared in a file, or None.

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
    """Run a study in this process; print and store its result and regenerate the pages.

    Raises:
        SystemExit: a requirement is missing, or an option is unknown.
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
    """Arguments of a study's function, parsed from the command line by its signature.

    Raises:
        SystemExit: unknown options.
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
    """All studies as a Markdown table for ``papers/README.md``: content, time and requirements."""
    rows = [
        f"| `{each.name}` | {each.summary} | {each.minutes:g} | {', '.join(each.needs)} "
        f"| {'no' if each.place is None else 'yes'} |"
        for each in studies().values()
    ]
    return "\n".join(["| study | what it reproduces | minutes | needs | on a page |", "|---|---|--:|---|---|", *rows])


def write_pages() -> None:
    """Regenerate ``docs/papers`` and the list of studies in ``papers/README.md``."""
    write_all(page_sections())
    before, _, rest = README.read_text(encoding="utf-8").partition(BEGIN)
    write_atomically(README, f"{before}{BEGIN}\n{listing()}\n{END}{rest.partition(END)[2]}".encode())


def page_sections() -> dict[str, str]:
    """Titles of the studies with a section in ``docs/papers``, by name and in order."""
    return {each.name: each.title for each in studies().values() if each.place is not None}
