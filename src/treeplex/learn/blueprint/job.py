"""Job that trains a blueprint.

========================= =======================================================================================
``run.json``              the game, settings, versions, status, and the last record
``metrics.jsonl``         after 1, 2, 5, 10, 20, ... boards: regret of the first decision, and decisions visited
``blueprint.safetensors`` the average policy
``state.safetensors``     regrets and averages, for resuming
``learning-curve.png``    regret of the first decision against boards
========================= =======================================================================================
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from treeplex.holdem.blueprint.policy import BLUEPRINT, HoldemBlueprint, bucket_rows_of, row_counts_of, shares_of
from treeplex.holdem.blueprint.solver import UNITS, BlueprintSolver, check_room
from treeplex.holdem.whole.game import Holdem
from treeplex.learn.blueprint.settings import BlueprintTraining
from treeplex.learn.train.kind import CURVE, TrainingJob
from treeplex.run.job.checkpoint import Arrays, State
from treeplex.run.job.folder import JobKind
from treeplex.run.job.job import RUNNING
from treeplex.run.job.record import Record, integer, real
from treeplex.run.job.schedule import sparse_points

HOLDEM_BLUEPRINT = JobKind(
    name="holdem blueprint",
    unit="boards",
    maker="treeplex train",
    numbers={"regret": real, "visited": real, "met": integer},
    needs={"learner": str, "game": str, "identity": str, "settings": dict},
    files=(BLUEPRINT, CURVE),
    noun="training",
)
"""Training runs for blueprints.

Numbers of a record: ``regret``, the mean over buckets of the best action's gain at the first player's first decision, in
mbb/hand; ``visited``, the fraction of infosets in the average policy; ``met``, decisions visited."""


class BlueprintJob(TrainingJob[BlueprintTraining]):
    """A training run in progress.

    Attributes:
        rules: the game.
        solver: the solver.
    """

    kind = HOLDEM_BLUEPRINT

    def __init__(self, learner: str, rules: Holdem, settings: BlueprintTraining) -> None:
        super().__init__(learner, rules.spec, rules.spec, settings)
        self.rules = rules
        abstraction = settings.buckets, settings.method, settings.recall
        check_room(rules.rules, row_counts_of(rules, *abstraction))
        self.solver = BlueprintSolver(
            rules.rules,
            bucket_rows_of(rules, *abstraction),
            deals=settings.deals,
            seed=settings.seed,
            discount_every=settings.discount_every,
            prune=settings.prune,
            prune_after=settings.prune_after,
            prune_below=settings.prune_below,
        )

    @property
    def done(self) -> int:
        """Number of boards traversed."""
        return self.solver.iteration

    @property
    def total(self) -> int:
        """Total number of boards to traverse."""
        return self.settings.boards

    def step(self, count: int) -> None:
        """Traverse ``count`` boards."""
        self.solver.run(count)

    def points(self) -> Iterator[int]:
        """Board counts at which training progress is measured."""
        return sparse_points(self.total, every=self.settings.every)

    def measure(self) -> Mapping[str, Any]:
        """Measure training progress."""
        solver, every = self.solver, self.settings.discount_every
        nodes, counts, tables = solver.nodes, solver.rows.counts, solver.tables
        first = tables.regrets[: counts[0] * nodes.actions[0]].reshape(-1, nodes.actions[0]).max(axis=1)
        weight = discounted_boards(solver.iteration, every) * self.settings.deals
        filled = sum(
            int(rows.any(axis=1).sum())
            for node, count in enumerate(nodes.actions)
            for rows in (tables.average[nodes.rows[node] :][: counts[nodes.street[node]] * count].reshape(-1, count),)
        )
        infosets = sum(counts[street] for street in nodes.street)
        gained = float(np.maximum(first, 0).sum()) * 1000.0 / UNITS
        return {"regret": gained / weight, "visited": filled / infosets, "met": solver.met}

    def state(self) -> State:
        """Regrets and averages."""
        return self.solver.state()

    def restore(self, arrays: Arrays) -> None:
        """Restore regrets and averages."""
        self.solver.restore(arrays)

    def blueprint(self) -> HoldemBlueprint:
        """The average policy."""
        solver = self.solver
        card = {"boards": self.done, "deals": self.settings.deals, "cpu_seconds": round(self.clock.cpu_seconds)}
        shares = shares_of(solver.tables.average, solver.nodes, solver.rows.counts)
        return HoldemBlueprint(self.rules, solver.rows, solver.nodes, shares, card)

    def write(self, path: Path, records: Sequence[Record], *, status: str) -> None:
        """Write the policy, and at the end the learning curve."""
        self.blueprint().save(path / BLUEPRINT)
        if status != RUNNING:
            from treeplex.run.plots import Curve, Panel, curves_figure, write_figure

            curve = Curve([record.done for record in records], [max(record.regret, 1e-6) for record in records])
            panel = Panel("Regret of the first decision\n(mbb/hand)", [curve], logarithmic=True)
            title = f"Blueprint of {self.game}"
            write_figure(curves_figure(title, "Boards", [panel], last=max(self.done, 1), height=3.6), path / CURVE)


def discounted_boards(boards: int, every: int) -> float:
    """Effective number of boards in the sums, where the k-th discount multiplies all earlier boards by k / (k + 1)."""
    if not every:
        return float(max(boards, 1))
    steps = boards // every
    return max(every * steps / 2 + boards % every, 1.0)  # after step k: every * (1 + ... + k) / (k + 1)
