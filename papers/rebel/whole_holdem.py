"""ReBeL on full no-limit hold'em with small decks, from the blinds over four streets, every number exact.

``python papers/run.py rebel/whole_holdem [NAME ...]`` makes the runs whose names contain one of the words (default: all),
caches each in ``runs/papers``, and shows all available ones.
"""

from collections.abc import Mapping
from time import process_time
from typing import Any

import numpy as np

from papers.common.drawing import dress, line_style, panels, plain_labels, save
from papers.common.kept import code, kept, peek
from papers.common.results import Picture, Result, Table, published
from papers.common.study import study
from treeplex import load
from treeplex.holdem import HoldemSolver
from treeplex.holdem.street_search.exact import compiled_whole, judge_whole, searched_strategy
from treeplex.learn import RebelTrainer
from treeplex.learn.common.device import one_thread
from treeplex.learn.rebel.settings import WholeRebelSettings
from treeplex.search import LeafValue, PlaythroughSettings

DECKS: Mapping[str, str] = {
    "12": "holdem(ranks=3,suits=4,stack=8,sizes=[100%;a])",
    "16": "holdem(ranks=4,suits=4,stack=8,sizes=[100%;a])",
    "24": "holdem(ranks=6,suits=4,stack=40,sizes=[a])",
}
WHOLE = "holdem(stack=100,preflop=[2.5bb;3x;a],sizes=[50%;100%;a],raises=[4;3;3;3])"
COMMON: Mapping[str, Any] = {"burn_in": 192, "batch": 256, "width": 128, "boards": 0, "reuse": 512.0}
LONG = "long"
"""The variant that is trained for longer."""
VARIANTS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "recipe": ("self-play, CFR-D", {}),
    "random": ("random beliefs", {"source": "random"}),
    "all": ("self-play, values not over the showdown", {"shown": False}),
    "guess": ("self-play, policy network and warm starts", {"policy_net": True}),
    "average": ("self-play, modified CFR-AVG", {"method": "dcfr-avg-modified"}),
    "sound": ("self-play, sound CFR-AVG", {"method": "dcfr-avg"}),
    "drawn": ("self-play, 4 boards drawn", {"boards": 4}),
    "bins": ("self-play, 16 bins of strength", {"bins": 16}),
    "guess-bins": ("self-play, 16 bins, policy network and warm starts", {"bins": 16, "policy_net": True}),
    LONG: ("self-play, CFR-D, a longer training of a wider network", {"width": 256}),
}
LARGE = ("random", "guess", "bins", "guess-bins")
"""Other variants trained with 24 cards, whose evaluation takes six minutes each."""
LARGER: Mapping[str, Any] = {"boards": 4}
"""With 24 cards."""
MARKS: Mapping[str, tuple[int, ...]] = {"12": (512, 1024), "16": (256, 1024), "24": (2048,)}
"""Public belief states at which a training run is evaluated."""
LONG_MARKS = (1024, 2048, 4096)
PLAYED = (8, 16, 32, 64, 128, 256)
"""Iterations of each search in play."""
SEEDS = (0, 1)
CURVES = (("12", LONG, 0),)
"""Training runs whose networks are also evaluated with other numbers of iterations."""
PLAYTHROUGHS = 4
"""Playthroughs for the agent's own policy, at the end."""
FULL = (4, 16, 64, 256)
"""Iterations of Discounted CFR on the full game, for comparison."""
BATCH = 512
DISTINCT = 8
"""Distinct line styles; further ones have markers."""
CODE = ("treeplex.learn.rebel.whole", "treeplex.holdem.street_search")
"""Modules on which a cached training run depends."""


def asked(deck: str, variant: str) -> dict[str, Any]:
    """Settings of a training run except length and seed."""
    return {**COMMON, **VARIANTS[variant][1], **(LARGER if deck == "24" else {})}


def variants_of(deck: str) -> list[str]:
    """Variants trained with a deck."""
    return list(VARIANTS) if deck == "12" else ["recipe", *(LARGE if deck == "24" else ())]


def marks_of(deck: str, variant: str) -> tuple[int, ...]:
    """Public belief states at which a training run is evaluated."""
    return LONG_MARKS if variant == LONG else MARKS[deck]


class Judge:
    """Evaluates the searches of a network, in chips per hand.

    Attributes:
        game, compiled: the evaluated game.
        searching: settings of search, as in training.
    """

    def __init__(self, deck: str, settings: WholeRebelSettings) -> None:
        self.game = load(DECKS[deck]).public
        self.compiled = compiled_whole(self.game)
        self.searching = PlaythroughSettings(
            method=settings.method, iterations=settings.iterations, playthroughs=1, batch=BATCH
        )

    def average(self, leaf: LeafValue, **changes: Any) -> float:
        """Exploitability of the average policies of searches."""
        return self._judged(leaf, self.searching.changed(changes), drawn=False)

    def played(self, leaf: LeafValue, **changes: Any) -> float:
        """Exploitability of play by drawn iterations, an upper bound."""
        return self._judged(leaf, self.searching.changed({"playthroughs": PLAYTHROUGHS, **changes}), drawn=True)

    def _judged(self, leaf: LeafValue, searching: PlaythroughSettings, *, drawn: bool) -> float:
        found = searched_strategy(self.game, leaf, searching, np.random.default_rng(0), self.compiled, drawn=drawn)
        return judge_whole(self.compiled, found).exploitability


def trained(deck: str, variant: str, seed: int) -> dict[str, Any]:
    """A training run, and the exploitability of the average policies of its searches at the marks, in chips per hand.

    :data:`CURVES` also have searches of other lengths, for average and played policies.
    """
    marks, points = list(marks_of(deck, variant)), []
    settings = WholeRebelSettings().changed({**asked(deck, variant), "solves": marks[-1], "seed": seed})
    judge = Judge(deck, settings)
    with one_thread():
        trainer, seconds, began = RebelTrainer(judge.game, settings), 0.0, process_time()
        while marks:
            trainer.round()
            if trainer.done < marks[0]:
                continue
            marks.pop(0)
            seconds += process_time() - began
            points.append((trainer.done, seconds, judge.average(trainer.leaf)))
            print(deck, variant, seed, points[-1], flush=True)
            began = process_time()
        value: dict[str, Any] = {"points": points}
        if (deck, variant, seed) in CURVES:
            value["curve"] = [
                (T, judge.average(trainer.leaf, iterations=T), judge.played(trainer.leaf, iterations=T)) for T in PLAYED
            ]
            value["played"] = judge.played(trainer.leaf)
    return value


def untrained() -> float:
    """Exploitability of searches with an untrained network, whose values are close to showdown values."""
    settings = WholeRebelSettings().changed(asked("12", "recipe"))
    judge = Judge("12", settings)
    with one_thread():
        return judge.average(RebelTrainer(judge.game, settings).leaf)


def cost() -> dict[str, float]:
    """CPU time per public belief state with 52 cards, including its share of gradient steps."""
    game = load(WHOLE).public
    settings = WholeRebelSettings(iterations=24, boards=1, episodes=16, burn_in=16, batch=128, reuse=64.0, solves=48)
    with one_thread():
        trainer = RebelTrainer(game, settings)
        trainer.round()  # compiles
        before, began = trainer.done, process_time()
        while not trainer.finished:
            trainer.round()
    return {"states": trainer.done - before, "seconds": process_time() - began, "iterations": settings.iterations}


def solved(deck: str) -> list[tuple[int, float]]:
    """Exploitability after iterations of Discounted CFR on the full game, in chips per hand."""
    compiled = compiled_whole(load(DECKS[deck]).public)
    solver, points = HoldemSolver(compiled, "dcfr", threads=1, storage="float64"), []
    for mark in FULL:
        solver.run(mark - solver.iteration)
        points.append((mark, judge_whole(compiled, solver.store.average).exploitability))
    return points


def runs() -> dict[str, Any]:
    """Every run by name: its cache key, and a function that makes it."""
    found: dict[str, Any] = {"52-cost": ({"study": "whole_holdem", "game": WHOLE}, cost)}
    found["12-untrained"] = {"study": "whole_holdem", "untrained": asked("12", "recipe")}, untrained
    for deck, game in DECKS.items():
        if deck != "24":
            found[f"{deck}-solved"] = {"study": "whole_holdem", "game": game, "full": FULL}, lambda deck=deck: solved(deck)
        for variant in variants_of(deck):
            for seed in SEEDS if deck == "12" else SEEDS[:1]:
                about = {**asked(deck, variant), "marks": marks_of(deck, variant), "seed": seed, "code": code(*CODE)}
                key = {"study": "whole_holdem", "game": game, "settings": about, "curve": (deck, variant, seed) in CURVES}
                found[f"{deck}-{variant}-{seed}"] = key, lambda plan=(deck, variant, seed): trained(*plan)
    return found


def big_blinds(chips: float) -> str:
    """Chips as mbb for a big blind of two chips, as text."""
    return f"{500.0 * chips:,.1f}"


def spread(values: list[float]) -> str:
    """One value, or a range."""
    return big_blinds(values[0]) if len(values) == 1 else f"{big_blinds(min(values))} to {big_blinds(max(values))}"


def table(deck: str, known: Mapping[str, Any]) -> Table | None:
    """Exploitability of one deck's training runs at the marks."""
    rows = []
    for variant, (text, _) in VARIANTS.items():
        if variant == LONG:
            continue
        found = [known[name] for seed in SEEDS if (name := f"{deck}-{variant}-{seed}") in known]
        if found:
            cells = [spread([run["points"][k][2] for run in found]) for k in range(len(MARKS[deck]))]
            seconds = max(run["points"][-1][1] for run in found)
            rows.append([text, str(len(found)), *cells, f"{seconds:.0f}"])
    heads = ["", "seeds", *(f"{mark:,}" for mark in MARKS[deck]), "s"]
    caption = f"{deck} cards, `{DECKS[deck]}`: exploitability of average policies by number of public belief states, mbb/hand"
    return Table(caption, heads, rows) if rows else None


def longer(known: Mapping[str, Any]) -> list[Table]:
    """The longer training run, and searches of other lengths with its network."""
    found = [known[name] for seed in SEEDS if (name := f"12-{LONG}-{seed}") in known]
    if not found:
        return []
    rows = [
        [f"{mark:,}", spread([run["points"][k][2] for run in found]), f"{max(run['points'][k][1] for run in found):.0f}"]
        for k, mark in enumerate(LONG_MARKS)
    ]
    tables = [Table("12 cards, a longer training of a network of width 256, mbb/hand", ["states", "exploitability", "s"], rows)]
    for run in found:
        if "curve" in run:
            rows = [[str(T), big_blinds(average), big_blinds(played)] for T, average, played in run["curve"]]
            caption = f"12 cards, searches of T iterations with that network, mbb/hand; played: N = {PLAYTHROUGHS}"
            tables.append(Table(caption, ["T", "average policy", "played"], rows))
    return tables


def draw(known: Mapping[str, Any]) -> Picture:
    """Exploitability against training time with twelve cards."""
    figure, (panel,) = panels(1, 1, size=(7.6, 5.6))
    for number, (variant, (text, _)) in enumerate(VARIANTS.items()):
        found = [known[name]["points"] for seed in SEEDS if (name := f"12-{variant}-{seed}") in known]
        if found:
            points = np.array(found)
            style = line_style(number) | ({"marker": "o", "markersize": 4} if number >= DISTINCT else {})
            panel.plot(points[:, :, 1].mean(axis=0), 500 * points[:, :, 2].mean(axis=0), label=text, **style)
            low, high = 500 * points[:, :, 2].min(axis=0), 500 * points[:, :, 2].max(axis=0)
            panel.fill_between(points[:, :, 1].mean(axis=0), low, high, color=style["color"], alpha=0.15, linewidth=0)
    across = panel.get_yaxis_transform()
    if "12-untrained" in known:
        panel.axhline(500 * known["12-untrained"], color="0.7", linewidth=0.8, linestyle=":")
        text = "nothing learned: showdowns"
        panel.text(0.99, 500 * known["12-untrained"], text, transform=across, fontsize=8, color="0.4", va="bottom", ha="right")
    for mark, chips in known.get("12-solved", ())[:3]:
        panel.axhline(500 * chips, color="0.7", linewidth=0.8)
        text = f"{mark} iterations of the whole game"
        panel.text(0.99, 500 * chips, text, transform=across, fontsize=8, color="0.4", va="bottom", ha="right")
    dress(panel, "Four streets, 12 cards")
    plain_labels(panel)
    panel.set(xlabel="training, s of CPU time", ylabel="exploitability, mbb/hand")
    figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=9, handlelength=3.0)
    alt = (
        "Exploitability against training time on no-limit hold'em with twelve cards: self-play, random beliefs, other variants"
    )
    return save(figure, "rebel-whole-holdem.png", alt)


def findings(known: Mapping[str, Any]) -> list[str]:
    """The findings on the paper's claims, and the cost with 52 cards."""
    last = {
        variant: [known[f"12-{variant}-{s}"]["points"][-1][2] for s in SEEDS if f"12-{variant}-{s}" in known]
        for variant in VARIANTS
    }
    means = {variant: float(np.mean(own)) for variant, own in last.items() if own}
    if not {"recipe", "random"} <= means.keys():
        return []
    claim, told = published("rebel")["turn_search"]["claims"][2], []
    told.append(
        f'Published: "{claim}". Here, over four streets from the blinds on, after {MARKS["12"][-1]:,} public belief '
        f"states, networks from random beliefs leave {big_blinds(means['random'])} mbb/hand, and those from self-play "
        f"{big_blinds(means['recipe'])} (means of {len(SEEDS)} seeds)."
    )
    larger = {variant: known[f"24-{variant}-0"]["points"][-1][2] for variant in VARIANTS if f"24-{variant}-0" in known}
    if larger:
        told.append(
            f"With 24 cards and stacks of 20 big blinds, after {MARKS['24'][-1]:,} public belief states, in mbb/hand: "
            f"{'; '.join(f'{VARIANTS[variant][0]}, {big_blinds(chips)}' for variant, chips in larger.items())}."
        )
    if "52-cost" in known:
        seconds = known["52-cost"]["seconds"] / known["52-cost"]["states"]
        told.append(
            f"With 52 cards, `{WHOLE}`, {known['52-cost']['iterations']} iterations and one board, a public belief "
            f"state takes {seconds:.2f} s on one core, so six hours give {round(6 * 3600 / seconds, -3):,.0f} of them."
        )
    return told


@study(title="ReBeL on no-limit hold'em with small decks", place=19, minutes=75)
def reproduce(*options: str) -> Result:
    known: dict[str, Any] = {}
    for name, (key, make) in runs().items():
        if not options or any(word in name for word in options):
            known[name] = kept(key, make)
            print(name, known[name], flush=True)
        elif (before := peek(key)) is not None:
            known[name] = before
    return Result(
        source=published("rebel")["source"],
        findings=findings(known),
        tables=[*(found for deck in DECKS if (found := table(deck, known))), *longer(known)],
        pictures=[draw(known)],
        notes=[
            "A subgame is a street of betting after its cards. Searches have 64 iterations of Discounted CFR unless "
            "a row says otherwise, targets use all boards up to renaming of suits, and networks have two layers of "
            "128. Average policies of searches are evaluated. The played policy is that of randomly drawn iterations "
            "over the given number of playthroughs, an upper bound. The hold'em engine solves the whole game for "
            "comparison and evaluates all policies.",
        ],
        numbers={"runs": known},
    )
