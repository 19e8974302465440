"""GPU benchmark in one command: whole games and batches of searches on a GPU, against compiled kernels on one core.

Whole games run DCFR in double and in single precision; the exploitabilities of both implementations are compared, to detect
wrong results on a GPU. Phantom games are included because their payoffs are stored as products. Batches contain increasing
numbers of subgames from ReBeL's self-play. Training runs include self-play, search and gradient steps, with the paper's
settings. On a machine without a GPU the GPU code runs on the CPU, to check that it works.

    python bench/run.py gpu [--quick] [--device cuda]
"""

import argparse
import time
from dataclasses import replace
from typing import Any

import numpy as np
import torch

import treeplex as tp
from bench.common import record
from bench.common.benchmark import benchmark
from bench.torch_search import one_case
from treeplex.forms.sources.load import public_tree
from treeplex.holdem.spots.known import turn_endgame_holdem
from treeplex.learn.common.device import torch_device
from treeplex.learn.rebel.settings import PAPER, PAPER_TURNS
from treeplex.learn.rebel.trainer import RebelTrainer
from treeplex.learn.torch.form import TensorSolver
from treeplex.solvers.registry import make_solver

GAMES = ("leduc_poker", "leduc_poker(ranks=13)", "liars_dice(dice_sides=6)", "liars_dice(dice=2,dice_sides=3)")
FACTORS, LARGE_FACTORS = ("phantom_ttt(rows=2,columns=3)", "dark_hex(num_rows=2,num_cols=3)"), ("phantom_ttt", "dark_hex")
"""Games whose payoffs are stored as products; on a GPU also the boards of 3 by 3, which take 20 s each to compile."""
BATCH_GAME, BATCHES = "liars_dice(dice_sides=4)", (64, 1024, 8192)
DICE, EPISODES = "liars_dice(dice_sides=5)", (64, 1024, 8192)
"""Training runs with the paper's settings, and their numbers of parallel games; the last two on a GPU only."""
BEGUN = 64
"""Rows before the first gradient step, so that the timing includes gradient steps."""
OFF_CARD = (
    "**This machine has no GPU**: the table shows the GPU code running on the CPU. The [ReBeL notebook]"
    "(notebook/rebel.md#speed-on-a-gpu) reports the speed on an NVIDIA H200."
)
"""Note for the tables on a machine without a GPU."""
WHERE = {"cpu": "kernels, one core", "torch-cpu": "tensors, one core", "cuda": "GPU"}
"""Devices of the training runs, for the page."""
SECONDS = 0.5
"""Approximate seconds of a game's iterations on the CPU."""


def seconds_of(solver: Any, iterations: int, device: Any = None) -> float:
    """Seconds per iteration: CPU time, or on a GPU wall time until it has finished."""
    on_card = device is not None and device.type == "cuda"
    clock = time.perf_counter if on_card else time.process_time
    began = clock()
    solver.run(iterations)
    if on_card:
        torch.cuda.synchronize(device)
    return (clock() - began) / iterations


def whole_game(spec: str, device: Any, quick: bool) -> dict[str, Any]:
    """Seconds per iteration of three implementations, and the difference of their exploitabilities."""
    game = tp.compile(spec)
    kernels = make_solver(game, "dcfr")
    seconds = {"kernels": seconds_of(kernels, 2)}
    iterations = 2 if quick else int(np.clip(SECONDS / seconds["kernels"], 10, 1000))
    seconds["kernels"] = seconds_of(kernels, iterations)
    apart = {}
    for name, kind in (("double", torch.float64), ("single", torch.float32)):
        tensors = TensorSolver(game, "dcfr", device=device, dtype=kind)
        tensors.run(2)
        seconds[name] = seconds_of(tensors, iterations, device)
        values = [tp.judge(game, solver.average_policy()).exploitability for solver in (tensors, kernels)]
        apart[name] = abs(values[0] - values[1])
    return {"game": spec, "sequences": sum(game.sequences), "iterations": iterations, "seconds": seconds, "apart": apart}


def training(game: str, trainer: RebelTrainer, rounds: int) -> dict[str, Any]:
    """Seconds per round of ReBeL's training and subgames (or turns with their rivers) per second, without the first round."""
    name, episodes = trainer.settings.device, getattr(trainer.settings, "episodes", None)
    clock = time.perf_counter if name == "cuda" else time.process_time
    first, began = trainer.round(), clock()
    for _ in range(rounds):
        last = trainer.round()
    seconds = clock() - began
    found = {"game": game, "device": name, "episodes": episodes, "seconds": seconds / rounds}
    found |= {"per_second": (last.done - first.done) / seconds, "steps": (last.steps - first.steps) / seconds}
    print(found, flush=True)
    return found


def trainings(name: str, quick: bool) -> list[dict[str, Any]]:
    """Training runs with compiled kernels on one core and on a device: Liar's Dice, then turns (GPU only)."""
    on_card, rules, found = name == "cuda", public_tree(DICE), list[dict[str, Any]]()
    for device, counts in (("cpu", EPISODES[:1]), (name, EPISODES if on_card else EPISODES[:1])):
        for count in counts:
            settings = replace(PAPER, burn_in=BEGUN, episodes=count, device=device)
            found.append(training(DICE, RebelTrainer(rules, settings), 2 if quick else 8))
    for device, rounds in (("cpu", 2), ("cuda", 10)) if on_card and not quick else ():
        settings = replace(PAPER_TURNS, burn_in=BEGUN, device=device)
        found.append(training("turn_endgame", RebelTrainer(turn_endgame_holdem(), settings), rounds))
    return found


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the option for the device."""
    parser.add_argument("--device", choices=("torch-cpu", "cuda"), default="cuda" if torch.cuda.is_available() else "torch-cpu")


@benchmark(
    title="On a GPU",
    place=95,
    minutes=2,
    needs=("torch",),
    about="Transfers at the beginning and end of a run are not counted. Kernels run on one core.",
)
def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Measure full games, then batches."""
    torch.set_num_threads(1)
    device = torch_device(options.device)
    on_card = device.type == "cuda"
    games = (GAMES[0], FACTORS[0]) if options.quick else (*GAMES, *FACTORS, *(LARGE_FACTORS if on_card else ()))
    batches = BATCHES[:1] if options.quick or not on_card else BATCHES
    measured = []
    for spec in games:
        measured.append(whole_game(spec, device, options.quick))
        print(measured[-1], flush=True)
    return {
        "device": torch.cuda.get_device_name(device) if on_card else "processor",
        "games": measured,
        "cases": [one_case(BATCH_GAME, count, device, options.quick) for count in batches],
        "trainings": trainings(options.device, options.quick),
    }


def tables(result: dict[str, Any]) -> str:
    """The result as markdown."""
    on_card = result["device"] != "processor"
    said = f"On {result['device']}." if on_card else OFF_CARD
    games = [
        [
            f"`{each['game']}`",
            f"{each['sequences']:,}",
            *(f"{1000 * each['seconds'][name]:.3g}" for name in ("kernels", "double", "single")),
            *(f"{each['apart'][name]:.1e}" for name in ("double", "single")),
        ]
        for each in result["games"]
    ]
    head = [
        "game",
        "sequences",
        "ms per iteration, kernels",
        "double",
        "single",
        "difference of exploitability, double",
        "single",
    ]
    batches = []
    for each in result["cases"]:
        rates = [record.digits(each[f"{name}_per_second"]) for name in ("kernels", "tensors")]
        batches.append([f"`{each['game']}`", f"{each['subgames']:,}", *rates])
    searches = record.markdown_table(["game", "subgames per batch", "searches per second, kernels", "tensors"], batches)
    rows = [
        [
            f"`{each['game']}`",
            WHERE[each["device"]],
            f"{each['episodes']:,}" if each["episodes"] else "",
            *(record.digits(each[key]) if each[key] else "0" for key in ("per_second", "steps")),
        ]
        for each in result["trainings"]
    ]
    trained = record.markdown_table(
        ["training", "where", "parallel games", "subgames per second", "steps per second"], rows, left=2
    )
    return f"{said}\n\n{record.markdown_table(head, games)}\n\n{searches}\n\n{trained}"
