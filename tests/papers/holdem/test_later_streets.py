"""The last streets of a spot by themselves: they lie where the whole spot has them, and are entered with its reach."""

import numpy as np
import pytest

from papers.holdem.later_streets import later_streets
from treeplex.errors import GameError
from treeplex.forms.sources.load import load
from treeplex.holdem.forms.compile_spot import CompiledSpot, compile_spot
from treeplex.holdem.forms.layout import board_part
from treeplex.holdem.forms.spot_form import store_of_policy
from treeplex.holdem.policies.judge import judging_crew
from treeplex.holdem.street_search.exact import whole_spot


@pytest.fixture(scope="module")
def whole() -> CompiledSpot:
    return compile_spot(whole_spot(load("holdem(ranks=3,suits=3,stack=4,sizes=[a])").public))


@pytest.mark.parametrize("dealt", [False, True])
@pytest.mark.parametrize("street", [1, 2, 3])
def test_boards_lie_where_the_whole_spot_has_them(whole: CompiledSpot, street: int, dealt: bool) -> None:
    later = later_streets(whole, street, dealt=dealt)
    assert later.stored_before == board_part(whole, street, 0, 0).start
    for offset, boards in enumerate(whole.boards[street:]):
        for player in (0, 1):
            here, there = (
                board_part(game, place, len(boards) - 1, player)
                for game, place in ((later.form, 1 + offset), (whole, street + offset))
            )
            assert (here.start + later.stored_before, here.stop + later.stored_before) == (there.start, there.stop)
    assert len(later.entrances) == len(later.ends) * len(whole.boards[street - 1 + dealt])


@pytest.mark.slow_cases("3")
@pytest.mark.parametrize("street", [1, 3])
def test_reach_is_what_is_left_of_the_hands_after_the_cards(whole: CompiledSpot, street: int) -> None:
    average, none = np.random.default_rng(0).random(whole.stored), np.zeros(0, np.float32)
    crew, store = judging_crew(whole, 1), store_of_policy(whole, average, none)
    crew.descend(0, average, none, store, streets=street)
    before, after = (later_streets(whole, street, dealt=dealt) for dealt in (False, True))
    reached, dealt = before.reaches(crew.work, 0), after.reaches(crew.work, 0)
    assert ((reached > 0).sum(axis=1) > (dealt > 0).sum(axis=1).max()).all()
    count = len(before.ends)
    for number, board in enumerate(whole.boards[street]):
        own, above = (k * count + np.arange(count) for k in (number, board.parent))
        free = after.entrances.possible[0][own]
        assert np.array_equal(dealt[own], reached[above] * free)


def test_what_is_refused(whole: CompiledSpot) -> None:
    with pytest.raises(GameError, match="streets 1 to 3 after its first one, not 4"):
        later_streets(whole, 4)
    with pytest.raises(GameError, match="streets 1 to 3 after its first one, not 0"):
        later_streets(whole, 0)
