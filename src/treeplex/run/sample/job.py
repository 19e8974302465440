"""Sampling runs as jobs, and their results."""

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from treeplex.base.storage.tensors import TensorFile
from treeplex.base.work_clock import work_time
from treeplex.engine.sampling.streams import Stream
from treeplex.evaluate import judge
from treeplex.evaluate.playouts import Player, estimate, head_to_head
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.stepping import outcomes
from treeplex.forms.policies.sparse import save_table_policy
from treeplex.games.base import CHANCE, TERMINAL, Game
from treeplex.run.job.checkpoint import Arrays, State
from treeplex.run.job.folder import JobFolder
from treeplex.run.job.job import RUNNING, Job, Outcome, Session
from treeplex.run.job.record import UNCOUNTED_ITERATIONS, Record
from treeplex.run.job.schedule import sparse_points
from treeplex.run.policy_source import checksums_of
from treeplex.run.sample.settings import PLOT, POLICY, SAMPLE, UNIFORM, SampleSettings
from treeplex.solvers.sampling.rules_solver import RulesSampler

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ERRORS = 2.0
"""Half height of the bands in plots, in standard errors."""
CHECKED_PLAYOUTS, CHECKED_MOVES = 64, 200
"""Number and maximum length of the playouts that identify the rules."""


class SampleJob(Job):
    """A sampling run as a job."""

    kind = SAMPLE

    def __init__(
        self, sampler: RulesSampler, settings: SampleSettings, opponent: Player, compiled: CompiledGame | None = None
    ) -> None:
        super().__init__()
        self.sampler, self.settings, self.opponent, self.compiled = sampler, settings, opponent, compiled
        self._began: tuple[float, int] | None = None

    @property
    def name(self) -> str:
        """The scheme."""
        return self.sampler.algorithm

    @property
    def identity(self) -> str:
        """The spec of the game."""
        return self.sampler.game.spec

    @property
    def done(self) -> int:
        """Iterations done."""
        return self.sampler.iteration

    @property
    def total(self) -> int | None:
        """Requested iterations."""
        return self.settings.iterations if self.settings.iterations < UNCOUNTED_ITERATIONS else None

    @property
    def ahead(self) -> int:
        """Remaining iterations; the sampler itself stops at the history limit."""
        nodes = self.settings.nodes
        return 0 if nodes is not None and self.sampler.nodes >= nodes else max(0, self.settings.iterations - self.done)

    @property
    def left(self) -> float | None:
        """Estimate of the remaining iterations, from the histories per iteration if these are limited."""
        nodes, walked = self.settings.nodes, self.sampler.nodes
        estimates = [] if self.total is None else [float(max(0, self.total - self.done))]
        if nodes is not None and walked:
            estimates.append(max(0, nodes - walked) * self.done / walked)
        return min(estimates, default=None)

    def begin(self) -> None:
        """Record the start of the session."""
        self._began = work_time(), self.sampler.nodes

    def step(self, count: int) -> None:
        """Run iterations."""
        self.sampler.run(count, nodes=self.settings.nodes)

    def measure(self) -> Mapping[str, Any]:
        """Estimate the value of the average policy; compute exploitability if the game is compiled."""
        sampler, settings = self.sampler, self.settings
        policy = sampler.average_policy()
        value = estimate(sampler.game, policy, playouts=settings.playouts, seed=settings.seed)
        match = head_to_head(sampler.game, policy, self.opponent, playouts=settings.playouts, seed=settings.seed + 1)
        judgement = judge(self.compiled, policy.on(self.compiled)) if self.compiled is not None else None
        return {
            "nodes": sampler.nodes,
            "infosets": sampler.infosets,
            "bytes": sampler.bytes,
            "unstored": sampler.unstored,
            "value": value.value,
            "error": value.error,
            "match": match.value,
            "match_error": match.error,
            "exploitability": judgement.exploitability if judgement else None,
            "nash_conv": judgement.nash_conv if judgement else None,
        }

    def live(self) -> Mapping[str, Any]:
        """Return histories per second in this session, and table sizes."""
        sampler, (began, walked) = self.sampler, self._began or (work_time(), self.sampler.nodes)
        elapsed = work_time() - began
        return {
            "nodes": sampler.nodes,
            "node_rate": (sampler.nodes - walked) / elapsed if elapsed > 0 else 0.0,
            "infosets": sampler.infosets,
            "bytes": sampler.bytes,
            "memory": self.settings.memory,
            "full": sampler.full,
        }

    def points(self) -> Iterator[int]:
        """Yield the evaluation points."""
        return sparse_points(self.settings.iterations, every=self.settings.every)

    def about(self) -> Mapping[str, Any]:
        """Return game, algorithm, settings, and the checksums of the rules and of the opponent's file."""
        game = self.sampler.game
        return {
            "game": game.spec,
            "players": game.num_players,
            "algorithm": self.name,
            "settings": asdict(self.settings),
            "checksums": self.checksums,
        }

    @cached_property
    def checksums(self) -> dict[str, str]:
        """Checksums of the rules, by the game's spec, and of the opponent's file."""
        game = self.sampler.game
        return {game.spec or "the game": checksum_of_rules(game), **checksums_of([self.settings.against])}

    def state(self) -> State:
        """Return the tables without copying."""
        return self.sampler.tensors()

    def restore(self, arrays: Arrays) -> None:
        """Read the tables in pieces."""
        assert isinstance(arrays, TensorFile)
        self.sampler.restore(arrays)

    def write(self, path: Path, records: Sequence[Record], *, status: str) -> None:
        """Write the average policy, and the plot at the end."""
        save_table_policy(self.sampler.average_policy(), path / POLICY)
        if status != RUNNING:
            from treeplex.run.plots import write_figure

            title = f"{self.sampler.game.spec}, {self.name}"
            write_figure(progress_figure(title, self.settings.against, records), path / PLOT)


@final
class SamplingRun:
    """The result of a sampling run.

    Attributes:
        policy: the average policy.
        records: all evaluations (:data:`treeplex.run.sample.settings.SAMPLE`); :attr:`last` evaluates ``policy``.
        settings: settings of the run.
        status: ``finished``, ``time up`` or ``interrupted``.
        sampler: the sampler, which can run more iterations.
        folder: the run's folder, if any.
    """

    def __init__(self, job: SampleJob, outcome: Outcome) -> None:
        self.policy, self.records, self.status = job.sampler.average_policy(), outcome.records, outcome.status
        self.settings, self.sampler, self.folder = job.settings, job.sampler, outcome.folder
        self._job = job

    @property
    def last(self) -> Record:
        """The last evaluation."""
        return self.records[-1]

    @property
    def game(self) -> Game:
        """The rules."""
        return self.sampler.game

    @property
    def algorithm(self) -> str:
        """The scheme."""
        return self.sampler.algorithm

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write a resumable run folder; return its path.

        Raises:
            FileError: the folder cannot be written, or has files and ``force`` is not set.
        """
        with JobFolder(SAMPLE, path) as folder:
            folder.claim(force=force)
            folder.rewrite(self.records)
            Session(self._job, folder, self.records).save(self.status)
        self.folder = folder.path
        return folder.path

    def __repr__(self) -> str:
        return (
            f"<sampled {self.game.spec} by {self.algorithm}: {self.last.done:,} iterations, {self.last.nodes:,} nodes, "
            f"{self.last.infosets:,} infosets, {self.status}>"
        )


def checksum_of_rules(rules: Game) -> str:
    """Return a SHA-256 of random playouts: players, infostates, actions, chance probabilities and payoffs."""
    digest = hashlib.sha256()
    for number in range(CHECKED_PLAYOUTS):
        state, stream = rules.new_initial_state(), Stream(0, number, 0)
        with suppress(Exception):  # the walk reports errors of the rules
            for _ in range(CHECKED_MOVES):
                if (actor := state.current_player()) == TERMINAL:
                    digest.update(repr([round(float(payoff), 9) + 0.0 for payoff in state.returns()]).encode())
                    break
                about: object = state.information_state_string() if actor != CHANCE else None
                actions, chances = outcomes(state) if actor == CHANCE else (state.legal_actions(), [])
                rounded = [round(chance, 9) for chance in chances]
                digest.update(repr((actor, about, list(map(int, actions)), rounded)).encode("utf-8", "surrogatepass"))
                state = state.child(actions[int(stream.draw() * len(actions))])
    return digest.hexdigest()


def progress_figure(title: str, against: str, records: Sequence[Record]) -> "Figure":
    """Plot exploitability (if computed) or payoffs by playouts, and below them the number of infosets.

    Args:
        title: title of the figure.
        against: the opponent.
        records: at least one record.
    """
    from treeplex.run.plots import AXES, Curve, Panel, curves_figure

    nodes = [record.nodes for record in records]
    if all(record.exploitability is not None for record in records):
        exact = Curve(nodes, [record.exploitability for record in records])
        above = Panel("Exploitability\n(mean best-response gain, game units)", [exact], share=1.5)
    else:
        name = "uniform play" if against == UNIFORM else Path(against).parent.name or against
        shown = [(f"against {name}, all seats", [r.match for r in records], [r.match_error for r in records])]
        for player in range(min(2, len(records[0].value))):
            label = f"player {player} in self-play"
            shown.append((label, [r.value[player] for r in records], [r.error[player] for r in records]))
        curves = []
        for number, (label, means, errors) in enumerate(shown):
            low = [mean - ERRORS * error for mean, error in zip(means, errors, strict=True)]
            high = [mean + ERRORS * error for mean, error in zip(means, errors, strict=True)]
            curves.append(Curve(nodes, means, label, number, low, high))
        above = Panel("Mean payoff by playouts\n(bands: two standard errors)", curves, logarithmic=False, share=1.5)
    full = next((record.nodes for record in records if record.unstored), None)
    mark = None if full is None else (full, "memory limit reached")
    sizes = [Curve(nodes, [record.infosets for record in records], number=3)]
    below = Panel("Infosets in the tables", sizes, logarithmic=False, mark=mark, from_zero=True)
    return curves_figure(title, AXES["nodes"].label, [above, below], logarithmic=True, height=5.8)
