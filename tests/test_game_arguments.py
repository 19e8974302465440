"""Every public function that takes a game takes a spec, rules and a compiled game, with the same result."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, is_typeddict

import numpy as np
import pytest

import treeplex as tp
from treeplex.search import Belief, Horizon, PlaythroughSettings, TableAgent, ZeroLeaf

KUHN = "kuhn_poker"
SETTINGS = PlaythroughSettings(iterations=4, playthroughs=1)
MODULES = ("", "policies", "correlation", "formats", "environments", "arena", "holdem", "search", "solvers", "learn")
PARAMETERS = {"game", "rules", "whole", "compiled", "spot"}
"""What games are called among parameters."""


@dataclass(frozen=True)
class OneStep(tp.learn.Settings):
    """A step."""

    steps: int = 1


class Uniform(tp.learn.Learner):
    """Learns nothing."""

    settings_class = OneStep

    def step(self) -> None:
        pass

    def policy(self) -> tp.Policy:
        return tp.Policy.uniform(self.compiled)

    def state(self) -> dict[str, np.ndarray]:
        return {}

    def restore(self, arrays: Any) -> None:
        pass


def table() -> dict[str, dict[int, float]]:
    return tp.Policy.uniform(tp.compile(KUHN)).to_dict()


def written(write: Callable[[Any, Path], None], game: Any, path: Path) -> str:
    write(game, path)
    return path.read_text()


def device(path: Path) -> Path:
    tp.correlation.save(tp.correlation.from_policy(tp.Policy.uniform(tp.compile(KUHN))), path)
    return path


def environment(name: str) -> Any:
    pytest.importorskip("gymnasium")
    pytest.importorskip("pettingzoo")
    return getattr(tp.environments, name)


def guest(game: Any) -> np.ndarray:
    agent = environment("ObservingAgent")(public(game), game, lambda seen: np.array([0.25, 0.75]))
    agent.begin()
    agent.see(agent.game.options(agent.state).labels[0]) if agent.game.options(agent.state).player < 0 else None
    return np.asarray(agent.policy())


def bot(game: Any) -> np.ndarray:
    pytest.importorskip("pyspiel")
    bots = environment("as_bot")(TableAgent(KUHN, tp.Policy.uniform(KUHN)), 0)
    agent = environment("BotAgent")(public(game), game, lambda seat: bots)
    agent.begin(0)
    return np.asarray(agent.policy())


def public(game: Any) -> Any:
    """Public states take a compiled game through its rules."""
    return game.rules if isinstance(game, tp.CompiledGame) else game


def searched(game: Any) -> np.ndarray:
    agent = tp.search.SearchAgent(game, ZeroLeaf(), SETTINGS, np.random.default_rng(0), drawn=False)
    return np.asarray(agent.policy())


def resolving(game: Any) -> np.ndarray:
    return np.asarray(tp.search.ResolvingAgent(game, tp.search.ResolveSettings(iterations=4)).policy())


def cut_values(game: Any) -> tuple[int, ...]:
    return tuple(tp.search.cut(game, [Belief.root(game)], Horizon(2)).roots.widths)


def averaged(game: Any) -> np.ndarray:
    found = tp.search.playthrough_policy(game, public(game), ZeroLeaf(), SETTINGS, np.random.default_rng(0))
    return found.probabilities


def solver(game: Any) -> np.ndarray:
    found = tp.solvers.make_solver(game, "cfr")
    found.run(3)
    return found.average_policy().probabilities


UNIFORM = "uniform"
CASES: dict[str, Callable[[Any, Path], Any]] = {
    "Policy": lambda game, path: tp.Policy(game, tp.Policy.uniform(KUHN).probabilities).probabilities,
    "agent": lambda game, path: tp.agent(UNIFORM, game).policy(),
    "best_response": lambda game, path: tp.best_response(game, UNIFORM, 0)[0],
    "check_rules": lambda game, path: tp.check_rules(game, KUHN, playthroughs=5),
    "compare": lambda game, path: tp.compare(game, ["cfr"], iterations=2).solutions[0].exploitability,
    "compile": lambda game, path: tp.compile(game).identity,
    "draw": lambda game, path: len(tp.draw(game).axes),
    "exploitability": lambda game, path: tp.exploitability(game, UNIFORM),
    "informationally_inferior": lambda game, path: tp.informationally_inferior(game, game),
    "judge": lambda game, path: tp.judge(game, UNIFORM).exploitability,
    "load": lambda game, path: tp.load(game).spec,
    "load_policy": lambda game, path: tp.load_policy(tp.solve(KUHN, iterations=2).save(path), game).probabilities,
    "match": lambda game, path: tp.match(game, [UNIFORM, UNIFORM]).table(),
    "nash_conv": lambda game, path: tp.nash_conv(game, UNIFORM),
    "sample": lambda game, path: tp.sample(game, iterations=2, playouts=2).records[-1].nodes,
    "solve": lambda game, path: tp.solve(game, iterations=2).policy.probabilities,
    "structure": lambda game, path: tp.structure(game).pieces,
    "train": lambda game, path: tp.train(game, Uniform).model.probabilities,
    "policies.Policy": lambda game, path: tp.Policy.uniform(game).probabilities,
    "policies.as_policy": lambda game, path: tp.policies.as_policy(game, UNIFORM).probabilities,
    "policies.distance_to_value": lambda game, path: tp.policies.distance_to_value(game, UNIFORM),
    "policies.estimate": lambda game, path: tp.policies.estimate(game, tp.Policy.uniform(KUHN), playouts=4),
    "policies.exact_value": lambda game, path: tp.policies.exact_value(game),
    "policies.expected_values": lambda game, path: tp.policies.expected_values(game, UNIFORM),
    "policies.head_to_head": lambda game, path: tp.policies.head_to_head(
        game, tp.Policy.uniform(KUHN), tp.Policy.uniform(KUHN), playouts=4
    ),
    "policies.infostate_regrets": lambda game, path: tp.policies.infostate_regrets(game, UNIFORM),
    "policies.load": lambda game, path: tp.policies.load(tp.solve(KUHN, iterations=2).save(path), game).probabilities,
    "correlation.Device": lambda game, path: (
        tp.correlation.Device(
            game, *[getattr(tp.correlation.best_cce("kuhn_poker"), name) for name in ("plans", "support", "weights")]
        ).payoffs
    ),
    "correlation.best_cce": lambda game, path: tp.correlation.best_cce(game).welfare,
    "correlation.load": lambda game, path: tp.correlation.load(device(path / "device.json"), game).payoffs,
    "correlation.read": lambda game, path: tp.correlation.read(device(path / "device.json"), game)[0].payoffs,
    "formats.OpenSpielGame": lambda game, path: None,
    "formats.from_tabular_policy": lambda game, path: tp.formats.from_tabular_policy(game, table()).probabilities,
    "formats.to_pyspiel_policy": lambda game, path: None,
    "formats.to_tabular_policy": lambda game, path: None,
    "formats.write_efg": lambda game, path: written(tp.formats.write_efg, game, path / "game.efg"),
    "formats.write_game_file": lambda game, path: written(tp.formats.write_game_file, game, path / "kuhn.game"),
    "environments.BotAgent": lambda game, path: bot(game),
    "environments.ObservingAgent": lambda game, path: guest(game),
    "environments.GameAEC": lambda game, path: environment("GameAEC")(game).possible_agents,
    "environments.GameEnv": lambda game, path: environment("GameEnv")(game).reset(seed=0)[0],
    "environments.GameParallel": lambda game, path: environment("GameParallel")(game).possible_agents,
    "environments.GameVectorEnv": lambda game, path: environment("GameVectorEnv")(game, 2).reset(seed=0)[0],
    "environments.infostate_tensors": lambda game, path: environment("infostate_tensors")(game, 0),
    "arena.local_best_response": lambda game, path: tp.arena.local_best_response(game, UNIFORM).values,
    "learn.counterfactual_values": lambda game, path: tp.learn.counterfactual_values(game, tp.Policy.uniform(KUHN)).infosets,
    "learn.infoset_features": lambda game, path: tp.learn.infoset_features(game),
    "learn.shipped_net": lambda game, path: tp.learn.shipped_net(game).identity,
    "search.Belief": lambda game, path: Belief.root(public(game)).ranges[0],
    "search.ResolvingAgent": lambda game, path: resolving(public(game)),
    "search.SearchAgent": lambda game, path: searched(public(game)),
    "search.TableAgent": lambda game, path: TableAgent(public(game), tp.Policy.uniform(KUHN)).policy(),
    "search.agent_policy": lambda game, path: tp.search.agent_policy(tp.agent(UNIFORM, KUHN), game).probabilities,
    "search.playthrough_policy": lambda game, path: averaged(game),
    "search.cut": lambda game, path: cut_values(public(game)),
    "search.public_game": lambda game, path: repr(tp.search.public_game(game).first_state()),
    "search.public_tree": lambda game, path: repr(tp.search.public_tree(game).first_state()),
    "solvers.make_solver": lambda game, path: solver(game),
}
GAMES = {"informationally_inferior": "rock_paper_scissors"}
"""Games other than Kuhn poker, by case."""
OTHERS = {
    "policies.unfold": "a phantom game, below",
    "holdem.CompiledSpot": "made by compiling",
    "holdem.HoldemGame": "a spot's data",
    "holdem.HoldemSolver": "a compiled spot",
    "learn.AveragingLearner": "the base of learners",
    "learn.NeuralSettings": "compiled: whether walks are",
    "learn.RebelTrainer": "public-tree rules, or a spot",
    "solvers.GameSolver": "a compiled game",
    "holdem.HoldemPolicy": "made by solving",
    "holdem.HoldemSolution": "made by solving",
    "holdem.SpotEstimate": "made by estimating",
    "holdem.compile": "spots, below",
    "holdem.estimate": "spots, below",
    "holdem.holdem_agent": "spots, below",
    "holdem.report": "spots",
    "search.resolve_subgames": "tests/search/resolving",
    "search.ActionAbstraction": "public-tree rules around other public-tree rules",
    "search.Aivat": "below",
    "search.BlueprintLeaf": "below",
    "search.CoarsePolicy": "a subset of actions",
    "search.PolicyValues": "below",
    "search.BaseAgent": "the base of agents",
    "search.TableBlueprint": "the very rules of the agent that plays it",
    "search.TranslatedAgent": "below",
    "search.compile_abstraction": "a subset of actions",
    "search.off_tree_counts": "a subset of actions",
    "search.cut_states": "states of public-tree rules",
    "search.self_generated_policies": "below",
    "search.improve_blueprint": "a subset of actions",
    "search.bet_abstraction": "below",
    "search.translated_policy": "a subset of actions",
    "search.off_tree_actions": "a subset of actions",
    "learn.Learner": "made by tp.train",
    "learn.RebelJudgement": "made by judging",
    "learn.deepstack_leaf": "tests/learn/deepstack",
    "learn.judge_rebel": "tests/runs/rebel",
    "learn.train_seeds": "tests/runs/train",
}
"""Public callables with such a parameter that are tested elsewhere, and where."""


def takers() -> Iterator[str]:
    """Names of public functions and classes with a parameter that is a game."""
    for module in MODULES:
        if module == "environments":
            pytest.importorskip("gymnasium")
            pytest.importorskip("pettingzoo")
        home = import_module(f"treeplex.{module}" if module else "treeplex")
        for name in home.__all__:
            found = getattr(home, name)
            if is_typeddict(found) or not callable(found) or name == "CompiledGame":
                continue
            if PARAMETERS & set(inspect.signature(found).parameters):
                yield f"{module}.{name}" if module else name


@pytest.mark.slow_cases("check_rules", "draw", "load_policy", "policies.load", "correlation.Device")
@pytest.mark.parametrize("name", CASES)
def test_a_spec_rules_and_a_compiled_game_give_the_same(name: str, tmp_path: Path) -> None:
    results = []
    spec = GAMES.get(name, KUHN)
    for number, game in enumerate((spec, tp.load(spec), tp.compile(spec))):
        folder = tmp_path / str(number)
        folder.mkdir()
        results.append(CASES[name](game, folder))
    for result in results[1:]:
        assert np.array_equal(result, results[0]) if isinstance(result, np.ndarray) else result == results[0]


def test_every_public_function_that_takes_a_game_is_tested() -> None:
    assert {*takers()} == {*CASES, *OTHERS}


def test_public_states_may_be_given_as_a_spec() -> None:
    policy, rules = tp.Policy.uniform(KUHN), tp.search.public_tree(KUHN)
    everything = (slice(None), slice(None))
    pairs = [(tp.search.Aivat(game, tp.search.PolicyValues(game, policy)), game) for game in (KUHN, rules)]
    assert np.array_equal(*[aivat.expected for aivat, _ in pairs])
    assert np.array_equal(*[tp.search.PolicyValues(game, policy)(rules.first_state(), everything) for game in (KUHN, rules)])
    leaves = [tp.search.BlueprintLeaf(game, policy) for game in (KUHN, rules)]
    assert [leaf.continuations for leaf in leaves] == [(1, 1)] * 2
    horizon = Horizon(1)
    found = [tp.search.self_generated_policies(game, policy, 0, 2, horizon=horizon, iterations=3) for game in (KUHN, rules)]
    assert np.array_equal(*[each[1].probabilities for each in found])
    subsets = [tp.search.bet_abstraction(game, ["a"]) for game in ("no_limit_leduc", tp.search.public_tree("no_limit_leduc"))]
    assert subsets[0].visit(subsets[0].root) == subsets[1].visit(subsets[1].root)
    inner = TableAgent(rules, policy)
    assert np.array_equal(tp.search.TranslatedAgent(KUHN, inner).policy(), inner.policy())


def test_unfold_takes_a_spec() -> None:
    whole = "dark_hex(board_size=2)"
    small = tp.Policy.uniform("dark_hex(board_size=2,symmetric=true)")
    found = [tp.policies.unfold(small, game).probabilities for game in (whole, tp.compile(whole), None)]
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


def test_spots_by_name_and_by_file(tmp_path: Path) -> None:
    file = tmp_path / "river.yaml"
    file.write_text("board: Td 9d 6h Qc 2s\noop: AA,QJs\nip: KK,T8s\npot: 20\nstack: 60\nbets: 50%\nraises: a\n")
    spot = tp.load(str(file))
    found = [tp.holdem.compile(each) for each in (str(file), file, spot)]
    assert len({each.infosets for each in found}) == 1
    assert tp.holdem.estimate(str(file)).size.infosets == found[0].infosets
    agents = [tp.holdem.holdem_agent(each, ZeroLeaf()) for each in ("turn_endgame", tp.load("turn_endgame"))]
    assert agents[0].game.spot.identity == agents[1].game.spot.identity
