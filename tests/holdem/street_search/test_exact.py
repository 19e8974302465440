"""What searches of whole hold'em play, written into the compiled game: against the judge of the hold'em engine."""

from dataclasses import replace

import numpy as np
import pytest

from treeplex.errors import GameError
from treeplex.forms.sources.load import load
from treeplex.holdem.street_search.exact import compiled_whole, judge_whole, searched_strategy, whole_spot
from treeplex.holdem.street_search.street import Cards, StreetSubgame
from treeplex.search.leaf import ZeroLeaf
from treeplex.search.methods import METHODS
from treeplex.search.settings import PlaythroughSettings
from treeplex.search.subgame_search import SubgameSearch
from treeplex.search.warm_start.begin import begin_search

NINE = "holdem(ranks=3,suits=3,stack=4,sizes=[a])"


@pytest.fixture(scope="module")
def game():
    return load(NINE).public


def searched(game, compiled, **changes):
    settings = PlaythroughSettings(**{"method": "cfr", "iterations": 1, "playthroughs": 1, **changes})
    return searched_strategy(game, ZeroLeaf(), settings, np.random.default_rng(0), compiled, drawn=settings.playthroughs > 1)


@pytest.mark.slow
def test_one_iteration_plays_uniformly_everywhere(game):
    compiled = compiled_whole(game)
    found = searched(game, compiled)
    assert (found > 0).all()
    uniform = judge_whole(compiled, np.ones(compiled.stored))
    assert judge_whole(compiled, found).exploitability == pytest.approx(uniform.exploitability, rel=1e-9)
    better = judge_whole(compiled, searched(game, compiled, iterations=20, method="dcfr"))
    assert better.exploitability < 0.5 * uniform.exploitability
    drawn = judge_whole(compiled, searched(game, compiled, iterations=20, method="dcfr", playthroughs=3))
    assert drawn.exploitability < 0.7 * uniform.exploitability


@pytest.mark.slow_cases("holdem(ranks=3,suits=3,stack=6,sizes=[50%;100%],river=[none],add_allin=1,merge=0.3)")
@pytest.mark.parametrize(
    "spec",
    [
        "holdem(ranks=3,suits=3,stack=5,sizes=[a],ip=[100%;a],oop_turn=[none],river=[none])",
        "holdem(ranks=3,suits=3,stack=4,sizes=[a],limps=false)",
        "holdem(ranks=3,suits=3,stack=6,preflop=[2bb;a],flop=[1bb;a],sizes=[a],river=[none])",
        "holdem(ranks=3,suits=3,stack=6,sizes=[50%;100%],river=[none],add_allin=1,merge=0.3)",
    ],
)
def test_plans_are_searched_as_they_are_judged(spec):
    game = load(spec).public
    compiled = compiled_whole(game)
    found = searched(game, compiled)  # compares the actions of both at every decision
    assert (found > 0).all()
    uniform = judge_whole(compiled, np.ones(compiled.stored))
    assert judge_whole(compiled, found).exploitability == pytest.approx(uniform.exploitability, rel=1e-9)


@pytest.mark.parametrize("more", ["raises=2", "rake=0.05", "stack=[4;6]", "dealer=0"])
def test_games_that_spots_cannot_say_are_refused(more):
    stack = "" if "stack" in more else "stack=6,"
    with pytest.raises(GameError, match="compiling full-game hold'em needs equal stacks"):
        whole_spot(load(f"holdem(ranks=5,suits=2,sizes=[a],{stack}{more})").public)


def test_a_guess_is_played_as_in_the_first_iterations(game):
    """A guess of the uniform policy leaves plain CFR where as many iterations that all met it would."""
    cards, both = Cards(game), np.ones((1, len(game.hands)))
    street = StreetSubgame.of(game, cards, game.rules.betting.root, [()], (both, both))

    class Uniform(ZeroLeaf):
        warm = 1

        @staticmethod
        def guess(street, decision, reached):
            count = len(street.betting.decisions[decision].actions)
            return np.full((count, *reached[0].shape), 1.0 / count)

    method = replace(METHODS["cfr"], updates="simultaneous")
    warm = begin_search(street, method, Uniform(), None, 10)
    cold = SubgameSearch(street, method, ZeroLeaf(), horizon=10)
    cold.run(1)
    assert warm.iteration == cold.iteration == 1
    assert np.allclose(warm.average, cold.average)
    # the last decisions of each player have no decisions of their own below, so best responses below change nothing there
    last = [k for k, own in enumerate(street.betting.decisions) if all(kind != "decision" for kind, _ in own.after)]
    assert last
    for number in last:
        assert np.allclose(street.block(warm.regrets, number), street.block(cold.regrets, number))
