"""Leaf values of a wrong shape or that are no numbers are refused, in one line that names the leaf and its network."""

import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from treeplex.errors import AlgorithmError
from treeplex.search import METHODS, Belief, Horizon, SearchAgent, SubgameSearch, cut, public_tree
from treeplex.search.subgames.subgame import Places, Ranges

RULES = public_tree("leduc_poker")
SUBGAME = cut(RULES, [Belief.root(RULES)], Horizon(2))
COUNT, WIDTHS = len(SUBGAME.leaves), SUBGAME.leaves.widths


class Network:
    """Stands for a module of PyTorch."""


class Custom:
    """A leaf that returns whatever it is given."""

    def __init__(self, values: Any) -> None:
        self.values, self.net = values, Network()

    def __call__(self, places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Any:
        return self.values


def zeros() -> tuple[np.ndarray, ...]:
    return tuple(np.zeros((COUNT, width)) for width in WIDTHS)


def with_entry(value: float) -> tuple[np.ndarray, ...]:
    found = zeros()
    found[0][1, 2] = value
    return found


@pytest.mark.parametrize("method", ["dcfr", "lcfr-avg-simultaneous", "fp"])
@pytest.mark.parametrize(
    ("values", "message"),
    [
        (None, r"must return a tuple with one float64 array \[K, H\] per player, not None"),
        (np.zeros(3), r"per player, not ndarray of shape \(3,\)"),
        ((np.zeros((COUNT, WIDTHS[0])),), "per player, not tuple of length 1"),
        (
            (np.zeros((COUNT, WIDTHS[0] + 1)), np.zeros((COUNT, WIDTHS[1]))),
            rf"player 0 of shape \({COUNT}, {WIDTHS[0]}\) \(leaves, hands\), not ndarray of shape \({COUNT}, {WIDTHS[0] + 1}\)",
        ),
        ((None, None), "of player 0 of shape .*, not NoneType"),
        (tuple(np.full((COUNT, width), "a") for width in WIDTHS), "must return float64 values, not <U1"),
        (with_entry(np.nan), "must return finite values, not nan for hand 2 of player 0 at "),
        (with_entry(-np.inf), "must return finite values, not -inf for hand 2 of player 0 at "),
    ],
)
def test_wrong_values_are_refused(method: str, values: Any, message: str) -> None:
    if method not in METHODS:
        method = next(name for name in METHODS if name.startswith(method.split("-")[0]))
    search = SubgameSearch(SUBGAME, METHODS[method], Custom(values))
    with pytest.raises(AlgorithmError, match=f"^Custom with network Network .*{message}") as error:
        search.run(3)
    assert "\n" not in str(error.value)


def test_right_values_pass_and_what_is_not_asked_for_is_not_looked_at() -> None:
    whole, part = zeros(), with_entry(np.nan)
    SubgameSearch(SUBGAME, METHODS["dcfr"], Custom(whole)).run(3)

    def one(places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Any:
        return whole if player == 0 else part  # player 1 is asked for: player 0's values are left out

    SubgameSearch(SUBGAME, METHODS["dcfr"], one).run(3)


def test_values_that_contradict_each_other_warn() -> None:
    ones = tuple(np.ones((COUNT, width)) for width in WIDTHS)
    search = SubgameSearch(SUBGAME, METHODS["dcfr"], Custom(ones))
    search.run(64)
    with pytest.warns(UserWarning, match="values of Custom with network Network are inconsistent"):
        first, second = search.mean_values()
    assert first[0] + second[0] > 0.5
    whole = cut(RULES, [Belief.root(RULES)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exact = SubgameSearch(whole, METHODS["dcfr"], Custom(None))
        exact.run(64)
        exact.mean_values()


def test_an_agent_needs_settings_where_the_leaf_has_none() -> None:
    with pytest.raises(AlgorithmError, match="Custom with network Network has no search settings; give settings"):
        SearchAgent(RULES, Custom(zeros()))
    settings = SimpleNamespace(method="dcfr", iterations=2, horizon=Horizon(2), warm=None)
    leaf = Custom(zeros())
    leaf.searching = settings  # type: ignore[attr-defined]
    assert SearchAgent(RULES, leaf).settings is settings
