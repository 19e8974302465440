"""Response-based learners on Kuhn and Leduc poker: PSRO, NFSP, regression CFR, exploitability descent and ARMAC."""

import sys
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from papers.common.results import Result, Table, published
from papers.common.study import study
from papers.learners.trained import BANDS, SEEDS, STORED, band, earlier, mean_at, trainings, values_of
from treeplex.learn.neural.regrets.rcfr import Rcfr

TABLE: Mapping[str, Any] = {"approximator": "table"}
ONE = (0,)
"""Seeds of deterministic runs."""


class Run(NamedTuple):
    """A training run: name, learner, game, settings besides the defaults, and seeds."""

    name: str
    learner: str
    game: str
    settings: Mapping[str, Any]
    seeds: Iterable[int] = SEEDS


RUNS = (
    Run("psro", "psro", "kuhn_poker", {"steps": 8}, ONE),
    Run("psro", "psro", "leduc_poker", {"steps": 250}, ONE),
    Run("ned-table", "ned", "kuhn_poker", {**TABLE, "rate": 1.4, "slowing": 0.6, "steps": 20_000}, ONE),
    Run("ned-table", "ned", "leduc_poker", {**TABLE, "rate": 4.0, "slowing": 0.5, "steps": 10_000}, ONE),
    Run("nfsp-table", "nfsp", "leduc_poker", {**TABLE, "steps": 1800}),
    Run("ned", "ned", "leduc_poker", {"steps": 2500}),
    Run("nfsp", "nfsp", "leduc_poker", {"steps": 1800}),
    Run("nfsp-long", "nfsp", "leduc_poker", {"steps": 5000}),
    Run("psro-learned", "psro", "leduc_poker", {"oracle": "learned", "steps": 50}),
    Run("armac", "armac", "leduc_poker", {"steps": 260}),
    Run("armac-long", "armac", "leduc_poker", {"steps": 4400, "share": 0.05}),
    Run("rcfr", "rcfr", "leduc_poker", {"steps": 1000}),
    Run("rcfr-plus", "rcfr", "leduc_poker", {**Rcfr.presets["plus"], "steps": 1000}),
)
"""Runs in order of execution; networks have the learners' defaults."""
STEPS = (10, 32, 100, 320, 1000, 3200, 10_000)
"""Steps shown in a table; ten per power of ten are measured."""
WORDS = {
    "psro": "best responses",
    "psro-learned": "learned responses",
    "rcfr-plus": "with networks, `plus`",
    "nfsp-long": "with networks, longer",
    "armac-long": "with networks, longer",
}


@study(title="PSRO, NFSP and other response-based learners on Kuhn and Leduc poker", place=3, minutes=60, needs=("torch",))
def reproduce(*options: str) -> Result:
    """Options: names of runs in :data:`RUNS`, and :data:`STORED`."""
    said = published("learners")["responses"]
    found, curves, rows, shown = {}, {}, [], []
    before = {"reached": {}, "curves": {}, **earlier("learners/responses", options)}
    chosen = [each for each in options if each != STORED]
    for run in RUNS:
        if chosen and run.name not in chosen:
            continue
        key = f"{run.game}/{run.name}"
        known = before["reached"].get(key, {}), before["curves"].get(key, {})
        found[key], curves[key] = trainings(run.game, run.learner, run.settings, called=run.name, seeds=run.seeds, before=known)
        each, effort = found[key], mean_effort(found[key])
        counts = f"{effort['pool']:.0f} strategies" if "pool" in effort else f"{effort['steps']:,.0f} steps"
        episodes = f", {effort['episodes'] / 1e6:.1f} million episodes" if effort["episodes"] else ""
        name = f"{'Kuhn' if run.game == 'kuhn_poker' else 'Leduc'}, `{run.learner}` {words_of(run)}"
        published_one = said[run.game].get(run.name, "")
        rows.append([name, gains_of(each), str(len(each)), counts + episodes, f"{effort['cpu_seconds']:.0f}", published_one])
        means = [mean_at(curves[key], step) for step in STEPS]
        shown.append([name, *("" if mean is None else number(2.0 * mean) for mean in means)])
    columns = ["game, learner", "NashConv", "seeds", "effort", "CPU seconds", "published NashConv"]
    after = ["game, learner", *(f"{step:,}" for step in STEPS)]
    return Result(
        source=said["source"],
        findings=findings(found),
        tables=[
            Table("NashConv in chips, the sum over both players", columns, rows),
            Table("NashConv by number of steps, the mean over seeds", after, shown),
        ],
        notes=[
            f"Settings are the learners' defaults except for the number of steps. {BANDS} Networks have three layers "
            "of 64 units (`ned`: two of 128) and see ranks, suits, betting and chips. A step of `nfsp` and "
            "of `armac` is a batch of 5,000 episodes. NashConv is exact.",
            f"{said['figures']} Published curves use the step counts of their programs, which differ.",
        ],
        numbers={"reached": found, "curves": curves},
    )


def mean_effort(found: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """Means over seeds of all counts."""
    first = next(iter(found.values()))
    return {name: sum(values_of(found, name)) / len(found) for name in first}


def gains_of(found: Mapping[str, Mapping[str, Any]]) -> str:
    """NashConv over seeds, as text."""
    values = [2.0 * value for value in values_of(found, "exploitability")]
    return number(values[0]) if len(values) == 1 else band(values, 3)


def words_of(run: Run) -> str:
    """Label that distinguishes a run from others of its learner."""
    return WORDS.get(run.name, "with tables" if run.settings.get("approximator") == "table" else "with networks")


def number(value: float) -> str:
    """A NashConv as text."""
    return f"{value:.3g}" if value >= 1e-9 else "< 1e-9"


def findings(found: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The findings."""
    sentences = []
    conv = {name: gains_of(each) for name, each in found.items()}
    if "kuhn_poker/psro" in conv and "leduc_poker/psro" in conv:
        sentences.append(
            "With best responses and exact payoffs PSRO is the double oracle algorithm. On Kuhn poker it reaches "
            f"NashConv {conv['kuhn_poker/psro']}, on Leduc poker {conv['leduc_poker/psro']}."
        )
    if "leduc_poker/psro-learned" in conv:
        pool = mean_effort(found["leduc_poker/psro-learned"])["pool"]
        sentences.append(f"With learned responses it reaches {conv['leduc_poker/psro-learned']} with {pool:.0f} strategies.")
    if "leduc_poker/nfsp" in conv:
        each, effort = found["leduc_poker/nfsp"], mean_effort(found["leduc_poker/nfsp"])
        sentences.append(
            "Neural fictitious self-play reaches an exploitability, half of NashConv, of "
            f"{band(values_of(each, 'exploitability'))} after {effort['episodes'] / 1e6:.1f} million episodes and "
            f"{effort['cpu_seconds']:.0f} CPU seconds on one core. A step here uses all stored transitions, merged by "
            "infoset. Published runs draw batches of 128."
        )
    for name, words in (("nfsp-long", "Neural fictitious self-play"), ("armac-long", "ARMAC")):
        if f"leduc_poker/{name}" in conv:
            millions = mean_effort(found[f"leduc_poker/{name}"])["episodes"] / 1e6
            missed = ", and does not reach its published curve" if name == "armac-long" else ""
            sentences.append(
                f"{words} reaches NashConv {conv[f'leduc_poker/{name}']} after {millions:.0f} million episodes{missed}."
            )
    if "leduc_poker/rcfr" in conv and "leduc_poker/rcfr-plus" in conv:
        sentences.append(
            f"Regression CFR, at {conv['leduc_poker/rcfr']}, does not reach its published curve. Its errors on 936 infosets "
            "add up, and the published run takes hundreds of times as many gradient steps per iteration. With "
            "positive regrets and averages that discount early iterations (`--preset plus`) it reaches "
            f"{conv['leduc_poker/rcfr-plus']} after a tenth of the iterations."
        )
    return sentences


if __name__ == "__main__":
    reproduce(sys.argv[1:])
