"""The agent that searches while it plays: what it plays, what it believes, actions outside its tree."""

from collections.abc import Hashable, Sequence

import numpy as np
import pytest

from treeplex.engine.tree.sweeps import reach
from treeplex.errors import GameError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.sources.load import public_tree
from treeplex.games.public import Chance, Decision, PublicTree, Terminal, pair_state
from treeplex.search import ZeroLeaf
from treeplex.search.action_subset import ActionAbstraction
from treeplex.search.agents.searching import SearchAgent
from treeplex.search.play_distribution import playthrough_policy
from treeplex.search.settings import PlaythroughSettings
from treeplex.search.subgames.beliefs import Belief
from treeplex.search.subgames.horizon import fewer_nodes

DICE = "liars_dice(dice_sides=2)"


def agent_for(rules: PublicTree, seed: int = 0, remember: int = 16, **settings: object) -> SearchAgent:
    chosen = PlaythroughSettings(**({"iterations": 6, "depth": 1} | settings))  # type: ignore[arg-type]
    return SearchAgent(rules, ZeroLeaf(), chosen, np.random.default_rng(seed), remember=remember)


def played(agent: SearchAgent, hand: int) -> dict[int, float]:
    """How an agent plays a hand here, by action."""
    return dict(zip(agent.game.options(agent.state).labels, agent.policy()[:, hand].tolist(), strict=True))


def play_out(rules: PublicTree, agent: SearchAgent, generator: np.random.Generator) -> float:
    """A game in which the agent plays both seats; player 0's payoff."""
    agent.begin()
    dealt = int(generator.choice(rules.prior.size, p=rules.prior.ravel() / rules.prior.sum()))
    hands = list(divmod(dealt, rules.prior.shape[1]))
    while not agent.over:
        visited = rules.visit(pair_state(agent.state).node)
        if isinstance(visited, Chance):
            chances = np.array([weight[hands[0], hands[1]] for _, weight in visited.outcomes])
            agent.see(visited.outcomes[int(generator.choice(len(chances), p=chances))][0])
            continue
        assert isinstance(visited, Decision)
        action = agent.act(hands[visited.player])
        if visited.private:
            hands[visited.player] = hands[visited.player] * len(visited.actions) + list(visited.actions).index(action)
        agent.see(action)
    leaf = rules.visit(pair_state(agent.state).node)
    assert isinstance(leaf, Terminal)
    return float(leaf.scale * leaf.matrix[hands[0], hands[1]])


def test_many_games_are_the_policy_of_many_playthroughs() -> None:
    """Own reach times policy along one line, averaged over games, is the sequence form of the averaged policy."""
    rules, game = public_tree(DICE), compile_game(DICE)
    line, hand = (0, 1, 2), 0
    settings = PlaythroughSettings(iterations=6, depth=1, playthroughs=600, batch=200)
    policy = playthrough_policy(game, rules, ZeroLeaf(), settings, np.random.default_rng(1))
    strategy = np.empty_like(policy.probabilities)
    for player in (0, 1):
        reach(game.tree, player, policy.probabilities, strategy)
    agent = agent_for(rules, seed=2)
    totals = np.zeros(len(line))
    games = 400
    for _ in range(games):
        agent.begin()
        own = [1.0, 1.0]
        for step, action in enumerate(line):
            own[step % 2] *= played(agent, hand)[action]
            totals[step] += own[step % 2]
            agent.see(action)
    node: tuple[int, ...] = ()
    for step, action in enumerate(line):
        sequences = game.sequences_at(game.lookup[step % 2, rules.infostate(node, step % 2, hand)])
        legal = list(rules.visit(node).actions)  # type: ignore[union-attr]
        assert totals[step] / games == pytest.approx(strategy[sequences[legal.index(action)]], abs=0.05)
        node = (*node, action)
    assert 0.05 < strategy[sequences[0]] < 0.95  # the line is one that some but not all iterations play


def test_the_root_is_searched_once_and_remembered() -> None:
    agent = agent_for(public_tree(DICE), depth=9)
    for _ in range(5):
        agent.begin()
        agent.act(0)
    assert agent.searches == 1
    forgetful = agent_for(public_tree(DICE), depth=9, remember=0)
    for _ in range(5):
        forgetful.begin()
        forgetful.act(0)
    assert forgetful.searches == 5


def test_what_is_remembered_is_bounded_and_keeps_the_root() -> None:
    rules = public_tree("liars_dice(dice_sides=3)")
    agent = agent_for(rules, remember=3)
    generator = np.random.default_rng(0)
    for _ in range(10):
        play_out(rules, agent, generator)
    assert len(agent._known) == 3
    assert [key[:2] for key in agent._known].count((rules, ())) == 1


def test_several_turns_in_one_subgame_are_one_search_and_one_iteration() -> None:
    agent = agent_for(public_tree(DICE), depth=9)
    agent.policy()
    drawn = agent._drawn
    agent.see(0)
    agent.see(1)
    agent.policy()
    assert agent.searches == 1
    assert agent._drawn is drawn


def test_beliefs_move_by_the_policy_that_is_played() -> None:
    rules = public_tree(DICE)
    agent = agent_for(rules, seed=3)
    row = np.array([played(agent, hand)[0] for hand in (0, 1)])
    agent.see(0)
    assert agent.belief.ranges[0] == pytest.approx(row / row.sum())
    assert agent.belief.ranges[1] == pytest.approx([0.5, 0.5])
    assert pair_state(agent.belief.state).node == pair_state(agent.state).node == (0,)


@pytest.mark.parametrize("spec", [DICE, "kuhn_poker", "leduc_poker", "modified_rps"])
@pytest.mark.parametrize("method", ["dcfr", "fp"])
def test_it_plays_any_public_tree_game(spec: str, method: str) -> None:
    rules = public_tree(spec)
    agent = agent_for(rules, method=method, iterations=3, depth=2)
    generator = np.random.default_rng(0)
    payoffs = [play_out(rules, agent, generator) for _ in range(3)]
    assert all(np.isfinite(payoffs))


def test_a_game_searched_to_its_end_is_played_well() -> None:
    """Player 0 wins half a point a game on average in equilibrium."""
    rules = public_tree(DICE)
    agent = agent_for(rules, depth=9, iterations=100)
    generator = np.random.default_rng(1)
    assert np.mean([play_out(rules, agent, generator) for _ in range(400)]) == pytest.approx(0.5, abs=0.15)


def low_bids(node: Hashable, actions: Sequence[int]) -> Sequence[int]:
    """All but the bids of two dice showing one."""
    return [action for action in actions if action != 2]


def test_an_action_outside_the_tree_is_added() -> None:
    rules = public_tree(DICE)
    agent = agent_for(ActionAbstraction(rules, low_bids), depth=9, iterations=50)
    assert set(played(agent, 0)) == {0, 1, 3}
    agent.see(2)
    assert agent.searches == 2  # the subgame again, with the action
    assert pair_state(agent.state).node == (2,)
    assert set(played(agent, 1)) == {3, 4}
    agent.begin()
    assert set(played(agent, 0)) == {0, 1, 3}  # forgotten in the next game
    assert agent.searches == 2


def test_an_action_outside_the_tree_of_a_later_subgame() -> None:
    rules = public_tree(DICE)
    agent = agent_for(ActionAbstraction(rules, low_bids), depth=1)
    agent.act(0)
    agent.see(0)
    assert set(played(agent, 0)) == {1, 3, 4}
    agent.see(2)
    assert pair_state(agent.state).node == (0, 2)
    assert set(played(agent, 0)) == {3, 4}
    whole = agent_for(rules, depth=1)
    whole.see(0)
    assert set(played(whole, 0)) == {1, 2, 3, 4}


def test_an_action_that_makes_the_rest_too_large_for_an_endgame() -> None:
    """What was solved as part of the subgame above is a subgame of its own once the action is considered there."""
    rules = public_tree(DICE)
    menu = ActionAbstraction(rules, low_bids)
    fits = next(count for count in range(1, 20) if fewer_nodes(menu, (0,), count))
    assert not fewer_nodes(menu.with_action_at((0,), 2), (0,), fits)
    agent = agent_for(menu, depth=1, endgame=fits)
    agent.see(0)
    assert pair_state(agent.belief.state).node == ()
    agent.see(2)
    assert pair_state(agent.belief.state).node == (0,)
    assert set(played(agent, 0)) == {3, 4}
    agent.see(4)
    assert agent.over


def test_what_is_refused() -> None:
    rules = public_tree(DICE)
    agent = agent_for(rules)
    with pytest.raises(GameError, match="no action 9 at"):
        agent.see(9)
    with pytest.raises(GameError, match="hand 5 is impossible"):
        agent.act(5)
    agent.see(0)
    agent.see(4)
    assert agent.over
    with pytest.raises(GameError, match="over"):
        agent.see(4)
    with pytest.raises(GameError, match="no player acts"):
        agent.policy()
    with pytest.raises(GameError, match="action 7 is not legal"):
        ActionAbstraction(rules, low_bids).with_action_at((), 7)
    with pytest.raises(GameError, match="keep at least one"):
        ActionAbstraction(rules, lambda node, actions: ()).visit(())


def test_subgames_of_another_beginning_are_not_remembered() -> None:
    """An agent that began elsewhere before plays as one that did not."""
    rules, settings = public_tree("kuhn_poker"), PlaythroughSettings(iterations=20, depth=0)
    root = Belief.root(rules)
    jack = Belief.of(rules, root.state, [np.ones(3), np.eye(3)[0]])
    used, found = SearchAgent(rules, ZeroLeaf(), settings, drawn=False), []
    for belief in (root, jack, root):
        fresh = SearchAgent(rules, ZeroLeaf(), settings, drawn=False)
        for agent in (used, fresh):
            agent.begin(at=belief)
            found.append(agent.policy())
        np.testing.assert_array_equal(found[-1], found[-2])
    assert np.abs(found[0] - found[2]).max() > 0.1
    assert used.searches == 2


def test_streets_after_other_cards_are_not_remembered() -> None:
    """Where every street begins a subgame, the card is part of its beginning."""
    rules, settings = public_tree("leduc_poker"), PlaythroughSettings(iterations=10, depth=2)
    found = {}
    used, fresh = (SearchAgent(rules, ZeroLeaf(), settings, street_by_street=True, drawn=False) for _ in range(2))
    for card in (0, 4):
        for agent in (used, fresh):
            agent.forget() if agent is fresh else None
            agent.begin()
            for label in (1, 1, card):
                agent.see(label)
            found[card, agent is used] = agent.policy()
        np.testing.assert_array_equal(found[card, True], found[card, False])
    assert np.abs(found[0, True] - found[4, True]).max() > 0.01
