"""Trained networks as policies on hold'em spots: locating, checking, tabulating and evaluating them."""

import os
from math import prod
from pathlib import Path

import numpy as np

from treeplex.base.notices import tell
from treeplex.base.storage.memory import available_memory, megabytes
from treeplex.engine.threads import checked_threads
from treeplex.errors import FileError, PolicyError
from treeplex.forms.policies.neural import NeuralPolicy, is_neural_policy
from treeplex.holdem.engine.workspace import workspace_sizes
from treeplex.holdem.forms.compile_spot import CompiledSpot
from treeplex.holdem.policies.network import average_of_network
from treeplex.holdem.policies.spot_policy import HoldemPolicy
from treeplex.holdem.spots.files import load_spot
from treeplex.holdem.spots.spot_table import NAMED
from treeplex.run.solve.tree_game import policy_file

NUMBER, NUMBER_OF_JUDGE = 4, 8
"""Bytes per number in a table, and in the evaluation's scratch space."""


def network_in(path: str | os.PathLike[str]) -> NeuralPolicy | None:
    """The network in a file or training folder; None for any other file.

    Raises:
        FileError: the folder has no network, or the file cannot be read.
    """
    file = policy_file(path)
    if file.is_file() and is_neural_policy(file):
        return NeuralPolicy.load(file)
    if Path(path).is_dir():
        raise FileError(
            f"{path} is a folder without a network for a hold'em spot; give a folder written by treeplex train deep-cfr SPOT, "
            "a solved spot (.spot), or 'uniform'"
        )
    return None


def policy_of_network(network: NeuralPolicy, game: CompiledSpot) -> HoldemPolicy:
    """Tabulate a network's policy for every hand on every board; memory use and progress go to ``notices.tell``.

    Raises:
        PolicyError: the network is for another game, or its table does not fit into memory.
        GameError: the spot's cards cannot be dealt one by one.
    """
    named = load_spot(network.spec).identity if network.spec in NAMED else None
    if network.about.get("identity", named) not in (None, game.spot.identity):
        raise PolicyError(f"this is a network for {network.spec or 'another spot'}, not for {game}; train one for this spot")
    threads = checked_threads(game.spot.settings.threads)
    needed, free = memory_needed(game, network.members, threads), available_memory()
    if free is not None and needed > free:
        raise PolicyError(
            f"evaluating a network on {game} needs {megabytes(needed)} of memory, but only {megabytes(free)} are "
            "free; free some, or estimate exploitability by playouts (treeplex playouts)"
        )
    what = f"reading the network at {game.infosets:,} infosets, {megabytes(needed)} of memory"

    def watch(done: int, total: int) -> None:
        tell(f"{what}  {done:,}/{total:,} boards")

    tell(what)
    average = average_of_network(network, game, threads=threads, watch=watch)
    return HoldemPolicy(game, average, np.zeros(0, np.float32), (), len(game.boards), threads=threads)


def memory_needed(game: CompiledSpot, members: int, threads: int) -> int:
    """Bytes needed to tabulate and evaluate a network; a mixture needs an additional table."""
    judging = sum(prod(shape) for shape in workspace_sizes(game.size.extent, threads, packed=True).values())
    return NUMBER * game.stored * (1 if members == 1 else 2) + NUMBER_OF_JUDGE * judging
