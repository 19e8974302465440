"""GPU benchmark in one command: hold'em spots, games, batches of searches and training on a GPU, against compiled kernels.

Spots run DCFR to an exploitability of half a percent of the pot, against two cores; the compiled kernels also evaluate the
GPU's strategies in double precision. Rivers and turns are solved side by side, as labels for value networks are.

Whole games run DCFR in double and in single precision; the exploitabilities of both
implementations are compared, to detect wrong results on a GPU. Phantom games are included because their payoffs are stored as
products. Batches contain increasing numbers of subgames from ReBeL's self-play. Training runs include self-play, search and
gradient steps, with the paper's settings. On a machine without a GPU the GPU code runs on the CPU, to check that it works.

Every measurement is printed and stored when it is done. --resume keeps those stored at the same commit on the same device.

    python bench/run.py gpu [--quick] [--device cuda] [--part spots] [--resume]
"""

import argparse
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
import torch

import treeplex as tp
from bench.common import record
from bench.common.benchmark import benchmark
from bench.common.gpu_batches import batches
from bench.common.gpu_spots import CORES, TARGET, spots
from bench.torch_search import TURNS, one_case
from treeplex.forms.sources.load import public_tree
from treeplex.holdem.spots.known import turn_endgame_holdem
from treeplex.learn.common.device import torch_device
from treeplex.learn.rebel.settings import PAPER, PAPER_TURNS, HoldemRebelSettings, RebelSettings
from treeplex.learn.rebel.trainer import RebelTrainer
from treeplex.learn.torch.form import TensorSolver
from treeplex.solvers.registry import make_solver

GAMES = ("leduc_poker", "leduc_poker(ranks=13)", "liars_dice(dice_sides=6)", "liars_dice(dice=2,dice_sides=3)")
FACTORS = ("phantom_ttt(rows=2,columns=3)", "dark_hex(num_rows=2,num_cols=3)")
"""Games whose payoffs are stored as products."""
BATCHES = (("liars_dice(dice_sides=4)", (64, 1024, 8192)), ("leduc_poker", (64, 4096)))
"""Small games, and their numbers of subgames in a batch; all but the first on a GPU only."""
DICE, EPISODES = "liars_dice(dice_sides=5)", (64, 1024, 8192)
"""Training runs with the paper's settings, and their numbers of parallel games; the last two on a GPU only."""
LARGE = 4096
"""Batches and numbers of parallel games from which fewer repetitions are measured."""
BEGUN = 64
"""Rows before the first gradient step, so that the timing includes gradient steps."""
OFF_CARD = (
    "**This machine has no GPU**: the tables show the GPU code running on the CPU. By hand on an NVIDIA H200: the example "
    "flop in 0.95 s ([log](log.md#holdem-spots-on-an-h200)), 856 rivers per second ([hand values]"
    "(notebook/hand-values.md#labels-on-a-gpu)), and [ReBeL](notebook/rebel.md#speed-on-a-gpu)."
)
"""Note for the tables on a machine without a GPU."""
WHERE = {"cpu": "kernels, one core", "torch-cpu": "tensors, one core", "cuda": "GPU"}
"""Devices of the training runs, for the page."""
Job = Callable[[], dict[str, Any]]
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


def games(name: str, quick: bool) -> Iterator[Job]:
    """Whole games."""
    device = torch_device(name)
    for spec in (GAMES[0], FACTORS[0]) if quick else (*GAMES, *FACTORS):
        yield partial(whole_game, spec, device, quick)


def cases(name: str, quick: bool) -> Iterator[Job]:
    """Batches of subgames of small games."""
    device = torch_device(name)
    for spec, counts in BATCHES:
        for count in counts if name == "cuda" and not quick else counts[:1]:
            yield partial(one_case, spec, count, device, quick, turns=TURNS if count < LARGE else 1)


def training(game: str, trainer: RebelTrainer, rounds: int) -> dict[str, Any]:
    """Seconds per round of ReBeL's training and subgames (or turns with their rivers) per second, without the first round."""
    name, episodes = trainer.settings.device, getattr(trainer.settings, "episodes", None)
    clock = time.perf_counter if name == "cuda" else time.process_time
    first, began = trainer.round(), clock()
    for _ in range(rounds):
        last = trainer.round()
    seconds = clock() - began
    found = {"game": game, "device": name, "episodes": episodes, "seconds": seconds / rounds}
    return found | {"per_second": (last.done - first.done) / seconds, "steps": (last.steps - first.steps) / seconds}


def dice_training(settings: RebelSettings, rounds: int) -> dict[str, Any]:
    """ReBeL's training on Liar's Dice."""
    return training(DICE, RebelTrainer(public_tree(DICE), settings), rounds)


def turn_training(settings: HoldemRebelSettings, rounds: int) -> dict[str, Any]:
    """ReBeL's training on turns with their rivers."""
    return training("turn_endgame", RebelTrainer(turn_endgame_holdem(), settings), rounds)


def trainings(name: str, quick: bool) -> Iterator[Job]:
    """Training runs with compiled kernels on one core and on a device: Liar's Dice, then turns (GPU only)."""
    on_card = name == "cuda"
    for device, counts in (("cpu", EPISODES[:1]), (name, EPISODES if on_card else EPISODES[:1])):
        for count in counts:
            settings = replace(PAPER, burn_in=BEGUN, episodes=count, device=device)
            yield partial(dice_training, settings, 2 if quick else 8 if count < LARGE else 4)
    for device, rounds in (("cpu", 2), ("cuda", 10)) if on_card and not quick else ():
        yield partial(turn_training, replace(PAPER_TURNS, burn_in=BEGUN, device=device), rounds)


PARTS: Mapping[str, Callable[[str, bool], Iterator[Job]]] = {
    "spots": spots,
    "batches": batches,
    "games": games,
    "cases": cases,
    "trainings": trainings,
}
"""The measurements, in order: functions of the device's name and whether the run is quick, which yield functions for rows."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add options for the device and the parts to measure."""
    parser.add_argument("--device", choices=("torch-cpu", "cuda"), default="cuda" if torch.cuda.is_available() else "torch-cpu")
    parser.add_argument("--part", action="append", choices=tuple(PARTS), help="measure only this part (repeatable)")
    parser.add_argument("--resume", action="store_true", help="keep what is stored of this commit and device")


def stored_parts(name: str, quick: bool) -> dict[str, Any]:
    """The stored measurements of this commit on this device, by part."""
    found = record.load("gpu", quick=quick)
    if found is None or (found["commit"], found["device"]) != (record.commit(), name):
        return {}
    return {part: found[part] for part in PARTS if part in found}


@benchmark(
    title="On a GPU",
    place=95,
    minutes=4,
    needs=("torch",),
    about="Transfers at the beginning and end of a run are not counted.",
)
def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Measure each part, and store every row when it is done."""
    torch.set_num_threads(1)
    device = torch_device(options.device)
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else "processor"
    result: dict[str, Any] = {"device": name, **(stored_parts(name, options.quick) if options.resume else {})}
    begun = time.perf_counter()
    for part in options.part or PARTS:
        rows = result.setdefault(part, [])
        for job in islice(PARTS[part](options.device, options.quick), len(rows), None):
            rows.append(job())
            record.save("gpu", result, quick=options.quick)
            print(f"{time.perf_counter() - begun:.0f} s, {part}: {rows[-1]}", flush=True)
    return result


def spot_table(rows: list[dict[str, Any]], on_card: bool) -> str:
    """Spots: the time to the target, and of an iteration, with exploitability in percent of the pot."""
    head = [
        "spot",
        "numbers per array",
        "ms per iteration",
        "iterations",
        "s with evaluations",
        "exploitability, %",
        "in double precision, %",
        "GPU memory, GB",
        f"{CORES} cores: ms per iteration",
        "iterations",
        "s with evaluations",
        "exploitability, %",
    ]
    lines = []
    for each in rows:
        found, kernels = each["device"], each["kernels"]
        ours = [""] * 3
        if kernels["percent"] is not None:
            ours = [str(kernels["iterations"]), record.digits(kernels["seconds"]), f"{kernels['percent']:.3f}"]
        lines.append(
            [
                each["spot"],
                f"{each['numbers']:,}",
                record.digits(found["ms"]),
                str(found["iterations"]),
                record.digits(found["seconds"]),
                f"{found['percent']:.3f}",
                f"{found['judged']:.3f}",
                "" if found["reserved"] is None else record.digits(found["reserved"] / 1e9),
                record.digits(kernels["ms"]),
                *ours,
            ]
        )
    where = "GPU" if on_card else "GPU code on one core"
    return (
        f"Hold'em spots to {TARGET:g}% of the pot by DCFR in single precision, evaluated every ten iterations: {where}, "
        f"against the compiled kernels on {CORES} cores. Building the spot and starting are not counted.\n\n"
        f"{record.markdown_table(head, lines)}"
    )


def batch_table(rows: list[dict[str, Any]]) -> str:
    """Batches of rivers and turns: situations per second."""
    head = ["street", "side by side", "iterations", "per second", "kernels, one core", "difference of hand values, pots"]
    lines = [
        [
            each["street"],
            f"{each['count']:,}",
            str(each["iterations"]),
            *(record.digits(each[name]) for name in ("per_second", "kernels_per_second")),
            f"{each['apart']:.4f}",
        ]
        for each in rows
    ]
    return (
        "Random rivers and turns with all hands, solved side by side, against one at a time; two pots behind, bets of the pot "
        f"and all-in:\n\n{record.markdown_table(head, lines)}"
    )


def game_table(rows: list[dict[str, Any]]) -> str:
    """Whole games: the time of an iteration."""
    head = [
        "game",
        "sequences",
        "ms per iteration, kernels",
        "double",
        "single",
        "difference of exploitability, double",
        "single",
    ]
    lines = [
        [
            f"`{each['game']}`",
            f"{each['sequences']:,}",
            *(f"{1000 * each['seconds'][name]:.3g}" for name in ("kernels", "double", "single")),
            *(f"{each['apart'][name]:.1e}" for name in ("double", "single")),
        ]
        for each in rows
    ]
    return record.markdown_table(head, lines)


def case_table(rows: list[dict[str, Any]]) -> str:
    """Batches of searches: subgames per second."""
    lines = []
    for each in rows:
        rates = [record.digits(each[f"{name}_per_second"]) for name in ("kernels", "tensors")]
        lines.append([f"`{each['game']}`", f"{each['subgames']:,}", *rates])
    return record.markdown_table(["game", "subgames per batch", "searches per second, kernels", "tensors"], lines)


def training_table(rows: list[dict[str, Any]]) -> str:
    """Training: subgames and gradient steps per second."""
    lines = [
        [
            f"`{each['game']}`",
            WHERE[each["device"]],
            f"{each['episodes']:,}" if each["episodes"] else "",
            *(record.digits(each[key]) if each[key] else "0" for key in ("per_second", "steps")),
        ]
        for each in rows
    ]
    head = ["training", "where", "parallel games", "subgames per second", "steps per second"]
    return record.markdown_table(head, lines, left=2)


def tables(result: dict[str, Any]) -> str:
    """The result as markdown: the parts that were measured."""
    on_card, shown = result["device"] != "processor", {"games": game_table, "cases": case_table, "trainings": training_table}
    parts = [f"On {result['device']}." if on_card else OFF_CARD]
    if result.get("spots"):
        parts.append(spot_table(result["spots"], on_card))
    if result.get("batches"):
        parts.append(batch_table(result["batches"]))
    if any(result.get(name) for name in shown):
        parts.append("Games, batches of searches and training, against compiled kernels on one core:")
    return "\n\n".join([*parts, *(table(result[name]) for name, table in shown.items() if result.get(name))])
