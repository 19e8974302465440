"""The run loop: stopping, recording, resuming."""

import json
import math
from collections.abc import Mapping
from itertools import pairwise

import numpy as np
import pytest

import treeplex as tp
from tests.processes import interrupt_after
from tests.trainings import signed
from treeplex.errors import FileError, PolicyError, SpecError
from treeplex.run.job.folder import METRICS, RUN, STATE, JobFolder
from treeplex.run.job.record import Progress
from treeplex.run.job.schedule import evaluation_points
from treeplex.run.solve.settings import PLOT, POLICY, SOLVE

RESUMABLE = ["cfr", "cfr+", "dcfr", "pcfr+", "pdcfr+", "apcfr+", "hs-dcfr", "vt-cfr+", "greedy", "fp", "linear-fp", "flop"]


def numbers(records):
    return [(record.done, record.exploitability, record.nash_conv, record.value) for record in records]


def test_kuhn_reaches_its_value():
    solution = tp.solve("kuhn_poker", iterations=1000)
    assert solution.value[0] == pytest.approx(-1 / 18, abs=1e-4)
    assert solution.exploitability < 1e-3
    assert solution.nash_conv == pytest.approx(2 * solution.exploitability)
    assert (solution.iterations, solution.status) == (1000, "finished")
    assert [record.done for record in solution.records[:9]] == [1, 2, 3, 4, 5, 6, 8, 10, 12]
    assert solution.exploitability == tp.exploitability("kuhn_poker", solution)


def test_a_solution_is_a_policy_and_prints():
    solution = tp.solve("kuhn_poker", "cfr+", iterations=20)
    state = tp.load("kuhn_poker").new_initial_state()
    while state.is_chance_node():
        state = state.child(state.chance_outcomes()[0][0])
    probabilities = solution.action_probabilities(state)
    assert sum(probabilities.values()) == pytest.approx(1)
    assert probabilities == solution[state.information_state_string(0)] == solution.policy[0, state.information_state_string(0)]
    assert len(solution) == len(list(solution)) == 12
    assert isinstance(solution, Mapping)
    assert dict(solution) == dict(solution.items()) == dict(solution.policy)
    assert list(solution.keys()) == list(solution)
    assert solution.get("nowhere") is None
    assert solution == solution != tp.solve("kuhn_poker", "cfr+", iterations=20)
    assert tp.exploitability("kuhn_poker", dict(solution)) == pytest.approx(solution.exploitability)
    assert "kuhn_poker" in repr(solution)
    assert "exploitability" in solution._repr_html_()


def test_evaluating_does_not_disturb_the_solver():
    often = tp.solve("kuhn_poker", "pcfr+", iterations=60, every=1)
    seldom = tp.solve("kuhn_poker", "pcfr+", iterations=60, every=60)
    assert len(often.records) == 60
    assert len(seldom.records) == 1
    assert np.array_equal(often.policy.probabilities, seldom.policy.probabilities)


def test_target_stops_early():
    solution = tp.solve("kuhn_poker", target=1e-2)
    assert solution.status == "target reached"
    assert solution.exploitability <= 1e-2 < solution.records[-2].exploitability
    assert solution.target_reached


def test_target_missed_is_said():
    solution = tp.solve("kuhn_poker", iterations=3, target=1e-9)
    assert (solution.status, solution.target_reached) == ("finished", False)


def test_time_limit():
    solution = tp.solve("kuhn_poker", "cfr", iterations=10**9, seconds=0.2)
    assert solution.status == "time up"
    assert solution.iterations < 10**9
    assert solution.records[-1].done == solution.iterations


def test_linear_program_is_one_step(tmp_path):
    solution = tp.solve("kuhn_poker", "lp", out=tmp_path / "run")
    assert solution.iterations == 1
    assert solution.exploitability < 1e-9
    again = tp.solve(resume=tmp_path / "run", iterations=50)
    assert numbers(again.records) == numbers(solution.records)


def test_progress_is_told():
    seen: list[Progress] = []
    tp.solve("kuhn_poker", iterations=30, progress=seen.append)
    assert seen[-1].done == seen[-1].total == 30
    assert seen[-1].rate > 0
    assert all(a.done < b.done for a, b in pairwise(seen))


@pytest.mark.parametrize(
    "wrong",
    [
        {"iterations": 0},
        {"iterations": True},
        {"iterations": 2.5},
        {"every": 0},
        {"target": -1.0},
        {"target": math.nan},
        {"seconds": -1.0},
        {"updates": "sideways"},
    ],
)
def test_settings_out_of_range(wrong):
    with pytest.raises(SpecError, match=next(iter(wrong))):
        tp.solve("kuhn_poker", **wrong)


def test_nothing_to_solve():
    with pytest.raises(SpecError, match="no game"):
        tp.solve()


def test_nearest_names():
    with pytest.raises(SpecError, match="kuhn_poker"):
        tp.solve("kuhn_pokr")
    with pytest.raises(SpecError, match="dcfr"):
        tp.solve("kuhn_poker", "dcffr")
    with pytest.raises(SpecError, match="alpha"):
        tp.solve("kuhn_poker", "dcfr(alhpa=2)")


def test_run_folder_holds_the_run(tmp_path):
    solution = tp.solve("kuhn_poker", "dcfr(alpha=2)", iterations=50, out=tmp_path / "deep" / "run")
    folder = tmp_path / "deep" / "run"
    assert sorted(path.name for path in folder.iterdir()) == sorted([RUN, METRICS, STATE, POLICY, PLOT])
    assert all(path.stat().st_size > 0 for path in folder.iterdir())
    lines = [json.loads(line) for line in (folder / METRICS).read_text().splitlines()]
    named = ["done", "seconds", "cpu_seconds", "exploitability", "nash_conv", "value", "gains", "nodes", "measures"]
    assert list(lines[0]) == named
    assert lines[-1]["nodes"] == 50 * 2 * 58
    assert sum(lines[-1]["gains"]) == pytest.approx(lines[-1]["nash_conv"])
    assert lines[-1]["exploitability"] == solution.exploitability
    about = json.loads((folder / RUN).read_text())
    assert (about["game"], about["status"], about["settings"]["iterations"]) == ("kuhn_poker", "finished", 50)
    assert about["algorithm"] == solution.algorithm
    policy = tp.load_policy(folder / POLICY, solution.game)
    assert np.array_equal(policy.probabilities, solution.policy.probabilities)
    assert tp.exploitability("kuhn_poker", folder) == solution.exploitability


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", RESUMABLE)
def test_every_algorithm_goes_on_bit_for_bit(tmp_path, algorithm):
    whole = tp.solve("kuhn_poker", algorithm, iterations=90)
    with pytest.raises(tp.errors.JobInterrupt) as stopped:
        tp.solve("kuhn_poker", algorithm, iterations=90, out=tmp_path / "stopped", progress=interrupt_after(33))
    assert 33 <= stopped.value.result.iterations < 90
    resumed = tp.solve(resume=tmp_path / "stopped")
    assert np.array_equal(resumed.policy.probabilities, whole.policy.probabilities)
    assert numbers(resumed.records) == numbers(whole.records)
    states = resumed.solver.state(), whole.solver.state()
    assert states[0].keys() == states[1].keys()
    assert all(np.array_equal(states[0][name], states[1][name]) for name in states[0])


@pytest.mark.slow
def test_more_iterations_than_planned(tmp_path):
    whole = tp.solve("kuhn_poker", iterations=90)
    tp.solve("kuhn_poker", iterations=37, out=tmp_path)
    resumed = tp.solve(resume=tmp_path, iterations=90)
    assert numbers(resumed.records) == numbers(whole.records) == numbers(JobFolder(SOLVE, tmp_path).records())


def test_the_horizon_of_the_first_start_stays(tmp_path):
    tp.solve("kuhn_poker", "hs-dcfr", iterations=37, out=tmp_path)
    resumed = tp.solve(resume=tmp_path, iterations=90)
    assert (resumed.settings.horizon, resumed.settings.iterations) == (37, 90)
    whole = tp.solve("kuhn_poker", "hs-dcfr", iterations=90)
    assert not np.array_equal(resumed.policy.probabilities, whole.policy.probabilities)


def test_resuming_a_finished_run_changes_nothing(tmp_path):
    first = tp.solve("kuhn_poker", iterations=37, out=tmp_path / "run")
    before = (tmp_path / "run" / METRICS).read_bytes()
    again = tp.solve(resume=tmp_path / "run")
    assert numbers(again.records) == numbers(first.records)
    assert (tmp_path / "run" / METRICS).read_bytes() == before
    with pytest.raises(SpecError, match="37 iterations already"):
        tp.solve(resume=tmp_path / "run", iterations=20)


def test_seconds_add_up(tmp_path):
    first = tp.solve("kuhn_poker", iterations=20, out=tmp_path / "run")
    second = tp.solve(resume=tmp_path / "run", iterations=40)
    assert second.seconds > first.seconds


def test_resuming_keeps_the_settings(tmp_path):
    tp.solve("kuhn_poker", "cfr", iterations=10, seed=3, every=5, out=tmp_path / "run")
    for wrong in ({"algorithm": "dcfr"}, {"seed": 4}, {"every": 2}, {"updates": "simultaneous"}):
        with pytest.raises(SpecError, match=f"was run with {next(iter(wrong))}"):
            tp.solve(resume=tmp_path / "run", iterations=20, **wrong)
    with pytest.raises(FileError, match="is a run on"):
        tp.solve("leduc_poker", resume=tmp_path / "run", iterations=20)
    with pytest.raises(SpecError, match="its own folder"):
        tp.solve(resume=tmp_path / "run", out=tmp_path / "other")
    resumed = tp.solve("kuhn_poker", "cfr", resume=tmp_path / "run", iterations=20, seed=3, every=5)
    assert [record.done for record in resumed.records] == [5, 10, 15, 20]


def test_a_resumed_run_accepts_its_own_default_order_of_updates(tmp_path):
    tp.solve("kuhn_poker", "cfr", iterations=10, out=tmp_path / "run")
    assert tp.solve(resume=tmp_path / "run", iterations=20, updates="alternating").iterations == 20
    with pytest.raises(SpecError, match="was run with updates alternating, not simultaneous"):
        tp.solve(resume=tmp_path / "run", updates="simultaneous")
    with pytest.raises(SpecError, match="was run with the default every, not 7"):
        tp.solve(resume=tp.solve("kuhn_poker", "cfr", iterations=10), every=7)


@pytest.mark.parametrize("limit", [{"seconds": 0.5}, {"target": 1e-5}])
def test_a_new_limit_of_time_or_a_target_lifts_the_default_number_of_iterations(limit, tmp_path):
    tp.solve("kuhn_poker", "dcfr", iterations=50, out=tmp_path / "run")
    for run in (tmp_path / "run", tp.solve("kuhn_poker", "dcfr", iterations=50), tp.solve("kuhn_poker", "dcfr", nodes=5000)):
        resumed = tp.solve(resume=run, **limit)
        assert resumed.iterations > 50
        assert resumed.status in ("time up", "target reached")
    learned = tp.solve("kuhn_poker", "ddcfr(horizon=20)", iterations=10)
    assert tp.solve(resume=learned, seconds=60).iterations == 20


def test_ignored_options_are_noted():
    assert tp.solve("kuhn_poker", "lp", nodes=5, seed=3).notes == ("nodes and seed had no effect on lp",)
    assert tp.solve("kuhn_poker", "cfr", iterations=2, seed=3).notes == ("seed had no effect on cfr",)
    for algorithm in ("es-mccfr", "cfr-s"):
        assert not any("no effect" in note for note in tp.solve("kuhn_poker", algorithm, nodes=500, seed=3).notes)


def test_a_run_far_beyond_its_horizon(tmp_path):
    """The exponents of hs-dcfr grow with t over the horizon, beyond what a float's powers hold."""
    tp.solve("kuhn_poker", "hs-dcfr", iterations=5, out=tmp_path)
    assert tp.solve(resume=tmp_path, iterations=2000).exploitability < 1e-3


def test_a_run_stopped_before_its_first_checkpoint_starts_over(tmp_path):
    def crash(progress: Progress) -> None:
        raise RuntimeError("power cut")

    with pytest.raises(RuntimeError):
        tp.solve("kuhn_poker", "hs-dcfr", iterations=30, out=tmp_path, progress=crash)
    resumed = tp.solve(resume=tmp_path, iterations=50)
    assert numbers(resumed.records) == numbers(tp.solve("kuhn_poker", "hs-dcfr", iterations=50).records)


def test_a_saved_solution_can_be_resumed(tmp_path):
    tp.solve("kuhn_poker", iterations=30).save(tmp_path / "run")
    resumed = tp.solve(resume=tmp_path / "run", iterations=60)
    assert np.array_equal(resumed.policy.probabilities, tp.solve("kuhn_poker", iterations=60).policy.probabilities)


def test_own_algorithm_object(tmp_path):
    from treeplex.solvers.rules.variants import VARIANTS

    variant = VARIANTS["dcfr"]
    solution = tp.solve("kuhn_poker", variant, iterations=20)
    assert np.array_equal(solution.policy.probabilities, tp.solve("kuhn_poker", "dcfr", iterations=20).policy.probabilities)


def test_schedules():
    assert list(evaluation_points(25)) == [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 25]
    assert list(evaluation_points(25, every=10)) == [10, 20, 25]
    targeted = list(evaluation_points(10**6, target=0.1))
    assert targeted == sorted(set(targeted))
    assert targeted[-1] == 10**6
    assert all(b - a <= 3.1 * a**0.5 + 20 for a, b in pairwise(targeted))
    assert len(targeted) < 700


def test_judging_any_kind_of_policy():
    game = tp.compile("kuhn_poker")
    uniform = tp.Policy.uniform(game)
    table = uniform.to_dict()
    expected = 11 / 24
    for policy in (uniform, table, "uniform", {key: uniform[key] for key in uniform}):
        assert tp.exploitability("kuhn_poker", policy) == pytest.approx(expected, abs=1e-12)
    assert tp.nash_conv(tp.load("kuhn_poker"), uniform) == pytest.approx(2 * expected)
    assert tp.policies.expected_values(game, "uniform") == pytest.approx([0.125, -0.125])
    value, response = tp.best_response(game, "uniform", 0)
    assert value == tp.judge(game, "uniform").best_response_values[0]
    assert tp.policies.expected_values(game, response)[0] == pytest.approx(value)


def test_policies_that_do_not_fit():
    table = tp.Policy.uniform(tp.compile("kuhn_poker")).to_dict()
    first = next(iter(table))
    with pytest.raises(PolicyError, match=r"lacks .* infostates"):
        tp.exploitability("kuhn_poker", {key: row for key, row in table.items() if key != first})
    with pytest.raises(PolicyError, match="no action '7'"):
        tp.exploitability("kuhn_poker", {**table, first: {7: 1.0}})
    with pytest.raises(PolicyError, match="not a distribution"):
        tp.exploitability("kuhn_poker", {**table, first: {0: 0.25}})
    with pytest.raises(PolicyError, match="kuhn_poker"):
        tp.exploitability("leduc_poker", tp.Policy.uniform(tp.compile("kuhn_poker")))
    with pytest.raises(PolicyError, match="cannot read a policy"):
        tp.exploitability("kuhn_poker", 3)
    with pytest.raises(FileError):
        tp.exploitability("kuhn_poker", "no_such_file.json")


def test_openspiel_policies_are_judged():
    pyspiel = pytest.importorskip("pyspiel")
    policy = pytest.importorskip("open_spiel.python.policy")
    tabular = policy.TabularPolicy(pyspiel.load_game("kuhn_poker"))
    assert tp.exploitability("kuhn_poker", tabular) == pytest.approx(11 / 24, abs=1e-12)
    assert tp.exploitability("kuhn_poker", pyspiel.UniformRandomPolicy(pyspiel.load_game("kuhn_poker"))) == pytest.approx(
        11 / 24
    )


@pytest.mark.slow
def test_numbers_of_other_kinds(tmp_path):
    solution = tp.solve("kuhn_poker", iterations=np.int64(20), every=np.int32(5), target=np.float32(1e-9), out=tmp_path / "run")
    assert [record.done for record in solution.records] == [5, 10, 15, 20]
    assert tp.solve(resume=tmp_path / "run", iterations=np.int64(25)).iterations == 25
    for wrong in ({"target": "much"}, {"seconds": "long"}, {"seed": "x"}, {"algorithm": 5}, {"algorithm": ""}):
        with pytest.raises(SpecError):
            tp.solve("kuhn_poker", iterations=2, **wrong)


def test_mappings_may_leave_out_whose_turn_it_is():
    game = tp.compile("rock_paper_scissors")
    full = {infostate: {0: 1.0} for _, infostate in game.lookup}
    bare = {infostate.partition("\n")[2]: {0: 1.0} for infostate in full}
    assert tp.nash_conv(game, bare) == tp.nash_conv(game, full) > 0


def test_a_solution_whose_solver_ran_on_does_not_resume(tmp_path):
    solution = tp.solve("kuhn_poker", iterations=10)
    solution.solver.run(5)
    solution.save(tmp_path / "run")
    assert tp.judge("kuhn_poker", tmp_path / "run").exploitability == solution.exploitability
    with pytest.raises(FileError, match=r"run has no state\.safetensors to resume from; restart the run \(with --force\)"):
        tp.solve(resume=tmp_path / "run", iterations=20)


@pytest.mark.quick_cases("my own (odd) name")
@pytest.mark.parametrize("name", ["mine", "my own (odd) name", "learned dcfr", "dcfr"])
def test_an_algorithm_of_ones_own_has_to_be_given_again(tmp_path, name):
    mine = tp.solvers.Variant(name, "", "", lambda t, horizon: tp.solvers.Weights())
    tp.solve("kuhn_poker", mine, iterations=10, out=tmp_path / "run")
    with pytest.raises(SpecError, match=r"a custom algorithm, .*; give it again: tp\.solve\(resume=.*, algorithm=\.\.\.\)"):
        tp.solve(resume=tmp_path / "run", iterations=20)
    assert tp.solve(resume=tmp_path / "run", algorithm=mine, iterations=20).iterations == 20


@pytest.mark.quick_cases('"status": "finished"-"status": "done"-changed after it was written')
@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"target": null', '"target": 1.5', "changed after it was written"),
        ('"target": null', '"target": 1e30', "changed after it was written"),
        ('"seed": 0', '"seed": 1', "changed after it was written"),
        ('"status": "finished"', '"status": "done"', "changed after it was written"),
    ],
)
def test_a_changed_run_json_is_not_believed(tmp_path, old, new, words):
    tp.solve("kuhn_poker", "cfr", iterations=10, out=tmp_path / "run")
    path = tmp_path / "run" / RUN
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(FileError, match=words):
        tp.solve(resume=tmp_path / "run", iterations=20)


@pytest.mark.quick_cases("refine-yes")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("target", value) for value in (True, "1", -1.0, [], float("inf"))),
        *(("refine", value) for value in ([], 0, "yes", None)),
        *(("iterations", value) for value in (True, 1.5, 0, None)),
        *(("seed", value) for value in (True, None, 0.5)),
    ],
)
def test_settings_of_another_kind_are_refused(tmp_path, name, value):
    tp.solve("kuhn_poker", "cfr", iterations=10, out=tmp_path / "run")
    path = tmp_path / "run" / RUN
    about = json.loads(path.read_text())
    path.write_bytes(signed(json.dumps({**about, "settings": {**about["settings"], name: value}}).encode()))
    with pytest.raises(FileError, match="cannot read the settings"):
        tp.solve(resume=tmp_path / "run", iterations=20)


@pytest.mark.parametrize("target", [True, -1, float("nan"), "0.5%", "near"])
def test_a_target_is_a_number(target):
    with pytest.raises(SpecError, match=r"target must be a number|is not a number; write it in"):
        tp.solve("kuhn_poker", target=target)
