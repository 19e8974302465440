"""How likely others lead to infosets, against the probabilities of all histories."""

import numpy as np
import pytest

import treeplex as tp
from tests.engine.histories.test_episodes import random_policy, reach_probabilities
from treeplex.engine.histories.form import ACTOR, KEY
from treeplex.engine.histories.reaches import opposing_reaches
from treeplex.forms.compile.views.histories import histories_of
from treeplex.learn.neural.fitting.infosets import GameInfosets


@pytest.mark.parametrize("spec", ["kuhn_poker(players=3)", "leduc_poker"])
def test_times_own_reach_it_is_the_probability_of_the_infoset(spec: str) -> None:
    """Summed over its histories, where the player itself comes there."""
    game = tp.compile(spec)
    histories, layout, policy = histories_of(game), game.tree.infoset_layout, random_policy(game, 1)
    reach = reach_probabilities(histories, layout, policy[None], (0,) * game.players)
    decisions = histories.nodes[:, ACTOR] >= 0
    expected = np.bincount(histories.nodes[decisions, KEY], reach[decisions], len(layout))
    own = GameInfosets(game).strategy(policy)[game.tree.infoset_parent]
    assert own * opposing_reaches(histories, layout, policy) == pytest.approx(expected, abs=1e-14)
