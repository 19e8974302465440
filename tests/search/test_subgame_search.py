"""Depth-limited subgames: against the engine on whole games and against each other; see also ``test_theory.py``."""

import numpy as np
import pytest

from treeplex.errors import AlgorithmError, GameError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.sources.load import public_tree
from treeplex.games.public import Decision, PublicState
from treeplex.search import METHODS, Belief, ExactLeaf, NoLeaf, SubgameSearch, ZeroLeaf
from treeplex.search.leaf import LeafValue
from treeplex.search.subgames.batch import cut_states
from treeplex.search.subgames.horizon import Horizon
from treeplex.solvers.rules.variants import VARIANTS
from treeplex.solvers.solver import GameSolver

DICE = "liars_dice(dice_sides=3)"


def whole(spec: str, method: str, leaf: LeafValue | None = None, depth: int | None = None) -> SubgameSearch:
    rules = public_tree(spec)
    root = Belief.root(rules)
    subgames = cut_states(rules, [root.state], Horizon(depth))
    return SubgameSearch(subgames, METHODS[method], leaf or NoLeaf(), (root.ranges[0][None], root.ranges[1][None]))


def value(search: SubgameSearch, belief: Belief) -> tuple[float, float]:
    """Both players' values of a search's only root."""
    first, second = search.root_values()
    return float(belief.beliefs[0] @ first[0]), float(belief.beliefs[1] @ second[0])


@pytest.mark.parametrize("variant", sorted(VARIANTS.keys() & METHODS.keys()))
@pytest.mark.parametrize("spec", [DICE, "kuhn_poker", "leduc_poker"])
def test_an_uncut_subgame_at_the_root_is_the_game(spec: str, variant: str) -> None:
    search = whole(spec, variant)
    game = compile_game(spec)
    solver = GameSolver(game, VARIANTS[variant])
    search.run(20), solver.run(20)
    inner, own = search.subgames.tree.sequence_infoset >= 0, game.tree.sequence_infoset >= 0
    scale = search.ranges[0].shape[1]  # ranges sum to one, where the compiled game's hands all have reach one
    assert np.sort(search.regrets[inner] * scale) == pytest.approx(np.sort(solver.regrets[own]), abs=1e-9)
    assert np.sort(search.average_policy()[inner]) == pytest.approx(np.sort(solver.average_policy().probabilities[own]))


@pytest.mark.slow
@pytest.mark.parametrize("horizon", [Horizon(rounds=True), Horizon(1, endgame=20), Horizon(2, endgame=8)])
def test_exact_leaves_lead_to_the_value_of_the_game_at_any_horizon(horizon: Horizon) -> None:
    rules = public_tree("leduc_poker")
    root = Belief.root(rules)
    subgames = cut_states(rules, [root.state], horizon)
    assert len(subgames.leaves)
    search = SubgameSearch(subgames, METHODS["dcfr"], ExactLeaf(iterations=60), tuple(own[None] for own in root.ranges))
    search.run(150)
    first, second = value(search, root)
    assert (first - second) / 2 == pytest.approx(-0.0856064, abs=0.01)


@pytest.mark.slow
def test_exact_leaves_in_leduc_poker() -> None:
    rules = public_tree("leduc_poker")
    search = whole("leduc_poker", "dcfr", ExactLeaf(iterations=80), 3)
    search.run(100)
    assert value(search, Belief.root(rules))[0] == pytest.approx(-0.0856, abs=0.02)


def test_zero_leaves_ignore_what_follows() -> None:
    search = whole(DICE, "dcfr", ZeroLeaf(), 1)  # a first bid ends nothing
    search.run(30)
    assert value(search, Belief.root(public_tree(DICE))) == (0.0, 0.0)
    assert search.policy == pytest.approx(search.average_policy())


def test_a_batch_is_its_subgames_one_by_one() -> None:
    rules = public_tree(DICE)
    generator = np.random.default_rng(1)
    beliefs = []
    for bid in range(4):
        belief = Belief.root(rules).after(bid, generator.dirichlet(np.ones(6), size=3).T)
        beliefs.append(belief)
    ranges = tuple(np.stack([belief.ranges[player] for belief in beliefs]) for player in (0, 1))
    together = SubgameSearch(cut_states(rules, [b.state for b in beliefs]), METHODS["dcfr"], NoLeaf(), (ranges[0], ranges[1]))
    together.run(50)
    for number, belief in enumerate(beliefs):
        alone = SubgameSearch(
            cut_states(rules, [belief.state]), METHODS["dcfr"], NoLeaf(), (belief.ranges[0][None], belief.ranges[1][None])
        )
        alone.run(50)
        for player in (0, 1):
            assert together.root_values()[player][number] == pytest.approx(alone.root_values()[player][0], abs=1e-12)


def test_unsafe_search_in_the_modified_game_of_rock_paper_scissors() -> None:
    """Section 6: with player 0's equilibrium known, every answer of player 1 has the same value, so one search may find any."""
    rules = public_tree("modified_rps")
    belief = Belief.root(rules).after(0, np.array([[0.4], [0.4], [0.2]]))
    search = SubgameSearch(
        cut_states(rules, [belief.state]), METHODS["dcfr"], NoLeaf(), (belief.ranges[0][None], belief.ranges[1][None])
    )
    search.run(50)
    assert value(search, belief) == pytest.approx((0.0, 0.0), abs=1e-9)
    tilted = Belief.of(rules, belief.state, (np.array([0.41, 0.4, 0.19]), np.ones(1)))
    search = SubgameSearch(
        cut_states(rules, [tilted.state]), METHODS["dcfr"], NoLeaf(), (tilted.ranges[0][None], tilted.ranges[1][None])
    )
    search.run(400)
    policy = search.policy_at(0, search.average_policy())
    assert policy.max() > 0.99  # a pure answer, which loses to its counter: unsafe


def test_perfect_information_is_minimax() -> None:
    rules = public_tree("tic_tac_toe")
    state = rules.root
    for cell in (0, 8, 2):  # crosses threaten the top row
        state = rules.child(state, cell)
    search = SubgameSearch(
        cut_states(rules, [PublicState(state, np.ones((1, 1)))]), METHODS["cfr+"], NoLeaf(), (np.ones((1, 1)),) * 2
    )
    search.run(200)
    assert isinstance(rules.visit(state), Decision)
    assert search.policy_at(0, search.average_policy())[:, 0].argmax() == 0  # cell 1 is the first free one


def test_what_is_refused() -> None:
    rules = public_tree(DICE)
    with pytest.raises(AlgorithmError, match="need values"):
        whole(DICE, "cfr", NoLeaf(), 1).run(1)
    over = Belief.root(rules).state
    for label in (0, 6):
        over = over.successors(rules)[1][-1] if label == 6 else over.successors(rules)[1][0]
    with pytest.raises(GameError, match="the game is over"):
        cut_states(rules, [over])
