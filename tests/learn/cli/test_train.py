"""``treeplex train``: what it prints, what it refuses, and its exit codes."""

import json
import os
import signal
import time
from dataclasses import replace
from functools import partial

import pytest
from typer.testing import CliRunner

from tests import commands
from tests.processes import spawned
from treeplex.learn.cli.train import training_line
from treeplex.learn.discount.job import DISCOUNT
from treeplex.learn.discount.settings import DiscountSettings
from treeplex.learn.train.registry import learner_named
from treeplex.run.cli.main import app
from treeplex.run.job.checkpoint import position_of
from treeplex.run.job.folder import METRICS, STATE, JobFolder
from treeplex.run.job.record import Progress
from treeplex.run.job.workers import Work

call, complaint = (partial(run, "train") for run in (commands.call, commands.complaint))
SETTINGS = ["--set", "population=4", "--set", "horizon=20", "--workers", "1"]
TINY = ["kuhn_poker", "--set", "epochs=2", *SETTINGS]


def done_at(folder):
    with JobFolder(DISCOUNT, folder).state() as state:
        return position_of(state).done


def test_training_prints_and_writes(tmp_path):
    out, _ = call("ddcfr", *TINY, "--out", tmp_path / "run")
    assert "ddcfr by es: 2 epochs" in out
    assert "kuhn_poker" in out
    assert f'treeplex solve leduc_poker -a "ddcfr(policy={tmp_path / "run" / "best.safetensors"})"' in out
    solved = CliRunner().invoke(
        app, ["solve", "kuhn_poker", "-a", f"ddcfr(policy={tmp_path}/run/best.safetensors)", "-n", "20"]
    )
    assert solved.exit_code == 0, solved.output


def test_json_is_all_that_is_printed(tmp_path):
    printed = json.loads(call("pddcfr", *TINY, "--out", tmp_path / "run", "--json")[0])
    last = JobFolder(DISCOUNT, tmp_path / "run").records()[-1]
    assert (printed["learner"], printed["game"], printed["status"]) == ("pddcfr", ["kuhn_poker"], "finished")
    assert (printed["epochs"], printed["fitness"]) == (2, last.fitness)
    assert printed["exploitability"] == {"kuhn_poker": last.exploitability[0]}
    assert printed["best"]["fitness"] >= printed["fitness"]
    assert printed["lost"] == 0


@pytest.mark.slow
def test_resuming_goes_on(tmp_path):
    call("ddcfr", *TINY, "--out", tmp_path / "part")
    printed = json.loads(call("--resume", tmp_path / "part", "--set", "epochs=4", "--workers", "1", "--json")[0])
    assert printed["epochs"] == 4
    call("ddcfr", *TINY, "--set", "epochs=4", "--out", tmp_path / "whole")
    part, whole = (JobFolder(DISCOUNT, tmp_path / name).records() for name in ("part", "whole"))
    assert [record.fitness for record in part] == [record.fitness for record in whole]


@pytest.mark.slow
def test_the_command_to_resume_names_games_of_ones_own(tmp_path):
    (tmp_path / "mine.py").write_text("import treeplex as tp\n\n\ndef game():\n    return tp.load('kuhn_poker')\n")
    game = f"{tmp_path}/mine.py:game"
    out, _ = call("ddcfr", game, *TINY[1:], "--out", tmp_path / "run")
    assert f"treeplex train ddcfr {game} --resume {tmp_path}/run --set epochs=4" in out
    assert "give the game too" in complaint("--resume", tmp_path / "run", "--set", "epochs=4")
    call("ddcfr", game, "--resume", tmp_path / "run", "--set", "epochs=4", "--workers", "1")


def test_every_setting_reaches_the_training(tmp_path):
    changes = (
        "epochs=1 population=2 sigma=0.2 learning_rate=0.3 horizon=7 features=regret,movement exponents=gamma,prediction "
        "discrete=true holds=1,3 clipped=false optimizer=es fitness=log weights=1,2,3.5 seed=5"
    )
    given = [part for change in changes.split() for part in ("--set", change)]
    games = ["kuhn_poker,goofspiel(num_cards=3,imp_info=true)", "small_matrix"]
    call("pddcfr", *games, *given, "--workers", "1", "--out", tmp_path / "run")
    about = JobFolder(DISCOUNT, tmp_path / "run").about()
    assert about["learner"] == "pddcfr"
    assert about["game"] == ["kuhn_poker", "goofspiel(num_cards=3,imp_info=true)", "small_matrix"]
    assert DiscountSettings.from_json(about["settings"], "here") == DiscountSettings(
        epochs=1,
        population=2,
        sigma=0.2,
        learning_rate=0.3,
        horizon=7,
        features=("regret", "movement"),
        exponents=("gamma", "prediction"),
        discrete=True,
        holds=(1, 3),
        clipped=False,
        weights=(1.0, 2.0, 3.5),
        seed=5,
    )


@pytest.mark.slow
def test_learners_are_listed_and_say_their_settings(tmp_path):
    listed = call("--list")[0]
    assert all(name in listed for name in ("rebel", "ddcfr", "dpcfr+", "pddcfr", "Xu et al. 2024"))
    assert "population *" in call("ddcfr", "--help")[0]
    assert "Settings of" not in call("--help")[0]
    shown = call("ddcfr", "--show", "--set", "sigma=0.2")[0]
    assert "sigma: 0.2 " in shown
    (tmp_path / "settings.yaml").write_text(shown)
    assert call("ddcfr", "--show", "--config", tmp_path / "settings.yaml")[0] == shown
    call("ddcfr", *TINY, "--out", tmp_path / "run")
    assert "population: 4 " in call("--resume", tmp_path / "run", "--show")[0]


@pytest.mark.slow_cases(
    "ddcfr kuhn_pokr --out {0}-did you mean 'kuhn_poker'",
    "ddcfr kuhn_poker(players=3) --out {0}-two-player zero-sum games, such as kuhn_poker",
    "ddcfr kuhn_poker,(x --out {0}-brackets",
    "ddcfr --set population=5 --out {0}-even",
    "ddcfr --set holds=1,two --out {0}-holds must be integers of at least 1",
    "ddcfr kuhn_poker --set weights=1,2 --out {0}-one number above 0 for each of 1 games",
    "ddcfr --set optimizer=sgd --out {0}-one of es, ppo",
    "ddcfr --set fitness=relativ --out {0}-did you mean 'relative'",
    "ddcfr --workers 0 --out {0}-workers",
    "ddcfr --judge-every 3 --out {0}-does not support judge_every (--judge-every)",
)
@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ("ddcfr", "--out DIR"),
        ("--out {0}", "name a learner"),
        ("ddcfr --out {0} --resume {0}", "give only one of --out and --resume"),
        ("dcfr --out {0}", "did you mean 'ddcfr'"),
        ("ddcfr kuhn_pokr --out {0}", "did you mean 'kuhn_poker'"),
        ("ddcfr kuhn_poker(players=3) --out {0}", "two-player zero-sum games, such as kuhn_poker"),
        ("ddcfr kuhn_poker,(x --out {0}", "brackets"),
        ("ddcfr --set population=5 --out {0}", "even"),
        ("ddcfr --set features=exploitabilty --out {0}", "did you mean 'exploitability'"),
        ("ddcfr --set exponents=delta --out {0}", "delta"),
        ("ddcfr --set holds=1,two --out {0}", "holds must be integers of at least 1"),
        ("ddcfr --set weights=1,heavy --out {0}", "weights must be numbers above 0"),
        ("ddcfr kuhn_poker --set weights=1,2 --out {0}", "one number above 0 for each of 1 games"),
        ("ddcfr --set optimizer=sgd --out {0}", "one of es, ppo"),
        ("ddcfr --set fitness=relativ --out {0}", "did you mean 'relative'"),
        ("ddcfr --workers 0 --out {0}", "workers"),
        ("ddcfr --judge-every 3 --out {0}", "does not support judge_every (--judge-every)"),
        ("ddcfr --preset paper --out {0}", "unknown preset 'paper'"),
        ("deep-cfr kuhn_poker --out {0} steps=3", "'steps=3' is not a game; to change a setting, write --set 'steps=3'"),
        ("ddcfr --seconds 0 --out {0}", "seconds must be a number above 0"),
        ("ddcfr --set sigma=nan --out {0}", "sigma"),
        ("ddcfr --set learning_rate=0 --out {0}", "learning_rate"),
        ("ddcfr --set epochs=zero --out {0}", "epochs must be an integer of at least 1, not 'zero'"),
        ("ddcfr --epochs 3 --out {0}", "see treeplex train --help"),
        ("--resume {0}", "contains no training"),
    ],
)
def test_wrong_use_is_one_line(tmp_path, arguments, part):
    assert part in complaint(*arguments.format(tmp_path / "run").split())
    assert not (tmp_path / "run").exists()


def test_ppo_takes_no_cluster(tmp_path, monkeypatch):
    monkeypatch.setattr(Work, "check", lambda work: None)
    words = f"ddcfr kuhn_poker --set optimizer=ppo --set horizon=5 --ray auto --out {tmp_path / 'run'}"
    assert "PPO does not support --ray" in complaint(*words.split())


@pytest.mark.slow
def test_another_training_is_kept_unless_forced(tmp_path):
    call("ddcfr", *TINY, "--out", tmp_path / "run")
    before = (tmp_path / "run" / METRICS).read_bytes()
    assert "--resume" in complaint("ddcfr", *TINY, "--set", "seed=1", "--out", tmp_path / "run")
    assert (tmp_path / "run" / METRICS).read_bytes() == before
    call("ddcfr", *TINY, "--set", "seed=1", "--out", tmp_path / "run", "--force")
    assert (tmp_path / "run" / METRICS).read_bytes() != before


@pytest.mark.slow
def test_another_setting_is_refused_on_resuming(tmp_path):
    call("ddcfr", *TINY, "--out", tmp_path / "run")
    assert "sigma is 0.05 and cannot change to 0.1 on resume" in complaint("--resume", tmp_path / "run", "--set", "sigma=0.1")


@pytest.mark.slow
def test_ctrl_c_saves_and_says_how_to_go_on(tmp_path):
    folder = tmp_path / "run"
    with spawned("train", "ddcfr", *TINY, "--set", "epochs=1000000", "--workers", 2, "--out", folder) as process:
        deadline = time.monotonic() + 120
        while not (folder / METRICS).exists() or len(JobFolder(DISCOUNT, folder).records()) < 3:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers as well
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130, (out, err)
    done = done_at(folder)
    assert f"stopped after {done:,} epochs and saved; resume with treeplex train --resume {folder}" in err
    assert err.count("\n") == 2
    assert [record.done for record in JobFolder(DISCOUNT, folder).records()] == list(range(done + 1))
    call("--resume", folder, "--set", f"epochs={done + 2}", "--workers", "1")
    assert done_at(folder) == done + 2
    assert (folder / STATE).exists()


def test_the_live_line():
    numbers = {"fitness": 1.25, "best_fitness": 1.25, "lost": 0}
    state = Progress("ddcfr by es", "epochs", 3, 10, 0.5, 65.0, numbers)
    known = learner_named("ddcfr")
    assert training_line(known, state) == "training ddcfr  3/10 epochs  fitness 1.250  best 1.250  1:05 left"
    assert "2 workers lost" in training_line(known, replace(state, numbers={**numbers, "lost": 2}))
