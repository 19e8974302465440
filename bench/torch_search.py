"""Searches with tensors compared with compiled kernels: operations per iteration, and CPU seconds.

Subgames are those of an untrained network's self-play. On a GPU an operation is a kernel launch, so their number, which does
not depend on the number of subgames, bounds the time of an iteration from below. Without a GPU both are measured on one core.
With a GPU, ``--device cuda`` measures tensors on it, in wall seconds.

    python bench/run.py torch_search [--quick] [--device cuda]
"""

import argparse
import time
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile

from bench.common import record
from bench.common.benchmark import benchmark
from treeplex.forms.sources.load import public_tree
from treeplex.learn.common.device import torch_device
from treeplex.learn.rebel.settings import RebelSettings
from treeplex.learn.rebel.trainer import RebelTrainer
from treeplex.learn.torch.search import TorchSearch
from treeplex.search.methods import METHODS
from treeplex.search.subgame_search import SubgameSearch
from treeplex.search.subgames.batch import cut_states
from treeplex.search.subgames.beliefs import stacked_ranges

GAMES = ("liars_dice(dice_sides=4)", "liars_dice(dice_sides=6)", "leduc_poker")
EPISODES = (64, 1024)
ADVANCES, TURNS = 4, 3
NO_KERNELS = frozenset(("aten::flatten", "aten::reshape", "aten::select", "aten::slice", "aten::to", "aten::view_as"))
"""Operations that move no data."""


def operations(search: TorchSearch, iterations: int = 4) -> float:
    """PyTorch operations per iteration, without views."""
    search.run(2)
    with profile(activities=[ProfilerActivity.CPU]) as watched:
        search.run(iterations)
    names = [event.name for event in watched.events() if event.cpu_parent is None and event.name.startswith("aten::")]
    return sum(name not in NO_KERNELS for name in names) / iterations


def one_case(spec: str, episodes: int, device: Any, quick: bool, *, turns: int = TURNS) -> dict[str, Any]:
    """One game and batch: solved for the recipe's iterations by kernels and by tensors, ``turns`` times in turn."""
    turns = 1 if quick else turns
    clock = time.perf_counter if device.type == "cuda" else time.process_time
    rules, settings = public_tree(spec), RebelSettings(episodes=8 if quick else episodes)
    iterations = 4 if quick else settings.iterations
    play = RebelTrainer(rules, RebelSettings(episodes=settings.episodes, iterations=4)).play
    for _ in range(ADVANCES):
        play.advance()
    subgames = cut_states(rules, [belief.state for belief in play.beliefs], play.settings.horizon)
    ranges, leaf = stacked_ranges(play.beliefs), RebelTrainer(rules, settings).leaf

    def begun() -> SubgameSearch:
        return SubgameSearch(subgames, METHODS[settings.method], leaf, ranges, horizon=iterations)

    begun().run(2)
    operating = operations(TorchSearch(begun(), device=device))
    seconds = {"kernels": 0.0, "tensors": 0.0, "carrying": 0.0}
    for _ in range(turns):
        search, start = begun(), time.process_time()
        search.run(iterations)
        seconds["kernels"] += time.process_time() - start
        host, start = begun(), clock()
        carried = TorchSearch(host, device=device)
        seconds["carrying"] += clock() - start
        start = clock()
        carried.run(iterations)
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        seconds["tensors"] += clock() - start
    solved = len(subgames.roots) * turns
    return {
        "game": spec,
        "subgames": len(subgames.roots),
        "sequences": len(search.policy),
        "leaves": len(subgames.leaves),
        "iterations": iterations,
        "operations": operating,
        "kernels_per_second": solved / seconds["kernels"],
        "tensors_per_second": solved / seconds["tensors"],
        "carrying_seconds": seconds["carrying"] / turns,
    }


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--device", choices=("torch-cpu", "cuda"), default="torch-cpu")


@benchmark(
    title="Searches with tensors compared with compiled kernels",
    place=None,
    minutes=5,
    needs=("torch",),
)
def measure(options: argparse.Namespace) -> dict[str, Any]:
    torch.set_num_threads(1)
    device = torch_device(options.device)
    games, counts = (GAMES[:1], EPISODES[:1]) if options.quick else (GAMES, EPISODES)
    cases = [one_case(spec, episodes, device, options.quick) for spec in games for episodes in counts]
    return {"device": options.device, "cases": cases}


def tables(result: dict[str, Any]) -> str:
    """The result as markdown."""
    head = ["game", "subgames", "operations per iteration", "searches per second, kernels", "tensors", "transfers, s"]
    rows = [
        [
            f"`{each['game']}`",
            str(each["subgames"]),
            f"{each['operations']:.0f}",
            record.digits(each["kernels_per_second"]),
            record.digits(each["tensors_per_second"]),
            record.digits(each["carrying_seconds"]),
        ]
        for each in result["cases"]
    ]
    return record.markdown_table(head, rows)
