"""Scores with ranges for each game and algorithm of the study, and comparisons."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from papers.vtcfr.games import GROUPS
from papers.vtcfr.runs import GAMES, STAGES, Run

FLOOR = 1e-11
"""Floor of exploitability, at which a game counts as solved, in game units."""
AHEAD, TIED, BEHIND = VERDICTS = ("best", "tied", "behind")


@dataclass(frozen=True)
class Score:
    """Geometric mean over ``STAGES`` and repeats of floored exploitability, with the least and greatest repeat."""

    value: float
    low: float
    high: float

    @property
    def solved(self) -> bool:
        """Every stage of every repeat is at the floor."""
        return self.high <= FLOOR * (1.0 + 1e-9)


Row = Mapping[str, Score]
Scores = Mapping[str, Row]
"""Scores by game and algorithm."""


@dataclass(frozen=True)
class Lead:
    """An algorithm compared with the best other one: decimal logarithm of the ratio of scores; lower is better.

    ``low`` and ``high`` are the ratios for the most and least favorable repeats of both.
    """

    rival: str
    dex: float
    low: float
    high: float
    verdict: str


def geometric_mean(values: Iterable[float]) -> float:
    """``exp(mean(log(x)))``."""
    return math.exp(fmean(math.log(value) for value in values))


def scores(runs: Sequence[Run]) -> dict[str, dict[str, Score]]:
    """The scores of all runs."""
    repeats: dict[str, dict[str, list[float]]] = {}
    for run in runs:
        score = geometric_mean(max(run.exploitability[stage], FLOOR) for stage in STAGES)
        repeats.setdefault(run.game, {}).setdefault(run.algorithm, []).append(score)
    return {
        game: {name: Score(geometric_mean(found), min(found), max(found)) for name, found in row.items()}
        for game, row in repeats.items()
    }


def lead(row: Row, subject: str) -> Lead:
    """``subject`` compared with the best other algorithm of a game.

    It is best if all its repeats are below all of every other algorithm, behind if all repeats of some other one are below all
    its own, and otherwise tied: solved by both, or with overlapping ranges.
    """
    own, others = row[subject], {name: score for name, score in row.items() if name != subject}
    rival = min(others, key=lambda name: others[name].value)
    best = others[rival]
    verdict = TIED
    if own.high < min(score.low for score in others.values()):
        verdict = AHEAD
    elif own.low > min(score.high for score in others.values()):
        verdict = BEHIND
    return Lead(
        rival,
        dex=math.log10(own.value / best.value),
        low=math.log10(own.low / best.high),
        high=math.log10(own.high / best.low),
        verdict=verdict,
    )


def leads(measured: Scores, subject: str, *, but: str = "") -> dict[str, Lead]:
    """``subject`` on every game, compared with the best other algorithm except ``but``."""
    return {
        game: lead({name: score for name, score in row.items() if name == subject or name != but}, subject)
        for game, row in measured.items()
    }


def in_groups(names: Iterable[str], groups: Sequence[str] = GROUPS) -> list[str]:
    """Those names whose games are in one of ``groups``."""
    return [name for name in names if GAMES[name].group in groups]


def count(found: Mapping[str, Lead], verdict: str) -> list[str]:
    """The games with this verdict."""
    return [game for game, each in found.items() if each.verdict == verdict]


def mean_and_worst(found: Mapping[str, Lead]) -> tuple[float, float, str]:
    """Mean and greatest dex, and the game of the latter."""
    worst = max(found, key=lambda game: found[game].dex)
    return fmean(each.dex for each in found.values()), found[worst].dex, worst
