"""Policies: reading, checking, normalising."""

import re
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from treeplex.errors import PolicyError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.policies import tabular
from treeplex.forms.policies.openspiel import from_tabular_policy
from treeplex.forms.policies.tabular import Policy, infoset_sums, normalised, uniform_probabilities
from treeplex.games.base import CHANCE, SIMULTANEOUS, TERMINAL, Game, State
from treeplex.games.registry import load
from treeplex.run.judge import as_policy
from treeplex.solvers import make_solver

KUHN = compile_game("kuhn_poker")
SIZE = 26


def random_policy(seed: int = 0) -> Policy:
    return Policy(KUHN, normalised(KUHN, np.random.default_rng(seed).random(SIZE)))


def test_large_policies_are_normalised_in_parts_with_the_same_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = np.random.default_rng(1).random(SIZE) * (np.arange(SIZE) % 3 > 0)
    whole = normalised(KUHN, weights), infoset_sums(KUHN, weights), uniform_probabilities(KUHN)
    monkeypatch.setattr(tabular, "PART", 5)
    in_parts = normalised(KUHN, weights), infoset_sums(KUHN, weights), uniform_probabilities(KUHN)
    assert all(np.array_equal(one, other) for one, other in zip(whole, in_parts, strict=True))


def test_uniform() -> None:
    policy = Policy.uniform(KUHN)
    assert len(policy) == 12
    assert set(policy) == set(KUHN.lookup)
    assert all(policy[key] == {0: 0.5, 1: 0.5} for key in policy)
    assert (policy.probabilities[[0, 13]] == 1.0).all()
    assert repr(policy) == "<policy for kuhn_poker: 12 infosets>"


def test_ways_to_ask() -> None:
    policy, rules = random_policy(), load("kuhn_poker")
    by_text = policy["0pb"]
    assert by_text == policy[0, "0pb"] == policy.at(KUHN.lookup[0, "0pb"]) == policy.to_dict()["0pb"]
    assert by_text[0] + by_text[1] == pytest.approx(1.0)
    state = rules.new_initial_state().child(0).child(2).child(0)
    assert state.information_state_string() == "2p"
    assert policy.action_probabilities(state) == policy[1, "2p"]
    assert list(policy.to_dict()) == list(KUHN.infostates)


def test_policies_are_mappings() -> None:
    policy = random_policy()
    assert isinstance(policy, Mapping)
    table = dict(policy)
    assert list(table) == list(policy.keys()) == list(KUHN.lookup)
    assert dict(policy.items()) == table == {key: policy[key] for key in policy}
    assert list(policy.values()) == list(table.values())
    assert policy.get("0pb") == policy.get((0, "0pb")) == table[0, "0pb"]
    assert policy.get("nowhere") is None
    assert policy.get((1, "0pb"), {}) == {}
    assert policy == policy
    assert policy != Policy(KUHN, policy.probabilities)
    assert len({policy, Policy(KUHN, policy.probabilities)}) == 2


def test_openspiel_states() -> None:
    pyspiel = pytest.importorskip("pyspiel")
    state = pyspiel.load_game("kuhn_poker").new_initial_state()
    for action in (1, 2, 1):
        state.apply_action(action)
    assert random_policy().action_probabilities(state) == random_policy()["2b"]


@pytest.mark.parametrize("key", ["3", "", (1, "0pb"), (2, "0")])
def test_unknown_infostates(key: object) -> None:
    with pytest.raises(PolicyError, match=re.escape(f"no infostate {key!r} in kuhn_poker; list(policy) lists them")):
        random_policy()[key]  # type: ignore[index]


def test_an_infostate_that_two_players_share() -> None:
    from tests.forms.compile.test_walk import WrittenGame, decision, end

    rules: Game = WrittenGame(decision(0, ("same", "same"), end(), decision(1, ("same", "same"), end(), end())))
    policy = Policy.uniform(compile_game(rules))
    with pytest.raises(PolicyError, match=r"infostate 'same' belongs to several players; use policy\[player, infostate\]"):
        policy["same"]
    assert policy[1, "same"] == {0: 0.5, 1: 0.5}


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({0: 0.6, 1: 0.6}, r"\{0: 0\.6, 1: 0\.6\}"),
        ({0: 1.5, 1: -0.5}, r"\{0: 1\.5, 1: -0\.5\}"),
        ({0: float("nan"), 1: 0.5}, r"\{0: nan, 1: 0\.5\}"),
        ({0: 0.5, 1: 0.5 + 1e-8}, r"\{0: 0\.5, 1: 0\.50000001\}"),
    ],
)
def test_no_distribution(change: dict[int, float], found: str) -> None:
    probabilities = uniform_probabilities(KUHN)
    for q in KUHN.sequences_at(KUHN.lookup[1, "1b"]):
        probabilities[q] = change[int(KUHN.action_ids[q])]
    with pytest.raises(PolicyError, match=f"not a distribution at infostate '1b': {found}"):
        Policy(KUHN, probabilities)


@pytest.mark.parametrize("shape", [(25,), (27,), (26, 1), ()])
def test_wrong_shape(shape: tuple[int, ...]) -> None:
    with pytest.raises(PolicyError, match=r"a policy for kuhn_poker needs 26 probabilities, not an array of shape"):
        Policy(KUHN, np.full(shape, 0.5))


@given(hnp.arrays(np.float64, SIZE, elements=st.floats(0, 1e6) | st.just(0.0)))
def test_normalised(weights: np.ndarray) -> None:
    probabilities = normalised(KUHN, weights)
    Policy(KUHN, probabilities)
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
    sums = infoset_sums(KUHN, weights)
    for infoset in range(12):
        sequences = KUHN.sequences_at(infoset)
        expected = weights[sequences] / sums[infoset] if sums[infoset] > 0 else np.full(2, 0.5)
        np.testing.assert_allclose(probabilities[sequences], expected, rtol=1e-12)


def test_solutions_are_distributions() -> None:
    """OpenSpiel refuses probabilities beyond 1 by one rounding step."""
    game = compile_game("leduc_poker")
    solver = make_solver(game, "pcfr+")
    for _ in range(5):
        solver.run(20)
        probabilities = solver.average_policy().probabilities
        assert ((probabilities >= 0) & (probabilities <= 1)).all()


def test_whether_it_is_there() -> None:
    policy = random_policy()
    assert "0pb" in policy
    assert (0, "0pb") in policy
    assert "nowhere" not in policy
    assert (1, "0pb") not in policy


class VisibleState(State):
    """Matching pennies, both at once."""

    def __init__(self, moves: tuple[int, ...] = ()) -> None:
        self.moves = moves

    def current_player(self) -> int:
        return TERMINAL if self.moves else SIMULTANEOUS

    def legal_actions(self, player: int | None = None) -> list[int]:
        return [0, 1]

    def child(self, action: object) -> "VisibleState":
        assert isinstance(action, tuple)
        return VisibleState(action)

    def returns(self) -> list[float]:
        won = 1.0 if self.moves[0] == self.moves[1] else -1.0
        return [won, -won]

    def information_state_string(self, player: int | None = None) -> str:
        return f"{player} shows"


class Pennies(Game):
    def new_initial_state(self) -> VisibleState:
        return VisibleState()


def test_the_strings_of_rules_with_simultaneous_moves_will_do() -> None:
    policy = Policy.uniform(compile_game(Pennies()))
    turn = policy[1, "Current player: 1\n1 shows"]
    assert (
        turn == policy[1, "1 shows"] == policy["1 shows"] == policy.action_probabilities(VisibleState(), 1) == {0: 0.5, 1: 0.5}
    )
    assert "1 shows" in policy
    assert (0, "1 shows") not in policy
    with pytest.raises(PolicyError, match="give player_id"):
        policy.action_probabilities(VisibleState())


def test_nobody_acts() -> None:
    policy, root = random_policy(), load("kuhn_poker").new_initial_state()
    assert root.current_player() == CHANCE
    with pytest.raises(PolicyError, match="no single player acts"):
        policy.action_probabilities(root)


@pytest.mark.parametrize("key", [(0, 1, 2), (5, "0pb"), 3, None])
def test_keys_of_other_kinds(key: object) -> None:
    with pytest.raises(PolicyError, match="no infostate"):
        random_policy()[key]  # type: ignore[index]
    assert key not in random_policy()


class SameNames(State):
    """Both players act at an infostate of the same name, and all actions have the same name."""

    def __init__(self, moves: tuple[int, ...] = ()) -> None:
        self.moves = moves

    def current_player(self) -> int:
        return TERMINAL if len(self.moves) == 2 else len(self.moves)

    def legal_actions(self, player: int | None = None) -> list[int]:
        return [0, 1]

    def action_to_string(self, action: int, *arguments: int) -> str:
        return "call"

    def child(self, action: int) -> "SameNames":
        return SameNames((*self.moves, action))

    def returns(self) -> list[float]:
        return [1.0, -1.0] if self.moves[0] == self.moves[1] else [-1.0, 1.0]

    def information_state_string(self, player: int | None = None) -> str:
        return "decide"


class SameNamesGame(Game):
    spec, num_players = "same_names", 2

    def new_initial_state(self) -> SameNames:
        return SameNames()


def test_names_that_mean_two_things_are_refused() -> None:
    game = compile_game(SameNamesGame())
    policy = as_policy(game, {(0, "decide"): {0: 0.3, 1: 0.7}, (1, "decide"): {"0": 0.9, "1": 0.1}})
    assert policy[1, "decide"] == pytest.approx({0: 0.9, 1: 0.1})
    with pytest.raises(PolicyError, match="'decide' of same_names belongs to players 0 and 1"):
        policy.to_dict()
    with pytest.raises(PolicyError, match="belongs to players 0 and 1"):
        from_tabular_policy(game, {"decide": {0: 1.0}})
    with pytest.raises(PolicyError, match="no action 'call' at infostate 'decide'"):
        as_policy(game, {(0, "decide"): {"call": 1.0}, (1, "decide"): {0: 1.0}})
