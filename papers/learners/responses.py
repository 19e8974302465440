"""Learners by responses on Kuhn and Leduc poker: PSRO, NFSP, regression CFR, exploitability descent and ARMAC."""

import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

from papers.common.results import Result, Table, published
from papers.common.study import study
from papers.learners.trained import curve_of, reached, trained

TABLE: Mapping[str, Any] = {"approximator": "table"}


class Run(NamedTuple):
    """A training: what it is called, its learner and game, and settings besides the defaults."""

    name: str
    learner: str
    game: str
    settings: Mapping[str, Any]


RUNS = (
    Run("psro", "psro", "kuhn_poker", {"steps": 8}),
    Run("psro", "psro", "leduc_poker", {"steps": 250}),
    Run("ned-table", "ned", "kuhn_poker", {**TABLE, "rate": 1.4, "slowing": 0.6, "steps": 20_000}),
    Run("ned-table", "ned", "leduc_poker", {**TABLE, "rate": 4.0, "slowing": 0.5, "steps": 10_000}),
    Run("nfsp-table", "nfsp", "leduc_poker", {**TABLE, "steps": 1800}),
    Run("ned", "ned", "leduc_poker", {"steps": 2500}),
    Run("nfsp", "nfsp", "leduc_poker", {"steps": 1800}),
    Run("psro-learned", "psro", "leduc_poker", {"oracle": "learned", "steps": 20}),
    Run("armac", "armac", "leduc_poker", {"steps": 100}),
    Run("rcfr", "rcfr", "leduc_poker", {"steps": 1000}),
)
"""In the order in which they are made; networks have the learners' defaults."""
STEPS = (10, 32, 100, 316, 1000, 3162, 10_000)
"""After which a table shows what was reached; ten per power of ten are measured."""
WORDS = {"psro": "best responses", "psro-learned": "learned responses"}


@study(title="Learners by responses on Kuhn and Leduc poker", place=3, minutes=10, needs=("torch",))
def reproduce(options: list[str] | None = None) -> Result:
    """With options: names of runs, as in :data:`RUNS`."""
    said = published("learners")["responses"]
    found, curves, rows, shown = {}, {}, [], []
    for run in RUNS:
        if options and run.name not in options:
            continue
        training = trained(run.game, run.learner, run.settings, called=run.name)
        key = f"{run.game}/{run.name}"
        found[key], curves[key] = reached(training), curve_of(training)
        each, last = found[key], training.records[-1].measures
        print(key, each, flush=True)
        counts = f"{last['pool']:.0f} strategies" if "pool" in last else f"{each['steps']:,} steps"
        episodes = f", {each['episodes'] / 1e6:.1f} million episodes" if each["episodes"] else ""
        name = f"{'Kuhn' if run.game == 'kuhn_poker' else 'Leduc'}, `{run.learner}` {words_of(run)}"
        measured = 2.0 * each["exploitability"]
        published_one = said[run.game].get(run.name, "")
        rows.append([name, number(measured), counts + episodes, f"{each['cpu_seconds']:.0f}", published_one])
        shown.append([name, *(number(2.0 * curves[key][str(step)]) if str(step) in curves[key] else "" for step in STEPS)])
    columns = ["game, learner", "NashConv", "effort", "processor seconds", "published NashConv"]
    return Result(
        source=said["source"],
        findings=findings(found),
        tables=[
            Table("NashConv in chips, the sum over both players", columns, rows),
            Table("NashConv after so many steps", ["game, learner", *(f"{step:,}" for step in STEPS)], shown),
        ],
        notes=[
            "One seed, 0, and the learners' defaults besides the number of steps. Networks have three layers of 64 units and "
            "see ranks, suits, betting and chips; a step of `nfsp` and of `armac` is a batch of 5,000 episodes. NashConv is "
            "exact.",
            f"{said['figures']} Published curves count what their programs count: steps of all of them are not alike.",
        ],
        numbers={"reached": found, "curves": curves},
    )


def words_of(run: Run) -> str:
    """What tells a run from others of its learner."""
    return WORDS.get(run.name, "with tables" if run.settings.get("approximator") == "table" else "with networks")


def number(value: float) -> str:
    """A NashConv as text."""
    return f"{value:.3g}" if value >= 1e-9 else "< 1e-9"


def findings(found: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """What to read first."""
    conv = {name: 2.0 * each["exploitability"] for name, each in found.items()}
    sentences = []
    if conv.get("kuhn_poker/psro", 1.0) < 1e-9 and "leduc_poker/psro" in conv:
        sentences.append(
            "With best responses and exact payoffs PSRO is the double oracle algorithm: it ends in an equilibrium of Kuhn "
            f"poker, and on Leduc poker comes to {conv['leduc_poker/psro']:.2g}."
        )
    if "leduc_poker/nfsp" in conv:
        each = found["leduc_poker/nfsp"]
        sentences.append(
            f"Neural fictitious self-play comes to an exploitability, half of NashConv, of {each['exploitability']:.2g} after "
            f"{each['episodes'] / 1e6:.1f} million episodes and {each['cpu_seconds']:.0f} seconds of one processor. A step "
            "there sees all transitions that are kept, put together by infoset; published runs draw batches of 128."
        )
    return sentences


if __name__ == "__main__":
    reproduce(sys.argv[1:])
