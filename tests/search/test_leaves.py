"""Every kind of leaf values keeps one protocol, over pairs of hands and in hold'em, on any street."""

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from treeplex.errors import AlgorithmError
from treeplex.forms.sources.load import public_tree
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.cards.cards import parse_cards
from treeplex.holdem.cards.format import small
from treeplex.holdem.search.leaves.binned_rivers import BinnedRivers
from treeplex.holdem.search.subgames.subgame import cut_spot
from treeplex.holdem.spots.known import all_hands
from treeplex.holdem.spots.spot import Spot
from treeplex.learn.common.encoding import Encoding
from treeplex.search import ExactLeaf, LeafValue, NoLeaf, ZeroLeaf, cut
from treeplex.search.leaf import SingleEntryCache
from treeplex.search.perfect_information import CertainLeaf
from treeplex.search.subgames.beliefs import Belief
from treeplex.search.subgames.horizon import Horizon
from treeplex.search.subgames.subgame import Ranges, Subgame

DECK = small(ranks=5, suits=2, hole=2, deal=(0, 3, 1, 1))
PLACES = ["leduc", "dice", "flop", "flop and turn", "turn"]


@cache
def subgame(name: str) -> Subgame:
    if name in ("leduc", "dice"):
        rules = public_tree({"leduc": "leduc_poker", "dice": "liars_dice(dice_sides=3)"}[name])
        return cut(rules, [Belief.root(rules)], Horizon(2))
    board = parse_cards("TcJdQcKd" if name == "turn" else "TcJdQc")
    return cut_spot(Spot(board, 2.0, 3.0, all_hands(DECK), BetPlan.same("50%,a", ""), format=DECK), 1 + ("and" in name))


def network(places: Subgame) -> LeafValue:
    pytest.importorskip("torch")
    from treeplex.learn.common.value_net import value_net
    from treeplex.learn.rebel.network_leaf import NetworkLeaf

    encoding = Encoding(places.game)
    return NetworkLeaf(encoding, value_net(encoding.inputs, encoding.outputs, width=8, layers=1, seed=0))


def binned(places: Subgame) -> LeafValue:
    if places.game.name_of(places.leaves.states[0]).count("of the betting on") == 0 or len(places.leaves.states[0][1]) != 4:  # type: ignore[index]
        pytest.skip("bins are for turns")
    return BinnedRivers(lambda rows: np.tile(np.linspace(-0.1, 0.1, rows.shape[1] - 1, dtype=np.float32), (len(rows), 1)), 8)


LEAVES: dict[str, Callable[[Subgame], LeafValue]] = {
    "zero": lambda places: ZeroLeaf(),
    "exact": lambda places: ExactLeaf(iterations=3),
    "network": network,
    "bins": binned,
}


def reaches(places: Subgame, seed: int = 0) -> Ranges:
    """Random reaches of possible hands at the leaves."""
    generator = np.random.default_rng(seed)
    return tuple(generator.random(can.shape) * can for can in places.leaves.possible)


@pytest.mark.slow_cases(
    "exact-flop",
    "exact-flop and turn",
    "exact-turn",
    "network-leduc",
    "network-dice",
    "network-flop",
    "bins-flop and turn",
    "bins-turn",
)
@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize("kind", LEAVES)
def test_values_of_all_hands(kind: str, where: str) -> None:
    """[K, H_i] for each player, finite, the same when asked again; what one player gets is part of what both get."""
    at = subgame(where)
    leaf, reached = LEAVES[kind](at), reaches(at)
    both = leaf(at.leaves, reached, reached)
    assert [found.shape for found in both] == [(len(at.leaves), width) for width in at.leaves.widths]
    assert all(np.isfinite(found).all() for found in both)
    for player in range(at.game.players):
        np.testing.assert_allclose(leaf(at.leaves, reached, reached, player)[player], both[player], atol=1e-6)
    for again, found in zip(leaf(at.leaves, reached, reached), both, strict=True):
        np.testing.assert_array_equal(again, found)


@pytest.mark.slow_cases("bins-flop and turn")
@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize("kind", LEAVES)
def test_the_size_of_reach_does_not_matter(kind: str, where: str) -> None:
    at = subgame(where)
    leaf, reached = LEAVES[kind](at), reaches(at)
    doubled = tuple(2.0 * own for own in reached)
    for found, expected in zip(leaf(at.leaves, doubled, doubled), leaf(at.leaves, reached, reached), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("where", PLACES)
def test_exact_values_sum_to_zero(where: str) -> None:
    """Over pairs of hands, whatever is believed and reached."""
    at = subgame(where)
    believed, reached = reaches(at, 1), reaches(at, 2)
    values = ExactLeaf(iterations=3)(at.leaves, believed, reached)
    total = [
        (own * value * at.leaves.opposing(reached, player)).sum(axis=1)
        for player, (own, value) in enumerate(zip(reached, values, strict=True))
    ]
    assert total[0] == pytest.approx(-total[1], abs=1e-9)
    assert np.abs(total[0]).max() > 1e-3


def test_what_is_prepared_goes_with_the_places() -> None:
    """A leaf keeps what it compiled for the last places only."""
    made: list[str] = []
    prepared: SingleEntryCache[str, str] = SingleEntryCache(lambda key: made.append(key) or key)  # type: ignore[func-returns-value]
    keys = ["one", "two"]
    assert [prepared(keys[k]) for k in (0, 0, 1, 0)] == ["one", "one", "two", "one"]
    assert made == ["one", "two", "one"]
    prepared.forget()
    prepared(keys[0])
    assert made == ["one", "two", "one", "one"]


def test_exact_leaves_keep_one_batch() -> None:
    rules = public_tree("leduc_poker")
    leaf = ExactLeaf(iterations=1)
    for _ in range(3):
        at = cut(rules, [Belief.root(rules)], Horizon(2))
        leaf(at.leaves, reaches(at), reaches(at))
    kept = leaf.endgames._kept
    assert kept is not None
    assert kept[0] is at.leaves


def test_what_is_refused() -> None:
    at, flop = subgame("leduc"), subgame("flop")
    with pytest.raises(AlgorithmError, match="need values"):
        NoLeaf()(at.leaves, reaches(at), reaches(at))
    with pytest.raises(AlgorithmError, match="strength bins support hold'em turns"):
        BinnedRivers(lambda rows: rows, 8)(at.leaves, reaches(at), reaches(at))
    with pytest.raises(AlgorithmError, match="with one card to come"):
        BinnedRivers(lambda rows: rows, 8)(flop.leaves, reaches(flop), reaches(flop))
    with pytest.raises(AlgorithmError, match="exact values need the leaves of a subgame"):
        ExactLeaf()(flop.roots, flop.ranges, flop.ranges)


def test_certain_leaves_are_asked_once() -> None:
    asked: list[int] = []

    def counted(places: object, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        asked.append(1)
        return believed

    rules = public_tree("tic_tac_toe")
    at, leaf = cut(rules, [Belief.root(rules)], Horizon(2)), CertainLeaf(counted)
    for _ in range(3):
        leaf(at.leaves, reaches(at), reaches(at))
    assert len(asked) == 1
