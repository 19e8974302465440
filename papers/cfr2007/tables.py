"""CFR 2007: limit hold'em with 5, 6, 8 and 10 buckets: exploitability of each abstraction and matches between them.

Solving takes about an hour and a half on one core. Runs are stored in a folder (``--runs DIR``, default ``runs/cfr2007``) and
resumed after an interruption; with finished runs the script takes some minutes. It needs about 4 GB of memory.
"""

import json
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from papers.cfr2007.game import LimitGame
from papers.cfr2007.match import LimitMatch, play_limit
from papers.cfr2007.runs import LimitSettings, solved
from papers.cfr2007.strategy import LimitStrategy
from papers.cfr2007.walks import judge_limit
from papers.common.drawing import dress, line_style, panels, save
from papers.common.results import ROOT, Picture, Result, Table, published
from papers.common.study import study
from treeplex.holdem.buckets.joint import joint_tables
from treeplex.holdem.buckets.plan import limit_spot
from treeplex.results import Record

ITERATIONS = {5: 12_000_000, 6: 8_000_000, 8: 30_000_000, 10: 15_000_000}
EVALUATIONS = {5: 9, 6: 6, 8: 6, 10: 3}
CARDS = "holdem"
BUCKET_BOARDS, BOARDS, OTHER_BOARDS = 20_000, 40_000, 10_000
OTHER_SEED = 1
DEALS = 300_000
A_INFOSET = (0.1, 0.3, 1.0)
"""Iterations per infoset at which curves are compared."""


def settings_for(buckets: int) -> LimitSettings:
    return LimitSettings(f"bucketed_holdem(buckets={buckets},cards={CARDS},boards={BOARDS},river_boards={BUCKET_BOARDS})")


def held_out(strategy: LimitStrategy, folder: Path, iterations: int) -> float:
    """Exploitability in the game with bucket tables from other boards; stored in the run folder."""
    path = folder / "other_boards.json"
    key = [iterations, OTHER_BOARDS, OTHER_SEED]
    if path.exists() and (kept := json.loads(path.read_text(encoding="utf-8")))["key"] == key:
        return float(kept["exploitability"])
    tables = joint_tables(strategy.game.buckets, OTHER_BOARDS, seed=OTHER_SEED)
    found = judge_limit(LimitGame(limit_spot(), strategy.game.counts, lambda: tables), strategy.average).exploitability
    path.write_text(json.dumps({"key": key, "exploitability": found}), encoding="utf-8")
    return found


def equally_solved(runs: Path, games: dict[int, LimitGame]) -> tuple[list[LimitStrategy], float]:
    """Strategies after equal numbers of iterations per infoset, the smallest of all runs; and that number."""
    share = min(ITERATIONS[buckets] / game.infosets for buckets, game in games.items())
    strategies = []
    for buckets, game in games.items():
        iterations = round(share * game.infosets)
        whole = iterations == ITERATIONS[buckets]
        folder = runs / (str(buckets) if whole else f"{buckets}-equal")
        strategies.append(solved(settings_for(buckets), folder, iterations, EVALUATIONS[buckets] if whole else 1)[0])
    return strategies, share


def counts_of(buckets: int) -> LimitGame:
    """The abstraction without tables, for counting."""
    size = buckets**4
    empty = np.broadcast_to(np.float32(1 / size**2), (size, size))
    return LimitGame(limit_spot(), (buckets,) * 4, lambda: (empty, empty))


def at(records: Sequence[Record], iterations: float) -> float | None:
    """Exploitability at a number of iterations, interpolated linearly on logarithmic axes."""
    x, y = [math.log(record.done) for record in records], [math.log(record.exploitability) for record in records]
    return math.exp(float(np.interp(math.log(iterations), x, y))) if x[0] <= math.log(iterations) <= x[-1] else None


def large(number: float) -> str:
    """A count with few digits."""
    return f"{number:,.0f}" if number < 1e6 else f"{number / 1e6:,.1f} M" if number < 1e9 else f"{number / 1e9:,.1f} bn"


def sizes_table(records: dict[int, list[Record]], games: dict[int, LimitGame], others: dict[int, float]) -> Table:
    theirs = published("cfr2007")["results"]
    rows = []
    for buckets, found in records.items():
        last, paper = found[-1], theirs.get(str(buckets), {})
        rows.append(
            [
                str(buckets),
                large(games[buckets].infosets),
                large(games[buckets].states),
                large(last.done),
                f"{last.seconds / 60:.0f}",
                f"{last.exploitability:.1f}",
                f"{others[buckets]:.1f}",
                large(paper["iterations"]) if paper else "not known",
                f"{paper['exploitability']:.1f}" if paper else "not known",
            ]
        )
    head = ["buckets per street", "infosets", "game states", "iterations", "minutes", "exploitability", "on other boards"]
    return Table(
        "Abstractions: size, iterations, and exploitability inside the abstraction in mbb/hand",
        [*head, "iterations, paper", "exploitability, paper"],
        rows,
    )


def match_table(match: LimitMatch, names: Sequence[str], when: str) -> Table:
    rows = []
    for i, name in enumerate(names):
        rows.append([name, *match.cells(i), f"{np.delete(match.means[i], i).mean():+.1f}"])
    return Table(
        f"Matches with real cards, {when}: what the row wins from the column, in mbb/hand, ± one "
        f"standard error ({match.deals:,} deals, each in both seats)",
        ["", *names, "average"],
        rows,
    )


def infoset_table(records: dict[int, list[Record]], games: dict[int, LimitGame]) -> Table:
    rows = []
    for share in A_INFOSET:
        values = [at(found, share * games[buckets].infosets) for buckets, found in records.items()]
        rows.append([f"{share:g}", *("" if value is None else f"{value:.1f}" for value in values)])
    return Table(
        "Exploitability at the same number of iterations per infoset (interpolated)",
        ["iterations per infoset", *(f"{buckets} buckets" for buckets in records)],
        rows,
    )


def picture(records: dict[int, list[Record]], games: dict[int, LimitGame]) -> Picture:
    figure, (left, right) = panels(1, 2, size=(9.6, 4.2))
    for number, (buckets, found) in enumerate(records.items()):
        heights = [record.exploitability for record in found]
        left.plot([record.done for record in found], heights, label=f"{buckets} buckets", **line_style(number))
        right.plot([record.done / games[buckets].infosets for record in found], heights, **line_style(number))
    dress(left, "Iterations")
    dress(right, "Iterations per infoset")
    right.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
    for axes in (left, right):
        axes.yaxis.set_major_formatter(lambda y, _: f"{y:,.0f}")
    left.set_ylabel("Exploitability (mbb/hand)", fontsize=9)
    left.legend(frameon=False, fontsize=9)
    alt = "Exploitability against iterations, and against iterations divided by infosets, where the curves come close together"
    return save(figure, "cfr2007-convergence.png", alt)


def spread_sentence(records: dict[int, list[Record]], games: dict[int, LimitGame]) -> str:
    """Distance between the curves by iterations and by iterations per infoset, as a sentence."""
    share = min(found[-1].done / games[buckets].infosets for buckets, found in records.items())
    scaled = [at(found, share * games[buckets].infosets) or math.nan for buckets, found in records.items()]
    common = min(found[-1].done for found in records.values())
    plain = [at(found, common) or math.nan for found in records.values()]
    return (
        f"The iterations needed grow with the number of infosets, as the paper says. After {large(common)} iterations the "
        f"abstractions' exploitabilities lie between {min(plain):.0f} and {max(plain):.0f} mbb/hand, a factor of "
        f"{max(plain) / min(plain):.1f}. At {share:.2f} iterations per infoset they lie between {min(scaled):.0f} and "
        f"{max(scaled):.0f}, a factor of {max(scaled) / min(scaled):.1f}."
    )


def play_sentence(match: LimitMatch, names: Sequence[str], when: str) -> str:
    """Whether more buckets win, as a sentence."""
    pairs = [(i, j) for i in range(len(names)) for j in range(i)]
    wins = [(i, j) for i, j in pairs if match.means[i, j] > 2 * match.errors[i, j]]
    losses = [(i, j) for i, j in pairs if match.means[i, j] < -2 * match.errors[i, j]]
    text = (
        f"With real cards, {when}, the finer abstraction wins {len(wins)} of {len(pairs)} matches by more than two standard "
        "errors"
    )
    text += f" and loses {len(losses)}" + (
        " (" + ", ".join(f"{names[i]} against {names[j]}" for i, j in losses) + ")" if losses else ""
    )
    return text + "."


@study(title="CFR, 2007: abstractions of limit hold'em by sampled chance", place=1, minutes=90)
def reproduce(*, runs: Path = ROOT / "runs" / "cfr2007") -> Result:
    paper = published("cfr2007")
    strategies, records, games, others = [], {}, {}, {}
    for buckets, iterations in ITERATIONS.items():
        folder = runs / str(buckets)
        strategy, records[buckets] = solved(settings_for(buckets), folder, iterations, EVALUATIONS[buckets])
        games[buckets], others[buckets] = counts_of(buckets), held_out(strategy, folder, iterations)
        strategies.append(strategy)
    match = play_limit(strategies, DEALS, seed=1)
    equals, share = equally_solved(runs, games)
    equal_match = play_limit(equals, DEALS, seed=1)
    alike, all_of_it = f"after {share:.2f} iterations per infoset each", "after all iterations of each run"
    names = [f"{buckets} buckets" for buckets in ITERATIONS]
    last = {buckets: found[-1] for buckets, found in records.items()}
    speeds = [record.done / record.seconds for record in last.values()]
    low, high = last[min(last)].bounds
    return Result(
        source=f"{paper['source']}, section 4",
        findings=[
            spread_sentence(records, games),
            "The authors report that larger abstractions play better. " + play_sentence(equal_match, names, alike),
            play_sentence(match, names, all_of_it) + " These runs stopped at different exploitabilities, "
            f"{min(found[-1].exploitability for found in records.values()):.0f} to "
            f"{max(found[-1].exploitability for found in records.values()):.0f} mbb/hand.",
            f"The largest abstraction has {large(games[max(last)].states)} game states; the paper says as many as 10^12.",
            f"The scale is smaller than the paper's: {large(last[max(last)].done)} iterations with {max(last)} buckets, "
            f"where the paper has {large(paper['results']['10']['iterations'])}. So exploitability is higher "
            f"({last[max(last)].exploitability:.0f}, published {paper['results']['10']['exploitability']:.1f}). "
            f"{paper['not_found']}",
            f"One core runs between {min(speeds):,.0f} and {max(speeds):,.0f} iterations/s. Each iteration visits the "
            "whole betting tree of 6,378 decisions.",
            (
                f"With {min(last)} buckets the big blind's value is between {low:.0f} and {high:.0f} mbb/hand in the "
                "abstract game."
            ),
        ],
        tables=[
            sizes_table(records, games, others),
            match_table(equal_match, names, alike),
            match_table(match, names, all_of_it),
            infoset_table(records, games),
        ],
        pictures=[picture(records, games)],
        notes=[
            "Blinds are 1 and 2, and bets are 2, 2, 4 and 4 by street, at most four per street. Buckets are nested "
            "percentiles of E[HS2], computed by rollout on every board. Boundaries of river buckets come from "
            f"{BUCKET_BOARDS:,} random boards.",
            "The joint distribution of both players' bucket sequences and the winner is computed over all pairs of hands on "
            f"{BOARDS:,} random boards. These tables define the game that is solved and evaluated. Best "
            'responses in it are exact. "On other boards" evaluates the same strategies in tables counted on '
            f"{OTHER_BOARDS:,} other boards, so the difference is the sampling noise of boards.",
            "The solver is chance-sampled CFR with uniform averaging. A showdown pays the expected payoff of the two bucket "
            "sequences.",
            "Matches use real cards and the buckets of real hands. The value of each deal is exact over all betting, and "
            "the same cards are played in both seats.",
            f"Sources of the paper's numbers: {paper['source_of_results']}",
            "Minutes are the solver's. Other jobs shared the machine.",
        ],
        numbers={
            "records": {str(buckets): [record.plain() for record in found] for buckets, found in records.items()},
            "infosets": {str(buckets): game.infosets for buckets, game in games.items()},
            "states": {str(buckets): game.states for buckets, game in games.items()},
            "on_other_boards": {str(buckets): value for buckets, value in others.items()},
            "match": {"deals": match.deals, "means": match.means.tolist(), "errors": match.errors.tolist()},
            "match_equal": {"means": equal_match.means.tolist(), "errors": equal_match.errors.tolist()},
        },
    )
