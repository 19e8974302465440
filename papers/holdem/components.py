"""What each component of an agent is worth: the exact exploitability of whole hold'em on small decks with one after the other,
from a blueprint in buckets to streets solved again, preflop charts and ReBeL.

``python papers/run.py holdem/components [DECK ...]`` measures the named decks (none: those that are quick), each kept in
``runs/papers`` when it is done, and shows what there is.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import numpy as np

from papers.common.kept import code, kept, peek
from papers.common.results import Result, Table
from papers.common.study import study
from treeplex.arrays import Floats
from treeplex.forms.holdem.compile_spot import CompiledSpot, compile_spot
from treeplex.forms.holdem.later_streets import LaterStreets, later_streets
from treeplex.forms.policies.holdem.blueprint import HoldemBlueprint
from treeplex.forms.policies.holdem.buckets import BucketPolicy
from treeplex.forms.policies.holdem.by_hand import written
from treeplex.forms.sources.load import load_rules
from treeplex.games.poker.whole.public import PublicHoldem
from treeplex.learn.rebel.trainer import RebelTrainer
from treeplex.learn.rebel.whole.settings import WholeRebelSettings
from treeplex.learn.torch.device import one_thread
from treeplex.runs.blueprint.settings import BlueprintTraining
from treeplex.runs.train.train import train
from treeplex.search.settings import PlaythroughSettings
from treeplex.search.whole.continued import ContinuedSearch, continued_street
from treeplex.search.whole.exact import compiled_whole, judge_whole, searched_strategy, whole_spot
from treeplex.search.whole.solved_again import solved_again
from treeplex.solvers.holdem.solver import HoldemSolver

FLOP, TURN, RIVER = 1, 2, 3


@dataclass(frozen=True)
class Deck:
    """A game, and how much is spent on it.

    Attributes:
        game: its name.
        buckets: of the blueprint, on each street.
        boards: of the blueprint's training.
        flops: that the preflop chart is solved on, of all.
        iterations: of each solve.
        states: public belief states of ReBeL's training.
    """

    game: str
    buckets: tuple[int, int, int, int]
    boards: int
    flops: int
    iterations: int
    states: int


BETS = "stack=40,sizes=[a]"
DECKS: Mapping[str, Deck] = {
    "12": Deck(f"holdem(ranks=3,suits=4,{BETS})", (9, 6, 6, 6), 2000, 8, 200, 1024),
    "16": Deck(f"holdem(ranks=4,suits=4,{BETS})", (16, 8, 8, 8), 4000, 16, 200, 1024),
    "20": Deck(f"holdem(ranks=5,suits=4,{BETS})", (25, 10, 10, 10), 8000, 24, 200, 512),
    "24": Deck(f"holdem(ranks=6,suits=4,{BETS})", (36, 12, 12, 12), 16000, 32, 200, 512),
}
QUICK = ("12", "16")
"""Decks that take minutes."""
REBEL: Mapping[str, Any] = {"burn_in": 192, "batch": 256, "width": 128, "boards": 4, "reuse": 512.0}
BIG_BLIND = 2
MODULES = ("treeplex.search.whole", "treeplex.forms.holdem.later_streets", "papers.holdem.components")


class Ladder:
    """The agents of a deck, each what a solver stores of the whole game, float64 [Q].

    Attributes:
        deck: the deck.
        game, compiled: its game.
    """

    def __init__(self, deck: Deck) -> None:
        game = load_rules(deck.game).public_game()
        assert isinstance(game, PublicHoldem)
        self.deck, self.game, self.compiled = deck, game, compiled_whole(game)
        self._later: dict[tuple[int, bool], LaterStreets] = {}

    @cached_property
    def buckets(self) -> BucketPolicy:
        """A blueprint in buckets."""
        asked = BlueprintTraining(
            boards=self.deck.boards, buckets=self.deck.buckets, method="kmeans", discount_every=self.deck.boards // 10
        )
        with TemporaryDirectory() as folder:
            train(self.deck.game, "blueprint", settings=asked, out=Path(folder) / "run")
            return BucketPolicy.whole(HoldemBlueprint.load(Path(folder) / "run"), self.compiled)

    def again(self, average: Floats, street: int, gadget: str = "none") -> Floats:
        """A policy, solved again from a street on."""
        key = street, gadget != "none"
        if key not in self._later:
            self._later = {key: later_streets(self.compiled, street, dealt=key[1])}
        return solved_again(self._later[key], average, gadget, iterations=self.deck.iterations)

    def continued(self, average: Floats, continuations: int = 4) -> Floats:
        """A policy whose flops are solved again to their own end."""
        settings = ContinuedSearch(iterations=self.deck.iterations, continuations=continuations)
        return continued_street(self.compiled, average, FLOP, self.buckets, settings)

    def charted(self, average: Floats, flops: int) -> Floats:
        """A policy that plays before the flop as a solve of the game on so many of its flops does; 0: on all."""
        spot = whole_spot(self.game)
        game: CompiledSpot = compile_spot(replace(spot, runouts=(0, flops, 0, 0))) if flops else self.compiled
        solver = HoldemSolver(game, "dcfr", threads=1, horizon=self.deck.iterations)
        solver.run(self.deck.iterations)
        first, found = later_streets(self.compiled, FLOP).stored_before, average.copy()
        found[:first] = solver.store.average[:first]
        return found

    def rebel(self) -> Floats:
        """The average policies of ReBeL's searches."""
        settings = WholeRebelSettings().changed({**REBEL, "solves": self.deck.states})
        searching = PlaythroughSettings(method=settings.method, iterations=settings.iterations, playthroughs=1, batch=512)
        with one_thread():
            trainer = RebelTrainer(self.game, settings)
            while not trainer.finished:
                trainer.round()
            return searched_strategy(
                self.game, trainer.leaf, searching, np.random.default_rng(0), self.compiled, drawn=False
            )

    def rungs(self) -> Iterator[tuple[str, Floats]]:
        """The agents by name."""
        blueprint = written(self.buckets, self.compiled).astype(np.float64)
        yield "blueprint", blueprint
        yield "rivers", self.again(blueprint, RIVER)
        yield "turns", self.again(blueprint, TURN)
        for gadget in ("resolve", "maxmargin"):
            yield gadget, self.again(blueprint, TURN, gadget)
        yield "single", self.again(self.continued(blueprint, 1), TURN)
        yield "continued", self.again(self.continued(blueprint), TURN)
        yield "flops", self.again(blueprint, FLOP)
        charted = self.charted(blueprint, self.deck.flops)
        yield "chart-blueprint", charted
        yield "chart-turns", self.again(charted, TURN)
        yield "chart-continued", self.again(self.continued(charted), TURN)
        yield "chart", self.again(charted, FLOP)
        yield "full", self.again(self.charted(blueprint, 0), FLOP)
        yield "rebel", self.rebel()
