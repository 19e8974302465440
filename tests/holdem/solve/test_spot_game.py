"""Spots through the doors of all games: the same numbers as their own, and as the rules enumerated."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import treeplex as tp
from tests.poker_games import SPOTS
from treeplex.errors import AlgorithmError, FileError, GameError, PolicyError, SpecError
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.rules.rules import PokerGame
from treeplex.holdem.solve.solve_spot import solve_spot
from treeplex.holdem.solve.spot_game import SpotGame
from treeplex.holdem.spots.files import spot_request
from treeplex.run.cli.main import app
from treeplex.run.cli.shared.console import free_place
from treeplex.run.solve.solve import solvable

RIVER_FILE = """
board: Td 9d 6h Qc 2s
oop: AA, QJs, JTs
ip: KK, T8s, 65s, KJs:0.5
pot: 20
stack: 60
bets: 50%, a
raises: a
target: 2%
threads: 1
"""
RIVER = tp.holdem.spot("Td9d6hQc2s", "AA,QJs,JTs", "KK,T8s,65s,KJs:0.5", pot=20, stack=60, bets="50%,a", raises="a", threads=1)
TURN = tp.holdem.spot("Td9d6hQc", "AA,QJs", "KK,T8s", pot=20, stack=30, bets="a", raises="a", threads=1)


@pytest.fixture
def river(tmp_path: Path) -> Path:
    path = tmp_path / "river.yaml"
    path.write_text(RIVER_FILE)
    return path


def same(one: tp.holdem.HoldemSolution, other: tp.holdem.HoldemSolution) -> bool:
    """Whether two solutions agree in every bit that solving leaves behind, but for the time it took."""
    assert one.state is not None
    assert other.state is not None
    arrays = all(np.array_equal(array, other.state[name]) for name, array in one.state.items())
    records = [(record.done, record.exploitability) for record in one.records]
    return arrays and records == [(record.done, record.exploitability) for record in other.records] and one.ev == other.ev


@pytest.mark.parametrize("spot", [RIVER, TURN])
@pytest.mark.parametrize("algorithm", ["dcfr", "pcfr+", "vt-cfr+", "fp"])
def test_solve_is_the_solver_of_spots(spot, algorithm):
    found = tp.solve(spot, algorithm, iterations=12)
    assert same(found, solve_spot(spot, algorithm, iterations=12))
    judged = tp.judge(spot, found)
    assert (judged.exploitability, judged.value) == (found.exploitability, found.value)
    assert judged.gains == found.gains
    assert found.nash_conv == pytest.approx(sum(found.gains), abs=1e-12)


@pytest.mark.parametrize("name", ["leduc", "blinds", "river, raked", "turn"])
def test_the_judge_of_spots_is_that_of_the_rules(name):
    rules, spot = tp.judge(PokerGame(SPOTS[name], name), "uniform"), tp.judge(SPOTS[name], "uniform")
    for part in ("exploitability", "nash_conv", "value", "best_response_values"):
        assert getattr(spot, part) == pytest.approx(getattr(rules, part), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("name", ["leduc", "one card"])
def test_a_small_spot_is_the_game_that_its_rules_make(name):
    """The form over hands against the form over sequences, compiled from the same rules."""
    spot = SPOTS[name]
    rules = tp.solve(PokerGame(spot, name), "cfr+", iterations=30)
    hands = tp.solve(spot, "cfr+", iterations=30, threads=1, storage="float64")
    assert hands.exploitability == pytest.approx(rules.exploitability, rel=1e-8)
    assert hands.value == pytest.approx(rules.value, rel=1e-8)
    assert hands.gains == pytest.approx(rules.gains, rel=1e-7)
    assert [value for value, _ in (tp.best_response(spot, hands, player) for player in (0, 1))] == pytest.approx(
        [value for value, _ in (tp.best_response(rules.game, rules, player) for player in (0, 1))], rel=1e-8
    )


@pytest.mark.parametrize("spot", [RIVER, TURN])
@pytest.mark.parametrize("player", [0, 1])
def test_a_best_response_gets_what_it_says(spot, player):
    solution = tp.solve(spot, iterations=5)
    value, response = tp.best_response(spot, solution, player)
    assert value == pytest.approx(solution.value[player] + solution.gains[player], rel=1e-6)
    assert tp.judge(spot, response).value[player] == pytest.approx(value, rel=1e-5)
    assert response.at("").strategy.shape == solution.at("").strategy.shape


def test_a_file_says_how_it_is_solved(river):
    found = tp.solve(str(river))
    assert (found.target, found.settings.threads, found.status) == (0.02 * 20, 1, "target reached")
    assert found.game.spot.identity == RIVER.identity
    assert tp.solve(str(river), target=5.0).target == 5.0
    assert tp.solve(str(river), iterations=10).iterations == 10
    locked = river.with_name("locked.yaml")
    locked.write_text(RIVER_FILE + "locks: ['root: x 100%']\n")
    assert tp.solve(str(locked), iterations=5).at("").strategy[0] == pytest.approx(1)
    assert len(tp.solve(str(locked), iterations=5, locks=()).locks) == 0


def test_every_door_names_the_same_spot(river, tmp_path):
    loaded = tp.load(str(river))
    assert isinstance(loaded, tp.holdem.Spot)
    assert loaded.identity == tp.holdem.load_spot(river).identity == RIVER.identity
    file = tp.solve(loaded, iterations=3, out=tmp_path / "river").folder
    assert file == tmp_path / "river.spot"
    assert solvable(str(file)).compiled.spec == str(RIVER)
    with pytest.raises(FileError, match="is a solved spot, not a spot file"):
        tp.load(str(file))
    named = tp.load("turn_endgame")
    assert named.identity == spot_request("turn_endgame").spot().identity
    assert tp.holdem.estimate(str(river)).size.infosets == tp.holdem.compile(RIVER).infosets


def test_options_of_the_other_kind_are_refused():
    with pytest.raises(SpecError, match=r"nodes is not an option for hold'em spots; leave it out$"):
        tp.solve(RIVER, nodes=100)
    with pytest.raises(SpecError, match="storage is not an option for compiled games"):
        tp.solve("kuhn_poker", storage="int16")
    with pytest.raises(SpecError, match="seed is not an option for hold'em spots; leave it out"):
        tp.compare(RIVER, ["dcfr"], seed=1)
    with pytest.raises(AlgorithmError, match=r"lp is not an update rule; .* use dcfr"):
        tp.solve(RIVER, "lp")
    with pytest.raises(GameError, match="is a hold'em spot, whose infosets are not enumerated"):
        tp.compile(RIVER)
    with pytest.raises(GameError, match="hold'em spot"):
        tp.load("turn_based(game=turn_endgame)")


def test_a_spot_file_is_not_read_because_another_file_names_it(river):
    with pytest.raises(FileError, match="give the game too"):
        tp.load(str(river), named_in="run.json")


def test_resuming_is_as_if_it_had_never_stopped(tmp_path):
    file = tmp_path / "turn.spot"
    tp.solve(TURN, iterations=7, every=7, out=file)
    with pytest.raises(FileError, match="already exists"):
        tp.solve(TURN, iterations=7, out=file)
    with pytest.raises(SpecError, match="is evaluated every 7 iterations, not 5; leave out 'every'"):
        tp.solve(resume=file, iterations=21, every=5)
    more = tp.solve(resume=file, iterations=21)
    assert [record.done for record in more.records] == [7, 14, 21]
    whole = tp.solve(TURN, iterations=21, every=7)
    assert same(more, whole)
    assert same(tp.holdem.load_solution(file), whole)
    assert same(tp.solve(resume=tp.solve(TURN, iterations=7, every=7), iterations=21, every=7), whole)
    with pytest.raises(SpecError, match="not to kuhn_poker; leave the game out"):
        tp.solve("kuhn_poker", resume=file)


def test_a_file_that_does_not_say_how_often_it_is_evaluated(tmp_path):
    begun = tp.solve(RIVER, iterations=3, every=3)
    assert begun.settings.every == 3
    older = replace(begun, settings=replace(begun.settings, every=None))
    file = older.save(tmp_path / "older.spot")
    assert [record.done for record in tp.solve(resume=file, iterations=20).records] == [10, 20]
    assert [record.done for record in tp.solve(resume=older, iterations=12, every=6).records] == [6, 12]


def test_a_comparison_of_spots(tmp_path, river):
    found = tp.compare(str(river), ["dcfr", "cfr+", "DCFR"], iterations=20, out=tmp_path / "out")
    assert [solution.algorithm for solution in found.solutions] == ["dcfr", "cfr+"]
    assert same(found.solutions[0], tp.solve(replace(RIVER), "dcfr", iterations=20))
    assert {each.name for each in (tmp_path / "out").iterdir()} >= {
        "dcfr.spot",
        "cfr+.spot",
        "convergence.png",
        "comparison.csv",
    }
    assert found.columns == ["algorithm", "iterations", "seconds", "exploitability", "value"]
    row = json.loads((tmp_path / "out" / "comparison.json").read_text())["rows"][0]
    assert (row["algorithm"], row["nodes"], row["value"]) == ("dcfr", None, list(found.solutions[0].value))
    assert "best" in repr(found)
    assert "<table>" in found._repr_html_()


def test_solutions_of_both_kinds_show_the_same():
    game, spot = tp.solve("kuhn_poker", iterations=10), tp.solve(RIVER, iterations=10)
    for solution in (game, spot):
        assert isinstance(solution, tp.Solution)
        assert len(solution) == len(solution.policy) > 0
        assert str(solution).startswith("<solution of ")
        assert "NashConv" in solution._repr_html_()
        assert solution.nash_conv == pytest.approx(2 * solution.exploitability)
        assert solution.plot() is not None
        assert sum(solution.value) == pytest.approx(0, abs=1e-6)
    assert sum(spot["x", "KhKs"].values()) == pytest.approx(1)
    assert list(spot["", "AhAs"]) == ["x", "b10", "a"]
    with pytest.raises(KeyError):
        spot["", "2c2d"]
    with pytest.raises(SpecError, match="no player acts"):
        spot["a,f", "AhAs"]


def test_policies_of_spots(tmp_path):
    solution = tp.solve(RIVER, iterations=20)
    file = solution.save(tmp_path / "river")
    assert tp.exploitability(RIVER, file) == solution.exploitability == tp.nash_conv(RIVER, tp.load_policy(file)) / 2
    uniform = tp.judge(RIVER, "uniform")
    assert uniform.exploitability == tp.solve(RIVER, iterations=0).exploitability > solution.exploitability
    with pytest.raises(PolicyError, match="this is a policy for Td 9d 6h Qc 2s"):
        tp.judge(TURN, solution)
    with pytest.raises(PolicyError, match="cannot read a policy on a spot from dict"):
        tp.judge(RIVER, {"x": {0: 1.0}})
    turn = tp.solve(TURN, iterations=3)
    with pytest.raises(PolicyError, match="without its last streets"):
        tp.judge(TURN, turn.save(tmp_path / "turn", streets="turn"))
    packed = tp.solve(RIVER, iterations=20, storage="int16")
    assert tp.judge(RIVER, packed).exploitability == packed.exploitability
    with pytest.raises(PolicyError, match="16-bit"):
        tp.best_response(RIVER, packed, 0)
    with pytest.raises(PolicyError, match="players 0 and 1, not 2"):
        tp.best_response(RIVER, solution, 2)


def test_judging_keeps_locks():
    spot = tp.holdem.spot("Td9d6hQc2s", "AA,QJs,JTs", "KK,T8s", pot=20, stack=60, bets="a", threads=1, locks=["root: x 100%"])
    solution = tp.solve(spot, iterations=30)
    assert tp.judge(spot, solution).gains == solution.gains
    assert tp.judge(spot, "uniform").value[0] == pytest.approx(tp.solve(spot, iterations=0).value[0])
    _, response = tp.best_response(spot, solution, 0)
    assert response.at("").strategy[0] == pytest.approx(1)


def test_a_spot_from_texts_numbers_and_arrays():
    one = tp.holdem.spot(
        "Td9d6h", "QQ+", "22+", pot=20, stack=90, bets={"default": "50%,a", "river": "a"}, rake={"rate": "5%", "cap": 3}
    )
    other = tp.holdem.spot(
        "Td9d6h", RIVER.ranges[0], "22+", pot="10bb", stack="45bb", blinds=None, chip=1, bets="50%,a", river_bets="a", rake="5%"
    )
    assert isinstance(one.bets, BetPlan)
    assert one.rake == tp.holdem.Rake(0.05, 3.0)
    assert [len(one.bets.streets[street][0].bets) for street in (1, 3)] == [2, 1]
    np.testing.assert_array_equal(other.ranges[0] > 0, RIVER.ranges[0] * (other.ranges[0] > 0) > 0)
    with pytest.raises(SpecError, match="unknown option argument river-bet; did you mean 'river-bets'"):
        tp.holdem.spot("Td9d6h", "QQ+", "22+", pot=20, stack=90, river_bet="a")
    with pytest.raises(SpecError, match="argument pot: pot: 'much' is not a number"):
        tp.holdem.spot("Td9d6h", "QQ+", "22+", pot="much", stack=90)


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, [*map(str, arguments)])
    assert result.exit_code in (0, 3), result.output
    return result.stdout


@pytest.mark.slow
def test_the_command_line_takes_spots_as_it_takes_games(river, tmp_path):
    file = tmp_path / "river.spot"
    found = json.loads(run("solve", river, "-n", 20, "--target", 0, "--threads", 1, "--out", file, "--json"))
    assert [value + 10 for value in found["value"]] == [found["ev_oop"], found["ev_ip"]]
    assert same(tp.holdem.load_solution(file), tp.solve(RIVER, iterations=20, target=0.0))
    judged = json.loads(run("evaluate", river, file, "--json"))
    assert (judged["exploitability"], judged["algorithm"], judged["iterations"]) == (found["exploitability"], "dcfr", 20)
    assert run("show", file, "--line", "x", "--player", 1) == run("show", file, "--line", "x", "--player", "ip")
    size = json.loads(run("info", river, "--json"))
    assert size["infosets"] == SpotGame(RIVER).estimate().to_json()["infosets"]
    more = json.loads(run("solve", "--resume", file, "-n", 40, "--threads", 1, "--json"))
    assert more["exploitability"] == tp.solve(RIVER, iterations=40, target=0.0).exploitability
    rows = json.loads(run("compare", river, "-a", "dcfr,cfr+", "-n", 20, "--threads", 1, "--json"))["rows"]
    assert [row["algorithm"] for row in rows] == ["dcfr", "cfr+"]
    assert rows[0]["exploitability"] == found["exploitability"]


def test_a_stopped_spot_is_saved_where_nothing_is_yet(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    solution = tp.solve(RIVER, iterations=1)
    files = [solution.save(free_place(f"{solution.game}-dcfr(gamma=2.5)", solution.suffix)) for _ in range(2)]
    assert [file.suffix for file in files] == [".spot", ".spot"]
    assert files[0] != files[1]
    assert same(tp.solve(resume=files[1], iterations=3), tp.solve(RIVER, iterations=3))
    with pytest.raises(FileError, match=r"nothing\.spot"):
        tp.solve(resume=tmp_path / "nothing.spot", threads=1)
