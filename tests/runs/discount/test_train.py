"""Training: what it writes, that it learns, that it goes on bit for bit."""

import json
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import load_file
from treeplex.runs.discount.folder import BEST, FILES, METRICS, POLICY, STATE, TRAIN, TrainFolder, TrainRecord
from treeplex.runs.discount.plot import learning_figure, short_names

import treeplex as tp
from treeplex.errors import FileError, SpecError
from treeplex.runs.discount import train as train_module
from treeplex.runs.discount.settings import GAMES, TrainSettings, settings_from
from treeplex.runs.discount.train import TrainInterrupted, train
from treeplex.solvers.rules.discount_policy_files import load_discount_policy

TINY = TrainSettings(games=("kuhn_poker",), epochs=6, population=4, horizon=20, hidden=(8,), sigma=0.5, learning_rate=0.1)


def numbers(folder):
    """All that a training found out, without seconds and dates."""
    records = [replace(record, seconds=0.0) for record in TrainFolder(folder).records()]
    state = load_file(folder / STATE)
    policies = [load_discount_policy(folder / name) for name in (POLICY, BEST)]
    cards = [{key: value for key, value in policy.card.items() if key != "seconds"} for policy in policies]
    return records, {name: array.tobytes() for name, array in state.items()}, [p.parameters.tobytes() for p in policies], cards


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    folder = tmp_path_factory.mktemp("train") / "unbroken"
    return train(TINY, out=folder, workers=1)


def test_everything_is_written(unbroken):
    assert {path.name for path in unbroken.folder.iterdir()} == set(FILES)
    about = json.loads((unbroken.folder / TRAIN).read_text())
    assert about["status"] == unbroken.status == "finished"
    assert about["last"]["epoch"] == 6
    assert about["best"]["fitness"] == max(record.fitness for record in unbroken.records)
    assert [record.epoch for record in unbroken.records] == list(range(7))
    assert TrainFolder(unbroken.folder).records() == list(unbroken.records)
    assert TrainFolder(unbroken.folder).settings() == TINY
    assert unbroken.records[0].mean is None
    assert all(record.best >= record.mean for record in unbroken.records[1:])
    assert (unbroken.folder / "learning-curve.png").read_bytes().startswith(b"\x89PNG")


def test_policies_are_what_their_cards_say(unbroken):
    best = max(unbroken.records, key=lambda record: record.fitness)
    for name, record in ((POLICY, unbroken.records[-1]), (BEST, best)):
        policy = load_discount_policy(unbroken.folder / name)
        assert policy.card["epochs"] == record.epoch
        assert policy.card["fitness"] == record.fitness
        assert policy.card["games"] == ["kuhn_poker"]
        assert policy.card["settings"]["population"] == 4
        assert policy.card["treeplex"] == tp.__version__
        solution = tp.solve("kuhn_poker", f"ddcfr(policy={unbroken.folder / name})", iterations=20)
        assert solution.exploitability == pytest.approx(policy.card["exploitability"]["kuhn_poker"], rel=1e-9)


def test_it_learns(tmp_path):
    settings = replace(TINY, epochs=30, population=10)
    training = train(settings, out=tmp_path / "run", workers=1)
    assert training.best_record.fitness > training.records[0].fitness + 0.5
    assert training.records[-1].fitness > training.records[0].fitness + 0.3


@pytest.mark.parametrize("algorithm", ["ddcfr", "dpcfr+", "pddcfr"])
def test_each_algorithm_trains(tmp_path, algorithm):
    training = train(replace(TINY, algorithm=algorithm, exponents=None, epochs=1), out=tmp_path / "run", workers=1)
    assert training.policy.base == {"ddcfr": "dcfr", "dpcfr+": "pcfr+", "pddcfr": "pdcfr"}[algorithm]
    assert not np.array_equal(training.policy.parameters, training.settings.start().parameters)


@pytest.mark.parametrize(
    "change",
    [
        {"games": ("kuhn_poker", "small_matrix"), "weights": (1.0, 2.0)},
        {"features": ("iteration",)},
        {"features": ("exploitability",)},
        {"features": ("regret", "movement")},
        {"discrete": True},
        {"exponents": ("gamma",)},
        {"holds": ()},
        {"fitness": "relative"},
        {"clipped": False},
    ],
)
def test_each_ablation_trains_and_goes_on(tmp_path, change):
    settings = replace(TINY, **change)
    whole = train(settings, out=tmp_path / "whole", workers=1)
    train(replace(settings, epochs=2), out=tmp_path / "part", workers=1)
    train(resume=tmp_path / "part", changes={"epochs": 6}, workers=1)
    assert numbers(tmp_path / "part")[:3] == numbers(whole.folder)[:3]


def test_a_broken_training_goes_on_bit_for_bit(unbroken, tmp_path):
    folder = tmp_path / "run"

    def stop(state):
        if state.last.epoch == 3:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(TrainInterrupted) as stopped:
        train(TINY, out=folder, workers=1, progress=stop)
    assert stopped.value.training.records[-1].epoch == 3
    assert json.loads((folder / TRAIN).read_text())["status"] == "interrupted"
    resumed = train(resume=folder, workers=1)
    assert resumed.status == "finished"
    assert numbers(folder) == numbers(unbroken.folder)
    assert (resumed.policy.parameters == unbroken.policy.parameters).all()


class PressedLater:
    """In place of Interrupt: Ctrl-C is pressed before the twentieth look, which is within an epoch."""

    looks = 0

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None

    @property
    def requested(self):
        self.looks += 1
        return self.looks >= 20


def test_ctrl_c_within_an_epoch_drops_that_epoch(unbroken, tmp_path, monkeypatch):
    folder = tmp_path / "run"
    monkeypatch.setattr(train_module, "Interrupt", PressedLater)
    with pytest.raises(TrainInterrupted) as stopped:
        train(TINY, out=folder, workers=1)
    assert 0 < stopped.value.training.records[-1].epoch < 6
    monkeypatch.undo()
    train(resume=folder, workers=1)
    assert numbers(folder) == numbers(unbroken.folder)


def test_workers_change_nothing(unbroken, tmp_path):
    train(TINY, out=tmp_path / "run", workers=2)
    assert numbers(tmp_path / "run") == numbers(unbroken.folder)


def test_a_killed_training_goes_on_from_its_checkpoint(unbroken, tmp_path):
    folder = tmp_path / "run"
    code = (
        "from treeplex.runs.discount import train; from treeplex.runs.discount.settings import TrainSettings\n"
        "train.CHECKPOINT_SECONDS = 0.05\n"
        f"train.train(TrainSettings(**{ {**TINY.to_json(), 'epochs': 100_000}!r}), out={str(folder)!r}, workers=1)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code])
    try:
        deadline = time.monotonic() + 120
        while not (folder / STATE).exists() or TrainFolder(folder).state().iteration < 60:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
    finally:
        process.kill()
        process.wait()
    epochs = TrainFolder(folder).state().iteration
    assert 0 < epochs < 100_000
    train(resume=folder, changes={"epochs": epochs + 5}, workers=1)
    whole = train(replace(TINY, epochs=epochs + 5), out=tmp_path / "whole", workers=1)
    assert numbers(folder)[:3] == numbers(whole.folder)[:3]
    assert not [path for path in folder.iterdir() if path.name not in FILES and not path.name.endswith(".tmp")]


@pytest.mark.parametrize("first", [2, 5])
def test_more_epochs_continue_a_finished_training(unbroken, tmp_path, first):
    assert 2 < unbroken.best_record.epoch < 5
    folder = tmp_path / "run"
    train(replace(TINY, epochs=first), out=folder, workers=1)
    train(resume=folder, changes={"epochs": 6}, workers=1)
    assert numbers(folder)[:3] == numbers(unbroken.folder)[:3]
    assert TrainFolder(folder).settings() == TINY


def test_a_training_stopped_before_its_first_epoch_starts_again(unbroken, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(unbroken.folder, folder)
    for name in (METRICS, POLICY, BEST, STATE):
        (folder / name).unlink()
    about = json.loads((folder / TRAIN).read_text())
    (folder / TRAIN).write_text(json.dumps(about | {"last": None, "best": None}))
    train(resume=folder, workers=1)
    assert numbers(folder) == numbers(unbroken.folder)


def test_a_folder_with_another_training_is_kept(unbroken):
    before = (unbroken.folder / METRICS).read_bytes()
    with pytest.raises(FileError, match=r"--resume.*the training in it.*--force"):
        train(TINY, out=unbroken.folder, workers=1)
    assert (unbroken.folder / METRICS).read_bytes() == before


def test_a_folder_with_something_else_is_kept(tmp_path):
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(FileError, match="not empty"):
        train(TINY, out=tmp_path, workers=1)
    train(replace(TINY, epochs=1), out=tmp_path, force=True, workers=1)
    assert (tmp_path / "letter.txt").read_text() == "dear"


@pytest.mark.parametrize(
    "change", [{"sigma": 0.1}, {"games": ("leduc_poker",)}, {"seed": 1}, {"algorithm": "pddcfr"}, {"features": ("iteration",)}]
)
def test_resuming_with_other_settings_is_refused(unbroken, change):
    with pytest.raises(SpecError, match=f"trains with {next(iter(change))}"):
        train(resume=unbroken.folder, changes=change, workers=1)


def test_a_game_of_ones_own_is_named_again(tmp_path):
    (tmp_path / "mine.py").write_text("import treeplex as tp\n\n\ndef game():\n    return tp.load('kuhn_poker')\n")
    games = (f"{tmp_path}/mine.py:game",)
    train(replace(TINY, games=games, epochs=1), out=tmp_path / "run", workers=1)
    with pytest.raises(FileError, match="code is not run on reading a folder"):
        train(resume=tmp_path / "run", changes={"epochs": 2}, workers=1)
    assert train(resume=tmp_path / "run", changes={"epochs": 2, "games": games}, workers=1).records[-1].epoch == 2


def test_fewer_epochs_than_done_are_refused(unbroken):
    with pytest.raises(SpecError, match="6 epochs already"):
        train(resume=unbroken.folder, changes={"epochs": 5}, workers=1)


@pytest.mark.parametrize(
    ("name", "damage", "part"),
    [
        (TRAIN, lambda data: data[:50], "truncated"),
        (TRAIN, lambda data: b'{"format": "treeplex run"}', "not written by treeplex train"),
        (TRAIN, lambda data: data.replace(b'"version": 1', b'"version": 9'), "format version 9"),
        (TRAIN, lambda data: data.replace(b'"sigma"', b'"sigmoid"'), "cannot be read"),
        (TRAIN, lambda data: data.replace(b'"population": 4', b'"population": 5'), "even"),
        (STATE, lambda data: data[:-8], "truncated"),
        (STATE, lambda data: data[:-8] + b"abcdefgh", "checksum"),
        (METRICS, lambda data: data[:200], "line|truncated"),
        (METRICS, lambda data: data.replace(b'"epoch": 2', b'"epoch": 3'), "truncated or changed"),
        (METRICS, lambda data: data.replace(b'"fitness"', b'"fatness"'), "line 1"),
    ],
)
def test_damaged_files_are_named(unbroken, tmp_path, name, damage, part):
    folder = tmp_path / "run"
    shutil.copytree(unbroken.folder, folder)
    (folder / name).write_bytes(damage((folder / name).read_bytes()))
    with pytest.raises(FileError, match=part) as raised:
        train(resume=folder, changes={"epochs": 8}, workers=1)
    assert name in str(raised.value)


def test_a_missing_state_is_said(unbroken, tmp_path):
    shutil.copytree(unbroken.folder, tmp_path / "run")
    (tmp_path / "run" / STATE).unlink()
    with pytest.raises(FileError, match="cannot be resumed"):
        train(resume=tmp_path / "run", workers=1)


def test_the_state_of_another_network_is_refused(unbroken, tmp_path):
    shutil.copytree(unbroken.folder, tmp_path / "run")
    train(replace(TINY, hidden=(9,)), out=tmp_path / "other", workers=1)
    shutil.copy(tmp_path / "other" / STATE, tmp_path / "run" / STATE)
    with pytest.raises(FileError, match="not a state of ddcfr"):
        train(resume=tmp_path / "run", workers=1)


def test_changed_rules_are_noticed(unbroken, tmp_path):
    shutil.copytree(unbroken.folder, tmp_path / "run")
    path = tmp_path / "run" / TRAIN
    about = json.loads(path.read_text())
    path.write_text(json.dumps(about | {"identities": ["0000000000000000"]}))
    with pytest.raises(FileError, match="rules of its games changed"):
        train(resume=tmp_path / "run", workers=1)


def test_a_line_without_its_end_does_not_count(unbroken, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(unbroken.folder, folder)
    with (folder / METRICS).open("a") as file:
        file.write('{"epoch": 7, "fitn')
    train(resume=folder, changes={"epochs": 8}, workers=1)
    assert [record.epoch for record in TrainFolder(folder).records()] == list(range(9))


@pytest.mark.parametrize(
    ("wrong", "part"),
    [
        ({"algorithm": "dcfr"}, "cannot train 'dcfr'; did you mean 'ddcfr'"),
        ({"optimizer": "sgd"}, "unknown optimizer 'sgd'"),
        ({"epochs": 0}, "epochs"),
        ({"horizon": 0}, "horizon"),
        ({"population": 5}, "population must be even"),
        ({"features": ("iterations",)}, "did you mean 'iteration'"),
        ({"features": ("iteration", "iteration")}, "twice"),
        ({"exponents": ("delta",)}, "delta"),
        ({"holds": (0,)}, "holds"),
        ({"seed": -1}, "seed"),
        ({"seed": 1.5}, "seed"),
        ({"optimizer": "ppo", "learning_rate": -1.0}, "learning.rate"),
    ],
)
def test_settings_out_of_range_are_refused(wrong, part):
    with pytest.raises(SpecError, match=part):
        TrainSettings(**wrong)


def test_settings_are_read_as_they_were_written():
    for settings in (TINY, TrainSettings(), TrainSettings(optimizer="ppo", weights=(1.0, 2.0), holds=())):
        assert settings_from(json.loads(json.dumps(settings.to_json())), "here") == settings


def test_usual_settings_are_the_papers():
    usual = TrainSettings()
    assert (usual.epochs, usual.population, usual.learning_rate, usual.horizon) == (1000, 100, 0.01, 1000)
    assert usual.games == GAMES
    assert usual.start().sizes.tolist() == [2, 64, 64, 8]
    assert len(usual.start().parameters) == 4872


def test_ppo_trains_and_goes_on(tmp_path):
    pytest.importorskip("torch")
    settings = replace(TINY, optimizer="ppo", learning_rate=None, epochs=3)
    whole = train(settings, out=tmp_path / "whole", workers=2)
    assert not np.array_equal(whole.policy.parameters, settings.start().parameters)
    train(replace(settings, epochs=1), out=tmp_path / "part", workers=1)
    train(resume=tmp_path / "part", changes={"epochs": 3}, workers=1)
    assert numbers(tmp_path / "part")[:3] == numbers(whole.folder)[:3]


def test_out_or_resume():
    for folders in ({}, {"out": "a", "resume": "b"}):
        with pytest.raises(SpecError, match="give a folder"):
            train(TINY, **folders)


def test_workers_are_at_least_one(tmp_path):
    with pytest.raises(SpecError, match="workers"):
        train(TINY, out=tmp_path / "run", workers=0)
    assert not (tmp_path / "run").exists()


def test_names_of_games_in_the_picture_are_short():
    assert short_names(["a(x=1,y=2)", "a(x=1,y=3)", "b(z=1)"]) == ["a(y=2)", "a(y=3)", "b"]
    assert short_names(["odd(name).efg", "b(z=1)"]) == ["odd(name).efg", "b(z=1)"]


def test_the_picture_shows_every_game():
    records = [
        TrainRecord(epoch, epoch / 3, None if epoch == 0 else 0.0, None if epoch == 0 else 1.0, (0.1**epoch, 10.0, 0.5), 1.0)
        for epoch in range(20)
    ]
    games = ("kuhn_poker", "goofspiel(num_cards=3,imp_info=true)", "goofspiel(num_cards=4,imp_info=true)")
    figure = learning_figure("title", games, records)
    above, below = figure.axes
    assert below.get_yscale() == "log"
    assert [line.get_ydata()[3] for line in below.get_lines()] == pytest.approx([1e-3, 10.0, 0.5])
    assert min(below.get_lines()[0].get_ydata()) == 1e-12
    assert "below 1e-12" in below.get_xlabel()
    assert [text.get_text() for text in below.texts] == ["kuhn_poker", "goofspiel(num_cards=3)", "goofspiel(num_cards=4)"]
    assert above.get_lines()[0].get_ydata()[3] == 1.0


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match=r"cannot write the folder .*file/run"):
        train(TINY, out=tmp_path / "file" / "run", workers=1)
    with pytest.raises(FileError, match="is a file"):
        train(TINY, out=tmp_path / "file", workers=1)
