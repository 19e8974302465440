"""Runs that are limited by the histories they walk, with algorithms that sweep and with one that samples."""

import math
from dataclasses import replace

import numpy as np
import pytest

import treeplex as tp
from tests.processes import interrupt_after
from treeplex.errors import SpecError
from treeplex.forms.policies.tabular import uniform_probabilities
from treeplex.run.job.folder import METRICS, JobFolder
from treeplex.run.solve.settings import SOLVE
from treeplex.solvers import Solver

SWEEP = 2 * 58
"""Histories that an iteration with alternating updates walks in Kuhn poker."""


def numbers(records):
    return [(record.done, record.nodes, record.exploitability, record.gains) for record in records]


def walked(t: int) -> int:
    """What iteration ``t`` of the sampling solver walks: from 3 to 42 histories."""
    return 3 + (t * 2654435761 % 2**32) // 7 % 40


class Sampler(Solver):
    """Walks a few histories an iteration; its policy moves a little each time."""

    algorithm, updates = "some-mccfr", "alternating"

    def __init__(self, game):
        self.game = game
        self.average = uniform_probabilities(game)
        self.count = np.zeros(1)

    def run(self, iterations):
        for _ in range(iterations):
            self.iteration += 1
            self.count += walked(self.iteration)
            self.average *= 1 + 0.01 * np.sin(self.iteration + np.arange(len(self.average)))

    @property
    def nodes(self):
        return int(self.count[0])

    def arrays(self):
        return {"average": self.average, "count": self.count}


@pytest.fixture
def sampler(monkeypatch):
    """Let any algorithm that is called ``some-mccfr`` be a :class:`Sampler`."""
    known = dict(tp.algorithms())
    known["some-mccfr"] = replace(known["es-mccfr"], name="some-mccfr", factory=lambda start: Sampler(start.game))
    monkeypatch.setattr("treeplex.solvers.registry.ALGORITHMS", known)
    return "some-mccfr"


@pytest.mark.parametrize("nodes", [1, SWEEP, SWEEP + 1, 50 * SWEEP, 12_345])
def test_a_sweeping_run_stops_at_the_first_iteration_that_is_enough(nodes):
    solution = tp.solve("kuhn_poker", "cfr", nodes=nodes)
    assert (solution.iterations, solution.status) == (math.ceil(nodes / SWEEP), "finished")
    assert solution.nodes == solution.last.nodes == solution.iterations * SWEEP
    whole = tp.solve("kuhn_poker", "cfr", iterations=solution.iterations)
    assert numbers(solution.records) == numbers(whole.records)


@pytest.mark.parametrize("nodes", [1, 40, 500, 4_000, 100_000])
def test_a_sampling_run_stops_at_the_first_iteration_that_is_enough(nodes, sampler):
    solution = tp.solve("kuhn_poker", sampler, nodes=nodes)
    assert solution.nodes == sum(walked(t) for t in range(1, solution.iterations + 1)) >= nodes
    assert solution.nodes - walked(solution.iterations) < nodes
    scheduled = [t for t in (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 25, 32, 40) if t < solution.iterations]
    assert [record.done for record in solution.records[:-1] if record.done <= 40] == scheduled


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["dcfr", "hs-dcfr", "some-mccfr"])
def test_resuming_is_as_if_never_stopped(algorithm, sampler, tmp_path):
    whole = tp.solve("kuhn_poker", algorithm, nodes=30_000, out=tmp_path / "whole")
    with pytest.raises(tp.errors.JobInterrupt):
        tp.solve("kuhn_poker", algorithm, nodes=30_000, out=tmp_path / "stopped", progress=interrupt_after(100))
    resumed = tp.solve(resume=tmp_path / "stopped")
    assert resumed.iterations > 200
    assert numbers(resumed.records) == numbers(whole.records)
    assert np.array_equal(resumed.policy.probabilities, whole.policy.probabilities)


def test_more_histories_than_before(sampler, tmp_path):
    whole = tp.solve("kuhn_poker", sampler, nodes=30_000)
    tp.solve("kuhn_poker", sampler, nodes=9_999, out=tmp_path)
    assert numbers(tp.solve(resume=tmp_path, nodes=30_000).records) == numbers(whole.records)


def test_a_finished_run_stays_as_it_is(tmp_path):
    first = tp.solve("kuhn_poker", nodes=10_000, out=tmp_path)
    before = (tmp_path / METRICS).read_bytes()
    assert numbers(tp.solve(resume=tmp_path).records) == numbers(first.records)
    assert tp.solve(resume=tmp_path, nodes=10_000).iterations == first.iterations
    assert (tmp_path / METRICS).read_bytes() == before
    with pytest.raises(SpecError, match="has visited 10,092 histories already"):
        tp.solve(resume=tmp_path, nodes=9_000)


@pytest.mark.slow
def test_the_last_limit_given_counts(tmp_path):
    tp.solve("kuhn_poker", nodes=10_000, out=tmp_path)
    further = tp.solve(resume=tmp_path, iterations=200)
    assert (further.iterations, further.settings.nodes) == (200, None)
    furthest = tp.solve(resume=tmp_path, nodes=300 * SWEEP)
    assert (furthest.iterations, furthest.settings.nodes) == (300, 300 * SWEEP)
    both = tp.solve("kuhn_poker", iterations=5, nodes=300 * SWEEP)
    assert both.iterations == 5


def test_the_horizon_is_what_the_histories_are_enough_for():
    for updates, sweep in (("alternating", SWEEP), ("simultaneous", SWEEP // 2)):
        counted = tp.solve("kuhn_poker", "hs-pcfr+", nodes=90 * sweep, updates=updates)
        planned = tp.solve("kuhn_poker", "hs-pcfr+", iterations=90, updates=updates)
        assert counted.settings.horizon == 90
        assert np.array_equal(counted.policy.probabilities, planned.policy.probabilities)
    mine = tp.solvers.Variant("mine", "", "", lambda t, horizon: tp.solvers.Weights(average=horizon), updates="simultaneous")
    assert tp.solve("kuhn_poker", mine, nodes=90 * 58).settings.horizon == 90


def test_algorithms_with_a_pace_or_a_single_step():
    assert tp.solve("kuhn_poker", "ddcfr", nodes=20 * SWEEP).iterations == 20
    assert tp.solve("kuhn_poker", "ddcfr", nodes=10**7).iterations == 1000
    assert tp.solve("kuhn_poker", "lp", nodes=10**7).iterations == 1


def test_a_resumed_pace_is_not_overrun(tmp_path):
    tp.solve("kuhn_poker", "ddcfr", iterations=20, out=tmp_path)
    assert tp.solve(resume=tmp_path, nodes=10**7).iterations == 1000


def test_a_target_ends_it_earlier():
    solution = tp.solve("kuhn_poker", nodes=10**7, target=1e-2)
    assert (solution.status, solution.target_reached) == ("target reached", True)
    assert solution.nodes < 10**6


def test_runs_from_before_histories_were_counted(tmp_path):
    tp.solve("kuhn_poker", iterations=20, out=tmp_path)
    folder = JobFolder(SOLVE, tmp_path)
    about = folder.about()
    del about["settings"]["nodes"]
    folder.describe(about, status="finished", records=folder.records())
    assert tp.solve(resume=tmp_path, iterations=30).iterations == 30


def test_progress_knows_the_limit(sampler):
    seen = []
    tp.solve("kuhn_poker", sampler, nodes=5_000, progress=seen.append)
    assert {progress.numbers["budget"] for progress in seen} == {5_000}
    assert seen[-1].numbers["nodes"] >= 5_000
    assert seen[-1].seconds_left == 0
    assert all(progress.numbers["objective"] == "exploitability" for progress in seen)


def test_the_time_left_is_that_to_the_target_where_nothing_else_ends_a_run():
    seen = []
    tp.solve("kuhn_poker", "es-mccfr", target=0.02, progress=seen.append)
    left = [progress.seconds_left for progress in seen]
    assert left[0] is None  # one record says nothing
    assert any(each is not None for each in left)
    assert all(0.0 <= each < 365 * 86400.0 for each in left if each is not None)


@pytest.mark.parametrize("wrong", [0, -5, 1.5, "many", True])
def test_wrong_numbers(wrong):
    with pytest.raises(SpecError, match="nodes"):
        tp.solve("kuhn_poker", nodes=wrong)


def test_an_objective_of_its_own(monkeypatch, sampler, tmp_path):
    monkeypatch.setattr(Sampler, "objective", "cce_gap")
    monkeypatch.setattr(Sampler, "measures", lambda self: {"cce_gap": 1.0 / self.iteration})
    seen = []
    solution = tp.solve("kuhn_poker", sampler, iterations=50, target=0.1, progress=seen.append)
    assert (solution.status, solution.iterations) == ("target reached", 10)
    assert (seen[-1].numbers["objective"], seen[-1].numbers["measures"]["cce_gap"]) == ("cce_gap", 1 / 8)
    (axes,) = solution.plot(tmp_path / "a.png").axes
    assert axes.get_ylabel().startswith("CCE gap")
    (axes,) = solution.plot(x="nodes").axes
    assert axes.get_xlabel().startswith("Nodes")
    with pytest.raises(SpecError, match="the x axis must be"):
        solution.plot(x="gap")
