"""Treeplex as a process that answers the commands of :mod:`bench.rebel`, and two more.

``shared`` is ``generate`` as in training: a subgame shared by several episodes is solved once for all of them. ``recipe COUNT``
is that with the settings of :class:`treeplex.learn.rebel.settings.RebelSettings`. The network of the ``game`` line is for the
released code and not read; ours has the same width and layers, but gives both players' values at once. Answers also have
``leaf_cpu``, CPU seconds of the leaf values including the network, and ``rows``, the network's rows, without leaves that the
other player never reaches.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import version
from typing import Any

import numpy as np

from treeplex.base.arrays import Ints, Singles
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.sources.load import public_tree
from treeplex.learn.common.device import torch_module
from treeplex.learn.common.encoding import Encoding
from treeplex.learn.common.value_net import Forward, value_net
from treeplex.learn.rebel.network_leaf import NetworkLeaf
from treeplex.learn.rebel.self_play import SelfPlay
from treeplex.learn.rebel.settings import PAPER, RebelSettings, SelfPlaySettings
from treeplex.search.play_distribution import playthrough_policy
from treeplex.search.settings import PlaythroughSettings
from treeplex.search.subgames.batch import PairPlaces
from treeplex.search.subgames.subgame import Ranges

CHEAP, ADVANCES, SKIPPED = 8, 24, 4
"""Iterations, number, and number of skipped first searches of the self-play that samples typical positions of episodes."""


class TimedForward(Forward):
    """Forward passes of a network, with counts of rows and CPU seconds."""

    rows, cpu = 0, 0.0

    def __call__(self, rows: Singles, chosen: Ints | None = None) -> Singles:
        start = time.process_time()
        outputs = super().__call__(rows, chosen)
        self.cpu += time.process_time() - start
        self.rows += len(rows if chosen is None else chosen)
        return outputs


class TimedLeaf(NetworkLeaf):
    """A network as leaf evaluator, with counts of leaves and CPU seconds, those of its passes separately."""

    places, cpu = 0, 0.0

    def __init__(self, encoding: Encoding, net: Any) -> None:
        super().__init__(encoding, net)
        self.forward: TimedForward = TimedForward(net)

    def __call__(self, places: PairPlaces, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        start = time.process_time()
        values = super().__call__(places, believed, reached, player)
        self.cpu += time.process_time() - start
        self.places += len(places)
        return values


class Ours:
    """One game of Liar's Dice, with fresh networks, and its episodes."""

    def __init__(self, dice: int, faces: int) -> None:
        self.spec = f"liars_dice(numdice={dice},dice_sides={faces})"
        self.rules = public_tree(self.spec)
        self.plays: dict[tuple[SelfPlaySettings, int, bool], tuple[SelfPlay, TimedLeaf]] = {}

    def leaf(self, width: int, layers: int) -> TimedLeaf:
        """A fresh network."""
        encoding = Encoding(self.rules)
        return TimedLeaf(encoding, value_net(encoding.inputs, encoding.outputs, width=width, layers=layers, seed=0))

    def begun(self, wanted: RebelSettings, seed: int) -> tuple[SelfPlay, TimedLeaf]:
        """Self-play with episodes at typical positions.

        Episodes that all start at the root stay in step for a while. So positions are drawn from many advances of short
        searches, evenly over the last bids, which determine the sizes of subgames.
        """
        generator, settings = np.random.default_rng(seed), wanted
        leaf = self.leaf(wanted.width, wanted.layers)
        cheap = SelfPlay(self.rules, replace(settings, iterations=CHEAP), leaf, generator)
        pool = []
        for number in range(ADVANCES):
            cheap.advance()
            pool += list(zip(cheap.beliefs, cheap.paths, strict=True)) if number >= SKIPPED else []
        play = SelfPlay(self.rules, settings, leaf, generator)
        pool.sort(key=lambda each: each[1][-1:])
        strata = (np.arange(settings.episodes) + generator.random(settings.episodes)) / settings.episodes
        chosen = [pool[k] for k in (strata * len(pool)).astype(int)]
        play.beliefs, play.paths = [belief for belief, _ in chosen], [path for _, path in chosen]
        return play, leaf

    def generate(self, wanted: RebelSettings, count: int, seed: int, *, sharing: bool) -> dict[str, Any]:
        """At least ``count`` subgames of self-play; episodes of earlier calls continue."""
        key = wanted, sharing
        if key not in self.plays:
            self.plays[key] = self.begun(wanted, seed)
        play, leaf = self.plays[key]
        play.sharing = sharing
        before = play.solved

        def run() -> None:
            while play.solved < before + count:
                play.advance()

        found = measured(leaf, run)
        return found | {"count": play.solved - before}

    def evaluate(self, settings: PlaythroughSettings, seed: int) -> dict[str, Any]:
        """Playthroughs with the network of the released settings."""
        game, leaf = compile_game(self.spec), self.leaf(PAPER.width, PAPER.layers)
        generator = np.random.default_rng(seed)
        found = measured(leaf, lambda: playthrough_policy(game, self.rules, leaf, settings, generator))
        return found | {"count": settings.playthroughs}


def measured(leaf: TimedLeaf, run: Callable[[], Any]) -> dict[str, Any]:
    """CPU seconds of a run in total and at the leaves, and the number of leaves."""
    leaf.places, leaf.cpu, leaf.forward.rows, leaf.forward.cpu = 0, 0.0, 0, 0.0
    start = time.process_time()
    run()
    spent = time.process_time() - start
    network = {"net_cpu": leaf.forward.cpu, "rows": leaf.forward.rows}
    return {"cpu": spent, "leaf_cpu": leaf.cpu, "leaves": leaf.places, **network}


def answer(held: list[Ours], command: str, words: list[str]) -> dict[str, Any]:
    """The answer to a command for the game of the last ``game`` line."""
    if command == "game":
        held[:] = [Ours(int(words[0]), int(words[1]))]
        return {"version": version("treeplex"), "spec": held[0].spec}
    numbers = [int(word) for word in words]
    if command == "recipe":
        return held[0].generate(RebelSettings(), numbers[0], 0, sharing=True)
    count, updates, depth, seed = numbers
    if command in ("generate", "shared"):
        wanted = replace(PAPER, iterations=updates // 2, depth=depth)
        return held[0].generate(wanted, count, seed, sharing=command == "shared")
    if command == "evaluate":
        playing = PlaythroughSettings(method=PAPER.method, iterations=updates // 2, depth=depth, playthroughs=count)
        return held[0].evaluate(playing, seed)
    raise ValueError(f"unknown command {command!r}")


def main() -> None:
    """Answer until the input ends."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    torch_module().set_num_threads(1)
    held: list[Ours] = []
    for line in sys.stdin:
        command, *words = line.split()
        try:
            reply = answer(held, command, words)
        except Exception as error:
            reply = {"error": f"{type(error).__name__}: {error}"}
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


if __name__ == "__main__":
    main()
