"""Situations at the end of a street: means over the next card, and a short training on them."""

import shlex
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from treeplex import agent, train
from treeplex.errors import SpecError
from treeplex.holdem.spots.files import read_spot_file
from treeplex.learn.first_street.search import search_spot
from treeplex.learn.hand_values.inference import hand_function
from treeplex.learn.hand_values.kind import HandValuesKind
from treeplex.learn.hand_values.net import NET, read_hand_net
from treeplex.learn.hand_values.settings import HandValueSettings
from treeplex.learn.hand_values.shipped import shipped_hand_net
from treeplex.learn.hand_values.source import HandSource
from treeplex.learn.hand_values.street_ends import end_situations

ENDS = HandValueSettings(
    street="flop", at="end", labels="network", hands=200, situations=4, per_board=2, sampled=32, width=8, burn_in=64
)


def test_without_betting_every_value_is_the_equity() -> None:
    found = end_situations(ENDS, 2, np.random.default_rng(3), lambda rows: np.zeros((len(rows), 1), np.float32))
    assert found[0].board is found[1].board
    wide, narrow = ((each.reach > 0).sum(axis=1) for each in found)
    assert (wide == len(found[0].board.held)).all()
    assert (narrow <= 300).all()
    for each in found:
        known = each.reach[:, each.board.held] > 0
        np.testing.assert_allclose(each.worth[known], each.equity[known] - 0.5, atol=2e-6)
        assert np.abs(each.equity - 0.5).max() > 0.2


def test_a_network_for_the_end_of_a_street_is_trained_and_used(tmp_path: Path) -> None:
    training = train(None, "hand-values", settings=ENDS, out=tmp_path / "a run")
    assert training.records[-1].numbers["rows"] == 2 * 2 * 32  # one of the two boards is held out
    file = tmp_path / "a run" / NET
    assert (read_hand_net(file).street, read_hand_net(file).at) == ("flop", "end")
    ((command, _),) = HandValuesKind().next_steps(training)
    assert shlex.split(command)[-1] == f"resolver(net={file})"
    with pytest.raises(SpecError, match="at the end of the flop; give a network for the start of a street"):
        hand_function(file)
    with pytest.raises(SpecError, match="at the end of the flop, for resolver"):
        search_spot(read_spot_file("examples/spots/turn.yaml").spot(), tmp_path / "a run", iterations=1)
    assert agent(f"resolver(net={file})", "holdem(stack=200)") is not None
    with pytest.raises(SpecError, match="at the start of the turn; give a network for the end of the flop"):
        agent(f"resolver(net={shipped_hand_net('turn')})", "holdem(stack=200)")


def test_the_shipped_network_is_near_the_means_over_turn_cards() -> None:
    net, turn = read_hand_net(shipped_hand_net("flop", "end")), hand_function(shipped_hand_net("turn"))
    tests = [each for seed in (5, 6) for each in end_situations(ENDS, 4, np.random.default_rng((9, seed)), turn)]
    found = [(each.weights * np.abs(net.worth(each) - each.worth)).sum() for each in tests]
    shown = [(each.weights * np.abs(each.equity - 0.5 - each.worth)).sum() for each in tests]
    assert np.mean(found) < 0.4 * np.mean(shown)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"labels": "solves"}, "at=end needs labels=network"),
        ({"street": "turn"}, "at=end is for flops"),
        ({"format": "royal"}, "format=royal needs labels=solves"),
        ({"situations": 5}, "situations=5 is no multiple of per_board=2"),
    ],
)
def test_settings_that_contradict_each_other_are_rejected(changes: dict[str, object], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        HandSource(ENDS.changed(changes))
