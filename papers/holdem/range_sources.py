"""Sources of training ranges for a network for single hands: random, or a blueprint's self-play; both evaluated on both, at
the start of the river.

Rivers solve fast enough for thousands of each. The blueprint is that of ``runs/holdem``, as in ``own_blueprint``; without such
a folder it is trained first, in minutes. Rows are cached in parts in ``runs/papers``.
"""

from collections.abc import Callable, Mapping
from functools import partial
from itertools import chain
from time import process_time

import numpy as np

from papers.common.kept import code, kept_file
from papers.common.results import Result, Table
from papers.common.study import study
from papers.holdem.exact_streets import spots_of_play
from papers.holdem.hands import errors, fitted, linear
from papers.holdem.own_blueprint import FOLDER, GAME, own_blueprint
from treeplex.base.arrays import Singles
from treeplex.holdem import Spot
from treeplex.holdem.cards.format import HOLDEM
from treeplex.holdem.search.leaves.hand_values import HandBoard
from treeplex.holdem.search.street_solving import StreetSolving
from treeplex.learn.hand_values.settings import HandValueSettings
from treeplex.learn.hand_values.situations import Situation, draw, solve_situation
from treeplex.learn.hand_values.source import HandSource

RANDOM, SELF_PLAY = "random ranges", "self-play"
PART, PARTS, TESTS = 400, 6, 80
"""Situations per part (each with a separate seed), training parts, and test situations."""
SETTINGS = HandValueSettings(street="river")
CODE = (
    *(
        "papers.holdem.range_sources",
        "papers.holdem.exact_streets",
        "papers.holdem.hands",
        "treeplex.learn.hand_values",
        "treeplex.holdem.search.whole",
    ),
    *("treeplex.holdem.engine", "treeplex.holdem.solve", "treeplex.holdem.forms", "treeplex.holdem.whole"),
)
"""Modules that affect results; see ``kept.py``."""
Rows = tuple[Singles, Singles]


def played(spot: Spot) -> Situation:
    """A river from self-play, solved with the bet sizes of random situations."""
    reach = np.stack([own / own.sum() for own in spot.ranges])
    return solve_situation(HandBoard.of(HOLDEM, spot.board), spot.stack / spot.opening_pot, reach, SETTINGS)


def situations(source: str, count: int, seed: int) -> list[Situation]:
    """The given number of situations of one kind."""
    if source == SELF_PLAY:
        solving = StreetSolving(start=3, drop=0.0)
        return [played(spot) for spot in spots_of_play(FOLDER, solving, count, np.random.default_rng((3, seed)))]
    generator = np.random.default_rng((4, seed))
    return [draw(SETTINGS, generator) for _ in range(count)]


def part(source: str, seed: int, card: Mapping[str, object]) -> Rows:
    """Rows of a part of the situations, from the cache if present."""
    key = {"source": source, "seed": seed, "count": PART, "blueprint": dict(card), "code": code(*CODE)}
    file = kept_file(key, f"range-sources-{source.replace(' ', '-')}-{seed}", ".npz")
    if not file.exists():
        sampling, generator, began = HandSource(SETTINGS), np.random.default_rng((5, seed)), process_time()
        rows = [sampling.sampled(each, generator) for each in situations(source, PART, seed)]
        inputs, targets = (np.concatenate(columns) for columns in zip(*rows, strict=True))
        np.savez(file, inputs=inputs, targets=targets)
        print(source, seed, f"{process_time() - began:.0f} s", flush=True)
    with np.load(file) as arrays:
        return arrays["inputs"], arrays["targets"]


def together(parts: list[Rows]) -> Rows:
    """The concatenated rows of some parts."""
    inputs, targets = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return inputs, targets


Model = Callable[[list[Situation]], list[np.ndarray]]


def by_network(rows: Rows) -> Model:
    """A network fitted to rows."""
    net = fitted(SETTINGS, *rows)
    return lambda tests: [net.worth(each) for each in tests]


def by_line(rows: Rows) -> Model:
    """Least-squares predictions."""
    return partial(linear, *rows)


def models(parts: Mapping[str, list[Rows]]) -> dict[str, Model]:
    """All models by name: showdown values, linear, and networks trained on more or fewer situations of either kind, or both."""
    found: dict[str, Model] = {"showdown": lambda tests: [each.equity - 0.5 for each in tests]}
    for source, rows in parts.items():
        found[f"linear, {source}, {PART * len(rows):,}"] = by_line(together(rows))
    for source, rows in parts.items():
        for count in (1, len(rows) // 2, len(rows)):
            found[f"network, {source}, {PART * count:,}"] = by_network(together(rows[:count]))
    half = PARTS // 2
    both = list(chain.from_iterable(zip(*(rows[:half] for rows in parts.values()), strict=True)))
    found[f"network, half of each, {2 * PART * half:,}"] = by_network(together(both))
    return found


@study(title="Networks for single hands: random ranges and self-play ranges", place=16, minutes=20, needs=("torch",))
def reproduce() -> Result:
    card, sources = own_blueprint().card, (RANDOM, SELF_PLAY)
    parts = {source: [part(source, seed, card) for seed in range(PARTS)] for source in sources}
    tests = {source: situations(source, TESTS, PARTS) for source in sources}
    stacks = {source: np.quantile([each.stack for each in found], [0.1, 0.5, 0.9]) for source, found in tests.items()}
    numbers = {
        name: {source: errors(tests[source], model(tests[source])) for source in sources}
        for name, model in models(parts).items()
    }
    full = f"{PART * PARTS:,}"
    held = {(source, judged): numbers[f"network, {source}, {full}"][judged][1] for source in sources for judged in sources}
    return Result(
        source="Moravčík et al. 2017, DeepStack; Brown, Bakhtin, Lerer and Gong 2020, ReBeL",
        findings=[
            f"On rivers from self-play, the mean error per hand is {held[RANDOM, SELF_PLAY]:.3f} pots for a network trained on "
            f"{full} random situations and {held[SELF_PLAY, SELF_PLAY]:.3f} for one trained on as many from self-play. "
            f"On random rivers, their errors are {held[RANDOM, RANDOM]:.3f} and {held[SELF_PLAY, RANDOM]:.3f}.",
        ],
        tables=[
            Table(
                f"Mean absolute errors on {TESTS} new rivers of each kind, in pots: over all hands equally, over "
                "hands weighted by how often they are held, and of a whole range's value; the number is that of "
                "training situations",
                ["model", *(f"{source}: {what}" for source in sources for what in ("all hands", "weighted by range", "range"))],
                [[name, *(f"{each:.4f}" for source in sources for each in found[source])] for name, found in numbers.items()],
            )
        ],
        notes=[
            f"Random ranges are those of `treeplex train hand-values`. Self-play uses a blueprint of `{GAME}` "
            f"trained on {card['boards']:,} boards, with its own ranges. Both are solved with the same sizes (100%, all-in; "
            f"raises all-in). Stacks in self-play range from {stacks[SELF_PLAY][0]:.1f} to {stacks[SELF_PLAY][2]:.1f} "
            f"pots (10th to 90th percentile, median {stacks[SELF_PLAY][1]:.1f}), random stacks from "
            f"{stacks[RANDOM][0]:.1f} to {stacks[RANDOM][2]:.1f} ({stacks[RANDOM][1]:.1f}).",
        ],
        numbers=numbers,
    )
