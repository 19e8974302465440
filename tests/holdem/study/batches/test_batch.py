"""Batches: results survive stops, finished boards stay, errors stay local, averages are weighted."""

import csv
import json
import math
import os
import signal
from dataclasses import replace

import numpy as np
import pytest

from tests.holdem.fake_holdem import NODES, FakeSolution, FakeView
from treeplex.base.workers.executor import make_executor
from treeplex.errors import FileError, SpecError
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.cards.cards import HANDS, parse_cards
from treeplex.holdem.cards.ranges import parse_range
from treeplex.holdem.solve.solution import load_solution
from treeplex.holdem.spots.fields import SolveFields
from treeplex.holdem.spots.locks import TextLock
from treeplex.holdem.spots.spot import Spot
from treeplex.holdem.study.batches.batch import run_batch
from treeplex.holdem.study.batches.board import StoppedError, batch_settings, solve_board
from treeplex.holdem.study.batches.boards import read_boards
from treeplex.holdem.study.batches.report import batch_report, decision_line

BOARDS = read_boards("AsKd2c:3,Td9d6h:1,7c7d2h:2")
SETTINGS = {"algorithm": "dcfr", "target": 1.0}


def spot_on(board, pot=200):
    full = np.ones(len(HANDS))
    return Spot(parse_cards(board), pot, 900, (full, full), BetPlan.same("50%,100%,a", "a"))


class Solver:
    """Counts what it is asked to solve; fails or stops where told."""

    def __init__(self, fail=(), stop=()):
        self.solved, self.fail, self.stop = [], fail, stop

    def __call__(self, spot, interrupt, file):
        name = "".join("23456789TJQKA"[card >> 2] + "cdhs"[card & 3] for card in spot.board)
        if name in self.fail:
            raise SpecError(f"no luck\nwith {name}")
        if name in self.stop:
            interrupt.requested = True
            raise StoppedError
        self.solved.append(name)
        file.write_text(name)
        solution = FakeSolution()
        solution.spot = spot
        solution.ev = (float(len(self.solved)), -float(len(self.solved)))
        solution.at = lambda line: FakeView(line)
        return solution


def run(folder, solver, boards=BOARDS, settings=SETTINGS, on=spot_on, line=""):
    batch = run_batch(on, boards, folder, solver, settings)
    batch_report(batch, line).write()
    return batch


def test_rows_and_weighted_averages(tmp_path):
    batch = run(tmp_path / "b", Solver())
    assert [row.board for row in batch.rows] == ["AsKd2c", "Td9d6h", "7c7d2h"]
    means = batch_report(batch, "").averages()
    assert means["ev_oop"] == pytest.approx(batch.rows[0].pot / 2 + (3 * 1 + 1 * 2 + 2 * 3) / 6)
    assert means["exploitability_percent"] == pytest.approx(0.305)
    shares = sum(means[name] for name in ("check", "bet 100", "bet 200", "allin 900"))
    assert shares == pytest.approx(1, abs=1e-5)
    with (tmp_path / "b" / "report.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["board"] for row in rows] == ["AsKd2c", "Td9d6h", "7c7d2h", "average"]
    assert float(rows[-1]["ev_oop"]) == means["ev_oop"]
    assert "**average**" in (tmp_path / "b" / "report.md").read_text()
    assert (tmp_path / "b" / "report.png").read_bytes().startswith(b"\x89PNG")
    assert not (tmp_path / "b" / "errors.txt").exists()


def test_averages_count_boards_by_how_often_they_come(tmp_path):
    """Kings meet aces six times as often on boards without either as on a board with two aces and a king (36, 3)."""
    ranges = parse_range("AA"), parse_range("KK")
    boards = read_boards("AsAhKd:2,Td9d6h")
    batch = run(tmp_path / "b", Solver(), boards, on=lambda board: replace(spot_on(board), ranges=ranges))
    assert [row.deals for row in batch.rows] == [3, 36]
    means = batch_report(batch, "").averages()
    assert means["ev_oop"] == pytest.approx(100 + (2 * 3 * 1 + 36 * 2) / (2 * 3 + 36))
    path = tmp_path / "b" / "boards" / "AsAhKd.json"
    row = json.loads(path.read_text())
    del row["deals"]  # as an earlier version wrote it
    path.write_text(json.dumps(row))
    again = run(tmp_path / "b", Solver(), boards, on=lambda board: replace(spot_on(board), ranges=ranges))
    assert (again.reused, again.rows) == (2, batch.rows)


def test_reports_are_in_the_unit_of_the_spot(tmp_path):
    run(tmp_path / "b", Solver(), on=lambda board: replace(spot_on(board), unit="bb"))
    assert "EV (in bb won from the pot)" in (tmp_path / "b" / "report.md").read_text()
    path = tmp_path / "b" / "boards" / "Td9d6h.json"
    row = json.loads(path.read_text())
    assert row.pop("unit") == "bb"
    path.write_text(json.dumps(row))
    with pytest.raises(FileError, match="not a batch result; remove the file"):
        run(tmp_path / "b", Solver(), on=lambda board: replace(spot_on(board), unit="bb"))


def test_solved_spots_are_kept_where_asked_for(tmp_path):
    for keep, kept in ((False, []), (True, ["7c7d2h.spot", "AsKd2c.spot", "Td9d6h.spot"])):
        folder = tmp_path / str(keep)
        assert len(run_batch(spot_on, BOARDS, folder, Solver(), SETTINGS, keep=keep).rows) == 3
        assert sorted(path.name for path in (folder / "boards").glob("*.spot")) == kept


def test_boards_in_another_order_and_by_texture(tmp_path):
    report = batch_report(run(tmp_path / "b", Solver()), "")
    assert [row.board for row in report.sorted_by("ev_oop").rows] == ["7c7d2h", "Td9d6h", "AsKd2c"]
    assert [row.board for row in report.sorted_by("ev_oop", ascending=True).rows] == ["AsKd2c", "Td9d6h", "7c7d2h"]
    assert [row.board for row in report.sorted_by("high").rows][-1] == "7c7d2h"
    parts = report.by_texture("suits")
    assert {name: [row.board for row in part.rows] for name, part in parts.items()} == {
        "rainbow": ["AsKd2c", "7c7d2h"],
        "two-tone": ["Td9d6h"],
    }
    rainbow = parts["rainbow"].averages()["ev_oop"]
    assert rainbow == pytest.approx(report.rows[0].pot / 2 + (3 * 1 + 2 * 3) / 5)
    with (tmp_path / "b" / "report.csv").open() as file:
        assert [row["suits"] for row in csv.DictReader(file)] == ["rainbow", "two-tone", "rainbow", ""]
    with pytest.raises(SpecError, match="did you mean 'check'"):
        report.sorted_by("cheque")
    with pytest.raises(SpecError, match="write suits, pairing, high, connected"):
        report.by_texture("colour")


def test_finished_boards_are_not_solved_again(tmp_path):
    first = Solver(stop=["7c7d2h"])
    batch = run(tmp_path / "b", first)
    assert batch.interrupted
    assert [row.board for row in batch.rows] == ["AsKd2c", "Td9d6h"]
    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "b" / "boards").iterdir()}
    again = Solver()
    batch = run(tmp_path / "b", again)
    assert (again.solved, batch.reused, batch.interrupted) == (["7c7d2h"], 2, False)
    after = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "b" / "boards").iterdir()}
    assert before.items() < after.items()
    assert [row.ev[0] for row in batch.rows] == [1, 2, 1]


def test_a_kill_leaves_whole_files(tmp_path):
    class Kill(BaseException):
        pass

    def killed(spot, interrupt, file):
        if spot.board == parse_cards("Td9d6h"):
            raise Kill
        return Solver()(spot, interrupt, file)

    with pytest.raises(Kill):
        run(tmp_path / "b", killed)
    assert [path.name for path in (tmp_path / "b" / "boards").iterdir()] == ["AsKd2c.json"]
    again = Solver()
    run(tmp_path / "b", again)
    assert again.solved == ["Td9d6h", "7c7d2h"]


def test_one_error_does_not_lose_the_others(tmp_path):
    batch = run(tmp_path / "b", Solver(fail=["Td9d6h"]))
    assert batch.failures == {"Td9d6h": "no luck with Td9d6h"}
    assert [row.board for row in batch.rows] == ["AsKd2c", "7c7d2h"]
    assert (tmp_path / "b" / "errors.txt").read_text() == "Td9d6h: no luck with Td9d6h\n"
    assert "- Td9d6h: no luck" in (tmp_path / "b" / "report.md").read_text()
    again = Solver()
    assert not run(tmp_path / "b", again).failures
    assert again.solved == ["Td9d6h"]
    assert not (tmp_path / "b" / "errors.txt").exists()


def test_a_board_that_is_no_spot_is_a_failure(tmp_path):
    def on(board):
        if board == "Td9d6h":
            raise SpecError("no hand left")
        return spot_on(board)

    assert run(tmp_path / "b", Solver(), on=on).failures == {"Td9d6h": "no hand left"}


def test_results_of_other_questions_are_refused(tmp_path):
    run(tmp_path / "b", Solver())
    with pytest.raises(FileError, match=r"AsKd2c.json: the result of another spot; choose another folder"):
        run(tmp_path / "b", Solver(), on=lambda board: spot_on(board, pot=100))
    with pytest.raises(FileError, match=r"solved with algorithm dcfr, target 1.0 chips; use the same settings"):
        run(tmp_path / "b", Solver(), settings={**SETTINGS, "target": 2.0})
    (tmp_path / "b" / "boards" / "AsKd2c.json").write_text('{"board": "AsKd2c"')
    with pytest.raises(FileError, match="remove the file to solve the board again"):
        run(tmp_path / "b", Solver())


def test_a_report_about_another_decision(tmp_path):
    run(tmp_path / "b", Solver())
    solver = Solver()
    batch = run(tmp_path / "b", solver, line="x,b100")
    assert solver.solved == []
    report = batch_report(batch, "x,b100")
    assert (report.player, report.actions) == (0, ["fold", "call", "raise 300", "allin 900"])
    view = FakeView("x,b100")
    expected = view.strategy @ view.compatible_of(0) / view.compatible_of(0).sum()
    means = report.averages()
    assert [means[name] for name in report.actions] == pytest.approx(list(expected), rel=1e-6)
    assert means["reach"] == pytest.approx(view.compatible_of(0).sum() / FakeView("").compatible_of(0).sum())
    assert "x,b100" in (tmp_path / "b" / "report.md").read_text()
    assert set(batch.rows[0].lines) == set(NODES)


def test_actions_count_where_they_come_up(tmp_path):
    class Rare(Solver):
        def __call__(self, spot, interrupt, file):
            solution = super().__call__(spot, interrupt, file)
            scale = 0.0 if len(self.solved) == 1 else 1.0

            class ScaledView(FakeView):
                def compatible_of(self, player):
                    return super().compatible_of(player) * (scale if self.line == "x" else 1.0)

            solution.at = ScaledView
            return solution

    report = batch_report(run(tmp_path / "b", Rare()), "x")
    assert math.isnan(report.cells(report.rows[0])["check"])
    view = FakeView("x")
    assert report.averages()["check"] == pytest.approx(view.strategy[0] @ view.weight_of(1) / view.weight_of(1).sum(), rel=1e-6)


def test_lines_of_reports():
    spot = spot_on("AsKd2c")
    assert decision_line(spot, "x, b50%") == "x,b100"
    assert decision_line(spot, "") == ""
    for line, says in (
        ("x,x", "a decision on the first street"),
        ("x,x,3h", "first street"),
        ("x,f", "there is no such action"),
    ):
        with pytest.raises(SpecError, match=says):
            decision_line(spot, line)


def test_folders(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(FileError, match="is a file"):
        run(tmp_path / "file", Solver())
    with pytest.raises(FileError, match="holds other files but no batch"):
        run(tmp_path, Solver())


def test_more_boards_join_later_with_new_weights(tmp_path):
    run(tmp_path / "b", Solver(), boards=BOARDS[:1])
    solver = Solver()
    batch = run(tmp_path / "b", solver, boards=read_boards("AsKd2c:5,Td9d6h:1"))
    assert solver.solved == ["Td9d6h"]
    assert [row.weight for row in batch.rows] == [5, 1]


def test_numbers_that_are_not_there(tmp_path):
    class Nowhere(Solver):
        def __call__(self, spot, interrupt, file):
            solution = super().__call__(spot, interrupt, file)
            solution.ev = (math.nan, 0.0)
            return solution

    run(tmp_path / "b", Nowhere())
    assert json.loads((tmp_path / "b" / "boards" / "AsKd2c.json").read_text())["ev"] == [None, 0.0]
    batch = run(tmp_path / "b", Solver())
    assert batch.reused == 3
    assert math.isnan(batch.rows[0].ev[0])


def picky(spot, interrupt, file):
    """Solve no board with a king on its river."""
    if spot.board[4] // 4 == 11:
        raise SpecError("no\nkings")
    return solve_board(spot, interrupt, file)


def solved_by(folder, executor, solve=solve_board, *, keep=True):
    """Rows of real boards without seconds, and the iterations of the spots that were kept."""

    def on(board):
        ranges = parse_range("AA,KK,QQ"), parse_range("JJ,TT,AK")
        spot = Spot(parse_cards(board), 200, 900, ranges, BetPlan.same("50%,a", "a"))
        return replace(spot, settings=replace(spot.settings, iterations=30, threads=1))

    boards = read_boards("Td9d6hQc2s,Td9d6hQcAs,Td9d6hQcKs")
    batch = run_batch(on, boards, folder, solve, SETTINGS, keep=keep, executor=executor)
    kept = [load_solution(folder / "boards" / f"{row.board}.spot").iterations for row in batch.rows if keep]
    return [replace(row, seconds=0.0) for row in batch.rows], kept, dict(batch.failures)


@pytest.mark.slow
def test_workers_find_the_same_and_a_killed_one_changes_nothing(tmp_path):
    wanted = solved_by(tmp_path / "alone", None)
    assert wanted[1:] == ([30, 30, 30], {})
    with make_executor("processes", 2) as executor:
        assert solved_by(tmp_path / "together", executor) == wanted
        finished, calls = executor.crew.finished, 0

        def killing(seconds):
            nonlocal calls
            calls += 1
            if calls == 2:
                os.kill(executor.crew.pids[0], signal.SIGKILL)
            return finished(0.001 if calls < 3 else seconds)

        executor.crew.finished = killing
        assert solved_by(tmp_path / "killed", executor) == wanted
        assert executor.lost == 1
        rows, _, failures = solved_by(tmp_path / "bad", executor, picky, keep=False)
        assert (rows, failures) == (wanted[0][:2], {"Td9d6hQcKs": "no kings"})


def test_results_with_a_lock_of_other_hands_are_not_reused(tmp_path):
    def settings(hands):
        locked = None if hands is None else parse_range(hands)
        return batch_settings(
            replace(spot_on("AsKd2c"), settings=SolveFields(locks=(TextLock("x", locked, (("x", 1.0),), ""),)))
        )

    aces, all_hands = settings("AA"), settings(None)
    assert (aces["locks"], all_hands["locks"]) == ("x [AA]: x 100%", "x: x 100%")
    run_batch(spot_on, BOARDS[:1], tmp_path / "batch", Solver(), aces)
    assert run_batch(spot_on, BOARDS[:1], tmp_path / "batch", Solver(), aces).reused == 1
    with pytest.raises(FileError, match=r"solved with .*locks x \[AA\]: x 100%"):
        run_batch(spot_on, BOARDS[:1], tmp_path / "batch", Solver(), settings("KK"))
