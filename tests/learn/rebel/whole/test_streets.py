"""Games whose streets cannot be searched, or between whose streets nothing lies, are refused at once."""

import pytest

import treeplex as tp
from treeplex.errors import SpecError
from treeplex.learn.rebel.settings import WholeRebelSettings
from treeplex.learn.rebel.whole.streets import beware, called_streets, check_streets

DEEP = "holdem(stack=100,preflop=[2.5bb;3x;a],sizes=[75%;a],raises=[4;3;3;3])"


def public(spec):
    return tp.load(spec).public


@pytest.mark.parametrize(
    ("spec", "changes", "shown"),
    [
        ("holdem(ranks=5,suits=2,stack=[8;1],sizes=[a])", {}, "no player has a decision"),
        ("holdem(ranks=5,suits=2,stack=2,sizes=[a])", {}, "nothing to learn between streets"),
        ("holdem(ranks=5,suits=2,stack=4,sizes=[a],limps=false)", {}, "nothing to learn between streets"),
        ("holdem(stack=100)", {}, r"the betting before the flop has at least .* decisions, too many .*raises=\[4;3;3;3\]"),
        ("holdem(stack=20,preflop=[2.5bb;a],raises=[2;9;9;9])", {"stacks": (20, 400)}, "the betting on the flop has at least"),
    ],
)
def test_what_cannot_be_learned(spec, changes, shown):
    with pytest.raises(SpecError, match=shown):
        check_streets(public(spec), WholeRebelSettings().changed(changes))


def test_memory_for_a_search():
    game = public(DEEP)
    check_streets(game, WholeRebelSettings(), 10**9)
    with pytest.raises(SpecError, match=r"a search on 8 boards needs at least .* but 20 MB are free; .*, or boards=1"):
        check_streets(game, WholeRebelSettings(), 2 * 10**7)
    check_streets(game, WholeRebelSettings(boards=1), 2 * 10**7)


def test_streets_that_are_called_down():
    rules = tp.load(DEEP).rules
    assert [table.street for table in called_streets(rules)] == [0, 1, 2, 3]
    assert {table.paid for table in called_streets(rules)} == {(2, 1), (2, 2)}


def test_many_single_hands_are_doubted():
    assert "bins=48" in beware(public(DEEP), WholeRebelSettings())
    assert not beware(public(DEEP), WholeRebelSettings(bins=48))
    assert not beware(public("holdem(ranks=5,suits=2,stack=8,sizes=[a])"), WholeRebelSettings())
