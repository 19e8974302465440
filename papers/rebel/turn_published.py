"""ReBeL, Figure 2 on turn endgame hold'em as published: search with a network and the level of 125 iterations.

All bet sizes of the paper, random boards, stacks and sizes in training; networks over bins of strength, by several seeds. The
paper's full game is searched and evaluated, with finely solved rivers. ``python papers/run.py rebel/turn_published 40`` starts
no further training run after 40 minutes. A seed takes half an hour to an hour on one core; seeds with stored evaluations are
not trained again.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

from papers.common.drawing import dress, line_style, panels, plain_labels, save
from papers.common.kept import code, effort, kept
from papers.common.results import Picture, Result, Table, provenance, published, store_run, stored
from papers.common.study import study
from papers.rebel.turn_endgame import thousandths
from papers.rebel.turn_hands import path_of, trained
from papers.rebel.turn_networks import SEARCHING, averages
from treeplex.holdem import turn_endgame_holdem
from treeplex.holdem.search.play_distribution import Player
from treeplex.holdem.search.subgames.subgame import cut_spot
from treeplex.learn import HoldemRebelSettings
from treeplex.learn.common.device import one_thread

SEEDS = 3
SETTINGS = HoldemRebelSettings(games=800)
NAME = "rebel/turn_published"
METHODS = {"lcfr": "linear CFR-D", "dcfr": "CFR-D by DCFR"}
POINTS = (32, 64, 128)
"""Iterations of search at which the average policy is evaluated."""
RIVER = 256
"""Iterations of Discounted CFR in solves of the played rivers."""
TABULAR = "lcfr"


def judged(seed: int, method: str) -> list[float]:
    """Exploitability in chips of the average policy after each of :data:`POINTS` iterations of search."""
    leaf, card = trained(replace(SETTINGS, seed=seed))

    def make() -> list[float]:
        player = Player(cut_spot(turn_endgame_holdem()), RIVER, storage="float32")
        with one_thread():
            return averages(player, player.search(method, POINTS[-1], leaf), POINTS)

    key = {"what": NAME, "net": card["checksum"], "method": method, "points": POINTS, "river": RIVER}
    return list(kept({**key, "code": code(*SEARCHING)}, make))


def earlier() -> tuple[dict[str, dict[str, list[float]]], dict[str, Any]]:
    """Stored evaluations and cards by seed, if they have these settings."""
    numbers = stored(NAME)
    cards = {seed: card for seed, card in numbers.get("trainings", {}).items() if card["games"] == SETTINGS.games}
    if numbers.get("points") != list(POINTS):
        return {}, {}
    return {seed: own for seed, own in numbers.get("chips", {}).items() if seed in cards}, cards


@study(title="ReBeL, Figure 2: turn endgame hold'em as published", place=15, minutes=90, needs=("torch",))
def reproduce(minutes: float = math.inf) -> Result | None:
    began = perf_counter()
    chips, cards = earlier()
    for seed in range(SEEDS):
        late = perf_counter() - began >= 60.0 * minutes
        if str(seed) in chips or (late and not path_of(replace(SETTINGS, seed=seed)).is_file()):
            continue
        cards[str(seed)] = dict(trained(replace(SETTINGS, seed=seed))[1])
        print(f"seed {seed} is trained", flush=True)
        chips[str(seed)] = {method: judged(seed, method) for method in METHODS}
        print(seed, chips[str(seed)], flush=True)
        for what, value in (("chips", chips), ("trainings", cards)):
            store_run(NAME, [what, str(seed)], value[str(seed)], provenance())
    if not chips:
        return None
    whole, claim = stored("rebel/turn_endgame"), published("rebel")["turn_endgame"]
    points, tabular = whole["iterations"], whole["chips"]["19,000 behind"][TABULAR]
    level = tabular[points.index(claim["iterations"])]
    return Result(
        source=f"{published('rebel')['source']}; {claim['source']}, appendix C.2.",
        findings=findings(claim, chips, level),
        tables=[table(chips, points, tabular), trainings(cards)],
        pictures=[draw(chips, points, tabular, level)],
        notes=notes(),
        numbers={"points": POINTS, "chips": chips, "trainings": cards},
    )


Chips = Mapping[str, Mapping[str, Sequence[float]]]
"""Curves by seed and method."""


def findings(claim: Mapping[str, Any], chips: Chips, level: float) -> list[str]:
    """Whether the level is reached."""
    lines = [f'Published: "{claim["claims"][0]}". That level is {thousandths(level):,.0f} mbb/hand here.']
    for method, name in METHODS.items():
        least = [thousandths(min(own[method])) for own in chips.values()]
        reached = sum(each <= thousandths(level) for each in least)
        each = ", ".join(f"{value:,.0f}" for value in least)
        lines.append(
            f"Search by {name} reaches {each} mbb/hand in the training runs; {reached} of {len(least)} reach the level."
        )
    return lines


def table(chips: Chips, points: Sequence[int], tabular: Sequence[float]) -> Table:
    """All searches."""
    rows = [
        [f"{name}, seed {seed}", *(f"{thousandths(value):,.0f}" for value in own[method])]
        for method, name in METHODS.items()
        for seed, own in chips.items()
    ]
    near = [thousandths(tabular[points.index(point)]) for point in POINTS]
    rows.append(["linear CFR on the whole game", *(f"{value:,.0f}" for value in near)])
    return Table("Exploitability in mbb/hand by number of iterations, average policies", ["", *map(str, POINTS)], rows)


def trainings(cards: Mapping[str, Mapping[str, Any]]) -> Table:
    """Cost of training runs, and errors during training."""
    looks = list(next(iter(cards.values()))["errors"])
    rows = [
        [f"seed {seed}", *(f"{100.0 * error:.1f}" for error in card["errors"].values()), f"{card['seconds'] / 60.0:.0f}"]
        for seed, card in cards.items()
    ]
    head = ["", *(f"{look} games" for look in looks), "CPU minutes"]
    return Table("Error of a hand's value on unseen rivers, % of the pot", head, rows)


def draw(chips: Chips, points: Sequence[int], tabular: Sequence[float], level: float) -> Picture:
    """Search by each method, a band over seeds, and the full game."""
    figure, (axes,) = panels(1, 1, size=(7.6, 4.6))
    style = line_style(0)
    axes.plot(points, [thousandths(value) for value in tabular], label="linear CFR on the whole game", **style)
    for number, (method, name) in enumerate(METHODS.items(), start=1):
        runs = [[thousandths(value) for value in own[method]] for own in chips.values()]
        middle = [sum(values) / len(values) for values in zip(*runs, strict=True)]
        style = line_style(number)
        axes.plot(POINTS, middle, label=f"search with a network, {name}", **style)
        low, high = ([pick(values) for values in zip(*runs, strict=True)] for pick in (min, max))
        axes.fill_between(POINTS, low, high, color=style["color"], alpha=0.18, linewidth=0)
    axes.axhline(thousandths(level), color="#9A9A9A", linewidth=0.9, zorder=1)
    dress(axes, "Turn endgame hold'em, 19,000 behind")
    plain_labels(axes)
    axes.set(xlim=(8, points[-1]), ylim=(60, 12_000), xlabel="iterations")
    axes.set_ylabel("exploitability, mbb/hand")
    axes.set_xticks([8, 16, 32, 64, 128, 256], ["8", "16", "32", "64", "128", "256"])
    axes.legend(frameon=False, fontsize=9.5, handlelength=3.2, loc="upper right")
    return save(
        figure,
        "rebel-turn-published.png",
        "Exploitability against iterations on turn endgame hold'em with all bet sizes, both axes logarithmic: searches of the "
        "turn with networks, bands over seeds, and linear CFR on the whole game; a line at 125 iterations of it",
    )


def notes() -> list[str]:
    """How it was measured."""
    low, high = SETTINGS.stacks
    return [
        "The game as published: first bets of half the pot, the pot or all-in, raises of three quarters or all-in, "
        f"3s7hTdKs, 19,000 behind. Training uses any board, {low:,.0f} to {high:,.0f} chips per player, and sizes changed by "
        f"up to {SETTINGS.perturbed:g} of the pot (appendix C.2).",
        f"Networks see {SETTINGS.bins} bins of strength; {SETTINGS.layers} layers of {SETTINGS.width}; {SETTINGS.games:,} "
        f"games, {SETTINGS.rivers} rivers from each. The paper's network sees 1,326 hands and has six layers of 1,536 and "
        f"millions of rows.",
        f"Rivers are solved for the policy's beliefs by {RIVER} iterations of DCFR, and the whole policy is evaluated "
        f"exactly. {effort()}",
    ]
