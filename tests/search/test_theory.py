"""What Brown et al. 2020 prove of search, numerically.

Exact leaves lead to the whole game's values (appendix G, theorem 5), the modified form of CFR-AVG is CFR where nothing is cut
(appendix I), infostate values are supergradients (theorem 1).
"""

from functools import cache

import numpy as np
import pytest

from tests.search.exact_values import PublicProgram
from treeplex.base.arrays import Ints
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.sources.load import public_tree
from treeplex.games.public import Decision, PublicState, PublicTree
from treeplex.search import METHODS, Belief, ExactLeaf, LeafValue, NoLeaf, SubgameSearch, ZeroLeaf
from treeplex.search.subgames.batch import PairPlaces, cut_states
from treeplex.search.subgames.horizon import TO_THE_END, Horizon
from treeplex.search.subgames.subgame import Ranges
from treeplex.solvers.rules.fictitious import FictitiousRule
from treeplex.solvers.rules.variants import Variant
from treeplex.solvers.solver import GameSolver

DICE = "liars_dice(dice_sides=3)"
MODIFIED = [name for name, method in METHODS.items() if method.leaves == "modified"]
SIMULTANEOUS = [name for name, method in METHODS.items() if method.updates == "simultaneous"]
REPLYING = [name for name, method in METHODS.items() if isinstance(method.scheme, FictitiousRule)]
ITERATIONS, REST = 150, 25
"""Of a search, and of solving what follows its leaves."""

RANGE = {"kuhn_poker": 4.0, DICE: 2.0}
ACTIONS = {"kuhn_poker": 2, DICE: 6}


def tolerance(spec: str, method: str = "") -> float:
    """A fifteenth of ``D sqrt(A / T)``, regret matching's bound for A actions and payoffs that differ by at most D.

    The rate is proven of CFR-D and of sound CFR-AVG (theorem 5). Of fictitious play it is Karlin's conjecture, for games that
    are not cut; of the modified form nothing is proven. The average of HS-DCFR is little more than its last iterations, which
    circle if updates are simultaneous: a fifth there.
    """
    share = 5 if method == "hs-dcfr-simultaneous" else 15
    return RANGE[spec] * float(np.sqrt(ACTIONS[spec] / ITERATIONS)) / share


@cache
def program(spec: str) -> PublicProgram:
    """The whole game as a linear program."""
    rules = public_tree(spec)
    return PublicProgram(rules, Belief.root(rules).state)


def searched(spec: str, method: str, leaf: LeafValue, horizon: Horizon, iterations: int) -> SubgameSearch:
    """A search of a game from its beginning."""
    rules = public_tree(spec)
    root = Belief.root(rules)
    ranges = root.ranges[0][None], root.ranges[1][None]
    search = SubgameSearch(cut_states(rules, [root.state], horizon), METHODS[method], leaf, ranges, horizon=iterations)
    search.run(iterations)
    return search


def shortfalls(spec: str, search: SubgameSearch) -> list[float]:
    """For each player, by how much its average policy, exact play after it, makes sure of less than the game's value."""
    rules, whole = public_tree(spec), program(spec)
    ranges, average = Belief.root(rules).ranges, search.average_policy()
    fixed = {path: search.policy_at(k, average) for k, path in enumerate(search.subgames.decisions.paths)}
    return [whole.value(ranges, player) - whole.value(ranges, player, fixed) for player in (0, 1)]


def excesses(spec: str, search: SubgameSearch) -> list[float]:
    """For each player, its root value less the game's."""
    belief = Belief.root(public_tree(spec))
    found = [float(own @ values[0]) for own, values in zip(belief.beliefs, search.root_values(), strict=True)]
    return [value - program(spec).value(belief.ranges, player) for player, value in enumerate(found)]


def misses(spec: str, method: str, search: SubgameSearch) -> list[float]:
    """How far a search is from the value of the game; of each method what its theory says goes to zero.

    What counts for all is what the average policies make sure of. Root values, means over iterations, have the same limit if an
    iteration's leaf values are those of the policies played in it, which is so of CFR-D and sound CFR-AVG. Fictitious play and
    the modified form ask for values at the average's beliefs, and these jump where the other has several best answers, which
    is where averages go. A best response to them gains more than the game's value again and again, so to root values of
    fictitious play it is a lower bound only; those of the modified form are means of differences with such jumps, and need
    have no limit. :mod:`tests.search.test_jumping_values` has games on which even policies go wrong.
    """
    found = shortfalls(spec, search)
    if isinstance(METHODS[method].scheme, FictitiousRule):
        found += [-excess for excess in excesses(spec, search)]
    elif method not in MODIFIED:
        found += [abs(excess) for excess in excesses(spec, search)]
    return found


QUICK = ("cfr", "dcfr", "cfr-avg", "fp")
"""Methods that the default tests try on dice; the others take part in the slow ones."""


def is_quick(spec: str, depth: int, method: str) -> bool:
    """Whether the default tests try this."""
    return method in QUICK or (spec == "kuhn_poker" and (method not in SIMULTANEOUS or depth == 2))


CASES = [
    pytest.param(spec, depth, method, marks=() if is_quick(spec, depth, method) else pytest.mark.slow)
    for spec, depth in (("kuhn_poker", 1), ("kuhn_poker", 2), (DICE, 2))
    for method in METHODS
    if spec == "kuhn_poker" or method not in MODIFIED
]


@pytest.mark.quick_cases(
    "kuhn_poker-2-pdcfr-simultaneous",
    "kuhn_poker-2-hs-dcfr-simultaneous",
    "kuhn_poker-2-lcfr-avg-modified-simultaneous",
    "kuhn_poker-2-dcfr-avg-modified-simultaneous",
)
@pytest.mark.parametrize(("spec", "depth", "method"), CASES)
def test_theorem_5_exact_leaves_lead_to_the_value_of_the_game(spec: str, depth: int, method: str) -> None:
    """All methods on Kuhn poker, and on dice all but those of the next test."""
    leaf = ExactLeaf(iterations=REST)
    exact = searched(spec, method, leaf, Horizon(depth), ITERATIONS)
    assert len(exact.subgames.leaves)
    assert max(misses(spec, method, exact)) < tolerance(spec, method)
    assert min(shortfalls(spec, exact)) > -1e-6  # the value is exact, and so the most that can be
    zero = searched(spec, method, ZeroLeaf(), Horizon(depth), ITERATIONS)
    assert max(misses(spec, method, zero)) > tolerance(spec, method)


@pytest.mark.quick_cases("lcfr-avg-modified-simultaneous")
@pytest.mark.parametrize("method", MODIFIED)
def test_modified_cfr_avg_need_not_converge_where_values_jump(method: str) -> None:
    """Appendix I leaves open whether it does in depth-limited subgames; in Kuhn poker it does, on dice it does not.

    An iteration's values are ``t v(average t) - (t-1) v(average t-1)``. If v were continuous these would be bounded, and regret
    matching would do its work. But where player 1 has two best answers to the average bid, v jumps, and the difference is of
    the order of t.
    """
    leaf = ExactLeaf(iterations=REST)
    assert shortfalls(DICE, searched(DICE, method, leaf, Horizon(1), ITERATIONS))[0] > 2 * tolerance(DICE)
    sound = method.replace("-modified", "")
    assert max(misses(DICE, sound, searched(DICE, sound, leaf, Horizon(1), ITERATIONS))) < tolerance(DICE)


@pytest.mark.slow
@pytest.mark.parametrize("modified", [False, True])
def test_a_plain_loop_with_leaf_values_of_linear_programs_does_the_same(modified: bool) -> None:
    """CFR-D and modified CFR-AVG of the first bid, written out: only the former gets to the value of the game."""
    rules, whole = public_tree(DICE), program(DICE)
    root = Belief.root(rules).state
    visited = rules.visit(root.node)
    assert isinstance(visited, Decision)
    rests = [PublicProgram(rules, rules.after(root, bid)) for bid in visited.actions]
    policy = np.full((len(rests), len(root.weight)), 1 / len(rests))
    regrets, total, last = np.zeros((3, *policy.shape))
    for t in range(1, 51):
        total += policy
        believed = np.maximum(total / t if modified else policy, 1e-6)
        found = np.array([-rest.against((own, np.ones(3)), 1) for rest, own in zip(rests, believed, strict=True)])
        values, last = (t * found - last, t * found) if modified else (found, last)
        regrets += values - (policy * values).sum(axis=0)
        kept = np.maximum(regrets, 0)
        policy = np.where(kept.sum(axis=0) > 0, kept / np.maximum(kept.sum(axis=0), 1e-300), 1 / len(rests))
    ones = np.ones(3), np.ones(3)
    shortfall = whole.value(ones) - whole.value(ones, 0, {(): total / t})
    assert (shortfall > 0.1) == modified
    assert modified or shortfall < 0.05


@pytest.mark.quick_cases("kuhn_poker-lcfr-avg-modified", "kuhn_poker-dcfr-avg-modified")
@pytest.mark.parametrize("method", MODIFIED)
@pytest.mark.parametrize("spec", ["kuhn_poker", "leduc_poker", DICE])
def test_modified_cfr_avg_is_tabular_cfr_where_nothing_is_cut(spec: str, method: str) -> None:
    """Iteration by iteration, infoset by infoset, against CFR on the compiled game in the same order; appendix I."""
    game, scheme = compile_game(spec), METHODS[method].scheme
    assert isinstance(scheme, Variant)
    search = searched(spec, method, NoLeaf(), TO_THE_END, 0)
    solver = GameSolver(game, scheme, updates=METHODS[method].updates)
    here, there = same_sequences(search, game, public_tree(spec))
    scale = search.ranges[0].shape[1]  # ranges sum to one, where the compiled game's hands all have reach one
    for _ in range(25):
        search.run(1), solver.run(1)
        assert search.regrets[here] * scale == pytest.approx(solver.regrets[there], rel=1e-9, abs=1e-9)
        assert search.policy[here] == pytest.approx(solver.policy[there], abs=1e-7)
        assert search.average_policy()[here] == pytest.approx(solver.average_policy().probabilities[there], abs=1e-9)


@pytest.mark.parametrize("method", [name for name in SIMULTANEOUS if not name.startswith("hs-") and name not in REPLYING])
@pytest.mark.parametrize("spec", ["kuhn_poker", pytest.param(DICE, marks=pytest.mark.slow)])
def test_simultaneous_updates_are_those_of_the_whole_game_where_nothing_is_cut(spec: str, method: str) -> None:
    """The average is that of the compiled game's solver, and not that of alternating updates."""
    game, search = compile_game(spec), searched(spec, method, NoLeaf(), TO_THE_END, 0)
    solvers = [GameSolver(game, METHODS[method].scheme, updates=updates) for updates in ("simultaneous", "alternating")]
    here, there = same_sequences(search, game, public_tree(spec))
    for _ in range(10):
        search.run(1), *(solver.run(1) for solver in solvers)
        together, in_turn = (solver.average_policy().probabilities[there] for solver in solvers)
        assert search.average_policy()[here] == pytest.approx(together, abs=1e-7)
    assert np.abs(together - in_turn).max() > 1e-3


def same_sequences(search: SubgameSearch, game: CompiledGame, rules: PublicTree) -> tuple[Ints, Ints]:
    """The sequences of a search of a whole game, and which ones they are of the compiled game."""
    inner, outer = [], []
    for table, path in zip(search.subgames.infosets, search.subgames.decisions.paths, strict=True):
        node = rules.root
        for label in path:
            node = rules.child(node, label)
        visited = rules.visit(node)
        assert isinstance(visited, Decision)
        for hand in np.flatnonzero(table >= 0):
            first, stride, count = search.subgames.tree.infoset_layout[table[hand]]
            inner.append(first + stride * np.arange(count))
            outer.append(game.sequences_at(game.lookup[visited.player, rules.infostate(node, visited.player, int(hand))]))
    here, there = np.concatenate(inner), np.concatenate(outer)
    assert len(np.unique(there)) == len(there) == sum(game.sequences) - 2
    return here, there


class LinearLeaf:
    """Leaves valued by a linear function of the other's reach, as if a fixed policy followed."""

    def __init__(self, rules: PublicTree) -> None:
        generator = np.random.default_rng(0)
        hands = rules.prior.shape
        self.payoff = {bid: generator.normal(size=hands) for bid in range(-1, 8)}

    def __call__(self, places: PairPlaces, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        found = np.zeros_like(reached[0]), np.zeros_like(reached[1])
        for k, state in enumerate(places.states):
            assert isinstance(state.node, tuple)
            payoff = self.payoff[state.node[-1]]
            for player, (matrix, weight) in enumerate([(payoff, state.weight), (-payoff.T, state.weight.T)]):
                mass = weight @ reached[1 - player][k]
                total = (weight * matrix) @ reached[1 - player][k]
                found[player][k] = np.divide(total, mass, out=np.zeros_like(mass), where=mass > 0)
        return found


@pytest.mark.parametrize("method", MODIFIED)
def test_modified_cfr_avg_is_cfr_where_what_follows_is_fixed(method: str) -> None:
    """Appendix I: if every history of a leaf keeps its value, the differences of sums are what CFR would have used."""
    leaf = LinearLeaf(public_tree(DICE))
    sound, modified = (searched(DICE, name, leaf, Horizon(2), 60) for name in (method.replace("-modified", ""), method))
    assert len(sound.subgames.leaves)
    assert modified.regrets == pytest.approx(sound.regrets, abs=1e-8)
    assert modified.average_policy() == pytest.approx(sound.average_policy(), abs=1e-6)


def states_of(rules: PublicTree, count: int, generator: np.random.Generator) -> list[PublicState]:
    """The beginning of a game and other public states where somebody acts, drawn at random."""
    root = Belief.root(rules).state
    others = cut_states(rules, [root]).decisions.states[1:]
    drawn = generator.choice(len(others), min(count - 1, len(others)), replace=False)
    return [root, *(others[k] for k in np.sort(drawn))]


def some_belief(rules: PublicTree, state: PublicState, generator: np.random.Generator) -> Belief:
    """Random ranges; one in five hands is not held."""
    while True:
        ranges = [generator.dirichlet(np.ones(size)) * (generator.random(size) < 0.8) for size in state.weight.shape]
        belief = Belief.of(rules, state, ranges)
        if belief.joint.any():
            return belief


def moved(belief: Belief, player: int, generator: np.random.Generator) -> list[Belief]:
    """Beliefs that differ in one player's range: two at random, and those in which it surely holds one hand or another."""
    hands = len(belief.ranges[player])
    wanted = [*generator.dirichlet(np.ones(hands), size=2), *np.eye(hands)[generator.permutation(hands)[:2]]]
    pairs = [(own, belief.ranges[1]) if player == 0 else (belief.ranges[0], own) for own in wanted]
    found = [Belief.of(belief.game, belief.state, ranges) for ranges in pairs]
    return [other for other in found if other.joint.any()]


TOLERANCE = 2e-3
"""Of values after 1000 iterations of DCFR, in chips of Leduc poker or points."""


@pytest.mark.quick_cases("modified_rps")
@pytest.mark.parametrize("spec", ["kuhn_poker", "leduc_poker", DICE, "liars_dice(dice=2,faces=2)", "modified_rps"])
def test_theorem_1_infostate_values_are_supergradients(spec: str) -> None:
    """Theorem 1, ``V(b') <= V(b) + v . (b' - b)``, at several public states, with V from linear programs.

    The values v of a player's hands are those that search finds at b. The other's range is the same in b and b'. Where hands
    exclude each other, beliefs are not ranges: V is the mean of v with the player's belief, the marginal of the joint
    distribution, both at b and in the bound at b'.
    """
    rules, generator = public_tree(spec), np.random.default_rng(0)
    beliefs = [some_belief(rules, state, generator) for state in states_of(rules, 5, generator) for _ in range(2)]
    gains = []
    for belief in beliefs:
        search = SubgameSearch(
            cut_states(rules, [belief.state]), METHODS["dcfr"], NoLeaf(), (belief.ranges[0][None], belief.ranges[1][None])
        )
        search.run(1000)
        whole = PublicProgram(rules, belief.state)
        for player, values in enumerate(search.root_values()):
            here = whole.value(belief.ranges, player)
            assert belief.beliefs[player] @ values[0] == pytest.approx(here, abs=TOLERANCE)
            for other in moved(belief, player, generator):
                there = whole.value(other.ranges, player)
                bound = here + values[0] @ (other.beliefs[player] - belief.beliefs[player])
                assert there <= bound + TOLERANCE
                gains.append(there - here)
    assert len(gains) > 20
    assert max(gains) > 20 * TOLERANCE  # so that V(b) alone, the same for each hand, is no supergradient
