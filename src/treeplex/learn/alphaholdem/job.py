"""Job that runs AlphaHoldem training.

======================= =========================================================================================
``run.json``            the game, settings, versions, status, and the last record
``metrics.jsonl``       after 0, 10, 20, 50, 100, ... updates: playing strength and speed
``network.safetensors`` the network
``state.safetensors``   state for resuming, including the snapshots
``learning-curve.png``  exact exploitability if available, otherwise chips won against uniform play
======================= =========================================================================================
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from treeplex.errors import GameError
from treeplex.evaluate.judge import judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.tabular import Policy
from treeplex.games.base import Game
from treeplex.learn.alphaholdem.agent import NETWORK, AlphaHoldemAgent, NetworkFile
from treeplex.learn.alphaholdem.planes import PlaneCoder, poker_of
from treeplex.learn.alphaholdem.self_play import plane_policy
from treeplex.learn.alphaholdem.settings import AlphaHoldemSettings
from treeplex.learn.alphaholdem.trainer import AlphaHoldem
from treeplex.learn.train.kind import CURVE, TrainingJob
from treeplex.run.job.checkpoint import Arrays, State
from treeplex.run.job.folder import JobKind
from treeplex.run.job.job import RUNNING
from treeplex.run.job.record import Record, integer, maybe, real
from treeplex.run.job.schedule import sparse_points
from treeplex.search.agents.agent import agent_policy

FIRST = 10
"""Updates before the second evaluation; the first evaluation precedes training."""
ALPHAHOLDEM = JobKind(
    name="alphaholdem",
    unit="updates",
    maker="treeplex train",
    numbers={
        "exploitability": maybe(real),
        "won": real,
        "interval": real,
        "rating": real,
        "entropy": maybe(real),
        "hands": integer,
        "decisions": integer,
    },
    needs={"learner": str, "game": str, "identity": str, "settings": dict},
    files=(NETWORK, CURVE),
    noun="training",
)
"""Training runs of AlphaHoldem.

Numbers of a record: ``exploitability``, exact, in chips, or None; ``won``, chips per hand against uniform play, and
``interval``, half the width of its 95% interval; ``rating``, Elo of the newest snapshot; ``hands`` and ``decisions`` so far."""


class AlphaHoldemJob(TrainingJob[AlphaHoldemSettings]):
    """A training run in progress.

    Attributes:
        student: the trainer with its network and snapshots.
        compiled: the compiled game if evaluations are exact, otherwise None.
    """

    kind = ALPHAHOLDEM

    def __init__(self, learner: str, game: str, rules: Game, settings: AlphaHoldemSettings) -> None:
        super().__init__(learner, game, str(rules), settings)
        self.student = AlphaHoldem(PlaneCoder(poker_of(rules), settings.sizes, settings.slots), settings)
        self.compiled = compiled_or_none(rules) if settings.exact else None
        self._last: dict[str, float] = {}

    @property
    def done(self) -> int:
        """Number of updates completed."""
        return self.student.updates

    @property
    def total(self) -> int:
        """Total number of updates."""
        return self.settings.updates

    @property
    def ahead(self) -> int:
        """Updates per step: 1, or 0 once training is complete."""
        return 1 if self.done < self.total else 0

    def points(self) -> Iterator[int]:
        """Update counts at which to evaluate."""
        later = sparse_points(self.total, every=self.settings.every)
        return chain((0,), (point for point in later if point >= FIRST or point == self.total))

    def step(self, count: int) -> None:
        """Run one update."""
        self._last = self.student.step()

    def live(self) -> Mapping[str, Any]:
        """Policy entropy in the last update, and number of decisions so far."""
        return {"entropy": self._last.get("entropy"), "decisions": self.student.decisions}

    def policy(self, compiled: CompiledGame) -> Policy:
        """The network's policy at every infoset of the compiled game."""
        coder = self.student.coder
        return agent_policy(AlphaHoldemAgent(coder.game, coder, plane_policy(self.student.net)), compiled)

    def measure(self) -> Mapping[str, Any]:
        """Evaluate the network."""
        student, compiled = self.student, self.compiled
        won, interval = student.against_uniform(self.settings.checked, self.settings.seed)
        return {
            "exploitability": None if compiled is None else judge(compiled, self.policy(compiled)).exploitability,
            "won": won,
            "interval": interval,
            "rating": student.rating,
            "entropy": self._last.get("entropy"),
            "hands": student.hands,
            "decisions": student.decisions,
        }

    def state(self) -> State:
        """The trainer's state."""
        return self.student.state()

    def restore(self, arrays: Arrays) -> None:
        """Restore the trainer's state."""
        self.student.restore(arrays)

    def write(self, path: Path, records: Sequence[Record], *, status: str) -> None:
        """Write the network, and at the end the learning curve."""
        NetworkFile(str(self.game), self.settings, self.student.net.weights()).save(path / NETWORK)
        if status != RUNNING:
            from treeplex.run.plots import Curve, Panel, curves_figure, write_figure

            updates, won = [record.done for record in records], [record.won for record in records]
            low = [record.won - record.interval for record in records]
            high = [record.won + record.interval for record in records]
            label = "Chips per hand against uniform play\n(95% interval)"
            panels = [Panel(label, [Curve(updates, won, "", 0, low, high)], logarithmic=False)]
            judged = [record for record in records if record.exploitability is not None]
            if judged:
                curve = Curve([record.done for record in judged], [record.exploitability for record in judged])
                panels.append(Panel("Exploitability", [curve], logarithmic=True))
            title = f"AlphaHoldem on {self.game}"
            height = 1.2 + 2.4 * len(panels)
            write_figure(curves_figure(title, "Updates", panels, last=max(records[-1].done, 1), height=height), path / CURVE)


def compiled_or_none(rules: Game) -> CompiledGame | None:
    """The compiled game; None if it is too large."""
    try:
        return compile_game(rules)
    except GameError:
        return None
