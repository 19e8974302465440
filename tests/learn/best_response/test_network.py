"""Best responses learned by networks."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests.learn.best_response.test_tabular import rules_world  # noqa: E402
from treeplex.errors import FileError  # noqa: E402
from treeplex.evaluate import judge  # noqa: E402
from treeplex.forms.compile.compile_game import compile_game  # noqa: E402
from treeplex.forms.policies.tabular import Policy  # noqa: E402
from treeplex.learn.best_response.held_out import held_out  # noqa: E402
from treeplex.learn.best_response.network import WORDS, NetworkPolicy, NetworkResponse, words_of  # noqa: E402
from treeplex.learn.common.device import one_thread  # noqa: E402

KUHN = "kuhn_poker"


def learned(spec: str, batches: int, width: int = 32) -> NetworkResponse:
    response = NetworkResponse(rules_world(spec), 0, width=width, learning_rate=2e-3)
    with one_thread():
        for number in range(batches):
            response.learn(128 * number, max(0.2, 1 - number / 10), 128)
    return response


def test_most_of_a_best_response_in_kuhn_poker():
    response = learned(KUHN, 16)
    found = held_out(response.world, response.choose, 4000, seed=0)
    best = judge(compile_game(KUHN), Policy.uniform(compile_game(KUHN))).best_response_values
    assert 0.85 * sum(best) / 2 < found.gain < sum(best) / 2 + found.interval


def test_words_tell_infostates_and_actions_apart():
    game = compile_game("leduc_poker")
    rows = {words_of(text, action, player).tobytes() for (player, text) in game.lookup for action in range(3)}
    assert len(rows) == 3 * len(game.lookup)
    assert len(words_of("word " * 500, 0, 0)) == WORDS
    assert not np.array_equal(words_of("a " * 500 + "b", 0, 0), words_of("a " * 500 + "c", 0, 0))


def test_state_is_all_there_is():
    whole, half = learned(KUHN, 4, 4), learned(KUHN, 2, 4)
    again = NetworkResponse(half.world, 0, width=4, learning_rate=2e-3)
    again.restore({name: np.array(array) for name, array in half.state().items()})
    with one_thread():
        for number in (2, 3):
            again.learn(128 * number, max(0.2, 1 - number / 10), 128)
    for name, array in whole.state().items():
        assert np.array_equal(array, again.state()[name]), name


def test_files(tmp_path):
    policy, path = learned(KUHN, 2, 8).policy, tmp_path / "net.safetensors"
    policy.save(path)
    again = NetworkPolicy.load(path)
    state = rules_world(KUHN).rules.new_initial_state().child(0).child(1)
    assert again.action_probabilities(state) == policy.action_probabilities(state)
    assert sum(again.action_probabilities(state).values()) == 1
    assert (again.spec, again.players, again.width) == (policy.spec, 2, 8)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(FileError):
        NetworkPolicy.load(path)
