"""The learner ``deepstack``: DeepStack's value networks.

======================= =========================================================================================
``run.json``            game, settings, versions, status, and the last record
``metrics.jsonl``       one record every few seconds: situations, rows, steps, losses
``nets.safetensors``    the networks of all rounds, with a card
``state.safetensors``   state for resuming
``learning-curve.png``  losses against situations
======================= =========================================================================================
"""

from pathlib import Path
from typing import Any, ClassVar

from treeplex.base.settings import Settings
from treeplex.base.spec import quoted
from treeplex.forms.sources.load import load, named_file, public_tree
from treeplex.learn.deepstack.files import NETS, read_round_nets
from treeplex.learn.deepstack.settings import DeepStackSettings
from treeplex.learn.deepstack.source import DeepStackSource
from treeplex.learn.rebel.files import NetFile
from treeplex.learn.train.kind import Options, TrainingRun
from treeplex.learn.train.situations import SituationsJob, SituationsKind, situations_job_kind
from treeplex.run.job.record import integer
from treeplex.search.subgames.identity import public_identity

DEEPSTACK = situations_job_kind("deepstack", NETS, round=integer)
"""Training runs for DeepStack's networks.

The number ``round`` of a record is the round whose network is being trained, 1 after the first deal."""


class DeepStackKind(SituationsKind):
    """Trains value networks for betting rounds on random situations."""

    name, job_kind, file = "deepstack", DEEPSTACK, NETS
    source = "Moravčík et al. 2017, DeepStack: expert-level artificial intelligence in heads-up no-limit poker"
    settings: type[Settings] = DeepStackSettings
    summary = "value networks for betting rounds, from solved situations with random ranges"
    line: ClassVar = {"round": "round {}", **SituationsKind.line}
    title, values, rows = "DeepStack's networks for {}", "counterfactual values", "rows of round {}"

    def make(self, game: Any, settings: Any, options: Options) -> SituationsJob:
        """Create a training run."""
        rules = load(game, named_in=options.named_in).enumerable_rules()
        spec = game if isinstance(game, str) and named_file(game) else rules.spec
        tree = public_tree(rules)
        return SituationsJob(self, spec, public_identity(tree), DeepStackSource(tree, settings))

    def load(self, folder: Path) -> NetFile:
        """Load the network file."""
        return read_round_nets(folder)

    def named_again(self, training: TrainingRun) -> str:
        """The custom game's file, which a resume command must repeat; empty for built-in games."""
        return str(training.game) if named_file(training.game) else ""

    def next_steps(self, training: TrainingRun) -> list[tuple[str, str]]:
        """Suggest evaluating an agent that uses the networks."""
        player = quoted(f"deepstack(net={training.folder})")
        return [(f"treeplex evaluate {quoted(training.game)} {player}", "evaluate DeepStack with these networks")]
