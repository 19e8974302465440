"""Compiles the kernels for agents that search, before the first run."""

from pathlib import Path
from tempfile import TemporaryDirectory

from treeplex.run.solve.solve import solve
from treeplex.search.match.match import match

GAME = "leduc_poker"


def compile_agents() -> None:
    """Compile kernels by playing a hand between a re-solving agent and a policy, and evaluating it with AIVAT."""
    with TemporaryDirectory() as folder:
        blueprint = Path(folder) / "run"
        solve(GAME, "dcfr", iterations=2, out=blueprint)
        match(GAME, [f"libratus(blueprint={blueprint},iterations=2)", "uniform"], hands=1, sampled=True, seed=0)
