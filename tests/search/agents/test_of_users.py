"""Agents and leaves of one's own, from a Python file; the complete examples, and what they play."""

import inspect
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import treeplex as tp
from treeplex.errors import GameError, SpecError
from treeplex.run.cli.main import app
from treeplex.search import (
    METHODS,
    Belief,
    ExactLeaf,
    Horizon,
    PlaythroughSettings,
    SearchAgent,
    SubgameSearch,
    TableAgent,
    agent_policy,
    cut,
    cut_states,
    play_game,
    public_tree,
    subgame_policy,
    subgame_values,
)
from treeplex.search.agents.of_users import load_agent, load_leaf

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "extending"
LEDUC = "leduc_poker(ranks=2)"
GAMES = ("kuhn_poker", LEDUC, "liars_dice(numdice=1,dice_sides=3)", "small_matrix")
OWN = """\
from treeplex.search import ExactLeaf, TableAgent, ZeroLeaf
import treeplex as tp

ZERO = ZeroLeaf()


def nothing(places, believed, reached, player=None):
    return ZERO(places, believed, reached, player)


def uniform(game):
    return TableAgent(game, tp.policies.as_policy(tp.compile("kuhn_poker"), "uniform"))


class Exact(ExactLeaf):
    pass


class Half:
    def __init__(self, game):
        self.game = game

    def see(self, event):
        pass

    def act(self, hand):
        return 0


def broken(game):
    return game.nothing
"""


@pytest.fixture
def examples(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Both example modules, imported."""
    monkeypatch.syspath_prepend(EXAMPLES)
    import blueprint_leaf
    import lookahead_agent

    yield blueprint_leaf.Blueprint, lookahead_agent.Lookahead
    for name in ("blueprint_leaf", "lookahead_agent"):
        del sys.modules[name]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.py").write_text(OWN)
    return tmp_path


def lines(thing: object) -> int:
    """Lines of code that are not empty."""
    return sum(bool(line.strip()) for line in inspect.getsource(thing).splitlines())  # type: ignore[arg-type]


def mixed(game: tp.CompiledGame, seed: int = 3) -> tp.Policy:
    """A policy in which every action has its own probability."""
    from treeplex.forms.policies.tabular import normalised

    weights = np.random.default_rng(seed).uniform(0.1, 1.0, int(game.tree.sequence_offsets[-1]))
    return tp.Policy(game, normalised(game, weights))


def test_the_examples_are_short(examples: Any) -> None:
    leaf, agent = examples
    assert lines(leaf) <= 20
    assert lines(agent) <= 100


@pytest.mark.parametrize("name", GAMES)
def test_a_table_played_as_an_agent_is_that_table(name: str) -> None:
    game = tp.compile(name)
    policy = mixed(game)
    found = agent_policy(TableAgent(public_tree(name), policy), game)
    assert found.probabilities == pytest.approx(policy.probabilities, abs=1e-12)


@pytest.mark.parametrize("name", GAMES)
def test_a_policy_in_a_subgame_is_worth_what_it_is_worth_in_the_game(name: str) -> None:
    game, rules = tp.compile(name), public_tree(name)
    policy, root = mixed(game), Belief.root(rules)
    whole = cut_states(rules, [rules.first_state()])
    first, second = subgame_values(whole, subgame_policy(policy, whole), whole.ranges)
    expected = tp.policies.expected_values(game, policy)
    assert float((root.beliefs[0] * first[0]).sum()) == pytest.approx(expected[0], abs=1e-12)
    assert float((root.beliefs[1] * second[0]).sum()) == pytest.approx(expected[1], abs=1e-12)


@pytest.mark.parametrize(("name", "depth"), [("kuhn_poker", 1), ("kuhn_poker", 2), (LEDUC, 2), (LEDUC, 3), (GAMES[2], 2)])
def test_a_blueprint_at_the_leaves_is_exact(examples: Any, name: str, depth: int) -> None:
    """Play by a policy to the leaves and its values there are its values in the game, judged without any search."""
    game, rules = tp.compile(name), public_tree(name)
    policy, leaf = mixed(game), examples[0]
    subgame = cut(rules, [Belief.root(rules)], Horizon(depth))
    search = SubgameSearch(subgame, METHODS["cfr"], leaf(policy))
    arrays = search.arrays
    arrays.policy[:] = subgame_policy(policy, subgame)
    arrays.strategy[:] = subgame.reach_from(arrays.ranges, arrays.policy)
    reached = arrays.reach_at_leaves(arrays.strategy)
    values = search.leaf(subgame.leaves, reached, reached)
    for player in (0, 1):
        arrays.write_gradient(player, arrays.strategy)
        arrays.write_leaves(player, values[player] * subgame.leaves.opposing(reached, player))
        arrays.improve(player, tp.solvers.Weights())  # backs values up by the policy, then changes it
        found = float((arrays.ranges[player] * arrays.root_entries(player)).sum())
        mass = float((arrays.ranges[player] * subgame.roots.opposing(arrays.ranges, player)).sum())
        assert found / mass == pytest.approx(tp.policies.expected_values(game, policy)[player], abs=1e-12)


def test_a_search_over_an_equilibrium_blueprint_finds_the_value_of_the_game(examples: Any) -> None:
    rules, solution = public_tree(LEDUC), tp.solve(LEDUC, "pcfr+", iterations=1000)
    search = SubgameSearch(cut(rules, [Belief.root(rules)], Horizon(3)), METHODS["dcfr"], examples[0](solution.policy))
    search.run(300)
    assert search.mean_values()[0][0] == pytest.approx(solution.value[0], abs=2e-3)


def test_looking_ahead_to_the_end_is_solving(examples: Any) -> None:
    for name in ("kuhn_poker", LEDUC):
        game, rules = tp.compile(name), public_tree(name)
        whole = tp.exploitability(game, agent_policy(examples[1](rules, depth=20), game))
        assert whole == pytest.approx(tp.solve(game, "dcfr", iterations=200).exploitability, rel=1e-6)
        if name == "kuhn_poker":
            assert tp.exploitability(game, agent_policy(examples[1](rules, depth=1), game)) > 10 * whole


def test_more_draws_of_a_search_agent_are_less_exploitable() -> None:
    game, rules = tp.compile("kuhn_poker"), public_tree("kuhn_poker")
    agent = SearchAgent(rules, ExactLeaf(iterations=50), PlaythroughSettings(iterations=32))
    one, many = (tp.exploitability(game, agent_policy(agent, game, plays=plays, seed=1)) for plays in (1, 40))
    assert many < 0.03 < one
    assert one == tp.exploitability(game, agent_policy(agent, game, plays=1, seed=1))


def test_agents_of_games_without_public_trees_have_no_table() -> None:
    class Elsewhere(TableAgent):
        def begin(self, *arguments: object, **options: object) -> None:
            self.game = "another"  # type: ignore[assignment]

    game = tp.compile("kuhn_poker")
    with pytest.raises(GameError, match="an agent of str has no policy table"):
        agent_policy(Elsewhere(public_tree("kuhn_poker"), mixed(game)), game)


@pytest.mark.parametrize("text", ["my.py:ZERO", "my.py:nothing", "my.py:Exact", "my.py:Exact(iterations=20)", "my.py:uniform"])
def test_files_give_agents(folder: Path, text: str) -> None:
    settings = {} if text == "my.py:uniform" else {"iterations": 5}
    agent = tp.agent(text, "kuhn_poker", seed=1, **settings)
    assert isinstance(agent, TableAgent if "uniform" in text else SearchAgent)
    assert sum(play_game([agent, agent], np.random.default_rng(2))) == 0


def test_an_agent_of_a_file_draws_from_the_seed(examples: Any) -> None:
    text = f"{EXAMPLES}/lookahead_agent.py:Lookahead"
    draws = [tp.agent(text, "kuhn_poker", seed=seed).generator.random() for seed in (0, 0, 1)]  # type: ignore[attr-defined]
    assert draws[0] == draws[1] != draws[2]


def test_parameters_reach_agents_and_leaves(folder: Path) -> None:
    leaf = load_leaf("my.py:Exact(iterations=20)")
    assert isinstance(leaf, ExactLeaf)
    assert leaf.iterations == 20
    agent = load_agent(f"{EXAMPLES}/lookahead_agent.py:Lookahead(depth=2)", public_tree("kuhn_poker"), np.random.default_rng())
    assert agent.horizon.depth == 2  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("other.py:A", r"no file other\.py; .* myagent\.py:MyAgent"),
        ("my.py:Halff", r"my\.py defines no 'Halff'; did you mean 'Half'"),
        ("my.py:Half", r"is a Half, not an agent: it lacks begin, policy; derive it from treeplex\.search\.BaseAgent"),
        ("my.py:broken", r"^my\.py:31: AttributeError: .* \(while creating my\.py:broken\)"),
        ("my.py:uniform(depth=2)", r"unexpected keyword argument 'depth'; its signature is \(game\)"),
        ("my.py:ZERO(depth=2)", "has parameters, but it is a ZeroLeaf, not a class or function"),
    ],
)
def test_refusals(folder: Path, text: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        tp.agent(text, "kuhn_poker")


@pytest.mark.slow
def test_agents_are_judged_by_name(folder: Path, examples: Any) -> None:
    text = f"{EXAMPLES}/lookahead_agent.py:Lookahead"
    game = tp.compile("kuhn_poker")
    own = agent_policy(examples[1](public_tree("kuhn_poker")), game)
    for agent in (text, examples[1](public_tree("kuhn_poker"))):
        assert np.array_equal(tp.policies.as_policy(game, agent).probabilities, own.probabilities)
    result = CliRunner().invoke(app, ["evaluate", "kuhn_poker", text, "--json"])
    assert json.loads(result.stdout)["exploitability"] == pytest.approx(tp.exploitability(game, own))
    assert tp.exploitability(game, "my.py:Exact(iterations=100)") < 0.05
    result = CliRunner().invoke(app, ["show", text])
    assert "can play several games; name one (--game)" in result.stderr
    assert CliRunner().invoke(app, ["show", text, "--game", "kuhn_poker"]).exit_code == 0


@pytest.mark.quick_cases("my.py:uniform")
@pytest.mark.parametrize("against", ["my.py:Exact(iterations=20)", "my.py:uniform"])
def test_agents_are_played_against(folder: Path, against: str) -> None:
    arguments = ["play", "kuhn_poker", "--against", against, "--games", "2", "--seed", "1"]
    result = CliRunner().invoke(app, arguments, input="1\n1\n1\n1\n1\n")
    assert result.exit_code == 0, result.output
    assert "after 2 games" in result.stdout
    result = CliRunner().invoke(app, [*arguments, "--iterations", "5"], input="1\n1\n1\n1\n1\n")
    assert result.exit_code == (2 if "uniform" in against else 0)


def test_a_leaf_in_a_file_searches_turns_of_holdem(folder: Path) -> None:
    from treeplex.holdem.betting.bet_plan import BetPlan
    from treeplex.holdem.spots.known import holdem
    from treeplex.learn.first_street.search import search_spot

    spot = holdem("3s7hTdKs", "QQ,AKs", "99,KQs", pot=20.0, stack=40.0, bets=BetPlan.same("100%", ""))
    own, exact = (
        search_spot(spot, source, iterations=3, river=8, judge=False)
        for source in ("my.py:Exact(iterations=8,storage=float32)", None)
    )
    assert (own.values, exact.values) == ("my.py:Exact(iterations=8,storage=float32)", "exact")
    assert own.ev == pytest.approx(exact.ev, abs=1e-4)
    nothing = search_spot(spot, "my.py:ZERO", iterations=3, river=8, judge=False)
    assert abs(nothing.ev[0] - exact.ev[0]) > 0.1


@pytest.mark.parametrize("parameters", ["places, reached, believed", "states, ranges", "places"])
def test_a_leaf_with_other_parameters_is_refused(folder: Path, parameters: str) -> None:
    code = f"def leaf({parameters}): pass\n\nclass Leaf:\n    def __call__(self, {parameters}): pass\n"
    (folder / "leaf.py").write_text(code)
    for name in ("leaf", "Leaf"):
        with pytest.raises(
            SpecError,
            match=r"has parameters \(.*\); a leaf must accept \(places, believed, reached, player=None\), in this order",
        ):
            load_leaf(f"leaf.py:{name}")
