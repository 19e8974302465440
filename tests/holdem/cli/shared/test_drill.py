"""Drills at the terminal: the table and the score are those of the solution."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from treeplex.holdem.cli.shared.drill import Answer, Drill
from treeplex.holdem.solve.solution import HoldemSolution
from treeplex.holdem.solve.solve_spot import solve_spot
from treeplex.holdem.spots.files import request_from_options
from treeplex.holdem.study.drill import DrillFilter, deal
from treeplex.holdem.study.report.export import node_report
from treeplex.run.cli.main import app

RIVER = {
    "board": "Td 9d 6h Qc 2s",
    "oop": "AA, QQ, JTs, 87s",
    "ip": "KK, QJs, T9s, AQo",
    "pot": "100",
    "stack": "200",
    "bets": "50%, a",
    "raises": "a",
}


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> HoldemSolution:
    """A solved river with its file, beside the spot's own file."""
    file = tmp_path_factory.mktemp("drilled") / "river.spot"
    file.with_suffix(".yaml").write_text("".join(f"{name}: {value}\n" for name, value in RIVER.items()))
    return solve_spot(request_from_options(RIVER).spot(), iterations=50, threads=1, out=file)


def run(*options: str, text: str = "") -> tuple[int, str]:
    result = CliRunner().invoke(app, ["play", *options], input=text)
    return result.exit_code, result.output


def drilled(solution: HoldemSolution, *options: str, text: str = "") -> tuple[int, str]:
    assert solution.folder is not None
    file = solution.folder
    return run(str(file.with_suffix(".yaml")), "--against", str(file), "--drill", *options, text=text)


def test_two_decisions_and_their_score(solved: HoldemSolution) -> None:
    code, output = drilled(solved, "--seat", "oop", "--seed", "3", "-n", "2", text="nonsense\n1\ncheck\n")
    assert code == 0, output
    assert "type a number or a name, or quit" in output
    side, lost = node_report(solved, "").from_the_pot().sides[0], []
    titles = [line for line in output.splitlines() if ": OOP with " in line]
    answers = [line.split() for line in output.splitlines() if "(you)" in line]
    assert len(titles) == len(answers) == 2
    for title, words in zip(titles, answers, strict=True):
        row = side.names.index(title.split(" with ")[1].split()[0])
        loss = side.action_ev[:, row].max() - side.action_ev[0, row]
        assert words[:2] == ["check", "(you)"]
        assert words[2] == f"{100 * side.frequency[0, row]:.1f}%"
        assert [float(word) for word in words[3:5]] == pytest.approx([side.action_ev[0, row], loss], abs=0.006)
        lost.append(loss / 100)
    assert f"2 decisions: EV loss {100 * sum(lost) / 2:.2f}% of the pot on average" in output


def test_quitting_before_the_first_answer(solved: HoldemSolution) -> None:
    code, output = drilled(solved, "--line", "x", "--only", "set", "--seed", "1", text="quit\n")
    assert code == 0, output
    assert "no decision was answered" in output


def test_the_history_and_mistakes_that_come_back(solved: HoldemSolution, tmp_path: Path) -> None:
    """Of a folder, by range and street: all-in with a set is a mistake, which is asked again as the third decision."""
    assert solved.folder is not None
    shutil.copy(solved.folder, tmp_path / "one.spot")
    command = ["holdem", "drill", str(tmp_path), "--only", "QQ, river, on two-tone", "--seat", "oop", "--seed", "2", "-n", "3"]
    result = CliRunner().invoke(app, command, input="3\n" * 3)
    assert result.exit_code == 0, result.output
    titles = [line for line in result.output.splitlines() if ": OOP with Q" in line]
    side = node_report(solved, "").from_the_pot().sides[0]
    row = side.names.index(titles[0].split(" with ")[1].split()[0])
    mistake = side.action_ev[:, row].max() - side.action_ev[2, row] > 1 and side.frequency[2, row] < 0.05
    assert titles[2].endswith("(repeated mistake)") == mistake
    history = [line for line in result.output.splitlines() if line.strip().startswith("OOP Q")]
    assert len(history) == 3
    assert all("start" in line and "allin 200" in line for line in history)
    assert "s per decision" in result.output


def test_late_answers_count_as_the_first_action(solved: HoldemSolution) -> None:
    policy = solved.policy
    drill = Drill(lambda rng: policy, DrillFilter(0), seed=1, limit=1e-9)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("treeplex.holdem.cli.shared.drill.chosen", lambda names: 2)
        drill.one(0)
    (answer,) = drill.answers
    assert (answer.late, answer.action) == (True, 0)


def test_mistakes_leave_after_two_right_answers(solved: HoldemSolution) -> None:
    policy = solved.policy
    question = next(
        asked
        for seed in range(100)
        if "mistake" in [(asked := deal(policy, DrillFilter(0), np.random.default_rng(seed))).verdict(a) for a in range(3)]
    )
    verdicts = [question.verdict(action) for action in range(3)]
    wrong, right = verdicts.index("mistake"), verdicts.index("best")
    drill = Drill(lambda rng: policy, DrillFilter())
    left = []
    for action in (wrong, right, wrong, right, right):
        drill.record(Answer(policy, question, action, 1.0, False))
        left.append([due for _, due in drill.mistakes])
    assert left == [[2], [1], [2], [1], []]
    assert [each.policy for each in drill.answers] == [None] * 5  # so that answers from a folder do not fill the memory


def test_a_chart_by_name() -> None:
    command = ["holdem", "drill", "20bb", "--seat", "btn", "--only", "AA", "-n", "1", "--seed", "1"]
    result = CliRunner().invoke(app, command, input="fold\n")
    assert result.exit_code == 0, result.output
    assert "1: BTN with A" in result.output
    assert "mistake, loses" in result.output
    for source, words in (("nothing", "is not a solved spot; name a .spot file"), ("200", "is not a solved spot")):
        result = CliRunner().invoke(app, ["holdem", "drill", source])
        assert result.exit_code == 2
        assert words in result.output


def test_options_that_do_not_fit(solved: HoldemSolution) -> None:
    assert solved.folder is not None
    spot, against = str(solved.folder.with_suffix(".yaml")), ("--against", str(solved.folder))
    for options, words in (
        ((spot, "--drill"), "name its file, --against solved.spot"),
        ((spot, "--drill", "--against", "uniform"), "name its file, --against solved.spot"),
        ((spot, "--drill", *against, "--boards"), "--boards applies to hands against an agent only"),
        ((spot, "--drill", *against, "--only", "top hat"), "is not a group of hands"),
        ((spot, "--drill", *against, "--seat", "button"), "write oop or ip"),
        ((spot, "--drill", *against, "--pot", "90"), "this is a policy for"),
        ((spot, *against, "--only", "set"), "--only applies to drills (--drill) only"),
        (("holdem(stack=20)", "--drill"), "--drill applies to spots only"),
    ):
        code, output = run(*options)
        assert code == 2, options
        assert words in output
