"""Who sits down, and at which table."""

import pytest

from treeplex.errors import SpecError
from treeplex.forms.sources.load import load
from treeplex.search.tables.seating import agent_against_person, table_for


@pytest.mark.parametrize("game", ["holdem(stack=1)", "holdem(ante=300)"])
def test_no_table_at_which_nobody_could_decide(game):
    with pytest.raises(SpecError, match="no player has a decision after the blinds"):
        table_for(game, "uniform")


@pytest.mark.parametrize(("iterations", "think", "seconds"), [(None, None, 2.0), (None, "500ms", 0.5), (8, None, None)])
def test_how_long_an_agent_lets_a_person_wait(iterations, think, seconds):
    assert agent_against_person("search(depth=1)", load("kuhn_poker"), iterations, think, 0).think == seconds
