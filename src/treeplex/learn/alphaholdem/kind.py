"""The learner ``alphaholdem``: poker of any size by self-play, without search."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

from treeplex.base.spec import quoted
from treeplex.forms.sources.load import load, named_file
from treeplex.learn.alphaholdem.agent import NetworkFile
from treeplex.learn.alphaholdem.job import ALPHAHOLDEM, AlphaHoldemJob
from treeplex.learn.alphaholdem.settings import OF_TABLES, AlphaHoldemSettings
from treeplex.learn.common.device import one_thread
from treeplex.learn.neural.fitting.approximator import TABLE
from treeplex.learn.train.kind import RECIPE, Options, TrainingKind, TrainingRun, count_of


class AlphaHoldemKind(TrainingKind):
    """Trains a poker network by self-play against its best snapshots."""

    name = "alphaholdem"
    job_kind, settings = ALPHAHOLDEM, AlphaHoldemSettings
    summary = "a network that plays poker without search, by self-play against its best snapshots"
    source = "Zhao et al. 2022, AlphaHoldem: high-performance artificial intelligence for heads-up no-limit poker (AAAI)"
    line: ClassVar = {"exploitability": "exploitability {:.3g}", "won": "{:+.3g} chips per hand against uniform"}

    def context(self) -> AbstractContextManager[None]:
        """Limit PyTorch to one thread, since the networks are small."""
        return one_thread() if find_spec("torch") is not None else nullcontext()

    def presets(self, game: Any) -> Mapping[str, AlphaHoldemSettings]:
        """The presets ``recipe`` and ``table``, the latter with larger step sizes for a table."""
        usual = AlphaHoldemSettings()
        return {RECIPE: usual, TABLE: usual.changed(OF_TABLES)}

    def make(self, game: Any, settings: AlphaHoldemSettings, options: Options) -> AlphaHoldemJob:
        """Create a training run."""
        rules = load(game, named_in=options.named_in).enumerable_rules()
        spec = game if isinstance(game, str) and named_file(game) else rules.spec
        return AlphaHoldemJob(self.name, spec, rules, settings)

    def load(self, folder: Path) -> NetworkFile:
        """Load the network."""
        return NetworkFile.load(folder)

    def named_again(self, training: TrainingRun) -> str:
        """The custom game's file, which a resume command must repeat; empty for built-in games."""
        return str(training.game) if named_file(training.game) else ""

    def report(self, training: TrainingRun) -> tuple[str, dict[str, str]]:
        """Report playing strength, hands and decisions."""
        last = training.records[-1]
        facts = {"against uniform": f"{last.won:+.4g} ± {last.interval:.2g} chips per hand"}
        if last.exploitability is not None:
            facts = {"exploitability": f"{last.exploitability:.4g}"} | facts
        rate = last.decisions / last.seconds if last.seconds else 0.0
        facts |= {"played": f"{last.hands:,} hands, {last.decisions:,} decisions, {rate:,.0f} per second"}
        return f"{self.name} on {training.game}: {count_of(last.done, 'updates')}", facts

    def next_steps(self, training: TrainingRun) -> list[tuple[str, str]]:
        """Suggest a match."""
        game, folder = quoted(str(training.game)), quoted(str(training.folder))
        steps = [(f"treeplex match {game} {folder} uniform", "play a match against uniform")]
        if training.records[-1].exploitability is not None:
            steps.insert(0, (f"treeplex evaluate {game} {folder}", "judge it"))
        return steps
