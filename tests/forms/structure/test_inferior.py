"""Informationally inferior games: definition 3.14 over all strategies, and what the command says."""

import json
from itertools import product
from pathlib import Path

import pytest

from tests.commands import call
from tests.tree_games import Sight, TreeForm, everything, nothing
from treeplex.errors import GameError
from treeplex.forms.structure.inferior import informationally_inferior

SIGHTS: tuple[Sight, ...] = (nothing, lambda moves: moves[0], lambda moves: moves[-1], lambda moves: sum(moves), everything)
CHOICES = [*product(range(2), range(5))]
"""What the second and the third mover see, by number."""


def strategies(sight: Sight, depth: int) -> set[tuple[int, ...]]:
    """The pure strategies of a mover with two actions, each as what is done after all histories of that length."""
    histories = [*product((0, 1), repeat=depth)]
    seen = [str(sight(moves)) for moves in histories]
    numbers = {each: number for number, each in enumerate(dict.fromkeys(seen))}
    return {tuple(chosen[numbers[each]] for each in seen) for chosen in product((0, 1), repeat=len(numbers))}


@pytest.mark.parametrize("poorer", CHOICES, ids=str)
def test_strategy_sets_are_contained(poorer: tuple[int, int]) -> None:
    for richer in CHOICES:
        games = [TreeForm((0, 1, 2), [nothing, SIGHTS[a], SIGHTS[b]], [2, 2, 2], 3) for a, b in (poorer, richer)]
        (one, two), (three, four) = (
            [strategies(SIGHTS[number], depth) for depth, number in enumerate(numbers, 1)] for numbers in (poorer, richer)
        )
        contained = one <= three and two <= four and (one, two) != (three, four)
        assert bool(informationally_inferior(*games)) == contained


def test_where_it_fails() -> None:
    first, last = (TreeForm((0, 1, 2), [nothing, nothing, sight], [2, 2, 2], 3, name="other") for sight in SIGHTS[1:3])
    found = informationally_inferior(last, first)
    assert (found.holds, found.why) == (False, "player 2 can tell [a, a] from [a, b], but not in other")
    assert informationally_inferior(first, first).why == "everybody knows as much as in other"
    twice = TreeForm((0, 1, 0), [nothing, nothing, nothing], [2, 2, 2])
    assert informationally_inferior(twice, twice).why == "player 0 moves again after [a, a]"
    with pytest.raises(GameError, match="other and tree_form differ in more than the players' information"):
        informationally_inferior(first, TreeForm((0, 1, 2), [nothing, nothing, nothing], [2, 2, 3], 3))


def test_a_forced_move_tells_nothing() -> None:
    """An infoset with one action may be split as one likes: there are no more strategies."""
    one, two = (TreeForm((0, 1), [nothing, sight], [2, 1], name="game") for sight in (nothing, everything))
    assert informationally_inferior(one, two).why == "everybody knows as much as in game"


def test_command(tmp_path: Path) -> None:
    text = 'EFG 2 R "" {"0" "1"}\np "" 1 1 "" {"a" "b"} 0\np "" 2 1 "" {"c" "d"} 0\nt "" 1 "" {1, -1}\nt "" 2 "" {-1, 1}\n'
    text += 'p "" 2 %d "" {"c" "d"} 0\nt "" 3 "" {-1, 1}\nt "" 4 "" {1, -1}\n'
    files = [tmp_path / name for name in ("poorer.efg", "richer.efg")]
    for number, file in enumerate(files, 1):
        file.write_text(text % number)
    shown = call("info", files[0], "--inferior-to", files[1])[0]
    assert "yes" in shown.split("what players know")[1]
    found = json.loads(call("info", files[1], "--inferior-to", files[0], "--json")[0])
    assert found["inferior_to"]["holds"] is False
    assert "cannot tell" not in found["inferior_to"]["why"]
