"""Precompile the kernels that learners use; does nothing without PyTorch.

Warm-up jobs run in worker processes, which cannot start their own workers, so learners with workers use one.
"""

from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from treeplex.learn.train.train import train
from treeplex.search.match.match import match

BLUEPRINT = {"buckets": (6, 4, 4, 3), "method": "kmeans", "boards": 10}
SMALL_HOLDEM = "holdem(ranks=5,suits=2,stack=20,sizes=[a])"


def compile_learners() -> None:
    """Train deep learners and ReBeL for one step."""
    if find_spec("torch") is None:
        return
    train("kuhn_poker", "deep-cfr", settings={"steps": 1, "walks": 10, "fits": 2}, workers=1)
    for learner in ("escher", "ppo", "nfsp"):
        train("kuhn_poker", learner, settings={"steps": 1}, workers=1)
    small = {"solves": 2, "burn_in": 2, "width": 4, "iterations": 2}
    train("liars_dice(dice=1,faces=2)", "rebel", settings=small, workers=1)


def compile_whole_hands() -> None:
    """Train a blueprint on a small deck, and play hands with re-solving: by it on the turn and river, and without it."""
    with TemporaryDirectory() as folder:
        blueprint = Path(folder) / "run"
        train(SMALL_HOLDEM, "blueprint", settings=BLUEPRINT, out=blueprint)
        match(SMALL_HOLDEM, [f"endgames(blueprint={blueprint},iterations=2)", "uniform"], hands=2, sampled=True, seed=0)
    match("holdem(stack=40)", ["resolver(think=none,iterations=25)", "rules(style=caller)"], hands=4, sampled=True, seed=0)
