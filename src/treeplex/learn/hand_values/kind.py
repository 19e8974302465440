"""The learner ``hand-values``: value networks for single hold'em hands.

======================= =========================================================================================
``run.json``            settings, versions, status, and the last record
``metrics.jsonl``       one record every few seconds: situations, rows, steps, losses
``net.safetensors``     the network, with a card
``state.safetensors``   state for resuming
``learning-curve.png``  losses against situations
======================= =========================================================================================
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from treeplex.base.settings import Settings
from treeplex.base.spec import quoted
from treeplex.errors import SpecError
from treeplex.holdem.cards.format import HOLDEM
from treeplex.learn.hand_values.net import GAME, NET, HandNet, read_hand_net
from treeplex.learn.hand_values.settings import END, MIXED, HandValueSettings
from treeplex.learn.hand_values.source import HandSource
from treeplex.learn.train.kind import RECIPE, Options, TrainingRun
from treeplex.learn.train.situations import SituationsJob, SituationsKind, situations_job_kind

HAND_VALUES = situations_job_kind("hand-values", NET)
"""Training runs for hand networks."""


SELF_PLAY = HandValueSettings(
    ranges=MIXED, most_stack=100.0, situations=5000, iterations=60, device="cuda", workers=15, batch=2048
)
"""The preset ``self-play``: eight minutes of a GPU and 16 cores, by the speeds measured on random turns and on one core."""


class HandValuesKind(SituationsKind):
    """Trains a value network for hands at the start or end of a street."""

    name, job_kind, file = "hand-values", HAND_VALUES, NET
    source = "Moravčík et al. 2017, DeepStack, with single hands instead of buckets"
    settings: type[Settings] = HandValueSettings
    summary = "a value network for single hold'em hands at the start or end of a street"
    title, values, rows = "A network for {}", "hand values", "hands"
    needs_game = False

    def presets(self, game: Any) -> Mapping[str, Settings]:
        """The presets ``recipe`` and ``self-play``; the latter needs a GPU."""
        return {RECIPE: HandValueSettings(), "self-play": SELF_PLAY}

    def make(self, game: Any, settings: Any, options: Options) -> SituationsJob:
        """Create a training run.

        Raises:
            SpecError: a game is named, or the smallest stack exceeds the largest.
        """
        name = GAME[settings.at].format(street=settings.street)
        if game not in (None, name):
            raise SpecError(
                f"hand-values draws its own hold'em boards and stacks; leave {game} out, and choose a "
                "street with --set street=turn"
            )
        if settings.most_stack < settings.least_stack:
            raise SpecError(f"most_stack {settings.most_stack:g} is below least_stack {settings.least_stack:g}; raise it")
        return SituationsJob(self, name, name, HandSource(settings))

    def load(self, folder: Path) -> HandNet:
        """Load the network."""
        return read_hand_net(folder / NET)

    def next_steps(self, training: TrainingRun) -> list[tuple[str, str]]:
        """Suggest playing with the network, or searching the preceding street."""
        folder = quoted(str(training.folder))
        if training.settings.at == END:
            file = quoted(f"resolver(net={training.folder / NET})") if training.folder else ""
            return [(f"treeplex play {quoted('holdem(stack=200)')} --against {file}", "play against it")]
        if training.settings.street == "flop" or training.settings.cards != HOLDEM:
            return []
        before = {"river": "turn.yaml", "turn": "flop.yaml --board Ks8s3d"}[training.settings.street]
        return [(f"treeplex holdem search examples/spots/{before} {folder}", "search the street before with it")]
