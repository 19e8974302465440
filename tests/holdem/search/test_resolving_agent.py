"""The agent that solves again at hold'em, judged exactly on a small deck, and the values that it carries."""

import numpy as np
import pytest

from papers.resolving.spot_policy import policy_on_spot
from tests.spot_agents import small_spot
from treeplex.errors import GameError
from treeplex.holdem.forms.layout import board_part
from treeplex.holdem.rules.public import HoldemGame
from treeplex.holdem.search.subgames.subgame import HoldemSubgame
from treeplex.search import METHODS, ExactLeaf, Horizon, NoLeaf, SubgameSearch, cut, opponent_values
from treeplex.search.resolving.agent import ResolvingAgent
from treeplex.search.resolving.settings import ResolveSettings
from treeplex.search.subgames.beliefs import Belief
from treeplex.search.subgames.response import response_values
from treeplex.search.subgames.subgame import Subgame


def solved(iterations: int = 30) -> tuple[HoldemGame, SubgameSearch]:
    """A turn from uneven ranges."""
    game, generator = HoldemGame.of(small_spot()), np.random.default_rng(0)
    state = game.first_state()
    belief = Belief.of(game, state, tuple(generator.uniform(0.2, 1.0, len(can)) for can in game.possible(state)))
    search = SubgameSearch(cut(game, [belief]), METHODS["cfr+"], NoLeaf(), horizon=iterations)
    search.run(iterations)
    return game, search


@pytest.mark.parametrize("player", [0, 1])
def test_values_at_every_public_state(player: int) -> None:
    """They are what a subgame that begins there promises, by a best response computed in it alone."""
    game, search = solved()
    subgame, policy = search.subgame, search.average_policy()
    responses = response_values(subgame, policy, 1 - player)
    assert responses.at(()) == pytest.approx(opponent_values(subgame, policy, player)[0], nan_ok=True, abs=1e-9)
    belief = Belief(game, game.first_state(), tuple(own[0] for own in search.ranges))
    river = game.spot.format.deck[1]
    for path in ((), (0,), (1,), (0, 0, river), (0, 0, river, 1), (1, 1, river), (0, 1, 1, river)):
        at = belief
        for depth, label in enumerate(path):
            acts = game.options(at.state).player >= 0
            at = at.after(label, subgame.policy_at(subgame.find(0, path[:depth])[1], policy) if acts else None)
        if game.options(at.state).player < 0:
            continue
        expected = opponent_values(inner := cut(game, [at]), policy_in(inner, search), player)[0]
        assert responses.at(path) == pytest.approx(expected, nan_ok=True, abs=1e-9)


def policy_in(inner: Subgame, search: SubgameSearch) -> np.ndarray:
    """What a search found, in a subgame that begins later."""
    assert isinstance(inner, HoldemSubgame)
    found, average = np.zeros(inner.size), search.average_policy()
    for street, boards in enumerate(inner.whole.boards):
        forest = inner.whole.forests[street]
        for number, board in enumerate(boards):
            for player in (0, 1):
                hands = board.hands[player]
                rows = found[board_part(inner.whole, street, number, player)].reshape(-1, len(hands))
                for node, (_, first, count) in zip(forest.numbers[player], forest.nodes[player], strict=True):
                    path = tuple(inner.game.path_to(inner.game.state(node, board.cards)))
                    table = search.subgame.policy_at(search.subgame.find(0, path)[1], average)
                    rows[first : first + count] = table[:, hands]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("gadget", ["resolve", "maxmargin"])
def test_continual_resolving(gadget: str) -> None:
    """CFR+ reaches 0.0011 chips with so many iterations; the pot is 2."""
    spot = small_spot()
    agent = ResolvingAgent(HoldemGame.of(spot), ResolveSettings(gadget=gadget, iterations=80), remember=200)
    assert policy_on_spot(agent, spot).judge().exploitability < 0.003


def test_a_bet_outside_the_tree() -> None:
    agent = ResolvingAgent(HoldemGame.of(small_spot()), ResolveSettings(iterations=10))
    agent.policy()
    agent.see(0)
    agent.see(agent.add(2.0))
    table = agent.policy()
    assert agent.game.key != small_spot().identity
    assert table.shape == (2, 45)
    assert table.sum(axis=0) == pytest.approx(1.0)
    with pytest.raises(GameError):
        agent.add(99.0)
    agent.begin()
    assert agent.game.key == small_spot().identity


def test_a_street_that_is_cut_off() -> None:
    """The leaf stands before the card: all rivers are solved from there, and then the one that came."""
    game = HoldemGame.of(small_spot())
    leaf, horizon = ExactLeaf(iterations=3), Horizon(rounds=1)
    plain = ResolvingAgent(game, ResolveSettings(gadget="none", iterations=3), leaf, horizon=horizon)
    behind = ResolvingAgent(game, ResolveSettings(iterations=3), leaf, horizon=horizon)
    for agent in (plain, behind):
        agent.policy()
        for label in (0, 0, game.spot.format.deck[1]):
            agent.see(label)
    assert plain.policy().shape == (3, 45)
    assert behind.policy().shape == (3, 45)
    assert behind.searches == plain.searches == 3
