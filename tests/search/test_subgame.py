"""Depth-limited subgames: against the engine on whole games, against each other, and the theory of leaf values."""

import numpy as np
import pytest

from treeplex.errors import AlgorithmError, GameError
from treeplex.forms.compile import compile_game
from treeplex.forms.horizon import Horizon
from treeplex.forms.public_rules import public_rules
from treeplex.forms.public_states import PublicState
from treeplex.forms.subgames import Places, cut
from treeplex.games.public import Decision, PublicTree
from treeplex.search import METHODS, ExactLeaf, NoLeaf, PublicBelief, SubgameSearch, ZeroLeaf
from treeplex.search.leaf import LeafValue, Ranges
from treeplex.solvers.cfr import CfrSolver
from treeplex.solvers.variant import VARIANTS

DICE = "liars_dice(dice_sides=3)"


def whole(spec: str, method: str, leaf: LeafValue | None = None, depth: int | None = None) -> SubgameSearch:
    rules = public_rules(spec)
    root = PublicBelief.root(rules)
    subgames = cut(rules, [root.state], Horizon(depth))
    return SubgameSearch(subgames, METHODS[method], leaf or NoLeaf(), (root.ranges[0][None], root.ranges[1][None]))


def value(search: SubgameSearch, belief: PublicBelief) -> tuple[float, float]:
    """Both players' values of a search's only root."""
    first, second = search.root_values()
    return float(belief.beliefs[0] @ first[0]), float(belief.beliefs[1] @ second[0])


@pytest.mark.parametrize("variant", sorted(name for name, variant in VARIANTS.items() if not variant.adaptive))
@pytest.mark.parametrize("spec", [DICE, "kuhn_poker", "leduc_poker"])
def test_an_uncut_subgame_at_the_root_is_the_game(spec: str, variant: str) -> None:
    search = whole(spec, variant)
    game = compile_game(spec)
    solver = CfrSolver(game, VARIANTS[variant])
    search.run(20), solver.run(20)
    inner, own = search.subgames.tree.sequence_infoset >= 0, game.tree.sequence_infoset >= 0
    scale = search.ranges[0].shape[1]  # ranges sum to one, where the compiled game's hands all have reach one
    assert np.sort(search.regrets[inner] * scale) == pytest.approx(np.sort(solver.regrets[own]), abs=1e-9)
    assert np.sort(search.average_policy()[inner]) == pytest.approx(np.sort(solver.average_policy().probabilities[own]))


@pytest.mark.parametrize("method", ["cfr", "dcfr", "lcfr", "cfr-avg", "fp", "linear-fp", "flop"])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_exact_leaves_lead_to_the_value_of_the_game(method: str, depth: int) -> None:
    """Means of best responses' values, which fictitious play has, come closer much more slowly (0.084 to 0.097 after 1050).

    DCFR at depth 1, where only player 0 acts and only leaves tell its bids apart, is off by 0.034 after 150 iterations, 0.004
    after 1200.
    """
    rules = public_rules(DICE)
    root = PublicBelief.root(rules)
    search = whole(DICE, method, ExactLeaf(rules, iterations=60), depth)
    search.run(150)
    first, second = value(search, root)
    slow = "cfr" not in method or (method, depth) == ("dcfr", 1)
    assert (first - second) / 2 == pytest.approx(1 / 9, abs=0.05 if slow else 0.02)


@pytest.mark.parametrize("horizon", [Horizon(rounds=True), Horizon(1, endgame=20), Horizon(2, endgame=8)])
def test_exact_leaves_lead_to_the_value_of_the_game_at_any_horizon(horizon: Horizon) -> None:
    rules = public_rules("leduc_poker")
    root = PublicBelief.root(rules)
    subgames = cut(rules, [root.state], horizon)
    assert len(subgames.leaves)
    search = SubgameSearch(subgames, METHODS["dcfr"], ExactLeaf(rules, iterations=60), tuple(own[None] for own in root.ranges))
    search.run(150)
    first, second = value(search, root)
    assert (first - second) / 2 == pytest.approx(-0.0856064, abs=0.01)


def test_exact_leaves_in_leduc_poker() -> None:
    rules = public_rules("leduc_poker")
    search = whole("leduc_poker", "dcfr", ExactLeaf(rules, iterations=80), 3)
    search.run(100)
    assert value(search, PublicBelief.root(rules))[0] == pytest.approx(-0.0856, abs=0.02)


def test_zero_leaves_ignore_what_follows() -> None:
    search = whole(DICE, "dcfr", ZeroLeaf(), 1)  # a first bid ends nothing
    search.run(30)
    assert value(search, PublicBelief.root(public_rules(DICE))) == (0.0, 0.0)
    assert search.policy == pytest.approx(search.average_policy())


def test_a_batch_is_its_subgames_one_by_one() -> None:
    rules = public_rules(DICE)
    generator = np.random.default_rng(1)
    beliefs = []
    for bid in range(4):
        belief = PublicBelief.root(rules).after(rules, bid, generator.dirichlet(np.ones(6), size=3).T)
        beliefs.append(belief)
    ranges = tuple(np.stack([belief.ranges[player] for belief in beliefs]) for player in (0, 1))
    together = SubgameSearch(cut(rules, [b.state for b in beliefs]), METHODS["dcfr"], NoLeaf(), (ranges[0], ranges[1]))
    together.run(50)
    for number, belief in enumerate(beliefs):
        alone = SubgameSearch(
            cut(rules, [belief.state]), METHODS["dcfr"], NoLeaf(), (belief.ranges[0][None], belief.ranges[1][None])
        )
        alone.run(50)
        for player in (0, 1):
            assert together.root_values()[player][number] == pytest.approx(alone.root_values()[player][0], abs=1e-12)


class Fixed:
    """Leaves valued by a linear function of the other's reach, as if a fixed policy followed."""

    def __init__(self, rules: PublicTree) -> None:
        generator = np.random.default_rng(0)
        hands = rules.prior.shape
        self.payoff = {bid: generator.normal(size=hands) for bid in range(-1, 8)}

    def __call__(self, places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        found = np.zeros_like(reached[0]), np.zeros_like(reached[1])
        for k, state in enumerate(places.states):
            assert isinstance(state.node, tuple)
            payoff = self.payoff[state.node[-1]]
            for player, (matrix, weight) in enumerate([(payoff, state.weight), (-payoff.T, state.weight.T)]):
                mass = weight @ reached[1 - player][k]
                total = (weight * matrix) @ reached[1 - player][k]
                found[player][k] = np.divide(total, mass, out=np.zeros_like(mass), where=mass > 0)
        return found


def test_modified_cfr_avg_is_cfr_where_what_follows_is_fixed() -> None:
    """Appendix I: if every history of a leaf keeps its value, the differences of sums are what CFR would have used."""
    rules = public_rules(DICE)
    sound, modified = (whole(DICE, method, Fixed(rules), 2) for method in ("lcfr-avg", "lcfr-avg-modified"))
    sound.run(60), modified.run(60)
    assert modified.regrets == pytest.approx(sound.regrets, abs=1e-8)
    assert modified.average_policy() == pytest.approx(sound.average_policy(), abs=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_infostate_values_are_supergradients(seed: int) -> None:
    """Theorem 1: V(b', other) <= b' . v for every belief b' of a player, with equality at the belief that was solved."""
    rules = public_rules(DICE)
    generator = np.random.default_rng(seed)
    state = PublicBelief.root(rules).after(rules, 1, np.full((6, 3), 1 / 6)).state

    def solved(ranges: tuple[np.ndarray, np.ndarray]) -> tuple[PublicBelief, SubgameSearch]:
        belief = PublicBelief.of(state, ranges)
        search = SubgameSearch(cut(rules, [state]), METHODS["dcfr"], NoLeaf(), (belief.ranges[0][None], belief.ranges[1][None]))
        search.run(1500)
        return belief, search

    ranges = generator.dirichlet(np.ones(3)), generator.dirichlet(np.ones(3))
    belief, search = solved(ranges)
    for player in (0, 1):
        values = search.root_values()[player][0]
        assert value(search, belief)[player] == pytest.approx(belief.beliefs[player] @ values, abs=1e-9)
        for _ in range(5):
            moved = list(ranges)
            moved[player] = generator.dirichlet(np.ones(3))
            other, elsewhere = solved((moved[0], moved[1]))
            assert value(elsewhere, other)[player] <= other.beliefs[player] @ values + 2e-3


def test_unsafe_search_in_the_modified_game_of_rock_paper_scissors() -> None:
    """Section 6: with player 0's equilibrium known, every answer of player 1 has the same value, so one search may find any."""
    rules = public_rules("modified_rps")
    belief = PublicBelief.root(rules).after(rules, 0, np.array([[0.4], [0.4], [0.2]]))
    search = SubgameSearch(
        cut(rules, [belief.state]), METHODS["dcfr"], NoLeaf(), (belief.ranges[0][None], belief.ranges[1][None])
    )
    search.run(50)
    assert value(search, belief) == pytest.approx((0.0, 0.0), abs=1e-9)
    tilted = PublicBelief.of(belief.state, (np.array([0.41, 0.4, 0.19]), np.ones(1)))
    search = SubgameSearch(
        cut(rules, [tilted.state]), METHODS["dcfr"], NoLeaf(), (tilted.ranges[0][None], tilted.ranges[1][None])
    )
    search.run(400)
    policy = search.policy_at(0, search.average_policy())
    assert policy.max() > 0.99  # a pure answer, which loses to its counter: unsafe


def test_perfect_information_is_minimax() -> None:
    rules = public_rules("tic_tac_toe")
    state = rules.root
    for cell in (0, 8, 2):  # crosses threaten the top row
        state = rules.child(state, cell)
    search = SubgameSearch(cut(rules, [PublicState(state, np.ones((1, 1)))]), METHODS["cfr+"], NoLeaf(), (np.ones((1, 1)),) * 2)
    search.run(200)
    assert isinstance(rules.visit(state), Decision)
    assert search.policy_at(0, search.average_policy())[:, 0].argmax() == 0  # cell 1 is the first free one


def test_what_is_refused() -> None:
    rules = public_rules(DICE)
    with pytest.raises(AlgorithmError, match="need values"):
        whole(DICE, "cfr", NoLeaf(), 1).run(1)
    over = PublicBelief.root(rules).state
    for label in (0, 6):
        over = over.successors(rules)[1][-1] if label == 6 else over.successors(rules)[1][0]
    with pytest.raises(GameError, match="the game is over"):
        cut(rules, [over])
