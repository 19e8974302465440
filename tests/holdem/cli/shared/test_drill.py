"""Drills at the terminal: the table and the score are those of the solution."""

import pytest
from typer.testing import CliRunner

from treeplex.holdem.solve.solution import HoldemSolution
from treeplex.holdem.solve.solve_spot import solve_spot
from treeplex.holdem.spots.files import request_from_options
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
