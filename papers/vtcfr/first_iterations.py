"""Do the first iterations on a game show when value-tested CFR+ is not the best scheme for it?

Only Goofspiel-5 is run, once without perturbation. Rules are tested on the curves stored by ``vtcfr/one_scheme``: run
value-tested CFR+ and one rival for some iterations, and continue with the less exploitable one.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean

import numpy as np

import treeplex as tp
from papers.common.curves import curve
from papers.common.results import Result, Table, short, stored
from papers.common.study import study
from papers.vtcfr.one_scheme import CLOSE
from papers.vtcfr.runs import GAMES, STAGES, TESTED
from papers.vtcfr.scores import FLOOR, geometric_mean

LOOKS = STAGES[:-1]
"""Iterations after which a rule may decide, in runs of ``STAGES[-1]``."""
PLAIN = "goofspiel-5"
"""A game on which a single run without perturbation is misleading."""
RIVALS = ("pdcfr+", "apdcfr+", "pcfr+")

Row = Mapping[str, Sequence[float]]
"""Exploitability at ``STAGES`` by algorithm."""
Curves = Mapping[str, Row]
"""Curves by game; floored, geometric means of perturbed repeats."""


@dataclass(frozen=True)
class Outcome:
    """Result of a rule.

    Attributes:
        left: games on which it leaves value-tested CFR+.
        better, worse: those of them on which the rival ends less, and more, exploitable.
        mean, worst: over all games, of the decimal logarithm of the final exploitability relative to the best other algorithm.
        close: games on which that ratio is at most ``CLOSE``.
    """

    left: int
    better: int
    worse: int
    mean: float
    worst: float
    close: int

    def cells(self) -> list[str]:
        """For a table."""
        return [str(self.left), str(self.better), str(self.worse), f"{self.mean:+.2f}", f"{self.worst:+.2f}", str(self.close)]


def curves(exploitability: Mapping[str, Mapping[str, Sequence[Sequence[float]]]]) -> Curves:
    """The stored repeats of every run, combined."""

    def together(runs: Sequence[Sequence[float]]) -> list[float]:
        return [geometric_mean(max(value, FLOOR) for value in stage) for stage in zip(*runs, strict=True)]

    return {game: {name: together(runs) for name, runs in row.items()} for game, row in exploitability.items()}


def best_other(row: Row) -> str:
    """The algorithm other than value-tested CFR+ with the lowest final exploitability."""
    return min((name for name in row if name != TESTED), key=lambda name: row[name][-1])


def behind(row: Row, name: str) -> float:
    """Final exploitability of an algorithm relative to the best except value-tested CFR+, in decimal orders of magnitude."""
    return math.log10(row[name][-1] / row[best_other(row)][-1])


def outcome(found: Curves, rival: str, look: int | None) -> Outcome:
    """Result of the rule that switches from value-tested CFR+ to a rival that is less exploitable at one of ``STAGES``; None:
    never.
    """
    left = [row for row in found.values() if look is not None and row[rival][look] < row[TESTED][look]]
    gains = [row[TESTED][-1] - row[rival][-1] for row in left]
    dex = [behind(row, rival if row in left else TESTED) for row in found.values()]
    close = sum(each <= math.log10(CLOSE) for each in dex)
    return Outcome(len(left), sum(g > 0 for g in gains), sum(g < 0 for g in gains), fmean(dex), max(dex), close)


@study(title="Value-tested CFR+: prediction from the first iterations", place=4, minutes=0.1)
def reproduce() -> Result:
    repeats = stored("vtcfr/one_scheme")["exploitability"]
    found, compiled = curves(repeats), tp.compile(GAMES[PLAIN].rules())
    rivals = [name for name in repeats[PLAIN] if name != TESTED]
    alone = outcome(found, TESTED, None)
    tried = {(name, look): outcome(found, name, k) for name in rivals for k, look in enumerate(LOOKS)}
    plain = {name: curve(compiled, name, STAGES) for name in (TESTED, *RIVALS)}
    rows = [[f"{name}, after {look}", *each.cells()] for (name, look), each in tried.items()]
    return Result(
        source="A study of our own, from the stored runs of vtcfr/one_scheme",
        findings=[*(verdict(look, alone, tried) for look in LOOKS), early(found), noise(plain, repeats[PLAIN])],
        tables=[
            Table(
                (
                    f"Switch from {TESTED} to a rival that is ahead after the given number of {STAGES[-1]} iterations: "
                    f"{len(found)} games"
                ),
                ["rule", "games left", "better so", "worse so", "mean dex", "worst dex", f"within {CLOSE:g} times"],
                [[f"always {TESTED}", *alone.cells()], *rows],
            )
        ],
        notes=[
            "Dex: decimal logarithm of exploitability after the last iteration relative to the lowest of all other "
            f"algorithms, below 0 where better; values below {FLOOR:g} count as {FLOOR:g}. Geometric means of "
            "perturbed repeats.",
            "The rival of each rule is the same on all games; it would have to be known beforehand.",
        ],
        numbers={
            "alone": asdict(alone),
            "rules": {name: {str(look): asdict(tried[name, look]) for look in LOOKS} for name in rivals},
            "plain": plain,
        },
    )


def verdict(look: int, alone: Outcome, tried: Mapping[tuple[str, int], Outcome]) -> str:
    """Whether any rule that decides then is better than none, as a sentence."""
    here = {name: each for (name, at), each in tried.items() if at == look and each.left}
    best = min(here, key=lambda name: here[name].mean)
    left, better, worse = np.sum([[each.left, each.better, each.worse] for each in here.values()], axis=0)
    return (
        f"After {look} of {STAGES[-1]} iterations the best rival to compare with is {best}: the mean goes from "
        f"{alone.mean:+.3f} to {here[best].mean:+.3f} dex, {here[best].better} games end better and {here[best].worse}"
        f" worse. Of the {left} switches over all {len(here)} rivals, {better} help and {worse} hurt."
    )


def early(found: Curves) -> str:
    """Number of games where value-tested CFR+ is bad and the first check detects it, as a sentence."""
    far = {game: best_other(row) for game, row in found.items() if behind(row, TESTED) > math.log10(CLOSE)}
    ahead = [f"{game} ({name})" for game, name in far.items() if found[game][name][0] < found[game][TESTED][0]]
    return (
        f"Of the {len(far)} games on which {TESTED} ends more than {CLOSE:g} times above the best other, that one is "
        f"ahead after {LOOKS[0]} iterations on {len(ahead)}{': ' if ahead else ''}{', '.join(ahead)}."
    )


def noise(plain: Row, repeats: Mapping[str, Sequence[Sequence[float]]]) -> str:
    """One run without perturbation compared with perturbed ones, as a sentence."""
    rival = best_other(plain)
    ends = {name: sorted(run[-1] for run in repeats[name]) for name in (TESTED, rival)}
    bands = {name: f"between {short(values[0], 2)} and {short(values[-1], 2)}" for name, values in ends.items()}
    return (
        f"A single run may mislead: on {PLAIN} without perturbation {TESTED} ends at {short(plain[TESTED][-1], 2)}, "
        f"{plain[TESTED][-1] / plain[rival][-1]:.2g} times {rival}'s {short(plain[rival][-1], 2)}. Perturbed in the "
        f"last bits, its runs end {bands[TESTED]}, {rival}'s {bands[rival]}, and its score in the study is better."
    )
