"""OpenSpiel's games as rules; policies to and from OpenSpiel."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from treeplex.errors import GameError, PolicyError, SpecError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.policies.files import load_policy, save_policy
from treeplex.forms.policies.openspiel import from_tabular_policy, to_pyspiel_policy, to_tabular_policy, transferred
from treeplex.forms.policies.tabular import Policy, normalised
from treeplex.forms.sources.openspiel import OpenSpielGame, same_rules
from treeplex.games.turn_based import turn_text
from treeplex.run.judge import nash_conv

pyspiel = pytest.importorskip("pyspiel")


def random_policy(spec: str) -> Policy:
    game = compile_game(spec)
    weights = np.random.default_rng(5).random(int(game.tree.sequence_offsets[-1]))
    return Policy(game, normalised(game, weights))


def walk(state: Any, mirror: Any) -> int:
    """Compare a state with OpenSpiel's, and all below; the number of histories."""
    assert state.current_player() == mirror.current_player()
    assert state.is_terminal() == mirror.is_terminal()
    if mirror.is_terminal():
        assert list(state.returns()) == mirror.returns()
        return 1
    assert list(state.legal_actions()) == mirror.legal_actions()
    if mirror.is_chance_node():
        assert list(state.chance_outcomes()) == mirror.chance_outcomes()
    else:
        for player in range(mirror.num_players()):
            assert state.information_state_string(player) == mirror.information_state_string(player)
        assert state.information_state_string() == mirror.information_state_string()
    for action in mirror.legal_actions():
        assert state.action_to_string(action) == mirror.action_to_string(action)
    below = sum(walk(state.child(action), mirror.child(action)) for action in mirror.legal_actions())
    assert state.current_player() == mirror.current_player()
    return 1 + below


@pytest.mark.parametrize(
    ("text", "histories"),
    [("kuhn_poker", 58), ("python_kuhn_poker", 58), ("first_sealed_auction(max_value=3)", 100), ("tiny_hanabi", None)],
)
def test_states_mirror_openspiel(text: str, histories: int | None) -> None:
    game = OpenSpielGame(text)
    mirror = game.game.new_initial_state()
    counted = walk(game.new_initial_state(), mirror)
    assert counted == compile_game(game).size.histories
    if text.endswith("kuhn_poker"):
        assert counted == histories


def test_simultaneous_games_become_turn_based() -> None:
    game = OpenSpielGame("goofspiel(imp_info=True,num_cards=3,points_order=descending)")
    assert game.spec == "openspiel:goofspiel(imp_info=True,num_cards=3,points_order=descending)"
    assert game.new_initial_state().current_player() == 0
    assert game.parameters()["num_cards"] == 3
    compiled = compile_game(game.spec)
    assert (compiled.spec, compiled.size.histories, compiled.infosets) == (game.spec, 67, (8, 8))


SIMULTANEOUS = ["goofspiel(imp_info=True,num_cards=3)", "matrix_pd", "oshi_zumo(coins=3,horizon=3,size=1)"]


@pytest.mark.parametrize("name", SIMULTANEOUS)
def test_simultaneous_games_keep_their_own_infostates(name: str, tmp_path: Path) -> None:
    """The infostates are those of the states of the game itself, and either state gives the policy."""
    policy = random_policy(f"openspiel:{name}")
    game, known = pyspiel.load_game(name), set()
    stack = [(game.new_initial_state(), pyspiel.convert_to_turn_based(game).new_initial_state())]
    while stack:
        state, turn = stack.pop()
        if state.is_chance_node():
            stack += [(state.child(action), turn.child(action)) for action in state.legal_actions()]
        elif state.is_simultaneous_node():
            first = [turn.child(action) for action in turn.legal_actions()]
            known |= {(player, state.information_state_string(player)) for player in (0, 1)}
            assert policy.action_probabilities(state, 0) == policy.action_probabilities(turn)
            assert policy.action_probabilities(state, 1) == policy.action_probabilities(first[0])
            for one, between in zip(turn.legal_actions(), first, strict=True):
                for other in between.legal_actions():
                    after = state.clone()
                    after.apply_actions([one, other])
                    stack.append((after, between.child(other)))
    assert set(policy) == known


def test_policies_with_whose_turn_it_is_in_their_infostates_load(tmp_path: Path) -> None:
    """As OpenSpiel names the infostates when it makes a game turn-based."""
    policy = random_policy("openspiel:matrix_pd")
    turns = replace(policy.game, infostates=[turn_text(player) + infostate for player, infostate in policy])
    path = tmp_path / "policy.csv"
    save_policy(Policy(turns, policy.probabilities), path)
    path.write_text(
        "".join(line for line in path.read_text().splitlines(keepends=True) if line[0] != "#")
    )  # the header has the identity
    loaded = load_policy(path, policy.game)
    np.testing.assert_array_equal(loaded.probabilities, policy.probabilities)


def test_games_given_as_objects() -> None:
    from open_spiel.python.games.kuhn_poker import KuhnPokerGame

    assert OpenSpielGame(pyspiel.load_game("kuhn_poker(players=3)")).spec == "openspiel:kuhn_poker(players=3)"
    assert compile_game(KuhnPokerGame()).size.histories == 58
    assert compile_game(pyspiel.load_game("matrix_pd")).spec == "openspiel:matrix_pd"


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("openspiel:kuhn_pokr", SpecError, "did you mean 'kuhn_poker'"),
        ("kuhn_poker(cards=3)", SpecError, "Unknown parameter 'cards'"),
        ("mfg_crowd_modelling", GameError, "mean-field game"),
        ("phantom_ttt", None, ""),
    ],
)
def test_refusals(text: str, error: type[Exception] | None, message: str, capfd: pytest.CaptureFixture[str]) -> None:
    if error is None:
        assert OpenSpielGame(text).num_players == 2
        return
    with pytest.raises(error, match=message):
        OpenSpielGame(text)


def test_games_that_cannot_be_told_apart() -> None:
    for name in pyspiel.registered_names():
        kind = next(kind for kind in pyspiel.registered_games() if kind.short_name == name)
        if kind.default_loadable and not kind.provides_information_state_string and "mfg" not in name:
            with pytest.raises(GameError, match=r"(information_state_string|samples chance events itself)"):
                OpenSpielGame(name)
            return
    pytest.fail("every game provides information states")


def test_no_openspiel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    with pytest.raises(GameError, match=r"pip install .*\[openspiel\]'"):
        OpenSpielGame("kuhn_poker")


def test_not_a_game() -> None:
    with pytest.raises(GameError, match="not an OpenSpiel game"):
        OpenSpielGame(3)


EXPORTED = [
    "kuhn_poker",
    "leduc_poker",
    "openspiel:kuhn_poker(players=3)",
    "openspiel:goofspiel(imp_info=True,num_cards=3)",
    "openspiel:matrix_pd",
]


@pytest.mark.slow_cases("leduc_poker")
@pytest.mark.parametrize("spec", EXPORTED)
def test_exported_policies_have_the_same_nash_conv(spec: str) -> None:
    from open_spiel.python.algorithms import exploitability

    policy = random_policy(spec)
    game = OpenSpielGame(spec).game
    ours = nash_conv(policy.game, policy)
    assert exploitability.nash_conv(game, to_tabular_policy(policy)) == pytest.approx(ours, abs=1e-9)
    assert pyspiel.nash_conv(game, to_pyspiel_policy(policy)) == pytest.approx(ours, abs=1e-9)


@pytest.mark.parametrize("spec", EXPORTED)
def test_policies_come_back_the_same(spec: str) -> None:
    policy = random_policy(spec)
    pairs = {infostate: list(row.items()) for infostate, row in policy.to_dict().items()}
    for tabular in (to_tabular_policy(policy), to_pyspiel_policy(policy), policy.to_dict(), pairs):
        np.testing.assert_array_equal(from_tabular_policy(policy.game, tabular).probabilities, policy.probabilities)


def test_policies_that_answer_for_states() -> None:
    game = pyspiel.load_game("kuhn_poker")
    solver = pyspiel.CFRSolver(game)
    for _ in range(100):
        solver.evaluate_and_update_policy()
    average = solver.average_policy()
    imported = from_tabular_policy(compile_game("kuhn_poker"), average)
    assert nash_conv(imported.game, imported) == pytest.approx(pyspiel.nash_conv(game, average, True), abs=1e-9)
    with pytest.raises(PolicyError, match="has no probabilities at infostate"):
        from_tabular_policy(compile_game("kuhn_poker"), Silent())


class Silent:
    def action_probabilities(self, state: Any) -> dict[int, float]:
        raise KeyError(str(state))


def test_one_ulp_above_one_is_clipped() -> None:
    game = compile_game("kuhn_poker")
    table = {infostate: {0: float(np.nextafter(1.0, 2.0)), 1: -1e-17} for infostate in game.infostates}
    policy = from_tabular_policy(game, table)
    assert set(policy["0"].values()) == {0.0, 1.0}


def test_rounded_probabilities_are_normalised() -> None:
    game = compile_game("kuhn_poker")
    policy = from_tabular_policy(game, {infostate: {0: 0.3333333, 1: 0.6666666} for infostate in game.infostates})
    assert sum(policy["0pb"].values()) == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"0": {0: 0.5, 1: 0.4}}, "'0' sum to 0.9"),
        ({"0": {0: float("nan"), 1: 0.5}}, "sum to nan"),
        ({"0": {0: 3.0, 1: 0.0}}, "'0' sum to 3, not 1"),
        ({"0": {0: 1.5, 1: -0.5}}, "a probability at infostate '0' is negative"),
        ({"0": {0: 0.5, 1: 0.4, 7: 0.1}}, "action 7 at infostate '0'"),
        ({"0": 3}, "cannot read the distribution"),
        ({"0": None}, "lacks 1 infostates of kuhn_poker, such as '0'"),
    ],
)
def test_imports_that_do_not_fit(change: dict[str, Any], message: str) -> None:
    game = compile_game("kuhn_poker")
    table = {**Policy.uniform(game).to_dict(), **change}
    with pytest.raises(PolicyError, match=message):
        from_tabular_policy(game, {infostate: row for infostate, row in table.items() if row is not None})


def test_what_is_no_policy() -> None:
    with pytest.raises(PolicyError, match="cannot read a policy from int"):
        from_tabular_policy(compile_game("kuhn_poker"), 3)


def test_exports_that_do_not_fit() -> None:
    with pytest.raises(PolicyError, match="no infostate"):
        to_tabular_policy(Policy.uniform(compile_game("kuhn_poker")), "leduc_poker")
    with pytest.raises(PolicyError, match="pass game="):
        to_tabular_policy(Policy.uniform(compile_game("modified_rps")))


@pytest.mark.parametrize("name", ["nfg_game", "kuhn_poker(players=99)", "kuhn_poker(player=2)"])
def test_what_openspiel_cannot_load_is_one_message(capfd: pytest.CaptureFixture[str], name: str) -> None:
    with pytest.raises(SpecError, match="OpenSpiel cannot load") as caught:
        OpenSpielGame(name)
    assert "\n" not in str(caught.value)
    assert capfd.readouterr().err == ""


@pytest.mark.slow_cases("leduc_poker")
@pytest.mark.parametrize("spec", ["leduc_poker", "liars_dice(dice_sides=2)", "goofspiel(imp_info=true,num_cards=3)"])
def test_policies_cross_over(tmp_path: Path, spec: str) -> None:
    own, theirs = compile_game(spec), compile_game(f"openspiel:{spec}")
    for here, there in ((own, theirs), (theirs, own)):
        policy = random_policy(here.spec)
        save_policy(policy, tmp_path / "policy")
        crossed = load_policy(tmp_path / "policy", there)
        assert crossed.game is there
        assert all(crossed[key] == policy[key] for key in policy)
        assert nash_conv(there, crossed) == pytest.approx(nash_conv(here, policy), abs=1e-12)


def test_only_the_same_rules_cross_over() -> None:
    assert same_rules("goofspiel(num_cards=3,imp_info=true)", "openspiel:goofspiel(imp_info=True,num_cards=3)")
    assert not same_rules("goofspiel(num_cards=3)", "openspiel:goofspiel(num_cards=4)")
    assert not same_rules("leduc_poker", "leduc_poker")
    assert not same_rules("openspiel:leduc_poker", "openspiel:leduc_poker")
    assert not same_rules("leduc_poker", "openspiel:leduc_poker(")
    with pytest.raises(PolicyError, match="actions"):
        transferred(random_policy("matrix(rows=[[1,2]])"), compile_game("matrix(rows=[[1,2,3]])"))


def test_games_in_games_have_a_depth() -> None:
    with pytest.raises(SpecError, match="brackets nested more than 20"):
        OpenSpielGame("openspiel:" + "misere(game=" * 100_000 + "kuhn_poker" + ")" * 100_000)
