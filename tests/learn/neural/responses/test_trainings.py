"""Learners by responses as trainings: by name, resumed bit for bit, judged, refused where they are not defined."""

from pathlib import Path
from typing import Any

import pytest

import treeplex as tp
from treeplex.errors import AlgorithmError
from treeplex.learn.train.learner_job import LIBRARY
from treeplex.run.job.folder import JobFolder

pytest.importorskip("torch")
SMALL: dict[str, dict[str, Any]] = {
    "armac": {"plays": 50, "fits": 2, "critic_fits": 2, "critic_rounds": 2, "memory": 60, "past": 2, "critic_memory": 200},
    "ned": {},
    "nfsp": {"plays": 50, "fits": 2, "memory": 150, "refresh": 2},
    "psro": {"oracle": "learned", "plays": 50, "batches": 2, "fits": 2},
    "rcfr": {"fits": 2, "bootstrap": True},
}


def arrays(folder: Path) -> dict[str, bytes]:
    with JobFolder(LIBRARY, folder).state() as file:
        return {name: array.tobytes() for name, array in file.items()}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "approximator"), [*((name, "network") for name in SMALL), ("nfsp", "table"), ("ned", "table")]
)
def test_all_of_them_resume_bit_for_bit(name: str, approximator: str, tmp_path: Path) -> None:
    settings = {**SMALL[name], "approximator": approximator}
    if approximator == "network":
        settings |= {"width": 8, "layers": 1}
    whole = tp.train("kuhn_poker", name, settings={**settings, "steps": 5}, out=tmp_path / "whole")
    tp.train("kuhn_poker", name, settings={**settings, "steps": 2}, out=tmp_path / "part")
    resumed = tp.train(resume=tmp_path / "part", settings={"steps": 5})
    assert arrays(tmp_path / "part") == arrays(tmp_path / "whole")
    assert [(each.done, each.numbers) for each in resumed.records] == [(each.done, each.numbers) for each in whole.records]
    last = whole.records[-1].measures
    assert tp.exploitability("kuhn_poker", tmp_path / "whole") == pytest.approx(last["exploitability"])
    assert {"nodes", "episodes"} <= last.keys()


@pytest.mark.slow
def test_pools_of_three_players_are_mixed_by_replicator_dynamics(tmp_path: Path) -> None:
    training = tp.train("kuhn_poker(players=3)", "psro", settings={"steps": 2, "meta": "prd"}, out=tmp_path / "three")
    assert training.records[-1].measures["exploitability"] < training.records[0].measures["exploitability"]


@pytest.mark.parametrize("name", ["armac", "ned"])
def test_more_than_two_players_are_refused_in_a_line(name: str, tmp_path: Path) -> None:
    with pytest.raises(AlgorithmError, match=f"{name} supports only two-player games with constant-sum payoffs"):
        tp.train("kuhn_poker(players=3)", name, out=tmp_path / "run")
    assert not (tmp_path / "run" / "run.json").exists()
