"""Compiled walks over Numba functions do what walks in Python do, bit for bit, and say what is wrong."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import treeplex as tp
from treeplex.base.storage.tensors import TensorFile, write_tensors
from treeplex.errors import AlgorithmError, FileError, GameError, ImperfectRecallError, SpecError
from treeplex.evaluate import judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.games.numba_rules import NumbaGame, NumbaRules
from treeplex.solvers.sampling.numba_walks import NumbaWalks
from treeplex.solvers.sampling.rules_solver import PythonWalks, RulesSampler
from treeplex.solvers.sampling.solver import SAMPLINGS, SamplingOptions

GOOFSPIEL = "goofspiel(num_cards=3,imp_info=true,returns_type=total_points)"
LIARS = "liars_dice(players=2,dice_sides=4)"
BIDS = "oshi_zumo(coins=5,size=1,horizon=6,min_bid=1)"
PRUNES = {"variant": "lcfr", "prune": 0.9, "prune_after": 5, "prune_below": 0.5}


def sampler(game: Any, scheme: str = "es-mccfr", most: int | None = None, python: bool = False, **options: Any) -> RulesSampler:
    return RulesSampler(game, SAMPLINGS[scheme], SamplingOptions(**options), seed=11, most_bytes=most, functions=not python)


def cases() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for scheme in sorted({*SAMPLINGS} - {"ccs-mccfr"}):
        yield GOOFSPIEL, scheme, {"variant": "dcfr"} if scheme != "pluribus-mccfr" else PRUNES
        yield LIARS, scheme, {}
    for averaging in ("opponent", "stochastic", "optimistic", "naive"):
        yield BIDS, "es-mccfr", {"averaging": averaging, "variant": "cfr+"}
    yield BIDS, "vr-mccfr", {"key": "infoset"}
    yield GOOFSPIEL, "cs-mccfr", {"baseline": "learned", "key": "infoset"}
    yield LIARS, "as-mccfr", {"baseline": "learned", "variant": "lcfr"}


@pytest.mark.slow
@pytest.mark.parametrize(("game", "scheme", "options"), list(cases()))
def test_the_tables_are_those_of_walks_in_python(game: str, scheme: str, options: dict[str, Any]) -> None:
    compiled, python = sampler(game, scheme, **options), sampler(game, scheme, python=True, **options)
    assert isinstance(compiled.walks, NumbaWalks)
    assert isinstance(python.walks, PythonWalks)
    compiled.run(7)
    compiled.run(23)
    python.run(30)
    assert (compiled.nodes, compiled.infosets) == (python.nodes, python.infosets)
    for average in (True, False):
        (infosets, rows), (known, expected) = (each.walks.policies(average=average) for each in (compiled, python))
        assert [list(each.lookup) for each in infosets] == [list(each.lookup) for each in known]
        assert [each.actions for each in infosets] == [each.actions for each in known]
        for row, same in zip(rows, expected, strict=True):
            assert np.array_equal(row, same)


@pytest.mark.slow
def test_a_game_is_solved_as_far_as_the_judge_of_walked_rules_says() -> None:
    game = compile_game(BIDS, stored=False)
    run = sampler(BIDS, variant="lcfr")
    run.run(10_000)
    found = judge(game, run.average_policy().on(game)).exploitability
    assert found < 0.05 * judge(game, tp.Policy.uniform(game)).exploitability


def saved(run: RulesSampler, path: Path) -> Path:
    write_tensors(path, {"format": "test", "version": "1"}, run.tensors())
    return path


@pytest.mark.slow_cases("None-es-mccfr-options0", "None-vr-mccfr-options1")
@pytest.mark.parametrize(
    ("scheme", "options"),
    [("es-mccfr", {"variant": "dcfr"}), ("vr-mccfr", {}), ("vr-mccfr", {"key": "infoset"}), ("as-mccfr", {})],
)
@pytest.mark.parametrize("most", [None, 70_000])
def test_a_saved_run_goes_on_bit_for_bit(scheme: str, options: dict[str, Any], most: int | None, tmp_path: Path) -> None:
    unbroken, stopped, resumed = (sampler(LIARS, scheme, most, **options) for _ in range(3))
    unbroken.run(200)
    stopped.run(77)
    path = saved(stopped, tmp_path / "state")
    with TensorFile(path, "test", 1) as file:
        resumed.restore(file)
    assert (resumed.iteration, resumed.nodes, resumed.unstored) == (stopped.iteration, stopped.nodes, stopped.unstored)
    resumed.run(123)
    assert unbroken.full == resumed.full == (most is not None)
    assert (unbroken.unstored > 0) == (most is not None)
    assert saved(unbroken, tmp_path / "a").read_bytes() == saved(resumed, tmp_path / "b").read_bytes()
    with TensorFile(path, "test", 1) as file, pytest.raises(FileError):
        sampler(LIARS, scheme, variant="cfr" if options.get("variant") == "dcfr" else "dcfr").restore(file)


def test_a_run_of_walks_in_python_goes_on_in_python(tmp_path: Path) -> None:
    python, resumed, small = sampler(LIARS, python=True), sampler(LIARS), sampler(LIARS, most=66_000)
    python.run(20)
    path = saved(python, tmp_path / "state")
    with TensorFile(path, "test", 1) as file:
        resumed.restore(file)
    python.run(20), resumed.run(20)
    assert saved(python, tmp_path / "a").read_bytes() == saved(resumed, tmp_path / "b").read_bytes()
    small.run(30)
    assert small.full
    assert small.bytes <= 66_000
    whole = sampler(LIARS)
    whole.run(60)
    with TensorFile(saved(whole, path), "test", 1) as file, pytest.raises(SpecError, match="memory limit"):
        sampler(LIARS, most=66_000).restore(file)


@pytest.mark.slow
def test_arrays_take_no_more_than_what_is_counted() -> None:
    """The rest is for texts, policies and an array on the move."""
    run = sampler(GOOFSPIEL, variant="dcfr")
    run.run(300)
    tables = run.walks.tables
    arrays = (tables.infosets, tables.places, tables.action_ids, tables.paths, tables.held.rows, tables.held.logs)
    assert 0.25 * run.bytes < sum(each.nbytes for each in arrays) < run.bytes


def test_a_limit_of_histories_stops_between_two_iterations() -> None:
    stopped, unbroken = (sampler(LIARS, variant="dcfr") for _ in range(2))
    stopped.run(10**6, nodes=5000)
    assert 5000 <= stopped.nodes < 6000
    stopped.run(20)
    unbroken.run(stopped.iteration)
    assert np.array_equal(stopped.schedule.running, unbroken.schedule.running)
    assert stopped.nodes == unbroken.nodes


def actor(state: Any) -> int:
    return int((-1, 0, 1, -4)[state[0]])


def actions(state: Any, found: Any) -> int:
    found[0], found[1] = 0, 1
    return 2


def play(state: Any, action: int) -> None:
    state[0] += 1
    state[state[0]] = action


def knows(state: Any, player: int) -> int:
    return int(state[0] * 4 + state[1] * (1 - player))


def payoff(state: Any, player: int) -> float:
    return float((2 * player - 1) * (state[2] == state[3]))


WHOLE = NumbaRules((0, 0, 0, 0), actor, actions, play, knows, payoff, most_actions=2)


def not_a_number(state: Any, player: int) -> float:
    return float("nan") if state[1] == 1 and state[2] == 1 and state[3] == 1 else 0.0


def other_actions(state: Any, found: Any) -> int:
    found[0], found[1] = 0, 1 + state[1] * (state[0] == 2)
    return 2


def forgets(state: Any, player: int) -> int:
    return 0


def always_player_0(state: Any) -> int:
    return int((-1, 0, 0, -4)[state[0]])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "error", "match"),
    [
        ({"payoff": not_a_number}, GameError, "payoff.*nan"),
        pytest.param({"actions": other_actions}, GameError, "and different actions", marks=pytest.mark.slow),
        ({"actor": always_player_0, "infoset": forgets}, ImperfectRecallError, "lacks perfect recall"),
    ],
)
def test_faults_of_functions(changes: dict[str, Any], error: type[Exception], match: str) -> None:
    sampler(NumbaGame(WHOLE)).run(50)
    broken = sampler(NumbaGame(replace(WHOLE, **changes)))
    with pytest.raises(error, match=match):
        broken.run(50)
    with pytest.raises(AlgorithmError, match="interrupted"):
        broken.average_policy()
