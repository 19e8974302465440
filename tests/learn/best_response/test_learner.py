"""``treeplex train best-response``: what it says, whom it learns against, and what comes of it."""

import json

import pytest
from typer.testing import CliRunner

import treeplex as tp
from treeplex.errors import FileError, SpecError
from treeplex.run.cli.main import app

SHORT = {"steps": 20, "batch": 256, "hands": 200}


def call(*arguments, code=0):
    result = CliRunner().invoke(app, ["train", *map(str, arguments)])
    assert result.exit_code == code, (arguments, result.output, result.exception)
    return result


def test_it_says_at_least(tmp_path):
    out = call("best-response", "kuhn_poker", "--set", "steps=20", "--out", tmp_path / "run").stdout
    assert "best-response against uniform on kuhn_poker: 20 steps" in out
    assert "exploitability  at least 0.4" in out
    assert "95% interval, 4,000 held-out hands" in out
    assert (tmp_path / "run" / "learning-curve.png").is_file()


@pytest.mark.slow
def test_json_and_resuming(tmp_path):
    options = ["--set", "hands=200", "--set", "batch=256", "--set", "decay=0", "--json"]
    made = json.loads(call("best-response", "kuhn_poker", "--set", "steps=10", *options, "--out", tmp_path / "a").stdout)
    assert made["steps"] == 10
    assert made["learner"] == "best-response"
    assert made["at_least"] == pytest.approx((made["value_0"] + made["value_1"]) / 2)
    again = json.loads(call("--resume", tmp_path / "a", "--set", "steps=25", "--json").stdout)
    whole = json.loads(call("best-response", "kuhn_poker", "--set", "steps=25", *options, "--out", tmp_path / "b").stdout)
    assert {name: again[name] for name in ("at_least", "value_0")} == {name: whole[name] for name in ("at_least", "value_0")}


@pytest.mark.slow
def test_against_runs_samples_and_agents(tmp_path):
    tp.solve("kuhn_poker", "cfr", iterations=3, out=tmp_path / "solved")
    tp.sample("kuhn_poker", iterations=20, out=tmp_path / "sampled", playouts=20)
    for number, against in enumerate((str(tmp_path / "solved"), str(tmp_path / "sampled"), "lbr(against=uniform)")):
        trained = tp.train("kuhn_poker", "best-response", settings={**SHORT, "against": against}, out=tmp_path / f"run{number}")
        first, last = (trained.records[place].measures for place in (0, -1))
        assert last["at_least"] > first["at_least"] > -3
        assert last["interval"] > 0
        assert isinstance(trained.load(), tp.Policy)
    solved = tp.load_policy(tmp_path / "solved")
    first = json.loads((tmp_path / "run0" / "run.json").read_text())
    assert first["settings"]["against"] == str(tmp_path / "solved")
    assert tp.exploitability("kuhn_poker", solved) < 0.5


@pytest.mark.slow
def test_the_response_is_an_agent(tmp_path):
    trained = tp.train("leduc_poker", "best-response", settings={"steps": 60, "hands": 100}, out=tmp_path / "run")
    found = tp.arena.local_best_response("leduc_poker", f"best_response(file={tmp_path / 'run'})", hands=4)
    assert found.hands == 4
    from treeplex.forms.sources.load import load
    from treeplex.search.evaluate.winnings import exact_winnings

    table = load("leduc_poker")
    agent, other = tp.agent(f"best_response(file={tmp_path / 'run'})", table), tp.agent("uniform", table)
    paid = exact_winnings(agent, other)
    assert 0.9 * 2.3736 < paid.value <= 2.3737
    last = trained.records[-1].measures
    assert last["at_least"] == pytest.approx(paid.value, abs=1.7 * last["interval"])
    with pytest.raises(SpecError, match="kuhn_poker"):
        tp.agent(f"best_response(file={tmp_path / 'run'})", "kuhn_poker")


def test_refusals(tmp_path):
    assert "nobody" in call("best-response", "kuhn_poker", "--against", "nobody", "--out", tmp_path / "a", code=2).stderr
    assert "'against'" in call("ddcfr", "kuhn_poker", "--against", "uniform", "--out", tmp_path / "a", code=2).stderr
    (tmp_path / "empty").mkdir()
    with pytest.raises(SpecError, match="contains no policy"):
        tp.train("kuhn_poker", "best-response", settings={"against": str(tmp_path / "empty")}, out=tmp_path / "a")


@pytest.mark.slow
def test_an_agent_of_ones_own_is_named_again(tmp_path):
    file = tmp_path / "own.py"
    file.write_text(
        "import numpy as np\nfrom treeplex.search import BaseAgent\n\n\n"
        "class First(BaseAgent):\n"
        "    def begin(self, seat=None, generator=None, *, at=None):\n"
        "        self.sit(seat, generator)\n        self.state = self.game.first_state()\n\n"
        "    def see(self, event):\n        self.state = self.game.after(self.state, event)\n\n"
        "    def policy(self):\n        options = self.game.options(self.state)\n"
        "        table = np.zeros((len(options.labels), len(self.game.possible(self.state)[options.player])))\n"
        "        table[0] = 1.0\n        return table\n"
    )
    against = f"{file}:First"
    trained = tp.train("kuhn_poker", "best-response", settings={**SHORT, "against": against}, out=tmp_path / "run")
    assert [trained.records[-1].measures[name] for name in ("value_0", "value_1")] == [
        1.0,
        1.0,
    ]  # it passes and folds, whatever it holds
    with pytest.raises(FileError, match="name the agent again"):
        tp.train(resume=tmp_path / "run", settings={"steps": 24})
    again = tp.train(resume=tmp_path / "run", settings={"steps": 24, "against": against})
    assert again.records[-1].done == 24
