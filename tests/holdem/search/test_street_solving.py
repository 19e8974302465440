"""How streets are solved again: bet sizes are read before a hand is played."""

import pytest

from treeplex.errors import SpecError
from treeplex.holdem.search.street_solving import StreetSolving


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ({"bets": ("xx%", "a")}, "turn='xx%': cannot read the bet size 'xx%'; write sizes such as 50%"),
        ({"bets": ("50%", "50%;a")}, "river='50%;a': cannot read"),
        ({"start": 1, "bets": ("2.5x",)}, "flop='2.5x': bet size '2.5x': multiples such as 2.5x apply only to raises"),
        ({"later": "7q"}, "later='7q'"),
        ({"raises": "foo"}, "raises='foo'"),
    ],
)
def test_a_text_that_is_no_size_is_refused(given, shown):
    with pytest.raises(SpecError, match=shown) as refused:
        StreetSolving(**given).check()
    assert "[50%;a] for several sizes, none for no bet" in str(refused.value)


def test_sizes_that_are_read():
    StreetSolving(bets=("none", "50%,100c,2e,a"), later="50", raises="2.5x,a").check()
