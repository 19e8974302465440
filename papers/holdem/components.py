"""Effect of each component of an agent: exact exploitability of no-limit hold'em on small decks, from a blueprint in buckets to
re-solved streets, preflop charts and ReBeL.

``python papers/run.py holdem/components [DECK ...]`` measures the named decks (default: all) and caches each number in
``runs/papers``; other decks remain as stored. ``network`` after decks measures only flops by a network, and ``kept`` instead of
decks measures nothing.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from papers.common.kept import code, kept, peek
from papers.common.results import Result, Table, stored
from papers.common.study import study
from papers.holdem.continued import ContinuedSearch, continued_street, street_again
from papers.holdem.later_streets import LaterStreets, later_streets
from papers.holdem.solved_again import solved_again
from treeplex import load, train
from treeplex.base.arrays import Floats
from treeplex.holdem import CompiledSpot, HoldemSolver
from treeplex.holdem import compile as compile_spot
from treeplex.holdem.blueprint.buckets import BucketPolicy
from treeplex.holdem.blueprint.policy import HoldemBlueprint
from treeplex.holdem.policies.by_hand import written
from treeplex.holdem.search.leaves.hand_values import HandValues
from treeplex.holdem.street_search.exact import compiled_whole, judge_whole, searched_strategy, whole_spot
from treeplex.holdem.whole.public import PublicHoldem
from treeplex.learn import RebelTrainer
from treeplex.learn.blueprint.settings import BlueprintTraining
from treeplex.learn.common.device import one_thread
from treeplex.learn.hand_values.inference import hand_function
from treeplex.learn.hand_values.net import NET
from treeplex.learn.hand_values.settings import HandValueSettings
from treeplex.learn.rebel.settings import WholeRebelSettings
from treeplex.search import PlaythroughSettings

FLOP, TURN, RIVER = 1, 2, 3
NETWORK = "network none"
"""Flops until the turn by a network, then turns from ranges alone."""


@dataclass(frozen=True)
class Deck:
    """A game and its computational effort.

    Attributes:
        game: its name.
        buckets: of the blueprint, on each street.
        boards: of the blueprint's training.
        flops: number of flops of the preflop chart.
        iterations: of each solve.
        states: public belief states of ReBeL's training; 0: ReBeL is not measured.
        after: re-solved streets, keys of :data:`AFTER`; empty: all.
        situations: number of turns that a network for hands is trained on; 0: none is trained.
    """

    game: str
    buckets: tuple[int, int, int, int]
    boards: int
    flops: int
    iterations: int
    states: int
    after: tuple[str, ...] = ()
    situations: int = 0


BETS = "stack=40,sizes=[a]"
DECKS: Mapping[str, Deck] = {
    "12": Deck(f"holdem(ranks=3,suits=4,{BETS})", (9, 20, 20, 20), boards=20_000, flops=8, iterations=200, states=1024),
    "16": Deck(f"holdem(ranks=4,suits=4,{BETS})", (16, 20, 20, 20), boards=20_000, flops=16, iterations=150, states=512),
    "24": Deck(
        f"holdem(ranks=6,suits=4,{BETS})",
        (36, 20, 20, 20),
        boards=20_000,
        flops=24,
        iterations=100,
        states=0,
        after=("nothing", "turns none", "turns maxmargin", NETWORK, "flops none"),
        situations=12_000,
    ),
}
TRAINING = BlueprintTraining(method="kmeans")
HANDS = HandValueSettings(bets="a", raises="a")
REBEL: Mapping[str, Any] = {"burn_in": 192, "batch": 256, "width": 128, "boards": 4, "reuse": 512.0}
CODE = (
    "treeplex.holdem.street_search",
    "papers.holdem.later_streets",
    "papers.holdem.solved_again",
    "papers.holdem.continued",
    "treeplex.learn.hand_values",
    "treeplex.holdem.search.leaves",
    "treeplex.search.subgames.gadgets",
)
KEPT, ONLY_NETWORK = "kept", "network"
"""Options to measure nothing, or only flops by a network."""
MBB = 500.0
"""mbb per chip, with a big blind of two chips."""


class Ladder:
    """The agents of a deck, each as a solver stores it for the full game, float64 [Q].

    Attributes:
        deck: the deck.
        game, compiled: its game.
    """

    def __init__(self, deck: Deck) -> None:
        game = load(deck.game).public
        assert isinstance(game, PublicHoldem)
        self.deck, self.game, self.compiled = deck, game, compiled_whole(game)
        self._later: dict[tuple[int, bool], LaterStreets] = {}

    @cached_property
    def buckets(self) -> BucketPolicy:
        """A blueprint in buckets."""
        own = {"boards": self.deck.boards, "buckets": self.deck.buckets, "discount_every": self.deck.boards // 10}
        with TemporaryDirectory() as folder:
            train(self.deck.game, "blueprint", settings=TRAINING.changed(own), out=Path(folder) / "run")
            return BucketPolicy.whole(HoldemBlueprint.load(Path(folder) / "run"), self.compiled)

    def again(self, average: Floats, street: int, gadget: str = "none") -> Floats:
        """A policy re-solved from a street on."""
        key = street, gadget != "none"
        if key not in self._later:
            self._later = {key: later_streets(self.compiled, street, dealt=key[1])}
        return solved_again(self._later[key], average, gadget, iterations=self.deck.iterations)

    @cached_property
    def blueprint(self) -> Floats:
        """The blueprint, as a solver stores it."""
        return written(self.buckets, self.compiled).astype(np.float64)

    @cached_property
    def charted(self) -> Floats:
        """The blueprint with the preflop strategy of a chart, a solve of the game on some of its flops."""
        return self._before_flop(compile_spot(replace(whole_spot(self.game), runouts=(0, self.deck.flops, 0, 0))))

    @cached_property
    def solved(self) -> Floats:
        """The blueprint with the preflop strategy of a solve of the game on all flops."""
        return self._before_flop(self.compiled)

    def _before_flop(self, game: CompiledSpot) -> Floats:
        solver = HoldemSolver(game, "dcfr", threads=1, horizon=self.deck.iterations)
        solver.run(self.deck.iterations)
        first, found = later_streets(self.compiled, FLOP).stored_before, self.blueprint.copy()
        found[:first] = solver.store.average[:first]
        return found

    def continued(self, average: Floats, continuations: int = 4) -> Floats:
        """A policy whose flops are re-solved until the turn."""
        settings = ContinuedSearch(iterations=self.deck.iterations, continuations=continuations)
        return continued_street(self.compiled, average, FLOP, self.buckets, settings)

    @cached_property
    def leaf(self) -> HandValues:
        """Values at the start of the turn, by a network for single hands of this deck."""
        own = {"format": self.game.rules.format.name, "situations": self.deck.situations}
        with TemporaryDirectory() as folder:
            train(None, "hand-values", settings=HANDS.changed(own), out=Path(folder) / "run")
            return HandValues(hand_function(Path(folder) / "run" / NET, self.game.rules.format))

    def until_turn(self, average: Floats) -> Floats:
        """A policy whose flops are re-solved, with the network's values at the turn."""
        return street_again(self.compiled, average, FLOP, [self.leaf], "dcfr", self.deck.iterations)

    def after(self, average: Floats, name: str) -> Floats:
        """A policy with the streets of a row of :data:`AFTER` re-solved."""
        how, _, gadget = name.partition(" ")
        if how == "nothing":
            return average
        if how == "continued":
            return self.again(self.continued(average), TURN, gadget)
        if how == "single":
            return self.again(self.continued(average, 1), TURN, gadget)
        if how == "network":
            return self.again(self.until_turn(average), TURN, gadget)
        return self.again(average, {"rivers": RIVER, "turns": TURN, "flops": FLOP}[how], gadget)

    def rebel(self) -> Floats:
        """The average policies of ReBeL's searches."""
        settings = WholeRebelSettings().changed({**REBEL, "solves": self.deck.states})
        searching = PlaythroughSettings(method=settings.method, iterations=settings.iterations, playthroughs=1, batch=512)
        with one_thread():
            trainer = RebelTrainer(self.game, settings)
            while not trainer.finished:
                trainer.round()
            return searched_strategy(self.game, trainer.leaf, searching, np.random.default_rng(0), self.compiled, drawn=False)

    def judged(self, before: str, after: str) -> float:
        """Exploitability of an agent, in mbb/hand."""
        average = self.rebel() if before == "rebel" else self.after(getattr(self, before), after)
        return MBB * judge_whole(self.compiled, average).exploitability


AFTER: Mapping[str, str] = {
    "nothing": "nothing",
    "rivers none": "rivers, from ranges alone",
    "rivers maxmargin": "rivers, behind `maxmargin`",
    "turns none": "turns with rivers, from ranges alone",
    "turns resolve": "turns with rivers, behind `resolve`",
    "turns maxmargin": "turns with rivers, behind `maxmargin`",
    "single maxmargin": "flops until the turn, one continuation; turns behind `maxmargin`",
    "continued none": "flops until the turn, 4 continuations; turns from ranges alone",
    "continued maxmargin": "flops until the turn, 4 continuations; turns behind `maxmargin`",
    NETWORK: "flops until the turn, by a network for hands; turns from ranges alone",
    "flops maxmargin": "flops to the end, behind `maxmargin`",
    "flops none": "flops to the end, from ranges alone",
}
"""Re-solved streets."""
BEFORE: Mapping[str, str] = {"blueprint": "blueprint", "charted": "chart", "solved": "whole solve"}
"""Preflop strategies."""
LADDER: tuple[tuple[str, str, str], ...] = (
    ("blueprint", "nothing", "blueprint in buckets"),
    ("blueprint", "rivers maxmargin", "rivers solved again, behind `maxmargin`"),
    ("blueprint", "turns maxmargin", "turns with rivers, behind `maxmargin`"),
    ("blueprint", "continued maxmargin", "flops until the turn as well, by 4 continuations"),
    ("blueprint", "flops none", "flops to the end in their place, from ranges alone"),
    ("charted", "flops none", "chart before the flop"),
    ("solved", "flops none", "whole solve before the flop"),
)
"""Components in the order in which they are added."""
ASKED: tuple[tuple[str, str], ...] = (
    *((before, after) for before, after, _ in LADDER),
    *(("blueprint", name) for name in ("rivers none", "turns none")),
    ("rebel", "nothing"),
    *(("blueprint", name) for name in ("flops maxmargin", "continued none", "single maxmargin", "turns resolve")),
    *((before, after) for before in ("charted", "solved") for after in ("nothing", "turns none", "turns maxmargin")),
    ("solved", NETWORK),
)
"""The agents, most important first."""


def measured(name: str, *, make: bool, only: str = "") -> dict[str, float]:
    """Exploitability of a deck's agents in mbb/hand; unless new ones are computed, only of cached ones.

    ``only`` names re-solved streets; empty for all.
    """
    deck, found, ladder = DECKS[name], dict[str, float](), list[Ladder]()
    for before, after in ASKED:
        if (before == "rebel" and not deck.states) or (deck.after and after not in deck.after):
            continue
        if after == NETWORK and not deck.situations:
            continue
        key = {"study": "components", "deck": asdict(deck), "agent": [before, after], "code": code(*CODE)}
        key |= {"hands": HANDS.to_json()} if after == NETWORK else {}

        def fresh(before: str = before, after: str = after) -> float:
            ladder.extend([Ladder(deck)] if not ladder else [])
            return ladder[0].judged(before, after)

        value = kept(key, fresh) if make and only in ("", after) else peek(key)
        if value is not None:
            found[f"{before}, {after}"] = value
            print(name, before, after, round(value, 2), flush=True)
    return found


def apart(name: str) -> str:
    """Name of a deck's numbers with flops by a network, which are measured apart."""
    return f"{name}, {ONLY_NETWORK}"


def cell(found: Mapping[str, float], before: str, after: str) -> str:
    """A number of a table; empty if not measured."""
    value = found.get(f"{before}, {after}")
    return "" if value is None else f"{value:,.1f}"


def grid(name: str, found: Mapping[str, float]) -> Table:
    """All agents of a deck."""
    rows = [[text, *(cell(found, before, after) for before in BEFORE)] for after, text in AFTER.items()]
    kept_rows = [row for row in rows if any(row[1:])]
    caption = f"{name} cards, `{DECKS[name].game}`: exploitability in mbb/hand, by preflop policy"
    return Table(caption, ["solved again", *BEFORE.values()], kept_rows)


def ladder(known: Mapping[str, Mapping[str, float]]) -> Table:
    """Exploitability as components are added, and of ReBeL's searches."""
    rows = [[text, *(cell(found, before, after) for found in known.values())] for before, after, text in LADDER]
    rows.append(["ReBeL, the average policy of its searches", *(cell(found, "rebel", "nothing") for found in known.values())])
    return Table("Exploitability in mbb/hand as components are added", ["", *(f"{n} cards" for n in known)], rows)


def findings(name: str, found: Mapping[str, float]) -> list[str]:
    """Findings for a deck."""
    told = []
    steps = [(text, found[key]) for before, after, text in LADDER if (key := f"{before}, {after}") in found]
    if ", ".join(LADDER[-1][:2]) in found:
        worse = [text for (text, later), (_, earlier) in zip(steps[1:], steps, strict=False) if later >= earlier]
        told.append(
            f"With {name} cards exploitability falls from {steps[0][1]:.1f} to {steps[-1][1]:.1f} mbb/hand if the preflop "
            f"strategy is solved exactly, and to {found['charted, flops none']:.1f} with a chart. Each row is lower than the "
            "measured one above" + (f", except the {' and the '.join(worse)}." if worse else ".")
        )
    if (by_network := found.get(f"solved, {NETWORK}")) is not None:
        told.append(
            f"With {name} cards, flops solved until the turn by a network for hands of this deck, and turns from ranges alone, "
            f"leave {by_network:.1f} mbb after a whole solve before the flop."
        )
    alone = [found[key] for street in ("rivers", "turns") if (key := f"blueprint, {street} none") in found]
    if len(alone) == 2 and "blueprint, nothing" in found:
        told.append(
            f"With {name} cards, the blueprint's exploitability of {found['blueprint, nothing']:.1f} mbb/hand changes to "
            f"{alone[0]:.1f} with rivers re-solved without a gadget, and to {alone[1]:.1f} with turns and their rivers "
            "re-solved."
        )
    return told


@study(title="No-limit hold'em on small decks: effect of each component", place=14, minutes=55, needs=("torch",))
def reproduce(*options: str) -> Result:
    if unknown := {*options} - {*DECKS, KEPT, ONLY_NETWORK}:
        raise SystemExit(f"unknown deck {', '.join(sorted(unknown))}; choose from {', '.join(DECKS)}, {ONLY_NETWORK} or {KEPT}")
    before, only = stored("holdem/components"), NETWORK if ONLY_NETWORK in options else ""
    asked = {
        name: (before.get(name, {}) | before.get(apart(name), {}) if options else {})
        | measured(name, make=not options or name in options, only=only)
        for name in DECKS
    }
    known = {name: found for name, found in asked.items() if found}
    some = next(iter(DECKS.values()))
    decks = "; ".join(
        f"with {name} cards a blueprint of {deck.boards:,} boards of {TRAINING.deals} deals in {list(deck.buckets)} buckets, a "
        f"chart of {deck.flops} flops, {deck.iterations} iterations per solve"
        + (f", {deck.states} public belief states of ReBeL" if "rebel, nothing" in known[name] else "")
        + (f", a network trained on {deck.situations:,} turns" if f"solved, {NETWORK}" in known[name] else "")
        for name, deck in DECKS.items()
        if name in known
    )
    return Result(
        source="Brown and Sandholm 2017; Brown, Sandholm and Amos 2018; Brown, Bakhtin, Lerer and Gong 2020",
        findings=[line for name, found in known.items() for line in findings(name, found)],
        tables=[ladder(known), *(grid(name, found) for name, found in known.items())],
        notes=[
            f"Blinds of half a big blind and one, stacks of 20 big blinds, every bet all-in (`{some.game}`); {decks}. "
            "Discounted CFR; flops until the turn by continuations: CFR+ over all boards. Every street is solved on all "
            "boards, from the ranges of the policy before it, or behind a gadget with the values that that policy promised. "
            "Networks for hands: `treeplex train hand-values` with all-in bets on random situations. "
            "The last solution is played. ReBeL's agent plays random iterations of its searches, which are more "
            "exploitable than their average policy: `rebel/whole_holdem` has both. Exploitability is from a best "
            "response over the whole game. mbb are mbb/hand.",
        ],
        numbers={
            key: values
            for name, found in known.items()
            for key, networks in ((name, False), (apart(name), True))
            if (values := {agent: value for agent, value in found.items() if agent.endswith(NETWORK) is networks})
        },
    )
