"""Commands: a function with :func:`command` over it is one, in whatever file of its package it stands."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, get_args

import typer
from typer.core import TyperCommand

from treeplex.base.wings import named, provided
from treeplex.errors import SpecError
from treeplex.run.cli.shared.failures import Commands

Function = TypeVar("Function", bound=Callable[..., Any])
WIDTH = 54
"""Columns of an example in a group's help; behind longer ones nothing is said."""


class Grouped(TyperCommand):
    """A command whose help lists options under the headings of their panels."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments and options."""
        groups: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for each in self.get_params(ctx):
            if (row := each.get_help_record(ctx)) is not None:
                usual = "Arguments" if each.param_type_name == "argument" else "Options"
                groups.setdefault(getattr(each, "rich_help_panel", None) or usual, []).append(row)
        for heading, rows in ((name, each) for name, each in groups.items() if each):
            with formatter.section(heading):
                formatter.write_dl(rows)


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
        app.command(each.name, short_help=each.short, cls=each.cls or Grouped)(each.function)


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
    added: Sequence[inspect.Parameter], key: Callable[[str], str] = str, *, into: str = "options"
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command further options, in place of its parameter ``into``.

    The command gets a mapping from their names, as ``key`` changes them, to what was given; others are None.
    """

    def changed(command: Callable[..., None]) -> Callable[..., None]:
        def call(**arguments: Any) -> None:
            given = {each.name: arguments.pop(each.name, each.default) for each in added}
            options = {key(name): None if value is False or value == [] else value for name, value in given.items()}
            command(**arguments, **{into: options})

        parameters: list[inspect.Parameter] = []
        for own in inspect.signature(command).parameters.values():
            parameters += added if own.name == into else [own.replace(kind=inspect.Parameter.KEYWORD_ONLY)]
        call.__name__, call.__doc__, call.__module__ = command.__name__, command.__doc__, command.__module__
        call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        call.__annotations__ = {each.name: each.annotation for each in parameters}
        return call

    return changed


@dataclass(frozen=True)
class WingOptions:
    """Options that a wing adds to a command below it.

    Attributes:
        command: the command's name.
        parameters: the options; their panels are headings of the command's help.
        read: ``"module:name"`` of a function from the text of a game (or None) and the options given to what they
            describe, a :class:`Described`; empty where the command hands the options on.
    """

    command: str
    parameters: Sequence[inspect.Parameter]
    read: str = ""


def refuse_more(name: str, more: Mapping[str, Any], subject: str) -> None:
    """Refuse options that a command hands on to what a wing adds, where they mean nothing.

    Raises:
        SpecError: there is one; the message says what it is for.
    """
    for each in wing_options(name):
        for parameter in () if each.read else each.parameters:
            if more.get(parameter.name) is not None:
                _, option = get_args(parameter.annotation)
                flag = next(iter(option.param_decls or ()), f"--{parameter.name}")
                raise SpecError(f"{flag} is for {lowered(option.rich_help_panel)}, which {subject} is not; leave it out")


def lowered(heading: str) -> str:
    """A heading within a sentence."""
    return heading[0].lower() + heading[1:]


class Described(NamedTuple):
    """A game as a command line describes it.

    Attributes:
        game: as :func:`treeplex.load` takes it.
        options: further options of :func:`treeplex.solve`.
        steps: commands to try with a solution, each with what for; ``{}`` stands for its file.
    """

    game: Any
    options: Mapping[str, Any] = {}
    steps: Sequence[tuple[str, str]] = ()


def with_wing_options(name: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options that wings add to it, in place of its parameter ``more``: those given, by name."""
    return with_options([each for own in wing_options(name) for each in own.parameters], into="more")


def wing_options(name: str) -> list[WingOptions]:
    """What wings add to a command."""
    return [each for each in provided("options") if each.command == name]


def described(name: str, game: str | None, more: Mapping[str, Any]) -> Described:
    """The game that a command's arguments describe: its text, and the options of wings."""
    given = {name: value for name, value in more.items() if value is not None}
    for each in wing_options(name):
        own = {parameter.name for parameter in each.parameters} | {"resume"}
        if each.read and any(parameter.name in given for parameter in each.parameters):
            found: Described = named(each.read)(game, {key: value for key, value in given.items() if key in own})
            return found
    return Described(game)


def examples_of(packages: Sequence[str], group: str) -> str:
    """The examples of the commands of packages, one per line, with what they do."""
    found = []
    for each in commands_of(*packages):
        if each.example:
            line, what = f"  {group} {each.example}", each.short[0].lower() + each.short[1:].rstrip(".")
            found.append(f"{line:<{WIDTH}}  {what}" if len(line) <= WIDTH else line)
    return "\n".join(found)
