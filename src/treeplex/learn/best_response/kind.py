"""The learner ``best-response``: trained against a fixed agent, it says what that agent can lose at least."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

from treeplex.base.settings import Settings
from treeplex.base.spec import quoted
from treeplex.errors import FileError
from treeplex.forms.policies.sparse import TablePolicy
from treeplex.forms.sources.load import load, named_file
from treeplex.learn.best_response.files import NETWORK, load_response
from treeplex.learn.best_response.job import BEST_RESPONSE, BestResponseJob, BestResponseSettings
from treeplex.learn.best_response.network import NetworkPolicy
from treeplex.learn.best_response.opponents import world_against
from treeplex.learn.common.device import one_thread
from treeplex.learn.train.kind import RECIPE, Options, Training, TrainingKind, count_of


class BestResponseKind(TrainingKind):
    """Learns a best response to a fixed agent."""

    name = "best-response"
    job_kind, settings = BEST_RESPONSE, BestResponseSettings
    summary = "a best response to a fixed agent: what it can lose at least"
    source = "Timbers et al. 2022, Approximate exploitability: learning a best response; here by Q-learning without search"
    efforts = ("episodes",)
    line: ClassVar[Mapping[str, str]] = {"at_least": "at least {:.4g}", "interval": "± {:.2g}"}

    def presets(self, game: Any) -> Mapping[str, Settings]:
        """``recipe``, a table; and ``network``."""
        return {RECIPE: BestResponseSettings(), NETWORK: BestResponseSettings(method=NETWORK, episodes=40_000)}

    def check_named(self, settings: Any, changes: Mapping[str, Any], place: Path) -> None:
        """An agent of one's own is code."""
        if ".py:" in settings.against and "against" not in changes:
            raise FileError(
                f"{place} learns against an agent of one's own, {settings.against}; reading a folder runs no code, so name "
                f"it as well: --against {settings.against}"
            )

    def context(self) -> AbstractContextManager[None]:
        """One thread, where there is PyTorch: these networks are small."""
        return one_thread() if find_spec("torch") is not None else nullcontext()

    def make(self, game: Any, settings: BestResponseSettings, options: Options) -> BestResponseJob:
        """A training at its beginning."""
        rules = load(game, named_in=options.named_in).enumerable_rules()
        spec = game if isinstance(game, str) and named_file(game) else rules.spec
        world = world_against(rules, settings.against, seed=settings.seed)
        return BestResponseJob(self.name, spec, world, settings)

    def load(self, folder: Path) -> TablePolicy | NetworkPolicy:
        """The response of all seats: a policy on rules."""
        return load_response(folder)

    def named_again(self, training: Training) -> str:
        """A game of one's own."""
        return str(training.game) if named_file(training.game) else ""

    def report(self, training: Training) -> tuple[str, dict[str, str]]:
        """What it wins at least."""
        last, settings = training.records[-1], training.settings
        each = zip(last.values, last.intervals, strict=True)
        bound, how = f"{last.at_least:.4g} ± {last.interval:.2g}", f"95% interval, {settings.hands:,} held-out hands"
        facts = {
            "exploitability": f"at least {bound}   {how}",
            "it wins": ", ".join(f"{value:+.4g} ± {interval:.2g}" for value, interval in each) + "   seat by seat",
        }
        if last.loss is not None:
            facts["loss"] = f"{last.loss:.3e}"
        return f"{self.name} against {settings.against} on {training.game}: {count_of(last.done, 'episodes')}", facts

    def next_steps(self, training: Training) -> list[tuple[str, str]]:
        """Learn on."""
        own = self.named_again(training)
        again = f"treeplex train {f'{self.name} {quoted(own)} ' if own else ''}--resume {quoted(str(training.folder))}"
        return [(f"{again} --set episodes={2 * training.settings.episodes}", "learn on, for a tighter bound")]
