"""Every agent keeps one protocol, whatever it plays from: tables and searches, few hands and hold'em."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import treeplex as tp
from treeplex.base.arrays import Floats
from treeplex.errors import GameError, PolicyError
from treeplex.evaluate import judge
from treeplex.evaluate.playouts import match_of
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.policies.tabular import Policy
from treeplex.forms.sources.load import public_game, public_tree
from treeplex.games.base import CHANCE, TERMINAL
from treeplex.games.public import pick
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.rules.public import HoldemGame
from treeplex.holdem.search.agent import holdem_agent
from treeplex.holdem.spots.known import holdem
from treeplex.search import ExactLeaf, ZeroLeaf
from treeplex.search.agents.agent import Agent, TableAgent, UniformAgent, agent_policy, play_game
from treeplex.search.agents.searching import SearchAgent
from treeplex.search.evaluate.tables import seat_policy
from treeplex.search.resolving.agent import ResolvingAgent
from treeplex.search.resolving.settings import ResolveSettings
from treeplex.search.settings import PlaythroughSettings
from treeplex.search.subgames.beliefs import Belief

SPOT = holdem("3s7hTdKs", "QQ,JTs,AKs", "99,KQs,T9s", pot=20.0, stack=40.0, bets=BetPlan.same("100%", "a"))


def table(spec: str, seed: int = 0) -> TableAgent:
    """Some policy of a game."""
    game, generator = compile_game(spec), np.random.default_rng(seed)
    weights = generator.random(int(game.tree.sequence_offsets[-1])) + 0.1
    inner = game.tree.sequence_infoset >= 0
    totals = np.bincount(game.tree.sequence_infoset[inner], weights=weights[inner])
    weights[inner] /= totals[game.tree.sequence_infoset[inner]]
    weights[~inner] = 1.0
    return TableAgent(public_tree(spec), Policy(game, weights))


def searching(spec: str) -> SearchAgent:
    return SearchAgent(public_tree(spec), ZeroLeaf(), PlaythroughSettings(iterations=3, depth=2))


AGENTS: dict[str, Callable[[], Agent]] = {
    "table, leduc": lambda: table("leduc_poker"),
    "table, private actions": lambda: table("modified_rps"),
    "search, dice": lambda: searching("liars_dice(dice_sides=3)"),
    "search, leduc": lambda: searching("leduc_poker"),
    "search, private actions": lambda: searching("modified_rps"),
    "solving again, leduc": lambda: ResolvingAgent(public_tree("leduc_poker"), ResolveSettings(iterations=3)),
    "solving again, private actions": lambda: ResolvingAgent(public_tree("modified_rps"), ResolveSettings(iterations=3)),
    "solving again, turn": lambda: ResolvingAgent(HoldemGame.of(SPOT), ResolveSettings(iterations=2)),
    "search, turn": lambda: holdem_agent(SPOT, ExactLeaf(iterations=2), iterations=2, endgame=2),
}


def hands_of(agent: Agent, generator: np.random.Generator) -> list[int]:
    return list(Belief.of(agent.game, agent.state).draw(generator))


def play(agent: Agent, seed: int) -> tuple[list[int], list[np.ndarray]]:
    """A play of an agent against itself: the labels, and every policy that it was asked for."""
    generator = np.random.default_rng(seed)
    agent.begin(None, np.random.default_rng(seed))
    hands, labels, policies = hands_of(agent, generator), [], []
    while (options := agent.game.options(agent.state)).player != TERMINAL:
        if options.player == CHANCE:
            label = options.labels[pick(generator, agent.game.chances(agent.state, hands))]
        else:
            policies.append(agent.policy())
            label = agent.act(hands[options.player])
            if options.private:
                number = list(options.labels).index(label)
                hands[options.player] = hands[options.player] * len(options.labels) + number
                label = options.labels[0]
        labels.append(int(label))
        agent.see(label)
    return labels, policies


@pytest.mark.parametrize("name", AGENTS)
def test_every_hand_has_a_policy(name: str) -> None:
    """[A, H], of distributions, the same when asked again."""
    agent = AGENTS[name]()
    for seed in range(3):
        for found in play(agent, seed)[1]:
            assert found.ndim == 2
            assert (found >= 0).all()
            assert found.sum(axis=0) == pytest.approx(np.ones(found.shape[1]), abs=1e-6)
    agent.begin(0, np.random.default_rng(0))
    options = agent.game.options(agent.state)
    first = agent.policy()
    assert first.shape == (len(options.labels), len(agent.game.possible(agent.state)[options.player]))
    np.testing.assert_array_equal(agent.policy(), first)


@pytest.mark.slow_cases("table, leduc", "solving again, turn", "search, turn")
@pytest.mark.parametrize("name", AGENTS)
def test_actions_are_drawn_from_the_policy(name: str) -> None:
    agent = AGENTS[name]()
    agent.begin(None, np.random.default_rng(3))
    options, policy = agent.game.options(agent.state), agent.policy()
    hand = int(np.flatnonzero(agent.game.possible(agent.state)[options.player])[0])
    drawn, count = np.zeros(len(options.labels)), 2000
    for _ in range(count):
        drawn[list(options.labels).index(agent.act(hand))] += 1 / count
    assert drawn == pytest.approx(policy[:, hand], abs=0.05)


@pytest.mark.parametrize("name", AGENTS)
def test_plays_repeat_with_a_seed(name: str) -> None:
    one, other = AGENTS[name](), AGENTS[name]()
    for seed in (1, 2):
        mine, theirs = play(one, seed), play(other, seed)
        assert mine[0] == theirs[0]
        for first, second in zip(mine[1], theirs[1], strict=True):
            np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("name", AGENTS)
def test_a_new_play_begins_where_the_game_does(name: str) -> None:
    agent = AGENTS[name]()
    game, state = agent.game, agent.game.name_of(agent.state)
    play(agent, 0)
    assert agent.game.options(agent.state).player == TERMINAL
    agent.begin(1, np.random.default_rng(0))
    assert agent.game is game
    assert agent.game.name_of(agent.state) == state


@pytest.mark.parametrize("name", AGENTS)
def test_what_cannot_be_is_refused(name: str) -> None:
    agent = AGENTS[name]()
    with pytest.raises(GameError, match="seat is 2"):
        agent.begin(2)
    agent.begin(0, np.random.default_rng(0))
    if not agent.game.options(agent.state).private:
        with pytest.raises(GameError, match="no action"):
            agent.see(10**6)
    with pytest.raises(GameError, match="is impossible"):
        agent.act(10**6)
    play(agent, 0)
    for call in (agent.policy, lambda: agent.act(0)):
        with pytest.raises(GameError, match="no player acts"):
            call()
    with pytest.raises(GameError):
        agent.see(0)


@pytest.mark.slow
def test_a_table_agent_plays_its_table() -> None:
    """Many plays are worth what the exact judge says."""
    agent = table("kuhn_poker")
    generator = np.random.default_rng(0)
    paid = np.array([play_game([agent, agent], generator)[0] for _ in range(3000)])
    expected = judge(agent.table.game, agent.table).value[0]
    assert paid.mean() == pytest.approx(expected, abs=4 * paid.std() / np.sqrt(len(paid)))


@pytest.mark.slow
def test_a_search_meets_a_table() -> None:
    """One arena seats both: a search of the whole game wins against a table that plays at random."""
    rules, game = public_tree("leduc_poker"), compile_game("leduc_poker")
    search = SearchAgent(rules, ZeroLeaf(), PlaythroughSettings(iterations=60, depth=0))
    uniform = TableAgent(rules, Policy.uniform(game))
    generator = np.random.default_rng(0)
    seats = [search, uniform], [uniform, search]
    found = match_of(lambda _, seat: play_game(seats[seat], generator), 2, 1200)
    assert found.value > 3 * found.error > 0
    assert found.others == pytest.approx(-found.value)


def test_hands_that_are_given_are_played() -> None:
    """A pair of tens beats a pair of nines: whoever holds it wins, or the other folds."""
    agent = holdem_agent(SPOT, ExactLeaf(iterations=2), iterations=2, endgame=2)
    hands = [int(np.flatnonzero(own)[0]) for own in SPOT.ranges]
    paid = play_game([agent, agent], np.random.default_rng(0), hands=hands)
    assert sum(paid) == pytest.approx(0.0)
    assert abs(paid[0]) in (10.0, 30.0, 50.0)


def test_agents_of_different_games_do_not_meet() -> None:
    with pytest.raises(GameError, match="the agents play different games"):
        play_game([table("kuhn_poker"), table("leduc_poker")], np.random.default_rng(0))


@pytest.mark.slow
def test_three_players_sit_at_one_table() -> None:
    """Tables of three players play as the exact judge says, and are read off again."""
    game, rules = compile_game("kuhn_poker(players=3)"), public_game("kuhn_poker(players=3)")
    agent = TableAgent(rules, tp.solve(game, "cfr", iterations=3).policy)
    found = agent_policy(agent, game)
    np.testing.assert_allclose(found.probabilities, agent.table.probabilities)
    generator = np.random.default_rng(0)
    paid = np.array([play_game([agent, agent, agent], generator) for _ in range(4000)])
    assert paid.sum(axis=1) == pytest.approx(np.zeros(len(paid)))
    error = paid.std(axis=0) / np.sqrt(len(paid))
    assert (abs(paid.mean(axis=0) - judge(game, agent.table).value) < 4 * error).all()


class Wrong(UniformAgent):
    """Returns a change of its policy."""

    def __init__(self, change: Callable[[Floats], object]) -> None:
        super().__init__(public_game("kuhn_poker"))
        self.change = change

    def policy(self) -> Any:
        return self.change(super().policy())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda right: right * np.nan, r"\[nan, nan\] at .*; return probabilities that sum to 1"),
        (lambda right: right * 2, r"\[1.0, 1.0\] at .*; return probabilities"),
        (lambda right: right + np.array([[1.0], [-1.0]]), r"\[1.5, -0.5\] at .*; return probabilities"),
        (lambda right: right[0], r"an array of shape \(3,\) at .*; return an array \[actions, hands\] of shape \(2, 3\)"),
        (lambda right: None, r"None at .*; return "),
        (lambda right: "call", r"'call' at .*; return "),
    ],
)
def test_a_policy_that_is_no_distribution_is_refused(change: Callable[[Floats], object], message: str) -> None:
    """Where an agent is judged, where it is asked for its policy in one seat, and where it draws an action."""
    game, agent = compile_game("kuhn_poker"), Wrong(change)
    with pytest.raises(PolicyError, match=rf"Wrong.policy\(\) returned {message}"):
        tp.judge(game, agent)
    with pytest.raises(PolicyError, match=message):
        seat_policy(agent, game, 0)
    agent.begin()
    with pytest.raises(PolicyError, match=message):
        agent.act(0)


def test_an_agent_that_stays_where_it_is_has_no_table() -> None:
    class Stuck(UniformAgent):
        def see(self, event: int) -> None:
            pass

    with pytest.raises(GameError, match=r"Stuck.see\(\d\) leaves the agent at .*; set self.state to the next state"):
        agent_policy(Stuck(public_game("kuhn_poker(players=3)")), "kuhn_poker(players=3)")


def test_a_policy_may_be_a_list() -> None:
    judged = tp.judge("kuhn_poker", Wrong(lambda right: right.tolist()))
    assert judged.exploitability == tp.exploitability("kuhn_poker", "uniform")
