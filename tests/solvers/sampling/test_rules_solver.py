"""Monte Carlo CFR on rules: the same tables as on compiled games, the memory limit, what is refused."""

import tracemalloc
from collections.abc import Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.random_games import RandomGame
from treeplex.base.storage.tensors import TensorFile, write_tensors
from treeplex.engine.sampling.sampled_tables import AVERAGE, POLICY, REGRET
from treeplex.errors import AlgorithmError, FileError, GameError, ImperfectRecallError, SpecError
from treeplex.evaluate import judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.sources.load import load
from treeplex.games.base import CHANCE, SIMULTANEOUS, TERMINAL, Game, State
from treeplex.games.builtin import liars_dice
from treeplex.solvers.sampling.rules_solver import RulesSampler
from treeplex.solvers.sampling.rules_tables import PlayerTable
from treeplex.solvers.sampling.schedule import DISCOUNT_SEQUENCES
from treeplex.solvers.sampling.solver import AVERAGING, SAMPLINGS, MonteCarloCfr, SamplingOptions

SCHEMES = sorted({*SAMPLINGS} - {"pluribus-mccfr"})  # es-mccfr, unless it prunes
KINDS = [kind for kind in AVERAGING if kind != "full"]
GOOFSPIEL = "goofspiel(num_cards=3,imp_info=true,returns_type=total_points)"


compiled_once = cache(compile_game)
python_sampler = partial(RulesSampler, functions=False)


def both(game: str | Game, scheme: str, iterations: int, **options: Any) -> tuple[MonteCarloCfr, RulesSampler]:
    """A run on the compiled game equals one on its rules, the latter in two parts."""
    compiled = compiled_once(game)
    chosen = SamplingOptions(**options)
    solver = MonteCarloCfr(compiled, SAMPLINGS[scheme], chosen, seed=11)
    sampler = python_sampler(game, SAMPLINGS[scheme], chosen, seed=11)
    solver.run(iterations)
    sampler.run(iterations // 3)
    sampler.run(iterations - iterations // 3)
    return solver, sampler


def row(table: PlayerTable, infostate: str) -> tuple[list[float], list[float], list[float]] | None:
    """Regrets, current policy and average at an infoset; None if the table lacks it."""
    number = table.infosets.lookup.get(infostate)
    if number is None:
        return None
    slots = slice(table.infosets.first[number], table.infosets.first[number + 1])
    return table.regrets[slots].tolist(), table.policy[slots].tolist(), table.average[slots].tolist()


def check_same(solver: MonteCarloCfr, sampler: RulesSampler) -> None:
    """Tables, averages and histories walked."""
    met = 0
    for (player, infostate), infoset in solver.game.lookup.items():
        first, actions, _ = solver.layout.infosets[infoset]
        compiled = solver.tables.rows[first : first + actions]
        found = row(sampler.walks.tables.players[player], infostate)
        if found is None:
            assert not compiled[:, [REGRET, AVERAGE]].any()
            continue
        met += 1
        for column, values in zip((REGRET, POLICY, AVERAGE), found, strict=True):
            assert values == pytest.approx(compiled[:, column], rel=1e-12, abs=1e-12)
    assert met == sampler.infosets > 0
    assert sampler.nodes == solver.nodes
    expected = solver.average_policy().probabilities
    assert sampler.average_policy().on(solver.game).probabilities == pytest.approx(expected, abs=1e-12)


def cases() -> Iterator[tuple[str, str, str, str]]:
    for scheme in SCHEMES:
        for variant in sorted(DISCOUNT_SEQUENCES):
            for kind in KINDS:
                if not (kind == "opponent" and SAMPLINGS[scheme].others == "all"):
                    yield "leduc_poker(ranks=2,raises=1)", scheme, variant, kind
        yield "kuhn_poker(players=3)", scheme, "lcfr", "lazy"
        for kind in ("lazy", "stochastic"):
            yield GOOFSPIEL, scheme, "lcfr", kind


@pytest.mark.quick_cases(
    "leduc_poker(ranks=2,raises=1)-as-mccfr-cfr-opponent",
    "leduc_poker(ranks=2,raises=1)-as-mccfr-cfr-naive",
    "leduc_poker(ranks=2,raises=1)-as-mccfr-dcfr+-lazy",
    "leduc_poker(ranks=2,raises=1)-as-mccfr-lcfr-stochastic",
    "leduc_poker(ranks=2,raises=1)-ccs-mccfr-cfr-optimistic",
    "leduc_poker(ranks=2,raises=1)-ccs-mccfr-cfr-opponent",
    "leduc_poker(ranks=2,raises=1)-ccs-mccfr-cfr+-stochastic",
    "leduc_poker(ranks=2,raises=1)-ccs-mccfr-dcfr+-lazy",
    "leduc_poker(ranks=2,raises=1)-ccs-mccfr-lcfr-optimistic",
    "leduc_poker(ranks=2,raises=1)-cs-mccfr-cfr+-naive",
    "leduc_poker(ranks=2,raises=1)-cs-mccfr-dcfr-stochastic",
    "leduc_poker(ranks=2,raises=1)-cs-mccfr-dcfr-optimistic",
    "leduc_poker(ranks=2,raises=1)-cs-mccfr-dcfr+-optimistic",
    "leduc_poker(ranks=2,raises=1)-cs-mccfr-lcfr-stochastic",
    "kuhn_poker(players=3)-cs-mccfr-lcfr-lazy",
    "goofspiel(num_cards=3,imp_info=true,returns_type=total_points)-cs-mccfr-lcfr-stochastic",
    "leduc_poker(ranks=2,raises=1)-es-mccfr-cfr-lazy",
    "leduc_poker(ranks=2,raises=1)-es-mccfr-cfr+-lazy",
    "leduc_poker(ranks=2,raises=1)-es-mccfr-dcfr-opponent",
    "leduc_poker(ranks=2,raises=1)-es-mccfr-dcfr+-lazy",
    "leduc_poker(ranks=2,raises=1)-es-mccfr-dcfr+-opponent",
    "leduc_poker(ranks=2,raises=1)-es-mccfr-dcfr+-naive",
    "leduc_poker(ranks=2,raises=1)-os-mccfr-cfr-opponent",
    "leduc_poker(ranks=2,raises=1)-os-mccfr-cfr+-optimistic",
    "leduc_poker(ranks=2,raises=1)-os-mccfr-cfr+-naive",
    "leduc_poker(ranks=2,raises=1)-os-mccfr-lcfr-optimistic",
    "kuhn_poker(players=3)-os-mccfr-lcfr-lazy",
    "goofspiel(num_cards=3,imp_info=true,returns_type=total_points)-os-mccfr-lcfr-lazy",
    "goofspiel(num_cards=3,imp_info=true,returns_type=total_points)-os-mccfr-lcfr-stochastic",
    "leduc_poker(ranks=2,raises=1)-rs-mccfr-cfr-stochastic",
    "leduc_poker(ranks=2,raises=1)-rs-mccfr-cfr-optimistic",
    "leduc_poker(ranks=2,raises=1)-rs-mccfr-cfr+-optimistic",
    "leduc_poker(ranks=2,raises=1)-rs-mccfr-dcfr-lazy",
    "leduc_poker(ranks=2,raises=1)-rs-mccfr-dcfr+-optimistic",
    "leduc_poker(ranks=2,raises=1)-rs-mccfr-dcfr+-opponent",
    "leduc_poker(ranks=2,raises=1)-rs-mccfr-lcfr-optimistic",
    "leduc_poker(ranks=2,raises=1)-rs-mccfr-lcfr-naive",
    "leduc_poker(ranks=2,raises=1)-vr-mccfr-cfr-stochastic",
    "leduc_poker(ranks=2,raises=1)-vr-mccfr-cfr-opponent",
    "leduc_poker(ranks=2,raises=1)-vr-mccfr-cfr-naive",
    "leduc_poker(ranks=2,raises=1)-vr-mccfr-cfr+-optimistic",
    "leduc_poker(ranks=2,raises=1)-vr-mccfr-dcfr+-stochastic",
    "leduc_poker(ranks=2,raises=1)-vr-mccfr-dcfr+-naive",
    "leduc_poker(ranks=2,raises=1)-vr-mccfr-lcfr-stochastic",
    "leduc_poker(ranks=2,raises=1)-vr-mccfr-lcfr-opponent",
    "kuhn_poker(players=3)-vr-mccfr-lcfr-lazy",
)
@pytest.mark.parametrize(("game", "scheme", "variant", "averaging"), list(cases()))
def test_the_tables_are_those_of_the_compiled_walks(game: str, scheme: str, variant: str, averaging: str) -> None:
    check_same(*both(game, scheme, 200, variant=variant, averaging=averaging))


@pytest.mark.quick_cases(
    "lcfr-kuhn_poker(players=3)",
    "lcfr-leduc_poker(ranks=2,raises=1)",
    "cfr-kuhn_poker(players=3)",
    "cfr-leduc_poker(ranks=2,raises=1)",
)
@pytest.mark.parametrize("game", ["kuhn_poker(players=3)", GOOFSPIEL, "leduc_poker(ranks=2,raises=1)"])
@pytest.mark.parametrize("variant", ["lcfr", "cfr"])
def test_pruned_walks_are_those_of_the_compiled_walks(game: str, variant: str) -> None:
    options = {"variant": variant, "prune": 0.9, "prune_after": 20, "prune_below": 1.0}
    solver, sampler = both(game, "pluribus-mccfr", 500, **options)
    check_same(solver, sampler)
    whole, _ = both(game, "pluribus-mccfr", 500, variant=variant)
    assert solver.nodes < 0.99 * whole.nodes


@pytest.mark.quick_cases(
    "ccs-mccfr-history-kuhn_poker",
    "cs-mccfr-history-kuhn_poker(players=3)",
    "rs-mccfr-history-kuhn_poker",
    "rs-mccfr-infoset-goofspiel(num_cards=3,imp_info=true,returns_type=total_points)",
    "vr-mccfr-history-kuhn_poker",
    "vr-mccfr-infoset-kuhn_poker",
)
@pytest.mark.parametrize("game", ["kuhn_poker", "kuhn_poker(players=3)", GOOFSPIEL, "leduc_poker(ranks=2,raises=1)"])
@pytest.mark.parametrize("key", ["history", "infoset"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_learned_baselines_are_those_of_the_compiled_walks(game: str, key: str, scheme: str) -> None:
    check_same(*both(game, scheme, 200, baseline="learned", key=key, rate=0.3))


@pytest.mark.quick_cases(
    "0-as-mccfr",
    "1-cs-mccfr",
    "1-os-mccfr",
    "1-rs-mccfr",
    "2-as-mccfr",
    "2-vr-mccfr",
    "3-as-mccfr",
    "3-ccs-mccfr",
    "3-os-mccfr",
    "3-vr-mccfr",
)
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("seed", range(4))
def test_random_games(scheme: str, seed: int) -> None:
    game = RandomGame(seed=seed, players=2 + seed % 2, depth=5, zero_sum=seed < 2)
    check_same(*both(game, scheme, 100, variant="dcfr", k=2))


@pytest.mark.quick_cases("as-mccfr", "cs-mccfr", "os-mccfr")
@pytest.mark.parametrize("scheme", SCHEMES)
def test_many_iterations_of_a_standard_game(scheme: str) -> None:
    check_same(*both("leduc_poker", scheme, 150 if scheme in ("cs-mccfr", "as-mccfr") else 2000))


@pytest.mark.parametrize("game", ["kuhn_poker", "kuhn_poker(players=3)"])
def test_the_lazy_average_is_the_sum_of_what_was_played(game: str) -> None:
    """Against a plain sum over iterations of weight times own reach times policy, after each of which the policy is asked."""
    compiled = compile_game(game)
    sampler = python_sampler(game, SAMPLINGS["os-mccfr"], SamplingOptions(variant="lcfr"), seed=1)
    total = np.zeros(int(compiled.tree.sequence_offsets[-1]))
    for t in range(1, 201):
        policy = sampler.current_policy().on(compiled).probabilities
        reach = np.ones_like(total)
        for infoset in range(len(compiled.infostates)):
            own = compiled.sequences_at(infoset)
            reach[own] = reach[compiled.tree.infoset_parent[infoset]] * policy[own]
        total += t * reach
        sampler.run(1)
    for player, infostate in sampler.average_policy():
        own = compiled.sequences_at(compiled.lookup[player, infostate])
        expected = total[own] / total[own].sum()
        assert list(sampler.average_policy()[player, infostate].values()) == pytest.approx(expected, abs=1e-12)


@pytest.mark.slow
def test_kuhn_poker_is_solved() -> None:
    sampler = python_sampler("kuhn_poker", SAMPLINGS["es-mccfr"], seed=2)
    sampler.run(8000)
    compiled = compile_game("kuhn_poker")
    early = judge(compiled, sampler.current_policy().on(compiled)).exploitability
    found = judge(compiled, sampler.average_policy().on(compiled))
    assert found.exploitability < 0.02 < early
    assert found.value[0] == pytest.approx(-1 / 18, abs=0.01)


def test_a_simultaneous_game_is_made_turn_based() -> None:
    rules = load(GOOFSPIEL).game  # type: ignore[attr-defined]
    assert rules.new_initial_state().child(0).current_player() == SIMULTANEOUS
    sampler, turn_based = (python_sampler(game, SAMPLINGS["es-mccfr"]) for game in (rules, GOOFSPIEL))
    sampler.run(50), turn_based.run(50)
    assert list(sampler.average_policy()) == list(turn_based.average_policy())


def test_games_of_open_spiel() -> None:
    check_same(*both("openspiel:kuhn_poker(players=3)", "os-mccfr", 300))


LIMITS = [200_000, 700_000]


@pytest.mark.quick_cases("es-mccfr-options0-200000", "vr-mccfr-options2-200000", "es-mccfr-options4-200000")
@pytest.mark.parametrize("most", LIMITS)
@pytest.mark.parametrize(
    ("scheme", "options"),
    [
        ("es-mccfr", {}),
        ("os-mccfr", {"variant": "dcfr", "averaging": "optimistic"}),
        ("vr-mccfr", {}),
        ("vr-mccfr", {"key": "infoset"}),
        ("es-mccfr", {"averaging": "opponent"}),
    ],
)
def test_the_memory_limit_is_respected(scheme: str, options: dict[str, Any], most: int) -> None:
    """What Python's allocator counts stays below the estimate, and the estimate below the limit and near the truth."""
    game = liars_dice.liars_dice(numdice=2, dice_sides=4)
    sampler = python_sampler(game, SAMPLINGS[scheme], SamplingOptions(**options), most_bytes=most)
    sampler.run(1)
    tracemalloc.start()
    before, counted = tracemalloc.get_traced_memory()[0], sampler.bytes
    try:
        while not sampler.full:
            sampler.run(5)
        tracemalloc.reset_peak()
        sampler.run(5)
        policy = sampler.average_policy()
        peak, grown = tracemalloc.get_traced_memory()[1] - before, sampler.bytes - counted
    finally:
        tracemalloc.stop()
    assert sampler.bytes <= most
    assert sampler.bytes > 0.97 * most
    assert len(policy) == sampler.infosets
    assert 0.5 * grown < peak < grown + 20_000  # the frames of one walk


@pytest.mark.slow
def test_at_the_limit_the_rest_is_played_uniformly_and_counted() -> None:
    limited, free = (python_sampler("leduc_poker", SAMPLINGS["es-mccfr"], most_bytes=most) for most in (80_000, None))
    for sampler in (limited, free):
        sampler.run(700)
    assert limited.full
    assert not free.full
    assert limited.unstored > 0 == free.unstored
    assert limited.infosets < 500 < 800 < free.infosets <= 936
    compiled = compile_game("leduc_poker")
    policy = limited.average_policy()
    whole = policy.on(compiled)
    outside = [key for key in compiled.lookup if key not in policy]
    assert len(outside) == 936 - limited.infosets
    assert all(len(set(whole[key].values())) == 1 for key in outside)
    early = judge(compiled, whole).exploitability
    limited.run(3000)
    assert judge(compiled, limited.average_policy().on(compiled)).exploitability < early - 0.3


def saved(sampler: RulesSampler, path: Path) -> Path:
    write_tensors(path, {"format": "test", "version": "1"}, sampler.tensors())
    return path


@pytest.mark.parametrize(
    ("scheme", "options"),
    [(scheme, {}) for scheme in SCHEMES]
    + [
        ("vr-mccfr", {"key": "infoset", "variant": "dcfr"}),
        ("es-mccfr", {"averaging": "opponent"}),
        ("os-mccfr", {"variant": "cfr+", "averaging": "optimistic"}),
    ],
)
@pytest.mark.parametrize("most", [None, 90_000])
def test_a_saved_run_goes_on_bit_for_bit(scheme: str, options: dict[str, Any], most: int | None, tmp_path: Path) -> None:
    def sampler() -> RulesSampler:
        return python_sampler("leduc_poker", SAMPLINGS[scheme], SamplingOptions(**options), seed=5, most_bytes=most)

    unbroken, stopped, resumed = sampler(), sampler(), sampler()
    unbroken.run(40)
    stopped.run(17)
    with TensorFile(saved(stopped, tmp_path / "state"), "test", 1) as file:
        resumed.restore(file)
    assert (resumed.iteration, resumed.nodes, resumed.unstored) == (stopped.iteration, stopped.nodes, stopped.unstored)
    assert (resumed.bytes, resumed.full) == (stopped.bytes, stopped.full)
    resumed.run(23)
    first, second = saved(unbroken, tmp_path / "a").read_bytes(), saved(resumed, tmp_path / "b").read_bytes()
    assert first == second


def test_a_larger_limit_lets_more_in(tmp_path: Path) -> None:
    small, same, large = (python_sampler("leduc_poker", SAMPLINGS["es-mccfr"], most_bytes=m) for m in (80_000, 80_000, 120_000))
    small.run(300)
    path = saved(small, tmp_path / "state")
    for sampler in (same, large):
        with TensorFile(path, "test", 1) as file:
            sampler.restore(file)
        sampler.run(100)
    assert same.infosets == small.infosets < large.infosets
    with TensorFile(path, "test", 1) as file, pytest.raises(SpecError, match="memory limit of 70,000"):
        python_sampler("leduc_poker", SAMPLINGS["es-mccfr"], most_bytes=70_000).restore(file)
    with TensorFile(path, "test", 1) as file, pytest.raises(FileError, match="another run"):
        python_sampler("leduc_poker", SAMPLINGS["es-mccfr"], seed=1).restore(file)
    with TensorFile(path, "test", 1) as file, pytest.raises(FileError):
        python_sampler("leduc_poker", SAMPLINGS["es-mccfr"], SamplingOptions(variant="dcfr")).restore(file)


def test_a_limit_of_histories_stops_between_two_iterations() -> None:
    stopped, unbroken = (python_sampler("kuhn_poker", SAMPLINGS["es-mccfr"], SamplingOptions(variant="dcfr")) for _ in range(2))
    stopped.run(10**6, nodes=500)
    assert 500 <= stopped.nodes < 530
    stopped.run(20)
    unbroken.run(stopped.iteration)
    assert stopped.walks.tables.players[0].regrets == unbroken.walks.tables.players[0].regrets
    assert np.array_equal(stopped.schedule.running, unbroken.schedule.running)


def make(game: str | Game = "kuhn_poker", scheme: str = "es-mccfr", most: int | None = None, **options: Any) -> RulesSampler:
    return python_sampler(game, SAMPLINGS[scheme], SamplingOptions(**options), most_bytes=most)


def test_what_needs_the_whole_game_is_refused() -> None:
    with pytest.raises(AlgorithmError, match="averaging=full needs a compiled game"):
        make(averaging="full")
    with pytest.raises(AlgorithmError, match="baseline=oracle"):
        make(baseline="oracle")
    with pytest.raises(AlgorithmError, match="one thread"):
        make(threads=2)
    with pytest.raises(AlgorithmError, match="biased with 3 players"):
        make("kuhn_poker(players=3)", averaging="opponent")
    with pytest.raises(AlgorithmError, match="does not support sampling"):
        make(variant="pcfr+")
    with pytest.raises(SpecError, match="memory limit"):
        make(most=10)


class BrokenGame(Game):
    """Rules with a fault that can be chosen."""

    spec = "broken"

    def __init__(self, fault: str) -> None:
        self.fault = fault

    def new_initial_state(self) -> "BrokenState":
        return BrokenState(self.fault, ())


class BrokenState(State):
    def __init__(self, fault: str, moves: tuple[int, ...]) -> None:
        self.fault, self.moves = fault, moves

    def current_player(self) -> int:
        if self.fault == "player" and len(self.moves) == 1:
            return 7
        if self.fault == "late" and self.moves == (0,) * 11:
            return SIMULTANEOUS
        return TERMINAL if len(self.moves) == (12 if self.fault == "late" else 3) else CHANCE if not self.moves else 0

    def legal_actions(self, player: int | None = None) -> Sequence[int]:
        if self.fault == "actions" and len(self.moves) == 1:
            return [0, 1 + self.moves[0]]
        if self.fault in ("twice", "negative") and len(self.moves) == 2:
            return [0, 1, 1] if self.fault == "twice" else [-1, 0]
        return [] if self.fault == "stuck" and len(self.moves) == 2 else [0, 1]

    def chance_outcomes(self) -> Sequence[tuple[int, float]]:
        return [(0, 0.5), (1, 0.4 if self.fault == "chance" else 0.5)]

    def child(self, action: int) -> "BrokenState":
        if self.fault == "raises" and len(self.moves) == 2:
            raise ValueError("no such move")
        return BrokenState(self.fault, (*self.moves, action))

    def returns(self) -> Sequence[float]:
        return [float("nan") if self.fault == "returns" else 1.0, -1.0]

    def information_state_string(self, player: int | None = None) -> str:
        return f"{len(self.moves)}" if self.fault in ("forgets", "actions") else repr(self.moves)


@pytest.mark.slow_cases("late-simultaneous moves at")
@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("player", r"current_player\(\) is 7"),
        ("late", "simultaneous moves at"),
        ("actions", r"infostate '1' has actions \[0, [12]\] in one history and \[0, [12]\] in another"),
        ("stuck", "no legal action at infostate"),
        ("twice", r"legal_actions\(\) is \[0, 1, 1\] at infostate .*; return different integers from 0"),
        ("negative", r"legal_actions\(\) is \[-1, 0\] at infostate "),
        ("chance", "sum to 0.9, not 1"),
        ("raises", r"test_rules_solver.py:\d+: ValueError: no such move"),
        ("returns", "return 2 finite payoffs"),
    ],
)
def test_faults_of_rules_are_named(fault: str, message: str) -> None:
    with pytest.raises(GameError, match=message):
        make(BrokenGame(fault), "os-mccfr").run(5000)


def test_forgetting_is_refused_and_a_broken_walk_is_not_saved() -> None:
    sampler = make(BrokenGame("forgets"), "es-mccfr")
    with pytest.raises(ImperfectRecallError, match="player 0 forgets one of their actions at infostate '2'"):
        sampler.run(100)
    with pytest.raises(AlgorithmError, match="interrupted"):
        sampler.tensors()
    with pytest.raises(AlgorithmError, match="interrupted"):
        sampler.run(1)


def test_a_walk_without_end_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """All actions of a player are followed, and bids of 0 can be made a thousand times."""
    monkeypatch.setattr("treeplex.solvers.sampling.rules_walk.MOST_WALKED", 3000)
    sampler = python_sampler(load("oshi_zumo"), SAMPLINGS["es-mccfr"], SamplingOptions())
    with pytest.raises(AlgorithmError, match="3,000 histories without ending"):
        sampler.run(1)
