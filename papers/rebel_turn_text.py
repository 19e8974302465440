"""Tables and sentences of ``rebel_turn.py``; every number comes from the runs."""

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kept import effort
from rebel_turn_runs import DOMAINS, EXACT, LEARNT, LONGEST, MARKS, PLAIN, RIVER, SEEDS, SETTINGS, Curve, Trained, points
from rebel_turn_search import Turn
from results import Table, published, verdict

SOUND = "lcfr-avg"
OWN, RANDOM, WARM = "self-play", "random beliefs", "self-play, policy network"


def at_marks(values: Sequence[float]) -> list[str]:
    """A curve at the marks; nothing where a warm start passes over them."""
    found = [values[points().index(mark)] for mark in MARKS]
    return ["" if np.isnan(value) else f"{value:.3f}" for value in found]


def mean_at(runs: Sequence[Mapping[str, Any]], name: str, mark: int) -> float:
    """Exploitability of what is played after so many iterations, the mean of some seeds."""
    return statistics.fmean(run["curves"][name]["played"][points().index(mark)] for run in runs)


def spread(runs: Sequence[Mapping[str, Any]], name: str, mark: int) -> str:
    """The same with the lowest and the highest seed."""
    values = [run["curves"][name]["played"][points().index(mark)] for run in runs]
    return f"{mean_at(runs, name, mark):.3f} [{min(values):.3f}, {max(values):.3f}]"


def equals(tabular: Mapping[int, float], level: float) -> str:
    """Iterations of linear CFR on the whole game that come down to a level."""
    below = [iterations for iterations, value in tabular.items() if value <= level]
    return str(min(below)) if below else f"more than {LONGEST}"


def curves_table(left: Mapping[str, Curve], trained: Trained, tabular: Mapping[int, float]) -> Table:
    """Everything at the marks: what is played, and the average policy with rivers solved for its beliefs."""
    rows = []
    for method, found in left.items():
        rows.append([f"exact, {EXACT[method]}", *at_marks(found["played"]), *at_marks(found["average"])])
    for kind, runs in trained.items():
        for name in runs[0]["curves"]:
            warm = ", warm start" if "cold" in runs[0]["curves"] else ""
            text = f"{EXACT[PLAIN]}, no warm start" if name == "cold" else EXACT[name] + warm
            rows.append([f"{kind}, {text}", *mean_cells(runs, name, "played"), *mean_cells(runs, name, "average")])
    rows.append(["whole game, linear CFR", *(f"{tabular[mark]:.3f}" for mark in MARKS), *[""] * len(MARKS)])
    columns = [f"{which}, {mark}" for which in ("played", "average") for mark in MARKS]
    return Table(
        f"Exploitability in chips after so many iterations; of networks the mean of {len(SEEDS)}", ["", *columns], rows
    )


def mean_cells(runs: Sequence[Mapping[str, Any]], name: str, which: str) -> list[str]:
    """The mean of some seeds at the marks."""
    return at_marks(np.mean([run["curves"][name][which] for run in runs], axis=0).tolist())


def errors_table(trained: Trained) -> Table:
    """How far networks' values are off, and what training took."""
    rows = []
    for kind, runs in trained.items():
        cells = [f"{mean_error(runs, name):.3f}" for name in DOMAINS]
        seconds, loss = (statistics.fmean(run[name] for run in runs) for name in ("seconds", "loss"))
        rows.append([kind, *cells, f"{loss:.3f}", f"{seconds:.0f}"])
    return Table(
        "Root mean square error of a hand's value at a leaf, in parts of the pot there, by where beliefs come from",
        ["trained on", *DOMAINS, "last loss", "CPU seconds"],
        rows,
    )


def compared(left: Mapping[str, Curve], worse: str, better: str) -> str:
    """One method beside another at the last mark, in both measures."""
    found = [[left[name][which][-1] for which in ("played", "average")] for name in (worse, better)]
    return f"{EXACT[worse]} {found[0][0]:.3f} ({found[0][1]:.3f}), {EXACT[better]} {found[1][0]:.3f} ({found[1][1]:.3f})"


def mean_error(runs: Sequence[Mapping[str, Any]], domain: str) -> float:
    """Of some seeds."""
    return statistics.fmean(run["errors"][domain] for run in runs)


def findings(left: Mapping[str, Curve], trained: Trained, tabular: Mapping[int, float]) -> list[str]:
    """What the figures say, beside what the paper says."""
    paper = published()["rebel"]
    claims, last = paper["turn_search"]["claims"], MARKS[-1]
    return [
        f'Published: "{claims[0]}". Here, after {last} iterations with exact values: '
        f"{compared(left, SOUND, 'lcfr')} chips; in brackets the average policy with rivers solved for its beliefs. "
        f"{verdict(*exceeds(left, SOUND, 'lcfr'))}",
        f'Published: "{claims[1]}". With exact values: {compared(left, "lcfr", PLAIN)}. '
        f"{verdict(*exceeds(left, 'lcfr', PLAIN))} With networks from self-play, which "
        f"here solve with DCFR while they are trained: CFR-D {spread(trained[OWN], 'lcfr', last)}, {EXACT[PLAIN]} "
        f"{spread(trained[OWN], PLAIN, last)}.",
        "The order of updates decides this comparison. The paper's updates alternate, and so do those above. With both "
        f"players updated at once, which is slower: {compared(left, f'{SOUND}-simultaneous', f'{PLAIN}-simultaneous')}.",
        f'Published: "{claims[2]}". {random_beliefs(left, trained)}',
        best_level(trained, tabular, paper["turn_endgame"]["iterations"]),
        warm_start(trained[WARM]),
    ]


def exceeds(left: Mapping[str, Curve], one: str, other: str) -> list[bool]:
    """Whether one method is more exploitable than another at the last mark: what is played, and the average policy."""
    return [left[one][which][-1] > left[other][which][-1] for which in ("played", "average")]


def random_beliefs(left: Mapping[str, Curve], trained: Trained) -> str:
    """Networks from random beliefs beside those from self-play: in search, and where they are right."""
    own, random = trained[OWN], trained[RANDOM]
    right = {mark: left[PLAIN]["played"][points().index(mark)] for mark in MARKS[-2:]}
    parts = [
        f"after {mark} iterations {spread(random, PLAIN, mark)} chips with networks from random beliefs, "
        f"{spread(own, PLAIN, mark)} with those from self-play, {level:.3f} with exact values"
        for mark, level in right.items()
    ]
    seconds = [statistics.fmean(run["seconds"] for run in runs) for runs in (random, own)]
    off = [[mean_error(runs, name) for runs in (random, own)] for name in (DOMAINS[0], DOMAINS[2])]
    return (
        f"Here {EXACT[PLAIN]} has {'; '.join(parts)}. The trainings solve equally many subgames, in {seconds[0]:.0f} and "
        f"{seconds[1]:.0f} s of processor time. Where CFR-D asks, networks from random beliefs are off by {off[0][0]:.3f} of "
        f"the pot a hand and those from self-play by {off[0][1]:.3f}; on random beliefs it is {off[1][0]:.3f} and "
        f"{off[1][1]:.3f}."
    )


def best_level(trained: Trained, tabular: Mapping[int, float], published_level: int) -> str:
    """The lowest that networks come to, in iterations on the whole game."""
    own = trained[OWN]
    level, method, mark = min((mean_at(own, method, mark), method, mark) for method in LEARNT for mark in MARKS)
    return (
        f"At their best, {EXACT[method]} with {mark} iterations, searches with networks from self-play have {level:.3f} chips "
        f"on average, as {equals(tabular, level)} iterations of linear CFR on the whole game. The paper's level is that of "
        f"about {published_level}."
    )


def warm_start(runs: Sequence[Mapping[str, Any]]) -> str:
    """What the policy network is worth."""
    parts = [
        f"{spread(runs, PLAIN, mark)} after {mark} iterations, and {spread(runs, 'cold', mark)} without the start"
        for mark in (MARKS[0], MARKS[1], MARKS[-1])
    ]
    return (
        f"With a policy network, which starts searches as if with {SETTINGS.warm} iterations, {EXACT[PLAIN]} has "
        f"{'; '.join(parts)}. That training took {statistics.fmean(run['seconds'] for run in runs):.0f} s."
    )


def notes(turn: Turn) -> list[str]:
    """How it was measured."""
    spot, rules = turn.rules.game.spot, turn.rules
    return [
        f"The game is `{rules.game.spec}`: {spot.pot:g} chips in the pot, {spot.stack:g} behind, the bets of turn endgame "
        f"hold'em, a deck of {len(spot.format.deck)} cards, {len(rules.hands)} hands, {len(turn.top.leaves)} ways to the river "
        "with chips left. The paper's has 52 cards and 1,326 hands and trains with random stacks, sizes and boards; here "
        "everything is fixed.",
        "Subgames end with the betting round, before the card is seen, so that a leaf is one row for a network; the next "
        "subgame begins there and goes to the end of the game. The paper's network, too, is asked at the ends of betting "
        "rounds; whether before the card or after it, the paper does not say. After an all-in the rivers are dealt without "
        "asking.",
        "The paper does not say how a search on the turn becomes a policy of the whole game. Played: on the turn the policy of "
        "each iteration, below a leaf an exact solution of the river for that iteration's beliefs, averaged as the method "
        "averages. This is what theorem 5 is about, and what the agent plays over the draw of its iteration. Average: the "
        "average policy on the turn, and below it an exact solution of the river for its beliefs.",
        f"Exact values and rivers are {RIVER} iterations of DCFR. CFR is linear, FP linear optimistic, as in the paper. One "
        "iteration updates both players, so 64 are the paper's 128 if it counts updates of one.",
        f"Trainings: {SETTINGS.solves:,} subgames, {SETTINGS.iterations} iterations of {SETTINGS.method.upper()} each, each "
        f"row seen {SETTINGS.reuse:g} times, width {SETTINGS.width}, and the recipe's other settings; seeds "
        f"{', '.join(map(str, SEEDS))}. Episodes go on from the beliefs of the iteration drawn. Brackets hold the lowest and "
        "the highest seed. " + effort(),
    ]
