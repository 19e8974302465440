"""What wings add: every entry leads somewhere, and to what its field says."""

from collections.abc import Iterator, Mapping
from dataclasses import fields

import pytest

pytest.importorskip("torch")

import treeplex as tp
from treeplex.base.wings import Wing, named, provided, provided_by_name, wings
from treeplex.games.base import Game
from treeplex.games.parameters import GameInfo
from treeplex.games.registry import CORE, games
from treeplex.run.policy_source import PolicySource, sources
from treeplex.run.solve.solvable import Solvable

OTHERS = ("commands", "groups", "played_folders")
"""Fields that list modules, or settings of agents."""


def entries() -> Iterator[str]:
    """All entries of all wings."""
    for wing in wings():
        for field in fields(Wing):
            listed = getattr(wing, field.name)
            if field.name not in OTHERS:
                yield from listed.values() if isinstance(listed, Mapping) else listed


@pytest.mark.parametrize("entry", sorted({*entries()}))
def test_every_entry_leads_somewhere(entry: str) -> None:
    assert named(entry) is not None


def test_games_of_wings_are_called_what_they_are() -> None:
    added = provided_by_name("games")
    assert not added.keys() & CORE.keys()
    for name, entry in added.items():
        info = named(entry)
        assert isinstance(info, GameInfo)
        assert info.name == name
    assert [*games()] == [*CORE, *added]


def test_loaders_make_games_of_names() -> None:
    for text in provided_by_name("loaders"):
        if not text.startswith("."):
            game = tp.load(text)
            assert isinstance(game, Game)
            assert game.spec == text


def test_classes_are_of_their_kind() -> None:
    assert all(issubclass(each, Solvable) for each in provided("solvables"))
    assert all(isinstance(each, PolicySource) for each in sources())
