"""Training: what it writes, that it learns, that it goes on bit for bit."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import load_file

import treeplex as tp
from treeplex.errors import FileError, JobInterrupt, SpecError
from treeplex.learn.discount.job import BEST, DISCOUNT, PLOT, POLICY, best_of, learning_figure, short_names
from treeplex.learn.discount.kind import specs_of
from treeplex.learn.discount.settings import GAMES, DiscountSettings
from treeplex.learn.train.train import train
from treeplex.run.job import job as frame
from treeplex.run.job.folder import METRICS, RUN, STATE, JobFolder
from treeplex.run.job.record import Record
from treeplex.solvers.rules.discount_policy_files import load_discount_policy

KUHN = ("kuhn_poker",)
TINY = DiscountSettings(epochs=6, population=4, horizon=20, hidden=(8,), sigma=0.5, learning_rate=0.1)


def numbers(folder):
    """All that a training found out, without seconds and dates."""
    records = [replace(record, seconds=0.0, cpu_seconds=0.0) for record in JobFolder(DISCOUNT, folder).records()]
    state = load_file(folder / STATE)
    policies = [load_discount_policy(folder / name) for name in (POLICY, BEST)]
    cards = [{key: value for key, value in policy.card.items() if key != "seconds"} for policy in policies]
    return records, {name: array.tobytes() for name, array in state.items()}, [p.parameters.tobytes() for p in policies], cards


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    folder = tmp_path_factory.mktemp("train") / "unbroken"
    return train(KUHN, "ddcfr", settings=TINY, out=folder, workers=1)


def test_everything_is_written(unbroken):
    assert {path.name for path in unbroken.folder.iterdir()} == {RUN, METRICS, STATE, POLICY, BEST, PLOT}
    about = json.loads((unbroken.folder / RUN).read_text())
    assert about["status"] == unbroken.status == "finished"
    assert about["last"]["done"] == 6
    assert about["best"]["fitness"] == max(record.fitness for record in unbroken.records)
    assert [record.done for record in unbroken.records] == list(range(7))
    assert JobFolder(DISCOUNT, unbroken.folder).records() == list(unbroken.records)
    assert DiscountSettings.from_json(about["settings"], "here") == TINY
    assert unbroken.records[0].mean is None
    assert all(record.best >= record.mean for record in unbroken.records[1:])
    assert (unbroken.folder / "learning-curve.png").read_bytes().startswith(b"\x89PNG")


def test_policies_are_what_their_cards_say(unbroken):
    best = max(unbroken.records, key=lambda record: record.fitness)
    for name, record in ((POLICY, unbroken.records[-1]), (BEST, best)):
        policy = load_discount_policy(unbroken.folder / name)
        assert policy.card["epochs"] == record.done
        assert policy.card["fitness"] == record.fitness
        assert policy.card["games"] == ["kuhn_poker"]
        assert policy.card["settings"]["population"] == 4
        assert policy.card["treeplex"] == tp.__version__
        solution = tp.solve("kuhn_poker", f"ddcfr(policy={unbroken.folder / name})", iterations=20)
        assert solution.exploitability == pytest.approx(policy.card["exploitability"]["kuhn_poker"], rel=1e-9)


def test_it_learns(tmp_path):
    settings = replace(TINY, epochs=30, population=10)
    training = train(KUHN, "ddcfr", settings=settings, out=tmp_path / "run", workers=1)
    assert best_of(training.records).fitness > training.records[0].fitness + 0.5
    assert training.records[-1].fitness > training.records[0].fitness + 0.3


@pytest.mark.quick_cases("dpcfr+")
@pytest.mark.parametrize("algorithm", ["ddcfr", "dpcfr+", "pddcfr"])
def test_each_algorithm_trains(tmp_path, algorithm):
    training = train(KUHN, algorithm, settings=replace(TINY, epochs=1), out=tmp_path / "run", workers=1)
    policy, base = training.load(), {"ddcfr": "dcfr", "dpcfr+": "pcfr+", "pddcfr": "pdcfr"}[algorithm]
    assert policy.base == base
    last = load_discount_policy(tmp_path / "run" / POLICY)
    assert not np.array_equal(last.parameters, training.settings.start(base).parameters)


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        {"weights": (2.0,)},
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
    whole = train(KUHN, "ddcfr", settings=settings, out=tmp_path / "whole", workers=1)
    train(KUHN, "ddcfr", settings=replace(settings, epochs=2), out=tmp_path / "part", workers=1)
    train(resume=tmp_path / "part", settings={"epochs": 6}, workers=1)
    assert numbers(tmp_path / "part")[:3] == numbers(whole.folder)[:3]


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


@pytest.mark.slow
def test_ctrl_c_within_an_epoch_drops_that_epoch(unbroken, tmp_path, monkeypatch):
    folder = tmp_path / "run"
    monkeypatch.setattr(frame, "Interrupt", PressedLater)
    with pytest.raises(JobInterrupt) as stopped:
        train(KUHN, "ddcfr", settings=TINY, out=folder, workers=1)
    assert 0 < stopped.value.result.records[-1].done < 6
    monkeypatch.undo()
    train(resume=folder, workers=1)
    assert numbers(folder) == numbers(unbroken.folder)


@pytest.mark.slow
def test_workers_change_nothing(unbroken, tmp_path):
    train(KUHN, "ddcfr", settings=TINY, out=tmp_path / "run", workers=2)
    assert numbers(tmp_path / "run") == numbers(unbroken.folder)


@pytest.mark.slow
@pytest.mark.parametrize("first", [2, 5])
def test_more_epochs_continue_a_finished_training(unbroken, tmp_path, first):
    assert 2 < best_of(unbroken.records).done < 5
    folder = tmp_path / "run"
    train(KUHN, "ddcfr", settings=replace(TINY, epochs=first), out=folder, workers=1)
    train(resume=folder, settings={"epochs": 6}, workers=1)
    assert numbers(folder)[:3] == numbers(unbroken.folder)[:3]
    assert DiscountSettings.from_json(JobFolder(DISCOUNT, folder).about()["settings"], "here") == TINY


@pytest.mark.parametrize("change", [{"sigma": 0.1}, {"seed": 1}, {"features": ("iteration",)}])
def test_resuming_with_other_settings_is_refused(unbroken, change):
    with pytest.raises(SpecError, match=f"{next(iter(change))} is .* and cannot change to .* on resume"):
        train(resume=unbroken.folder, settings=change, workers=1)


@pytest.mark.slow
def test_a_game_of_ones_own_is_named_again(tmp_path):
    (tmp_path / "mine.py").write_text("import treeplex as tp\n\n\ndef game():\n    return tp.load('kuhn_poker')\n")
    games = (f"{tmp_path}/mine.py:game",)
    train(games, "ddcfr", settings=replace(TINY, epochs=1), out=tmp_path / "run", workers=1)
    with pytest.raises(FileError, match="never loaded automatically"):
        train(resume=tmp_path / "run", settings={"epochs": 2}, workers=1)
    assert train(games, resume=tmp_path / "run", settings={"epochs": 2}, workers=1).records[-1].done == 2
    with pytest.raises(FileError, match="not leduc_poker; give the game it was started with"):
        train("leduc_poker", resume=tmp_path / "run", workers=1)


def test_fewer_epochs_than_done_are_refused(unbroken):
    with pytest.raises(SpecError, match="already completed 6 epochs"):
        train(resume=unbroken.folder, settings={"epochs": 5}, workers=1)


def test_the_state_of_another_network_is_refused(unbroken, tmp_path):
    shutil.copytree(unbroken.folder, tmp_path / "run")
    train(KUHN, "ddcfr", settings=replace(TINY, hidden=(9,)), out=tmp_path / "other", workers=1)
    shutil.copy(tmp_path / "other" / STATE, tmp_path / "run" / STATE)
    with pytest.raises(FileError, match="not a state of ddcfr"):
        train(resume=tmp_path / "run", workers=1)


def test_changed_rules_are_noticed(unbroken, tmp_path):
    shutil.copytree(unbroken.folder, tmp_path / "run")
    folder = JobFolder(DISCOUNT, tmp_path / "run")
    folder.describe({**folder.about(), "identity": "0000000000000000"}, status="finished", records=unbroken.records)
    with pytest.raises(FileError, match="whose rules have changed since"):
        train(resume=tmp_path / "run", workers=1)


@pytest.mark.parametrize(
    ("wrong", "part"),
    [
        ({"optimizer": "sgd"}, "optimizer must be one of es, ppo"),
        ({"epochs": 0}, "epochs"),
        ({"horizon": 0}, "horizon"),
        ({"population": 5}, "population is .*; it must be even"),
        ({"features": ("iterations",)}, "did you mean 'iteration'"),
        ({"features": ("iteration", "iteration")}, "has a duplicate"),
        ({"exponents": ("delta",)}, "delta"),
        ({"holds": (0,)}, "holds"),
        ({"seed": -1}, "seed"),
        ({"seed": 1.5}, "seed"),
        ({"optimizer": "ppo", "learning_rate": -1.0}, "learning_rate must be a number above 0, or none"),
    ],
)
def test_settings_out_of_range_are_refused(wrong, part):
    with pytest.raises(SpecError, match=part):
        DiscountSettings(**wrong)


def test_settings_are_read_as_they_were_written():
    for settings in (TINY, DiscountSettings(), DiscountSettings(optimizer="ppo", weights=(1.0, 2.0), holds=())):
        assert DiscountSettings.from_json(json.loads(json.dumps(settings.to_json())), "here") == settings


def test_usual_settings_are_the_papers():
    usual = DiscountSettings()
    assert (usual.epochs, usual.population, usual.learning_rate, usual.horizon) == (1000, 100, 0.01, 1000)
    assert specs_of(None) == list(GAMES)
    assert usual.start("dcfr").sizes.tolist() == [2, 64, 64, 8]
    assert len(usual.start("dcfr").parameters) == 4872


def test_games_are_specs_with_commas_between_them_or_several():
    assert specs_of("a(b=1,c=2), d") == specs_of(["a(b=1,c=2)", "d"]) == ["a(b=1,c=2)", "d"]


@pytest.mark.slow
def test_ppo_trains_and_goes_on(tmp_path):
    pytest.importorskip("torch")
    settings = replace(TINY, optimizer="ppo", learning_rate=None, epochs=3)
    whole = train(KUHN, "ddcfr", settings=settings, out=tmp_path / "whole", workers=2)
    assert not np.array_equal(load_discount_policy(whole.folder / POLICY).parameters, settings.start("dcfr").parameters)
    train(KUHN, "ddcfr", settings=replace(settings, epochs=1), out=tmp_path / "part", workers=1)
    train(resume=tmp_path / "part", settings={"epochs": 3}, workers=1)
    assert numbers(tmp_path / "part")[:3] == numbers(whole.folder)[:3]


def test_out_or_resume():
    with pytest.raises(SpecError, match="give only one of 'out' and 'resume'"):
        train(KUHN, "ddcfr", settings=TINY, out="a", resume="b")


def test_workers_are_at_least_one(tmp_path):
    with pytest.raises(SpecError, match="workers"):
        train(KUHN, "ddcfr", settings=TINY, out=tmp_path / "run", workers=0)
    assert not (tmp_path / "run").exists()


def test_names_of_games_in_the_picture_are_short():
    assert short_names(["a(x=1,y=2)", "a(x=1,y=3)", "b(z=1)"]) == ["a(y=2)", "a(y=3)", "b"]
    assert short_names(["odd(name).efg", "b(z=1)"]) == ["odd(name).efg", "b(z=1)"]


def test_the_picture_shows_every_game():
    records = [
        Record(
            epoch,
            1.0,
            1.0,
            {
                "fitness": epoch / 3,
                "mean": 0.0 if epoch else None,
                "best": 1.0 if epoch else None,
                "exploitability": (0.1**epoch, 10.0, 0.5),
            },
        )
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
        train(KUHN, "ddcfr", settings=TINY, out=tmp_path / "file" / "run", workers=1)
    with pytest.raises(FileError, match="is a file"):
        train(KUHN, "ddcfr", settings=TINY, out=tmp_path / "file", workers=1)
