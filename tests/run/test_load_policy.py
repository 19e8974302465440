"""``tp.load_policy`` and the judge read every folder that ``treeplex evaluate`` reads."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import treeplex as tp
from treeplex.errors import FileError
from treeplex.run.cli.main import app
from treeplex.search.match import agent_policy as agents_judge

QUICK = {"boards": 5, "deals": 2, "buckets": ()}
SMALL = "holdem(stack=4,ranks=3,suits=2,hole=1,deal=[0;1],sizes=[a])"
FOLDERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "solve": ("kuhn_poker", lambda path: tp.solve("kuhn_poker", iterations=5, out=path)),
    "sample": ("kuhn_poker", lambda path: tp.sample("kuhn_poker", iterations=5, playouts=2, out=path)),
    "best-response": (
        "kuhn_poker",
        lambda path: tp.train("kuhn_poker", "best-response", settings={"steps": 2, "batch": 64, "hands": 100}, out=path),
    ),
    "blueprint": (
        SMALL,
        lambda path: tp.train(SMALL, "blueprint", settings=QUICK, out=path),
    ),
}


@pytest.mark.quick_cases("solve")
@pytest.mark.parametrize("kind", FOLDERS)
def test_a_folder_is_worth_what_evaluate_says(kind: str, tmp_path: Path) -> None:
    game, make = FOLDERS[kind]
    folder = tmp_path / "run"
    make(folder)
    result = CliRunner().invoke(app, ["evaluate", game, str(folder), "--json"])
    assert result.exit_code == 0, result.output
    expected = json.loads(result.stdout)["exploitability"]
    policy = tp.load_policy(folder)
    assert tp.exploitability(game, policy) == pytest.approx(expected, abs=1e-12)
    assert tp.exploitability(game, folder) == pytest.approx(expected, abs=1e-12)
    assert np.array_equal(tp.load_policy(folder, game).probabilities, policy.probabilities)


def test_the_folder_of_a_network_that_searches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    monkeypatch.setattr(agents_judge, "PLAYS", 1)
    settings = {"solves": 32, "width": 8, "iterations": 4, "burn_in": 16, "episodes": 16, "batch": 16}
    tp.train("liars_dice(dice_sides=2)", "rebel", settings=settings, workers=1, judge_every=0, out=tmp_path / "run")
    before = sorted(tmp_path.rglob("*"))
    policy = tp.load_policy(tmp_path / "run")
    assert policy.game.spec == "liars_dice(dice_sides=2)"
    assert 0.0 < tp.exploitability("liars_dice(dice_sides=2)", policy) < 1.0
    assert sorted(tmp_path.rglob("*")) == before


def test_the_file_of_a_blueprint(tmp_path: Path) -> None:
    FOLDERS["blueprint"][1](tmp_path / "run")
    found = [tp.load_policy(place).probabilities for place in (tmp_path / "run", tmp_path / "run" / "blueprint.safetensors")]
    assert np.array_equal(*found)


def test_a_refined_run_is_read_as_it_was_compiled(tmp_path: Path) -> None:
    game = "goofspiel(num_cards=4,points_order=descending)"
    solution = tp.solve(game, "cfr", iterations=2, refine=True, out=tmp_path / "run")
    for given in (None, game):
        assert np.array_equal(tp.load_policy(tmp_path / "run", given).probabilities, solution.policy.probabilities)


def test_a_folder_without_a_policy(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    with pytest.raises(FileError, match="is a folder without a policy"):
        tp.load_policy(tmp_path / "run")
