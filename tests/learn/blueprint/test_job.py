"""What a blueprint cannot be made of is refused before buckets are made, and leaves nothing."""

import pytest

import treeplex as tp
from treeplex.errors import SpecError
from treeplex.holdem.blueprint import solver as blueprint
from treeplex.learn.blueprint import job
from treeplex.learn.blueprint.settings import BlueprintTraining

SETTINGS = {"buckets": (6, 4, 4, 3), "method": "kmeans", "boards": 10}


def made(*given):
    raise AssertionError("buckets were made")


@pytest.mark.parametrize("stack", ["1", "[8;1]"])
def test_a_stack_below_the_blinds(stack, tmp_path, monkeypatch):
    monkeypatch.setattr(job, "bucket_rows_of", made)
    with pytest.raises(SpecError, match="no player has a decision"):
        tp.train(f"holdem(ranks=5,suits=2,stack={stack},sizes=[a])", "blueprint", settings=SETTINGS, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_more_tables_than_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(job, "bucket_rows_of", made)
    monkeypatch.setattr(blueprint, "available_memory", lambda: 15_000)
    with pytest.raises(SpecError, match=r"with 6/4/4/3 buckets or hands takes at least .* 0\.01 MB are free"):
        tp.train("holdem(ranks=5,suits=2,stack=20,sizes=[a])", "blueprint", settings=SETTINGS, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_no_buckets_are_written_as_none():
    assert BlueprintTraining(**BlueprintTraining.read_changes({"buckets": "none"})).buckets == ()
    with pytest.raises(SpecError, match=r"recall=true, .*; use percentile or kmeans"):
        BlueprintTraining(recall=True)
