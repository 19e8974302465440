"""A command is one function in one place: the group's list, its order and its example follow."""

import inspect
from collections.abc import Iterator
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from treeplex.holdem.cli.main import PACKAGES as HOLDEM
from treeplex.run.cli.main import PACKAGES, app
from treeplex.run.cli.shared.commands import (
    _COMMANDS,
    SCREEN_LINES,
    Command,
    abbreviated,
    add_commands,
    command,
    commands_of,
    examples_of,
)


def say_hello(name: Annotated[str, typer.Option(help="Whom to greet.")] = "world") -> None:
    """Say hello, politely."""
    typer.echo(f"hello {name}")


@pytest.fixture
def hello() -> Iterator[None]:
    """The command, as if it stood in a file beside the others."""
    say_hello.__module__ = f"{PACKAGES[0]}.hello"
    command("Say hello.", place=35, example="say-hello --name you")(say_hello)
    yield
    _COMMANDS[PACKAGES[0]][:] = [each for each in _COMMANDS[PACKAGES[0]] if each.function is not say_hello]


def test_a_command_is_one_function(hello: None) -> None:
    group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
    add_commands(group, *PACKAGES)
    assert CliRunner().invoke(group, ["say-hello", "--name", "you"]).output == "hello you\n"
    listed = CliRunner().invoke(group, ["--help"]).output
    assert listed.index("info ") < listed.index("say-hello   Say hello.") < listed.index("solve ")
    assert "  treeplex say-hello --name you" in examples_of(PACKAGES, "treeplex")
    assert "Whom to greet." in CliRunner().invoke(group, ["say-hello", "--help"]).output


def test_every_command_has_a_place_of_its_own() -> None:
    for packages in (PACKAGES, HOLDEM):
        places = [each.place for each in commands_of(*packages)]
        assert len(set(places)) == len(places) > 5


def test_the_help_of_a_group_has_the_examples_of_its_commands() -> None:
    text = " ".join(CliRunner().invoke(app, ["--help"]).output.split())
    for each in commands_of(*PACKAGES):
        assert each.short in text
        assert not each.example or f"treeplex {each.example}" in text


@pytest.mark.parametrize(
    "words",
    [
        *(pytest.param((each.name,), id=each.name) for each in commands_of(*PACKAGES)),
        *(pytest.param(("holdem", each.name), id=f"holdem {each.name}") for each in commands_of(*HOLDEM)),
    ],
)
def test_help_fits_one_screen_and_names_its_complete_form(words: tuple[str, ...]) -> None:
    narrow = {"COLUMNS": "80"}
    brief = CliRunner().invoke(app, [*words, "--help"], env=narrow, terminal_width=80).output
    assert len(brief.splitlines()) <= SCREEN_LINES
    if "--help-all" in brief:
        complete = CliRunner().invoke(app, [*words, "--help-all"], env=narrow, terminal_width=80).output
        assert len(complete) > len(brief)
        assert "described by --help-all" not in complete


@pytest.mark.parametrize("each", [*commands_of(*PACKAGES), *commands_of(*HOLDEM)], ids=lambda each: each.name)
def test_help_has_no_spaces_inside_sentences(each: Command) -> None:
    """An indented line of a paragraph would print its indent in the middle of a line."""
    for paragraph in inspect.cleandoc(each.function.__doc__ or "").split("\n\n"):
        assert "\b" in paragraph or "  " not in paragraph


def test_abbreviated_options_fit_one_line() -> None:
    names = ["--board CARDS", "-n, --iterations N", "--progress / --no-progress"]
    assert abbreviated(names, 80) == "--board, --iterations, --progress"
    assert abbreviated(names, 30) == "--board and 2 more"
