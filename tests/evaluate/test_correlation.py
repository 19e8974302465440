"""Distances of devices: against games with a mediator, all deviations one by one, OpenSpiel, and examples of the papers."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import mediator as slow
from tests import oracle
from tests.random_games import SEEDS, STEADY, RandomGame, games
from treeplex.errors import AlgorithmError, SpecError
from treeplex.evaluate import correlation
from treeplex.evaluate.cce import cce_gaps
from treeplex.evaluate.correlation import CONCEPTS, judge_device
from treeplex.evaluate.judge import judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.correlation.device import Device
from treeplex.forms.correlation.plans import all_plans, plans_of
from treeplex.forms.policies.tabular import Policy
from treeplex.games.builtin.matrix import MatrixGame
from treeplex.games.registry import load
from treeplex.solvers import make_solver

SIZES = st.integers(1, 6)
SMALL_ENOUGH = 150
"""Unreduced pure strategies of a player up to which every deviation is played through."""

# von Stengel and Forges 2008, section 2.3: a signal X or Y at the cost of nothing, then player 1 accepts (l) or refuses (r).
SIGNALLING = """EFG 2 R "signalling" { "1" "2" }
c "" 1 "" { "G" 1/2 "B" 1/2 } 0
p "" 1 1 "G" { "X_G" "Y_G" } 0
p "" 2 1 "X" { "l_X" "r_X" } 0
t "" 1 "" { 4, 10 }
t "" 2 "" { 0, 6 }
p "" 2 2 "Y" { "l_Y" "r_Y" } 0
t "" 3 "" { 4, 10 }
t "" 4 "" { 0, 6 }
p "" 1 2 "B" { "X_B" "Y_B" } 0
p "" 2 1 "X" { "l_X" "r_X" } 0
t "" 5 "" { 6, 0 }
t "" 6 "" { 0, 6 }
p "" 2 2 "Y" { "l_Y" "r_Y" } 0
t "" 7 "" { 6, 0 }
t "" 8 "" { 0, 6 }
"""

# von Stengel and Forges 2006 (LSE-CDAM-2006-04), section 2.4: one player, who must go in twice.
IN_OUT = """EFG 2 R "in and out" { "1" }
p "" 1 1 "Root" { "In" "Out" } 0
p "" 1 2 "In" { "In" "Out" } 0
t "" 1 "" { 1 }
t "" 2 "" { 0 }
p "" 1 3 "Out" { "In" "Out" } 0
t "" 3 "" { 0 }
t "" 4 "" { 0 }
"""

# The game of OpenSpiel's second Greenwald-Sarfati example, by its normal form in corr_dist_test.cc.
GREENWALD_SARFATI = """EFG 2 R "greenwald sarfati" { "1" "2" }
p "" 1 1 "Root" { "L" "R" } 0
p "" 2 1 "P2" { "A" "B" } 0
p "" 1 2 "Left" { "l1" "r1" } 0
t "" 1 "" { 2, 2 }
t "" 2 "" { 0, 2 }
p "" 1 2 "Left" { "l1" "r1" } 0
t "" 3 "" { 2, 2 }
t "" 4 "" { 2, 2 }
p "" 2 1 "P2" { "A" "B" } 0
p "" 1 3 "Right" { "l2" "r2" } 0
t "" 5 "" { 0, 0 }
t "" 6 "" { 0, 0 }
p "" 1 3 "Right" { "l2" "r2" } 0
t "" 7 "" { 0, 0 }
t "" 8 "" { 3, 0 }
"""

# Player 1 stays out and chooses alone, or both meet at one of two places and get 1 if it is the same.
MEETING = """EFG 2 R "meeting" { "1" "2" }
p "" 1 1 "Root" { "Out" "In" } 0
p "" 1 2 "Out" { "a" "b" } 0
t "" 1 "" { 0, 0 }
t "" 2 "" { 0, 0 }
p "" 1 3 "In" { "h" "t" } 0
p "" 2 1 "P2" { "h" "t" } 0
t "" 3 "" { 1, 1 }
t "" 4 "" { 0, 0 }
p "" 2 1 "P2" { "h" "t" } 0
t "" 5 "" { 0, 0 }
t "" 6 "" { 1, 1 }
"""

SHAPLEY = ([[0, 0, 1], [1, 0, 0], [0, 1, 0]], [[0, 1, 0], [0, 0, 1], [1, 0, 0]])
CHICKEN = ([[0, 7], [2, 6]], [[0, 2], [7, 6]])


def device_by_label(game: CompiledGame, joint: list[tuple[float, list[dict[str, int]]]]) -> Device:
    """A device from (weight, [{infoset label: number of the action} for each player]); labels are the ends of infostates."""
    tables: list[list[np.ndarray]] = [[] for _ in range(game.players)]
    for _, plans in joint:
        for player, actions in enumerate(plans):
            first = int(game.tree.infoset_offsets[player])
            row = np.full(game.infosets[player], -1, np.int32)
            for local in range(game.infosets[player]):
                row[local] = actions.get(game.infostates[first + local].split(":")[1], -1)
            tables[player].append(row)
    rows = np.repeat(np.arange(len(joint))[:, None], game.players, axis=1)
    return Device(game, tuple(np.stack(table) for table in tables), rows, np.array([weight for weight, _ in joint]))


def matrix_device(game: CompiledGame, cells: dict[tuple[int, int], float]) -> Device:
    """A device on a matrix game from its cells."""
    plans = tuple(np.arange(game.sequences[player] - 1, dtype=np.int32)[:, None] for player in (0, 1))
    return Device(game, plans, np.array(list(cells)), np.array(list(cells.values())))


def product_device(policy: Policy) -> Device:
    """The device under which every player draws a plan alone and plays as ``policy``; for small games."""
    game = policy.game
    strategy = np.ones_like(policy.probabilities)
    for infoset in range(len(game.infostates)):
        here = game.sequences_at(infoset)
        strategy[here] = strategy[game.tree.infoset_parent[infoset]] * policy.probabilities[here]
    mixtures = [plans_of(game, player, strategy) for player in range(game.players)]
    support = np.array(list(product(*(range(len(plans)) for plans, _ in mixtures))))
    weights = np.prod([parts[support[:, player]] for player, (_, parts) in enumerate(mixtures)], axis=0)
    return Device(game, tuple(plans for plans, _ in mixtures), support, weights / weights.sum())


def distances(device: Device) -> dict[str, float]:
    judgement = judge_device(device)
    return {concept: judgement[concept].distance for concept in CONCEPTS}


@pytest.mark.slow
@pytest.mark.parametrize("concept", CONCEPTS)
@STEADY
@given(game=games((1, 2, 3)), seed=SEEDS, size=SIZES)
def test_gains_are_those_of_the_game_with_a_mediator(concept: str, game: RandomGame, seed: int, size: int) -> None:
    device = slow.random_device(compile_game(game), np.random.default_rng(seed), size)
    mediator = slow.mediator_of(game, device)
    judgement = judge_device(device)
    np.testing.assert_allclose(judgement.value, mediator.expected(), atol=1e-12)
    for player in range(game.players):
        gain = slow.best_gain(mediator, player, concept)
        assert judgement[concept].gains[player] == pytest.approx(max(0.0, gain), abs=1e-12)


@pytest.mark.quick_cases("EFCCE")
@pytest.mark.parametrize("concept", CONCEPTS)
@STEADY
@given(game=games((1, 2, 3)), seed=SEEDS, size=SIZES)
def test_gaps_are_those_of_all_deviations_one_by_one(concept: str, game: RandomGame, seed: int, size: int) -> None:
    device = slow.random_device(compile_game(game), np.random.default_rng(seed), size)
    mediator = slow.mediator_of(game, device)
    root = oracle.grow(game)
    found = judge_device(device)[concept]
    for player in range(game.players):
        choices = [len(ids) for key, ids in oracle.action_sets(root).items() if key[0] == player]
        if np.prod(choices, dtype=float) <= SMALL_ENOUGH:
            expected = slow.best_trigger(mediator, player, concept)
            assert found.triggers[player].gain == pytest.approx(expected, abs=1e-12)


@STEADY
@given(game=games((1, 2, 3)), seed=SEEDS, size=SIZES)
def test_concepts_are_ordered(game: RandomGame, seed: int, size: int) -> None:
    judgement = judge_device(slow.random_device(compile_game(game), np.random.default_rng(seed), size))
    for weaker, stronger in (("CCE", "EFCCE"), ("EFCCE", "EFCE"), ("EFCE", "CE"), ("AFCCE", "AFCE"), ("AFCE", "EFCE")):
        for low, high in zip(judgement[weaker].gains, judgement[stronger].gains, strict=True):
            assert low <= high + 1e-12
    for each in judgement.distances:
        assert each.gap <= each.distance + 1e-12
        assert (each.gap > 1e-12) == (each.distance > 1e-12)


@STEADY
@given(game=games((2, 3)), seed=SEEDS, size=SIZES)
def test_gaps_of_cce_are_those_of_mean_gradients(game: RandomGame, seed: int, size: int) -> None:
    """The module about CCE alone finds the same another way."""
    device = slow.random_device(compile_game(game), np.random.default_rng(seed), size)
    judgement = judge_device(device)
    assert [trigger.gain for trigger in judgement["CCE"].triggers] == pytest.approx(cce_gaps(device), abs=1e-12)
    assert judgement.value == pytest.approx(device.payoffs, abs=1e-12)


@STEADY
@given(game=games((1, 2, 3)), seed=SEEDS, size=SIZES)
def test_a_device_is_the_same_however_it_is_written(game: RandomGame, seed: int, size: int) -> None:
    generator = np.random.default_rng(seed)
    device = slow.random_device(compile_game(game), generator, size)
    order = generator.permutation(size)
    twice = np.concatenate([device.support[order], device.support])
    again = Device(device.game, device.plans, twice, np.concatenate([device.weights[order], device.weights]) / 2)
    assert distances(again) == pytest.approx(distances(device), abs=1e-12)


def test_pure_joint_plan_has_the_gain_of_a_best_response() -> None:
    """With a single joint plan nothing is learnt from being told: CCE to CE all are NashConv of the pure policy."""
    game = compile_game("leduc_poker(ranks=2)")
    device = slow.random_device(game, np.random.default_rng(5), 1)
    expected = judge(game, device.policy()).nash_conv
    found = distances(device)
    assert expected > 1.0
    for concept in ("CCE", "EFCCE", "EFCE", "CE"):
        assert found[concept] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("spec", ["kuhn_poker", "leduc_poker(ranks=2)", "matrix(rows=[[1,-1],[-1,1]])", "small_matrix"])
def test_equilibrium_of_a_zero_sum_game_is_an_equilibrium_of_every_kind(spec: str) -> None:
    game = compile_game(spec)
    solver = make_solver(game, "lp")
    solver.run(1)
    policy = solver.average_policy()
    device = product_device(policy)
    judgement = judge_device(device)
    assert judgement.value == pytest.approx(judge(game, policy).value, abs=1e-9)
    for concept in CONCEPTS:
        assert judgement[concept].distance < 1e-7, concept


def test_product_of_a_policy_is_as_far_from_cce_as_the_policy_from_nash() -> None:
    game = compile_game("kuhn_poker(players=3)")
    generator = np.random.default_rng(3)
    solver = make_solver(game, "cfr")
    solver.run(int(generator.integers(5, 9)))
    policy = solver.average_policy()
    judgement = judge_device(product_device(policy))
    assert judgement["CCE"].distance == pytest.approx(judge(game, policy).nash_conv, abs=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_matrix_games_know_only_two_kinds(seed: int) -> None:
    generator = np.random.default_rng(seed)
    game = compile_game(MatrixGame(generator.normal(size=(3, 4)), generator.normal(size=(3, 4))))
    found = distances(slow.random_device(game, generator, 5))
    assert found["EFCCE"] == pytest.approx(found["CCE"], abs=1e-12)
    assert found["AFCCE"] == pytest.approx(found["CCE"], abs=1e-12)
    assert found["EFCE"] == pytest.approx(found["CE"], abs=1e-12)
    assert found["AFCE"] == pytest.approx(found["CE"], abs=1e-12)
    assert found["CE"] >= found["CCE"] > 0.0


def test_shapley_and_chicken() -> None:
    """Correlated equilibria of textbooks: Shoham and Leyton-Brown 2009, section 3.4.5; Aumann's chicken."""
    game = compile_game(MatrixGame(*SHAPLEY))
    judgement = judge_device(matrix_device(game, {(i, j): 1 / 6 for i in range(3) for j in range(3) if i != j}))
    assert judgement.value == pytest.approx((0.5, 0.5))
    assert [each.distance for each in judgement.distances] == pytest.approx([0.0] * 6, abs=1e-12)
    chicken = compile_game(MatrixGame(*CHICKEN))
    judgement = judge_device(matrix_device(chicken, {(1, 1): 0.5, (1, 0): 0.25, (0, 1): 0.25}))
    assert judgement.welfare == pytest.approx(10.5)
    assert [each.distance for each in judgement.distances] == pytest.approx([0.0] * 6, abs=1e-12)
    jammed = judge_device(matrix_device(chicken, {(0, 0): 1.0}))
    assert jammed["ce"].gains == pytest.approx((2.0, 2.0))
    assert jammed["CE"].gap == pytest.approx(2.0)


def test_coarse_but_not_correlated() -> None:
    """Gibson 2013 (arXiv 1305.0034), section 2.2: a CCE; told to play C, player 0 gains 1 with probability 1/4."""
    game = compile_game(MatrixGame([[1, 0], [0, 2], [-1, 1]], np.zeros((3, 2))))
    judgement = judge_device(matrix_device(game, {(0, 0): 0.5, (1, 1): 0.25, (2, 1): 0.25}))
    assert judgement["CCE"].distance == 0.0
    assert judgement["CE"].distance == pytest.approx(0.25)
    trigger = judgement["EFCE"].triggers[0]
    assert (trigger.infoset, trigger.told) == (0, 2)
    assert trigger.gain == pytest.approx(0.25)
    assert judgement["CCE"].triggers[0].gain == pytest.approx(-0.25)


def test_signalling_game(tmp_path: Path) -> None:
    """Von Stengel and Forges 2008, section 2.3: an EFCE with payoffs 3.5 and 6.5, which is no CE."""
    path = tmp_path / "signalling.efg"
    path.write_text(SIGNALLING)
    game = compile_game(str(path))
    joint = [
        (0.25, [{"G": good, "B": bad}, {"X": good, "Y": 1 - good}]) for good in (0, 1) for bad in (0, 1)
    ]  # signal 0 is X, and answer 0 accepts: the signal of type G is accepted
    judgement = judge_device(device_by_label(game, joint))
    assert judgement.value == pytest.approx((3.5, 6.5))
    for concept in ("CCE", "EFCCE", "EFCE", "AFCCE", "AFCE"):
        assert judgement[concept].distance == pytest.approx(0.0, abs=1e-12)
    assert judgement["CE"].gains == pytest.approx((1.5, 0.0)), "type B, told the whole plan, gives the signal of type G"


def test_one_change_is_not_enough(tmp_path: Path) -> None:
    """Von Stengel and Forges 2006, section 2.4: no agent gains alone, the player gains 1 by changing both decisions."""
    path = tmp_path / "in_out.efg"
    path.write_text(IN_OUT)
    game = compile_game(str(path))
    judgement = judge_device(device_by_label(game, [(1.0, [{"Root": 1, "Out": 1}])]))
    assert judgement["EFCE"].distance == pytest.approx(1.0)
    assert judgement["CCE"].distance == pytest.approx(1.0)
    # "In" after "In" is never recommended, so both actions are taken alike there: half of the gain
    assert judgement["AFCE"].distance == pytest.approx(0.5)


def test_greenwald_sarfati(tmp_path: Path) -> None:
    """Greenwald and Sarfati's second example as in OpenSpiel: an EFCE that is no CE."""
    path = tmp_path / "game.efg"
    path.write_text(GREENWALD_SARFATI)
    game = compile_game(str(path))
    joint = [
        (0.5, [{"Root": 0, "Left": 0}, {"P2": 0}]),  # L l1, A
        (0.25, [{"Root": 0, "Left": 0}, {"P2": 1}]),  # L l1, B
        (0.25, [{"Root": 0, "Left": 1}, {"P2": 1}]),  # L r1, B
    ]
    found = distances(device_by_label(game, joint))
    assert found["EFCE"] == pytest.approx(0.0, abs=1e-12)
    assert found["CE"] == pytest.approx(0.25), "told r1 player 2 plays B: R then r2 pays 3 instead of 2, a quarter of the time"


def test_a_gap_is_about_what_can_happen(tmp_path: Path) -> None:
    """Whoever leaves without having been told loses half; the infoset that the device never leads to does not count."""
    path = tmp_path / "meeting.efg"
    path.write_text(MEETING)
    game = compile_game(str(path))
    device = device_by_label(game, [(0.5, [{"Root": 1, "In": place}, {"P2": place}]) for place in (0, 1)])
    judgement = judge_device(device)
    for concept in ("CCE", "EFCCE", "AFCCE"):
        assert judgement[concept].distance == 0.0
    assert [trigger.gain for trigger in judgement["EFCCE"].triggers] == pytest.approx([-0.5, -0.5])
    assert judgement["EFCCE"].gap == pytest.approx(-0.5)
    # in agent form the root can be left for "In" and followed afterwards: nothing is lost
    assert [trigger.gain for trigger in judgement["AFCCE"].triggers] == pytest.approx([0.0, -0.5])


def openspiel_policies(device: Device) -> list[tuple[float, dict[str, list[tuple[int, float]]]]]:
    """Joint plans as full pure policies by infostate: what a plan excludes gets its first action."""
    game, joint = device.game, []
    for row, weight in zip(device.support.tolist(), device.weights.tolist(), strict=True):
        table = {}
        for player, number in enumerate(row):
            told = device.actions(player, number)
            first, last = (int(n) for n in game.tree.infoset_offsets[player : player + 2])
            for infoset in range(first, last):
                actions = game.actions_at(infoset)
                chosen = told.get(game.infostates[infoset], actions[0])
                table[game.infostates[infoset]] = [(action, float(action == chosen)) for action in actions]
        joint.append((weight, table))
    return joint


@pytest.mark.parametrize(
    "spec",
    [
        "kuhn_poker",
        "kuhn_poker(players=3)",
        "goofspiel(num_cards=3,imp_info=True,points_order=descending,returns_type=total_points)",
        "liars_dice(numdice=1,dice_sides=2)",
    ],
)
def test_openspiel_agrees(spec: str) -> None:
    pyspiel = pytest.importorskip("pyspiel")
    simultaneous = spec.startswith("goofspiel")
    name = f"turn_based_simultaneous_game(game={spec})" if simultaneous else spec
    game, theirs = compile_game(f"openspiel:{name}"), pyspiel.load_game(name)
    device = slow.random_device(game, np.random.default_rng(11), 7).merged()
    mu = [(weight, pyspiel.TabularPolicy(table)) for weight, table in openspiel_policies(device)]
    judgement = judge_device(device)
    for concept, found in (("CCE", pyspiel.cce_dist(theirs, mu)), ("CE", pyspiel.ce_dist(theirs, mu))):
        assert judgement.value == pytest.approx(found.on_policy_values, abs=1e-9)
        assert judgement[concept].gains == pytest.approx(found.deviation_incentives, abs=1e-9)
        assert judgement[concept].distance == pytest.approx(found.dist_value, abs=1e-9)
    assert judgement["CE"].distance >= judgement["CCE"].distance > 0.0


def test_all_plans_of_kuhn_poker_uniformly() -> None:
    """A product: being told nothing, one thing or everything is the same, and it is the uniform policy's NashConv, 11/12."""
    game = compile_game("kuhn_poker")
    assert distances(product_device(Policy.uniform(game)))["CCE"] == pytest.approx(11 / 12, abs=1e-12)
    plans = [all_plans(game, player) for player in range(2)]
    support = np.array(list(product(range(len(plans[0])), range(len(plans[1])))))
    device = Device(game, tuple(plans), support, np.full(len(support), 1 / len(support)))
    found = distances(device)
    nash_conv = judge(game, device.policy()).nash_conv
    for concept in ("CCE", "EFCCE", "EFCE", "CE"):
        assert found[concept] == pytest.approx(nash_conv, abs=1e-9)


def test_unknown_concept() -> None:
    judgement = judge_device(slow.random_device(compile_game(load("kuhn_poker")), np.random.default_rng(0), 2))
    with pytest.raises(SpecError, match="unknown concept 'NE'; choose from CCE, EFCCE"):
        judgement["NE"]


def test_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    device = slow.random_device(compile_game("kuhn_poker"), np.random.default_rng(2), 4).merged()
    monkeypatch.setattr(correlation, "MOST_WORK", 100)
    with pytest.raises(AlgorithmError, match=r"3 joint plans on a game with 60 payoff entries.*use only the 1 most likely"):
        judge_device(device)
    monkeypatch.undo()
    monkeypatch.setattr(correlation, "MOST_NUMBERS", 10)
    with pytest.raises(AlgorithmError, match="kuhn_poker is too large to evaluate correlation devices"):
        judge_device(device)
