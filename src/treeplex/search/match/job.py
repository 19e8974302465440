"""A match as a resumable job, whose hands are played by this process or by workers."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from treeplex.base.storage.files import append_line, write_atomically
from treeplex.base.storage.reading import whole_lines
from treeplex.base.workers.crew import SharedValue
from treeplex.base.workers.executor import Executor
from treeplex.errors import AlgorithmError, FileError, SpecError, StoppedAgentError
from treeplex.run.job.checkpoint import Arrays, State
from treeplex.run.job.interrupt import StepAbandoned
from treeplex.run.job.job import RUNNING, Job
from treeplex.run.job.record import Record
from treeplex.run.job.schedule import sparse_points
from treeplex.run.job.workers import Work
from treeplex.run.policy_source import checksums_of
from treeplex.search.evaluate.statistics import summary
from treeplex.search.evaluate.tables import expected_payoffs
from treeplex.search.match.hands import HandPlayer, HandResult
from treeplex.search.match.result import MatchInfo, MatchResult
from treeplex.search.match.scores import Ledger, Score, exact_score
from treeplex.search.match.settings import HANDS, MATCH, PLOT, RESULT
from treeplex.search.named_agents.registry import files_of

MOST_FAILURES = 10
"""Number of failed hands after which a match stops if no hand succeeded."""
PARTS = 4
"""Number of parts per worker into which a step's hands are split."""


class MatchJob(Job):
    """A running match.

    Attributes:
        player: plays the hands.
        ledger: results of the hands so far.
        work: worker processes or cluster.
        path: folder to which every hand is written immediately; None for none.
        stopped: the error of an agent that cannot play any further hand; it ends the match.
    """

    kind = MATCH

    def __init__(self, player: HandPlayer, work: Work, path: Path | None = None) -> None:
        super().__init__()
        self.player, self.work, self.path = player, work, path
        self.ledger = Ledger(player.plan)
        self.stopped: StoppedAgentError | None = None
        self._workers: tuple[Executor, SharedValue[HandPlayer]] | None = None
        if work.ray is not None and (self.exact is not None or player.tables_only is not None):
            how = "values are exact and no hand is played" if self.exact is not None else "hands are played in this process"
            raise SpecError(f"all agents are policy tables, so {how}; leave --ray out")
        if self.exact is None and player.tables_only is None:
            for table in range(len(player.plan.tables)):
                player.seated(table)

    @property
    def name(self) -> str:
        """Names of the entrants."""
        return " ".join(entrant.name for entrant in self.player.entrants)

    @property
    def identity(self) -> str:
        """The game as text."""
        return str(self.player.rules)

    @property
    def done(self) -> int:
        """Number of hands played."""
        return self.ledger.done

    @property
    def total(self) -> int:
        """Number of requested hands; 0 for exact values."""
        return 0 if self.exact is not None else self.player.plan.hands

    @cached_property
    def exact(self) -> tuple[Score, ...] | None:
        """Exact scores of all tables, if all agents' policies can be tabulated; None if hands have to be played."""
        player, scores, game = self.player, list[Score](), self.player.compiled
        if player.settings.sampled or game is None or not all(entrant.enumerable for entrant in player.entrants):
            return None
        policies = [entrant.policies for entrant in player.entrants if entrant.policies is not None]
        if len(policies) < len(player.entrants):
            return None
        for agents in player.plan.tables:
            seatings = [[policies[agents[index]][seat] for seat, index in enumerate(order)] for order in player.plan.orders]
            values = np.array([expected_payoffs(game, seating) for seating in seatings])
            scores.append(exact_score(agents, values, player.plan.orders))
        return tuple(scores)

    def step(self, count: int) -> None:
        """Play the next hands."""
        last = self.player.plan.hands
        if self.player.tables_only is not None:
            results = self.player.sample(range(self.done, min(self.done + count, last)))
            self.ledger.add_payoffs(results.payoffs)
            lines = results.to_json() if self.path is not None else ""
        else:
            alone = self.work.alone
            numbers = range(self.done, min(self.done + (count if alone else max(count, self.work.size)), last))
            hands = self._played(numbers) if alone else self._shared(numbers)
            self.ledger.add(hands)
            lines = "\n".join(hand.to_json() for hand in hands)
            self.check_failures(MOST_FAILURES)
        if self.path is not None:
            append_line(self.path / HANDS, lines)

    def check_failures(self, fewest: int = 1) -> None:
        """Raise an :class:`AlgorithmError` if at least ``fewest`` hands were played and all of them failed."""
        failed = self.ledger.failures
        if len(failed) == self.done >= fewest and (failure := failed[0].failure) is not None:
            agent = self.player.entrants[failure[0]].name
            raise AlgorithmError(f"all of the first {self.done} hands failed; first error, in agent {agent}: {failure[1]}")

    def _played(self, numbers: range) -> list[HandResult]:
        """Play hands in this process.

        Raises:
            StoppedAgentError: an agent stopped in the first hand of the match.
            StepAbandoned: an agent stopped later.
        """
        try:
            return self.player.play(numbers)
        except StoppedAgentError as error:
            if not self.done:
                raise
            self.stopped = error
            raise StepAbandoned from error

    def _shared(self, numbers: range) -> list[HandResult]:
        """Play hands in workers; returns their results in order."""
        if self._workers is None:
            executor = self.work.executor()
            self._workers = executor, executor.share(replace(self.player))
        executor, player = self._workers
        size = max(1, len(numbers) // (PARTS * executor.size))
        jobs = ((player, numbers[first : first + size]) for first in range(0, len(numbers), size))
        return [hand for part in executor.map(HandPlayer.play, jobs, self._watch) for hand in part]

    def _watch(self) -> None:
        if self.interrupt.requested:
            raise StepAbandoned

    def close(self) -> None:
        """Stop the workers and close the agents."""
        for agent in self.player.seated_agents:
            agent.close()
        if self._workers is not None:
            self._workers[0].close()
            self._workers = None

    def measure(self) -> Mapping[str, Any]:
        """Means and standard errors so far."""
        tables = range(len(self.player.plan.tables))
        summaries = (
            [summarised.result for summarised in self.exact]
            if self.exact
            else [summary(self.ledger.samples(summarised)) for summarised in tables]
        )
        return {
            "value": [value if isfinite(value) else None for summarised in summaries for value in summarised.mean],
            "error": [error if isfinite(error) else None for summarised in summaries for error in summarised.error],
            "failed": len(self.ledger.failures),
        }

    def scores(self) -> tuple[Score, ...]:
        """The scores of all tables."""
        if self.exact is not None:
            return self.exact
        return tuple(self.ledger.score(table, seed=self.player.settings.seed) for table in range(len(self.player.plan.tables)))

    def result(self, status: str, folder: Path | None = None) -> MatchResult:
        """The match's result so far."""
        player, exact = self.player, self.exact is not None
        words = None if exact or player.aivat is None else player.aivat[1]
        names = tuple(entrant.name for entrant in player.entrants)
        about = MatchInfo(str(player.rules), names, player.rules.big_blind, player.settings, words)
        remarks = tuple(remark for agent in player.seated_agents for remark in agent.remarks())
        return MatchResult(about, self.scores(), None if exact else self.ledger, status, folder, remarks)

    def live(self) -> Mapping[str, Any]:
        """Data for the progress line: names of the entrants and number of failed hands."""
        return {"agents": [entrant.name for entrant in self.player.entrants], "failed": len(self.ledger.failures)}

    def points(self) -> Iterator[int]:
        """Numbers of hands after which results are recorded."""
        return sparse_points(self.total)

    def about(self) -> Mapping[str, Any]:
        """Game, agents, their names, settings, and checksums of files."""
        player = self.player
        agents = [
            str(entrant.source) if isinstance(entrant.source, str | Path) else entrant.name for entrant in player.entrants
        ]
        names = [entrant.name for entrant in player.entrants]
        return {
            "game": str(player.rules),
            "agents": agents,
            "names": names,
            "settings": asdict(player.settings),
            "checksums": self.checksums,
        }

    @cached_property
    def checksums(self) -> dict[str, str]:
        """Checksums of the agents' files and folders, and of those of AIVAT's value function."""
        sources = [str(source) for source in self.player.agents if isinstance(source, str | Path)]
        return checksums_of(file for source in (*sources, self.player.settings.aivat or "") for file in files_of(source))

    def state(self) -> State:
        """State to checkpoint: the number of hands. The hands themselves are in their file."""
        return {"hands": np.array([self.done])}

    def restore(self, arrays: Arrays) -> None:
        """Restore the hands from their file."""
        assert self.path is not None
        path, count = self.path / HANDS, int(arrays["hands"][0])
        lines = whole_lines(path)[:count]
        hands = [HandResult.from_json(line, f"{path}, line {number}") for number, line in enumerate(lines, start=1)]
        if [hand.number for hand in hands] != list(range(count)):
            raise FileError(f"{path}: hands are missing; restore a backup, or start over with --force")
        self.ledger.add(hands)

    def begin(self) -> None:
        """Truncate the file of hands to those in the ledger; hands written after the last checkpoint are played again."""
        if self.path is None:
            return
        path = self.path / HANDS
        if not self.done:
            with suppress(FileNotFoundError):
                path.unlink()
            return
        lines = whole_lines(path)
        if len(lines) != self.done or not path.read_bytes().endswith(b"\n"):
            write_atomically(path, "".join(f"{line}\n" for line in lines[: self.done]))

    def write(self, path: Path, records: Sequence[Record], *, status: str) -> None:
        """Write the result, and once the match has ended its plot."""
        if status != RUNNING:
            from treeplex.run.plots import write_figure

            result = self.result(status)
            write_atomically(path / RESULT, result.to_json() + "\n")
            write_figure(result.plot(), path / PLOT)
