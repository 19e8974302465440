"""The settings of ``endgames``: sizes of all streets are read when it sits down, before any file."""

import pytest

import treeplex as tp
from treeplex.errors import SpecError
from treeplex.holdem.agents.endgames import EndgameSettings
from treeplex.search.named_agents.registry import agent


@pytest.mark.parametrize("text", ["turn=xx%", "turn=50%;a", "river=9z", "flop=zz", "later=2x", "raises=[50%;foo]"])
def test_sizes_are_refused_at_the_table(text):
    name = text.partition("=")[0]
    with pytest.raises(SpecError, match=rf"^{name}=.*\[50%;a\] for several"):
        agent(f"endgames(blueprint=nowhere,{text})", "holdem(ranks=5,suits=2,stack=20)")


def test_several_sizes_stand_in_brackets():
    found = EndgameSettings(**EndgameSettings.read_changes({"blueprint": "runs/x", "turn": ["50%", "a"], "river": 75}))
    assert (found.turn, found.river) == ("50%,a", "75")


@pytest.mark.slow
def test_a_blueprint_of_another_game_names_both(tmp_path):
    game = "holdem(ranks=5,suits=2,stack=8,sizes=[a])"
    tp.train(game, "blueprint", settings={"boards": 2, "deals": 2, "buckets": ()}, out=tmp_path / "run")
    for table, what in (("stack=9", "other stacks"), ("stack=8,blinds=[1;3]", "other blinds or another button")):
        with pytest.raises(SpecError) as found:
            agent(f"endgames(blueprint={tmp_path / 'run'})", f"holdem(ranks=5,suits=2,{table})")
        said = str(found.value)
        assert "is a blueprint of holdem(stack=8,sizes=[a],ranks=5,suits=2), but the table plays holdem(" in said
        assert f"with {what}; play holdem(stack=8," in said
