"""VR-DeepDCFR+ and VR-DeepPDCFR+ on Leduc poker against their authors' released program: CPU time of an iteration.

An iteration has 10,000 playthroughs for each player, 750 gradient steps of each regret network, and 2,000 of the critic, all
with three layers of 64 units, on one core. Ours is the mean over a training run of the published length. Theirs is the third
iteration with fewer playthroughs, scaled up. ``DEEP_PDCFR`` is the folder of their source (rpSebastian/DeepPDCFR, Python, no
licence), which is not part of Treeplex; without it only Treeplex is measured.
"""

import argparse
import os
from pathlib import Path
from time import process_time
from typing import Any

import treeplex as tp
from bench.common import record
from bench.common.benchmark import benchmark
from bench.rivals.deep_pdcfr import SOURCE, DeepPdcfr
from treeplex.learn.common.device import one_thread
from treeplex.learn.neural.regrets.vr_deep_cfr import (
    VrDeepDcfr,
    VrDeepDcfrSettings,
    VrDeepPdcfr,
    VrDeepPdcfrSettings,
)

GAME = "leduc_poker"
LEARNERS = {
    "vr-deep-dcfr+": (VrDeepDcfr, VrDeepDcfrSettings, "VRDeepDCFRPlus"),
    "vr-deep-pdcfr+": (VrDeepPdcfr, VrDeepPdcfrSettings, "VRDeepPDCFRPlus"),
}
"""Our class, its settings, and the authors' class."""
WALKS, FITS, CRITIC_FITS = 10_000, 750, 2000
"""Playthroughs and gradient steps per player, and gradient steps of the critic (theirs: 1,000 after each player)."""
ITERATIONS = 31
"""Iterations of a published training run: 4.7 million histories."""
THEIR_WALKS, THEIR_ITERATIONS = 1000, 3


def ours(name: str, iterations: int) -> float:
    """CPU seconds per iteration, the mean over a training run; kernels are compiled beforehand."""
    learner, settings, _ = LEARNERS[name]
    wanted = settings(walks=WALKS, fits=FITS, critic_fits=CRITIC_FITS, width=64, layers=3)
    learner(tp.load(GAME), wanted).step()
    training = learner(tp.load(GAME), wanted)
    began = process_time()
    for _ in range(iterations):
        training.step()
    return (process_time() - began) / iterations


def theirs(rival: DeepPdcfr, name: str, walks: int, iterations: int) -> dict[str, float]:
    """CPU seconds of an iteration, in total and by part."""
    found = rival.iteration(LEARNERS[name][2], walks, iterations)
    if (found["fits"], 2 * found["baseline_fits"]) != (FITS, CRITIC_FITS):
        raise SystemExit(f"{SOURCE}: its settings of {LEARNERS[name][2]} are not those of the published trainings")
    parts = {"walk": found["walk"] * WALKS / walks, "fit": found["fit"], "baseline": found["baseline"]}
    return parts | {"all": sum(parts.values())}


@benchmark(
    title="VR-DeepDCFR+ and VR-DeepPDCFR+ compared with the authors' program",
    place=14,
    minutes=6,
    about=(
        "CPU time on one core for 10,000 playthroughs, with networks of the same size and the same number of gradient steps. "
        "Treeplex's time is the mean over a training run. DeepPDCFR's is ten times that of the third iteration with 1,000 "
        "playthroughs."
    ),
    needs=("torch", "pyspiel"),
)
def measure(options: argparse.Namespace) -> dict[str, Any]:
    import torch

    torch.manual_seed(0)
    source = os.environ.get(SOURCE)
    if source is not None and not (Path(source) / "configs").is_dir():
        raise SystemExit(f"{SOURCE}={source} is not the folder of DeepPDCFR's source: it has no folder configs")
    mine: dict[str, float] = {}
    other: dict[str, dict[str, float]] = {}
    rival = DeepPdcfr() if source else None
    for name in LEARNERS:
        with one_thread():
            mine[name] = ours(name, 2 if options.quick else ITERATIONS)
        if rival is not None:
            other[name] = theirs(rival, name, THEIR_WALKS, 1 if options.quick else THEIR_ITERATIONS)
    if rival is not None:
        rival.close()
    return {"treeplex": mine, "deeppdcfr": other}


def tables(result: dict[str, Any]) -> str:
    """The result as markdown."""
    mine, other = result["treeplex"], result.get("deeppdcfr", {})
    heads = ["seconds per iteration", "Treeplex", "DeepPDCFR", "its playthroughs", "its regrets", "its critic", "ratio"]
    rows = []
    for name, spent in mine.items():
        parts = [f"{other[name][each]:.1f}" for each in ("all", "walk", "fit", "baseline")] if name in other else [""] * 4
        rows.append([f"`{name}`", f"{spent:.2f}", *parts, f"{other[name]['all'] / spent:.1f}" if name in other else ""])
    text = record.markdown_table(heads, rows)
    if not other:
        return text
    return (
        f"{text}\n\nA gradient step of DeepPDCFR uses 2,048 rows. A Treeplex step uses all infosets or histories, because "
        "it merges their rows."
    )
