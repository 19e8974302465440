"""Value networks for single hands of hold'em as a learner."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, ClassVar

from treeplex.base.settings import Settings
from treeplex.base.spec import quoted
from treeplex.errors import SpecError
from treeplex.learn.common.device import one_thread
from treeplex.learn.hand_values.job import HAND_VALUES, HandValuesJob
from treeplex.learn.hand_values.settings import HandValueSettings
from treeplex.learn.hand_values.trainer import GAME, NET, HandNet, HandValueTrainer, read_hand_net
from treeplex.learn.train.kind import Options, Training, TrainingKind, count_of


class HandValuesKind(TrainingKind):
    """A value network for hands where a street begins, from random situations."""

    name, job_kind = "hand-values", HAND_VALUES
    source = "Moravčík et al. 2017, DeepStack, with single hands in place of buckets"
    settings: type[Settings] = HandValueSettings
    summary = "a network that values hands of hold'em where a street begins, from situations solved to the end"
    line: ClassVar[Mapping[str, str]] = {"rows": "{:,} rows", "loss": "loss {:.2e}", "validation": "validation {:.2e}"}
    needs_game = False

    def context(self) -> AbstractContextManager[None]:
        """One thread: the network is small."""
        return one_thread()

    def make(self, game: Any, settings: Any, options: Options) -> HandValuesJob:
        """A training at its beginning.

        Raises:
            SpecError: a game is named that is not this one, or stacks out of order.
        """
        own = GAME.format(street=settings.street)
        if game not in (None, own):
            raise SpecError(f"hand-values draws its own boards and stacks of hold'em; leave {game} out, and --set street=turn")
        if settings.most_stack < settings.least_stack:
            raise SpecError(f"most_stack {settings.most_stack:g} is below least_stack {settings.least_stack:g}; raise it")
        return HandValuesJob(own, HandValueTrainer(settings))

    def load(self, folder: Path) -> HandNet:
        """The network."""
        return read_hand_net(folder / NET)

    def report(self, training: Training) -> tuple[str, dict[str, str]]:
        """Losses and steps."""
        last, numbers, facts = training.records[-1], training.numbers(), dict[str, str]()
        for name, of in (("loss", "in training"), ("validation", "on situations held out")):
            if numbers[name] is not None:
                facts[name] = f"{numbers[name]:.3e}   mean Huber loss of hands' values in pots, {of}"
        facts["steps"] = f"{last.steps:,}; {last.rows:,} hands"
        return f"A network for {training.game}: {count_of(last.done, self.job_kind.unit)}", facts

    def next_steps(self, training: Training) -> list[tuple[str, str]]:
        """Search the street before with it."""
        if training.settings.street == "flop":
            return []
        before = {"river": "turn.yaml", "turn": "flop.yaml --board Ks8s3d"}[training.settings.street]
        folder = quoted(str(training.folder))
        return [(f"treeplex holdem search examples/spots/{before} {folder}", "search the street before with it")]
