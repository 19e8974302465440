"""Comparisons: effort in histories, the gain of each player, other measures."""

import csv
import io
import json

import numpy as np
import pytest

import treeplex as tp
from treeplex.errors import AlgorithmError, SpecError
from treeplex.run.compare import LONGEST_NAME, TABLES, short
from treeplex.run.solve.tree_game import usual_axis
from treeplex.solvers.rules.custom import Rule
from treeplex.solvers.rules.variants import Variant, cfr
from treeplex.solvers.solver import GameSolver

KUHN3 = "kuhn_poker(players=3)"


@pytest.mark.slow
def test_all_walk_as_many_histories(tmp_path):
    comparison = tp.compare("kuhn_poker", ["cfr", "greedy", "lp"], nodes=10_000, out=tmp_path)
    assert [(row["iterations"], row["nodes"]) for row in comparison.rows()[:2]] == [(87, 87 * 116), (173, 173 * 58)]
    assert comparison.x == "nodes"
    assert comparison.plot().axes[0].get_xlabel().startswith("Nodes")
    assert comparison.plot(x="iterations").axes[0].get_xlabel() == "Iterations"
    resumed = tp.solve(resume=tmp_path / "cfr", nodes=20_000)
    assert resumed.iterations == 173


def test_histories_and_iterations_limit_both():
    comparison = tp.compare("kuhn_poker", ["cfr"], nodes=10_000, iterations=30)
    assert (comparison.solutions[0].iterations, comparison.x) == (30, "nodes")


def test_a_single_algorithm_may_be_a_text():
    assert [solution.algorithm for solution in tp.compare("kuhn_poker", "cfr", iterations=5).solutions] == ["cfr"]


def test_the_usual_axis():
    assert tp.compare("kuhn_poker", ["cfr"], iterations=3).x == "iterations"
    assert tp.compare("kuhn_poker", ["cfr"], iterations=3, x="seconds").x == "seconds"
    assert usual_axis(["cfr", "es-mccfr(averaging=full)"], None) == "nodes"
    assert usual_axis(["cfr", "cfr+"], 1000) == "nodes"
    assert usual_axis(["lcfr", Variant("es-mccfr", "", "", cfr)], None) == "iterations"


@pytest.mark.parametrize(
    ("name", "called"), [("regret (half)",) * 2, ("my (x",) * 2, ("es-mccfr", "own-es-mccfr"), ("own-cfr",) * 2]
)
def test_algorithms_of_ones_own_have_any_name(name, called):
    comparison = tp.compare("kuhn_poker", [Variant(name, "", "", cfr)], iterations=3)
    assert (comparison.solutions[0].algorithm, comparison.x) == (called, "iterations")


@pytest.mark.slow
def test_walking_the_histories_shows_progress(tmp_path):
    """A game with a public tree is compiled public node by public node; an algorithm that samples walks its histories too."""
    counts, game = [], "leduc_poker(ranks=4)"
    tp.compare(game, ["cfr", "es-mccfr"], nodes=1000, walked=counts.append)
    walks = [number for number in range(1, len(counts)) if counts[number] < counts[number - 1]]
    assert len(walks) == 1
    assert counts[-1] > 0.9 * tp.compile(game).size.histories
    del counts[:]
    tp.solve(game, "es-mccfr", nodes=1000, out=tmp_path / "run", walked=counts.append)
    assert counts
    del counts[:]
    tp.solve(resume=tmp_path / "run", nodes=2000, walked=counts.append)
    assert counts


def test_a_wrong_axis_is_said_before_anything_runs(tmp_path):
    with pytest.raises(SpecError, match="iterations, nodes or seconds"):
        tp.compare("kuhn_poker", ["cfr"], x="time", out=tmp_path / "out")
    with pytest.raises(SpecError, match="the x axis must be iterations or seconds, not 'nodes'"):
        tp.compare("turn_endgame", ["cfr"], x="nodes", iterations=1, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_learned_algorithm_beside_others():
    comparison = tp.compare("kuhn_poker", ["cfr", "ddcfr"], nodes=1500 * 116)
    assert [solution.iterations for solution in comparison.solutions] == [1500, 1000]
    with pytest.raises(SpecError, match="plans for"):
        tp.compare("kuhn_poker", ["cfr", "ddcfr"], iterations=1500)
    with pytest.raises(AlgorithmError, match="two-player zero-sum"):
        tp.compare(KUHN3, ["cfr", "ddcfr"], nodes=100)


def test_the_gain_of_each_player_is_written():
    comparison = tp.compare(KUHN3, ["cfr", "cfr+"], iterations=50)
    for row, solution in zip(comparison.rows(), comparison.solutions, strict=True):
        assert row["gains"] == list(tp.judge(KUHN3, solution).gains)
        assert sum(row["gains"]) == pytest.approx(row["nash_conv"])
    table = list(csv.DictReader(io.StringIO(comparison.to_csv())))
    assert [float(table[1][f"gain_{player}"]) for player in range(3)] == list(comparison.solutions[1].gains)
    assert json.loads(comparison.to_json())["rows"][0]["gains"] == list(comparison.solutions[0].gains)
    head, rule, best, _ = comparison.to_markdown().splitlines()
    assert head == "| algorithm | iterations | nodes | seconds | exploitability | gains | value |"
    assert rule.count("--:") == 6
    assert ", ".join(f"{gain:.2e}" for gain in comparison.solutions[1].gains) in best
    assert "<th>gains</th>" in comparison._repr_html_()


def test_two_players_have_neither_gains_nor_a_second_value_in_the_table():
    comparison = tp.compare("kuhn_poker", ["cfr"], iterations=50)
    assert comparison.columns == ["algorithm", "iterations", "nodes", "seconds", "exploitability", "value"]
    assert comparison.table()[0][-1] == f"{comparison.solutions[0].value[0]:+.6f}"
    general = tp.compare("goofspiel(num_cards=3,imp_info=true,returns_type=total_points)", ["cfr"], iterations=5)
    assert general.table()[0][-1] == ", ".join(f"{value:+.6f}" for value in general.solutions[0].value)


def test_with_a_time_limit_every_algorithm_runs_as_long():
    comparison = tp.compare("kuhn_poker", ["cfr", "es-mccfr"], seconds=0.5)
    assert [solution.status for solution in comparison] == ["time up", "time up"]


def fails(step):
    return np.ones(5)


def late(t, horizon):
    return cfr(t if t < 40 else 1 // 0, horizon)


def test_an_algorithm_that_fails_leaves_the_others(tmp_path):
    failing = [Rule("fails", fails), Variant("late", "", "", late), Rule("buggy", lambda step: 1 // 0)]
    with pytest.raises(AlgorithmError, match=r"fails failed: .*; late failed: .*; buggy failed: ZeroDivisionError") as failure:
        tp.compare("kuhn_poker", ["cfr", *failing, "dcfr"], iterations=50, out=tmp_path)
    assert [solution.algorithm for solution in failure.value.result] == ["cfr", "dcfr"]
    assert "--force" not in str(failure.value)
    assert {path.name for path in tmp_path.iterdir()} == {"cfr", "dcfr", "convergence.png", *TABLES}
    with pytest.raises(AlgorithmError) as failure:
        tp.compare("kuhn_poker", failing[:1], iterations=50)
    assert failure.value.result is None


def test_force_leaves_no_old_runs_or_tables(tmp_path):
    tp.compare("kuhn_poker", ["cfr", "lcfr"], iterations=5, out=tmp_path)
    (tmp_path / "lcfr" / "notes.txt").write_text("mine")
    tp.solve("kuhn_poker", "cfr", iterations=5, out=tmp_path / "other")
    tp.compare("leduc_poker", ["dcfr"], iterations=5, out=tmp_path, force=True)
    assert {path.name for path in tmp_path.iterdir()} == {"dcfr", "lcfr", "other", "convergence.png", *TABLES}
    assert [path.name for path in (tmp_path / "lcfr").iterdir()] == ["notes.txt"]
    tp.solve("kuhn_poker", iterations=5, out=tmp_path, force=True)
    assert not {*TABLES} & {path.name for path in tmp_path.iterdir()}


def test_long_names_do_not_share_a_folder(tmp_path):
    similar = [Variant(f"{'x' * 80}{number}", "", "", cfr) for number in range(2)]
    comparison = tp.compare("kuhn_poker", similar, iterations=5, out=tmp_path, force=True)
    folders = [solution.folder for solution in comparison]
    assert folders[0] != folders[1]
    assert max(len(folder.name) for folder in folders) == LONGEST_NAME
    tp.compare("kuhn_poker", ["cfr"], iterations=5, out=tmp_path, force=True)
    assert not any(folder.exists() for folder in folders)


def test_measures_of_some(monkeypatch):
    monkeypatch.setattr(
        GameSolver, "measures", lambda self: {"cce_gap": 0.5 if self.algorithm == "cfr" else 0.25, "welfare": 2.0}
    )
    monkeypatch.setattr(GameSolver, "objective", "cce_gap")
    alone = tp.compare("kuhn_poker", ["cfr", "cfr+"], iterations=20)
    assert alone.objective == "cce_gap"
    assert alone.plot().axes[0].get_ylabel().startswith("CCE gap")
    assert "best cfr+, 0.25" in repr(alone)
    assert alone.columns[5] == "CCE gap"
    assert [row[5] for row in alone.table()] == ["2.500e-01", "5.000e-01"]
    mixed = tp.compare("kuhn_poker", ["cfr", "greedy"], iterations=20)
    assert mixed.objective == "exploitability"
    assert [row["welfare"] for row in mixed.rows()] == [2.0, None]
    assert {row[5] for row in mixed.table()} == {"5.000e-01", ""}
    table = list(csv.DictReader(io.StringIO(mixed.to_csv())))
    assert [row["cce_gap"] for row in table] == ["0.5", ""]


@pytest.mark.parametrize(
    ("count", "text"),
    [(7, "7"), (99_999, "99,999"), (100_000, "100k"), (999_499, "999k"), (999_500, "1M"), (18_914_000, "18.9M"), (2e12, "2T")],
)
def test_counts_in_few_letters(count, text):
    assert short(int(count)) == text
