"""``treeplex show`` and ``export`` of what trainings play: the folder names the game."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

pytest.importorskip("torch")

import treeplex as tp
from treeplex.base.storage.tensors import tensor, write_tensors
from treeplex.errors import FileError, PolicyError, SpecError
from treeplex.holdem.blueprint.policy import BLUEPRINT, FORMAT, VERSION
from treeplex.learn.rebel.training.job import REBEL, TURNS
from treeplex.run.cli.main import app
from treeplex.run.cli.policy import loaded_policy
from treeplex.run.job.folder import JobFolder, JobKind

HANDS = {"updates": 1, "hands": 16, "checked": 30, "match": 4}


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


@pytest.mark.slow_cases("alphaholdem-settings0")
@pytest.mark.parametrize(
    ("learner", "settings"),
    [("alphaholdem", HANDS), ("best-response", {"against": "uniform", "steps": 2, "batch": 64, "hands": 60})],
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
    with pytest.raises(SpecError, match=r"agent search can play several games; name one \(--game\)"):
        loaded_policy("search", None)


def test_turns_of_holdem_have_no_table(tmp_path: Path) -> None:
    folder = folder_of(TURNS, tmp_path / "turns", {"board": "As7d2cKh"})
    with pytest.raises(SpecError, match="turns is a network for turn endgames of hold'em, whose infosets are not enumerated"):
        loaded_policy(str(folder), None)


def test_no_file_is_read_because_a_folder_names_it(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("raise SystemExit('it ran')\n")
    folder = folder_of(REBEL, tmp_path / "run", f"{tmp_path / 'mine.py'}:Mine")
    with pytest.raises(FileError, match="never loaded automatically"):
        loaded_policy(str(folder), None)


def blueprint_of(game: str, path: Path) -> Path:
    """A file that says it is a blueprint of a game, and holds nothing."""
    about = {"format": FORMAT, "version": str(VERSION), "game": game, "buckets": "{}", "identity": "", "card": "{}"}
    write_tensors(path, about, {"shares": tensor(np.zeros(1, np.uint8))})
    return path


@pytest.mark.parametrize("command", [("show",), ("export", "out.csv")])
def test_the_blueprint_of_a_whole_deck_names_its_charts(command: tuple[str, ...], tmp_path: Path) -> None:
    file = blueprint_of("holdem(stack=100,sizes=[a])", tmp_path / BLUEPRINT)
    for place in (file, tmp_path):
        result = CliRunner().invoke(app, [command[0], str(place), *command[1:]])
        assert result.exit_code == 2
        said = f"error: {place} is a blueprint of holdem(stack=100,sizes=[a]), whose infosets are too many to list; "
        assert result.stderr == f"{said}treeplex holdem preflop {place} shows its preflop policy\n"


@pytest.mark.slow
def test_the_blueprint_of_a_small_deck_is_shown_where_its_game_can_be_listed(tmp_path: Path) -> None:
    game = "holdem(stack=4,ranks=3,suits=2,hole=1,deal=[0;1],sizes=[a])"
    tp.train(game, "blueprint", settings={"boards": 5, "deals": 2, "buckets": ()}, out=tmp_path / "run")
    shown = json.loads(call("show", tmp_path / "run", "--json", "--limit", 0))
    assert shown == json.loads(call("show", tmp_path / "run" / BLUEPRINT, "--json", "--limit", 0))
    file = blueprint_of("holdem(ranks=5,suits=2,stack=40)", tmp_path / "other.safetensors")
    with pytest.raises(SpecError, match=r"too many to list; treeplex play .holdem\(.* --against .* plays against it"):
        loaded_policy(str(file), None)


def test_uniform_play_is_written_and_the_file_is_named(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["export", "uniform", str(tmp_path / "even"), "--game", "kuhn_poker"])
    assert done.output.strip() == f"wrote {tmp_path / 'even.safetensors'}"
    assert tp.load_policy(tmp_path / "even.safetensors").at(0) == {0: 0.5, 1: 0.5}


def test_what_is_wrong_with_a_policy_file_is_said(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("player,infostate,action,probability\n7,0,Pass,1\n", "utf-8")
    with pytest.raises(PolicyError, match="'0' of player 7; its infostates look like '0' of player 0"):
        loaded_policy(str(table), "kuhn_poker")
    spot = tmp_path / "cut.spot"
    spot.write_bytes(b"")
    with pytest.raises(FileError, match="treeplex show"):
        loaded_policy(str(spot), "kuhn_poker")
