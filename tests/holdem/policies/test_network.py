"""Networks on spots, read into the hold'em engine's tables and judged there, and the same on the compiled rules."""

from itertools import pairwise

import numpy as np
import pytest

import treeplex as tp
from treeplex.errors import PolicyError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.policies.heads import BEST, MATCHED, SOFTMAX
from treeplex.forms.policies.neural import NeuralPolicy
from treeplex.forms.policies.views import WORDS, probe
from treeplex.holdem.betting.bet_plan import FixedLimit
from treeplex.holdem.cards.format import Format, small
from treeplex.holdem.policies.network import average_of_network, check_fits
from treeplex.holdem.rules.dealt import DealtSpot
from treeplex.holdem.spots.known import all_hands, flop_holdem, leduc_holdem
from treeplex.holdem.spots.spot import Spot


def limit(form: Format, raises: int) -> Spot:
    bets = FixedLimit((2.0, *[4.0] * (form.streets - 1)), (raises,) * form.streets)
    return Spot((), 2.0, 100.0, all_hands(form), bets, format=form)


def network(spot: Spot, seed: int = 0, *, members: int = 1, shared: bool = False, head: str = SOFTMAX) -> NeuralPolicy:
    """A random one, far from uniform."""
    random, view = np.random.default_rng(seed), probe(DealtSpot(spot)).view
    sizes = [len(view.scale) + (2 if shared else 0), 20, 17, len(view.actions)]

    def layers() -> list[tuple[np.ndarray, np.ndarray]]:
        return [
            (
                random.normal(0.0, 1.5 / np.sqrt(before), (after, before)).astype(np.float32),
                random.normal(size=after).astype("f4"),
            )
            for before, after in pairwise(sizes)
        ]

    weights = None if members == 1 else random.random((members, 2))
    return NeuralPolicy("", 2, view, [layers() for _ in range(1 if shared else 2 * members)], head=head, weights=weights)


PAIRS = limit(small(ranks=3, suits=2, hole=2, deal=(0, 1)), 1)
STREETS = limit(small(ranks=2, suits=3, hole=1, deal=(0, 1, 1)), 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spot", "options"),
    [
        (leduc_holdem(), {}),
        (leduc_holdem(), {"shared": True}),
        (leduc_holdem(), {"members": 3, "head": MATCHED}),
        (PAIRS, {"head": BEST}),
        (STREETS, {"members": 2}),
        pytest.param(limit(small(ranks=4, suits=2, hole=2, deal=(0, 3)), 1), {}, marks=pytest.mark.slow),
    ],
)
def test_it_is_worth_the_same_as_on_the_compiled_rules(spot: Spot, options: dict[str, object]) -> None:
    """The rules are compiled history by history, and each infoset's row is made by itself: nothing is shared but the rows."""
    policy, compiled = network(spot, **options), compile_game(DealtSpot(spot))  # type: ignore[arg-type]
    expected, found = tp.judge(compiled, policy.on(compiled)), tp.judge(spot, policy)
    np.testing.assert_allclose(found.value, expected.value, rtol=1e-6, atol=1e-6)
    assert found.exploitability == pytest.approx(expected.exploitability, rel=1e-6)


def test_a_network_that_says_nothing_is_uniform() -> None:
    policy = network(leduc_holdem())
    blank = [[(0.0 * matrix, 0.0 * biases) for matrix, biases in layers] for layers in policy.networks]
    uniform = tp.judge(leduc_holdem(), "uniform")
    found = tp.judge(leduc_holdem(), NeuralPolicy("", 2, policy.view, blank))
    assert found.exploitability == pytest.approx(uniform.exploitability, rel=1e-6)
    assert found.value == pytest.approx(uniform.value, rel=1e-6)


@pytest.mark.slow
def test_flop_holdem_uniform_by_a_network() -> None:
    policy = network(flop_holdem(1))
    blank = [[(0.0 * matrix, 0.0 * biases) for matrix, biases in layers] for layers in policy.networks]
    uniform = tp.judge(flop_holdem(1), "uniform")
    found = tp.judge(flop_holdem(1), NeuralPolicy("", 2, policy.view, blank))
    assert found.exploitability == pytest.approx(uniform.exploitability, rel=1e-6)


def test_threads_change_nothing_and_boards_are_counted() -> None:
    spot, told = PAIRS, list[tuple[int, int]]()
    game, policy = tp.holdem.compile(spot), network(spot, members=2)
    one = average_of_network(policy, game, watch=lambda done, total: told.append((done, total)))
    assert np.array_equal(one, average_of_network(policy, game, threads=2))
    boards = sum(map(len, game.boards))
    assert told == [(done, 2 * boards) for done in range(1, 2 * boards + 1)]


def test_networks_of_other_shapes_are_refused() -> None:
    other = network(leduc_holdem(4))
    with pytest.raises(PolicyError, match=r"has \d+ inputs and \d actions, but .* has \d+ and \d; train one for this spot"):
        check_fits(other, DealtSpot(leduc_holdem()))
    words = probe(DealtSpot(leduc_holdem()), WORDS).view
    layers = [(np.zeros((len(words.actions), len(words.scale)), np.float32), np.zeros(len(words.actions), np.float32))]
    with pytest.raises(PolicyError, match=r"uses features=words, .*; train one with features=tensor"):
        check_fits(NeuralPolicy("", 2, words, [layers, layers]), DealtSpot(leduc_holdem()))
