"""The runs of the study of one scheme for every game, cached by :mod:`kept` so that an interrupted study can be resumed.

A run is one game, one algorithm and one seed of :func:`curves.curve`. Its key is the identity of the compiled game, the version
of the algorithm, the seed and the iterations, so that changed runs are repeated.
"""

import hashlib
import math
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import treeplex as tp
from papers.common.curves import curve, log_points
from papers.common.kept import kept
from papers.vtcfr.games import STUDY_GAMES, StudyGame
from treeplex.errors import GameError, SpecError, TreeplexError
from treeplex.forms.sources.openspiel import PREFIX
from treeplex.learn import make_executor
from treeplex.solvers import algorithms
from treeplex.solvers.rules.variants import VARIANTS

STAGES = (100, 300, 1000)
"""Iterations at which policies are evaluated."""
SEEDS = (1, 2, 3, 4)
LEARNED = ("ddcfr", "dpcfr+", "pddcfr")
NEWEST = ("smooth-pcfr+", "vad-cfr", "rtcfr+")
"""Algorithms with separate update rules; schedules are listed among the variants."""
TESTED = "vt-cfr+"
CANDIDATES = (*VARIANTS, *NEWEST, *LEARNED, TESTED)
SHOWN = (
    "liars_dice-2v1",
    "goofspiel-5 ascending, difference",
    "battleship 2x2, 4 shots",
    "leduc, 7 ranks",
    "river, 35 hands, 60 pots",
    "matrix 10x10, losses 200, 5000",
)
"""Games whose full curves are plotted; all are held-out."""
DRAWN = ("dcfr", "dcfr+", "pcfr+", "pdcfr+", "hs-pcfr+", "ddcfr", "pddcfr", TESTED)
"""Algorithms whose curves are plotted."""
TIMED = (TESTED, "pdcfr+")
"""Algorithms whose CPU times are compared."""
POINTS = tuple(log_points(STAGES[-1], a_decade=8, also=STAGES))
PROBES = ("kuhn", "small_matrix", "liars_dice-3")
"""Small games whose runs identify the version of an algorithm."""
PROCESSES = 2
GAMES: Mapping[str, StudyGame] = {game.name: game for game in STUDY_GAMES}


@dataclass(frozen=True)
class Run:
    """One run.

    Attributes:
        game: name of the game.
        algorithm: name of the algorithm.
        seed: of the perturbation.
        exploitability: by iteration, in game units.
        seconds: duration including evaluation; NaN if unknown.
    """

    game: str
    algorithm: str
    seed: int
    exploitability: Mapping[int, float]
    seconds: float


class Task(NamedTuple):
    """A run to do; ``key`` distinguishes it from those of other versions."""

    game: str
    algorithm: str
    seed: int
    key: str


@cache
def compiled(name: str) -> tp.CompiledGame:
    """A game of the study, compiled once in each process.

    Raises:
        TreeplexError: it cannot be loaded here.
    """
    return tp.compile(GAMES[name].rules(), refine=GAMES[name].refine)


def loadable(names: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """The games that compile; OpenSpiel games that are not available are reported with the reason."""
    found, missing = [], {}
    for name in names:
        try:
            compiled(name)
            found.append(name)
        except (GameError, SpecError) as error:
            if not str(GAMES[name].source).startswith(PREFIX):
                raise
            missing[name] = str(error)
            print(f"{name} is left out: {error}", flush=True)
    return found, missing


def versions(names: Sequence[str]) -> dict[str, str]:
    """Identifiers of the available algorithms: name and a hash of perturbed runs on :data:`PROBES`.

    Code, constants, trained weights and the perturbation itself all change those runs. Missing algorithms are reported.
    """
    found = {}
    for name in names:
        if name not in algorithms():
            print(f"{name} is left out: there is no such algorithm yet", flush=True)
            continue
        try:
            found[name] = version_of(name, [curve(compiled(game), name, STAGES, seed=SEEDS[0]) for game in PROBES])
        except TreeplexError as error:
            print(f"{name} is left out: {error}", flush=True)
    return found


def version_of(name: str, probes: Sequence[Sequence[float]]) -> str:
    """An algorithm's name and a hash of its runs with the first seed on :data:`PROBES`, at :data:`STAGES`."""
    return f"{name} {hashlib.sha256(repr(probes).encode()).hexdigest()[:12]}"


def earlier(before: Mapping[str, Mapping[str, Sequence[Sequence[float]]]], known: Mapping[str, str]) -> list[Run]:
    """Stored runs of unchanged algorithms, except those plotted or timed.

    Args:
        before: by game and algorithm: a list for each seed of the values at :data:`STAGES`.
        known: current identifiers of the algorithms.
    """
    same = [
        name
        for name, version in known.items()
        if all(name in before[game] for game in PROBES)
        and version_of(name, [before[game][name][0] for game in PROBES]) == version
    ]
    print(f"reused from stored results: {', '.join(same) or 'none'}", flush=True)
    return [
        Run(game, name, seed, dict(zip(STAGES, values, strict=True)), math.nan)
        for game, row in before.items()
        for name in same
        if name not in TIMED and not (game in SHOWN and name in DRAWN) and name in row
        for seed, values in zip(SEEDS, row[name], strict=False)
    ]


def points_of(name: str) -> tuple[int, ...]:
    """Iterations at which a game's policies are evaluated."""
    return POINTS if name in SHOWN else STAGES


def measure(
    names: Sequence[str], known: Mapping[str, str], *, seeds: Sequence[int] = SEEDS, done: Iterable[Run] = ()
) -> list[Run]:
    """All runs of these games (which compile) and algorithms (with versions), on :data:`PROCESSES` processes.

    Large games come first and are run only with the first seed. Runs in ``done`` are reused.
    """
    taken = {(run.game, run.algorithm, run.seed): run for run in done if run.game in names}
    tasks = [
        Task(name, algorithm, seed, f"{compiled(name).identity} {version} {seed}")
        for name in sorted(names, key=lambda name: not GAMES[name].large)
        for algorithm, version in known.items()
        for seed in (seeds[:1] if GAMES[name].large else seeds)
        if (name, algorithm, seed) not in taken
    ]
    left, runs = Counter(task.game for task in tasks), list(taken.values())
    with make_executor("processes", PROCESSES) as executor:
        for run in executor.map(work, ((task,) for task in tasks)):
            runs.append(run)
            left[run.game] -= 1
            if not left[run.game]:
                print(f"{len(runs) - len(taken)} of {len(tasks)} runs: {run.game} done", flush=True)
    return sorted(runs, key=lambda run: (names.index(run.game), list(known).index(run.algorithm), run.seed))


def work(task: Task) -> Run:
    """One run, new or cached."""
    points = points_of(task.game)

    def make() -> tuple[list[float], float]:
        game, start = compiled(task.game), time.process_time()
        return curve(game, task.algorithm, points, seed=task.seed), time.process_time() - start

    values, seconds = kept({"study": "vt", "run": task.key, "points": points}, make)
    judged = points[len(points) - len(values) :]  # a perturbed run is judged after its perturbation only
    return Run(task.game, task.algorithm, task.seed, dict(zip(judged, values, strict=True)), seconds)
