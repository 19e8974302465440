"""AlphaHoldem on hold'em: a small deck with exact exploitability, and full no-limit hold'em with minutes of training."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from papers.common.results import ROOT, Result, Table
from papers.common.study import study
from papers.learners.trained import BANDS, SEEDS, band
from treeplex import load, match, train
from treeplex.arena import local_best_response
from treeplex.learn.alphaholdem.job import ALPHAHOLDEM
from treeplex.learn.blueprint.settings import BlueprintTraining
from treeplex.results import TrainingRun
from treeplex.run.job.folder import kind_of
from treeplex.search.evaluate.statistics import half_width

SOURCE = "Zhao et al. 2022, AlphaHoldem (AAAI), which trained for three days on eight graphics cards"
FOLDERS = ROOT / "runs" / "papers" / "alphaholdem"
SMALL = "holdem(stack=6,sizes=[100%;a],ranks=4,suits=2,hole=1,deal=[0;1;1])"
WHOLE = "holdem(sizes=[50%;100%;a],preflop=[3x;a])"
CHECKED, EVERY = 4000, 20
"""Hands against uniform play per evaluation, and updates between evaluations."""
SHOWN = (0, 40, 100, 200, 400, 600, 800, 1000)
"""Updates at which a table shows the winnings against uniform play."""
BLUEPRINT, BOARDS = "blueprint", 3000
"""An opponent: a blueprint trained by external sampling in buckets for about a minute."""
OPPONENTS = ("uniform", *(f"rules(style={style})" for style in ("caller", "shover", "rock", "regular", "station", "maniac")))
"""Other opponents from the library."""
HANDS, LBR_HANDS = 400, 150
"""Hands of a match, in pairs with the same cards; and of local best response."""


class Plan(NamedTuple):
    """A training run: game, number of updates, and seeds."""

    game: str
    updates: int
    seeds: Sequence[int] = SEEDS


PLANS = {"small": Plan(SMALL, 60), "whole": Plan(WHOLE, 200), "longer": Plan(WHOLE, 1000, range(1))}
LATER = {"whole": 200, "longer": 1000}
"""Training runs evaluated by local best response, by number of updates."""


def folder_of(name: str, seed: int) -> Path:
    """Folder of a training run."""
    return FOLDERS / f"holdem-{name}-{seed}"


def trained(name: str, seed: int) -> TrainingRun:
    """A training run, resumed if unfinished."""
    plan, folder = PLANS[name], folder_of(name, seed)
    if kind_of(folder) == ALPHAHOLDEM.name:
        return train(resume=folder, settings={"updates": plan.updates})
    settings = {"updates": plan.updates, "checked": CHECKED, "every": EVERY, "seed": seed}
    return train(plan.game, "alphaholdem", settings=settings, out=folder)


def measured(training: TrainingRun) -> dict[str, Any]:
    """Results of a training run."""
    first, last = training.records[0], training.records[-1]
    names = ("exploitability", "won", "interval", "hands", "decisions", "cpu_seconds")
    curve = {str(record.done): [record.won, record.interval] for record in training.records}
    return {**{name: getattr(last, name) for name in names}, "exploitability at first": first.exploitability, "curve": curve}


def blueprint() -> str:
    """Folder of the opponent blueprint."""
    folder = FOLDERS / BLUEPRINT
    if not folder.exists():
        train(WHOLE, "blueprint", settings=BlueprintTraining(boards=BOARDS), out=folder)
    return str(folder)


def meetings(agent: str) -> dict[str, dict[str, float]]:
    """Matches of a network for full-game hold'em against agents of the library."""
    game, found = load(WHOLE), dict[str, dict[str, float]]()
    for name, opponent in ((BLUEPRINT, blueprint()), *((each, each) for each in OPPONENTS)):
        score = match(game, [agent, opponent], hands=HANDS, duplicate=True).scores[0]
        found[name] = {"won": score.result.mean[0], "interval": half_width(score.result.error[0], score.result.samples)}
        found[name]["hands"] = score.hands
        print(name, found[name], flush=True)
    return found


def bound(name: str) -> dict[str, float]:
    """The network's result against local best response, from the first seed."""
    agent = f"alphaholdem(net={folder_of(name, 0)})"
    response = local_best_response(load(WHOLE), agent, hands=LBR_HANDS, actions="fcpa")
    found = {"won": -response.value, "interval": response.interval, "hands": response.hands}
    print("lbr", name, found, flush=True)
    return found


def training_row(name: str, runs: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """A row of the table of training runs: means and bands over seeds."""
    plan, each = PLANS[name], list(runs.values())
    judged = ""
    if each[0]["exploitability"] is not None:
        judged = f"{each[0]['exploitability at first']:.3f} to {band([run['exploitability'] for run in each], 3)}"
    won = band([run["won"] for run in each])
    if len(each) == 1:
        won = f"{won} ± {each[0]['interval']:.2g}"
    hands, seconds = (np.mean([run[of] for run in each]) for of in ("hands", "cpu_seconds"))
    rate = np.mean([run["decisions"] / run["cpu_seconds"] for run in each])
    return [f"`{plan.game}`", f"{plan.updates}", str(len(each)), judged, won, f"{hands:,.0f}", f"{seconds:.0f}", f"{rate:,.0f}"]


def chips(found: Mapping[str, float]) -> str:
    """Chips per hand, with half the width of the 95% interval."""
    return f"{found['won']:+.2f} ± {found['interval']:.2g}"


def match_rows(met: Mapping[str, Mapping[str, float]]) -> list[list[str]]:
    """A row for each opponent."""
    return [[f"`{name}`", chips(each), f"{1000 * each['won'] / 2:+,.0f}", f"{each['hands']:,}"] for name, each in met.items()]


@study(title="AlphaHoldem on hold'em", place=22, minutes=25, needs=("torch",))
def reproduce() -> Result:
    trainings = {name: {str(seed): measured(trained(name, seed)) for seed in plan.seeds} for name, plan in PLANS.items()}
    rows = [training_row(name, runs) for name, runs in trainings.items()]
    met, bounds = meetings(f"alphaholdem(net={folder_of('longer', 0)})"), {name: bound(name) for name in LATER}
    longest = trainings["longer"]["0"]
    rate, curve = longest["decisions"] / longest["cpu_seconds"], longest["curve"]
    of_updates = {updates: bounds[name] for name, updates in LATER.items()}
    along = [
        [
            f"{step:,}",
            f"{curve[str(step)][0]:+.2f} ± {curve[str(step)][1]:.2g}",
            chips(of_updates[step]) if step in of_updates else "",
        ]
        for step in SHOWN
    ]
    fewer, more = (bounds[name] for name in LATER)
    return Result(
        source=SOURCE,
        findings=[
            f"Full-game hold'em is trained from its rules, without enumeration: {rate:,.0f} decisions/s of CPU time, "
            f"learning included. After {longest['hands']:,} hands the network wins {chips(longest)} chips/hand from "
            "uniform play (95% interval).",
            f"This is after minutes on one core. Against a local best response the network wins {chips(fewer)} "
            f"chips/hand after {LATER['whole']:,} updates and {chips(more)} after {LATER['longer']:,}, so it can lose "
            f"at least that much. Against a blueprint trained for a minute, it wins {chips(met[BLUEPRINT])} "
            f"after {LATER['longer']:,}.",
        ],
        tables=[
            Table(
                "After training",
                [
                    "game",
                    "updates",
                    "seeds",
                    "exploitability",
                    "against uniform, chips/hand",
                    "hands",
                    "CPU seconds",
                    "decisions/s",
                ],
                rows,
            ),
            Table(
                f"Whole hold'em, the training of {LATER['longer']:,} updates: chips/hand",
                ["updates", "against uniform", "against local best response"],
                along,
            ),
            Table(
                f"Full-game hold'em: the network's winnings after {LATER['longer']:,} updates",
                ["against", "chips/hand", "mbb/hand", "hands"],
                match_rows(met),
            ),
        ],
        notes=[
            f"{BANDS} The training run of {LATER['longer']:,} updates and the networks in the "
            "matches have one seed, 0. Exploitability is exact, before and after training. The big blind is 2 chips. CPU time "
            f"includes evaluations, each of {CHECKED:,} hands against uniform play. Local best response considers "
            f"folding, calling, a pot-size bet and all-in, over {LBR_HANDS} hands. `{BLUEPRINT}` is from "
            f"external sampling in buckets on {BOARDS:,} boards.",
        ],
        numbers={"trainings": trainings, "matches": met, "bounds": bounds},
    )
