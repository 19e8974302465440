"""Trainings of networks for hands: what a folder has, and what is refused."""

import json
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

import treeplex as tp  # noqa: E402
from treeplex.errors import SpecError  # noqa: E402
from treeplex.learn.hand_values.net import NET, HandNet, read_hand_net  # noqa: E402
from treeplex.learn.rebel.files import read_net  # noqa: E402
from treeplex.learn.train.kind import CURVE  # noqa: E402

TINY = {"street": "river", "iterations": 8, "situations": 6, "width": 8, "layers": 1, "sampled": 16, "burn_in": 64, "batch": 64}


@pytest.mark.slow
def test_a_training_and_its_folder(tmp_path: Path) -> None:
    training = tp.train(None, "hand-values", settings=TINY, out=tmp_path / "net")
    records = [json.loads(line) for line in (tmp_path / "net" / "metrics.jsonl").read_text().splitlines()]
    assert records[-1]["done"] == 6
    assert records[-1]["rows"] in {32 * count for count in range(1, 7)}  # those kept for validation are not learned from
    assert records[-1]["steps"] > 0 < records[-1]["loss"]
    assert (tmp_path / "net" / CURVE).read_bytes().startswith(b"\x89PNG")
    card = read_net(tmp_path / "net" / NET, form="treeplex network for hands").card
    assert card["situations"] == 6
    net = training.kind.load(tmp_path / "net")
    assert isinstance(net, HandNet)
    assert net.street == "river" == read_hand_net(tmp_path / "net" / NET).street
    more = tp.train(resume=tmp_path / "net", settings={"situations": 8})
    assert more.records[-1].done == 8


def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="leave leduc_poker out"):
        tp.train("leduc_poker", "hand-values", settings=TINY, out=tmp_path / "net")
    with pytest.raises(SpecError, match="most_stack 1 is below least_stack 2"):
        tp.train(None, "hand-values", settings=TINY | {"least_stack": 2.0, "most_stack": 1.0}, out=tmp_path / "net")
    with pytest.raises(SpecError, match="street"):
        tp.train(None, "hand-values", settings=TINY | {"street": "preflop"}, out=tmp_path / "net")
