"""The learner ``blueprint``: whole no-limit hold'em for two in buckets, by external sampling."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from treeplex.errors import SpecError
from treeplex.forms.policies.holdem_blueprint import HoldemBlueprint
from treeplex.forms.sources.load import load_rules
from treeplex.games.poker.whole.game import Holdem
from treeplex.runs.blueprint.job import HOLDEM_BLUEPRINT, BlueprintJob
from treeplex.runs.blueprint.settings import BlueprintTraining
from treeplex.runs.train.kind import RECIPE, Options, Training, TrainingKind, count_of
from treeplex.settings import Settings
from treeplex.spec import quoted


class BlueprintLearner(TrainingKind):
    """Learns whole hold'em in buckets."""

    name = "blueprint"
    job_kind, settings = HOLDEM_BLUEPRINT, BlueprintTraining
    summary = "a policy of whole hold'em for two, hands in buckets, to play as it is or to solve again from"
    source = "Lanctot et al. 2009 (external sampling); Brown and Sandholm 2019 (Pluribus), its blueprint"
    line: ClassVar = {"regret": "first decision {:.3g} mbb", "visited": "{:.0%} of infosets"}

    def presets(self, game: Any) -> Mapping[str, Settings]:
        """``small`` is ready in a minute and weak."""
        return {
            RECIPE: BlueprintTraining(),
            "small": BlueprintTraining(boards=20_000, buckets=(169, 20, 20, 20), discount_every=500),
        }

    def make(self, game: Any, settings: BlueprintTraining, options: Options) -> BlueprintJob:
        """A training at its beginning."""
        rules = load_rules(game, named_in=options.named_in)
        if not isinstance(rules, Holdem) or rules.num_players != 2:
            raise SpecError(
                f"a blueprint is of holdem for two players, not of {rules}; "
                "write holdem(stack=100,preflop=[2.5bb;3x;a],sizes=[50%;100%;a])"
            )
        return BlueprintJob(self.name, rules, settings)

    def load(self, folder: Path) -> HoldemBlueprint:
        """The policy."""
        return HoldemBlueprint.load(folder)

    def report(self, training: Training) -> tuple[str, dict[str, str]]:
        """How far it is."""
        last = training.records[-1]
        rate = last.met / last.cpu_seconds if last.cpu_seconds else 0.0
        facts = {
            "first decision": f"regret {last.regret:.4g} mbb a hand",
            "visited": f"{last.visited:.1%} of infosets",
            "walked": f"{last.met:,} decisions, {rate:,.0f} a second",
        }
        return f"{self.name} of {training.game}: {count_of(last.done, 'boards')}", facts

    def next_steps(self, training: Training) -> list[tuple[str, str]]:
        """Let it play."""
        game, folder = quoted(str(training.game)), quoted(str(training.folder))
        return [
            (f"treeplex match {game} {folder} 'rules(style=caller)'", "let it play"),
            (f"treeplex lbr {game} {folder}", "what it loses at least"),
        ]
