"""Commands: functions decorated with :func:`command` in any file of a command package."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from importlib import import_module
from inspect import cleandoc
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, get_args

import typer
from typer.core import TyperCommand

from treeplex.base.spec import quoted
from treeplex.base.wings import named, provided
from treeplex.errors import SpecError
from treeplex.run.cli.shared.failures import Commands

Function = TypeVar("Function", bound=Callable[..., Any])
WIDTH = 54
"""Columns of an example in a group's help; longer examples have no description."""
SCREEN_LINES = 45
"""Lines of ``--help``; longer helps abbreviate their last groups of options."""
ALL_HELP = "treeplex.all_help"
"""Key of ``ctx.meta`` that is true for the complete help."""
FOLDED = "treeplex.folded_panels"
"""Key of ``ctx.meta``: number of option groups, from the end, that the help abbreviates."""


class GroupedCommand(TyperCommand):
    """A command whose help has one section per group of options and fits one screen.

    ``--help-all`` also shows the part of the docstring after a form feed, and the groups that ``--help`` abbreviates.
    """

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, with ``--help-all`` if ``--help`` may be abbreviated."""
        params = list(super().get_params(ctx))
        if "\f" in (self.help or "") or any(getattr(param, "rich_help_panel", None) for param in params):
            option: Any = copy(self.get_help_option(ctx))
            option.name, option.opts, option.callback = "help_all", ["--help-all"], show_all_help
            option.help = "Show all options and details."
            params.append(option)
        return params

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help; abbreviate the last groups of options until it fits one screen, except for ``--help-all``."""
        ctx.meta[FOLDED] = 0
        if not ctx.meta.get(ALL_HELP):
            for folded in range(len(self.panels(ctx)) + 1):
                ctx.meta[FOLDED] = folded
                draft = ctx.make_formatter()
                super().format_help(ctx, draft)
                if len(draft.getvalue().splitlines()) <= SCREEN_LINES:
                    break
        super().format_help(ctx, formatter)

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        """Write the docstring up to the form feed, or all of it for ``--help-all``."""
        brief, _, details = cleandoc(self.help or "").partition("\f")
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(brief.strip())
            if details and ctx.meta.get(ALL_HELP):
                formatter.write_paragraph()
                formatter.write_text(details.strip())

    def panels(self, ctx: Any) -> list[str]:
        """Return the headings of groups other than arguments and general options, in order."""
        headings = (getattr(param, "rich_help_panel", None) for param in self.get_params(ctx))
        return list(dict.fromkeys(heading for heading in headings if heading))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments and options, one section per group."""
        groups: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for param in self.get_params(ctx):
            if (row := param.get_help_record(ctx)) is not None:
                usual = "Arguments" if param.param_type_name == "argument" else "Options"
                groups.setdefault(getattr(param, "rich_help_panel", None) or usual, []).append(row)
        panels = self.panels(ctx)
        folded = panels[len(panels) - ctx.meta.get(FOLDED, 0) :]
        for heading, rows in groups.items():
            if heading in folded:
                with formatter.section(f"{heading} (described by --help-all)"):
                    formatter.write_text(abbreviated([names for names, _ in rows], formatter.width - 4))
            elif rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)


def show_all_help(ctx: Any, param: Any, wanted: bool) -> None:
    """Print the complete help and exit."""
    if wanted and not ctx.resilient_parsing:
        ctx.meta[ALL_HELP] = True
        typer.echo(ctx.get_help())
        raise typer.Exit


def abbreviated(names: Sequence[str], width: int) -> str:
    """Return the option names that fit into one line, and the number of the others."""
    flags = [next(word for word in name.split() if word.startswith("--")) for name in names]
    for count in range(len(flags), 0, -1):
        more = f" and {len(flags) - count} more" if count < len(flags) else ""
        line = ", ".join(flags[:count]) + more
        if len(line) <= width:
            break
    return line


@dataclass(frozen=True)
class Command:
    """A command.

    Attributes:
        function: the implementation; its parameters are the options, its docstring is the help.
        name: the name on the command line.
        short: a one-line description for the group's help.
        place: sort key within its group.
        example: arguments of an example in the group's help; empty for none.
        cls: a custom command class.
    """

    function: Callable[..., Any]
    name: str
    short: str
    place: int
    example: str
    cls: Any


_COMMANDS: dict[str, list[Command]] = {}
"""Commands by package."""


def command(
    short: str, *, place: int, example: str = "", name: str | None = None, cls: Any = None, group: str = ""
) -> Callable[[Function], Function]:
    """Decorate a function as a command of its package's group, or of its module's group; see :class:`Command`."""

    def mark(function: Function) -> Function:
        called = name or function.__name__.replace("_", "-")
        package = function.__module__.rpartition(".")[0]
        known = _COMMANDS.setdefault(f"{package}.{group}" if group else package, [])
        known.append(Command(function, called, short, place, example, cls))
        return function

    return mark


def commands_of(*packages: str) -> list[Command]:
    """Return the commands in the files of packages, or in one module, in display order."""
    for package in packages:
        for folder in getattr(import_module(package), "__path__", ()):
            for file in sorted(Path(folder).glob("*.py")):
                if "\n@command(" in file.read_text("utf-8"):  # other files may be slow to import
                    import_module(f"{package}.{file.stem}")
    commands = [known for package in packages for known in _COMMANDS.get(package, [])]
    return sorted(commands, key=lambda known: known.place)


def add_commands(app: typer.Typer, *packages: str) -> None:
    """Add the commands of packages to a group."""
    for added in commands_of(*packages):
        app.command(added.name, short_help=added.short, cls=added.cls or GroupedCommand)(added.function)


def group_of(packages: Sequence[str], name: str, text: str) -> typer.Typer:
    """Return a group with the commands of packages and a help text."""
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
    """Decorate a command with additional options that replace its parameter ``into``.

    The command receives a mapping from option names, transformed by ``key``, to values; None for options not given.
    """

    def changed(command: Callable[..., None]) -> Callable[..., None]:
        def call(**arguments: Any) -> None:
            given = {option.name: arguments.pop(option.name, option.default) for option in added}
            options = {key(name): None if value is False or value == [] else value for name, value in given.items()}
            command(**arguments, **{into: options})

        parameters: list[inspect.Parameter] = []
        for parameter in inspect.signature(command).parameters.values():
            parameters += added if parameter.name == into else [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)]
        call.__name__, call.__doc__, call.__module__ = command.__name__, command.__doc__, command.__module__
        call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        call.__annotations__ = {option.name: option.annotation for option in parameters}
        return call

    return changed


@dataclass(frozen=True)
class WingOptions:
    """Options that a wing adds to a command of the core or a lower wing.

    Attributes:
        command: the command's name.
        parameters: the options; their panels become headings of the command's help.
        read: ``"module:name"`` of a function from the game's text (or None) and the given options to a
            :class:`GameDescription`; empty if the command itself uses the options.
    """

    command: str
    parameters: Sequence[inspect.Parameter]
    read: str = ""


def refuse_more(name: str, more: Mapping[str, Any], subject: str) -> None:
    """Check that every wing option given applies to ``subject``.

    Raises:
        SpecError: an option does not apply; the message says what it is for.
    """
    for options in wing_options(name):
        for parameter in () if options.read else options.parameters:
            if more.get(parameter.name) is not None:
                _, option = get_args(parameter.annotation)
                flag = next(iter(option.param_decls or ()), f"--{parameter.name}")
                raise SpecError(f"{flag} applies to {lowered(option.rich_help_panel)}, not to {subject}; leave it out")


def repeated(context: typer.Context, *left_out: str) -> str:
    """Return the arguments and options of the running command as given, except those named."""
    words: list[str] = []
    for parameter in context.command.get_params(context):
        name, value = str(parameter.name), context.params.get(str(parameter.name))
        if name in left_out or getattr(context.get_parameter_source(name), "name", "") != "COMMANDLINE":
            continue
        names = parameter.secondary_opts if value is False else parameter.opts
        flags = [] if parameter.param_type_name == "argument" else names[:1]
        values = value if isinstance(value, list | tuple) else [value]
        words += flags if isinstance(value, bool) else [word for item in values for word in (*flags, quoted(str(item)))]
    return " ".join(words)


def lowered(heading: str) -> str:
    """Return a heading in lower case, for use within a sentence."""
    return heading[0].lower() + heading[1:]


class GameDescription(NamedTuple):
    """A game described by command-line arguments.

    Attributes:
        game: a game for :func:`treeplex.load`.
        options: options for :func:`treeplex.solve`.
        steps: follow-up commands with their purpose; ``{}`` stands for the solution's file.
        facts: choices to show before the work, by name.
        data: the same for ``--json``.
    """

    game: Any
    options: Mapping[str, Any] = {}
    steps: Sequence[tuple[str, str]] = ()
    facts: Mapping[str, str] = {}
    data: Mapping[str, Any] = {}


def with_wing_options(name: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorate a command with the options that wings add, which replace its parameter ``more``."""
    return with_options([parameter for options in wing_options(name) for parameter in options.parameters], into="more")


def wing_options(name: str) -> list[WingOptions]:
    """Return the options that wings add to a command."""
    return [options for options in provided("options") if options.command == name]


def described(name: str, game: str | None, more: Mapping[str, Any]) -> GameDescription:
    """Return the game described by a command's argument and wing options."""
    given = {name: value for name, value in more.items() if value is not None}
    for options in wing_options(name):
        names = {parameter.name for parameter in options.parameters} | {"resume"}
        if options.read and any(parameter.name in given for parameter in options.parameters):
            description: GameDescription = named(options.read)(
                game, {key: value for key, value in given.items() if key in names}
            )
            return description
    return GameDescription(game)


def examples_of(packages: Sequence[str], group: str) -> str:
    """Return the examples of commands, one per line, with a description."""
    lines = []
    for listed in commands_of(*packages):
        if listed.example:
            line, what = f"  {group} {listed.example}", listed.short[0].lower() + listed.short[1:].rstrip(".")
            lines.append(f"{line:<{WIDTH}}  {what}" if len(line) <= WIDTH else line)
    return "\n".join(lines)
