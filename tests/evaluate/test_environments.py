"""Gymnasium and PettingZoo views of games."""

import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest

pytest.importorskip("gymnasium")
pytest.importorskip("pettingzoo")

from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, seed_test

from treeplex.errors import GameError, PolicyError, SpecError
from treeplex.evaluate.environments import GameAEC, GameEnv
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.policies.tabular import Policy
from treeplex.forms.sources.efg import parse_efg
from treeplex.runs.judge import expected_values
from treeplex.runs.solve.solve import solve

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
        api_test(GameAEC(spec), num_cycles=60)
        seed_test(lambda: GameAEC(spec), num_cycles=30)


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
    with pytest.raises(GameError, match=r"action 0 is not legal at infostate .*legal are \[1, 2\]"):
        env.step(0)
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


def test_missing_packages_are_named() -> None:
    code = "import sys; sys.modules['gymnasium'] = None\nimport treeplex.evaluate.environments"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install treeplex[rl]" in done.stderr
