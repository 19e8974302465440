"""Agents by name on Leduc poker: exploitability and time per subgame, from one rough blueprint."""

from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import treeplex as tp
from papers.common.results import Result, Table
from papers.common.study import study
from treeplex import judge
from treeplex.policies import save as save_policy
from treeplex.search.match.agent_policy import policy_of_agent
from treeplex.solvers import make_solver

GAME = "leduc_poker"
BLUEPRINT = "cfr", 50
ITERATIONS = 1000
AGENTS = (
    "uniform",
    "blueprint(file=BLUEPRINT)",
    "modicum(blueprint=BLUEPRINT)",
    "libratus(blueprint=BLUEPRINT)",
    "libratus(blueprint=BLUEPRINT,gadget=none)",
    "deepstack(rounds=0)",
    "search(depth=0,drawn=false,iterations=1000)",
    "search(depth=0,iterations=1000)",
)
"""Each with 1,000 iterations a search."""


@study(title="Agents on Leduc poker", place=1, minutes=2)
def reproduce() -> Result:
    game = tp.compile(GAME)
    solver = make_solver(game, BLUEPRINT[0])
    solver.run(BLUEPRINT[1])
    numbers, rows = {}, []
    with TemporaryDirectory() as folder:
        file = Path(folder) / "blueprint.safetensors"
        save_policy(solver.average_policy(), file)
        for name in AGENTS:
            began = process_time()
            found = policy_of_agent(game, name.replace("BLUEPRINT", str(file)))
            seconds, exploitability = process_time() - began, judge(game, found.policy).exploitability
            numbers[name] = {
                "exploitability": exploitability,
                "subgames": found.subgames,
                "plays": found.plays or 0,
                "seconds": seconds,
            }
            pace = f"{1000 * seconds / found.subgames:.0f}" if found.subgames else ""
            rows.append([f"`{name}`", f"{exploitability:.4f}", f"{found.subgames}" if found.subgames else "", pace])
            print(rows[-1], flush=True)
    return Result(
        source="agents of this library, by name",
        findings=[
            "From the same rough blueprint, re-solving the second round behind a gadget is less exploitable than playing "
            "the blueprint.",
        ],
        tables=[
            Table(
                "Exploitability in chips, number of subgames solved to obtain the whole policy, and CPU time per subgame",
                ["agent", "exploitability", "subgames", "ms per subgame"],
                rows,
            )
        ],
        notes=[
            f"The blueprint is the average policy of {BLUEPRINT[1]} iterations of CFR. Every search takes {ITERATIONS:,} "
            "iterations. The last agent plays the policy of a random iteration of its search. Its exploitability is that of "
            "the mean over 32 playthroughs, an upper bound that falls with more playthroughs.",
            "DeepStack and the searches use no blueprint and solve to the end of the game.",
        ],
        numbers=numbers,
    )
