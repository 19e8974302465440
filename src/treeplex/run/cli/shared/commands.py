"""Commands: a function with :func:`command` over it is one, in whatever file of its package it stands."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import typer

from treeplex.run.cli.shared.failures import Commands

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
    short: str, *, place: int, example: str = "", name: str | None = None, cls: Any = None, group: str = ""
) -> Callable[[Function], Function]:
    """Make a function a command of the group whose package it stands in, or of the group that its file is; see
    :class:`Command`.
    """

    def mark(function: Function) -> Function:
        called = name or function.__name__.replace("_", "-")
        package = function.__module__.rpartition(".")[0]
        known = _COMMANDS.setdefault(f"{package}.{group}" if group else package, [])
        known.append(Command(function, called, short, place, example, cls))
        return function

    return mark


def commands_of(*packages: str) -> list[Command]:
    """The commands in the files of packages, or in one file, the first one first."""
    for package in packages:
        for folder in getattr(import_module(package), "__path__", ()):
            for file in sorted(Path(folder).glob("*.py")):
                if "\n@command(" in file.read_text("utf-8"):  # the others may be slow to import
                    import_module(f"{package}.{file.stem}")
    found = [each for package in packages for each in _COMMANDS.get(package, [])]
    return sorted(found, key=lambda each: each.place)


def add_commands(app: typer.Typer, *packages: str) -> None:
    """Add the commands of packages to a group."""
    for each in commands_of(*packages):
        options = {} if each.cls is None else {"cls": each.cls}
        app.command(each.name, short_help=each.short, **options)(each.function)


def group_of(packages: Sequence[str], name: str, text: str) -> typer.Typer:
    """A group with the commands of packages and a help text."""
    app = typer.Typer(
        name=name,
        cls=Commands,
        help=text,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    )
    add_commands(app, *packages)
    return app


def with_options(
    added: Sequence[inspect.Parameter], key: Callable[[str], str] = str
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command further options, in place of its parameter ``options``.

    The command gets a mapping from their names, as ``key`` changes them, to what was given; others are None.
    """

    def changed(command: Callable[..., None]) -> Callable[..., None]:
        def call(**arguments: Any) -> None:
            given = {each.name: arguments.pop(each.name, each.default) for each in added}
            options = {key(name): None if value is False or value == [] else value for name, value in given.items()}
            command(**arguments, options=options)

        parameters: list[inspect.Parameter] = []
        for own in inspect.signature(command).parameters.values():
            parameters += added if own.name == "options" else [own.replace(kind=inspect.Parameter.KEYWORD_ONLY)]
        call.__name__, call.__doc__, call.__module__ = command.__name__, command.__doc__, command.__module__
        call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        call.__annotations__ = {each.name: each.annotation for each in parameters}
        return call

    return changed


def examples_of(packages: Sequence[str], group: str) -> str:
    """The examples of the commands of packages, one per line, with what they do."""
    found = []
    for each in commands_of(*packages):
        if each.example:
            line, what = f"  {group} {each.example}", each.short[0].lower() + each.short[1:].rstrip(".")
            found.append(f"{line:<{WIDTH}}  {what}" if len(line) <= WIDTH else line)
    return "\n".join(found)
