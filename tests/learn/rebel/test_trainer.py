"""ReBeL's self-play and training on small games: what rows say, resuming, learning, what goes wrong."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from treeplex.errors import AlgorithmError, FileError, GameError, SpecError  # noqa: E402
from treeplex.evaluate import judge  # noqa: E402
from treeplex.forms.compile.compile_game import compile_game  # noqa: E402
from treeplex.forms.sources.load import public_tree  # noqa: E402
from treeplex.games.base import CHANCE  # noqa: E402
from treeplex.learn.common.encoding import Encoding  # noqa: E402
from treeplex.learn.common.settings import falling_rate  # noqa: E402
from treeplex.learn.common.value_net import value_net  # noqa: E402
from treeplex.learn.rebel.self_play import SelfPlay  # noqa: E402
from treeplex.learn.rebel.settings import PAPER, PAPER_CARDS, RebelSettings, SelfPlaySettings  # noqa: E402
from treeplex.learn.rebel.trainer import RebelTrainer  # noqa: E402
from treeplex.search import Belief, ExactLeaf, ZeroLeaf, cut  # noqa: E402
from treeplex.search.methods import METHODS, average_weights  # noqa: E402
from treeplex.search.play_distribution import PlaythroughPart, drawn_iterations, playthrough_policy  # noqa: E402
from treeplex.search.settings import PlaythroughSettings  # noqa: E402
from treeplex.search.stopping import policies_at, training_iterations  # noqa: E402
from treeplex.search.subgame_search import SubgameSearch  # noqa: E402
from treeplex.search.subgames.horizon import Horizon  # noqa: E402

torch.set_num_threads(1)

DICE = "liars_dice(dice_sides=2)"
TINY = RebelSettings(iterations=8, episodes=16, width=16, solves=640, burn_in=64, batch=32, reuse=8.0, seed=3)


def test_rows_are_beliefs_and_values() -> None:
    rules = public_tree(DICE)
    play = SelfPlay(rules, SelfPlaySettings(iterations=200, episodes=8, depth=9), ZeroLeaf(), np.random.default_rng(0))
    inputs, targets, _, policies = play.advance()  # depth 9 goes to the end: the root's value is the game's
    encoding = play.encoding
    assert policies is None
    assert inputs.shape == (8, encoding.inputs)
    assert inputs[0] == pytest.approx([0, 0, 0, 0, 1, 0.5, 0.5, 0.5, 0.5])
    assert targets.shape == (8, 4)
    value = judge(compile_game(DICE), solved(DICE)).value[0]
    assert targets[:, :2].mean(axis=1) == pytest.approx(np.full(8, value), abs=0.01)
    assert targets[:, 2:].mean(axis=1) == pytest.approx(np.full(8, -value), abs=0.01)
    assert play.beliefs[0].state.node == ()  # the game ended, a new one begins


def solved(spec: str):
    from treeplex.solvers import make_solver

    solver = make_solver(compile_game(spec), "lp")
    solver.run(1)
    return solver.average_policy()


def test_episodes_go_down_the_tree_and_keep_their_beliefs() -> None:
    rules = public_tree("liars_dice(dice_sides=3)")
    play = SelfPlay(rules, SelfPlaySettings(iterations=4, episodes=32, depth=1), ZeroLeaf(), np.random.default_rng(1))
    seen = set()
    for _ in range(12):
        play.advance()
        for belief, path in zip(play.beliefs, play.paths, strict=True):
            seen.add(len(path))
            node = rules.root
            for label in path:
                node = rules.child(node, label)
            assert rules.future(node) == rules.future(belief.state.node)
            assert [own.sum() for own in belief.ranges] == pytest.approx([1, 1])
    assert {0, 1, 2, 3} <= seen


def test_a_training_goes_on_bit_for_bit() -> None:
    rules = public_tree(DICE)
    whole, first, second = (RebelTrainer(rules, TINY) for _ in range(3))
    for _ in range(12):
        expected = whole.round()
    for _ in range(5):
        first.round()
    second.restore(first.state())
    for _ in range(7):
        found = second.round()
    assert replace(found, policy_loss=0.0) == replace(expected, policy_loss=0.0)  # which is no number without such a network
    for name, array in whole.state().items():
        assert np.array_equal(array, second.state()[name]), name


@pytest.mark.slow
def test_search_with_a_trained_network_beats_search_with_a_fresh_one() -> None:
    rules, game = public_tree(DICE), compile_game(DICE)
    trainer = RebelTrainer(rules, TINY)
    settings = PlaythroughSettings(iterations=32, playthroughs=32, depth=1)

    def exploitability() -> float:
        return judge(game, playthrough_policy(game, rules, trainer.leaf, settings, np.random.default_rng(0))).exploitability

    before = exploitability()
    while not trainer.finished:
        last = trainer.round()
    assert last.steps == trainer.steps > 100
    assert exploitability() < 0.5 * before


@pytest.mark.parametrize("method", ["dcfr", "lcfr", "fp", "cfr-avg"])
def test_search_to_the_end_is_nearly_an_equilibrium(method: str) -> None:
    rules, game = public_tree(DICE), compile_game(DICE)
    settings = PlaythroughSettings(method=method, iterations=200, playthroughs=64, depth=99, batch=16)
    seen: list[int] = []
    policy = playthrough_policy(game, rules, ZeroLeaf(), settings, np.random.default_rng(0), watch=seen.append)
    assert judge(game, policy).exploitability < 0.03
    assert seen == [16, 32, 48, 64]


@pytest.mark.slow
def test_search_with_exact_leaves_is_safe_on_average() -> None:
    spec = "liars_dice(dice_sides=3)"
    rules, game = public_tree(spec), compile_game(spec)
    settings = PlaythroughSettings(iterations=48, playthroughs=4, depth=2)
    leaf = ExactLeaf(iterations=48)
    policy = playthrough_policy(game, rules, leaf, settings, np.random.default_rng(2))
    assert judge(game, policy).exploitability < 0.02


@pytest.mark.parametrize("spec", [DICE, "leduc_poker"])
@pytest.mark.parametrize("method", ["dcfr", "fp", "dcfr-avg"])
def test_sharing_searches_changes_no_number(spec: str, method: str) -> None:
    rules, settings = public_tree(spec), SelfPlaySettings(method=method, iterations=6, episodes=24)
    leaf = RebelTrainer(rules, replace(TINY, method=method)).leaf
    shared, alone = (SelfPlay(rules, settings, leaf, np.random.default_rng(4)) for _ in range(2))
    alone.sharing = False
    for _ in range(4):
        rows, others = shared.advance(), alone.advance()
        assert np.array_equal(rows.inputs, others.inputs)
        assert np.array_equal(rows.targets, others.targets)
        assert shared.paths == alone.paths
    assert len(set(map(id, shared.beliefs))) < len(shared.beliefs)


def test_iterations_are_drawn_as_in_algorithm_2() -> None:
    """``unif{1, T}`` or ``linear{1, T}``, with the policy before that iteration; after a warm start later ones."""
    generator = np.random.default_rng(0)
    counts = np.bincount(training_iterations("average", "lcfr", 4, 40_000, generator)) / 40_000
    assert counts == pytest.approx([0.1, 0.2, 0.3, 0.4], abs=0.01)
    counts = np.bincount(training_iterations("average", "lcfr", 4, 40_000, generator, first=2)) / 40_000
    assert counts == pytest.approx([0.0, 0.0, 3 / 7, 4 / 7], abs=0.01)
    counts = np.bincount(training_iterations("uniform", "lcfr", 4, 40_000, generator)) / 40_000
    assert counts == pytest.approx([0.2] * 5, abs=0.01)  # as the released code
    with pytest.raises(SpecError, match="draw must be one of uniform, average, not 'linear'"):
        RebelSettings(draw="linear")


def test_self_play_draws_as_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, list[int]] = {}
    for draw in ("uniform", "average"):
        rules, settings = public_tree(DICE), SelfPlaySettings(method="lcfr", iterations=8, episodes=200, draw=draw)
        play = SelfPlay(rules, settings, ZeroLeaf(), np.random.default_rng(4))

        def watched(search: Any, iterations: int, stops: Any, draw: str = draw, **options: Any) -> Any:
            seen.setdefault(draw, []).extend(stops.tolist())
            return policies_at(search, iterations, stops, **options)

        monkeypatch.setattr("treeplex.learn.rebel.self_play.policies_at", watched)
        play.advance()
    assert np.mean(seen["uniform"]) == pytest.approx(4.0, abs=0.6)
    assert np.mean(seen["average"]) == pytest.approx(14 / 3, abs=0.4)
    assert max(seen["average"]) == 7


def test_the_papers_settings_for_cards_end_subgames_with_betting_rounds() -> None:
    """And draw iterations linearly; ``docs/notebook/rebel.md`` lists the settings of the paper."""
    rules = public_tree("turn_holdem(ranks=5,stack=4,bets=[50%;a],raises=[])")
    root = Belief.root(rules)
    leaves = cut(rules, [root], PAPER_CARDS.horizon).leaves.states
    assert len(leaves) == 5
    assert all(rules.options(state).player == CHANCE for state in leaves)
    assert PAPER_CARDS.draw == "average"
    small = replace(PAPER_CARDS, iterations=4, warm=1, solves=32, width=8, layers=1, burn_in=8, batch=8, episodes=8)
    trainer = RebelTrainer(rules, small)
    while not trainer.finished:
        found = trainer.round()
    assert found.steps > 0
    assert np.isfinite(found.loss)


def test_ranges_that_exclude_each_other_end_an_episode() -> None:
    rules = public_tree("kuhn_poker")
    play = SelfPlay(rules, SelfPlaySettings(), ZeroLeaf(), np.random.default_rng(0))
    state = play.beliefs[0].state
    both_kings = [np.array([0.0, 0.0, 1.0])] * 2
    assert play._belief_at(state, both_kings) is None
    assert play._belief_at(state, [both_kings[0], np.array([0.5, 0.0, 0.5])]) is not None


@pytest.mark.parametrize("parts", [1, 2, 8])
def test_draws_are_stratified_over_all_parts(parts: int) -> None:
    """With equal weights and as many iterations as playthroughs, each iteration is drawn once."""
    settings = PlaythroughSettings(method="cfr", iterations=16 * parts)
    drawn = np.concatenate(
        [
            drawn_iterations(settings, 16, np.random.default_rng([1, k]), PlaythroughPart(k, np.random.default_rng(2)))
            for k in range(parts)
        ]
    )
    assert len(np.unique(drawn)) == 16 * parts
    orders = drawn.reshape(parts, 16).argsort(axis=1)
    assert len(np.unique(orders, axis=0)) == parts


def test_draws_of_every_part_have_the_weights_of_the_average() -> None:
    settings = PlaythroughSettings(method="lcfr", iterations=5)
    counts = np.zeros(5)
    for seed in range(400):
        part = PlaythroughPart(3, np.random.default_rng(seed))
        counts += np.bincount(drawn_iterations(settings, 2, np.random.default_rng([seed, 3]), part) - 1, minlength=5)
    assert counts / counts.sum() == pytest.approx(np.arange(1, 6) / 15, abs=0.05)


@pytest.mark.parametrize("method", ["dcfr", "lcfr", "cfr", "fp", "linear-fp"])
def test_iterations_are_drawn_with_the_weights_of_the_average(method: str) -> None:
    weights = average_weights(method, 50)
    expected = {"dcfr": np.arange(1, 51) ** 2.0, "lcfr": np.arange(1, 51.0), "cfr": np.ones(50), "fp": np.ones(50)}
    wanted = expected.get(method, np.arange(2, 52.0))
    assert weights / weights.sum() == pytest.approx(wanted / wanted.sum())


def test_a_network_has_its_seed_and_a_small_output() -> None:
    one, again, other = (value_net(5, 4, width=8, layers=2, seed=seed) for seed in (1, 1, 2))
    rows = torch.ones(3, 5)
    assert torch.equal(one(rows), again(rows))
    assert not torch.equal(one(rows), other(rows))
    assert float(one(rows).detach().abs().max()) < 0.05


def test_a_loss_that_is_no_number_stops_with_a_message() -> None:
    trainer = RebelTrainer(public_tree(DICE), TINY)
    for _ in range(5):
        trainer.round()
    trainer.values.rows.arrays[1][:] = np.nan
    trainer.due.owe(trainer.settings.batch)
    kept = [parameter.detach().clone() for parameter in trainer.net.parameters()]
    with pytest.raises(AlgorithmError, match="the loss is nan"):
        trainer.take_due()
    assert all(torch.equal(a, b) for a, b in zip(kept, trainer.net.parameters(), strict=True))


def test_what_is_refused() -> None:
    with pytest.raises(SpecError, match="method must be one of"):
        RebelSettings(method="dcfrr")
    with pytest.raises(SpecError, match="solves must be"):
        RebelSettings(solves=0)
    assert RebelSettings(rows=1000).burn_in > 1000  # it counts subgames
    with pytest.raises(SpecError, match="fresh must be"):
        RebelSettings(fresh=1.5)
    with pytest.raises(GameError, match="no features"):
        RebelTrainer(public_tree("modified_rps"))
    state = RebelTrainer(public_tree(DICE), TINY).state()
    with pytest.raises(FileError, match="does not fit this training run"):
        RebelTrainer(public_tree("liars_dice(dice_sides=3)"), TINY).restore(state)
    assert PAPER.iterations == 512  # 1,024 updates of one player


def test_step_sizes_are_halved_or_fall_along_half_a_cosine() -> None:
    """Appendix E: every 400 of 1,000 epochs, or every 100 of 300; the released code has 1,020 and halves at 399 and 799."""
    dice = [falling_rate(PAPER, epoch / 1020) for epoch in (0, 398, 401, 798, 801, 1020)]
    assert dice == [3e-4, 3e-4, 1.5e-4, 1.5e-4, 7.5e-5, 7.5e-5]
    cards = [falling_rate(PAPER_CARDS, epoch / 300) for epoch in (0, 99, 101, 199, 201, 300)]
    assert cards == [4e-4, 4e-4, 2e-4, 2e-4, 1e-4, 1e-4]
    smooth = RebelSettings(rate=1e-3, last_rate=1e-5)
    assert [falling_rate(smooth, done) for done in (0.0, 0.5, 1.0, 1.1)] == pytest.approx([1e-3, 5.05e-4, 1e-5, 1e-5])
    for wrong in (-0.1, 1.1, float("nan")):
        with pytest.raises(SpecError, match="halve must be a number from 0 to 1"):
            RebelSettings(halve=wrong)


def test_a_training_takes_the_step_size_that_is_due(monkeypatch: pytest.MonkeyPatch) -> None:
    trainer, seen = RebelTrainer(public_tree(DICE), replace(TINY, halve=0.25)), []
    step = trainer.values.step

    def watched(*arguments: Any, **options: Any) -> float:
        seen.append((options["rate"], trainer.play.solved))
        return step(*arguments, **options)

    monkeypatch.setattr(trainer.values, "step", watched)
    while not trainer.finished:
        trainer.round()
    assert len({rate for rate, _ in seen}) >= 3
    assert all(rate == TINY.rate * 0.5 ** sum(solved > part * TINY.solves / 4 for part in (1, 2, 3)) for rate, solved in seen)


def test_encodings_put_the_player_to_act_first() -> None:
    rules = public_tree("liars_dice(dice_sides=3)")
    from treeplex.search.subgames.batch import cut_states
    from treeplex.search.subgames.horizon import Horizon

    belief = Belief.root(rules).after(2, np.tile([[0.1], [0.1], [0.1], [0.1], [0.2], [0.4]], (1, 3)))
    subgames = cut_states(rules, [belief.state], Horizon(1))
    prepared = Encoding(rules).prepared(subgames.roots)
    own, other = np.array([[0.2, 0.3, 0.5]]), np.array([[1.0, 0.0, 0.0]])
    row = prepared.write((own, other))[0]  # player 1 acts
    assert row[-6:] == pytest.approx([1, 0, 0, 0.2, 0.3, 0.5])
    values = prepared.read(np.arange(6, dtype=np.float32)[None], (3, 3))
    assert values[1][0].tolist() == [0, 1, 2]
    assert values[0][0].tolist() == [3, 4, 5]
    assert prepared.targets(values).tolist() == [[0, 1, 2, 3, 4, 5]]


@pytest.mark.parametrize("method", ["lcfr-avg", "lcfr-avg-modified"])
def test_beliefs_go_on_with_the_average_in_cfr_avg(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Section 5.2: the average up to the iteration that is played, its policy taken in."""
    rules, leaf = public_tree(DICE), RebelTrainer(public_tree(DICE), replace(TINY, method=method)).leaf
    monkeypatch.setattr("treeplex.learn.rebel.self_play.training_iterations", lambda *_, **__: np.full(16, 3))
    root = Belief.root(rules)
    ahead = SubgameSearch(cut(rules, [root], Horizon(2)), METHODS[method], leaf, horizon=6)
    ahead.run(3)
    iterate = ahead.strategy.copy()
    ahead.run(1)
    for passed_on, strategy in (("average", ahead.average), ("iteration", iterate)):
        settings = SelfPlaySettings(method=method, iterations=6, episodes=16, passed_on=passed_on)
        play = SelfPlay(rules, settings, leaf, np.random.default_rng(1))
        play.advance()
        arrived = ahead.subgames.leaves.reach_at(strategy)
        went_on = [(path, belief) for path, belief in zip(play.paths, play.beliefs, strict=True) if path]
        assert went_on
        for path, belief in went_on:
            leaf_number = ahead.subgames.find(0, path)[1]
            for own, reach in zip(belief.ranges, arrived, strict=True):
                assert own / own.sum() == pytest.approx(reach[leaf_number] / reach[leaf_number].sum(), abs=1e-6)


def test_beliefs_of_cfr_d_are_the_iterations() -> None:
    """Whatever is said of CFR-AVG."""
    plays = [
        SelfPlay(public_tree(DICE), SelfPlaySettings(iterations=6, passed_on=each), ZeroLeaf(), np.random.default_rng(1))
        for each in ("iteration", "average")
    ]
    rows = [[play.advance().inputs for _ in range(2)] for play in plays]
    assert np.array_equal(rows[0], rows[1])
