"""AlphaHoldem on Leduc poker and other small decks: self-play against the K best snapshots or against itself alone."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import treeplex as tp
from papers.common.results import ROOT, Result, Table
from papers.common.study import study
from papers.learners.trained import STORED, band, earlier
from treeplex import Policy, agent, judge, train
from treeplex.learn.alphaholdem.job import ALPHAHOLDEM
from treeplex.learn.alphaholdem.settings import BEST, LATEST, OF_TABLES
from treeplex.learn.neural.fitting.approximator import TABLE
from treeplex.results import TrainingRun
from treeplex.run.job.folder import kind_of
from treeplex.search import agent_policy
from treeplex.solvers import make_solver

SOURCE = "Zhao et al. 2022, AlphaHoldem (AAAI), K-best self-play, on games with exact exploitability"
GAME = "leduc_poker"
FOLDERS = ROOT / "runs" / "papers" / "alphaholdem"
SEEDS = range(5)
EVERY = 10
DECKS = {
    "small_holdem": "small_holdem(ranks=3,suits=2,deal=[0;1;1],bets=[1;2;2],raises=1)",
    "no_limit_leduc": "no_limit_leduc",
    "rhode_island": "rhode_island(ranks=3,raises=1)",
}
DECK_SEEDS, DECK_UPDATES = range(3), 50
"""Updates on :data:`DECKS`: half as many as on Leduc poker."""
TABLE_UPDATES = 300
"""Updates of a table on Leduc poker, three times those of a network, because its rows share no parameters."""
WORDS = {BEST: "the K best snapshots", LATEST: "itself alone"}


def trained(name: str, spec: str, settings: Mapping[str, Any]) -> TrainingRun:
    """A training run in the folder of its name, resumed if unfinished."""
    folder = FOLDERS / name.replace(" ", "-")
    if kind_of(folder) == ALPHAHOLDEM.name:
        return train(resume=folder)
    return train(spec, "alphaholdem", settings={**settings, "every": EVERY}, out=folder)


def measured_run(opponents: str, seed: int, before: dict[str, Any], kind: str | None = None) -> dict[str, Any]:
    """Results of a training run on Leduc poker, with a table (``kind`` :data:`TABLE`) or on a deck; from ``before`` if it has
    no folder.
    """
    name = f"{opponents} {seed}" if kind is None else f"{kind} {opponents} {seed}"
    if name in before and not (FOLDERS / name.replace(" ", "-")).exists():
        return dict(before[name])
    spec, changes = GAME, dict[str, Any]()
    if kind == TABLE:
        changes = {**OF_TABLES, "updates": TABLE_UPDATES}
    elif kind is not None:
        spec, changes = DECKS[kind], {"updates": DECK_UPDATES}
    training = trained(name, spec, {"opponents": opponents, "seed": seed, **changes})
    curve = [record.exploitability for record in training.records]
    last, game = training.records[-1], tp.compile(spec)
    values = seat_values(agent_policy(agent(str(training.folder), game, seed=0), game))
    return {
        "last": curve[-1],
        "best": min(curve),
        "late": float(np.mean(curve[len(curve) // 2 :])),
        "seats": list(values),
        "hands": last.hands,
        "decisions": last.decisions,
        "cpu_seconds": last.cpu_seconds,
    }


def seat_values(policy: Policy) -> tuple[float, float]:
    """Winnings of a policy in each seat against uniform play, in chips."""
    game = policy.game
    found = []
    for player in (0, 1):
        mixed = Policy.uniform(game).probabilities.copy()
        begin, end = game.tree.sequence_offsets[player : player + 2]
        mixed[begin:end] = policy.probabilities[begin:end]
        found.append(judge(game, Policy(game, mixed)).value[player])
    return found[0], found[1]


def leduc_row(words: str, runs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Exploitability, and winnings per seat against uniform play, over seeds."""
    won = np.array([run["seats"] for run in runs])
    exploited = [band([run[name] for run in runs]) for name in ("last", "late", "best")]
    return [words, *exploited, *(band(list(won[:, seat])) for seat in (0, 1))]


def table_findings(runs: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Results of tables, as a sentence."""
    if not runs:
        return []
    late = {each: np.mean([run["late"] for name, run in runs.items() if f" {each} " in name]) for each in WORDS}
    return [
        f"With a table in place of the network, exploitability is {late[BEST]:.2f} against the K best and {late[LATEST]:.2f} "
        f"against itself alone, on average over the second half of {TABLE_UPDATES} updates. A table has no approximation "
        "error, so the remaining exploitability comes from the method, not from the network."
    ]


def deck_rows(deck: str, before: dict[str, Any], asked: bool) -> tuple[list[list[str]], dict[str, Any]]:
    """Rows of a deck and its runs by name: all seeds if requested, otherwise those in ``before``."""
    measured, rows = dict[str, Any](), list[list[str]]()
    game = tp.compile(DECKS[deck])
    uniform = judge(game, Policy.uniform(game)).exploitability
    for opponents, words in WORDS.items():
        seeds = [seed for seed in DECK_SEEDS if asked or f"{deck} {opponents} {seed}" in before]
        runs = {f"{deck} {opponents} {seed}": measured_run(opponents, seed, before, deck) for seed in seeds}
        shares = [band([run[name] / uniform for run in runs.values()], 3) for name in ("last", "late", "best") if runs]
        rows += [[f"`{game}`", words, str(len(runs)), *shares]] if runs else []
        measured |= runs
        print(deck, opponents, shares, flush=True)
    return rows, measured


def deck_findings(rows: Sequence[Sequence[str]]) -> list[str]:
    """Results of the second half of training, a sentence per deck."""
    found = dict[str, list[str]]()
    for game, words, _, _, late, _ in rows:
        found.setdefault(game, []).append(f"{late} against {words}")
    return [
        f"On {game}, exploitability in the second half of training, as a fraction of uniform play's, is {' and '.join(each)}."
        for game, each in found.items()
    ]


@study(title="AlphaHoldem on Leduc poker", place=21, minutes=15, needs=("torch",))
def reproduce(*options: str) -> Result:
    """Options: :data:`STORED`, :data:`TABLE` and names of :data:`DECKS`, in addition to networks on Leduc poker."""
    before = earlier("learners/alphaholdem", options).get("trainings", {})
    asked = [each for each in options if each != STORED]
    game = tp.compile(GAME)
    solver = make_solver(game, "pcfr+")
    solver.run(1000)
    nash = seat_values(solver.average_policy())
    measured = {}
    for seed in SEEDS:
        for opponents in (BEST, LATEST):
            measured[f"{opponents} {seed}"] = measured_run(opponents, seed, before)
            print(opponents, seed, measured[f"{opponents} {seed}"], flush=True)
    decks, on_decks = list[list[str]](), dict[str, Any]()
    for deck in DECKS:
        if deck in asked or any(name.startswith(f"{deck} ") for name in before):
            found, more = deck_rows(deck, before, deck in asked)
            decks += found
            on_decks |= more
    by_table = dict[str, Any]()
    if TABLE in asked or any(name.startswith(f"{TABLE} ") for name in before):
        for opponents in WORDS:
            for seed in SEEDS:
                by_table[f"{TABLE} {opponents} {seed}"] = measured_run(opponents, seed, before, TABLE)
    rows = [leduc_row(words, [measured[f"{opponents} {seed}"] for seed in SEEDS]) for opponents, words in WORDS.items()]
    for opponents, words in WORDS.items() if by_table else ():
        rows.append(leduc_row(f"{words}; a table", [by_table[f"{TABLE} {opponents} {seed}"] for seed in SEEDS]))
    seats = {opponents: np.mean([measured[f"{opponents} {seed}"]["seats"] for seed in SEEDS], axis=0) for opponents in WORDS}
    late = {opponents: np.mean([measured[f"{opponents} {seed}"]["late"] for seed in SEEDS]) for opponents in WORDS}
    cost = measured[f"{BEST} 0"]
    spent = sum(run["cpu_seconds"] for run in (measured | by_table | on_decks).values())
    rate = np.mean([run["decisions"] / run["cpu_seconds"] for run in measured.values()])
    return Result(
        source=SOURCE,
        findings=[
            "Over the second half of training, policies trained against the K best have an exploitability of "
            f"{late[BEST]:.2f} chips on average, those trained against itself alone {late[LATEST]:.2f}; {len(SEEDS)} "
            "seeds each. Neither method is guaranteed to converge to an equilibrium.",
            f"Against uniform play an equilibrium wins {nash[0]:+.2f} chips in seat 0 and {nash[1]:+.2f} in seat 1. "
            f"Networks trained against the K best win {seats[BEST][0]:+.2f} and {seats[BEST][1]:+.2f}, those trained against "
            f"themselves alone {seats[LATEST][0]:+.2f} and {seats[LATEST][1]:+.2f}.",
            *table_findings(by_table),
            *deck_findings(decks),
        ],
        tables=[
            Table(
                "In chips; the mean over seeds with the range in brackets",
                ["plays against", "exploitability, last", "second half", "best", "seat 0, uniform", "seat 1, uniform"],
                rows,
            ),
            *(
                [
                    Table(
                        f"Other decks, {DECK_UPDATES} updates; exploitability as a fraction of uniform play's",
                        ["game", "plays against", "seeds", "last", "second half", "best"],
                        decks,
                    )
                ]
                if decks
                else []
            ),
        ],
        notes=[
            f"A training run on Leduc poker plays {cost['hands']:,} hands, including matches, and makes {rate:,.0f} decisions "
            "per CPU second, including learning. Exploitability and values are exact, computed from the network's table of all "
            "infosets. The paper has no such figure because its games cannot be evaluated exactly.",
            f"All training runs together took {spent:,.0f} CPU s. Stored ones are not repeated.",
        ],
        numbers={"trainings": {**measured, **by_table, **on_decks}, "nash": list(nash)},
    )
