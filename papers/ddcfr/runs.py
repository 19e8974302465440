"""Runs of the DDCFR scripts: the paper's games, fixed variants, learned schemes and the authors' network, with their noise.

``TREEPLEX_DDCFR_POLICY`` names the authors' network as ``convert.py`` writes it. It is not part of the project; without it the
scripts keep its stored results, or omit it.
"""

import hashlib
import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

import treeplex as tp
from papers.common.curves import SEEDS, curve, log_points
from papers.common.kept import code, kept
from papers.common.results import published, short, stored
from treeplex import CompiledGame
from treeplex.errors import TreeplexError
from treeplex.learn import load_discount_policy, shipped_discount_policy
from treeplex.solvers import DiscountPolicy

ITERATIONS = 1000
FLOOR = 1e-12
"""The paper's floor of exploitability."""
LATE = range(500, ITERATIONS + 1, 50)
"""Iterations of figures 2 and 3."""
POINTS = log_points(ITERATIONS, also=(10, 20, 100, 200, *LATE))
LARGE = ("battleship-3", "big_leduc")
"""Games on which perturbed runs take minutes."""
LARGE_SEEDS = SEEDS[:3]
NETWORK = "TREEPLEX_DDCFR_POLICY"
OPTIMIZERS = {"es": "evolution strategies", "ppo": "PPO"}
CLIPPED = {True: "alpha is at least 1 from iteration T/2 on, as theorem 1 requires", False: "alpha is not clipped"}

LOOP = ("treeplex.engine.tree", "treeplex.evaluate.judge", "treeplex.solvers", "papers.common.curves")
STEERED = (*LOOP, "treeplex.engine.networks")
"""Code that decides the numbers of fixed variants and of learned schemes."""


@dataclass(frozen=True)
class Game:
    """A game of the paper, compiled on demand."""

    name: str
    spec: str

    @cached_property
    def compiled(self) -> CompiledGame:
        return tp.compile(self.spec)

    @cached_property
    def identity(self) -> str:
        rules = code("treeplex.games", "treeplex.forms")
        return str(kept({"identity of": self.spec, "code": rules}, lambda: self.compiled.identity))

    @property
    def seeds(self) -> Sequence[int]:
        """Seeds of perturbed runs."""
        return LARGE_SEEDS if self.name in LARGE else SEEDS


def games(*names: str) -> dict[str, Game]:
    """Games of the paper by name; all of them without names."""
    specs = published("ddcfr")["games"]
    return {name: Game(name, specs[name]) for name in names or specs}


@dataclass(frozen=True)
class Run:
    """One algorithm on one game; exploitability in the game's units, floored.

    Attributes:
        curve: after each of :data:`POINTS`.
        late: after each of :data:`LATE`, for this run and perturbed ones.
    """

    curve: list[float]
    late: list[list[float]]

    @property
    def last(self) -> float:
        return self.curve[-1]

    @property
    def finals(self) -> list[float]:
        """Final values, this run first."""
        return [row[-1] for row in self.late]

    @property
    def band(self) -> tuple[float, float]:
        """Least and greatest final value."""
        return min(self.finals), max(self.finals)

    @property
    def middle(self) -> float:
        """Geometric mean of the final values."""
        return math.exp(sum(map(math.log, self.finals)) / len(self.finals))

    @property
    def low(self) -> list[float]:
        """The least at each of :data:`LATE`."""
        return [min(column) for column in zip(*self.late, strict=True)]

    @property
    def high(self) -> list[float]:
        """The greatest at each of :data:`LATE`."""
        return [max(column) for column in zip(*self.late, strict=True)]

    @property
    def ends(self) -> str:
        """The range after the last iteration."""
        low, high = map(short, self.band)
        return low if low == high else f"{low} to {high}"

    def below(self, value: float) -> str:
        """Number of final values below a value."""
        return f"{sum(final < value for final in self.finals)} of {len(self.finals)}"

    def text(self) -> str:
        """The final value, and its range if there is one."""
        return short(self.last) + (f" ({self.ends})" if " " in self.ends else "")


def run_on(game: Game, algorithm: str | DiscountPolicy, *, seeds: Sequence[int] | None = None) -> Run:
    """A run and perturbed runs, one per seed (default: the game's seeds)."""
    whole = one(game, algorithm, POINTS, None)
    late = [[whole[POINTS.index(point)] for point in LATE]]
    late += [one(game, algorithm, LATE, seed) for seed in (game.seeds if seeds is None else seeds)]
    return Run(whole, late)


def one(game: Game, algorithm: str | DiscountPolicy, points: Sequence[int], seed: int | None) -> list[float]:
    """One curve, floored."""
    learned = isinstance(algorithm, DiscountPolicy)
    key = {
        "game": game.identity,
        "algorithm": digest(algorithm) if isinstance(algorithm, DiscountPolicy) else algorithm,
        "points": list(points),
        "seed": seed,
        "code": code(*(STEERED if learned else LOOP)),
    }
    found = kept(key, lambda: curve(game.compiled, algorithm, points, seed=seed))
    return [max(float(value), FLOOR) for value in found]


def digest(policy: DiscountPolicy) -> str:
    """A hash of everything that determines a discount policy's behavior."""
    about = {field.name: getattr(policy, field.name) for field in fields(policy) if field.name not in ("card", "parameters")}
    text = json.dumps(about, sort_keys=True).encode()
    return hashlib.sha256(text + np.ascontiguousarray(policy.parameters, "<f8").tobytes()).hexdigest()[:16]


def own_policy(name: str = "ddcfr") -> DiscountPolicy:
    """The policy that ships with the library."""
    return shipped_discount_policy(name)


def described(policy: DiscountPolicy) -> str:
    """Length of a policy's training, as text."""
    card = policy.card
    if "epochs" not in card or "games" not in card:
        return "untrained" if not card else ", ".join(f"{name} {value}" for name, value in card.items())
    return f"{card['epochs']:,} epochs on {len(card['games'])} game{'' if len(card['games']) == 1 else 's'}"


def training_games(policy: DiscountPolicy) -> list[str]:
    """Training games of a policy, with the paper's names if it has the game."""
    names = {game.spec: name for name, game in games().items()}
    return [names.get(spec, f"`{spec}`") for spec in policy.card.get("games", ())]


def training(policy: DiscountPolicy, name: str = "ddcfr") -> str:
    """A policy's training and its differences from the paper's, as a sentence."""
    if not policy.card.get("epochs"):
        return f"The policy of {name} is an untrained placeholder."
    settings = policy.card.get("settings", {})
    by = f"{OPTIMIZERS.get(settings.get('optimizer'), 'an unknown method')} (fitness `{settings.get('fitness', '?')}`)"
    minutes = policy.card.get("seconds", 0.0) / 60
    return (
        f"Our policy for {name} was trained for {policy.card['epochs']:,} epochs by {by}, in {minutes:.0f} minutes, "
        f"on {', '.join(training_games(policy))}; {CLIPPED[policy.clipped]}. The paper trained for 1000 epochs on "
        "small_matrix, kuhn, goofspiel-3 and liars_dice-3."
    )


def authors_policy() -> DiscountPolicy | None:
    """The authors' network, if the environment names it."""
    path = os.environ.get(NETWORK)
    if not path:
        return None
    try:
        return load_discount_policy(path)
    except TreeplexError as error:
        raise SystemExit(f"{NETWORK}: {error}") from None


@dataclass(frozen=True)
class Theirs:
    """Results of the authors' network, in a script's own form, and their origin.

    Attributes:
        found: None if there are none.
        record: for the script's ``numbers["authors_network"]``.
        note: a sentence.
    """

    found: Any
    record: dict[str, Any] | None
    note: str


def theirs(script: str, make: Callable[[DiscountPolicy], Any]) -> Theirs:
    """Run the authors' network if available; otherwise use its part of the stored result of ``script``."""
    policy = authors_policy()
    if policy is not None:
        record = {"policy": digest(policy), "found": make(policy)}
        note = f"The authors' network (parameters {record['policy']}) was run here. "
    else:
        record = stored(script).get("authors_network")
        note = "The authors' network was not available; its numbers are kept from an earlier run. " if record else (
            "The authors' network was not available, so what it does is left out. "
        )  # fmt: skip
    note += f"It is not part of the project: `papers/ddcfr/convert.py` converts it, and `{NETWORK}` names the converted file."
    return Theirs(record["found"] if record else None, record, note)


def stored_holdem() -> dict[str, Any]:
    """The numbers of ``holdem.py``, those of our policy only if it is unchanged; empty if there are none."""
    numbers = stored("ddcfr/holdem")
    learned = numbers.get("learned", {})
    if learned and numbers.get("policy") != digest(own_policy()):
        numbers["learned"] = {key: runs for key, runs in learned.items() if key != "ours"}
    return numbers if learned else {}


def as_numbers(runs: Mapping[str, Mapping[str, Run]]) -> dict[str, dict[str, dict[str, Any]]]:
    """Runs by game and algorithm, for a JSON file."""
    return {name: {key: asdict(run) for key, run in found.items()} for name, found in runs.items()}


def as_runs(numbers: Mapping[str, Mapping[str, Any]]) -> dict[str, Run]:
    """Back from JSON: runs by game."""
    return {name: Run(**run) for name, run in numbers.items()}
