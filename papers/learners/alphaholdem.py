"""AlphaHoldem on Leduc poker: play against the K best snapshots, or against itself alone."""

from typing import Any

import numpy as np

from papers.common.results import ROOT, Result, Table
from papers.common.study import study
from papers.learners.trained import band, earlier
from treeplex.evaluate.judge import judge
from treeplex.evaluate.match.agents import agent_policy
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.policies.tabular import Policy
from treeplex.learn.alphaholdem.settings import BEST, LATEST
from treeplex.runs.agents.registry import agent
from treeplex.runs.alphaholdem.job import ALPHAHOLDEM
from treeplex.runs.job.folder import kind_of
from treeplex.runs.train.kind import Training
from treeplex.runs.train.train import train
from treeplex.solvers import make_solver

SOURCE = "Zhao et al. 2022, AlphaHoldem (AAAI), K-best self-play, on a game in which it can be judged exactly"
GAME = "leduc_poker"
FOLDERS = ROOT / "runs" / "papers" / "alphaholdem"
SEEDS = range(5)
EVERY = 10
WORDS = {BEST: "the K best snapshots", LATEST: "itself alone"}


def trained(opponents: str, seed: int) -> Training:
    """A training, which goes on where it stands."""
    folder = FOLDERS / f"{opponents}-{seed}"
    if kind_of(folder) == ALPHAHOLDEM.name:
        return train(resume=folder)
    return train(GAME, "alphaholdem", settings={"opponents": opponents, "seed": seed, "every": EVERY}, out=folder)


def measured_run(opponents: str, seed: int, before: dict[str, Any]) -> dict[str, Any]:
    """What a training comes to; as ``before`` has it where there is no folder."""
    name = f"{opponents} {seed}"
    if name in before and not (FOLDERS / f"{opponents}-{seed}").exists():
        return dict(before[name])
    training = trained(opponents, seed)
    curve = [record.exploitability for record in training.records]
    last, game = training.records[-1], compile_game(GAME)
    values = seat_values(agent_policy(agent(str(training.folder), game, seed=0), game))
    return {
        "last": curve[-1],
        "best": min(curve),
        "late": float(np.mean(curve[len(curve) // 2 :])),
        "seats": list(values),
        "hands": last.hands,
        "decisions": last.decisions,
        "cpu_seconds": last.cpu_seconds,
    }


def seat_values(policy: Policy) -> tuple[float, float]:
    """What a policy wins in each seat against uniform play, in chips."""
    game = policy.game
    found = []
    for player in (0, 1):
        mixed = Policy.uniform(game).probabilities.copy()
        begin, end = game.tree.sequence_offsets[player : player + 2]
        mixed[begin:end] = policy.probabilities[begin:end]
        found.append(judge(game, Policy(game, mixed)).value[player])
    return found[0], found[1]


@study(title="AlphaHoldem on Leduc poker", place=21, minutes=15, needs=("torch",))
def reproduce(options: list[str] | None = None) -> Result:
    """With the option :data:`STORED`."""
    before = earlier("learners/alphaholdem", options).get("trainings", {})
    game = compile_game(GAME)
    solver = make_solver(game, "pcfr+")
    solver.run(1000)
    nash = seat_values(solver.average_policy())
    measured = {}
    for seed in SEEDS:
        for opponents in (BEST, LATEST):
            measured[f"{opponents} {seed}"] = measured_run(opponents, seed, before)
            print(opponents, seed, measured[f"{opponents} {seed}"], flush=True)
    rows = []
    for opponents, words in WORDS.items():
        runs = [measured[f"{opponents} {seed}"] for seed in SEEDS]
        won = np.array([run["seats"] for run in runs])
        rows.append(
            [
                words,
                *(band([run[name] for run in runs]) for name in ("last", "late", "best")),
                *(band(list(won[:, seat])) for seat in (0, 1)),
            ]
        )
    seats = {opponents: np.mean([measured[f"{opponents} {seed}"]["seats"] for seed in SEEDS], axis=0) for opponents in WORDS}
    late = {opponents: np.mean([measured[f"{opponents} {seed}"]["late"] for seed in SEEDS]) for opponents in WORDS}
    cost = measured[f"{BEST} 0"]
    rate = np.mean([run["decisions"] / run["cpu_seconds"] for run in measured.values()])
    return Result(
        source=SOURCE,
        findings=[
            f"Over the second half of training the K best make policies that are exploitable for {late[BEST]:.2f} chips on "
            f"average, itself alone for {late[LATEST]:.2f}; {len(SEEDS)} seeds each. Neither has a guarantee of equilibrium.",
            f"Against uniform play an equilibrium wins {nash[0]:+.2f} chips in seat 0 and {nash[1]:+.2f} in seat 1; the K best "
            f"come to {seats[BEST][0]:+.2f} and {seats[BEST][1]:+.2f}, itself alone to {seats[LATEST][0]:+.2f} and "
            f"{seats[LATEST][1]:+.2f}.",
        ],
        tables=[
            Table(
                "Chips; the mean over seeds and, in brackets, the least and the most",
                ["plays against", "exploitability, last", "second half", "best", "seat 0, uniform", "seat 1, uniform"],
                rows,
            )
        ],
        notes=[
            f"{cost['hands']:,} hands a training, those of matches included, and {rate:,.0f} decisions a second of processor "
            "time, learning included. Exploitability and values are exact, of the network as a table of all infosets. "
            "The paper has no such figure: its games cannot be judged exactly.",
        ],
        numbers={"trainings": measured, "nash": list(nash)},
    )
