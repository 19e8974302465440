"""Players of other libraries at our tables: what they are told, what they play, and what they cannot be asked."""

from typing import Any

import numpy as np
import pytest

import treeplex as tp
from treeplex.environments import BotAgent, ObservingAgent
from treeplex.errors import GameError, PolicyError, SpecError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.sources.load import load
from treeplex.search.agents.agent import agent_policy, play_game

LEDUC = "leduc_poker"


def test_openspiels_uniform_bot_is_uniform() -> None:
    pytest.importorskip("pyspiel")
    found = tp.exploitability(LEDUC, tp.agent("openspiel(bot=uniform_random)", LEDUC))
    assert found == pytest.approx(4.747222222222222 / 2)


def test_a_policy_bot_plays_its_policy() -> None:
    """One written in Python, which says its policy in step_with_policy only."""
    pytest.importorskip("pyspiel")
    from open_spiel.python.bots.policy import PolicyBot

    solution = tp.solve("kuhn_poker", iterations=20)
    table = tp.formats.to_tabular_policy(solution.policy)
    game = load("kuhn_poker")
    bots = {player: PolicyBot(player, np.random.RandomState(1), table) for player in (0, 1)}
    found = agent_policy(BotAgent(game.public, compile_game(game), bots), compile_game(game))
    assert found.probabilities == pytest.approx(solution.policy.probabilities, abs=1e-9)
    assert tp.exploitability("kuhn_poker", tp.agent(table, "kuhn_poker")) == pytest.approx(solution.exploitability)


def test_a_bot_is_told_what_happens_and_no_more() -> None:
    """It hears all actions in order, in a state that fits what it may know; a card of the other's is not the real one."""
    pyspiel = pytest.importorskip("pyspiel")

    class EventBot(pyspiel.Bot):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            pyspiel.Bot.__init__(self)
            self.heard: list[int] = []
            self.steps, self.hidden = 0, set[int]()

        def restart_at(self, state: Any) -> None:
            assert state.history() == []
            self.heard = []

        def inform_action(self, state: Any, player: int, action: int) -> None:
            assert state.history() == self.heard
            self.heard.append(action)

        def step(self, state: Any) -> int:
            assert state.current_player() == 0
            assert state.history() == self.heard
            self.steps += 1
            self.hidden.add(state.history()[1])
            self.heard.append(state.legal_actions()[-1])
            return int(state.legal_actions()[-1])

    bot, game = EventBot(), load(LEDUC)
    agent = BotAgent(game.public, compile_game(game), {0: bot})
    generator = np.random.default_rng(1)
    for _ in range(60):
        assert sum(play_game([agent, tp.agent("uniform", game)], generator)) == 0.0
    assert bot.steps > 80
    agent.begin(0)
    with pytest.raises(
        GameError, match=r"EventBot of OpenSpiel has no policy: it returns actions .* which AIVAT, exact values"
    ):
        agent.policy()


def test_a_bot_that_searches_sits_at_our_table() -> None:
    """OpenSpiel's information-set Monte Carlo tree search wins against whoever plays at random."""
    pyspiel = pytest.importorskip("pyspiel")

    def bot(player: int) -> Any:
        evaluator = pyspiel.RandomRolloutEvaluator(1, 7)
        kind = pyspiel.ISMCTSFinalPolicyType.MAX_VISIT_COUNT
        return pyspiel.ISMCTSBot(7 + player, evaluator, 2.0, 100, -1, kind, False, False)

    game, generator = load("kuhn_poker"), np.random.default_rng(0)
    agents = BotAgent(game.public, compile_game(game), bot), tp.agent("uniform", game, seed=1)
    paid = [play_game(agents, generator)[0] for _ in range(300)]
    paid += [play_game(agents[::-1], generator)[1] for _ in range(300)]
    assert np.mean(paid) > 2 * np.std(paid) / np.sqrt(len(paid))


@pytest.mark.parametrize("observation", ["infoset", "tensor"])
def test_a_function_of_observations_that_says_probabilities(observation: str) -> None:
    def shares(seen: dict[str, Any]) -> Any:
        assert np.ndim(seen["observation"]) == (observation == "tensor")
        return seen["action_mask"] / seen["action_mask"].sum()

    game = load(LEDUC)
    agent = ObservingAgent(game.public, compile_game(game), shares, observation=observation)
    assert tp.exploitability(compile_game(game), agent) == pytest.approx(4.747222222222222 / 2)


def test_a_function_of_observations_that_says_an_action() -> None:
    """It plays, but has no policy to ask for."""

    def first(seen: dict[str, Any]) -> int:
        return int(np.flatnonzero(seen["action_mask"])[0])

    agent = tp.agent(first, "kuhn_poker")
    assert isinstance(agent, ObservingAgent)
    assert play_game([agent, agent], np.random.default_rng(1)) in ((1.0, -1.0), (-1.0, 1.0))
    agent.begin()
    with pytest.raises(GameError, match=r"has no policy: .* return probabilities by action"):
        agent.policy()
    with pytest.raises(GameError, match=r"took action 7, which is not legal; the legal actions are \[0, 1\]"):
        tp.agent(lambda seen: 7, "kuhn_poker").act(0)


def test_players_that_are_no_text() -> None:
    solution = tp.solve("kuhn_poker", iterations=20)
    for player in (solution, solution.policy, solution.policy.to_dict()):
        assert tp.exploitability("kuhn_poker", tp.agent(player, "kuhn_poker")) == pytest.approx(solution.exploitability)
    same = tp.agent("uniform", "kuhn_poker")
    assert tp.agent(same, "kuhn_poker") is same
    with pytest.raises(PolicyError, match="cannot read a policy from int"):
        tp.agent(3, "kuhn_poker")
    with pytest.raises(SpecError, match="settings iterations do not apply to a Policy"):
        tp.agent(solution.policy, "kuhn_poker", iterations=3)


@pytest.mark.parametrize(
    ("text", "game", "error", "message"),
    [
        (
            "openspiel(bot=uniform_randm)",
            LEDUC,
            SpecError,
            "OpenSpiel has no bot 'uniform_randm'; did you mean 'uniform_random'",
        ),
        ("openspiel", "small_matrix", PolicyError, "cannot tell which OpenSpiel game small_matrix is"),
    ],
)
def test_refusals(text: str, game: str, error: type[Exception], message: str) -> None:
    pytest.importorskip("pyspiel")
    with pytest.raises(error, match=message):
        tp.agent(text, game).policy()
