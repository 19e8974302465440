"""Rivers solved on tensors against the same solved by compiled kernels."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests.learn.torch.devices import DEVICE  # noqa: E402
from treeplex.errors import AlgorithmError  # noqa: E402
from treeplex.holdem.betting.bet_plan import BetPlan  # noqa: E402
from treeplex.holdem.cards.format import HOLDEM, small  # noqa: E402
from treeplex.holdem.spots.known import all_hands  # noqa: E402
from treeplex.holdem.spots.spot import Rake, Spot  # noqa: E402
from treeplex.learn.rebel.turns.river_targets import River  # noqa: E402
from treeplex.learn.rebel.turns.tensor_rivers import solved_rivers  # noqa: E402

torch.set_num_threads(1)
DECK = small(ranks=6, suits=4, hole=2, deal=(0, 3, 1, 1))


def drawn(spot: Spot, seed: int) -> tuple[Spot, tuple[np.ndarray, np.ndarray]]:
    generator, hands = np.random.default_rng(seed), len(spot.format.hands)
    first, second = (generator.random(hands) ** 3 * (generator.random(hands) < 0.8) for _ in "01")
    return spot, (first, second)


def test_rivers_of_different_bettings_are_those_of_the_kernels() -> None:
    """Boards, pots, stacks and hence betting trees differ; ties, cards that block, hands that nobody holds.

    With other ranges a hand may win and lose just as often, so that all raises are worth the same, and rounding decides.
    """
    generator, rivers = np.random.default_rng(0), []
    for number, stack in enumerate((700.0, 9_000.0, 700.0, 1_500.0)):
        board = tuple(int(card) for card in generator.choice(DECK.deck, 5, replace=False))
        spot = Spot(board, 1_000.0 + 100.0 * number, stack, all_hands(DECK), BetPlan.same("50%,100%,a", "75%,a"), format=DECK)
        rivers.append(drawn(spot, number + 2))
    found = solved_rivers(rivers, 24, 8, device=DEVICE, dtype=torch.float64)
    for (spot, ranges), river in zip(rivers, found, strict=True):
        expected = River.solved(spot, ranges, 24, 8, storage="float64")
        for player in (0, 1):
            np.testing.assert_allclose(river.worth[player], expected.worth[player], atol=1e-9)
        for ours, theirs in zip(river.row(), expected.row(), strict=True):
            np.testing.assert_allclose(ours, theirs, atol=1e-6)


def test_single_hands_of_the_whole_deck_and_no_rake() -> None:
    spot = Spot((3, 20, 33, 47, 48), 2_000.0, 4_000.0, all_hands(HOLDEM), BetPlan.same("100%", "a"))
    ((_, ranges),) = asked = [drawn(spot, 5)]
    (found,) = solved_rivers(asked, 6, 0, device=DEVICE, dtype=torch.float64, shown=False)
    expected = River.solved(spot, ranges, 6, 0, shown=False, storage="float64")
    np.testing.assert_allclose(found.row()[1], expected.row()[1], atol=1e-6)
    with pytest.raises(AlgorithmError, match="does not support rake"):
        solved_rivers([(replace(spot, rake=Rake(0.05, 3.0)), ranges)], 1, 0, device=DEVICE)
