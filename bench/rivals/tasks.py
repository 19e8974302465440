"""The systems compared: each builder sets up one task on one game and returns a function that does it ``n`` times.

A task is an iteration of an algorithm, averaging included, or one evaluation of a policy. Imports are inside the builders,
because a worker process loads only one system. Specs are OpenSpiel's, which Treeplex also reads.
"""

import os
import tempfile
from collections.abc import Callable
from typing import Any

Task = Callable[[int], float | None]
"""``task(n)`` does the work n times; a task that computes a number returns the last one."""

JUDGED_ITERATIONS = 10
"""CFR iterations of the policy whose exploitability is computed."""


def treeplex(algorithm: str) -> Callable[[str], Task]:
    """Treeplex's solver of an algorithm."""

    def build(spec: str) -> Task:
        from treeplex.forms.compile.compile_game import compile_game
        from treeplex.solvers.registry import make_solver

        return make_solver(compile_game(spec), algorithm).run

    return build


def treeplex_exploitability(spec: str) -> Task:
    """Treeplex's exploitability of the average policy of CFR."""
    from treeplex.evaluate import judge
    from treeplex.forms.compile.compile_game import compile_game
    from treeplex.solvers.registry import make_solver

    game = compile_game(spec)
    solver = make_solver(game, "cfr")
    solver.run(JUDGED_ITERATIONS)
    policy = solver.average_policy()

    def task(times: int) -> float:
        for _ in range(times):
            found = judge(game, policy).exploitability
        return found

    return task


def openspiel_game(spec: str, *, cached: bool = False) -> Any:
    """An OpenSpiel game, simultaneous moves turned into hidden sequential ones."""
    import pyspiel

    game = pyspiel.load_game_as_turn_based(spec)
    return pyspiel.convert_to_cached_tree(game) if cached else game


def openspiel(*, cached: bool = False) -> Callable[[str], Task]:
    """OpenSpiel's C++ CFR solver, on its own states or on ``convert_to_cached_tree`` of them."""

    def build(spec: str) -> Task:
        import pyspiel

        game = openspiel_game(spec, cached=cached)
        solver = pyspiel.CFRSolver(game)

        def task(times: int, game: Any = game) -> None:
            for _ in range(times):
                solver.evaluate_and_update_policy()

        return task

    return build


def openspiel_jax(spec: str) -> Task:
    """OpenSpiel's JAX solver with the settings of plain alternating CFR (float32)."""
    import jax
    from open_spiel.python.jax.cfr.jax_cfr import JaxCFR

    game = openspiel_game(spec)
    solver = JaxCFR(game, regret_matching_plus=False, alternating_updates=True, linear_averaging=False)

    def task(times: int) -> None:
        solver.multiple_steps(times)
        jax.block_until_ready((solver.regrets, solver.averages))

    return task


def openspiel_exploitability(spec: str) -> Task:
    """OpenSpiel's C++ NashConv, halved, of its solver's average policy as a table."""
    import pyspiel

    game = openspiel_game(spec)
    solver = pyspiel.CFRSolver(game)
    for _ in range(JUDGED_ITERATIONS):
        solver.evaluate_and_update_policy()
    policy = solver.tabular_average_policy()

    def task(times: int) -> float:
        for _ in range(times):
            found = pyspiel.nash_conv(game, policy) / 2
        return float(found)

    return task


def liteefg_game(game: Any, walk: str = "Enumerate") -> Any:
    """LiteEFG's environment of an OpenSpiel game; its file cache goes to a fresh folder.

    Args:
        game: turn-based.
        walk: what an update visits: ``Enumerate`` for all histories, ``External`` or ``Outcome`` for samples.
    """
    import LiteEFG

    with tempfile.TemporaryDirectory() as folder:
        home = os.environ.get("HOME")
        os.environ["HOME"] = folder
        environment = LiteEFG.OpenSpielEnv(game, traverse_type=walk, regenerate=True)
        if home is not None:
            os.environ["HOME"] = home
    return environment


def liteefg_environment(spec: str, algorithm: str) -> tuple[Any, Any]:
    """LiteEFG's environment and the graph of one of its baselines."""
    import importlib

    graph = importlib.import_module(f"LiteEFG.baselines.{algorithm}").graph()
    environment = liteefg_game(openspiel_game(spec))
    environment.set_graph(graph)
    return environment, graph


def liteefg(algorithm: str) -> Callable[[str], Task]:
    """A LiteEFG baseline; an iteration is that of its own training loop: update the graph, then the averages."""

    def build(spec: str) -> Task:
        environment, graph = liteefg_environment(spec, algorithm)
        strategy = graph.current_strategy()

        def task(times: int) -> None:
            for _ in range(times):
                graph.update_graph(environment)
                environment.update_strategy(strategy)

        return task

    return build


def liteefg_exploitability(spec: str) -> Task:
    """LiteEFG's exploitability of the average policy of its (simultaneous) CFR, mean over players."""
    environment, graph = liteefg_environment(spec, "CFR")
    strategy = graph.current_strategy()
    for _ in range(JUDGED_ITERATIONS):
        graph.update_graph(environment)
        environment.update_strategy(strategy)

    def task(times: int) -> float:
        for _ in range(times):
            found = environment.exploitability(strategy, "avg-iterate")
        return float(sum(found)) / 2

    return task


BUILDERS: dict[str, Callable[[str], Task]] = {
    "Treeplex CFR": treeplex("cfr"),
    "Treeplex CFR+": treeplex("cfr+"),
    "OpenSpiel C++ CFR": openspiel(),
    "OpenSpiel C++ CFR, cached tree": openspiel(cached=True),
    "OpenSpiel JAX CFR": openspiel_jax,
    "LiteEFG CFR": liteefg("CFR"),
    "LiteEFG CFR+": liteefg("CFRplus"),
    "Treeplex exploitability": treeplex_exploitability,
    "OpenSpiel C++ NashConv": openspiel_exploitability,
    "LiteEFG exploitability": liteefg_exploitability,
}
