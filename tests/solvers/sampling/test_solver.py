"""Monte Carlo CFR on compiled games: averages, schedules, convergence, resuming, threads, what is refused."""

import numpy as np
import pytest

import treeplex as tp
from treeplex.engine.sampling.sampled_tables import POLICY, REGRET
from treeplex.engine.sampling.schemes import LOWEST
from treeplex.errors import AlgorithmError, FileError, SpecError
from treeplex.evaluate import judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.solvers import make_solver
from treeplex.solvers.rules.variants import VARIANTS, Variant, Weights
from treeplex.solvers.sampling.schedule import DISCOUNT_SEQUENCES, SampledSchedule
from treeplex.solvers.sampling.solver import SAMPLINGS, MonteCarloCfr, SamplingOptions, check_averaging, laid_out

SCHEMES = sorted({*SAMPLINGS} - {"pluribus-mccfr"})  # es-mccfr, unless it prunes
SMALL = ["kuhn_poker", "kuhn_poker(players=3)", "goofspiel(num_cards=3,imp_info=true,returns_type=total_points)"]


def run(game: str, scheme: str, iterations: int, seed: int = 0, **options: object) -> MonteCarloCfr:
    solver = MonteCarloCfr(compile_game(game), SAMPLINGS[scheme], SamplingOptions(**options), seed=seed)  # type: ignore[arg-type]
    solver.run(iterations)
    return solver


def exploitability(solver: MonteCarloCfr) -> float:
    return judge(solver.game, solver.average_policy()).exploitability


@pytest.mark.slow_cases(
    "kuhn_poker(players=3)-rs-mccfr-cfr",
    "kuhn_poker(players=3)-vr-mccfr-dcfr",
    "goofspiel(num_cards=3,imp_info=true,returns_type=total_points)-as-mccfr-dcfr+",
    "goofspiel(num_cards=3,imp_info=true,returns_type=total_points)-ccs-mccfr-lcfr",
    "goofspiel(num_cards=3,imp_info=true,returns_type=total_points)-cs-mccfr-dcfr",
    "goofspiel(num_cards=3,imp_info=true,returns_type=total_points)-cs-mccfr-dcfr+",
    "goofspiel(num_cards=3,imp_info=true,returns_type=total_points)-cs-mccfr-lcfr",
    "goofspiel(num_cards=3,imp_info=true,returns_type=total_points)-es-mccfr-cfr+",
    "goofspiel(num_cards=3,imp_info=true,returns_type=total_points)-os-mccfr-cfr",
    "goofspiel(num_cards=3,imp_info=true,returns_type=total_points)-os-mccfr-cfr+",
)
@pytest.mark.parametrize("variant", sorted(DISCOUNT_SEQUENCES))
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("game", [*SMALL, "leduc_poker(ranks=2,raises=1)"])
def test_the_lazy_ledger_is_the_exact_average(game: str, scheme: str, variant: str) -> None:
    lazy, full = (run(game, scheme, 700, seed=3, variant=variant, averaging=kind) for kind in ("lazy", "full"))
    lazy.average_policy(), full.average_policy()
    if scheme != "as-mccfr":  # which samples by the average, so that the two walk by other paths where sums round differently
        assert np.array_equal(lazy.tables.rows[:, 0], full.tables.rows[:, 0])
    assert lazy.average == pytest.approx(full.average, rel=1e-9, abs=1e-9 * full.average.max())


def test_the_exact_average_is_the_sum_of_what_was_played() -> None:
    game = compile_game("kuhn_poker")
    solver = MonteCarloCfr(game, SAMPLINGS["os-mccfr"], SamplingOptions(variant="lcfr"), seed=1)
    total = np.zeros(int(game.tree.sequence_offsets[-1]))
    for t in range(1, 301):
        policy = solver.current_policy().probabilities  # of player 0 at iteration t; player 1 moves second, but has not yet
        for infoset in range(len(game.infostates)):
            own = game.sequences_at(infoset)
            reach = 1.0
            parent = game.tree.infoset_parent[infoset]
            while game.tree.sequence_infoset[parent] >= 0:
                reach *= policy[parent]
                parent = game.tree.infoset_parent[game.tree.sequence_infoset[parent]]
            total[own] += t * reach * policy[own]
        solver.run(1)
    solver.average_policy()
    inner = game.tree.sequence_infoset >= 0
    assert solver.average[inner] == pytest.approx(total[inner], rel=1e-12)


def test_the_naive_average_is_another_one() -> None:
    naive, lazy = (run("leduc_poker", "os-mccfr", 20_000, seed=5, averaging=kind) for kind in ("naive", "lazy"))
    difference = np.abs(naive.average_policy().probabilities - lazy.average_policy().probabilities)
    assert difference.mean() > 0.02


@pytest.mark.parametrize("name", sorted(DISCOUNT_SEQUENCES))
def test_courses_are_the_variants(name: str) -> None:
    schedule, variant = SampledSchedule(name), VARIANTS[name]
    rows = np.concatenate(list(schedule.chunks(0, 60)))
    weights = [variant.schedule(t, 60, **variant.parameters) for t in range(1, 61)]
    assert rows[:, 0] == pytest.approx([row.regret for row in weights])
    share = np.ones(60)
    for t, row in enumerate(weights[1:], start=1):
        share[t] = share[t - 1] / row.average_discount
    assert rows[:, 1] == pytest.approx(share)
    assert schedule.floor == (weights[-1].floor > 0.0)
    for column, part in ((2, "positive"), (3, "negative")):
        if part == "negative" and schedule.floor:
            continue  # nothing is negative
        kept = np.exp(np.diff(rows[:, column]))
        assert kept == pytest.approx([getattr(row, part) for row in weights[1:]])
    grouped = SampledSchedule(name)
    parts = [*grouped.chunks(0, 7), *grouped.chunks(7, 53)]
    assert np.array_equal(np.concatenate(parts), rows)


@pytest.mark.parametrize(
    ("scheme", "options", "most"),
    [
        ("cs-mccfr", {}, 0.008),
        ("es-mccfr", {}, 0.0092),
        ("es-mccfr", {"variant": "lcfr"}, 0.0102),
        ("es-mccfr", {"variant": "dcfr"}, 0.0134),
        ("es-mccfr", {"variant": "cfr+"}, 0.0114),
        ("es-mccfr", {"averaging": "opponent"}, 0.0088),
        ("os-mccfr", {}, 0.026),
        ("os-mccfr", {"averaging": "stochastic"}, 0.026),
        ("as-mccfr", {}, 0.0096),
        ("as-mccfr", {"beta": 0.0, "tau": 1.0, "epsilon": 0.3}, 0.022),
        ("rs-mccfr", {"k": 1}, 0.0236),
        ("rs-mccfr", {"k": 2}, 0.0096),
        ("vr-mccfr", {}, 0.011),
        ("vr-mccfr", {"variant": "cfr+"}, 0.0094),
        ("vr-mccfr", {"key": "infoset"}, 0.0176),
        ("es-mccfr", {"baseline": "learned"}, 0.0096),
        ("os-mccfr", {"baseline": "oracle"}, 0.0088),
    ],
)
def test_every_scheme_comes_close_to_equilibrium_on_kuhn_poker(scheme: str, options: dict[str, object], most: float) -> None:
    found = [exploitability(run("kuhn_poker", scheme, 30_000, seed=seed, **options)) for seed in range(3)]
    assert np.mean(found) < most  # twice the mean over twenty seeds


def test_more_walks_come_closer_on_leduc_poker() -> None:
    solver = run("leduc_poker", "es-mccfr", 10_000)
    early = exploitability(solver)
    solver.run(90_000)
    assert 0.27 < early < 0.33
    assert 0.065 < exploitability(solver) < 0.082


def test_oracle_baselines_leave_no_variance() -> None:
    game = compile_game("leduc_poker(ranks=2,raises=1)")
    samples = []
    for seed in range(40):
        solver = MonteCarloCfr(game, SAMPLINGS["os-mccfr"], SamplingOptions(baseline="oracle"), seed=seed)
        solver.run(1)
        samples.append(solver.tables.rows[:, 0].copy())
    regrets = np.array(samples)
    first = regrets[
        :, :2
    ]  # player 0's first infosets are on a walk or not; where they are, the sample is exact but for its weight
    visited = first[np.abs(first).sum(axis=1) > 0]
    assert len(visited)
    assert visited == pytest.approx(np.broadcast_to(visited[0], visited.shape), rel=1e-9)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("variant", ["cfr", "dcfr"])
def test_a_run_goes_on_bit_for_bit(scheme: str, variant: str) -> None:
    whole = run("leduc_poker(ranks=2,raises=1)", scheme, 500, seed=9, variant=variant)
    first = run("leduc_poker(ranks=2,raises=1)", scheme, 123, seed=9, variant=variant)
    first.average_policy()  # looking changes nothing
    second = run("leduc_poker(ranks=2,raises=1)", scheme, 0, seed=9, variant=variant)
    second.restore(first.state())
    second.run(377)
    assert second.iteration == whole.iteration
    for name, array in whole.arrays().items():
        assert np.array_equal(array, second.arrays()[name]), name
    assert np.array_equal(second.average_policy().probabilities, whole.average_policy().probabilities)


def test_seeds_differ_and_repeat() -> None:
    one, again, other = (run("kuhn_poker", "es-mccfr", 200, seed=seed).tables.rows for seed in (4, 4, 5))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


THREADED = ["es-mccfr(threads=2)", "os-mccfr(threads=3,variant=dcfr)", "vr-mccfr(threads=2)", "ccs-mccfr(threads=2)"]


@pytest.mark.parametrize("algorithm", THREADED)
def test_threads_do_not_depend_on_cores_or_interruptions(algorithm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    game = compile_game("leduc_poker")
    whole = make_solver(game, algorithm, seed=3)
    whole.run(30_000)
    monkeypatch.setattr("treeplex.solvers.sampling.solver.available_cores", lambda: 1)
    pieces = make_solver(game, algorithm, seed=3)
    for count in (1, 2_999, 7_000, 1, 9_999):
        pieces.run(count)
    resumed = make_solver(game, algorithm, seed=3)
    resumed.restore(pieces.state())
    resumed.run(10_000)
    assert whole.arrays()["division"][0] > 0.0
    for name, array in whole.arrays().items():
        assert np.array_equal(array, resumed.arrays()[name]), name
    assert np.array_equal(whole.average_policy().probabilities, resumed.average_policy().probabilities)
    assert np.array_equal(whole.current_policy().probabilities, resumed.current_policy().probabilities)


@pytest.mark.parametrize("variant", ["cfr", "dcfr"])
def test_the_lazy_average_of_threads_is_exact(variant: str) -> None:
    lazy, full = (
        run("leduc_poker", "es-mccfr", 12_000, threads=2, variant=variant, averaging=kind) for kind in ("lazy", "full")
    )
    lazy.average_policy(), full.average_policy()
    assert lazy.iteration > lazy.division.sum() > 0.0  # regrets were averaged at least once
    assert np.array_equal(lazy.tables.rows[..., REGRET], full.tables.rows[..., REGRET])
    assert lazy.average == pytest.approx(full.average, rel=1e-9, abs=1e-9 * full.average.max())


def test_threads_take_the_mean_of_their_regrets() -> None:
    solver = run("leduc_poker", "es-mccfr", 4096, threads=2)
    start, period = solver.division.astype(int)
    assert start == 4096
    solver.run(period - 1)
    assert not np.array_equal(*solver.tables.rows[..., REGRET])
    alone = run("leduc_poker", "es-mccfr", 0, threads=2)
    alone.restore(solver.state())
    solver.run(1)
    alone.division[1] += 2  # the same iteration without a mean
    alone.run(1)
    assert solver.tables.rows[0, :, REGRET] == pytest.approx(alone.tables.rows[..., REGRET].mean(axis=0), rel=1e-12)
    assert np.array_equal(*solver.tables.rows[..., REGRET])
    assert np.array_equal(*solver.tables.rows[..., POLICY])


@pytest.mark.parametrize("threads", [2, 4])
def test_threads_converge_as_fast_per_iteration(threads: int) -> None:
    several, alone = (
        [exploitability(run("leduc_poker", "es-mccfr", 100_000, seed=seed, threads=count)) for seed in range(2)]
        for count in (threads, 1)
    )
    assert np.mean(several) < 1.5 * np.mean(alone)  # 1.05 and 1.3 times as exploitable, over ten seeds


def test_nodes_count_the_histories_walked() -> None:
    solver = run("kuhn_poker", "cs-mccfr", 50)
    walks = 2 * 50
    assert 7 * walks <= solver.nodes <= 11 * walks  # two chance nodes, the nine of the betting but for what nobody plays
    assert run("kuhn_poker", "es-mccfr", 0).nodes == 0


def test_three_players_approach_a_coarse_correlated_equilibrium() -> None:
    solver = run("kuhn_poker(players=3)", "es-mccfr", 50_000)
    assert judge(solver.game, solver.average_policy()).nash_conv < 0.05


@pytest.mark.parametrize("averaging", ["opponent", "optimistic", "naive", "stochastic"])
def test_biased_averages_are_refused_for_three_players(averaging: str) -> None:
    with pytest.raises(AlgorithmError, match="biased with 3 players"):
        make_solver(compile_game("kuhn_poker(players=3)"), f"os-mccfr(averaging={averaging})")


def test_the_opponents_average_needs_opponents_that_are_sampled() -> None:
    with pytest.raises(AlgorithmError, match="use lazy"):
        check_averaging(SAMPLINGS["cs-mccfr"], "opponent", 2)
    with pytest.raises(AlgorithmError, match="needs more than one player; use lazy"):
        check_averaging(SAMPLINGS["es-mccfr"], "opponent", 1)


@pytest.mark.parametrize(
    ("spec", "error", "message"),
    [
        ("os-mccfr(exploration=0)", SpecError, "exploration must be above 0"),
        ("os-mccfr(exploration=1.5)", SpecError, "exploration must be above 0"),
        ("rs-mccfr(k=0)", SpecError, "k must be an integer from 1"),
        ("rs-mccfr(k=1.5)", SpecError, "k must be an integer from 1"),
        ("rs-mccfr(k=1e999)", SpecError, "parameter k of rs-mccfr must be a finite number, not inf"),
        ("es-mccfr(threads=300)", SpecError, "threads must be an integer from 1 to 256"),
        ("es-mccfr(threads=0)", SpecError, "threads must be"),
        ("es-mccfr(averaging=lazzy)", SpecError, "did you mean 'lazy'"),
        ("es-mccfr(baseline=learnt)", SpecError, "did you mean 'learned'"),
        ("es-mccfr(key=node)", SpecError, "unknown key"),
        ("es-mccfr(variant=cfrr)", SpecError, "unknown variant"),
        ("es-mccfr(variant=dcfr(delta=1))", SpecError, "no parameter 'delta'"),
        ("es-mccfr(variant=pcfr+)", AlgorithmError, "predicts the next regrets"),
        ("es-mccfr(variant=apcfr+)", AlgorithmError, "predicts the next regrets"),
        ("es-mccfr(variant=hs-dcfr)", AlgorithmError, "plans for a number"),
        ("as-mccfr(beta=-1)", SpecError, "beta must be"),
        ("as-mccfr(epsilon=nan)", SpecError, "epsilon"),
        ("es-mccfr(exploration=0.5)", SpecError, "no parameter 'exploration'"),
    ],
)
def test_what_is_refused(spec: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make_solver(compile_game("kuhn_poker"), spec)


def test_variants_take_parameters() -> None:
    solver = make_solver(compile_game("kuhn_poker"), "es-mccfr(variant=dcfr(alpha=2,gamma=1),averaging=lazy)")
    assert isinstance(solver, MonteCarloCfr)
    assert solver.schedule.variant.parameters == {"alpha": 2.0, "beta": 0.0, "gamma": 1.0}
    solver.run(100)
    again = make_solver(compile_game("kuhn_poker"), solver.algorithm)
    assert again.algorithm == solver.algorithm


def test_weights_whose_sums_overflow_are_refused_by_iteration() -> None:
    """The averages of what came before would not be numbers any more."""
    solver = make_solver(compile_game("kuhn_poker"), "es-mccfr(variant=cfr+(gamma=100))")
    solver.run(600)
    assert np.isfinite(solver.average_policy().probabilities).all()
    with pytest.raises(SpecError, match=r"weights are too large at iteration 631; change its parameters"):
        solver.run(600)


@pytest.mark.parametrize("game", ["kuhn_poker", "goofspiel(num_cards=3,imp_info=true)"])
def test_baselines_of_infosets_belong_to_slots(game: str) -> None:
    layout, histories, slots = laid_out(compile_game(game), "infoset")
    below = {}
    for actor, child, children, key in histories.nodes.tolist():
        below |= {child + a: key + a if actor >= 0 else -1 for a in range(children)}
    assert layout.edges.tolist() == [-1, *(below[node] for node in range(1, len(histories.nodes)))]
    assert layout.edges.max() == len(slots) - 1


def test_a_state_of_another_shape_is_refused() -> None:
    state = run("kuhn_poker", "es-mccfr", 10).state()
    with pytest.raises(FileError, match="rows"):
        run("leduc_poker", "es-mccfr", 0).restore(state)


@pytest.mark.quick_cases("changed0")
@pytest.mark.parametrize("changed", [{"beta": 1.0}, {"beta": 1.0, "tau": 2.0}, {"beta": 1.0, "tau": 0.0, "epsilon": 0.3}])
def test_average_strategy_sampling_walks_less_with_a_smaller_beta(changed: dict[str, float]) -> None:
    usual = run("leduc_poker", "as-mccfr", 3000)
    assert run("leduc_poker", "as-mccfr", 3000, **changed).nodes != usual.nodes
    few = run("leduc_poker", "as-mccfr", 3000, beta=1.0, tau=0.0, epsilon=0.05)
    assert few.nodes < 0.6 * usual.nodes


def test_average_strategy_sampling_from_nothing_walks_everything() -> None:
    solver = run("kuhn_poker", "as-mccfr", 50, beta=0.0, averaging="opponent")
    assert solver.nodes > 0


def test_the_rate_of_a_baseline_changes_the_run() -> None:
    rows = [run("kuhn_poker", "vr-mccfr", 200, rate=rate).tables.rows[:, 0] for rate in (0.5, 0.1)]
    assert np.abs(rows[0] - rows[1]).max() > 0


def test_pruning_skips_what_is_not_played() -> None:
    """Fewer histories an iteration, and as near to equilibrium; no regret below the floor."""
    game = compile_game("leduc_poker(players=3,ranks=2,raises=1)")
    scheme, options = SAMPLINGS["pluribus-mccfr"], {"prune_after": 100.0, "prune_below": 20.0}
    runs = [MonteCarloCfr(game, scheme, scheme.options(options | {"prune": share}), seed=1) for share in (0.0, 0.95)]
    for run in runs:
        run.run(20_000)
    plain, pruned = runs
    assert pruned.nodes < 0.95 * plain.nodes
    found = [tp.nash_conv(game, run.average_policy()) for run in runs]
    assert found[1] < 1.5 * found[0] < 1.0
    assert pruned.tables.rows[:, REGRET].min() >= -LOWEST * 20.0 * pruned.iteration > plain.tables.rows[:, REGRET].min()


def test_pruning_is_of_schemes_that_follow_everything() -> None:
    game = compile_game("kuhn_poker")
    with pytest.raises(SpecError, match="which 'prune' needs"):
        MonteCarloCfr(game, SAMPLINGS["os-mccfr"], SamplingOptions(prune=0.5))
    for wrong in ({"prune": 1.0}, {"prune_below": -1.0}, {"prune_after": float("nan")}):
        with pytest.raises(SpecError, match="prune"):
            SamplingOptions(**wrong)


def test_exact_baselines_are_of_histories_whatever_the_key() -> None:
    game = compile_game("kuhn_poker")
    one, other = (
        MonteCarloCfr(game, SAMPLINGS["os-mccfr"], SamplingOptions(baseline="oracle", key=key))
        for key in ("history", "infoset")
    )
    assert one.tables.baselines.shape == other.tables.baselines.shape == (2, len(one.histories.nodes))
    one.run(50), other.run(50)
    assert np.array_equal(one.tables.rows, other.tables.rows)


@pytest.mark.parametrize(("factor", "what"), [(-0.5, "a negative discount"), (1.5, "a discount above 1")])
def test_discounts_that_walks_cannot_catch_up_on_are_refused(factor: float, what: str) -> None:
    variant = Variant("odd", "", "", lambda t, horizon: Weights(positive=factor if t > 2 else 1.0))
    solver = MonteCarloCfr(compile_game("kuhn_poker"), SAMPLINGS["es-mccfr"], SamplingOptions(variant=variant))
    with pytest.raises(AlgorithmError, match=f"odd has {what} at iteration 3, which sampling does not support"):
        solver.run(5)
