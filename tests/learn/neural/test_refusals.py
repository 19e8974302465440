"""What learners cannot do is one clear line, and what they had learned before stays."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import treeplex as tp
from treeplex.errors import AlgorithmError, GameError, PolicyError, TreeplexError

pytest.importorskip("torch")
SMALL = {"width": 8, "layers": 1, "steps": 2}
MIXED = "matrix(rows=[[2,0],[0,1]],second=[[1,0],[0,2]])"
THREE = "kuhn_poker(players=3)"
DEEP_CFR = {**SMALL, "walks": 10, "fits": 5, "average_fits": 5}


@pytest.mark.parametrize(
    ("name", "game", "settings", "error", "message"),
    [
        (
            "ppo",
            "kuhn_poker",
            {"features": "tensor"},
            GameError,
            "no information_state_tensor; use features=words",
        ),
        *(
            (
                name,
                "kuhn_poker",
                {kept: 10**13, "rules": rules},
                AlgorithmError,
                rf"a buffer of 10,000,.* rows .* keep fewer rows \(--set {kept}=",
            )
            for name, kept, rules in [
                ("deep-cfr", "memory", False),
                ("nfsp", "memory", False),
                ("nfsp", "memory", True),
                ("nfsp", "reservoir", True),
                ("armac", "memory", False),
                ("dream", "critic_memory", False),
                ("dream", "critic_memory", True),
            ]
        ),
        ("coma", "kuhn_poker", {}, AlgorithmError, "does not give all players the same payoff"),
        (
            "coma",
            "openspiel:tiny_hanabi",
            {"rules": True},
            AlgorithmError,
            "Coma needs all histories; use deep-cfr, nfsp or ppo",
        ),
    ],
)
def test_it_is_said_before_anything_is_written(
    name: str, game: str, settings: dict[str, Any], error: type[TreeplexError], message: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=message) as raised:
        tp.train(game, name, settings={"steps": 2, **settings}, out=tmp_path / "run")
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "run" / "run.json").exists()


def test_a_network_for_another_game_is_refused(tmp_path: Path) -> None:
    tp.train("kuhn_poker", "ppo", settings={**SMALL, "batch": 4, "rules": True}, out=tmp_path / "run")
    with pytest.raises(PolicyError, match="this is a policy for kuhn_poker, not for leduc_poker; train one for this game"):
        tp.exploitability("leduc_poker", tmp_path / "run")


@pytest.mark.parametrize("rules", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_losses_that_are_no_numbers_end_a_training_and_the_last_checkpoint_stays(rules: bool, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    tp.train("kuhn_poker", "deep-cfr", settings={**DEEP_CFR, "rules": rules}, out=folder)
    before = tp.exploitability("kuhn_poker", folder)
    with np.errstate(all="ignore"), pytest.raises(AlgorithmError, match=r"the loss is (nan|inf); set a smaller rate"):
        tp.train(resume=folder, settings={"steps": 9, "rate": 1e30})
    assert tp.exploitability("kuhn_poker", folder) == before
    again = tp.train(resume=folder, settings={"steps": 3, "rate": 0.001})
    assert again.records[-1].done == 3


@pytest.mark.slow
def test_plain_gradients_are_defined_for_any_players(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each player follows its own gradient; what three come to is no equilibrium in general, which a line says."""
    training = tp.train(THREE, "qpg", settings={**SMALL, "batch": 8}, out=tmp_path / "run")
    assert np.isfinite(training.records[-1].measures["exploitability"])
    assert "kuhn_poker(players=3) has 3 players: each player learns independently" in capsys.readouterr().err
    tp.train("kuhn_poker", "rpg", settings={**SMALL, "batch": 8}, out=tmp_path / "two")
    assert not capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "game"),
    [
        ("r-nad", THREE),
        ("rpg", THREE),
        ("rpg", MIXED),
        ("rmpg", THREE),
        ("armac", THREE),
        ("escher", MIXED),
        ("deep-cfr", THREE),
    ],
)
def test_learners_for_two_players_say_so_in_one_line(
    name: str, game: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = "needs two players" if name == "deep-cfr" else "supports only two-player games with constant-sum payoffs"
    with pytest.raises(AlgorithmError, match=words) as raised:
        tp.train(game, name, settings={"steps": 1}, out=tmp_path / "run")
    assert "\n" not in str(raised.value)
    assert not capsys.readouterr().err
