"""What agents say about their decisions: beliefs, policy and values by hand, as arrays, a table and a data frame."""

import numpy as np
import pytest

import treeplex as tp
from treeplex.engine.tree.form import workspace
from treeplex.engine.tree.gradient import gradient
from treeplex.engine.tree.sweeps import backup, reach
from treeplex.errors import GameError
from treeplex.search import PlaythroughSettings, ResolvingAgent, SearchAgent
from treeplex.search.agents.agent import BaseAgent, TableAgent, agent_policy
from treeplex.search.agents.explanation import Explanation
from treeplex.search.subgames.policy_tables import sequences_at
from treeplex.search.subgames.subgame import Places, Ranges

NAMES = {
    "table": "blueprint",
    "search": "search(depth=2,iterations=8,drawn=false)",
    "drawn": "search(depth=0,leaf=zero,iterations=8)",
    "resolving": "deepstack(rounds=0,iterations=8)",
}
RAISE, CALL = 2, 1


def agent_of(kind: str, game: str = "leduc_poker") -> BaseAgent:
    if kind == "table":
        return TableAgent(game, tp.solve(game, iterations=20).policy)
    agent = tp.agent(NAMES[kind], game)
    assert isinstance(agent, SearchAgent | ResolvingAgent)
    agent.begin(None, np.random.default_rng(1))
    return agent


@pytest.mark.slow_cases("search")
@pytest.mark.parametrize("kind", NAMES)
def test_an_agent_explains_its_decision(kind: str) -> None:
    agent = agent_of(kind)
    first = agent.explain()
    agent.see(RAISE)
    found = agent.explain()
    assert first.player == 0
    assert found.player == 1
    assert found.actions == ("Fold", "Call", "Raise")
    assert found.hands[0] == ("Jc", "Jd", "Qc", "Qd", "Kc", "Kd")
    assert found.policy.shape == (3, 6)
    assert found.policy.sum(axis=0) == pytest.approx(np.ones(6))
    assert first.beliefs is not None
    assert found.beliefs is not None
    for believed in (*first.beliefs, *found.beliefs):
        assert believed.sum() == pytest.approx(1.0)
    raised = first.policy[list(first.actions).index("Raise")]
    assert found.beliefs[0] == pytest.approx(raised / raised.sum(), abs=1e-6)  # by Bayes from a uniform deal
    assert np.abs(found.beliefs[0] - first.beliefs[0]).max() > 0.01
    searches = kind != "table"
    assert (found.values is not None) == (found.iterations == 8) == searches
    assert agent.explain().iterations == found.iterations  # also where the subgame is remembered
    if found.values is not None:
        assert found.values[0] == pytest.approx(-np.ones(6))  # whoever folds loses the ante


def test_values_are_those_of_the_policy_in_the_whole_game() -> None:
    game, agent = tp.compile("leduc_poker"), tp.agent("search(depth=0,leaf=zero,iterations=30,drawn=false)", "leduc_poker")
    assert isinstance(agent, SearchAgent)
    policy = agent_policy(agent, game).probabilities
    strategy, (values, infoset_values, _) = np.ones_like(policy), workspace(game.tree)
    for player in (0, 1):
        reach(game.tree, player, policy, strategy)
    gradient(game.tree, game.payoff, 1, strategy, values)
    backup(game.tree, 1, policy, values, infoset_values)
    agent.begin()
    called = agent.policy()[list(agent.game.options(agent.state).labels).index(CALL)]
    agent.see(CALL)
    found = agent.explain().values
    assert found is not None
    for hand, sequences in sequences_at(game, agent.game, agent.state).items():
        met = (called.sum() - called[hand]) / 30.0  # each pair of different cards is dealt with probability 1/30
        assert found[:, hand] == pytest.approx(values[sequences] / met, abs=1e-6)


def test_values_before_leaves_are_what_the_leaves_are_worth() -> None:
    def quarter(places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        return np.full_like(reached[0], 0.25), np.full_like(reached[1], -0.25)

    agent = SearchAgent("leduc_poker", quarter, PlaythroughSettings(iterations=4, depth=1))
    found = agent.explain().values
    assert found is not None
    assert found == pytest.approx(np.full((2, 6), 0.25))
    agent.see(CALL)
    after = agent.explain().values
    assert after is not None
    assert after == pytest.approx(np.full((2, 6), -0.25))


def test_beliefs_move_within_a_subgame() -> None:
    agent = agent_of("search")
    assert isinstance(agent, SearchAgent)
    root = agent.belief
    agent.see(RAISE)
    assert agent.belief is root
    assert agent.public_belief_state().state is not root.state
    assert agent.game.name_of(agent.public_belief_state().state) == agent.game.name_of(agent.state)


def test_an_explanation_is_a_table() -> None:
    agent = agent_of("search")
    agent.see(RAISE)
    found = agent.explain()
    lines = str(found).splitlines()
    assert lines[0].startswith("SearchAgent: player 1 to act (8 iterations in ")
    assert lines[2].split("  ")[0] == "hand"
    assert lines[2].endswith("value of Fold  value of Call  value of Raise")
    assert len(lines) == 3 + 6 + 1
    assert lines[-1].startswith("belief about player 0: ")
    shown = [float(line.split()[1]) for line in lines[3:9]]
    assert shown == sorted(shown, reverse=True)
    assert found._repr_html_().count("<tr>") == 7


@pytest.mark.slow
def test_an_explanation_as_a_data_frame() -> None:
    pytest.importorskip("pandas")
    agent = agent_of("resolving")
    agent.see(RAISE)
    found = agent.explain()
    frame = found.to_dataframe()
    assert list(frame.columns) == ["player", "hand", "belief", *found.columns[2:]]
    assert len(frame) == 12
    assert frame.groupby("player").belief.sum().tolist() == pytest.approx([1.0, 1.0])
    assert frame[frame.player == 1][["Fold", "Call", "Raise"]].sum(axis=1).tolist() == pytest.approx([1.0] * 6)
    assert frame[frame.player == 0].Fold.isna().all()


def test_many_hands_are_cut_and_unknown_parts_left_out() -> None:
    names = tuple(f"h{hand}" for hand in range(30))
    found = Explanation("A", "here", 0, (names, names), ("Pass",), np.ones((1, 30)), np.ones(30, bool))
    assert len(str(found).splitlines()) == 3 + 20 + 1
    assert "20 of 30 hands" in str(found)
    assert "belief" not in str(found)


def test_nothing_is_explained_where_nobody_acts() -> None:
    agent = agent_of("drawn", "kuhn_poker")
    for label in (0, 0):
        agent.see(label)
    with pytest.raises(GameError, match="no player acts"):
        agent.explain()
