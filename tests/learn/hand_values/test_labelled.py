"""Files of solved situations: what is read is what was solved, training uses it in order, and wrong files are refused."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from treeplex.errors import FileError, SpecError  # noqa: E402
from treeplex.learn.common.situations import SituationTrainer  # noqa: E402
from treeplex.learn.hand_values.label import label  # noqa: E402
from treeplex.learn.hand_values.labelled import Labelled, read_labelled  # noqa: E402
from treeplex.learn.hand_values.settings import HandValueSettings  # noqa: E402
from treeplex.learn.hand_values.situations import draw  # noqa: E402
from treeplex.learn.hand_values.source import HandSource  # noqa: E402

torch.set_num_threads(1)

RIVER = HandValueSettings(street="river", iterations=4, situations=3, width=8, layers=1, sampled=16, burn_in=16, batch=16)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of three rivers."""
    path = tmp_path_factory.mktemp("labelled") / "rivers.safetensors"
    watched: list[int] = []
    found = label(path, RIVER, lambda done, seconds: watched.append(done))
    assert (len(found), watched) == (3, [1, 2, 3])
    return path


def test_situations_are_those_that_were_solved(file: Path) -> None:
    found, solved = read_labelled(file), draw(RIVER, np.random.default_rng((RIVER.seed, 0)))
    again = found.situation(0)
    assert found.street == "river"
    assert again.board.cards == solved.board.cards
    assert again.stack == solved.stack
    np.testing.assert_allclose(again.reach, solved.reach, rtol=2e-3, atol=1e-7)
    np.testing.assert_allclose(again.worth, solved.worth, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(again.equity, solved.equity, atol=2e-3)
    assert float(np.abs(solved.worth - (solved.equity - 0.5)).max()) > 0.05


def test_ranges_of_some_hands_are_kept(tmp_path: Path) -> None:
    settings = replace(RIVER, hands=30, situations=2)
    found = label(tmp_path / "few.safetensors", settings)
    solved = draw(settings, np.random.default_rng((RIVER.seed, 0)))
    again = read_labelled(tmp_path / "few.safetensors").situation(0)
    assert found.reach.shape[2] == 1081
    assert again.board.held.tolist() == solved.board.held.tolist()
    held = solved.reach[:, solved.board.held] > 0
    np.testing.assert_allclose(again.worth[held], solved.worth[held], rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(again.equity, solved.equity, atol=2e-3)


def test_a_file_is_continued(file: Path, tmp_path: Path) -> None:
    longer = tmp_path / "longer.safetensors"
    longer.write_bytes(file.read_bytes())
    found = label(longer, replace(RIVER, situations=4))
    assert len(found) == 4
    assert np.array_equal(found.worth[:3], read_labelled(file).worth)
    assert len({tuple(cards) for cards in found.cards.tolist()}) == 4


def test_training_uses_each_situation_once(file: Path) -> None:
    settings, found = replace(RIVER, labels=str(file), held_out=0.0), read_labelled(file)
    trainer = SituationTrainer(HandSource(settings))
    for number in range(3):
        trainer.round()
        inputs = trainer.fitting.rows.ordered()[0]
        assert len(inputs) == (number + 1) * 2 * settings.sampled
        expected = found.situation(number).rows(0)
        assert (inputs[-2 * settings.sampled][None] == expected).all(axis=1).any()


def test_wrong_files_are_refused(file: Path, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="no such file of situations"):
        HandSource(replace(RIVER, labels="sloves"))
    with pytest.raises(SpecError, match="situations of the river"):
        HandSource(replace(RIVER, street="turn", labels=str(file)))
    with pytest.raises(SpecError, match="choose another file"):
        label(file, replace(RIVER, street="turn"))
    with pytest.raises(SpecError, match="solved with iterations=4, not 8; choose another file"):
        label(file, replace(RIVER, iterations=8))
    with pytest.raises(SpecError, match="solved with bets=100%,a, not a; set bets to the former"):
        HandSource(replace(RIVER, bets="a", labels=str(file)))
    with pytest.raises(SpecError, match="has 3 situations, but situations is 4; lower it"):
        HandSource(replace(RIVER, situations=4, labels=str(file)))
    with pytest.raises(SpecError, match="leave out labels"):
        label(tmp_path / "new", replace(RIVER, labels="network"))
    with pytest.raises(SpecError, match="situations of the full deck; leave out format"):
        label(tmp_path / "new", replace(RIVER, format="royal"))
    damaged = tmp_path / "damaged.safetensors"
    damaged.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(FileError, match="truncated"):
        read_labelled(damaged)
    found = read_labelled(file)
    Labelled(found.cards, found.stacks, found.reach[:, :, 1:], found.worth[:, :, 1:], found.solved).save(damaged)
    with pytest.raises(FileError, match="no solved situations"):
        read_labelled(damaged)
