"""``treeplex show`` and ``export`` of what trainings play: the folder names the game."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

pytest.importorskip("torch")

import treeplex as tp
from treeplex.errors import FileError, SpecError
from treeplex.play.cli.main import app
from treeplex.play.cli.policy import trained_on
from treeplex.runs.job.folder import JobFolder, JobKind
from treeplex.runs.rebel.job import REBEL, TURNS

HANDS = {"updates": 1, "hands": 16, "checked": 16, "match": 4}


def call(*arguments: object) -> str:
    """Run ``treeplex``; return what it printed on stdout."""
    result = CliRunner().invoke(app, [*map(str, arguments)])
    assert result.exit_code == 0, (arguments, result.output, result.exception)
    return result.stdout


def folder_of(kind: JobKind, path: Path, game: object) -> Path:
    """A folder in which nothing but the game of a training stands."""
    about = {"learner": "rebel", "game": game, "identity": "", "settings": {}}
    JobFolder(kind, path).make()
    JobFolder(kind, path).describe(about, status="finished", records=())
    return path


@pytest.mark.parametrize(
    ("learner", "settings"), [("alphaholdem", HANDS), ("best-response", {"against": "uniform", "episodes": 50, "hands": 16})]
)
def test_the_game_of_a_training_need_not_be_named(tmp_path: Path, learner: str, settings: dict[str, object]) -> None:
    folder, table = tmp_path / "run", tmp_path / "table.json"
    tp.train("kuhn_poker", learner, settings=settings, out=folder)
    shown = json.loads(call("show", folder, "--json"))
    assert len(shown) == 12
    assert shown == json.loads(call("show", folder, "--game", "kuhn_poker", "--json"))
    call("export", folder, table)
    assert json.loads(call("show", table, "--json")) == shown


def test_an_agent_by_name_needs_a_game() -> None:
    with pytest.raises(SpecError, match=r"search is an agent; name the game that it plays as well \(--game\)"):
        trained_on("search")


def test_turns_of_holdem_have_no_table(tmp_path: Path) -> None:
    folder = folder_of(TURNS, tmp_path / "turns", {"board": "As7d2cKh"})
    with pytest.raises(
        SpecError, match="turns plays turns of hold'em, whose infosets are not enumerated; treeplex holdem search"
    ):
        trained_on(str(folder))


def test_no_file_is_read_because_a_folder_names_it(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("raise SystemExit('it ran')\n")
    folder = folder_of(REBEL, tmp_path / "run", f"{tmp_path / 'mine.py'}:Mine")
    with pytest.raises(FileError, match="neither read nor run"):
        trained_on(str(folder))
