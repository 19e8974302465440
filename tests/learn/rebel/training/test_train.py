"""Trainings of ReBeL: folders, resuming, workers that die, full disks, judging."""

import json
import math
import os
import pickle
import shutil
import signal
import sys
import types
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")


from tests.trainings import copied, stop_after, weights  # noqa: E402
from treeplex.base.settings import from_yaml  # noqa: E402
from treeplex.base.storage.files import write_atomically  # noqa: E402
from treeplex.base.workers import processes  # noqa: E402
from treeplex.base.workers.executor import make_executor  # noqa: E402
from treeplex.base.workers.processes import Processes  # noqa: E402
from treeplex.errors import (  # noqa: E402
    AlgorithmError,
    FileError,
    JobInterrupt,
    PolicyError,
    SpecError,
)
from treeplex.evaluate import judge  # noqa: E402
from treeplex.forms.compile.compile_game import compile_game  # noqa: E402
from treeplex.forms.sources.load import public_tree  # noqa: E402
from treeplex.learn.cli.train import resuming  # noqa: E402
from treeplex.learn.common.trainer import Round  # noqa: E402
from treeplex.learn.rebel import files as value_net_files  # noqa: E402
from treeplex.learn.rebel.files import is_net_file, read_net  # noqa: E402
from treeplex.learn.rebel.parallel_self_play import SelfPlayer, parallel_trainer  # noqa: E402
from treeplex.learn.rebel.settings import PAPER, PAPER_CARDS, RECIPE_ROUNDS, RebelSettings  # noqa: E402
from treeplex.learn.rebel.trainer import RebelTrainer  # noqa: E402
from treeplex.learn.rebel.training import kind as rebel  # noqa: E402
from treeplex.learn.rebel.training import live_evaluation as rebel_watch  # noqa: E402
from treeplex.learn.rebel.training.evaluation_parts import parts_of  # noqa: E402
from treeplex.learn.rebel.training.job import LATE, NET, REBEL, is_rebel_folder, mean_losses, rebel_figure  # noqa: E402
from treeplex.learn.rebel.training.judge import Halves, Searcher, is_rebel, judge_rebel, mixture_policy, search_part  # noqa: E402
from treeplex.learn.rebel.training.kind import RebelKind, streams_for  # noqa: E402
from treeplex.learn.train.kind import TrainingRun  # noqa: E402
from treeplex.learn.train.train import train  # noqa: E402
from treeplex.run.job import job as frame  # noqa: E402
from treeplex.run.job.folder import METRICS, STATE, JobFolder  # noqa: E402
from treeplex.run.job.record import Progress  # noqa: E402
from treeplex.run.job.workers import Work  # noqa: E402
from treeplex.search.settings import PlaythroughSettings  # noqa: E402
from treeplex.search.subgames.identity import public_identity  # noqa: E402

torch.set_num_threads(1)

DICE = "liars_dice(dice_sides=2)"
TINY = RebelSettings(
    iterations=4, episodes=16, width=8, solves=320, burn_in=64, batch=32, reuse=4.0, depth=1, seed=3, streams=1
)


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training that was never stopped."""
    folder = tmp_path_factory.mktemp("rebel") / "whole"
    train(DICE, settings=TINY, out=folder, judge_every=0)
    return folder


def test_a_folder_says_everything(unbroken: Path) -> None:
    about = JobFolder(REBEL, unbroken).about()
    assert (about["game"], about["status"], about["settings"]["streams"], about["last"]["done"]) == (DICE, "finished", 1, 320)
    assert about["settings"]["iterations"] == 4
    records = JobFolder(REBEL, unbroken).records()
    assert (records[0].done, records[-1].done, records[-1].steps) == (0, 320, read_net(unbroken / NET).card["steps"])
    assert records[-1].cpu_seconds > 0
    assert records[-1].loss is not None
    net = read_net(unbroken / NET)
    assert net.game == DICE
    assert net.identity == public_identity(public_tree(DICE))
    assert (unbroken / "learning-curve.png").read_bytes().startswith(b"\x89PNG")
    assert is_rebel_folder(unbroken)
    assert is_rebel(unbroken / NET)
    assert not is_rebel("uniform")
    assert not is_net_file(unbroken / STATE)


def test_a_training_is_the_trainer_by_itself(unbroken: Path) -> None:
    trainer = RebelTrainer(public_tree(DICE), TINY)
    while not trainer.finished:
        trainer.round()
    assert {name: tensor.numpy().tobytes() for name, tensor in trainer.net.state_dict().items()} == weights(unbroken)


def test_a_warm_start_needs_a_policy_network(unbroken: Path) -> None:
    with pytest.raises(SpecError, match="trained without a policy network, which warm starts need"):
        judge_rebel(DICE, unbroken, playthroughs=2, iterations=4, search={"warm": 2}, workers=1)


@pytest.mark.slow
def test_streams_depend_neither_on_workers_nor_on_deaths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = replace(TINY, streams=3)
    train(DICE, settings=run, out=tmp_path / "alone", workers=1, judge_every=0)
    made: list[Processes] = []
    killed: list[int] = []

    class RecordedProcesses(Processes):  # type: ignore[misc]
        def __init__(self, size: int) -> None:
            super().__init__(size)
            made.append(self)

    def kill_one(progress: Progress) -> None:
        if not killed:
            killed.append(made[0].pids[0])
            os.kill(killed[0], signal.SIGKILL)

    monkeypatch.setattr(processes, "Processes", RecordedProcesses)
    ended = train(DICE, settings=run, out=tmp_path / "crew", workers=2, judge_every=0, progress=kill_one)
    assert ended.records[-1].lost == 1
    assert weights(tmp_path / "crew") == weights(tmp_path / "alone")
    assert not exists(killed[0])
    assert made[0].pids == []


def exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_an_error_in_a_worker_comes_out(tmp_path: Path) -> None:
    player = SelfPlayer("liars_dice(dice_sides=2)", replace(TINY, method="cfr"))
    trainer, play = parallel_trainer(public_tree(DICE), TINY, make_executor("inline"), player, 2)
    trainer.net[0].weight.data = torch.zeros(3, 3)
    with pytest.raises(RuntimeError, match="size mismatch"):
        play.advance()


def test_a_loss_that_is_no_number_keeps_the_last_good_checkpoint(unbroken: Path, tmp_path: Path) -> None:
    folder = copied(unbroken, tmp_path)
    before = (folder / STATE).read_bytes(), (folder / NET).read_bytes()

    class Spoilt(RebelTrainer):
        def round(self) -> Round:
            if self.play.solved >= 400:
                self.values.rows.arrays[1][:] = np.nan
            return super().round()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rebel, "RebelTrainer", Spoilt)
        with pytest.raises(AlgorithmError, match=r"the loss is nan .* has a checkpoint at 320 subgames"):
            train(resume=folder, settings={"solves": 640}, judge_every=0)
    assert ((folder / STATE).read_bytes(), (folder / NET).read_bytes()) == before
    assert JobFolder(REBEL, folder).about()["status"] == "failed"
    train(resume=folder, settings={"solves": 400, "rate": 1e-4}, judge_every=0)
    assert JobFolder(REBEL, folder).about()["status"] == "finished"


def test_a_checkpoint_of_another_game_is_refused(unbroken: Path, tmp_path: Path) -> None:
    train("liars_dice(dice_sides=3)", settings=replace(TINY, solves=16), out=tmp_path / "other", judge_every=0)
    folder = copied(unbroken, tmp_path)
    shutil.copy(tmp_path / "other" / STATE, folder / STATE)
    with pytest.raises(FileError, match="state belongs to another training"):
        train(resume=folder, judge_every=0)
    with pytest.raises(FileError, match="not liars_dice"):
        train("liars_dice(dice_sides=3)", resume=unbroken, judge_every=0)
    with pytest.raises(PolicyError, match="a network for"):
        judge_rebel("liars_dice(dice_sides=3)", unbroken)


@pytest.mark.parametrize(
    ("damage", "part"), [(lambda data: data[:-8], "truncated"), (lambda data: data[:-8] + b"abcdefgh", "checksum")]
)
def test_a_damaged_network_is_named(unbroken: Path, tmp_path: Path, damage, part: str) -> None:
    folder = copied(unbroken, tmp_path)
    (folder / NET).write_bytes(damage((folder / NET).read_bytes()))
    with pytest.raises(FileError, match=f"net.safetensors.*{part}"):
        judge_rebel(DICE, folder)


def test_weights_that_are_no_numbers_are_refused(tmp_path: Path) -> None:
    arrays = {"0.weight": np.array([[np.nan]], np.float32)}
    value_net_files.save_net(tmp_path / "net.safetensors", arrays, game=DICE, identity="x", settings={}, card={})
    with pytest.raises(FileError, match="not finite"):
        read_net(tmp_path / "net.safetensors")


def test_what_cannot_be_changed_under_way(unbroken: Path) -> None:
    with pytest.raises(SpecError, match="width is 8 and cannot change"):
        train(resume=unbroken, settings={"width": 16})
    with pytest.raises(SpecError, match="workers"):
        train(DICE, settings=TINY, out="x", workers=0)
    with pytest.raises(SpecError, match="judge_every"):
        train(DICE, settings=TINY, out="x", judge_every=-1.0)


def test_an_unknown_method_or_a_game_without_features_leaves_no_folder(tmp_path: Path) -> None:
    from treeplex.errors import GameError

    with pytest.raises(GameError, match="no features"):
        train("modified_rps", settings=TINY, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_a_budget_of_time_is_kept_and_the_step_size_falls_over_it(tmp_path: Path) -> None:
    ended = train(DICE, settings=TINY, seconds=0.6, out=tmp_path / "run", judge_every=0)
    assert 0.6 <= ended.records[-1].seconds < 30.0
    assert JobFolder(REBEL, tmp_path / "run").about()["settings"]["seconds"] == 0.6
    rates: list[float] = []
    taken = RebelTrainer.take_due

    def seen(self: RebelTrainer) -> list[tuple[float, ...]]:
        found = taken(self)
        if found:
            rates.append(self.values.optimizer.param_groups[0]["lr"])
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RebelTrainer, "take_due", seen)
        train(resume=tmp_path / "run", seconds=1.5, judge_every=0)
    assert rates[-1] < 0.1 * TINY.rate
    assert rates[0] > 2 * rates[-1]


@pytest.mark.slow
def test_it_is_judged_under_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frame, "RECORD_SECONDS", 0.0)
    ended = train(DICE, settings=TINY, out=tmp_path / "run", judge_every=0.01)
    judged = [record for record in ended.records if record.exploitability is not None]
    assert len(judged) >= 3
    assert {(record.playthroughs, record.iterations) for record in judged} == {(rebel_watch.PLAYTHROUGHS, 4)}
    assert ended.records[-1].exploitability is not None
    assert "Exploitability of 32" in rebel_figure("x", ended.records).axes[1].get_ylabel()
    assert JobFolder(REBEL, tmp_path / "run").records() == list(ended.records)
    monkeypatch.setattr(rebel_watch, "LARGEST", 5)
    assert rebel_watch.RunJudge(DICE, public_tree(DICE), TINY, None).every == 0.0


@pytest.mark.parametrize(("spec", "nodes"), [(DICE, 2**4 + 2**4 - 1), ("kuhn_poker", 9), ("modified_rps", 3)])
def test_public_nodes_are_counted(spec: str, nodes: int) -> None:
    assert rebel_watch.public_nodes(public_tree(spec), 1000) == nodes
    assert rebel_watch.public_nodes(public_tree(spec), 1) == 2


def test_events_for_tensorboard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[tuple[str, float, int]] = []
    purged: list[int | None] = []

    class Writer:
        def __init__(self, folder: str, purge_step: int | None) -> None:
            assert folder == str(tmp_path / "run" / "tensorboard")
            purged.append(purge_step)

        def add_scalar(self, name: str, value: float, step: int) -> None:
            written.append((name, value, step))

        def close(self) -> None:
            written.append(("closed", 0.0, 0))

    module = types.ModuleType("torch.utils.tensorboard")
    module.SummaryWriter = Writer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", module)
    train(DICE, settings=TINY, out=tmp_path / "run", judge_every=0, tensorboard=True)
    assert ("rebel/rows", 0.0, 0) in written
    assert any(name == "rebel/loss" and step == 320 for name, _, step in written)
    assert written[-1][0] == "closed"
    train(resume=tmp_path / "run", settings={"solves": 336}, judge_every=0, tensorboard=True)
    assert purged == [None, 321]
    assert not any(name == "rebel/policy_loss" for name, _, _ in written)
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(SpecError, match="pip install tensorboard"):
        train(DICE, settings=TINY, out=tmp_path / "other", tensorboard=True)
    assert not (tmp_path / "other").exists()


def test_events_are_read_back_by_tensorboard(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    ended = train(DICE, settings=TINY, out=tmp_path / "run", judge_every=0, tensorboard=True)
    events = EventAccumulator(str(tmp_path / "run" / "tensorboard"))
    events.Reload()
    for name in ("loss", "rows", "rate"):
        values = [(record.done, getattr(record, name)) for record in ended.records]
        written = [(each.step, each.value) for each in events.Scalars(f"rebel/{name}")]
        assert written == [(step, pytest.approx(value, rel=1e-6)) for step, value in values if value is not None]
        assert written


def test_judging_goes_on_and_grows(unbroken: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = copied(unbroken, tmp_path)
    asked = {"iterations": 4, "workers": 1}
    whole = judge_rebel(DICE, unbroken, playthroughs=160, **asked)
    seen: list[int] = []

    def stop(done: int, total: int, left: float | None) -> None:
        seen.append(done)
        if done >= 64:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        judge_rebel(DICE, folder, playthroughs=160, watch=stop, **asked)
    assert seen == [32, 64]
    later: list[int] = []
    again = judge_rebel(DICE, folder, playthroughs=160, watch=lambda done, *_: later.append(done), **asked)
    assert later == [96, 128, 160]
    assert np.array_equal(again.policy.probabilities, whole.policy.probabilities)
    other = {"seconds": 0.0, "network": "copy"}
    assert again.to_json() | other == whole.to_json() | other
    assert again.network == str(folder)
    more: list[int] = []
    judge_rebel(DICE, folder, playthroughs=192, watch=lambda done, *_: more.append(done), **asked)
    assert more == [192]
    assert len((folder / "evaluations.jsonl").read_text().splitlines()) == 2
    parts = sorted((folder / "judged").glob("*/*"))
    parts[0].write_bytes(b"damaged")
    third = judge_rebel(DICE, folder, playthroughs=160, **asked)
    assert np.array_equal(third.policy.probabilities, whole.policy.probabilities)


def test_parts_of_another_network_are_thrown_away(unbroken: Path, tmp_path: Path) -> None:
    folder = copied(unbroken, tmp_path)
    judge_rebel(DICE, folder, playthroughs=4, iterations=2, workers=1)
    first = {path.name for path in (folder / "judged").iterdir()}
    train(resume=folder, settings={"solves": 400}, judge_every=0)
    judge_rebel(DICE, folder, playthroughs=4, iterations=2, workers=1)
    second = {path.name for path in (folder / "judged").iterdir()}
    assert not first & second
    assert len(second) == 1


def test_a_judgement_is_that_of_its_policy_and_says_what_it_is_of(unbroken: Path) -> None:
    found = judge_rebel(DICE, unbroken / NET, playthroughs=10, iterations=3, seed=5, workers=1)
    printed = found.to_json()
    assert found.judgement == judge(compile_game(DICE), found.policy)
    assert (printed["playthroughs"], printed["iterations"], printed["seed"], printed["depth"]) == (10, 3, 5, 1)
    assert printed["trained"]["solved"] == 320
    assert found.halves is not None
    assert found.halves.low <= found.halves.mean <= found.halves.high
    assert found.gain == found.halves.mean - found.judgement.exploitability
    assert [part.count for part in parts_of(10)] == [3, 3, 3, 1]
    assert [part.count for part in parts_of(100)] == [25, 25, 25, 25]
    assert [part.count for part in parts_of(130)] == [32, 32, 32, 32, 2]
    alone = judge_rebel(DICE, unbroken / NET, playthroughs=1, iterations=3, workers=1)
    assert alone.halves is None
    assert not alone.settled


def test_few_playthroughs_and_halves_far_apart_do_not_settle_it(unbroken: Path) -> None:
    found = judge_rebel(DICE, unbroken / NET, playthroughs=2, iterations=3, workers=1)
    known = found.judgement.exploitability
    many = replace(found, settings=replace(found.settings, playthroughs=128))
    for low, mean, high, settled in [
        (0.95, 1.05, 1.1, True),
        (0.85, 1.0, 1.15, False),  # far apart
        (1.1, 1.15, 1.2, False),  # above the whole
    ]:
        halves = Halves(low * known, mean * known, high * known)
        assert replace(many, halves=halves).settled == settled
        assert not replace(found, halves=halves).settled
        assert not replace(many, halves=halves, settings=replace(many.settings, playthroughs=127)).settled


def test_what_a_judging_worker_gets_goes_through_a_pipe(unbroken: Path) -> None:
    game, net = compile_game(DICE), read_net(unbroken / NET)
    searcher = Searcher(DICE, net, PlaythroughSettings(iterations=2, depth=1, playthroughs=8), 0)
    found = judge_rebel(DICE, unbroken / NET, playthroughs=8, iterations=2, workers=1)
    parts = [search_part(pickle.loads(pickle.dumps(searcher)), part)[0] for part in parts_of(8)]
    assert np.array_equal(mixture_policy(game, np.stack(parts), np.full(4, 2.0)).probabilities, found.policy.probabilities)


def test_networks_are_kept_on_the_way(tmp_path: Path) -> None:
    train(DICE, settings=replace(TINY, solves=800), out=tmp_path / "run", judge_every=0)
    nets = [read_net(tmp_path / "run" / name) for name in (*LATE.values(), NET)]
    assert [net.card["solved"] for net in nets] == [768, 784, 800]
    assert len({net.checksum for net in nets}) == 3


def test_searching_otherwise_than_in_training(unbroken: Path) -> None:
    asked = {"playthroughs": 4, "iterations": 3, "workers": 1}
    usual = judge_rebel(DICE, unbroken / NET, **asked)
    other = judge_rebel(DICE, unbroken / NET, search={"depth": "2", "endgame": 4, "method": "lcfr"}, **asked)
    printed = other.to_json()
    assert (printed["depth"], printed["endgame"], printed["method"]) == (2, 4, "lcfr")
    assert not np.array_equal(other.policy.probabilities, usual.policy.probabilities)
    whole = judge_rebel(DICE, unbroken / NET, search={"depth": 0}, playthroughs=64, iterations=100, workers=1)
    assert whole.judgement.exploitability < 0.02  # nothing is cut off, so the network does not matter


def test_judging_is_refused(unbroken: Path) -> None:
    for wrong in (
        {"playthroughs": 0},
        {"iterations": 0},
        {"seed": -1},
        {"search": {"method": "dcfrr"}},
        {"search": {"deep": 1}},
        {"workers": 0},
    ):
        with pytest.raises(SpecError):
            judge_rebel(DICE, unbroken, **wrong)


def test_settings_by_name(tmp_path: Path) -> None:
    settings_of = RebelKind().settings_for
    assert settings_of(None, "paper") == settings_of(DICE, "paper") == PAPER
    assert settings_of("turn_holdem", "paper") == settings_of("leduc_poker(ranks=4)", "paper") == PAPER_CARDS
    assert settings_of("turn_holdem", None) == settings_of("leduc_poker", None) == RECIPE_ROUNDS
    assert settings_of("kuhn_poker", None) == RebelSettings()
    assert settings_of(DICE, None, {"solves": "120_000", "rate": "1e-4"}, {"method": "lcfr"}) == RebelSettings(
        solves=120_000, rate=1e-4, method="lcfr"
    )
    write_atomically(tmp_path / "settings.yaml", PAPER.as_yaml())
    assert RebelSettings().changed(from_yaml(tmp_path / "settings.yaml")) == PAPER
    for wrong, part in [
        ({"with": 1}, "did you mean 'width'"),
        ({"width": "wide"}, "width must be an integer"),
        ({"width": 1.5}, "width must be an integer"),
        ({"rate": "fast"}, "rate must be a number"),
        ({"rate": "nan"}, "rate must be a number"),
        ({"method": "dcfrr"}, "method must be one of .*did you mean 'dcfr'"),
    ]:
        with pytest.raises(SpecError, match=part):
            settings_of(DICE, None, wrong)
    with pytest.raises(SpecError, match="did you mean 'paper'"):
        settings_of(DICE, "papr")
    with pytest.raises(SpecError, match="streams"):
        replace(TINY, streams=0)
    with pytest.raises(SpecError, match="seconds"):
        replace(TINY, seconds=0.0)


def test_one_worker_is_one_stream() -> None:
    assert streams_for(Work(1)) == 1
    assert streams_for(Work(3)) == 6


@pytest.mark.slow
def test_a_training_with_a_policy_network_goes_on_and_is_judged_with_it(tmp_path: Path) -> None:
    run = replace(TINY, policy_net=True, warm=2, solves=160, streams=2)
    train(DICE, settings=run, out=tmp_path / "whole", workers=1, judge_every=0)
    with pytest.raises(JobInterrupt):
        train(DICE, settings=run, out=tmp_path / "run", workers=1, judge_every=0, progress=stop_after(3))
    train(resume=tmp_path / "run", workers=1, judge_every=0)
    assert weights(tmp_path / "run") == weights(tmp_path / "whole")
    assert read_net(tmp_path / "run" / NET).leaf(public_tree(DICE)).guess is not None
    asked = {"playthroughs": 8, "iterations": 4, "workers": 1}
    warm = judge_rebel(DICE, tmp_path / "run", **asked)
    net = read_net(tmp_path / "run" / NET)
    cold = tmp_path / "cold.safetensors"
    about = {"game": net.game, "identity": net.identity, "card": net.card}
    value_net_files.save_net(cold, net.weights, settings=dict(net.settings) | {"warm": 0}, **about)
    assert not np.array_equal(warm.policy.probabilities, judge_rebel(DICE, cold, **asked).policy.probabilities)
    with pytest.raises(SpecError, match="policy_net is true and cannot change"):
        train(resume=tmp_path / "run", settings={"policy_net": "false"})


@pytest.mark.slow
def test_losses_of_both_networks_are_written_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A record's losses are the means over its steps of what the trainer by itself reports, round by round."""
    monkeypatch.setattr(frame, "RECORD_SECONDS", 0.0)
    settings = replace(TINY, policy_net=True, warm=2, solves=160)
    records = train(DICE, settings=settings, out=tmp_path / "run", judge_every=0).records
    trainer, expected = RebelTrainer(public_tree(DICE), settings), {}
    while not trainer.finished:
        done = trainer.round()
        expected[done.done] = done
    learnt = [record for record in records if record.loss is not None]
    assert len(learnt) == (160 - 64) // 16 + 1
    for record in learnt:
        assert (record.loss, record.policy_loss) == (expected[record.done].loss, expected[record.done].policy_loss)
        assert 0 < record.policy_loss != record.loss
    assert learnt[-1].policy_loss < learnt[0].policy_loss
    written = [json.loads(line) for line in (tmp_path / "run" / METRICS).read_text().splitlines()]
    assert [line["policy_loss"] for line in written] == [record.policy_loss for record in records]
    panels = rebel_figure("x", records).axes
    assert [panel.get_ylabel() for panel in panels] == ["Huber loss", "Squared error\nof the policy network"]
    assert panels[1].get_lines()[0].get_ydata().tolist() == [record.policy_loss for record in learnt]
    numbers = {**records[-1].numbers, "exploitability": 0.1, "playthroughs": 32, "iterations": 4}
    judged = replace(records[-1], numbers=numbers)
    assert len(rebel_figure("x", [*records, judged]).axes) == 3


def test_a_record_without_a_policy_network_has_no_loss_of_one(unbroken: Path) -> None:
    records = JobFolder(REBEL, unbroken).records()
    assert all(record.policy_loss is None for record in records)
    assert len(rebel_figure("x", records).axes) == 1


def test_mean_losses_weigh_rounds_by_their_steps() -> None:
    assert mean_losses([(1, 0.5, 0.25), (3, 0.1, 0.05)]) == pytest.approx({"loss": 0.2, "policy_loss": 0.1})
    assert mean_losses([(1, 0.5, math.nan)]) == {"loss": 0.5, "policy_loss": None}
    assert mean_losses([]) == {"loss": None, "policy_loss": None}


def test_settings_that_are_true_or_false(tmp_path: Path) -> None:
    settings = RebelSettings().changed({"policy_net": "True", "source": "random"})
    assert (settings.policy_net, settings.source) == (True, "random")
    (tmp_path / "settings.yaml").write_text(settings.as_yaml())
    assert "policy_net: true " in (tmp_path / "settings.yaml").read_text()
    assert RebelSettings().changed(from_yaml(tmp_path / "settings.yaml")) == settings
    with pytest.raises(SpecError, match="policy_net must be true or false, not 'yes'"):
        RebelSettings().changed({"policy_net": "yes"})


def test_identities_of_rules() -> None:
    specs = [DICE, "liars_dice(dice_sides=3)", "kuhn_poker", "leduc_poker", "modified_rps"]
    found = {public_identity(public_tree(spec)) for spec in specs}
    assert len(found) == len(specs)
    assert public_identity(public_tree("liars_dice(dice=1,faces=2)")) == public_identity(public_tree(DICE))


def test_printed_commands_name_a_custom_network_again(tmp_path: Path) -> None:
    settings = RebelSettings(net="nets.py:tanh_net")
    training = TrainingRun("rebel", DICE, settings, (), "finished", tmp_path, RebelKind())
    judged, played = (command for command, _ in training.kind.next_steps(training))
    assert judged.endswith(f"{tmp_path} --set net=nets.py:tanh_net")
    assert played.endswith(f'--against "rebel(network={tmp_path},net=nets.py:tanh_net)"')
    assert resuming(training) == f"treeplex train --resume {tmp_path} --set net=nets.py:tanh_net"
