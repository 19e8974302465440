"""DeepPDCFR's released program (Xu et al. 2026) as a process that times iterations of its VR-Deep learners on Leduc poker.

``DEEP_PDCFR`` is the folder of its source (rpSebastian/DeepPDCFR), which has no licence and is not part of Treeplex. It needs
``tabulate`` and ``pandas`` besides the benchmarks' packages. Its package imports TensorFlow for learners that are not measured,
and a table of hands for large poker games. Stubs of the package's ``__init__`` and of that table replace both here.

A request is ``{"learner", "walks", "iterations"}``: the class, playthroughs per iteration and player, and the number of
iterations. Settings are the released ones of that class; the game is Leduc poker. The reply has processor seconds of the last
iteration: ``walk``, ``fit`` (regret networks) and ``baseline``, each of both players, and the counts per player: ``walks``,
``fits`` and ``baseline_fits``.
"""

import inspect
import json
import os
import sys
import types
from importlib import import_module
from pathlib import Path
from time import process_time
from typing import Any

from bench.rivals.child import Child
from bench.rivals.worker import ONE_THREAD

SOURCE = "DEEP_PDCFR"
GAME = "LeducPoker"


class DeepPdcfr(Child):
    """The parent's end."""

    def __init__(self) -> None:
        super().__init__("DeepPDCFR", [sys.executable, "-m", "bench.rivals.deep_pdcfr"], ONE_THREAD)

    def iteration(self, learner: str, walks: int, iterations: int) -> dict[str, Any]:
        """Processor seconds of an iteration; see the top of this file."""
        return self.ask(json.dumps({"learner": learner, "walks": walks, "iterations": iterations}))


def learners_of(folder: Path) -> Any:
    """Import the module with its learners, and the modules it needs."""
    package, table = types.ModuleType("deeppdcfr"), types.ModuleType("deeppdcfr.lookup")
    package.__path__, table.lookup = [str(folder / "deeppdcfr")], None  # type: ignore[attr-defined]
    sys.modules |= {"deeppdcfr": package, "deeppdcfr.lookup": table}
    return import_module("deeppdcfr.os_deep_cumu_adv_variants")


def timed(folder: Path, learner: str, walks: int, iterations: int) -> dict[str, float]:
    """Run some iterations of a learner; returns the times of the last one."""
    import yaml

    found = getattr(learners_of(folder), learner)
    settings = yaml.safe_load((folder / "configs" / f"{learner}.yaml").read_text())
    settings |= {"game_name": GAME, "num_traversals": walks}
    known = inspect.signature(found.__init__).parameters
    solver = found(**{name: value for name, value in settings.items() if name in known})
    spent = {"walk": 0.0, "fit": 0.0, "baseline": 0.0}
    for _ in range(iterations):
        solver.num_iteration += 1
        spent = dict.fromkeys(spent, 0.0)
        for player in range(2):
            for name, do in (
                ("walk", solver.collect_training_data),
                ("fit", solver.train_regret),
                ("baseline", solver.train_baseline),
            ):
                began = process_time()
                do(player)
                spent[name] += process_time() - began
    fits, baseline_fits = solver.advantage_network_train_steps, solver.baseline_network_train_steps
    return spent | {"walks": walks, "fits": fits, "baseline_fits": baseline_fits}


def serve() -> None:
    """The child's end."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    import torch

    torch.set_num_threads(1)
    for line in sys.stdin:
        try:
            reply: dict[str, Any] = timed(Path(os.environ[SOURCE]), **json.loads(line))
        except Exception as error:
            reply = {"error": f"{type(error).__name__}: {error}"}
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


if __name__ == "__main__":
    serve()
