"""Policies that networks say: the same state by state as read for a whole game; files; what does not fit is refused."""

from pathlib import Path

import numpy as np
import pytest

import treeplex as tp
from treeplex.errors import FileError, GameError, PolicyError
from treeplex.evaluate.judge import judge
from treeplex.forms.compile.views.histories import histories_of
from treeplex.forms.compile.views.infoset_tensors import infoset_tensors, states_of
from treeplex.forms.policies.heads import HEADS
from treeplex.forms.policies.neural import NeuralPolicy, is_neural_policy
from treeplex.forms.policies.remembered import HistoryState
from treeplex.forms.policies.tabular import Policy
from treeplex.forms.policies.views import TENSOR, WORDS, probe

PHANTOM = ("phantom_ttt(rows=2,line=2)", "dark_hex(num_rows=2,num_cols=2,gameversion=adh)")


def policy(game: str, kind: str, *, shared: bool) -> NeuralPolicy:
    """A random network."""
    compiled = tp.compile(game)
    assert compiled.rules is not None
    view, generator = probe(compiled.rules, kind).view, np.random.default_rng(3)
    inputs = len(view.scale) + (2 if shared else 0)

    def layer(before: int, after: int) -> tuple[np.ndarray, np.ndarray]:
        return generator.normal(size=(after, before)).astype(np.float32), generator.normal(size=after).astype(np.float32)

    networks = [[layer(inputs, 8), layer(8, len(view.actions))] for _ in range(1 if shared else 2)]
    return NeuralPolicy(compiled.spec, 2, view, networks)


@pytest.mark.slow_cases("phantom_ttt(rows=2,line=2)-tensor-True", "leduc_poker-tensor-False")
@pytest.mark.parametrize(
    ("game", "kind", "shared"),
    [
        (PHANTOM[0], TENSOR, True),
        (PHANTOM[1], WORDS, False),
        ("leduc_poker", TENSOR, False),
        ("goofspiel(num_cards=3)", WORDS, True),
    ],
)
def test_read_for_a_whole_game_it_is_what_it_is_at_each_state(game: str, kind: str, shared: bool) -> None:
    neural, compiled = policy(game, kind, shared=shared), tp.compile(game)
    table, checked = neural.on(compiled), 0
    for node, state in states_of(compiled, histories_of(compiled)):
        player, infoset = histories_of(compiled).nodes[node, [0, 3]].tolist()
        if player >= 0 and node % 7 == 0:
            assert neural.action_probabilities(state) == pytest.approx(table.at(infoset), abs=1e-5)
            checked += 1
    assert checked > 5


@pytest.mark.parametrize("game", PHANTOM)
def test_tensors_of_phantom_games_are_those_of_their_rules(game: str) -> None:
    """By arithmetic over the compiled tree, and state by state; they tell infosets apart."""
    compiled = tp.compile(game)
    expected = infoset_tensors(compiled)
    assert expected is not None
    np.testing.assert_array_equal(compiled.infostates.tensors(0, len(expected)), expected)  # type: ignore[attr-defined]
    np.testing.assert_array_equal(compiled.infostates.tensors(3, 9), expected[3:9])  # type: ignore[attr-defined]
    for player in (0, 1):
        own = expected[slice(*compiled.tree.infoset_offsets[player : player + 2])]
        assert len(np.unique(own, axis=0)) == len(own)


def test_turns_that_are_counted_stand_in_the_tensor() -> None:
    game = tp.compile("phantom_ttt(rows=2,line=2,obstype=reveal-numturns)")
    rows = infoset_tensors(game)
    assert rows is not None
    for player in (0, 1):
        own = rows[slice(*game.tree.infoset_offsets[player : player + 2])]
        assert len(np.unique(own, axis=0)) == len(own)


def test_files(tmp_path: Path) -> None:
    neural, file = policy(PHANTOM[0], TENSOR, shared=True), tmp_path / "policy.safetensors"
    neural.save(file, {"algorithm": "mine", "iterations": 7})
    assert is_neural_policy(file)
    found = NeuralPolicy.load(file)
    assert found.about == {"algorithm": "mine", "iterations": "7"}
    expected = neural.on(tp.compile(PHANTOM[0])).probabilities
    np.testing.assert_array_equal(found.on(tp.compile(PHANTOM[0])).probabilities, expected)
    np.testing.assert_array_equal(tp.load_policy(file).probabilities, expected)
    assert tp.exploitability(PHANTOM[0], file) == tp.exploitability(PHANTOM[0], neural.on(tp.compile(PHANTOM[0])))
    file.write_bytes(file.read_bytes()[:-5])
    with pytest.raises(FileError, match="truncated"):
        NeuralPolicy.load(file)


def mixture(game: str, head: str) -> NeuralPolicy:
    """Three random networks for each player."""
    one = policy(game, TENSOR, shared=False)
    generator = np.random.default_rng(4)
    networks = [
        [(generator.normal(size=matrix.shape).astype(np.float32), biases) for matrix, biases in layers]
        for _ in range(3)
        for layers in one.networks
    ]
    return NeuralPolicy(one.spec, 2, one.view, networks, head=head, weights=np.array([[1.0, 2.0], [3.0, 0.0], [1.0, 1.0]]))


@pytest.mark.quick_cases("softmax")
@pytest.mark.parametrize("head", HEADS)
def test_a_mixture_counts_each_network_by_its_own_past(head: str, tmp_path: Path) -> None:
    """State by state it is what it is for the whole game, which is what playing one network for a whole game is worth."""
    mixed, game = mixture("leduc_poker", head), tp.compile("leduc_poker")
    mixed.save(tmp_path / "policy.safetensors")
    mixed, checked = NeuralPolicy.load(tmp_path / "policy.safetensors"), 0
    table, stack = mixed.on(game), [HistoryState(game.rules.new_initial_state())]  # type: ignore[union-attr]
    names = {text: number for number, text in enumerate(game.infostates)}
    while stack:
        state = stack.pop()
        if state.current_player() >= 0 and len(stack) % 5 == 0:
            expected = table.at(names[state.information_state_string()])
            assert mixed.action_probabilities(state) == pytest.approx(expected, abs=1e-5)
            checked += 1
        if not state.is_terminal():
            actions = [each for each, _ in state.chance_outcomes()] if state.is_chance_node() else state.legal_actions()
            stack += [state.child(action) for action in actions][: 2 if state.is_chance_node() else None]
    assert checked > 10
    with pytest.raises(PolicyError, match="pass a HistoryState"):
        mixed.action_probabilities(game.rules.new_initial_state().child(0).child(1))  # type: ignore[union-attr]


def test_a_mixture_is_worth_what_its_networks_are_worth() -> None:
    """The value of the table is the mean over members, drawn for each player and followed to the end."""
    mixed, game = mixture("leduc_poker", "matched"), tp.compile("leduc_poker")
    uniform = Policy.uniform(game).probabilities
    for player in (0, 1):
        own = slice(*game.tree.sequence_offsets[player : player + 2])
        values = []
        for member in range(3):
            alone = NeuralPolicy(mixed.spec, 2, mixed.view, mixed.networks[2 * member : 2 * member + 2], head="matched")
            table = uniform.copy()
            table[own] = alone.on(game).probabilities[own]
            values.append(judge(game, Policy(game, table)).value[player])
        table = uniform.copy()
        table[own] = mixed.on(game).probabilities[own]
        assert judge(game, Policy(game, table)).value[player] == pytest.approx(mixed.weights[:, player] @ values, abs=1e-9)


def test_what_does_not_fit_is_refused() -> None:
    neural = policy(PHANTOM[0], TENSOR, shared=True)
    with pytest.raises(PolicyError, match=r"is a policy for phantom_ttt.*, not for dark_hex"):
        neural.on(tp.compile("dark_hex(board_size=2)"))
    with pytest.raises(PolicyError, match="a network with shapes"):
        NeuralPolicy(neural.spec, 2, neural.view, [neural.networks[0][:1], neural.networks[0]])
    with pytest.raises(GameError, match="returns nothing at"):
        neural.action_probabilities(tp.load("kuhn_poker").new_initial_state().child(0).child(1))  # type: ignore[union-attr]
    with pytest.raises(GameError, match="have no information_state_tensor; use features=words"):
        probe(tp.load("kuhn_poker"), TENSOR)  # type: ignore[arg-type]
