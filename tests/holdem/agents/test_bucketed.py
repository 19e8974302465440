"""Policies of limit hold'em in buckets at a table with real cards, on the small deck of royal hold'em."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import treeplex as tp
from treeplex.errors import GameError, PolicyError, SpecError
from treeplex.forms.policies.tabular import Policy, normalised
from treeplex.games.base import CHANCE
from treeplex.holdem.agents.bucketed import BucketAgent, limit_holdem
from treeplex.holdem.betting.tree import Decision, StreetEnd
from treeplex.holdem.buckets.buckets import placed
from treeplex.holdem.buckets.game import BucketGame
from treeplex.holdem.cards.format import royal
from treeplex.holdem.cards.strength import River
from treeplex.holdem.whole.named import holdem
from treeplex.run.cli.main import app
from treeplex.search.agents.agent import play_game
from treeplex.search.agents.by_rules import RuleAgent
from treeplex.search.named_agents.registry import agent

GAME = "bucketed_holdem(cards=royal,buckets=2,boards=50,river_boards=50)"


@pytest.fixture(scope="module", autouse=True)
def cached(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TREEPLEX_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
        yield


@cache
def policy() -> Policy:
    """One that plays every infoset in another way, at random."""
    game = tp.compile(GAME)
    return Policy(game, normalised(game, np.random.default_rng(0).random(len(game.action_ids))))


def rules_of(own: Policy) -> BucketGame:
    """The game of a policy."""
    rules = own.game.rules
    assert isinstance(rules, BucketGame)
    return rules


def walked(agent: BucketAgent, generator: np.random.Generator) -> list[tuple[Any, int, np.ndarray]]:
    """A hand in which actions are drawn uniformly: state, node of the betting tree and policy at every decision."""
    agent.begin()
    found, node, tree = [], 0, rules_of(agent.table).tree
    while (options := agent.game.options(agent.state)).player >= 0 or options.player == CHANCE:
        number = int(generator.integers(len(options.labels)))
        if options.player >= 0:
            decision, played = tree.nodes[node], agent.policy()
            assert isinstance(decision, Decision)
            assert len(played) == len(options.labels)
            found.append((agent.state, node, played))
            below = tree.nodes[decision.children[number]]
            node = below.child if isinstance(below, StreetEnd) else decision.children[number]
        agent.see(options.labels[number])
    return found


@pytest.mark.slow
def test_it_plays_the_policy_of_its_buckets() -> None:
    """The row of the infostate that the buckets of the whole board and the betting so far are written as."""
    own = policy()
    rules, sequences = rules_of(own), np.empty(len(royal().hands), np.int32)
    agent, generator = BucketAgent(limit_holdem(rules).public, own), np.random.default_rng(1)
    river, decisions, lookup = River(royal()), 0, own.game.lookup
    for _ in range(12):
        for state, node, played in walked(agent, generator):
            whole = np.array([*state.board, *royal().cards_left(state.board)][:5], np.int64)
            rules.buckets.sequences(placed(rules.buckets.strengths, whole[None]), 0, river(whole), sequences)
            event, street = rules.tree.nodes[node], rules.dealt_at(node)
            assert isinstance(event, Decision)
            for hand in generator.choice(np.flatnonzero(sequences >= 0), 8).tolist():
                on_street = int(sequences[hand]) // (rules.sequences[-1] // rules.sequences[street])
                infoset = lookup[event.player, rules.infostate(event.player, node, on_street)]
                first, step, actions = own.game.tree.infoset_layout[infoset]
                assert np.array_equal(played[:, hand], own.probabilities[first + step * np.arange(actions)])
            decisions += 1
    assert decisions > 30


def test_the_table_is_that_of_the_buckets() -> None:
    """Everywhere as many actions as the abstract game has, the big blind's option among them, and nobody is ever all-in."""
    own = policy()
    game = limit_holdem(rules_of(own))
    assert game.spec == "holdem(bets=[2;2;4;4],raises=[3;4;4;4],ranks=5)"
    player, generator = BucketAgent(game.public, own), np.random.default_rng(0)
    seen = [each for _ in range(40) for each in walked(player, generator)]
    assert {state.table.street for state, _, _ in seen} == {0, 1, 2, 3}
    assert all(max(state.table.paid) < 200 for state, _, _ in seen)


def test_it_plays_against_others() -> None:
    own = policy()
    game = limit_holdem(rules_of(own)).public
    agents = [BucketAgent(game, own, np.random.default_rng(2)), RuleAgent(game, "caller")]
    results = [play_game(agents, np.random.default_rng(seed)) for seed in range(20)]
    assert all(sum(result) == 0 for result in results)
    assert len({result[0] for result in results}) > 3


@pytest.mark.quick_cases("rules0", "rules1")
@pytest.mark.parametrize(
    "rules",
    [
        {"ranks": 5},
        {"ranks": 5, "bets": [2, 2, 2, 4]},
        {"ranks": 5, "bets": [2, 2, 4, 4], "stack": 40},
        {"ranks": 5, "bets": [2, 2, 4, 4], "dealer": 0},
        {"ranks": 6, "bets": [2, 2, 4, 4]},
    ],
)
def test_other_tables_are_refused(rules: dict[str, Any]) -> None:
    own = policy()
    plays = r"holdem\(bets=\[2;2;4;4\],raises=\[3;4;4;4\],ranks=5\)"
    with pytest.raises(SpecError, match=rf"the policy of bucketed_holdem.* plays {plays}; use that game"):
        BucketAgent(holdem(**rules).public, own)


def test_it_has_to_see_every_bet() -> None:
    from treeplex.search.subgames.beliefs import Belief

    own = policy()
    player = BucketAgent(limit_holdem(rules_of(own)).public, own)
    later = player.game.after(player.game.first_state(), 1)
    ones = np.ones(len(royal().hands))
    with pytest.raises(GameError, match="needs to observe the hand from its start"):
        player.begin(at=Belief(player.game, later, (ones, ones)))


def test_a_run_folder_is_an_agent(tmp_path: Path) -> None:
    """By its path, and as a policy, at the table of the game that it was solved for."""
    solution = tp.solve(tp.compile(GAME), "cfr", iterations=1, out=tmp_path / "two")
    game = "holdem(bets=[2;2;4;4],raises=[3;4;4;4],ranks=5)"
    for named in (str(tmp_path / "two"), f"blueprint(file={tmp_path / 'two'})", solution, solution.policy):
        found = agent(named, game)
        assert isinstance(found, BucketAgent)
        assert np.array_equal(found.table.probabilities, solution.policy.probabilities)
    with pytest.raises(SpecError, match="use that game"):
        agent(str(tmp_path / "two"), "holdem(stack=100)")
    with pytest.raises(PolicyError):
        agent(str(tmp_path / "two"), "kuhn_poker")


def test_no_limit_in_buckets_is_no_agent() -> None:
    game = tp.compile("bucketed_holdem(cards=royal,buckets=2,sizes=[a],stack=4,boards=20,river_boards=20)")
    with pytest.raises(SpecError, match="only in fixed-limit hold'em with blinds"):
        agent(Policy.uniform(game), "holdem(stack=100,ranks=5)")


@pytest.mark.slow
def test_a_person_plays_against_a_run_folder(tmp_path: Path) -> None:
    tp.solve(tp.compile(GAME), "cfr", iterations=1, out=tmp_path / "two")
    words = ["play", "holdem(bets=[2;2;4;4],raises=[3;4;4;4],ranks=5)", "--against", str(tmp_path / "two"), "--seed", "1"]
    out = CliRunner().invoke(app, [*words, "-n", "2"], input="raise\n" + "c\n" * 20).output
    assert out.startswith("hold'em, limit, blinds 0.5 and 1 bb, stacks 100 bb, bets 1 and 2 bb, 20 cards; against ")
    assert "  1 fold   2 call 0.5 bb   3 raise to 2 bb\n" in out
    assert "\n2 hands: " in out
