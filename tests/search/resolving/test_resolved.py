"""Policies whose subgames were solved again: published and measured figures, and safety on many blueprints."""

from functools import cache

import numpy as np
import pytest

import treeplex as tp
from tests.coin_toss import coin_toss, guessing
from tests.random_games import RandomPublicGame
from treeplex.errors import AlgorithmError, PolicyError
from treeplex.forms.sources.load import public_tree
from treeplex.search import METHODS, ExactLeaf, SubgameSearch
from treeplex.search.resolving.resolved import REACH, RESOLVING, SECOND_ROUND, Trunk, gifts, opponent_values, resolve_subgames
from treeplex.search.subgames.batch import cut_states
from treeplex.search.subgames.gadgets import GADGETS, Gadget, Maxmargin
from treeplex.search.subgames.horizon import Horizon
from treeplex.solvers.rules.variants import VARIANTS
from treeplex.solvers.solver import GameSolver

SAFE = RESOLVING[1:]
LEDUC = {
    10: (0.889, {"none": 0.402, "resolve": 0.688, "maxmargin": 0.640}),
    50: (0.189, {"none": 0.064, "resolve": 0.133, "maxmargin": 0.121}),
    200: (0.0538, {"none": 0.127, "resolve": 0.0437, "maxmargin": 0.0354}),
}
"""Exploitability of CFR's average after so many iterations, and with all second-round subgames solved again."""


@cache
def leduc() -> tp.CompiledGame:
    return tp.compile("leduc_poker")


@cache
def blueprint(iterations: int) -> tp.Policy:
    solver = GameSolver(leduc(), VARIANTS["cfr"])
    solver.run(iterations)
    return solver.average_policy()


def random_policy(game: tp.CompiledGame, seed: int, *, pure: float = 0.0) -> tp.Policy:
    """Any probabilities at every infoset; at some a pure action."""
    generator = np.random.default_rng(seed)
    probabilities = np.ones(int(game.tree.sequence_offsets[-1]))
    for infoset in range(len(game.infostates)):
        sequences = game.sequences_at(infoset)
        drawn = generator.dirichlet(np.ones(len(sequences)))
        probabilities[sequences] = drawn if generator.random() >= pure else np.eye(len(sequences))[drawn.argmax()]
    return tp.Policy(game, probabilities)


def losses(game: tp.CompiledGame, policy: tp.Policy) -> np.ndarray:
    """What the best response to each player gets, float64 [2]."""
    return np.array(tp.judge(game, policy).best_response_values)


@pytest.mark.quick_cases("none-10", "none-50", "none-200", "resolve-10", "resolve-50")
@pytest.mark.parametrize("iterations", LEDUC)
@pytest.mark.parametrize("gadget", ["none", "resolve", "maxmargin"])
def test_leduc(gadget: str, iterations: int) -> None:
    before, after = LEDUC[iterations]
    policy = blueprint(iterations)
    assert tp.exploitability(leduc(), policy) == pytest.approx(before, rel=2e-3)
    assert tp.exploitability(leduc(), resolve_subgames(leduc(), policy, gadget)) == pytest.approx(after[gadget], rel=1e-2)


@pytest.mark.slow_cases("resolve-0.25-0.0")
@pytest.mark.parametrize(("heads", "worth"), [(0.25, 0.0), (0.5, 0.25), (1.0, 0.75)])
@pytest.mark.parametrize("gadget", ["resolve", "maxmargin"])
def test_the_coin_toss_is_worth_what_it_was(gadget: str, heads: float, worth: float) -> None:
    policy = guessing(heads)
    assert losses(coin_toss(), policy)[0] == pytest.approx(worth, abs=1e-12)
    again = resolve_subgames(coin_toss(), policy, gadget, horizon=Horizon(1))
    assert losses(coin_toss(), again)[0] == pytest.approx(worth, abs=1e-3)


def test_gifts_in_the_coin_toss() -> None:
    """Who guesses heads and tails alike makes playing worth 0; heads sells for 0.5, so playing it gives 0.5 away.

    So heads may get 0.5 by playing, and tails 0 as before: the margins are equal, a quarter, where heads is guessed in 3 of 8.
    """
    policy = guessing(0.5)
    trunk = Trunk.of(policy, public_tree(coin_toss().rules), Horizon(1))
    promised = opponent_values(trunk.subgames(trunk.starts), policy, 1)
    assert promised == pytest.approx(np.zeros((1, 2)))
    assert gifts(trunk, promised, 1)[0] == pytest.approx([0.5, 0.0])
    again = resolve_subgames(coin_toss(), policy, "reach-maxmargin", horizon=Horizon(1))
    assert again[1, "guess"][0] == pytest.approx(0.375, abs=2e-3)
    assert losses(coin_toss(), again)[0] == pytest.approx(0.125, abs=2e-3)


def check_safe(game: tp.CompiledGame, policy: tp.Policy, horizon: Horizon, iterations: int, tolerance: float) -> None:
    before = losses(game, policy)
    for gadget in SAFE:
        after = losses(game, resolve_subgames(game, policy, gadget, horizon=horizon, iterations=iterations))
        assert (after <= before + tolerance).all(), gadget


@pytest.mark.quick_cases("3")
@pytest.mark.parametrize("seed", range(5))
def test_leduc_is_safe_from_any_blueprint(seed: int) -> None:
    check_safe(leduc(), random_policy(leduc(), seed, pure=0.2 * (seed % 3)), SECOND_ROUND, 300, 0.01)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200))
def test_leduc_is_safe_from_two_hundred_blueprints(seed: int) -> None:
    check_safe(leduc(), random_policy(leduc(), 1000 + seed, pure=0.2 * (seed % 4)), SECOND_ROUND, 500, 0.01)


@pytest.mark.quick_cases("0")
@pytest.mark.parametrize("seed", range(12))
def test_random_games_are_safe(seed: int) -> None:
    """With chance within the trunk and within subgames, hands that exclude each other, and several actions before."""
    game = tp.compile(RandomPublicGame(seed, (3, 4), depth=5))
    check_safe(game, random_policy(game, seed, pure=0.3), Horizon(1 + seed % 3), 800, 0.01)


@pytest.mark.quick_cases("rps")
@pytest.mark.parametrize(
    ("spec", "horizon"),
    [
        ("kuhn_poker", Horizon(1)),
        ("modified_rps", Horizon(1)),
        ("liars_dice(dice_sides=3)", Horizon(2)),
        ("small_holdem(sizes=[50%;a],stack=8)", SECOND_ROUND),
    ],
    ids=["kuhn", "rps", "dice", "no limit"],
)
def test_other_games_are_safe(spec: str, horizon: Horizon) -> None:
    game = tp.compile(spec)
    check_safe(game, random_policy(game, 0), horizon, 400, 0.01)


def smallest_margins(trunk: Trunk, player: int, promised: np.ndarray, policy: tp.Policy) -> np.ndarray:
    """For each subgame the least that a hand of the other player gets below what it was promised, by its best response."""
    return np.nanmin(promised - opponent_values(trunk.subgames(trunk.starts), policy, player), axis=1)


@pytest.mark.slow
@pytest.mark.parametrize("iterations", [10, 200])
def test_margins(iterations: int) -> None:
    """Maxmargin leaves none below zero and has the largest; with gifts in the promises they are larger still."""
    policy = blueprint(iterations)
    trunk = Trunk.of(policy, public_tree("leduc_poker"), SECOND_ROUND)
    assert len(trunk.starts) == 30
    found = {gadget: resolve_subgames(leduc(), policy, gadget) for gadget in ("none", *SAFE)}
    for player in (0, 1):
        promised = opponent_values(trunk.subgames(trunk.starts), policy, player)
        margins = {gadget: smallest_margins(trunk, player, promised, each) for gadget, each in found.items()}
        assert (margins["maxmargin"] > -0.01).all()
        assert (margins["maxmargin"] > 0.1).any()
        for gadget in ("none", "resolve"):
            assert (margins[gadget] <= margins["maxmargin"] + 0.02).all()
        given = np.stack(gifts(trunk, list(promised), player))
        assert (given > -1e-12).all()
        assert given.max() > 0.05
        reached = smallest_margins(trunk, player, promised + given, found[f"{REACH}maxmargin"])
        assert (reached >= margins["maxmargin"] - 0.02).all()


def test_solving_again_goes_on() -> None:
    """The result is a blueprint: promises may come from the solve before, and subgames begin further down."""
    policy = blueprint(50)
    first = resolve_subgames(leduc(), policy, iterations=500)
    second = resolve_subgames(leduc(), first, horizon=Horizon(4), iterations=500)
    assert (losses(leduc(), second) <= losses(leduc(), first) + 0.005).all()
    assert (losses(leduc(), first) < losses(leduc(), policy) - 0.005).all()


@pytest.mark.slow
@pytest.mark.parametrize("kind", GADGETS.values())
def test_gadgets_before_leaves(kind: type[Gadget]) -> None:
    """Cut off below, promises are kept as leaves value hands."""
    policy, rules = blueprint(50), public_tree("leduc_poker")
    trunk = Trunk.of(policy, rules, SECOND_ROUND)
    piece = [start for start in trunk.starts if start.visited.player == 0][:3]
    for player in (0, 1):
        carried = opponent_values(trunk.subgames(piece), policy, player)
        ranges = trunk.subgames(piece).ranges
        subgames = cut_states(rules, [start.state for start in piece], Horizon(1), ranges, kind(player, carried))
        assert len(subgames.leaves)
        search = SubgameSearch(subgames, METHODS["cfr+"], ExactLeaf(iterations=40))
        search.run(100)
        assert np.nanmin(carried - search.root_values()[1 - player]) > -0.15


def test_a_gadget_of_ones_own_and_batches() -> None:
    policy = blueprint(10)
    whole = resolve_subgames(leduc(), policy, "maxmargin", iterations=50)
    parts = resolve_subgames(leduc(), policy, lambda player, carried: Maxmargin(player, carried), iterations=50, batch=7)
    assert parts.probabilities == pytest.approx(whole.probabilities, abs=1e-9)


def test_what_is_not_reached_stays() -> None:
    """Hands with which the blueprint never comes to a subgame keep its policy there."""
    game = leduc()
    probabilities = tp.Policy.uniform(game).probabilities.copy()
    first = game.lookup[0, next(state for player, state in game.lookup if player == 0)]
    probabilities[game.sequences_at(first)] = np.eye(len(game.sequences_at(first)))[0]
    policy = tp.Policy(game, probabilities)
    again = resolve_subgames(game, policy, "maxmargin", iterations=20)
    changed = again.probabilities != policy.probabilities
    assert 0 < changed.sum() < len(changed)


def test_what_is_refused() -> None:
    policy = blueprint(10)
    with pytest.raises(PolicyError, match="this is a policy for leduc_poker, not for kuhn_poker"):
        resolve_subgames("kuhn_poker", policy)
    with pytest.raises(PolicyError, match="a policy for leduc_poker has no infostate '0' of player 0; give one for this"):
        Trunk.of(policy, public_tree("kuhn_poker"), Horizon(1))
    rules = public_tree("leduc_poker")
    with pytest.raises(AlgorithmError, match="cut them without a horizon"):
        opponent_values(cut_states(rules, [rules.first_state()], SECOND_ROUND), policy, 0)
    with pytest.raises(AlgorithmError, match=f"unknown gadget 'margin'; known: none, {', '.join(GADGETS)}, reach-resolve"):
        resolve_subgames(leduc(), policy, "margin")
    with pytest.raises(AlgorithmError, match="unknown method 'lp'; known: cfr, "):
        resolve_subgames(leduc(), policy, method="lp")
    with pytest.raises(AlgorithmError, match=r"no subgame begins at .*rounds=1"):
        resolve_subgames("kuhn_poker", tp.Policy.uniform(tp.compile("kuhn_poker")))
