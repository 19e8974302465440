"""Policy gradients on Kuhn and Leduc poker: QPG, RPG, RMPG, NeuRD, R-NaD, MMD, PPO and PPG, by tables and networks."""

import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

import treeplex as tp
from papers.common.kept import code, kept
from papers.common.results import Result, Table, published
from papers.common.study import study
from papers.learners.trained import BANDS, band, earlier
from treeplex import load
from treeplex.learn.neural.gradients.actor import AVERAGE, LAST, Actor
from treeplex.learn.neural.gradients.r_nad import TUNED
from treeplex.learn.train.registry import NEURAL, neural_class

TABLE: Mapping[str, Any] = {"approximator": "table", "rate": 0.005, "critic_rate": 0.06, "critic_steps": 1}
"""Settings of learned critics in tables."""
NETWORK: Mapping[str, Any] = {"width": 64, "layers": 2}
R_NAD: Mapping[str, Any] = {"steps": 27_000, "rate": 0.003, "decay": 1.0, "target": 0.003}
"""Settings with step sizes that fall to zero, and seven million episodes."""


MODULES = ("gradients", "fitting.infosets", "fitting.outputs")
KERNELS = ("episodes", "returns", "reaches")


class Run(NamedTuple):
    """A learner on a game, with settings besides the defaults, from some seeds."""

    learner: str
    game: str
    words: str
    settings: Mapping[str, Any]
    seeds: int = 3

    @property
    def name(self) -> str:
        """Unique name of the run."""
        return f"{self.game} {self.learner} {self.words}"


RUNS = (
    *(Run(each, "kuhn_poker", "table", {**TABLE, "steps": 8_000}) for each in ("qpg", "rpg", "rmpg")),
    *(Run(each, "leduc_poker", "table", {**TABLE, "steps": 16_000}) for each in ("qpg", "rpg", "rmpg")),
    *(Run(each, "kuhn_poker", "network", {**NETWORK, "steps": 2_000, "batch": 4_096}) for each in ("qpg", "rpg", "rmpg")),
    *(Run(each, "leduc_poker", "network", {**NETWORK, "steps": 4_000, "batch": 4_096}) for each in ("qpg", "rpg")),
    Run("neurd", "leduc_poker", "network, exact values", {"steps": 4_000, "features": "words"}),
    Run("r-nad", "leduc_poker", "network", {**NETWORK, **R_NAD}),
    *(
        Run("mmd", game, "table, exact values", {"approximator": "table", "critic": "exact", "steps": 10_000}, 1)
        for game in ("kuhn_poker", "leduc_poker")
    ),
    *(
        Run(each, "leduc_poker", "network", {**NETWORK, "batch": 4_096, "steps": 250, "rate": 0.001, "entropy": 0.1})
        for each in ("ppo", "mmd", "ppg")
    ),
    *(
        Run(each, game, "network", {**NETWORK, "batch": 4_096, "steps": 50, "rate": 0.001, "passes": 2})
        for game in ("phantom_ttt(rows=2,line=2)", "dark_hex(num_rows=2,num_cols=3)")
        for each in ("ppo", "mmd")
    ),
)
"""Runs in the order of the table."""


def trained(run: Run, seed: int) -> dict[str, float]:
    """Results of a training run: exploitability of each of its policies, episodes, and CPU seconds."""
    made = neural_class(NEURAL[run.learner])
    rules = load(run.game)
    student = made(rules, made.settings_class(**run.settings, seed=seed))  # type: ignore[call-arg]
    assert isinstance(student, Actor)
    student.compiled, student.histories  # noqa: B018  compiled before the clock starts
    start = time.process_time()
    for _ in range(run.settings["steps"]):
        student.step()
    found = dict(student.measure())
    return {**found, "cpu_seconds": time.process_time() - start, "updates": run.settings["steps"]}


def measured(run: Run, seed: int, before: Mapping[str, Any]) -> dict[str, float]:
    """Cached results of :func:`trained`, or those stored ``before``."""
    if str(seed) in before.get(run.name, {}):
        return dict(before[run.name][str(seed)])
    key = {"study": "policy gradients", "game": tp.compile(run.game).identity, "learner": run.learner, "seed": seed}
    modules = [f"treeplex.learn.neural.{each}" for each in MODULES] + [f"treeplex.engine.histories.{each}" for each in KERNELS]
    found: dict[str, float] = kept({**key, "settings": dict(run.settings), "code": code(*modules)}, lambda: trained(run, seed))
    print(run.name, seed, found, flush=True)
    return found


@study(title="Policy gradients on Kuhn and Leduc poker", place=31, minutes=15, needs=("torch",))
def reproduce(*options: str) -> Result:
    """Option: :data:`STORED`."""
    before = earlier("learners/policy_gradients", options)
    said = published("learners")["policy gradients"]
    numbers: dict[str, Any] = {}
    rows: list[list[str]] = []
    met: list[str] = []
    missed: list[str] = []
    for run in RUNS:
        found = [measured(run, seed, before) for seed in range(run.seeds)]
        numbers[run.name] = {str(seed): each for seed, each in enumerate(found)}
        nash_conv = {
            name: [2.0 * each.get(f"exploitability_of_{name}", each["exploitability"]) for each in found]
            for name in (AVERAGE, LAST)
        }
        result = [2.0 * each["exploitability"] for each in found]
        claim = said.get(run.game, {}).get(run.learner)
        if claim:
            (met if np.mean(result) <= claim else missed).append(f"{run.learner} by {run.words} on {run.game}")
        work = f"{found[0]['episodes'] / 1e6:.1f} million" if found[0]["episodes"] else f"{found[0]['updates']:,} updates"
        seconds = f"{np.mean([each['cpu_seconds'] for each in found]):.0f}"
        shown = [band(nash_conv[AVERAGE], 3), band(nash_conv[LAST], 3), band(result, 3), f"{claim:g}" if claim else ""]
        rows.append([f"{run.learner}, {run.words}", f"`{run.game}`", work, *shown, seconds])
    columns = ["learner", "game", "episodes", "average policy", "last policy", "its result", "published", "CPU seconds"]
    played = next(each.values() for name, each in numbers.items() if " r-nad " in name)
    tuned = [2.0 * each[f"exploitability_of_{TUNED}"] for each in played]
    better = sum(2.0 * each["exploitability"] < other for each, other in zip(played, tuned, strict=True))
    return Result(
        source=said["source"],
        findings=[
            f"At or below the published figure: {', '.join(met)}. Above it: {', '.join(missed) or 'none'}.",
            f"The averaged and fine-tuned logits that R-NaD's paper plays reach {band(tuned)}. The average of its "
            f"policies is less exploitable in {better} of {len(tuned)} seeds.",
        ],
        tables=[Table("NashConv", columns, rows)],
        notes=[
            "NashConv is the sum of both players' exploitabilities, exact. The average is over updates, weighted by their "
            "number. The result is whichever of the two the learner returns.",
            f"Three seeds. {BANDS} Tables with exact values are deterministic and have one seed.",
            f"Published: {said['kuhn_poker']['source']}; {said['leduc_poker']['source']}.",
        ],
        numbers=numbers,
    )
