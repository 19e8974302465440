"""``treeplex train best-response``: what it says, whom it learns against, and what comes of it."""

import json

import pytest
from typer.testing import CliRunner

import treeplex as tp
from treeplex.errors import FileError, SpecError
from treeplex.forms.policies.sparse import TablePolicy
from treeplex.run.cli.main import app

SHORT = {"episodes": 300, "hands": 200}


def call(*arguments, code=0):
    result = CliRunner().invoke(app, ["train", *map(str, arguments)])
    assert result.exit_code == code, (arguments, result.output, result.exception)
    return result


def test_it_says_at_least(tmp_path):
    out = call("best-response", "kuhn_poker", "--set", "episodes=300", "--out", tmp_path / "run").stdout
    assert "best-response against uniform on kuhn_poker: 300 episodes" in out
    assert "exploitability  at least 0.4" in out
    assert "95% interval, 4,000 held-out hands" in out
    assert (tmp_path / "run" / "learning-curve.png").is_file()


@pytest.mark.slow
def test_json_and_resuming(tmp_path):
    options = ["--set", "hands=200", "--json"]
    made = json.loads(call("best-response", "kuhn_poker", "--set", "episodes=100", *options, "--out", tmp_path / "a").stdout)
    assert made["episodes"] == 100
    assert made["learner"] == "best-response"
    assert made["at_least"] == pytest.approx(sum(made["values"]) / 2)
    again = json.loads(call("--resume", tmp_path / "a", "--set", "episodes=250", "--json").stdout)
    whole = json.loads(call("best-response", "kuhn_poker", "--set", "episodes=250", *options, "--out", tmp_path / "b").stdout)
    assert {name: again[name] for name in ("at_least", "values")} == {name: whole[name] for name in ("at_least", "values")}


@pytest.mark.slow
def test_against_runs_samples_and_agents(tmp_path):
    tp.solve("kuhn_poker", "cfr", iterations=3, out=tmp_path / "solved")
    tp.sample("kuhn_poker", iterations=20, out=tmp_path / "sampled", playouts=20)
    for number, against in enumerate((str(tmp_path / "solved"), str(tmp_path / "sampled"), "lbr(against=uniform)")):
        trained = tp.train("kuhn_poker", "best-response", settings={**SHORT, "against": against}, out=tmp_path / f"run{number}")
        record = trained.records[-1]
        assert record.at_least > 2 * trained.records[0].at_least > -3
        assert record.interval > 0
        assert isinstance(trained.load(), TablePolicy)
    solved = tp.load_policy(tmp_path / "solved")
    first = json.loads((tmp_path / "run0" / "run.json").read_text())
    assert first["settings"]["against"] == str(tmp_path / "solved")
    assert first["record"]["at_least"] if "record" in first else True
    assert tp.exploitability("kuhn_poker", solved) < 0.5


@pytest.mark.slow
def test_the_response_is_an_agent(tmp_path):
    trained = tp.train("leduc_poker", "best-response", settings={"episodes": 2500, "hands": 100}, out=tmp_path / "run")
    found = tp.arena.local_best_response("leduc_poker", f"best_response(file={tmp_path / 'run'})", hands=4)
    assert found.hands == 4
    from treeplex.forms.sources.load import load
    from treeplex.search.evaluate.winnings import exact_winnings

    table = load("leduc_poker")
    agent, other = tp.agent(f"best_response(file={tmp_path / 'run'})", table), tp.agent("uniform", table)
    paid = exact_winnings(agent, other)
    assert 0.85 * 2.3736 < paid.value <= 2.3737
    assert trained.records[-1].at_least == pytest.approx(paid.value, abs=1.7 * trained.records[-1].interval)
    with pytest.raises(SpecError, match="kuhn_poker"):
        tp.agent(f"best_response(file={tmp_path / 'run'})", "kuhn_poker")


def test_refusals(tmp_path):
    assert "nobody" in call("best-response", "kuhn_poker", "--against", "nobody", "--out", tmp_path / "a", code=2).stderr
    assert "'against'" in call("ddcfr", "kuhn_poker", "--against", "uniform", "--out", tmp_path / "a", code=2).stderr
    (tmp_path / "empty").mkdir()
    with pytest.raises(SpecError, match="holds no policy"):
        tp.train("kuhn_poker", "best-response", settings={"against": str(tmp_path / "empty")}, out=tmp_path / "a")


@pytest.mark.slow
def test_an_agent_of_ones_own_is_named_again(tmp_path):
    file = tmp_path / "own.py"
    file.write_text(
        "import numpy as np\nfrom treeplex.search import Seat\n\n\n"
        "class First(Seat):\n"
        "    def begin(self, seat=None, generator=None, *, at=None):\n"
        "        self.sit(seat, generator)\n        self.state = self.game.first_state()\n\n"
        "    def see(self, event):\n        self.state = self.game.after(self.state, event)\n\n"
        "    def policy(self):\n        options = self.game.options(self.state)\n"
        "        table = np.zeros((len(options.labels), len(self.game.possible(self.state)[options.player])))\n"
        "        table[0] = 1.0\n        return table\n"
    )
    against = f"{file}:First"
    trained = tp.train("kuhn_poker", "best-response", settings={**SHORT, "against": against}, out=tmp_path / "run")
    assert trained.records[-1].values == (1.0, 1.0)  # it passes and folds, whatever it holds
    with pytest.raises(FileError, match="name it as well"):
        tp.train(resume=tmp_path / "run", settings={"episodes": 400})
    again = tp.train(resume=tmp_path / "run", settings={"episodes": 400, "against": against})
    assert again.records[-1].done == 400
