"""Cost and precision of solved values of single hands, by street and iterations."""

from dataclasses import replace
from functools import partial
from time import process_time
from typing import NamedTuple

import numpy as np

from papers.common.kept import code, effort, kept
from papers.common.results import Result, Table
from papers.common.study import study
from treeplex.learn.hand_values.settings import HandValueSettings
from treeplex.learn.hand_values.situations import Situation, draw

SEED = 31_000
CODE = ("treeplex.learn.hand_values", "treeplex.solvers", "treeplex.holdem.forms", "treeplex.engine", "treeplex.holdem.rules")


class Plan(NamedTuple):
    """Settings of a street: situations, hands per player (0: all), iterations, and those of the reference."""

    count: int
    hands: int
    iterations: tuple[int, ...]
    best: int


PLANS = {
    "river": Plan(20, 0, (10, 20, 40, 80, 160), 640),
    "turn": Plan(4, 0, (10, 20, 40, 80, 160), 240),
    "flop": Plan(2, 300, (20, 40, 80), 160),
}


def drawn(street: str, number: int, iterations: int) -> tuple[Situation, float]:
    """A solved situation, identical for all numbers of iterations, and its CPU seconds."""
    settings = replace(HandValueSettings(street=street), iterations=iterations, hands=PLANS[street].hands)
    began = process_time()
    found = draw(settings, np.random.default_rng((SEED, number)))
    return found, process_time() - began


def measured(street: str, number: int) -> dict[str, list[float]]:
    """By number of iterations: errors of hands weighted by range, errors of ranges, in pots, and CPU seconds."""
    plan = PLANS[street]
    best, _ = drawn(street, number, plan.best)
    found = {}
    for iterations in plan.iterations:
        own, seconds = drawn(street, number, iterations)
        away = best.weights * (own.worth - best.worth)
        found[str(iterations)] = [float(np.abs(away).sum() / 2), float(np.abs(away.sum(axis=1)).mean()), seconds]
    return found


@study(title="Cost of solved values of single hands", place=19, minutes=8)
def reproduce() -> Result:
    rows, numbers = [], {}
    for street, plan in PLANS.items():
        drawn(street, plan.count, 2)  # kernels are compiled or read
        key = {"labels": street, "plan": plan, "code": code(*CODE)}
        known = [kept({**key, "number": number}, partial(measured, street, number)) for number in range(plan.count)]
        for iterations in map(str, plan.iterations):
            held, ranges, seconds = np.mean([own[iterations] for own in known], axis=0)
            numbers[f"{street}, {iterations}"] = [float(held), float(ranges), float(seconds)]
            rows.append([street, iterations, f"{100 * held:.2f}", f"{100 * ranges:.2f}", f"{seconds:.2f}"])
            print(rows[-1], flush=True)
    return Result(
        source="Moravčík et al. 2017, supplement",
        findings=[
            f"{street}: with {plan.iterations[-2]} iterations values of hands err by "
            f"{100 * numbers[f'{street}, {plan.iterations[-2]}'][0]:.2f}% of the pot, at "
            f"{numbers[f'{street}, {plan.iterations[-2]}'][2]:.2f} CPU seconds per situation."
            for street, plan in PLANS.items()
        ],
        tables=[
            Table(
                "Errors of values in % of the pot, of hands weighted by how often they are held and of whole ranges, "
                "and CPU seconds per situation",
                ["street", "iterations", "hands", "range", "s"],
                rows,
            )
        ],
        notes=[
            "Situations of `treeplex train hand-values`, its default sizes and stacks; `iterations` is the setting, "
            "half of it with less than 1.5 pots behind and 1.75 times as many with more than 4. "
            + "; ".join(
                f"{street}: {plan.count} situations, {plan.hands or 'all'} hands, compared with {plan.best} iterations"
                for street, plan in PLANS.items()
            )
            + f". {effort()}"
        ],
        numbers=numbers,
    )
