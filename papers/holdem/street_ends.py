"""The library's network for the end of the flop: errors relative to means over all turn cards by the network for the turn, from
which it has learned, on new flops."""

from time import process_time

import numpy as np

from papers.common.results import Result, Table
from papers.common.study import study
from treeplex.learn.hand_values.inference import hand_function
from treeplex.learn.hand_values.net import FORM, HandNet, hand_net_of
from treeplex.learn.hand_values.settings import END, HandValueSettings
from treeplex.learn.hand_values.shipped import shipped_hand_net
from treeplex.learn.hand_values.situations import Situation
from treeplex.learn.hand_values.street_ends import end_situations
from treeplex.learn.rebel.files import read_net

FLOPS, EACH = 24, 8
"""New flops, and situations on each."""
SETTINGS = HandValueSettings(street="flop", at=END, labels="network", hands=400, least_stack=0.1, most_stack=100.0)
STACKS = {"0.1 to 1": 1.0, "1 to 10": 10.0, "10 to 100": 100.0}
"""Groups of stacks, with the largest stack in pots."""


def errors(each: Situation, worth: np.ndarray) -> tuple[float, float, float]:
    """Mean absolute errors, in pots: over hands with positive reach, over hands weighted by range, and of a range."""
    away, known = worth - each.worth, each.reach[:, each.board.held] > 0
    held = float((np.abs(away) * each.weights).sum() / 2)
    return float(np.abs(away[known]).mean()), held, float(np.abs((away * each.weights).sum(axis=1)).mean())


def group_of(stack: float) -> str:
    """The group of a stack."""
    return next(name for name, most in STACKS.items() if stack <= most)


def measured_errors(net: HandNet) -> tuple[dict[str, list[tuple[str, tuple[float, float, float]]]], float]:
    """By model, the stack's group and errors of every situation; and CPU seconds for the means over turn cards, on average."""
    turn, found = hand_function(shipped_hand_net("turn")), dict[str, list[tuple[str, tuple[float, float, float]]]]()
    began = process_time()
    situations = [
        each for flop in range(FLOPS) for each in end_situations(SETTINGS, EACH, np.random.default_rng((7, flop)), turn)
    ]
    seconds = (process_time() - began) / len(situations)
    for each in situations:
        for name, worth in (("showdown", each.equity - 0.5), ("network", net.worth(each))):
            found.setdefault(name, []).append((group_of(each.stack), errors(each, worth)))
    return found, seconds


@study(title="A network for the end of the flop", place=24, minutes=3, needs=("torch",))
def reproduce() -> Result:
    file = read_net(shipped_hand_net("flop", END), form=FORM)
    found, seconds = measured_errors(hand_net_of(file))
    rows, numbers = list[list[str]](), dict[str, list[float]]()
    for group in ("all", *STACKS):
        for name, each in found.items():
            means = np.mean([error for its, error in each if group in ("all", its)], axis=0)
            rows.append([group, name, *(f"{error:.4f}" for error in means)])
            numbers[f"{group}, {name}"] = [float(error) for error in means]
    network, showdown = numbers["all, network"], numbers["all, showdown"]
    return Result(
        source="a study of our own; Brown et al. 2020 (ReBeL) value the end of a street, before the next card",
        findings=[
            f"The network's mean error is {network[1]:.3f} pots for hands weighted by range, that of showdown values "
            f"{showdown[1]:.3f}; "
            f"for a range's value {network[2]:.3f} and {showdown[2]:.3f}."
        ],
        tables=[
            Table(
                "Mean absolute errors in pots, by stack in pots: over all hands, over hands weighted by range, and of "
                "a range's value",
                ["stack", "model", "all hands", "hands weighted by range", "range"],
                rows,
            )
        ],
        notes=[
            f"{FLOPS} random flops with {EACH} situations each, half of them with about {SETTINGS.hands} hands per player. The "
            f"network learned from {file.card['situations']:,} situations. Errors of the network for the turn itself are not "
            f"included. The mean over 49 turn cards takes {seconds:.2f} CPU s per situation."
        ],
        numbers=numbers,
    )
