"""DeepStack's value networks as a learner."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, ClassVar

from treeplex.base.settings import Settings
from treeplex.base.spec import quoted
from treeplex.forms.sources.load import load, named_file, public_tree
from treeplex.learn.common.device import one_thread
from treeplex.learn.deepstack.files import read_round_nets
from treeplex.learn.deepstack.job import DEEPSTACK, DeepStackJob
from treeplex.learn.deepstack.settings import DeepStackSettings
from treeplex.learn.deepstack.trainer import DeepStackTrainer
from treeplex.learn.rebel.files import NetFile
from treeplex.learn.train.kind import Options, Training, TrainingKind, count_of
from treeplex.search.subgames.identity import public_identity


class DeepStackKind(TrainingKind):
    """Value networks for betting rounds, from random situations."""

    name, job_kind = "deepstack", DEEPSTACK
    source = "Moravčík et al. 2017, DeepStack: expert-level artificial intelligence in heads-up no-limit poker"
    settings: type[Settings] = DeepStackSettings
    summary = "a value network for each betting round, from situations with random ranges, solved"
    line: ClassVar[Mapping[str, str]] = {
        "round": "round {}",
        "rows": "{:,} rows",
        "loss": "loss {:.2e}",
        "validation": "validation {:.2e}",
    }

    def context(self) -> AbstractContextManager[None]:
        """One thread: these networks are small."""
        return one_thread()

    def make(self, game: Any, settings: Any, options: Options) -> DeepStackJob:
        """A training at its beginning."""
        rules = load(game, named_in=options.named_in).enumerable_rules()
        spec = game if isinstance(game, str) and named_file(game) else rules.spec
        tree = public_tree(rules)
        return DeepStackJob(spec, public_identity(tree), DeepStackTrainer(tree, settings), settings)

    def load(self, folder: Path) -> NetFile:
        """The networks' file."""
        return read_round_nets(folder)

    def named_again(self, training: Training) -> str:
        """A game of one's own."""
        return str(training.game) if named_file(training.game) else ""

    def report(self, training: Training) -> tuple[str, dict[str, str]]:
        """Losses and steps."""
        last, numbers, facts = training.records[-1], training.numbers(), dict[str, str]()
        for name, of in (("loss", "in training"), ("validation", "on situations held out")):
            if numbers[name] is not None:
                facts[name] = f"{numbers[name]:.3e}   mean Huber loss of counterfactual values in pots, {of}"
        facts["steps"] = f"{last.steps:,}; {last.rows:,} rows of round {last.round}"
        return f"DeepStack's networks for {training.game}: {count_of(last.done, self.job_kind.unit)}", facts

    def next_steps(self, training: Training) -> list[tuple[str, str]]:
        """Let an agent play by them."""
        player = quoted(f"deepstack(net={training.folder})")
        return [(f"treeplex evaluate {quoted(training.game)} {player}", "how exploitable DeepStack is with them")]
