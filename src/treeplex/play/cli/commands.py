"""Commands: a function with :func:`command` over it is one, in whatever file of its package it stands."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import typer

Function = TypeVar("Function", bound=Callable[..., Any])
WIDTH = 54
"""Columns of an example in a group's help; behind longer ones nothing is said."""


@dataclass(frozen=True)
class Command:
    """A command.

    Attributes:
        function: what it does; parameters are its options, the docstring is its help.
        name: what the command line calls it.
        short: what it does, in a line of the group's help.
        place: where it stands among the others of its group, from the top.
        example: what follows the group's name in an example of the group's help; empty for none.
        cls: a click class of its own.
    """

    function: Callable[..., Any]
    name: str
    short: str
    place: int
    example: str
    cls: Any


_COMMANDS: dict[str, list[Command]] = {}
"""The commands by the package in which they stand."""


def command(
    short: str, *, place: int, example: str = "", name: str | None = None, cls: Any = None
) -> Callable[[Function], Function]:
    """Make a function a command of the group whose package it stands in; see :class:`Command`."""

    def mark(function: Function) -> Function:
        called = name or function.__name__.replace("_", "-")
        known = _COMMANDS.setdefault(function.__module__.rpartition(".")[0], [])
        known.append(Command(function, called, short, place, example, cls))
        return function

    return mark


def commands_of(package: str) -> list[Command]:
    """The commands in the files of a package, the first one first."""
    for folder in import_module(package).__path__:
        for file in sorted(Path(folder).glob("*.py")):
            if "\n@command(" in file.read_text("utf-8"):  # the others may be slow to import
                import_module(f"{package}.{file.stem}")
    return sorted(_COMMANDS.get(package, []), key=lambda each: each.place)


def add_commands(app: typer.Typer, package: str) -> None:
    """Add the commands of a package to a group."""
    for each in commands_of(package):
        options = {} if each.cls is None else {"cls": each.cls}
        app.command(each.name, short_help=each.short, **options)(each.function)


def examples_of(package: str, group: str) -> str:
    """The examples of a package's commands, one per line, with what they do."""
    found = []
    for each in commands_of(package):
        if each.example:
            line, what = f"  {group} {each.example}", each.short[0].lower() + each.short[1:].rstrip(".")
            found.append(f"{line:<{WIDTH}}  {what}" if len(line) <= WIDTH else line)
    return "\n".join(found)
