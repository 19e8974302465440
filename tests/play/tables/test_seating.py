"""Who sits down, and at which table."""

import pytest

from treeplex.errors import SpecError
from treeplex.play.tables.seating import table_for


@pytest.mark.parametrize("game", ["holdem(stack=1)", "holdem(ante=300)"])
def test_no_table_at_which_nobody_could_decide(game):
    with pytest.raises(SpecError, match="nobody has a decision after the blinds"):
        table_for(game, "uniform")
