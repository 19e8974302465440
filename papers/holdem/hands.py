"""Networks for single hands: errors at the start of flop, turn and river, compared with the showdown and a linear fit, by
number of situations. ``holdem/until`` evaluates them on flops.

The library's networks are compared with those of ``runs/hands-river``, ``runs/hands-turn`` and ``runs/hands-flop``, retrained
with the same settings, and with networks trained on fewer of their rows. Missing ones are trained first, in an hour.
``papers/run.py holdem/hands turn`` measures one street, and keeps
the results of the others.
"""

from pathlib import Path
from time import process_time

import numpy as np

from papers.common.lines import read_lines
from papers.common.results import Result, Table, results_file, stored
from papers.common.study import study
from treeplex import train
from treeplex.learn.common.device import one_thread
from treeplex.learn.common.fitting import NetworkFitter
from treeplex.learn.common.replay import Replay
from treeplex.learn.common.settings import falling_rate
from treeplex.learn.hand_values.kind import HAND_VALUES
from treeplex.learn.hand_values.net import FORM, NET, HandNet, hand_loss, hand_net_of
from treeplex.learn.hand_values.settings import HandValueSettings
from treeplex.learn.hand_values.shipped import shipped_hand_net
from treeplex.learn.hand_values.situations import Situation, draw
from treeplex.learn.hand_values.source import HandSource
from treeplex.learn.rebel.files import read_net
from treeplex.results import JobFolder
from treeplex.run.job.checkpoint import open_checkpoint
from treeplex.run.job.folder import STATE

FOLDER = Path("runs")
TESTS = {"river": 60, "turn": 12, "flop": 16}
HANDS = {"river": 0, "turn": 0, "flop": 300}
"""Test situations, and hands per player in each; 0: all."""
STACKS = ((0, 1), (1, 4), (4, 20))
SEED = 20_000
PARTS_OF = (8, 2)
"""Fractions of the situations for networks trained on fewer rows."""


def errors(tests: list[Situation], worth: list[np.ndarray]) -> list[float]:
    """Mean absolute errors in pots: hands unweighted, hands weighted by range, and values of both ranges."""
    plain = [float(np.abs(found - each.worth).mean()) for each, found in zip(tests, worth, strict=True)]
    held = [float((each.weights * np.abs(found - each.worth)).sum() / 2) for each, found in zip(tests, worth, strict=True)]
    ranges = [abs(float((each.weights[0] * (found - each.worth)[0]).sum())) for each, found in zip(tests, worth, strict=True)]
    return [float(np.mean(of)) for of in (plain, held, ranges)]


def linear(inputs: np.ndarray, targets: np.ndarray, tests: list[Situation]) -> list[np.ndarray]:
    """Values by least squares on the rows, with features also multiplied by the logarithm of the stack."""

    def wide(rows: np.ndarray) -> np.ndarray:
        return np.concatenate([np.ones((len(rows), 1)), rows, rows * rows[:, :1]], axis=1)

    weights = np.linalg.lstsq(wide(inputs), targets[:, 0], rcond=None)[0]
    return [np.stack([each.equity[own] - 0.5 + wide(each.rows(own)) @ weights for own in (0, 1)]) for each in tests]


def fitted(settings: HandValueSettings, inputs: np.ndarray, targets: np.ndarray) -> HandNet:
    """A network fitted to rows, with as many passes as in training."""
    net = HandNet(settings.street, width=settings.width, layers=settings.layers, seed=0)
    rows = Replay(inputs[:0], targets[:0], room=len(inputs))
    rows.add((inputs, targets), len(inputs))
    fitting, generator = NetworkFitter(net.net, rows, HandSource.parts, hand_loss), np.random.default_rng(0)
    steps = int(settings.reuse * len(inputs) / settings.batch)
    for step in range(steps):
        fitting.step(generator, batch=settings.batch, rate=falling_rate(settings, step / steps), clip=settings.clip)
    return net


def trained(folder: Path, settings: HandValueSettings) -> None:
    """Train a network, or resume its training."""
    if not (folder / "run.json").is_file():
        train(None, "hand-values", settings=settings, out=folder)
    elif JobFolder(HAND_VALUES, folder).about()["status"] != "finished":
        train(resume=folder)


def measured(street: str) -> tuple[list[list[str]], list[list[str]], dict]:
    """Errors of models on test situations, and of the best model by stack."""
    folder, shipped = FOLDER / f"hands-{street}", read_net(shipped_hand_net(street), form=FORM)
    settings = HandValueSettings().changed(shipped.settings)
    trained(folder, settings)
    file = read_net(folder / NET, form=FORM)
    usual, generator, began = HandValueSettings(street=street, hands=HANDS[street]), np.random.default_rng(SEED), process_time()
    tests = [draw(usual, generator) for _ in range(TESTS[street])]
    cost, whole = (process_time() - began) / len(tests), hand_net_of(file)
    models = {"zero": [0.0 * each.worth for each in tests], "showdown": [each.equity - 0.5 for each in tests]}
    with open_checkpoint(folder / STATE) as state:
        inputs, targets = np.array(state["inputs"]), np.array(state["targets"])
    of_one = 2 * settings.sampled
    models["linear"] = linear(inputs, targets, tests)
    for part in PARTS_OF:
        few = len(inputs) // of_one // part * of_one
        net = fitted(settings, inputs[:few], targets[:few])
        models[f"network, {few // of_one:,}"] = [net.worth(each) for each in tests]
    models[f"network, {file.card['situations']:,}"] = [whole.worth(each) for each in tests]
    library = hand_net_of(shipped)
    models["the library's network"] = found = [library.worth(each) for each in tests]
    numbers = {name: errors(tests, worth) for name, worth in models.items()} | {"seconds": cost}
    rows = [[street, name, *(f"{each:.4f}" for each in numbers[name])] for name in models]
    by_stack = []
    for low, high in STACKS:
        some = [k for k, each in enumerate(tests) if low <= each.stack < high]
        here = [tests[k] for k in some]
        for name, worth in (("showdown", models["showdown"]), ("the library's network", found)):
            by_stack.append([street, f"{low} to {high}", name, *(f"{e:.4f}" for e in errors(here, [worth[k] for k in some]))])
    return rows, by_stack, numbers


def by_situations(street: str, numbers: dict) -> str:
    """Errors by number of training situations, as a sentence."""
    nets = {name.removeprefix("network, "): own for name, own in numbers.items() if name.startswith("network, ")}
    plain, held, ranges = (", ".join(f"{each:.4f}" for each in column) for column in zip(*nets.values(), strict=True))
    return (
        f"On the {street}, networks trained on {', '.join(nets)} situations have mean errors of {plain} pots with all hands "
        f"weighted equally, {held} with hands weighted by probability, and {ranges} for the value of a range."
    )


def known(street: str) -> tuple[list[list[str]], list[list[str]], dict]:
    """The stored results of a street, as :func:`measured` returns them."""
    tables = read_lines(results_file("holdem/hands"))[0]["tables"]
    rows, by_stack = ([row for row in table["rows"] if row[0] == street] for table in tables)
    return rows, by_stack, stored("holdem/hands")[street]


@study(title="Networks for single hands of hold'em", place=4, minutes=40, needs=("torch",))
def reproduce(only: str = "") -> Result:
    rows, by_stack, numbers = [], [], {}
    with one_thread():
        for street in TESTS:
            own, stacks, numbers[street] = known(street) if only not in ("", street) else measured(street)
            rows, by_stack = rows + own, by_stack + stacks
            print(own, flush=True)
    return Result(
        source="Moravčík et al. 2017, DeepStack",
        findings=[
            "A network that values one hand at a time learns flop, turn and river values from few situations.",
            *(by_situations(street, own) for street, own in numbers.items()),
        ],
        tables=[
            Table(
                "Mean absolute errors on new situations, in pots: over all hands equally, over hands weighted by how "
                "often they are held, and of a whole range's value; the number is that of training situations",
                ["street", "model", "all hands", "hands weighted by range", "range"],
                rows,
            ),
            Table(
                "Errors by stack, in pots",
                ["street", "stack", "model", "all hands", "hands weighted by range", "range"],
                by_stack,
            ),
        ],
        notes=[
            f"{TESTS['river']} rivers and {TESTS['turn']} turns for testing, all hands in every range, and "
            f"{TESTS['flop']} flops with {HANDS['flop']} hands. They take {numbers['river']['seconds']:.3f}, "
            f"{numbers['turn']['seconds']:.2f} and {numbers['flop']['seconds']:.1f} CPU s each, including "
            "compilation and loading of kernels, unlike in `holdem/labels`. The flop's network learns from values of the "
            "turn's network, not from full solves. Networks have the settings of the shipped networks; river and flop were "
            "trained again, the turn's run is the shipped network's. Fewer situations are its last ones.",
        ],
        numbers=numbers,
    )
