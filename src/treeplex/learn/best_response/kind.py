"""The learner ``best-response``, which lower-bounds a fixed agent's exploitability by training against it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from treeplex.base.spec import quoted
from treeplex.errors import FileError
from treeplex.learn.best_response.learner import BestResponse
from treeplex.learn.train.kind import TrainingRun, count_of
from treeplex.learn.train.learner_job import LIBRARY, LibraryJob, LibraryKind
from treeplex.run.job.record import Record
from treeplex.search.named_agents.registry import runs_program

if TYPE_CHECKING:
    from treeplex.run.plots import Panel

BEST_RESPONSE = replace(LIBRARY, name="best response")
"""Training runs for best responses.

Numbers of a record: ``at_least``, the mean over seats of the response's winnings above the fixed agent's own in held-out hands;
``interval``, half the width of its 95% interval; ``value_0`` and so on, its winnings in each seat."""


class BestResponseJob(LibraryJob):
    """A best-response training run in progress."""

    kind = BEST_RESPONSE

    def panels(self, records: Sequence[Record]) -> "list[Panel]":
        """The learning curve: the lower bound with its interval."""
        from treeplex.run.plots import Curve, Panel

        points = [(record.done, record.measures["at_least"], record.measures["interval"]) for record in records]
        steps, wins, widths = (list(column) for column in zip(*points, strict=True))
        low, high = ([win + sign * width for win, width in zip(wins, widths, strict=True)] for sign in (-1, 1))
        label = "Lower bound on exploitability\n(held-out hands, 95% interval)"
        return [Panel(label, [Curve(steps, wins, "", 0, low, high)], logarithmic=False)]


class BestResponseKind(LibraryKind):
    """Learns a best response to a fixed agent."""

    job_kind, job_class = BEST_RESPONSE, BestResponseJob
    line: ClassVar[Mapping[str, str]] = {"at_least": "at least {:.4g}", "interval": "± {:.2g}"}

    def __init__(self) -> None:
        super().__init__(BestResponse, "best-response")

    def check_named(self, settings: Any, changes: Mapping[str, Any], place: Path) -> None:
        """On resuming, require that the user names a custom agent or an external program again, since it is code."""
        if (".py:" in settings.against or runs_program(settings.against)) and "against" not in changes:
            raise FileError(
                f"{place} learns against a custom agent, and loading a folder never runs code; name the agent again: "
                f"--against {settings.against}"
            )

    def report(self, training: TrainingRun) -> tuple[str, dict[str, str]]:
        """Report the lower bound."""
        last, settings = training.records[-1], training.settings
        measures = last.measures
        bound = f"{measures['at_least']:.4g} ± {measures['interval']:.2g}"
        wins = [f"{value:+.4g}" for name, value in measures.items() if name.startswith("value_")]
        facts = {
            "exploitability": f"at least {bound}   95% interval, {settings.hands:,} held-out hands",
            "it wins": ", ".join(wins) + "   by seat",
        }
        return f"{self.name} against {settings.against} on {training.game}: {count_of(last.done, 'steps')}", facts

    def next_steps(self, training: TrainingRun) -> list[tuple[str, str]]:
        """Suggest resuming with more steps."""
        named = self.named_again(training)
        again = f"treeplex train {f'{self.name} {quoted(named)} ' if named else ''}--resume {quoted(str(training.folder))}"
        return [(f"{again} --set steps={2 * training.settings.steps}", "train longer for a tighter bound")]
