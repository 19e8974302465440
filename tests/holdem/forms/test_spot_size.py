"""How large a spot is, found without building it: the same numbers as compiling it gives."""

from time import process_time

import pytest

from tests.poker_games import SPOTS
from treeplex.errors import SpecError
from treeplex.holdem.betting import tree_size as counting
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.betting.tree import betting_tree
from treeplex.holdem.betting.tree_size import betting_size
from treeplex.holdem.cards.format import HOLDEM, royal
from treeplex.holdem.forms.compile_spot import compile_spot
from treeplex.holdem.forms.spot_size import spot_size
from treeplex.holdem.spots.known import all_hands, holdem
from treeplex.holdem.spots.spot import Spot

WIDE, NARROW = "22+,A2s+,K9s+,ATo+", "QQ-99,AQs+,AsKd"
BETS = BetPlan.same("50%,a", "60%,a")
LARGE = {
    **{board: holdem(board, WIDE, NARROW, pot=200, stack=900, bets=BETS) for board in ("Td9d6hQc", "TdTc6h6s", "Td9d6hQc2s")},
    **{f"{board}, alike": holdem(board, WIDE, WIDE, pot=200, stack=900, bets=BETS) for board in ("Td9d6hQc", "TdTc6h6s")},
    "flop": holdem("7c7d7h", "QQ+,AKs", "QQ+,AKs", pot=20, stack=40, bets=BetPlan.same("a", "")),
    "monotone flop": holdem("AsKsQs", "JJ+", "JJ+,7h7d", pot=20, stack=40, bets=BetPlan.same("50%", "")),
}


@pytest.mark.slow_cases("flop-True", "flop-False", "monotone flop-True", "monotone flop-False")
@pytest.mark.parametrize("isomorphism", [True, False])
@pytest.mark.parametrize("spot", [*SPOTS.values(), *LARGE.values()], ids=[*SPOTS, *LARGE])
def test_sizes_are_those_of_the_compiled_spot(spot: Spot, isomorphism: bool) -> None:
    found, true = spot_size(spot, isomorphism=isomorphism), compile_spot(spot, isomorphism=isomorphism).size
    for name in ("nodes", "boards", "decisions", "stored", "infosets", "form_bytes", "exact"):
        assert getattr(found, name) == getattr(true, name), name
    assert (found.extent.streets == true.extent.streets).all()
    assert (found.extent.hands, found.extent.kept) == (true.extent.hands, true.extent.kept)
    assert found.extent.returned == pytest.approx(true.extent.returned, rel=0.25)  # of the largest group of boards


def test_betting_with_many_states_is_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    spot = holdem("Td9d6h", "AA", "KK", pot=2000, stack=20000, bets=BetPlan.same("33%,75%,150%", "2.5x,a"))
    true = len(betting_tree(spot))
    assert (betting_size(spot.betting).nodes, betting_size(spot.betting).exact) == (true, True)
    monkeypatch.setattr(counting, "MOST_STATES", 150)
    found = betting_size(spot.betting)
    assert not found.exact
    assert found.nodes == pytest.approx(true, rel=0.1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "bets", [BetPlan.same("10%,20%,33%,50%,75%,100%,150%,a", "2.2x,2.7x,3x,4x"), BetPlan.same("1c,2c,3c", "1c,2c,3c")]
)
def test_too_much_betting_is_refused_before_it_is_built(bets: BetPlan) -> None:
    spot, begun = holdem("Td9d6h", "AA", "KK", pot=20, stack=97000, bets=bets), process_time()
    with pytest.raises(SpecError, match="more than 2,000,000 nodes; offer fewer sizes"):
        compile_spot(spot)
    assert process_time() - begun < 15


def test_holdem_before_the_flop_is_refused_at_once() -> None:
    """All hands of both players, 52 cards: no board is dealt."""
    spot = Spot((), 0, 200, all_hands(HOLDEM), BetPlan.same("100%", "a"), blinds=(1, 2))
    begun = process_time()
    assert spot_size(spot).boards == (1, 1755, 63193, 2554656)
    with pytest.raises(SpecError, match=r"from preflop on there are 2,619,605 boards .* GB of memory; give a flop or turn"):
        compile_spot(spot)
    assert process_time() - begun < 3
    small = Spot((), 0, 20, all_hands(royal()), BetPlan.same("", "a"), format=royal(), blinds=(1, 2))
    assert sum(spot_size(small).boards) < 20_000
