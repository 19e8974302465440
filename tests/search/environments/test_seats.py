"""Agents at the tables of others: PettingZoo, Gymnasium and OpenSpiel, whose own states say what is known."""

from typing import Any

import numpy as np
import pytest

pytest.importorskip("gymnasium")
pytest.importorskip("pettingzoo")

import treeplex as tp
from treeplex.environments import GameAEC, GameEnv, SeatedAgent, as_bot, seat
from treeplex.errors import GameError, SpecError
from treeplex.search import TableAgent, public_tree
from treeplex.search.agents.agent import agent_policy

LEDUC = "leduc_poker"


def some_policy(spec: str) -> tp.Policy:
    """A policy in which every action has its own probability."""
    from treeplex.forms.policies.tabular import normalised

    game = tp.compile(spec)
    weights = np.random.default_rng(3).uniform(0.1, 1.0, int(game.tree.sequence_offsets[-1]))
    return tp.Policy(game, normalised(game, weights))


def openspiel_states(game: Any, count: int) -> list[Any]:
    """States of OpenSpiel where somebody acts, along random plays."""
    generator, found = np.random.default_rng(0), []
    while len(found) < count:
        state = game.new_initial_state()
        while not state.is_terminal():
            if not state.is_chance_node():
                found.append(state.clone())
            state.apply_action(int(generator.choice(state.legal_actions())))
    return found


@pytest.mark.parametrize("spec", ["kuhn_poker", LEDUC, "liars_dice(numdice=1,dice_sides=2)"])
def test_a_bot_plays_the_agents_policy_at_openspiels_states(spec: str) -> None:
    """Every infostate that OpenSpiel says is understood, in whatever order it comes."""
    pyspiel = pytest.importorskip("pyspiel")
    policy, rules = some_policy(spec), public_tree(spec)
    bots = [as_bot(TableAgent(rules, policy), player) for player in (0, 1)]
    for state in openspiel_states(pyspiel.load_game(spec), 300):
        player = state.current_player()
        expected = policy[player, state.information_state_string(player)]
        assert dict(bots[player].get_policy(state)) == pytest.approx(expected)
        assert bots[player].step(state) in state.legal_actions()


def test_an_agent_that_searches_is_told_all_that_happened() -> None:
    """It remembers what it saw; asked at OpenSpiel's states, it plays what it plays at our own table."""
    pyspiel = pytest.importorskip("pyspiel")
    game = tp.compile(LEDUC)
    text = "search(depth=2,leaf=zero,iterations=5,drawn=false)"
    own = agent_policy(tp.agent(text, game), game)
    bots = [as_bot(tp.agent(text, game), player) for player in (0, 1)]
    for state in openspiel_states(pyspiel.load_game(LEDUC), 60):
        player = state.current_player()
        found = dict(bots[player].get_policy(state))
        assert found == pytest.approx(own[player, state.information_state_string(player)], abs=1e-9)


def test_bots_play_openspiels_own_loop() -> None:
    """Where all that counts is forced the payoff is known: two agents that always call see the cards."""
    pyspiel = pytest.importorskip("pyspiel")
    game, rules = tp.compile(LEDUC), public_tree(LEDUC)
    calls = tp.Policy(game, np.where(game.action_ids == 1, 1.0, np.where(game.action_ids < 0, 1.0, 0.0)))
    bots = [as_bot(TableAgent(rules, calls), player) for player in (0, 1)]
    for number in range(20):
        state = pyspiel.load_game(LEDUC).new_initial_state()
        returns = pyspiel.evaluate_bots(state, bots, number)
        assert sorted(returns) in ([-1.0, 1.0], [0.0, 0.0])


@pytest.mark.parametrize("observation", ["infoset", "tensor"])
def test_an_agent_in_pettingzoo(observation: Any) -> None:
    """Means over games are what the exact judge says."""
    policy = some_policy("kuhn_poker")
    env = GameAEC("kuhn_poker", observation=observation)
    rules = public_tree("kuhn_poker")
    seats = {
        name: seat(TableAgent(rules, policy, np.random.default_rng(player)), env, name)
        for player, name in enumerate(env.possible_agents)
    }
    paid = []
    for number in range(800):
        env.reset(seed=number)
        rewards = dict.fromkeys(env.possible_agents, 0.0)
        for name in env.agent_iter():
            shown, reward, over, _, _ = env.last()
            rewards[name] += reward
            env.step(None if over else seats[name](shown))
        paid.append(rewards["player_0"])
    expected = tp.judge("kuhn_poker", policy).value[0]
    assert np.mean(paid) == pytest.approx(expected, abs=4 * np.std(paid) / np.sqrt(len(paid)))


def test_an_agent_as_the_other_player_of_gymnasium() -> None:
    """It draws from the environment's seed; a policy and the agent that plays it are worth the same."""
    policy = some_policy("kuhn_poker")
    rules = public_tree("kuhn_poker")

    def plays(others: Any, count: int) -> list[float]:
        env, found = GameEnv("kuhn_poker", player=1, others=others), []
        for number in range(count):
            _, info = env.reset(seed=number)
            ended = False
            while not ended:
                _, reward, ended, _, info = env.step(int(np.flatnonzero(info["action_mask"])[-1]))
            found.append(float(reward))
        return found

    one, again = (plays(TableAgent(rules, policy), 300) for _ in range(2))
    assert one == again
    assert np.mean(one) == pytest.approx(np.mean(plays({0: policy}, 300)), abs=0.45)
    with pytest.raises(SpecError, match="give a mapping from seats to agents"):
        GameEnv("kuhn_poker(players=3)", others=TableAgent(rules, policy))
    with pytest.raises(SpecError, match="'nosuch' is not an agent; make"):
        GameEnv(LEDUC, others="nosuch")  # type: ignore[arg-type]


def test_a_new_game_is_noticed() -> None:
    """Deciding twice is two games; reading the policy first is not."""
    agent = tp.agent("search(depth=0,leaf=zero,iterations=64)", "kuhn_poker", seed=1)
    begun = []
    begin = agent.begin
    agent.begin = lambda *given, **more: (begun.append(1), begin(*given, **more))[1]  # type: ignore[method-assign]
    seated = SeatedAgent(agent, 0)
    seated.policy("0")
    seated.act("0")
    assert len(begun) == 1
    seated.act("0pb")
    assert len(begun) == 1
    seated.act("0")
    seated.act("1")
    assert len(begun) == 3
    seated.restart()
    seated.act("2pb")
    assert len(begun) == 4


def test_what_does_not_fit_is_refused() -> None:
    agent = tp.agent("uniform", "kuhn_poker")
    with pytest.raises(GameError, match="seat is 2; give 0 to 1"):
        SeatedAgent(agent, 2)
    with pytest.raises(GameError, match="player 0 has no infostate 'nowhere'"):
        SeatedAgent(agent, 0).act("nowhere")
    with pytest.raises(GameError, match="the agent's game is not leduc_poker"):
        seat(agent, GameAEC(LEDUC), "player_0")
    with pytest.raises(GameError, match="no player 'north' in this environment; name one of player_0, player_1"):
        seat(agent, GameAEC("kuhn_poker"), "north")
    with pytest.raises(GameError, match="player 0 does not act at this observation"):
        seat(agent, GameAEC("kuhn_poker"), 0)(6)
    with pytest.raises(GameError, match="cannot be enumerated"):
        SeatedAgent(tp.agent("uniform", "turn_endgame"), 0)
