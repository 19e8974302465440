"""Gymnasium and PettingZoo views of games."""

import subprocess
import sys
import warnings
from time import process_time
from typing import Any

import numpy as np
import pytest

pytest.importorskip("gymnasium")
pytest.importorskip("pettingzoo")

from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test

from treeplex.base.version import CHECKOUT
from treeplex.errors import GameError, PolicyError, SpecError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.views.infostate_tensors import infostate_tensors
from treeplex.forms.policies.tabular import Policy
from treeplex.forms.sources.efg_read import parse_efg
from treeplex.run.judge import expected_values
from treeplex.run.solve.solve import solve
from treeplex.search.environments import players
from treeplex.search.environments.players import GameAEC, GameEnv, GameParallel
from treeplex.search.environments.vector import GameVectorEnv

GAMES = ["kuhn_poker", "kuhn_poker(players=3)", "leduc_poker", "goofspiel(num_cards=3)"]


@pytest.mark.parametrize("spec", GAMES)
def test_gymnasium_accepts_it(spec: str) -> None:
    env = GameEnv(spec, player=1, illegal="random", render_mode="ansi")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*alternative render modes", category=UserWarning)
        check_env(env)


@pytest.mark.parametrize("spec", GAMES)
def test_pettingzoo_accepts_it(spec: str) -> None:
    with warnings.catch_warnings():
        for message in ("Observation", "Agents have different", "Action mask numpy array is all zeros"):
            warnings.filterwarnings("ignore", message=message, category=UserWarning)
        env = GameAEC(spec)
        api_test(env, num_cycles=60)
        assert env.possible_agents == [f"player_{player}" for player in range(env.play.players)]
        seed_test(lambda: GameAEC(spec), num_cycles=30)


@pytest.mark.parametrize("spec", GAMES)
def test_pettingzoo_accepts_it_in_parallel(spec: str) -> None:
    env = GameParallel(spec)
    parallel_api_test(env, num_cycles=60)
    assert env.possible_agents == [f"player_{player}" for player in range(env.play.players)]
    parallel_seed_test(lambda: GameParallel(spec, illegal="random"), num_cycles=30)


def test_players_who_move_at_once_act_in_one_step() -> None:
    env = GameParallel("goofspiel(num_cards=3,points_order=descending)")
    seen, _ = env.reset(seed=1)
    assert [own["action_mask"].tolist() for own in seen.values()] == [[1, 1, 1]] * 2
    seen, rewards, ended, _, _ = env.step({"player_0": 2, "player_1": 0})
    assert [own["action_mask"].tolist() for own in seen.values()] == [[1, 1, 0], [0, 1, 1]]
    assert not any(rewards.values())
    assert not any(ended.values())
    with pytest.raises(GameError, match="the action of player_1 is missing"):
        env.step({"player_0": 0})
    with pytest.raises(GameError, match="action 0 is not legal"):  # player 1 has played it
        env.step({"player_0": 0, "player_1": 0})
    seen, *_ = env.step({"player_0": 0, "player_1": 2})  # nothing has moved
    env.reset(seed=1)
    steps = 0
    while env.agents:
        seen, rewards, *_ = env.step(
            {agent: int(np.flatnonzero(own["action_mask"])[-1]) for agent, own in seen.items()}
            if steps
            else {"player_0": 2, "player_1": 2}
        )
        steps += 1
    assert steps == 2
    with pytest.raises(GameError, match="the episode is over"):
        env.step({})


def test_players_who_move_in_turn_wait_for_each_other() -> None:
    env = GameParallel("kuhn_poker", render_mode="ansi")
    seen, _ = env.reset(seed=2)
    assert seen["player_0"]["action_mask"].all()
    assert not seen["player_1"]["action_mask"].any()
    assert env.render() == env.play.state.information_state_string(0)
    seen, *_ = env.step({"player_0": 1, "player_1": 0})
    assert seen["player_1"]["action_mask"].all()
    assert not seen["player_0"]["action_mask"].any()
    _, rewards, ended, _, _ = env.step({"player_1": 1})
    assert abs(rewards["player_0"]) == 2.0
    assert sum(rewards.values()) == 0.0
    assert all(ended.values())
    assert env.agents == []


def test_a_forgetful_environment_plays_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    remembering = [returns(GameEnv("leduc_poker"), 30)]
    monkeypatch.setattr(players, "MOST_POSITIONS", 1)
    assert [returns(GameEnv("leduc_poker"), 30)] == remembering


def test_spaces_are_the_compiled_game() -> None:
    game = compile_game("leduc_poker")
    env = GameEnv("leduc_poker", player=1)
    assert env.observation_space.n == game.infosets[1] + 1
    assert env.action_space.n == 3
    observation, info = env.reset(seed=1)
    infoset = int(game.tree.infoset_offsets[1]) + observation
    assert game.infostates[infoset] == info["infostate"]
    assert np.flatnonzero(info["action_mask"]).tolist() == game.actions_at(infoset)


def returns(env: GameEnv, episodes: int) -> float:
    """Mean payoff of the uniform policy over seeded episodes."""
    total = 0.0
    random = np.random.default_rng(3)
    for episode in range(episodes):
        _, info = env.reset(seed=episode)
        ended = False
        while not ended:
            action = random.choice(np.flatnonzero(info["action_mask"]))
            _, reward, ended, _, info = env.step(action)
            total += reward
    return total / episodes


@pytest.mark.slow
def test_mean_reward_is_the_expected_value() -> None:
    game = compile_game("kuhn_poker")
    env = GameEnv("kuhn_poker", player=1)
    assert returns(env, 4000) == pytest.approx(expected_values(game, Policy.uniform(game))[1], abs=0.08)


def test_the_others_follow_their_policies() -> None:
    game = compile_game("kuhn_poker")
    passive = Policy(game, np.where(game.action_ids == 1, 0.0, 1.0))
    solved = solve("kuhn_poker", "cfr", iterations=1)
    GameEnv("kuhn_poker", player=1, others=solved).reset(seed=0)
    GameEnv("kuhn_poker", player=1, others={0: solved}).reset(seed=0)
    for others in (passive, {0: passive}):
        env = GameEnv("kuhn_poker", player=1, others=others)
        for seed in range(20):
            _, info = env.reset(seed=seed)
            assert info["infostate"][1:] == "p"
    with pytest.raises(PolicyError, match="not for leduc_poker"):
        GameEnv("leduc_poker", others=passive)


@pytest.mark.parametrize("seat", ["player_0", 2, -1])
def test_others_in_seats_that_do_not_exist(seat: Any) -> None:
    """Else the seat meant would play uniformly, without a word."""
    follows = {seat: Policy.uniform(compile_game("kuhn_poker"))}
    for make in (GameEnv, lambda game, **options: GameVectorEnv(game, 2, **options)):
        with pytest.raises(SpecError, match=r"names seat .*; kuhn_poker.* has players 0 to 1"):
            make("kuhn_poker", others=follows)


def test_payoffs_of_a_game_that_chance_ends_at_once() -> None:
    game = parse_efg(
        'EFG 2 R "" { "A" "B" } c "" 1 "" { "over" 1/2 "on" 1/2 } 0 t "" 1 "" { 3 -3 }'
        ' p "" 1 1 "a" { "l" "r" } 0 t "" 2 "" { 1 -1 } t "" 2'
    )
    env, paid = GameAEC(game), set()
    for seed in range(20):
        env.reset(seed=seed)
        rewards = {}
        for name in env.agent_iter():
            observation, reward, ended, _, _ = env.last()
            rewards[name] = rewards.get(name, 0.0) + reward
            env.step(None if ended else int(np.flatnonzero(observation["action_mask"])[0]))
        paid.add((rewards["player_0"], rewards["player_1"]))
    assert paid == {(3.0, -3.0), (1.0, -1.0)}


def test_seeds_repeat() -> None:
    def trace(seed: int) -> list[Any]:
        env = GameEnv("leduc_poker")
        observation, info = env.reset(seed=seed)
        seen, ended = [observation], False
        while not ended:
            observation, reward, ended, _, info = env.step(int(np.flatnonzero(info["action_mask"])[0]))
            seen += [observation, reward]
        return seen

    assert trace(7) == trace(7)
    assert len({tuple(trace(seed)) for seed in range(20)}) > 3


def test_illegal_actions() -> None:
    env = GameEnv("leduc_poker")
    env.reset(seed=0)
    with pytest.raises(GameError, match=r"action 0 is not legal at infostate .*the legal actions are \[1, 2\]"):
        env.step(0)
    with pytest.raises(SpecError, match="illegal is 'eror'; use 'error' or 'random'"):
        GameEnv("leduc_poker", illegal="eror")  # type: ignore[arg-type]
    lenient = GameEnv("leduc_poker", illegal="random")
    lenient.reset(seed=0)
    assert lenient.step(0)[4]["illegal"] is True
    aec = GameAEC("leduc_poker")
    aec.reset(seed=0)
    with pytest.raises(GameError, match="not legal"):
        aec.step(0)


def test_a_player_who_may_never_act() -> None:
    game = parse_efg(
        'EFG 2 R "" { "A" "B" } p "" 1 1 "a" { "out" "in" } 0 t "" 1 "" { 3 7 }'
        ' p "" 2 1 "b" { "l" "r" } 0 t "" 2 "" { 0 1 } t "" 2'
    )
    env = GameEnv(game, player=1)
    starts = {}
    for seed in range(20):
        observation, info = env.reset(seed=seed)
        _, reward, ended, _, _ = env.step(0)
        assert ended
        starts[observation, info["infostate"], tuple(info["action_mask"])] = reward
    assert starts == {(0, "p1:b", (1, 1)): 1.0, (1, "", (1, 0)): 7.0}


def test_there_is_no_such_player() -> None:
    with pytest.raises(SpecError, match="player 3 does not exist"):
        GameEnv("kuhn_poker(players=3)", player=3)


def test_aec_plays_to_the_payoffs() -> None:
    env = GameAEC("kuhn_poker", render_mode="ansi")
    env.reset(seed=2)
    assert env.agent_selection == "player_0"
    assert env.render() == env.play.state.information_state_string(0)
    unseen = env.observe("player_1")
    assert unseen["observation"] == 6
    assert not unseen["action_mask"].any()
    totals = dict.fromkeys(env.agents, 0.0)
    for agent in env.agent_iter():
        observation, reward, ended, _, _ = env.last()
        totals[agent] += reward
        env.step(None if ended else int(np.flatnonzero(observation["action_mask"])[-1]))
    assert abs(totals["player_0"]) == 2.0
    assert sum(totals.values()) == 0.0


@pytest.mark.slow
def test_missing_packages_are_named() -> None:
    code = "import sys; sys.modules['gymnasium'] = None\nimport treeplex.search.environments.players"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=CHECKOUT)
    assert "pip install -c constraints.txt -e '.[rl]'" in done.stderr


def test_a_step_after_the_end_is_refused() -> None:
    env = GameEnv("rock_paper_scissors")
    with pytest.raises(GameError, match=r"has not started; call reset\(\)"):
        env.step(0)
    env.reset(seed=0)
    assert env.step(0)[2]
    with pytest.raises(GameError, match="the episode is over"):
        env.step(0)
    env.reset()
    assert env.step(0)[2]
    both = GameAEC("rock_paper_scissors")
    both.reset(seed=0)
    for action in (0, 0, None, None):
        both.step(action)
    with pytest.raises(GameError, match="the episode is over"):
        both.step(0)


@pytest.mark.parametrize("spec", GAMES)
def test_tensors_tell_infostates_apart(spec: str) -> None:
    game = compile_game(spec)
    for player in range(game.players):
        rows = infostate_tensors(game, player)
        assert rows.shape[0] == game.infosets[player]
        assert len(np.unique(rows, axis=0)) == len(rows)
        assert len(np.unique(rows, axis=1).T) == rows.shape[1]
    env = GameEnv(spec, player=1, observation="tensor", illegal="random")
    check_env(env, skip_render_check=True)
    observation, info = env.reset(seed=5)
    own = list(game.infostates[game.tree.infoset_offsets[1] : game.tree.infoset_offsets[2]])
    np.testing.assert_array_equal(observation, infostate_tensors(game, 1)[own.index(info["infostate"])])
    both = GameAEC(spec, observation="tensor")
    both.reset(seed=1)
    assert both.observation_space("player_0")["observation"].contains(both.observe("player_0")["observation"])
    with pytest.raises(SpecError, match="use 'infoset' or 'tensor'"):
        GameEnv(spec, observation="pixels")  # type: ignore[arg-type]


def mean_rewards(envs: GameVectorEnv, steps: int, policy: Policy | None = None) -> tuple[float, int]:
    """Mean reward per episode of a policy, uniform if none, and the number of episodes."""
    _, infos = envs.reset(seed=4)
    random, total, episodes = np.random.default_rng(2), 0.0, 0
    for _ in range(steps):
        mask = infos["action_mask"]
        actions = np.argmax(mask * random.random(mask.shape), axis=1)
        _, rewards, over, truncated, infos = envs.step(actions)
        assert not truncated.any()
        assert not rewards[~over].any()
        total, episodes = total + rewards.sum(), episodes + int(over.sum())
    return total / episodes, episodes


@pytest.mark.slow_cases("leduc_poker")
@pytest.mark.parametrize("spec", [*GAMES, "rock_paper_scissors"])
def test_many_games_at_once_have_the_expected_values(spec: str) -> None:
    game = compile_game(spec)
    for player in range(game.players):
        mean, episodes = mean_rewards(GameVectorEnv(spec, 2000, player=player), 25)
        assert mean == pytest.approx(expected_values(game, Policy.uniform(game))[player], abs=15 / np.sqrt(episodes))


def test_many_games_follow_the_policies_of_the_others() -> None:
    game = compile_game("kuhn_poker")
    passive = Policy(game, np.where(game.action_ids == 1, 0.0, 1.0))
    envs = GameVectorEnv("kuhn_poker", 500, player=1, others={0: passive})
    first = game.tree.infoset_offsets[1]
    for seed in range(5):
        observations, infos = envs.reset(seed=seed)
        assert all(game.infostates[first + number][1:] == "p" for number in observations)
        assert infos["action_mask"].tolist() == [[1, 1]] * 500
    with pytest.raises(PolicyError, match="not for leduc_poker"):
        GameVectorEnv("leduc_poker", 2, others=passive)


def test_a_vector_environment_keeps_gymnasiums_rules() -> None:
    envs = GameVectorEnv("leduc_poker", 3, observation="tensor")
    with pytest.raises(GameError, match="reset"):
        envs.step([1, 1, 1])
    observations, _ = envs.reset(seed=1)
    again, _ = envs.reset(seed=1)
    np.testing.assert_array_equal(observations, again)
    assert envs.observation_space.contains(observations)
    assert envs.action_space.contains(envs.action_space.sample())
    with pytest.raises(GameError, match=r"action 0 of game 1 is not legal at infostate .*legal: \[1, 2\]"):
        envs.step([1, 0, 1])
    with pytest.raises(GameError, match="one action for each of 3 games"):
        envs.step([1])
    loose = GameVectorEnv("leduc_poker", 3, illegal="random")
    loose.reset(seed=1)
    assert loose.observation_space.contains(loose.step([0, 9, -1])[0])


def test_many_games_at_once_are_fast() -> None:
    envs = GameVectorEnv("kuhn_poker", 4096)
    mean_rewards(envs, 3)
    begun = process_time()
    _, episodes = mean_rewards(envs, 30)
    assert episodes / (process_time() - begun) > 20_000


def test_a_game_that_ends_before_the_player_acts() -> None:
    """Player 0 ends the game at once with probability 1/2; player 1 then sees nothing."""
    game = parse_efg(
        'EFG 2 R "" { "A" "B" }\np "" 1 1 "" { "stop" "go" } 0\nt "" 1 "" { 1, -1 }\np "" 2 1 "" { "x" "y" } 0\n'
        't "" 2 "" { 0, 3 }\nt "" 3 "" { 0, 5 }\n'
    )
    envs = GameVectorEnv(game, 1000, player=1)
    observations, infos = envs.reset(seed=0)
    assert set(observations) == {0, 1}
    assert (infos["action_mask"] == np.where(observations[:, None] == 1, [1, 0], [1, 1])).all()
    _, rewards, over, _, _ = envs.step(np.zeros(1000, int))
    assert over.all()
    assert set(zip(observations, rewards, strict=True)) == {(0, 3.0), (1, -1.0)}
