"""Learners of one's own: what they get for free, and what is refused."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
from numpy.typing import NDArray

import treeplex as tp
from tests.commands import call
from tests.processes import interrupt_after
from treeplex.base.settings import Settings, setting
from treeplex.errors import AlgorithmError, FileError, JobInterrupt, SpecError
from treeplex.learn import Learner
from treeplex.learn.train.learner_job import OWN, POLICY
from treeplex.learn.train.registry import learner_named
from treeplex.run.job.folder import JobFolder

EXAMPLE = Path(__file__).parents[3] / "examples" / "extending" / "deep_cfr_learner.py"
DEEP = f"{EXAMPLE}:DeepCFR"
SHORT = {"steps": 8, "walks": 5, "fits": 4, "policy_fits": 4, "batch": 16}
BRIEF = [part for name, number in SHORT.items() if name != "steps" for part in ("--set", f"{name}={number}")]


def arrays(folder: Path) -> dict[str, bytes]:
    with JobFolder(OWN, folder).state() as file:
        return {name: array.tobytes() for name, array in file.items()}


@pytest.mark.slow
def test_the_example_learns_kuhn_poker(tmp_path: Path) -> None:
    training = tp.train(
        "kuhn_poker",
        DEEP,
        settings={"steps": 20, "walks": 100, "fits": 60, "policy_fits": 150, "batch": 128},
        out=tmp_path / "run",
    )
    curve = [(record.done, record.measures["exploitability"]) for record in training.records]
    assert curve[0] == (0, pytest.approx(tp.exploitability("kuhn_poker", "uniform")))
    assert curve[-1][0] == 20
    assert curve[-1][1] < 0.1
    assert training.load().probabilities.shape == (30,) or len(training.load()) == 12
    assert tp.exploitability("kuhn_poker", training.folder) == pytest.approx(curve[-1][1])
    assert training.to_json()["exploitability"] == curve[-1][1]


@pytest.mark.slow
def test_a_class_is_trained_as_well_and_resumed_bit_for_bit(tmp_path: Path) -> None:
    learner = learner_named(DEEP).made  # type: ignore[attr-defined]
    whole = tp.train("kuhn_poker", learner, settings=SHORT, out=tmp_path / "whole")

    tp.train("kuhn_poker", learner, settings=SHORT | {"steps": 3}, out=tmp_path / "part")
    resumed = tp.train(learner=learner, resume=tmp_path / "part", settings=SHORT)
    assert arrays(tmp_path / "part") == arrays(tmp_path / "whole")
    assert [(each.done, each.numbers) for each in resumed.records] == [(each.done, each.numbers) for each in whole.records]


@pytest.mark.slow
def test_ctrl_c_saves_it(tmp_path: Path) -> None:
    with pytest.raises(JobInterrupt) as stopped:
        tp.train("kuhn_poker", DEEP, settings=SHORT, out=tmp_path / "run", progress=interrupt_after(2))
    assert stopped.value.result.records[-1].done == 2
    assert tp.train(learner=DEEP, resume=tmp_path / "run").records[-1].done == 8


@pytest.mark.slow
def test_the_commands(tmp_path: Path) -> None:
    out, _ = call("train", DEEP, "kuhn_poker", "--set", "steps=2", *BRIEF, "--out", tmp_path / "run")
    assert "kuhn_poker: 2 steps" in out
    assert f"treeplex evaluate kuhn_poker {tmp_path / 'run'}" in out
    printed = json.loads(call("train", DEEP, "--resume", tmp_path / "run", "--set", "steps=3", "--json")[0])
    assert (printed["steps"], printed["status"]) == (3, "finished")
    judged = json.loads(call("evaluate", "kuhn_poker", tmp_path / "run", "--json")[0])
    assert judged["exploitability"] == pytest.approx(printed["exploitability"])
    assert "Pass" in call("show", tmp_path / "run")[0]
    assert "rate: 0.003 " in call("train", DEEP, "--show")[0]
    assert "width *" in call("train", DEEP, "--help")[0]
    assert (tmp_path / "run" / "learning-curve.png").read_bytes().startswith(b"\x89PNG")


def test_reading_a_folder_runs_no_code(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(f"{EXAMPLE.read_text()}\nopen({str(tmp_path / 'ran')!r}, 'w').close()\n")
    mine = f"{tmp_path / 'mine.py'}:DeepCFR"
    tp.train("kuhn_poker", mine, settings=SHORT, out=tmp_path / "run")
    (tmp_path / "ran").unlink()
    with pytest.raises(
        FileError, match=r"trained by a custom learner, whose code is not run .*; name it again, .*mine.py:DeepCFR"
    ):
        tp.train(resume=tmp_path / "run")
    assert tp.exploitability("kuhn_poker", tmp_path / "run") > 0
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("x = 1", "it defines no class derived from treeplex.learn.Learner"),
        ("from treeplex.learn import Learner\nclass A(Learner): pass", "A has no settings; set settings_class"),
        (
            "from treeplex.learn import Learner, Settings\nclass A(Learner):\n    settings_class = Settings\n    step = print",
            "lacks policy, restore, state; implement these methods",
        ),
        ("x = ", "mine.py:1"),
    ],
)
def test_a_file_without_a_whole_learner_is_refused(tmp_path: Path, text: str, part: str) -> None:
    (tmp_path / "mine.py").write_text(text)
    with pytest.raises(SpecError, match=part):
        tp.train("kuhn_poker", f"{tmp_path / 'mine.py'}", out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


WRONG = """
from dataclasses import dataclass
from treeplex.learn import Learner, Settings
import treeplex as tp

class Wrong(Learner):
    settings_class = Settings
    def step(self): return {"loss": {LOSS}}
    def policy(self): return tp.Policy.uniform(self.compiled)
    def state(self): return {}
    def restore(self, arrays): pass
"""


def test_numbers_that_are_none_stop_it(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(WRONG.replace("{LOSS}", "float('nan')"))
    with pytest.raises(AlgorithmError, match=r"loss is nan after 1 steps"):
        tp.train("kuhn_poker", f"{tmp_path / 'mine.py'}:Wrong", out=tmp_path / "run")
    assert JobFolder(OWN, tmp_path / "run").about()["status"] == "failed"


def test_a_training_without_an_end_stops_after_a_time(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(WRONG.replace("{LOSS}", "1.0"))
    training = tp.train("kuhn_poker", f"{tmp_path / 'mine.py'}:Wrong", out=tmp_path / "run", seconds=0.05)
    assert training.status == "time up"
    assert (training.folder / POLICY).exists()


def test_wrong_names_are_refused(tmp_path: Path) -> None:
    for learner, part in [
        (f"{EXAMPLE}:DeepCF", "did you mean 'DeepCFR'"),
        (f"{EXAMPLE}:regret_matching", "is not a learner"),
        (f"{EXAMPLE}:DeepCFR(rate=3)", "give settings with --set"),
        ("rebl", "unknown learner 'rebl'; did you mean 'rebel'"),
        (3, "a learner is a name"),
    ]:
        with pytest.raises(SpecError, match=part):
            tp.train("kuhn_poker", learner, out=tmp_path / "run")  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="does not support workers"):
        tp.train("kuhn_poker", DEEP, out=tmp_path / "run", workers=2)
    tp.train("kuhn_poker", DEEP, settings=SHORT | {"steps": 1}, out=tmp_path / "run")
    with pytest.raises(SpecError, match=r"cannot change to .* on resume"):
        tp.train(learner=DEEP, resume=tmp_path / "run", settings={"width": 3})


def test_a_class_from_a_prompt_has_no_file(tmp_path: Path) -> None:
    source = (
        "import treeplex as tp\n"
        "class Still(tp.learn.Learner):\n"
        "    settings_class = Few\n"
        "    def step(self): return None\n"
        "    def policy(self): return tp.Policy.uniform(self.compiled)\n"
        "    def state(self): return {}\n"
        "    def restore(self, arrays): pass\n"
    )

    @dataclass(frozen=True)
    class Few(Settings):
        steps: int = setting(2, "steps", low=1)

    names = {"__name__": "__prompt__", "Few": Few}
    exec(source, names)
    training = tp.train("kuhn_poker", names["Still"], out=tmp_path / "run")  # type: ignore[arg-type]
    assert training.records[-1].done == 2


@pytest.mark.parametrize("countable", [("nodes",), ("nodes", "episodes")], ids=["before", "after a step"])
def test_a_limit_that_is_not_counted_ends_a_training(tmp_path: Path, countable: tuple[str, ...]) -> None:
    @dataclass(frozen=True)
    class LimitSettings(Settings):
        episodes: int = setting(0, "playthroughs", low=0)

    class Idle(Learner):
        """Says that it counts what it does not."""

        settings_class = LimitSettings
        countable = property(lambda self: countable)

        def step(self) -> None: ...

        def policy(self) -> tp.Policy:
            return tp.Policy.uniform(self.compiled)

        def state(self) -> dict[str, NDArray[Any]]:
            return {}

        def restore(self, arrays: object) -> None: ...

        def effort(self) -> dict[str, int]:
            return {"nodes": 1, "episodes": 0}

    with pytest.raises(SpecError, match="does not count episodes with these settings; limit it by --nodes, steps or --seconds"):
        tp.train("kuhn_poker", Idle, settings={"episodes": 3}, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


class Uniform(Learner):
    """Learns nothing."""

    settings_class = Settings

    def step(self) -> Any:
        return {"loss": 1.0}

    def policy(self) -> Any:
        return tp.Policy.uniform(self.compiled)

    def state(self) -> Any:
        return {}

    def restore(self, arrays: Any) -> None:
        pass


@pytest.mark.parametrize(
    ("method", "returned"),
    [
        ("policy", [0.5, 0.5]),
        ("policy", None),
        ("step", 3),
        ("step", {"loss": "low"}),
        ("measure", None),
        ("measure", {"loss": [1, 2]}),
        ("state", [1]),
        ("state", {"best": "none"}),
        ("state", {"job.steps": [7]}),
    ],
)
def test_methods_that_return_something_else_are_named(tmp_path: Path, method: str, returned: object) -> None:
    learner = type("Wrong", (Uniform,), {method: lambda self: returned})
    with pytest.raises(AlgorithmError, match=rf"Wrong.{method}\(\) returned .*; return a"):
        tp.train("kuhn_poker", learner, out=tmp_path / "run")


def test_a_training_that_failed_at_once_has_no_policy_yet(tmp_path: Path) -> None:
    def fail(self: Learner) -> None:
        raise ValueError("no step")

    with pytest.raises(ValueError, match="no step"):
        tp.train("kuhn_poker", type("Fails", (Uniform,), {"step": fail}), out=tmp_path / "run")
    (tmp_path / "run" / POLICY).unlink(missing_ok=True)
    with pytest.raises(FileError, match=r"run has no stored policy yet; resume it .* or restart it"):
        tp.judge("kuhn_poker", tmp_path / "run")


def test_settings_are_a_mapping() -> None:
    with pytest.raises(SpecError, match=r"settings must be a mapping .*, not \[1\]"):
        tp.train("kuhn_poker", Uniform, settings=[1])  # type: ignore[arg-type]
