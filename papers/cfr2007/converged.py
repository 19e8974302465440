"""CFR 2007: limit hold'em in buckets, nearly solved, with matches between abstractions and against simple players.

Sweeps with DCFR+ in place of sampled chance. Solving takes, on one core, a minute with 5 buckets, four with 6, half an hour
with 8 and over two hours with 10 (``--buckets 5,6,8`` leaves them out). Runs are stored (``--runs DIR``) and resumed after an
interruption.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from papers.cfr2007.game import LimitGame, empty_tables
from papers.cfr2007.match import play_limit
from papers.cfr2007.runs import LimitSettings, solved
from papers.cfr2007.strategy import LimitStrategy
from papers.cfr2007.street import FOLD, Tables
from papers.cfr2007.tables import DEALS, OTHER_BOARDS, held_out, large, match_table, settings_for
from papers.common.drawing import dress, line_style, panels, save
from papers.common.results import ROOT, Picture, Result, Table, published
from papers.common.study import study
from treeplex.holdem.buckets.named import bucketed_holdem
from treeplex.results import Record

SWEEPS = {5: 160, 6: 160, 8: 150, 10: 140}
ALGORITHM = "dcfr+"
EVALUATIONS = 8
GOAL = 5.0
"""Thousandths of a big blind a hand."""
RULE_BUCKETS = 6
"""Buckets of a simple player, each with the same number of a street's hands."""

Rule = Callable[[int, bool, bool], int]
"""A rule from the bucket and whether folding and raising are legal to -1 (fold), 0 (check or call) or 1 (bet or raise)."""


def always_call(bucket: int, fold: bool, rise: bool) -> int:
    return 0


def always_raise(bucket: int, fold: bool, rise: bool) -> int:
    return 1


def tight(bucket: int, fold: bool, rise: bool) -> int:
    """Folds the weaker half to a bet, bets and raises the best third."""
    return 1 if bucket >= 4 else -1 if bucket < 3 else 0


def loose(bucket: int, fold: bool, rise: bool) -> int:
    """Folds the weakest sixth to a bet, bets and raises the best sixth."""
    return 1 if bucket == 5 else -1 if bucket == 0 else 0


RULES: dict[str, Rule] = {
    "always call": always_call,
    "always raise": always_raise,
    "tight and aggressive": tight,
    "loose and passive": loose,
}


def rule_player(name: str, game: LimitGame) -> LimitStrategy:
    """A strategy that depends only on the bucket of the street."""
    tables = empty_tables(game)
    for street, count in enumerate(game.counts):
        fill(tables, game, street, count, RULES[name])
    return LimitStrategy(name, game, tables)


def fill(tables: Tables, game: LimitGame, street: int, count: int, rule: Rule) -> None:
    """One street of a rule: 1 at the chosen action."""
    first, nodes, n, slots = (int(number) for number in game.betting.streets[street, :4])
    size, offset = game.sequences[street], int(tables.offsets[street])
    table = tables.late if street == len(game.counts) - 1 else tables.early
    block = table[offset : offset + size * slots * n].reshape(size, slots, n)
    for node in range(first, first + nodes):
        _, actions, slot = game.betting.nodes[node]
        fold = int(game.betting.kinds[node, 0] == FOLD)
        for sequence in range(size):
            wanted = fold + rule(sequence % count, bool(fold), actions > fold + 1)
            block[sequence, slot + min(max(wanted, 0), actions - 1)] = 1.0


def picture(records: dict[int, list[Record]]) -> Picture:
    figure, (left, right) = panels(1, 2, size=(9.6, 4.2))
    for number, (buckets, found) in enumerate(records.items()):
        heights = [record.exploitability for record in found]
        left.plot([record.done for record in found], heights, label=f"{buckets} buckets", **line_style(number))
        right.plot([record.cpu_seconds / 60 for record in found], heights, **line_style(number))
    for axes, label in ((left, "Sweeps"), (right, "CPU minutes")):
        axes.axhline(GOAL, color="0.6", linewidth=0.8)
        dress(axes, label)
    right.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
    left.set_ylabel("Exploitability (mbb/hand)", fontsize=9)
    left.legend(frameon=False, fontsize=9)
    return save(
        figure, "cfr2007-converged.png", "Exploitability against sweeps and against minutes, a curve for each number of buckets"
    )


def sizes_table(strategies: Sequence[LimitStrategy], records: dict[int, list[Record]], others: dict[int, float]) -> Table:
    paper = published("cfr2007")["results"].get("10")
    rows = [
        [
            str(buckets),
            large(strategy.game.infosets),
            f"{found[-1].done:,}",
            f"{found[-1].cpu_seconds / 60:.1f}",
            f"{found[-1].exploitability:.2f}",
            f"{others[buckets]:.1f}",
            f"{paper['exploitability']:.1f}" if buckets == 10 else "not known",
        ]
        for strategy, (buckets, found) in zip(strategies, records.items(), strict=True)
    ]
    head = [
        "buckets per street",
        "infosets",
        "sweeps",
        "CPU minutes",
        "exploitability",
        "on other boards",
        "exploitability, paper",
    ]
    return Table("Exploitability inside the abstraction, mbb/hand", head, rows)


@study(title="CFR, 2007: nearly solved abstractions of limit hold'em", place=2, minutes=185)
def reproduce(*, runs: Path = ROOT / "runs" / "cfr2007-swept", buckets: str = ",".join(map(str, SWEEPS))) -> Result:
    strategies, records, others = [], {}, {}
    for count in map(int, buckets.split(",")):
        settings = LimitSettings(settings_for(count).game, algorithm=ALGORITHM)
        strategy, records[count] = solved(settings, runs / str(count), SWEEPS[count], EVALUATIONS)
        strategies.append(strategy)
        others[count] = held_out(strategy, runs / str(count), SWEEPS[count])
    names = [f"{buckets} buckets" for buckets in records]
    match = play_limit(strategies, DEALS, seed=1)
    flat = LimitGame.of(bucketed_holdem(buckets=RULE_BUCKETS, nested=False))
    players = [rule_player(name, flat) for name in RULES]
    simple = play_limit([*strategies, *players], DEALS // 10, seed=2)
    won = simple.means[: len(names), len(names) :]
    errors = simple.errors[: len(names), len(names) :]
    below = [name for name, found in zip(names, records.values(), strict=True) if found[-1].exploitability < GOAL]
    finer = [(i, j) for i in range(len(names)) for j in range(i) if match.means[i, j] > 2 * match.errors[i, j]]
    return Result(
        source=f"{published('cfr2007')['source']}, section 4",
        findings=[
            f"Below {GOAL:g} mbb/hand inside the abstraction: {', '.join(below) or 'none'}.",
            f"When nearly solved, the finer abstraction wins {len(finer)} of {len(names) * (len(names) - 1) // 2} matches "
            "with real cards by more than two standard errors, as the authors report.",
            f"Every abstraction beats every simple player by at least {won.min():,.0f} mbb/hand."
            if won.min() > 0
            else f"Not every simple player is beaten: the lowest result is {won.min():,.0f} mbb/hand.",
        ],
        tables=[
            sizes_table(strategies, records, others),
            match_table(match, names, "nearly solved"),
            Table(
                f"Against simple players with real cards: what the row wins, in mbb/hand, ± one standard error "
                f"({DEALS // 10:,} deals, each in both seats)",
                ["", *RULES],
                [
                    [name, *(f"{mean:+,.0f} ± {error:.0f}" for mean, error in zip(means, spread, strict=True))]
                    for name, means, spread in zip(names, won, errors, strict=True)
                ],
            ),
        ],
        pictures=[picture(records)],
        notes=[
            "Abstractions, tables and evaluation are those of the section above. DCFR+ in alternating sweeps over all "
            "pairs of sequences replaces sampled chance.",
            "Simple players see only their current bucket, one of six of equal size. The tight-aggressive player folds the "
            "weaker half of its hands to a bet and raises the best third. The loose-passive player folds a sixth and raises "
            "a sixth.",
            f'"On other boards": evaluated in tables counted on {OTHER_BOARDS:,} other boards.',
            "Minutes are the solver's CPU time on one core.",
        ],
        numbers={
            "records": {str(buckets): [record.plain() for record in found] for buckets, found in records.items()},
            "on_other_boards": {str(buckets): value for buckets, value in others.items()},
            "match": {"means": match.means.tolist(), "errors": match.errors.tolist()},
            "simple": {"players": list(RULES), "means": won.tolist(), "errors": np.asarray(errors).tolist()},
        },
    )
