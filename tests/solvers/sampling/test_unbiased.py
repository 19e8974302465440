"""Estimators are unbiased: exactly, by going through all random choices of a walk, and by statistics on the compiled walk."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest

from tests import oracle
from tests.random_games import RandomGame
from treeplex.base.arrays import Floats
from treeplex.engine.sampling.sampled_tables import AVERAGE, POLICY, REGRET
from treeplex.engine.sampling.schemes import Traversal
from treeplex.engine.sampling.streams import start
from treeplex.engine.sampling.walks import scratch, walk
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.sources.load import load
from treeplex.games.base import Game
from treeplex.solvers.sampling.rules_solver import RulesSampler
from treeplex.solvers.sampling.rules_walk import HistoryWalk
from treeplex.solvers.sampling.solver import SAMPLINGS, MonteCarloCfr, SamplingScheme

WEIGHTS = [1.0, 1.0, 0.0, 0.0]
OWN = {
    "one-all": SamplingScheme("one-all", "one own action, all of the others'", "", "one", "all", {"exploration": 0.4}),
    "each-all": SamplingScheme("each-all", "", "", "each", "all", {"epsilon": 0.3, "beta": 0.5, "tau": 1.0}),
    "some-all": SamplingScheme("some-all", "one own action at random, all of the others'", "", "subset", "all", {"k": 1}),
}
"""Schemes that the library does not have."""
SCHEMES: Mapping[str, tuple[str, dict[str, Any]]] = {
    "cs": ("cs-mccfr", {}),
    "es": ("es-mccfr", {}),
    "os": ("os-mccfr", {"exploration": 0.37}),
    "as": ("as-mccfr", {"epsilon": 0.2, "beta": 0.5, "tau": 1.5}),
    "rs1": ("rs-mccfr", {"k": 1}),
    "rs2": ("rs-mccfr", {"k": 2}),
    "os-history": ("os-mccfr", {"baseline": "learned"}),
    "os-infoset": ("os-mccfr", {"baseline": "learned", "key": "infoset"}),
    "es-history": ("es-mccfr", {"baseline": "learned"}),
    "rs1-infoset": ("rs-mccfr", {"baseline": "learned", "key": "infoset"}),
    **{name: (name, {}) for name in OWN},
    "one-all-history": ("one-all", {"baseline": "learned"}),
}
TINY_LEDUC = "leduc_poker(ranks=2,suits=2,raises=1)"


class Replay:
    """Takes given choices first, then always the first possible one; notes what could have been taken."""

    def __init__(self, given: tuple[int, ...]) -> None:
        self.given, self.taken, self.offered, self.probability = given, list[int](), list[list[float]](), 1.0

    def pick(self, probabilities: list[float]) -> int:
        place = len(self.taken)
        possible = (option for option, probability in enumerate(probabilities) if probability > 0.0)
        option = self.given[place] if place < len(self.given) else next(possible)
        self.taken.append(option)
        self.offered.append(list(probabilities))
        self.probability *= probabilities[option]
        return option

    def happens(self, share: float, of: int) -> bool:
        return self.pick([share / of, 1.0 - share / of]) == 0


def all_choices(run: Callable[[Replay], None]) -> Iterator[Replay]:
    """Every sequence of choices, each after it was run."""
    waiting: list[tuple[int, ...]] = [()]
    while waiting:
        replay = Replay(waiting.pop())
        run(replay)
        yield replay
        for place in range(len(replay.given), len(replay.taken)):
            others = range(replay.taken[place] + 1, len(replay.offered[place]))
            waiting += [(*replay.taken[:place], other) for other in others if replay.offered[place][other] > 0.0]


class SamplerCase:
    """A sampler whose tables hold all infosets, with random regrets, averages and baselines, to be put back after a walk."""

    def __init__(self, game: Game, name: str, averaging: str = "lazy", *, positive: bool = False) -> None:
        (scheme, options), known = SCHEMES[name], {**SAMPLINGS, **OWN}
        self.root, self.game = oracle.grow(game), game
        self.sampler = RulesSampler(
            game, known[scheme], known[scheme].options({"averaging": averaging, **options}), seed=1, functions=False
        )
        generator = np.random.default_rng(7)
        for (player, infostate), actions in oracle.action_sets(self.root).items():
            table = self.sampler.walks.tables.players[player]
            number = table.add(infostate, actions)
            slots = range(table.infosets.first[number], table.infosets.first[number + 1])
            regrets = generator.uniform(0.1, 1.0, len(slots)) if positive else generator.normal(size=len(slots))
            for slot, regret in zip(slots, regrets, strict=True):
                table.regrets[slot], table.average[slot] = regret, generator.random()
                for column in table.baselines:
                    column[slot] = generator.normal()
        for table in self.sampler.walks.tables.players:
            table.match(False, range(len(table.infosets)))
        if self.sampler.walks.tables.histories is not None:
            self.expand(self.root, 0)
            for values in self.sampler.walks.tables.histories.values:
                values[:] = type(values)("d", generator.normal(size=len(values)))
        self.policy = {key: self.sampler.current_policy()[key] for key in oracle.action_sets(self.root)}

    def expand(self, node: oracle.Node, history: int) -> None:
        """Give every history a place for its baseline."""
        histories = self.sampler.walks.tables.histories
        if histories is not None and node.children:
            first = histories.below(history, len(node.children))
            for number, child in enumerate(node.children):
                self.expand(child, first + number)

    def columns(self) -> list[Any]:
        """All arrays that a walk may change."""
        found = [column for table in self.sampler.walks.tables.players for column in table.columns().values()]
        return found + list(self.sampler.walks.tables.histories.values if self.sampler.walks.tables.histories else ())

    def expectations(self, player: int, name: str) -> tuple[oracle.Table, int]:
        """What one walk adds to a column of the player's table in the mean over all its choices, and how many those are."""
        table = self.sampler.walks.tables.players[player]
        before = [column[:] for column in self.columns()]
        old = np.array(getattr(table, name))
        total, probability, count = np.zeros(len(old)), 0.0, 0

        def run(replay: Replay) -> None:
            for column, saved in zip(self.columns(), before, strict=True):
                column[:] = saved
            HistoryWalk(self.sampler.walks.tables, self.sampler.rules, player, replay, WEIGHTS).run(
                self.game.new_initial_state()
            )

        for replay in all_choices(run):
            total += replay.probability * (np.array(getattr(table, name)) - old)
            probability += replay.probability
            count += 1
        assert probability == pytest.approx(1.0, abs=1e-12)
        first = table.infosets.first
        return {(player, text): total[first[i] : first[i + 1]] for text, i in table.infosets.lookup.items()}, count


def exact_regrets(root: oracle.Node, policy: oracle.Policy, player: int) -> oracle.Table:
    """Counterfactual regrets."""
    values = oracle.counterfactual_values(root, policy, player)
    return {key: found - np.dot(found, list(policy[key].values())) for key, found in values.items()}


def cases() -> Iterator[tuple[str, Game, int, bool]]:
    for name in SCHEMES:
        for game in ("kuhn_poker", "kuhn_poker(players=3)"):
            for player in range(3 if "3" in game else 2):
                yield name, load(game), player, player == 0
        for seed, players in ((12, 2), (17, 2), (29, 2), (20, 3)):
            for player in range(2 if (name, seed) not in (("cs", 20), ("each-all", 20)) else 0):
                yield name, RandomGame(seed=seed, players=players, depth=4, zero_sum=False), player, player == 1
        if name not in ("as", "each-all"):
            yield name, load(TINY_LEDUC), 1, False


@pytest.mark.slow_cases(
    "as-random_game(seed=20,players=3,depth=4)-1-True",
    "each-all-kuhn_poker(players=3)-0-True",
    "each-all-kuhn_poker(players=3)-2-False",
)
@pytest.mark.parametrize(("name", "game", "player", "mixed"), list(cases()), ids=str)
def test_regrets_are_unbiased(name: str, game: Game, player: int, mixed: bool) -> None:
    """With policies that never play some actions, and with fully mixed ones."""
    prepared = SamplerCase(game, name, positive=mixed)
    found, _ = prepared.expectations(player, "regrets")
    exact = exact_regrets(prepared.root, prepared.policy, player)
    assert set(found) == set(exact)
    assert max(abs(regrets).max() for regrets in exact.values()) > 0.05
    for key, regrets in exact.items():
        assert found[key] == pytest.approx(regrets, abs=1e-12)


def test_all_choices_are_gone_through() -> None:
    prepared = SamplerCase(load("kuhn_poker"), "es", positive=True)
    _, count = prepared.expectations(0, "regrets")
    assert count == 6 * 2**2  # deals; what the other does after a pass and after a bet


def histories(root: oracle.Node) -> Iterator[tuple[oracle.Node, float]]:
    """Every history with the probability that chance plays its part."""
    waiting = [(root, 1.0)]
    while waiting:
        node, reach = waiting.pop()
        yield node, reach
        for number, child in enumerate(node.children):
            waiting.append((child, reach * (1.0 if node.key is not None else node.chances[number])))


@pytest.mark.parametrize("name", ["cs", "es", "os", "as", "rs1", "os-history"])
@pytest.mark.parametrize(("game", "player"), [("kuhn_poker", 0), (TINY_LEDUC, 1)])
def test_the_stochastic_average_is_unbiased(name: str, game: str, player: int) -> None:
    """A walk adds own reach times policy in the mean, once for every history in the infoset."""
    if (name, game) == ("as", TINY_LEDUC):
        game = "kuhn_poker"
    prepared = SamplerCase(load(game), name, "stochastic", positive=True)
    found, _ = prepared.expectations(player, "average")
    realised = oracle.realisation(prepared.root, prepared.policy, player)
    for key, added in found.items():
        size = sum(node.key == key for node, _ in histories(prepared.root))
        assert added == pytest.approx(size * realised[key], abs=1e-12)


def test_the_naive_average_is_biased() -> None:
    prepared = SamplerCase(load(TINY_LEDUC), "os", "naive", positive=True)
    found, _ = prepared.expectations(1, "average")
    realised = oracle.realisation(prepared.root, prepared.policy, 1)
    ratios = [added.sum() / realised[key].sum() for key, added in found.items()]
    sizes = [sum(node.key == key for node, _ in histories(prepared.root)) for key in found]
    assert np.std(np.array(ratios) / sizes) > 0.01  # by how often a walk comes by


@pytest.mark.quick_cases("kuhn_poker")
@pytest.mark.parametrize("game", ["kuhn_poker", TINY_LEDUC])
def test_the_opponents_average_is_unbiased_with_two_players(game: str) -> None:
    """The walks of player 0, all of whose actions are followed, add own reach times policy of player 1 times chance."""
    prepared = SamplerCase(load(game), "es", "opponent", positive=True)
    table = prepared.sampler.walks.tables.players[1]
    before = [column[:] for column in prepared.columns()]
    total = np.zeros(len(table.average))

    def run(replay: Replay) -> None:
        for column, saved in zip(prepared.columns(), before, strict=True):
            column[:] = saved
        HistoryWalk(prepared.sampler.walks.tables, prepared.sampler.rules, 0, replay, WEIGHTS).run(
            prepared.game.new_initial_state()
        )

    old = np.array(table.average)
    for replay in all_choices(run):
        total += replay.probability * (np.array(table.average) - old)
    realised = oracle.realisation(prepared.root, prepared.policy, 1)
    for infostate, number in table.infosets.lookup.items():
        chance = sum(reach for node, reach in histories(prepared.root) if node.key == (1, infostate))
        found = total[table.infosets.first[number] : table.infosets.first[number + 1]]
        assert found == pytest.approx(chance * realised[1, infostate], abs=1e-12)


WALKS = 20_000


def scores(game: str, name: str, player: int, factor: float = 1.0) -> Floats:
    """How many standard errors the mean regrets that compiled walks add, times ``factor``, are from the exact ones."""
    compiled = compile_game(game)
    (scheme, options), known = SCHEMES[name], {**SAMPLINGS, **OWN}
    solver = MonteCarloCfr(compiled, known[scheme], known[scheme].options(options), seed=1)
    root = oracle.grow(load(game))
    policy = oracle.random_policy(root, np.random.default_rng(3), zeros=False)
    rows, exact = solver.tables.rows, np.zeros(len(solver.tables.rows))
    regrets = exact_regrets(root, policy, player)
    for key, infoset in compiled.lookup.items():
        first, actions, _ = solver.layout.infosets[infoset]
        rows[first : first + actions, POLICY] = list(policy[key].values())
        exact[first : first + actions] = regrets.get(key, 0.0)
    room = scratch(solver.histories, solver.layout, solver.rules, compiled.size.depth)
    average = np.random.default_rng(4).random(len(rows))
    weights, sums, squares = np.array(WEIGHTS), np.zeros(len(rows)), np.zeros(len(rows))
    for number in range(WALKS):
        rows[:, REGRET], rows[:, AVERAGE] = 0.0, average
        stream = np.uint64(start(np.uint64(5), np.uint64(number), np.uint64(player)))
        walk(solver.histories, solver.layout, solver.rules, solver.tables, room, Traversal(player, weights), stream)
        sums += rows[:, REGRET]
        squares += rows[:, REGRET] ** 2
    mean = sums / WALKS
    error = np.sqrt(np.maximum(squares / WALKS - mean**2, 0.0) / WALKS)
    assert (error > 0).sum() >= 8
    return np.asarray((factor * mean - exact)[error > 0] / error[error > 0])


@pytest.mark.quick_cases(
    "kuhn_poker-0-es",
    "kuhn_poker-0-os",
    "kuhn_poker-0-os-history",
    "kuhn_poker-0-es-history",
    "kuhn_poker(players=3)-1-es",
    "kuhn_poker(players=3)-1-rs1",
    "kuhn_poker(players=3)-1-rs2",
    "kuhn_poker(players=3)-1-os-history",
    "kuhn_poker(players=3)-1-es-history",
    "kuhn_poker(players=3)-1-one-all",
    "leduc_poker(ranks=2,suits=2,raises=1)-1-cs",
    "leduc_poker(ranks=2,suits=2,raises=1)-1-rs1-infoset",
    "leduc_poker(ranks=2,suits=2,raises=1)-1-one-all",
)
@pytest.mark.parametrize("name", list(SCHEMES))
@pytest.mark.parametrize(("game", "player"), [("kuhn_poker", 0), ("kuhn_poker(players=3)", 1), (TINY_LEDUC, 1)])
def test_compiled_walks_are_unbiased(name: str, game: str, player: int) -> None:
    found = scores(game, name, player)
    assert abs(found).max() < 4.5


@pytest.mark.parametrize("factor", [2.0, 0.5, -1.0])
def test_a_wrong_factor_would_be_seen(factor: float) -> None:
    assert abs(scores("kuhn_poker", "os", 0, factor)).max() > 10
