import signal

import numpy as np
import pytest

import treeplex as tp
from papers.cfr2007 import runs
from papers.cfr2007.match import play_limit
from papers.cfr2007.runs import LIMIT, LimitSettings, load_limit, points, read_settings, solve_limit
from papers.cfr2007.strategy import preflop_strategy
from papers.cfr2007.walks import judge_limit
from treeplex.base.notices import telling
from treeplex.errors import FileError, GameError, JobInterrupt, PolicyError, SpecError
from treeplex.holdem.buckets.look import look_up, preflop_buckets
from treeplex.run.job.folder import RUN, JobFolder

SETTINGS = LimitSettings("bucketed_holdem(cards=royal,buckets=2,boards=50,river_boards=50)")


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("TREEPLEX_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.mark.slow
def test_an_interrupted_run_goes_on_bit_for_bit(tmp_path):
    whole = solve_limit(SETTINGS, iterations=4000, evaluations=2)
    solve_limit(SETTINGS, iterations=1500, evaluations=1, out=tmp_path)
    rest = solve_limit(read_settings(tmp_path), iterations=4000, evaluations=2, out=tmp_path, resume=True)
    for mine, theirs in zip(whole.strategy.average, rest.strategy.average, strict=True):
        assert np.array_equal(mine, theirs)
    assert [record.done for record in rest.records] == [1500, 4000]
    assert rest.records[-1].exploitability == whole.records[-1].exploitability
    assert rest.status == "finished"
    loaded = load_limit(tmp_path)
    assert np.array_equal(loaded.average.late, whole.strategy.average.late)
    assert np.array_equal(preflop_strategy(loaded, "").probabilities, preflop_strategy(whole.strategy, "").probabilities)


@pytest.mark.slow
def test_ctrl_c_saves_what_there_is(tmp_path):
    stopped = []

    def say(text):
        if text.startswith("iteration ") and "/1,000 " in text and not text.startswith("iteration 0/") and not stopped:
            stopped.append(text)
            signal.raise_signal(signal.SIGINT)

    with telling(say), pytest.raises(JobInterrupt) as interrupted:
        solve_limit(SETTINGS, iterations=1000, evaluations=1, out=tmp_path)
    run = interrupted.value.result
    assert run.status == "interrupted"
    assert 0 < run.records[-1].done < 1000
    rest = solve_limit(SETTINGS, iterations=1000, evaluations=1, out=tmp_path, resume=True)
    whole = solve_limit(SETTINGS, iterations=1000, evaluations=1)
    assert np.array_equal(rest.strategy.average.late, whole.strategy.average.late)


@pytest.mark.slow
def test_folders_are_not_overwritten_or_taken_for_another(tmp_path):
    solve_limit(SETTINGS, iterations=10, evaluations=1, out=tmp_path)
    with pytest.raises(FileError, match="resume it"):
        solve_limit(SETTINGS, iterations=10, out=tmp_path)
    other = LimitSettings("bucketed_holdem(cards=royal,buckets=[3;2;2;2],boards=50,river_boards=50)")
    with pytest.raises(FileError, match="not those of these settings"):
        solve_limit(other, iterations=20, out=tmp_path, resume=True)
    folder = JobFolder(LIMIT, tmp_path)
    folder.describe({**folder.about(), "game": "another"}, status="finished", records=folder.records())
    with pytest.raises(FileError, match="joint tables"):
        solve_limit(SETTINGS, iterations=20, out=tmp_path, resume=True)
    with pytest.raises(FileError, match="contains no run"):
        solve_limit(SETTINGS, iterations=20, out=tmp_path / "none", resume=True)
    (tmp_path / RUN).write_text("{}")
    with pytest.raises(FileError, match=r"not written by papers\.cfr2007\.limit solve"):
        load_limit(tmp_path)


def test_evaluations_are_spread_on_a_logarithmic_scale():
    assert points(10_000, 3) == [100, 1000, 10_000]
    assert points(5, 1) == [5]


@pytest.mark.slow
def test_looking_up_hands_and_strategies():
    run = solve_limit(SETTINGS, iterations=5000, evaluations=1)
    groups = preflop_buckets(run.strategy.game.buckets)
    assert groups[1][0] == "AA"
    assert sum(map(len, groups)) == 25
    looks = look_up(run.strategy.game.buckets, "AsAc", "AdAhTcTd")
    assert [look.street for look in looks] == ["preflop", "flop", "turn"]
    assert looks[1].mean > 0.99
    assert looks[1].mean >= looks[1].square
    node = preflop_strategy(run.strategy, "cr")
    assert (node.player, node.actions) == (1, ("fold", "call", "raise"))
    assert np.allclose(node.probabilities.sum(axis=1), 1)
    with pytest.raises(SpecError, match="no 'c' at place 2"):
        preflop_strategy(run.strategy, "cc")
    with pytest.raises(SpecError, match="give two"):
        look_up(run.strategy.game.buckets, "As", "AdAhTc")
    with pytest.raises(SpecError, match="hand '2s3s': 2s is not in the deck"):
        look_up(run.strategy.game.buckets, "2s3s", "")


@pytest.mark.slow
def test_runs_of_full_sweeps_are_strategies_too(tmp_path):
    tp.solve(SETTINGS.game, "dcfr", iterations=20, out=tmp_path / "swept")
    strategy = load_limit(tmp_path / "swept")
    solution = tp.load_policy(tmp_path / "swept" / "policy.safetensors")
    judged = judge_limit(strategy.game, strategy.average)
    blinds = 1000 / strategy.game.big_blind
    assert judged.exploitability == pytest.approx(blinds * tp.exploitability(SETTINGS.game, solution), rel=1e-5)
    sampled = solve_limit(SETTINGS, iterations=300, evaluations=1).strategy
    match = play_limit([strategy, sampled], 300)
    assert match.means[0, 1] > 0  # twenty sweeps are worth more than three hundred deals
    tp.solve("leduc_poker", iterations=1, out=tmp_path / "other")
    with pytest.raises(PolicyError, match="give one for bucketed_holdem"):
        load_limit(tmp_path / "other")


def test_a_run_needs_a_game_in_buckets_and_memory(monkeypatch):
    with pytest.raises(SpecError, match="give bucketed_holdem"):
        solve_limit(LimitSettings("leduc_poker"), iterations=1)
    with pytest.raises(GameError, match="full sweeps"):
        solve_limit(LimitSettings("bucketed_holdem(cards=royal,sizes=[a],stack=4)"), iterations=1)
    monkeypatch.setattr(runs, "available_memory", lambda: 10**8)
    with pytest.raises(GameError, match="fewer buckets"):
        solve_limit(SETTINGS, iterations=1)
