"""A best response being learned, as a job.

======================= =========================================================================================
``run.json``            the game, whom it learns against, settings, versions, status, and the last record
``metrics.jsonl``       held-out hands after 0, 100, 200, 500, ... episodes: what is won at least
``policy.safetensors``  the response, of ``method=table``
``net.safetensors``     the response, of ``method=network``
``state.safetensors``   everything from which the training continues
``learning-curve.png``  what is won at least, against episodes
======================= =========================================================================================
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from treeplex.base.settings import Settings, setting
from treeplex.forms.policies.sparse import save_table_policy
from treeplex.learn.best_response.files import FILES, NETWORK, TABLE
from treeplex.learn.best_response.held_out import held_out
from treeplex.learn.best_response.network import NetworkResponse
from treeplex.learn.best_response.positions import World
from treeplex.learn.best_response.tabular import TabularResponse
from treeplex.learn.train.kind import CURVE, TrainingJob
from treeplex.run.job.checkpoint import Arrays, State
from treeplex.run.job.folder import JobKind
from treeplex.run.job.record import Record, maybe, real, reals
from treeplex.run.job.schedule import sparse_points

FIRST = 100
"""Episodes before the first evaluation but that at the beginning."""
TOGETHER = 128
"""Episodes between two fits of a network."""
BEST_RESPONSE = JobKind(
    name="best response",
    unit="episodes",
    maker="treeplex train",
    numbers={"at_least": real, "interval": real, "values": reals, "intervals": reals, "loss": maybe(real)},
    needs={"learner": str, "game": str, "identity": str, "settings": dict},
    files=(CURVE,),
    noun="training",
)
"""Trainings of best responses. ``at_least``: the mean over seats of what the response wins more than the fixed agent would in
held-out hands, ``interval`` half the width of its 95% interval; ``values`` and ``intervals``: what it wins in each seat."""


@dataclass(frozen=True)
class BestResponseSettings(Settings):
    """Against whom, and how a response is learned."""

    against: str = setting("uniform", "the fixed agent: a run folder, a policy file, or an agent by name", fixed=True)
    method: str = setting(TABLE, "a table of what actions are worth, or a network", choices=(TABLE, NETWORK), fixed=True)
    episodes: int = setting(20_000, "plays in each seat, over all resumes", low=1)
    branching: bool = setting(True, "table: try all own actions at each decision of a play, not one", fixed=True)
    exploration: float = setting(0.2, "share of random actions, where not all are tried", low=0, high=1, fixed=True)
    exploring: int = setting(10_000, "episodes over which that share falls from 1", low=0, fixed=True)
    width: int = setting(128, "network: units of the hidden layers", low=1, fixed=True)
    learning_rate: float = setting(1e-3, "network: Adam's step", above=0)
    hands: int = setting(4000, "held-out hands of each evaluation in all seats, at least 30 in each", low=4, fixed=True)
    every: int | None = setting(None, "episodes between evaluations; none: 100, 200, 500, 1,000, ...", low=1, fixed=True)
    seed: int = setting(0, "seed of everything random", low=0, fixed=True)

    def share(self, episode: int) -> float:
        """The share of random actions in an episode."""
        return max(self.exploration, 1.0 - episode / self.exploring) if self.exploring else self.exploration


class BestResponseJob(TrainingJob[BestResponseSettings]):
    """A response being learned.

    Attributes:
        world: the game and the fixed agent.
        response: what is learned.
    """

    kind = BEST_RESPONSE

    def __init__(self, learner: str, game: str, world: World, settings: BestResponseSettings) -> None:
        super().__init__(learner, game, world.spec or game, settings)
        self.world, self._done = world, 0
        self._loss: float | None = None
        self.response: TabularResponse | NetworkResponse
        if settings.method == TABLE:
            self.response = TabularResponse(world, settings.seed, branching=settings.branching)
        else:
            width, rate = settings.width, settings.learning_rate
            self.response = NetworkResponse(world, settings.seed, width=width, learning_rate=rate)

    @property
    def done(self) -> int:
        """Plays in each seat."""
        return self._done

    @property
    def total(self) -> int:
        """Plays asked for."""
        return self.settings.episodes

    @property
    def ahead(self) -> int:
        """All that are left; a network is fitted after so many."""
        left = max(0, self.total - self._done)
        return left if self.settings.method == TABLE else min(left, TOGETHER)

    def step(self, count: int) -> None:
        """Play, and learn."""
        if isinstance(self.response, TabularResponse):
            for _ in range(count):
                self.response.learn(self._done, self.settings.share(self._done))
                self._done += 1
        else:
            count = self.ahead
            loss = self.response.learn(self._done, self.settings.share(self._done), count)
            self._loss = self._loss if loss is None else loss
            self._done += count

    def points(self) -> Iterator[int]:
        """At the beginning, and from the hundredth episode on now and then."""
        later = sparse_points(self.total, every=self.settings.every)
        return chain((0,), (point for point in later if point >= FIRST or point == self.total))

    def measure(self) -> Mapping[str, Any]:
        """What the response wins in held-out hands."""
        found = held_out(self.world, self.response.choose, self.settings.hands, self.settings.seed)
        return {
            "at_least": found.gain,
            "interval": found.interval,
            "values": found.values,
            "intervals": found.intervals,
            "loss": self._loss,
        }

    def state(self) -> State:
        """Everything of the response."""
        loss = np.array([np.nan if self._loss is None else self._loss])
        return {**self.response.state(), "episodes": np.array([self._done]), "loss": loss}

    def restore(self, arrays: Arrays) -> None:
        """Restore all of that."""
        self._done, loss = int(arrays["episodes"][0]), float(arrays["loss"][0])
        self._loss = None if np.isnan(loss) else loss
        self.response.restore(arrays)

    def write(self, path: Path, records: Sequence[Record], *, ended: bool) -> None:
        """Write the response, and at the end the learning curve."""
        file = path / FILES[self.settings.method]
        if isinstance(self.response, TabularResponse):
            save_table_policy(self.response.policy(), file)
        else:
            self.response.policy.save(file)
        if ended:
            from treeplex.run.plots import Curve, Panel, curves_figure, write_figure

            last = records[-1].done
            episodes, found = [each.done for each in records], [each.at_least for each in records]
            low = [each.at_least - each.interval for each in records]
            high = [each.at_least + each.interval for each in records]
            label, curve = "Exploitability at least\n(held-out hands, 95% interval)", Curve(episodes, found, "", 0, low, high)
            panel = Panel(label, [curve], logarithmic=False)
            title = f"Best response to {self.settings.against} on {self.game}"
            write_figure(curves_figure(title, "Episodes", [panel], last=max(last, 1), height=3.6), path / CURVE)
