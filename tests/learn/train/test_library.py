"""Learners of the library by name: folders that open and resume without naming them, and limits of effort."""

import json
from pathlib import Path

import pytest

import treeplex as tp
from tests.commands import call
from treeplex.base.settings import declared
from treeplex.errors import FileError, SpecError
from treeplex.learn.neural.regrets.deep_cfr import SingleDeepCfr
from treeplex.learn.train.kind import Options
from treeplex.learn.train.learner_job import POLICY, LearnerJob, LibraryKind
from treeplex.learn.train.registry import NEURAL, learner_named, learners
from treeplex.learn.train.seeds import train_seeds
from treeplex.run.job.record import Record
from treeplex.run.job.workers import Work

pytest.importorskip("torch")
TEAM = "matrix(rows=[[10,0],[0,3]],second=[[10,0],[0,3]])"
SMALL = {"steps": 3, "walks": 20, "approximator": "table"}
SET = tuple(part for name, value in SMALL.items() for part in ("--set", f"{name}={value}"))


def test_names_summaries_and_sources() -> None:
    listed = call("train", "--list")[0]
    for name in NEURAL:
        known = learners()[name]
        assert isinstance(known, LibraryKind)
        assert name in listed
        assert known.summary.endswith(".")
        assert any(year in known.source for year in map(str, range(2015, 2030)))


@pytest.mark.parametrize("name", learners())
def test_every_setting_says_what_it_means(name: str) -> None:
    assert not [each for each, known in declared(learners()[name].settings).items() if not known.limits.help]


def test_a_default_of_a_class_keeps_the_limits_of_the_class_above() -> None:
    with pytest.raises(SpecError, match="walks"):
        learners()["escher"].settings_for("kuhn_poker", None, {"walks": 0})


def test_a_class_is_known_by_its_name() -> None:
    assert learner_named(SingleDeepCfr).name == "sd-cfr"


@pytest.mark.slow
def test_the_commands_take_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    printed = json.loads(call("train", "sd-cfr", "kuhn_poker", *SET, "--out", folder, "--json")[0])
    assert (printed["steps"], printed["episodes"], printed["status"]) == (3, 120, "finished")
    assert printed["nodes"] > 500
    assert json.loads((folder / "run.json").read_text())["learner"] == "sd-cfr"
    judged = json.loads(call("evaluate", "kuhn_poker", folder, "--json")[0])
    assert judged["exploitability"] == pytest.approx(printed["exploitability"])
    assert "Pass" in call("show", folder)[0]
    assert json.loads(call("train", "--resume", folder, "--set", "steps=4", "--json")[0])["steps"] == 4
    assert "walks: 20" in call("train", "--resume", folder, "--show")[0]
    refused = call("train", "sd-cfr", "leduc_poker", "--resume", folder, code=2)[1]
    assert "trains on kuhn_poker, not leduc_poker" in refused
    matched = json.loads(call("match", "kuhn_poker", folder, "uniform", "--json")[0])
    assert matched["exact"]
    assert matched["value"][0] > 0.1


@pytest.mark.slow
@pytest.mark.parametrize("limit", ["nodes", "episodes"])
def test_a_limit_of_effort_takes_the_place_of_steps(tmp_path: Path, limit: str) -> None:
    training = tp.train("kuhn_poker", "sd-cfr", settings=SMALL, out=tmp_path / "run", **{limit: 2000})
    reached = [record.measures[limit] for record in training.records]
    assert training.status == "finished"
    assert reached[-1] >= 2000 > reached[-2]
    assert training.records[-1].done > 3
    longer = tp.train(resume=tmp_path / "run", **{limit: 3000})
    assert longer.records[-1].measures[limit] >= 3000


def test_a_limit_of_effort_applies_to_a_settings_object_on_resume(tmp_path: Path) -> None:
    settings = learners()["sd-cfr"].settings_for("kuhn_poker", None, SMALL)
    tp.train("kuhn_poker", "sd-cfr", settings=settings, nodes=500, out=tmp_path / "run")
    longer = tp.train(resume=tmp_path / "run", settings=settings, nodes=1500)
    assert longer.records[-1].measures["nodes"] >= 1500


def test_learners_that_do_not_count_are_told(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"ddcfr does not count nodes \(--nodes\); leave it out"):
        tp.train("kuhn_poker", "ddcfr", nodes=10, out=tmp_path / "run")


@pytest.mark.parametrize("name", ["rebel", "alphaholdem"])
def test_a_setting_of_that_name_need_not_be_a_limit(tmp_path: Path, name: str) -> None:
    with pytest.raises(SpecError, match=rf"{name} does not count episodes \(--episodes\); leave it out"):
        tp.train("kuhn_poker", name, episodes=10, out=tmp_path / "run")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rcfr", "neurd", "ned"])
def test_learners_of_the_whole_game_count_histories_and_play_nothing(tmp_path: Path, name: str) -> None:
    table = {"approximator": "table"} if name != "rcfr" else {}
    reached = tp.train("kuhn_poker", name, settings=table, nodes=500, out=tmp_path / "nodes").records[-1].measures["nodes"]
    assert 500 <= reached < 1000
    said = f"{name} does not count episodes with these settings; limit it by --nodes, steps or --seconds"
    for train, more in ((tp.train, {}), (train_seeds, {"seeds": 2})):
        with pytest.raises(SpecError, match=said):
            train("kuhn_poker", name, settings={**table, "episodes": 30}, out=tmp_path / "episodes", **more)
    assert not (tmp_path / "episodes").exists()
    with pytest.raises(SpecError, match=said):
        tp.train(resume=tmp_path / "nodes", episodes=30)
    assert tp.train(resume=tmp_path / "nodes", nodes=600).status == "finished"


PLAYING = {"approximator": "table", "walks": 4, "plays": 4, "batch": 4, "fits": 1}
EXACT = {"critic": "exact", "approximator": "table"}


@pytest.mark.slow_cases(
    "a2c-settings0",
    "coma-settings1",
    "armac-settings2",
    "deep-cfr-settings3",
    "mmd-settings6",
    "nfsp-settings9",
    "mmd-settings22",
)
@pytest.mark.parametrize(
    ("name", "settings"),
    [
        *((name, {}) for name in NEURAL),
        ("qpg", EXACT),
        ("mmd", EXACT),
        ("neurd", {"critic": "learned"}),
        ("psro", {"oracle": "learned"}),
    ],
)
def test_a_step_counts_what_can_be_counted_and_nothing_else(tmp_path: Path, name: str, settings: dict[str, object]) -> None:
    kind = learner_named(name)
    small = {each: value for each, value in PLAYING.items() if each in declared(kind.settings)}
    game = TEAM if name in ("coma", "a2c") else "kuhn_poker"
    job = kind.make(game, kind.settings_for(game, None, {**small, **settings}), Options(Work(1), None, tmp_path))
    assert isinstance(job, LearnerJob)
    job.step(1)
    assert [each for each, count in job.student.effort().items() if count] == [*job.student.countable]


@pytest.mark.slow
def test_a_refused_training_leaves_earlier_ones_of_several_seeds_as_they_were(tmp_path: Path) -> None:
    settings = {"approximator": "table", "steps": 2}
    done = train_seeds("kuhn_poker", "ned", settings=settings, seeds=1, out=tmp_path)
    assert done.pictures == ("bands-nodes.png", "bands-cpu-seconds.png", "bands-steps.png")  # no episodes are played
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(SpecError, match="does not count episodes"):
        train_seeds("kuhn_poker", "ned", settings={"episodes": 5}, seeds=2, out=tmp_path, force=True)
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(FileError, match="is a file; give a folder"):
        train_seeds("kuhn_poker", "ned", seeds=2, out=tmp_path / "seeds.json")
    with pytest.raises(FileError, match="cannot make the folder"):
        train_seeds("kuhn_poker", "ned", seeds=2, out=tmp_path / "seeds.json" / "below")


@pytest.mark.parametrize("what", ["learner", "game"])
def test_resuming_several_seeds_runs_no_code_that_only_the_folder_names(what: str, tmp_path: Path) -> None:
    code = tmp_path / "code.py"
    code.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    asked = {"learner": "sd-cfr", "game": "kuhn_poker", "settings": {}, "seeds": 1, what: f"{code}:Code"}
    (tmp_path / "seeds.json").write_text(json.dumps(asked))
    with pytest.raises(FileError, match=f"the {what} is .*name it again"):
        train_seeds(resume=tmp_path)
    assert not (tmp_path / "ran").exists()


@pytest.mark.slow
def test_several_seeds_give_bands(tmp_path: Path) -> None:
    folder = tmp_path / "seeds"
    printed = json.loads(call("train", "sd-cfr", "kuhn_poker", *SET, "--seeds", 3, "--out", folder, "--json")[0])
    each = [one["exploitability"] for one in printed["trainings"]]
    assert len(set(each)) == 3
    assert (printed["low"]["exploitability"], printed["high"]["exploitability"]) == (min(each), max(each))
    assert printed["mean"]["exploitability"] == pytest.approx(sum(each) / 3)
    for name in ("nodes", "episodes", "cpu-seconds", "steps"):
        assert (folder / f"bands-{name}.png").stat().st_size > 1000
    alone = tp.train("kuhn_poker", "sd-cfr", settings=SMALL | {"seed": 2}, out=tmp_path / "alone")
    assert alone.to_json()["exploitability"] == each[2]
    said = call("train", "--resume", folder, "--set", "steps=5")[0]
    assert "3 seeds, 5 steps" in said
    assert call("train", "sd-cfr", "kuhn_poker", "--seeds", 2, "--out", folder, code=2)[1].count("is not empty") == 1
    with pytest.raises(FileError, match="contains no training runs with several seeds"):
        train_seeds(resume=tmp_path)


def test_options_of_a_resumed_folder_apply_to_all_its_seeds(tmp_path: Path) -> None:
    settings = {"approximator": "table", "steps": 1, "walks": 4, "seed": 5}
    train_seeds("kuhn_poker", "sd-cfr", settings=settings, seeds=1, out=tmp_path)
    asked = json.loads((tmp_path / "seeds.json").read_text())
    (tmp_path / "seeds.json").write_text(json.dumps({**asked, "seeds": 2}))  # as if stopped before the second
    before = (tmp_path / "seeds.json").read_bytes()
    refused: list[tuple[dict[str, object], str]] = [
        ({"seeds": 3}, "has 2 seeds, not 3; leave out 'seeds'"),
        ({"preset": "nonsense"}, "a resumed run keeps its settings"),
        ({"settings": {"memory": 5}}, "memory is 1000000 and cannot change to 5"),
        ({"settings": {"seed": 6}}, "seed is 5 and cannot change to 6"),
        ({"settings": {"stepss": 6}}, "stepss"),
    ]
    for wrong, said in refused:
        with pytest.raises(SpecError, match=said):
            train_seeds(resume=tmp_path, **wrong)  # type: ignore[arg-type]
    assert (tmp_path / "seeds.json").read_bytes() == before
    done = train_seeds(resume=tmp_path, seeds=2, settings={"steps": "2"})
    assert [(run.records[-1].done, run.settings.steps, run.settings.seed) for run in done.trainings] == [(2, 2, 5), (2, 2, 6)]
    assert json.loads((tmp_path / "seeds.json").read_text())["settings"] == {**asked["settings"], "steps": 2}


def test_missing_seeds_of_several_games_are_trained_on_resuming(tmp_path: Path) -> None:
    games, small = ["kuhn_poker", "leduc_poker(ranks=2)"], {"epochs": 1, "population": 2, "horizon": 5}
    train_seeds(games, "ddcfr", settings=small, seeds=1, out=tmp_path, workers=1)
    request = json.loads((tmp_path / "seeds.json").read_text())
    (tmp_path / "seeds.json").write_text(json.dumps(request | {"seeds": 2}))  # as if interrupted in the first
    done = train_seeds(resume=tmp_path, workers=1)
    assert [training.game for training in done.trainings] == [games, games]


def test_a_preset_does_not_apply_to_whole_settings(tmp_path: Path) -> None:
    settings = learner_named("sd-cfr").settings()
    for train, more in ((tp.train, {}), (train_seeds, {"seeds": 2, "out": tmp_path / "run"})):
        with pytest.raises(SpecError, match="so the preset 'paper' does not apply; leave out 'preset'"):
            train("kuhn_poker", "sd-cfr", settings=settings, preset="paper", **more)
    assert not (tmp_path / "run").exists()


HANDS = {"updates": 1, "hands": 16, "checked": 16, "match": 4}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "game", "settings", "judged", "pictures"),
    [
        ("coma", TEAM, {"approximator": "table", "steps": 2}, "return", {"nodes", "episodes", "cpu-seconds", "steps"}),
        ("alphaholdem", "kuhn_poker", HANDS, "exploitability", {"cpu-seconds", "steps"}),
        ("alphaholdem", "kuhn_poker", {**HANDS, "exact": False}, "won", {"cpu-seconds", "steps"}),
    ],
)
def test_bands_of_whatever_a_learner_is_judged_by(
    tmp_path: Path, name: str, game: str, settings: dict[str, object], judged: str, pictures: set[str]
) -> None:
    done = train_seeds(game, name, settings=settings, seeds=2, out=tmp_path)
    each = [training.to_json()[judged] for training in done.trainings]
    last = done.bands()[-1]
    assert last["mean"][judged] == pytest.approx(sum(each) / 2)
    assert (last["low"][judged], last["high"][judged]) == (min(each), max(each))
    assert {path.stem.removeprefix("bands-") for path in tmp_path.glob("bands-*.png")} == pictures
    assert {*done.pictures} == {f"bands-{each}.png" for each in pictures}


@pytest.mark.slow_cases("true-True")
@pytest.mark.parametrize(("exact", "named"), [("true", True), ("false", False)])
def test_pictures_are_named_where_they_are_drawn(tmp_path: Path, exact: str, named: bool) -> None:
    out = call("train", "sd-cfr", "kuhn_poker", *SET, "--set", f"exact={exact}", "--seeds", 1, "--out", tmp_path / "run")[0]
    assert "bands.json, seeds.json" in out
    assert ("bands-*.png" in out) == named == any((tmp_path / "run").glob("bands-*.png"))


def test_a_costly_policy_is_written_where_it_is_judged_only(tmp_path: Path) -> None:
    kind = learner_named("deep-cfr")
    settings = kind.settings().changed(SMALL)
    job = kind.make("kuhn_poker", settings, Options(Work(1), None, tmp_path))
    written = []
    judged = Record(3, 0.0, 0.0, {"measures": {"exploitability": 1.0}})
    for records in ([], [Record(2, 0.0, 0.0, {"measures": {"loss": 1.0}})], [judged]):
        job.step(1)
        job.write(tmp_path, records, status="running")
        written.append((tmp_path / POLICY).read_bytes())
    assert written[0] == written[1] != written[2]
