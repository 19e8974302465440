"""Networks for single hands: errors where the turn and the river begin, beside the showdown and a linear fit, with more and
fewer situations; and flops searched to the turn with one, beside whole solves.

The networks are those of ``runs/hands-river`` and ``runs/hands-turn`` (``treeplex train hand-values``), whose rows the smaller
ones learn from; without these folders the networks that come with the library are measured, and nothing is fitted.
"""

from pathlib import Path
from time import process_time

import numpy as np

from papers.common.results import Result, Table
from papers.common.study import study
from treeplex.forms.holdem.compile_spot import compile_spot
from treeplex.forms.holdem.subgame import cut_spot, policy_table
from treeplex.games.poker.spots.files import request_from_options
from treeplex.learn.common.fitting import Fitting
from treeplex.learn.common.replay import Replay
from treeplex.learn.common.settings import falling_rate
from treeplex.learn.hand_values.settings import HandValueSettings
from treeplex.learn.hand_values.shipped import shipped_hand_net
from treeplex.learn.hand_values.situations import Situation, draw
from treeplex.learn.hand_values.trainer import FORM, NET, PARTS, HandNet, hand_loss, hand_net_of, read_hand_net
from treeplex.learn.rebel.files import read_net
from treeplex.runs.job.checkpoint import open_checkpoint
from treeplex.runs.job.folder import STATE
from treeplex.search.holdem.hand_values import HandValues
from treeplex.search.subgame import METHODS, SubgameSearch
from treeplex.solvers.holdem.solver import HoldemSolver

FOLDER = Path("runs")
TESTS = {"river": 80, "turn": 12}
STACKS = ((0, 1), (1, 4), (4, 20))
SEED = 20_000
FLOPS = ("Ks8s3d",)
RANGES = {"oop": "88+,ATs+,AQo+,KJs+,QJs,JTs,T9s,98s", "ip": "TT+,AJs+,AQo+,KQs,QJs,JTs,T9s,98s,87s"}
WHOLE, SEARCHED = 40, 20
"""Iterations of whole solves and of searches."""


def errors(tests: list[Situation], worth: list[np.ndarray]) -> list[float]:
    """Mean absolute errors of values in pots, all hands alike and by how often they are held, and of both ranges' value."""
    plain = [float(np.abs(found - each.worth).mean()) for each, found in zip(tests, worth, strict=True)]
    held = [float((each.weights * np.abs(found - each.worth)).sum() / 2) for each, found in zip(tests, worth, strict=True)]
    ranges = [abs(float((each.weights[0] * (found - each.worth)[0]).sum())) for each, found in zip(tests, worth, strict=True)]
    return [float(np.mean(of)) for of in (plain, held, ranges)]


def linear(inputs: np.ndarray, targets: np.ndarray, tests: list[Situation]) -> list[np.ndarray]:
    """Values by least squares on the same rows, also times the logarithm of the stack."""

    def wide(rows: np.ndarray) -> np.ndarray:
        return np.concatenate([np.ones((len(rows), 1)), rows, rows * rows[:, :1]], axis=1)

    weights = np.linalg.lstsq(wide(inputs), targets[:, 0], rcond=None)[0]
    return [np.stack([each.equity[own] - 0.5 + wide(each.rows(own)) @ weights for own in (0, 1)]) for each in tests]


def fitted(settings: HandValueSettings, inputs: np.ndarray, targets: np.ndarray) -> HandNet:
    """A network fitted to rows, as often as the training sees each."""
    net = HandNet(settings.street, width=settings.width, layers=settings.layers, seed=0)
    rows = Replay(inputs[:0], targets[:0], room=len(inputs))
    rows.add((inputs, targets), len(inputs))
    fitting, generator = Fitting(net.net, rows, PARTS, hand_loss), np.random.default_rng(0)
    steps = int(settings.reuse * len(inputs) / settings.batch)
    for step in range(steps):
        fitting.step(generator, batch=settings.batch, rate=falling_rate(settings, step / steps), clip=settings.clip)
    return net


def measured(street: str) -> tuple[list[list[str]], list[list[str]], dict]:
    """Errors of models on situations that none has seen, and of the best by stack."""
    folder = FOLDER / f"hands-{street}"
    file = read_net(folder / NET if folder.exists() else shipped_hand_net(street), form=FORM)
    settings = HandValueSettings().changed(file.settings)
    generator, began = np.random.default_rng(SEED), process_time()
    tests = [draw(settings, generator) for _ in range(TESTS[street])]
    cost, whole = (process_time() - began) / len(tests), hand_net_of(file)
    models = {"zero": [0.0 * each.worth for each in tests], "showdown": [each.equity - 0.5 for each in tests]}
    if folder.exists():
        with open_checkpoint(folder / STATE) as state:
            inputs, targets = np.array(state["inputs"]), np.array(state["targets"])
        of_one = 2 * settings.sampled
        models["linear"] = linear(inputs, targets, tests)
        for part in (8,):
            few = len(inputs) // of_one // part * of_one
            net = fitted(settings, inputs[:few], targets[:few])
            models[f"network, {few // of_one:,}"] = [net.worth(each) for each in tests]
    models[f"network, {file.card['situations']:,}"] = found = [whole.worth(each) for each in tests]
    numbers = {name: errors(tests, worth) for name, worth in models.items()} | {"seconds": cost}
    rows = [[street, name, *(f"{each:.4f}" for each in numbers[name])] for name in models]
    by_stack = []
    for low, high in STACKS:
        some = [k for k, each in enumerate(tests) if low <= each.stack < high]
        here = [tests[k] for k in some]
        for name, worth in (("showdown", models["showdown"]), ("network", found)):
            by_stack.append([street, f"{low} to {high}", name, *(f"{e:.4f}" for e in errors(here, [worth[k] for k in some]))])
    return rows, by_stack, numbers


def flops() -> tuple[list[list[str]], list]:
    """Flops searched to the turn, beside whole solves of the same tree."""
    rows, numbers, net = [], [], read_hand_net(shipped_hand_net("turn"))
    for board in FLOPS:
        fields = {"board": board, **RANGES, "pot": 1, "stack": 3, "bets": "100%,a", "raises": "a"}
        spot = request_from_options(fields).spot()
        began, solves = process_time(), []
        game = compile_spot(spot, isomorphism=False)
        for count in (WHOLE, 10, 20):
            solver = HoldemSolver(game, "dcfr", threads=1, horizon=count)
            solver.run(count)
            seconds = process_time() - began
            value = float(solver.form.values(solver.tables, best=False)[0])
            solves.append((f"whole, {count}", solver.store.average, value, seconds))
            began = process_time()
        best = solves[0][1]
        for leaf, name in ((net.leaf(step=2), "network"), (HandValues(None, step=2), "showdown")):
            SubgameSearch(cut_spot(spot), METHODS["dcfr"], leaf, horizon=1).run(1)  # kernels are compiled or read
            began = process_time()
            search = SubgameSearch(cut_spot(spot), METHODS["dcfr"], leaf, horizon=SEARCHED)
            search.run(SEARCHED)
            seconds = process_time() - began
            solves.append((f"{name}, {SEARCHED}", search.average, float(search.mean_values()[0][0]), seconds))
        for name, average, value, seconds in solves:
            away = distance(game, best, average)
            rows.append([board, name, f"{value:+.4f}", f"{100 * away[0]:.1f}", f"{100 * away[1]:.1f}", f"{seconds:.1f}"])
            numbers.append([board, name, value, away, seconds])
            print(rows[-1], flush=True)
    return rows, numbers


def distance(game, best: np.ndarray, other: np.ndarray) -> list[float]:
    """Half the sum of differences of the first decision's and the answer to a check's policies, over the first range."""
    found = []
    after_check = game.betting.nodes[0].children[0]
    for node, player in ((0, 0), (after_check, 1)):
        one, two = policy_table(game, node, best), policy_table(game, node, other)
        weights = game.spot.ranges[player] / game.spot.ranges[player].sum()
        found.append(float((np.abs(one - two).sum(axis=0) * weights).sum() / 2))
    return found


@study(title="Networks for single hands of hold'em", place=4, minutes=15, needs=("torch",))
def reproduce() -> Result:
    rows, by_stack, numbers = [], [], {}
    for street in ("river", "turn"):
        own, stacks, numbers[street] = measured(street)
        rows, by_stack = rows + own, by_stack + stacks
        print(own, flush=True)
    searched, numbers["flops"] = flops()
    return Result(
        source="Moravčík et al. 2017, DeepStack",
        findings=[
            "A network that sees one hand at a time learns what turns and rivers are worth from few situations.",
            "On a flop with narrow ranges a search to the turn with such a network is no match for a whole solve.",
        ],
        tables=[
            Table(
                "Mean absolute errors on new situations, in pots: of hands alike, of hands as often as they are held, and of a "
                "whole range's value; the number is how many situations a network has learned from",
                ["street", "model", "hands alike", "hands as held", "range"],
                rows,
            ),
            Table(
                "The same by stack, in pots", ["street", "stack", "model", "hands alike", "hands as held", "range"], by_stack
            ),
            Table(
                f"Flops with 3 pots behind (100%, all-in; raises all-in): whole solves, and searches to the turn; the value of "
                f"the player out of position in pots, how far its first decision and the answer to a check are from {WHOLE} "
                "iterations of a whole solve (%), and seconds of one core",
                ["flop", "solve", "value", "first", "after a check", "s"],
                searched,
            ),
        ],
        notes=[
            f"{TESTS['river']} rivers and {TESTS['turn']} turns for testing; labels cost "
            f"{numbers['river']['seconds']:.3f} and {numbers['turn']['seconds']:.2f} s of one core each.",
        ],
        numbers=numbers,
    )
