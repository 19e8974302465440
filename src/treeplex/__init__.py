"""Treeplex solves imperfect-information games: equilibria, exploitability and the CFR family, from rules in thirty lines.

>>> import treeplex as tp
>>> solution = tp.solve("kuhn_poker", "dcfr", iterations=100)
>>> solution.exploitability < 1e-2
True

This package exports the main functions (solve, sample, compare, judge, ...) and their types. The rest is in modules:

=====================  ==============================================================================
``tp.policies``        policies: files, tables, values, regrets, playouts
``tp.arena``           custom agents, matches, local best response
``tp.correlation``     correlation devices and their distance from equilibrium
``tp.formats``         games and policies of OpenSpiel, Gambit and LiteEFG
``tp.games``           base classes and tools for writing rules
``tp.solvers``         the CFR family as data, and solvers that you step yourself
``tp.holdem``          hold'em: spots, ranges, browsable solutions
``tp.search``          beliefs, depth-limited subgames, search agents
``tp.learn``           training: ReBeL, learned discounting
``tp.engine``          kernels on compiled games: reach, gradient, backup
``tp.environments``    any game as an environment of Gymnasium or PettingZoo
``tp.results``         result types of the main functions
``tp.testing``         conformance suites for custom games, variants and agents
``tp.errors``          the exceptions
=====================  ==============================================================================

Names are imported on first use, which keeps ``import treeplex`` fast.
"""

from typing import TYPE_CHECKING, Any

from treeplex.base.exports import lazy_exports

if TYPE_CHECKING:
    from treeplex import (
        arena,
        correlation,
        engine,
        environments,
        errors,
        formats,
        games,
        holdem,
        learn,
        policies,
        results,
        search,
        solvers,
        testing,
    )
    from treeplex.evaluate.check_rules import check_rules
    from treeplex.forms.compile.compile_game import compile_game as compile
    from treeplex.forms.compile.compiled_game import CompiledGame
    from treeplex.forms.policies.tabular import Policy
    from treeplex.forms.sources.load import load
    from treeplex.forms.structure.classes import structure
    from treeplex.forms.structure.inferior import informationally_inferior
    from treeplex.games.base import CHANCE, SIMULTANEOUS, TERMINAL, Game, State
    from treeplex.games.registry import games as known_games
    from treeplex.learn.train.train import train
    from treeplex.run.compare import compare
    from treeplex.run.judge import best_response, exploitability, judge, load_policy, nash_conv
    from treeplex.run.sample.sample import sample
    from treeplex.run.solve.solution import Solution
    from treeplex.run.solve.solve import solve
    from treeplex.run.tree_picture import draw
    from treeplex.search.match.match import match
    from treeplex.search.named_agents.registry import agent, agents
    from treeplex.solvers import algorithms

    __version__: str

_HOMES = {
    "treeplex": "arena, correlation, engine, environments, errors, formats, games, holdem, learn, policies, results, "
    "search, solvers, testing",
    "treeplex.evaluate.check_rules": "check_rules",
    "treeplex.forms.compile.compile_game": "compile_game as compile",
    "treeplex.forms.compile.compiled_game": "CompiledGame",
    "treeplex.forms.policies.tabular": "Policy",
    "treeplex.forms.sources.load": "load",
    "treeplex.forms.structure.classes": "structure",
    "treeplex.forms.structure.inferior": "informationally_inferior",
    "treeplex.games.base": "CHANCE, SIMULTANEOUS, TERMINAL, Game, State",
    "treeplex.games.registry": "games as known_games",
    "treeplex.search.named_agents.registry": "agent, agents",
    "treeplex.run.compare": "compare",
    "treeplex.run.judge": "best_response, exploitability, judge, load_policy, nash_conv",
    "treeplex.search.match.match": "match",
    "treeplex.run.sample.sample": "sample",
    "treeplex.run.solve.solution": "Solution",
    "treeplex.run.solve.solve": "solve",
    "treeplex.learn.train.train": "train",
    "treeplex.run.tree_picture": "draw",
    "treeplex.solvers": "algorithms",
}

__all__ = [
    "CHANCE",
    "SIMULTANEOUS",
    "TERMINAL",
    "CompiledGame",
    "Game",
    "Policy",
    "Solution",
    "State",
    "agent",
    "agents",
    "algorithms",
    "arena",
    "best_response",
    "check_rules",
    "compare",
    "compile",
    "correlation",
    "draw",
    "engine",
    "environments",
    "errors",
    "exploitability",
    "formats",
    "games",
    "holdem",
    "informationally_inferior",
    "judge",
    "known_games",
    "learn",
    "load",
    "load_policy",
    "match",
    "nash_conv",
    "policies",
    "results",
    "sample",
    "search",
    "solve",
    "solvers",
    "structure",
    "testing",
    "train",
]
_export, __dir__ = lazy_exports(__name__, _HOMES)


def __getattr__(name: str) -> Any:
    """Import and return a public name on first use."""
    if name == "__version__":
        from importlib.metadata import version

        return version("treeplex")
    return _export(name)
