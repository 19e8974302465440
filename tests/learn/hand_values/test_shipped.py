"""Networks for hands that come with the library: on new situations far closer to their solution than the showdown is."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from treeplex.errors import SpecError  # noqa: E402
from treeplex.learn.hand_values.net import read_hand_net  # noqa: E402
from treeplex.learn.hand_values.settings import END, HandValueSettings  # noqa: E402
from treeplex.learn.hand_values.shipped import shipped_hand_net  # noqa: E402
from treeplex.learn.hand_values.situations import draw  # noqa: E402


@pytest.mark.parametrize(("street", "count"), [("river", 12), pytest.param("turn", 6, marks=pytest.mark.slow)])
def test_a_shipped_network_beats_the_showdown(street: str, count: int) -> None:
    net, generator = read_hand_net(shipped_hand_net(street)), np.random.default_rng(77)
    tests = [draw(HandValueSettings(street=street), generator) for _ in range(count)]
    found = [(each.weights * np.abs(net.worth(each) - each.worth)).sum() for each in tests]
    shown = [(each.weights * np.abs(each.equity - 0.5 - each.worth)).sum() for each in tests]
    assert np.mean(found) < 0.6 * np.mean(shown)


def test_there_is_none_for_other_streets() -> None:
    assert read_hand_net(shipped_hand_net("flop")).street == "flop"
    assert read_hand_net(shipped_hand_net("flop", END)).at == END
    with pytest.raises(SpecError, match="for the start of the next street is shipped; known: flop, flop-end, river, turn"):
        shipped_hand_net("")
