"""The learner ``blueprint``: full-game hold'em with any number of players, by external sampling."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from treeplex.base.settings import Settings
from treeplex.base.spec import quoted
from treeplex.errors import SpecError
from treeplex.forms.sources.load import load
from treeplex.holdem.blueprint.policy import HoldemBlueprint
from treeplex.holdem.cards.format import HOLDEM, Format
from treeplex.holdem.whole.game import Holdem
from treeplex.learn.blueprint.job import HOLDEM_BLUEPRINT, BlueprintJob
from treeplex.learn.blueprint.settings import BlueprintTraining
from treeplex.learn.train.kind import RECIPE, Options, TrainingKind, TrainingRun, count_of


class BlueprintKind(TrainingKind):
    """Trains policies for full-game hold'em, with hands in buckets or, for small decks, without abstraction."""

    name = "blueprint"
    job_kind, settings = HOLDEM_BLUEPRINT, BlueprintTraining
    summary = "a full-game hold'em policy, to play directly or as the blueprint of a search"
    source = "Lanctot et al. 2009 (external sampling); Brown and Sandholm 2019 (Pluribus), its blueprint"
    line: ClassVar = {"regret": "first decision {:.3g} mbb", "visited": "{:.0%} of infosets"}

    def presets(self, game: Any) -> Mapping[str, Settings]:
        """The presets; ``small`` trains a weak policy in a minute. Decks that do not support buckets keep hands separate."""
        rules = None if game is None else load(game).enumerable_rules()
        if isinstance(rules, Holdem) and not has_buckets(rules.rules.format):
            whole = BlueprintTraining(
                boards=200_000, deals=16, buckets=(), discount_every=1_000, prune_after=20_000, prune_below=-1_000.0
            )
            return {RECIPE: whole, "small": replace(whole, boards=10_000, discount_every=200, prune_after=2_000)}
        return {
            RECIPE: BlueprintTraining(),
            "small": BlueprintTraining(boards=20_000, buckets=(169, 20, 20, 20), discount_every=500),
        }

    def make(self, game: Any, settings: BlueprintTraining, options: Options) -> BlueprintJob:
        """Create a training run."""
        rules = load(game, named_in=options.named_in).enumerable_rules()
        if not isinstance(rules, Holdem):
            raise SpecError(
                f"learner blueprint needs full-game hold'em, not {rules}; write "
                "holdem(stack=100,preflop=[2.5bb;3x;a],sizes=[50%;100%;a])"
            )
        return BlueprintJob(self.name, rules, settings)

    def load(self, folder: Path) -> HoldemBlueprint:
        """Load the policy."""
        return HoldemBlueprint.load(folder)

    def report(self, training: TrainingRun) -> tuple[str, dict[str, str]]:
        """Report training progress."""
        last = training.records[-1]
        rate = last.met / last.cpu_seconds if last.cpu_seconds else 0.0
        facts = {
            "first decision": f"regret {last.regret:.4g} mbb/hand",
            "visited": f"{last.visited:.1%} of infosets",
            "walked": f"{last.met:,} decisions, {rate:,.0f} per second",
        }
        return f"{self.name} of {training.game}: {count_of(last.done, 'boards')}", facts

    def next_steps(self, training: TrainingRun) -> list[tuple[str, str]]:
        """Suggest matches and a local best response."""
        game, folder = quoted(str(training.game)), quoted(str(training.folder))
        rules = load(training.game).enumerable_rules()
        if rules.num_players > 2:
            search = quoted(f"pluribus(blueprint={training.folder})")
            return [
                (f"treeplex match {game} {search}{f' {folder}' * (rules.num_players - 1)}", "play search against the blueprint")
            ]
        return [
            (f"treeplex match {game} {folder} 'rules(style=caller)'", "play a match against a calling station"),
            (f"treeplex lbr {game} {folder}", "lower-bound its exploitability"),
        ]


def has_buckets(form: Format) -> bool:
    """Whether a hold'em format supports buckets by hand strength."""
    return form.hole == 2 and form.deal == HOLDEM.deal and form.ranking == HOLDEM.ranking
